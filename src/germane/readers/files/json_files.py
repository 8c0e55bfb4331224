"""Reads JSON: ``{query: {item: number}}`` and lines of objects."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from germane.errors import (
    EmptyError,
    FormatError,
    GradeError,
    ScoreError,
    clip,
    explain_not_finite,
    write_option,
)
from germane.kernel.ids import show_id
from germane.readers.files.formats import Path, check_path, name_file
from germane.readers.files.line_blocks import TextFile, check_text, count_line_ends, read_file
from germane.readers.files.streams import explain_os_error
from germane.readers.objects import mapped_qrels
from germane.readers.objects.numbers import is_finite_number, show_number

# --- Reads JSON files such as ranx's: ``{query: {item: number}}`` or ``{query: [item, …]}`` -------

Nested = dict[Hashable, Any]

_NUMBERS = {int, float}
_LONG = 400  # digits; a number of more is beyond the range of a double


def check_nested(value: Any, path: Path, kind: Literal["qrels", "run"]) -> Nested:
    """Check judgments or a run. Ids are text, and an integer in a list is its digits.

    Raises FormatError for a value that has another shape, with its query; ScoreError or GradeError
    for a number that is not finite.
    """
    where, raw = name_file(path), check_object(value, path, _SHAPES[kind])
    if kind == "qrels" and mapped_qrels.is_data_set(raw):
        raw = mapped_qrels.find_judgments(raw)
    shape = type(next(iter(raw.values()), None))
    for query, value in raw.items():
        within = f"{where}, query {clip(query)}"
        if isinstance(value, Repeated):
            raise FormatError(f"{within}: duplicate item {clip(value.key)}.")
        if isinstance(value, dict):
            _check_numbers(value, within, kind)
        elif isinstance(value, list):
            raw[query] = _spell_items(value, within)
        else:
            raise FormatError(f"{within}: {_ITEMS[kind]}; got {_describe(value)}.")
        if kind == "run" and type(value) is not shape:
            raise FormatError(
                f"{within}: the results are {_describe(value)}, but those of query"
                f" {clip(next(iter(raw)))} are {_NAMES[shape]}. All queries of a file must have"
                " the same form."
            )
    return raw


def read_value(path: Path) -> Any:
    """Read a file of one value. Raises FormatError with the line and column of what is no JSON."""
    return read_json(path, parse_int=_parse_whole)


def read_object(path: Path) -> Nested:
    """Read an object of queries."""
    return check_object(read_value(path), path, "a file is {query: value}")


def check_object(raw: Any, path: Path, shape: str) -> Nested:
    """Check an object of queries. ``shape`` says what the file should be."""
    where = name_file(path)
    if not isinstance(raw, dict):
        raise FormatError(f"{where}: {shape}; got {_describe(raw)}.{_advise(raw, shape)}")
    if isinstance(raw, Repeated):
        raise FormatError(f"{where}: duplicate query {clip(raw.key)}.")
    if not raw:
        raise EmptyError(f"{where}: there are no queries.")
    return raw


def refuse_repeated(raw: Any, where: str) -> None:
    """Raise FormatError for an object within a value that has a key twice."""
    for part, keys in walk(raw):
        if isinstance(part, Repeated):
            raise FormatError(
                f"{where}: {_name_object(keys)} has the key {clip(part.key)} twice. Keep one of"
                " them."
            )


class Repeated(dict[Hashable, Any]):
    """An object that has a key twice."""

    key: str


def _read_text(path: Path) -> str:
    data, name = read_file(path), name_file(path)
    check_text(name, data[:8])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + count_line_ends(data, error.start)
        around = show_id(data[max(0, error.start - 10) : error.start + 10])
        raise FormatError(
            f"{name}:{line}: the file is not UTF-8: it has the byte 0x{data[error.start]:02x} in "
            f"{around}. Convert it; if it is Latin-1, with: iconv -f latin1 -t utf-8"
        ) from None


def read_json(path: Path, **how: Any) -> Any:
    """Read a file of one value; ``how`` as in json.loads. An object with a key twice is Repeated.

    Raises FormatError with the place, and InputError for what is no path.
    """
    check_path(path)
    return parse_json(_read_text(path), name_file(path), object_pairs_hook=make_object, **how)


def read_unique(path: Path, name_entry: Callable[[Any, Repeated], str] | None = None) -> Any:
    """Read a file of one value, in which no object has a key twice, as ``parse_unique`` does."""
    return parse_unique(_read_text(path), name_file(path), name_entry)


def parse_unique(
    text: str, where: str, name_entry: Callable[[Any, Repeated], str] | None = None
) -> Any:
    """Parse a value in which no object has a key twice.

    ``name_entry`` names the part of the value that an object is in. Raises FormatError.
    """
    repeated: list[Repeated] = []

    def make(pairs: list[tuple[str, Any]]) -> Nested:
        object_ = make_object(pairs)
        if isinstance(object_, Repeated):
            repeated.append(object_)
        return object_

    value = parse_json(text, where, object_pairs_hook=make)
    for part in repeated:
        name = (name_entry or _name_place)(value, part)
        raise FormatError(f"{where}: {name} has the key {clip(part.key)} twice. Keep one of them.")
    return value


def _name_place(value: Any, wanted: Repeated) -> str:
    """Name an object by the keys that lead to it."""
    return next((_name_object(keys) for part, keys in walk(value) if part is wanted), "an object")


def _name_object(keys: tuple[Any, ...]) -> str:
    return f"the object at {' → '.join(map(clip, keys))}" if keys else "the object"


def walk(value: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Walk through the objects and lists of a value, each with the keys that lead to it."""
    pending: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while pending:
        part, keys = pending.pop()
        yield part, keys
        rows = part.items() if isinstance(part, dict) else enumerate(part, 1)
        pending += [(row, (*keys, key)) for key, row in rows if isinstance(row, (dict, list))]


