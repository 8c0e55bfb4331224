"""Arguments as callers give them: columns and arrays of any library, whole numbers, and seeds."""

import math
import sys
from operator import index
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from germane.errors import InputError, clip


def list_values(given: Any) -> Any:
    """Turn an array or a column of any library into a list; return other values as they are."""
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(given, name):
            return getattr(given, name)()
    return given


def parse_whole(given: Any) -> int | None:
    """Turn an integer of any type into Python's; None for anything else, True and False too."""
    if isinstance(given, (bool, np.bool_)):  # which NumPy 1 takes for 0 and 1, with a warning
        return None
    try:
        return index(given)
    except TypeError:
        return None


def is_number(given: object) -> TypeGuard[float]:
    """Is this a number of Python or NumPy? NaN and infinity are, but not True, False or 10**400."""
    if isinstance(given, int):
        return not isinstance(given, bool) and abs(given) <= sys.float_info.max
    return isinstance(given, (float, np.number))


def check_number(name: str, given: Any, low: float, high: float = math.inf) -> None:
    """Raise InputError unless an argument is a number between two others."""
    if not is_number(given) or not low < given < high:
        within = f"between {low} and {high}" if high < math.inf else f"above {low}"
        raise InputError(f"{name} takes a number {within}; got {clip(given)}")


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
