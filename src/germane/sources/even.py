"""Texts of one length, one after the other, as ids often are: their words are read without gathering."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from germane._ragged import Bools, Ints
from germane.sources.binary import LONG, Spans, Words, factor

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEAD = 4  # bytes that stand beside the length in the first word of a hash
_SHORT = 40  # bytes of a text up to which it is taken faster word by word, where most are taken


class Even(NamedTuple):
    """Text i is ``data[first + i * width:][:width]``."""

    data: NDArray[np.uint8]
    first: int
    width: int
    size: int

    @property
    def bytes(self) -> NDArray[np.uint8]:
        """The texts as rows of a matrix."""
        return self.data[self.first :][: self.size * self.width].reshape(self.size, self.width)

    def words(self, at: int, wide: int) -> Words:
        """The bytes from a place of every text on, 4 or 8 of them."""
        return np.ndarray(self.size, f"<u{wide}", self.data, self.first + at, (self.width,))


def of(spans: Spans) -> Even | None:
    """The texts of an array, where they have one length of 4 bytes or more."""
    if not len(spans):
        return None
    width = int(spans.sizes[0])
    if not _HEAD <= width <= LONG or (spans.sizes != width).any():
        return None
    return Even(spans.data, int(spans.starts[0]), width, len(spans))


def hashes(texts: Even) -> Words:
    """What ``binary.hashes`` gives."""
    out = texts.words(0, _HEAD).astype("<u8")
    out <<= np.uint64(8 * _HEAD)
    out |= np.uint64(texts.width)
    out *= factor(0)
    for place, word in enumerate(_rest(texts), 1):
        out += word * factor(place)
    return out


def _rest(texts: Even) -> Iterator[Words]:
    """The words behind the head; the last one is read from its end, and shifted."""
    at, width = _HEAD, texts.width
    while at + 8 <= width:
        yield texts.words(at, 8)
        at += 8
    if at < width:
        size = min(8, width // _HEAD * _HEAD)
        yield texts.words(width - size, size) >> np.uint64(8 * (size - (width - at)))


def changes(texts: Even) -> Ints:
    """The rows whose text is not the one before, the first row included."""
    different = np.zeros(texts.size, bool)
    different[0] = True
    for at, size in _parts(texts.width):
        word = texts.words(at, size)
        different[1:] |= word[1:] != word[:-1]
    return np.flatnonzero(different)


def equal(one: Even, rows: Ints, other: Even, other_rows: Ints) -> Bools:
    """Is text ``rows[i]`` of one the text ``other_rows[i]`` of the other?"""
    same = np.full(len(rows), one.width == other.width)
    if one.width != other.width:
        return same
    if 2 * len(rows) < one.size + other.size or one.width > _SHORT:
        differ = one.bytes.take(rows, axis=0) != other.bytes.take(other_rows, axis=0)
        return ~differ.any(axis=1) if differ.any() else same
    for at, size in _parts(one.width):  # all words are copied before some are taken
        same &= one.words(at, size).take(rows) == other.words(at, size).take(other_rows)
    return same


def _parts(width: int) -> Iterator[tuple[int, int]]:
    """Places and sizes of words that together are a text; the last two may overlap."""
    size = min(8, width // _HEAD * _HEAD)
    yield from ((at, size) for at in range(0, width - size, size))
    yield width - size, size
