"""Reconcile a table: find the protocol behind the numbers that were reported of several runs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from germane.core.policy import Policy
from germane.core.progress import Progress, make_progress
from germane.errors import EmptyError, InputError, MeasureError, clip, list_some, suggest
from germane.evaluation.accepted import Judgments, PublishedTable, Run
from germane.evaluation.choices import Choices
from germane.evaluation.collection import find_all_needs
from germane.evaluation.opening import Inputs, open_data
from germane.measures.measure import Measure
from germane.reconciliation.column_names import read_columns
from germane.reconciliation.identities import find_highest
from germane.reconciliation.protocols import LIKELY, SHARE, Fit, Sheet
from germane.reconciliation.published import Published, read_percentages, read_published
from germane.reconciliation.slips import Near, OffCell, explain_slip
from germane.reconciliation.spread import Values
from germane.reconciliation.table_reconciliation import TableReconciliation
from germane.reconciliation.table_search import TableSearch

_CUTOFFS = (None, 1, 3, 5, 10, 20, 50, 100, 1000)  # that may be meant by mistake
LISTED_COST = 1.0  # of other definitions: those of tools
_MOST = 4  # other definitions of a column that are named


def reconcile_table(
    qrels: Judgments,
    runs: Mapping[str, Run],
    reported: PublishedTable,
    *,
    measures: Mapping[str, str] | None = None,
    progress: Progress | bool | None = None,
    **policy: Unpack[Choices],
) -> TableReconciliation:
    """Find the protocol behind a reported table: one set of conventions, and a definition for each column.

    >>> qrels = {"q1": ["a", "b"], "q2": ["c"]}
    >>> runs = {"ours": {"q1": ["a", "x", "b"], "q2": ["y", "c"]}, "bm25": {"q1": ["x", "a"], "q2": ["y"]}}
    >>> table = {"ours": {"map": "0.6667", "recip_rank": "0.7500"}, "bm25": {"map": "0.1250", "recip_rank": "0.5200"}}
    >>> found = germane.reconcile_table(qrels, runs, table)
    >>> [(one.run, one.column, one.value, one.slip) for one in found.off]
    [('bm25', 'recip_rank', 0.25, 'two digits of 0.2500 are swapped')]

    ``qrels`` and each of ``runs`` are those of ``evaluate_many``. ``reported`` is ``{run: {column: "0.412"}}``, a frame, or a
    file: CSV, TSV, JSON, Markdown or LaTeX. Its rows are found by the runs' names. Names of columns are measures in any
    tool's spelling; ``measures={"MAP": "AP@10"}`` says what other names stand for. Numbers are as precise as their text;
    percentages, bold numbers and marks are understood.

    It tries the dialects of all tools, germane's own conventions, and one or two changes of either. A convention that you
    give, such as ``missing="skip"``, holds in all of them. Nothing is claimed where wrong numbers would fit as well in more
    than 1 % of cases, or where fewer than half of the cells fit.

    Raises InputError for a run without a row, MeasureError for a table without a measure, and what ``evaluate_many`` raises.
    """
    progress = make_progress(progress)
    if not isinstance(runs, Mapping):
        raise InputError(f"runs are a mapping of name to run; got {clip(runs)}")
    if not runs:
        raise EmptyError("there are no runs to compare with the table.")
    published = read_published(reported)
    if published.of_queries:
        raise InputError(
            "the rows of this table are queries; give a table of runs, or the values of one run's queries to reconcile: "
            "reported_per_query=…"
        )
    read = read_columns(published.columns, measures, published.dialect)
    chosen = [c for c, one in enumerate(read) if one is not None and one.asked is not None]
    if not chosen:
        raise MeasureError(
            f"no column of the table is a measure of ranked lists: {list_some(published.columns)}. "
            "measures={'their name': 'AP@10'} says what a name stands for.  All measures: germane measures"
        )
    rows = match_rows(published, list(runs))
    labels = [published.columns[c] for c in chosen]
    asked = [one.asked for c in chosen if (one := read[c]) is not None and one.asked is not None]
    sheet, percent = make_sheet(
        published, rows, chosen, [find_highest(one.name, None) is not None for one in asked]
    )
    data = open_data(qrels, policy)
    values = list(_open_runs(data, runs, asked, progress))
    search = TableSearch(
        [one for one, _ in values],
        values[0][1],
        dict(data.options.asked),
        labels,
        asked,
        sheet,
    )
    fit, fits = search.search()
    writer = TableWriter(published, rows, labels, chosen, sheet, percent, list(runs))
    equal = search.list_equal_tools(fit, fits)
    fit = search.simplify(fit)
    if equal:
        named = tuple(options[0] for options in equal[0].columns)
        fit = replace(fit, options=named)

    def find_near(c: int, r: int) -> Iterator[Near]:
        candidate = fit.options[c].candidate
        for k in _CUTOFFS:
            if candidate.measure.row.cutoff and k != candidate.measure.k:
                other = Measure(candidate.measure.name, candidate.measure.parameters, k)
                value = float(search.compute(candidate.choices, other, [r])[r])
                yield f"it is {other}", value

    return writer.write(
        fit,
        search.protocols,
        tools=tuple(one.tool for one in equal),
        undecided=search.find_undecided(fit),
        find_near=find_near,
    )


def _open_runs(
    data: Inputs, runs: Mapping[str, Any], asked: Sequence[Measure], progress: Progress | None
) -> Iterator[tuple[Values, Policy]]:
    needs = find_all_needs(*asked)
    for run in runs.values():
        found, conventions = data.open_run(run)
        yield Values(data.collect(found.load(progress), needs, progress)), conventions


def match_rows(published: Published, runs: Sequence[str]) -> list[int]:
    """Find the row of each run, by its name. Raises InputError with the nearest name."""
    if len(runs) == len(published.rows) == 1:
        return [0]
    bare: dict[str, list[int]] = {}
    for r, name in enumerate(published.rows):
        bare.setdefault(_strip_name(name), []).append(r)
    found = []
    for run in runs:
        if run in published.rows:
            found.append(published.rows.index(run))
            continue
        rows = bare.get(_strip_name(run), [])
        if len(rows) != 1:
            near = suggest(run, published.rows)
            raise InputError(
                f"the table has no row for the run {clip(run)}.{near} Its rows: {list_some(published.rows, 6)}. "
                "Runs and rows are matched by their names."
            )
        found.append(rows[0])
    if len(set(found)) < len(found):
        twice = next(r for r in found if found.count(r) > 1)
        raise InputError(f"two runs have the name of the row {clip(published.rows[twice])}.")
    return found


def _strip_name(name: str) -> str:
    """Drop case, signs and blanks of a name."""
    return re.sub(r"[\W_]+", "", name.casefold()) or name


def make_sheet(
    published: Published, rows: Sequence[int], columns: Sequence[int], shares: Sequence[bool]
) -> tuple[Sheet, list[int]]:
    """Select the cells of these rows and columns; return them with the columns of percentages."""
    of_shares = [c for c, share in zip(columns, shares, strict=True) if share]
    cells, percent = read_percentages(published, of_shares)
    selected = {
        (r, c): cells[row, column]
        for r, row in enumerate(rows)
        for c, column in enumerate(columns)
        if (row, column) in cells
    }
    if not selected:
        raise EmptyError("the table has no numbers of these runs.")
    return Sheet(selected, len(rows), len(columns)), percent


class TableWriter:
    """Writes the answer of a search, for ranked lists and for boxes."""

    def __init__(
        self,
        published: Published,
        rows: Sequence[int],
        labels: Sequence[str],
        columns: Sequence[int],
        sheet: Sheet,
        percent: Sequence[int],
        runs: Sequence[str],
    ) -> None:
        self._published, self._rows, self._labels, self._columns = published, rows, labels, columns
        self._sheet, self._runs = sheet, runs
        self._percent = [c in percent for c in columns]

    def write(
        self,
        fit: Fit,
        protocols: Sequence[Any],
        *,
        tools: tuple[str, ...],
        undecided: tuple[str, ...],
        find_near: Callable[[int, int], Iterable[Near]],
    ) -> TableReconciliation:
        """Write the answer: what a protocol gives, and what it does not."""
        chance = self._sheet.estimate_chance(fit, protocols)
        claimed = chance <= LIKELY and fit.count >= SHARE * len(self._sheet.cells)
        published = self._published
        names = [published.rows[r] for r in self._rows]
        rest = [name for r, name in enumerate(published.rows) if r not in self._rows]
        ignored = [name for c, name in enumerate(published.columns) if c not in self._columns]
        return TableReconciliation(
            columns=tuple(self._labels),
            rows=tuple(names),
            reported={
                (names[r], self._labels[c]): one.text for (r, c), one in self._sheet.cells.items()
            },
            definitions={
                label: one.candidate for label, one in zip(self._labels, fit.options, strict=True)
            },
            off=tuple(self._list_off(fit, names, find_near)),
            undecided=undecided,
            alternatives=self._list_alternatives(fit),
            tools=tools,
            names={
                label: one.candidate.tools[0].partition(":")[2]
                for label, one in zip(self._labels, fit.options, strict=True)
                if one.candidate.tools
            },
            conventions=tuple(f"{name}={word}" for name, word in fit.protocol.choices),
            claimed=claimed,
            chance=chance,
            tried=len(protocols),
            ignored=(*ignored, *rest),
            notes=published.notes,
            percent=frozenset(
                label for label, one in zip(self._labels, self._percent, strict=True) if one
            ),
        )

    def _list_off(
        self, fit: Fit, names: Sequence[str], find_near: Callable[[int, int], Iterable[Near]]
    ) -> Iterator[OffCell]:
        for (r, c), number in self._sheet.cells.items():
            value = float(fit.options[c].values[r])
            if number.gives(value):
                continue
            near = [*self._list_cells(fit, names, r, c), *find_near(c, r)]
            scale = 100 if self._percent[c] or "%" in number.text else 1
            written = replace(
                number, value=number.value * scale, tolerance=number.tolerance * scale
            )
            slip = explain_slip(written, value * scale, ((s, v * scale) for s, v in near))
            yield OffCell(names[r], self._labels[c], number.text, value * scale, slip)

    def _list_cells(self, fit: Fit, names: Sequence[str], r: int, c: int) -> Iterator[Near]:
        """List the values of the other runs in this column, and of the other columns of this run."""
        for other in range(len(names)):
            if other != r:
                yield f"it is the value of {names[other]}", float(fit.options[c].values[other])
        for other, label in enumerate(self._labels):
            if other != c:
                yield f"it is the value of {label}", float(fit.options[other].values[r])

    def _list_alternatives(self, fit: Fit) -> dict[str, tuple[str, ...]]:
        """List the other definitions that give as many cells of a column, under the conventions of the table."""
        found = {}
        columns = zip(
            self._labels, self._sheet.columns, fit.options, fit.protocol.columns, strict=True
        )
        for label, column, chosen, options in columns:
            given = column.find_given(chosen.values)
            others = [
                str(one.candidate.measure)
                for one in options
                if one.cost < LISTED_COST
                and str(one.candidate.measure.definition)
                != str(chosen.candidate.measure.definition)
                and (column.find_given(one.values) == given).all()
                and given.any()
            ]
            if others:
                several = tuple(dict.fromkeys(others))
                found[label] = several[:_MOST]
        return found
