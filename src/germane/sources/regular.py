"""Blocks of lines that are all alike, read eight bytes at a time.

Nearly every file is written by one program: single blanks, the same second column, the same tag and
the same number of decimals on every line. NumPy reads such a block in fewer operations than a
parser that has to look at every byte. Whatever is not like that is left to the other readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane._records import Record
from germane.sources.binary import LONG, Spans, Words, stretches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

_DECIMALS = 8  # they fill a word


class Fields(Record):
    """The columns that are read."""

    queries: list[bytes]  # of each stretch of lines with the same one
    offsets: Ints  # where the stretches begin, and where the last one ends
    item: Spans
    number: Floats


class _Form(Record):
    """What all lines share."""

    second: bytes  # the second column, between blanks
    decimals: int
    tail: int  # the bytes behind the number


def fields(data: Bytes, end: int, columns: int, number: int) -> Fields | None:
    """Query, item and number of the lines in ``data[:end]``, or None where they are not all alike.

    Each line has its blanks around the second column, behind the item, and before the number and
    the tag, if it has one; so where a block has as many blanks as that, no field has another one
    inside, and none is empty.
    """
    lines = data[:end]
    stop = np.flatnonzero(lines < ord(" "))
    if not len(stop) or stop[-1] != end - 1 or (data.take(stop) != ord("\n")).any():
        return None
    form = _form(bytes(lines[: stop[0]]).split(b" "), columns, number)
    if form is None or np.count_nonzero(lines == ord(" ")) != (columns - 1) * len(stop):
        return None
    start = np.zeros(len(stop), np.int64)
    np.add(stop[:-1], 1, out=start[1:])
    if form.tail:
        stop -= form.tail
        if (data.take(stop) != ord(" ")).any():
            return None
    found = _numbers(data, stop, form.decimals)
    if found is None:
        return None
    numbers, before = found
    led = _by_stretch(data, start, form.second) or _by_line(data, start, before, form.second)
    if led is None:
        return None
    queries, offsets, behind = led
    item = _texts(data, behind, before)
    if item is None:
        return None
    behind = item.starts + item.sizes
    apart = behind == before if number == 3 else behind + 1 < before  # is there a rank between?
    return Fields(queries, offsets, item, numbers) if item.sizes.all() and apart.all() else None


def _form(line: list[bytes], columns: int, number: int) -> _Form | None:
    if len(line) != columns or not all(line) or len(line[1]) > 6:
        return None
    _, point, decimals = line[number].partition(b".")
    if len(decimals) > _DECIMALS or (point and not decimals):
        return None
    tail = sum(1 + len(field) for field in line[number + 1 :])
    return _Form(b" " + line[1] + b" ", len(decimals), tail)


# --- Queries ---------------------------------------------------------------------------------------

_LED = np.dtype([("head", "<u8"), ("tail", "<u8")])  # the first bytes of a line
_WORTH = 128  # lines a stretch, from which on it is faster to look at stretches

Led: TypeAlias = tuple[list[bytes], Ints, Ints]  # queries, offsets, and where the items begin


def _by_stretch(data: Bytes, start: Ints, second: bytes) -> Led | None:
    """The queries of lines most of which begin as the line before does, up to the second column.

    None where stretches are short, or query and second column do not fit into two words.
    """
    led = _gathered(data, start, _LED)
    differs = np.zeros((2, len(start)), np.uint64)  # the bits that are others in the line before
    np.bitwise_xor(led["head"][1:], led["head"][:-1], out=differs[0, 1:])
    np.bitwise_xor(led["tail"][1:], led["tail"][:-1], out=differs[1, 1:])
    firsts = np.append(0, _changes(led[:-1], *differs[:, 1:]) + 1)
    if len(firsts) * _WORTH > len(start):
        return None
    differs[:, firsts] = 0
    others = np.bitwise_or.reduceat(differs, firsts, axis=1)
    queries, sizes = [], []
    for first, low, high in zip(firsts.tolist(), *others.tolist(), strict=True):
        line = led[first].tobytes()
        query = line.split(b" ", 1)[0]
        size = len(query + second)
        if not query or min(query) < ord(" ") or not line.startswith(query + second):
            return None
        if (low | high << 64) & ((1 << 8 * size) - 1):  # another line has another second column
            return None
        queries.append(query)
        sizes.append(size)
    offsets = np.append(firsts, len(start))
    return queries, offsets, start + np.repeat(sizes, _ragged.lengths(offsets))


def _changes(led: Any, head: Words, tail: Words) -> Ints:
    """The lines whose query the next line does not have: they differ up to the blank behind it.

    ``head``, ``tail``: the bits of the first words of the next line that are others in this one.
    """
    blank = _first_blank(led["head"])
    changes = head & (blank ^ (blank - _ONE)) != 0
    if not blank.all():  # a query of eight bytes or more
        other = _first_blank(led["tail"])
        changes |= (blank == 0) & (tail & (other ^ (other - _ONE)) != 0)
    found: Ints = changes.nonzero()[0]
    return found


def _by_line(data: Bytes, start: Ints, before: Ints, second: bytes) -> Led | None:
    """The queries of any lines."""
    query = _texts(data, start, before)
    if query is None or not query.sizes.all():
        return None
    behind = start + query.sizes
    if not (_words(data, behind) & _ones(len(second)) == _word(second)).all():
        return None
    return *stretches(query), behind + len(second)


# --- Words -----------------------------------------------------------------------------------------


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))


def _each(byte: int) -> np.uint64:
    return _word(bytes([byte]) * 8)


def _ones(size: int) -> np.uint64:
    return np.uint64((1 << 8 * size) - 1)


_WORD, _ONE = np.dtype("<u8"), np.uint64(1)
_BLANKS, _ZEROS, _LOW, _HIGH = _each(0x20), _each(0x30), _each(0x01), _each(0x80)
_NO_DIGIT = _each(0x80 - 10)  # what takes a byte above 9 to its highest bit
_BLANK = 0x20 ^ 0x30  # among digits that are numbers


def _gathered(data: Bytes, at: Ints, kind: Any) -> Any:
    """What begins at some bytes. NumPy takes more than one word in the time of one."""
    size = kind.itemsize
    return np.ndarray(len(data) - size + 1, f"V{size}", data, strides=(1,))[at].view(kind)


def _words(data: Bytes, at: Ints) -> Words:
    """The words that begin at some bytes."""
    words: Words = _gathered(data, at, _WORD)
    return words


def _texts(data: Bytes, starts: Ints, before: Ints) -> Spans | None:
    """The texts that begin at some bytes and end with a blank, of which there is one ``before``.

    None where one of them is long: that would take a step for every word of it.
    """
    first, sizes = _to_blank(_words(data, np.minimum(starts, before)))
    longer = np.flatnonzero(sizes == 8)
    while len(longer):
        if sizes[longer[0]] > LONG:
            return None
        at = np.minimum(starts[longer] + sizes[longer], before[longer])
        more = _to_blank(_words(data, at))[1]
        sizes[longer] += more
        longer = longer[more == 8]
    return Spans(data, starts, sizes, first)


def _to_blank(words: Words) -> tuple[Words, Ints]:
    """Each word without its first blank and what follows, and the number of bytes that are left."""
    mask = _first_blank(words)
    mask >>= np.uint64(7)
    mask -= _ONE
    words &= mask
    return words, _bytes(mask)


def _first_blank(words: Words) -> Words:
    """The highest bit of the byte that is the first blank of each word; 0 where there is none."""
    other = words ^ _BLANKS  # a byte is 0 where there is a blank
    mask: Words = other - _LOW
    np.invert(other, out=other)
    mask &= other
    mask &= _HIGH  # the lowest bit that is set now stands in the first blank
    np.negative(mask, out=other)
    mask &= other
    return mask


# --- Numbers ---------------------------------------------------------------------------------------

_AROUND = np.dtype(
    {
        "names": ["whole", "point", "fraction"],
        "formats": ["<u8", "u1", "<u8"],
        "offsets": [0, 8, 9],
        "itemsize": 17,
    }
)


def _numbers(data: Bytes, stop: Ints, decimals: int) -> tuple[Floats, Ints] | None:
    """The numbers that end before some bytes, and where the blanks before them stand.

    They have a minus or none, at most seven digits, the point, and at most eight decimals: 15 digits, which a double holds
    exactly, as it does the power of ten that they are divided by. So the quotient is rounded once.
    """
    point = stop - decimals - 1 if decimals else stop
    if point[0] < 8 or point[-1] + 9 > len(data):
        return None
    around = _gathered(data, point - 8, _AROUND)
    whole = around["whole"] ^ _ZEROS
    found = _signed(whole, data, point)
    if found is None or not _are_digits(whole):
        return None
    negative, before = found
    number = _number(whole)
    if not decimals:
        if (before + negative + 1 == point).any():  # no digit at all
            return None
        return np.where(negative, -number.astype(float), number), before
    if (around["point"] != ord(".")).any():
        return None
    fraction = around["fraction"] ^ _ZEROS
    fraction <<= np.uint64(8 * (8 - decimals))
    if not _are_digits(fraction):
        return None
    number *= np.uint64(10**decimals)
    number += _number(fraction)
    out = number.astype(float)
    out /= 10.0**decimals
    if negative.any():
        np.negative(out, out=out, where=negative)
    return out, before


def _are_digits(digits: Words) -> bool:
    """Is every byte a number from 0 to 9?"""
    higher = digits + _NO_DIGIT
    higher |= digits
    return not (higher & _HIGH).any()


def _signed(digits: Words, data: Bytes, end: Ints) -> tuple[Bools, Ints] | None:
    """Clear what precedes the digits in each word; where there is a minus, and where the blanks are.

    The digits end before ``end``; None where they are preceded by something else. Bytes among them
    that share the bit of digits are left in, and refused by ``_are_digits``.
    """
    mask = digits & _each(_BLANK)  # a bit that digits do not have
    for shift in (8, 16, 32):
        mask |= mask >> np.uint64(shift)
    mask >>= np.uint64(4)
    mask *= np.uint64(0xFF)  # all bits up to the last byte that is no digit
    last = mask >> np.uint64(8)
    last ^= mask
    blank = digits & last == last & _each(_BLANK)
    if not mask.all():
        return None
    np.invert(mask, out=mask)
    digits &= mask
    before = end - _bytes(mask) - 1
    negative = ~blank
    if negative.any():
        before -= negative
        minus = data.take(before[negative] + 1) == ord("-")
        if not minus.all() or (data.take(before[negative]) != ord(" ")).any():
            return None
    return negative, before


def _bytes(mask: Words) -> Ints:
    """The number of bytes in which all bits are set; in the others none is."""
    mask &= _LOW
    mask *= _LOW
    mask >>= np.uint64(56)
    return mask.view(np.int64)


def _number(digits: Words) -> Words:
    """The number that eight digits write, the first in the lowest byte: by twos, by fours, at once."""
    digits *= np.uint64(1 + (10 << 8))
    digits >>= np.uint64(8)
    digits &= np.uint64(0x00FF00FF00FF00FF)
    digits *= np.uint64(1 + (100 << 16))
    digits >>= np.uint64(16)
    digits &= np.uint64(0x0000FFFF0000FFFF)
    digits *= np.uint64(1 + (10000 << 32))
    digits >>= np.uint64(32)
    return digits
