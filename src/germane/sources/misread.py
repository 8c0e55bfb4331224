"""Which line of a file of columns is wrong, once Arrow has refused it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from germane.errors import FormatError, GradeError, InputError, ScoreError, clip, typed
from germane.sources.headings import Headings
from germane.sources.ids import shown_id
from germane.sources.opener import Opener


def check(source: Opener, separator: str, names: list[str], found: Headings) -> None:
    """Raise the error that names the first line with a field too few or too many, or no number."""
    numbers = {
        found.score: (ScoreError, "score"),
        found.rank: (FormatError, "rank"),
        found.relevance: (GradeError, "relevance grade"),
    }
    for line, row in _rows(source, separator):
        if len(row) != len(names):
            raise FormatError(
                f"{source.name}:{line}: {len(row)} field{'s' * (len(row) != 1)} where the file has "
                f"{len(names)} columns ({', '.join(names)}): {clip(separator.join(row))}"
            )
        if line == 1 and row == names:
            continue
        for name, text in zip(names, row, strict=True):
            if name in numbers and not is_number(text):
                error, says = numbers[name]
                raise _of(error, source.name, line, name, says, text)


def check_objects(source: Opener) -> None:
    """Raise the error that names the first line that is no JSON object, or has a value of another type."""
    before: dict[str, tuple[str, Any]] = {}
    with io.BufferedReader(source.text()) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            where = f"{source.name}:{number}"
            text = line.decode("utf-8-sig", "surrogateescape")
            try:
                held = json.loads(text, parse_int=_whole)
            except (ValueError, RecursionError) as error:
                if _is_read(line):  # several objects on a line, or one on several
                    return  # Arrow's words have to do
                says = getattr(error, "msg", "too deep")
                raise FormatError(f"{where}: no JSON ({says}): {shown_id(line.strip())}") from None
            if not isinstance(held, dict):
                raise FormatError(f"{where}: a line is a JSON object, {{…}}; got {clip(held)}")
            for name, value in held.items():
                kind = _KINDS.get(type(value))
                if kind is None:
                    continue
                if before.setdefault(name, (kind, value))[0] != kind:
                    raise FormatError(
                        f"{where}: the values of a column have one type; {name!r} is {typed(value)} "
                        f"here, and {typed(before[name][1])} before."
                    )


def _whole(digits: str) -> float:
    return int(digits) if len(digits) < 20 else float(digits)


def _is_read(line: bytes) -> bool:
    """Does Arrow read the line by itself?"""
    import pyarrow as pa
    from pyarrow import json

    try:
        json.read_json(pa.BufferReader(line))
    except pa.ArrowInvalid:
        return False
    return True


_KINDS = {str: "text", int: "number", float: "number", bool: "truth", list: "list", dict: "object"}
"""Of the values of JSON; null is of every type."""


def _of(
    error: type[InputError], where: str, line: int, name: str, says: str, text: str
) -> InputError:
    return error(
        f"{where}:{line}: a {says} must be a finite number; got {clip(text)} in column {name!r}"
    )


def _rows(source: Opener, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with the line on which it begins; blank ones are left out."""
    with io.BufferedReader(source.text()) as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
        if separator == ",":
            reader = csv.reader(text)
        else:
            reader = csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error:
            return  # Arrow's words have to do


def is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return False
    return "_" not in text and text.isascii()
