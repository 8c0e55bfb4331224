"""Limits: on which data a dialect does not vouch for what its tool would say."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.ragged import Bools
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.dialects.names import find_entry
from germane.evaluation.judging import JudgedRun
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure

When = Callable[[JudgedRun, Measure], bool]

_WITHOUT_ORDER = ("expected", "grouped")
INSERTED = 15  # items that the usual quicksorts leave to an insertion sort


def find_holding(
    dialect: Dialect,
    foreign: Entry,
    measure: Measure,
    judged: JudgedRun,
    ordered: Callable[[], bool | None] = lambda: None,
) -> Iterator[Limit]:
    """The limits of a tool's measure that this data is about.

    ``judged`` is the data as the dialect judges it, and ``measure`` what germane calls the measure.
    ``ordered`` says whether the rows stand in the order of their scores, or None where that is not known.
    """
    for limit in dialect.limits:
        if limit.only and foreign.name not in limit.only:
            continue
        if limit.order and judged.policy.ties in _WITHOUT_ORDER:
            continue
        if _WHEN[limit.when](judged, measure) and not (limit.when == "unordered" and ordered()):
            yield limit


def find_limits(
    dialect: Dialect,
    evaluated: Iterable[tuple[MeasureResult, JudgedRun]],
    ordered: Callable[[], bool | None],
) -> dict[str, tuple[Measure, ...]]:
    """The sentence for each limit that matters on the data, and the measures that it is about."""
    found: dict[str, tuple[Measure, ...]] = {}
    for result, judged in evaluated:
        measure, foreign = result.measure, find_entry(dialect, result.measure)
        for limit in find_holding(dialect, foreign, measure, judged, ordered) if foreign else ():
            if may_matter(limit, result):
                found[limit.says] = (*found.get(limit.says, ()), measure)
    return found


def may_matter(limit: Limit, result: MeasureResult) -> bool:
    """May the limit change the number? An order of equal scores does not where all orders give the same."""
    return not limit.order or result.best != result.worst


def make_findings(
    dialect: Dialect, limits: Mapping[str, tuple[Measure, ...]], queries: int
) -> Iterator[Finding]:
    """The limits as findings."""
    for says, measures in limits.items():
        of = ", ".join(map(str, measures))
        unsure = f"{dialect.tool} itself may say something else of {of}: {says.rstrip('.')}"
        yield Finding("doubtful", "limit of the dialect", unsure, queries)


def _is_tied(judged: JudgedRun, measure: Measure) -> bool:
    return bool(judged.tied.any())


def _is_tied_long(judged: JudgedRun, measure: Measure) -> bool:
    """Tied items of a list that is too long for an insertion sort, which keeps their order."""
    return bool((judged.retrieved.retrieved[judged.retrieved.owner[judged.tied]] > INSERTED).any())


def _is_unordered(judged: JudgedRun, measure: Measure) -> bool:
    """A query has several results, which may stand in another order than that of their scores."""
    return bool((judged.retrieved.retrieved > 1).any())


def _has_no_relevant(judged: JudgedRun, measure: Measure) -> bool:
    return bool((_count_relevant(judged) == 0).any())


def _is_all_relevant(judged: JudgedRun, measure: Measure) -> bool:
    """All that was retrieved is relevant."""
    return bool(_is_nothing_else(judged).any())


def _are_all_within(judged: JudgedRun, measure: Measure) -> bool:
    """Are all results relevant, and at most k of them?"""
    k = measure.k
    return k is not None and bool(
        (_is_nothing_else(judged) & (judged.retrieved.retrieved <= k)).any()
    )


def _is_nothing_else(judged: JudgedRun) -> Bools:
    """Q: is all that was retrieved relevant, and all that is relevant retrieved?"""
    hits = judged.retrieved.owner[judged.grades >= 1]
    found = ragged.count_flags(np.ones(len(hits), bool), hits, len(judged.qrels))
    same: Bools = (found == judged.retrieved.retrieved) & (_count_relevant(judged) == found)
    return same


def _is_empty(judged: JudgedRun, measure: Measure) -> bool:
    if judged.policy.unjudged == "remove":
        owner = judged.retrieved.owner[judged.grades >= 0]
        return len(np.unique(owner)) < len(judged.qrels)
    return bool((judged.retrieved.retrieved == 0).any())


def _is_short(judged: JudgedRun, measure: Measure) -> bool:
    return measure.k is not None and bool((_count_sizes(judged) < measure.k).any())


def _is_shallow(judged: JudgedRun, measure: Measure) -> bool:
    return measure.k is not None and bool((_count_relevant(judged) > measure.k).any())


def _is_single(judged: JudgedRun, measure: Measure) -> bool:
    return bool((_count_sizes(judged) == 1).any())


def _is_uneven(judged: JudgedRun, measure: Measure) -> bool:
    return len(np.unique(_count_sizes(judged))) > 1


def _is_repeated(judged: JudgedRun, measure: Measure) -> bool:
    judgments = judged.retrieved.judgment
    listed = judged.policy.repeated != "error" and _is_listed_twice(judged)
    return len(np.unique(judgments)) < len(judgments) or listed


def _is_listed_twice(judged: JudgedRun) -> bool:
    return any(
        len(set(judged.qrels.items[start:end])) < end - start
        for start, end in zip(judged.qrels.offsets, judged.qrels.offsets[1:], strict=False)
    )


def _has_negative(judged: JudgedRun, measure: Measure) -> bool:
    return bool((judged.qrels.grades < 0).any())


def _is_early(judged: JudgedRun, measure: Measure) -> bool:
    """A query has nothing relevant from rank k on."""
    if measure.k is None:
        return False
    late = judged.retrieved.rank >= measure.k
    return not _has_all(judged, late)


def _is_missed(judged: JudgedRun, measure: Measure) -> bool:
    """A query has nothing relevant up to rank k."""
    rank = judged.retrieved.rank
    return not _has_all(judged, rank <= (measure.k or np.iinfo(np.int64).max))


def _has_unknown(judged: JudgedRun, measure: Measure) -> bool:
    return bool(judged.retrieved.unknown)


def _is_named(judged: JudgedRun, measure: Measure) -> bool:
    return not all(str(query).isdecimal() for query in judged.qrels.queries)


def _find_level(judged: JudgedRun, measure: Measure) -> bool:
    return measure.rel not in (None, 1.0)


def _has_all(judged: JudgedRun, among: Bools) -> bool:
    """Has every query a relevant hit among these?"""
    hits = judged.retrieved.owner[among & (judged.grades >= 1)]
    return len(np.unique(hits)) == len(judged.qrels)


def _count_sizes(judged: JudgedRun) -> ragged.Ints:
    return judged.retrieved.retrieved[judged.retrieved.answered]


def _count_relevant(judged: JudgedRun) -> ragged.Ints:
    return judged.relevant


_WHEN: Mapping[str, When] = {
    "tied": _is_tied,
    "tied_long": _is_tied_long,
    "unordered": _is_unordered,
    "no_relevant": _has_no_relevant,
    "all_relevant": _is_all_relevant,
    "empty": _is_empty,
    "short": _is_short,
    "all_within": _are_all_within,
    "shallow": _is_shallow,
    "single": _is_single,
    "uneven": _is_uneven,
    "repeated": _is_repeated,
    "negative": _has_negative,
    "early": _is_early,
    "missed": _is_missed,
    "unknown": _has_unknown,
    "named": _is_named,
    "level": _find_level,
}
