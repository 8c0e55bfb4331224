"""Measures of novelty and diversity: how well a list covers the subtopics of its query, and how soon.

Items are judged for subtopics. An item has a subtopic if its grade for that is ``rel`` or higher.
"""

import math
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.core.subtopics import Cells, Entries
from germane.errors import MeasureError
from germane.measures import ideal_order
from germane.measures.definition import (
    MEAN,
    REL,
    Definition,
    Parameter,
    write_depth,
    write_number,
    write_ranks,
)
from germane.measures.gain import GAIN, write_gain
from germane.measures.ideal_order import Discount
from germane.measures.sets import count_ranks
from germane.measures.terms import LOG2, ONE, Scored, compute_gains, weigh_hits

ALPHA = Parameter(
    "alpha",
    0.5,
    "the share of its gain that a subtopic loses each time that an item has it",
    low=0.0,
    high=1.0,
)
IDEAL = Parameter(
    "ideal",
    "greedy",
    "the ideal ranking: the item that gains most, rank by rank, and of equal ones that with the last id; "
    "the same where the rounding of sums decides between equal ones, as in ndeval; or the best ranking of "
    "all, for few items",
    words=("greedy", "rounded", "exact"),
)
WEIGHTS = Parameter(
    "weights",
    "equal",
    "the weights of subtopics, or the probabilities of intents: all the same, or those of subtopic_weights=",
    words=("equal", "given"),
)
S = "S, the subtopics with a relevant item"
W = "W, the weights of the subtopics with a relevant item"
SHORT = "S: subtopics with a relevant item"
SHORT_W = "W: weights of the subtopics with a relevant item"
COUNTED = Parameter(
    "subtopics",
    "relevant",
    "the subtopics that are counted: those with a relevant item, or all for which an item is judged",
    words=("relevant", "judged"),
)
LONGEST = 10_000_000  # ranks of a list that covers everything at every rank


def find_covered(ranking: Ranking, rel: float) -> tuple[Entries, Ints]:
    """Find the subtopics of each hit, and for each of them how many earlier hits have it."""
    known = ranking.of_subtopics.get(rel)
    if known is None:
        cells, judgment = ranking.subtopics, ranking.judgment
        assert cells is not None
        assert judgment is not None
        covered = cells.find_covered(judgment, rel)
        known = ranking.of_subtopics[rel] = covered, _count_earlier(covered.cell)
    found: tuple[Entries, Ints] = known
    return found


def _count_earlier(cell: Ints) -> Ints:
    """Count the earlier entries with the same cell."""
    order = ragged.order_stably(cell)
    position = np.arange(len(cell))
    starts = np.where(np.diff(cell[order], prepend=-1) > 0, position, 0)
    earlier = np.empty(len(cell), np.int64)
    earlier[order] = position - np.maximum.accumulate(starts)
    return earlier


def _get_cells(ranking: Ranking) -> Cells:
    assert ranking.subtopics is not None
    return ranking.subtopics


def _count_relevant(ranking: Ranking, rel: float) -> Ints:
    """Count the relevant items of each subtopic of a query (T)."""
    cells = _get_cells(ranking)
    return np.bincount(cells.find_relevant(rel).cell, minlength=len(cells))


def count_subtopics(ranking: Ranking, rel: float) -> Ints:
    """Count the subtopics that have a relevant item (Q)."""
    owner = _get_cells(ranking).query[_count_relevant(ranking, rel) > 0]
    return np.bincount(owner, minlength=len(ranking))


def sum_weights(ranking: Ranking, rel: float, weights: str) -> Floats | Ints:
    """Sum the weights of the subtopics that have a relevant item (Q); their number if all weigh the same."""
    if weights == "equal":
        return count_subtopics(ranking, rel)
    cells = _get_cells(ranking)
    counted = np.where(_count_relevant(ranking, rel) > 0, cells.weight, 0.0)
    return np.bincount(cells.query, weights=counted, minlength=len(ranking))


def _add_up(ranking: Ranking, entries: Entries, values: Floats, weights: str = "equal") -> Floats:
    """Add up the values of each hit's subtopics (H), times the weights that are given."""
    if weights == "given":
        values = values * _get_cells(ranking).weight[entries.cell]
    return np.bincount(entries.row, weights=values, minlength=len(ranking.rank))


