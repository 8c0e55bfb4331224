"""Settings: how systems are compared, every choice a word or a number that is checked here."""

from dataclasses import dataclass
from typing import Any

from germane.comparison.significance import TESTS
from germane.comparison.words import WORDS, Correction, Family, TestName
from germane.errors import InputError, PolicyError, check_choice, clip

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
