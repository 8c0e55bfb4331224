"""Reads the category of each query from a file or frame of two columns, or from JSON."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

from germane.errors import FormatError, InputError, clip
from germane.kernel.ids import spell_id
from germane.readers import formats, nested_json
from germane.readers.frames import Frame, open_frame
from germane.readers.paths import Path, name_file

Found = TypeVar("Found", bound=dict[Hashable, Hashable])


class Categories(dict[Hashable, Hashable]):
    """The category of each query. In a file of text an integer is its digits."""

    def __missing__(self, query: Hashable) -> Hashable:
        spelled = spell_id(query)
        if spelled in self:
            return self[spelled]
        raise KeyError(query)

    def __contains__(self, query: object) -> bool:
        return super().__contains__(query) or super().__contains__(spell_id(query))


def read_categories(path: Path, *, numbers: bool = False) -> Categories:
    """Read a category for each query, or a number. Raises InputError for a query that has two."""
    chosen = formats.find_format(path, "by")
    if chosen == "json":
        return _read_nested(path, numbers)
    return _read_columns(formats.open_pairs(path, "by", chosen), Categories(), numbers)


def read_frame(raw: Any, *, numbers: bool = False) -> dict[Hashable, Hashable]:
    """Read a category or a number for each query from a frame. Integers never equal text."""
    return _read_columns(open_frame(raw, "by"), {}, numbers)


def _read_columns(frame: Frame, categories: Found, numbers: bool) -> Found:
    for row, record in frame.number_records():
        queries = frame.read_queries(record, row).python
        for query, category in zip(queries, _read_values(frame, record, row, numbers), strict=True):
            if categories.setdefault(query, category) != category:
                raise InputError(
                    f"{frame.where}: query {clip(query)} has two categories,"
                    f" {clip(categories[query])} and {clip(category)}."
                )
    return categories


def _read_values(frame: Frame, record: Any, row: int, numbers: bool) -> list[Any]:
    """Read categories, which are ids, or numbers, which a file of text holds as text."""
    name = frame.headings.item
    if numbers and name is not None and str(record.schema.field(name).type) in ("double", "float"):
        return list(frame.read_numbers(record, name, row, "number").tolist())
    return frame.read_ids(record, row)[1].python


def _read_nested(path: Path, numbers: bool) -> Categories:
    raw: Any = nested_json.read_object(path)
    where = name_file(path)
    for query, category in raw.items():
        if not isinstance(category, (str, int, float) if numbers else (str, int)):
            raise FormatError(
                f"{where}, query {clip(query)}: a category is text or an integer; got"
                f" {clip(category)}."
            )
    return Categories(raw)
