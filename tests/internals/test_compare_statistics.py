"""The statistics behind compare: against SciPy, statsmodels, published numbers and plain counting."""

import math
import random
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane.comparison.pair import format_p
from germane.comparison.samples import Sample, resample_sums
from germane.comparison.significance import (
    CORRECTIONS,
    TESTS,
    compute_sign_flip_p,
    compute_sign_p,
    draw_largest_differences,
)
from germane.core.mean_intervals import Dispersion, estimate_bca, widen_quantile

# Fisher, The Design of Experiments (1935), chapter III: Darwin's maize, crossed less self-fertilized,
# in eighths of an inch.
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], float)

Array = np.ndarray


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def sample(values: Array, strata: Array | None = None) -> Sample:
    """S × Q values as a sample of one measure."""
    systems, queries = values.shape
    of = np.zeros(queries, int) if strata is None else strata
    names, datasets = tuple("abcdefghij"[:systems]), tuple(map(str, range(of.max() + 1)))
    ids = tuple(range(queries))
    return Sample((germane.AP,), names, datasets, ids, of, values[None], 0)


def p_value(test: str, differences: Array, strata: Array | None = None) -> float:
    two = sample(np.array([np.zeros(len(differences)), differences]), strata)
    return float(TESTS[test].p_values(two, [(0, 1)], 5000, rng())[0, 0])


small = st.lists(st.integers(-3, 3).map(lambda eighths: eighths / 8), min_size=2, max_size=10).map(
    np.array
)
numbers = st.lists(st.floats(-1, 1, width=32), min_size=5, max_size=40).map(np.array)


# --- Randomization ---------------------------------------------------------------------------------


def test_fisher_on_darwins_maize() -> None:
    """863 of 32,768 ways to choose the signs give a sum as large, as many one as small."""
    p = compute_sign_flip_p(DARWIN)
    assert p == 2 * 863 / 32768
    assert f"{100 * p:.3f}" == "5.267"  # as he printed it


@given(small)
def test_randomization_of_few_queries_is_exact(differences: Array) -> None:
    total = abs(differences.sum())
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    expected = sum(value >= total - 1e-9 for value in sums) / len(sums)
    assert compute_sign_flip_p(differences) == expected


