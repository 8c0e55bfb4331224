"""Search: ask a function questions, and keep the definitions that give its values everywhere."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.dialects import dialects, resolve_dialect
from germane.dialects.parsing import parse
from germane.identification.asking import Answer, Asker, Kind, Precision, ask_all, guess_precision
from germane.identification.batch import Batch
from germane.identification.cases import (
    SPECIAL,
    Question,
    Rng,
    Shape,
    Special,
    draw_questions,
    draw_several,
    draw_single,
)
from germane.measures.measure import Measure
from germane.reconciliation.variations import (
    NO_NUMBER,
    Candidate,
    list_dialect_candidates,
    list_measures,
    list_other_words,
)

GRADES = (1.0, 2.0, 3.0)
ORDINARY, LAST, JOINED = (
    36,
    60,
    24,
)  # questions of a search and of its check; queries where calls count
COMMON = (4, 20)  # tools that have a measure which some people know, and which all do
RESERVED = 3  # calls for the check and the counterexample, where calls count
FINE = 12  # decimals of a program that prints all digits
MOST_STATES = 48  # definitions that are followed at once

USUAL = {"duplicates": "first", "repeated": "once"}
"""The conventions of a definition that copies do not decide: germane's own refuse them."""


@dataclass(frozen=True)
class State:
    """A definition that gives all values so far, and the conventions that special data decided."""

    candidate: Candidate
    decided: tuple[tuple[str, Any], ...] = ()
    plain: bool = True
    """Does it need no convention on ordinary data?"""


@dataclass
class Trail:
    """All that a search found out besides definitions."""

    raised: dict[str, tuple[Question, str]] = field(default_factory=dict)
    odd: dict[str, tuple[Question, float, float]] = field(default_factory=dict)
    """special data on which the function gives a value that no convention gives: it, and the definition's"""
    shown: dict[str, Floats] = field(default_factory=dict)
    """the function's values on special data"""
    unseen: dict[str, str] = field(default_factory=dict)
    """special data that the form cannot show, and why"""
    broken: tuple[Candidate, Question] | None = None
    """a definition that fits until it meets this question"""
    binary: bool = False
    """Do the definitions hold for the grades 0 and 1 alone?"""
    rounded: str = ""
    """how the values are rounded, where they show it"""
    constant: bool = False
    """Is it one value for all data?"""
    random: Question | None = None
    """a question to which the function gave two answers"""


