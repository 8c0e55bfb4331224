"""Ranks by exact scores where only approximate ones are at hand: columns that are near are scored again.

Approximate scores that differ by more than a margin are in the right order. So a wanted column's rank
is known but for the columns within the margin of it; the exact scores of these, and of no others, are
asked for.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.readers import matrix
from germane.readers.matrix import Scores

Exact: TypeAlias = Callable[[int, Ints], Floats]
"""A row and some of its columns → their exact scores."""

BINS = (1 << 15) - 4  # of the scores of a row


def rank_exactly(
    scores: Scores, offsets: Ints, columns: Ints, margin: Floats, exact: Exact
) -> matrix.Ranks:
    """The ranks by exact scores of the columns ``columns[offsets[b]:offsets[b + 1]]`` of each row b.

    ``margin``: of each row; scores that differ by more are in the order of the exact ones.
    """
    rows, found = np.flatnonzero(np.diff(offsets)), None
    if matrix.is_short(scores, columns):
        found = matrix.rank_columns(scores, offsets, columns)
        rows = rows[_are_crowded(scores, offsets, columns, margin)[rows]]
        if not len(rows):
            return found
    ranking = _Rows(scores, offsets, columns, margin, exact, found)
    matrix.rank_in_threads(ranking.add, rows.tolist(), scores.shape[1])
    return ranking.result()


def count_near(scores: Scores, offsets: Ints, columns: Ints, margin: Floats) -> int:
    """How many exact scores would be asked for."""
    rows = range(len(scores))
    wanted = (columns[offsets[b] : offsets[b + 1]] for b in rows)
    return sum(
        len(_Row(scores[b], own, margin[b]).asked)
        for b, own in zip(rows, wanted, strict=True)
        if len(own)
    )


class _Rows:
    """The ranks of wanted columns by exact scores; ``found`` are those of rows that are not added."""

    def __init__(
        self,
        scores: Scores,
        offsets: Ints,
        columns: Ints,
        margin: Floats,
        exact: Exact,
        found: matrix.Ranks | None,
    ) -> None:
        self._scores, self._ends, self._columns = scores, offsets.tolist(), columns
        self._margin, self._exact = margin, exact
        if found is None:
            self._order, self._rank, self._from, self._to = np.empty((4, len(columns)), np.int64)
        else:
            self._order, self._rank = found.order, found.rank
            self._from, self._to = map(np.copy, matrix.find_groups(found.rank, found.tied))

    def add(self, rows: list[int]) -> None:
        for b in rows:
            here = slice(self._ends[b], self._ends[b + 1])
            row = _Row(self._scores[b], self._columns[here], self._margin[b])
            asked = row.asked
            places = row.placed(self._exact(b, asked)) if len(asked) else (row.place,) * 3
            falling = places[0].argsort()
            self._order[here] = row.order[falling] + here.start
            for ranks, place in zip((self._rank, self._from, self._to), places, strict=True):
                ranks[here] = place[falling] + 1

    def result(self) -> matrix.Ranks:
        tied = (self._to > self._from).any()
        ends = [(slice(0, len(self._rank)), self._from, self._to)] if tied else []
        return matrix.Ranks(self._order, self._rank, ends)


class _Row:
    """Places of a row's wanted columns, from 0, and the columns whose exact scores they need."""

    def __init__(self, row: Scores, own: Ints, margin: float) -> None:
        self.order = row[own].argsort()
        self._own = own[self.order]
        self._mine = row[self._own]
        low, high = _find_band(self._mine, margin)
        reached = row >= low[0]
        few = np.count_nonzero(reached) <= len(row) // matrix.TOP
        at = _sort_columns(row, reached) if few else None
        values = np.sort(row) if at is None else row[at]
        self.place = len(values) - values.searchsorted(self._mine, "right")
        start, stop = _find_stretches(values, low, high)
        self._near = np.flatnonzero(stop - start > 1)
        self.asked, self._values = np.empty(0, np.int64), values[:0]
        if len(self._near):
            low, high = low[self._near], high[self._near]
            if at is None:
                at = _sort_columns(row, _may_be_inside(row, low, high))
                values = row[at]
            covered = _cover(*_find_stretches(values, low, high), len(values))
            self.asked, self._values = np.sort(at[covered]), values[covered]

    def placed(self, scores: Floats) -> tuple[Ints, Ints, Ints]:
        """The places by the exact scores of those asked for, and the ends of groups of equal ones."""
        near = self._near
        below = self._values.searchsorted(self._mine[near], "right")
        known = self.place[near] - (len(scores) - below)  # by columns that are not near
        places = self.place, self.place.copy(), self.place.copy()
        found = _place(scores, self.asked.searchsorted(self._own[near]))
        for of_all, of_near in zip(places, found, strict=True):
            of_all[near] = known + of_near
        return places


