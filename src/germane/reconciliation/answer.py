"""Answer: the parts that answers to a reported number share, for ranked lists and for boxes."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Literal, TypeVar

from germane._version import VERSION
from germane.errors import make_visible
from germane.output.formatting import format_number, write_count
from germane.output.frames import Tabular
from germane.output.tables import Row, Table, write_html, write_markdown, write_text
from germane.reconciliation.plausibility import POSSIBLE, describe_chance
from germane.reconciliation.reported import Reported
from germane.reconciliation.search import Tried

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
        return write_text(self.verdict, "", *self._list_tables(self.reported.digits))

    def __repr__(self) -> str:
        return make_visible(f"<{type(self).__name__} {self.answer}: {self.verdict}>")

    def _repr_html_(self) -> str:
        return write_html(self.verdict, *self._list_tables(self.reported.digits))

    def markdown(self) -> str:
        """A paragraph and tables for GitHub."""
        return write_markdown(self.verdict, *self._list_tables(self.reported.digits))

    def _make_head(self, conventions: Mapping[str, Any]) -> dict[str, Any]:
        """Make plain values of the parts that every answer has."""
        names = ("text", "value", "tolerance")
        return {
            "germane": VERSION,
            "reported": {name: getattr(self.reported, name) for name in names},
            "measure": str(self.measure),
            **conventions,
            "verdict": self.verdict,
            "answer": self.answer,
            "values": self.values,
            "chance": self.chance,
            "own": self._make_row(self.own),
            "found": [self._make_row(trial) for trial in self.found],
            "nearest": [self._make_row(trial) for trial in self.nearest],
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
