"""Top-k ids: (Q, K) whole numbers, best first, as nearest-neighbour libraries return them."""

from collections.abc import Hashable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.qrels import DEEP, Order, Qrels, Retrieved, Sample
from germane.core.ragged import Ints
from germane.errors import DuplicateError, EmptyError, FormatError, InputError
from germane.kernel.columns import Integers
from germane.kernel.reduction import Batch, Judged, Part, Reduction, RepeatedItem
from germane.kernel.threads import map_in_threads
from germane.readers import grid, host
from germane.readers.arrays import PlacedRun
from germane.readers.rows import STEP


class TopIds(PlacedRun):
    """The ids of the best K items (Q, K) of each query."""

    name = "run"

    def __init__(self, array: Any) -> None:
        self.array = array

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if not isinstance(query, int) or not 0 <= query < len(self.array):
            return [], []
        ids = read_ids(self.array[query])
        return ids[ids >= 0].tolist(), []

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        return retrieve(qrels, self.array, duplicates, order)


def retrieve(qrels: Qrels, run: Any, duplicates: str, order: Order) -> Retrieved:
    """The judged items among the ids of each row; -1 fills a row up."""
    ids = _read(run)
    row = grid.rows_of(qrels, len(ids))
    asked = np.flatnonzero(row >= 0)
    items = Integers(grid.columns_of(qrels, None, "run"))
    judged = Judged(list(range(len(qrels))), qrels.offsets, items)
    reduction = Reduction(judged, duplicates, order)
    step = max(1, STEP // ids.shape[1])

    def reduce_rows(start: int) -> Part:
        queries = asked[start : start + step]
        some = ids[ragged.as_slice(row[queries])]
        return reduction.reduce(_batch(some, queries, row, qrels.width))

    try:
        for part in map_in_threads(reduce_rows, range(0, len(asked), step)):
            reduction.add(part)
    except RepeatedItem as found:
        q: Any = found.query
        raise _retrieved_twice(ids, int(row[q])) from None
    got = reduction.result(grid.unknown(row, len(ids)))
    return replace(got, sample=partial(_sample, ids))


def _sample(ids: Ints, most: int) -> Sample:
    """The first ids of the first rows."""
    some = ids[: most // DEEP, :DEEP]
    there = some >= 0
    offsets = ragged.offsets(np.count_nonzero(there, axis=1))
    return Sample(range(len(some)), offsets, some[there].tolist(), ids="places")


def _batch(ids: Ints, queries: Ints, row: Ints, width: int | None) -> Batch:
    """The ids of some queries, without those that are none."""
    ids = ids.astype(np.int64, copy=False)
    if ids.min() >= 0 and (width is None or ids.max() < width):
        lengths, items = np.full(len(ids), ids.shape[1]), Integers(ids.ravel())
    else:
        lengths, items = _counted(ids, row[queries], width), Integers(ids[ids >= 0])
    return Batch(queries, ragged.offsets(lengths), items, None)


def _read(run: Any) -> Ints:
    """(Q, K) ids. Raises FormatError, EmptyError or InputError for what is none."""
    ids = read_ids(run)
    if ids.ndim != 2:
        raise FormatError(f"an array of ids has shape (queries, k); got {ids.shape}")
    if not ids.size:
        raise EmptyError(f"the run is empty: its shape is {ids.shape}.")
    return ids


def read_ids(run: Any) -> Ints:
    """Ids of any shape, -1 where they are masked. Raises InputError for one of more than 63 bits."""
    given = host.to_numpy(run, "top-k ids")
    masked = np.ma.is_masked(given)
    ids: Ints = np.ma.filled(given, 0) if masked else np.asarray(given)
    if ids.dtype == np.uint64:
        if ids.max(initial=0) > np.iinfo(np.int64).max:
            most = np.iinfo(np.int64).max
            raise InputError(f"the run has id {ids.max()}; ids are at most {most}.")
        ids = ids.astype(np.int64)
    return np.where(np.ma.getmaskarray(given), -1, ids.astype(np.int64)) if masked else ids


def _counted(ids: Ints, rows: Ints, width: int | None) -> Ints:
    """How many ids each row has. Raises InputError for what is no id."""
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
    counts: Ints = np.count_nonzero(ids >= 0, axis=1)
    return counts


def _retrieved_twice(ids: Ints, row: int) -> DuplicateError:
    got = [item for item in ids[row].tolist() if item >= 0]
    again = next(place for place, item in enumerate(got) if item in got[:place])
    return DuplicateError(
        f"run, row {row}: item {got[again]} is retrieved twice, at ranks {got.index(got[again]) + 1} "
        f"and {again + 1}. duplicates=first keeps its first copy."
    )
