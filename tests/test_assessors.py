"""Several judges: each one's numbers, merged grades, and the agreement of all."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
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
    found = germane.evaluate_judges({"q": [0, 1, 2]}, judges, "P@3")
    assert found.alpha == pytest.approx(case["alpha"], abs=1e-12)
    assert found.alpha_ordinal == pytest.approx(case["alpha_ordinal"], abs=1e-12)


def test_each_judge_and_merged_grades() -> None:
    found = germane.evaluate_judges(RUN, JUDGES, "nDCG@3 P@2")
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


@pytest.mark.parametrize("judges", range(2, 9))
@pytest.mark.parametrize("grade", [0.1, 0.3, 0.7, 1.1, 2.3])
def test_the_mean_of_equal_grades_is_that_grade(judges: int, grade: float) -> None:
    """Three grades of 0.7 sum to 2.0999999999999996, a third of which is below 0.7."""
    by = {f"judge {j}": {"q": {"a": grade}} for j in range(judges)}
    found = germane.evaluate_judges({"q": ["a"]}, by, f"P(rel={grade})@1")
    assert [result[f"P(rel={grade})@1"].mean for result in found.results.values()] == [1.0] * (
        judges + 2
    )


ROWS = [("q", d, grade, j) for j, qrels in JUDGES.items() for d, grade in qrels["q"].items()]


def test_a_column_names_the_judge(tmp_path: Path) -> None:
    frame = pyarrow.table(
        dict(zip(("qid", "docno", "rel", "assessor"), zip(*ROWS, strict=True), strict=True))
    )
    path, renamed = tmp_path / "all.csv", tmp_path / "who.csv"
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join(["query,item,grade,judge", *lines]), "utf-8")
    renamed.write_text("\n".join(["query,item,grade,who", *lines]), "utf-8")
    named = {name: {"q": qrels["q"]} for name, qrels in JUDGES.items()}
    wanted = germane.evaluate_judges(RUN, named, "P@2 nDCG@3").to_dict()
    for given in (frame, path, str(path)):
        assert germane.evaluate_judges(RUN, given, "P@2 nDCG@3").to_dict() == wanted
    columns = {"judge": "who"}
    assert germane.evaluate_judges(RUN, renamed, "P@2 nDCG@3", columns=columns).to_dict() == wanted


def test_integers_in_a_file_of_judges_are_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("query,item,grade,judge\n1,7,1,4\n1,8,0,4\n1,7,0,5\n1,8,1,5\n", "utf-8")
    found = germane.evaluate_judges({1: [7, 8]}, path, "P@1")
    assert [found.results[name]["P@1"].mean for name in ("4", "5")] == [1.0, 0.0]


def test_integers_of_one_judge_are_digits_in_a_file_of_another(tmp_path: Path) -> None:
    model = {query: {1: 1, 2: int(query % 3 == 0)} for query in range(30)}
    people = {query: {1: int(query % 4 > 0), 2: int(query % 3 == 0)} for query in range(0, 30, 5)}
    run = {query: [1, 2] for query in range(30)}
    path = tmp_path / "model.qrels"
    rows = [f"{q} 0 {i} {grade}\n" for q, judged in model.items() for i, grade in judged.items()]
    path.write_text("".join(rows))

    def find(written: Any) -> list[float]:
        together = germane.evaluate_judges(run, {"model": written, "people": people}, "P@1")
        trusted = germane.trust(run, people=people, model=written, measures="P@1")["P@1"]
        agreed = germane.compare_judges(people, written)
        means = [one["P@1"].mean for one in together.results.values()]
        return [trusted.mean, agreed.kappa, *means]

    assert find(path) == find(model)


def test_candidates_hold_for_every_judge() -> None:
    found = germane.evaluate_judges(RUN, JUDGES, "P@1", exclude={"q": ["a", "b"]})
    assert [result["P@1"].mean for result in found.results.values()] == [1.0, 1.0, 0.0, 1.0, 1.0]


def test_a_finding_is_said_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not germane.evaluate_judges(RUN, JUDGES, "P@2").findings  # p was left out
    with pytest.warns(germane.GermaneWarning, match="1 query of the run is not") as said:
        germane.evaluate_judges(RUN, {name: {"q": JUDGES[name]["q"]} for name in JUDGES}, "P@2")
    assert len(said) == 1


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (5, "5 has no column that names the judge"),
        ({"qid": ["q"], "docno": ["a"], "rel": [1]}, "no column is the judge; found 'qid'"),
        (
            {"qid": ["q"], "docno": ["a"], "rel": [1], "judge": ["x"], "rater": ["y"]},
            "more than one column can be the judge",
        ),
        ({"qid": ["q"], "docno": ["a"], "rel": [1], "judge": ["x"]}, "there is only 'x'"),
        ({"qid": ["q"], "docno": ["a"], "rel": [1], "judge": [None]}, "'judge', row 0: an id is missing"),
        (
            {"qid": ["q"] * 2, "docno": ["a"] * 2, "rel": [1, None], "judge": ["x", "y"]},
            "'rel', row 1: a relevance grade is missing",
        ),
        (
            {"qid": ["q"] * 3, "docno": ["a"] * 3, "rel": [1] * 3, "judge": ["x", "y", "y"]},
            "judge 'y': item 'a' is judged twice",
        ),
    ],
)  # fmt: skip
def test_errors_of_a_column_of_judges(given: Any, says: str) -> None:
    frame = pyarrow.table(given) if isinstance(given, dict) else given
    with pytest.raises(germane.GermaneError, match=says):
        germane.evaluate_judges(RUN, frame)


def test_errors() -> None:
    with pytest.raises(germane.errors.InputError, match="except majority and mean"):
        germane.evaluate_judges(RUN, {"mean": JUDGES["ann"], "bob": JUDGES["bob"]})
    with pytest.raises(
        germane.errors.CoverageError, match="no query has the judgments of every judge"
    ):
        germane.evaluate_judges(RUN, {"a": {"q": {"x": 1}}, "b": {"p": {"x": 1}}})
    with pytest.raises(germane.errors.EmptyError, match="at least two"):
        germane.evaluate_judges(RUN, {"a": JUDGES["ann"]})


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
    assert plain == germane.evaluate_judges({"q": RUN["q"]}, JUDGES, "P@2").to_dict() | {
        "left_out": 0
    }
    assert cli.main(["judges", str(run), *paths, "-m", "P@2"]) == 0
    assert "majority grade" in capsys.readouterr().out
    for wrong, says in (
        (paths[:1], "give two or more qrels by name"),
        ([paths[0], paths[0]], "are given twice"),
        ([paths[0], "-"], "standard input"),
    ):
        assert cli.main(["judges", str(run), *wrong]) == 2
        assert says in capsys.readouterr().err
