"""Reads judgments from Python mappings: ``{query: {item: grade}}``, ``{query: relevant items}``."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core.calls import Progress, list_values
from germane.core.id_spelling import unwrap_keys
from germane.core.qrels import ONE_COPY, Qrels
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    clip,
    explain_not_finite,
    list_choices,
    show_typed,
    write_option,
)
from germane.kernel.reduction import EVERY
from germane.readers.files.formats import PAIRS
from germane.readers.inputs import Faults
from germane.readers.objects import headings
from germane.readers.objects.item_ids import take_ids, take_keys
from germane.readers.objects.mappings import MAPPING, sift
from germane.readers.objects.numbers import (
    EXACT,
    ORDINARY,
    is_finite_number,
    read_doubles,
    show_number,
)
from germane.readers.options import subtopics

if TYPE_CHECKING:
    from germane.readers.rows import Rows


_QUERIES, _JUDGMENTS = "queries", "relevant_docs"


def is_data_set(raw: Any) -> bool:
    """Is this a data set: a mapping with queries and judgments, or an object with judgments?"""
    if isinstance(raw, Mapping):
        return _QUERIES in raw and _JUDGMENTS in raw
    return hasattr(raw, _JUDGMENTS)


def find_judgments(raw: Any) -> Any:
    """Find the judgments of a data set. Raises FormatError for judgments of several splits."""
    if isinstance(raw, Mapping):
        judged, part = raw[_JUDGMENTS], f"[{_JUDGMENTS!r}]"
    else:
        judged, part = getattr(raw, _JUDGMENTS), f".{_JUDGMENTS}"
    if not _has_splits(judged):
        return judged
    if len(judged) > 1:
        choices = list_choices(f"qrels{part}[{split!r}]" for split in judged)
        raise FormatError(f"qrels: the data set has judgments of several splits. Give {choices}.")
    return next(iter(judged.values()))


def _has_splits(judged: Any) -> bool:
    """Are these judgments by split, ``{split: {query: {item: grade}}}``?"""
    for _ in range(2):
        if not isinstance(judged, Mapping) or not judged:
            return False
        judged = next(iter(judged.values()))
    return isinstance(judged, Mapping)


def read_qrels(raw: Mapping[Hashable, Any], duplicates: str, where: str = "qrels") -> Qrels:
    """Read ``{query: {item: grade}}``, or ``{query: relevant items}``, whose grades are 1.

    An item may have ``{subtopic: grade}`` in the place of a grade, or a collection of its
    subtopics.
    """
    if not raw:
        raise EmptyError("the qrels are empty: there are no judgments.")
    headings.refuse_columns(where, raw)
    raw = take_keys(where, raw)
    queries: list[Hashable] = []
    unjudged: list[Hashable] = []
    items: list[Hashable] = []
    grades: list[Any] = []
    offsets = [0]
    for query, judged in raw.items():
        if isinstance(judged, MAPPING):
            if not judged:
                unjudged.append(query)
                continue
            items += judged
            grades += judged.values()
        else:
            relevant = _list_relevant(query, judged, duplicates, where)
            items += relevant
            grades += [1.0] * len(relevant)
        queries.append(query)
        offsets.append(len(items))
    if not queries:
        raise EmptyError("the qrels are empty: no query has a judgment.")
    try:
        are_taken = take_ids(where, items) is items
    except FormatError:
        are_taken = False  # so that the error names the query
    if not are_taken:
        return read_qrels(_take_items(raw, where), duplicates, where)
    values = read_doubles(grades, EXACT)
    if values is None and any(map(subtopics.is_nested, grades)):
        nested = subtopics.read_nested(where, queries, offsets, items, grades)
        highest = nested.highest
        return Qrels(
            queries, np.array(offsets), items, highest, unjudged=tuple(unjudged), subtopics=nested
        )
    are_odd = not ORDINARY.issuperset(map(type, grades))
    if values is None or (are_odd and not all(map(is_finite_number, grades))):
        raise _explain_bad_grade(raw, where)
    return Qrels(queries, np.array(offsets), items, values, unjudged=tuple(unjudged))


def read_rows(
    raw: Mapping[Hashable, Any], where: str, progress: Progress | None, faults: Faults
) -> "list[Rows] | None":
    """Read judgments as far as possible, and note the others as faults; None for subtopics."""
    from germane.readers.rows import list_judgments  # which few evaluations need

    try:
        judged = read_qrels(raw, "each", where)
    except InputError:
        if not raw:
            raise
    else:
        return None if judged.subtopics is not None else [list_judgments(judged)]

    def read(query: Hashable, judged: Any) -> Qrels:
        is_unjudged = isinstance(judged, MAPPING) and not judged
        return read_qrels({query: [] if is_unjudged else judged}, "each", where)

    return [
        list_judgments(sift(partial(read, query), judged, [], faults))
        for query, judged in unwrap_keys(raw, where).items()
        if faults.can(partial(take_ids, where), [query])
    ]


def _take_items(raw: Mapping[Hashable, Any], where: str) -> dict[Hashable, Any]:
    """Take the items of judgments out of what holds them."""
    return {
        query: take_keys(f"{where}, query {clip(query)}", judged)
        if isinstance(judged, MAPPING)
        else take_ids(f"{where}, query {clip(query)}", list_values(judged))
        for query, judged in raw.items()
    }


def _list_relevant(query: Hashable, judged: Any, duplicates: str, where: str) -> list[Hashable]:
    judged = list_values(judged)
    if isinstance(judged, (str, bytes)) or not isinstance(judged, Collection):
        raise FormatError(
            f"{where}, query {clip(query)}: judgments are {{item: grade}} or a collection of"
            f" relevant items; got {show_typed(judged)}"
        )
    try:
        unique = list(dict.fromkeys(judged))
    except TypeError:  # arrays without dimensions have no hash
        judged = take_ids(f"{where}, query {clip(query)}", judged)
        unique = list(dict.fromkeys(judged))
    if len(unique) < len(judged) and where not in PAIRS:
        _refuse_grades(query, judged, unique, duplicates, where)
    return list(judged) if duplicates in ("each", EVERY) else unique


def _refuse_grades(
    query: Hashable, judged: Collection[Any], unique: Sequence[Any], duplicates: str, where: str
) -> None:
    """Refuse an item that is judged twice, and 0 and 1 again and again, which are no ids."""
    within, shown = f"{where}, query {clip(query)}", clip(list(judged))
    advice = (
        "give each query its items with their grades, dict(zip(items, grades)), and also the"
        " relevant items that are not in its list."
    )
    if set(map(str, unique)) == _MARKS or set(unique) == {False, True}:
        raise FormatError(
            f"{within}: a list contains the ids of relevant items, but {shown} looks like the"
            f" grades of a list of results. If it is, {advice} If 0 and 1 are ids, give each only"
            " once."
        )
    if duplicates in (*ONE_COPY, "each", EVERY):
        return
    twice = next(item for item in unique if list(judged).count(item) > 1)
    grades = f" If these are grades, {advice}" * all(map(is_finite_number, unique))
    raise DuplicateError(
        f"{within}: item {clip(twice)} is judged twice. {write_option('duplicates', 'first')} or"
        f" {write_option('repeated', 'once')} counts it once.{grades}"
    )


_MARKS = {"0", "1"}


def _explain_bad_grade(grades: Mapping[Hashable, Any], where: str) -> GradeError:
    query, item, grade = next(
        (query, item, grade)
        for query, judged in grades.items()
        if isinstance(judged, Mapping)
        for item, grade in judged.items()
        if not is_finite_number(grade) or abs(grade) > EXACT
    )
    within = " in the range ±2^53" if is_finite_number(grade) else ""
    wrong = explain_not_finite("relevance grade", f"got {show_number(grade)}", within=within)
    return GradeError(f"{where}, query {clip(query)}, item {clip(item)}: {wrong}")
