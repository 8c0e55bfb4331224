"""Measures of a reader who may stop at every rank."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ranking import Ranking
from germane.measures.definition import (
    JUDGED_AT,
    MEAN,
    NO_GAIN,
    REL,
    SHARE,
    Definition,
    Parameter,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_most, write_most
from germane.measures.terms import Scored, compute_gains, make_geometric_weight, weigh_hits

_RBP_GAINS = {"binary": "", "linear": "·grade", "exp": "·(2^grade - 1)"}
GOING_ON = Parameter(
    "p",
    0.8,
    "the probability to continue",
    low=0.0,
    high=1.0,
    open_ends=True,
    usual=(0.5, 0.9, 0.95),
)


def expected_reciprocal_rank(ranking: Ranking, k: int | None, max: float) -> Scored:
    stop = compute_gains(ranking.relevance, "exp") / 2.0**max
    reached = np.ones(len(stop))
    inner = np.flatnonzero(np.diff(ranking.owner, prepend=-1) == 0)
    reached[inner] = ragged.accumulate_product(1.0 - stop, ranking.offsets)[inner - 1]
    terms = np.where(ranking.within(k), reached * stop / ranking.rank, 0.0)
    total = ranking.count_judged(ranking.ideal > 0)
    return Scored(terms, ranking.ones, total)


EXPECTED_RECIPROCAL_RANK = Definition(
    "ERR",
    "Expected reciprocal rank of a reader who stops when satisfied",
    expected_reciprocal_rank,
    lambda k, p: (
        f"Σ s(i)/i · Π_{{j<i}} (1 - s(j)), {write_ranks(k)}, s(i) = (2^grade - 1)/"
        f"2^{write_number(p['max'])}"
    ),
    'score([1, 0], "ERR(max=1)") == 1 / 2',
    parameters=(
        Parameter(
            "max",
            4.0,
            "the highest grade of the scale",
            low=0.0,
            high=1000.0,
            open_ends=True,
            usual=(1.0, 2.0, 3.0, 5.0),
        ),
        MEAN,
    ),
    expected=False,
    conventions="A grade above max is an error; 4 is the scale of the TREC Web tracks.",
    cite="Chapelle, Metzler, Zhang & Grinspan, CIKM 2009",
    undefined=NO_GAIN,
)


def rank_biased_precision(
    ranking: Ranking, k: int | None, rel: float, p: float, gain: str, norm: str
) -> Scored:
    weight, total = make_geometric_weight(p), ranking.total(rel)
    worth = compute_gains(ranking.relevance, gain, rel) if gain != "binary" else 1.0
    terms = ranking.relevant(rel) * worth * weigh_hits(ranking, weight, ranking.end(k))
    if norm == "all":
        return Scored(terms, ranking.ones, total)
    return Scored(terms, weight.upto(count_most(ranking, total, k, norm)), total)


def _write_rbp_norm(k: int | None, p: dict[str, Any]) -> str:
    if p["norm"] == "all":
        return ""
    return f"(1 - p)·Σ p^(i-1), i ≤ {write_most(k, p['norm'])}"


RANK_BIASED_PRECISION = Definition(
    "RBP",
    "Rank-biased precision of a reader who continues with probability p",
    rank_biased_precision,
    lambda k, p: f"(1 - p)·Σ rel(i){_RBP_GAINS[p['gain']]}·p^(i-1), {write_ranks(k)}",
    'round(score([1, 0, 1], "RBP(p=0.5)"), 6) == (1 + 1 / 4) / 2',
    norm=_write_rbp_norm,
    where=lambda k, p: f"p = {write_number(p['p'])}",
    parameters=(
        GOING_ON,
        REL,
        Parameter(
            "gain",
            "binary",
            "the worth of a relevant item: 1, its grade, or 2^grade - 1",
            words=("binary", "linear", "exp"),
        ),
        Parameter(
            "norm",
            "all",
            "the divisor of the sum: the weights of all ranks, 1; of "
            "the first min(R,k) ranks (min); or of the first min(R,k,N) ranks (possible)",
            words=("all", "min", "possible"),
        ),
        MEAN,
    ),
    range=lambda p: SHARE if p["gain"] == "binary" else None,
    conventions=(
        "RBPResidual is the value that the unjudged items could add. Other weights of ranks are "
        "those of nDCG(discount=…,norm=retrieved)."
    ),
    cite="Moffat & Zobel, ACM TOIS 27(1), 2008",
)


def residual(ranking: Ranking, k: int | None, p: float) -> Scored:
    weight = weigh_hits(ranking, make_geometric_weight(p), ranking.end(k))
    judged = ranking.relevance >= 0
    return Scored(np.where(judged, -weight, 0.0), ranking.ones, rest=1.0)


RESIDUAL = Definition(
    "RBPResidual",
    "The gain of RBP if all items that are unjudged or not retrieved were relevant",
    residual,
    lambda k, p: f"1 - (1 - p)·Σ judged(i)·p^(i-1), {write_ranks(k)}",
    'round(score([1, 0], "RBPResidual(p=0.5)"), 6) == 1 - (1 + 1 / 2) / 2',
    where=lambda k, p: f"p = {write_number(p['p'])}, {JUDGED_AT}",
    parameters=(GOING_ON, MEAN),
    better="neither",
    unanswered=lambda k, p: "1",
    conventions="The tail beyond the last result counts in full.",
    cite="Moffat & Zobel, ACM TOIS 27(1), 2008",
    nonrelevant=True,
    undefined="",
)
