"""Curves: precision over recall, of one list and averaged over queries."""

import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from germane.core.calls import is_number
from germane.core.mean_intervals import Interval
from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import InputError, clip
from germane.evaluation.layout import find_categories, sort_categories
from germane.evaluation.special_queries import Kinds, settle
from germane.explanation.single_query import Counted
from germane.measures.average import area_under_curve
from germane.measures.averaging import QueryValues, compute_scores
from germane.measures.measure import Measure
from germane.output.documents import make_document, name_values
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number, write_count
from germane.presentation.pictures import Paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.explanation.displays import PRCurveDisplay, PRCurvesDisplay


Start: TypeAlias = Literal["(0,1)", "(0,0)", "(1/R,P@first)", "none"]
Rule: TypeAlias = Literal["step", "trapezoid", "interpolated", 11, 101]

SHOWN = 40  # relevant ranks in a table
RULES: dict[Rule, str] = {  # each with the name by which its area is known
    "step": "AP",
    "trapezoid": "",
    "interpolated": "PASCAL VOC 2010",
    11: "PASCAL VOC 2007",
    101: "COCO",
}


@dataclass(frozen=True, eq=False, repr=False)
class PRCurve(Tabular):
    """The precision–recall curve of one list: a point at every rank.

    >>> curve = germane.pr_curve([0, 0, 1, 0, 1], relevant=3)
    >>> curve.precision[curve.hits].tolist() == [1 / 3, 2 / 5]
    True
    >>> curve.area("step") == germane.score([0, 0, 1, 0, 1], "AP", relevant=3)
    True

    ``rank``, ``recall``, ``precision``, ``interpolated`` and ``hits`` are arrays with one value per
    point. The curve ends at the last recall of the list, which may be below 1. If ties are
    ``grouped``, a group of equal scores is one point, at its last rank; a group without a judged
    item keeps a point at every rank, which changes no area.
    """

    _json = "relevant retrieved rel start policy rank recall precision interpolated hit=hits"

    ranking: Ranking  # of one query
    rel: float
    start: Start
    policy: Policy | None = None  # the conventions; bare grades have none
    counted: Counted | None = None  # where R was counted in the list

    @property
    def query(self) -> Hashable:
        """The query, or 'list' for bare grades."""
        return self.ranking.queries[0]

    @property
    def relevant(self) -> int:
        """R: the number of relevant items, retrieved or not."""
        return int(self.ranking.total(self.rel)[0])

    @property
    def retrieved(self) -> int:
        """N: the number of items retrieved."""
        return int(self.ranking.retrieved[0])

    @cached_property
    def rank(self) -> Ints:
        """The rank of each point, ascending from 1."""
        ranks = np.arange(1, self.retrieved + 1)
        if self.ranking.ties != "grouped":
            return _freeze(ranks)
        inside = np.zeros(self.retrieved + 2, np.int64)  # a rank in a group, but not its last
        first, last = np.unique([self.ranking.tied_from, self.ranking.tied_to], axis=1)
        np.add.at(inside, first, 1)
        np.add.at(inside, last, -1)
        return _freeze(ranks[inside.cumsum()[1:-1] == 0])

    @cached_property
    def _found(self) -> Ints:
        """The relevant items up to each rank, from rank 0."""
        hits = self.ranking.rank[self.ranking.relevant(self.rel)]
        return _freeze(np.bincount(hits, minlength=self.retrieved + 1).cumsum())

    @cached_property
    def recall(self) -> Floats:
        """The share of the relevant items that is found up to each point."""
        return _freeze(self._found[self.rank] / self.relevant)

    @cached_property
    def precision(self) -> Floats:
        """The share of relevant items among those up to each point."""
        return _freeze(self._found[self.rank] / self.rank)

    @cached_property
    def interpolated(self) -> Floats:
        """The best precision at each point or any point after it."""
        return _freeze(np.maximum.accumulate(self.precision[::-1])[::-1])

    @cached_property
    def hits(self) -> Bools:
        """True where recall grows, since a relevant item stands at the point."""
        return _freeze(np.diff(self._found[self.rank], prepend=0) > 0)

    @property
    def origin(self) -> tuple[float, float] | None:
        """Recall and precision at the point before rank 1, if the curve starts from one."""
        return {"(0,1)": (0.0, 1.0), "(0,0)": (0.0, 0.0)}.get(self.start)

    @property
    def drawn(self) -> tuple[Floats, Floats]:
        """Recall and precision at all points of the raw curve, including its start."""
        if self.start == "(1/R,P@first)":
            after = self.recall > 0
            return self.recall[after], self.precision[after]
        before = () if self.origin is None else self.origin
        return np.append(before[:1], self.recall), np.append(before[1:], self.precision)

    def levels(self, points: Literal[11, 101] = 11) -> tuple[Floats, Floats]:
        """Return evenly spaced recall levels and interpolated precision: 0 beyond the curve."""
        levels = make_recall_levels(points)
        measures = (make_precision_measure(level, self.rel) for level in levels)
        return np.array(levels), np.array([compute_scores(m, self.ranking)[0] for m in measures])

    def area(self, rule: Rule = "step") -> float:
        """Compute the area under the curve, which is the value of the measure ``AUPR(rule=…)``.

        The rules are ``step`` (AP), ``trapezoid``, ``interpolated`` (PASCAL VOC 2010), ``11``
        levels (VOC 2007) and ``101`` levels (COCO). Trapezoids begin at ``start``, unlike those of
        the measure.
        """
        scored = area_under_curve(self.ranking, None, self.rel, check_rule(rule), self.start)
        return float(scored.compute_values(self.ranking)[0])

    def plot(
        self, ax: "Axes | None" = None, *, rule: Rule = "step", paper: Paper = "light"
    ) -> "PRCurveDisplay":
        """Draw the curve and the area under it into ``ax``, or into a new figure."""
        from germane.explanation.displays import PRCurveDisplay

        return PRCurveDisplay(self, rule=rule).plot(ax, paper=paper)

    def save(
        self, path: str | os.PathLike[str], *, rule: Rule = "step", paper: Paper | None = None
    ) -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        from germane.explanation.displays import PRCurveDisplay

        PRCurveDisplay(self, rule=rule).save(path, paper=paper)

    def table(self, *, digits: int | None = 4) -> Table:
        """Return one row per relevant rank and one for the end of the curve; areas are notes.

        Of many relevant ranks, the middle ones are left out unless ``digits=None``.
        """
        shown = np.flatnonzero(self.hits | (self.rank == self.retrieved))
        points = (self.recall[shown], self.precision[shown], self.interpolated[shown])
        ranks = map(str, self.rank[shown].tolist())
        rows = list(zip(ranks, *(_write_numbers(column, digits) for column in points), strict=True))
        if digits is not None and len(rows) > SHOWN:
            left_out = f"… {len(rows) - SHOWN} more"
            rows[SHOWN // 2 : -SHOWN // 2] = [(left_out, "…", "…", "…")]
        columns = ("rank", "recall", "precision", "interpolated")
        return Table(columns, tuple(rows), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        start = "rank 1" if self.start == "none" else self.start
        yield (
            f"{self.relevant} relevant, {self.retrieved} retrieved; the curve starts at {start} "
            f"and ends at recall {self.recall[-1]:.4g}, precision {self.precision[-1]:.4g}"
            f"{_describe_level(self.rel)}"
        )
        if self.counted is not None:
            yield str(self.counted)
        names = {rule: str(_make_area_measure(rule, self.rel)) for rule in RULES}
        if self.start != "(0,1)":  # where the measure's trapezoids begin
            names["trapezoid"] = f"trapezoid from {start}"
        yield from _write_areas(names, self.area)
        if self.policy is not None:
            yield f"policy: {self.policy}"

    def _list_columns(self) -> dict[str, Any]:
        names = ("rank", "recall", "precision", "interpolated")
        return {**{name: getattr(self, name) for name in names}, "hit": self.hits}

    def __repr__(self) -> str:
        return f"<PRCurve of {clip(self.query)}: {len(self.rank)} points, AP {self.area():.4f}>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in a versioned schema; lists have one value per point."""
        return make_document(
            {
                "query": str(self.query),
                **name_values(self),
                "area": {rule: self.area(rule) for rule in RULES},
            }
        )


@dataclass(frozen=True, eq=False, repr=False)
class MeanPRCurve(Tabular):
    """Interpolated precision at standard recall levels, averaged over queries, with a band.

    >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
    >>> curve = germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs)
    >>> float(curve.precision[0])
    0.75

    ``recall``, ``precision``, ``low`` and ``high`` are arrays with one value per level. A query
    whose list does not reach a level has precision 0 there.
    """

    _json = "queries rel confidence policy recall precision low high"

    ranking: Ranking
    rel: float
    policy: Policy
    recall: Floats
    precision: Floats  # the mean over queries at each level
    per_query: Floats  # levels × Q: interpolated precision; NaN where a query is left out, or NaN
    queries: int  # the number of queries that are averaged
    confidence: float
    low: Floats  # NaN where the mean has no interval
    high: Floats
    kinds: Kinds | None  # the special queries of the ranking
    rows: Ints | None = None  # the places of the queries of a segment; None for all

    def __post_init__(self) -> None:
        for array in (self.recall, self.precision, self.per_query, self.low, self.high):
            _freeze(array)

    def area(self, rule: Rule = "step") -> float:
        """Compute the area under the curve of each query, ``AUPR(rule=…)``, and return the mean."""
        measure = _make_area_measure(rule, self.rel)
        values: QueryValues = settle(measure, self.ranking, self.policy, self.kinds)
        return (values if self.rows is None else values.take(self.rows)).mean

    def by(self, category: Any) -> "dict[Hashable, MeanPRCurve]":
        """Average the curve over each segment of the queries, which is given as to ``Result.by``.

        >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
        >>> curve = germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs)
        >>> {name: part.area() for name, part in curve.by({"q1": "long", "q2": "short"}).items()}
        {'long': 1.0, 'short': 0.5}
        """
        from germane.explanation.explain import average_rows

        names = find_categories(self.ranking.queries, category)
        rows: dict[Hashable, list[int]] = {name: [] for name in sort_categories(names)}
        for row, name in enumerate(names):
            rows[name].append(row)
        return {name: average_rows(self, np.array(places)) for name, places in rows.items()}

    def plot(
        self, ax: "Axes | None" = None, *, rule: Rule = "step", paper: Paper = "light"
    ) -> "PRCurvesDisplay":
        """Draw the curve and its band into ``ax``, or into a new figure."""
        from germane.explanation.displays import PRCurvesDisplay

        return PRCurvesDisplay({"mean": self}, rule=rule).plot(ax, paper=paper)

    def save(
        self, path: str | os.PathLike[str], *, rule: Rule = "step", paper: Paper | None = None
    ) -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        from germane.explanation.displays import PRCurvesDisplay

        PRCurvesDisplay({"mean": self}, rule=rule).save(path, paper=paper)

    def table(self, *, digits: int | None = 4) -> Table:
        """Return one row per recall level; the mean areas are notes."""
        levels = (f"{level:.2f}" for level in self.recall.tolist())
        means = _write_numbers(self.precision, digits)
        ends = (_write_numbers(column, digits, nan="") for column in (self.low, self.high))
        rows = zip(levels, means, *ends, strict=True)
        columns = ("recall", "precision", "low", "high")
        return Table(columns, tuple(rows), tuple(self._notes()))

    @property
    def has_band(self) -> bool:
        """Do the means have intervals? With few queries they do not."""
        return not np.isnan(self.low).all()

    def _notes(self) -> Iterator[str]:
        yield (
            f"interpolated precision, mean over {write_count(self.queries, 'query')}; "
            + (
                f"{100 * self.confidence:.10g}% interval of each mean"
                if self.has_band
                else Interval.explain_missing("queries")
            )
            + _describe_level(self.rel)
        )
        yield "mean area over queries:"
        names = {rule: str(_make_area_measure(rule, self.rel)) for rule in RULES}
        yield from _write_areas(names, self.area)
        yield f"policy: {self.policy}"

    def _list_columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("recall", "precision", "low", "high")}

    def __repr__(self) -> str:
        return f"<MeanPRCurve over {self.queries} queries, {len(self.recall)} levels>"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, in a versioned schema; NaN becomes None."""
        return make_document(
            {**name_values(self), "area": {rule: self.area(rule) for rule in RULES}}
        )


def check_rule(rule: Any) -> Rule:
    """Return the rule. Raises MeasureError where there is none of that name."""
    return dict(_make_area_measure(rule, 1.0).parameters)["rule"]  # type: ignore[no-any-return]


def _make_area_measure(rule: Any, rel: float) -> Measure:
    return Measure("AUPR", (("rule", rule), ("rel", rel)))


def make_recall_levels(points: Any) -> list[float]:
    """Make 11 or 101 evenly spaced levels of recall. Raises InputError for other numbers."""
    if not is_number(points) or points not in (11, 101):
        raise InputError(f"points takes 11 or 101; got {clip(points)}")
    return [i / (points - 1) for i in range(int(points))]


def make_precision_measure(level: float, rel: float) -> Measure:
    return Measure("IPrec", (("recall", level), ("rel", rel)))


def _write_numbers(column: Floats, digits: int | None, nan: str = "nan") -> Iterator[str]:
    return (format_number(value, digits, nan=nan) for value in column.tolist())


def _freeze(values: Floats) -> Floats:
    """Make an array read-only."""
    values.flags.writeable = False
    return values


def _describe_level(rel: float) -> str:
    return "" if rel == 1 else f"; relevant: grade ≥ {rel:g}"


def _write_areas(names: dict[Rule, str], area: Callable[[Rule], float]) -> Iterator[str]:
    width = max(map(len, names.values()))
    for rule, name in names.items():
        known_as = f"  ({RULES[rule]})" if RULES[rule] else ""
        yield f"{name:<{width}}  {area(rule):.4f}{known_as}"
