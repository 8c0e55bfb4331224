"""Findings: everything that a report shows, cautions about the data, and where they come from."""

import hashlib
import os
import platform
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np

from germane._version import VERSION
from germane.comparison.comparison import Comparison
from germane.comparison.comparison_tables import caution_of_few
from germane.comparison.significance import is_near
from germane.core.calls import Progress
from germane.core.mean_intervals import Interval
from germane.core.ragged import reaches
from germane.errors import GermaneError, NotFoundError, PolicyError, list_some
from germane.evaluation.bounds import BoundsOfRuns
from germane.evaluation.layout import find_bands
from germane.evaluation.opening import Inputs
from germane.evaluation.result import Result, Results
from germane.explanation.curves import MeanPRCurve
from germane.explanation.explanation import Explanation
from germane.forensics.spread import Spread, spread_each
from germane.judges.corrected import Trusts
from germane.measures.measure import Measure
from germane.output.tables import Table
from germane.readers import RunInput, is_searched, open_run
from germane.readers.files import formats
from germane.readers.files.formats import is_path
from germane.readers.files.streams import explain_os_error
from germane.readers.options.texts import Texts
from germane.records.record import RecordedRun, read_document, read_runs

BLOCK = 2**20
ROOM = 5_000_000  # results that are read again and held in memory, of all runs together


# --- The last report ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Previous:
    """The changes of means since an earlier report, as far as it has the run and the measure."""

    name: str
    changes: Mapping[tuple[str, Measure], float]
    has_other_judgments: bool


def read_previous(previous: Any) -> tuple[str, Mapping[str, RecordedRun]]:
    """Read the runs of a record, with its name in messages."""
    where, document = "previous", previous
    if is_path(previous):
        where, document = os.fspath(previous), read_document(previous)
    elif isinstance(previous, (Result, Results)):
        document = previous.to_dict()
    return where, {run.name: run for run in read_runs(where, document)}


def compare_with_previous(
    before: tuple[str, Mapping[str, RecordedRun]], results: Results
) -> Previous:
    """Subtract the means of an earlier report. Raises PolicyError for other conventions, and
    NotFoundError where it has none of the runs and measures.
    """
    where, recorded = before
    changes: dict[tuple[str, Measure], float] = {}
    has_other_judgments = False
    for run in read_runs("the results", results.to_dict()):
        earlier = recorded.get(run.name)
        if earlier is None:
            continue
        has_other_judgments |= earlier.judgments != run.judgments
        for measure in run.measures.keys() & earlier.measures.keys():
            now, then = run.measures[measure], earlier.measures[measure]
            if now.policy != then.policy:
                raise PolicyError(
                    f"{where}: {measure} was computed with {then.policy}; now with {now.policy}."
                    " Numbers under different conventions cannot be compared."
                )
            changes[run.name, measure] = now.mean - then.mean
    if not changes:
        measures = {str(measure) for run in recorded.values() for measure in run.measures}
        raise NotFoundError(
            f"{where}: it has none of these runs with one of these measures. It has the runs"
            f" {list_some(list(recorded))} and the measures {list_some(sorted(measures))}. Runs are"
            " found by their names: give the files the same names every time."
        )
    return Previous(where, changes, has_other_judgments)


@dataclass(frozen=True)
class Origin:
    """The inputs of a report, the versions, and the command where there was one."""

    inputs: tuple[tuple[str, str, str, str], ...]  # name; path or type; size and SHA-256 of a file
    versions: Mapping[str, str]
    command: str | None


def describe_origin(
    qrels: Any, runs: Mapping[str, Any], command: str | None, progress: Progress | None
) -> Origin:
    """Describe the inputs: their names, sizes and hashes."""
    sources = {"judgments": qrels, **{f"run {name}": run for name, run in runs.items()}}
    inputs = tuple(_describe(name, source, progress) for name, source in sources.items())
    python = platform.python_version()
    versions = {"germane": VERSION, "NumPy": np.__version__, "Python": python}
    return Origin(inputs, versions, command)


def _describe(name: str, raw: Any, progress: Progress | None) -> tuple[str, str, str, str]:
    if not is_path(raw):
        return name, f"from memory ({type(raw).__name__})", "", ""
    path = os.fspath(raw)
    if not os.path.isfile(path):  # standard input and pipes cannot be read twice
        return name, "standard input" if path == "-" else path, "", ""
    size = os.path.getsize(path)
    return name, path, f"{size:,}", _hash(path, size, progress)


def _hash(path: str, size: int, progress: Progress | None) -> str:
    digest, done = hashlib.sha256(), 0
    with explain_os_error(path), open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(f"hash of {path}", done, size)
    return digest.hexdigest()


