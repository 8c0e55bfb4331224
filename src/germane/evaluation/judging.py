"""Judging: the stage that decides on ties, depth, missing queries and unjudged items."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.id_spelling import describe_difference, describe_types, find_pairs
from germane.core.policy import Policy
from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Cells, Ranking
from germane.core.ties import (
    GROUP_RANKS,
    Ties,
    rank_by_grade,
    rank_rows,
    refuse_tied_copies,
    refuse_torn,
)
from germane.errors import CoverageError, PolicyError, clip, list_some, write_option
from germane.evaluation.special_queries import Kinds


@dataclass(frozen=True, eq=False, repr=False)
class JudgedRun:
    """A run's judged items before the order of ties is chosen."""

    qrels: Qrels
    retrieved: Retrieved
    policy: Policy
    kept: Bools  # Q: the queries that are evaluated
    whole: Retrieved | None = None  # the list with the items that scores took out, if it matters
    rankings: dict[Ties, Ranking] = field(default_factory=dict)  # made so far, by the order of ties
    lists: Any = None  # whole lists, for measures of the catalogue (evaluation.whole_lists)

    def rank(self, ties: Ties) -> Ranking:
        """Rank the judged items under one order of ties."""
        if ties not in self.rankings:
            self.rankings[ties] = self._make_ranking(ties)
        return self.rankings[ties]

    @property
    def ranking_key(self) -> tuple[Hashable, ...]:
        """All that a ranking depends on, for policies that read the data alike."""
        policy = self.policy
        skipped = None if self.kept.all() or policy.missing != "skip" else self.kept.tobytes()
        listed = None if policy.relevant == "judged" else self.kept.tobytes()
        copies = policy.duplicates == "keep"
        unknown = policy.unknown == "zero"
        return skipped, listed, copies, unknown, policy.unjudged, policy.depth

    def _make_ranking(self, ties: Ties) -> Ranking:
        run_lists, depth, retrieved = self.retrieved, self.policy.depth, self.retrieved.retrieved
        within: Any = ties if ties in GROUP_RANKS else "ordered"
        rank = self._choose_ranks(ties) if run_lists.is_tied else run_lists.rank
        hits = self._choose_hits(rank)
        if depth is not None:
            retrieved = np.minimum(retrieved, depth)
            if within != "ordered":
                refuse_torn(ties, depth, run_lists, removes=self.policy.unjudged == "remove")
        judgment, rank = run_lists.judgment[hits], rank[hits]
        tied = (
            (run_lists.tied_from[hits], run_lists.tied_to[hits])
            if run_lists.is_tied
            else (rank, rank)
        )
        grades = ragged.select(self.qrels.grades, judgment)
        ranking = Ranking(
            self.qrels.queries, run_lists.owner[hits], rank, grades, retrieved,
            *self.ideal, *tied, within, judgment, self.cells,
        )  # fmt: skip
        if self.policy.unjudged == "remove":
            ranking = _close_up(ranking)
            if run_lists.missed is not None:
                retrieved = ranking.retrieved + self._count_missed(run_lists.missed, ties)
                ranking = replace(ranking, retrieved=retrieved)
        if self.policy.duplicates == "keep":
            ranking = _drop_copies(ranking)
        if self.policy.missing == "skip" and not self.kept.all():
            ranking = _select_queries(ranking, self.kept)
        return (
            ranking if self.policy.unknown != "zero" else _add_unknown(ranking, run_lists.unknown)
        )

    def _count_missed(self, missed: Retrieved, ties: Ties) -> Ints:
        """Count the judged items of each query that are no hits for their scores, and keep ranks.

        Their scores are the lowest, so that they stand behind all hits.
        """
        policy = Policy(ties=ties, depth=self.policy.depth, unjudged="remove")
        return replace(self, retrieved=missed, policy=policy, rankings={}).rank(ties).retrieved

    @cached_property
    def kinds(self) -> Kinds | None:
        """The special queries, in the order of a ranking; None if all are ordinary."""
        results, skips = self.retrieved.retrieved, self.policy.missing == "skip"
        unknown = self.retrieved.unknown if self.policy.unknown == "zero" else ()
        if not unknown and results.all() and self.kept.all():
            return None
        missing, empty = ~self.kept, self.kept & (results == 0)
        if skips:
            missing, empty = missing[self.kept], empty[self.kept]
        none, not_unknown = np.zeros(len(missing), bool), np.zeros(len(unknown), bool)
        return Kinds(
            np.append(missing, not_unknown),
            np.append(empty, not_unknown),
            np.append(none, ~not_unknown),
        )

    @property
    def queries(self) -> list[Hashable]:
        """The queries that get a value, in the order of a ranking."""
        queries = self.qrels.queries
        if self.policy.missing == "skip" and not self.kept.all():
            queries = [queries[q] for q in np.flatnonzero(self.kept)]
        return queries if self.policy.unknown != "zero" else [*queries, *self.retrieved.unknown]

    def only(self, query: Hashable) -> "JudgedRun":
        """Select one query. Raises NotFoundError where it has no judgments."""
        q = self.qrels.position[query]

        def select(retrieved: Retrieved) -> Retrieved:
            part = np.flatnonzero(retrieved.owner == q)
            return Retrieved(
                judgment=retrieved.judgment[part] - self.qrels.offsets[q],
                owner=np.zeros(len(part), np.int64),
                rank=retrieved.rank[part],
                tied_from=retrieved.tied_from[part],
                tied_to=retrieved.tied_to[part],
                retrieved=retrieved.retrieved[q : q + 1],
                answered=retrieved.answered[q : q + 1],
                unknown=[],
                missed=None if retrieved.missed is None else select(retrieved.missed),
            )

        whole_run = None if self.whole is None else select(self.whole)
        qrels, retrieved, is_kept = (
            self.qrels.only(query),
            select(self.retrieved),
            self.kept[q : q + 1],
        )
        return JudgedRun(qrels, retrieved, self.policy, is_kept, whole_run)

    @cached_property
    def ideal(self) -> tuple[Ints, Floats]:
        """Q + 1 and J: the offsets and grades of the judgments that count, descending by query.

        With relevant=listed these are the judgments of what was retrieved. A query without a list
        keeps all of its own: missing=zero counts it, whether or not it has relevant items.
        """
        if self.policy.relevant == "judged":
            return self.qrels.offsets, self.qrels.ideal
        owner, counted = ragged.find_owners(self.qrels.offsets), self.counted
        offsets = ragged.make_offsets(ragged.count_flags(counted, owner, len(self.qrels)))
        return offsets, ragged.sort_descending(self.qrels.grades[counted], offsets)

    @cached_property
    def counted(self) -> Bools:
        """J: does the judgment count? With relevant=listed, only that of what was retrieved."""
        retrieved = self.retrieved if self.whole is None else self.whole
        owner = ragged.find_owners(self.qrels.offsets)
        counted = ~self.kept[owner]
        counted[retrieved.judgment] = True
        return counted | (self.policy.relevant == "judged")

    @cached_property
    def cells(self) -> Cells | None:
        """The subtopics of the judgments that count; None where there are none."""
        judged = self.qrels.subtopics
        if judged is None:
            return None
        return Cells(judged, np.where(self.counted, ragged.find_owners(self.qrels.offsets), -1))

    @cached_property
    def relevant(self) -> Ints:
        """Q: how many items of grade 1 or higher count as relevant."""
        offsets, ideal = self.ideal
        return ragged.count_flags(ideal >= 1, ragged.find_owners(offsets), len(self.qrels))

    def reorder(self, ties: Any) -> Ranking | None:
        """Rank under another order of ties; None where nothing judged is tied."""
        return self.rank(ties) if self.retrieved.is_tied and self.tied.any() else None

    @property
    def grades(self) -> Floats:
        """H: the grade of each hit."""
        return self.qrels.grades[self.retrieved.judgment]

    @property
    def tied(self) -> Bools:
        """H: does the hit share its score with another item?"""
        return self.retrieved.tied_to > self.retrieved.tied_from

    def _choose_ranks(self, ties: Ties) -> Ints:
        """H: the rank of each hit under an order of ties."""
        retrieved = self.retrieved
        if ties in ("best", "worst"):
            keeps_copies = self.policy.duplicates == "keep"
            subtopics = self._count_subtopics()
            return rank_by_grade(ties, retrieved, self.grades, subtopics, keeps_copies=keeps_copies)
        group = retrieved.tied_from, retrieved.tied_to
        if ties in GROUP_RANKS:
            return GROUP_RANKS[ties](*group)
        return rank_rows(ties, retrieved.rank, *group)

    def _count_subtopics(self) -> Ints:
        """H: the subtopics for which each hit is relevant; 0 where the judgments have none."""
        judgment, subtopics = self.retrieved.judgment, self.qrels.subtopics
        return (
            np.zeros(len(judgment), np.int64) if subtopics is None else subtopics.relevant[judgment]
        )

    def _choose_hits(self, rank: Ints) -> Ints | slice:
        """Choose the hits that are ranked, in the order of queries and ranks."""
        owner, policy = self.retrieved.owner, self.policy
        filtered = (
            policy.duplicates == "keep" or policy.depth is not None or policy.unjudged == "remove"
        )
        if not filtered and len(rank) > ragged.FEW and ragged.ascends(rank, owner):
            return slice(None)
        hits = ragged.order_ascending(rank, owner, len(self.qrels))
        if policy.depth is not None:
            hits = hits[rank[hits] <= policy.depth]
        if policy.unjudged == "remove":
            hits = hits[self.grades[hits] >= 0]
        return ragged.as_slice(hits) if len(hits) > ragged.FEW else hits


