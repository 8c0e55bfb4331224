"""The reduction: what a run retrieved of the judgments, a batch of whole queries at a time.

``reduce`` is the one place where judged items are matched with rows and ranked. It runs in the
compiled kernel where there is one, and in plain NumPy and Arrow elsewhere.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.retrieved import COPIES, Order, Retrieved
from germane.errors import FormatError, PolicyError, clip
from germane.kernel import library, plain
from germane.kernel.columns import Categories, Ids, Text
from germane.kernel.ids import to_bytes


@dataclass(frozen=True, eq=False)
class Judgments:
    """The judgments that runs are matched with: those of query q are ``items[offsets[q]:offsets[q + 1]]``."""

    queries: Sequence[Hashable]
    offsets: Ints
    items: Ids


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of whole queries that are judged: group g has query ``code[g]`` and the rows
    ``offsets[g]:offsets[g + 1]``. Without scores the rows stand in the order of their ranks, or
    have a column of these."""

    code: Ints
    offsets: Ints
    items: Ids
    score: Floats | None
    rank: Ints | None = None

    @cached_property
    def owner(self) -> Ints:
        """The group of each row."""
        return ragged.find_owners(self.offsets)

    def take(self, kept: Ints) -> Batch:
        """Some of the rows, ascending."""
        lengths = np.bincount(self.owner[kept], minlength=len(self.code))
        score, rank = (None if one is None else one[kept] for one in (self.score, self.rank))
        return Batch(self.code, ragged.make_offsets(lengths), self.items.take(kept), score, rank)


class Hits(NamedTuple):
    """The judged rows of a batch, group by group, in the order of their ranks."""

    row: Ints
    judgment: Ints
    group: Ints
    rank: Ints  # from 1
    tied_from: Ints  # first and last rank of the group of equal scores
    tied_to: Ints


class Repeated(Exception):  # noqa: N818  (it says what was found; the reader makes the error)
    """A row whose item stands in an earlier row of its query."""

    def __init__(self, row: int, earlier: int) -> None:
        super().__init__(row, earlier)
        self.row, self.earlier = row, earlier


class RepeatedItem(Exception):  # noqa: N818  (it says what was found; the reader makes the error)
    """An item is retrieved twice for a query, and that is an error."""

    def __init__(self, query: Hashable, item: Hashable) -> None:
        super().__init__(query, item)
        self.query, self.item = query, item


class Scattered(Exception):  # noqa: N818  (not an error: the rows are then gathered)
    """The rows of a query do not stand together."""


def reduce(judged: Judgments, batch: Batch, *, by_id: bool = True, copies: bool = False) -> Hits:
    """Find the judged rows of a batch and their ranks.

    ``by_id``: equal scores stand in the order of their ids as text, from the last to the first;
    otherwise in the order of the rows. ``copies``: an item may have several rows, and each is a hit;
    otherwise the first such row raises Repeated.
    """
    if library.is_loaded():
        return _reduce_compiled(judged, batch, by_id, copies)
    row, judgment, repeat = plain.match_rows(judged, batch)
    if repeat is not None and not copies:
        raise Repeated(*repeat)
    rank, first, last = plain.rank_rows(batch, row, by_id)
    group = batch.owner[row]
    order = np.lexsort((rank, group))
    hits = (column[order] for column in (row, judgment, group, rank, first, last))
    return Hits(*hits)


def _reduce_compiled(judged: Judgments, batch: Batch, by_id: bool, copies: bool) -> Hits:
    try:
        found = library.reduce_rows(
            batch.items.column,
            batch.score,
            batch.offsets,
            batch.code,
            judged.items.column,
            judged.offsets,
            ties="id" if by_id else "place",
            repeats="keep" if copies else "refuse",
        )
    except library.RepeatedRowError as error:
        raise Repeated(error.row, error.other) from None
    return Hits(*found[:6])


def find_changes(ids: Ids) -> Ints:
    """The rows whose id is not the one before, the first row included."""
    if not library.is_loaded():
        return plain.find_changes(ids)
    if isinstance(ids, Categories):  # the entries differ, so that codes are compared
        return library.find_changes(library.Column.of_codes(ids.codes, None))
    return library.find_changes(ids.column)


def find_distinct(ids: Ids) -> tuple[Ints, Ints]:
    """The rows in which each id first appears, and for every row the place of its id among them."""
    if library.is_loaded():
        first = library.Index(ids.column).find(ids.column)
    else:
        first = plain.find_first_rows(ids)
    new = first == np.arange(len(first))
    return np.flatnonzero(new), (np.cumsum(new) - 1)[first]


