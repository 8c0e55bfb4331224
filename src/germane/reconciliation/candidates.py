"""Candidates: the definitions that may be behind a number, simplest first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from germane.core.policy import RARE_WORDS, WORDS, Policy
from germane.dialects import dialects
from germane.dialects.dialect import SEAMS, Seam
from germane.dialects.names import list_same_kind, translate_entry
from germane.measures.measure import Measure
from germane.reconciliation.spread import LISTED

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
        """The same with one convention left as in the question."""
        return replace(self, choices=tuple(one for one in self.choices if one[0] != name))

    def averaged(self, mean: str) -> "Candidate":
        """The same with another mean over queries, which is a parameter of the measure."""
        return replace(self, measure=self.measure(mean=mean))

    def beside(self, name: str, word: Any) -> "Candidate":
        """The same with one convention more."""
        return replace(self, choices=tuple(sorted({**dict(self.choices), name: word}.items())))

    def distance(self, asked: Measure) -> int:
        """How many things are otherwise than asked; another measure counts as two."""
        if self.measure.name != asked.name:
            return 2 + len(self.choices)
        mine, theirs = self.measure.parameters, asked.parameters
        return len(self.choices) + sum(a != b for a, b in zip(mine, theirs, strict=True))

    def seams(self, asked: Measure) -> tuple[Seam, ...]:
        """The seams in which it differs."""
        moved: set[Seam] = {seam_of(name) for name, _ in self.choices}
        if mean_of(self.measure) != mean_of(asked):
            moved.add("averaging")
        if self.measure.name != asked.name or self.measure.arguments != asked.arguments:
            moved.add("measuring")
        return tuple(seam for seam in SEAMS if seam in moved)


def mean_of(measure: Measure) -> str | None:
    """The mean over queries; None for measures that are summed."""
    return dict(measure.parameters).get("mean")


def seam_of(convention: str) -> Seam:
    """The seam on which a convention lies, as the dialects have it."""
    seams: tuple[Seam, ...] = ("reading", "averaging")
    for seam in seams:
        if any(convention in getattr(one, seam) for one in dialects().values()):
            return seam
    return "judging"


def of_dialects(
    asked: Measure, conventions: Policy, given: Mapping[str, Any]
) -> Iterator[Candidate]:
    """What every tool means by such a measure."""
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


def singles(
    asked: Measure, conventions: Policy, given: Mapping[str, Any], grades: Iterable[float]
) -> Iterator[Candidate]:
    """One thing otherwise: a parameter of the measure, or a convention that was not given."""
    for measure in variants(asked, grades):
        yield Candidate(measure)
    for name, word in words_beside(conventions, given):
        yield Candidate(asked, ((name, word),))


def pairs(
    asked: Measure,
    conventions: Policy,
    given: Mapping[str, Any],
    grades: Iterable[float],
    others: Iterable[Measure],
) -> Iterator[Candidate]:
    """Two things otherwise: ``others`` are the measures that tools call by the same name."""
    one = list(variants(asked, grades))
    words = list(words_beside(conventions, given))
    for measure in one:
        for further in variants(measure, grades):
            if Candidate(further).distance(asked) == 2:
                yield Candidate(further)
    for measure in dict.fromkeys([*one, *others]):
        for word in words:
            yield Candidate(measure, (word,))
    for first, second in combinations(words, 2):
        if first[0] != second[0]:
            yield Candidate(asked, tuple(sorted((first, second))))


def variants(measure: Measure, grades: Iterable[float]) -> Iterator[Measure]:
    """The measure with one parameter otherwise: its words, and the numbers that are in use."""
    for parameter, (name, value) in zip(measure.row.parameters, measure.parameters, strict=True):
        numbers = sorted(set(grades)) if name == "rel" else (*parameter.numbers, *parameter.usual)
        for other in (*parameter.words, *numbers):
            if other != value:
                yield measure(**{name: other})


def words_beside(conventions: Policy, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each word of each convention that is not the one in force."""
    for name, words in (WORDS | RARE_WORDS).items():
        for word in words:
            if name not in given and word != getattr(conventions, name) and word not in _NO_NUMBER:
                yield name, word
