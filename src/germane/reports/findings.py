"""Findings: everything that a report shows, and cautions about the data."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from germane.comparison.comparison import Comparison
from germane.core.bootstrap import Interval
from germane.core.dispersion import FEW
from germane.evaluation.layout import find_bands
from germane.evaluation.result import Result, Results
from germane.explanation.explanation import Explanation
from germane.explanation.precision_recall import MeanPRCurve
from germane.measures.measure import Measure
from germane.reconciliation.spread import Spread
from germane.reports.inputs import Origin

ENOUGH = 0.9  # judged of the first ten results

Spreads = Mapping[str, tuple[Spread, ...]]
Explained = tuple[Hashable, Mapping[str, tuple[Explanation, ...]]]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """The findings of one or more runs on the same judgments."""

    title: str
    results: Results
    intervals: Mapping[str, Mapping[Measure, Interval | None]]  # of each run's means
    confidence: float
    comparison: Comparison | None  # None for one run
    curves: Mapping[str, MeanPRCurve]
    spreads: Spreads  # of each run that was read again, all measures
    explanations: Iterable[Explained]  # the most telling queries first
    judgments: int
    only_relevant: bool  # no item is judged not relevant
    judged_share: Mapping[str, float]  # of each run's first ten results
    left_out: tuple[str, ...]  # sentences about parts that the page lacks
    origin: Origin

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of every run."""
        return next(iter(self.results.values())).measures


# --- Cautions --------------------------------------------------------------------------------------


def list_cautions(findings: Findings) -> Iterator[str]:
    """List cautions about the data, in a sentence or two each."""
    queries = max(result.counts.judged for result in findings.results.values())
    if queries < FEW:
        yield (
            f"Few queries ({queries}): intervals are rough, and only large differences can be shown."
        )
    yield from _list_found(findings)
    for name, result in findings.results.items():
        yield from _list_uncounted(name, result)
    yield from _check_relevant(findings)
    yield from _check_judged(findings)
    yield from _check_ties(findings)
    if len({result.policy for result in findings.results.values()}) > 1:
        yield "The runs were evaluated under different conventions, which are listed below."


def _list_found(findings: Findings) -> Iterator[str]:
    """List the findings of all runs, each once."""
    lines: dict[str, list[str]] = {}
    for name, result in findings.results.items():
        for finding in result.findings:
            lines.setdefault(str(finding), []).append(name)
    for line, names in lines.items():
        yield line if len(names) == len(findings.runs) else f"{', '.join(names)}: {line}"


def _list_uncounted(name: str, result: Result) -> Iterator[str]:
    """List the queries that a chosen convention leaves out or counts as 0."""
    counts, policy = result.counts, result.policy
    if counts.missing and policy.missing == "skip":
        yield (
            f"{name} does not answer {counts.missing:,} of {counts.judged:,} judged queries; they are left "
            "out (missing=skip)."
        )
    if counts.unjudged_queries and policy.unknown == "zero":
        several = _count_queries(counts.unjudged_queries)
        yield f"{name} answers {several} that nobody judged; they count as 0 (unknown=zero)."


def _check_relevant(findings: Findings) -> Iterator[str]:
    result = next(iter(findings.results.values()))
    count, chosen = result.counts.without_relevant, result.policy.no_relevant
    ways = {
        "skip": ("is left out", "are left out"), "one": ("counts as 1", "count as 1"),
        "nan": ("makes means undefined", "make means undefined"),
    }  # fmt: skip
    if count and chosen in ways:  # zero is a finding
        how = ways[chosen][count > 1]
        yield f"{_count_queries(count)} without a relevant item {how} (no_relevant={chosen})."


def _check_judged(findings: Findings) -> Iterator[str]:
    treated = next(iter(findings.results.values())).policy.unjudged
    how = "count as not relevant" if treated == "nonrelevant" else "are removed"
    if findings.only_relevant:
        yield (
            "Only relevant items are judged: the judgments do not say which other items somebody looked "
            f"at. All others {how}."
        )
        return
    for name, share in findings.judged_share.items():
        if share < ENOUGH:
            yield (
                f"Of the first ten results of {name}, {share:.0%} are judged; the others {how}. A run that "
                "finds items that the judges never saw is underrated."
            )


def _check_ties(findings: Findings) -> Iterator[str]:
    for name, result in findings.results.items():
        if moving := list(find_bands(result)):
            widest, low, high = max(moving, key=lambda each: each[0].band)
            yield (
                f"{result.counts.tied_share:.1%} of the judged items that {name} retrieved share their score "
                f"with another; by their order alone {widest.measure} could be anything from {low} to {high}."
            )
    for measure in findings.measures:
        for one, other in combinations(findings.runs, 2):
            if _is_reversible(findings, measure, one, other):
                yield f"The order of ties alone could turn {one} against {other} on {measure}."


def _is_reversible(findings: Findings, measure: Measure, one: str, other: str) -> bool:
    """Could the run that is ahead fall behind, if all ties went against it?"""
    ahead, behind = sorted(
        (findings.results[name][measure] for name in (one, other)), key=lambda r: -r.mean
    )
    if ahead.mean == behind.mean or not ahead.band + behind.band > 0:
        return False
    return min(ahead.worst, ahead.best) < max(behind.worst, behind.best)


def _count_queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
