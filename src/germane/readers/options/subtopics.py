"""Groups judgments of single subtopics: one judgment an item, with a grade for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.id_spelling import PLAIN, is_id, unwrap_keys
from germane.core.qrels import ONE_COPY, Qrels
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Subtopics
from germane.errors import (
    DuplicateError,
    FormatError,
    GradeError,
    InputError,
    clip,
    explain_not_finite,
    write_option,
)
from germane.kernel.ids import Ids, Integers, is_missing, sort_by_bytes, to_bytes
from germane.kernel.reduction import RepeatedItem, find_distinct
from germane.readers.objects.numbers import EXACT, is_finite_number, read_doubles, show_number


class Names(NamedTuple):
    """All subtopics in the order of their ids, and their places in the order of appearance."""

    ids: list[Hashable]
    appeared: Ints


class SubtopicRows(NamedTuple):
    """Judgments as rows: those of query q are ``offsets[q]:offsets[q + 1]``."""

    queries: Sequence[Hashable]
    offsets: Ints
    items: Ids
    code: Ints  # the place of each subtopic among the names
    names: Names
    grades: Floats

    @property
    def has_unused_names(self) -> bool:
        """Is the column of subtopics the word on all rows that says nothing?"""
        return {str(name) for name in self.names.ids} <= UNUSED


NO_NAMES = np.zeros(0, np.int64), Names([], np.zeros(0, np.int64))


def _sort_names(names: list[Hashable]) -> tuple[Names, Ints]:
    """Sort subtopics that are in the order of appearance. Returns also where each one went."""
    appeared = sort_by_bytes(names) if names else np.zeros(0, np.int64)
    place = np.empty(len(names), np.int64)
    place[appeared] = np.arange(len(names))
    return Names([names[position] for position in appeared.tolist()], appeared), place


def number_names(subtopics: Ids) -> tuple[Ints, Names]:
    """Number subtopics. Returns the number of each row, and the names."""
    first, code = find_distinct(subtopics)
    names, place = _sort_names(subtopics.take(first).python)
    return place[code], names


UNUSED = {"0", "Q0"}
"""The second column of qrels without subtopics."""


class Grouped(NamedTuple):
    """Judgments of items, of query q ``offsets[q]:offsets[q + 1]``, and their subtopics."""

    offsets: Ints
    items: Ids
    subtopics: Subtopics


class RepeatedSubtopic(RepeatedItem):
    """An item is judged twice for a subtopic, and that is an error."""

    def __init__(self, query: Hashable, item: Hashable, subtopic: Hashable) -> None:
        super().__init__(query, item)
        self.subtopic = subtopic


def group_rows(rows: SubtopicRows, duplicates: str) -> Grouped:
    """Group the rows of each item. Raises RepeatedSubtopic, unless ``duplicates`` keeps one."""
    owner = ragged.find_owners(rows.offsets)
    first, number = find_distinct(rows.items)
    pair = owner * max(len(first), 1) + number
    heads, judgment = find_distinct(Integers(pair))  # as items first appear, and so query by query
    repeats = _drop_repeats(rows, judgment, duplicates)
    items = rows.items.take(heads)
    subtopics = Subtopics(
        starts=ragged.make_offsets(np.bincount(judgment[repeats], minlength=len(heads))),
        code=rows.code[repeats],
        grades=np.asarray(rows.grades)[repeats],
        names=rows.names.ids,
        appeared=rows.names.appeared,
        items=items,
        sort=sort_by_bytes,
    )
    offsets = ragged.make_offsets(np.bincount(owner[heads], minlength=len(rows.queries)))
    return Grouped(offsets, items, subtopics)


def _drop_repeats(rows: SubtopicRows, judgment: Ints, duplicates: str) -> Ints:
    """Order the rows by judgment and subtopic, and keep one of each."""
    key = judgment * max(len(rows.names.ids), 1) + rows.code
    first, triple = find_distinct(Integers(key))
    if len(first) == len(key):
        return _sort_keys(key)
    if duplicates not in ONE_COPY:
        row = int(np.flatnonzero(first[triple] != np.arange(len(key)))[0])
        query = rows.queries[int(np.searchsorted(rows.offsets, row, "right")) - 1]
        raise RepeatedSubtopic(query, rows.items[row], rows.names.ids[int(rows.code[row])])
    place = np.arange(len(key))
    best = {"first": place, "last": -place, "max": -np.asarray(rows.grades)}[duplicates]
    order = np.lexsort((place, best, triple))
    firsts = order[np.flatnonzero(np.diff(triple[order], prepend=-1))]
    return np.asarray(firsts[_sort_keys(key[firsts])])


def _sort_keys(key: Ints) -> Ints:
    """Sort distinct numbers. Returns their positions."""
    if not len(key) or (key[1:] > key[:-1]).all():
        return np.arange(len(key))
    return ragged.order_stably(key) if key.max() < 1 << 32 else np.argsort(key)


# --- Python values ----------------------------------------------------------------------------


def is_nested(grade: object) -> bool:
    """Are these subtopics in the place of a grade?"""
    return isinstance(grade, (dict, Mapping, list, tuple, Set))


def read_nested(
    where: str,
    queries: Sequence[Hashable],
    offsets: Sequence[int],
    items: Sequence[Hashable],
    nested_grades: Sequence[Any],
) -> Subtopics:
    """Read the subtopics of each item: ``{subtopic: grade}``, or a collection, whose grades are 1.

    Raises FormatError for an item with a grade in their place, and GradeError for a grade that is
    no number.
    """

    def locate(at: int) -> str:
        query = queries[int(np.searchsorted(offsets, at, "right")) - 1]
        return f"{where}, query {clip(query)}, item {clip(items[at])}"

    are_nested = [type(value) is dict or is_nested(value) for value in nested_grades]
    if not all(are_nested):
        raise _explain_mixture(nested_grades, are_nested, locate)
    try:
        if set(map(type, nested_grades)) != {dict}:
            nested_grades = [
                value if isinstance(value, Mapping) else _give_grades(value)
                for value in nested_grades
            ]
        if not PLAIN.issuperset(map(type, chain.from_iterable(nested_grades))):
            nested_grades = [
                unwrap_keys(value, locate(place)) for place, value in enumerate(nested_grades)
            ]
        grades = read_doubles(
            list(chain.from_iterable(value.values() for value in nested_grades)), EXACT
        )
        subtopics = (
            None if grades is None else make_subtopics(items, map(tuple, nested_grades), grades)
        )
    except (TypeError, ValueError, OverflowError):
        subtopics = None
    if subtopics is None or any(map(is_missing, subtopics.names)):
        raise _explain_bad(where, nested_grades, locate)
    return subtopics


def explain_unread(qrels: Qrels, judgments: Mapping[Hashable, Any]) -> GradeError:
    """Make the error for subtopics in the place of grades that nothing looks at."""
    query, item = qrels.queries[0], qrels.items[0]
    value = judgments[query][item]
    return explain_nested(f"qrels, query {clip(query)}, item {clip(item)}", value, "{item: grade}")


def explain_nested(where: str, value: object, grades: str) -> GradeError:
    """Make the error for a collection in the place of a grade that nothing asked for reads."""
    return GradeError(
        f"{where}: a relevance grade is a number; got {clip(value)}. Are these grades or"
        f" subtopics? Pass grades as {grades}. For subtopics, ask for a measure of them, such as"
        " alpha_nDCG; other measures computed along with it take the highest grade of an item."
    )


def _explain_mixture(
    values: Sequence[Any], nested: Sequence[bool], locate: Callable[[int], str]
) -> InputError:
    """Name the first item that differs from most: subtopics among grades, or the reverse."""
    are_grades = 2 * sum(nested) < len(nested)
    position = nested.index(are_grades)
    if are_grades:
        return GradeError(
            f"{locate(position)}: a relevance grade is a number; got"
            f" {type(values[position]).__name__} {clip(values[position])}. Either all items or"
            " none can have subtopics in place of a grade."
        )
    return FormatError(
        f"{locate(position)}: other items have {{subtopic: grade}}, this one has"
        f" {clip(values[position])}. {{}} says that an item has no subtopic."
    )


def _give_grades(names: Any) -> dict[Any, float]:
    """Give grade 1 to the subtopics of an item; those of a set in the order of their ids."""
    return dict.fromkeys(sorted(names, key=to_bytes) if isinstance(names, Set) else names, 1.0)


def _explain_bad(where: str, values: Sequence[Any], locate: Callable[[int], str]) -> InputError:
    """Find the first item whose subtopics or grades cannot be read."""
    for place, value in enumerate(values):
        for name in value:
            if not is_id(name) or is_missing(name):
                return FormatError(
                    f"{locate(place)}: a subtopic is text or a number; got {clip(name)}"
                )
        for name, grade in value.items() if isinstance(value, Mapping) else ():
            if not is_finite_number(grade) or abs(grade) > EXACT:
                wrong = explain_not_finite("relevance grade", f"got {show_number(grade)}")
                return GradeError(f"{locate(place)}, subtopic {clip(name)}: {wrong}")
    return FormatError(f"{where}: the subtopics cannot be read.")


def make_subtopics(
    items: Sequence[Hashable], names_of_items: Iterable[tuple[Hashable, ...]], grades: Floats
) -> Subtopics:
    """Make subtopics of the names that each item has, and of the grades of all items in this order.

    Many items have the same subtopics, so that names are looked up once for each set of them.
    """
    kinds: dict[tuple[Hashable, ...], int] = defaultdict(count().__next__)
    number = np.fromiter(map(kinds.__getitem__, names_of_items), np.int64, len(items))
    distinct = list(dict.fromkeys(chain.from_iterable(kinds)))
    names, place = _sort_names(distinct)
    codes = dict(zip(distinct, place.tolist(), strict=True))
    of_kinds = [np.array([codes[name] for name in kind], np.int64) for kind in kinds]
    orders = [np.argsort(code) for code in of_kinds]
    starts_of = ragged.make_offsets(list(map(len, kinds)))
    none = np.zeros(0, np.int64)
    all_codes, all_orders = np.concatenate([none, *of_kinds]), np.concatenate([none, *orders])

    lengths = ragged.find_lengths(starts_of)[number]
    starts, positions = (
        ragged.make_offsets(lengths),
        ragged.list_stretches(starts_of[number], lengths),
    )
    order = (
        np.repeat(starts[:-1], lengths) + all_orders[positions]
    )  # of the entries of each item by code
    code = all_codes[np.repeat(starts_of[number], lengths) + all_orders[positions]]
    return Subtopics(starts, code, grades[order], *names, items, sort_by_bytes)


def join_subtopics(
    parts: Sequence[Subtopics | None], items: Sequence[Hashable]
) -> Subtopics | None:
    """Join the subtopics of parts with different queries; None if they have none."""
    subtopics = [part for part in parts if part is not None]
    if not subtopics:
        return None
    codes: dict[Hashable, int] = {}
    code = [
        np.array([codes.setdefault(name, len(codes)) for name in part.names], np.int64)[part.code]
        for part in subtopics
    ]
    lengths = np.concatenate([ragged.find_lengths(part.starts) for part in subtopics])
    grades = np.concatenate([part.grades for part in subtopics])
    starts = ragged.make_offsets(lengths)
    names, place = _sort_names(list(codes))  # which keeps the order of those of a part
    return Subtopics(starts, place[np.concatenate(code)], grades, *names, items, sort_by_bytes)


def explain_repeated_subtopic(
    where: str, repeated_subtopic: RepeatedSubtopic, like: str = ""
) -> DuplicateError:
    """Make the error for an item that is judged twice for a subtopic."""
    query, item, subtopic = map(
        clip, (repeated_subtopic.query, repeated_subtopic.item, repeated_subtopic.subtopic)
    )
    return DuplicateError(
        f"{where}: item {item} is judged twice for subtopic {subtopic} of query {query}{like}. "
        f"{write_option('duplicates', 'first')}, last or max keeps one copy."
    )
