"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from germane import sources
from germane.errors import AbsentError, CoverageError, InputError, PolicyError, choices, clip
from germane.evaluate import OtherOrders, opened, retrieve
from germane.judging import WORDS, Policy, judge
from germane.ranking import Ranking
from germane.retrieval import Qrels
from germane.sources import Progress
from germane.sources.sequences import ranking_of


@dataclass(frozen=True, eq=False, repr=False)
class Listed:
    """One list: its ranking, and the judgments that name its items where these are known."""

    ranking: Ranking  # of one query
    qrels: Qrels | None
    ordered: Callable[[str], Ranking | None]  # the ranking under other orders of ties, if any
    policy: Policy | None  # the conventions of a query; bare grades have none


def is_list(given: Any) -> bool:
    """Are these the grades of one list? Frames, which also have dimensions, have columns."""
    if hasattr(given, "columns") or hasattr(given, "schema"):
        return False
    listed = isinstance(given, (Sequence, Iterator)) and not isinstance(given, (str, bytes))
    return listed or hasattr(given, "ndim")


def one_list(
    qrels: Any,
    run: Any,
    query: Hashable | None,
    relevant: int | Iterable[float] | None,
    rel: float,
    policy: dict[str, Any],
    refused: Collection[str],
    progress: Progress | None,
) -> Listed:
    """The grades of one list, or one query of a run: what fits the other is refused.

    Raises AbsentError for a query that is not judged, CoverageError for one that the run lacks, and
    PolicyError for the orders of ties that are ``refused``, which are no orders of single items.
    """
    if is_list(qrels):
        if run is not None:
            raise InputError(
                "the grades of one list come without a run; relevant= is their number."
            )
        if asked := [*(["query"] if query is not None else []), *policy]:
            raise InputError(
                f"{asked[0]}=… is for qrels and a run; the grades of one list stand in their order."
            )
        return Listed(ranking_of(qrels, relevant, rel), None, lambda ties: None, None)
    if relevant is not None:
        raise InputError("relevant=… is for the grades of one list; qrels say what is relevant.")
    return _of_query(qrels, run, query, policy, refused, progress)


def _of_query(
    qrels: Any,
    run: Any,
    query: Hashable | None,
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
    judgments = sources.read_qrels(qrels, conventions.duplicates)
    if query is None and len(judgments) > 1:
        raise AbsentError(
            f"{len(judgments)} queries are judged; query=… (--query) says which one is meant."
        )
    if query is not None:
        judgments = judgments.only(query)
    retrieved = retrieve(judgments, run, conventions, progress)
    if not retrieved.answered.any():
        raise CoverageError(f"the run has no results for query {clip(judgments.queries[0])}.")
    judged = judge(judgments, retrieved, conventions)
    ranking = judged.ranking(conventions.ties)
    return Listed(ranking, judgments, OtherOrders(judged), conventions)
