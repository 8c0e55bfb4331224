"""Ranks galleries by exact scores, of which only those are computed that products leave open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints, find_owners
from germane.kernel.library import Hits, count_threads

if TYPE_CHECKING:
    from germane.kernel.reduction import Judgments


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

    def put(self, wanted: slice, ranked: tuple[Ints, ...]) -> None:
        """Put in the ranks of some of the wanted columns, whose order begins at 0."""
        for all_ranks, part in zip(self, ranked, strict=True):
            all_ranks[wanted] = part
        self.order[wanted] += wanted.start

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
    ranks = Ranks(*np.empty((4, len(columns)), np.int64))
    rows, width = scores.shape
    dense = width <= WIDE and len(columns) > FEW * rows
    if dense or is_short(scores, columns):
        rank_some = _sort_rows if dense else _compare
        comparable, owner = make_comparable(scores), find_owners(offsets)
        step = max(1, BLOCK // width)
        for start in range(0, len(columns), step):
            piece = slice(start, start + step)
            ranks.put(piece, rank_some(comparable, owner[piece], columns[piece]))
    else:
        ends = offsets.tolist()

        def add(rows: list[int]) -> None:
            for b in rows:
                piece = slice(ends[b], ends[b + 1])
                ranks.put(piece, _rank_row(make_comparable(scores[b]), columns[piece]))

        rank_in_threads(add, np.flatnonzero(np.diff(offsets)).tolist(), width)
    return ranks.join()


def is_short(scores: Scores, columns: Ints) -> bool:
    """Are the rows so short that all wanted columns can be compared with their rows at once?"""
    rows, width = scores.shape
    return bool(len(columns) * width <= SHORT * rows)


def rank_in_threads(rank_rows: Callable[[list[int]], object], rows: list[int], width: int) -> None:
    """Rank rows of so many scores in threads, which run at the same time while NumPy sorts."""
    threads = min(count_threads(), MOST_THREADS, len(rows) * width // ALONE)
    if threads <= 1:
        rank_rows(rows)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes as long to import as germane

    step = -(-len(rows) // (4 * threads))
    with ThreadPoolExecutor(threads) as pool:
        list(
            pool.map(rank_rows, (rows[start : start + step] for start in range(0, len(rows), step)))
        )


def make_comparable(scores: Scores) -> Scores:
    """Convert numbers to a type with a vectorised sort; nothing is rounded."""
    return scores.astype(np.float32) if scores.dtype.itemsize <= 2 else scores  # halves and bools


def _compare(scores: Scores, owner: Ints, columns: Ints) -> tuple[Ints, ...]:
    """Rank wanted columns of rows ``owner`` by comparing each with its row."""
    row_scores, mine = scores[owner], scores[owner, columns][:, None]
    first = np.count_nonzero(row_scores > mine, axis=1) + 1
    equal = row_scores == mine
    last = first - 1 + np.count_nonzero(equal, axis=1)
    equal &= np.arange(scores.shape[1]) < columns[:, None]
    rank = first + np.count_nonzero(equal, axis=1)
    return np.arange(len(columns)), rank, first, last


def _sort_rows(scores: Scores, owner: Ints, columns: Ints) -> tuple[Ints, ...]:
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
    wanted[(owner - low) * width + columns] = np.arange(len(columns))
    wanted = wanted.take(order)
    positions = np.flatnonzero(wanted >= 0)
    rank = positions % width + 1
    if not is_tied:
        return wanted[positions], rank, rank, rank
    ends = np.append(-1, np.flatnonzero(is_last))
    group = np.cumsum(is_last)[positions] - is_last[positions]
    return (
        wanted[positions],
        rank,
        rank - positions + ends[group] + 1,
        rank - positions + ends[group + 1],
    )


def _rank_row(row: Scores, columns: Ints) -> tuple[Ints, ...]:
    """Rank some columns of a row: their order, ranks, and the ends of their groups."""
    mine = row[columns]
    order = mine.argsort()[::-1]
    mine = mine[order]
    if len(mine) <= FEW:
        counted = [
            (np.count_nonzero(row > score) + 1, np.count_nonzero(row >= score)) for score in mine
        ]
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
    rank[tied] = _rank_tied(row, columns[order[tied]], mine[tied], first[tied], last[tied])
    falling = rank.argsort()
    return order[falling], rank[falling], first[falling], last[falling]


def _rank_tied(row: Scores, columns: Ints, mine: Scores, first: Ints, last: Ints) -> Ints:
    """Rank tied columns, whose scores fall: equal scores in the order of columns."""
    starts = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
    if len(starts) <= SPREAD:
        rank = first.copy()
        for start, end in pairwise([*starts.tolist(), len(columns)]):
            rank[start:end] += np.flatnonzero(row == mine[start]).searchsorted(columns[start:end])
        return rank
    if row.dtype.itemsize == 4:
        keys = _reverse_order(row) << np.uint64(32) | np.arange(len(row), dtype=np.uint64)
        return np.asarray(np.sort(keys).searchsorted(keys[columns]) + 1)
    place = np.empty(len(row), np.int64)
    place[np.argsort(row, kind="stable")] = np.arange(len(row))
    return np.asarray(first + place[columns] - (len(row) - last))


def _reverse_order(row: Scores) -> Ints:
    """Map singles to whole numbers of 32 bits in the reverse order."""
    bits = (row + np.float32(0)).view(np.uint32)  # -0.0 becomes 0.0
    rising = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    falling: Ints = (~rising).astype(np.uint64)
    return falling


# --- Grids: batches of similarities, in which every query has the same items, its columns ---------

Rank: TypeAlias = Callable[[Scores, Ints, Ints], Ranks]
"""The arguments of ``rank_columns`` → the ranks."""


class GroupedColumns:
    """The group of each column: those of a group stand together.

    ``places``: those of the columns in the array as it was given.
    """

    def __init__(self, codes: Ints, count: int, places: Ints) -> None:
        self.codes, self.places = codes, places
        self.offsets = ragged.make_offsets(np.bincount(codes, minlength=count))

    def list_columns(self, groups: Ints) -> tuple[Ints, Ints]:
        """List the columns of groups, and their number in each."""
        sizes = ragged.find_lengths(self.offsets)[groups]
        return ragged.list_stretches(self.offsets[groups], sizes), sizes


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores (B, N): row b has those of query ``code[b]``. An absent cell is -inf.

    It does as a batch what is done with rows: its row ``b * N + column`` is a cell. The items of
    judgments are columns, or groups of these; one of -1 is none.
    """

    code: Ints
    scores: Scores
    rank: Rank
    absent: Ints | None = None  # B, how many cells of a row are absent
    columns: GroupedColumns | None = None  # their groups, whose best scores are ranked

    @property
    def score(self) -> Scores:
        """The score of each cell."""
        return self.scores.reshape(-1)

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self.scores.size)

    @cached_property
    def lengths(self) -> Ints:
        """The number of results of each query."""
        lengths = np.full(len(self.code), self.scores.shape[1])
        return lengths if self.absent is None else lengths - self.absent

    def find(self, pairs: Judgments) -> Ints:
        """Find the cells of pairs of query and item."""
        _, group, item = self.list_pairs(pairs)
        group, item = group[item >= 0], item[item >= 0]
        if self.columns is not None:
            item, sizes = self.columns.list_columns(item)
            group = np.repeat(group, sizes)
        cells: Ints = group * self.scores.shape[1] + item
        return cells

    def keep(self, marks: Bools) -> Self:
        """Keep some of the cells; the others become absent."""
        if marks.all():
            return self
        lowest = self.scores.dtype.type(-np.inf)
        scores = np.where(marks.reshape(self.scores.shape), self.scores, lowest)
        return replace(self, scores=scores, absent=count_absent(scores))

    def collapse(self) -> Self:
        """Give each group the best score of its columns, whose place it takes."""
        if self.columns is None:
            return self
        scores = np.maximum.reduceat(self.scores, self.columns.offsets[:-1], axis=1)
        absent = None if self.absent is None else count_absent(scores)
        return replace(self, scores=scores, absent=absent, columns=None)

    def reduce(self, judged: Judgments) -> Hits:
        """Find the judged cells and their ranks; equal scores are in the order of columns."""
        judgment, group, item = self.list_pairs(judged)
        is_ranked = item >= 0
        if self.absent is not None:
            is_ranked &= self.scores[group, item] > -np.inf
        if not is_ranked.all():
            judgment, group, item = judgment[is_ranked], group[is_ranked], item[is_ranked]
        offsets = ragged.make_offsets(np.bincount(group, minlength=len(self.code)))
        ranks = self.rank(self.scores, offsets, item)
        cell = group * self.scores.shape[1] + item[ranks.order]
        return Hits(cell, judgment[ranks.order], group, *ranks[1:])

    def list_pairs(self, pairs: Judgments) -> tuple[Ints, Ints, Ints]:
        """List the pairs of the queries of this batch: their places, groups and items."""
        starts = pairs.offsets[self.code]
        lengths = pairs.offsets[self.code + 1] - starts
        pair = ragged.list_stretches(starts, lengths)
        items: Ints = pairs.items.values  # type: ignore[attr-defined]
        return pair, ragged.repeat_owners(lengths), items[pair]


