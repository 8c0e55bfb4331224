"""Settings: how systems are compared, and the corrections for the number of comparisons.

A correction raises the p-values of a family of comparisons, which bounds the errors among all of
them.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from germane.comparison.significance import NEAR, TESTS
from germane.core.arguments import check_number, parse_whole
from germane.core.ragged import Floats
from germane.errors import (
    EmptyError,
    InputError,
    NotFoundError,
    PolicyError,
    check_choice,
    clip,
    list_some,
    offer,
)

TestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "tukey"]
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Family: TypeAlias = Literal["measure", "all"]

WORDS: dict[str, tuple[str, ...]] = {
    "test": get_args(TestName),
    "correction": get_args(Correction),
    "family": get_args(Family),
}


def _correct_holm(p: Floats) -> Floats:
    """Multiply the smallest of n p-values by n, the next by n - 1, …; never below one before."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(raised, 1.0)[np.argsort(order)]


def _correct_benjamini_hochberg(p: Floats) -> Floats:
    """Multiply the i-th smallest of n p-values by n ÷ i; never above a later one."""
    order = np.argsort(p, kind="stable")
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    return np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)[np.argsort(order)]


def _find_levels_of_holm(p: Floats, alpha: float) -> Floats:
    """Return the levels of p-values; the first p that is not below its level stops.

    Equal p-values have the same level, that of the first of them.
    """
    significant = int(np.count_nonzero(_correct_holm(p) < alpha))
    smaller = np.searchsorted(np.sort(p), p * (1 - NEAR))  # but for rounding
    levels: Floats = alpha / (len(p) - np.minimum(smaller, significant))
    return levels


def _find_levels_of_benjamini_hochberg(p: Floats, alpha: float) -> Floats:
    """Give each comparison its share times the significant ones (Benjamini and Yekutieli 2005)."""
    significant = int(np.count_nonzero(_correct_benjamini_hochberg(p) < alpha))
    return np.full(len(p), alpha * max(1, significant) / len(p))


@dataclass(frozen=True)
class Adjustment:
    """A correction of p-values, and the error rate that it leaves to each of them."""

    title: str
    adjust: Callable[[Floats], Floats]
    levels: Callable[[Floats, float], Floats]  # of p-values and the error rate of the family


CORRECTIONS: dict[str, Adjustment] = {
    "holm": Adjustment("Holm", _correct_holm, _find_levels_of_holm),
    "bonferroni": Adjustment(
        "Bonferroni",
        lambda p: np.minimum(p * len(p), 1.0),
        lambda p, alpha: np.full(len(p), alpha / len(p)),
    ),
    "bh": Adjustment(
        "Benjamini–Hochberg", _correct_benjamini_hochberg, _find_levels_of_benjamini_hochberg
    ),
    "none": Adjustment("uncorrected", lambda p: p, lambda p, alpha: np.full(len(p), alpha)),
}

FEWEST, MOST = 100, 10_000_000  # resamples


@dataclass(frozen=True)
class Settings:
    """How systems are compared. Raises PolicyError and InputError for what does not exist."""

    baseline: str | None = None
    test: TestName = "randomization"
    correction: Correction | None = None  # None: Holm, or none where the test corrects
    family: Family = "measure"
    confidence: float = 0.95
    equivalence: float | None = None
    resamples: int = 10_000

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            choice = getattr(self, name)
            if name != "correction" or choice is not None:
                check_choice(name, choice, words)
        corrects = TESTS[self.test].corrects
        if corrects and self.correction not in (None, "none"):
            raise PolicyError(
                f"test={self.test} corrects for the number of systems by itself; leave out "
                f"correction={self.correction}."
            )
        if self.correction is None:
            object.__setattr__(self, "correction", "none" if corrects else "holm")
        check_number("confidence", self.confidence, 0, 1)
        if self.equivalence is not None:
            check_number("equivalence", self.equivalence, 0)
        resamples = parse_whole(self.resamples)
        if resamples is None or not FEWEST <= resamples <= MOST:
            raise InputError(
                f"resamples takes a whole number from {FEWEST} to {MOST:,}; got"
                f" {clip(self.resamples)}"
            )

    def check_systems(self, names: Collection[str], noun: str) -> None:
        """Refuse fewer than two systems, and a baseline that is none of them."""
        if len(names) < 2:
            raise EmptyError(f"compare needs two or more {noun}.")
        if self.baseline is not None and self.baseline not in names:
            raise NotFoundError(
                "there is no baseline"
                f" {clip(self.baseline)}.{offer(self.baseline, names, list_some)}"
            )

    @property
    def alpha(self) -> float:
        """The error rate: 1 - confidence."""
        return round(1 - self.confidence, 12) or 1 - self.confidence
