"""Paths of files, and their limits."""

from __future__ import annotations

import math
import os
from typing import Any, TypeAlias

from germane.core.arguments import is_number
from germane.errors import InputError, PolicyError, clip

Path: TypeAlias = str | os.PathLike[str]


def is_path(given: object) -> bool:
    return isinstance(given, str) or hasattr(type(given), "__fspath__")


def check_path(given: object) -> None:
    """Raise InputError unless this is a path."""
    if not is_path(given):
        raise InputError(f"a file is named by its path; got {clip(given)}")


EXPANSION = 1000  # times its size: what a compressed file may become, unless more is allowed
LINE = 1 << 20  # bytes that a line may have, unless more is allowed


class LimitedPath(str):
    """A path whose file has limits of its own."""

    max_expansion: float = EXPANSION
    max_line: float = LINE


class KeptPath(LimitedPath):
    """The path of what comes once, such as a pipe, of which there is a copy."""

    copy: Any


def limit_path(path: Path, max_expansion: object, max_line: object) -> Path:
    """Attach limits to a path, if given. Raises PolicyError for one that is no number from 1."""
    if max_expansion is max_line is None:
        return path
    limited = LimitedPath(os.fsdecode(path))
    if max_expansion is not None:
        says = "It is how many times larger than a compressed file its content may be."
        limited.max_expansion = _read_limit("max_expansion", max_expansion, says)
    if max_line is not None:
        says = "It is how many bytes a line may have."
        limited.max_line = _read_limit("max_line", max_line, says)
    return limited


def _read_limit(name: str, given: object, says: str) -> float:
    number = math.inf if isinstance(given, str) and given == "none" else given
    if not is_number(number) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(given)}.  {says}")
    return number


def name_file(path: Path) -> str:
    """Name a file in errors."""
    named = os.fsdecode(path)
    return "standard input" if named == "-" else named
