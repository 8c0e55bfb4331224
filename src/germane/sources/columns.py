"""Runs as columns: rows of (query, item, score), reduced a batch of whole queries at a time.

The judged items among a batch's rows are found by a 64-bit fingerprint of (query, item), and so
are repeated rows, judged or not: they move the ranks of others. Whatever a fingerprint finds is
then compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane import _ragged
from germane._cached import cached
from germane._ragged import Bools, Floats, Ints
from germane._records import replaced
from germane.errors import DuplicateError, FormatError
from germane.retrieval import COPIES, Order, Qrels, Retrieved
from germane.sources import binary, first_rows, misses
from germane.sources.alike import Keys
from germane.sources.binary import Spans
from germane.sources.first_rows import Row
from germane.sources.ids import shown_id, to_bytes, to_text


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of whole queries: query g's rows are ``offsets[g]:offsets[g + 1]``."""

    queries: list[bytes]
    offsets: Ints
    item: Spans
    score: Floats


class Ids(Sequence[Hashable]):
    """Ids of a file as text, which is made of the bytes when somebody asks for it."""

    def __init__(self, spans: Spans) -> None:
        self.spans = spans

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice) and at.step in (None, 1):
            start, stop, _ = at.indices(len(self))
            return list(map(to_text, self.spans.part(start, max(start, stop)).tolist()))
        return self._all[at] if isinstance(at, slice) else to_text(self.spans[range(len(self))[at]])

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._all)

    def __reduce__(self) -> tuple[Any, ...]:
        """The bytes and their lengths, which all else follows from."""
        sent = self.spans.copied()
        return _received, (sent.data, sent.sizes.astype(np.uint32))

    @cached
    def _all(self) -> list[Hashable]:
        return list(map(to_text, self.spans.tolist()))


def _received(data: Any, sizes: Ints) -> Ids:
    ends = _ragged.offsets(sizes)
    return Ids(Spans(data, ends[:-1], np.diff(ends)))


@dataclass(frozen=True)
class Repeated(Exception):  # noqa: N818  (it says what was found; the reader makes the error)
    """An item is retrieved twice for a query, and that is an error; the reader says where."""

    query: bytes
    item: bytes


