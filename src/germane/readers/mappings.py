"""Reads Python mappings: ``{query: {item: score}}``, and ranked lists ``{query: [item, …]}``."""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeGuard

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.qrels import Qrels
from germane.core.ragged import Bools, Floats, Ints
from germane.core.retrieved import DEEP, SAMPLED, Order, Retrieved, Sample
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    PolicyError,
    ScoreError,
    clip,
    explain_not_finite,
    show_typed,
)
from germane.kernel.ids import is_missing, sort_by_bytes, to_bytes, to_text
from germane.kernel.reduction import EVERY
from germane.readers import headings, mapping_ids, numbers, subtopics
from germane.readers.inputs import RunInput
from germane.readers.mapping_ids import SpelledMapping, spell_qrels
from germane.readers.numbers import (
    EXACT,
    ORDINARY,
    is_finite_number,
    is_floating,
    may_round,
    read_doubles,
    show_number,
)

if TYPE_CHECKING:
    from germane.readers.candidates import Filter

MAPPING = (dict, Mapping)  # the first makes isinstance fast for a dict
_Ranked: TypeAlias = tuple[Any, Any, Any, Any]
"""Judgments, their ranks, and the first and last ranks of their groups: lists, or arrays."""

_FEW = 4  # judged items up to which counting is faster than sorting
_SHORT = 64  # results up to which Python's own sorting is faster than NumPy's counting


def is_scores(given: object) -> bool:
    """Is this ``{query: {item: score}}``?"""
    return is_mapping(given) and isinstance(next(iter(given.values()), None), MAPPING)


def is_mapping(given: object) -> TypeGuard[Mapping[Any, Any]]:
    """Is this a mapping, and not a sparse matrix of a type that is a dict, too?"""
    return isinstance(given, MAPPING) and (type(given) is dict or not hasattr(given, "tocsr"))


def is_rows(given: object) -> bool:
    """Is this a list of lists, sets or mappings, one for each query? Tuples are taken for records."""
    if not isinstance(given, (list, tuple)) or not given:
        return False
    first = given[0]
    return (
        isinstance(first, (list, Set, Mapping))
        or (numbers.is_array(first) and len(first.shape) == 1)
        or is_column(first)
    )


def is_column(given: object) -> bool:
    """Is this a column of a frame, such as a Series, which is read by position?"""
    is_listed = any(hasattr(given, name) for name in ("to_list", "to_pylist"))
    return is_listed and not any(hasattr(given, name) for name in ("columns", "schema"))


def read_qrels(
    given: Mapping[Hashable, Any],
    duplicates: str,
    progress: object = None,
    where: str = "qrels",
) -> Qrels:
    """Read ``{query: {item: grade}}``, or ``{query: relevant items}``, whose grades are 1.

    An item may have ``{subtopic: grade}`` in the place of a grade, or a collection of its subtopics.
    """
    if not given:
        raise EmptyError("the qrels are empty: there are no judgments.")
    headings.refuse_columns(where, given)
    queries: list[Hashable] = []
    unjudged: list[Hashable] = []
    items: list[Hashable] = []
    grades: list[Any] = []
    offsets = [0]
    for query, judged in given.items():
        if isinstance(judged, MAPPING):
            if not judged:
                unjudged.append(query)
                continue
            items += judged
            grades += judged.values()
        else:
            relevant = _list_relevant(query, judged, duplicates, where)
            items += relevant
            grades += [1.0] * len(relevant)
        queries.append(query)
        offsets.append(len(items))
    if not queries:
        raise EmptyError("the qrels are empty: no query has a judgment.")
    check_named(where, queries, items)
    values = read_doubles(grades, EXACT)
    if values is None and any(map(subtopics.is_nested, grades)):
        held = subtopics.read_nested(where, queries, offsets, items, grades)
        highest = held.highest
        return Qrels(
            queries, np.array(offsets), items, highest, unjudged=tuple(unjudged), subtopics=held
        )
    odd = not ORDINARY.issuperset(map(type, grades))
    if values is None or (odd and not all(map(is_finite_number, grades))):
        raise _explain_bad_grade(given, where)
    return Qrels(queries, np.array(offsets), items, values, unjudged=tuple(unjudged))


def check_named(where: str, *several: Iterable[Hashable]) -> None:
    """Refuse ids that are missing: None, NaN, and the values that pandas has for them."""
    for ids in several:
        if not _NAMES.issuperset(map(type, ids)):
            for one in ids:
                if is_missing(one):
                    raise FormatError(f"{where}: an id is missing; got {clip(one)}")


