"""Reads JSON Lines with Arrow, and finds the wrong line if Arrow refuses the file."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from json import loads
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from germane.errors import FormatError, ScoreError, explain_not_finite, show_typed
from germane.readers.files.json_files import find_deep_line, parse_object
from germane.readers.files.line_blocks import Opener, hand_to_arrow
from germane.readers.objects.headings import Headings
from germane.readers.objects.numbers import EXACT, count_rounded, is_finite_number, show_number


def read_json_lines(source: Opener, choose: Callable[[list[str]], list[str]]) -> pa.Table:
    """Read a row from each line, and of the columns those that are chosen by their names.

    Arrow makes dates of some text; these columns are read again as text. Columns that are not
    chosen may have values of several types. Raises FormatError that names the line.
    """
    try:
        table = _read(source, {})
    except (pa.ArrowInvalid, _ManyKeysError) as refused:
        return _read(source, _find_types(source, choose, refused), unexpected="ignore")
    chosen = choose(table.column_names)
    dates = [name for name in chosen if pa.types.is_temporal(table[name].type)]
    if dates:
        table = _read(source, dict.fromkeys(dates, pa.string()))
    return table.select(chosen)


def _read(source: Opener, types: Mapping[str, pa.DataType], unexpected: str = "infer") -> pa.Table:
    """Read columns of these types; the types of the others are inferred, or these are ignored."""
    options = arrow_json.ParseOptions(
        pa.schema(list(types.items())), unexpected_field_behavior=unexpected
    )
    with source.open_text() as stream:
        lines = _Objects(stream, source.name, counts_keys=unexpected == "infer")
        return arrow_json.read_json(hand_to_arrow(lines), parse_options=options)


def count_rounded_scores(source: Opener, names: Headings, records: Iterable[pa.RecordBatch]) -> int:
    """Count the whole scores that became equal to another when Arrow made doubles of them.

    Raises ScoreError for a score beyond the range of a double.
    """
    columns = [record.column(names.score) for record in records if names.score is not None]
    if not any(_may_round(column) for column in columns):
        return 0
    whole_scores: dict[Hashable, list[int]] = {}
    with io.BufferedReader(source.open_text()) as stream:
        for number, line in enumerate(stream, 1):
            row = loads(line.decode("utf-8-sig", "surrogateescape")) if line.strip() else {}
            score = row.get(names.score)
            if isinstance(score, int):
                if not is_finite_number(score):
                    message = explain_not_finite("score", f"got {show_number(score)}")
                    raise ScoreError(f"{source.name}:{number}: {message}")
                whole_scores.setdefault(row.get(names.query), []).append(score)
    return sum(count_rounded(scores, np.array(scores, float)) for scores in whole_scores.values())


def _may_round(column: pa.Array) -> bool:
    values = column.to_numpy(zero_copy_only=False) if column.type == pa.float64() else np.zeros(0)
    return bool((np.abs(values) >= EXACT).any())


class _ManyKeysError(Exception):
    """The lines have so many keys that Arrow would make a column of each for every block."""


class _Objects:
    """A stream of JSON Lines that refuses what Arrow cannot take.

    A block that begins with ``null`` crashes it, and so do values nested too deeply. Keys of
    thousands become columns that no memory holds, unless all but some are ignored.
    """

    def __init__(self, stream: Any, name: str, counts_keys: bool) -> None:
        self._stream, self._name, self._counts_keys = stream, name, counts_keys
        self.close = stream.close
        self._lines, self._last, self._begun = 1, b"\n", b""

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._refuse_depth(data)
        if self._counts_keys and _has_many_keys(data):
            raise _ManyKeysError
        text = self._last + data
        null = _NULL.search(text) if b"null" in text else None
        if null is not None:
            line = self._lines + text.count(b"\n", 0, null.end()) - 1
            raise FormatError(f"{self._name}:{line}: a line is a JSON object, {{…}}; got null")
        self._lines += data.count(b"\n")
        begun = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        before = text[:begun].rstrip()[-1:]
        self._last = before + b"\n" + text[begun:].lstrip(b" \t")[:8]
        return data

    def _refuse_depth(self, data: bytes) -> None:
        """Refuse a line whose values are nested too deeply. Raises FormatError."""
        text = self._begun + data
        deep = find_deep_line(text)
        if deep is not None:
            line = self._lines - self._begun.count(b"\n") + deep
            raise FormatError(f"{self._name}:{line}: the values are nested too deeply.")
        self._begun = text[text.rfind(b"\n") + 1 :][-_LONGEST:]


def _has_many_keys(data: bytes) -> bool:
    """Have parts of a block, evenly spaced, hundreds of different keys?"""
    step = max(len(data) // 16, 2_000)
    parts = (data[start : start + 2_000] for start in range(0, len(data), step))
    return len({key for part in parts for key in _KEY.findall(part)}) > 500


_KEY = re.compile(rb'"((?:[^"\\]++|\\.)*+)"\s*+:')
_LONGEST = 1 << 22  # bytes of a line that are kept; Arrow refuses a line longer than its blocks


_NULL = re.compile(rb"(?:^|[^:,\[\s])\s*[\r\n](?:\xef\xbb\xbf)?[ \t]*null")
"""``null`` at the beginning of a line, unless it is a value of an object on several lines."""


def _read_objects(source: Opener, refused: Exception) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the object of each line, with its place, to find out why Arrow refused the file.

    Raises FormatError for the first line that is none, and Arrow's own error if that says enough.
    """
    with io.BufferedReader(source.open_text()) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            where = f"{source.name}:{number}"
            text = line.decode("utf-8-sig", "surrogateescape")
            try:
                row = parse_object(text, where, parse_int=_parse_whole)
            except FormatError:
                if _is_read(line):  # several objects on a line, or one on several
                    raise refused from None
                raise
            yield where, row


