"""Floors: the lowest values that a gate accepts, such as ``AP50>=.40``."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from germane.core.calls import read_decimal
from germane.core.ragged import reaches
from germane.errors import InputError, MeasureError, clip

Floors: TypeAlias = str | Sequence[str]
_FLOOR = re.compile(r"((?:[^()<>=≥≤]|\([^()]*\))*)(?:>=|≥)\s*([^\s,;%]+)(%?)(?=[\s,;]|$)[,;]?")


@dataclass(frozen=True)
class Floor:
    """The lowest value of a measure that a gate accepts."""

    measure: str  # as it was written
    lowest: float


@dataclass(frozen=True)
class CheckedFloor:
    """A floor, and the value of the measure."""

    measure: str
    lowest: float
    value: float
    definition: str

    @property
    def passed(self) -> bool:
        """Is the value at least the floor?"""
        return reaches(self.value, self.lowest, max(abs(self.value), abs(self.lowest)))


def read_floors(raw: Floors | None) -> tuple[Floor, ...]:
    """Read floors such as ``AP50>=.40``, one or several in a text, or a list of them.

    >>> from germane.comparison.floors import read_floors
    >>> [(floor.measure, floor.lowest) for floor in read_floors("AP50>=.4 AP(norm=R)@10 ≥ 35%")]
    [('AP50', 0.4), ('AP(norm=R)@10', 0.35)]

    Raises InputError for other texts.
    """
    if raw is None:
        return ()
    texts = [raw] if isinstance(raw, str) else raw
    if isinstance(texts, (bytes, dict)) or not isinstance(texts, Iterable):
        raise InputError(f"a floor is a text such as 'AP50>=.40', or a list; got {clip(raw)}")
    floors: dict[str, Floor] = {}
    for text in texts:
        for floor in _split(text):
            if floor.measure in floors:
                raise InputError(f"{floor.measure} has two floors; give it one.")
            floors[floor.measure] = floor
    return tuple(floors.values())


def _split(text: Any) -> Iterable[Floor]:
    """Split a text into floors."""
    place = 0
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a floor is a text such as 'AP50>=.40'; got {clip(text)}")
    while text[place:].strip():
        match = _FLOOR.match(text, place)
        measure = "" if match is None else match[1].strip()
        try:
            lowest = read_decimal("" if match is None else match[2])
        except ValueError:
            lowest = float("nan")
        if match is None or not measure or not abs(lowest) < float("inf"):
            raise InputError(
                "a floor is a measure, >= and a number, such as 'AP50>=.40'; got"
                f" {clip(text[place:].strip())}"
            )
        yield Floor(measure, lowest / 100 if match[3] else lowest)
        place = match.end()


def check_floors(
    floors: Iterable[Floor],
    find: Callable[[str], tuple[str, float, str]],
    find_range: Callable[[str], tuple[float, float] | None],
) -> tuple[CheckedFloor, ...]:
    """Compare floors with values; ``find`` gives a measure's name, value and definition.

    Raises MeasureError for a measure without a value on this data, and InputError for a floor
    beyond the range of the measure, which decides nothing.
    """
    checked: dict[str, CheckedFloor] = {}
    for floor in floors:
        name, value, definition = find(floor.measure)
        span = find_range(floor.measure)
        if span is not None and not span[0] <= floor.lowest <= span[1]:
            percent = f"{floor.measure}>={floor.lowest:g}%"
            raise InputError(
                f"{floor.measure} lies between {span[0]:g} and {span[1]:g}, and its floor is"
                f" {floor.lowest:g}."
                + f" Percentages have a sign: {percent!r}."
                * (span[1] < floor.lowest <= 100 * span[1])
            )
        if value != value:
            raise MeasureError(f"{floor.measure} has no value here, to be compared with its floor.")
        if name in checked:
            raise InputError(f"{name} has two floors; give it one.")
        checked[name] = CheckedFloor(name, floor.lowest, value, definition)
    return tuple(checked.values())
