"""Reads JSON files such as ranx's: ``{query: {item: number}}`` or ``{query: [item, …]}``."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from typing import Any, Literal

from germane.errors import EmptyError, FormatError, GradeError, ScoreError, clip, explain_not_finite
from germane.kernel.ids import show_id
from germane.readers.files import check_text, count_line_ends, read_file
from germane.readers.numbers import is_finite_number, show_number
from germane.readers.paths import Path, name_file

Nested = dict[Hashable, Any]

_NUMBERS = {int, float}
_LONG = 400  # digits; a number of more is beyond the range of a double


def read_nested(path: Path, kind: Literal["qrels", "run"]) -> Nested:
    """Read judgments or a run. Ids are text, and an integer in a list is its digits.

    Raises FormatError with the line and column of what is no JSON, and with the query of a value
    that has another shape; ScoreError or GradeError for a number that is not finite.
    """
    where, given = name_file(path), read_object(path, _SHAPES[kind])
    shape = type(next(iter(given.values()), None))
    for query, held in given.items():
        within = f"{where}, query {clip(query)}"
        if isinstance(held, Repeated):
            raise FormatError(f"{within}: duplicate item {clip(held.key)}.")
        if isinstance(held, dict):
            _check_numbers(held, within, kind)
        elif isinstance(held, list):
            given[query] = _spell_items(held, within)
        else:
            raise FormatError(f"{within}: {_ITEMS[kind]}; got {_describe(held)}.")
        if kind == "run" and type(held) is not shape:
            raise FormatError(
                f"{within}: the results are {_describe(held)}, and those of query"
                f" {clip(next(iter(given)))} are {_NAMES[shape]}. All queries of a file have one"
                " shape."
            )
    return given


def read_object(path: Path, shape: str = "a file is {query: value}") -> Nested:
    """Read an object of queries. ``shape`` says what the file should be."""
    where = name_file(path)
    given = read_json(path, object_pairs_hook=make_object, parse_int=_parse_whole)
    if not isinstance(given, dict):
        raise FormatError(f"{where}: {shape}; got {_describe(given)}.{_advise(given)}")
    if isinstance(given, Repeated):
        raise FormatError(f"{where}: duplicate query {clip(given.key)}.")
    if not given:
        raise EmptyError(f"{where}: there are no queries.")
    return given


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
    """Read a file of one value; ``how`` as in json.loads. Raises FormatError with the place."""
    where, text = name_file(path), _read_text(path)
    try:
        return json.loads(text, **how)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}, column {error.colno}"
        if error.msg == "Extra data":
            raise FormatError(
                f"{place}: a JSON file has one value, and here a second one begins. Are these JSON "
                "Lines? input_format=jsonl reads them."
            ) from None
        raise FormatError(f"{place}: no JSON ({error.msg}).") from None
    except RecursionError:
        raise FormatError(f"{where}: the values are nested too deeply.") from None


def parse_object(text: str, where: str, **how: Any) -> dict[str, Any]:
    """Parse a line of JSON Lines; ``how`` as in json.loads. Raises FormatError for no object."""
    try:
        held = json.loads(text, **how)
    except (ValueError, RecursionError) as error:
        says = getattr(error, "msg", "too deep")
        raise FormatError(f"{where}: no JSON ({says}): {clip(text.strip())}") from None
    if not isinstance(held, dict):
        raise FormatError(f"{where}: a line is a JSON object, {{…}}; got {clip(held)}")
    return held


def make_object(pairs: list[tuple[str, Any]]) -> Nested:
    held: Nested = dict(pairs)
    if len(held) == len(pairs):
        return held
    seen: set[str] = set()
    repeated = Repeated(held)
    repeated.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return repeated


def _parse_whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONG else float(digits)


def _check_numbers(held: Nested, within: str, kind: str) -> None:
    """Refuse a value that is no finite number."""
    says, error = {"qrels": ("relevance grade", GradeError), "run": ("score", ScoreError)}[kind]
    plain = _NUMBERS.issuperset(map(type, held.values()))
    if plain and all(map(is_finite_number, held.values())):
        return
    for item, number in held.items():
        if kind == "qrels" and isinstance(number, (dict, list)):
            held[item] = _check_subtopics(number, f"{within}, item {clip(item)}")
            continue
        if type(number) not in _NUMBERS:
            raise error(
                f"{within}, item {clip(item)}: a {says} is a number; got {_describe(number)}."
            )
        if not is_finite_number(number):
            wrong = explain_not_finite(says, f"got {show_number(number)}")
            raise error(f"{within}, item {clip(item)}: {wrong}")


def _check_subtopics(held: Any, within: str) -> Any:
    """Check the subtopics of an item: grades, or a list."""
    if isinstance(held, list):
        return _spell_items(held, within)
    if isinstance(held, Repeated):
        raise FormatError(f"{within}: duplicate subtopic {clip(held.key)}.")
    for subtopic, grade in held.items():
        if type(grade) not in _NUMBERS:
            raise GradeError(
                f"{within}, subtopic {clip(subtopic)}: a relevance grade is a number; got"
                f" {_describe(grade)}."
            )
    return held


def _spell_items(held: list[Any], within: str) -> Sequence[str]:
    """Spell the items of a list as text."""
    kinds = set(map(type, held))
    if kinds <= {str}:
        return held
    if kinds <= {str, int}:
        return list(map(str, held))
    odd = next(item for item in held if type(item) not in (str, int))
    hits = "  Hits of a search client are read in Python: germane.evaluate(qrels, json.load(file))."
    raise FormatError(
        f"{within}: a list holds items, which are text or integers; got {_describe(odd)}."
        f"{hits if isinstance(odd, dict) else ''}"
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


def _advise(given: Any) -> str:
    """Advice for a list of rows."""
    if isinstance(given, list) and given and isinstance(given[0], dict):
        return "  For one object on each line (JSON Lines), use input_format=jsonl."
    return ""
