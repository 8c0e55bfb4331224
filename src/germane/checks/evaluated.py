"""Checks of an evaluation, which knows all counts and hits, and the first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.checks import lists, removals, unmatched, values
from germane.checks.data import Data, Standing, measure_retrieved, stand_low
from germane.checks.faulty_rows import Numbering, Sees, Side
from germane.checks.table import TABLE
from germane.checks.values import SWAPPED
from germane.core import ragged
from germane.core.finding import Finding, sort_by_severity
from germane.core.id_spelling import fold_ids
from germane.core.qrels import Sample
from germane.core.ragged import Floats, Ints
from germane.core.ties import ROW_ORDERS
from germane.kernel.ids import Ids, is_padding, to_bytes, to_text
from germane.measures.definition import CatalogueDefinition
from germane.readers.objects.numbers import DIGITS, EXACT, count_rounded

if TYPE_CHECKING:
    from germane.core.policy import Policy
    from germane.core.qrels import Qrels, Retrieved
    from germane.core.ranking import Ranking
    from germane.evaluation.judging import JudgedRun
    from germane.measures.averaging import MeasureResult
    from germane.measures.measure import Measure

LEAST, MOST, SHARE = 32, 2000, 128  # rows of a sample: one in 128 of the run, within limits
TOO_FEW = 12  # up to so many results, relevant ones may stand last by chance: in one of 924 orders
HEAD = 16  # rows in which a single falling score shows that the order is right
SEVERAL = 10  # with fewer queries, a single result for each may be an example written by hand
GRADES = 2000  # grades that are looked at
NEARLY = 0.9  # the share of results with one score from which on scores are nearly constant
DECISIVE = 0.5  # the share of a value beyond which the order of ties decides it
WIDE = 2  # a group of equal scores is wide if its last rank is so many times its first


def check_evaluation(
    judged: JudgedRun,
    ranking: Ranking,
    values: Mapping[Measure, MeasureResult],
    sample: Callable[[int], Sample] | None,
) -> tuple[Finding, ...]:
    """Find the problems of an evaluation. Rows are looked at where its counts allow a problem."""
    retrieved, policy = judged.retrieved, judged.policy
    data = EvaluatedData(judged.qrels, retrieved, policy, sample, values, ranking)
    swapped = _find_swapped(data) or [
        finding for finding in retrieved.findings if finding.what in SWAPPED
    ]
    if swapped:
        return tuple(swapped)  # all other findings follow from that
    findings = [
        *_check_rows(data),
        *(finding for finding in retrieved.findings if _holds_for_all(data, finding)),
    ]
    data.known_orders = {finding.what for finding in findings} & lists.ORDERS.keys()
    counted = (
        {} if data.needs_no_judgments else {count.what: count for count in _check_counts(data)}
    )
    if not findings and not counted:
        return ()
    for finding in findings:  # the rows of batches may explain what a count shows
        if finding.what in counted:
            counted[finding.what] = replace(counted[finding.what], advice=finding.advice)
    rest = (finding for finding in findings if finding.says and finding.what not in counted)
    return sort_by_severity([*rest, *counted.values()])


def check_batch(qrels: Qrels, retrieved: Retrieved, policy: Policy) -> tuple[Finding, ...]:
    """Find the problems of a batch's rows. Relevance is considered once all batches are known."""
    data = EvaluatedData(qrels, retrieved, policy, retrieved.sample)
    findings = _find_swapped(data) or tuple(_check_rows(data))
    why = "" if findings or len(data.hits) or not data.results else unmatched.explain_mismatch(data)
    if why in ("", unmatched.SAME, unmatched.NUMBERED):
        return findings
    row = _ROWS[unmatched.find_nothing_found]
    return (Finding(row.severity, row.name, "", 0, (), why),)  # the count comes with all batches


