"""How well and how soon a list covers the subtopics of its query, and D♯-measures, which mix in
grades."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Cells, Entries, Ranking
from germane.measures.definition import (
    ALWAYS,
    LOG2,
    MEAN,
    ONE,
    REL,
    Definition,
    Parameter,
    Scored,
    compute_gains,
    weigh_hits,
    write_depth,
    write_number,
    write_ranks,
)
from germane.measures.gain import GAIN, write_gain
from germane.measures.sets import count_ranks

WEIGHTS = Parameter(
    "weights",
    "equal",
    "the weights of subtopics or the probabilities of intents: all equal,"
    " or those of subtopic_weights=",
    words=("equal", "given"),
)

_T = TypeVar("_T")


def keep(ranking: Ranking, key: Hashable, compute: Callable[[], _T]) -> _T:
    """Compute a value once for all measures of subtopics of a ranking."""
    if key not in ranking.of_subtopics:
        ranking.of_subtopics[key] = compute()
    selected: _T = ranking.of_subtopics[key]
    return selected


def get_cells(ranking: Ranking) -> Cells:
    assert ranking.subtopics is not None
    return ranking.subtopics


def find_covered(ranking: Ranking, rel: float) -> tuple[Entries, Ints]:
    """Find the subtopics of each hit, and for each of them how many earlier hits have it."""

    def find() -> tuple[Entries, Ints]:
        assert ranking.judgment is not None
        covered = get_cells(ranking).find_covered(ranking.judgment, rel)
        return covered, _count_earlier(covered.cell)

    return keep(ranking, ("covered", rel), find)


def _count_earlier(cell: Ints) -> Ints:
    """Count the earlier entries with the same cell."""
    order = ragged.order_stably(cell)
    position = np.arange(len(cell))
    starts = np.where(np.diff(cell[order], prepend=-1) > 0, position, 0)
    earlier = np.empty(len(cell), np.int64)
    earlier[order] = position - np.maximum.accumulate(starts)
    return earlier


def count_relevant(ranking: Ranking, rel: float) -> Ints:
    """Count the relevant items of each subtopic of a query (T)."""
    cells = get_cells(ranking)
    return keep(
        ranking,
        ("relevant", rel),
        lambda: np.bincount(cells.find_relevant(rel).cell, minlength=len(cells)),
    )


def count_subtopics(ranking: Ranking, rel: float) -> Ints:
    """Count the subtopics that have a relevant item (Q)."""
    owner = get_cells(ranking).query[count_relevant(ranking, rel) > 0]
    return np.bincount(owner, minlength=len(ranking))


def sum_weights(ranking: Ranking, rel: float, weights: str) -> Floats | Ints:
    """Sum the weights of the subtopics with a relevant item (Q); equal weights are counted."""
    if weights == "equal":
        return count_subtopics(ranking, rel)
    cells = get_cells(ranking)
    counted = np.where(count_relevant(ranking, rel) > 0, cells.weight, 0.0)
    return np.bincount(cells.query, weights=counted, minlength=len(ranking))


def add_up(ranking: Ranking, entries: Entries, values: Floats, weights: str = "equal") -> Floats:
    """Add up the values of each hit's subtopics (H), times the weights that are given."""
    if weights == "given":
        values = values * get_cells(ranking).weight[entries.cell]
    return np.bincount(entries.row, weights=values, minlength=len(ranking.rank))


def sum_gains(
    ranking: Ranking, k: int | None, rel: float, alpha: float, weights: str = "equal"
) -> Floats:
    """Sum the gain of each hit (H): (1 - α)^(earlier items that have it) for each subtopic."""

    def compute() -> Floats:
        covered, earlier = find_covered(ranking, rel)
        powers = np.multiply.accumulate(
            np.append(1.0, np.full(int(earlier.max(initial=0)), 1.0 - alpha))
        )
        return add_up(ranking, covered, powers[earlier], weights)

    gains = keep(ranking, ("gains", rel, alpha, weights), compute)
    return np.where(ranking.within(k), gains, 0.0)


