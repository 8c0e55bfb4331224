"""Inputs that could mean two things: they are refused with a question, and never guessed at."""

from collections.abc import Mapping
from typing import Any

from germane.errors import InputError, clip
from germane.readers import host
from germane.readers.mappings import is_rows


def refuse_ambiguous(qrels: Any, run: Any) -> None:
    """Refuse rows that do not match, and whole numbers that may be ids or scores.

    Raises InputError that asks which.
    """
    if isinstance(qrels, dict) and isinstance(run, dict):
        return
    host.refuse_nested(qrels, "qrels")
    host.refuse_nested(run, "run")
    if is_rows(qrels) and (is_rows(run) or (host.is_array(run) and len(run.shape) == 2)):
        _check_rows(qrels, run)
    _refuse_grades(qrels, run)
    if host.is_whole(run) and host.is_array(qrels) and tuple(run.shape) == tuple(qrels.shape):
        raise InputError(
            f"the run is an array of whole numbers of the same shape as the qrels, {tuple(run.shape)}:"
            " ids or scores? Give scores as floating point, scores.astype(float); for ids, give the "
            "qrels as sets or as a CSR matrix."
        )


def _refuse_grades(qrels: Any, run: Any) -> None:
    """Refuse lists of 0 and 1, one for each column of a run: as ids they would be all of two, or repeated."""
    shape = tuple(getattr(run, "shape", ()))
    if len(shape) != 2 or shape[1] < 2 or host.is_whole(run) or not isinstance(qrels, list):
        return
    rows = all(isinstance(row, list) and len(row) == shape[1] for row in qrels)
    numbers = (one for row in qrels for one in row)
    if rows and all(type(one) in (int, bool, float) and one in (0, 1) for one in numbers):
        raise InputError(
            f"the qrels are lists of {shape[1]} numbers 0 or 1, as many as the run has columns: grades or "
            "ids? Lists hold ids. Give grades as an array, numpy.array(…); give ids as sets."
        )


def _check_rows(qrels: Any, run: Any) -> None:
    """Lists of both sides are matched by their place, and hold ids."""
    if len(qrels) != len(run):
        raise InputError(
            f"the numbers of rows differ: the qrels have {len(qrels)}, the run has {len(run)}. Rows are "
            "matched by their place, so both have the same number; {query: …} matches them by their ids."
        )
    if not host.is_array(run):
        first = run[0].tolist() if hasattr(run[0], "tolist") else run[0]
        if not isinstance(first, Mapping) and any(map(_is_float, first)):
            raise InputError(
                f"a list of ranked lists holds ids, best first; got {clip(first)}. Scores and grades "
                "are arrays: numpy.array(…)."
            )


def _is_float(item: object) -> bool:
    return isinstance(item, float) and item == item  # NaN is an id that is missing
