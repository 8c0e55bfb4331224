"""The corrected mean and its interval on values alone: formulas, models of every quality, and last bits."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.core.mean_intervals import Span
from germane.judges.assessors import order_systems
from germane.judges.correction import Correction, Design, Sample, compare_drawn, correct_mean
from germane.measures.averaging import find_span

Array = np.ndarray
RECORDED = json.loads((Path(__file__).parents[1] / "data" / "judges.json").read_text())
ANY, UNIT = Span(-10.0, 10.0), Span(0.0, 1.0)
SIZES = (5, 8, 10, 15, 20, 40, 80)
TOTAL = 400


def draw_at_random(people: int, total: int = TOTAL) -> Design:
    return Design(np.arange(people), np.full(people, total / people), np.zeros(people, int), total)


def draw_from_strata(people: int) -> Design:
    """Half of people's queries are from one tenth of the model's."""
    half = people // 2
    strata = np.repeat([0, 1], [half, people - half])
    weights = np.where(strata == 0, TOTAL / 10 / half, TOTAL * 0.9 / (people - half))
    return Design(np.arange(people), np.maximum(1, weights), strata, TOTAL)


def draw_with_weights(people: int) -> Design:
    raw = np.where(np.arange(people) % 3, 1.0, 2.0)
    return Design(np.arange(people), raw * TOTAL / raw.sum(), np.zeros(people, int), TOTAL)


DESIGNS = {"random": draw_at_random, "strata": draw_from_strata, "weights": draw_with_weights}


def measure_width(found: Correction) -> float:
    return found.interval.high - found.interval.low


# --- Formulas --------------------------------------------------------------------------------------


def test_mean_is_that_of_prediction_powered_inference() -> None:
    case = RECORDED["means"]
    people, model = np.array(case["people"]), np.array(case["model"])
    n, total = len(people), len(model)
    sample = Sample(people, model, draw_at_random(n, total), ANY)
    found = correct_mean(sample)
    # ppi_py's model queries are those that people did not judge: its λ is ours times (total - n) ÷ total
    lam = found.tuning * (total - n) / total
    expected = case["lam_0"] + lam * (case["lam_1"] - case["lam_0"])
    assert found.mean == pytest.approx(expected, abs=1e-12)
    slope, _ = np.polyfit(
        model[:n], people, 1
    )  # of least squares, which a ridge regression shrinks
    assert 0 < found.tuning < slope
    full = correct_mean(sample, tuning="full")
    assert full.mean == pytest.approx(model.mean() + (people - model[:n]).mean(), abs=1e-12)


def find_weight(n: int) -> float:
    """The queries that n of them may lack: with the weight of Clopper and Pearson's interval of n equal values."""
    student = {5: 2.776445, 20: 2.093024}[n]
    return (n * (1 - 0.025 ** (1 / n)) / student) ** 2


def allow(values: list[float], low: float, high: float) -> list[float]:
    """What unseen queries may add to the sum of squares of n values, below and above their mean."""
    n, mean, missing = len(values), math.fsum(values) / len(values), find_weight(len(values))
    squares = [(value - mean) ** 2 * n / (n - 1) for value in values]
    seen = math.fsum(squares)
    usual = missing * math.fsum(one * one for one in squares) / seen if seen else 0.0
    return [max(usual, missing * (end - mean) ** 2 - seen) for end in (low, high)]


