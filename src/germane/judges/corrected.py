"""Corrected means and differences, with the data that they rest on."""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from germane.core.calls import check_number
from germane.core.finding import Finding
from germane.core.mean_intervals import Interval, find_student_quantile
from germane.core.policy import Policy
from germane.core.ragged import reaches, unite_equal
from germane.dialects.names import parse
from germane.errors import NotFoundError, clip, make_visible, offer
from germane.judges.assessors import JudgeAgreement, OrderAgreement
from germane.judges.correction import About, Sample, measure_unseen, measure_variance
from germane.measures.measure import Measure
from germane.output.documents import Plain, make_document
from germane.output.named_columns import Lookup, Named, Tabular, make_numbers, make_texts
from germane.output.tables import Table, format_number, write_count

MANY = 10**9  # queries: as good as all
WIDER = 1.35  # times people's interval: from there a corrected number is worth less than people's


@dataclass(frozen=True, eq=False)
class CorrectedMean(Plain):
    """A mean or a mean difference from a model's judgments, corrected by people's judgments.

    >>> model = {q: {"a": 1} for q in range(40)}
    >>> people = {q: {"a": int(q > 0)} for q in range(10)}
    >>> found = germane.trust({q: ["a"] for q in range(40)}, people=people, model=model,
    ...     measures="RR")
    >>> round(found["RR"].mean, 3), found["RR"].naive_mean, round(found["RR"].gap, 3)
    (0.9, 1.0, 0.1)
    """

    _json = (
        "measure run baseline mean people_mean naive_mean tuning judged queries gap shown caution"
        " interval people_interval naive_interval"
    )

    measure: Measure
    run: str
    baseline: str | None
    """the other run of a difference: ``run`` less ``baseline``"""
    mean: float
    """corrected; without bias, so that it may lie beyond the measure's range"""
    interval: Interval
    """where it goes beyond the measure's range, it holds the truth as often without that part"""
    people_mean: float
    """by people's judgments alone"""
    people_interval: Interval
    naive_mean: float
    """by the model's judgments alone"""
    naive_interval: Interval
    """covers the mean that the model would give, and not the true one"""
    tuning: float
    """λ: the weight of the model's values; 0 ignores them"""
    judged: int
    """n: queries that people judged"""
    queries: int
    """N: queries that the model judged"""
    gap: float
    """the model's mean less people's, over the queries that both judged"""
    sample: Sample = field(repr=False)
    about: About = "population"

    @property
    def title(self) -> str:
        """The name of the run, or of both runs of a difference."""
        return self.run if self.baseline is None else f"{self.run} - {self.baseline}"

    @property
    def narrower(self) -> float:
        """The share by which the interval is narrower than that of people's judgments alone."""
        width = self.people_interval.high - self.people_interval.low
        return 1 - (self.interval.high - self.interval.low) / width if width else 0.0

    @property
    def shown(self) -> Literal["corrected", "people"]:
        """The number to show first: people's alone, if the corrected one is much less certain."""
        width = self.people_interval.high - self.people_interval.low
        is_usual = reaches(WIDER * width, self.interval.high - self.interval.low)
        return "corrected" if is_usual else "people"

    @property
    def stated(self) -> tuple[float, Interval]:
        """The number to show first, and its interval."""
        if self.shown == "people":
            return self.people_mean, self.people_interval
        return self.mean, self.interval

    @property
    def caution(self) -> str:
        """A sentence if people's values differ on fewer than five queries, or nothing."""
        values = unite_equal(self.sample.people)
        usual = int(np.unique(values, return_counts=True)[1].max())
        if self.judged - usual >= Interval.FEWEST:
            return ""
        return (
            f"{self.title}, {self.measure}: people's values differ on only {self.judged - usual} of"
            f" {self.judged} queries"
        )

    @property
    def reason(self) -> str:
        """One sentence that explains corrected minus naive number as a sum of two parts."""
        shift = self.naive_mean - self.mean
        low, high = self.naive_interval.low, self.naive_interval.high
        inside = "within" if low <= self.mean <= high else "outside"
        return (
            f"{self.title}, {self.measure}: the model alone gives {self.naive_mean:.4f}, which is"
            f" {shift:+.4f} from the corrected {self.mean:.4f}: {self.gap:+.4f} because its values"
            f" differ by that much from people's on the {write_count(self.judged, 'query')} that"
            f" both judged, and {shift - self.gap:+.4f} because λ is {self.tuning:.2f} and not 1;"
            f" the corrected number is {inside} the naive interval, which does not account for the"
            " model's errors"
        )

    def __str__(self) -> str:
        mean, interval = self.stated
        ends = f"[{interval.low:.4f}, {interval.high:.4f}]"
        whose = " (people alone)" if self.shown == "people" else ""
        title = make_visible(self.title)
        return f"{title}, {self.measure}: {mean:.4f}{whose}, {interval.level} interval {ends}"

    def plan(self, difference: float, *, power: float = 0.8) -> "Plan":
        """Plan how many queries show a true difference of this size with probability ``power``.

        This result serves as the pilot, from which the plan takes its variances. Use it on the
        difference of two runs. Raises InputError for a difference that is not above 0 and for a
        power that is not between 0 and 1.
        """
        check_number("difference", difference, 0)
        check_number("power", power, 0, 1)
        return _make_plan(self, float(difference), power)


