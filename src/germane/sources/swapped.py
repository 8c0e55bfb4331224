"""Qrels and a run in each other's place, as far as their numbers show."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from germane._ragged import Floats, Ints
from germane.errors import InputError
from germane.finding import Finding
from germane.retrieval import Qrels
from germane.sources.numbers import doubles

ENOUGH = 20  # rows below which anything may be chance
LOOKED = 2000  # judgments, and queries of the run, that evaluating looks at
GRADES = 6  # different whole numbers that a scale of grades has at most
SCALE = 10  # no scale of grades goes beyond it
MOSTLY, HALF = 0.9, 0.5
LIKE_SCORES = (
    "nearly every item of a query has a grade of its own, with decimals or beyond every scale, as "
    "scores have"
)
ADVICE = "Are the two swapped? Give the qrels first, then the run."


def like_scores(query: Ints, grades: Floats) -> bool:
    """Are grades as scores are: with decimals or beyond every scale, and mostly different?"""
    if len(grades) < ENOUGH:
        return False
    odd = (grades != np.trunc(grades)) | (np.abs(grades) > SCALE)
    return bool(odd.mean() > MOSTLY and 2 * _different(query, grades) > len(grades))


def like_grades(query: Ints, scores: Floats) -> bool:
    """Are scores as grades are: a few small whole numbers, which come again?"""
    found = np.unique(scores)
    if not len(found) or len(found) > GRADES or abs(found).max() > SCALE:
        return False
    again = len(found) <= 2 or _different(query, scores) < MOSTLY * len(scores)
    return bool(again and (found == np.trunc(found)).all())


def _different(query: Ints, numbers: Floats) -> int:
    """How many pairs of a query and a number there are."""
    return len(set(zip(query.tolist(), numbers.tolist(), strict=True)))


def in_mappings(qrels: Qrels, run: Mapping[Hashable, Any]) -> tuple[Finding, ...]:
    """What evaluating says of ``{query: {item: score}}``. Raises InputError where it is the qrels."""
    if _are_certain(qrels, run):
        raise InputError(
            f"{says('the qrels', 'the run')}: the first have decimals, the others are a few whole numbers. "
            f"{ADVICE} If they are not, give the run as ranked lists: {{query: [item, …]}}."
        )
    return by_numbers(qrels, _first_scores, run)


def _are_certain(qrels: Qrels, run: Mapping[Hashable, Any]) -> bool:
    """Have the grades decimals, nearly all of their own, and the scores none, as only grades have?"""
    grades = qrels.grades[:LOOKED]
    if len(grades) < 2 or not (grades[:: len(grades) // 8 + 1] % 1).any():  # most qrels end here
        return False
    owner = np.searchsorted(qrels.offsets, np.arange(len(grades)), "right")
    parts = (grades % 1 != 0).mean()
    few = len(grades) < ENOUGH and parts == 1 and 2 * _different(owner, grades) > len(grades)
    if not few and (parts < HALF or not like_scores(owner, grades)):
        return False
    query, scores = _first_scores(run)
    if len(scores) < 2 or not like_grades(query, scores):
        return False
    counts = all(isinstance(one, Integral) for got in run.values() for one in got.values())
    again = len(np.unique(scores)) < len(scores)
    return not few or (counts and (again or not scores.all()))


def by_numbers(
    qrels: Qrels, scores: Callable[[Any], tuple[Ints, Floats]], run: Any
) -> tuple[Finding, ...]:
    """What evaluating says of grades and scores; of these, the first are asked for where grades are odd."""
    like_run = like_a_run(qrels)
    if not like_run or not like_grades(*scores(run)):
        return like_run
    told = says("the qrels", "the run")
    return (Finding("serious", "swapped files", told, like_run[0].count, (), ADVICE),)


def like_a_run(qrels: Qrels) -> tuple[Finding, ...]:
    """What evaluating says of grades like scores; one is looked at before all others."""
    grades = qrels.grades[:LOOKED]
    if len(grades) < ENOUGH or _on_a_scale(grades[len(grades) // 2]):
        return ()
    owner = np.searchsorted(qrels.offsets, np.arange(len(grades)), "right")
    if not like_scores(owner, grades):
        return ()
    advice = "Is this the right file?"
    return (Finding("serious", "qrels that look like a run", LIKE_SCORES, len(grades), (), advice),)


def _on_a_scale(grade: float) -> bool:
    return 0 <= grade <= SCALE and not grade % 1


def _first_scores(run: Mapping[Hashable, Any]) -> tuple[Ints, Floats]:
    """The query and the number of some scores."""
    some = [got for got in islice(run.values(), LOOKED) if isinstance(got, (dict, Mapping))]
    scores = doubles([score for got in some for score in got.values()])
    sizes = [len(got) for got in some]
    return np.repeat(np.arange(len(some)), sizes), np.empty(0) if scores is None else scores


def says(qrels: str, run: str) -> str:
    """What is said of two sides of these names."""
    return f"the grades of {qrels} look like scores, and the scores of {run} like grades"
