"""Ids of Python mappings: spells them as in a file of text, and refuses those that cannot match."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np

from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.errors import CoverageError, FormatError, clip, list_choices, list_some, show_typed
from germane.kernel.ids import is_integer, to_bytes, to_text
from germane.readers import headings


class SpelledMapping(Mapping[Hashable, Any]):
    """A run whose integers, bytes and UUIDs appear as text. A query's items are spelled on access."""

    def __init__(self, run: Mapping[Hashable, Any]) -> None:
        self.run = run

    @cached_property
    def _own(self) -> dict[Hashable, Hashable]:
        """The text of each query → its id. Raises FormatError where two have the same."""
        own = {spell_id(query): query for query in self.run}
        if len(own) < len(self.run):
            raise FormatError("two query ids of the run have the same text.")
        return own

    def find_own(self, query: Hashable) -> Hashable:
        """Find the id of the query that has this text."""
        return query if isinstance(query, str) and query in self.run else self._own[query]

    def __getitem__(self, query: Hashable) -> Any:
        return _spell_results(query, self.run[self.find_own(query)])

    def __contains__(self, query: object) -> bool:
        return query in self._own

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def _spell_results(query: Hashable, got: Any) -> Any:
    """Spell the items of results; anything else stays as it is."""
    if not isinstance(got, Mapping):
        got = list_values(got)
        is_list = isinstance(got, Sequence) and not isinstance(got, (str, bytes))
        return _spell_ids(got) if is_list else got
    texts = _spell_ids(got)
    if texts is got:
        return got
    spelled = dict(zip(texts, got.values(), strict=True))
    if len(spelled) < len(got):
        raise FormatError(f"run, query {clip(query)}: two item ids have the same text.")
    return spelled


def _spell_ids(ids: Collection[Any]) -> Collection[Any]:
    """Spell each id as text. Returns the same object if all of them are text."""
    types = set(map(type, ids))
    if types <= {str}:
        return ids
    if types == {int}:
        with suppress(ValueError):  # more digits than str() allows
            return list(map(str, ids))
    return list(map(spell_id, ids))


def spell_id(identifier: Any) -> Any:
    """Spell an id as a file of text does. A value unlike ids, such as a score, stays as it is."""
    if is_integer(identifier) or isinstance(identifier, (bytes, UUID)):
        return to_text(to_bytes(identifier))
    return identifier


def spell_qrels(qrels: Qrels) -> Qrels:
    """Spell the ids of judgments as a file of text does."""
    if qrels.ids == "text":
        return qrels
    queries, items = list(map(spell_id, qrels.queries)), list(map(spell_id, qrels.items))
    spelled = replace(qrels, queries=queries, items=items, columns=None)
    if len(spelled.position) < len(queries):
        raise FormatError("two query ids of the qrels have the same text.")
    if sum(map(len, spelled.judged)) < len(items):
        raise FormatError("two item ids of a query of the qrels have the same text.")
    return spelled


def refuse_queries(qrels: Qrels, run: Mapping[Hashable, Any]) -> None:
    """Refuse a run without a judged query if its values show that it is not a run."""
    headings.refuse_columns("run", run)
    name, results = next(iter(run.items()))
    if isinstance(results, Mapping):
        within = [query for query in qrels.queries if _has_results(results, query)]
        if within:
            raise FormatError(
                f"no query of the run is in the qrels, but what it calls {clip(name)} has queries that "
                f"are: {list_some(within)}. Is it several runs by name? evaluate_many takes these, and "
                f"evaluate takes one of them, run[{clip(name)}]."
            )
    elif isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
        raise FormatError(
            f"run, query {clip(name)}: results are {{item: score}} or a list of items; got "
            f"{show_typed(results)}. A run is {{query: results}}, and several runs {{name: run}}."
        )


def _has_results(given: Mapping[Hashable, Any], query: Hashable) -> bool:
    """Is the query's value its results, and not the score of an item with the same id?"""
    held = given.get(query)
    return isinstance(held, Iterable) and not isinstance(held, (str, bytes))


def refuse_items(qrels: Qrels, run: Mapping[Hashable, Any]) -> None:
    """Refuse ids that cannot match: the numbers of a run never equal the text of the qrels."""
    lists = map(list_values, run.values())
    types = {name_type(item) for got in lists if isinstance(got, Iterable) for item in got}
    judged = {name_type(item) for item in qrels.items}
    if types and judged and not types & judged:
        advice = " Scores in rows are an array: numpy.array(…)." if "float" in types else ""
        raise CoverageError(
            "no judged item was retrieved: the run's item ids are "
            f"{list_choices(sorted(types))}, the qrels' are {list_choices(sorted(judged))}.{advice}"
        )


def name_type(item: Any) -> str:
    """Name the type of an id; that of NumPy's numbers, which equal Python's, is the one of Python's."""
    if isinstance(item, str):
        return "str"
    return type(item.item() if isinstance(item, np.generic) else item).__name__
