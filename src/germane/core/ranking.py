"""Ranking: what is left of runs and judgments when a measure sees them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Judged items at their ranks, for all queries at once.

    The *hits* of query ``q`` (its judged items that were retrieved) are the slice
    ``offsets[q]:offsets[q + 1]`` of ``rank`` and ``relevance``; its judgments, descending, are the
    slice ``ideal_offsets[q]:ideal_offsets[q + 1]`` of ``ideal``. No file, policy or item id that
    could change a number is left in it.

    ``ties`` says how the items of a group of equal scores, on the ranks ``tied_from`` to ``tied_to``,
    stand to each other: ``ordered`` one after the other; ``expected`` in random order, where a rank is
    the group's first; or ``grouped``, all of them at once, at the group's last rank.
    """

    queries: list[object]  # Q
    owner: Ints  # H, the query that each hit belongs to, ascending
    rank: Ints  # H, from 1, not descending within a query
    relevance: Floats  # H, grades; negative: in the pool but not judged
    retrieved: Ints  # Q, number of items retrieved
    ideal_offsets: Ints  # Q + 1
    ideal: Floats  # J, all grades judged for a query, descending
    tied_from: Ints  # H, first and last rank that the item's group of equal scores occupies
    tied_to: Ints  # H
    ties: Literal["ordered", "expected", "grouped"] = "ordered"
    judgment: Ints | None = None  # H, the hit's place in the qrels; for explanations only

    # what several measures ask for, by the lowest grade that is relevant
    _relevant: dict[float, Bools] = field(default_factory=dict, init=False)
    _total: dict[float, Ints] = field(default_factory=dict, init=False)
    _so_far: dict[float, Ints] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def offsets(self) -> Ints:
        """Q + 1: where the hits of each query begin and end."""
        if len(self) == 1:
            return np.array([0, len(self.owner)])
        return ragged.make_offsets(np.bincount(self.owner, minlength=len(self)))

    @cached_property
    def ideal_owner(self) -> Ints:
        """J: the query that each judgment belongs to."""
        return ragged.find_owners(self.ideal_offsets)

    @cached_property
    def ones(self) -> Floats:
        """Q: 1 for each query, the norm of sums that are divided by nothing."""
        return np.ones(len(self))

    def last(self, k: int | None) -> Ints:
        """Q: the last rank that a measure with cutoff ``k`` looks at."""
        return self.retrieved if k is None else np.minimum(k, self.retrieved)

    def end(self, k: int | None) -> Ints | int | None:
        """H: the same for each hit; ``k`` itself where hits have one rank, which was retrieved."""
        return self.last(k)[self.owner] if self.ties == "expected" else k

    def within(self, k: int | None) -> Bools:
        """H: does the hit stand within the first ``k`` ranks?"""
        return np.ones(len(self.rank), bool) if k is None else self.rank <= k

    def counted(self, rel: float, k: int | None) -> Bools:
        """H: is the hit relevant, and within the first ``k`` ranks?"""
        return self.relevant(rel) if k is None else self.relevant(rel) & (self.rank <= k)

    def relevant(self, rel: float) -> Bools:
        """H: is the hit relevant, that is, graded ``rel`` or higher?"""
        if rel not in self._relevant:
            self._relevant[rel] = self.relevance >= rel
        return self._relevant[rel]

    @cached_property
    def ideal_rank(self) -> Ints:
        """J: the rank that each judgment would take, from 1, if the best stood first."""
        rank = np.arange(1, len(self.ideal) + 1)
        return rank if len(self) == 1 else rank - self.ideal_offsets[self.ideal_owner]

    def total(self, rel: float) -> Ints:
        """Q: R, the number of items judged relevant, retrieved or not."""
        if rel not in self._total:
            self._total[rel] = self._count_total(rel)
        return self._total[rel]

    def _count_total(self, rel: float) -> Ints:
        if ragged.is_one(self.ideal):
            judged = ragged.find_lengths(self.ideal_offsets)
            return judged if self.ideal[0] >= rel else np.zeros_like(judged)
        return self.judged(self.ideal >= rel)

    def judged(self, flags: Bools) -> Ints:
        """J → Q: how many of each query's judgments are flagged."""
        if len(self.queries) == 1:
            return np.array([np.count_nonzero(flags)])
        if flags.all():
            return ragged.find_lengths(self.ideal_offsets)
        counted = ragged.count_before(flags)
        return counted[self.ideal_offsets[1:]] - counted[self.ideal_offsets[:-1]]

    def so_far(self, rel: float) -> Ints:
        """H: the number of relevant items at this rank and before."""
        if rel not in self._so_far:
            self._so_far[rel] = self._count_so_far(rel)
        return self._so_far[rel]

    def _count_so_far(self, rel: float) -> Ints:
        if self.ties == "grouped":
            size, before = self.tied_relevant(rel)
            return before + size
        relevant = self.relevant(rel)
        if len(self.queries) == 1:  # whose hits have none of another query before them
            return np.add.accumulate(relevant.astype(np.int64))
        return ragged.count_running(relevant, self.offsets, self.owner)

    def tied_relevant(self, rel: float) -> tuple[Ints, Ints]:
        """H: the relevant items in each hit's group of equal scores, and those before the group."""
        starts = np.ones(len(self.rank), bool)
        starts[1:] = (np.diff(self.owner) > 0) | (np.diff(self.tied_from) > 0)
        group = np.cumsum(starts) - 1
        relevant = self.relevant(rel)
        size = np.bincount(group, weights=relevant).astype(np.int64)[group]
        running = ragged.count_running(relevant, self.offsets, self.owner)
        return size, (running - relevant)[np.flatnonzero(starts)[group]]

    def found(self, rel: float, k: int | None) -> Ints:
        """Q: the number of relevant items within the first ``k`` ranks."""
        return ragged.count_flags(self.counted(rel, k), self.owner, len(self))

    def sums(self, values: Floats | Ints | Bools) -> Floats:
        """H → Q: each query's sum of a value per hit."""
        return ragged.sum_rows(values, self.owner, len(self.queries))
