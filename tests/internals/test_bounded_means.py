"""Intervals from the range of values, against the binomial distribution, simulation and enumeration."""

import math
from itertools import product

import numpy as np
import pytest

from germane.core.mean_intervals import Span, count_events, estimate_bounded_interval, shows_spread

UNIT = Span(0.0, 1.0)


def share(n: int) -> np.ndarray:
    return np.full(n, 1 / n)


def count_tail(n: int, k: int, p: float) -> float:
    """The probability of at most k of n."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


@pytest.mark.parametrize(("n", "k"), [(5, 0), (5, 2), (12, 11), (40, 40), (100, 3)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_yes_and_no_have_the_interval_of_clopper_and_pearson(
    n: int, k: int, confidence: float
) -> None:
    values = np.repeat([1.0, 0.0], [k, n - k])
    found = estimate_bounded_interval(values, share(n), UNIT, confidence)
    tail = (1 - confidence) / 2
    upper = count_tail(n, k, found.high) if k < n else tail
    lower = 1 - count_tail(n, k - 1, found.low) if k else tail
    assert (upper, lower) == pytest.approx((tail, tail), rel=1e-3)
    assert (found.low == 0, found.high == 1) == (k == 0, k == n)


def test_ends_are_quantiles_of_means_with_random_weights() -> None:
    rng = np.random.default_rng(3)
    values, shares = rng.random(12) ** 3, rng.dirichlet(np.ones(12))
    found = estimate_bounded_interval(values, shares, Span(-0.5, 2.0), 0.9)
    drawn = rng.exponential(size=(200_000, 13)) * np.append(shares, shares.max())
    drawn /= drawn.sum(axis=1, keepdims=True)
    low, high = (
        np.quantile(drawn @ np.append(values, end), at) for end, at in ((-0.5, 0.05), (2.0, 0.95))
    )
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.005)


@pytest.mark.parametrize("middle", [0.1, 0.5, 0.95])
def test_no_distribution_of_three_values_is_missed(middle: float) -> None:
    """Of six values that are 0, 1 or between, every outcome is counted: 95% intervals hold 95% of all means."""
    n, points = 6, np.array([0.0, middle, 1.0])
    outcomes = [(a, b, n - a - b) for a, b in product(range(n + 1), repeat=2) if a + b <= n]
    ways = [math.factorial(n) / math.prod(map(math.factorial, of)) for of in outcomes]
    found = [
        estimate_bounded_interval(np.repeat(points, of), share(n), UNIT, 0.95) for of in outcomes
    ]
    for first, second in product(np.linspace(0, 1, 26), repeat=2):
        chances = np.array([first, (1 - first) * second, (1 - first) * (1 - second)])
        mean = float(chances @ points)
        held = sum(
            way * float(np.prod(chances ** np.array(of)))
            for way, of, one in zip(ways, outcomes, found, strict=True)
            if one.low - 1e-9 <= mean <= one.high + 1e-9
        )
        assert held >= 0.95 - 1e-6


def test_events_are_values_that_differ() -> None:
    for k, n in ((1, 100), (4, 100), (10, 1000)):
        values = np.repeat([1.0, 0.0], [k, n - k])
        assert count_events(values - values.mean(), share(n)) == pytest.approx(k, rel=0.1)
    assert count_events(np.zeros(9), share(9)) == 0


@pytest.mark.parametrize(
    ("values", "span", "shown"),
    [
        ([0.1, -0.1, 0.05, -0.05, 0.0], Span(-1, 1), True),  # five differences of nearly 0
        ([0.8, -0.8, 0.4, -0.4, 0.0], Span(-1, 1), False),  # a deviation of 0.57
        ([0.8, -0.8, 0.4, -0.4, 0.0, 0.0], Span(-1, 1), True),  # six, around the middle
        ([0.1, -0.1, 0.05, -0.05], Span(-1, 1), False),  # four
        ([0.9, 0.8, 0.85, 0.9, 0.95, 0.9], UNIT, False),  # far from 0, which is not among them
        ([1.0] * 40 + [0.0] * 10, UNIT, True),  # as if 8 were at the far end
    ],
)
def test_values_show_their_spread(values: list[float], span: Span, shown: bool) -> None:
    array = np.array(values)
    assert shows_spread(array, array - array.mean(), share(len(array)), span) == shown


def test_many_values_that_hardly_vary() -> None:
    """The mean is a tail of the weight of one value: 1 - 0.025^(1/n) of the way to the end of the range."""
    for n in (5, 300, 3000):
        found = estimate_bounded_interval(np.full(n, 0.25), share(n), UNIT, 0.95)
        weight = 1 - 0.025 ** (1 / n)
        expected = 0.25 * (1 - weight), 0.25 + 0.75 * weight
        assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)
