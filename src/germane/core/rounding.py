"""Rounding: numbers that differ by no more than floating point does, and those that tie."""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

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


# --- Arithmetic and comparisons of values that stand for a number ---------------------------------

Halves: TypeAlias = Literal["up", "even"]
"""Where a half is rounded to."""


def average_numbers(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN where there are none."""
    numbers = [value for value in values if value == value]
    return math.fsum(numbers) / len(numbers) if numbers else math.nan


def _apply(operate: Callable[[Any, Any], Any], *, reflected: bool = False) -> Callable[..., Any]:
    def compute(self: Any, other: Any) -> Any:
        mine, second = float(self), float(other) if isinstance(other, Arithmetic) else other
        return operate(second, mine) if reflected else operate(mine, second)

    return compute


class Arithmetic:
    """Computes and compares with the ``float()`` of a value. Results are plain numbers."""

    def __float__(self) -> float:
        raise NotImplementedError

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __hash__(self) -> int:
        return hash(float(self))

    __eq__ = _apply(operator.eq)
    __lt__, __le__ = _apply(operator.lt), _apply(operator.le)
    __gt__, __ge__ = _apply(operator.gt), _apply(operator.ge)
    __add__, __radd__ = _apply(operator.add), _apply(operator.add, reflected=True)
    __sub__, __rsub__ = _apply(operator.sub), _apply(operator.sub, reflected=True)
    __mul__, __rmul__ = _apply(operator.mul), _apply(operator.mul, reflected=True)
    __truediv__, __rtruediv__ = (_apply(operator.truediv), _apply(operator.truediv, reflected=True))
