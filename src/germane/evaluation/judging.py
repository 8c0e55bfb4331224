"""Judging: where ties, depth, missing queries and unjudged items are decided, for every source."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.id_spelling import describe_difference, find_pairs
from germane.core.policy import Policy, Ties
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.core.retrieved import Retrieved
from germane.errors import CoverageError, PolicyError, clip, list_choices, list_some


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRun:
    """A run's judged items before the order of ties is chosen."""

    qrels: Qrels
    retrieved: Retrieved
    policy: Policy
    kept: Bools  # Q: the queries that are evaluated
    whole: Retrieved | None = None  # the list with the items that scores took out, if it matters
    rankings: dict[Ties, Ranking] = field(default_factory=dict)  # made so far, by the order of ties

    def ranking(self, ties: Ties) -> Ranking:
        """The ranking under one order of ties."""
        if ties not in self.rankings:
            self.rankings[ties] = self._rank(ties)
        return self.rankings[ties]

    @property
    def ranked_by(self) -> tuple[Hashable, ...]:
        """All that a ranking depends on, for policies that read the data alike: equal keys, equal rankings."""
        policy = self.policy
        skipped = None if self.kept.all() or policy.missing != "skip" else self.kept.tobytes()
        listed = None if policy.relevant == "judged" else self.kept.tobytes()
        copies = policy.duplicates == "keep"
        unknown = policy.unknown == "zero"
        return skipped, listed, copies, unknown, policy.unjudged, policy.depth

    def _rank(self, ties: Ties) -> Ranking:
        got, depth = self.retrieved, self.policy.depth
        within = ties if ties == "expected" or ties == "grouped" else "ordered"
        rank = _RANKS[ties](self) if got.is_tied and ties in _RANKS else got.rank
        retrieved = got.retrieved
        at = self._hits(rank, ties)
        if depth is not None:
            retrieved = np.minimum(retrieved, depth)
        if depth is not None and within != "ordered":
            self._refuse_torn(depth, ties)
        judgment, rank = got.judgment[at], rank[at]
        ranking = Ranking(
            self.qrels.queries,
            got.owner[at],
            rank,
            ragged.select(self.qrels.grades, judgment),
            retrieved,
            *self.ideal,
            got.tied_from[at] if got.is_tied else rank,
            got.tied_to[at] if got.is_tied else rank,
            within,
            judgment,
        )
        if self.policy.unjudged == "remove":
            ranking = _close_up(ranking)
        if self.policy.missing == "skip" and not self.kept.all():
            ranking = _select_queries(ranking, self.kept)
        return ranking if self.policy.unknown != "zero" else _add_unknown(ranking, got.unknown)

    def only(self, query: Hashable) -> "JudgedRun":
        """One query alone. Raises NotFoundError where it has no judgments."""
        q = self.qrels.position[query]

        def alone(got: Retrieved) -> Retrieved:
            part = np.flatnonzero(got.owner == q)
            return Retrieved(
                judgment=got.judgment[part] - self.qrels.offsets[q],
                owner=np.zeros(len(part), np.int64),
                rank=got.rank[part],
                tied_from=got.tied_from[part],
                tied_to=got.tied_to[part],
                retrieved=got.retrieved[q : q + 1],
                answered=got.answered[q : q + 1],
                unknown=[],
            )

        return replace(
            self,
            qrels=self.qrels.only(query),
            retrieved=alone(self.retrieved),
            kept=self.kept[q : q + 1],
            whole=None if self.whole is None else alone(self.whole),
            rankings={},
        )

    @cached_property
    def ideal(self) -> tuple[Ints, Floats]:
        """Q + 1 and J: the offsets and grades of the judgments that count, descending by query.

        With relevant=listed these are the judgments of what was retrieved. A query without a list keeps
        all of its own: missing=zero counts it as 0, whether or not it has relevant items.
        """
        qrels, got = self.qrels, self.retrieved if self.whole is None else self.whole
        if self.policy.relevant == "judged":
            return qrels.offsets, qrels.ideal
        owner = ragged.find_owners(qrels.offsets)
        counted = ~self.kept[owner]
        counted[got.judgment] = True
        offsets = ragged.make_offsets(ragged.count_flags(counted, owner, len(qrels)))
        return offsets, ragged.sort_descending(qrels.grades[counted], offsets)

    @cached_property
    def relevant(self) -> Ints:
        """Q: how many items of grade 1 or higher count as relevant."""
        offsets, ideal = self.ideal
        return ragged.count_flags(ideal >= 1, ragged.find_owners(offsets), len(self.qrels))

    def reordered(self, ties: Any) -> Ranking | None:
        """The ranking under another order of ties; None where nothing judged is tied."""
        return self.ranking(ties) if self.retrieved.is_tied and self.tied.any() else None

    @property
    def grades(self) -> ragged.Floats:
        """H: the grade of each hit."""
        return self.qrels.grades[self.retrieved.judgment]

    @property
    def tied(self) -> Bools:
        """H: does the hit share its score with another item?"""
        return self.retrieved.tied_to > self.retrieved.tied_from

    def _hits(self, rank: Ints, ties: Ties) -> Ints | slice:
        """Which hits are ranked, in the order of queries and ranks."""
        owner, policy = self.retrieved.owner, self.policy
        filtered = (
            policy.duplicates == "keep" or policy.depth is not None or policy.unjudged == "remove"
        )
        if not filtered and len(rank) > ragged.FEW and ragged.ascends(rank, owner):
            return slice(None)
        hits = ragged.order_ascending(rank, owner, len(self.qrels))
        if policy.duplicates == "keep":
            hits = self._counted_once(hits, ties)
        if policy.depth is not None:
            hits = hits[rank[hits] <= policy.depth]
        if policy.unjudged == "remove":
            hits = hits[self.grades[hits] >= 0]
        return ragged.as_slice(hits) if len(hits) > ragged.FEW else hits

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


