"""Measures in which a subtopic gains less with each item: α-nDCG, ERR-IA, NRBP and others."""

import math
from typing import Any

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import MeasureError
from germane.measures import ideal_order
from germane.measures.definition import (
    ALWAYS,
    MEAN,
    REL,
    SHARE,
    Definition,
    Parameter,
    Range,
    write_number,
    write_ranks,
)
from germane.measures.ideal_order import Discount
from germane.measures.sets import count_ranks
from germane.measures.subtopics import (
    WEIGHTS,
    discount,
    sum_gains,
    sum_weights,
    write_sum,
    write_symbol,
    write_total,
)
from germane.measures.terms import Scored

ALPHA = Parameter(
    "alpha",
    0.5,
    "the share of its gain that a subtopic loses with each item that has it",
    low=0.0,
    high=1.0,
)
IDEAL = Parameter(
    "ideal",
    "greedy",
    "the ideal ranking: at each rank the item with the highest gain, among equal ones the last id;"
    " the same, but rounding errors decide among equal ones, as in ndeval; or the best of all"
    " rankings, for few items",
    words=("greedy", "rounded", "exact"),
)
LONGEST = 10_000_000  # ranks of a list that covers everything at every rank


# --- α-nDCG -----------------------------------------------------------------------------------


def _invert(ranks: Ints) -> Floats:
    return 1.0 / ranks


def _sum_full(
    ranking: Ranking, k: int | None, total: Floats | Ints, alpha: float, discount: Discount
) -> Floats:
    """Sum the gains of a list in which every item has all subtopics, of this total weight (Q)."""
    ends = np.where(total > 0, count_ranks(ranking, k), 0)
    fading = 0 < alpha < 1  # where powers reach 0
    least = int(ends.max(initial=0))
    if fading:
        least = min(least, math.ceil(1100 / -math.log2(1.0 - alpha)))
    elif alpha == 1:
        least = min(least, 1)
    if least > LONGEST:
        raise MeasureError(
            f"norm=full with alpha=0 adds up at most {LONGEST:,} ranks; got {least:,}."
        )
    ranks = np.arange(1, least + 1)
    sums = np.append(0.0, np.add.accumulate(discount(ranks) * (1.0 - alpha) ** (ranks - 1.0)))
    upto: Floats = total * sums[np.minimum(ends, least)]
    return upto


def alpha_dcg(
    ranking: Ranking, k: int | None, alpha: float, rel: float, norm: str, weights: str
) -> Scored:
    total = sum_weights(ranking, rel, weights)
    terms = sum_gains(ranking, k, rel, alpha, weights) * discount(ranking.rank)
    divisor = ranking.ones
    if norm == "full":
        divisor = _sum_full(ranking, k, total, alpha, discount)
    return Scored(terms, divisor, total)


def _write_gains(k: int | None, p: dict[str, Any]) -> str:
    """Write the gain of an item, which a sum before it calls g(i)."""
    beta = f", β = {write_number(p['beta'])}" if "beta" in p else ""
    return (
        f"g(i) = {write_sum(p)}(1 - α)^(earlier items that have it),"
        f" α = {write_number(p['alpha'])}{beta}"
    )


FULL = "the same of a list in which every item has all subtopics"

ALPHA_DCG = Definition(
    "alpha_DCG",
    "α-DCG: cumulated gain, less for repeated subtopics",
    alpha_dcg,
    lambda k, p: f"Σ g(i) ÷ log2(i+1), {write_ranks(k)}",
    norm=lambda k, p: FULL if p["norm"] == "full" else "",
    where=_write_gains,
    example='score([{"a"}, {"a", "b"}], "alpha_DCG@2") == 1 + (1 / 2 + 1) / log2(3)',
    parameters=(
        ALPHA,
        REL,
        Parameter("norm", "none", "the divisor of the sum", words=("none", "full")),
        WEIGHTS,
    ),
    aliases=("alphaDCG",),
    range=lambda p: SHARE if p["norm"] == "full" else None,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "Clarke et al. do not normalize. ndeval's alpha-DCG is norm=full, which no real list "
        "reaches and which falls as k grows; at k = 1, ndeval does not normalize."
    ),
    cite="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, SIGIR 2008",
)


