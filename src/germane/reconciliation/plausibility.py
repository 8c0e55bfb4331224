"""Plausibility: how likely chance gives a number, and slips that explain it.

The chance is that one of the definitions tried gives a number that has nothing to do with them. The
slips explain a number that no definition gives as it stands.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import GermaneError
from germane.measures.averaging import QueryValues, compute_scores, find_weights
from germane.measures.measure import Measure
from germane.reconciliation.reported import DECIMALS, Reported, Terms, count_agreeing, format_plain
from germane.reconciliation.search import Candidate, Given, Search, vary_measure

POSSIBLE = 0.05  # a chance above which a definition is possible, and no longer found

_ORDERS = 200  # random orders of the lists
_MOST = 100_000  # ranks of all of them; more data hardly has the same number twice
_SEED = 0


def estimate_chance(
    search: Search,
    tried: Sequence[Given],
    reported: Reported,
    per_query: Mapping[Hashable, Reported] | None,
) -> tuple[int, float]:
    """The different values tried until something gave the number, and how likely one of them gives a wrong number.

    Definitions are tried from the likeliest: what was asked for; what tools mean by it; one thing changed;
    two. Definitions before the first that gives the number do not give it, which is known. A wrong number is
    taken to lie anywhere between the lowest and the highest value tried, or in 0…1 if it is what was
    asked for. Small data has few values, which coincide more often: so it may also be what was asked
    for of the same lists in a random order, or of lists that find other items, as those of another
    run do. The chance is the highest of these.
    """
    steps = [(_count_steps(search.asked, one.candidate), one) for one in tried]
    queries = per_query or {}
    first = min(
        step
        for step, one in steps
        if reported.gives(one.value) and count_agreeing(search, one, queries) == len(queries)
    )
    values = [one.value for step, one in steps if step <= first]
    before = [one.value for step, one in steps if step < first]
    ends = _find_ends((one.value for one in tried), within=(0.0, 1.0) if first == 0 else ())
    likely = _measure_covered(values, reported.tolerance, *ends)
    for others in (_shuffle_hits, _draw_hits) if first > 0 else ():
        likely = max(
            likely, _measure_share(_compute_numbers(search, others), values, before, reported)
        )
    different = len({round(value, 12) for value in values})
    single = math.prod(min(1.0, 2 * one.tolerance) for one in queries.values())
    return different, min(likely, different * single) if queries else likely


def _count_steps(asked: Measure, candidate: Candidate) -> int:
    """How far from what was asked for: itself, a tool's, one thing changed, or more."""
    if candidate.key == (asked, ()):
        return 0
    return 1 if candidate.tools else min(candidate.distance(asked) + 1, 3)


def _find_ends(values: Iterable[float], within: Sequence[float]) -> tuple[float, float]:
    several = [*values, *within]
    return min(several), max(several)


def _measure_covered(values: Iterable[float], tolerance: float, low: float, high: float) -> float:
    """The share of the numbers from low to high that some value would be written as."""
    low, high = low - tolerance, high + tolerance
    end, covered = low, 0.0
    for value in sorted(values):
        start, end_here = max(value - tolerance, end), value + tolerance
        covered += max(end_here - start, 0.0)
        end = max(end, end_here)
    return min(covered / (high - low), 1.0)


