"""Several judges: each one's numbers, merged grades, and the agreement of all."""

import json
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import cli

RECORDED = json.loads((Path(__file__).parent / "data" / "judges.json").read_text("utf-8"))
RUN = {"q": ["a", "b", "c", "d"], "p": ["a"]}
JUDGES = {
    "ann": {"q": {"a": 2, "b": 0, "c": 1}, "p": {"a": 1}},
    "bob": {"q": {"a": 0, "b": 0, "c": 1}},
    "eve": {"q": {"a": 1, "b": 2, "d": 1}},
}


@pytest.mark.parametrize("case", RECORDED["several"])
def test_alpha_of_all_is_krippendorffs(case: dict[str, list[list[float | None]]]) -> None:
    judges = {
        f"judge {j}": {"q": {i: grade for i, grade in enumerate(row) if grade is not None}}
        for j, row in enumerate(case["grades"])
    }
    found = germane.evaluate_judges(judges, {"q": [0, 1, 2]}, "P@3")
    assert found.alpha == pytest.approx(case["alpha"], abs=1e-12)
    assert found.alpha_ordinal == pytest.approx(case["alpha_ordinal"], abs=1e-12)


def test_each_judge_and_merged_grades() -> None:
    found = germane.evaluate_judges(JUDGES, RUN, "nDCG@3 P@2")
    for name, qrels in JUDGES.items():
        alone = germane.evaluate({"q": qrels["q"]}, RUN, "nDCG@3 P@2")
        assert found.results[name]["nDCG@3"].mean == alone["nDCG@3"].mean
    # a: 2, 0, 1; b: 0, 0, 2; c: 1, 1; d: 1
    majority = germane.evaluate({"q": {"a": 0, "b": 0, "c": 1, "d": 1}}, RUN, "nDCG@3 P@2")
    mean = germane.evaluate({"q": {"a": 1, "b": 2 / 3, "c": 1, "d": 1}}, RUN, "nDCG@3 P@2")
    assert found.results["majority"]["nDCG@3"].mean == majority["nDCG@3"].mean
    assert found.results["mean"]["nDCG@3"].mean == pytest.approx(mean["nDCG@3"].mean)
    assert (found.left_out, found.pairs) == (1, 3)
    means = [found.results[name]["P@2"].mean for name in JUDGES]
    assert found.spread("P@2") == np.ptp(means)
    assert "spread of judges" in str(found)
    assert found.to_dict()["judges"] == [*JUDGES]


def test_errors() -> None:
    with pytest.raises(germane.InputError, match="other than majority and mean"):
        germane.evaluate_judges({"mean": JUDGES["ann"], "bob": JUDGES["bob"]}, RUN)
    with pytest.raises(germane.CoverageError, match="no query has the judgments of every judge"):
        germane.evaluate_judges({"a": {"q": {"x": 1}}, "b": {"p": {"x": 1}}}, RUN)
    with pytest.raises(germane.EmptyError, match="two or more"):
        germane.evaluate_judges({"a": JUDGES["ann"]}, RUN)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name, qrels in JUDGES.items():
        path = tmp_path / f"{name}.qrels"
        lines = (f"q 0 {item} {grade}\n" for item, grade in qrels["q"].items())
        path.write_text("".join(lines), "utf-8")
        paths.append(str(path))
    run = tmp_path / "a.run"
    run.write_text("".join(f"q Q0 {d} {i} {9 - i} a\n" for i, d in enumerate("abcd")), "utf-8")
    assert cli.main(["judges", str(run), *paths, "-m", "P@2", "--format", "json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain == germane.evaluate_judges(JUDGES, {"q": RUN["q"]}, "P@2").to_dict() | {
        "left_out": 0
    }
    assert cli.main(["judges", str(run), *paths, "-m", "P@2"]) == 0
    assert "majority grade" in capsys.readouterr().out
    for wrong, says in (
        (paths[:1], "give two or more"),
        ([paths[0], paths[0]], "are given twice"),
        ([paths[0], "-"], "standard input"),
    ):
        assert cli.main(["judges", str(run), *wrong]) == 2
        assert says in capsys.readouterr().err