# --- Runs that are read again -----------------------------------------------------------------


def select_runs(runs: Mapping[str, Any], results: Results, data: Inputs) -> dict[str, Any]:
    """Select the first runs that are not too large to be read again; TREC files and responses are
    loaded.
    """
    held = data.options.held
    room, readable = ROOM, {}
    for name, run in runs.items():
        placement = results[name].placement
        room -= int(placement.ranking.retrieved.sum()) if placement else ROOM
        if room < 0:
            break
        if not is_path(run):
            readable[name] = run
        elif os.path.isfile(run):  # standard input and pipes cannot be read twice
            file_format = formats.find_format(run, "run", held.input_format)
            opened = None
            if file_format in ("trec", "json", "jsonl"):
                chosen = {"run": file_format}
                reading = replace(
                    held, input_format=chosen, collapse=None, item_ids=None, group=None
                )
                opened = open_run(run, reading)
            is_loaded = opened is not None and (file_format == "trec" or opened.is_mapping)
            readable[name] = opened.load() if opened is not None and is_loaded else run
    return readable


def open_by_query(
    data: Inputs, readable: Mapping[str, Any], results: Results
) -> dict[str, RunInput]:
    """Open the runs whose items are found by query at no cost; files and frames are not."""
    return {
        name: data.judge_by(placement.qrels).open_run(run)[0]
        for name, run in readable.items()
        if not is_searched(run) and (placement := results[name].placement)
    }


def spread_runs(
    data: Inputs, readable: Mapping[str, Any], results: Results, progress: Progress | None
) -> dict[str, tuple[Spread, ...]]:
    """Compute the numbers that other tools would report of the runs, but not of ended streams."""
    spreads = {}
    for i, (name, run) in enumerate(readable.items()):
        if progress is not None:
            progress("dialects", i, len(readable))
        placement = results[name].placement
        judged = data.judge_by(placement.qrels) if placement and is_path(data.qrels) else data
        try:
            spreads[name] = spread_each(judged, run, results.measures, limits="skip")
        except GermaneError:
            continue
    return spreads


# --- Findings: everything that a report shows, and cautions about the data ------------------------

ENOUGH = 0.9  # judged of the first ten results
SEVERAL = 3  # runs that are named one by one; a caution of more runs is one sentence

Spreads = Mapping[str, tuple[Spread, ...]]
Explain = Callable[[Hashable, str], tuple[Explanation, ...]]
Layout: TypeAlias = Literal["page", "folder"]


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """The findings of one or more runs on the same judgments."""

    title: str
    results: Results  # the best run first
    pair: tuple[str, ...]  # the runs that are compared first: all of them where there is one
    intervals: Mapping[str, Mapping[Measure, Interval | None]]  # of each run's means
    confidence: float
    comparison: Comparison | None  # None for one run
    groups: Table | None  # the means in each segment, where there are some
    trusts: Trusts | None  # the numbers as people's judgments correct them, where there are some
    names: Mapping[Measure, str]  # of the measures, as the page shows them
    curves: Mapping[str, MeanPRCurve]
    bounds: BoundsOfRuns | None  # where they were asked for
    spreads: Spreads  # of each run that was read again, all measures
    explain: Explain | None  # a query of a run; None where items have no ranks
    queries: Texts | None
    items: Texts | None
    layout: Layout
    max_size: int | None  # bytes of the page
    judgments: int
    only_relevant: bool  # no item is judged not relevant
    judged_share: Mapping[str, float]  # of each run's first ten results
    left_out: tuple[str, ...]  # sentences about parts that the page lacks
    origin: Origin
    sorted_by: Measure | None  # the measure that orders the runs; None for the order given
    baseline: str | None
    previous: Previous | None

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self.results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of every run."""
        return next(iter(self.results.values())).measures

    @property
    def judged(self) -> tuple[Measure, ...]:
        """The measures of judged items, which every query has."""
        return select_judged(self.measures)


def select_judged(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Select the measures of judged items: those of the catalogue are about whole lists."""
    return tuple(m for m in measures if not m.row.of_catalogue)


# --- Cautions ---------------------------------------------------------------------------------