@pytest.mark.parametrize("about", ["population", "queries"])
@pytest.mark.parametrize("kind", ["mean", "difference"])
@pytest.mark.parametrize("n", [5, 20])
def test_interval_is_its_formula(n: int, kind: str, about: Any) -> None:
    """The formula of docs/judges.md, in plain Python, for a random sample."""
    rng = np.random.default_rng(n)
    run, other, errors = rng.random((3, TOTAL))
    model = (run - other if kind == "difference" else run) + 0.3 * errors
    people = run - other if kind == "difference" else run
    baseline = other[:n] if kind == "difference" else None
    found = correct_mean(Sample(people[:n], model, draw_at_random(n), UNIT, baseline), about=about)
    y, f, missing = people[:n].tolist(), model[:n].tolist(), find_weight(n)
    below, above = allow(y, -1, 1) if kind == "difference" else allow(y, 0, 1)
    if kind == "difference":
        mean = math.fsum(y) / n
        squares = [(value - mean) ** 2 * n / (n - 1) for value in y]
        seen, usual = math.fsum(squares), missing * sum(x * x for x in squares) / sum(squares)
        (low, high), (before_low, before_high) = (
            allow(values[:n].tolist(), 0, 1) for values in (run, other)
        )
        below, above = max(usual, low + before_high - seen), max(usual, high + before_low - seen)
    apart = (model - model.mean()) ** 2
    wrong = max(missing * float((apart**2).sum() / apart.sum()), below, above)
    dy = [value - sum(y) / n for value in y]
    df = [value - sum(f) / n for value in f]
    factor = n / (n - 1)
    lam = factor * sum(a * b for a, b in zip(dy, df, strict=True))
    lam /= factor * sum(b * b for b in df) + wrong
    residuals = factor * sum((a - lam * b) ** 2 for a, b in zip(dy, df, strict=True))
    left = 1 - n / TOTAL
    quantile = {5: 2.776445, 20: 2.093024}[n]
    mean = sum(y) / n + lam * (float(model.mean()) - sum(f) / n)
    ends = []
    for side, unseen in ((-1, below), (1, above)):
        variance = left * (residuals + unseen + lam**2 * wrong) / n**2
        if about == "population":
            variance += (factor * sum(a * a for a in dy) + unseen) / n / TOTAL
        ends.append(mean + side * quantile * math.sqrt(variance))
    expected = [mean, *ends, lam]
    assert [found.mean, found.interval.low, found.interval.high, found.tuning] == pytest.approx(
        expected, rel=2e-3, abs=2e-3
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_equal_values_have_the_interval_of_clopper_and_pearson(n: int, confidence: float) -> None:
    sample = Sample(np.ones(n), np.zeros(TOTAL), draw_at_random(n), UNIT)
    interval = correct_mean(sample, confidence=confidence).interval
    expected = ((1 - confidence) / 2) ** (1 / n)
    assert (interval.low, interval.high) == (pytest.approx(expected), 1.0)


# --- Models of every quality -----------------------------------------------------------------------


def draw_values(kind: str, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Values of two systems, and how easily a model errs: TOTAL of each."""
    ease = rng.beta(1.2, 1.2, TOTAL)
    if kind == "graded":
        first, second = (np.clip(ease + rng.normal(0, 0.15, TOTAL), 0, 1) for _ in range(2))
    elif kind == "hits":
        first, second = (rng.binomial(10, ease * 0.6, TOTAL) / 10 for _ in range(2))
    elif kind == "ranks":
        first, second = (1 / rng.geometric(0.2 + 0.6 * ease) for _ in range(2))
    else:
        chance = {"yes or no": ease, "nearly always": 0.95, "hardly ever": 0.05}[kind]
        first, second = ((rng.random(TOTAL) < chance).astype(float) for _ in range(2))
    return first, second, ease


KINDS = ("graded", "hits", "ranks", "yes or no", "nearly always", "hardly ever")
ERRORS = {"perfect": 0.0, "good": 0.1, "poor": 0.5, "useless": 1.0}  # shares of queries


def spoil(values: Array, share: Array | float, rng: np.random.Generator) -> Array:
    """Give this share of the queries the value of another query."""
    wrong = rng.random(len(values)) < share
    return np.where(wrong, rng.permutation(values), values)


def draw_samples(kind: str, design: Design, difference: bool, seed: int) -> dict[str, Sample]:
    """One sample by models of every quality, and by none; people judged the first queries."""
    rng = np.random.default_rng(seed)
    first, second, _ = draw_values(kind, rng)
    values, n = (second - first if difference else first), len(design.sampled)
    baseline = first[:n] if difference else None
    models = {name: spoil(values, share, rng) for name, share in ERRORS.items()}
    models["none"] = np.zeros(TOTAL)
    return {
        name: Sample(values[:n], model, design, UNIT, baseline) for name, model in models.items()
    }


CASES = [*product(KINDS, DESIGNS, (False, True))]


@pytest.mark.parametrize(("kind", "design", "difference"), CASES)
def test_better_models_have_narrower_intervals(kind: str, design: str, difference: bool) -> None:
    """For every number of people's queries; and more of these have narrower ones, too."""
    means: dict[int, Array] = {}
    seeds = 24
    for n in SIZES:
        widths = np.array([
            [
                measure_width(correct_mean(sample, about="queries" if seed % 2 else "population"))
                for sample in draw_samples(kind, DESIGNS[design](n), difference, seed).values()
            ]
            for seed in range(seeds)
        ])  # fmt: skip
        assert (widths <= widths[:, -1:] * (1 + 1e-12)).all()  # in no sample wider than no model's
        more = widths[:, :-1] - widths[:, 1:]  # than by the next worse model
        assert (more.mean(axis=0) <= 3 * more.std(axis=0) / seeds**0.5).all(), n
        means[n] = widths.mean(axis=0)
        perfect, none = means[n][[0, -1]]
        varies = kind in ("graded", "ranks", "yes or no") and not difference
        assert perfect < (0.9 if varies else 1) * none
    for few, many in combinations(SIZES, 2):
        assert many < 2 * few or (means[many] < means[few]).all()


@pytest.mark.parametrize("n", [20, 40])
@pytest.mark.parametrize("kind", ["graded", "yes or no", "nearly always"])
@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.3])
def test_models_whose_errors_are_rare_and_large_are_no_trap(
    n: int, kind: str, share: float
) -> None:
    """A model that misses everything in some queries: people's few often have none of these."""
    rng, held, repeats = np.random.default_rng(5), 0, 600
    for _ in range(repeats):
        values = draw_values(kind, rng)[0]
        model = np.where(rng.random(TOTAL) < share, 0.0, values)
        found = correct_mean(Sample(values[:n], model, draw_at_random(n), UNIT), about="queries")
        held += found.interval.low <= values.mean() <= found.interval.high
    assert held >= 0.92 * repeats  # 0.95 varies by 0.02


