"""Compatibility: the overlap of a ranking with an ideal one."""

import numpy as np

from germane.core.ragged import Ints
from germane.core.ranking import Ranking
from germane.measures.definition import MEAN, NO_GAIN, Definition, Parameter, write_number
from germane.measures.terms import Scored, make_weight


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
        "The ideal ranking has all items of a positive grade, the highest grades first. "
        "Items of equal grade keep the order of the run; missed ones come last. With norm=ideal,"
        " the divisor is the same sum of the ideal ranking with itself."
    ),
    cite="Clarke, Vtyurina & Smucker, ACM TOIS 39(2), 2021",
    undefined=NO_GAIN,
)
