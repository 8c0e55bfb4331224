"""The judged items among rows, and repeated rows, by 64-bit words of (query, item).

Whatever words find is then compared id by id.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Ints
from germane.errors import FormatError
from germane.retrieval import COPIES, Order, Qrels, Retrieved
from germane.sources import binary, id_columns
from germane.sources.binary import Words
from germane.sources.id_columns import IdColumn
from germane.sources.order import in_order, ranks
from germane.sources.rows import STEP, Batch, Rows, Scattered


@dataclass(frozen=True)
class Repeated(Exception):  # noqa: N818  (it says what was found; the reader makes the error)
    """An item stands twice for a query, and that is an error."""

    code: int
    item: Hashable


class Reducer:
    """Takes batches of whole queries and keeps what was judged."""

    def __init__(self, qrels: Qrels, items: IdColumn, duplicates: str, order: Order) -> None:
        self._qrels = qrels
        self._duplicates, self._order = duplicates, order
        self._salt = salt(len(qrels))
        self._judged = _Judged(items, self._salt, qrels.offsets)
        self._answered = np.zeros(len(qrels), bool)
        self._retrieved = np.zeros(len(qrels), np.int64)
        self._parts: list[tuple[Ints, ...]] = []

    def add(self, batch: Batch) -> None:
        """Reduce one batch. Raises Scattered for a query that came before, Repeated for an item."""
        code = batch.code
        if self._answered[code].any() or _has_repeats(code):
            raise Scattered
        self._answered[code] = True
        batch = self._admitted(batch)
        item, owner = batch.rows.item, _owner(batch.offsets)
        pair = item.words()
        pair += self._salt[code][owner]
        found = self._judged.among(code, item, owner, pair)
        if found.repeated and self._duplicates not in COPIES:
            kept = unrepeated(batch.rows, owner, pair, self._duplicates, code)
            if kept is not None:
                batch = _some(batch, owner, kept)
                item, owner = batch.rows.item, _owner(batch.offsets)
        if found.repeated or found.doubtful:
            found = self._judged.one_by_one(code, item, owner)
        self._retrieved[code] = np.diff(batch.offsets)
        score = in_order(batch, owner, self._qrels.queries)
        row, judgment = found.row, found.judgment
        if score is not None and self._order.nonpositive == "miss":
            row, judgment = (column[score[found.row] > 0] for column in (row, judgment))
        group = owner[row]
        if score is None:
            rank = first = last = row - batch.offsets[group] + 1
        else:
            rank, first, last = ranks(batch, score, owner, row, group, self._order)
        self._parts.append((judgment, code[group], rank, first, last))

    def _admitted(self, batch: Batch) -> Batch:
        """The rows that count as retrieved, their scores as precise as asked for."""
        rows, order = batch.rows, self._order
        if rows.score is not None:
            batch = replace(batch, rows=replace(rows, score=order.precise(rows.score)))
        if order.takes_all:
            return batch
        owner = _owner(batch.offsets)
        kept = np.ones(len(owner), bool) if rows.score is None else order.above(rows.score)
        if order.own == "drop":
            own = [self._qrels.queries[q] for q in batch.code.tolist()]
            pairs = zip(rows.item.python, owner.tolist(), strict=True)
            kept &= np.fromiter((item != own[group] for item, group in pairs), bool, len(kept))
        return _some(batch, owner, np.flatnonzero(kept))

    def result(self, unknown: list[Hashable]) -> Retrieved:
        """What was retrieved of the judgments."""
        none = np.zeros(0, np.int64)
        columns = list(zip(*(self._parts or [(none,) * 5]), strict=True))
        judgment, owner, rank = map(np.concatenate, columns[:3])
        tied_from = tied_to = rank
        if any(last is not rank for rank, last in zip(columns[2], columns[4], strict=True)):
            tied_from, tied_to = map(np.concatenate, columns[3:])
        return Retrieved(
            judgment, owner, rank, tied_from, tied_to, self._retrieved, self._answered, unknown
        )


def salt(queries: int) -> Words:
    """What is added to the word of an item to tell the queries apart."""
    return binary.mixed(np.arange(1, queries + 1, dtype=np.uint64))


def _owner(offsets: Ints) -> Ints:
    groups = np.arange(len(offsets) - 1, dtype=np.int32)
    return np.repeat(groups, np.diff(offsets))


def _has_repeats(code: Ints) -> bool:
    if (code[1:] > code[:-1]).all():
        return False
    ordered = np.sort(code)
    return bool((ordered[1:] == ordered[:-1]).any())


class _Judged:
    """The judged pairs, of which those of a batch's queries are looked up at a time."""

    def __init__(self, items: IdColumn, salt: Words, offsets: Ints) -> None:
        self._items, self._offsets = items, offsets
        self._pairs = items.words() + np.repeat(salt, np.diff(offsets))
        self._numbers = np.arange(2 * STEP, dtype=np.uint64)

    def among(self, code: Ints, item: IdColumn, owner: Ints, pair: Words) -> _Found:
        """The rows that are judged, found by sorting rows and judgments together.

        A key is a word whose lowest bits are taken by the number of the row or of the judgment, so
        that equal pairs stand beside each other, the row before the judgment.
        """
        starts = self._offsets[code]
        lengths = self._offsets[code + 1] - starts
        in_a_row = len(code) > 0 and bool((code[1:] == code[:-1] + 1).all())
        first = int(starts[0]) if in_a_row else 0
        place = (
            np.arange(first, first + int(lengths.sum()))
            if in_a_row
            else id_columns.between(starts, lengths)
        )
        n = len(pair)
        low = np.uint64((1 << (n + len(place)).bit_length()) - 1)
        keys = np.empty(n + len(place), np.uint64)
        keys[:n] = pair
        keys[n:] = self._pairs[place]
        keys &= ~low
        keys |= self._numbered(len(keys))
        keys.sort()
        near = np.flatnonzero((keys[1:] ^ keys[:-1]) <= low)
        one, other = ((keys[at] & low).view(np.int64) for at in (near, near + 1))
        hit = (one < n) & (other >= n)
        ordered = np.sort(one[hit] << 32 | (other[hit] - n))
        row, found = ordered >> 32, ordered & 0xFFFFFFFF
        judgment = place[found]
        group = np.repeat(np.arange(len(code), dtype=np.int32), lengths)
        same = (group[found] == owner[row]) & id_columns.equal(item, row, self._items, judgment)
        doubtful = not same.all() or bool((one >= n).any())
        return _Found(row, judgment, bool((other < n).any()), doubtful)

    def _numbered(self, count: int) -> Ints:
        if count > len(self._numbers):
            self._numbers = np.arange(2 * count, dtype=np.uint64)
        return self._numbers[:count]

    def one_by_one(self, code: Ints, item: IdColumn, owner: Ints) -> _Found:
        """The same where words of different pairs are equal, or rows are repeated."""
        starts = self._offsets[code]
        lengths = self._offsets[code + 1] - starts
        place = id_columns.between(starts, lengths)
        groups = np.repeat(np.arange(len(code)), lengths).tolist()
        keys = zip(groups, self._items.chosen(place).python, strict=True)
        judged = dict(zip(keys, place.tolist(), strict=True))
        if len(judged) < len(place):
            raise FormatError("two item ids of a query of the qrels have the same text.")
        pairs = zip(owner.tolist(), item.python, strict=True)
        judgment = np.array([judged.get(pair, -1) for pair in pairs], np.int64)
        row = np.flatnonzero(judgment >= 0)
        return _Found(row, judgment[row], repeated=False, doubtful=False)


