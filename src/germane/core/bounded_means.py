"""Bounded means: intervals of means of values in a known range, for any number of values.

An interval from the spread of a sample fails where the sample hides it: ten queries with the value
1 say nothing of the query with the value 0 that was not drawn. These intervals give the ends of the
range a weight.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from germane.core.bootstrap import Interval, find_root
from germane.core.ragged import Floats
from germane.core.rounding import ROUNDING, reaches

# Calibrated in bench/significance.py:
FAR = 4.0  # values at the far end of the range that a spread must be worth
MIDDLE, SEVERAL = 0.5, 6.0  # or: the part of the range that the mean must be in, of so many values
# Or of so many values, whose deviation is at most this part of the way to the far end:
FEW, CLOSE = 5.0, 0.3
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
    where the mean of ``SEVERAL`` values or more is in the middle half of the range, or of ``FEW``
    values that hardly vary beside the range.
    """
    heaviest, mean = float(shares.max()), float(shares @ values)
    above, below = span.high - mean, mean - span.low
    spread, far = float(np.sum((shares * centered) ** 2)), (heaviest * max(above, below)) ** 2
    if reaches(spread, FAR * far):
        return True
    if not reaches(min(above, below), MIDDLE * (span.high - span.low) / 2):
        return False
    is_close = reaches(1, heaviest * FEW) and reaches(CLOSE**2 * FEW * far, spread)
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
