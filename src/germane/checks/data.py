"""Data: qrels and a run side by side, and what several checks look at, computed once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.checks.side import Side
from germane.measure import Measure
from germane.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Data:
    """Qrels and a run. Where one side has nothing but text, the other's numbers are their digits."""

    qrels: Side
    run: Side
    measures: tuple[Measure, ...]
    rivals: tuple["Data", ...] = ()  # the runs that were looked at before
    refusal: str = ""  # why evaluate refuses them, where no check says so

    @cached_property
    def cutoffs(self) -> list[int]:
        """The cutoffs of the measures, ascending."""
        return sorted({measure.k for measure in self.measures if measure.k is not None})

    @cached_property
    def grades(self) -> Floats:
        """The grade of each row of the qrels."""
        return np.ones(len(self.qrels)) if self.qrels.number is None else self.qrels.number

    # --- Queries

    @cached_property
    def query(self) -> Ints:
        """The place in the qrels of each query of the run; -1: nobody judged it."""
        return _places(self.run.queries, self.qrels.queries)

    @cached_property
    def answered(self) -> Bools:
        """Does the run have each judged query?"""
        found = np.zeros(len(self.qrels.queries), bool)
        found[self.query[self.query >= 0]] = True
        empty = set(self.run.empty)
        if empty:
            found |= np.array([query in empty for query in self.qrels.queries])
        return found

    @cached_property
    def missing(self) -> list[Hashable]:
        """The judged queries that the run does not have."""
        return [self.qrels.queries[q] for q in np.flatnonzero(~self.answered).tolist()]

    @cached_property
    def unknown(self) -> list[Hashable]:
        """The queries of the run that nobody judged."""
        judged = {*self.qrels.queries, *self.qrels.empty}
        return [query for query in (*self.run.queries, *self.run.empty) if query not in judged]

    # --- Items

    @cached_property
    def grade(self) -> Floats:
        """The grade of each row of the run; NaN where nobody judged it."""
        item = _places(self.run.items, self.qrels.items)[self.run.item]
        query = self.query[self.run.query]
        width = len(self.qrels.items) + 1
        judged = self.qrels.query * width + self.qrels.item
        order = np.argsort(judged, kind="stable")
        wanted = query * width + item
        at = np.searchsorted(judged[order], wanted)
        at = order[np.minimum(at, len(order) - 1)] if len(order) else at
        grade = np.full(len(self.run), np.nan)
        if len(order):
            same = (judged[at] == wanted) & (item >= 0) & (query >= 0)
            grade[same] = self.grades[at[same]]
        return grade

    # --- Ranks

    @cached_property
    def order(self) -> Ints:
        """The rows of the run, query by query, from the highest score to the lowest."""
        run = self.run
        if run.number is not None:
            return np.lexsort((-run.number, run.query))
        if run.rank is not None:
            return np.lexsort((run.rank, run.query))
        return np.argsort(run.query, kind="stable")

    @cached_property
    def offsets(self) -> Ints:
        """Where the rows of each query of the run begin in ``order``, and where they end."""
        return _ragged.offsets(np.bincount(self.run.query, minlength=len(self.run.queries)))

    @cached_property
    def retrieved(self) -> Ints:
        """How many rows each query of the run has."""
        return np.diff(self.offsets)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each place in ``order``, from 1."""
        starts: Ints = np.repeat(self.offsets[:-1], self.retrieved)
        return np.arange(1, len(self.run) + 1) - starts

    @cached_property
    def scores(self) -> Floats | None:
        """The scores in ``order``; None for ranked lists."""
        return None if self.run.number is None else self.run.number[self.order]

    @cached_property
    def equal(self) -> Bools:
        """Has each place in ``order`` the score of the one before, in the same query?"""
        same = np.zeros(len(self.run), bool)
        if self.scores is not None and len(same):
            same[1:] = (self.scores[1:] == self.scores[:-1]) & (self.rank[1:] > 1)
        return same

    @cached_property
    def constant(self) -> bool:
        """Has every query one score for all of its results?"""
        tied = np.count_nonzero(self.equal)
        return bool(0 < tied == len(self.run) - np.count_nonzero(self.retrieved))

    @cached_property
    def ranking(self) -> Ranking:
        """The judged items at their ranks, as measures see them."""
        judged = np.argsort(self.qrels.query, kind="stable")
        grades = self.grades[judged]
        ends = _ragged.offsets(np.bincount(self.qrels.query, minlength=len(self.qrels.queries)))
        hit = np.flatnonzero(~np.isnan(self.grade[self.order]))
        owner = self.query[self.run.query[self.order[hit]]]
        by_query = np.lexsort((self.rank[hit], owner))
        rank = self.rank[hit][by_query]
        retrieved = np.zeros(len(self.qrels.queries), np.int64)
        retrieved[self.query[self.query >= 0]] = self.retrieved[self.query >= 0]
        return Ranking(
            queries=list(self.qrels.queries), owner=owner[by_query], rank=rank,
            relevance=self.grade[self.order[hit]][by_query], retrieved=retrieved,
            ideal_offsets=ends, ideal=_ragged.sorted_descending(grades, ends),
            tied_from=rank, tied_to=rank,
        )  # fmt: skip


def side_by_side(
    qrels: Side, run: Side, measures: tuple[Measure, ...], rivals: tuple[Data, ...] = ()
) -> Data:
    """Both sides with ids of one kind."""
    if qrels.text or run.text:
        qrels, run = _as_text(qrels), _as_text(run)
    return Data(qrels, run, measures, rivals)


def _as_text(side: Side) -> Side:
    """Whole numbers as their digits."""
    if side.text:
        return side
    return replace(
        side,
        queries=_digits(side.queries),
        items=_digits(side.items),
        empty=tuple(_digits(side.empty)),
    )


def _digits(ids: Sequence[Hashable]) -> list[Hashable]:
    return [str(one) if type(one) is int else one for one in ids]


def _places(ids: Sequence[Hashable], others: Sequence[Hashable]) -> Ints:
    """The place of each id among others; -1 where it is not."""
    place = {other: at for at, other in enumerate(others)}
    return np.array([place.get(one, -1) for one in ids], np.int64)
