"""Item and query ids: text, compared by their bytes.

An id that is not text stands for its text form, so that the same data has the same order of ties
through every source. Bytes that are not UTF-8 are kept exactly.
"""

import re
from collections.abc import Hashable
from decimal import Decimal
from typing import Any, TypeGuard

import numpy as np

from germane.core.ragged import Ints
from germane.errors import clip


def to_bytes(identifier: Hashable) -> bytes:
    """The id as it would stand in a file."""
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
    except ValueError:  # an integer of more digits than Python writes without being asked
        if not isinstance(identifier, int):
            raise
        return format(Decimal(identifier), "f")


def to_text(identifier: bytes) -> str:
    """The text of an id from a file."""
    return identifier.decode("utf-8", "surrogateescape")


def is_integer(identifier: object) -> "TypeGuard[int | np.integer[Any]]":
    """Is this an integer of Python's or of NumPy's, and no truth value?"""
    return isinstance(identifier, (int, np.integer)) and not isinstance(identifier, bool)


def as_integer(identifier: Any) -> Any:
    """The integer from 0 whose digits an id is; other ids as they are, ``"07"`` among them."""
    if isinstance(identifier, str) and _DIGITS.fullmatch(identifier):
        return int(identifier)
    return identifier


_DIGITS = re.compile("0|[1-9][0-9]{0,18}")


def is_missing(one: Any) -> bool:
    """Does this stand for an id that is not there: None, NaN, or another library's word for them?"""
    if one is None or getattr(one, "is_valid", True) is False:  # Arrow's
        return True
    try:
        return bool(one != one)
    except (TypeError, ValueError, ArithmeticError):  # pandas' NA is neither; a signalling NaN
        return True


def show_id(identifier: bytes) -> str:
    """The id in an error message: quoted, and shortened where it is long."""
    try:
        return clip(identifier.decode())
    except UnicodeDecodeError:
        return clip(identifier).removeprefix("b")


def sort_by_bytes(identifiers: list[Any]) -> Ints:
    """The positions of ids in the ascending order of their bytes."""
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
