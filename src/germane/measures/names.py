"""Names among what a user gives as measures: texts, measures, objects of ir_measures."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, TypeVar

from germane.errors import MeasureError, clip
from germane.measures.measure import Measure

M = TypeVar("M")


def write_name(given: object) -> str | None:
    """Write the name of a measure that is an object of ir_measures; None for anything else."""
    for kind in type(given).__mro__:
        if kind.__name__ == "Measure" and kind.__module__.partition(".")[0] == "ir_measures":
            return str(given)
    return None


def is_name(given: object) -> TypeGuard[str]:
    """Is this the name of a measure, or an object that has one and is read like it?"""
    return isinstance(given, str) or write_name(given) is not None


def list_names(
    measures: Any,
    kind: type[M],
    split: Callable[[str], list[str]] | None = None,
    example: str = "AP nDCG@10",
) -> list[str | M]:
    """List the names in a string, or in several, and the measures of a kind among them."""
    if isinstance(measures, str):
        return [*(split or split_names)(measures)]
    if isinstance(measures, kind):
        return [measures]
    if kind is Measure and write_name(measures) is not None:
        return [measures]
    if isinstance(measures, (Mapping, bytes)) or not isinstance(measures, Iterable):
        raise MeasureError(
            f"measures are a string such as '{example}' or a list; got {clip(measures)}"
        )
    names = [one for given in measures for one in list_names(given, kind, split, example)]
    if not names:
        raise MeasureError(f"no measure was given; for instance '{example}'.")
    return names


def split_names(text: str) -> list[str]:
    """Split a string at blanks and commas outside of parentheses."""
    names = re.findall(r"(?:[^\s,()]|\([^()]*\)?|\))+", text)
    if not names:
        raise MeasureError("no measure was given; for instance 'AP nDCG@10'.")
    return names


def split_tool(text: str) -> tuple[str, str]:
    """Split a name such as ``trec_eval:map`` into the tool, or "", and its name of the measure."""
    tool, colon, name = text.strip().partition(":")
    return (tool, name.strip()) if colon and "(" not in tool else ("", text)