def judge(
    qrels: Qrels,
    retrieved: Retrieved,
    policy: Policy,
    where: str = "the run",
    whole: Retrieved | None = None,
) -> JudgedRun:
    """Decide which queries are evaluated under a policy. Errors call the run ``where``.

    ``whole`` is what the run retrieved under the policy's ``whole_list``, where that differs from
    the policy. Raises CoverageError where no query of the run is judged, or where one is missing
    and the policy refuses that.
    """
    if policy.whole_list is not policy and whole is None:
        limit = "min_score=…" if policy.max_distance is None else "max_distance=…"
        word = "nonpositive=miss" if policy.nonpositive == "miss" else limit
        raise PolicyError(
            f"with {word}, {write_option('relevant', 'listed')} needs to read the run twice, which"
            " evaluate, spread and reconcile do. If all scores are high enough, the numbers are"
            f" the same without {word}."
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
            f"not in the qrels: {list_some(retrieved.unknown)}. {write_option('unknown', 'ignore')}"
            " leaves them out."
        )
    if not answers:
        if retrieved.answers:
            raise CoverageError(
                "the run has no results for any judged query: all of its lists are empty."
            )
        kinds = describe_types("run's", retrieved.unknown, "qrels'", qrels.queries)
        raise CoverageError(
            f"no query of {where} is in the qrels. run: {list_some(retrieved.unknown)}; qrels:"
            f" {list_some(qrels.queries)} "
            f" {f'{kinds}.' if kinds else _describe_near(retrieved, qrels)}"
        )
    if policy.missing == "error" and not answered.all():
        missing = [qrels.queries[q] for q in np.flatnonzero(~answered)]
        raise CoverageError(
            f"not in {where}: {list_some(missing)} ({len(missing)} of {len(qrels)} judged queries)."
            f" {write_option('missing', 'zero')} counts them as empty,"
            f" {write_option('missing', 'skip')} leaves them out."
        )
    return JudgedRun(qrels, retrieved, state_duplicates(policy, qrels), answered, whole)


