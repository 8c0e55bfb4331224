"""Whole numbers that are given: Python's, NumPy's, and of any other type of integers."""

from operator import index
from typing import Any


def whole(given: Any) -> int | None:
    """An integer of any type as Python's; None for anything else, and for True and False."""
    try:
        return None if isinstance(given, bool) else index(given)
    except TypeError:
        return None
