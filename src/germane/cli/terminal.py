"""Output of commands: messages, progress, JSON, results, and the paths that they may go to."""

import argparse
import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from germane.cli.arguments import InputPath, OutputPath
from germane.core.calls import ProgressLine
from germane.errors import GermaneWarning, InputError, clip, list_choices, make_visible
from germane.output.tables import FORMATS, Table
from germane.presentation import writing

FOR_PAPERS = {**FORMATS, "latex": Table.latex_float}
SEPARATED = {"csv": Table.csv, "tsv": Table.tsv}


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


# --- Where it is written --------------------------------------------------------------------------


def check_paths(options: argparse.Namespace) -> None:
    """Refuse, before the work is done, outputs that cannot be written or would destroy an input.

    Raises InputError. The arguments say themselves by their types which of them are paths.
    """
    values = list(_flatten(vars(options).values()))
    inputs = [
        path for value in values if isinstance(value, InputPath) for path in value.list_paths()
    ]
    outputs = [value for value in values if isinstance(value, OutputPath)]
    for path in outputs:
        writing.check(path, inputs)
    for first, second in combinations(outputs, 2):
        writing.refuse_same(first, second)


def _flatten(values: Iterable[Any]) -> Iterator[Any]:
    """Go through values, and through the lists of arguments that may be repeated."""
    for value in values:
        if isinstance(value, list):
            yield from _flatten(value)
        else:
            yield value


def choose_output(options: argparse.Namespace) -> None:
    """Choose the format that the suffix of the output file names, unless one is asked for.

    Raises InputError for the suffix of a format that the command does not write, and for
    --spreadsheet with a format that no spreadsheet opens.
    """
    path = getattr(options, "output", None) or ""
    formats, pictures = getattr(options, "formats", ("html",)), getattr(options, "pictures", ())
    suffix, has_format = writing.find_suffix(path), getattr(options, "format", None) is not None
    shown = ("table",) if formats[0] == "text" else ()  # as text, which is for people
    if not path.endswith(("/", os.sep)):
        texts = [name for name, form in writing.TEXTS.items() if form in (*formats, *shown)]
        drawn = f", and pictures as {list_choices(pictures)}" if pictures else ""
        writing.check_suffix(
            path,
            (*pictures, *(writing.TEXTS if has_format else texts)),
            f"this command writes {list_choices(formats)}{drawn}",
            _advise_suffix(suffix, options),
        )
    if "formats" in options and not has_format:
        named = writing.TEXTS.get(suffix)
        options.format = named if named in formats else formats[0]
    if getattr(options, "spreadsheet", False) and options.format not in SEPARATED:
        raise InputError(f"--spreadsheet is for --format csv or tsv; got {options.format}.")


def _advise_suffix(suffix: str, options: argparse.Namespace) -> str:
    """Advise what writes a file of that suffix."""
    if suffix in writing.TEXTS:
        return " --format overrides the suffix." if "formats" in options else ""
    if suffix not in writing.DRAWN or vars(options).get("pictures"):
        return ""
    if "truth" in options:
        return " germane boxes explain draws an image as svg, png or pdf."
    animated = " --animate FILE.gif writes an animation." if "animate" in options else ""
    return f"{animated} germane evaluate, curve and compare draw pictures as svg, png or pdf."


def is_picture(options: argparse.Namespace) -> bool:
    """Is the output a picture of those that the command draws?"""
    return writing.find_suffix(options.output) in options.pictures


# --- Results --------------------------------------------------------------------------------------


def format_table(
    table: Table,
    options: argparse.Namespace,
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> str:
    """Format the table as asked for; note ids that a spreadsheet takes for formulas."""
    if options.spreadsheet:
        return SEPARATED[options.format](table, reader="spreadsheet")
    if options.format in SEPARATED and (formulas := table.formulas()):
        say(
            f"germane: note: a spreadsheet would take {clip(formulas[0])} for a formula, like"
            " anything that begins with =, +, - or @; --spreadsheet protects it."
        )
    return formats[options.format](table)


def write_result(
    options: argparse.Namespace,
    table: Callable[[int | None], Table],
    as_dict: Callable[[], Any],
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> None:
    """Write a result as JSON or as a table; ``table`` takes the number of decimals."""
    if options.format == "json":
        text = as_json(as_dict())
    else:
        text = format_table(table(choose_digits(options)), options, formats)
    writing.write(options.output, text)


def write_found(
    options: argparse.Namespace,
    result: Any,
    formats: Mapping[str, Callable[[Table], str]] = FORMATS,
) -> None:
    """Write what a verb returned, which has a table and plain values of its own."""
    write_result(options, lambda digits: result.table(digits=digits), result.to_dict, formats)


def write_answer(options: argparse.Namespace, answer: Any) -> None:
    """Write an answer that has sentences beside its table, as text or in the format asked for."""
    match options.format:
        case "json":
            text = as_json(answer.to_dict())
        case "table":
            text = str(answer)
        case "markdown":
            text = str(answer.markdown())
        case "html":
            text = f"{answer._repr_html_()}\n"
        case _:
            text = format_table(answer.table(digits=choose_digits(options)), options)
    writing.write(options.output, text)


def choose_digits(options: argparse.Namespace) -> int | None:
    """Choose the number of decimals: all of them (None) in formats that programs read."""
    return None if options.format in ("tsv", "csv") else 4


def is_signed(options: argparse.Namespace) -> bool:
    """Are signatures printed, by option or in JSON? Raises InputError for values alone."""
    if options.signature and options.format in SEPARATED:
        raise InputError(
            f"--signature prints lines of text, and {options.format} has values alone. Choose"
            " --format table, markdown, latex, html or json, or write a record with --record."
        )
    return bool(options.signature or options.format == "json")


def add_lines(table: Table, lines: Sequence[str]) -> Table:
    """Add lines to the notes of a table, such as signatures."""
    return replace(table, notes=(*table.notes, "", *lines)) if lines else table


def check_defined(options: argparse.Namespace, option: str) -> None:
    """Refuse an option with a format that has no definitions beside its numbers."""
    formats = [name for name in FORMATS if name not in SEPARATED]
    if getattr(options, "format", "html") not in formats:  # a report is a page
        raise InputError(
            f"{option} is for tables with definitions: --format {list_choices(formats)}; "
            f"got {options.format}."
        )


def read_rename(options: argparse.Namespace) -> dict[str, str]:
    """Read ``--rename`` as measure → name, in the formats that define what they show."""
    if options.rename:
        check_defined(options, "--rename")
    renamed = {}
    for pair in options.rename or ():
        measure, equals, name = pair.rpartition("=")
        if not equals or not name.strip() or measure.count("(") != measure.count(")"):
            raise InputError(f"--rename takes MEASURE=NAME, such as 'AP=MAP'; got {clip(pair)}.")
        renamed[measure.strip()] = name.strip()
    return renamed


def name_relevant(answer: Any) -> Any:
    """Name the option that gives R in the place of the argument, where R was counted."""
    counted = answer.counted and replace(answer.counted, argument="--relevant")
    return replace(answer, counted=counted)
