"""Finds the lists of hits in whole responses of search engines and vector stores.

A response may be JSON or a client's object. It answers one query, or several in the order of the
requests; ``{query: response}`` and rows of a query and its response name their queries.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from germane.core.calls import list_values
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    clip,
    list_choices,
    list_some,
    write_option,
)
from germane.readers.objects.headings import LISTS as CELLS
from germane.readers.objects.headings import NAMES, choose_names
from germane.readers.objects.hits import ITEM, PLAIN, read_path, refuse_pair

LISTS = (
    "hits.hits", "hits", "points", "matches", "objects", "source_nodes", "response.docs",
    "root.children", "result.points", "result.groups", "groups", "results", "value", "result",
    "data", "responses", "response", "neighbors", "nearestNeighbors",
)  # fmt: skip
"""Fields in which responses have their lists of hits: those of Elasticsearch first."""

_ATTRIBUTES = LISTS[: LISTS.index("response.docs")]
"""Those that objects of clients have."""

WRAPPERS = ("response", "body", "results", "result")
"""Fields that may hold a response as a whole, as ``{"query": …, "response": …}`` does."""

TEXTS = ("question", "text", "input")
"""Fields of rows that have the text of a query, which names it where there is no id."""

IDS, NUMBERS = "ids", ("distances", "scores")
_HEADS = frozenset(
    name.partition(".")[0]
    for name in (*LISTS, *WRAPPERS, *CELLS["run"], IDS, "error", "errors", "details")
)
"""Fields of which every response has one: most runs have none, which is quickly seen."""

_DEEPEST = 4  # responses that may stand in each other
_SINGLE = (str, numbers.Number, type(None))

Lists = list[Sequence[Any]]


class Responses(NamedTuple):
    """The lists of hits of responses, and their queries; None where they follow the requests."""

    queries: list[Hashable] | None
    lists: Lists

    def name(self, query_ids: Sequence[Hashable] | None, where: str) -> dict[Hashable, Any]:
        """Map the queries to their lists. Raises FormatError where nothing names the queries.

        Responses that name their queries keep these names, which are among the ids: a run that
        needs ids may be compared with one that does not.
        """
        queries = self.queries
        if queries is not None and query_ids is not None:
            ids = set(map(str, query_ids))
            strange = next((query for query in queries if str(query) not in ids), None)
            if strange is not None:
                raise FormatError(
                    f"{where}: the responses name their queries, and {clip(strange)} is not among"
                    f" the ids of {write_option('query_ids')}. Leave out"
                    f" {write_option('query_ids')}, or give it the same names."
                )
        elif query_ids is not None:
            queries = list(query_ids)
        if queries is None:
            raise FormatError(
                f"{where}: the response has {_count(len(self.lists), 'list')} of hits and does not"
                f" name the queries. {write_option('query_ids', '…')} gives their ids in the order"
                " of the requests; {query: response} names them, too, and"
                f" {write_option('columns', {'run': {'query': 'name'}})} names a field of rows that"
                " has them."
            )
        if len(queries) != len(self.lists):
            raise FormatError(
                f"{where}: {_count(len(self.lists), 'list')} of hits, and"
                f" {_count(len(queries), 'id')} in {write_option('query_ids')}. Give an id for each"
                " request, in their order."
            )
        return dict(zip(queries, self.lists, strict=True))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


_PREDICTIONS = "mteb_model_meta"
"""The key of MTEB's predictions beside the names of subsets."""


def take_predictions(raw: Any, where: str = "run") -> Any:
    """Take the run out of MTEB's predictions, ``{subset: {split: {query: {item: score}}}}``.

    Anything else stays as it is. Raises FormatError for the runs of several subsets or splits.
    """
    if not (isinstance(raw, Mapping) and _PREDICTIONS in raw):
        return raw
    subsets = {name: splits for name, splits in raw.items() if name != _PREDICTIONS}
    if not all(isinstance(splits, Mapping) for splits in subsets.values()):
        return raw
    places = [(subset, split) for subset, splits in subsets.items() for split in splits]
    if not places:
        raise EmptyError(f"{where}: these are predictions of MTEB without any run.")
    if len(places) == 1:
        [(subset, split)] = places
        return subsets[subset][split]
    keys = [f"[{subset!r}][{split!r}]" for subset, split in places]
    advice = f"Give {list_choices(f'run{key}' for key in keys)}."
    if where != "run":
        stream = "sys.stdin" if where == "standard input" else f"open({where!r})"
        advice = (
            "Write one of them to a file, such as with json.dump("
            f"json.load({stream}){keys[0]}, open('run.json', 'w'))."
        )
    raise FormatError(
        f"{where}: these are MTEB's predictions of several subsets or splits:"
        f" {', '.join(keys)}. {advice}"
    )