def _write_sum(p: dict[str, Any]) -> str:
    """Write the sum over an item's subtopics."""
    return "Σ_subtopics of i " + ("weight·" if p["weights"] == "given" else "")


def _write_total(p: dict[str, Any]) -> str:
    """Write the divisor of a mean over subtopics."""
    return W if p["weights"] == "given" else S


def _gain(ranking: Ranking, k: int | None, rel: float, alpha: float, weights: str) -> Floats:
    """Compute the gain of each hit (H): Σ (1 - α)^c over its subtopics."""
    covered, earlier = find_covered(ranking, rel)
    powers = np.multiply.accumulate(
        np.append(1.0, np.full(int(earlier.max(initial=0)), 1.0 - alpha))
    )
    gains = _add_up(ranking, covered, powers[earlier], weights)
    return np.where(ranking.within(k), gains, 0.0)


# --- Subtopic recall and precision -----------------------------------------------------------------


def _mark_new(ranking: Ranking, k: int | None, rel: float) -> Floats:
    covered, earlier = find_covered(ranking, rel)
    new = _add_up(ranking, covered, (earlier == 0).astype(float))
    return np.where(ranking.within(k), new, 0.0)


def subtopic_recall(ranking: Ranking, k: int | None, rel: float, subtopics: str) -> Scored:
    relevant = norm = count_subtopics(ranking, rel)
    if subtopics == "judged":
        norm = np.bincount(_get_cells(ranking).query, minlength=len(ranking))
    return Scored(_mark_new(ranking, k, rel), norm, relevant)


SUBTOPIC_RECALL = Definition(
    "StRecall",
    "Subtopic recall, or coverage: the share of subtopics that the first k items have",
    subtopic_recall,
    lambda k, p: f"Σ subtopics that are new at i, {write_ranks(k)}",
    norm=lambda k, p: S if p["subtopics"] == "relevant" else "all judged subtopics",
    example='score([{"a"}, {"a", "b"}, {"c"}], "StRecall@2") == 2 / 3',
    parameters=(REL, COUNTED, MEAN),
    aliases=("SubtopicRecall", "SubtopicCoverage", "strec"),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="Zhai et al. divide by all subtopics that the query has; ndeval and NTCIREVAL's I-rec take "
    "those with a relevant item, which no list can miss for lack of items.",
    cite="Zhai, Cohen & Lafferty, SIGIR 2003 (S-recall)",
)


def intent_aware_precision(ranking: Ranking, k: int | None, rel: float, weights: str) -> Scored:
    covered, _ = find_covered(ranking, rel)
    has = _add_up(ranking, covered, np.ones(len(covered.row)), weights)
    total = sum_weights(ranking, rel, weights)
    terms = has * weigh_hits(ranking, ONE, ranking.end(k))
    return Scored(terms, count_ranks(ranking, k) * total, total)


INTENT_AWARE_PRECISION = Definition(
    "P_IA",
    "Intent-aware precision: the mean of P@k over the subtopics",
    intent_aware_precision,
    lambda k, p: (
        f"Σ {'weights' if p['weights'] == 'given' else 'number'} of subtopics of i, {write_ranks(k)}"
    ),
    norm=lambda k, p: (
        f"({write_depth(k)}·W), {SHORT_W}"
        if p["weights"] == "given"
        else f"({write_depth(k)}·S), {SHORT}"
    ),
    example='score([{"a"}, {"a", "b"}], "P_IA@2") == (1 + 2) / (2 * 2)',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("PIA",),
    monotone=False,
    subtopics=True,
    conventions="A list shorter than k counts as filled up with items that are not relevant. weights=given is the "
    "paper's mean over intents of given probabilities.",
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)


def intent_aware_average_precision(ranking: Ranking, k: None, rel: float, weights: str) -> Scored:
    covered, earlier = find_covered(ranking, rel)
    precision = (earlier + 1) / ranking.rank[covered.row]
    share = precision / _count_relevant(ranking, rel)[covered.cell]
    total = sum_weights(ranking, rel, weights)
    return Scored(_add_up(ranking, covered, share, weights), total, total)


