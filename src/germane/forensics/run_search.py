"""Candidate definitions evaluated on one run, and the queries whose reported values they give."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from germane.core.calls import Progress
from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.dialects import resolve_dialect
from germane.dialects.dialect import Limit
from germane.errors import CoverageError, GermaneError, clip, suggest
from germane.evaluation.bounds import list_limits
from germane.forensics.reported import Reported
from germane.forensics.spread import Values, are_all_same, are_same
from germane.forensics.variations import Candidate, Search, Tried, find_mean, list_other_words
from germane.measures import Scored
from germane.measures.averaging import MeasureResult, compute_terms
from germane.measures.measure import Measure
from germane.output.documents import AS_TEXT, Plain
from germane.output.tables import write_count

Given = Tried[Candidate]


@dataclass(frozen=True)
class Undecided:
    """A convention of which all words, or some, make no difference on the data."""

    convention: str
    words: tuple[str, ...]
    """words that make no difference"""
    moving: tuple[str, ...]
    """words that make one"""

    def __str__(self) -> str:
        return f"{self.convention}={' or '.join(self.words)}" if self.moving else self.convention


class RunSearch(Search[Candidate]):
    """Definitions evaluated on one run, and compared with what was reported."""

    def __init__(
        self,
        values: Values,
        conventions: Policy,
        measure: Measure,
        reported: Reported,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(measure, reported)
        self.values, self.conventions, self._progress = values, conventions, progress
        self.per_query: Mapping[Hashable, Reported] = {}  # the reported values of queries, if any

    def evaluate(self, candidate: Candidate) -> MeasureResult:
        """Evaluate a candidate; raises GermaneError where the data does not allow it."""
        return self.values(candidate.make_policy(self.conventions), candidate.measure)

    def find_result(self, candidate: Candidate) -> MeasureResult | None:
        """Return the result of a candidate, or None where it has no value."""
        try:
            result = self.evaluate(candidate)
        except GermaneError:
            return None
        return None if math.isnan(result.mean) else result

    def find_value(self, candidate: Candidate) -> float:
        """Return the mean of a candidate; NaN where it has none."""
        result = self.find_result(candidate)
        return math.nan if result is None else result.mean

    def evaluate_all(self, candidates: Iterable[Candidate]) -> list[Given]:
        """Return the value of each candidate that has one, and show the progress."""
        return super().evaluate_all(self._follow([*candidates]))

    def _follow(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        for place, candidate in enumerate(candidates):
            if self._progress is not None:
                self._progress("definitions", place, len(candidates))
            yield candidate

    def gives(self, trial: Given) -> bool:
        """Does a definition give the reported number, and the values of all queries?"""
        return super().gives(trial) and self.count_agreeing(trial) == len(self.per_query)

    def count_agreeing(self, trial: Given) -> int:
        """Count the queries for which a definition gives the reported value."""
        result = self.find_result(trial.candidate) if self.per_query else None
        values = {} if result is None else result.per_query
        return sum(
            number.gives(values.get(query, math.nan)) for query, number in self.per_query.items()
        )

    def coincide(self, candidate: Candidate, variation: Candidate) -> bool:
        """Do two candidates give the same for every query, and the same mean?"""
        first, second = self.find_result(candidate), self.find_result(variation)
        if first is None or second is None or first.queries != second.queries:
            return False
        return are_all_same(first.values, second.values) and are_same(first.mean, second.mean)

    def choose_nearest(self, by_distance: Sequence[Given]) -> Given:
        """Choose the nearest; with values of queries, the one that gives most of them.

        Each difference from what was asked costs one query.
        """

        def measure_merit(trial: Given) -> tuple[int, bool, float]:
            merit = self.count_agreeing(trial) - trial.candidate.distance(self.measure)
            return merit, self.reported.gives(trial.value), -abs(trial.value - self.reported.value)

        return max(by_distance, key=measure_merit) if self.per_query else by_distance[0]

    def list_equal(self, trial: Given, tried: Sequence[Given]) -> list[Given]:
        """List the definitions that coincide with one."""
        return [equal for equal in tried if self.coincide(equal.candidate, trial.candidate)]

    def list_queries(self, trials: Iterable[Given]) -> list[Hashable]:
        """List every query that some definition averages."""
        results = [self.find_result(trial.candidate) for trial in trials]
        return list(
            {query: None for result in results if result is not None for query in result.queries}
        )

    def compute_terms(self, candidate: Candidate) -> tuple[Ranking, Scored]:
        """Compute the terms behind the values of a candidate."""
        policy = candidate.make_policy(self.conventions)
        ranking = self.values.judge(policy).rank(policy.ties)
        return ranking, compute_terms(candidate.measure, ranking)

    def find_limit(self, candidate: Candidate) -> Limit | None:
        """Find why the tool of a candidate may give another value on such data, if it may."""
        tool, _, name = candidate.tools[0].partition(":")
        dialect, result = resolve_dialect(tool), self.find_result(candidate)
        foreign, collection = dialect.find(name), self.values.collection
        if foreign is None or result is None:
            return None
        judged = self.values.judge(candidate.make_policy(self.conventions))
        limits = list_limits(dialect, foreign, result, judged, collection.is_ordered)
        return next(limits, None)

    def simplify(self, trials: Iterable[Given]) -> list[Given]:
        """Drop choices that make no difference here or to the number, and sort, simplest first."""
        return super().simplify(
            Given(self._drop_rounding(trial.candidate), trial.value) for trial in trials
        )

    def _drop_rounding(self, candidate: Candidate) -> Candidate:
        """Drop a rounding to more digits than were reported."""
        digits = dict(candidate.choices).get("digits")
        fine = digits is not None and 10.0**-digits < self.reported.tolerance
        return candidate.drop("digits") if fine else candidate

    def make_key(self, candidate: Candidate) -> object:
        """Candidates of one formula are the same, whatever their names."""
        return candidate.measure.definition, candidate.choices

    def rank_usage(self, candidate: Candidate) -> tuple[int, ...]:
        """Rank tools that may see a list alone last: they may see all judged items, too."""
        return ("relevant", "listed") in candidate.choices, *super().rank_usage(candidate)

    def list_simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """List what is one choice simpler, or has the measure or the mean that was asked for."""
        yield from super().list_simpler(candidate)
        if ("relevant", "listed") in candidate.choices and candidate.measure != self.measure:
            yield replace(candidate, measure=self.measure)  # norms of short lists are then equal
        mean, usual = find_mean(candidate.measure), find_mean(self.measure)
        if mean and usual and mean != usual:
            yield replace(candidate, measure=candidate.measure(mean=usual))

    def find_undecided(
        self, trials: Iterable[Given], fixed: Iterable[str]
    ) -> tuple[Undecided, ...]:
        """Find the choices that do not change the result of any definition found."""
        candidates = [trial.candidate for trial in trials]
        idle: dict[str, list[str]] = {}
        moving: dict[str, list[str]] = {}
        for name, word in list_other_words(self.conventions, dict.fromkeys(fixed)):
            effects = {self._find_effect(candidate, name, word) for candidate in candidates}
            if "some" in effects:
                moving.setdefault(name, []).append(word)
            elif "none" in effects:
                idle.setdefault(name, []).append(word)
        return tuple(
            Undecided(name, tuple(words), tuple(moving.get(name, ())))
            for name, words in idle.items()
        )

    def _find_effect(self, candidate: Candidate, name: str, word: str) -> str:
        choices = dict(candidate.choices)
        changed = replace(candidate, choices=tuple(sorted({**choices, name: word}.items())))
        if self.find_result(changed) is None:
            return "no value"
        return "some" if name in choices or not self.coincide(candidate, changed) else "none"


# --- Agreement: the queries whose reported value a definition gives, and why others are off -------

DECIMALS = (1, 2, 3, 4)  # to which somebody may have rounded terms before adding them


@dataclass(frozen=True)
class Off:
    """A query whose reported value is not what the definition gives."""

    _json = "query reported=reported.text value off_by=difference moves_mean_by=moves says"

    query: Hashable = field(metadata=AS_TEXT)
    reported: Reported
    value: float
    """what the definition gives; NaN where it leaves the query out"""
    moves: float
    """how much the reported value changes the mean"""
    says: str = ""
    """the sums of terms behind both values, or a slip that explains the reported one"""

    @property
    def difference(self) -> float:
        """The reported value less the right one."""
        return self.reported.value - self.value


@dataclass(frozen=True)
class Agreement(Plain):
    """The queries for which one definition gives the reported value, and the others."""

    _json = "reported=of agree not_reported=without off"

    given: Given
    of: int
    """the number of queries reported"""
    off: tuple[Off, ...]
    """the queries for which it does not, the largest difference first"""
    without: tuple[Hashable, ...] = field(default=(), metadata=AS_TEXT)
    """queries that the definition averages and that were not reported"""

    @property
    def agree(self) -> int:
        """The number of queries that are as reported."""
        return self.of - len(self.off)


def match_names(
    reported: Mapping[Hashable, Reported], queries: Iterable[Hashable]
) -> dict[Hashable, Reported]:
    """Match the reported values with the ids of the data; in a file, an id is text.

    Raises CoverageError for a query that is not in the data.
    """
    ids = {str(query): query for query in queries}
    for query in reported:
        if str(query) not in ids:
            near = suggest(str(query), ids)
            raise CoverageError(
                f"reported for query {clip(query)}, which is not in the data.{near}"
            )
    return {ids[str(query)]: number for query, number in reported.items()}


def measure_agreement(search: RunSearch, trial: Given) -> Agreement:
    """Find the queries for which a definition does not give the reported value."""
    result = search.find_result(trial.candidate)
    averaged = {} if result is None else result.per_query
    terms = Terms(search, trial)
    off = []
    for query, number in search.per_query.items():
        value = averaged.get(query, math.nan)
        if not number.gives(value):
            moves = (number.value - value) / len(averaged) if averaged else math.nan
            off.append(Off(query, number, value, moves, terms.explain(query, number)))
    off.sort(key=lambda row: -math.inf if math.isnan(row.value) else -abs(row.difference))
    without = tuple(query for query in averaged if query not in search.per_query)
    return Agreement(trial, len(search.per_query), tuple(off), without)


class Terms:
    """The terms behind a definition's values, to find out how they were rounded."""

    def __init__(self, search: RunSearch, trial: Given) -> None:
        self._ranking, self._scored = search.compute_terms(trial.candidate)
        self._place = {query: q for q, query in enumerate(self._ranking.queries)}
        self._total = self._ranking.sum_hits(self._scored.terms) + self._scored.rest
        self._rounded = {decimals: self.round(decimals) for decimals in DECIMALS}

    def round(self, decimals: int) -> Floats:
        """Q: compute the values with every term rounded before they are added."""
        terms = np.round(self._scored.terms, decimals)
        return replace(self._scored, terms=terms).compute_values(self._ranking)

    def explain(self, query: Hashable, number: Reported) -> str:
        """Explain a query's reported value, or compare the sums of terms behind both values."""
        q = self._place.get(query)
        if q is None:
            return "left out"
        for decimals, written in self._rounded.items():
            if number.gives(float(written[q])):
                return f"every term rounded to {write_count(decimals, 'decimal')}"
        norm = float(self._scored.norm[q])
        if self._scored.link is not None or norm in (0.0, 1.0):
            return ""
        return (
            f"terms add up to {self._total[q]:.4g}; for {number.text}, they would have to add"
            f" up to {number.value * norm:.4g}"
        )
