"""Rounding: no test, interval, sort or ranking of differences depends on a last bit."""

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane.comparison.samples import Sample
from germane.comparison.significance import CORRECTIONS, TESTS, is_near
from germane.core.mean_intervals import Span, estimate_mean_interval, estimate_weighted_interval
from germane.core.ragged import reaches, subtract_values, unite_equal

Array = np.ndarray
FACTORS = (1 / 10, 1 / 3, 1 / 7, 0.3, 2 / 3, 1e-6, 1e9)


def spoil(values: Array, chance: np.random.Generator) -> Array:
    """Add the rounding that another order of arithmetic would leave: up to eight last bits."""
    return values + np.spacing(np.abs(values)) * chance.integers(-8, 9, values.shape)


def make_sample(values: Array) -> Sample:
    """S × Q values as a sample of one measure."""
    systems, queries = values.shape
    names = tuple("abcdefgh"[:systems])
    return Sample((germane.AP,), names, ("",), tuple(range(queries)), np.zeros(queries, int), values[None], 0)  # fmt: skip


def draw_counts() -> Iterator[Array]:
    """2 × Q counts from 0 to 10, such as hits among the first ten, of several sizes and shapes."""
    chance = np.random.default_rng(1)
    for case in range(300):
        queries = int(chance.integers(5, 40))
        first = chance.integers(0, (3, 8, 11)[case % 3], queries)
        yield np.array([first, np.clip(first + chance.integers(-2, 4, queries), 0, 10)], float)


# --- Differences -----------------------------------------------------------------------------------


def test_differences_are_those_of_exact_arithmetic() -> None:
    """They are 0, and of one size, exactly where fractions are."""
    chance = random.Random(1)
    for _ in range(120):
        below = chance.choice((3, 7, 10, 30, 49, 1000))
        pairs = [[Fraction(chance.randint(0, 12), below) for _ in range(2)] for _ in range(30)]
        values = np.array([[float(one), float(other)] for one, other in pairs])
        values = spoil(values, np.random.default_rng(chance.randrange(9999)))
        found = subtract_values(values[:, 0], values[:, 1]).tolist()
        exact = [one - other for one, other in pairs]
        for (d, e), (other_d, other_e) in combinations(zip(found, exact, strict=True), 2):
            assert (d == 0) == (e == 0)
            assert (abs(d) == abs(other_d)) == (abs(e) == abs(other_e))
            assert d == pytest.approx(float(e), rel=1e-9, abs=1e-12)


def test_small_differences_of_one_query_are_kept_beside_large_values_of_another() -> None:
    values, others = np.array([1e12, 3.0, 0.5, math.inf]), np.array([2e12, 1.0, 0.5, 1.0])
    assert subtract_values(values, others).tolist() == [-1e12, 2.0, 0.0, math.inf]


def test_values_that_cancel_are_0() -> None:
    """3 · 0.1 - 3 · 0.1, added one by one, is not 0; beside values of its kind it is."""
    rest = 0.1 + 0.1 + 0.1 - 0.1 - 0.1 - 0.1
    assert rest != 0
    assert subtract_values(np.array([rest, 0.4]), np.array([0.0, 0.1])).tolist() == [0.0, 0.4 - 0.1]


def test_nan_equals_nothing() -> None:
    values = np.array([0.5, math.nan, 0.25, math.nan])
    assert repr(unite_equal(values).tolist()) == repr(values.tolist())
    assert unite_equal(np.array([])).tolist() == []
    assert unite_equal(np.array([-0.0, 0.0])).tolist() == [0.0, 0.0]


def test_near_is_near() -> None:
    assert is_near(0.1 + 0.2, 0.3)
    assert not is_near(math.inf, 1e300)
    assert not is_near(0.3, 0.3 + 1e-9)
    assert reaches(0.3, 0.1 + 0.2)
    assert not reaches(0.3, 0.3 + 1e-9)
    assert reaches(-1e-13, 0, 1.0)


# --- Tests -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TESTS)
def test_the_unit_of_a_measure_decides_no_p_value(test: str) -> None:
    """P@10 is a tenth of NumRelRet@10, so that they have one p-value; so with every other factor."""
    pytest.importorskip("scipy")

    def p_value(values: Array) -> tuple[float, float]:
        sample, rng, procedure = make_sample(values), np.random.default_rng(1), TESTS[test]
        p = procedure.p_values(sample, [(0, 1)], 200, rng)
        return float(p[0, 0]), float(procedure.smallest(sample, [(0, 1)], 200)[0, 0])

    chance = np.random.default_rng(2)
    for case, counts in enumerate(draw_counts()):
        factor = FACTORS[case % len(FACTORS)]
        expected = p_value(counts)
        for scaled in (counts * factor, counts / 7, spoil(counts * factor, chance)):
            assert p_value(scaled) == pytest.approx(expected, rel=1e-9), (case, factor)


