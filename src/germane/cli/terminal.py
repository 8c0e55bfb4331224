"""Messages of one line, progress and JSON for the command line."""

import contextlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from germane.core.progress import ProgressLine
from germane.errors import GermaneWarning, make_visible


def say(text: str) -> None:
    """Print one line on standard error, whatever bytes its ids hold."""
    if sys.stderr is None:  # closed by the shell; print would take standard output instead
        return
    with contextlib.suppress(OSError):
        print(make_visible(" ".join(text.splitlines())), file=sys.stderr)


@contextlib.contextmanager
def warn_in_lines() -> Iterator[None]:
    """Print each warning as one line, without the place in the code that raised it."""

    def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
        kind = "" if issubclass(category, GermaneWarning) else f"{category.__name__}: "
        say(f"germane: {kind}{message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", GermaneWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def as_json(value: Any) -> str:
    import json

    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


@contextlib.contextmanager
def make_progress_line(doing: str = "reading", *, after: float = 0.5) -> Any:
    """Show progress on standard error, if it is a terminal, from the first ``after`` seconds on."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    line = ProgressLine(doing, after=after)
    try:
        yield line
    finally:
        line.wipe()
