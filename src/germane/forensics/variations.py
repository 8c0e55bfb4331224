"""The definitions that may be behind a number or a table, simplest first, and their search."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, product, starmap
from typing import Any, Generic, Literal, Self, TypeVar

from germane.core.policy import Policy
from germane.dialects import dialects
from germane.dialects.names import parse
from germane.errors import PolicyError, write_option
from germane.evaluation.evaluate import measures as list_every
from germane.forensics.reported import Reported
from germane.measures.measure import Measure

Stage = Literal["reading", "judging", "measuring", "averaging"]
STAGE_NAMES: tuple[Stage, ...] = ("reading", "judging", "measuring", "averaging")

M = TypeVar("M")

Choices = tuple[tuple[str, Any], ...]
LISTED = {"relevant": "listed"}

# Words that leave every number as it is, that give an error or NaN, or that the data decides.
NO_NUMBER = {"error", "nan", "error_if_all", "missing_if_some", "distances", "places"}

VARIED = tuple(
    name
    for name, words in (Policy.WORDS | Policy.RARE_WORDS).items()
    if any(word not in NO_NUMBER and word != Policy.DEFAULTS[name] for word in words)
)
"""The conventions of which other words are tried."""

JOINED: tuple[tuple[Choices, str], ...] = (
    (
        (("missing", "skip"), ("unknown", "zero")),
        "the mean is over the run's own queries",
    ),
)
"""Conventions that one decision changes together, and the decision in words: one change."""


def count_changes(choices: Choices) -> int:
    """Count the decisions behind conventions that were changed."""
    joined = (len(words) - 1 for words, _ in JOINED if set(words) <= set(choices))
    return len(choices) - sum(joined)


def describe_decisions(choices: Choices) -> Iterator[str]:
    """Yield a sentence for each decision that changes several of these conventions."""
    for words, decision in JOINED:
        if set(words) <= set(choices):
            yield f"With {' and '.join(starmap(write_choice, words))}, {decision}."


@dataclass(frozen=True)
class Variation(Generic[M]):
    """A measure of any kind, and the conventions that differ from those asked for."""

    measure: M
    choices: Choices = ()
    tools: tuple[str, ...] = ()
    """the tools that define it so, each with its own name for the measure"""

    def __str__(self) -> str:
        return ", ".join([str(self.measure), *self.write_choices()])

    def write_choices(self) -> list[str]:
        """Write each convention with its word."""
        return [write_choice(*choice) for choice in self.choices]

    @property
    def key(self) -> tuple[M, Choices]:
        """The definition without the tools that use it."""
        return self.measure, self.choices

    def drop(self, name: str) -> Self:
        """Leave one convention as asked for."""
        return replace(self, choices=tuple(choice for choice in self.choices if choice[0] != name))

    def distance(self, measure: M) -> int:
        """Count the differences from what was asked; another measure counts as two."""
        return count_changes(self.choices) + 2 * (self.measure != measure)


@dataclass(frozen=True)
class Candidate(Variation[Measure]):
    """A definition of a measure of ranked lists."""

    def make_policy(self, conventions: Policy) -> Policy:
        """Complete its conventions with those that were asked for."""
        return replace(conventions, **dict(self.choices)) if self.choices else conventions

    def distance(self, measure: Measure) -> int:
        """Count the differences from what was asked, parameter by parameter."""
        if self.measure.name != measure.name:
            return super().distance(measure)
        mine, theirs = self.measure.parameters, measure.parameters
        parameters = sum(a != b for a, b in zip(mine, theirs, strict=True))
        return count_changes(self.choices) + parameters

    def stages(self, measure: Measure) -> tuple[Stage, ...]:
        """Return the stages in which it differs from what was asked."""
        moved: set[Stage] = {find_stage(name) for name, _ in self.choices}
        if find_mean(self.measure) != find_mean(measure):
            moved.add("averaging")
        if self.measure.name != measure.name or self.measure.arguments != measure.arguments:
            moved.add("measuring")
        return tuple(stage for stage in STAGE_NAMES if stage in moved)


def write_choice(name: str, word: Any) -> str:
    """Write a convention with its word; numbers are shortened as a format of ``g`` does."""
    word = f"{word:g}" if isinstance(word, float) else word
    return f"{name}={'none' if word is None else word}"


def find_mean(measure: Measure) -> str | None:
    """Return the kind of mean over queries; None for measures that are summed."""
    return dict(measure.parameters).get("mean")


def find_stage(convention: str) -> Stage:
    """Find the stage in which the dialects have a convention."""
    stages: tuple[Stage, ...] = ("reading", "averaging")
    every = dialects().values()
    stages_with_it = (
        stage for stage in stages if any(convention in getattr(dialect, stage) for dialect in every)
    )
    return next(stages_with_it, "judging")


def list_dialect_candidates(
    measure: Measure, conventions: Policy, fixed: Mapping[str, Any], name: str = ""
) -> Iterator[Candidate]:
    """Yield the definitions that each tool has of such a measure, or of the name as written."""
    for dialect in dialects().values():
        readings = [{}, LISTED] if dialect.sees == "list" else [{}]
        for foreign, judging in product(dialect.list_definitions(measure, name), readings):
            words = {**dialect.choices, **foreign.choices, **judging, **fixed}
            choices = {n: word for n, word in words.items() if word != getattr(conventions, n)}
            tools = (f"{dialect.name}:{foreign.name}",)
            yield Candidate(foreign.measure, tuple(sorted(choices.items())), tools)


def vary_once(
    base: Measure, conventions: Policy, fixed: Mapping[str, Any], grades: Iterable[float]
) -> Iterator[Candidate]:
    """Change one thing: a parameter of the measure, or a convention that was not given."""
    for measure in vary_measure(base, grades):
        yield Candidate(measure)
    for choices in list_other_choices(conventions, fixed):
        yield Candidate(base, choices)


def vary_twice(
    base: Measure,
    conventions: Policy,
    fixed: Mapping[str, Any],
    grades: Iterable[float],
    tool_measures: Iterable[Measure],
) -> Iterator[Candidate]:
    """Change two things; ``tool_measures`` are those that tools call by the same name."""
    variants = list(vary_measure(base, grades))
    changes = list(list_other_choices(conventions, fixed))
    for measure in variants:
        for further in vary_measure(measure, grades):
            if Candidate(further).distance(base) == 2:
                yield Candidate(further)
    for measure in dict.fromkeys([*variants, *tool_measures]):
        for choices in changes:
            yield Candidate(measure, choices)
    for choices in join_choices(changes):
        yield Candidate(base, choices)


def vary_measure(measure: Measure, grades: Iterable[float]) -> Iterator[Measure]:
    """Change one parameter of a measure: to another of its words, or to a number that is in use."""
    for parameter, (name, value) in zip(measure.row.parameters, measure.parameters, strict=True):
        numbers = sorted(set(grades)) if name == "rel" else (*parameter.numbers, *parameter.usual)
        for choice in (*parameter.words, *numbers):
            if choice != value:
                yield measure(**{name: choice})


def list_other_words(conventions: Policy, fixed: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each other word of each convention that was not given."""
    for name, words in (Policy.WORDS | Policy.RARE_WORDS).items():
        for word in words:
            if name not in fixed and word != getattr(conventions, name) and word not in NO_NUMBER:
                yield name, word


