"""Shared by measures of novelty and diversity: how well and soon a list covers subtopics.

Items are judged for subtopics. An item has a subtopic if its grade for that is ``rel`` or higher.
"""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.core.subtopics import Cells, Entries
from germane.measures.definition import Parameter
from germane.measures.terms import LOG2

WEIGHTS = Parameter(
    "weights",
    "equal",
    "the weights of subtopics, or the probabilities of intents: all the same, or those of"
    " subtopic_weights=",
    words=("equal", "given"),
)

_T = TypeVar("_T")


def keep(ranking: Ranking, key: Hashable, compute: Callable[[], _T]) -> _T:
    """Compute a value once for all measures of subtopics of a ranking."""
    if key not in ranking.of_subtopics:
        ranking.of_subtopics[key] = compute()
    kept: _T = ranking.of_subtopics[key]
    return kept


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
