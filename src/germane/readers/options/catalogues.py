"""Reads what measures of the catalogue need: items, what users saw, and how items differ."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.calls import list_values, parse_whole
from germane.core.catalogue import Catalogue, Distances, Lists, Seen
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    NotFoundError,
    clip,
    explain_types,
    list_some,
    show_typed,
    write_option,
)
from germane.kernel.ids import Ids, Text, join_ids, read_bytes, read_python_ids
from germane.kernel.reduction import EVERY, Index, find_distinct, open_index
from germane.readers.files import formats
from germane.readers.files.formats import EXPANSION, is_path, refuse_special
from germane.readers.files.line_blocks import TextFile, explain_arrow_error
from germane.readers.files.streams import FREE
from germane.readers.inputs import Needs, ReadOptions
from germane.readers.objects import frames, headings, mappings
from germane.readers.objects.item_ids import ItemNumbers, take_ids, take_keys
from germane.readers.objects.numbers import is_array, is_finite_number
from germane.readers.recognition import open_pairs

CELLS = 1 << 22  # numbers of vectors that are gathered at once
BOTH_WAYS = 64  # pairs of which a function is asked in both orders
MOST = 1e150  # of which millions can be added up
ROUNDING = 1e-9  # by which a distance may fall below 0, or differ both ways
OF_ONE_LENGTH = "the vectors must be lists of numbers, all of the same length."
TAKES = (
    f"{write_option('distance')} takes {{item: vector}}, a frame or a file of them, or a"
    " function of two items"
)


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector of length 1 for each of some items."""

    ids: Ids
    unit: Floats  # (I, D)
    is_text: bool = False  # from a file of text, where an integer is its digits

    def bind(self, ids: Callable[[], Ids], as_text: bool) -> Distances:
        """Make the functions of lists, whose items have the numbers of ``ids()``."""
        index = Index(self.ids.as_text() if as_text else self.ids)

        def place(items: Ints) -> Ints:
            used = np.unique(items)
            found = index.find(ids().take(used))
            if (found < 0).any():
                item = ids().take(used[found < 0][:1]).python[0]
                raise NotFoundError(
                    f"{write_option('distance')} has no vector for the item {clip(item)}."
                )
            places = np.zeros(int(used.max(initial=-1)) + 1, np.int64)
            places[used] = found
            return places[items]

        def sum_pairs(lists: Lists) -> tuple[Floats, Floats]:
            """Sum 1 − cosine over the pairs: (n² − |Σ v|²) ÷ 2 for unit vectors v."""
            placed, pairs = place(lists.items), _count_pairs(lists)
            squares, own_squares = np.zeros(len(lists)), np.zeros(len(lists))
            for these, rows, starts in self._cut(lists):
                units = self.unit[placed[rows]]
                squares[these] = (np.add.reduceat(units, starts) ** 2).sum(1)
                own_squares[these] = np.add.reduceat((units**2).sum(1), starts)
            return np.maximum(pairs - (squares - own_squares) / 2, 0.0), pairs

        def average(lists: Lists, second_lists: Lists) -> Floats:
            placed, around = place(lists.items), place(second_lists.items)
            centre = np.zeros((len(lists), self.unit.shape[1]))
            for these, rows, starts in self._cut(second_lists):
                sums = np.add.reduceat(self.unit[around[rows]], starts)
                centre[these] = sums / second_lists.sizes[these][:, None]
            value = np.zeros(len(placed))
            for _, rows, _ in self._cut(lists):
                value[rows] = 1 - (self.unit[placed[rows]] * centre[lists.owner[rows]]).sum(1)
            return np.maximum(value, 0.0)

        return Distances(sum_pairs, average)

    def _cut(self, lists: Lists) -> Iterator[tuple[Ints, slice, Ints]]:
        """Cut the filled lists into blocks: the lists, their rows, and where each list begins."""
        filled = np.flatnonzero(lists.sizes)
        most_lists = max(CELLS // (self.unit.shape[1] * int(lists.sizes.max(initial=1))), 1)
        for start in range(0, len(filled), most_lists):
            these = filled[start : start + most_lists]
            first, last = int(lists.offsets[these[0]]), int(lists.offsets[these[-1] + 1])
            yield these, slice(first, last), lists.offsets[these] - first


@dataclass(frozen=True, eq=False)
class OfPairs:
    """A function of two items, which is asked once for each pair."""

    function: Callable[[Any, Any], Any]
    ids: None = None
    is_text: bool = False

    def bind(self, ids: Callable[[], Ids], as_text: bool) -> Distances:
        """Make the functions of lists, whose items have the numbers of ``ids()``."""
        distances: dict[tuple[int, int], float] = {}

        def measure(a: int, b: int, names: Mapping[int, Hashable]) -> float:
            pair = (a, b) if a < b else (b, a)
            if pair not in distances:
                distances[pair] = self._ask(names[a], names[b])
                if len(distances) <= BOTH_WAYS:
                    self._refuse_directed(names[a], names[b], distances[pair])
            return distances[pair]

        def name(*items: Ints) -> dict[int, Hashable]:
            used = np.unique(np.concatenate(items))
            return dict(zip(used.tolist(), ids().take(used).python, strict=True))

        def sum_pairs(lists: Lists) -> tuple[Floats, Floats]:
            names = name(lists.items)
            items, ends = lists.items.tolist(), lists.offsets.tolist()
            sums = [
                sum(measure(a, b, names) for a, b in combinations(items[start:end], 2))
                for start, end in pairwise(ends)
            ]
            return np.array(sums, float), _count_pairs(lists)

        def average(lists: Lists, second_lists: Lists) -> Floats:
            names, ends = name(lists.items, second_lists.items), second_lists.offsets.tolist()
            around, values = second_lists.items.tolist(), []
            for item, owner in zip(lists.items.tolist(), lists.owner.tolist(), strict=True):
                these = around[ends[owner] : ends[owner + 1]]
                sums = sum(measure(item, second_item, names) for second_item in these)
                values.append(sums / max(len(these), 1))
            return np.array(values, float)

        return Distances(sum_pairs, average)

    def _ask(self, a: Hashable, b: Hashable) -> float:
        """Ask for a distance. Raises InputError unless it is a number from 0 on."""
        noun = f"{write_option('distance')} of {clip(a)} and {clip(b)}"
        try:
            distance = self.function(a, b)
        except KeyError:
            raise NotFoundError(f"{noun} is not known: the function raises KeyError.") from None
        except Exception as error:  # what a function raises is not known beforehand
            raise InputError(f"{noun} is not known: the function raises {clip(error)}.") from error
        if not is_finite_number(distance):
            raise InputError(f"{noun} is a finite number; got {show_typed(distance)}")
        if distance < -ROUNDING:
            raise InputError(
                f"{noun} is {float(distance):g}, but a distance is 0 or more. For a similarity s,"
                " return 1 - s."
            )
        if distance > MOST:
            raise InputError(f"{noun} is {float(distance):g}, but a distance is at most {MOST:g}.")
        return float(distance)

    def _refuse_directed(self, a: Hashable, b: Hashable, forward: float) -> None:
        """Refuse a distance that depends on which item comes first."""
        backward = self._ask(b, a)
        if abs(forward - backward) > ROUNDING * max(forward, backward, 1.0):
            raise InputError(
                f"{write_option('distance')} of {clip(a)} and {clip(b)} is {forward:g}, but that"
                f" of {clip(b)} and {clip(a)} is {backward:g}; a distance is the same both ways."
            )


def _count_pairs(lists: Lists) -> Floats:
    sizes = lists.sizes.astype(float)
    pairs: Floats = sizes * (sizes - 1) / 2
    return pairs


def open_distance(raw: Any, reading: ReadOptions) -> Vectors | OfPairs:
    """Recognize vectors by item, or a function. Raises InputError for anything else."""
    if isinstance(raw, Mapping):
        return _read_mapping(raw)
    if is_path(raw):
        return _read_vectors_file(raw, reading)
    if hasattr(raw, "column_names") or hasattr(raw, "columns"):
        return _read_frame(frames.open_frame(raw, "distance", reading.columns))
    if callable(raw):
        return OfPairs(raw)
    of_rows = "  dict(zip(items, array)) names the items of an array." * is_array(raw)
    raise InputError(f"{TAKES}; got {clip(raw)}{of_rows}")


def _read_mapping(raw: Mapping[Any, Any]) -> Vectors:
    try:
        vectors = np.array([np.asarray(vector, float) for vector in raw.values()])
    except (TypeError, ValueError):
        vectors = np.zeros(0)
    return _scale(
        read_python_ids(list(take_items(write_option("distance"), raw))),
        vectors,
        write_option("distance"),
    )


def _read_vectors_file(path: Any, reading: ReadOptions) -> Vectors:
    where = os.fspath(path)
    if str(where).casefold().endswith(".npz"):
        return _read_arrays(where)
    chosen = formats.find_format(path, "distance", choose_side(reading, "distance"))
    frame = formats.open_columns(path, "distance", chosen, reading.columns)
    if frame is None:
        raise InputError(
            f"{clip(where)}: vectors are a column of items and columns of numbers, and the format"
            f" {chosen} has none; a file is .csv, .tsv, .parquet, .arrow, .jsonl or .npz."
        )
    return _read_frame(frame)


_BROKEN = zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, LookupError
"""The errors of an archive that was cut, changed or encrypted."""


def _refuse_bomb(where: str) -> None:
    """Refuse an archive that would become much larger than it is."""
    with suppress(*_BROKEN), zipfile.ZipFile(where) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > FREE and size > EXPANSION * os.path.getsize(where):
            raise FormatError(
                f"{where}: the arrays expand to more than {EXPANSION} times the size of the file:"
                f" {size:,} bytes. Check the file."
            )


def _read_arrays(where: str) -> Vectors:
    """Read an .npz file with one array of items and one of their vectors."""
    refuse_special(where)
    with explain_arrow_error(where):
        _refuse_bomb(where)
        try:
            with np.load(where, allow_pickle=False) as file:
                arrays = [file[name] for name in file.files]
        except (*_BROKEN, ValueError, EOFError, AttributeError, MemoryError):
            raise FormatError(f"{where}: this is not an .npz file of numbers and text.") from None
    items = [array for array in arrays if array.ndim == 1]
    vectors = [array for array in arrays if array.ndim == 2]
    if len(items) != 1 or len(vectors) != 1 or len(items[0]) != len(vectors[0]):
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise FormatError(
            f"{where}: an array of n items and one of their vectors (n, d) are needed; found"
            f" {shapes or 'none'}."
        )
    return _scale(read_python_ids(list(take_items(where, items[0].tolist()))), vectors[0], where)


def _read_frame(frame: Any) -> Vectors:
    ids, parts = [], []
    names = [name for _, name in frame.headings.numbers]
    for row, record in frame.number_records():
        ids.append(frame.read_queries(record, row).compact())
        lists = [name for name in names if "list<" in str(record.column(name).type)]
        if lists:
            where = f"{frame.where}, column {lists[0]!r}"
            parts.append(_read_nested(record.column(lists[0]), where))
        else:
            parts.append(np.stack([frame.read_numbers(record, n, row, "number") for n in names], 1))
    if not ids:
        raise EmptyError(f"{frame.where}: there are no rows of item and vector.")
    if len({part.shape[1] for part in parts}) > 1:
        raise FormatError(f"{frame.where}: {OF_ONE_LENGTH}")
    return _scale(join_ids(ids), np.concatenate(parts), frame.where, frame.ids == "text")


def _read_nested(column: Any, where: str) -> Floats:
    """Read a column of lists of numbers, all of one length."""
    try:
        vectors = np.array([np.asarray(vector, float) for vector in column.to_pylist()])
        return vectors.reshape(len(column), -1)
    except (TypeError, ValueError):
        raise FormatError(f"{where}: {OF_ONE_LENGTH}") from None


def _scale(ids: Ids, vectors: Any, where: str, is_text: bool = False) -> Vectors:
    """Scale the vectors to length 1. Refuses one that is zero, not finite or repeated."""
    if not len(ids):
        raise EmptyError(f"{where} has no vectors.")
    if vectors.ndim != 2 or not vectors.shape[1] or vectors.dtype.kind not in "fiub":
        raise InputError(f"{where}: {OF_ONE_LENGTH}")
    vectors = vectors.astype(float)
    largest = np.abs(vectors).max(1)  # whose squares may be beyond the range of doubles
    places = np.flatnonzero(~np.isfinite(largest) | (largest == 0))
    if len(places):
        item = ids.take(places[:1]).python[0]
        raise InputError(f"{where}: the vector of item {clip(item)} is zero or not finite.")
    first, place = find_distinct(ids)
    if len(first) < len(ids):
        repeat = int(np.flatnonzero(first[place] != np.arange(len(ids)))[0])
        raise DuplicateError(f"{where}: item {clip(ids[repeat])} has two vectors.")
    unit = vectors / largest[:, None]
    return Vectors(ids, unit / np.sqrt((unit**2).sum(1))[:, None], is_text)


def choose_side(reading: ReadOptions, side: str) -> str | None:
    """Choose the format named for a side; one for qrels and run says nothing of other sides."""
    named = reading.input_format
    return named.get(side) if isinstance(named, Mapping) else None


def take_items(where: str, items: Collection[Any]) -> Collection[Any]:
    """Take items out of what holds them. Refuses those that are missing, or no whole numbers."""
    taken = take_ids(where, items)
    fraction = next((item for item in taken if isinstance(item, float)), None)
    if fraction is not None:
        raise FormatError(
            f"{where}: an item is text or a whole number; got {clip(fraction)}. Integers become"
            " floats where a value is missing; cast the column to int64."
        )
    return taken


# --- Reads what measures of the catalogue need: items, what users saw, and how items differ -------


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
        return _read_items_file(raw, reading)
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


def _read_items_file(path: Any, reading: ReadOptions) -> tuple[Ids, bool]:
    """Read a file with a column of items, or with an item on each line."""
    chosen = formats.find_format(path, "catalogue", choose_side(reading, "catalogue"))
    frame = formats.open_columns(path, "catalogue", chosen, reading.columns)
    if frame is None and chosen != "trec":
        raise InputError(
            f"{clip(os.fspath(path))}: a catalogue is a column of items or a file of lines, but"
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
    query_ids = read_python_ids(seen.queries)
    index = open_index(query_ids)

    def find(users: Ids) -> Ints | None:
        as_text = users.kind != query_ids.kind
        if as_text and not (is_text or seen.ids == "text"):
            return None
        return index(as_text).find(users.as_text() if as_text else users)

    return find


def _advise(raw: object) -> str:
    """Advise what makes another type of this."""
    if hasattr(raw, "collect"):
        return "  collect() turns it into a frame."
    if isinstance(raw, Iterator):
        return "  Pass list(…) of it."
    if isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], tuple):
        return "  pandas.DataFrame(rows, columns=['user', 'item']) makes a frame of rows."
    return ""
