"""Pairing: every pair of systems on every measure, from estimate to corrected p-value.

The interval of each system's own mean is estimated here, too.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from germane.comparison.pair import Equivalence, Interval, Limit, Pair
from germane.comparison.sample import (
    Sample,
    estimate_bca,
    match_samples,
    resample_sums,
    widen_quantile,
)
from germane.comparison.settings import CORRECTIONS, Settings
from germane.comparison.significance import TESTS, Pairs, compute_differences
from germane.core.dispersion import compute_equivalence_p, measure_dispersion
from germane.core.ragged import Floats
from germane.evaluation.result import Result
from germane.measures.measure import Measure


def list_pairs(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Baseline and system of every pair: all of them, or each system against one."""
    everyone = range(len(systems))
    if baseline is None:
        return list(combinations(everyone, 2))
    first = systems.index(baseline)
    return [(first, other) for other in everyone if other != first]


def resample_means(sample: Sample, settings: Settings, rng: np.random.Generator) -> Floats:
    """M × S × resamples: the means of all systems on queries drawn anew, the same ones for all."""
    flat = sample.weighted.reshape(-1, len(sample))
    sums = resample_sums(flat, sample.strata, settings.resamples, rng)
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


def compare_pairs(
    samples: Sequence[Sample], settings: Settings, rng: np.random.Generator
) -> tuple[Pair, ...]:
    """All pairs, measure by measure."""
    at = list_pairs(samples[0].systems, settings.baseline)
    test, resamples = TESTS[settings.test], settings.resamples
    p = np.concatenate([test.p_values(sample, at, resamples, rng) for sample in samples])
    smallest = np.concatenate([test.smallest(sample, at, resamples) for sample in samples])
    tests = _correct(p, smallest, settings)
    return tuple(
        _describe_pair(sample, m, pair, difference, next(tests), settings)
        for sample in samples
        for m, of_measure in enumerate(compute_differences(sample, at))
        for pair, difference in zip(at, of_measure, strict=True)
    )


def _correct(p: Floats, smallest: Floats, settings: Settings) -> Iterator[Tested]:
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


def _describe_pair(
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
        p = compute_equivalence_p(mean, settings.equivalence, spread)
        equivalence = Equivalence(settings.equivalence, p)
    return Pair(
        measure=sample.measures[m],
        system=sample.systems[pair[1]],
        baseline=sample.systems[pair[0]],
        queries=len(sample),
        difference=mean,
        interval=None
        if spread is None
        else estimate_interval(sample, centered, mean, tested.alpha),
        d_z=mean / spread.deviation if spread and varies else None,
        improvement=(wins + ties / 2) / len(sample),
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
    )


def _find_limit(tested: Tested, differing: int, settings: Settings) -> Limit | None:
    if not differing or min(tested.smallest_adjusted, tested.p_adjusted) < settings.alpha:
        return None
    is_corrected = tested.smallest_adjusted > tested.smallest
    if TESTS[settings.test].resamples and tested.smallest * (settings.resamples + 1) < 2:
        return Limit("resamples", settings.resamples, tested.smallest_adjusted, is_corrected)
    return Limit("queries", differing, tested.smallest_adjusted, is_corrected)


def estimate_interval(sample: Sample, centered: Floats, mean: float, alpha: float) -> Interval:
    """The 1 - alpha interval of a mean, or of a mean difference, from its parts."""
    if np.abs(centered).sum() <= 1e-12 * abs(mean):
        return Interval(mean, mean, 1 - alpha)  # the same difference on every query
    reached = estimate_bca(centered, sample.strata, widen_quantile(alpha, sample.freedom))
    rounding = 1e-12 * (abs(mean) + float(np.abs(centered).sum()))
    low, high = (0.0 if abs(mean + end) < rounding else mean + end for end in reached)
    return Interval(low, high, 1 - alpha)


Means = dict[str, dict[Measure, Interval | None]]


def estimate_mean_intervals(
    results: Mapping[str, Result],
    measures: tuple[Measure, ...],
    alpha: float,
) -> Means:
    """System → measure → interval of its mean; None where it rests on one query.

    Each system's over its own queries. Measures whose
    number is a sum over queries, or a geometric mean, are refused by the caller.
    """
    alike: dict[frozenset[Hashable], dict[str, Result]] = {}
    for name, result in results.items():
        kept = frozenset(q for q, value in result[measures[0]].per_query.items() if value == value)
        alike.setdefault(kept, {})[name] = result
    out: Means = {name: {} for name in results}
    for group in alike.values():
        known = tuple(m for m in measures if all(_is_known(one, m) for one in group.values()))
        for sample in match_samples({"": group}, known):
            for m, measure in enumerate(sample.measures):
                for s, system in enumerate(sample.systems):
                    out[system][measure] = _estimate_mean_interval(sample, m, s, alpha)
    return out


def _is_known(result: Result, measure: Measure) -> bool:
    """Has any query a value?"""
    return not np.isnan(result[measure].values).all()


def _estimate_mean_interval(sample: Sample, m: int, s: int, alpha: float) -> Interval | None:
    if sample.freedom < 1:
        return None
    centered = sample.centered(sample.weighted[m, s])
    return estimate_interval(sample, centered, float(sample.means[m, s]), alpha)
