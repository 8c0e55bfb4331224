"""trec_eval's values, from germane's measures.

Where the two define a measure alike, the value is germane's. The functions of _OWN are the rest:
values that trec_eval derives from others, or rounds differently from germane in the last bit, which
can be seen in the fourth decimal of a short fraction; and its peculiarities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from germane._ragged import Bools, Floats
from germane.averaging import FLOOR, scores
from germane.measure import Measure, parse
from germane.measures import values
from germane.ranking import Ranking
from germane.trec_eval import gains, persistence
from germane.trec_eval.columns import Column
from germane.trec_eval.status import QUERY, TrecEvalError


@dataclass(eq=False)
class Scorer:
    """Computes columns for one ranking; values that several columns need are computed once."""

    ranking: Ranking
    level: int
    documents: int

    def __post_init__(self) -> None:
        self._kept: dict[Measure, Floats] = {}

    def column(self, column: Column) -> Floats:
        """Q: the value of every query."""
        if column.measure in _OWN:
            return _OWN[column.measure](self, column)
        return self.named(column.row.germane.format(column.argument))

    def named(self, name: str) -> Floats:
        """Q: a measure of germane's, with -l for what is relevant."""
        measure = parse(name)
        if measure.rel is not None and self.level != 1:
            measure = measure(rel=self.level)
        if measure not in self._kept:
            self._kept[measure] = scores(measure, self.ranking, "zero")
        return self._kept[measure]

    @property
    def empty(self) -> Bools:
        """Q: is nothing retrieved?"""
        empty: Bools = self.ranking.retrieved == 0
        return empty


# --- What trec_eval derives ------------------------------------------------------------------------


def _logarithm(scorer: Scorer, column: Column) -> Floats:
    """Geometric means add up logarithms; the C library's, since NumPy's may differ in the last bit."""
    found = scorer.named(column.row.germane).tolist()
    return np.array([math.log(max(value, FLOOR)) for value in found])


def _set_map(scorer: Scorer, column: Column) -> Floats:
    found, retrieved, relevant = map(scorer.named, ("NumRelRet", "NumRet", "NumRel"))
    return _ratio(found * found, retrieved * relevant)


def _set_f(scorer: Scorer, column: Column) -> Floats:
    """F from precision and recall; the parameter is beta squared."""
    precision, recall = scorer.named("P"), scorer.named("R")
    x = column.argument[0]
    return _ratio((x + 1.0) * precision * recall, x * precision + recall)


def _utility(scorer: Scorer, column: Column) -> Floats:
    if len(column.argument) != 4:
        raise TrecEvalError(
            QUERY, f"-m utility.{column.parameters} takes four numbers, as in 1,-1,0,0."
        )
    found, retrieved, relevant = map(scorer.named, ("NumRelRet", "NumRet", "NumRel"))
    rejected = scorer.documents + found - retrieved - relevant
    hit, noise, miss, rest = column.argument
    worth: Floats = (
        hit * found + noise * (retrieved - found) + miss * (relevant - found) + rest * rejected
    )
    return worth


def _ratio(above: Floats, below: Floats) -> Floats:
    out: Floats = np.divide(above, below, out=np.zeros(len(above)), where=below != 0)
    return out


# --- Interpolated precision ------------------------------------------------------------------------


def _interpolated(scorer: Scorer, column: Column) -> Floats:
    return _at_recall(scorer, column.argument)


def _mean_interpolated(scorer: Scorer, column: Column) -> Floats:
    """The mean over recall levels, added up from the highest."""
    total = np.zeros(len(scorer.ranking))
    for level in sorted(column.argument, reverse=True):
        total = total + _at_recall(scorer, level)
    return total / len(column.argument)


def _at_recall(scorer: Scorer, level: float) -> Floats:
    """0 items found of 0 is not a number where nothing is retrieved and nothing needed."""
    best = scorer.named(f"IPrec(recall={min(max(level, 0.0), 1.0)!r},rounding=nearest)")
    relevant = scorer.named("NumRel")
    needed = np.floor(level * relevant + 0.5)
    if level > 1:
        best = np.where(needed <= relevant, best, 0.0)
    return np.where(scorer.empty & (needed <= 0), math.nan, best)


def _r_precision(scorer: Scorer, column: Column) -> Floats:
    if 0 < column.argument < 1e6:  # what germane's takes
        return scorer.named(column.row.germane.format(column.argument))
    cutoff = np.floor(column.argument * scorer.named("NumRel") + 0.9)
    return _ratio(scorer.named("NumRelRet"), np.maximum(cutoff, 0.0))


# --- Gains and persistence -------------------------------------------------------------------------


def _gained(scorer: Scorer, column: Column) -> Floats:
    made = gains.scored(scorer.ranking, parse(column.row.germane), column.argument)
    return values(scorer.ranking, made)


def _at_levels(scorer: Scorer, column: Column) -> Floats:
    """Rndcg asks for a relevant item, though lower grades have gains, and divides by 0 levels."""
    made = gains.scored(scorer.ranking, parse(column.row.germane), column.argument)
    found = values(scorer.ranking, made)
    found[made.norm == 0] = math.nan
    return np.where(scorer.named("NumRel") > 0, found, 0.0)


_OWN: dict[str, Callable[[Scorer, Column], Floats]] = {
    "gm_map": _logarithm,
    "gm_bpref": _logarithm,
    "iprec_at_recall": _interpolated,
    "11pt_avg": _mean_interpolated,
    "Rprec_mult": _r_precision,
    "Rprec_mult_avgjg": _r_precision,
    "utility": _utility,
    "set_map": _set_map,
    "set_F": _set_f,
    "G": _gained,
    "dcg": _gained,
    "ideal_dcg": _gained,
    "ndcg": _gained,
    "ndcg_rel": _gained,
    "Rndcg": _at_levels,
    "rbp": lambda scorer, column: persistence.precision(scorer.ranking, column.argument),
    "rbp_resid": lambda scorer, column: persistence.residual(scorer.ranking, column.argument),
}
