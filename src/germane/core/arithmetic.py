"""Arithmetic and comparisons of values that stand for a number."""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

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
