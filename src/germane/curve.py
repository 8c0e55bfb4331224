"""Precision–recall curves, of one query and averaged over queries."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, Unpack, get_args

import numpy as np

from germane import sources
from germane._cached import cached
from germane._ragged import Bools, Floats, Ints
from germane.averaging import evaluated, scores
from germane.errors import CoverageError, InputError, choices, clip, suggestion
from germane.evaluate import Choices, opened, retrieve
from germane.judging import judge
from germane.listed import is_list, of_grades, of_query
from germane.measure import Measure
from germane.measures import values
from germane.measures.interpolated import area_under_curve
from germane.ranking import Ranking
from germane.sources import Progress
from germane.tables import Table

Start: TypeAlias = Literal["(0,1)", "(0,0)", "(1/R,P@first)", "none"]
Rule: TypeAlias = Literal["step", "trapezoid", "interpolated", 11, 101]

RULES: tuple[Rule, ...] = ("step", "trapezoid", "interpolated", 11, 101)
RESAMPLES = 1000  # bootstrap samples behind a confidence band


@dataclass(frozen=True, eq=False, repr=False)
class PRCurve:
    """The precision–recall curve of one list: a point at every rank.

    >>> curve = germane.pr_curve([0, 0, 1, 0, 1], relevant=3)
    >>> curve.precision[curve.hits].tolist() == [1 / 3, 2 / 5]
    True
    >>> curve.area("step") == germane.score([0, 0, 1, 0, 1], "AP", relevant=3)
    True

    ``rank``, ``recall``, ``precision``, ``interpolated`` and ``hits`` are arrays with one value a
    point. Recall may end below 1; then the curve ends there. Where ties are ``grouped``, a group of
    equal scores is one point, at its last rank.
    """

    ranking: Ranking  # of one query
    rel: float
    start: Start

    @property
    def query(self) -> Hashable:
        """The query, or 'list' for bare grades."""
        return self.ranking.queries[0]

    @property
    def relevant(self) -> int:
        """R: relevant items that exist, retrieved or not."""
        return int(self.ranking.total(self.rel)[0])

    @property
    def retrieved(self) -> int:
        """N: items retrieved."""
        return int(self.ranking.retrieved[0])

    @cached
    def rank(self) -> Ints:
        """The rank of each point, ascending from 1."""
        ranks = np.arange(1, self.retrieved + 1)
        if self.ranking.ties != "grouped":
            return ranks
        inside = np.zeros(self.retrieved + 2, np.int64)  # of a group, and not its end
        first, last = np.unique([self.ranking.tied_from, self.ranking.tied_to], axis=1)
        np.add.at(inside, first, 1)
        np.add.at(inside, last, -1)
        ends: Ints = ranks[inside.cumsum()[1:-1] == 0]
        return ends

    @cached
    def _found(self) -> Ints:
        """The relevant items up to each rank, from rank 0."""
        hits = self.ranking.rank[self.ranking.relevant(self.rel)]
        found: Ints = np.bincount(hits, minlength=self.retrieved + 1).cumsum()
        return found

    @cached
    def recall(self) -> Floats:
        """The share of the relevant items that is found up to each point."""
        return self._found[self.rank] / self.relevant

    @cached
    def precision(self) -> Floats:
        """The share of relevant items among those up to each point."""
        return self._found[self.rank] / self.rank

    @cached
    def interpolated(self) -> Floats:
        """The best precision at each point or any point after it."""
        return np.maximum.accumulate(self.precision[::-1])[::-1]

    @cached
    def hits(self) -> Bools:
        """Does a relevant item stand at the point? Here recall grows."""
        return np.diff(self._found[self.rank], prepend=0) > 0

    @property
    def origin(self) -> tuple[float, float] | None:
        """Recall and precision of the point before rank 1, if the curve starts from one."""
        return {"(0,1)": (0.0, 1.0), "(0,0)": (0.0, 0.0)}.get(self.start)

    @property
    def drawn(self) -> tuple[Floats, Floats]:
        """Recall and precision of all points of the raw curve, from where it starts."""
        if self.start == "(1/R,P@first)":
            after = self.recall > 0
            return self.recall[after], self.precision[after]
        before = () if self.origin is None else self.origin
        return np.append(before[:1], self.recall), np.append(before[1:], self.precision)

    def levels(self, points: Literal[11, 101] = 11) -> tuple[Floats, Floats]:
        """Evenly spaced recall levels, and the interpolated precision there: 0 beyond the curve."""
        levels = _levels(points)
        measures = (_precision_at(level, self.rel) for level in levels)
        return np.array(levels), np.array([scores(m, self.ranking, "zero")[0] for m in measures])

    def area(self, rule: Rule = "step") -> float:
        """The area under the curve: ``step`` (it is AP), ``trapezoid`` from where the curve starts,
        ``interpolated`` (PASCAL VOC 2010), ``11`` (VOC 2007) or ``101`` levels (COCO).

        It is the value of the measure ``AUPR(rule=…)``, but that trapezoids begin at ``start``.
        """
        scored = area_under_curve(self.ranking, None, self.rel, checked_rule(rule), self.start)
        return float(values(self.ranking, scored)[0])

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a relevant rank, and the end of the curve; areas as notes."""
        shown = np.flatnonzero(self.hits | (self.rank == self.retrieved))
        points = (self.recall[shown], self.precision[shown], self.interpolated[shown])
        ranks = map(str, self.rank[shown].tolist())
        rows = zip(ranks, *(_written(column, digits) for column in points), strict=True)
        columns = ("rank", "recall", "precision", "interpolated")
        return Table(columns, tuple(rows), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        start = "rank 1" if self.start == "none" else self.start
        yield (
            f"{self.relevant} relevant, {self.retrieved} retrieved; the curve starts at {start} "
            f"and ends at recall {self.recall[-1]:.4g}, precision {self.precision[-1]:.4g}"
        )
        yield from _areas({rule: self.area(rule) for rule in RULES})

    def __str__(self) -> str:
        return self.table().text()

    def __repr__(self) -> str:
        return f"<PRCurve of {clip(self.query)}: {len(self.rank)} points, AP {self.area():.4f}>"

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; one value a point in each list."""
        return {
            "schema": 1,
            "query": str(self.query),
            "relevant": self.relevant,
            "retrieved": self.retrieved,
            "start": self.start,
            "rank": self.rank.tolist(),
            "recall": self.recall.tolist(),
            "precision": self.precision.tolist(),
            "interpolated": self.interpolated.tolist(),
            "hit": self.hits.tolist(),
            "area": {str(rule): self.area(rule) for rule in RULES},
        }


@dataclass(frozen=True, eq=False, repr=False)
class MeanPRCurve:
    """Interpolated precision at standard recall levels, averaged over queries, with a band.

    >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
    >>> curve = germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs)
    >>> float(curve.precision[0])
    0.75

    ``recall``, ``precision``, ``low`` and ``high`` are arrays with one value a level. A query whose
    list does not reach a level has precision 0 there.
    """

    ranking: Ranking
    rel: float
    no_relevant: str
    recall: Floats
    per_query: Floats  # levels × Q: interpolated precision; NaN where the policy leaves a query out
    confidence: float
    low: Floats
    high: Floats

    @cached
    def precision(self) -> Floats:
        """The mean over queries at each level."""
        return np.array([evaluated(m, self.ranking, self.no_relevant).mean for m in self._measures])

    @property
    def _measures(self) -> Iterator[Measure]:
        return (_precision_at(level, self.rel) for level in self.recall.tolist())

    @property
    def queries(self) -> int:
        """How many queries are averaged."""
        return int(np.count_nonzero(~np.isnan(self.per_query[0])))

    def area(self, rule: Rule = "step") -> float:
        """The mean over queries of the area under each one's curve: ``AUPR(rule=…)``."""
        parameters = (("rule", checked_rule(rule)), ("rel", self.rel))
        return evaluated(Measure("AUPR", parameters), self.ranking, self.no_relevant).mean

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a recall level; the mean areas as notes."""
        levels = (f"{level:.2f}" for level in self.recall.tolist())
        values = (self.precision, self.low, self.high)
        rows = zip(levels, *(_written(column, digits) for column in values), strict=True)
        columns = ("recall", "precision", "low", "high")
        return Table(columns, tuple(rows), tuple(self._notes()))

    def _notes(self) -> Iterator[str]:
        yield (
            f"interpolated precision, mean over {self.queries:,} queries; {self.confidence:.0%} "
            "bootstrap interval of each mean"
        )
        yield "mean area over queries:"
        yield from _areas({rule: self.area(rule) for rule in RULES})

    def __str__(self) -> str:
        return self.table().text()

    def __repr__(self) -> str:
        return f"<MeanPRCurve over {self.queries} queries, {len(self.recall)} levels>"

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; one value a level in each list."""
        return {
            "schema": 1,
            "queries": self.queries,
            "confidence": self.confidence,
            "recall": self.recall.tolist(),
            "precision": self.precision.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "area": {str(rule): self.area(rule) for rule in RULES},
        }


