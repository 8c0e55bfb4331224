"""Tally: the hits of batches of queries, added up to those of the whole run."""

from collections.abc import Hashable
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Ints
from germane.core.retrieved import COUNTED, Retrieved
from germane.errors import DuplicateError, list_some

Twice: TypeAlias = Literal["error", "same", "first"]
TWICE: tuple[Twice, ...] = ("error", "same", "first")

Found: TypeAlias = tuple[Retrieved, Ints]  # what a batch retrieved, and where its queries stand

_HITS = ("owner", "judgment", "rank", "tied_from", "tied_to")


class Tally:
    """The hits of the queries that have arrived: 40 bytes a hit, and 9 a judged query."""

    def __init__(self, qrels: Qrels) -> None:
        self._qrels = qrels
        self._hits: list[Ints] = []  # tables with a column a hit, each larger than the next
        self._retrieved = np.zeros(len(qrels), np.int64)
        self._answered = np.zeros(len(qrels), bool)
        self._counted: dict[str, Any] = {}  # rows that were collapsed or excluded, if any
        self._unknown: dict[Hashable, None] = {}
        self._findings: dict[tuple[bool, str], Finding] = {}  # in batches with hits, or without
        self._missed: Tally | None = None  # of judged items that are no hits for their scores

    def __len__(self) -> int:
        return int(np.count_nonzero(self._answered))

    def select_new(self, retrieved: Retrieved, places: Ints, twice: Twice) -> Bools:
        """Mark the new queries of a batch. ``places`` are those of its queries in the qrels.

        Raises DuplicateError for a query that has arrived before, unless ``twice`` allows it.
        """
        is_repeated = retrieved.answered & self._answered[places]
        refused = np.flatnonzero(is_repeated)
        if twice == "same" and len(refused):
            refused = self._find_unlike(retrieved, places, refused)
        if twice != "first" and len(refused):
            queries = self._qrels.queries
            raise _explain_repeat([queries[q] for q in places[refused].tolist()], twice)
        new: Bools = retrieved.answered & ~is_repeated
        return new

    def add(self, retrieved: Retrieved, places: Ints, new: Bools) -> None:
        """Add the queries of a batch that are marked as new."""
        hits = _place_hits(retrieved, self._qrels, places)[:, new[retrieved.owner]]
        if hits.shape[1]:
            self._hits.append(hits)
        while len(self._hits) > 1 and self._hits[-2].shape[1] <= self._hits[-1].shape[1]:
            self._hits[-2:] = [np.concatenate(self._hits[-2:], axis=1)]
        self._retrieved[places[new]] = retrieved.retrieved[new]
        self._answered[places[new]] = True
        for name in COUNTED:
            counts = getattr(retrieved, name)
            if counts is not None:
                held = self._counted.setdefault(name, np.zeros(len(self._qrels), np.int64))
                held[places[new]] = counts[new]
        if retrieved.missed is not None:
            self._missed = self._missed or Tally(self._qrels)
            self._missed.add(retrieved.missed, places, new)
        self._unknown.update(dict.fromkeys(retrieved.unknown))
        for finding in retrieved.findings:  # one of each kind, in whatever order batches come
            kind = len(retrieved.judgment) > 0, finding.what
            self._findings[kind] = min(self._findings.get(kind, finding), finding, key=str)

    def collect(self) -> Retrieved:
        """Put together what all batches retrieved."""
        hits = np.concatenate([np.zeros((len(_HITS), 0), np.int64), *self._hits], axis=1)
        return Retrieved(
            **dict(zip(_HITS, hits, strict=True)),
            retrieved=self._retrieved.copy(),
            answered=self._answered.copy(),
            unknown=list(self._unknown),
            **{name: counts.copy() for name, counts in self._counted.items()},
            # a batch without a match explains why; that matters only if no batch has one
            findings=tuple(f for (hit, _), f in self._findings.items() if hit or not hits.shape[1]),
            missed=None if self._missed is None else self._missed.collect(),
        )

    def as_batch(self) -> Found:
        """Return all batches as one batch of all queries."""
        return self.collect(), np.arange(len(self._answered))

    def _find_unlike(self, retrieved: Retrieved, places: Ints, repeated: Ints) -> Ints:
        """Find the queries that arrived before with other hits, or another number of results."""
        counted = self.collect()
        before, now = (
            {tuple(hit) for hit in table[:, np.isin(table[0], places[repeated])].T.tolist()}
            for table in (_make_table(counted), _place_hits(retrieved, self._qrels, places))
        )
        unlike = np.isin(places[repeated], [hit[0] for hit in before ^ now])
        differing: Ints = repeated[
            unlike | (counted.retrieved[places[repeated]] != retrieved.retrieved[repeated])
        ]
        return differing


def _make_table(retrieved: Retrieved) -> Ints:
    """Make a table with one column a hit."""
    return np.array([getattr(retrieved, name) for name in _HITS], np.int64)


def _place_hits(retrieved: Retrieved, qrels: Qrels, places: Ints) -> Ints:
    """Make a table of the hits of a batch, with queries and judgments numbered as in all qrels."""
    starts = qrels.offsets[places]
    moved = starts - ragged.make_offsets(qrels.offsets[places + 1] - starts)[:-1]
    hits = _make_table(retrieved)
    hits[1] += moved[hits[0]]
    hits[0] = places[hits[0]]
    return hits


def _explain_repeat(queries: list[Hashable], twice: Twice) -> DuplicateError:
    if twice == "same":
        text = "arrived before with other results: a query's rows belong into one batch"
    else:
        text = "arrived before. twice=same takes copies that are the same once"
    plural = "queries" if len(queries) > 1 else "query"
    return DuplicateError(f"{plural} {list_some(queries)} {text}, twice=first keeps the first.")
