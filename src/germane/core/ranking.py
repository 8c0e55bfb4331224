"""Ranking: the ranks and grades of judged items, and the subtopics for which they are judged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints

Order = Callable[[list[Any]], Ints]
"""Ids → their positions in ascending order."""


@dataclass(frozen=True, eq=False, repr=False)
class Subtopics:
    """The grades of judged items for single subtopics of their query.

    Judgment j of the qrels has the entries ``starts[j]:starts[j + 1]`` of ``code`` and ``grades``:
    ``names[code]`` is the subtopic, and the grade is the item's for that subtopic alone.
    """

    starts: Ints  # J + 1
    code: Ints  # S, places in names; those of a judgment ascend
    grades: Floats  # S
    names: Sequence[Hashable]  # all subtopics of all queries, in the order of their ids
    appeared: Ints  # their places in the order in which they first appear
    items: Sequence[Hashable]  # J, the judged items
    sort: Order  # orders items by their ids
    weights: Floats | None = None  # S, of each entry's subtopic for its query, if they are given
    is_named: bool = True  # or are they a column that has no meaning for other measures?

    @cached_property
    def place(self) -> Ints:
        """J: the place of each judgment if the items were ordered from the last id to the first."""
        place = np.empty(len(self.items), np.int64)
        place[self.sort(list(self.items))[::-1]] = np.arange(len(self.items))
        return place

    @cached_property
    def highest(self) -> Floats:
        """J: the highest grade of each item for any subtopic; 0 without a subtopic."""
        highest, filled = np.zeros(len(self.items)), ragged.find_lengths(self.starts) > 0
        if filled.any():
            highest[filled] = np.maximum.reduceat(self.grades, self.starts[:-1][filled])
        return highest

    @cached_property
    def relevant(self) -> Ints:
        """J: the number of subtopics for which each item has a grade above 0."""
        owner = ragged.find_owners(self.starts)
        return ragged.count_flags(self.grades > 0, owner, len(self.items))

    def count_doubtful(self) -> int:
        """Count judgments by a column that may not be of subtopics: 0 if an item has two."""
        doubtful = not self.is_named and len(self.code) <= len(self.items)
        return len(self.items) if doubtful else 0

    def take(self, rows: Ints, items: Sequence[Hashable]) -> Subtopics:
        """Select the entries of some judgments."""
        lengths = ragged.find_lengths(self.starts)[rows]
        entries = ragged.list_stretches(self.starts[rows], lengths)
        return replace(
            self,
            starts=ragged.make_offsets(lengths),
            code=self.code[entries],
            grades=self.grades[entries],
            weights=None if self.weights is None else self.weights[entries],
            items=items,
        )

    @cached_property
    def entries(self) -> list[list[tuple[Hashable, float]]]:
        """J: the subtopics of each judgment, with its grades."""
        names = [self.names[code] for code in self.code.tolist()]
        pairs = list(zip(names, self.grades.tolist(), strict=True))
        return [pairs[start:end] for start, end in pairwise(self.starts.tolist())]

    def convert(self, change: Callable[[Floats], Floats]) -> Subtopics:
        """Change all grades."""
        return replace(self, grades=change(self.grades))


class Entries(NamedTuple):
    """Some entries of the judgments of several queries: one item's grade for one cell.

    A *cell* is one subtopic of one query.
    """

    row: Ints  # the item or hit that an entry belongs to, ascending
    cell: Ints


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The subtopics of the queries of a ranking, numbered; each is a subtopic of one query."""

    judged: Subtopics
    owner: Ints  # J, the query of each judgment; -1 where it does not count
    _relevant: dict[float, Entries] = field(default_factory=dict, init=False)

    @cached_property
    def _numbered(self) -> tuple[Ints, Ints]:
        """S and T: each entry's cell, -1 if it does not count; query and code of each cell."""
        owner = self.owner[self.judgment]
        key = owner * len(self.judged.names) + self.judged.code
        counts = owner >= 0
        if counts.all():
            return _number_distinct(key)
        cell = np.full(len(owner), -1)
        cell[counts], distinct = _number_distinct(key[counts])
        return cell, distinct

    @cached_property
    def judgment(self) -> Ints:
        """S: the judgment of each entry."""
        return ragged.find_owners(self.judged.starts)

    @property
    def cell(self) -> Ints:
        """S: the cell of each entry; -1 where its judgment does not count."""
        return self._numbered[0]

    @cached_property
    def query(self) -> Ints:
        """T: the query of each cell."""
        query: Ints = self._numbered[1] // max(len(self.judged.names), 1)
        return query

    @cached_property
    def code(self) -> Ints:
        """T: the place of each cell's subtopic among the names."""
        code: Ints = self._numbered[1] % max(len(self.judged.names), 1)
        return code

    @cached_property
    def weight(self) -> Floats:
        """T: the weight of each cell; 1 where no weights are given."""
        weight = np.ones(len(self))
        if self.judged.weights is not None:
            counts = self.cell >= 0
            weight[self.cell[counts]] = self.judged.weights[counts]
        return weight

    def __len__(self) -> int:
        return len(self._numbered[1])

    def find_relevant(self, rel: float) -> Entries:
        """Find the entries of grade ``rel`` or higher, item by item."""
        if rel not in self._relevant:
            places = np.flatnonzero((self.judged.grades >= rel) & (self.cell >= 0))
            self._relevant[rel] = Entries(self.judgment[places], self.cell[places])
        return self._relevant[rel]

    def find_covered(self, judgment: Ints, rel: float) -> Entries:
        """Find the cells for which some hits are relevant; entries name the hit by its place."""
        lengths = ragged.find_lengths(self.judged.starts)[judgment]
        entry = ragged.list_stretches(self.judged.starts[judgment], lengths)
        row = np.repeat(np.arange(len(judgment)), lengths)
        is_relevant = self.judged.grades[entry] >= rel
        return Entries(row[is_relevant], self.cell[entry[is_relevant]])


