"""Rows of (query, item, score), a batch of whole queries at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from germane import _ragged
from germane._cached import cached
from germane._ragged import Floats, Ints
from germane.sources import joining, spill
from germane.sources.arrow import Place, ids, is_view
from germane.sources.id_columns import Categories, IdColumn, Index, Integers, Picked
from germane.sources.paths import Noted
from germane.sources.spill import Spill

if TYPE_CHECKING:
    import pyarrow as pa

STEP = 1 << 18  # rows; what is computed from a batch stays in the processor's cache
IN_MEMORY = " (its queries are scattered: sorted in memory)"
ON_DISK = " (its queries are scattered: sorted on disk)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows as columns. A run has scores, ranks or both."""

    query: IdColumn
    item: IdColumn
    score: Floats | None
    rank: Ints | None

    def part(self, start: int, stop: int) -> Rows:
        return Rows(
            self.query.part(start, stop),
            self.item.part(start, stop),
            None if self.score is None else self.score[start:stop],
            None if self.rank is None else self.rank[start:stop],
        )

    def chosen(self, rows: Ints) -> Rows:
        """Some of the rows; their queries are known, and stay."""
        return Rows(
            self.query,
            self.item.chosen(rows),
            None if self.score is None else self.score[rows],
            None if self.rank is None else self.rank[rows],
        )

    def copied(self) -> Rows:
        """The same items, which keep nothing else in memory; their query is known."""
        rows = self.chosen(np.arange(len(self.item)))
        item = rows.item
        if isinstance(item, Categories) and len(item.entries) > len(item):
            used, codes = np.unique(item.codes, return_inverse=True)
            item = Categories(item.entries.chosen(used), codes)
        return replace(rows, query=item, item=item)


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of whole queries that are judged: query g, numbered ``code[g]`` in the qrels."""

    code: Ints
    offsets: Ints
    rows: Rows
    together: bool = True  # in the run; other batches may stand between these queries

    @cached
    def owner(self) -> Ints:
        """The query of each row, counted within the batch."""
        groups = np.arange(len(self.code), dtype=np.int32)
        return np.repeat(groups, _ragged.lengths(self.offsets))


class Scattered(Exception):  # noqa: N818  (not an error: the rows are then gathered)
    """The rows of a query do not stand together."""


class _Edges:
    """The first and the last queries of records, whose rows may stand in several of them."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, Rows]] = []
        self._copies = 0  # parts that are no rows of the last record
        self._rows = self._complete = 0  # rows in all, and of queries that are complete

    def add(self, code: int, rows: Rows) -> None:
        if self._parts and self._parts[-1][0] != code:
            self._complete = self._rows
        self._parts.append((code, rows))
        self._rows += len(rows.item)

    def let_go(self) -> None:
        """Keep nothing of the records so far in memory but these rows."""
        self._parts[self._copies :] = [
            (code, rows.copied()) for code, rows in self._parts[self._copies :]
        ]
        self._copies = len(self._parts)

    def complete(self) -> Iterator[Batch]:
        """All queries but the last, which may go on, if they have many rows."""
        if self._complete >= STEP:
            last = len(self._parts) - 1
            while self._parts[last - 1][0] == self._parts[last][0]:
                last -= 1
            parts, self._parts = self._parts[:last], self._parts[last:]
            self._copies = max(0, self._copies - last)
            self._rows, self._complete = self._rows - self._complete, 0
            yield _in_one(parts)

    def rest(self) -> Iterator[Batch]:
        """The queries that are left at the end."""
        if self._parts:
            yield _in_one(self._parts)


def _in_one(several: list[tuple[int, Rows]]) -> Batch:
    """Rows with the number of their query; those of one query that follow each other are one."""
    codes, parts = zip(*several, strict=True)
    code, ends = np.array(codes), _ragged.offsets([len(part.item) for part in parts])
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1]))
    item = joining.joined([part.item for part in parts])
    score = joined_numbers([part.score for part in parts])
    rank = joined_numbers([part.rank for part in parts])
    offsets = np.append(ends[starts], ends[-1])
    return Batch(code[starts], offsets, Rows(item, item, score, rank), together=False)


