"""Two systems compared query by query, and pictures of their differences."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from germane.comparison.comparison_tables import write_ends
from germane.comparison.pair import Pair, format_p
from germane.comparison.samples import refuse_unanswered
from germane.core.ragged import average_numbers, subtract_values
from germane.errors import InputError, clip, make_visible
from germane.evaluation.judging import Placement
from germane.evaluation.layout import find_categories, sort_categories
from germane.measures import find_direction
from germane.measures.averaging import QueryValues
from germane.measures.measure import Measure
from germane.output.documents import AS_TEXT, Plain
from germane.output.named_columns import Tabular, make_ids, make_numbers, make_texts
from germane.output.tables import Table, format_number, write_count
from germane.presentation.pictures import Display, Paper, draw_bars, set_title, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LETTERS = 64  # of a line above a forest plot, beside the longest names of pairs
_SHORT = 12  # letters of a name


class DifferenceDisplay(Display):
    """The difference of two systems on every query that both were evaluated on, from gain to loss.

    >>> from germane.plot import DifferenceDisplay
    >>> runs = {"a": {"q": ["a"], "p": ["b"]}, "b": {"q": ["a"], "p": ["c"]}}
    >>> results = germane.evaluate_many({"q": ["a"], "p": ["b"]}, runs, "AP")
    >>> DifferenceDisplay(results["a"]["AP"], results["b"]["AP"]).plot().differences_
    {'p': 1.0, 'q': 0.0}

    The difference is ``first - second``. Raises InputError for different measures, and where no
    query is in both.
    """

    def __init__(
        self,
        first: QueryValues,
        second: QueryValues,
        *,
        names: tuple[str, str] = ("first", "second"),
    ) -> None:
        if first.measure != second.measure:
            raise InputError(
                f"a difference is between values of one measure; got {first.measure} and"
                f" {second.measure}."
            )
        refuse_unanswered(dict(zip(names, (first, second), strict=True)))
        self.measure, self.names = first.measure, names
        first_values, second_values = first.per_query, second.per_query
        shared = [query for query in first_values if query in second_values]
        if not shared:
            raise InputError("the two results have no query in common.")
        values = (
            np.array([by_query[query] for query in shared])
            for by_query in (first_values, second_values)
        )
        paired = zip(shared, subtract_values(*values).tolist(), strict=True)
        self.differences_ = dict(sorted(paired, key=lambda pair: -pair[1]))

    @classmethod
    def from_queries(cls, queries: "QueryDifferences") -> Self:
        """Make the display of a pair that was compared query by query."""
        display = cls.__new__(cls)
        display.measure, display.names = queries.measure, (queries.system, queries.baseline)
        has_datasets = len({row.dataset for row in queries.rows}) > 1
        display.differences_ = {
            f"{row.dataset}: {row.query}" if has_datasets else row.query: row.difference
            for row in queries.rows
        }
        return display

    def _draw(self, ax: "Axes") -> None:
        differences = list(self.differences_.values())
        draw_bars(ax, list(self.differences_), differences, self.colors.edge)
        ax.axhline(0, color=self.colors.ink, linewidth=0.8)
        wins, losses = (sum(sign * d > 0 for d in differences) for sign in (1, -1))
        if find_direction(self.measure.name) < 0:
            wins, losses = losses, wins
        first, second = map(shorten, self.names)
        set_title(
            ax,
            f"{self.measure}: {first} - {second}, mean {np.mean(differences):+.4f}\n"
            f"{self.measure.definition}\n"
            f"{wins} queries better, {losses} worse, {len(differences) - wins - losses} the same",
        )
        ax.set_ylabel(f"difference of {self.measure}")


class ForestDisplay(Display):
    """The mean differences of pairs of systems on one measure, with their intervals: a forest plot.

    >>> from germane.plot import ForestDisplay
    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> comparison = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR")
    >>> ForestDisplay(comparison.pairs).plot().ax_.get_xlabel()
    'difference of RR to a'

    A full point is a significant difference, a hollow one is not. The largest difference is on top.
    Differences from one baseline are drawn as they are, and others from the lower mean to the
    higher one, as their sentences say.
    Raises InputError where there is no pair, or the pairs are of several measures.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        measures = list(dict.fromkeys(pair.measure for pair in pairs))
        if len(measures) != 1:
            mismatch = (
                f"; got {', '.join(map(str, measures))}" if measures else ", and none was given"
            )
            raise InputError(f"a forest plot shows the pairs of one measure{mismatch}.")
        self.measure = measures[0]
        is_fixed = len(pairs) > 1 and len({pair.baseline for pair in pairs}) == 1
        directed = pairs if is_fixed else map(_turn, pairs)
        self.pairs = tuple(sorted(directed, key=lambda pair: -pair.difference))

    def _size(self) -> tuple[float, float]:
        return (5.2 if self._is_narrow else 8.4, 2.1 + 0.27 * len(self.pairs))

    @property
    def _is_narrow(self) -> bool:
        """Are all names so short that a phone has room for them beside their differences?"""
        baselines = {pair.baseline for pair in self.pairs}
        return len(baselines) == 1 and all(len(pair.system) <= _SHORT for pair in self.pairs)

    def _draw(self, ax: "Axes") -> None:
        baselines = {pair.baseline for pair in self.pairs}
        against = f" to {shorten(self.pairs[0].baseline)}" if len(baselines) == 1 else ""
        names = []
        for row, pair in enumerate(self.pairs):
            color = self.colors.line if pair.significant else self.colors.faint
            numbers = f"{pair.difference:+.3f}"
            if pair.interval is not None:
                low, high = pair.interval.low, pair.interval.high
                ax.plot((low, high), (row, row), color=color, linewidth=1.6, solid_capstyle="butt")
                numbers += f"  [{', '.join(write_ends(pair.interval, 3, '+'))}]"
            inside = color if pair.significant else self.colors.paper
            ax.plot(pair.difference, row, "o", color=color, markerfacecolor=inside, markersize=6)
            ax.annotate(
                f"{numbers}  {format_p(pair.p_adjusted, pair.alpha)}", (1.02, row),
                xycoords=("axes fraction", "data"), va="center", fontsize=8, annotation_clip=False,
            )  # fmt: skip
            letters = 30 if against else 18
            system, baseline = shorten(pair.system, letters), shorten(pair.baseline, letters)
            names.append(system if against else f"{system} – {baseline}")
        ax.axvline(0, color=self.colors.ink, linewidth=0.8)
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.grid(axis="y", visible=False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"difference of {self.measure}{against}", parse_math=False)
        first = self.pairs[0]
        intervals = sorted(
            (p.interval for p in self.pairs if p.interval), key=lambda i: i.confidence
        )
        levels = (
            list(dict.fromkeys((intervals[0].level, intervals[-1].level))) if intervals else ["no"]
        )
        set_title(
            ax,
            f"{self.measure}: mean differences over {write_count(first.queries, first.unit)}\n"
            f"{fill(self.measure.definition, _LETTERS // 2 if self._is_narrow else _LETTERS)}\n"
            f"{' to '.join(levels)} intervals; p: {first.test}\n"
            f"● p < {first.alpha:g} and an interval without 0, ○ not significant",
        )


