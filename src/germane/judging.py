"""Judging: where ties, depth, missing queries and unjudged items are decided, for every source."""

from collections.abc import Hashable
from math import isfinite
from typing import Literal, TypeAlias, get_args

import numpy as np

from germane import _ragged, near
from germane._cached import cached, cached_by_argument
from germane._ragged import Bools, Ints
from germane._records import Record, Value, as_dict, replaced
from germane.errors import CoverageError, PolicyError, choices, clip, some, suggestion
from germane.ranking import Ranking
from germane.retrieval import COPIES, Order, Qrels, Retrieved

Duplicates: TypeAlias = Literal["error", "first", "last", "max", "keep", "again"]
Ties: TypeAlias = Literal["trec", "ascending", "given", "expected", "best", "worst", "grouped"]
Missing: TypeAlias = Literal["zero", "skip", "error"]
Unjudged: TypeAlias = Literal["nonrelevant", "remove"]
NoRelevant: TypeAlias = Literal["zero", "skip", "one", "nan", "error"]
Repeated: TypeAlias = Literal["error", "once", "each"]
Scores: TypeAlias = Literal["double", "single", "sigmoid"]
Grades: TypeAlias = Literal["exact", "whole", "nonnegative", "ones", "binary"]
Own: TypeAlias = Literal["keep", "drop"]
Nonpositive: TypeAlias = Literal["hit", "miss"]
Empty: TypeAlias = Literal["answer", "missing", "nan", "error"]
NoHit: TypeAlias = Literal["zero", "one", "skip", "nan", "error"]
AllRelevant: TypeAlias = Literal["answer", "zero", "nan"]
Undefined: TypeAlias = Literal["nan", "zero"]
Unknown: TypeAlias = Literal["ignore", "zero", "error"]

WORDS = {
    "duplicates": get_args(Duplicates),
    "ties": get_args(Ties),
    "missing": get_args(Missing),
    "unjudged": get_args(Unjudged),
    "no_relevant": get_args(NoRelevant),
}
"""The conventions that every result states."""

RARE_WORDS = {
    "repeated": get_args(Repeated),
    "scores": get_args(Scores),
    "grades": get_args(Grades),
    "own": get_args(Own),
    "nonpositive": get_args(Nonpositive),
    "empty": get_args(Empty),
    "unknown": get_args(Unknown),
    "no_hit": get_args(NoHit),
    "all_relevant": get_args(AllRelevant),
    "undefined": get_args(Undefined),
}
"""Those that few tools decide otherwise, and that results state where they are not the usual."""


