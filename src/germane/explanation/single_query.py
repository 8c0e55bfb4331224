"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.core.policy import WORDS, Policy, Relevant
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.ranking import Ranking
from germane.core.subtopics import number_all
from germane.errors import (
    CoverageError,
    InputError,
    MeasureError,
    NotFoundError,
    PolicyError,
    clip,
    list_choices,
)
from germane.evaluation.choices import open_all
from germane.evaluation.collection import find_needs, read_graded, retrieve
from germane.evaluation.judging import JudgedRun, Placement, judge, state_duplicates
from germane.evaluation.result import Result
from germane.kernel.ids import sort_by_bytes, to_bytes
from germane.measures.measure import Measure, parse_all
from germane.readers import RunInput
from germane.readers.candidates import Filter
from germane.readers.mappings import is_rows
from germane.readers.relevance import make_ranking


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedItems:
    """The items that nobody judged, as far as they are known, in the order of their ranks."""

    items: list[Hashable]
    rank: Ints
    tied_from: Ints  # the first and last rank of the item's group of equal scores
    tied_to: Ints

    def find(self, ranks: Ints) -> Ints:
        """Find the item at each rank; -1 where there is none."""
        place = np.searchsorted(self.rank, ranks)
        return np.where(np.append(self.rank, -1)[place] == ranks, place, -1)


_NO_RANKS = np.zeros(0, np.int64)
NONE = UnjudgedItems([], _NO_RANKS, _NO_RANKS, _NO_RANKS)


@dataclass(frozen=True, eq=False, repr=False)
class SingleQuery:
    """One list: its ranking, and the judgments that name its items where these are known."""

    ranking: Ranking  # of one query
    qrels: Qrels | None
    ordered: Callable[[str], Ranking | None]  # the ranking under other orders of ties, if any
    policy: Policy | None  # the conventions of a query; bare grades have none
    unjudged: UnjudgedItems
    answered: bool = True  # False: the run does not have the query


def is_list(given: Any, run: Any, choices: Mapping[str, Any]) -> bool:
    """Are these the grades of one list? Not if they have columns or groups, or rows as a run has."""
    if hasattr(given, "columns") or hasattr(given, "schema") or "group" in choices:
        return False
    if run is not None and (is_rows(given) or getattr(given, "ndim", 1) > 1):
        return isinstance(run, (str, Measure)) and _is_measures(run)  # of a list of subtopics
    listed = isinstance(given, (Sequence, Iterator)) and not isinstance(given, (str, bytes))
    return listed or hasattr(given, "ndim")


def _is_measures(given: str | Measure) -> bool:
    """Are these measures, and not the path of a file?"""
    try:
        parse_all(given)
    except MeasureError:
        return False
    return isinstance(given, Measure) or not os.path.exists(given)


def open_list(
    qrels: Any,
    run: Any,
    query: Hashable | None,
    relevant: int | Iterable[float] | Relevant | None,
    rel: float,
    measures: tuple[Measure, ...],
    policy: dict[str, Any],
    refused: Collection[str],
    progress: Progress | None,
) -> SingleQuery:
    """Open the grades of one list, or one query of a run; arguments of the other are refused.

    Raises NotFoundError for a query that is not judged, CoverageError for one that the run lacks where
    it does not count as 0, and PolicyError for the orders of ties that are ``refused``.
    """
    if is_list(qrels, run, policy):
        check_list(run, [*(["query"] if query is not None else []), *policy])
        covers = any(measure.row.subtopics for measure in measures)
        ranking = make_ranking(qrels, relevant, rel, covers=covers)
        return SingleQuery(ranking, None, lambda ties: None, None, NONE)
    if isinstance(relevant, str):  # with qrels, the argument is a convention
        policy, relevant = {**policy, "relevant": relevant}, None
    check_run(run, relevant)
    judged_input, found, conventions = open_all(qrels, run, policy)
    check_ordered(conventions, refused)
    judgments = read_graded(judged_input, conventions, find_needs(measures, (conventions,)))
    others = len(judgments) > 1
    if query is None and others:
        raise NotFoundError(
            f"{len(judgments)} queries are judged; choose one with query=… (--query)."
        )
    if query is not None:
        judgments = judgments.only(query)
    selected, items, item_scores = found.select(judgments, conventions.duplicates, progress)
    retrieved = None if selected is None else retrieve(judgments, selected, conventions)
    if retrieved is None or not retrieved.answered.any():
        return _open_unanswered(judgments, conventions, others)
    if found.is_collapsed:
        items, item_scores = _keep_best(items, item_scores, conventions)
    judged = judge(judgments, retrieved, conventions)
    ranking = judged.rank(conventions.ties)
    unjudged = _list_unjudged(ranking, judgments, items, item_scores, conventions)
    return SingleQuery(ranking, judgments, judged.reorder, judged.policy, unjudged)


def check_list(run: Any, given: Collection[str]) -> None:
    """Refuse a run, and the arguments that are ``given``, beside the grades of one list."""
    if run is not None:
        raise InputError(
            "one list of grades needs no run; give relevant=… for the number of relevant items."
        )
    for name in given:
        raise InputError(
            f"{name}=… is for qrels and a run; the grades of one list are one query, in rank order already."
        )


