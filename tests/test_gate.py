"""gate, assert_no_regression, the pytest fixture, and results that are read again."""

import inspect
import json
import math
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli

QUERIES = [f"q{number}" for number in range(30)]
QRELS = {query: ["d"] for query in QUERIES}
GOOD = {query: ["d"] for query in QUERIES}
BAD = {query: ["x", "d"] for query in QUERIES}
NOISY = {**GOOD, **{f"q{i}": ["x", "d"] for i in range(9)}}
"""Nine queries worse than MIXED has them, and three better."""
MIXED = {**GOOD, **{f"q{i}": ["x", "d"] for i in range(9, 12)}}
FEW = {**GOOD, **{f"q{i}": ["x", "d"] for i in range(4)}}


def gate(run: Any, baseline: Any, **options: Any) -> germane.types.Gate:
    return germane.gate(QRELS, run, "RR P@1", baseline=baseline, resamples=1000, **options)


# --- Verdicts --------------------------------------------------------------------------------------


def test_a_drop_beyond_noise_fails() -> None:
    found = gate(BAD, GOOD)
    assert found.verdicts == {"RR": "fell", "P@1": "fell"}
    assert not found.passed
    assert found.sentences[0].startswith(
        "RR fell by 0.500, where 0 is allowed: baseline is significantly better than run by 0.500 RR"
    )


def test_a_drop_that_is_not_significant_passes() -> None:
    """Nine queries worse and three better: 2 (1 + 12 + 66 + 220) of 2^12 ways, twice with Holm."""
    found = gate(NOISY, MIXED)
    assert found.verdicts == {"RR": "noise", "P@1": "noise"}
    assert found.passed
    assert found.sentences == ()
    assert found.comparison.pairs[0].p == 2 * (1 + 12 + 66 + 220) / 2**12
    assert "noise: a larger drop, not statistically significant, p ≥ 0.05" in str(found)


# --- Where the test cannot judge, max_drop decides ---------------------------------------------------


def test_every_query_of_five_falls() -> None:
    """2 of the 2^5 ways is 0.0625, so no outcome of five queries reaches 0.05."""
    five = {query: ["d"] for query in QUERIES[:5]}
    for worse in ({query: ["x"] for query in five}, {query: [] for query in five}):
        found = germane.gate(five, worse, "RR", baseline=five)
        assert (found.verdicts, found.passed) == ({"RR": "inconclusive"}, False)
        interval = found.comparison.pairs[0].interval
        # as five failures of five in the interval of Clopper and Pearson, from -1 to 1
        assert (interval.low, interval.high) == (-1, pytest.approx(1 - 2 * 0.025 ** (1 / 5)))
    [sentence] = found.sentences
    assert "RR fell by 1.000, where 0 is allowed, and the test cannot judge it: " in sentence
    assert "only 5 queries differ, so that p cannot be below 0.0625" in sentence
    with pytest.raises(germane.errors.RegressionError, match="the test cannot judge it"):
        germane.assert_no_regression(five, worse, "RR", baseline=five)


def test_four_of_many_queries_fall() -> None:
    """The queries that do not differ decide nothing: 2 of 2^4 ways."""
    many = {f"q{i}": ["d"] for i in range(300)}
    worse = {**many, **{f"q{i}": ["x", "d"] for i in range(4)}}
    found = germane.gate(many, worse, "RR", baseline=many)
    pair = found.comparison.pairs[0]
    assert pair.limit is not None
    assert (pair.p, pair.limit.smallest_p, pair.limit.count) == (0.125, 0.125, 4)
    assert found.verdicts == {"RR": "inconclusive"}
    assert germane.gate(many, worse, "RR", baseline=many, max_drop=0.01).passed  # 4 × 0.5 ÷ 300
    assert gate(FEW, GOOD).verdicts == {"RR": "inconclusive", "P@1": "inconclusive"}


def test_a_large_drop_is_significant_at_any_alpha() -> None:
    many = {f"q{i}": ["d"] for i in range(2000)}
    worse = {query: [*"uvwxyz"[: i % 7], "d"] for i, query in enumerate(many)}
    for alpha in (0.05, 1e-4, 1e-9):
        found = germane.gate(many, worse, "AP RR P@1", baseline=many, alpha=alpha)
        assert set(found.verdicts.values()) == {"fell"}
        assert ("p < 1e-6" in found.sentences[0]) == (
            alpha > 1e-6
        )  # written out beside a smaller one


