"""Bootstrap: resampled means, and confidence intervals of means and of mean differences."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core.arguments import check_number
from germane.core.ragged import Floats, Ints

Basis: TypeAlias = Literal["spread", "range"]


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean or of a mean difference."""

    low: float
    high: float
    confidence: float
    basis: Basis = "spread"
    """it comes from the spread of the values, or where they show too little of it, from the
    measure's range
    """

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def level(self) -> str:
        """The confidence in percent, such as 95% or 99.89%, with two digits of the error rate."""
        missing = float(f"{100 * (1 - self.confidence):.2g}")
        return f"{100 - missing:.12g}%"


def estimate_interval(centered: Floats, strata: Ints, mean: float, alpha: float) -> Interval:
    """Estimate the 1 - alpha interval of a mean, or of a mean difference.

    ``centered`` holds each query's part of the mean less the mean part of its stratum. Each stratum
    has two queries or more.
    """
    freedom = len(strata) - len(np.unique(strata))
    low, high = estimate_bca(centered, strata, widen_quantile(alpha, freedom))
    return Interval(mean + low, mean + high, 1 - alpha)


def check_confidence(confidence: Any) -> None:
    """Refuse a confidence that is not a number between 0 and 1. Raises InputError."""
    check_number("confidence", confidence, 0, 1)


BLOCK = 2**22  # draws in memory at once


def resample_sums(values: Floats, strata: Ints, resamples: int, rng: np.random.Generator) -> Floats:
    """C × Q values → C × resamples: sum each row over queries drawn with replacement.

    From each stratum, as many queries are drawn as it has; all rows take the same ones.
    """
    sums = np.zeros((resamples, len(values)))
    for stratum in range(int(strata.max()) + 1):
        of_stratum = values[:, strata == stratum].T
        queries = len(of_stratum)
        step = max(1, BLOCK // queries)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            sums[start : start + size] += _draw_times(size, queries, rng) @ of_stratum
    return sums.T


def _draw_times(size: int, queries: int, rng: np.random.Generator) -> Floats:
    """size × Q: draw as many queries as there are, and count how often each was drawn."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)


def estimate_bca(centered: Floats, strata: Ints, z: float) -> tuple[float, float]:
    """Estimate the bias-corrected and accelerated interval (Efron 1987) of a sum, less the sum
    itself.

    ``centered`` holds each query's part less the mean part of its stratum. The interval covers as
    much as -z to z of a normal distribution, such as z = 1.96. Quantiles of the bootstrap
    distribution are those of its saddlepoint approximation (Davison and Hinkley 1988). It has no
    resampling error: by resampling, an interval of 99.99% would take a million resamples.
    """
    deviation = math.sqrt(float(np.sum(centered**2)))
    if deviation == 0:
        return 0.0, 0.0
    scaled = centered / deviation
    skew = float(np.sum(scaled**3)) / 6  # the bias and the acceleration of a mean
    strata_of = [scaled[strata == stratum] for stratum in range(int(strata.max()) + 1)]
    ends = []
    for end in (-z, z):
        slope = 1 - skew * (skew + end)
        # where the correction is not defined, so far out, the end is the outermost value
        shifted = skew + (skew + end) / slope if slope > 0 else math.copysign(math.inf, end)
        ends.append(_find_quantile(strata_of, shifted) * deviation)
    return ends[0], ends[1]


def _find_quantile(strata: list[Floats], z: float) -> float:
    """Find the quantile of the sum of draws from each stratum, at the probability of ``z``."""
    sign = 1.0 if z > 0 else -1.0
    outermost = sum(len(parts) * float((sign * parts).max()) for parts in strata) * sign
    if math.isinf(z):
        return outermost
    near, far = 0.0, z or 1.0
    reached = _approximate_normal(strata, far)[0]
    while sign * (z - reached) > 0:
        near, (further, before) = far, (_approximate_normal(strata, 2 * far)[0], reached)
        far, reached = 2 * far, further
        if sign * (reached - before) < 1e-3:  # z lies beyond the last value
            return outermost
    tilt = find_root(lambda tilt: _approximate_normal(strata, tilt)[0] - z, near, far)
    return _approximate_normal(strata, tilt)[1]


def _approximate_normal(strata: list[Floats], tilt: float) -> tuple[float, float]:
    """Return the normal quantile (Barndorff-Nielsen's r*) of the mean under a tilt, and that
    mean.
    """
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


def find_root(function: Callable[[float], float], near: float, far: float) -> float:
    """Find the root of a function between two numbers by false position (Illinois)."""
    at_near, at_far = function(near), function(far)
    for _ in range(60):
        if abs(at_far) < 1e-9 or at_far == at_near:
            break
        between = far - at_far * (far - near) / (at_far - at_near)
        value = function(between)
        if (value > 0) != (at_far > 0):
            near, at_near = far, at_far
        else:
            at_near /= 2
        far, at_far = between, value
    return far


def widen_quantile(alpha: float, freedom: int) -> float:
    """Return the normal quantile of a 1 - alpha interval, widened for a small number of queries.

    Two things make a bootstrap interval of n queries too narrow: resampled means have a deviation
    too small by √((n-1)/n), and a normal quantile is smaller than Student's. This corrects both
    (Hesterberg 2015, "expanded percentile"). ``freedom`` is n - 1 for one stratum.
    """
    return find_student_quantile(alpha, freedom) * math.sqrt((freedom + 1) / freedom)


def find_student_quantile(alpha: float, freedom: float) -> float:
    """Find Student's two-sided quantile by the expansion of Abramowitz and Stegun, 26.7.5."""
    from statistics import NormalDist  # slow to import

    z = -NormalDist().inv_cdf(alpha / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    student: float = z + sum(term / freedom**i for i, term in enumerate(terms, start=1))
    return student
