"""Ranks some columns of each row of scores, without an argsort.

If few other scores are above the last wanted one, these are merged with the wanted ones. Otherwise
the row is sorted, and the wanted scores are found in it by bisection: sorting values is several times
faster than sorting indices, since NumPy sorts numbers by vector instructions. A histogram of the
scores, refined in the bins that hold wanted ones, was measured to take as long.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from germane.core.ragged import Ints, find_owners
from germane.kernel.threads import count_threads

Scores: TypeAlias = Any
"""An array of floating-point numbers of any width, or of bools."""
Tied: TypeAlias = tuple[slice, Ints, Ints]
"""A slice of the wanted columns with some ties, and the first and last ranks of their groups."""
Others: TypeAlias = Callable[[Scores, Ints, Scores, Scores], Scores | None]
"""A row, some of its columns, their falling scores, and memory → the scores of other columns."""

TRIED = 8  # rows; if all of these have to be sorted, the other rows are sorted at once
PAIR = 2  # wanted columns of a row up to which counting is faster than looking for higher scores
FEW = 8  # wanted columns of a row up to which counting is faster than sorting it
SHORT = 8192  # comparisons for each row up to which all rows are counted at once
BLOCK = 1 << 22  # comparisons that are held at once
ALONE = 1 << 21  # scores that one thread sorts in the time that others take to start
MOST_THREADS = 8  # more threads wait for the interpreter
TOP = 4  # at most 1/TOP of a row is copied from it, instead of sorting the row
SPREAD = 16  # distinct tied scores of a row from which the row is sorted with its columns


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """The ranks of wanted columns, those of a row together."""

    order: Ints  # H, place in the wanted ``columns``
    rank: Ints  # H, from 1; equal scores in the order of their columns
    tied: list[Tied]  # the other columns share their score with no other


def find_groups(rank: Ints, tied: list[Tied]) -> tuple[Ints, Ints]:
    """Find the first and last rank of each group of equal scores; ``rank`` itself if none is tied."""
    if not tied:
        return rank, rank
    tied_from, tied_to = rank.copy(), rank.copy()
    for here, first, last in tied:
        tied_from[here], tied_to[here] = first, last
    return tied_from, tied_to


def rank_columns(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """Rank the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b of ``scores``.

    ``scores``: (B, N), compared as they are; -0.0 equals 0.0. None is NaN; -inf is an absent cell, which
    is not wanted. The wanted columns of a row are distinct. Needs memory for a few rows, or for ``BLOCK``
    comparisons.
    """
    if is_short(scores, columns):
        return _count(make_comparable(scores), offsets, columns)
    rows = _Rows(scores, offsets, columns)
    some, rest = range(len(scores))[:TRIED], range(len(scores))[TRIED:]
    left = rows.add(some, _find_high)
    left += rest if len(left) == TRIED else rows.add(rest, _find_high)
    rank_in_threads(partial(rows.add, others=_mask_own), left, scores.shape[1])
    return Ranks(rows.order, rows.rank, rows.tied)


def is_short(scores: Scores, columns: Ints) -> bool:
    """Are the rows so short that all wanted columns can be compared with their rows at once?"""
    rows, width = scores.shape
    return bool(len(columns) * width <= SHORT * rows)


def rank_in_threads(each: Callable[[list[int]], object], rows: list[int], width: int) -> None:
    """Rank rows of so many scores in threads, which run at the same time while NumPy sorts."""
    threads = min(count_threads(), MOST_THREADS, len(rows) * width // ALONE)
    if threads <= 1:
        each(rows)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    step = -(-len(rows) // (4 * threads))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(each, (rows[at : at + step] for at in range(0, len(rows), step))))


class _Rows:
    """Collects the ranks of the wanted columns of rows."""

    def __init__(self, scores: Scores, offsets: Ints, columns: Ints) -> None:
        self._scores, self._ends, self._columns = scores, offsets.tolist(), columns
        self.order, self.rank = np.empty((2, len(columns)), np.int64)
        self.tied: list[Tied] = []

    def add(self, rows: Iterable[int], others: Others) -> list[int]:
        """Rank some rows. Returns the rows that are left out, since they have no ``others``."""
        scratch = np.empty(self._scores.shape[1], make_comparable(self._scores[:0]).dtype)
        left = []
        for b in rows:
            here = slice(self._ends[b], self._ends[b + 1])
            if here.start == here.stop:
                continue
            found = _rank_row(
                make_comparable(self._scores[b]), self._columns[here], scratch, others
            )
            if found is None:
                left.append(b)
                continue
            place, self.rank[here], *ends = found
            np.add(place, here.start, out=self.order[here])
            if ends:
                self.tied.append((here, ends[0], ends[1]))
        return left


def make_comparable(scores: Scores) -> Scores:
    """Convert numbers to a type with a vectorised sort; nothing is rounded."""
    return scores.astype(np.float32) if scores.dtype.itemsize <= 2 else scores  # halves and bools


def _count(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """Compare every wanted score with every score of its row."""
    owner, column = find_owners(offsets), np.arange(scores.shape[1])
    step = max(1, BLOCK // max(1, len(column)))
    parts = []
    for start in range(0, max(1, len(columns)), step):
        rows, own = owner[start : start + step], columns[start : start + step]
        others, mine = scores[rows], scores[rows, own][:, None]
        equal = others == mine
        tied_from = np.count_nonzero(others > mine, axis=1) + 1
        tied_to = tied_from - 1 + np.count_nonzero(equal, axis=1)
        equal &= column < own[:, None]
        parts.append((tied_from + np.count_nonzero(equal, axis=1), tied_from, tied_to))
    rank, tied_from, tied_to = map(np.concatenate, zip(*parts, strict=True))
    tied = [(slice(0, len(rank)), tied_from, tied_to)] if (tied_to > tied_from).any() else []
    return Ranks(np.arange(len(columns)), rank, tied)


def _rank_row(row: Scores, own: Ints, scratch: Scores, others: Others) -> tuple[Ints, ...] | None:
    """Order and rank the columns of one row. Returns also the ends of their groups if one is tied.

    Returns None if there are no ``others``, and too many columns to count the higher scores of each.
    """
    mine = row.take(own)
    order = mine.argsort()[::-1]
    mine = mine.take(order)
    found = None if len(mine) <= PAIR else others(row, own, mine, scratch)
    if found is not None:
        tied_from, tied_to = _merge(mine, found)
    elif len(mine) <= FEW:
        counted = [(np.count_nonzero(row > s) + 1, np.count_nonzero(row >= s)) for s in mine]
        tied_from, tied_to = np.array(counted, np.int64).T
    else:
        return None
    if tied_to is tied_from or not len(tied := (tied_to > tied_from).nonzero()[0]):
        return order, tied_from
    own = own[order]
    rank = tied_from.copy()
    rank[tied] = _rank_tied(row, own[tied], mine[tied], tied_from[tied], tied_to[tied])
    rising = np.argsort(rank)
    return order[rising], rank[rising], tied_from[rising], tied_to[rising]


def _find_high(row: Scores, own: Ints, mine: Scores, scratch: Scores) -> Scores | None:
    """Find the scores of other columns that reach the lowest of ``mine``; None if they are too many.

    The better the system, the fewer there are, since its relevant items are among the first.
    """
    high = row >= mine[-1]
    count = np.count_nonzero(high) - len(mine)
    if not count:
        return row[:0]
    if count > len(row) // TOP:
        return None
    high[own] = False
    return row.take(high.nonzero()[0], out=scratch[:count], mode="clip")


def _mask_own(row: Scores, own: Ints, _mine: Scores, scratch: Scores) -> Scores:
    """Copy the whole row, with its own scores at -inf, where they are above none."""
    np.copyto(scratch, row)
    scratch[own] = -np.inf
    return scratch


def _merge(falling: Scores, others: Scores) -> tuple[Ints, Ints]:
    """Find the first and last rank of the group of each falling score among others, which get sorted."""
    above, not_below = _count_above(falling, others)
    place = np.arange(1, len(falling) + 1)
    new = falling[1:] != falling[:-1]
    if new.all():
        first = place + above
        return first, first if not_below is above else place + not_below
    first = np.maximum.accumulate(np.where(np.append(True, new), place, 0))
    last = np.where(np.append(new, True), place, len(place))
    return first + above, np.minimum.accumulate(last[::-1])[::-1] + not_below


def _count_above(falling: Scores, others: Scores) -> tuple[Ints, Ints]:
    """Count the others that are above each score, and those that are at least as high."""
    rising, size = falling[::-1], len(falling)
    if not len(others):
        return (np.zeros(size, np.int64),) * 2
    if len(others) < size:  # each of these has a place among the scores
        places = (size - rising.searchsorted(others, side) for side in ("left", "right"))
        above, not_below = (np.bincount(at, minlength=size + 1)[:size] for at in places)
        return np.add.accumulate(above), np.add.accumulate(not_below)
    others.sort()
    not_above = others.searchsorted(rising, "right")
    above = len(others) - not_above
    tied = (others[np.maximum(not_above, 1) - 1] == rising).nonzero()[0]
    not_below = above.copy()
    not_below[tied] = len(others) - others.searchsorted(rising[tied], "left")
    return above[::-1], not_below[::-1]


def _rank_tied(row: Scores, own: Ints, mine: Scores, tied_from: Ints, tied_to: Ints) -> Ints:
    """Rank tied columns, whose scores fall: equal scores in the order of columns."""
    first = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
    if len(first) <= SPREAD:
        rank = tied_from.copy()
        for start, end in pairwise([*first.tolist(), len(own)]):
            equal = np.flatnonzero(row == mine[start])
            rank[start:end] += equal.searchsorted(own[start:end])
        return rank
    if row.dtype.itemsize == 4:
        keys = _reverse_order(row) << np.uint64(32) | np.arange(len(row), dtype=np.uint64)
        return np.asarray(np.sort(keys).searchsorted(keys[own]) + 1)
    place = np.empty(len(row), np.int64)
    place[np.argsort(row, kind="stable")] = np.arange(len(row))
    return np.asarray(tied_from + place[own] - (len(row) - tied_to))


def _reverse_order(row: Scores) -> Ints:
    """Map singles to whole numbers of 32 bits in the reverse order."""
    bits = (row + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    falling: Ints = (~rising).astype(np.uint64)
    return falling
