"""Arguments as callers give them: columns and arrays of any library, whole numbers, and seeds."""

from operator import index
from typing import Any, TypeAlias

import numpy as np

from germane.errors import InputError, clip


def list_values(given: Any) -> Any:
    """The list that an array or a column of any library holds; others as they are."""
    if type(given) is list:
        return given
    ways = (getattr(given, name, None) for name in ("tolist", "to_list", "to_pylist"))
    return next((way() for way in ways if way is not None), given)


def parse_whole(given: Any) -> int | None:
    """An integer of any type as Python's; None for anything else, and for True and False."""
    if isinstance(given, (bool, np.bool_)):  # NumPy 1 takes its own for 0 and 1, with a warning
        return None
    try:
        return index(given)
    except TypeError:
        return None


Seed: TypeAlias = "int | np.random.Generator"  # in quotes: numpy.random takes longer to import


def make_generator(rng: Any) -> "np.random.Generator":
    """The generator that is given, or that of a seed. Raises InputError for anything else."""
    try:
        if not isinstance(rng, bool):
            return np.random.default_rng(rng)
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"rng takes a seed, which is a whole number from 0, or a NumPy generator; got {clip(rng)}"
    )
