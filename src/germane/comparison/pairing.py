"""Pairing: every pair of systems on every measure, from estimate to corrected p-value."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from germane._ragged import Floats
from germane.comparison.bootstrap import bca, reach, resampled_sums
from germane.comparison.corrections import CORRECTIONS
from germane.comparison.pair import Equivalence, Interval, Pair
from germane.comparison.sample import Sample
from germane.comparison.settings import Settings
from germane.comparison.significance import TESTS, Pairs, differences
from germane.comparison.spread import spread_of, tost


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


def pairs_of(
    samples: Sequence[Sample],
    resampled: Sequence[Floats],
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Pair, ...]:
    """All pairs, measure by measure."""
    at = places(samples[0].systems, settings.baseline)
    p = [TESTS[settings.test].p_values(sample, at, settings.resamples, rng) for sample in samples]
    adjusted, words = _corrected(np.concatenate(p), settings)
    pairs, row = [], 0
    for sample, means, p_values in zip(samples, resampled, p, strict=True):
        for m in range(len(sample.measures)):
            for j, (pair, estimate) in enumerate(zip(at, differences(sample, at)[m], strict=True)):
                drawn = means[m, pair[1]] - means[m, pair[0]]
                tested = float(p_values[m, j]), float(adjusted[row, j])
                pairs.append(_pair(sample, m, pair, estimate, drawn, tested, words, settings))
            row += 1
    return tuple(pairs)


def _corrected(p: Floats, settings: Settings) -> tuple[Floats, str]:
    """M × P p-values corrected within their family, and how in words."""
    title, correct = CORRECTIONS[settings.correction or "none"]
    family = [p.ravel()] if settings.family == "all" else list(p)
    test = TESTS[settings.test]
    if test.corrects:
        return p, f"{test.title} over {p.shape[1]} {'pair' if p.shape[1] == 1 else 'pairs'}"
    over = f"{title} over {len(family[0])}" if settings.correction != "none" else title
    if len(family[0]) == 1:
        over = ""  # one comparison needs no correction
    words = ", ".join(filter(None, (settings.test, over)))
    return np.concatenate([correct(one) for one in family]).reshape(p.shape), words


def _pair(
    sample: Sample,
    m: int,
    pair: tuple[int, int],
    difference: Floats,
    drawn: Floats,
    tested: tuple[float, float],
    words: str,
    settings: Settings,
) -> Pair:
    weighted = difference * sample.weights
    centered = sample.centered(weighted)
    mean = float(sample.means[m, pair[1]] - sample.means[m, pair[0]])
    spread = spread_of(centered, sample.strata)
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
        interval=None if spread is None else interval_of(sample, centered, mean, drawn, settings),
        d_z=mean / spread.deviation if spread and varies else None,
        improvement=(wins + ties / 2) / len(sample),
        wins=wins,
        losses=losses,
        ties=ties,
        p=tested[0],
        p_adjusted=tested[1],
        alpha=settings.alpha,
        detectable=spread.detectable(settings.alpha) if spread and varies else None,
        equivalence=equivalence,
        test=words,
    )


def interval_of(
    sample: Sample, centered: Floats, mean: float, drawn: Floats, settings: Settings
) -> Interval:
    """The interval of a mean, or of a mean difference, from its parts and its resampled values."""
    if np.abs(centered).sum() <= 1e-12 * abs(mean):
        return Interval(mean, mean, settings.confidence)  # the same difference on every query
    low, high = bca(drawn, centered, mean, reach(settings.confidence, sample.freedom))
    return Interval(low, high, settings.confidence)
