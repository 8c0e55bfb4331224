"""Reads runs that are arrays, also flat ones in groups; their rows are places or have ids."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.calls import Progress, list_values
from germane.core.id_spelling import is_id, unwrap_ids
from germane.core.qrels import Order, Qrels, Retrieved, Sample, Source
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import DuplicateError, EmptyError, FormatError, clip, list_some
from germane.kernel.ids import Ids, Integers, is_missing, to_bytes, to_text
from germane.kernel.library import map_in_threads
from germane.kernel.reduction import Batch, Judgments, Part, Reduction, RepeatedItem, Results
from germane.readers.inputs import Faults, RunInput, explain_twice
from germane.readers.objects import numbers
from germane.readers.objects.item_ids import Axis, AxisIds, check_length
from germane.readers.objects.numbers import EXACT
from germane.readers.options.candidates import find_candidates
from germane.readers.rows import STEP, Rows

if TYPE_CHECKING:
    from germane.readers.options.item_groups import Groups


CELLS = 1 << 20  # scores that are held at once, which stay in the processor's cache
Read: TypeAlias = Callable[[Ints, Ints], Results]
"""Rows of an array, and the codes of their queries → their results."""


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """The judgments that a run is compared with, in the places of its array."""

    judged: Judgments
    rows: Ints  # Q, or -1
    order: Order
    width: int | None  # of the array of judgments, if they are one


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ArrayRun(RunInput):
    """A run whose queries and items are places in arrays; either may have ids."""

    is_array = True
    ties = "given"
    where = "run"
    has_all_items = True
    in_threads = False  # are blocks read in threads?

    queries: Axis
    items: Axis  # or groups of items
    name: str = "run"
    counts: Ints | None = None  # the results of each row before groups took the place of items
    codes: Ints | None = None  # the group of each item, where the array has all items

    @property
    def has_ids(self) -> bool:
        return self.items.ids is not None

    @property
    def is_text(self) -> bool:
        return self.items.is_text

    @property
    def has_query_ids(self) -> bool:
        return self.queries.ids is not None

    @property
    def is_collapsed(self) -> bool:
        return self.counts is not None

    def find_queries(self, wanted: object) -> set[Hashable]:
        """Find the ids of all rows, as text."""
        return {to_text(to_bytes(query)) for query in self.queries.ids or ()}

    # --- Of each kind of array ---

    def open_blocks(self, wanted: Asked | None) -> Read:
        """Prepare to read all results of rows or, for known judgments, what their ranks need."""
        raise NotImplementedError

    def split(self, rows: Ints, cells: int) -> Iterator[Ints]:
        """Split rows into blocks of about so many results: the places of some among these."""
        step = max(1, cells // max(1, self.width))
        yield from (
            np.arange(start, min(start + step, len(rows))) for start in range(0, len(rows), step)
        )

    @property
    def width(self) -> int:
        """The number of results of a row."""
        raise NotImplementedError

    def count_rows(self) -> Ints:
        """Count the results of each row."""
        raise NotImplementedError

    def collapse_items(self, groups: Groups) -> tuple[Self, list[Any]]:
        """Make a run of groups of items, and list the groups."""
        codes, names = groups.number_columns(self.items.ids, self.width)
        return replace(self, codes=codes), names

    def mask_faults(self, faults: Faults) -> Self:
        """Mask the cells that are no scores, or no ids, and note them as faults."""
        return self

    def place_items(self, items: Ints, rows: Ints, offsets: Ints) -> Ints:
        """Find the places of items among the results of their rows, -1 for none."""
        return items

    def list_items(self, places: Ints, rows: Ints) -> Ids:
        """List the items at some places of the results of rows."""
        return self.items.name(places)

    @property
    def sampler(self) -> Callable[[int], Sample] | None:
        """Takes the first results of the first rows as a sample, if they are the best."""
        return None

    # --- Of all of them ---

    def name_axes(self, query_ids: AxisIds | None, item_ids: AxisIds | None) -> Self:
        """Name rows and items, if neither has ids. Raises FormatError for another number of ids."""
        if self.queries.ids is not None or self.items.ids is not None:
            return self
        if query_ids is not None:
            check_length(query_ids, self.queries.size, "query_ids", "queries")
        if item_ids is not None:
            self.check_items(item_ids)
        return replace(
            self,
            queries=replace(self.queries, ids=query_ids),
            items=replace(self.items, ids=item_ids),
        )

    def check_items(self, item_ids: Sequence[Hashable]) -> None:
        """Raise FormatError unless there is an id for each item."""
        check_length(item_ids, self.width, "item_ids", "items")

    def _collapse(self, groups: Groups) -> Self:
        counts = self.count_rows()
        run, names = self.collapse_items(groups)
        items = Axis("groups", len(names), names, is_text=groups.is_text)
        return replace(run, items=items, counts=counts)

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: Progress | None = None
    ) -> Retrieved:
        rows = self.queries.find_rows(qrels)
        wanted = Asked(self._place_judgments(qrels, rows, order), rows, order, qrels.source.width)
        judged, labels = wanted.judged, None
        if order.equal != "given" and self.has_ids:  # by ids, in whose order labels are
            labels = self.items.label(order.equal)
            judged, order = judged.map_items(labels), replace(order, equal="id")
        reduction = Reduction(judged, self.decide_duplicates(duplicates), order)
        judged_rows, read = np.flatnonzero(rows >= 0), self.open_blocks(wanted)

        def reduce(block: Ints) -> Part:
            queries = judged_rows[block]
            batch = read(rows[queries], queries)
            return reduction.reduce(batch if labels is None else self._label(batch, labels))

        blocks, done = self.split(rows[judged_rows], CELLS), 0
        try:
            for part in (map_in_threads if self.in_threads else map)(reduce, blocks):
                reduction.add(part)
                done += len(part.code)
                if progress is not None:
                    progress(self.name, done, self.queries.size)
        except RepeatedItem as error:
            raise self._explain_repeat(error, rows, labels) from None
        retrieved = reduction.join(self.queries.list_others(rows))
        if self.counts is None and self.sampler is None:
            return retrieved
        counts = None if self.counts is None else np.append(self.counts, 0)[rows]
        return replace(retrieved, rows=counts, sample=self.sampler)

    def _place_judgments(self, qrels: Qrels, rows: Ints, order: Order) -> Judgments:
        """Find the places of judged items, candidates, and items with the id of their query."""

        def place(offsets: Ints, items: Ints) -> Judgments:
            places = Integers(self.place_items(items, rows, offsets))
            return Judgments(range(len(rows)), offsets, places)

        candidates = tuple(
            (name, place(pairs.offsets, self.items.find_pairs(pairs, name, qrels.ids)))
            for name, pairs in find_candidates(qrels)
        )
        own_places = None
        if order.own == "drop":
            places = self.items.find_own(self.queries.name(rows).python, qrels.ids)
            own_places = place(np.arange(len(rows) + 1), places)
        judged = place(qrels.offsets, self.items.find_judged(qrels))
        return replace(judged, candidates=candidates, own=own_places)

    def _label(self, batch: Any, labels: Ints) -> Batch:
        """Put labels in the place of items."""
        labeled: Batch = replace(batch, items=Integers(labels[batch.items.values]))
        return labeled

    def _explain_repeat(
        self, repeated_item: RepeatedItem, rows: Ints, labels: Ints | None
    ) -> DuplicateError:
        query: Any = repeated_item.query
        place: Any = repeated_item.item
        if labels is not None:
            place = int(np.flatnonzero(labels == place)[0])
        row = int(rows[query])
        batch: Any = self.open_blocks(None)(np.array([row]), np.zeros(1, np.int64))
        ranks = [rank for rank, item in enumerate(batch.items, 1) if item == place]
        item = self.items.name(np.array([place])).python[0]
        return explain_twice(f"run, row {row}", item, *ranks[:2])

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator[Rows]:
        if faults is not None:
            yield from self.mask_faults(faults).read_rows(judged, progress)
            return
        rows, read = np.arange(self.queries.size), self.open_blocks(None)
        if judged is not None:
            rows = self.queries.find_rows(judged)
            rows = rows[rows >= 0]
        for block in self.split(rows, STEP):
            batch: Any = read(rows[block], block)
            places = batch.items
            items = self.list_items(places.values, rows[block][batch.owner])
            yield Rows(self.queries.name(rows[block]), batch.offsets, items, batch.score)

    def select(self, qrels: Qrels, duplicates: str, progress: object = None) -> RunInput | None:
        return self if (self.queries.find_rows(qrels) >= 0).any() else None


# --- Scores -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScoreArray(ArrayRun):
    """Scores (Q, N): row q has those of query q. A masked cell is not retrieved."""

    scores: Any

    @property
    def width(self) -> int:
        return int(self.scores.shape[1])

    def mask_faults(self, faults: Faults) -> Self:
        scores = numbers.to_numpy(self.scores, "scores")
        return replace(self, scores=numbers.mask_faults(scores, "scores", faults))

    def count_rows(self) -> Ints:
        is_present = ~np.ma.getmaskarray(numbers.to_numpy(self.scores, "scores"))
        return np.asarray(np.count_nonzero(is_present, axis=1))

    def open_blocks(self, wanted: Asked | None) -> Read:
        scores = numbers.to_numpy(self.scores, "scores")
        is_masked = isinstance(scores, np.ma.MaskedArray)

        def read(rows: Ints, code: Ints) -> Batch:
            part = scores[ragged.as_slice(rows)]
            numbers.check_finite(part, "scores", rows=rows)
            is_present = ~np.ma.getmaskarray(part) if is_masked else None
            values = np.ma.getdata(part)
            if wanted is not None and wanted.order.plain:
                values = order_exactly(values)
            return make_batch(code, values, is_present, self.codes)

        return read


def make_batch(code: Ints, scores: Any, is_present: Bools | None, codes: Ints | None) -> Batch:
    """Make rows of the scores (B, N) of items, or of the groups (N) that stand for them.

    Equal scores keep the order of the columns. Of the rows of a group the best counts, as
    wherever copies are dropped.
    """
    columns = np.arange(scores.shape[1]) if codes is None else codes
    items = np.broadcast_to(columns, scores.shape)
    if is_present is None:
        offsets = np.arange(len(scores) + 1) * scores.shape[1]
        return Batch(code, offsets, Integers(items.ravel()), to_doubles(scores).ravel())
    offsets = ragged.make_offsets(np.count_nonzero(is_present, axis=1))
    return Batch(code, offsets, Integers(items[is_present]), to_doubles(scores[is_present]))


def to_doubles(scores: Any) -> Floats:
    return np.asarray(scores.astype(np.float64, copy=False))


def order_exactly(scores: Any) -> Any:
    """Replace numbers of more digits than a double has by others of the same order and ties."""
    if scores.dtype.itemsize < 8 or scores.dtype == np.float64:
        return scores
    if scores.dtype.kind in "iu":
        low, high = int(scores.min(initial=0)), int(scores.max(initial=0))
        if max(-low, high) <= EXACT:  # compared as Python does, without rounding
            return scores
    return np.unique(scores, return_inverse=True)[1].reshape(scores.shape)


def open_scores(raw: Any) -> ScoreArray:
    """Open an array of scores. Raises FormatError or EmptyError for another shape than (Q, N)."""
    shape = tuple(raw.shape)
    if len(shape) != 2:
        raise FormatError(
            f"scores have shape (queries, items); got {shape}.{numbers.advise_flat(raw)}"
        )
    if not all(shape):
        raise EmptyError(f"the run is empty: its shape is {shape}.")
    name = getattr(raw, "name", None)
    return ScoreArray(
        queries=Axis("query_ids", shape[0]),
        items=Axis("item_ids", shape[1], what="scores"),
        name=name if isinstance(name, str) else "run",
        scores=raw,
    )


# --- Flat arrays ----------------------------------------------------------------------------------
#
# Reads flat arrays of grades and scores in groups, whose items are numbered by their places.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FlatArray(ArrayRun):
    """A flat array: the items of group g are ``place[offsets[g]:offsets[g + 1]]``, ascending."""

    has_own_items = True

    values: Any
    offsets: Ints  # G + 1
    place: Ints

    @cached_property
    def _owner(self) -> tuple[Ints, Ints]:
        """The group of each place, and where it stands in its group."""
        group, position = np.empty((2, len(self.place)), np.int64)
        owner = ragged.find_owners(self.offsets)
        group[self.place], position[self.place] = owner, np.arange(len(owner)) - self.offsets[owner]
        return group, position

    def mask_faults(self, faults: Faults) -> Self:
        return replace(self, values=numbers.mask_faults(self.values, "scores", faults))

    def place_items(self, items: Ints, rows: Ints, offsets: Ints) -> Ints:
        group, position = self._owner
        is_own = (items >= 0) & (group[items] == np.repeat(rows, np.diff(offsets)))
        return np.where(is_own, position[items], -1)

    def list_items(self, places: Ints, rows: Ints) -> Ids:
        return Integers(self.place[self.offsets[rows] + places])

    def split(self, rows: Ints, cells: int) -> Iterator[Ints]:
        """Divide groups into blocks of about so many items."""
        before = np.cumsum(np.diff(self.offsets)[rows]) // cells
        yield from np.split(np.arange(len(rows)), np.flatnonzero(np.diff(before)) + 1)

    def open_blocks(self, wanted: Asked | None) -> Read:
        values = _read_floats(self.values, None if wanted is None else wanted.order)
        is_present = ~np.ma.getmaskarray(self.values)
        lengths = np.diff(self.offsets)

        def read(rows: Ints, code: Ints) -> Batch:
            place = self.place[ragged.list_stretches(self.offsets[rows], lengths[rows])]
            position = ragged.list_stretches(np.zeros(len(rows), np.int64), lengths[rows])
            present, owner = is_present[place], ragged.repeat_owners(lengths[rows])
            counts = ragged.count_flags(present, owner, len(rows))
            return Batch(
                code,
                ragged.make_offsets(counts),
                Integers(position[present]),
                to_doubles(values[place[present]]),
            )

        return read


def group_arrays(grades: Any, scores: Any, group: Any) -> tuple[FlatArray | None, FlatArray | None]:
    """Group flat arrays. ``group`` is a group id for each item, or the size of each group.

    Of these, one may be None, and stays None.
    """
    flat = [
        None if raw is None else numbers.to_numpy(raw, noun)
        for raw, noun in ((grades, "relevance"), (scores, "scores"))
    ]
    shapes = [array.shape for array in flat if array is not None]
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
    groups, places = Axis("group", len(queries), queries), Axis("", items, what="scores")
    axes: Any = {"queries": groups, "items": places, "offsets": offsets, "place": place}
    qrels, run = (None if array is None else FlatArray(values=array, **axes) for array in flat)
    return qrels, run


def _check_labels(arrays: dict[str, Any]) -> None:
    """Refuse pandas Series whose labels differ: matched by place, items would get wrong scores."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    labels = {
        name: array.index for name, array in arrays.items() if isinstance(array, pandas.Series)
    }
    for (first, mine), (second, theirs) in combinations(labels.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs):
            raise FormatError(
                f"{first} and {second} are Series with different labels:"
                f" {list_some(mine.tolist())} and {list_some(theirs.tolist())}."
                f" {second}.loc[{first}.index] brings them into the same order; to_numpy() on both"
                " pairs them by position."
            )


