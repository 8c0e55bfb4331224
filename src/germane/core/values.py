"""Columns and arrays of any library as Python values."""

from typing import Any


def listed(given: Any) -> Any:
    """The list that an array or a column of any library holds; others as they are."""
    if type(given) is list:
        return given
    ways = (getattr(given, name, None) for name in ("tolist", "to_list", "to_pylist"))
    return next((way() for way in ways if way is not None), given)
