"""Top-k ids: (Q, K) whole numbers, best first, as nearest-neighbour libraries return them."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from germane._ragged import Ints
from germane.errors import DuplicateError, EmptyError, FormatError, InputError
from germane.retrieval import Qrels, Retrieved
from germane.sources import grid, host, mappings

CELLS = 1 << 20  # entries of the table of (row, item) that a block of rows is looked up in
WIDEST = 1 << 26  # ids from which the table is over the ids that occur


def retrieve(
    qrels: Qrels, run: Any, duplicates: str, order: str, progress: object = None
) -> Retrieved:
    """The judged items among the ids of each row; -1 fills a row up."""
    ids = _read(run, qrels)
    row = grid.rows_of(qrels, len(ids))
    columns = grid.columns_of(qrels, None, "run")
    answered = np.flatnonzero(row >= 0)
    retrieved = np.zeros(len(qrels), np.int64)
    retrieved[answered] = np.count_nonzero(ids >= 0, axis=1)[row[answered]]
    ids, columns, width = _numbered(ids, columns)
    table = _Table(width, ids.shape[1])
    parts = []
    for start in range(0, len(answered), table.rows):
        queries = answered[start : start + table.rows]
        judgments, owner = grid.judgments_of(qrels, queries)
        local = np.searchsorted(queries, owner)
        got = table.flat(ids[row[queries]])
        repeated = table.repeated(got)
        if repeated is not None and duplicates == "error":
            raise _retrieved_twice(run, int(row[queries[repeated[0]]]), repeated[1])
        if repeated is not None:
            return _as_lists(qrels, run, duplicates)
        place, column, judgment = table.found(got, local * (width + 1) + columns[judgments])
        rank = column + 1
        parts.append((judgments[judgment], queries[place], rank, rank, rank))
    return grid.retrieved_of(parts, retrieved, row, len(ids))


class _Table:
    """A table of every (row, item) of a block of rows, so that an item is found by one look."""

    def __init__(self, width: int, k: int) -> None:
        self.rows = max(1, CELLS // (width + 1))
        self._width = width + 1  # the last column stands for no item
        self._entries = np.zeros(self.rows * self._width, np.int32)
        self._numbers = np.arange(1, self.rows * k + 1, dtype=np.int32).reshape(self.rows, k)

    def flat(self, ids: Ints) -> Ints:
        """(B, K): where each id stands in the table."""
        at = np.where(ids < 0, self._width - 1, ids)
        at += np.arange(0, len(ids) * self._width, self._width)[:, None]
        return at

    def repeated(self, at: Ints) -> tuple[int, int] | None:
        """The row and the place in it of an id that stands there again later; None: there is none."""
        numbers = self._numbers[: len(at)]
        self._entries[at] = numbers
        self._entries[self._width - 1 :: self._width] = 0
        last = self._entries[at]
        self._entries[at] = 0
        twice = (last != numbers) & (last != 0)
        if not twice.any():
            return None
        row, place = np.nonzero(twice)
        return int(row[0]), int(place[0])

    def found(self, at: Ints, judged: Ints) -> tuple[Ints, Ints, Ints]:
        """The row, the place in it and the judgment of every id that is judged."""
        self._entries[judged] = np.arange(1, len(judged) + 1, dtype=np.int32)
        hit = self._entries[at]
        self._entries[judged] = 0
        row, place = np.nonzero(hit)
        return row, place, hit[row, place] - 1


def _read(run: Any, qrels: Qrels) -> Ints:
    """(Q, K) ids. Raises FormatError or InputError for what is none."""
    ids = np.asarray(host.to_numpy(run, "top-k ids"))
    if ids.ndim != 2:
        raise FormatError(f"an array of ids has shape (queries, k); got {ids.shape}")
    if not ids.size:
        raise EmptyError(f"the run is empty: its shape is {ids.shape}.")
    ids = ids.astype(np.int64, copy=False)
    outside = ids < -1
    if qrels.width is not None:
        outside |= ids >= qrels.width
    if outside.any():
        row, place = (int(at[0]) for at in np.nonzero(outside))
        last = "" if qrels.width is None else f" to {qrels.width - 1}"
        raise InputError(
            f"run, row {row}, rank {place + 1}: an id is a whole number from 0{last}, or -1 for no "
            f"item; got {ids[row, place]}. Whole numbers are ids: give scores as floating point."
        )
    torn = (ids[:, :-1] < 0) & (ids[:, 1:] >= 0)
    if torn.any():
        row, place = (int(at[0]) for at in np.nonzero(torn))
        raise InputError(
            f"run, row {row}: -1, which is no item, stands at rank {place + 1} before item "
            f"{ids[row, place + 1]}; it fills up the end of a row."
        )
    return ids


def _numbered(ids: Ints, columns: Ints) -> tuple[Ints, Ints, int]:
    """Ids below a width; where they are too high for a table, the numbers of those that occur."""
    width = int(max(ids.max(), columns.max(initial=0))) + 1
    if width <= WIDEST:
        return ids, columns, width
    known = np.unique(np.concatenate((ids[ids >= 0], columns)))
    numbered = np.where(ids < 0, -1, np.searchsorted(known, ids))
    return numbered, np.searchsorted(known, columns), len(known)


def _as_lists(qrels: Qrels, run: Any, duplicates: str) -> Retrieved:
    """The same with repeated items, which lists know how to treat."""
    ids = host.to_numpy(run, "top-k ids").tolist()
    lists: dict[Hashable, Any] = {
        row: [item for item in got if item >= 0] for row, got in enumerate(ids)
    }
    return mappings.retrieve_lists(qrels, lists, duplicates, "given")


def _retrieved_twice(run: Any, row: int, place: int) -> DuplicateError:
    got = host.to_numpy(run, "top-k ids")[row].tolist()
    again = got.index(got[place], place + 1)
    return DuplicateError(
        f"run, row {row}: item {got[place]} is retrieved twice, at ranks {place + 1} and "
        f"{again + 1}. duplicates=first keeps its first copy."
    )