def read_lines(path: Path, is_row: Callable[[Any], bool]) -> list[Any] | None:
    """Read the values of JSON Lines, if the first line is such a row; else nothing.

    Raises FormatError for a line that is no JSON, or has a key twice.
    """
    with TextFile(path) as file, explain_os_error(file.name), file.open_text() as stream:
        first = b""
        while not first.strip():
            first = stream.readline(_LONGEST)
            if not first:
                return None
    try:
        if not is_row(json.loads(first.decode("utf-8-sig"))):
            return None
    except (ValueError, RecursionError):  # the reader of other lines says what is wrong
        return None
    lines = enumerate(_read_text(path).split("\n"), 1)
    return [
        parse_unique(line, f"{name_file(path)}:{number}") for number, line in lines if line.strip()
    ]


_LONGEST = 1 << 26  # bytes of a line, which has the response to one query


def parse_json(text: str, where: str, **how: Any) -> Any:
    """Parse one value; ``how`` as in json.loads. Raises FormatError with the place."""
    try:
        return json.loads(text, **how)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}, column {error.colno}"
        if error.msg == "Extra data":
            raise FormatError(
                f"{place}: a JSON file has one value, but here a second one begins. Are these JSON"
                f" Lines? {write_option('input_format', 'jsonl')} reads them."
            ) from None
        raise FormatError(f"{place}: this is not JSON ({error.msg}).") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise FormatError(f"{where}: this is not JSON ({error}).") from None
    except RecursionError:
        raise FormatError(f"{where}: the values are nested too deeply.") from None


DEEPEST = 500  # Python's reader stops at about 1,000 levels, and Arrow's ends the process at 20,000
_NO_BRACKETS = bytes(sign for sign in range(256) if sign not in b"[]{}")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def find_deep_line(text: bytes) -> int | None:
    """Find the first line, from 0, whose values are nested too deeply; None where none is."""
    if _measure_depth(text) <= DEEPEST:  # brackets in strings count, too
        return None
    for line, part in enumerate(text.split(b"\n")):
        if _measure_depth(part) > DEEPEST and _measure_depth(_STRING.sub(b"", part)) > DEEPEST:
            return line
    return None


def _measure_depth(text: bytes) -> int:
    """Measure how deep brackets stand in each other."""
    brackets = np.frombuffer(text.translate(None, _NO_BRACKETS), np.int8)
    # the second bit is set in [ and {, and not in ] and }
    return int(np.cumsum((brackets & 2) - 1, dtype=np.int64).max(initial=0))


