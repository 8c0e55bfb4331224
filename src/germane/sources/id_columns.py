"""Columns of ids, as integers or as text: compared by 64-bit words, never as Python objects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from germane._cached import cached
from germane._ragged import Bools, Ints
from germane.errors import FormatError
from germane.sources import binary, even, views
from germane.sources.alike import Keys, shortened
from germane.sources.binary import Words
from germane.sources.ids import to_bytes, to_text
from germane.sources.slots import Table

if TYPE_CHECKING:
    import pyarrow as pa

_SPREAD = np.uint64(0xD1342543DE82EF95)  # odd: the product is one to one


class IdColumn(Sequence[Hashable]):
    """Some ids. As a sequence it holds Python values, which are made when one is asked for."""

    kind: str  # integer or text
    _among: tuple[IdColumn, Ints] | None = None

    def __getitem__(self, at: Any) -> Any:
        """Of a column that nobody has made Python values of, no others are made than these."""
        if "python" in self.__dict__ or (isinstance(at, slice) and at.step not in (None, 1)):
            return self.python[at]
        if isinstance(at, slice):
            start, stop, _ = at.indices(len(self))
            return self.part(start, max(start, stop)).python
        place = range(len(self))[at]
        return self.part(place, place + 1).python[0]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.python)

    @property
    @abstractmethod
    def python(self) -> list[Hashable]:
        """The ids as Python values."""

    @abstractmethod
    def words(self) -> Words:
        """A 64-bit hash of each id; an id has the same in every column of its kind."""

    @cached
    def all_words(self) -> Words:
        """The same, kept."""
        return self.words()

    @cached
    def keys(self) -> Keys:
        """The hashes in ascending order."""
        return Keys(self.all_words)

    @cached
    def may_repeat(self) -> bool:
        """Does one of the ids stand there twice? Perhaps so, where the hashes of two are equal."""
        if not self.keys.alike:  # whose hashes are a little shorter
            return False
        words = np.sort(self.all_words)
        return bool((words[1:] == words[:-1]).any())

    def words_at(self, rows: Ints | slice) -> Words:
        """The hashes of some ids."""
        return self.all_words[rows]

    @property
    def numbers(self) -> Words:
        """Numbers of at most 64 bits, the same ones for the same ids."""
        return self.all_words

    @cached
    def finder(self) -> Index:
        """Where each id stands, of ids that are there once."""
        return Index(self)

    def among(self, others: IdColumn) -> Ints:
        """Where each id stands among others, both without repeats; beyond these what they lack.

        It is kept for the last of the others.
        """
        kept = self._among  # another thread may ask among others
        if kept is None or kept[0] is not others:
            place = len(others) + np.arange(len(self), dtype=np.int32)
            mine, theirs = self._shared(others)
            place[mine] = theirs
            kept = self._among = others, place
        return kept[1]

    def _shared(self, others: IdColumn) -> tuple[Ints, Ints]:
        """Where the ids that both have stand here and there, both without repeats."""
        pairs = self.keys.pairs(others.keys)
        if pairs is None:  # words of several ids are alike
            place = self.finder.places(others)
            found = np.flatnonzero(place >= 0)
            return place[found], found
        same = equal(self, pairs[0], others, pairs[1])
        return pairs[0][same], pairs[1][same]

    @abstractmethod
    def changes(self) -> Ints:
        """The rows whose id is not the one before, the first row included."""

    @abstractmethod
    def part(self, start: int, stop: int) -> IdColumn:
        """The rows of a stretch, without a copy."""

    @abstractmethod
    def chosen(self, rows: Ints) -> IdColumn:
        """Some of the rows."""

    @abstractmethod
    def text(self) -> Texts:
        """The ids as text; an integer is its decimal digits."""


class Integers(IdColumn):
    """Ids that are integers of 64 bits."""

    kind = "integer"

    def __init__(self, values: Ints) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached
    def python(self) -> list[Hashable]:
        return self.values.tolist()  # type: ignore[no-any-return]

    @cached
    def top(self) -> int:
        """The largest; it is above all of 63 bits where one is below 0."""
        return int(self.numbers.max(initial=0))

    def words(self) -> Words:
        return self.numbers * _SPREAD

    @property
    def numbers(self) -> Words:
        return self.values.view(np.uint64)

    def changes(self) -> Ints:
        if not len(self.values):
            return np.zeros(0, np.int64)
        return np.append(0, np.flatnonzero(self.values[1:] != self.values[:-1]) + 1)

    def part(self, start: int, stop: int) -> Integers:
        return Integers(self.values[start:stop])

    def chosen(self, rows: Ints) -> Integers:
        return Integers(self.values[rows])

    def text(self) -> Texts:
        import pyarrow as pa

        kind = pa.uint64() if self.values.dtype == np.uint64 else pa.int64()
        buffers = [None, pa.py_buffer(np.ascontiguousarray(self.values))]
        integers = pa.Array.from_buffers(kind, len(self.values), buffers)
        return Texts(integers.cast(pa.string()).view(pa.binary()))


class Texts(IdColumn):
    """Ids that are text, as bytes."""

    kind = "text"

    def __init__(self, values: pa.BinaryArray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached
    def python(self) -> list[Hashable]:
        import pyarrow as pa

        try:
            return self.values.view(pa.string()).to_pylist()  # type: ignore[no-any-return]
        except UnicodeDecodeError:
            return list(map(to_text, self.values.to_pylist()))

    @cached
    def spans(self) -> binary.Spans:
        """Where each id stands."""
        return binary.of_array(self.values)

    @cached
    def even(self) -> even.Even | None:
        """The same where the ids have one length."""
        return even.of(self.spans)

    def words(self) -> Words:
        return binary.hashes(self.spans) if self.even is None else even.hashes(self.even)

    def changes(self) -> Ints:
        return binary.changes(self.spans) if self.even is None else even.changes(self.even)

    def part(self, start: int, stop: int) -> Texts:
        return Texts(self.values[start:stop])

    def chosen(self, rows: Ints) -> Texts:
        return Texts(binary.chosen(self.values, rows))

    def text(self) -> Texts:
        return self


class ShortTexts(IdColumn):
    """Text of at most 12 bytes, each with its length in 16 bytes: what Arrow calls a view."""

    kind = "text"

    def __init__(self, views: Ints) -> None:
        self.views = views  # pairs of words

    def __len__(self) -> int:
        return len(self.views)

    @property
    def python(self) -> list[Hashable]:
        return self.text().python

    def words(self) -> Words:
        return views.hashes(self.views)

    def changes(self) -> Ints:
        if not len(self.views):
            return np.zeros(0, np.int64)
        low, high = self.views[:, 0], self.views[:, 1]
        return np.append(0, np.flatnonzero((low[1:] != low[:-1]) | (high[1:] != high[:-1])) + 1)

    def part(self, start: int, stop: int) -> ShortTexts:
        return ShortTexts(self.views[start:stop])

    def chosen(self, rows: Ints) -> ShortTexts:
        return ShortTexts(self.views[rows])

    def text(self) -> Texts:
        return Texts(views.to_binary(self.views))


class Categories(IdColumn):
    """Ids as numbers of entries in a list of distinct texts."""

    kind = "text"

    def __init__(self, entries: IdColumn, codes: Ints) -> None:
        self.entries, self.codes = entries, codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(at) if isinstance(at, slice) else self.entries[self.codes[at]]

    @property
    def python(self) -> list[Hashable]:
        if len(self.codes) < len(self.entries):
            return self.text().python
        return list(map(self.entries.python.__getitem__, self.codes.tolist()))

    @property
    def numbers(self) -> Words:
        return self.codes

    def words(self) -> Words:
        return self.entries.all_words[self.codes]

    def words_at(self, rows: Ints | slice) -> Words:
        return self.entries.all_words[self.codes[rows]]

    def changes(self) -> Ints:
        return Integers(self.codes).changes()

    def part(self, start: int, stop: int) -> Categories:
        return Categories(self.entries, self.codes[start:stop])

    def chosen(self, rows: Ints) -> Categories:
        return Categories(self.entries, self.codes[rows])

    def text(self) -> Texts:
        return self.entries.text().chosen(self.codes)


class Picked(IdColumn):
    """Some rows of a column whose words are known: only what is asked for is looked up."""

    def __init__(self, ids: IdColumn, words: Words, rows: Ints) -> None:
        self.kind = ids.kind
        self._ids, self._words, self._rows = ids, words, rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def python(self) -> list[Hashable]:
        return self.text().python

    def words(self) -> Words:
        return self._words[self._rows]

    def changes(self) -> Ints:
        return self.text().changes()

    def part(self, start: int, stop: int) -> Picked:
        return Picked(self._ids, self._words, self._rows[start:stop])

    def chosen(self, rows: Ints) -> IdColumn:
        return Picked(self._ids, self._words, self._rows[rows])

    def text(self) -> Texts:
        return self._ids.chosen(self._rows).text()


# --- Made from lists, and compared -----------------------------------------------------------


def of_python(ids: Sequence[Hashable]) -> IdColumn:
    """The column of ids that are Python values: integers where all of them are, otherwise text.

    Where some are integers its kind is neither, so that it is of no other column's kind.
    """
    if isinstance(ids, IdColumn):
        return ids
    import pyarrow as pa

    kinds = set(map(type, ids))
    whole = {kind for kind in kinds if issubclass(kind, (int, np.integer)) and kind is not bool}
    if kinds and whole == kinds:
        for width in (np.int64, np.uint64):
            if width is np.uint64 and any(one < 0 for one in ids):  # type: ignore[operator]
                break  # NumPy 1 makes large numbers of them
            try:
                return Integers(np.array(ids, width))
            except OverflowError:
                continue
    try:
        return Texts(pa.array(ids, pa.string()).view(pa.binary()))
    except (pa.ArrowException, UnicodeEncodeError):  # not all of them text, or not UTF-8
        texts = Texts(binary.array(list(map(to_bytes, ids))))
        if whole:
            texts.kind = "of several types" if whole < kinds else "integer beyond 64 bits"
        return texts


def equal(one: IdColumn, rows: Ints, other: IdColumn, other_rows: Ints) -> Bools:
    """Is the id in each row of one column the id in the row beside it of the other?"""
    if isinstance(one, Integers) and isinstance(other, Integers):
        return np.asarray(one.values[rows] == other.values[other_rows])
    if isinstance(one, ShortTexts) and isinstance(other, ShortTexts):
        alike = one.views.take(rows, axis=0) == other.views.take(other_rows, axis=0)
        return np.ones(len(rows), bool) if alike.all() else alike.all(axis=1)
    if isinstance(one, Categories):
        if isinstance(other, Categories) and one.entries is other.entries:
            return np.asarray(one.codes[rows] == other.codes[other_rows])
        return equal(one.entries, one.codes[rows], other, other_rows)
    if isinstance(other, Categories):
        return equal(one, rows, other.entries, other.codes[other_rows])
    if isinstance(one, Texts) and isinstance(other, Texts):
        if one.even is not None and other.even is not None:
            return even.equal(one.even, rows, other.even, other_rows)
        return binary.equal(one.spans, rows, other.spans, other_rows)
    these, those = (
        column.chosen(at).text().spans for column, at in ((one, rows), (other, other_rows))
    )
    row = np.arange(len(these))
    return binary.equal(these, row, those, row)


class Index:
    """Where ids stand in a column that has each of them once."""

    def __init__(self, ids: IdColumn) -> None:
        self._ids, self._next = ids, 0

    def places(self, ids: IdColumn) -> Ints:
        """The row of each id, or -1. Ids that go on about where the last ones ended are found at once."""
        if not len(ids):
            return np.zeros(0, np.int64)
        place = self._ahead(ids)
        if place is None:
            place = self._found(ids)
        self._next = int(place[-1]) + 1
        return place

    def _ahead(self, ids: IdColumn) -> Ints | None:
        """The rows of ids that go on; the last one found may come once more, in the next record."""
        most = len(self._ids) - len(ids) + 1
        near = np.arange(max(0, self._next - 1), min(self._next + 1, most))
        first = near[equal(ids, np.zeros_like(near), self._ids, near)]
        if not len(first):
            return None
        row = np.arange(len(ids))
        place = row + first[0]
        return place if equal(ids, row, self._ids, place).all() else None

    def _found(self, ids: IdColumn) -> Ints:
        if isinstance(ids, Categories) and len(ids.entries) < len(ids):
            return self._found(ids.entries)[ids.codes]
        row, place = self._table.find(shortened(ids.all_words))
        same = equal(ids, row, self._ids, place)
        out = np.full(len(ids), -1)
        out[row[same]] = place[same]
        return out

    @cached
    def _table(self) -> Table:
        words = shortened(self._ids.words())
        table = Table(words)
        row, place = table.find(words)
        row, place = row[row != place], place[row != place]
        if equal(self._ids, row, self._ids, place).any():
            raise FormatError("two query ids of the qrels have the same text.")
        return table