_NAMES = {str, int, bytes, tuple, np.str_, np.int64}
"""Types of ids that are never missing."""


def _list_relevant(query: Hashable, judged: Any, duplicates: str, where: str) -> list[Hashable]:
    judged = list_values(judged)
    if isinstance(judged, (str, bytes)) or not isinstance(judged, Collection):
        raise FormatError(
            f"{where}, query {clip(query)}: judgments are {{item: grade}} or a collection of relevant "
            f"items; got {show_typed(judged)}"
        )
    try:
        unique = list(dict.fromkeys(judged))
    except TypeError:
        raise _explain_bad_id(where, query, judged) from None
    if duplicates in ("each", EVERY):
        return list(judged)
    if len(unique) < len(judged) and duplicates not in ("first", "last", "max"):
        twice = next(item for item in unique if list(judged).count(item) > 1)
        raise DuplicateError(
            f"{where}, query {clip(query)}: item {clip(twice)} is judged twice. duplicates=first or "
            "repeated=once counts it once."
        )
    return unique


def _explain_bad_id(where: str, query: Hashable, items: Iterable[Any]) -> FormatError:
    odd = next((item for item in items if not isinstance(item, Hashable)), items)
    return FormatError(
        f"{where}, query {clip(query)}: an item id is text or a number; got {clip(odd)}"
    )


def _explain_bad_grade(given: Mapping[Hashable, Any], where: str) -> GradeError:
    query, item, grade = next(
        (query, item, grade)
        for query, judged in given.items()
        if isinstance(judged, Mapping)
        for item, grade in judged.items()
        if not is_finite_number(grade) or abs(grade) > EXACT
    )
    within = " in the range ±2^53" if is_finite_number(grade) else ""
    wrong = explain_not_finite("relevance grade", f"got {show_number(grade)}", within=within)
    return GradeError(f"{where}, query {clip(query)}, item {clip(item)}: {wrong}")


class MappedRun(RunInput):
    """A mapping of queries to results."""

    is_mapping = True

    def __init__(
        self,
        mapping: Mapping[Hashable, Any],
        name: str = "run",
        where: str = "run",
        ids: str = "typed",
    ) -> None:
        self.mapping, self.name = mapping, name
        self.where = where  # the name in errors
        self.ids = ids  # or text: in a file of text, an integer is its digits

    @property
    def label(self) -> str:
        return "the run" if self.where == "run" else self.where

    def replace_mapping(self, mapping: Mapping[Hashable, Any]) -> Self:
        """Make a run of the same source with other results."""
        return type(self)(mapping, self.name, self.where, self.ids)

    def select(
        self, qrels: Qrels, duplicates: str, progress: object = None
    ) -> tuple[RunInput | None, list[Any], list[Any]]:
        query = self._match_ids(qrels).queries[0]
        if (qrels.ids, self.ids) == ("text", "typed") and not isinstance(
            self.mapping, SpelledMapping
        ):
            self = self.replace_mapping(SpelledMapping(self.mapping))
        got = self.mapping.get(query)
        if not isinstance(got, Mapping):
            return self if query in self.mapping else None, [] if got is None else list(got), []
        return self.replace_mapping({query: got}), list(got), list(got.values())

    def find_judged(self, qrels: Qrels) -> Ints:
        position = self._match_ids(qrels).position
        found = (position.get(query) for query in self.mapping)
        return np.array(sorted(q for q in found if q is not None), np.int64)

    def _match_ids(self, qrels: Qrels) -> Qrels:
        """Spell the ids of the judgments as text if this run is from a file of text."""
        return spell_qrels(qrels) if self.ids == "text" else qrels

    def _retrieve_each(
        self,
        qrels: Qrels,
        run: Mapping[Hashable, Any],
        add: Callable[..., None],
        choice: "str | Order",
    ) -> Retrieved:
        matched = self._match_ids(qrels)
        ids = "text" if "text" in (matched.ids, self.ids) else "typed"
        hits = _Hits(len(qrels), self.where, _make_filter(matched, ids))
        return _retrieve_each(matched, run, hits, add, choice)

    def find_queries(self, wanted: object) -> set[str]:
        return {to_text(to_bytes(query)) for query in self.mapping}

    def descends(self) -> bool:
        held = (got for got in self.mapping.values() if isinstance(got, MAPPING))
        scored = (read_doubles(got.values()) for got in held)
        return all(scores is None or (scores[1:] <= scores[:-1]).all() for scores in scored)


