"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from germane import sources
from germane.errors import AbsentError, CoverageError, InputError, PolicyError, clip
from germane.evaluate import OtherOrders, opened, retrieve
from germane.judging import judge
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
    no_relevant: str  # what a list without relevant items counts as


def is_list(given: Any) -> bool:
    """Are these the grades of one list?"""
    sequence = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    return sequence or (hasattr(given, "ndim") and not hasattr(given, "columns"))


def of_grades(grades: Any, relevant: int | Iterable[float] | None, rel: float) -> Listed:
    """A list given as the grades of its items in rank order."""
    return Listed(ranking_of(grades, relevant, rel), None, lambda ties: None, "zero")


def of_query(
    qrels: Any,
    run: Any,
    query: Hashable | None,
    choices: dict[str, Any],
    refused: Iterable[str],
    progress: Progress | None = None,
) -> Listed:
    """One query of a run. ``query`` may be None where only one is judged.

    Raises AbsentError for a query that is not judged, CoverageError for one that the run lacks, and
    PolicyError for the orders of ties that are ``refused``, which are no orders of single items.
    """
    if run is None:
        raise InputError("the run is missing: give qrels and a run, or the grades of one list.")
    qrels, run, conventions = opened(qrels, run, choices)
    if conventions.ties in refused:
        raise PolicyError(
            f"one list has one order of ties, and ties={conventions.ties} is none; "
            "choose ties=trec, given, best or worst."
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
    return Listed(ranking, judgments, OtherOrders(judged), conventions.no_relevant)