def test_rounding_is_no_drop(tmp_path: Path) -> None:
    """A kept baseline may have been computed elsewhere, and differ in a last bit."""
    kept = germane.evaluate(QRELS, BAD, "RR P@1").to_dict(queries=True)
    for query in QUERIES:
        kept["runs"][0]["queries"][query]["RR"] = math.nextafter(0.5, 1)
    (tmp_path / "kept.json").write_text(json.dumps(kept))
    found = gate(BAD, tmp_path / "kept.json")
    pair = found.comparison.pairs[0]
    assert (pair.difference, pair.wins, pair.losses, pair.ties) == (0, 0, 0, 30)
    assert found.verdicts["RR"] == "passed"
    allowed = gate({q: [*"abcefghij", "d"] for q in QUERIES}, GOOD, max_drop=0.9)
    assert allowed.verdicts["RR"] == "passed"  # 1 - 0.1 is not 0.9 in floats


def test_a_gate_without_a_judged_item_is_no_gate() -> None:
    """Numbers that are all 0 do not fall, and say nothing."""
    foreign = {query: ["other"] for query in QUERIES}
    for run, baseline, named in ((foreign, foreign, "baseline"), (GOOD, foreign, "baseline")):
        with pytest.raises(germane.errors.CoverageError, match=f"among the results of the {named}"):
            gate(run, baseline)
    assert not gate(foreign, GOOD).passed
    with pytest.raises(germane.errors.CoverageError, match="among the results of the run"):
        gate(foreign, GOOD, max_drop=1)


def test_an_allowed_drop_passes() -> None:
    """RR fell by 1/2, P@1 by 1."""
    assert gate(BAD, GOOD, max_drop=0.5).verdicts == {"RR": "passed", "P@1": "fell"}
    assert gate(BAD, GOOD, max_drop=0.49).verdicts == {"RR": "fell", "P@1": "fell"}
    assert gate(BAD, GOOD, max_drop=1).passed


def test_a_gain_passes() -> None:
    assert gate(GOOD, BAD).verdicts == {"RR": "passed", "P@1": "passed"}
    assert gate(GOOD, GOOD).verdicts == {"RR": "passed", "P@1": "passed"}


def test_queries_that_the_run_lost_count_as_0() -> None:
    assert gate({q: ["d"] for q in QUERIES[:20]}, GOOD).verdicts["RR"] == "fell"


@pytest.mark.parametrize("module", [germane, germane.boxes], ids=lambda module: module.__name__)
def test_assert_no_regression_takes_what_gate_takes(module: Any) -> None:
    assert inspect.signature(module.assert_no_regression) == inspect.signature(module.gate)


def test_assert_no_regression() -> None:
    found = germane.assert_no_regression(QRELS, FEW, "RR", baseline=GOOD, max_drop=0.1)
    assert found.verdicts == {"RR": "passed"}
    with pytest.raises(
        AssertionError, match="baseline is significantly better than run by"
    ) as raised:
        germane.assert_no_regression(QRELS, BAD, "RR", baseline=GOOD)
    assert isinstance(raised.value, germane.errors.RegressionError)
    assert "verdict" in str(raised.value)


# --- Results that were kept ------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    results = germane.evaluate_many(QRELS, {"good": GOOD}, "RR P@1")
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps(results.to_dict(queries=True)))
    return path


def test_kept_results_are_the_results(kept: Path) -> None:
    one, again = germane.evaluate(QRELS, GOOD, "RR P@1"), germane.read_results(kept)["good"]
    assert again.counts == one.counts
    assert again.policy == one.policy
    for measure in one:
        assert again[measure].mean == one[measure].mean
        assert again[measure].per_query == one[measure].per_query


