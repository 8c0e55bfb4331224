"""Interpolated precision, the best at a recall level or beyond it, and areas under the curve."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.average import average_precision
from germane.measures.sets import exact, rounded
from germane.measures.terms import Scored

if TYPE_CHECKING:
    from fractions import Fraction


def interpolated_precision(
    ranking: Ranking, k: None, rel: float, recall: float, rounding: str
) -> Scored:
    terms = _terms(ranking, None, rel, [exact(recall)], rounding)
    return Scored(terms, ranking.ones, ranking.total(rel))


def interpolated_average_precision(
    ranking: Ranking, k: int | None, rel: float, points: int, rounding: str
) -> Scored:
    levels = [exact(1.0) * i / (points - 1) for i in range(points)]
    if rounding == "double":
        levels = [type(level).from_float(i * (1 / (points - 1))) for i, level in enumerate(levels)]
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
    if rule == "linear101":
        none, intervals = np.zeros(len(ranking.rank)), np.full(len(ranking), 100)
        return Scored(none, intervals, total, _areas_of_lines(ranking, k, rel))
    if rule == "davis_goadrich":
        return Scored(_hyperbolas(ranking, k, rel), total, total)
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
    counted = ranking.counted(rel, k)
    started = {"none": first > 1, "(1/R,P@first)": before > 0}.get(start, np.True_)
    previous = np.where(first > 1, before / np.maximum(first - 1, 1), float(start == "(0,1)"))
    return np.where(counted & started, (previous + after / ranking.rank) / 2, 0.0)


def _hyperbolas(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """H: the area under the curve that false positives make as they grow with the true ones.

    From the step before, with t true and f false positives, precision at t + x true ones is
    (t + x)/(t + x + f + x·n/s), where the step holds s relevant and n other items. Hits of one step
    share its area.
    """
    grouped = ranking.ties == "grouped"
    first = ranking.tied_from if grouped else ranking.rank
    size = ranking.tied_relevant(rel)[0] if grouped else np.ones(len(first), np.int64)
    counted = ranking.counted(rel, k)
    size = np.where(counted, size, 1)
    true = ranking.so_far(rel) - size
    false = first - 1 - true
    slope = 1 + (ranking.rank - first + 1 - size) / size  # items a relevant one
    start = false - (slope - 1) * true
    grown = np.log((slope * (true + size) + start) / np.maximum(slope * true + start, 1e-300))
    area = (size - np.where(start == 0, 0.0, start / slope * grown)) / slope
    return np.where(counted, area / size, 0.0)


def _areas_of_lines(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """Q: the area under straight lines between the best precisions, read at 101 recalls.

    The lines begin at recall 0 with precision 1, and drop to 0 at the last recall. Steps without a hit are a point at the recall before them.
    """
    at, offsets, _, best = _envelope(ranking, k, rel)
    first = ranking.tied_from if ranking.ties == "grouped" else ranking.rank
    levels, areas = np.linspace(0, 1, 101), np.zeros(len(ranking))
    total, so_far = ranking.total(rel), ranking.so_far(rel)
    for q, (start, end) in enumerate(pairwise(offsets.tolist())):
        rank, step = np.unique(ranking.rank[at[start:end]], return_index=True)
        hit = at[start:end][step]
        recall = np.append(0, so_far[hit]) / max(int(total[q]), 1)
        gap = first[hit] > np.append(0, rank[:-1]) + 1
        x = np.stack([np.where(gap, recall[:-1], np.nan), recall[1:]], axis=1).ravel()
        x = np.concatenate([[0.0], x, [recall[-1], 1.0]])
        y = np.concatenate([[1.0], np.repeat(best[start:end][step], 2), [0.0, 0.0]])
        height = np.interp(levels, x[~np.isnan(x)], y[~np.isnan(x)])
        areas[q] = bool(len(hit)) * (height[1:] + height[:-1]).sum() / 2
    return areas


def _envelope(ranking: Ranking, k: int | None, rel: float) -> tuple[Ints, Ints, Floats, Floats]:
    """The relevant hits, their offsets by query, their precision, and the best from there on."""
    at = np.flatnonzero(ranking.counted(rel, k))
    offsets = ragged.offsets(np.bincount(ranking.owner[at], minlength=len(ranking)))
    precision = ranking.so_far(rel)[at] / ranking.rank[at]
    best = ragged.running_maximum(precision[::-1], offsets[-1] - offsets[::-1])[::-1]
    return at, offsets, precision, best


def _terms(
    ranking: Ranking, k: int | None, rel: float, levels: "list[Fraction]", rounding: str
) -> Floats:
    """H: each recall level's precision, added at the hit that has it."""
    at, offsets, precision, best = _envelope(ranking, k, rel)
    found = ragged.lengths(offsets)
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
