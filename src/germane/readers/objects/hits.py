"""Reads hits as clients of search engines return them: ``{query: [{"id": …, "score": …}, …]}``."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.core.calls import parse_whole
from germane.core.id_spelling import is_id, unwrap_id
from germane.errors import (
    DuplicateError,
    FormatError,
    ScoreError,
    clip,
    list_some,
    offer,
    write_option,
)
from germane.kernel.ids import is_missing
from germane.readers.objects.headings import (
    FURTHER,
    LIKE_SCORES,
    NAMES,
    choose_names,
    explain_scored,
)
from germane.readers.objects.mappings import ScoredList
from germane.readers.objects.numbers import EXACT

ITEM = ("_id", "id", *NAMES["item"], "node_id", "pk", "objectID")
INNER = (
    "_additional.id", "document.id", "node.id_", "node.node_id", "datapoint.datapointId",
    "kwargs.id",
)  # fmt: skip
"""Ids within a hit: of Weaviate, Typesense, LlamaIndex, Vertex, and documents of LangChain."""
FALLING = 8  # steps; so many by chance in unsorted lists are less than one in 40,000
DISTANCES = ("distance", "_distance")
_OF_ENGINES = ("@search.score", "_rankingScore", "text_match")
"""What Azure, Meilisearch and Typesense call the score."""
RERANKED = "@search.rerankerScore"
"""Azure's score that orders hits, where they have it beside the other."""
SCORE = ("_score", *NAMES["score"], *DISTANCES, *_OF_ENGINES)
GRADE = (*NAMES["relevance"], *FURTHER["relevance"][0])
PLAIN = (str, bytes, numbers.Number, tuple, np.generic, type(None))
_FIELDS = (*ITEM, *SCORE, "metadata", "meta")

Hits: TypeAlias = Mapping[Hashable, Sequence[Any]]


class _Fields(NamedTuple):
    """The fields of a hit that are read: paths such as ``metadata.id``."""

    item: str
    score: str | None
    said: bool  # did the caller name the field of the score, or say that there is none?
    rank: str | None = None  # where there is no score

    @property
    def is_distance(self) -> bool:
        return self.score is not None and self.score.rpartition(".")[2] in DISTANCES


def is_hits(raw: object) -> bool:
    """Are these lists of hits: by query, or one list for each query?"""
    if isinstance(raw, Mapping):
        lists: Iterable[Any] = raw.values()
    elif isinstance(raw, list):
        lists = raw
    else:
        return False
    for hits in lists:
        if not isinstance(hits, (list, tuple)) or hasattr(hits, "_fields"):
            return False
        if hits:
            return _is_hit(hits[0])
    return False


