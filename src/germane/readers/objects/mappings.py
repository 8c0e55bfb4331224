"""Reads Python mappings: ``{query: {item: score}}``, and ranked lists ``{query: [item, …]}``."""

import sys
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias, TypeGuard, TypeVar

import numpy as np

from germane.core.calls import Progress, list_values
from germane.core.id_spelling import PLAIN, unwrap_id, unwrap_ids, unwrap_keys
from germane.core.qrels import DEEP, SAMPLED, IdNames, Order, Qrels, Retrieved, Sample
from germane.core.ragged import Floats, Ints
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    ScoreError,
    clip,
    explain_not_finite,
    name_type,
    show_typed,
    write_option,
)
from germane.kernel.ids import is_padding, to_bytes, to_text
from germane.kernel.keys import Keys
from germane.kernel.reduction import Batch, Reduction, RepeatedItem
from germane.readers.inputs import Faults, RunInput, explain_twice
from germane.readers.objects import item_ids, numbers
from germane.readers.objects.item_ids import spell_qrels, take_ids, take_keys
from germane.readers.objects.numbers import (
    ORDINARY,
    count_rounded,
    is_finite_number,
    is_floating,
    may_round,
    read_doubles,
    show_number,
)

if TYPE_CHECKING:
    from germane.readers.options.item_groups import Groups
    from germane.readers.rows import Rows


P = TypeVar("P")

MAPPING = (dict, Mapping)  # the first makes isinstance fast for a dict
STEP = 1 << 15  # results that are reduced at once; they stay in the processor's cache


def is_scores(raw: object) -> bool:
    """Is this ``{query: {item: score}}``?"""
    return is_mapping(raw) and isinstance(next(iter(raw.values()), None), MAPPING)


class ScoredList(list[Hashable]):
    """The items of a list of hits, with their scores; an item may stand twice."""

    def __init__(self, items: Iterable[Hashable], scores: Sequence[Any]) -> None:
        super().__init__(items)
        self.scores = scores


def is_mapping(raw: object) -> TypeGuard[Mapping[Any, Any]]:
    """Is this a mapping, and not a sparse matrix of a type that is a dict, too?"""
    return isinstance(raw, MAPPING) and (type(raw) is dict or not hasattr(raw, "tocsr"))


def is_rows(raw: object) -> bool:
    """Are these lists, sets or mappings, one for each query? Tuples are taken for records."""
    if not isinstance(raw, (list, tuple)) or not raw:
        return False
    first = raw[0]
    return (
        isinstance(first, (list, Set, Mapping))
        or (numbers.is_array(first) and len(first.shape) == 1)
        or is_column(first)
    )


def is_column(raw: object) -> bool:
    """Is this a column of a frame, such as a Series, which is read by position?"""
    is_listed = any(hasattr(raw, name) for name in ("to_list", "to_pylist"))
    return is_listed and not any(hasattr(raw, name) for name in ("columns", "schema"))


def list_pairs(results: Any) -> list[tuple[Hashable, Any]]:
    """Pair items with their numbers, or with None; there are none in what is no list."""
    listed, numbers_of_items = list_values(results), list_scores(results)
    if isinstance(listed, (str, bytes)) or not isinstance(listed, Collection):
        return []
    numbers_of_items = [None] * len(listed) if numbers_of_items is None else numbers_of_items
    return list(zip(listed, numbers_of_items, strict=True))


def sift(read: Callable[[Any], P], results: Any, empty: Any, faults: Faults) -> P:
    """Read the results of a query that can be read, and note the others as faults.

    Where not all of them can be read, each is read alone. If each can be, or if they are of another
    kind than ``empty`` results, all of them are one fault.
    """

    def join(pairs: list[tuple[Hashable, Any]]) -> Any:
        items = [item for item, _ in pairs]
        if isinstance(results, ScoredList):
            return ScoredList(items, [score for _, score in pairs])
        return dict(pairs) if isinstance(results, MAPPING) else items

    try:
        return read(results)
    except InputError as error:
        wrong = str(error)
    count, sound = faults.count, empty
    with suppress(InputError):
        read(join([]))
        singles = ((pair, join([pair])) for pair in list_pairs(results))
        sound = join([pair for pair, single in singles if faults.can(read, single)])
    if faults.count == count:
        faults.add(wrong)
        sound = empty
    return read(sound if faults.can(read, sound) else empty)