def parse_object(text: str, where: str, **how: Any) -> dict[str, Any]:
    """Parse a line of JSON Lines; ``how`` as in json.loads. Raises FormatError for no object."""
    try:
        value = json.loads(text, object_pairs_hook=make_object, **how)
    except (ValueError, RecursionError) as error:
        message = getattr(error, "msg", "too deep")
        raise FormatError(f"{where}: this is not JSON ({message}): {clip(text.strip())}") from None
    if not isinstance(value, dict):
        raise FormatError(f"{where}: a line is a JSON object, {{…}}; got {clip(value)}")
    if isinstance(value, Repeated):
        raise FormatError(
            f"{where}: the line has the key {clip(value.key)} twice. Keep one of them."
        )
    return value


def make_object(pairs: list[tuple[str, Any]]) -> Nested:
    value: Nested = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    repeated = Repeated(value)
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _parse_whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONG else float(digits)


def _check_numbers(nested: Nested, within: str, kind: str) -> None:
    """Refuse a value that is no finite number."""
    noun, error = {"qrels": ("relevance grade", GradeError), "run": ("score", ScoreError)}[kind]
    plain = _NUMBERS.issuperset(map(type, nested.values()))
    if plain and all(map(is_finite_number, nested.values())):
        return
    for item, number in nested.items():
        if kind == "qrels" and isinstance(number, (dict, list)):
            nested[item] = _check_subtopics(number, f"{within}, item {clip(item)}")
            continue
        if type(number) not in _NUMBERS:
            raise error(
                f"{within}, item {clip(item)}: a {noun} is a number; got {_describe(number)}."
            )
        if not is_finite_number(number):
            wrong = explain_not_finite(noun, f"got {show_number(number)}")
            raise error(f"{within}, item {clip(item)}: {wrong}")


def _check_subtopics(value: Any, within: str) -> Any:
    """Check the subtopics of an item: grades, or a list."""
    if isinstance(value, list):
        return _spell_items(value, within)
    if isinstance(value, Repeated):
        raise FormatError(f"{within}: duplicate subtopic {clip(value.key)}.")
    for subtopic, grade in value.items():
        if type(grade) not in _NUMBERS:
            raise GradeError(
                f"{within}, subtopic {clip(subtopic)}: a relevance grade is a number; got"
                f" {_describe(grade)}."
            )
    return value


def _spell_items(items: list[Any], within: str) -> Sequence[str]:
    """Spell the items of a list as text."""
    kinds = set(map(type, items))
    if kinds <= {str}:
        return items
    if kinds <= {str, int}:
        return list(map(str, items))
    wrong = next(item for item in items if type(item) not in (str, int))
    raise FormatError(
        f"{within}: a list contains items, which are text or integers; got {_describe(wrong)}."
    )


_SHAPES = {
    "run": "a run is {query: {item: score}} or {query: [item, …]}, best first",
    "qrels": "qrels are {query: {item: grade}} or {query: [relevant item, …]}",
}
_ITEMS = {
    "run": "results are {item: score} or [item, …]",
    "qrels": "judgments are {item: grade} or [relevant item, …]",
}
_NAMES = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}


def _describe(value: Any) -> str:
    kind = dict if isinstance(value, dict) else type(value)
    named = _NAMES.get(kind, "a number")
    return named if kind in (dict, list, type(None)) else f"{named}, {clip(value)}"


def _advise(raw: Any, shape: str) -> str:
    """Advice for a list of rows, or of objects with a list of results."""
    if not (isinstance(raw, list) and raw and isinstance(raw[0], dict)):
        return ""
    if "bbox" in raw[0]:
        return "  These are boxes: germane boxes TRUTH DETECTIONS (germane.boxes.evaluate)."
    if shape == _SHAPES["run"] and any(isinstance(value, list) for value in raw[0].values()):
        return '  In a list, each query is an object {"query": …, "hits": [item, …]}.'
    return (
        "  Rows need a column of queries and one of items, such as query_id and doc_id;"
        f" {write_option('columns', {'query': 'name', 'item': 'name'})} takes other names."
    )
