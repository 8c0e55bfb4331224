"""Equal words, found by sorting: the processor sorts integers faster than it fills a hash table."""

from __future__ import annotations

import numpy as np

from germane import _ragged
from germane._ragged import Ints
from germane.sources import binary
from germane.sources.binary import Words

_TOP = np.uint64((1 << 64) - 1)
SORTED = 1 << 14  # words that are sorted at once; they stay in the processor's cache


def shortened(words: Ints) -> Ints:
    """The highest 32 bits of words of 64; they depend on all of them."""
    return np.ascontiguousarray(words, "<u8").view("<u4")[1::2]


class Keys:
    """Words in ascending order, their lowest bits taken by their places."""

    def __init__(self, words: Words) -> None:
        self._low = np.uint64((1 << len(words).bit_length()) - 1)
        self._sorted = words & ~self._low
        self._sorted |= np.arange(len(words), dtype=np.uint64)
        self._sorted.sort()
        self._least = self._steps().min(initial=_TOP)
        self.alike = bool(self._least <= self._low)
        """are words of two places equal, as far as they are kept?"""

    def _steps(self) -> Words:
        """In which bits each differs from the one before."""
        steps: Words = self._sorted[1:] ^ self._sorted[:-1]
        return steps

    def suspects(self) -> Ints:
        """The places whose words are those of another place, ascending."""
        near = np.zeros(len(self._sorted) + 1, bool)
        near[1:-1] = self._steps() <= self._low
        return _signed(np.sort(self._sorted[near[1:] | near[:-1]] & self._low))

    def places(self, words: Words) -> tuple[Ints, Ints]:
        """The places that have one of some words, and which of the words that is."""
        first = np.searchsorted(self._sorted, words & ~self._low)
        lengths = np.searchsorted(self._sorted, words | self._low, "right") - first
        at = _ragged.between(first, lengths)
        return np.repeat(np.arange(len(words)), lengths), _signed(self._sorted[at] & self._low)

    def pairs(self, others: Keys) -> tuple[Ints, Ints] | None:
        """Places here and there of words that are equal as far as both are kept.

        None where several words there are alike: each word here has one there at most.
        """
        low = max(self._low, others._low)
        if others._least <= low:
            return None
        here, there = self._sorted, others._sorted
        if len(here) != len(there) or ((here ^ there) > low).any():  # not the same words in all
            at = np.searchsorted(there, here & ~low)
            inside = at < len(there)
            here, there = here[inside], there[at[inside]]
            same = (here ^ there) <= low
            here, there = here[same], there[same]
        return _signed(here & self._low), _signed(there & others._low)


def _signed(numbers: Words) -> Ints:
    return numbers.view(np.int64)


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
