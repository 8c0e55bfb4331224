"""Search: which candidates give a number, each reduced to what matters on the data."""

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from germane.core.policy import Policy
from germane.core.progress import Progress
from germane.core.ranking import Ranking
from germane.dialects import resolve_dialect
from germane.dialects.dialect import Dialect, Limit
from germane.errors import GermaneError
from germane.evaluation.limits import holding, matters
from germane.measures import Scored
from germane.measures.averaging import MeasureResult, kernel
from germane.measures.measure import Measure
from germane.reconciliation.candidates import Candidate, mean_of, words_beside
from germane.reconciliation.spread import Values

_SAME = 1e-12


@dataclass(frozen=True)
class Given:
    """A candidate and what it gives on the data."""

    candidate: Candidate
    value: float

    def __str__(self) -> str:
        return str(self.candidate)


@dataclass(frozen=True)
class Undecided:
    """A convention of which the data says nothing, or not all."""

    convention: str
    words: tuple[str, ...]
    """words that make no difference"""
    moving: tuple[str, ...]
    """words that make one"""

    def __str__(self) -> str:
        return f"{self.convention}={' or '.join(self.words)}" if self.moving else self.convention


@dataclass(frozen=True)
class Unsure:
    """A tool that may say something else of this data than its definition gives, and why."""

    tool: str
    says: str
    candidate: Candidate