def _turn(pair: Pair) -> Pair:
    """Turn a pair so that the higher mean is the system's, as in its sentence."""
    if pair.difference >= 0:
        return pair
    interval = pair.interval
    if interval is not None:
        interval = replace(interval, low=-interval.high, high=-interval.low)
    return replace(
        pair, system=pair.baseline, baseline=pair.system, difference=-pair.difference,
        interval=interval,
    )  # fmt: skip


# --- Queries: two systems compared query by query, with the items that moved ----------------------

SHOWN = 4  # items of a query that a table names


@dataclass(frozen=True)
class Move:
    """A judged item that two systems rank differently."""

    item: Hashable = field(metadata=AS_TEXT)
    relevance: float
    before: int | None
    """its rank in the baseline; None: not retrieved"""
    after: int | None
    """its rank in the system"""

    def __str__(self) -> str:
        before, after = ("–" if rank is None else str(rank) for rank in (self.before, self.after))
        return make_visible(f"{self.item} ({self.relevance:g}): {before} → {after}")


@dataclass(frozen=True)
class QueryDifference:
    """One query's values under two systems."""

    dataset: str
    query: Hashable = field(metadata=AS_TEXT)
    baseline: float
    system: float
    difference: float
    moved: tuple[Move, ...]
    """highest grade first, then the largest move; empty for results that were read from a file"""


