"""Numbers as C reads them: as much of the text as is one, and 0 where none of it is."""

import re
from functools import lru_cache

_WHOLE = re.compile(rb"\s*([+-]?\d+)")
_REAL = re.compile(
    rb"\s*([+-]?)(0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?"
    rb"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)",
    re.IGNORECASE,
)
_LONGEST = 2**63


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
    number = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    return -number if found[1] == b"-" else number
