"""Texts as the bytes they stand in, which NumPy reads eight at a time, as words.

Nothing here needs ``pyarrow.compute``, which takes longer to import than a small file to evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane._records import Record

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Words = Ints

LONG = 1 << 10  # bytes of a text that are read word by word; what follows is read at once

# the bytes of a little-endian word that belong to a value of 0 … 8 bytes
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], "<u8")


class Spans(Record):
    """Some texts, each of them somewhere in the same bytes."""

    data: NDArray[np.uint8]
    starts: Ints
    sizes: Ints
    first: Words | None = None  # the first word of each, where it is known

    def __len__(self) -> int:
        return len(self.starts)

    def part(self, start: int, stop: int) -> Spans:
        first = None if self.first is None else self.first[start:stop]
        return Spans(self.data, self.starts[start:stop], self.sizes[start:stop], first)

    def chosen(self, rows: Ints | Bools) -> Spans:
        first = None if self.first is None else self.first[rows]
        return Spans(self.data, self.starts[rows], self.sizes[rows], first)

    def __getitem__(self, row: int) -> bytes:
        return self.text(row)

    def text(self, row: int) -> bytes:
        start = int(self.starts[row])
        return bytes(self.data[start : start + int(self.sizes[row])])

    def tolist(self) -> list[bytes]:
        view = self.data.data
        ends = (self.starts + self.sizes).tolist()
        return [
            bytes(view[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)
        ]

    def copied(self) -> Spans:
        """The same texts in bytes of their own, one after the other."""
        ends = _ragged.offsets(self.sizes)
        at = np.repeat(self.starts - ends[:-1], self.sizes)
        at += np.arange(len(at))
        return Spans(self.data[at], ends[:-1], self.sizes, self.first)


def spans(values: list[bytes]) -> Spans:
    """The spans of some texts."""
    ends = _ragged.offsets(list(map(len, values)))
    return Spans(np.frombuffer(b"".join(values), np.uint8), ends[:-1], np.diff(ends))


def joined(parts: Sequence[Spans]) -> Spans:
    """The texts of several spans, one after the other."""
    if len(parts) == 1:
        return parts[0]
    before = _ragged.offsets([len(part.data) for part in parts]).tolist()
    known = [part.first for part in parts if part.first is not None]
    return Spans(
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.starts + start for part, start in zip(parts, before, strict=False)]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate(known) if len(known) == len(parts) else None,
    )


# Arrays are made from and read into buffers here: pa.array, to_numpy and take with a NumPy index
# import pandas wherever it is installed, which takes longer than evaluating a small file.


def of_array(values: pa.BinaryArray) -> Spans:
    """An Arrow array's texts, without a copy."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    return Spans(
        np.frombuffer(data if data is not None else b"", np.uint8), ends[:-1], np.diff(ends)
    )


def to_array(texts: Spans) -> pa.BinaryArray:
    """Texts that stand one after the other as an Arrow array, without a copy of them."""
    import pyarrow as pa

    ends = np.append(texts.starts, len(texts.data)).astype(np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(texts.data)]
    return pa.Array.from_buffers(pa.binary(), len(texts), buffers)


def array(values: list[bytes]) -> pa.BinaryArray:
    """An Arrow array of some values."""
    import pyarrow as pa

    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(list(map(len, values)), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)


def chosen(values: pa.BinaryArray, rows: Ints) -> pa.BinaryArray:
    """The array of some of the values."""
    import pyarrow as pa

    indices = np.ascontiguousarray(rows, np.int64)
    buffers = [None, pa.py_buffer(indices)]
    return values.take(pa.Array.from_buffers(pa.int64(), len(indices), buffers))


def doubles(values: pa.DoubleArray) -> Floats:
    """An Arrow array of doubles without nulls, as NumPy sees it."""
    _, data = values.buffers()
    return np.frombuffer(data, np.float64)[values.offset : values.offset + len(values)]


def fingerprints(values: Spans) -> Words:
    """A 64-bit hash of each value; different values of up to 8 bytes never have the same."""
    out = np.zeros(len(values), "<u8")
    for inside, words in _words(values):
        if inside is None:
            out = words * _ODD
        else:
            out[inside] = (mixed(out[inside]) ^ words) * _ODD
    return out


_ODD = np.uint64(0x9E3779B97F4A7C15)  # a factor that spreads bits upwards, one to one


def mixed(words: Words) -> Words:
    """Spread every bit over all bits; one to one."""
    words = words * _ODD
    words ^= words >> np.uint64(29)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(32)
    return words


def hashes(values: Spans) -> Words:
    """A 64-bit hash of each value: the sum of its words, each times a factor of its own.

    The words are those of Arrow's views: the length and the first 4 bytes, the next 8, and so on.
    It takes a third of the time of a fingerprint, and longer values are told apart less surely.
    """
    starts, size = values.starts, values.sizes
    shortest, longest = int(size.min(initial=0)), int(size.max(initial=0))
    words = _WordsAt(values.data)
    out = words(starts)
    if shortest < _HEAD:
        out &= _MASKS.take(size, mode="clip")
    out <<= np.uint64(8 * _HEAD)
    out |= size.astype("<u8")
    out *= factor(0)
    for place, at in enumerate(range(_HEAD, min(longest, LONG), 8), 1):
        inside: Any = slice(None) if shortest > at else np.flatnonzero(size > at)
        here = words(starts[inside] + at)
        if shortest < at + 8:
            here &= _MASKS.take(size[inside] - at, mode="clip")
        here *= factor(place)
        out[inside] += here
    if longest > LONG:
        inside, rest = _rest(values)
        out[inside] += rest * _ODD
    return out


_HEAD = 4  # bytes of a value that stand beside its length


