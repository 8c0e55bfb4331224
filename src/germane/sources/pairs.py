"""The judged items among the rows of queries, and what is done with rows that stand twice."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.errors import FormatError, PolicyError
from germane.retrieval import COPIES, Order, Qrels, Retrieved
from germane.sources import joining
from germane.sources.id_columns import IdColumn
from germane.sources.matching import Lists, Matches, matches
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
        self._qrels, self._items = qrels, items
        self._duplicates, self._order = duplicates, order
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
        found = self._found(batch)
        if len(found.again) and self._duplicates not in COPIES:
            kept = unrepeated(batch, found.again, self._duplicates)
            if kept is not None:
                batch = _some(batch, kept)
                found = self._found(batch)
        self._retrieved[code] = _ragged.lengths(batch.offsets)
        score = in_order(batch, self._qrels.queries)
        group, row, judgment = found.group, found.one, found.other
        given = batch.rows.score  # ranks have no sign
        if given is not None and self._order.nonpositive == "miss":
            group, row, judgment = (column[given[row] > 0] for column in (group, row, judgment))
        if score is None:
            rank = first = last = row - batch.offsets[group] + 1
        else:
            items, offsets = batch.rows.item, batch.offsets
            rank, first, last = ranks(items, offsets, score, row, group, self._order)
        part = judgment, code[group], rank, first, last
        self._parts += [part] if batch.together else _by_query(*part)

    def _found(self, batch: Batch) -> Matches:
        """The rows that are judged, and those that may be repeated."""
        starts, lengths = batch.offsets[:-1], _ragged.lengths(batch.offsets)
        ends = self._qrels.offsets
        judged = Lists(self._items, ends[batch.code], ends[batch.code + 1] - ends[batch.code])
        found = matches(Lists(batch.rows.item, starts, lengths), judged)
        if len(found.other_again):
            self._refuse_same_text(found.other_again)
        return found

    def _refuse_same_text(self, judgments: Ints) -> None:
        """Ids of other types can be one text."""
        query = np.searchsorted(self._qrels.offsets, judgments, "right")
        ids = self._items.chosen(judgments).python
        if len(set(zip(query.tolist(), ids, strict=True))) < len(ids):
            raise FormatError("two item ids of a query of the qrels have the same text.")

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
        owner, score = batch.owner, batch.rows.score
        kept = np.ones(len(owner), bool) if score is None else order.above(score)
        if order.own == "drop":
            own = [self._qrels.queries[q] for q in batch.code.tolist()]
            pairs = zip(rows.item.python, owner.tolist(), strict=True)
            kept &= np.fromiter((item != own[group] for item, group in pairs), bool, len(kept))
        return _some(batch, np.flatnonzero(kept))

    def result(self, unknown: list[Hashable]) -> Retrieved:
        """What was retrieved of the judgments."""
        some = [part for part in self._parts if len(part[0])]
        some.sort(key=lambda part: int(part[1][0]))  # so that hits are in order if the queries were
        found = _together(some or [(np.zeros(0, np.int64),) * 5])
        judgment, owner, rank, tied_from, tied_to = found
        return Retrieved(
            judgment, owner, rank, tied_from, tied_to, self._retrieved, self._answered, unknown
        )


def _by_query(
    judgment: Ints, owner: Ints, rank: Ints, tied_from: Ints, tied_to: Ints
) -> Iterator[tuple[Ints, ...]]:
    """What was found of each query; ranks stay one array with the ends of their groups."""
    changes = (owner[1:] != owner[:-1]).nonzero()[0] + 1
    for start, end in pairwise([0, *changes.tolist(), len(owner)]):
        part = rank[start:end]
        tied = (part, part) if tied_to is rank else (tied_from[start:end], tied_to[start:end])
        yield judgment[start:end], owner[start:end], part, *tied


def _together(parts: Sequence[tuple[Ints, ...]]) -> list[Ints]:
    """Columns whose last three are the rank and both ends of its group, one part after the other.

    These three are one array where no rank is tied, if they are in every part.
    """
    *columns, tied_from, tied_to = zip(*parts, strict=True)
    found = [np.concatenate(column) for column in columns]
    if all(last is rank for last, rank in zip(tied_to, columns[-1], strict=True)):
        return [*found, found[-1], found[-1]]
    return [*found, np.concatenate(tied_from), np.concatenate(tied_to)]


def _has_repeats(code: Ints) -> bool:
    if (code[1:] > code[:-1]).all():
        return False
    ordered = np.sort(code)
    return bool((ordered[1:] == ordered[:-1]).any())


# --- Repeated rows ---------------------------------------------------------------------------------


def unrepeated(batch: Batch, suspects: Ints, duplicates: str) -> Ints | None:
    """The rows to keep, or None for all of them. Raises Repeated where a repeat is an error.

    Only the suspects can be repeated: rows that may have the item of another row of their query.
    """
    rows, owner = batch.rows, np.searchsorted(batch.offsets, suspects, "right") - 1
    part = rows.item.chosen(suspects)
    first, item = joining.distinct(part)
    key = owner * len(first) + item
    if duplicates == "error":
        seen, again = np.unique(key, return_index=True)[1], np.arange(len(key))
        again = np.setdiff1d(again, seen)
        if len(again):
            raise Repeated(int(batch.code[owner[again[0]]]), part[again[0]])
        return None
    best = {"first": suspects, "last": -suspects, "max": -_worth(rows)[suspects]}[duplicates]
    by_key = np.lexsort((suspects, best, key))
    copies = np.ones(len(by_key), bool)
    copies[0] = False
    copies[1:] = key[by_key[1:]] == key[by_key[:-1]]
    keep: Bools = np.ones(len(rows.item), bool)
    keep[suspects[by_key[copies]]] = False
    return None if keep.all() else np.flatnonzero(keep)


def _worth(rows: Rows) -> Floats | Ints:
    """What is higher the better a row stands."""
    if rows.score is not None:
        return rows.score
    return -(np.arange(len(rows.item)) if rows.rank is None else rows.rank.astype(np.int64))


def _some(batch: Batch, kept: Ints) -> Batch:
    lengths = np.bincount(batch.owner[kept], minlength=len(batch.code))
    return replace(batch, offsets=_ragged.offsets(lengths), rows=batch.rows.chosen(kept))
