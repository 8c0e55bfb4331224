"""Scores in rows: the exact rank of some columns of each, without an argsort.

Where few other scores stand above the last wanted one, these are placed among the wanted ones. Else
the row is sorted and the wanted scores are found in it by bisection: sorting values is several times
cheaper than sorting indices, since NumPy sorts numbers by vector instructions. Counting over a
histogram of the scores, refined in the bins that hold wanted ones, was measured too: it takes as long.
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
"""Where columns stand, some of which are tied, and the first and last ranks of their groups."""
Others: TypeAlias = Callable[[Scores, Ints, Scores, Scores], Scores | None]
"""A row, some of its columns, their scores, which fall, and memory → scores of other columns."""

TRIED = 8  # rows: where each of them has to be sorted, the others are sorted, too
PAIR = 2  # wanted columns of a row up to which counting is cheaper than looking for what is above
FEW = 8  # wanted columns of a row up to which counting is cheaper than sorting it
SHORT = 8192  # comparisons a row up to which all rows are counted at once
BLOCK = 1 << 22  # comparisons that are held at once
ALONE = 1 << 21  # scores that one thread sorts sooner than others are started
MOST_THREADS = 8  # beyond, they wait for the interpreter
TOP = 4  # a part of the row that is worth taking out before it is sorted
SPREAD = 16  # tied scores of a row from which it is sorted once more, columns and all


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """The ranks of wanted columns, those of a row together."""

    order: Ints  # H, place in the ``columns`` asked for
    rank: Ints  # H, from 1; equal scores in the order of their columns
    tied: list[Tied]  # columns that stand in none of these share their score with no other


def find_groups(rank: Ints, tied: list[Tied]) -> tuple[Ints, Ints]:
    """The first and last rank of the group of equal scores of each; ``rank`` itself where none is tied."""
    if not tied:
        return rank, rank
    tied_from, tied_to = rank.copy(), rank.copy()
    for here, first, last in tied:
        tied_from[here], tied_to[here] = first, last
    return tied_from, tied_to


def rank_columns(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """The ranks of the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b of ``scores``.

    ``scores``: (B, N), compared as they are; -0.0 equals 0.0. None is NaN; -inf is a cell that is not
    there, and not wanted. The columns of a row are different ones. Needs memory for a few rows, or for
    ``BLOCK`` comparisons.
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
    """Are the rows so short that all wanted columns are compared with their rows at once?"""
    rows, width = scores.shape
    return bool(len(columns) * width <= SHORT * rows)


def rank_in_threads(each: Callable[[list[int]], object], rows: list[int], width: int) -> None:
    """Some rows of so many scores at a time: other threads run while NumPy sorts."""
    threads = min(count_threads(), MOST_THREADS, len(rows) * width // ALONE)
    if threads <= 1:
        each(rows)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    step = -(-len(rows) // (4 * threads))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(each, (rows[at : at + step] for at in range(0, len(rows), step))))


class _Rows:
    """The wanted columns of rows, and what ``Ranks`` holds of them as far as it is found."""

    def __init__(self, scores: Scores, offsets: Ints, columns: Ints) -> None:
        self._scores, self._ends, self._columns = scores, offsets.tolist(), columns
        self.order, self.rank = np.empty((2, len(columns)), np.int64)
        self.tied: list[Tied] = []

    def add(self, rows: Iterable[int], others: Others) -> list[int]:
        """Find the ranks of some rows. Returns those left out, for which there are no ``others``."""
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
    """Convert numbers to a type whose sort is vectorised; nothing is rounded."""
    return scores.astype(np.float32) if scores.dtype.itemsize <= 2 else scores  # halves and bools


def _count(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """Every wanted score against every score of its row."""
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
    """Order and rank of one row's columns, and both ends of their groups where one is tied.

    None: there are no ``others``, and too many columns to count what is above each.
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
    """The scores of other columns that reach the last of ``mine``, which fall; None: too many.

    The better the system, the fewer these are: its relevant items stand among the first.
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
    """The scores of the whole row, its own at -inf: above none of them."""
    np.copyto(scratch, row)
    scratch[own] = -np.inf
    return scratch


def _merge(falling: Scores, others: Scores) -> tuple[Ints, Ints]:
    """The first and last rank of the group of each score that falls, among others; these are sorted."""
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
    """How many others are above each score, and how many are at least as high."""
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
    """The ranks of tied columns, whose scores fall: equal scores in the order of columns."""
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
    """Singles as whole numbers of 32 bits that fall where they rise."""
    bits = (row + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    falling: Ints = (~rising).astype(np.uint64)
    return falling
