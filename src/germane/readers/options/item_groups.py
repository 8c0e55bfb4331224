"""Groups that take the place of items in a run: documents of chunks, categories of products."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from germane.core.calls import list_values
from germane.core.id_spelling import is_id, unwrap_id, unwrap_ids, unwrap_keys
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
    write_option,
)
from germane.kernel.ids import (
    Ids,
    is_missing,
    is_padding,
    join_ids,
    mark_padding,
    read_python_ids,
    spell_id,
    to_bytes,
    to_text,
)
from germane.kernel.reduction import Index, find_distinct, open_index
from germane.readers.files import formats
from germane.readers.files.formats import is_path
from germane.readers.objects import frames

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
        item = unwrap_id(item)
        within = [] if query is None else [f"query {clip(query)}"]
        try:
            group: Hashable = unwrap_id(self._look_up(item))
        except KeyError:
            if is_padding(item):  # which is no item, and has no group
                return item  # type: ignore[no-any-return]
            raise NotFoundError(": ".join([*within, self._explain_unknown(item)])) from None
        _check_group(group, ", ".join([*within, f"item {clip(item)}"]))
        return group

    def find_groups(self, items: Ids, is_text: bool) -> Ids:
        """Find the groups of a column of items. ``is_text``: they come from a file of text."""
        if self._pairs is None:
            first, place = find_distinct(items)
            wanted = items.take(first).python
            groups = read_python_ids([self.find_group(None, item) for item in wanted])
            _refuse_mixed(groups)
            return groups.take(place)
        grouped, groups = self._pairs
        as_text = (is_text or self.is_text) and grouped.kind != items.kind
        places = self._index(as_text).find(items.as_text() if as_text else items)
        missed = places == NOT_FOUND
        if missed.any():
            padding = missed & mark_padding(items)
            unknown = np.flatnonzero(missed & ~padding)
            if len(unknown):
                raise NotFoundError(self._explain_unknown(items.python[int(unknown[0])]))
            places = np.where(padding, len(groups), places)
            groups = join_ids([groups, read_python_ids([-1 if groups.kind == "integer" else "-1"])])
        return groups.take(places)

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
            group_ids = [
                self.find_group(None, item) for item in (range(width) if ids is None else ids)
            ]
        elif len(self.values) != width:
            raise FormatError(
                f"{write_option('collapse')} has {len(self.values)} groups for {width} items; it"
                " must have one group per item."
            )
        else:
            group_ids = list(self.values)
            for place, group in enumerate(group_ids):
                _check_group(group, f"{write_option('collapse')}, item {place}")
        codes: dict[Hashable, int] = {}
        numbers = np.array([codes.setdefault(group, len(codes)) for group in group_ids], np.int64)
        return numbers, list(codes)

    def check_items_have_ids(self) -> None:
        """Raise InputError where groups are given for the places of items, and these have ids."""
        if self.values is not None:
            raise InputError(
                f"{write_option('collapse')} as a sequence is one group for each column of an"
                " array or vector of a"
                " gallery. Items with ids need a mapping {item: group}, a function or a file."
            )

    def refuse_replaced(self, items: Sequence[Hashable], noun: str) -> None:
        """Raise CoverageError for items that groups replace, where none of them is a group."""
        group_of = self.mapping if self.table is None else self._by_id
        if group_of is None or not len(items) or hasattr(type(group_of), "__missing__"):
            return
        wanted = set(map(spell_id, items))
        if not wanted.isdisjoint(map(spell_id, group_of.values())):
            return
        replaced = [item for item in group_of if spell_id(item) in wanted]
        if replaced:
            raise CoverageError(
                f"{noun} has {list_some(replaced)}, which {write_option('collapse')} replaces by"
                " groups before candidates are selected. Give groups instead."
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
        raw = self.mapping
        if raw is None or hasattr(type(raw), "__missing__"):  # which makes groups when asked
            return self.table
        items, groups = (read_python_ids(list(side)) for side in (raw, raw.values()))
        if items.kind not in ("integer", "text"):
            return None
        for item, group in raw.items():
            _check_group(group, f"item {clip(item)}")
        _refuse_mixed(groups)
        return items, groups

    @cached_property
    def _index(self) -> Callable[[bool], Index]:
        assert self._pairs is not None
        return open_index(self._pairs[0])

    def _explain_unknown(self, item: Any) -> str:
        if self.function is not None:
            return (
                f"item {clip(item)} has no group: the function of {write_option('collapse')}"
                " raises KeyError."
            )
        examples = list(islice(self._by_id, 3))
        text = f"item {clip(item)} has no group. Groups are known for {list_some(examples)}"
        mine, theirs = (
            sorted({name_type(identifier) for identifier in ids}) for ids in ([item], examples)
        )
        if theirs and not set(mine) & set(theirs):
            text += f". The item is {mine[0]}, and these are {list_choices(theirs)}."
        return text


def open_groups(raw: Any) -> Groups:
    """Recognize groups: a mapping, a function, one group for each column, a frame or a file.

    Raises InputError for anything else, and for a file that cannot be read.
    """
    if isinstance(raw, Groups):
        return raw
    if isinstance(raw, Mapping):
        is_lazy = hasattr(type(raw), "__missing__")  # it makes groups when asked
        return Groups(mapping=raw if is_lazy else _take_groups(raw))
    if is_path(raw) or (hasattr(raw, "__arrow_c_stream__") and not hasattr(raw, "to_list")):
        return _read_pairs(raw)
    values = list_values(raw)
    if isinstance(values, (list, tuple)):
        return Groups(values=unwrap_ids(values))
    if callable(raw):
        return Groups(raw)
    raise InputError(
        f"{write_option('collapse')} is a mapping {{item: group}}, a function of an item, a file"
        " or a frame of two"
        f" columns, or one group for each item of an array; got {clip(raw)}"
    )


def _take_groups(raw: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Take items and groups out of what holds them."""
    mapping = unwrap_keys(raw, write_option("collapse"))
    groups = list(mapping.values())
    taken = unwrap_ids(groups)
    return mapping if taken is groups else dict(zip(mapping, taken, strict=True))


