"""Significance: the tests between systems, how systems are compared, and corrections."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Literal, TypeAlias, get_args

import numpy as np

from germane.comparison.samples import Sample
from germane.core.calls import check_number, parse_whole
from germane.core.mean_intervals import Dispersion
from germane.core.ragged import ROUNDING, Floats, Ints, subtract_values
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
from germane.output.documents import IF_ANY

# --- Significance: the tests, how systems are compared, and corrections for their number ----------

COUNTED = 24  # queries of free sign up to which all ways to choose their signs are counted
REACH = 14.0  # standard deviations between the copies of a density that a sum repeats
LEAST, MOST = 2**14, 2**18  # cosines after which an integral may stop, and must stop
POINTS = 128  # the least points of an integral: several times as many as a normal density needs
BLOCK, HELD = 32, 2**20  # points that are summed at once, and cosines in memory for them
SMALLEST = float(np.finfo(float).tiny)  # a p-value is never 0
# Sums that are as near count as equal. Differences of nearly equal values have lost some digits,
# and no p-value depends on so little.
NEAR = 1e-9


def compute_sign_flip_p(differences: Floats) -> float:
    """Compute the two-sided p-value of the paired randomization test, of weighted differences.

    If two systems are the same, each query's difference could as well have had the other sign. The
    p-value is the share of the ways to choose signs whose sum is at least as far from 0. Nothing is
    drawn at random. For few queries all ways are counted. For more, the characteristic function of
    the sum is integrated, which computes even very small p-values. Queries without a difference
    have no effect.
    """
    observed, rounding = abs(float(differences.sum())), NEAR * float(np.abs(differences).sum())
    if observed <= rounding:
        return 1.0
    sizes = np.sort(np.abs(differences[differences != 0]))
    # In a sum as large as observed, this much at most has the other sign; larger differences are
    # fixed.
    room = (float(sizes.sum()) - observed + rounding) / 2
    free = sizes[: np.searchsorted(sizes, room, side="right")]
    if len(free) <= COUNTED:
        share = math.ldexp(_count_subsets(free, room), -len(free))
    else:
        share = _compute_tail(*_find_distinct(free), float(free.sum()) - 2 * room)
    return min(1.0, max(math.ldexp(share, 1 - len(sizes) + len(free)), SMALLEST))


def _count_subsets(sizes: Floats, limit: float) -> int:
    """Count the subsets with a sum of at most ``limit``."""
    # A subset has a part in each half: for each sum of the one half, those sums of the other that
    # still fit are counted by bisection. That takes 2^(n/2) sums instead of 2^n.
    half = len(sizes) // 2
    first_sums, second_sums = _sum_subsets(sizes[:half]), np.sort(_sum_subsets(sizes[half:]))
    return int(np.searchsorted(second_sums, limit - first_sums, side="right").sum())


def _sum_subsets(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
    return sums


def _find_distinct(sizes: Floats) -> tuple[Floats, Ints]:
    """Ascending sizes → the different ones, and how many of each; rounding makes no difference."""
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > 1e-13 * sizes[-1])
    return sizes[starts], np.diff(starts, append=len(sizes))


def _compute_tail(sizes: Floats, counts: Ints, least: float) -> float:
    """Compute the probability of a sum of at least ``least``, where each size has a random sign.

    This is the inversion integral of the moment generating function, on the line through its
    saddlepoint (Rice 1980; the expansion at that point is Robinson's approximation, 1982). On that
    line the function is close to a normal density, which equidistant points integrate to many
    digits.
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
        steps = math.ceil(period / step)
        period, points = steps * step, steps // 2 + 1
        least = float(counts @ sizes) - step * round((float(counts @ sizes) - least) / step)
    else:
        step = 0.0
    total, block = 0.0, max(1, min(BLOCK, HELD // len(sizes)))
    for start in range(0, points, block):
        index = np.arange(start, min(start + block, points))
        line = tilt + 2j * math.pi / period * index
        terms = _compute_characteristic(sizes, counts, slope, line.imag) * np.exp(
            -1j * least * line.imag
        )
        terms *= step / -np.expm1(-step * line) if step else 1 / line
        terms[(index == 0) | (2 * index * step == period)] /= 2  # the others count for -index
        total += float(terms.real.sum())
        if not step and np.abs(terms).max() < 1e-8 * abs(total) and index[-1] * len(sizes) > LEAST:
            break
    log_moment = float(counts @ (np.logaddexp(tilt * sizes, -tilt * sizes) - math.log(2)))
    return max(0.0, 2 / period * total * math.exp(log_moment - tilt * least))


def _compute_characteristic(sizes: Floats, counts: Ints, slope: Floats, points: Floats) -> Floats:
    """Compute the characteristic function of the sum, whose mean is tilted to the tail."""
    angles = np.outer(sizes, points)
    factors = np.cos(angles) + 1j * (slope[:, None] * np.sin(angles))
    repeated = counts > 1
    factors[repeated] **= counts[repeated, None]
    product: Floats = np.multiply.reduce(factors, axis=0)
    return product


def _find_saddlepoint(sizes: Floats, counts: Ints, mean: float) -> float:
    """Find the tilt that makes ``mean`` the mean of the sum, by Newton's method from below."""
    tilt = 0.0
    for _ in range(50):
        slope = np.tanh(tilt * sizes)
        missing = mean - float(counts @ (sizes * slope))
        if missing <= 1e-3 * mean:
            break
        tilt += missing / float(counts @ (sizes**2 * (1 - slope**2)))
    return tilt


def _find_common_step(sizes: Floats) -> float:
    """Find the largest number of which all sizes are multiples; 0 for one too small to help."""
    step, finest = float(sizes[-1]), 1e-5 * float(sizes[-1])
    for size in sizes.tolist():
        rest = size
        while rest > finest * 1e-4:
            step, rest = rest, abs(math.remainder(step, rest))
        if step < finest:
            return 0.0
    multiples = sizes / step
    return step if np.abs(multiples - np.round(multiples)).max() < 1e-6 else 0.0


TABULATED = 6  # systems up to which a table holds all their orders


def draw_largest_differences(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """M × S × Q weighted values → M × resamples: draw the range of the systems' sums by chance.

    If all systems are the same, each query's values could as well belong to the systems in any
    other order. All measures of a query take the same order.
    """
    measures, systems, queries = values.shape
    sums = np.zeros((resamples, measures * systems))
    permuted = np.empty_like(sums)
    orders = np.array(list(permutations(range(systems)))) if systems <= TABULATED else None
    for q in range(queries):
        of_query = values[:, :, q]
        if orders is not None:
            table = of_query[:, orders].swapaxes(0, 1).reshape(len(orders), -1)
            drawn = rng.integers(0, len(orders), size=resamples, dtype=np.uint16)
            np.take(table, drawn, axis=0, out=permuted, mode="clip")
        else:
            drawn = rng.permuted(np.tile(np.arange(systems), (resamples, 1)), axis=1)
            permuted = of_query[:, drawn].swapaxes(0, 1).reshape(resamples, -1)
        sums += permuted
    ranges: Floats = np.ptp(sums.reshape(resamples, measures, systems), axis=2).T
    return ranges


Pairs = Sequence[tuple[int, int]]  # baseline and system, as places in Sample.systems
MANY = 2000  # queries above which Wilcoxon's test gets a warning


@dataclass(frozen=True, eq=False, repr=False)
class Procedure:
    """A test of significance: its p-values for all measures and pairs of a sample."""

    title: str
    assumes: str  # of equal systems
    p_values: Callable[[Sample, Pairs, int, np.random.Generator], Floats]  # M × P
    smallest: Callable[[Sample, Pairs, int], Floats]  # M × P: if all differences had one direction
    # above 0 if it favors the system, below 0 if the baseline
    find_direction: Callable[[Floats], float] = lambda difference: 0.0  # as the mean
    resamples: bool = False  # does it draw resamples?
    corrects: bool = False  # are its p-values corrected for the number of pairs?


def compute_differences(sample: Sample, pairs: Pairs) -> Floats:
    """M × P × Q: system less baseline; differences that are equal but for rounding are equal."""
    baselines, systems = (list(side) for side in zip(*pairs, strict=True))
    return subtract_values(sample.values[:, systems], sample.values[:, baselines])


def _test_tukey(sample: Sample, pairs: Pairs, resamples: int, rng: np.random.Generator) -> Floats:
    ranges = draw_largest_differences(sample.weighted, resamples, rng)
    rounding = ROUNDING * np.abs(sample.weighted).sum(axis=2).max(axis=1)
    weighted = compute_differences(sample, pairs) * sample.weights
    reached = np.abs(weighted.sum(axis=2)) - rounding[:, None]  # M × P
    as_large = [
        np.count_nonzero(chance[:, None] >= least, axis=0)
        for chance, least in zip(ranges, reached, strict=True)
    ]
    p: Floats = (np.array(as_large) + 1) / (resamples + 1)
    return p


def _find_smallest_of_tukey(sample: Sample, pairs: Pairs, resamples: int) -> Floats:
    """Find the p-value if one system is first and one last on all n queries that differ.

    Of S systems there are S (S - 1) such choices on each query. At least one resample counts.
    """
    systems = len(sample.systems)
    apart = compute_differences(sample, [(0, system) for system in range(1, systems)])
    differing = np.count_nonzero(apart.any(axis=1), axis=1)  # M
    ways = (systems * (systems - 1.0)) ** (1.0 - np.maximum(differing, 1))
    return np.repeat(np.maximum(ways, 1 / (resamples + 1))[:, None], len(pairs), axis=1)


def _test_each(title: str, assumes: str, test: Callable[[Sample, Floats], float]) -> Procedure:
    """Apply a test to the differences of every measure and pair; p is 1 where nothing differs."""

    def test_all(sample: Sample, rows: Floats) -> Floats:
        return np.array(
            [[test(sample, row) if row.any() else 1.0 for row in of_measure] for of_measure in rows]
        )

    return Procedure(
        title,
        assumes,
        lambda sample, pairs, *_: test_all(sample, compute_differences(sample, pairs)),
        lambda sample, pairs, _: test_all(sample, np.abs(compute_differences(sample, pairs))),
    )


def _test_student(sample: Sample, row: Floats) -> float:
    weighted = row * sample.weights
    spread = Dispersion.measure(sample.center(weighted), sample.strata)
    return 1.0 if spread is None else spread.compute_student_p(float(weighted.sum()))


def _rank_sizes(row: Floats) -> Floats:
    """Replace differences by the ranks of their sizes; equal ones share the mean of their ranks."""
    row = row[row != 0]
    _, place, counts = np.unique(np.abs(row), return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    signed: Floats = np.sign(row) * ranks[place]
    return signed


def compute_sign_p(wins: int, losses: int) -> float:
    """Compute the two-sided mid-p value of so many wins and losses; ties are left out.

    It is the probability of outcomes farther from even than the observed one, and half of that of
    outcomes equally far (Lancaster 1961; Fagerland, Lydersen and Laake 2013). If these counted in
    full, the test would be too strict: with so few possible p-values, it would call 3% of equal
    systems different at 0.05.
    """
    trials, ways, total = wins + losses, 1, 0
    if not trials:
        return 1.0
    for heads in range(min(wins, losses)):
        total += ways
        ways = ways * (trials - heads) // (heads + 1)
    equally_far = ways if wins == losses else 2 * ways
    return float((4 * total + equally_far) / 2 ** (trials + 1))


SYMMETRY = "assumes that differences of equal systems are symmetric around 0"

TESTS: dict[str, Procedure] = {
    "randomization": _test_each(
        "paired randomization test",
        SYMMETRY,
        lambda sample, row: compute_sign_flip_p(row * sample.weights),
    ),
    # two differences can be nearly equal, so that p is nearly 0; a single one has no p
    "t": replace(
        _test_each(
            "paired t-test",
            "assumes that the mean of that many differences is normally distributed",
            _test_student,
        ),
        smallest=lambda sample, pairs, _: np.full(
            (len(sample.values), len(pairs)), 0.0 if len(sample) > 1 else 1.0
        ),
    ),
    "wilcoxon": replace(
        _test_each(
            "Wilcoxon signed-rank test",
            SYMMETRY,
            lambda _, row: compute_sign_flip_p(_rank_sizes(row)),
        ),
        find_direction=lambda row: float(_rank_sizes(row).sum()),
    ),
    "sign": replace(
        _test_each(
            "sign test with mid-p values",
            "asks about wins and losses, not about the mean",
            lambda _, row: compute_sign_p(int((row > 0).sum()), int((row < 0).sum())),
        ),
        find_direction=lambda row: float(np.sign(row).sum()),
    ),
    "tukey": Procedure(
        "randomized Tukey HSD",
        "assumes that equal systems could exchange their values on every query",
        _test_tukey,
        _find_smallest_of_tukey,
        resamples=True,
        corrects=True,
    ),
}


# --- Settings: how systems are compared, and the corrections for the number of comparisons --------
#
# A correction raises the p-values of a family of comparisons, which bounds the errors among all of
# them.

TestName: TypeAlias = Literal["randomization", "t", "wilcoxon", "sign", "tukey"]
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Family: TypeAlias = Literal["measure", "all"]
Sequential: TypeAlias = Literal["anytime"]

WORDS: dict[str, tuple[str, ...]] = {
    "test": get_args(TestName),
    "correction": get_args(Correction),
    "family": get_args(Family),
    "sequential": get_args(Sequential),
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

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000_000  # resamples


@dataclass(frozen=True)
class Settings:
    """How systems are compared. Raises PolicyError and InputError for what does not exist."""

    _json = "* alpha"

    baseline: str | None = None
    test: TestName = "randomization"
    correction: Correction | None = None  # None: Holm, or none where the test corrects
    family: Family = "measure"
    confidence: float = 0.95
    equivalence: float | None = None
    resamples: int = 10_000
    sequential: Sequential | None = field(default=None, metadata=IF_ANY)

    def __post_init__(self) -> None:
        for name, words in WORDS.items():
            choice = getattr(self, name)
            if name not in ("correction", "sequential") or choice is not None:
                check_choice(name, choice, words)
        if self.sequential and (self.test != "randomization" or self.equivalence is not None):
            other = f"test={self.test}" if self.equivalence is None else "equivalence="
            raise PolicyError(
                f"sequential={self.sequential} has a test of its own, which may be looked at after"
                f" each batch; leave out {other}."
            )
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
        if resamples is None or not FEWEST_RESAMPLES <= resamples <= MOST_RESAMPLES:
            raise InputError(
                f"resamples takes a whole number from {FEWEST_RESAMPLES} to {MOST_RESAMPLES:,}; got"
                f" {clip(self.resamples)}"
            )

    def check_systems(self, names: Collection[str], noun: str) -> None:
        """Refuse fewer than two systems, and a baseline that is none of them."""
        if len(names) < 2:
            raise EmptyError(f"compare needs at least two {noun}.")
        if self.baseline is not None and self.baseline not in names:
            raise NotFoundError(
                "there is no baseline"
                f" {clip(self.baseline)}.{offer(self.baseline, names, list_some)}"
            )

    @property
    def alpha(self) -> float:
        """The error rate: 1 - confidence."""
        return round(1 - self.confidence, 12) or 1 - self.confidence


def is_near(value: float, second: float) -> bool:
    """Say whether two numbers are equal but for rounding."""
    return math.isclose(value, second, rel_tol=ROUNDING)
