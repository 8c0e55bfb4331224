"""Reconciliation: what was found out about a reported number."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from germane._version import VERSION
from germane.core.policy import RARE_WORDS, WORDS, Policy
from germane.errors import GermaneError, clip, list_some
from germane.measures.measure import Measure
from germane.output.formatting import add_schema, format_number, to_json_number
from germane.output.tables import Table
from germane.reconciliation.example import SHOWN as SHOWN_BY
from germane.reconciliation.example import Example
from germane.reconciliation.plausibility import POSSIBLE
from germane.reconciliation.reported import Agreement, Reported, format_plain
from germane.reconciliation.search import Given, Undecided
from germane.reconciliation.spread import NOT_COUNTED

SHOWN = 12  # definitions and queries that a table for people holds
_TOOLS = 4  # that are named beside a definition


@dataclass(frozen=True)
class Reconciliation:
    """The definitions that give a reported number, simplest first, or how near one comes.

    >>> found = germane.reconcile([1, 0, 1], relevant=20, reported="0.167")
    >>> [str(one) for one in found], found.own.value
    (['AP@10', 'AP(norm=k)@10'], 0.16666666666666666)
    >>> len(germane.reconcile([1, 0, 1], relevant=20, reported="0.62"))
    0

    Iterating gives what was found. Prints as text; ``markdown``, ``to_dict`` and, in a notebook, HTML.
    """

    reported: Reported
    measure: Measure
    policy: Policy
    own: Given | GermaneError
    """what germane gives, or why it gives nothing"""
    found: tuple[Given, ...]
    """the definitions that give all that was reported, each without what does not matter here"""
    nearest: tuple[Given, ...]
    """where none does: the nearest, the nearest that a tool uses, germane's own"""
    tried: tuple[Given, ...]
    """everything that was tried and has a value on this data"""
    undecided: tuple[Undecided, ...]
    """conventions that make no difference here, of which the number thus says nothing"""
    examples: tuple[tuple[tuple[str, ...], Example | None], ...]
    """definitions that coincide here, and small data on which they do not; then those of them that
    coincide there, and other data"""
    per_query: Mapping[Hashable, Reported] | None = None
    stated: Reported | None = None
    """the mean that stands with the values of queries, in what trec_eval -q prints"""
    of_mean: tuple[Given, ...] = ()
    """where no definition gives the values of the queries too: those that give the mean"""
    agreement: Agreement | None = None
    """which queries the nearest definition gives, where values of queries were reported"""
    hints: tuple[str, ...] = ()
    """slips that would explain the number"""
    values: int = 0
    """the different values of the definitions that are as simple as the simplest that was found, or simpler"""
    chance: float = 0.0
    """how likely one of them falls within the rounding of a number that has nothing to do with them"""
    unsure: Mapping[str, str] = field(default_factory=dict)
    """tools whose definition gives the number, but that may say something else of such data: why"""

    def __iter__(self) -> Iterator[Given]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def answer(self) -> Literal["found", "possible", "none"]:
        """Was the number found; is it possible, since chance may give it as well; or does nothing give it?"""
        if not self.found:
            return "none"
        return "possible" if self.chance > POSSIBLE else "found"

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        what = f"{self.reported} as {self.measure}"
        if self.per_query is not None:
            finest = min(one.tolerance for one in self.per_query.values())
            what += f" with the values of {_write_count(self.per_query, 'query', 'queries')}"
            what += f" (±{format_plain(finest)})"
        if self.found:
            one = f"one definition gives it, {self.found[0]}"
            gives = one if len(self.found) == 1 else f"{len(self.found)} definitions give it"
            doubt = (
                f"; possible, not certain. {self._by_chance()}"
                if self.answer == "possible"
                else "."
            )
            return f"{what}: {gives}{doubt}"
        if self.of_mean:
            return f"{what}: no definition gives both. {self._mean_alone()}{self._worst()}"
        nearest, digits = self.nearest[0], self._digits
        off = nearest.value - self.reported.value
        side = "above" if off > 0 else "below"
        which = (
            f"The nearest is {nearest} with"
            if self._has_off
            else f"The values of the queries are given by {nearest}, whose mean is"
        )
        return (
            f"{what}: no definition gives it. {' '.join((*self.hints, ''))}{which} "
            f"{_format_number(nearest.value, digits)}, {_format_number(abs(off), digits)} {side}.{self._worst()}"
        )

    def _mean_alone(self) -> str:
        """The definitions that give the mean, and the one that comes nearest to the values of the queries."""
        nearest = self.nearest[0]
        if self.agreement is None:
            return ""
        gives = nearest if self.reported.gives(nearest.value) else self.of_mean[0]
        mean = f"{gives} gives the mean ({_format_number(gives.value, self._digits)}), "
        of = f"of the {_write_count(range(self.agreement.of), 'query', 'queries')}"
        if gives is nearest:
            return f"{mean}but not {len(self.agreement.off)} {of}."
        return f"{mean}and {nearest} gives {self.agreement.agree} {of}."

    @property
    def _has_off(self) -> bool:
        return self.agreement is None or bool(self.agreement.off)

    def _worst(self) -> str:
        """The query that is off the most."""
        if self.agreement is None or not self.agreement.off:
            return ""
        one, most = self.agreement.off[0], " the most" if len(self.agreement.off) > 1 else ""
        right = _format_number(one.value, self._digits)
        return (
            f" Query {clip(one.query)} is off{most}: {one.reported.text}, where it gives {right}."
        )

    def table(self, *, digits: int | None = 4) -> Table:
        """The definitions that were found, or the nearest, one a row."""
        rows = self.found or self.nearest
        cells = [
            (
                str(one),
                _format_number(one.value, digits),
                _format_signed(one.value - self.reported.value, digits),
                ", ".join(one.candidate.stages(self.measure)) or "–",
                _list_tools(one, _TOOLS if digits is not None else None),
            )
            for one in (rows if digits is None else rows[:SHOWN])
        ]
        columns = ("definition", "value", "off by", "differs in", "tools")
        more = len(rows) - len(cells)
        notes = (
            [f"… and {_write_count(range(more), 'definition', 'definitions')} more"] if more else []
        )
        return Table(columns, tuple(cells), (*notes, *self.notes), (3, 4))

    def queries(self, *, digits: int | None = 4) -> Table | None:
        """The queries that are off, one a row; None where none is, or no values were reported."""
        if self.agreement is None or not self.agreement.off:
            return None
        off = self.agreement.off if digits is None else self.agreement.off[:SHOWN]
        cells = tuple(
            (
                str(one.query),
                one.reported.text,
                _format_number(one.value, digits),
                _format_signed(one.difference, digits),
                _format_signed(one.moves, digits),
                one.says,
            )
            for one in off
        )
        columns = ("query", "reported", str(self.agreement.given), "off by", "moves mean by", "")
        return Table(columns, cells, tuple(self._on_queries(len(off))), (5,))

    @property
    def notes(self) -> tuple[str, ...]:
        """The evidence that the data gives about the definitions, and its limits."""
        return (
            *self._whole(),
            *self._hints(),
            *self._listed(),
            *self._alike(),
            *self._undecided(),
            *self._unsure(),
            *self._tried(),
            *self._stated(),
            *(() if self._has_off else self._on_queries(0)),  # else they stand below their table
        )

    def _whole(self) -> Iterator[str]:
        if self.reported.tolerance >= 0.5 and self.measure.row.aggregate == "mean":
            yield f"{self.reported.text} is a whole number, which tells little: decimals tell more, if only zeros."

    def _stated(self) -> Iterator[str]:
        if self.stated is not None and self.stated.contradicts(self.reported):
            yield f"The mean that stands with the values ('all') is {self.stated.text}, not {self.reported.text}."

    def _hints(self) -> tuple[str, ...]:
        return self.hints if self.found else ()  # else the verdict holds them

    def _listed(self) -> Iterator[str]:
        if any(("relevant", "listed") in one.candidate.choices for one in self.found):
            yield f"With relevant=listed, {NOT_COUNTED}."

    def _alike(self) -> Iterator[str]:
        values = sorted({round(one.value, 12) for one in self.found})
        if len(values) > 1:
            gap = min(b - a for a, b in pairwise(values))
            decimals = max(1, math.ceil(-math.log10(gap)))
            yield f"Their values differ; {decimals} decimals of the reported number would tell more."
        before: set[str] = set()
        for names, example in self.examples:
            alike = "Alike there, too" if before.issuperset(names) else "Alike on this data"
            before = before.union(names)
            yield f"{alike}: {_join_names(names)}. " + (
                "They are alike on all small data that was tried."
                if example is None
                else _tell_apart(example, self._digits)
            )

    def _undecided(self) -> Iterator[str]:
        idle = [one.convention for one in self.undecided if not one.moving]
        if len(idle) == len(WORDS | RARE_WORDS):
            yield "No convention but the measure's own makes a difference on this data."
        elif self.undecided:
            names = _join_names(map(str, self.undecided))
            yield f"These make no difference on this data, which says nothing of them: {names}."
            usual = [f"{SHOWN_BY[name][0]} ({name})" for name in idle if name in WORDS]
            if usual:
                yield f"It would take {_join_names(usual)}."

    def _unsure(self) -> Iterator[str]:
        if self.unsure:
            why = " ".join(f"{tool} ({says.rstrip('.')})," for tool, says in self.unsure.items())
            yield f"Their definitions give it, their programs may not: {why.rstrip(',')}."

    def _tried(self) -> Iterator[str]:
        if isinstance(self.own, GermaneError):
            yield f"germane's own {self.measure} has no value: {self.own}"
        elif self.own.candidate.key not in [one.candidate.key for one in self.found]:
            yield f"germane's own: {self.own} = {_format_number(self.own.value, self._digits)}"
        values = sorted({round(one.value, 12) for one in self.tried})
        digits = self._digits
        yield (
            f"Tried: {_write_count({one.candidate.key for one in self.tried}, 'definition', 'definitions')} "
            f"with {_write_count(values, 'value', 'different values')} from {_format_number(values[0], digits)} "
            f"to {_format_number(values[-1], digits)}."
        )
        if self.answer == "found":
            yield self._by_chance()

    def _by_chance(self) -> str:
        values = (
            "the one value" if self.values == 1 else f"one of the {self.values} different values"
        )
        return (
            f"A wrong number would fall within the rounding of {values} tried so far in "
            f"{_format_percent(self.chance)} of cases."
        )

    def _on_queries(self, shown: int) -> Iterator[str]:
        agreement, numbers = self.agreement, list((self.per_query or {}).values())
        if agreement is None:
            return
        if shown < len(agreement.off):
            yield f"… and {len(agreement.off) - shown} more"
        yield f"As reported: {agreement.agree} of {agreement.of} queries."
        if agreement.without:
            yield f"Not reported: {list_some(agreement.without)} ({len(agreement.without)})."
            return
        mean = math.fsum(one.value for one in numbers) / len(numbers)
        slack = math.fsum(one.tolerance for one in numbers) / len(numbers)
        written = f"{_format_number(mean, self._digits)}"
        if Reported(written, mean, slack).contradicts(self.reported):
            yield f"The reported values have the mean {written}, not {self.reported.text}."
        elif not agreement.off or self.of_mean:
            yield f"The reported values have the mean {written} (±{format_plain(slack)}), which fits {self.reported.text}."
        else:
            yield f"The reported values have the mean {written}: the averaging is right, the values are not."

    @property
    def _digits(self) -> int:
        return self.reported.digits

    def __str__(self) -> str:
        return self._written(Table.text, "{}\n\n")

    def _repr_html_(self) -> str:
        from html import escape

        return self._written(Table.html, "<p>{}</p>", escape)

    def markdown(self) -> str:
        """A paragraph and tables for GitHub."""
        return self._written(Table.markdown, "{}\n\n")

    def _written(
        self, write: Callable[[Table], str], verdict: str, escape: Callable[[str], str] = str
    ) -> str:
        digits = self._digits
        tables = [self.table(digits=digits), self.queries(digits=digits)]
        written = [write(table) for table in tables if table is not None]
        return verdict.format(escape(self.verdict)) + "\n".join(written)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        own = self.own
        return add_schema(
            {
                "germane": VERSION,
                "reported": {
                    "text": self.reported.text,
                    "value": self.reported.value,
                    "tolerance": self.reported.tolerance,
                },
                "measure": str(self.measure),
                "policy": self.policy.to_dict(),
                "verdict": self.verdict,
                "answer": self.answer,
                "values": self.values,
                "chance": self.chance,
                "own": {"says": str(own)} if isinstance(own, GermaneError) else self._row(own),
                "found": [self._row(one) for one in self.found],
                "nearest": [self._row(one) for one in self.nearest],
                "of_mean": [self._row(one) for one in self.of_mean],
                "tried": len(self.tried),
                "undecided": {one.convention: list(one.words) for one in self.undecided},
                "alike": [_group_alike(names, example) for names, example in self.examples],
                "queries": None if self.agreement is None else self.agreement.to_dict(),
                "hints": list(self.hints),
            }
        )

    def _row(self, given: Given) -> dict[str, Any]:
        candidate = given.candidate
        return {
            "measure": str(candidate.measure),
            "choices": dict(candidate.choices),
            "value": to_json_number(given.value),
            "differs_in": list(candidate.stages(self.measure)),
            "tools": list(candidate.tools),
        }