@dataclass(frozen=True)
class _Found:
    """The rows that are judged, ascending, and their places in the qrels."""

    row: Ints
    judgment: Ints
    repeated: bool  # words of two rows are equal
    doubtful: bool  # words of other pairs are


# --- Repeated rows ---------------------------------------------------------------------------------


def unrepeated(rows: Rows, owner: Ints, pair: Words, duplicates: str, code: Ints) -> Ints | None:
    """The rows to keep, or None for all of them. Raises Repeated where a repeat is an error."""
    ordered = np.sort(pair)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(twice):
        return None
    suspects = np.flatnonzero(np.isin(pair, twice))
    part = rows.item.chosen(suspects)
    first, item = id_columns.distinct(part)
    key = owner[suspects].astype(np.int64) * len(first) + item
    if duplicates == "error":
        seen, again = np.unique(key, return_index=True)[1], np.arange(len(key))
        again = np.setdiff1d(again, seen)
        if len(again):
            row = again[0]
            raise Repeated(int(code[owner[suspects[row]]]), part[row])
        return None
    number = rows.score if rows.score is not None else -_ranks_of(rows)
    best = {
        "first": suspects,
        "last": -suspects,
        "max": -number[suspects],
    }[duplicates]
    by_key = np.lexsort((suspects, best, key))
    copies = np.ones(len(by_key), bool)
    copies[0] = False
    copies[1:] = key[by_key[1:]] == key[by_key[:-1]]
    keep: Bools = np.ones(len(pair), bool)
    keep[suspects[by_key[copies]]] = False
    return None if keep.all() else np.flatnonzero(keep)


def _ranks_of(rows: Rows) -> Ints:
    assert rows.rank is not None
    return rows.rank


def _some(batch: Batch, owner: Ints, kept: Ints) -> Batch:
    lengths = np.bincount(owner[kept], minlength=len(batch.code))
    return Batch(batch.code, _ragged.offsets(lengths), batch.rows.chosen(kept))
