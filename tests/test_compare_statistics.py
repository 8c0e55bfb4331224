"""The statistics behind compare: against SciPy, statsmodels, published numbers and plain counting."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane.comparison import randomization
from germane.comparison.bootstrap import bca, reach, resampled_sums
from germane.comparison.corrections import CORRECTIONS
from germane.comparison.randomization import sign_flips
from germane.comparison.sample import Sample
from germane.comparison.significance import TESTS, sign_test
from germane.comparison.spread import spread_of, student, tost
from germane.comparison.tukey import largest_differences

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
    [p] = sign_flips(DARWIN[None], 100, rng())
    assert p == 2 * 863 / 32768
    assert f"{100 * p:.3f}" == "5.267"  # as he printed it


@given(small)
def test_randomization_of_few_queries_is_exact(differences: Array) -> None:
    total = abs(differences.sum())
    sums = [abs(np.dot(signs, differences)) for signs in product((1, -1), repeat=len(differences))]
    expected = sum(value >= total - 1e-9 for value in sums) / len(sums)
    assert sign_flips(differences[None], 100, rng())[0] == expected


@given(small)
@settings(max_examples=20)
def test_randomization_is_scipys(differences: Array) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.permutation_test(
        (differences, np.zeros(len(differences))),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf,
    ).pvalue  # fmt: skip
    assert sign_flips(differences[None], 100, rng())[0] == pytest.approx(expected, abs=1e-12)


def test_randomization_by_chance_is_near_the_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([DARWIN, DARWIN - 20, DARWIN * 0, DARWIN + 40])
    exact = sign_flips(rows, 100, rng())
    monkeypatch.setattr(randomization, "EXACT", 0)
    drawn = sign_flips(rows, 40_000, rng())
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 40_000))
    assert drawn[2] == 1.0
    assert drawn[3] > 0


def test_a_p_value_by_chance_is_never_0() -> None:
    """The observed signs are one of the ways: 1 of 1 + 99."""
    assert sign_flips(np.ones((1, 50)), 99, rng())[0] == 1 / 100
    assert p_value("tukey", np.ones(50)) == 1 / 5001


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
    drawn = largest_differences(values[None], 20_000, rng())[0]
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
    spread = spread_of(DARWIN / 15 - DARWIN.mean() / 15, np.zeros(15, int))
    assert spread is not None
    assert f"{DARWIN.mean() / spread.error:.3f}" == "2.148"
    assert f"{p_value('t', DARWIN):.4f}" == "0.0497"


def test_wilcoxon_and_sign_are_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert p_value("wilcoxon", DARWIN) == stats.wilcoxon(DARWIN).pvalue
    observed = stats.binom.pmf(13, 15, 0.5)  # of both tails, of which each counts half
    assert p_value("sign", DARWIN) == pytest.approx(stats.binomtest(13, 15).pvalue - observed)


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=30)
def test_sign_test_is_scipys_with_the_observed_count_halved(wins: int, losses: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    throws = wins + losses
    if wins != losses:
        usual = stats.binomtest(wins, throws).pvalue
        assert sign_test(wins, losses) == pytest.approx(
            usual - stats.binom.pmf(wins, throws, 0.5), rel=1e-9
        )
    assert sign_test(wins, wins) == 1
    assert 0 < sign_test(3600, 3380) < 1  # beyond what a double holds


def test_sign_test_of_few_throws() -> None:
    """Of 32 ways to throw 5 coins one has 5 heads and one none; 5 have 4 heads and 5 one."""
    assert sign_test(5, 0) == (1 + 1) / 32 / 2
    assert sign_test(1, 4) == (1 + 1) / 32 + (5 + 5) / 32 / 2
    assert sign_test(0, 0) == 1


@pytest.mark.parametrize("test", TESTS)
def test_no_difference_gives_1(test: str) -> None:
    pytest.importorskip("scipy")
    assert p_value(test, np.zeros(30)) == 1.0
    assert p_value(test, np.array([0.5])) == (0.5 if test == "sign" else 1.0)  # one query


# --- Corrections -----------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).map(np.array))
@settings(max_examples=15)
def test_corrections_are_those_of_statsmodels(p: Array) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for name, theirs in {"holm": "holm", "bonferroni": "bonferroni", "bh": "fdr_bh"}.items():
        expected = multitest.multipletests(p, method=theirs)[1]
        assert CORRECTIONS[name][1](p) == pytest.approx(expected, abs=1e-12)


def test_benjamini_and_hochbergs_example() -> None:
    """Their 15 p-values (1995, section 4): Bonferroni rejects 3 at 0.05, theirs 4."""
    published = (
        "0.0001 0.0004 0.0019 0.0095 0.0201 0.0278 0.0298 0.0344 0.0459 0.3240 0.4262 0.5719 "
        "0.6528 0.7590 1.0000"
    )
    p = np.array(published.split(), float)
    rejected = {name: int((correct(p) < 0.05).sum()) for name, (_, correct) in CORRECTIONS.items()}
    assert rejected == {"bonferroni": 3, "holm": 3, "bh": 4, "none": 9}


# --- Bootstrap -------------------------------------------------------------------------------------


def test_bca_is_scipys_on_the_same_resamples() -> None:
    """Given SciPy's own resampled means and its quantile, the interval is SciPy's."""
    pytest.importorskip("scipy", "1.15", "bootstrap() takes no rng")
    stats = pytest.importorskip("scipy.stats")
    skewed = rng().exponential(1, 30)
    result = stats.bootstrap(
        (skewed,), np.mean, n_resamples=3000, method="BCa", rng=np.random.default_rng(2)
    )
    z = stats.norm.ppf(0.975)
    centered = (skewed - skewed.mean()) / 30
    found = bca(result.bootstrap_distribution, centered, skewed.mean(), z)
    assert found == pytest.approx(tuple(result.confidence_interval), abs=1e-9)


@pytest.mark.parametrize("freedom", [4, 9, 24, 199])
def test_reach_is_students_widened(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t.ppf(0.975, freedom) * math.sqrt((freedom + 1) / freedom)
    assert reach(0.95, freedom) == pytest.approx(expected, rel=2e-3)


def test_resampling_draws_as_many_queries_as_there_are() -> None:
    """Of each stratum; and every query as often as every other."""
    strata = np.repeat([0, 1], [5, 8])
    members = np.array([strata == 0, strata == 1], float)
    assert (resampled_sums(members, strata, 50, rng()).T == [5, 8]).all()
    each = resampled_sums(np.eye(5), np.zeros(5, int), 40_000, rng())
    assert each.mean(axis=1) == pytest.approx(np.ones(5), abs=0.02)
    assert each.var(axis=1) == pytest.approx(np.full(5, 5 * 0.2 * 0.8), abs=0.03)  # multinomial
    assert np.cov(each)[0, 1] == pytest.approx(-5 * 0.2 * 0.2, abs=0.02)


# --- Spread, power, equivalence --------------------------------------------------------------------


def spread_with(differences: Array, strata: Array | None = None) -> tuple[float, object]:
    of = np.zeros(len(differences), int) if strata is None else strata
    two = sample(np.array([differences * 0, differences]), of)
    weighted = differences * two.weights
    return float(weighted.sum()), spread_of(two.centered(weighted), of)


@pytest.mark.parametrize("queries", [10, 25, 50, 1000])
def test_detectable_is_what_statsmodels_finds(queries: int) -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    differences = rng().normal(0, 0.2, queries)
    _, spread = spread_with(differences)
    effect = power.TTestPower().solve_power(nobs=queries, alpha=0.05, power=0.8)
    expected = effect * differences.std(ddof=1)
    assert spread.detectable(0.05) == pytest.approx(expected, rel=0.02)  # type: ignore[attr-defined]


def test_equivalence_is_that_of_statsmodels() -> None:
    weights = pytest.importorskip("statsmodels.stats.weightstats")
    differences = rng().normal(0.01, 0.1, 60)
    mean, spread = spread_with(differences)
    expected = weights.ttost_paired(differences, np.zeros(60), -0.04, 0.04)[0]
    assert tost(mean, 0.04, spread) == pytest.approx(expected)  # type: ignore[arg-type]


def test_two_data_sets_are_welchs_test() -> None:
    """The mean of two independent mean differences is tested as Welch tests their difference."""
    stats = pytest.importorskip("scipy.stats")
    one, two = rng().normal(0.1, 0.3, 12), rng().normal(0, 0.1, 40)
    differences, strata = np.concatenate([one, two]), np.repeat([0, 1], [12, 40])
    mean, spread = spread_with(differences, strata)
    assert mean == pytest.approx((one.mean() + two.mean()) / 2)
    expected = stats.ttest_ind(one, -two, equal_var=False).pvalue
    assert student(mean, spread) == pytest.approx(expected)  # type: ignore[arg-type]


# --- Error rates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon", "tukey"])
def test_a_test_finds_nothing_in_5_of_100(test: str) -> None:
    """The whole check, with 2,000 comparisons a cell, is bench/significance.py."""
    pytest.importorskip("scipy")
    generator, found = rng(), 0
    for _ in range(300):
        same = sample(generator.random(30) + generator.normal(0, 0.1, (2, 30)))
        found += TESTS[test].p_values(same, [(0, 1)], 400, generator)[0, 0] < 0.05
    assert 0.05 - 3.3 * math.sqrt(0.0475 / 300) < found / 300 < 0.05 + 3.3 * math.sqrt(0.0475 / 300)
