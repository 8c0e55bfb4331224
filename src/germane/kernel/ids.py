"""Ids of items and queries as columns: integers, text, or categories of text, compared by bytes."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard
from uuid import UUID

import numpy as np

from germane.core import ragged
from germane.core.id_spelling import unwrap_id
from germane.core.ragged import Bools, Ints
from germane.errors import clip, has_arrow, write_option
from germane.kernel import library

if TYPE_CHECKING:
    import pyarrow as pa


def to_bytes(identifier: Hashable) -> bytes:
    """Convert an id to the bytes that a file has for it."""
    if isinstance(identifier, bytes):
        return identifier
    text = identifier if isinstance(identifier, str) else _decode(identifier)
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _decode(identifier: Hashable) -> str:
    try:
        return str(identifier)
    except ValueError:  # an integer of more digits than str() allows
        if not isinstance(identifier, int):
            raise
        return format(Decimal(identifier), "f")


def to_text(identifier: bytes) -> str:
    """Convert an id from a file to text."""
    return identifier.decode("utf-8", "surrogateescape")


def spell_id(identifier: Any) -> Any:
    """Spell an id as a file of text does. A value unlike ids, such as a score, stays as it is."""
    identifier = unwrap_id(identifier)
    if is_integer(identifier) or isinstance(identifier, (bytes, UUID)):
        return to_text(to_bytes(identifier))
    return identifier


def is_integer(identifier: object) -> TypeGuard[int | np.integer[Any]]:
    """Is this an integer of Python's or of NumPy's, and not a truth value?"""
    return isinstance(identifier, (int, np.integer)) and not isinstance(identifier, bool)


def as_integer(identifier: Any) -> Any:
    """Convert the digits of a whole number from 0 to it; other ids, such as ``"07"``, stay."""
    if isinstance(identifier, str) and _DIGITS.fullmatch(identifier):
        return int(identifier)
    return identifier


_DIGITS = re.compile("0|[1-9][0-9]{0,18}")


PADDING = ("-1", "-1.0")
"""The texts of -1: columns of numbers with a missing value are written with decimals."""
_PADDING = (*PADDING, *map(str.encode, PADDING))


def is_padding(identifier: Any) -> bool:
    """Is this -1, which fills up lists of a fixed length?"""
    if isinstance(identifier, (int, float, np.number)):
        return bool(identifier == -1)
    return identifier in _PADDING


def advise_repeat(item: Hashable, usual: str) -> str:
    """Advise what to do about an item that is retrieved twice; of -1, say what it is."""
    if not is_padding(item):
        return usual
    return f"It pads lists of a fixed length, and {write_option('padding', 'drop')} takes it out."


def is_missing(value: Any) -> bool:
    """Is this a missing value: None, NaN, or another library's?"""
    if value is None or getattr(value, "is_valid", True) is False:  # Arrow's
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # pandas' NA is neither; a signalling NaN
        return True


def show_id(identifier: bytes) -> str:
    """Write an id in an error message: quoted, and shortened if it is long."""
    try:
        return clip(identifier.decode())
    except UnicodeDecodeError:
        return clip(identifier).removeprefix("b")


def sort_by_bytes(identifiers: list[Any]) -> Ints:
    """Sort ids by their bytes. Returns their positions in ascending order."""
    try:
        text = "\n".join(identifiers).encode()
    except (TypeError, UnicodeEncodeError):  # ids that are not text, or not UTF-8
        return _sort(list(map(to_bytes, identifiers)))
    data = np.frombuffer(text + bytes(_SHORT), np.uint8)
    ends = np.append(np.flatnonzero(data[: len(text)] == ord("\n")), len(text))
    starts = np.append(0, ends[:-1] + 1)
    size = ends - starts
    if len(ends) != len(identifiers) or b"\0" in text or size.max() > _SHORT:
        return _sort(identifiers)  # Python orders text as UTF-8 orders its bytes
    words = np.ndarray(len(data) - 7, ">u8", data, strides=(1,))
    first = words[starts].astype(np.uint64) & _MASKS[np.minimum(size, 8)]
    if size.max() <= 8:
        return np.argsort(first)
    rest = np.minimum(np.maximum(size - 8, 0), 8)
    return np.lexsort((words[starts + 8].astype(np.uint64) & _MASKS[rest], first))


