"""Data: qrels and a run side by side, with values that several checks need, computed once.

One of these is the standing of relevant results: how often they stand above the others of their
query.
"""

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from germane.checks.faulty_rows import Side, find_places
from germane.core import ragged
from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.core.ties import Ties
from germane.kernel.ids import Text
from germane.measures.averaging import MeasureResult
from germane.measures.measure import Measure

if TYPE_CHECKING:  # few evaluations have texts
    from germane.checks.unmatched import Corpus, EqualTexts

CERTAIN = 5.0  # standard errors that exclude chance
LIKELY = 2.0  # standard errors that make chance unlikely
RARE = 1e-3  # a probability that excludes chance if all relevant results stand last
WORSE = 0.4  # share of the pairs that is far from the half that chance gives
ENOUGH = 1 << 16  # results that are enough to measure their standing


@dataclass(frozen=True, eq=False)
class Standing:
    """How often a relevant result stands above another result of its query.

    Every query has ``count`` relevant results among ``retrieved`` ones.
    """

    above: float  # share of all such pairs
    pairs: int
    count: Ints
    retrieved: Ints

    @cached_property
    def error(self) -> float:
        """The standard error of the share where chance orders the results."""
        pairs = self.count * (self.retrieved - self.count)
        return math.sqrt(float((pairs * (self.retrieved + 1.0)).sum()) / 12) / self.pairs

    @property
    def is_good(self) -> bool:
        """Do relevant results stand higher than chance would put them?"""
        return self.above > 0.5 + LIKELY * self.error

    @property
    def is_worse_than_chance(self) -> bool:
        if self.above >= 0.5:
            return False
        if self.above < min(WORSE, 0.5 - CERTAIN * self.error):
            return True
        return not self.above and _compute_chance_of_last(self.count, self.retrieved) <= RARE

    def describe(self, rank: str) -> str:
        """Describe the ranks of relevant results: ``rank`` is "lower" or "no higher"."""
        return (
            f"relevant results are ranked {rank} than in a random order: they are above another"
            f" result of their query in {self.above:.0%} of all pairs (random: 50%)"
        )


def measure_standing(owner: Ints, rank: Any, retrieved: Ints) -> Standing | None:
    """Measure the standing of relevant results by their ranks; None if there are no other results.

    It is the statistic of Mann and Whitney, added up over the queries.
    """
    count, total, below = _count_below(owner, rank, retrieved)
    return None if total <= 0 else Standing(1 - below / total, total, count, retrieved)


def _count_below(owner: Ints, rank: Any, retrieved: Ints) -> tuple[Ints, int, float]:
    """Count the relevant results of each query, all pairs, and the pairs in the wrong order."""
    count = np.bincount(owner, minlength=len(retrieved))
    total = int(count.dot(retrieved - count))
    return count, total, float(rank.sum()) - int(count.dot(count + 1)) / 2


def _compute_chance_of_last(relevant: Ints, retrieved: Ints) -> float:
    """Compute the probability that random orders put all relevant results last."""
    log = 0.0
    for count, total in zip(relevant.tolist(), retrieved.tolist(), strict=True):
        if 0 < count < total:
            log += math.lgamma(count + 1) + math.lgamma(total - count + 1) - math.lgamma(total + 1)
    return math.exp(log)


def measure_retrieved(qrels: Qrels, retrieved: Retrieved) -> Standing | None:
    """Measure the standing of retrieved items, or of enough queries; ties stand in the middle."""
    return measure_standing(*_select_relevant(qrels, retrieved), retrieved.retrieved)


def stand_low(qrels: Qrels, retrieved: Retrieved) -> bool:
    """Do relevant results stand so low that chance may be excluded?"""
    good = _select_relevant(qrels, retrieved)
    _, total, below = _count_below(*good, retrieved.retrieved)
    return total > 0 and 1 - below / total < WORSE


