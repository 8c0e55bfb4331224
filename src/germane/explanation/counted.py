"""Counted: R of one list, where nobody gave it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """The number of relevant items, where it was counted in the list."""

    relevant: int
    argument: str = "relevant="

    def __str__(self) -> str:
        return (
            f"R = {self.relevant}, counted in the list; {self.argument} gives the number in the"
            " collection"
        )
