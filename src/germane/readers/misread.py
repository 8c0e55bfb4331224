"""Which line of a file of separated columns is wrong, once Arrow has refused it."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator

from germane.errors import FormatError, GradeError, ScoreError, clip, explain_not_finite
from germane.readers.headings import Headings
from germane.readers.opener import Opener


def check(source: Opener, separator: str, names: list[str], found: Headings) -> None:
    """Raise the error that names the first line with a field too few or too many, no number, a
    number beyond the range of a double, or an id that is not UTF-8."""
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
            where = f"{source.name}:{line}"
            if name in numbers and (wrong := _number(text)):
                error, says = numbers[name]
                raise error(f"{where}: {explain_not_finite(says, wrong)} in column {name!r}")
            if name in (found.query, found.item) and (byte := _BROKEN.search(text)):
                raise FormatError(
                    f"{where}: column {name!r} is not UTF-8: it has the byte "
                    f"0x{ord(byte[0]) - 0xDC00:02x} in {clip(text)}. Convert the file; if it is Latin-1, "
                    "with: iconv -f latin1 -t utf-8"
                )


_BROKEN = re.compile("[\udc80-\udcff]")  # the bytes that no text has, as Python reads them


def _number(text: str) -> str:
    """What is wrong with a number; nothing where Arrow reads it as one that can be evaluated or told of."""
    if not is_number(text):
        return f"got {clip(text)}"
    beyond = math.isinf(float(text or "nan")) and any(map(str.isdigit, text))
    return f"{clip(text)} is beyond the range of a double," if beyond else ""


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
