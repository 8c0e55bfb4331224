"""Interpolated precision, the best at a recall level or beyond it, and areas under the curve."""

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.average import average_precision
from germane.measures.definition import (
    MEAN,
    REL,
    Definition,
    Parameter,
    Scored,
    write_depth,
    write_number,
)
from germane.measures.sets import round_share, to_fraction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

ROUNDING = Parameter(
    "rounding",
    "up",
    "how a share of R becomes a number of items: up is the definition; trec9 is int(share·R + 0.9),"
    " as in trec_eval up to 9; nearest is int(share·R + 0.5), as recall levels in trec_eval since"
    " 10; double compares h/R with the share in double precision, as PASCAL VOC and COCO do",
    words=("up", "trec9", "nearest", "double"),
)

_AREA_TERMS: dict[str | int, str] = {
    "step": "Σ P@i·rel(i), i ≤ {n}",
    "trapezoid": "Σ (P@(i-1) + P@i)/2·rel(i), i ≤ {n}",
    "interpolated": "Σ (max P@j, i ≤ j ≤ {n})·rel(i), i ≤ {n}",
    "davis_goadrich": "Σ (1 - f(i)·ln(i/(i-1)))·rel(i), i ≤ {n}",
    "linear101": "Σ (y(r - 0.01) + y(r))/2, r = 0.01, 0.02, …, 1",
    11: "Σ (max P@i, i ≤ {n}, R@i ≥ r), r = 0, 0.1, …, 1",
    101: "Σ (max P@i, i ≤ {n}, R@i ≥ r), r = 0, 0.01, …, 1",
}
_AREA_SYMBOLS: dict[str | int, str] = {
    "trapezoid": "P@0 = 1",
    "davis_goadrich": "f(i): other items above i; a product with 0 is 0",
    "linear101": (
        "y(r): the height at recall r of the line through (0, 1), every (R@i, max P@j, i ≤ j ≤ {n})"
        " with i ≤ {n}, (R@{n}, 0) and (1, 0), of several heights the last"
    ),
}


def _write_level(level: str, rounding: str) -> str:
    """Write which ranks reach a level of recall."""
    least = {"trec9": 0.9, "nearest": 0.5}.get(rounding)
    return f"R@i ≥ {level}" if least is None else f"Σ_{{j≤i}} rel(j) ≥ ⌊{level}·R + {least}⌋"


def _write_levels(points: int, rounding: str) -> str:
    """Write the levels of recall: 0.3 of double precision is not 3·0.1 of double precision."""
    step = 0.1 if points == 11 else 0.01
    if rounding == "double":
        return f"r = 0·{step}, 1·{step}, …, {points - 1}·{step}"
    return f"r = 0, {step}, …, 1"


def _write_precision(rounding: str) -> str:
    """Write that shares of R are rounded as doubles are; those that are rounded up are exact."""
    return "" if rounding == "up" else "in double precision"


def interpolated_precision(
    ranking: Ranking, k: None, rel: float, recall: float, rounding: str
) -> Scored:
    terms = _place_levels(ranking, None, rel, (to_fraction(recall),), rounding)
    return Scored(terms, ranking.ones, ranking.total(rel))


INTERPOLATED_PRECISION = Definition(
    "IPrec",
    "Interpolated precision at a recall level",
    interpolated_precision,
    lambda k, p: f"max P@i, i ≤ N, {_write_level(write_number(p['recall']), p['rounding'])}",
    'score([0, 1, 1], "IPrec(recall=0.5)") == 2 / 3',
    where=lambda k, p: _write_precision(p["rounding"]),
    parameters=(
        Parameter("recall", 0.0, "the recall level", low=0.0, high=1.0, written=True),
        REL,
        ROUNDING,
        MEAN,
    ),
    cutoff=False,
    expected=False,
    conventions="0 if this recall is never reached.",
    cite="Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, ch. 8",
    grouped=True,
)


def interpolated_average_precision(
    ranking: Ranking, k: int | None, rel: float, points: int, rounding: str
) -> Scored:
    terms = _place_levels(ranking, k, rel, _list_levels(points, rounding), rounding)
    return Scored(terms, np.full(len(ranking), points), ranking.total(rel))