class Policy(Value):
    """The conventions on which tools differ, outside the measures themselves.

    >>> germane.Policy(ties="expected")
    Policy(ties=expected)

    Every result carries the policy that made it. Raises PolicyError for a word that does not exist.
    """

    duplicates: Duplicates = "error"
    """An item that stands twice for a query: refuse it; take its first, last or highest copy; keep
    all copies at their ranks and count the first as a hit; or count every copy again."""

    ties: Ties = "trec"
    """Equal scores: by item id from the last to the first, as trec_eval does, or from the first to
    the last; in the order given; the exact mean over all orders; the order that is best or worst for the system; or all of a group
    at once, as one step to its last rank."""

    missing: Missing = "zero"
    """A judged query that the run does not answer counts as 0, is left out, or is an error."""

    unjudged: Unjudged = "nonrelevant"
    """Unjudged items count as not relevant, or are removed before ranks are counted."""

    no_relevant: NoRelevant = "zero"
    """A query without relevant items counts as 0, is left out, counts as 1, is NaN, or an error."""

    depth: int | None = None
    """Only the first ``depth`` results of each query are looked at."""

    repeated: Repeated = "error"
    """An item that stands twice among a query's relevant items: refuse it; count it once, as
    duplicates=first, last and max do too; or count each copy, of which only one can be found."""

    scores: Scores = "double"
    """Scores are compared in double precision, or rounded to single precision before; sigmoid also
    takes them through the logistic function where one is outside 0…1."""

    grades: Grades = "exact"
    """Grades are taken as they are; cut to whole numbers; not below 0; as 1 from 1 on and else as 0;
    or others than 0 and 1 are an error."""

    own: Own = "keep"
    """An item whose id is that of the query is kept, or dropped before ranks are counted."""

    nonpositive: Nonpositive = "hit"
    """Relevant items with a score of 0 or less are hits, or take their ranks as misses."""

    threshold: float | None = None
    """Items with a lower score do not count as retrieved."""

    empty: Empty = "answer"
    """A query with an empty list of results is answered, missing, NaN, or an error."""

    unknown: Unknown = "ignore"
    """A query of the run that nobody judged is left out, counts as 0, or is an error."""

    no_hit: NoHit = "zero"
    """A query with relevant items of which the measure finds none counts as 0, as 1, is left out, is
    NaN, or an error."""

    all_relevant: AllRelevant = "answer"
    """A query of which nothing is judged not relevant, but something found, is answered, counts as 0,
    or is NaN: what compares relevant with other items divides by 0 there."""

    undefined: Undefined = "nan"
    """A query that is NaN makes the mean NaN, or counts as 0 in it; so does having no query at all."""

    digits: int | None = None
    """Means are rounded to so many decimals."""

    query_digits: int | None = None
    """Each query's value is rounded to so many decimals, halves up, before the mean."""

    qrels_duplicates: Duplicates | None = None
    """Repeated judgments, where ``read_qrels`` was asked for something else than ``duplicates``."""

    def __post_init__(self) -> None:
        seams = WORDS | RARE_WORDS
        if self.qrels_duplicates is not None:
            seams["qrels_duplicates"] = WORDS["duplicates"]
        for name, words in seams.items():
            given = getattr(self, name)
            if not isinstance(given, str) or given not in words:
                near = suggestion(given, words) if isinstance(given, str) else ""
                raise PolicyError(f"{name} takes {choices(words)}; got {clip(given)}.{near}")
        depth = self.depth
        if depth is not None:
            if isinstance(depth, bool) or not hasattr(depth, "__index__") or depth.__index__() < 1:
                raise PolicyError(f"depth must be a positive integer; got {clip(depth)}")
            object.__setattr__(self, "depth", min(int(depth.__index__()), 2**62))
        for name in ("digits", "query_digits"):
            digits = getattr(self, name)
            if digits is not None and digits not in range(16):
                raise PolicyError(f"{name} takes a whole number from 0 to 15; got {clip(digits)}")
        threshold = self.threshold
        if threshold is not None and not _is_number(threshold):
            raise PolicyError(f"threshold takes a finite number; got {clip(threshold)}")

    def __repr__(self) -> str:
        changed = [
            f"{name}={value}"
            for name, value in self.to_dict().items()
            if value != getattr(Policy, name)
        ]
        return f"Policy({', '.join(changed)})"

    def __str__(self) -> str:
        """The conventions, as results print them."""
        choices = self.to_dict()
        if (qrels := choices.pop("qrels_duplicates", None)) is not None:
            choices["duplicates"] = f"{self.duplicates} (qrels: {qrels})"
        return ", ".join(f"{name}={value}" for name, value in choices.items() if value is not None)

    def to_dict(self) -> dict[str, str | float | None]:
        """The conventions by name; those that few tools decide otherwise only where they differ."""
        return {
            name: word
            for name, word in as_dict(self).items()
            if name in WORDS or name == "depth" or word != getattr(type(self), name)
        }

    @cached
    def order(self) -> Order:
        """What sources are asked for."""
        equal: Literal["id", "given"] = "given" if self.ties == "given" else "id"
        return Order(equal, self.scores, self.threshold, self.own, self.nonpositive)

    @property
    def judged_twice(self) -> str:
        """What reading qrels does with an item that stands twice for a query."""
        if self.repeated != "error":
            return "first" if self.repeated == "once" else "each"
        return self.duplicates if self.duplicates not in COPIES else "error"


def _is_number(given: object) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and isfinite(given)


