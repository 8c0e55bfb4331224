"""An evaluation as trec_eval does it: files in, lines out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.qrels import Qrels, Retrieved
from germane.core.ranking import Ranking
from germane.kernel.ids import shown_id, to_bytes, to_text
from germane.measures.averaging import FLOOR
from germane.trec_eval import groups, judgments, output, preferred, runs, zscores
from germane.trec_eval.columns import Column, columns
from germane.trec_eval.judgments import Line
from germane.trec_eval.numerals import truncated
from germane.trec_eval.options import FORMATS, Options
from germane.trec_eval.ranking import ranking_of
from germane.trec_eval.scores import scorer
from germane.trec_eval.status import NO_QUERY, QUERY, TrecEvalError


def evaluate(options: Options, note: runs.Note) -> Iterator[str]:
    """The lines that trec_eval prints, those of one query at a time.

    ``note`` is told what is odd in the run, but no error to trec_eval. Raises TrecEvalError where it
    ends with another status than 0, after the lines that it still prints.
    """
    data = _read(options, note)
    means = zscores.read(options.zscores) if options.zscores is not None else None
    wanted = columns(options)
    queries, end = _reachable(data, wanted)
    values, contradiction = _values(data, wanted, queries)
    if contradiction:
        queries, end = queries[: len(values[0])], TrecEvalError(QUERY, contradiction)
    if means is not None:
        values = _standardized(means, wanted, data, queries, values)
    z = "" if means is None else "Z"
    if options.per_query:
        names = [to_text(to_bytes(data.qrels.queries[q])) for q in queries]
        yield from output.per_query(wanted, names, values, z)
    if end is not None:
        raise end
    if options.summary:
        yield from output.summary(wanted, _summary(data, wanted, values, len(queries)), z)


@dataclass(eq=False)
class _Data:
    """What was read."""

    options: Options
    lines: list[Line]  # of groups and of preferences
    qrels: Qrels
    again: dict[int, bytes]  # by query, an item judged twice
    retrieved: Retrieved
    twice: dict[int, bytes]  # and one retrieved twice
    tag: str


def _read(options: Options, note: runs.Note) -> _Data:
    lines: list[Line] = []
    again: dict[int, bytes] = {}
    if options.judgments == "qrels":
        qrels, again = judgments.graded(options)
    else:
        lines = judgments.read(options)
        qrels = judgments.items_of(lines)
    with runs.opened(options.run) as path:
        retrieved, twice = runs.retrieve(qrels, path, options, note)
        tagged = "runid" in options.measures and options.summary
        tag = runs.tag(path) if tagged else ""
    return _Data(options, lines, qrels, again, retrieved, twice, tag)


# --- Where trec_eval stops -------------------------------------------------------------------------


def _reachable(data: _Data, wanted: list[Column]) -> tuple[list[int], TrecEvalError | None]:
    """The queries up to the first that trec_eval stops at, and why it does."""
    only = data.options.only
    names = [to_text(to_bytes(query)) for query in data.qrels.queries]
    queries = [q for q, name in enumerate(names) if only is None or name == only]
    if not queries:
        raise TrecEvalError(NO_QUERY, f"no query {only!r} is in {data.options.qrels}.")
    looked_at = {column.row.judgments for column in wanted} - {"any"}
    obstacles = _obstacles(data, wanted, queries[0]) if looked_at else {}
    for at, q in enumerate(queries):
        if not data.options.complete and not data.retrieved.answered[q]:
            why = (
                f"query {shown_id(to_bytes(data.qrels.queries[q]))} of {data.options.qrels} is not "
                f"in {data.options.run}, which ends trec_eval. -c counts it as 0."
            )
            return queries[:at], TrecEvalError(QUERY, why)
        if q in obstacles:
            return queries[:at], TrecEvalError(QUERY, obstacles[q])
    return queries, None


def _obstacles(data: _Data, wanted: list[Column], first: int) -> dict[int, str]:
    """Queries that trec_eval stops at when it computes a measure, and why."""
    options, qrels = data.options, data.qrels
    for column in wanted:
        if column.row.judgments not in ("any", options.judgments):
            formats = " or ".join(sorted(_formats(column.row.judgments)))
            return {
                first: f"{column.measure} is not for -R {options.format}, but for -R {formats}."
            }
    out = {
        q: f"item {shown_id(item)} is retrieved twice for query {_shown(qrels, q)}."
        for q, item in data.twice.items()
    }
    if options.judgments == "qrels":
        for q, item in data.again.items():
            out[q] = f"item {shown_id(item)} is judged twice for query {_shown(qrels, q)}."
        if qrels.grades[slice(*qrels.offsets[first : first + 2])].max() < 0:
            out[first] = (
                f"query {_shown(qrels, first)}, the first, has no grade from 0, which ends trec_eval."
            )
    return out


def _shown(qrels: Qrels, q: int) -> str:
    return shown_id(to_bytes(qrels.queries[q]))


def _formats(kind: str) -> list[str]:
    return [name for name, holds in FORMATS.items() if holds == kind]


# --- Values ----------------------------------------------------------------------------------------


def _values(data: _Data, wanted: list[Column], queries: list[int]) -> tuple[list[list[Any]], str]:
    """For each column, the values of some queries, up to one that has none, and why it has not."""
    options = data.options
    computed = [column for column in wanted if column.row.judgments == options.judgments]
    why = ""
    found: dict[Column, list[Any]] = {}
    if options.judgments == "preferences" and computed:
        given = data.lines, data.qrels, data.retrieved, options
        judged, why = preferred.judge(*given, queries)
        queries = queries[: len(judged)]
        found = {column: preferred.values(column, judged) for column in computed}
    elif computed and queries:
        values = (
            _grouped(computed, data) if options.judgments == "groups" else _graded(computed, data)
        )
        found = {
            column: [value[q] for q in queries]
            for column, value in zip(computed, values, strict=True)
        }
    return [found.get(column, [1.0] * len(queries)) for column in wanted], why


def _grouped(computed: list[Column], data: _Data) -> list[list[Any]]:
    given = data.lines, data.qrels, data.retrieved, data.options
    return [value.tolist() for value in groups.values(computed, *given)]


def _graded(computed: list[Column], data: _Data) -> list[list[Any]]:
    options = data.options
    ranking = ranking_of(data.qrels, data.retrieved, options)
    score = scorer(ranking, options)
    missing = ~data.retrieved.answered
    values: list[list[Any]] = []
    for column in computed:
        if column.row.shown == "string":
            values.append(_strings(ranking, column, missing))
            continue
        value = score(column)
        values.append((np.where(missing, 0.0, value) if _taken_back(column) else value).tolist())
    return values


def _taken_back(column: Column) -> bool:
    """Does trec_eval take back what its made-up item did to this column?"""
    return column.name in ("num_ret", "utility", "rbp_resid") or column.measure == "unj"


def _strings(ranking: Ranking, column: Column, missing: Any) -> list[str]:
    """The grades of each query's first results: - is not judged, . pooled but not judged, > above 9."""
    length = max(truncated(column.argument[0]), 0)
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


