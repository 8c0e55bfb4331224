"""Gains given on trec_eval's command line, such as -m ndcg.1=3,2=9: what grades are worth; and rbp.

A grade that is not given is worth itself, and what nobody judged nothing, unless -1 is given: items
without a judgment; -2 are items that were pooled but not judged. The ideal ranking goes through the
grades by gain, but trec_eval sorts them by the difference of gains as a whole number, so that gains
less than 1 apart count as equal and keep the order they came in; and it ends at the first gain that
is not positive.

Neither rbp nor rbp_resid is the measure it is named after: rbp is graded, each gain scaled to the
least and the greatest of the query's, which trec_eval begins to compare from memory that it never
sets, and that holds 0 in practice; and rbp_resid is 0 where nothing unjudged is retrieved. Both add
up powers of p that are multiplied up rank by rank, which is done here too, to the last bit.
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
from germane.measures.measure import Measure
from germane.trec_eval.ranking import POOLED, UNJUDGED, list_all
from germane.trec_eval.text import merge_sort, parse_whole

Pairs: TypeAlias = tuple[tuple[str, float], ...]

DENSE = (
    1 << 16
)  # up to which highest grade those that no judgment has are put in order too, as there


class Gain(NamedTuple):
    """A grade's worth, and whether it is the gain that its judgments have in the ideal ranking."""

    grade: int
    worth: float
    ideal: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Gains:
    """The worth of the grades of each query of a ranking: ``orders[of[q]]`` is for query q.

    Queries share gains where they have the same highest grade, up to which all grades are sorted.
    """

    orders: list[list[Gain]]  # from the least to the most
    of: Ints  # Q
    grades: Ints  # that there are, ascending

    def worth(self, grades: Floats, owner: Ints) -> Floats:
        """The worth of grades of the queries ``owner``: of a grade given twice, the lesser gain."""
        column = {grade: at for at, grade in enumerate(self.grades.tolist())}
        table = np.zeros((len(self.orders), len(column)))
        for row, order in zip(table, self.orders, strict=True):
            for gain in reversed(order):
                if gain.grade in column:
                    row[column[gain.grade]] = gain.worth
        found: Floats = table[self.of[owner], np.searchsorted(self.grades, grades)]
        return found


def score_gains(ranking: Ranking, measure: Measure, pairs: Pairs) -> tuple[Ranking, Scored]:
    """A measure of gains under these gains, and the ranking that its terms are of."""
    if not select_grades(pairs):
        ranking = _carry_judgments(ranking)
        return ranking, measure.row.kernel(ranking, measure.k, gain="linear")
    ranking, gains = value_grades(ranking, pairs)
    ideal = _find_ideal(ranking, gains)
    relevance = gains.worth(ranking.relevance, ranking.owner)
    gained = replace(ranking, relevance=relevance, ideal=ideal)
    return gained, measure.row.kernel(gained, measure.k, gain="given")


def value_grades(ranking: Ranking, pairs: Pairs) -> tuple[Ranking, Gains]:
    """The ranking with all that can gain among its hits, and what its grades are worth."""
    given = select_grades(pairs)
    if any(grade == UNJUDGED for grade, _ in given):
        ranking = list_all(ranking)
    ranking = _carry_judgments(ranking)
    highest = np.full(len(ranking), -1.0)
    np.maximum.at(highest, ranking.ideal_owner, ranking.ideal)
    tops, of = np.unique(highest.astype(np.int64), return_inverse=True)
    known = np.unique(ranking.ideal.astype(np.int64))
    every = [given and top < DENSE for top in tops.tolist()]
    grades = [
        range(top + 1) if each else known[known <= top].tolist()
        for top, each in zip(tops.tolist(), every, strict=True)
    ]
    orders = [sort_by_gain(given, each) for each in grades]
    return ranking, Gains(orders, of, np.concatenate([[POOLED, UNJUDGED], known]))


def sort_by_gain(given: list[tuple[int, float]], grades: Iterable[int]) -> list[Gain]:
    """The gains of these grades, ascending, and of those given, in trec_eval's order."""
    named: dict[int, float] = {}
    gains = []
    for grade, worth in given:
        gains.append(Gain(grade, worth, grade not in named))
        named[grade] = worth
    gains += [Gain(grade, float(grade)) for grade in grades if grade not in named]
    return merge_sort(gains, lambda one, other: one.worth - other.worth) if given else gains


