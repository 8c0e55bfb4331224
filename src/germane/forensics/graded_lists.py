"""Lists that a run may have, with grades: what each is worth, and which are worth most.

A kind of list says which grade is at which rank, and how many items of each grade are judged. Its
value is known exactly. Not all kinds are searched: what is found is a list, and nothing is proved
by what is not found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from germane.core.ragged import Bools, Floats, Ints
from germane.forensics.list_values import (
    Kinds,
    ListMeasure,
    Lists,
    Value,
    list_gains,
    make_list_measure,
)
from germane.forensics.reported import Reading

_COUNTS = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200)
"""Numbers of relevant items that are searched, with those beyond the depth of the lists."""

_TOPS = (0, 1, 2, 3, 5, 8)
"""How many of them have the highest grade; also half, all but one, and all."""

_VARIED = 200
"""How many lists that differ at one rank are tried, at least."""


@dataclass(frozen=True)
class Gained:
    """A column of DCG or nDCG: its gains by grade from 0 on, its discounts, and its cutoff."""

    gains: Floats
    discounts: Floats
    k: int | None
    is_normed: bool

    @classmethod
    def read(cls, reading: Reading, grades: int, longest: int) -> "Gained | None":
        """Read a definition; None if it has no gains. ``longest`` is the most relevant items."""
        measure, words = reading.measure, reading.parameters
        is_normed = measure.name == "nDCG" and words["norm"] == "judged"
        if measure.name != "DCG" and not is_normed:
            return None
        gains = list_gains(words, grades)
        if gains is None:
            return None
        ranks = np.arange(1, longest + 1)
        logs = np.log2(ranks + 1) if words["discount"] == "log" else np.log2(np.maximum(ranks, 2))
        return cls(np.array([0.0, *gains]), 1 / logs, measure.k, is_normed)

    def find_ideal(self, counts: Ints) -> Floats:
        """Compute what the value is divided by, of rows that count the judged items by grade."""
        if not self.is_normed:
            return np.ones(len(counts))
        last = np.cumsum(counts[:, ::-1], axis=1)  # the highest grade first
        sums = np.concatenate([[0.0], np.cumsum(self.discounts)])
        k = len(self.discounts) if self.k is None else self.k
        reached = sums[np.minimum(last, k)]
        added = np.diff(reached, axis=1, prepend=0.0)
        return np.asarray(added @ self.gains[:0:-1])

    def gain(self, grades: Ints) -> Floats:
        """Compute what grades at ranks from 1 on add, before it is divided."""
        depth = grades.shape[-1]
        within = np.arange(1, depth + 1) <= (self.k or depth)
        return self.gains[grades] * np.where(within, self.discounts[:depth], 0.0)


@dataclass(frozen=True)
class GradedLists(Lists):
    """Lists with grades up to ``grades``, of which the measures at ``gained`` have gains.

    The values of the other measures are those of ``measures``, which count every grade from 1 on.
    """

    gained: Mapping[int, Gained] = field(default_factory=dict)
    grades: int = 1

    @classmethod
    def make(
        cls,
        readings: Sequence[Reading],
        lists: Lists,
        grades: int,
        depth: int,
        larger: Sequence[float],
    ) -> "GradedLists | None":
        """Make lists that end at a depth, with a bounded R; None if not all values are known."""
        counts = tuple(r for r in larger if r > depth) or (2.0 * depth,)
        made = [make_list_measure(reading, depth, grades) for reading in readings]
        read = [Gained.read(reading, grades, int(max(depth, *counts))) for reading in readings]
        gained = {place: column for place, column in enumerate(read) if column is not None}
        nothing = Value("nothing", depth)  # gains are added by evaluate_grades
        values = [
            nothing if place in gained else measure.low
            for place, measure in enumerate(made)
            if measure is not None
            and (place in gained or measure.low == measure.high or measure.high.tail != "none")
        ]
        measures = tuple(ListMeasure(value, value) for value in values)
        if lists.repeats or lists.ones or len(measures) < len(readings):
            return None
        return cls(measures, depth, False, frozenset(), lists.most, counts, gained, grades)

    @cached_property
    def judged(self) -> tuple[Ints, Ints]:
        """Kinds of judgments: the place of R in ``relevant``, and the number of each grade."""
        rows = []
        for place, relevant in enumerate(self.relevant):
            total = int(relevant)
            if total <= self.depth and total not in _COUNTS:
                continue
            tops = {t for t in (*_TOPS, total // 2, total - 1, total) if t <= total}
            for top in sorted(tops) if self.grades > 1 else [total]:
                row = [0] * self.grades
                row[0] += total - top
                row[-1] += top
                rows.append((place, row))
        return np.array([place for place, _ in rows]), np.array([row for _, row in rows])

    @cached_property
    def _ideals(self) -> Mapping[int, Floats]:
        return {m: column.find_ideal(self.judged[1]) for m, column in self.gained.items()}

    def price(self, up: Floats, down: Floats, most: int = 40) -> tuple[float, Kinds]:
        """Find lists of a high Σ weight · measure, and the highest: no other need be lower.

        For every kind of judgments, the best hits follow from a dynamic program over ranks and
        hits, with three ways to place grades: the best at each rank, the highest first, and the
        lowest first.
        """
        weights = up - down
        places, counts = self.judged
        of_hits, of_grades = self._weigh(weights)
        ordered = self._order()
        depth, ways = self.depth, len(ordered) + 1
        rows = np.arange(len(places))
        relevant = np.array(self.relevant)[places]
        numbers = np.arange(1, depth + 1)
        barred = numbers > relevant[:, None]
        worth = np.full((ways, len(places), depth + 1), -np.inf)
        worth[:, :, 0] = 0.0
        taken = np.zeros((depth, *worth.shape), bool)
        always, per_hit, first = of_hits
        for i in range(depth):
            n = i + 1
            hit = worth[:, :, :n] + (
                always[places, i, None] + per_hit[places, i, None] * numbers[:n]
            )
            hit[:, :, 0] += first[places, i]
            hit[0] += of_grades[:, :, i].max(axis=1)[:, None]
            for way, grade in enumerate(ordered, 1):
                hit[way] += of_grades[rows[:, None], grade[:, :n] - 1, i]
            hit[:, barred[:, :n]] = -np.inf
            taken[i, :, :, 1 : n + 1] = hit > worth[:, :, 1 : n + 1]
            worth[:, :, 1 : n + 1] = np.maximum(hit, worth[:, :, 1 : n + 1])
        order = np.argsort(-worth.max(axis=2).ravel(), kind="stable")[: 3 * most]
        chosen, row = np.unravel_index(order, worth.shape[:2])
        graded = self._trace(worth, taken, ordered, of_grades, chosen, row)
        kinds = self.evaluate_grades(graded, self._fill(graded, counts[row]))
        reached = kinds.low @ weights
        best = np.argsort(-reached, kind="stable")[:most]
        return float(reached[best[0]]), kinds.take(best)

    def vary(self, kinds: Kinds, rng: np.random.Generator) -> Kinds:
        """Add lists that differ from these at one rank, where R allows it."""
        rows = np.resize(np.arange(len(kinds.hits)), max(len(kinds.hits), _VARIED))
        graded, counts = kinds.hits[rows].astype(int), kinds.relevant[rows].astype(int)
        at = np.arange(len(rows)), rng.integers(self.depth, size=len(rows))
        graded[at] = np.where(graded[at] > 0, 0, rng.integers(1, self.grades + 1, len(rows)))
        fit = (graded > 0).sum(axis=1) <= counts.sum(axis=1)
        graded, counts = graded[fit], counts[fit]
        varied = self.evaluate_grades(graded, self._fill(graded, counts))
        return Kinds(*(np.concatenate(pair) for pair in zip(kinds, varied, strict=True)))

    def _weigh(self, weights: Floats) -> tuple[tuple[Floats, Floats, Floats], Floats]:
        """Weigh what a hit adds, by R and rank; and what its grade adds, by judgments and rank."""
        side, plain = self.sides[0], weights.copy()
        plain[list(self.gained)] = 0.0
        factor = plain[:, None] * side.factor
        always = np.einsum("mr,mri->ri", factor, side.always)
        of_grades = np.zeros((len(self.judged[0]), self.grades, self.depth))
        every = np.tile(np.arange(1, self.grades + 1)[:, None], self.depth)
        for m, column in self.gained.items():
            added = column.gain(every)
            of_grades += weights[m] / self._ideals[m][:, None, None] * added
        return (always, factor.T @ side.per_hit, factor.T @ side.first), of_grades

    def _order(self) -> list[Ints]:
        """List the grade of the j-th hit where the highest come first, and the lowest."""
        if self.grades == 1:
            return []
        counts = self.judged[1]
        numbers = np.arange(1, self.depth + 1)
        lowest = 1 + (numbers > np.cumsum(counts, axis=1)[:, :, None]).sum(axis=1)
        highest = self.grades - (numbers > np.cumsum(counts[:, ::-1], axis=1)[:, :, None]).sum(1)
        return [np.maximum(highest, 1), np.minimum(lowest, self.grades)]

    def _trace(
        self,
        worth: Floats,
        taken: Bools,
        ordered: list[Ints],
        of_grades: Floats,
        way: Ints,
        row: Ints,
    ) -> Ints:
        """Return the grades by rank of the best lists of some judgments; 0 is no hit."""
        count = worth[way, row].argmax(axis=1)
        graded = np.zeros((len(way), self.depth), int)
        for i in range(self.depth - 1, -1, -1):
            hit = taken[i, way, row, count]
            grade = of_grades[row, :, i].argmax(axis=1) + 1
            for number, grades in enumerate(ordered, 1):
                grade = np.where(way == number, grades[row, np.maximum(count, 1) - 1], grade)
            graded[:, i] = np.where(hit, grade, 0)
            count = count - hit
        return graded

    def _fill(self, graded: Ints, counts: Ints) -> Ints:
        """Change judgments, without changing R, so that they have the grades of their lists."""
        grades = np.arange(1, self.grades + 1)
        used = (graded[:, :, None] == grades).sum(axis=1)
        filled: Ints = np.maximum(counts, used)
        for place in range(self.grades):
            excess = filled.sum(axis=1) - counts.sum(axis=1)
            filled[:, place] -= np.minimum(excess, filled[:, place] - used[:, place])
        return filled

    def evaluate_grades(self, graded: Ints, counts: Ints) -> Kinds:
        """Compute the values of lists: grades by rank, and the number of judged items by grade."""
        place = np.searchsorted(self.relevant, counts.sum(axis=1))
        values = self.evaluate(graded > 0, place).low
        for m, column in self.gained.items():
            values[:, m] = column.gain(graded).sum(axis=1) / column.find_ideal(counts)
        return Kinds(graded, counts, values, values)
