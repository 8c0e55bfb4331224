"""ItemNumbers: the items of catalogues and lists, numbered as they come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from germane.core.ragged import Ints
from germane.errors import CoverageError, FormatError, list_some, write_option
from germane.kernel.columns import Categories, Ids, Integers, Text, join_ids
from germane.kernel.ids import as_integer, is_integer, to_bytes
from germane.kernel.reduction import Index, find_distinct
from germane.output.formatting import write_count

WIDE, LEAST = 4, 1 << 16  # the range of a table: so many for each item, and at least


class ItemNumbers:
    """Numbers items in the order in which they first come."""

    def __init__(self, *, as_text: bool = False) -> None:
        self.ids: Ids = Text.empty()
        self.closed: int | None = None  # only so many items may be recommended
        self._as_text = as_text
        self._find: Callable[[Ids], Ints] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, items: Ids) -> Ints:
        """Number some items, known or new."""
        if not len(items):  # whose type is unknown
            return np.zeros(0, np.int64)
        items = items.as_text() if self._as_text else items
        if items.kind not in ("integer", "text", "integer beyond 64 bits"):
            raise FormatError(
                f"item ids are of several types: text and whole numbers ({list_some(items)}). Cast"
                " some of them."
            )
        if len(items) and len(self.ids) and items.kind != self.ids.kind:
            raise FormatError(
                f"item ids have several types, {self.ids.kind} ({list_some(self.ids)}) and"
                f" {items.kind} ({list_some(items)}). Cast some of them."
            )
        numbers = np.full(len(items), -1) if self._find is None else self._find(items)
        new = np.flatnonzero(numbers < 0)
        if len(new):
            new_items = items.take(new)
            first, place = _find_distinct(new_items)
            fresh = new_items.take(first)
            fresh = fresh.as_text() if isinstance(fresh, Categories) else fresh
            numbers[new] = len(self.ids) + place
            self.ids = join_ids([self.ids, fresh]) if len(self.ids) else fresh.compact()
            self._find = _make_finder(self.ids)
        return numbers

    def sort(self, items: Ints) -> Ints:
        """Sort items by their ids."""
        return items[order_ids(self.ids.take(items))]

    def refuse_foreign(self, items: Ints) -> None:
        """Raise CoverageError for recommended items that are not in the catalogue."""
        if self.closed is None or not len(items) or items.max() < self.closed:
            return
        foreign = np.unique(items[items >= self.closed])
        raise CoverageError(
            f"{write_count(len(foreign), 'recommended item is', 'recommended items are')} not in"
            f" the catalogue: {list_some(self.ids.take(foreign).python)}. Add them to"
            f" {write_option('catalogue')}, or remove them from the run."
        )


def order_ids(ids: Ids) -> list[int]:
    """Order ids: whole numbers by value, also those written as text, then text."""
    names = ids.python
    keys = [as_integer(name) for name in names]
    return sorted(
        range(len(names)),
        key=lambda n: (0, keys[n], b"") if is_integer(keys[n]) else (1, 0, to_bytes(names[n])),
    )


def _find_range(ids: Ids) -> tuple[Ints, int, int] | None:
    """Find integers of a narrow range, and this: there, tables are faster than hashing."""
    if not isinstance(ids, Integers) or ids.values.dtype != np.int64 or not len(ids):
        return None
    low, high = int(ids.values.min()), int(ids.values.max())
    return (ids.values, low, high) if high - low < WIDE * len(ids) + LEAST else None


def _make_finder(ids: Ids) -> Callable[[Ids], Ints]:
    """Make a function that finds the places of ids among distinct ones, or -1."""
    narrow = _find_range(ids)
    if narrow is None:
        return Index(ids).find
    values, low, high = narrow
    table = np.full(high - low + 3, -1)  # the first and the last are for numbers outside
    table[values - low + 1] = np.arange(len(ids))

    def find(wanted: Ids) -> Ints:
        if not isinstance(wanted, Integers) or wanted.values.dtype != np.int64:
            return Index(ids).find(wanted)
        numbers: Ints = table[np.clip(wanted.values, low - 1, high + 1) - (low - 1)]
        return numbers

    return find


def _find_distinct(ids: Ids) -> tuple[Ints, Ints]:
    """Find the first row of each distinct id, and for every row the place of its id among these."""
    narrow = _find_range(ids)
    if narrow is None:
        return find_distinct(ids)
    values, low, high = narrow
    places, rows = values - low, np.arange(len(ids))
    first = np.zeros(high - low + 1, np.int64)
    first[places[::-1]] = rows[
        ::-1
    ]  # of several rows the last one is kept, which is the first here
    new = first[places] == rows
    return np.flatnonzero(new), (np.cumsum(new) - 1)[first[places]]
