"""Inquiry: questions to one function, its cutoffs, and the Identification that answers them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from germane._version import VERSION
from germane.core.policy import Policy
from germane.core.ragged import Floats
from germane.dialects import dialects, resolve_dialect
from germane.dialects.names import parse
from germane.forensics.asking import Answer, Asker, Batch, Kind, Precision
from germane.forensics.cases import (
    Case,
    Question,
    Rng,
    Shape,
    Special,
    draw_case,
    draw_questions,
    draw_single,
    make_case,
)
from germane.forensics.known_cases import list_known
from germane.forensics.variations import NO_NUMBER, Candidate, list_dialect_candidates
from germane.measures.measure import Measure
from germane.output.documents import AS_TEXT, LEFT_OUT, Plain, make_document, name_values
from germane.output.tables import (
    Sheet,
    Table,
    format_number,
    write_count,
)

_TOOLS = 4  # that are named beside a definition
_SHOWN = 6  # definitions that a table for people holds


@dataclass(frozen=True)
class Definition(Plain):
    """A definition that a function computes, or the one that is nearest to it."""

    _json = (
        "definition=__str__ measure formula=measure.definition conventions=_join_conventions tools"
    )

    measure: Measure
    conventions: Mapping[str, Any] = field(default_factory=dict)
    """the conventions that the probes decided"""
    tools: tuple[str, ...] = ()
    """the tools that define it so, each with its own name for the measure"""
    choices: Mapping[str, Any] = field(default_factory=dict)
    """the conventions that it needs on ordinary data, without which it gives other values"""

    def __str__(self) -> str:
        return ", ".join(
            [str(self.measure), *(f"{name}={word}" for name, word in self.choices.items())]
        )

    def _join_conventions(self) -> dict[str, Any]:
        return {**self.choices, **self.conventions}


@dataclass(frozen=True)
class Counterexample(Plain):
    """Small data on which the function and a definition differ."""

    data: str
    """the grades in rank order, or judgments and lists"""
    arguments: tuple[Any, ...] = field(metadata=LEFT_OUT)
    """the arguments of the function; for files, their text"""
    value: float
    """what the function gives"""
    definition: Definition = field(metadata=AS_TEXT)
    expected: float
    """what the definition gives"""
    says: str = ""
    """what the function seems to do instead"""
    raised: str = ""
    """the error that the function raised, or what it returned, where that is no number"""

    def __str__(self) -> str:
        seems = f", as if {self.says}" if self.says else ""
        value, expected = _write_both(self.value, self.expected)
        does = f"gives {value}{seems}"
        if self.raised:
            does = self.raised if self.raised.startswith("returned") else f"raises {self.raised}"
        return (
            f"on {self.data} it {does}, and {self.definition} is {expected} "
            f"({self.definition.measure.definition})"
        )


@dataclass(frozen=True)
class Identification(Plain):
    """The definitions that a function computes, simplest first; or none.

    >>> def my_precision(relevant, ranked):
    ...     return sum(item in relevant for item in ranked[:5]) / 5
    >>> found = germane.identify(my_precision, takes="ids")
    >>> bool(found), str(found.definitions[0])
    (True, 'P@5')

    It is true if a definition was found. It prints as text, and in a notebook as HTML; ``markdown``
    and ``to_dict`` give other formats.
    """

    _json = (
        "function=name claim holds verdict definitions nearest counterexample mistakes special odd"
        " raised undecided probes calls remarks"
    )

    name: str
    """the function's name"""
    claim: Measure | None
    """the measure that it is supposed to compute"""
    definitions: tuple[Definition, ...]
    """the definitions that give all of its values"""
    probes: int
    """the number of data sets that it was asked about"""
    calls: int
    """the number of calls"""
    holds: bool | None
    """Is the claim one of the definitions? None without a claim."""
    special: Mapping[str, str]
    """what the function does with special data, such as a query without relevant items"""
    undecided: Mapping[str, str]
    """special data that could not be shown to the function, and why"""
    raised: Mapping[str, str]
    """data on which the function raised, and its error"""
    odd: tuple[Counterexample, ...] = ()
    """special data on which the function gives a value that no convention gives"""
    nearest: Definition | None = None
    """where no definition was found: the one that gives most of the values"""
    counterexample: Counterexample | None = None
    """the smallest data on which function and claim, or function and nearest definition, differ"""
    mistakes: tuple[str, ...] = ()
    """common mistakes that give the function's values"""
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.definitions)

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if self.definitions:
            first = self.definitions[0]
            tools = _name_tools(first.tools)
            equal = f"equal on all {write_count(self.probes, 'probe')}"
            return f"{self.name} computes {first}: {equal}.{f' {tools}' if tools else ''}"
        claim = "" if self.claim is None else f", {self.claim} included"
        if self.mistakes:
            return (
                f"{self.name} computes no definition that germane knows{claim}. It has the values"
                f" of {self.mistakes[0]}."
            )
        return f"{self.name} computes no definition that germane knows{claim}."

    def _write_lines(self) -> Iterator[str]:
        yield self.verdict
        if self.definitions:
            yield f"{self.definitions[0]}: {self.definitions[0].measure.definition}"
        if self.counterexample is not None:
            target = self.counterexample.definition
            wrong = target.measure == self.claim and not self.holds
            start = f"It is not {target}: " if wrong else f"The nearest is {target}: "
            if not wrong and self.nearest is None:
                start = "It differs from " + f"{target}: "
            yield start + f"{self.counterexample}."
        if self.special:
            yield "   ".join(f"{name}: {does}" for name, does in self.special.items())
        for example in self.odd:
            yield f"No convention fits its values for special cases: {example}."
        for name, error in self.raised.items():
            yield f"It raises an error for {name}: {error}"
        alternatives = [str(definition) for definition in self.definitions[1:_SHOWN]]
        if alternatives:
            hidden = len(self.definitions) - 1 - len(alternatives)
            yield (
                "Equal on all probes, too:"
                f" {', '.join(alternatives)}{f' and {hidden} more' if hidden else ''}."
            )
        yield from self.remarks
        if self.undecided:
            names: dict[str, list[str]] = {}
            for name, why in self.undecided.items():
                names.setdefault(why, []).append(name)
            reasons = (f"{', '.join(kinds)} ({why})" for why, kinds in names.items())
            yield f"Not decided: {', '.join(reasons)}."

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences below the table: the evidence and its limits."""
        return tuple(self._write_lines())[1:]

    def table(self, *, digits: int | None = 4) -> Table:
        """One row per definition that was found, or the nearest one."""
        rows = self.definitions or ((self.nearest,) if self.nearest else ())
        shown = rows if digits is None else rows[:_SHOWN]
        limit = None if digits is None else _TOOLS
        cells = tuple(
            (
                str(definition),
                definition.measure.definition,
                ", ".join(f"{name}={word}" for name, word in definition.conventions.items()),
                _name_tools(definition.tools, limit),
            )
            for definition in shown
        )
        first = "definition" if self.definitions else "nearest definition"
        return Table((first, "formula", "conventions", "tools"), cells, self.notes, (1, 2, 3))

    def __str__(self) -> str:
        first, *rest = self._write_lines()
        return Sheet(first, *(f"  {line}" for line in rest), "").text()

    def markdown(self) -> str:
        """A sentence and a table for GitHub."""
        return Sheet(self.verdict, self.table()).markdown()

    def _repr_html_(self) -> str:
        return Sheet(self.verdict, self.table()).html()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        return make_document({"germane": VERSION, **name_values(self)})


def _name_tools(tools: tuple[str, ...], limit: int | None = _TOOLS) -> str:
    """Name tools without their measures, at most so many."""
    names = list(dict.fromkeys(tool.partition(":")[0] for tool in tools))
    rest = " …" if limit is not None and len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def _write_both(actual: float, expected: float) -> tuple[str, str]:
    """Write two numbers with as many decimals as show that they differ, and at least four."""
    for digits in range(4, 17):
        if f"{actual:.{digits}f}" != f"{expected:.{digits}f}":
            break
    first, second = (format_number(value, digits, nan="NaN") for value in (actual, expected))
    return first, second


# --- The cutoffs of a function --------------------------------------------------------------------

LONG = 1200  # results of the longest list by which a cutoff is looked for
USUAL_CUTOFFS = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 50, 100, 200, 500, 1000)
"""Cutoffs that are tried where every call takes time."""

Cutoffs = tuple[int | None, ...]


def choose_cutoffs(
    asker: Asker, claim: Measure | None, grades: Sequence[float]
) -> tuple[Cutoffs, int | None]:
    """Choose the cutoffs to try, and the one around which lists are drawn."""
    claimed = None if claim is None else claim.k
    if asker.most_calls is not None:
        if claimed is None:
            return (None, *USUAL_CUTOFFS), 10
        near = (claimed - 1, claimed + 1) if claimed > 1 else (2,)
        return tuple(dict.fromkeys((claimed, None, *near, *USUAL_CUTOFFS))), claimed
    length = LONG if claimed is None else max(60, 3 * claimed)
    cutoff = next(
        filter(None, (find_cutoff(asker, length, grade) for grade in {1.0, max(grades)})), None
    )
    cutoffs = tuple(dict.fromkeys((claimed, None, cutoff)))
    drawn = [k for k in (claimed, cutoff) if k is not None and (k > 1 or cutoff == claimed)]
    if not drawn and cutoff is not None:
        drawn = [cutoff]
    return cutoffs, max(drawn, default=None)


def find_cutoff(asker: Asker, length: int, grade: float) -> int | None:
    """Find the last rank at which a single hit makes a difference; None for all or none."""
    shape = Shape(asker.shows)

    def ask(rank: int) -> tuple[float, ...]:
        hits = [0.0] * length
        hits[rank - 1] = grade
        case: Case = make_case(hits, 0, shape)
        answer = asker.ask(Question((case,)))
        return answer.values

    last = ask(length)
    low = next((rank for rank in (1, 2) if not _same(ask(rank), last)), None)
    if not last or low is None or not _same(ask(length - 1), last):
        return None
    high = length - 1  # a hit at low makes a difference, and one at high none
    while high - low > 1:
        middle = (low + high) // 2
        if _same(ask(middle), last):
            high = middle
        else:
            low = middle
    return low


def _same(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return len(first) == len(second) and np.array_equal(first, second, equal_nan=True)


# --- Batches of questions, and what they show besides definitions ---------------------------------

ORDINARY, LAST = 36, 60  # questions of a search and of its check; half of them where a call is slow
JOINED = 24  # queries of a call, where calls are counted


@dataclass
class Trail:
    """All that a search found out besides definitions."""

    raised: dict[str, tuple[Question, str]] = field(default_factory=dict)
    unexplained: dict[str, Question] = field(default_factory=dict)
    """special data on which the function gives a value that no convention gives"""
    shown: dict[str, Floats] = field(default_factory=dict)
    """the function's values on special data"""
    unseen: dict[str, str] = field(default_factory=dict)
    """special data that the form cannot show, and why"""
    broken: tuple[Candidate, Question] | None = None
    """a definition that fits until it meets this question"""
    binary: bool = False
    """Do the definitions hold for the grades 0 and 1 alone?"""
    rounded: str = ""
    """how the values are rounded, where they show it"""
    constant: bool = False
    """Is it one value for all data?"""
    random: Question | None = None
    """a question to which the function gave two answers"""