@dataclass(frozen=True)
class Slice:
    """The queries of one category."""

    name: Hashable
    queries: int
    baseline: float
    system: float
    difference: float
    wins: int
    losses: int
    ties: int


@dataclass(frozen=True)
class QueryDifferences(Tabular, Plain):
    """All queries of a pair, from the largest gain to the largest loss.

    >>> runs = {"a": {"q": ["x", "d"], "p": ["e"]}, "b": {"q": ["d"], "p": ["e"]}}
    >>> views = germane.compare({"q": ["d"], "p": ["e"]}, runs, "RR").queries("RR", "b", "a")
    >>> views.gains()[0].query, str(views.gains()[0].moved[0])
    ('q', 'd (1): 2 → 1')
    """

    _json = "measure system baseline only_system only_baseline queries=rows"

    measure: Measure
    system: str
    baseline: str
    rows: tuple[QueryDifference, ...]
    only_system: tuple[Hashable, ...] = field(metadata=AS_TEXT)
    """judged queries that the system answers and the baseline does not"""
    only_baseline: tuple[Hashable, ...] = field(metadata=AS_TEXT)
    unit: str = "query"
    """the column of queries, as the data call it"""

    def gains(self, most: int = 10) -> tuple[QueryDifference, ...]:
        """The queries on which the system is better, the largest difference first."""
        return tuple(row for row in self.rows[:most] if self._better * row.difference > 0)

    def losses(self, most: int = 10) -> tuple[QueryDifference, ...]:
        """The queries on which the system is worse, the largest difference first."""
        return tuple(row for row in self.rows[::-1][:most] if self._better * row.difference < 0)

    @property
    def _better(self) -> int:
        """The sign of a difference for the better."""
        return find_direction(self.measure.name) or 1

    def by(self, category: Mapping[Any, Hashable] | Callable[[Any], Hashable]) -> "Slices":
        """Group the queries by category, given as a mapping or a function of the query.

        Raises NotFoundError for a query without a category, InputError for another type.
        """
        # rows are in no order of ids
        if not isinstance(category, Mapping) and not callable(category):
            raise InputError(
                "by takes a mapping of query to category, or a function of the query; got"
                f" {clip(category)}"
            )
        names = find_categories([row.query for row in self.rows], category)
        groups: dict[Hashable, list[QueryDifference]] = {}
        for name, row in zip(names, self.rows, strict=True):
            groups.setdefault(name, []).append(row)
        slices = (_make_slice(name, groups[name], self._better) for name in sort_categories(groups))
        return Slices(self.measure, self.system, self.baseline, tuple(slices))

    def _list_columns(self) -> dict[str, Any]:
        rows, numbers = self.rows, ("baseline", "system", "difference")
        return {
            "data set": make_texts(row.dataset for row in rows),
            self.unit: make_ids(row.query for row in rows),
            **{name: make_numbers(getattr(row, name) for row in rows) for name in numbers},
        }

    def plot(self, ax: "Axes | None" = None, *, paper: Paper = "light") -> DifferenceDisplay:
        """Draw the difference of every query into ``ax``, or into a new figure."""
        return DifferenceDisplay.from_queries(self).plot(ax, paper=paper)

    def save(self, path: str | os.PathLike[str], *, paper: Paper | None = None) -> None:
        """Write the picture of ``plot`` to a file: svg, png or pdf."""
        DifferenceDisplay.from_queries(self).save(path, paper=paper)

    def table(self, *, most: int = 10, digits: int | None = 4) -> Table:
        """The largest gains and losses, with the items that moved."""

        has_datasets = len({row.dataset for row in self.rows}) > 1
        shown = (*self.gains(most), *self.losses(most)[::-1])
        rows = []
        for row in shown:
            moved = [str(move) for move in row.moved[:SHOWN]]
            if len(row.moved) > SHOWN:
                moved.append(f"{len(row.moved) - SHOWN} more")
            rows.append(
                (
                    *([row.dataset] if has_datasets else []),
                    str(row.query),
                    format_number(row.baseline, digits),
                    format_number(row.system, digits),
                    format_number(row.difference, digits, sign="+"),
                    ", ".join(moved),
                )
            )
        first = ("data set", self.unit) if has_datasets else (self.unit,)
        columns = (*first, self.baseline, self.system, "difference", "moved")
        left = (*range(1, len(first)), len(columns) - 1)
        return Table(columns, tuple(rows), tuple(self._notes(len(shown))), left)

    def _notes(self, shown: int) -> Iterator[str]:
        yield f"{self.measure}: {self.measure.definition}"
        same = sum(not row.difference for row in self.rows)
        yield (
            f"{shown:,} of {len(self.rows):,} queries, from the largest gain to the largest loss; "
            f"{same:,} do not differ"
        )
        if any(row.moved for row in self.rows):
            yield "moved: judged items (grade): rank before → rank after; – is not retrieved"
        for only, name in ((self.only_system, self.system), (self.only_baseline, self.baseline)):
            if only:
                listed = ", ".join(map(str, only[:10])) + (", …" if len(only) > 10 else "")
                yield f"answered by {name} only: {len(only):,} ({listed})"


