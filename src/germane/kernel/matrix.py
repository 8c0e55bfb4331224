"""Ranks some columns of each row of scores.

The values of a row are sorted, and the wanted ones found among them by bisection: NumPy sorts
numbers by vector instructions, several times faster than it sorts their places. Short rows are
ranked all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.core.ragged import Ints, find_owners
from germane.kernel.threads import count_threads

Scores: TypeAlias = Any
"""An array of floating-point numbers of any width, or of bools."""

FEW = 8  # wanted columns of a row up to which comparing these is faster than sorting it
SHORT = 8192  # comparisons for each row up to which all rows are ranked at once
WIDE = 256  # scores of a row up to which sorting places at once is faster than values row by row
BLOCK = 1 << 22  # comparisons that are held at once
ALONE = 1 << 21  # scores that one thread sorts in the time that others take to start
MOST_THREADS = 8  # more threads wait for the interpreter
SPREAD = 16  # distinct tied scores of a row from which each is not looked for alone


class Ranks(NamedTuple):
    """The ranks of wanted columns, those of a row together and ascending."""

    order: Ints  # H, place in the wanted ``columns``
    rank: Ints  # H, from 1; equal scores in the order of their columns
    tied_from: Ints  # H, first and last rank of the group of equal scores; ``rank`` if none is tied
    tied_to: Ints

    def put(self, here: slice, ranked: tuple[Ints, ...]) -> None:
        """Put in the ranks of some of the wanted columns, whose order begins at 0."""
        for whole, part in zip(self, ranked, strict=True):
            whole[here] = part
        self.order[here] += here.start

    def join(self) -> Ranks:
        """Make one array of the three if none is tied."""
        tied = (self.tied_to > self.tied_from).any()
        return self if tied else self._replace(tied_from=self.rank, tied_to=self.rank)


def rank_columns(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """Rank the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b of ``scores``.

    ``scores``: (B, N), compared as they are; -0.0 equals 0.0. None is NaN; -inf is an absent cell,
    which is not wanted. The wanted columns of a row are distinct. Needs memory for a few rows, or
    for ``BLOCK`` comparisons.
    """
    found = Ranks(*np.empty((4, len(columns)), np.int64))
    rows, width = scores.shape
    dense = width <= WIDE and len(columns) > FEW * rows
    if dense or is_short(scores, columns):
        rank_some = _sort_rows if dense else _compare
        comparable, owner = make_comparable(scores), find_owners(offsets)
        step = max(1, BLOCK // width)
        for start in range(0, len(columns), step):
            here = slice(start, start + step)
            found.put(here, rank_some(comparable, owner[here], columns[here]))
    else:
        ends = offsets.tolist()

        def add(rows: list[int]) -> None:
            for b in rows:
                here = slice(ends[b], ends[b + 1])
                found.put(here, _rank_row(make_comparable(scores[b]), columns[here]))

        rank_in_threads(add, np.flatnonzero(np.diff(offsets)).tolist(), width)
    return found.join()


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


def make_comparable(scores: Scores) -> Scores:
    """Convert numbers to a type with a vectorised sort; nothing is rounded."""
    return scores.astype(np.float32) if scores.dtype.itemsize <= 2 else scores  # halves and bools


def _compare(scores: Scores, owner: Ints, own: Ints) -> tuple[Ints, ...]:
    """Rank wanted columns of rows ``owner`` by comparing each with its row."""
    others, mine = scores[owner], scores[owner, own][:, None]
    first = np.count_nonzero(others > mine, axis=1) + 1
    equal = others == mine
    last = first - 1 + np.count_nonzero(equal, axis=1)
    equal &= np.arange(scores.shape[1]) < own[:, None]
    rank = first + np.count_nonzero(equal, axis=1)
    return np.arange(len(own)), rank, first, last


def _sort_rows(scores: Scores, owner: Ints, own: Ints) -> tuple[Ints, ...]:
    """Rank wanted columns of rows ``owner``, which ascend, by sorting the places of these rows."""
    low, width = owner[0], scores.shape[1]
    falling = -scores[low : owner[-1] + 1]
    starts = (np.arange(len(falling)) * width)[:, None]
    order = (falling.argsort(axis=1) + starts).ravel()
    ordered = falling.ravel().take(order)
    is_last = np.append(ordered[1:] != ordered[:-1], True)
    is_last[width - 1 :: width] = True
    is_tied = not is_last.all()
    if is_tied:  # equal scores are ordered by their columns
        order = (falling.argsort(axis=1, kind="stable") + starts).ravel()
    wanted = np.full(falling.size, -1)
    wanted[(owner - low) * width + own] = np.arange(len(own))
    wanted = wanted.take(order)
    at = np.flatnonzero(wanted >= 0)
    rank = at % width + 1
    if not is_tied:
        return wanted[at], rank, rank, rank
    ends = np.append(-1, np.flatnonzero(is_last))
    group = np.cumsum(is_last)[at] - is_last[at]
    return wanted[at], rank, rank - at + ends[group] + 1, rank - at + ends[group + 1]


def _rank_row(row: Scores, own: Ints) -> tuple[Ints, ...]:
    """Rank some columns of a row: their order, ranks, and the ends of their groups."""
    mine = row[own]
    order = mine.argsort()[::-1]
    mine = mine[order]
    if len(mine) <= FEW:
        counted = [(np.count_nonzero(row > one) + 1, np.count_nonzero(row >= one)) for one in mine]
        first, last = np.array(counted, np.int64).T
    else:
        rising = np.sort(row)
        end = rising.searchsorted(mine, "right")
        equal = np.flatnonzero(rising[end - 2] == mine)
        first = last = len(row) + 1 - end
        if len(equal):
            last = first.copy()
            last[equal] = len(row) - rising.searchsorted(mine[equal], "left")
    tied = np.flatnonzero(last > first)
    if not len(tied):
        return order, first, first, first
    rank = first.copy()
    rank[tied] = _rank_tied(row, own[order[tied]], mine[tied], first[tied], last[tied])
    falling = rank.argsort()
    return order[falling], rank[falling], first[falling], last[falling]


def _rank_tied(row: Scores, own: Ints, mine: Scores, first: Ints, last: Ints) -> Ints:
    """Rank tied columns, whose scores fall: equal scores in the order of columns."""
    starts = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
    if len(starts) <= SPREAD:
        rank = first.copy()
        for start, end in pairwise([*starts.tolist(), len(own)]):
            rank[start:end] += np.flatnonzero(row == mine[start]).searchsorted(own[start:end])
        return rank
    if row.dtype.itemsize == 4:
        keys = _reverse_order(row) << np.uint64(32) | np.arange(len(row), dtype=np.uint64)
        return np.asarray(np.sort(keys).searchsorted(keys[own]) + 1)
    place = np.empty(len(row), np.int64)
    place[np.argsort(row, kind="stable")] = np.arange(len(row))
    return np.asarray(first + place[own] - (len(row) - last))


def _reverse_order(row: Scores) -> Ints:
    """Map singles to whole numbers of 32 bits in the reverse order."""
    bits = (row + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    falling: Ints = (~rising).astype(np.uint64)
    return falling
