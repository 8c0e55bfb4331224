"""Reads Python mappings: ``{query: {item: score}}``, and ranked lists ``{query: [item, …]}``."""

import sys
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeGuard

import numpy as np

from germane.core import ragged
from germane.core.arguments import list_values
from germane.core.progress import Progress
from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.retrieved import DEEP, ONE_COPY, SAMPLED, Order, Retrieved, Sample
from germane.errors import (
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    ScoreError,
    clip,
    explain_not_finite,
    name_type,
    show_typed,
)
from germane.kernel.ids import is_missing, to_bytes, to_text
from germane.kernel.keys import Keys
from germane.kernel.reduction import EVERY, Batch, Reduction, RepeatedItem
from germane.readers import headings, mapping_ids, numbers, subtopics
from germane.readers.inputs import RunInput, explain_twice
from germane.readers.mapping_ids import spell_qrels
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
    from germane.readers.item_groups import Groups
    from germane.readers.rows import Rows

MAPPING = (dict, Mapping)  # the first makes isinstance fast for a dict
STEP = 1 << 15  # results that are reduced at once; they stay in the processor's cache


def is_scores(given: object) -> bool:
    """Is this ``{query: {item: score}}``?"""
    return is_mapping(given) and isinstance(next(iter(given.values()), None), MAPPING)


def is_mapping(given: object) -> TypeGuard[Mapping[Any, Any]]:
    """Is this a mapping, and not a sparse matrix of a type that is a dict, too?"""
    return isinstance(given, MAPPING) and (type(given) is dict or not hasattr(given, "tocsr"))


def is_rows(given: object) -> bool:
    """Are these lists, sets or mappings, one for each query? Tuples are taken for records."""
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


