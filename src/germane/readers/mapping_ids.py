"""Ids of Python mappings: spells them as in a file of text, and refuses those that cannot match."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from germane.core.id_spelling import PLAIN, is_id, unwrap_ids, unwrap_keys
from germane.core.qrels import Qrels
from germane.errors import (
    CoverageError,
    FormatError,
    clip,
    list_choices,
    list_some,
    name_type,
    show_typed,
)
from germane.kernel.ids import is_missing, spell_id
from germane.kernel.keys import Keys
from germane.kernel.reduction import Judgments, add_candidates
from germane.readers import headings


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
    from germane.readers.candidates import find_candidates  # which few evaluations need

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