def test_errors_in_just_the_best_queries_are_the_limit() -> None:
    """A model that misses everything in the tenth of the queries with the highest values: docs/judges.md says 91%."""
    rng, held, repeats = np.random.default_rng(6), 0, 1000
    for _ in range(repeats):
        values = draw_values("graded", rng)[0]
        model = np.where(values > np.quantile(values, 0.9), 0.0, values)
        found = correct_mean(Sample(values[:20], model, draw_at_random(20), UNIT), about="queries")
        held += found.interval.low <= values.mean() <= found.interval.high
    assert 0.88 * repeats <= held <= 0.94 * repeats


@pytest.mark.parametrize("n", [5, 10, 20, 40])
def test_intervals_of_yes_and_no_hold_every_mean(n: int) -> None:
    """Every number of hits is counted, for 99 means: people's intervals hold each in 94% of samples or more."""
    design = draw_at_random(n, 10**9)
    intervals = [
        correct_mean(Sample(np.repeat([1.0, 0.0], [k, n - k]), np.zeros(n), design, UNIT)).interval
        for k in range(n + 1)
    ]
    for mean in np.linspace(0.01, 0.99, 99).tolist():
        held = math.fsum(
            math.comb(n, k) * mean**k * (1 - mean) ** (n - k)
            for k, one in enumerate(intervals)
            if one.low - 1e-9 <= mean <= one.high + 1e-9
        )
        assert held >= 0.94


