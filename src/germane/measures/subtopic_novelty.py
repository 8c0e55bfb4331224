"""Measures in which a subtopic gains less with each item (α-nDCG, ERR-IA, NRBP), and their ideal
order."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Cells, Entries, Ranking
from germane.errors import MeasureError, clip
from germane.measures.definition import (
    ALWAYS,
    MEAN,
    REL,
    SHARE,
    Definition,
    Parameter,
    Range,
    Scored,
    write_number,
    write_ranks,
)
from germane.measures.sets import count_ranks
from germane.measures.subtopic_coverage import (
    WEIGHTS,
    discount,
    get_cells,
    keep,
    sum_gains,
    sum_weights,
    write_sum,
    write_symbol,
    write_total,
)

Discount = Callable[[Ints], Floats]
"""Ranks → the weight of a gain at each."""

MOST = 100_000  # partial lists of one query that an exact search looks at


class Picks(NamedTuple):
    """The items of the ideal rankings of all queries, rank by rank, with the gain of each."""

    query: Ints
    rank: Ints
    gain: Floats


def sum_greedy(
    ranking: Ranking,
    rel: float,
    alpha: float,
    depth: int | None,
    discount: Discount,
    weights: str = "equal",
    *,
    equal: float = 1e-9,
) -> Floats:
    """Sum the discounted gains of each query's greedy ranking (Q), to some depth.

    Gains that differ by less than the share ``equal`` are equal: sums such as 0.7 + 0.49 are
    rounded.
    """
    picks = pick_greedily(ranking, rel, alpha, weights, equal).extend(depth)
    gains = picks.gain * discount(picks.rank)
    if depth is not None:
        gains = np.where(picks.rank <= depth, gains, 0.0)
    return ragged.sum_rows(gains, picks.query, len(ranking))


def pick_greedily(
    ranking: Ranking, rel: float, alpha: float, weights: str, equal: float
) -> "Greedy":
    """Begin to pick; picks are kept for all measures that have α and weights in common."""
    cells = get_cells(ranking)
    return keep(
        ranking,
        ("ideal", rel, alpha, weights, equal),
        lambda: Greedy(cells, rel, alpha, _weigh_cells(cells, weights), equal),
    )


def _weigh_cells(cells: Cells, weights: str) -> Floats:
    return cells.weight if weights == "given" else np.ones(len(cells))


class Greedy:
    """Picks the item that gains most, rank by rank; of equal ones, that with the last id.

    Items of a query with the same subtopics are of one kind, and gain the same.
    """

    def __init__(
        self, cells: Cells, rel: float, alpha: float, weight: Floats, equal: float
    ) -> None:
        self._kept, self._equal = 1.0 - alpha, equal
        items, entries, offsets = _list_items(cells, rel, by_appearance=not equal)
        self._order, ends = _group_kinds(entries.cell, offsets, cells.owner[items])
        self._next, self._ends = ends[:-1].copy(), ends[1:]
        heads = self._order[self._next]
        lengths = ragged.find_lengths(offsets)[heads]
        self._offsets = ragged.make_offsets(lengths)
        cell = entries.cell[ragged.list_stretches(offsets[heads], lengths)]
        self._entries = Entries(ragged.repeat_owners(lengths), cell)
        self._owner = cells.owner[items[heads]]
        self._starts = np.flatnonzero(np.diff(self._owner, prepend=-1))
        self._sizes = np.diff(np.append(self._starts, len(heads)))
        self._gain = weight.copy()  # of one more item with the subtopic
        self._barred = np.zeros(len(heads))  # -inf for kinds of which no item is left
        self._left = len(items)
        self._picked: list[tuple[Ints, Floats]] = []

    def extend(self, depth: int | None) -> Picks:
        """Pick items to some rank, or all. Returns all picks so far, which may go deeper."""
        while self._left and (depth is None or len(self._picked) < depth):
            self._pick()
        if not self._picked:
            return Picks(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        ranks = np.repeat(
            np.arange(1, len(self._picked) + 1), [len(picked) for picked, _ in self._picked]
        )
        items, gains = (np.concatenate(column) for column in zip(*self._picked, strict=True))
        return Picks(self._owner[items], ranks, gains)

    def _pick(self) -> None:
        cell = self._entries.cell
        gains, kinds = self._gain[cell], len(self._owner)
        worth: Floats = np.bincount(self._entries.row, weights=gains, minlength=kinds)
        worth += self._barred
        best = self._find_best(worth)
        self._picked.append((best, worth[best]))
        self._next[best] += 1
        self._barred[best[self._next[best] == self._ends[best]]] = -np.inf
        self._left -= len(best)
        starts, ends = self._offsets[best], self._offsets[best + 1]
        self._gain[cell[ragged.list_stretches(starts, ends - starts)]] *= self._kept

    def _find_best(self, worth: Floats) -> Ints:
        """Find the best kind of each query with an item left; of equals that of the first item."""
        least = np.maximum.reduceat(worth, self._starts)
        is_limited = np.isfinite(least)
        least[is_limited] -= self._equal * np.abs(least[is_limited])
        best = np.flatnonzero(worth >= np.repeat(np.where(is_limited, least, np.inf), self._sizes))
        item = self._order[self._next[best]]
        best = best[np.lexsort((item, self._owner[best]))]
        first: Ints = best[np.diff(self._owner[best], prepend=-1) > 0]
        return first


def _group_kinds(cell: Ints, offsets: Ints, owner: Ints) -> tuple[Ints, Ints]:
    """Group items that have the same cells. Returns their positions by kind, and the kinds' ends.

    Kinds are in the order of the queries, and the items of a kind in their own order. Items are
    sorted by a random number that those of a kind share, and neighbors are compared.
    """
    if not len(owner):
        return owner, np.zeros(1, np.int64)
    lengths = ragged.find_lengths(offsets)
    marks = np.random.default_rng(0).integers(0, 1 << 62, int(cell.max()) + 1, np.uint64)
    order = np.lexsort((np.add.reduceat(marks[cell], offsets[:-1]), owner))
    before, after = order[:-1], order[1:]
    same = lengths[before] == lengths[after]
    pairs = before[same], after[same], lengths[before[same]]
    equal = (
        cell[ragged.list_stretches(offsets[pairs[0]], pairs[2])]
        == cell[ragged.list_stretches(offsets[pairs[1]], pairs[2])]
    )
    starts = ragged.make_offsets(pairs[2])[:-1]
    if len(starts):
        same[same] = np.logical_and.reduceat(equal, starts)
    new = np.append(True, ~same)
    return order, np.append(np.flatnonzero(new), len(order))


def _list_items(
    cells: Cells, rel: float, *, by_appearance: bool = False
) -> tuple[Ints, Entries, Ints]:
    """List the relevant items of each query from the last id to the first, with their entries.

    The entries of an item are in the order in which gains are added up, which matters to their
    rounding.
    """
    judgment, cell = cells.find_relevant(rel)
    starts = np.flatnonzero(np.diff(judgment, prepend=-1))
    lengths, items = np.diff(np.append(starts, len(judgment))), judgment[starts]
    order = np.lexsort((cells.judged.place[items], cells.owner[items]))
    lengths, items = lengths[order], items[order]
    cell = cell[ragged.list_stretches(starts[order], lengths)]
    row = ragged.repeat_owners(lengths)
    if by_appearance:
        appeared = cells.judged.appeared
        if (np.diff(appeared) < 0).any():
            cell = cell[np.lexsort((appeared[cells.code[cell]], row))]
    return items, Entries(row, cell), ragged.make_offsets(lengths)


# --- Exactly ----------------------------------------------------------------------------------


def sum_exactly(
    ranking: Ranking,
    rel: float,
    alpha: float,
    depth: int | None,
    discount: Discount,
    weights: str = "equal",
) -> Floats:
    """Sum the gains of each query's best ranking (Q). Raises MeasureError for too many items."""
    cells = get_cells(ranking)
    items, entries, offsets = _list_items(cells, rel)
    sums, weight = np.zeros(len(ranking)), _weigh_cells(cells, weights).tolist()
    kinds: dict[
        int, Counter[tuple[int, ...]]
    ] = {}  # of items: those with the same subtopics are alike
    for query, start, end in zip(cells.owner[items].tolist(), offsets, offsets[1:], strict=False):
        kinds.setdefault(query, Counter())[tuple(entries.cell[start:end].tolist())] += 1
    for query, counts in kinds.items():
        ranks = np.arange(1, min(depth or counts.total(), counts.total()) + 1)
        best = _search(counts, alpha, discount(ranks).tolist(), weight)
        if best is None:
            raise MeasureError(
                f"query {clip(ranking.queries[query])}: {counts.total()} relevant items of"
                f" {len(counts)} kinds are too many to find the best ranking of all; ideal=greedy"
                " approximates it."
            )
        sums[query] = best
    return sums


