"""Collection: qrels and a run, read once for each way of reading them."""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace

import numpy as np

from germane.checks.evaluated import refuse_swapped
from germane.core.policy import Policy, Ties
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.core.retrieved import Order, Retrieved, Sample
from germane.errors import GradeError, PolicyError
from germane.evaluation.judging import JudgedRun, judge
from germane.measures.measure import Measure
from germane.readers import QrelsInput, RunInput, accept_comments


def find_complete_reason(chosen: Iterable[Measure], policies: Iterable[Policy]) -> str:
    """The measure or option that looks at items judged not relevant, or ""."""
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
    """The judgments, their grades as the policy takes them. ``complete``: see ``complete_for``."""
    judgments = qrels.read(policy.judged_twice, progress, complete)
    return take_grades(judgments, policy)


def take_grades(judgments: Qrels, policy: Policy) -> Qrels:
    """Take the grades as the policy says."""
    if policy.grades == "exact":
        return judgments
    return replace(judgments, grades=_convert_grades(judgments.grades, policy.grades))


def _convert_grades(grades: Floats, taken: str) -> Floats:
    match taken:
        case "whole":
            return np.trunc(grades)
        case "nonnegative":
            return np.maximum(grades, 0.0)
        case "ones":
            return (grades >= 1).astype(float)
    odd = grades[(grades != 0) & (grades != 1)]
    if len(odd):
        raise GradeError(f"grades=binary takes 0 and 1; got {odd[0]:g}. grades=ones makes it so.")
    return grades


def retrieve(
    judgments: Qrels, run: RunInput, policy: Policy, progress: Progress | None = None
) -> Retrieved:
    """Match a run with the judgments. Raises InputError for swapped dicts."""
    got = run.retrieve(judgments, policy.duplicates, policy.order, progress)
    if run.is_mapping:
        refuse_swapped(judgments, got, policy)
    return got


def refuse_places(run: RunInput, policy: Policy) -> None:
    """Refuse conventions that look at ids where a run has places. Raises PolicyError."""
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
    """Qrels and a run: policies that read them alike share what is read.

    Data read with duplicates refused has none, so that every other choice would read the same.
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
        self.sample: Callable[[int], Sample] | None = None  # of the run, once it has been read

    def judged(self, policy: Policy) -> JudgedRun:
        """The run's judged items under a policy. Raises InputError, PolicyError and CoverageError."""
        run = self._run
        assert run is not None
        refuse_places(run, policy)
        judgments, got = self.qrels(policy), self._read(run, policy)
        whole = None if policy.whole_list == policy else self._read(run, policy.whole_list)
        judged = judge(judgments, got, policy, run.label, whole)
        key = id(judgments), id(got), id(whole), *judged.ranked_by  # all three are kept here
        return replace(judged, rankings=self._rankings.setdefault(key, judged.rankings))

    def _read(self, run: RunInput, policy: Policy) -> Retrieved:
        """The judged items that the run retrieved."""
        judgments, copies = self.qrels(policy), policy.duplicates
        if self._retrieved and any(copies == "error" for _, copies, _ in self._retrieved):
            copies = "error"
        way = self._twice(policy), copies, policy.order
        got = self._retrieved.get(way)
        if got is None:
            read_as = policy if copies == policy.duplicates else replace(policy, duplicates=copies)
            got = retrieve(judgments, run, read_as, self._progress)
            self.sample = self.sample or got.sample
            got = replace(got, sample=None)  # which holds the run
            others = (one for key, one in self._retrieved.items() if key[0] == way[0])
            got = self._retrieved[way] = next(filter(got.equals, others), got)
        return got

    def ordered(self) -> bool | None:
        """Do the run's rows stand in the order of their scores? None where only reading them tells."""
        return None if self._run is None else self._run.descends()

    def qrels(self, policy: Policy) -> Qrels:
        """The judgments as a policy reads them. Raises InputError."""
        twice = self._twice(policy)
        read = self._qrels.get((twice, policy.grades))
        if read is None:
            exact = self._qrels.get((twice, "exact"))
            if exact is None:
                read = read_graded(self._given, policy, self._complete, self._progress)
            else:
                read = take_grades(exact, policy)
            if self._run is not None:
                read = accept_comments(read, self._run)
            self._qrels[twice, policy.grades] = read
        return read

    def _twice(self, policy: Policy) -> str:
        return "error" if ("error", "exact") in self._qrels else policy.judged_twice
