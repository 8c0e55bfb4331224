"""plan, and the claims of audit: what so many queries can show, by enumeration and by arithmetic."""

import json
import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import cli
from germane.comparison.resolution import (
    count_fewest_differing,
    estimate_certain_interval,
    find_smallest_p,
)
from germane.core.mean_intervals import Dispersion

DIGITS = "examples/digits"


def test_the_smallest_p_is_that_of_all_signs() -> None:
    """Of the 2^n ways to choose signs, two have the largest sum, whatever the sizes."""
    rng = np.random.default_rng(1)
    for n in range(1, 9):
        sizes = rng.uniform(0.1, 1, n)
        sums = [abs(float(np.dot(signs, sizes))) for signs in product((-1, 1), repeat=n)]
        share = sum(total >= sum(sizes) - 1e-12 for total in sums) / 2**n
        assert find_smallest_p(n) == pytest.approx(share)
    assert count_fewest_differing(0.05) == 6
    assert (count_fewest_differing(0.01), count_fewest_differing(2**-3)) == (8, 5)


def test_an_interval_holds_the_mean_of_any_values() -> None:
    """Yes and no vary most: of every share and n, the binomial's tails outside add up to 5% at most."""
    for n in (5, 20):
        found = [estimate_certain_interval(hits / n, n, 0.95) for hits in range(n + 1)]
        for share in np.linspace(0.02, 0.98, 25):
            missed = sum(
                math.comb(n, hits) * share**hits * (1 - share) ** (n - hits)
                for hits, interval in enumerate(found)
                if share not in interval
            )
            assert missed <= 0.05
    assert estimate_certain_interval(0, 10, 0.95).high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert estimate_certain_interval(1, 10, 0.95).low == pytest.approx(0.025 ** (1 / 10))


def test_needed_queries_are_those_that_detect() -> None:
    for deviation, difference in ((0.2, 0.01), (0.3, 0.1), (0.05, 0.02)):
        needed = Dispersion(deviation / math.sqrt(50), 49, 50).count_needed(difference, 0.05)
        for queries, detects in ((needed, True), (needed - 1, False)):
            spread = Dispersion(deviation / math.sqrt(queries), queries - 1, queries)
            assert (spread.find_detectable(0.05) <= difference) is detects  # type: ignore[operator]


def test_claims_of_ten_queries() -> None:
    """One hit more in ten queries is one query that differs: p is 1. Six hits more take 60."""
    table = {
        "ours": {"P@1": "0.60", "P@5": "0.40", "MRR": "0.70"},
        "theirs": {"P@1": "0.50", "P@5": "0.28", "MRR": "0.69"},
        "third": {"P@1": "0.10", "P@5": "0.10", "MRR": "0.30"},
    }
    audited = germane.audit(table, queries=10)
    assert not audited
    one, five, rank = audited.claims
    assert (one.better, one.worse, one.smallest_p, one.fewest) == ("ours", "theirs", 1.0, 60)
    assert (five.smallest_p, five.fewest) == (2 / 2**6, 10)  # six hits of fifty
    assert (rank.smallest_p, rank.fewest) == (2 / 2**10, 6)
    assert one.most > one.fewest
    assert "10 queries cannot show the difference of 0.1 (p ≥ 1" in str(audited)
    assert germane.audit(table).claims == ()
    assert [claim["column"] for claim in audited.to_dict()["claims"]] == ["P@1", "P@5", "MRR"]


def test_rounding_may_be_a_query_more() -> None:
    """0.6 and 0.5 in one decimal stand for up to 0.65 and from 0.45: of twenty queries, four hits."""
    [claim] = germane.audit({"a": {"P@1": "0.6"}, "b": {"P@1": "0.5"}}, queries=20).claims
    assert claim.smallest_p == 2 / 2**4


