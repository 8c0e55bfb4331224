"""Python numbers → doubles, strictly: text is not a number, and neither is NaN."""

import math
import struct
import sys
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from germane.core.ragged import FEW, Floats
from germane.errors import typed

EXACT = 2.0**53
"""Beyond this size doubles do not hold every whole number."""


def doubles(values: Collection[Any], largest: float | None = None) -> Floats | None:
    """Finite doubles, or None where one of the values is not a finite number, or too large.

    ``struct`` refuses what ``float()`` and NumPy would convert ('1.5', None), and is the fastest
    way from Python floats to an array.
    """
    try:
        packed = np.frombuffer(struct.pack(f"{len(values)}d", *values))
    except (struct.error, TypeError, ValueError, OverflowError):
        return None
    few = packed.tolist() if len(packed) <= FEW else ()
    if few and math.isfinite(sum(few)):
        within = largest is None or (-largest <= min(few) and max(few) <= largest)
    else:
        small = np.abs(packed) <= (largest or sys.float_info.max)
        within = np.count_nonzero(small) == len(packed)
    return packed if within else None


def is_finite_number(value: Any) -> bool:
    """Is this one of the values that ``doubles`` accepts, and no other kind of value that converts?"""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    dimensions = getattr(value, "ndim", 0)  # NumPy before 2 takes the only number out of an array
    if isinstance(value, (complex, np.void)) or kind in _OTHER_KINDS or dimensions:
        return False
    return doubles((value,)) is not None


def show_number(value: Any) -> str:
    """A value that is no finite number in an error message."""
    try:
        large = not isinstance(value, (str, bytes)) and value == value and abs(value) != math.inf
        return typed(value) + ", which is beyond the range of a double" * (
            large and _overflows(value)
        )
    except (TypeError, ValueError, ArithmeticError):
        return typed(value)


def _overflows(value: Any) -> bool:
    try:
        return math.isinf(float(value))
    except OverflowError:
        return True


_OTHER_KINDS = tuple("cSUmM")  # NumPy's complex numbers, text and times
ORDINARY = frozenset({int, float, bool, np.float64, np.float32, np.int64, np.int32, np.bool_})
"""Types of which every value is a number."""

_FINER = frozenset({"Decimal", "Fraction", "longdouble", "float128"})  # importing them takes time


def may_round(scores: Collection[Any]) -> bool:
    """Is any of these of a type whose numbers have more digits than doubles?"""
    return any(kind.__name__ in _FINER for kind in set(map(type, scores)))


def count_rounded(given: Sequence[Any], scores: Floats) -> int:
    """How many scores become equal to another as doubles."""
    if not len(given) or (np.abs(scores).max() < EXACT and not may_round(given)):
        return 0
    return len(set(given)) - len(set(scores.tolist()))