def _measure_share(
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


def _compute_numbers(search: Search, others: Callable[[Ranking], Ranking]) -> Floats:
    """The measure asked for, of other lists; none where data is large or unreadable."""
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
        values = compute_scores(search.asked, shuffled, search.conventions.no_relevant).reshape(
            size
        )
        norms = find_weights(search.asked, shuffled)
    except GermaneError:
        return none
    each = [None] * _ORDERS if norms is None else norms.reshape(size)
    return np.array(
        [
            QueryValues(
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
    return _copy_ranking(ranking, owner, rank, np.tile(ranking.relevance, _ORDERS)[order])


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
    return _copy_ranking(ranking, *map(np.concatenate, (owners, ranks, grades)))


def _copy_ranking(ranking: Ranking, owner: Ints, rank: Ints, relevance: Floats) -> Ranking:
    """Many copies of a ranking, with these hits."""
    return replace(
        ranking,
        queries=list(range(_ORDERS * len(ranking))),
        owner=owner,
        rank=rank,
        relevance=relevance,
        retrieved=np.tile(ranking.retrieved, _ORDERS),
        ideal_offsets=ragged.make_offsets(np.tile(np.diff(ranking.ideal_offsets), _ORDERS)),
        ideal=np.tile(ranking.ideal, _ORDERS),
        tied_from=rank,
        tied_to=rank,
        ties="ordered",
        judgment=None,
    )


_USUAL = (None, 1, 3, 5, 10, 20, 50, 100, 1000)  # cutoffs, first the whole list
_CUTOFFS = (*range(1, 101), 200, 500)  # further ones, for what was asked as it stands
_MOST_HINTS = 3  # definitions that are named


def find_hints(search: Search, tried: Sequence[Given], reported: Reported) -> tuple[str, ...]:
    """A sentence for each slip that would explain the number; none where a definition does."""
    if any(reported.gives(one.value) for one in tried):
        return ()
    found = []
    if abs(reported.value) > 1:
        percent = reported.in_percent()
        found += _explain_by(
            search,
            f"In percent, {reported.text} is {format_plain(percent.value)} (±{format_plain(percent.tolerance)}), which",
            [one for one in tried if percent.gives(one.value)],
        )
    cut = [one for one in tried if reported.cuts(one.value)]
    found += _explain_by(search, "Cut off after its last decimal, not rounded, it", cut)
    others = search.all(_vary_cutoffs(search.asked))
    matching = [one for one in others if reported.gives(one.value)]
    found += _explain_by(search, "With another cutoff, it", matching)
    return (*found, *_try_rounded_terms(search, tried[:1], reported))


def _explain_by(search: Search, says: str, given: Iterable[Given]) -> list[str]:
    by_value: dict[float, Given] = {}
    for one in sorted(search.reduced(given), key=lambda one: _order_plainness(search.asked, one)):
        by_value.setdefault(round(one.value, 9), one)
    simplest = list(by_value.values())
    if not simplest:
        return []
    named = ", ".join(f"{one} ({one.value:.4f})" for one in simplest[:_MOST_HINTS])
    more = f" and {len(simplest) - _MOST_HINTS} more" if len(simplest) > _MOST_HINTS else ""
    return [f"{says} is given by {named}{more}."]


def _order_plainness(asked: Measure, given: Given) -> tuple[int, bool, int]:
    """Sorts by what is otherwise, then the usual cutoffs before others."""
    k = given.candidate.measure.k
    return given.candidate.distance(asked), k not in _USUAL, k or 0


def _vary_cutoffs(asked: Measure) -> Iterable[Candidate]:
    """The measure asked for, at every cutoff that is tried, and one thing otherwise at the usual ones."""
    if not asked.row.cutoff:
        return
    for k in dict.fromkeys((*_USUAL, *_CUTOFFS)):
        if k != asked.k:
            measure = Measure(asked.name, asked.parameters, k)
            yield Candidate(measure)
            if k in _USUAL:
                yield from map(Candidate, vary_measure(measure, ()))


def _try_rounded_terms(search: Search, own: Iterable[Given], reported: Reported) -> list[str]:
    """Terms that were rounded on the way: the mean of what is then each query's value."""
    row = search.asked.row
    if row.aggregate != "mean" or ("mean", "arithmetic") not in search.asked.parameters:
        return []
    for one in own:
        terms = Terms(search, one)
        for decimals in DECIMALS:
            values = terms.rounded(decimals)
            mean = math.fsum(values.tolist()) / len(values)
            if reported.gives(mean):
                unit = f"decimal{'s' * (decimals > 1)}"
                return [f"With every term rounded to {decimals} {unit}, {one} gives {mean:.4f}."]
    return []