def _is_hit(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    if isinstance(value, PLAIN):
        return False
    # a Series has methods of such names
    return any(not callable(getattr(value, name, print)) for name in _FIELDS)


def read_hits(
    raw: Any,
    columns: Mapping[str, Any] | None,
    within: str = "",
    *,
    lowest: bool = False,
    where: str = "run",
) -> dict[Hashable, Any]:
    """Read hits into ``{query: [item, …]}``, lists that have the scores of the hits, if any.

    ``columns`` may name the fields, as paths: ``{"item": "metadata.id"}``, and ``within`` is the
    column that has the hits. A distance becomes a
    score by its sign, unless ``lowest`` says that the caller takes the lowest score for the best
    anyway. ``where`` names the run in errors. Raises FormatError for hits without an id and for a
    mixture of hits with and without scores, and ScoreError.
    """
    hits: Hits = raw if isinstance(raw, Mapping) else dict(enumerate(raw))
    first = next(listed[0] for listed in hits.values() if listed)
    fields = _find_fields(first, choose_names(columns, "run"), within, where)
    sign = -1 if fields.is_distance and not lowest else 1
    read = {
        query: _read_list(f"{where}, query {clip(query)}", listed, fields, sign)
        for query, listed in hits.items()
    }
    if sign < 0 and not fields.said:
        _refuse_similarities(read, str(fields.score), where)
    return read


def read_documents(
    raw: Any,
    columns: Mapping[str, Any] | None,
    within: str = "",
    side: str = "qrels",
    where: str = "",
) -> dict[Hashable, Any]:
    """Read judgments that are documents: ``{query: [item, …]}``, or ``{query: {item: grade}}``.

    ``columns`` may name the fields, as for hits. Raises FormatError for documents without an id,
    and for a number that may be the grade or a score.
    """
    lists: Hits = raw if isinstance(raw, Mapping) else dict(enumerate(raw))
    first = next(listed[0] for listed in lists.values() if listed)
    chosen, where = choose_names(columns, side), where or side
    item = _find_item(first, chosen, where, side, within)
    if side != "qrels":  # pairs of query and item
        return {query: _read_judged(where, query, listed, item) for query, listed in lists.items()}
    grade = chosen.get("relevance") or _choose(first, GRADE, "relevance", where, side)
    numbered = (name for name in (*SCORE, *LIKE_SCORES) if read_path(first, name) is not None)
    scored = next(numbered, None)
    if grade is None and scored is not None and "relevance" not in chosen:
        raise explain_scored(where, scored)
    return {
        query: _read_judged(where, query, listed, item, grade) for query, listed in lists.items()
    }


def _read_judged(
    side: str, query: Hashable, documents: Any, item: str, grade: str | None = None
) -> Any:
    where = f"{side}, query {clip(query)}"
    if not isinstance(documents, (list, tuple)):
        raise FormatError(f"{where}: a list of documents is needed; got {clip(documents)}")
    items = [
        _read_item(f"{where}, place {place}", document, item, "document")
        for place, document in enumerate(documents, 1)
    ]
    if grade is None:
        return items
    judged = {
        name: read_path(document, grade) for name, document in zip(items, documents, strict=True)
    }
    if len(judged) < len(items):
        raise DuplicateError(f"{where}: a document is judged twice, and grades may differ.")
    return judged


def _refuse_similarities(read: Mapping[Hashable, Any], field: str, where: str) -> None:
    """Refuse distances that fall from hit to hit: they are similarities, so called by Milvus."""
    worse = better = 0
    for hits in read.values():
        scores = [score for score in hits.scores if isinstance(score, numbers.Real)]
        worse += sum(first > second for first, second in pairwise(scores))
        better += sum(first < second for first, second in pairwise(scores))
    if better >= FALLING and not worse:
        raise FormatError(
            f"{where}: in every list of hits, {field!r} falls from the first hit to the last. Is"
            " it a similarity, as with the inner product or the cosine of Milvus? If so,"
            f" {write_option('columns', {'score': None})} ranks hits as given. If the lowest is"
            f" the best, use {write_option('scores', 'distances')}."
        )


def _find_fields(first: object, chosen: Mapping[str, Any], within: str, where: str) -> _Fields:
    """Find the fields of the first hit that are read; the others must have the same."""
    item = _find_item(first, chosen, where, "run", within)
    if "score" in chosen:
        rank = chosen.get("rank") if chosen["score"] is None else None
        return _Fields(item, chosen["score"], said=True, rank=rank)
    score: str | None = RERANKED
    if read_path(first, RERANKED) is None:
        score = _choose(first, SCORE, "score", where)
    rank = chosen.get("rank") or _choose(first, NAMES["rank"], "rank", where)
    return _Fields(item, score, said=False, rank=rank if score is None else None)


def _find_item(
    first: object, chosen: Mapping[str, Any], where: str, side: str, within: str = ""
) -> str:
    """Find the field of the id; ``within`` is the column that has the hits or documents."""
    item: str | None = chosen.get("item") or _choose(first, ITEM, "item", where, side)
    item = item or _choose(first, FURTHER["item"][0], "item", where, side)
    item = item or next((path for path in INNER if read_path(first, path) is not None), None)
    if item is None and read_path(first, "index") is not None:
        raise FormatError(
            f"{where}: a hit has no id; found {_list_fields(first)}. Is 'index' the place of the"
            " document in the request, as of a reranker? Give {query: [ids[hit['index']] for hit in"
            " results]}, with the ids of the request's documents."
        )
    if item is None:
        inside, noun = _find_inside(first), "hit" if side == "run" else "document"
        like = "" if inside is None else f", such as {within}{'.' * bool(within)}{inside}"
        raise FormatError(
            f"{where}: a {noun} has no id; found {_list_fields(first)}. Known names:"
            f" {', '.join(ITEM[:3])}, …  {write_option('columns', {side: {'item': 'name'}})} names"
            f" another{like}."
        )
    return item


def _choose(
    first: object, names: Sequence[str], part: str, where: str, side: str = "run"
) -> str | None:
    """Choose the one field that the hit or document has."""
    fitting = [
        name for name in names if not isinstance(read_path(first, name), (list, tuple, type(None)))
    ]
    if len(fitting) > 1:
        raise FormatError(
            f"{where}: more than one field of a hit can be the {part}: {list_some(fitting)}."
            f" Choose one with {write_option('columns', {side: {part: 'name'}})}."
        )
    return fitting[0] if fitting else None


def _find_inside(hit: object) -> str | None:
    """Find what may be the id: a field such as uuid, or one within another, such as meta.id."""
    fields = hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})
    id_names = [str(name) for name in fields if str(name).casefold().endswith("id")]
    paths = [*id_names, *(f"{name}.{inner}" for name in fields for inner in ITEM)]
    for name, inner in fields.items():  # the only text within may be a source, or a file
        within = inner if isinstance(inner, Mapping) else {}
        paths += [f"{name}.{field}" for field, value in within.items() if isinstance(value, str)]
    return next((path for path in paths if read_path(hit, path) is not None), None)


