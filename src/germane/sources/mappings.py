"""Python mappings: ``{query: {item: score}}``, and ranked lists ``{query: [item, …]}``."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from germane._ragged import Floats
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    ScoreError,
    clip,
)
from germane.retrieval import Qrels, Retrieved
from germane.sources.ids import sort_key
from germane.sources.numbers import doubles, is_finite_number

_FEW = 4  # judged items up to which counting is cheaper than sorting


def is_judgments(given: object) -> bool:
    return isinstance(given, Mapping)


def is_scores(given: object) -> bool:
    return isinstance(given, Mapping) and isinstance(next(iter(given.values()), None), Mapping)


def is_lists(given: object) -> bool:
    return isinstance(given, Mapping)


def read_qrels(given: Mapping[Hashable, Any], duplicates: str, progress: object = None) -> Qrels:
    """``{query: {item: grade}}``, or ``{query: relevant items}`` for grade 1."""
    if not given:
        raise EmptyError("the qrels are empty: there are no judgments.")
    items: list[Hashable] = []
    grades: list[Any] = []
    lengths = []
    for query, judged in given.items():
        if isinstance(judged, Mapping):
            items += judged
            grades += judged.values()
        else:
            relevant = _relevant(query, judged, duplicates)
            items += relevant
            grades += [1.0] * len(relevant)
        lengths.append(len(items))
    if not items:
        raise EmptyError("the qrels are empty: no query has a judgment.")
    numbers = doubles(grades)
    if numbers is None:
        raise _bad_grade(given)
    return Qrels(list(given), np.array([0, *lengths]), items, numbers)


def _relevant(query: Hashable, judged: Any, duplicates: str) -> list[Hashable]:
    if hasattr(judged, "tolist"):
        judged = judged.tolist()
    if isinstance(judged, (str, bytes)) or not isinstance(judged, Collection):
        raise FormatError(
            f"qrels, query {clip(query)}: judgments are {{item: grade}} or a collection of relevant "
            f"items; got {clip(judged)}"
        )
    unique = list(dict.fromkeys(judged))
    if len(unique) < len(judged) and duplicates in ("error", "keep"):
        twice = next(item for item in unique if list(judged).count(item) > 1)
        raise DuplicateError(f"qrels, query {clip(query)}: item {clip(twice)} is judged twice.")
    return unique


def _bad_grade(given: Mapping[Hashable, Any]) -> GradeError:
    query, item, grade = next(
        (query, item, grade)
        for query, judged in given.items()
        if isinstance(judged, Mapping)
        for item, grade in judged.items()
        if not is_finite_number(grade)
    )
    return GradeError(
        f"qrels, query {clip(query)}, item {clip(item)}: a relevance grade is a finite number; "
        f"got {clip(grade)}"
    )


def retrieve_scores(
    qrels: Qrels, run: Mapping[Hashable, Any], duplicates: str, order: str, progress: object = None
) -> Retrieved:
    """Find the judged items of ``{query: {item: score}}``, and the ranks that scores leave open."""

    def add(hits: _Hits, q: int, query: Hashable, judged: dict[Hashable, int], got: Any) -> None:
        if not isinstance(got, Mapping):
            raise FormatError(
                f"run, query {clip(query)}: results are {{item: score}}; got {clip(got)}"
            )
        _scored(hits, q, query, judged, got, order)

    return _each_query(qrels, run, add)


def retrieve_lists(
    qrels: Qrels, run: Mapping[Hashable, Any], duplicates: str, order: str, progress: object = None
) -> Retrieved:
    """Find the judged items of ranked lists, ``{query: [item, …]}``."""

    def add(hits: _Hits, q: int, query: Hashable, judged: dict[Hashable, int], got: Any) -> None:
        _listed(hits, q, query, judged, got, duplicates)

    return _each_query(qrels, run, add)


def _each_query(qrels: Qrels, run: Mapping[Hashable, Any], add: Callable[..., None]) -> Retrieved:
    if not run:
        raise EmptyError("the run is empty: it has no queries.")
    hits = _Hits(len(qrels))
    for q, (query, judged) in enumerate(zip(qrels.queries, qrels.judged, strict=True)):
        got = run.get(query, _ABSENT)
        if got is not _ABSENT:
            hits.answered[q] = True
            add(hits, q, query, judged, got)
    known = qrels.position
    unknown = [query for query in run if query not in known] if len(run) > hits.answers else []
    return hits.retrieved_items(unknown)


_ABSENT = object()


class _Hits:
    """The hits found so far, as growing lists."""

    def __init__(self, queries: int) -> None:
        self.answered = np.zeros(queries, bool)
        self.retrieved = np.zeros(queries, np.int64)
        self.owner: list[int] = []
        self.judgment: list[int] = []
        self.rank: list[int] = []
        self.tied_from: list[int] = []
        self.tied_to: list[int] = []

    @property
    def answers(self) -> int:
        return int(np.count_nonzero(self.answered))

    def retrieved_items(self, unknown: list[Hashable]) -> Retrieved:
        return Retrieved(
            judgment=np.array(self.judgment, np.int64),
            owner=np.array(self.owner, np.int64),
            rank=np.array(self.rank, np.int64),
            tied_from=np.array(self.tied_from, np.int64),
            tied_to=np.array(self.tied_to, np.int64),
            retrieved=self.retrieved,
            answered=self.answered,
            unknown=unknown,
        )


def _scored(
    hits: _Hits,
    q: int,
    query: Hashable,
    judged: dict[Hashable, int],
    got: Mapping[Hashable, Any],
    order: str,
) -> None:
    scores = doubles(got.values())
    if scores is None:
        raise _bad_score(query, got)
    n = len(scores)
    hits.retrieved[q] = n
    if len(judged) <= n:
        found = [(item, j) for item, j in judged.items() if item in got]
    else:
        found = [(item, judged[item]) for item in got if item in judged]
    if not found:
        return
    if len(found) <= _FEW:
        own = [float(got[item]) for item, _ in found]
        first = [int(np.count_nonzero(scores > score)) + 1 for score in own]
        last = [int(np.count_nonzero(scores >= score)) for score in own]
    else:
        ascending = np.sort(scores)
        values = np.array([got[item] for item, _ in found], float)
        first = (n + 1 - np.searchsorted(ascending, values, "right")).tolist()
        last = (n - np.searchsorted(ascending, values, "left")).tolist()
    hits.owner += [q] * len(found)
    hits.judgment += [j for _, j in found]
    hits.tied_from += first
    hits.tied_to += last
    if first == last:
        hits.rank += first
    else:
        places = _places([item for item, _ in found], got, scores, order)
        hits.rank += [start + place for start, place in zip(first, places, strict=True)]


def _places(
    found: list[Hashable], got: Mapping[Hashable, Any], scores: Floats, order: str
) -> list[int]:
    """Each found item's place, from 0, among the items of its score."""
    if order == "given":
        position = {item: i for i, item in enumerate(got)}
        own, by_key = [position[item] for item in found], scores
    else:
        own, by_key = _by_id(found, got)
    arranged = np.argsort(by_key, kind="stable")
    at = np.empty(len(arranged), np.int64)
    at[arranged] = np.arange(len(arranged))
    ascending, mine = by_key[arranged], by_key[own]
    if order == "given":
        places = at[own] - np.searchsorted(ascending, mine, "left")
    else:  # from the last id to the first
        places = np.searchsorted(ascending, mine, "right") - 1 - at[own]
    return list(map(int, places))


