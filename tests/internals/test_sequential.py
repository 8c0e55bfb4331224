"""sequential="anytime": fortunes by exact arithmetic, an error that holds at every look, and the gate."""

import json
import math
from dataclasses import fields
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli
from germane.comparison.sequential import (
    _SHARES,
    bet_on_more,
    compute_anytime_p,
    estimate_anytime_interval,
)
from germane.comparison.significance import Settings

QUERIES = [f"q{i}" for i in range(40)]
QRELS = {query: ["d"] for query in QUERIES}
GOOD = {query: ["d"] for query in QUERIES}
BAD = {query: ["x", "d"] for query in QUERIES}


def test_the_fortune_is_a_product_in_any_order() -> None:
    differences = [0.5, -0.25, 1.0, 0.0, -1.0]
    for mean in (-0.5, 0.0, 0.25):
        expected = Fraction()
        for share in map(Fraction, map(str, _SHARES)):
            fortune = Fraction(1)
            for value in differences:
                fortune *= 1 + share * (Fraction(value) - Fraction(mean)) / (1 + Fraction(mean))
            expected += fortune / len(_SHARES) / 2
        for order in (differences, differences[::-1]):
            found = math.exp(bet_on_more(np.array(order), mean))
            assert found == pytest.approx(float(expected), rel=1e-12)


def test_no_fair_game_makes_rich() -> None:
    """Over all sequences of a fair game with three outcomes, the expected fortune is the stake."""
    outcomes = ((-1.0, 0.25), (0.0, 0.375), (0.5, 0.375))
    mean = sum(value * chance for value, chance in outcomes)
    total = sum(
        math.prod(chance for _, chance in path)
        * math.exp(bet_on_more(np.array([value for value, _ in path]), mean))
        for path in product(outcomes, repeat=5)
    )
    assert total == pytest.approx(0.5)


def test_of_all_games_few_are_ever_called_unfair() -> None:
    """Every sequence of 14 tosses, looked at after each: the share of those ever rejected."""
    ever = 0
    for path in product((-1.0, 1.0), repeat=10):
        ever += any(compute_anytime_p(np.array(path[:n])) < 0.2 for n in range(1, 11))
    assert 0 < ever / 2**10 <= 0.2


def test_the_interval_excludes_what_the_test_rejects() -> None:
    rng = np.random.default_rng(3)
    for shift in (0.1, 0.2, 0.3):
        row = np.clip(rng.normal(shift, 0.3, 60), -1, 1)
        p = compute_anytime_p(row)
        for alpha in (min(p * 1.01, 0.999), p * 0.99):
            low, high = estimate_anytime_interval(row, alpha)
            assert low <= row.mean() <= high
            assert (low > 0 or high < 0) == (p < alpha)
    assert estimate_anytime_interval(np.ones(400), 0.05)[1] == 1.0


def gate(queries: int, **options: Any) -> germane.types.Gate:
    run = {query: BAD[query] for query in QUERIES[:queries]}
    options = {"sequential": "anytime", "missing": "skip", **options}
    return germane.gate(QRELS, run, "RR P@1", baseline=GOOD, **options)


@pytest.mark.filterwarnings("ignore")
def test_a_gate_after_each_batch() -> None:
    """With few queries nothing is known yet, and the gate passes; none is lost that is to come."""
    early = gate(3)
    assert early.verdicts == {"RR": "noise", "P@1": "noise"}
    assert early.passed
    assert "not statistically significant so far" in str(early)
    late = gate(30)
    assert late.verdicts == {"RR": "fell", "P@1": "fell"}
    row = np.full(30, -0.5)
    assert late.pairs[0].p == compute_anytime_p(row)
    assert late.pairs[0].interval.high == pytest.approx(  # type: ignore[union-attr]
        estimate_anytime_interval(row, 0.05)[1]
    )
    assert "anytime-valid test by betting" in str(late)
    assert late.to_dict()["settings"]["sequential"] == "anytime"
    assert "sequential" not in gate(30, sequential=None).to_dict()["settings"]
    assert gate(3, sequential=None).verdicts["RR"] == "inconclusive"


@pytest.mark.filterwarnings("ignore")
def test_what_has_no_sequence() -> None:
    errors = germane.errors
    with pytest.raises(errors.PolicyError, match="sequential=anytime has a test of its own"):
        gate(20, test="sign")
    with pytest.raises(errors.PolicyError, match="sequential"):
        gate(20, sequential="always")
    with pytest.raises(errors.MeasureError, match="DCG@5 has no highest value"):
        germane.compare(QRELS, {"a": GOOD, "b": BAD}, "DCG@5", sequential="anytime")
    with pytest.raises(errors.MeasureError, match="sequential= is for means over the queries"):
        germane.compare(
            QRELS, {"a": GOOD, "b": BAD}, "Coverage@1", catalogue=9, sequential="anytime"
        )
    with pytest.raises(errors.InputError, match="sequential= is about changes from baseline="):
        germane.gate(QRELS, BAD, floor="RR>=0.1", sequential="anytime")


def test_the_command_compares_with_every_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No setting that compare has as an option is left out on the way to the function."""
    files = []
    for name, data in {"qrels": QRELS, "good": GOOD, "bad": BAD}.items():
        files.append(str(tmp_path / f"{name}.json"))
        Path(files[-1]).write_text(json.dumps(data))
    command = ["compare", *files, "-m", "RR", "--format", "json"]
    texts = {
        "baseline": "bad", "test": "sign", "correction": "bh", "family": "all", "confidence": ".9",
        "equivalence": ".1", "resamples": "200", "sequential": "anytime",
    }  # fmt: skip
    assert list(texts) == [setting.name for setting in fields(Settings)]
    for name, text in texts.items():
        assert cli.main([*command, f"--{name}", text]) == 0
        settings = json.loads(capsys.readouterr().out)["settings"]
        assert str(settings.get(name)).lstrip("0") == text
