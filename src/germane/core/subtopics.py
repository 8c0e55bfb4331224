"""Subtopics: the aspects of a query for which its items are judged."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints

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
