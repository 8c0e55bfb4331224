"""Spans: the range of a measure's values, by its definition or as far as values were seen."""

import math
from typing import Protocol

from germane.core.bounded_means import Span
from germane.core.ragged import Floats
from germane.core.rounding import reaches
from germane.measures.definition import Range


class Ranged(Protocol):
    """Anything that says which values a query can have."""

    @property
    def range(self) -> Range | None: ...


def find_span(measure: Ranged, values: Floats) -> Span:
    """Find the range of a measure's values.

    Where its definition sets no limits, it goes from the lowest of these values, or from 0, to the
    highest, with room for as much again.
    """
    low, high = float(values.min()), float(values.max())
    if measure.range is not None:  # which rounding can exceed
        return Span(min(measure.range[0], low), max(measure.range[1], high))
    low = 0.0 if reaches(low, 0.0, high) else low  # rounding is no value below 0
    width = high - low or 1.0
    return Span(low, low + width, room=width)


def find_span_of_logarithms(measure: Ranged, logarithms: Floats, floor: float) -> Span:
    """Find the range of the logarithms of a measure's values, of which none is below ``floor``."""
    if measure.range is not None:
        return Span(floor, math.log(measure.range[1]))
    width = float(logarithms.max()) - floor or 1.0
    return Span(floor, floor + width, room=width)


def find_span_of_differences(measure: Ranged, values: Floats) -> Span:
    """Find the range of differences between values, few of which come near to its ends."""
    span = find_span(measure, values)
    return Span(span.low - span.high, span.high - span.low)
