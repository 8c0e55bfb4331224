"""Settings: how systems are compared, every choice a word or a number that is checked here.

A correction raises the p-values of a family of comparisons, so that chance finds no more than it may.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane.comparison.significance import TESTS
from germane.core.ragged import Floats, Ints
from germane.errors import InputError, PolicyError, check_choice, clip

TestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "tukey"]
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Family: TypeAlias = Literal["measure", "all"]

WORDS: dict[str, tuple[str, ...]] = {
    "test": get_args(TestName),
    "correction": get_args(Correction),
    "family": get_args(Family),
}


def correct_bonferroni(p: Floats) -> Floats:
    """Every p-value times their number."""
    raised: Floats = np.minimum(p * len(p), 1.0)
    return raised


def correct_holm(p: Floats) -> Floats:
    """The smallest times their number n, the next times n - 1, …; never below an earlier one."""
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _put_back(np.minimum(raised, 1.0), order)


def correct_benjamini_hochberg(p: Floats) -> Floats:
    """The i-th smallest times n ÷ i; never above a later one. Bounds the share of false finds."""
    order = np.argsort(p, kind="stable")
    raised = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _put_back(np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0), order)


def keep_p_values(p: Floats) -> Floats:
    """The p-values as they are."""
    return p.copy()


def _share_alpha(p: Floats, alpha: float) -> Floats:
    return np.full(len(p), alpha / len(p))


def _step_down(p: Floats, alpha: float) -> Floats:
    """The levels that Holm compares p-values with: one for all from the first that is not below it."""
    steps = np.arange(len(p), 0, -1)
    order = np.argsort(p, kind="stable")
    finds = int(np.count_nonzero(correct_holm(p) < alpha))
    sharing: Ints = np.maximum(steps, len(p) - finds)
    return _put_back(alpha / sharing, order)


def _share_by_finds(p: Floats, alpha: float) -> Floats:
    """As many times the share of one comparison as there are finds (Benjamini and Yekutieli 2005)."""
    finds = int(np.count_nonzero(correct_benjamini_hochberg(p) < alpha))
    return np.full(len(p), alpha * max(1, finds) / len(p))


def _keep_alpha(p: Floats, alpha: float) -> Floats:
    return np.full(len(p), alpha)


@dataclass(frozen=True)
class Adjustment:
    """A correction of p-values, and the error rate that it leaves to each of them."""

    title: str
    adjust: Callable[[Floats], Floats]
    levels: Callable[[Floats, float], Floats]  # of p-values and the error rate of the family


CORRECTIONS: dict[str, Adjustment] = {
    "holm": Adjustment("Holm", correct_holm, _step_down),
    "bonferroni": Adjustment("Bonferroni", correct_bonferroni, _share_alpha),
    "bh": Adjustment("Benjamini–Hochberg", correct_benjamini_hochberg, _share_by_finds),
    "none": Adjustment("uncorrected", keep_p_values, _keep_alpha),
}


def _put_back(ordered: Floats, order: Floats) -> Floats:
    out = np.empty_like(ordered)
    out[order] = ordered
    return out


FEWEST = 100  # resamples


@dataclass(frozen=True)
class Settings:
    """How systems are compared. Raises PolicyError and InputError for what does not exist."""

    baseline: str | None = None
    test: TestName = "randomization"
    correction: Correction | None = None  # None: Holm, or none where the test has corrected
    family: Family = "measure"
    confidence: float = 0.95
    equivalence: float | None = None
    resamples: int = 10_000

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            given = getattr(self, name)
            if name == "correction" and given is None:
                continue
            check_choice(name, given, words)
        if TESTS[self.test].corrects and self.correction not in (None, "none"):
            raise PolicyError(
                f"test={self.test} corrects for the number of systems by itself; leave out "
                f"correction={self.correction}."
            )
        if self.correction is None:
            object.__setattr__(self, "correction", "none" if TESTS[self.test].corrects else "holm")
        _check_number("confidence", self.confidence, 0, 1)
        if self.equivalence is not None:
            _check_number("equivalence", self.equivalence, 0, float("inf"))
        if not hasattr(self.resamples, "__index__") or self.resamples < FEWEST:
            raise InputError(
                f"resamples takes a whole number from {FEWEST}; got {clip(self.resamples)}"
            )

    @property
    def alpha(self) -> float:
        """The error rate: 1 - confidence."""
        return round(1 - self.confidence, 12) or 1 - self.confidence


def _check_number(name: str, given: Any, low: float, high: float) -> None:
    number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not number or not low < given < high:
        within = f"between {low} and {high}" if high < float("inf") else f"above {low}"
        raise InputError(f"{name} takes a number {within}; got {clip(given)}")
