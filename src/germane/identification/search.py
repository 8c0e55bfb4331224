"""Search: the definitions that give a function's values everywhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from germane.identification.asking import Precision, guess_precision
from germane.identification.batch import Batch
from germane.identification.cases import Question, Shape
from germane.identification.decisions import Decisions, State
from germane.identification.draws import draw_several
from germane.identification.inquiry import Inquiry, Trail
from germane.identification.known_questions import list_known
from germane.identification.special_data import SPECIAL, draw_questions
from germane.identification.tool_definitions import COMMON, ToolDefinitions, count_tools
from germane.measures.measure import Measure
from germane.reconciliation.variations import (
    Candidate,
    find_mean,
    list_measures,
    list_other_words,
)

Far = Literal["yes", "no"]  # are definitions with other conventions on ordinary data tried?

GRADES = (1.0, 2.0, 3.0)
RESERVED = 2  # calls for the check and the counterexample, where calls count
FINE = 12  # decimals of a program that prints all digits


class Search:
    """The definitions that fit the answers of one function, near the one that was asked for."""

    def __init__(
        self,
        inquiry: Inquiry,
        fixed: Mapping[str, Any],
        claim: Measure | None,
        cutoffs: Iterable[int | None],
        far: Far = "yes",
    ) -> None:
        self.inquiry, self.fixed, self.claim = inquiry, dict(fixed), claim
        self.cutoffs, self.far = list(cutoffs), far
        self.ordinary: Batch | None = None
        self.tools = ToolDefinitions(inquiry.base, self.fixed, claim)
        self.decisions = Decisions(inquiry, self.fixed)
        self.batches = self.decisions.batches  # in which definitions were found
        self.compared = 0  # questions whose answers the definitions give

    @property
    def trail(self) -> Trail:
        """All that was found out besides definitions."""
        return self.inquiry.trail

    # --- Ordinary data ----------------------------------------------------------------------------

    def find_measures(self, batch: Batch) -> list[State]:
        """Find the definitions that give the values of ordinary queries, simplest first."""
        for candidates in self._list_stages(batch):
            fitting = [
                candidate
                for candidate in candidates
                if batch.fits(candidate, self.inquiry.precision)
            ]
            if fitting:
                break
        else:
            return []
        states = {
            candidate.key: State(candidate, plain=not candidate.choices) for candidate in fitting
        }
        return sorted(states.values(), key=self.order)

    def list_measures(self, cutoffs: Sequence[int | None]) -> list[Measure]:
        """List the measures that are tried at these cutoffs."""
        grades = self.inquiry.shape.grades
        return list_measures(cutoffs, grades if len(grades) > 1 else (), self.claim)

    def _list_stages(self, batch: Batch) -> Iterator[list[Candidate]]:
        """List definitions in stages: measures, then those with one or two other conventions."""
        near, measures = self.list_measures(self.cutoffs[:2]), self.list_measures(self.cutoffs)
        tried = set(near)
        yield [Candidate(measure) for measure in near]
        yield [Candidate(measure) for measure in measures if measure not in tried]
        if self.far == "no":
            return
        if self.inquiry.kind == "mean" and self.inquiry.asker.most_calls is not None:
            # the mean over queries
            yield [Candidate(variant) for measure in near for variant in vary_mean(measure)[1:]]
            measures = near
        words = self._find_moving_words(batch)
        once = [Candidate(measure, (word,)) for measure in measures for word in words]
        yield [*self._list_tool_candidates(batch, measures), *once]
        pairs = [pair for pair in combinations(words, 2) if pair[0][0] != pair[1][0]]
        yield [Candidate(measure, tuple(sorted(pair))) for measure in measures for pair in pairs]

    def _find_moving_words(self, batch: Batch) -> list[tuple[str, Any]]:
        """Find the words of conventions that make a difference on ordinary queries."""
        moving = []
        usual = batch.rank(self.inquiry.base)
        for name, word in list_other_words(self.inquiry.base, self.fixed):
            try:
                ranking = batch.rank(replace(self.inquiry.base, **{name: word}))
            except ValueError:
                continue
            arrays = ("rank", "relevance", "retrieved", "ideal", "ideal_offsets", "owner")
            if not all(np.array_equal(getattr(ranking, a), getattr(usual, a)) for a in arrays):
                moving.append((name, word))
        return moving

    def _list_tool_candidates(self, batch: Batch, measures: list[Measure]) -> Iterator[Candidate]:
        """List the definitions of tools that change ordinary rankings, with these changes alone."""
        moving = {name for name, _ in self._find_moving_words(batch)} | {"depth"}
        seen = set()
        kinds = dict.fromkeys((measure.name, measure.k) for measure in measures)
        for candidate in (tool for kind in kinds for tool in self.tools.list_kind(*kind)):
            choices = tuple(pair for pair in candidate.choices if pair[0] in moving)
            key = candidate.measure, choices
            if choices and key not in seen:
                seen.add(key)
                yield Candidate(candidate.measure, choices)

    def order(self, state: State) -> tuple[Any, ...]:
        """Order definitions: nearest to the one asked for, or to the usual one of its kind."""
        measure = state.candidate.measure
        oddities = self.count_oddities(state.candidate)
        usual = (
            oddities,
            -len(self.tools.find(state.candidate, self.batches, self.inquiry.precision)),
            str(state.candidate),
        )
        if self.claim is None:
            return usual
        return state.candidate.distance(self.claim) + (measure.k != self.claim.k), *usual

    def count_oddities(self, candidate: Candidate) -> int:
        """Count what is not usual: parameters, conventions, and a measure that few tools have."""
        measure = candidate.measure
        changed = Candidate(measure).distance(Measure(measure.name, (), measure.k))
        tools = count_tools(measure.name)
        return changed + len(candidate.choices) + sum(tools < count for count in COMMON)

    # --- All of it --------------------------------------------------------------------------------

    def run(self) -> list[State]:
        """Search, decide and check; the definitions that are left, simplest first."""
        first = list(self.inquiry.asker.answers)
        batch = self.ordinary = self.inquiry.ask_ordinary()
        printed = getattr(self.inquiry.asker.call, "decimals", 0)
        if self.inquiry.precision.decimals is None and 0 < printed < FINE:
            self.inquiry.precision = replace(self.inquiry.precision, decimals=printed)
        if self.inquiry.is_random(batch):
            return []
        states = self._search_ordinary(batch) or self._search_rounded(batch)
        self.batches.append((None, self.ordinary))
        if self.ordinary.raised:
            self.trail.raised["ordinary"] = self.ordinary.raised[0]
        if self.inquiry.asker.most_calls is None:
            states = self._decide_mean(states)
        self._learn_cutoff(states)
        for special in SPECIAL:
            if self.inquiry.asker.left is None or (
                special.counted and self.inquiry.asker.left > RESERVED
            ):
                states = self.decisions.decide(states, special)
        return self._check(states, first)

    def _learn_cutoff(self, states: Sequence[State]) -> None:
        """Draw special data around the cutoff that was found, which may not be the one claimed."""
        cutoffs = {state.candidate.measure.k for state in states}
        if len(cutoffs) == 1 and (k := cutoffs.pop()) is not None:
            self.inquiry.shape = replace(self.inquiry.shape, k=k)

    def _search_rounded(self, batch: Batch) -> list[State]:
        """Search again where the values show that they are rounded, or of single precision."""
        exact = self.inquiry.precision
        guessed, sentence = guess_precision(batch.given[batch.answered])
        if not sentence or exact != Precision():
            return []
        self.inquiry.precision = guessed
        states = self._search_ordinary(batch)
        if not states:
            self.inquiry.precision = exact
        else:
            self.trail.rounded = sentence
        return states

    def _search_ordinary(self, batch: Batch) -> list[State]:
        """Search with graded data, and with 0 and 1 where that finds nothing as simple."""
        states = [] if _is_refused(batch) else self.find_measures(batch)
        simple = bool(states) and self.order(states[0])[0] == 0
        # where calls are counted, none is spent on it
        saves_calls = self.inquiry.asker.most_calls is not None and bool(states)
        if len(self.inquiry.shape.grades) == 1 or simple or saves_calls:
            return states
        before = self.ordinary, self.inquiry.shape, self.trail
        self.inquiry.trail = Trail()
        binary = self._search_binary(batch)
        if not states or (binary and self.order(binary[0])[0] < self.order(states[0])[0]):
            return binary
        self.ordinary, self.inquiry.shape, self.inquiry.trail = before
        return states

    def _search_binary(self, graded: Batch) -> list[State]:
        """Search with the grades 0 and 1 alone, for measures that know no others."""
        shape = self.inquiry.shape
        if self.claim is not None and self.claim.rel not in (None, 1.0):
            return []  # which needs higher grades
        self.inquiry.shape = shape.binary
        batch = self.inquiry.ask_ordinary()
        only = _is_refused(graded)
        states = [
            state
            for state in ([] if _is_refused(batch) else self.find_measures(batch))
            if state.candidate.measure.rel == 1.0 or (only and state.candidate.measure.rel is None)
        ]
        if not states:
            self.inquiry.shape = shape
            return []
        self.ordinary, self.trail.binary = batch, True
        if graded.raised:
            self.trail.raised["graded"] = graded.raised[0]
        question = graded.find_difference(states[0].candidate, self.inquiry.precision)
        if question is not None and not graded.raised:
            self.trail.unexplained["graded"] = question
        return states

    def _decide_mean(self, states: list[State]) -> list[State]:
        """Find the mean over queries."""
        if not self.inquiry.asker.form.several or self.inquiry.kind == "queries" or not states:
            return states
        calls, rng = 1 if self.inquiry.asker.most_calls else 4, self.inquiry.rng
        batch = self.inquiry.ask(draw_several(rng, self.inquiry.shape, 4) for _ in range(calls))
        if not batch.is_answered:
            return states
        fitting = []
        for state in states:
            for measure in vary_mean(state.candidate.measure):
                candidate = replace(state.candidate, measure=measure)
                if batch.fits(candidate, self.inquiry.precision):
                    fitting.append(replace(state, candidate=candidate))
        if not fitting:
            question = batch.find_difference(states[0].candidate, self.inquiry.precision)
            assert question is not None
            self.trail.broken = states[0].candidate, question
        return fitting

    def _check(self, states: list[State], first: list[Question]) -> list[State]:
        """Check the definitions on new data, which took no part in the search."""
        if not states:
            self.inquiry.is_constant([self.inquiry.ask_known(list(self.inquiry.asker.answers))])
        if not states or self.inquiry.asker.left == 0:
            return states
        inside = [question for question in first if _has_grades(question, self.inquiry.shape)]
        batches = [self.inquiry.ask_new(), self.inquiry.ask_known(inside)]
        if self.inquiry.asker.most_calls is None:
            batches += self._ask_special_again()
        fitting: list[State] = []
        formulas = set()
        precision = self.inquiry.precision
        for state in sorted(states, key=lambda state: (not state.plain, *self.order(state)[:-1])):
            if _name_formula(state) in formulas:
                continue  # the simplest one of this formula is kept
            differences = (batch.find_difference(state.candidate, precision) for batch in batches)
            question = next(filter(None, differences), None)
            if question is None:
                fitting.append(state)
                formulas.add(_name_formula(state))
            elif self.trail.broken is None:
                self.trail.broken = state.candidate, question
        seen = [*(batch for _, batch in self.batches), *batches]
        pairs = (
            pair for batch in seen for pair in zip(batch.questions, batch.answers, strict=True)
        )
        self.compared = len({question for question, answer in pairs if not answer.raised})
        if self.inquiry.is_constant(seen):
            fitting = [state for state in fitting if state.candidate.measure == self.claim]
        return sorted(fitting, key=self.order)

    def _ask_special_again(self) -> Iterator[Batch]:
        """Ask about new special data of the kinds decided, and known cases of several kinds."""
        inquiry = self.inquiry
        if inquiry.asker.form.several:
            yield inquiry.ask(draw_several(inquiry.rng, inquiry.shape) for _ in range(6))
        decided = self.trail.shown.keys() - self.trail.unexplained.keys() - self.trail.unseen.keys()
        for special in SPECIAL:
            if special.name in decided and special.needs <= inquiry.asker.shows:
                questions = draw_questions(inquiry.rng, inquiry.shape, special)
                yield inquiry.ask(questions[::2] if inquiry.shape.slow else questions)
        for kinds, known_questions in list_known(inquiry.shape).items():
            if kinds <= decided:
                yield inquiry.ask(known_questions)


def _name_formula(state: State) -> tuple[str, Any]:
    return state.candidate.measure.definition, find_mean(state.candidate.measure)


def _is_refused(batch: Batch) -> bool:
    """Does the function raise on so much ordinary data that its other values show nothing?"""
    return len(batch.raised) > len(batch.questions) // 3


def _has_grades(question: Question, shape: Shape) -> bool:
    """Are all grades of a question among those of a shape?"""
    grades = (0.0, *shape.grades)
    return all(grade in grades for case in question.cases for grade in case.grades)


def vary_mean(measure: Measure) -> list[Measure]:
    """List a measure with every mean over queries, the one that it has first."""
    if "mean" not in dict(measure.parameters):
        return [measure]
    words = ("arithmetic", "micro", "geometric")
    return list(dict.fromkeys((measure, *(measure(mean=word) for word in words))))