class Reader:
    """Reads the batches of a run, and keeps count of the queries that nobody judged."""

    def __init__(
        self,
        records: Callable[[], Iterator[pa.RecordBatch]],
        rows_of: Callable[[pa.RecordBatch, int], Rows],
        index: Index,
        moves: str,
    ) -> None:
        self._records, self._rows_of, self._index = records, rows_of, index
        self._moves = moves  # any; or none within a query, where the first of two rows is the first
        self._unknown: dict[Hashable, None] = {}
        self.rows = 0

    @property
    def unknown(self) -> list[Hashable]:
        return list(self._unknown)

    # --- Rows that are grouped by query ------------------------------------------------------------

    def grouped(self) -> Iterator[Batch]:
        """The batches of a run whose queries stand together; the reader of these notices others.

        The last query of a record, and the first of the next, may be one: such queries come later.
        """
        edges = _Edges()
        for record in _longer(self._records()):
            edges.let_go()
            for rows, starts in self._inside(record, edges):
                yield from self._batch(rows, starts)
            self.rows += record.num_rows
            yield from edges.complete()
        yield from edges.rest()

    def _inside(self, record: pa.RecordBatch, edges: _Edges) -> Iterator[tuple[Rows, Ints]]:
        """The rows of a record in parts of whole queries, and where these begin; the edges get the others."""
        at, size = 0, STEP
        while at < record.num_rows:
            rows = self._rows_of(record.slice(at, size), self.rows + at)
            starts = rows.query.changes()
            begin, last = 0, int(starts[-1])
            is_end = at + size >= record.num_rows
            if not (last or is_end):
                size *= 2
                continue
            if last and not at and self.rows:  # there was a record before
                begin = int(starts[1])
                self._add(edges, rows, 0, begin)
                starts = starts[1:]
            if last > begin:
                yield rows.part(begin, last), starts[:-1] - begin
            if is_end:
                self._add(edges, rows, last, len(rows.query))
                return
            at, size = at + last, STEP

    def _add(self, edges: _Edges, rows: Rows, start: int, stop: int) -> None:
        code = int(self._places(rows.query.part(start, start + 1))[0])
        if code >= 0:  # of a query that nobody judged nothing is needed
            edges.add(code, rows.part(start, stop))

    def _places(self, queries: IdColumn) -> Ints:
        """The number of each query in the qrels; -1 is one that nobody judged, which is kept in mind."""
        code = self._index.places(queries)
        if (code < 0).any():
            self._unknown.update(dict.fromkeys(queries.chosen(np.flatnonzero(code < 0)).python))
        return code

    def _batch(self, rows: Rows, starts: Ints) -> Iterator[Batch]:
        offsets = np.append(starts, len(rows.query))
        code = self._places(rows.query.chosen(starts))
        known = code >= 0
        if not known.all():
            lengths = np.diff(offsets)
            rows = rows.chosen(np.flatnonzero(np.repeat(known, lengths)))
            code, offsets = code[known], _ragged.offsets(lengths[known])
        if len(code):
            yield Batch(code, offsets, rows)

    # --- Rows that are not -------------------------------------------------------------------------

    def gathered(self, told: Noted, disk: Spill | None = None) -> Iterator[Batch]:
        """The same batches of a run whose rows are in any order, sorted in memory or on a disk."""
        codes: list[Ints] = []
        parts: list[Rows] = []
        told.note = IN_MEMORY
        for code, rows in self._known():
            codes.append(code)
            parts.append(rows)
            if disk is not None and (disk or sum(map(len, codes)) > spill.HELD):
                told.note = ON_DISK
                for held in zip(codes, parts, strict=True):
                    disk.add(held[0], _columns(held[1]))
                codes, parts = [], []
        for part in disk.parts() if disk else ():
            code, rows = part.column("code").to_numpy(), _of_columns(part)
            yield from self._arranged([code], [rows])
        yield from self._arranged(codes, parts)

    def _known(self) -> Iterator[tuple[Ints, Rows]]:
        """The rows of judged queries, some at a time, with the number of each row's query."""
        at = 0
        for record in _longer(self._records()):
            for start in range(0, record.num_rows, STEP):
                rows = self._rows_of(record.slice(start, STEP), at + start)
                code = self._codes(rows.query)
                known = np.flatnonzero(code >= 0)
                yield code[known], rows if len(known) == len(code) else rows.chosen(known)
            at += record.num_rows
            self.rows = at

    def _arranged(self, codes: list[Ints], parts: list[Rows]) -> Iterator[Batch]:
        """All rows of some queries, as batches of whole queries."""
        if not sum(map(len, codes)):
            return
        code = np.concatenate(codes)
        item = joining.joined([part.item for part in parts])
        if item.kind == "text" and not isinstance(item, Categories):
            words = np.concatenate([part.item.words() for part in parts])
            item = Picked(item, words, np.arange(len(code)))
        everything = Rows(
            parts[0].query,
            item,
            joined_numbers([part.score for part in parts]),
            joined_numbers([part.rank for part in parts]),
        )
        order = self._by_rank(code, np.bincount(code), everything.rank)
        if order is None:
            order = sorted_by(code)
        for queries, offsets, start in stretches(code):
            rows = everything.chosen(order[start : start + offsets[-1]])
            yield Batch(queries, offsets, rows)

    def _by_rank(self, code: Ints, lengths: Ints, rank: Ints | None) -> Ints | None:
        """The rows by query and rank, where ranks count each query's rows and rows may be moved.

        A row's place is then known, and nothing is sorted.
        """
        if self._moves == "none" or rank is None or rank.dtype.kind == "f":
            return None
        if rank.min() < 1 or (rank > lengths[code]).any():
            return None
        order = np.full(len(code), -1)
        order[(_ragged.offsets(lengths)[:-1] - 1)[code] + rank.astype(np.int64)] = np.arange(
            len(code)
        )
        return None if (order < 0).any() else order

    def _codes(self, query: IdColumn) -> Ints:
        """Each row's query as a number of the qrels, or -1."""
        starts = query.changes()
        code = self._places(query.chosen(starts))
        return np.repeat(code, np.diff(np.append(starts, len(query))))