_SHORT = 16  # bytes that two words hold
# the bytes of a big-endian word that belong to an id of 0 … 8 bytes
_MASKS = ~np.array([(1 << 8 * (8 - n)) - 1 for n in range(9)], np.uint64)


def _sort(keys: list[Any]) -> Ints:
    return np.array(sorted(range(len(keys)), key=keys.__getitem__))


# --- Columns of ids: integers, text, or categories of text ----------------------------------------
#
# Ids are compared in their own types. Python values are made only for the rows that are asked for.
# pyarrow is imported when it is needed, since that takes longer than evaluating a small file.


class Ids(Sequence[Hashable]):
    """A column of ids, and a sequence of their Python values."""

    kind: str  # integer or text; or words for ids of several types

    @abstractmethod
    def part(self, start: int, stop: int) -> Ids:
        """View the rows from start to stop."""

    @abstractmethod
    def take(self, rows: Ints) -> Ids:
        """Copy the rows at some places."""

    @abstractmethod
    def as_text(self) -> Text:
        """Convert the ids to text; an integer becomes its decimal digits."""

    @abstractmethod
    def to_arrow(self) -> pa.Array:
        """Convert to an Arrow array of integers or of binary text."""

    @cached_property
    @abstractmethod
    def python(self) -> list[Hashable]:
        """All ids as Python values."""

    @cached_property
    @abstractmethod
    def column(self) -> library.Column:
        """The ids as the compiled kernel takes them."""

    def compact(self) -> Ids:
        """Copy the ids out of the memory that they share with others."""
        return self.take(np.arange(len(self)))

    def rank_falling(self, rows: Ints) -> Ints:
        """Number some rows from the last id to the first, by the bytes of their text."""
        texts = self.take(rows).as_text()
        if not has_arrow():
            falling = sorted(set(texts.to_bytes()), reverse=True)
            places = {text: place for place, text in enumerate(falling)}
            return np.array([places[text] for text in texts.to_bytes()], np.int64)
        from pyarrow import compute

        return read_arrow_values(
            compute.rank(texts.to_arrow(), sort_keys="descending", tiebreaker="dense")
        )

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.python)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed, such as addresses in memory."""
        return {
            name: value for name, value in vars(self).items() if name not in ("column", "python")
        }

    def __getitem__(self, place: Any) -> Any:
        if "python" in self.__dict__ or (isinstance(place, slice) and place.step not in (None, 1)):
            return self.python[place]
        if isinstance(place, slice):
            start, stop, _ = place.indices(len(self))
            return self.part(start, max(start, stop)).python
        row = range(len(self))[place]
        return self.part(row, row + 1).python[0]


class Integers(Ids):
    """Ids that are integers of 64 bits."""

    kind = "integer"

    def __init__(self, values: Ints) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def python(self) -> list[Hashable]:
        return self.values.tolist()  # type: ignore[no-any-return]

    @cached_property
    def column(self) -> library.Column:
        return library.Column.of_integers(self.values)

    def part(self, start: int, stop: int) -> Integers:
        return Integers(self.values[start:stop])

    def take(self, rows: Ints) -> Integers:
        return Integers(self.values[rows])

    def as_text(self) -> Text:
        if not has_arrow():
            return read_bytes([b"%d" % value for value in self.values.tolist()])
        import pyarrow as pa

        return read_arrow_text(self.to_arrow().cast(pa.string()))

    def to_arrow(self) -> pa.Array:
        import pyarrow as pa

        kind = pa.uint64() if self.values.dtype == np.uint64 else pa.int64()
        values = np.ascontiguousarray(self.values)
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


class Text(Ids):
    """Text as bytes: id i is ``data[starts[i]:starts[i] + sizes[i]]``."""

    kind = "text"

    def __init__(self, data: Any, starts: Ints, sizes: Ints) -> None:
        self.data, self.starts, self.sizes = data, starts, sizes  # data: array of uint8

    @classmethod
    def empty(cls) -> Text:
        """No ids."""
        return read_bytes([])

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def python(self) -> list[Hashable]:
        return [identifier.decode("utf-8", "surrogateescape") for identifier in self.to_bytes()]

    def to_bytes(self) -> list[bytes]:
        """The bytes of each id."""
        view, starts = memoryview(self.data), self.starts.tolist()
        sizes = self.sizes.tolist()
        return [
            bytes(view[start : start + size]) for start, size in zip(starts, sizes, strict=True)
        ]

    @cached_property
    def column(self) -> library.Column:
        return library.Column.of_spans(self.data, self.starts, self.sizes)

    def part(self, start: int, stop: int) -> Text:
        return Text(self.data, self.starts[start:stop], self.sizes[start:stop])

    def take(self, rows: Ints) -> Text:
        return Text(self.data, self.starts[rows], self.sizes[rows])

    def as_text(self) -> Text:
        return self

    def compact(self) -> Text:
        ends = ragged.make_offsets(self.sizes)
        if self._is_contiguous():
            first = int(self.starts[0]) if len(self) else 0
            return Text(self.data[first : first + int(ends[-1])].copy(), ends[:-1], self.sizes)
        if int(ends[-1]) > _LONG * len(self):  # faster than listing the place of each byte
            return Text(np.frombuffer(b"".join(self.to_bytes()), np.uint8), ends[:-1], self.sizes)
        positions = np.repeat(self.starts - ends[:-1], self.sizes)
        positions += np.arange(len(positions))
        return Text(self.data[positions], ends[:-1], self.sizes)

    def _is_contiguous(self) -> bool:
        """Does each id begin where the one before ends?"""
        return bool((self.starts[1:] == self.starts[:-1] + self.sizes[:-1]).all())

    def to_arrow(self) -> pa.Array:
        import pyarrow as pa

        text = self if self._is_contiguous() else self.compact()
        first = int(text.starts[0]) if len(text) else 0
        offsets = ragged.make_offsets(text.sizes) + first
        narrow = int(offsets[-1]) <= np.iinfo(np.int32).max
        offsets = offsets.astype(np.int32 if narrow else np.int64)
        data = pa.py_buffer(np.ascontiguousarray(text.data))
        return pa.Array.from_buffers(
            pa.binary() if narrow else pa.large_binary(),
            len(text),
            [None, pa.py_buffer(offsets), data],
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes and the lengths."""
        sent = self.compact()
        return _unpickle, (sent.data, sent.sizes.astype(np.uint32), self.kind)


