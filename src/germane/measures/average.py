"""Average precision and its relatives."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
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
    write_ranks,
)
from germane.measures.sets import count_most, count_ranks, write_most

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
        "norm=R is the textbook's; min is min(R,k); found is the number of relevant items within"
        " the cutoff, so a shorter list can have a higher value; possible is min(R,k,N), which a"
        " short list lowers, too; k is the cutoff. Without a cutoff R and min are the same. With"
        " norm=found a late relevant item can lower the value."
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
        "Precision is taken at every rank, relevant or not, so a perfect ranking scores below 1 "
        "if R < k. It has its own name because it is often reported as AP."
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
        "It depends only on the number of hits, not on their ranks: a perfect list has "
        "(R + 1)/2R. Evidently reports it as MAR."
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
    conventions="As AP@k over min(R,k) with k = R: a relevant item below rank R counts as missed.",
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
    conventions="0 is the middle of the scale; there is no lowest or highest value.",
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