class Reducer:
    """Takes batches and keeps what was judged."""

    def __init__(self, qrels: Qrels, duplicates: str, order: Order) -> None:
        self._duplicates, self._order = duplicates, order
        self.names = list(map(to_bytes, qrels.queries))
        self._code = {name: q for q, name in enumerate(self.names)}
        if len(self._code) < len(qrels):
            raise FormatError("two query ids of the qrels have the same text.")
        self._judged = _spans(qrels.items)
        self._owner, self._offsets = _ragged.owners(qrels.offsets), qrels.offsets
        self._salt = binary.mixed(np.arange(1, len(qrels) + 1, dtype=np.uint64))
        self._pairs = binary.fingerprints(self._judged) + self._salt[self._owner]
        ordered = np.sort(self._pairs)
        if (ordered[1:] == ordered[:-1]).any():  # judged pairs that look alike
            judged = set(zip(self._owner.tolist(), self._judged.tolist(), strict=True))
            if len(judged) < len(self._judged):
                raise FormatError("two item ids of a query of the qrels have the same text.")
        self._answered = np.zeros(len(qrels), bool)
        self._retrieved = np.zeros(len(qrels), np.int64)
        self._unknown: dict[bytes, None] = {}
        self._parts: list[tuple[Ints, ...]] = []

    def seen(self, query: bytes) -> bool:
        """Has the query been reduced already?"""
        code = self._code.get(query)
        return query in self._unknown if code is None else bool(self._answered[code])

    def codes(self, queries: list[bytes]) -> Ints:
        """Each query's place in the qrels, or -1; the reducer keeps the names of the latter."""
        code = np.array([self._code.get(query, -1) for query in queries], np.int64)
        self._unknown.update((q, None) for q, c in zip(queries, code, strict=True) if c < 0)
        return code

    def add(self, batch: Batch) -> None:
        """Reduce one batch. Raises Repeated for a repeated row where that is an error."""
        code = self.codes(batch.queries)
        if (code < 0).any():
            batch, code = _only_known(batch, code)
        if not len(code):
            return
        self._answered[code] = True
        batch = _admitted(batch, self._order)
        pair = binary.fingerprints(batch.item)
        pair += np.repeat(self._salt[code], np.diff(batch.offsets))
        keys = Keys(pair)
        if keys.alike and self._duplicates not in COPIES:
            kept = self._without_repeats(batch, keys.suspects())
            if kept is not None:
                batch, pair = _some_rows(batch, kept), pair[kept]
                keys = Keys(pair)
        self._retrieved[code] = np.diff(batch.offsets)
        row, judgment = self._hits(batch, code, keys)
        if self._order.nonpositive == "miss":
            row, judgment = (column[batch.score[row] > 0] for column in (row, judgment))
        if len(row):
            group = _group(batch, row)
            ranks = _ranks(batch, row, group, self._order)
            self._parts.append((judgment, code[group], *ranks))

    def result(self) -> Retrieved:
        columns = [np.concatenate(column) for column in zip(*self._parts, strict=True)]
        if not columns:
            columns = [np.zeros(0, np.int64)] * 5
        judgment, owner, rank, tied_from, tied_to = columns
        unknown: list[Hashable] = [
            query.decode("utf-8", "surrogateescape") for query in self._unknown
        ]
        return Retrieved(
            judgment, owner, rank, tied_from, tied_to, self._retrieved, self._answered, unknown
        )

    def _hits(self, batch: Batch, code: Ints, keys: Keys) -> tuple[Ints, Ints]:
        """The rows that are judged, and their places in the qrels."""
        starts = self._offsets[code]
        lengths = self._offsets[code + 1] - starts
        place = _ragged.between(starts, lengths)
        found, row = keys.places(self._pairs[place])
        by_row = np.argsort(row)
        row, judgment = row[by_row], place[found][by_row]
        exact = binary.equal(batch.item, row, self._judged, judgment)
        exact &= code[_group(batch, row)] == self._owner[judgment]
        return row[exact], judgment[exact]

    def _without_repeats(self, batch: Batch, suspects: Ints) -> Bools | None:
        """The rows to keep, or None for all of them."""
        keep = np.ones(len(batch.score), bool)
        keys = zip(
            _group(batch, suspects).tolist(), batch.item.chosen(suspects).tolist(), strict=True
        )
        groups: dict[tuple[int, bytes], list[int]] = {}
        for row, key in zip(suspects.tolist(), keys, strict=True):
            groups.setdefault(key, []).append(row)
        for (group, item), rows in groups.items():
            if len(rows) == 1:  # equal fingerprints of different items
                continue
            if self._duplicates == "error":
                raise Repeated(batch.queries[group], item)
            keep[rows] = False
            keep[_kept_copy(rows, batch.score[rows], self._duplicates)] = True
        return None if keep.all() else keep


def _spans(items: Sequence[Hashable]) -> Spans:
    if isinstance(items, Spans):
        return items
    return items.spans if isinstance(items, Ids) else binary.spans(list(map(to_bytes, items)))


def _group(batch: Batch, row: Ints) -> Ints:
    """The query, counted within the batch, that each row belongs to."""
    return np.searchsorted(batch.offsets, row, "right") - 1


def _kept_copy(rows: list[int], scores: Floats, duplicates: str) -> int:
    match duplicates:
        case "first":
            return rows[0]
        case "last":
            return rows[-1]
        case _:
            return rows[int(np.argmax(scores))]


def _only_known(batch: Batch, code: Ints) -> tuple[Batch, Ints]:
    known = code >= 0
    rows = np.repeat(known, np.diff(batch.offsets))
    queries = [batch.queries[g] for g in np.flatnonzero(known)]
    smaller = _some_rows(batch, rows)
    lengths = np.diff(smaller.offsets)[known]
    return Batch(queries, _ragged.offsets(lengths), smaller.item, smaller.score), code[known]