def _sort_columns(row: Scores, wanted: Bools) -> Ints:
    """The columns that are wanted, from the one with the lowest score."""
    at = np.flatnonzero(wanted)
    rising: Ints = at[row[at].argsort()]
    return rising


def _place(scores: Floats, wanted: Ints) -> tuple[Ints, Ints, Ints]:
    """Places of some of the scores, equal ones as they stand, and the ends of their groups."""
    rising, mine = np.sort(scores), scores[wanted]
    first = len(scores) - rising.searchsorted(mine, "right")
    last = len(scores) - rising.searchsorted(mine, "left") - 1
    if (first == last).all():
        return first, first, last
    place = np.empty(len(scores), np.int64)
    place[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return place[wanted], first, last


def _find_band(mine: Scores, margin: Any) -> tuple[Scores, Scores]:
    """The least and the greatest score within the margin of each, rounded outwards."""
    kind, wide = mine.dtype.type, mine.astype(np.result_type(mine, np.float64))
    low, high = (wide - margin).astype(kind), (wide + margin).astype(kind)
    return np.nextafter(low, kind(-np.inf)), np.nextafter(high, kind(np.inf))


def _find_stretches(values: Scores, low: Scores, high: Scores) -> tuple[Ints, Ints]:
    """Where in values that rise each band starts and stops."""
    start: Ints = values.searchsorted(low, "left")
    stop: Ints = values.searchsorted(high, "right")
    return start, stop


def _cover(start: Ints, stop: Ints, size: int) -> Bools:
    """Which of so many places are in one of the stretches ``start:stop``?"""
    opened, closed = (np.bincount(at, minlength=size + 1)[:size] for at in (start, stop))
    inside: Bools = np.add.accumulate(opened - closed) > 0
    return inside


def _may_be_inside(row: Scores, low: Scores, high: Scores) -> Bools:
    """True for the columns that stand in one of the bands, and for few others.

    Scores are looked up by bins, which takes a fraction of the time of sorting columns.
    """
    least, most = low[0], high[-1]
    with np.errstate(over="ignore"):
        scale = row.dtype.type(BINS) / (most - least)

    def bins(scores: Scores) -> Scores:
        numbers = scores - least
        numbers *= scale
        numbers += 1  # what is below the first band stands in bin 0
        return np.clip(numbers, 0, BINS + 2, out=numbers).astype(np.uint16)

    if not np.isfinite(scale):  # bands too close to each other
        return np.ones(len(row), bool)
    start, stop = (bins(ends).astype(np.int64) for ends in (low, high))
    found: Bools = _cover(start, stop + 1, BINS + 3).take(bins(row))
    return found


def _are_crowded(scores: Scores, offsets: Ints, columns: Ints, margin: Floats) -> Bools:
    """Has each row a wanted column that another column is near? All rows are compared at once."""
    owner, step = ragged.find_owners(offsets), max(1, matrix.BLOCK // scores.shape[1])
    crowded = np.zeros(len(scores), bool)
    for start in range(0, len(columns), step):
        rows, own = owner[start : start + step], columns[start : start + step]
        low, high = (ends[:, None] for ends in _find_band(scores[rows, own], margin[rows]))
        others = scores[rows]
        near = np.count_nonzero((others >= low) & (others <= high), axis=1) > 1
        crowded[rows[near]] = True
    return crowded
