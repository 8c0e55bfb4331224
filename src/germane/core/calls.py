"""Calls: arguments as callers give them, seeds, and the progress of long calls."""

import math
import sys
import time
from collections.abc import Callable, Iterable
from operator import index
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from germane.errors import InputError, clip, make_visible


def list_values(raw: Any) -> Any:
    """Turn an array or a column of any library into a list; return other values as they are."""
    for name in ("tolist", "to_list", "to_pylist"):
        if hasattr(raw, name):
            return getattr(raw, name)()
    return raw


def parse_whole(raw: Any) -> int | None:
    """Turn an integer of any type into Python's; None for anything else, True and False too."""
    if isinstance(raw, (bool, np.bool_)):  # which NumPy 1 takes for 0 and 1, with a warning
        return None
    try:
        return index(raw)
    except TypeError:
        return None


def read_decimal(text: str) -> float:
    """Read a number in ASCII digits. Raises ValueError for others, and for Python's ``1_000``."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def read_numbers(raw: Iterable[Any]) -> tuple[float, ...]:
    """Read numbers, or text of them. Raises TypeError or ValueError for anything else."""
    listed = list(raw)
    if any(isinstance(value, (bool, np.bool_)) for value in listed):
        raise TypeError
    return tuple(
        read_decimal(value) if isinstance(value, str) else float(value) for value in listed
    )


def is_number(raw: object) -> TypeGuard[float]:
    """Is this a number of Python or NumPy? NaN and infinity are, but not True, False or 10**400."""
    if isinstance(raw, int):
        return not isinstance(raw, bool) and abs(raw) <= sys.float_info.max
    return isinstance(raw, (float, np.number))


def check_number(name: str, raw: Any, low: float, high: float = math.inf) -> None:
    """Raise InputError unless an argument is a number between two others."""
    if not is_number(raw) or not low < raw < high:
        within = f"between {low} and {high}" if high < math.inf else f"above {low}"
        raise InputError(f"{name} takes a number {within}; got {clip(raw)}")


# --- Progress: a line on standard error that shows the progress of a long call --------------------

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes read so far, and the size of the file or None."""

APART = 0.1  # seconds between updates of the line
WIPE = "\r\x1b[K"


class ProgressNote:
    """Progress with a note on how the file is read, which may change while it is read."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self.note = ""

    def __call__(self, name: str, done: int, size: int | None) -> None:
        if self._progress is not None:
            self._progress(name + self.note, done, size)


class ProgressLine:
    """A progress line on standard error for what takes longer than ``after`` seconds."""

    def __init__(self, doing: str = "reading", *, after: float = 0.5) -> None:
        self._doing, self._started, self._after = doing, time.monotonic(), after
        self._shown = 0.0

    def __call__(self, name: str, done: int, size: int | None) -> None:
        now = time.monotonic()
        if now - self._started < self._after or now - self._shown < APART:
            return
        self._shown = now
        part = f"{done / size:4.0%}" if size else f"{done / 1e6:,.0f} MB"
        self._write(f"{WIPE}{self._doing} {make_visible(name[-50:])}: {part}")

    def wipe(self) -> None:
        """Clear the line, if anything was written on it."""
        if self._shown:
            self._shown = 0.0
            self._write(WIPE)

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


class _CallersLine(ProgressLine):
    """A line that is cleared when the call that made it ends, since no ``with`` ends it."""

    def __del__(self) -> None:
        self.wipe()


def make_progress(raw: Any) -> Progress | None:
    """Return the function to call: germane's own line for True, None for False and None.

    Raises InputError for anything else that is no function.
    """
    if raw is None or raw is False:
        return None
    if raw is True:
        return _CallersLine()
    if not callable(raw):
        raise InputError(
            "progress takes True, or a function of three arguments: a name, the amount done, and"
            f" the total or None; got {clip(raw)}"
        )
    function: Progress = raw
    return function
