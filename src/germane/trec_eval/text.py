"""Text and numbers as trec_eval reads them, where germane's readers differ.

In trec_eval a byte-order mark is part of the first field, only line feeds end lines, every
character that C calls blank separates fields, and a run line without a tag is an error. A number is
as much of its text as C reads as a number, or 0.
"""

import math
import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from germane.readers.files.line_blocks import BOM, Block, TextFile
from germane.readers.files.streams import find_compression

_Item = TypeVar("_Item")

_WHOLE = re.compile(rb"\s*+([+-]?\d++)")
_REAL = re.compile(
    rb"\s*+([+-]?)(0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)(?:[pP][+-]?\d++)?"
    rb"|(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|inf(?:inity)?|nan)",
    re.IGNORECASE,
)
_LONGEST = 2**63
BLANKS = bytes.maketrans(b"\v\f\r", b"   ")  # that separate fields in C
_INT = 2**31


@lru_cache(4096)
def parse_whole(text: bytes) -> int:
    """Read a whole number as C's atol does; one that does not fit becomes the nearest that does."""
    match = _WHOLE.match(text)
    return max(-_LONGEST, min(int(match[1]), _LONGEST - 1)) if match else 0


def parse_real(text: bytes) -> float:
    """Read a number as C's atof does, with hexadecimal numbers, infinity and NaN."""
    match = _REAL.match(text)
    if match is None:
        return 0.0
    digits = match[2].decode().lower()
    try:
        number = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    except OverflowError:
        number = math.inf
    return -number if match[1] == b"-" else number


def truncate(number: float) -> int:
    """Turn a double into 64 bits; as on x86-64, one that does not fit becomes the least."""
    return int(number) if abs(number) < _LONGEST else -_LONGEST


def merge_sort(items: list[_Item], difference: Callable[[_Item, _Item], float]) -> list[_Item]:
    """Sort as the C library's qsort does, by the difference as a whole number of 32 bits.

    Such differences need not make an order, and the result then depends on the method: a merge
    sort.
    """
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = merge_sort(items[:half], difference), merge_sort(items[half:], difference)
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


def compare_rows(
    row: tuple[Any, bytes, float], second_row: tuple[Any, bytes, float], id_sign: int = 1
) -> int:
    """Compare two rows by score and item id: below 0 if the first stands before the other."""
    (_, item, score), (_, other_item, other_score) = row, second_row
    by_score = (score < other_score) - (score > other_score)
    return by_score or id_sign * ((item < other_item) - (item > other_item))


_UNTAGGED = re.compile(rb"^[ \t]*(?!#)\S+(?:[ \t]+\S+){4}[ \t]+\r?$", re.MULTILINE)

_BLANK_END = np.frombuffer(b" \n", np.uint16)[0]


def read_bytes(path: str) -> bytes:
    """All bytes of a file, decompressed. Raises InputError for one that cannot be read."""
    with TextFile("./-" if path == "-" else path) as file:
        data = b"".join(block.data for block in file.read_blocks())
    return BOM + data if _read_start(path).startswith(BOM) else data


def find_oddity(path: str) -> str:
    """Find the first thing that germane reads differently from trec_eval; "" if there is none.

    A compressed file has none, since trec_eval cannot read it.
    """
    start = _read_start(path)
    if start.startswith(BOM):
        return "a byte-order mark, which is part of the first query's id to trec_eval"
    if find_compression(start):
        return ""
    with TextFile(path) as file:
        return next(filter(None, map(_find_oddity_in, file.read_blocks())), "")


def _find_oddity_in(block: Block) -> str:
    if b"\v" in block.data or b"\f" in block.data:
        return "a vertical tab or a form feed, which separates fields in trec_eval"
    if b"\r" in block.data and re.search(rb"\r(?!\n)", block.data):
        return "a carriage return within a line, which separates fields in trec_eval"
    if _has_trailing_blank(block) and (match := _UNTAGGED.search(block.data)):
        return f"a line without a tag: {match[0].decode('utf-8', 'replace').strip()!r}"
    return ""


def _has_trailing_blank(block: Block) -> bool:
    """Does a line end with a blank? Pairs of bytes are seven times as fast as a search."""
    codes = np.frombuffer(block.data, np.uint8)
    if block.data[-1:] in (b" ", b"\t"):  # the last line, without a line feed
        return True
    if b"\t" in block.data or b"\r" in block.data:
        after, before = codes[1:], codes[:-1]
        return bool(((after <= ord("\r")) & (before <= ord(" ")) & (before != ord("\n"))).any())
    pairs = (codes[start : start + (len(codes) - start) // 2 * 2] for start in (0, 1))
    return any((pair.view(np.uint16) == _BLANK_END).any() for pair in pairs)


def _read_start(path: str) -> bytes:
    """The first bytes of a file; of a pipe none, since it can be read only once."""
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read(6)