def find_responses(
    raw: Any, columns: Mapping[str, Any] | None = None, where: str = "run"
) -> Responses | None:
    """Find the lists of hits in responses; None for anything else.

    Raises FormatError for a response that is an error, for some that name their queries beside
    others that do not, and for a query with two responses.
    """
    if isinstance(raw, Mapping):
        if not raw.keys().isdisjoint(_HEADS):
            if _is_evaluation(raw):
                return _read_evaluation(raw, where)
            if _is_response(raw):
                return Responses(None, _need_lists(raw, where))
        return _find_by_query(raw, where)
    if isinstance(raw, list):
        return _find_in_rows(raw, choose_names(columns, "run"), where)
    lists = None if isinstance(raw, PLAIN) or hasattr(raw, "shape") else _find_lists(raw, where)
    return None if lists is None else Responses(None, lists)


def is_row(raw: Any) -> bool:
    """Is this line of JSON a response, or a query with its response or hits?"""
    if not isinstance(raw, Mapping):
        return False
    if _is_foreign(raw.get("response")):
        return True
    return _has_lists({name: raw[name] for name in raw if name not in CELLS["run"]})


def _has_lists(raw: Any, depth: int = 0) -> bool:
    try:
        return _find_lists(raw, "", depth) is not None
    except FormatError:
        return True


def _is_response(raw: Mapping[Any, Any]) -> bool:
    """Is the mapping one response? ``{query: …}`` has as its values responses or lists alone."""
    if _find_columns(raw, "") is not None:
        return True
    path = _find_path(raw)
    if path is None:
        return _find_error(raw) is not None or _is_empty(raw)
    if "." in path or path in ("responses", "nearestNeighbors"):
        return True
    if path == "result":
        return "status" in raw
    first = next(iter(raw[path]), None)
    if isinstance(first, Mapping) and not _has_id(first) and _has_lists(first):
        return True
    return any(isinstance(value, _SINGLE) for value in raw.values())


def _find_by_query(raw: Mapping[Any, Any], where: str) -> Responses | None:
    """Find the responses in ``{query: response}``; each is to one query."""
    if _are_batches(raw.values()):
        lists = [_split_milvus({}, batch[0], where)[0] for batch in raw.values()]
        return Responses(list(raw), lists)
    if _are_pages(raw.values()):
        joined = (_join_pages(raw[query], f"{where}, query {clip(query)}") for query in raw)
        return Responses(list(raw), [*joined])
    values = (value for value in raw.values() if not isinstance(value, list))
    first = next(values, None)
    if first is None or isinstance(first, PLAIN) or hasattr(first, "shape"):
        return None
    error = _find_error(first)
    if isinstance(first, Mapping) and first.keys().isdisjoint(_HEADS) and error is None:
        if _is_foreign(first):
            query = next(query for query, value in raw.items() if value is first)
            raise _explain_foreign(first, f"{where}, query {clip(query)}")
        return None
    if not _has_lists(first) and error is None:
        return None
    pairs = ((query, raw[query]) for query in raw)
    lists = [_find_only(value, f"{where}, query {clip(query)}") for query, value in pairs]
    return Responses(list(raw), lists)


def _is_foreign(value: Any, depth: int = 0) -> bool:
    """Is this a response of which nothing is known? It has a list of objects, or one within."""
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return False
    if any(isinstance(part, list) and (depth or _holds_objects(part)) for part in value.values()):
        return True
    return any(_is_foreign(part, depth + 1) for part in value.values())


def _holds_objects(part: list[Any]) -> bool:
    return bool(part) and isinstance(part[0], Mapping)


def _explain_foreign(response: Mapping[Any, Any], where: str) -> FormatError:
    return FormatError(
        f"{where}: this is no response that germane knows; found {list_some(list(response))}. Give"
        " the hits alone, {query: [hit, …]}, or their ids, {query: [id, …]}."
    )


def _are_pages(values: Iterable[Any]) -> bool:
    """Are these lists of the responses to one query each, such as its pages?"""
    listed = list(values)
    if not listed or not all(isinstance(pages, list) for pages in listed):
        return False
    first = next((pages[0] for pages in listed if pages), None)
    return isinstance(first, Mapping) and not _has_id(first) and _has_lists(first)


