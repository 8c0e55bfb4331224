"""Bounds: how far items without a judgment could move a mean."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.policy import Policy
from germane.core.ragged import Ints
from germane.core.ranking import Ranking
from germane.errors import InputError, MeasureError, write_option
from germane.measures.averaging import evaluate_measure
from germane.measures.definition import CatalogueDefinition, refuse_lists
from germane.measures.measure import Measure
from germane.output.formatting import add_schema, format_number, to_json_number
from germane.output.frames import Tabular
from germane.output.tables import Table

if TYPE_CHECKING:
    from germane.evaluation.result import Result, Results

CLOSED = ("P", "Success", "RR", "DCG", "ERR", "RBP", "MeanP")
"""Measures that never fall if a grade rises, and whose norm does not depend on judgments."""


@dataclass(frozen=True)
class Bounds:
    """The means of a run if all items without a judgment were worthless, and if all were best."""

    measure: Measure
    low: float
    high: float
    mean: float
    """under the run's own convention for items without a judgment"""
    judged: float
    """the share of the results, down to the measure's cutoff, that were judged"""


def has_bounds(measure: Measure) -> bool:
    """Has the measure a closed form of its bounds?"""
    return not _find_obstacle(measure)


def _find_obstacle(measure: Measure) -> str:
    """Find out why a measure has no bounds; "" if it has some."""
    if isinstance(measure.row, CatalogueDefinition):
        return "they are about whole lists"
    norm = measure.arguments.get("norm", "all")
    if measure.name not in (*CLOSED, "AP") or norm not in ("all", "k", "retrieved"):
        return "the norm counts relevant items"
    if measure.nonrelevant:
        return "items of grade 0 count"
    return "" if measure.extremes == "always" else "gains do not grow with the grade"


def bound_measure(result: "Result", measure: Measure) -> Bounds:
    """Bound one measure of a result. Raises MeasureError without a closed form, and InputError."""
    refuse_lists([measure], f"and bounds exist for {', '.join(CLOSED)} and AP(norm=k).")
    if obstacle := _find_obstacle(measure):
        raise MeasureError(
            f"{measure} has no closed form of its bounds, because {obstacle}. Bounds exist for"
            f" {', '.join(CLOSED)} and AP(norm=k)."
        )
    if result.placement is None:
        raise InputError("a result that was read from a file has no ranks; evaluate the run again.")
    policy, ranking = result.policies.get(measure, result.policy), result.placement.ranking
    _check_policy(policy, ranking)
    best = max(1.0, measure.rel or 1.0, float(ranking.ideal.max(initial=1.0)))
    if measure.name == "ERR":
        best = float(measure.arguments["max"])
    low, high = (
        evaluate_measure(measure, _grade_unjudged(ranking, measure.k, grade)).mean
        for grade in (0.0, best)
    )
    shown = int(ranking.last(measure.k).sum())
    judged = int(np.count_nonzero(ranking.within(measure.k) & (ranking.relevance >= 0)))
    share = judged / shown if shown else math.nan
    return Bounds(measure, low, high, result[measure].mean, share)


def _check_policy(policy: Policy, ranking: Ranking) -> None:
    if policy.unjudged == "remove":
        raise InputError(
            f"{write_option('unjudged', 'remove')} has removed the items that bounds are about;"
            " leave it out."
        )
    if ranking.ties != "ordered" or policy.duplicates in ("keep", "recount"):
        raise InputError("bounds need an order of tied items, and no duplicates.")
    if policy.no_relevant != "zero":
        raise InputError("bounds are over all queries; no_relevant takes zero here.")


def _grade_unjudged(ranking: Ranking, k: int | None, grade: float) -> Ranking:
    """Give a grade to every retrieved item without a judgment, down to rank k."""
    last = ranking.last(k)
    ends = ragged.make_offsets(last)
    is_judged = ranking.within(k)
    place = (ends[ranking.owner] + ranking.rank - 1)[is_judged]
    grades = np.full(int(ends[-1]), grade)
    given = ranking.relevance[is_judged]
    grades[place] = np.where(given < 0, grade, given)
    owner: Ints = ragged.find_owners(ends)
    rank = np.arange(len(grades)) - ends[owner] + 1
    return replace(
        ranking, owner=owner, rank=rank, relevance=grades, retrieved=last,
        tied_from=rank, tied_to=rank, judgment=None,
    )  # fmt: skip


class BoundsOfRuns(Tabular):
    """The bounds of several runs: a row for each run and measure."""

    def __init__(self, results: "Mapping[str, Result] | Results") -> None:
        measures = next(iter(results.values())).measures
        self.without = tuple(measure for measure in measures if not has_bounds(measure))
        self.bounds = {
            (name, measure): bound_measure(result, measure)
            for name, result in results.items()
            for measure in measures
            if has_bounds(measure)
        }
        if not self.bounds:
            bound_measure(next(iter(results.values())), measures[0])  # says why

    @property
    def open(self) -> tuple[tuple[Measure, str, str], ...]:
        """Measure and two runs whose order items without a judgment could turn."""
        open_pairs = []
        for (name, measure), (second, same) in combinations(self.bounds, 2):
            if measure == same:
                first_bounds, two = self.bounds[name, measure], self.bounds[second, measure]
                if first_bounds.high > two.low and two.high > first_bounds.low:
                    open_pairs.append((measure, name, second))
        return tuple(open_pairs)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a run and measure."""
        number = partial(format_number, digits=digits)
        rows = tuple(
            (name, str(measure), *map(number, (bound.mean, bound.low, bound.high, bound.judged)))
            for (name, measure), bound in self.bounds.items()
        )
        columns = ("run", "measure", "mean", "all worthless", "all best", "judged")
        return Table(columns, rows, tuple(self._write_notes()), (1,))

    def _write_notes(self) -> Iterator[str]:
        for measure in dict.fromkeys(measure for _, measure in self.bounds):
            yield f"{measure}: {measure.definition}"
        yield (
            "all worthless, all best: the mean if every retrieved item without a judgment had grade"
            " 0, or the highest grade; judged: the share of results that were judged, down to the"
            " cutoff"
        )
        obstacles = {measure: _find_obstacle(measure) for measure in self.without}
        for obstacle in dict.fromkeys(obstacles.values()):
            named = (str(measure) for measure, why in obstacles.items() if why == obstacle)
            yield f"no bounds, because {obstacle}: {', '.join(named)}"
        if self.open:
            yield (
                "open pairs are found from each run's own bounds: where both runs have the same"
                " unjudged items, an order called open may be settled; an order not called open is"
                " settled"
            )
        for measure, first, second in self.open:
            yield (
                f"open: items without a judgment could turn the order of {first} and {second} on"
                f" {measure}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [
            {"run": name, "measure": str(measure), "mean": bound.mean, "low": bound.low,
                "high": bound.high, "judged": to_json_number(bound.judged)}
            for (name, measure), bound in self.bounds.items()
        ]  # fmt: skip
        opened = [[str(measure), first, second] for measure, first, second in self.open]
        return add_schema({"bounds": rows, "open": opened})