def test_a_plan_from_judgments_alone() -> None:
    qrels = {f"q{i}": {"d": 1, "e": 1} if i % 5 else {"d": 0} for i in range(40)}
    found = germane.plan(qrels, measures="P@10 R@10 Success@5 RR", difference=0.1)
    assert found.basis == "range"
    p, recall, success, rr = found.resolutions
    assert (p.queries, p.differing) == (40, 32)
    assert p.smallest_p == 2 / 2**32
    steps = [resolution.least for resolution in (p, recall, success)]
    assert steps == pytest.approx([6 / 10 / 40, 6 / 2 / 40, 6 / 40])
    assert rr.least is None
    assert rr.needed == math.ceil((2.8015852 / 0.1) ** 2 + 1.959964**2 / 2)
    few = germane.plan({f"q{i}": ["d"] for i in range(4)}, measures="RR").resolutions[0]
    assert (few.smallest_p, few.detectable) == (2 / 2**4, None)


def test_a_pilot_detects_what_compare_says() -> None:
    runs = {name: f"{DIGITS}/{name}.run" for name in ("lda", "pixels")}
    found = germane.plan(f"{DIGITS}/qrels.txt", runs["lda"], "AP P@10", baseline=runs["pixels"])
    compared = germane.compare(f"{DIGITS}/qrels.txt", runs, "AP P@10")
    assert found.basis == "pilot"
    expected = [pair.detectable for pair in compared.pairs]
    assert [resolution.detectable for resolution in found.resolutions] == pytest.approx(expected)
    alone = germane.plan(f"{DIGITS}/qrels.txt", runs["lda"], "AP P@10")
    assert alone.basis == "run"
    for unrelated, alike in zip(alone.resolutions, found.resolutions, strict=True):
        assert unrelated.detectable > alike.detectable  # type: ignore[operator]


def test_what_a_plan_cannot_take() -> None:
    qrels = {"q": ["d"]}
    with pytest.raises(germane.errors.MeasureError, match="DCG@5 has no highest value"):
        germane.plan(qrels, measures="DCG@5")
    with pytest.raises(germane.errors.InputError, match="baseline= is the second run of a pilot"):
        germane.plan(qrels, baseline=qrels)
    for wrong in ({"difference": 0}, {"alpha": 1}):
        with pytest.raises(germane.errors.InputError):
            germane.plan(qrels, **wrong)


def test_the_command_prints_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q{i} 0 d 1\n" for i in range(20)))
    assert cli.main(["plan", str(tmp_path / "qrels.txt"), "-m", "P@5", "--difference", ".1"]) == 0
    out = capsys.readouterr().out
    assert "needed for 0.1" in out
    assert out.splitlines()[2].split()[:5] == ["P@5", "20", "20", "1.9e-6", "0.0600"]


@pytest.mark.parametrize("runs", [[], ["lda.run"], ["lda.run", "--baseline", "pixels.run"]])
def test_a_plan_of_the_command_line_is_that_of_python(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(__file__).parents[2] / "examples" / "digits"
    paths = [name if name.startswith("-") else str(folder / name) for name in ["qrels.txt", *runs]]
    typed = ["plan", *paths, "-m", "AP P@10", "--difference", "0.02", "--format", "json"]
    assert cli.main(typed) == 0
    baseline = paths[-1] if len(runs) > 1 else None
    found = germane.plan(
        *paths[: 1 + bool(runs)], measures="AP P@10", baseline=baseline, difference=0.02
    )
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(found.to_dict()))


def test_a_plan_of_a_large_difference_takes_as_many_queries_as_p_does() -> None:
    """Of five queries p is at least 2 ÷ 2⁵ = .0625; and no two runs differ by 2."""
    qrels = {f"q{i}": ["a", "b"] for i in range(10)}
    run = {f"q{i}": [["a", "b"], ["x", "a"]][i % 2] for i in range(10)}
    assert germane.plan(qrels, run, "AP", difference=0.9).resolutions[0].needed == 6
    with pytest.raises(
        germane.errors.InputError, match="no two runs differ by 2: AP is from 0 to 1"
    ):
        germane.plan(qrels, run, "AP", difference=2)