INTERPOLATED_AVERAGE_PRECISION = Definition(
    "IAP",
    "Interpolated average precision",
    interpolated_average_precision,
    lambda k, p: (
        f"Σ (max P@i, i ≤ N, {_write_level('r', p['rounding'])}),"
        f" {_write_levels(p['points'], p['rounding'])}"
    ),
    norm=lambda k, p: str(p["points"]),
    where=lambda k, p: _write_precision(p["rounding"]),
    example='score([1], "IAP", relevant=2) == 6 / 11',
    parameters=(
        Parameter("points", 11, "the number of recall levels", numbers=(11, 101)),
        REL,
        ROUNDING,
        MEAN,
    ),
    cutoff=False,
    expected=False,
    conventions="11 points: PASCAL VOC 2007 and old TREC reports; 101 points: COCO.",
    cite="Everingham et al., IJCV 88(2), 2010; Lin et al., ECCV 2014",
    grouped=True,
)


def area_under_curve(
    ranking: Ranking, k: int | None, rel: float, rule: str | int, start: str = "(0,1)"
) -> Scored:
    if rule == "step":
        return average_precision(ranking, k, rel, "R")
    if isinstance(rule, int):
        return interpolated_average_precision(ranking, k, rel, rule, "up")
    total = ranking.total(rel)
    if rule == "trapezoid":
        return Scored(_measure_trapezoids(ranking, k, rel, start), total, total)
    if rule == "linear101":
        none, intervals = np.zeros(len(ranking.rank)), np.full(len(ranking), 100)
        return Scored(none, intervals, total, measure_lines(ranking, k, rel))
    if rule == "davis_goadrich":
        return Scored(_measure_hyperbolas(ranking, k, rel), total, total)
    terms = np.zeros(len(ranking.rank))
    ranks, _, _, best = _find_envelope(ranking, k, rel)
    terms[ranks] = best
    return Scored(terms, total, total)


AREA_UNDER_CURVE = Definition(
    "AUPR",
    "Area under the precision–recall curve",
    area_under_curve,
    lambda k, p: _AREA_TERMS[p["rule"]].format(n=write_depth(k)),
    norm=lambda k, p: (
        str(p["rule"]) if isinstance(p["rule"], int) else "100" if p["rule"] == "linear101" else "R"
    ),
    where=lambda k, p: _AREA_SYMBOLS.get(p["rule"], "").format(n=write_depth(k)),
    example='score([0, 1], "AUPR(rule=trapezoid)") == (0 + 1 / 2) / 2',
    parameters=(
        Parameter(
            "rule",
            "step",
            "how the area is taken: step is AP; trapezoid joins the points of all ranks, from"
            " recall 0 with precision 1, by straight lines; davis_goadrich lets the others grow"
            " evenly with the relevant items from point to point; linear101 joins the best"
            " precisions by straight lines, from precision 1 to 0, and reads them at 101 recalls;"
            " interpolated, 11 and 101 take the best precision from a recall on, at every recall or"
            " at so many levels",
            words=("step", "trapezoid", "interpolated", "davis_goadrich", "linear101"),
            numbers=(11, 101),
        ),
        REL,
        MEAN,
    ),
    aliases=("AUCPR",),
    expected=False,
    grouped=True,
    conventions=(
        "Beyond the highest recall, the curve counts as 0. step equals AP(norm=R). interpolated:"
        " PASCAL VOC since 2010; 11: VOC 2007; 101: COCO; trapezoid: Oxford and Paris buildings."
    ),
    cite="Everingham et al., IJCV 88(2), 2010; Lin et al., ECCV 2014; Philbin et al., CVPR 2007",
)


