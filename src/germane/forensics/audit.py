"""Audit: find numbers of a published table that no run can have, without any data."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import ceil, floor, fsum, lcm
from typing import Any

from germane.comparison.resolution import EXPLANATION, Claim, find_step, weigh_claim
from germane.errors import InputError, MeasureError, clip, list_some, make_visible, write_option
from germane.evaluation.choices import Path, PublishedTable
from germane.forensics.decisions import (
    IMPOSSIBLE,
    MOST_GRADES,
    OPEN,
    POSSIBLE,
    WORDS,
    Cells,
    Decider,
    Decision,
)
from germane.forensics.laws import AS_NAMED, Interval, PairLaws, find_highest, list_laws
from germane.forensics.list_program import has_solver
from germane.forensics.published import Published, read_percentages, read_published
from germane.forensics.reported import Column, Reading, Reported, format_plain, read_columns
from germane.forensics.witness import find_witness, name_folder
from germane.output.documents import AS_DICT, Document
from germane.output.named_columns import Tabular
from germane.output.tables import Sheet, Table, write_count
from germane.readers.files.formats import is_path


@dataclass(frozen=True)
class Contradiction:
    """Numbers of one row that cannot all be right.

    >>> found = germane.audit({"ours": {"R@5": "0.60", "R@10": "0.40"}}, dialect="beir")
    >>> found.contradictions[0].law, round(found.contradictions[0].excess, 4)
    ('R@5 ≤ R@10', 0.19)

    ``cells`` are names of columns with their numbers as printed, ``excess`` says by how much the
    law is broken beyond rounding, and ``possible`` under which definitions there is no
    contradiction, or "" if there are none.
    """

    row: str
    cells: tuple[tuple[str, str], ...] = field(metadata=AS_DICT)
    law: str
    proof: str
    excess: float
    possible: str = ""
    kind: str = "law"  # bound, law, grain (of a mean of so many queries), mean or program

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.cells)

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} = {number}" for name, number in self.cells)
        text = f"{self.row}: {numbers}, but {self.law}: {self.proof} (off by {self.excess:.2g})."
        return make_visible(f"{text} {self.possible}" if self.possible else text)


@dataclass(frozen=True)
class Audit(Tabular, Document):
    """The contradictions of a table; ``bool`` is whether there are any.

    >>> found = germane.audit({"ours": {"nDCG@10": "23.0", "MRR": "0.41"}})
    >>> bool(found), found.contradictions[0].law
    (True, 'nDCG@10 ≤ 1')

    ``contradictions`` hold under every definition; ``restrictions`` are numbers that only some
    definitions allow, and accuse nobody. ``explanations`` are slips that would explain every
    contradiction. ``columns`` has the measure that each name was read as, and ``ignored`` the names
    that are not measures. ``decisions`` says of each row whether any run can have its numbers:
    impossible, restricted, possible, or open, where no law is broken but a column is not known well
    enough. ``claims`` says, if ``queries=`` is given, whether that many queries can show the
    difference of the two best numbers of each column; it contradicts nothing.
    """

    _json = (
        "contradictions restrictions explanations columns ignored notes rows comparisons=checked"
        " decisions claims"
    )

    contradictions: tuple[Contradiction, ...]
    restrictions: tuple[Contradiction, ...]
    explanations: tuple[str, ...]
    columns: Mapping[str, str]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int
    checked: int
    decisions: Mapping[str, str] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()

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
        if self.restrictions:
            count += f" (●) and {write_count(len(self.restrictions), 'restriction')} (○)"
        ignored = f"Not read as measures: {list_some(self.ignored)}." if self.ignored else ""
        notes = (f"{count} in {checked}.", *self.explanations, f"Columns: {read}.", ignored)
        return tuple(filter(None, (*notes, *self.notes)))

    def __str__(self) -> str:
        lines = [f"● {contradiction}" for contradiction in self.contradictions]
        lines += [f"○ {restriction}" for restriction in self.restrictions]
        if self.claims:
            lines += ["", *(f"△ {claim}" for claim in self.claims), EXPLANATION]
        return Sheet(*lines, *([""] if lines else []), *self._notes(), "").text()


# --- Audit: find numbers of a published table that no run can have, without any data --------------


def audit(
    table: PublishedTable,
    queries: int | None = None,
    dialect: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    grades: int | None = None,
    relevant: int | None = None,
    witness: Path | None = None,
) -> Audit:
    """Find contradictions and impossible numbers in a published table, without any data.

    >>> found = germane.audit({"our model": {"MRR@1": "0.859", "P@1": "0.179"}})
    >>> bool(found), found.contradictions[0].columns
    (True, ('MRR@1', 'P@1'))

    ``table`` is a file (CSV, TSV, JSON, Markdown, LaTeX, result files of MTEB and BEIR, the
    output of ``trec_eval -q``, saved results), a frame, or ``{run: {column: number}}``. Names of
    columns are measures in any tool's spelling; ``columns={"MAP": "AP@10"}`` says what the
    author's own names stand for. ``queries`` is the number of queries of each mean, and
    ``dialect`` the tool that computed the table: fewer definitions are then open. ``grades`` is
    the highest grade of the judgments, or 1 if items are just relevant or not: only then can nDCG
    be compared with the other columns, in which grades of 1 and more count unless ``rel=`` says
    otherwise. ``relevant`` is the largest number of relevant items that a query has, such as 1 if
    each user bought one product.

    With SciPy, a linear program over all lists decides whether any run can have the numbers of a
    row; what it refutes, it proves. ``witness`` is a folder: judgments and a run with these
    numbers are written there for every row that is possible.

    Numbers are taken as rounded. Raises FormatError or InputError for something that is not a
    table, and MeasureError for a table without a measure.
    """
    for count, says in (
        (queries, "queries is the number of queries, 1 or more"),
        (relevant, "relevant is the most relevant items of a query, 1 or more"),
    ):
        if count is not None and (
            isinstance(count, bool) or not isinstance(count, int) or count < 1
        ):
            raise InputError(f"{says}; got {clip(count)}")
    if grades is not None and (
        isinstance(grades, bool) or not isinstance(grades, int) or not 1 <= grades <= MOST_GRADES
    ):
        raise InputError(
            f"grades is the highest grade of the judgments, from 1 to {MOST_GRADES};"
            f" got {clip(grades)}"
        )
    if witness is not None and not is_path(witness):
        raise InputError(f"{write_option('witness')} is the path of a folder; got {clip(witness)}")
    if witness is not None and not has_solver():
        raise InputError(f"{write_option('witness')} needs SciPy: pip install 'germane[stats]'")
    folder = None if witness is None else os.fspath(witness)
    named: Any = {} if columns is None else columns
    if not isinstance(named, Mapping) or not all(
        isinstance(text, str) for pair in named.items() for text in pair
    ):
        raise InputError(
            f"{write_option('columns')} is {{name of a column: measure}}; got {clip(columns)}"
        )
    published = read_published(table)
    tool = published.dialect if dialect is None else dialect
    read = read_columns(published.columns, columns, tool, exact=published.exact and not columns)
    unknown = set(columns or {}) - set(published.columns)
    if unknown:
        raise InputError(
            f"columns names {list_some(sorted(unknown))}; the table has"
            f" {list_some(published.columns)}."
        )
    if not any(read):
        raise MeasureError(
            f"no column of the table is a measure: {list_some(published.columns)}."
            f" {write_option('columns')} names the measure that a column stands for, such as AP@10"
            " for 'MAP'.  All measures: germane measures"
        )
    fixed = tool is not None or published.exact
    return _Auditor(
        published, read, queries, fixed, grades, relevant, folder, frozenset(named)
    ).run()


@dataclass(frozen=True)
class _Auditor:
    """One pass over a table."""

    table: Published
    columns: list[Column | None]
    queries: int | None
    fixed: bool  # is the definition of every column known?
    grades: int | None = None
    relevant: int | None = None
    folder: str | None = None  # of witnesses
    named: frozenset[str] = frozenset()  # columns of which columns= names the measure

    def run(self) -> Audit:
        scaled, notes = self._rescale()
        contradictions = [*self.find(scaled), *self._compare_means(scaled)]
        strong = [contradiction for contradiction in contradictions if not contradiction.possible]
        cut = {
            _key(contradiction)
            for contradiction in self.find(scaled, truncated=True)
            if not contradiction.possible
        }
        weak = [contradiction for contradiction in contradictions if contradiction.possible]
        certain = []
        for contradiction in strong:
            if _key(contradiction) in cut or contradiction.kind == "mean":
                certain.append(contradiction)
            else:
                text = "Possible if decimals were cut off, not rounded."
                weak.append(replace(contradiction, possible=text))
        explained = tuple(self._explain(scaled)) if certain else ()
        explained = explained if len(explained) < 3 else ()  # any move would do
        explained += tuple(self._explain_ties(certain))
        decisions, decided, written = self._decide(scaled, certain, weak)
        certain += [contradiction for contradiction in decided if not contradiction.possible]
        # of a whole row, a definition may be excluded that two numbers allow
        excluded = {
            (contradiction.row, frozenset(contradiction.columns)) for contradiction in certain
        }
        weak = [law for law in weak if (law.row, frozenset(law.columns)) not in excluded]
        weak += [contradiction for contradiction in decided if contradiction.possible]
        columns = self._column_at.values()
        names = {column.label: str(column.measure or column.kind) for column in columns}
        ignored = [name for c, name in enumerate(self.table.columns) if c not in self._column_at]
        return Audit(
            tuple(certain), tuple(weak), explained, names, tuple(ignored),
            (*self.table.notes, *notes, *self._note_program(), *written), len(self.table.rows),
            self._count(scaled), decisions, tuple(self._weigh_claims(scaled)),
        )  # fmt: skip

    # --- the program over all lists

    @cached_property
    def _decider(self) -> Decider:
        return Decider(self._column_at, self.queries, self.grades, self.fixed, self.relevant)

    def _note_program(self) -> Iterator[str]:
        if self._decider.groups and not has_solver():
            yield (
                "Only laws of two or three columns were tried; whether any run can have all numbers"
                " of a row takes SciPy: pip install 'germane[stats]'."
            )

    def _decide(
        self,
        cells: Mapping[tuple[int, int], Reported],
        certain: Iterable[Contradiction],
        weak: Iterable[Contradiction],
    ) -> tuple[dict[str, str], list[Contradiction], list[str]]:
        """Decide whether any run can have the numbers of a row, if no law says that none can."""
        contradicted = {contradiction.row for contradiction in certain}
        known = {(law.row, frozenset(map(self.table.columns.index, law.columns))) for law in weak}
        decisions = {row: IMPOSSIBLE for row in self.table.rows if row in contradicted}
        refuted: list[Contradiction] = []
        written: list[str] = []
        tried: list[tuple[str, Decision]] = []
        if not has_solver():
            return decisions, refuted, written
        for r, row in enumerate(self.table.rows):
            if row in contradicted or (self.table.of_queries and row != "all"):
                continue
            numbers = {c: cell for (place, c), cell in cells.items() if place == r}
            words = []
            for decision in self._decider.decide(numbers):
                words.append(decision.word)
                tried.append((row, decision))
                written += self._write_witness(r, numbers, decision)
                law = decision.refutation
                repeated = law is not None and (row, frozenset(law.columns)) in known
                if law is not None and not (repeated and law.possible):
                    refuted.append(
                        Contradiction(
                            row, self._cite(r, *law.columns), law.law, law.proof, law.excess,
                            law.possible, "program",
                        )
                    )  # fmt: skip
            if words:
                decisions[row] = min(words, key=WORDS.index)
        return decisions, refuted, [*self._note_decisions(decisions, tried), *written]

    def _note_decisions(
        self, decisions: Mapping[str, str], tried: Sequence[tuple[str, Decision]]
    ) -> Iterator[str]:
        """Say of which rows some run has all numbers, and what that assumes."""
        possible, undecided = (
            [row for row in dict.fromkeys(row for row, _ in tried) if decisions[row] == word]
            for word in (POSSIBLE, OPEN)
        )
        if possible:
            of_more = ", though perhaps not with so few queries" if self.queries else ""
            each = " under each heading" if len(self._decider.groups) > 1 else ""
            rows = f"these rows{each}{of_more}: {list_some(possible, 5)}"
            yield f"A run can have all numbers of {rows}."
        if undecided:
            yield (
                f"Undecided: {list_some(undecided, 5)}. No inequality rules the numbers out, but no"
                " run that has all of them was found."
            )
        if possible or undecided:
            yield from self._decider.write_assumptions([decision for _, decision in tried])

    def _write_witness(self, r: int, cells: Cells, decision: Decision) -> Iterator[str]:
        """Write judgments and a run with the numbers of a row, and say where they are."""
        if self.folder is None or decision.way is None:
            return
        row, group = self.table.rows[r], decision.way.groups[0]
        heading = self._column_at[group.places[0]].group
        told = f"{row} ({heading})" if heading else row
        tried = (
            find_witness(*pair, group, cells, self.queries)
            for pair in self._decider.find_lists(decision, cells)
        )
        witness = next(filter(None, tried), None)
        if witness is None:
            yield f"{told}: no witness was found, which does not mean that there is none."
            return
        place = os.path.join(self.folder, name_folder(f"{row} {heading}", r + 1))
        witness.save(place)
        count = write_count(len(witness.queries), "query", "queries")
        few = self.queries is None or len(witness.queries) == self.queries
        more = "" if few else f" (none of {self.queries:,} was found)"
        more += " with these numbers"
        more += "" if decision.way.name == AS_NAMED else f", with {decision.way.name},"
        yield f"{told}: judgments and a run of {count}{more} are in {place}."

    # --- resolution

    def _weigh_claims(self, cells: Mapping[tuple[int, int], Reported]) -> Iterator[Claim]:
        """Weigh the difference of the two best numbers of each column, over so many queries."""
        if self.queries is None or self.table.of_queries:
            return
        for c, column in self._column_at.items():
            if column.of_boxes or column.measure is None or find_highest(column.kind, None) != 1:
                continue
            placed = [(r, cells[r, c]) for r in range(len(self.table.rows)) if (r, c) in cells]
            placed.sort(key=lambda row: -row[1].value)
            (best, high), (second, low) = (*placed, *[(0, Reported("", 0.0, 0.0))] * 2)[:2]
            if len(placed) < 2 or not 0 <= low.value < high.value <= 1:
                continue
            steps = {find_step(reading.measure) for reading in column.readings}
            largest = high.value - low.value + high.tolerance + low.tolerance
            yield weigh_claim(
                column.label, (self.table.rows[best], self.table.rows[second]),
                (high.value, low.value), largest, self.queries,
                steps.pop() if len(steps) == 1 else None,
            )  # fmt: skip

    # --- scale

    def _rescale(self) -> tuple[dict[tuple[int, int], Reported], list[str]]:
        """Read a table of percentages as shares: where most numbers that are shares are above 1."""
        shares = [c for c, column in self._column_at.items() if find_highest(column.kind, None)]
        beyond = {c for c, column in self._column_at.items() if column.kind == "DCG"}
        cells, chosen = read_percentages(self.table, shares, beyond)
        names = [self.table.columns[c] for c in chosen]
        return cells, [f"Read as percentages: {list_some(names)}."] if names else []

    # --- laws

    @cached_property
    def _column_at(self) -> dict[int, Column]:
        """The columns that are measures, by their place."""
        return {c: column for c, column in enumerate(self.columns) if column is not None}

    @cached_property
    def _laws(self) -> list[PairLaws]:
        """The laws of each pair of columns."""
        return list_laws(self.columns, self.fixed)

    def find(
        self, cells: Mapping[tuple[int, int], Reported], *, truncated: bool = False
    ) -> list[Contradiction]:
        """Find what contradicts a bound, a law of two columns, or a law of three."""
        by_key: dict[Any, Contradiction] = {}
        for r in range(len(self.table.rows)):
            row = {
                c: Interval.of(cell, truncated)
                for (place, c), cell in cells.items()
                if place == r and c in self._column_at
            }
            for contradiction in (
                *self._check_bounds(r, row),
                *self._check_spellings(r, row),
                *self._check_pairs(r, row),
                *self._check_f(r, row),
                *self._check_grain(r, row),
            ):
                key = _key(contradiction)
                if key not in by_key or (by_key[key].possible and not contradiction.possible):
                    by_key[key] = contradiction
        return list(by_key.values())

    def _cite(self, r: int, *columns: int) -> tuple[tuple[str, str], ...]:
        return tuple((self.table.columns[c], self.table.cells[r, c].text) for c in columns)

    def _check_bounds(self, r: int, row: Mapping[int, Interval]) -> Iterator[Contradiction]:
        for c, value in row.items():
            column = self._column_at[c]
            name, kind = self.table.rows[r], column.kind
            tops = [find_highest(reading.measure.name, reading) for reading in column.readings]
            tops = tops or [find_highest(kind, None)]
            limits = [top for top in tops if top is not None]
            if limits and value.low > max(limits):
                is_partly_open = len(limits) < len(tops)
                possible = (
                    "Possible only if repeated results or grades above 1 count more."
                    * is_partly_open
                )
                read = self.table.cells[r, c].value / 100
                hint = f"; {format_plain(round(read, 12))} would be possible (×100)" * (read <= 1)
                proof = f"a value is a share of what is possible{hint}"
                yield Contradiction(
                    name, self._cite(r, c), f"{column.label} ≤ {max(limits):g}", proof,
                    value.low - max(limits), possible, "bound"
                )  # fmt: skip
            lowest = -1.0 if kind == "MCC" else 0.0
            if value.high < lowest and kind not in ("Utility", "YAAP", "nDCG", "DCG"):
                yield Contradiction(
                    name, self._cite(r, c), f"{column.label} ≥ {lowest:g}", "no term is negative",
                    lowest - value.high, kind="bound"
                )  # fmt: skip

    def _check_pairs(self, r: int, row: Mapping[int, Interval]) -> Iterator[Contradiction]:
        for pair in self._laws:
            i, j = pair.first, pair.second
            broken = pair.find_broken(row[i], row[j]) if i in row and j in row else None
            if broken is None:
                continue
            excess, law, possible = broken
            words: dict[str, Any] = {}
            for letters, place in (("aj", i), ("bk", j)):
                column = self._column_at[place]
                words |= {letters[0]: column.label, letters[1]: column.k or "N"}
            statement, proof = (text.format(**words) for text in (law.says, law.proof))
            yield Contradiction(
                self.table.rows[r], self._cite(r, i, j), statement, proof, excess, possible
            )

    def _check_spellings(self, r: int, row: Mapping[int, Interval]) -> Iterator[Contradiction]:
        """Two names of one measure, such as recip_rank and MRR, have one value."""
        for i, j in combinations(row, 2):
            first, second = self._column_at[i], self._column_at[j]
            gap = max(row[i].low - row[j].high, row[j].low - row[i].high)
            if gap <= 0 or first.measure is None or first.measure != second.measure:
                continue
            definitions = [
                {(reading.measure, reading.choices) for reading in column.readings}
                for column in (first, second)
            ]
            if definitions[0] != definitions[1]:
                continue  # a tool may compute both, each in its own way
            if (first.group, first.overlap) != (second.group, second.overlap):
                continue
            possible = ""
            if namesakes := (*first.namesakes, *second.namesakes):
                tools = _list_tools(namesakes)
                possible = f"Possible with tools that give a name to another measure: {tools}."
            yield Contradiction(
                self.table.rows[r], self._cite(r, i, j), f"{first.label} = {second.label}",
                f"both are names of {first.measure}", gap, possible,
            )  # fmt: skip

    def _check_f(self, r: int, row: Mapping[int, Interval]) -> Iterator[Contradiction]:
        """F ≤ (P + R) ÷ 2: a harmonic mean is at most the arithmetic one."""
        of_kind: dict[tuple[str, int | None, str], int] = {}
        for c in row:
            column = self._column_at[c]
            if not column.of_boxes:
                of_kind[column.kind, column.k, column.group] = c
        for (kind, k, group), f in of_kind.items():
            p, rec = of_kind.get(("P", k, group)), of_kind.get(("R", k, group))
            if kind != "F" or p is None or rec is None:
                continue
            readings = [reading for c in (f, p, rec) for reading in self._column_at[c].plain]
            if any(reading.parameters.get("beta", 1) != 1 for reading in readings) or (
                len({(reading.choices, reading.parameters.get("rel")) for reading in readings}) > 1
            ):
                continue  # each counts other queries or results
            excess = row[f].low - (row[p].high + row[rec].high) / 2
            if excess > 0:
                f_name, p_name, r_name = (self.table.columns[row] for row in (f, p, rec))
                yield Contradiction(
                    self.table.rows[r], self._cite(r, f, p, rec),
                    f"{f_name} ≤ ({p_name} + {r_name}) ÷ 2",
                    "a harmonic mean is at most the arithmetic one", excess,
                )  # fmt: skip

    def _check_grain(self, r: int, row: Mapping[int, Interval]) -> Iterator[Contradiction]:
        """A mean of N values of 0 or 1 is a multiple of 1/N, and P@k of 1/(kN)."""
        of_one = self.table.of_queries and self.table.rows[r] != "all"
        number = 1 if of_one else self.queries
        if number is None:
            return
        for c, value in row.items():
            column = self._column_at[c]
            if column.kind not in ("Success", "P") or (column.kind == "P" and column.k is None):
                continue
            steps = number * (column.k or 1 if column.kind == "P" else 1)
            nearest = round((value.low + value.high) / 2 * steps) / steps
            off = max(value.low - nearest, nearest - value.high)
            if off <= 0:
                continue
            ways = [_has_grain(reading) for reading in column.plain]
            if not any(ways):
                continue
            queries = "1 query" if number == 1 else f"{number:,} queries"
            is_open = column.kind == "P" and not self.fixed and column.label not in self.named
            is_of_results = is_open and _fits_results(value, column, number)
            possible = (
                "Possible if P is divided by the number of results."
                if is_of_results or not all(ways)
                else ""
            )
            if column.namesakes:
                tools = _list_tools(column.namesakes)
                possible = f"Possible with tools that give this name to another measure: {tools}."
            yield Contradiction(
                self.table.rows[r], self._cite(r, c),
                f"{column.label} of {queries} is a multiple of 1/{steps}",
                "it counts hits" if column.kind == "P" else "it is 0 or 1 for a query", off,
                possible, "grain",
            )  # fmt: skip

    def _compare_means(self, cells: Mapping[tuple[int, int], Reported]) -> Iterator[Contradiction]:
        """The row of means is that of the queries, or lower if those without results count 0."""
        if not self.table.of_queries or self.table.rows[-1] != "all":
            return
        last = len(self.table.rows) - 1
        for c, column in self._column_at.items():
            means = {reading.parameters.get("mean", "arithmetic") for reading in column.readings}
            if (last, c) not in cells or means - {"arithmetic"}:
                continue
            spans = [
                Interval.of(cell) for (r, place), cell in cells.items() if place == c and r < last
            ]
            total = Interval.of(cells[last, c])
            low, high = fsum(span.low for span in spans), fsum(span.high for span in spans)
            if not spans or (column.measure is not None and column.measure.row.aggregate == "sum"):
                continue
            # Queries without results add 0 to the sum and 1 to the count n. From some n on, even
            # the highest sum is too low for the mean, so that larger ones need not be tried.
            most_queries = (
                max(len(spans), int(high / total.high) + 2) if total.high > 0 else len(spans)
            )
            fits = any(
                low / n <= total.high and total.low <= high / n
                for n in range(len(spans), min(most_queries, 20 * len(spans)) + 1)
            )
            if not fits:
                mean = fsum((span.low + span.high) / 2 for span in spans) / len(spans)
                excess = max(total.low - high / len(spans), low / len(spans) - total.high)
                yield Contradiction(
                    "all", self._cite(last, c), "the mean is that of the queries",
                    f"their values have the mean {mean:.4f}", max(excess, 0.0), kind="mean",
                )  # fmt: skip

    def _count(self, cells: Mapping[tuple[int, int], Reported]) -> int:
        pairs = sum(
            (r, law.first) in cells and (r, law.second) in cells
            for r in range(len(self.table.rows))
            for law in self._laws
        )
        return pairs + len(cells)

    # --- slips

    def _explain_ties(self, contradictions: Iterable[Contradiction]) -> Iterator[str]:
        """Name the tools that order equal scores differently for two columns."""
        columns = {
            contradiction.columns for contradiction in contradictions if contradiction.kind == "law"
        }
        seen = set()
        for pair in self._laws:
            names = self.table.columns[pair.first], self.table.columns[pair.second]
            tools = pair.tools_of_two_orders
            if names in columns and tools and frozenset(names) not in seen:
                seen.add(frozenset(names))
                verb = "orders" if len(tools) == 1 else "order"
                yield (
                    f"{list_some(tools, 4).replace(chr(39), '')} {verb} equal scores for {names[0]}"
                    f" in another way than for {names[1]}: both numbers can be right if the first"
                    " results of most queries are tied."
                )

    def _explain(self, cells: Mapping[tuple[int, int], Reported]) -> Iterator[str]:
        """Find two columns that, exchanged, leave no contradiction; or a shift of all columns."""
        shown, names, orders = list(self._column_at), self.table.columns, []
        for i, j in combinations(shown, 2):
            order = {c: c for c in shown} | {i: j, j: i}
            orders.append((f"{names[i]} and {names[j]} were exchanged", order))
        if len(shown) > 2:
            for step, side in ((1, "right"), (-1, "left")):
                order = {c: shown[(place + step) % len(shown)] for place, c in enumerate(shown)}
                orders.append((f"all numbers stood one column too far to the {side}", order))
        for slip, order in orders[:200]:
            moved = {
                (r, c): cells[r, order[c]]
                for r, c in cells
                if c in order and (r, order[c]) in cells
            }
            if all(contradiction.possible for contradiction in self.find(moved)):
                yield f"There would be no contradiction if {slip}."


def _key(contradiction: Contradiction) -> Any:
    return contradiction.row, frozenset(contradiction.columns), contradiction.kind


def _list_tools(namesakes: Iterable[Reading]) -> str:
    return ", ".join(f"{reading.tool} ({reading.measure})" for reading in namesakes)


def _fits_results(value: Interval, column: Column, queries: int) -> bool:
    """Is some multiple of a step within the value, if P divides by a number of results up to k?"""
    steps = queries * lcm(*range(1, (column.k or 1) + 1))
    return floor(Fraction(value.high) * steps) >= ceil(Fraction(value.low) * steps)


def _has_grain(reading: Reading) -> bool:
    counted = reading.parameters.get("mean", "arithmetic") == "arithmetic"
    return counted and reading.parameters.get("norm", "k") == "k" and not reading.counts_twice
