"""Grades: judgments that measures take otherwise than they may have been meant."""

import numpy as np

from germane.checks.data import Data
from germane.checks.seen import Seen, Sees, first, named, rows, several
from germane.core.ragged import Bools

TURNED = "Is the sign of the grades turned, or are the relevant items left out?"
LOST = "Are the grades lost, or is it the wrong file?"
USUAL = 4  # the highest grade of the scales of the field


def nothing_relevant(data: Data) -> Sees:
    """Qrels in which no grade is 1 or higher."""
    grades = data.grades
    if not len(grades):
        if data.empty and not data.qrels.faults.count:
            stand = several(len(data.empty), "query stands", "queries stand")
            says = f"{stand} in the qrels, and none has a judgment"
            yield Seen(says, len(data.empty), named(data.empty), LOST)
        return
    highest, least = grades.max(), max((one.rel or 0.0 for one in data.measures), default=1.0)
    if 0 < highest >= least:
        return
    says = (
        f"no grade is {least or 1:g} or higher, among {several(len(grades), 'judgment')}: the highest is "
        f"{highest:g}"
    )
    advice = TURNED if highest <= 0 else ""
    if highest >= 1:
        strict = next(one for one in data.measures if one.rel == least)
        advice = f"{strict} is 0 for every query then; choose a lower rel."
    at = np.flatnonzero(grades == highest)[:1]
    yield Seen(says, len(grades), rows(data.qrels, at) if data.is_whole else (), advice)


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
