"""Layout: the tables of results, the names of measures there, and the notes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from germane.core.mean_intervals import Interval, describe_intervals, explain_missing
from germane.dialects.names import parse
from germane.errors import InputError, NotFoundError, clip, offer
from germane.evaluation.special_queries import lacks_worst
from germane.measures import find_merits
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure
from germane.output.tables import Table, find_highest, format_number, share_lines, write_count

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect
    from germane.evaluation.result import Result, Results

Intervals: TypeAlias = Mapping[Measure, Interval | None]
NOTHING: Intervals = {}


def name_measures(
    measures: Sequence[Measure], rename: Mapping[str, str] | None = None
) -> dict[Measure, str]:
    """Name each measure, some by other names: ``{"AP@10": "MAP"}``.

    Raises NotFoundError for a measure that is not there, and InputError where two have one name.
    """
    names = {measure: str(measure) for measure in measures}
    for old_name, name in (rename or {}).items():
        measure = parse(old_name)
        if measure not in names:
            raise NotFoundError(f"rename: {measure} was not evaluated.{offer(measure, measures)}")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"rename takes a name for {measure}; got {clip(name)}")
        names[measure] = name
    for measure, name in names.items():
        taken_by = next((m for m, n in names.items() if n == name and m != measure), None)
        if taken_by is not None:
            raise InputError(f"rename: {measure} and {taken_by} would both be named {clip(name)}.")
    return names


def write_definition(measure: Measure, name: str) -> str:
    """Write a measure's definition, and the measure itself where it has another name."""
    return measure.definition if name == str(measure) else f"{measure}, {measure.definition}"


def make_table(
    results: "Results",
    digits: int | None,
    rename: Mapping[str, str] | None,
    confidence: float | None,
) -> Table:
    """Make a row for each run, with the best of several in bold."""
    names = name_measures(results.measures, rename)
    intervals = {} if confidence is None else estimate_intervals(results, confidence)
    rows = [
        (name, *_write_means(result, digits, intervals.get(name, {})))
        for name, result in results.items()
    ]
    notes = [*_define(names), *_explain_renamed(results, names)]
    if confidence is not None:
        notes += _explain_intervals(intervals, confidence)
    notes += ["", *_write_notes(results)]
    best = frozenset(find_highest(map(partial(_list_merits, results), results.measures)))
    return Table(("run", *names.values()), tuple(rows), tuple(notes), strong=best)


def _list_merits(results: "Results", measure: Measure) -> list[float]:
    """List the means of runs, higher ones for better runs; none if they have no order."""
    results_of = [result[measure] for result in results.values()]
    if any(map(lacks_worst, results_of)):
        return []
    return find_merits(measure.name, np.array([result.mean for result in results_of], float))


def make_table_per_query(
    results: "Results", digits: int | None, rename: Mapping[str, str] | None
) -> Table:
    """Make a row for each query and run, and a row ``all`` for each run."""
    rows, names = [], name_measures(results.measures, rename)
    for name, result in results.items():
        columns = [(value.per_query, value.measure) for value in result.values()]
        for query in result.queries:
            cells = [
                format_value(values[query], m, digits) if query in values else ""
                for values, m in columns
            ]
            rows.append((name, str(query), *cells))
        rows.append((name, "all", *_write_means(result, digits)))
    notes = (*_define(names), *_explain_renamed(results, names), "", *_write_notes(results))
    return Table(("run", "query", *names.values()), tuple(rows), notes)


def _define(names: Mapping[Measure, str]) -> Iterator[str]:
    longest = max(map(len, names.values()))
    for measure, name in names.items():
        yield f"{name:<{longest}}  {write_definition(measure, name)}"


def _explain_renamed(results: "Results", names: Mapping[Measure, str]) -> Iterator[str]:
    """Say what the names became that stand for a measure of another name, unless they are shown."""
    for written, measure in next(iter(results.values())).renamed.items():
        if written not in names.values():
            yield f"{written} is {measure}"


def _write_notes(results: "Results") -> Iterator[str]:
    """Write counts, policy and dialect, each once where all runs share it."""
    for write in (_write_counts, lambda result: f"policy: {result.policy}"):
        yield from share_lines(results.items(), write)
    result = next(iter(results.values()))
    for measure, policy in result.policies.items():
        yield f"policy of {measure}: {policy}"
    if result.dialect is not None:
        yield write_dialect(result.dialect)
        yield from share_lines(results.items(), _write_limits)
        if result.own:
            names = ", ".join(map(str, result.own))
            yield f"germane's own measures, not {result.dialect.tool}'s: {names}"


def write_dialect(dialect: "Dialect") -> str:
    """Write the dialect of results with its tool."""
    return f"dialect: {dialect.name} ({dialect.tool} {dialect.version})"


