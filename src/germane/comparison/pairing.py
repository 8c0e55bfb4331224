"""Pairing: every pair of systems on every measure, from estimate to corrected p-value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from germane.comparison.pair import Equivalence, Limit, Pair
from germane.comparison.sample import Sample
from germane.comparison.settings import CORRECTIONS, Settings
from germane.comparison.significance import TESTS, compute_differences
from germane.core.mean_intervals import (
    FEWEST,
    compute_equivalence_p,
    estimate_weighted_interval,
    measure_dispersion,
)
from germane.core.ragged import Floats
from germane.core.rounding import drop_rounding
from germane.measures import LOW_IS_GOOD
from germane.measures.averaging import find_span_of_differences
from germane.output.formatting import write_count


@dataclass(frozen=True)
class Tested:
    """The p-values of one pair, as the test and its correction give them."""

    words: str  # the test and the correction
    p: float
    p_adjusted: float
    smallest: float  # if all queries that differ did so in one direction
    smallest_adjusted: float
    alpha: float  # the error rate that the correction leaves to this pair


def compare_pairs(
    samples: Sequence[Sample], settings: Settings, rng: np.random.Generator
) -> tuple[Pair, ...]:
    """Compare all pairs, or all systems with the baseline, measure by measure."""
    systems = samples[0].systems
    pairs = list(combinations(range(len(systems)), 2))
    if settings.baseline is not None:
        first = systems.index(settings.baseline)
        pairs = [(first, second) for second in range(len(systems)) if second != first]
    test, resamples = TESTS[settings.test], settings.resamples
    p = np.concatenate([test.p_values(sample, pairs, resamples, rng) for sample in samples])
    smallest = np.concatenate([test.smallest(sample, pairs, resamples) for sample in samples])
    tests = _correct(p, smallest, settings)
    return tuple(
        _describe_pair(sample, m, pair, difference, next(tests), settings)
        for sample in samples
        for m, of_measure in enumerate(compute_differences(sample, pairs))
        for pair, difference in zip(pairs, of_measure, strict=True)
    )


def _correct(p: Floats, smallest: Floats, settings: Settings) -> Iterator[Tested]:
    """Correct M × P p-values, and the smallest that were possible, within their families."""
    test, correction = TESTS[settings.test], CORRECTIONS[settings.correction or "none"]
    families = zip(p, smallest, strict=True)
    if settings.family == "all":
        families = zip([p.ravel()], [smallest.ravel()], strict=True)
    for p_values, least in families:
        count = len(p_values)
        adjusted, levels = correction.adjust(p_values), correction.levels(p_values, settings.alpha)
        over = correction.title + (f" over {count}" if settings.correction != "none" else "")
        words = f"{settings.test}, {over}" if count > 1 else settings.test
        if test.corrects:
            levels = np.full(count, settings.alpha / p.shape[1])
            words = f"{test.title} over {write_count(p.shape[1], 'pair')}"
        for i in range(count):
            reached = least[i] * count  # no correction raises a p-value by more
            if reached >= settings.alpha:
                reached = correction.adjust(np.where(np.arange(count) == i, least, p_values))[i]
            numbers = map(float, (p_values[i], adjusted[i], least[i], reached, levels[i]))
            yield Tested(words, *numbers)


def _describe_pair(
    sample: Sample,
    m: int,
    pair: tuple[int, int],
    difference: Floats,
    tested: Tested,
    settings: Settings,
) -> Pair:
    weighted = difference * sample.weights
    centered = sample.center(weighted)
    spread = measure_dispersion(centered, sample.strata)
    varies = spread is not None and spread.error > 0
    wins, losses = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
    ties, is_low = len(sample) - wins - losses, sample.measures[m].name in LOW_IS_GOOD
    before, after = sample.means[m, list(pair)]
    mean = float(drop_rounding(after - before, max(abs(before), abs(after))))
    if not wins + losses:
        mean = 0.0
    interval = None
    if spread and len(sample) >= FEWEST:
        span = find_span_of_differences(sample.measures[m], sample.values[m])
        interval = estimate_weighted_interval(
            difference, sample.weights, centered, sample.strata, span, mean, tested.alpha
        )
    equivalence = None
    if settings.equivalence is not None and spread is not None:
        p = compute_equivalence_p(mean, settings.equivalence, spread)
        equivalence = Equivalence(settings.equivalence, p)
    return Pair(
        measure=sample.measures[m],
        system=sample.systems[pair[1]],
        baseline=sample.systems[pair[0]],
        queries=len(sample),
        difference=mean,
        interval=interval,
        d_z=mean / spread.deviation if spread and varies else None,
        improvement=((losses if is_low else wins) + ties / 2) / len(sample),
        wins=wins,
        losses=losses,
        ties=ties,
        p=tested.p,
        p_adjusted=tested.p_adjusted,
        alpha=settings.alpha,
        limit=_find_limit(tested, wins + losses, settings),
        detectable=spread.find_detectable(tested.alpha) if spread and varies else None,
        equivalence=equivalence,
        test=tested.words,
        unit=sample.unit,
        is_opposed=mean * TESTS[settings.test].find_direction(difference) < 0,
    )


def _find_limit(tested: Tested, differing: int, settings: Settings) -> Limit | None:
    """Say why p_adjusted could not be below alpha; None where it could or nothing differs."""
    if not differing or min(tested.smallest_adjusted, tested.p_adjusted) < settings.alpha:
        return None
    cause: Literal["queries", "resamples"] = "queries"
    count = differing
    if TESTS[settings.test].resamples and tested.smallest * (settings.resamples + 1) < 2:
        cause, count = "resamples", settings.resamples
    smallest = tested.smallest_adjusted
    return Limit(cause, count, smallest, corrected=smallest > tested.smallest)
