"""Limits: the data on which a dialect is not sure what its tool would say."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from germane.core.finding import Finding
from germane.core.policy import UNORDERED
from germane.core.ragged import Bools, Ints
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.dialects.names import find_entry
from germane.evaluation.judging import JudgedRun
from germane.measures.averaging import MeasureResult
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure

INSERTED = 15  # items that the usual quicksorts leave to an insertion sort


def find_holding(
    dialect: Dialect,
    foreign: Entry,
    measure: Measure,
    judged: JudgedRun,
    ordered: Callable[[], bool | None] = lambda: None,
) -> Iterator[Limit]:
    """Find the limits of a tool's measure that this data is about.

    ``judged`` is the data as the dialect judges it, and ``measure`` is germane's name of the
    measure. ``ordered`` returns True where the rows stand in the order of their scores, and None if
    unknown.
    """
    for limit in dialect.limits:
        of_lists = isinstance(measure.row, CatalogueDefinition)  # whose limits are named
        if (limit.only or of_lists) and foreign.name not in limit.only:
            continue
        if limit.order and judged.policy.ties in UNORDERED:
            continue
        if _WHEN[limit.when](judged, measure) and not (limit.when == "unordered" and ordered()):
            yield limit


def find_limits(
    dialect: Dialect,
    evaluated: Iterable[tuple[MeasureResult, JudgedRun]],
    ordered: Callable[[], bool | None],
) -> dict[str, tuple[Measure, ...]]:
    """Map the sentence of each limit that matters on the data to the measures that it is about."""
    limits: dict[str, tuple[Measure, ...]] = {}
    for result, judged in evaluated:
        measure, foreign = result.measure, find_entry(dialect, result.measure, judged.policy)
        for limit in find_holding(dialect, foreign, measure, judged, ordered) if foreign else ():
            if may_matter(limit, result, judged):
                limits[limit.says] = (*limits.get(limit.says, ()), measure)
    return limits


def may_matter(limit: Limit, result: MeasureResult, judged: JudgedRun) -> bool:
    """Can the limit change the number? One of order cannot where all orders give the same."""
    if not limit.order or result.best != result.worst:
        return True
    return not result.are_extremes and _has_open_order(result.measure, judged)


def _has_open_order(measure: Measure, judged: JudgedRun) -> bool:
    """Are equal scores that begin within the cutoff those of unlike items?

    Another order may then give another value, although the best and the worst give the same: with
    one relevant item at rank 1 and one at rank 2 or 3, AP(norm=found)@3 is 1 or 5/6, and it is 1
    again where the latter drops out.
    """
    ranking = judged.reorder("best")
    if ranking is None:
        return False
    rel, k = measure.rel, measure.k
    worth = np.maximum(ranking.relevance, 0) if rel is None else ranking.relevant(rel)
    _, group = np.unique(np.stack([ranking.owner, ranking.tied_from]), axis=1, return_inverse=True)
    total = np.bincount(group.ravel(), worth)[group.ravel()]
    unlike = total != worth * (ranking.tied_to - ranking.tied_from + 1)
    return bool((unlike & (k is None or ranking.tied_from <= k)).any())


def make_findings(
    dialect: Dialect, limits: Mapping[str, tuple[Measure, ...]], queries: int
) -> Iterator[Finding]:
    """Make a finding of each limit."""
    for text, measures in limits.items():
        names = ", ".join(map(str, measures))
        unsure = f"{dialect.tool} itself may say something else of {names}: {text.rstrip('.')}"
        yield Finding("doubtful", "limit of the dialect", unsure, queries)


def _count_results(judged: JudgedRun) -> Ints:
    """Count the results of each judged query that the run answers."""
    return judged.retrieved.retrieved[judged.retrieved.answered]


def _find_pure(judged: JudgedRun) -> Bools:
    """Q: are the retrieved items exactly the relevant ones?"""
    hits = judged.retrieved.owner[judged.grades >= 1]
    n_hits = np.bincount(hits, minlength=len(judged.qrels))
    same: Bools = (n_hits == judged.retrieved.retrieved) & (judged.relevant == n_hits)
    return same


def _has_every_query(judged: JudgedRun, hits: Bools) -> bool:
    """Does every query have one of these hits?"""
    return len(np.unique(judged.retrieved.owner[hits])) == len(judged.qrels)


def _is_tied_long(judged: JudgedRun, _: Measure) -> bool:
    """Are items tied in a list that is too long for an insertion sort, which keeps their order?"""
    retrieved = judged.retrieved
    return bool((retrieved.retrieved[retrieved.owner[judged.tied]] > INSERTED).any())


def _is_empty(judged: JudgedRun, _: Measure) -> bool:
    """Is nothing left of the results of a query?"""
    if judged.policy.unjudged == "remove":
        return not _has_every_query(judged, judged.grades >= 0)
    return bool((judged.retrieved.retrieved == 0).any())


def _is_repeated(judged: JudgedRun, _: Measure) -> bool:
    """Does an item stand twice for a query, among the results or in lists of relevant items?"""
    hits, qrels = judged.retrieved.judgment, judged.qrels
    if len(np.unique(hits)) < len(hits):
        return True
    ends = zip(qrels.offsets, qrels.offsets[1:], strict=False)
    return judged.policy.repeated != "error" and any(
        len(set(qrels.items[start:end])) < end - start for start, end in ends
    )


def _is_early(judged: JudgedRun, measure: Measure) -> bool:
    """Does a query have nothing relevant from rank k on?"""
    k = measure.k or judged.policy.depth
    if k is None:
        return False
    late = judged.retrieved.rank >= k
    return not _has_every_query(judged, late & (judged.grades >= 1))


def _is_missed(judged: JudgedRun, measure: Measure) -> bool:
    """Does a query have nothing relevant up to rank k?"""
    k = measure.k or judged.policy.depth or np.iinfo(np.int64).max
    within = judged.retrieved.rank <= k
    return not _has_every_query(judged, within & (judged.grades >= 1))


_WHEN: Mapping[str, Callable[[JudgedRun, Measure], bool]] = {
    "tied": lambda judged, _: bool(judged.tied.any()),
    "tied_long": _is_tied_long,
    # several results may stand in another order than that of their scores
    "unordered": lambda judged, _: bool((judged.retrieved.retrieved > 1).any()),
    "no_relevant": lambda judged, _: bool((judged.relevant == 0).any()),
    "all_relevant": lambda judged, _: bool(_find_pure(judged).any()),
    "empty": _is_empty,
    "short": lambda judged, m: m.k is not None and bool((_count_results(judged) < m.k).any()),
    "all_within": lambda judged, m: (
        m.k is not None and bool((_find_pure(judged) & (judged.retrieved.retrieved <= m.k)).any())
    ),
    "shallow": lambda judged, m: m.k is not None and bool((judged.relevant > m.k).any()),
    "single": lambda judged, _: bool((_count_results(judged) == 1).any()),
    "uneven": lambda judged, _: len(np.unique(_count_results(judged))) > 1,
    "repeated": _is_repeated,
    "negative": lambda judged, _: bool((judged.qrels.grades < 0).any()),
    "early": _is_early,
    "several": lambda judged, _: bool((judged.relevant > 1).any()),
    "missed": _is_missed,
    "unknown": lambda judged, _: bool(judged.retrieved.unknown),
    "named": lambda judged, _: not all(str(q).isdecimal() for q in judged.qrels.queries),
    "level": lambda _, m: m.rel not in (None, 1.0),
}
"""The situations that a limit's ``when`` names, and the test for each on the data and a measure."""
