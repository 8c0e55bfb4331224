"""Reads frames whose cells hold the lists of queries, as with Spark's ALS, LlamaIndex and Kaggle.

They become ``{query: [item, …]}`` or hits, and are read like any others.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from germane.errors import DuplicateError, EmptyError, FormatError, clip, write_option
from germane.readers.arrow import Place
from germane.readers.hits import is_hits, read_hits
from germane.readers.mappings import MappedRun, RankedLists, ScoredMapping, is_scores

if TYPE_CHECKING:
    import pyarrow as pa

    from germane.readers.frames import Frame

Lists = dict[Hashable, Any]


def find_lists(frame: Frame) -> tuple[Lists | None, Frame]:
    """Read the lists, if cells hold any. Returns the frame, too, which may be read once.

    Cells are lists by their type; text is one by the name of its column, and blanks separate its
    items.
    """
    with suppress(EmptyError):
        head, frame = frame.read_head()
        if frame.headings.lists or _is_nested(head.column(frame.headings.item)):
            return _read_lists(frame), frame
    return None, frame


def open_lists(frame: Frame, *, lowest: bool) -> MappedRun:
    """Open the lists of a run. Raises FormatError for rows, which have no order."""
    item, beside = frame.headings.item, frame.headings.score or frame.headings.rank
    if beside is not None:
        raise FormatError(
            f"{frame.where}: {item!r} has the lists of items, and {beside!r} is beside it."
            f" frame.explode([{item!r}, {beside!r}]) makes a row of each item, with"
            f" {write_option('columns', {'item': item})}."
        )
    lists, frame = find_lists(frame)
    if lists is None:
        raise FormatError(f"{frame.headings.unordered}{_advise_split(frame)}")
    if is_hits(lists):
        lists = read_hits(lists, name_fields(frame), item, lowest=lowest)
    kind = ScoredMapping if is_scores(lists) else RankedLists
    return kind(lists, frame.name, frame.where, find_ids(frame), is_named=True)


def _advise_split(frame: Frame) -> str:
    """Advise on the first cell of a column of items, if it has several words."""
    cells = (cell for record in frame.records() for cell in record.column(frame.headings.item))
    first = next(cells, None)
    words = str(first).split() if first is not None else ()
    if len(words) < 2:
        return ""
    return f" If the cells are lists, {_advise_mapping(frame, 'cell.split()')}"


def find_ids(frame: Frame) -> str:
    """Are the ids of items typed, or text, since they are parts of text?"""
    nested = (_is_nested(record.column(frame.headings.item)) for record in frame.records())
    return frame.ids if next(nested, False) else "text"


def name_fields(frame: Frame) -> dict[str, Any]:
    """The fields of entries that the caller names."""
    return {} if frame.headings.field is None else {"item": frame.headings.field}


def _is_nested(column: pa.Array) -> bool:
    from pyarrow.types import is_fixed_size_list, is_large_list, is_list

    return any(check(column.type) for check in (is_list, is_large_list, is_fixed_size_list))


def _read_lists(frame: Frame) -> Lists:
    lists: Lists = {}
    name = frame.headings.item
    for row, record in frame.number_records():
        column, place = record.column(name), Place(frame.where, name, row, parts=frame.parts)
        cells, queries = column.to_pylist(), frame.read_queries(record, row)
        if not _is_nested(column):
            queries = queries.as_text()  # as their items
            cells = [_split(cell, place.at(row), frame) for row, cell in enumerate(cells)]
        elif _is_nested(column.flatten()):
            raise FormatError(
                f"{place}: the cells hold pairs, such as {clip(cells[0])}; "
                + _advise_mapping(frame, "dict(cell)")
            )
        for number, query in enumerate(queries.python):
            if query in lists:
                rows = f" {write_option('columns', {'item': name})} takes each cell as one item."
                raise DuplicateError(
                    f"{place.at(number)}: query {clip(query)} has a second list, and a query"
                    f" has one.{'' if _is_nested(column) else rows}"
                )
            lists[query] = cells[number]
    return lists


_SEPARATOR = re.compile(r"[,;|] ?")


def _split(cell: Any, where: str, frame: Frame) -> list[str]:
    """Split the items of a cell at blanks. Refuses text in which something else separates them."""
    if not isinstance(cell, str):
        raise FormatError(
            f"{where}: lists of items are needed, or text of items between blanks; got"
            f" {clip(cell)}. {write_option('columns', {'item': 'name'})} names another column."
        )
    separator = _SEPARATOR.search(cell)
    if cell.lstrip().startswith(("[", "(", "{")):
        read = "ast.literal_eval(cell)"
    elif separator is not None:
        read = f"cell.split({separator[0]!r})"
    else:
        return cell.split()
    raise FormatError(
        f"{where}: blanks separate the items of a cell, and this one is {clip(cell)};"
        f" {_advise_mapping(frame, read)}"
    )


def _advise_mapping(frame: Frame, entries: str) -> str:
    """Advise a mapping in the place of the frame; ``entries`` reads a cell."""
    pairs = f"zip(frame[{frame.headings.query!r}], frame[{frame.headings.item!r}])"
    read = ", with frame = pandas.read_csv(path, dtype=str)" * (frame.ids == "text")
    return f"give {{query: {entries} for query, cell in {pairs}}}{read}."