def pr_curve(
    qrels: Any,
    run: Any = None,
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | None = None,
    rel: float = 1.0,
    start: Start = "(0,1)",
    progress: Progress | None = None,
    **policy: Unpack[Choices],
) -> PRCurve:
    """The precision–recall curve of one query.

    >>> curve = germane.pr_curve([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0], relevant=8)
    >>> float(curve.recall[-1])
    0.625

    Either ``pr_curve(qrels, run, query=…)`` with what ``evaluate`` takes, or ``pr_curve(grades,
    relevant=…)`` with what ``score`` takes: also the detections of an object detector, as hit or not
    in order of confidence, with the number of objects there are.

    ``rel`` is the lowest grade that counts as relevant. ``start`` is the point before rank 1:
    ``(0,1)``, as in scikit-learn, ``(0,0)``, or none; with ``(1/R,P@first)`` the curve starts at the
    first relevant rank. ``ties="grouped"`` makes a group of equal scores one step, as scikit-learn
    does. Raises CoverageError where no item is relevant, since recall is not defined then, and what
    ``evaluate`` raises.
    """
    if start not in get_args(Start):
        near = suggestion(str(start), get_args(Start))
        raise InputError(f"start takes {choices(get_args(Start))}; got {clip(start)}.{near}")
    rel = _level(rel)
    if is_list(qrels):
        if run is not None:
            raise InputError(
                "the grades of one list come without a run; relevant= is their number."
            )
        ranking = of_grades(qrels, relevant, rel).ranking
    else:
        listed = of_query(qrels, run, query, {**policy}, ("expected",), progress)
        ranking = listed.ranking
    which = "the list" if is_list(qrels) else f"query {clip(ranking.queries[0])}"
    if not ranking.total(rel)[0]:
        raise CoverageError(f"{which} has no relevant item; recall is not defined.")
    if not ranking.retrieved[0]:
        raise CoverageError(f"nothing was retrieved for {which}.")
    return PRCurve(ranking, rel, start)


