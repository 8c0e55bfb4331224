"""Messages of one line, progress and JSON for the command line."""

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from germane.core.progress import ProgressLine
from germane.errors import GermaneWarning
from germane.output.tables import make_visible


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
        say(f"germane: {kind}{as_options(str(message)) if not kind else message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", GermaneWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def as_options(message: str) -> str:
    """Write an error or a warning in the words of the command line: ``--columns query=name`` for
    ``columns={'query': name}``.
    """
    message = re.sub(
        r"\b(columns|input_format|box_format|coordinates)=\{('\w+': [^{}]*)\}",
        _write_pairs,
        message,
    )
    message = re.sub(
        r"\b(input_format|max_expansion|max_line|dialect|box_format|coordinates|unknown|area_of|no_truth|overlap)"
        r"=('?)([\w-]+)\2(?=[ .,;)])",
        lambda found: f"{_write_option(found)} {found[3]}",
        message,
    )
    return re.sub(
        r"\b(columns=|collapse=|images=|class_names=|confidence=|input_format|max_expansion|max_line|box_format|coordinates)"
        r"(?= (takes|is|names) |\.)",
        _write_option,
        message,
    )


def _write_pairs(found: re.Match[str]) -> str:
    pairs = re.findall(r"'(\w+)': '?([^',]*)", found[2])
    named = ",".join(f"{part}={'' if name == 'None' else name}" for part, name in pairs)
    return f"{_write_option(found)} {named}"


def _write_option(found: re.Match[str]) -> str:
    return f"--{found[1].rstrip('=').replace('_', '-')}"


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
