"""Explain a number rank by rank, from the terms and the norm that made it."""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from germane.averaging import kernel, scores
from germane.errors import MeasureError, clip
from germane.evaluate import Choices
from germane.listed import Listed, is_list, of_grades, of_query
from germane.measure import Measure, Measures, parse_all
from germane.measures import values
from germane.ranking import Ranking
from germane.retrieval import Qrels
from germane.tables import Table

SHORT = 30  # lists up to this length are shown rank by rank, longer ones are folded between hits


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

    def table(self) -> Table:
        """Ranks as rows; one column of terms a measure, and the running sum of a single one."""
        named = any(row.item is not None for row in self.rows)
        tied = any(row.tied for row in self.rows)
        columns = ["rank", *(["item"] if named else []), "relevance", "P@rank", "recall"]
        columns += ["tie"] if tied else []
        if len(self.readings) == 1:
            columns += ["term", "sum"]
        else:
            columns += [str(reading.measure) for reading in self.readings]
        rows = [self._cells(i, row, named, tied) for i, row in enumerate(self.rows)]
        return Table(tuple(columns), tuple(rows), tuple(self._notes()), left=(1,) if named else ())

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
            "ranks": [_plain(row) for row in self.rows],
            "missed": [{"item": _text(item), "relevance": grade} for item, grade in self.missed],
            "measures": [
                {
                    "measure": str(reading.measure),
                    "definition": reading.measure.definition,
                    "terms": list(reading.terms),
                    "rest": reading.rest,
                    "norm": reading.norm,
                    "divisor": reading.divisor,
                    "formula": reading.formula,
                    "value": reading.value,
                    "ties": dict(reading.ties),
                }
                for reading in self.readings
            ],
        }

    def _cells(self, i: int, row: Rank, named: bool, tied: bool) -> tuple[str, ...]:
        if row.upto > row.rank:
            cells = [f"{row.rank}–{row.upto}", *(["…"] if named else []), "…"]
        else:
            grade = "–" if row.relevance is None else f"{row.relevance:g}"
            cells = [str(row.rank), *([_text(row.item) or "?"] if named else []), grade]
        cells += [f"{row.precision:.4f}", f"{row.recall:.4f}"]
        if tied:
            cells.append(f"{row.tied[0]}–{row.tied[1]}" if row.tied else "")
        terms = [reading.terms[i] for reading in self.readings]
        cells += [self._term(reading, i) for reading in self.readings]
        if len(self.readings) == 1:
            total = math.fsum(self.readings[0].terms[: i + 1])
            cells.append(f"{total:.4f}" if terms[0] else "")
        return tuple(cells)

    def _term(self, reading: Reading, i: int) -> str:
        row, k = self.rows[i], reading.measure.k
        counted = row.hit and (k is None or row.rank <= k)
        return reading.written(i, row.rank) if reading.terms[i] or counted else ""

    def _notes(self) -> Iterator[str]:
        for reading in self.readings:
            yield reading.formula
            if reading.divisor:
                yield f"  divided by {reading.divisor}"
            if reading.ties:
                orders = ", ".join(f"{order} {value:.4f}" for order, value in reading.ties.items())
                yield f"  if ties were ordered otherwise: {orders}"
        yield ""
        yield f"{self.relevant} relevant, {self.retrieved} retrieved, {len(self.missed)} missed" + (
            ": " + ", ".join(_text(item) or "?" for item, _ in self.missed[:10])
            if any(item is not None for item, _ in self.missed)
            else ""
        )
        for reading in self.readings:
            yield f"{reading.measure}: {reading.measure.definition}"


def explain(
    qrels: Any,
    run: Any = None,
    measures: Measures = "AP",
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | None = None,
    **policy: Unpack[Choices],
) -> Explanation:
    """Explain one query's measures rank by rank.

    >>> print(germane.explain([0, 0, 1, 0, 1], "AP@5", relevant=3).readings[0].formula)
    AP@5 = (1/3 + 2/5) / min(3,5) = 0.2444

    Either ``explain(qrels, run, measures, query=…)`` with what ``evaluate`` takes, or
    ``explain(grades, measures, relevant=…)`` with what ``score`` takes. Several measures stand side
    by side. Raises AbsentError for a query that nobody judged, and what ``evaluate`` raises.
    """
    chosen = parse_all(("AP" if run is None else run) if is_list(qrels) else measures)
    rel = _level(chosen)
    if is_list(qrels):
        listed = of_grades(qrels, relevant, rel)
    else:
        listed = of_query(qrels, run, query, {**policy}, refused=("expected", "grouped"))
    return _explanation(listed, chosen, rel)


def _level(measures: tuple[Measure, ...]) -> float:
    """The one grade from which items are relevant, to the measures as in the columns beside them."""
    levels = {measure.rel for measure in measures if measure.rel is not None} or {1.0}
    if len(levels) > 1:
        raise MeasureError("measures with different rel count different hits; explain them apart.")
    return levels.pop()


def _explanation(listed: Listed, measures: tuple[Measure, ...], rel: float) -> Explanation:
    ranking, qrels = listed.ranking, listed.qrels
    starts = _row_starts(ranking, measures)
    rows = tuple(_rank(ranking, rel, qrels, start, upto) for start, upto in starts)
    return Explanation(
        query=ranking.queries[0],
        rows=rows,
        readings=tuple(_reading(m, ranking, rows, listed.ordered) for m in measures),
        missed=tuple(_missed(ranking, rel, qrels)),
        relevant=int(ranking.total(rel)[0]),
        retrieved=int(ranking.retrieved[0]),
    )