_LONG = 64  # bytes of a text, on average


def _unpickle(data: Any, sizes: Ints, kind: str) -> Text:
    sizes = sizes.astype(np.int64)
    text = Text(data, ragged.make_offsets(sizes)[:-1], sizes)
    text.kind = kind
    return text


class Categories(Ids):
    """Each id is the number of an entry in a list of distinct texts."""

    kind = "text"

    def __init__(self, codes: Ints, entries: Text) -> None:
        self.codes, self.entries = codes.astype(np.int32, copy=False), entries

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def python(self) -> list[Hashable]:
        if len(self.codes) < len(self.entries):
            return self.as_text().python
        return list(map(self.entries.python.__getitem__, self.codes.tolist()))

    @cached_property
    def column(self) -> library.Column:
        return library.Column.of_codes(self.codes, self.entries.column)

    def part(self, start: int, stop: int) -> Categories:
        return Categories(self.codes[start:stop], self.entries)

    def take(self, rows: Ints) -> Categories:
        return Categories(self.codes[rows], self.entries)

    def as_text(self) -> Text:
        return self.entries.take(self.codes)

    def to_arrow(self) -> pa.Array:
        return self.as_text().to_arrow()

    def compact(self) -> Ids:
        if len(self.entries) <= len(self.codes):
            return Categories(self.codes.copy(), self.entries)
        used, codes = np.unique(self.codes, return_inverse=True)
        return Categories(codes, self.entries.take(used).compact())


