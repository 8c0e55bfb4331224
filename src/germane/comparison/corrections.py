"""Corrections: p-values of a family of comparisons, raised so that chance finds no more than it may."""

from collections.abc import Callable

import numpy as np

from germane._ragged import Floats


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


CORRECTIONS: dict[str, tuple[str, Callable[[Floats], Floats]]] = {
    "holm": ("Holm", holm),
    "bonferroni": ("Bonferroni", bonferroni),
    "bh": ("Benjamini–Hochberg", benjamini_hochberg),
    "none": ("uncorrected", none),
}


def _put_back(ordered: Floats, order: Floats) -> Floats:
    out = np.empty_like(ordered)
    out[order] = ordered
    return out
