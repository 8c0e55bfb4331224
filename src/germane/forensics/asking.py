"""Asks a function or a program with the data of questions, in batches, and reads its answers."""

import contextlib
import io
import math
import os
import re
import shlex
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Literal

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import GermaneError, InputError, clip
from germane.evaluation.collection import Collection
from germane.evaluation.judging import JudgedRun
from germane.evaluation.opening import open_data
from germane.forensics.cases import Case, Question
from germane.forensics.known_cases import Form, Names, name_query
from germane.forensics.spread import Values
from germane.forensics.variations import Candidate
from germane.measures.averaging import MeasureResult
from germane.readers.objects.records import make_record

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
        text = (
            "Its values have single precision: they are equal up to a relative difference of"
            f" {SINGLE:g}."
        )
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
        try:
            data = self.form.make(self.kind_of_data, question, self.names)
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
    """Name a function, with the arguments that are set, or a program; a lambda has no name."""
    if isinstance(function, partial) and not function.args:
        chosen = ", ".join(f"{name}={clip(value)}" for name, value in function.keywords.items())
        return f"{describe_function(function.func)}({chosen})"
    name: str = getattr(function, "__name__", "")
    return name if name.isidentifier() or hasattr(function, "command") else "the function"


def read_answer(raw: Any, queries: int, has_queries: bool) -> Answer:
    """Read a number, a number for each query, or a mapping of them.

    Raises WrongAnswerError, which says what came, for anything else.
    """
    if isinstance(raw, Mapping) or (hasattr(raw, "to_dict") and hasattr(raw, "index")):
        if not has_queries:
            raise WrongAnswerError(
                f"{clip(raw)}, but a query has a single number. Choose it: lambda *data:"
                " f(*data)[…]"
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


# --- Batch ----------------------------------------------------------------------------------------
#
# The questions of one kind, the answers to them, and what definitions give for each.

NOWHERE = "nothing"  # an item that is judged not relevant, where a query has no other judgment


@dataclass
class Batch:
    """Questions, all of whose queries are evaluated together, once for each definition."""

    form: Form
    questions: Sequence[Question]
    answers: Sequence[Answer]
    base: Policy
    kind: Kind

    @cached_property
    def answered(self) -> Bools:
        """Mark the values that the function gave: one a question, or one a query."""
        marks = [not answer.raised and answer.kind == self.kind for answer in self.answers]
        return np.repeat(np.array(marks, bool), self._values_each)

    @cached_property
    def given(self) -> Floats:
        """The values that the function gave; NaN where it raised."""
        values: list[float] = []
        for answer, count in zip(self.answers, self._values_each, strict=True):
            usable = not answer.raised and answer.kind == self.kind
            values += answer.values if usable else [math.nan] * count
        return np.array(values, float)

    @cached_property
    def owner(self) -> Ints:
        """The question of each value."""
        return np.repeat(np.arange(len(self.questions)), self._values_each)

    @property
    def raised(self) -> list[tuple[Question, str]]:
        """The questions for which the function raised, and its errors."""
        pairs = zip(self.questions, self.answers, strict=True)
        return [(question, answer.raised) for question, answer in pairs if answer.raised]

    @property
    def is_answered(self) -> bool:
        """Did the function give any value?"""
        return bool(self.answered.any())

    @cached_property
    def _values_each(self) -> list[int]:
        if self.kind == "mean":
            return [1] * len(self.questions)
        return [len(question.cases) for question in self.questions]

    @cached_property
    def _cases(self) -> list[Case]:
        return [case for question in self.questions for case in question.cases]

    @cached_property
    def _starts(self) -> list[int]:
        lengths = [len(question.cases) for question in self.questions]
        return list(accumulate(lengths, initial=0))

    @cached_property
    def _collection(self) -> Collection:
        judged = [
            (f"{q}", item, grade)
            for q, case in enumerate(self._cases)
            if case.judged is not None
            for item, grade in case.judged or ((NOWHERE, 0.0),)
        ]
        qrels: object = _make_table(judged, "relevance")
        if "repeats" in self.form.shows and not self.form.rows:
            qrels = self._list_relevant()
        data = open_data(qrels, {})
        return data.collect(data.open_run(self._make_run())[0], ())

    def _list_relevant(self) -> dict[str, object]:
        """List the relevant items of each query, which may repeat."""
        return {
            f"{q}": [item for item, _ in case.judged] if case.judged else {NOWHERE: 0.0}
            for q, case in enumerate(self._cases)
        }

    def _make_run(self) -> object:
        answered = [(f"{q}", case.ranked) for q, case in enumerate(self._cases)]
        lists = [(q, ranked) for q, ranked in answered if ranked is not None]
        if self.form.rows:
            return _make_table([(q, *row) for q, ranked in lists for row in ranked], "score")
        if "ties" not in self.form.shows:
            return {q: [item for item, _ in ranked] for q, ranked in lists}
        in_arrays = "all judged" in self.form.shows  # items stand in the order of their ids
        return {q: dict(sorted(ranked) if in_arrays else ranked) for q, ranked in lists}

    @cached_property
    def _evaluated(self) -> Values:
        return Values(self._collection)

    def judge(self, policy: Policy) -> JudgedRun:
        """Judge the queries under a policy."""
        return self._evaluated.judge(policy)

    def rank(self, policy: Policy) -> Ranking:
        """Rank the judged items under a policy."""
        return self.judge(policy).rank(policy.ties)

    def evaluate(self, candidate: Candidate) -> MeasureResult | None:
        """Evaluate a candidate on all queries; None where the data does not allow it."""
        try:
            return self._evaluated(candidate.make_policy(self.base), candidate.measure)
        except GermaneError:
            return None

    def expect(self, candidate: Candidate) -> Floats | None:
        """Compute the value that a definition gives for each question, or each query."""
        result = self.evaluate(candidate)
        return None if result is None else self.arrange(result)

    def arrange(self, result: MeasureResult) -> Floats:
        """Arrange the values of queries as the function gives them."""
        values, has_value = self._spread(result)
        # Where each call has one query that counts as it is, its value is that of the call. Else
        # the mean is taken over the queries of each call.
        plain = result.left_out is None and result.undefined == "nan" and bool(has_value.all())
        plain = plain and result.digits is None and result.norm is None
        single = len(self._cases) == len(self.questions)
        geometric = ("mean", "geometric") in result.measure.parameters
        if self.kind == "queries" or (plain and single and not geometric):
            return values
        place = {query: i for i, query in enumerate(result.queries)}
        means = []
        for start, end in zip(self._starts, self._starts[1:], strict=False):
            places = [place[f"{q}"] for q in range(start, end) if f"{q}" in place]
            means.append(result.take(np.array(places, np.int64)).mean)
        return np.array(means, float)

    def _spread(self, result: MeasureResult) -> tuple[Floats, Bools]:
        """Spread the values over all queries; NaN and False where one has none."""
        cases = len(self._cases)
        if result.queries == [f"{q}" for q in range(cases)]:
            return result.values, np.ones(cases, bool)
        place = [int(str(query)) for query in result.queries]
        values, has_value = np.full(cases, math.nan), np.zeros(cases, bool)
        values[place], has_value[place] = result.values, True
        return values, has_value

    def match(self, expected: Floats | None, precision: Precision) -> Bools:
        """Mark the values given that a definition has, too."""
        if expected is None:
            return np.zeros(len(self.given), bool)
        return precision.agree(self.given, expected) & self.answered

    def agrees(self, values: Floats | None, precision: Precision) -> bool:
        """Is the function equal to these values wherever it gave one?"""
        return bool((self.match(values, precision) | ~self.answered).all())

    def fits(self, candidate: Candidate, precision: Precision) -> bool:
        """Is the function equal to a definition wherever it gave a value?"""
        return self.agrees(self.expect(candidate), precision)

    def find_difference(self, candidate: Candidate, precision: Precision) -> Question | None:
        """Find the smallest question on which function and definition differ."""
        differ = self.answered & ~self.match(self.expect(candidate), precision)
        places = self.owner[differ].tolist()
        return min(
            (self.questions[i] for i in places), key=lambda question: question.size, default=None
        )


def _make_table(rows: list[tuple[str, str, float]], number: str) -> Any:
    names = ("query", "item", number)
    return make_record({name: [row[i] for row in rows] for i, name in enumerate(names)}, len(rows))


# --- Program: one that reads qrels and a run and prints a number, as a function of two paths ------

MOST = 12  # calls, each of which starts the program
LIMIT = 60.0  # seconds for a call
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?|nan|NaN", re.ASCII)


_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|deno|bun|[gmn]?awk|sh|bash|zsh|java|Rscript|julia|php|lua)[\d.]*|uv|env"
)


