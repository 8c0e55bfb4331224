"""Runs of Python ids beside a file of text, which has no integers: they are their digits there."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any
from uuid import UUID

from germane.core.values import listed
from germane.errors import FormatError, clip
from germane.kernel.ids import is_integer, to_bytes, to_text


class Spelled(Mapping[Hashable, Any]):
    """A run whose integers, bytes and UUIDs are text. A query's items are spelled when they are asked for."""

    def __init__(self, run: Mapping[Hashable, Any]) -> None:
        self._run = run

    @cached_property
    def _own(self) -> dict[Hashable, Hashable]:
        """The text of each query → its id. Raises FormatError where two have the same."""
        own = {_text(query): query for query in self._run}
        if len(own) < len(self._run):
            raise FormatError("two query ids of the run have the same text.")
        return own

    def __getitem__(self, query: Hashable) -> Any:
        own = query if isinstance(query, str) and query in self._run else self._own[query]
        return _results(query, self._run[own])

    def __contains__(self, query: object) -> bool:
        return query in self._own

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def _results(query: Hashable, got: Any) -> Any:
    """Results with their items as text; what is none stays what it is."""
    if not isinstance(got, Mapping):
        got = listed(got)
        is_list = isinstance(got, Sequence) and not isinstance(got, (str, bytes))
        return _texts(got) if is_list else got
    texts = _texts(got)
    if texts is got:
        return got
    spelled = dict(zip(texts, got.values(), strict=True))
    if len(spelled) < len(got):
        raise FormatError(f"run, query {clip(query)}: two item ids have the same text.")
    return spelled


def _texts(ids: Collection[Any]) -> Collection[Any]:
    """Each id as text; the same object where all of them are."""
    types = set(map(type, ids))
    if types <= {str}:
        return ids
    if types == {int}:
        with suppress(ValueError):  # more digits than Python writes without being asked
            return list(map(str, ids))
    return list(map(_text, ids))


def _text(identifier: Any) -> Any:
    """An id as a file of text has it. What is unlike ids, such as a score, stays what it is."""
    if is_integer(identifier) or isinstance(identifier, (bytes, UUID)):
        return to_text(to_bytes(identifier))
    return identifier
