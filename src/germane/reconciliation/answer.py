"""Answer: the parts that answers to a reported number share, for ranked lists and for boxes."""

from collections.abc import Iterator
from typing import Any, Generic, Literal, TypeVar

from germane._version import VERSION
from germane.output.formatting import format_number, write_count
from germane.output.tables import Row
from germane.reconciliation.plausibility import POSSIBLE, describe_chance
from germane.reconciliation.reported import Reported
from germane.reconciliation.search import Tried

SHOWN = 12  # candidates and queries that a table for people holds

G = TypeVar("G", bound=Tried[Any])


class Answer(Generic[G]):
    """The answer to a reported number: the candidates that give it, or that none does."""

    reported: Reported
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
        """The number was found, is possible (chance may give it, too), or is given by nothing that was tried."""
        if not self.found:
            return "none"
        return "possible" if self.chance > POSSIBLE else "found"

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
        values = sorted({round(one.value, 12) for one in self.tried})
        yield (
            f"Tried: {candidates} with {write_count(len(values), 'value', 'different values')} from "
            f"{self._format(values[0])} to {self._format(values[-1])}."
        )
        if self.answer == "found":
            yield self._explain_chance()

    def _explain_chance(self) -> str:
        return describe_chance(self.values, self.chance)

    def _format(self, value: float) -> str:
        return format_value(value, self.reported.digits)

    def _write_cells(self, digits: int | None) -> tuple[list[tuple[G, Row]], int]:
        """Write each candidate that was found or is nearest, its value and distance; count those left out."""
        rows = self.found or self.nearest
        cells: list[tuple[G, Row]] = [
            (
                one,
                (
                    str(one),
                    format_value(one.value, digits),
                    format_difference(one.value - self.reported.value, digits),
                ),
            )
            for one in (rows if digits is None else rows[:SHOWN])
        ]
        return cells, len(rows) - len(cells)

    def _make_head(self) -> dict[str, Any]:
        """Make plain values of the version and the reported number."""
        names = ("text", "value", "tolerance")
        return {
            "germane": VERSION,
            "reported": {name: getattr(self.reported, name) for name in names},
        }


def list_tools(given: Tried[Any], most: int | None) -> str:
    """Name the tools that use a candidate, at most so many."""
    names = list(dict.fromkeys(tool.partition(":")[0] for tool in given.candidate.tools))
    more = f" +{len(names) - most}" if most is not None and len(names) > most else ""
    return ", ".join(names[:most]) + more


def format_value(value: float, digits: int | None) -> str:
    """Write a value, or ``none``."""
    return format_number(value, digits, sign="z", nan="none")


def format_difference(value: float, digits: int | None) -> str:
    """Write a difference with its sign."""
    written = format_value(value, digits)
    return "+" * (value > 0 and written.strip("0.") != "") + written