class ProgramError(FailedCallError):
    """A call that failed: exit status and last line on standard error, or the time limit."""


PRINTED = 1 << 26  # bytes on standard output, or on standard error


def run_bounded(words: list[str], limit: float) -> tuple[int, str, str]:
    """Run a program; return its exit status and what it printed on both streams.

    Raises ProgramError for one that prints without an end, TimeoutExpired, and OSError.
    """
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors) as process,
    ):
        end = time.monotonic() + limit
        try:
            while (status := _wait(process, end)) is None:
                if max(os.fstat(stream.fileno()).st_size for stream in (output, errors)) > PRINTED:
                    raise ProgramError(f"it printed more than {PRINTED >> 20} MB")
                if time.monotonic() > end:
                    raise subprocess.TimeoutExpired(words, limit)
        except BaseException:
            process.kill()
            raise
        read = []
        for printed in (output, errors):
            printed.seek(0)
            read.append(printed.read(PRINTED).decode("utf-8", "replace"))
        return status, read[0], read[1]


def _wait(process: "subprocess.Popen[bytes]", end: float) -> int | None:
    """Wait for a program for a moment; None if it still runs."""
    try:
        return process.wait(max(0.0, min(0.1, end - time.monotonic())))
    except subprocess.TimeoutExpired:
        return None


