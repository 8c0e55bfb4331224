"""Intervals of means and of mean differences: the one estimator for every printed mean."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from germane.core.calls import check_number
from germane.core.ragged import ROUNDING, Floats, Ints, drop_rounding, reaches, unite_equal
from germane.errors import InputError
from germane.output.attributes import AttributeAdvice

Basis: TypeAlias = Literal["spread", "range"]


@dataclass(frozen=True)
class Interval(AttributeAdvice):
    """A confidence interval of a mean or of a mean difference.

    >>> qrels = {f"q{i}": ["a"] for i in range(8)}
    >>> run = {f"q{i}": ["a", "b"] if i % 2 else ["b", "a"] for i in range(8)}
    >>> interval = germane.evaluate(qrels, run, "RR")["RR"].interval()
    >>> 0.75 in interval, interval.level
    (True, '95%')
    """

    FEWEST: ClassVar = 5  # values of an interval
    FEW: ClassVar = 25  # values below which only large differences show

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

    @staticmethod
    def check_confidence(confidence: Any) -> None:
        """Refuse a confidence that is not a number between 0 and 1. Raises InputError."""
        check_number("confidence", confidence, 0, 1)

    @staticmethod
    def describe_all(intervals: Iterable["Interval | None"], units: str) -> str:
        """Describe what intervals come from, as the end of a sentence; "" for none."""
        bases = {interval.basis for interval in intervals if interval is not None}
        from_range = "from the range of the measure (Gaffke 2005)"
        if bases == {"range"}:
            return f"{from_range}, because the {units} show too little of the spread"
        also = f"; {from_range} where they show too little of the spread" * ("range" in bases)
        return f"BCa bootstrap of the {units}{also}" if bases else ""

    @classmethod
    def explain_missing(cls, units: str) -> str:
        """Explain why means of few values have no interval."""
        return f"fewer than {cls.FEWEST} {units} tell too little about others for an interval"


def estimate_interval(centered: Floats, strata: Ints, mean: float, alpha: float) -> Interval:
    """Estimate the 1 - alpha interval of a mean, or of a mean difference.

    ``centered`` holds each query's part of the mean less the mean part of its stratum. Each stratum
    has two queries or more.
    """
    freedom = len(strata) - len(np.unique(strata))
    low, high = estimate_bca(centered, strata, widen_quantile(alpha, freedom))
    return Interval(mean + low, mean + high, 1 - alpha)


def estimate_spread_interval(spread: Floats, alpha: float) -> Interval | None:
    """Estimate the interval of a number of all lists that was spread over groups of users.

    None for few groups, and if these do not vary: their range says nothing about the number.
    """
    centered = spread - spread.mean()
    scale = float(np.abs(spread).max(initial=0.0))
    if len(spread) < Interval.FEWEST or not float(np.abs(centered).max()) > ROUNDING * scale:
        return None
    parts = centered / len(spread)
    return estimate_interval(parts, np.zeros(len(spread), int), float(spread.mean()), alpha)


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


# --- Bounded means: intervals of means of values in a known range, for any number of values -------
#
# An interval from the spread of a sample fails where the sample hides it: ten queries with the
# value 1 say nothing of the query with the value 0 that was not drawn. These intervals give the
# ends of the range a weight.

# Calibrated in bench/significance.py:
FAR = 4.0  # values at the far end of the range that a spread must be worth
MIDDLE, SEVERAL = 0.5, 6.0  # or: the part of the range that the mean must be in, of so many values
# Or of so many values, whose deviation is at most this part of the way to the far end:
WEIGHT_OF_FEW, CLOSE = 5.0, 0.3
STEP, POINTS = 0.15, 70  # of the integral, whose points are so far apart in their logarithm


@dataclass(frozen=True)
class Span:
    """The range of values: no value is below or above it.

    Where nothing but the values themselves says where they end, ``room`` is how far beyond these
    others may be.
    """

    low: float
    high: float
    room: float = 0.0

    def extend(self) -> "Span":
        """Add the room at each end, but not below 0 if no value is."""
        return Span(self.low and self.low - self.room, self.high + self.room)


def count_events(centered: Floats, shares: Floats) -> float:
    """Count the values that make up a spread: as many as would vary this much if each varied as
    much.

    This is (Σ v)² ÷ Σ v², where v is the part of each value in the variance of the mean. If k of n
    values are 1 and the others 0, it is near k; if all are equal, it is 0.
    """
    parts = (shares * centered) ** 2
    squares = float(np.sum(parts**2))
    return float(np.sum(parts)) ** 2 / squares if squares > 1e-60 else 0.0


def shows_spread(values: Floats, centered: Floats, shares: Floats, span: Span) -> bool:
    """Say whether values far from the mean, which the sample may lack, matter little beside its
    spread.

    They do where the variance is at least that of ``FAR`` values at the far end of the range, or
    where the mean of ``SEVERAL`` values or more is in the middle half of the range, or of
    ``WEIGHT_OF_FEW`` values that hardly vary beside the range.
    """
    heaviest, mean = float(shares.max()), float(shares @ values)
    above, below = span.high - mean, mean - span.low
    spread, far = float(np.sum((shares * centered) ** 2)), (heaviest * max(above, below)) ** 2
    if reaches(spread, FAR * far):
        return True
    if not reaches(min(above, below), MIDDLE * (span.high - span.low) / 2):
        return False
    is_close = reaches(1, heaviest * WEIGHT_OF_FEW) and reaches(
        CLOSE**2 * WEIGHT_OF_FEW * far, spread
    )
    return reaches(1, heaviest * SEVERAL) or is_close


def estimate_bounded_interval(
    values: Floats, shares: Floats, span: Span, confidence: float
) -> Interval:
    """Estimate the interval of a mean of values in a range, for any number of them and any
    distribution.

    ``shares`` are the weights of the values and add up to 1. The upper end is the quantile of the
    mean with random weights, those of the Bayesian bootstrap, where one more value is at the upper
    end of the range; the lower end likewise (Gaffke 2005). For values of yes and no, these are the
    intervals of Clopper and Pearson (1934). For others, no distribution is known for which they
    hold the mean less often than they say (Learned-Miller and Thomas 2020).
    """
    tail = (1 - confidence) / 2
    low = -_find_end(-values, shares, -span.low, tail)
    return Interval(low, _find_end(values, shares, span.high, tail), confidence, "range")


def _find_end(values: Floats, shares: Floats, top: float, tail: float) -> float:
    """Find the upper end: the weighted mean of the values and ``top`` is above it with probability
    ``tail``.
    """
    scale = shares / shares.max()
    distinct, times = values, np.ones(len(values), int)
    if scale.min() == 1.0:
        distinct, times = np.unique(values, return_counts=True)
        scale = np.ones(len(distinct))
    distinct, scale = np.append(distinct, top), np.append(scale, 1.0)
    counts = np.append(times.astype(float), 1.0)
    lowest = float(distinct.min())
    width = top - lowest
    if width <= ROUNDING * max(abs(lowest), abs(top)):
        return top
    wanted = math.sqrt(-2 * math.log(tail))

    @cache
    def miss(end: float) -> float:  # nearly a straight line, as normal quantiles are
        above = _compute_exceedance(scale * (distinct - end) / width, counts)
        return wanted - math.sqrt(-2 * math.log(min(1.0, max(above, 1e-300))))

    near, far = lowest + 1e-9 * width, top - 1e-12 * width
    parts = counts * scale / (counts @ scale)
    mean = float(parts @ distinct)
    error = math.sqrt(float(parts**2 / counts @ (distinct - mean) ** 2))
    for errors in (1.5, 2.5, 5):
        guess = mean + min(errors * error, (1 - 0.5**errors) * (far - mean))
        if miss(guess) <= 0:
            far = guess
            break
        near = guess
    return find_root(miss, near, far) if miss(far) < 0 else top


def _compute_exceedance(sizes: Floats, counts: Floats) -> float:
    """Compute the probability that the sum of exponential variables times their sizes is above 0.

    The inversion integral of the moment generating function, on a line near its saddlepoint, in
    steps of the hyperbolic sine.
    """
    if sizes.max() <= 0:
        return 0.0
    if sizes.min() >= 0:
        return 1.0
    if counts @ sizes > 0:
        return 1 - _compute_exceedance(-sizes, counts)
    pole = 1 / float(sizes.max())
    tilt = _find_saddlepoint(sizes, counts, pole)
    ratios = sizes / (1 - tilt * sizes)
    deviation = math.sqrt(float(counts @ ratios**2))
    tilt = max(tilt, min(0.25 / deviation, pole / 4))
    width = min(1 / deviation, tilt, pole - tilt)
    places = STEP * np.arange(POINTS)
    line = tilt + 1j * width * np.sinh(places)
    ratios = sizes / (1 - tilt * sizes)
    factors = 1 / (1 - 1j * np.outer(ratios, line.imag))
    are_several = counts > 1
    factors[are_several] **= counts[are_several, None]
    terms = (np.multiply.reduce(factors, axis=0) / line).real * np.cosh(places)
    terms[0] /= 2
    moment = math.exp(-float(counts @ np.log(1 - tilt * sizes)))
    return float(STEP * width / math.pi * moment * terms.sum())


def _find_saddlepoint(sizes: Floats, counts: Floats, pole: float) -> float:
    """Find the place between 0 and the pole where the tilted mean is 0, roughly, by Newton's
    method.
    """
    low, high = 0.0, pole
    tilt = pole / 2
    for _ in range(50):
        ratios = sizes / (1 - tilt * sizes)
        mean, variance = float(counts @ ratios), float(counts @ ratios**2)
        if mean**2 < 1e-4 * variance:
            break
        low, high = (tilt, high) if mean < 0 else (low, tilt)
        tilt -= mean / variance
        if not low < tilt < high:
            tilt = (low + high) / 2
    return tilt


# --- Intervals of means and of mean differences: the one estimator for every printed mean ---------
#
# It takes the spread of the values where they show it, and otherwise the range in which every
# value lies.

EVENTS = 5.0  # values that make up the spread; calibrated in bench/significance.py
UNSEEN = 1.0  # values that vary as much as the one that varies most, and were not drawn


def estimate_mean_interval(
    values: Floats, span: Span, confidence: float, weights: Floats | None = None
) -> Interval | None:
    """Estimate the interval of the mean of values of one weight, or of their own; None for few
    values.

    Of a weighted mean, a quotient of two sums, the parts are those of its linear approximation.
    Values without weight do not count.
    """
    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    if len(values) < Interval.FEWEST:
        return None
    values = unite_equal(values)
    if weights is None:
        shares = np.full(len(values), 1 / len(values))
        mean = float(values.mean())
    else:
        shares = weights / weights.sum()
        mean = float(shares @ values)
    strata, centered = np.zeros(len(values), int), (values - mean) * shares
    interval = estimate_weighted_interval(
        values, shares, centered, strata, span, mean, 1 - confidence
    )
    return replace(interval, confidence=confidence)


def estimate_weighted_interval(
    values: Floats, shares: Floats, centered: Floats, strata: Ints, span: Span | None, mean: float,
    alpha: float
) -> Interval:  # fmt: skip
    """Estimate the 1 - alpha interval of the mean of weighted values in strata.

    ``shares`` are the weights of the values and add up to 1; ``centered`` holds each value's part
    of the mean less the mean part of its stratum. Where ``EVENTS`` values or more make up the
    spread, it is the BCa bootstrap, widened for rare values that were not drawn. Elsewhere the
    spread says too little, and ``span``, in which every value lies, takes its place. Values of a
    jackknife have no span.
    """
    if span is None:
        return estimate_interval(centered, strata, mean, alpha)
    centered = drop_rounding(centered, float(np.abs(values * shares).max()))
    apart = centered / shares
    events = count_events(apart, shares)
    if reaches(events, EVENTS) and shows_spread(values, apart, shares, span):
        interval = estimate_interval(centered, strata, mean, alpha)
        squares = centered**2
        factor = math.sqrt(1 + UNSEEN * float(np.max(squares)) / float(np.sum(squares)))
        low, high = (mean + factor * (end - mean) for end in (interval.low, interval.high))
        if not span.room:
            low, high = max(low, span.low), min(high, span.high)
    else:
        interval = estimate_bounded_interval(values, shares, span.extend(), 1 - alpha)
        low, high = interval.low, interval.high
    low, high = drop_rounding(np.array([low, high]), abs(mean) + high - low).tolist()
    return replace(interval, low=low, high=high)


# --- Dispersion: how much a mean difference varies, and the tests that need no resampling ---------


@dataclass(frozen=True)
class Dispersion:
    """The standard error of a mean difference, and the degrees of freedom it was estimated with."""

    POWER: ClassVar = 0.8

    error: float
    freedom: float
    queries: int

    @classmethod
    def measure(cls, centered: Floats, strata: Ints) -> "Dispersion | None":
        """Measure how much a sum of weighted differences varies; each is less its data set's mean.

        Degrees of freedom are Welch and Satterthwaite's where there are several data sets. Returns
        None where a data set has a single query, since one difference has no variance.
        """
        sizes = np.bincount(strata)
        if sizes.min() < 2:
            return None
        variance = np.bincount(strata, centered**2) * sizes / (sizes - 1)
        total = float(variance.sum())
        if not total:
            return cls(0.0, float(len(strata) - len(sizes)), len(strata))
        freedom = total**2 / float(np.sum(variance**2 / (sizes - 1)))
        return cls(math.sqrt(total), freedom, len(strata))

    @property
    def deviation(self) -> float:
        """The standard deviation of one query's difference (within data sets, where there are
        several).
        """
        return self.error * math.sqrt(self.queries)

    def find_detectable(self, alpha: float) -> float | None:
        """Find the smallest true difference that a paired t-test detects with a probability of 0.8.

        It is the normal approximation with Guenther's correction (1981), which is within 2% from
        ten queries on. Returns None where the approximation fails: for fewer than five queries, or
        for too few beside a small alpha.
        """
        from statistics import NormalDist

        normal = NormalDist()
        z = -normal.inv_cdf(alpha / 2)
        if self.queries < max(5, 1.25 * z * z) or not self.error:
            return None
        widened = math.sqrt(self.queries / (self.queries - z * z / 2))
        return (z + normal.inv_cdf(self.POWER)) * self.error * widened

    def count_needed(self, difference: float, alpha: float) -> int:
        """Count the queries of which ``difference`` is the smallest that is detected.

        Guenther's approximation, as in ``find_detectable``, solved for the number of queries.
        """
        from statistics import NormalDist

        normal = NormalDist()
        z = -normal.inv_cdf(alpha / 2)
        ratio = (z + normal.inv_cdf(self.POWER)) * self.deviation / abs(difference)
        needed = ratio**2 + z * z / 2
        return max(math.ceil(needed - 1e-9), 5, math.ceil(1.25 * z * z))

    def compute_student_p(self, difference: float) -> float:
        """Compute the two-sided p-value of the paired t-test."""
        if not self.error:
            return 1.0 if not difference else 0.0
        return min(1.0, 2 * _integrate_student(-abs(difference) / self.error, self.freedom))

    def compute_equivalence_p(self, difference: float, bound: float) -> float:
        """Compute the p-value of two one-sided t-tests for a difference within ±bound."""
        if not self.error:
            return 1.0 if reaches(abs(difference), bound) else 0.0
        ends = ((difference - bound) / self.error, (-difference - bound) / self.error)
        return max(_integrate_student(end, self.freedom) for end in ends)


def _integrate_student(t: float, freedom: float) -> float:
    """Compute Student's distribution function."""
    try:
        from scipy.special import stdtr
    except ImportError:
        raise explain_scipy("Student's t") from None
    return float(stdtr(freedom, t))


def explain_scipy(noun: str) -> InputError:
    """Make the error for a statistic that needs SciPy where it is not installed."""
    return InputError(f"{noun} needs SciPy: pip install 'germane[stats]'")
