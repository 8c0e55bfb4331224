"""Grades: judgments that measures take otherwise than they may have been meant."""

import numpy as np

from germane import notice
from germane._ragged import Bools
from germane.checks.data import Data
from germane.checks.seen import Seen, Sees, first, named, noticed, rows, several

USUAL = 4  # the highest grade of the scales of the field


def nothing_relevant(data: Data) -> Sees:
    """Qrels in which no grade is 1 or higher."""
    grades, empty = data.grades, data.qrels.empty
    if not len(grades) and empty and not data.qrels.faults.count:
        says = f"{several(len(empty), 'query stands', 'queries stand')} in the qrels, and none has a judgment"
        yield Seen(says, len(empty), named(empty), "Are the grades lost, or is it the wrong file?")
    elif len(grades):
        at = np.flatnonzero(grades == grades.max())[:1]
        for found in notice.none_relevant(grades, data.measures):
            yield noticed(found, rows(data.qrels, at))


def negative(data: Data) -> Sees:
    """Grades below 0, which only mark an item as pooled."""
    yield from _some(data, data.grades < 0, "below 0")


def fractional(data: Data) -> Sees:
    """Grades with decimals."""
    grades = data.grades
    yield from _some(data, grades != np.trunc(grades), "with decimals")


def unusual(data: Data) -> Sees:
    """Grades beyond the usual scales."""
    yield from _some(data, data.grades > USUAL, f"above {USUAL}")


def _some(data: Data, which: Bools, says: str) -> Sees:
    at = np.flatnonzero(which)
    if len(at):
        grades = data.grades[at]
        extreme = grades[np.argmax(np.abs(grades))]
        share = f"{several(len(at), 'judgment has', 'judgments have')} a grade {says}, of {len(which):,}"
        yield Seen(f"{share}; such as {extreme:g}", len(at), rows(data.qrels, at))


def all_relevant(data: Data) -> Sees:
    """Several grades, and every one counts as relevant: ratings."""
    found = np.unique(data.grades)
    if len(found) > 1 and found[0] >= 1:
        says = (
            f"every one of {several(len(data.qrels), 'judgment')} counts as relevant: grades go from "
            f"{found[0]:g} to {found[-1]:g}"
        )
        yield Seen(says, len(data.qrels), first(data.qrels, np.arange(len(data.qrels))))


def only_relevant(data: Data) -> Sees:
    """One grade for everything judged."""
    found = np.unique(data.grades)
    if len(found) == 1 and found[0] >= 1:
        says = f"{several(len(data.qrels), 'judgment')} of grade {found[0]:g} and no other: nothing is judged not relevant"
        yield Seen(says, len(data.qrels))
