"""Gains given on trec_eval's command line, such as -m ndcg.1=3,2=9: what grades are worth.

A grade that is not given is worth itself. The ideal ranking goes through the grades by gain, but
trec_eval sorts them by the difference of gains as a whole number, so that gains less than 1 apart
count as equal and keep the order they came in; and it ends at the first gain that is not positive.
"""

import re
from typing import Any, TypeAlias

import numpy as np

from germane import _ragged
from germane._ragged import Floats
from germane._records import replaced
from germane.measure import Measure
from germane.measures import Scored
from germane.ranking import Ranking

Pairs: TypeAlias = tuple[tuple[str, float], ...]
Gains: TypeAlias = list[tuple[int, float]]
"""Grades and what they are worth, from the least to the most."""


def scored(ranking: Ranking, measure: Measure, pairs: Pairs) -> Scored:
    """A measure of gains under these gains."""
    gain: Any = "linear"
    if pairs:
        ranking = _worth(ranking, named_grades(pairs))
        if (ranking.relevance < 0).any():  # linear gains would be none
            known = np.unique(np.concatenate([ranking.relevance, ranking.ideal]))
            gain = tuple((worth, worth) for worth in known.tolist())
    return measure.row.kernel(ranking, measure.k, gain=gain)


def by_gain(given: dict[int, float], highest: int) -> Gains:
    """The gains of the grades up to the highest, and of those given, in trec_eval's order."""
    rest = [(grade, float(grade)) for grade in range(highest + 1) if grade not in given]
    return _merged([*given.items(), *rest])


def _merged(gains: Gains) -> Gains:
    """A merge sort, as the C library's: with gains that are only nearly equal, the method matters."""
    if len(gains) < 2:
        return gains
    left, right = _merged(gains[: len(gains) // 2]), _merged(gains[len(gains) // 2 :])
    out: Gains = []
    while left and right:
        out.append((left if int(left[0][1] - right[0][1]) <= 0 else right).pop(0))
    return out + left + right


def named_grades(pairs: Pairs) -> dict[int, float]:
    """The pairs whose name is a grade; the first, where a grade is named twice."""
    given: dict[int, float] = {}
    for grade, worth in pairs:
        if re.fullmatch(r"[+-]?\d+", grade):
            given.setdefault(int(grade), worth)
    return given


def _worth(ranking: Ranking, given: dict[int, float]) -> Ranking:
    """The ranking with gains in the place of grades, the ideal one in trec_eval's order."""
    owner, offsets = ranking.ideal_owner, ranking.ideal_offsets
    highest = np.full(len(ranking), -1.0)
    np.maximum.at(highest, owner, ranking.ideal)
    place = np.full(len(owner), np.iinfo(np.int32).max)
    ends = np.zeros(len(ranking), bool)
    for top in np.unique(highest):
        order = by_gain(given, int(top))[::-1]
        queries = highest == top
        ends |= queries & (not order or order[0][1] <= 0)
        for position, (grade, _) in enumerate(order):
            place[queries[owner] & (ranking.ideal == grade)] = position
    ideal = gained(ranking.ideal, given)[_ragged.ascending(place, owner, len(ranking))]
    over = _ragged.running(ideal <= 0, owner, len(ranking)) > 0
    return replaced(
        ranking,
        relevance=gained(ranking.relevance, given),
        ideal=np.where(over | ends[owner], 0.0, ideal),
        ideal_offsets=offsets,
    )


def gained(grades: Floats, given: dict[int, float]) -> Floats:
    """What grades are worth; negative ones nothing."""
    worth = np.maximum(grades, 0.0)
    for grade, gain in given.items():
        worth[grades == grade] = gain
    return worth
