"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.calls import Progress
from germane.core.policy import Policy, Relevant
from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Ints
from germane.core.ranking import Ranking
from germane.dialects.names import parse_all
from germane.errors import (
    CoverageError,
    InputError,
    MeasureError,
    NotFoundError,
    PolicyError,
    clip,
    list_choices,
    write_option,
)
from germane.evaluation.collection import find_needs, retrieve
from germane.evaluation.judging import JudgedRun, Placement, judge, judge_empty
from germane.evaluation.opening import open_data
from germane.evaluation.result import Result
from germane.evaluation.special_queries import Kinds
from germane.kernel.ids import to_bytes
from germane.measures.measure import Measure
from germane.readers import RunInput
from germane.readers.objects.mappings import is_rows
from germane.readers.objects.relevance import make_ranking
from germane.readers.recognition import is_frame, is_records


@dataclass(frozen=True)
class Counted:
    """The number of relevant items, where it was counted in the list."""

    relevant: int
    argument: str = "relevant="

    def __str__(self) -> str:
        return (
            f"R = {self.relevant}, counted in the list; {self.argument} gives the number in the"
            " collection"
        )


# --- One ranked list with its judgments: a query of a run, or grades typed at a prompt ------------


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
    counted: Counted | None = None  # of grades alone
    kinds: Kinds | None = None  # if the query is a special one


def hold_rows(raw: Any) -> Any:
    """Read an iterator, which tells grades from namedtuples; anything else stays as it is."""
    return list(raw) if isinstance(raw, Iterator) and not is_frame(raw) else raw


def is_list(raw: Any, run: Any, choices: Mapping[str, Any]) -> bool:
    """Are these the grades of one list, without columns, groups or a run's rows?"""
    if hasattr(raw, "columns") or hasattr(raw, "schema") or "group" in choices:
        return False
    if is_records(raw):
        return False
    if run is not None and (is_rows(raw) or getattr(raw, "ndim", 1) > 1):
        return isinstance(run, (str, Measure)) and _is_measures(run)  # of a list of subtopics
    listed = isinstance(raw, Sequence) and not isinstance(raw, (str, bytes))
    return listed or hasattr(raw, "ndim")