def factor(place: int) -> np.uint64:
    """What a hash multiplies the word at a place of a value with: an odd number."""
    return np.uint64(pow(int(_ODD), place + 1, 1 << 64))


def falling(values: Spans) -> Ints:
    """The rows in the descending order of their texts' bytes; equal ones in their order."""
    longest = int(values.sizes.max(initial=0))
    if len(values) < _FEW or longest > _SHORT:
        texts = values.tolist()
        return np.array(sorted(range(len(texts)), key=texts.__getitem__, reverse=True), np.int64)
    words, end = _WordsAt(values.data), len(values.data)
    keys: list[Ints] = [-values.sizes]  # decide where all that differs is 0 bytes at the end
    for at in range((longest - 1) // 8 * 8, -1, -8):
        if at == 0 and values.first is not None:
            here = values.first
        else:
            here = words(np.minimum(values.starts + at, end))
            here &= _MASKS.take(np.maximum(values.sizes - at, 0), mode="clip")
        keys.append(~here.byteswap())
    return np.lexsort(keys)


_FEW = 32  # texts that Python sorts faster
_SHORT = 64  # bytes of a text up to which they are sorted by words


def equal(one: Spans, rows: Ints, other: Spans, other_rows: Ints) -> Bools:
    """Is text ``rows[i]`` of one the text ``other_rows[i]`` of the other, byte by byte?"""
    size = one.sizes[rows]
    same: Bools = size == other.sizes[other_rows]
    words, other_words = _WordsAt(one.data), _WordsAt(other.data)
    longest = int(size.max(initial=0))
    for at in range(0, min(longest, LONG), 8):
        inside = np.flatnonzero(same & (size > at))
        mask = _MASKS.take(size[inside] - at, mode="clip")
        here = words(one.starts[rows[inside]] + at) & mask
        same[inside] = here == (other_words(other.starts[other_rows[inside]] + at) & mask)
    for i in np.flatnonzero(same & (size > LONG)).tolist() if longest > LONG else ():
        same[i] = one.text(int(rows[i])) == other.text(int(other_rows[i]))
    return same


def changes(values: Spans) -> Ints:
    """The rows whose text is not the one before, the first row included."""
    if not len(values):
        return np.zeros(0, np.int64)
    starts, size = values.starts, values.sizes
    different = size[1:] != size[:-1]
    if not different.any() and (np.diff(starts) == size[0]).all():
        return _changes_side_by_side(values)
    words, shortest, end = _WordsAt(values.data), int(size.min()), len(values.data)
    for at in range(0, min(int(size.max()), LONG), 8):
        known = values.first if at == 0 else None
        here = words(np.minimum(starts + at, end)) if known is None else known
        apart = here[1:] ^ here[:-1]
        if shortest < at + 8:
            apart &= _MASKS.take(size[1:] - at, mode="clip")
        different |= apart != 0
    for i in np.flatnonzero(~different & (size[1:] > LONG)).tolist() if size.max() > LONG else ():
        different[i] = values.text(i) != values.text(i + 1)
    return np.concatenate(([0], np.flatnonzero(different) + 1))


def stretches(values: Spans) -> tuple[list[bytes], Ints]:
    """The text of each stretch of rows with the same one; where they begin, and the last one ends."""
    starts = changes(values)
    return values.chosen(starts).tolist(), np.append(starts, len(values))


def _changes_side_by_side(values: Spans) -> Ints:
    """The same for texts of one size without gaps: bytes are compared with those a text before."""
    first, width = int(values.starts[0]), int(values.sizes[0])
    body = values.data[first : first + width * len(values)]
    rows = np.flatnonzero(body[width:] != body[:-width]) // width + 1 if width else np.zeros(0, int)
    return np.concatenate(([0], rows[np.diff(rows, prepend=0) > 0]))


def _words(values: Spans) -> Iterator[tuple[Ints | None, Words]]:
    """The first word of every text, then for each further one the rows that have it, and it.

    A word's bytes beyond the end of its text are 0.
    """
    starts, size = values.starts, values.sizes
    words = _WordsAt(values.data)
    longest = int(size.max(initial=0))
    if longest:
        first = values.first
        yield None, words(starts) & _MASKS.take(size, mode="clip") if first is None else first
    for at in range(8, min(longest, LONG), 8):
        inside = np.flatnonzero(size > at)
        yield inside, words(starts[inside] + at) & _MASKS.take(size[inside] - at, mode="clip")
    if longest > LONG:
        yield _rest(values)


def _rest(values: Spans) -> tuple[Ints, Words]:
    """The texts that are longer than LONG, and a word that stands for all of what follows there."""
    inside = np.flatnonzero(values.sizes > LONG)
    words = [hash(values.text(i)[LONG:]) for i in inside.tolist()]
    return inside, np.array(words, np.int64).view("<u8")


class _WordsAt:
    """The word that begins at each of some bytes; what lies beyond the data is 0."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        # every word that lies inside the data is read in place; the last few from a padded copy
        self._inside = max(len(data) - 7, 0)
        self._words = np.ndarray(self._inside, "<u8", data, strides=(1,)) if self._inside else None
        self._tail_start = max(len(data) - 15, 0)
        tail = np.zeros(len(data) - self._tail_start + 8, np.uint8)
        tail[:-8] = data[self._tail_start :]
        self._tail = np.ndarray(len(tail) - 7, "<u8", tail, strides=(1,))

    def __call__(self, at: Ints) -> Words:
        if self._words is not None and at.max(initial=0) < self._inside:
            return self._words[at]
        out = np.empty(len(at), "<u8")
        beyond = at >= self._inside
        out[beyond] = self._tail[at[beyond] - self._tail_start]
        if self._words is not None:
            out[~beyond] = self._words[at[~beyond]]
        return out
