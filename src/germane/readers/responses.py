"""Recognizes whole responses of search clients, and says which part of them is a run.

A run takes lists of hits. A response has them in a field, or its parts in columns, or as pairs of a
hit and a number, of which only the caller knows if the highest is the best.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from germane.errors import FormatError, clip, list_some

LISTS = (
    ("hits", "hits"),
    ("hits",),
    ("points",),
    ("matches",),
    ("objects",),
    ("source_nodes",),
    ("response", "docs"),
    ("root", "children"),
    ("results",),
    ("value",),
)
"""Fields in which responses have their lists of hits: those of Elasticsearch first."""

IDS, NUMBERS = "ids", ("distances", "scores")
_NAMES = (IDS, *dict.fromkeys(path[0] for path in LISTS))
_PLAIN = (str, bytes, numbers.Number, tuple, type(None))


def refuse_response(given: Any) -> None:
    """Raise FormatError for a response as the run, or as the results of its first query."""
    query: Any = 0
    if isinstance(given, Mapping):
        if "hits" in given or IDS in given:
            _refuse_columns("the run", given)
            _refuse_whole("the run", given, LISTS[:1])  # a query may be called hits
        query = next(iter(given), None)
        first = None if query is None else given[query]
    elif isinstance(given, list):
        first = given[0] if given else None
    else:
        _refuse_whole("the run", given, LISTS)
        return
    if isinstance(first, (list, tuple)):
        if first and not isinstance(first[0], (str, int)) and not hasattr(first, "_fields"):
            _refuse_pairs(f"run, query {clip(query)}", first[0])
    elif type(first) is not dict or any(name in first for name in _NAMES):
        _refuse_columns(f"run, query {clip(query)}", first)
        _refuse_whole(f"run, query {clip(query)}", first, LISTS)


def _refuse_whole(where: str, given: Any, paths: tuple[tuple[str, ...], ...]) -> None:
    """Refuse a response that has its list of hits in a field."""
    if isinstance(given, _PLAIN) or hasattr(given, "shape"):
        return
    for path in paths:
        held: Any = given
        for name in path:
            held = held.get(name) if isinstance(held, Mapping) else getattr(held, name, None)
        if isinstance(held, list) and (not held or not isinstance(held[0], (str, numbers.Number))):
            part = "".join(f"[{name!r}]" for name in path)
            if not isinstance(given, Mapping):
                part = "." + ".".join(path)
            raise FormatError(
                f"{where}: this is a whole response, with the hits in a field. Give the lists of"
                f" hits: {{query: response{part}}}"
            )


def _refuse_columns(where: str, given: Any) -> None:
    """Refuse a response in columns, each a list with a list for each query, as Chroma has them."""
    if not isinstance(given, Mapping) or not isinstance(given.get(IDS), list):
        return
    number = next((name for name in NUMBERS if isinstance(given.get(name), list)), None)
    others = [name for name in given if name in ("documents", "metadatas", "embeddings")]
    if not given[IDS] or not isinstance(given[IDS][0], list) or (number is None and not others):
        return
    if number is None:
        raise FormatError(
            f"{where}: this is a response in columns ({list_some(list(given))}), with a list of ids"
            " for each query. Give {query: ids}: dict(zip(queries, response['ids']))"
        )
    advice = ", with scores='distances'" if number == "distances" else ""
    raise FormatError(
        f"{where}: this is a response in columns ({list_some(list(given))}), with a list for each"
        " query. Give {query: dict(zip(ids, numbers)) for query, ids, numbers in zip(queries,"
        f" response['ids'], response[{number!r}])}}{advice}"
    )


def _refuse_pairs(where: str, pair: Any) -> None:
    """Refuse pairs of an item and a number: is the highest or the lowest the best?"""
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or hasattr(pair, "_fields"):
        return
    item, number = pair
    if isinstance(number, bool) or not isinstance(number, numbers.Real) or isinstance(number, int):
        return
    if isinstance(item, _PLAIN) and not isinstance(item, (str, numbers.Integral)):
        return
    if isinstance(item, (str, numbers.Integral)):
        spelled = "item"
    else:
        spelled = "item.metadata['id']" if getattr(item, "id", None) is None else "item.id"
    raise FormatError(
        f"{where}: results are pairs of an item and a number; got {clip(pair)}. Give {{query:"
        f" {{{spelled}: number for item, number in pairs}}}}, and scores='distances' if the lowest"
        " number is the best."
    )
