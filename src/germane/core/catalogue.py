"""Catalogue and Exposure: the items that lists are made of, and how often lists have each.

Measures of the catalogue see these two and nothing else, as other measures see a Ranking. Items are
numbered from 0: those of the catalogue and those that were seen first, then all others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import MeasureError, write_option


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """Earlier choices of users: the items of user u are ``items[offsets[u]:offsets[u + 1]]``."""

    offsets: Ints  # U + 1
    items: Ints  # one number for each interaction
    known: int  # I, the items that are numbered in advance
    sort: Callable[[Ints], Ints]
    """Sorts items by their ids."""
    find: Callable[[Any], Ints | None]
    """Finds the places of users, or -1, by their ids; None if these are of another type."""

    @cached_property
    def interactions(self) -> Ints:
        """I: how often each item was chosen."""
        return np.bincount(self.items, minlength=self.known)

    @cached_property
    def users(self) -> Ints:
        """I: how many users chose each item."""
        owner = ragged.find_owners(self.offsets)
        pairs = np.sort(owner * max(self.known, 1) + self.items)  # faster than NumPy's unique
        first = np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]
        return np.bincount(pairs[first] % max(self.known, 1), minlength=self.known)

    def count(self, by: str) -> Ints:
        """Count the interactions or the users of each item (I)."""
        return self.users if by == "users" else self.interactions

    def count_all(self, by: str) -> int:
        """Count all interactions, or all users with one."""
        if by == "users":
            return int(np.count_nonzero(ragged.find_lengths(self.offsets)))
        return len(self.items)


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Lists of users within a cutoff: those of user u are ``items[offsets[u]:offsets[u + 1]]``."""

    offsets: Ints
    items: Ints
    relevant: Bools | None = None  # each item, where measures ask for judgments
    user: Ints | None = None  # the place of each list's user in Seen, or -1, if asked for

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Ints:
        """U: the number of items of each list."""
        return ragged.find_lengths(self.offsets)

    @cached_property
    def owner(self) -> Ints:
        """The list of each item."""
        return ragged.find_owners(self.offsets)

    def cut(self, k: int | None) -> "Lists":
        """Cut every list off after the first ``k`` items."""
        if k is None or not len(self) or self.sizes.max() <= k:
            return self
        sizes = np.minimum(self.sizes, k)
        places = ragged.list_stretches(self.offsets[:-1], sizes)
        relevant = None if self.relevant is None else self.relevant[places]
        return Lists(ragged.make_offsets(sizes), self.items[places], relevant, self.user)

    def take(self, rows: Ints) -> "Lists":
        """Select some of the lists, by their places."""
        starts, sizes = self.offsets[:-1][rows], self.sizes[rows]
        places = ragged.list_stretches(starts, sizes)
        relevant = None if self.relevant is None else self.relevant[places]
        user = None if self.user is None else self.user[rows]
        return Lists(ragged.make_offsets(sizes), self.items[places], relevant, user)

    @property
    def rank(self) -> Ints:
        """The place of each item in its list, from 1."""
        return np.arange(len(self.items)) - self.offsets[self.owner] + 1

    def sum_items(self, values: Floats) -> Floats:
        """Add up a value of each item, by list; a sum does not depend on other lists."""
        return self.sum_rows(values[self.items])

    def sum_rows(self, values: Floats) -> Floats:
        """Add up the values of the rows of each list."""
        filled = np.flatnonzero(self.sizes)
        sums = np.zeros(len(self))
        if len(filled):
            sums[filled] = np.add.reduceat(values, self.offsets[:-1][filled])
        return sums

    def count_items(self, flags: Bools) -> Floats:
        """Count the items of each list that are flagged."""
        return self.sum_items(flags.astype(float))


class Distances(NamedTuple):
    """How items differ."""

    sum_pairs: Callable[[Lists], tuple[Floats, Floats]]
    """Sums the distances of all pairs of each list, and counts the pairs."""
    average: Callable[[Lists, Lists], Floats]
    """The mean distance of each item of a list to those of another list of the same user."""


