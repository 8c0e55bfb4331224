"""Blocks of lines that are all alike, read eight bytes at a time.

Nearly every run is written by one program: single blanks, the same second column, the same tag and
the same number of decimals on every line. NumPy reads such a block in fewer operations than a
parser that has to look at every byte. Whatever is not like that is left to the other readers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from germane._ragged import Floats, Ints
from germane.sources.binary import Spans, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]

_DECIMALS = 6  # with the point and the blank behind them they fill a word


@dataclass(frozen=True)
class Fields:
    """The columns that are read."""

    query: Spans
    item: Spans
    score: Floats


@dataclass(frozen=True)
class _Form:
    """What all lines share."""

    second: bytes
    decimals: int
    tag: int  # its length


def fields(data: Bytes, end: int) -> Fields | None:
    """The fields of a run's lines in ``data[:end]``, or None where they are not all alike.

    A line has five blanks. Two are found around the second column, one behind the item, one before
    the score and one behind it; so where the block has five times as many blanks as lines, no field
    has another one, and none is empty.
    """
    lines = data[:end]
    stop = np.flatnonzero(lines < ord(" "))
    if not len(stop) or stop[-1] != end - 1 or (data.take(stop) != ord("\n")).any():
        return None
    form = _form(bytes(lines[: stop[0]]))
    if form is None or np.count_nonzero(lines == ord(" ")) != 5 * len(stop):
        return None
    start = np.zeros(len(stop), np.int64)
    np.add(stop[:-1], 1, out=start[1:])
    stop -= form.tag + 1  # the blank behind the score
    scored = _scores(data, stop, form)
    if scored is None:
        return None
    score, before = scored
    query = _texts(data, start, before)
    item_start = start + query.sizes
    if not (_words(data, item_start) & _ones(len(form.second)) == _word(form.second)).all():
        return None
    item_start += len(form.second)
    item = _texts(data, item_start, before)
    behind = item.starts + item.sizes
    sound = query.sizes.all() and item.sizes.all() and (behind + 1 < before).all()
    return Fields(query, item, score) if sound else None


def _form(line: bytes) -> _Form | None:
    found = line.split(b" ")
    if len(found) != 6 or not all(found):
        return None
    _, second, _, _, score, tag = found
    decimals = len(score) - 1 - score.find(b".")
    if not 1 <= decimals <= _DECIMALS or b"." not in score or len(second) > 6:
        return None
    return _Form(b" " + second + b" ", decimals, len(tag))


# --- Words -----------------------------------------------------------------------------------------


def _word(text: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(text, "little"))


def _each(byte: int) -> np.uint64:
    return _word(bytes([byte]) * 8)


def _ones(size: int) -> np.uint64:
    return np.uint64((1 << 8 * size) - 1)


_BLANKS, _ZEROS, _LOW, _HIGH = _each(0x20), _each(0x30), _each(0x01), _each(0x80)
_NO_DIGIT = _each(0x80 - 10)  # what takes a byte above 9 to its highest bit
_BLANK = 0x20 ^ 0x30  # among digits that are numbers


def _words(data: Bytes, at: Ints) -> Words:
    """The words that begin at some bytes."""
    return np.ndarray(len(data) - 7, "<u8", data, strides=(1,))[at]


def _texts(data: Bytes, starts: Ints, before: Ints) -> Spans:
    """The texts that begin at some bytes and end with a blank, of which there is one ``before``."""
    first, sizes = _to_blank(_words(data, np.minimum(starts, before)))
    longer = np.flatnonzero(sizes == 8)
    while len(longer):
        at = np.minimum(starts[longer] + sizes[longer], before[longer])
        more = _to_blank(_words(data, at))[1]
        sizes[longer] += more
        longer = longer[more == 8]
    return Spans(data, starts, sizes, first)


def _to_blank(words: Words) -> tuple[Words, Ints]:
    """Each word without its first blank and what follows, and the number of bytes that are left."""
    other = words ^ _BLANKS  # a byte is 0 where there is a blank
    mask = other - _LOW
    np.invert(other, out=other)
    mask &= other
    mask &= _HIGH  # the lowest bit that is set now stands in the first blank
    np.negative(mask, out=other)
    mask &= other
    mask >>= np.uint64(7)
    mask -= np.uint64(1)
    words &= mask
    mask &= _LOW
    mask *= _LOW
    mask >>= np.uint64(56)
    return words, mask.view(np.int64)


# --- Scores ----------------------------------------------------------------------------------------


def _scores(data: Bytes, stop: Ints, form: _Form) -> tuple[Floats, Ints] | None:
    """The scores that end at some blanks, and where the blanks before them stand.

    They have at most seven digits, the point, and the decimals: 13 digits, which a double holds
    exactly, as it does the power of ten that they are divided by. So the quotient is rounded once.
    """
    point = stop - form.decimals - 1
    if point[0] < 8 or point[-1] + 8 > len(data):
        return None
    pair = np.ndarray(len(data) - 15, "V16", data, strides=(1,))[point - 8]
    whole, decimal = (pair.view("<u8").reshape(-1, 2) ^ _ZEROS).T.copy()
    ends = _word(bytes([ord(".") ^ 0x30]) + bytes(form.decimals) + bytes([_BLANK]))
    if (decimal & _word(b"\xff" + bytes(form.decimals) + b"\xff") != ends).any():
        return None
    decimal <<= np.uint64(8 * (7 - form.decimals))
    decimal &= ~_ones(8 - form.decimals)
    digits = _behind_blank(whole)
    if digits is None:
        return None
    wrong = decimal + _NO_DIGIT
    wrong |= decimal
    wrong |= whole
    wrong |= whole + _NO_DIGIT
    if (wrong & _HIGH).any():
        return None
    score = (_number(whole) * np.uint64(10**form.decimals) + _number(decimal)).astype(float)
    score /= 10.0**form.decimals
    return score, point - digits - 1


def _behind_blank(digits: Words) -> Ints | None:
    """Clear the last blank in each word and what precedes it; the number of bytes that are left.

    None where a word has no blank, or something else that is no digit behind it.
    """
    mask = digits & _each(_BLANK)  # a bit that digits do not have
    for shift in (8, 16, 32):
        mask |= mask >> np.uint64(shift)
    mask >>= np.uint64(4)
    mask *= np.uint64(0xFF)  # all bits up to the last byte that is no digit
    last = mask >> np.uint64(8)
    last ^= mask
    if not mask.all() or (digits & last != last & _each(_BLANK)).any():
        return None
    np.invert(mask, out=mask)
    digits &= mask
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