def judge_empty(qrels: Qrels, policy: Policy) -> JudgedRun:
    """Judge an empty list for queries that the run lacks."""
    none, counts = np.zeros(0, np.int64), np.zeros(len(qrels), np.int64)
    is_answered = counts > 0
    empty = Retrieved(none, none, none, none, none, counts, is_answered, unknown=[])
    return JudgedRun(qrels, empty, state_duplicates(policy, qrels), is_answered)


def state_duplicates(policy: Policy, qrels: Qrels) -> Policy:
    """Note in the policy if the qrels were read under another choice for duplicates."""
    if qrels.duplicates is None or qrels.duplicates == policy.duplicates:
        return policy
    return replace(policy, qrels_duplicates=qrels.duplicates)


def _describe_near(retrieved: Retrieved, qrels: Qrels) -> str:
    """Describe the difference between the ids of both sides, where it is small."""
    for query, near_query in find_pairs(qrels.queries, retrieved.unknown):
        difference = describe_difference(query, near_query)
        return f"{clip(near_query)} and {clip(query)} differ only in {difference}."
    if not set(retrieved.unknown).isdisjoint(qrels.items):
        return (
            "Are these the same ids? Queries of the run are items of the qrels, as if its two"
            " columns were swapped."
        )
    return "Are these the same ids?"


