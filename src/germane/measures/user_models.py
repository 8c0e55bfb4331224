"""Models of a reader who goes from rank to rank and may stop at each: RBP, ERR, INST, BPM."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import MeasureError
from germane.measures.definition import (
    ALWAYS,
    JUDGED_AT,
    LOG2,
    MEAN,
    NO_GAIN,
    REL,
    SHARE,
    Definition,
    Parameter,
    Scored,
    compute_gains,
    make_geometric_weight,
    make_weight,
    weigh_hits,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_most, write_most

RANKS = 1000  # what a reader looks at without a cutoff, as in the reference implementation
MOST = 1_000_000
_CELLS = 1 << 20  # ranks of all queries that are weighed at once

GoOn: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""Ranks (K), gains (Q, K) and gains so far (Q, K) → the probability of continuing from each rank
(Q, K, or one row for all queries)."""

LOWEST = Parameter("min", 0.0, "the highest grade that gains nothing", low=0.0, high=1e6)
HIGHEST = Parameter("max", 4.0, "the grade that gains 1", low=0.0, high=1e6, open_ends=True)
GOAL = Parameter(
    "goal", 1.0, "T, the gain that the reader hopes for", low=0.0, high=1e6, open_ends=True
)
PATIENCE = Parameter("p", 0.9, "the probability of continuing", low=0.0, high=1.0, open_ends=True)
_SCALED = (
    "The gain of a grade is (grade - min)/(max - min), limited to the range from 0 to 1. Without"
    " a cutoff, the"
    f" reader looks at {RANKS:,} ranks; ranks beyond the list gain nothing."
)


def scale_grades(grades: Floats, low: float, high: float) -> Floats:
    """Scale grades to gains from 0 to 1."""
    if not low < high:
        raise MeasureError(f"max is above min; got min={low:.12g} and max={high:.12g}")
    return np.clip((grades - low) / (high - low), 0.0, 1.0)


def _write_scaled(p: dict[str, Any]) -> str:
    low, high = write_number(p["min"]), write_number(p["max"])
    scaled = f"max(0, grade - {low})/({high} - {low})" if p["min"] else f"grade/{high}"
    return f"g(i) = min(1, {scaled})"


