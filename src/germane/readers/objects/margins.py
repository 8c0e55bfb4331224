"""Ranks by exact scores, of which only those are computed that approximate scores leave open."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.kernel import matrix
from germane.kernel.matrix import Scores

Compute: TypeAlias = Callable[[int, Ints], tuple[Floats, Ints | None]]
"""A row and columns → their exact scores, and the places that order equal ones, if others."""

TOP = 4  # at most 1/TOP of a row is copied from it, instead of sorting the row
BINS = (1 << 15) - 4  # of the scores of a row


def rank_exactly(
    scores: Scores, offsets: Ints, columns: Ints, margin: Floats, compute: Compute
) -> matrix.Ranks:
    """Rank the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b by their exact scores.

    Scores of row b that differ by more than ``margin[b]`` are in the order of the exact ones, which
    ``compute`` gives.
    """
    rows, ranked = np.flatnonzero(np.diff(offsets)), None
    if matrix.is_short(scores, columns):
        ranked = matrix.rank_columns(scores, offsets, columns)
        rows = rows[_are_crowded(scores, offsets, columns, margin)[rows]]
        if not len(rows):
            return ranked
    every = np.empty((4, len(columns)), np.int64) if ranked is None else map(np.copy, ranked)
    ranks, ends = matrix.Ranks(*every), offsets.tolist()

    def add(rows: list[int]) -> None:
        for b in rows:
            hits = slice(ends[b], ends[b + 1])
            row = _Row(scores[b], columns[hits], margin[b])
            wanted = row.asked
            places = row.find_places(*compute(b, wanted)) if len(wanted) else (row.place,) * 3
            falling = places[0].argsort()
            ranks.put(hits, (row.order[falling], *(place[falling] + 1 for place in places)))

    matrix.rank_in_threads(add, rows.tolist(), scores.shape[1])
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
        found = _place(scores, order, self.asked.searchsorted(self._own[near]))
        for of_all, of_near in zip(places, found, strict=True):
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
    owner, step = ragged.find_owners(offsets), max(1, matrix.BLOCK // scores.shape[1])
    crowded = np.zeros(len(scores), bool)
    for start in range(0, len(columns), step):
        rows, hits = owner[start : start + step], columns[start : start + step]
        low, high = (ends[:, None] for ends in _find_band(scores[rows, hits], margin[rows]))
        row_scores = scores[rows]
        near = np.count_nonzero((row_scores >= low) & (row_scores <= high), axis=1) > 1
        crowded[rows[near]] = True
    return crowded
