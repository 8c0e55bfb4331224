"""Reads CSV and TSV with the standard library: to find a wrong line, and where Arrow is missing."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core.calls import read_decimal
from germane.core.id_spelling import ESCAPED
from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
)
from germane.kernel.ids import read_python_ids
from germane.output.tables import write_count
from germane.readers.objects.records import Column, Record, make_column

if TYPE_CHECKING:
    from germane.readers.files.line_blocks import Opener
    from germane.readers.objects.headings import Headings


@dataclass(frozen=True)
class Separated:
    """The layout of a file of separated fields."""

    separator: str
    names: Sequence[str]  # of all columns
    headings: Headings
    has_header: bool
    has_types: bool = False  # does the header have types, which the names are without?

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers, of which those of flags are none."""
        names = self.headings
        sides = (name for _, name in names.numbers)
        named = (names.score, names.relevance, names.rank, *sides)
        return [name for name in dict.fromkeys(named) if name is not None]


def check_rows(source: Opener, layout: Separated) -> None:
    """Refuse the first line with a wrong number of fields, a bad number, or an id not in UTF-8."""
    headings, names = layout.headings, layout.names
    numbers: dict[str | None, tuple[type[InputError], str]] = {
        headings.score: (ScoreError, "score"),
        headings.rank: (FormatError, "rank"),
        headings.relevance: (GradeError, "relevance grade"),
        **{name: (FormatError, part) for part, name in headings.numbers},
    }
    rows = _read_rows(source, layout)
    if layout.has_header:
        next(rows, None)
    for line, row in rows:
        if len(row) != len(names):
            raise FormatError(
                f"{source.name}:{line}: {write_count(len(row), 'field')} where the file has "
                f"{len(names)} columns ({', '.join(names)}): {clip(layout.separator.join(row))}"
                f"{_explain_fields(row, layout)}"
            )
        for name, text in zip(names, row, strict=True):
            where = f"{source.name}:{line}"
            if name in numbers and (wrong := _explain_number(text)):
                error, noun = numbers[name]
                raise error(f"{where}: {explain_not_finite(noun, wrong)} in column {name!r}")
            if name in headings.ids and (byte := ESCAPED.search(text)):
                raise FormatError(
                    f"{where}: column {name!r} is not UTF-8: it has the byte"
                    f" 0x{ord(byte[0]) - 0xDC00:02x} in {clip(text)}. Convert the file; if it is"
                    " Latin-1, with: iconv -f latin1 -t utf-8"
                )


def _explain_fields(row: Sequence[str], layout: Separated) -> str:
    """Explain a row with a field too many, both parts of which are digits."""
    split = layout.separator == "," and len(row) > len(layout.names)
    parts = any(map(str.isdigit, row[-1:])) and any(map(str.isdigit, row[-2:-1]))
    return "  Is one of the commas a decimal comma? Write a point, as in 0.95." * (split and parts)


def _explain_number(text: str) -> str:
    """Say why a text is no number; nothing if it is one, infinity and NaN included."""
    if not is_number(text):
        return f"got {clip(text)}"
    beyond = math.isinf(float(text or "nan")) and any(map(str.isdigit, text))
    return f"{clip(text)} is beyond the range of a double," if beyond else ""


def _read_rows(source: Opener, layout: Separated) -> Iterator[tuple[int, list[str]]]:
    """Read the rows that are not blank, each with the line on which it begins."""
    with io.BufferedReader(source.open_text()) as stream:
        reader = _open_reader(stream, layout)
        line = 1
        try:
            for row in reader:
                if row:
                    yield line, row
                line = reader.line_num + 1
        except csv.Error:
            return  # Arrow's error says enough


def is_number(text: str) -> bool:
    try:
        read_decimal(text or "nan")
    except ValueError:
        return False
    return True


def _open_reader(stream: Any, layout: Separated) -> Any:
    text = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="")
    return make_reader(text, layout.separator)


def make_reader(lines: Iterable[str], separator: str) -> Any:
    """Make a reader of rows; only between commas has a quotation mark a meaning."""
    if separator == ",":
        return csv.reader(lines)
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)


# --- Columns without Arrow ------------------------------------------------------------------------

_FEW = 1 << 10  # rows
_CELLS = 1 << 17  # that become columns at once


def read_records(source: Opener, layout: Separated) -> Iterator[Record]:
    """Read the rows, some thousands at a time. Raises FormatError for the first that is wrong."""
    with io.BufferedReader(source.open_text()) as stream:
        reader = _open_reader(stream, layout)
        rows = filter(None, reader)
        try:
            if layout.has_header:
                next(rows, None)
            for cells in _gather_cells(rows, source, layout):
                yield _make_record(cells, source, layout)
        except csv.Error as error:
            raise InputError(
                f"{source.name}:{reader.line_num}: cannot be read ({error}), unless PyArrow is"
                " installed: pip install 'germane[frames]'"
            ) from None