@pytest.mark.parametrize("test", TESTS)
def test_two_names_of_one_measure_have_one_p_value(test: Any) -> None:
    """Hits of which rounding split ties: Wilcoxon's p was .047 for P@10 and .109 for NumRelRet@10."""
    pytest.importorskip("scipy")
    hits = {"a": [3, 0, 6, 5, 3, 6, 0, 3], "b": [4, 1, 7, 7, 4, 5, 0, 4]}
    qrels = {f"q{q}": [f"d{i}" for i in range(10)] for q in range(8)}
    runs = {
        name: {
            f"q{q}": [f"{'d' if i < n else 'x'}{i}" for i in range(10)] for q, n in enumerate(of)
        }
        for name, of in hits.items()
    }
    measures = "P@10 NumRelRet@10 R@10 Utility(hit=0.1,miss=-0.1)@10 Utility@10 SetF"
    comparison = germane.compare(qrels, runs, measures, test=test)
    p = {str(pair.measure): pair.p for pair in comparison.pairs}
    assert list(p.values()) == pytest.approx([p["NumRelRet@10"]] * 6, rel=1e-9)
    assert {(pair.wins, pair.losses, pair.ties) for pair in comparison.pairs} == {(6, 1, 1)}
    if test == "wilcoxon":
        assert p["P@10"] == 0.109375


def test_the_direction_of_a_difference_is_not_rounding() -> None:
    """Equal means of other queries have no winner, and equal values are no difference."""
    qrels = {f"q{q}": [f"d{i}" for i in range(10)] for q in range(6)}
    hits = {"a": [1, 2, 0, 1, 2, 0], "b": [3, 0, 0, 3, 0, 0]}  # .1 + .2 is not .3
    runs = {
        name: {
            f"q{q}": [f"{'d' if i < n else 'x'}{i}" for i in range(10)] for q, n in enumerate(of)
        }
        for name, of in hits.items()
    }
    comparison = germane.compare(qrels, runs, "P@10")
    [pair] = comparison.pairs
    assert comparison.means["P@10"]["a"] != comparison.means["P@10"]["b"]
    assert (pair.difference, pair.p) == (0.0, 1.0)
    assert pair.sentence.startswith("b and a have the same mean P@10, 95% interval")
    assert comparison.leaderboard().strong == {(0, 2), (1, 2)}
    assert germane.evaluate_many(qrels, runs, "P@10").table().strong == {(0, 1), (1, 1)}
    differences = comparison.queries("P@10", "b", "a").rows
    assert [row.difference for row in differences] == sorted(
        (row.difference for row in differences), reverse=True
    )
    assert [row.query for row in differences] == ["q0", "q3", "q2", "q5", "q1", "q4"]


def test_the_unit_decides_no_equivalence() -> None:
    """A difference of 0.1 on every query is not within ±0.1, as one of 1 is not within ±1."""
    pytest.importorskip("scipy")
    qrels = {f"q{q}": [f"d{i}" for i in range(10)] for q in range(6)}
    runs = {
        name: {f"q{q}": [f"{'d' if i < n + q else 'x'}{i}" for i in range(10)] for q in range(6)}
        for name, n in (("a", 1), ("b", 2))
    }
    for measure, unit in (("P@10", 0.1), ("NumRelRet@10", 1.0)):
        for factor, expected in ((1.0, 1.0), (1.01, 0.0)):
            compared = germane.compare(qrels, runs, measure, equivalence=factor * unit)
            [pair] = compared.pairs
            assert (pair.d_z, pair.detectable) == (None, None)
            assert pair.equivalence is not None
            assert pair.equivalence.p == expected, (measure, factor)


# --- Intervals -------------------------------------------------------------------------------------


def draw_samples() -> Iterator[tuple[Array, Span]]:
    """Values at which the rules between spread and range are met exactly, and random ones."""
    for queries in range(5, 41):
        for ones in range(queries + 1):
            yield np.repeat([0.0, 1.0], [queries - ones, ones]), Span(0.0, 1.0)
    for counts in draw_counts():
        yield counts[0], Span(0.0, 10.0)
        yield counts[1] - counts[0], Span(-10.0, 10.0)
        yield np.full(len(counts[0]), counts[0, 0]), Span(0.0, 10.0, room=10.0)


