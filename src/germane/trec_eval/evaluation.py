"""An evaluation as trec_eval does it, from files to the lines that it prints."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from germane.core.qrels import Qrels, Retrieved
from germane.core.ranking import Ranking
from germane.errors import InputError
from germane.kernel.ids import show_id, to_bytes, to_text
from germane.measures.averaging import QueryValues
from germane.trec_eval import command_line, judgments, runs, scores
from germane.trec_eval.command_line import (
    FORMATS,
    NO_QUERY,
    QUERY,
    ZSCORES,
    Column,
    Options,
    TrecEvalError,
    make_columns,
    parse_real,
    truncate,
)
from germane.trec_eval.judgments import Line
from germane.trec_eval.runs import make_ranking
from germane.trec_eval.scores import make_scorer


def evaluate(options: Options, note: runs.Note) -> Iterator[str]:
    """Yield the lines that trec_eval prints, those of one query at a time.

    ``note`` is called with what is odd in the run, but no error in trec_eval. Raises TrecEvalError,
    after the lines that trec_eval still prints, if its exit status is not 0.
    """
    data = _read_files(options, note)
    means = read_means(options.zscores) if options.zscores is not None else None
    wanted = make_columns(options)
    queries, end = _select_queries(data, wanted)
    values, contradiction = _compute_values(data, wanted, queries)
    if contradiction:
        queries, end = queries[: len(values[0])], TrecEvalError(QUERY, contradiction)
    if means is not None:
        _standardize(means, wanted, data, queries, values)
    z = "" if means is None else "Z"
    if options.per_query:
        names = [to_text(to_bytes(data.qrels.queries[q])) for q in queries]
        yield from command_line.format_queries(wanted, names, values, z)
    if end is not None:
        raise end
    if options.summary:
        yield from command_line.format_summary(
            wanted, _summarize(data, wanted, values, len(queries)), z
        )


@dataclass(eq=False)
class _Data:
    """The contents of the files."""

    options: Options
    lines: list[Line]  # of groups and of preferences
    qrels: Qrels
    judged_twice: dict[int, bytes]  # by query, an item
    retrieved: Retrieved
    retrieved_twice: dict[int, bytes]
    tag: str


def _read_files(options: Options, note: runs.Note) -> _Data:
    lines: list[Line] = []
    judged_twice: dict[int, bytes] = {}
    if options.judgments == "qrels":
        qrels, judged_twice = judgments.read_grades(options)
    else:
        lines = judgments.read_lines(options)
        qrels = judgments.make_item_qrels(lines)
    with runs.open_copy(options.run) as path:
        retrieved, retrieved_twice = runs.retrieve(qrels, path, options, note)
        tagged = "runid" in options.measures and options.summary
        tag = runs.read_tag(path) if tagged else ""
    return _Data(options, lines, qrels, judged_twice, retrieved, retrieved_twice, tag)


# --- Queries that end trec_eval ---------------------------------------------------------------


def _select_queries(data: _Data, wanted: list[Column]) -> tuple[list[int], TrecEvalError | None]:
    """Select the queries up to the first at which trec_eval stops; also return why it stops."""
    only = data.options.only
    names = [to_text(to_bytes(query)) for query in data.qrels.queries]
    queries = [q for q, name in enumerate(names) if only is None or name == only]
    if not queries:
        raise TrecEvalError(NO_QUERY, f"no query {only!r} is in {data.options.qrels}.")
    needed = {column.row.judgments for column in wanted} - {"any"}
    obstacles = _find_obstacles(data, wanted, queries[0]) if needed else {}
    for place, q in enumerate(queries):
        if not data.options.complete and not data.retrieved.answered[q]:
            why = (
                f"query {show_id(to_bytes(data.qrels.queries[q]))} of {data.options.qrels} is not "
                f"in {data.options.run}, which ends trec_eval. -c counts it as 0."
            )
            return queries[:place], TrecEvalError(QUERY, why)
        if q in obstacles:
            return queries[:place], TrecEvalError(QUERY, obstacles[q])
    return queries, None


def _find_obstacles(data: _Data, wanted: list[Column], first: int) -> dict[int, str]:
    """Find the queries at which trec_eval stops when it computes a measure, and why it stops."""
    options, qrels = data.options, data.qrels
    for column in wanted:
        if column.row.judgments not in ("any", options.judgments):
            kind = column.row.judgments
            formats = " or ".join(sorted(name for name, holds in FORMATS.items() if holds == kind))
            return {
                first: f"{column.measure} is not for -R {options.format}, but for -R {formats}."
            }
    out = {
        q: f"item {show_id(item)} is retrieved twice for query {_show_query(qrels, q)}."
        for q, item in data.retrieved_twice.items()
    }
    if options.judgments == "qrels":
        for q, item in data.judged_twice.items():
            out[q] = f"item {show_id(item)} is judged twice for query {_show_query(qrels, q)}."
        if qrels.grades[slice(*qrels.offsets[first : first + 2])].max() < 0:
            out[first] = (
                f"query {_show_query(qrels, first)}, the first, has no grade from 0, which ends"
                " trec_eval."
            )
    return out


def _show_query(qrels: Qrels, q: int) -> str:
    return show_id(to_bytes(qrels.queries[q]))


# --- Values -----------------------------------------------------------------------------------


def _compute_values(
    data: _Data, wanted: list[Column], queries: list[int]
) -> tuple[list[list[Any]], str]:
    """Compute each column's values up to a query that has none; also return why not."""
    options = data.options
    computed = [column for column in wanted if column.row.judgments == options.judgments]
    why = ""
    by_column: dict[Column, list[Any]] = {}
    if options.judgments == "preferences" and computed:
        from germane.trec_eval import judgments  # which other judgments do not need

        arguments = data.lines, data.qrels, data.retrieved, options
        judged, why = judgments.judge_preferences(*arguments, queries)
        queries = queries[: len(judged)]
        for column in computed:
            measure = judgments.MEASURES[column.measure.removeprefix("prefs_")]
            by_column[column] = list(map(measure, judged))
    elif computed and queries:
        if options.judgments == "groups":
            arguments = data.lines, data.qrels, data.retrieved, options
            values = [value.tolist() for value in scores.average_groups(computed, *arguments)]
        else:
            values = _score_grades(computed, data)
        by_column = {
            column: [value[q] for q in queries]
            for column, value in zip(computed, values, strict=True)
        }
    return [by_column.get(column, [1.0] * len(queries)) for column in wanted], why