def _find_types(
    source: Opener, choose: Callable[[list[str]], list[str]], refused: Exception
) -> dict[str, pa.DataType]:
    """Find the type of each chosen column.

    Refuses the first value of another type than those before as soon as its line is read, if the
    lines so far have all columns that are needed, and else once all lines are read.
    """
    before: dict[str, tuple[str, Any]] = {}
    types: dict[str, pa.DataType] = {}
    wrong: dict[str, Exception] = {}
    for where, row in _read_objects(source, refused):
        for name, value in row.items():
            types.setdefault(name, pa.null())
            kind = _KINDS.get(type(value))
            if kind is None or name in wrong:
                continue
            first = before.setdefault(name, (kind, value))
            error = _explain_value(where, name, value, first) or (
                None if kind in _TYPES else refused
            )
            if error is not None:
                if name in _list_chosen(types, choose):
                    raise error
                wrong[name] = error
            elif types[name] != pa.float64():
                types[name] = pa.float64() if isinstance(value, float) else _TYPES[kind]
    chosen = choose(list(types))
    for name in chosen:
        if name in wrong:
            raise wrong[name]
    return {name: types[name] for name in chosen}


def _explain_value(where: str, name: str, value: Any, first: tuple[str, Any]) -> FormatError | None:
    """Explain why a value cannot stand in its column; None where it can."""
    if _KINDS[type(value)] != first[0]:
        return FormatError(
            f"{where}: the values of a column must have one type; {name!r} is {show_typed(value)}"
            f" here, but {show_typed(first[1])} before."
        )
    if isinstance(value, float) and math.isinf(value):
        return FormatError(f"{where}: the number of {name!r} is beyond the range of a double.")
    return None


def _list_chosen(names: Iterable[str], choose: Callable[[list[str]], list[str]]) -> list[str]:
    """List the columns that are chosen; none while some that are needed have not come yet."""
    try:
        return choose(list(names))
    except FormatError:
        return []


def _parse_whole(digits: str) -> float:
    return int(digits) if len(digits) < 20 else float(digits)


def _is_read(line: bytes) -> bool:
    """Does Arrow read the line by itself?"""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        arrow_json.read_json(pa.BufferReader(line))
    except pa.ArrowInvalid:
        return False
    return True


_KINDS = {str: "text", int: "number", float: "number", bool: "truth", list: "list", dict: "object"}
"""The types of JSON's values; null is of every type."""

_TYPES = {"text": pa.string(), "number": pa.int64(), "truth": pa.bool_()}