@pytest.mark.parametrize("no_relevant", ["skip", "nan"])
def test_values_that_are_not_defined_come_back(tmp_path: Path, no_relevant: Any) -> None:
    qrels = {**QRELS, "q3": {"d": 0}}
    one = germane.evaluate(qrels, NOISY, "RR P@1", no_relevant=no_relevant)
    path = tmp_path / "one.json"
    path.write_text(json.dumps(one.to_dict(queries=True)))
    again = germane.read_results(path)["run"]
    assert again["RR"].per_query.keys() == one["RR"].per_query.keys()
    assert repr(again["RR"].mean) == repr(one["RR"].mean)
    assert again["P@1"].mean == one["P@1"].mean or no_relevant == "nan"


def test_a_kept_mean_that_weighs_queries_is_refused(tmp_path: Path) -> None:
    """Of 1 and 3 relevant items 1 and 1 are found: 2/4, and not the mean of 1 and 1/3."""
    one = germane.evaluate(
        {"p": ["d"], "q": ["d", "e", "f"]}, {"p": ["d"], "q": ["d"]}, "R(mean=micro)@5"
    )
    assert one["R(mean=micro)@5"].mean == 2 / 4
    path = tmp_path / "one.json"
    path.write_text(json.dumps(one.to_dict(queries=True)))
    with pytest.raises(
        germane.errors.InputError, match=r"R\(mean=micro\)@5 weights each query by its norm"
    ):
        germane.read_results(path)


def test_a_gate_with_kept_results(kept: Path) -> None:
    fresh, found = gate(BAD, GOOD), gate(BAD, kept)
    assert found.comparison.pairs == fresh.comparison.pairs
    assert gate(BAD, germane.read_results(kept)["good"]).verdicts == fresh.verdicts


