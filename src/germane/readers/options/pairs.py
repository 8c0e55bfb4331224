"""Reads options that speak of pairs: ``exclude=``, ``only=``, ``ignore=``, weights of subtopics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels
from germane.core.ragged import Floats
from germane.core.ranking import Subtopics
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    GradeError,
    InputError,
    MeasureError,
    clip,
    list_some,
    spell_options,
    write_option,
)
from germane.kernel.ids import spell_id
from germane.readers.inputs import Needs, ReadOptions
from germane.readers.objects import mapped_qrels, mappings, numbers
from germane.readers.objects.hits import is_hits, read_documents
from germane.readers.objects.item_ids import name_judgments, name_rows, read_both
from germane.readers.objects.numbers import is_finite_number
from germane.readers.objects.relevance import split_rows
from germane.readers.options.candidates import NAMES, Name, Pairs
from germane.readers.recognition import open_pairs

if TYPE_CHECKING:
    from germane.readers.inputs import ReadOptions


def hold_candidates(reading: ReadOptions) -> ReadOptions:
    """Read the pairs of each argument. Raises InputError for what has no queries and items."""
    raw_pairs: dict[Name, Any] = {name: getattr(reading, name) for name in NAMES}
    read: dict[str, Any] = {
        name: _open_pairs(raw, name, reading) for name, raw in raw_pairs.items() if raw is not None
    }
    return replace(reading, **read)


def _open_pairs(raw: Any, name: Name, reading: ReadOptions) -> Pairs:
    """Read pairs, whose rows and columns have the ids of those of the run if they have none."""
    query_ids, item_ids = read_both(reading)
    if query_ids is not None and mappings.is_rows(raw):
        _refuse_mask(raw, name)
        raw = name_rows(raw, query_ids, name)
    pairs = _read_pairs(raw, name, reading.columns, reading.input_format)
    if reading.collapse is not None:
        if pairs.source.width is not None:
            raise InputError(
                f"{name}= marks columns, but with {write_option('collapse')} candidates are"
                f" groups: give {{query: groups}}."
            )
        reading.collapse.refuse_replaced(pairs.items, f"{name}=")
    return name_judgments(pairs, query_ids, item_ids, f"{name}=")


def _read_pairs(raw: Any, name: Name, columns: Any, input_format: Any) -> Pairs:
    if isinstance(raw, Qrels):
        return raw
    if mappings.is_rows(raw):
        _refuse_mask(raw, name)
        raw = dict(enumerate(raw))
    if is_hits(raw):
        raw = read_documents(raw, columns, side=name)
    if mappings.is_mapping(raw):
        return _read_mapping(raw, name)
    if isinstance(raw, (list, tuple)) and not raw:
        return _read_mapping({}, name)
    if numbers.is_array(raw) and len(raw.shape) != 2:
        raise InputError(
            f"{name}= as an array has shape (queries, items); got {tuple(raw.shape)}. With group=,"
            f" it is {{group: places of its items}}."
        )
    if numbers.is_array(raw) and not _is_mask(numbers.to_numpy(raw, name)):
        advice = f"If they are items, give lists of them: {name}.tolist()."
        if not numbers.is_whole(raw):
            advice = "Give the marks themselves, such as numbers >= 0.5."
        raise InputError(
            f"{name}= as an array is true or false for each item; got numbers other than 0 and 1."
            f" {advice}"
        )
    opened = open_pairs(raw, name, columns, input_format)
    if opened is None:
        raise InputError(
            f"{name}= is {{query: items}}, a frame or a file with the columns query and item, a"
            f" list of sets, an array of true and false, or a CSR matrix; got {clip(raw)}"
        )
    return opened.read("first", None, Needs())


def _is_mask(array: Any) -> bool:
    """Is every number of an array 0 or 1?"""
    return array.dtype == bool or all(
        bool(np.isin(part, (0, 1)).all()) for _, part in split_rows(array)
    )


def _refuse_mask(rows: Sequence[Any], name: Name) -> None:
    """Refuse lists of true and false, which look like a mask: lists hold items."""
    lists = [list(row) for row in rows if isinstance(row, (list, np.ndarray))]
    values = [value for row in lists for value in row]
    marks = all(
        isinstance(value, (int, np.integer, np.bool_)) and value in (0, 1) for value in values
    )
    repeats = any(len(set(row)) < len(row) for row in lists)
    if values and marks and (repeats or isinstance(values[0], (bool, np.bool_))):
        raise InputError(
            f"{name}= has lists of 0 and 1, or of true and false: are these marks or items? Lists"
            " contain items. Pass marks as an array, numpy.array(…, bool)."
        )


def _read_mapping(raw: Mapping[Hashable, Any], name: Name) -> Pairs:
    if not raw:
        return Qrels([], np.zeros(1, np.int64), [], np.zeros(0))
    lists = {
        query: list(items) if isinstance(items, Mapping) else items for query, items in raw.items()
    }
    return mapped_qrels.read_qrels(lists, "first", where=name)


# --- Weights of subtopics, ``subtopic_weights=``, which judgments carry beside the grades ---------

NAME = "subtopic_weights"


def open_weights(reading: ReadOptions) -> Qrels:
    """Read the weights as judgments, in which subtopics are the items and weights the grades.

    Raises GradeError for a weight that is negative or no number, and DuplicateError for two weights
    of one.
    """
    try:
        weights = _read(reading.subtopic_weights, reading)
    except DuplicateError as error:
        found = (
            str(error)
            .partition(spell_options(f". {write_option('duplicates')}"))[0]
            .replace("item ", "subtopic ")
        )
        raise DuplicateError(
            f"{found.replace(' judged ', ' given a weight ')}. Keep one of {NAME}= for each"
            " subtopic."
        ) from None
    for query, subtopic, weight in _list_all(weights):
        if weight < 0:
            raise GradeError(
                f"{NAME}, query {clip(query)}, subtopic {clip(subtopic)}: a weight is 0 or more;"
                f" got {weight:g}."
            )
    return weights


def _read(raw: Any, reading: ReadOptions) -> Qrels:
    if isinstance(raw, Qrels):
        return raw
    if mappings.is_mapping(raw):
        if not raw:
            raise EmptyError(f"{NAME}= is empty: there are no weights.")
        _check_mapping(raw)
        return mapped_qrels.read_qrels(raw, "error", where=NAME)
    opened = open_pairs(raw, NAME, reading.columns, reading.input_format)
    if opened is None:
        raise InputError(
            f"{NAME}= is {{query: {{subtopic: weight}}}}, or a frame or a file with the columns"
            f" query, subtopic and weight; got {clip(raw)}"
        )
    return opened.read("error", None, Needs())


def _check_mapping(given: Mapping[Hashable, Any]) -> None:
    for query, weights in given.items():
        if not isinstance(weights, Mapping):
            raise InputError(
                f"{NAME}, query {clip(query)}: weights are {{subtopic: weight}}; got"
                f" {clip(weights)}"
            )
        for subtopic, weight in weights.items():
            if not is_finite_number(weight):
                raise GradeError(
                    f"{NAME}, query {clip(query)}, subtopic {clip(subtopic)}: a weight is a number;"
                    f" got {clip(weight)}"
                )


def _list_all(weights: Qrels) -> list[tuple[Hashable, Hashable, float]]:
    owner = ragged.find_owners(weights.offsets).tolist()
    queries = [weights.queries[q] for q in owner]
    return list(zip(queries, weights.items, weights.grades.tolist(), strict=True))


def attach_weights(qrels: Qrels, weights: Qrels, needs: Needs) -> Qrels:
    """Attach the weights to judgments of subtopics.

    Raises MeasureError if no measure takes weights, and CoverageError if a judged subtopic has
    none.
    """
    if not needs.weights:
        raise MeasureError(
            f"{NAME}= is given, but no measure takes weights. Ask for them in a measure's name:"
            " ERR_IA(weights=given)@20."
        )
    if qrels.subtopics is None:
        return qrels  # which these measures refuse
    subtopic_weights = _find_weights(qrels, qrels.subtopics, weights)
    return replace(qrels, subtopics=replace(qrels.subtopics, weights=subtopic_weights))


def _find_weights(qrels: Qrels, subtopics: Subtopics, weights: Qrels) -> Floats:
    """Find the weight of each entry's subtopic for its query (S)."""
    spelled = "text" in (qrels.ids, weights.ids)
    spell: Any = spell_id if spelled else lambda identifier: identifier
    weight_of = {
        (spell(query), spell(subtopic)): weight for query, subtopic, weight in _list_all(weights)
    }
    entry_owner = ragged.find_owners(qrels.offsets)[ragged.find_owners(subtopics.starts)]
    names = max(len(subtopics.names), 1)
    cells, cell = np.unique(entry_owner * names + subtopics.code, return_inverse=True)
    queries = [spell(query) for query in qrels.queries]
    ids = [spell(name) for name in subtopics.names]
    pairs = [(queries[cell // names], ids[cell % names]) for cell in cells.tolist()]
    lacking = [pair for pair in pairs if pair not in weight_of]
    if lacking:
        (query, subtopic), named = lacking[0], [name for q, name in weight_of if q == lacking[0][0]]
        of_query = f"has {list_some(named)}" if named else "is not among its queries"
        raise CoverageError(
            f"{NAME}= has no weight for subtopic {clip(subtopic)} of query {clip(query)}, which"
            f" {of_query} ({len(lacking)} of {len(pairs)} judged subtopics lack one). A weight of 0"
            " leaves a subtopic out."
        )
    found_weights = np.array([weight_of[pair] for pair in pairs])
    sums = np.bincount(cells // names, weights=found_weights)
    none = [q for q in np.unique(cells // names).tolist() if not sums[q]]
    if none:
        raise GradeError(
            f"{NAME}= has weight 0 for all subtopics of query {clip(qrels.queries[none[0]])}."
        )
    of_entries: Floats = found_weights[cell]
    return of_entries
