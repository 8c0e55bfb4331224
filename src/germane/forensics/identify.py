"""The functions identify and assert_computes."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
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
    offer,
    spell_options,
    write_option,
)
from germane.evaluation.choices import Choices, make_policy
from germane.forensics.asking import Asker, Precision, describe_function
from germane.forensics.cases import Shape, draw_many, draw_single
from germane.forensics.counterexample import make_answer
from germane.forensics.identification_search import GRADES, Far, Search
from germane.forensics.inquiry import USUAL_READING, Identification, Inquiry, choose_cutoffs
from germane.forensics.known_cases import FORMS, Form, make_names, resolve_form
from germane.measures.box_names import is_of_boxes
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
    takes: str | None = None,
    call: Mapping[str, Any] | None = None,
    tolerance: float = 1e-9,
    decimals: int | None = None,
    rng: Seed = 0,
    **policy: Unpack[Choices],
) -> Identification:
    """Find the definition that a function computes, from its values on small data sets.

    >>> def my_precision(relevant, ranked, k):
    ...     return len(set(ranked[:k]) & set(relevant)) / k
    >>> found = germane.identify(my_precision, "P@5", takes="ids", call={"k": 5})
    >>> str(found.definitions[0]), found.holds
    ('P@5', True)

    ``takes`` is the form of the function's data: ``grades`` (a list of grades in rank order),
    ``ids`` (relevant ids, ranked ids), ``graded`` ({item: grade}, ranked ids), ``lists`` (lists of
    relevant ids, lists of ranked ids), ``arrays`` (relevance and scores of one query), ``matrix``
    (the same, queries × items), ``dicts`` ({query: {item: grade}}, {query: {item: score}}),
    ``frames`` (two frames; ``columns`` names their columns) or ``trec`` (two paths). Without it,
    every form is tried, and the answer says which was taken and why; forms that give different
    definitions are all named. ``call`` passes further arguments of the function. The function
    returns a number, a number for each query, or a mapping of them.

    ``measure`` is what the function is supposed to compute, such as ``"AP@10"``. Without it, every
    measure is tried, at the cutoffs that the function has. Values count as equal up to a relative
    difference of 1e-9; use ``tolerance=1e-6`` for single precision, and ``decimals=4`` for rounded
    output. A convention that you give, such as ``no_relevant="zero"``, holds in all definitions.
    ``rng`` is the seed of the data.

    Raises InputError if the function cannot be evaluated, because it raises on all data or returns
    something else, and MeasureError for a measure of whole lists, subtopics or boxes.
    """
    form = None if takes is None else resolve_form(takes)
    claim, columns = _read_claim(measure), policy.pop("columns", None)
    if not callable(function):
        raise InputError(f"identify takes a function; got {clip(function)}")
    fixed = _fix_conventions(policy)
    function, precision = _bind(function, call), _check_precision(tolerance, decimals)
    forms = _list_forms(function) if form is None else (form,)
    most_calls = getattr(function, "most", None)
    with ExitStack() as stack:
        folder = None
        if "trec" in {form.name for form in forms}:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="germane-")))
        names = make_names(columns, folder)

        def ask(called: Callable[..., Any], form: Form, far: Far = "yes") -> Identification:
            asker = Asker(called, form, names, most_calls=most_calls)
            return _identify(asker, claim, precision, rng, fixed, far)

        answer = _guess_form(function, forms, ask) if form is None else _ask(function, form, ask)
    if isinstance(measure, str) and _EITHER.fullmatch(measure.strip()):
        answer = replace(answer, remarks=(*answer.remarks, _BOXES))
    return answer


AskInForm = Callable[..., Identification]  # of a function, a form, and how far to search


def _ask(function: Callable[..., Any], form: Form, ask: AskInForm) -> Identification:
    """Ask a function in one form; if nothing is found, with its arguments the other way round."""
    can_swap = form.name != "grades" and not hasattr(function, "most")
    try:
        answer = ask(function, form)
    except InputError as error:
        swapped = _try_swapped(function, form, ask) if can_swap else ""
        if not swapped:
            raise
        raise InputError(f"{error} {_SWAPPED.format(swapped)}") from None
    if answer or answer.mistakes or not can_swap:
        return answer
    swapped = _try_swapped(function, form, ask)
    remarks = (*answer.remarks, _SWAPPED.format(swapped)) if swapped else answer.remarks
    return replace(answer, remarks=remarks)


_SWAPPED = "With its arguments in the other order it {}."


# --- The form of the data, where nobody says it ---------------------------------------------------


def _guess_form(
    function: Callable[..., Any], forms: Sequence[Form], ask: AskInForm
) -> Identification:
    """Ask a function in every form, and answer in the one in which it computes a measure.

    A form in which the claim holds comes first. Others that give another measure are named.
    """
    answers, errors = _ask_forms(function, forms, ask, "no")
    definite = {name: answer for name, answer in answers.items() if answer}
    if not definite:  # measures with other conventions are tried, and mistakes
        answers, _ = _ask_forms(function, [FORMS[name] for name in answers], ask, "yes")
        definite = {name: answer for name, answer in answers.items() if answer}
    if not definite:
        return _report_none(function, forms, ask, answers, errors)
    chosen = max(definite, key=lambda name: definite[name].holds is True)
    answer = ask(function, FORMS[chosen])
    del definite[chosen]
    remark = _explain_form(FORMS[chosen], answer, definite)
    return replace(answer, remarks=(spell_options(remark), *answer.remarks))


def _ask_forms(
    function: Callable[..., Any], forms: Sequence[Form], ask: AskInForm, far: Far
) -> tuple[dict[str, Identification], list[str]]:
    """Return the answer in each form in which a function can be called, and the other errors."""
    answers, errors = {}, []
    for form in forms:
        try:
            answers[form.name] = ask(function, form, far)
        except InputError as error:
            errors.append(str(error))
    return answers, errors


def _explain_form(form: Form, answer: Identification, others: Mapping[str, Identification]) -> str:
    """Say why a form was taken, and what the function computes in others."""
    first = answer.definitions[0]
    taken = _show_form(form)
    differing = [
        f"with {_show_form(FORMS[name])}, {other.definitions[0]}"
        for name, other in others.items()
        if str(first) not in map(str, other.definitions)
    ]
    if differing:
        why = "the one in which the claim holds" if answer.holds else "the first"
        return (
            "The form of the data was guessed, and the function computes different measures in"
            f" different forms: with {taken}, {first}; {'; '.join(differing)}. This answer is"
            f" {why}. {write_option('takes', '…')} chooses another."
        )
    same = [write_option("takes", name) for name in others]
    why = f"the measure is the same with {list_choices(same, 'and')}" if same else ""
    why = why or "in no other form are the values those of a measure"
    return f"The form of the data was guessed: {taken}, since {why}."


def _show_form(form: Form) -> str:
    return f"{write_option('takes', form.name)} ({form.takes})"


def _report_none(
    function: Callable[..., Any],
    forms: Sequence[Form],
    ask: AskInForm,
    answers: Mapping[str, Identification],
    errors: Sequence[str],
) -> Identification:
    """Report that no form has a definition: the one with a mistake that is known, or the first."""
    swapped = {
        form.name: f"With its arguments in the other order and {_show_form(form)}, it {text}."
        for form in forms
        if form.name != "grades" and (text := _try_swapped(function, form, ask))
    }
    if not answers:
        advice = " ".join(swapped.values()) or f"{write_option('takes', '…')} chooses a form."
        told = next((error for error in errors if _OTHER_NAMES in error), errors[0])
        raise InputError(f"{told.rstrip('.')}. No other form works, either. {advice}")

    def rate(name: str) -> tuple[bool, bool]:
        first = answers[name].mistakes[:1]
        of_claim = any(mistake.startswith(f"{answers[name].claim} ") for mistake in first)
        return name in swapped, of_claim or bool(first and answers[name].claim is None)

    chosen = max(answers, key=rate)
    others = [write_option("takes", name) for name in answers if name != chosen]
    also = f"; the function also runs with {list_choices(others, 'and')}" if others else ""
    remark = (
        "The form of the data was guessed, and in no form are the values those of a measure. This"
        f" is {_show_form(FORMS[chosen])}{also}."
    )
    remarks = (spell_options(text) for text in (remark, *swapped.values()))
    return replace(answers[chosen], remarks=(*remarks, *answers[chosen].remarks))


def _list_forms(function: Callable[..., Any]) -> tuple[Form, ...]:
    """List the forms that have as many arguments as a function. Raises InputError if none has."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # of a function that is not written in Python
        return tuple(FORMS.values())
    placed = [parameter for parameter in parameters if parameter.kind in _PLACED]
    needed = [parameter for parameter in placed if parameter.default is parameter.empty]
    unset = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    ]
    most = len(placed)
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        most = len(placed) + 2
    forms = tuple(
        form
        for form in FORMS.values()
        if len(needed) <= (1 if form.name == "grades" else 2) <= most and not unset
    )
    if not forms:
        names = [parameter.name for parameter in needed] + unset
        last = names[-1] if names else "…"
        raise InputError(
            f"{describe_function(function)} has the arguments {', '.join(names) or 'none'};"
            " identify sets one or two of them, the data."
            f" {write_option('call', {last: '…'})} sets another."
        )
    return forms