INTENT_AWARE_AVERAGE_PRECISION = Definition(
    "AP_IA",
    "Intent-aware average precision: the mean of AP over the subtopics",
    intent_aware_average_precision,
    lambda k, p: (
        ("Σ_subtopics of i, i ≤ N, " + ("weight·" if p["weights"] == "given" else ""))
        + "(items to i that have it)/i ÷ all relevant items that have it"
    ),
    norm=lambda k, p: _write_total(p),
    example='score([{"a"}, {"a", "b"}], "AP_IA") == ((1 + 2 / 2) / 2 + 1 / 2) / 2',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("MAP_IA", "APIA"),
    cutoff=False,
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="AP of one subtopic is divided by its relevant items, as AP(norm=R). weights=given is the paper's "
    "mean over intents of given probabilities.",
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)


# --- α-nDCG ----------------------------------------------------------------------------------------


def _discount(ranks: Ints) -> Floats:
    return np.asarray(LOG2.at(ranks))


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
    terms = _gain(ranking, k, rel, alpha, weights) * _discount(ranking.rank)
    divisor = ranking.ones
    if norm == "full":
        divisor = _sum_full(ranking, k, total, alpha, _discount)
    return Scored(terms, divisor, total)


def _write_gains(p: dict[str, Any]) -> str:
    """Write the gain of an item, which a sum before it calls g(i)."""
    return f"g(i) = {_write_sum(p)}{write_number(1 - p['alpha'])}^(earlier items that have it)"


FULL = "the same of a list in which every item has all subtopics"

ALPHA_DCG = Definition(
    "alpha_DCG",
    "α-DCG: cumulated gain that repeated subtopics diminish",
    alpha_dcg,
    lambda k, p: f"Σ g(i) ÷ log2(i+1), {write_ranks(k)}, {_write_gains(p)}",
    norm=lambda k, p: FULL if p["norm"] == "full" else "",
    example='score([{"a"}, {"a", "b"}], "alpha_DCG@2") == 1 + (1 / 2 + 1) / log2(3)',
    parameters=(
        ALPHA,
        REL,
        Parameter("norm", "none", "the divisor of the sum", words=("none", "full")),
        WEIGHTS,
    ),
    aliases=("alphaDCG",),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="Clarke et al. divide by nothing. ndeval's alpha-DCG is norm=full, which no real list reaches "
    "and which falls where k grows; at k = 1 ndeval divides by nothing, too.",
    cite="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, SIGIR 2008",
)


def alpha_ndcg(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = ideal_order.SUMS[ideal](ranking, rel, alpha, k, _discount, weights)
    terms = _gain(ranking, k, rel, alpha, weights) * _discount(ranking.rank)
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


_IDEALS = {"greedy": "", "rounded": ", ties broken by rounding", "exact": ", the best of all"}


def _write_ideal(k: int | None, p: dict[str, Any]) -> str:
    return "the same of the ideal ranking" + _IDEALS[p["ideal"]]


ALPHA_NDCG = Definition(
    "alpha_nDCG",
    "α-nDCG: normalized cumulated gain that repeated subtopics diminish",
    alpha_ndcg,
    lambda k, p: f"Σ g(i) ÷ log2(i+1), {write_ranks(k)}, {_write_gains(p)}",
    norm=_write_ideal,
    example='score([{"a"}, {"a", "b"}], "alpha_nDCG@1") == 1 / 2',
    parameters=(ALPHA, REL, IDEAL, WEIGHTS, MEAN),
    aliases=("alphanDCG",),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The greedy ideal ranking is an approximation, which every tool takes; a list can exceed it, and "
    "then its value exceeds 1. ideal=exact searches all rankings. Clarke et al. also allow for errors of "
    "the judges, which nobody's implementation does.",
    cite="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, SIGIR 2008",
)


# --- Readers who stop ------------------------------------------------------------------------------


def intent_aware_err(
    ranking: Ranking, k: int | None, alpha: float, rel: float, norm: str, weights: str
) -> Scored:
    total = sum_weights(ranking, rel, weights)
    terms = _gain(ranking, k, rel, alpha, weights) / ranking.rank
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
    lambda k, p: (
        f"Σ {write_number(p['alpha']) + '·' if p['norm'] == 'S' else ''}g(i) ÷ i, {write_ranks(k)}, "
        f"{_write_gains(p)}"
    ),
    norm=lambda k, p: {"S": _write_total(p), "none": "", "full": FULL}[p["norm"]],
    example='score([{"a"}, {"a", "b"}], "ERR_IA@2") == (1 / 2 + (1 / 4 + 1 / 2) / 2) / 2',
    parameters=(
        STOP,
        REL,
        Parameter("norm", "S", "the divisor of the sum", words=("S", "none", "full")),
        WEIGHTS,
        MEAN,
    ),
    aliases=("ERRIA",),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The mean of ERR over equally probable subtopics, for judgments of 0 and 1; α is (2^1 - 1)/2^1 on "
    "the scale of Chapelle et al. ndeval's ERR-IA is norm=full: divided by that of a list that nobody "
    "can make. At k = 1 ndeval divides by nothing, and its value is the number of subtopics.",
    cite="Chapelle, Ji, Liao, Velipasaoglu, Lai & Wu, Information Retrieval 14(6), 2011",
)