def read_qrels(given: Mapping[Hashable, Any], duplicates: str, where: str = "qrels") -> Qrels:
    """Read ``{query: {item: grade}}``, or ``{query: relevant items}``, whose grades are 1.

    An item may have ``{subtopic: grade}`` in the place of a grade, or a collection of its
    subtopics.
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
            f"{where}, query {clip(query)}: judgments are {{item: grade}} or a collection of"
            f" relevant items; got {show_typed(judged)}"
        )
    try:
        unique = list(dict.fromkeys(judged))
    except TypeError:
        raise _explain_bad_id(where, query, judged) from None
    if duplicates in ("each", EVERY):
        return list(judged)
    if len(unique) < len(judged) and duplicates not in ONE_COPY:
        twice = next(item for item in unique if list(judged).count(item) > 1)
        raise DuplicateError(
            f"{where}, query {clip(query)}: item {clip(twice)} is judged twice. duplicates=first or"
            " repeated=once counts it once."
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


_Read: TypeAlias = tuple[Any, Collection[Hashable], Floats | None]
"""The ids of a query in a dict or list, the dict or set in which they are looked up, and scores."""


@dataclass(eq=False, repr=False)
class MappedRun(RunInput):
    """A mapping of queries to results, which become columns of keys."""

    is_mapping = True

    mapping: Mapping[Hashable, Any]
    name: str = "run"
    where: str = "run"  # the name in errors
    ids: str = "typed"
    groups: "Groups | None" = None  # that take the place of items

    @property
    def is_text(self) -> bool:
        return self.ids == "text" or (self.groups is not None and self.groups.is_text)

    def _collapse(self, groups: "Groups") -> Self:
        groups.check_items_have_ids()
        return replace(self, groups=groups)

    def _read_ids(self, query: Hashable, got: Any, missing: set[Any]) -> _Read:
        """Read the items of a query, as a dict or a list, and their scores if they have any."""
        raise NotImplementedError

    def retrieve(
        self, qrels: Qrels, duplicates: str, order: Order, progress: object = None
    ) -> Retrieved:
        if not self.mapping:
            raise EmptyError("the run is empty: it has no queries.")
        matched = self._match(qrels)
        judged = mapping_ids.judge_keys(matched.qrels, matched.is_text)
        reduction = Reduction(judged, self.decide_duplicates(duplicates), order)
        rows = np.zeros(len(qrels), np.int64)
        answers = 0
        for batch in self._read_batches(matched, matched.qrels.queries):
            answers += len(batch.code)
            rows[batch.code] = ragged.find_lengths(batch.offsets)
            try:
                reduction.add(reduction.reduce(batch))
            except RepeatedItem as found:
                raise self._explain_repeat(batch, matched.qrels, found) from None
        run, position = matched.run, matched.qrels.position
        if not answers:
            mapping_ids.refuse_queries(matched.qrels, run)
        got = reduction.join(
            [query for query in run if query not in position] if len(run) > answers else [],
            sample=partial(self._take_sample, matched),
            rows=rows if self.is_collapsed else None,
        )
        self._refuse_types(matched, got, int(rows.sum()))
        return got

    def read_rows(
        self, judged: Qrels | None = None, progress: Progress | None = None
    ) -> Iterator["Rows"]:
        from germane.readers.rows import Rows  # which few evaluations need

        matched = (
            _Matched(self.mapping, _NO_QRELS, False) if judged is None else self._match(judged)
        )
        queries = list(matched.run) if judged is None else matched.qrels.queries
        for batch in self._read_batches(matched, queries):
            found = [queries[q] for q in batch.code.tolist()]
            yield Rows(found, batch.offsets, batch.items, batch.score)

    def _read_batches(self, matched: "_Matched", queries: Sequence[Hashable]) -> Iterator[Batch]:
        """Read the results of some queries, as far as the run has them, a few at a time."""
        check_named(self.where, matched.run)
        pandas = sys.modules.get("pandas")
        missing = {None, nan, np.nan, *((pandas.NA, pandas.NaT) if pandas else ())}
        held = _Held()
        for q, query in enumerate(queries):
            got = matched.run.get(query, _ABSENT)
            if got is _ABSENT:
                continue
            part, index, score = self._read_ids(query, got, missing)
            names = self._name_items(query, part, matched.is_spelled)
            if names is not part:
                if isinstance(part, dict) and self.groups is None:
                    names = dict(zip(names, part.values(), strict=True))
                    if len(names) < len(part):
                        raise FormatError(
                            f"run, query {clip(query)}: two item ids have the same text."
                        )
                index = names if isinstance(names, dict) else set(names)
            held.add(q, names, index, score)
            if held.rows >= STEP:
                yield held.make_batch()
                held = _Held()
        if held.code:
            yield held.make_batch()

    def _name_items(self, query: Hashable, ids: Any, is_spelled: bool) -> Any:
        """Replace items by groups and spell them as in a file of text; else return the object."""
        if self.groups is not None:
            ids = [self.groups.find_group(query, item) for item in ids]
        return mapping_ids.spell_ids(ids) if is_spelled else ids

    def _match(self, qrels: Qrels) -> "_Matched":
        """Spell the ids of both sides as a file of text does, if one of them is from one."""
        if not self.is_text and qrels.ids != "text":
            return _Matched(self.mapping, qrels, False)
        qrels = spell_qrels(qrels)
        if self.ids == "text":
            return _Matched(self.mapping, qrels, self.groups is not None, True)
        return _Matched(mapping_ids.spell_queries(self.mapping), qrels, True, True)

    def _refuse_types(self, matched: "_Matched", got: Retrieved, rows: int) -> None:
        """Refuse ids of items that cannot match, as numbers and text. Raises CoverageError."""
        excluded = None if got.excluded is None else int(got.excluded.sum())
        if len(got.judgment) and excluded is None:
            return

        def find_types() -> set[str]:
            """Find the types of all items."""
            lists = ((query, list_values(got)) for query, got in matched.run.items())
            named = (
                self._name_items(query, list(got), matched.is_spelled)
                for query, got in lists
                if isinstance(got, Iterable)
            )
            return {name_type(item) for items in named for item in items}

        if excluded is not None and not matched.is_text:
            from germane.readers.candidates import refuse_types  # which few evaluations need

            unmatched = {"exclude": not excluded, "only": excluded == rows}
            refuse_types(matched.qrels, unmatched, find_types)
        if not len(got.judgment):
            mapping_ids.refuse_types(matched.qrels, find_types())

    def _explain_repeat(self, batch: Batch, qrels: Qrels, found: RepeatedItem) -> DuplicateError:
        group = batch.code.tolist().index(qrels.position[found.query])
        part = batch.items.parts[group]  # type: ignore[attr-defined]
        rank = part.index(found.item) + 1
        again = part.index(found.item, rank) + 1
        return explain_twice(f"{self.where}, query {clip(found.query)}", found.item, rank, again)

    def _take_sample(self, matched: "_Matched", most: int) -> Sample:
        """Take the first results of some judged queries."""
        queries, run = matched.qrels.queries, matched.run
        depth = most // max(1, min(len(queries), len(run), SAMPLED, most // DEEP))
        items: list[Hashable] = []
        given: list[Any] = []
        answered, ends = [], [0]
        for query in queries:
            got = run.get(query, ())
            if len(got):
                answered.append(query)
                first = list(islice(got, depth))
                items += self._name_items(query, first, matched.is_spelled)
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

    def select(self, qrels: Qrels, duplicates: str, progress: object = None) -> Self | None:
        matched = self._match(qrels)
        query = matched.qrels.queries[0]
        if query not in matched.run:
            return None
        return replace(self, mapping={query: matched.run[query]})

    def find_judged(self, qrels: Qrels) -> Ints:
        matched = self._match(qrels)
        found = (matched.qrels.position.get(query) for query in matched.run)
        return np.array(sorted(q for q in found if q is not None), np.int64)

    def find_queries(self, wanted: object) -> set[str]:
        return {to_text(to_bytes(query)) for query in self.mapping}

    def descends(self) -> bool:
        held = (got for got in self.mapping.values() if isinstance(got, MAPPING))
        scored = (read_doubles(got.values()) for got in held)
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
        several = len(self.scores) > 1
        score = np.concatenate(self.scores) if several else next(iter(self.scores), None)
        return Batch(np.array(self.code), keys.offsets, keys, score)


class ScoredMapping(MappedRun):
    """``{query: {item: score}}``."""

    def _read_ids(self, query: Hashable, got: Any, missing: set[Any]) -> _Read:
        if not isinstance(got, MAPPING):
            raise FormatError(
                f"{self.where}, query {clip(query)}: results are {{item: score}}; got"
                f" {show_typed(got)}"
            )
        if not got.keys().isdisjoint(missing) or type(next(iter(got), "")) not in _NAMES:
            check_named(f"{self.where}, query {clip(query)}", got)
        scores = check_scores(self.where, query, got)
        held = got if type(got) is dict else dict(got)
        return held, held, scores


class RankedLists(MappedRun):
    """``{query: [item, …]}``."""

    has_scores = False
    ties = "given"

    def _read_ids(self, query: Hashable, got: Any, missing: set[Any]) -> _Read:
        listed = list_ranked(self.where, query, got)
        try:
            index = set(listed)
        except TypeError:
            raise _explain_bad_id(self.where, query, listed) from None
        if not missing.isdisjoint(index) or (listed and type(listed[0]) not in _NAMES):
            check_named(f"{self.where}, query {clip(query)}", listed)
        return listed if type(listed) is list else list(listed), index, None


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


def list_ranked(where: str, query: Hashable, got: Any) -> Sequence[Any]:
    """List the items of a query by their position; the labels of a Series do not matter."""
    if is_floating(got):
        raise FormatError(
            f"{where}, query {clip(query)}: a ranked list holds ids, best first; got"
            f" {type(got).__name__} of floating-point numbers. Scores go with their items: {{item:"
            " score}, as to_dict() of a Series makes it."
        )
    got = list_values(got)
    if isinstance(got, (str, bytes)) or not isinstance(got, Sequence):
        raise FormatError(
            f"{where}, query {clip(query)}: results are a list of items; got {show_typed(got)}"
        )
    return got
