"""Collection: qrels and a run, read once for each policy that reads them differently."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

import numpy as np

from germane.checks.evaluated import refuse_swapped
from germane.core.policy import Policy, Ties
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ranking import Ranking
from germane.core.retrieved import Order, Retrieved, Sample
from germane.errors import GradeError, PolicyError
from germane.evaluation.judging import JudgedRun, judge
from germane.measures.measure import Measure
from germane.readers import QrelsInput, RunInput, accept_comments


def find_complete_reason(chosen: Iterable[Measure], policies: Iterable[Policy]) -> str:
    """Find the measure or option that needs the items judged not relevant; "" where none does."""
    for policy in policies:
        if policy.unjudged == "remove":
            return "unjudged=remove"
        if policy.all_relevant != "answer":
            return f"all_relevant={policy.all_relevant}"
        if policy.grades == "binary":
            return "grades=binary"
    return ", ".join(str(measure) for measure in chosen if measure.nonrelevant)


def read_graded(
    qrels: QrelsInput, policy: Policy, complete: str, progress: Progress | None = None
) -> Qrels:
    """Read judgments, with grades as the policy takes them. ``complete``: see ``find_complete_reason``."""
    return convert_grades(qrels.read(policy.judged_twice, progress, complete), policy)


def convert_grades(judgments: Qrels, policy: Policy) -> Qrels:
    """Convert the grades as the policy says."""
    grades = judgments.grades
    match policy.grades:
        case "exact":
            return judgments
        case "whole":
            return replace(judgments, grades=np.trunc(grades))
        case "nonnegative":
            return replace(judgments, grades=np.maximum(grades, 0.0))
        case "ones":
            return replace(judgments, grades=(grades >= 1).astype(float))
    odd = grades[(grades != 0) & (grades != 1)]
    if len(odd):
        raise GradeError(
            f"grades=binary takes 0 and 1; got {odd[0]:g}. grades=ones counts every judged item as 1."
        )
    return judgments


def retrieve(
    judgments: Qrels, run: RunInput, policy: Policy, progress: Progress | None = None
) -> Retrieved:
    """Match a run with the judgments. Raises InputError for swapped dicts."""
    got = run.retrieve(judgments, policy.duplicates, policy.order, progress)
    if run.is_mapping:
        refuse_swapped(judgments, got, policy)
    return got


def refuse_places(run: RunInput, policy: Policy) -> None:
    """Refuse conventions that need ids for a run whose items have none. Raises PolicyError."""
    if run.is_array and policy.ties in ("trec", "ascending"):
        raise PolicyError(
            f"ties={policy.ties} orders tied items by their ids, and the columns of an array have none; "
            "choose ties=given, which is the order of columns, expected, best or worst."
        )
    if policy.own == "drop" and not run.has_ids:
        raise PolicyError(
            "own=drop compares the ids of items and queries, and items without ids are numbered by "
            "their places; mask them in the scores (evaluate_embeddings: exclude_self=…)."
        )


class Collection:
    """Qrels and a run: policies that read them in the same way share one reading.

    Data that were read with duplicates=error have no duplicates, so that one reading serves every choice.
    """

    def __init__(
        self,
        qrels: QrelsInput,
        run: RunInput | None,
        complete: str,
        progress: Progress | None = None,
    ) -> None:
        self._given, self._run, self._complete, self._progress = qrels, run, complete, progress
        self._qrels: dict[tuple[str, str], Qrels] = {}
        self._retrieved: dict[tuple[str, str, Order], Retrieved] = {}
        self._rankings: dict[tuple[Hashable, ...], dict[Ties, Ranking]] = {}
        self.sample: Callable[[int], Sample] | None = None  # the run's, once it has been read

    def judge(self, policy: Policy) -> JudgedRun:
        """Judge the run under a policy. Raises InputError, PolicyError and CoverageError."""
        run = self._run
        assert run is not None
        refuse_places(run, policy)
        judgments, got = self.read_qrels(policy), self._retrieve(run, policy)
        whole = None if policy.whole_list == policy else self._retrieve(run, policy.whole_list)
        judged = judge(judgments, got, policy, run.label, whole)
        key = id(judgments), id(got), id(whole), *judged.ranked_by  # all three are kept here
        shared = self._rankings.setdefault(key, judged.rankings)
        return judged if shared is judged.rankings else replace(judged, rankings=shared)

    def _retrieve(self, run: RunInput, policy: Policy) -> Retrieved:
        """Find the judged items that the run retrieved."""
        judgments, copies = self.read_qrels(policy), policy.duplicates
        if self._retrieved and any(copies == "error" for _, copies, _ in self._retrieved):
            copies = "error"
        way = self._choose_repeats(policy), copies, policy.order
        got = self._retrieved.get(way)
        if got is None:
            read_as = policy if copies == policy.duplicates else replace(policy, duplicates=copies)
            got = retrieve(judgments, run, read_as, self._progress)
            self.sample = self.sample or got.sample
            got = replace(got, sample=None)  # which holds the run
            others = (one for key, one in self._retrieved.items() if key[0] == way[0])
            got = self._retrieved[way] = next(filter(got.equals, others), got)
        return got

    def is_ordered(self) -> bool | None:
        """Do the run's rows stand in the order of their scores? None where only reading them tells."""
        return None if self._run is None else self._run.descends()

    def read_qrels(self, policy: Policy) -> Qrels:
        """Read the judgments under a policy. Raises InputError."""
        repeats = self._choose_repeats(policy)
        read = self._qrels.get((repeats, policy.grades))
        if read is None:
            exact = self._qrels.get((repeats, "exact"))
            if exact is None:
                read = read_graded(self._given, policy, self._complete, self._progress)
            else:
                read = convert_grades(exact, policy)
            if self._run is not None:
                read = accept_comments(read, self._run)
            self._qrels[repeats, policy.grades] = read
        return read

    def _choose_repeats(self, policy: Policy) -> str:
        return "error" if ("error", "exact") in self._qrels else policy.judged_twice
