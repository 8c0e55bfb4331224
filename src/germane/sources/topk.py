"""Top-k ids: (Q, K) whole numbers, best first, as nearest-neighbour libraries return them.

The ids of a row and its judged items are sorted together, as numbers that hold their places too:
equal neighbours are hits, or an id that stands there twice. NumPy sorts short rows of 32-bit numbers
by vector instructions, which costs less than looking each id up in a table.
"""

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from germane import _ragged
from germane._ragged import Ints
from germane.errors import DuplicateError, EmptyError, FormatError, InputError, PolicyError
from germane.retrieval import AS_GIVEN, Order, Qrels, Retrieved
from germane.sources import grid, host, mappings

CELLS = 1 << 18  # numbers that are sorted at once; they stay in the processor's cache


def retrieve(
    qrels: Qrels, run: Any, duplicates: str, order: Order, progress: object = None
) -> Retrieved:
    """The judged items among the ids of each row; -1 fills a row up."""
    if order.threshold is not None:
        raise PolicyError("threshold=… is for scores; ids have none.")
    ids = _read(run)
    row = grid.rows_of(qrels, len(ids))
    columns = grid.columns_of(qrels, None, "run")
    asked = np.flatnonzero(row >= 0)
    lengths = _ragged.lengths(qrels.offsets)[asked]
    retrieved = np.zeros(len(qrels), np.int64)
    parts = []
    for start, stop in _blocks(lengths, ids.shape[1]):
        queries = asked[start:stop]
        rows = row[queries]
        block = ids[grid.as_slice(rows)]
        retrieved[queries], top = _checked(block, rows, qrels.width)
        judged = columns[grid.judgments_of(qrels, queries)]
        found = _matches(block, judged, lengths[start:stop], top)
        if found.twice is not None and duplicates == "error":
            raise _retrieved_twice(ids, int(rows[found.twice]))
        if found.twice is not None:
            return _as_lists(qrels, ids, duplicates)
        owner = queries[found.row]
        parts.append((qrels.offsets[owner] + found.judged, owner, *[found.rank] * 3))
    return grid.retrieved_of(parts, retrieved, row, len(ids))


def _blocks(lengths: Ints, k: int) -> Iterator[tuple[int, int]]:
    """Stretches of rows: filled up to the most judged items of any, they are ``CELLS`` or one row."""
    stretches = [(0, len(lengths))] if len(lengths) else []
    while stretches:
        start, stop = stretches.pop()
        if stop - start == 1 or (stop - start) * (k + lengths[start:stop].max()) <= CELLS:
            yield start, stop
        else:
            middle = (start + stop) // 2
            stretches += [(middle, stop), (start, middle)]


class _Matches(NamedTuple):
    """Where rows have an id that is judged, in the order of ranks."""

    row: Ints
    rank: Ints  # from 1
    judged: Ints  # its place among the judged items of the row
    twice: int | None  # a row that has an id twice


def _matches(ids: Ints, columns: Ints, lengths: Ints, top: int) -> _Matches:
    """``columns``: the judged items, ``lengths`` of each row; no row has one twice."""
    k = ids.shape[1]
    keys, shift = _sorted_keys(ids, columns, lengths, top)
    width, flat = keys.shape[1], keys.ravel()
    items = flat >> shift
    at = np.flatnonzero(items[1:] == items[:-1])
    at = at[(at + 1) % width > 0]  # not from one row to the next
    row = at // width
    left, right = flat[at] & ((1 << shift) - 1), flat[at + 1] & ((1 << shift) - 1)
    twice = row[right < k]
    order = np.argsort(row << shift | left)
    row, rank, judged = row[order], left[order].astype(np.int64) + 1, right[order] - k
    return _Matches(row, rank, judged, int(twice[0]) if len(twice) else None)


