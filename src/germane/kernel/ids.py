"""Ids of items and queries: text that is compared by its bytes.

An id that is not text is compared as the text that ``str`` makes of it, so that the same data has
the same order of ties through every source. Bytes that are not UTF-8 are kept exactly.
"""

import re
from collections.abc import Hashable
from decimal import Decimal
from typing import Any, TypeGuard
from uuid import UUID

import numpy as np

from germane.core.id_spelling import unwrap_id
from germane.core.ragged import Ints
from germane.errors import clip, write_option


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


def is_integer(identifier: object) -> "TypeGuard[int | np.integer[Any]]":
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
    return (
        f"It fills up lists of a fixed length, and {write_option('padding', 'drop')} takes it out."
    )


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
