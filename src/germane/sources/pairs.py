"""The judged items among rows, and repeated rows, by 32-bit words of (query, item).

Whatever words find is then compared id by id.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Ints
from germane.errors import FormatError, PolicyError
from germane.retrieval import COPIES, Order, Qrels, Retrieved
from germane.sources import binary, id_columns
from germane.sources.alike import neighbors, shortened
from germane.sources.id_columns import IdColumn
from germane.sources.order import in_order, ranks
from germane.sources.rows import Batch, Rows, Scattered


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
        owner = _owner(batch.offsets)
        words = shortened(batch.rows.item.words()) + np.repeat(
            self._salt[code], np.diff(batch.offsets)
        )
        found = self._judged.among(batch, owner, words)
        if len(found.rows) and self._duplicates not in COPIES:
            kept = unrepeated(batch.rows, owner, found.rows, self._duplicates, code)
            if kept is not None:
                batch, words = _some(batch, owner, kept), words[kept]
                owner = _owner(batch.offsets)
                found = self._judged.among(batch, owner, words)
        row, judgment = found.row, found.judgment
        if len(found.judgments):
            row, judgment = self._judged.one_by_one(batch, owner, found)
        self._retrieved[code] = np.diff(batch.offsets)
        score = in_order(batch, owner, self._qrels.queries)
        if score is not None and self._order.nonpositive == "miss":
            row, judgment = (column[score[row] > 0] for column in (row, judgment))
        group = owner[row]
        if score is None:
            rank = first = last = row - batch.offsets[group] + 1
        else:
            rank, first, last = ranks(batch, score, owner, row, group, self._order)
        self._parts.append((judgment, code[group], rank, first, last))

    def _admitted(self, batch: Batch) -> Batch:
        """The rows that count as retrieved, their scores as precise as asked for."""
        rows, order = batch.rows, self._order
        if rows.score is None:
            if order.threshold is not None:
                raise PolicyError("threshold=… is for scores; the run has ranks alone.")
        elif order.scores != "double":
            precise = order.precise(rows.score, batch.offsets)
            batch = replace(batch, rows=replace(rows, score=precise))
        if order.takes_all:
            return batch
        owner, score = _owner(batch.offsets), batch.rows.score
        kept = np.ones(len(owner), bool) if score is None else order.above(score)
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


def salt(queries: int) -> Ints:
    """What is added to the word of an item to tell the queries apart."""
    return shortened(binary.mixed(np.arange(1, queries + 1, dtype=np.uint64)))


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

    def __init__(self, items: IdColumn, salt: Ints, offsets: Ints) -> None:
        self._items, self._offsets = items, offsets
        self._words = shortened(items.all_words) + np.repeat(salt, np.diff(offsets))

    def among(self, batch: Batch, owner: Ints, words: Ints) -> _Found:
        """The rows that are judged. Words of rows and of judgments are compared together."""
        code, n = batch.code, len(words)
        starts, ends = self._offsets[code], self._offsets[code + 1]
        place: Any = slice(int(starts[0]), int(ends[-1]))
        if (starts[1:] != ends[:-1]).any():
            place = _ragged.between(starts, ends - starts)
        one, other = neighbors(words, self._words[place])
        simple = (one < n) & (other >= n)
        chained = np.flatnonzero(other[:-1] == one[1:])
        simple[chained] = simple[chained + 1] = False
        hits = np.sort(one[simple] << 32 | (other[simple] - n))
        row, judgment = hits >> 32, hits & 0xFFFFFFFF
        judgment = judgment + starts[0] if isinstance(place, slice) else place[judgment]
        group = owner[row]
        same = (judgment >= starts[group]) & (judgment < ends[group])
        same &= id_columns.equal(batch.rows.item, row, self._items, judgment)
        if not same.all():
            row, judgment = row[same], judgment[same]
        crowd = np.unique(np.concatenate((one[~simple], other[~simple])))
        rows, judged = crowd[crowd < n], crowd[crowd >= n] - n
        judged = judged + starts[0] if isinstance(place, slice) else place[judged]
        return _Found(row, judgment, rows, judged)

    def one_by_one(self, batch: Batch, owner: Ints, found: _Found) -> tuple[Ints, Ints]:
        """The same with the rows and judgments whose words are those of several."""
        query = np.searchsorted(self._offsets, found.judgments, "right") - 1
        keys = zip(query.tolist(), self._items.chosen(found.judgments).python, strict=True)
        judged = dict(zip(keys, found.judgments.tolist(), strict=True))
        if len(judged) < len(found.judgments):
            raise FormatError("two item ids of a query of the qrels have the same text.")
        queries = batch.code[owner[found.rows]].tolist()
        pairs = zip(queries, batch.rows.item.chosen(found.rows).python, strict=True)
        judgment = np.array([judged.get(pair, -1) for pair in pairs], np.int64)
        row = np.append(found.row, found.rows[judgment >= 0])
        order = np.argsort(row, kind="stable")
        return row[order], np.append(found.judgment, judgment[judgment >= 0])[order]


@dataclass(frozen=True)
class _Found:
    """The rows that are judged, ascending, and their places in the qrels.

    Left open are the rows and the judgments whose words are those of several others.
    """

    row: Ints
    judgment: Ints
    rows: Ints
    judgments: Ints


# --- Repeated rows ---------------------------------------------------------------------------------


def unrepeated(rows: Rows, owner: Ints, suspects: Ints, duplicates: str, code: Ints) -> Ints | None:
    """The rows to keep, or None for all of them. Raises Repeated where a repeat is an error.

    Only the suspects can be repeated: rows whose word is that of another.
    """
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
    keep: Bools = np.ones(len(owner), bool)
    keep[suspects[by_key[copies]]] = False
    return None if keep.all() else np.flatnonzero(keep)


def _ranks_of(rows: Rows) -> Ints:
    assert rows.rank is not None
    return rows.rank


def _some(batch: Batch, owner: Ints, kept: Ints) -> Batch:
    lengths = np.bincount(owner[kept], minlength=len(batch.code))
    return Batch(batch.code, _ragged.offsets(lengths), batch.rows.chosen(kept))
