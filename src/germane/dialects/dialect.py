"""The class Dialect: the conventions of another tool, stage by stage, and its names of measures."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from germane.errors import MeasureError, clip, suggest

Stage = Literal["reading", "judging", "measuring", "averaging"]
STAGE_NAMES: tuple[Stage, ...] = ("reading", "judging", "measuring", "averaging")

_PLACES = {"k": r"([1-9]\d*)", "x": r"(\d+(?:\.\d+)?)"}
_PLACE = re.compile(r"\{(\w)\}")


@dataclass(frozen=True)
class Entry:
    """An entry of a dialect: the tool's name of a measure, and germane's name of it.

    ``{k}`` stands for a cutoff and ``{x}`` for a number, in both names. ``choices`` are conventions
    that the tool has for this measure alone.
    """

    name: str
    measure: str
    choices: Mapping[str, Any] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    """Other spellings of the tool's own."""

    def read(self, name: str) -> str | None:
        """Translate a name of the tool into germane's; None if it is not a name of this entry."""
        for spelling in (self.name, *self.also):
            if found := _compile_pattern(spelling).fullmatch(name):
                values = dict(zip(_PLACE.findall(spelling), found.groups(), strict=True))
                return _fill(self.measure, values)
        return None

    def write_name(self, k: int | None = None) -> str:
        """Write the tool's name with its cutoff."""
        return _fill(self.name, {} if k is None else {"k": str(k)})

    def write_names(self, k: object, x: object) -> list[str]:
        """Write every spelling of the tool's name, with the cutoff and the number."""
        return [_fill(name, {"k": str(k), "x": str(x)}) for name in (self.name, *self.also)]

    def write_measure(self, k: int | None) -> str:
        """Write germane's name with its cutoff."""
        return _fill(self.measure, {} if k is None else {"k": str(k)})

    @property
    def cutoff(self) -> bool:
        """Has the measure a cutoff?"""
        return "{k}" in self.measure


@cache
def _compile_pattern(spelling: str) -> re.Pattern[str]:
    pattern = re.escape(spelling)
    for place, written in _PLACES.items():
        pattern = pattern.replace(rf"\{{{place}\}}", written)
    return re.compile(pattern)


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


@dataclass(frozen=True)
class Homonym:
    """A measure of the tool that has the name of one of germane's and another definition.

    It is not evaluated in the dialect.
    """

    kind: str
    """germane's name of such a measure"""
    name: str
    """the tool's name"""
    measure: str = ""
    """germane's name of the tool's formula, without a cutoff; "" where germane has none"""
    says: str = ""
    """the tool's formula in words, where germane has no name for it"""


@dataclass(frozen=True)
class Limit:
    """A limit of a dialect: the data on which germane does not reproduce the tool, and why."""

    when: str
    """tied · tied_long (in more than 15 results) · unordered (rows are not in the order of their scores) ·
    no_relevant · all_relevant · all_within (all are relevant, and no more than k) · empty · short (than
    k) · shallow · single · uneven · repeated · negative · early (the last relevant result stands above
    k) · missed · unknown · named (a query's id is no number) · level (of relevance is given)"""
    says: str
    only: tuple[str, ...] = ()
    """The names of the measures that it concerns; none: all of them."""
    order: bool = False
    """Is the order of equal scores open? Then the tool's value is between worst and best."""


@dataclass(frozen=True)
class Dialect:
    """A tool's conventions: one value for each stage, and its names of measures.

    >>> germane.dialects()["trec_eval-9"].judging
    {'ties': 'trec', 'missing': 'skip', 'empty': 'missing'}
    """

    name: str
    tool: str
    version: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    judging: Mapping[str, Any] = field(default_factory=dict)
    averaging: Mapping[str, Any] = field(default_factory=dict)
    measuring: tuple[Entry, ...] = ()
    why: str = ""
    """Where the tool differs and why, in a sentence or a few."""
    source: str = ""
    """The file and function in which the tool decides it."""
    limits: tuple[Limit, ...] = ()
    unlike: tuple[Homonym, ...] = ()
    """Measures of the tool that are not evaluated, and differ from germane's of that name."""
    sees: Literal["judgments", "list"] = "judgments"
    """The input of the tool: all judgments of a query, or labels and scores of one list. Of a list, it takes
    the relevant items that are listed for all that exist, which is ``relevant=listed``."""
    same: tuple[str, ...] = ()
    """Other tools, with their versions, that give equal answers."""
    aliases: tuple[str, ...] = ()
    """Other names of the dialect."""

    @property
    def choices(self) -> dict[str, Any]:
        """The conventions of every stage but the measures, by name."""
        return {**self.reading, **self.judging, **self.averaging}

    def find(self, name: str) -> Entry | None:
        """Find the entry that a written name belongs to."""
        return next((entry for entry in self.measuring if entry.read(name)), None)

    def measure(self, name: str) -> str:
        """Translate a measure of the tool into germane's name. Raises MeasureError with the nearest name."""
        entry = self.find(name)
        if entry is None:
            raise self.make_unknown_error(name)
        return entry.read(name) or ""

    def names(self, k: object, x: object = 1) -> list[str]:
        """Write the names of all measures, with a cutoff and a number."""
        return [name for one in self.measuring for name in one.write_names(k, x)]

    def make_unknown_error(self, name: str, besides: str = "") -> MeasureError:
        """Make the error for a name that the tool does not have."""
        numbers = re.findall(r"\d+(?:\.\d+)?", name)
        cutoff = next((one for one in numbers if re.fullmatch(r"[1-9]\d*", one)), 10)
        near = suggest(name, self.names(cutoff, [1, *numbers][-1]))
        if numbers and self.find(re.sub(r"-?\d+(?:\.\d+)?", "10", name)):
            near += " A cutoff must be a positive integer."
        return MeasureError(
            f"{self.name} has no measure {clip(name)}.{near}{besides}  "
            f"All of them: germane dialects {self.name}"
        )


# --- Shared by dialects of several families -------------------------------------------------------

LISTS = {"ties": "given", "missing": "skip"}
"""Judging: each list stands in its own order, and a query without a list is left out."""

COPIES_COUNT = {"duplicates": "recount", "repeated": "once"}
"""Reading: a repeated result is a hit again, a repeated judgment is one relevant item."""

PYTREC = {"duplicates": "last", "grades": "whole", "scores": "single"}
"""Reading: dicts as pytrec_eval hands them to the code of trec_eval 9."""


def name_both(
    name: str, measure: str, cut: str = "@{k}", choices: Mapping[str, Any] | None = None
) -> tuple[Entry, Entry]:
    """List a measure without and with a cutoff, for which the tool appends ``cut`` to the name."""
    return (
        Entry(name, measure, choices or {}),
        Entry(name + cut, measure + "@{k}", choices or {}),
    )