@dataclass(frozen=True)
class Slices(Tabular):
    """A pair of systems by category of query."""

    measure: Measure
    system: str
    baseline: str
    slices: tuple[Slice, ...]

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per category."""
        rows = tuple(
            (
                str(s.name), str(s.queries),
                *(format_number(value, digits) for value in (s.baseline, s.system, s.difference)),
                str(s.wins), str(s.losses), str(s.ties),
            )
            for s in self.slices
        )  # fmt: skip
        columns = (
            "category", "queries", self.baseline, self.system, "difference", "wins", "losses",
            "ties",
        )  # fmt: skip
        notes = (
            f"{self.measure}: {self.measure.definition}",
            "Slices are chosen after the fact, so nothing is tested here; compare(by=…) tests.",
        )
        return Table(columns, rows, notes)


def find_moves(
    before: Placement | None, after: Placement | None, query: Hashable
) -> tuple[Move, ...]:
    """Find the judged items whose rank changed: highest grade first, then the largest move."""
    if before is None or after is None:
        return ()
    old, new = ({hit.item: hit for hit in placement.hits(query)} for placement in (before, after))
    moves = []
    for item in dict.fromkeys((*old, *new)):
        ranks = [hits[item].rank if item in hits else None for hits in (old, new)]
        if ranks[0] != ranks[1]:
            moves.append(Move(item, (old.get(item) or new[item]).relevance, *ranks))

    def order(move: Move) -> tuple[float, float]:  # by reciprocal ranks: the first count most
        before, after = (1 / rank if rank else 0.0 for rank in (move.before, move.after))
        return -move.relevance, -abs(before - after)

    return tuple(sorted(moves, key=order))


def _make_slice(name: Hashable, rows: Sequence[QueryDifference], better: int) -> Slice:
    """Make a slice; ``better`` is the sign of a difference for the better."""
    baseline, system = (
        average_numbers(values)
        for values in zip(*((row.baseline, row.system) for row in rows), strict=True)
    )
    wins, losses = (sum(sign * row.difference > 0 for row in rows) for sign in (better, -better))
    ties = len(rows) - wins - losses
    difference = average_numbers(row.difference for row in rows)
    return Slice(name, len(rows), baseline, system, difference, wins, losses, ties)