def _join_pages(pages: Sequence[Any], where: str) -> list[Any]:
    lists = (_find_only(page, f"{where}, page {number}") for number, page in enumerate(pages, 1))
    return [hit for hits in lists for hit in hits]


def _are_batches(values: Iterable[Any]) -> bool:
    """Are these batches with the hits of a single query each, as clients of Milvus return?"""
    listed = list(values)
    if not all(isinstance(batch, list) and len(batch) == 1 for batch in listed):
        return False
    if not all(isinstance(batch[0], list) for batch in listed):
        return False
    hits = [hit for batch in listed for hit in batch[0]]
    return bool(hits) and all(isinstance(hit, Mapping) for hit in hits)


def _find_in_rows(rows: list[Any], names: Mapping[str, Any], where: str) -> Responses | None:
    """Find the responses in a list of them, or of rows of a query and its response."""
    first = rows[0] if rows else None
    if isinstance(first, (list, tuple, *PLAIN)) or hasattr(first, "shape"):
        return None
    if isinstance(first, Mapping) and _is_foreign(first.get("response")) and not _has_lists(first):
        raise _explain_foreign(first["response"], f"{where}, response 1")
    if _has_id(first) or not _has_lists(first):
        return None
    lists: Lists = []
    queries: list[Hashable] = []
    for number, row in enumerate(rows, 1):
        within = f"{where}, response {number}"
        query = _find_query(row, names, within)
        if query is not None:
            queries.append(query)
            within = f"{where}, query {clip(query)}"
        pages = [
            row[name] for name in ("hits", *WRAPPERS) if isinstance(row, Mapping) and name in row
        ]
        if query is not None and _are_pages(pages[:1]):
            lists.append(_join_pages(pages[0], within))
        else:
            lists.append(_find_only(row, within))
        if queries and len(queries) < len(lists):
            raise FormatError(
                f"{where}, response {number}: no field names the query, and others have one. Give"
                " all rows a query_id, or none."
            )
    if not queries:
        return Responses(None, lists)
    first_places: dict[Hashable, int] = {}
    for place, query in enumerate(queries, 1):
        if first_places.setdefault(query, place) != place:
            raise DuplicateError(
                f"{where}: query {clip(query)} has the responses {first_places[query]} and {place}."
                " Keep one of them; pages of a response are read from {query: [page, …]}."
            )
    return Responses(queries, lists)


def _find_query(row: Any, names: Mapping[str, Any], where: str) -> Hashable | None:
    """Find the query of a row: its id, or its text where there is none."""
    fields = [names["query"]] if names.get("query") else [*NAMES["query"], "id", "_id", *TEXTS]
    for field in fields:
        query: Any = row.get(field) if isinstance(row, Mapping) else None
        if isinstance(query, (str, int)) and not isinstance(query, bool):
            return query
    if names.get("query"):
        raise FormatError(f"{where}: there is no field {names['query']!r} with the query's id.")
    return None


def _find_only(response: Any, where: str) -> Sequence[Any]:
    """Find the one list of a response."""
    if isinstance(response, (list, tuple)):
        return response
    lists = _need_lists(response, where)
    if len(lists) != 1:
        raise FormatError(
            f"{where}: the response answers {len(lists)} queries, but it stands for one. Pass a"
            f" response to several queries by itself, with {write_option('query_ids', '…')}."
        )
    return lists[0]


def _need_lists(response: Any, where: str) -> Lists:
    lists = _find_lists(response, where)
    if lists is None:
        if isinstance(response, Mapping):
            fields = f"found {list_some(list(response))}" if response else "it is empty"
        else:
            fields = f"got {clip(response)}"
        raise FormatError(f"{where}: a response has no list of hits; {fields}.")
    return lists