def _select_relevant(qrels: Qrels, retrieved: Retrieved) -> tuple[Ints, Floats]:
    """Select the relevant results, of enough queries. Returns their queries and ranks."""
    end, owner = len(retrieved.owner), retrieved.owner
    if end > ENOUGH:  # then up to the end of a query, whose hits stand together
        ends = np.flatnonzero(owner[ENOUGH:] != owner[ENOUGH - 1 : -1])
        end = ENOUGH + int(ends[0]) if len(ends) else end
    good = (qrels.grades[retrieved.judgment[:end]] > 0).nonzero()[0]
    rank: Floats = retrieved.rank[good]
    if retrieved.is_tied:
        rank = (retrieved.tied_from[good] + retrieved.tied_to[good]) / 2
    return retrieved.owner[good], rank


class Neighbors(NamedTuple):
    """Rows next to each other by rank, of which the second has the higher score."""

    before: Ints
    after: Ints
    falling: int  # how many neighbors there are of which the second has the lower score


class Data:
    """Qrels and a run. If the ids of one side are text, the other's whole numbers are digits.

    ``qrels`` and ``run`` are rows: all of them, or a sample. The other attributes are about all
    data.
    """

    qrels: Side
    run: Side
    queries: Sequence[Hashable]  # the judged ones
    empty: Sequence[Hashable]  # queries of the qrels without a judgment
    grades: Floats  # of each judgment
    rounded: int  # scores that became equal to another as doubles
    is_whole = True  # are the rows all rows?
    first = ""  # "the first " where only the first rows are checked
    ties: Ties = "trec"  # the order of equal scores
    train: Side | None = None  # judgments that the system learned from
    corpus: "Corpus | None" = None  # texts of items and queries
    candidates: Qrels | None = None  # the judgments with exclude, only and ignore
    has_distances = False  # the scores, of which the lowest is the best, have been negated
    refusal = ""  # the error of evaluate, where no check explains it
    is_selected = False  # did exclude, only or ignore take results out?
    emptied: Mapping[str, Sequence[Hashable]] = {}  # options, and the queries that they empty
    unreachable: Mapping[str, int] = {}  # exclude or only, and the relevant items that they take
    unmatched: Mapping[str, str] = {}  # exclude or ignore, and why no item of theirs is known
    has_places = False  # are ranks the places in a longer list?
    known_orders: Collection[str] | None = None  # the findings about the order of the results
    tied_widely = 0  # hits whose rank could be twice as high
    decided: MeasureResult | None = None  # a value that the order of equal scores decides
    uncounted: Sequence[Measure] = ()  # measures whose mean has no query left
    nearly_constant = 0, 0  # how many results of how many have one score then

    def __init__(
        self,
        qrels: Side,
        run: Side,
        measures: Collection[Measure],
        rivals: tuple["Data", ...] = (),  # the runs that were looked at before
    ) -> None:
        self.qrels, self.run, self.measures, self.rivals = qrels, run, measures, rivals
        self.queries, self.empty, self.grades = qrels.queries, qrels.empty, qrels.grades
        self.rounded = run.rounded
        self.cutoffs = sorted({measure.k for measure in measures if measure.k is not None})

    @property
    def single_subtopics(self) -> int:
        """Judgments by a column that may not be of subtopics, if no item has two."""
        return self.qrels.single_subtopics

    @cached_property
    def equal_texts(self) -> "EqualTexts | None":
        """Items that have the text of a query or of another item, if texts are given."""
        if self.corpus is None:
            return None
        return self.corpus.find_equal(self.qrels.queries, self.qrels.items, self.run.items)

    # --- Everything that is judged and retrieved -----------------------------------------------

    @cached_property
    def relevant(self) -> Ints:
        """How many relevant items each judged query has."""
        return self.count_relevant(1.0)

    def count_relevant(self, rel: float) -> Ints:
        """Count the items of each judged query from a grade on."""
        return np.bincount(self.qrels.query[self.grades >= rel], minlength=len(self.queries))

    @cached_property
    def without_relevant(self) -> list[Hashable]:
        """The judged queries without a relevant item."""
        return [self.queries[q] for q in np.flatnonzero(self.relevant == 0).tolist()]

    @cached_property
    def missing(self) -> list[Hashable]:
        """The judged queries that the run does not have."""
        return [self.queries[q] for q in np.flatnonzero(~self.answered).tolist()]

    @cached_property
    def unknown(self) -> list[Hashable]:
        """The queries of the run that nobody judged."""
        judged = {*self.queries, *self.empty}
        return [query for query in (*self.run.queries, *self.run.empty) if query not in judged]

    @cached_property
    def depths(self) -> Ints:
        """How many results each query of the run has that has some."""
        return self.retrieved[self.retrieved > 0]

    @cached_property
    def results(self) -> int:
        """How many results the judged queries have."""
        return int(np.count_nonzero(self.query[self.run.query] >= 0))

    @cached_property
    def hits(self) -> Floats:
        """The grades of the judged items that were retrieved."""
        return self.grade[~np.isnan(self.grade)]

    @cached_property
    def constant(self) -> bool:
        """Does every query have one score for all of its results?"""
        tied = np.count_nonzero(self.equal)
        return bool(0 < tied == len(self.run) - np.count_nonzero(self.retrieved))

    @cached_property
    def standing(self) -> Standing | None:
        """The standing of relevant results among the others of their query."""
        ranking, relevant = self.ranking, self.ranking.relevance > 0
        return measure_standing(ranking.owner[relevant], ranking.rank[relevant], ranking.retrieved)

    @cached_property
    def graded(self) -> tuple[Ints, Floats] | None:
        """The query and the grade of each judgment; None where they have no grades."""
        return None if self.qrels.number is None else (self.qrels.query, self.qrels.number)

    # --- Queries

    @cached_property
    def query(self) -> Ints:
        """The place in the qrels of each query of the run; -1 where nobody judged it."""
        return find_places(self.run.queries, self.qrels.queries)

    @cached_property
    def answered(self) -> Bools:
        """Does the run have each judged query?"""
        answered = np.zeros(len(self.qrels.queries), bool)
        answered[self.query[self.query >= 0]] = True
        empty = set(self.run.empty)
        if empty:
            answered |= np.array([query in empty for query in self.qrels.queries])
        return answered

    # --- Items

    def find_judgments(self, query: Ints, item: Ints) -> Ints:
        """Find the rows of the qrels that judge these items for these queries; or -1."""
        keys, rows = self._judged
        judgments = np.full(len(query), -1)
        if len(keys):
            wanted = query * (len(self.qrels.items) + 1) + item
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            same = (keys[place] == wanted) & (item >= 0) & (query >= 0)
            judgments[same] = rows[place[same]]
        return judgments

    @cached_property
    def _judged(self) -> tuple[Ints, Ints]:
        """The judged pairs as ascending numbers, and their rows."""
        pairs = self.qrels.query * (len(self.qrels.items) + 1) + self.qrels.item
        rows = np.argsort(pairs, kind="stable")
        return pairs[rows], rows

    @cached_property
    def found(self) -> Ints:
        """The row of the qrels that judges each row of the run; -1 where nobody judged it."""
        item = find_places(self.run.items, self.qrels.items)[self.run.item]
        return self.find_judgments(self.query[self.run.query], item)

    @cached_property
    def grade(self) -> Floats:
        """The grade of each row of the run; NaN where nobody judged it."""
        grade = np.append(self.qrels.grades, np.nan)
        return grade[self.found]

    def look_up_grades(self, rows: Ints) -> Floats:
        """Look up the grades of some rows of the run; NaN where nobody judged them."""
        return self.grade[rows]

    # --- Ranks

    @cached_property
    def order(self) -> Ints:
        """The rows of the run, query by query, from the highest score to the lowest."""
        run = self.run
        if run.number is not None:
            return self._order_by(-run.number)
        return self.as_given if run.rank is None else self._order_by(run.rank)

    def _order_by(self, key: Floats) -> Ints:
        """List the rows of the run, query by query, in the ascending order of a number."""
        query = self.run.query
        falls = (query[1:] == query[:-1]) & (key[1:] < key[:-1])
        if falls.any() or (query[1:] < query[:-1]).any():
            return np.lexsort((key, query))
        return np.arange(len(query))  # most runs are written so

    @cached_property
    def offsets(self) -> Ints:
        """Where the rows of each query of the run begin in ``order``, and where they end."""
        return ragged.make_offsets(np.bincount(self.run.query, minlength=len(self.run.queries)))

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
    def gaps(self) -> int:
        """The queries whose ranks, without scores, go beyond their number of results."""
        run = self.run
        if run.rank is None or run.number is not None or self.has_places or not len(run):
            return 0
        lasts = np.zeros(len(run.queries))
        np.maximum.at(lasts, run.query, np.nan_to_num(run.rank))
        return int(np.count_nonzero(lasts > self.retrieved))

    @cached_property
    def ranks(self) -> Floats:
        """The different numbers of the rank column; none without such a column."""
        return np.zeros(0) if self.run.rank is None else np.unique(self.run.rank)

    @cached_property
    def neighbors(self) -> Neighbors:
        """The results next to each other by their ranks, for runs with ranks and scores."""
        run, none = self.run, np.zeros(0, np.int64)
        if run.rank is None or run.number is None:
            return Neighbors(none, none, 0)
        order = self._order_by(run.rank)
        query, rank, score = run.query[order], run.rank[order], run.number[order]
        beside = (query[1:] == query[:-1]) & (rank[1:] > rank[:-1])
        rising = np.flatnonzero(beside & (score[1:] > score[:-1]))
        falling = int(np.count_nonzero(beside & (score[1:] < score[:-1])))
        return Neighbors(order[rising], order[rising + 1], falling)

    @cached_property
    def as_given(self) -> Ints:
        """The rows of the run, query by query, in the order in which they were given."""
        return self._order_by(np.zeros(len(self.run)))

    @cached_property
    def counts_up(self) -> bool:
        """Are the scores 1, 2, 3, … or 0, 1, 2, … in the order given, for every query?"""
        if self.run.number is None or not len(self.run):
            return False
        score, order = self.run.number, self.as_given
        place = np.empty(len(order))
        place[order] = self.rank - 1
        first = score - place
        return bool(((first == first[0]) & ((first == 0) | (first == 1))).all())

    @cached_property
    def scores(self) -> Floats | None:
        """The scores in ``order``; None for ranked lists."""
        return None if self.run.number is None else self.run.number[self.order]

    @cached_property
    def equal(self) -> Bools:
        """For each place in ``order``: has the place before it the same query and score?"""
        same = np.zeros(len(self.run), bool)
        if self.scores is not None and len(same):
            same[1:] = (self.scores[1:] == self.scores[:-1]) & (self.rank[1:] > 1)
        return same

    @cached_property
    def ranking(self) -> Ranking:
        """The judged items at their ranks, as measures see them."""
        judged = np.argsort(self.qrels.query, kind="stable")
        grades = self.qrels.grades[judged]
        ends = ragged.make_offsets(np.bincount(self.qrels.query, minlength=len(self.qrels.queries)))
        hit = np.flatnonzero(~np.isnan(self.grade[self.order]))
        owner = self.query[self.run.query[self.order[hit]]]
        by_query = np.lexsort((self.rank[hit], owner))
        rank = self.rank[hit][by_query]
        retrieved = np.zeros(len(self.qrels.queries), np.int64)
        retrieved[self.query[self.query >= 0]] = self.retrieved[self.query >= 0]
        return Ranking(
            queries=list(self.qrels.queries), owner=owner[by_query], rank=rank,
            relevance=self.grade[self.order[hit]][by_query], retrieved=retrieved,
            ideal_offsets=ends, ideal=ragged.sort_descending(grades, ends),
            tied_from=rank, tied_to=rank,
        )  # fmt: skip


def put_side_by_side(
    qrels: Side,
    run: Side,
    measures: Collection[Measure],
    rivals: tuple[Data, ...] = (),
    train: Side | None = None,
) -> Data:
    """Put both sides together, with ids of one kind. The system learned from ``train``."""
    if qrels.text or run.text or (train is not None and train.text):
        qrels, run = _as_text(qrels), _as_text(run)
        train = None if train is None else _as_text(train)
    data = Data(qrels, run, measures, rivals)
    data.train = train
    return data


def _as_text(side: Side) -> Side:
    """Turn ids that are whole numbers into their digits; a file of text may have groups of
    these.
    """
    queries, items, empty = (
        ids
        if isinstance(ids, Text)
        else [str(identifier) if type(identifier) is int else identifier for identifier in ids]
        for ids in (side.queries, side.items, side.empty)
    )
    return replace(side, queries=queries, items=items, empty=tuple(empty))
