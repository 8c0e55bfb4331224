"""Report: runs on the same judgments as one page, for somebody who was not there."""

import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Unpack

import numpy as np

from germane.comparison.api import compare
from germane.comparison.comparison import Comparison
from germane.comparison.pairing import Means, estimate_mean_intervals
from germane.comparison.settings import Correction, Family, Settings, TestName
from germane.core.arguments import parse_whole
from germane.core.progress import Progress, make_progress
from germane.core.ranking import Ranking
from germane.errors import InputError, clip
from germane.evaluation.api import evaluate_many
from germane.evaluation.choices import DEFAULT, Choices
from germane.evaluation.judging import Placement
from germane.evaluation.result import Result, Results
from germane.explanation.api import explain_result
from germane.explanation.curves import average_curve
from germane.measures.measure import Measure, Measures
from germane.output import writing
from germane.reports.findings import Explained, Findings, Spreads
from germane.reports.inputs import Origin, describe_origin, open_by_query, select_runs, spread_runs
from germane.reports.page import write_page

__all__ = ["Report", "report"]

NAMED = 4  # runs that a title names
FIRST = 10  # results of which the judged share is told, and which are shown one by one
UNORDERED = ("expected", "grouped")  # orders of ties in which single items have no rank


@dataclass(frozen=True, repr=False)
class Report:
    """A finished page: ``html`` is its text, ``save`` writes it.

    >>> germane.report({"q": ["d"]}, {"bm25": {"q": ["d"]}}, "RR").html[:15]
    '<!DOCTYPE html>'
    """

    title: str
    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page whole or not at all. Raises InputError where it cannot be written."""
        place = os.fspath(path)
        writing.check(place)
        writing.replace(place, self.html.encode())

    def __repr__(self) -> str:
        return f"<Report {self.title}: {len(self.html.encode()):,} bytes>"


def report(
    qrels: Any,
    runs: Mapping[str, Any],
    measures: Measures = DEFAULT,
    *,
    title: str | None = None,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: Correction | None = None,
    family: Family = "measure",
    confidence: float = 0.95,
    equivalence: float | None = None,
    resamples: int = 10_000,
    rng: int = 0,
    command: str | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> Report:
    """Evaluate one or more runs, and report them as one HTML page that needs no network.

    >>> runs = {"bm25": {"q": ["x", "d"], "p": ["e"]}, "dense": {"q": ["d"], "p": ["e"]}}
    >>> germane.report({"q": ["d"], "p": ["e"]}, runs, "RR").title
    'bm25 and dense'

    The page has every mean with its interval and definition, what stands out in the data,
    precision–recall curves, the values of every query in a table that sorts and is searched, the
    rankings behind them, how much rests on the order of ties, and the conventions, inputs and
    versions. Rankings are in it for as many queries as keep the page below 2 MB: first those with
    the largest differences, and the lowest values, of the first measure.

    ``qrels``, ``runs`` and the conventions are those of ``evaluate_many``, ``baseline`` to
    ``resamples`` those of ``compare``, and ``rng`` is a seed: the same inputs give the same page.
    ``command`` is what to name as its origin. Raises what these raise.
    """
    progress = make_progress(progress)
    settings = Settings(baseline, test, correction, family, confidence, equivalence, resamples)
    seed = parse_whole(rng)
    if seed is None or seed < 0:
        raise InputError(f"rng takes a seed, which is a whole number from 0; got {clip(rng)}")
    results = evaluate_many(qrels, runs, measures, progress=progress, **policy)
    if baseline is not None:
        results[baseline]  # one run alone is compared with nothing, but its name is checked
    origin = describe_origin(qrels, runs, command, progress)
    again = select_runs(runs, results, policy)
    spreads = spread_runs(qrels, again, results, policy, progress)
    explanations = _explain(results, open_by_query(again, results), progress)
    findings = _gather_findings(title, results, settings, seed, spreads, explanations, origin)
    return Report(findings.title, write_page(findings))


def _gather_findings(
    title: str | None,
    results: Results,
    settings: Settings,
    rng: int,
    spreads: Spreads,
    explanations: Iterator[Explained],
    origin: Origin,
) -> Findings:
    tested, confidence = _select_means(results), settings.confidence
    intervals: Means = {}
    if tested:
        intervals = estimate_mean_intervals(results, tested, settings.alpha)
    first = next(iter(results.values()))
    left_out: tuple[str, ...] = ()
    if first.policy.ties in UNORDERED:
        left_out = (f"ties={first.policy.ties} puts equal scores in no order: no rankings here.",)
    judgments = _require_placement(first).qrels
    return Findings(
        title=title or _make_title(list(results)),
        results=results,
        intervals=intervals,
        confidence=confidence,
        comparison=_compare(results, tested, settings, rng),
        curves=_average_curves(results, confidence, rng),
        spreads=spreads,
        explanations=() if left_out else explanations,
        judgments=len(judgments.items),
        only_relevant=not bool((judgments.grades < 1).any()),
        judged_share=_measure_judged(results),
        left_out=left_out,
        origin=origin,
    )


def _make_title(names: list[str]) -> str:
    if len(names) > NAMED:
        return f"{', '.join(names[: NAMED - 1])} and {len(names) - NAMED + 1} more runs"
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _select_means(results: Results) -> tuple[Measure, ...]:
    """Select the measures whose number is a mean of the queries' values."""
    return tuple(
        measure
        for measure in results.measures
        if measure.row.aggregate == "mean"
        and dict(measure.parameters).get("mean", "arithmetic") == "arithmetic"
    )


