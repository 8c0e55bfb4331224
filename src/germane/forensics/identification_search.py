"""Search: the definitions that give a function's values everywhere, and its conventions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from germane.forensics.asking import Batch, Precision, guess_precision
from germane.forensics.cases import SPECIAL, Question, Shape, Special, draw_questions, draw_several
from germane.forensics.inquiry import COMMON, Inquiry, ToolDefinitions, Trail, count_tools
from germane.forensics.known_cases import list_known
from germane.forensics.variations import Candidate, find_mean, list_measures, list_other_words
from germane.measures.measure import Measure

MOST_STATES = 48  # definitions that are followed at once
_WITH_NAN = ("no_relevant", "no_hit", "all_relevant", "missing", "empty")


@dataclass(frozen=True)
class State:
    """A definition that gives all values so far, and the conventions that special data decided."""

    candidate: Candidate
    decided: tuple[tuple[str, Any], ...] = ()
    plain: bool = True
    """Does it need no convention on ordinary data?"""


@dataclass
class Decisions:
    """The conventions of one function by kind of special data; ``fixed`` ones were given."""

    inquiry: Inquiry
    fixed: Mapping[str, Any]
    batches: list[tuple[Special | None, Batch]] = field(default_factory=list)
    """the batches in which definitions were found, each with its special data"""

    def decide(self, states: list[State], special: Special) -> list[State]:
        """Keep the definitions that some word of a convention makes equal on special data."""
        inquiry, trail = self.inquiry, self.inquiry.trail
        if not special.needs <= inquiry.asker.shows:
            trail.unseen[special.name] = special.why
            return states
        if (
            not states
            or inquiry.asker.left == 0
            or special.after in (*trail.unexplained, *trail.unseen)
        ):
            return states
        questions = inquiry.draw(special)
        if not questions:
            return states
        batch = inquiry.ask(questions)
        if batch.raised:
            trail.raised[special.name] = batch.raised[0]
            if (wrong := self._find_wrong_errors(special, batch)) is not None:
                trail.broken = states[0].candidate, wrong
                return []
        if not batch.is_answered:
            return states
        trail.shown[special.name] = batch.given[batch.answered]
        if inquiry.asker.most_calls is None and self._is_random_here(batch, special):
            return states
        by_key: dict[object, State] = {}
        for state in states:
            for decided in self._decide_one(state, special, batch):
                by_key.setdefault(decided.candidate.key, decided)
        if by_key:
            self.batches.append((special, batch))
            return [*by_key.values()][:MOST_STATES]
        return self._leave(states, special, batch)

    def _leave(self, states: list[State], special: Special, batch: Batch) -> list[State]:
        """Note where no convention fits: there is no definition, or it holds for other data."""
        trail, first = self.inquiry.trail, states[0].candidate
        question = batch.find_difference(first, self.inquiry.precision)
        assert question is not None
        stated = self._find_stated(special) is not None
        if stated or (special.binds and self.inquiry.asker.form.name not in special.lenient):
            trail.broken = first, question
            return []
        trail.unexplained[special.name] = question
        return states

    def _find_wrong_errors(self, special: Special, batch: Batch) -> Question | None:
        """Find a question whose answer is no number, where the user states that it is one."""
        stated = self._find_stated(special)
        for question, error in batch.raised if stated is not None else ():
            if stated != "error" or error.startswith("returned "):
                return question
        return None

    def _find_stated(self, special: Special) -> Any:
        """Find the word of the convention that special data decides, if the user states one."""
        return self.fixed.get(special.decides[0]) if special.decides else None

    def _is_random_here(self, batch: Batch, special: Special) -> bool:
        before = self.inquiry.trail.random
        differs = self.inquiry.is_random(batch)
        if differs:
            self.inquiry.trail.random = before
            self.inquiry.trail.unseen[special.name] = (
                "the function returns a different value each time"
            )
        return differs

    def _decide_one(self, state: State, special: Special, batch: Batch) -> Iterator[State]:
        """Yield the state with each word of a convention that fits; the usual word comes first."""
        if not special.decides or special.decides[0] in self.fixed:
            if batch.fits(state.candidate, self.inquiry.precision):
                yield state
            return
        for name in special.decides:
            if name in self.fixed:
                continue
            if name == "undefined" and not self.inquiry.asker.form.several:
                continue  # one query is its own mean
            words = list(self._list_words(state, name))
            fitting = []
            for word in words:
                choices = {**dict(state.candidate.choices), name: word}
                if word == getattr(self.inquiry.base, name):
                    choices.pop(name, None)
                candidate = replace(state.candidate, choices=tuple(sorted(choices.items())))
                if batch.fits(candidate, self.inquiry.precision):
                    fitting.append((word, candidate))
            decided = len(fitting) < len(words)
            before = tuple(pair for pair in state.decided if pair[0] != name)
            for word, candidate in fitting:
                if name == "no_hit" and word != getattr(self.inquiry.base, name):
                    yield State(candidate, before, plain=False)  # which is ordinary data
                    continue
                choice = ((name, word),) if decided else ()
                yield State(candidate, before + choice, state.plain)

    def _list_words(self, state: State, name: str) -> Iterator[Any]:
        """List the words of a convention: the one in force, then the others."""
        now = dict(state.candidate.choices).get(name, getattr(self.inquiry.base, name))
        yield now
        nan = name in _WITH_NAN and now != "nan"
        is_single = not self.inquiry.asker.form.several  # where skip is NaN, too
        if nan and is_single:
            yield "nan"
        for convention, word in list_other_words(
            replace(self.inquiry.base, **{name: now}), self.fixed
        ):
            if convention == name and word not in ("binary", "error", "sigmoid"):
                yield word
        if nan and not is_single:
            yield "nan"


# --- Search: the definitions that give a function's values everywhere -----------------------------

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
        # conventions outside, measures inside: the queries are judged once for all measures
        once = [Candidate(measure, (word,)) for word in words for measure in measures]
        yield [*self._list_tool_candidates(batch, measures), *once]
        pairs = [pair for pair in combinations(words, 2) if pair[0][0] != pair[1][0]]
        yield [Candidate(measure, tuple(sorted(pair))) for pair in pairs for measure in measures]

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
        all_batches = [*(batch for _, batch in self.batches), *batches]
        pairs = (
            pair
            for batch in all_batches
            for pair in zip(batch.questions, batch.answers, strict=True)
        )
        self.compared = len({question for question, answer in pairs if not answer.raised})
        if self.inquiry.is_constant(all_batches):
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
    taken = next((own.words for own in measure.row.parameters if own.name == "mean"), ())
    words = (word for word in ("arithmetic", "micro", "geometric", "median") if word in taken)
    return list(dict.fromkeys((measure, *(measure(mean=word) for word in words))))
