"""Reads runs that are arrays of ids: the best K items (Q, K) of each query."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from germane.core import ragged
from germane.core.qrels import DEEP, Order, Sample
from germane.core.ragged import Ints
from germane.errors import EmptyError, FormatError, InputError, PolicyError, write_option
from germane.kernel.ids import Integers
from germane.kernel.reduction import Batch
from germane.readers.inputs import Faults
from germane.readers.objects import numbers
from germane.readers.objects.arrays import ArrayRun, Asked, Read
from germane.readers.objects.item_ids import ANY, Axis
from germane.readers.rows import STEP

if TYPE_CHECKING:
    from germane.readers.options.item_groups import Groups


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TopIds(ArrayRun):
    """The ids of the best K items (Q, K) of each query, and their scores, if these are given."""

    in_threads = True
    has_all_items = False

    best: Ints  # (Q, K); -1 fills up a row
    scores: Any = None

    @property
    def width(self) -> int:
        return int(self.best.shape[1])

    @property
    def has_scores(self) -> bool:
        return self.scores is not None

    def mask_faults(self, faults: Faults) -> Self:
        """Close up the ids of each row, without the numbers that are none."""
        ids = self.best
        for row, place in np.argwhere(ids < -1).tolist():
            faults.add(str(_explain_no_id(ids, row, place, row)))
        for row, place in np.argwhere((ids[:, :-1] == -1) & (ids[:, 1:] >= 0)).tolist():
            faults.add(str(_explain_torn(ids, row, place, row)))
        order = np.argsort(ids < 0, axis=1, kind="stable")
        best, scores = np.take_along_axis(np.maximum(ids, -1), order, axis=1), self.scores
        if scores is not None:
            scores = np.ma.getdata(numbers.to_numpy(scores, _SCORES))
            scores = np.take_along_axis(scores, order, axis=1)
        return replace(self, best=best, scores=scores)

    def check_items(self, item_ids: Sequence[Hashable]) -> None:
        if self.best.max() >= len(item_ids):
            row, place = (int(index[0]) for index in np.nonzero(self.best >= len(item_ids)))
            raise FormatError(
                f"run, row {row}, rank {place + 1}: {self.best[row, place]} is not a place in"
                f" item_ids, which has {len(item_ids)} ids. Rows of top-k ids are places from 0."
            )

    def count_rows(self) -> Ints:
        return np.asarray(np.count_nonzero(self.best >= 0, axis=1))

    def split(self, rows: Ints, cells: int) -> Iterator[Ints]:
        yield from super().split(rows, min(cells, STEP))

    def collapse_items(self, groups: Groups) -> tuple[Self, list[Any]]:
        ids, place = np.unique(self.best, return_inverse=True)
        present, item_ids = ids[ids >= 0].tolist(), self.items.ids
        if groups.values is None:
            names_of_items = present if item_ids is None else [item_ids[item] for item in present]
            code, names = groups.number_columns(names_of_items, len(names_of_items))
        else:
            every, names = groups.number_columns(item_ids, len(groups.values))
            if present and present[-1] >= len(every):
                raise FormatError(
                    f"{write_option('collapse')} has {len(every)} groups, one for each item, but"
                    f" the run has item {present[-1]}."
                )
            code = every[present]
        code = np.append(ids[: len(ids) - len(present)], code)  # -1, and what is no id
        return replace(self, best=code[place.reshape(self.best.shape)]), names

    def open_blocks(self, wanted: Asked | None) -> Read:
        ids, width = self.best, None if wanted is None else wanted.width
        scores = None if self.scores is None else numbers.to_numpy(self.scores, _SCORES)
        if wanted is not None:
            scores = _check_order(scores, ids, wanted.order)

        def read(rows: Ints, code: Ints) -> Batch:
            block = ragged.as_slice(rows)
            block_ids = ids[block].astype(np.int64, copy=False)
            if block_ids.min() >= 0 and (width is None or block_ids.max() < width):
                lengths, items = np.full(len(block_ids), block_ids.shape[1]), block_ids.ravel()
            else:
                lengths, items = _count(block_ids, rows, width), block_ids[block_ids >= 0]
            score = None
            if scores is not None:
                score = np.ma.getdata(scores[block])[block_ids >= 0].astype(float)
            return Batch(code, ragged.make_offsets(lengths), Integers(items), score)

        return read

    @property
    def sampler(self) -> Callable[[int], Sample]:
        return self._take_sample

    def _take_sample(self, limit: int) -> Sample:
        first_ids = self.best[: limit // DEEP, :DEEP]
        is_present = first_ids >= 0
        offsets = ragged.make_offsets(np.count_nonzero(is_present, axis=1))
        named = self.queries.ids is not None and self.items.ids is not None
        queries, items = (
            self.queries.name(np.arange(len(first_ids))),
            self.items.name(first_ids[is_present]),
        )
        ids = "typed" if named else "places"
        if self.is_text:  # the queries, since groups are
            queries, ids = queries.as_text(), "text"
        return Sample(queries.python, offsets, items.python, ids=ids)


_SCORES = "the scores of top-k ids"


def open_ids(raw: Any, scores: Any = None) -> TopIds:
    """Open an array of ids. Raises FormatError, EmptyError or InputError for anything else."""
    ids = read_ids(raw)
    if ids.ndim != 2:
        raise FormatError(f"an array of ids has shape (queries, k); got {ids.shape}")
    if not ids.size:
        raise EmptyError(f"the run is empty: its shape is {ids.shape}.")
    return TopIds(
        queries=Axis("query_ids", len(ids)), items=Axis("item_ids", ANY), best=ids, scores=scores
    )


def open_pair(arrays: Sequence[Any]) -> TopIds:
    """Open the scores and the ids of the best K items, in the order of FAISS or the other one."""
    shapes = [tuple(array.shape) for array in arrays]
    are_whole = [numbers.is_whole(array) for array in arrays]
    if shapes[0] != shapes[1] or sum(are_whole) != 1:
        shown = " and ".join(
            f"{array.dtype} {shape}" for array, shape in zip(arrays, shapes, strict=True)
        )
        raise FormatError(
            "a pair of arrays has the scores of the best K items, floating-point numbers, and"
            f" their ids, whole numbers, in one shape (queries, k); got {shown}"
        )
    ids, scores = arrays if are_whole[0] else reversed(arrays)
    return open_ids(ids, scores)


def _check_order(scores: Any, ids: Ints, order: Order) -> Any:
    """Refuse scores that do not fall in each row, or rise if they are distances."""
    distances = order.scores == "distances"
    if scores is None:
        if distances:
            raise PolicyError(
                f"{write_option('scores', 'distances')} needs numbers, but these are only ids."
                " Pass both, as a search returns them: (distances, ids)."
            )
        return None
    is_present = ids >= 0
    scores = np.ma.getdata(scores)
    mend = "numpy.where(numpy.isfinite(scores), ids, -1) as the ids leaves them out"
    numbers.check_finite(np.ma.masked_array(scores, ~is_present), _SCORES, mend=mend)
    worse = scores[:, 1:] < scores[:, :-1] if distances else scores[:, 1:] > scores[:, :-1]
    worse &= is_present[:, 1:] & is_present[:, :-1]
    if worse.any():
        row, place = (int(index[0]) for index in np.nonzero(worse))
        advice = (
            f"If they are similarities, leave out {write_option('scores', 'distances')}."
            if distances
            else f"If they are distances, use {write_option('scores', 'distances')}."
        )
        raise FormatError(
            f"run, row {row}: the ids are given best first, but the score at rank {place + 2}, "
            f"{scores[row, place + 1]:g}, is better than that at rank {place + 1}, "
            f"{scores[row, place]:g}. {advice}"
        )
    return scores


def read_ids(run: Any) -> Ints:
    """Read ids of any shape, masked ones as -1. Raises InputError for one of more than 63 bits."""
    raw = numbers.to_numpy(run, "top-k ids")
    masked = np.ma.is_masked(raw)
    ids: Ints = np.ma.filled(raw, 0) if masked else np.asarray(raw)
    if ids.dtype == np.uint64:
        if ids.max(initial=0) > np.iinfo(np.int64).max:
            largest = np.iinfo(np.int64).max
            raise InputError(f"the run has id {ids.max()}; ids are at most {largest}.")
        ids = ids.astype(np.int64)
    return np.where(np.ma.getmaskarray(raw), -1, ids.astype(np.int64)) if masked else ids


def _count(ids: Ints, rows: Ints, width: int | None) -> Ints:
    """Count the ids of each row. Raises InputError for a number that is not an id."""
    outside = ids < -1
    if width is not None:
        outside |= ids >= width
    if outside.any():
        row, place = (int(index[0]) for index in np.nonzero(outside))
        raise _explain_no_id(ids, row, place, rows[row], width)
    torn = (ids[:, :-1] < 0) & (ids[:, 1:] >= 0)
    if torn.any():
        row, place = (int(index[0]) for index in np.nonzero(torn))
        raise _explain_torn(ids, row, place, rows[row])
    counts: Ints = np.count_nonzero(ids >= 0, axis=1)
    return counts


def _explain_no_id(
    ids: Ints, row: int, place: int, number: int, width: int | None = None
) -> InputError:
    last = "" if width is None else f" to {width - 1}"
    return InputError(
        f"run, row {number}, rank {place + 1}: an id is a whole number from 0{last}, or -1 for no"
        f" item; got {ids[row, place]}. Whole numbers are ids; pass scores as floating point."
    )


def _explain_torn(ids: Ints, row: int, place: int, number: int) -> InputError:
    return InputError(
        f"run, row {number}: there is a -1 at rank {place + 1}, before item {ids[row, place + 1]}."
        " It means no item, and is only allowed at the end of a row."
    )
