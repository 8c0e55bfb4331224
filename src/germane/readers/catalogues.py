"""Reads what measures of the catalogue need: items, what users saw, and how items differ."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values, parse_whole
from germane.core.catalogue import Catalogue, Seen
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    clip,
    explain_types,
    list_some,
    show_typed,
    write_option,
)
from germane.kernel.columns import Ids, Text, join_ids, read_bytes, read_python_ids
from germane.kernel.reduction import EVERY, find_distinct, open_index
from germane.readers import formats, frames, headings, mappings
from germane.readers.distances import OfPairs, Vectors, choose_side, open_distance, take_items
from germane.readers.files import TextFile
from germane.readers.inputs import Needs, ReadOptions
from germane.readers.item_numbers import ItemNumbers
from germane.readers.mapping_ids import take_keys
from germane.readers.paths import is_path
from germane.readers.recognition import open_pairs


@dataclass(frozen=True, eq=False)
class CatalogueOptions:
    """The arguments of a caller, once they are read."""

    items: Ids | None = None  # of the catalogue
    size: int | None = None  # of a catalogue whose items are not named
    of_seen: bool = False  # are the items that were seen the catalogue?
    seen: Qrels | None = None
    distance: Vectors | OfPairs | None = None
    is_text: bool = False  # do the items of the catalogue come from a file of text?

    def number(self, sample: Ids, is_text: bool) -> tuple[Catalogue, ItemNumbers]:
        """Number the items in advance, in the run's kind. ``is_text``: is it from a text file?"""
        sides = [] if self.items is None else [("the catalogue", self.items, self.is_text)]
        if self.seen is not None:
            sides.append(
                (
                    write_option("seen"),
                    read_python_ids(self.seen.items),
                    self.seen.ids == "text",
                )
            )
        named, distance = list(sides), self.distance
        if distance is not None and distance.ids is not None:
            named.append((write_option("distance"), distance.ids, distance.is_text))
        of_other_kind = [side for side in named if len(side[1]) and side[1].kind != sample.kind]
        for noun, ids, side_is_text in of_other_kind:
            if not (is_text or side_is_text):
                of_sample, of_side = (
                    f"{ids_of_side.kind} ({list_some(ids_of_side)})"
                    for ids_of_side in (sample, ids)
                )
                raise CoverageError(explain_types("item", noun, of_sample, of_side))
        numbers = ItemNumbers(as_text=bool(of_other_kind))
        places = [numbers.number(ids) for _, ids, _ in sides]
        size = self.size if self.items is None else int(places[0].max()) + 1
        seen = None
        if self.seen is not None:
            find = _make_finder(self.seen, is_text)
            seen = Seen(self.seen.offsets, places[-1], len(numbers), numbers.sort, find)
            size = len(numbers) if self.of_seen else size
        numbers.closed = size if self.items is not None or self.of_seen else None
        bound = (
            None if distance is None else distance.bind(lambda: numbers.ids, bool(of_other_kind))
        )
        return Catalogue(len(numbers), size, seen, bound), numbers


def read_options(reading: ReadOptions) -> CatalogueOptions:
    """Read ``catalogue``, ``seen`` and ``distance``."""
    raw = reading.catalogue
    if isinstance(raw, CatalogueOptions):
        return raw
    seen = None if reading.seen is None else _read_seen(reading.seen, reading)
    distance = None if reading.distance is None else open_distance(reading.distance, reading)
    size = _read_size(raw)
    if raw is None or size is not None:
        return CatalogueOptions(None, size, False, seen, distance)
    if isinstance(raw, str) and raw == "seen":
        if seen is None:
            raise InputError(
                f"catalogue='seen' takes the items of {write_option('seen', '…')}, which is"
                " missing."
            )
        return CatalogueOptions(None, None, True, seen, distance)
    items, is_text = _read_items(raw, reading)
    if not len(items):
        raise EmptyError(f"{write_option('catalogue')} has no items.")
    _refuse_repeats(items, raw)
    return CatalogueOptions(items, None, False, seen, distance, is_text)


def _read_size(raw: Any) -> int | None:
    """Read the number of items of a catalogue, also as text; None for anything else."""
    if isinstance(raw, str) and raw.isascii() and raw.isdecimal():
        size: int | None = int(raw)
    else:
        size = parse_whole(raw)
    if size is not None and size < 1:
        raise InputError(
            f"{write_option('catalogue')} takes a number of items of at least 1; got {clip(raw)}"
        )
    return size


def _read_seen(raw: Any, reading: ReadOptions) -> Qrels:
    if isinstance(raw, Qrels):
        return raw
    if mappings.is_rows(raw):
        raw = dict(enumerate(raw))
    if mappings.is_mapping(raw):
        seen = _read_users(raw)
    else:
        opened = open_pairs(raw, "seen", reading.columns, choose_side(reading, "seen"))
        if opened is None:
            raise InputError(
                f"{write_option('seen')} takes rows of user and item, as a file or a frame, or"
                f" {{user: items}}; got {clip(raw)}{_advise(raw)}"
            )
        seen = opened.read(EVERY, None, Needs())
    if not len(seen.items):
        raise EmptyError(f"{write_option('seen')} has no rows: no user has an item.")
    return seen