class Index:
    """Ids that others are looked up among, again and again."""

    def __init__(self, ids: Ids) -> None:
        if library.is_loaded():
            self._index = library.Index(ids.column)
            self.distinct = self._index.distinct  # how many ids differ
        else:
            self._places = {one: place for place, one in enumerate(ids.python)}
            self.distinct = len(self._places)

    def find(self, wanted: Ids) -> Ints:
        """The place of each id, or -1."""
        if library.is_loaded():
            return self._index.find(wanted.column)
        first, number = find_distinct(wanted)  # of which many may be the same
        places = [self._places.get(one, -1) for one in wanted.take(first).python]
        return np.array(places, np.int64)[number]


# --- Batches of a run, put together ----------------------------------------------------------------


class Part(NamedTuple):
    """The outcome of a batch."""

    code: Ints  # its queries
    retrieved: Ints  # of each of them
    columns: tuple[Ints, Ints, Ints, Ints, Ints]  # judgment, owner, rank, tied_from, tied_to


class Reduction:
    """Reduces batches under the rules of a policy, and puts together what they come to."""

    def __init__(self, judged: Judgments, duplicates: str, order: Order) -> None:
        self.judged = judged
        self._duplicates, self._order = duplicates, order
        self._answered = np.zeros(len(judged.queries), bool)
        self._retrieved = np.zeros(len(judged.queries), np.int64)
        self._queries = 0  # that came so far
        self._parts: list[tuple[Ints, ...]] = []

    def reduce(self, batch: Batch) -> Part:
        """Reduce one batch; several threads may do so at once.

        Raises RepeatedItem where that is an error, and FormatError for ranks that are no order.
        """
        batch = admit_rows(self.judged, batch, self._order)
        try:
            batch, hits = self._find(batch)
        except (Repeated, FormatError):  # ranks may be odd because of copies that do not count
            batch, hits = self._find(self._drop_copies(batch))
        if self._order.nonpositive == "miss" and batch.score is not None:
            kept = batch.score[hits.row] > 0
            hits = Hits(*(column[kept] for column in hits))
        columns = (hits.judgment, batch.code[hits.group], hits.rank, hits.tied_from, hits.tied_to)
        return Part(batch.code, ragged.find_lengths(batch.offsets), columns)

    def _find(self, batch: Batch) -> tuple[Batch, Hits]:
        ordered = order_by_rank(batch, self.judged.queries)
        by_id, copies = self._order.equal == "id", self._duplicates in COPIES
        return ordered, reduce(self.judged, ordered, by_id=by_id, copies=copies)

    def _drop_copies(self, batch: Batch) -> Batch:
        """The rows that count where an item has several. Raises RepeatedItem where none may."""
        if self._duplicates in COPIES:
            return batch
        if self._duplicates != "error":
            return batch.take(choose_copies(batch, self._duplicates))
        row = find_repeat(batch)
        if row is not None:
            query = self.judged.queries[int(batch.code[batch.owner[row]])]
            raise RepeatedItem(query, batch.items[row])
        return batch

    def add(self, part: Part) -> None:
        """Keep what a batch came to. Raises Scattered for a query that came before."""
        code = part.code
        self._answered[code] = True
        self._queries += len(code)
        if np.count_nonzero(self._answered) < self._queries:
            raise Scattered
        self._retrieved[code] = part.retrieved
        if len(part.columns[0]):
            self._parts.append(part.columns)

    def result(self, unknown: list[Hashable]) -> Retrieved:
        """The judged items that the run retrieved; ``unknown``: its queries that nobody judged."""
        parts = self._parts or [(np.zeros(0, np.int64),) * 5]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        owner = columns[1]
        if (owner[1:] < owner[:-1]).any():
            order = np.argsort(owner, kind="stable")
            columns = [column[order] for column in columns]
        judgment, owner, rank, tied_from, tied_to = columns
        if np.array_equal(tied_from, tied_to):
            tied_from = tied_to = rank
        return Retrieved(
            judgment, owner, rank, tied_from, tied_to, self._retrieved, self._answered, unknown
        )