def _admitted(batch: Batch, order: Order) -> Batch:
    """The rows that count as retrieved, their scores as precise as asked for."""
    if order.scores != "double":
        batch = replace(batch, score=order.precise(batch.score, batch.offsets))
    if order.takes_all:
        return batch
    rows = order.above(batch.score)
    if order.own == "drop":
        items = batch.item.tolist()
        for query, start, end in zip(
            batch.queries, batch.offsets[:-1], batch.offsets[1:], strict=True
        ):
            rows[start:end] &= np.array([item != query for item in items[start:end]], bool)
    return _some_rows(batch, rows)


def _some_rows(batch: Batch, rows: Bools) -> Batch:
    owner = _ragged.owners(batch.offsets)
    lengths = _ragged.counts(rows, owner, len(batch.queries))
    return Batch(
        batch.queries,
        _ragged.offsets(lengths),
        batch.item.chosen(rows),
        batch.score[rows],
    )


# --- Ranks -----------------------------------------------------------------------------------------


def _ranks(batch: Batch, row: Ints, group: Ints, order: Order) -> tuple[Ints, Ints, Ints]:
    """Rank, and first and last rank of the group of equal scores, of the rows asked for."""
    score, offsets = batch.score, batch.offsets
    if _ragged.falls(score, offsets) and not _ragged.is_shared(score, offsets, row, group):
        position = row - offsets[group] + 1
        return position, position, position
    from germane.sources.order import ranks  # which most files do without

    return ranks(batch.item, offsets, score, row, group, order)


# --- Runs held in memory ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run:
    """A run read into memory: its rows grouped by query.

    >>> run = germane.read_run("examples/digits/lda.run")
    >>> len(run)
    200
    """

    name: str
    rows: Batch

    def __len__(self) -> int:
        return len(self.rows.queries)

    @cached
    def first_rows(self) -> list[Row]:
        """The first of its rows, as evaluating looks at them."""
        stop = min(len(self.rows.score), misses.ROWS)
        owner = _group(self.rows, np.arange(stop)).tolist()
        queries, items = map(to_text, self.rows.queries), self.rows.item.part(0, stop).tolist()
        names, scores = list(queries), self.rows.score[:stop].tolist()
        return [
            Row(names[q], to_text(item), 0.0, score)
            for q, item, score in zip(owner, items, scores, strict=True)
        ]

    def only(self, query: bytes) -> Run:
        """The rows of one query; none where the run does not have it."""
        at = [g for g, found in enumerate(self.rows.queries) if found == query]
        start, end = self.rows.offsets[at[0] : at[0] + 2].tolist() if at else (0, 0)
        offsets = np.array([0, end - start] if at else [0])
        batch = Batch(
            [query] * len(at), offsets, self.rows.item.part(start, end), self.rows.score[start:end]
        )
        return Run(self.name, batch)

    def __repr__(self) -> str:
        return f"Run({self.name!r}: {len(self)} queries, {len(self.rows.score)} results)"


def retrieve(
    qrels: Qrels, run: Run, duplicates: str, order: Order, progress: object = None
) -> Retrieved:
    """Find the judged items of a run held in memory."""
    reducer = Reducer(qrels, duplicates, order)
    try:
        reducer.add(run.rows)
    except Repeated as found:
        raise repeated(run.name, "retrieved", found.query, found.item) from None
    got = reducer.result()
    return replaced(got, noticed=first_rows.of_rows(run.first_rows, qrels, got, order))


def repeated(where: str, what: str, query: bytes, item: bytes, like: str = "") -> DuplicateError:
    """The error for a pair of query and item that stands twice."""
    return DuplicateError(
        f"{where}: item {shown_id(item)} is {what} twice for query {shown_id(query)}{like}. "
        "duplicates=first, last or max keeps one copy."
    )
