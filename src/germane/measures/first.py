"""Measures of the first relevant item."""

from collections.abc import Callable

import numpy as np

from germane.core import ragged
from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.definition import MEAN, REL, Definition, write_ranks
from germane.measures.terms import Scored


def reciprocal_rank(ranking: Ranking, k: int | None, rel: float) -> Scored:
    terms = weigh_first(ranking, k, rel, lambda rank: 1.0 / rank)
    return Scored(terms, ranking.ones, ranking.total(rel))


RECIPROCAL_RANK = Definition(
    "RR",
    "Reciprocal rank of the first relevant item",
    reciprocal_rank,
    lambda k, p: f"1 ÷ rank of the first relevant item, {write_ranks(k)}",
    'score([0, 0, 1], "RR") == 1 / 3',
    parameters=(REL, MEAN),
    aliases=("MRR", "ReciprocalRank"),
    middle=True,
    cite="Voorhees, The TREC-8 Question Answering Track Report, 1999",
)


def weigh_first(
    ranking: Ranking, k: int | None, rel: float, worth: Callable[[Ints], Floats]
) -> Floats:
    """Give the first relevant hit of a query the worth of its rank, and the others 0 (H).

    If the order of ties is random, the first hit of the group of ties has the mean worth. The first
    relevant of r among n tied items stands on the group's j-th rank with probability
    S(j-1)·r/(n-j+1), where S(j) = Π_{t<j} (n-r-t)/(n-t): none among the first j.
    """
    if ranking.ties != "expected":
        first_hit = ranking.mark_relevant(rel, k) & (ranking.so_far(rel) == 1)
        return np.where(first_hit, worth(ranking.rank), 0.0)
    size, before = ranking.count_tied(rel)
    hit = np.flatnonzero(ranking.relevant(rel) & (ranking.so_far(rel) == 1) & (before == 0))
    r, first = size[hit], ranking.tied_from[hit]
    n = ranking.tied_to[hit] - first + 1
    steps = ragged.make_offsets(n - r + 1)
    row = ragged.find_owners(steps)
    j: Ints = np.arange(steps[-1]) - steps[row]  # from 0
    none_at = (n[row] - r[row] - j) / (n[row] - j)
    chance = 1 - none_at
    survived = ragged.accumulate_product(none_at, steps)
    inner = j > 0
    chance[inner] *= survived[np.flatnonzero(inner) - 1]
    rank = first[row] + j
    counted = np.where(rank <= ranking.last(k)[ranking.owner[hit]][row], chance * worth(rank), 0.0)
    terms = np.zeros(len(ranking.rank))
    terms[hit] = ragged.sum_rows(counted, row, len(hit))
    return terms
