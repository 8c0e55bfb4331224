"""The answer to a reported table: the protocol behind it, and the cells that differ under it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from germane.errors import list_some, make_visible
from germane.output.formatting import add_schema, to_json_number, write_count
from germane.output.frames import Tabular
from germane.output.tables import LETTERS, Table
from germane.reconciliation.plausibility import write_chance
from germane.reconciliation.slips import OffCell

_NAMED = 4  # tools
_SHOWN = 12  # cells that are off


@dataclass(frozen=True, repr=False)
class TableReconciliation(Tabular):
    """The protocol of a reported table, or the nearest one; ``bool`` is whether one is claimed.

    >>> qrels = {"q1": ["a", "b"], "q2": ["c"]}
    >>> runs = {"ours": {"q1": ["a", "x", "b"], "q2": ["y", "c"]},
    ...     "bm25": {"q1": ["x", "a"], "q2": ["y"]}}
    >>> table = {"ours": {"map": "0.6667", "recip_rank": "0.7500"},
    ...     "bm25": {"map": "0.1250", "recip_rank": "0.2500"}}
    >>> found = germane.reconcile_table(qrels, runs, table)
    >>> bool(found), {name: str(one.measure) for name, one in found.definitions.items()}, found.off
    (True, {'map': 'AP(norm=R)', 'recip_rank': 'RR'}, ())

    Iterating gives the cells that are off. Prints like the reported table, with marks where cells
    are off; ``markdown``, ``latex``, ``to_dict`` and, in a notebook, HTML.
    """

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    reported: Mapping[tuple[str, str], str]
    """the numbers as they were written, by run and column"""
    definitions: Mapping[str, Any]
    """the definition of each column: its measure, conventions (``choices``) and tools"""
    off: tuple[OffCell, ...]
    """the cells that differ under the protocol; under the nearest one, where none is claimed"""
    common: tuple[str, ...]
    """what the cells have in common: rows exchanged, or conventions that give nearer numbers"""
    undecided: tuple[str, ...]
    """conventions that change no number of the table"""
    alternatives: Mapping[str, tuple[str, ...]]
    """other definitions of a column that give as many of its cells under the same conventions"""
    tools: tuple[str, ...]
    """tools that give the same values for every column, to the reported decimals"""
    names: Mapping[str, str]
    """the columns' names in the first of these tools"""
    conventions: tuple[str, ...]
    """the conventions of the whole table that are not the default"""
    claimed: bool
    chance: float
    """how likely wrong numbers would fit a protocol as simple in so many cells"""
    tried: int
    ignored: tuple[str, ...] = ()
    """columns that are no measures, and rows without a run"""
    notes: tuple[str, ...] = ()
    percent: frozenset[str] = field(default=frozenset())

    def __bool__(self) -> bool:
        return self.claimed

    def __len__(self) -> int:
        return len(self.off)

    def __iter__(self) -> Iterator[OffCell]:
        return iter(self.off)

    @property
    def answer(self) -> Literal["found", "none"]:
        """A protocol is claimed, or none."""
        return "found" if self.claimed else "none"

    @property
    def protocol(self) -> str:
        """The protocol in a sentence, as for an appendix."""
        measures = ", ".join(
            f"{label} is {definition.measure}" for label, definition in self.definitions.items()
        )
        if self.tools:
            names = list_some(dict.fromkeys(self.names.values()), len(self.names)).replace("'", "`")
            same = [tool for tool in self.tools[1:] if tool != self.tools[0]][: _NAMED - 1]
            aside = f" (the same in {', '.join(same)})" if same else ""
            return f"{self.tools[0]}'s {names}{aside}: {measures}."
        how = f" with {', '.join(self.conventions)}" if self.conventions else ""
        return f"{measures}{how}."

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        cells = len(self.reported)
        every = f"all {cells} cells" if cells > 1 else "the one cell"
        counted = f"{cells - len(self.off)} equal" + f", {len(self.off)} off" * bool(self.off)
        if self.claimed:
            verb = "are" if cells > 1 else "is"
            protocol = self.protocol.rstrip(".")
            named = protocol if self.tools else f"of one protocol: {protocol}"
            return f"{every} {verb} {named}; {counted}."
        sure = self._explain_chance()
        if not self.off:
            return f"no protocol is certain. One gives {every}: {self.protocol} {sure}"
        protocol, count = (
            self.protocol.rstrip("."),
            f"{cells - len(self.off)} of {write_count(cells, 'cell')}",
        )
        return f"no protocol gives the table. The nearest, {protocol}, gives {count}. {sure}"

    def _explain_chance(self) -> str:
        share = write_chance(self.chance)
        return f"Wrong numbers would fit a protocol as simple in so many cells in {share} of cases."

    def table(self, *, digits: int | None = 4) -> Table:
        """The reported table; cells that are off have marks, and values with so many decimals."""
        marks: dict[tuple[int, int], str] = {}
        for place, cell in enumerate(self.off):
            marks[self.rows.index(cell.run), self.columns.index(cell.column) + 1] = _mark(place)
        rows = tuple(
            (row, *(self.reported.get((row, column), "") for column in self.columns))
            for row in self.rows
        )
        return Table(("run", *self.columns), rows, tuple(self._write_notes(digits)), marks=marks)

    def _write_notes(self, digits: int | None) -> Iterator[str]:
        yield self.verdict[:1].upper() + self.verdict[1:]
        for place, cell in enumerate(self.off[:_SHOWN]):
            yield f"{_mark(place)}) {cell.write(digits)}."
        if len(self.off) > _SHOWN:
            yield f"… and {write_count(len(self.off) - _SHOWN, 'cell')} more"
        yield from self.common
        for label, measures in self.alternatives.items():
            yield (
                f"{label} may as well be {list_some(measures).replace(chr(39), '')}: both give the"
                " same cells."
            )
        if self.undecided:
            yield (
                "Without effect on these numbers, and therefore undecided:"
                f" {', '.join(self.undecided)}."
            )
        if self.claimed:
            yield f"Tried: {write_count(self.tried, 'protocol')}. {self._explain_chance()}"
        if self.percent:
            yield f"Read as percentages: {list_some(sorted(self.percent))}."
        yield from self.notes
        if self.ignored:
            yield f"Not compared: {list_some(self.ignored, 6)}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        return add_schema(
            {
                "answer": self.answer,
                "verdict": self.verdict,
                "tools": list(self.tools),
                "conventions": list(self.conventions),
                "definitions": {
                    label: {
                        "measure": str(definition.measure),
                        "conventions": {name: str(word) for name, word in definition.choices},
                        "tools": list(definition.tools),
                    }
                    for label, definition in self.definitions.items()
                },
                "off": [{**vars(cell), "value": to_json_number(cell.value)} for cell in self.off],
                "common": list(self.common),
                "undecided": list(self.undecided),
                "alternatives": {
                    label: list(alternative) for label, alternative in self.alternatives.items()
                },
                "chance": self.chance,
                "tried": self.tried,
                "ignored": list(self.ignored),
                "notes": list(self.notes),
            }
        )

    def __repr__(self) -> str:
        return make_visible(f"<TableReconciliation {self.answer}: {self.verdict}>")


def _mark(row: int) -> str:
    """Return a letter for each cell explained below the table, and one sign for all others."""
    return LETTERS[row] if row < _SHOWN else "*"
