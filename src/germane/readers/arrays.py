"""Reads runs that are arrays: scores (Q, N) or flat with groups, or the ids of the best k (Q, K)."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

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
    PolicyError,
    clip,
    list_some,
)
from germane.kernel.columns import Integers
from germane.kernel.ids import as_integer, is_missing
from germane.kernel.reduction import Batch, Judgments, Part, Reduction, RepeatedItem
from germane.kernel.threads import map_in_threads
from germane.readers import grid, matrix, numbers, relevance
from germane.readers.candidates import find_candidates, find_columns
from germane.readers.inputs import RunInput
from germane.readers.rows import STEP, add_candidates

if TYPE_CHECKING:
    from germane.readers.groups import Groups


class NumberedRun(RunInput):
    """A run whose items have no ids, and are numbered by their place."""

    is_array = True

    @property
    def ties(self) -> str:
        return "given"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        """List the items of a query in the order given, and their scores, which ids do not have."""
        return [], []

    def find_shape(self) -> tuple[int, int]:
        """Find the numbers of queries and of items."""
        raise NotImplementedError

    def check_items(self, item_ids: Sequence[Hashable]) -> None:
        """Raise FormatError unless there is an id for each item."""
        width = self.find_shape()[1]
        if len(item_ids) != width:
            raise FormatError(f"item_ids has {len(item_ids)} ids for {width} items.")

    def drop_excluded(
        self, qrels: Qrels, rows: Ints | None = None, columns: Ints | None = None
    ) -> Qrels:
        """Drop the judgments of items that are no candidates for their query."""
        return qrels

    def count_rows(self) -> Ints:
        """Count the results of each query."""
        raise NotImplementedError

    def collapse_columns(
        self, groups: Groups, item_ids: Sequence[Hashable] | None
    ) -> tuple[NumberedRun, list[Any]]:
        """Make a run whose items are groups of items, and list the groups."""
        raise NotImplementedError

    def select(
        self, qrels: Qrels, duplicates: str, progress: object = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        query = qrels.queries[0]
        return self, *self.list_items(as_integer(query) if qrels.ids == "text" else query)


class ScoreArray(NumberedRun):
    """Scores (Q, N): row q has those of query q. A masked cell is not retrieved."""

    def __init__(self, array: Any, columns: grid.ColumnGroups | None = None) -> None:
        self.array, self.columns = array, columns
        name = getattr(array, "name", None)
        self.name = name if isinstance(name, str) else "run"

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if not isinstance(query, int) or not 0 <= query < len(self.array):
            return [], []
        row = numbers.to_numpy(self.array[query], "the run")
        items = np.arange(len(row)) if self.columns is None else self.columns.codes
        return _drop_masked(items, row)

    def find_shape(self) -> tuple[int, int]:
        shape = tuple(self.array.shape)
        if len(shape) != 2:
            raise FormatError(
                f"scores have shape (queries, items); got {shape}. Flat arrays need group=…"
            )
        return shape

    def count_rows(self) -> Ints:
        there = ~np.ma.getmaskarray(numbers.to_numpy(self.array, "scores"))
        return np.asarray(np.count_nonzero(there, axis=1))

    def collapse_columns(
        self, groups: Groups, item_ids: Sequence[Hashable] | None
    ) -> tuple[NumberedRun, list[Any]]:
        codes, names = groups.number_columns(item_ids, self.find_shape()[1])
        return ScoreArray(self.array, grid.ColumnGroups(codes, len(names))), names

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

        if self.columns is not None:
            return _reduce_groups(qrels, scores.shape, read_block, order, self.columns)
        return grid.reduce_grid(qrels, scores.shape, read_block, order, what="scores")


def _reduce_groups(
    qrels: Qrels,
    shape: tuple[int, int],
    block: grid.Block,
    order: Order,
    columns: grid.ColumnGroups,
) -> Retrieved:
    """Rank groups by their best columns. Distances are negated before, so that the highest is the best."""
    distances = order.scores == "distances"
    if distances:
        limit = None if order.threshold is None else -order.threshold
        order = replace(order, scores="double", threshold=limit)

    def read_block(asked: Ints) -> grid.Scores:
        scores, absent = block(asked)
        if distances:
            scores = np.where(scores == -np.inf, scores, -scores)
        scores = columns.reduce(scores)
        return scores, None if absent is None else np.count_nonzero(scores == -np.inf, axis=1)

    cells = max(1, grid.CELLS // shape[1]) * columns.count
    shape = shape[0], columns.count
    return grid.reduce_grid(qrels, shape, read_block, order, what="scores", cells=cells)


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
        number = {query: g for g, query in enumerate(self.queries)}
        group = np.array([number[query] for query in qrels.queries], np.int64)
        values, excluded = self._drop_excluded(qrels, values, group)
        owner = ragged.find_owners(self.offsets)
        position = np.empty(len(values), np.int64)  # of each item within its group
        position[self.place] = np.arange(len(values)) - self.offsets[owner]
        missing = ragged.count_flags(values[self.place] == -np.inf, owner, len(sizes))
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
        return hits.join(retrieved, np.arange(len(qrels)), len(qrels), excluded)

    def _drop_excluded(self, qrels: Qrels, values: Any, group: Ints) -> tuple[Any, Ints | None]:
        """Set the scores of items that are no candidates to -inf, and count these items."""
        pairs = find_candidates(qrels)
        if not pairs:
            return values, None
        values = values.copy()
        group_of = np.empty(len(values), np.int64)
        group_of[self.place] = ragged.find_owners(self.offsets)
        outside = np.zeros(len(values), bool)
        for name, one in pairs:
            at = find_columns(one, name, len(values))
            at = at[group_of[at] == group[ragged.find_owners(one.offsets)]]
            named = np.zeros(len(values), bool)
            named[at] = True
            outside |= ~named if name == "only" else named
        outside &= np.isin(group_of, group) & (values > -np.inf)
        values[outside] = -np.inf
        return values, np.bincount(group_of[outside], minlength=len(self.queries))[group]


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
        raise FormatError(
            f"group takes one group id for each item, or the sizes of groups; got {clip(given)}"
        )
    if any(isinstance(one, list) for one in ids):  # unhashable, as rows of an array
        raise FormatError(
            "group is flat: a group id for each item, or the sizes of groups; got "
            f"{clip(ids)}, of {len(ids)} rows. ravel() of an array flattens it."
        )
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
            f"group has length {len(ids)}{total}. Give {items} group ids, one for each item, or sizes "
            f"that sum to {items}."
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
    """The ids of the best K items (Q, K) of each query, and their scores, if these are given."""

    name = "run"

    def __init__(self, array: Any, scores: Any = None, *, collapsed: bool = False) -> None:
        self.array, self.scores, self.is_collapsed = array, scores, collapsed

    def list_items(self, query: Hashable) -> tuple[list[int], list[float]]:
        if not isinstance(query, int) or not 0 <= query < len(self.array):
            return [], []
        ids = read_ids(self.array[query])
        there = ids >= 0
        if self.scores is None:
            return ids[there].tolist(), []
        scores = numbers.to_numpy(self.scores[query], "the scores of top-k ids")
        return ids[there].tolist(), np.ma.getdata(scores)[there].tolist()

    def find_shape(self) -> tuple[int, int]:
        return len(self.array), int(_read_block(self.array).max()) + 1

    def check_items(self, item_ids: Sequence[Hashable]) -> None:
        ids = _read_block(self.array)
        if ids.max() >= len(item_ids):
            row, place = (int(at[0]) for at in np.nonzero(ids >= len(item_ids)))
            raise FormatError(
                f"run, row {row}, rank {place + 1}: {ids[row, place]} is no place in item_ids, which has "
                f"{len(item_ids)} ids. Rows of top-k ids are places from 0."
            )

    def count_rows(self) -> Ints:
        return np.asarray(np.count_nonzero(_read_block(self.array) >= 0, axis=1))

    def collapse_columns(
        self, groups: Groups, item_ids: Sequence[Hashable] | None
    ) -> tuple[NumberedRun, list[Any]]:
        ids = _read_block(self.array)
        _count(ids, np.arange(len(ids)), None)
        found, place = np.unique(ids, return_inverse=True)
        some = found[found >= 0].tolist()
        if groups.values is None:
            given = some if item_ids is None else [item_ids[at] for at in some]
            code, names = groups.number_columns(given, len(given))
        else:
            every, names = groups.number_columns(item_ids, len(groups.values))
            if some and some[-1] >= len(every):
                raise FormatError(
                    f"collapse= has {len(every)} groups, one for each item; the run has item {some[-1]}."
                )
            code = every[some]
        code = np.append(np.full(len(found) - len(some), -1), code)
        return TopIds(code[place.reshape(ids.shape)], self.scores, collapsed=True), names

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        ids = _read_block(self.array)
        scores = None if self.scores is None else _read_scores(self.scores, ids, order)
        if scores is None and order.scores == "distances":
            raise PolicyError(
                "scores=distances needs scores, but these are only ids. "
                "Give both, as a search returns them: (distances, ids)."
            )
        row = grid.find_rows(qrels, len(ids))
        asked = np.flatnonzero(row >= 0)
        items = Integers(grid.find_columns(qrels, None, "run"))
        width = qrels.width
        judged = add_candidates(
            Judgments(list(range(len(qrels))), qrels.offsets, items),
            [
                (name, one.offsets, Integers(find_columns(one, name, width)))
                for name, one in find_candidates(qrels)
            ],
        )
        copies = "max" if self.is_collapsed else duplicates
        reduction = Reduction(judged, copies, order)
        step = max(1, STEP // ids.shape[1])

        def reduce_rows(start: int) -> Part:
            queries = asked[start : start + step]
            at = ragged.as_slice(row[queries])
            batch = _make_batch(ids[at], queries, row, qrels.width)
            if scores is not None:
                batch = replace(batch, score=scores[at][ids[at] >= 0].astype(float))
            return reduction.reduce(batch)

        try:
            for part in map_in_threads(reduce_rows, range(0, len(asked), step)):
                reduction.add(part)
        except RepeatedItem as found:
            q: Any = found.query
            raise _explain_repeat(ids, int(row[q])) from None
        got = reduction.join(grid.list_unknown(row, len(ids)))
        return replace(got, sample=partial(_take_sample, ids))


def open_pair(given: Sequence[Any]) -> TopIds:
    """Open the scores and the ids of the best K items, in the order of FAISS or the other one."""
    shapes = [tuple(one.shape) for one in given]
    whole = [numbers.is_whole(one) for one in given]
    if shapes[0] != shapes[1] or sum(whole) != 1:
        shown = " and ".join(
            f"{one.dtype} {shape}" for one, shape in zip(given, shapes, strict=True)
        )
        raise FormatError(
            "a pair of arrays has the scores of the best K items, floating-point numbers, and their ids, "
            f"whole numbers, in one shape (queries, k); got {shown}"
        )
    ids, scores = given if whole[0] else reversed(given)
    return TopIds(ids, scores)


def _read_scores(given: Any, ids: Ints, order: Order) -> Any:
    """Read the scores of top-k ids, which fall in each row, or rise if they are distances."""
    scores = numbers.to_numpy(given, "the scores of top-k ids")
    there = ids >= 0
    numbers.check_finite(np.ma.masked_array(scores, ~there), "the scores of top-k ids")
    scores = np.ma.getdata(scores)
    beside = there[:, 1:] & there[:, :-1]
    distances = order.scores == "distances"
    worse = scores[:, 1:] < scores[:, :-1] if distances else scores[:, 1:] > scores[:, :-1]
    if (beside & worse).any():
        row, place = (int(at[0]) for at in np.nonzero(beside & worse))
        advice = (
            "Are they similarities? Then leave out scores=distances."
            if distances
            else "Are they distances? scores=distances says so."
        )
        raise FormatError(
            f"run, row {row}: the ids are given best first, but the score at rank {place + 2}, "
            f"{scores[row, place + 1]:g}, is better than that at rank {place + 1}, "
            f"{scores[row, place]:g}. {advice}"
        )
    return scores


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
            f"run, row {rows[row]}: -1 stands at rank {place + 1}, before item {ids[row, place + 1]}. -1 means no item, and is only allowed at the end of a row."
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
