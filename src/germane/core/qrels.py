"""Qrels: relevance judgments, grouped by query."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.id_spelling import unwrap_id
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Subtopics
from germane.errors import NotFoundError, clip, suggest


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """Relevance judgments, grouped by query.

    >>> qrels = germane.read_qrels("examples/digits/qrels.txt")
    >>> len(qrels)
    200

    The judgments of query ``q`` are the slice ``offsets[q]:offsets[q + 1]`` of ``items`` and
    ``grades``. A negative grade marks an item that was pooled but not judged. Where items are
    judged for ``subtopics``, an item's grade is the highest of these.
    """

    queries: list[Hashable]  # Q
    offsets: Ints  # Q + 1
    items: Sequence[Hashable]  # J
    grades: Floats  # J
    name: str = "qrels"
    ids: str = "typed"  # or text: the source has no other ids, and integers are their digits
    columns: tuple[Any, Any] | None = None  # query and item ids as a source of columns has them
    duplicates: str | None = None  # the choice they were read with, if they were read by themselves
    lines: Any = None  # the order of a LETOR file, which scores without ids follow
    width: int | None = None  # the number of items of an array, which numbers queries and items
    is_array: bool = False  # of an array whose items have ids: its zeros may be left out
    unjudged: tuple[Hashable, ...] = ()  # queries that stand there without a judgment; left out
    maybe_data: "Qrels | None" = None  # of lines with #, which are data if the run has their query
    candidates: Any = None  # the items that may be retrieved (readers.candidates), if not all
    comments: int = 0  # lines that begin with # and are no data
    subtopics: Subtopics | None = None  # the grades for single subtopics, if there are any
    written: "Qrels | None" = None  # as they were written, if some were converted or left out
    ignored: int = 0  # judgments that ignore=… took out

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}: {len(self)} queries, {len(self.items)} judgments)"

    def only(self, query: Hashable) -> "Qrels":
        """Select the judgments of one query. Raises NotFoundError where it has none."""
        query = unwrap_id(query)
        q = self.position.get(query) if isinstance(query, Hashable) else None
        spelled = isinstance(query, (str, int, np.integer)) and not isinstance(query, bool)
        if q is None and spelled:  # numbers on a command line and in files are text
            q = {str(query): q for q, query in enumerate(self.queries)}.get(str(query))
        if q is None:
            near = suggest(str(query), map(str, self.queries))
            raise NotFoundError(f"no query {clip(query)} is judged.{near}")
        part = slice(self.offsets[q], self.offsets[q + 1])
        items, grades = self.items[part], self.grades[part]
        return Qrels(
            queries=[self.queries[q]],
            offsets=np.array([0, len(items)]),
            items=items,
            grades=grades,
            name=self.name,
            ids=self.ids,
            duplicates=self.duplicates,
            candidates=self.candidates,
            subtopics=self.subtopics
            and self.subtopics.take(np.arange(len(self.items))[part], items),
        )

    def some(self, places: Ints) -> "Qrels":
        """Select the judgments of the queries at these places."""
        starts = self.offsets[places]
        lengths = self.offsets[places + 1] - starts
        rows = ragged.list_stretches(starts, lengths)
        columns = self.columns and (self.columns[0].take(places), self.columns[1].take(rows))
        items = columns[1] if columns else [self.items[j] for j in rows.tolist()]
        return replace(
            self,
            queries=[self.queries[q] for q in places.tolist()],
            offsets=ragged.make_offsets(lengths),
            items=items,
            grades=self.grades[rows],
            columns=columns,
            subtopics=self.subtopics and self.subtopics.take(rows, items),
            written=self.written and self.written.some(places),
        )

    def keep(self, marks: Bools) -> "Qrels":
        """Keep some of the judgments (J); a query may lose all of its own."""
        rows, owner = np.flatnonzero(marks), ragged.find_owners(self.offsets)
        columns = self.columns and (self.columns[0], self.columns[1].take(rows))
        items: Any = columns[1] if columns else self.items
        if not columns:
            is_column = hasattr(items, "take")
            items = items.take(rows) if is_column else [items[j] for j in rows.tolist()]
        return replace(
            self,
            offsets=ragged.make_offsets(ragged.count_flags(marks, owner, len(self))),
            items=items,
            grades=self.grades[rows],
            columns=columns,
            subtopics=self.subtopics and self.subtopics.take(rows, items),
            written=self.written or self,
        )

    @cached_property
    def ideal(self) -> Floats:
        """J: each query's grades from the highest to the lowest."""
        return ragged.sort_descending(self.grades, self.offsets)

    @cached_property
    def relevant(self) -> Ints:
        """Q: how many items have grade 1 or higher."""
        return ragged.count_flags(self.grades >= 1, ragged.find_owners(self.offsets), len(self))

    @cached_property
    def position(self) -> dict[Hashable, int]:
        """Query id → q, its place in ``queries``."""
        return {query: q for q, query in enumerate(self.queries)}

    @cached_property
    def judged(self) -> list[dict[Hashable, int]]:
        """For each query, item → its place in ``items``."""
        items, ends = list(self.items), self.offsets.tolist()
        return [
            dict(zip(items[start:end], range(start, end), strict=True))
            for start, end in pairwise(ends)
        ]
