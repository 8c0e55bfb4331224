"""Reads judgments from frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import EmptyError
from germane.kernel.columns import Ids, join_ids
from germane.kernel.reduction import Batch, RepeatedItem, drop_repeats, find_changes, find_distinct
from germane.readers.frames import Frame, explain_repeat


def read_qrels(frame: Frame, duplicates: str, progress: Progress | None = None) -> Qrels:
    """Read the judgments of a frame; without a column of grades every row is relevant."""
    frame = frame.report_to(progress)
    queries, offsets, item, grade = _read_judgments(frame)
    first, group = find_distinct(queries)
    if len(first) < len(queries):
        owner = np.repeat(group, np.diff(offsets))
        by_query = ragged.order_stably(owner)
        queries, item, grade = queries.take(first), item.take(by_query), grade[by_query]
        offsets = ragged.make_offsets(np.bincount(owner))
    judged = Batch(np.arange(len(queries)), offsets, item, grade)
    try:
        judged = drop_repeats(judged, queries, duplicates)
    except RepeatedItem as found:
        raise explain_repeat(frame.where, "judged", found.query, found.item) from None
    assert judged.score is not None
    return Qrels(
        queries.python,
        judged.offsets,
        judged.items,
        judged.score,
        frame.name,
        frame.ids,
        (queries, judged.items),
        lines=frame.lines,
    )


def _read_judgments(frame: Frame) -> tuple[Ids, Ints, Ids, Floats]:
    """Read all rows: the query of each stretch of rows with one query, the offsets of the stretches,
    the items and the grades."""
    queries: list[Ids] = []
    starts: list[Ints] = []
    items: list[Ids] = []
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
        if name is not None:
            grades.append(frame.read_numbers(record, name, row, "relevance grade"))
        rows = row + record.num_rows
    if not queries:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    query, start = join_ids(queries), np.concatenate(starts)
    changes = find_changes(query)  # a stretch may go on in the next record
    offsets = np.append(start[changes], rows)
    grade = np.broadcast_to(1.0, rows) if name is None else np.concatenate(grades)
    return query.take(changes), offsets, join_ids(items), grade


def join_judgments(parts: Sequence[Qrels]) -> Qrels:
    """Join the judgments of frames that have no query in common.

    Raises EmptyError if there are none.
    """
    some = [part for part in parts if len(part)]
    if not some:
        raise EmptyError("qrels: there are no rows, so there are no judgments.")
    queries, items = (join_ids(ids) for ids in zip(*(p.columns for p in some), strict=True))
    return replace(
        some[0],
        queries=queries.python,
        offsets=ragged.make_offsets(
            np.concatenate([ragged.find_lengths(part.offsets) for part in some])
        ),
        items=items,
        grades=np.concatenate([part.grades for part in some]),
        columns=(queries, items),
    )
