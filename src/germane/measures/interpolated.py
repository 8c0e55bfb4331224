"""Interpolated precision: the best precision at a recall level or beyond it."""

from typing import TYPE_CHECKING

import numpy as np

from germane import _ragged
from germane._ragged import Floats, Ints
from germane.measures.sets import exact, share
from germane.measures.terms import Scored
from germane.ranking import Ranking

if TYPE_CHECKING:
    from fractions import Fraction


def interpolated_precision(
    ranking: Ranking, k: None, rel: float, recall: float, rounding: str
) -> Scored:
    terms = _terms(ranking, rel, [exact(recall)], rounding)
    return Scored(terms, np.ones(len(ranking)), ranking.total(rel))


def interpolated_average_precision(
    ranking: Ranking, k: None, rel: float, points: int, rounding: str
) -> Scored:
    levels = [exact(1.0) * i / (points - 1) for i in range(points)]
    terms = _terms(ranking, rel, levels, rounding)
    return Scored(terms, np.full(len(ranking), points), ranking.total(rel))


def _terms(ranking: Ranking, rel: float, levels: "list[Fraction]", rounding: str) -> Floats:
    """H: each recall level's precision, added at the hit that has it."""
    at = np.flatnonzero(ranking.relevant(rel))
    found = np.bincount(ranking.owner[at], minlength=len(ranking))
    offsets = _ragged.offsets(found)
    precision = ranking.so_far(rel)[at] / ranking.rank[at]
    best = _ragged.running_maximum(precision[::-1], offsets[-1] - offsets[::-1])[::-1]
    # the next hit whose own precision nothing after it exceeds; a query's last hit is one
    record = np.where(precision == best, np.arange(len(at)), len(at))
    holder = np.minimum.accumulate(record[::-1])[::-1]
    terms = np.zeros(len(ranking.rank))
    for level in levels:
        hits = np.maximum(needed(level, ranking.total(rel), rounding), 1)
        reached = found >= hits
        first = (offsets[:-1] + hits - 1)[reached]
        terms[at[holder[first]]] += best[first]  # one hit a query, so no index repeats
    return terms


def needed(recall: "Fraction", total: Ints, rounding: str) -> Ints:
    """Q: how many relevant items a recall level asks for."""
    match rounding:
        case "up":
            return share(recall, total)
        case "trec9":
            return (float(recall) * total + 0.9).astype(np.int64)
        case _:
            return np.floor(float(recall) * total + 0.5).astype(np.int64)
