"""Cutoffs: the ranks beyond which a function does not look."""

from collections.abc import Sequence

import numpy as np

from germane.identification.asking import Asker
from germane.identification.cases import Case, Question, Shape, make_case
from germane.measures.measure import Measure

LONG = 1200  # results of the longest list by which a cutoff is looked for
USUAL = (1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 50, 100, 200, 500, 1000)
"""Cutoffs that are tried where every call takes time."""

Cutoffs = tuple[int | None, ...]


def choose_cutoffs(
    asker: Asker, claim: Measure | None, grades: Sequence[float]
) -> tuple[Cutoffs, int | None]:
    """Choose the cutoffs to try, and the one around which lists are drawn."""
    claimed = None if claim is None else claim.k
    if asker.most_calls is not None:
        if claimed is None:
            return (None, *USUAL), 10
        near = (claimed - 1, claimed + 1) if claimed > 1 else (2,)
        return tuple(dict.fromkeys((claimed, None, *near, *USUAL))), claimed
    length = LONG if claimed is None else max(60, 3 * claimed)
    cutoff = next(
        filter(None, (find_cutoff(asker, length, grade) for grade in {1.0, max(grades)})), None
    )
    cutoffs = tuple(dict.fromkeys((claimed, None, cutoff)))
    drawn = [k for k in (claimed, cutoff) if k is not None and (k > 1 or cutoff == claimed)]
    if not drawn and cutoff is not None:
        drawn = [cutoff]
    return cutoffs, max(drawn, default=None)


def find_cutoff(asker: Asker, length: int, grade: float) -> int | None:
    """Find the last rank at which a single hit makes a difference; None for all or none."""
    shape = Shape(asker.shows)

    def ask(rank: int) -> tuple[float, ...]:
        hits = [0.0] * length
        hits[rank - 1] = grade
        case: Case = make_case(hits, 0, shape)
        answer = asker.ask(Question((case,)))
        return answer.values

    last = ask(length)
    low = next((rank for rank in (1, 2) if not _same(ask(rank), last)), None)
    if not last or low is None or not _same(ask(length - 1), last):
        return None
    high = length - 1  # a hit at low makes a difference, and one at high none
    while high - low > 1:
        middle = (low + high) // 2
        if _same(ask(middle), last):
            high = middle
        else:
            low = middle
    return low


def _same(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    return len(first) == len(second) and np.array_equal(first, second, equal_nan=True)
