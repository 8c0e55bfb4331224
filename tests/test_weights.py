"""Weights of queries: means, intervals and the orders of ties, against arithmetic and resampling."""

import math
from typing import Any

import numpy as np
import pytest

import germane

QRELS = {f"q{i}": ["a"] for i in range(12)}
RUN = {f"q{i}": [*(f"x{j}" for j in range(i % 5)), "a"] for i in range(12)}
WEIGHTS = {f"q{i}": 1 + i % 3 for i in range(12)}
RESULT = germane.evaluate(QRELS, RUN, "RR AP@2")


def test_a_weighted_mean() -> None:
    """As numpy.average, which scikit-learn calls with sample_weight."""
    for measure in ("RR", "AP@2"):
        values = RESULT[measure].per_query
        expected = np.average([values[q] for q in QRELS], weights=[WEIGHTS[q] for q in QRELS])
        weighted = RESULT[measure].weigh(WEIGHTS)
        assert weighted.mean == pytest.approx(expected, abs=1e-15)
        assert weighted.per_query == values
        assert weighted.definition.endswith("; mean weighted by query")
        assert RESULT[measure].weigh(dict.fromkeys(QRELS, 7.0)).mean == pytest.approx(
            RESULT[measure].mean
        )


def test_equal_weights_have_the_same_interval() -> None:
    plain, equal = RESULT["RR"].interval(), RESULT["RR"].weigh(dict.fromkeys(QRELS, 2)).interval()
    assert plain is not None
    assert equal is not None
    assert (equal.low, equal.high) == pytest.approx((plain.low, plain.high))


def test_an_interval_knows_of_weights() -> None:
    """Against resampled queries, whose weighted means have about this deviation."""
    values = np.array([RESULT["RR"].per_query[q] for q in QRELS])
    weights = np.array([WEIGHTS[q] for q in QRELS], float)
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, 12, size=(20_000, 12))
    means = (values[drawn] * weights[drawn]).sum(axis=1) / weights[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    interval = RESULT["RR"].weigh(WEIGHTS).interval()
    assert interval is not None
    assert (interval.high - interval.low) / (high - low) == pytest.approx(
        1.2, abs=0.2
    )  # few queries
    assert interval.low < RESULT["RR"].weigh(WEIGHTS).mean < interval.high


def test_orders_of_ties_are_weighed() -> None:
    qrels, run = {"q": ["a"], "r": ["a"]}, {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}}
    weighted = germane.evaluate(qrels, run, "RR")["RR"].weigh({"q": 3, "r": 1})
    assert (weighted.best, weighted.worst) == (1.0, (3 * 0.5 + 1) / 4)


def test_queries_that_are_left_out_do_not_weigh() -> None:
    qrels: dict[str, Any] = {"q": {"a": 1}, "r": {"a": 0}, "s": {"a": 1}}
    run = {"q": ["a"], "r": ["a"], "s": ["x", "a"]}
    found = germane.evaluate(qrels, run, "RR", no_relevant="skip")["RR"]
    assert found.weigh({"q": 1, "r": 100, "s": 3}).mean == (1 + 3 / 2) / 4


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ({"q0": 1}, germane.errors.NotFoundError),
        ({**WEIGHTS, "q3": -1}, germane.errors.InputError),
        ({**WEIGHTS, "q3": math.nan}, germane.errors.InputError),
        ({**WEIGHTS, "q3": "1"}, germane.errors.InputError),
        (dict.fromkeys(QRELS, 0), germane.errors.InputError),
    ],
)
def test_what_is_no_weight(weights: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        RESULT["RR"].weigh(weights)


@pytest.mark.parametrize("measure", ["NumRel", "P(mean=micro)@2", "AP(mean=geometric)"])
def test_other_means_have_no_weights(measure: str) -> None:
    with pytest.raises(germane.errors.MeasureError, match="it takes no weights"):
        germane.evaluate(QRELS, RUN, measure)[measure].weigh(WEIGHTS)
