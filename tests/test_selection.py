"""Pairs to judge next: weights by arithmetic, and errors against pools by depth."""

import csv
import io
import math
from pathlib import Path

import pytest

import germane
from germane import cli

RUNS = {"a": {"q": ["x", "y", "d"], "p": ["m"]}, "b": {"q": ["y", "d", "x"]}}
QRELS = {"q": {"d": 1}}


@pytest.mark.parametrize(
    ("measure", "weight"),
    [
        ("RR", lambda rank: 1 / rank),
        ("nDCG@10", lambda rank: 1 / math.log2(rank + 1)),
        ("RBP(p=0.8)", lambda rank: 0.2 * 0.8 ** (rank - 1)),
        ("P@2", lambda rank: 0.5 * (rank <= 2)),
    ],
)
def test_weights_are_added_up_over_runs(measure, weight) -> None:  # type: ignore[no-untyped-def]
    found = germane.choose_judgments(QRELS, RUNS, measure)
    weights = {(one.query, one.item): one.weight for one in found}
    expected = {
        ("q", "x"): weight(1) + weight(3),
        ("q", "y"): weight(2) + weight(1),
        ("p", "m"): weight(1),
    }
    assert weights == pytest.approx(expected)
    assert list(weights.values()) == sorted(weights.values(), reverse=True)
    assert found.left == 0
    assert set(found.open_after.values()) == {0.0}


def test_difference_leaves_out_what_both_runs_have_at_one_rank() -> None:
    runs = {"a": {"q": ["s", "x", "d"]}, "b": {"q": ["s", "d", "x"]}}
    found = germane.choose_judgments(QRELS, runs, "RR", by="difference")
    assert [(one.item, one.weight) for one in found] == [("x", pytest.approx(1 / 2 - 1 / 3))]


def test_budget_and_what_is_left() -> None:
    found = germane.choose_judgments(QRELS, RUNS, "RR", budget=1)
    assert [one.item for one in found] == ["y"]
    assert found.left == 2
    assert found.open_before["b"] == pytest.approx((1 + 1 / 3) / (1 + 1 / 2 + 1 / 3))
    assert found.open_after["b"] == pytest.approx((1 / 3) / (1 + 1 / 2 + 1 / 3))
    assert "2 more have a weight" in str(found)


def test_equal_weights_do_not_depend_on_the_order_of_rows() -> None:
    a, b = {"q": {"y": 3.0, "x": 2.0, "d": 1.0}}, {"q": {"x": 3.0, "y": 2.0, "d": 1.0}}
    turned = [{"q": dict(reversed(run["q"].items()))} for run in (a, b)]
    for first, second in ((a, b), (b, a), turned):
        found = germane.choose_judgments(QRELS, {"one": first, "two": second}, "RR")
        assert [(one.item, one.weight) for one in found] == [("x", 1.5), ("y", 1.5)]


def test_negative_grades_are_not_judged_yet() -> None:
    found = germane.choose_judgments({"q": {"d": 1, "x": -1}}, RUNS, "RR")
    assert ("q", "x") in {(one.query, one.item) for one in found}


def test_ids_stay_text_that_looks_like_numbers() -> None:
    runs = {"a": {"1": {"01": 2.0, "1": 1.0}}}
    found = germane.choose_judgments({"1": {"9": 1}}, runs, "RR")
    assert [one.item for one in found] == ["01", "1"]


def test_numbers_are_the_digits_of_a_file(tmp_path: Path) -> None:
    """Runs of text and of numbers share the items that integers judge."""
    path = tmp_path / "a.run"
    path.write_text("1 Q0 -5 1 0.3 t\n1 Q0 7 2 0.2 t\n2 Q0 8 1 0.1 t\n")
    numbers = {1: {-5: 0.3, 7: 0.2}, 2: {8: 0.1}}
    qrels = {1: {-5: 1}, 2: {9: 1}}
    for runs in ({"a": path, "b": path}, {"a": path, "b": numbers}, {"a": numbers, "b": path}):
        found = germane.choose_judgments(qrels, runs, "nDCG@4")
        expected = germane.choose_judgments(qrels, {"a": numbers, "b": numbers}, "nDCG@4")
        assert [(str(one.item), one.weight) for one in found] == [
            (str(one.item), one.weight) for one in expected
        ]
        assert len(found) == 2


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"budget": 0}, "budget takes a whole number"),
        ({"by": "luck"}, "by takes weight or difference"),
        ({"measure": "NumQ"}, "gives no weight to ranks"),
        ({"runs": {"a": RUNS["a"]}, "by": "difference"}, "at least two runs"),
    ],
)  # fmt: skip
def test_errors(changes, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(germane.GermaneError, match=says):
        germane.choose_judgments(QRELS, **{"runs": RUNS, "measure": "RR", **changes})


def test_command_writes_a_file_to_fill_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, one, two = (str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run"))
    Path(qrels).write_text("q 0 d 1\n", "utf-8")
    Path(one).write_text("q Q0 x 1 3 t\nq Q0 y 2 2 t\nq Q0 d 3 1 t\np Q0 m 1 1 t\n", "utf-8")
    Path(two).write_text("q Q0 y 1 3 t\nq Q0 d 2 2 t\nq Q0 x 3 1 t\n", "utf-8")
    assert cli.main(["next", qrels, one, two, "-m", "RR", "-n", "2", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["query"], row["item"], row["grade"]) for row in rows] == [
        ("q", "y", ""),
        ("q", "x", ""),
    ]
    filled = tmp_path / "filled.csv"
    lines = (f"{row['query']},{row['item']},1,{row['weight']}\n" for row in rows)
    filled.write_text("query,item,grade,weight\n" + "".join(lines), "utf-8")
    assert len(germane.read_qrels(filled).items) == 2
    assert cli.main(["next", qrels, one, "-m", "RR AP"]) == 2
    assert cli.main(["next", qrels, one, "-m", "RR", "--by", "difference"]) == 2


def test_runs_need_names() -> None:
    with pytest.raises(germane.errors.InputError, match="runs are a mapping of name to run"):
        germane.choose_judgments({"q": {"d": 1}}, [{"q": ["x"]}], "RR")  # type: ignore[arg-type]


def test_a_run_without_results_has_nothing_to_judge() -> None:
    assert not germane.choose_judgments({"q": {"d": 1}}, {"a": {"q": []}}, "nDCG@10")
    excluded = {"exclude": {"q": ["x"]}}
    assert not germane.choose_judgments({"q": {"d": 1}}, {"a": {"q": ["x"]}}, "RR", **excluded)


def test_nothing_to_judge_is_said() -> None:
    found = germane.choose_judgments({"q": {"a": 1}}, {"one": {"q": ["a"]}}, "P@1")
    assert "there is nothing to judge" in str(found)