def list_other_choices(conventions: Policy, fixed: Mapping[str, Any]) -> Iterator[Choices]:
    """Yield each change of one convention, and those of several that are one decision."""
    changes = [(choice,) for choice in list_other_words(conventions, fixed)]
    yield from changes
    for words, _ in JOINED:
        if all((choice,) in changes for choice in words):
            yield words


def join_choices(changes: Iterable[Choices]) -> Iterator[Choices]:
    """Yield each two changes together that concern different conventions."""
    for first, second in combinations(changes, 2):
        if not dict(first).keys() & dict(second).keys():
            yield tuple(sorted(first + second))


def list_measures(
    cutoffs: Iterable[int | None], grades: Iterable[float], base: Measure | None = None
) -> list[Measure]:
    """List every measure of judged items at these cutoffs, varying up to two other parameters.

    The one asked for comes first with its relatives, then those of tools, then all others. The mean
    over queries is the usual one.
    """
    cutoffs, grades = tuple(cutoffs), tuple(grades)
    first = [] if base is None else [base, *_move_cutoff(base, cutoffs)]
    usual, varied = _list_usual(cutoffs, grades)
    every = dict.fromkeys((*first, *usual, *_vary_twice(first, grades), *varied))
    return [measure for measure in every if _is_of_judged_items(measure)]


@lru_cache(32)  # which no claim changes
def _list_usual(
    cutoffs: tuple[int | None, ...], grades: tuple[float, ...]
) -> tuple[tuple[Measure, ...], tuple[Measure, ...]]:
    """List germane's measures and those of tools, and variants of the first."""
    plain = [
        Measure(measure.name, (), k)
        for measure in list_every()
        for k in cutoffs
        if measure.row.cutoff or k is None
    ]
    of_tools = [
        parse(entry.write_measure(k))
        for dialect in dialects().values()
        for entry in dialect.measuring
        for k in cutoffs
        if entry.cutoff == (k is not None)
    ]
    return (*plain, *of_tools), tuple(dict.fromkeys(_vary_twice(plain, grades)))


def _vary_twice(measures: Iterable[Measure], grades: Sequence[float]) -> Iterator[Measure]:
    """Change one parameter of each measure, and then two."""
    for measure in measures:
        once = [*vary_measure(measure, grades)]
        yield from once
        for variant in once:
            yield from vary_measure(variant, grades)


def _move_cutoff(measure: Measure, cutoffs: Iterable[int | None]) -> list[Measure]:
    """List a measure with its own parameters at other cutoffs."""
    allowed = (k for k in cutoffs if k is None or measure.row.cutoff)
    return [Measure(measure.name, measure.parameters, k) for k in allowed if k != measure.k]


