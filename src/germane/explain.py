"""Explain a number rank by rank, from the terms and the norm that made it."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from functools import partial
from typing import Any, Unpack

import numpy as np

from germane._ragged import Bools, Ints
from germane.averaging import kernel, scores
from germane.errors import MeasureError
from germane.evaluate import Choices
from germane.explanation import Explanation, Rank, Reading, written
from germane.listed import Listed, is_list, one_list
from germane.measure import Measure, Measures, parse_all
from germane.measures import Scored
from germane.ranking import Ranking
from germane.result import number
from germane.retrieval import Qrels
from germane.sources import Progress

WRITTEN = 24  # terms of a formula that are written out; of more than these, half
SHORT = 30  # lists up to this length are shown rank by rank, longer ones are folded between hits


def explain(
    qrels: Any,
    run: Any = None,
    measures: Measures = "AP",
    *,
    query: Hashable | None = None,
    relevant: int | Iterable[float] | None = None,
    progress: Progress | None = None,
    **policy: Unpack[Choices],
) -> Explanation:
    """Explain one query's measures rank by rank.

    >>> print(germane.explain([0, 0, 1, 0, 1], "AP@5", relevant=3).readings[0].formula)
    AP@5 = (1/3 + 2/5) / min(3,5) = 0.2444

    Either ``explain(qrels, run, measures, query=…)`` with what ``evaluate`` takes, or
    ``explain(grades, measures, relevant=…)`` with what ``score`` takes. Several measures stand side
    by side, with the ranks and the norm that make them differ from the first. Raises AbsentError for
    a query that nobody judged, CoverageError for one that the run lacks, PolicyError for
    ``ties="expected"`` and ``"grouped"``, which are no order of single items, and what ``evaluate``
    raises.
    """
    chosen = parse_all(("AP" if run is None else run) if is_list(qrels, run, policy) else measures)
    rel = _level(chosen)
    listed = one_list(
        qrels,
        None if is_list(qrels, run, policy) else run,
        query,
        relevant,
        rel,
        chosen,
        {**policy},
        ("expected", "grouped"),
        progress,
    )
    return _explanation(listed, chosen, rel)


def _level(measures: tuple[Measure, ...]) -> float:
    """The one grade from which items are relevant, to the measures as in the columns beside them."""
    levels = {measure.rel for measure in measures if measure.rel is not None} or {1.0}
    if len(levels) > 1:
        raise MeasureError("measures with different rel count different hits; explain them apart.")
    return levels.pop()


def _explanation(listed: Listed, measures: tuple[Measure, ...], rel: float) -> Explanation:
    ranking, qrels = listed.ranking, listed.qrels
    scored = [kernel(measure, ranking) for measure in measures]
    speaks = ranking.relevant(rel) | np.any([one.terms != 0 for one in scored], axis=0)
    starts = _row_starts(ranking, speaks, measures)
    hits = ranking.rank[ranking.relevant(rel)]
    rows = tuple(_rank(listed, rel, hits, start, upto) for start, upto in starts)
    return Explanation(
        query=ranking.queries[0],
        rows=rows,
        readings=tuple(map(partial(_reading, listed, rows), measures, scored)),
        missed=tuple(_missed(ranking, rel, qrels)),
        relevant=int(ranking.total(rel)[0]),
        retrieved=int(ranking.retrieved[0]),
        policy=listed.policy,
    )


def _row_starts(
    ranking: Ranking, speaks: Bools, measures: tuple[Measure, ...]
) -> list[tuple[int, int]]:
    """The first and last rank of each row: alone what is relevant or adds a term, the rest together.

    What no measure looks at, beyond the largest cutoff, is one row.
    """
    last = int(ranking.retrieved[0])
    if last <= SHORT:
        return [(rank, rank) for rank in range(1, last + 1)]
    cutoffs = [last if measure.k is None else measure.k for measure in measures]
    shown = min(last, max(cutoffs))
    rows, at = [], 1
    for rank in [*ranking.rank[speaks & (ranking.rank <= shown)].tolist(), shown + 1, last + 1]:
        if at < rank:
            rows.append((at, rank - 1))
        if rank <= shown:
            rows.append((rank, rank))
            at = rank + 1
        else:
            at = rank
    return rows


def _rank(listed: Listed, rel: float, hits: Ints, start: int, upto: int) -> Rank:
    ranking, qrels = listed.ranking, listed.qrels
    found, total = int(np.searchsorted(hits, upto, "right")), int(ranking.total(rel)[0])
    precision, recall = found / upto, found / total if total else 0.0
    h = int(np.searchsorted(ranking.rank, start))
    if upto > start:
        return Rank(start, upto, None, None, False, precision, recall, None)
    if h == len(ranking.rank) or ranking.rank[h] != start:
        item, first, last = listed.places.get(start, (None, start, start))
        tied = (first, last) if last > first else None
        return Rank(start, upto, item, None, False, precision, recall, tied)
    item = qrels.items[int(ranking.judgment[h])] if qrels and ranking.judgment is not None else None
    first, last = int(ranking.tied_from[h]), int(ranking.tied_to[h])
    tied = (first, last) if last > first else None
    grade = float(ranking.relevance[h])
    return Rank(start, upto, item, grade, grade >= rel, precision, recall, tied)


def _reading(listed: Listed, rows: tuple[Rank, ...], measure: Measure, scored: Scored) -> Reading:
    ranking = listed.ranking
    at = dict(zip(ranking.rank.tolist(), scored.terms.tolist(), strict=True))
    terms = tuple(at.get(row.rank, 0.0) for row in rows)
    rest = float(np.broadcast_to(scored.rest, 1)[0])
    no_relevant = listed.policy.no_relevant if listed.policy else "zero"
    norm, value = float(scored.norm[0]), float(scores(measure, ranking, no_relevant)[0])
    ties = {}
    for order in ("expected", "best", "worst"):
        other = listed.ordered(order)
        if other is not None and (order != "expected" or measure.row.expected):
            ties[order] = float(scores(measure, other, no_relevant)[0])
    summed = [
        written(measure, term, row.rank) for term, row in zip(terms, rows, strict=True) if term
    ]
    if rest:
        summed.append(_short(rest))
    if len(summed) > WRITTEN:
        more = math.fsum(terms) + rest - math.fsum([term for term in terms if term][: WRITTEN // 2])
        summed[WRITTEN // 2 :] = [f"… {len(summed) - WRITTEN // 2} more that add {more:.4f}"]
    total = " + ".join(summed).replace("+ -", "- ").replace("+ …", "…") or "0"
    if scored.relevant is not None and not scored.relevant[0]:
        counts = "left out" if math.isnan(value) else f"{value:.4f}"
        formula = f"{measure} is not defined without relevant items; "
        formula += f"no_relevant={no_relevant}: {counts}"
        return Reading(measure, terms, rest, norm, "", formula, value, ties)
    symbolic, numeric, note = _divisor(measure, ranking)
    formula = _formula(measure, ranking, total, numeric, norm, value, scored.link is not None)
    divisor = " = ".join(
        dict.fromkeys(filter(None, (symbolic, numeric, symbolic and _short(norm))))
    )
    return Reading(measure, terms, rest, norm, divisor + note, formula, value, ties)


def _formula(
    measure: Measure,
    ranking: Ranking,
    total: str,
    numeric: str,
    norm: float,
    value: float,
    linked: bool,
) -> str:
    """The formula with the numbers put in."""
    shown = number(value, measure, 4)
    if linked:  # a function of the sum S, as in 'ln((1 + S) ÷ (1 + R - S)), S = …'
        function = measure.definition.partition(", S =")[0]
        relevant = int(ranking.total(measure.rel or 0.0)[0])
        function = re.sub(r"\bR\b", str(relevant), function)
        return f"{measure} = {function} = {shown}, S = {total}"
    if measure.row.norm is None:
        return f"{measure} = {total}" + ("" if total in (shown, f"{value:g}") else f" = {shown}")
    simple = re.fullmatch(r"[\d.]+|min\([\d.,]+\)|\(.*\)", numeric)
    return f"{measure} = ({total}) / {numeric if simple else _short(norm)} = {shown}"


def _short(value: float) -> str:
    """Whole as it is, or with four decimals."""
    return f"{value:.0f}" if value == round(value) else f"{value:.4f}"


def _divisor(measure: Measure, ranking: Ranking) -> tuple[str, str, str]:
    """What a measure divides by, in symbols and with the numbers put in, and a note to it."""
    row = measure.row
    if row.norm is None:
        return "", "", ""
    parameters = dict(measure.parameters)
    rel = 1.0 if measure.rel is None else measure.rel
    symbolic, comma, note = row.norm(measure.k, parameters).partition(", ")
    numbers = {
        r"relevant items found( in the first \d+)?": int(ranking.found(rel, measure.k)[0]),
        r"\bR\b": int(ranking.total(rel)[0]),
        r"\bN\b": int(ranking.retrieved[0]),
        r"β²": f"{float(parameters.get('beta', 1)) ** 2:g}",
    }
    numeric = symbolic
    for pattern, known in numbers.items():
        numeric = re.sub(pattern, str(known), numeric)
    return symbolic, numeric, comma + note


def _missed(
    ranking: Ranking, rel: float, qrels: Qrels | None
) -> Iterator[tuple[Hashable | None, float]]:
    """The relevant items that were not retrieved, highest grade first."""
    if qrels is None or ranking.judgment is None:
        left = Counter(ranking.ideal[ranking.ideal >= rel].tolist())
        left -= Counter(ranking.relevance[ranking.relevant(rel)].tolist())
        yield from ((None, grade) for grade in left.elements())
        return
    got = set(ranking.judgment.tolist())
    missed = [
        (item, grade)
        for j, (item, grade) in enumerate(zip(qrels.items, qrels.grades.tolist(), strict=True))
        if grade >= rel and j not in got
    ]
    yield from sorted(missed, key=lambda pair: -pair[1])
