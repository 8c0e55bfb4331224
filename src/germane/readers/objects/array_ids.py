"""Ids of the rows and columns of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from germane.core.arguments import list_values
from germane.core.id_spelling import unwrap_ids
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import (
    CoverageError,
    FormatError,
    InputError,
    clip,
    list_choices,
    list_some,
    name_type,
    write_option,
)
from germane.kernel import columns, plain
from germane.kernel.columns import Integers
from germane.kernel.ids import as_integer, is_integer, is_missing, spell_id, to_bytes, to_text
from germane.readers.inputs import ReadOptions, RunInput
from germane.readers.options.candidates import Aligned, Name

Ids = Sequence[Hashable]
LABEL = 9 * 10**17  # and those below it have as many digits
ANY = 1 << 63  # the number of items where every number is one
SIDES = {"query_ids": "rows", "item_ids": "columns"}


def read_ids(raw: Any, argument: str) -> list[Hashable]:
    """Read ids: text or whole numbers that differ. Raises FormatError for anything else."""
    values = list_values(raw)
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not hasattr(values, "__iter__"):
        order = ", and a set has no order" if isinstance(values, (set, frozenset)) else ""
        raise FormatError(f"{argument} has an id for each row{order}; got {clip(raw)}")
    ids = list(unwrap_ids(list(values)))
    for place, identifier in enumerate(ids):
        if not (isinstance(identifier, str) or is_integer(identifier)) or is_missing(identifier):
            raise FormatError(
                f"{argument}, place {place}: an id is text or a whole number; got"
                f" {clip(identifier)}"
            )
    if len(set(ids)) < len(ids):
        first: dict[Hashable, int] = {}
        for place, identifier in enumerate(ids):
            if first.setdefault(identifier, place) != place:
                chunks = (
                    " Are these the documents of chunks? Then give them as"
                    f" {write_option('collapse')}, which ranks documents by their best chunk."
                )
                raise FormatError(
                    f"{argument}: {clip(identifier)} is at places {first[identifier]} and {place};"
                    " give each an"
                    f" id of its own.{chunks * (argument in ('item_ids', 'gallery_ids'))}"
                )
    return ids


def read_both(reading: ReadOptions) -> tuple[list[Hashable] | None, list[Hashable] | None]:
    """Read the ids of rows and of columns; None where there are none."""
    named_ids = {"query_ids": reading.query_ids, "item_ids": reading.item_ids}
    rows, columns = (
        None if ids is None else read_ids(ids, name) for name, ids in named_ids.items()
    )
    return rows, columns


def read_gallery_ids(query_ids: Any, gallery_ids: Any, shape: tuple[int, int]) -> dict[str, Any]:
    """Read the ids of queries and gallery, as the options by which arrays are named."""
    ids = {}
    sides = (
        ("query_ids", query_ids, shape[0], "queries"),
        ("gallery_ids", gallery_ids, shape[1], "items"),
    )
    for (argument, raw, size, noun), option in zip(sides, SIDES, strict=True):
        if raw is not None:
            ids[option] = read_ids(raw, argument)
            check_length(ids[option], size, argument, noun)
    return ids


def find_own_places(query_ids: Any, gallery_ids: Any) -> Ints:
    """Find the place of each query in the gallery, -1 for none. Raises InputError if all are -1."""
    ids = read_ids(query_ids, "query_ids")
    places = {
        identifier: place for place, identifier in enumerate(read_ids(gallery_ids, "gallery_ids"))
    }
    places_of_own = np.array([places.get(identifier, -1) for identifier in ids], np.int64)
    if (places_of_own < 0).all():
        raise InputError(
            "exclude_self=True excludes the item with the query's id, and no query_ids are in"
            " gallery_ids; give the position of each query in the gallery (-1: not in it)."
        )
    return places_of_own


def check_length(ids: Ids | None, size: int, argument: str, noun: str) -> None:
    """Raise FormatError unless there is one id for each row."""
    if ids is not None and len(ids) != size:
        raise FormatError(f"{argument} has {len(ids)} ids for {size} {noun}.")


def name_rows(raw: Any, ids: Ids | None, noun: str) -> Any:
    """Map queries, which are numbered without ids, to their lists, sets or mappings."""
    if ids is None:
        ids = range(len(raw))
    check_length(ids, len(raw), "query_ids", f"rows of the {noun}")
    pairs = zip(ids, raw, strict=True)
    return {
        query: row
        for query, row in pairs
        if noun == "run" or not (isinstance(row, Mapping) and not row)
    }


def name_judgments(qrels: Qrels, query_ids: Ids | None, item_ids: Ids | None, noun: str) -> Qrels:
    """Name the queries and items of judgments that are rows and columns."""
    if qrels.width is None:
        return qrels
    if query_ids is not None:
        check_length(query_ids, len(qrels), "query_ids", f"rows of {noun}")
        qrels = replace(qrels, queries=list(query_ids), columns=None)
    if item_ids is not None:
        check_length(item_ids, qrels.width or 0, "item_ids", f"columns of {noun}")
        items = [item_ids[column] for column in qrels.items]  # type: ignore[call-overload]
        qrels = replace(qrels, items=items, width=None, columns=None, is_array=True)
    return qrels


@dataclass(frozen=True, eq=False, repr=False)
class Axis:
    """The rows or the items of an array, which are numbered, or have ids."""

    argument: str  # that gives the ids, or groups
    size: int
    ids: Ids | None = None
    what: str = "run"  # it is called in errors
    is_text: bool = False  # groups of a file of text, where an integer is its digits?

    def name(self, places: Ints) -> columns.Ids:
        """Name places: by their ids, or else by their numbers."""
        return Integers(places) if self.ids is None else self._column.take(places)

    def label(self, ties: str) -> Ints:
        """Label places by numbers whose text falls in the order of ids; the last is for none."""
        ids = self._column
        first = np.argsort(plain.ORDERS[ties](ids, np.arange(len(ids))), kind="stable")
        labels = np.full(len(ids) + 1, -1)
        labels[first] = LABEL - np.arange(len(ids))
        return labels

    def list_others(self, places: Ints) -> list[Hashable]:
        """List those that are not at these places."""
        is_other = np.ones(self.size, bool)
        is_other[places[places >= 0]] = False
        return self.name(np.flatnonzero(is_other)).python

    def find_rows(self, qrels: Qrels) -> Ints:
        """Find the row of each query, -1 for none."""
        if self.ids is not None:
            return self._look_up(qrels.queries, qrels.ids == "text", "query", "the qrels")
        if qrels.width is not None:  # the qrels were an array, too
            if len(qrels) != self.size:
                raise InputError(f"the qrels have {len(qrels)} rows, the run has {self.size}.")
            return np.arange(self.size)
        rows = (
            query if isinstance(query, (int, np.integer)) and 0 <= query < self.size else -1
            for query in _read_numbers(qrels, qrels.queries)
        )
        return np.fromiter(rows, np.int64, len(qrels))

    def find_judged(self, qrels: Qrels) -> Ints:
        """Find the place of each judged item, -1 for none.

        Raises InputError or CoverageError for numbers that are no places, where items have no ids.
        """
        if self.ids is not None and qrels.width is None:
            items = qrels.items.python if isinstance(qrels.items, columns.Ids) else qrels.items
            return self._look_up(items, qrels.ids == "text", "item", "the qrels")
        if self.argument == "groups":
            raise InputError(
                f"the qrels number the items, and with {write_option('collapse')} they are about"
                " groups: give {query: {group: grade}}."
            )
        if self.size < ANY and qrels.width not in (None, self.size):
            raise InputError(
                f"the shapes differ: the qrels have {qrels.width} columns, the {self.what} "
                f"{'have' if self.what == 'scores' else 'has'} {self.size}."
            )
        items = qrels.items
        numbers = items if isinstance(items, Integers) else _read_numbers(qrels, items)
        places, wrong = _read_places(numbers, self.size)
        if wrong is None:
            return places
        item = numbers[wrong]
        if not is_integer(item) or not _is_place(abs(int(item))):
            raise CoverageError(
                f"the items of arrays are column numbers from 0; the qrels judge item {clip(item)}."
                " item_ids= gives the id of each column. If columns are chunks,"
                f" {write_option('collapse')} gives the document of each."
            )
        query = qrels.queries[int(np.searchsorted(qrels.offsets, wrong, "right")) - 1]
        raise InputError(
            f"qrels, query {clip(query)}: item {item} is no column of the {self.what}; they are "
            f"{self._list_places()}."
        )

    def find_pairs(self, pairs: Aligned, name: Name, ids: str) -> Ints:
        """Find the places of candidates, -1 for none. ``ids``: of the judgments, text or typed."""
        if self.ids is not None:
            as_text = "text" in (ids, pairs.ids)
            return self._look_up(pairs.list_items(), as_text, "item", f"{name}=")
        if self.size < ANY and pairs.width not in (None, self.size):
            raise InputError(
                f"the shapes differ: {name}= has {pairs.width} columns, the run has {self.size}."
            )
        items: Sequence[Hashable] = (
            pairs.items
            if isinstance(pairs.items, Integers)
            else [as_integer(item) for item in pairs.items]
        )
        places, wrong = _read_places(items, self.size)
        if wrong is None:
            return places
        if not is_integer(items[wrong]):
            raise FormatError(
                f"the items of arrays are column numbers from 0; {name}= has "
                f"{list_some(pairs.items[:3])}. item_ids= gives the id of each column."
            )
        raise InputError(
            f"{name}= has item {items[wrong]}, which is no column; they are {self._list_places()}."
        )

    def find_own(self, queries: Sequence[Hashable], ids: str) -> Ints:
        """Find the place of the item with the id of each query, -1 for none."""
        as_text = self.is_text or ids == "text"
        places, spelled = self._places[as_text], map(spell_id, queries) if as_text else queries
        return np.array([places.get(query, -1) for query in spelled], np.int64)

    def _list_places(self) -> str:
        return "0" if self.size == ANY else f"0 to {self.size - 1}"

    def _look_up(self, wanted: Sequence[Hashable], as_text: bool, noun: str, side: str) -> Ints:
        """Find the places of ids, -1 for those that the array does not have."""
        if as_text or self.is_text:
            as_text, wanted = True, list(map(spell_id, wanted))
        place_of = self._places[as_text]
        places = np.array([place_of.get(identifier, -1) for identifier in wanted], np.int64)
        if len(places) and (places < 0).all():
            _refuse_types(noun, wanted, self.ids or (), self.argument, side)
        return places

    @cached_property
    def _column(self) -> columns.Ids:
        return columns.read_python_ids(self.ids or ())

    @cached_property
    def _places(self) -> tuple[dict[Hashable, int], dict[Hashable, int]]:
        """The place of each id as it is, and as a file of text spells it."""
        plain = {identifier: place for place, identifier in enumerate(self.ids or ())}
        text = {
            to_text(to_bytes(identifier)): place for place, identifier in enumerate(self.ids or ())
        }
        return plain, text  # type: ignore[return-value]


def _read_numbers(qrels: Qrels, ids: Sequence[Hashable]) -> Sequence[Hashable]:
    """Read digits from a file of text as integers; the numbers of LETOR lines are no columns."""
    of_lines = getattr(qrels.lines, "items", "ids") == "places"
    return list(map(as_integer, ids)) if qrels.ids == "text" and not of_lines else ids


def _read_places(items: Sequence[Hashable], size: int) -> tuple[Ints, int | None]:
    """Read numbers of items as places. Returns also the first that is none."""
    values = items.values if isinstance(items, Integers) else np.asarray(items)
    if values.dtype.kind not in "iu" and len(values):
        wrong = next((place for place, item in enumerate(items) if not _is_place(item)), 0)
        return np.zeros(0, np.int64), wrong
    places = values.astype(np.int64, copy=False)
    outside = (places < 0) | (places > size - 1)
    return places, int(np.argmax(outside)) if outside.any() else None


def _is_place(item: Hashable) -> bool:
    return is_integer(item) and 0 <= int(item) < 1 << 63


def name_run(run: RunInput, query_ids: Ids | None, item_ids: Ids | None) -> RunInput:
    """Name the rows and columns of an array, unless it has been named before."""
    if not run.is_array and not query_ids is item_ids is None:
        argument = "query_ids" if query_ids is not None else "item_ids"
        raise InputError(
            f"{argument}= has the ids of the {SIDES[argument]} of an array; this run has ids of its"
            " own."
        )
    return run.name_axes(query_ids, item_ids) if run.is_array else run  # type: ignore[attr-defined]


def _refuse_types(
    noun: str, judged: Sequence[Hashable], ids: Ids, argument: str, side: str
) -> None:
    """Raise CoverageError for ids that cannot match, since their types differ."""
    kinds = [sorted({name_type(identifier) for identifier in side}) for side in (judged, ids)]
    if not set(kinds[0]) & set(kinds[1]):
        raise CoverageError(
            f"no {noun} of {side} is in {argument}: those of {side} are {list_choices(kinds[0])} "
            f"({list_some(judged)}), these are {list_choices(kinds[1])} ({list_some(ids)})."
        )
