"""Reads flat arrays of grades and scores in groups, whose items are numbered by their places."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.id_spelling import is_id, unwrap_ids
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.core.retrieved import Order
from germane.errors import EmptyError, FormatError, clip, list_some
from germane.kernel.columns import Ids, Integers
from germane.kernel.grid import Grid, count_absent
from germane.kernel.ids import is_missing
from germane.readers import numbers
from germane.readers.array_ids import Axis
from germane.readers.arrays import ArrayRun, Asked, Read


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FlatArray(ArrayRun):
    """A flat array: the items of group g are ``place[offsets[g]:offsets[g + 1]]``, ascending."""

    has_own_items = True

    values: Any
    offsets: Ints  # G + 1
    place: Ints

    @cached_property
    def _owner(self) -> tuple[Ints, Ints]:
        """The group of each place, and where it stands in its group."""
        group, position = np.empty((2, len(self.place)), np.int64)
        owner = ragged.find_owners(self.offsets)
        group[self.place], position[self.place] = owner, np.arange(len(owner)) - self.offsets[owner]
        return group, position

    @property
    def cells(self) -> Any:
        return self.values

    def locate(self, cells: tuple[Ints, ...]) -> tuple[Ints, Ints]:
        return self._owner[0][cells[0]], cells[0]

    def place_items(self, items: Ints, rows: Ints, offsets: Ints) -> Ints:
        group, position = self._owner
        is_own = (items >= 0) & (group[items] == np.repeat(rows, np.diff(offsets)))
        return np.where(is_own, position[items], -1)

    def list_items(self, places: Ints, rows: Ints) -> Ids:
        return Integers(self.place[self.offsets[rows] + places])

    def split(self, rows: Ints, cells: int) -> Iterator[Ints]:
        """Divide groups into blocks of similar size, so that padding at most doubles the memory."""
        sizes = np.diff(self.offsets)[rows]
        power = np.frexp(sizes.astype(float))[1]
        for size in np.unique(power).tolist():
            places = np.flatnonzero(power == size)
            step = max(1, cells >> size)
            yield from (places[start : start + step] for start in range(0, len(places), step))

    def open_blocks(self, wanted: Asked | None) -> Read:
        values = _read_floats(self.values, None if wanted is None else wanted.order)
        lengths = np.diff(self.offsets)

        def read(rows: Ints, code: Ints) -> Grid:
            column, sizes = np.arange(max(1, lengths[rows].max())), lengths[rows][:, None]
            scores = np.full((len(rows), len(column)), -np.inf, values.dtype)
            is_inside = column < sizes
            scores[is_inside] = values[
                self.place[(self.offsets[rows][:, None] + column)[is_inside]]
            ]
            return Grid(code, scores, count_absent(scores))

        return read


def group_arrays(grades: Any, scores: Any, group: Any) -> tuple[FlatArray | None, FlatArray | None]:
    """Group flat arrays. ``group`` is a group id for each item, or the size of each group.

    Of these, one may be None, and stays None.
    """
    flat = [
        None if raw is None else numbers.to_numpy(raw, noun)
        for raw, noun in ((grades, "relevance"), (scores, "scores"))
    ]
    shapes = [array.shape for array in flat if array is not None]
    if len(set(shapes)) != 1 or len(shapes[0]) != 1:
        raise FormatError(
            "with group=…, relevance and scores are flat arrays of one length; got shapes "
            f"{' and '.join(map(str, shapes)) or 'none'}"
        )
    _check_labels({"relevance": grades, "scores": scores, "group": group})
    items = shapes[0][0]
    if not items:
        raise EmptyError("the run is empty: its arrays have no items.")
    queries, code = _find_groups(group, items)
    place = np.argsort(code, kind="stable")
    offsets = ragged.make_offsets(np.bincount(code, minlength=len(queries)))
    groups, places = Axis("group", len(queries), queries), Axis("", items, what="scores")
    axes: Any = {"queries": groups, "items": places, "offsets": offsets, "place": place}
    qrels, run = (None if array is None else FlatArray(values=array, **axes) for array in flat)
    return qrels, run


def _check_labels(arrays: dict[str, Any]) -> None:
    """Refuse pandas Series whose labels differ: matched by place, items would get wrong scores."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    labels = {
        name: array.index for name, array in arrays.items() if isinstance(array, pandas.Series)
    }
    for (first, mine), (second, theirs) in combinations(labels.items(), 2):
        if len(mine) == len(theirs) and not mine.equals(theirs):
            raise FormatError(
                f"{first} and {second} are Series with different labels: {list_some(mine.tolist())}"
                f" and {list_some(theirs.tolist())}. {second}.loc[{first}.index] brings them into"
                " one order; to_numpy() of both takes them by their places."
            )