def _close_up(ranking: Ranking) -> Ranking:
    """Count ranks among the hits alone, as if nothing else had been retrieved."""
    position = np.arange(len(ranking.rank))
    starts = np.ones(len(position), bool)
    starts[1:] = (np.diff(ranking.owner) > 0) | (np.diff(ranking.tied_from) > 0)
    group, ends = np.cumsum(starts) - 1, np.append(np.flatnonzero(starts), len(position))
    base = ranking.offsets[ranking.owner]
    tied_from, tied_to = ends[group] - base + 1, ends[group + 1] - base
    rank = position - base + 1
    if ranking.ties != "ordered":
        rank = GROUP_RANKS[ranking.ties](tied_from, tied_to)
    retrieved = np.diff(ranking.offsets)
    return replace(ranking, rank=rank, retrieved=retrieved, tied_from=tied_from, tied_to=tied_to)


def _drop_copies(ranking: Ranking) -> Ranking:
    """Drop further copies of an item, which only occupy their ranks."""
    judgment = ranking.judgment
    assert judgment is not None
    refuse_tied_copies(ranking.ties, judgment, ranking.tied_from)
    return ranking.select_hits(np.sort(np.unique(judgment, return_index=True)[1]))


def _select_queries(ranking: Ranking, marks: Bools) -> Ranking:
    """Keep some queries of a ranking; hits of the others are already gone."""
    judged = np.diff(ranking.ideal_offsets)
    place = np.append(np.where(marks, np.cumsum(marks) - 1, -1), -1)  # of query -1, too
    cells = ranking.subtopics
    return replace(
        ranking,
        queries=[ranking.queries[q] for q in np.flatnonzero(marks)],
        owner=place[ranking.owner],
        subtopics=cells and replace(cells, owner=place[cells.owner]),
        retrieved=ranking.retrieved[marks],
        ideal_offsets=ragged.make_offsets(judged[marks]),
        ideal=ranking.ideal[np.repeat(marks, judged)],
    )


def _add_unknown(ranking: Ranking, unknown: list[Hashable]) -> Ranking:
    """Add queries that nobody judged to a ranking: they have no relevant items and no hits."""
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

    @property
    def unknown(self) -> list[Hashable]:
        """The run's queries that nobody judged."""
        return self._judged.retrieved.unknown

    @cached_property
    def ranking(self) -> Ranking:
        """All queries, under the policy's order of ties."""
        return self._judged.rank(self._judged.policy.ties)

    @property
    def kinds(self) -> Kinds | None:
        """The special queries of the ranking, if there are any."""
        return self._judged.kinds

    def of(self, query: Hashable) -> JudgedRun:
        """The judged items of one query, before the order of ties is chosen."""
        return self._judged.only(query)

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {query: q for q, query in enumerate(self.ranking.queries)}

    def hits(self, query: Hashable) -> tuple[Hit, ...]:
        """List a query's retrieved judged items by rank; none for a query that was left out."""
        ranking, q = self.ranking, self._position.get(query)
        if q is None or ranking.judgment is None:
            return ()
        part = slice(ranking.offsets[q], ranking.offsets[q + 1])
        items = (self._judged.qrels.items[j] for j in ranking.judgment[part].tolist())
        ranks, grades = ranking.rank[part].tolist(), ranking.relevance[part].tolist()
        return tuple(map(Hit, items, ranks, grades))
