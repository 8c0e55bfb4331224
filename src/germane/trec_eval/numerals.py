"""Numbers as C reads them: as much of the text as is one, and 0 where none of it is."""

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

_Item = TypeVar("_Item")

_WHOLE = re.compile(rb"\s*([+-]?\d+)")
_REAL = re.compile(
    rb"\s*([+-]?)(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)",
    re.IGNORECASE,
)
_LONGEST = 2**63
_INT = 2**31


@lru_cache(4096)
def whole(text: bytes) -> int:
    """C's atol: what does not fit is the nearest number that does."""
    found = _WHOLE.match(text)
    return max(-_LONGEST, min(int(found[1]), _LONGEST - 1)) if found else 0


def real(text: bytes) -> float:
    """C's atof, hexadecimal numbers, infinity and NaN included."""
    found = _REAL.match(text)
    if found is None:
        return 0.0
    digits = found[2].decode().lower()
    try:
        number = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    except OverflowError:
        number = math.inf
    return -number if found[1] == b"-" else number


def truncated(number: float) -> int:
    """A double as a whole number of 64 bits; what does not fit is the least of them, as on x86-64."""
    return int(number) if abs(number) < _LONGEST else -_LONGEST


def merged(items: list[_Item], difference: Callable[[_Item, _Item], float]) -> list[_Item]:
    """Sorted as the C library's qsort does it, by the difference as a whole number of 32 bits.

    It is a merge sort, and where differences do not make an order, the method matters.
    """
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merged(items[:half], difference), merged(items[half:], difference)
    out: list[_Item] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if 1 <= difference(left[i], right[j]) < _INT:
            out.append(right[j])
            j += 1
        else:
            out.append(left[i])
            i += 1
    return out + left[i:] + right[j:]