def alpha_ndcg(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = ideal_order.SUMS[ideal](ranking, rel, alpha, k, discount, weights)
    terms = sum_gains(ranking, k, rel, alpha, weights) * discount(ranking.rank)
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


_IDEALS = {
    "greedy": "the ideal ranking",
    "rounded": "the ideal ranking with ties broken by rounding",
    "exact": "the best ranking of all",
}


def _write_ideal(k: int | None, p: dict[str, Any]) -> str:
    return f"the same of {_IDEALS[p['ideal']]}"


def _bound_ideal(p: dict[str, Any]) -> Range:
    """Bound a share of the ideal ranking. With diminishing gains, a greedy one has at least 1 - 1/e
    of the highest sum of each length (Nemhauser, Wolsey & Fisher, 1978), and so of discounted sums.
    """
    return SHARE if p["ideal"] == "exact" or p["alpha"] == 0 else (0.0, math.e / (math.e - 1))


ALPHA_NDCG = Definition(
    "alpha_nDCG",
    "α-nDCG: normalized cumulated gain, less for repeated subtopics",
    alpha_ndcg,
    lambda k, p: f"Σ g(i) ÷ log2(i+1), {write_ranks(k)}",
    norm=_write_ideal,
    where=_write_gains,
    range=_bound_ideal,
    example='score([{"a"}, {"a", "b"}], "alpha_nDCG@1") == 1 / 2',
    parameters=(ALPHA, REL, IDEAL, WEIGHTS, MEAN),
    aliases=("alphanDCG",),
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "The greedy ideal ranking is an approximation, as in every tool; a better list has a value"
        " above 1, of at most e/(e - 1) = 1.58. ideal=exact searches all rankings."
    ),
    cite="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, SIGIR 2008",
)


# --- Readers who stop -------------------------------------------------------------------------


def intent_aware_err(
    ranking: Ranking, k: int | None, alpha: float, rel: float, norm: str, weights: str
) -> Scored:
    total = sum_weights(ranking, rel, weights)
    terms = sum_gains(ranking, k, rel, alpha, weights) / ranking.rank
    if norm == "S":
        return Scored(alpha * terms, total, total)
    divisor = ranking.ones if norm == "none" else _sum_full(ranking, k, total, alpha, _invert)
    return Scored(terms, divisor, total)


STOP = Parameter(
    "alpha",
    0.5,
    "the probability that a relevant item satisfies a reader who looks for its subtopic",
    low=0.0,
    high=1.0,
)

INTENT_AWARE_ERR = Definition(
    "ERR_IA",
    "Intent-aware expected reciprocal rank: the mean of ERR over the subtopics",
    intent_aware_err,
    lambda k, p: f"Σ {'α·' if p['norm'] == 'S' else ''}g(i) ÷ i, {write_ranks(k)}",
    norm=lambda k, p: {"S": write_total(p), "none": "", "full": FULL}[p["norm"]],
    where=lambda k, p: _write_gains(k, p) + (f", {write_symbol(p)}" if p["norm"] == "S" else ""),
    example='score([{"a"}, {"a", "b"}], "ERR_IA@2") == (1 / 2 + (1 / 4 + 1 / 2) / 2) / 2',
    parameters=(
        STOP,
        REL,
        Parameter("norm", "S", "the divisor of the sum", words=("S", "none", "full")),
        WEIGHTS,
        MEAN,
    ),
    aliases=("ERRIA",),
    range=lambda p: None if p["norm"] == "none" else SHARE,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "The mean of ERR over equally probable subtopics, for judgments of 0 and 1; α is (2^1 -"
        " 1)/2^1 on the scale of Chapelle et al. ndeval's ERR-IA is norm=full: divided by the value"
        " of an impossible list. At k = 1, ndeval does not normalize, and its value is the number"
        " of subtopics."
    ),
    cite="Chapelle, Ji, Liao, Velipasaoglu, Lai & Wu, Information Retrieval 14(6), 2011",
)