def _group_alike(names: tuple[str, ...], example: Example | None) -> dict[str, Any]:
    return {
        "definitions": list(names),
        "told_apart_by": None
        if example is None
        else {
            "data": example.says,
            "values": {name: to_json_number(v) for name, v in example.values},
        },
    }


def _tell_apart(example: Example, digits: int) -> str:
    """The example in a sentence; where some are alike there too, it says which."""
    values = ", ".join(
        f"{_join_names(names)} {_format_number(value, digits)}" for value, names in example.groups
    )
    apart = "tells them apart" if len(example.groups) == len(example.values) else "tells some apart"
    return f"{example.says} {apart}: {values}."


def _list_tools(given: Given, most: int | None) -> str:
    """The tools that define it so, as many as are to be named."""
    names = list(dict.fromkeys(tool.partition(":")[0] for tool in given.candidate.tools))
    more = f" +{len(names) - most}" if most is not None and len(names) > most else ""
    return ", ".join(names[:most]) + more


def _write_count(things: Sized, one: str, several: str) -> str:
    return f"{len(things)} {one if len(things) == 1 else several}"


def _format_percent(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else f"{100 * share:.2g} %"


def _join_names(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _format_number(value: float, digits: int | None) -> str:
    return format_number(value, digits, sign="z", nan="none")


def _format_signed(value: float, digits: int | None) -> str:
    written = _format_number(value, digits)
    return "+" * (value > 0 and written.strip("0.") != "") + written
