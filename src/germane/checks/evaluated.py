"""Evaluated: the checks of an evaluation, which knows all counts and hits, and the first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from germane import _ragged
from germane._ragged import Bools, Floats, Ints
from germane.checks import forms, grades, ids, orders, queries, scores
from germane.checks.data import Data
from germane.checks.seen import Sees
from germane.checks.side import DIGITS, Numbering, Side
from germane.checks.standing import Standing, standing_of
from germane.checks.table import TABLE
from germane.finding import Finding, by_severity
from germane.kernel.columns import Ids
from germane.kernel.ids import to_bytes, to_text
from germane.readers.numbers import EXACT, count_rounded, may_round
from germane.retrieval import Sample
from germane.spelling import fold_ids

if TYPE_CHECKING:
    from germane.averaging import MeasureResult
    from germane.judging import Judged
    from germane.measure import Measure
    from germane.policy import Policy
    from germane.ranking import Ranking
    from germane.retrieval import Qrels, Retrieved

LEAST, MOST, SHARE = 64, 2000, 64  # rows of a sample: one in 64 of the run, within limits
HEAD = 16  # rows of which one fall shows that the order is meant
SEVERAL = 10  # queries of which each may by chance have a single result, in an example by hand
GRADES = 2000  # that are looked at
NEARLY = 0.9  # of the results have one score
DECISIVE = 0.5  # of a value, beyond which the order of ties makes it
OF_ROWS = ("trec", "ascending", "given")  # orders that are not chosen for the sake of ties
WIDE = 2  # times its first rank is the last of a group of equal scores that decides much


def check_evaluation(
    judged: Judged,
    ranking: Ranking,
    values: Mapping[Measure, MeasureResult],
    sample: Callable[[int], Sample] | None,
) -> tuple[Finding, ...]:
    """Find the problems that distort the numbers of an evaluation, under its policy.

    Rows are looked at only where what judging knows does not already rule a problem out.
    """
    got, policy = judged.retrieved, judged.policy
    data = Evaluated(judged.qrels, got, policy, sample, values, ranking)
    if swapped := _find_swapped(data):
        return swapped  # everything else follows from that
    earlier = {one.what: one for one in got.findings}
    if earlier.keys() & set(forms.SWAPPED):
        return tuple(one for one in got.findings if one.what in forms.SWAPPED)
    found = [*_check_rows(data), *(one for one in got.findings if _is_left(data, one))]
    data.known_orders = {one.what for one in found} & set(orders.ORDERS)
    counted = {one.what: one for one in _check_counts(data)}
    for one in found:  # of batches, whose rows may say why
        if one.what in counted:
            counted[one.what] = replace(counted[one.what], advice=one.advice)
    rest = (one for one in found if one.says and one.what not in counted)
    return by_severity([*rest, *counted.values()])


def check_batch(qrels: Qrels, got: Retrieved, policy: Policy) -> tuple[Finding, ...]:
    """Find the problems of a batch's rows. Relevance is asked once all batches are known."""
    data = Evaluated(qrels, got, policy, got.sample)
    found = _find_swapped(data) or tuple(_check_rows(data))
    why = "" if found or len(data.hits) or not data.results else ids.explain_mismatch(data)
    if why in ("", ids.SAME):
        return found
    row = _ROWS[ids.nothing_found]
    return (Finding(row.severity, row.name, "", 0, (), why),)  # its count is that of all batches


def refuse_swapped(qrels: Qrels, got: Retrieved, policy: Policy) -> None:
    """Refuse dicts in each other's place. Raises InputError where that is certain."""
    data = Evaluated(qrels, got, policy, got.sample)
    if data.may_be_scores:
        forms.refuse_swapped(data.graded, data.run, data.given)


def _find_swapped(data: Evaluated) -> tuple[Finding, ...]:
    if not data.may_be_scores:
        return ()
    return tuple(_find(data, forms.swapped, forms.qrels_like_run))[:1]