class Search:
    """The questions to one function, and the definitions that fit the answers."""

    def __init__(
        self,
        asker: Asker,
        kind: Kind,
        precision: Precision,
        base: Policy,
        fixed: Mapping[str, Any],
        asked: Measure | None,
        cutoffs: Iterable[int | None],
        shape: Shape,
        rng: Rng,
    ) -> None:
        self.asker, self.kind, self.precision, self.rng = asker, kind, precision, rng
        self.base, self.fixed, self.asked = base, dict(fixed), asked
        self.cutoffs, self.shape, self.trail = list(cutoffs), shape, Trail()
        self.ordinary: Batch | None = None
        self.batches: list[tuple[Special | None, Batch]] = []  # in which definitions were found
        self.compared = 0  # questions whose answers the definitions give
        self._of_tools: dict[tuple[str, int | None], list[Candidate]] = {}
        self._tools: dict[object, tuple[str, ...]] = {}

    # --- Questions --------------------------------------------------------------------------------

    def ask(self, questions: Iterable[Question]) -> Batch:
        """Ask questions, as far as calls are left."""
        asked = list(questions)
        if self.asker.left is not None:
            asked = asked[: self.asker.left]
        return self._make_batch(asked, ask_all(self.asker, asked))

    def ask_known(
        self, questions: list[Question], answers: Mapping[Question, Answer] | None = None
    ) -> Batch:
        """Make a batch of questions with the answers that are known, or without any."""
        known = self.asker.answers if answers is None else answers
        return self._make_batch(
            questions, [known.get(one, Answer(raised="-")) for one in questions]
        )

    def _make_batch(self, questions: list[Question], answers: list[Answer]) -> Batch:
        return Batch(self.asker.form, questions, answers, self.base, self.kind)

    def ask_ordinary(self, shape: Shape, count: int = ORDINARY) -> Batch:
        """Ask about ordinary queries: one in each call, or where calls are counted many."""
        if self.asker.most is not None:
            several = [
                draw_several(self.rng, shape, JOINED) for _ in range(1 if count > ORDINARY else 2)
            ]
            return self.ask(several)
        return self.ask(draw_single(self.rng, shape) for _ in range(count))

    def is_random(self, batch: Batch) -> bool:
        """Does the function give another answer when it is asked again?"""
        again = batch.questions[: 3 if self.asker.most is None else 1]
        for question in again:
            first, second = self.asker.ask(question), self.asker.ask(question, again="yes")
            if (
                first.kind != second.kind
                or bool(first.raised) != bool(second.raised)
                or not np.array_equal(first.values, second.values, equal_nan=True)
            ):
                self.trail.random = question
        return self.trail.random is not None

    # --- Ordinary data ----------------------------------------------------------------------------

    def find_measures(self, batch: Batch) -> list[State]:
        """Find the definitions that give the values of ordinary queries, simplest first."""
        grades = sorted({grade for grade in self.shape.grades if len(self.shape.grades) > 1})
        for candidates in self._list_stages(batch, grades):
            found = [one for one in candidates if batch.fits(one, self.precision)]
            if found:
                break
        else:
            return []
        states = {one.key: State(one, plain=not one.choices) for one in found}
        return sorted(states.values(), key=self.order)

    def _list_stages(self, batch: Batch, grades: list[float]) -> Iterator[list[Candidate]]:
        """List definitions from the simplest on: measures, then those with one or two other conventions."""
        near = list_measures(self.cutoffs[:2], grades, self.asked)
        measures = list_measures(self.cutoffs, grades, self.asked)
        yield [Candidate(one) for one in near]
        yield [Candidate(one) for one in measures if one not in set(near)]
        if self.kind == "mean" and self.asker.most is not None:  # every call is a mean over queries
            yield [Candidate(other) for one in near for other in vary_mean(one)[1:]]
            measures = near
        words = self._find_moving_words(batch)
        once = [Candidate(one, (word,)) for one in measures for word in words]
        yield [*self._list_tool_candidates(batch, measures), *once]
        pairs = [pair for pair in combinations(words, 2) if pair[0][0] != pair[1][0]]
        yield [Candidate(one, tuple(sorted(pair))) for one in measures for pair in pairs]

    def _find_moving_words(self, batch: Batch) -> list[tuple[str, Any]]:
        """Find the words of conventions that make a difference on ordinary queries."""
        found = []
        usual = batch.rank(self.base)
        for name, word in list_other_words(self.base, self.fixed):
            try:
                ranking = batch.rank(replace(self.base, **{name: word}))
            except ValueError:
                continue
            arrays = ("rank", "relevance", "retrieved", "ideal", "ideal_offsets", "owner")
            if not all(np.array_equal(getattr(ranking, a), getattr(usual, a)) for a in arrays):
                found.append((name, word))
        return found

    def list_of_tools(self, name: str, k: int | None) -> list[Candidate]:
        """List the definitions that tools have of a kind of measure."""
        if (name, k) not in self._of_tools:
            kinds = [Measure(name, (), k)]
            if self.asked is not None and (self.asked.name, self.asked.k) == (name, k):
                kinds = [self.asked]
            self._of_tools[name, k] = [
                one
                for kind in kinds
                for one in list_dialect_candidates(kind, self.base, self.fixed)
            ]
        return self._of_tools[name, k]

    def _list_tool_candidates(self, batch: Batch, measures: list[Measure]) -> Iterator[Candidate]:
        """List the definitions of tools that change ordinary rankings, with these changes alone."""
        moving = {name for name, _ in self._find_moving_words(batch)} | {"depth"}
        seen = set()
        kinds = dict.fromkeys((one.name, one.k) for one in measures)
        for one in (tool for kind in kinds for tool in self.list_of_tools(*kind)):
            choices = tuple(pair for pair in one.choices if pair[0] in moving)
            key = one.measure, choices
            if choices and key not in seen:
                seen.add(key)
                yield Candidate(one.measure, choices)

    def order(self, state: State) -> tuple[Any, ...]:
        """Order definitions: nearest to the one that was asked for, or to the usual one of its kind."""
        measure = state.candidate.measure
        oddities = self.count_oddities(state.candidate)
        usual = oddities, -len(self.find_tools(state)), str(state.candidate)
        if self.asked is None:
            return usual
        return state.candidate.distance(self.asked) + (measure.k != self.asked.k), *usual

    def count_oddities(self, candidate: Candidate) -> int:
        """Count what is not usual: other parameters and conventions, and that few tools have the measure."""
        measure = candidate.measure
        changed = Candidate(measure).distance(Measure(measure.name, (), measure.k))
        tools = _count_tools(measure.name)
        return changed + len(candidate.choices) + sum(tools < count for count in COMMON)

    # --- Special data -----------------------------------------------------------------------------

    def decide(self, states: list[State], special: Special) -> list[State]:
        """Keep the definitions that some word of a convention makes equal on special data."""
        questions = draw_questions(self.rng, self.shape, special, self.asker.most)
        if not special.needs <= self.asker.shows:
            self.trail.unseen[special.name] = special.why
            return states
        if not questions or not states or self.asker.left == 0:
            return states
        batch = self.ask(questions)
        if batch.raised:
            self.trail.raised[special.name] = batch.raised[0]
        if not batch.is_answered:
            return states
        self.trail.shown[special.name] = batch.given[batch.answered]
        if self.asker.most is None and self._is_random_here(batch, special):
            return states
        found: dict[object, State] = {}
        for state in states:
            for other in self._decide_one(state, special, batch):
                found.setdefault(other.candidate.key, other)
        if found:
            self.batches.append((special, batch))
            return [*found.values()][:MOST_STATES]
        first = states[0].candidate
        question = batch.find_difference(first, self.precision)
        assert question is not None
        if special.binds:
            self.trail.broken = first, question
            return []
        at = batch.questions.index(question)
        place = int(np.flatnonzero((batch.owner == at) & batch.answered)[0])
        expected = batch.expect(first)
        self.trail.odd[special.name] = (
            question,
            float(batch.given[place]),
            float("nan") if expected is None else float(expected[place]),
        )
        return states

    def _is_random_here(self, batch: Batch, special: Special) -> bool:
        before = self.trail.random
        differs = self.is_random(batch)
        if differs:
            self.trail.random = before
            self.trail.unseen[special.name] = "the function gives another value each time"
        return differs

    def _decide_one(self, state: State, special: Special, batch: Batch) -> Iterator[State]:
        """Yield the state with each word of a convention that fits; the usual word comes first."""
        if not special.decides or special.decides[0] in self.fixed:
            if batch.fits(state.candidate, self.precision):
                yield state
            return
        for name in special.decides:
            if name == "undefined" and not self.asker.form.several:
                continue  # one query is its own mean
            words = list(self._list_words(state, name))
            fitting = []
            for word in words:
                choices = {**dict(state.candidate.choices), name: word}
                if word == getattr(self.base, name):
                    choices.pop(name, None)
                candidate = replace(state.candidate, choices=tuple(sorted(choices.items())))
                if batch.fits(candidate, self.precision):
                    fitting.append((word, candidate))
            decided = len(fitting) < len(words)
            before = tuple(pair for pair in state.decided if pair[0] != name)
            for word, candidate in fitting:
                choice = ((name, word),) if decided else ()
                yield State(candidate, before + choice, state.plain)

    def _list_words(self, state: State, name: str) -> Iterator[Any]:
        """List the words of a convention: the one in force, then the others."""
        now = dict(state.candidate.choices).get(name, getattr(self.base, name))
        yield now
        for other, word in list_other_words(replace(self.base, **{name: now}), self.fixed):
            if other == name and word not in ("binary", "error"):
                yield word
        if name in ("no_relevant", "no_hit", "all_relevant", "empty") and now != "nan":
            yield "nan"

    # --- All of it --------------------------------------------------------------------------------

    def run(self) -> list[State]:
        """Search, decide and check; the definitions that are left, simplest first."""
        first = list(self.asker.answers)
        batch = self.ordinary = self.ask_ordinary(self.shape)
        printed = getattr(self.asker.call, "decimals", 0)
        if self.precision.decimals is None and 0 < printed < FINE:
            self.precision = replace(self.precision, decimals=printed)
        if self.is_random(batch):
            return []
        states = self._search_ordinary(batch) or self._search_rounded(batch)
        self.batches.append((None, self.ordinary))
        for special in SPECIAL:
            if self.asker.left is None or (special.counted and self.asker.left > RESERVED):
                states = self.decide(states, special)
        if self.asker.most is None:
            states = self._decide_mean(states)
        return self._check(states, first)

    def _search_rounded(self, batch: Batch) -> list[State]:
        """Search again where the values show that they are rounded, or of single precision."""
        exact, (found, says) = self.precision, guess_precision(batch.given[batch.answered])
        if not says or exact != Precision():
            return []
        self.precision = found
        states = self._search_ordinary(batch)
        if not states:
            self.precision = exact
        else:
            self.trail.rounded = says
        return states

    def _search_ordinary(self, batch: Batch) -> list[State]:
        """Search with graded data, and with the grades 0 and 1 where that finds nothing as simple."""
        refused = len(batch.raised) > len(batch.questions) // 3
        states = [] if refused else self.find_measures(batch)
        if len(self.shape.grades) == 1 or (states and self.order(states[0])[0] == 0):
            return states
        before = self.ordinary, self.shape, self.trail
        self.trail = Trail()
        binary = self._search_binary(batch)
        if not states or (binary and self.order(binary[0])[0] < self.order(states[0])[0]):
            return binary
        self.ordinary, self.shape, self.trail = before
        return states

    def _search_binary(self, graded: Batch) -> list[State]:
        """Search with the grades 0 and 1 alone, for measures that know no others."""
        shape = self.shape
        if self.asked is not None and self.asked.rel not in (None, 1.0):
            return []  # which needs higher grades
        self.shape = shape.binary
        batch = self.ask_ordinary(self.shape)
        only = len(graded.raised) > len(graded.questions) // 3
        states = [
            one
            for one in self.find_measures(batch)
            if one.candidate.measure.rel == 1.0 or (only and one.candidate.measure.rel is None)
        ]
        if not states:
            self.shape = shape
            return []
        self.ordinary, self.trail.binary = batch, True
        if graded.raised:
            self.trail.raised["graded"] = graded.raised[0]
        question = graded.find_difference(states[0].candidate, self.precision)
        if question is not None and not graded.raised:
            place = int(np.flatnonzero(graded.owner == graded.questions.index(question))[0])
            expected = graded.expect(states[0].candidate)
            value = float("nan") if expected is None else float(expected[place])
            self.trail.odd["graded"] = question, float(graded.given[place]), value
        return states

    def _decide_mean(self, states: list[State]) -> list[State]:
        """Find the mean over queries."""
        if not self.asker.form.several or self.kind == "queries" or not states:
            return states
        batch = self.ask(
            [draw_several(self.rng, self.shape, 4) for _ in range(1 if self.asker.most else 4)]
        )
        if not batch.is_answered:
            return states
        found = []
        for state in states:
            for other in vary_mean(state.candidate.measure):
                candidate = replace(state.candidate, measure=other)
                if batch.fits(candidate, self.precision):
                    found.append(replace(state, candidate=candidate))
        if not found:
            question = batch.find_difference(states[0].candidate, self.precision)
            assert question is not None
            self.trail.broken = states[0].candidate, question
        return found

    def _check(self, states: list[State], first: list[Question]) -> list[State]:
        """Check the definitions on new data, which took no part in the search."""
        if not states:
            self._is_constant([self.ask_known(list(self.asker.answers))])
        if not states or self.asker.left == 0:
            return states
        inside = [one for one in first if _has_grades(one, self.shape)]
        batches = [self.ask_ordinary(self.shape, LAST), self.ask_known(inside)]
        if self.asker.most is None:
            if self.asker.form.several:
                batches.append(self.ask(draw_several(self.rng, self.shape) for _ in range(6)))
            skipped = {*self.trail.odd, *self.trail.unseen}
            for special in SPECIAL:
                if special.name not in skipped and special.needs <= self.asker.shows:
                    questions = draw_questions(self.rng, self.shape, special)
                    batches += [self.ask(questions)] if questions else []
        kept = []
        for state in states:
            question = next(
                filter(
                    None, (one.find_difference(state.candidate, self.precision) for one in batches)
                ),
                None,
            )
            if question is None:
                kept.append(state)
            elif self.trail.broken is None:
                self.trail.broken = state.candidate, question
        seen = [*(one for _, one in self.batches), *batches]
        self.compared = len(
            {
                question
                for one in seen
                for question, answer in zip(one.questions, one.answers, strict=True)
                if not answer.raised
            }
        )
        if self._is_constant([*(one for _, one in self.batches), *batches]):
            kept = [one for one in kept if one.candidate.measure == self.asked]
        return self._merge(kept)

    def _is_constant(self, batches: list[Batch]) -> bool:
        """Does the function give one value for all data, so that it shows nothing?"""
        values = np.concatenate([one.given[one.answered] for one in batches])
        self.trail.constant = bool(len(values)) and bool(
            self.precision.agree(values, values[:1]).all()
        )
        return self.trail.constant

    def _merge(self, states: list[State]) -> list[State]:
        """Keep one state of each formula: the simplest, with the conventions that come first."""
        found: dict[object, State] = {}
        for state in sorted(states, key=lambda one: (not one.plain, self.order(one))):
            measure = state.candidate.measure
            mean = dict(measure.parameters).get("mean")
            found.setdefault((measure.definition, mean), state)
        return sorted(found.values(), key=self.order)

    def find_tools(self, state: State) -> tuple[str, ...]:
        """Find the tools that define it so: they give the values that they do not refuse to give."""
        if state.candidate.key not in self._tools:
            measure = state.candidate.measure
            of_kind = self.list_of_tools(measure.name, measure.k)
            found = [
                one.tools[0]
                for one in of_kind
                if one.measure.name == measure.name and self._agrees(one)
            ]
            self._tools[state.candidate.key] = tuple(dict.fromkeys(found))
        return self._tools[state.candidate.key]

    def _agrees(self, candidate: Candidate) -> bool:
        """Does a tool's definition give the function's values on all data that it takes?"""
        tool, _, name = candidate.tools[0].partition(":")
        dialect = resolve_dialect(tool)
        entry = dialect.find(name)
        stated = {**dialect.choices, **({} if entry is None else entry.read_choices(name))}
        refused = {name for name, word in stated.items() if word in NO_NUMBER and word != "nan"}
        refused |= USUAL.keys() - stated.keys()  # as germane, it refuses copies
        kept = tuple(pair for pair in candidate.choices if pair[0] not in refused)
        for special, batch in self.batches:
            if special is not None and refused.intersection(special.decides):
                continue
            expected = batch.expect(Candidate(candidate.measure, kept))
            if (
                expected is not None
                and not batch.match(expected, self.precision)[batch.answered].all()
            ):
                return False
        return True


@cache
def _count_tools(name: str) -> int:
    """Count the tools that have a measure of this name."""
    every = (one for one in dialects().values() if not one.matching)
    kinds = ({parse(entry.write_measure(1)).name for entry in one.measuring} for one in every)
    return sum(name in names for names in kinds)


def _has_grades(question: Question, shape: Shape) -> bool:
    """Are all grades of a question among those of a shape?"""
    return all(
        grade in (0.0, *shape.grades) for case in question.cases for _, grade in case.judged or ()
    )


def vary_mean(measure: Measure) -> list[Measure]:
    """List a measure with every mean over queries, the one that it has first."""
    if "mean" not in dict(measure.parameters):
        return [measure]
    words = ("arithmetic", "micro", "geometric")
    return list(dict.fromkeys((measure, *(measure(mean=word) for word in words))))