def test_kept_results_must_fit(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(germane.errors.PolicyError, match="Numbers under different conventions"):
        gate(BAD, kept, ties="best")
    with pytest.raises(
        germane.errors.NotFoundError, match=r"the baseline has no AP\.  There are: RR, P@1"
    ):
        germane.gate(QRELS, BAD, "AP", baseline=kept)
    results = germane.evaluate_many(QRELS, {"a": GOOD, "b": BAD}, "RR P@1")
    kept.write_text(json.dumps(results.to_dict(queries=True)))
    with pytest.raises(germane.errors.InputError, match="2 runs, but a baseline is one"):
        gate(BAD, kept)
    kept.write_text(json.dumps(results["a"].to_dict()))
    with pytest.raises(
        germane.errors.EmptyError, match=r"no values of single queries\. .* --per-query"
    ):
        gate(BAD, kept)
    for text in (
        "[]",
        '{"schema": 2}',
        "{",
        '{"schema": 1, "policy": {}, "runs": [{"name": "a"}]}',
    ):
        kept.write_text(text)
        with pytest.raises(germane.errors.InputError, match="--per-query"):
            germane.read_results(kept)
    with pytest.raises(germane.errors.InputError, match="there is no such file"):
        germane.read_results(tmp_path / "none.json")
    with pytest.raises(germane.errors.InputError, match="max_drop takes a number from 0; got -1"):
        gate(BAD, GOOD, max_drop=-1)


def test_kept_results_of_other_judgments(kept: Path) -> None:
    other = {query: ["x"] for query in QUERIES}
    kept.write_text(json.dumps(germane.evaluate(other, BAD, "RR P@1").to_dict(queries=True)))
    with pytest.raises(
        germane.errors.InputError,
        match=r"eline.json' and 'run' were evaluated with different judgments",
    ):
        gate(BAD, kept)
    written = json.loads(kept.read_text())
    del written["runs"][0]["fingerprints"]  # as files were before results had a fingerprint
    kept.write_text(json.dumps(written))
    assert germane.read_results(kept)["run"].fingerprint is None
    assert gate(BAD, kept).verdicts == {"RR": "fell", "P@1": "fell"}


def test_the_fingerprint_is_that_of_the_judgments() -> None:
    """Neither their order nor the kind of ids or of measure changes it; each of them does."""
    judged = {1: {7: 1, 8: 0}, 2: {9: 2}}
    run = {"1": ["7"], "2": ["9"]}
    expected = germane.evaluate(judged, {1: [7], 2: [9]}, "RR").fingerprint
    turned = {"2": {"9": 2.0}, "1": {"8": 0, "7": 1}}
    assert germane.evaluate(turned, run, "RR").fingerprint == expected
    for other in (
        {"1": {"7": 1, "8": 1}, "2": {"9": 2}},
        {"1": {"7": 1, "6": 0}, "2": {"9": 2}},
        {"1": {"7": 1, "8": 0}, "3": {"9": 2}},
        {"1": {"7": 1}, "2": {"9": 2, "8": 0}},
        {"1": {"7": 1}, "2": {"9": 2}},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert germane.evaluate(other, run, "RR").fingerprint != expected
    labels = germane.Labels([0, 1], [0, 1, 1])
    similarity = np.array([[0.9, 0.2, 0.1], [0.3, 0.2, 0.1]])
    prints = {
        germane.evaluate(labels, similarity, name).fingerprint
        for name in ("RR", "AP", "Bpref", "nDCG")
    }
    assert len(prints) == 1


def test_kept_results_with_integer_queries(tmp_path: Path) -> None:
    qrels, good = ({q: ["d"] for q in range(30)} for _ in range(2))
    bad = {q: ["x", "d"] for q in qrels}
    kept = tmp_path / "kept.json"
    kept.write_text(json.dumps(germane.evaluate(qrels, good, "RR").to_dict(queries=True)))
    assert germane.gate(qrels, bad, "RR", baseline=kept).verdicts == {"RR": "fell"}
    assert germane.gate(qrels, good, "RR", baseline=kept).passed


@pytest.mark.parametrize("wrong", ["1.0", True, [1]])
def test_kept_values_are_numbers(kept: Path, wrong: object) -> None:
    written = json.loads(kept.read_text())
    written["runs"][0]["queries"]["q3"]["RR"] = wrong
    kept.write_text(json.dumps(written))
    with pytest.raises(
        germane.errors.FormatError,
        match=r"queries\['q3'\]\['RR'\] is a finite number, or null; got",
    ):
        germane.read_results(kept)


@pytest.mark.parametrize("options", [{"missing": "skip"}, {"no_hit": "skip"}])
def test_lost_queries_fail(options: dict[str, Any], tmp_path: Path) -> None:
    """Of 30 queries 27 are lost, and the mean of the others does not fall."""
    few = {query: ["d"] for query in QUERIES[:3]} | {query: ["x"] for query in QUERIES[3:]}
    run = {query: few[query] for query in QUERIES[:3]} if "missing" in options else few
    kept = tmp_path / "kept.json"
    kept.write_text(
        json.dumps(germane.evaluate(QRELS, GOOD, "RR", **options).to_dict(queries=True))
    )
    for baseline in (GOOD, kept):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = germane.gate(QRELS, run, "RR", baseline=baseline, **options)
        assert (found.verdicts, found.passed) == ({"RR": "lost"}, False)
        assert set(found.lost["RR"]) == set(QUERIES[3:])
        assert (
            "RR: 27 queries have a value in the baseline but none in the run" in found.sentences[0]
        )
        assert "this fails the gate" in str(found)
        with pytest.raises(germane.errors.RegressionError, match="27 queries"):
            germane.assert_no_regression(QRELS, run, "RR", baseline=baseline, **options)
    gained = germane.gate(QRELS, GOOD, "RR", baseline=GOOD, **options)
    assert gained.passed
    assert gained.lost == {"RR": ()}


# --- The command -----------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    given = {"good": GOOD, "bad": BAD, "few": FEW, "other": {query: ["other"] for query in QUERIES}}
    for name, one in given.items():
        lines = [
            f"{query} Q0 {item} {rank} {-rank} x"
            for query, items in one.items()
            for rank, item in enumerate(items, start=1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels").write_text("".join(f"{query} 0 d 1\n" for query in QUERIES))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("run", "status"), [("good", 0), ("few", 1), ("bad", 1), ("none", 2)])
def test_exit_status(files: Path, run: str, status: int) -> None:
    assert cli.main(["gate", "qrels", f"{run}.run", "--baseline", "good.run", "-m", "RR"]) == status


def test_runs_without_a_judged_item_are_bad_input(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["gate", "qrels", "other.run", "--baseline", "other.run", "-m", "RR"]) == 2
    assert "no judged item is among the results of the baseline" in capsys.readouterr().err


def test_github(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "summary").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(files / "summary"))
    asked = ["gate", "qrels", "bad.run", "--baseline", "good.run", "-m", "RR", "--github"]
    assert cli.main(asked) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("::error title=germane gate::RR fell by 0.500, where 0 is allowed: ")
    summary = (files / "summary").read_text()
    assert summary.startswith("before\n### germane gate: the run fell behind its baseline\n")
    assert "| RR | 1.0000 | 0.5000 | -0.5000 |" in summary


def test_github_without_a_summary(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    asked = ["gate", "qrels", "good.run", "--baseline", "good.run", "-m", "RR", "--github"]
    assert cli.main(asked) == 0
    assert "::error" not in capsys.readouterr().out


def test_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["gate", "qrels", "bad.run", "--baseline", "good.run", "-m", "RR", "--format", "json"]
    assert cli.main(asked) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdicts"], answer["passed"]) == ({"RR": "fell"}, False)


# --- The fixture -----------------------------------------------------------------------------------

TEST = """
def test_passes(assert_no_regression):
    assert assert_no_regression({"q": ["d"]}, {"q": ["d"]}, "RR", baseline={"q": ["d"]}).passed

def test_fails(assert_no_regression):
    qrels = {f"q{i}": ["d"] for i in range(20)}
    worse = {query: ["x", "d"] for query in qrels}
    assert_no_regression(qrels, worse, "RR", baseline=qrels)
"""


def test_the_fixture_in_a_test_session(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    source = str(Path(germane.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "germane_pytest", "-p", "no:cacheprovider", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout
    assert "RR fell by 0.500, where 0 is allowed" in done.stdout


def test_the_plug_in_alone_imports_no_numpy() -> None:
    code = "import sys, germane_pytest; print('numpy' in sys.modules)"
    source = str(Path(germane.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip
    assert done.stdout == "False\n"


def test_the_recipes_of_builds_name_real_commands(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each germane command of a recipe, run on files of the names that it has."""
    page = (Path(__file__).parents[1] / "docs/ci.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    recipes = [block for block in blocks if "germane gate" in block]
    assert len(recipes) == 1
    assert cli.main(["evaluate", "qrels", "good.run", "-m", "AP@10 nDCG@10", "--format", "json",
                     "--per-query", "-o", "baseline.json"]) == 0  # fmt: skip
    (files / "qrels").rename("qrels.txt")
    (files / "good.run").rename("new.run")
    for recipe in recipes:
        assert "\t" not in recipe
        [command] = re.findall(r"germane gate .*", recipe)
        assert cli.main(shlex.split(command)[1:]) == 0, command
    assert (files / "gate.md").read_text("utf-8").startswith("| measure |")
    assert "paths: [gate.md]" in recipes[0]
    capsys.readouterr()


def test_the_recipes_of_builds_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    page = (Path(__file__).parents[1] / "docs/ci.md").read_text("utf-8")
    github, gitlab = map(
        yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    )
    steps = github["jobs"]["ranking"]["steps"]
    assert all({"uses", "run"} & set(step) for step in steps)
    assert steps[-1]["with"]["options"] == "--max-drop 0.01"
    assert gitlab["ranking"]["artifacts"] == {"when": "always", "paths": ["gate.md"]}
    assert all(isinstance(line, str) for line in gitlab["ranking"]["script"])


def test_flat_names_are_accepted_everywhere() -> None:
    measures = "AP AP@10 AP(norm=R)@10 nDCG(gain=exp)@10 P(rel=2)@5 nDCG(gain=1:1_2:3)"
    flat = germane.evaluate(QRELS, GOOD, measures).flat(prefix="test/")
    assert len(flat) == 6
    assert all(re.fullmatch(r"[A-Za-z0-9_./-]+", name) for name in flat)
    assert list(flat)[:3] == ["test/AP", "test/AP_at_10", "test/AP_norm-R_at_10"]
    assert flat["test/AP_at_10"] == 1.0


def test_a_gate_is_for_measures_of_which_more_is_better() -> None:
    """Fewer unjudged results are no regression."""
    runs = {"q": ["d", "x"]}, {"q": ["x", "y"]}
    with pytest.raises(
        germane.errors.MeasureError, match=r"higher is better\. A lower Unjudged@2 is no regression"
    ):
        germane.gate({"q": ["d"]}, runs[0], "RR Unjudged@2", baseline=runs[1])


def test_what_passed_needs_no_test() -> None:
    """Nothing is called inconclusive below a table in which everything passed."""
    qrels = {f"q{i}": ["d"] for i in range(5)}
    good = {query: ["d"] for query in qrels}
    found = germane.gate(qrels, {**good, "q0": ["x", "d"]}, "RR", baseline=good, max_drop=0.5)
    assert found.passed
    assert "nconclusive" not in str(found)


def test_a_t_test_has_no_smallest_p() -> None:
    """One query that outweighs the others makes it weak, and not impossible."""
    qrels = {f"q{i}": {"d": 1} for i in range(50)}
    good = {query: ["d"] for query in qrels}
    ranks = [40, *(2 for _ in range(49))]
    worse = {q: [*(f"x{j}" for j in range(n - 1)), "d"] for q, n in zip(qrels, ranks, strict=True)}
    [pair] = germane.compare(qrels, {"a": good, "b": worse}, "RR", test="t").pairs
    assert pair.limit is None
    assert germane.gate(qrels, worse, "RR", baseline=good, test="t").verdicts == {"RR": "fell"}


@pytest.mark.parametrize("held", [{"q": {"d": 1.0}}, {"q": ["d"]}])
def test_a_baseline_of_nested_json_is_a_run(held: object, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(held))
    assert germane.gate({"q": ["d"]}, path, "RR", baseline=path).passed
    path.write_text("{}")
    with pytest.raises(germane.errors.FormatError, match="not results of schema"):
        germane.gate({"q": ["d"]}, {"q": ["d"]}, "RR", baseline=path)


def test_people_correct_the_change_of_a_model() -> None:
    """The model takes b for relevant; people say that a is, so that the run rises."""
    queries = [f"q{number}" for number in range(60)]
    model = {query: {"a": 0, "b": 1} for query in queries}
    people = {
        query: {"a": int(place % 5 > 0), "b": int(place % 5 == 0)}
        for place, query in enumerate(queries[::3])
    }
    runs = {
        "before": {key: ["b", "a"] for key in queries},
        "after": {key: ["a", "b"] for key in queries},
    }
    naive = germane.gate(model, runs["after"], "P@1", baseline=runs["before"])
    assert naive.verdicts == {"P@1": "fell"}
    gate = germane.gate(model, runs["after"], "P@1", baseline=runs["before"], people=people)
    trusts = germane.trust_many(runs, people=people, model=model, measures="P@1")
    change = trusts.between("after", "before", "P@1")
    assert gate.corrected["P@1"].mean == change.mean > 0
    assert (gate.verdicts, gate.passed) == ({"P@1": "passed"}, True)
    [row] = gate.table().rows
    assert row[3:5] == ("-1.0000", f"{change.mean:+.4f}")
    assert gate.to_dict()["corrected"]["P@1"]["judged"] == 20
    back = germane.gate(model, runs["before"], "P@1", baseline=runs["after"], people=people)
    assert (back.verdicts, len(back.sentences)) == ({"P@1": "fell"}, 1)
    assert "as corrected by people's judgments" in back.sentences[0]
    saved = germane.evaluate(model, runs["before"], "P@1")
    for options, words in (
        ({"baseline": saved}, "give the baseline's run"),
        ({"by": lambda q: q}, "leave out by="),
        ({"correction": "holm"}, "leave out correction=holm"),
        ({"test": "sign"}, "leave out test=sign"),
    ):
        with pytest.raises(germane.errors.InputError, match=words):
            germane.gate(
                model,
                runs["after"],
                "P@1",
                **{"baseline": runs["before"], **options},
                people=people,
            )
    page = germane.report(model, runs, "P@1 NumRet P(mean=micro)@1", people=people).html
    assert '<section id="people">' in page
    assert f"<td>{change.mean:.4f}</td>" in page
