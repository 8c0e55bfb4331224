"""Reconciliation: the definitions that give a reported number, in tables and in words."""

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, Generic, Literal, TypeVar

from germane._version import VERSION
from germane.core.policy import Policy
from germane.errors import GermaneError, clip, list_choices, list_some, make_visible
from germane.explanation.single_query import Counted
from germane.forensics.plausibility import POSSIBLE, describe_chance
from germane.forensics.reported import Reported, format_plain
from germane.forensics.run_search import Agreement, Given, Undecided
from germane.forensics.spread import NOT_COUNTED, Example
from germane.forensics.spread import SHOWN as SHOWN_BY
from germane.forensics.variations import VARIED, Tried, describe_decisions
from germane.measures.measure import Measure
from germane.output.documents import make_document
from germane.output.named_columns import Tabular
from germane.output.tables import (
    Row,
    Sheet,
    Table,
    format_number,
    write_count,
)

SHOWN = 12  # candidates and queries that a table for people holds

G = TypeVar("G", bound=Tried[Any])


class Answer(Tabular, Generic[G]):
    """The answer to a reported number: the candidates that give it, or that none does."""

    _noun: str
    _columns: Row  # the last one has the tools
    _tools: int  # that are named beside a candidate

    reported: Reported
    measure: Any
    own: Any
    found: tuple[G, ...]
    nearest: tuple[G, ...]
    tried: tuple[G, ...]
    values: int
    chance: float

    def __iter__(self) -> Iterator[G]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def answer(self) -> Literal["found", "possible", "none"]:
        """The number was found, is possible (chance may give it, too), or nothing gives it."""
        if not self.found:
            return "none"
        return "possible" if self.chance > POSSIBLE else "found"

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """The evidence that the data gives, and its limits."""
        return tuple(self._write_notes())

    def _write_notes(self) -> Iterator[str]:
        raise NotImplementedError

    def _end_question(self) -> str:
        """End the sentence that names what was found."""
        doubt = f"; possible, not certain. {self._explain_chance()}"
        return doubt if self.answer == "possible" else "."

    def _describe_nearest(self) -> str:
        """Write the value of the nearest candidate, and how far it is from the reported number."""
        value = self.nearest[0].value
        distance = value - self.reported.value
        side = "above" if distance > 0 else "below"
        return f"{self._format(value)}, {self._format(abs(distance))} {side}."

    def _explain_range(self, candidates: str) -> Iterator[str]:
        """Write how many candidates and values were tried, and the chance of a wrong number."""
        values = sorted({round(trial.value, 12) for trial in self.tried})
        yield (
            f"Tried: {candidates} with {write_count(len(values), 'value', 'different values')} from"
            f" {self._format(values[0])} to {self._format(values[-1])}."
        )
        if self.answer == "found":
            yield self._explain_chance()

    def _explain_chance(self) -> str:
        return describe_chance(self.values, self.chance)

    def _format(self, value: float) -> str:
        return format_value(value, self.reported.digits)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row for each candidate that was found, or for the nearest ones."""
        rows = self.found or self.nearest
        shown = rows if digits is None else rows[:SHOWN]
        cells = tuple(
            (
                str(trial),
                format_value(trial.value, digits),
                format_difference(trial.value - self.reported.value, digits),
                *self._describe(trial, None if digits is None else self._tools),
            )
            for trial in shown
        )
        hidden = len(rows) - len(shown)
        notes = [f"… and {write_count(hidden, self._noun)} more"] if hidden else []
        left = tuple(range(3, len(self._columns)))
        return Table(self._columns, cells, (*notes, *self.notes), left)

    def _describe(self, trial: G, limit: int | None) -> Row:
        """Write the cells behind the numbers, which end with at most so many tools."""
        return (list_tools(trial, limit),)

    def _list_tables(self, digits: int | None) -> Iterator[Table]:
        """List the tables below the verdict."""
        yield self.table(digits=digits)

    def __str__(self) -> str:
        return Sheet(self.verdict, "", *self._list_tables(self.reported.digits)).text()

    def __repr__(self) -> str:
        return make_visible(f"<{type(self).__name__} {self.answer}: {self.verdict}>")

    def _repr_html_(self) -> str:
        return Sheet(self.verdict, *self._list_tables(self.reported.digits)).html()

    def markdown(self) -> str:
        """A paragraph and tables for GitHub."""
        return Sheet(self.verdict, *self._list_tables(self.reported.digits)).markdown()

    def _make_head(self, conventions: Mapping[str, Any]) -> dict[str, Any]:
        """Make plain values of the parts that every answer has."""
        return {
            "germane": VERSION,
            "reported": self.reported,
            "measure": self.measure,
            **conventions,
            "verdict": self.verdict,
            "answer": self.answer,
            "values": self.values,
            "chance": self.chance,
            "own": self._make_row(self.own),
            "found": list(map(self._make_row, self.found)),
            "nearest": list(map(self._make_row, self.nearest)),
        }

    def _make_row(self, trial: Any) -> dict[str, Any]:
        """Make plain values of a candidate."""
        raise NotImplementedError


def list_tools(trial: Tried[Any], limit: int | None) -> str:
    """Name the tools that use a candidate, at most so many."""
    names = list(dict.fromkeys(tool.partition(":")[0] for tool in trial.candidate.tools))
    rest = f" +{len(names) - limit}" if limit is not None and len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def format_value(value: float, digits: int | None) -> str:
    """Write a value, or ``none``."""
    return format_number(value, digits, sign="z", nan="none")


def format_difference(value: float, digits: int | None) -> str:
    """Write a difference with its sign."""
    written = format_value(value, digits)
    return "+" * (value > 0 and written.strip("0.") != "") + written


# --- Reconciliation: the definitions that give a reported number, in tables and in words ----------


@dataclass(frozen=True, repr=False)
class Reconciliation(Answer[Given]):
    """The definitions that give a reported number, simplest first, or the nearest ones.

    >>> found = germane.reconcile([1, 0, 1], relevant=20, reported="0.167")
    >>> [str(one) for one in found], found.own.value
    (['AP@10', 'AP(norm=k)@10'], 0.16666666666666666)
    >>> len(germane.reconcile([1, 0, 1], relevant=20, reported="0.62"))
    0

    Iterating gives the definitions that were found. It prints as text, and in a notebook as HTML;
    ``markdown`` and ``to_dict`` give other formats.
    """

    _noun = "definition"
    _columns = ("definition", "value", "off by", "differs in", "tools")
    _tools = 4

    reported: Reported
    measure: Measure
    policy: Policy
    own: Given | GermaneError
    """germane's own definition, or the error that it raises"""
    found: tuple[Given, ...]
    """the definitions that give everything reported, without choices that make no difference"""
    nearest: tuple[Given, ...]
    """where none is found: the nearest, the nearest that a tool uses, and germane's own"""
    tried: tuple[Given, ...]
    """all definitions that were tried and have a value on this data"""
    undecided: tuple[Undecided, ...]
    """conventions that make no difference here, so that the number cannot decide them"""
    examples: tuple[tuple[tuple[str, ...], Example | None], ...]
    """definitions that coincide here, and small data on which they differ; then those that coincide
    there, too, and other data"""
    per_query: Mapping[Hashable, Reported] | None = None
    stated: Reported | None = None
    """the mean that a file has with the values of queries, as trec_eval -q prints it"""
    of_mean: tuple[Given, ...] = ()
    """where no definition gives the mean and the values of the queries: those that give the mean"""
    agreement: Agreement | None = None
    """which queries the nearest definition gives, where values of queries were reported"""
    hints: tuple[str, ...] = ()
    """slips that would explain the number"""
    values: int = 0
    """the number of different values of definitions at most as complex as the simplest found"""
    chance: float = 0.0
    """the probability that a wrong number rounds to one of these values"""
    unsure: Mapping[str, str] = field(default_factory=dict)
    """tools whose definition gives the number, but that may give another here, and why"""
    counted: Counted | None = None
    """the number of relevant items, where it was counted in the list"""

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        question = f"{self.reported} as {self.measure}"
        if self.per_query is not None:
            finest = min(number.tolerance for number in self.per_query.values())
            queries = write_count(len(self.per_query), "query")
            question += f" with the values of {queries} (±{format_plain(finest)})"
        if self.found:
            gives = f"one definition gives it, {self.found[0]}"
            if len(self.found) > 1:
                gives = f"{len(self.found)} definitions give it"
            return f"{question}: {gives}{self._end_question()}"
        nearest = self.nearest[0]
        worst = ""
        if self.agreement is not None and self.agreement.off:
            off, emphasis = (
                self.agreement.off[0],
                " the most" if len(self.agreement.off) > 1 else "",
            )
            worst = (
                f" Query {clip(off.query)} is off{emphasis}: {off.reported.text}, where {nearest}"
                f" gives {self._format(off.value)}."
            )
        if self.of_mean:
            return f"{question}: no definition gives both. {self._explain_mean()}{worst}"
        start = f"The nearest is {nearest} with"
        if not self._has_off:
            start = f"The values of the queries are given by {nearest}, whose mean is"
        return (
            f"{question}: no definition gives it. {' '.join((*self.hints, ''))}{start} "
            f"{self._describe_nearest()}{worst}"
        )

    def _explain_mean(self) -> str:
        """Name the definition that gives the mean, and the one that gives most queries' values."""
        nearest = self.nearest[0]
        if self.agreement is None:
            return ""
        gives = nearest if self.reported.gives(nearest.value) else self.of_mean[0]
        mean = f"{gives} gives the mean ({self._format(gives.value)}), "
        queries = f"of the {write_count(self.agreement.of, 'query')}"
        if gives is nearest:
            return f"{mean}but not {len(self.agreement.off)} {queries}."
        return f"{mean}and {nearest} gives {self.agreement.agree} {queries}."

    @property
    def _has_off(self) -> bool:
        return self.agreement is None or bool(self.agreement.off)

    def _describe(self, trial: Given, limit: int | None) -> Row:
        stages = ", ".join(trial.candidate.stages(self.measure)) or "–"
        return stages, *super()._describe(trial, limit)

    def _list_tables(self, digits: int | None) -> Iterator[Table]:
        yield from super()._list_tables(digits)
        queries = self.queries(digits=digits)
        if queries is not None:
            yield queries

    def queries(self, *, digits: int | None = 4) -> Table | None:
        """One row per query that is off; None if none is, or if no values were reported."""
        if self.agreement is None or not self.agreement.off:
            return None
        off = self.agreement.off if digits is None else self.agreement.off[:SHOWN]
        cells = tuple(
            (
                str(row.query),
                row.reported.text,
                format_value(row.value, digits),
                format_difference(row.difference, digits),
                format_difference(row.moves, digits),
                row.says,
            )
            for row in off
        )
        columns = ("query", "reported", str(self.agreement.given), "off by", "moves mean by", "")
        return Table(columns, cells, tuple(self._explain_queries(len(off))), (5,))

    def _write_notes(self) -> Iterator[str]:
        if self.reported.tolerance >= 0.5 and self.measure.row.aggregate == "mean":
            yield (
                f"{self.reported.text} is a whole number, which excludes few definitions. Give its"
                " decimals, even if they are zeros."
            )
        if self.found:
            yield from self.hints  # otherwise the verdict has them
        if any(("relevant", "listed") in trial.candidate.choices for trial in self.found):
            yield f"With relevant=listed, {NOT_COUNTED}."
        choices = [trial.candidate.choices for trial in self.found or self.nearest]
        yield from dict.fromkeys(chain.from_iterable(map(describe_decisions, choices)))
        yield from self._explain_equal()
        yield from self._explain_undecided()
        if self.unsure:
            reasons = (f"{tool} ({reason.rstrip('.')})" for tool, reason in self.unsure.items())
            yield (
                "The definitions of these tools give the number, but the tools themselves may not: "
                f"{', '.join(reasons)}."
            )
        yield from self._explain_tried()
        if self.stated is not None and self.stated.contradicts(self.reported):
            yield (
                f"The mean in the file of values ('all') is {self.stated.text}, not"
                f" {self.reported.text}."
            )
        if not self._has_off:  # otherwise they stand below their table
            yield from self._explain_queries(0)

    def _explain_equal(self) -> Iterator[str]:
        """Say how to distinguish definitions that all give the number."""
        values = sorted({round(trial.value, 12) for trial in self.found})
        if len(values) > 1:
            gap = min(b - a for a, b in pairwise(values))
            decimals = max(1, math.ceil(-math.log10(gap)))
            yield (
                f"Their values differ: {decimals} decimals of the reported number would distinguish"
                " them."
            )
        before: set[str] = set()
        for names, example in self.examples:
            place = "there, too" if before.issuperset(names) else "on this data"
            before.update(names)
            if example is None:
                distinction = "They are equal on all small data sets that were tried."
            else:
                shown = ", ".join(
                    f"{list_choices(equal, 'and')} {self._format(value)}"
                    for value, equal in example.groups
                )
                part = "them" if len(example.groups) == len(example.values) else "some of them"
                distinction = f"{example.says} distinguishes {part}: {shown}."
            yield f"Equal {place}: {list_choices(names, 'and')}. {distinction}"

    def _explain_undecided(self) -> Iterator[str]:
        idle = [undecided.convention for undecided in self.undecided if not undecided.moving]
        if len(idle) == len(VARIED):
            yield (
                "Apart from the measure's own parameters, no convention makes a difference on this"
                " data."
            )
        elif self.undecided:
            names = list_choices(self.undecided, "and")
            yield f"Without effect on this data, and therefore undecided: {names}."
            usual = [f"{SHOWN_BY[name][0]} ({name})" for name in idle if name in Policy.WORDS]
            if usual:
                yield f"A difference would show with {list_choices(usual, 'and')}."

    def _explain_tried(self) -> Iterator[str]:
        definitions = {trial.candidate.key for trial in self.tried}
        if isinstance(self.own, GermaneError):
            yield f"germane's own {self.measure} has no value: {self.own}"
        elif self.own.candidate.key not in [trial.candidate.key for trial in self.found]:
            yield f"germane's own: {self.own} = {self._format(self.own.value)}"
        yield from self._explain_range(write_count(len(definitions), "definition"))
        if self.counted is not None:
            yield f"{self.counted}."

    def _explain_queries(self, shown: int) -> Iterator[str]:
        agreement, numbers = self.agreement, list((self.per_query or {}).values())
        if agreement is None:
            return
        if shown < len(agreement.off):
            yield f"… and {len(agreement.off) - shown} more"
        yield f"As reported: {agreement.agree} of {agreement.of} queries."
        if agreement.without:
            yield f"Not reported: {list_some(agreement.without)} ({len(agreement.without)})."
            return
        mean = math.fsum(number.value for number in numbers) / len(numbers)
        slack = math.fsum(number.tolerance for number in numbers) / len(numbers)
        start = f"The reported values have the mean {self._format(mean)}"
        if Reported("", mean, slack).contradicts(self.reported):
            yield f"{start}, not {self.reported.text}."
        elif not agreement.off or self.of_mean:
            yield f"{start} (±{format_plain(slack)}), which fits {self.reported.text}."
        else:
            yield f"{start}: the averaging is right, but the values are not."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        plain = {
            **self._make_head({"policy": self.policy}),
            "of_mean": list(map(self._make_row, self.of_mean)),
            "tried": len(self.tried),
            "undecided": {undecided.convention: undecided.words for undecided in self.undecided},
            "alike": [
                {"definitions": names, "told_apart_by": example} for names, example in self.examples
            ],
            "queries": self.agreement,
            "hints": self.hints,
        }
        return make_document(plain)

    def _make_row(self, result: Given | GermaneError) -> dict[str, Any]:
        if isinstance(result, GermaneError):
            return {"says": str(result)}
        candidate = result.candidate
        return {
            "measure": candidate.measure,
            "choices": dict(candidate.choices),
            "value": result.value,
            "differs_in": candidate.stages(self.measure),
            "tools": candidate.tools,
        }
