"""trec_eval's values from germane's measures, and gains that the command line gives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.qrels import Qrels, Retrieved
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.dialects.names import parse
from germane.kernel.ids import to_text
from germane.measures import Scored
from germane.measures.averaging import QueryValues, compute_scores, compute_terms
from germane.measures.gain import accumulate_dcg
from germane.measures.measure import Measure
from germane.trec_eval.command_line import (
    QUERY,
    Column,
    Options,
    TrecEvalError,
    merge_sort,
    parse_whole,
)
from germane.trec_eval.judgments import Line, make_group_qrels
from germane.trec_eval.runs import (
    DOWN,
    POOLED,
    UNJUDGED,
    UP,
    list_all,
    list_from_end,
    list_from_top,
    make_ranking,
)

Pairs: TypeAlias = tuple[tuple[str, float], ...]

DENSE = 1 << 16
"""Below this highest grade, grades that no judgment has are put in order too, as in trec_eval."""


class Gain(NamedTuple):
    """A grade's worth; ``ideal`` if judgments of this grade have this gain in the ideal ranking."""

    grade: int
    worth: float
    ideal: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Gains:
    """The worth of the grades of each query of a ranking.

    ``orders[order_number[q]]`` is for query q. Queries with the same highest grade share their
    gains.
    """

    orders: list[list[Gain]]  # from the least to the most
    order_number: Ints  # Q
    grades: Ints  # that there are, ascending

    def find_worth(self, grades: Floats, owner: Ints) -> Floats:
        """Look up the worth of grades of queries; a grade given twice has the lesser gain."""
        column = {grade: place for place, grade in enumerate(self.grades.tolist())}
        table = np.zeros((len(self.orders), len(column)))
        for row, order in zip(table, self.orders, strict=True):
            for gain in reversed(order):
                if gain.grade in column:
                    row[column[gain.grade]] = gain.worth
        worth: Floats = table[self.order_number[owner], np.searchsorted(self.grades, grades)]
        return worth


def score_gains(ranking: Ranking, measure: Measure, pairs: Pairs) -> tuple[Ranking, Scored]:
    """Score a measure under these gains; also return the ranking to which its terms belong."""
    if not select_grades(pairs):
        return ranking, measure.row.kernel(ranking, measure.k, **measure.arguments)
    ranking, gains = value_grades(ranking, pairs)
    ideal = _find_ideal(ranking, gains)
    relevance = gains.find_worth(ranking.relevance, ranking.owner)
    gained = replace(ranking, relevance=relevance, ideal=ideal)
    return gained, measure.row.kernel(gained, measure.k, **{**measure.arguments, "gain": "given"})


def average_levels(ranking: Ranking, measure: Measure, pairs: Pairs) -> Floats:
    """Average nDCG over the ranks at which the ideal gain changes, one after the other (Q).

    Rndcg of trec_eval; the terms of germane's measure add up to the same, but for the last bit. A
    query without such a rank has 0/0.
    """
    grades = select_grades(pairs)
    ranking, scored = score_gains(ranking, measure, pairs)
    gain = "given" if grades else "linear"
    ideal, highest, reached = accumulate_dcg(ranking, gain)
    owner, rank, best = ranking.ideal_owner, ranking.ideal_rank, ideal > 0
    # A level ends where the next ideal item gains something else or is of another query. Its term
    # is the DCG of the list up to that rank over the ideal one; a longer list has one more term, at
    # its own end.
    ends = best.copy()
    ends[:-1] &= (owner[1:] != owner[:-1]) | (ideal[1:] != ideal[:-1])
    levels = np.flatnonzero(ends)
    last = np.flatnonzero(ranking.retrieved >= ranking.count_judged(best) + 2)
    last = last[np.isin(last, owner[levels])]
    at_end = ranking.ideal_offsets[last] + ranking.count_judged(best)[last] - 1
    q, level = np.r_[owner[levels], last], np.r_[levels, at_end]
    until = np.r_[rank[levels], ranking.retrieved[last]]
    stride = max(rank.max(initial=0), ranking.retrieved.max(initial=0)) + 1
    hits = ranking.owner * stride + ranking.rank
    hit = np.searchsorted(hits, q * stride + until, "right")
    dcg = np.where(hit > ranking.offsets[q], np.append(reached, 0.0)[hit - 1], 0.0)
    total = np.bincount(q, weights=dcg / highest[level], minlength=len(ranking))
    averages: Floats = total / scored.norm
    return averages


def value_grades(ranking: Ranking, pairs: Pairs) -> tuple[Ranking, Gains]:
    """Make every result that can gain a hit of the ranking, and find the worth of its grades."""
    grades = select_grades(pairs)
    if any(grade == UNJUDGED for grade, _ in grades):
        ranking = list_all(ranking)
    highest = np.full(len(ranking), -1.0)
    np.maximum.at(highest, ranking.ideal_owner, ranking.ideal)
    tops, order_number = np.unique(highest.astype(np.int64), return_inverse=True)
    distinct = np.unique(ranking.ideal.astype(np.int64))
    orders = [
        sort_by_gain(
            grades, range(top + 1) if grades and top < DENSE else distinct[distinct <= top].tolist()
        )
        for top in tops.tolist()
    ]
    return ranking, Gains(orders, order_number, np.concatenate([[POOLED, UNJUDGED], distinct]))


