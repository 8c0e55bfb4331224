"""The answer to a reported table: its protocol, the cells that differ, and how it is written."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from germane.errors import EmptyError, InputError, clip, list_some, make_visible, suggest
from germane.forensics.plausibility import Near, OffCell, explain_slip, write_chance, write_other
from germane.forensics.protocols import (
    LIKELY,
    Fit,
    ProtocolSearch,
    Sheet,
    choose_nearest,
    describe_common,
    find_exchanged,
)
from germane.forensics.published import Published, read_percentages
from germane.output.documents import Document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, write_count

_NAMED = 4  # tools
_SHOWN = 12  # cells that are off


@dataclass(frozen=True, repr=False)
class TableReconciliation(Tabular, Document):
    """The protocol of a reported table, or the nearest one; it is true if one is claimed.

    >>> qrels = {"q1": ["a", "b"], "q2": ["c"]}
    >>> runs = {"ours": {"q1": ["a", "x", "b"], "q2": ["y", "c"]},
    ...     "bm25": {"q1": ["x", "a"], "q2": ["y"]}}
    >>> table = {"ours": {"map": "0.6667", "recip_rank": "0.7500"},
    ...     "bm25": {"map": "0.1250", "recip_rank": "0.2500"}}
    >>> found = germane.reconcile_table(qrels, runs, table)
    >>> bool(found), {name: str(one.measure) for name, one in found.definitions.items()}, found.off
    (True, {'map': 'AP(norm=R)', 'recip_rank': 'RR'}, ())

    Iterating gives the cells that are off. It prints like the reported table, with marks at cells
    that are off, and in a notebook as HTML; ``markdown``, ``latex`` and ``to_dict`` give other
    formats.
    """

    _json = (
        "answer verdict tools conventions definitions=_list_definitions off common undecided"
        " alternatives chance tried ignored notes"
    )

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
        """Is a protocol claimed?"""
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
        return f"no protocol gives the table. The nearest one, {protocol}, gives {count}. {sure}"

    def _explain_chance(self) -> str:
        share = write_chance(self.chance)
        return (
            f"Wrong numbers would fit an equally simple protocol in as many cells in {share} of"
            " cases."
        )

    def table(self, *, digits: int | None = 4) -> Table:
        """The reported table, with marks at cells that are off; ``digits`` of their values."""
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
                f"{label} could also be {list_some(measures).replace(chr(39), '')}: both give the"
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

    def _list_definitions(self) -> dict[str, Any]:
        return {
            label: {
                "measure": definition.measure,
                "conventions": {name: str(word) for name, word in definition.choices},
                "tools": definition.tools,
            }
            for label, definition in self.definitions.items()
        }

    def __repr__(self) -> str:
        return make_visible(f"<TableReconciliation {self.answer}: {self.verdict}>")


def _mark(row: int) -> str:
    """Return a letter for each cell explained below the table, and one sign for all others."""
    return Table.LETTERS[row] if row < _SHOWN else "*"


# --- Write the answer to a reported table of lists or boxes: rows by name, cells off, slips -------

LISTED_COST = 1.0  # of other definitions: those of tools
_MOST = 4  # other definitions of a column that are named


def match_rows(published: Published, runs: Sequence[str]) -> list[int]:
    """Find the row of each run, by its name. Raises InputError with the nearest name."""
    if len(runs) == len(published.rows) == 1:
        return [0]
    bare: dict[str, list[int]] = {}
    for r, name in enumerate(published.rows):
        bare.setdefault(_strip_name(name), []).append(r)
    row_places = []
    for run in runs:
        if run in published.rows:
            row_places.append(published.rows.index(run))
            continue
        rows = bare.get(_strip_name(run), [])
        if len(rows) != 1:
            near = suggest(run, published.rows)
            raise InputError(
                f"the table has no row for the run {clip(run)}.{near} Its rows:"
                f" {list_some(published.rows, 6)}. Runs and rows are matched by their names."
            )
        row_places.append(rows[0])
    if len(set(row_places)) < len(row_places):
        twice = next(r for r in row_places if row_places.count(r) > 1)
        raise InputError(f"two runs have the name of the row {clip(published.rows[twice])}.")
    return row_places


def _strip_name(name: str) -> str:
    """Drop case, signs and blanks of a name."""
    return re.sub(r"[\W_]+", "", name.casefold()) or name


def check_runs(runs: Any, noun: str) -> None:
    """Check that runs, or detections, are a mapping of names. Raises InputError or EmptyError."""
    if not isinstance(runs, Mapping):
        raise InputError(
            f"{noun} are a mapping of name to {noun.removesuffix('s')}; got {clip(runs)}"
        )
    if not runs:
        raise EmptyError(f"there are no {noun} to compare with the table.")


class TableWriter:
    """The cells of a table that runs have, and the answer of a search, for lists and boxes.

    ``columns`` are the places of measures in the table, and ``shares`` whether each is at most 1.
    """

    def __init__(
        self,
        published: Published,
        runs: Sequence[str],
        columns: Sequence[int],
        shares: Sequence[bool],
    ) -> None:
        self._published, self._columns = published, columns
        self._rows = match_rows(published, runs)
        self.labels = [published.columns[c] for c in columns]
        of_shares = [c for c, share in zip(columns, shares, strict=True) if share]
        beyond = [c for c, share in zip(columns, shares, strict=True) if not share]
        cells, percent = read_percentages(published, of_shares, beyond)
        self._percent = [c in percent for c in columns]
        selected = {
            (r, c): cells[row, column]
            for r, row in enumerate(self._rows)
            for c, column in enumerate(columns)
            if (row, column) in cells
        }
        if not selected:
            raise EmptyError("the table has no numbers of these runs.")
        self.sheet = Sheet(selected, len(self._rows), len(columns))

    def write(
        self, search: ProtocolSearch, fit: Fit, fits: Sequence[Fit], tools: tuple[str, ...]
    ) -> TableReconciliation:
        """Write the answer: what a protocol gives, and what it does not."""
        protocols = [tried_fit.protocol for tried_fit in fits]
        chance = self.sheet.estimate_chance(fit, protocols)
        claimed = chance <= LIKELY and self.sheet.is_enough(fit)
        names = [self._published.rows[r] for r in self._rows]
        if claimed:
            common, undecided = search.explain_changes(fit), search.find_undecided(fit)
        else:
            undecided = ()
            nearest = choose_nearest(self.sheet, fit, fits)
            common = describe_common(self.sheet, nearest, fits, self.labels, names)
            if nearest.fit.protocol is not fit.protocol:
                fit, tools = nearest.fit, tuple(filter(None, [nearest.fit.protocol.tool]))
                chance = self.sheet.estimate_chance(fit, protocols)
        off = tuple(self._list_off(search, fit, names))
        published = self._published
        rest = [name for r, name in enumerate(published.rows) if r not in self._rows]
        ignored = [name for c, name in enumerate(published.columns) if c not in self._columns]
        return TableReconciliation(
            columns=tuple(self.labels),
            rows=tuple(names),
            reported={
                (names[r], self.labels[c]): cell.text for (r, c), cell in self.sheet.cells.items()
            },
            definitions={
                label: option.candidate
                for label, option in zip(self.labels, fit.options, strict=True)
            },
            off=off,
            common=(*common, *(find_exchanged(off) if claimed else ())),
            undecided=undecided,
            alternatives=self._list_alternatives(fit),
            tools=tools,
            names={
                label: option.candidate.tools[0].partition(":")[2]
                for label, option in zip(self.labels, fit.options, strict=True)
                if option.candidate.tools
            },
            conventions=tuple(f"{name}={word}" for name, word in fit.protocol.choices),
            claimed=claimed,
            chance=chance,
            tried=len(protocols),
            ignored=(*ignored, *rest),
            notes=published.notes,
            percent=frozenset(
                label
                for label, is_percent in zip(self.labels, self._percent, strict=True)
                if is_percent
            ),
        )

    def _list_off(
        self, search: ProtocolSearch, fit: Fit, names: Sequence[str]
    ) -> Iterator[OffCell]:
        for (r, c), number in self.sheet.cells.items():
            value = float(fit.options[c].values[r])
            if number.gives(value):
                continue
            near = [*self._list_cells(fit, names, r, c), *search.find_near(fit, c, r)]
            scale = 100 if self._percent[c] or "%" in number.text else 1
            written = replace(
                number, value=number.value * scale, tolerance=number.tolerance * scale
            )
            slip = explain_slip(written, value * scale, ((s, v * scale) for s, v in near))
            yield OffCell(names[r], self.labels[c], number.text, value * scale, slip)

    def _list_cells(self, fit: Fit, names: Sequence[str], r: int, c: int) -> Iterator[Near]:
        """List the other runs' values in this column, and this run's in the other columns."""
        for place in range(len(names)):
            if place != r:
                yield write_other(names[place]), float(fit.options[c].values[place])
        for place, label in enumerate(self.labels):
            if place != c:
                yield write_other(label), float(fit.options[place].values[r])

    def _list_alternatives(self, fit: Fit) -> dict[str, tuple[str, ...]]:
        """List other definitions that give as many cells, under the conventions of the table."""
        alternatives = {}
        columns = zip(
            self.labels, self.sheet.columns, fit.options, fit.protocol.columns, strict=True
        )
        for label, column, chosen, options in columns:
            matches = column.find_given(chosen.values)
            names = [
                str(option.candidate.measure)
                for option in options
                if option.cost < LISTED_COST
                and str(option.candidate.measure.definition)
                != str(chosen.candidate.measure.definition)
                and (column.find_given(option.values) == matches).all()
                and matches.any()
            ]
            if names:
                different = tuple(dict.fromkeys(names))
                alternatives[label] = different[:_MOST]
        return alternatives
