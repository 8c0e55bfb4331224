"""Ids of items: of Python mappings, spelled as in a file; and of the rows and columns of arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core.calls import list_values
from germane.core.id_spelling import PLAIN, is_id, unwrap_ids, unwrap_keys
from germane.core.qrels import Qrels, Source
from germane.core.ragged import Ints
from germane.core.ties import ROW_KEYS
from germane.errors import (
    CoverageError,
    FormatError,
    InputError,
    clip,
    list_choices,
    list_some,
    name_type,
    show_typed,
    write_option,
)
from germane.kernel.ids import (
    Categories,
    Ids,
    Integers,
    Text,
    as_integer,
    is_integer,
    is_missing,
    join_ids,
    read_python_ids,
    spell_id,
    to_bytes,
    to_text,
)
from germane.kernel.keys import Keys
from germane.kernel.reduction import Index, Judgments, add_candidates, find_distinct
from germane.output.tables import write_count
from germane.readers.files.formats import is_path
from germane.readers.inputs import ReadOptions, RunInput
from germane.readers.objects import headings

if TYPE_CHECKING:
    from germane.readers.options.candidates import Aligned, Name


def take_ids(where: str, ids: Collection[Any]) -> Collection[Any]:
    """Take ids out of what holds them. Returns the same object if nothing does.

    Raises FormatError for one that is missing, as None, NaN and the values that pandas has for
    them are; for a truth value, which Python takes for 0 or 1; and for what is no id.
    """
    if PLAIN.issuperset(map(type, ids)):
        return ids
    taken: Collection[Any] = unwrap_ids(ids)
    for identifier in taken:
        if type(identifier) not in PLAIN:
            _check_id(where, identifier)
    return taken


def take_keys(where: str, raw: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Take the keys of a mapping out of what holds them, and refuse those that are no ids."""
    if PLAIN.issuperset(map(type, raw)):
        return raw
    taken = unwrap_keys(raw, where)
    take_ids(where, taken)
    return taken


def _check_id(where: str, identifier: Any) -> None:
    if is_missing(identifier):
        raise FormatError(f"{where}: an id is missing; got {clip(identifier)}")
    if isinstance(identifier, (bool, np.bool_)):
        raise FormatError(
            f"{where}: an id is text or a number, but {identifier} is a truth value. If these are"
            " marks for items, pass an array, numpy.array(…, bool)."
        )
    if not is_id(identifier):
        raise FormatError(f"{where}: an item id is text or a number; got {clip(identifier)}")


