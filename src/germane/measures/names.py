"""Names among what a user gives as measures: texts, measures, objects of ir_measures."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard, TypeVar

from germane.errors import MeasureError, clip
from germane.measures.measure import Measure, is_own
from germane.measures.spelling import MOST_WORDS, is_spelled

M = TypeVar("M")


def write_name(raw: object) -> str | None:
    """Write the name of a measure that is an object of ir_measures; None for anything else."""
    for kind in type(raw).__mro__:
        if kind.__name__ == "Measure" and kind.__module__.partition(".")[0] == "ir_measures":
            return str(raw)
    return None


def is_name(raw: object) -> TypeGuard[str]:
    """Is this the name of a measure, or an object that has one and is read like it?"""
    return isinstance(raw, str) or write_name(raw) is not None


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
    names = [name for given in measures for name in list_names(given, kind, split, example)]
    if not names:
        raise MeasureError(f"no measure was given; for instance '{example}'.")
    return names


def split_names(text: str) -> list[str]:
    """Split a string at commas and blanks outside of parentheses.

    Words of one name stay together: ``"mean reciprocal rank, top-5 accuracy nDCG@10"`` is three.
    """
    parts = re.findall(r"(?:[^,()]|\([^()]*\)?|\))+", text)
    names = [
        name
        for part in parts
        for name in _join_words(re.findall(r"(?:[^\s()]|\([^()]*\)?|\))+", part))
    ]
    if not names:
        raise MeasureError("no measure was given; for instance 'AP nDCG@10'.")
    return names


def _join_words(words: list[str]) -> list[str]:
    """Join the words of a name; those that are names by themselves stay apart."""
    own = [is_own(word) for word in words]
    names, at = [], 0
    while at < len(words):
        ends = range(min(len(words), at + MOST_WORDS), at + 1, -1)
        several = (end for end in ends if not all(own[at:end]))
        end = next((end for end in several if is_spelled(" ".join(words[at:end]))), at + 1)
        names.append(" ".join(words[at:end]))
        at = end
    return names


def split_tool(text: str) -> tuple[str, str]:
    """Split a name such as ``trec_eval:map`` into the tool, or "", and its name of the measure."""
    tool, colon, name = text.strip().partition(":")
    is_range = re.fullmatch(r"[\s\d.:]+", name)  # AP50:95
    is_tool = colon and re.fullmatch(r"[\w.+-]+", tool) and not is_range
    return (tool, name.strip()) if is_tool else ("", text)
