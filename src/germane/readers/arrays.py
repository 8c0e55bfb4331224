"""Reads runs that are arrays: scores (Q, N) or flat with groups, or the ids of the best k (Q, K)."""

import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.retrieved import DEEP, Order, Retrieved, Sample
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    clip,
    list_some,
)
from germane.kernel.columns import Integers
from germane.kernel.ids import as_integer, is_missing
from germane.kernel.reduction import Batch, Judgments, Part, Reduction, RepeatedItem
from germane.kernel.threads import map_in_threads
from germane.readers import grid, matrix, numbers, relevance
from germane.readers.inputs import RunInput
from germane.readers.rows import STEP


class NumberedRun(RunInput):
    """A run whose items have no ids, and are numbered by their place."""

    is_array = True

    @property
    def ties(self) -> str:
        return "given"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        """List the items of a query in the order given, and their scores, which ids do not have."""
        return [], []

    def select(
        self, qrels: Qrels, duplicates: str, progress: object = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        query = qrels.queries[0]
        return self, *self.list_items(as_integer(query) if qrels.ids == "text" else query)


class ScoreArray(NumberedRun):
    """Scores (Q, N): row q has those of query q. A masked cell is not retrieved."""

    def __init__(self, array: Any) -> None:
        self.array = array
        name = getattr(array, "name", None)
        self.name = name if isinstance(name, str) else "run"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if not isinstance(query, int) or not 0 <= query < len(self.array):
            return [], []
        row = numbers.to_numpy(self.array[query], "the run")
        return _drop_masked(np.arange(len(row)), row)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        scores = numbers.to_numpy(self.array, "scores")
        if scores.ndim != 2:
            raise FormatError(
                f"scores have shape (queries, items); got {scores.shape}. Flat arrays need group=…"
            )
        if not scores.size:
            raise EmptyError(f"the run is empty: its shape is {scores.shape}.")
        masked = isinstance(scores, np.ma.MaskedArray)

        def read_block(asked: Ints) -> tuple[Any, Ints | None]:
            part = scores[ragged.as_slice(asked)]
            numbers.check_finite(part, "scores", rows=asked)
            return _fill(part) if masked else (part, None)

        return grid.reduce_grid(qrels, scores.shape, read_block, order, what="scores")


def _fill(scores: Any) -> tuple[Any, Ints]:
    """Set masked cells to -inf, and count them in each row."""
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float32)  # of bools
    return scores.filled(-np.inf), np.count_nonzero(np.ma.getmaskarray(scores), axis=1)


def _drop_masked(items: Ints, scores: Any) -> tuple[list[int], list[float]]:
    """Keep the items, and their scores, that are not masked."""
    there = ~np.ma.getmaskarray(scores)
    return items[there].tolist(), np.ma.getdata(scores)[there].tolist()


# --- Flat arrays in groups -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(NumberedRun):
    """A flat array in groups, whose items are numbered by their place in it."""

    name = "run"

    values: Any
    queries: list[Hashable]  # G
    offsets: Ints  # G + 1
    place: Ints  # the items of group g: place[offsets[g]:offsets[g + 1]], ascending

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if query not in self.queries:
            return [], []
        start, stop = self.offsets[self.queries.index(query) :][:2].tolist()
        places = self.place[start:stop]
        return _drop_masked(places, self.values[places])

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        values, sizes = _read_floats(self.values, order), np.diff(self.offsets)
        if not order.plain:
            values = values.astype(float)
            values[self.place] = grid.admit_columns(values[self.place], self.offsets, order)
        owner = ragged.find_owners(self.offsets)
        position = np.empty(len(values), np.int64)  # of each item within its group
        position[self.place] = np.arange(len(values)) - self.offsets[owner]
        missing = ragged.count_flags(values[self.place] == -np.inf, owner, len(sizes))
        number = {query: g for g, query in enumerate(self.queries)}
        group = np.array([number[query] for query in qrels.queries], np.int64)
        flat = grid.find_columns(qrels, len(values), "scores")
        hits = grid.Hits(len(flat))
        for asked in _group_similar(sizes[group]):
            groups = group[asked]
            column = np.arange(sizes[groups].max())
            present = column < sizes[groups, None]
            scores = np.full(present.shape, -np.inf, values.dtype)
            scores[present] = values[self.place[(self.offsets[groups, None] + column)[present]]]
            judgments, judged = grid.find_judgments(qrels, asked)
            query = np.repeat(asked, judged)
            there = values[flat[judgments]] > grid.find_floor(order)
            judgments, query = judgments[there], query[there]
            offsets = np.append(np.searchsorted(query, asked), len(query))
            hits.add(
                judgments, query, matrix.rank_columns(scores, offsets, position[flat[judgments]])
            )
        retrieved = (sizes - missing)[group]
        return hits.join(retrieved, np.arange(len(qrels)), len(qrels))


