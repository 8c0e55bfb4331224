"""The errors that germane raises, and functions that write the sentences of several messages.

GermaneError(ValueError)
├── MeasureError     a measure's name, parameter or cutoff
├── PolicyError      a convention that does not exist, or that the data cannot be given
├── InputError       a file or object that is not what it should be
│   ├── FormatError     a line or value of the wrong shape
│   ├── ScoreError      a score that is not a finite number
│   ├── GradeError      a relevance grade that is not a finite number
│   ├── DuplicateError  an item judged or retrieved twice for one query
│   └── EmptyError      nothing to evaluate
├── CoverageError    queries of qrels and run that do not match
├── NotFoundError      a result that has no such measure or run; also a KeyError
├── RegressionError  a run that fell behind its baseline; also an AssertionError
└── DefinitionError  a function that does not compute what it is said to; also an AssertionError

GermaneWarning(UserWarning): a number that is likely not the one intended
"""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import islice
from typing import Any, Literal


class GermaneError(ValueError):
    """The base of every error that germane raises on purpose.

    >>> try:
    ...     germane.score([0, 1], "P@0")
    ... except germane.GermaneError as error:
    ...     type(error).__name__
    'MeasureError'
    """

    def __init__(self, message: str = "", *rest: object) -> None:
        lines = spell_options(message).split("\n")
        super().__init__("\n".join(map(make_visible, lines)), *rest)


class MeasureError(GermaneError):
    """A measure has a name, parameter or cutoff that does not exist.

    >>> germane.score([0, 1], "APP")
    Traceback (most recent call last):
    germane.errors.MeasureError: unknown measure 'APP'. Did you mean 'AP'? ...
    """


class PolicyError(GermaneError):
    """A convention does not exist, or the data cannot be evaluated under it.

    >>> germane.Policy(ties="none")
    Traceback (most recent call last):
    germane.errors.PolicyError: ties takes trec, ascending, ... or grouped; got 'none'.
    """


class InputError(GermaneError):
    """A file or object is not what it should be.

    >>> germane.evaluate({"q": {"a": 1}}, 3)
    Traceback (most recent call last):
    germane.errors.InputError: a run is the path of a file, a frame, {query: {item: ...
    """


class FormatError(InputError):
    """A line or value has the wrong shape.

    >>> germane.read_run("Makefile")
    Traceback (most recent call last):
    germane.errors.FormatError: Makefile:3: 3 fields where a run line has 6 (query Q0 item ...
    """


class ScoreError(InputError):
    """A score is not a finite number.

    >>> germane.evaluate({"q": {"a": 1}}, {"q": {"a": "high"}})
    Traceback (most recent call last):
    germane.errors.ScoreError: run, query 'q', item 'a': a score must be ...; got 'high' (str)
    """


class GradeError(InputError):
    """A relevance grade is not a finite number.

    >>> germane.evaluate({"q": {"a": "good"}}, {"q": {"a": 1.0}})
    Traceback (most recent call last):
    germane.errors.GradeError: qrels, query 'q', item 'a': a relevance grade must be a ...
    """


class DuplicateError(InputError):
    """An item is judged or retrieved twice for one query.

    >>> germane.evaluate({"q": ["a"]}, {"q": ["a", "a"]})
    Traceback (most recent call last):
    germane.errors.DuplicateError: run, query 'q': item 'a' is retrieved twice, at ranks 1 and ...
    """


class EmptyError(InputError):
    """There is nothing to evaluate.

    >>> germane.evaluate({}, {"q": ["a"]})
    Traceback (most recent call last):
    germane.errors.EmptyError: the qrels are empty: there are no judgments.
    """


class CoverageError(GermaneError):
    """The queries of qrels and run do not match.

    >>> germane.evaluate({"q": ["a"]}, {"z": ["a"]})
    Traceback (most recent call last):
    germane.errors.CoverageError: no query of the run is in the qrels. run: 'z'; qrels: 'q' ...
    """


class NotFoundError(GermaneError, KeyError):
    """A result does not have the measure or run that was asked for.

    >>> germane.evaluate({"q": ["a"]}, {"q": ["a"]}, "AP")["RR"]
    Traceback (most recent call last):
    germane.errors.NotFoundError: RR was not evaluated.  There are: AP
    """

    __str__ = BaseException.__str__  # KeyError's own shows the message in quotes


