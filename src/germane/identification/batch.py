"""Batch: the questions of one kind, the answers to them, and what definitions give for each."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import GermaneError
from germane.evaluation.collection import EVERYTHING, Collection
from germane.evaluation.judging import JudgedRun
from germane.identification.asking import Answer, Kind, Precision
from germane.identification.cases import Case, Question
from germane.identification.forms import Form
from germane.measures.averaging import MeasureResult
from germane.readers import Needs, open_qrels, open_run
from germane.readers.objects.records import Record, make_column
from germane.reconciliation.spread import Values
from germane.reconciliation.variations import Candidate

NOWHERE = "nothing"  # an item that is judged not relevant, where a query has no other judgment


@dataclass
class Batch:
    """Questions, all of whose queries are evaluated together, once for each definition."""

    form: Form
    questions: Sequence[Question]
    answers: Sequence[Answer]
    base: Policy
    kind: Kind

    @cached_property
    def answered(self) -> Bools:
        """Mark the values that the function gave: one a question, or one a query."""
        marks = [not answer.raised and answer.kind == self.kind for answer in self.answers]
        return np.repeat(np.array(marks, bool), self._values_each)

    @cached_property
    def given(self) -> Floats:
        """The values that the function gave; NaN where it raised."""
        values: list[float] = []
        for answer, count in zip(self.answers, self._values_each, strict=True):
            usable = not answer.raised and answer.kind == self.kind
            values += answer.values if usable else [math.nan] * count
        return np.array(values, float)

    @cached_property
    def owner(self) -> Ints:
        """The question of each value."""
        return np.repeat(np.arange(len(self.questions)), self._values_each)

    @property
    def raised(self) -> list[tuple[Question, str]]:
        """The questions for which the function raised, and its errors."""
        pairs = zip(self.questions, self.answers, strict=True)
        return [(question, answer.raised) for question, answer in pairs if answer.raised]

    @property
    def is_answered(self) -> bool:
        """Did the function give any value?"""
        return bool(self.answered.any())

    @cached_property
    def _values_each(self) -> list[int]:
        if self.kind == "mean":
            return [1] * len(self.questions)
        return [len(question.cases) for question in self.questions]

    @cached_property
    def _cases(self) -> list[Case]:
        return [case for question in self.questions for case in question.cases]

    @cached_property
    def _starts(self) -> list[int]:
        lengths = [len(question.cases) for question in self.questions]
        return list(accumulate(lengths, initial=0))

    @cached_property
    def _collection(self) -> Collection:
        judged = [
            (f"{q}", item, grade)
            for q, case in enumerate(self._cases)
            if case.judged is not None
            for item, grade in case.judged or ((NOWHERE, 0.0),)
        ]
        qrels: object = _make_table(judged, "relevance")
        if "repeats" in self.form.shows and not self.form.rows:
            qrels = self._list_relevant()
        return Collection(open_qrels(qrels), open_run(self._make_run()), Needs(EVERYTHING))

    def _list_relevant(self) -> dict[str, object]:
        """List the relevant items of each query, which may repeat."""
        return {
            f"{q}": [item for item, _ in case.judged] if case.judged else {NOWHERE: 0.0}
            for q, case in enumerate(self._cases)
        }

    def _make_run(self) -> object:
        answered = [(f"{q}", case.ranked) for q, case in enumerate(self._cases)]
        lists = [(q, ranked) for q, ranked in answered if ranked is not None]
        if self.form.rows:
            return _make_table([(q, *row) for q, ranked in lists for row in ranked], "score")
        if "ties" not in self.form.shows:
            return {q: [item for item, _ in ranked] for q, ranked in lists}
        in_arrays = "all judged" in self.form.shows  # items stand in the order of their ids
        return {q: dict(sorted(ranked) if in_arrays else ranked) for q, ranked in lists}

    @cached_property
    def _evaluated(self) -> Values:
        return Values(self._collection)

    def judge(self, policy: Policy) -> JudgedRun:
        """Judge the queries under a policy."""
        return self._collection.judge(policy)

    def rank(self, policy: Policy) -> Ranking:
        """Rank the judged items under a policy."""
        return self.judge(policy).rank(policy.ties)

    def evaluate(self, candidate: Candidate) -> MeasureResult | None:
        """Evaluate a candidate on all queries; None where the data does not allow it."""
        try:
            return self._evaluated(candidate.make_policy(self.base), candidate.measure)
        except GermaneError:
            return None

    def expect(self, candidate: Candidate) -> Floats | None:
        """Compute the value that a definition gives for each question, or each query."""
        result = self.evaluate(candidate)
        return None if result is None else self.arrange(result)

    def arrange(self, result: MeasureResult) -> Floats:
        """Arrange the values of queries as the function gives them."""
        values, has_value = self._spread(result)
        # Where each call has one query that counts as it is, its value is that of the call. Else
        # the mean is taken over the queries of each call.
        plain = result.left_out is None and result.undefined == "nan" and bool(has_value.all())
        plain = plain and result.digits is None and result.norm is None
        single = len(self._cases) == len(self.questions)
        geometric = ("mean", "geometric") in result.measure.parameters
        if self.kind == "queries" or (plain and single and not geometric):
            return values
        place = {query: i for i, query in enumerate(result.queries)}
        means = []
        for start, end in zip(self._starts, self._starts[1:], strict=False):
            places = [place[f"{q}"] for q in range(start, end) if f"{q}" in place]
            means.append(result.take(np.array(places, np.int64)).mean)
        return np.array(means, float)

    def _spread(self, result: MeasureResult) -> tuple[Floats, Bools]:
        """Spread the values over all queries; NaN and False where one has none."""
        cases = len(self._cases)
        if result.queries == [f"{q}" for q in range(cases)]:
            return result.values, np.ones(cases, bool)
        place = [int(str(query)) for query in result.queries]
        values, has_value = np.full(cases, math.nan), np.zeros(cases, bool)
        values[place], has_value[place] = result.values, True
        return values, has_value

    def match(self, expected: Floats | None, precision: Precision) -> Bools:
        """Mark the values given that a definition has, too."""
        if expected is None:
            return np.zeros(len(self.given), bool)
        return precision.agree(self.given, expected) & self.answered

    def agrees(self, values: Floats | None, precision: Precision) -> bool:
        """Is the function equal to these values wherever it gave one?"""
        return bool((self.match(values, precision) | ~self.answered).all())

    def fits(self, candidate: Candidate, precision: Precision) -> bool:
        """Is the function equal to a definition wherever it gave a value?"""
        return self.agrees(self.expect(candidate), precision)

    def find_difference(self, candidate: Candidate, precision: Precision) -> Question | None:
        """Find the smallest question on which function and definition differ."""
        differ = self.answered & ~self.match(self.expect(candidate), precision)
        places = self.owner[differ].tolist()
        return min(
            (self.questions[i] for i in places), key=lambda question: question.size, default=None
        )


def _make_table(rows: list[tuple[str, str, float]], number: str) -> Record:
    names = ("query", "item", number)
    columns = {name: make_column([row[i] for row in rows]) for i, name in enumerate(names)}
    return Record(columns, len(rows))