# --- Made from other things -------------------------------------------------------------------


def read_bytes(values: Sequence[bytes]) -> Text:
    """Make a column of texts."""
    return _cut_text(b"".join(values), list(map(len, values)))


def _cut_text(data: bytes, sizes: Sequence[int]) -> Text:
    ends = ragged.make_offsets(sizes)
    return Text(np.frombuffer(data, np.uint8), ends[:-1], np.diff(ends))


def read_arrow_text(array: pa.Array) -> Text:
    """Make a column of an Arrow array of text or bytes, without a copy where possible."""
    import pyarrow as pa

    kind, size = str(array.type), len(array)
    if kind in ("string_view", "binary_view"):
        short = _read_short_views(array) if size else None
        if short is not None:
            return short
        array = array.cast(pa.large_binary() if kind == "binary_view" else pa.large_string())
        kind = str(array.type)
    if kind.startswith("fixed_size_binary"):
        width = array.type.byte_width
        starts = (np.arange(size) + array.offset) * width
        return Text(_view_bytes(array.buffers()[1]), starts, np.full(size, width))
    _, offsets, data = array.buffers()
    if not size or offsets is None:
        return Text.empty()
    dtype = np.int64 if kind.startswith("large") else np.int32
    ends = np.frombuffer(offsets, dtype)[array.offset : array.offset + size + 1]
    return Text(_view_bytes(data), ends[:-1], np.diff(ends))


def _view_bytes(buffer: pa.Buffer | None) -> Any:
    return np.frombuffer(b"" if buffer is None else buffer, np.uint8)


def read_arrow_values(array: pa.Array) -> Ints:
    """View the values of an array of numbers, or copy truth values as bytes.

    Arrow's own to_numpy imports pandas if it is installed, which takes longer than reading a small
    file.
    """
    data, kind = array.buffers()[1], str(array.type)
    if data is None:
        return np.zeros(0, np.int64)
    if kind == "bool":
        bits = np.frombuffer(data, np.uint8)
        return np.unpackbits(bits, bitorder="little")[array.offset : array.offset + len(array)]
    values = np.frombuffer(data, "float64" if kind == "double" else kind)
    return values[array.offset : array.offset + len(array)]


_VIEW, _INLINE = 16, 12  # bytes of a view, and of the longest text inside of a view