def _check_counts(data: Evaluated) -> Iterator[Finding]:
    policy = data.policy
    asked = [ids.nothing_found, queries.without_judgments]
    if policy.missing == "zero":
        asked.append(queries.missing)
    if policy.unknown == "ignore":
        asked.append(queries.unknown)
    if policy.no_relevant == "zero":
        asked += [grades.nothing_relevant, queries.without_relevant]
    if len(data.queries) >= SEVERAL and policy.depth != 1:
        asked.append(queries.one_result)
    asked += [scores.constant, scores.tied, orders.standing_last]
    yield from _find(data, *asked)


def _check_rows(data: Evaluated) -> Iterator[Finding]:
    if data.may_be_misspelled:
        yield from _find(data, ids.alike)
    asked: list[Callable[[Data], Sees]] = []
    if data.may_rise:
        asked += orders.ORDERS.values()
    if data.may_have_own:
        asked.append(ids.own_first)
    if data.may_be_rounded:
        asked.append(scores.imprecise)
    if asked:
        yield from _find(data.take_more(), *asked)


def _find(data: Data, *checks: Callable[[Data], Sees]) -> Iterator[Finding]:
    for sees in checks:
        for seen in sees(data):
            row = _ROWS[sees]
            advice = seen.advice or row.remedy
            yield Finding(row.severity, row.name, seen.says, seen.count, seen.examples, advice)


_ROWS = {row.sees: row for row in TABLE}


def _is_left(data: Evaluated, finding: Finding) -> bool:
    """Is a finding about a batch one about all batches, too?"""
    return finding.what not in orders.ASCENDING or not orders.is_meant(data, finding.count)