def _measure_trapezoids(ranking: Ranking, k: int | None, rel: float, start: str) -> Floats:
    """Average the precisions at each hit's rank and at the rank before it (H).

    Hits of one step share the trapezoid from the step before. ``start`` is the point before rank 1;
    with ``none`` the curve begins at rank 1, with ``(1/R,P@first)`` at the first relevant rank, and
    there is no area before.
    """
    grouped = ranking.ties == "grouped"
    first = ranking.tied_from if grouped else ranking.rank
    after = ranking.so_far(rel)
    before = after - (ranking.count_tied(rel)[0] if grouped else 1)
    counted = ranking.mark_relevant(rel, k)
    started = {"none": first > 1, "(1/R,P@first)": before > 0}.get(start, np.True_)
    previous = np.where(first > 1, before / np.maximum(first - 1, 1), float(start == "(0,1)"))
    return np.where(counted & started, (previous + after / ranking.rank) / 2, 0.0)


def _measure_hyperbolas(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """Measure each hit's area (H) where false positives grow evenly with the true ones.

    From the step before, with t true and f false positives, precision at t + x true ones is
    (t + x)/(t + x + f + x·n/s), where the step holds s relevant and n other items. Hits of one step
    share its area.
    """
    grouped = ranking.ties == "grouped"
    first = ranking.tied_from if grouped else ranking.rank
    size = ranking.count_tied(rel)[0] if grouped else np.ones(len(first), np.int64)
    counted = ranking.mark_relevant(rel, k)
    size = np.where(counted, size, 1)
    true = ranking.so_far(rel) - size
    false = first - 1 - true
    slope = 1 + (ranking.rank - first + 1 - size) / size  # items a relevant one
    start = false - (slope - 1) * true
    grown = np.log((slope * (true + size) + start) / np.maximum(slope * true + start, 1e-300))
    area = (size - np.where(start == 0, 0.0, start / slope * grown)) / slope
    return np.where(counted, area / size, 0.0)


def measure_lines(
    ranking: Ranking, k: int | None, rel: float, *, end: Literal["drop", "slope"] = "drop"
) -> Floats:
    """Measure 100 times the area under lines between the best precisions at 101 recalls (Q).

    The lines begin at recall 0 with precision 1. At the last recall they drop to 0, or slope from
    the precision of the last rank to recall 1 with precision 0. Steps without a hit are a point at
    the recall before them.
    """
    ranks, offsets, _, best = _find_envelope(ranking, k, rel)
    first = ranking.tied_from if ranking.ties == "grouped" else ranking.rank
    levels, areas = np.linspace(0, 1, 101), np.zeros(len(ranking))
    total, rank = ranking.total(rel), ranking.rank
    if ranking.ties == "grouped" and len(ranks):  # hits of one rank are one step
        owner = ranking.owner[ranks]
        step = np.append(True, (np.diff(owner) > 0) | (np.diff(rank[ranks]) > 0))
        ranks, best = ranks[step], best[step]
        offsets = ragged.make_offsets(np.bincount(ranking.owner[ranks], minlength=len(ranking)))
    owner, count = ranking.owner[ranks], np.diff(offsets)
    recall = ranking.so_far(rel)[ranks] / np.maximum(total, 1)[owner]
    begins = offsets[:-1][count > 0]
    before, previous = np.append(0.0, recall)[:-1], np.append(0, rank[ranks])[:-1]
    before[begins], previous[begins] = 0.0, 0
    # Each query has a point at recall 0, two for each step, and two at the end.
    starts = 2 * offsets + 3 * np.arange(len(offsets))
    x, y = np.zeros(starts[-1]), np.zeros(starts[-1])
    is_corner = np.ones(starts[-1], bool)
    left = 2 * np.arange(len(ranks)) + 3 * owner + 1
    x[left], x[left + 1], y[left], y[left + 1] = before, recall, best, best
    is_corner[left] = (
        first[ranks] > previous + 1
    )  # a step that follows another hit at once has one point
    y[starts[:-1]], x[starts[1:] - 1] = 1.0, 1.0
    ends = starts[1:][count > 0]
    last = offsets[1:][count > 0] - 1
    x[ends - 2] = recall[last]
    if end == "slope":
        y[ends - 2] = ranking.so_far(rel)[ranks][last] / ranking.retrieved[count > 0]
    x, y = x[is_corner], y[is_corner]
    bounds = np.append(0, np.cumsum(is_corner))[starts].tolist()
    for q in np.flatnonzero(count).tolist():
        part = slice(bounds[q], bounds[q + 1])
        height = np.interp(levels, x[part], y[part])
        areas[q] = (height[1:] + height[:-1]).sum() / 2
    return areas


def _find_envelope(
    ranking: Ranking, k: int | None, rel: float, added: float = 0.0
) -> tuple[Ints, Ints, Floats, Floats]:
    """Find the relevant hits, their offsets, their precision, and the best from there on."""
    places = np.flatnonzero(ranking.mark_relevant(rel, k))
    offsets = ragged.make_offsets(np.bincount(ranking.owner[places], minlength=len(ranking)))
    precision = ranking.so_far(rel)[places] / (
        ranking.rank[places] + added if added else ranking.rank[places]
    )
    best = ragged.accumulate_maximum(precision[::-1], offsets[-1] - offsets[::-1])[::-1]
    return places, offsets, precision, best


def read_curves(
    ranking: Ranking, points: int, *, added: float = 0.0, rounding: str = "double"
) -> Floats:
    """Read the best precision at so many recall levels, or beyond them (levels, Q).

    Recall is compared with the levels in double precision; the levels are those in double or,
    rounded, in single precision. ``added`` is added to each rank before it divides: some tools
    avoid a division by 0 in this way.
    """
    _, offsets, _, best = _find_envelope(ranking, None, 1.0, added)
    curves = np.zeros((points, len(ranking)))
    levels = _list_levels(points, rounding)
    for curve, (reached, first) in zip(
        curves, _find_levels(ranking, offsets, 1.0, levels, "double"), strict=True
    ):
        curve[reached] = best[first]
    return curves


@lru_cache
def _list_levels(points: int, rounding: str) -> "tuple[Fraction, ...]":
    """List recall levels from 0 to 1: as they are, or as doubles have them."""
    if rounding == "double":
        return tuple(to_fraction(1.0).from_float(i * (1 / (points - 1))) for i in range(points))
    if rounding == "single":  # as torch.linspace has them, which counts from the nearer end
        step, place = float(np.float32(1) / np.float32(points - 1)), np.arange(points)
        exact = np.where(2 * place < points, step * place, 1 - step * (points - 1 - place))
        return tuple(to_fraction(1.0).from_float(float(r)) for r in exact.astype(np.float32))
    return tuple(to_fraction(1.0) * i / (points - 1) for i in range(points))


@lru_cache  # fractions are slow, and few numbers of relevant items differ
def _count_hits(levels: "tuple[Fraction, ...]", totals: tuple[int, ...], rounding: str) -> Ints:
    """Count the hits that reach each level of so many relevant items (levels, totals)."""
    shares = [round_share(level, np.array(totals, np.int64), rounding) for level in levels]
    return np.maximum(shares, 1)


def _find_levels(
    ranking: Ranking, offsets: Ints, rel: float, levels: "tuple[Fraction, ...]", rounding: str
) -> "Iterator[tuple[Bools, Ints]]":
    """For each level, mark the queries that reach it (Q), and find the hit at which they do."""
    hit_counts = ragged.find_lengths(offsets)
    totals, place = np.unique(ranking.total(rel), return_inverse=True)
    for counts in _count_hits(levels, tuple(totals.tolist()), rounding):
        hits = counts[place]
        reached = hit_counts >= hits
        yield reached, (offsets[:-1] + hits - 1)[reached]


def _place_levels(
    ranking: Ranking, k: int | None, rel: float, levels: "tuple[Fraction, ...]", rounding: str
) -> Floats:
    """Add each recall level's precision at the hit that has it (H)."""
    ranks, offsets, precision, best = _find_envelope(ranking, k, rel)
    # the next hit whose own precision nothing after it exceeds; a query's last hit is one
    record = np.where(precision == best, np.arange(len(ranks)), len(ranks))
    holder = np.minimum.accumulate(record[::-1])[::-1]
    terms = np.zeros(len(ranking.rank))
    for _, first in _find_levels(ranking, offsets, rel, levels, rounding):
        terms[ranks[holder[first]]] += best[first]  # one hit a query, so no index repeats
    return terms
