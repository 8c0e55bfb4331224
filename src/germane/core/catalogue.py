"""Catalogue and Exposure: the items that lists are made of, and how often lists recommend each of them.

Measures of the catalogue see these two and nothing else, as other measures see a Ranking. Items are
numbered from 0: those of the catalogue and those that were seen first, then all others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import MeasureError


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """Earlier choices of users: the items of user u are ``items[offsets[u]:offsets[u + 1]]``."""

    offsets: Ints  # U + 1
    items: Ints  # one number for each interaction
    known: int  # I, the items that are numbered in advance
    sort: Callable[[Ints], Ints]
    """Sorts items by their ids."""

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

    def count(self, by: str) -> tuple[Ints, int]:
        """Count the interactions or the users of each item, and all of them."""
        if by == "users":
            return self.users, int(np.count_nonzero(ragged.find_lengths(self.offsets)))
        return self.interactions, len(self.items)

    @property
    def lists(self) -> "Lists":
        """The items of each user, as a list."""
        return Lists(self.offsets, self.items)


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """The lists of some users within a cutoff: those of user u are ``items[offsets[u]:offsets[u + 1]]``."""

    offsets: Ints
    items: Ints

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
        return Lists(
            ragged.make_offsets(sizes),
            self.items[ragged.list_stretches(self.offsets[:-1], sizes)],
        )

    def sum_items(self, values: Floats) -> Floats:
        """Add up a value of each item, by list."""
        return np.bincount(self.owner, weights=values[self.items], minlength=len(self))

    def count_items(self, flags: Bools) -> Floats:
        """Count the items of each list that are flagged."""
        return self.sum_items(flags.astype(float))


_OTHER = "  Coverage of subtopics is StRecall."


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue:
    """The context of lists: the items that could be recommended, what users saw, and how items differ."""

    known: int = 0  # items that are numbered in advance
    size: int | None = None  # of the catalogue
    seen: Seen | None = None
    distance: Callable[[Lists], tuple[Floats, Floats]] | None = None
    """Sums the distances of all pairs of each list, and counts the pairs."""

    def require_size(self, measure: str) -> int:
        """Return the number of items of the catalogue. Raises MeasureError where it is not known."""
        if self.size is None:
            raise MeasureError(
                f"{measure} needs the catalogue: catalogue=… (--catalogue) takes its items, their number, or 'seen' for "
                "the items of seen=…" + _OTHER * (measure == "Coverage")
            )
        return self.size

    def require_seen(self, measure: str) -> Seen:
        """Return what users saw before. Raises MeasureError where that is not known."""
        if self.seen is None:
            raise MeasureError(
                f"{measure} needs what users saw before: seen=… (--seen FILE) takes rows of user and item, or {{user: items}}."
            )
        return self.seen

    def sum_distances(self, lists: Lists, measure: str) -> tuple[Floats, Floats]:
        """Sum the distances of the pairs of each list, and count them. Raises MeasureError without distances."""
        if self.distance is None:
            raise MeasureError(
                f"{measure} needs to know how items differ: distance=… (--distance FILE) takes {{item: vector}}, or a "
                "function of two items."
            )
        return self.distance(lists)


@dataclass(frozen=True, eq=False, repr=False)
class Exposure:
    """How often each item is recommended within a cutoff. Exposures of different users add up."""

    counts: Ints  # I, the lists that hold each item
    shares: Floats  # I, the sum of 1/n over these lists, where n is the size of the list
    norms: Floats  # I, the sum of 1/√n
    sizes: Ints  # U, the number of items of each list
    sums: dict[
        Any, tuple[Floats, Floats]
    ]  # U each, by measure: a sum for each list, and its divisor

    @classmethod
    def of_lists(cls, lists: Lists, items: int) -> "Exposure":
        """Count the items of some lists; ``items`` are numbered so far."""
        sizes = lists.sizes
        counts = np.bincount(lists.items, minlength=items)
        if len(sizes) and (sizes == sizes[0]).all():  # most runs have lists of one size
            whole = max(int(sizes[0]), 1)
            return cls(counts, counts / whole, counts / whole**0.5, sizes, {})
        each = 1 / np.maximum(sizes, 1)[lists.owner]
        shares, norms = (
            np.bincount(lists.items, weights=one, minlength=items) for one in (each, each**0.5)
        )
        return cls(counts, shares, norms, sizes, {})

    @classmethod
    def nothing(cls) -> "Exposure":
        """No lists."""
        return cls.of_lists(Lists(np.zeros(1, np.int64), np.zeros(0, np.int64)), 0)

    def merge(self, other: "Exposure") -> "Exposure":
        """Add the lists of other users, whose items have the same numbers."""
        return join_exposures([self, other])

    @property
    def total(self) -> int:
        """The number of recommendations."""
        return int(self.sizes.sum())

    @property
    def recommended(self) -> Ints:
        """The counts of the items that are recommended at all, ascending."""
        return np.sort(self.counts[self.counts > 0])

    def with_sums(self, sums: dict[Any, tuple[Floats, Floats]]) -> "Exposure":
        """Set the sums of each list."""
        return replace(self, sums=sums)


def join_exposures(parts: "list[Exposure]") -> Exposure:
    """Add up the exposures of different users; later parts may number more items."""
    items = max((len(part.counts) for part in parts), default=0)
    counts, shares, norms = np.zeros(items, np.int64), np.zeros(items), np.zeros(items)
    for part in parts:
        here = len(part.counts)
        counts[:here] += part.counts
        shares[:here] += part.shares
        norms[:here] += part.norms
    first = parts[0].sums if parts else {}
    sums = {
        key: tuple(np.concatenate([part.sums[key][side] for part in parts]) for side in (0, 1))
        for key in (first if all(part.sums.keys() == first.keys() for part in parts) else {})
    }
    none = np.zeros(0, np.int64)
    sizes = np.concatenate([none, *(part.sizes for part in parts)])
    return Exposure(counts, shares, norms, sizes, sums)  # type: ignore[arg-type]
