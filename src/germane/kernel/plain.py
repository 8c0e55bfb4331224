"""The reduction in NumPy: complete, and the reference for the compiled kernel.

First, equal ids get equal numbers. Everything else is sorting whole numbers and looking them up.
Texts are compared by Arrow where it is installed, and otherwise as Python's bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ties import ROW_KEYS
from germane.errors import has_arrow
from germane.kernel.ids import (
    Categories,
    Ids,
    Integers,
    Text,
    number_ids,
    read_arrow_values,
)

if TYPE_CHECKING:
    from germane.kernel.reduction import Batch, Judgments


def find_changes(ids: Ids) -> Ints:
    """Find the rows whose id differs from that of the row before, the first row included."""
    if not len(ids):
        return np.zeros(0, np.int64)
    if isinstance(ids, Categories):
        ids = Integers(ids.codes)
    if isinstance(ids, Integers):
        changed = ids.values[1:] != ids.values[:-1]
    elif not has_arrow():
        changed = _compare_neighbours(ids.as_text())
    else:
        from pyarrow import compute

        array = ids.to_arrow()
        changed = read_arrow_values(compute.not_equal(array[1:], array[:-1]))
    return np.append(0, np.flatnonzero(changed) + 1)


def _compare_neighbours(text: Text) -> Bools:
    """Mark the texts, but for the first, that differ from the one before.

    Byte by byte, only those rows are compared whose texts are as long and have been equal so far.
    """
    data, starts, sizes = text.data, text.starts, text.sizes
    changed: Bools = sizes[1:] != sizes[:-1]
    rows = np.flatnonzero(~changed)
    for place in range(int(sizes.max())):
        rows = rows[sizes[rows] > place]
        differ = data[starts[rows] + place] != data[starts[rows + 1] + place]
        changed[rows[differ]] = True
        rows = rows[~differ]
        if not len(rows):
            break
    return changed


def find_ids(ids: Ids, distinct: Ids) -> Ints:
    """Find the place of each id among distinct ones, or -1."""
    if isinstance(ids, Categories):
        return find_ids(ids.entries, distinct)[ids.codes]
    if isinstance(ids, Integers) and isinstance(distinct, Integers):
        if ids.values.dtype != distinct.values.dtype:  # int64 and uint64 have no common type
            return find_ids(ids.as_text(), distinct.as_text())
        order = np.argsort(distinct.values)
        ordered = distinct.values[order]
        positions = np.searchsorted(ordered, ids.values)
        positions[positions == len(ordered)] = 0
        is_known = ordered[positions] == ids.values if len(ordered) else np.zeros(len(ids), bool)
        numbers: Ints = np.where(is_known, order[positions] if len(ordered) else -1, -1)
        return numbers
    if not has_arrow():
        places_of_texts = {
            text: place for place, text in reversed([*enumerate(distinct.as_text().to_bytes())])
        }
        texts = ids.as_text().to_bytes()
        return np.array([places_of_texts.get(text, -1) for text in texts], np.int64)
    from pyarrow import compute

    wanted, among = ids.to_arrow(), distinct.to_arrow()
    if wanted.type != among.type:  # offsets of 32 and of 64 bits
        wanted, among = wanted.cast("large_binary"), among.cast("large_binary")
    places: Any = compute.index_in(wanted, value_set=among)
    is_known = read_arrow_values(places.is_valid())  # fill_null would import pandas
    return np.where(is_known, read_arrow_values(places), -1).astype(np.int64)


def find_first_rows(ids: Ids) -> Ints:
    """Find for each row the first row with its id."""
    _, first, number = np.unique(number_ids(ids)[0], return_index=True, return_inverse=True)
    return first[number]


def key_rows(owner: Ints, ids: Ids) -> tuple[Ints, Ids]:
    """Number the pairs of owner and id. Returns the distinct ids, too."""
    numbers, distinct = number_ids(ids)
    return owner * max(1, len(distinct)) + numbers, distinct


def match_rows(judged: Judgments, batch: Batch) -> tuple[Ints, Ints, tuple[int, int] | None]:
    """Match rows with judgments. Returns both, and the first row that repeats an item's row."""
    key, distinct = key_rows(batch.owner, batch.items)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    repeats = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
    repeat = None
    if len(repeats):
        first = repeats[np.argmin(order[repeats])]
        repeat = int(order[first]), int(order[np.searchsorted(ordered, ordered[first])])
    starts = judged.offsets[batch.code]
    lengths = judged.offsets[batch.code + 1] - starts
    judgment = ragged.list_stretches(starts, lengths)
    number = find_ids(judged.items.take(judgment), distinct)
    wanted = np.repeat(np.arange(len(lengths)), lengths) * max(1, len(distinct)) + number
    judgment, wanted = judgment[number >= 0], wanted[number >= 0]
    start, stop = (np.searchsorted(ordered, wanted, side) for side in ("left", "right"))
    row = order[ragged.list_stretches(start, stop - start)]
    return row, np.repeat(judgment, stop - start), repeat


def rank_rows(batch: Batch, row: Ints, ties: str) -> tuple[Ints, Ints, Ints]:
    """Rank some rows. Returns also the first and last rank of their groups of equal scores."""
    offsets, group = batch.offsets, batch.owner[row]
    if batch.score is None:
        rank = row - offsets[group] + 1
        return rank, rank, rank
    score = batch.score + 0.0  # -0.0 equals 0.0
    order = None if ragged.descends(score, offsets) else ragged.order_falling(score, offsets)
    places, ordered = row, score
    if order is not None:
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        places, ordered = place[row], score[order]
    starts = np.flatnonzero(_begin_groups(ordered, offsets))
    tie = np.searchsorted(starts, places, "right") - 1
    first = starts[tie] - offsets[group] + 1
    last = starts[tie + 1] - offsets[group]
    rank = first.copy()
    tied = np.flatnonzero(last > first)
    if len(tied):
        rank[tied] += _place_among_equals(batch, order, starts, tie[tied], row[tied], ties)
    return rank, first, last


def _begin_groups(score: Floats, offsets: Ints) -> Bools:
    """Does a group of equal scores begin at each row? One more flag stands for the end."""
    begins = np.ones(len(score) + 1, bool)
    begins[1:-1] = score[1:] != score[:-1]
    begins[offsets] = True
    return begins


def _place_among_equals(
    batch: Batch, order: Ints | None, starts: Ints, tie: Ints, row: Ints, ties: str
) -> Ints:
    """Find the place of some rows, from 0, in their group of equal scores."""
    groups = np.unique(tie)
    lengths = starts[groups + 1] - starts[groups]
    places = ragged.list_stretches(starts[groups], lengths)
    members = places if order is None else order[places]
    group = np.repeat(np.arange(len(groups)), lengths)
    key = ROW_KEYS[ties](batch.items, members)
    members = members[np.lexsort((members, key, group))]
    place = np.empty(len(batch.items), np.int64)
    place[members] = ragged.list_stretches(np.zeros(len(groups), np.int64), lengths)
    return place[row]