def _find_groups(raw: Any, items: int) -> tuple[list[Hashable], Ints]:
    """Find the ids of the groups in the order of their first items, and the group of each item."""
    ids = list_values(raw)
    if not isinstance(ids, (list, tuple)):
        raise FormatError(
            f"group takes one group id for each item, or the sizes of groups; got {clip(raw)}"
        )
    ids = unwrap_ids(ids)
    if any(isinstance(identifier, list) for identifier in ids):  # unhashable, as rows of an array
        raise FormatError(
            f"group is flat: a group id for each item, or the sizes of groups; got {clip(ids)},"
            f" with {len(ids)} rows. ravel() flattens an array."
        )
    if len(ids) == items:
        for group_id in () if {str, int}.issuperset(map(type, ids)) else ids:
            if isinstance(group_id, float) or not is_id(group_id) or is_missing(group_id):
                raise FormatError(f"a group's id is an integer or text; got {clip(group_id)}")
        codes = {identifier: code for code, identifier in enumerate(dict.fromkeys(ids))}
        return list(codes), np.fromiter(map(codes.__getitem__, ids), np.int64, items)
    are_sizes = all(isinstance(size, (int, np.integer)) and size >= 0 for size in ids)
    if not are_sizes or sum(ids) != items:
        total = f"; they sum to {sum(ids)}" if are_sizes else ""
        raise FormatError(
            f"group has length {len(ids)}{total}. Give {items} group ids, one for each item, or"
            f" sizes that sum to {items}."
        )
    return list(range(len(ids))), np.repeat(np.arange(len(ids)), ids)


def read_flat(flat_array: FlatArray, complete: str) -> Qrels:
    """Read flat grades; those above 0, unless ``complete`` names measures that need the others."""
    grades, place = flat_array.values, flat_array.place
    mend = "numpy.ma.masked_invalid(qrels) leaves them without a judgment"
    numbers.check_finite(grades, "relevance", "relevance grade", mend=mend)
    is_judged = ~np.ma.getmaskarray(grades)
    if not complete:
        is_judged &= np.ma.getdata(grades) > 0
    left = ragged.count_flags(
        is_judged[place], ragged.find_owners(flat_array.offsets), flat_array.queries.size
    )
    place = place[is_judged[place]]
    judged = np.ma.getdata(grades)[place].astype(float)
    numbers.check_range(judged, lambda row: f"relevance, item {place[row]}")
    return Qrels(
        list(flat_array.queries.ids or ()),
        ragged.make_offsets(left),
        Integers(place),
        judged,
        source=Source(width=len(grades)),
    )


def _read_floats(scores: Any, order: Order | None) -> Any:
    """Read flat scores, whose order and ties doubles keep."""
    numbers.check_finite(scores, "scores")
    values = np.ma.getdata(scores)
    return order_exactly(values) if order is not None and order.plain else values
