"""Counterexample search: the smallest data on which a function and a definition differ."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product

import numpy as np

from germane.core.ragged import Floats
from germane.identification.batch import Batch
from germane.identification.cases import Case, Question, Shape, describe, make_case
from germane.identification.decisions import State
from germane.identification.forms import show_arguments
from germane.identification.identification import Counterexample, Definition
from germane.identification.inquiry import Inquiry
from germane.identification.known_questions import find_kinds
from germane.identification.mistakes import describe_difference
from germane.identification.search import Search
from germane.reconciliation.variations import Candidate

SMALL = 240  # small lists that are tried
Removal = Callable[[Question], Question | None]

_ALLOWED = {"short", "no hit", "all relevant"}  # special data that small lists may be
REMOVALS = 150  # rows that are left out at trial, to make other data smaller


def find_counterexample(
    search: Search, target: Candidate, states: Sequence[State]
) -> Counterexample | None:
    """Find the smallest data on which the function and a definition differ."""
    inquiry, broken = search.inquiry, search.trail.broken
    batches = _list_asked(search)
    example = min(
        filter(None, (batch.find_difference(target, inquiry.precision) for batch in batches)),
        key=lambda question: question.size,
        default=None,
    )
    small = _find_small(search, target, states)
    if small is not None and (example is None or small.size <= example.size):
        return make_counterexample(search, target, small, states)
    if example is None and broken is not None and not states:
        target, example = broken
    if example is None and not states and search.ordinary is not None:
        example = search.ordinary.find_difference(target, inquiry.precision)
    if example is None:
        return None
    return make_counterexample(search, target, shrink(inquiry, target, example), states)


def shrink(inquiry: Inquiry, target: Candidate, question: Question, special: str = "") -> Question:
    """Leave out queries and items, one after the other, as long as function and definition differ.

    Special data stays what it is, and becomes no other.
    """
    if inquiry.asker.most_calls is not None:
        return question
    kinds = find_kinds(question, inquiry.shape)
    required, allowed = kinds & {special}, kinds | _ALLOWED
    left, before = REMOVALS // (4 if inquiry.shape.slow else 1), 0
    while left > 0 and question.size != before:
        before = question.size
        for change in _list_removals(question, inquiry.asker.form.grid):
            less = change(question)
            if left > 0 and less is not None and less.size < question.size:
                left -= 1
                now = find_kinds(less, inquiry.shape)
                if required <= now <= allowed and _differs(inquiry, target, less):
                    question = less
    return question


def _list_removals(question: Question, grid: bool) -> Iterator[Removal]:
    """List the removals of a query, and those of an item; the lists of a grid keep their length."""
    for q in reversed(range(len(question.cases))):
        yield partial(_remove_query, q)
    for case in question.cases if not grid or len(question.cases) == 1 else ():
        rows = (*(case.judged or ()), *(case.ranked or ()))
        for item in reversed(dict.fromkeys(item for item, _ in rows)):
            yield partial(_remove_item, item)


def _remove_query(q: int, question: Question) -> Question | None:
    cases = question.cases
    return Question((*cases[:q], *cases[q + 1 :])) if q < len(cases) > 1 else None


def _remove_item(item: str, question: Question) -> Question | None:
    """Leave out an item of all queries; None where a query would have nothing left."""
    cases = []
    for case in question.cases:
        judged, ranked = (
            rows and tuple(row for row in rows if row[0] != item)
            for rows in (case.judged, case.ranked)
        )
        if bool(judged) != bool(case.judged) or bool(ranked) != bool(case.ranked):
            return None
        cases.append(Case(judged, ranked))
    return Question(tuple(cases))


def _differs(inquiry: Inquiry, target: Candidate, question: Question) -> bool:
    answer = inquiry.asker.ask(question)
    if answer.raised or answer.kind != inquiry.kind:
        return False
    batch = inquiry.ask_known([question])
    return batch.find_difference(target, inquiry.precision) is not None


def _list_asked(search: Search) -> list[Batch]:
    """Put everything that was asked into batches."""
    answers = search.inquiry.asker.answers
    questions = [
        answer
        for answer in answers
        if answers[answer].kind == search.inquiry.kind or answers[answer].raised
    ]
    plain = [
        question
        for question in questions
        if all(case.judged and case.ranked and _has_relevant(case) for case in question.cases)
    ]
    return [search.inquiry.ask_known(plain)]


def _has_relevant(case: Case) -> bool:
    """Is the query ordinary: relevant items, no repeated items, no equal scores?"""
    items, grades = case.items, case.grades
    plain = len(set(items)) == len(items) == len(set(case.scores))
    plain = plain and len(dict(case.judged or ())) == len(grades)
    return plain and bool(case.relevant) and all(grade in _PLAIN for grade in grades)


_PLAIN = (0.0, 1.0, 2.0, 3.0)


def _find_small(search: Search, target: Candidate, states: Sequence[State]) -> Question | None:
    """Ask about small lists, shortest first, until one differs."""
    grades = (0.0, *search.inquiry.shape.grades[:2])
    shape = replace(search.inquiry.shape, k=target.measure.k)
    small = islice(_list_small(shape, grades), 20 * SMALL if states else SMALL)
    questions = [Question((case,)) for case in (*small, *_list_around(shape))]
    expected = search.inquiry.ask_known(questions, {}).expect(target)
    if expected is None:
        return None
    order: Iterable[int] = range(len(questions))
    if states:  # the function's values are known
        function_values = search.inquiry.ask_known(questions, {}).expect(states[0].candidate)
        if function_values is not None:
            differ = ~search.inquiry.precision.agree(function_values, expected)
            order = np.flatnonzero(differ).tolist()
    left = search.inquiry.asker.left
    for place in islice(order, 2 * SMALL if left is None else left):
        question = questions[place]
        answer = search.inquiry.asker.ask(question)
        if answer.raised or answer.kind != search.inquiry.kind:
            continue
        values = np.array(answer.values)
        if not search.inquiry.precision.agree(values, expected[place : place + 1]).all():
            return question
    return None


def _list_small(shape: Shape, levels: Sequence[float]) -> Iterator[Case]:
    """List small queries, shortest first: lists of these grades, and missed relevant items."""
    beyond = {shape.k + 2} if shape.k and shape.k <= 1000 else set()
    missing = sorted({0, 1, 2} | beyond) if "missed" in shape.shows else [0]
    for length in range(1, 6 if len(levels) < 3 else 5):
        for listed, missed in product(product(sorted(levels), repeat=length), missing):
            if any(grade > 0 for grade in listed) or missed:
                yield make_case(listed, missed, shape)


def _list_around(shape: Shape) -> Iterator[Case]:
    """List queries with hits on both sides of the cutoff, for what small lists cannot show."""
    k = shape.k
    if k is None or not 2 < k <= 1000:
        return
    none, high = [0.0] * k, max(shape.grades[:2])
    for listed in (
        [*none, 1.0],
        [1.0, *none[1:], 1.0],
        [*none[1:], 1.0, 1.0],
        [1.0, *none[1:], high],
        [1.0, 1.0, *none[2:], 1.0, 1.0],
        [1.0] * (k + 1),
        [1.0] * (k - 1),
        [1.0, *none[1:], 0.0, 1.0],
    ):
        yield make_case(listed, 0, shape)


def define(candidate: Candidate) -> Definition:
    """Name a candidate by its measure and its conventions."""
    return Definition(candidate.measure, choices=dict(candidate.choices))


def make_counterexample(
    search: Search, target: Candidate, question: Question, states: Sequence[State], note: str = ""
) -> Counterexample:
    """Describe the data of a question on which function and definition differ."""
    answer = search.inquiry.asker.ask(question)
    batch = search.inquiry.ask_known([question])
    expected = batch.expect(target)
    differ: Floats = ~batch.match(expected, search.inquiry.precision)
    place = int(np.argmax(differ))
    text = ""
    if states and search.claim is not None:
        first = states[0]
        text = describe_difference(
            Candidate(first.candidate.measure) if first.plain else first.candidate, search.claim
        )
    asker = search.inquiry.asker
    arguments = show_arguments(asker.form, asker.kind_of_data, question, asker.names)
    return Counterexample(
        describe(question) + note,
        arguments,
        float("nan") if answer.raised else answer.values[place],
        define(target),
        float("nan") if expected is None else float(expected[place]),
        text,
        answer.raised,
    )
