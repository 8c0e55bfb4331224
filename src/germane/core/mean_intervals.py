"""Intervals of means and of mean differences: the one estimator for every printed mean.

It takes the spread of the values where they show it, and otherwise the range in which every value
lies.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from germane.core.bootstrap import Interval, estimate_interval
from germane.core.bounded_means import Span, count_events, estimate_bounded_interval, shows_spread
from germane.core.ragged import Floats, Ints
from germane.core.rounding import drop_rounding, reaches, unite_equal

FEWEST = 5  # values of an interval
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
    if len(values) < FEWEST:
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
    values: Floats, shares: Floats, centered: Floats, strata: Ints, span: Span, mean: float,
    alpha: float
) -> Interval:  # fmt: skip
    """Estimate the 1 - alpha interval of the mean of weighted values in strata.

    ``shares`` are the weights of the values and add up to 1; ``centered`` holds each value's part
    of the mean less the mean part of its stratum. Where ``EVENTS`` values or more make up the
    spread, it is the BCa bootstrap, widened for rare values that were not drawn. Elsewhere the
    spread says too little, and ``span``, in which every value lies, takes its place.
    """
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


def describe_intervals(intervals: Iterable[Interval | None], units: str) -> str:
    """Describe what intervals come from, as the end of a sentence; nothing where there are none."""
    bases = {interval.basis for interval in intervals if interval is not None}
    from_range = "from the range of the measure (Gaffke 2005)"
    if bases == {"range"}:
        return f"{from_range}, as the {units} show too little of the spread"
    also = f"; {from_range} where they show too little of the spread" * ("range" in bases)
    return f"BCa bootstrap of the {units}{also}" if bases else ""


def explain_missing(units: str) -> str:
    """Explain why means of few values have no interval."""
    return f"fewer than {FEWEST} {units} say too little of others for an interval"


def explain_printed(
    intervals: Iterable[Interval | None], number: str, confidence: float, units: str
) -> Iterator[str]:
    """Explain the intervals that stand below numbers, and why means of few values have none."""
    every = list(intervals)
    if source := describe_intervals(every, units):
        yield f"Below each {number}: its {100 * confidence:g}% interval, {source}."
    if None in every:
        yield f"{explain_missing(units).capitalize()}."


def caution_of_few(count: int, units: str) -> str:
    """Say what few values allow."""
    intervals = "no intervals" if count < FEWEST else "intervals are rough"
    return f"Few {units} ({count}): {intervals}, and only large differences can be shown."
