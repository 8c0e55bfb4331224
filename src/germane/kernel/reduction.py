"""Reduces a run to the judged items that it retrieved, a batch of whole queries at a time.

``reduce`` matches judged items with rows and ranks them: in the compiled kernel if there is one,
else in plain NumPy and Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from germane.core import ragged
from germane.core.qrels import COPIES, EMPTYING, ONE_COPY, Order, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import FormatError, PolicyError, clip, write_option
from germane.kernel import library, plain
from germane.kernel.ids import Categories, Ids, Integers, Text, mark_padding, spell_id, to_bytes
from germane.kernel.keys import Keys, reduce_keys
from germane.kernel.library import Hits, RepeatedRowError


@dataclass(frozen=True, eq=False)
class Judgments:
    """The judgments of a run: those of query q are ``items[offsets[q]:offsets[q + 1]]``."""

    queries: Sequence[Hashable]
    offsets: Ints
    items: Ids
    candidates: tuple[tuple[str, Judgments], ...] = ()  # pairs that select rows, of these queries
    own: Judgments | None = None  # the items with the id of their query, where others number them
    of_text: bool = False  # does an integer equal its digits, as beside a file of text?

    def map_items(self, numbers: Ints) -> Judgments:
        """Give each item, which is a place, its number."""
        places: Ints = self.items.values  # type: ignore[attr-defined]
        candidates = tuple((name, pairs.map_items(numbers)) for name, pairs in self.candidates)
        own = self.own and self.own.map_items(numbers)
        return replace(self, items=Integers(numbers[places]), candidates=candidates, own=own)


def add_candidates(judged: Judgments, pairs: Sequence[tuple[str, Ints, Ids]]) -> Judgments:
    """Add the candidates, in the ids of the run."""
    candidates = (
        (name, Judgments(judged.queries, offsets, items)) for name, offsets, items in pairs
    )
    return replace(judged, candidates=tuple(candidates)) if pairs else judged


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of whole queries that are judged: group g has query ``code[g]`` and the rows
    ``offsets[g]:offsets[g + 1]``. Without scores the rows are in the order of their ranks, or there
    is a column of ranks."""

    code: Ints
    offsets: Ints
    items: Ids
    score: Floats | None
    rank: Ints | None = None
    is_converted: bool = False  # do the scores differ from those that the dicts of keys hold?
    are_places: bool = False  # are ranks places in a list, which close up where rows leave it?

    @cached_property
    def owner(self) -> Ints:
        """The group of each row."""
        return ragged.find_owners(self.offsets)

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.items)

    @cached_property
    def lengths(self) -> Ints:
        """The number of rows of each query."""
        return ragged.find_lengths(self.offsets)

    def find(self, pairs: Judgments) -> Ints:
        """Find the rows of pairs of query and item."""
        rows = Batch(self.code, self.offsets, self.items, None)
        return reduce(pairs, rows, ties="given", repeats="keep").row

    def keep(self, marks: Bools) -> Self:
        """Keep some of the rows."""
        return self if marks.all() else self.take(np.flatnonzero(marks))

    def convert(self, order: Order) -> Self:
        """Convert the scores to the precision asked for, so that higher ones are better."""
        assert self.score is not None
        largest = np.finfo(float).max  # instead of infinity in single precision
        score = np.clip(order.convert_scores(self.score, self.offsets), -largest, largest)
        return replace(self, score=score, is_converted=True)

    def take(self, rows: Ints) -> Self:
        """Keep some of the rows. Their numbers ascend."""
        lengths = np.bincount(self.owner[rows], minlength=len(self.code))
        rank = self._close_up(rows) if self.are_places else self.rank
        score, rank = (None if column is None else column[rows] for column in (self.score, rank))
        offsets, items = ragged.make_offsets(lengths), self.items.take(rows)
        return replace(self, offsets=offsets, items=items, score=score, rank=rank)

    def _close_up(self, rows: Ints) -> Ints | None:
        """Close up the ranks of rows of which some are kept: each by those left out above it."""
        if self.rank is None or not len(self.rank):
            return self.rank
        left_out = np.ones(len(self.rank), np.int64)
        left_out[rows] = 0
        order = np.lexsort((self.rank, self.owner))
        above = np.cumsum(left_out[order]) - left_out[order]
        above -= above[np.minimum(self.offsets[:-1], len(order) - 1)][self.owner]
        closed: Ints = self.rank.copy()
        closed[order] -= above.astype(closed.dtype)
        return closed