CHANGES = {  # shares of queries in which a model errs, along the queries
    "perfect": np.zeros(TOTAL),
    "good": np.full(TOTAL, 0.1),
    "poor": np.full(TOTAL, 0.5),
    "drifting": np.linspace(0, 0.6, TOTAL),
}


@pytest.mark.parametrize("judge", CHANGES)
@pytest.mark.parametrize("kind", ["graded", "yes or no", "ranks"])
def test_intervals_hold_the_truth(kind: str, judge: str) -> None:
    """A short form of bench/judges.py: 95% intervals hold the truth in 93% or more."""
    rng, repeats = np.random.default_rng(8), 400
    means = {"graded": 0.5, "yes or no": 0.5}  # of the population
    for n, about in product((5, 10, 20, 40, 80), ("queries", "population")):
        if about == "population" and kind not in means:
            continue
        held = 0
        for _ in range(repeats):
            values = draw_values(kind, rng)[0]
            model = np.clip(spoil(values, CHANGES[judge], rng) + 0.05 * CHANGES[judge], 0, 1)
            sampled = rng.permutation(TOTAL)[:n]
            design = replace(draw_at_random(n), sampled=sampled)
            found = correct_mean(Sample(values[sampled], model, design, UNIT), about=about)
            truth = values.mean() if about == "queries" else means[kind]
            held += found.interval.low <= truth <= found.interval.high
        assert held >= 0.93 * repeats, (n, about)


def test_a_models_own_interval_does_not_hold_the_truth() -> None:
    rng, held = np.random.default_rng(8), 0
    for _ in range(200):
        values = draw_values("graded", rng)[0]
        model = np.clip(values + rng.normal(0.05, 0.15, TOTAL), 0, 1)
        held += abs(model.mean() - 0.5) < 1.96 * model.std() / TOTAL**0.5
    assert held < 0.4 * 200


# --- Last bits -------------------------------------------------------------------------------------


def list_ends(found: Correction) -> list[float]:
    return [found.mean, found.interval.low, found.interval.high, found.tuning]


def list_delicate(n: int) -> Iterator[tuple[str, Sample]]:
    """Samples at the edge of something: no residual, no spread, no model, few events."""
    rng = np.random.default_rng(n)
    values, ones = np.round(rng.random(TOTAL), 1), np.ones(TOTAL)
    few = np.zeros(TOTAL)
    few[[0, 1]] = 1, -1
    for name, design in DESIGNS.items():
        drawn = design(n)
        yield f"equal judges, {name}", Sample(values[:n], values, drawn, UNIT)
        yield f"equal values, {name}", Sample(0.3 * ones[:n], values, drawn, UNIT)
        yield f"equal guesses, {name}", Sample(values[:n], 0.7 * ones, drawn, UNIT)
        yield f"all equal, {name}", Sample(0.3 * ones[:n], 0.7 * ones, drawn, UNIT)
        yield f"equal runs, {name}", Sample(0 * values[:n], 0 * values, drawn, UNIT, values[:n])
        yield f"two events, {name}", Sample(few[:n], few, drawn, UNIT, 0.5 * ones[:n])
    yield "every query", Sample(values, values, draw_at_random(TOTAL), UNIT)


def list_usual(n: int) -> Iterator[tuple[str, Sample]]:
    for kind, design, difference in CASES:
        for name, sample in draw_samples(kind, DESIGNS[design](n), difference, n).items():
            yield f"{kind}, {design}, {name}", sample


