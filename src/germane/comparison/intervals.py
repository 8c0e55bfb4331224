"""Intervals: of a mean difference from its spread, or from the range of the measure where that says too little."""

import math
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.core.bootstrap import Interval, estimate_interval
from germane.core.bounded_means import Span, count_events, estimate_bounded_interval, shows_spread
from germane.core.ragged import Floats, Ints
from germane.measures import Definition

Basis: TypeAlias = Literal["spread", "range"]

FEWEST = 5  # queries of an interval
EVENTS = 5.0  # queries that make up the spread; calibrated in bench/significance.py
UNSEEN = 0.5  # queries that vary as much as the one that varies most, and were not drawn

UNBOUNDED = frozenset((
    "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "Utility", "YAAP", "DCG", "IDCG", "LastRank",
    "alpha_DCG", "ERR_IA",
))  # fmt: skip


def find_span(measure: Any, values: Floats) -> Span:
    """Find the range of a measure's values: from 0 to 1, or what is known of it from these values."""
    low, high = min(0.0, float(values.min())), float(values.max())
    row = getattr(measure, "row", None)
    if isinstance(row, Definition) and row.name not in UNBOUNDED:
        return Span(-1.0 if row.name == "MCC" else low, max(1.0, high))
    return Span(low, high if high > low else low + 1.0)


def find_span_of_differences(measure: Any, values: Floats) -> Span:
    """Find the range of differences between values of a measure."""
    span = find_span(measure, values)
    return Span(span.low - span.high, span.high - span.low)


def estimate_difference(
    differences: Floats, weights: Floats, centered: Floats, strata: Ints, span: Span, alpha: float
) -> tuple[Interval, Basis]:
    """Estimate the 1 - alpha interval of a mean difference, and say what it comes from.

    ``centered`` holds each query's part of the mean less the mean part of its data set. Where the
    differences of ``EVENTS`` queries or more make up the spread, it is the BCa bootstrap, widened for rare
    differences that were not drawn. Elsewhere the spread says too little, and the range of the measure
    takes its place.
    """
    apart = centered / weights
    mean = float(weights @ differences)
    if count_events(apart, weights) < EVENTS or not shows_spread(differences, apart, weights, span):
        return estimate_bounded_interval(differences, weights, span, 1 - alpha), "range"
    plain = estimate_interval(centered, strata, mean, alpha)
    squares = centered**2
    factor = math.sqrt(1 + UNSEEN * float(np.max(squares)) / float(np.sum(squares)))
    low, high = (mean + factor * (end - mean) for end in (plain.low, plain.high))
    return Interval(low, high, plain.confidence), "spread"
