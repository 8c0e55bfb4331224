"""Limits: on which data a dialect does not vouch for what its tool would say."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from germane import _ragged
from germane._ragged import Bools
from germane.dialects import Dialect, Foreign, Limit
from germane.judging import Judged
from germane.measure import Measure

When = Callable[[Judged, Measure], bool]


def holding(
    dialect: Dialect, foreign: Foreign, measure: Measure, judged: Judged
) -> Iterator[Limit]:
    """The limits of a tool's measure that this data is about.

    ``judged`` is the data as the dialect judges it, and ``measure`` what germane calls the measure.
    """
    for limit in dialect.limits:
        if (not limit.only or foreign.name in limit.only) and _WHEN[limit.when](judged, measure):
            yield limit


def _tied(judged: Judged, measure: Measure) -> bool:
    return bool(judged.tied.any())


def _no_relevant(judged: Judged, measure: Measure) -> bool:
    return bool((_relevant(judged) == 0).any())


def _all_relevant(judged: Judged, measure: Measure) -> bool:
    """All that was retrieved is relevant."""
    hits = judged.retrieved.owner[judged.grades >= 1]
    found = _ragged.counts(np.ones(len(hits), bool), hits, len(judged.qrels))
    return bool(((found == judged.retrieved.retrieved) & (_relevant(judged) == found)).any())


def _empty(judged: Judged, measure: Measure) -> bool:
    if judged.policy.unjudged == "remove":
        owner = judged.retrieved.owner[judged.grades >= 0]
        return len(np.unique(owner)) < len(judged.qrels)
    return bool((judged.retrieved.retrieved == 0).any())


def _short(judged: Judged, measure: Measure) -> bool:
    return measure.k is not None and bool((_sizes(judged) < measure.k).any())


def _small(judged: Judged, measure: Measure) -> bool:
    return measure.k is not None and bool((_sizes(judged) <= measure.k).any())


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


def _sizes(judged: Judged) -> _ragged.Ints:
    return judged.retrieved.retrieved[judged.retrieved.answered]


def _relevant(judged: Judged) -> _ragged.Ints:
    return judged.relevant


_WHEN: Mapping[str, When] = {
    "tied": _tied,
    "no_relevant": _no_relevant,
    "all_relevant": _all_relevant,
    "empty": _empty,
    "short": _short,
    "small": _small,
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