def _find_groups(raw: Any, items: int) -> tuple[list[Hashable], Ints]:
    """Find the ids of the groups in the order of their first items, and the group of each item."""
    ids = list_values(raw)
    if not isinstance(ids, (list, tuple)):
        raise FormatError(
            f"group takes one group id for each item, or the sizes of groups; got {clip(raw)}"
        )
    ids = unwrap_ids(ids)
    if any(isinstance(identifier, list) for identifier in ids):  # unhashable, as rows of an array
        raise FormatError(
            "group is flat: a group id for each item, or the sizes of groups; got "
            f"{clip(ids)}, of {len(ids)} rows. ravel() of an array flattens it."
        )
    if len(ids) == items:
        for one in () if {str, int}.issuperset(map(type, ids)) else ids:
            if isinstance(one, float) or not is_id(one) or is_missing(one):
                raise FormatError(f"a group's id is an integer or text; got {clip(one)}")
        codes = {identifier: code for code, identifier in enumerate(dict.fromkeys(ids))}
        return list(codes), np.fromiter(map(codes.__getitem__, ids), np.int64, items)
    are_sizes = all(isinstance(size, (int, np.integer)) and size >= 0 for size in ids)
    if not are_sizes or sum(ids) != items:
        total = f"; they sum to {sum(ids)}" if are_sizes else ""
        raise FormatError(
            f"group has length {len(ids)}{total}. Give {items} group ids, one for each item, or"
            f" sizes that sum to {items}."
        )
    return list(range(len(ids))), np.repeat(np.arange(len(ids)), ids)


def read_flat(flat_array: FlatArray, complete: str) -> Qrels:
    """Read flat grades; those above 0, unless ``complete`` names measures that need the others."""
    grades, place = flat_array.values, flat_array.place
    mend = "numpy.ma.masked_invalid(qrels) leaves them without a judgment"
    numbers.check_finite(grades, "relevance", "relevance grade", mend=mend)
    is_judged = ~np.ma.getmaskarray(grades)
    if not complete:
        is_judged &= np.ma.getdata(grades) > 0
    left = ragged.count_flags(
        is_judged[place], ragged.find_owners(flat_array.offsets), flat_array.queries.size
    )
    place = place[is_judged[place]]
    judged = np.ma.getdata(grades)[place].astype(float)
    numbers.check_range(judged, lambda row: f"relevance, item {place[row]}")
    return Qrels(
        list(flat_array.queries.ids or ()),
        ragged.make_offsets(left),
        Integers(place),
        judged,
        width=len(grades),
    )


def _read_floats(scores: Any, order: Order | None) -> Any:
    """Convert flat scores to floats, masked ones to -inf, and keep their order and ties."""
    values, mask = np.ma.getdata(scores), np.ma.getmask(scores)
    if values.dtype.kind == "f":
        numbers.check_finite(scores, "scores")
    elif values.dtype.itemsize < 8 or order is None or not order.plain:
        values = values.astype(float)
    else:  # more digits than a double has
        values = np.unique(values, return_inverse=True)[1].astype(float)
    return np.where(mask, values.dtype.type(-np.inf), values)