_Read: TypeAlias = tuple[Any, Collection[Hashable], Floats | None]
"""The ids of a query in a dict or list, the dict or set in which they are looked up, and scores."""


@dataclass(eq=False, repr=False)
class MappedRun(RunInput):
    """A mapping of queries to results, which become columns of keys."""

    is_mapping = True
    empty: ClassVar[Any] = {}  # the results of a query without any

    mapping: Mapping[Hashable, Any]
    name: str = "run"
    where: str = "run"  # the name in errors
    ids: str = "typed"
    groups: "Groups | None" = None  # that take the place of items
    is_named: bool = False
    has_query_names: bool = False
    id_names: IdNames | None = None

    @property
    def is_text(self) -> bool:
        return self.ids == "text" or (self.groups is not None and self.groups.is_text)

    def _collapse(self, groups: "Groups") -> Self:
        groups.check_items_have_ids()
        return replace(self, groups=groups)

    def _read_ids(self, query: Hashable, results: Any, missing: set[Any]) -> _Read:
        """Read the items of a query, as a dict or a list, and their scores if they have any."""
        raise NotImplementedError

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        self._refuse_empty()
        matched = self._match(qrels)
        judged = item_ids.judge_keys(matched.qrels, matched.is_text)
        reduction = Reduction(judged, self.decide_duplicates(duplicates), order)
        answers = 0
        for batch in self._read_batches(matched, matched.qrels.queries):
            answers += len(batch.code)
            try:
                reduction.add(reduction.reduce(batch))
            except RepeatedItem as error:
                raise self._explain_repeat(batch, matched.qrels, error) from None
        run, position = matched.run, matched.qrels.position
        if not answers:
            item_ids.refuse_queries(matched.qrels, run)
        retrieved = reduction.join(
            [query for query in run if query not in position] if len(run) > answers else [],
            sample=partial(self._take_sample, matched),
            rows=reduction.rows if self.is_collapsed else None,
        )
        self._refuse_types(matched, retrieved, int(reduction.rows.sum()))
        return retrieved

    def read_rows(
        self,
        judged: Qrels | None = None,
        progress: Progress | None = None,
        faults: Faults | None = None,
    ) -> Iterator["Rows"]:
        from germane.readers.rows import Rows  # which few evaluations need

        matched = (
            _Matched(self.mapping, _NO_QRELS, False) if judged is None else self._match(judged)
        )
        queries = list(matched.run) if judged is None else matched.qrels.queries
        if faults is not None:
            self._refuse_empty()
            queries = [query for query in queries if faults.can(self._check_queries, [query])]
        for batch in self._read_batches(matched, queries, faults):
            found_queries = [queries[q] for q in batch.code.tolist()]
            yield Rows(found_queries, batch.offsets, batch.items, batch.score)

    def _refuse_empty(self) -> None:
        if not self.mapping:
            raise EmptyError("the run is empty: it has no queries.")

    def _check_queries(self, queries: Collection[Hashable]) -> None:
        """Refuse a query whose id is missing, or is none."""
        take_ids(self.where, queries)

    def _read_batches(
        self, matched: "_Matched", queries: Sequence[Hashable], faults: Faults | None = None
    ) -> Iterator[Batch]:
        """Read the results of some queries, as far as the run has them, a few at a time."""
        if faults is None:
            self._check_queries(matched.run)
        pandas = sys.modules.get("pandas")
        missing = {None, nan, np.nan, *((pandas.NA, pandas.NaT) if pandas else ())}
        rows = _Held()
        for q, query in enumerate(queries):
            results = matched.run.get(query, _ABSENT)
            if results is _ABSENT:
                continue
            if faults is None:
                part, index, score = self._read_ids(query, results, missing)
            else:
                part, index, score = self._sift_ids(query, results, missing, faults)
            names = self._name_items(query, part, matched.is_spelled)
            if names is not part:
                if isinstance(part, dict) and self.groups is None:
                    names = dict(zip(names, part.values(), strict=True))
                    if len(names) < len(part):
                        raise FormatError(
                            f"run, query {clip(query)}: two item ids have the same text."
                        )
                index = names if isinstance(names, dict) else set(names)
            rows.add(q, names, index, score)
            if rows.rows >= STEP:
                yield rows.make_batch()
                rows = _Held()
        if rows.code:
            yield rows.make_batch()

    def _sift_ids(self, query: Hashable, results: Any, missing: set[Any], faults: Faults) -> _Read:
        """Read the items of a query that can be read, and count the scores that doubles round."""
        scores: list[Any] = []

        def read(results: Any) -> _Read:
            scores[:] = list_scores(results) or ()
            return self._read_ids(query, results, missing)

        ids = sift(read, results, self.empty, faults)
        if ids[2] is not None:
            faults.rounded += count_rounded(scores, ids[2])
        return ids

    def _name_items(self, query: Hashable, ids: Any, is_spelled: bool) -> Any:
        """Replace items by groups and spell them as in a file of text; else return the object."""
        if self.groups is not None:
            ids = [self.groups.find_group(query, item) for item in ids]
        return item_ids.spell_ids(ids) if is_spelled else ids

    def _match(self, qrels: Qrels) -> "_Matched":
        """Spell the ids of both sides as a file of text does, if one of them is from one."""
        if not self.is_text and qrels.ids != "text":
            return _Matched(self.mapping, qrels, False)
        qrels = spell_qrels(qrels)
        if self.ids == "text":
            return _Matched(self.mapping, qrels, self.groups is not None, True)
        return _Matched(item_ids.spell_queries(self.mapping), qrels, True, True)

    def _refuse_types(self, matched: "_Matched", retrieved: Retrieved, rows: int) -> None:
        """Refuse ids of items that cannot match, as numbers and text. Raises CoverageError."""
        excluded = None if retrieved.excluded is None else int(retrieved.excluded.sum())
        if len(retrieved.judgment) and excluded is None:
            return

        def find_types() -> set[str]:
            """Find the types of all items."""
            lists = ((query, list_values(results)) for query, results in matched.run.items())
            named = (
                self._name_items(query, list(results), matched.is_spelled)
                for query, results in lists
                if isinstance(results, Iterable)
            )
            return {name_type(unwrap_id(item)) for items in named for item in items}

        if excluded is not None and not matched.is_text:
            from germane.readers.options.candidates import (
                refuse_types,  # which few evaluations need
            )

            none = not excluded
            unmatched = {"exclude": none, "only": excluded == rows, "ignore": none}
            refuse_types(matched.qrels, unmatched, find_types)
        if not len(retrieved.judgment):
            item_ids.refuse_types(matched.qrels, find_types())

    def _explain_repeat(
        self, batch: Batch, qrels: Qrels, repeated_item: RepeatedItem
    ) -> DuplicateError:
        group = batch.code.tolist().index(qrels.position[repeated_item.query])
        part = batch.items.parts[group]  # type: ignore[attr-defined]
        rank = part.index(repeated_item.item) + 1
        second = part.index(repeated_item.item, rank) + 1
        return explain_twice(
            f"{self.where}, query {clip(repeated_item.query)}", repeated_item.item, rank, second
        )

    def _take_sample(self, matched: "_Matched", most_rows: int) -> Sample:
        """Take the first results of some judged queries."""
        queries, run = matched.qrels.queries, matched.run
        depth = most_rows // max(1, min(len(queries), len(run), SAMPLED, most_rows // DEEP))
        items: list[Hashable] = []
        results: list[Any] = []
        answered, ends = [], [0]
        for query in queries:
            got = run.get(query, ())
            if len(got):
                answered.append(query)
                first = self._take_first(query, got, depth)
                items += self._name_items(query, first, matched.is_spelled)
                if (scores := list_scores(got)) is not None:
                    results += islice(scores, depth)
                ends.append(len(items))
                if len(answered) == SAMPLED or len(items) > most_rows - depth:
                    break
        score = read_doubles(results) if results else None
        return Sample(
            answered,
            np.array(ends),
            items,
            score,
            raw=(lambda count: results[:count]) if results else None,
            finer=may_round(results),
        )

    def _take_first(self, query: Hashable, results: Any, depth: int) -> list[Any]:
        """Take the first items of a query. Refuses those that something holds, among plain ids."""
        first = list(islice(results, depth))
        taken: list[Any] = unwrap_ids(first)
        if taken is not first and not _has_odd_end(results):
            wrong = next(
                item
                for item, identifier in zip(first, taken, strict=True)
                if item is not identifier
            )
            raise FormatError(
                f"{self.where}, query {clip(query)}: ids must have one type; got"
                f" {show_typed(wrong)} among others, such as {show_typed(first[0])}."
            )
        return taken

    def select(self, qrels: Qrels, duplicates: str, progress: object = None) -> Self | None:
        matched = self._match(qrels)
        query = matched.qrels.queries[0]
        if query not in matched.run:
            return None
        return replace(self, mapping={query: matched.run[query]})

    def find_judged(self, qrels: Qrels) -> Ints:
        matched = self._match(qrels)
        positions = (matched.qrels.position.get(query) for query in matched.run)
        return np.array(sorted(q for q in positions if q is not None), np.int64)

    def find_queries(self, wanted: object) -> set[str]:
        return {to_text(to_bytes(query)) for query in self.mapping}

    def descends(self) -> bool:
        scores = (list_scores(results) for results in self.mapping.values())
        scored = (None if score is None else read_doubles(score) for score in scores)
        return all(scores is None or (scores[1:] <= scores[:-1]).all() for scores in scored)


