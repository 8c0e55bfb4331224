"""Numbers as text and as JSON, and the version that every JSON document carries."""

import math
from collections.abc import Mapping
from typing import Any, Literal

SCHEMA = 1
"""The version of the JSON documents: it changes when a key changes its meaning or goes."""


def add_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON document: the version of its schema, and the fields."""
    return {"schema": SCHEMA, **fields}


def format_number(
    value: float | None,
    digits: int | None,
    *,
    sign: Literal["", "+", "z"] = "",
    nan: str = "nan",
) -> str:
    """Write a number with so many decimals, or with all of them for None; nothing for no number.

    ``sign`` is as in a format string: ``+`` shows the sign of positive numbers too, ``z`` writes a
    number that rounds to 0 without one. A negative zero is written as 0.
    """
    if value is None:
        return ""
    if math.isnan(value):
        return nan
    value = float(value) + 0.0  # no -0.0000
    return repr(value) if digits is None else f"{value:{sign}.{digits}f}"


def format_short(value: float) -> str:
    """Write a number whole where it is whole, and with four decimals otherwise."""
    return f"{value:.0f}" if value == round(value) else f"{value:.4f}"


def to_json_number(value: float) -> float | None:
    """Return a number as JSON has it: None for NaN and infinity."""
    return value if math.isfinite(value) else None


def write_count(count: int, one: str, more: str | None = None) -> str:
    """Write a number of things: ``1 query``, ``2,000 queries``; the plural is with s, or as given."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
