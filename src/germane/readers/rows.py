"""Reduces runs that are rows of query, item, and score or rank; and reads their whole lists."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from germane.core import ragged, ties
from germane.core.calls import ProgressNote
from germane.core.policy import Policy
from germane.core.qrels import Order, Qrels, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    clip,
    has_arrow,
    write_option,
)
from germane.kernel import plain
from germane.kernel.content import Content, Hasher, hash_rows
from germane.kernel.ids import (
    Ids,
    Integers,
    Text,
    advise_repeat,
    join_ids,
    read_arrow_text,
    read_arrow_values,
    read_python_ids,
    spell_id,
    to_bytes,
    to_text,
)
from germane.kernel.keys import Keys
from germane.kernel.library import map_in_threads
from germane.kernel.reduction import (
    Batch,
    Index,
    Judgments,
    Part,
    Reduction,
    RepeatedItem,
    Scattered,
    add_candidates,
    find_changes,
    find_distinct,
    select_rows,
    split_queries,
)
from germane.readers.files import streams
from germane.readers.files.streams import Spill
from germane.readers.inputs import RunInput
from germane.readers.objects import arrow
from germane.readers.objects.item_ids import judge_keys
from germane.readers.options.candidates import Candidates, find_candidates, match_items

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.inputs import RunInput
    from germane.readers.objects.frames import Frame
    from germane.readers.options.item_groups import Groups


P = TypeVar("P")

STEP = 1 << 18  # rows that are reduced at once; they stay in the processor's cache
IN_MEMORY = " (its queries are scattered: sorted in memory)"
ON_DISK = " (its queries are scattered: sorted on disk)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with scores, ranks or both. A stretch, offsets[s]:offsets[s + 1], is of queries[s]."""

    queries: Sequence[Hashable]
    offsets: Ints
    items: Ids
    score: Floats | None
    rank: Floats | Ints | None = None
    line: Ints | None = None  # the number of each row or line, where faults are noted

    def split(self) -> Iterator[Rows]:
        """Split the rows into parts of whole stretches, of about STEP rows."""
        starts = np.searchsorted(self.offsets, np.arange(0, len(self.items), STEP))
        for begin, end in pairwise(
            [*np.unique(starts[starts < len(self.queries)]), len(self.queries)]
        ):
            yield self.take(np.arange(begin, end))

    def select(self, queries: Index) -> Rows:
        """Select the rows of some queries."""
        return self.take(np.flatnonzero(queries.find(read_python_ids(self.queries)) >= 0))

    def take(self, stretches: Ints) -> Rows:
        """Select the rows of some stretches."""
        lengths = ragged.find_lengths(self.offsets)[stretches]
        rows = ragged.as_slice(ragged.list_stretches(self.offsets[stretches], lengths))
        if isinstance(self.queries, Ids):
            queries: Sequence[Hashable] = self.queries.take(stretches)
        else:
            queries = [self.queries[s] for s in stretches.tolist()]
        if isinstance(rows, slice):
            items = self.items.part(rows.start, rows.stop)
        else:
            items = self.items.take(rows)
        score, rank = (
            None if column is None else column[rows] for column in (self.score, self.rank)
        )
        return Rows(queries, ragged.make_offsets(lengths), items, score, rank)


def list_judgments(qrels: Qrels) -> Rows:
    """List judgments as rows, of which the queries without a judgment have none."""
    none = np.full(len(qrels.unjudged), qrels.offsets[-1])
    queries = [*qrels.queries, *qrels.unjudged]
    items = qrels.items if isinstance(qrels.items, Ids) else Keys([qrels.items])
    return Rows(queries, np.append(qrels.offsets, none), items, qrels.grades)


def judge_text(qrels: Qrels) -> Judgments:
    """Spell all ids of the judgments as text, as in a file of text."""
    queries = [
        query if isinstance(query, str) and query.isascii() else to_text(to_bytes(query))
        for query in qrels.queries
    ]
    items = read_python_ids(qrels.items).as_text()
    check_texts(qrels, items)
    pairs = [
        (name, pairs_of.offsets, pairs_of.items.as_text())
        for name, pairs_of in find_candidates(qrels)
    ]
    return add_candidates(Judgments(queries, qrels.offsets, items), pairs)


