"""The ranks of rows among the rows of their query."""

from __future__ import annotations

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.retrieval import Order
from germane.sources import binary
from germane.sources.binary import Spans

Items = Spans
FEW = 8  # rows of which one is asked for, from which on bisection costs less than an order of all


def ranks(
    items: Items, offsets: Ints, score: Floats, row: Ints, group: Ints, order: Order
) -> tuple[Ints, Ints, Ints]:
    """Rank, and first and last rank of the group of equal scores, of the rows asked for.

    Items and scores are those of some queries: query g's rows are ``offsets[g]:offsets[g + 1]``.
    """
    if _ragged.falls(score, offsets):
        return _arranged(items, offsets, score, None, row, group, order)
    if len(row) * FEW < len(score):
        rank = _untied(score, offsets, row, group)
        if rank is not None:
            return rank, rank, rank
    falling = _ragged.falling(score, offsets)
    return _arranged(items, offsets, score, falling, row, group, order)


def _untied(score: Floats, offsets: Ints, row: Ints, group: Ints) -> Ints | None:
    """One plus the number of higher scores of the query, or None where another one is equal.

    Scores are sorted without the rows that they belong to, which costs a third, and each of those asked for is
    found by bisection.
    """
    rising, own = _ragged.sorted_rows(score, offsets), score[row]
    left = _ragged.lengths(offsets)[group]
    end = offsets[group] + left
    at = offsets[group]  # where a score is known not to be higher
    while len(left) and left.max() > 1:
        half = left >> 1
        at += half * (rising.take(at + half) <= own)  # np.where would mispredict half of them
        left -= half
    before = np.maximum(at - 1, offsets[group])
    return None if ((rising[before] == own) & (before < at)).any() else end - at


def _arranged(
    items: Items,
    offsets: Ints,
    score: Floats,
    arranged: Ints | None,
    row: Ints,
    group: Ints,
    order: Order,
) -> tuple[Ints, Ints, Ints]:
    """The same where each query's rows, in this arrangement, fall; None: as they stand."""
    at = row
    if arranged is not None:
        place = np.empty(len(arranged), np.int64)
        place[arranged] = np.arange(len(arranged))
        at, score = place[row], score[arranged]
    rank = at - offsets[group] + 1
    if not _ragged.is_shared(score, offsets, at, group):
        return rank, rank, rank
    new = _first_of_equals(score, offsets)
    starts = np.flatnonzero(new)
    run = np.searchsorted(starts, at, "right") - 1
    first = starts[run] - offsets[group] + 1
    last = starts[run + 1] - offsets[group]
    tied = np.flatnonzero(last > first)
    rank = first.copy()
    rank[tied] += _places(items, arranged, starts, run[tied], row[tied], order)
    return rank, first, last


def _first_of_equals(score: Floats, offsets: Ints) -> Bools:
    """Does a group of equal scores begin at each row? One more stands for the end."""
    new = np.ones(len(score) + 1, bool)
    new[1:-1] = score[1:] != score[:-1]
    new[offsets] = True
    return new


def _places(
    items: Items, arranged: Ints | None, starts: Ints, run: Ints, row: Ints, order: Order
) -> Ints:
    """Each row's place, from 0, among the rows of its group of equal scores."""
    runs = np.unique(run)
    lengths = starts[runs + 1] - starts[runs]
    at = _ragged.between(starts[runs], lengths)
    members = at if arranged is None else arranged[at]
    group = np.repeat(np.arange(len(runs)), lengths)
    if order.equal != "given":
        members = members[last_to_first(items.chosen(members), group)]
    elif arranged is not None:
        members = members[np.lexsort((members, group))]
    place = np.empty(len(items), np.int64)
    place[members] = _ragged.between(np.zeros(len(runs), np.int64), lengths)
    return place[row]


def last_to_first(ids: Items, group: Ints) -> Ints:
    """The rows by group, and within a group by id as text, the last one first."""
    falling = binary.falling(ids)
    return falling[np.argsort(group[falling], kind="stable")]