def count_new(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """Count the subtopics of each hit that no earlier one has (H)."""
    return sum_gains(ranking, k, rel, alpha=1.0)


def discount(ranks: Ints) -> Floats:
    """Compute 1 / log2(rank + 1)."""
    return np.asarray(LOG2.at(ranks))


def write_total(p: dict[str, Any]) -> str:
    """Write the number, or the weights, of the subtopics with a relevant item."""
    return "W" if p["weights"] == "given" else "S"


def write_symbol(p: dict[str, Any]) -> str:
    """Write what the symbol of ``write_total`` stands for."""
    if p["weights"] == "given":
        return "W: weights of the subtopics with a relevant item"
    return "S: subtopics with a relevant item"


def write_sum(p: dict[str, Any], which: str = "subtopics of i") -> str:
    """Write the sum over an item's subtopics."""
    return f"Σ_{{{which}}} " + ("weight·" if p["weights"] == "given" else "")


# --- Subtopic coverage ----------------------------------------------------------------------------
#
# How many subtopics the first items have: recall, precision and average precision of subtopics.

SYMBOL = write_symbol({"weights": "equal"})
COUNTED = Parameter(
    "subtopics",
    "relevant",
    "the subtopics that are counted: those with a relevant item, or all for which an item is"
    " judged",
    words=("relevant", "judged"),
)


def subtopic_recall(ranking: Ranking, k: int | None, rel: float, subtopics: str) -> Scored:
    relevant = norm = count_subtopics(ranking, rel)
    if subtopics == "judged":
        norm = np.bincount(get_cells(ranking).query, minlength=len(ranking))
    return Scored(count_new(ranking, k, rel), norm, relevant)


SUBTOPIC_RECALL = Definition(
    "StRecall",
    "Subtopic recall, or coverage: the share of subtopics in the first k items",
    subtopic_recall,
    lambda k, p: f"Σ subtopics that are new at i, {write_ranks(k)}",
    norm=lambda k, p: "S" if p["subtopics"] == "relevant" else "all judged subtopics",
    where=lambda k, p: SYMBOL if p["subtopics"] == "relevant" else "",
    example='score([{"a"}, {"a", "b"}, {"c"}], "StRecall@2") == 2 / 3',
    parameters=(REL, COUNTED, MEAN),
    aliases=("SubtopicRecall", "SubtopicCoverage", "strec"),
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "Zhai et al. divide by the number of all subtopics of the query. ndeval"
        " and NTCIREVAL's I-rec divide by the number of subtopics with a"
        " relevant item."
    ),
    cite="Zhai, Cohen & Lafferty, SIGIR 2003 (S-recall)",
)


def intent_aware_precision(ranking: Ranking, k: int | None, rel: float, weights: str) -> Scored:
    covered, _ = find_covered(ranking, rel)
    has = add_up(ranking, covered, np.ones(len(covered.row)), weights)
    total = sum_weights(ranking, rel, weights)
    terms = has * weigh_hits(ranking, ONE, ranking.end(k))
    return Scored(terms, count_ranks(ranking, k) * total, total)


INTENT_AWARE_PRECISION = Definition(
    "P_IA",
    "Intent-aware precision: the mean of P@k over the subtopics",
    intent_aware_precision,
    lambda k, p: (
        f"Σ {'weights' if p['weights'] == 'given' else 'number'} of subtopics of i,"
        f" {write_ranks(k)}"
    ),
    norm=lambda k, p: f"({write_depth(k)}·{write_total(p)})",
    where=lambda k, p: write_symbol(p),
    example='score([{"a"}, {"a", "b"}], "P_IA@2") == (1 + 2) / (2 * 2)',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("PIA",),
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "A list shorter than k counts as filled up with nonrelevant items."
        " weights=given is the mean of the paper, over intents with given"
        " probabilities."
    ),
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)


def intent_aware_average_precision(ranking: Ranking, k: None, rel: float, weights: str) -> Scored:
    covered, earlier = find_covered(ranking, rel)
    precision = (earlier + 1) / ranking.rank[covered.row]
    share = precision / count_relevant(ranking, rel)[covered.cell]
    total = sum_weights(ranking, rel, weights)
    return Scored(add_up(ranking, covered, share, weights), total, total)


INTENT_AWARE_AVERAGE_PRECISION = Definition(
    "AP_IA",
    "Intent-aware average precision: the mean of AP over the subtopics",
    intent_aware_average_precision,
    lambda k, p: f"Σ {write_sum(p)}(items to i that have it)/i ÷ (all items that have it), i ≤ N",
    norm=lambda k, p: write_total(p),
    where=lambda k, p: write_symbol(p),
    example='score([{"a"}, {"a", "b"}], "AP_IA") == ((1 + 2 / 2) / 2 + 1 / 2) / 2',
    parameters=(REL, WEIGHTS, MEAN),
    aliases=("MAP_IA", "APIA"),
    cutoff=False,
    expected=False,
    beyond=ALWAYS,
    subtopics=True,
    conventions=(
        "The AP of one subtopic is divided by the number of its relevant items,"
        " as in AP(norm=R)."
        " weights=given is the mean of the paper, over intents with given"
        " probabilities."
    ),
    cite="Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009",
)


# --- Subtopic gain --------------------------------------------------------------------------------
#
# D♯-measures: grades are added up over an item's subtopics, and mixed with subtopic recall.


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
        "The ideal ranking, which is exact, sorts items by the sum of their"
        " gains. gamma=0 is D-nDCG, and gamma=1 is StRecall. weights=given"
        " multiplies gains by the probabilities of intents, as NTCIREVAL does;"
        " subtopic recall has no weights. rel applies only to subtopic recall:"
        " every positive grade gains something, even one below rel."
    ),
    undefined=(
        "If gamma is above 0 and there are no relevant items, or if gamma is"
        " below 1 and no item gains anything, no_relevant decides (default: 0)."
    ),
    cite="Sakai & Song, SIGIR 2011",
)
