"""Which line of a file of separated columns is wrong, once Arrow has refused it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from germane.errors import FormatError, GradeError, InputError, ScoreError, clip
from germane.sources.headings import Headings
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
