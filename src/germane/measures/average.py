"""Average precision and its relatives; interpolated precision, and areas under the curve."""

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import (
    MEAN,
    REL,
    Definition,
    Extremes,
    Parameter,
    Scored,
    Weight,
    bound_nowhere,
    sum_harmonic,
    weigh_hits,
    write_depth,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_most, count_ranks, round_share, to_fraction, write_most

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction


_AP_NORM: dict[str, Callable[[int | None], str]] = {
    "R": lambda k: "R",
    "min": partial(write_most, norm="min"),
    "possible": partial(write_most, norm="possible"),
    "found": lambda k: "relevant items found" + ("" if k is None else f" in the first {k}"),
    "k": write_depth,
}


def average_precision(ranking: Ranking, k: int | None, rel: float, norm: str) -> Scored:
    total = ranking.total(rel)
    if ranking.ties == "expected":
        terms = _expect_precisions(ranking, k, rel)
        if norm == "found":
            return _expect_over_found(ranking, k, rel, terms)
    else:
        terms = ranking.mark_relevant(rel, k) * (ranking.so_far(rel) / ranking.rank)
    return Scored(terms, _choose_norm(ranking, total, k, rel, norm), total)


def _find_extremes(k: int | None, p: dict[str, Any]) -> Extremes:
    if p["norm"] != "found":
        return "always"
    return "whole lists" if k is None else "never"


AVERAGE_PRECISION = Definition(
    "AP",
    "Average precision",
    average_precision,
    lambda k, p: f"Σ P@i·rel(i), {write_ranks(k)}",
    norm=lambda k, p: _AP_NORM[p["norm"]](k),
    example='score([1, 0, 1, 0, 0], "AP@5", relevant=4) == (1 / 1 + 2 / 3) / min(4, 5)',
    parameters=(
        REL,
        Parameter(
            "norm", "min", "the divisor of the sum", words=("R", "min", "possible", "found", "k")
        ),
        MEAN,
    ),
    aliases=("MAP",),
    beyond="with norm=found and a cutoff or a depth",
    extremes=_find_extremes,
    conventions=(
        "norm=R divides by R, as textbooks do, and norm=min by min(R,k)."
        " norm=found divides by the number of relevant items within the cutoff,"
        " so a shorter list can have a higher value, and a late relevant item"
        " can lower it. norm=possible divides by min(R,k,N), which also rewards"
        " short lists, and norm=k by the cutoff. Without a cutoff, R and min are"
        " the same."
    ),
    cite=(
        "Buckley & Voorhees, Retrieval System Evaluation, in TREC, MIT Press, 2005; "
        "Craswell & Robertson, Average Precision at n, Encyclopedia of Database Systems, 2009"
    ),
    grouped=True,
)


def _choose_norm(ranking: Ranking, total: Ints, k: int | None, rel: float, norm: str) -> Ints:
    match norm:
        case "R":
            return total
        case "min" | "possible":
            return count_most(ranking, total, k, norm)
        case "found":
            return ranking.count_found(rel, k)
        case _:
            return count_ranks(ranking, k)


def mean_precision(ranking: Ranking, k: int | None, rel: float) -> Scored:
    """The mean of P@1 … P@k. A hit at rank r counts in P@r … P@k: its term is 1/r + … + 1/k."""
    ranks = count_ranks(ranking, k)
    end = sum_harmonic(ranks)[ranking.owner]
    weight = Weight(
        at=lambda i: end - sum_harmonic(i - 1), upto=lambda n: n * end - n * (sum_harmonic(n) - 1)
    )
    terms = ranking.relevant(rel) * weigh_hits(ranking, weight, ranking.end(k))
    return Scored(terms, ranks, ranking.total(rel))


MEAN_PRECISION = Definition(
    "MeanP",
    "The mean of P@1 … P@k, a common mistake: this is not average precision",
    mean_precision,
    lambda k, p: f"Σ P@i, {write_ranks(k)}",
    norm=lambda k, p: write_depth(k),
    example='round(score([1, 0, 1], "MeanP@3"), 4) == round((1 + 1 / 2 + 2 / 3) / 3, 4)',
    parameters=(REL, MEAN),
    conventions=(
        "Precision is taken at every rank, whether the item is relevant or not,"
        " so a perfect ranking scores below 1 if R < k. The measure has a name"
        " of its own here because it is often reported as AP."
    ),
)


def mean_recall(ranking: Ranking, k: int | None, rel: float) -> Scored:
    """The mean of R@1 … R@k. A hit at rank r counts in R@r … R@k: k - r + 1 times."""
    ranks = count_ranks(ranking, k)
    end = ranks[ranking.owner]
    weight = Weight(at=lambda i: end - i + 1.0, upto=lambda n: n * end - n * (n - 1) / 2)
    terms = ranking.relevant(rel) * weigh_hits(ranking, weight, ranking.end(k))
    return Scored(terms, ranking.total(rel) * ranks, ranking.total(rel))


MEAN_RECALL = Definition(
    "MeanR",
    "The mean of R@1 … R@k",
    mean_recall,
    lambda k, p: f"Σ R@i, {write_ranks(k)}",
    norm=lambda k, p: write_depth(k),
    weight=lambda k, p: f"{write_depth(k)}·R",
    example='score([1, 0, 1], "MeanR@3", relevant=2) == (1 / 2 + 1 / 2 + 2 / 2) / 3',
    parameters=(REL, MEAN),
)


def average_recall(ranking: Ranking, k: int | None, rel: float) -> Scored:
    total = ranking.total(rel)
    share = ranking.so_far(rel) / np.maximum(total, 1)[ranking.owner]
    return Scored(ranking.mark_relevant(rel, k) * share, total, total)


AVERAGE_RECALL = Definition(
    "AR",
    "Average recall: the mean of recall at the ranks of all relevant items",
    average_recall,
    lambda k, p: f"Σ R@i·rel(i), {write_ranks(k)}",
    norm=lambda k, p: "R",
    example='score([1, 0, 1, 0, 0], "AR@5", relevant=4) == (1 / 4 + 2 / 4) / 4',
    parameters=(REL, MEAN),
    expected=False,
    conventions=(
        "The value depends only on the number of hits, not on their ranks; a"
        " perfect list has (R + 1)/2R. Evidently reports it as MAR."
    ),
)


def average_precision_to_r(ranking: Ranking, k: None, rel: float) -> Scored:
    total = ranking.total(rel)
    counted = ranking.relevant(rel) & (ranking.rank <= total[ranking.owner])
    terms = np.where(counted, ranking.so_far(rel) / ranking.rank, 0.0)
    return Scored(terms, total, total)


AVERAGE_PRECISION_TO_R = Definition(
    "APR",
    "Average precision over the first R ranks, known as MAP@R",
    average_precision_to_r,
    lambda k, p: "Σ P@i·rel(i), i ≤ R",
    norm=lambda k, p: "R",
    example='score([1, 0, 1], "APR", relevant=2) == (1 / 1) / 2',
    parameters=(REL, MEAN),
    aliases=("MAPR",),
    cutoff=False,
    expected=False,
    conventions="This is AP@k with k = R, so a relevant item below rank R counts as missed.",
    cite="Musgrave, Belongie & Lim, A Metric Learning Reality Check, ECCV 2020",
)


def yaap(ranking: Ranking, k: int | None, rel: float) -> Scored:
    total = ranking.total(rel)
    terms = average_precision(ranking, k, rel, "R").terms
    return Scored(terms, ranking.ones, total, link=lambda s: np.log((1 + s) / (1 + total - s)))


YAAP = Definition(
    "YAAP",
    "Yet another average precision: the log odds of AP's sum",
    yaap,
    lambda k, p: f"ln((1 + S) ÷ (1 + R - S)), S = Σ P@i·rel(i), {write_ranks(k)}",
    'round(score([1, 0], "YAAP", relevant=2), 4) == 0.0',
    parameters=(REL,),
    aliases=("yaap",),
    finds=False,
    unanswered=lambda k, p: "ln(1 ÷ (1 + R))",
    range=bound_nowhere,
    expected=False,
    conventions="The middle of the scale is 0, and there is no lowest or highest value.",
    cite="Robertson, SIGIR 2012 (tutorial measure in trec_eval)",
)


# --- Ties in random order (McSherry & Najork, ECIR 2008) -----------------------------------------
#
# A group of n equal scores on the ranks a … b holds r relevant items, and h relevant items stand
# before it. Every order being equally likely, rank i of the group is relevant with probability
# r/n, and given that, (i - a)(r - 1)/(n - 1) of the others are expected before it. So the expected
# sum of P@i·rel(i) over the group's ranks up to e is
#
#     r/n · Σ_{i=a…e} (h + 1 + (i - a)·ρ) / i,   ρ = (r - 1)/(n - 1)
#   = r/n · [ (h + 1 - a·ρ)(H(e) - H(a - 1)) + ρ·(e - a + 1) ],   H the harmonic numbers.


def _expect_precisions(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """Give each relevant hit (H) its share, 1/r, of its group's expected sum."""
    relevant = ranking.relevant(rel)
    size, before = ranking.count_tied(rel)
    first, width = ranking.tied_from, ranking.tied_to - ranking.tied_from + 1
    end = np.minimum(ranking.tied_to, ranking.last(k)[ranking.owner])
    share = _sum_precisions(first, end, before, size, width) / width
    return np.where(relevant & (end >= first), share, 0.0)


def _sum_precisions(first: Any, end: Any, before: Any, size: Any, width: Any) -> Any:
    """Sum (before + 1 + (i - first)·ρ)/i over the ranks first … end."""
    rho = (size - 1) / np.maximum(width - 1, 1)
    reach = sum_harmonic(end) - sum_harmonic(first - 1)
    return (before + 1 - first * rho) * reach + rho * (end - first + 1)


def _expect_over_found(ranking: Ranking, k: int | None, rel: float, terms: Floats) -> Scored:
    """Compute expected AP with norm=found, whose norm depends on the order of ties.

    It does so only where a group of equal scores straddles k.

    There, x of the group's r relevant items stand within k with hypergeometric probability, and
    given x they are spread evenly over the group's ranks within k. The value is the mean over x;
    since the norm differs from order to order, it is inside the terms.
    """
    relevant = ranking.relevant(rel)
    size, before = ranking.count_tied(rel)
    last = ranking.last(k)[ranking.owner]
    inside = relevant & (ranking.tied_to <= last)
    norm = ragged.count_flags(inside, ranking.owner, len(ranking)).astype(float)
    scaled = np.where(inside, terms, 0.0)
    torn = np.flatnonzero(relevant & (ranking.tied_from <= last) & (ranking.tied_to > last))
    for hit in torn[np.unique(ranking.owner[torn], return_index=True)[1]]:
        first, end, h = int(ranking.tied_from[hit]), int(last[hit]), int(before[hit])
        r, n, s = int(size[hit]), int(ranking.tied_to[hit]) - first + 1, end - first + 1
        query = ranking.owner[hit]
        rows = slice(ranking.offsets[query], ranking.offsets[query + 1])
        settled = float(scaled[rows].sum())
        value = 0.0
        for x in range(max(0, r - (n - s)), min(r, s) + 1):
            if h + x:
                chance = math.comb(s, x) * math.comb(n - s, r - x) / math.comb(n, r)
                reach = float(_sum_precisions(first, end, h, x, s)) * x / s
                value += chance * (settled + reach) / (h + x)
        scaled[rows] = 0.0
        scaled[hit] = value
        norm[query] = 1.0
    return Scored(scaled, norm, ranking.total(rel))


# --- Interpolated ---------------------------------------------------------------------------------
#
# Interpolated precision, the best at a recall level or beyond it, and areas under the curve.

ROUNDING = Parameter(
    "rounding",
    "up",
    "how a share of R is rounded to a number of items: up is the"
    " definition; trec9 is int(share·R + 0.9),"
    " as in trec_eval up to version 9; nearest is int(share·R + 0.5), as for recall levels in"
    " trec_eval since version 10; double compares h/R with the share in double precision, as PASCAL"
    " VOC and COCO do",
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
        "y(r): the height at recall r of the line that joins (0, 1), each (R@i, max P@j, i ≤ j ≤"
        " {n}) with i ≤ {n}, (R@{n}, 0) and (1, 0), in this order, and where several points have"
        " recall r, the last counts"
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
    conventions="The value is 0 if this recall is never reached.",
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
    conventions="PASCAL VOC 2007 and old TREC reports use 11 points, and COCO uses 101.",
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
            "how the area is computed: step is AP; trapezoid joins the points of all ranks, from"
            " recall 0 with precision 1, by straight lines; interpolated gives each recall the best"
            " precision at that recall or beyond, and 11 and 101 read it at that many levels of"
            " recall; linear101 joins its points by straight lines, from precision 1 at recall 0 to"
            " 0 beyond the highest recall, and adds trapezoids between 101 levels of recall;"
            " davis_goadrich assumes that between two relevant items, the others are spread evenly",
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
        "Beyond the highest recall, the curve counts as 0. rule=step equals AP(norm=R). PASCAL VOC"
        " used rule=11 in 2007 and has used interpolated since 2010. COCO uses 101, and the"
        " benchmarks of Oxford and Paris buildings use trapezoid."
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
