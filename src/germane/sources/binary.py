"""Arrow binary arrays in NumPy: their bytes are read eight at a time, as words.

Nothing here needs ``pyarrow.compute``, which takes longer to import than a small file to evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from germane._ragged import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

Words = Ints

# the bytes of a little-endian word that belong to a value of 0 … 8 bytes
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], "<u8")


# Arrays are made from and read into buffers here: pa.array, to_numpy and take with a NumPy index
# import pandas wherever it is installed, which takes longer than evaluating a small file.


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


def lengths(values: pa.BinaryArray) -> Ints:
    """The number of bytes of each value."""
    offsets, _ = _parts(values)
    return offsets[1:] - offsets[:-1]


def taken(values: pa.BinaryArray, rows: Ints) -> list[bytes]:
    """Some of the values, as Python bytes."""
    offsets, data = _parts(values)
    view = data.data
    starts, ends = offsets[rows].tolist(), offsets[rows + 1].tolist()
    return [bytes(view[start:end]) for start, end in zip(starts, ends, strict=True)]


def fingerprints(values: pa.BinaryArray) -> Words:
    """A 64-bit hash of each value; different values of up to 8 bytes never have the same."""
    out = np.zeros(len(values), "<u8")
    for inside, words in _words(values):
        if inside is None:
            out = words
            out *= _ODD
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


def hashes(values: pa.BinaryArray) -> Words:
    """A 64-bit hash of each value: the sum of its words, each times a factor of its own.

    The words are those of Arrow's views: the length and the first 4 bytes, the next 8, and so on.
    It takes a third of the time of a fingerprint, and longer values are told apart less surely.
    """
    offsets, data = _parts(values)
    starts, size = offsets[:-1], offsets[1:] - offsets[:-1]
    shortest, longest = int(size.min(initial=0)), int(size.max(initial=0))
    words = _WordsAt(data)
    out = words(starts)
    if shortest < _HEAD:
        out &= _MASKS.take(size, mode="clip")
    out <<= np.uint64(8 * _HEAD)
    out |= size.astype("<u8")
    out *= factor(0)
    for place, at in enumerate(range(_HEAD, longest, 8), 1):
        inside: Any = slice(None) if shortest > at else np.flatnonzero(size > at)
        here = words(starts[inside] + at)
        if shortest < at + 8:
            here &= _MASKS.take(size[inside] - at, mode="clip")
        here *= factor(place)
        out[inside] += here
    return out


_HEAD = 4  # bytes of a value that stand beside its length


def factor(place: int) -> np.uint64:
    """What a hash multiplies the word at a place of a value with: an odd number."""
    return np.uint64(pow(int(_ODD), place + 1, 1 << 64))


def equal(one: pa.BinaryArray, rows: Ints, other: pa.BinaryArray, other_rows: Ints) -> Bools:
    """Is value ``rows[i]`` of one array the value ``other_rows[i]`` of the other, byte by byte?"""
    (starts, data), (other_starts, other_data) = _parts(one), _parts(other)
    size = starts[rows + 1] - starts[rows]
    same: Bools = size == other_starts[other_rows + 1] - other_starts[other_rows]
    words, other_words = _WordsAt(data), _WordsAt(other_data)
    for at in range(0, int(size.max(initial=0)), 8):
        inside = np.flatnonzero(same & (size > at))
        mask = _MASKS.take(size[inside] - at, mode="clip")
        here = words(starts[rows[inside]] + at) & mask
        same[inside] = here == (other_words(other_starts[other_rows[inside]] + at) & mask)
    return same


def changes(values: pa.BinaryArray) -> Ints:
    """The rows whose value is not the one before, the first row included."""
    offsets, data = _parts(values)
    if not len(values):
        return np.zeros(0, np.int64)
    width, size = int(offsets[1] - offsets[0]), offsets[1:] - offsets[:-1]
    if width and (size == width).all():  # shift the bytes by one value and compare them
        body = data[offsets[0] : offsets[-1]]
        odd = np.flatnonzero(body[width:] != body[:-width])
        rows = odd // width + 1
        return np.concatenate(([0], rows[np.diff(rows, prepend=0) > 0]))
    other = size[1:] != size[:-1]
    words, longest = _WordsAt(data), int(size.max())
    for at in range(0, longest, 8):
        here = words(np.minimum(offsets[:-1] + at, offsets[-1]))
        apart = here[1:] ^ here[:-1]
        if int(size.min()) < at + 8:
            apart &= _MASKS.take(size[1:] - at, mode="clip")
        other |= apart != 0
    return np.concatenate(([0], np.flatnonzero(other) + 1))


def _parts(values: pa.BinaryArray) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """An array's offsets and bytes, without a copy."""
    _, offsets, data = values.buffers()
    first, last = values.offset, values.offset + len(values) + 1
    return (
        np.frombuffer(offsets, np.int32)[first:last],
        np.frombuffer(data if data is not None else b"", np.uint8),
    )


def _words(values: pa.BinaryArray) -> Iterator[tuple[Ints | None, Words]]:
    """The first word of every value, then for each further one the rows that have it, and it.

    A word's bytes beyond the end of its value are 0.
    """
    offsets, data = _parts(values)
    starts, size = offsets[:-1], offsets[1:] - offsets[:-1]
    words = _WordsAt(data)
    longest = int(size.max(initial=0))
    if longest:
        yield None, words(starts) & _MASKS.take(size, mode="clip")
    for at in range(8, longest, 8):
        inside = np.flatnonzero(size > at)
        yield inside, words(starts[inside] + at) & _MASKS.take(size[inside] - at, mode="clip")


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
