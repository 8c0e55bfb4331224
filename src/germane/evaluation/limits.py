"""Limits: on which data a dialect does not vouch for what its tool would say."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from germane.core import ragged
from germane.core.finding import Finding
from germane.core.ragged import Bools
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.dialects.names import find_entry
from germane.evaluation.judging import Judged
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure

When = Callable[[Judged, Measure], bool]

_WITHOUT_ORDER = ("expected", "grouped")
INSERTED = 15  # items that the usual quicksorts leave to an insertion sort


def find_holding(
    dialect: Dialect,
    foreign: Entry,
    measure: Measure,
    judged: Judged,
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
    evaluated: Iterable[tuple[MeasureResult, Judged]],
    ordered: Callable[[], bool | None],
) -> dict[str, tuple[Measure, ...]]:
    """The sentence for each limit that matters on the data, and the measures that it is about."""
    found: dict[str, tuple[Measure, ...]] = {}
    for result, judged in evaluated:
        measure, foreign = result.measure, find_entry(dialect, result.measure)
        for limit in find_holding(dialect, foreign, measure, judged, ordered) if foreign else ():
            if matters(limit, result):
                found[limit.says] = (*found.get(limit.says, ()), measure)
    return found


def matters(limit: Limit, result: MeasureResult) -> bool:
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


def _tied(judged: Judged, measure: Measure) -> bool:
    return bool(judged.tied.any())


def _tied_long(judged: Judged, measure: Measure) -> bool:
    """Tied items of a list that is too long for an insertion sort, which keeps their order."""
    return bool((judged.retrieved.retrieved[judged.retrieved.owner[judged.tied]] > INSERTED).any())


def _unordered(judged: Judged, measure: Measure) -> bool:
    """A query has several results, which may stand in another order than that of their scores."""
    return bool((judged.retrieved.retrieved > 1).any())


def _no_relevant(judged: Judged, measure: Measure) -> bool:
    return bool((_relevant(judged) == 0).any())


def _all_relevant(judged: Judged, measure: Measure) -> bool:
    """All that was retrieved is relevant."""
    return bool(_nothing_else(judged).any())


def _all_within(judged: Judged, measure: Measure) -> bool:
    """Are all results relevant, and at most k of them?"""
    k = measure.k
    return k is not None and bool((_nothing_else(judged) & (judged.retrieved.retrieved <= k)).any())


def _nothing_else(judged: Judged) -> Bools:
    """Q: is all that was retrieved relevant, and all that is relevant retrieved?"""
    hits = judged.retrieved.owner[judged.grades >= 1]
    found = ragged.counts(np.ones(len(hits), bool), hits, len(judged.qrels))
    same: Bools = (found == judged.retrieved.retrieved) & (_relevant(judged) == found)
    return same


def _empty(judged: Judged, measure: Measure) -> bool:
    if judged.policy.unjudged == "remove":
        owner = judged.retrieved.owner[judged.grades >= 0]
        return len(np.unique(owner)) < len(judged.qrels)
    return bool((judged.retrieved.retrieved == 0).any())


def _short(judged: Judged, measure: Measure) -> bool:
    return measure.k is not None and bool((_sizes(judged) < measure.k).any())


def _shallow(judged: Judged, measure: Measure) -> bool:
    return measure.k is not None and bool((_relevant(judged) > measure.k).any())


def _single(judged: Judged, measure: Measure) -> bool:
    return bool((_sizes(judged) == 1).any())


def _uneven(judged: Judged, measure: Measure) -> bool:
    return len(np.unique(_sizes(judged))) > 1


def _repeated(judged: Judged, measure: Measure) -> bool:
    judgments = judged.retrieved.judgment
    listed = judged.policy.repeated != "error" and _listed_twice(judged)
    return len(np.unique(judgments)) < len(judgments) or listed


def _listed_twice(judged: Judged) -> bool:
    return any(
        len(set(judged.qrels.items[start:end])) < end - start
        for start, end in zip(judged.qrels.offsets, judged.qrels.offsets[1:], strict=False)
    )


def _negative(judged: Judged, measure: Measure) -> bool:
    return bool((judged.qrels.grades < 0).any())


def _early(judged: Judged, measure: Measure) -> bool:
    """A query has nothing relevant from rank k on."""
    if measure.k is None:
        return False
    late = judged.retrieved.rank >= measure.k
    return not _has_all(judged, late)


def _missed(judged: Judged, measure: Measure) -> bool:
    """A query has nothing relevant up to rank k."""
    rank = judged.retrieved.rank
    return not _has_all(judged, rank <= (measure.k or np.iinfo(np.int64).max))


def _unknown(judged: Judged, measure: Measure) -> bool:
    return bool(judged.retrieved.unknown)


def _named(judged: Judged, measure: Measure) -> bool:
    return not all(str(query).isdecimal() for query in judged.qrels.queries)


def _level(judged: Judged, measure: Measure) -> bool:
    return measure.rel not in (None, 1.0)


def _has_all(judged: Judged, among: Bools) -> bool:
    """Has every query a relevant hit among these?"""
    hits = judged.retrieved.owner[among & (judged.grades >= 1)]
    return len(np.unique(hits)) == len(judged.qrels)


def _sizes(judged: Judged) -> ragged.Ints:
    return judged.retrieved.retrieved[judged.retrieved.answered]


def _relevant(judged: Judged) -> ragged.Ints:
    return judged.relevant


_WHEN: Mapping[str, When] = {
    "tied": _tied,
    "tied_long": _tied_long,
    "unordered": _unordered,
    "no_relevant": _no_relevant,
    "all_relevant": _all_relevant,
    "empty": _empty,
    "short": _short,
    "all_within": _all_within,
    "shallow": _shallow,
    "single": _single,
    "uneven": _uneven,
    "repeated": _repeated,
    "negative": _negative,
    "early": _early,
    "missed": _missed,
    "unknown": _unknown,
    "named": _named,
    "level": _level,
}