def judge(
    qrels: Qrels,
    retrieved: Retrieved,
    policy: Policy,
    where: str = "the run",
    whole: Retrieved | None = None,
) -> JudgedRun:
    """Decide which queries are evaluated under a policy; ``where`` says what errors call the run.

    ``whole`` is what the run retrieved under the policy's ``whole_list``, where that is another.
    Raises CoverageError where no query of the run is judged, or one is missing and may not be.
    """
    if policy.whole_list != policy and whole is None:
        word = "nonpositive=miss" if policy.nonpositive == "miss" else "threshold=…"
        raise PolicyError(
            f"relevant=listed with {word} needs two readings of the run, which evaluate, spread and reconcile "
            "make; without it the numbers are the same where all scores are high enough."
        )
    answered, answers = retrieved.answered, retrieved.answers
    if policy.empty not in ("answer", "nan"):
        filled = answered & (retrieved.retrieved > 0)
        any_filled = bool(filled.any())
        spared = {"error_if_all": any_filled, "missing_if_some": not any_filled}
        if not spared.get(policy.empty, False):
            answered, answers = filled, int(np.count_nonzero(filled))
    if policy.empty == "error" and not answered[retrieved.answered].all():
        empty = [qrels.queries[q] for q in np.flatnonzero(retrieved.answered & ~answered)]
        raise CoverageError(f"without results: {list_some(empty)}. empty=answer takes empty lists.")
    if policy.unknown == "error" and retrieved.unknown:
        raise CoverageError(
            f"not in the qrels: {list_some(retrieved.unknown)}. unknown=ignore leaves them out."
        )
    if not answers:
        if retrieved.answers:
            raise CoverageError("the run has no results for any judged query: its lists are empty.")
        raise CoverageError(
            f"no query of {where} is in the qrels. run: {list_some(retrieved.unknown)}; qrels: "
            f"{list_some(qrels.queries)}{_describe_types(retrieved, qrels) or _describe_near(retrieved, qrels)}"
        )
    if policy.missing == "error" and not answered.all():
        missing = [qrels.queries[q] for q in np.flatnonzero(~answered)]
        raise CoverageError(
            f"not in {where}: {list_some(missing)} ({len(missing)} of {len(qrels)} judged queries). "
            "missing=zero counts them as 0, missing=skip leaves them out."
        )
    return JudgedRun(qrels, retrieved, state_duplicates(policy, qrels), answered, whole)


def state_duplicates(policy: Policy, qrels: Qrels) -> Policy:
    """The policy, which says so where the qrels were read under another choice for duplicates."""
    if qrels.duplicates is None or qrels.duplicates == policy.duplicates:
        return policy
    return replace(policy, qrels_duplicates=qrels.duplicates)


def _describe_near(retrieved: Retrieved, qrels: Qrels) -> str:
    """In what the ids of both sides differ, where that is little."""
    for one, other in find_pairs(qrels.queries, retrieved.unknown):
        return f"  {clip(other)} and {clip(one)} differ in {describe_difference(one, other)}."
    return "  Are these the same ids?"


