"""The verbs pr_curve and mean_pr_curve."""

from collections.abc import Hashable, Iterable
from typing import Any, Literal, Unpack, get_args

import numpy as np

from germane.core.mean_intervals import check_confidence
from germane.core.policy import Policy, Relevant
from germane.core.progress import Progress, make_progress
from germane.core.ranking import Ranking
from germane.errors import CoverageError, InputError, NotFoundError, check_choice, clip
from germane.evaluation.accepted import Judgments, Run
from germane.evaluation.choices import Choices, OtherChoices
from germane.evaluation.collection import find_needs, retrieve
from germane.evaluation.judging import judge
from germane.evaluation.opening import open_data
from germane.evaluation.result import Result
from germane.evaluation.special_queries import Kinds, settle
from germane.explanation.precision_recall import (
    MeanPRCurve,
    PRCurve,
    Start,
    make_precision_measure,
    make_recall_levels,
)
from germane.explanation.single_query import find_placement, hold_rows, is_list, open_list
from germane.measures.averaging import check_ties
from germane.measures.measure import Measure


def pr_curve(
    qrels: Judgments,
    run: Run | None = None,
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | Relevant | None = None,
    rel: float = 1.0,
    start: Start = "(0,1)",
    progress: Progress | bool | None = None,
    **policy: Unpack[OtherChoices],
) -> PRCurve:
    """Compute the precision–recall curve of one query.

    >>> curve = germane.pr_curve([1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0], relevant=8)
    >>> float(curve.recall[-1])
    0.625

    Call ``pr_curve(qrels, run, query=…)`` with the inputs of ``evaluate``, or ``pr_curve(grades,
    relevant=…)`` with those of ``score``. The grades may be the detections of an object detector,
    hit or not in order of confidence, and ``relevant`` the number of objects.

    ``rel`` is the lowest grade that counts as relevant. ``start`` is the point before rank 1:
    ``(0,1)``, as in scikit-learn, ``(0,0)``, or none; with ``(1/R,P@first)`` the curve starts at
    the first relevant rank. ``ties="grouped"`` makes a group of equal scores one step, as
    scikit-learn does. Raises CoverageError where no item is relevant, since recall is not defined
    then, and the errors of ``evaluate``.
    """
    progress, qrels = make_progress(progress), hold_rows(qrels)
    check_choice("start", start, get_args(Start), InputError)
    rel = _find_level(rel)
    try:
        measures = (make_precision_measure(0.0, rel),)
        listed = open_list(
            qrels, run, query, relevant, rel, measures, {**policy}, ("expected", "middle"), progress
        )
    except NotFoundError as error:
        if query is not None:
            raise
        raise NotFoundError(f"{error} mean_pr_curve averages over all queries.") from None
    ranking = listed.ranking
    subject = "the list" if is_list(qrels, run, policy) else f"query {clip(ranking.queries[0])}"
    if not ranking.total(rel)[0]:
        raise CoverageError(f"{subject} has no relevant item; recall is not defined.")
    if not listed.answered:
        raise CoverageError(f"the run has no results for {subject}.")
    if not ranking.retrieved[0]:
        raise CoverageError(f"nothing was retrieved for {subject}.")
    return PRCurve(ranking, rel, start, listed.policy, listed.counted)


def mean_pr_curve(
    qrels: Judgments,
    run: Run,
    *,
    points: Literal[11, 101] = 11,
    rel: float = 1.0,
    confidence: float = 0.95,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> MeanPRCurve:
    """Average interpolated precision over queries, at 11 or 101 recall levels.

    >>> runs = {"q1": ["a", "b"], "q2": ["x", "c"]}
    >>> germane.mean_pr_curve({"q1": ["a", "b"], "q2": ["c"]}, runs).area(11)
    0.75

    ``qrels``, ``run`` and the conventions are those of ``evaluate``; ``rel`` is the lowest grade
    that counts as relevant. The band is the confidence interval of each level's mean, as of any
    other measure (``MeasureResult.interval``); it is NaN for fewer than five queries.
    """
    progress = make_progress(progress)
    levels = make_recall_levels(points)
    check_confidence(confidence)
    rel = _find_level(rel)
    measure = make_precision_measure(0.0, rel)
    data = open_data(qrels, policy)
    opened, conventions = data.open_run(run)
    check_ties(measure, conventions.ties)
    needs = find_needs((measure,), (conventions,))
    judgments = data.read(needs, [opened], progress)
    judged = judge(judgments, retrieve(judgments, opened, conventions, progress), conventions)
    ranking = judged.rank(conventions.ties)
    return _average(ranking, judged.policy, judged.kinds, levels, rel, confidence)


def average_curve(
    result: Result,
    *,
    rel: float = 1.0,
    confidence: float = 0.95,
    band: Literal["compute", "skip"] = "compute",
) -> MeanPRCurve:
    """Compute the ``mean_pr_curve`` of a result in memory, without reading its run again.

    ``band="skip"`` leaves out the band, which takes most of the time.
    """
    placement, levels = find_placement(result), make_recall_levels(11)
    ranking, kinds = placement.ranking, placement.kinds
    return _average(ranking, result.policy, kinds, levels, rel, confidence, band)


def _average(
    ranking: Ranking,
    conventions: Policy,
    kinds: Kinds | None,
    levels: list[float],
    rel: float,
    confidence: float,
    band: Literal["compute", "skip"] = "compute",
) -> MeanPRCurve:
    measures = [make_precision_measure(level, rel) for level in levels]
    results = [settle(measure, ranking, conventions, kinds) for measure in measures]
    precision = np.array([result.mean for result in results])
    per_query = np.array([result.values for result in results])
    intervals = [
        result.interval(confidence=confidence) if band == "compute" else None for result in results
    ]
    low, high = (
        np.array([getattr(interval, end, np.nan) for interval in intervals])
        for end in ("low", "high")
    )
    return MeanPRCurve(
        ranking, rel, conventions, np.array(levels), precision, per_query,
        len(results[0].per_query), confidence, low, high, kinds,
    )  # fmt: skip


def _find_level(rel: Any) -> float:
    """Read the lowest relevant grade as measures read it."""
    return Measure("AP", (("rel", rel),)).rel or 0.0