def _find_lists(response: Any, where: str, depth: int = 0) -> Lists | None:
    """Find the lists of hits of a response, one for each of its queries; None for no response."""
    if isinstance(response, (list, tuple, *PLAIN)) or hasattr(response, "shape"):
        return None
    if depth > _DEEPEST:
        return None
    if isinstance(response, Mapping):
        columns = _find_columns(response, where)
        if columns is not None:
            return columns
    path = _find_path(response)
    if path is None:
        for name in WRAPPERS:
            inner = read_path(response, name)
            if inner is not None and (lists := _find_lists(inner, where, depth + 1)) is not None:
                return lists
        error = _find_error(response)
        if error is not None:
            raise FormatError(
                f"{where}: the response is an error, {clip(error)}. Ask again, or leave out the"
                " query: a query without results has an empty list of hits."
            )
        return [[]] if _is_empty(response) else None
    _refuse_partial(response, where)
    found = list(read_path(response, path))
    first = found[0] if found else None
    if isinstance(first, list):  # a list of hits for each query
        refuse_pair(where, first)
        are_hits = first and isinstance(first[0], Mapping)
        return [_split_milvus({}, part, where)[0] if are_hits else part for part in found]
    if (
        found
        and (path == "nearestNeighbors" or not _has_id(first))
        and _has_lists(first, depth + 1)
    ):
        return [_find_only(part, f"{where}, response {n}") for n, part in enumerate(found, 1)]
    if path == "data" and isinstance(response, Mapping):
        return _split_milvus(response, found, where)
    return [found]


def _find_path(response: Any) -> str | None:
    """Find the field with the list of hits: one that has some, if there is one."""
    paths: Iterable[str] = _ATTRIBUTES
    if isinstance(response, Mapping):
        paths = (*LISTS, *CELLS["run"], *_list_classes(response))
    fitting = [path for path in paths if isinstance(read_path(response, path), (list, tuple))]
    return next((path for path in fitting if read_path(response, path)), next(iter(fitting), None))


def _list_classes(response: Mapping[Any, Any]) -> Iterator[str]:
    """List the fields of classes in an answer of GraphQL, as ``data.Get.Article``."""
    classes = read_path(response, "data.Get")
    if isinstance(classes, Mapping):
        yield from (f"data.Get.{name}" for name in classes)


def _has_id(hit: Any) -> bool:
    if isinstance(hit, PLAIN):
        return True
    return any(read_path(hit, name) is not None for name in ITEM)


def _is_empty(response: Any) -> bool:
    """Is this an answer of Vespa without hits, which has no list then?"""
    return isinstance(response, Mapping) and read_path(response, "root.fields.totalCount") == 0


_ERRORS = ("errors", "root.errors")
"""Where answers of GraphQL and of Vespa have a list of errors."""
_OF_MESSAGE = {"message", "code", "type", "link", "id", "status", "details", "request_id", "cost"}
"""The fields of responses that are an error with a message and nothing else."""


def _find_error(response: Any) -> Any:
    """Find the error of a response that is one; None for any other."""
    if not isinstance(response, Mapping):
        return None
    error = response.get("error")
    if isinstance(error, Mapping) and {"type", "reason", "message", "msg"}.isdisjoint(error):
        error = None
    if isinstance(error, (str, Mapping)):
        return error
    if isinstance(read_path(response, "status.error"), str):
        return read_path(response, "status.error")
    for path in _ERRORS:
        errors = read_path(response, path)
        if isinstance(errors, list) and errors and isinstance(errors[0], Mapping):
            return errors[0]
    message = response.get("message")
    return message if isinstance(message, str) and response.keys() <= _OF_MESSAGE else None


# Fields that say that a search ended before it had asked every shard, and how.
_PARTIAL: dict[str, Callable[[Any], bool]] = {
    "timed_out": lambda value: value is True,  # Elasticsearch, OpenSearch
    "_shards.failed": lambda value: isinstance(value, int) and value > 0,
    "responseHeader.partialResults": lambda value: value in (True, "true"),  # Solr
    "root.coverage.full": lambda value: value is False,  # Vespa
}


def _refuse_partial(response: Any, where: str) -> None:
    """Refuse hits of a part of the collection: others would rank among them."""
    if not isinstance(response, Mapping):
        return
    for path, is_partial in _PARTIAL.items():
        value = read_path(response, path)
        if is_partial(value):
            raise FormatError(
                f"{where}: the search did not finish, {path} is {value}, so hits may be missing."
                " Ask again. To take the hits as they are, give them alone: {query: [hit, …]}."
            )


def _find_columns(response: Mapping[Any, Any], where: str) -> Lists | None:
    """Find hits in columns, each with a list for each query, as Chroma has them."""
    ids = list_values(response.get(IDS))
    if not isinstance(ids, list):
        return None
    name = next((name for name in NUMBERS if isinstance(response.get(name), list)), None)
    beside = {"documents", "metadatas", "embeddings", "included", "uris"}
    if not ids or not isinstance(ids[0], list) or (name is None and beside.isdisjoint(response)):
        return None
    if name is None:
        return [*ids]
    columns, field = response[name], name.removesuffix("s")
    if [len(row) for row in columns] != [len(row) for row in ids]:
        raise FormatError(f"{where}: the lists of {IDS!r} and {name!r} differ in length.")
    return [
        [{"id": item, field: number} for item, number in zip(*pair, strict=True)]
        for pair in zip(ids, columns, strict=True)
    ]


