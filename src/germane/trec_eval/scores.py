"""trec_eval's values, from germane's measures.

If the two define a measure alike, the value is germane's. The functions of _OWN compute the rest:
values that trec_eval derives from others, values that it rounds differently in the last bit (which
can change the fourth decimal of a short fraction), and its peculiarities.

If several groups of people judged a query, each group is evaluated as a query of its own, and the
values of the groups are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from germane.core.qrels import Qrels
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.core.retrieved import Retrieved
from germane.dialects.names import parse
from germane.kernel.ids import to_text
from germane.measures import compute_values
from germane.measures.averaging import FLOOR, compute_scores, compute_terms
from germane.measures.measure import Measure
from germane.trec_eval import gains
from germane.trec_eval.columns import Column
from germane.trec_eval.judgments import Line, make_group_qrels
from germane.trec_eval.options import QUERY, Options, TrecEvalError
from germane.trec_eval.ranking import DOWN, UP, list_from_end, list_from_top, make_ranking


def make_scorer(ranking: Ranking, options: Options) -> Callable[[Column], Floats]:
    """Make the function that computes a column: one value for every query of the ranking."""
    level, settings = options.level, (options.documents, options.rounding)
    judged = Scorer(ranking, max(level, 0), *settings)
    if level >= 0:
        return judged.compute_column
    down = _Listed(list_from_top(ranking, level), 1, *settings)
    up = Scorer(list_from_end(ranking, level), 1, *settings)
    by_measure = {**dict.fromkeys(DOWN, down), **dict.fromkeys(UP, up)}
    return lambda column: by_measure.get(column.measure, judged).compute_column(column)


@dataclass(eq=False)
class Scorer:
    """Computes columns for one ranking, and keeps values that several columns need."""

    ranking: Ranking
    level: int
    documents: int
    rounding: str  # of recall levels

    def __post_init__(self) -> None:
        self._kept: dict[Measure, Floats] = {}

    @np.errstate(all="ignore")  # C divides by 0, and says nothing
    def compute_column(self, column: Column) -> Floats:
        """Compute the value of every query (Q)."""
        if column.measure in _OWN:
            return _OWN[column.measure](self, column)
        return self.compute(column.row.germane.format(column.argument))

    def prepare(self, measures: tuple[Measure, ...]) -> None:
        """Compute several of germane's measures at once."""
        for measure in measures:
            self._kept[measure] = compute_scores(measure, self.ranking)

    def compute(self, name: str) -> Floats:
        """Compute one of germane's measures (Q), with grades from -l as relevant."""
        measure = resolve_measure(name, self.level)
        if measure not in self._kept:
            self._kept[measure] = self._compute_values(measure)
        return self._kept[measure]

    def _compute_values(self, measure: Measure) -> Floats:
        return compute_scores(measure, self.ranking)


def resolve_measure(name: str, level: int) -> Measure:
    """Find one of germane's measures, with grades from a level as relevant."""
    measure = parse(name)
    return measure(rel=level) if measure.rel is not None and level != 1 else measure


def list_measures(columns: Iterable[Column], level: int) -> tuple[Measure, ...]:
    """List germane's measures that are the values of columns as they are."""
    names = (
        column.row.germane.format(column.argument)
        for column in columns
        if column.measure not in _OWN
    )
    return tuple(dict.fromkeys(resolve_measure(name, level) for name in names))


class _Listed(Scorer):
    """Computes columns for a list with more relevant items than exist, even infinite ones."""

    def _compute_values(self, measure: Measure) -> Floats:
        terms = compute_terms(measure, self.ranking)
        values = compute_values(self.ranking, terms)
        if measure.name in ("AP", "binG") and measure.k is None:  # divided by R, be it 0
            values[(terms.norm == 0) & (self.ranking.sum_hits(terms.terms) > 0)] = math.inf
        return values


# --- Derived values ---------------------------------------------------------------------------


def _take_logarithm(scorer: Scorer, column: Column) -> Floats:
    """Take the logarithms of a geometric mean in C: NumPy's may differ in the last bit."""
    values = scorer.compute(column.row.germane).tolist()
    return np.array([math.log(max(value, FLOOR)) for value in values])


def _compute_set_map(scorer: Scorer, column: Column) -> Floats:
    hits, retrieved, relevant = map(scorer.compute, ("NumRelRet", "NumRet", "NumRel"))
    return _divide(hits * hits, retrieved * relevant)


def _compute_set_f(scorer: Scorer, column: Column) -> Floats:
    """Compute F from precision and recall; the parameter is beta squared, and may be negative."""
    precision, recall = scorer.compute("P"), scorer.compute("R")
    x = column.argument[0]
    above, below = (x + 1.0) * precision * recall, x * precision + recall
    return np.where(precision > 0, above / below, 0.0)


def _compute_utility(scorer: Scorer, column: Column) -> Floats:
    if len(column.argument) != 4:
        raise TrecEvalError(
            QUERY, f"-m utility.{column.parameters} takes four numbers, as in 1,-1,0,0."
        )
    hits, retrieved, relevant = map(scorer.compute, ("NumRelRet", "NumRet", "NumRel"))
    rejected = scorer.documents + (hits - retrieved - relevant).astype(np.int64)
    hit, noise, miss, rest = column.argument
    worth: Floats = (
        hit * hits + noise * (retrieved - hits) + miss * (relevant - hits) + rest * rejected
    )
    return worth


def _divide(above: Floats, below: Floats) -> Floats:
    out: Floats = np.divide(above, below, out=np.zeros(len(above)), where=below != 0)
    return out


# --- Interpolated precision -------------------------------------------------------------------


def _interpolate(scorer: Scorer, column: Column) -> Floats:
    return _interpolate_at(scorer, _limit_level(column.argument))