def _compare(
    results: Results, tested: tuple[Measure, ...], settings: Settings, rng: int
) -> Comparison | None:
    if len(results) < 2 or not tested:
        return None
    return compare(results, None, tested, **vars(settings), rng=rng)


def _average_curves(results: Results, confidence: float, rng: int) -> dict[str, Any]:
    rel = next((m.rel for m in results.measures if m.rel is not None), 1.0)
    if any(result.policy.ties in UNORDERED for result in results.values()):
        return {}
    return {
        name: average_curve(result, rel=rel, confidence=confidence, rng=rng)
        for name, result in results.items()
    }


def _measure_judged(results: Results) -> dict[str, float]:
    """Measure the share of each run's first ten results that is judged, where results have an order."""
    return {
        name: _share_judged(_require_placement(result).ranking)
        for name, result in results.items()
        if result.policy.ties not in UNORDERED
    }


def _share_judged(ranking: Ranking) -> float:
    judged = np.count_nonzero((ranking.rank <= FIRST) & (ranking.relevance >= 0))
    return judged / max(1, int(np.minimum(ranking.retrieved, FIRST).sum()))


def _require_placement(result: Result) -> Placement:
    assert result.placement is not None, "only results that are read from files have none"
    return result.placement


# --- Queries to explain ----------------------------------------------------------------------------


def _explain(
    results: Results, runs: Mapping[str, Any], progress: Progress | None
) -> Iterator[Explained]:
    """Explain each query: large differences and low values first, by turns."""
    order = _order_queries(results)
    for i, query in enumerate(order):
        if progress is not None:
            progress("rankings", i, len(order))
        yield (
            query,
            {
                name: tuple(_explain_query(result, query, runs.get(name)))
                for name, result in results.items()
            },
        )


def _explain_query(result: Result, query: Hashable, run: Any) -> Iterator[Any]:
    """Explain a query once for all measures that agree on which items are hits."""
    levels: dict[float | None, list[Measure]] = {}
    common = next((m.rel for m in result.measures if m.rel is not None), None)
    for measure in result.measures:
        levels.setdefault(common if measure.rel is None else measure.rel, []).append(measure)
    for measures in levels.values():
        yield explain_result(result, query, tuple(measures), run, FIRST)


def _order_queries(results: Results) -> list[Hashable]:
    values = [next(iter(result.values())).per_query for result in results.values()]
    shared = [query for query in values[0] if all(query in other for other in values)]
    of_query = {query: [value[query] for value in values] for query in shared}
    apart = sorted(shared, key=lambda query: min(of_query[query]) - max(of_query[query]))
    low = sorted(shared, key=lambda query: sum(of_query[query]))
    return list(dict.fromkeys(chain.from_iterable(zip(apart, low, strict=True))))