def _sorted_keys(ids: Ints, columns: Ints, lengths: Ints, top: int) -> tuple[Ints, int]:
    """Rows of ids and judged items, sorted, each followed by bits that hold its place; how many bits.

    What is no item is below 0, and stands once in its row. ``top``: the highest id.
    """
    (rows, k), most = ids.shape, int(lengths.max())
    shift = (k + most).bit_length()
    top = max(top, int(columns.max(initial=0)), k + most)
    if top >= 1 << (63 - shift):
        ids, columns = _renumbered(ids, columns)
    place = np.arange(k + most, dtype=np.int32 if top < 1 << (31 - shift) else np.int64)
    keys = np.empty((rows, k + most), place.dtype)
    keys[:, :k] = ids
    if keys[:, k - 1].min() < 0:
        np.copyto(keys[:, :k], ~place[:k], where=keys[:, :k] < 0)
    keys[:, k:] = ~place[k:]
    keys[:, k:][place[:most] < lengths[:, None].astype(place.dtype)] = columns
    keys <<= shift
    keys |= place
    keys.sort(axis=1)
    return keys, shift


def _renumbered(ids: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """The numbers of ids among those that occur, where they leave no bits to hold a place."""
    known = np.unique(np.concatenate((ids[ids >= 0], columns)))
    return np.where(ids < 0, -1, known.searchsorted(ids)), known.searchsorted(columns)


def _read(run: Any) -> Ints:
    """(Q, K) ids. Raises FormatError, EmptyError or InputError for what is none."""
    ids: Ints = np.asarray(host.to_numpy(run, "top-k ids"))
    if ids.ndim != 2:
        raise FormatError(f"an array of ids has shape (queries, k); got {ids.shape}")
    if not ids.size:
        raise EmptyError(f"the run is empty: its shape is {ids.shape}.")
    if ids.dtype != np.uint64:
        return ids
    if ids.max() > np.iinfo(np.int64).max:
        raise InputError(f"the run has id {ids.max()}; ids are at most {np.iinfo(np.int64).max}.")
    return ids.astype(np.int64)


def _checked(ids: Ints, rows: Ints, width: int | None) -> tuple[Ints, int]:
    """How many ids each row has, and the highest. Raises InputError for what is no id."""
    counts, top = np.full(len(ids), ids.shape[1]), int(ids.max())
    if ids.min() >= 0 and (width is None or top < width):
        return counts, top
    outside = ids < -1
    if width is not None:
        outside |= ids >= width
    if outside.any():
        row, place = (int(at[0]) for at in np.nonzero(outside))
        last = "" if width is None else f" to {width - 1}"
        raise InputError(
            f"run, row {rows[row]}, rank {place + 1}: an id is a whole number from 0{last}, or -1 for "
            f"no item; got {ids[row, place]}. Whole numbers are ids: give scores as floating point."
        )
    torn = (ids[:, :-1] < 0) & (ids[:, 1:] >= 0)
    if torn.any():
        row, place = (int(at[0]) for at in np.nonzero(torn))
        raise InputError(
            f"run, row {rows[row]}: -1, which is no item, stands at rank {place + 1} before item "
            f"{ids[row, place + 1]}; it fills up the end of a row."
        )
    return np.count_nonzero(ids >= 0, axis=1), top


def _as_lists(qrels: Qrels, ids: Ints, duplicates: str) -> Retrieved:
    """The same with repeated items, which lists know how to treat."""
    lists: dict[Hashable, Any] = {
        row: [item for item in got if item >= 0] for row, got in enumerate(ids.tolist())
    }
    return mappings.retrieve_lists(qrels, lists, duplicates, AS_GIVEN)


def _retrieved_twice(ids: Ints, row: int) -> DuplicateError:
    got = [item for item in ids[row].tolist() if item >= 0]
    again = next(place for place, item in enumerate(got) if item in got[:place])
    return DuplicateError(
        f"run, row {row}: item {got[again]} is retrieved twice, at ranks {got.index(got[again]) + 1} "
        f"and {again + 1}. duplicates=first keeps its first copy."
    )
