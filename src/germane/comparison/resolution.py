"""Resolution: which differences so many queries can show, and how many queries a difference needs.

If only k queries differ, the paired randomization test has no p-value below 2 ÷ 2^k, and no other
test of signs has. A mean of n values that are counts, such as P@10, differs in steps.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from germane.comparison.significance import compute_sign_flip_p
from germane.core.mean_intervals import Dispersion, Interval
from germane.measures.measure import Measure
from germane.output.documents import Plain
from germane.output.tables import format_number, write_count

ALPHA = 0.05
EXPLANATION = (
    "△ 95% intervals hold for any values of single queries (Hoeffding 1963), and no paired"
    " randomization test has a smaller p. From the first number of queries on, p < 0.05 is"
    " possible; the second shows the difference with a probability of 0.8, whatever the values."
)
"""What the numbers of claims are."""


def find_smallest_p(differing: int) -> float:
    """Find the smallest two-sided p-value of the randomization test if so many queries differ."""
    return compute_sign_flip_p(np.ones(differing))


def count_fewest_differing(alpha: float) -> int:
    """Count the queries that have to differ before any p-value is below ``alpha``."""
    differing = 1
    while find_smallest_p(differing) >= alpha:
        differing += 1
    return differing


def find_step(measure: Measure, relevant: int | None = None) -> Fraction | None:
    """Find the smallest difference of two values of one query; None where there is no such step.

    ``relevant`` is the number of relevant items of the query.
    """
    words, k = dict(measure.parameters), measure.k
    if words.get("mean", "arithmetic") != "arithmetic":
        return None
    match measure.name:
        case "Success":
            return Fraction(1)
        case "P" if k and words["norm"] == "k":
            return Fraction(1, k)
        case "R" if relevant and words["norm"] in ("R", "min"):
            return Fraction(1, min(relevant, k) if k and words["norm"] == "min" else relevant)
    return None


def estimate_certain_interval(mean: float, queries: int, confidence: float) -> Interval:
    """Estimate the interval of a mean of so many values from 0 to 1, whatever the single values.

    It holds all means m for which n·KL(mean, m) ≤ ln(2 ÷ α) (Hoeffding 1963, theorem 1).
    """
    mean = min(max(mean, 0.0), 1.0)
    most = math.log(2 / (1 - confidence)) / queries

    def diverge(truth: float) -> float:
        parts = ((mean, truth), (1 - mean, 1 - truth))
        return sum(part * math.log(part / share) for part, share in parts if part) - most

    ends = []
    for far in (0.0, 1.0):
        near = mean
        for _ in range(50):
            middle = (near + far) / 2
            if 0 < middle < 1 and diverge(middle) <= 0:
                near = middle
            else:
                far = middle
        ends.append(far)
    return Interval(ends[0], ends[1], confidence, "range")


@dataclass(frozen=True)
class Claim(Plain):
    """The difference of two numbers of a column, and how much of it so many queries can show.

    >>> rows = {"ours": {"P@1": "0.60"}, "theirs": {"P@1": "0.50"}}
    >>> [claim] = germane.audit(rows, queries=10).claims
    >>> claim.smallest_p, claim.fewest
    (1.0, 60)
    """

    column: str
    better: str
    worse: str
    difference: float
    queries: int
    intervals: tuple[Interval, Interval]
    """of the better and of the worse number, whatever the values of single queries"""
    smallest_p: float
    """the smallest p-value that a paired randomization test can have with these numbers"""
    fewest: int
    """the queries from which on any p-value below 0.05 is possible: all that differ favor one"""
    most: int
    """the queries that show such a difference with a probability of 0.8, whatever the values"""

    def __str__(self) -> str:
        ends = [f"[{interval.low:.3f}, {interval.high:.3f}]" for interval in self.intervals]
        least = f"p ≥ {format_number(self.smallest_p, 3)}"
        if self.smallest_p < 1e-3:
            least = f"p ≥ {self.smallest_p:.1e}".replace("e-0", "e-")
        can = "can show" if self.smallest_p < ALPHA else "cannot show"
        return (
            f"{self.column}: {self.better} {ends[0]}, {self.worse} {ends[1]}."
            f" {write_count(self.queries, 'query', 'queries')} {can} the difference of"
            f" {self.difference:.3g} ({least}); it takes from {self.fewest:,} to {self.most:,}."
        )


def weigh_claim(
    column: str,
    rows: tuple[str, str],
    means: tuple[float, float],
    largest: float,
    queries: int,
    step: Fraction | None,
) -> Claim:
    """Weigh the difference of two means of values from 0 to 1, of which the first is higher.

    ``largest`` is the largest difference that the rounded numbers stand for.
    """
    high, low = means
    difference = high - low
    differing, needed = queries, count_fewest_differing(ALPHA)
    fewest = needed
    if step is not None:
        units = math.floor(largest * queries / step + 1e-9)
        differing = min(queries, units)
        fewest = max(needed, math.ceil(needed * step / Fraction(repr(round(difference, 12)))))
    # Two values are most different if they are 0 and 1, on as many queries as the means allow.
    variance = min(high + low, 2 - high - low) - difference**2
    spread = Dispersion(math.sqrt(max(variance, 0.0) / queries), queries - 1.0, queries)
    most = max(fewest, spread.count_needed(difference, ALPHA))
    intervals = (
        estimate_certain_interval(high, queries, 1 - ALPHA),
        estimate_certain_interval(low, queries, 1 - ALPHA),
    )
    return Claim(
        column, *rows, round(difference, 12), queries, intervals, find_smallest_p(differing),
        fewest, most,
    )  # fmt: skip
