"""The tests of significance: one literal table, each test for all pairs and measures at once.

Paired randomization asks how often swapping two systems at random does as much as was observed.
Randomized Tukey HSD compares all pairs of systems at once with the largest difference by chance.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from germane.comparison.sample import Sample
from germane.core.dispersion import compute_student_p, explain_scipy, measure_dispersion
from germane.core.ragged import Floats, Ints

COUNTED = 24  # queries free to change sides up to which all ways to choose their signs are counted
REACH = 14.0  # standard deviations between the copies of a distribution that a sum sees as one
LEAST, MOST = 2**14, 2**18  # cosines that an integral takes before it may stop, and must
POINTS = 128  # of an integral, however many cosines each takes: several times what a normal density needs
BLOCK, HELD = 32, 2**20  # points that are summed at once, and cosines held for them
SMALLEST = float(np.finfo(float).tiny)  # a p-value is never 0


def compute_sign_flip_p(differences: Floats) -> float:
    """The two-sided p-value of the sum of weighted differences being 0.

    If two systems are the same, each query's difference could as well have had the other sign. The
    p-value is the share of the ways to choose signs whose sum is at least as far from 0. Nothing is
    drawn at random: few queries are counted, and for more the characteristic function of the sum is
    integrated, so that no p-value is too small to be told. Queries without a difference count nothing.
    """
    observed, rounding = abs(float(differences.sum())), float(bound_rounding(differences))
    if observed <= rounding:
        return 1.0
    sizes = np.sort(np.abs(differences[differences != 0]))
    # A sum as large as observed leaves this much to change sides; larger differences are fixed.
    room = (float(sizes.sum()) - observed + rounding) / 2
    free = sizes[: np.searchsorted(sizes, room, side="right")]
    if len(free) <= COUNTED:
        share = math.ldexp(_count_subsets(free, room), -len(free))
    else:
        share = _compute_tail(*_find_distinct(free), float(free.sum()) - 2 * room)
    return min(1.0, max(math.ldexp(share, 1 - len(sizes) + len(free)), SMALLEST))


def bound_rounding(values: Floats) -> Floats:
    """The rounding error of a sum along the last axis: equal sums must count as equal."""
    summed: Floats = 1e-12 * np.abs(values).sum(axis=-1)
    return summed


def _count_subsets(sizes: Floats, most: float) -> int:
    """How many subsets have a sum of at most so much."""
    half = len(sizes) // 2
    one, other = _sum_subsets(sizes[:half]), np.sort(_sum_subsets(sizes[half:]))
    return int(np.searchsorted(other, most - one, side="right").sum())


def _sum_subsets(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
    return sums


def _find_distinct(sizes: Floats) -> tuple[Floats, Ints]:
    """Ascending sizes → the different ones, and how many of each; sizes a rounding apart are equal."""
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > 1e-13 * sizes[-1])
    return sizes[starts], np.diff(starts, append=len(sizes))


def _compute_tail(sizes: Floats, counts: Ints, least: float) -> float:
    """The chance of a sum of at least so much, where each size has either sign.

    The inversion integral of the moment generating function, on the line through its saddlepoint
    (Rice 1980; the expansion at that point is Robinson's approximation, 1982). There it is about a
    normal density, of which equidistant points give the integral to many digits.
    """
    deviation = math.sqrt(float(counts @ sizes**2))
    if least < -8 * deviation:
        return 1.0
    tilt = max(_find_saddlepoint(sizes, counts, least), 1 / deviation)
    slope = np.tanh(tilt * sizes)
    period = REACH * (math.sqrt(float(counts @ (sizes**2 * (1 - slope**2)))) + 1 / tilt)
    points = max(POINTS, MOST // len(sizes))
    step = 2 * _find_common_step(sizes)  # of the sums
    if step and period / step <= 2 * points:
        whole = math.ceil(period / step)
        period, points = whole * step, whole // 2 + 1
        least = float(counts @ sizes) - step * round((float(counts @ sizes) - least) / step)
    else:
        step = 0.0
    total, block = 0.0, max(1, min(BLOCK, HELD // len(sizes)))
    for start in range(0, points, block):
        at = np.arange(start, min(start + block, points))
        line = tilt + 2j * math.pi / period * at
        terms = _compute_characteristic(sizes, counts, slope, line.imag) * np.exp(
            -1j * least * line.imag
        )
        terms *= step / -np.expm1(-step * line) if step else 1 / line
        terms[(at == 0) | (2 * at * step == period)] /= 2  # the others stand for two, -at and at
        total += float(terms.real.sum())
        if not step and np.abs(terms).max() < 1e-8 * abs(total) and at[-1] * len(sizes) > LEAST:
            break
    log_moment = float(counts @ (np.logaddexp(tilt * sizes, -tilt * sizes) - math.log(2)))
    return max(0.0, 2 / period * total * math.exp(log_moment - tilt * least))


def _compute_characteristic(sizes: Floats, counts: Ints, slope: Floats, at: Floats) -> Floats:
    """The characteristic function of the sum, tilted so that its mean is where the tail begins."""
    angles = np.outer(sizes, at)
    factors = np.cos(angles) + 1j * (slope[:, None] * np.sin(angles))
    several = counts > 1
    factors[several] **= counts[several, None]
    product: Floats = np.multiply.reduce(factors, axis=0)
    return product


def _find_saddlepoint(sizes: Floats, counts: Ints, mean: float) -> float:
    """The tilt that makes ``mean`` the mean of the sum, by Newton's method from below."""
    tilt = 0.0
    for _ in range(50):
        slope = np.tanh(tilt * sizes)
        missing = mean - float(counts @ (sizes * slope))
        if missing <= 1e-3 * mean:
            break
        tilt += missing / float(counts @ (sizes**2 * (1 - slope**2)))
    return tilt


def _find_common_step(sizes: Floats) -> float:
    """The largest number of which all sizes are multiples; 0 where there is none of any use."""
    step, finest = float(sizes[-1]), 1e-5 * float(sizes[-1])
    for size in sizes.tolist():
        rest = size
        while rest > finest * 1e-4:
            step, rest = rest, abs(math.remainder(step, rest))
        if step < finest:
            return 0.0
    multiples = sizes / step
    return step if np.abs(multiples - np.round(multiples)).max() < 1e-6 else 0.0


TABULATED = 6  # systems up to which all their orders fit a table


def draw_largest_differences(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """M × S × Q weighted values → M × resamples: the range of the systems' sums by chance.

    If all systems are the same, each query's values could as well belong to the systems in any
    other order. Values of one query stay together: systems are compared on the same queries.
    """
    measures, systems, queries = values.shape
    sums = np.zeros((resamples, measures * systems))
    got = np.empty_like(sums)
    orders = np.array(list(permutations(range(systems)))) if systems <= TABULATED else None
    for q in range(queries):
        of_query = values[:, :, q]
        if orders is not None:
            table = of_query[:, orders].swapaxes(0, 1).reshape(len(orders), -1)
            drawn = rng.integers(0, len(orders), size=resamples, dtype=np.uint16)
            np.take(table, drawn, axis=0, out=got, mode="clip")
        else:
            drawn = rng.permuted(np.tile(np.arange(systems), (resamples, 1)), axis=1)
            got = of_query[:, drawn].swapaxes(0, 1).reshape(resamples, -1)
        sums += got
    ranges: Floats = np.ptp(sums.reshape(resamples, measures, systems), axis=2).T
    return ranges


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


def compute_differences(sample: Sample, pairs: Pairs) -> Floats:
    """M × P × Q: system less baseline."""
    baselines, systems = (list(side) for side in zip(*pairs, strict=True))
    difference: Floats = sample.values[:, systems] - sample.values[:, baselines]
    return difference


def _test_tukey(sample: Sample, pairs: Pairs, resamples: int, rng: np.random.Generator) -> Floats:
    ranges = draw_largest_differences(sample.weighted, resamples, rng)
    weighted = compute_differences(sample, pairs) * sample.weights
    reached = np.abs(weighted.sum(axis=2)) - bound_rounding(weighted)  # M × P
    as_large = [
        np.count_nonzero(chance[:, None] >= least, axis=0)
        for chance, least in zip(ranges, reached, strict=True)
    ]
    p: Floats = (np.array(as_large) + 1) / (resamples + 1)
    return p


def _find_smallest_of_tukey(sample: Sample, pairs: Pairs, resamples: int) -> Floats:
    """Where one of S systems is the first and one the last on all n queries on which any differ: one
    of the S (S - 1) choices of both on each, and no less than one of the resamples."""
    systems = len(sample.systems)
    differing = np.count_nonzero(np.ptp(sample.values, axis=1), axis=1)  # M
    ways = (systems * (systems - 1.0)) ** (1.0 - np.maximum(differing, 1))
    return np.repeat(np.maximum(ways, 1 / (resamples + 1))[:, None], len(pairs), axis=1)


def _test_each(title: str, test: Callable[[Sample, Floats], float]) -> Procedure:
    """A test of one row of differences, for every measure and pair; 1 where nothing differs."""

    def p_of(sample: Sample, rows: Floats) -> Floats:
        return np.array([[test(sample, row) if row.any() else 1.0 for row in of] for of in rows])

    def p_values(sample: Sample, pairs: Pairs, _: int, __: np.random.Generator) -> Floats:
        return p_of(sample, compute_differences(sample, pairs))

    def smallest(sample: Sample, pairs: Pairs, _: int) -> Floats:
        return p_of(sample, np.abs(compute_differences(sample, pairs)))

    return Procedure(title, p_values, smallest)


def _test_randomization(sample: Sample, row: Floats) -> float:
    return compute_sign_flip_p(row * sample.weights)


def _test_student(sample: Sample, row: Floats) -> float:
    weighted = row * sample.weights
    spread = measure_dispersion(sample.centered(weighted), sample.strata)
    return 1.0 if spread is None else compute_student_p(float(weighted.sum()), spread)


def _find_smallest_of_student(sample: Sample, pairs: Pairs, _: int) -> Floats:
    """Two differences that are nearly equal have any p-value; a single one has none."""
    return np.full((len(sample.values), len(pairs)), 0.0 if len(sample) > 1 else 1.0)


def _test_wilcoxon(sample: Sample, row: Floats) -> float:
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise explain_scipy("Wilcoxon's test") from None
    return float(wilcoxon(row[row != 0]).pvalue)


def _test_sign(sample: Sample, row: Floats) -> float:
    """Wins and losses as throws of a coin; ties are left out."""
    wins, losses = int(np.count_nonzero(row > 0)), int(np.count_nonzero(row < 0))
    return compute_sign_p(wins, losses)


def compute_sign_p(wins: int, losses: int) -> float:
    """The two-sided mid-p value of so many wins and losses: what is as far from even counts half.

    Counted whole, so few p-values exist that 0.05 finds a difference in 3% of comparisons of the same.
    """
    throws, ways, total = wins + losses, 1, 0
    for heads in range(min(wins, losses)):
        total += ways
        ways = ways * (throws - heads) // (heads + 1)
    return float((2 * total + ways) / 2**throws)


TESTS: dict[str, Procedure] = {
    "randomization": _test_each("paired randomization test", _test_randomization),
    "t": replace(_test_each("paired t-test", _test_student), smallest=_find_smallest_of_student),
    "wilcoxon": _test_each("Wilcoxon signed-rank test", _test_wilcoxon),
    "sign": _test_each("sign test with mid-p values", _test_sign),
    "tukey": Procedure("randomized Tukey HSD", _test_tukey, _find_smallest_of_tukey, True),
}
