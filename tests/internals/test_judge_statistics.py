"""The corrected mean and its interval on values alone, beside ppi_py, and the order of systems."""

import json
from pathlib import Path

import numpy as np
import pytest

import germane
from germane.comparison.judges.agreement import order_systems
from germane.comparison.judges.correction import Design, correct_mean
from germane.core.bounded_means import Span

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())
ANY, UNIT = Span(-10.0, 10.0), Span(0.0, 1.0)


def test_mean_is_that_of_prediction_powered_inference() -> None:
    case = RECORDED["means"]
    people, model = np.array(case["people"]), np.array(case["model"])
    n, total = len(people), len(model)
    design = Design(np.arange(n), np.full(n, total / n), np.zeros(n, int), total)
    found = correct_mean(people, model, design, ANY)
    # ppi_py's model queries are those that people did not judge: its λ is ours times (total - n) ÷ total
    lam = found.tuning * (total - n) / total
    expected = case["lam_0"] + lam * (case["lam_1"] - case["lam_0"])
    assert found.mean == pytest.approx(expected, abs=1e-12)
    slope, intercept = np.polyfit(model[:n], people, 1)  # the regression estimator
    assert found.mean == pytest.approx(intercept + slope * model.mean(), abs=1e-12)
    assert found.tuning == pytest.approx(slope, abs=1e-12)
    full = correct_mean(people, model, design, ANY, tuning="full")
    assert full.mean == pytest.approx(model.mean() + (people - model[:n]).mean(), abs=1e-12)


def test_order_of_runs() -> None:
    people, model = {"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.2, "b": 0.3, "c": 0.1}
    found = order_systems(germane.parse("AP"), people, model)
    assert found.swapped == (("a", "b"),)
    assert found.tau == pytest.approx(1 / 3)
    assert found.tau_ap == germane.tau_ap(model, people)


def test_intervals_hold_the_truth() -> None:
    """A short form of bench/judges.py: 95% intervals of 300 repeats hold the truth in 92% to 98%."""
    rng = np.random.default_rng(8)
    n, total, repeats = 50, 1000, 300
    design = Design(np.arange(n), np.full(n, total / n), np.zeros(n, int), total)
    held = naive = 0
    for _ in range(repeats):
        truth = rng.beta(0.7, 0.7, total)  # the mean of the population is 0.5
        model = np.clip(truth + rng.normal(0.05, 0.15, total), 0, 1)
        interval = correct_mean(truth[:n], model, design, UNIT).interval
        held += interval.low <= 0.5 <= interval.high
        naive += abs(model.mean() - 0.5) < 1.96 * model.std() / total**0.5
    assert 0.92 * repeats <= held <= 0.98 * repeats
    assert naive < 0.2 * repeats
