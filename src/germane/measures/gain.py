"""Cumulated gain: graded relevance, discounted by rank."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import (
    ALWAYS,
    LOG2,
    MEAN,
    NO_GAIN,
    REL,
    SHARE,
    Definition,
    Parameter,
    Scored,
    Weight,
    bound_nowhere,
    compute_gains,
    make_discount,
    weigh_hits,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_filled, count_ranks, write_divisor

GAIN = Parameter(
    "gain",
    "linear",
    "the worth of a grade: the grade, 2^grade - 1, or an explicit map",
    words=("linear", "exp"),
    grades=True,
)


DISCOUNT = Parameter(
    "discount",
    "log",
    "the divisor of a gain at rank i: log is log_b(i+1); jarvelin is log_b i, but at least 1,"
    " as in the original; position is i (also written linear); none is 1, so that gains are only"
    " added up",
    words=("log", "jarvelin", "position", "none"),
    synonyms={"linear": "position"},  # Weaviate's linear nDCG
)
BASE = Parameter("base", 2.0, "b, the base of the logarithm", low=1.0, high=1e6, open_ends=True)
LEAST = Parameter("least", 0.0, "the lowest grade that gains anything", low=0.0)
IDEAL = Parameter(
    "norm",
    "judged",
    "the ideal ranking: everything judged for the query; as many items of gain 1 as the cutoff"
    " allows; or as many as were retrieved within it",
    words=("judged", "k", "retrieved"),
)


def write_gain(p: dict[str, Any]) -> str:
    """Write the worth of an item."""
    return {"linear": "grade", "exp": "(2^grade - 1)"}.get(p["gain"], "gain")


def write_ideal(k: int | None, p: dict[str, Any]) -> str:
    """Write what ideal(i) and J stand for, where a sum is over the ideal ranking."""
    last = ", J: judged items" if k is None else ""
    return f"ideal(i): the i-th highest gain of the judged items{_write_worth(p)}{last}"


def _write_worth(p: dict[str, Any]) -> str:
    """Write what a gain is; an explicit map is written behind every formula."""
    return f", gain = {write_gain(p).strip('()')}" if isinstance(p["gain"], str) else ""


def _write_discounted(p: dict[str, Any], gain: str = "") -> str:
    log = f"log{write_number(p['base'])}"
    divided = {
        "log": f" ÷ {log}(i+1)",
        "jarvelin": f" ÷ max(1, {log}(i))",
        "position": " ÷ i",
        "none": "",
    }
    return f"Σ {gain or write_gain(p)}{divided[p['discount']]}"


def _write_divisor(k: int | None, p: dict[str, Any]) -> str:
    if p["norm"] == "judged":
        return "the same of the ideal ranking"
    return f"{_write_discounted(p, '1')}, i ≤ {write_divisor(k, p['norm'])}"


def dcg(
    ranking: Ranking, k: int | None, gain: Any, discount: str, base: float, least: float
) -> Scored:
    terms = _discount(ranking, k, gain, make_discount(discount, base), least)
    ideal = _rank_ideal(ranking, gain, least)
    return Scored(terms, ranking.ones, ranking.count_judged(ideal > 0))


DCG = Definition(
    "DCG",
    "Discounted cumulated gain",
    dcg,
    lambda k, p: f"{_write_discounted(p)}, {write_ranks(k)}",
    'score([3, 0, 2], "DCG") == 3 + 2 / 2',
    parameters=(GAIN, DISCOUNT, BASE, LEAST),
    range=bound_nowhere,
    conventions=(
        "A grade of 0 or less gains nothing, unless a map gives it a gain. discount=none is "
        "cumulated gain."
    ),
    cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; log2(i+1) and exp: Burges et al., ICML 2005",
    undefined=NO_GAIN,
)


def ideal_dcg(
    ranking: Ranking, k: int | None, gain: Any, discount: str, base: float, least: float
) -> Scored:
    none, ideal = np.zeros(len(ranking.rank)), _rank_ideal(ranking, gain, least)
    total = ranking.count_judged(ideal > 0)
    weight = make_discount(discount, base)
    return Scored(none, ranking.ones, total, _sum_ideal(ranking, k, ideal, weight))


def accumulate_dcg(ranking: Ranking, gain: Any) -> tuple[Floats, Floats, Floats]:
    """Compute the gains of the ideal ranking, its DCG after each rank, and that of each hit."""
    gained, ideal = compute_gains(ranking.relevance, gain), compute_gains(ranking.ideal, gain)
    highest = ragged.accumulate_sum(LOG2.weigh(ideal, ranking.ideal_rank), ranking.ideal_offsets)
    reached = ragged.accumulate_sum(LOG2.weigh(gained, ranking.rank), ranking.offsets)
    return ideal, highest, reached


IDEAL_DCG = Definition(
    "IDCG",
    "DCG of the best possible ranking",
    ideal_dcg,
    lambda k, p: f"{_write_discounted(p, 'ideal(i)')}, {write_ranks(k, 'J')}",
    'score([2, 0, 3], "IDCG@2") == 3 + 2 / log2(3)',
    where=lambda k, p: write_ideal(k, p),
    parameters=(GAIN, DISCOUNT, BASE, LEAST),
    better="neither",
    finds=False,
    unanswered=lambda k, p: "IDCG, as for any list",
    extremes=lambda k, p: "always",  # no order changes it
    range=bound_nowhere,
    cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002",
    undefined=NO_GAIN,
)


def ndcg(
    ranking: Ranking,
    k: int | None,
    gain: Any,
    discount: str,
    base: float,
    least: float,
    norm: str = "judged",
) -> Scored:
    ideal, weight = _rank_ideal(ranking, gain, least), make_discount(discount, base)
    terms = _discount(ranking, k, gain, weight, least)
    if norm == "judged":
        best = _sum_ideal(ranking, k, ideal, weight)
    else:
        best = weight.upto((count_ranks if norm == "k" else count_filled)(ranking, k))
    return Scored(terms, best, ranking.count_judged(ideal > 0))


NDCG = Definition(
    "nDCG",
    "Normalized discounted cumulated gain",
    ndcg,
    lambda k, p: f"{_write_discounted(p)}, {write_ranks(k)}",
    norm=_write_divisor,
    example='score([2, 0, 3], "nDCG") == (2 + 3 / 2) / (3 + 2 / log2(3))',
    parameters=(GAIN, DISCOUNT, BASE, LEAST, IDEAL, MEAN),
    range=lambda p: SHARE if p["norm"] == "judged" else None,
    aliases=("NDCG",),
    conventions=(
        "The ideal ranking contains all items that were judged for the query,"
        " whether they were retrieved or not, and is cut at the same k. With"
        " norm=k, it consists of k items of gain 1, so a query with fewer"
        " relevant items cannot reach 1, and one with grades above 1 can exceed"
        " it. With discount=log, the base does not matter."
    ),
    cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; log2(i+1) and exp: Burges et al., ICML 2005",
    undefined=NO_GAIN,
)


def _sum_ideal(ranking: Ranking, k: int | None, ideal: Floats, weight: Weight = LOG2) -> Floats:
    """Sum the DCG of the best possible ranking of everything judged (Q)."""
    rank = ranking.ideal_rank
    discounted = weight.weigh(ideal, rank)
    if k is not None:
        discounted = np.where(rank <= k, discounted, 0.0)
    return ragged.sum_rows(discounted, ranking.ideal_owner, len(ranking))


def ndcg_at_relevant(ranking: Ranking, k: None, gain: Any) -> Scored:
    """nDCG measured at each relevant item; the missed ones are given the final nDCG."""
    gained = compute_gains(ranking.relevance, gain)
    dcg_here = ragged.accumulate_sum(LOG2.weigh(gained, ranking.rank), ranking.offsets)
    ideal_here = _sum_ideal_at(ranking, gain, ranking.rank)
    relevant = gained > 0
    terms = np.divide(
        dcg_here, ideal_here, out=np.zeros(len(gained)), where=relevant & (ideal_here > 0)
    )
    best = _rank_ideal(ranking, gain)
    total = ranking.count_judged(best > 0)
    missed = total - ragged.count_flags(relevant, ranking.owner, len(ranking))
    final = np.zeros(len(ranking))
    answered = ranking.offsets[1:] > ranking.offsets[:-1]
    final[answered] = dcg_here[ranking.offsets[1:][answered] - 1]
    ideal = _sum_ideal(ranking, None, best)
    rest = np.divide(missed * final, ideal, out=np.zeros(len(ranking)), where=ideal > 0)
    return Scored(terms, total, total, rest=rest)


NDCG_AT_RELEVANT = Definition(
    "nDCGrel",
    "nDCG averaged over the relevant items",
    ndcg_at_relevant,
    lambda k, p: "(Σ nDCG@i·rel(i), i ≤ N) + (R - hits)·nDCG",
    norm=lambda k, p: "R",
    where=lambda k, p: f"hits = Σ rel(i), i ≤ N{_write_worth(p)}; relevant: gain > 0",
    example='score([1, 0], "nDCGrel", relevant=1) == 1.0',
    parameters=(GAIN, MEAN),
    aliases=("ndcg_rel",),
    cutoff=False,
    expected=False,
    cite="trec_eval, ndcg_rel (experimental)",
    undefined=NO_GAIN,
)


def ndcg_at_levels(ranking: Ranking, k: None, gain: Any) -> Scored:
    """nDCG averaged over the ranks at which the ideal ranking passes from one gain to the next.

    A last level stands at the end of the results where they reach at least two ranks beyond the
    ideal's gains, as in the reference implementation. The term of a hit is its discounted gain
    times Σ 1/ideal over the levels at or after its rank.
    """
    ideal, rank, owner = _rank_ideal(ranking, gain), ranking.ideal_rank, ranking.ideal_owner
    ends = ideal > 0  # the last item of each positive gain
    total = ranking.count_judged(ends)
    ends[:-1] &= (owner[1:] != owner[:-1]) | (ideal[1:] != ideal[:-1])
    inverse = 1.0 / ragged.accumulate_sum(LOG2.weigh(ideal, rank), ranking.ideal_offsets)[ends]
    levels = np.bincount(owner[ends], minlength=len(ranking))
    offsets = ragged.make_offsets(levels)
    backwards = ragged.accumulate_sum(inverse[::-1], offsets[-1] - offsets[::-1])
    from_here = np.append(backwards[::-1], 0.0)

    # each hit's first level: the number of levels of its query that end before its rank
    stride = max(rank.max(initial=0), ranking.rank.max(initial=0)) + 1
    level = np.searchsorted(
        owner[ends] * stride + rank[ends], ranking.owner * stride + ranking.rank
    )
    weight = from_here[np.where(level < offsets[1:][ranking.owner], level, -1)]
    beyond = (total > 0) & (ranking.retrieved >= total + 2)
    at_end = np.append(inverse, 0.0)[np.where(beyond, offsets[1:] - 1, -1)]
    weight = weight + at_end[ranking.owner]
    terms = LOG2.weigh(compute_gains(ranking.relevance, gain), ranking.rank) * weight
    return Scored(terms, levels + beyond, total)


_LEVELS = "Σ {}, i ≤ R, ideal(i) > ideal(i+1)"
_LAST_LEVEL = "(N ≥ R + 2 > 2)"

NDCG_AT_LEVELS = Definition(
    "RnDCG",
    "nDCG averaged over the ranks where the ideal ranking changes gain",
    ndcg_at_levels,
    lambda k, p: f"({_LEVELS.format('nDCG@i')}) + {_LAST_LEVEL}·nDCG",
    norm=lambda k, p: f"(({_LEVELS.format('1')}) + {_LAST_LEVEL})",
    where=lambda k, p: f"{write_ideal(1, p)}; relevant: gain > 0",
    example='score([1, 0], "RnDCG", relevant=1) == 1.0',
    parameters=(GAIN, MEAN),
    aliases=("Rndcg",),
    cutoff=False,
    expected=False,
    conventions=(
        "A comparison in parentheses is 1 if it is true, and otherwise 0. N is"
        " one of the ranks if it exceeds the number of relevant items by at"
        " least 2. nDCG without a rank is the nDCG of the whole list."
    ),
    cite="trec_eval, Rndcg (experimental)",
    undefined=NO_GAIN,
)


def normalized_gain(ranking: Ranking, k: None, gain: Any) -> Scored:
    """G: gain / log2(2 + ideal gain so far - gain so far), over the sum of all gains.

    "Ideal gain so far" counts at least 1 a rank, as in the reference implementation.
    """
    ideal = _rank_ideal(ranking, gain)
    gained = compute_gains(ranking.relevance, gain)
    gained_so_far = ragged.accumulate_sum(gained, ranking.offsets)
    costs = np.where(ideal > 0, np.maximum(ideal, 1.0), 1.0)
    cost_at = ragged.accumulate_sum(costs, ranking.ideal_offsets)
    judged = np.diff(ranking.ideal_offsets)[ranking.owner]
    inside = np.minimum(ranking.rank, judged)
    cost = cost_at[ranking.ideal_offsets[ranking.owner] + inside - 1] + (ranking.rank - inside)
    terms = np.divide(
        gained, np.log2(2 + cost - gained_so_far), out=np.zeros(len(gained)), where=gained != 0
    )
    total = ragged.sum_rows(ideal, ranking.ideal_owner, len(ranking))
    return Scored(terms, total, ranking.count_judged(ideal > 0))


NORMALIZED_GAIN = Definition(
    "G",
    "Normalized gain: discounted by the gain that better items would have had",
    normalized_gain,
    lambda k, p: "Σ g(i) ÷ log2(2 + Σ_{j≤i} (max(1,ideal(j)) - g(j))), i ≤ N",
    norm=lambda k, p: "Σ ideal(i), i ≤ J",
    where=lambda k, p: f"g(i) = gain, {write_ideal(None, p)}",
    example='score([1, 0], "G", relevant=1) == 1.0',
    parameters=(GAIN, MEAN),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    conventions="The ideal ranking gains at least 1 at every rank.",
    cite="trec_eval, G (experimental)",
    undefined=NO_GAIN,
)


def binary_gain(ranking: Ranking, k: None, rel: float) -> Scored:
    """binG: 1 / log2(2 + nonrelevant items before) at each relevant item, over R."""
    relevant = ranking.relevant(rel)
    before = ranking.rank - ranking.so_far(rel)
    terms = np.where(relevant, 1 / np.log2(2.0 + before), 0.0)
    return Scored(terms, ranking.total(rel), ranking.total(rel))


BINARY_GAIN = Definition(
    "binG",
    "Binary G: discounted by the nonrelevant items before",
    binary_gain,
    lambda k, p: "Σ rel(i) ÷ log2(2 + other items above i), i ≤ N",
    norm=lambda k, p: "R",
    example='score([0, 1], "binG") == 1 / log2(3)',
    parameters=(REL, MEAN),
    cutoff=False,
    expected=False,
    cite="trec_eval, binG (experimental)",
)


def _discount(ranking: Ranking, k: int | None, gain: Any, weight: Weight, least: float) -> Floats:
    """Multiply the gain of each hit by the weight of its rank (H)."""
    gained, last = compute_gains(ranking.relevance, gain, least), ranking.end(k)
    if ranking.ties == "expected":
        return gained * weigh_hits(ranking, weight, last)
    weighed = weight.weigh(gained, ranking.rank)
    return weighed if last is None else np.where(ranking.rank <= last, weighed, 0.0)


def _rank_ideal(ranking: Ranking, gain: Any, least: float = 0.0) -> Floats:
    """Rank the judged gains of each query from the highest down (J)."""
    ideal = compute_gains(ranking.ideal, gain, least)
    if not isinstance(gain, str):  # an explicit map need not grow with the grade
        ideal = ragged.sort_descending(ideal, ranking.ideal_offsets)
    return ideal


def _sum_ideal_at(ranking: Ranking, gain: Any, rank: Ints) -> Floats:
    """Sum the ideal DCG to the rank of each hit (H)."""
    gained = LOG2.weigh(_rank_ideal(ranking, gain), ranking.ideal_rank)
    ideal_so_far = ragged.accumulate_sum(gained, ranking.ideal_offsets)
    judged = np.diff(ranking.ideal_offsets)[ranking.owner]
    out: Floats = ideal_so_far[ranking.ideal_offsets[ranking.owner] + np.minimum(rank, judged) - 1]
    return out