class Ranked(Protocol):
    """Results that a reader ranks by itself, since their scores are not all computed."""

    @property
    def code(self) -> Ints:
        """The queries."""

    @property
    def score(self) -> Any:
        """The score of each cell."""

    @property
    def size(self) -> int:
        """The number of cells."""

    @property
    def lengths(self) -> Ints:
        """The number of results of each query."""

    def find(self, pairs: Judgments) -> Ints:
        """Find the cells of pairs of query and item."""

    def keep(self, marks: Bools) -> Self:
        """Keep some of the cells."""

    def collapse(self) -> Self:
        """Give each group the best score of its items."""

    def reduce(self, judged: Judgments) -> Hits:
        """Find the judged cells and their ranks."""


Results: TypeAlias = Batch | Ranked
B = TypeVar("B", Batch, Ranked)


class RepeatedItem(Exception):  # noqa: N818  (the reader makes the user's error of it)
    """An item is retrieved twice for a query, and that is an error."""

    def __init__(self, query: Hashable, item: Hashable) -> None:
        super().__init__(query, item)
        self.query, self.item = query, item


class Scattered(Exception):  # noqa: N818  (not an error: the rows are then gathered)
    """The rows of a query do not follow each other."""


def reduce(
    judged: Judgments,
    batch: Batch,
    *,
    ties: str = "id",
    repeats: Literal["refuse", "keep"] = "refuse",
    needs_rows: bool = True,
) -> Hits:
    """Find the judged rows of a batch and their ranks.

    Equal scores are ordered by their ids as text, from the last to the first, as they are given, or
    in another order of ``ROW_KEYS``. An item may have several rows if repeats are kept, and
    each row is a hit; otherwise the first such row raises RepeatedRowError. Rows that are not
    needed may be -1.
    """
    if isinstance(batch.items, Keys):
        return reduce_keys(judged, batch, ties=ties, repeats=repeats, needs_rows=needs_rows)
    if library.is_loaded() and ties in library.TIES:
        rows = batch.items.column, batch.score, batch.offsets, batch.code
        wanted = judged.items.column, judged.offsets
        return library.reduce_rows(*rows, *wanted, ties=ties, repeats=repeats)
    row, judgment, repeat = plain.match_rows(judged, batch)
    if repeat is not None and repeats == "refuse":
        raise RepeatedRowError(*repeat)
    rank, first, last = plain.rank_rows(batch, row, ties)
    group = batch.owner[row]
    order = np.lexsort((rank, group))
    return Hits(*(column[order] for column in (row, judgment, group, rank, first, last)))


def find_changes(ids: Ids) -> Ints:
    """Find the rows whose id differs from that of the row before, the first row included."""
    if not library.is_loaded():
        return plain.find_changes(ids)
    if isinstance(ids, Categories):  # whose entries are distinct
        return library.find_changes(library.Column.of_codes(ids.codes, None))
    return library.find_changes(ids.column)


def find_distinct(ids: Ids) -> tuple[Ints, Ints]:
    """Find the first row of each distinct id, and for every row the place of its id among these."""
    if library.is_loaded():
        first = library.Index(ids.column).find(ids.column)
    else:
        first = plain.find_first_rows(ids)
    new = first == np.arange(len(first))
    return np.flatnonzero(new), (np.cumsum(new) - 1)[first]


class Index:
    """Ids in which others are looked up."""

    def __init__(self, ids: Ids) -> None:
        if library.is_loaded():
            self._index = library.Index(ids.column)
            self.distinct = self._index.distinct  # the number of different ids
        else:
            self._places = {identifier: place for place, identifier in enumerate(ids.python)}
            self.distinct = len(self._places)

    def find(self, wanted: Ids) -> Ints:
        """Find the place of each id, or -1."""
        if library.is_loaded():
            return self._index.find(wanted.column)
        first, number = find_distinct(wanted)  # many ids may be the same
        places = [self._places.get(identifier, -1) for identifier in wanted.take(first).python]
        return np.array(places, np.int64)[number]