@dataclass
class Inquiry:
    """The questions to one function, its conventions and precision, and the trail."""

    asker: Asker
    kind: Kind
    precision: Precision
    base: Policy
    shape: Shape
    rng: Rng
    trail: Trail = field(default_factory=Trail)

    def ask(self, questions: Iterable[Question]) -> Batch:
        """Ask questions, as far as calls are left."""
        affordable = list(questions)
        if self.asker.left is not None:
            affordable = affordable[: self.asker.left]
        return self._make_batch(affordable, [self.asker.ask(question) for question in affordable])

    def ask_known(
        self, questions: list[Question], answers: Mapping[Question, Answer] | None = None
    ) -> Batch:
        """Make a batch of questions with the answers that are known, or without any."""
        known_answers = self.asker.answers if answers is None else answers
        return self._make_batch(
            questions, [known_answers.get(question, Answer(raised="-")) for question in questions]
        )

    def _make_batch(self, questions: list[Question], answers: list[Answer]) -> Batch:
        return Batch(self.asker.form, questions, answers, self.base, self.kind)

    def draw(self, special: Special) -> list[Question]:
        """Draw the questions of special data, known ones first."""
        known_questions = list_known(self.shape).get(frozenset({special.name}), [])
        known_questions = [
            question for question in known_questions if special.joined or len(question.cases) == 1
        ]
        return draw_questions(self.rng, self.shape, special, self.asker.most_calls, known_questions)

    def ask_ordinary(self) -> Batch:
        """Ask about ordinary queries, known ones first; a counted call has many of them."""
        rng, shape = self.rng, self.shape
        kinds = [frozenset[str](), *[frozenset({"short"})] * (self.asker.most_calls is not None)]
        of_kinds = [question for kind in kinds for question in list_known(shape).get(kind, [])]
        singles = [question for question in of_kinds if len(question.cases) == 1]
        if self.asker.most_calls is None:
            count = ORDINARY // (2 if shape.slow else 1)
            return self.ask([*singles, *(draw_single(rng, shape) for _ in range(count))])
        cases = rng.permutation(len(singles))[: JOINED // 2].tolist()
        first = Question((*(singles[i].cases[0] for i in cases), *self._draw_joined(JOINED // 2)))
        return self.ask([first, Question(tuple(self._draw_joined(JOINED)))])

    def _draw_joined(self, count: int) -> Iterator[Case]:
        """Draw the queries of one call; some lists are shorter than the cutoff."""
        for q in range(count):
            length = None if q % 4 else int(self.rng.integers(2, max(3, self.shape.k or 0)))
            yield draw_case(self.rng, self.shape, length=length)

    def ask_new(self) -> Batch:
        """Ask about new ordinary queries."""
        rng, shape = self.rng, self.shape
        if self.asker.most_calls is None:
            count = LAST // (2 if shape.slow else 1)
            return self.ask(draw_single(rng, shape) for _ in range(count))
        return self.ask([Question(tuple(self._draw_joined(JOINED)))])

    def is_random(self, batch: Batch) -> bool:
        """Does the function give another answer when it is asked again?"""
        sample = batch.questions[: 1 if self.shape.slow else 3]
        for question in sample:
            first, second = self.asker.ask(question), self.asker.ask(question, repeat="yes")
            if (
                first.kind != second.kind
                or bool(first.raised) != bool(second.raised)
                or not np.array_equal(first.values, second.values, equal_nan=True)
            ):
                self.trail.random = question
        return self.trail.random is not None

    def is_constant(self, batches: Iterable[Batch]) -> bool:
        """Does the function give one value for all data, so that it shows nothing?"""
        values = np.concatenate([batch.given[batch.answered] for batch in batches])
        same = len(values) > 0 and self.precision.agree(values, values[:1]).all()
        self.trail.constant = bool(same)
        return self.trail.constant


# --- Tools that have a measure, and those that give a function's values ---------------------------

COMMON = (4, 20)  # tools that have a measure which some people know, and which all do

USUAL_READING = {"duplicates": "first", "repeated": "once"}
"""The conventions of a definition that copies do not decide: germane's own refuse them."""


Batches = Sequence[tuple[Special | None, Batch]]  # and the special data of each


@dataclass
class ToolDefinitions:
    """The definitions of tools under the conventions in force."""

    base: Policy
    fixed: Mapping[str, Any]
    claim: Measure | None
    _lists: dict[tuple[str, int | None], list[Candidate]] = field(default_factory=dict)
    _tools: dict[object, tuple[str, ...]] = field(default_factory=dict)

    def list_kind(self, name: str, k: int | None) -> list[Candidate]:
        """List the definitions that tools have of a kind of measure."""
        if (name, k) not in self._lists:
            kinds = [Measure(name, (), k)]
            if self.claim is not None and (self.claim.name, self.claim.k) == (name, k):
                kinds = [self.claim]
            self._lists[name, k] = [
                candidate
                for kind in kinds
                for candidate in list_dialect_candidates(kind, self.base, self.fixed)
            ]
        return self._lists[name, k]

    def find(self, candidate: Candidate, batches: Batches, precision: Precision) -> tuple[str, ...]:
        """Find the tools that give these values, wherever they do not refuse to."""
        measure = candidate.measure
        key = measure.name, measure.k, len(batches), precision  # all that the tools depend on
        if key not in self._tools:
            tools = [
                definition.tools[0]
                for definition in self.list_kind(measure.name, measure.k)
                if definition.measure.name == measure.name
                and _agrees(definition, batches, precision)
            ]
            self._tools[key] = tuple(dict.fromkeys(tools))
        return self._tools[key]


def _agrees(candidate: Candidate, batches: Batches, precision: Precision) -> bool:
    """Does a tool's definition give the function's values on all data that it takes?"""
    tool, _, name = candidate.tools[0].partition(":")
    dialect = resolve_dialect(tool)
    entry = dialect.find(name)
    stated = {**dialect.choices, **({} if entry is None else entry.read_choices(name))}
    refused = {name for name, word in stated.items() if word in NO_NUMBER and word != "nan"}
    refused |= USUAL_READING.keys() - stated.keys()  # as germane, it refuses copies
    choices = tuple(pair for pair in candidate.choices if pair[0] not in refused)
    for special, batch in batches:
        if special is not None and refused.intersection(special.decides):
            continue
        expected = batch.expect(Candidate(candidate.measure, choices))
        if expected is not None and not batch.agrees(expected, precision):
            return False
    return True


@cache
def count_tools(name: str) -> int:
    """Count the tools that have a measure of this name."""
    every = (dialect for dialect in dialects().values() if not dialect.matching)
    kinds = (
        {parse(entry.write_measure(1)).name for entry in dialect.measuring} for dialect in every
    )
    return sum(name in names for names in kinds)
