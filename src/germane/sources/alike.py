"""Equal words, found by sorting: the processor sorts integers faster than it fills a hash table."""

from __future__ import annotations

import numpy as np

from germane._ragged import Ints


def shortened(words: Ints) -> Ints:
    """The highest 32 bits of words of 64; they depend on all of them."""
    return np.ascontiguousarray(words, "<u8").view("<u4")[1::2]


def neighbors(*words: Ints) -> tuple[Ints, Ints]:
    """Pairs of equal words of 32 bits, as numbers in all that are given, one array after the other.

    Words are ordered by what they are and then by number, and each pair are neighbors: of three
    equal words the first two and the last two are a pair.
    """
    count = sum(map(len, words))
    keys = np.empty(count, "<u8")
    halves = keys.view("<u4")
    number, word = halves[::2], halves[1::2]
    number[:] = np.arange(count, dtype=np.uint32)
    np.concatenate(words, out=word)
    keys.sort()
    near = np.flatnonzero(word[1:] == word[:-1])
    return number[near].astype(np.int64), number[near + 1].astype(np.int64)
