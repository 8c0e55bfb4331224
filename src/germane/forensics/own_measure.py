"""The function measure: a function of one's own as a measure, with the definition it computes."""

import re
from collections.abc import Callable
from typing import Any

from germane.dialects.names import parse_any
from germane.errors import InputError, MeasureError, check_choice, clip
from germane.forensics.counterexample import GRADED
from germane.forensics.identify import identify
from germane.measures.own import OwnMeasure

_NAME = re.compile(r"[^\W\d][\w.@+-]{0,59}")


def measure(
    function: Callable[..., Any], *, name: str, takes: str = "grades", better: str = "high"
) -> OwnMeasure:
    """Turn a function into a measure that is evaluated, compared and reported like any other.

    >>> def first_three(grades):
    ...     return sum(grade >= 1 for grade in grades[:3]) / 3
    >>> mine = germane.measure(first_three, name="first_three")
    >>> germane.evaluate({"q": {"a": 1}}, {"q": ["x", "a", "y"]}, [mine, "AP"])["first_three"].mean
    0.3333333333333333
    >>> mine.definition
    'P@3, found by identify: Σ rel(i), i ≤ 3, ÷ 3'

    ``takes`` is what the function is called with for each query, as in ``identify``: ``grades`` (a
    list of grades in rank order, 0 for an unjudged item), ``ids`` (relevant ids, ranked ids) or
    ``graded`` ({item: grade}, ranked ids). Ids are whole numbers that stand for the items: germane
    keeps only ranks and grades. An item of grade 1 or higher is relevant. The function returns a
    number, and decides itself what an empty list, or one without relevant items, is worth.

    ``definition`` is that of the measure of germane that agrees with the function on the data of
    ``identify``. If they agree only on the grades 0 and 1, it says so; if none agrees, it is "own"
    with the function's name. ``better="low"`` says that low values are good. A measure of your own
    has no range, so its intervals are wide if there are few queries; it has no terms, so
    ``explain`` shows only its value; and ``ties=expected`` has no closed form.

    Raises MeasureError for a name that germane or a tool uses, or that is not a word, and
    InputError for a function that fails on all data.
    """
    if not callable(function):
        raise InputError(f"measure takes a function; got {clip(function)}")
    check_choice("takes", takes, ("grades", "ids", "graded"), InputError)
    check_choice("better", better, ("high", "low"), InputError)
    _check_name(name)
    identification = identify(function, takes=takes)
    if identification.definitions:
        definition = identification.definitions[0]
        only = " of the grades 0 and 1" if GRADED in identification.undecided else ""
        text = f"{definition}{only}, found by identify: {definition.measure.definition}"
    else:
        text = f"own: {getattr(function, '__name__', type(function).__name__)}, of {takes}"
    return OwnMeasure(name, function=function, takes=takes, better=better, says=text)  # type: ignore[arg-type]


def _check_name(name: object) -> None:
    """Refuse a name that is no word, or that a measure has."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MeasureError(f"name is a word such as my_precision@5; got {clip(name)}")
    try:
        taken = parse_any(name)
    except MeasureError:
        return
    if isinstance(taken, OwnMeasure):  # as when a cell of a notebook runs again
        return
    raise MeasureError(f"{clip(name)} is already the name of {taken}. Choose another one.")
