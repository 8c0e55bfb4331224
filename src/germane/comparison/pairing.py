"""Pairing: every pair of systems on every measure, from estimate to corrected p-value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from germane.comparison.bootstrap import bca, reach, resampled_sums
from germane.comparison.corrections import CORRECTIONS
from germane.comparison.pair import Equivalence, Interval, Limit, Pair
from germane.comparison.sample import Sample
from germane.comparison.settings import Settings
from germane.comparison.significance import TESTS, Pairs, differences
from germane.core.dispersion import measure_dispersion, tost
from germane.core.ragged import Floats


def places(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Baseline and system of every pair: all of them, or each system against one."""
    everyone = range(len(systems))
    if baseline is None:
        return list(combinations(everyone, 2))
    first = systems.index(baseline)
    return [(first, other) for other in everyone if other != first]


def resampled_means(sample: Sample, settings: Settings, rng: np.random.Generator) -> Floats:
    """M × S × resamples: the means of all systems on queries drawn anew, the same ones for all."""
    flat = sample.weighted.reshape(-1, len(sample))
    sums = resampled_sums(flat, sample.strata, settings.resamples, rng)
    return sums.reshape(*sample.weighted.shape[:2], -1)


@dataclass(frozen=True)
class Tested:
    """The p-values of one pair, as the test and its correction give them."""

    p: float
    p_adjusted: float
    smallest: float  # had every query that differs done so in one direction
    smallest_adjusted: float
    alpha: float  # the error rate that the correction leaves to this pair
    words: str


def pairs_of(
    samples: Sequence[Sample], settings: Settings, rng: np.random.Generator
) -> tuple[Pair, ...]:
    """All pairs, measure by measure."""
    at = places(samples[0].systems, settings.baseline)
    test, resamples = TESTS[settings.test], settings.resamples
    p = np.concatenate([test.p_values(sample, at, resamples, rng) for sample in samples])
    smallest = np.concatenate([test.smallest(sample, at, resamples) for sample in samples])
    tests = _corrected(p, smallest, settings)
    return tuple(
        _pair(sample, m, pair, difference, next(tests), settings)
        for sample in samples
        for m, of_measure in enumerate(differences(sample, at))
        for pair, difference in zip(at, of_measure, strict=True)
    )


def _corrected(p: Floats, smallest: Floats, settings: Settings) -> Iterator[Tested]:
    """M × P p-values and the smallest that could have been, corrected within their families."""
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
            words = f"{test.title} over {p.shape[1]} {'pair' if p.shape[1] == 1 else 'pairs'}"
        for i in range(count):
            reached = least[i] * count  # no correction raises a p-value by more
            if reached >= settings.alpha:
                reached = correction.adjust(np.where(np.arange(count) == i, least, p_values))[i]
            yield Tested(
                p=float(p_values[i]),
                p_adjusted=float(adjusted[i]),
                smallest=float(least[i]),
                smallest_adjusted=float(reached),
                alpha=float(levels[i]),
                words=words,
            )


def _pair(
    sample: Sample,
    m: int,
    pair: tuple[int, int],
    difference: Floats,
    tested: Tested,
    settings: Settings,
) -> Pair:
    weighted = difference * sample.weights
    centered = sample.centered(weighted)
    mean = float(sample.means[m, pair[1]] - sample.means[m, pair[0]])
    spread = measure_dispersion(centered, sample.strata)
    varies = spread is not None and spread.error > 1e-12 * abs(mean)
    wins, losses = int(np.count_nonzero(difference > 0)), int(np.count_nonzero(difference < 0))
    ties = len(sample) - wins - losses
    equivalence = None
    if settings.equivalence is not None and spread is not None:
        p = tost(mean, settings.equivalence, spread)
        equivalence = Equivalence(settings.equivalence, p)
    return Pair(
        measure=sample.measures[m],
        system=sample.systems[pair[1]],
        baseline=sample.systems[pair[0]],
        queries=len(sample),
        difference=mean,
        interval=None if spread is None else interval_of(sample, centered, mean, tested.alpha),
        d_z=mean / spread.deviation if spread and varies else None,
        improvement=(wins + ties / 2) / len(sample),
        wins=wins,
        losses=losses,
        ties=ties,
        p=tested.p,
        p_adjusted=tested.p_adjusted,
        alpha=settings.alpha,
        limit=_limit(tested, wins + losses, settings),
        detectable=spread.detectable(tested.alpha) if spread and varies else None,
        equivalence=equivalence,
        test=tested.words,
    )


def _limit(tested: Tested, differing: int, settings: Settings) -> Limit | None:
    if not differing or min(tested.smallest_adjusted, tested.p_adjusted) < settings.alpha:
        return None
    is_corrected = tested.smallest_adjusted > tested.smallest
    if TESTS[settings.test].resamples and tested.smallest * (settings.resamples + 1) < 2:
        return Limit("resamples", settings.resamples, tested.smallest_adjusted, is_corrected)
    return Limit("queries", differing, tested.smallest_adjusted, is_corrected)


def interval_of(sample: Sample, centered: Floats, mean: float, alpha: float) -> Interval:
    """The 1 - alpha interval of a mean, or of a mean difference, from its parts."""
    if np.abs(centered).sum() <= 1e-12 * abs(mean):
        return Interval(mean, mean, 1 - alpha)  # the same difference on every query
    reached = bca(centered, sample.strata, reach(alpha, sample.freedom))
    rounding = 1e-12 * (abs(mean) + float(np.abs(centered).sum()))
    low, high = (0.0 if abs(mean + end) < rounding else mean + end for end in reached)
    return Interval(low, high, 1 - alpha)
