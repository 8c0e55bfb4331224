"""D♯-measures: grades are added up over an item's subtopics, and mixed with subtopic recall."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import (
    ALWAYS,
    MEAN,
    REL,
    Definition,
    Parameter,
    write_number,
    write_ranks,
)
from germane.measures.gain import GAIN, write_gain
from germane.measures.subtopic_coverage import SYMBOL
from germane.measures.subtopics import (
    WEIGHTS,
    count_new,
    count_subtopics,
    discount,
    get_cells,
    write_sum,
)
from germane.measures.terms import Scored, compute_gains


def _sum_global_gains(ranking: Ranking, gain: Any, weights: str) -> tuple[Floats, Floats]:
    """Sum the gains over all subtopics of each hit (H) and of each judgment that counts (J)."""
    cells, judgment = get_cells(ranking), ranking.judgment
    assert judgment is not None
    gains = compute_gains(cells.judged.grades, gain)
    if weights == "given":
        gains = gains * cells.judged.weights
    total = np.bincount(cells.judgment, weights=gains, minlength=len(cells.owner))
    return total[judgment], total


def d_sharp_ndcg(
    ranking: Ranking, k: int | None, gamma: float, rel: float, gain: Any, weights: str
) -> Scored:
    cells, subtopics = get_cells(ranking), count_subtopics(ranking, rel)
    gained, judged = _sum_global_gains(ranking, gain, weights)
    counts = np.flatnonzero((cells.owner >= 0) & (judged > 0))
    order = counts[np.lexsort((-judged[counts], cells.owner[counts]))]
    owner = cells.owner[order]
    first = np.searchsorted(owner, owner)
    rank = np.arange(len(order)) - first + 1
    ideal = np.where(rank <= (k or len(order)), judged[order] * discount(rank), 0.0)
    norm = ragged.sum_rows(ideal, owner, len(ranking))
    discounted = np.where(ranking.within(k), gained * discount(ranking.rank), 0.0)
    terms = gamma * _divide(ranking, count_new(ranking, k, rel), subtopics)
    terms += (1.0 - gamma) * _divide(ranking, discounted, norm)
    return Scored(terms, ranking.ones, (gamma > 0) * subtopics + (gamma < 1) * (norm > 0))


def _divide(ranking: Ranking, terms: Floats, norm: Floats | Ints) -> Floats:
    """Divide each hit's term by its query's norm (H); 0 where that is 0."""
    divisor = norm[ranking.owner]
    return np.divide(terms, divisor, out=np.zeros(len(terms)), where=divisor > 0)


D_SHARP_NDCG = Definition(
    "Dsharp_nDCG",
    "D♯-nDCG: subtopic recall and nDCG of the gains summed over subtopics, mixed",
    d_sharp_ndcg,
    lambda k, p: (
        f"γ·(Σ subtopics that are new at i, {write_ranks(k)})/S + (1 - γ)·(Σ G(i)/log2(i+1),"
        f" {write_ranks(k)}) ÷ (Σ ideal(i)/log2(i+1), {write_ranks(k, 'J')})"
    ),
    example='score([{"a"}, {"a", "b"}], "Dsharp_nDCG@1") == (1 / 2 + 1 / 2) / 2',
    where=lambda k, p: (
        f"G(i) = {write_sum(p, 'judged subtopics of i')}{write_gain(p)},"
        f" ideal(i): the i-th highest G of the judged items{'' if k else ', J: judged items'},"
        f" {SYMBOL}, γ = {write_number(p['gamma'])}"
    ),
    parameters=(
        Parameter("gamma", 0.5, "the weight of subtopic recall", low=0.0, high=1.0),
        REL,
        GAIN,
        WEIGHTS,
        MEAN,
    ),
    aliases=("DsharpnDCG",),
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "The ideal ranking orders items by their summed gains, which is exact. gamma=0 is D-nDCG,"
        " gamma=1 is StRecall. weights=given multiplies gains by the probabilities of intents, as"
        " NTCIREVAL; subtopic recall has no weights. rel counts for subtopic recall alone: an item"
        " gains by every positive grade, also by those below rel."
    ),
    undefined=(
        "Without relevant items, where gamma is above 0, and without items that gain anything,"
        " where it is below 1: no_relevant decides (default: 0)."
    ),
    cite="Sakai & Song, SIGIR 2011",
)