def _search(
    counts: "Counter[tuple[int, ...]]", alpha: float, discounts: list[float], weight: list[float]
) -> float | None:
    """Find the highest sum; None if that takes too many steps. Each cell has its ``weight``.

    A partial list is known by how many items of each kind it has: their order decides only its sum.
    """
    kinds = list(counts)
    best = {(0,) * len(kinds): 0.0}
    steps = 0
    for factor in discounts:
        longer: dict[tuple[int, ...], float] = {}
        for taken, total in best.items():
            seen = Counter({cell: 0 for kind in kinds for cell in kind})
            for kind, count in zip(kinds, taken, strict=True):
                seen.update(dict.fromkeys(kind, count))
            for place, kind in enumerate(kinds):
                if taken[place] < counts[kind]:
                    gain = sum(weight[cell] * (1.0 - alpha) ** seen[cell] for cell in kind)
                    one_more = (*taken[:place], taken[place] + 1, *taken[place + 1 :])
                    value = total + factor * gain
                    longer[one_more] = max(value, longer.get(one_more, 0.0))
        steps += len(best) * len(kinds)
        if steps > MOST:
            return None
        best = longer
    return max(best.values())


SUMS: dict[str, Callable[..., Floats]] = {
    "greedy": sum_greedy,
    "rounded": partial(sum_greedy, equal=0.0),
    "exact": sum_exactly,
}
"""The words of a measure's parameter ``ideal``."""


