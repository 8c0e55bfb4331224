"""Rounding: which numbers differ by no more than the rounding of floating point.

0.3 - 0.2 is not 0.1 in floating point. A test that ranks differences, an interval that counts them
and a list that is sorted by them must not depend on such a last bit.
"""

import math

import numpy as np

from germane.core.ragged import Floats

ROUNDING = 1e-12  # relative; sums of thousands of terms are nearer than this to their exact value
CANCELED = 2.0**-46  # of the terms of a sum that is nearly 0


def subtract_values(values: Floats, subtrahends: Floats) -> Floats:
    """… × Q: subtract values query by query; what differs by rounding alone becomes equal.

    A difference is 0 if both values are equal but for rounding, and differences of one size have
    exactly the same one, in either direction.
    """
    return unite_equal(values - subtrahends, np.maximum(np.abs(values), np.abs(subtrahends)))


def unite_equal(values: Floats, scales: Floats | None = None) -> Floats:
    """… × Q: replace values whose sizes differ by rounding alone by the smallest of them, or by 0.

    ``scales`` are the sizes of the numbers from which each value was computed, whose rounding it
    has; by default they are those of the values. A value that is NaN equals no other.
    """
    scales = np.abs(values) if scales is None else scales
    united = np.empty(values.shape)
    for place in np.ndindex(values.shape[:-1]):
        united[place] = _unite_row(values[place], scales[place])
    return united


def _unite_row(values: Floats, scales: Floats) -> Floats:
    # A value that is nearly 0 may be a sum of terms that are not, as Utility's. Its rounding is
    # that of the terms, which are hardly larger than the largest value.
    scales = np.where(np.isfinite(scales), scales, 0.0)
    slack = np.maximum(ROUNDING * scales, CANCELED * scales.max(initial=0.0))
    sizes = np.abs(values)
    sizes[sizes <= slack] = 0.0
    order = np.argsort(sizes, kind="stable")
    ascending, slack = sizes[order], slack[order]
    near = np.zeros(len(values), bool)
    near[1:] = np.diff(ascending) <= np.maximum(slack[1:], slack[:-1])
    near[1:] &= (ascending[1:] == 0) | (ascending[:-1] > 0)
    first = np.maximum.accumulate(np.where(near, 0, np.arange(len(values))))
    united = np.empty(len(values))
    united[order] = ascending[first]
    return np.copysign(united, values) + 0.0  # no -0.0


def drop_rounding(values: Floats, scale: "Floats | float") -> Floats:
    """Replace results of a subtraction by 0 if they are the rounding of numbers of this size."""
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values)


def is_near(value: float, second: float) -> bool:
    """Say whether two numbers are equal but for rounding."""
    return math.isclose(value, second, rel_tol=ROUNDING)


def reaches(value: float, least: float, scale: float = 0.0) -> bool:
    """Say whether a number is at least as large as another, or equal but for rounding.

    ``scale`` is the size of the numbers that they were computed from, if these are larger.
    """
    return value >= least - ROUNDING * max(abs(value), abs(least), scale)