def _list_fields(hit: object) -> str:
    fields = hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})
    filled = [name for name in fields if read_path(hit, str(name)) is not None]
    return list_some(filled) if filled else "no field with a value"


def read_path(hit: Any, path: str) -> Any:
    """Read a field, or one within another; None where there is none."""
    if "." in path and isinstance(hit, Mapping) and path in hit:
        return hit[path]
    for name in path.split("."):
        hit = hit.get(name) if isinstance(hit, Mapping) else getattr(hit, name, None)
    return hit


def _read_list(where: str, hits: Any, fields: _Fields, sign: int) -> Any:
    if not isinstance(hits, (list, tuple)):
        raise FormatError(f"{where}: results are a list of hits; got {clip(hits)}")
    items = [
        _read_item(f"{where}, rank {place}", hit, fields.item, "hit")
        for place, hit in enumerate(hits, 1)
    ]
    scores = [_read_score(where, place, hit, fields) for place, hit in enumerate(hits, 1)]
    if fields.rank is not None:
        ranks = [_read_rank(where, place, hit, fields.rank) for place, hit in enumerate(hits, 1)]
        twice = next((rank for rank, count in Counter(ranks).items() if count > 1), None)
        if twice is not None:
            raise FormatError(f"{where}: two hits have the {fields.rank} {twice}.")
        return [item for _, item in sorted(zip(ranks, items, strict=True), key=itemgetter(0))]
    if fields.score is None:
        return items
    if all(type(score) is int for score in scores) and max(map(abs, scores), default=0) > EXACT:
        place = {score: number for number, score in enumerate(sorted(set(scores)))}
        scores = [place[score] for score in scores]  # Typesense's, which doubles cannot tell apart
    turned = [_turn(where, *pair, sign) for pair in zip(items, scores, strict=True)]
    return ScoredList(items, turned)


def _read_rank(where: str, place: int, hit: Any, field: str) -> int:
    rank = parse_whole(read_path(hit, field))
    if rank is None:
        raise FormatError(
            f"{where}, hit {place}: {field!r} is a whole number; got {clip(read_path(hit, field))}."
            f" {write_option('columns', {'score': None})} ranks hits as given."
        )
    return rank


def _read_item(where: str, hit: Any, field: str, noun: str) -> Hashable:
    if isinstance(hit, PLAIN):
        raise FormatError(f"{where}: a {noun} must have fields, as the others do; got {clip(hit)}")
    item: Hashable = unwrap_id(read_path(hit, field))
    if is_missing(item) or not is_id(item):
        there = "" if item is not None else offer(field, _list_paths(hit))
        raise FormatError(
            f"{where}: the id {field!r} of a {noun} is missing, or is neither text nor a number;"
            f" got {clip(item)}{there and f'.{there}'}"
        )
    return item


def _list_paths(hit: Any) -> list[str]:
    """List the fields of a hit, and those within them, such as payload.doc_id."""
    if not isinstance(hit, Mapping):
        return []
    return [
        field
        for name, value in hit.items()
        for field in (
            [f"{name}.{inner}" for inner in value] if isinstance(value, Mapping) else [name]
        )
    ]


def _read_score(where: str, place: int, hit: Any, fields: _Fields) -> Any:
    """Read the score; None where no hit has one. Raises FormatError for a mixture."""
    if fields.score is None:
        if not fields.said and any(read_path(hit, name) is not None for name in SCORE):
            raise FormatError(
                f"{where}, rank {place}: this hit has a score, but the first hit of the run has"
                " none. Give scores to all hits or to none; without scores, they are ranked as"
                " given."
            )
        return None
    score = read_path(hit, fields.score)
    if score is None:
        raise FormatError(
            f"{where}, rank {place}: this hit has no {fields.score!r}, but others have one. Give"
            f" scores to all hits or to none; {write_option('columns', {'score': None})} ranks"
            " them as given."
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


# --- Pairs, of which nobody knows whether the highest number is the best --------------------


def refuse_pairs(raw: Any, where: str = "run") -> None:
    """Raise FormatError for lists of pairs of an item and a number."""
    if not isinstance(raw, (Mapping, list)) or not raw:
        return
    query: Any = next(iter(raw)) if isinstance(raw, Mapping) else 0
    first = raw[query]
    if isinstance(first, (list, tuple)) and first and not hasattr(first[0], "_fields"):
        refuse_pair(f"{where}, query {clip(query)}", first[0])


def refuse_pair(where: str, pair: Any) -> None:
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
        if isinstance(item, Mapping):
            spelled = "item['id']" if item.get("id") is not None else "item['metadata']['id']"
    raise FormatError(
        f"{where}: results are pairs of an item and a number; got {clip(pair)}. Give {{query:"
        f" {{{spelled}: number for item, number in pairs}}}}, and scores='distances' if the lowest"
        " number is the best."
    )
