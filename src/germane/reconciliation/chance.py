"""Chance: how likely a number that has nothing to do with the definitions tried is given by one of them."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import GermaneError
from germane.measures.averaging import Evaluated, scores, weights
from germane.measures.measure import Measure
from germane.reconciliation.candidates import Candidate
from germane.reconciliation.queries import agreeing
from germane.reconciliation.reported import Reported
from germane.reconciliation.search import Given, Search

POSSIBLE = 0.05  # a chance above which a definition is possible, and no longer found

_ORDERS = 200  # random orders of the lists
_MOST = 100_000  # ranks of all of them; more data hardly has the same number twice
_SEED = 0


def chance(
    search: Search,
    tried: Sequence[Given],
    reported: Reported,
    per_query: Mapping[Hashable, Reported] | None,
) -> tuple[int, float]:
    """The different values tried until something gave the number, and how likely one of them gives a wrong number.

    Definitions are tried from the likeliest: what was asked for; what tools mean by it; one thing changed;
    two. Those before the first that gives the number do not give it, which is known. A wrong number is
    taken to lie anywhere between the lowest and the highest value tried, or in 0…1 if it is what was
    asked for. Small data has few values, which coincide more often: so it may also be what was asked
    for of the same lists in a random order, or of lists that find other items, as those of another
    run do. The chance is the highest of these.
    """
    steps = [(_step(search.asked, one.candidate), one) for one in tried]
    queries = per_query or {}
    first = min(
        step
        for step, one in steps
        if reported.gives(one.value) and agreeing(search, one, queries) == len(queries)
    )
    values = [one.value for step, one in steps if step <= first]
    before = [one.value for step, one in steps if step < first]
    ends = _ends((one.value for one in tried), within=(0.0, 1.0) if first == 0 else ())
    likely = _covered(values, reported.tolerance, *ends)
    for others in (_shuffle_hits, _draw_hits) if first > 0 else ():
        likely = max(likely, _share_given(_numbers(search, others), values, before, reported))
    different = len({round(value, 12) for value in values})
    single = math.prod(min(1.0, 2 * one.tolerance) for one in queries.values())
    return different, min(likely, different * single) if queries else likely


def _step(asked: Measure, candidate: Candidate) -> int:
    """How far from what was asked for: itself, a tool's, one thing changed, or more."""
    if candidate.key == (asked, ()):
        return 0
    return 1 if candidate.tools else min(candidate.distance(asked) + 1, 3)


def _ends(values: Iterable[float], within: Sequence[float]) -> tuple[float, float]:
    several = [*values, *within]
    return min(several), max(several)


def _covered(values: Iterable[float], tolerance: float, low: float, high: float) -> float:
    """The share of the numbers from low to high that some value would be written as."""
    low, high = low - tolerance, high + tolerance
    end, covered = low, 0.0
    for value in sorted(values):
        start, end_here = max(value - tolerance, end), value + tolerance
        covered += max(end_here - start, 0.0)
        end = max(end, end_here)
    return min(covered / (high - low), 1.0)


def _share_given(
    numbers: Floats, values: Sequence[float], before: Sequence[float], reported: Reported
) -> float:
    """The share of some numbers, but for those that a definition before gives, that one of the values gives."""
    if not len(numbers):
        return 0.0
    unit = 2 * reported.tolerance
    written = np.round(numbers / unit) * unit

    def given(several: Sequence[float]) -> Floats:
        gaps = np.abs(np.subtract.outer(written, np.array(several)))
        slack = reported.tolerance + 1e-12
        return np.asarray((gaps <= slack).any(axis=1))

    left = ~given(before)
    return float(given(values)[left].mean()) if left.any() else 0.0


def _numbers(search: Search, others: Callable[[Ranking], Ranking]) -> Floats:
    """What was asked for, of other lists; none where data is large or unreadable."""
    none = np.zeros(0)
    try:
        ranking, _ = search.scored(Candidate(search.asked))
    except GermaneError:
        return none
    if int(ranking.retrieved.sum()) * _ORDERS > _MOST or not len(ranking):
        return none
    shuffled = others(ranking)
    size = _ORDERS, len(ranking)
    try:
        values = scores(search.asked, shuffled, search.conventions.no_relevant).reshape(size)
        norms = weights(search.asked, shuffled)
    except GermaneError:
        return none
    each = [None] * _ORDERS if norms is None else norms.reshape(size)
    return np.array(
        [
            Evaluated(
                search.asked, ranking.queries, row, search.conventions.no_relevant, norm=norm
            ).mean
            for row, norm in zip(values, each, strict=True)
        ]
    )


def _shuffle_hits(ranking: Ranking) -> Ranking:
    """Many copies of a ranking, the hits of each query at random ranks."""
    rng = np.random.default_rng(_SEED)
    hits = np.diff(ranking.offsets)
    ranks = [
        np.sort(rng.choice(size, found, replace=False)) + 1
        for _ in range(_ORDERS)
        for size, found in zip(ranking.retrieved.tolist(), hits.tolist(), strict=True)
    ]
    # which hit stands first is random, too
    owner = np.repeat(np.arange(_ORDERS * len(ranking)), np.tile(hits, _ORDERS))
    order = np.lexsort((rng.random(len(owner)), owner))
    rank = np.concatenate(ranks) if ranks else np.zeros(0, np.int64)
    return _copies(ranking, owner, rank, np.tile(ranking.relevance, _ORDERS)[order])


def _draw_hits(ranking: Ranking) -> Ranking:
    """Many copies of a ranking that find each judged item with a probability of one half or less."""
    rng = np.random.default_rng(_SEED)
    sizes = zip(ranking.retrieved.tolist(), np.diff(ranking.ideal_offsets).tolist(), strict=True)
    starts = ranking.ideal_offsets.tolist()
    owners, ranks, grades = [], [], []
    for at, (size, judged) in enumerate([*sizes] * _ORDERS):
        drawn = rng.choice(2 * max(size, judged, 1), judged, replace=False) + 1
        found = np.flatnonzero(drawn <= size)
        found = found[np.argsort(drawn[found])]
        owners.append(np.full(len(found), at))
        ranks.append(drawn[found])
        grades.append(ranking.ideal[starts[at % len(ranking)] + found])
    return _copies(ranking, *map(np.concatenate, (owners, ranks, grades)))


def _copies(ranking: Ranking, owner: Ints, rank: Ints, relevance: Floats) -> Ranking:
    """Many copies of a ranking, with these hits."""
    return replace(
        ranking,
        queries=list(range(_ORDERS * len(ranking))),
        owner=owner,
        rank=rank,
        relevance=relevance,
        retrieved=np.tile(ranking.retrieved, _ORDERS),
        ideal_offsets=ragged.offsets(np.tile(np.diff(ranking.ideal_offsets), _ORDERS)),
        ideal=np.tile(ranking.ideal, _ORDERS),
        tied_from=rank,
        tied_to=rank,
        ties="ordered",
        judgment=None,
    )
