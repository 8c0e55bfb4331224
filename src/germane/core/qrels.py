"""Qrels, relevance judgments by query; and Retrieved, the judged items that a run retrieved."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.id_spelling import unwrap_id
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Subtopics
from germane.errors import NotFoundError, clip, suggest


class IdNames(NamedTuple):
    """The names of the columns of ids, in frames and tables out as in the data."""

    query: str = "query"
    item: str = "item"

    def avoid(self, taken: Collection[str]) -> "IdNames":
        """Take the usual names where another column has one of these."""
        return IdNames() if set(self) & set(taken) else self


@dataclass(frozen=True)
class Source:
    """What a reader of judgments leaves for the reader of a run that comes after it."""

    lines: Any = None  # the order of a LETOR file, which scores without ids follow
    width: int | None = None  # the number of items of an array, which numbers queries and items
    is_array: bool = False  # of an array whose items have ids: its zeros may be left out
    comments: int = 0  # lines that begin with # and are no data
    maybe_data: "Qrels | None" = None  # of lines with #, which are data if the run has their query


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """Relevance judgments, grouped by query.

    >>> qrels = germane.read_qrels("examples/digits/qrels.txt")
    >>> len(qrels)
    200

    The judgments of query ``q`` are the slice ``offsets[q]:offsets[q + 1]`` of ``items`` and
    ``grades``. A negative grade marks an item that was pooled but not judged. If items are judged
    for ``subtopics``, the grade of an item is the highest of these.
    """

    queries: list[Hashable]  # Q
    offsets: Ints  # Q + 1
    items: Sequence[Hashable]  # J
    grades: Floats  # J
    name: str = "qrels"
    ids: str = "typed"  # or text: the source has no other ids, and integers are their digits
    columns: tuple[Any, Any] | None = None  # query and item ids as a source of columns has them
    duplicates: str | None = None  # the choice they were read with, if they were read by themselves
    unjudged: tuple[Hashable, ...] = ()  # queries that stand there without a judgment; left out
    candidates: Any = None  # items that may be retrieved (readers.options.candidates), if not all
    subtopics: Subtopics | None = None  # the grades for single subtopics, if there are any
    written: "Qrels | None" = None  # as they were written, if some were converted or left out
    ignored: int = 0  # judgments that ignore=… took out
    source: Source = Source()
    id_names: IdNames | None = None  # of a source of named columns

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}: {len(self)} queries, {len(self.items)} judgments)"

    def only(self, query: Hashable) -> "Qrels":
        """Select the judgments of one query. Raises NotFoundError if it has none."""
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
            id_names=self.id_names,
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
        """Keep some of the judgments (J); a query may lose all of its judgments."""
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


# --- Retrieved ------------------------------------------------------------------------------------
#
# Retrieved: the judged items that a run retrieved, and the order in which its rows were ranked.
#
# Readers make it; judging turns it and the qrels into a Ranking. The checks get a sample of the
# run's first rows with it.

ONE_COPY = ("first", "last", "max")  # under these choices one copy of a duplicate item is left
COPIES = ("keep", "recount")  # under these choices every copy of a duplicate item takes a rank


@dataclass(frozen=True)
class Order:
    """The order of a run's rows, and which of them count as retrieved."""

    equal: str = "id"  # the order of equal scores: a word of ties.ROW_KEYS
    scores: Literal["double", "single", "sigmoid", "distances"] = "double"
    least: float | None = None  # items with a lower converted score are not retrieved
    own: Literal["keep", "drop"] = "keep"  # an item whose id is the query's
    nonpositive: Literal["hit", "miss"] = "hit"  # a judged item with a score of 0 or less
    padding: Literal["keep", "drop"] = "keep"  # an item with the id -1
    ranks: Literal["order", "places"] = "order"  # are ranks the places in a longer list?

    @property
    def takes_all(self) -> bool:
        return self.least is None and self.own == "keep"

    @cached_property
    def plain(self) -> bool:
        """Does only the order of scores matter, with nothing left out?"""
        return self in (AS_GIVEN, BY_ID)

    def convert_scores(self, scores: Floats, offsets: Ints) -> Floats:
        """Convert the scores of some queries: round them, or make higher numbers better."""
        if self.scores == "double":
            return scores
        if self.scores == "distances":
            return -scores
        with np.errstate(over="ignore"):  # beyond single precision all scores are infinite
            single: Floats = scores.astype(np.float32)
            if self.scores == "sigmoid":
                owner = ragged.find_owners(offsets)
                odd = owner[(single < 0) | (single > 1)]
                outside = np.bincount(odd, minlength=len(offsets) - 1) > 0
                single = np.where(outside[owner], 1 / (1 + np.exp(-single)), single)
            return single.astype(np.float64)

    def reach_least(self, scores: Floats) -> Bools:
        """Mark the converted scores that are high enough."""
        return np.ones(len(scores), bool) if self.least is None else scores >= self.least


