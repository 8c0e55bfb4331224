"""Slips: cells that differ under the protocol of their table, and how they may have come about."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from germane.output.formatting import format_number
from germane.reconciliation.reported import Reported


@dataclass(frozen=True)
class OffCell:
    """A cell that differs under the protocol of its table."""

    run: str
    column: str
    reported: str
    value: float
    """what the protocol gives, in the unit of the table: 41.3 where it has percentages"""
    slip: str = ""
    """how the number may have come about; "" where nothing explains it"""

    def write(self, digits: int | None = 4) -> str:
        """Write the cell, the number reported, the value with so many decimals, and the slip."""
        value = format_number(self.value, digits, nan="no value")
        text = f"{self.run}, {self.column}: {self.reported} reported, {value} computed"
        return f"{text}; {self.slip}" if self.slip else text

    def __str__(self) -> str:
        return self.write()


def write_other(name: str) -> str:
    """Write the slip of a cell that has the value of another run or column."""
    return f"it is the value of {name}"


Near = tuple[str, float]  # another value, and what it would mean


def explain_slip(number: Reported, value: float, near: Iterable[Near]) -> str:
    """Explain a number by a slip: of digits, of decimals, or by another value that it rounds to.

    ``value`` is what the protocol gives; ``near`` are values of other cells and cutoffs, the
    likeliest first.
    """
    return next(_find_slips(number, value, near), "")


def _find_slips(number: Reported, value: float, near: Iterable[Near]) -> Iterator[str]:
    if number.can_be_cut_from(value):
        yield "its decimals were cut off, not rounded"
    decimals = max(number.decimals, 0)
    right, reported = f"{value:.{decimals}f}", f"{number.value:.{decimals}f}"
    if _are_swapped(right, reported):
        yield f"two digits of {right} are swapped"
    for meaning, near_value in near:
        if number.gives(near_value):
            yield meaning
    if any(number.gives(value * factor) for factor in (10, 100, 0.1, 0.01)) and value:
        yield "its point stands elsewhere"
    if (
        len(right) == len(reported)
        and sum(a != b for a, b in zip(right, reported, strict=True)) == 1
    ):
        yield f"one digit of {right} is another"


def _are_swapped(right: str, reported: str) -> bool:
    """Does swapping two digits make one number of the other?"""
    if len(right) != len(reported):
        return False
    for i, j in combinations(range(len(right)), 2):
        swapped = list(right)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        if "".join(swapped) == reported and right != reported and "." not in (right[i], right[j]):
            return True
    return False