def find_narrow_spread(corrected_mean: CorrectedMean) -> Iterator[Finding]:
    """Find why an interval comes from the range of its measure, and where it is worth little."""
    title, n = f"{corrected_mean.title}, {corrected_mean.measure}", corrected_mean.judged
    if corrected_mean.interval.basis == "range":
        reason = corrected_mean.caution or (
            f"{title}: {n} of people's queries tell too little about how much the values, or the"
            " model's errors, vary"
        )
        text = f"{reason}; most of the interval allows for queries that were not drawn"
        yield Finding("note", "little spread", text, n)
    if corrected_mean.shown == "people":
        text = (
            f"{title}: the corrected interval is more than {WIDER:g} times as wide as that of"
            " people alone"
        )
        yield Finding(
            "note",
            "wide correction",
            text,
            n,
            advice=("Report the number from people's judgments alone."),
        )


@dataclass(frozen=True)
class Plan(Tabular):
    """Numbers of queries that show a difference: people's for several numbers of the model's."""

    difference: float
    power: float
    alpha: float
    people_alone: int
    """people's queries where there is no model"""
    people: dict[int, int | None]
    """the model's queries → people's; None where no number of people's is enough"""
    caution: str = ""
    """a sentence where the pilot's values differ too little to plan from, or nothing"""

    def table(self, *, digits: int | None = 4) -> Table:
        """One row for each number of the model's queries."""
        rows = [("none", f"{self.people_alone:,}")]
        rows += [(f"{N:,}", "too few" if n is None else f"{n:,}") for N, n in self.people.items()]
        shown = format_number(self.difference, digits)
        note = (
            f"queries that show a true difference of {shown} with probability {self.power:g}, at p"
            f" < {self.alpha:g}, given the variances of this pilot"
        )
        notes = (note, f"{self.caution}.") if self.caution else (note,)
        return Table(("the model's queries", "people's queries"), tuple(rows), notes)


def _make_plan(pilot: CorrectedMean, difference: float, power: float) -> Plan:
    """Plan the fewest queries whose intervals leave out 0 with this probability.

    The variance of the pilot, its part of unseen queries included, is scaled to each number.
    """
    confidence, sample = pilot.interval.confidence, pilot.sample
    beta = NormalDist().inv_cdf(power)

    def shows(queries: int, total: int, slope: float) -> bool:
        planned = replace(sample, design=sample.design.scale(queries, total))
        unseen = measure_unseen(planned, confidence)
        variance = measure_variance(planned, slope, unseen, "population")
        reach = max(variance.reach(find_student_quantile(1 - confidence, planned.design.freedom)))
        return reaches(difference, reach + beta * math.sqrt(variance.drawn))

    least = max(Interval.FEWEST, 2 * int(sample.design.strata.max()) + 2)  # two in each stratum

    def find_fewest(total: int, slope: float) -> int | None:
        numbers = range(least, total + 1)
        place = bisect_left(numbers, True, key=partial(shows, total=total, slope=slope))
        return numbers[place] if place < len(numbers) else None

    people_only = find_fewest(MANY, 0.0) or MANY
    by_total = {
        total: find_fewest(total, pilot.tuning)
        for total in (pilot.queries * times for times in (1, 2, 5, 20))
    }
    caution = f"{pilot.caution}: probably more are needed" if pilot.caution else ""
    return Plan(difference, power, round(1 - confidence, 12), people_only, by_total, caution)


