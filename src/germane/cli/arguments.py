"""Arguments: how texts on the command line are read."""

import argparse
import ast
import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from germane.core.calls import read_decimal
from germane.errors import InputError, check_choice, clip


class InputPath(str):
    """The ``type`` of an argument that names a file or a folder to read, or may name one."""

    __slots__ = ()

    def list_paths(self) -> Iterable[str]:
        return (self,)


class CommandLine(InputPath):
    """A program and its arguments, any of which may be a file."""

    __slots__ = ()

    def list_paths(self) -> Iterable[str]:
        try:
            words = shlex.split(self)
        except ValueError:  # an unclosed quote, which is refused where the program is run
            return ()
        return [part for word in words for part in {word, word.rpartition("=")[2]}]


class OutputPath(str):
    """The ``type`` of an argument that names a file or a folder to write."""

    __slots__ = ()


NONE = object()
"""The word none as a value: None says that an option was not given."""


def choose_from(words: Sequence[Any]) -> Callable[[str], Any]:
    """Make a type of argparse that takes one of these words, which may be numbers."""
    spelled = {str(word): word for word in words}

    def read(text: str) -> Any:
        check_choice("", text, tuple(spelled), argparse.ArgumentTypeError)
        return spelled[text]

    return read


def read_whole(text: str, least: int = 0) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise argparse.ArgumentTypeError(
            f"invalid value {clip(text)}: it takes a whole number from {least} on."
        )
    return int(text)


COUNTED = ("depth", "grades", "queries", "resamples")
"""Numbers of which none is 0."""


def read_count(text: str) -> int:
    """Read a number from 1 on. A 0 is left to the function, which knows what else is too few."""
    return read_whole(text, 1)


def read_fraction(text: str) -> float:
    try:
        number = read_decimal(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"takes a number; got {clip(text)}.")
    return number


def read_size(text: str) -> int:
    """Read a number of bytes, such as 5MB, 800KB or 500000."""
    match = re.fullmatch(r"([0-9]{1,12})(\.[0-9]{1,6})?([KMG]B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"takes a size such as 5MB or 800KB; got {clip(text)}.")
    unit = {"KB": 1e3, "MB": 1e6, "GB": 1e9}[match[3].upper()] if match[3] else 1
    return int(float(match[1] + (match[2] or "")) * unit)


def read_relevant(text: str) -> str | int:
    return text if text in ("judged", "listed") else read_whole(text)


def read_limit(text: str) -> float | str:
    return text if text == "none" else read_fraction(text)


def read_rule(text: str) -> str | int:
    return int(text) if text.isdigit() else text


def read_depth(text: str) -> Any:
    return NONE if text == "none" else read_whole(text)


def read_sides(text: str) -> str | dict[str, str]:
    if "=" not in text:
        return text
    named: dict[str, str] = {}
    for pair in text.split(","):
        side, _, name = pair.partition("=")
        _refuse_second(named, side.strip(), name.strip())
        named[side.strip()] = name.strip()
    return named


def read_columns(text: str) -> dict[str, Any]:
    """Read PART=NAME,…; a part such as ``run.item`` is that of one side."""
    named: dict[str, Any] = {}
    for pair in text.split(","):
        part, equals, name = pair.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"takes PART=NAME, such as query=user; got {pair!r}.")
        side, dot, of_side = part.strip().partition(".")
        target = named.setdefault(side, {}) if dot else named
        _refuse_second(target, of_side or side, name.strip())
        target[of_side or side] = name.strip() or None
    return named


def merge_names(named: Mapping[str, Any], more_names: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the names of an option that stands twice. Raises ArgumentTypeError for a part twice."""
    merged = dict(named)
    for part, name in more_names.items():
        if isinstance(name, Mapping) and isinstance(merged.get(part), Mapping):
            merged[part] = merge_names(merged[part], name)
        else:
            _refuse_second(merged, part, name)
            merged[part] = name
    return merged


def _refuse_second(named: Mapping[str, Any], part: str, name: Any) -> None:
    """Refuse a part that is named twice, since only one of the names can hold."""
    if part in named:
        raise argparse.ArgumentTypeError(
            f"names {part} twice: {part}={named[part] or ''} and {part}={name}. Keep one of them."
        )


def read_areas(text: str) -> dict[str, tuple[float, float]]:
    areas = {}
    for part in text.split(","):
        name, _, ends = part.partition("=")
        low, dash, high = ends.partition("-")
        if not name or not dash:
            raise argparse.ArgumentTypeError(
                f"takes NAME=LOW-HIGH, such as tiny=0-256; got {part!r}."
            )
        areas[name] = (read_fraction(low), read_fraction(high))
    return areas


def read_pairs(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """Read NAME=MEASURE of an option that may be repeated; None if there is none."""
    named = {}
    for pair in pairs or ():
        name, equals, measure = pair.partition("=")
        if not equals or not name.strip() or not measure.strip():
            raise InputError(
                f"names are given as NAME=MEASURE, such as 'MAP=AP@10'; got {clip(pair)}."
            )
        named[name.strip()] = measure.strip()
    return named or None


def read_arguments(pairs: Sequence[str] | None) -> dict[str, Any] | None:
    """Read NAME=VALUE of an option that may be repeated: values of Python, or text."""
    named: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise InputError(f"--call takes NAME=VALUE, such as top_k=10; got {clip(pair)}.")
        if name.strip() in named:
            raise InputError(f"--call sets {name.strip()} twice. Keep one of them.")
        try:
            named[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            named[name.strip()] = text
    return named or None