# --- Measures in which a subtopic gains less with each item: α-nDCG, ERR-IA, NRBP and others ------

ALPHA = Parameter(
    "alpha",
    0.5,
    "the share of its gain that a subtopic loses with each item that covers it",
    low=0.0,
    high=1.0,
)
IDEAL = Parameter(
    "ideal",
    "greedy",
    "how the ideal ranking is found: greedy takes the item with the highest"
    " gain at each rank, and the last id among equal ones; rounded does the"
    " same, but rounding errors decide among equal ones, as in ndeval; exact"
    " is the best of all rankings, for few items",
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
        "Clarke et al. do not normalize. ndeval's alpha-DCG is norm=full, whose"
        " divisor no real list reaches and whose value falls as k grows. At k = 1,"
        " ndeval does not normalize."
    ),
    cite="Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher & MacKinnon, SIGIR 2008",
)


def alpha_ndcg(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = SUMS[ideal](ranking, rel, alpha, k, discount, weights)
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
        "The greedy ideal ranking is an approximation, as in every tool. A list"
        " that is better than it has a value above 1, but at most e/(e - 1) ="
        " 1.58. ideal=exact searches all rankings."
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
        "This is the mean of ERR over equally probable subtopics, for judgments"
        " of 0 and 1. On the scale of Chapelle et al., α is (2^1 - 1)/2^1."
        " ndeval's ERR-IA is norm=full, which divides by the value of a list"
        " that cannot exist. At k = 1, ndeval does not normalize, and its value is the number"
        " of subtopics."
    ),
    cite="Chapelle, Ji, Liao, Velipasaoglu, Lai & Wu, Information Retrieval 14(6), 2011",
)


def normalized_intent_aware_err(
    ranking: Ranking, k: int | None, alpha: float, rel: float, ideal: str, weights: str
) -> Scored:
    norm = SUMS[ideal](ranking, rel, alpha, k, _invert, weights)
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
    conventions="The ideal ranking is that of alpha_nDCG, and a list that is better"
    " than it has a value above 1.",
    cite="Clarke, Craswell, Soboroff & Ashkan, WSDM 2011",
)

GOING_ON = Parameter(
    "beta", 0.5, "the probability of continuing to the next rank", low=0.0, high=1.0
)


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
    norm = SUMS[ideal](ranking, rel, alpha, depth, lambda ranks: beta ** (ranks - 1.0), weights)
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