def _describe_types(retrieved: Retrieved, qrels: Qrels) -> str:
    """The types of both sides' ids where they have none in common."""
    run, judged = (
        sorted({type(query).__name__ for query in ids})
        for ids in (retrieved.unknown, qrels.queries)
    )
    if set(run) & set(judged):
        return ""
    return f"  The run's ids are {list_choices(run)}, the qrels' are {list_choices(judged)}."


def _rank_ascending(judged: JudgedRun) -> Ints:
    """The last of a group under ties=trec is the first."""
    got = judged.retrieved
    return got.tied_from + got.tied_to - got.rank


def _rank_expected(judged: JudgedRun) -> Ints:
    return judged.retrieved.tied_from


def _rank_best(judged: JudgedRun) -> Ints:
    """High grades take the first ranks of their group, negative ones the last."""
    got, grades = judged.retrieved, judged.grades
    return np.where(
        grades >= 0,
        got.tied_from + _place(judged, -grades, grades >= 0),
        got.tied_to - _place(judged, grades, grades < 0),
    )


def _rank_worst(judged: JudgedRun) -> Ints:
    """Negative grades take the first ranks of their group, high ones the last."""
    got, grades = judged.retrieved, judged.grades
    return np.where(
        grades >= 0,
        got.tied_to - _place(judged, -grades, grades >= 0),
        got.tied_from + _place(judged, grades, grades < 0),
    )


def _rank_grouped(judged: JudgedRun) -> Ints:
    return judged.retrieved.tied_to


_RANKS = {
    "ascending": _rank_ascending,
    "expected": _rank_expected,
    "best": _rank_best,
    "worst": _rank_worst,
    "grouped": _rank_grouped,
}


def _place(judged: JudgedRun, key: ragged.Floats, among: Bools) -> Ints:
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


def _close_up(ranking: Ranking) -> Ranking:
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
    return replace(
        ranking,
        rank=rank,
        retrieved=np.diff(ranking.offsets),
        tied_from=tied_from,
        tied_to=tied_to,
    )


def _select_queries(ranking: Ranking, kept: Bools) -> Ranking:
    """The ranking of some of its queries; hits of the others are already gone."""
    judged = np.diff(ranking.ideal_offsets)
    return replace(
        ranking,
        queries=[ranking.queries[q] for q in np.flatnonzero(kept)],
        owner=(np.cumsum(kept) - 1)[ranking.owner],
        retrieved=ranking.retrieved[kept],
        ideal_offsets=ragged.make_offsets(judged[kept]),
        ideal=ranking.ideal[np.repeat(kept, judged)],
    )


def _add_unknown(ranking: Ranking, unknown: list[Hashable]) -> Ranking:
    """The ranking with queries that nobody judged: without relevant items, and without hits."""
    none = np.zeros(len(unknown), np.int64)
    return replace(
        ranking,
        queries=[*ranking.queries, *unknown],
        retrieved=np.append(ranking.retrieved, none),
        ideal_offsets=np.append(ranking.ideal_offsets, none + len(ranking.ideal)),
    )


class Hit(NamedTuple):
    """A judged item that was retrieved: its rank, from 1, and its grade."""

    item: Hashable
    rank: int
    relevance: float


class Placement:
    """The judged items of a run at their ranks, query by query."""

    def __init__(self, judged: JudgedRun) -> None:
        self._judged = judged

    @cached_property
    def answered(self) -> frozenset[Hashable]:
        """The judged queries that the run has results for."""
        queries = self._judged.qrels.queries
        return frozenset(queries[q] for q in np.flatnonzero(self._judged.retrieved.answered))

    @property
    def qrels(self) -> Qrels:
        """The judgments that the run was judged against."""
        return self._judged.qrels

    @cached_property
    def ranking(self) -> Ranking:
        """All queries, under the policy's order of ties."""
        return self._judged.ranking(self._judged.policy.ties)

    def of(self, query: Hashable) -> JudgedRun:
        """The judged items of one query, before the order of ties is chosen."""
        return self._judged.only(query)

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {query: q for q, query in enumerate(self.ranking.queries)}

    def hits(self, query: Hashable) -> tuple[Hit, ...]:
        """A query's judged items that were retrieved, by rank; none for a query that was left out."""
        ranking, q = self.ranking, self._position.get(query)
        if q is None or ranking.judgment is None:
            return ()
        part = slice(ranking.offsets[q], ranking.offsets[q + 1])
        items = (self._judged.qrels.items[j] for j in ranking.judgment[part].tolist())
        ranks, grades = ranking.rank[part].tolist(), ranking.relevance[part].tolist()
        return tuple(map(Hit, items, ranks, grades))
