"""The known cases of identify and of the conformance suite, and the kinds of data that they are."""

from typing import Any

import numpy as np
import pytest

import germane
from germane.forensics.cases import SPECIAL, Shape, draw_questions, draw_single
from germane.forensics.known_cases import FORMS, KNOWN, find_kinds, list_known

NAMES = {one.name for one in SPECIAL}
MORE = {  # other kinds that drawn data of a kind may be as well
    "close scores": {"no hit", "order"},
    "copies": {"no hit"},
    "fractions": {"all relevant", "high"},
    "ids": {"no hit", "short"},
    "order": {"no hit"},
    "short": {"all relevant"},
}
SOME = ("high", "negative")  # drawn at random, so that a query may have none


def make_shapes(name: str) -> list[Shape]:
    grades = (1.0, 2.0, 3.0) if "grades" in FORMS[name].shows else (1.0,)
    return [Shape(FORMS[name].shows, k, grades) for k in (None, 3, 10)]


@pytest.mark.parametrize("name", FORMS)
def test_drawn_data_is_of_its_kind(name: str) -> None:
    rng = np.random.default_rng(0)
    for shape in make_shapes(name):
        for _ in range(20):
            assert find_kinds(draw_single(rng, shape), shape) == frozenset()
        for special in SPECIAL:
            for question in draw_questions(rng, shape, special):
                kinds = find_kinds(question, shape)
                assert special.name in kinds or special.name in SOME
                assert kinds - {special.name} <= MORE.get(special.name, set())


@pytest.mark.parametrize("name", FORMS)
def test_known_cases_have_kinds_that_are_asked(name: str) -> None:
    for shape in make_shapes(name):
        known = list_known(shape)
        assert known[frozenset()]
        assert NAMES.issuperset(kind for kinds in known for kind in kinds)


def test_every_known_case_is_shown_in_some_form() -> None:
    shown = {
        tuple(sorted(item for item, _ in case.ranked or ()))
        for name in FORMS
        for shape in make_shapes(name)
        for questions in list_known(shape).values()
        for question in questions
        for case in question.cases
    }
    for case in KNOWN:
        for rows in case.run.values():
            assert tuple(sorted(item for item, _ in rows)) in shown, case.name


def test_identify_asks_known_cases_first() -> None:
    asked: list[Any] = []

    def recall(relevant: list[str], ranked: list[str]) -> float:
        asked.append((tuple(relevant), tuple(ranked)))
        return len({*relevant} & {*ranked[:5]}) / len(relevant) if relevant else 0.0

    assert germane.identify(recall, "R@5", takes="ids").holds
    [two] = [case for case in KNOWN if case.name == "two-of-twenty"]
    relevant = tuple(item for item, grade in two.qrels["q"].items() if grade)
    ranked = tuple(item for item, _ in two.run["q"])
    assert asked.index((relevant, ranked)) < 30