def _score_grades(computed: list[Column], data: _Data) -> list[list[Any]]:
    ranking = make_ranking(data.qrels, data.retrieved, data.options)
    score = make_scorer(ranking, data.options)
    missing = ~data.retrieved.answered
    values: list[list[Any]] = []
    for column in computed:
        if column.row.shown == "string":
            values.append(_spell_grades(ranking, column, missing))
            continue
        value = score(column)
        if column.name in ("num_ret", "utility", "rbp_resid") or column.measure == "unj":
            value = np.where(missing, 0.0, value)  # trec_eval takes back its made-up item here
        values.append(value.tolist())
    return values


def _spell_grades(ranking: Ranking, column: Column, missing: Any) -> list[str]:
    """Write the grades of each query's first results: - not judged, . pooled only, > above 9."""
    length = max(truncate(column.argument[0]), 0)
    width = min(length, int(ranking.retrieved.max(initial=0)))
    signs = np.full((len(ranking), width), ord("-"), np.uint8)
    near = ranking.rank <= width
    grade = ranking.relevance[near]
    sign = np.where(grade > 9, ord(">"), np.where(grade < 0, ord("."), ord("0") + grade))
    signs[ranking.owner[near], ranking.rank[near] - 1] = sign
    ends = np.minimum(ranking.retrieved, width)
    if not column.parameters:
        ends = np.where(missing, 0, ends)
    return [row[:end].tobytes().decode() for row, end in zip(signs, ends.tolist(), strict=True)]


# --- Means ------------------------------------------------------------------------------------


def _summarize(
    data: _Data, wanted: list[Column], values: list[list[Any]], evaluated: int
) -> list[Any]:
    """Average over queries, and sum counts. With -c the means are over all judged queries."""
    count = len(data.qrels) if data.options.complete else evaluated
    return [
        _summarize_column(data, column, column_values, count)
        for column, column_values in zip(wanted, values, strict=True)
    ]


@np.errstate(all="ignore")
def _summarize_column(data: _Data, column: Column, values: list[Any], count: int) -> Any:
    match column.measure:
        case "runid":
            return data.tag
        case "num_q":
            return count
        case "num_rel" if data.options.complete:
            return int(np.count_nonzero(data.qrels.grades > 0))  # whatever -l says
    if column.row.shown == "string":
        return ""
    total = float(np.add.accumulate(np.array(values, float))[-1])  # one after the other, as C does
    if column.row.shown == "count":
        return total
    if column.row.shown == "geometric":
        mean = (total + (count - len(values)) * math.log(QueryValues.FLOOR)) / count
        try:
            return math.exp(mean)
        except OverflowError:
            return math.inf
    return total / count


MISSING = -1000000.0
"""Printed if the file has no mean, or a deviation of 0 for a value that is not the mean."""

Means = dict[bytes, list[tuple[bytes, float, float]]]
"""For each query, its measures in order; a measure appears as often as it was given."""


def read_means(path: str) -> Means:
    """Read means and standard deviations (-Z), from lines of query, measure, mean and deviation.

    Raises TrecEvalError for a file that cannot be read, and for any other line.
    """
    try:
        data = command_line.read_bytes(path)
    except InputError as error:
        raise TrecEvalError(ZSCORES, str(error)) from None
    means: Means = {}
    for count, line in enumerate(data.removesuffix(b"\n").split(b"\n"), 1):
        fields = line.split()
        if len(fields) != 4:
            raise TrecEvalError(
                ZSCORES,
                f"{path}:{count}: {len(fields)} fields where a line has 4 "
                f"(query measure mean deviation): {show_id(line)}",
            )
        query, measure, mean, deviation = fields
        means.setdefault(query, []).append((measure, parse_real(mean), parse_real(deviation)))
    return {query: sorted(lines, key=itemgetter(0)) for query, lines in means.items()}


def _standardize(
    means: Means, wanted: list[Column], data: _Data, queries: list[int], values: list[list[Any]]
) -> None:
    """Replace every number by its standard score."""
    scales = [means.get(to_bytes(data.qrels.queries[q]), []) for q in queries]
    for column, column_values in zip(wanted, values, strict=True):
        if column.row.shown not in ("string", "id"):
            name = os.fsencode(column.name)
            column_values[:] = [
                _standardize_value(value, _find_scale(lines, name))
                for lines, value in zip(scales, column_values, strict=True)
            ]


def _find_scale(lines: list[tuple[bytes, float, float]], name: bytes) -> tuple[float, float] | None:
    """A measure's mean and deviation; of several lines, the first that trec_eval finds."""
    start, end = 0, len(lines)
    while start < end or start == end < len(lines):
        middle = (start + end) // 2
        measure, *scale = lines[middle]
        if name == measure:
            return scale[0], scale[1]
        start, end = (start, middle - 1) if name < measure else (middle + 1, end)
    return None


def _standardize_value(value: float, scale: tuple[float, float] | None) -> float:
    if scale is None:
        return MISSING
    mean, deviation = scale
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING
