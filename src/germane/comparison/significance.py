"""The tests of significance: one literal table, each test for all pairs and measures at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from germane._ragged import Floats
from germane.comparison.randomization import EXACT, sign_flips, slack
from germane.comparison.sample import Sample
from germane.comparison.spread import needs_scipy, spread_of, student
from germane.comparison.tukey import largest_differences

Pairs = Sequence[tuple[int, int]]  # baseline and system, as places in Sample.systems
MANY = 2000  # queries from which Wilcoxon's test is flagged


@dataclass(frozen=True, eq=False, repr=False)
class Procedure:
    """A test of significance: its p-values for all measures and pairs of a sample."""

    title: str
    p_values: Callable[[Sample, Pairs, int, np.random.Generator], Floats]  # M × P
    resamples: bool  # are its p-values those of resamples?
    corrects: bool = False  # has it corrected for the number of pairs already?


def differences(sample: Sample, pairs: Pairs) -> Floats:
    """M × P × Q: system less baseline."""
    baselines, systems = (list(side) for side in zip(*pairs, strict=True))
    difference: Floats = sample.values[:, systems] - sample.values[:, baselines]
    return difference


def _randomization(
    sample: Sample, pairs: Pairs, resamples: int, rng: np.random.Generator
) -> Floats:
    weighted = differences(sample, pairs) * sample.weights
    flat = weighted.reshape(-1, len(sample))
    return sign_flips(flat, resamples, rng).reshape(weighted.shape[:2])


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


def _each(test: Callable[[Sample, Floats], float]) -> Callable[..., Floats]:
    """A test of one row of differences, for every measure and pair; 1 where nothing differs."""

    def p_values(sample: Sample, pairs: Pairs, resamples: int, rng: np.random.Generator) -> Floats:
        rows = differences(sample, pairs)
        p = [[test(sample, row) if row.any() else 1.0 for row in of] for of in rows]
        return np.array(p)

    return p_values


def _student(sample: Sample, row: Floats) -> float:
    weighted = row * sample.weights
    spread = spread_of(sample.centered(weighted), sample.strata)
    return 1.0 if spread is None else student(float(weighted.sum()), spread)


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
    "randomization": Procedure("paired randomization test", _randomization, True),
    "t": Procedure("paired t-test", _each(_student), False),
    "wilcoxon": Procedure("Wilcoxon signed-rank test", _each(_wilcoxon), False),
    "sign": Procedure("sign test with mid-p values", _each(_sign), False),
    "tukey": Procedure("randomized Tukey HSD", _tukey, True, True),
}


def resampled(test: Procedure, queries: int, resamples: int) -> str:
    """How a test's p-values came about: "10,000 resamples", "exact", or nothing to say."""
    if test is TESTS["randomization"] and queries <= EXACT:
        return f"exact, all {2**queries:,} ways to swap"
    return f"{resamples:,} resamples" if test.resamples else ""


def smallest(test: Procedure, queries: int, resamples: int) -> float:
    """The smallest p-value that a test can give: of so many queries, or of so many resamples."""
    signs = 2.0 ** (1 - queries)  # all differences of one sign, in either direction
    if test is TESTS["sign"]:
        return signs / 2
    if test.resamples:
        exact = test is TESTS["randomization"] and queries <= EXACT
        return signs if exact else 1 / (resamples + 1)
    return 0.0 if test is TESTS["t"] else signs
