"""Write the answer to a reported table of lists or boxes: rows by name, cells off, slips."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from germane.errors import EmptyError, InputError, clip, list_some, suggest
from germane.reconciliation.common_differences import (
    choose_nearest,
    describe_common,
    find_exchanged,
)
from germane.reconciliation.protocols import LIKELY, Fit, ProtocolSearch, Sheet
from germane.reconciliation.published import Published, read_percentages
from germane.reconciliation.slips import Near, OffCell, explain_slip, write_other
from germane.reconciliation.table_reconciliation import TableReconciliation

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
        cells, percent = read_percentages(published, of_shares)
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
