"""One ranked list with its judgments: a query of a run, or grades typed at a prompt."""

import os
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.calls import Progress
from germane.core.policy import Policy, Relevant
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.ranking import Ranking
from germane.dialects.names import parse_all
from germane.errors import (
    InputError,
    MeasureError,
    PolicyError,
    clip,
    list_choices,
    write_option,
)
from germane.evaluation.judging import JudgedRun, Placement
from germane.evaluation.opening import open_data
from germane.evaluation.result import Result
from germane.evaluation.special_queries import Kinds
from germane.kernel.ids import to_bytes
from germane.measures.measure import Measure
from germane.readers import RunInput, find_shape
from germane.readers.objects.relevance import make_ranking


@dataclass(frozen=True)
class Counted:
    """The number of relevant items, where it was counted in the list."""

    relevant: int
    argument: str = "relevant="

    def __str__(self) -> str:
        return (
            f"R = {self.relevant}, as counted in the list; {self.argument} sets the number in the"
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
    """One list: its ranking, and what it was made of unless the grades alone are known."""

    ranking: Ranking  # of one query
    judged: JudgedRun | None = None
    unjudged: UnjudgedItems = NONE
    counted: Counted | None = None  # of grades alone

    @property
    def qrels(self) -> Qrels | None:
        """The judgments, which name the items."""
        return None if self.judged is None else self.judged.qrels

    @property
    def policy(self) -> Policy | None:
        """The conventions of a query; bare grades have none."""
        return None if self.judged is None else self.judged.policy

    @property
    def kinds(self) -> Kinds | None:
        """What is special about the query."""
        return None if self.judged is None else self.judged.kinds

    @property
    def is_answered(self) -> bool:
        """Does the run have the query?"""
        return self.judged is None or bool(self.judged.kept[0])

    def reorder(self, ties: str) -> Ranking | None:
        """Rank under another order of ties; None where nothing judged is tied."""
        return None if self.judged is None else self.judged.reorder(ties)


def hold_rows(raw: Any) -> Any:
    """Read an iterator, which tells grades from namedtuples; anything else stays as it is."""
    return list(raw) if find_shape(raw) == "iterator" else raw


def is_list(raw: Any, run: Any, choices: Mapping[str, Any]) -> bool:
    """Are these the grades of one list, without columns, groups or a run's rows?"""
    shape = "other" if "group" in choices else find_shape(raw)
    if shape == "rows" and run is not None:
        return isinstance(run, (str, Measure)) and _is_measures(run)  # of a list of subtopics
    return shape in ("list", "rows")


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
        return SingleQuery(ranking, counted=counted)
    if isinstance(relevant, str):  # with qrels, the argument is a convention
        policy, relevant = {**policy, "relevant": relevant}, None
    check_run(run, relevant)
    data = open_data(qrels, policy)
    opened, conventions = data.open_run(run)
    check_ordered(conventions, refused)
    judged, selected = data.judge_query(opened, query, measures, conventions, progress)
    return judge_single(judged, selected)


def judge_single(judged: JudgedRun, run: RunInput | None) -> SingleQuery:
    """Rank a judged query, with its unjudged items where a run has them."""
    unjudged = NONE if run is None else find_unjudged(judged, run)
    return SingleQuery(judged.rank(judged.policy.ties), judged, unjudged)


def check_list(run: Any, raw: Collection[str]) -> None:
    """Refuse a run, and the arguments that are ``given``, beside the grades of one list."""
    if run is not None:
        raise InputError(
            "one list of grades needs no run; to set the number of relevant items, use"
            f" {write_option('relevant', '…')}."
        )
    for name in raw:
        raise InputError(
            f"{name}=… is for qrels and a run; the grades of one list belong to one query, and are"
            " already in rank order."
        )


def check_run(run: Any, relevant: object) -> None:
    """Refuse ``relevant`` beside qrels, and a missing run."""
    if relevant is not None:
        raise InputError(
            f"{write_option('relevant', '…')} is for the grades of one list; with qrels, the"
            " judgments say what is relevant."
        )
    if run is None:
        raise InputError("the run is missing: give qrels and a run, or the grades of one list.")


def find_placement(result: Result) -> Placement:
    """Find where the judged items stand. Raises InputError for a result read from a file."""
    if result.placement is None:
        raise InputError(f"{clip(result.name)} was read from a file, which does not contain ranks.")
    return result.placement


def check_ordered(policy: Policy, refused: Collection[str]) -> None:
    """Refuse the orders of ties in which single items have no rank."""
    if policy.ties in refused:
        raise PolicyError(
            f"ties={policy.ties} does not order equal scores, and ranks need an order; choose "
            f"ties={list_choices(word for word in Policy.WORDS['ties'] if word not in refused)}."
        )


def find_unjudged(judged: JudgedRun, run: RunInput) -> UnjudgedItems:
    """Find a judged query's other items, which fill the ranks without a judged item in order.

    There are none where copies or misses take ranks, too.
    """
    qrels, policy = judged.qrels, judged.policy
    if policy.unjudged == "remove" or policy.nonpositive == "miss":
        return NONE
    ranked = run.rank(qrels, policy)
    if ranked is None:
        return NONE
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