_OTHER = "  Coverage of subtopics is StRecall."


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue:
    """The context of lists: what could be recommended, what users saw, and how items differ."""

    known: int = 0  # items that are numbered in advance
    size: int | None = None  # of the catalogue
    seen: Seen | None = None
    distance: Distances | None = None

    def require_size(self, measure: str) -> int:
        """Return the number of items of the catalogue. Raises MeasureError if it is unknown."""
        if self.size is None:
            raise MeasureError(
                f"{measure} needs the catalogue: {write_option('catalogue', '…')} takes"
                " its items, their number, or 'seen' for the items of"
                f" {write_option('seen', '…')}" + _OTHER * (measure == "Coverage")
            )
        return self.size

    def require_seen(self, measure: str) -> Seen:
        """Return what users saw before. Raises MeasureError where that is not known."""
        if self.seen is None:
            raise MeasureError(
                f"{measure} needs what users saw before: {write_option('seen', '…')} takes"
                " rows of user and item, or {user: items}."
            )
        return self.seen

    def require_distance(self, measure: str) -> Distances:
        """Return how items differ. Raises MeasureError where that is not known."""
        if self.distance is None:
            raise MeasureError(
                f"{measure} needs to know how items differ: {write_option('distance', '…')}"
                " takes a file of items and vectors, {item: vector}, or, in Python, a function"
                " of two items."
            )
        return self.distance


@dataclass(frozen=True, eq=False, repr=False)
class Exposure:
    """How often each item is recommended within a cutoff. Those of different users add up."""

    counts: Ints  # I, the lists that hold each item
    sizes: Ints  # U, the number of items of each list
    by_size: Ints | None = None
    """3 × n: items, sizes of lists, and how many lists of this size hold the item; where measures
    ask for it
    """

    @classmethod
    def of_lists(cls, lists: Lists, items: int, by_size: bool = False) -> "Exposure":
        """Count the items of some lists; ``items`` are numbered so far."""
        counts, sizes = np.bincount(lists.items, minlength=items), lists.sizes
        if not by_size:
            return cls(counts, sizes)
        if len(sizes) and (sizes == sizes[0]).all():  # most runs have lists of one size
            places = np.flatnonzero(counts)
            return cls(
                counts, sizes, np.stack([places, np.full(len(places), sizes[0]), counts[places]])
            )
        ones = np.ones(len(lists.items), np.int64)
        return cls(counts, sizes, _add_pairs(np.stack([lists.items, sizes[lists.owner], ones])))

    def subtract(self, part: "Exposure", rows: Bools) -> "Exposure":
        """Leave out some of the users; ``part`` is their exposure, and ``rows`` are the others."""
        by_size = None
        if self.by_size is not None and part.by_size is not None:
            negative = part.by_size * np.array([[1], [1], [-1]])
            by_size = _add_pairs(np.concatenate([self.by_size, negative], 1))
        return Exposure(self.counts - part.counts, self.sizes[rows], by_size)

    def renumber(self, numbers: Ints, items: int) -> "Exposure":
        """Give the items other numbers, of ``items``."""
        counts = np.zeros(items, np.int64)
        counts[numbers[: len(self.counts)]] = self.counts
        by_size = None if self.by_size is None else self.by_size.copy()
        if by_size is not None:
            by_size[0] = numbers[by_size[0]]
        return Exposure(counts, self.sizes, by_size)

    def sum_shares(self, power: float) -> Floats:
        """I: the sum of 1/n**power over the lists, of n items, that hold each item."""
        assert self.by_size is not None
        item, size, count = self.by_size
        return np.bincount(item, weights=count / size**power, minlength=len(self.counts))

    @property
    def total(self) -> int:
        """The number of recommendations."""
        return int(self.sizes.sum())

    @property
    def recommended(self) -> Ints:
        """The counts of the items that are recommended at all, ascending."""
        return np.sort(self.counts[self.counts > 0])


def _add_pairs(parts: Ints) -> Ints:
    """Add up the counts of the same item and size."""
    item, size, count = parts
    key = item * (int(size.max(initial=0)) + 1) + size
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(key[order]) != 0)[: len(key)])
    first = order[starts]
    added = np.add.reduceat(count[order], starts) if len(starts) else count
    return np.stack([item[first], size[first], added])


def join_exposures(parts: Sequence[Exposure]) -> Exposure:
    """Add up the exposures of different users; later parts may number more items."""
    counts = np.zeros(max((len(part.counts) for part in parts), default=0), np.int64)
    for part in parts:
        counts[: len(part.counts)] += part.counts
    sizes = np.concatenate([np.zeros(0, np.int64), *(part.sizes for part in parts)])
    pairs = [part.by_size for part in parts if part.by_size is not None]
    return Exposure(counts, sizes, _add_pairs(np.concatenate(pairs, 1)) if pairs else None)