def open_index(ids: Ids) -> Callable[[bool], Index]:
    """Make a function that indexes ids once as they are, or with True as text."""
    return cache(lambda as_text: Index(ids.as_text() if as_text else ids))


# --- The batches of a run ---------------------------------------------------------------------


Columns: TypeAlias = tuple[Ints, Ints, Ints, Ints, Ints]
"""The judgment, the owner, and the three ranks of hits."""


class Part(NamedTuple):
    """The result of a batch."""

    code: Ints  # the queries
    retrieved: Ints  # the number of rows of each query
    columns: Columns
    counted: dict[str, Ints]  # COUNTED of these queries, as far as the rules ask for them
    rows: Ints  # the number of rows of each query that were read, without padding
    missed: Columns | None  # those of judged rows that are no hits for their scores


class Reduction:
    """Reduces the batches of a run under the rules of a policy, and joins their results."""

    def __init__(self, judged: Judgments, duplicates: str, order: Order) -> None:
        self.judged = judged
        self._duplicates, self._order = duplicates, order
        self._answered = np.zeros(len(judged.queries), bool)
        self._retrieved, self.rows = np.zeros((2, len(judged.queries)), np.int64)
        self._counted: dict[str, Ints] = {}
        self._queries = 0  # so far
        self._parts: list[Columns] = []
        self._missed: list[Columns] | None = None

    def reduce(self, batch: Results) -> Part:
        """Reduce one batch; several threads may do so at once.

        Raises RepeatedItem if that is an error, and FormatError for items with the same rank.
        """
        counted: dict[str, Ints] = {}
        if not isinstance(batch, Batch):
            rows = batch.lengths
            batch = self.select(batch, counted).collapse()
            hits = batch.reduce(self.judged)
        else:
            if batch.rank is not None and batch.score is None:
                batch = _read_places(batch, self._order)
                if not batch.are_places:
                    counted["gaps"] = _find_lasts(batch) > batch.lengths
            batch = drop_padding(batch, self._order)
            rows = batch.lengths
            batch, hits = self._reduce_rows(self.select(batch, counted))
        missed = None
        if self._order.nonpositive == "miss" and batch.score is not None:
            is_hit = batch.score[hits.row] > 0
            missed = _list_columns(batch, Hits(*(column[~is_hit] for column in hits)))
            of_query = partial(np.bincount, minlength=len(batch.code))
            lost = (of_query(hits.group) > 0) & (of_query(hits.group[is_hit]) == 0)
            _note_emptied(counted, lost, "nonpositive")
            hits = Hits(*(column[is_hit] for column in hits))
        lengths = batch.lengths
        if isinstance(batch, Batch) and batch.are_places:
            lengths = np.maximum(lengths, _find_lasts(batch))  # the last place that is known
        return Part(batch.code, lengths, _list_columns(batch, hits), counted, rows, missed)

    def select(self, batch: B, counted: dict[str, Ints]) -> B:
        """Select the rows that count, and note how many are left out and which lists they empty."""
        selected, excluded = select_candidates(self.judged, batch)
        if excluded is not None:
            counted["excluded"] = excluded
            _note_emptied(counted, (batch.lengths > 0) & (selected.lengths == 0), "candidates")
        admitted = admit_rows(self.judged, selected, self._order)
        if not self._order.takes_all:
            _note_emptied(counted, (selected.lengths > 0) & (admitted.lengths == 0), "order")
        return admitted

    def _reduce_rows(self, batch: Batch) -> tuple[Batch, Hits]:
        try:
            return self._find(batch)
        except (RepeatedRowError, FormatError):  # odd ranks may be those of copies
            return self._find(self._drop_copies(batch))

    def _find(self, batch: Batch) -> tuple[Batch, Hits]:
        ordered = order_by_rank(batch, self.judged.queries)
        hits = reduce(
            self.judged,
            ordered,
            ties=self._order.equal,
            repeats="keep" if self._duplicates in COPIES else "refuse",
            needs_rows=self._order.nonpositive == "miss" or ordered.are_places,
        )
        if ordered.are_places:
            assert ordered.rank is not None
            place = ordered.rank[hits.row].astype(np.int64)
            hits = hits._replace(rank=place, tied_from=place, tied_to=place)
        return ordered, hits

    def _drop_copies(self, batch: Batch) -> Batch:
        """Drop all but one of the rows of an item. Raises RepeatedItem if that is an error."""
        if self._duplicates in COPIES:
            return batch
        if self._duplicates != "error":
            return batch.take(choose_copies(batch, self._duplicates))
        return drop_repeats(batch, self.judged.queries, self._duplicates)

    def add(self, part: Part) -> None:
        """Add the result of a batch. Raises Scattered if an earlier one had one of its queries."""
        query_numbers = part.code
        self._answered[query_numbers] = True
        self._queries += len(query_numbers)
        if np.count_nonzero(self._answered) < self._queries:
            raise Scattered
        self._retrieved[query_numbers], self.rows[query_numbers] = part.retrieved, part.rows
        for name, counts in part.counted.items():
            self._counted.setdefault(name, np.zeros_like(self._retrieved))[query_numbers] = counts
        if len(part.columns[0]):
            self._parts.append(part.columns)
        if part.missed is not None:
            self._missed = [*(self._missed or ()), part.missed]

    def join(self, unknown: list[Hashable], **beside: Any) -> Retrieved:
        """Join the results. ``unknown``: the run's queries without judgments."""
        hits = _join_columns(self._parts)
        totals = self._retrieved, self._answered
        missed = None
        if self._missed is not None:
            missed = Retrieved(*_join_columns(self._missed), *totals, [])
        beside |= self._counted
        return Retrieved(*hits, *totals, unknown, missed=missed, **beside)


