"""Malformed input: files that are damaged, swapped, or of the wrong kind."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from germane.checks.data import Data
from germane.checks.rows import Problem, Sees, Side, show_rows
from germane.core.ragged import Floats, Ints
from germane.errors import InputError
from germane.output.formatting import write_count

RUN_FIELDS, QRELS_FIELDS = 6, 4
SWAPPED = ("swapped files", "qrels that look like a run")
ENOUGH = 20  # rows below which anything may be chance
KINDS = 6  # different whole numbers that a scale of grades has at most
SCALE = 10  # no scale of grades goes beyond it
MOSTLY, HALF = 0.9, 0.5
ADVICE = "Are the two swapped? Give the qrels first, then the run."


def find_swapped(data: Data) -> Sees:
    """Find a run in the place of the qrels, and the other way round."""
    qrels, run = data.qrels, data.run
    if _have_mostly(qrels, RUN_FIELDS) and _have_mostly(run, QRELS_FIELDS):
        count = qrels.faults.count + run.faults.count
        text = (
            f"these lines are qrels', and those of {qrels.where} are a run's: the two are swapped"
        )
        yield Problem(text, count, (qrels.faults.examples[0],))
    elif _are_scores(data) and _are_grades(run):
        text = (
            f"the grades of {qrels.where} look like scores, and the scores of {run.where} like"
            " grades"
        )
        yield Problem(text, len(data.grades) + len(run), advice=ADVICE)


def find_qrels_like_run(data: Data) -> Sees:
    """Find qrels with the lines of a run, or with as many different grades as a run has scores."""
    qrels = data.qrels
    if _have_mostly(qrels, RUN_FIELDS) and not _have_mostly(data.run, QRELS_FIELDS):
        text = f"{write_count(qrels.faults.count, 'line')} have a run's 6 fields"
        yield Problem(text, qrels.faults.count, tuple(qrels.faults.examples[:1]))
    elif _are_scores(data) and not _are_grades(data.run):
        text = (
            "nearly every item of a query has a grade of its own, with decimals or beyond every"
            " scale, as scores have"
        )
        examples = show_rows(qrels, np.arange(len(qrels))) if data.is_whole else ()
        yield Problem(text, len(data.grades), examples)


def find_run_like_qrels(data: Data) -> Sees:
    """Find a run with the lines of qrels."""
    run = data.run
    if _have_mostly(run, QRELS_FIELDS) and not _have_mostly(data.qrels, RUN_FIELDS):
        text = f"{write_count(run.faults.count, 'line')} have the 4 fields of qrels"
        yield Problem(text, run.faults.count, tuple(run.faults.examples[:1]))


def find_malformed_judgments(data: Data) -> Sees:
    """Find lines and values of the qrels that cannot be read."""
    if not _have_mostly(data.qrels, RUN_FIELDS):
        yield from _find_malformed(data.qrels)


def find_malformed_results(data: Data) -> Sees:
    """Find lines and values of the run that cannot be read."""
    if not _have_mostly(data.run, QRELS_FIELDS):
        yield from _find_malformed(data.run)


def find_refusal(data: Data) -> Sees:
    """Report an error that evaluate raises and no other finding explains."""
    if data.refusal:
        yield Problem(f"evaluate raises an error: {data.refusal.rstrip('.')}", 1)


def _find_malformed(side: Side) -> Sees:
    if faults := side.faults.count:
        noun = "value" if side.faults.locate is None else "line"
        text = (
            f"{write_count(faults, noun)} cannot be read, beside {write_count(len(side), 'row')}"
            " that can"
        )
        yield Problem(text, faults, tuple(side.faults.examples))


def _have_mostly(side: Side, fields: int) -> bool:
    """Do most lines have this number of fields, which is wrong here?"""
    wrong = side.faults.fields[fields]
    return wrong > 0 and 2 * wrong > len(side) + side.faults.count


def _are_scores(data: Data) -> bool:
    return data.graded is not None and _look_like_scores(*data.graded)


def _are_grades(run: Side) -> bool:
    return run.number is not None and _look_like_grades(run.query, run.number)


def _look_like_scores(query: Ints, grades: Floats) -> bool:
    """Do the grades look like scores: with decimals or beyond every scale, and mostly different?"""
    if len(grades) < ENOUGH:
        return False
    beyond = (grades != np.trunc(grades)) | (np.abs(grades) > SCALE)
    return bool(beyond.mean() > MOSTLY and 2 * _count_different(query, grades) > len(grades))


def _look_like_grades(query: Ints, scores: Floats) -> bool:
    """Do the scores look like grades: a few small whole numbers that repeat?"""
    grades = np.unique(scores)
    if not len(grades) or len(grades) > KINDS or abs(grades).max() > SCALE:
        return False
    repeats = len(grades) <= 2 or _count_different(query, scores) < MOSTLY * len(scores)
    return bool(repeats and (grades == np.trunc(grades)).all())


def _count_different(query: Ints, numbers: Floats) -> int:
    """Count the different pairs of a query and a number."""
    return len(set(zip(query.tolist(), numbers.tolist(), strict=True)))


def refuse_swapped(graded: tuple[Ints, Floats], run: Side, raw: Sequence[Any]) -> None:
    """Raise InputError for swapped dicts: grades have decimals and mostly differ, scores do not."""
    query, grades = graded
    decimals = (grades % 1 != 0).mean()
    is_small = (
        len(grades) < ENOUGH and decimals == 1 and 2 * _count_different(*graded) > len(grades)
    )
    if not is_small and (decimals < HALF or not _look_like_scores(query, grades)):
        return
    scores = run.number
    if scores is None or len(scores) < 2 or not _look_like_grades(run.query, scores):
        return
    counts = all(isinstance(score, Integral) for score in raw)
    repeats = len(np.unique(scores)) < len(scores)
    if not is_small or (counts and (repeats or not scores.all())):
        raise InputError(
            "the grades of the qrels look like scores, and the scores of the run like grades: the"
            f" first have decimals, the others are a few whole numbers. {ADVICE} If they are not,"
            " give the run as ranked lists: {query: [item, …]}."
        )
