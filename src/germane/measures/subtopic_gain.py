"""D♯-measures: grades are added up over an item's subtopics, and mixed with subtopic recall."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import MEAN, REL, Definition, Parameter, write_number, write_ranks
from germane.measures.gain import GAIN, write_gain
from germane.measures.subtopics import (
    SHORT,
    WEIGHTS,
    count_new,
    count_subtopics,
    discount,
    get_cells,
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
        f"{write_number(p['gamma'])}·(Σ subtopics that are new at i ÷ S) +"
        f" {write_number(1 - p['gamma'])}·(Σ Σ_subtopics"
        f" {'weight·' if p['weights'] == 'given' else ''}{write_gain(p)} ÷ log2(i+1), ÷ the same of"
        f" the ideal ranking), {write_ranks(k)}, {SHORT}"
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
    conventions=(
        "The ideal ranking orders items by their summed gains, which is exact. gamma=0 is D-nDCG,"
        " gamma=1 is StRecall. weights=given multiplies gains by the probabilities of intents, as"
        " NTCIREVAL; subtopic recall has no weights."
    ),
    cite="Sakai & Song, SIGIR 2011",
)