class RegressionError(GermaneError, AssertionError):
    """A run has fallen behind its baseline.

    >>> germane.assert_no_regression({"q": ["a"]}, {"q": ["x", "a"]}, "RR", baseline={"q": ["a"]})
    Traceback (most recent call last):
    germane.errors.RegressionError: RR fell by 0.500, where 0 is allowed, and the test cannot ...
    """


class DefinitionError(GermaneError, AssertionError):
    """A function does not compute the measure that it is supposed to compute.

    >>> germane.assert_computes(lambda relevant, ranked: 0.5, "P@1", takes="ids")
    Traceback (most recent call last):
    germane.errors.DefinitionError: the function computes no definition ...
    """


class GermaneWarning(UserWarning):
    """A number was computed that is probably not the one you want; ``Result.findings`` says why.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     value = germane.evaluate({"q": ["a"]}, {"q": ["b"]}, "AP")["AP"].mean
    >>> value, seen[0].category.__name__
    (0.0, 'GermaneWarning')
    """


def write_option(name: str, value: object = "") -> str:
    """Write an option that a message names, and its value, for Python and for the command line.

    Messages are made before it is known who reads them: ``spell_options`` chooses when an error or
    a finding gets its text.

    >>> from germane.errors import spell_options, write_option
    >>> spell_options(f"choose {write_option('ties', 'given')}")
    'choose ties=given'
    """
    written = typed = str(value)
    if isinstance(value, Mapping):  # which the command line takes as NAME=VALUE,…
        written, typed = _write_mapping(value), ",".join(_type_pairs(value))
    return f"{_BEGIN}{name}{_NEXT}{name}={written}{_NEXT}{typed}{_END}"


def _write_mapping(value: Mapping[str, object]) -> str:
    pairs = (
        f"{part!r}: {_write_mapping(choice)}"
        if isinstance(choice, Mapping)
        else f"{part!r}: {choice if choice in _STAND_INS else repr(choice)}"
        for part, choice in value.items()
    )
    return "{" + ", ".join(pairs) + "}"


def _type_pairs(value: Mapping[str, object], side: str = "") -> Iterator[str]:
    """Write pairs as the command line takes them; those of one side as in run.item=name."""
    for part, choice in value.items():
        if isinstance(choice, Mapping):
            yield from _type_pairs(choice, f"{part}.")
        else:
            yield f"{side}{part}={'' if choice is None else choice}"


def name_option(name: str) -> str:
    """Write the name of an option alone, for Python and for the command line."""
    return f"{_BEGIN}{name}{_NEXT}{name}{_NEXT}{_END}"


def spell_options(text: str) -> str:
    """Spell the options of a message as keyword arguments, or as the command that runs has them."""
    return _OPTION.sub(_spell_option, text) if _BEGIN in text else text


def _spell_option(option: re.Match[str]) -> str:
    name, written, typed = option.groups()
    flag = f"--{name.replace('_', '-')}"
    return f"{flag} {typed}".rstrip() if flag in _command_options else written


@contextmanager
def speak_as_command(options: Collection[str]) -> Iterator[None]:
    """Spell the options of messages as a command does that has these: ``--ties given``."""
    before = set(_command_options)
    _command_options.update(options)
    try:
        yield
    finally:
        _command_options.intersection_update(before)


_STAND_INS = ("name", "…")  # for a value that the caller knows
_command_options: set[str] = set()
_BEGIN, _NEXT, _END = "\ue000", "\ue001", "\ue002"  # no id has them: they are not printable
_PART = f"([^{_BEGIN}-{_END}]*)"
_OPTION = re.compile(f"{_BEGIN}{_PART}{_NEXT}{_PART}{_NEXT}{_PART}{_END}")


