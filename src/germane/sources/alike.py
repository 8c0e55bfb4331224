"""Equal words, found by sorting: the processor sorts integers faster than it fills a hash table."""

from __future__ import annotations

import numpy as np

from germane._ragged import Ints
from germane.sources import binary

SORTED = 1 << 14  # words that are sorted at once; they stay in the processor's cache


def shortened(words: Ints) -> Ints:
    """The highest 32 bits of words of 64; they depend on all of them."""
    return np.ascontiguousarray(words, "<u8").view("<u4")[1::2]


def repeats(words: Ints, offsets: Ints) -> Ints:
    """Places of words of 64 bits that stand several times in their row, ascending.

    Words of other rows of nearly the same kind may be among them, one in 2^64.
    """
    salt = binary.mixed(np.arange(1, len(offsets), dtype=np.uint64))
    found, start = [np.zeros(0, np.int64)], 0
    while start < len(offsets) - 1:
        stop = max(int(np.searchsorted(offsets, offsets[start] + SORTED, "right")) - 1, start + 1)
        ends = offsets[start : stop + 1]
        part = words[ends[0] : ends[-1]] + np.repeat(salt[start:stop], np.diff(ends))
        ordered = np.sort(part)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            found.append(np.flatnonzero(np.isin(part, twice)) + ends[0])
        start = stop
    return np.concatenate(found)
