"""Ids of items: those of Python mappings, spelled as in a file; items numbered as they come."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from germane.core.id_spelling import PLAIN, is_id, unwrap_ids, unwrap_keys
from germane.core.qrels import Qrels
from germane.core.ragged import Ints
from germane.errors import (
    CoverageError,
    FormatError,
    clip,
    list_choices,
    list_some,
    name_type,
    show_typed,
    write_option,
)
from germane.kernel.columns import Categories, Ids, Integers, Text, join_ids
from germane.kernel.ids import as_integer, is_integer, is_missing, spell_id, to_bytes
from germane.kernel.keys import Keys
from germane.kernel.reduction import Index, Judgments, add_candidates, find_distinct
from germane.output.tables import write_count
from germane.readers.objects import headings


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
    taken = unwrap_keys(raw, where)
    take_ids(where, taken)
    return taken


def _check_id(where: str, identifier: Any) -> None:
    if is_missing(identifier):
        raise FormatError(f"{where}: an id is missing; got {clip(identifier)}")
    if isinstance(identifier, (bool, np.bool_)):
        raise FormatError(
            f"{where}: an id is text or a number, and {identifier} is a truth value. Are these"
            " marks for items? Then give an array, numpy.array(…, bool)."
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
                f"no query of the run is in the qrels, but what it calls {clip(name)} has queries"
                f" that are: {list_some(within)}. Is it several runs by name? evaluate_many takes"
                f" these, and evaluate takes one of them, run[{clip(name)}]."
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
        advice = " Scores in rows are an array: numpy.array(…)." if "float" in types else ""
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