def mean_pr_curve(
    qrels: Any,
    run: Any,
    *,
    points: Literal[11, 101] = 11,
    rel: float = 1.0,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
    progress: Progress | None = None,
    **policy: Unpack[Choices],
) -> MeanPRCurve:
    """Interpolated precision at 11 or 101 recall levels, averaged over queries.

    >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
    >>> germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs).area(11)
    0.75

    ``qrels``, ``run`` and the conventions are those of ``evaluate``; ``rel`` is the lowest grade that
    counts as relevant. The band holds the mean with the given ``confidence``, level by level: a
    percentile bootstrap over queries from ``rng``, a seed or a NumPy generator.
    """
    if points not in (11, 101):
        raise InputError(f"points takes 11 or 101; got {clip(points)}")
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise InputError(f"confidence takes a number between 0 and 1; got {clip(confidence)}")
    rel = _level(rel)
    qrels, run, conventions = opened(qrels, run, policy)
    judgments = sources.read_qrels(qrels, conventions.duplicates, progress)
    judged = judge(judgments, retrieve(judgments, run, conventions, progress), conventions)
    ranking = judged.ranking(conventions.ties)
    levels = _levels(points)
    measures = (_precision_at(level, rel) for level in levels)
    per_query = np.array([scores(m, ranking, conventions.no_relevant) for m in measures])
    low, high = _band(per_query, confidence, np.random.default_rng(rng))
    no_relevant = conventions.no_relevant
    return MeanPRCurve(
        ranking, rel, no_relevant, np.array(levels), per_query, confidence, low, high
    )


def checked_rule(rule: Any) -> Rule:
    """The rule, if there is one of that name. Raises MeasureError."""
    return dict(Measure("AUPR", (("rule", rule),)).parameters)["rule"]  # type: ignore[no-any-return]


def _level(rel: Any) -> float:
    """The relevance threshold, as measures take it."""
    return Measure("AP", (("rel", rel),)).rel or 0.0


def _levels(points: int) -> list[float]:
    return [i / (points - 1) for i in range(points)]


def _precision_at(level: float, rel: float) -> Measure:
    return Measure("IPrec", (("recall", level), ("rel", rel)))


def _written(column: Floats, digits: int | None) -> Iterator[str]:
    return (repr(x) if digits is None else f"{x:.{digits}f}" for x in column.tolist())


def _areas(areas: dict[Rule, float]) -> Iterator[str]:
    says: dict[Rule, str] = {
        "step": "AP",
        "interpolated": "PASCAL VOC 2010",
        11: "PASCAL VOC 2007",
        101: "COCO",
    }
    for rule, area in areas.items():
        note = f"  ({says[rule]})" if rule in says else ""
        yield f"AUPR(rule={rule})".ljust(24) + f"{area:.4f}{note}"


def _band(per_query: Floats, confidence: float, rng: np.random.Generator) -> Sequence[Floats]:
    """levels × Q → the ends of the bootstrap interval of each level's mean."""
    kept = per_query[:, ~np.isnan(per_query).any(axis=0)]
    queries = kept.shape[1]
    if not queries:
        nothing = np.full(len(kept), np.nan)
        return nothing, nothing
    even = np.full(queries, 1 / queries)
    weights = (rng.multinomial(queries, even) for _ in range(RESAMPLES))
    means = np.array([kept @ drawn for drawn in weights]) / queries
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high