class _Matched(NamedTuple):
    """A run and judgments whose ids are spelled in the same way."""

    run: Mapping[Hashable, Any]
    qrels: Qrels
    is_spelled: bool  # are the run's items spelled when they are read?
    is_text: bool = False  # do they appear as in a file of text?


_NO_QRELS = Qrels([], np.zeros(1, np.int64), [], np.zeros(0))
_ABSENT = object()


class _Held:
    """The results of some queries, of which a batch is made."""

    def __init__(self) -> None:
        self.code: list[int] = []
        self.parts: list[Any] = []
        self.indexes: list[Any] = []
        self.scores: list[Floats] = []
        self.rows = 0

    def add(self, q: int, part: Any, index: Any, score: Floats | None) -> None:
        self.code.append(q)
        self.parts.append(part)
        self.indexes.append(index)
        self.rows += len(part)
        if score is not None:
            self.scores.append(score)

    def make_batch(self) -> Batch:
        keys = Keys(self.parts, self.indexes)
        are_several = len(self.scores) > 1
        score = np.concatenate(self.scores) if are_several else next(iter(self.scores), None)
        return Batch(np.array(self.code), keys.offsets, keys, score)


class ScoredMapping(MappedRun):
    """``{query: {item: score}}``."""

    def _read_ids(self, query: Hashable, results: Any, missing: set[Any]) -> _Read:
        if not isinstance(results, MAPPING):
            raise FormatError(
                f"{self.where}, query {clip(query)}: results are {{item: score}}; got"
                f" {show_typed(results)}"
            )
        ends_plainly = type(next(iter(results), "")) in PLAIN and (
            type(results) is not dict or type(next(reversed(results), "")) in PLAIN
        )
        if not (ends_plainly and results.keys().isdisjoint(missing)):
            results = take_keys(f"{self.where}, query {clip(query)}", results)
        scores = check_scores(self.where, query, results)
        scored = results if type(results) is dict else dict(results)
        return scored, scored, scores


