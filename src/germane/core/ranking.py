"""Ranking: the ranks and grades of judged items, which are all that a measure sees."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.subtopics import Cells


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Judged items at their ranks, for all queries: the only argument of a measure's function.

    >>> import numpy as np
    >>> from germane.measures.averaging import compute_scores
    >>> first, ranks, grades = np.array([0, 0]), np.array([1, 4]), np.array([1.0, 1.0])
    >>> ranking = germane.types.Ranking(
    ...     queries=["q"], owner=first, rank=ranks, relevance=grades, retrieved=np.array([4]),
    ...     ideal_offsets=np.array([0, 2]), ideal=grades, tied_from=ranks, tied_to=ranks,
    ... )
    >>> compute_scores(germane.AP, ranking).tolist()
    [0.75]

    The *hits* of query ``q`` (its judged items that were retrieved) are the slice
    ``offsets[q]:offsets[q + 1]`` of ``rank`` and ``relevance``; its judgments, descending, are the
    slice ``ideal_offsets[q]:ideal_offsets[q + 1]`` of ``ideal``. No file, policy or item id that
    could change a number is left in it.

    A group of equal scores takes the ranks ``tied_from`` to ``tied_to``. With ``ties=ordered`` its
    items stand one after the other. With ``expected`` their order is random, and each has the
    group's first rank; with ``grouped`` all stand at the group's last rank, and with ``middle`` at
    the mean of both, which may be a half number.
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
    ties: Literal["ordered", "expected", "middle", "grouped"] = "ordered"
    judgment: Ints | None = None  # H, the hit's place in the qrels; for explanations and subtopics
    subtopics: Cells | None = None  # for the measures that look at them, where there are any

    # kept for several measures, by the lowest grade that is relevant
    _relevant: dict[float, Bools] = field(default_factory=dict, init=False)
    _total: dict[float, Ints] = field(default_factory=dict, init=False)
    _so_far: dict[float, Ints] = field(default_factory=dict, init=False)
    of_subtopics: dict[Any, Any] = field(default_factory=dict, init=False)  # kept by these measures

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
        """H: the last rank that a measure looks at for each hit; ``k`` if hits have one rank."""
        return self.last(k)[self.owner] if self.ties == "expected" else k

    def within(self, k: int | None) -> Bools:
        """H: does the hit stand within the first ``k`` ranks?"""
        return np.ones(len(self.rank), bool) if k is None else self.rank <= k

    def mark_relevant(self, rel: float, k: int | None) -> Bools:
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
            if ragged.is_one(self.ideal):
                judged = ragged.find_lengths(self.ideal_offsets)
                self._total[rel] = judged if self.ideal[0] >= rel else np.zeros_like(judged)
            else:
                self._total[rel] = self.count_judged(self.ideal >= rel)
        return self._total[rel]

    def count_judged(self, flags: Bools) -> Ints:
        """J → Q: count each query's flagged judgments."""
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
            size, before = self.count_tied(rel)
            return before + size
        relevant = self.relevant(rel)
        if len(self.queries) == 1:  # whose hits have none of another query before them
            return np.add.accumulate(relevant.astype(np.int64))
        return ragged.count_running(relevant, self.offsets, self.owner)

    def count_tied(self, rel: float) -> tuple[Ints, Ints]:
        """H: count the relevant items in each hit's group of equal scores, and before the group."""
        starts = np.ones(len(self.rank), bool)
        starts[1:] = (np.diff(self.owner) > 0) | (np.diff(self.tied_from) > 0)
        group = np.cumsum(starts) - 1
        relevant = self.relevant(rel)
        size = np.bincount(group, weights=relevant).astype(np.int64)[group]
        running = ragged.count_running(relevant, self.offsets, self.owner)
        return size, (running - relevant)[np.flatnonzero(starts)[group]]

    def count_found(self, rel: float, k: int | None) -> Ints:
        """Q: count the relevant items within the first ``k`` ranks."""
        return ragged.count_flags(self.mark_relevant(rel, k), self.owner, len(self))

    def sum_hits(self, values: Floats | Ints | Bools) -> Floats:
        """H → Q: add up a value per hit for each query."""
        return ragged.sum_rows(values, self.owner, len(self.queries))
