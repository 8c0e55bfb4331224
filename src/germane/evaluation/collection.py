"""Collection: qrels and a run, read once for each policy that reads them differently."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from germane.checks.evaluated import refuse_swapped
from germane.core.calls import Progress
from germane.core.policy import Policy
from germane.core.qrels import Order, Qrels, Retrieved, Sample
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.core.ties import ROW_ORDERS, Ties
from germane.errors import GradeError, PolicyError
from germane.evaluation.judging import JudgedRun, judge
from germane.measures.measure import Measure
from germane.readers import Needs, QrelsInput, RunInput, accept_comments


def _find_complete_reason(chosen: Iterable[Measure], policies: Iterable[Policy]) -> str:
    """Find the measure or option that needs the items judged not relevant; "" where none does."""
    for policy in policies:
        if policy.unjudged == "remove":
            return "unjudged=remove"
        if policy.all_relevant != "answer":
            return f"all_relevant={policy.all_relevant}"
        if policy.grades == "binary":
            return "grades=binary"
    return ", ".join(str(measure) for measure in chosen if measure.nonrelevant)


def find_needs(chosen: Iterable[Measure], policies: Iterable[Policy]) -> Needs:
    """Find what has to be read of the judgments, and the measures that need it."""
    chosen = tuple(chosen)
    subtopics = ", ".join(str(measure) for measure in chosen if measure.row.subtopics)
    weighted = (measure for measure in chosen if measure.arguments.get("weights") == "given")
    return Needs(_find_complete_reason(chosen, policies), subtopics, ", ".join(map(str, weighted)))


def find_all_needs(chosen: Iterable[Measure]) -> Needs:
    """Find what these measures need under every policy, and others of their kinds."""
    subtopics = find_needs(chosen, ()).subtopics
    return Needs(EVERYTHING, subtopics, weights=subtopics)


EVERYTHING = "what is asked for"


def read_graded(
    qrels: QrelsInput, policy: Policy, needs: Needs, progress: Progress | None = None
) -> Qrels:
    """Read judgments, with grades as the policy takes them."""
    return convert_grades(qrels.read(policy.judged_twice, progress, needs), policy)


def convert_grades(judgments: Qrels, policy: Policy) -> Qrels:
    """Convert the grades as the policy says."""
    if policy.grades in _CONVERSIONS:
        change = _CONVERSIONS[policy.grades]
        subtopics = judgments.subtopics and judgments.subtopics.convert(change)
        grades, written = change(judgments.grades), judgments.written or judgments
        return replace(judgments, grades=grades, subtopics=subtopics, written=written)
    if policy.grades == "exact":
        return judgments
    grades = judgments.grades if judgments.subtopics is None else judgments.subtopics.grades
    other_grades = grades[(grades != 0) & (grades != 1)]
    if len(other_grades):
        raise GradeError(
            f"grades=binary takes only 0 and 1; got {other_grades[0]:g}. grades=ones counts every"
            " judged item as 1."
        )
    return judgments


_CONVERSIONS: dict[str, Callable[[Floats], Floats]] = {
    "whole": np.trunc,
    "nonnegative": lambda grades: np.maximum(grades, 0.0),
    "ones": lambda grades: (grades >= 1).astype(float),
}
"""Words of ``grades`` that change grades; none changes which grade is the highest."""


def retrieve(
    judgments: Qrels, run: RunInput, policy: Policy, progress: Progress | None = None
) -> Retrieved:
    """Match a run with the judgments. Raises InputError for swapped dicts."""
    retrieved = run.retrieve(judgments, policy.duplicates, policy.order, progress)
    if run.is_mapping:
        refuse_swapped(judgments, retrieved, policy)
    return retrieved


def refuse_places(run: RunInput, policy: Policy) -> None:
    """Refuse conventions that need ids for a run whose items have none. Raises PolicyError."""
    is_by_id = policy.ties in ROW_ORDERS and policy.order.equal != "given"
    if is_by_id and run.is_array and not run.has_ids:
        raise PolicyError(
            f"ties={policy.ties} orders tied items by their ids, but the columns of an array have"
            " none; give them item_ids=, or choose ties=given (the order of columns), expected,"
            " best or worst."
        )
    if policy.own == "drop" and not run.has_ids:
        raise PolicyError(
            "own=drop leaves out the item with the id of its query, but arrays without item_ids="
            " have no ids. Give the ids, mask the items in the scores, or exclude them:"
            " exclude={query: [item]} (evaluate_embeddings: exclude_self=…)."
        )
    if policy.own == "drop" and not run.has_query_ids:
        raise PolicyError(
            "own=drop leaves out the item with the id of its query, but rows without query_ids="
            " have no ids. Give the ids, or exclude the items: exclude={query: [item]}."
        )


class Collection:
    """Qrels and a run: policies that read them in the same way share one reading.

    Data that were read with duplicates=error have no duplicates, so that one reading serves every
    choice.
    """

    def __init__(
        self,
        qrels: QrelsInput,
        run: RunInput | None,
        needs: Needs,
        progress: Progress | None = None,
    ) -> None:
        self._given, self._run, self._needs, self._progress = qrels, run, needs, progress
        self._qrels: dict[tuple[str, str], Qrels] = {}
        self._retrieved: dict[tuple[str, str, Order], Retrieved] = {}
        self._rankings: dict[tuple[Hashable, ...], dict[Ties, Ranking]] = {}
        self._lists: dict[tuple[Hashable, ...], Any] = {}
        self.sample: Callable[[int], Sample] | None = None  # the run's, once it has been read

    def judge(self, policy: Policy, measures: Iterable[Measure] = ()) -> JudgedRun:
        """Judge the run under a policy, with its whole lists if one of the measures needs these."""
        run = self._run
        assert run is not None
        refuse_places(run, policy)
        judgments, retrieved = self.read_qrels(policy), self._retrieve(run, policy)
        whole_list = None if policy.whole_list is policy else self._retrieve(run, policy.whole_list)
        judged = judge(judgments, retrieved, policy, run.label, whole_list)
        key = (
            id(judgments),
            id(retrieved),
            id(whole_list),
            *judged.ranking_key,
        )  # all three are kept here
        shared = self._rankings.setdefault(key, judged.rankings)
        judged = judged if shared is judged.rankings else replace(judged, rankings=shared)
        if any(measure.row.of_catalogue for measure in measures):
            return replace(judged, lists=self._open_lists(policy))
        return judged

    def _open_lists(self, policy: Policy) -> Callable[[], Any]:
        """Make a function that opens whole lists; policies that rank alike share them."""
        depth = policy.depth

        def open_lists() -> Any:
            from germane.evaluation.whole_lists import ListsOfRun  # few evaluations need them

            assert self._run is not None
            key = policy.duplicates, policy.order, depth, policy.judged_twice
            if key not in self._lists:
                keep = self._needs.complete == EVERYTHING  # many definitions are tried
                self._lists[key] = ListsOfRun(
                    self._run,
                    self._given.catalogue,
                    policy,
                    self.read_qrels(policy),
                    keep,
                    self._progress,
                )
            return self._lists[key]

        return open_lists

    def _retrieve(self, run: RunInput, policy: Policy) -> Retrieved:
        """Find the judged items that the run retrieved."""
        judgments, copies = self.read_qrels(policy), policy.duplicates
        if self._retrieved and any(copies == "error" for _, copies, _ in self._retrieved):
            copies = "error"
        way = self._choose_repeats(policy), copies, policy.order
        retrieved = self._retrieved.get(way)
        if retrieved is None:
            read_as = policy if copies == policy.duplicates else replace(policy, duplicates=copies)
            retrieved = retrieve(judgments, run, read_as, self._progress)
            self.sample = self.sample or retrieved.sample
            retrieved = replace(retrieved, sample=None)  # which holds the run
            alternatives = (
                retrieved for key, retrieved in self._retrieved.items() if key[0] == way[0]
            )
            retrieved = self._retrieved[way] = next(
                filter(retrieved.equals, alternatives), retrieved
            )
        return retrieved

    def is_ordered(self) -> bool | None:
        """Do the run's rows stand in the order of their scores? None if unknown."""
        return None if self._run is None else self._run.descends()

    def read_qrels(self, policy: Policy) -> Qrels:
        """Read the judgments under a policy. Raises InputError."""
        repeats = self._choose_repeats(policy)
        qrels = self._qrels.get((repeats, policy.grades))
        if qrels is None:
            exact = self._qrels.get((repeats, "exact"))
            if exact is None:
                qrels = read_graded(self._given, policy, self._needs, self._progress)
            else:
                qrels = convert_grades(exact, policy)
            if self._run is not None:
                qrels = accept_comments(qrels, self._run)
            self._qrels[repeats, policy.grades] = qrels
        return qrels

    def _choose_repeats(self, policy: Policy) -> str:
        return "error" if ("error", "exact") in self._qrels else policy.judged_twice