EMPTYING = ("", "candidates", "order", "nonpositive")
"""Causes that may take all results, or all hits, of a query: the pairs that select results, the
lowest score and the query's own item, and scores that count as misses."""
COUNTED = ("rows", "excluded", "emptied", "gaps")
"""Fields of ``Retrieved`` that hold a number for each query, where there are some."""

AS_GIVEN, BY_ID = Order("given"), Order()


class Sample:
    """The first rows of some queries of a run, in the order in which they were given.

    The rows of ``queries[s]`` are ``offsets[s]:offsets[s + 1]``. ``rank(n)`` and ``given(n)``
    return the ranks and the scores, as they were written, of the first n rows.
    """

    def __init__(
        self,
        queries: Sequence[Hashable],
        offsets: Ints,
        items: Sequence[Hashable],
        score: Floats | None = None,
        *,
        rank: Callable[[int], Floats] | None = None,
        raw: Callable[[int], Sequence[Any]] | None = None,
        ids: str = "typed",  # as in Qrels, or "places": the rows and columns of an array
        rounded: int = 0,  # scores of the whole run that became equal to another as doubles
        finer: bool = False,  # may the scores have had more digits than doubles?
    ) -> None:
        self.queries, self.offsets, self.items, self.score = queries, offsets, items, score
        self.rank, self.given, self.ids = rank, raw, ids
        self.rounded, self.finer = rounded, finer

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def owner(self) -> Ints:
        """The position in ``queries`` of each row's query."""
        return ragged.find_owners(self.offsets)


def choose_rows(offsets: Ints, most_rows: int) -> tuple[Ints, Ints]:
    """Choose the rows of a sample: the first of each of the first queries, and their offsets."""
    lengths = np.diff(offsets[: most_rows + 1])
    depth = most_rows // max(1, min(len(lengths), SAMPLED, most_rows // DEEP))
    ends = ragged.make_offsets(np.minimum(lengths, depth))
    ends = ends[: max(2, int(np.searchsorted(ends, most_rows, "right")))]
    return ragged.list_stretches(offsets[: len(ends) - 1], np.diff(ends)), ends


SAMPLED, DEEP = 200, 4  # queries of a sample, and the rows of each where there are that many


@dataclass(frozen=True, eq=False, repr=False)
class Retrieved:
    """The judged items that a run retrieved, with the ranks that scores leave open to them."""

    judgment: Ints  # H, place in Qrels.items; hits of a query stand together
    owner: Ints  # H, query
    rank: Ints  # H, from 1, in the order asked for (item ids or as given)
    tied_from: Ints  # H, first and last rank of the group of equal scores
    tied_to: Ints  # H
    retrieved: Ints  # Q
    answered: Bools  # Q, does the run have the query at all?
    unknown: list[Hashable]  # the run's queries that nobody judged
    sample: "Callable[[int], Sample] | None" = None  # returns at most so many of the first rows
    findings: tuple[Finding, ...] = ()  # about the rows of batches, whose samples are not kept
    excluded: Ints | None = None  # Q, results that are no candidates, if there are candidates
    emptied: Ints | None = None  # Q, what took all results of a query: a number of EMPTYING, or 0
    gaps: Bools | None = None  # Q, do ranks without scores exceed the number of results?
    comments: int = 0  # lines of a file that begin with # and are no data
    rows: Ints | None = None  # Q, the results before groups took their place; None: they did not
    missed: "Retrieved | None" = None  # judged items that take ranks and are no hits, if scores say

    @cached_property
    def answers(self) -> int:
        """How many of the judged queries the run has."""
        return int(np.count_nonzero(self.answered))

    def equals(self, other: "Retrieved") -> bool:
        """Is the other one the same, read in another way?"""
        if self.is_tied != other.is_tied or self.unknown != other.unknown:
            return False
        if (self.missed is None) != (other.missed is None):
            return False
        if self.missed and other.missed and not self.missed.equals(other.missed):
            return False
        names = ["rank", "tied_from", "tied_to"] if self.is_tied else ["rank"]
        return (self.findings, self.comments) == (other.findings, other.comments) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("judgment", "owner", "retrieved", "answered", *names)
        )

    @cached_property
    def is_tied(self) -> bool:
        """Can hits share their score with another item? Else their three ranks are one array."""
        return self.tied_to is not self.tied_from