def _list_columns(batch: Results, hits: Hits) -> Columns:
    return hits.judgment, batch.code[hits.group], hits.rank, hits.tied_from, hits.tied_to


def _join_columns(parts: Sequence[Columns]) -> Columns:
    """Join the columns of batches in the order of their queries."""
    none = np.zeros(0, np.int64)
    columns = list(parts[0]) if parts else [none] * 5
    if len(parts) > 1:
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    owner = columns[1]
    if (owner[1:] < owner[:-1]).any():
        order = np.argsort(owner, kind="stable")
        columns = [column[order] for column in columns]
    judgment, owner, rank, tied_from, tied_to = columns
    if tied_from is tied_to or np.array_equal(tied_from, tied_to):
        tied_from = tied_to = rank
    return judgment, owner, rank, tied_from, tied_to


def _note_emptied(counted: dict[str, Ints], emptied: Bools, by: str) -> None:
    """Note what took all results of some queries."""
    counted["emptied"] = counted.get("emptied", 0) + emptied * EMPTYING.index(by)


def _find_lasts(batch: Batch) -> Ints:
    """Find the highest rank of each query; 0 of one without rows."""
    assert batch.rank is not None
    lasts, filled = np.zeros(len(batch.code), np.int64), np.flatnonzero(batch.lengths)
    if len(filled):
        lasts[filled] = np.maximum.reduceat(batch.rank, batch.offsets[filled])
    return lasts


def _read_places(batch: Batch, order: Order) -> Batch:
    """Take ranks as places, if the order says so."""
    return replace(batch, are_places=True) if order.ranks == "places" else batch


def select_rows(judged: Judgments, batch: Batch, duplicates: str, order: Order) -> Batch:
    """Select the rows that take a rank: those without scores are in the order of their ranks.

    Raises RepeatedItem if that is an error, and FormatError for items with the same rank.
    """
    if batch.rank is not None:
        batch = _read_places(batch, order)
    batch, _ = select_candidates(judged, drop_padding(batch, order))
    batch = admit_rows(judged, batch, order)
    if duplicates not in COPIES:
        batch = drop_repeats(batch, judged.queries, duplicates)
    return order_by_rank(batch, judged.queries)


def drop_padding(batch: Batch, order: Order) -> Batch:
    """Drop the rows that only fill up a list, before anything else looks at them."""
    return batch.keep(~mark_padding(batch.items)) if order.padding == "drop" else batch


def select_candidates(judged: Judgments, batch: B) -> tuple[B, Ints | None]:
    """Select the rows whose items are candidates, and count the others of each query."""
    if not judged.candidates:
        return batch, None
    selected = batch.keep(mark_candidates(judged, batch))
    return selected, batch.lengths - selected.lengths