def normalized_intent_aware_err(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = ideal_order.SUMS[ideal](ranking, rel, alpha, k, _invert, weights)
    terms = _gain(ranking, k, rel, alpha, weights) / ranking.rank
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


NORMALIZED_INTENT_AWARE_ERR = Definition(
    "nERR_IA",
    "Normalized intent-aware expected reciprocal rank",
    normalized_intent_aware_err,
    lambda k, p: f"Σ g(i) ÷ i, {write_ranks(k)}, {_write_gains(p)}",
    norm=_write_ideal,
    example='score([{"a"}, {"a", "b"}], "nERR_IA@1") == 1 / 2',
    parameters=(STOP, REL, IDEAL, WEIGHTS, MEAN),
    aliases=("nERRIA",),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The greedy ideal ranking is that of alpha_nDCG; a list can exceed it.",
    cite="Clarke, Craswell, Soboroff & Ashkan, WSDM 2011",
)

GOING_ON = Parameter(
    "beta",
    0.5,
    "the probability of going on to the next rank",
    low=0.0,
    high=1.0,
)


def _count_ranks_that_matter(beta: float) -> int | None:
    """Count the first ranks whose weights β^(i-1) add up to all but what rounding hides; None for all ranks."""
    if beta in (0.0, 1.0):
        return None if beta else 1
    return math.ceil(math.log2((1.0 - beta) * 2.0**-60) / math.log2(beta))


def novelty_rbp(
    ranking: Ranking, k: None, alpha: float, beta: float, rel: float, weights: str
) -> Scored:
    total = sum_weights(ranking, rel, weights)
    terms = _gain(ranking, None, rel, alpha, weights) * beta ** (ranking.rank - 1.0)
    lost = 1.0 - (1.0 - alpha) * beta
    if not lost and total.any():
        raise MeasureError(
            "NRBP(alpha=0,beta=1): an endless list has no sum; choose an alpha above 0 or a beta below 1."
        )
    return Scored(terms, total / (lost or 1.0), total)


NOVELTY_RBP = Definition(
    "NRBP",
    "Novelty- and rank-biased precision: RBP for which repeated subtopics gain less",
    novelty_rbp,
    lambda k, p: f"Σ g(i)·{write_number(p['beta'])}^(i-1), {_write_gains(p)}",
    norm=lambda k, p: (
        f"({'W' if p['weights'] == 'given' else 'S'} ÷ {write_number(1.0 - (1.0 - p['alpha']) * p['beta'])}), "
        + (SHORT_W if p["weights"] == "given" else SHORT)
    ),
    example='round(score([{"a"}, {"a", "b"}], "NRBP"), 6) == (1 + 1.5 / 2) * 0.75 / 2',
    parameters=(ALPHA, GOING_ON, REL, WEIGHTS, MEAN),
    cutoff=False,
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The divisor is S ÷ (1 - (1 - α)·β): 1 is the value of an endless list in which every item has "
    "all subtopics.",
    cite="Clarke, Kolla & Vechtomova, ICTIR 2009",
)


def normalized_novelty_rbp(
    ranking: Ranking, k: None, alpha: float, beta: float, rel: float, ideal: str, weights: str
) -> Scored:
    depth = _count_ranks_that_matter(beta)
    norm = ideal_order.SUMS[ideal](
        ranking, rel, alpha, depth, lambda ranks: beta ** (ranks - 1.0), weights
    )
    terms = _gain(ranking, None, rel, alpha, weights) * beta ** (ranking.rank - 1.0)
    return Scored(terms, norm, sum_weights(ranking, rel, weights))


NORMALIZED_NOVELTY_RBP = Definition(
    "nNRBP",
    "Normalized novelty- and rank-biased precision",
    normalized_novelty_rbp,
    lambda k, p: f"Σ g(i)·{write_number(p['beta'])}^(i-1), {_write_gains(p)}",
    norm=_write_ideal,
    example='score([{"a"}, {"a", "b"}], "nNRBP") == (1 + 1.5 / 2) / (2 + 0.5 / 2)',
    parameters=(ALPHA, GOING_ON, REL, IDEAL, WEIGHTS, MEAN),
    cutoff=False,
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The greedy ideal ranking is that of alpha_nDCG.",
    cite="Clarke, Kolla & Vechtomova, ICTIR 2009; ndeval",
)


# --- D♯-nDCG ---------------------------------------------------------------------------------------


def _sum_global_gains(ranking: Ranking, gain: Any, weights: str) -> tuple[Floats, Floats]:
    """Sum the gains of each hit over all subtopics (H), and those of each judgment that counts (J)."""
    cells, judgment = _get_cells(ranking), ranking.judgment
    assert judgment is not None
    gains = compute_gains(cells.judged.grades, gain)
    if weights == "given":
        gains = gains * cells.judged.weights
    total = np.bincount(cells.judgment, weights=gains, minlength=len(cells.owner))
    return total[judgment], total


def d_sharp_ndcg(
    ranking: Ranking, k: int | None, gamma: float, rel: float, gain: Any, weights: str
) -> Scored:
    cells, subtopics = _get_cells(ranking), count_subtopics(ranking, rel)
    gained, judged = _sum_global_gains(ranking, gain, weights)
    counts = np.flatnonzero((cells.owner >= 0) & (judged > 0))
    order = counts[np.lexsort((-judged[counts], cells.owner[counts]))]
    owner = cells.owner[order]
    first = np.searchsorted(owner, owner)
    rank = np.arange(len(order)) - first + 1
    ideal = np.where(rank <= (k or len(order)), judged[order] * _discount(rank), 0.0)
    norm = ragged.sum_rows(ideal, owner, len(ranking))
    discounted = np.where(ranking.within(k), gained * _discount(ranking.rank), 0.0)
    terms = gamma * _divide(ranking, _mark_new(ranking, k, rel), subtopics)
    terms += (1.0 - gamma) * _divide(ranking, discounted, norm)
    return Scored(terms, ranking.ones, np.maximum(subtopics, norm > 0))


def _divide(ranking: Ranking, terms: Floats, norm: Floats | Ints) -> Floats:
    """Divide each hit's term by its query's norm (H); 0 where that is 0."""
    divisor = norm[ranking.owner]
    return np.divide(terms, divisor, out=np.zeros(len(terms)), where=divisor > 0)


D_SHARP_NDCG = Definition(
    "Dsharp_nDCG",
    "D♯-nDCG: subtopic recall and nDCG of the gains summed over subtopics, mixed",
    d_sharp_ndcg,
    lambda k, p: (
        f"{write_number(p['gamma'])}·(Σ subtopics that are new at i ÷ S) + {write_number(1 - p['gamma'])}·(Σ "
        f"Σ_subtopics {'weight·' if p['weights'] == 'given' else ''}{write_gain(p)} ÷ log2(i+1), ÷ the same of the ideal ranking), {write_ranks(k)}, {SHORT}"
    ),
    example='score([{"a"}, {"a", "b"}], "Dsharp_nDCG@1") == (1 / 2 + 1 / 2) / 2',
    parameters=(
        Parameter("gamma", 0.5, "the weight of subtopic recall", low=0.0, high=1.0),
        REL,
        GAIN,
        WEIGHTS,
        MEAN,
    ),
    aliases=("DsharpnDCG",),
    expected=False,
    monotone=False,
    subtopics=True,
    conventions="The ideal ranking orders items by their summed gains, which is exact. gamma=0 is D-nDCG, gamma=1 is "
    "StRecall. weights=given multiplies gains by the probabilities of intents, as NTCIREVAL; subtopic recall "
    "has no weights.",
    cite="Sakai & Song, SIGIR 2011",
)
