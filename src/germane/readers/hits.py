"""Reads hits as clients of search engines return them: ``{query: [{"id": …, "score": …}, …]}``.

A hit is a mapping or an object with attributes. It has the id of an item, and a score or a
distance; a list without either is in the order of its ranks. Hits become ``{query: {item: score}}``
or ``{query: [item, …]}`` before anything else looks at them.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.errors import DuplicateError, FormatError, ScoreError, clip, list_some
from germane.kernel.ids import is_missing
from germane.readers.headings import NAMES

ITEM = ("_id", "id", *NAMES["item"], "node_id", "pk")
FALLING = 8  # steps; so many by chance in unsorted lists are less than one in 40,000
DISTANCES = ("distance", "_distance")
SCORE = ("_score", *NAMES["score"], *DISTANCES)
_PLAIN = (str, bytes, numbers.Number, tuple, np.generic, type(None))
_FIELDS = (*ITEM, *SCORE, "metadata", "meta")

Hits: TypeAlias = Mapping[Hashable, Sequence[Any]]
_Read: TypeAlias = Callable[[Any], Any]


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
    return any(
        not callable(getattr(one, name, print)) for name in _FIELDS
    )  # a Series has methods of such names


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
    fields = _find_fields(first, columns or {})
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


def _find_fields(first: object, columns: Mapping[str, Any]) -> _Fields:
    """Find the fields of the first hit that are read; the others must have the same."""
    chosen = {**columns, **(columns.get("run") or {})}
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
    fitting = [name for name in names if _read_path(first, name) is not None]
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
    return next((path for path in paths if _read_path(hit, path) is not None), "metadata.id")


def _list_fields(hit: object) -> str:
    held = hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})
    filled = [name for name in held if _read_path(hit, str(name)) is not None]
    return list_some(filled) if filled else "no field with a value"


def _read_path(hit: Any, path: str) -> Any:
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
    item = _read_path(hit, fields.item)
    if is_missing(item) or not isinstance(item, Hashable):
        raise FormatError(
            f"{where}, rank {at}: the id {fields.item!r} of a hit is missing, or is no text or"
            f" number; got {clip(item)}"
        )
    return item


def _read_score(where: str, at: int, hit: Any, fields: _Fields) -> Any:
    """Read the score; None where no hit has one. Raises FormatError for a mixture."""
    if fields.score is None:
        if not fields.said and any(_read_path(hit, name) is not None for name in SCORE):
            raise FormatError(
                f"{where}, rank {at}: this hit has a score, and the first hit of the run has none."
                " Give all hits scores, or none: then they are ranked as given."
            )
        return None
    score = _read_path(hit, fields.score)
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