def spell_queries(run: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    """Spell queries as a file of text does. Raises FormatError where two have the same text."""
    spelled = {spell_id(query): results for query, results in run.items()}
    if len(spelled) < len(run):
        raise FormatError("two query ids of the run have the same text.")
    return spelled


def spell_ids(ids: Collection[Any]) -> Collection[Any]:
    """Spell each id as text. Returns the same object if all of them are text."""
    types = set(map(type, ids))
    if types <= {str}:
        return ids
    if types == {int}:
        with suppress(ValueError):  # more digits than str() allows
            return list(map(str, ids))
    return list(map(spell_id, ids))


def spell_qrels(qrels: Qrels) -> Qrels:
    """Spell the ids of judgments as a file of text does."""
    if qrels.ids == "text":
        return qrels
    queries, items = list(map(spell_id, qrels.queries)), list(map(spell_id, qrels.items))
    subtopics = qrels.subtopics and qrels.subtopics.take(np.arange(len(items)), items)
    spelled = replace(
        qrels, queries=queries, items=items, ids="text", columns=None, subtopics=subtopics
    )
    if len(spelled.position) < len(queries):
        raise FormatError("two query ids of the qrels have the same text.")
    if sum(map(len, spelled.judged)) < len(items):
        raise FormatError("two item ids of a query of the qrels have the same text.")
    return spelled


def judge_keys(qrels: Qrels, is_text: bool) -> Judgments:
    """Make judgments of Python ids. ``is_text``: the run's items are spelled as text."""
    of_text = qrels.ids == "text"
    judged = Judgments(qrels.queries, qrels.offsets, Keys(qrels.judged), of_text=of_text)
    if qrels.candidates is None:
        return judged
    from germane.readers.options.candidates import find_candidates  # which few evaluations need

    matched = []
    for name, pairs in find_candidates(qrels):
        items = pairs.list_items()
        if "text" in (pairs.ids, qrels.ids) or is_text:
            items = list(map(spell_id, items))
        spell = spell_id if pairs.ids == "text" and not is_text else None
        ends = pairwise(pairs.offsets.tolist())
        dicts = [dict.fromkeys(items[start:end], 0) for start, end in ends]
        matched.append((name, pairs.offsets, Keys(dicts, spell=spell)))
    return add_candidates(judged, matched)


def refuse_queries(qrels: Qrels, run: Mapping[Hashable, Any]) -> None:
    """Refuse a run without a judged query if its values show that it is not a run."""
    headings.refuse_columns("run", run)
    name, results = next(iter(run.items()))
    if isinstance(results, Mapping):
        within = [query for query in qrels.queries if _has_results(results, query)]
        if within:
            raise FormatError(
                f"no query of the run is in the qrels, but its value for {clip(name)} has queries"
                f" that are: {list_some(within)}. If these are several runs by name, give them to"
                f" evaluate_many, or one of them, run[{clip(name)}], to evaluate."
            )
    elif isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
        raise FormatError(
            f"run, query {clip(name)}: results are {{item: score}} or a list of items; got "
            f"{show_typed(results)}. A run is {{query: results}}, and several runs {{name: run}}."
        )


def _has_results(run: Mapping[Hashable, Any], query: Hashable) -> bool:
    """Is the query's value its results, and not the score of an item with the same id?"""
    results = run.get(query)
    return isinstance(results, Iterable) and not isinstance(results, (str, bytes))


def refuse_types(qrels: Qrels, types: set[str]) -> None:
    """Refuse items of types that cannot match: the run's numbers never equal the qrels' text."""
    judged = {name_type(item) for item in qrels.items}
    if types and judged and not types & judged:
        advice = " Pass rows of scores as an array: numpy.array(…)." if "float" in types else ""
        raise CoverageError(
            "no judged item was retrieved: the run's item ids are "
            f"{list_choices(sorted(types))}, the qrels' are {list_choices(sorted(judged))}.{advice}"
        )


# --- ItemNumbers: the items of catalogues and lists, numbered as they come ------------------------

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
                f"item ids are of several types: text and whole numbers ({list_some(items)})."
                " Convert them to one type."
            )
        if len(items) and len(self.ids) and items.kind != self.ids.kind:
            raise FormatError(
                f"item ids have several types, {self.ids.kind} ({list_some(self.ids)}) and"
                f" {items.kind} ({list_some(items)}). Convert them to one type."
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


# --- AxisIds of the rows and columns of arrays ----------------------------------------------------

AxisIds = Sequence[Hashable]
LABEL = 9 * 10**17  # and those below it have as many digits
ANY = 1 << 63  # the number of items where every number is one
SIDES = {"query_ids": "rows", "item_ids": "columns"}


def read_ids(raw: Any, argument: str) -> list[Hashable]:
    """Read ids: text or whole numbers that differ. Raises FormatError for anything else."""
    if is_path(raw) and os.path.exists(raw):
        from germane.readers.options.texts import list_ids  # which few evaluations need

        raw = list_ids(raw)
    values = list_values(raw)
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not hasattr(values, "__iter__"):
        order = ", and a set has no order" if isinstance(values, (set, frozenset)) else ""
        got = f"there is no file {clip(raw)}" if is_path(raw) else f"got {clip(raw)}"
        file = ", or is a file of them" * is_path(raw)
        raise FormatError(f"{argument} has an id for each row{order}{file}; {got}")
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
                    " If these are the documents of chunks, pass them as"
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
            "exclude_self=True excludes the item with the query's id, but no query_ids are in"
            " gallery_ids; give the position of each query in the gallery (-1: not in it)."
        )
    return places_of_own


