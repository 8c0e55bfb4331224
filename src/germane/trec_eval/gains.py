"""Gains given on trec_eval's command line, such as -m ndcg.1=3,2=9: what grades are worth.

A grade that is not given is worth itself, and what nobody judged nothing, unless -1 is given: items
without a judgment; -2 are items that were pooled but not judged. The ideal ranking goes through the
grades by gain, but trec_eval sorts them by the difference of gains as a whole number, so that gains
less than 1 apart count as equal and keep the order they came in; and it ends at the first gain that
is not positive.
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
from germane.trec_eval.numerals import merged, whole
from germane.trec_eval.ranking import POOLED, UNJUDGED, complete

Pairs: TypeAlias = tuple[tuple[str, float], ...]

DENSE = (
    1 << 16
)  # up to which highest grade those that no judgment has are put in order too, as there


class Gain(NamedTuple):
    """What a grade is worth, and whether that is what its judgments have in the ideal ranking."""

    grade: int
    worth: float
    ideal: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class Gains:
    """What the grades of each query of a ranking are worth: ``orders[of[q]]`` is for query q.

    Queries share gains where they have the same highest grade, up to which all grades are sorted.
    """

    orders: list[list[Gain]]  # from the least to the most
    of: Ints  # Q
    grades: Ints  # that there are, ascending

    def worth(self, grades: Floats, owner: Ints) -> Floats:
        """What grades of the queries ``owner`` are worth: of a grade given twice, the lesser gain."""
        column = {grade: at for at, grade in enumerate(self.grades.tolist())}
        table = np.zeros((len(self.orders), len(column)))
        for row, order in zip(table, self.orders, strict=True):
            for gain in reversed(order):
                if gain.grade in column:
                    row[column[gain.grade]] = gain.worth
        found: Floats = table[self.of[owner], np.searchsorted(self.grades, grades)]
        return found


def scored(ranking: Ranking, measure: Measure, pairs: Pairs) -> tuple[Ranking, Scored]:
    """A measure of gains under these gains, and the ranking that its terms are of."""
    if not named_grades(pairs):
        ranking = _carried(ranking)
        return ranking, measure.row.kernel(ranking, measure.k, gain="linear")
    ranking, gains = valued(ranking, pairs)
    ideal = _ideal(ranking, gains)
    relevance = gains.worth(ranking.relevance, ranking.owner)
    gained = replace(ranking, relevance=relevance, ideal=ideal)
    return gained, measure.row.kernel(gained, measure.k, gain="given")


def valued(ranking: Ranking, pairs: Pairs) -> tuple[Ranking, Gains]:
    """The ranking with all that can gain among its hits, and what its grades are worth."""
    given = named_grades(pairs)
    if any(grade == UNJUDGED for grade, _ in given):
        ranking = complete(ranking)
    ranking = _carried(ranking)
    highest = np.full(len(ranking), -1.0)
    np.maximum.at(highest, ranking.ideal_owner, ranking.ideal)
    tops, of = np.unique(highest.astype(np.int64), return_inverse=True)
    known = np.unique(ranking.ideal.astype(np.int64))
    every = [given and top < DENSE for top in tops.tolist()]
    grades = [
        range(top + 1) if each else known[known <= top].tolist()
        for top, each in zip(tops.tolist(), every, strict=True)
    ]
    orders = [by_gain(given, each) for each in grades]
    return ranking, Gains(orders, of, np.concatenate([[POOLED, UNJUDGED], known]))


def by_gain(given: list[tuple[int, float]], grades: Iterable[int]) -> list[Gain]:
    """The gains of these grades, ascending, and of those given, in trec_eval's order."""
    named: dict[int, float] = {}
    gains = []
    for grade, worth in given:
        gains.append(Gain(grade, worth, grade not in named))
        named[grade] = worth
    gains += [Gain(grade, float(grade)) for grade in grades if grade not in named]
    return merged(gains, lambda one, other: one.worth - other.worth) if given else gains


def named_grades(pairs: Pairs) -> list[tuple[int, float]]:
    """The pairs whose name is a grade."""
    grades = [(key.encode("utf-8", "surrogateescape"), worth) for key, worth in pairs]
    return [(whole(key), worth) for key, worth in grades if re.fullmatch(rb"[+-]?\d+", key)]


def _ideal(ranking: Ranking, gains: Gains) -> Floats:
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
    ideal = worth[ragged.ascending(place, owner, len(ranking))]
    over = ragged.running(~(ideal > 0), ranking.ideal_offsets, ranking.ideal_owner) > 0
    return np.where(over | ends[owner], 0.0, ideal)


def _carried(ranking: Ranking) -> Ranking:
    """The ranking with the judgments of the query before where a query has no grade from 0.

    trec_eval counts the grades in memory that it does not clear then.
    """
    lengths = ragged.lengths(ranking.ideal_offsets)
    if lengths.all():
        return ranking
    source = np.maximum.accumulate(np.where(lengths > 0, np.arange(len(lengths)), 0))
    at = ragged.between(ranking.ideal_offsets[source], lengths[source])
    offsets = ragged.offsets(lengths[source])
    return replace(ranking, ideal=ranking.ideal[at], ideal_offsets=offsets)