def count_absent(scores: Scores) -> Ints:
    """Count the absent cells of each row."""
    return np.asarray(np.count_nonzero(scores == -np.inf, axis=1))


# --- Exact ranks, of approximate scores and few exact ones ----------------------------------------

Compute: TypeAlias = Callable[[int, Ints], tuple[Floats, Ints | None]]
"""A row and columns → their exact scores, and the places that order equal ones, if others."""

TOP = 4  # at most 1/TOP of a row is copied from it, instead of sorting the row
BINS = (1 << 15) - 4  # of the scores of a row


def rank_exactly(
    scores: Scores, offsets: Ints, columns: Ints, margin: Floats, compute: Compute
) -> Ranks:
    """Rank the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b by their exact scores.

    Scores of row b that differ by more than ``margin[b]`` are in the order of the exact ones, which
    ``compute`` gives.
    """
    rows, ranked = np.flatnonzero(np.diff(offsets)), None
    if is_short(scores, columns):
        ranked = rank_columns(scores, offsets, columns)
        rows = rows[_are_crowded(scores, offsets, columns, margin)[rows]]
        if not len(rows):
            return ranked
    every = np.empty((4, len(columns)), np.int64) if ranked is None else map(np.copy, ranked)
    ranks, ends = Ranks(*every), offsets.tolist()

    def add(rows: list[int]) -> None:
        for b in rows:
            hits = slice(ends[b], ends[b + 1])
            row = _Row(scores[b], columns[hits], margin[b])
            wanted = row.asked
            places = row.find_places(*compute(b, wanted)) if len(wanted) else (row.place,) * 3
            falling = places[0].argsort()
            ranks.put(hits, (row.order[falling], *(place[falling] + 1 for place in places)))

    rank_in_threads(add, rows.tolist(), scores.shape[1])
    return ranks.join()