class ScoredLists(MappedRun):
    """``{query: [item, …]}`` with a score for each item, as hits are read."""

    empty = ScoredList([], [])

    def _read_ids(self, query: Hashable, scored_list: ScoredList, missing: set[Any]) -> _Read:
        scores = check_scores(self.where, query, scored_list)
        return list(scored_list), set(scored_list), scores

    def _explain_repeat(
        self, batch: Batch, qrels: Qrels, repeated_item: RepeatedItem
    ) -> DuplicateError:
        error = super()._explain_repeat(batch, qrels, repeated_item)
        if is_padding(repeated_item.item):
            return error
        return DuplicateError(
            f"{error} {write_option('duplicates', 'max')} keeps its best hit. For chunks, give"
            f" their own ids, and rank documents with {write_option('collapse', '…')}"
        )


class RankedLists(MappedRun):
    """``{query: [item, …]}``."""

    has_scores = False
    ties = "given"
    empty: ClassVar[Any] = []

    def _read_ids(self, query: Hashable, results: Any, missing: set[Any]) -> _Read:
        listed = list_ranked(self.where, query, results)
        try:
            index = set(listed)
        except TypeError:  # arrays without dimensions have no hash
            index = missing
        if not missing.isdisjoint(index) or _has_odd_end(listed):
            listed = list(take_ids(f"{self.where}, query {clip(query)}", listed))
            index = set(listed)
        return listed if type(listed) is list else list(listed), index, None