def number_all(judged: Subtopics | None) -> Cells | None:
    """Number the subtopics of judgments that are all of one query; None where there are none."""
    return None if judged is None else Cells(judged, np.zeros(len(judged.items), np.int64))


def _number_distinct(key: Ints) -> tuple[Ints, Ints]:
    """Number the distinct keys in ascending order. Returns each one's number, and the keys."""
    if not len(key) or key.max() > SPARSE * len(key):
        distinct, number = np.unique(key, return_inverse=True)
        return number, distinct
    is_present = np.zeros(int(key.max()) + 1, bool)
    is_present[key] = True
    return (np.cumsum(is_present) - 1)[key], np.flatnonzero(is_present)


SPARSE = 16  # keys are numbered by a table of at most so many places for each of them


# --- Ranking: the ranks and grades of judged items, which are all that a measure sees -------------


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """The judged items of all queries at their ranks: the only argument of a measure's function.

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
    ``offsets[q]:offsets[q + 1]`` of ``rank`` and ``relevance``; its judgments, in descending order,
    are the slice ``ideal_offsets[q]:ideal_offsets[q + 1]`` of ``ideal``. It no longer contains a
    file, policy or item id that could change a number.

    A group of equal scores takes the ranks ``tied_from`` to ``tied_to``. With ``ties=ordered``, its
    items follow one another. With ``expected``, their order is random, and each has the group's
    first rank; with ``grouped``, all of them have the group's last rank, and with ``middle`` the
    mean of both, which may be a half.
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
        """H: is the hit within the first ``k`` ranks?"""
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
        """Q: R, the number of items that were judged relevant, retrieved or not."""
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

    def select_hits(self, hits: Ints | Bools) -> Ranking:
        """Keep some of the hits."""
        names = ("owner", "rank", "relevance", "tied_from", "tied_to", "judgment")
        columns = {name: getattr(self, name) for name in names}
        selected: dict[str, Any] = {
            name: column if column is None else column[hits] for name, column in columns.items()
        }
        return replace(self, **selected)

    def sum_hits(self, values: Floats | Ints | Bools) -> Floats:
        """H → Q: add up a value per hit for each query."""
        return ragged.sum_rows(values, self.owner, len(self.queries))