def _by_id(found: list[Any], got: Mapping[Any, Any]) -> tuple[list[int], Floats]:
    """Each found item's position in the order of ids, and the scores in that order."""
    key = sort_key(got)
    ordered = sorted(got) if key is None else sorted(got, key=key)
    scores = np.array([got[item] for item in ordered], float)
    if key is None:
        return [bisect_left(ordered, item) for item in found], scores
    return [bisect_left(ordered, key(item), key=key) for item in found], scores


def _bad_score(query: Hashable, got: Mapping[Hashable, Any]) -> ScoreError:
    item, score = next((item, score) for item, score in got.items() if not is_finite_number(score))
    return ScoreError(
        f"run, query {clip(query)}, item {clip(item)}: a score is a finite number; got {clip(score)}"
    )


def _listed(
    hits: _Hits,
    q: int,
    query: Hashable,
    judged: dict[Hashable, int],
    got: Any,
    duplicates: str,
) -> None:
    if hasattr(got, "tolist"):
        got = got.tolist()
    if isinstance(got, (str, bytes)) or not isinstance(got, Sequence):
        raise FormatError(f"run, query {clip(query)}: results are a list of items; got {clip(got)}")
    try:
        if len(set(got)) < len(got):
            got = _unique(query, got, duplicates)
        ranks = [i for i, item in enumerate(got, 1) if item in judged]
    except TypeError:
        odd = next(item for item in got if not isinstance(item, Hashable))
        raise FormatError(
            f"run, query {clip(query)}: an item id is text or a number; got {clip(odd)}"
        ) from None
    hits.retrieved[q] = len(got)
    hits.owner += [q] * len(ranks)
    hits.judgment += [judged[got[rank - 1]] for rank in ranks]
    hits.rank += ranks
    hits.tied_from += ranks
    hits.tied_to += ranks


def _unique(query: Hashable, got: Sequence[Hashable], duplicates: str) -> Sequence[Hashable]:
    match duplicates:
        case "keep":
            return got
        case "last":
            return list(dict.fromkeys(reversed(got)))[::-1]
        case "first" | "max":  # the first copy is the one ranked highest
            return list(dict.fromkeys(got))
    seen: set[Hashable] = set()
    for rank, item in enumerate(got, 1):
        if item in seen:
            break
        seen.add(item)
    raise DuplicateError(
        f"run, query {clip(query)}: item {clip(item)} is retrieved twice, at ranks "
        f"{got.index(item) + 1} and {rank}. duplicates=first keeps its first copy."
    )