def group_arrays(grades: Any, scores: Any, group: Any) -> tuple[Any, Grouped | None]:
    """Group flat arrays. ``group`` is a group id for each item, or the size of each group.

    Qrels, and a run that is None, stay as they are.
    """
    flat = [
        None if given is None or isinstance(given, Qrels) else numbers.to_numpy(given, what)
        for given, what in ((grades, "relevance"), (scores, "scores"))
    ]
    shapes = [array.shape for array in flat if array is not None]
    if isinstance(grades, Qrels):
        shapes.append((grades.width,))
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise FormatError(
            "with group=…, relevance and scores are flat arrays of one length; got shapes "
            f"{' and '.join(map(str, shapes)) or 'none'}"
        )
    _check_labels({"relevance": grades, "scores": scores, "group": group})
    items = shapes[0][0]
    if not items:
        raise EmptyError("the run is empty: its arrays have no items.")
    queries, code = _find_groups(group, items)
    place = np.argsort(code, kind="stable")
    offsets = ragged.make_offsets(np.bincount(code, minlength=len(queries)))
    qrels, run = (
        None if array is None else Grouped(array, queries, offsets, place) for array in flat
    )
    return qrels or grades, run


def _check_labels(given: dict[str, Any]) -> None:
    """Refuse pandas Series whose labels differ: matched by place, items would get wrong scores."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    labels = {name: one.index for name, one in given.items() if isinstance(one, pandas.Series)}
    for (one, mine), (other, theirs) in combinations(labels.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs):
            raise FormatError(
                f"{one} and {other} are Series with different labels: {list_some(mine.tolist())} and "
                f"{list_some(theirs.tolist())}. {other}.loc[{one}.index] brings them into one order; "
                "to_numpy() of both takes them by their places."
            )


def _find_groups(given: Any, items: int) -> tuple[list[Hashable], Ints]:
    """Find the ids of the groups in the order of their first items, and the group of each item."""
    ids = list_values(given)
    if not isinstance(ids, (list, tuple)):
        raise FormatError(f"group is a group id an item, or the sizes of groups; got {clip(given)}")
    if len(ids) == items:
        for one in () if {str, int}.issuperset(map(type, ids)) else ids:
            if isinstance(one, float) or not isinstance(one, Hashable) or is_missing(one):
                raise FormatError(f"a group's id is an integer or text; got {clip(one)}")
        codes = {one: code for code, one in enumerate(dict.fromkeys(ids))}
        return list(codes), np.fromiter(map(codes.__getitem__, ids), np.int64, items)
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in ids)
    if not whole or sum(ids) != items:
        total = f"; they sum to {sum(ids)}" if whole else ""
        raise FormatError(
            f"group has length {len(ids)}{total}. It is {items} group ids, one an item, or sizes that "
            f"sum to {items}."
        )
    return list(range(len(ids))), np.repeat(np.arange(len(ids)), ids)


def read_grouped(given: Grouped, complete: str) -> Qrels:
    """Read flat grades; only those above 0, unless ``complete`` names measures that need the others."""
    grades, place = given.values, given.place
    numbers.check_finite(grades, "relevance", "relevance grade")
    kept = ~np.ma.getmaskarray(grades)
    if not complete:
        kept &= np.ma.getdata(grades) > 0
    left = ragged.count_flags(kept[place], ragged.find_owners(given.offsets), len(given.queries))
    place = place[kept[place]]
    judged = np.ma.getdata(grades)[place].astype(float)
    relevance.check_range(judged, lambda at: f"relevance, item {place[at]}")
    return Qrels(
        given.queries, ragged.make_offsets(left), Integers(place), judged, width=len(grades)
    )


def _read_floats(scores: Any, order: Order) -> Any:
    """Convert flat scores to floats, masked ones to -inf. Whole numbers keep their order and ties."""
    values, mask = np.ma.getdata(scores), np.ma.getmask(scores)
    if values.dtype.kind == "f":
        numbers.check_finite(scores, "scores")
    elif values.dtype.itemsize < 8 or not order.plain:
        values = values.astype(float)
    else:  # more digits than a double has
        values = np.unique(values, return_inverse=True)[1].astype(float)
    return np.where(mask, values.dtype.type(-np.inf), values)


def _group_similar(sizes: Ints) -> Iterator[Ints]:
    """Divide groups into blocks of similar size, so that padding at most doubles the memory."""
    power = np.frexp(sizes.astype(float))[1]
    for size in np.unique(power[sizes > 0]).tolist():
        groups = np.flatnonzero((power == size) & (sizes > 0))
        step = max(1, grid.CELLS >> size)
        yield from (groups[start : start + step] for start in range(0, len(groups), step))


class TopIds(NumberedRun):
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
        ids = _read_block(self.array)
        row = grid.find_rows(qrels, len(ids))
        asked = np.flatnonzero(row >= 0)
        items = Integers(grid.find_columns(qrels, None, "run"))
        judged = Judgments(list(range(len(qrels))), qrels.offsets, items)
        reduction = Reduction(judged, duplicates, order)
        step = max(1, STEP // ids.shape[1])

        def reduce_rows(start: int) -> Part:
            queries = asked[start : start + step]
            some = ids[ragged.as_slice(row[queries])]
            return reduction.reduce(_make_batch(some, queries, row, qrels.width))

        try:
            for part in map_in_threads(reduce_rows, range(0, len(asked), step)):
                reduction.add(part)
        except RepeatedItem as found:
            q: Any = found.query
            raise _explain_repeat(ids, int(row[q])) from None
        got = reduction.join(grid.list_unknown(row, len(ids)))
        return replace(got, sample=partial(_take_sample, ids))


def _take_sample(ids: Ints, most: int) -> Sample:
    """Take the first ids of the first rows as a sample."""
    some = ids[: most // DEEP, :DEEP]
    there = some >= 0
    offsets = ragged.make_offsets(np.count_nonzero(there, axis=1))
    return Sample(range(len(some)), offsets, some[there].tolist(), ids="places")


def _make_batch(ids: Ints, queries: Ints, row: Ints, width: int | None) -> Batch:
    """Make a batch of the ids of some queries, without the -1 that fill up their rows."""
    ids = ids.astype(np.int64, copy=False)
    if ids.min() >= 0 and (width is None or ids.max() < width):
        lengths, items = np.full(len(ids), ids.shape[1]), Integers(ids.ravel())
    else:
        lengths, items = _count(ids, row[queries], width), Integers(ids[ids >= 0])
    return Batch(queries, ragged.make_offsets(lengths), items, None)


def _read_block(run: Any) -> Ints:
    """Read (Q, K) ids. Raises FormatError, EmptyError or InputError for anything else."""
    ids = read_ids(run)
    if ids.ndim != 2:
        raise FormatError(f"an array of ids has shape (queries, k); got {ids.shape}")
    if not ids.size:
        raise EmptyError(f"the run is empty: its shape is {ids.shape}.")
    return ids


def read_ids(run: Any) -> Ints:
    """Read ids of any shape, masked ones as -1. Raises InputError for one of more than 63 bits."""
    given = numbers.to_numpy(run, "top-k ids")
    masked = np.ma.is_masked(given)
    ids: Ints = np.ma.filled(given, 0) if masked else np.asarray(given)
    if ids.dtype == np.uint64:
        if ids.max(initial=0) > np.iinfo(np.int64).max:
            most = np.iinfo(np.int64).max
            raise InputError(f"the run has id {ids.max()}; ids are at most {most}.")
        ids = ids.astype(np.int64)
    return np.where(np.ma.getmaskarray(given), -1, ids.astype(np.int64)) if masked else ids


def _count(ids: Ints, rows: Ints, width: int | None) -> Ints:
    """Count the ids of each row. Raises InputError for a number that is not an id."""
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


def _explain_repeat(ids: Ints, row: int) -> DuplicateError:
    got = [item for item in ids[row].tolist() if item >= 0]
    again = next(place for place, item in enumerate(got) if item in got[:place])
    return DuplicateError(
        f"run, row {row}: item {got[again]} is retrieved twice, at ranks {got.index(got[again]) + 1} "
        f"and {again + 1}. duplicates=first keeps its first copy."
    )
