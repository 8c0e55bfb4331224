"""The rows of a frame in pieces of whole queries, each of which a thread reads and reduces."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from germane.core.ragged import Floats
from germane.kernel.columns import Ids, join_ids
from germane.kernel.reduction import find_changes
from germane.readers import arrow, rows
from germane.readers.rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.frames import Frame

# rows that follow each other, and the number of the first
Piece: TypeAlias = tuple[int, list["pa.RecordBatch"]]


def cut_pieces(frame: Frame) -> Iterator[Piece]:
    """The rows in pieces of about STEP, each of which ends where a query does."""
    held: list[_Stretch] = []
    first = row = cut = 0  # the first row held, the next to come, the first of the last query
    last: Hashable = None
    for record in arrow.join_short(frame.records(), rows.STEP // 2):
        for start in range(0, record.num_rows, rows.STEP):
            part = record.slice(start, rows.STEP)
            query = frame.queries(part, row)
            begin = _find_last_change(query)
            if begin or (row > first and query[0] != last):
                cut = row + begin
            last = query[-1]
            row += len(query)
            _hold(held, _Stretch(record, start, start + len(query)))
            if row - first >= rows.STEP and cut > first:
                yield first, _take_off(held, cut - first)
                first = cut
    if held:
        yield first, _take_off(held, row - first)


def read_piece(frame: Frame, piece: Piece) -> Rows:
    """The rows of a piece."""
    row, records = piece
    queries, items, scores, ranks = [], [], [], []
    for record in arrow.combine(records):
        score, rank = frame.scores(record, row)
        query, item = frame.identifiers(record, row)
        queries.append(query)
        items.append(item)
        scores.append(score)
        ranks.append(rank)
        row += record.num_rows
    query = join_ids(queries)
    starts = find_changes(query)
    ends = np.append(starts, len(query))
    score, rank = join_numbers(scores), join_numbers(ranks)
    return Rows(query.take(starts), ends, join_ids(items), score, rank)


class _Stretch(NamedTuple):
    """The rows of a record from start to stop."""

    record: pa.RecordBatch
    start: int
    stop: int


def _hold(held: list[_Stretch], more: _Stretch) -> None:
    """Add a stretch; one that goes on in the same record becomes longer."""
    if held and held[-1].record is more.record:
        more = held.pop()._replace(stop=more.stop)
    held.append(more)


def _take_off(held: list[_Stretch], rows: int) -> list[pa.RecordBatch]:
    """Take so many rows away from the front."""
    taken = []
    while rows:
        record, start, stop = held.pop(0)
        size = min(rows, stop - start)
        taken.append(record.slice(start, size))
        rows -= size
        if start + size < stop:
            held.insert(0, _Stretch(record, start + size, stop))
    return taken


NEAR = 1 << 12  # rows at the end of a piece that are looked at first: most queries are shorter


def _find_last_change(ids: Ids) -> int:
    """The row in which the last id begins."""
    start = max(0, len(ids) - NEAR)
    near = int(find_changes(ids.part(start, len(ids)))[-1])
    return start + near if near or not start else int(find_changes(ids)[-1])


def join_numbers(parts: Sequence[Floats | None]) -> Floats | None:
    """The scores or the ranks of several parts; all of them have some, or none."""
    there = [part for part in parts if part is not None]
    return there[0] if len(there) == 1 else np.concatenate(there) if there else None