def test_the_unit_of_a_measure_decides_no_interval() -> None:
    """Neither the basis nor an end: three hits of twelve are exactly where the rule changes."""
    chance = np.random.default_rng(3)
    for case, (values, span) in enumerate(draw_samples()):
        factor = FACTORS[case % len(FACTORS)]
        wide = Span(span.low * factor, span.high * factor, span.room * factor)
        expected = estimate_mean_interval(values, span, 0.95)
        assert expected is not None
        for scaled in (values * factor, spoil(values * factor, chance)):
            scaled = np.clip(scaled, wide.low, wide.high)
            found = estimate_mean_interval(scaled, wide, 0.95)
            assert found is not None
            assert found.basis == expected.basis, (values, factor)
            ends = (expected.low * factor, expected.high * factor)
            near = 1e-6 * span.high * factor
            assert (found.low, found.high) == pytest.approx(ends, rel=1e-6, abs=near)
            assert found.high > found.low
            assert (0 in found) == (0 in expected)


def test_the_unit_decides_no_interval_of_weighted_values() -> None:
    chance = np.random.default_rng(4)
    for counts in draw_counts():
        values = counts[1] - counts[0]
        weights = chance.integers(1, 4, len(values)).astype(float)
        shares = weights / weights.sum()
        bases = []
        for factor in (1.0, *FACTORS):
            scaled = spoil(values * factor, chance)
            mean = float(shares @ scaled)
            found = estimate_weighted_interval(
                scaled, shares, (scaled - mean) * shares, np.zeros(len(values), int),
                Span(-10 * factor, 10 * factor), mean, 0.05,
            )  # fmt: skip
            bases.append((found.basis, 0 in found))
        assert len(set(bases)) == 1


def test_values_that_are_equal_but_for_rounding_do_not_vary() -> None:
    """Their interval comes from the range, and is as wide as that of equal ones."""
    for queries in (5, 6, 12, 40):
        for value in (0.5, 0.1 + 0.2, 1 / 3, 1234.1):
            values = spoil(np.full(queries, value), np.random.default_rng(queries))
            span = Span(0.0, 2 * value)
            found = estimate_mean_interval(values, span, 0.95)
            equal = estimate_mean_interval(np.full(queries, value), span, 0.95)
            assert found is not None
            assert equal is not None
            assert found.basis == equal.basis == "range"
            assert found.high - found.low == pytest.approx(equal.high - equal.low, rel=1e-6)


# --- Corrections and orders ------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from((1e-9, 0.004, 0.012, 0.02, 0.3)), min_size=2, max_size=8).map(np.array)
)
@settings(max_examples=60)
@pytest.mark.parametrize("name", CORRECTIONS)
def test_equal_p_values_have_equal_levels(name: str, p: Array) -> None:
    """The level of an interval does not depend on which of two equal p-values comes first."""
    correction = CORRECTIONS[name]
    exact, spoiled = (
        correction.levels(one, 0.05) for one in (p, spoil(p, np.random.default_rng(1)))
    )
    assert spoiled.tolist() == pytest.approx(exact.tolist(), rel=1e-12)
    for one, other in combinations(range(len(p)), 2):
        if p[one] == p[other]:
            assert exact[one] == exact[other]


def test_means_that_are_equal_but_for_rounding_are_tied() -> None:
    tenths = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.6 / 2, "d": 1 - 0.9, "e": 0.1}
    counts = {"a": 3, "b": 3, "c": 3, "d": 1, "e": 1}
    other = {"b": 5, "a": 4, "e": 3, "d": 2, "c": 1}
    for compute in (germane.kendall_tau, germane.tau_ap, germane.rbo):
        assert compute(tenths, other) == compute(counts, other)
        assert compute(other, tenths) == compute(other, counts)


def test_scores_that_are_whole_or_far_are_compared_exactly() -> None:
    """Nanoseconds since 1970 differ in their last digits, and infinity is far from every number."""
    start = 1_700_000_000_000_000_000
    newest = {"a": start + 3, "b": start + 2, "c": start + 1}
    assert germane.kendall_tau(newest, ["a", "b", "c"]) == 1
    assert germane.kendall_tau({"a": math.inf, "b": 1e300, "c": -math.inf}, ["a", "b", "c"]) == 1
    assert germane.kendall_tau({"a": 1e-20, "b": 1e-21, "c": 0.0}, ["a", "b", "c"]) == 1
