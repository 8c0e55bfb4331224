"""Bootstrap: the means and intervals of queries that are drawn anew."""

import math
from collections.abc import Callable

import numpy as np

from germane.core.ragged import Floats, Ints

BLOCK = 2**22  # draws held at once


def resampled_sums(
    values: Floats, strata: Ints, resamples: int, rng: np.random.Generator
) -> Floats:
    """C × Q values → C × resamples: their sums over queries drawn with replacement.

    As many queries are drawn from each stratum as it has, the same ones for every row.
    """
    sums = np.zeros((resamples, len(values)))
    for stratum in range(int(strata.max()) + 1):
        of_stratum = values[:, strata == stratum].T
        queries = len(of_stratum)
        step = max(1, BLOCK // queries)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            sums[start : start + size] += _times(size, queries, rng) @ of_stratum
    return sums.T


def _times(size: int, queries: int, rng: np.random.Generator) -> Floats:
    """size × Q: how often each query is drawn, of as many draws as there are queries."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)


def bca(centered: Floats, strata: Ints, z: float) -> tuple[float, float]:
    """The ends, less the estimate, of a bias-corrected and accelerated interval (Efron 1987) of a sum.

    ``centered`` holds each query's part less the mean part of its stratum; ``z`` is how far a normal
    quantile the interval reaches, such as 1.96. Quantiles of the bootstrap distribution are those of
    its saddlepoint approximation (Davison and Hinkley 1988), which has no resampling error: an
    interval of 99.99% would need a million resamples.
    """
    deviation = math.sqrt(float(np.sum(centered**2)))
    if deviation == 0:
        return 0.0, 0.0
    scaled = centered / deviation
    skew = float(np.sum(scaled**3)) / 6  # the bias and the acceleration of a mean
    strata_of = [scaled[strata == stratum] for stratum in range(int(strata.max()) + 1)]
    low, high = (_quantile(strata_of, _shifted(skew, at)) * deviation for at in (-z, z))
    return low, high


def _shifted(skew: float, z: float) -> float:
    """The normal quantile of the bootstrap distribution where the end of an interval at ``z`` stands."""
    slope = 1 - skew * (skew + z)
    if slope <= 0:  # beyond where the transformation has a meaning: the last there is
        return math.copysign(math.inf, z)
    return skew + (skew + z) / slope


def _quantile(strata: list[Floats], z: float) -> float:
    """The value below which the sum of draws from each stratum is with the chance of ``z``."""
    sign = 1.0 if z > 0 else -1.0
    outermost = sum(len(parts) * float((sign * parts).max()) for parts in strata) * sign
    if math.isinf(z):
        return outermost
    near, far = 0.0, z or 1.0
    reached = _normal(strata, far)[0]
    while sign * (z - reached) > 0:
        near, (further, before) = far, (_normal(strata, 2 * far)[0], reached)
        far, reached = 2 * far, further
        if sign * (reached - before) < 1e-3:  # z lies beyond the last value
            return outermost
    tilt = _root(lambda tilt: _normal(strata, tilt)[0] - z, near, far)
    return _normal(strata, tilt)[1]


def _normal(strata: list[Floats], tilt: float) -> tuple[float, float]:
    """The normal quantile (Barndorff-Nielsen's r*) of the sum that a tilt makes the mean, and that sum."""
    moment = mean = variance = 0.0
    for parts in strata:
        top = float((tilt * parts).max())
        weights = np.exp(tilt * parts - top)
        total = float(weights.sum())
        moment += len(parts) * (top + math.log(total / len(parts)))
        tilted = float(weights @ parts) / total
        mean += len(parts) * tilted
        variance += len(parts) * float(weights @ (parts - tilted) ** 2) / total
    root = math.copysign(math.sqrt(max(0.0, 2 * (tilt * mean - moment))), tilt)
    if abs(root) < 1e-4:  # the limit
        return root + sum(float(np.sum(parts**3)) for parts in strata) / 6, mean
    if variance <= 0:
        return -math.copysign(math.inf, tilt), mean
    return root + math.log(tilt * math.sqrt(variance) / root) / root, mean


def _root(function: Callable[[float], float], near: float, far: float) -> float:
    """Where a function is 0 between two numbers, by false position (Illinois)."""
    at_near, at_far = function(near), function(far)
    for _ in range(60):
        if abs(at_far) < 1e-9 or at_far == at_near:
            break
        between = far - at_far * (far - near) / (at_far - at_near)
        at = function(between)
        if (at > 0) != (at_far > 0):
            near, at_near = far, at_far
        else:
            at_near /= 2
        far, at_far = between, at
    return far


def reach(alpha: float, freedom: int) -> float:
    """The normal quantile of a 1 - alpha interval, widened for the few queries that it rests on.

    Resampled means of n queries vary by √((n-1)/n) too little, and a normal quantile stands where
    Student's belongs; both are undone (Hesterberg 2015, "expanded percentile"). ``freedom`` is n - 1
    for one stratum. Student's quantile is the expansion of Abramowitz and Stegun, 26.7.5.
    """
    from statistics import NormalDist  # imports much

    z = -NormalDist().inv_cdf(alpha / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    student: float = z + sum(term / freedom**i for i, term in enumerate(terms, start=1))
    return student * math.sqrt((freedom + 1) / freedom)
