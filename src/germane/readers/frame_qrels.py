"""Reads judgments from frames, and splits those of several judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import EmptyError, clip
from germane.kernel.columns import Ids, Text, join_ids
from germane.kernel.reduction import Batch, RepeatedItem, drop_repeats, find_changes, find_distinct
from germane.readers.frames import Frame
from germane.readers.headings import ITERATION
from germane.readers.inputs import Needs
from germane.readers.rows import explain_repeat
from germane.readers.subtopics import (
    NO_NAMES,
    RepeatedSubtopic,
    SubtopicRows,
    explain_repeated_subtopic,
    group_rows,
    join_subtopics,
    number_names,
)


def read_qrels(frame: Frame, duplicates: str, progress: Progress | None, needs: Needs) -> Qrels:
    """Read the judgments of a frame; without a column of grades every row is relevant.

    A column of subtopics is read; the column ``iteration`` only if subtopics are needed.
    """
    frame = frame.report_to(progress)
    names = frame.headings
    column = names.subtopic or (names.iteration if needs.subtopics else None)
    rows = _read_rows(frame, column)
    if column is not None and not (column == ITERATION and rows.has_unused_names):
        return _group(frame, rows, duplicates, column)
    judged = Batch(np.arange(len(rows.queries)), rows.offsets, rows.items, rows.grades)
    try:
        judged = drop_repeats(judged, rows.queries, duplicates)
    except RepeatedItem as error:
        raise explain_repeat(frame.where, "judged", error) from None
    assert judged.score is not None
    return _make_qrels(frame, rows.queries, judged.offsets, judged.items, judged.score)


def _group(frame: Frame, rows: SubtopicRows, duplicates: str, column: str) -> Qrels:
    """Make judgments of single subtopics. An item's grade is the highest of them."""
    try:
        offsets, items, grades = group_rows(rows, duplicates)
    except RepeatedSubtopic as error:
        raise explain_repeated_subtopic(frame.where, error) from None
    grades = replace(grades, is_named=column != ITERATION)
    qrels = _make_qrels(frame, rows.queries, offsets, items, grades.highest)
    return replace(qrels, subtopics=grades)


def _make_qrels(frame: Frame, queries: Any, offsets: Ints, items: Ids, grades: Floats) -> Qrels:
    columns = queries, items
    return Qrels(
        queries.python, offsets, items, grades, frame.name, frame.ids, columns, lines=frame.lines
    )


def _read_rows(frame: Frame, column: str | None) -> SubtopicRows:
    """Read all rows, grouped by query in the order in which queries first appear."""
    queries, offsets, item, subtopic, grade = _read_judgments(frame, column)
    code, names = NO_NAMES if column is None else number_names(subtopic)
    first, group = find_distinct(queries)
    if len(first) < len(queries):
        owner = np.repeat(group, np.diff(offsets))
        by_query = ragged.order_stably(owner)
        queries, item, grade = queries.take(first), item.take(by_query), grade[by_query]
        code = code if column is None else code[by_query]
        offsets = ragged.make_offsets(np.bincount(owner))
    return SubtopicRows(queries, offsets, item, code, names, grade)


def _read_judgments(frame: Frame, column: str | None) -> tuple[Ids, Ints, Ids, Ids, Floats]:
    """Read the query of each stretch of rows, their offsets, items, subtopics, and grades."""
    queries: list[Ids] = []
    starts: list[Ints] = []
    items: list[Ids] = []
    subtopics: list[Ids] = []
    grades: list[Floats] = []
    name, rows = frame.headings.relevance, 0
    for row, record in frame.number_records():
        if not record.num_rows:
            continue
        query, item = frame.read_ids(record, row)
        changes = find_changes(query)
        queries.append(query.take(changes))
        starts.append(row + changes)
        items.append(item)
        if column is not None:
            subtopics.append(frame.read_names(record, row, column))
        if name is not None:
            grades.append(frame.read_numbers(record, name, row, "relevance grade"))
        rows = row + record.num_rows
    if not queries:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    query, start = join_ids(queries), np.concatenate(starts)
    changes = find_changes(query)  # a stretch may go on in the next record
    offsets = np.append(start[changes], rows)
    grade = np.broadcast_to(1.0, rows) if name is None else np.concatenate(grades)
    subtopic = join_ids(subtopics) if subtopics else Text.empty()
    return query.take(changes), offsets, join_ids(items), subtopic, grade


def join_judgments(parts: Sequence[Qrels]) -> Qrels:
    """Join the judgments of frames without a common query. Raises EmptyError for none at all."""
    filled = [part for part in parts if len(part)]
    if not filled:
        raise EmptyError("qrels: there are no rows, so there are no judgments.")
    queries, items = (join_ids(ids) for ids in zip(*(p.columns for p in filled), strict=True))
    return replace(
        filled[0],
        queries=queries.python,
        offsets=ragged.make_offsets(
            np.concatenate([ragged.find_lengths(part.offsets) for part in filled])
        ),
        items=items,
        grades=np.concatenate([part.grades for part in filled]),
        columns=(queries, items),
        subtopics=join_subtopics([part.subtopics for part in filled], items),
    )


def split_by_judge(frame: Frame) -> dict[str, Frame]:
    """Split the rows by judge, in the order of first appearance. Raises EmptyError for no rows."""
    import pyarrow as pa

    frame = frame.hold()
    column, relevance = frame.headings.judge, frame.headings.relevance
    assert column is not None
    records, columns = [], []
    for row, record in frame.number_records():
        if record.num_rows:
            frame.read_ids(record, row)  # so that an error has the number of the row in the whole
            if relevance is not None:
                frame.read_numbers(record, relevance, row, "relevance grade")
            records.append(record)
            columns.append(frame.read_names(record, row, column).as_text())
    if not records:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    judges = join_ids(columns)
    first, judge = find_distinct(judges)
    masks = np.split(judge, np.cumsum([record.num_rows for record in records])[:-1])
    parts = {}
    for number, name in enumerate(judges.take(first).python):
        pairs = zip(records, masks, strict=True)
        mine = [record.filter(pa.array(mask == number)) for record, mask in pairs]
        part = replace(frame, where=f"{frame.where}, judge {clip(name)}")
        parts[str(name)] = part.replace_records([record for record in mine if record.num_rows])
    return parts