def _gather_cells(
    rows: Iterator[list[str]], source: Opener, layout: Separated
) -> Iterator[list[str]]:
    """Gather the cells of many rows, one row after the other.

    Rows that live for long would take the garbage collector more time than reading them.
    """
    width, has_rows = {len(layout.names)}, False
    cells: list[str] = []
    while some_rows := list(islice(rows, _FEW)):
        has_rows = True
        if set(map(len, some_rows)) != width:
            check_rows(source, layout)
            raise FormatError(f"{source.name}: cannot be read: rows have different lengths.")
        cells += chain.from_iterable(some_rows)
        if len(cells) >= _CELLS:
            yield cells
            cells = []
    if cells:
        yield cells
    if not has_rows and not _ends_line(source):
        raise EmptyError(f"{source.name}: there are no rows.")


def _make_record(cells: list[str], source: Opener, layout: Separated) -> Record:
    width = len(layout.names)
    columns: dict[str, Column] = {}
    for name in layout.headings.all:
        fields = cells[layout.names.index(name) :: width]
        if name in layout.headings.ids:
            columns[name] = _read_texts(fields, source, layout)
        elif name in layout.numbers:
            columns[name] = _read_numbers(fields, name, source, layout)
        else:
            columns[name] = _infer(fields)
    return Record(columns, len(cells) // width)


def _read_texts(fields: Sequence[str], source: Opener, layout: Separated) -> Column:
    joined = "".join(fields)
    if not joined.isascii() and ESCAPED.search(joined):
        check_rows(source, layout)
    return Column(read_python_ids(fields), "string")


_OF_NUMBERS = re.compile(r"[0-9.eE+-]*")
_NUMBER = re.compile(
    r"[ \t]*+(?P<number>[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|[+-]?inf(?:inity)?"
    r"|[+-]?nan(?:\(\w*+\))?)[ \t]*+",
    re.ASCII | re.IGNORECASE,
)
_NULLS = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
}
"""Fields that hold no value, as Arrow's reader has them."""


def _read_numbers(fields: Sequence[str], name: str, source: Opener, layout: Separated) -> Column:
    """Read numbers. In the signs of plain ones, Python's numbers are those of Arrow's reader."""
    if _OF_NUMBERS.fullmatch("".join(fields)):
        try:
            return Column(np.array(list(map(float, fields))), "double")
        except ValueError:  # some are empty, or no numbers
            pass
    try:
        return _parse_numbers(fields)
    except ValueError as error:
        check_rows(source, layout)
        raise FormatError(
            f"{source.name}: cannot be read: In CSV column #{layout.names.index(name)}: CSV"
            f" conversion error to double: invalid value {error}"
        ) from None


def _parse_numbers(fields: Sequence[str]) -> Column:
    """Parse numbers, some of which may be missing. Raises ValueError for other text."""
    absent = np.fromiter(map(_NULLS.__contains__, fields), bool, len(fields))
    numbers = np.full(len(fields), np.nan)
    for row in np.flatnonzero(~absent).tolist():
        match = _NUMBER.fullmatch(fields[row])
        if match is None:
            raise ValueError(f"'{fields[row]}'")
        numbers[row] = float(match["number"].partition("(")[0])
    return Column(numbers, "double", absent if absent.any() else None)


_TRUTH = {
    **dict.fromkeys(("1", "True", "TRUE", "true"), True),
    **dict.fromkeys(("0", "False", "FALSE", "false"), False),
}
_WHOLE = re.compile(r"[ \t]*+-?\d{1,18}+[ \t]*+", re.ASCII)


def _infer(fields: Sequence[str]) -> Column:
    """Read integers or truth values if all fields have them, and else numbers or text."""
    values: list[Any] = [None if field in _NULLS else field for field in fields]
    present = [value for value in values if value is not None]
    if all(map(_WHOLE.fullmatch, present)):
        return make_column([value and int(value) for value in values])
    if all(map(_TRUTH.__contains__, present)):
        return make_column([value and _TRUTH[value] for value in values])
    try:
        return _parse_numbers(fields)
    except ValueError:
        return Column(read_python_ids(fields), "string")


def _ends_line(source: Opener) -> bool:
    """Does the text end with the end of a line?"""
    last = b""
    with source.open_text() as stream:
        while data := stream.read(1 << 20):
            last = data[-1:]
    return last in (b"\n", b"\r")