def _row_starts(ranking: Ranking, measures: tuple[Measure, ...]) -> list[tuple[int, int]]:
    """The first and last rank of each row: hits alone, and what is between them together.

    What no measure looks at, beyond the largest cutoff, is one row.
    """
    last = int(ranking.retrieved[0])
    if last <= SHORT:
        return [(rank, rank) for rank in range(1, last + 1)]
    cutoffs = [last if measure.k is None else measure.k for measure in measures]
    shown = min(last, max(cutoffs))
    rows, at = [], 1
    for rank in [*ranking.rank[ranking.rank <= shown].tolist(), shown + 1, last + 1]:
        if at < rank:
            rows.append((at, rank - 1))
        if rank <= shown:
            rows.append((rank, rank))
            at = rank + 1
        else:
            at = rank
    return rows


def _rank(ranking: Ranking, rel: float, qrels: Qrels | None, start: int, upto: int) -> Rank:
    found, total = int(ranking.found(rel, upto)[0]), int(ranking.total(rel)[0])
    precision, recall = found / upto, found / total if total else 0.0
    here = np.flatnonzero(ranking.rank == start)
    if not len(here):
        return Rank(start, upto, None, None, False, precision, recall, None)
    h = int(here[0])
    item = qrels.items[int(ranking.judgment[h])] if qrels and ranking.judgment is not None else None
    first, last = int(ranking.tied_from[h]), int(ranking.tied_to[h])
    tied = (first, last) if last > first else None
    grade = float(ranking.relevance[h])
    return Rank(start, upto, item, grade, grade >= rel, precision, recall, tied)


def _reading(
    measure: Measure,
    ranking: Ranking,
    rows: tuple[Rank, ...],
    ordered: Callable[[Any], Ranking | None],
) -> Reading:
    scored = kernel(measure, ranking)
    at = dict(zip(ranking.rank.tolist(), scored.terms.tolist(), strict=True))
    terms = tuple(at.get(row.rank, 0.0) for row in rows)
    rest = float(np.broadcast_to(scored.rest, 1)[0])
    norm, value = float(scored.norm[0]), float(values(ranking, scored)[0])
    ties = {}
    for order in ("expected", "best", "worst"):
        other = ordered(order)
        if other is not None and (order != "expected" or measure.row.expected):
            ties[order] = float(scores(measure, other, "zero")[0])
    symbolic, numeric = _divisor(measure, ranking)
    divisor = ""
    if symbolic:
        divisor = symbolic if symbolic == numeric else f"{symbolic} = {numeric}"
        if divisor.rpartition("= ")[2] != f"{norm:g}":
            divisor += f" = {norm:.4g}"
    summed = [
        written(measure, term, row.rank) for term, row in zip(terms, rows, strict=True) if term
    ]
    if rest:
        summed.append(f"{rest:.4g}")
    total = " + ".join(summed).replace("+ -", "- ") or "0"
    if scored.link is not None:
        formula = f"{measure}: S = {total}, value {value:.4f}"
    elif measure.row.norm is None:
        formula = f"{measure} = {total}"
        formula += "" if total == f"{value:g}" else f" = {value:.4f}"
    else:
        shown = numeric if re.fullmatch(r"[\d.]+|min\([\d.,]+\)|\(.*\)", numeric) else f"{norm:.4g}"
        formula = f"{measure} = ({total}) / {shown} = {value:.4f}"
    return Reading(measure, terms, rest, norm, divisor, formula, value, ties)


def _divisor(measure: Measure, ranking: Ranking) -> tuple[str, str]:
    """What a measure divides by, in symbols and with the numbers put in."""
    row = measure.row
    if row.norm is None:
        return "", ""
    parameters = dict(measure.parameters)
    rel = 1.0 if measure.rel is None else measure.rel
    symbolic = row.norm(measure.k, parameters)
    numbers = {
        r"relevant items found( in the first \d+)?": int(ranking.found(rel, measure.k)[0]),
        r"\bR\b": int(ranking.total(rel)[0]),
        r"\bN\b": int(ranking.retrieved[0]),
        r"β²": f"{float(parameters.get('beta', 1)) ** 2:g}",
    }
    numeric = symbolic
    for pattern, number in numbers.items():
        numeric = re.sub(pattern, str(number), numeric)
    return symbolic, numeric.partition(", β")[0]


def _missed(
    ranking: Ranking, rel: float, qrels: Qrels | None
) -> Iterator[tuple[Hashable | None, float]]:
    """The relevant items that were not retrieved, highest grade first."""
    if qrels is None or ranking.judgment is None:
        left = ranking.ideal[ranking.ideal >= rel].tolist()
        for grade in ranking.relevance[ranking.relevant(rel)].tolist():
            left.remove(grade)
        yield from ((None, grade) for grade in left)
        return
    got = set(ranking.judgment.tolist())
    missed = [
        (item, grade)
        for j, (item, grade) in enumerate(zip(qrels.items, qrels.grades.tolist(), strict=True))
        if grade >= rel and j not in got
    ]
    yield from sorted(missed, key=lambda pair: -pair[1])


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


def _plain(row: Rank) -> dict[str, Any]:
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
