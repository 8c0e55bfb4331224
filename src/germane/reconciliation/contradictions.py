"""Contradictions: numbers of a published table that cannot all be right; audit's answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from germane.errors import list_some, make_visible
from germane.output.formatting import add_schema, write_count
from germane.output.frames import Tabular
from germane.output.tables import Table, write_text


@dataclass(frozen=True)
class Contradiction:
    """Numbers of one row that cannot all be right.

    >>> found = germane.audit({"ours": {"R@5": "0.60", "R@10": "0.40"}}, dialect="beir")
    >>> found.contradictions[0].law, round(found.contradictions[0].excess, 4)
    ('R@5 ≤ R@10', 0.19)

    ``cells`` are names of columns with their numbers as printed, ``excess`` says by how much the
    law is broken beyond rounding, and ``possible`` under which definitions there is no
    contradiction: "" is none.
    """

    row: str
    cells: tuple[tuple[str, str], ...]
    law: str
    proof: str
    excess: float
    possible: str = ""
    kind: str = "law"  # bound, law, grain (of a mean of so many queries) or mean (of queries)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.cells)

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} = {number}" for name, number in self.cells)
        text = f"{self.row}: {numbers}, but {self.law}: {self.proof} (off by {self.excess:.2g})."
        return make_visible(f"{text} {self.possible}" if self.possible else text)


@dataclass(frozen=True)
class Audit(Tabular):
    """The contradictions of a table; ``bool`` is whether there are any.

    >>> found = germane.audit({"ours": {"nDCG@10": "23.0", "MRR": "0.41"}})
    >>> bool(found), found.contradictions[0].law
    (True, 'nDCG@10 ≤ 1')

    ``contradictions`` hold under every definition; ``restrictions`` are numbers that only some
    definitions allow, and accuse nobody. ``explanations`` are slips under which nothing
    contradicts. ``columns`` has the measure that each name was read as, and ``ignored`` the names
    that are no measure.
    """

    contradictions: tuple[Contradiction, ...]
    restrictions: tuple[Contradiction, ...]
    explanations: tuple[str, ...]
    columns: Mapping[str, str]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int
    checked: int

    def __bool__(self) -> bool:
        return bool(self.contradictions)

    def __len__(self) -> int:
        return len(self.contradictions)

    def table(self, *, digits: int | None = None) -> Table:
        """Return a row for each contradiction, then restriction. ``digits`` are of "off by"."""
        rows = [
            (
                contradiction.row,
                ", ".join(f"{name} = {number}" for name, number in contradiction.cells),
                contradiction.law,
                f"{contradiction.excess:.{digits or 2}g}",
                contradiction.possible or f"No definition allows it: {contradiction.proof}.",
            )
            for contradiction in (*self.contradictions, *self.restrictions)
        ]
        return Table(
            ("row", "numbers", "law", "off by", ""), tuple(rows), self._notes(), left=(1, 2, 4)
        )

    def _notes(self) -> tuple[str, ...]:
        count = write_count(len(self.contradictions), "contradiction")
        read = ", ".join(
            name if name == measure else f"{name} as {measure}"
            for name, measure in self.columns.items()
        )
        checked = f"{write_count(self.rows, 'row')}; {write_count(self.checked, 'comparison')}"
        ignored = f"Not read as measures: {list_some(self.ignored)}." if self.ignored else ""
        notes = (f"{count} in {checked}.", *self.explanations, f"Columns: {read}.", ignored)
        return tuple(filter(None, (*notes, *self.notes)))

    def __str__(self) -> str:
        lines = [f"● {contradiction}" for contradiction in self.contradictions]
        lines += [f"○ {restriction}" for restriction in self.restrictions]
        return write_text(*lines, *([""] if lines else []), *self._notes(), "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain objects."""
        return add_schema(
            {
                "contradictions": list(map(_write, self.contradictions)),
                "restrictions": list(map(_write, self.restrictions)),
                "explanations": list(self.explanations),
                "columns": dict(self.columns),
                "ignored": list(self.ignored),
                "notes": list(self.notes),
                "rows": self.rows,
                "comparisons": self.checked,
            }
        )


def _write(contradiction: Contradiction) -> dict[str, Any]:
    return {**vars(contradiction), "cells": dict(contradiction.cells)}