def _read_users(raw: Mapping[Any, Any]) -> Qrels:
    """Read the items of each user. Ratings beside them do not count."""
    if not raw:
        raise EmptyError(f"{write_option('seen')} has no rows.")
    headings.refuse_columns(write_option("seen"), raw)
    users = {
        user: list_values(items) for user, items in take_keys(write_option("seen"), raw).items()
    }
    for user, items in users.items():
        where = f"{write_option('seen')}, user {clip(user)}"
        if isinstance(items, (str, bytes)) or not isinstance(items, Collection):
            raise FormatError(
                f"{where}: what a user chose is a collection of items; got {show_typed(items)}"
            )
        users[user] = take_items(where, items)
    return Qrels(
        list(users),
        ragged.make_offsets([len(items) for items in users.values()]),
        [item for items in users.values() for item in items],
        np.ones(sum(map(len, users.values()))),
    )


def _read_items(raw: Any, reading: ReadOptions) -> tuple[Ids, bool]:
    """Read the items of a catalogue: a file, a frame with a column of them, or a collection."""
    if is_path(raw):
        return _read_file(raw, reading)
    if hasattr(raw, "column_names") or hasattr(raw, "columns"):
        return _read_column(frames.open_frame(raw, "catalogue", reading.columns)), False
    values = list_values(raw)
    if isinstance(values, (str, bytes)) or not isinstance(values, Collection):
        raise InputError(
            f"{write_option('catalogue')} takes the items, a file or a frame of them, their"
            f" number, or 'seen'; got {clip(raw)}{_advise(raw)}"
        )
    values = take_items(write_option("catalogue"), values)
    if isinstance(values, Set):  # whose order changes from process to process
        values = sorted(values, key=str)
    return read_python_ids(list(values)), False


def _refuse_repeats(items: Ids, raw: Any) -> None:
    """Raise DuplicateError for an item of the catalogue that is listed twice."""
    first, place = find_distinct(items)
    places = np.flatnonzero(first[place] != np.arange(len(items)))
    if len(places):
        row = int(places[0])
        where = os.fspath(raw) if is_path(raw) else write_option("catalogue")
        raise DuplicateError(
            f"{where}: item {clip(items.python[row])} is listed twice, as items"
            f" {int(first[place[row]]) + 1} and {row + 1}. Give each item once. (catalogue='seen'"
            f" takes the items of {write_option('seen')}, which may be repeated.)"
        )


def _read_file(path: Any, reading: ReadOptions) -> tuple[Ids, bool]:
    """Read a file with a column of items, or with an item on each line."""
    chosen = formats.find_format(path, "catalogue", choose_side(reading, "catalogue"))
    frame = formats.open_columns(path, "catalogue", chosen, reading.columns)
    if frame is None and chosen != "trec":
        raise InputError(
            f"{clip(os.fspath(path))}: a catalogue is a column of items or a file of lines, and"
            f" {chosen} has neither."
        )
    if frame is not None:
        _check_heading(frame, reading)
        return _read_column(frame), frame.ids == "text"
    lines: list[bytes] = []
    with TextFile(path, None) as file:
        for block in file.read_blocks("lines"):
            lines += [line.strip() for line in block.data.splitlines()]
    return read_bytes([line for line in lines if line]), True


def _read_column(frame: Any) -> Ids:
    parts = [frame.read_queries(record, row).compact() for row, record in frame.number_records()]
    return join_ids(parts) if parts else Text.empty()


def _check_heading(frame: Any, reading: ReadOptions) -> None:
    """Refuse a CSV file of one column whose first line may be a name or an item."""
    name = frame.headings.item
    known_names = {name.casefold() for name in headings.NAMES["item"]}
    is_named = name in (reading.columns or {}).values() or "catalogue" in (reading.columns or {})
    if frame.ids == "text" and name.casefold() not in known_names and not is_named:
        raise FormatError(
            f"{frame.where}: is {clip(name)} the name of the column, or an item? A file of this"
            f" format has a header, such as item_id; {write_option('columns', {'item': name})}"
            " takes another name. A file whose name ends with .txt has an item on each line, and no"
            " header."
        )


def _make_finder(seen: Qrels, is_text: bool) -> Callable[[Ids], Ints | None]:
    """Make a function that finds users in ``seen=``; None for types that never match."""
    known = read_python_ids(seen.queries)
    index = open_index(known)

    def find(users: Ids) -> Ints | None:
        as_text = users.kind != known.kind
        if as_text and not (is_text or seen.ids == "text"):
            return None
        return index(as_text).find(users.as_text() if as_text else users)

    return find


def _advise(raw: object) -> str:
    """Advise what makes another type of this."""
    if hasattr(raw, "collect"):
        return "  collect() turns it into a frame."
    if isinstance(raw, Iterator):
        return "  list(…) holds what it yields."
    if isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], tuple):
        return "  pandas.DataFrame(rows, columns=['user', 'item']) makes a frame of rows."
    return ""
