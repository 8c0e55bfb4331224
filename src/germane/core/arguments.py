"""Arguments as callers give them: columns and arrays of any library, whole numbers, and seeds."""

import math
import sys
from collections.abc import Iterable
from operator import index
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from germane.errors import InputError, clip


def list_values(raw: Any) -> Any:
    """Turn an array or a column of any library into a list; return other values as they are."""
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(raw, name):
            return getattr(raw, name)()
    return raw


def parse_whole(raw: Any) -> int | None:
    """Turn an integer of any type into Python's; None for anything else, True and False too."""
    if isinstance(raw, (bool, np.bool_)):  # which NumPy 1 takes for 0 and 1, with a warning
        return None
    try:
        return index(raw)
    except TypeError:
        return None


def read_decimal(text: str) -> float:
    """Read a number in ASCII digits. Raises ValueError for others, and for Python's ``1_000``."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def read_numbers(raw: Iterable[Any]) -> tuple[float, ...]:
    """Read numbers, or text of them. Raises TypeError or ValueError for anything else."""
    listed = list(raw)
    if any(isinstance(value, (bool, np.bool_)) for value in listed):
        raise TypeError
    return tuple(
        read_decimal(value) if isinstance(value, str) else float(value) for value in listed
    )


def is_number(raw: object) -> TypeGuard[float]:
    """Is this a number of Python or NumPy? NaN and infinity are, but not True, False or 10**400."""
    if isinstance(raw, int):
        return not isinstance(raw, bool) and abs(raw) <= sys.float_info.max
    return isinstance(raw, (float, np.number))


def check_number(name: str, raw: Any, low: float, high: float = math.inf) -> None:
    """Raise InputError unless an argument is a number between two others."""
    if not is_number(raw) or not low < raw < high:
        within = f"between {low} and {high}" if high < math.inf else f"above {low}"
        raise InputError(f"{name} takes a number {within}; got {clip(raw)}")


Seed: TypeAlias = "int | np.random.Generator"  # in quotes: numpy.random takes longer to import


def make_generator(rng: Any) -> "np.random.Generator":
    """Make a random generator of a seed, or return a given one. Raises InputError for others."""
    try:
        if not isinstance(rng, bool):
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"rng takes a seed, which is a whole number from 0, or a NumPy generator; got {clip(rng)}"
    )