def check_length(ids: AxisIds | None, size: int, argument: str, noun: str) -> None:
    """Raise FormatError unless there is one id for each row."""
    if ids is not None and len(ids) != size:
        raise FormatError(f"{argument} has {len(ids)} ids for {size} {noun}.")


def name_rows(raw: Any, ids: AxisIds | None, noun: str) -> Any:
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


def name_judgments(
    qrels: Qrels, query_ids: AxisIds | None, item_ids: AxisIds | None, noun: str
) -> Qrels:
    """Name the queries and items of judgments that are rows and columns."""
    if qrels.source.width is None:
        return qrels
    if query_ids is not None:
        check_length(query_ids, len(qrels), "query_ids", f"rows of {noun}")
        qrels = replace(qrels, queries=list(query_ids), columns=None)
    if item_ids is not None:
        check_length(item_ids, qrels.source.width or 0, "item_ids", f"columns of {noun}")
        items = [item_ids[column] for column in qrels.items]  # type: ignore[call-overload]
        qrels = replace(qrels, items=items, columns=None, source=Source(is_array=True))
    return qrels


@dataclass(frozen=True, eq=False, repr=False)
class Axis:
    """The rows or the items of an array, which are numbered, or have ids."""

    argument: str  # that gives the ids, or groups
    size: int
    ids: AxisIds | None = None
    what: str = "run"  # it is called in errors
    is_text: bool = False  # groups of a file of text, where an integer is its digits?

    def name(self, places: Ints) -> Ids:
        """Name places: by their ids, or else by their numbers."""
        return Integers(places) if self.ids is None else self._column.take(places)

    def label(self, ties: str) -> Ints:
        """Label places by numbers whose text falls in the order of ids; the last is for none."""
        ids = self._column
        first = np.argsort(ROW_KEYS[ties](ids, np.arange(len(ids))), kind="stable")
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
        if qrels.source.width is not None:  # the qrels were an array, too
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
        if self.ids is not None and qrels.source.width is None:
            items = qrels.items.python if isinstance(qrels.items, Ids) else qrels.items
            return self._look_up(items, qrels.ids == "text", "item", "the qrels")
        if self.argument == "groups":
            raise InputError(
                f"the qrels number the items, but with {write_option('collapse')} they must be"
                f" about groups: give {{query: {{group: grade}}}}."
            )
        if self.size < ANY and qrels.source.width not in (None, self.size):
            raise InputError(
                f"the shapes differ: the qrels have {qrels.source.width} columns, the {self.what} "
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
            f"qrels, query {clip(query)}: item {item} is not a column of the {self.what}, which"
            f" are {self._list_places()}."
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
            f"{name}= has item {items[wrong]}, which is not a column; columns are"
            f" {self._list_places()}."
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
    def _column(self) -> Ids:
        return read_python_ids(self.ids or ())

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
    of_lines = getattr(qrels.source.lines, "items", "ids") == "places"
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


def name_run(run: RunInput, query_ids: AxisIds | None, item_ids: AxisIds | None) -> RunInput:
    """Name the rows and columns of an array, unless it has been named before."""
    if run.has_query_names and item_ids is None:  # by which responses were named
        return run
    if not run.is_array and not query_ids is item_ids is None:
        argument = "query_ids" if query_ids is not None else "item_ids"
        raise InputError(
            f"{argument}= gives ids to the {SIDES[argument]} of an array, but this run has ids of"
            " its own."
        )
    return run.name_axes(query_ids, item_ids) if run.is_array else run  # type: ignore[attr-defined]


def _refuse_types(
    noun: str, judged: Sequence[Hashable], ids: AxisIds, argument: str, side: str
) -> None:
    """Raise CoverageError for ids that cannot match, since their types differ."""
    kinds = [sorted({name_type(identifier) for identifier in side}) for side in (judged, ids)]
    if not set(kinds[0]) & set(kinds[1]):
        raise CoverageError(
            f"no {noun} of {side} is in {argument}: those of {side} are {list_choices(kinds[0])} "
            f"({list_some(judged)}), these are {list_choices(kinds[1])} ({list_some(ids)})."
        )