def _split_milvus(response: Mapping[Any, Any], hits: list[Any], where: str) -> Lists:
    """Split the hits of Milvus, which stand in one list for all queries.

    It calls similarities distances, too. The best hit comes first, so that their order tells.
    """
    sizes = response.get("topks")
    lists: Lists = [hits]
    if isinstance(sizes, list) and all(isinstance(size, int) for size in sizes):
        ends = np.cumsum([0, *sizes]).tolist()
        if ends[-1] != len(hits):
            raise FormatError(f"{where}: 'topks' adds up to {ends[-1]} hits of {len(hits)}.")
        lists = [hits[start:end] for start, end in pairwise(ends)]
    steps = [
        second["distance"] - first["distance"]
        for part in lists
        for first, second in pairwise(part)
        if all(isinstance(read_path(hit, "distance"), numbers.Real) for hit in (first, second))
    ]
    if not any(step < 0 for step in steps) or any(step > 0 for step in steps):
        return lists
    return [[{**hit, "score": hit["distance"], "distance": None} for hit in part] for part in lists]


# --- Elasticsearch's ranking evaluation -----------------------------------------------------------


def _is_evaluation(raw: Mapping[Any, Any]) -> bool:
    """Is this the response of ``_rank_eval``?"""
    return "metric_score" in raw and isinstance(raw.get("details"), Mapping)


def _read_evaluation(raw: Mapping[Any, Any], where: str) -> Responses:
    lists: Lists = []
    for query, detail in raw["details"].items():
        rated = read_path(detail, "hits")
        if not isinstance(rated, list):
            raise FormatError(f"{where}, query {clip(query)}: there are no hits in the details.")
        lists.append([read_path(row, "hit") for row in rated])
    return Responses(list(raw["details"]), lists)


def find_ratings(raw: Any, where: str = "qrels") -> dict[Hashable, Any] | None:
    """Find the judgments in rows of a query and its relevant items, or in a request of
    ``_rank_eval``; None for anything else.

    Raises FormatError for a response of ``_rank_eval``, which has ratings of the documents that
    were retrieved alone, and DuplicateError.
    """
    if isinstance(raw, list):
        return _find_judged_rows(raw, where)
    if not isinstance(raw, Mapping):
        return None
    if _is_evaluation(raw):
        raise FormatError(
            f"{where}: this is the response of _rank_eval, which has ratings of retrieved documents"
            " only. Give the request, which has all ratings, as the qrels."
        )
    requests = raw.get("requests")
    if not isinstance(requests, list) or not all(
        isinstance(request, Mapping) and {"id", "ratings"} <= request.keys() for request in requests
    ):
        return None
    judged: dict[Hashable, Any] = {}
    for request in requests:
        query = request["id"]
        if query in judged:
            raise DuplicateError(f"{where}: query {clip(query)} occurs twice. Keep one of them.")
        within = f"{where}, query {clip(query)}"
        ratings: dict[Hashable, Any] = {}
        for rating in request["ratings"]:
            item = read_path(rating, "_id")
            if item is None or read_path(rating, "rating") is None:
                raise FormatError(f"{within}: a rating has _id and rating; got {clip(rating)}.")
            if item in ratings:
                raise DuplicateError(
                    f"{within}: {clip(item)} is rated twice. germane looks only at the _id, so"
                    " documents of several indexes need different ones."
                )
            ratings[item] = rating["rating"]
        judged[query] = ratings
    return judged


def _find_judged_rows(rows: list[Any], where: str) -> dict[Hashable, Any] | None:
    first = rows[0] if rows and isinstance(rows[0], Mapping) else {}
    fields = [name for name in CELLS["qrels"] if isinstance(first.get(name), list)]
    if not fields or _find_query(first, {}, where) is None:
        return None
    judged: dict[Hashable, Any] = {}
    for number, row in enumerate(rows, 1):
        query, items = _find_query(row, {}, where), read_path(row, fields[0])
        if query is None or not isinstance(items, list):
            raise FormatError(f"{where}, row {number}: there is no query, or no {fields[0]!r}.")
        if query in judged:
            raise DuplicateError(f"{where}: query {clip(query)} has two rows. Keep one of them.")
        judged[query] = items
    return judged
