"""The tests of significance: one literal table, each test for all pairs and measures at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from germane.comparison.randomization import sign_flip_p, slack
from germane.comparison.sample import Sample
from germane.comparison.tukey import largest_differences
from germane.core.dispersion import measure_dispersion, needs_scipy, student
from germane.core.ragged import Floats

Pairs = Sequence[tuple[int, int]]  # baseline and system, as places in Sample.systems
MANY = 2000  # queries from which Wilcoxon's test is flagged


@dataclass(frozen=True, eq=False, repr=False)
class Procedure:
    """A test of significance: its p-values for all measures and pairs of a sample."""

    title: str
    p_values: Callable[[Sample, Pairs, int, np.random.Generator], Floats]  # M × P
    smallest: Callable[[Sample, Pairs, int], Floats]  # M × P: had all differences one direction
    resamples: bool = False  # are its p-values those of resamples, and corrected for the pairs?

    @property
    def corrects(self) -> bool:
        """Has it corrected for the number of pairs already?"""
        return self.resamples


def differences(sample: Sample, pairs: Pairs) -> Floats:
    """M × P × Q: system less baseline."""
    baselines, systems = (list(side) for side in zip(*pairs, strict=True))
    difference: Floats = sample.values[:, systems] - sample.values[:, baselines]
    return difference


def _tukey(sample: Sample, pairs: Pairs, resamples: int, rng: np.random.Generator) -> Floats:
    ranges = largest_differences(sample.weighted, resamples, rng)
    weighted = differences(sample, pairs) * sample.weights
    reached = np.abs(weighted.sum(axis=2)) - slack(weighted)  # M × P
    as_large = [
        np.count_nonzero(chance[:, None] >= least, axis=0)
        for chance, least in zip(ranges, reached, strict=True)
    ]
    p: Floats = (np.array(as_large) + 1) / (resamples + 1)
    return p


def _smallest_of_tukey(sample: Sample, pairs: Pairs, resamples: int) -> Floats:
    """Where one of S systems is the first and one the last on all n queries on which any differ: one
    of the S (S - 1) choices of both on each, and no less than one of the resamples."""
    systems = len(sample.systems)
    differing = np.count_nonzero(np.ptp(sample.values, axis=1), axis=1)  # M
    ways = (systems * (systems - 1.0)) ** (1.0 - np.maximum(differing, 1))
    return np.repeat(np.maximum(ways, 1 / (resamples + 1))[:, None], len(pairs), axis=1)


def _each(title: str, test: Callable[[Sample, Floats], float]) -> Procedure:
    """A test of one row of differences, for every measure and pair; 1 where nothing differs."""

    def p_of(sample: Sample, rows: Floats) -> Floats:
        return np.array([[test(sample, row) if row.any() else 1.0 for row in of] for of in rows])

    def p_values(sample: Sample, pairs: Pairs, _: int, __: np.random.Generator) -> Floats:
        return p_of(sample, differences(sample, pairs))

    def smallest(sample: Sample, pairs: Pairs, _: int) -> Floats:
        return p_of(sample, np.abs(differences(sample, pairs)))

    return Procedure(title, p_values, smallest)


def _randomization(sample: Sample, row: Floats) -> float:
    return sign_flip_p(row * sample.weights)


def _student(sample: Sample, row: Floats) -> float:
    weighted = row * sample.weights
    spread = measure_dispersion(sample.centered(weighted), sample.strata)
    return 1.0 if spread is None else student(float(weighted.sum()), spread)


def _smallest_of_student(sample: Sample, pairs: Pairs, _: int) -> Floats:
    """Two differences that are nearly equal have any p-value; a single one has none."""
    return np.full((len(sample.values), len(pairs)), 0.0 if len(sample) > 1 else 1.0)


def _wilcoxon(sample: Sample, row: Floats) -> float:
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise needs_scipy("Wilcoxon's test") from None
    return float(wilcoxon(row[row != 0]).pvalue)


def _sign(sample: Sample, row: Floats) -> float:
    """Wins and losses as throws of a coin; ties are left out."""
    wins, losses = int(np.count_nonzero(row > 0)), int(np.count_nonzero(row < 0))
    return sign_test(wins, losses)


def sign_test(wins: int, losses: int) -> float:
    """The two-sided mid-p value of so many wins and losses: what is as far from even counts half.

    Counted whole, so few p-values exist that 0.05 finds a difference in 3% of comparisons of the same.
    """
    throws, ways, total = wins + losses, 1, 0
    for heads in range(min(wins, losses)):
        total += ways
        ways = ways * (throws - heads) // (heads + 1)
    return float((2 * total + ways) / 2**throws)


TESTS: dict[str, Procedure] = {
    "randomization": _each("paired randomization test", _randomization),
    "t": replace(_each("paired t-test", _student), smallest=_smallest_of_student),
    "wilcoxon": _each("Wilcoxon signed-rank test", _wilcoxon),
    "sign": _each("sign test with mid-p values", _sign),
    "tukey": Procedure("randomized Tukey HSD", _tukey, _smallest_of_tukey, True),
}
