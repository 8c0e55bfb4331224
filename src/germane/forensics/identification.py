"""Identification: a function's definitions, or the nearest one and where it differs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from germane._version import VERSION
from germane.measures.measure import Measure
from germane.output.tables import (
    Table,
    add_schema,
    format_number,
    to_json_number,
    write_count,
    write_html,
    write_markdown,
    write_text,
)

_TOOLS = 4  # that are named beside a definition
_SHOWN = 6  # definitions that a table for people holds


@dataclass(frozen=True)
class Definition:
    """A definition that a function computes, or the one that is nearest to it."""

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "definition": str(self),
            "measure": str(self.measure),
            "formula": self.measure.definition,
            "conventions": {**self.choices, **self.conventions},
            "tools": list(self.tools),
        }


@dataclass(frozen=True)
class Counterexample:
    """Small data on which the function and a definition differ."""

    data: str
    """the grades in rank order, or judgments and lists"""
    arguments: tuple[Any, ...]
    """the arguments of the function; for files, their text"""
    value: float
    """what the function gives"""
    definition: Definition
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        return {
            "data": self.data,
            "value": to_json_number(self.value),
            "definition": str(self.definition),
            "expected": to_json_number(self.expected),
            "says": self.says,
            "raised": self.raised,
        }


@dataclass(frozen=True)
class Identification:
    """The definitions that a function computes, simplest first, or that there is none.

    >>> def my_precision(relevant, ranked):
    ...     return sum(item in relevant for item in ranked[:5]) / 5
    >>> found = germane.identify(my_precision, takes="ids")
    >>> bool(found), str(found.definitions[0])
    (True, 'P@5')

    True where a definition was found. Prints as text; ``markdown``, ``to_dict`` and, in a notebook,
    HTML.
    """

    name: str
    """the function's name"""
    claim: Measure | None
    """the measure that it is said to compute"""
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
            yield f"No convention fits special data: {example}."
        for name, error in self.raised.items():
            yield f"It raises with {name}: {error}"
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
        """The sentences below the table: the evidence, and its limits."""
        return tuple(self._write_lines())[1:]

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a definition that was found, or the nearest one."""
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
        return write_text(first, *(f"  {line}" for line in rest), "")

    def markdown(self) -> str:
        """A sentence and a table for GitHub."""
        return write_markdown(self.verdict, self.table())

    def _repr_html_(self) -> str:
        return write_html(self.verdict, self.table())

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        example = self.counterexample
        return add_schema(
            {
                "germane": VERSION,
                "function": self.name,
                "claim": None if self.claim is None else str(self.claim),
                "holds": self.holds,
                "verdict": self.verdict,
                "definitions": [definition.to_dict() for definition in self.definitions],
                "nearest": None if self.nearest is None else self.nearest.to_dict(),
                "counterexample": None if example is None else example.to_dict(),
                "mistakes": list(self.mistakes),
                "special": dict(self.special),
                "odd": [example.to_dict() for example in self.odd],
                "raised": dict(self.raised),
                "undecided": dict(self.undecided),
                "probes": self.probes,
                "calls": self.calls,
                "remarks": list(self.remarks),
            }
        )


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
