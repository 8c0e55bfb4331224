"""Explanation: why one list's measures have the values they have, rank by rank."""

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from germane.errors import clip
from germane.judging import Policy
from germane.measure import Measure
from germane.tables import Table


@dataclass(frozen=True)
class Rank:
    """One rank of the list, or several without anything judged."""

    rank: int
    upto: int  # the last rank of the row; more than rank where rows are folded
    item: Hashable | None  # None: not known, since nobody judged it
    relevance: float | None  # None: not judged
    hit: bool
    precision: float
    recall: float
    tied: tuple[int, int] | None  # the ranks that its group of equal scores occupies


@dataclass(frozen=True)
class Reading:
    """One measure of the list: its term at each row, what they are divided by, and its value."""

    measure: Measure
    terms: tuple[float, ...]  # one a row
    rest: float  # what items outside the rows contribute
    norm: float
    divisor: str  # how the norm comes about: 'min(R,10) = min(3,10) = 3'
    formula: str  # the formula with the numbers put in
    value: float
    ties: Mapping[str, float]  # the value under other orders of ties, where there are any

    def written(self, i: int, rank: int) -> str:
        """A row's term as people write it: 1, 2/5, 3/log2(3), or four decimals."""
        return written(self.measure, self.terms[i], rank)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why one query's measures have the values they have.

    >>> print(germane.explain([1, 0, 1], "AP@3", relevant=4).readings[0].formula)
    AP@3 = (1 + 2/3) / min(4,3) = 0.5556

    Rows are ranks; ``readings`` holds one Reading a measure. ``missed`` are the relevant items that
    were not retrieved, with their grades. It prints as a table; ``markdown()``, ``latex()`` and
    ``to_dict()`` write it otherwise.
    """

    query: Hashable
    rows: tuple[Rank, ...]
    readings: tuple[Reading, ...]
    missed: tuple[tuple[Hashable | None, float], ...]
    relevant: int
    retrieved: int
    policy: Policy | None = None  # the conventions; bare grades have none

    def table(self, *, digits: int | None = 4) -> Table:
        """Ranks as rows; one column of terms a measure, and the running sum of a single one.

        ``digits=None`` gives all digits, and terms as decimals.
        """
        named = any(row.item is not None for row in self.rows)
        tied = any(row.tied for row in self.rows)
        columns = ["rank", *(["item"] if named else []), "relevance", "hit", "P@rank", "recall"]
        columns += ["tie"] if tied else []
        if len(self.readings) == 1:
            columns += ["term", "sum"]
        else:
            columns += [str(reading.measure) for reading in self.readings]
        rows = [
            (*self._place(row, named), *self._numbers(i, row, tied, digits))
            for i, row in enumerate(self.rows)
        ]
        if len(self.readings) == 1:
            sums = accumulate(self.readings[0].terms)
            rows = [
                (*row, _decimal(total, digits) if row[-1] else "")
                for row, total in zip(rows, sums, strict=True)
            ]
        return Table(tuple(columns), tuple(rows), tuple(self._notes()), left=(1,) if named else ())

    @property
    def differences(self) -> tuple[str, ...]:
        """What makes each further measure differ from the first: its terms, or its norm."""
        first, *others = self.readings
        return tuple(
            f"{other.measure} is {other.value:.4f}, {first.measure} {first.value:.4f}: "
            + self._difference(first, other)
            for other in others
        )

    def _difference(self, one: Reading, other: Reading) -> str:
        apart = [
            f"rank {row.rank} adds {other.written(i, row.rank)} instead of {one.written(i, row.rank)}"
            for i, row in enumerate(self.rows)
            if not math.isclose(one.terms[i], other.terms[i], rel_tol=1e-12)
        ]
        if len(apart) > 3:
            apart[2:] = [f"{len(apart) - 2} more ranks differ"]
        if one.rest != other.rest:
            apart.append(f"what has no rank adds {other.rest:.4g} instead of {one.rest:.4g}")
        if one.norm != other.norm:
            norms = [reading.divisor or f"{reading.norm:g}" for reading in (other, one)]
            apart.append("divided by {} instead of {}".format(*norms))
        return "; ".join(apart) or "the same terms and norm on this list"

    def __str__(self) -> str:
        return self.table().text()

    def __repr__(self) -> str:
        means = ", ".join(f"{r.measure}={r.value:.4f}" for r in self.readings)
        return f"<Explanation of {clip(self.query)}: {means}>"

    def markdown(self) -> str:
        """A GitHub table."""
        return self.table().markdown()

    def latex(self) -> str:
        """A booktabs table."""
        return self.table().latex()

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema."""
        return {
            "schema": 1,
            "query": str(self.query),
            "relevant": self.relevant,
            "retrieved": self.retrieved,
            "policy": None if self.policy is None else self.policy.to_dict(),
            "ranks": [_rank_dict(row) for row in self.rows],
            "missed": [{"item": _text(item), "relevance": grade} for item, grade in self.missed],
            "differences": list(self.differences),
            "measures": [
                {
                    "measure": str(reading.measure),
                    "definition": reading.measure.definition,
                    "terms": list(reading.terms),
                    "rest": reading.rest,
                    "norm": reading.norm,
                    "divisor": reading.divisor,
                    "formula": reading.formula,
                    "value": _finite(reading.value),
                    "ties": {order: _finite(value) for order, value in reading.ties.items()},
                }
                for reading in self.readings
            ],
        }

    def _place(self, row: Rank, named: bool) -> tuple[str, ...]:
        if row.upto > row.rank:
            return (f"{row.rank}–{row.upto}", *(["…"] if named else []), "…", "")
        item = "?" if row.item is None else str(row.item)
        grade = "–" if row.relevance is None else f"{row.relevance:g}"
        return (str(row.rank), *([item] if named else []), grade, "●" if row.hit else "")

    def _numbers(self, i: int, row: Rank, tied: bool, digits: int | None) -> tuple[str, ...]:
        cells = [_decimal(row.precision, digits), _decimal(row.recall, digits)]
        if tied:
            cells.append(f"{row.tied[0]}–{row.tied[1]}" if row.tied else "")
        return (*cells, *(self._term(reading, i, digits) for reading in self.readings))

    def _term(self, reading: Reading, i: int, digits: int | None) -> str:
        row, k = self.rows[i], reading.measure.k
        if not reading.terms[i] and not (row.hit and (k is None or row.rank <= k)):
            return ""
        return repr(reading.terms[i]) if digits is None else reading.written(i, row.rank)

    def _notes(self) -> Iterator[str]:
        for reading in self.readings:
            yield reading.formula
            if reading.divisor:
                yield f"  divided by {reading.divisor}"
            if reading.ties:
                orders = ", ".join(f"{order} {value:.4f}" for order, value in reading.ties.items())
                yield f"  if ties were ordered otherwise: {orders}"
        if self.differences:
            yield ""
            yield from self.differences
        yield ""
        missed = ", ".join(_text(item) or "" for item, _ in self.missed[:10])
        more = ", …" * (len(self.missed) > 10)
        yield (
            f"{self.relevant} relevant, {self.retrieved} retrieved, {len(self.missed)} missed"
            + (f": {missed}{more}" if missed.strip(", ") else "")
        )
        deepest = max((reading.measure.k or 0) for reading in self.readings)
        if deepest > self.retrieved:
            yield f"the list ends at rank {self.retrieved}; up to {deepest} nothing more is found"
        for reading in self.readings:
            yield f"{reading.measure}: {reading.measure.definition}"
        if self.policy is not None:
            yield f"policy: {self.policy}"


def written(measure: Measure, term: float, rank: int) -> str:
    """A term as people write it: 1, 2/5, 3/log2(3), or four decimals."""
    if abs(term - round(term)) < 1e-12:
        return str(round(term))
    divisor, text = float(rank), str(rank)
    if "log2(i+1)" in measure.definition:
        divisor, text = math.log2(rank + 1), f"log2({rank + 1})"
    above = term * divisor
    if abs(above - round(above)) < 1e-9 * max(above, 1):
        return f"{round(above)}/{text}"
    return f"{term:.4f}"


def _decimal(number: float, digits: int | None) -> str:
    return repr(number) if digits is None else f"{number:.{digits}f}"


def _rank_dict(row: Rank) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "upto": row.upto,
        "item": _text(row.item),
        "relevance": row.relevance,
        "hit": row.hit,
        "precision": row.precision,
        "recall": row.recall,
        "tied": row.tied,
    }


def _text(item: Hashable | None) -> str | None:
    return None if item is None else str(item)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