def sort_by_gain(raw: list[tuple[int, float]], grades: Iterable[int]) -> list[Gain]:
    """Sort the given gains and those of the other, ascending grades, as trec_eval does."""
    named: dict[int, float] = {}
    gains = []
    for grade, worth in raw:
        gains.append(Gain(grade, worth, grade not in named))
        named[grade] = worth
    gains += [Gain(grade, float(grade)) for grade in grades if grade not in named]
    return merge_sort(gains, lambda first, second: first.worth - second.worth) if raw else gains


def select_grades(pairs: Pairs) -> list[tuple[int, float]]:
    """Select the pairs whose name is a grade."""
    grades = [(key.encode("utf-8", "surrogateescape"), worth) for key, worth in pairs]
    return [(parse_whole(key), worth) for key, worth in grades if re.fullmatch(rb"[+-]?\d+", key)]


def _find_ideal(ranking: Ranking, gains: Gains) -> Floats:
    """List the gains of the judgments in trec_eval's order (J)."""
    owner, order_number = ranking.ideal_owner, gains.order_number[ranking.ideal_owner]
    place, worth = np.zeros(len(owner), np.int64), np.zeros(len(owner))
    ends = np.zeros(len(ranking), bool)
    for number, order in enumerate(gains.orders):
        ends |= (gains.order_number == number) & (not order or not order[-1].worth > 0)
        for position, gain in enumerate(reversed(order)):
            if gain.ideal:
                graded = (order_number == number) & (ranking.ideal == gain.grade)
                place[graded], worth[graded] = position, gain.worth
    ideal = worth[np.lexsort((place, owner))]
    over = ragged.count_running(~(ideal > 0), ranking.ideal_offsets, ranking.ideal_owner) > 0
    return np.where(over | ends[owner], 0.0, ideal)


def compute_rbp(ranking: Ranking, pairs: Pairs) -> Floats:
    """Compute (1 - p)·Σ gain·p^(i - 1) (Q)."""
    p = _find_persistence(pairs)
    ranking, gains = value_grades(ranking, pairs)
    scaled = replace(gains, orders=list(map(_scale, gains.orders)))
    gain = scaled.find_worth(ranking.relevance, ranking.owner)
    power = _raise_powers(p, int(ranking.rank.max(initial=0)))
    return (1.0 - p) * ranking.sum_hits(gain * power[ranking.rank - 1])


def _scale(order: list[Gain]) -> list[Gain]:
    """Scale the gains to lie between 0 and 1, unless all of them do."""
    worth = [0.0, *(gain.worth for gain in order)]
    lowest, highest = min(worth), max(worth)
    if lowest >= 0 and highest <= 1:
        return order
    return [gain._replace(worth=(gain.worth - lowest) / (highest - lowest)) for gain in order]


def compute_rbp_residual(ranking: Ranking, pairs: Pairs) -> Floats:
    """Compute the gain of rbp if everything unjudged, retrieved or not, were relevant (Q)."""
    p = _find_persistence(pairs)
    listed = list_all(ranking)
    power = _raise_powers(p, int(ranking.retrieved.max(initial=0)) + 1)
    unjudged = listed.relevance < 0
    inside = listed.sum_hits(np.where(unjudged, power[listed.rank - 1], 0.0))
    return np.where(listed.sum_hits(unjudged) > 0, power[ranking.retrieved] + (1 - p) * inside, 0.0)


def _find_persistence(pairs: Pairs) -> float:
    """The last p that is given, or 0.9."""
    return ([0.9] + [value for name, value in pairs if name == "p"])[-1]


def _raise_powers(p: float, count: int) -> Floats:
    """List 1, p, p², …, each the product of p and the power before it."""
    return np.multiply.accumulate(np.r_[1.0, np.full(max(count, 1), p)])


# --- trec_eval's values, from germane's measures --------------------------------------------------
#
# If the two define a measure alike, the value is germane's. The functions of _OWN compute the
# rest: values that trec_eval derives from others, values that it rounds differently in the last
# bit (which can change the fourth decimal of a short fraction), and its peculiarities.
#
# If several groups of people judged a query, each group is evaluated as a query of its own, and
# the values of the groups are averaged.


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
        values = terms.compute_values(self.ranking)
        if measure.name in ("AP", "binG") and measure.k is None:  # divided by R, be it 0
            values[(terms.norm == 0) & (self.ranking.sum_hits(terms.terms) > 0)] = math.inf
        return values


# --- Derived values ---------------------------------------------------------------------------


def _take_logarithm(scorer: Scorer, column: Column) -> Floats:
    """Take the logarithms of a geometric mean in C: NumPy's may differ in the last bit."""
    values = scorer.compute(column.row.germane).tolist()
    return np.array([math.log(max(value, QueryValues.FLOOR)) for value in values])


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
    measure = parse(column.row.germane)
    ranking, scored = score_gains(scorer.ranking, measure, column.argument)
    return scored.compute_values(ranking)


def _compute_ndcg_rel(scorer: Scorer, column: Column) -> Floats:
    """Compute ndcg_rel, which is never negative, whatever the gains are."""
    return np.fmax(_compute_gain(scorer, column), 0.0)


def _compute_rndcg(scorer: Scorer, column: Column) -> Floats:
    """Compute Rndcg: 0 without a relevant item, whatever lower grades gain; 0/0 without levels."""
    arguments = scorer.ranking, parse(column.row.germane), column.argument
    return np.where(scorer.compute("NumRel") > 0, average_levels(*arguments), 0.0)


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
    "rbp": lambda scorer, column: compute_rbp(scorer.ranking, column.argument),
    "rbp_resid": lambda scorer, column: compute_rbp_residual(scorer.ranking, column.argument),
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
