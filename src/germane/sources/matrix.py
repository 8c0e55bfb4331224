"""Scores in rows: the exact rank of some columns of each, without an argsort.

Sorting values is several times cheaper than sorting indices, since NumPy sorts numbers by vector
instructions; the wanted scores are then found in the sorted row by bisection. Counting over a
histogram of the scores, refined in the bins that hold wanted ones, was measured too: taking the
elements of these bins out of the row costs more than sorting all of it.
"""

import os
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from germane._ragged import Ints, owners
from germane.retrieval import together

Scores: TypeAlias = Any
"""An array of floating-point numbers of any width, or of bools."""

FEW = 8  # wanted columns of a row up to which counting is cheaper than sorting it
SHORT = 8192  # comparisons a row up to which all rows are counted at once
BLOCK = 1 << 22  # comparisons that are held at once
ALONE = 1 << 21  # scores that one thread sorts sooner than others are started
MOST_THREADS = 8  # beyond, they wait for the interpreter
TOP = 4  # a part of the row that is worth taking out before it is sorted
SPREAD = 16  # tied scores of a row from which it is sorted once more, columns and all


@dataclass(frozen=True, eq=False, repr=False)
class Ranks:
    """The ranks of wanted columns, those of a row together; one array where none is tied."""

    order: Ints  # H, place in the ``columns`` asked for
    rank: Ints  # H, from 1; equal scores in the order of their columns
    tied_from: Ints  # H, first and last rank of the group of equal scores
    tied_to: Ints  # H


def ranks(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """The ranks of the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b of ``scores``.

    ``scores``: (B, N), compared as they are; -0.0 equals 0.0. None is NaN; -inf is a cell that is not
    there, and not wanted. Needs memory for a few rows, or for ``BLOCK`` comparisons.
    """
    if len(columns) * scores.shape[1] <= SHORT * len(scores):
        return _counted(comparable(scores), offsets, columns)
    return Ranks(*together(_in_threads(scores, offsets, columns)))


def _in_threads(scores: Scores, offsets: Ints, columns: Ints) -> list[tuple[Ints, ...]]:
    """Every row, some at a time: NumPy lets other threads run while it sorts."""
    threads = min(_cores(), scores.size // ALONE)
    if threads <= 1:
        return _of_rows(range(len(scores)), scores, offsets, columns)
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    step = -(-len(scores) // (4 * threads))
    with ThreadPoolExecutor(threads) as pool:
        shares = [range(len(scores))[start : start + step] for start in range(0, len(scores), step)]
        done = pool.map(lambda share: _of_rows(share, scores, offsets, columns), shares)
        return list(chain.from_iterable(done))


def _of_rows(share: range, scores: Scores, offsets: Ints, columns: Ints) -> list[tuple[Ints, ...]]:
    scratch = np.empty(scores.shape[1], comparable(scores[:0]).dtype)
    parts = []
    for b in share:
        start, end = int(offsets[b]), int(offsets[b + 1])
        order, *found = _of_row(comparable(scores[b]), columns[start:end], scratch)
        parts.append((order + start, *found))
    return parts


def _cores() -> int:
    """The cores that this process may use, up to the number that still helps."""
    if hasattr(os, "sched_getaffinity"):
        return min(MOST_THREADS, len(os.sched_getaffinity(0)))
    return min(MOST_THREADS, os.cpu_count() or 1)


def comparable(scores: Scores) -> Scores:
    """The same numbers in a type whose sort is vectorised; nothing is rounded."""
    return scores.astype(np.float32) if scores.dtype.itemsize <= 2 else scores  # halves and bools


def _counted(scores: Scores, offsets: Ints, columns: Ints) -> Ranks:
    """Every wanted score against every score of its row."""
    owner, column = owners(offsets), np.arange(scores.shape[1])
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
    return Ranks(
        np.arange(len(columns)), *(np.concatenate(part) for part in zip(*parts, strict=True))
    )


def _of_row(row: Scores, own: Ints, scratch: Scores) -> tuple[Ints, Ints, Ints, Ints]:
    """``Ranks`` of one row's columns."""
    mine = row[own]
    order = mine.argsort()[::-1]
    own, mine = own[order], mine[order]
    ascending = _sorted(row, mine, scratch)
    if ascending is None:
        counted = [(np.count_nonzero(row > s) + 1, np.count_nonzero(row >= s)) for s in mine]
        tied_from, tied_to = np.array(counted, np.int64).reshape(-1, 2).T
    else:
        tied_from, tied_to = _bisected(ascending, mine)
    rank, tied = tied_from, (tied_to > tied_from).nonzero()[0]
    if not len(tied):
        tied_to = rank
    else:
        rank = tied_from.copy()
        rank[tied] = _ranks_of_tied(row, own[tied], mine[tied], tied_from[tied], tied_to[tied])
        rising = np.argsort(rank)
        order, rank = order[rising], rank[rising]
        tied_from, tied_to = tied_from[rising], tied_to[rising]
    return order, rank, tied_from, tied_to


def _sorted(row: Scores, mine: Scores, scratch: Scores) -> Scores | None:
    """The scores of a row that can stand above one of ``mine``, ascending; None: rather count.

    The better the system, the fewer these are: its relevant items stand among the first.
    """
    if len(mine) > 2:
        above = row >= mine[-1]
        if np.count_nonzero(above) <= len(row) // TOP:
            (top,) = above.nonzero()
            ascending = row.take(top, out=scratch[: len(top)], mode="clip")
            ascending.sort()
            return ascending
    if len(mine) <= FEW:
        return None
    ascending = scratch[: len(row)]
    np.copyto(ascending, row)
    ascending.sort()
    return ascending


def _bisected(ascending: Scores, falling: Scores) -> tuple[Ints, Ints]:
    """The first and last rank of the groups of some scores, which fall, in a sorted row."""
    size, rising = len(ascending), falling[::-1]
    not_above = ascending.searchsorted(rising, "right")
    tied_to = size + 1 - not_above
    tied = (ascending[np.maximum(not_above, 2) - 2] == rising).nonzero()[0]
    tied_to[tied] = size - ascending.searchsorted(rising[tied], "left")
    return (size + 1 - not_above)[::-1], tied_to[::-1]


def _ranks_of_tied(row: Scores, own: Ints, mine: Scores, tied_from: Ints, tied_to: Ints) -> Ints:
    """The ranks of tied columns, whose scores fall: equal scores in the order of columns."""
    first = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
    if len(first) <= SPREAD:
        rank = tied_from.copy()
        for start, end in pairwise([*first.tolist(), len(own)]):
            equal = np.flatnonzero(row == mine[start])
            rank[start:end] += equal.searchsorted(own[start:end])
        return rank
    if row.dtype.itemsize == 4:
        keys = _falling(row) << np.uint64(32) | np.arange(len(row), dtype=np.uint64)
        return np.asarray(np.sort(keys).searchsorted(keys[own]) + 1)
    place = np.empty(len(row), np.int64)
    place[np.argsort(row, kind="stable")] = np.arange(len(row))
    return np.asarray(tied_from + place[own] - (len(row) - tied_to))


def _falling(row: Scores) -> Ints:
    """Singles as whole numbers of 32 bits that fall where they rise."""
    bits = (row + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    falling: Ints = (~rising).astype(np.uint64)
    return falling