class Judged(Record):
    """A run's judged items before the order of ties is chosen."""

    qrels: Qrels
    retrieved: Retrieved
    policy: Policy
    kept: Bools  # Q: the queries that are evaluated

    @cached_by_argument
    def ranking(self, ties: Ties) -> Ranking:
        """The ranking under one order of ties."""
        got, depth = self.retrieved, self.policy.depth
        within = ties if ties == "expected" or ties == "grouped" else "ordered"
        rank = _RANKS.get(ties, _as_read)(self)
        retrieved = got.retrieved
        hits = _ragged.ascending(rank, got.owner, len(self.qrels))
        if self.policy.duplicates == "keep":
            hits = self._counted_once(hits, ties)
        if depth is not None:
            retrieved = np.minimum(retrieved, depth)
            hits = hits[rank[hits] <= depth]
        if self.policy.unjudged == "remove":
            hits = hits[self.grades[hits] >= 0]
        if depth is not None and within != "ordered":
            self._refuse_torn(depth, ties)
        judgment = got.judgment[hits]
        ranking = Ranking(
            queries=self.qrels.queries,
            owner=got.owner[hits],
            rank=rank[hits],
            relevance=self.qrels.grades[judgment],
            retrieved=retrieved,
            ideal_offsets=self.qrels.offsets,
            ideal=self.qrels.ideal,
            tied_from=got.tied_from[hits],
            tied_to=got.tied_to[hits],
            ties=within,
            judgment=judgment,
        )
        if self.policy.unjudged == "remove":
            ranking = _closed_up(ranking)
        if self.policy.missing == "skip":
            ranking = _only(ranking, self.kept)
        return ranking if self.policy.unknown != "zero" else _with(ranking, got.unknown)

    def only(self, query: Hashable) -> "Judged":
        """The same of one query. Raises AbsentError where it has no judgments."""
        qrels, got, q = self.qrels.only(query), self.retrieved, self.qrels.position[query]
        part = np.flatnonzero(got.owner == q)
        retrieved = Retrieved(
            judgment=got.judgment[part] - self.qrels.offsets[q],
            owner=np.zeros(len(part), np.int64),
            rank=got.rank[part],
            tied_from=got.tied_from[part],
            tied_to=got.tied_to[part],
            retrieved=got.retrieved[q : q + 1],
            answered=got.answered[q : q + 1],
            unknown=[],
        )
        return replaced(self, qrels=qrels, retrieved=retrieved, kept=self.kept[q : q + 1])

    @property
    def grades(self) -> _ragged.Floats:
        """H: the grade of each hit."""
        return self.qrels.grades[self.retrieved.judgment]

    @property
    def tied(self) -> Bools:
        """H: does the hit share its score with another item?"""
        return self.retrieved.tied_to > self.retrieved.tied_from

    def _counted_once(self, hits: Ints, ties: Ties) -> Ints:
        """The hits without further copies of the same item: these only occupy their ranks."""
        got = self.retrieved
        judgment = got.judgment[hits]
        first = np.sort(np.unique(judgment, return_index=True)[1])
        if ties == "expected":
            groups = np.unique(np.stack([judgment, got.tied_from[hits]]), axis=1)
            if groups.shape[1] < len(hits):
                raise PolicyError(
                    "ties=expected with duplicates=keep has no closed form where copies of an item "
                    "are tied; choose another order of ties, or duplicates=first."
                )
        return hits[first]

    def _refuse_torn(self, depth: int, ties: str) -> None:
        """A depth that cuts through a group of equal scores, where that has no meaning."""
        got = self.retrieved
        torn = ((got.tied_from <= depth) & (got.tied_to > depth)).any()
        if torn and (ties == "grouped" or self.policy.unjudged == "remove"):
            raise PolicyError(
                f"ties={ties} with {'unjudged=remove and ' * (ties == 'expected')}a depth that cuts "
                "through tied items has no closed form; choose ties=trec, best or worst."
            )


def judge(qrels: Qrels, retrieved: Retrieved, policy: Policy, where: str = "the run") -> Judged:
    """Decide which queries are evaluated under a policy; ``where`` is what errors call the run.

    Raises CoverageError where no query of the run is judged, or one is missing and may not be.
    """
    answered = retrieved.answered
    if policy.empty in ("missing", "error"):
        answered = answered & (retrieved.retrieved > 0)
    if policy.empty == "error" and not answered[retrieved.answered].all():
        empty = [qrels.queries[q] for q in np.flatnonzero(retrieved.answered & ~answered)]
        raise CoverageError(f"without results: {some(empty)}. empty=answer takes empty lists.")
    if policy.unknown == "error" and retrieved.unknown:
        raise CoverageError(
            f"not in the qrels: {some(retrieved.unknown)}. unknown=ignore leaves them out."
        )
    if not np.count_nonzero(answered):
        if retrieved.answered.any():
            raise CoverageError("the run has no results for any judged query: its lists are empty.")
        raise CoverageError(
            f"no query of {where} is in the qrels. run: {some(retrieved.unknown)}; qrels: "
            f"{some(qrels.queries)}{_types(retrieved, qrels) or _alike(retrieved, qrels)}"
        )
    if policy.missing == "error" and not answered.all():
        missing = [qrels.queries[q] for q in np.flatnonzero(~answered)]
        raise CoverageError(
            f"not in {where}: {some(missing)} ({len(missing)} of {len(qrels)} judged queries). "
            "missing=zero counts them as 0, missing=skip leaves them out."
        )
    return Judged(qrels, retrieved, stated(policy, qrels), answered)