def normalized_intent_aware_err(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = ideal_order.SUMS[ideal](ranking, rel, alpha, k, _invert, weights)
    terms = sum_gains(ranking, k, rel, alpha, weights) / ranking.rank
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


NORMALIZED_INTENT_AWARE_ERR = Definition(
    "nERR_IA",
    "Normalized intent-aware expected reciprocal rank",
    normalized_intent_aware_err,
    lambda k, p: f"Σ g(i) ÷ i, {write_ranks(k)}",
    norm=_write_ideal,
    where=_write_gains,
    range=_bound_ideal,
    example='score([{"a"}, {"a", "b"}], "nERR_IA@1") == 1 / 2',
    parameters=(STOP, REL, IDEAL, WEIGHTS, MEAN),
    aliases=("nERRIA",),
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions="The ideal ranking is that of alpha_nDCG; a better list has a value above 1.",
    cite="Clarke, Craswell, Soboroff & Ashkan, WSDM 2011",
)

GOING_ON = Parameter("beta", 0.5, "the probability to continue to the next rank", low=0.0, high=1.0)


def _count_ranks_that_matter(beta: float) -> int | None:
    """Count the ranks whose weights β^(i-1) add up to nearly all; None for all ranks."""
    if beta in (0.0, 1.0):
        return None if beta else 1
    return math.ceil(math.log2((1.0 - beta) * 2.0**-60) / math.log2(beta))


def novelty_rbp(
    ranking: Ranking, k: None, alpha: float, beta: float, rel: float, weights: str
) -> Scored:
    total = sum_weights(ranking, rel, weights)
    terms = sum_gains(ranking, None, rel, alpha, weights) * beta ** (ranking.rank - 1.0)
    lost = 1.0 - (1.0 - alpha) * beta
    if not lost and total.any():
        raise MeasureError(
            "NRBP(alpha=0,beta=1): an endless list has no sum; choose an alpha above 0 or a beta"
            " below 1."
        )
    return Scored(terms, total / (lost or 1.0), total)


NOVELTY_RBP = Definition(
    "NRBP",
    "Novelty- and rank-biased precision: RBP for which repeated subtopics gain less",
    novelty_rbp,
    lambda k, p: "Σ g(i)·β^(i-1), i ≤ N",
    norm=lambda k, p: f"({write_total(p)} ÷ (1 - (1 - α)·β))",
    where=lambda k, p: f"{_write_gains(k, p)}, {write_symbol(p)}",
    example='round(score([{"a"}, {"a", "b"}], "NRBP"), 6) == (1 + 1.5 / 2) * 0.75 / 2',
    parameters=(ALPHA, GOING_ON, REL, WEIGHTS, MEAN),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=("An endless list in which every item has all subtopics has the value 1."),
    cite="Clarke, Kolla & Vechtomova, ICTIR 2009",
)


def normalized_novelty_rbp(
    ranking: Ranking, k: None, alpha: float, beta: float, rel: float, ideal: str, weights: str
) -> Scored:
    depth = _count_ranks_that_matter(beta)
    norm = ideal_order.SUMS[ideal](
        ranking, rel, alpha, depth, lambda ranks: beta ** (ranks - 1.0), weights
    )
    terms = sum_gains(ranking, None, rel, alpha, weights) * beta ** (ranking.rank - 1.0)
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


NORMALIZED_NOVELTY_RBP = Definition(
    "nNRBP",
    "Normalized novelty- and rank-biased precision",
    normalized_novelty_rbp,
    lambda k, p: "Σ g(i)·β^(i-1), i ≤ N",
    norm=_write_ideal,
    where=_write_gains,
    range=_bound_ideal,
    example='score([{"a"}, {"a", "b"}], "nNRBP") == (1 + 1.5 / 2) / (2 + 0.5 / 2)',
    parameters=(ALPHA, GOING_ON, REL, IDEAL, WEIGHTS, MEAN),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions="The ideal ranking is that of alpha_nDCG.",
    cite="Clarke, Kolla & Vechtomova, ICTIR 2009; ndeval",
)