def mark_candidates(judged: Judgments, batch: Results) -> Bools:
    """Mark the rows whose items are candidates."""
    marks = np.ones(batch.size, bool)
    for name, pairs in judged.candidates:
        is_pair = np.zeros(len(marks), bool)
        is_pair[batch.find(pairs)] = True
        marks &= is_pair if name == "only" else ~is_pair
    return marks


def admit_rows(judged: Judgments, batch: B, order: Order) -> B:
    """Keep the rows that count as retrieved, with scores in the precision asked for."""
    if batch.score is None:
        if order.scores == "distances":
            raise PolicyError(
                f"{write_option('scores', 'distances')} is for scores, but the run has only ranks."
            )
        if order.least is not None:
            least = write_option("min_score", "…")
            raise PolicyError(f"{least} is for scores, but the run has only ranks.")
    elif order.ranks == "places":
        raise PolicyError(
            f"{write_option('ranks', 'places')} is for ranks, but the run has scores, which decide"
            " the order. Give the columns query, item and rank;"
            f" {write_option('columns', {'score': None})} leaves out a column of scores."
        )
    elif order.scores != "double":
        assert isinstance(batch, Batch)  # where a reader ranks, scores are as they are computed
        batch = batch.convert(order)
    return batch if order.takes_all else batch.keep(mark_admitted(judged, batch, order))


def mark_admitted(judged: Judgments, batch: Results, order: Order) -> Bools:
    """Mark the rows that count as retrieved, whose scores are converted."""
    marks: Bools = np.ones(batch.size, bool)
    if batch.score is not None:
        marks = order.reach_least(batch.score.astype(float, copy=False))
    if order.own == "drop":
        marks[_find_own(judged, batch)] = False
    return marks


def _find_own(judged: Judgments, batch: Results) -> Ints:
    """Find the rows whose item has the id of its query."""
    if judged.own is not None or not isinstance(batch, Batch):
        assert judged.own is not None
        return batch.find(judged.own)
    spell = spell_id if judged.of_text else _keep
    query_ids = [spell(judged.queries[q]) for q in batch.code.tolist()]
    rows = np.arange(len(batch.items))
    if isinstance(batch.items, Text):  # few items are as long as their query
        sizes = np.array([len(to_bytes(query)) for query in query_ids], np.int64)
        rows = np.flatnonzero(batch.items.sizes == sizes[batch.owner])
    pairs = zip(batch.items.take(rows).python, batch.owner[rows].tolist(), strict=True)
    own_rows: Ints = rows[
        np.fromiter((spell(item) == query_ids[group] for item, group in pairs), bool, len(rows))
    ]
    return own_rows


def _keep(identifier: Hashable) -> Hashable:
    return identifier


def find_repeat(batch: Batch) -> int | None:
    """Find the first row whose item an earlier row of its query has, too."""
    if isinstance(batch.items, Keys):
        repeat = batch.items.find_repeat()
        return None if repeat is None else repeat[0]
    nothing = Judgments(
        [], np.zeros(int(batch.code.max(initial=0)) + 2, np.int64), batch.items.part(0, 0)
    )
    try:
        reduce(nothing, batch)
    except RepeatedRowError as repeat:
        return repeat.row
    return None


def has_repeat(offsets: Ints, items: Ids, numbers: Floats) -> bool:
    """Does an item stand twice among the rows of a query?"""
    batch = Batch(np.arange(len(offsets) - 1), offsets, items, numbers)
    return find_repeat(batch) is not None


EVERY = "every"  # no choice of a caller's: an interaction that is repeated counts again


def drop_repeats(batch: Batch, queries: Sequence[Hashable], duplicates: str) -> Batch:
    """Keep one row of each item: the first, the last or the highest; or every row.

    Raises RepeatedItem for a repeated item if ``duplicates`` is none of these. ``queries`` are
    those that ``batch.code`` numbers.
    """
    row = None if duplicates == EVERY else find_repeat(batch)
    if row is None:
        return batch
    if duplicates not in ONE_COPY:
        raise RepeatedItem(queries[int(batch.code[batch.owner[row]])], batch.items[row])
    return batch.take(choose_copies(batch, duplicates))


