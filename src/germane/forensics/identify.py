"""The functions identify and assert_computes."""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np

from germane.core.calls import Seed, is_number, make_generator, parse_whole
from germane.core.policy import Policy
from germane.dialects.names import parse_any
from germane.errors import (
    DefinitionError,
    InputError,
    MeasureError,
    PolicyError,
    clip,
    list_choices,
)
from germane.evaluation.choices import Choices, make_policy
from germane.forensics.asking import Asker, Precision, describe_function
from germane.forensics.cases import Shape, draw_many, draw_single
from germane.forensics.counterexample import make_answer
from germane.forensics.identification_search import GRADES, Far, Search
from germane.forensics.inquiry import USUAL_READING, Identification, Inquiry, choose_cutoffs
from germane.forensics.known_cases import make_names, resolve_form
from germane.measures.box_names import is_of_boxes
from germane.measures.definition import CatalogueDefinition
from germane.measures.measure import Measure

__all__ = [
    "Identification",
    "assert_computes",
    "identify",
]


def identify(
    function: Callable[..., Any],
    measure: str | Measure | None = None,
    *,
    takes: str,
    tolerance: float = 1e-9,
    decimals: int | None = None,
    rng: Seed = 0,
    **policy: Unpack[Choices],
) -> Identification:
    """Find the definition that a function computes, from its values on small data sets.

    >>> def my_precision(relevant, ranked):
    ...     return len(set(ranked[:5]) & set(relevant)) / 5
    >>> found = germane.identify(my_precision, "P@5", takes="ids")
    >>> str(found.definitions[0]), found.holds
    ('P@5', True)

    ``takes`` is the form of the function's data: ``grades`` (a list of grades in rank order),
    ``ids`` (relevant ids, ranked ids), ``graded`` ({item: grade}, ranked ids), ``lists`` (lists of
    relevant ids, lists of ranked ids), ``arrays`` (relevance and scores of one query), ``matrix``
    (the same, queries × items), ``dicts`` ({query: {item: grade}}, {query: {item: score}}),
    ``frames`` (two frames; ``columns`` names their columns) or ``trec`` (two paths). The function
    returns a number, a number for each query, or a mapping of them. If it needs further arguments,
    bind them first: ``lambda *data: f(*data, k=10)`` or ``functools.partial``.

    ``measure`` is what the function is supposed to compute, such as ``"AP@10"``. Without it, every
    measure is tried, at the cutoffs that the function has. Values count as equal up to a relative
    difference of 1e-9; use ``tolerance=1e-6`` for single precision, and ``decimals=4`` for rounded
    output. A convention that you give, such as ``no_relevant="zero"``, holds in all definitions.
    ``rng`` is the seed of the data.

    Raises InputError if the function cannot be evaluated, because it raises on all data or returns
    something else, and MeasureError for a measure of whole lists, subtopics or boxes.
    """
    form, claim, columns = resolve_form(takes), _read_claim(measure), policy.pop("columns", None)
    if not callable(function):
        raise InputError(f"identify takes a function; got {clip(function)}")
    precision = _check_precision(tolerance, decimals)
    with ExitStack() as stack:
        folder = None
        if form.name == "trec":
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="germane-")))
        most_calls = getattr(function, "most", None)

        def ask(called: Callable[..., Any], far: Far = "yes") -> Identification:
            asker = Asker(called, form, make_names(columns, folder), most_calls=most_calls)
            return _identify(asker, claim, precision, rng, {**policy}, far)

        try:
            answer = ask(function)
        except InputError as error:
            swapped = "" if most_calls or form.name == "grades" else _try_swapped(function, ask)
            if not swapped:
                raise
            raise InputError(f"{error} {swapped}") from None
        if isinstance(measure, str) and _EITHER.fullmatch(measure.strip()):
            answer = replace(answer, remarks=(*answer.remarks, _BOXES))
        if answer or answer.mistakes or most_calls or form.name == "grades":
            return answer
        swapped = _try_swapped(function, ask)
        return replace(answer, remarks=(*answer.remarks, swapped)) if swapped else answer