def write_warnings(results: "Results") -> Iterator[str]:
    """Write the findings, one line for each run, or one line if all runs have the same."""
    yield from share_lines(results.items(), lambda result: " ".join(map(str, result.findings)))


def _write_limits(result: "Result") -> str:
    limits = [
        f"{', '.join(map(str, measures))}: {text}" for text, measures in result.limits.items()
    ]
    return f"limits of the dialect: {' '.join(limits)}" if limits else ""


def _write_counts(result: "Result") -> str:
    counts = result.counts
    parts = [
        f"{write_count(counts.judged, 'query')} judged",
        f"{counts.answered:,} answered",
    ]
    if counts.missing:
        parts.append(f"{counts.missing:,} missing")
    if counts.without_relevant:
        parts.append(f"{counts.without_relevant:,} without relevant items")
    if counts.unjudged_queries:
        parts.append(f"{counts.unjudged_queries:,} more in the run, not judged")
    if counts.comments:
        parts.append(write_count(counts.comments, "comment line"))
    if counts.collapsed:
        parts.append(f"{counts.collapsed:,} results collapsed into {counts.groups:,} groups")
    if counts.excluded:
        parts.append(f"{write_count(counts.excluded, 'result')} excluded")
    if counts.ignored:
        parts.append(f"{write_count(counts.ignored, 'judgment')} ignored")
    if counts.subtopics:
        parts.append(_write_subtopics(result))
    if counts.tied:
        parts.append(f"{counts.tied_share:.1%} of judged items retrieved are tied")
    lists = {value.list_count: None for value in result.values() if value.list_count is not None}
    for count in lists:
        parts.append(f"measures of the catalogue count the lists of all {count:,} users")
    if bands := [
        f"{value.measure} {'' if value.are_extremes else 'at least '}{low}…{high}"
        for value, low, high in find_bands(result)
    ]:
        parts.append("tie band " + ", ".join(bands))
    return "; ".join(parts)


def _write_subtopics(result: "Result") -> str:
    """Write how many subtopics are judged, and what they are to measures that look at none."""
    text = f"{result.counts.subtopics:,} subtopics judged"
    other_measures = [str(measure) for measure in result.measures if not measure.row.subtopics]
    if not other_measures:
        return text
    take = "takes" if len(other_measures) == 1 else "take"
    return f"{text}, of which {', '.join(other_measures)} {take} an item's highest grade"


def find_bands(result: "Result") -> Iterator[tuple[MeasureResult, str, str]]:
    """Find the measures that depend on the order of ties, and their bands, the lower end first.

    ``best`` is the lower end of some measures: relevant items come first there, which does not
    raise every measure. Where other orders can go beyond both, the mean itself may be an end. Bands
    that are too narrow to show in a table are left out.
    """
    for measure_result in result.values():
        ends = sorted((measure_result.worst, measure_result.best))
        if not measure_result.are_extremes and not math.isnan(measure_result.mean):
            ends = sorted((*ends, measure_result.mean))
        low, high = (
            format_value(value, measure_result.measure, 4) for value in (ends[0], ends[-1])
        )
        if low != high:
            yield measure_result, low, high


def format_value(value: float, measure: Measure, digits: int | None) -> str:
    """Write a value: counts as whole numbers, others with so many decimals, or with all (None)."""
    if measure.row.aggregate == "sum" and math.isfinite(value) and value == int(value):
        return str(int(value))
    return format_number(value, digits)


def estimate_intervals(results: "Results", confidence: float) -> dict[str, Intervals]:
    """Estimate the intervals of all means over queries; None for a mean of few."""
    return {
        name: {
            value.measure: value.interval(confidence=confidence)
            for value in result.values()
            if value.has_interval and value.mean == value.mean
        }
        for name, result in results.items()
    }


def _explain_intervals(intervals: Mapping[str, Intervals], confidence: float) -> Iterator[str]:
    """Explain what intervals come from, and why means of few queries have none."""
    every = [interval for intervals in intervals.values() for interval in intervals.values()]
    if source := describe_intervals(every, "queries"):
        yield f"[low, high]: {100 * confidence:.10g}% interval of the mean, {source}"
    if None in every:
        yield explain_missing("queries")


def _write_means(
    result: "Result", digits: int | None, intervals: Intervals = NOTHING
) -> Iterator[str]:
    for value in result.values():
        mean = format_value(value.mean, value.measure, digits)
        interval = intervals.get(value.measure)
        if interval is None:
            yield mean
        else:
            low, high = (format_number(end, digits) for end in (interval.low, interval.high))
            yield f"{mean} [{low}, {high}]"
