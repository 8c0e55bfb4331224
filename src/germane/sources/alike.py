"""Equal words, found by sorting: the processor sorts integers faster than it fills a hash table."""

from __future__ import annotations

import numpy as np

from germane._ragged import Ints
from germane.sources import binary
from germane.sources.binary import Words

SORTED = 1 << 14  # words that are sorted at once; they stay in the processor's cache


def shortened(words: Ints) -> Ints:
    """The highest 32 bits of words of 64; they depend on all of them."""
    return np.ascontiguousarray(words, "<u8").view("<u4")[1::2]


def repeats(numbers: Words, offsets: Ints) -> Ints:
    """Places of numbers that stand several times in their row, ascending.

    Among numbers of about 64 bits, equal ones of another kind may be found: one pair in 2^64 or so.
    """
    bits = int(numbers.max(initial=0)).bit_length()
    found, start = [np.zeros(0, np.int64)], 0
    while start < len(offsets) - 1:
        stop = max(int(np.searchsorted(offsets, offsets[start] + SORTED, "right")) - 1, start + 1)
        ends = offsets[start : stop + 1]
        part = _with_rows(numbers[ends[0] : ends[-1]], bits, np.diff(ends), start)
        ordered = np.sort(part)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            found.append(np.flatnonzero(np.isin(part, twice)) + ends[0])
        start = stop
    return np.concatenate(found)


def _with_rows(numbers: Words, bits: int, lengths: Ints, start: int) -> Words:
    """Numbers that differ in different rows: above the numbers of a row stands its own, if that fits."""
    rows = np.arange(len(lengths), dtype=np.uint64)
    width = bits + len(lengths).bit_length()
    if width > 64:
        salt: Words = np.repeat(binary.mixed(rows + np.uint64(start + 1)), lengths)
        return numbers + salt
    dtype = np.uint64 if width > 32 else np.uint32
    both: Words = np.repeat((rows << np.uint64(bits)).astype(dtype), lengths)
    both |= numbers.astype(dtype, copy=False)
    return both