def list_cautions(findings: Findings) -> Iterator[str]:
    """List cautions about the data, in a sentence or two each."""
    queries = max(result.counts.judged for result in findings.results.values())
    if queries < Interval.FEW:
        yield caution_of_few(queries, "queries")
    if findings.previous is not None and findings.previous.has_other_judgments:
        yield (
            f"The judgments are not those of {findings.previous.name}: changes of means since then"
            " may come from them."
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
    """List the findings of all runs, each once; of many runs, one sentence for each kind."""
    lines: dict[str, list[str]] = {}
    kinds: dict[str, list[tuple[int, str, str]]] = {}
    for name, result in findings.results.items():
        for finding in result.findings:
            lines.setdefault(str(finding), []).append(name)
            kinds.setdefault(finding.what, []).append((finding.count, str(finding), name))
    everywhere = {line for line, names in lines.items() if len(names) == len(findings.runs)}
    yield from (line for line in lines if line in everywhere)
    for kind in kinds.values():
        apart = [listed for listed in kind if listed[1] not in everywhere]
        if len(apart) > SEVERAL:
            largest = max(apart, key=lambda listed: listed[0])
            yield (
                f"{_name_runs(findings, [name for _, _, name in apart])}, most of all {largest[2]}:"
                f" {largest[1]}"
            )
        else:
            lines_apart = dict.fromkeys(line for _, line, _ in apart)
            yield from (f"{', '.join(lines[line])}: {line}" for line in lines_apart)


def _name_runs(findings: Findings, names: Sequence[str]) -> str:
    """Name some runs; of many, only their number."""
    if len(names) == len(findings.runs) > 1:
        return f"All {len(names)} runs"
    return ", ".join(names) if len(names) <= SEVERAL else f"{len(names)} runs"


def _list_uncounted(name: str, result: Result) -> Iterator[str]:
    """List the queries that a chosen convention leaves out or counts as 0."""
    counts, policy = result.counts, result.policy
    if counts.missing and policy.missing == "skip":
        yield (
            f"{name} does not answer {counts.missing:,} of {counts.judged:,} judged queries; they"
            " are left out (missing=skip)."
        )
    if counts.unjudged_queries and policy.unknown == "zero":
        queries = _count_queries(counts.unjudged_queries)
        yield f"{name} answers {queries} that nobody judged; they count as 0 (unknown=zero)."


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
            "Only relevant items are judged, so the judgments do not tell which other items"
            f" somebody looked at. All others {how}."
        )
        return
    low = {name: share for name, share in findings.judged_share.items() if share < ENOUGH}
    if not low:
        return
    underrated = "A run that finds items that the judges never saw is underrated."
    if len(low) > SEVERAL:
        lowest, highest = min(low, key=low.__getitem__), max(low, key=low.__getitem__)
        named = _name_runs(findings, list(low))
        yield (
            f"{named}: of the first ten results, {low[lowest]:.0%} ({lowest}) to {low[highest]:.0%}"
            f" ({highest}) are judged; the others {how}. {underrated}"
        )
        return
    for name, share in low.items():
        yield (
            f"Of the first ten results of {name}, {share:.0%} are judged; the others {how}."
            f" {underrated}"
        )


def _check_ties(findings: Findings) -> Iterator[str]:
    widest = {}
    for name, result in findings.results.items():
        if moving := list(find_bands(result)):
            widest[name] = max(moving, key=lambda moved: moved[0].band)
    shown = list(widest)
    if len(widest) > SEVERAL:
        shown = [max(widest, key=lambda name: findings.results[name].counts.tied_share)]
        yield (
            f"{_name_runs(findings, list(widest))} have tied items whose order changes a number."
            " The next sentence is about the run with the most ties; the table of other orders of"
            " ties has all runs."
        )
    for name in shown:
        value, low, high = widest[name]
        yield (
            f"{findings.results[name].counts.tied_share:.1%} of the judged items that {name}"
            " retrieved share their score with another item. Depending on the order of ties,"
            f" {value.measure} could be anything from {low} to {high}"
            f"{'' if value.are_extremes else ' or beyond'}."
        )
    for measure in findings.judged:
        pairs = [
            pair
            for pair in combinations(findings.runs, 2)
            if _is_reversible(findings, measure, *pair)
        ]
        for pair in pairs[:1] if len(pairs) > SEVERAL else pairs:
            further = f", and that of {len(pairs) - 1} other pairs" * (len(pairs) > SEVERAL)
            yield (
                f"The order of ties alone could reverse the order of {pair[0]} and {pair[1]} on"
                f" {measure}{further}."
            )


def _is_reversible(findings: Findings, measure: Measure, first: str, second: str) -> bool:
    """Could the run that is ahead fall behind, if all ties went against it?"""
    ahead, behind = sorted(
        (findings.results[name][measure] for name in (first, second)), key=lambda r: -r.mean
    )
    if is_near(ahead.mean, behind.mean) or not ahead.band + behind.band > 0:
        return False
    return not reaches(min(ahead.worst, ahead.best), max(behind.worst, behind.best))


def _count_queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
