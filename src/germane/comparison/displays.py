"""Displays: pictures of a comparison's differences, of all pairs and of a pair's queries."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Self

import numpy as np

from germane.comparison.layout import write_ends
from germane.comparison.pair import Pair, format_p
from germane.comparison.sample import refuse_unanswered
from germane.core.rounding import subtract_values
from germane.errors import InputError
from germane.measures import LOW_IS_GOOD
from germane.measures.averaging import QueryValues
from germane.output.formatting import write_count
from germane.output.pictures import Display, draw_bars, set_title, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from germane.comparison.queries import QueryDifferences

_LETTERS = 64  # of a line above a forest plot, beside the longest names of pairs


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
                f"a difference is of one measure; got {first.measure} and {second.measure}."
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
        if self.measure.name in LOW_IS_GOOD:
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
    Raises InputError where there is no pair, or the pairs are of several measures.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        measures = list(dict.fromkeys(pair.measure for pair in pairs))
        if len(measures) != 1:
            mismatch = (
                f"; got {', '.join(map(str, measures))}" if measures else ", and none was given"
            )
            raise InputError(f"a forest plot has the pairs of one measure{mismatch}.")
        self.measure = measures[0]
        self.pairs = tuple(sorted(pairs, key=lambda pair: -pair.difference))

    def _size(self) -> tuple[float, float]:
        return (8.4, 2.1 + 0.27 * len(self.pairs))

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
            f"{fill(self.measure.definition, _LETTERS)}\n"
            f"{' to '.join(levels)} intervals; p: {first.test}\n"
            f"● p < {first.alpha:g} and an interval without 0, ○ not significant",
        )