def _is_measures(raw: str | Measure) -> bool:
    """Are these measures, and not the path of a file?"""
    try:
        parse_all(raw)
    except MeasureError:
        return False
    return isinstance(raw, Measure) or not os.path.exists(raw)


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

    Raises NotFoundError for a query that is not judged, CoverageError for one that the run lacks
    where it does not count, and PolicyError for the orders of ties that are ``refused``.
    """
    if is_list(qrels, run, policy):
        check_list(run, [*(["query"] if query is not None else []), *policy])
        covers = any(measure.row.subtopics for measure in measures)
        ranking = make_ranking(qrels, relevant, rel, covers=covers)
        is_stated = relevant is not None or covers
        counted = None if is_stated else Counted(int(ranking.total(rel)[0]))
        return SingleQuery(ranking, None, lambda ties: None, None, NONE, counted=counted)
    if isinstance(relevant, str):  # with qrels, the argument is a convention
        policy, relevant = {**policy, "relevant": relevant}, None
    check_run(run, relevant)
    data = open_data(qrels, policy)
    opened, conventions = data.open_run(run)
    check_ordered(conventions, refused)
    judgments = data.read(find_needs(measures, (conventions,)), [opened])
    has_others = len(judgments) > 1
    if query is None and has_others:
        raise NotFoundError(
            f"{len(judgments)} queries are judged; choose one with query=… (--query)."
        )
    if query is not None:
        judgments = judgments.only(query)
    selected = opened.select(judgments, conventions.duplicates, progress)
    retrieved = None if selected is None else retrieve(judgments, selected, conventions)
    if retrieved is None or not _is_answered(retrieved, conventions):
        return _open_unanswered(judgments, conventions, has_others)
    judged = judge(judgments, retrieved, conventions)
    unjudged = NONE if selected is None else find_unjudged(judged, selected)
    ranking = judged.rank(conventions.ties)
    return SingleQuery(
        ranking, judgments, judged.reorder, judged.policy, unjudged, kinds=judged.kinds
    )


def check_list(run: Any, raw: Collection[str]) -> None:
    """Refuse a run, and the arguments that are ``given``, beside the grades of one list."""
    if run is not None:
        raise InputError(
            f"one list of grades needs no run; give {write_option('relevant', '…')} for the"
            " number of relevant items."
        )
    for name in raw:
        raise InputError(
            f"{name}=… is for qrels and a run; the grades of one list are one query, in rank order"
            " already."
        )


def check_run(run: Any, relevant: object) -> None:
    """Refuse ``relevant`` beside qrels, and a missing run."""
    if relevant is not None:
        raise InputError(
            f"{write_option('relevant', '…')} is for the grades of one list; qrels say what is"
            " relevant."
        )
    if run is None:
        raise InputError("the run is missing: give qrels and a run, or the grades of one list.")


def find_placement(result: Result) -> Placement:
    """Find where the judged items stand. Raises InputError for a result read from a file."""
    if result.placement is None:
        raise InputError(f"{clip(result.name)} was read from a file, which holds no ranks.")
    return result.placement


def check_ordered(policy: Policy, refused: Collection[str]) -> None:
    """Refuse the orders of ties in which single items have no rank."""
    if policy.ties in refused:
        raise PolicyError(
            f"ties={policy.ties} does not order equal scores, and ranks need an order; choose "
            f"ties={list_choices(word for word in Policy.WORDS['ties'] if word not in refused)}."
        )


def _is_answered(retrieved: Retrieved, conventions: Policy) -> bool:
    """Does the run answer the query, which an empty list does not if it counts as missing?"""
    lists = retrieved.retrieved if conventions.empty == "missing" else retrieved.answered
    return bool(lists.any())


def _open_unanswered(judgments: Qrels, conventions: Policy, has_others: bool) -> SingleQuery:
    """Open a query that the run lacks as an empty list, where the conventions count it.

    Where no other query is judged, the run answers none of the qrels, and nothing is counted.
    """
    lacks = f"the run has no results for query {clip(judgments.queries[0])}"
    if conventions.missing == "skip":
        raise CoverageError(
            f"{lacks}, and {write_option('missing', 'skip')} leaves it out;"
            f" {write_option('missing', 'zero')} counts it as empty."
        )
    if conventions.missing == "error" or not has_others:
        raise CoverageError(f"{lacks}.")
    ranking, policy, kinds = judge_empty(judgments, conventions)
    return SingleQuery(ranking, judgments, lambda ties: None, policy, NONE, False, kinds=kinds)


def find_unjudged(judged: JudgedRun, run: RunInput) -> UnjudgedItems:
    """Find a judged query's other items, which fill the ranks without a judged item in order.

    There are none where copies or misses take ranks, too.
    """
    from germane.readers.rows import rank_parts  # typed lists do not need it

    qrels, policy = judged.qrels, judged.policy
    parts = [rows for rows in run.read_rows(qrels) if len(rows.items)]
    if not parts or policy.unjudged == "remove" or policy.nonpositive == "miss":
        return NONE
    ids = "text" if run.is_text or qrels.ids == "text" else "typed"
    ranked = rank_parts(parts, run, policy, qrels.candidates, ids)
    items, ranking = ranked.items, judged.rank(policy.ties)
    if len(set(items)) < len(items):
        return NONE
    keys, judged_ids = _make_comparable(items, qrels.items)
    judged_keys = set(judged_ids)
    places = [place for place, key in enumerate(keys) if key not in judged_keys]
    unjudged = [items[place] for place in places]
    if policy.ranks == "places":  # between which there are others that are not known
        rank = ranked.tied_from[places]
        return UnjudgedItems(unjudged, rank, rank, rank)
    is_free = np.ones(int(ranking.retrieved[0]) + 1, bool)
    is_free[ranking.rank] = False
    rank = np.flatnonzero(is_free)[1:]
    return UnjudgedItems(unjudged, rank, ranked.tied_from[rank - 1], ranked.tied_to[rank - 1])


def _make_comparable(*lists: Sequence[Hashable]) -> Iterator[Sequence[Hashable]]:
    """Make ids comparable as sources compare them: equal text is an equal id, whatever its type."""
    text = all(set(map(type, items)) <= {str} for items in lists)
    return (items if text else list(map(to_bytes, items)) for items in lists)
