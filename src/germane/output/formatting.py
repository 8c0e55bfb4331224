"""Numbers as text and as JSON, and the version that every JSON document carries."""

import math
from collections.abc import Mapping
from typing import Any, Literal

SCHEMA = 1
"""The version of the JSON documents. It changes when a key is removed or changes its meaning."""


def add_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Put the version of the schema before the fields of a JSON document."""
    return {"schema": SCHEMA, **fields}


def format_number(
    value: float | None,
    digits: int | None,
    *,
    sign: Literal["", "+", "z"] = "",
    nan: str = "nan",
) -> str:
    """Write a number with ``digits`` decimals, or with all of them for None; no number is empty
    text.

    ``sign`` is an option of format strings: ``+`` shows the sign of positive numbers too, ``z``
    writes no sign before a number that rounds to 0. A negative zero is written as 0.
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
    """Replace NaN and infinity, which JSON does not have, by None."""
    return value if math.isfinite(value) else None


def write_count(count: int, singular: str, plural: str | None = None) -> str:
    """Write a number of things: ``1 query``, ``2,000 queries``; the plural may be given."""
    return f"{count:,} {singular if count == 1 else plural or pluralize(singular)}"


def pluralize(word: str) -> str:
    """Write the plural of a word: queries, boxes, images."""
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x")) else "s")
