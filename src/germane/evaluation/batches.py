"""Batches: what each of them retrieved, and the tally of all."""

import json
from collections.abc import Callable, Hashable
from dataclasses import asdict
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.policy import Policy
from germane.core.qrels import COUNTED, Order, Qrels, Retrieved
from germane.core.ragged import Bools, Ints
from germane.errors import DuplicateError, InputError, list_some
from germane.evaluation.whole_lists import Counted
from germane.kernel.content import Content
from germane.measures.measure import Measure

Twice: TypeAlias = Literal["error", "same", "first"]
TWICE: tuple[Twice, ...] = ("error", "same", "first")

Found: TypeAlias = tuple[Retrieved, Ints]  # what a batch retrieved, and where its queries stand

_HITS = ("owner", "judgment", "rank", "tied_from", "tied_to")


class Tally:
    """The hits of the queries that have arrived: 40 bytes a hit, and 9 a judged query."""

    def __init__(self, qrels: Qrels) -> None:
        self._qrels = qrels
        self._hits: list[Ints] = []  # tables with a column per hit, each larger than the next
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
                totals = self._counted.setdefault(name, np.zeros(len(self._qrels), np.int64))
                totals[places[new]] = counts[new]
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
    """Make a table with one column per hit."""
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
        text = "arrived before with different results: all rows of a query belong in one batch"
    else:
        text = "arrived before. twice=same counts equal copies once"
    plural = "queries" if len(queries) > 1 else "query"
    return DuplicateError(f"{plural} {list_some(queries)} {text}, twice=first keeps the first.")


Way = tuple[str, str, Order]  # how qrels and run are read
Read = dict[Way, Found]


_ARRAYS = ("judgment", "owner", "rank", "tied_from", "tied_to", "retrieved", "answered")


class Reduced(NamedTuple):
    """The judged items that a batch retrieved, and how it was read."""

    conventions: Policy
    policies: dict[Measure, Policy]
    read: Read
    terms: "Terms"  # of the Evaluator that made it, whose like alone may add it
    lists: Counted = {}  # noqa: RUF012  (never changed)
    content: Content | None = None  # of the rows, if they are signed

    def pack(self, end: int) -> bytes:
        """Write the batch as the bytes of a file, from which an evaluation can go on."""
        arrays: dict[str, Any] = {}
        notes = []
        for way, (retrieved, places) in enumerate(self.read.values()):
            arrays |= {f"{way} {name}": getattr(retrieved, name) for name in _ARRAYS}
            if retrieved.missed is not None:
                arrays |= {
                    f"{way} missed {name}": getattr(retrieved.missed, name) for name in _ARRAYS
                }
            counts = {name: getattr(retrieved, name) for name in COUNTED}
            arrays |= {
                f"{way} {name}": column for name, column in counts.items() if column is not None
            }
            arrays[f"{way} places"] = places
            notes.append([retrieved.unknown, [asdict(finding) for finding in retrieved.findings]])
        arrays["said"] = np.frombuffer(json.dumps({"end": end, "ways": notes}).encode(), np.uint8)
        file = BytesIO()
        np.savez(file, **arrays)
        return file.getvalue()

    @classmethod
    def load(
        cls, path: Path, conventions: Policy, policies: dict[Measure, Policy], terms: "Terms"
    ) -> tuple[int, "Reduced"]:
        """Read a batch from a file: where it ends in the run, and what it retrieved.

        Raises InputError for one that is damaged.
        """
        ways = dict.fromkeys(map(find_way, policies.values()))
        try:
            with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                notes = json.loads(bytes(arrays["said"]))
                read: Read = {}
                pairs = zip(ways, notes["ways"], strict=True)
                for number, (way, (unknown, findings)) in enumerate(pairs):
                    columns = {name: arrays[f"{number} {name}"] for name in _ARRAYS}
                    missed = None
                    if f"{number} missed rank" in arrays:
                        missed_columns = {
                            name: arrays[f"{number} missed {name}"] for name in _ARRAYS
                        }
                        missed = Retrieved(**missed_columns, unknown=[])
                    found = (
                        Finding(**{**finding, "examples": tuple(finding["examples"])})
                        for finding in findings
                    )
                    columns |= {name: arrays.get(f"{number} {name}") for name in COUNTED}
                    retrieved = Retrieved(
                        **columns, unknown=unknown, findings=tuple(found), missed=missed
                    )
                    read[way] = retrieved, arrays[f"{number} places"]
                return notes["end"], cls(conventions, policies, read, terms)
        except (
            Exception
        ) as error:  # whatever NumPy, zip and JSON raise for a file that is not theirs
            raise InputError(
                f"{path}: this batch of the checkpoint is damaged ({error})."
            ) from None


class Terms:
    """The choices and judgments that two Evaluators must share for their batches to mean the same.

    They are described when they are first compared with those of another one, or sent to a process.
    """

    def __init__(self, describe: Callable[[], dict[str, str]]) -> None:
        self._describe = describe

    @property
    def are_described(self) -> bool:
        """Are they described already?"""
        return "words" in self.__dict__

    @cached_property
    def words(self) -> dict[str, str]:
        """Each choice with its description."""
        return self._describe()

    def __getstate__(self) -> dict[str, Any]:
        return {"words": self.words}


def find_way(policy: Policy) -> Way:
    """Find the choices of a policy on which the reading of a batch depends."""
    return policy.judged_twice, policy.duplicates, policy.order
