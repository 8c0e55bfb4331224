"""Caution: what a reader should know of the data before relying on the numbers."""

from collections.abc import Iterator
from itertools import combinations

from germane.core.dispersion import FEW
from germane.evaluation.result import Result, banded
from germane.measures.measure import Measure
from germane.reports.findings import Findings

ENOUGH = 0.9  # judged of the first ten results


def cautions(findings: Findings) -> Iterator[str]:
    """One sentence or two for each thing that stands out: what evaluating found, and what it does not tell."""
    queries = max(result.counts.judged for result in findings.results.values())
    if queries < FEW:
        yield (
            f"Few queries ({queries}): the intervals are rough, and only large differences can be shown."
        )
    yield from _found(findings)
    for name, result in findings.results.items():
        yield from _chosen(name, result)
    yield from _without_relevant(findings)
    yield from _unjudged(findings)
    yield from _ties(findings)
    if len({result.policy for result in findings.results.values()}) > 1:
        yield "The runs were not evaluated under the same conventions; they are listed below."


def _found(findings: Findings) -> Iterator[str]:
    """The findings of all runs, once where they are the same."""
    lines: dict[str, list[str]] = {}
    for name, result in findings.results.items():
        for finding in result.findings:
            lines.setdefault(str(finding), []).append(name)
    for line, names in lines.items():
        yield line if len(names) == len(findings.runs) else f"{', '.join(names)}: {line}"


def _chosen(name: str, result: Result) -> Iterator[str]:
    """What a convention was chosen for, which is no accident, but bears on what the mean is of."""
    counts, policy = result.counts, result.policy
    if counts.missing and policy.missing == "skip":
        yield (
            f"{name} does not answer {counts.missing:,} of {counts.judged:,} judged queries; they are left "
            "out (missing=skip)."
        )
    if counts.unjudged_queries and policy.unknown == "zero":
        several = _several(counts.unjudged_queries)
        yield f"{name} answers {several} that nobody judged; they count as 0 (unknown=zero)."


def _without_relevant(findings: Findings) -> Iterator[str]:
    result = next(iter(findings.results.values()))
    count, chosen = result.counts.without_relevant, result.policy.no_relevant
    ways = {
        "skip": ("is left out", "are left out"), "one": ("counts as 1", "count as 1"),
        "nan": ("makes means undefined", "make means undefined"),
    }  # fmt: skip
    if count and chosen in ways:  # zero is a finding
        how = ways[chosen][count > 1]
        yield f"{_several(count)} without a relevant item {how} (no_relevant={chosen})."


def _unjudged(findings: Findings) -> Iterator[str]:
    treated = next(iter(findings.results.values())).policy.unjudged
    how = "count as not relevant" if treated == "nonrelevant" else "are removed"
    if findings.only_relevant:
        yield (
            "Only relevant items are judged, so nothing tells an item judged not relevant from one that "
            f"nobody looked at. All others {how}."
        )
        return
    for name, share in findings.judged_share.items():
        if share < ENOUGH:
            yield (
                f"Of the first ten results of {name}, {share:.0%} are judged; the others {how}. A run that "
                "finds what the judges never saw is underrated."
            )


def _ties(findings: Findings) -> Iterator[str]:
    for name, result in findings.results.items():
        if moving := list(banded(result)):
            widest, low, high = max(moving, key=lambda each: each[0].band)
            yield (
                f"{result.counts.tied_share:.1%} of the judged items that {name} retrieved share their score "
                f"with another; by their order alone {widest.measure} could be anything from {low} to {high}."
            )
    for measure in findings.measures:
        for one, other in combinations(findings.runs, 2):
            if _reversible(findings, measure, one, other):
                yield f"The order of ties alone could turn {one} against {other} on {measure}."


def _reversible(findings: Findings, measure: Measure, one: str, other: str) -> bool:
    """Could the system that is ahead fall behind, were all ties to go against it?"""
    ahead, behind = sorted(
        (findings.results[name][measure] for name in (one, other)), key=lambda r: -r.mean
    )
    if ahead.mean == behind.mean or not ahead.band + behind.band > 0:
        return False
    return min(ahead.worst, ahead.best) < max(behind.worst, behind.best)


def _several(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