def check_texts(qrels: Qrels, items: Text) -> None:
    """Refuse two items of a query whose ids have different types and the same text."""
    if isinstance(qrels.items, Ids) or set(map(type, qrels.items)) <= {str}:
        return
    pairs = zip(ragged.find_owners(qrels.offsets).tolist(), items.to_bytes(), strict=True)
    if len(set(pairs)) < len(items):
        raise FormatError("two item ids of a query of the qrels have the same text.")


def explain_repeat(
    where: str,
    noun: str,
    repeated: RepeatedItem,
    like: str = "",
    show: Callable[[Any], str] = clip,
) -> DuplicateError:
    """Make the error for a repeated pair of query and item."""
    advice = f"{write_option('duplicates', 'first')}, last or max keeps one copy."
    if noun == "retrieved":
        advice = advise_repeat(repeated.item, advice)
    return DuplicateError(
        f"{where}: item {show(repeated.item)} is {noun} twice for query"
        f" {show(repeated.query)}{like}. {advice}"
    )


def collapse_rows(rows: Rows, groups: Groups) -> Rows:
    """Replace the items of a file of text by their groups, as text."""
    groups.check_items_have_ids()
    return replace(rows, items=groups.find_groups(rows.items, True).as_text())


class RowReducer:
    """Reduces the rows of a run.

    ``pieces`` begins a reading of the run, of which there may be two; ``read`` makes rows of a
    piece. A piece ends with the last row of a query, unless the queries are scattered.
    """

    def __init__(
        self,
        run: RunInput,
        judged: Judgments,
        pieces: Callable[[], Iterator[P]],
        read: Callable[[P], Rows],
        duplicates: str,
        order: Order,
        hasher: Hasher | None = None,
    ) -> None:
        self._judged, self._pieces, self._read = judged, pieces, read
        self._is_collapsed = run.is_collapsed
        self._hasher = None if hasher is None or hasher.content is not None else hasher
        self._content: Content | None = Content()  # None where there are no scores
        self._duplicates, self._order = run.decide_duplicates(duplicates), order
        self._index = Index(read_python_ids(judged.queries))
        if self._index.distinct < len(judged.queries):
            raise FormatError("two query ids of the qrels have the same text.")
        self._unknown: dict[Hashable, None] = {}
        self.rows = 0

    def reduce(self, note: ProgressNote, *, on_disk: bool = True) -> Retrieved:
        """Reduce the run. Raises RepeatedItem for a repeated item if that is an error.

        If a query's rows do not follow each other, all rows are read again and sorted; many rows
        are sorted on disk, if that is allowed.
        """
        on_disk = on_disk and has_arrow()  # which writes the rows
        retrieved = None
        with suppress(Scattered):
            retrieved = self._reduce_grouped()
        if retrieved is None:
            self._unknown, self.rows, self._content = {}, 0, Content()
            note.note = IN_MEMORY
            retrieved = self._reduce_gathered(note, on_disk)
        if self._hasher is not None:
            self._hasher.content = self._content
        return retrieved

    def _join(self, reduction: Reduction) -> Retrieved:
        rows = reduction.rows if self._is_collapsed else None
        return reduction.join(list(self._unknown), rows=rows)

    def _reduce_grouped(self) -> Retrieved:
        reduction = Reduction(self._judged, self._duplicates, self._order)

        def reduce_piece(piece: Any) -> tuple[Part | None, list[Hashable], int, Any]:
            rows = self._read(piece)
            content = self._hash(rows)
            judged, code, unknown = self._select_judged(rows)
            batch = Batch(code, judged.offsets, judged.items, judged.score, judged.rank)
            part = reduction.reduce(batch) if len(code) else None
            return part, unknown, len(rows.items), content

        for part, unknown, rows, content in map_in_threads(reduce_piece, self._pieces()):
            self.rows += rows
            self._add_content(content)
            self._unknown.update(dict.fromkeys(unknown))
            if part is not None:
                reduction.add(part)
        return self._join(reduction)

    def _hash(self, rows: Rows) -> Content | None:
        """Hash rows with scores, if that is asked for."""
        if self._hasher is None or rows.score is None:
            return None
        return hash_rows(rows.queries, rows.offsets, rows.items, rows.score)

    def _add_content(self, content: Content | None) -> None:
        are_both = None not in (content, self._content)
        self._content = self._content + content if are_both else None  # type: ignore[operator]

    def _select_judged(self, rows: Rows) -> tuple[Rows, Ints, list[Hashable]]:
        """Select the rows of judged queries. Returns also these, and the other queries."""
        queries = read_python_ids(rows.queries)
        code = self._index.find(queries)
        places = np.flatnonzero(code >= 0)
        if len(places) == len(code):
            return rows, code, []
        unjudged = queries.take(np.flatnonzero(code < 0))
        first, _ = find_distinct(unjudged)
        return rows.take(places), code[places], unjudged.take(first).python

    def _reduce_gathered(self, note: ProgressNote, on_disk: bool) -> Retrieved:
        reduction = Reduction(self._judged, self._duplicates, self._order)
        with Spill() as disk:
            for code, rows in self._gather(disk, note, on_disk):
                order = ragged.order_stably(code)
                reduce_part = partial(_reduce_part, reduction, rows, order)
                for part in map_in_threads(reduce_part, split_queries(code[order], STEP)):
                    reduction.add(part)
        return self._join(reduction)

    def _gather(
        self, disk: Spill, note: ProgressNote, on_disk: bool
    ) -> Iterator[tuple[Ints, Rows]]:
        """Gather all rows of some judged queries at a time, with the number of each row's query."""
        pieces: list[tuple[Ints, Rows]] = []
        for piece in self._pieces():
            rows = self._read(piece)
            self._add_content(self._hash(rows))
            self.rows += len(rows.items)
            judged, code, unknown = self._select_judged(rows)
            self._unknown.update(dict.fromkeys(unknown))
            code = np.repeat(code, ragged.find_lengths(judged.offsets))
            judged = replace(judged, queries=[], offsets=np.zeros(1, np.int64))  # which code has
            pieces.append((code, compact_rows(judged) if on_disk else judged))
            if on_disk and (disk or sum(len(code) for code, _ in pieces) > streams.HELD):
                note.note = ON_DISK
                for code, part in pieces:
                    disk.add(code, _to_columns(part))
                pieces = []
        for table in disk.read_parts():
            yield read_arrow_values(table.column("code").chunk(0)), _from_columns(table)
        pieces = [(code, piece) for code, piece in pieces if len(code)]
        if pieces:
            codes, parts = zip(*pieces, strict=True)
            yield np.concatenate(codes), join_rows(parts)


