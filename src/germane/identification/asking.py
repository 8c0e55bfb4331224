"""Asking: call a function with the data of questions, read its answers, and remember them."""

import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from germane.core.ragged import Bools, Floats
from germane.errors import InputError, clip, write_error
from germane.identification.cases import Question
from germane.identification.forms import Form, Names, name_query

Kind = Literal["mean", "queries"]


@dataclass(frozen=True)
class Precision:
    """How nearly a value has to be that of a definition."""

    tolerance: float = 1e-9  # relative
    decimals: int | None = None

    def agree(self, values: Floats, expected: Floats) -> Bools:
        """Mark the values that are equal; NaN equals NaN."""
        allowed = self.tolerance * np.maximum(np.abs(expected), 1e-3)
        if self.decimals is not None:
            allowed = np.maximum(allowed, 0.5 * 10.0**-self.decimals + 1e-12)
        with np.errstate(invalid="ignore"):
            near = np.abs(values - expected) <= allowed
        equal: Bools = near | (np.isnan(values) & np.isnan(expected)) | (values == expected)
        return equal


def guess_precision(values: Floats) -> tuple[Precision, str]:
    """Guess the precision of values: 2 to 8 decimals, or single; with a sentence, or ""."""
    finite = np.unique(values[np.isfinite(values)])
    if len(finite) >= _SHOWING:
        for decimals in range(2, 9):
            if (np.abs(np.round(finite, decimals) - finite) < 1e-13).all():
                text = f"Its values are rounded to {decimals} decimals."
                return Precision(decimals=decimals), text
    telling = finite * 2**_SHORT % 1 != 0  # short binary fractions are the same in both precisions
    if telling.sum() >= _TELLING and (finite.astype(np.float32).astype(float) == finite).all():
        text = f"Its values are of single precision: they are equal to {SINGLE:g} of their size."
        return Precision(SINGLE), text
    return Precision(), ""


_SHOWING = 6  # different values that show how they are rounded
_TELLING, _SHORT = 3, 12  # values with more binary digits that show single precision
SINGLE = 2e-6


@dataclass(frozen=True)
class Answer:
    """The values that a function gave for a question, or why it gave none."""

    values: tuple[float, ...] = ()
    kind: Kind = "mean"
    raised: str = ""


class FailedCallError(Exception):
    """A call of a program that failed; the message says how."""


class CannotRunError(InputError):
    """There is nothing to ask: a program that does not exist."""


class WrongAnswerError(Exception):
    """An answer that is no number and holds none for each query."""


@dataclass
class Asker:
    """Asks a function, each question once unless it is repeated."""

    call: Callable[..., Any]
    form: Form
    names: Names
    kind_of_data: int = 0  # which of the form's containers
    most_calls: int | None = None  # calls that are allowed, where each costs time
    unjudged: str = ""  # the error with items that nobody judged, which then are not shown
    answers: dict[Question, Answer] = field(default_factory=dict)
    calls: int = 0

    @property
    def containers(self) -> str:
        """The containers in which data is given."""
        return self.form.kinds[self.kind_of_data][0]

    @property
    def shows(self) -> frozenset[str]:
        """The data that these containers can hold."""
        lost: frozenset[str] = frozenset()
        if "set" in self.containers:
            lost = frozenset({"repeats"} if "list" in self.containers else {"repeats", "copies"})
        added = {"all judged"} if self.unjudged else set()
        return (self.form.shows - lost) | added

    @property
    def left(self) -> int | None:
        """The calls that are left; None where they are not counted."""
        return None if self.most_calls is None else max(0, self.most_calls - self.calls)

    def ask(self, question: Question, repeat: Literal["no", "yes"] = "no") -> Answer:
        """Return the answer to a question; the function is called if it is new, or ``repeat``."""
        if repeat == "no" and question in self.answers:
            return self.answers[question]
        self.calls += 1
        answer = self._call(question)
        return self.answers.setdefault(question, answer) if repeat == "no" else answer

    def _call(self, question: Question) -> Answer:
        data = self.form.make(self.kind_of_data, question, self.names)
        try:
            with _silence():
                returned = self.call(*data)
        except (Exception, SystemExit) as error:  # whatever a function that is not ours raises
            if isinstance(error, CannotRunError):
                raise
            failed = isinstance(error, FailedCallError)  # which says it all
            return Answer(
                raised=" ".join(str(error).split())[:120] if failed else write_error(error)
            )
        try:
            return read_answer(returned, len(question.cases), self.form.several)
        except WrongAnswerError as error:
            if not any(answer.values for answer in self.answers.values()):
                raise InputError(f"{describe_function(self.call)} returned {error}") from None
            return Answer(raised=f"returned {error}")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Drop what the function prints and warns of."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        yield


def describe_function(function: Any) -> str:
    """Name a function or a program; a lambda or a partial function is "the function"."""
    name: str = getattr(function, "__name__", "")
    return name if name.isidentifier() or hasattr(function, "command") else "the function"


def read_answer(raw: Any, queries: int, has_queries: bool) -> Answer:
    """Read a number, a number for each query, or a mapping of them.

    Raises WrongAnswerError, which says what came, for anything else.
    """
    if isinstance(raw, Mapping) or (hasattr(raw, "to_dict") and hasattr(raw, "index")):
        if not has_queries:
            raise WrongAnswerError(
                f"{clip(raw)}, where one query has one number. Choose it: lambda *data: f(*data)[…]"
            )
        return _read_mapping(dict(raw.items()), queries)
    number = _read_number(raw)
    if number is not None:
        return Answer((number,))
    if isinstance(raw, (str, bytes)) or raw is None:
        raise WrongAnswerError(f"{clip(raw)}, not a number")
    try:
        several_numbers = [_read_number(number) for number in raw]
    except TypeError:
        raise WrongAnswerError(f"{clip(raw)} ({type(raw).__name__}), not a number") from None
    if len(several_numbers) == queries and None not in several_numbers:
        numbers = tuple(number for number in several_numbers if number is not None)
        return Answer(numbers, "queries" if has_queries else "mean")
    expected = f"one for each of {queries} queries" if has_queries else "one number"
    choose = "" if several_numbers.count(None) else ". Choose one: lambda *data: f(*data)[0]"
    raise WrongAnswerError(f"{len(several_numbers)} values, not {expected}: {clip(raw)}{choose}")


def _read_number(raw: Any) -> float | None:
    if isinstance(raw, (str, bytes, Mapping, list, tuple, complex)) or raw is None:
        return None
    if getattr(raw, "shape", ()) not in ((), None):
        return None
    try:
        return float(raw)
    except (TypeError, ValueError):
        return None


def _read_mapping(raw: dict[Any, Any], queries: int) -> Answer:
    places = {name_query(q): q for q in range(queries)} | {q: q for q in range(queries)}
    values = [math.nan] * queries
    for key, value in raw.items():
        place, number = places.get(key), _read_number(value)
        if place is None:
            raise WrongAnswerError(
                f"a mapping with the key {clip(key)}, which is no query ({name_query(0)}, …)."
                f" Choose the number, as in lambda *data: f(*data)[{clip(key)}]"
            )
        if number is None:
            choose = ""
            if isinstance(value, Mapping) and value:
                first = clip(next(iter(value)))
                choose = (
                    f". Choose it: lambda *data: {{q: one[{first}] for q, one in f(*data).items()}}"
                )
            raise WrongAnswerError(
                f"a mapping with {clip(value)} for query {clip(key)}, not a number{choose}"
            )
        values[place] = number
    return Answer(tuple(values), "queries")
