"""Forms: files that are damaged, swapped, or not what they are given as."""

import numpy as np

from germane.checks.data import Data
from germane.checks.seen import Seen, Sees, rows, several
from germane.checks.side import Side
from germane.sources import swapped as look

RUN_FIELDS, QRELS_FIELDS = 6, 4


def swapped(data: Data) -> Sees:
    """The run where the qrels should be, and the other way round."""
    qrels, run = data.qrels, data.run
    if _mostly(qrels, RUN_FIELDS) and _mostly(run, QRELS_FIELDS):
        count = qrels.faults.count + run.faults.count
        says = (
            f"these lines are qrels', and those of {qrels.where} are a run's: the two are swapped"
        )
        yield Seen(says, count, (qrels.faults.examples[0],))
    elif _scored(qrels) and _graded(run):
        says = look.says(qrels.where, run.where)
        yield Seen(says, len(qrels) + len(run), advice=look.ADVICE)


def qrels_like_run(data: Data) -> Sees:
    """Qrels with a run's lines, or with as many grades as a run has scores."""
    qrels = data.qrels
    if _mostly(qrels, RUN_FIELDS) and not _mostly(data.run, QRELS_FIELDS):
        says = f"{several(qrels.faults.count, 'line')} have a run's 6 fields"
        yield Seen(says, qrels.faults.count, tuple(qrels.faults.examples[:1]))
    elif _scored(qrels) and not _graded(data.run):
        yield Seen(look.LIKE_SCORES, len(qrels), rows(qrels, np.arange(len(qrels))))


def run_like_qrels(data: Data) -> Sees:
    """A run with the lines of qrels."""
    run = data.run
    if _mostly(run, QRELS_FIELDS) and not _mostly(data.qrels, RUN_FIELDS):
        says = f"{several(run.faults.count, 'line')} have the 4 fields of qrels"
        yield Seen(says, run.faults.count, tuple(run.faults.examples[:1]))


def malformed_judgments(data: Data) -> Sees:
    """Lines and values of the qrels that cannot be read."""
    if not _mostly(data.qrels, RUN_FIELDS):
        yield from _malformed(data.qrels)


def malformed_results(data: Data) -> Sees:
    """Lines and values of the run that cannot be read."""
    if not _mostly(data.run, QRELS_FIELDS):
        yield from _malformed(data.run)


def refused(data: Data) -> Sees:
    """What evaluate raises an error for, where no other finding says why."""
    if data.refusal:
        yield Seen(f"evaluate raises an error: {data.refusal.rstrip('.')}", 1)


def _malformed(side: Side) -> Sees:
    if faults := side.faults.count:
        what = "line" if side.line is not None else "value"
        says = (
            f"{several(faults, what)} cannot be read, beside {several(len(side), 'row')} that can"
        )
        yield Seen(says, faults, tuple(side.faults.examples))


def _mostly(side: Side, fields: int) -> bool:
    """Have most lines this number of fields, which is wrong here?"""
    wrong = side.faults.fields[fields]
    return wrong > 0 and 2 * wrong > len(side) + side.faults.count


def _scored(side: Side) -> bool:
    return side.number is not None and look.like_scores(side.query, side.number)


def _graded(side: Side) -> bool:
    return side.number is not None and look.like_grades(side.query, side.number)