def admit_rows(judged: Judgments, batch: Batch, order: Order) -> Batch:
    """The rows that count as retrieved, their scores as precise as asked for."""
    if batch.score is None:
        if order.threshold is not None:
            raise PolicyError("threshold=… is for scores; the run has ranks alone.")
    elif order.scores != "double":
        score = order.precise(batch.score, batch.offsets)
        most = np.finfo(float).max  # for what is infinite in single precision
        batch = replace(batch, score=np.clip(score, -most, most))
    if order.takes_all:
        return batch
    kept: Bools = np.ones(len(batch.items), bool)
    if batch.score is not None:
        kept = order.above(batch.score)
    if order.own == "drop":
        own = [judged.queries[q] for q in batch.code.tolist()]
        at = np.arange(len(kept))
        if isinstance(batch.items, Text):  # few items are as long as their query
            sizes = np.array([len(to_bytes(query)) for query in own], np.int64)
            at = np.flatnonzero(batch.items.sizes == sizes[batch.owner])
        pairs = zip(batch.items.take(at).python, batch.owner[at].tolist(), strict=True)
        kept[at] &= np.fromiter((item != own[group] for item, group in pairs), bool, len(at))
    return batch.take(np.flatnonzero(kept))


def find_repeat(batch: Batch) -> int | None:
    """The first row whose item stands in an earlier row of its query."""
    nothing = Judgments(
        [], np.zeros(int(batch.code.max(initial=0)) + 2, np.int64), batch.items.part(0, 0)
    )
    try:
        reduce(nothing, batch)
    except Repeated as found:
        return found.row
    return None


def choose_copies(batch: Batch, duplicates: str) -> Ints:
    """The rows to keep where an item has several: its first, its last or its highest one."""
    key, _ = plain.key_rows(batch.owner, batch.items)
    rows = np.arange(len(key))
    best = {"first": rows, "last": -rows, "max": _order_lowest_first(batch)}[duplicates]
    order = np.lexsort((rows, best, key))
    chosen = np.ones(len(key), bool)
    chosen[1:] = key[order[1:]] != key[order[:-1]]
    kept: Ints = np.sort(order[chosen])
    return kept


def _order_lowest_first(batch: Batch) -> Floats | Ints:
    """A number that is lower, the better a row stands."""
    if batch.score is not None:
        return -batch.score
    return np.arange(len(batch.items)) if batch.rank is None else batch.rank


def split_queries(code: Ints, most: int) -> Iterator[tuple[Ints, Ints, slice]]:
    """Rows sorted by query, in stretches of whole queries of at most so many rows, where that can be.

    Yields the queries, their offsets within the stretch, and the stretch.
    """
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    ends = np.append(starts, len(code))
    cuts, group = [0], 0
    while group < len(starts):
        group = max(int(np.searchsorted(ends, ends[group] + most, "right")) - 1, group + 1)
        cuts.append(group)
    for begin, end in pairwise(cuts):
        inside = ends[begin : end + 1]
        yield code[starts[begin:end]], inside - inside[0], slice(int(inside[0]), int(inside[-1]))


def order_by_rank(batch: Batch, queries: Sequence[Hashable]) -> Batch:
    """The rows with scores that agree with their ranks; without scores, in the order of the ranks.

    Raises FormatError for ranks that are no order, or that scores contradict.
    """
    if batch.rank is None:
        return batch
    order, rank = None, batch.rank
    falling = rank[1:] <= rank[:-1]
    falling[ragged.take_lasts(batch.offsets)] = False
    owner, score = batch.owner, batch.score
    if falling.any():
        order = np.lexsort((rank, owner) if score is None else (-score, rank, owner))
        ordered = rank[order]
        odd = np.flatnonzero((owner[1:] == owner[:-1]) & (ordered[1:] == ordered[:-1]))
        if len(odd) and score is None:
            raise _explain_same_rank(batch, queries, order[odd[0] : odd[0] + 2])
    if score is None:
        if order is None:
            return batch
        return replace(batch, items=batch.items.take(order), rank=None)
    arranged = score if order is None else score[order]
    rising = arranged[1:] > arranged[:-1]
    rising[ragged.take_lasts(batch.offsets)] = False
    odd = np.flatnonzero(rising)
    if len(odd):
        pair = np.arange(odd[0], odd[0] + 2)
        raise _explain_contradiction(batch, queries, pair if order is None else order[pair])
    return batch


def _explain_same_rank(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    one, other = batch.items.take(pair)
    return FormatError(
        f"run, query {clip(query)}: items {clip(one)} and {clip(other)} have the same rank, "
        f"{batch.rank[pair[0]]}. The ranks of a query's items differ; equal scores, without ranks, are ties."
    )


def _explain_contradiction(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.score is not None
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    (one, other), rank, score = batch.items.take(pair), batch.rank[pair], batch.score[pair]
    return FormatError(
        f"run, query {clip(query)}: ranks and scores contradict each other: item {clip(one)} has "
        f"rank {rank[0]} and score {score[0]:g}, item {clip(other)} rank {rank[1]} and score "
        f"{score[1]:g}. columns={{'rank': None}} goes by the scores, columns={{'score': None}} by the "
        "ranks."
    )
