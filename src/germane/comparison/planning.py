"""The verb plan: what a collection of queries can show, before any run is made or from a pilot."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from germane.comparison.pair import format_p_number
from germane.comparison.resolution import count_fewest_differing, find_smallest_p, find_step
from germane.core.calls import check_number
from germane.core.mean_intervals import Dispersion
from germane.core.ragged import Floats, Ints
from germane.errors import InputError, MeasureError, write_option
from germane.evaluation.choices import DEFAULT, Choices, Judgments, Run
from germane.evaluation.evaluate import evaluate
from germane.evaluation.opening import open_data
from germane.measures.definition import refuse_lists
from germane.measures.measure import Measure, Measures
from germane.output.documents import Document, Plain
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number

_BASES = {
    "pilot": "if queries vary as between the two runs",
    "run": "if queries vary as between two unrelated runs like this one; similar runs differ less",
    "range": "for any two runs, even if one has only the highest values and the other the lowest",
}


@dataclass(frozen=True)
class Resolution(Plain):
    """The differences of a measure that the queries of a collection can show.

    >>> plan = germane.plan({f"q{i}": ["d", "e"] for i in range(20)}, measures="P@5")
    >>> [found] = plan.resolutions
    >>> found.smallest_p == 2**-19, round(found.least, 3)
    (True, 0.06)
    """

    measure: Measure
    queries: int
    """that the mean counts"""
    differing: int
    """queries that can differ: those with a relevant item"""
    smallest_p: float
    """the smallest p-value of a paired randomization test, if all of them favor one run"""
    least: float | None
    """the smallest difference that can have a p-value below alpha; None if values have no steps,
    or if too few queries can differ"""
    detectable: float | None
    """the true difference that is shown with a probability of 0.8; None for too few queries"""
    needed: int | None
    """the queries that show ``difference=`` with this probability"""


@dataclass(frozen=True)
class QueryPlan(Document, Tabular):
    """What the queries of a collection can show, measure by measure; it prints as a table.

    >>> found = germane.plan({f"q{i}": ["d"] for i in range(4)}, measures="RR")
    >>> found.resolutions[0].smallest_p
    0.125

    ``basis`` says what the spread of differences comes from: a ``pilot`` of two runs, one ``run``,
    or the ``range`` of the measure.
    """

    resolutions: tuple[Resolution, ...]
    alpha: float
    basis: str
    difference: float | None = None

    def table(self, *, digits: int | None = 4) -> Table:
        """One row for each measure."""
        rows = []
        for found in self.resolutions:
            needed = [] if self.difference is None else [_write_count(found.needed)]
            rows.append(
                (
                    str(found.measure), f"{found.queries:,}", f"{found.differing:,}",
                    format_p_number(found.smallest_p, digits),
                    *(_write(number, digits) for number in (found.least, found.detectable)),
                    *needed,
                )
            )  # fmt: skip
        planned = () if self.difference is None else (f"needed for {self.difference:g}",)
        columns = (
            "measure",
            "queries",
            "can differ",
            "smallest p",
            "least",
            "detectable",
            *planned,
        )
        return Table(columns, tuple(rows), tuple(self._explain()))

    def _explain(self) -> Iterator[str]:
        fewest = count_fewest_differing(self.alpha)
        yield (
            "smallest p: of a paired randomization test, if every query that can differ favors one"
            " run"
        )
        if any(found.least is not None for found in self.resolutions):
            yield (
                f"least: the smallest difference that can have p < {self.alpha:g}, if {fewest}"
                " queries differ by one step each"
            )
        yield (
            f"detectable: the true difference that has p < {self.alpha:g} with a probability of"
            f" {Dispersion.POWER:g}; {_BASES[self.basis]}"
        )


def _write(number: float | None, digits: int | None) -> str:
    return "–" if number is None else format_number(number, digits)


def _write_count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def plan(
    qrels: Judgments,
    run: Run | None = None,
    measures: Measures = DEFAULT,
    *,
    baseline: Run | None = None,
    difference: float | None = None,
    alpha: float = 0.05,
    **policy: Unpack[Choices],
) -> QueryPlan:
    """Tell which differences the queries of a collection can show, before runs are compared.

    >>> found = germane.plan({f"q{i}": ["d"] for i in range(50)}, measures="RR", difference=0.1)
    >>> found.basis, found.resolutions[0].needed
    ('range', 787)

    The judgments alone give the smallest p-value, the smallest difference that can be significant,
    and the difference that is detected with a probability of 0.8 whatever the runs are. That
    difference is large. With ``run``, it comes from the spread of that run's values instead, and
    with ``baseline`` as well, from the differences of the two runs, which are a pilot.
    ``difference`` is a true difference, for which the number of queries is planned. Raises
    InputError, MeasureError and what ``evaluate`` raises.
    """
    check_number("alpha", alpha, 0, 1)
    if difference is not None:
        check_number("difference", difference, 0)
    if run is None and baseline is not None:
        raise InputError(
            f"{write_option('baseline')} is the second run of a pilot; give a run, too."
        )
    data = open_data(qrels, policy)
    chosen = data.options.read_measures(measures)
    refuse_lists(chosen, "and a plan is of means over queries.")
    judged = _Judged(data.read_all("the number of relevant items"))
    pilots = [] if run is None else [evaluate(data, run, measures)]
    if baseline is not None:
        pilots.append(evaluate(data, baseline, measures))
    resolutions = tuple(
        _resolve(m, judged, [_list_values(pilot, m) for pilot in pilots], difference, alpha)
        for m in chosen
    )
    return QueryPlan(resolutions, alpha, ("range", "run", "pilot")[len(pilots)], difference)


@dataclass(frozen=True)
class _Judged:
    """The judgments of a collection, and how many items are relevant for each query."""

    qrels: Any

    @cached_property
    def owners(self) -> Ints:
        return np.repeat(np.arange(len(self.qrels)), np.diff(self.qrels.offsets))

    def count_relevant(self, level: float) -> Ints:
        """Count the items of at least this grade, by query."""
        return np.bincount(self.owners, self.qrels.grades >= level, len(self.qrels)).astype(int)


def _list_values(pilot: Any, measure: Measure) -> Floats:
    """List the values of queries, and NaN for those that the mean leaves out."""
    values: Floats = np.asarray(pilot[measure].values, float)
    return values


def _resolve(
    measure: Measure,
    judged: _Judged,
    values: list[Floats],
    difference: float | None,
    alpha: float,
) -> Resolution:
    relevant = judged.count_relevant(float(dict(measure.parameters).get("rel", 1.0)))
    differing, queries = int(np.count_nonzero(relevant)), len(relevant)
    if values:
        if len(values[0]) != len(values[-1]):
            raise InputError("the two runs of a pilot have to count the same queries.")
        spread_of = values[-1] - values[0] if len(values) > 1 else values[0] * math.sqrt(2)
        spread_of = spread_of[~np.isnan(spread_of)]
        queries = len(spread_of)
        differing = min(differing, queries)
        centered = (spread_of - spread_of.mean()) / queries
        spread = Dispersion.measure(centered, np.zeros(queries, int))
    else:
        if measure.range is None or not math.isfinite(measure.range[1] - measure.range[0]):
            raise MeasureError(
                f"{measure} has no highest value; give a run, whose spread a plan can use."
            )
        width = measure.range[1] - measure.range[0]
        spread = Dispersion(width / math.sqrt(queries), queries - 1.0, queries)
    lowest, highest = measure.range or (0.0, math.inf)
    if difference is not None and difference > highest - lowest:
        raise InputError(
            f"no two runs differ by {difference:g}: {measure} is from {lowest:g} to {highest:g}."
        )
    fewest = count_fewest_differing(alpha)
    steps = [find_step(measure, int(count)) for count in relevant if count]
    least = None
    if len(steps) >= fewest and differing >= fewest and None not in steps:
        least = float(sum(sorted(step for step in steps if step)[:fewest])) / queries
    varies = spread is not None and spread.error > 0
    needed = None
    if difference is not None and spread is not None and varies:
        needed = spread.count_needed(difference, alpha)
        needed = None if needed is None else max(needed, fewest)
    return Resolution(
        measure, queries, differing, find_smallest_p(differing) if differing else 1.0, least,
        spread.find_detectable(alpha) if spread is not None and varies else None, needed,
    )  # fmt: skip
