"""Inquiry: questions to one function in batches, and what is found out besides definitions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.identification.asking import Answer, Asker, Kind, Precision
from germane.identification.batch import Batch
from germane.identification.cases import Case, Question, Shape
from germane.identification.draws import Rng, draw_case, draw_single
from germane.identification.known_questions import list_known
from germane.identification.special_data import Special, draw_questions
from germane.reconciliation.variations import Candidate

ORDINARY, LAST = 36, 60  # questions of a search and of its check; half of them where a call is slow
JOINED = 24  # queries of a call, where calls are counted


@dataclass
class Trail:
    """All that a search found out besides definitions."""

    raised: dict[str, tuple[Question, str]] = field(default_factory=dict)
    unexplained: dict[str, Question] = field(default_factory=dict)
    """special data on which the function gives a value that no convention gives"""
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


@dataclass
class Inquiry:
    """The questions to one function, its conventions and precision, and the trail."""

    asker: Asker
    kind: Kind
    precision: Precision
    base: Policy
    shape: Shape
    rng: Rng
    trail: Trail = field(default_factory=Trail)

    def ask(self, questions: Iterable[Question]) -> Batch:
        """Ask questions, as far as calls are left."""
        affordable = list(questions)
        if self.asker.left is not None:
            affordable = affordable[: self.asker.left]
        return self._make_batch(affordable, [self.asker.ask(question) for question in affordable])

    def ask_known(
        self, questions: list[Question], answers: Mapping[Question, Answer] | None = None
    ) -> Batch:
        """Make a batch of questions with the answers that are known, or without any."""
        known_answers = self.asker.answers if answers is None else answers
        return self._make_batch(
            questions, [known_answers.get(question, Answer(raised="-")) for question in questions]
        )

    def _make_batch(self, questions: list[Question], answers: list[Answer]) -> Batch:
        return Batch(self.asker.form, questions, answers, self.base, self.kind)

    def draw(self, special: Special) -> list[Question]:
        """Draw the questions of special data, known ones first."""
        known_questions = list_known(self.shape).get(frozenset({special.name}), [])
        known_questions = [
            question for question in known_questions if special.joined or len(question.cases) == 1
        ]
        return draw_questions(self.rng, self.shape, special, self.asker.most_calls, known_questions)

    def ask_ordinary(self) -> Batch:
        """Ask about ordinary queries, known ones first; a counted call has many of them."""
        rng, shape = self.rng, self.shape
        kinds = [frozenset[str](), *[frozenset({"short"})] * (self.asker.most_calls is not None)]
        of_kinds = [question for kind in kinds for question in list_known(shape).get(kind, [])]
        singles = [question for question in of_kinds if len(question.cases) == 1]
        if self.asker.most_calls is None:
            count = ORDINARY // (2 if shape.slow else 1)
            return self.ask([*singles, *(draw_single(rng, shape) for _ in range(count))])
        cases = rng.permutation(len(singles))[: JOINED // 2].tolist()
        first = Question((*(singles[i].cases[0] for i in cases), *self._draw_joined(JOINED // 2)))
        return self.ask([first, Question(tuple(self._draw_joined(JOINED)))])

    def _draw_joined(self, count: int) -> Iterator[Case]:
        """Draw the queries of one call; some lists are shorter than the cutoff."""
        for q in range(count):
            length = None if q % 4 else int(self.rng.integers(2, max(3, self.shape.k or 0)))
            yield draw_case(self.rng, self.shape, length=length)

    def ask_new(self) -> Batch:
        """Ask about new ordinary queries."""
        rng, shape = self.rng, self.shape
        if self.asker.most_calls is None:
            count = LAST // (2 if shape.slow else 1)
            return self.ask(draw_single(rng, shape) for _ in range(count))
        return self.ask([Question(tuple(self._draw_joined(JOINED)))])

    def is_random(self, batch: Batch) -> bool:
        """Does the function give another answer when it is asked again?"""
        sample = batch.questions[: 1 if self.shape.slow else 3]
        for question in sample:
            first, second = self.asker.ask(question), self.asker.ask(question, repeat="yes")
            if (
                first.kind != second.kind
                or bool(first.raised) != bool(second.raised)
                or not np.array_equal(first.values, second.values, equal_nan=True)
            ):
                self.trail.random = question
        return self.trail.random is not None

    def is_constant(self, batches: Iterable[Batch]) -> bool:
        """Does the function give one value for all data, so that it shows nothing?"""
        values = np.concatenate([batch.given[batch.answered] for batch in batches])
        same = len(values) > 0 and self.precision.agree(values, values[:1]).all()
        self.trail.constant = bool(same)
        return self.trail.constant