def check_run(run: Any, relevant: object) -> None:
    """Refuse ``relevant`` beside qrels, and a missing run."""
    if relevant is not None:
        raise InputError("relevant=… is for the grades of one list; qrels say what is relevant.")
    if run is None:
        raise InputError("the run is missing: give qrels and a run, or the grades of one list.")


def find_placement(result: Result) -> Placement:
    """Find where the judged items of a result stand. Raises InputError for one that was read from a file."""
    if result.placement is None:
        raise InputError(f"{clip(result.name)} was read from a file, which holds no ranks.")
    return result.placement


def check_ordered(policy: Policy, refused: Collection[str]) -> None:
    """Refuse the orders of ties in which single items have no rank."""
    if policy.ties in refused:
        raise PolicyError(
            f"ties={policy.ties} does not order equal scores, and ranks need an order; choose "
            f"ties={list_choices(word for word in WORDS['ties'] if word not in refused)}."
        )


def _open_unanswered(judgments: Qrels, conventions: Policy, others: bool) -> SingleQuery:
    """Open a query that the run lacks as an empty list, where the conventions count it.

    Where no other query is judged, the run answers none of the qrels, and nothing is counted.
    """
    lacks = f"the run has no results for query {clip(judgments.queries[0])}"
    if conventions.missing == "skip":
        raise CoverageError(
            f"{lacks}, and missing=skip leaves it out; missing=zero counts it as 0."
        )
    if conventions.missing == "error" or not others:
        raise CoverageError(f"{lacks}.")
    ranking = Ranking(
        queries=judgments.queries,
        owner=_NO_RANKS,
        rank=_NO_RANKS,
        relevance=np.zeros(0),
        retrieved=np.zeros(1, np.int64),
        ideal_offsets=judgments.offsets,
        ideal=judgments.ideal,
        tied_from=_NO_RANKS,
        tied_to=_NO_RANKS,
        judgment=_NO_RANKS,
        subtopics=number_all(judgments.subtopics),
    )
    policy = state_duplicates(conventions, judgments)
    return SingleQuery(ranking, judgments, lambda ties: None, policy, NONE, answered=False)


def find_unjudged(judged: JudgedRun, run: RunInput) -> UnjudgedItems:
    """Find the unjudged items of a judged query, where the run finds items by query."""
    _, items, item_scores = run.select(judged.qrels, judged.policy.duplicates)
    if run.is_collapsed:
        items, item_scores = _keep_best(items, item_scores, judged.policy)
    ranking = judged.rank(judged.policy.ties)
    return _list_unjudged(ranking, judged.qrels, items, item_scores, judged.policy)


def _keep_best(
    items: list[Hashable], item_scores: list[Any], policy: Policy
) -> tuple[list[Hashable], list[Any]]:
    """Keep the best score of each group, or its first place where there are no scores."""
    if not item_scores:
        return list(dict.fromkeys(items)), []
    scores = dict(zip(items, item_scores, strict=True))
    if len(scores) == len(items):
        return items, item_scores
    scores, choose = {}, min if policy.scores == "distances" else max
    for item, score in zip(items, item_scores, strict=True):
        scores[item] = choose(scores.get(item, score), score)
    return list(scores), list(scores.values())


def _list_unjudged(
    ranking: Ranking, qrels: Qrels, items: list[Hashable], item_scores: list[Any], policy: Policy
) -> UnjudgedItems:
    """List the unjudged items: in the order of the list, they fill the ranks without a judged item."""
    distances = policy.scores == "distances"
    order_asked = replace(policy.order, scores="double") if distances else policy.order
    if policy.unjudged == "remove" or not order_asked.plain or len(set(items)) < len(items):
        return NONE
    if qrels.candidates is not None:
        kept = np.flatnonzero(Filter(qrels, "text").admit(0, items)).tolist()
        items, item_scores = [items[i] for i in kept], [item_scores[i] for i in kept if item_scores]
    order = np.arange(len(items))
    first, last = order + 1, order + 1
    if item_scores:
        score = np.array(item_scores, float) * (1 if distances else -1)
        start = order if policy.ties == "given" else sort_by_bytes(items)[::-1]
        order = start[np.argsort(score[start], kind="stable")]
        starts = np.append(True, np.diff(score[order]) > 0)
        ends = np.append(np.flatnonzero(starts)[1:], len(items))
        group = starts.cumsum() - 1
        first, last = np.flatnonzero(starts)[group] + 1, ends[group]
    is_free = np.ones(int(ranking.retrieved[0]) + 1, bool)
    is_free[ranking.rank] = False
    free = np.flatnonzero(is_free)[1:]
    keys, known = _make_comparable(items, qrels.items)
    judged = set(known)
    unjudged = [items[i] for i in order.tolist() if keys[i] not in judged]
    rank = free[: len(unjudged)]  # a depth leaves fewer ranks than items
    return UnjudgedItems(unjudged, rank, first[rank - 1], last[rank - 1])


def _make_comparable(*lists: Sequence[Hashable]) -> Iterator[Sequence[Hashable]]:
    """Make ids comparable as sources compare them: equal text is an equal id, whatever its type."""
    text = all(set(map(type, items)) <= {str} for items in lists)
    return (items if text else list(map(to_bytes, items)) for items in lists)