def refuse_swapped(qrels: Qrels, retrieved: Retrieved, policy: Policy) -> None:
    """Raise InputError for dicts of qrels and run that are certainly swapped."""
    if _may_be_scores(qrels.grades):
        data = EvaluatedData(qrels, retrieved, policy, retrieved.sample)
        values.refuse_swapped(data.graded, data.run, data.given)


def _find_swapped(data: EvaluatedData) -> tuple[Finding, ...]:
    if not _may_be_scores(data.grades):
        return ()
    return tuple(_find(data, values.find_swapped, values.find_qrels_like_run))[:1]


def _may_be_scores(grades: Floats) -> bool:
    """Does a small sample of the grades have one that is beyond every scale?"""
    looked_at = grades[: GRADES : min(GRADES, len(grades)) // 8 + 1].tolist()
    return any(grade % 1 or not 0 <= grade <= values.SCALE for grade in looked_at)


def _check_counts(data: EvaluatedData) -> Iterator[Finding]:
    """Run the checks that need no rows and that the counts do not rule out."""
    policy, retrieval = data.policy, data.retrieval
    checks: list[Callable[[Data], Sees]] = []
    if not len(retrieval.judgment):
        checks.append(unmatched.find_nothing_found)
    if (retrieval.emptied is not None or policy.unjudged == "remove") and data.emptied:
        checks.append(removals.find_emptied)
    if data.has_candidates and data.unreachable:
        checks.append(removals.find_unreachable)
    if data.has_candidates and data.unmatched:
        checks.append(removals.find_unmatched)
    if retrieval.gaps is not None and data.gaps:
        checks.append(lists.find_gaps)
    if data.empty:
        checks.append(lists.find_without_judgments)
    if data.single_subtopics:
        checks.append(values.find_single_subtopics)
    if policy.missing == "zero" and retrieval.answers < len(data.queries):
        checks.append(lists.find_missing)
    if policy.unknown == "ignore" and retrieval.unknown:
        checks.append(lists.find_unknown)
    if policy.no_relevant == "zero" and data.may_lack_relevant:
        checks += [values.find_nothing_relevant, lists.find_without_relevant]
    elif data.uncounted:
        checks.append(values.find_nothing_relevant)
    is_of_all = policy.no_relevant != "one" and policy.duplicates != "recount"
    if is_of_all and data.has_recall:
        checks.append(values.find_low_ceilings)
    if len(data.queries) >= SEVERAL and policy.depth != 1 and data.results == retrieval.answers:
        checks.append(lists.find_one_result)
    if retrieval.is_tied:
        checks += [values.find_constant, values.find_tied]
    if data.results > TOO_FEW and policy.ranks == "order" and data.may_stand_last:
        checks.append(lists.find_standing_last)
    yield from _find(data, *checks)


def _check_rows(data: EvaluatedData) -> Iterator[Finding]:
    """Run the checks of the rows that a look at the sample does not rule out."""
    checks: list[Callable[[Data], Sees]] = []
    if data.may_be_misspelled:
        checks.append(unmatched.find_alike)
    if data.may_rise:
        checks += lists.ORDERS.values()
    if data.may_have_padding:
        checks.append(unmatched.find_padding)
    if data.may_have_own:
        checks.append(unmatched.find_own_first)
    if data.may_be_rounded:
        checks.append(values.find_imprecise)
    if checks:
        yield from _find(data.take_more(), *checks)


def _find(data: Data, *checks: Callable[[Data], Sees]) -> Iterator[Finding]:
    for function in checks:
        yield from _ROWS[function].find(data)


_ROWS = {row.find_problems: row for row in TABLE}


def _holds_for_all(data: EvaluatedData, finding: Finding) -> bool:
    """Does a finding about a batch hold for all batches together?"""
    return finding.what not in lists.ASCENDING or not lists.is_meant(data, finding.count)


class EvaluatedData(Data):
    """Judgments and what was retrieved of them.

    ``run`` has the rows of a sample, and ``qrels`` the relevant items of its queries that were not
    found.
    """

    is_whole = False
    first = "the first "

    def __init__(
        self,
        qrels: Qrels,
        retrieved: Retrieved,
        policy: Policy,
        sampler: Callable[[int], Sample] | None,
        values: Mapping[Measure, MeasureResult] | None = None,
        ranking: Ranking | None = None,
    ) -> None:
        self._qrels, self.retrieval = qrels, retrieved
        self._sampler, self._ranking = sampler, ranking
        self.policy, self.values = policy, values or {}
        self.measures = tuple(self.values)
        self.has_distances = policy.scores == "distances"
        self.ties = policy.ties
        self.queries, self.empty, self.grades = qrels.queries, qrels.unjudged, qrels.grades
        self.answered, self.unknown = retrieved.answered, retrieved.unknown

    # --- Counts and hits -----------------------------------------------------------------------

    @property
    def single_subtopics(self) -> int:
        return 0 if self._qrels.subtopics is None else self._qrels.subtopics.count_doubtful()

    @property
    def has_candidates(self) -> bool:
        return self._qrels.candidates is not None

    @property
    def has_recall(self) -> bool:
        """Is there recall within a cutoff?"""
        return any(measure.name == "R" and measure.k is not None for measure in self.measures)

    @property
    def may_stand_last(self) -> bool:
        """Do relevant results stand so low that chance may be excluded?"""
        return self._ranking is not None and stand_low(self._qrels, self.retrieval)

    @property
    def needs_no_judgments(self) -> bool:
        """Are there measures of the catalogue alone, which count the lists of all users?"""
        rows = [measure.row for measure in self.measures]
        of_lists = (isinstance(row, CatalogueDefinition) and not row.of_judgments for row in rows)
        return bool(rows) and all(of_lists)

    def count_relevant(self, rel: float) -> Ints:
        if self._ranking is None:
            return self._qrels.relevant
        total = self._ranking.total(rel)
        unknown = len(self.retrieval.unknown) if self.policy.unknown == "zero" else 0
        return total[: len(total) - unknown]  # the queries that nobody judged stand last

    @cached_property
    def without_relevant(self) -> list[Hashable]:
        queries = self.queries if self._ranking is None else self._ranking.queries
        return [queries[q] for q in np.flatnonzero(self.relevant == 0).tolist()]

    @cached_property
    def depths(self) -> Ints:
        return self.retrieval.retrieved[self.retrieval.answered]

    @cached_property
    def results(self) -> int:
        return int(self.retrieval.retrieved.sum())

    @cached_property
    def is_selected(self) -> bool:  # type: ignore[override]
        return self.retrieval.excluded is not None and bool(self.retrieval.excluded.any())

    @cached_property
    def emptied(self) -> Mapping[str, Sequence[Hashable]]:  # type: ignore[override]
        return dict(removals.list_emptied(self._qrels, self.retrieval, self.policy))

    @cached_property
    def unreachable(self) -> Mapping[str, int]:  # type: ignore[override]
        candidates = self._qrels.candidates
        return {} if candidates is None else removals.count_unreachable(self._qrels, candidates)

    @cached_property
    def unmatched(self) -> Mapping[str, str]:  # type: ignore[override]
        candidates = self._qrels.candidates
        if candidates is None or self.is_selected:
            return {}
        return removals.explain_unmatched(self._qrels, candidates, ())

    @cached_property
    def gaps(self) -> int:
        return 0 if self.retrieval.gaps is None else int(np.count_nonzero(self.retrieval.gaps))

    @cached_property
    def hits(self) -> Floats:
        return self.grades[self.retrieval.judgment]

    @cached_property
    def standing(self) -> Standing | None:
        if self._ranking is None:  # of a batch
            return None
        return measure_retrieved(self._qrels, self.retrieval)

    @cached_property
    def constant(self) -> bool:
        retrieval = self.retrieval
        if not retrieval.is_tied or not len(retrieval.judgment):
            return False
        tied = (retrieval.tied_from == 1) & (retrieval.tied_to > 1)
        return bool((tied & (retrieval.tied_to == retrieval.retrieved[retrieval.owner])).all())

    @cached_property
    def nearly_constant(self) -> tuple[int, int]:  # type: ignore[override]
        """The results that share one score, and all, in queries with hits; else zeros."""
        retrieval = self.retrieval
        if not retrieval.is_tied or not len(retrieval.judgment):
            return 0, 0
        tied = retrieval.tied_to > retrieval.tied_from
        if np.count_nonzero(tied) < NEARLY * len(tied):
            return 0, 0
        starts = np.flatnonzero(
            np.diff(retrieval.owner, prepend=-1)
        )  # a query's hits stand together
        widest = np.maximum.reduceat(
            np.where(tied, retrieval.tied_to - retrieval.tied_from + 1, 0), starts
        )
        count, results = int(widest.sum()), int(retrieval.retrieved[retrieval.owner[starts]].sum())
        return (count, results) if count >= NEARLY * results else (0, 0)

    @cached_property
    def decided(self) -> MeasureResult | None:  # type: ignore[override]
        """The measure that depends most on the order of equal scores, if they decide its value."""
        if self.policy.ties not in ROW_ORDERS or not self.nearly_constant[0]:
            return None
        unsure = [
            value for value in self.values.values() if value.band > DECISIVE * abs(value.mean)
        ]
        return max(unsure, key=lambda value: value.band, default=None)

    @cached_property
    def uncounted(self) -> list[Measure]:  # type: ignore[override]
        """The measures of which no_relevant=skip leaves out every query."""
        if self.policy.no_hit == "skip":
            return []
        judged = [value for value in self.values.values() if value.list_count is None]
        return [
            value.measure for value in judged if value.left_out is not None and value.left_out.all()
        ]

    @cached_property
    def tied_widely(self) -> int:  # type: ignore[override]
        retrieval = self.retrieval
        if not retrieval.is_tied or self.ties != "given":
            return 0
        wide = int(np.count_nonzero(retrieval.tied_to >= WIDE * retrieval.tied_from))
        return wide if wide >= len(retrieval.judgment) / 2 else 0

    # --- Is a problem possible? ----------------------------------------------------------------

    @property
    def may_lack_relevant(self) -> bool:
        """Has a query no relevant item, or a measure a stricter scale?"""
        strict = any(measure.rel is not None and measure.rel > 1 for measure in self.measures)
        return strict or not self.relevant.all()

    @property
    def may_be_misspelled(self) -> bool:
        """Does a relevant item that was not found differ from a result only in its spelling?"""
        if not len(self.retrieval.judgment) or self._sampler is None or self.sample.ids == "places":
            return False
        if getattr(self._qrels.items, "kind", "") == "integer" and self.sample.ids != "text":
            return False
        relevant = self.grades[self.retrieval.judgment] > 0
        if np.count_nonzero(relevant) == np.count_nonzero(self.grades > 0):
            return False
        lost = self._lost[1]
        lost_ids = set(lost)
        items = [item for item in self.sample.items if item not in lost_ids]
        return not set(fold_ids(lost)).isdisjoint(fold_ids(items))

    @cached_property
    def may_rise(self) -> bool:
        """Do no scores fall among the first rows? A first fall against the ranks does not count."""
        sample = self.sample
        if len(sample) < 2 or (sample.score is None and sample.rank is None):
            return False
        first = int(sample.offsets[1])
        if first == 1 and len(set(sample.queries)) == len(sample):
            return False
        count = min(len(sample), first if first > 2 else HEAD)
        rows = list(range(1, count))
        if first < count:
            owner = sample.owner[:count].tolist()
            rows = [row for row in rows if owner[row] == owner[row - 1]]
        if sample.score is not None:
            score = sample.score[:count].tolist()
            rows = [row for row in rows if score[row] < score[row - 1]]
        if sample.rank is None or not rows:
            return not rows
        rank = sample.rank(rows[0] + 1)
        if rank[-1] > rank[-2]:
            return False
        rank = sample.rank(count)
        return bool((rank != rank[0]).any())

    @property
    def may_have_own(self) -> bool:
        """Is one of the queries among the items?"""
        if self.policy.own != "keep" or self._sampler is None:
            return False
        return not set(self.sample.queries).isdisjoint(self.sample.items)

    @property
    def may_have_padding(self) -> bool:
        """Is one of the items -1?"""
        if self.policy.padding != "keep" or self._sampler is None:
            return False
        return any(map(is_padding, self.sample.items))

    @property
    def may_be_rounded(self) -> bool:
        sample = self.sample
        if sample.rounded or sample.finer:
            return True
        if sample.score is None or sample.given is None:
            return False
        return bool(np.abs(sample.score).max(initial=0) >= EXACT)

    # --- Rows ----------------------------------------------------------------------------------

    @cached_property
    def sample(self) -> Sample:
        rows = max(LEAST, min(MOST, self.results // SHARE))
        return self._take_sample(rows)

    def _take_sample(self, rows: int) -> Sample:
        if self._sampler is None:
            return _NOTHING
        sample = self._sampler(rows)
        if self.has_distances and sample.score is not None:
            sample.score = -sample.score
        return sample

    def take_more(self) -> EvaluatedData:
        """Return the data with a larger sample, for a second look."""
        wide = EvaluatedData(
            self._qrels, self.retrieval, self.policy, self._sampler, self.values, self._ranking
        )
        if self._sampler is not None:
            wide.__dict__["sample"] = wide._take_sample(MOST)
            wide.__dict__["may_rise"] = self.may_rise
        return wide

    @cached_property
    def graded(self) -> tuple[Ints, Floats]:
        grades = self.grades[:GRADES]
        return np.searchsorted(self._qrels.offsets, np.arange(len(grades)), "right"), grades

    @cached_property
    def given(self) -> Sequence[Any]:
        """The scores of the sample as they were given."""
        return () if self.sample.given is None else self.sample.given(len(self.sample))

    @cached_property
    def rounded(self) -> int:  # type: ignore[override]
        sample, exact = self.sample, [_parse_exactly(score) for score in self.given]
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
        qrels, position = self._qrels, self._position
        places = {position.get(query, -1) for query in self.sample.queries}
        place = np.array(sorted(places - {-1}), np.int64)
        starts = qrels.offsets[place]
        judgment = ragged.list_stretches(starts, qrels.offsets[place + 1] - starts)
        relevant = qrels.grades > 0
        relevant[self.retrieval.judgment] = False
        lost = judgment[relevant[judgment]]
        lost = lost[:: len(lost) // max(LEAST, len(self.sample)) + 1]
        items = qrels.items
        ids = items.take(lost) if isinstance(items, Ids) else [items[j] for j in lost.tolist()]
        return lost, [*self._spell(ids)]

    def look_up_grades(self, rows: Ints) -> Floats:
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
        """The place of each judged query, whose ids are spelled as in the run."""
        if self.sample.ids != "text" or set(map(type, self.queries)) <= {str}:
            return self._qrels.position
        return {query: q for q, query in enumerate(self._spell(self.queries))}

    def _spell(self, raw: Iterable[Hashable]) -> Iterable[Hashable]:
        """Spell ids as a file of text does, if the run is one."""
        if self.sample.ids != "text":
            return raw
        return (
            identifier if isinstance(identifier, str) else to_text(to_bytes(identifier))
            for identifier in raw
        )


_NOTHING = Sample([], np.zeros(1, np.int64), [])


def _parse_exactly(score: Any) -> Any:
    """Parse the text of a score, whole numbers exactly; return other scores as they are."""
    if not isinstance(score, bytes):
        return score
    is_whole = score.lstrip(b"+-").isdigit() and len(score) < DIGITS
    return int(score) if is_whole else float(score)
