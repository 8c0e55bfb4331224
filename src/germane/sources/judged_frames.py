"""Judgments from frames: anything that hands out Arrow columns, and files with columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from germane import _ragged
from germane._ragged import Floats, Ints
from germane._records import replaced
from germane.errors import EmptyError
from germane.retrieval import Qrels
from germane.sources import id_columns, joining, pairs
from germane.sources.alike import repeats
from germane.sources.frames import Frame, opened, twice
from germane.sources.id_columns import IdColumn
from germane.sources.paths import Progress
from germane.sources.rows import Batch, Rows


def read_qrels(given: Any, duplicates: str, progress: Progress | None = None) -> Qrels:
    """Judgments of a frame; without a column of grades every row is relevant."""
    frame = opened(given, "qrels").reported(progress)
    queries, offsets, item, grade = _judgments(frame)
    if queries.may_repeat:
        first, group = joining.distinct(queries)
        owner = np.repeat(group, np.diff(offsets))
        by_query = np.argsort(owner, kind="stable")
        queries, item, grade = queries.chosen(first), item.chosen(by_query), grade[by_query]
        offsets = _ragged.offsets(np.bincount(owner))
    keep = _unrepeated(frame, queries, offsets, item, grade, duplicates)
    if keep is not None:
        item, grade = item.chosen(keep), grade[keep]
        offsets = np.searchsorted(keep, offsets)
    columns = queries, item
    return Qrels(
        queries.python, offsets, item, grade, frame.name, frame.ids, columns, lines=frame.lines
    )


def _judgments(frame: Frame) -> tuple[IdColumn, Ints, IdColumn, Floats]:
    """The query of each stretch of rows, where the stretches begin, and all items and grades."""
    queries: list[IdColumn] = []
    starts: list[Ints] = []
    items: list[IdColumn] = []
    grades: list[Floats] = []
    name, row = frame.headings.relevance, 0
    for record in frame.records():
        if not record.num_rows:
            continue
        query, item = frame.identifiers(record, row)
        changes = query.changes()
        queries.append(query.chosen(changes))
        starts.append(row + changes)
        items.append(item)
        if name is not None:
            grades.append(frame.numbers(record, name, row, "relevance grade"))
        row += record.num_rows
    if not queries:
        raise EmptyError(f"{frame.where}: there are no rows, so there are no judgments.")
    query, start = joining.joined(queries), np.concatenate(starts)
    changes = query.changes()  # a stretch may go on in the next record
    offsets = np.append(start[changes], row)
    grade = np.broadcast_to(1.0, row) if name is None else np.concatenate(grades)
    return query.chosen(changes), offsets, joining.joined(items), grade


def _unrepeated(
    frame: Frame, queries: IdColumn, offsets: Ints, item: IdColumn, grade: Floats, duplicates: str
) -> Ints | None:
    """The judgments to keep, ascending, or None for all of them."""
    suspects = repeats(item.numbers, offsets)
    if not len(suspects):
        return None
    judged = Batch(np.arange(len(queries)), offsets, Rows(item, item, grade, None))
    policy = duplicates if duplicates in ("first", "last", "max") else "error"
    try:
        return pairs.unrepeated(judged, suspects, policy)
    except pairs.Repeated as found:
        raise twice(frame.where, "judged", queries[found.code], found.item) from None


def prepared(qrels: Qrels) -> Qrels:
    """The judgments with their ids as columns, which are then made once for many runs."""
    if qrels.columns is not None:
        return qrels
    queries, items = map(id_columns.of_python, (qrels.queries, qrels.items))
    return replaced(qrels, columns=(queries, items))


def joined(parts: Sequence[Qrels]) -> Qrels:
    """The judgments of frames that have no query in common, one after the other.

    Raises EmptyError where there are none.
    """
    some = [part for part in parts if len(part)]
    if not some:
        raise EmptyError("qrels: there are no rows, so there are no judgments.")
    queries, items = (joining.joined(ids) for ids in zip(*(p.columns for p in some), strict=True))
    return replaced(
        some[0],
        queries=queries.python,
        offsets=_ragged.offsets(np.concatenate([_ragged.lengths(part.offsets) for part in some])),
        items=items,
        grades=np.concatenate([part.grades for part in some]),
        columns=(queries, items),
    )