def stated(policy: Policy, qrels: Qrels) -> Policy:
    """The policy, which says so where the qrels were read under another choice for duplicates."""
    if qrels.duplicates in (None, policy.duplicates):
        return policy
    return replaced(policy, qrels_duplicates=qrels.duplicates)


def _alike(retrieved: Retrieved, qrels: Qrels) -> str:
    """In what the ids of both sides differ, where that is little."""
    for one, other in near.pairs(qrels.queries, retrieved.unknown):
        return f"  {clip(other)} and {clip(one)} differ in {near.difference(one, other)}."
    return "  Are these the same ids?"


def _types(retrieved: Retrieved, qrels: Qrels) -> str:
    """The types of both sides' ids where they have none in common."""
    run, judged = (
        sorted({type(query).__name__ for query in ids})
        for ids in (retrieved.unknown, qrels.queries)
    )
    if set(run) & set(judged):
        return ""
    return f"  The run's ids are {choices(run)}, the qrels' are {choices(judged)}."


def _ascending(judged: Judged) -> Ints:
    """The last of a group under ties=trec is the first."""
    got = judged.retrieved
    return got.tied_from + got.tied_to - got.rank


def _as_read(judged: Judged) -> Ints:
    return judged.retrieved.rank


def _expected(judged: Judged) -> Ints:
    return judged.retrieved.tied_from


def _best(judged: Judged) -> Ints:
    """High grades take the first ranks of their group, negative ones the last."""
    got, grades = judged.retrieved, judged.grades
    return np.where(
        grades >= 0,
        got.tied_from + _place(judged, -grades, grades >= 0),
        got.tied_to - _place(judged, grades, grades < 0),
    )


def _worst(judged: Judged) -> Ints:
    """Negative grades take the first ranks of their group, high ones the last."""
    got, grades = judged.retrieved, judged.grades
    return np.where(
        grades >= 0,
        got.tied_to - _place(judged, -grades, grades >= 0),
        got.tied_from + _place(judged, grades, grades < 0),
    )


def _grouped(judged: Judged) -> Ints:
    return judged.retrieved.tied_to


_RANKS = {
    "ascending": _ascending,
    "expected": _expected,
    "best": _best,
    "worst": _worst,
    "grouped": _grouped,
}


def _place(judged: Judged, key: _ragged.Floats, among: Bools) -> Ints:
    """H: how many flagged hits of the same group come before, in the order of ``key``."""
    got = judged.retrieved
    order = np.lexsort((key, ~among, got.tied_from, got.owner))
    group = np.ones(len(order), bool)
    owner, first = got.owner[order], got.tied_from[order]
    group[1:] = (owner[1:] != owner[:-1]) | (first[1:] != first[:-1])
    start = np.maximum.accumulate(np.where(group, np.arange(len(order)), 0))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - start
    return place


def _closed_up(ranking: Ranking) -> Ranking:
    """Ranks counted among the hits alone, as if nothing else had been retrieved."""
    position = np.arange(len(ranking.rank))
    starts = np.ones(len(position), bool)
    starts[1:] = (np.diff(ranking.owner) > 0) | (np.diff(ranking.tied_from) > 0)
    group = np.cumsum(starts) - 1
    first = np.flatnonzero(starts)
    width = np.diff(np.append(first, len(position)))
    base = ranking.offsets[ranking.owner]
    tied_from = first[group] - base + 1
    tied_to = tied_from + width[group] - 1
    rank = {"ordered": position - base + 1, "expected": tied_from, "grouped": tied_to}[ranking.ties]
    return replaced(
        ranking,
        rank=rank,
        retrieved=np.diff(ranking.offsets),
        tied_from=tied_from,
        tied_to=tied_to,
    )


def _only(ranking: Ranking, kept: Bools) -> Ranking:
    """The ranking of some of its queries; hits of the others are already gone."""
    judged = np.diff(ranking.ideal_offsets)
    return replaced(
        ranking,
        queries=[ranking.queries[q] for q in np.flatnonzero(kept)],
        owner=(np.cumsum(kept) - 1)[ranking.owner],
        retrieved=ranking.retrieved[kept],
        ideal_offsets=_ragged.offsets(judged[kept]),
        ideal=ranking.ideal[np.repeat(kept, judged)],
    )


def _with(ranking: Ranking, unknown: list[Hashable]) -> Ranking:
    """The ranking with queries that nobody judged: without relevant items, and without hits."""
    none = np.zeros(len(unknown), np.int64)
    return replaced(
        ranking,
        queries=[*ranking.queries, *unknown],
        retrieved=np.append(ranking.retrieved, none),
        ideal_offsets=np.append(ranking.ideal_offsets, none + len(ranking.ideal)),
    )