def _average_interpolated(scorer: Scorer, column: Column) -> Floats:
    """Average over recall levels, from the last level given, as trec_eval goes up the list.

    Levels that the list does not reach count 0 until one is reached. A level that has been passed
    by then stops the search: it and all levels after it have the value at the head of the list.
    """
    reached, relevant = scorer.compute("NumRelRet"), scorer.compute("NumRel")
    total = np.zeros(len(reached))
    begun, held_up = np.zeros(len(reached), bool), np.zeros(len(reached), bool)
    for level in map(_limit_level, reversed(column.argument)):
        needed = _count_needed(scorer, level, relevant)
        begun |= needed <= reached
        held_up |= begun & ((needed > reached) | (needed < 1))
        value = np.where(held_up, _interpolate_at(scorer, 0.0), _interpolate_at(scorer, level))
        total += np.where(begun, value, 0.0)
        reached = np.where(begun & ~held_up, needed, reached)
    return total / len(column.argument)


def _interpolate_at(scorer: Scorer, level: float) -> Floats:
    """Compute interpolated precision; NaN for 0/0: nothing is retrieved, no item needed."""
    best = scorer.compute(f"IPrec(recall={min(max(level, 0.0), 1.0)!r},rounding={scorer.rounding})")
    relevant = scorer.compute("NumRel")
    needed = _count_needed(scorer, level, relevant)
    if level > 1:
        best = np.where(needed <= relevant, best, 0.0)
    return np.where((scorer.ranking.retrieved == 0) & (needed <= 0), math.nan, best)


def _limit_level(raw: float) -> float:
    """Replace a level beyond any number of items by 0: in C the number overflows."""
    return raw if abs(raw) < 2.0**63 else 0.0


def _count_needed(scorer: Scorer, level: float, relevant: Floats) -> Floats:
    """Count the relevant items that a recall level needs (Q)."""
    needed: Floats = np.floor(level * relevant + (0.9 if scorer.rounding == "trec9" else 0.5))
    return needed


def _compute_r_precision(scorer: Scorer, column: Column) -> Floats:
    level = _limit_level(column.argument)
    if 0 < level < 1e6:  # the levels that germane's measure takes
        return scorer.compute(column.row.germane.format(level))
    cutoff = np.floor(level * scorer.compute("NumRel") + 0.9)
    return _divide(scorer.compute("NumRelRet"), np.maximum(cutoff, 0.0))


# --- Gains and persistence --------------------------------------------------------------------


def _compute_gain(scorer: Scorer, column: Column) -> Floats:
    return compute_values(
        *gains.score_gains(scorer.ranking, parse(column.row.germane), column.argument)
    )


def _compute_ndcg_rel(scorer: Scorer, column: Column) -> Floats:
    """Compute ndcg_rel, which is never negative, whatever the gains are."""
    return np.fmax(_compute_gain(scorer, column), 0.0)


def _compute_rndcg(scorer: Scorer, column: Column) -> Floats:
    """Compute Rndcg: 0 without a relevant item, whatever lower grades gain; 0/0 without levels."""
    arguments = scorer.ranking, parse(column.row.germane), column.argument
    return np.where(scorer.compute("NumRel") > 0, gains.average_levels(*arguments), 0.0)


_OWN: dict[str, Callable[[Scorer, Column], Floats]] = {
    "gm_map": _take_logarithm,
    "gm_bpref": _take_logarithm,
    "iprec_at_recall": _interpolate,
    "11pt_avg": _average_interpolated,
    "Rprec_mult": _compute_r_precision,
    "Rprec_mult_avgjg": _compute_r_precision,
    "utility": _compute_utility,
    "set_map": _compute_set_map,
    "set_F": _compute_set_f,
    "G": _compute_gain,
    "dcg": _compute_gain,
    "ideal_dcg": _compute_gain,
    "ndcg": _compute_gain,
    "ndcg_rel": _compute_ndcg_rel,
    "Rndcg": _compute_rndcg,
    "rbp": lambda scorer, column: gains.compute_rbp(scorer.ranking, column.argument),
    "rbp_resid": lambda scorer, column: gains.compute_rbp_residual(scorer.ranking, column.argument),
}


def average_groups(
    columns: list[Column], lines: list[Line], items: Qrels, retrieved: Retrieved, options: Options
) -> list[Floats]:
    """Average each column over each query's groups of judgments."""
    qrels, query = make_group_qrels(lines)
    ranking = make_ranking(
        qrels, _retrieve_for_groups(lines, items, retrieved, qrels, query), options
    )
    value = make_scorer(ranking, options)
    groups = np.bincount(query, minlength=len(items))
    return [
        np.bincount(query, weights=value(column), minlength=len(items)) / groups
        for column in columns
    ]


def _retrieve_for_groups(
    lines: list[Line], items: Qrels, retrieved: Retrieved, qrels: Qrels, query: Ints
) -> Retrieved:
    """List the retrieved items of each pair of query and group."""
    owner = np.repeat(np.arange(len(qrels)), np.diff(qrels.offsets))
    item = np.array(
        [items.judged[q][to_text(line[3])] for q, line in zip(query[owner], lines, strict=True)]
    )
    hit_of = np.full(len(items.items), -1)
    hit_of[retrieved.judgment] = np.arange(len(retrieved.judgment))
    judgment = np.flatnonzero(hit_of[item] >= 0)
    hit = hit_of[item[judgment]]
    return Retrieved(
        judgment,
        owner[judgment],
        retrieved.rank[hit],
        retrieved.tied_from[hit],
        retrieved.tied_to[hit],
        retrieved.retrieved[query],
        retrieved.answered[query],
        retrieved.unknown,
    )
