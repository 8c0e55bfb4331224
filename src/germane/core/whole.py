"""Whole numbers that are given: Python's, NumPy's, and of any other type of integers."""

from operator import index
from typing import Any

import numpy as np


def whole(given: Any) -> int | None:
    """An integer of any type as Python's; None for anything else, and for True and False."""
    if isinstance(given, (bool, np.bool_)):  # NumPy 1 takes its own for 0 and 1, with a warning
        return None
    try:
        return index(given)
    except TypeError:
        return None