class Search:
    """Candidates evaluated on one collection; those that have no value there are passed over."""

    def __init__(
        self,
        values: Values,
        conventions: Policy,
        asked: Measure,
        tolerance: float,
        progress: Progress | None = None,
    ) -> None:
        self._values, self.conventions, self.asked = values, conventions, asked
        self.tolerance, self._progress = tolerance, progress

    def result(self, candidate: Candidate) -> MeasureResult | None:
        """What a candidate gives, or None where it has no value."""
        try:
            found = self._values(candidate.policy(self.conventions), candidate.measure)
        except GermaneError:
            return None
        return None if math.isnan(found.mean) else found

    def value(self, candidate: Candidate) -> float:
        """The mean that a candidate gives; raises what stands against it."""
        return self._values(candidate.policy(self.conventions), candidate.measure).mean

    def coincide(self, one: Candidate, other: Candidate) -> bool:
        """Do two candidates give the same for every query, and the same mean?"""
        first, second = self.result(one), self.result(other)
        return first is not None and second is not None and same(first, second)

    def queries(self, given: Iterable[Given]) -> list[Hashable]:
        """Every query that some definition averages."""
        results = [self.result(one.candidate) for one in given]
        return list({query: None for one in results if one is not None for query in one.queries})

    def grades(self) -> list[float]:
        """The grades above 0 that were judged."""
        for duplicates in (self.conventions.duplicates, "first"):
            try:
                policy = replace(self.conventions, duplicates=duplicates)
                qrels = self._values.collection.judged(policy).qrels
            except GermaneError:  # the candidates will say so
                continue
            return [grade for grade in np.unique(qrels.grades).tolist() if grade > 0]
        return []

    def scored(self, candidate: Candidate) -> tuple[Ranking, Scored]:
        """The terms behind what a candidate gives."""
        policy = candidate.policy(self.conventions)
        ranking = self._values.collection.judged(policy).ranking(policy.ties)
        return ranking, kernel(candidate.measure, ranking)

    def all(self, candidates: Iterable[Candidate]) -> list[Given]:
        """The value of each candidate that has one."""
        found, several = [], list(candidates)
        for at, candidate in enumerate(several):
            if self._progress is not None:
                self._progress("definitions", at, len(several))
            result = self.result(candidate)
            if result is not None:
                found.append(Given(candidate, result.mean))
        return found

    def vouched(self, candidates: Iterable[Candidate]) -> tuple[list[Candidate], list[Unsure]]:
        """Tools' definitions, without the tools that may say something else of such data; and these."""
        found, unsure = [], []
        for one in candidates:
            tool, _, name = one.tools[0].partition(":")
            limits = self._limits(resolve_dialect(tool), name, one)
            unsure += [Unsure(tool, limit.says, one) for limit in limits[:1]]
            found.append(replace(one, tools=()) if limits else one)
        return found, unsure

    def _limits(self, dialect: Dialect, name: str, candidate: Candidate) -> list[Limit]:
        foreign = dialect.find(name)
        collection, result = self._values.collection, self.result(candidate)
        if foreign is None or result is None:
            return []
        judged = collection.judged(candidate.policy(self.conventions))
        limits = holding(dialect, foreign, candidate.measure, judged, collection.ordered)
        return [one for one in limits if matters(one, result)]

    def reduced(self, given: Iterable[Given]) -> list[Given]:
        """The same without what makes no difference here, simplest first.

        What the same formula defines is one definition, under the name that was asked for or the
        simplest, with the tools of all.
        """
        merged: dict[object, Given] = {}
        for one in given:
            least = self._reduced(self._unrounded(one.candidate))
            key = least.measure.definition, least.choices
            before = merged.get(key, Given(least, one.value))
            simpler = min(before.candidate, least, key=lambda one: one.distance(self.asked))
            tools = dict.fromkeys((*before.candidate.tools, *least.tools))
            merged[key] = Given(replace(simpler, tools=tuple(tools)), before.value)
        return sorted(merged.values(), key=self.simplicity)

    def simplicity(self, given: Given) -> tuple[int, bool, int, str]:
        """Sorts by what is otherwise than asked, then by the number of tools.

        Tools that may be given a list alone are also given all that is judged: this comes first.
        """
        candidate = given.candidate
        alone = ("relevant", "listed") in candidate.choices
        return candidate.distance(self.asked), alone, -len(candidate.tools), str(candidate)

    def _reduced(self, candidate: Candidate) -> Candidate:
        """Its conventions are left out one by one, as long as that changes nothing."""
        for less in self._lesser(candidate):
            if self.coincide(less, candidate):
                return self._reduced(less)
        return candidate

    def _unrounded(self, candidate: Candidate) -> Candidate:
        """A mean that is rounded less than what was reported is taken as it is."""
        digits = dict(candidate.choices).get("digits")
        finer = digits is not None and 10.0**-digits < self.tolerance
        return candidate.without("digits") if finer else candidate

    def _lesser(self, candidate: Candidate) -> Iterator[Candidate]:
        for name, _ in reversed(candidate.choices):
            yield candidate.without(name)
        if ("relevant", "listed") in candidate.choices and candidate.measure != self.asked:
            yield replace(candidate, measure=self.asked)  # norms of short lists are then alike
        mean, usual = mean_of(candidate.measure), mean_of(self.asked)
        if mean and usual and mean != usual:
            yield candidate.averaged(usual)

    def undecided(self, found: Iterable[Given], fixed: Iterable[str]) -> tuple[Undecided, ...]:
        """What changes nothing of what was found."""
        candidates = [one.candidate for one in found]
        idle: dict[str, list[str]] = {}
        moving: dict[str, list[str]] = {}
        for name, word in words_beside(self.conventions, dict.fromkeys(fixed)):
            effects = {self._effect(one, name, word) for one in candidates}
            if "some" in effects:
                moving.setdefault(name, []).append(word)
            elif "none" in effects:
                idle.setdefault(name, []).append(word)
        return tuple(
            Undecided(name, tuple(words), tuple(moving.get(name, ())))
            for name, words in idle.items()
        )

    def _effect(self, candidate: Candidate, name: str, word: str) -> str:
        beside = candidate.beside(name, word)
        if self.result(beside) is None:
            return "no value"
        decided = name in dict(candidate.choices)
        return "some" if decided or not self.coincide(candidate, beside) else "none"


def same(one: MeasureResult, other: MeasureResult) -> bool:
    """Do two definitions give the same for every query, and the same mean?"""
    if abs(one.mean - other.mean) > _SAME or one.queries != other.queries:
        return False
    return bool(np.allclose(one.values, other.values, rtol=0, atol=_SAME, equal_nan=True))