def choose_copies(batch: Batch, duplicates: str) -> Ints:
    """Choose one row of each item: its first, its last or its highest one."""
    key, _ = plain.key_rows(batch.owner, batch.items)
    rows = np.arange(len(key))
    best = {"first": rows, "last": -rows, "max": _order_lowest_first(batch)}[duplicates]
    order = np.lexsort((rows, best, key))
    chosen = np.ones(len(key), bool)
    chosen[1:] = key[order[1:]] != key[order[:-1]]
    chosen_rows: Ints = np.sort(order[chosen])
    return chosen_rows


def _order_lowest_first(batch: Batch) -> Floats | Ints:
    """A number for each row that is lower for better rows."""
    if batch.score is not None:
        return -batch.score
    return np.arange(len(batch.items)) if batch.rank is None else batch.rank


def split_queries(code: Ints, most_rows: int) -> Iterator[tuple[Ints, Ints, slice]]:
    """Split rows, sorted by query, into stretches of whole queries of at most ``most`` rows.

    A longer query is a stretch of its own. Yields the queries, their offsets within the stretch,
    and the stretch.
    """
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    ends = np.append(starts, len(code))
    cuts, group = [0], 0
    while group < len(starts):
        group = max(int(np.searchsorted(ends, ends[group] + most_rows, "right")) - 1, group + 1)
        cuts.append(group)
    for begin, end in pairwise(cuts):
        inside = ends[begin : end + 1]
        yield code[starts[begin:end]], inside - inside[0], slice(int(inside[0]), int(inside[-1]))


def order_by_rank(batch: Batch, queries: Sequence[Hashable]) -> Batch:
    """Check ranks against scores; without scores, sort the rows by rank.

    Raises FormatError for items with the same rank, for ranks that contradict the scores, and for
    those that are no places.
    """
    if batch.rank is None:
        return batch
    if batch.are_places and len(batch.rank) and batch.rank.min() < 1:
        raise _explain_no_place(batch, queries, int(batch.rank.argmin()))
    order, rank = None, batch.rank
    falling = rank[1:] <= rank[:-1]
    falling[ragged.take_lasts(batch.offsets)] = False
    owner, score = batch.owner, batch.score
    if falling.any():
        order = np.lexsort((rank, owner) if score is None else (-score, rank, owner))
        ordered = rank[order]
        rises = np.flatnonzero((owner[1:] == owner[:-1]) & (ordered[1:] == ordered[:-1]))
        if len(rises) and score is None:
            raise _explain_same_rank(batch, queries, order[rises[0] : rises[0] + 2])
    if score is None:
        if order is None:
            return batch
        return replace(batch, items=batch.items.take(order), rank=rank[order])
    arranged = score if order is None else score[order]
    rising = arranged[1:] > arranged[:-1]
    rising[ragged.take_lasts(batch.offsets)] = False
    rises = np.flatnonzero(rising)
    if len(rises):
        pair = np.arange(rises[0], rises[0] + 2)
        raise _explain_contradiction(batch, queries, pair if order is None else order[pair])
    return batch


def _explain_no_place(batch: Batch, queries: Sequence[Hashable], row: int) -> FormatError:
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[row]])]
    return FormatError(
        f"run, query {clip(query)}: item {clip(batch.items[row])} has rank {batch.rank[row]}, but"
        f" {write_option('ranks', 'places')} counts places from 1. If ranks count from 0, add 1 to"
        " them."
    )


def _explain_same_rank(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    first, second = batch.items.take(pair)
    return FormatError(
        f"run, query {clip(query)}: items {clip(first)} and {clip(second)} have the same rank,"
        f" {batch.rank[pair[0]]}. The items of a query must have different ranks. For ties, give"
        " equal scores instead of ranks."
    )


def _explain_contradiction(batch: Batch, queries: Sequence[Hashable], pair: Ints) -> FormatError:
    assert batch.score is not None
    assert batch.rank is not None
    query = queries[int(batch.code[batch.owner[pair[0]]])]
    (first, second), rank, score = batch.items.take(pair), batch.rank[pair], batch.score[pair]
    return FormatError(
        f"run, query {clip(query)}: ranks and scores contradict each other: item {clip(first)} has"
        f" rank {rank[0]} and score {score[0]:g}, item {clip(second)} rank {rank[1]} and score"
        f" {score[1]:g}. {write_option('columns', {'rank': None})} goes by the scores, and"
        f" {write_option('columns', {'score': None})} by the ranks."
    )