def _make_filter(qrels: Qrels, ids: str) -> "Filter | None":
    """Make a filter of results; None where all items are candidates."""
    if qrels.candidates is None:
        return None
    from germane.readers.candidates import Filter  # which few evaluations need

    return Filter(qrels, ids)


class ScoredMapping(MappedRun):
    """``{query: {item: score}}``."""

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        return self._retrieve_each(qrels, self.mapping, _rank_scored, order)


class RankedLists(MappedRun):
    """``{query: [item, …]}``."""

    @property
    def ties(self) -> str:
        return "given"

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        if order.threshold is not None:
            raise PolicyError("threshold=… is for scores; ranked lists have none.")
        if order.scores == "distances":
            raise PolicyError("scores=distances is for scores; ranked lists have none.")
        run = self.mapping
        if order.own == "drop":
            run = {query: _drop_own(self.where, query, got) for query, got in run.items()}
        return self._retrieve_each(qrels, run, _rank_listed, duplicates)


def _retrieve_each(
    qrels: Qrels,
    run: Mapping[Hashable, Any],
    hits: "_Hits",
    add: Callable[..., None],
    choice: "str | Order",
) -> Retrieved:
    if not run:
        raise EmptyError("the run is empty: it has no queries.")
    check_named(hits.where, run)
    answers = 0
    for q, (query, judged) in enumerate(zip(qrels.queries, qrels.judged, strict=True)):
        got = run.get(query, _ABSENT)
        if got is not _ABSENT:
            answers += 1
            hits.answered[q] = True
            add(hits, q, query, judged, got, choice)
    if not answers:
        mapping_ids.refuse_queries(qrels, run)
    if hits.candidates is not None:
        hits.candidates.refuse_types()
    if not hits.judgment:
        mapping_ids.refuse_items(qrels, run)
    unknown = [q for q in run if q not in qrels.position] if len(run) > answers else []
    return hits.join(qrels, run, unknown)


_ABSENT = object()


class _Hits:
    """The hits found so far."""

    def __init__(self, queries: int, where: str, candidates: "Filter | None") -> None:
        self.where = where  # the name of the run in errors
        self.candidates = candidates
        self.excluded = None if candidates is None else np.zeros(queries, np.int64)
        pandas = sys.modules.get("pandas")
        self.missing = {None, nan, np.nan, *((pandas.NA, pandas.NaT) if pandas else ())}
        self.answered = np.zeros(queries, bool)
        self.retrieved = np.zeros(queries, np.int64)
        self.found = [0] * queries
        self.judgment, self.rank = array("q"), array("q")
        self.tied_from = self.tied_to = self.rank  # one object until there is a tie

    def add(self, q: int, judgment: Any, rank: Any, tied_from: Any, tied_to: Any) -> None:
        """Add the hits of a query, as lists or as arrays; if none is tied, the ranks are one object."""
        if tied_from is not tied_to and self.tied_from is self.tied_to:
            self.tied_from, self.tied_to = self.rank[:], self.rank[:]
        extend = array.fromlist if isinstance(judgment, list) else _extend
        self.found[q] = len(judgment)
        extend(self.judgment, judgment)
        extend(self.rank, rank)
        if self.tied_from is not self.tied_to:
            extend(self.tied_from, tied_from)
            extend(self.tied_to, tied_to)

    def admit(self, q: int, items: Collection[Hashable]) -> Bools:
        """Find which results of a query are candidates, and count the others."""
        assert self.candidates is not None
        assert self.excluded is not None
        kept = self.candidates.admit(q, items)
        self.excluded[q] = len(kept) - np.count_nonzero(kept)
        return kept

    def join(self, qrels: Qrels, run: Mapping[Hashable, Any], unknown: list[Hashable]) -> Retrieved:
        rank = np.asarray(self.rank)
        is_tied = self.tied_from is not self.tied_to
        return Retrieved(
            np.asarray(self.judgment),
            ragged.repeat_owners(self.found),
            rank,
            np.asarray(self.tied_from) if is_tied else rank,
            np.asarray(self.tied_to) if is_tied else rank,
            self.retrieved,
            self.answered,
            unknown,
            sample=partial(_take_sample, qrels.queries, run),
            rows=_count_rows(qrels.queries, run),
            excluded=self.excluded,
        )


def _count_rows(queries: Sequence[Hashable], run: Mapping[Hashable, Any]) -> Ints | None:
    """Count the results of each judged query before they were collapsed; None if they were not."""
    if type(run) is dict or "germane.readers.groups" not in sys.modules:
        return None
    from germane.readers.groups import count_rows

    counts = [count_rows(run, query) if query in run else 0 for query in queries]
    return None if None in counts else np.array(counts, np.int64)


