"""Decisions: the conventions that special data decides, such as a query without relevant items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from germane.identification.batch import Batch
from germane.identification.cases import Question
from germane.identification.inquiry import Inquiry
from germane.identification.special_data import Special
from germane.reconciliation.variations import Candidate, list_other_words

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
            self.inquiry.trail.unseen[special.name] = "the function gives another value each time"
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
