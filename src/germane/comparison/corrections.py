"""Corrections: p-values of a family of comparisons, raised so that chance finds no more than it may."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from germane.core.ragged import Floats, Ints


def bonferroni(p: Floats) -> Floats:
    """Every p-value times their number."""
    raised: Floats = np.minimum(p * len(p), 1.0)
    return raised


def holm(p: Floats) -> Floats:
    """The smallest times their number n, the next times n - 1, …; never below an earlier one."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _put_back(np.minimum(raised, 1.0), order)


def benjamini_hochberg(p: Floats) -> Floats:
    """The i-th smallest times n ÷ i; never above a later one. Bounds the share of false finds."""
    order = np.argsort(p, kind="stable")
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _put_back(np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0), order)


def none(p: Floats) -> Floats:
    """The p-values as they are."""
    return p.copy()


def _shared(p: Floats, alpha: float) -> Floats:
    return np.full(len(p), alpha / len(p))


def _stepped_down(p: Floats, alpha: float) -> Floats:
    """The levels that Holm compares p-values with: one for all from the first that is not below it."""
    steps = np.arange(len(p), 0, -1)
    order = np.argsort(p, kind="stable")
    finds = int(np.count_nonzero(holm(p) < alpha))
    sharing: Ints = np.maximum(steps, len(p) - finds)
    return _put_back(alpha / sharing, order)


def _of_finds(p: Floats, alpha: float) -> Floats:
    """As many times the share of one comparison as there are finds (Benjamini and Yekutieli 2005)."""
    finds = int(np.count_nonzero(benjamini_hochberg(p) < alpha))
    return np.full(len(p), alpha * max(1, finds) / len(p))


def _whole(p: Floats, alpha: float) -> Floats:
    return np.full(len(p), alpha)


@dataclass(frozen=True)
class Correction:
    """A correction of p-values, and the error rate that it leaves to each of them."""

    title: str
    adjust: Callable[[Floats], Floats]
    levels: Callable[[Floats, float], Floats]  # of p-values and the error rate of the family


CORRECTIONS: dict[str, Correction] = {
    "holm": Correction("Holm", holm, _stepped_down),
    "bonferroni": Correction("Bonferroni", bonferroni, _shared),
    "bh": Correction("Benjamini–Hochberg", benjamini_hochberg, _of_finds),
    "none": Correction("uncorrected", none, _whole),
}


def _put_back(ordered: Floats, order: Floats) -> Floats:
    out = np.empty_like(ordered)
    out[order] = ordered
    return out