def select_grades(pairs: Pairs) -> list[tuple[int, float]]:
    """The pairs whose name is a grade."""
    grades = [(key.encode("utf-8", "surrogateescape"), worth) for key, worth in pairs]
    return [(parse_whole(key), worth) for key, worth in grades if re.fullmatch(rb"[+-]?\d+", key)]


def _find_ideal(ranking: Ranking, gains: Gains) -> Floats:
    """J: the gains of the judgments in trec_eval's order."""
    owner, of = ranking.ideal_owner, gains.of[ranking.ideal_owner]
    place, worth = np.zeros(len(owner), np.int64), np.zeros(len(owner))
    ends = np.zeros(len(ranking), bool)
    for number, order in enumerate(gains.orders):
        ends |= (gains.of == number) & (not order or not order[-1].worth > 0)
        for position, gain in enumerate(reversed(order)):
            if gain.ideal:
                at = (of == number) & (ranking.ideal == gain.grade)
                place[at], worth[at] = position, gain.worth
    ideal = worth[ragged.order_ascending(place, owner, len(ranking))]
    over = ragged.count_running(~(ideal > 0), ranking.ideal_offsets, ranking.ideal_owner) > 0
    return np.where(over | ends[owner], 0.0, ideal)


def _carry_judgments(ranking: Ranking) -> Ranking:
    """The ranking with the judgments of the query before where a query has no grade from 0.

    trec_eval counts the grades in memory that it does not clear then.
    """
    lengths = ragged.find_lengths(ranking.ideal_offsets)
    if lengths.all():
        return ranking
    source = np.maximum.accumulate(np.where(lengths > 0, np.arange(len(lengths)), 0))
    at = ragged.list_stretches(ranking.ideal_offsets[source], lengths[source])
    offsets = ragged.make_offsets(lengths[source])
    return replace(ranking, ideal=ranking.ideal[at], ideal_offsets=offsets)


_STEP = 1 << 20  # ranks looked at at a time


def compute_rbp(ranking: Ranking, pairs: Pairs) -> Floats:
    """Q: (1 - p)·Σ gain·p^(i - 1)."""
    p = _find_persistence(pairs)
    ranking, gains = value_grades(ranking, pairs)
    scaled = replace(gains, orders=list(map(_scale, gains.orders)))
    gain = scaled.worth(ranking.relevance, ranking.owner)
    power = _raise_powers(p, int(ranking.rank.max(initial=0)))
    return (1.0 - p) * ranking.sum_hits(gain * power[ranking.rank - 1])


def _scale(order: list[Gain]) -> list[Gain]:
    """The gains between 0 and 1, where one of them is not."""
    worth = [0.0, *(gain.worth for gain in order)]
    least, most = min(worth), max(worth)
    if least >= 0 and most <= 1:
        return order
    return [gain._replace(worth=(gain.worth - least) / (most - least)) for gain in order]


def compute_rbp_residual(ranking: Ranking, pairs: Pairs) -> Floats:
    """Q: what rbp could gain if everything unjudged, retrieved or not, were relevant."""
    p = _find_persistence(pairs)
    most = int(ranking.retrieved.max(initial=0))
    power = _raise_powers(p, most + 1)
    judged = ranking.relevance >= 0
    unjudged = ranking.retrieved - ranking.sum_hits(judged)
    out = np.zeros(len(ranking))
    step = max(_STEP // max(most, 1), 1)
    for start in range(0, len(ranking), step):
        part = slice(start, start + step)
        at = np.arange(most) < ranking.retrieved[part, None]
        inside = judged & (ranking.owner >= start) & (ranking.owner < start + step)
        at[ranking.owner[inside] - start, ranking.rank[inside] - 1] = False
        added = np.add.accumulate(np.where(at, power[:most], 0.0), axis=1)
        total = added[:, -1] if most else np.zeros(len(at))
        out[part] = power[ranking.retrieved[part]] + (1 - p) * total
    return np.where(unjudged > 0, out, 0.0)


def _find_persistence(pairs: Pairs) -> float:
    """p: the last one given, or 0.9."""
    return ([0.9] + [value for name, value in pairs if name == "p"])[-1]


def _raise_powers(p: float, count: int) -> Floats:
    """1, p, p², …, each the one before times p."""
    return np.multiply.accumulate(np.r_[1.0, np.full(max(count, 1), p)])
