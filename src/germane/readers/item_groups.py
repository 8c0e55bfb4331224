"""Groups that take the place of items in a run: documents of chunks, categories of products."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from germane.core.arguments import list_values
from germane.core.ragged import Ints
from germane.errors import (
    CoverageError,
    DuplicateError,
    FormatError,
    InputError,
    NotFoundError,
    clip,
    list_choices,
    list_some,
    name_type,
)
from germane.kernel.columns import Ids, join_ids, read_python_ids
from germane.kernel.ids import is_missing, spell_id, to_bytes, to_text
from germane.kernel.reduction import Index, find_distinct, open_index
from germane.readers import formats, frames
from germane.readers.paths import is_path

GroupOf: TypeAlias = Callable[[Hashable, Any], Hashable]
"""A query and one of its items → the group of the item."""

NOT_FOUND = -1


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """The group of each item: a function, a mapping, a table, or the groups of columns."""

    function: Callable[[Any], Any] | None = None
    mapping: Mapping[Any, Any] | None = None
    table: tuple[Ids, Ids] | None = None  # distinct items, and their groups
    values: Sequence[Any] | None = None  # of the columns of an array
    is_text: bool = False  # from a file of text, where an integer is its digits?

    def find_group(self, query: Hashable, item: Any) -> Hashable:
        """Find the group of an item. Errors name the query, unless it is None."""
        within = [] if query is None else [f"query {clip(query)}"]
        try:
            group: Hashable = self._look_up(item)
        except KeyError:
            raise NotFoundError(": ".join([*within, self._explain_unknown(item)])) from None
        _check_group(group, ", ".join([*within, f"item {clip(item)}"]))
        return group

    def find_groups(self, items: Ids, is_text: bool) -> Ids:
        """Find the groups of a column of items. ``is_text``: they come from a file of text."""
        if self._pairs is None:
            first, place = find_distinct(items)
            asked = items.take(first).python
            groups = read_python_ids([self.find_group(None, item) for item in asked])
            _refuse_mixed(groups)
            return groups.take(place)
        known, groups = self._pairs
        as_text = (is_text or self.is_text) and known.kind != items.kind
        at = self._index(as_text).find(items.as_text() if as_text else items)
        unknown = np.flatnonzero(at == NOT_FOUND)
        if len(unknown):
            raise NotFoundError(self._explain_unknown(items.python[int(unknown[0])]))
        return groups.take(at)

    def list_columns(self) -> tuple[Ids, Ids] | None:
        """List the items and their groups as text; None for a function, which has no list."""
        if self.values is not None:
            items, groups = read_python_ids(range(len(self.values))), read_python_ids(self.values)
        elif self._pairs is not None:
            items, groups = self._pairs
        else:
            return None
        return items.as_text(), groups.as_text()

    def number_columns(self, ids: Sequence[Hashable] | None, width: int) -> tuple[Ints, list[Any]]:
        """Number the groups of the columns of an array in the order in which they first come.

        Returns the number of each column, and the groups. Columns without ``ids`` are their own
        ids.
        """
        if self.values is None:
            each = [self.find_group(None, one) for one in (range(width) if ids is None else ids)]
        elif len(self.values) != width:
            raise FormatError(
                f"collapse= has {len(self.values)} groups for {width} items; it is one group an"
                " item."
            )
        else:
            each = list(self.values)
            for place, group in enumerate(each):
                _check_group(group, f"collapse=, item {place}")
        codes: dict[Hashable, int] = {}
        numbers = np.array([codes.setdefault(one, len(codes)) for one in each], np.int64)
        return numbers, list(codes)

    def check_columns(self, columns: Ints) -> None:
        """Raise FormatError for a column that has no group."""
        values = self.values or ()
        if len(columns) and (last := int(columns.max())) >= len(values):
            raise FormatError(
                f"collapse= has {len(values)} groups, and item {last} has none; it is one group an"
                " item."
            )

    def check_items_have_ids(self) -> None:
        """Raise InputError where groups are given for the places of items, and these have ids."""
        if self.values is not None:
            raise InputError(
                "collapse= as a sequence is one group for each column of an array or vector of a"
                " gallery. Items with ids need a mapping {item: group}, a function or a file."
            )

    def refuse_replaced(self, items: Sequence[Hashable], what: str) -> None:
        """Raise CoverageError for items that groups replace, where none of them is a group."""
        known = self.mapping if self.table is None else self._by_id
        if known is None or not len(items) or hasattr(type(known), "__missing__"):
            return
        asked = set(map(spell_id, items))
        if not asked.isdisjoint(map(spell_id, known.values())):
            return
        replaced = [item for item in known if spell_id(item) in asked]
        if replaced:
            raise CoverageError(
                f"{what} has {list_some(replaced)}, which collapse= replaces by groups before"
                " candidates are selected. Give groups."
            )

    def _look_up(self, item: Any) -> Any:
        if self.function is not None:
            return self.function(item)
        try:
            return self._by_id[item]
        except KeyError:
            if not self.is_text:
                raise
        return self._by_id[to_text(to_bytes(item))]

    @cached_property
    def _by_id(self) -> Mapping[Any, Any]:
        if self.mapping is not None:
            return self.mapping
        assert self.table is not None
        items, groups = self.table
        return dict(zip(items.python, groups.python, strict=True))

    @cached_property
    def _pairs(self) -> tuple[Ids, Ids] | None:
        """The items and their groups as columns; None if items are looked up one at a time."""
        given = self.mapping
        if given is None or hasattr(type(given), "__missing__"):  # which makes groups when asked
            return self.table
        items, groups = (read_python_ids(list(side)) for side in (given, given.values()))
        if items.kind not in ("integer", "text"):
            return None
        for item, group in given.items():
            _check_group(group, f"item {clip(item)}")
        _refuse_mixed(groups)
        return items, groups

    @cached_property
    def _index(self) -> Callable[[bool], Index]:
        assert self._pairs is not None
        return open_index(self._pairs[0])

    def _explain_unknown(self, item: Any) -> str:
        if self.function is not None:
            return f"item {clip(item)} has no group: the function of collapse= raises KeyError."
        known = list(islice(self._by_id, 3))
        says = f"item {clip(item)} has no group. groups are known for {list_some(known)}"
        mine, theirs = (sorted({name_type(one) for one in ids}) for ids in ([item], known))
        if theirs and not set(mine) & set(theirs):
            says += f". The item is {mine[0]}, and these are {list_choices(theirs)}."
        return says


def open_groups(given: Any) -> Groups:
    """Recognize groups: a mapping, a function, one group for each column, a frame or a file.

    Raises InputError for anything else, and for a file that cannot be read.
    """
    if isinstance(given, Groups):
        return given
    if isinstance(given, Mapping):
        return Groups(mapping=given)
    if is_path(given) or (hasattr(given, "__arrow_c_stream__") and not hasattr(given, "to_list")):
        return _read_pairs(given)
    values = list_values(given)
    if isinstance(values, (list, tuple)):
        return Groups(values=values)
    if callable(given):
        return Groups(given)
    raise InputError(
        "collapse= is a mapping {item: group}, a function of an item, a file or a frame of two"
        f" columns, or one group for each item of an array; got {clip(given)}"
    )


def _check_group(group: Any, where: str) -> None:
    if not isinstance(group, Hashable):
        raise InputError(f"{where}: a group is an id, text or a number; got {clip(group)}")
    if is_missing(group):
        raise FormatError(f"{where}: the group is missing; got {clip(group)}")


def _refuse_mixed(groups: Ids) -> None:
    if groups.kind == "of several types":
        raise FormatError(
            f"groups are all text or all whole numbers; got {list_some(groups.python)}"
        )


def _read_pairs(given: Any) -> Groups:
    """Read the first column as items and the second as groups."""
    if is_path(given):
        if not os.path.exists(given):
            raise InputError(
                f"{clip(os.fspath(given))}: there is no such file. collapse= is the path of a file"
                " with two columns, item and group; columns={'item': name} takes a column of the"
                " run."
            )
        frame = formats.open_pairs(given, "groups", formats.find_format(given, "groups"))
    else:
        frame = frames.open_frame(given, "groups")
    parts = [frame.read_ids(record, row) for row, record in frame.number_records()]
    parts = [part for part in parts if len(part[0])]
    if not parts:
        raise FormatError(f"{frame.where}: there are no rows of item and group.")
    items, groups = (join_ids([one.compact() for one in side]) for side in zip(*parts, strict=True))
    first, place = find_distinct(items)
    if len(first) < len(items):
        _refuse_contradiction(frame.where, items, groups, first[place])
    return Groups(table=(items.take(first), groups.take(first)), is_text=frame.ids == "text")


def _refuse_contradiction(where: str, items: Ids, groups: Ids, first: Ints) -> None:
    """Refuse an item that is in two groups; a repeated row is none."""
    _, number = find_distinct(groups)
    odd = np.flatnonzero(number != number[first])
    if len(odd):
        row = int(odd[0])
        one, other = groups.python[int(first[row])], groups.python[row]
        raise DuplicateError(
            f"{where}: item {clip(items.python[row])} is in two groups, {clip(one)} and"
            f" {clip(other)}."
        )


# --- Mappings ---------------------------------------------------------------------------------


def collapse_scores(
    query: Hashable, got: Mapping[Any, Any], group_of: GroupOf, keep: str
) -> dict[Hashable, Any]:
    """Give each group the max, min, first or sum of the scores of its items.

    A group stands where its best item stands, as in files and frames, or else where its first
    stands.
    """
    scores: dict[Hashable, Any] = {}
    for item, score in got.items():
        group = group_of(query, item)
        if group not in scores:
            scores[group] = score
        elif keep == "sum":
            scores[group] = scores[group] + score
        elif keep != "first" and not _is_no_better(score, scores[group], keep):
            del scores[group]
            scores[group] = score
    return scores


def _is_no_better(score: Any, best: Any, keep: str) -> bool:
    """Is a score no better than the best? One that is no number is better, and refused later."""
    try:
        return bool(score <= best if keep == "max" else score >= best)
    except TypeError:
        return False