@pytest.mark.parametrize("n", [5, 10, 20, 40])
@pytest.mark.parametrize("about", ["population", "queries"])
@pytest.mark.parametrize("tuning", ["optimal", "full"])
def test_no_end_moves_much_further_than_the_values(n: int, about: Any, tuning: Any) -> None:
    """From a last bit to a thousandth: no rule switches between two intervals."""
    for place, (name, sample) in enumerate((*list_delicate(n), *list_usual(n))):
        before = correct_mean(sample, about=about, tuning=tuning)
        for exponent in range(-16 + place % 2, -2, 2):
            noise, rng = 10.0**exponent, np.random.default_rng(exponent + 16)

            def move(values: Array, step: float = noise, rng: Any = rng) -> Array:
                return values + step * rng.uniform(-1, 1, len(values))

            moved = replace(sample, people=move(sample.people), model=move(sample.model))
            if sample.baseline is not None:
                moved = replace(moved, baseline=move(sample.baseline))
            after = correct_mean(moved, about=about, tuning=tuning)
            *ends, tuned = np.abs(np.subtract(list_ends(after), list_ends(before)))
            assert max(ends) <= 4 * noise + 1e-13, (name, noise)
            assert tuned <= 20 * noise + 1e-13, (name, noise)
            if noise < 1e-12:
                assert after.interval.basis == before.interval.basis, (name, noise)


@pytest.mark.parametrize("scale", [1e-6, 1 / 3, 7.0, 1e6])
def test_units_and_the_order_of_queries_change_nothing(scale: float) -> None:
    for name, sample in list_delicate(20):
        expected = list_ends(correct_mean(sample))
        baseline = None if sample.baseline is None else scale * sample.baseline
        scaled = Sample(
            scale * sample.people, scale * sample.model, sample.design, Span(0, scale), baseline
        )
        *ends, tuning = list_ends(correct_mean(scaled))
        assert [*(end / scale for end in ends), tuning] == pytest.approx(expected, abs=1e-9), name
        order = np.random.default_rng(1).permutation(len(sample.people))
        design = sample.design
        moved = replace(
            design, sampled=design.sampled[order], weights=design.weights[order],
            strata=design.strata[order],
        )  # fmt: skip
        baseline = None if sample.baseline is None else sample.baseline[order]
        mixed = replace(sample, people=sample.people[order], design=moved, baseline=baseline)
        assert list_ends(correct_mean(mixed)) == pytest.approx(expected, abs=1e-9), name


def test_the_last_bit_of_a_weight_leaves_no_query_undrawn() -> None:
    values = np.random.default_rng(1).random(TOTAL)
    weights = 1 + np.spacing(1) * np.random.default_rng(2).integers(-2, 3, TOTAL)
    design = replace(draw_at_random(TOTAL), weights=weights)
    found = correct_mean(Sample(values, values, design, UNIT), about="queries")
    assert (measure_width(found), found.tuning) == (0, 0)


def test_the_last_bit_of_a_value_opens_no_range_below_0() -> None:
    measure = germane.parse("DCG")
    spans = [find_span(measure, np.array([low, 1.0, 2.0])).extend() for low in (0.0, -1e-17)]
    assert spans[0] == spans[1]


def test_drawn_queries_differ_by_more_than_rounding() -> None:
    """Equal guesses, large or small, with the rounding of a sum: no sample of them is odd."""
    rng = np.random.default_rng(2)
    for size in (1e-9, 0.3, 1e9):
        model = size * (1 + 1e-16 * rng.integers(-3, 4, TOTAL))
        assert compare_drawn(model, draw_at_random(20)) == 1


# --- Order of systems ------------------------------------------------------------------------------


def test_order_of_runs() -> None:
    people, model = {"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.2, "b": 0.3, "c": 0.1}
    found = order_systems(germane.parse("AP"), people, model)
    assert found.swapped == (("a", "b"),)
    assert found.tau == pytest.approx(1 / 3)
    assert found.tau_ap == germane.tau_ap(model, people)


def test_means_that_are_equal_but_for_rounding_are_tied() -> None:
    people = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.1}
    model = {"a": 0.6, "b": 0.7, "c": 0.1}
    assert people["a"] > people["b"]
    found = order_systems(germane.parse("AP"), people, model)
    assert found.swapped == ()
    assert found.tau == order_systems(germane.parse("AP"), {**people, "a": 0.3}, model).tau
    tied = order_systems(germane.parse("AP"), {"a": 0.1 + 0.2, "b": 0.3}, {"a": 1.0, "b": 0.5})
    assert math.isnan(tied.tau)