def _read_short_views(array: pa.Array) -> Text | None:
    """Read an array of views if each of its texts is inside of its view; else return None."""
    views = np.frombuffer(array.buffers()[1], np.uint8)
    views = views[array.offset * _VIEW : (array.offset + len(array)) * _VIEW]
    sizes = views.view(np.int32)[:: _VIEW // 4]
    if sizes.max() > _INLINE:
        return None
    return Text(views, np.arange(len(array)) * _VIEW + 4, sizes)


def read_python_ids(ids: Sequence[Hashable]) -> Ids:
    """Make a column of Python values: of integers if all of them are integers, otherwise of text.

    If only some are integers, its kind is neither, so that it matches no other column.
    """
    if isinstance(ids, Ids):
        return ids
    kinds = set(map(type, ids))
    if kinds == {str} and (joined := "".join(ids)).isascii():  # type: ignore[arg-type]
        return _cut_text(joined.encode(), list(map(len, ids)))  # type: ignore[arg-type]
    integers = {kind for kind in kinds if issubclass(kind, (int, np.integer)) and kind is not bool}
    if kinds and integers == kinds:
        for width in (np.int64, np.uint64):
            if width is np.uint64 and any(identifier < 0 for identifier in ids):  # type: ignore[operator]
                break  # NumPy 1 makes large numbers of them
            try:
                return Integers(np.array(ids, width))
            except OverflowError:
                continue
    text = read_bytes(list(map(to_bytes, ids)))
    if integers:
        text.kind = "of several types" if integers < kinds else "integer beyond 64 bits"
    return text


def mark_padding(ids: Ids) -> Bools:
    """Mark the rows with the id -1, as a number or as text."""
    if isinstance(ids, Integers):
        return ids.values == -1 if ids.values.dtype.kind == "i" else np.zeros(len(ids), bool)
    if isinstance(ids, Categories):
        return mark_padding(ids.entries)[ids.codes] if len(ids) else np.zeros(0, bool)
    if isinstance(ids, Text):
        marked = np.zeros(len(ids), bool)
        for text in PADDING:
            rows = np.flatnonzero(ids.sizes == len(text))
            for place, letter in enumerate(text.encode()):
                rows = rows[ids.data[ids.starts[rows] + place] == letter]
            marked[rows] = True
        return marked
    return np.fromiter(map(is_padding, ids.python), bool, len(ids))


def number_ids(ids: Ids) -> tuple[Ints, Ids]:
    """Number the ids. Returns the number of each id, and the distinct ids."""
    if isinstance(ids, Categories):
        return ids.codes, ids.entries
    if isinstance(ids, Integers):
        distinct, numbers = np.unique(ids.values, return_inverse=True)
        return numbers, Integers(distinct)
    if ids.kind == "python":
        codes: dict[Any, int] = {}
        return np.array(
            [codes.setdefault(identifier, len(codes)) for identifier in ids], np.int64
        ), ids
    if not has_arrow():
        numbers_of_texts: dict[bytes, int] = {}
        texts = ids.as_text().to_bytes()
        listed = [numbers_of_texts.setdefault(text, len(numbers_of_texts)) for text in texts]
        return np.array(listed, np.int64), read_bytes(list(numbers_of_texts))
    encoded = ids.to_arrow().dictionary_encode()
    return read_arrow_values(encoded.indices), read_arrow_text(encoded.dictionary)


def join_ids(parts: Sequence[Ids]) -> Ids:
    """Join several columns of one kind."""
    if len(parts) == 1:
        return parts[0]
    integers = [part.values for part in parts if isinstance(part, Integers)]
    if len(integers) == len(parts):
        if len({values.dtype for values in integers}) > 1:
            return join_ids([part.as_text() for part in parts])
        return Integers(np.concatenate(integers))
    categories = [part for part in parts if isinstance(part, Categories)]
    entries = list({id(part.entries): part.entries for part in categories}.values())
    if len(categories) == len(parts) and sum(map(len, entries)) <= sum(map(len, parts)):
        return _join_categories(categories, entries)
    return _join_texts([part.as_text() for part in parts])


def _join_categories(parts: Sequence[Categories], entries: Sequence[Text]) -> Categories:
    if len(entries) == 1:
        return Categories(np.concatenate([part.codes for part in parts]), entries[0])
    numbers, distinct = number_ids(_join_texts(entries))
    starts = dict(zip(map(id, entries), ragged.make_offsets(list(map(len, entries))), strict=False))
    codes = [numbers[starts[id(part.entries)] :][part.codes] for part in parts]
    return Categories(np.concatenate(codes), distinct.as_text())


def _join_texts(parts: Sequence[Text]) -> Text:
    texts = [part.compact() for part in parts]  # without the other bytes in their memory
    before = ragged.make_offsets([len(text.data) for text in texts]).tolist()
    return Text(
        np.concatenate([text.data for text in texts]),
        np.concatenate([text.starts + shift for text, shift in zip(texts, before, strict=False)]),
        np.concatenate([text.sizes for text in texts]),
    )
