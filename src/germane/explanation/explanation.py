"""Explanation: the values of one list's measures, rank by rank."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Any, NamedTuple, overload

import numpy as np

from germane.core.policy import Policy
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, clip
from germane.explanation.single_query import Counted
from germane.measures.measure import Measure
from germane.output.documents import AS_TEXT, IF_ANY, Document
from germane.output.named_columns import Tabular, make_numbers, make_texts
from germane.output.tables import Table, format_number

SHOWN = 1000  # rows of a table for people: lists of the usual depth are shown whole
WIDTH = 60  # characters of an item's text in a table for people
SHORT = 30  # characters of a missed item's text


class Rank(NamedTuple):
    """One rank of the list, or several neighbors that add nothing."""

    rank: int
    upto: int  # the last rank of the row; more than rank where rows are folded
    item: Hashable | None  # None: not known, since nobody judged it
    relevance: float | None  # None: not judged
    hit: bool
    precision: float
    recall: float
    tied: tuple[int, int] | None  # the ranks that its group of equal scores occupies


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Sequence[Rank]):
    """The rows of an explanation as columns; a Rank is made when somebody looks at it."""

    first: Ints
    last: Ints
    relevant_found: Ints  # up to the last rank
    relevant: int
    hit: Bools
    grade: Floats  # NaN: not judged
    name: Ints  # its place in names; -1: not known
    names: Sequence[Hashable]
    tied_from: Ints
    tied_to: Ints

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[Rank]:
        return map(self._make_rank, range(len(self)))

    @overload
    def __getitem__(self, row: int) -> Rank: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Rank, ...]: ...
    def __getitem__(self, index: int | slice) -> Rank | tuple[Rank, ...]:
        rows = range(len(self))[index]
        return self._make_rank(rows) if isinstance(rows, int) else tuple(map(self._make_rank, rows))

    def _make_rank(self, row: int) -> Rank:
        name, grade = int(self.name[row]), float(self.grade[row])
        hits, upto = int(self.relevant_found[row]), int(self.last[row])
        tied = int(self.tied_from[row]), int(self.tied_to[row])
        return Rank(
            rank=int(self.first[row]),
            upto=upto,
            item=None if name < 0 else self.names[name],
            relevance=None if math.isnan(grade) else grade,
            hit=bool(self.hit[row]),
            precision=hits / upto,
            recall=hits / self.relevant if self.relevant else 0.0,
            tied=tied if tied[0] < tied[1] else None,
        )


class Coverage(NamedTuple):
    """The subtopics for which the item at a rank is relevant."""

    new: tuple[Hashable, ...]  # that no earlier item has
    again: tuple[Hashable, ...]


@dataclass(frozen=True)
class Reading:
    """One measure of the list: its term at each row, the norm of their sum, and its value."""

    _json = "measure definition=measure.definition terms sums rest norm divisor formula value ties"

    measure: Measure
    terms: tuple[float, ...]  # one a row
    rest: float  # the term of items outside the rows
    norm: float
    divisor: str  # the norm with the numbers put in: 'min(R,10) = min(3,10) = 3'
    formula: str  # the formula with the numbers put in
    value: float
    ties: Mapping[str, float]  # the value under other orders of ties, where there are any

    @property
    def tie_values(self) -> str:
        """The value under each other order of ties, as text: 'best 0.5000, worst 0.2500'."""
        return ", ".join(f"{order} {value:.4f}" for order, value in self.ties.items())

    @property
    def sums(self) -> tuple[float, ...]:
        """The sum of the terms up to each row."""
        return tuple(accumulate(self.terms))

    def write_term(self, i: int, rank: int) -> str:
        """Write a row's term as people do: 1, 2/5, 3/log2(3), or four decimals."""
        return write_term(self.measure, self.terms[i], rank)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabular, Document):
    """The values of one query's measures, with the ranks, terms and norms that make them.

    >>> print(germane.explain([1, 0, 1], "AP@3", relevant=4).readings[0].formula)
    AP@3 = (1 + 2/3) / min(4,3) = 0.5556

    Rows are ranks, and ``readings`` holds one Reading per measure. ``missed`` are the relevant
    items that were not retrieved, with their grades. An explanation prints as a table;
    ``markdown()``, ``latex()`` and ``to_dict()`` write it in other formats.
    """

    _json = (
        "query relevant retrieved answered policy query_text ranks=_list_ranks missed=_list_missed"
        " differences measures=readings"
    )

    query: Hashable = field(metadata=AS_TEXT)
    rows: Sequence[Rank]
    readings: tuple[Reading, ...]
    missed: tuple[tuple[Hashable | None, float], ...]
    relevant: int
    retrieved: int
    policy: Policy | None = None  # the conventions; bare grades have none
    answered: bool = True  # False: the run does not have the query
    counted: Counted | None = None  # where R was counted in the list
    texts: Mapping[str, str] = field(default_factory=dict)  # of items, by the text of their id
    query_text: str = field(default="", metadata=IF_ANY)
    coverage: tuple[Coverage, ...] = ()  # one a row, for measures of subtopics

    def table(self, *, digits: int | None = 4) -> Table:
        """Return ranks as rows, and for each measure its terms and their running sum.

        ``digits=None`` gives all digits, with terms as decimals, and all rows. Otherwise the middle
        of more than a thousand rows is left out.
        """
        return replace(self.tabulate_ranks(digits), notes=tuple(self._notes()))

    def tabulate_ranks(self, digits: int | None = 4) -> Table:
        """Return the table without its notes, which take as long as its rows."""
        shown: Sequence[int] = range(len(self.rows))
        if digits is not None and len(shown) > SHOWN:
            shown = (*shown[: SHOWN // 2], *shown[-SHOWN // 2 :])
        places = [self.rows[i] for i in shown]
        named, tied = any(row.item is not None for row in places), any(row.tied for row in places)
        columns = ["rank", *(["item"] if named else []), "relevance", "hit", "P@rank", "recall"]
        columns += ["tie"] if tied else []
        columns += ["new", "again"] if self.coverage else []
        columns += ["text"] if self.texts else []
        if len(self.readings) == 1:
            columns += ["term", "sum"]
        else:
            for reading in self.readings:  # programs need a name for each sum
                sum_ = "sum" if digits is not None else f"sum of {reading.measure}"
                columns += [str(reading.measure), sum_]
        sums = [reading.sums for reading in self.readings]
        rows = [
            (
                *_write_rank(row, named, tied, digits),
                *(
                    [", ".join(map(str, names)) for names in self.coverage[i]]
                    if self.coverage
                    else []
                ),
                *([self._write_text(row, digits)] if self.texts else []),
                *self._write_terms(i, row, sums, digits),
            )
            for i, row in zip(shown, places, strict=True)
        ]
        if len(rows) < len(self.rows):
            left_out = f"… {len(self.rows) - len(rows):,} rows"
            rows.insert(SHOWN // 2, (left_out, *["…"] * (len(columns) - 1)))
        texts = ("new", "again") * bool(self.coverage) + ("text",) * bool(self.texts)
        left = (*([1] if named else []), *map(columns.index, texts))
        return Table(tuple(columns), tuple(rows), left=left)

    def _list_columns(self) -> dict[str, Any]:
        rows = tuple(self.rows)
        columns = {
            "rank": np.array([row.rank for row in rows], np.int64),
            "upto": np.array([row.upto for row in rows], np.int64),
            "item": make_texts(row.item for row in rows),
            "relevance": make_numbers(row.relevance for row in rows),
            "hit": np.array([row.hit for row in rows], bool),
            "precision": np.array([row.precision for row in rows]),
            "recall": np.array([row.recall for row in rows]),
        }
        if self.coverage:
            for name, column in zip(
                Coverage._fields, zip(*self.coverage, strict=True), strict=True
            ):
                columns[name] = make_texts(", ".join(map(str, subtopics)) for subtopics in column)
        for reading in self.readings:
            suffix = "" if len(self.readings) == 1 else f" of {reading.measure}"
            columns[f"term{suffix}"] = np.array(reading.terms)
            columns[f"sum{suffix}"] = np.array(reading.sums)
        return columns

    @property
    def differences(self) -> tuple[str, ...]:
        """The terms, or the norm, that make each further measure differ from the first."""
        first, *rest = self.readings
        return tuple(
            f"{reading.measure} is {reading.value:.4f}, {first.measure} {first.value:.4f}: "
            + self._explain_difference(first, reading)
            for reading in rest
        )

    def _explain_difference(self, first: Reading, second: Reading) -> str:
        differ = [
            i
            for i, terms in enumerate(zip(first.terms, second.terms, strict=True))
            if terms[0] != terms[1] and not math.isclose(*terms, rel_tol=1e-12)
        ]
        shown = differ if len(differ) <= 3 else differ[:2]
        apart = []
        for i in shown:
            rank = self.rows[i].rank
            adds, instead = second.write_term(i, rank), first.write_term(i, rank)
            apart.append(f"rank {rank} adds {adds} instead of {instead}")
        if len(shown) < len(differ):
            apart.append(f"{len(differ) - len(shown)} more ranks differ")
        if first.rest != second.rest:
            apart.append(f"items without a rank add {second.rest:.4g} instead of {first.rest:.4g}")
        if first.norm != second.norm:
            norms = [reading.divisor or f"{reading.norm:g}" for reading in (second, first)]
            apart.append("divided by {} instead of {}".format(*norms))
        return "; ".join(apart) or "the same terms and norm on this list"

    def beside(self, second: "Explanation", *, names: tuple[str, str] = ("A", "B")) -> Table:
        """Lay two lists side by side, with the terms in which they differ.

        >>> first, second = (germane.explain(grades, "AP@3") for grades in ([1, 0, 1], [0, 1, 1]))
        >>> print(first.beside(second).text())
        rank  A  B  AP@3 of A  AP@3 of B  differs
        ────  ─  ─  ─────────  ─────────  ───────
        1     1  0          1                   ●
        2     0  1                   1/2        ●
        3     1  1        2/3        2/3
        <BLANKLINE>
        AP@3 of A = (1 + 2/3) / min(2,3) = 0.8333
        AP@3 of B = (1/2 + 2/3) / min(2,3) = 0.5833
        <BLANKLINE>

        Raises InputError if the other explanation has other measures.
        """
        measures = [reading.measure for reading in self.readings]
        if measures != [reading.measure for reading in second.readings]:
            raise InputError("to lay two lists side by side, explain both with the same measures.")
        both = (self, second)
        by_rank = [explanation._list_terms() for explanation in both]
        rows = []
        for rank in range(1, max(map(len, by_rank)) + 1):
            places = [ranks[rank - 1] if rank <= len(ranks) else None for ranks in by_rank]
            grades = ["" if place is None else place[0] for place in places]
            terms = [
                ["" if place is None else place[1][i] for place in places]
                for i in range(len(measures))
            ]
            differs = any(a != b for a, b in terms)
            rows.append((str(rank), *grades, *chain(*terms), "●" if differs else ""))
        headings = [f"{measure} of {name}" for measure in measures for name in names]
        formulas = [
            reading.formula.replace(str(reading.measure), f"{reading.measure} of {name}", 1)
            for i in range(len(measures))
            for name, reading in zip(names, (self.readings[i], second.readings[i]), strict=True)
        ]
        return Table(("rank", *names, *headings, "differs"), tuple(rows), tuple(formulas))

    def _list_terms(self) -> list[tuple[str, list[str]]]:
        """List the grade at each rank as text, and the terms of all measures there."""
        ranks: list[tuple[str, list[str]]] = []
        for i, row in enumerate(self.rows):
            grade = "–" if row.relevance is None else f"{row.relevance:g}"
            terms = [
                reading.write_term(i, row.rank) if reading.terms[i] else ""
                for reading in self.readings
            ]
            ranks += [(grade, terms)] * (row.upto - row.rank + 1)  # a folded row adds nothing
        return ranks

    def __repr__(self) -> str:
        means = ", ".join(f"{r.measure}={r.value:.4f}" for r in self.readings)
        return f"<Explanation of {clip(self.query)}: {means}>"

    def _list_ranks(self) -> list[dict[str, Any]]:
        return [
            {**row._asdict(), **self._name_item(row.item), **self._name_subtopics(i)}
            for i, row in enumerate(self.rows)
        ]

    def _list_missed(self) -> list[dict[str, Any]]:
        return [{**self._name_item(item), "relevance": grade} for item, grade in self.missed]

    def _show_missed(self, item: Hashable | None) -> str:
        """Show the id of a missed item, and the beginning of its text."""
        name = _write_text(item) or ""
        text = " ".join(self.texts.get(name, "").split())
        return f"{name} ({text[:SHORT].rstrip()}{'…' * (len(text) > SHORT)})" if text else name

    def _name_item(self, item: Hashable | None) -> dict[str, str | None]:
        """Name an item by its id, and its text where there are texts."""
        name = _write_text(item)
        return {"item": name, "text": self.texts.get(str(name))} if self.texts else {"item": name}

    def _name_subtopics(self, i: int) -> dict[str, list[str]]:
        """Name the subtopics of a row by their ids, where measures look at them."""
        if not self.coverage:
            return {}
        return {name: list(map(str, ids)) for name, ids in self.coverage[i]._asdict().items()}

    def _write_text(self, row: Rank, digits: int | None) -> str:
        """Write the text of a row's item on one line; people get its beginning."""
        text = "" if row.item is None or row.upto > row.rank else self.texts.get(str(row.item), "")
        text = " ".join(text.split())
        return text if digits is None or len(text) <= WIDTH else text[: WIDTH - 1].rstrip() + "…"

    def _write_terms(
        self, i: int, row: Rank, sums: list[tuple[float, ...]], digits: int | None
    ) -> Iterator[str]:
        """Write the term of a row and the sum so far for each measure, where terms can be."""
        for reading, running in zip(self.readings, sums, strict=True):
            k = reading.measure.k
            if not reading.terms[i] and not (row.hit and (k is None or row.rank <= k)):
                yield from ("", "")
                continue
            yield repr(reading.terms[i]) if digits is None else reading.write_term(i, row.rank)
            yield format_number(running[i], digits)

    def _notes(self) -> Iterator[str]:
        if self.query_text:
            yield from (f"query {clip(self.query)}: {' '.join(self.query_text.split())}", "")
        for reading in self.readings:
            yield reading.formula
            if reading.divisor:
                yield f"  divided by {reading.divisor}"
            if reading.ties:
                yield f"  if ties were ordered differently: {reading.tie_values}"
        if differences := self.differences:
            yield ""
            yield from differences
        yield ""
        missed = ", ".join(self._show_missed(item) for item, _ in self.missed[:10])
        ending = ", …" * (len(self.missed) > 10)
        yield f"{self.relevant} relevant, {self.retrieved} retrieved, {len(self.missed)} missed" + (
            f": {missed}{ending}" if missed.strip(", ") else ""
        )
        if self.counted is not None:
            yield str(self.counted)
        if not self.answered:
            is_nan = self.policy is not None and self.policy.missing == "nan"
            how = "missing=nan makes it NaN" if is_nan else "missing=zero counts it as empty"
            yield f"the run has no results for query {clip(self.query)}: {how}"
        deepest = max((reading.measure.k or 0) for reading in self.readings)
        if deepest > self.retrieved and self.answered:
            yield (
                f"the list ends at rank {self.retrieved}, so nothing more is found up to rank"
                f" {deepest}"
            )
        for reading in self.readings:
            yield f"{reading.measure}: {reading.measure.definition}"
        if self.policy is not None:
            yield f"policy: {self.policy}"


def _write_rank(row: Rank, named: bool, tied: bool, digits: int | None) -> Iterator[str]:
    """Write the cells of a rank, or of several, that are alike for all measures."""
    folded = row.upto > row.rank
    yield f"{row.rank}–{row.upto}" if folded else str(row.rank)
    if named:
        yield "…" if folded else "?" if row.item is None else str(row.item)
    yield "…" if folded else "–" if row.relevance is None else f"{row.relevance:g}"
    yield "●" if row.hit and not folded else ""
    yield format_number(row.precision, digits)
    yield format_number(row.recall, digits)
    if tied:
        yield f"{row.tied[0]}–{row.tied[1]}" if row.tied else ""


def write_term(measure: Measure, term: float, rank: int) -> str:
    """Write a term as people do: 1, 2/5, 3/log2(3), or four decimals."""
    if abs(term - round(term)) < 1e-12:
        return str(round(term))
    divisor, text = float(rank), str(rank)
    if "log2(i+1)" in measure.definition:
        divisor, text = math.log2(rank + 1), f"log2({rank + 1})"
    above = term * divisor
    if abs(above - round(above)) < 1e-9 * max(above, 1):
        return f"{round(above)}/{text}"
    return f"{term:.4f}"


def _write_text(item: Hashable | None) -> str | None:
    return None if item is None else str(item)