class Trust(Lookup[CorrectedMean], Tabular):
    """Corrected means of one run, by measure.

    >>> model = {q: {"a": 1} for q in range(40)}
    >>> people = {q: {"a": int(q > 0)} for q in range(10)}
    >>> found = germane.trust({q: ["a"] for q in range(40)}, people=people, model=model,
    ...     measures="RR")
    >>> len(found.assumptions), [finding.what for finding in found.findings]
    (4, ['rare disagreement', 'little spread'])

    ``agreement`` tells how far the judges agree, ``findings`` are what can distort the numbers, and
    ``assumptions`` are what they rest on. It prints as a table with all of these.
    """

    def __init__(
        self,
        name: str,
        means: Mapping[Measure, CorrectedMean],
        agreement: JudgeAgreement,
        findings: tuple[Finding, ...],
        assumptions: tuple[str, ...],
        policy: Policy,
    ) -> None:
        self.name = name
        self.agreement = agreement
        self.findings = findings
        self.assumptions = assumptions
        self.policy = policy
        self._means = dict(means)

    def __getitem__(self, measure: str | Measure) -> CorrectedMean:
        key = parse(measure)
        if key not in self._means:
            raise NotFoundError(f"{key} was not evaluated.{offer(key, self._means)}")
        return self._means[key]

    def __iter__(self) -> Iterator[str]:
        return map(str, self._means)

    def __len__(self) -> int:
        return len(self._means)

    def __repr__(self) -> str:
        return (
            f"<Trust {self.name}:"
            f" {', '.join(f'{m}={number.mean:.4f}' for m, number in self._means.items())}>"
        )

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per measure: corrected, people alone and model alone, each with its interval."""
        return Trusts({self.name: self}, (), ()).table(digits=digits)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        return Trusts({self.name: self}, (), ()).to_dict()

    def _list_columns(self) -> dict[str, Any]:
        return list_columns(tuple(self._means.values()))


class Trusts(Named[Trust], Tabular):
    """Corrected means of several runs, their differences, and how the judges order the runs.

    >>> runs = {"one": {q: ["a"] for q in range(40)}, "two": {q: ["b", "a"] for q in range(40)}}
    >>> model = {q: {"a": 1} for q in range(40)}
    >>> people = {q: {"a": int(q > 0)} for q in range(10)}
    >>> found = germane.trust_many(runs, people=people, model=model, measures="RR")
    >>> round(found.between("two", "one", "RR").mean, 3), found.orders[0].tau
    (-0.45, 1.0)
    """

    _noun = "run"

    def __init__(
        self,
        runs: Mapping[str, Trust],
        differences: tuple[CorrectedMean, ...],
        orders: tuple[OrderAgreement, ...],
    ) -> None:
        super().__init__(runs)
        self.differences = differences
        """of every two runs on every measure: the second less the first"""
        self.orders = orders

    @property
    def numbers(self) -> tuple[CorrectedMean, ...]:
        """All means, followed by all differences."""
        return (*(mean for run in self.values() for mean in run.values()), *self.differences)

    def between(self, run: str, baseline: str, measure: str | Measure) -> CorrectedMean:
        """Return the difference of two runs. Raises NotFoundError if it was not computed."""
        key = parse(measure)
        for difference in self.differences:
            if (difference.measure, difference.run, difference.baseline) == (key, run, baseline):
                return difference
        is_reversed = any(
            (difference.run, difference.baseline) == (baseline, run)
            for difference in self.differences
        )
        hint = f"  There is ({baseline!r}, {run!r})." if is_reversed else ""
        raise NotFoundError(
            f"{clip(run)} was not compared with the baseline {clip(baseline)} on {key}.{hint}"
        )

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per measure and run, or pair of runs."""
        number = partial(format_number, digits=digits)

        def write(mean: float, interval: Interval) -> tuple[str, ...]:
            return number(mean), number(interval.low), number(interval.high)

        def write_three(corrected_mean: CorrectedMean) -> dict[str, tuple[str, ...]]:
            return {
                "corrected": write(corrected_mean.mean, corrected_mean.interval),
                "people": write(corrected_mean.people_mean, corrected_mean.people_interval),
                "model": write(corrected_mean.naive_mean, corrected_mean.naive_interval),
            }

        order = ["corrected", "people", "model"]
        if any(number.shown == "people" for number in self.numbers):
            order = ["people", "corrected", "model"]
        rows = tuple(
            (
                str(mean.measure), mean.title,
                *(cell for whose in order for cell in write_three(mean)[whose]),
                number(mean.tuning),
            )
            for mean in self.numbers
        )  # fmt: skip
        heads = {"corrected": ("corrected", "low", "high")}
        for whose in ("people", "model"):
            heads[whose] = (whose, f"{whose} low", f"{whose} high")
        columns = ("measure", "run", *(head for whose in order for head in heads[whose]), "λ")
        return Table(columns, rows, tuple(self._write_notes(digits)), (1,))

    def _write_notes(self, digits: int | None) -> Iterator[str]:
        first = next(iter(self.values()))
        number = self.numbers[0]
        for measure in dict.fromkeys(number.measure for number in self.numbers):
            yield f"{measure}: {measure.definition}"
        yield (
            f"[low, high]: {number.interval.level} intervals; people, model: from their judgments"
            " alone; λ: the weight of the model's values in the corrected number"
        )
        yield ""
        yield "Assumptions:"
        yield from (f"- {line}" for line in first.assumptions)
        yield f"policy: {first.policy}"
        yield ""
        yield "Why the numbers differ:"
        yield from (f"- {number.reason}." for number in self.numbers)
        yield ""
        yield from first.agreement.write_notes(digits)
        if self.orders:
            yield "order of the runs by both judges, over the queries that people judged:"
            yield from (f"- {order}" for order in self.orders)
        if findings := self.findings:
            yield ""
            yield "Findings:"
            yield from (f"- {finding}" for finding in findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Problems that can distort the numbers, in all runs and in their differences."""
        of_runs = [finding for run in self.values() for finding in run.findings]
        of_differences = [
            finding for difference in self.differences for finding in find_narrow_spread(difference)
        ]
        return tuple(dict.fromkeys((*of_runs, *of_differences)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        first = next(iter(self.values()))
        return make_document({
            "numbers": self.numbers,
            "assumptions": first.assumptions,
            "policy": first.policy,
            "agreement": first.agreement,
            "orders": self.orders,
            "findings": {name: run.findings for name, run in self.items()},
        })  # fmt: skip

    def _list_columns(self) -> dict[str, Any]:
        return list_columns(self.numbers)


def list_columns(numbers: tuple[CorrectedMean, ...]) -> dict[str, Any]:
    """List the columns of a frame with a row per number."""
    columns: dict[str, Any] = {
        "measure": make_texts(str(number.measure) for number in numbers),
        "run": make_texts(number.run for number in numbers),
        "baseline": make_texts(number.baseline or "" for number in numbers),
    }
    for name, prefix in (
        ("interval", ""),
        ("people_interval", "people_"),
        ("naive_interval", "naive_"),
    ):
        columns[f"{prefix}mean"] = make_numbers(
            getattr(number, f"{prefix}mean") for number in numbers
        )
        for end in ("low", "high"):
            ends = (getattr(getattr(number, name), end) for number in numbers)
            columns[f"{prefix}{end}"] = make_numbers(ends)
    columns["tuning"] = make_numbers(number.tuning for number in numbers)
    columns["queries"] = np.array([number.queries for number in numbers], np.int64)
    return columns