def count_near(scores: Scores, offsets: Ints, columns: Ints, margin: Floats) -> int:
    """Count the exact scores that ranking would compute."""
    wanted = (columns[start:stop] for start, stop in pairwise(offsets.tolist()))
    rows = zip(scores, wanted, margin, strict=True)
    return sum(
        len(_Row(row, columns_of_row, of_row).asked)
        for row, columns_of_row, of_row in rows
        if len(columns_of_row)
    )


class _Row:
    """The places of a row's wanted columns, and the columns whose exact scores these need."""

    def __init__(self, row: Scores, hits: Ints, margin: float) -> None:
        self.order = row[hits].argsort()
        self._own = hits[self.order]
        self._mine = row[self._own]
        low, high = _find_band(self._mine, margin)
        reached = row >= low[0]
        are_few = np.count_nonzero(reached) <= len(row) // TOP
        columns = _sort_columns(row, reached) if are_few else None
        values = np.sort(row) if columns is None else row[columns]
        self.place = len(values) - values.searchsorted(self._mine, "right")
        start, stop = _find_stretches(values, low, high)
        self._near = np.flatnonzero(stop - start > 1)
        self.asked, self._values = np.empty(0, np.int64), values[:0]
        if len(self._near):
            low, high = low[self._near], high[self._near]
            if columns is None:
                columns = _sort_columns(row, _may_be_inside(row, low, high))
                values = row[columns]
            covered = _cover(*_find_stretches(values, low, high), len(values))
            self.asked, self._values = np.sort(columns[covered]), values[covered]

    def find_places(self, scores: Floats, order: Ints | None) -> tuple[Ints, Ints, Ints]:
        """Find the places by the exact scores of ``asked``, and the ends of groups of equals."""
        near = self._near
        below = self._values.searchsorted(self._mine[near], "right")
        known_places = self.place[near] - (
            len(scores) - below
        )  # places after columns that are not near
        places = self.place, self.place.copy(), self.place.copy()
        near_places = _place(scores, order, self.asked.searchsorted(self._own[near]))
        for of_all, of_near in zip(places, near_places, strict=True):
            of_all[near] = known_places + of_near
        return places


