"""Reads hits as clients of search engines return them: ``{query: [{"id": …, "score": …}, …]}``.

A hit is a mapping or an object with attributes. It has the id of an item, and a score or a
distance; a list without either is in the order of its ranks. Hits become ``{query: {item: score}}``
or ``{query: [item, …]}`` before anything else looks at them. A response has them in a field, or its
parts in columns, or as pairs of a hit and a number, of which only the caller knows if the highest
is the best: it is refused, with a message that says which part of it is a run.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.errors import DuplicateError, FormatError, ScoreError, clip, list_some
from germane.kernel.ids import is_missing
from germane.readers.headings import NAMES, choose_names

ITEM = ("_id", "id", *NAMES["item"], "node_id", "pk")
FALLING = 8  # steps; so many by chance in unsorted lists are less than one in 40,000
DISTANCES = ("distance", "_distance")
SCORE = ("_score", *NAMES["score"], *DISTANCES)
_PLAIN = (str, bytes, numbers.Number, tuple, np.generic, type(None))
_FIELDS = (*ITEM, *SCORE, "metadata", "meta")

Hits: TypeAlias = Mapping[Hashable, Sequence[Any]]


class _Fields(NamedTuple):
    """The fields of a hit that are read: paths such as ``metadata.id``."""

    item: str
    score: str | None
    said: bool  # did the caller name the field of the score, or say that there is none?

    @property
    def is_distance(self) -> bool:
        return self.score is not None and self.score.rpartition(".")[2] in DISTANCES


def is_hits(given: object) -> bool:
    """Are these lists of hits: by query, or one list for each query?"""
    if isinstance(given, Mapping):
        lists: Iterable[Any] = given.values()
    elif isinstance(given, list):
        lists = given
    else:
        return False
    for held in lists:
        if not isinstance(held, (list, tuple)) or hasattr(held, "_fields"):
            return False
        if held:
            return _is_hit(held[0])
    return False


def _is_hit(one: object) -> bool:
    if isinstance(one, Mapping):
        return True
    if isinstance(one, _PLAIN):
        return False
    # a Series has methods of such names
    return any(not callable(getattr(one, name, print)) for name in _FIELDS)


def read_hits(
    given: Any, columns: Mapping[str, Any] | None, *, lowest: bool = False
) -> dict[Hashable, Any]:
    """Read hits into ``{query: {item: score}}``, or ``{query: [item, …]}`` without scores.

    ``columns`` may name the fields, as paths: ``{"item": "metadata.id"}``. A distance becomes a
    score by its sign, unless ``lowest`` says that the caller takes the lowest score for the best
    anyway. Raises FormatError for hits without an id and for a mixture of hits with and without
    scores, ScoreError, and DuplicateError for an item twice among hits with scores.
    """
    hits: Hits = given if isinstance(given, Mapping) else dict(enumerate(given))
    first = next(held[0] for held in hits.values() if held)
    fields = _find_fields(first, choose_names(columns, "run"))
    sign = -1 if fields.is_distance and not lowest else 1
    read = {query: _read_list(query, held, fields, sign) for query, held in hits.items()}
    if sign < 0 and not fields.said:
        _refuse_similarities(read, str(fields.score))
    return read


def _refuse_similarities(read: Mapping[Hashable, Any], field: str) -> None:
    """Refuse distances that fall from hit to hit: they are similarities, so called by Milvus."""
    worse = better = 0
    for found in read.values():
        scores = [score for score in found.values() if isinstance(score, numbers.Real)]
        worse += sum(one > other for one, other in pairwise(scores))
        better += sum(one < other for one, other in pairwise(scores))
    if better >= FALLING and not worse:
        raise FormatError(
            f"run: in every list of hits, {field!r} falls from the first hit to the last. Is it a"
            " similarity, as with the inner product or the cosine of Milvus? Then give it as"
            f" 'score': {{'id': hit['id'], 'score': hit[{field!r}]}}. scores='distances' says that"
            " the lowest is the best."
        )


def _find_fields(first: object, chosen: Mapping[str, Any]) -> _Fields:
    """Find the fields of the first hit that are read; the others must have the same."""
    item = chosen.get("item") or _choose(first, ITEM, "item")
    if item is None:
        raise FormatError(
            f"run: a hit has no id; found {_list_fields(first)}. Known names:"
            f" {', '.join(ITEM[:3])}, …  columns={{'item': name}} names another, such as"
            f" {_find_inside(first)}."
        )
    if "score" in chosen:
        return _Fields(item, chosen["score"], said=True)
    return _Fields(item, _choose(first, SCORE, "score"), said=False)


def _choose(first: object, names: Sequence[str], part: str) -> str | None:
    """Choose the one field that the hit has."""
    fitting = [name for name in names if read_path(first, name) is not None]
    if len(fitting) > 1:
        raise FormatError(
            f"run: more than one field of a hit can be the {part}: {list_some(fitting)}. "
            f"columns={{{part!r}: name}} says which."
        )
    return fitting[0] if fitting else None


def _find_inside(hit: object) -> str:
    """Find what may be the id: a field such as uuid, or one within another, such as meta.id."""
    held = hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})
    own = [str(name) for name in held if str(name).casefold().endswith("id")]
    paths = [*own, *(f"{name}.{inner}" for name in held for inner in ITEM)]
    return next((path for path in paths if read_path(hit, path) is not None), "metadata.id")


def _list_fields(hit: object) -> str:
    held = hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})
    filled = [name for name in held if read_path(hit, str(name)) is not None]
    return list_some(filled) if filled else "no field with a value"


def read_path(hit: Any, path: str) -> Any:
    """Read a field, or one within another; None where there is none."""
    for name in path.split("."):
        hit = hit.get(name) if isinstance(hit, Mapping) else getattr(hit, name, None)
    return hit


def _read_list(query: Hashable, held: Any, fields: _Fields, sign: int) -> Any:
    where = f"run, query {clip(query)}"
    if not isinstance(held, (list, tuple)):
        raise FormatError(f"{where}: results are a list of hits; got {clip(held)}")
    items = [_read_item(where, at, hit, fields) for at, hit in enumerate(held, 1)]
    scores = [_read_score(where, at, hit, fields) for at, hit in enumerate(held, 1)]
    if fields.score is None:
        return items
    found = {
        item: _turn(where, item, score, sign) for item, score in zip(items, scores, strict=True)
    }
    if len(found) < len(items):
        raise _explain_repeat(where, items)
    return found


def _read_item(where: str, at: int, hit: Any, fields: _Fields) -> Hashable:
    if isinstance(hit, _PLAIN):
        raise FormatError(f"{where}, rank {at}: a hit among others has fields; got {clip(hit)}")
    item = read_path(hit, fields.item)
    if is_missing(item) or not isinstance(item, Hashable):
        raise FormatError(
            f"{where}, rank {at}: the id {fields.item!r} of a hit is missing, or is no text or"
            f" number; got {clip(item)}"
        )
    return item


def _read_score(where: str, at: int, hit: Any, fields: _Fields) -> Any:
    """Read the score; None where no hit has one. Raises FormatError for a mixture."""
    if fields.score is None:
        if not fields.said and any(read_path(hit, name) is not None for name in SCORE):
            raise FormatError(
                f"{where}, rank {at}: this hit has a score, and the first hit of the run has none."
                " Give all hits scores, or none: then they are ranked as given."
            )
        return None
    score = read_path(hit, fields.score)
    if score is None:
        raise FormatError(
            f"{where}, rank {at}: this hit has no {fields.score!r}, and others have one. Give all"
            " hits scores, or none: columns={'score': None} ranks them as given."
        )
    return score


def _turn(where: str, item: Hashable, score: Any, sign: int) -> Any:
    """Turn a distance into a score."""
    if sign > 0:
        return score
    try:
        return -score
    except TypeError:
        raise ScoreError(
            f"{where}, item {clip(item)}: a distance is a finite number; got {clip(score)}"
        ) from None


def _explain_repeat(where: str, items: list[Hashable]) -> DuplicateError:
    ranks: dict[Hashable, int] = {}
    for rank, item in enumerate(items, 1):
        if ranks.setdefault(item, rank) != rank:
            break
    return DuplicateError(
        f"{where}: item {clip(item)} is retrieved twice, by the hits {ranks[item]} and {rank}. For"
        " chunks, give their own ids and rank documents with collapse=…; or keep the best hit of"
        " each item."
    )


# --- Whole responses ---------------------------------------------------------------------------

LISTS = (
    "hits.hits", "hits", "points", "matches", "objects", "source_nodes", "response.docs",
    "root.children", "results", "value",
)  # fmt: skip
"""Fields in which responses have their lists of hits: those of Elasticsearch first."""

IDS, NUMBERS = "ids", ("distances", "scores")
_IN_RESPONSES = (IDS, *dict.fromkeys(path.partition(".")[0] for path in LISTS))


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
    elif type(first) is not dict or any(name in first for name in _IN_RESPONSES):
        _refuse_columns(f"run, query {clip(query)}", first)
        _refuse_whole(f"run, query {clip(query)}", first, LISTS)


def _refuse_whole(where: str, given: Any, paths: tuple[str, ...]) -> None:
    """Refuse a response that has its list of hits in a field."""
    if isinstance(given, _PLAIN) or hasattr(given, "shape"):
        return
    for path in paths:
        held = read_path(given, path)
        if isinstance(held, list) and (not held or not isinstance(held[0], (str, numbers.Number))):
            part = "".join(f"[{name!r}]" for name in path.split("."))
            if not isinstance(given, Mapping):
                part = f".{path}"
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
    if isinstance(item, (str, numbers.Integral)):
        spelled = "item"
    elif isinstance(item, (bytes, numbers.Number, tuple, type(None))):
        return
    else:
        spelled = "item.metadata['id']" if getattr(item, "id", None) is None else "item.id"
    raise FormatError(
        f"{where}: results are pairs of an item and a number; got {clip(pair)}. Give {{query:"
        f" {{{spelled}: number for item, number in pairs}}}}, and scores='distances' if the lowest"
        " number is the best."
    )
