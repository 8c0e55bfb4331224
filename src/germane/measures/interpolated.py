"""Interpolated precision, the best at a recall level or beyond it, and areas under the curve."""

from typing import TYPE_CHECKING

import numpy as np

from germane import _ragged
from germane._ragged import Floats, Ints
from germane.measures.average import average_precision
from germane.measures.sets import exact, rounded
from germane.measures.terms import Scored
from germane.ranking import Ranking

if TYPE_CHECKING:
    from fractions import Fraction


def interpolated_precision(
    ranking: Ranking, k: None, rel: float, recall: float, rounding: str
) -> Scored:
    terms = _terms(ranking, None, rel, [exact(recall)], rounding)
    return Scored(terms, np.ones(len(ranking)), ranking.total(rel))


def interpolated_average_precision(
    ranking: Ranking, k: int | None, rel: float, points: int, rounding: str
) -> Scored:
    levels = [exact(1.0) * i / (points - 1) for i in range(points)]
    terms = _terms(ranking, k, rel, levels, rounding)
    return Scored(terms, np.full(len(ranking), points), ranking.total(rel))


def area_under_curve(
    ranking: Ranking, k: int | None, rel: float, rule: str | int, start: str = "(0,1)"
) -> Scored:
    if rule == "step":
        return average_precision(ranking, k, rel, "R")
    if isinstance(rule, int):
        return interpolated_average_precision(ranking, k, rel, rule, "up")
    total = ranking.total(rel)
    if rule == "trapezoid":
        return Scored(_trapezoids(ranking, k, rel, start), total, total)
    terms = np.zeros(len(ranking.rank))
    at, _, _, best = _envelope(ranking, k, rel)
    terms[at] = best
    return Scored(terms, total, total)


def _trapezoids(ranking: Ranking, k: int | None, rel: float, start: str) -> Floats:
    """H: the mean of the precisions at the hit's rank and at the rank before it.

    Hits of one step share the trapezoid from the step before. ``start`` is the point before rank 1;
    with ``none`` the curve begins at rank 1, with ``(1/R,P@first)`` at the first relevant rank, and
    there is no area before.
    """
    grouped = ranking.ties == "grouped"
    first = ranking.tied_from if grouped else ranking.rank
    after = ranking.so_far(rel)
    before = after - (ranking.tied_relevant(rel)[0] if grouped else 1)
    counted = ranking.relevant(rel) & ranking.within(k)
    started = {"none": first > 1, "(1/R,P@first)": before > 0}.get(start, np.True_)
    previous = np.where(first > 1, before / np.maximum(first - 1, 1), float(start == "(0,1)"))
    return np.where(counted & started, (previous + after / ranking.rank) / 2, 0.0)


def _envelope(ranking: Ranking, k: int | None, rel: float) -> tuple[Ints, Ints, Floats, Floats]:
    """The relevant hits, their offsets by query, their precision, and the best from there on."""
    at = np.flatnonzero(ranking.relevant(rel) & ranking.within(k))
    offsets = _ragged.offsets(np.bincount(ranking.owner[at], minlength=len(ranking)))
    precision = ranking.so_far(rel)[at] / ranking.rank[at]
    best = _ragged.running_maximum(precision[::-1], offsets[-1] - offsets[::-1])[::-1]
    return at, offsets, precision, best


def _terms(
    ranking: Ranking, k: int | None, rel: float, levels: "list[Fraction]", rounding: str
) -> Floats:
    """H: each recall level's precision, added at the hit that has it."""
    at, offsets, precision, best = _envelope(ranking, k, rel)
    found = _ragged.lengths(offsets)
    # the next hit whose own precision nothing after it exceeds; a query's last hit is one
    record = np.where(precision == best, np.arange(len(at)), len(at))
    holder = np.minimum.accumulate(record[::-1])[::-1]
    terms = np.zeros(len(ranking.rank))
    for level in levels:
        hits = np.maximum(rounded(level, ranking.total(rel), rounding), 1)
        reached = found >= hits
        first = (offsets[:-1] + hits - 1)[reached]
        terms[at[holder[first]]] += best[first]  # one hit a query, so no index repeats
    return terms
