"""The ideal ranking of measures of subtopics: greedy, or the best of all for few items.

An item gains, for each of its subtopics, (1 - α)^c where c earlier items had the subtopic. Finding
the best order is NP-hard (Carterette, Information Retrieval 14, 2011).
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.core.subtopics import Cells, Entries
from germane.errors import MeasureError, clip
from germane.measures.subtopics import get_cells, keep

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
        ranks = np.repeat(np.arange(1, len(self._picked) + 1), [len(at) for at, _ in self._picked])
        at, gains = (np.concatenate(column) for column in zip(*self._picked, strict=True))
        return Picks(self._owner[at], ranks, gains)

    def _pick(self) -> None:
        cell = self._entries.cell
        gains, kinds = self._gain[cell], len(self._owner)
        worth: Floats = np.bincount(self._entries.row, weights=gains, minlength=kinds)
        worth += self._barred
        at = self._find_best(worth)
        self._picked.append((at, worth[at]))
        self._next[at] += 1
        self._barred[at[self._next[at] == self._ends[at]]] = -np.inf
        self._left -= len(at)
        starts, ends = self._offsets[at], self._offsets[at + 1]
        self._gain[cell[ragged.list_stretches(starts, ends - starts)]] *= self._kept

    def _find_best(self, worth: Floats) -> Ints:
        """Find the best kind of each query with an item left; of equals that of the first item."""
        least = np.maximum.reduceat(worth, self._starts)
        some = np.isfinite(least)
        least[some] -= self._equal * np.abs(least[some])
        best = np.flatnonzero(worth >= np.repeat(np.where(some, least, np.inf), self._sizes))
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
    for discount in discounts:
        longer: dict[tuple[int, ...], float] = {}
        for taken, total in best.items():
            seen = Counter({cell: 0 for kind in kinds for cell in kind})
            for kind, count in zip(kinds, taken, strict=True):
                seen.update(dict.fromkeys(kind, count))
            for place, kind in enumerate(kinds):
                if taken[place] < counts[kind]:
                    gain = sum(weight[cell] * (1.0 - alpha) ** seen[cell] for cell in kind)
                    one_more = (*taken[:place], taken[place] + 1, *taken[place + 1 :])
                    value = total + discount * gain
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