def _sort_columns(row: Scores, wanted: Bools) -> Ints:
    """Sort the wanted columns by their scores, from the lowest."""
    places = np.flatnonzero(wanted)
    rising: Ints = places[row[places].argsort()]
    return rising


def _place(scores: Floats, order: Ints | None, wanted: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the places of some scores, equal ones as given, and the ends of their groups."""
    rising, mine = np.sort(scores), scores[wanted]
    first = len(scores) - rising.searchsorted(mine, "right")
    last = len(scores) - rising.searchsorted(mine, "left") - 1
    if (first == last).all():
        return first, first, last
    place = np.empty(len(scores), np.int64)
    falling = np.argsort(-scores, kind="stable") if order is None else np.lexsort((order, -scores))
    place[falling] = np.arange(len(scores))
    return place[wanted], first, last


def _find_band(mine: Scores, margin: Any) -> tuple[Scores, Scores]:
    """Find the least and the greatest score within the margin of each, rounded outwards."""
    kind, wide = mine.dtype.type, mine.astype(np.result_type(mine, np.float64))
    low, high = (wide - margin).astype(kind), (wide + margin).astype(kind)
    return np.nextafter(low, kind(-np.inf)), np.nextafter(high, kind(np.inf))


def _find_stretches(values: Scores, low: Scores, high: Scores) -> tuple[Ints, Ints]:
    """Find where in rising values each band starts and stops."""
    start: Ints = values.searchsorted(low, "left")
    stop: Ints = values.searchsorted(high, "right")
    return start, stop


def _cover(start: Ints, stop: Ints, size: int) -> Bools:
    """Mark the places, of so many, that are in one of the stretches ``start:stop``."""
    opened, closed = (np.bincount(ends, minlength=size + 1)[:size] for ends in (start, stop))
    inside: Bools = np.add.accumulate(opened - closed) > 0
    return inside


def _may_be_inside(row: Scores, low: Scores, high: Scores) -> Bools:
    """Mark the columns in one of the bands and few others, by bins: sorting takes longer."""
    least, highest = low[0], high[-1]
    with np.errstate(over="ignore"):
        scale = row.dtype.type(BINS) / (highest - least)

    def find_bins(scores: Scores) -> Scores:
        numbers = scores - least
        numbers *= scale
        numbers += 1  # bin 0 is below the first band
        return np.clip(numbers, 0, BINS + 2, out=numbers).astype(np.uint16)

    if not np.isfinite(scale):  # bands too close to each other
        return np.ones(len(row), bool)
    start, stop = (find_bins(ends).astype(np.int64) for ends in (low, high))
    is_covered: Bools = _cover(start, stop + 1, BINS + 3).take(find_bins(row))
    return is_covered


def _are_crowded(scores: Scores, offsets: Ints, columns: Ints, margin: Floats) -> Bools:
    """Does each row have a wanted column near another column? All rows are compared at once."""
    owner, step = ragged.find_owners(offsets), max(1, BLOCK // scores.shape[1])
    crowded = np.zeros(len(scores), bool)
    for start in range(0, len(columns), step):
        rows, hits = owner[start : start + step], columns[start : start + step]
        low, high = (ends[:, None] for ends in _find_band(scores[rows, hits], margin[rows]))
        row_scores = scores[rows]
        near = np.count_nonzero((row_scores >= low) & (row_scores <= high), axis=1) > 1
        crowded[rows[near]] = True
    return crowded