@dataclass
class Program:
    """Runs a command without a shell; ``{qrels}`` and ``{run}`` stand for the paths of files.

    The number is what the first group of ``pattern`` matches in the output. With the groups
    ``query`` and ``value`` there is a number for each query. Without a pattern the output has one
    number.
    """

    command: str
    pattern: str | None = None
    limit: float = LIMIT
    most: int = MOST
    decimals: int = field(default=0, init=False)  # the most that was printed

    def __post_init__(self) -> None:
        try:
            self._words = shlex.split(self.command)
        except ValueError as error:
            raise InputError(f"--command cannot be split into words: {error}.") from None
        for place in ("{qrels}", "{run}"):
            if not any(place in word for word in self._words):
                raise InputError(
                    f"--command has {place} where the path of a file belongs; got"
                    f" {clip(self.command)}"
                )
        self._pattern = self._compile()
        self.__name__ = self._find_name()

    def _find_name(self) -> str:
        """Find the name of the program: that of the script, where an interpreter is called."""
        first = PurePath(self._words[0]).name
        if not _INTERPRETERS.fullmatch(first):
            return first
        scripts = (PurePath(word) for word in self._words[1:] if word[0] not in "-{")
        return next((script.name for script in scripts if script.suffix), first)

    def _compile(self) -> re.Pattern[str] | None:
        if self.pattern is None:
            return None
        try:
            compiled = re.compile(self.pattern, re.MULTILINE)
        except re.error as error:
            raise InputError(f"--pattern is not a regular expression: {error}.") from None
        named = set(compiled.groupindex)
        if compiled.groups != 1 and named != {"query", "value"}:
            raise InputError(
                r"--pattern has one group, for the number, such as 'map\s+all\s+(\S+)', or the"
                r" groups "
                "(?P<query>…) and (?P<value>…)."
            )
        return compiled

    def __call__(self, qrels: str, run: str) -> float | dict[str, float]:
        words = [word.replace("{qrels}", qrels).replace("{run}", run) for word in self._words]
        try:
            status, output, errors = run_bounded(words, self.limit)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"no answer within {self.limit:g} s") from None
        except OSError as error:
            raise CannotRunError(f"{words[0]} cannot be run: {error.strerror}.") from None
        if status:
            last_line = (errors.strip().splitlines() or [""])[-1]
            raise ProgramError(f"exit status {status}{f': {last_line[:100]}' if last_line else ''}")
        return self._read(output)

    def _read(self, output: str) -> float | dict[str, float]:
        if self._pattern is None:
            numbers = [word for word in output.split() if _NUMBER.fullmatch(word)]
            if len(numbers) != 1:
                raise ProgramError(
                    f"it printed {len(numbers)} numbers, not one; choose one with --pattern:"
                    f" {clip(output)}"
                )
            return self._convert(numbers[0])
        matches = list(self._pattern.finditer(output))
        if not matches:
            raise ProgramError(f"--pattern matches nothing in its output: {clip(output)}")
        if self._pattern.groupindex:
            return {
                match["query"]: self._convert(match["value"])
                for match in matches
                if match["query"] != "all"
            }
        if len(matches) > 1:
            raise ProgramError(f"--pattern matches {len(matches)} numbers in its output, not one")
        return self._convert(matches[0][1])

    def _convert(self, text: str) -> float:
        if not _NUMBER.fullmatch(text):
            raise ProgramError(f"{clip(text)} is not a number")
        _, _, decimals = text.partition(".")
        if "e" not in text.lower():
            self.decimals = max(self.decimals, len(decimals))
        return float(text)


def write_error(error: BaseException) -> str:
    """Write an error that is not germane's in one line; its text may be anything, or raise."""
    try:
        text = " ".join(str(error).split())[:120]
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