def _reduce_part(
    reduction: Reduction, rows: Rows, order: Ints, queries: tuple[Ints, Ints, slice]
) -> Part:
    """Reduce the rows of some queries. ``order`` sorts the rows by query."""
    code, offsets, stretch = queries
    rows_of_part = order[stretch]
    score, rank = (
        None if column is None else column[rows_of_part] for column in (rows.score, rows.rank)
    )
    return reduction.reduce(Batch(code, offsets, rows.items.take(rows_of_part), score, rank))


def compact_rows(rows: Rows) -> Rows:
    """Copy the rows out of the memory that they were read into."""
    score, rank = (None if column is None else column.copy() for column in (rows.score, rows.rank))
    return Rows([], rows.offsets, rows.items.compact(), score, rank)


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Join the rows of several parts."""
    lengths = [ragged.find_lengths(part.offsets) for part in parts]
    return Rows(
        [query for part in parts for query in part.queries],
        ragged.make_offsets(np.concatenate(lengths)),
        join_ids([part.items for part in parts]),
        join_numbers([part.score for part in parts]),
        join_numbers([part.rank for part in parts]),
    )


def _to_columns(rows: Rows) -> dict[str, Any]:
    """Convert rows to columns for the disk."""
    item = rows.items.to_arrow()
    item = item if isinstance(rows.items, Integers) else item.cast("large_binary")
    columns = {"item": item, "score": rows.score, "rank": rows.rank}
    return {name: column for name, column in columns.items() if column is not None}


def _from_columns(table: Any) -> Rows:
    """Convert columns from the disk to rows."""
    score, rank = (
        read_arrow_values(table.column(name).chunk(0)) if name in table.column_names else None
        for name in ("score", "rank")
    )
    item = table.column("item").chunk(0)
    numeric = "int" in str(item.type)
    ids = Integers(read_arrow_values(item)) if numeric else read_arrow_text(item)
    return Rows([], np.zeros(1, np.int64), ids, score, rank)


# rows that follow each other, and the number of the first
Piece: TypeAlias = tuple[int, list["pa.RecordBatch"]]


def cut_pieces(frame: Frame) -> Iterator[Piece]:
    """Cut the rows into pieces of about STEP rows that end with the last row of a query."""
    pending: list[pa.RecordBatch] = []
    first = row = cut = 0  # the first row held, the next row, the first row of the last query
    last: Hashable = None
    for record in arrow.join_short(frame.records(), STEP // 2):
        pending.append(record)
        for start in range(0, record.num_rows, STEP):
            query = frame.read_queries(record.slice(start, STEP), row)
            begin = _find_last_change(query)
            if begin or (row > first and query[0] != last):
                cut = row + begin
            last = query[-1]
            row += len(query)
            if row - first >= STEP and cut > first:
                yield first, _take_rows(pending, cut - first)
                first = cut
    if row > first:
        yield first, pending


def _take_rows(pending: list[pa.RecordBatch], count: int) -> list[pa.RecordBatch]:
    """Remove rows from the front. Returns them."""
    taken = []
    while count:
        record = pending.pop(0)
        taken.append(record.slice(0, count))
        if record.num_rows > count:
            pending.insert(0, record.slice(count))
        count -= taken[-1].num_rows
    return taken


def read_piece(frame: Frame, piece: Piece) -> Rows:
    """Read the rows of a piece."""
    row, records = piece
    parts = []
    for record in arrow.combine(records):
        parts.append((*frame.read_scores(record, row), *frame.read_ids(record, row)))
        row += record.num_rows
    scores, ranks, queries, items = zip(*parts, strict=True)
    query = join_ids(queries)
    starts = find_changes(query)
    offsets = np.append(starts, len(query))
    return Rows(
        query.take(starts), offsets, join_ids(items), join_numbers(scores), join_numbers(ranks)
    )


NEAR = 1 << 12  # rows at the end of a piece that are looked at first: most queries are shorter


def _find_last_change(ids: Ids) -> int:
    """The row in which the last id begins."""
    start = max(0, len(ids) - NEAR)
    near = int(find_changes(ids.part(start, len(ids)))[-1])
    return start + near if near or not start else int(find_changes(ids)[-1])


def join_numbers(parts: Sequence[Floats | None]) -> Floats | None:
    """Join the scores or the ranks of several parts; either all parts have them, or none has."""
    present = [part for part in parts if part is not None]
    return present[0] if len(present) == 1 else np.concatenate(present) if present else None


# --- Whole lists of a run, judged or not, in the order in which it is evaluated -------------------


@dataclass(frozen=True, eq=False, repr=False)
class RankedRows:
    """Rows from the best on: those of ``queries[s]`` are ``offsets[s]:offsets[s + 1]``."""

    queries: Ids
    offsets: Ints
    ids: Ids  # of the items in the order given, and the place of each row among them
    place: Ints
    tied_from: Ints  # the first and the last rank of the row's group of equal scores
    tied_to: Ints

    @property
    def items(self) -> list[Hashable]:
        """The items as Python values."""
        ids = self.ids.python
        return [ids[place] for place in self.place.tolist()]

    @property
    def column(self) -> Ids:
        """The items as integers or text."""
        ids = self.ids.typed if isinstance(self.ids, Keys) else self.ids
        is_sorted = np.array_equal(self.place, np.arange(len(ids)))
        return ids if is_sorted else ids.take(self.place)

    def cut(self, depth: int | None) -> RankedRows:
        """Cut every list off after the first ``depth`` items."""
        sizes = ragged.find_lengths(self.offsets)
        if depth is None or sizes.max(initial=0) <= depth:
            return self
        sizes = np.minimum(sizes, depth)
        rows = ragged.list_stretches(self.offsets[:-1], sizes)
        columns = (column[rows] for column in (self.place, self.tied_from, self.tied_to))
        return RankedRows(self.queries, ragged.make_offsets(sizes), self.ids, *columns)


def rank_rows(
    rows: Rows,
    run: RunInput,
    policy: Policy,
    candidates: Candidates | None = None,
    ids: str | None = None,
) -> RankedRows:
    """Rank the rows of a run by a policy, without those that do not count.

    Rows are in the order of ``policy.ties``; where grades decide on it, as in ``best``, equal
    scores are in the order of ids. ``ids`` is text if the rows, unlike those of the run, are
    spelled as in a file of text. Raises DuplicateError for an item that is retrieved twice if that
    is an error, and CoverageError for a query for which ``only`` has no candidates.
    """
    queries = read_python_ids(rows.queries)
    judged, items = _judge(rows, policy, candidates, ids or ("text" if run.is_text else "typed"))
    batch = Batch(np.arange(len(queries)), rows.offsets, items, rows.score, rows.rank)
    try:
        batch = select_rows(judged, batch, run.decide_duplicates(policy.duplicates), policy.order)
    except RepeatedItem as error:
        raise explain_repeat(run.label, "retrieved", error) from None
    place, first, last = _order_rows(batch, policy)
    return RankedRows(queries, batch.offsets, batch.items, place, first, last).cut(policy.depth)


def _judge(
    rows: Rows, policy: Policy, candidates: Candidates | None, ids: str
) -> tuple[Judgments, Ids]:
    """Make judgments of no item, with the candidates in the ids of the rows. Returns these, too."""
    queries, items = rows.queries, rows.items
    if (candidates or policy.own == "drop") and isinstance(queries, Ids):
        queries = queries.python
    none = np.zeros(len(queries) + 1, np.int64)
    of_text = ids == "text"
    if candidates is None:
        return Judgments(queries, none, items.part(0, 0), of_text=of_text), items
    named = list(map(spell_id, queries)) if of_text else list(queries)
    users = candidates.attach_to_lists(Qrels(named, none, [], np.zeros(0), ids=ids))
    if isinstance(items, Keys):
        return judge_keys(users, False), items
    pairs, as_text = match_items(users, items, ids, as_text=False)
    items = items.as_text() if as_text else items
    own_ids = Judgments(queries, none, items.part(0, 0), of_text=of_text or as_text)
    return add_candidates(own_ids, pairs), items


def _order_rows(batch: Batch, policy: Policy) -> tuple[Ints, Ints, Ints]:
    """Order the rows of each query from the best to the worst, and find the ranks of their ties."""
    rows, offsets = np.arange(len(batch.items)), batch.offsets
    rank = rows - offsets[batch.owner] + 1
    if batch.are_places and batch.rank is not None:
        rank = batch.rank.astype(np.int64)
    if batch.score is None or _falls(batch.score, offsets):
        return rows, rank, rank
    rank, first, last = plain.rank_rows(batch, rows, policy.order.equal)
    place = np.empty(len(rows), np.int64)
    place[offsets[batch.owner] + ties.rank_rows(policy.ties, rank, first, last) - 1] = rows
    return place, first[place], last[place]


def _falls(score: Floats, offsets: Ints) -> bool:
    """Does every score of a query differ from the next and exceed it?"""
    falls: Bools = score[1:] < score[:-1]
    falls[ragged.take_lasts(offsets)] = True
    return bool(falls.all())


def gather_rows(parts: Iterable[Rows]) -> Rows:
    """Gather all rows of a run with scattered queries. Raises EmptyError if there are none."""
    filled = [part for part in parts if len(part.queries)]
    rows = join_rows(filled) if filled else None
    if rows is None or not len(rows.items):
        raise EmptyError("the run is empty: it has no results.")
    if len(rows.queries) == 1:
        return rows
    queries = read_python_ids(rows.queries)
    first, place = find_distinct(queries)
    owner = np.repeat(place, ragged.find_lengths(rows.offsets))
    order = ragged.order_stably(owner)
    score, rank = (None if column is None else column[order] for column in (rows.score, rows.rank))
    offsets = ragged.make_offsets(np.bincount(owner, minlength=len(first)))
    return Rows(queries.take(first), offsets, rows.items.take(order), score, rank)