def _standardized(
    means: zscores.Means,
    wanted: list[Column],
    data: _Data,
    queries: list[int],
    values: list[list[Any]],
) -> list[list[Any]]:
    """Every number as a standard score; strings as they are."""
    at = [i for i, c in enumerate(wanted) if c.row.shown not in ("string", "id")]
    names = [wanted[i].name.encode("utf-8", "surrogateescape") for i in at]
    for place, q in enumerate(queries):
        query = to_bytes(data.qrels.queries[q])
        row = zscores.standardized(means, query, names, [values[i][place] for i in at])
        for i, value in zip(at, row, strict=True):
            values[i][place] = value
    return values


# --- Means -----------------------------------------------------------------------------------------


def _summary(
    data: _Data, wanted: list[Column], values: list[list[Any]], evaluated: int
) -> list[Any]:
    """Means over queries, sums of counts. With -c, all judged queries are averaged over."""
    count = len(data.qrels) if data.options.complete else evaluated
    return [_whole(data, column, kept, count) for column, kept in zip(wanted, values, strict=True)]


@np.errstate(all="ignore")
def _whole(data: _Data, column: Column, values: list[Any], count: int) -> Any:
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
        mean = (total + (count - len(values)) * math.log(FLOOR)) / count
        try:
            return math.exp(mean)
        except OverflowError:
            return math.inf
    return total / count