def _take_sample(queries: list[Hashable], run: Mapping[Hashable, Any], most: int) -> Sample:
    """Take the first results of some judged queries."""
    depth = most // max(1, min(len(queries), len(run), SAMPLED, most // DEEP))
    items: list[Hashable] = []
    given: list[Any] = []
    answered, ends = [], [0]
    for query in queries:
        got = run.get(query, ())
        if len(got):
            answered.append(query)
            items += islice(got, depth)
            if isinstance(got, MAPPING):
                given += islice(got.values(), depth)
            ends.append(len(items))
            if len(answered) == SAMPLED or len(items) > most - depth:
                break
    score = read_doubles(given) if given else None
    return Sample(
        answered,
        np.array(ends),
        items,
        score,
        given=(lambda count: given[:count]) if given else None,
        finer=may_round(given),
    )


def _extend(ranks: "array[int]", more: Ints) -> None:
    ranks.frombytes(more.tobytes())


def _rank_scored(
    hits: _Hits, q: int, query: Hashable, judged: dict[Hashable, int], got: Any, order: Order
) -> None:
    if not isinstance(got, MAPPING):
        raise FormatError(
            f"{hits.where}, query {clip(query)}: results are {{item: score}}; got {show_typed(got)}"
        )
    if not got.keys().isdisjoint(hits.missing) or type(next(iter(got), "")) not in _NAMES:
        check_named(f"{hits.where}, query {clip(query)}", got)
    scores = check_scores(hits.where, query, got)
    if hits.excluded is not None:
        got, scores = _keep(got, scores, hits.admit(q, got))
    if not order.plain:
        got, scores = _admit(query, got, scores, order)
    hits.retrieved[q] = len(scores)
    few = len(judged) <= _FEW or len(scores) <= _SHORT
    find = _rank_few if few and order.nonpositive == "hit" else _rank_many
    hits.add(q, *find(judged, got, scores, order))


def _rank_few(
    judged: dict[Hashable, int], got: Mapping[Hashable, Any], scores: Floats, order: Order
) -> _Ranked:
    """Rank few items, for which Python is faster than NumPy."""
    n = len(scores)
    found = _find_common(judged, got)
    own = [float(got[item]) for item in found]
    if n <= _SHORT:
        ascending = sorted(scores.tolist())
        first = [n + 1 - bisect_right(ascending, score) for score in own]
        last = [n - bisect_left(ascending, score) for score in own]
    else:
        first = [int(np.count_nonzero(scores > score)) + 1 for score in own]
        last = [int(np.count_nonzero(scores >= score)) for score in own]
    judgments = [judged[item] for item in found]
    if first == last:
        return judgments, first, first, first
    place = {item: i for i, item in enumerate(got)}
    at = _find_places([place[item] for item in found], list(got), scores, order)
    return judgments, (np.array(first) + at).tolist(), first, last


def _admit(
    query: Hashable, got: Mapping[Hashable, Any], scores: Floats, order: Order
) -> tuple[Mapping[Hashable, Any], Floats]:
    """Keep the items that count as retrieved, with scores in the precision asked for."""
    scores = order.convert_scores(scores, np.array([0, len(scores)]))
    kept = order.reach_threshold(scores)
    if order.own == "drop":
        kept &= np.fromiter((item != query for item in got), bool, len(kept))
    return _keep(got, scores, kept)


def _keep(
    got: Mapping[Hashable, Any], scores: Floats, kept: Bools
) -> tuple[Mapping[Hashable, Any], Floats]:
    scores = scores[kept]
    items = [item for item, keep in zip(got, kept.tolist(), strict=True) if keep]
    return dict(zip(items, scores.tolist(), strict=True)), scores


def _find_common(judged: Mapping[Hashable, Any], got: Mapping[Hashable, Any]) -> list[Hashable]:
    """Find the judged items that are retrieved. Looks for each of those that are fewer."""
    fewer, others = (judged, got) if len(judged) <= len(got) else (got, judged)
    return [item for item in fewer if item in others]