def weigh_examined(
    ranking: Ranking, k: int | None, gains: Floats, go_on: GoOn
) -> tuple[Floats, Floats]:
    """Weigh each hit by the probability that the reader reaches it (H), and sum the weights (Q)."""
    depth = _find_depth(k)
    ranks = np.arange(1.0, depth + 1)
    weights, sums = np.zeros(len(gains)), np.zeros(len(ranking))
    step = max(_CELLS // depth, 1)
    for first in range(0, len(ranking), step):
        last = min(first + step, len(ranking))
        part = slice(ranking.offsets[first], ranking.offsets[last])
        inside = np.flatnonzero(ranking.rank[part] <= depth) + part.start
        cells = (ranking.owner[inside] - first, ranking.rank[inside] - 1)
        gain = np.zeros((last - first, depth))
        gain[cells] = gains[inside]
        reached = np.ones_like(gain)
        reached[:, 1:] = go_on(ranks, gain, np.cumsum(gain, axis=1))[:, :-1]
        np.cumprod(reached, axis=1, out=reached)
        weights[inside], sums[first:last] = reached[cells], reached.sum(axis=1)
    return weights, sums


def _find_depth(k: int | None) -> int:
    depth = RANKS if k is None else k
    if depth > MOST:
        raise MeasureError(
            f"a user model needs every rank up to the cutoff: at most @{MOST}; got @{k}"
        )
    return depth


def measure_reader(
    ranking: Ranking,
    k: int | None,
    model: Callable[..., Floats],
    min: float,
    max: float,
    **parameters: float,
) -> Scored:
    """Measure the gain that a reader expects from an examined item."""
    gains = scale_grades(ranking.relevance, min, max)
    weights, sums = weigh_examined(ranking, k, gains, partial(model, **parameters))
    return Scored(gains * weights, sums, ranking.count_judged(ranking.ideal > min))


def make_reader(
    name: str,
    title: str,
    model: Callable[..., Floats],
    describe: Callable[[dict[str, Any]], str],
    example: str,
    cite: str,
    parameters: tuple[Parameter, ...] = (),
    beyond: str = "",
) -> Definition:
    """Make the row of a model: Σ gain · probability of being reached ÷ the probabilities' sum."""
    return Definition(
        name,
        title,
        partial(measure_reader, model=model),
        lambda k, p: f"Σ g(i)·V(i), i ≤ {k or RANKS}",
        norm=lambda k, p: f"Σ V(i), i ≤ {k or RANKS}",
        where=lambda k, p: f"V(i) = Π_{{j<i}} {describe(p)}, {_write_scaled(p)}",
        example=example,
        parameters=(*parameters, LOWEST, HIGHEST, MEAN),
        expected=False,
        beyond=beyond,
        conventions=_SCALED,
        cite=cite,
        undefined=NO_GAIN,
    )


def _go_on_for_goal(ranks: Floats, gain: Floats, so_far: Floats, goal: float) -> Floats:
    """Go on from rank i with ((i + 2T - 1)/(i + 2T))²."""
    aim: Floats = ((ranks + 2 * goal - 1) / (ranks + 2 * goal)) ** 2
    return aim[None, :]


def _go_on_for_rest(ranks: Floats, gain: Floats, so_far: Floats, goal: float) -> Floats:
    """As for a goal, but what was found already is no longer hoped for."""
    aim = ranks + 2 * goal - so_far
    out: Floats = ((aim - 1) / aim) ** 2
    return out


def _stop_at_goal(ranks: Floats, gain: Floats, so_far: Floats, goal: float) -> Floats:
    hoping: Floats = (so_far < goal).astype(float)
    return hoping


def _stop_at_gain(ranks: Floats, gain: Floats, so_far: Floats) -> Floats:
    return 1.0 - gain


def _stop_at_gain_or_rank(ranks: Floats, gain: Floats, so_far: Floats) -> Floats:
    out: Floats = ranks / (ranks + 1) * (1.0 - gain)
    return out


def _stop_at_gain_or_bored(ranks: Floats, gain: Floats, so_far: Floats, p: float) -> Floats:
    return p * (1.0 - gain)


def _stop_at_gain_or_goal(ranks: Floats, gain: Floats, so_far: Floats, goal: float) -> Floats:
    return _go_on_for_goal(ranks, gain, so_far, goal) * (1.0 - gain)


INSQ = make_reader(
    "INSQ",
    "Inverse squares: a reader with a goal T, who is more likely to continue at later ranks",
    _go_on_for_goal,
    lambda p: f"((j+2T-1)/(j+2T))², T = {write_number(p['goal'])}",
    'round(score([1, 0], "INSQ(max=1)@2"), 6) == round(1 / (1 + 4 / 9), 6)',
    "Moffat, Scholer & Thomas, ADCS 2012",
    (GOAL,),
)

INST = make_reader(
    "INST",
    "INST: as INSQ, but the goal shrinks with the gain so far",
    _go_on_for_rest,
    lambda p: "((j+T+T(j)-1)/(j+T+T(j)))², T(j) = T - Σ_{m≤j} g(m), T = " + write_number(p["goal"]),
    'round(score([1, 0], "INST(max=1)@2"), 6) == round(1 / (1 + 1 / 4), 6)',
    "Bailey, Moffat, Scholer & Thomas, SIGIR 2015; Moffat et al., ADCS 2015",
    (GOAL,),
)

BPM = make_reader(
    "BPM",
    "Bejeweled player model: a reader who stops after a gain of T, or at rank k",
    _stop_at_goal,
    lambda p: f"(Σ_{{m≤j}} g(m) < {write_number(p['goal'])})",
    'score([0, 1, 0], "BPM(max=1)@3") == 1 / 2',
    "Zhang et al., SIGIR 2017 (static)",
    (GOAL,),
    beyond=ALWAYS,
)

NEARLY_ERR_8 = make_reader(
    "NERR8",
    "Nearly ERR: a reader who is satisfied by a gain, or stops at rank k",
    _stop_at_gain,
    lambda p: "(1 - g(j))",
    'score([0, 1, 0], "NERR8(max=1)@3") == 1 / 2',
    "Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 8",
)

NEARLY_ERR_9 = make_reader(
    "NERR9",
    "Nearly ERR: as NERR8, and less patient at first",
    _stop_at_gain_or_rank,
    lambda p: "j/(j+1)·(1 - g(j))",
    'round(score([0, 1, 0], "NERR9(max=1)@3"), 6) == round(1 / 2 / (1 + 1 / 2), 6)',
    "Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 9",
)

NEARLY_ERR_10 = make_reader(
    "NERR10",
    "Nearly ERR: a reader who is satisfied by a gain, and otherwise continues with probability p",
    _stop_at_gain_or_bored,
    lambda p: f"{write_number(p['p'])}·(1 - g(j))",
    'round(score([0, 1, 0], "NERR10(p=0.5,max=1)"), 6) == round(1 / 2 / (1 + 1 / 2), 6)',
    "Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 10",
    (PATIENCE,),
)

NEARLY_ERR_11 = make_reader(
    "NERR11",
    "Nearly ERR: a reader who is satisfied by a gain, and otherwise has a goal T",
    _stop_at_gain_or_goal,
    lambda p: f"((j+2T-1)/(j+2T))²·(1 - g(j)), T = {write_number(p['goal'])}",
    'round(score([0, 1, 0], "NERR11(max=1)"), 6) == round(4 / 9 / (1 + 4 / 9), 6)',
    "Azzopardi, Mackenzie & Moffat, ICTIR 2021, equation 11",
    (GOAL,),
)


def scaled_dcg(ranking: Ranking, k: int | None, min: float, max: float) -> Scored:
    depth = _find_depth(k)
    gains = scale_grades(ranking.relevance, min, max)
    terms = gains * weigh_hits(ranking, LOG2, ranking.end(depth))
    norm = LOG2.upto(np.full(len(ranking), depth))
    return Scored(terms, norm, ranking.count_judged(ranking.ideal > min))


SCALED_DCG = Definition(
    "SDCG",
    "Scaled DCG: nDCG as if there were k items of the highest grade",
    scaled_dcg,
    lambda k, p: f"Σ g(i) ÷ log2(i+1), i ≤ {k or RANKS}",
    norm=lambda k, p: f"Σ 1/log2(i+1), i ≤ {k or RANKS}",
    where=lambda k, p: _write_scaled(p),
    example='score([1, 0], "SDCG(max=1)@2") == 1 / (1 + 1 / log2(3))',
    parameters=(LOWEST, HIGHEST, MEAN),
    conventions=_SCALED,
    cite="Moffat, Bailey, Scholer & Thomas, ACM TOIS 35(3), 2017",
    undefined=NO_GAIN,
)


# --- Measures of a reader who may stop at every rank ----------------------------------------------

_RBP_GAINS = {"binary": "", "linear": "·grade", "exp": "·(2^grade - 1)"}
GOING_ON = Parameter(
    "p",
    0.8,
    "the probability of continuing",
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
        "RBPResidual is the value that the unjudged items could add. For other"
        " weights of ranks, use nDCG(discount=…,norm=retrieved)."
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
    conventions="All ranks beyond the last result count in full.",
    cite="Moffat & Zobel, ACM TOIS 27(1), 2008",
    nonrelevant=True,
    undefined="",
)


# --- Compatibility: the overlap of a ranking with an ideal one ------------------------------------


def compatibility(ranking: Ranking, k: None, p: float, norm: str) -> Scored:
    """A hit is common to both rankings from the later of its ranks to the longer one's end."""
    positive = ranking.ideal > 0
    total = ranking.count_judged(positive)
    end = np.maximum(ranking.retrieved, total)
    overlap = make_weight(lambda depth: p ** (depth - 1.0) / depth).upto
    later = np.maximum(ranking.rank, _place_in_ideal(ranking))
    common = np.maximum(overlap(end)[ranking.owner] - overlap(later - 1), 0.0)
    terms = np.where(ranking.relevance > 0, common, 0.0)
    if norm == "all":
        return Scored(terms, (1.0 - p ** end.astype(float)) / (1.0 - p), total)
    # the ideal ranking has d items in common with itself to depth d, and no more than there are
    weights = (1.0 - p ** total.astype(float)) / (1.0 - p)
    return Scored(terms, weights + total * (overlap(end) - overlap(total)), total)


def _place_in_ideal(ranking: Ranking) -> Ints:
    """Place each hit in the ideal ranking (H): best grades first, of equals those retrieved."""
    better, position = np.unique(-ranking.ideal), np.empty(len(ranking.rank), np.int64)
    stride = len(better) + 1
    ideal = ranking.ideal_owner * stride + np.searchsorted(better, -ranking.ideal)
    hit = ranking.owner * stride + np.searchsorted(better, -ranking.relevance)
    above = np.searchsorted(ideal, hit) - ranking.ideal_offsets[ranking.owner]
    order = np.argsort(hit, kind="stable")  # hits come by rank
    starts = np.append(True, np.diff(hit[order]) > 0)
    place = np.arange(len(order))
    position[order] = place - np.maximum.accumulate(np.where(starts, place, 0))
    return above + position + 1


COMPATIBILITY = Definition(
    "Compat",
    "Compatibility: rank-biased overlap with the ideal ranking",
    compatibility,
    lambda k, p: "Σ p^(d-1)·c(d)/d, d ≤ max(N,R)",
    norm=lambda k, p: f"Σ p^(d-1){'' if p['norm'] == 'all' else '·min(d,R)/d'}, d ≤ max(N,R)",
    where=lambda k, p: (
        "c(d): items that the first d of the list and of the ideal ranking have in common,"
        f" R: items of a grade above 0, p = {write_number(p['p'])}"
    ),
    example='round(score([0, 1], "Compat(p=0.5)"), 6) == round(0.5 / 2 / (1 + 0.5 / 2), 6)',
    parameters=(
        Parameter(
            "p",
            0.95,
            "the weight of a depth, as a share of the previous weight",
            low=0.0,
            high=1.0,
            open_ends=True,
        ),
        Parameter(
            "norm",
            "ideal",
            "the divisor: the ideal ranking's own overlap, or all weights",
            words=("ideal", "all"),
        ),
        MEAN,
    ),
    cutoff=False,
    expected=False,
    conventions=(
        "The ideal ranking contains all items with a positive grade, the"
        " highest grades first. Items of equal grade keep the order that they"
        " have in the run, and missed items come last. With norm=ideal, the"
        " divisor is the same sum for the ideal ranking compared with itself."
    ),
    cite="Clarke, Vtyurina & Smucker, ACM TOIS 39(2), 2021",
    undefined=NO_GAIN,
)