_EITHER = re.compile(r"mAP(@\d+)?", re.IGNORECASE)
_BOXES = "mAP is taken as AP of ranked lists; the mAP of detected boxes is one of germane boxes."


DEEPEST = 2000  # the cutoff of a measure that is claimed


def _read_claim(measure: str | Measure | None) -> Measure | None:
    """Read the claimed measure. Raises MeasureError for one that is not of ranked lists."""
    if measure is None:
        return None
    if isinstance(measure, str) and _is_of_boxes(measure.strip()):
        raise MeasureError(
            f"{clip(measure)} is a measure of boxes, and identify asks a function about ranked"
            " lists. germane boxes evaluates detections; germane boxes reconcile finds the"
            " definition of a number."
        )
    claim = parse_any(measure)
    if (claim.k or 0) > DEEPEST:
        raise MeasureError(
            f"{claim}: identify asks about lists of up to three times the cutoff, and cutoffs up"
            f" to {DEEPEST:,} can be told apart in time. Ask about the same measure at a lower one."
        )
    if isinstance(claim.row, CatalogueDefinition):
        raise MeasureError(
            f"{claim} is a measure of whole lists, which needs every result or the whole catalogue,"
            " and identify asks a function about judged items in one list per query."
            f" germane.evaluate computes {claim}."
        )
    if claim.row.subtopics:
        raise MeasureError(
            f"{claim} is a measure of subtopics, and identify asks a function about judgments"
            f" without subtopics. germane.evaluate computes {claim}."
        )
    return claim


def _is_of_boxes(name: str) -> bool:
    """Is this a measure of detections, and of no ranked list? AP@50 may be either."""
    if re.fullmatch("m?IoU|COCO.*", name, re.IGNORECASE):
        return True
    try:
        parse_any(name)
    except (MeasureError, PolicyError):
        return is_of_boxes(name)
    return False


def _list_grades(claim: Measure) -> list[float]:
    """List the grades that a measure's parameters name: its level, and those with a gain."""
    gain = dict(claim.parameters).get("gain")
    named = [grade for grade, _ in gain] if isinstance(gain, tuple) else []
    level = [] if claim.rel in (None, 1.0) else [claim.rel]
    return [grade for grade in (*level, *named) if grade is not None and grade > 0]


def _try_swapped(function: Callable[..., Any], ask: Callable[[Any, Far], Identification]) -> str:
    """Say what a function computes with its two arguments in the other order, or nothing."""
    try:
        answer = ask(lambda first, second: function(second, first), "no")
    except InputError:
        return ""
    if not answer or answer.holds is False:
        return ""
    return f"With its arguments in the other order it computes {answer.definitions[0]}."


def assert_computes(
    function: Callable[..., Any],
    measure: str | Measure,
    *,
    takes: str,
    tolerance: float = 1e-9,
    decimals: int | None = None,
    rng: Seed = 0,
    **policy: Unpack[Choices],
) -> Identification:
    """Raise DefinitionError, which is an AssertionError, unless a function computes a measure.

    >>> def my_recall(relevant, ranked):
    ...     return sum(item in relevant for item in ranked[:5]) / len(relevant)
    >>> germane.assert_computes(my_recall, "R@5", takes="ids").holds
    True

    The arguments are the same as for ``identify``. The error shows the smallest data set on which
    the function and the measure differ. The conventions for special cases, such as queries without
    relevant items, are left open unless you give them: ``no_relevant="zero"``.
    """
    answer = identify(
        function, measure, takes=takes, tolerance=tolerance, decimals=decimals, rng=rng, **policy
    )
    if not answer.holds:
        raise DefinitionError(str(answer).rstrip())
    return answer


_UNASKED = {"own": "the query itself among the items", "padding": "the id -1"}
"""Conventions for data that is not made."""