class Evaluated(Data):
    """Judgments and what was retrieved of them.

    ``run`` has the rows of a sample, and ``qrels`` the relevant items of its queries that were not found.
    """

    is_whole = False

    def __init__(
        self,
        qrels: Qrels,
        got: Retrieved,
        policy: Policy,
        sampler: Callable[[int], Sample] | None,
        values: Mapping[Measure, MeasureResult] | None = None,
        ranking: Ranking | None = None,
    ) -> None:
        self._qrels, self._got, self._sampler, self._ranking = qrels, got, sampler, ranking
        self.policy, self.values = policy, values or {}
        self.measures = tuple(self.values)
        self.ties = "given" if policy.ties == "given" else "id"

    # --- Counts and hits -----------------------------------------------------------------------

    @cached_property
    def queries(self) -> Sequence[Hashable]:
        return self._qrels.queries

    @cached_property
    def empty(self) -> Sequence[Hashable]:
        return self._qrels.unjudged

    @cached_property
    def grades(self) -> Floats:
        return self._qrels.grades

    @cached_property
    def relevant(self) -> Ints:
        if self._ranking is None:
            return self._qrels.relevant
        total = self._ranking.total(1.0)
        unknown = len(self._got.unknown) if self.policy.unknown == "zero" else 0
        return total[: len(total) - unknown]  # the queries that nobody judged stand last

    @cached_property
    def without_relevant(self) -> list[Hashable]:
        queries = self.queries if self._ranking is None else self._ranking.queries
        return [queries[q] for q in np.flatnonzero(self.relevant == 0).tolist()]

    @cached_property
    def answered(self) -> Bools:
        return self._got.answered

    @cached_property
    def unknown(self) -> list[Hashable]:
        return self._got.unknown

    @cached_property
    def depths(self) -> Ints:
        return self._got.retrieved[self._got.answered]

    @cached_property
    def results(self) -> int:
        return int(self._got.retrieved.sum())

    @cached_property
    def hits(self) -> Floats:
        return self.grades[self._got.judgment]

    @cached_property
    def standing(self) -> Standing | None:
        if self._ranking is None:  # of a batch
            return None
        return standing_of(self._qrels, self._got)

    @cached_property
    def constant(self) -> bool:
        got = self._got
        if not got.is_tied or not len(got.judgment):
            return False
        first = (got.tied_from == 1).all() and (got.tied_to > 1).all()
        return bool(first and (got.tied_to == got.retrieved[got.owner]).all())

    @cached_property
    def nearly_constant(self) -> tuple[int, int]:  # type: ignore[override]
        """How many results share one score, of how many, in the queries of hits; 0 unless nearly all do."""
        got = self._got
        if not got.is_tied or not len(got.judgment):
            return 0, 0
        tied = got.tied_to > got.tied_from
        if np.count_nonzero(tied) < NEARLY * len(tied):
            return 0, 0
        starts = np.flatnonzero(
            np.diff(got.owner, prepend=-1)
        )  # the hits of a query stand together
        widest = np.maximum.reduceat(np.where(tied, got.tied_to - got.tied_from + 1, 0), starts)
        count, results = int(widest.sum()), int(got.retrieved[got.owner[starts]].sum())
        return (count, results) if count >= NEARLY * results else (0, 0)

    @cached_property
    def decided(self) -> MeasureResult | None:  # type: ignore[override]
        """The measure that the order of equal scores moves most, where that makes its value."""
        if self.policy.ties not in OF_ROWS or not self.nearly_constant[0]:
            return None
        moved = [one for one in self.values.values() if one.band > DECISIVE * abs(one.mean)]
        return max(moved, key=lambda one: one.band, default=None)

    @cached_property
    def tied_widely(self) -> int:  # type: ignore[override]
        got = self._got
        if not got.is_tied or self.ties != "given":
            return 0
        wide = int(np.count_nonzero(got.tied_to >= WIDE * got.tied_from))
        return wide if wide >= len(got.judgment) / 2 else 0

    # --- Is a problem possible? ----------------------------------------------------------------

    @cached_property
    def may_be_scores(self) -> bool:
        """Is a grade, looked at before all others, none of a scale?"""
        some = self.grades[: GRADES : min(GRADES, len(self.grades)) // 8 + 1].tolist()
        return any(grade % 1 or not 0 <= grade <= forms.SCALE for grade in some)

    @cached_property
    def may_be_misspelled(self) -> bool:
        """Has a relevant item that was not found the folded form of a result?"""
        if not len(self.hits) or self._sampler is None or self.sample.ids == "places":
            return False
        if getattr(self._qrels.items, "kind", "") == "integer" and self.sample.ids != "text":
            return False
        if np.count_nonzero(self.hits > 0) == np.count_nonzero(self.grades > 0):
            return False
        lost = self._lost[1]
        known = set(lost)
        others = [item for item in self.sample.items if item not in known]
        return not set(fold_ids(lost)).isdisjoint(fold_ids(others))

    @cached_property
    def may_rise(self) -> bool:
        """Does no score fall, or not where its rank rises, among the first rows?"""
        sample = self.sample
        if len(sample) < 2 or (sample.score is None and sample.rank is None):
            return False
        first = int(sample.offsets[1])
        if first == 1 and len(set(sample.queries)) == len(sample):
            return False
        count = min(len(sample), first if first > 2 else HEAD)
        owner = sample.owner[:count]
        falls = owner[1:] == owner[:-1]
        if sample.score is not None:
            falls &= sample.score[1:count] < sample.score[: count - 1]
        if falls.any() and sample.rank is not None:
            rank = sample.rank(count)
            falls &= (rank[1:] > rank[:-1]) | (rank == rank[0]).all()
        return not falls.any()

    @cached_property
    def may_have_own(self) -> bool:
        """Is one of the queries among the items?"""
        if self.policy.own != "keep" or self._sampler is None:
            return False
        return not set(self.sample.queries).isdisjoint(self.sample.items)

    @cached_property
    def may_be_rounded(self) -> bool:
        score, given = self.sample.score, self.sample.given
        if score is None or given is None or not len(score):
            return self.sample.rounded > 0
        return (
            self.sample.rounded > 0 or bool(np.abs(score).max() >= EXACT) or may_round(given(1)[0])
        )

    # --- Rows ----------------------------------------------------------------------------------

    @cached_property
    def sample(self) -> Sample:
        most = max(LEAST, min(MOST, self.results // SHARE))
        return _NOTHING if self._sampler is None else self._sampler(most)

    def take_more(self) -> Evaluated:
        """The same with a larger sample, for what deserves a second look."""
        wide = Evaluated(
            self._qrels, self._got, self.policy, self._sampler, self.values, self._ranking
        )
        if self._sampler is not None:
            wide.__dict__["sample"] = self._sampler(MOST)
            wide.__dict__["may_rise"] = self.may_rise
        return wide

    @cached_property
    def graded(self) -> tuple[Ints, Floats]:
        grades = self.grades[:GRADES]
        return np.searchsorted(self._qrels.offsets, np.arange(len(grades)), "right"), grades

    @cached_property
    def given(self) -> Sequence[Any]:
        """The scores as they were given."""
        return () if self.sample.given is None else self.sample.given(len(self.sample))

    @cached_property
    def rounded(self) -> int:
        sample, exact = self.sample, [_read_exactly(one) for one in self.given]
        if sample.rounded or sample.score is None:
            return sample.rounded
        ends = pairwise(sample.offsets.tolist())
        return sum(count_rounded(exact[i:j], sample.score[i:j]) for i, j in ends)

    @cached_property
    def run(self) -> Side:  # type: ignore[override]
        sample, queries, items = self.sample, Numbering(), Numbering()
        query = queries.number(sample.queries)[sample.owner]
        rank = sample.rank(len(sample)) if sample.rank is not None and self.may_rise else None
        item = items.number(sample.items)
        return Side(
            "run", "the run", queries.ids, items.ids, query, item, sample.score, rank,
            places=sample.ids == "places",
        )  # fmt: skip

    @cached_property
    def qrels(self) -> Side:  # type: ignore[override]
        judgment, lost = self._lost
        items = Numbering()
        place = np.searchsorted(self._qrels.offsets, judgment, "right") - 1
        places, query = np.unique(place, return_inverse=True)
        queries = [*self._spell([self.queries[q] for q in places.tolist()])]
        item = items.number(lost)
        return Side("qrels", "the qrels", queries, items.ids, query, item, self.grades[judgment])

    @cached_property
    def _lost(self) -> tuple[Ints, list[Hashable]]:
        """Relevant items of the sampled queries that were not found: their judgments and ids."""
        qrels = self._qrels
        at = {self._position.get(query, -1) for query in self.sample.queries}
        place = np.array(sorted(at - {-1}), np.int64)
        starts = qrels.offsets[place]
        judgment = _ragged.between(starts, qrels.offsets[place + 1] - starts)
        relevant = qrels.grades > 0
        relevant[self._got.judgment] = False
        lost = judgment[relevant[judgment]]
        most = max(LEAST, len(self.sample))
        if len(lost) > most:
            lost = lost[np.linspace(0, len(lost) - 1, most).astype(np.int64)]
        items = qrels.items
        some = items.take(lost) if isinstance(items, Ids) else [items[j] for j in lost.tolist()]
        return lost, [*self._spell(some)]

    def grades_of(self, rows: Ints) -> Floats:
        return np.array([self._grade(row) for row in rows.tolist()], float)

    def _grade(self, row: int) -> float:
        q = self._position.get(self.run.queries[self.run.query[row]])
        if q is None:
            return math.nan
        start, stop = self._qrels.offsets[q : q + 2].tolist()
        wanted = self.run.items[self.run.item[row]]
        mine = zip(self._spell(self._qrels.items[start:stop]), range(start, stop), strict=True)
        return next((float(self.grades[j]) for item, j in mine if item == wanted), math.nan)

    @cached_property
    def _position(self) -> Mapping[Hashable, int]:
        """The place of each judged query, spelled as the run's are."""
        if self.sample.ids != "text" or set(map(type, self.queries)) <= {str}:
            return self._qrels.position
        return {query: q for q, query in enumerate(self._spell(self.queries))}

    def _spell(self, given: Iterable[Hashable]) -> Iterable[Hashable]:
        """Ids as a file of text has them, where the run is one."""
        if self.sample.ids != "text":
            return given
        return (one if isinstance(one, str) else to_text(to_bytes(one)) for one in given)


_NOTHING = Sample([], np.zeros(1, np.int64), [])


def _read_exactly(score: Any) -> Any:
    """A score whose text stands for a whole number as that number, and others as they are."""
    if not isinstance(score, bytes):
        return score
    whole = score.lstrip(b"+-").isdigit() and len(score) < DIGITS
    return int(score) if whole else float(score)