def _check_group(group: Any, where: str) -> None:
    if not is_id(group):
        raise InputError(f"{where}: a group is an id, text or a number; got {clip(group)}")
    if is_missing(group):
        raise FormatError(f"{where}: the group is missing; got {clip(group)}")


def _refuse_mixed(groups: Ids) -> None:
    if groups.kind == "of several types":
        raise FormatError(
            f"groups must all be text or all be whole numbers; got {list_some(groups.python)}"
        )


def _read_pairs(raw: Any) -> Groups:
    """Read the first column as items and the second as groups."""
    if is_path(raw):
        if not os.path.exists(raw):
            raise InputError(
                f"{clip(os.fspath(raw))}: there is no such file. {write_option('collapse')} is"
                " the path of a file"
                f" with two columns, item and group; {write_option('columns', {'item': 'name'})}"
                " takes a column of the"
                " run."
            )
        frame = formats.open_pairs(raw, "groups", formats.find_format(raw, "groups"))
    else:
        frame = frames.open_frame(raw, "groups")
    parts = [frame.read_ids(record, row) for row, record in frame.number_records()]
    parts = [part for part in parts if len(part[0])]
    if not parts:
        raise FormatError(f"{frame.where}: there are no rows of item and group.")
    items, groups = (join_ids([ids.compact() for ids in side]) for side in zip(*parts, strict=True))
    first, place = find_distinct(items)
    if len(first) < len(items):
        _refuse_contradiction(frame.where, items, groups, first[place])
    return Groups(table=(items.take(first), groups.take(first)), is_text=frame.ids == "text")


def _refuse_contradiction(where: str, items: Ids, groups: Ids, first: Ints) -> None:
    """Refuse an item that is in two groups; a repeated row is none."""
    _, number = find_distinct(groups)
    places = np.flatnonzero(number != number[first])
    if len(places):
        row = int(places[0])
        first_group, second_group = groups.python[int(first[row])], groups.python[row]
        raise DuplicateError(
            f"{where}: item {clip(items.python[row])} is in two groups, {clip(first_group)} and"
            f" {clip(second_group)}."
        )


# --- Mappings ---------------------------------------------------------------------------------


def collapse_scores(
    query: Hashable, pairs: Iterable[tuple[Any, Any]], group_of: GroupOf, keep: str
) -> dict[Hashable, Any]:
    """Give each group the max, min, first or sum of the scores of its items.

    A group stands where its best item stands, as in files and frames, or else where its first
    stands.
    """
    scores: dict[Hashable, Any] = {}
    for item, score in pairs:
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
