"""Weights of subtopics, ``subtopic_weights=``, which judgments carry beside the grades."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
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
from germane.readers import mappings
from germane.readers.inputs import Needs
from germane.readers.numbers import is_finite_number
from germane.readers.recognition import open_pairs

if TYPE_CHECKING:
    from germane.readers.inputs import ReadOptions

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
        return mappings.read_qrels(raw, "error", where=NAME)
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
            f"{NAME}= is given, and no measure takes weights. Write it into a measure's name: "
            "ERR_IA(weights=given)@20."
        )
    if qrels.subtopics is None:
        return qrels  # which these measures refuse
    found = _find_weights(qrels, qrels.subtopics, weights)
    return replace(qrels, subtopics=replace(qrels.subtopics, weights=found))


def _find_weights(qrels: Qrels, subtopics: Subtopics, weights: Qrels) -> Floats:
    """Find the weight of each entry's subtopic for its query (S)."""
    spelled = "text" in (qrels.ids, weights.ids)
    spell: Any = spell_id if spelled else lambda one: one
    known = {(spell(query), spell(one)): weight for query, one, weight in _list_all(weights)}
    entry_owner = ragged.find_owners(qrels.offsets)[ragged.find_owners(subtopics.starts)]
    names = max(len(subtopics.names), 1)
    cells, cell = np.unique(entry_owner * names + subtopics.code, return_inverse=True)
    queries = [spell(query) for query in qrels.queries]
    ids = [spell(name) for name in subtopics.names]
    pairs = [(queries[cell // names], ids[cell % names]) for cell in cells.tolist()]
    lacking = [pair for pair in pairs if pair not in known]
    if lacking:
        (query, subtopic), given = lacking[0], [name for q, name in known if q == lacking[0][0]]
        of_query = f"has {list_some(given)}" if given else "is not among its queries"
        raise CoverageError(
            f"{NAME}= has no weight for subtopic {clip(subtopic)} of query {clip(query)}, which"
            f" {of_query} ({len(lacking)} of {len(pairs)} judged subtopics lack one). A weight of 0"
            " leaves a subtopic out."
        )
    found = np.array([known[pair] for pair in pairs])
    sums = np.bincount(cells // names, weights=found)
    none = [q for q in np.unique(cells // names).tolist() if not sums[q]]
    if none:
        raise GradeError(
            f"{NAME}= has weight 0 for all subtopics of query {clip(qrels.queries[none[0]])}."
        )
    of_entries: Floats = found[cell]
    return of_entries
