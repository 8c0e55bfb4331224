"""Paths of files, and their limits."""

from __future__ import annotations

import math
import os
import stat
from typing import Any, TypeAlias

from germane.core.arguments import is_number
from germane.errors import InputError, PolicyError, clip

Path: TypeAlias = str | os.PathLike[str]


def is_path(raw: object) -> bool:
    return isinstance(raw, str) or hasattr(type(raw), "__fspath__")


def check_path(raw: object) -> None:
    """Raise InputError unless this is a path."""
    if not is_path(raw):
        raise InputError(f"a file is named by its path; got {clip(raw)}")


def refuse_device(path: Path) -> None:
    """Raise InputError for a device or a socket, which has no end or no content."""
    mode = os.stat(path).st_mode
    is_pipe = stat.S_ISFIFO(mode) or os.path.samefile(path, os.devnull)
    if not (is_pipe or stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{os.fsdecode(path)}: this is a device, not a file.")


def refuse_special(path: Path) -> None:
    """Raise InputError for what is no ordinary file, such as a pipe, where files are read by name.

    Whoever reads a folder would wait for a pipe in it without an end.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{os.fsdecode(path)}: this is a pipe or a device, not a file.")


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
        text = "It is how many times larger than a compressed file its content may be."
        limited.max_expansion = _read_limit("max_expansion", max_expansion, text)
    if max_line is not None:
        text = "It is how many bytes a line may have."
        limited.max_line = _read_limit("max_line", max_line, text)
    return limited


def _read_limit(name: str, raw: object, noun: str) -> float:
    number = math.inf if isinstance(raw, str) and raw == "none" else raw
    if not is_number(number) or not number >= 1:
        raise PolicyError(f"{name} takes a number from 1, or none; got {clip(raw)}.  {noun}")
    return number


def name_file(path: Path) -> str:
    """Name a file in errors."""
    named = os.fsdecode(path)
    return "standard input" if named == "-" else named
