"""Terms and norms: the result of a measure's kernel, and the weights and gains that kernels share.

A kernel is a function ``kernel(ranking, k, **parameters) -> Scored``. The value of query q is
``(Σ terms of q's hits + rest) / norm``, and 0 where the norm is 0.

Docstrings and comments say how long an array is: H, one value a hit; Q, one a query; J, one a
judged item.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from germane.core.ragged import Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import MeasureError

NOTHING = 0.0  # the rest of most measures; recognized by identity, and not added


@dataclass(frozen=True, eq=False, repr=False)
class Scored:
    """One measure's terms and norm for every query of a ranking."""

    terms: Floats  # H
    norm: Floats | Ints  # Q
    # Q: how many items the measure needs to be defined; if there are 0, no_relevant decides.
    # None for measures that need no relevant item.
    relevant: Ints | None = None
    # Q: the contribution of items that are no hit: unjudged or missed
    rest: Floats | Ints | float = NOTHING
    # the value as a function of (Σ terms + rest) / norm, for the one measure that is not the
    # quotient
    link: Callable[[Floats], Floats] | None = None
    # Q: ``relevant`` of a query that the run lacks, where it depends on the list
    judged: Floats | Ints | None = None


def compute_values(ranking: Ranking, scored: Scored) -> Floats:
    """Compute each query's value (Q) from its terms and norm."""
    total, norm = ranking.sum_hits(scored.terms), scored.norm
    if scored.rest is not NOTHING:
        total = total + scored.rest
    if np.count_nonzero(norm) == len(norm):
        out: Floats = total / norm
    else:
        out = np.divide(total, norm, out=np.zeros(len(ranking)), where=norm != 0)
    return out if scored.link is None else scored.link(out)


@dataclass(frozen=True, eq=False)
class Weight:
    """The weight of a rank: ``at(i)``, and ``upto(i)``, the sum over the ranks 1 to i."""

    at: Callable[[Ints], Floats | float]
    upto: Callable[[Ints], Floats]
    divisor: Callable[[Ints], Floats] | None = None
    """1 / weight, where that is computed and the weight is its rounded inverse."""

    def weigh(self, gain: Floats, rank: Ints) -> Floats:
        """Weigh gains at ranks; divided by the divisor if there is one, which rounds once."""
        weighed: Floats = (
            gain * self.at(rank) if self.divisor is None else gain / self.divisor(rank)
        )
        return weighed


def weigh_hits(ranking: Ranking, weight: Weight, last: Any) -> Floats | float:
    """Weigh each hit by its rank (H); beyond ``last`` (one rank a hit, one for all, or None) by 0.

    If the order of ties is random, the weight is the mean over the ranks that the hit can take.
    """
    if ranking.ties != "expected":
        worth = weight.at(ranking.rank)
        return worth if last is None else np.where(ranking.rank <= last, worth, 0.0)
    first, width = ranking.tied_from, ranking.tied_to - ranking.tied_from + 1
    end = np.maximum(np.minimum(ranking.tied_to, last), first - 1)
    spread: Floats = (weight.upto(end) - weight.upto(first - 1)) / width
    return spread


_KNOWN = 4096
_LOGS = np.array([math.log2(i) for i in range(1, _KNOWN + 1)])  # by rank, of one rank more
_LOGS[0] = math.nan


def _take_log(rank: Ints) -> Floats:
    try:
        known: Floats = _LOGS[rank]
    except IndexError:
        return np.log2(rank + 1.0)
    return known


def _inverse_log(rank: Ints) -> Floats:
    return 1.0 / _take_log(rank)


def make_weight(at: Callable[[Ints], Floats]) -> Weight:
    """Make a weight whose sums have no closed form: they are added up rank by rank.

    Its ``upto`` raises MeasureError for a rank beyond ``MOST_RANKS``.
    """

    def upto(rank: Ints) -> Floats:
        last = int(rank.max(initial=0))
        if last > MOST_RANKS:
            raise MeasureError(
                f"the weights of {last} ranks have no closed sum: take a cutoff of {MOST_RANKS} at"
                " most."
            )
        table = np.zeros(last + 1)
        np.cumsum(at(np.arange(1, len(table))), out=table[1:])
        return table[rank]

    return Weight(at, upto)


MOST_RANKS = 10_000_000  # a table of their weights has 80 MB

ONE = Weight(at=lambda rank: 1.0, upto=lambda rank: rank.astype(float))
LOG2 = replace(make_weight(_inverse_log), divisor=_take_log)


def make_geometric_weight(p: float) -> Weight:
    """Make the weight (1 - p) · p^(i - 1)."""
    return Weight(
        at=lambda i: (1.0 - p) * p ** (i - 1.0), upto=lambda i: 1.0 - p ** i.astype(float)
    )


EULER = 0.5772156649015329
_HARMONIC = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, 4096))))


def sum_harmonic(n: Any) -> Floats:
    """Compute 1 + 1/2 + … + 1/n; from where it is exact in doubles by its asymptotic series."""
    n = np.asarray(n)
    x = np.maximum(n, 1).astype(float)
    large = np.log(x) + EULER + 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)
    exact: Floats = _HARMONIC[np.minimum(n, len(_HARMONIC) - 1)]
    return np.where(n < len(_HARMONIC), exact, large)


@cache
def make_discount(discount: str, base: float) -> Weight:
    """Make the weight of a rank in DCG; ``base`` is that of the logarithm."""
    if discount == "none":
        return ONE
    if discount == "position":
        return Weight(at=lambda rank: 1.0 / rank, upto=sum_harmonic)
    unit = float(np.log2(base))
    if discount == "jarvelin":
        return make_weight(lambda rank: 1.0 / np.maximum(1.0, np.log2(rank) / unit))
    return LOG2 if unit == 1 else make_weight(lambda rank: unit * _inverse_log(rank))


def compute_gains(grades: Floats, gain: Any, least: float = 0.0) -> Floats:
    """Turn grades into gains: linear, exp, or an explicit map of (grade, gain) pairs.

    With ``given`` the grades are gains already, and the ideal ranking keeps its order. Grades below
    ``least`` gain nothing.
    """
    if least > 0:
        return np.where(grades >= least, compute_gains(grades, gain), 0.0)
    if gain == "given":
        return grades
    positive = np.maximum(grades, 0.0)
    if gain == "linear":
        return positive
    if gain == "exp":
        return np.exp2(positive) - 1.0
    out = np.zeros(len(grades))
    for grade, value in gain:
        out[grades == grade] = value
    return out