def sorted_by(code: Ints) -> Ints:
    """The rows by the number of their query, those of a query in their order."""
    # sorting numbers that hold query and row is several times faster than a stable argsort
    rows = np.arange(len(code)).astype(np.uint64)
    packed = np.sort((code.astype(np.uint64) << np.uint64(32)) | rows)
    order: Ints = (packed & np.uint64(0xFFFFFFFF)).view(np.int64)
    return order


def stretches(code: Ints) -> Iterator[tuple[Ints, Ints, int]]:
    """Sorted rows in stretches of whole queries: their numbers, their offsets and the first row."""
    lengths = np.bincount(code)
    present = np.flatnonzero(lengths)
    starts = _ragged.offsets(lengths[present])
    group = 0
    while group < len(present):
        end = max(int(np.searchsorted(starts, starts[group] + STEP, "right")) - 1, group + 1)
        inside = starts[group : end + 1]
        yield present[group:end], inside - inside[0], int(inside[0])
        group = end


def _longer(records: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in records of about ``STEP``, if theirs are short: each record takes its time."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for record in records:
        long = record.num_rows >= STEP // 2  # copying it would take longer than what it costs
        if long or rows + record.num_rows > STEP:
            yield from combined(held)
            held, rows = [], 0
        if long:  # at once, so that it is not in memory with the next
            yield record
        else:
            held.append(record)
            rows += record.num_rows
    yield from combined(held)


def combined(records: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """The rows of some records in one, or in few where Arrow cannot hold their texts in one."""
    import pyarrow as pa

    some = [record for record in records if record.num_rows]
    if len(some) < 2 or any(map(pa.types.is_dictionary, some[0].schema.types)):
        return some  # unifying the lists of categories would look at all their entries
    return pa.Table.from_batches(some).combine_chunks().to_batches()  # type: ignore[no-any-return]


def plain(record: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows, categories as what they stand for."""
    import pyarrow as pa

    return pa.record_batch(list(map(decoded, record.columns)), record.schema.names)


def decoded(array: pa.Array) -> pa.Array:
    """Categories as what they stand for, and anything else as it is."""
    import pyarrow as pa

    if not pa.types.is_dictionary(array.type):
        return array
    entries = array.dictionary
    if is_view(entries.type):
        wide = pa.large_binary() if entries.type == pa.binary_view() else pa.large_string()
        array = pa.DictionaryArray.from_arrays(array.indices, entries.cast(wide))
    return array.dictionary_decode()


def _columns(rows: Rows) -> dict[str, Any]:
    """Rows as they stand on a disk."""
    item = rows.item.values if isinstance(rows.item, Integers) else rows.item.text().values
    columns = {"item": item, "score": rows.score, "rank": rows.rank}
    return {name: column for name, column in columns.items() if column is not None}


def _of_columns(table: pa.Table) -> Rows:
    """Rows that stood on a disk; the queries that they belong to are known."""
    numbers = {
        name: table.column(name).to_numpy() if name in table.column_names else None
        for name in ("score", "rank")
    }
    item = ids(table.column("item").chunk(0), Place("the disk", "item"))
    return Rows(item, item, numbers["score"], numbers["rank"])


def joined_numbers(parts: list[Floats | None]) -> Floats | None:
    """The scores or the ranks of several parts; all of them have some, or none."""
    return (
        np.concatenate([part for part in parts if part is not None])
        if parts[0] is not None
        else None
    )
