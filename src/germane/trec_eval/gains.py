"""Gains of grades that the command line gives, such as -m ndcg.1=3,2=9; and rbp.

A grade without a given gain gains itself. Grade -1 stands for items without a judgment, -2 for
items that were pooled but not judged; both gain nothing unless a gain is given. The ideal ranking
is ordered by gain. But trec_eval sorts by the difference of gains as a whole number, so that gains
less than 1 apart count as equal and keep their order; and the ideal ranking ends at the first gain
that is not positive.

Neither rbp nor rbp_resid is the measure of that name: rbp is graded, with gains scaled by the least
and the greatest gain of the query and 0, and rbp_resid is 0 if nothing unjudged is retrieved. Both
add up powers of p that are multiplied up rank by rank; so are they here, to get the same last bit.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures import Scored
from germane.measures.definition import LOG2, compute_gains
from germane.measures.measure import Measure
from germane.trec_eval.ranking import POOLED, UNJUDGED, list_all
from germane.trec_eval.text import merge_sort, parse_whole

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
    gained, ideal = compute_gains(ranking.relevance, gain), compute_gains(ranking.ideal, gain)
    owner, rank, best = ranking.ideal_owner, ranking.ideal_rank, ideal > 0
    reached = ragged.accumulate_sum(LOG2.weigh(gained, ranking.rank), ranking.offsets)
    highest = ragged.accumulate_sum(LOG2.weigh(ideal, rank), ranking.ideal_offsets)
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
    distinct = ragged.list_distinct(ranking.ideal.astype(np.int64))
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
    ideal = worth[ragged.order_ascending(place, owner, len(ranking))]
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
