"""What one query's preferences are reduced to before a measure sees them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one person, or of several who agree.

    An item's place counts the judged items from 0: those retrieved by rank, then the others. An item
    may be a member more than once, and then its preferences count as often.
    """

    place: Ints  # M, of each member
    level: Floats  # M: 0 is not relevant, above is; NaN where the group does not judge the item
    prefers: Bools  # M × M: is the one preferred to the other?
    order: str  # total, where levels alone decide, or partial
    after: Ints = field(
        default_factory=lambda: np.zeros(0, np.int64)
    )  # what else stands behind the members

    @property
    def relevant(self) -> Ints:
        """The places of relevant members."""
        return self.place[self.level > 0]

    @property
    def nonrelevant(self) -> Ints:
        """The places of members that are not: in a total order, whatever is not relevant."""
        return self.place[self.level <= 0 if self.order == "total" else self.level == 0]


@dataclass(frozen=True, eq=False)
class Judged:
    """One query: the preferences of its groups, and how many of the judged items were retrieved."""

    groups: list[Group]
    items: int
    retrieved: int

    @cached_property
    def counts(self) -> list["Counts"]:
        """Each group's preferences, counted."""
        return [counted(group, self.retrieved) for group in self.groups]

    @cached_property
    def votes(self) -> Ints:
        """items × items: how many groups prefer the item at one place to that at another."""
        votes = np.zeros((self.items, self.items), np.int64)
        for group in self.groups:
            one, other = np.nonzero(group.prefers)
            np.add.at(votes, (group.place[one], group.place[other]), 1)
        return votes


@dataclass(frozen=True)
class Counts:
    """How many of a group's preferences there are, and how many the ranking meets."""

    met: int  # both items are retrieved
    both: int
    implied: int  # the preferred item alone is retrieved
    one: int  # one of the items is
    neither: int

    def of(self, among: str) -> tuple[int, int]:
        """Met and possible preferences among all, those with both items retrieved, or at least one."""
        match among:
            case "both":
                return self.met, self.both
            case "one":
                return self.met + self.implied, self.both + self.one
            case _:
                return self.met + self.implied, self.both + self.one + self.neither


def counted(group: Group, retrieved: int, kept: Bools | None = None) -> Counts:
    """Count a group's preferences, or those between the members that are kept."""
    prefers = group.prefers if kept is None else group.prefers & kept & kept[:, None]
    at, other = (group.place[side] for side in np.nonzero(prefers))
    first, second = at < retrieved, other < retrieved
    return Counts(
        met=int(np.count_nonzero(second & (at < other))),
        both=int(np.count_nonzero(first & second)),
        implied=int(np.count_nonzero(first & ~second)),
        one=int(np.count_nonzero(first != second)),
        neither=int(np.count_nonzero(~first & ~second)),
    )


def total_order(place: Ints, level: Floats) -> Group:
    """Every member is preferred to those of a lower level.

    Raises InputError for an item with two levels.
    """
    order = np.lexsort((place, -level))
    place, level = place[order], level[order]
    prefers = level[:, None] > level
    both = prefers & (place[:, None] == place)
    if both.any():
        raise InputError(f"an item has two levels, {_levels(level, both)}.")
    return Group(place, level, prefers, "total")


def partial_order(parts: Iterable[tuple[Ints, Floats]], items: int) -> Group:
    """Within each part, members are preferred to those of a lower level; and what follows from it.

    Raises InputError for an item that is relevant in one part and not in another, and for
    preferences that contradict each other.
    """
    level = np.full(items, np.nan)
    prefers = np.zeros((items, items), bool)
    for place, given in parts:
        for at, value in sorted(zip(place.tolist(), given.tolist(), strict=True), key=_falling):
            if {np.sign(level[at]), np.sign(value)} == {0.0, 1.0}:
                raise InputError(f"an item has level {value:g}, and level {level[at]:g} elsewhere.")
            level[at] = value
        one, other = np.nonzero(given[:, None] > given)
        prefers[place[one], place[other]] = True
    for middle in range(items):  # what is preferred to it is preferred to what it is preferred to
        prefers |= prefers[:, middle, None] & prefers[middle]
    np.fill_diagonal(prefers, False)
    if (prefers & prefers.T).any():
        raise InputError("preferences contradict each other: two items are each preferred.")
    return Group(np.arange(items), level, prefers, "partial")


def _falling(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]


def _levels(level: Floats, both: Bools) -> str:
    high, low = (level[side[0]] for side in np.nonzero(both))
    return f"{high:g} and {low:g}"
