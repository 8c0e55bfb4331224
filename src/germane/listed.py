"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from germane import sources
from germane.errors import AbsentError, CoverageError, InputError, PolicyError, choices, clip
from germane.evaluate import OtherOrders, complete_for, opened, retrieve
from germane.judging import WORDS, Policy, judge
from germane.measure import Measure
from germane.ranking import Ranking
from germane.retrieval import Qrels
from germane.sources import Progress
from germane.sources.ids import by_bytes, to_bytes
from germane.sources.sequences import ranking_of


class Place(NamedTuple):
    """An item at a rank, and the first and last rank of its group of equal scores."""

    item: Hashable
    tied_from: int
    tied_to: int


@dataclass(frozen=True, eq=False, repr=False)
class Listed:
    """One list: its ranking, and the judgments that name its items where these are known."""

    ranking: Ranking  # of one query
    qrels: Qrels | None
    ordered: Callable[[str], Ranking | None]  # the ranking under other orders of ties, if any
    policy: Policy | None  # the conventions of a query; bare grades have none
    places: Mapping[int, Place]  # what is known of the ranks that hold no judged item


def is_list(given: Any, run: Any, choices: Mapping[str, Any]) -> bool:
    """Are these the grades of one list? Not where they have columns or groups, or rows as a run has."""
    if hasattr(given, "columns") or hasattr(given, "schema") or "group" in choices:
        return False
    if run is not None and (sources.is_rows(given) or getattr(given, "ndim", 1) > 1):
        return False
    listed = isinstance(given, (Sequence, Iterator)) and not isinstance(given, (str, bytes))
    return listed or hasattr(given, "ndim")


def one_list(
    qrels: Any,
    run: Any,
    query: Hashable | None,
    relevant: int | Iterable[float] | None,
    rel: float,
    measures: tuple[Measure, ...],
    policy: dict[str, Any],
    refused: Collection[str],
    progress: Progress | None,
) -> Listed:
    """The grades of one list, or one query of a run: what fits the other is refused.

    Raises AbsentError for a query that is not judged, CoverageError for one that the run lacks, and
    PolicyError for the orders of ties that are ``refused``, which are no orders of single items.
    """
    if is_list(qrels, run, policy):
        if run is not None:
            raise InputError(
                "the grades of one list come without a run; relevant= is their number."
            )
        if asked := [*(["query"] if query is not None else []), *policy]:
            raise InputError(
                f"{asked[0]}=… is for qrels and a run; the grades of one list stand in their order."
            )
        return Listed(ranking_of(qrels, relevant, rel), None, lambda ties: None, None, {})
    if relevant is not None:
        raise InputError("relevant=… is for the grades of one list; qrels say what is relevant.")
    return _of_query(qrels, run, query, measures, policy, refused, progress)


def _of_query(
    qrels: Any,
    run: Any,
    query: Hashable | None,
    measures: tuple[Measure, ...],
    policy: dict[str, Any],
    refused: Collection[str],
    progress: Progress | None,
) -> Listed:
    if run is None:
        raise InputError("the run is missing: give qrels and a run, or the grades of one list.")
    qrels, run, conventions = opened(qrels, run, policy)
    if conventions.ties in refused:
        raise PolicyError(
            f"ties={conventions.ties} puts equal scores in no order, and ranks need one; choose "
            f"ties={choices(word for word in WORDS['ties'] if word not in refused)}."
        )
    complete = complete_for(measures, conventions)
    judgments = sources.read_qrels(qrels, conventions.duplicates, None, complete)
    if query is None and len(judgments) > 1:
        raise AbsentError(
            f"{len(judgments)} queries are judged; query=… (--query) says which one is meant."
        )
    if query is not None:
        judgments = judgments.only(query)
    run, items, item_scores = sources.only(
        run, judgments.queries[0], conventions.duplicates, progress
    )
    retrieved = None if run is None else retrieve(judgments, run, conventions)
    if retrieved is None or not retrieved.answered.any():
        raise CoverageError(f"the run has no results for query {clip(judgments.queries[0])}.")
    judged = judge(judgments, retrieved, conventions)
    ranking = judged.ranking(conventions.ties)
    places = _places(ranking, judgments, items, item_scores, conventions)
    return Listed(ranking, judgments, OtherOrders(judged), conventions, places)


def _places(
    ranking: Ranking, qrels: Qrels, items: list[Hashable], item_scores: list[Any], policy: Policy
) -> dict[int, Place]:
    """Rank → the unjudged item there: in the order of the list, they fill the ranks left free."""
    if policy.unjudged == "remove" or len(set(items)) < len(items):
        return {}
    order, score = np.arange(len(items)), np.zeros(len(items))
    first, last = order + 1, order + 1
    if item_scores:
        score = -np.array(item_scores, float)
        last_id_first = by_bytes(items)[::-1]
        start = order if policy.ties == "given" else last_id_first
        order = start[np.argsort(score[start], kind="stable")]
        score = score[order]
        first = np.searchsorted(score, score, "left") + 1
        last = np.searchsorted(score, score, "right")
    known = {to_bytes(item) for item in qrels.items}
    unjudged = [items[i] for i in order.tolist() if to_bytes(items[i]) not in known]
    taken = set(ranking.rank.tolist())
    free = (rank for rank in range(1, int(ranking.retrieved[0]) + 1) if rank not in taken)
    return {
        rank: Place(item, int(first[rank - 1]), int(last[rank - 1]))
        for rank, item in zip(free, unjudged, strict=False)
    }