def _check_precision(tolerance: Any, decimals: Any) -> Precision:
    if not is_number(tolerance) or not 0 <= tolerance < 0.1:
        raise InputError(f"tolerance takes a number from 0 to below 0.1; got {clip(tolerance)}")
    if decimals is not None and parse_whole(decimals) not in range(1, 16):
        raise InputError(f"decimals takes a whole number from 1 to 15; got {clip(decimals)}")
    return Precision(float(tolerance), parse_whole(decimals))


def _identify(
    asker: Asker,
    claim: Measure | None,
    precision: Precision,
    seed: Seed,
    policy: Mapping[str, Any],
    far: Far,
) -> Identification:
    rng = make_generator(seed)
    fixed = {name: word for name, word in policy.items() if name in Policy.DEFAULTS}
    if unknown := [name for name in policy if name not in Policy.DEFAULTS]:
        raise InputError(
            f"identify makes the data itself and takes no {unknown[0]}=; conventions are"
            f" {list_choices(Policy.DEFAULTS, 'and')}."
        )
    for name, text in _UNASKED.items():
        if fixed.get(name, Policy.DEFAULTS[name]) != Policy.DEFAULTS[name]:
            raise InputError(
                f"{name}={fixed[name]} cannot be checked, since identify makes no lists with"
                f" {text}. Leave it out."
            )
    if "nan" in fixed.values():  # a value of its own, which is not made a number afterwards
        fixed.setdefault("undefined", "nan")
    ties = "trec" if "ties" in asker.form.shows else "given"
    base = make_policy(**{**USUAL_READING, "ties": ties, **fixed})
    grades: tuple[float, ...] = GRADES if "grades" in asker.form.shows else (1.0,)
    if claim is not None and (claimed := _list_grades(claim)):
        grades = tuple(sorted({*GRADES, *claimed}))
    k = None if claim is None else claim.k
    kind = _open(asker, Shape(asker.form.shows, k, grades), rng)
    cutoffs, k = choose_cutoffs(asker, claim, grades)
    shape = Shape(asker.shows, k, grades)
    search = Search(Inquiry(asker, kind, precision, base, shape, rng), fixed, claim, cutoffs, far)
    states = search.run()
    return make_answer(search, states, describe_function(asker.call))


def _open(asker: Asker, shape: Shape, rng: np.random.Generator) -> Any:
    """Find the containers that the function takes, and the kind of its answers."""
    errors = []
    tries = [draw_single(rng, drawn_shape) for drawn_shape in (shape, shape.binary, shape)]
    if asker.most_calls is not None:
        tries = [draw_many(rng, shape, 6)]
    for place in range(len(asker.form.kinds)):
        asker.kind_of_data = place
        for question in tries:
            answer = asker.ask(question)
            if not answer.raised:
                _avoid_unjudged(asker, shape, rng)
                return answer.kind
            errors.append(answer.raised)
        asker.answers.clear()
    asker.kind_of_data = 0
    if kind := _avoid_unjudged(asker, shape, rng):
        return kind
    failed = "raised" if asker.most_calls is None else "failed"
    raise InputError(
        f"{describe_function(asker.call)} {failed} on all data; takes={asker.form.name!r} gives it "
        f"{asker.form.takes}. {errors[0]}"
    )


def _avoid_unjudged(asker: Asker, shape: Shape, rng: np.random.Generator) -> str:
    """Show no unjudged items where the function raises on them; its kind of answers, or ""."""
    if asker.most_calls is not None or not shape.has_zeros or "all judged" in shape.shows:
        return ""
    first = [asker.ask(draw_single(rng, shape)) for _ in range(_TRIES)]
    raised = [answer.raised for answer in first if answer.raised]
    if not raised:
        return ""
    judged = replace(shape, shows=shape.shows | {"all judged"})
    second = [asker.ask(draw_single(rng, judged)) for _ in range(_TRIES)]
    if any(answer.raised for answer in second):
        return ""
    asker.unjudged = raised[0]
    return second[0].kind


_TRIES = 4
