"""Ties: every order of equal scores, and what it means for rows, hits, groups and bounds.

The equal scores of a query are a group, which has the ranks from ``tied_from`` to ``tied_to``. An
order is one of three kinds:

- By rows alone (``ROW_ORDERS``): readers place each row of a group, by the key that ``ROW_KEYS``
  has for it. The compiled kernel has the same order a second time, ``stands_before`` of
  ``kernel/reduce.c``; the tests compare both.
- By the judgments (``best``, ``worst``): hits are placed in their group by their grades.
- Of groups (``GROUP_RANKS``): single items have no rank, and all hits of a group have the same.
  Under ``expected``, measures take the mean over the ranks of the group.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from germane.core.qrels import Retrieved
from germane.core.ragged import Floats, Ints
from germane.errors import PolicyError, write_option

Ties: TypeAlias = Literal[
    "trec", "ascending", "given", "expected", "best", "worst", "middle", "grouped"
]

# --- Orders by rows alone ---------------------------------------------------------------------


class RowOrder(NamedTuple):
    """How readers order equal scores, a word of ``ROW_KEYS``, and if that is reversed."""

    equal: str
    is_reversed: bool = False


ROW_ORDERS = {
    "trec": RowOrder("id"),
    "ascending": RowOrder("id", is_reversed=True),
    "given": RowOrder("given"),
}
"""Orders of ties by rows alone. Where another order is asked for, readers use that of ``trec``."""

ROW_KEYS: dict[str, Callable[[Any, Ints], Ints]] = {
    "id": lambda ids, rows: ids.rank_falling(rows),
    "given": lambda ids, rows: rows,
}
"""Ids and rows → numbers that rise in the order, a number of its own for each id."""


def find_row_order(ties: str) -> RowOrder:
    """Find the order in which readers rank equal scores."""
    return ROW_ORDERS.get(ties, ROW_ORDERS["trec"])


def rank_rows(ties: str, rank: Ints, tied_from: Ints, tied_to: Ints) -> Ints:
    """Rank rows under an order by rows alone; under others, they stay as they were read."""
    return tied_from + tied_to - rank if find_row_order(ties).is_reversed else rank


# --- Orders of groups -------------------------------------------------------------------------

GROUP_RANKS: dict[str, Callable[[Ints, Ints], Ints]] = {
    "expected": lambda tied_from, tied_to: tied_from,
    "middle": lambda tied_from, tied_to: (tied_from + tied_to) / 2,
    "grouped": lambda tied_from, tied_to: tied_to,
}
"""The rank of all hits of a group, where single items have none."""


def refuse_torn(ties: str, depth: int, retrieved: Retrieved, *, removes: bool) -> None:
    """Refuse a depth that cuts through a group of equal scores, where that has no meaning.

    ``removes``: unjudged items are removed before ranks are counted.
    """
    torn = ((retrieved.tied_from <= depth) & (retrieved.tied_to > depth)).any()
    if torn and (ties != "expected" or removes):
        raise PolicyError(
            f"ties={ties} with {'unjudged=remove and ' * (ties == 'expected')}a depth that cuts"
            f" through tied items has no closed form; choose {write_option('ties', 'trec')},"
            " best or worst."
        )


def refuse_tied_copies(ties: str, judgment: Ints, tied_from: Ints) -> None:
    """Refuse copies of an item in one group, whose mean rank has no closed form."""
    if ties != "expected":
        return
    groups = np.unique(np.stack([judgment, tied_from]), axis=1)
    if groups.shape[1] < len(judgment):
        raise PolicyError(
            f"{write_option('ties', 'expected')} with {write_option('duplicates', 'keep')} has no"
            " closed form if copies of an item are tied; choose another order of ties, or"
            f" {write_option('duplicates', 'first')}."
        )


# --- Orders by the judgments ------------------------------------------------------------------


def rank_by_grade(
    ties: str, retrieved: Retrieved, grades: Floats, subtopics: Ints, *, keeps_copies: bool
) -> Ints:
    """H: the ranks of hits in the best or the worst order of their groups.

    The best order has high grades first in their group, and negative ones last. ``subtopics`` is
    for how many each hit is relevant.
    """
    copies = np.zeros(len(grades), np.int64)
    if keeps_copies:
        grades, copies = _grade_copies(retrieved, grades, ties)
    place = _place_by_grade(retrieved, grades, subtopics, copies)
    first = (grades >= 0) == (ties == "best")
    return np.where(first, retrieved.tied_from + place, retrieved.tied_to - place)


def _grade_copies(retrieved: Retrieved, grades: Floats, ties: str) -> tuple[Floats, Ints]:
    """H: the grades by which hits with further copies are placed, and copies in the group.

    A further copy is no hit and only occupies its rank: last in the best order. In the worst order
    it precedes the hits of its group, or follows the copy that is the hit, where that is in its
    group, too.
    """
    order = np.lexsort((retrieved.tied_from, retrieved.judgment))
    is_copy = np.zeros(len(order), bool)
    is_copy[order[1:]] = np.diff(retrieved.judgment[order]) == 0
    _, group, sizes = np.unique(
        np.stack([retrieved.judgment, retrieved.tied_from]),
        axis=1,
        return_inverse=True,
        return_counts=True,
    )
    group = group.ravel()
    if ties == "worst":
        earliest = np.full(int(retrieved.judgment.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(earliest, retrieved.judgment, retrieved.tied_from)
        is_copy = retrieved.tied_from > earliest[retrieved.judgment]
    return np.where(is_copy & (grades > 0), 0.0, grades), sizes[group]


def _place_by_grade(retrieved: Retrieved, grades: Floats, subtopics: Ints, copies: Ints) -> Ints:
    """H: the place of each hit in its group and sign: large grades first, then many subtopics."""
    negative = grades < 0
    order = np.lexsort(
        (
            retrieved.judgment,
            copies,
            -subtopics,
            -np.abs(grades),
            negative,
            retrieved.tied_from,
            retrieved.owner,
        )
    )
    starts = np.ones(len(order), bool)
    starts[1:] = False
    for column in (retrieved.owner, retrieved.tied_from, negative):
        starts[1:] |= np.diff(column[order]) != 0
    position = np.arange(len(order))
    place = np.empty(len(order), np.int64)
    place[order] = position - np.maximum.accumulate(np.where(starts, position, 0))
    return place