def _is_of_judged_items(measure: Measure) -> bool:
    of_lists = measure.row.subtopics or measure.row.of_catalogue
    return not of_lists and find_mean(measure) in (None, "arithmetic")


# --- Search: evaluate variations, and keep those that give a reported number, simplest first ------
#
# Whatever is varied, a definition on a run or the conventions of boxes, is searched in this way.

C = TypeVar("C")
V = TypeVar("V", bound=Variation[Any])


@dataclass(frozen=True)
class Tried(Generic[C]):
    """A candidate and the value that it gives on the data."""

    candidate: C
    value: float

    def __str__(self) -> str:
        return str(self.candidate)


class Search(Generic[V]):
    """Variations of a measure on some data, compared with each other and with what was reported."""

    def __init__(self, measure: Any, reported: Reported) -> None:
        self.measure, self.reported = measure, reported

    # --- what each kind of data answers for itself

    def find_value(self, candidate: V) -> float:
        """Evaluate a variation; NaN where it has no value."""
        raise NotImplementedError

    def coincide(self, first: V, second: V) -> bool:
        """Do two variations give the same on this data?"""
        raise NotImplementedError

    def list_simpler(self, candidate: V) -> Iterator[V]:
        """List what is one change simpler."""
        for name, _ in reversed(candidate.choices):
            yield candidate.drop(name)

    def make_key(self, candidate: V) -> object:
        """Return what variations that are written in several ways have in common."""
        return candidate.key

    def rank_usage(self, candidate: V) -> tuple[int, ...]:
        """Rank variations with as many changes: those that most tools have come first."""
        return (-len(candidate.tools),)

    # --- what is the same for all

    def evaluate_all(self, candidates: Iterable[V]) -> list[Tried[V]]:
        """Return the value of each candidate that has one."""
        values = ((candidate, self.find_value(candidate)) for candidate in candidates)
        return [Tried(candidate, value) for candidate, value in values if not math.isnan(value)]

    def gives(self, trial: Tried[V]) -> bool:
        """Does a candidate give what was reported?"""
        return self.reported.gives(trial.value)

    def simplify(self, trials: Iterable[Tried[V]]) -> list[Tried[V]]:
        """Drop changes that make no difference here, and sort the candidates, simplest first.

        Candidates that are the same then become one, under the name that was asked for or the
        simplest, with the tools of all.
        """
        merged: dict[object, Tried[V]] = {}
        for trial in trials:
            least = self._drop_idle_changes(trial.candidate)
            key = self.make_key(least)
            before = merged.get(key, Tried(least, trial.value))
            simpler = min(
                before.candidate, least, key=lambda candidate: candidate.distance(self.measure)
            )
            tools = dict.fromkeys((*before.candidate.tools, *least.tools))
            merged[key] = Tried(replace(simpler, tools=tuple(tools)), before.value)
        return sorted(merged.values(), key=self._order_simplicity)

    def _drop_idle_changes(self, candidate: V) -> V:
        """Drop changes one by one, as long as that changes nothing."""
        simpler: V | None = candidate
        while simpler is not None:
            candidate = simpler
            variations = self.list_simpler(candidate)
            simpler = next(
                (variation for variation in variations if self.coincide(variation, candidate)), None
            )
        return candidate

    def _order_simplicity(self, trial: Tried[V]) -> tuple[Any, ...]:
        candidate = trial.candidate
        return candidate.distance(self.measure), *self.rank_usage(candidate), str(candidate)

    def find_nearest(self, tried: Sequence[Tried[V]]) -> tuple[Tried[V], ...]:
        """Find the nearest candidate, the nearest of a tool, and what was asked for."""
        by_distance = sorted(tried, key=lambda trial: abs(trial.value - self.reported.value))
        of_tools = [trial for trial in by_distance if trial.candidate.tools]
        unchanged = [trial for trial in tried if trial.candidate.key == (self.measure, ())]
        rows: dict[object, Tried[V]] = {}
        for trial in (self.choose_nearest(by_distance), *of_tools[:1], *unchanged[:1]):
            for row in self.simplify(self.list_equal(trial, tried)):
                rows.setdefault(row.candidate.key, row)
        return tuple(rows.values())

    def choose_nearest(self, by_distance: Sequence[Tried[V]]) -> Tried[V]:
        """Choose the nearest of candidates that are sorted by their distance."""
        return by_distance[0]

    def list_equal(self, trial: Tried[V], tried: Sequence[Tried[V]]) -> list[Tried[V]]:
        """List what stands for a candidate among the nearest: itself alone."""
        return [equal for equal in tried if equal is trial]


def refuse_dialect(choices: Mapping[str, Any], verb: str) -> None:
    """Refuse a dialect where all of them are tried. Raises PolicyError."""
    if choices.get("dialect") is not None:
        raise PolicyError(
            f"{verb} takes no {write_option('dialect')}, since it tries all of them and knows"
            " the names that tools give to measures. Leave it out."
        )
