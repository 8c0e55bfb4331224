"""Set measures: how many relevant items are among the first k, or among all retrieved."""

import math
from typing import TYPE_CHECKING

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.measures.terms import ONE, Scored, placed

if TYPE_CHECKING:
    from fractions import Fraction


def depth(ranking: Ranking, k: int | None) -> Ints:
    """Q: k, or the number retrieved where there is no cutoff."""
    return ranking.retrieved if k is None else np.full(len(ranking), k)


def reach(ranking: Ranking, k: int | None) -> Ints:
    """Q: the ranks that a list fills of the first k."""
    filled: Ints = np.minimum(ranking.retrieved, depth(ranking, k))
    return filled


def hits(ranking: Ranking, k: int | None, rel: float) -> Floats:
    """H: 1 at each relevant hit within k."""
    if ranking.ties != "expected":
        return ranking.counted(rel, k).astype(float)
    return ranking.relevant(rel) * placed(ranking, ONE, ranking.end(k))


def precision(ranking: Ranking, k: int | None, rel: float, norm: str) -> Scored:
    divisor = depth(ranking, k) if norm == "k" else reach(ranking, k)
    return Scored(hits(ranking, k, rel), divisor, ranking.total(rel))


def recall(ranking: Ranking, k: int | None, rel: float, norm: str) -> Scored:
    total = ranking.total(rel)
    most = total
    if norm != "R":
        most = np.minimum(total, depth(ranking, k) if norm == "min" else reach(ranking, k))
    return Scored(hits(ranking, k, rel), most, total)


def f_measure(ranking: Ranking, k: int | None, rel: float, beta: float) -> Scored:
    total = ranking.total(rel)
    terms = (1 + beta**2) * hits(ranking, k, rel)
    return Scored(terms, beta**2 * total + depth(ranking, k), total)


def r_precision(ranking: Ranking, k: None, rel: float, mult: float, rounding: str) -> Scored:
    total = ranking.total(rel)
    cutoff = rounded(exact(mult), total, rounding)
    last = np.minimum(cutoff, ranking.retrieved)[ranking.owner]
    return Scored(ranking.relevant(rel) * placed(ranking, ONE, last), cutoff, total)


def exact(written: float) -> "Fraction":
    """The decimal that a parameter was written as: 0.1, not the double nearest to it."""
    from fractions import Fraction

    return Fraction(repr(written))


def share(part: "Fraction", total: Ints) -> Ints:
    """The least whole number that is at least ``part · total``.

    Exact, because 0.07 · 100 is a little more than 7 in doubles, and 8 would be wrong; and in
    Python's integers, because a long decimal times R needs more than 64 bits.
    """
    different, place = np.unique(total, return_inverse=True)
    out: Ints = np.array([math.ceil(part * number) for number in different.tolist()], np.int64)
    return out[place]


def rounded(part: "Fraction", total: Ints, rounding: str) -> Ints:
    """Q: ``part · total`` as a number of items."""
    match rounding:
        case "up":
            return share(part, total)
        case "trec9":
            return (float(part) * total + 0.9).astype(np.int64)
        case "double":  # the least h with h / total >= part, as doubles compare
            hits = share(part, total) - 1
            return hits + (hits / np.maximum(total, 1) < float(part))
        case _:
            return np.floor(float(part) * total + 0.5).astype(np.int64)


def set_average_precision(ranking: Ranking, k: int | None, rel: float) -> Scored:
    found, at = ranking.found(rel, k), depth(ranking, k)
    set_precision = found / np.maximum(at, 1)
    total = ranking.total(rel)
    return Scored(hits(ranking, k, rel) * set_precision[ranking.owner], total, total)


def utility(
    ranking: Ranking, k: int | None, rel: float, hit: float, noise: float, miss: float
) -> Scored:
    terms = (hit - noise - miss) * hits(ranking, k, rel)
    rest = noise * ranking.last(k) + miss * ranking.total(rel)
    return Scored(terms, ranking.ones, rest=rest)
