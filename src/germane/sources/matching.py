"""Which ids of some lists stand in other lists beside them, and which stand twice.

The ids of a list and of the one beside it fill a row of a matrix, as numbers that hold their places
too, and the rows are sorted: equal neighbours are an id of both, or one that stands twice. NumPy sorts
short rows of 32-bit numbers by vector instructions, which costs less than looking each of them up in a
table, or than sorting all of them at once. Small whole numbers stand for themselves and other ids for
some bits of their hashes; what these find is then compared id by id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from germane._ragged import Bools, Ints, between
from germane.sources.id_columns import Categories, IdColumn, Integers, equal

CELLS = 1 << 19  # numbers that are sorted at once: about what the processor has a cache for
RENUMBERED = 8  # entries a row up to which it pays to give them the numbers of another list
PLACES = 11  # bits of a place up to which the 32 of a number leave enough for a hash


@dataclass(frozen=True, eq=False)
class Lists:
    """List g is ``ids[starts[g]:starts[g] + lengths[g]]``."""

    ids: IdColumn
    starts: Ints
    lengths: Ints

    def some(self, which: Ints | slice) -> Lists:
        return Lists(self.ids, self.starts[which], self.lengths[which])

    @property
    def places(self) -> Ints | slice:
        """Where the ids stand, one list after the other."""
        if (self.starts[1:] == self.starts[:-1] + self.lengths[:-1]).all():
            return slice(int(self.starts[0]), int(self.starts[-1] + self.lengths[-1]))
        return between(self.starts, self.lengths)


class Matches(NamedTuple):
    """Ids that stand in a list and in the other beside it, in the order of the former."""

    group: Ints  # the number of the list
    one: Ints  # the place of the id
    other: Ints  # its place in the other list
    again: Ints  # places of ids that may stand twice in their list, ascending
    other_again: Ints  # the same in the other lists


def matches(one: Lists, other: Lists) -> Matches:
    """The ids of list g of ``one`` that stand in list g of ``other``, for every g."""
    none = np.zeros(0, np.int64)
    parts: list[tuple[Ints, ...]] = [(none,) * 5]
    in_order = True
    for block in _blocks(one.lengths, other.lengths):
        group, *found = _of_block(one.some(block), other.some(block))
        if isinstance(block, slice):
            group += block.start
        else:
            group, in_order = block[group], False
        parts.append((group, *found))
    group, mine, theirs, again, other_again = map(np.concatenate, zip(*parts, strict=True))
    if not in_order:
        order = np.argsort(mine)
        group, mine, theirs = group[order], mine[order], theirs[order]
    return Matches(group, mine, theirs, np.sort(again), np.sort(other_again))


def _blocks(one: Ints, other: Ints) -> Iterator[Ints | slice]:
    """Lists that fill a matrix to at least a third, about ``CELLS`` numbers of them at a time."""
    total = one + other
    width = int(total.max(initial=0))
    if not width:
        return
    if (one == one[0]).all() and width * len(total) <= 3 * int(total.sum()):
        step = max(1, CELLS // width)
        yield from (slice(start, start + step) for start in range(0, len(total), step))
        return
    size = np.frexp(total.astype(float))[1]
    for power in np.unique(size[total > 0]).tolist():
        alike = np.flatnonzero(size == power)
        step = max(1, CELLS >> power)
        yield from (alike[start : start + step] for start in range(0, len(alike), step))


def _of_block(one: Lists, other: Lists) -> tuple[Ints, ...]:
    """``Matches`` of a few lists."""
    width = max(1, int((one.lengths + other.lengths).max()))
    shift = width.bit_length()
    dtype = np.dtype(np.int32 if shift <= PLACES else np.int64)
    mine, theirs, exact = _numbers(one, other, 8 * dtype.itemsize - 1 - shift)
    keys = np.empty((len(one.lengths), width), dtype)
    _fill(keys, mine, one.lengths, theirs.astype(dtype, copy=False), other.lengths)
    keys <<= shift
    keys |= np.arange(width, dtype=dtype)
    keys.sort(axis=1)
    flat = keys.ravel()
    near = np.zeros(len(flat) + -len(flat) % 8, bool)
    unlike = (flat[1:] ^ flat[:-1]).view(f"u{dtype.itemsize}")
    np.less(unlike, 1 << shift, out=near[: len(unlike)])
    near[width - 1 :: width] = False  # the last of a row and the first of the next
    at = _set(near)
    group = at // width
    mask, size = dtype.type((1 << shift) - 1), one.lengths.astype(dtype)[group]
    left, right = flat.take(at) & mask, flat.take(at + 1) & mask
    again = other_again = np.zeros(0, np.int64)
    if (at[1:] == at[:-1] + 1).any() or (left >= size).any() or (right < size).any():
        group, left, right, again, other_again = _crowded(flat & mask, at, width, one.lengths)
    group, left, right = _in_order(group, left, right, shift)
    mine, theirs = one.starts[group] + left, other.starts[group] + right - one.lengths[group]
    if not exact:
        same = equal(one.ids, mine, other.ids, theirs)
        if not same.all():
            group, mine, theirs = group[same], mine[same], theirs[same]
    rows, place = np.divmod(again, width)
    other_rows, other_place = np.divmod(other_again, width)
    again = one.starts[rows] + place
    other_again = (other.starts - one.lengths)[other_rows] + other_place
    return group, mine, theirs, again, other_again


def _numbers(one: Lists, other: Lists, bits: int) -> tuple[Ints, Ints, bool]:
    """A number of some bits for each id, and whether different ids have different ones."""
    mine, theirs = one.places, other.places
    ids, others = one.ids, other.ids
    if not isinstance(mine, slice):
        ids = ids.chosen(mine)
    elif mine != slice(0, len(ids)):  # of all of them, what has been computed is kept
        ids = ids.part(mine.start, mine.stop)
    if (
        isinstance(ids, Integers)
        and isinstance(others, Integers)
        and max(ids.top, others.top) < 1 << bits
    ):
        return ids.values, others.values[theirs], True
    if (
        isinstance(ids, Categories)
        and isinstance(others, Categories)
        and len(ids.entries) + len(others.entries) < 1 << bits
        and len(others.entries) < RENUMBERED * len(one.ids)
    ):
        return ids.codes, others.entries.among(ids.entries).take(others.codes[theirs]), True
    rest = np.uint64(64 - bits)
    return ids.words() >> rest, others.words_at(theirs) >> rest, False


def _fill(keys: Ints, mine: Ints, lengths: Ints, theirs: Ints, other_lengths: Ints) -> None:
    """Both numbers of a list in a row; what is left of it are different numbers below 0."""
    place, length = np.arange(keys.shape[1], dtype=keys.dtype), int(lengths[0])
    first = lengths.astype(keys.dtype)[:, None]
    end = first + other_lengths.astype(keys.dtype)[:, None]
    if (lengths == length).all():
        keys[:, :length] = mine.reshape(len(lengths), length)
        rest, here = keys[:, length:], place[length:]
        rest[:] = ~here
        rest[here < end] = theirs
    else:
        keys[:] = ~place
        keys[place < first] = mine
        keys[(place >= first) & (place < end)] = theirs


def _set(flags: Bools) -> Ints:
    """Where flags are set, of a multiple of eight.

    NumPy takes a branch at each flag where less than a tenth are set, and none where more are. Of 15 million
    flags, one in twenty set, a third of the eights have one, and so have a seventh of the flags in these: 9 ms
    for 21. Where one in 150 is set, it takes 2.5 ms for 5.
    """
    eights = flags.view(np.uint64)
    at = (eights != 0).nonzero()[0]
    inside = eights.take(at).view(bool).nonzero()[0]
    places: Ints = at.take(inside >> 3)
    places <<= 3
    places |= inside & 7
    return places


def _crowded(place: Ints, at: Ints, width: int, lengths: Ints) -> tuple[Ints, ...]:
    """All pairs of equal numbers of a list and the other, where more than two numbers may be equal.

    And where in the matrix, of the places of sorted numbers, several of either list are equal.
    """
    begins = np.flatnonzero(np.append(True, at[1:] != at[:-1] + 1))
    sizes = np.diff(np.append(begins, len(at))) + 1
    member = between(at[begins], sizes)
    run = np.repeat(np.arange(len(begins)), sizes)
    mine = place[member] < lengths[member // width]
    of_one = np.bincount(run[mine], minlength=len(begins))
    of_other = sizes - of_one
    theirs = member[~mine]
    left = between(at[begins][run[~mine]], of_one[run[~mine]])  # places of one come first
    right = np.repeat(theirs, of_one[run[~mine]])
    again = member[mine & (of_one[run] > 1)]
    other_again = member[~mine & (of_other[run] > 1)]
    cells = [rows // width * width + place[rows] for rows in (again, other_again)]
    return left // width, place[left], place[right], *cells


def _in_order(group: Ints, left: Ints, right: Ints, shift: int) -> tuple[Ints, Ints, Ints]:
    """Pairs in the order of lists and places."""
    small = (int(group.max(initial=0)) + 1) << 2 * shift <= 1 << 31
    packed: Ints = group.astype(np.int32 if small else np.int64)
    packed <<= shift
    packed |= left.astype(packed.dtype, copy=False)
    packed <<= shift
    packed |= right.astype(packed.dtype, copy=False)
    packed.sort()
    mask = packed.dtype.type((1 << shift) - 1)
    parts = packed >> 2 * shift, packed >> shift & mask, packed & mask
    group, left, right = (part.astype(np.int64, copy=False) for part in parts)
    return group, left, right