@given(small)
@settings(max_examples=20)
def test_randomization_is_scipys(differences: Array) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.permutation_test(
        (differences, np.zeros(len(differences))),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert compute_sign_flip_p(differences) == pytest.approx(expected, abs=1e-12)


def convolved(sizes: Array, observed: int) -> float:
    """The chance that a sum of whole numbers with random signs is as far from 0, size by size."""
    total = int(sizes.sum())
    ways = np.zeros(total + 1)  # of each sum of those with a plus
    ways[0] = 1.0
    for size in sizes.tolist():
        shifted = np.concatenate([np.zeros(size), ways[: total + 1 - size]])
        ways = (ways + shifted) / 2
    return 2 * float(ways[-(-(total + observed) // 2) :].sum())


def shapes(queries: int) -> dict[str, Array]:
    """Whole differences without sign: ties, zeros, one that dominates, heavy tails, measures' values."""
    draws = np.random.default_rng(queries)
    ranks = 2520 // draws.integers(1, 11, (2, queries))  # reciprocal ranks have this common step
    return {
        "all the same": np.ones(queries, int),
        "two values": np.repeat([1009, 1361], [queries // 2, queries - queries // 2]),
        "few values": draws.integers(1, 4, queries),
        "tenths": draws.integers(1, 11, queries),
        "mostly zeros": draws.integers(0, 2, queries) * draws.integers(1, 11, queries),
        "nearly all the same": np.append(np.full(queries - 2, 4), [3, 7]),
        "all different": draws.integers(1, 2003, queries),
        "one dominates": np.append(draws.integers(1, 50, queries - 1), 3001),
        "two dominate": np.append(draws.integers(1, 50, queries - 2), [1501, 997]),
        "seven dominate": np.append(
            draws.integers(1, 9, queries - 7), draws.integers(2003, 2043, 7)
        ),
        "heavy tail": np.minimum(np.ceil(draws.pareto(1.0, queries) * 20), 8000).astype(int),
        "lognormal": np.minimum(np.ceil(np.exp(draws.normal(3, 2, queries))), 8000).astype(int),
        "reciprocal ranks": np.abs(ranks[0] - ranks[1]),
    }


@pytest.mark.parametrize(
    "queries", [25, 30, *(pytest.param(n, marks=pytest.mark.slow) for n in (27, 40, 60, 100, 200))]
)
def test_randomization_is_the_exact_convolution(queries: int) -> None:
    """Within 1% down to 1e-10, and 3% where a few values are a thousand times the others."""
    draws, looked = np.random.default_rng(1), 0
    for name, sizes in shapes(queries).items():
        for deviations in (0.02, 0.5, 1, 2, 3, 4, 5, 6, 6.5):
            aim = deviations * math.sqrt(float(sizes.astype(float) @ sizes))
            signs, total = np.ones(queries, int), int(sizes.sum())
            for q in draws.permutation(queries):
                if abs(total - 2 * sizes[q] - aim) < abs(total - aim):
                    total, signs[q] = total - 2 * int(sizes[q]), -1
            expected = convolved(sizes, abs(total)) if total else 1.0
            if expected > 1e-10:
                looked += 1
                found = compute_sign_flip_p(signs * sizes / sizes.max() / queries)
                near = 0.03 if name == "seven dominate" else 0.01
                assert found == pytest.approx(expected, rel=near), (name, deviations)
    assert looked > 60


def test_randomization_has_no_floor() -> None:
    """Every one of n differences in one direction: 2 of 2^n ways, ties and zeros or not."""
    for queries in (3, 20, 21, 50, 300):
        for sizes in shapes(queries).values() if queries >= 20 else [np.array([1, 2, 3])]:
            differing = np.count_nonzero(sizes)
            assert compute_sign_flip_p(-sizes / 7) == pytest.approx(
                2.0 ** (1 - differing), rel=1e-12
            )
    assert 0 < compute_sign_flip_p(np.ones(5000)) < 1e-300
    assert compute_sign_flip_p(np.append(np.zeros(296), np.full(4, -0.5))) == 0.125


def test_randomization_is_binomial_where_all_differences_are_the_same() -> None:
    stats = pytest.importorskip("scipy.stats")
    for queries, wins in ((200, 130), (1000, 530), (7000, 3800)):
        differences = np.repeat([1 / 3, -1 / 3], [wins, queries - wins])
        expected = stats.binomtest(wins, queries).pvalue
        assert compute_sign_flip_p(differences) == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("queries", [20_000, 400_000])
def test_randomization_of_many_queries_is_nearly_normal(queries: int) -> None:
    """By the central limit theorem: two-sided normal tails, with no common step and with one."""
    differences = rng().normal(0, 1, queries)
    for values, near in ((differences, 1e-3), (np.round(differences, 1), 0.02)):
        for deviations in (0.5, 3.0):
            shifted = values - values.mean() + deviations * values.std() / math.sqrt(queries)
            shifted = np.round(shifted, 1) if near > 0.01 else shifted
            z = abs(shifted.sum()) / math.sqrt(float(shifted @ shifted))
            assert compute_sign_flip_p(shifted) == pytest.approx(
                math.erfc(z / math.sqrt(2)), rel=near
            )


@given(numbers, st.floats(1e-6, 1e6), st.randoms(use_true_random=False))
def test_randomization_does_not_depend_on_order_sign_or_unit(
    differences: Array, unit: float, chance: random.Random
) -> None:
    p, mixed = compute_sign_flip_p(differences), differences.tolist()
    chance.shuffle(mixed)
    assert compute_sign_flip_p(-np.array(mixed)) == pytest.approx(p, rel=1e-6)
    assert compute_sign_flip_p(differences * unit) == pytest.approx(p, rel=1e-6)
    assert 0 < p <= 1


def test_the_same_p_value_twice() -> None:
    """Nothing of the randomization test is drawn at random."""
    differences = rng().normal(0.05, 0.3, 200)
    assert p_value("randomization", differences) == p_value("randomization", differences)
    assert p_value("tukey", np.ones(50)) == 1 / 5001  # of resamples, so never 0


# --- The smallest p-value that a test can give -------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_no_outcome_has_a_smaller_p(test: str) -> None:
    """All ways to choose the signs of some differences, zeros among them."""
    pytest.importorskip("scipy")
    sizes = np.array([0.5, 0.5, 0.25, 0, 1, 0, 0.125])
    two = sample(np.array([np.zeros(7), sizes]))
    [[least]] = TESTS[test].smallest(two, [(0, 1)], 5000)
    reached = [p_value(test, np.array(signs) * sizes) for signs in product((1, -1), repeat=7)]
    assert min(reached) >= least * 0.9
    if test not in ("tukey", "t"):  # the latter depends on the sizes of the differences
        assert min(reached) == least


# --- Tukey -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("systems", "queries"), [(3, 4), (2, 6), (7, 1)])
def test_tukey_by_counting(systems: int, queries: int) -> None:
    """All ways to hand the values of each query to the systems, against those drawn."""
    values = rng().integers(0, 9, (systems, queries)) / 8
    orders = list(permutations(range(systems)))
    ranges = [
        np.ptp(sum(values[list(order), q] for q, order in enumerate(chosen)))
        for chosen in product(orders, repeat=queries)
    ]
    drawn = draw_largest_differences(values[None], 20_000, rng())[0]
    for least in np.unique(ranges):
        expected = np.mean(np.array(ranges) >= least - 1e-9)
        assert np.mean(drawn >= least - 1e-9) == pytest.approx(expected, abs=0.015)


def test_tukey_of_two_systems_is_the_randomization_test() -> None:
    assert p_value("tukey", DARWIN) == pytest.approx(2 * 863 / 32768, abs=0.01)


def test_tukey_keeps_the_values_of_a_query_together() -> None:
    """Queries differ far more than systems; unpaired, these differences would be nothing."""
    easy = np.linspace(0, 1, 40)
    three = sample(np.array([easy, easy + 0.01, easy + 0.02]))
    assert TESTS["tukey"].p_values(three, [(0, 2)], 2000, rng())[0, 0] == 1 / 2001


# --- t, Wilcoxon, sign -----------------------------------------------------------------------------


@given(numbers)
def test_student_is_scipys(differences: Array) -> None:
    stats = pytest.importorskip("scipy.stats")
    if np.ptp(differences) < 1e-6:
        return
    expected = stats.ttest_rel(differences, np.zeros(len(differences))).pvalue
    assert p_value("t", differences) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_student_on_darwins_maize() -> None:
    """Fisher: t = 2.148, just beyond the 5% point of 2.145 for 14 degrees of freedom."""
    pytest.importorskip("scipy")
    spread = Dispersion.measure(DARWIN / 15 - DARWIN.mean() / 15, np.zeros(15, int))
    assert spread is not None
    assert f"{DARWIN.mean() / spread.error:.3f}" == "2.148"
    assert f"{p_value('t', DARWIN):.4f}" == "0.0497"


def test_wilcoxon_and_sign_are_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert p_value("wilcoxon", DARWIN) == stats.wilcoxon(DARWIN).pvalue
    for queries in (5, 20, 40):  # without ties, for which SciPy's is exact
        differences = rng().normal(0.3, 1, queries)
        expected = stats.wilcoxon(differences, method="exact").pvalue
        assert p_value("wilcoxon", differences) == pytest.approx(expected, rel=1e-9)
    observed = stats.binom.pmf(13, 15, 0.5)  # of both tails, of which each counts half
    assert p_value("sign", DARWIN) == pytest.approx(stats.binomtest(13, 15).pvalue - observed)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=30)
def test_sign_test_is_scipys_with_outcomes_equally_far_halved(wins: int, losses: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    throws = wins + losses
    if throws:
        usual = stats.binomtest(wins, throws).pvalue
        equally_far = sum(stats.binom.pmf([*{wins, losses}], throws, 0.5))
        assert compute_sign_p(wins, losses) == pytest.approx(usual - equally_far / 2, rel=1e-9)
    assert 0 < compute_sign_p(3600, 3380) < 1  # beyond what a double holds


def test_sign_test_is_the_mid_p_of_exact_arithmetic() -> None:
    """P(farther from even) + P(equally far) / 2 (Lancaster 1961), whose mean is 1/2 for equal systems.

    Fagerland, Lydersen and Laake (2013) print both cases: the exact p-value less the probability of
    the observed outcome, and 1 less half of it where wins and losses are equal.
    """
    for throws in range(1, 31):
        chances = [Fraction(math.comb(throws, wins), 2**throws) for wins in range(throws + 1)]
        mean = Fraction(0)
        for wins, chance in enumerate(chances):
            far = abs(2 * wins - throws)
            distances = [abs(2 * other - throws) for other in range(throws + 1)]
            farther = sum(c for c, d in zip(chances, distances, strict=True) if d > far)
            equally = sum(c for c, d in zip(chances, distances, strict=True) if d == far)
            mid_p = farther + equally / 2
            assert compute_sign_p(wins, throws - wins) == float(mid_p)
            usual = min(1, 2 * sum(chances[: min(wins, throws - wins) + 1]))
            assert mid_p == (usual - chance if 2 * wins != throws else 1 - chance / 2)
            mean += chance * mid_p
        assert mean == Fraction(1, 2)


@given(small)
def test_wilcoxon_counts_all_ways_to_sign_the_ranks(differences: Array) -> None:
    """With ties, too: equal sizes share the mean of their ranks, and no differences are left out."""
    signed = differences[differences != 0]
    sizes = np.abs(signed)
    ranks = [(sizes < one).sum() + ((sizes == one).sum() + 1) / 2 for one in sizes]
    total = abs(np.sign(signed) @ np.array(ranks)) if len(signed) else 0
    ways = [abs(np.dot(signs, ranks)) for signs in product((1, -1), repeat=len(ranks))]
    assert p_value("wilcoxon", differences) == sum(way >= total for way in ways) / len(ways)


def test_sign_test_of_few_throws() -> None:
    """Of 32 ways to throw 5 coins one has 5 heads and one none; 5 have 4 heads and 5 one."""
    assert compute_sign_p(5, 0) == (1 + 1) / 32 / 2
    assert compute_sign_p(1, 4) == (1 + 1) / 32 + (5 + 5) / 32 / 2
    assert compute_sign_p(1, 1) == (1 + 1) / 4 + 2 / 4 / 2
    assert compute_sign_p(0, 0) == 1  # nothing differs


@pytest.mark.parametrize("test", TESTS)
def test_no_difference_gives_1(test: str) -> None:
    pytest.importorskip("scipy")
    assert p_value(test, np.zeros(30)) == 1.0
    assert p_value(test, np.array([0.5])) == (0.5 if test == "sign" else 1.0)  # one query


# --- Corrections -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array))
@settings(max_examples=15)
def test_corrections_are_those_of_statsmodels(p: Array) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for name, theirs in {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}.items():
        expected = multitest.multipletests(p, method=theirs)[1]
        assert CORRECTIONS[name].adjust(p) == pytest.approx(expected, abs=1e-12)


def test_benjamini_and_hochbergs_example() -> None:
    """Their 15 p-values (1995, section 4): Bonferroni rejects 3 at 0.05, theirs 4."""
    published = (
        "0.0001 0.0004 0.0019 0.0095 0.0201 0.0278 0.0298 0.0344 0.0459 0.3240 0.4262 0.5719 "
        "0.6528 0.7590 1.0000"
    )
    p = np.array(published.split(), float)
    rejected = {name: int((one.adjust(p) < 0.05).sum()) for name, one in CORRECTIONS.items()}
    assert rejected == {"bonferroni": 3, "holm": 3, "bh": 4, "none": 9}


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array), st.sampled_from((0.05, 0.2))
)
@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_corrected_p_is_below_alpha_where_the_p_is_below_its_level(
    name: str, p: Array, alpha: float
) -> None:
    """So that an interval at that level leaves 0 out where the difference is significant."""
    correction = CORRECTIONS[name]
    adjusted, levels = correction.adjust(p), correction.levels(p, alpha)
    for one, corrected, level in zip(p, adjusted, levels, strict=True):
        if abs(one - level) > 1e-9 and abs(corrected - alpha) > 1e-9:
            assert (corrected < alpha) == (one < level)
    assert (levels <= alpha * (1 + 1e-12)).all()
    assert (levels >= alpha / len(p) * (1 - 1e-12)).all()


# --- Bootstrap -------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.95, 0.999])
@pytest.mark.parametrize(
    "values",
    [rng().exponential(1, 60), rng().normal(0, 1, 25), 1 / rng().integers(1, 8, 100)],
    ids=["skewed", "normal", "tied"],
)
def test_bca_is_scipys_of_many_resamples(values: Array, confidence: float) -> None:
    """Within what 200,000 resamples leave to chance, a few hundredths of a standard error."""
    pytest.importorskip("scipy", "1.15", "bootstrap() takes no rng")
    stats = pytest.importorskip("scipy.stats")
    result = stats.bootstrap(
        (values,), np.mean, n_resamples=200_000, batch=5000, method="BCa",
        confidence_level=confidence, rng=np.random.default_rng(2),
    )  # fmt: skip
    count, mean = len(values), values.mean()
    z = stats.norm.ppf((1 + confidence) / 2)
    found = np.array(estimate_bca((values - mean) / count, np.zeros(count, int), z)) + mean
    error = values.std() / math.sqrt(count)
    near = 0.05 if confidence == 0.95 else 0.2
    assert found == pytest.approx(tuple(result.confidence_interval), abs=near * error)


def test_bca_of_two_data_sets_is_that_of_their_resamples() -> None:
    strata = np.repeat([0, 1], [30, 50])
    two = sample(
        np.array([np.zeros(80), np.append(rng().exponential(1, 30), np.zeros(50))]), strata
    )
    drawn = resample_sums(two.weighted[0, 1:], strata, 100_000, rng())[0] - two.means[0, 1]
    low, high = estimate_bca(two.center(two.weighted[0, 1]), strata, 0.0)
    assert low == high  # z = 0: the median, but for the bias and the skewness
    for z in (-1.5, 2.0):
        ends = estimate_bca(two.center(two.weighted[0, 1]), strata, abs(z))
        skew = float((two.center(two.weighted[0, 1]) ** 3).sum()) / 6
        skew /= float((two.center(two.weighted[0, 1]) ** 2).sum()) ** 1.5
        shifted = skew + (skew + z) / (1 - skew * (skew + z))
        chance = (1 + math.erf(shifted / math.sqrt(2))) / 2
        assert np.mean(drawn <= ends[z > 0]) == pytest.approx(chance, abs=0.005)


def test_bca_ends_where_the_values_do() -> None:
    """Of four queries of which one differs, no resample is outside 0 and 1."""
    centered = (np.array([0, 0, 0, 1.0]) - 0.25) / 4
    low, high = estimate_bca(centered, np.zeros(4, int), 9.0)
    assert (low, high) == pytest.approx((-0.25, 0.75))
    assert estimate_bca(np.zeros(4), np.zeros(4, int), 2.0) == (0, 0)


@pytest.mark.parametrize("freedom", [4, 9, 24, 199])
def test_reach_is_students_widened(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t.ppf(0.975, freedom) * math.sqrt((freedom + 1) / freedom)
    assert widen_quantile(0.05, freedom) == pytest.approx(expected, rel=2e-3)


def test_resampling_draws_as_many_queries_as_there_are() -> None:
    """Of each stratum; and every query as often as every other."""
    strata = np.repeat([0, 1], [5, 8])
    members = np.array([strata == 0, strata == 1], float)
    assert (resample_sums(members, strata, 50, rng()).T == [5, 8]).all()
    each = resample_sums(np.eye(5), np.zeros(5, int), 40_000, rng())
    assert each.mean(axis=1) == pytest.approx(np.ones(5), abs=0.02)
    assert each.var(axis=1) == pytest.approx(np.full(5, 5 * 0.2 * 0.8), abs=0.03)  # multinomial
    assert np.cov(each)[0, 1] == pytest.approx(-5 * 0.2 * 0.2, abs=0.02)


# --- Dispersion, power, equivalence --------------------------------------------------------------------


def spread_with(differences: Array, strata: Array | None = None) -> tuple[float, object]:
    of = np.zeros(len(differences), int) if strata is None else strata
    two = sample(np.array([differences * 0, differences]), of)
    weighted = differences * two.weights
    return float(weighted.sum()), Dispersion.measure(two.center(weighted), of)


@pytest.mark.parametrize("queries", [10, 25, 50, 1000])
def test_detectable_is_what_statsmodels_finds(queries: int) -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    differences = rng().normal(0, 0.2, queries)
    _, spread = spread_with(differences)
    effect = power.TTestPower().solve_power(nobs=queries, alpha=0.05, power=0.8)
    expected = effect * differences.std(ddof=1)
    assert spread.find_detectable(0.05) == pytest.approx(expected, rel=0.02)  # type: ignore[attr-defined]


def test_equivalence_is_that_of_statsmodels() -> None:
    weights = pytest.importorskip("statsmodels.stats.weightstats")
    differences = rng().normal(0.01, 0.1, 60)
    mean, spread = spread_with(differences)
    expected = weights.ttost_paired(differences, np.zeros(60), -0.04, 0.04)[0]
    assert spread.compute_equivalence_p(mean, 0.04) == pytest.approx(expected)  # type: ignore[union-attr]


def test_two_data_sets_are_welchs_test() -> None:
    """The mean of two independent mean differences is tested as Welch tests their difference."""
    stats = pytest.importorskip("scipy.stats")
    one, two = rng().normal(0.1, 0.3, 12), rng().normal(0, 0.1, 40)
    differences, strata = np.concatenate([one, two]), np.repeat([0, 1], [12, 40])
    mean, spread = spread_with(differences, strata)
    assert mean == pytest.approx((one.mean() + two.mean()) / 2)
    expected = stats.ttest_ind(one, -two, equal_var=False).pvalue
    assert spread.compute_student_p(mean) == pytest.approx(expected)  # type: ignore[union-attr]


# --- Error rates -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "tukey"])
def test_a_test_finds_nothing_in_5_of_100(test: str) -> None:
    """The whole check, with 2,000 comparisons a cell, is bench/significance.py."""
    pytest.importorskip("scipy")
    generator, found = rng(), 0
    for _ in range(300):
        same = sample(generator.random(30) + generator.normal(0, 0.1, (2, 30)))
        found += TESTS[test].p_values(same, [(0, 1)], 400, generator)[0, 0] < 0.05
    assert 0.05 - 3.3 * math.sqrt(0.0475 / 300) < found / 300 < 0.05 + 3.3 * math.sqrt(0.0475 / 300)


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (9.9e-7, "p < 1e-6"), (1e-6, "p = 1.0e-6"), (0.00012, "p = 1.2e-4"), (0.0123, "p = 0.012"),
        (0.04998, "p = 0.04998"), (0.05001, "p = 0.050"), (1.0, "p = 1.000"),
    ],
)  # fmt: skip
def test_p_values_as_people_write_them(p: float, said: str) -> None:
    assert format_p(p) == said