def list_scores(results: Any) -> Collection[Any] | None:
    """List the scores of a query's results; None for those that have ranks alone."""
    if isinstance(results, ScoredList):
        return results.scores
    return results.values() if isinstance(results, MAPPING) else None


def _has_odd_end(ids: Any) -> bool:
    """Is the first or the last id of another type than usual? To ask all would take long."""
    if not len(ids):
        return False
    is_usual = type(ids) in (dict, list)
    return not PLAIN.issuperset(
        map(type, (next(iter(ids)), next(reversed(ids))) if is_usual else ids)
    )


def open_mapping(raw: Mapping[Any, Any]) -> MappedRun:
    """Open ``{query: {item: score}}`` or ``{query: [item, …]}``, with scores beside the items."""
    kind: type[MappedRun] = RankedLists
    results = next(iter(raw.values()), None)
    if isinstance(results, MAPPING):
        kind = ScoredMapping
    elif isinstance(results, ScoredList) and isinstance(raw, dict):
        kind = ScoredLists
    return kind(unwrap_keys(raw, "run"))


def check_scores(
    where: str, query: Hashable, results: Mapping[Hashable, Any] | ScoredList
) -> Floats:
    """Read the scores of a query. Refuses one that is not a finite number."""
    listed = list_scores(results) or ()
    scores = read_doubles(listed)
    first = next(iter(listed), 0)
    if scores is None or (type(first) not in ORDINARY and not is_finite_number(first)):
        raise _explain_bad_score(where, query, zip(results, listed, strict=True))
    return scores


def _explain_bad_score(
    where: str, query: Hashable, pairs: Iterable[tuple[Hashable, Any]]
) -> ScoreError:
    item, score = next((item, score) for item, score in pairs if not is_finite_number(score))
    return ScoreError(
        f"{where}, query {clip(query)}, item {clip(item)}: "
        + explain_not_finite("score", f"got {show_number(score)}")
        + ". An item that is not retrieved is left out." * (repr(score) == "-inf")
    )


def list_ranked(where: str, query: Hashable, results: Any) -> Sequence[Any]:
    """List the items of a query by their position; the labels of a Series do not matter."""
    if is_floating(results):
        raise FormatError(
            f"{where}, query {clip(query)}: a ranked list contains ids, best first; got"
            f" {type(results).__name__} of floating-point numbers. Pass scores with their items:"
            f" {{item: score}}, as to_dict() of a Series makes it."
        )
    results = list_values(results)
    if isinstance(results, (str, bytes)) or not isinstance(results, Sequence):
        raise FormatError(
            f"{where}, query {clip(query)}: results are a list of items; got {show_typed(results)}"
            + (". A query without results has an empty list." if results is None else "")
        )
    return results