def _rank_many(
    judged: dict[Hashable, int], got: Mapping[Hashable, Any], scores: Floats, order: Order
) -> _Ranked:
    """Rank many items, for which sorting the scores once is faster than looking for each item."""
    found = _find_common(judged, got)
    own, ascending = np.array([float(got[item]) for item in found]), np.sort(scores)
    if order.nonpositive == "miss":
        found = [item for item, score in zip(found, own.tolist(), strict=True) if score > 0]
        own = own[own > 0]
    first = len(scores) + 1 - np.searchsorted(ascending, own, "right")
    last = len(scores) - np.searchsorted(ascending, own, "left")
    judgments = np.array([judged[item] for item in found], np.int64)
    if not (last > first).any():
        return judgments, first, first, first
    place = {item: i for i, item in enumerate(got)}
    at = [place[item] for item in found]
    return judgments, first + _find_places(at, list(got), scores, order), first, last


def _find_places(at: list[int], items: list[Hashable], scores: Floats, order: Order) -> Ints:
    """Find the place, from 0, of some items among the items with the same score."""
    by_key = np.arange(len(scores)) if order.equal == "given" else sort_by_bytes(items)[::-1]
    falling = -scores[by_key]
    arranged = np.argsort(falling, kind="stable")
    position = np.empty(len(scores), np.int64)
    position[by_key[arranged]] = np.arange(len(scores))
    places: Ints = position[at] - np.searchsorted(falling[arranged], -scores[at], "left")
    return places


def check_scores(where: str, query: Hashable, got: Mapping[Hashable, Any]) -> Floats:
    """Read the scores of a query. Refuses one that is not a finite number."""
    scores = read_doubles(got.values())
    first = next(iter(got.values()), 0)
    if scores is None or (type(first) not in ORDINARY and not is_finite_number(first)):
        raise _explain_bad_score(where, query, got)
    return scores


def _explain_bad_score(where: str, query: Hashable, got: Mapping[Hashable, Any]) -> ScoreError:
    item, score = next((item, score) for item, score in got.items() if not is_finite_number(score))
    return ScoreError(
        f"{where}, query {clip(query)}, item {clip(item)}: "
        + explain_not_finite("score", f"got {show_number(score)}")
    )


def _rank_listed(
    hits: _Hits,
    q: int,
    query: Hashable,
    judged: dict[Hashable, int],
    got: Any,
    duplicates: str,
) -> None:
    got = list_ranked(hits.where, query, got)
    try:
        if hits.excluded is not None:
            kept = hits.admit(q, got).tolist()
            got = [item for item, keep in zip(got, kept, strict=True) if keep]
        items = set(got)
        if not items.isdisjoint(hits.missing) or (got and type(got[0]) not in _NAMES):
            check_named(f"{hits.where}, query {clip(query)}", got)
        if len(items) < len(got):
            got = _check_unique(hits.where, query, got, duplicates)
        ranks = [i for i, item in enumerate(got, 1) if item in judged]
    except TypeError:
        raise _explain_bad_id(hits.where, query, got) from None
    hits.retrieved[q] = len(got)
    hits.add(q, [judged[got[rank - 1]] for rank in ranks], ranks, ranks, ranks)


def _drop_own(where: str, query: Hashable, got: Any) -> list[Hashable]:
    """Leave out the item that has the id of the query."""
    listed = list_ranked(where, query, got)
    try:
        set(listed)
    except TypeError:
        raise _explain_bad_id(where, query, listed) from None
    return [item for item in listed if item != query]


def list_ranked(where: str, query: Hashable, got: Any) -> Sequence[Any]:
    """List the items of a query by their position; the labels of a Series do not matter."""
    if is_floating(got):
        raise FormatError(
            f"{where}, query {clip(query)}: a ranked list holds ids, best first; got {type(got).__name__} of "
            "floating-point numbers. Scores go with their items: {item: score}, as to_dict() of a "
            "Series makes it."
        )
    got = list_values(got)
    if isinstance(got, (str, bytes)) or not isinstance(got, Sequence):
        raise FormatError(
            f"{where}, query {clip(query)}: results are a list of items; got {show_typed(got)}"
        )
    return got


def _check_unique(
    where: str, query: Hashable, got: Sequence[Hashable], duplicates: str
) -> Sequence[Hashable]:
    match duplicates:
        case "keep" | "recount":
            return got
        case "last":
            return list(dict.fromkeys(reversed(got)))[::-1]
        case "first" | "max":  # the first copy is ranked highest
            return list(dict.fromkeys(got))
    rank_of: dict[Hashable, int] = {}
    for rank, item in enumerate(got, 1):
        if rank_of.setdefault(item, rank) != rank:
            raise DuplicateError(
                f"{where}, query {clip(query)}: item {clip(item)} is retrieved twice, at ranks "
                f"{rank_of[item]} and {rank}. duplicates=first keeps its first copy."
            )
    return got
