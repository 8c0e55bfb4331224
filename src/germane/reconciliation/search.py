"""Search: which candidates give a number, each reduced to its effect on the data.

Candidates are the definitions that may be behind a number, simplest first.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from germane.core.policy import RARE_WORDS, WORDS, Policy
from germane.core.progress import Progress
from germane.core.ranking import Ranking
from germane.dialects import dialects, resolve_dialect
from germane.dialects.dialect import STAGE_NAMES, Dialect, Limit, Stage
from germane.dialects.names import list_same_kind, translate_entry
from germane.errors import GermaneError
from germane.evaluation.limits import find_holding, may_matter
from germane.measures import Scored
from germane.measures.averaging import MeasureResult, compute_terms
from germane.measures.measure import Measure
from germane.reconciliation.spread import LISTED, Values

Choices = tuple[tuple[str, Any], ...]

# Words that leave every number as it is, or leave none.
_NO_NUMBER = {"error", "nan", "error_if_all", "missing_if_some"}


@dataclass(frozen=True)
class Candidate:
    """A definition: a measure, and the conventions in which it differs from those of the question."""

    measure: Measure
    choices: Choices = ()
    tools: tuple[str, ...] = ()
    """the tools that define it so, each with its own name for the measure"""

    def __str__(self) -> str:
        return ", ".join([str(self.measure), *(f"{name}={word}" for name, word in self.choices)])

    @property
    def key(self) -> tuple[Measure, Choices]:
        """The definition itself, whoever uses it."""
        return self.measure, self.choices

    def policy(self, conventions: Policy) -> Policy:
        """All of its conventions."""
        return replace(conventions, **dict(self.choices))

    def without(self, name: str) -> "Candidate":
        """The candidate with one convention left as in the question."""
        return replace(self, choices=tuple(one for one in self.choices if one[0] != name))

    def averaged(self, mean: str) -> "Candidate":
        """The candidate with another mean over queries, which is a parameter of the measure."""
        return replace(self, measure=self.measure(mean=mean))

    def beside(self, name: str, word: Any) -> "Candidate":
        """The candidate with one convention more."""
        return replace(self, choices=tuple(sorted({**dict(self.choices), name: word}.items())))

    def distance(self, asked: Measure) -> int:
        """How many things are otherwise than asked; another measure counts as two."""
        if self.measure.name != asked.name:
            return 2 + len(self.choices)
        mine, theirs = self.measure.parameters, asked.parameters
        return len(self.choices) + sum(a != b for a, b in zip(mine, theirs, strict=True))

    def stages(self, asked: Measure) -> tuple[Stage, ...]:
        """The stages in which it differs."""
        moved: set[Stage] = {find_seam(name) for name, _ in self.choices}
        if find_mean(self.measure) != find_mean(asked):
            moved.add("averaging")
        if self.measure.name != asked.name or self.measure.arguments != asked.arguments:
            moved.add("measuring")
        return tuple(stage for stage in STAGE_NAMES if stage in moved)


def find_mean(measure: Measure) -> str | None:
    """The mean over queries; None for measures that are summed."""
    return dict(measure.parameters).get("mean")


def find_seam(convention: str) -> Stage:
    """The stage on which a convention lies, as the dialects have it."""
    stages: tuple[Stage, ...] = ("reading", "averaging")
    for stage in stages:
        if any(convention in getattr(one, stage) for one in dialects().values()):
            return stage
    return "judging"


def list_dialect_candidates(
    asked: Measure, conventions: Policy, given: Mapping[str, Any]
) -> Iterator[Candidate]:
    """The definition that each tool gives to such a measure."""
    for dialect in dialects().values():
        readings = [{}, LISTED] if dialect.sees == "list" else [{}]
        for foreign, alone in product(list_same_kind(dialect, asked), readings):
            words = {**dialect.choices, **foreign.choices, **alone, **given}
            choices = {n: word for n, word in words.items() if word != getattr(conventions, n)}
            yield Candidate(
                translate_entry(foreign, asked),
                tuple(sorted(choices.items())),
                (f"{dialect.name}:{foreign.write_name(asked.k)}",),
            )


def vary_once(
    asked: Measure, conventions: Policy, given: Mapping[str, Any], grades: Iterable[float]
) -> Iterator[Candidate]:
    """One thing otherwise: a parameter of the measure, or a convention that was not given."""
    for measure in vary_measure(asked, grades):
        yield Candidate(measure)
    for name, word in list_other_words(conventions, given):
        yield Candidate(asked, ((name, word),))


def vary_twice(
    asked: Measure,
    conventions: Policy,
    given: Mapping[str, Any],
    grades: Iterable[float],
    others: Iterable[Measure],
) -> Iterator[Candidate]:
    """Two things otherwise: ``others`` are the measures that tools call by the same name."""
    one = list(vary_measure(asked, grades))
    words = list(list_other_words(conventions, given))
    for measure in one:
        for further in vary_measure(measure, grades):
            if Candidate(further).distance(asked) == 2:
                yield Candidate(further)
    for measure in dict.fromkeys([*one, *others]):
        for word in words:
            yield Candidate(measure, (word,))
    for first, second in combinations(words, 2):
        if first[0] != second[0]:
            yield Candidate(asked, tuple(sorted((first, second))))


def vary_measure(measure: Measure, grades: Iterable[float]) -> Iterator[Measure]:
    """The measure with one parameter otherwise: its words, and the numbers that are in use."""
    for parameter, (name, value) in zip(measure.row.parameters, measure.parameters, strict=True):
        numbers = sorted(set(grades)) if name == "rel" else (*parameter.numbers, *parameter.usual)
        for other in (*parameter.words, *numbers):
            if other != value:
                yield measure(**{name: other})


def list_other_words(conventions: Policy, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each word of each convention that is not the one in force."""
    for name, words in (WORDS | RARE_WORDS).items():
        for word in words:
            if name not in given and word != getattr(conventions, name) and word not in _NO_NUMBER:
                yield name, word


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
        """The result of a candidate, or None where it has no value."""
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
        return first is not None and second is not None and are_same(first, second)

    def queries(self, given: Iterable[Given]) -> list[Hashable]:
        """Every query that some definition averages."""
        results = [self.result(one.candidate) for one in given]
        return list({query: None for one in results if one is not None for query in one.queries})

    def grades(self) -> list[float]:
        """The grades above 0 that were judged."""
        for duplicates in (self.conventions.duplicates, "first"):
            try:
                policy = replace(self.conventions, duplicates=duplicates)
                qrels = self._values.collection.judge(policy).qrels
            except GermaneError:  # the candidates will say so
                continue
            return [grade for grade in np.unique(qrels.grades).tolist() if grade > 0]
        return []

    def scored(self, candidate: Candidate) -> tuple[Ranking, Scored]:
        """The terms behind what a candidate gives."""
        policy = candidate.policy(self.conventions)
        ranking = self._values.collection.judge(policy).rank(policy.ties)
        return ranking, compute_terms(candidate.measure, ranking)

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
        judged = collection.judge(candidate.policy(self.conventions))
        limits = find_holding(dialect, foreign, candidate.measure, judged, collection.is_ordered)
        return [one for one in limits if may_matter(one, result)]

    def reduced(self, given: Iterable[Given]) -> list[Given]:
        """Candidates without choices that make no difference here, simplest first.

        One formula is one definition, under the name that was asked for or the
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
        mean, usual = find_mean(candidate.measure), find_mean(self.asked)
        if mean and usual and mean != usual:
            yield candidate.averaged(usual)

    def undecided(self, found: Iterable[Given], fixed: Iterable[str]) -> tuple[Undecided, ...]:
        """The choices that do not change the result."""
        candidates = [one.candidate for one in found]
        idle: dict[str, list[str]] = {}
        moving: dict[str, list[str]] = {}
        for name, word in list_other_words(self.conventions, dict.fromkeys(fixed)):
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


def are_same(one: MeasureResult, other: MeasureResult) -> bool:
    """Do two definitions give the same for every query, and the same mean?"""
    if abs(one.mean - other.mean) > _SAME or one.queries != other.queries:
        return False
    return bool(np.allclose(one.values, other.values, rtol=0, atol=_SAME, equal_nan=True))