def make_visible(text: str) -> str:
    """Write out control characters and broken bytes: an id may hold a terminal's commands."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def suggest(raw: str, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the option nearest to a word, or nothing.

    Words are alike from .62 on: ``weights`` is not like ``digits``, nor ``first`` like ``worst``.
    """
    from difflib import get_close_matches

    folded = {option.casefold(): option for option in options}
    near = get_close_matches(raw.casefold(), folded, n=1, cutoff=0.62)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def offer(
    raw: object, options: Iterable[object], show: Callable[[list[object]], str] | None = None
) -> str:
    """Return the end of a message about an unknown name: " Did you mean 'x'?  There are: x, y".

    All options are listed, or those that ``show`` shows, as it shows them.
    """
    listed = list(options)
    names = list(map(str, listed))
    return f"{suggest(str(raw), names)}  There are: {show(listed) if show else ', '.join(names)}"


def check_choice(
    name: str,
    raw: object,
    allowed: Collection[str],
    error: type[Exception] = PolicyError,
) -> None:
    """Refuse a word that is not allowed: ``ties takes trec or input; got 'tec'.``"""
    if isinstance(raw, str) and raw in allowed:
        return
    near = suggest(raw, allowed) if isinstance(raw, str) else ""
    takes = f"{name_option(name) if name else ''} takes {list_choices(allowed)}"
    raise error(spell_options(f"{takes}; got {clip(raw)}.{near}".lstrip()))


def explain_not_finite(noun: str, wrong: str, *, within: str = "") -> str:
    """Explain that a number cannot be used: ``a score must be a finite number; got nan``."""
    comma = f" ({WITH_POINT})" if re.search(r"'[-+\d.]*,[\d.,]*(?:e[-+]?\d+)?'", wrong) else ""
    article = "an" if noun[:1] in "aeiou" else "a"
    return f"{article} {noun} must be a finite number{within}; {wrong}{comma}"


WITH_POINT = "with a comma; write a decimal point, as in 0.95"


def explain_types(noun: str, side: str, run_types: str, side_types: str) -> str:
    """Explain that ids of a run never equal those of the other ``side``."""
    return (
        f"the {noun} ids of run and {side} have different types: the run's are {run_types}, those"
        f" of {side} are {side_types}. Convert one of them."
    )


def list_choices(options: Iterable[object], word: Literal["or", "and"] = "or") -> str:
    """Write options as prose: ``a``, ``a or b``, ``a, b or c``; ``word`` may be ``and``."""
    *initial, last = map(str, options)
    return f"{', '.join(initial)} {word} {last}" if initial else last


def list_some(values: Iterable[object], limit: int = 3) -> str:
    """Write the first few values as prose: ``'a', 'b', …``."""
    shown = [clip(value) for value in islice(values, limit + 1)]
    return ", ".join([*shown[:limit], "…"] if len(shown) > limit else shown)


def show_typed(value: object) -> str:
    """Return ``repr(value)`` with its type, unless the value shows it: ``'1.5' (str)``."""
    shown = clip(value)
    kind = type(value)
    return shown if kind in (int, float, bool, type(None)) else f"{shown} ({kind.__name__})"


def name_type(value: Any) -> str:
    """Name the type of an id; NumPy's numbers and texts have the name of Python's."""
    if isinstance(value, str):
        return "str"
    return type(value.item() if hasattr(value, "dtype") else value).__name__


@cache
def has_arrow() -> bool:
    """Is PyArrow installed? ``GERMANE_ARROW=0`` ignores it, so that the readers can be compared."""
    return os.environ.get("GERMANE_ARROW") != "0" and find_spec("pyarrow") is not None


def require_arrow(noun: str, verb: str = "needs") -> None:
    """Raise InputError for what cannot be done without PyArrow, unless that is installed."""
    if not has_arrow():
        raise InputError(f"{noun} {verb} PyArrow: pip install 'germane[frames]'")


_ADDRESS = re.compile("(?: object)? at 0x[0-9a-fA-F]+(?=>)")  # of objects without a text


def clip(value: object, width: int = 60) -> str:
    """Return ``repr(value)``, shortened in the middle: ids in data can be of any length."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        value = value.item()  # type: ignore[attr-defined]  # a number of NumPy's
    try:
        text = repr(value if not isinstance(value, str) else value[: 4 * width])
    except Exception:  # of an object that is not ours
        text = f"<{type(value).__name__}>"
    if "\n" in text:  # as in arrays and frames
        text = " ".join(text.split())
    if not isinstance(value, str):
        text = _ADDRESS.sub("", text)
    if len(text) > width:
        return text[: width - 12] + "…" + text[-11:]
    return text