_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _bind(function: Callable[..., Any], call: Mapping[str, Any] | None) -> Callable[..., Any]:
    """Set arguments of a function by their names. Raises InputError for one that it lacks."""
    if call is None:
        return function
    option = write_option("call", {"top_k": 10})
    if not isinstance(call, Mapping) or not all(isinstance(name, str) for name in call):
        raise InputError(f"arguments of the function have names: {option}; got {clip(call)}")
    if hasattr(function, "command"):
        raise InputError(f"{option} is for a function; a program has its arguments in its command.")
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return partial(function, **call)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        named = [name for name, parameter in parameters.items() if parameter.kind in _NAMED]
        if unknown := [name for name in call if name not in named]:
            raise InputError(
                f"{describe_function(function)} has no argument {clip(unknown[0])}."
                f"{offer(unknown[0], named)}"
            )
    return partial(function, **call) if call else function


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


_EITHER = re.compile(r"mAP(@\d+)?", re.IGNORECASE)
_BOXES = (
    "mAP is taken to mean AP of ranked lists; for the mAP of detected boxes, use germane boxes."
)


DEEPEST = 2000  # the cutoff of a measure that is claimed


def _read_claim(measure: str | Measure | None) -> Measure | None:
    """Read the claimed measure. Raises MeasureError for one that is not of ranked lists."""
    if measure is None:
        return None
    if isinstance(measure, str) and _is_of_boxes(measure.strip()):
        raise MeasureError(
            f"{clip(measure)} is a measure of boxes, but identify calls a function on ranked"
            " lists. germane boxes evaluates detections; germane boxes reconcile finds the"
            " definition of a number."
        )
    claim = parse_any(measure)
    if (claim.k or 0) > DEEPEST:
        raise MeasureError(
            f"{claim}: identify tries lists of up to three times the cutoff, and only cutoffs up"
            f" to {DEEPEST:,} can be told apart in reasonable time. Ask about the same measure at"
            " a lower cutoff."
        )
    if claim.row.of_catalogue:
        raise MeasureError(
            f"{claim} is a measure of whole lists, which needs every result or the whole"
            " catalogue, but identify calls a function on judged items in one list per query."
            f" germane.evaluate computes {claim}."
        )
    if claim.row.subtopics:
        raise MeasureError(
            f"{claim} is a measure of subtopics, but identify calls a function on judgments"
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


def _try_swapped(function: Callable[..., Any], form: Form, ask: AskInForm) -> str:
    """Say what a function computes with its two arguments in the other order, or ""."""
    try:
        answer = ask(lambda first, second: function(second, first), form, "no")
    except InputError:
        return ""
    if not answer or answer.holds is False:
        return ""
    return f"computes {answer.definitions[0]}"


def assert_computes(
    function: Callable[..., Any],
    measure: str | Measure,
    *,
    takes: str | None = None,
    call: Mapping[str, Any] | None = None,
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
        function,
        measure,
        takes=takes,
        call=call,
        tolerance=tolerance,
        decimals=decimals,
        rng=rng,
        **policy,
    )
    if not answer.holds:
        raise DefinitionError(str(answer).rstrip())
    return answer


_UNASKED = {"own": "the query itself among the items", "padding": "the id -1"}
"""Conventions for data that is not made."""


def _fix_conventions(policy: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conventions that all definitions have. Raises InputError for other options."""
    if unknown := [name for name in policy if name not in Policy.DEFAULTS]:
        raise InputError(
            f"identify makes the data itself and takes no {unknown[0]}=; conventions are"
            f" {list_choices(Policy.DEFAULTS, 'and')}."
        )
    for name, text in _UNASKED.items():
        if policy.get(name, Policy.DEFAULTS[name]) != Policy.DEFAULTS[name]:
            raise InputError(
                f"{name}={policy[name]} cannot be checked, since identify makes no lists with"
                f" {text}. Leave it out."
            )
    make_policy(**policy)
    return dict(policy)


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
    conventions: Mapping[str, Any],
    far: Far,
) -> Identification:
    rng, fixed = make_generator(seed), dict(conventions)
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


_OTHER_NAMES = " If its columns have other names, say which"


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
    advice = ""
    if asker.form.name == "frames" and errors[0].startswith(("KeyError", "ColumnNotFound")):
        names = {"query": "user_id", "item": "item_id"}
        advice = f"{_OTHER_NAMES}: {write_option('columns', names)}."
    raise InputError(
        f"{describe_function(asker.call)} {failed} on all data; takes={asker.form.name!r} gives it "
        f"{asker.form.takes}. {errors[0].rstrip('.')}.{advice}"
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
