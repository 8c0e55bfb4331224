"""Words of 32 bits, to be found by what they are.

A word's slot is its highest bits. Of words that share a slot a table holds one; the others have a
table of their own, with other slots, and so on. Words are entered and asked for by whole arrays, and
what a slot holds is compared with the word that was asked for, so that nothing has to be sorted.
"""

from __future__ import annotations

import numpy as np

from germane._ragged import Bools, Ints

_SPREAD = 0x9E3779B1  # odd: the product is one to one
_SPARSE = 8  # slots a word, at least: few of the words that are not there find one taken
_EMPTY = -1


class Table:
    """Where each of some words stands; equal words may stand in several places."""

    def __init__(self, words: Ints) -> None:
        self._words = words
        self._levels: list[_Level] = []
        place = np.arange(len(words), dtype=np.int32)
        while len(place):
            level = _Level(len(self._levels), len(place))
            self._levels.append(level)
            place = level.enter(words if len(place) == len(words) else words[place], place)

    def find(self, words: Ints) -> tuple[Ints, Ints]:
        """All pairs of a given word and a place where it stands, in any order."""
        none = np.zeros(0, np.int64)
        numbers, places, asked = [none], [none], np.arange(len(words))
        for level in self._levels:
            number, place, shared = level.look(words[asked])
            number = asked[number]
            same = self._words[place] == words[number]
            numbers.append(number[same])
            places.append(place[same])
            asked = number[shared]
        return np.concatenate(numbers), np.concatenate(places)


class _Level:
    """What each slot holds: a place, ``-2 - place`` if other words have the slot too, or nothing."""

    def __init__(self, depth: int, size: int) -> None:
        bits = (_SPARSE * size).bit_length()
        self._spread = np.uint32(pow(_SPREAD, depth, 1 << 32))
        self._shift = np.uint32(32 - bits)
        self._held = np.full(1 << bits, _EMPTY, np.int32)

    def _slots(self, words: Ints) -> Ints:
        if self._spread != 1:
            words = words * self._spread
        return (words >> self._shift).astype(np.int64)

    def enter(self, words: Ints, place: Ints) -> Ints:
        """Enter words; the places of those that found none."""
        slot = self._slots(words)
        self._held[slot] = place
        holder = self._held.take(slot)
        lost = np.flatnonzero(holder != place)
        self._held[slot[lost]] = -2 - holder[lost]
        return place[lost]

    def look(self, words: Ints) -> tuple[Ints, Ints, Bools]:
        """The words whose slot holds a place, that place, and whether the slot is shared."""
        held = self._held.take(self._slots(words))
        number = np.flatnonzero(held != _EMPTY)
        place = held[number]
        shared: Bools = place < _EMPTY
        place[shared] = -2 - place[shared]
        return number, place, shared
