"""Each choice of each convention, on examples small enough to compute by hand."""

import json
from dataclasses import asdict
from math import exp, isnan, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import Policy
from germane.errors import CoverageError, DuplicateError, PolicyError

from sizes import set_sizes
from strategies import WORDS


def mean(qrels: Any, run: Any, measure: str, **policy: Any) -> float:
    return germane.evaluate(qrels, run, measure, **policy)[measure].mean


def one_query(judged: Any, got: Any, measure: str, **policy: Any) -> float:
    return mean({"q": judged}, {"q": got}, measure, **policy)


def run_file(folder: Path, *rows: tuple[str, float]) -> Path:
    """A run file with one query, q."""
    path = folder / "made.run"
    lines = [f"q Q0 {item} {i} {score} tag\n" for i, (item, score) in enumerate(rows, 1)]
    path.write_text("".join(lines), "utf-8")
    return path


# ------------------------------------------------------------------------------------ duplicates

AB = {"a": 1, "b": 1}


@pytest.mark.parametrize(
    ("duplicates", "left", "value"),
    [
        ("first", "a x b", (1 / 1 + 2 / 3) / 2),
        ("last", "x a b", (1 / 2 + 2 / 3) / 2),
        ("max", "a x b", (1 / 1 + 2 / 3) / 2),  # the first copy is the one ranked highest
    ],
)
def test_duplicates_in_lists(duplicates: str, left: str, value: float) -> None:
    got = ["a", "x", "a", "b"]
    assert one_query(AB, got, "AP", duplicates=duplicates) == value
    assert one_query(AB, left.split(), "AP") == value
    assert one_query(AB, got, "NumRet", duplicates=duplicates) == 3


def test_duplicates_kept_in_lists_stand_at_their_ranks() -> None:
    got = ["a", "x", "a", "b"]
    assert one_query(AB, got, "NumRet", duplicates="keep") == 4
    assert one_query(AB, got, "RR", duplicates="keep") == 1
    assert one_query({"b": 1}, got, "RR", duplicates="keep") == 1 / 4


def test_duplicates_in_lists_are_an_error_with_both_ranks() -> None:
    with pytest.raises(
        DuplicateError, match="query 'q': item 'a' is retrieved twice, at ranks 1 and 3"
    ):
        one_query(AB, ["a", "x", "a", "b"], "AP")
    with pytest.raises(DuplicateError, match="item 'x'"):  # an unjudged copy moves ranks, too
        one_query(AB, ["x", "a", "x", "b"], "AP")


@pytest.mark.parametrize(
    ("duplicates", "order", "value"),
    [
        ("first", "x4 a3 b2", (1 / 2 + 2 / 3) / 2),
        ("last", "x4 b2 a1", (1 / 2 + 2 / 3) / 2),
        ("max", "a5 x4 b2", (1 / 1 + 2 / 3) / 2),
    ],
)
def test_duplicates_in_files(tmp_path: Path, duplicates: str, order: str, value: float) -> None:
    path = run_file(tmp_path, ("a", 3), ("x", 4), ("a", 5), ("b", 2), ("a", 1))
    for run in (path, germane.read_run(path)):
        assert mean({"q": AB}, run, "AP", duplicates=duplicates) == value
        assert mean({"q": {"b": 1}}, run, "RR", duplicates=duplicates) == 1 / (
            [item[0] for item in order.split()].index("b") + 1
        )


def test_duplicates_kept_in_files_stand_at_their_ranks(tmp_path: Path) -> None:
    path = run_file(tmp_path, ("a", 3), ("x", 4), ("a", 5), ("b", 2), ("a", 1))
    for run in (path, germane.read_run(path)):  # a x a b a
        assert mean({"q": {"b": 1}}, run, "RR", duplicates="keep") == 1 / 4
        assert mean({"q": {"b": 1}}, run, "NumRet", duplicates="keep") == 5


def test_duplicates_in_files_are_an_error_with_both_lines(tmp_path: Path) -> None:
    path = run_file(tmp_path, ("a", 3), ("x", 4), ("a", 5))
    with pytest.raises(DuplicateError, match=r"made.run:3: item 'a' is retrieved twice .* line 1"):
        mean({"q": AB}, path, "AP")
    with pytest.raises(DuplicateError, match="item 'a' is retrieved twice for query 'q'"):
        mean({"q": AB}, germane.read_run(path), "AP")


@pytest.mark.parametrize(("duplicates", "grade"), [("first", 1), ("last", 2), ("max", 3)])
def test_duplicates_in_qrels_files(tmp_path: Path, duplicates: Any, grade: int) -> None:
    path = tmp_path / "qrels"
    path.write_text("q 0 a 1\nq 0 b 0\nq 0 a 3\nq 0 a 2\n", "utf-8")
    assert mean(path, {"q": ["a"]}, "DCG", duplicates=duplicates) == grade
    assert list(germane.read_qrels(path, duplicates=duplicates).items) == ["a", "b"] or grade > 1
    assert sorted(germane.read_qrels(path, duplicates=duplicates).grades) == [0, grade]
    for word in ("error", "keep"):  # one item cannot have two grades
        with pytest.raises(DuplicateError, match=r"qrels:3: item 'a' is judged twice .* line 1"):
            mean(path, {"q": ["a"]}, "DCG", duplicates=word)


@pytest.mark.parametrize("duplicates", ["first", "last", "max"])
def test_judgments_of_which_one_is_repeated(duplicates: Any, tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_text("q 0 a 1\nr 0 a 2\nq 0 b 0\nr 0 b 1\nq 0 a 3\n", "utf-8")
    found = germane.read_qrels(path, duplicates=duplicates)
    of = [found.queries[q] for q in np.repeat([0, 1], np.diff(found.offsets))]
    pairs = dict(zip(zip(of, found.items, strict=True), found.grades.tolist(), strict=True))
    grade = 1 if duplicates == "first" else 3
    assert pairs == {("q", "a"): grade, ("q", "b"): 0, ("r", "a"): 2, ("r", "b"): 1}


def test_duplicates_among_relevant_items() -> None:
    qrels = {"q": ["a", "b", "a"]}
    with pytest.raises(DuplicateError, match="qrels, query 'q': item 'a' is judged twice"):
        mean(qrels, {"q": ["a"]}, "R")
    assert mean(qrels, {"q": ["a"]}, "R", duplicates="first") == 1 / 2


# ------------------------------------------------------------------------------------------ ties

TIED = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}


@pytest.mark.parametrize(
    ("ties", "value"),
    [
        ("trec", 1 / 3),  # a d c b
        ("given", 1 / 3),  # a b c d
        ("best", 1 / 2),
        ("worst", 1 / 4),
        ("expected", (1 / 2 + 1 / 3 + 1 / 4) / 3),
    ],
)
def test_ties(ties: str, value: float) -> None:
    assert one_query({"c": 1}, TIED, "RR", ties=ties) == pytest.approx(value, rel=1e-15)


def test_ties_in_the_order_given_and_of_ids() -> None:
    assert one_query({"b": 1}, TIED, "RR", ties="trec") == 1 / 4
    assert one_query({"b": 1}, TIED, "RR", ties="given") == 1 / 2
    assert one_query({"b": 1}, {"c": 1.0, "b": 1.0}, "RR", ties="given") == 1 / 2


@pytest.mark.parametrize("tied", [0, 1, 2])
def test_ties_in_one_query_leave_the_others_alone(tied: int) -> None:
    """Each query has its hit at rank 2; in one of them another item has the same score."""
    run = {f"q{q}": {"z": 3.0, "a": 2.0, "b": 2.0 if q == tied else 1.0} for q in range(3)}
    result = germane.evaluate({query: {"a": 1} for query in run}, run, "RR", ties="best")
    assert result["RR"].per_query == {"q0": 1 / 2, "q1": 1 / 2, "q2": 1 / 2}
    assert result["RR"].worst == (1 / 2 + 1 / 2 + 1 / 3) / 3
    assert result.counts.tied == 1


@pytest.mark.parametrize("rank", [4094, 4095, 4096, 4097, 10_000])
def test_a_discount_far_down_is_that_of_its_rank(rank: int) -> None:
    got = [*map(str, range(rank - 1)), "a"]
    assert one_query({"a": 1}, got, "DCG") == 1 / log2(rank + 1)


@pytest.mark.parametrize("ties", WORDS["ties"])
@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("short", [0, 10**6])
def test_few_results_and_many_have_the_same_ranks(
    few: int, short: int, ties: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few judged items and results are looked for one by one; files are read otherwise."""
    set_sizes(monkeypatch, few_lists=few)
    set_sizes(monkeypatch, short_lists=short)
    rng = np.random.default_rng(few + short)
    for results, judged in ((1, 1), (3, 9), (40, 7), (90, 30)):
        items = [f"d{i}" for i in rng.permutation(100)]
        run = {"q": dict(zip(items, rng.integers(0, 9, results).tolist(), strict=False))}
        qrels = {"q": {items[0]: 1, **{f"d{i}": i % 3 for i in rng.integers(0, 100, judged)}}}
        path = tmp_path / "run"
        path.write_text("".join(f"q Q0 {d} 1 {s} t\n" for d, s in run["q"].items()))
        name = "RR" if ties == "middle" else "AP"
        expected = germane.evaluate(qrels, path, name, ties=ties)
        result = germane.evaluate(qrels, run, name, ties=ties)
        assert result[name].mean == expected[name].mean
        assert (result[name].best, result[name].worst) == (
            expected[name].best,
            expected[name].worst,
        )
        assert result.counts == expected.counts


def test_ids_are_ordered_by_their_utf_8_bytes() -> None:
    """U+FFEE is three bytes from EF, 😀 four from F0; in UTF-16 😀 would come first."""
    got = {"\uffee": 1.0, "😀": 1.0, "z": 1.0, "10": 1.0, "9": 1.0}
    for rank, item in enumerate(["😀", "\uffee", "z", "9", "10"], 1):
        assert one_query({item: 1}, got, "RR") == 1 / rank


def test_best_and_worst_order_grades_unjudged_and_negative() -> None:
    """Best: 2, 1, 0, unjudged, -1, -2; worst: the reverse."""
    judged = {"g2": 2, "g1": 1, "g0": 0, "m1": -1, "m2": -2}
    got = dict.fromkeys(["m1", "g0", "g2", "u", "m2", "g1"], 1.0)
    assert one_query(judged, got, "DCG", ties="best") == 2 / log2(2) + 1 / log2(3)
    assert one_query(judged, got, "DCG", ties="worst") == 1 / log2(6) + 2 / log2(7)
    assert one_query(judged, got, "Unjudged@3", ties="best") == 0
    assert one_query(judged, got, "Unjudged@3", ties="worst") == 3 / 3
    assert one_query(judged, got, "Judged@4", ties="best") == 3 / 4
    assert one_query(judged, got, "Judged@4", ties="worst") == 1 / 4


def log2(number: float) -> float:
    return float(np.log2(number))


def test_minus_zero_ties_with_zero_and_neighbouring_doubles_do_not_tie() -> None:
    assert one_query({"a": 1}, {"a": 0.0, "b": -0.0}, "RR", ties="worst") == 1 / 2
    assert one_query({"a": 1}, {"a": 0.1 + 2**-56, "b": 0.1}, "RR", ties="worst") == 1


def test_scores_that_no_double_can_add_up() -> None:
    got = {"b": 1.7e308, "a": 1.6e308, "c": -1.7e308}
    assert one_query({"a": 1}, got, "RR") == 1 / 2
    with pytest.raises(germane.errors.ScoreError, match="item 'd'"):
        one_query({"a": 1}, {**got, "d": float("inf")}, "RR")


def test_the_default_is_trec_for_scores_and_given_for_lists(tmp_path: Path) -> None:
    scored = germane.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    listed = germane.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR")
    filed = germane.evaluate({"q": {"a": 1}}, run_file(tmp_path, ("a", 1)), "RR")
    assert [r.policy.ties for r in (scored, listed, filed)] == ["trec", "given", "trec"]
    assert germane.evaluate({"q": ["a"]}, {"q": ["a"]}, "RR", ties="best").policy.ties == "best"


# --------------------------------------------------------------------------------------- missing

TWO = {"q1": {"a": 1}, "q2": {"a": 1}}


@pytest.mark.parametrize(
    ("missing", "value", "queries"),
    [("zero", (1 / 2 + 0) / 2, ["q1", "q2"]), ("skip", 1 / 2, ["q1"])],
)
def test_missing(missing: str, value: float, queries: list[str]) -> None:
    result = germane.evaluate(TWO, {"q1": ["x", "a"]}, "RR NumQ", missing=missing)  # type: ignore[arg-type]
    assert result["RR"].mean == value
    assert list(result["RR"].per_query) == result["RR"].queries == queries
    assert result["NumQ"].mean == len(queries)
    assert (result.counts.judged, result.counts.answered, result.counts.missing) == (2, 1, 1)


def test_missing_can_be_an_error() -> None:
    with pytest.raises(CoverageError, match=r"not in the run: 'q2' \(1 of 2 judged queries\)"):
        mean(TWO, {"q1": ["x", "a"]}, "RR", missing="error")
    assert mean(TWO, {"q1": ["a"], "q2": []}, "RR", missing="error") == 1 / 2


def test_a_query_without_results_is_not_missing() -> None:
    result = germane.evaluate(TWO, {"q1": ["a"], "q2": []}, "RR", missing="skip")
    assert result["RR"].per_query == {"q1": 1, "q2": 0}
    assert result.counts.missing == 0


def test_skipping_keeps_each_query_with_its_own_judgments() -> None:
    qrels = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1}, "q3": {"c": 3, "d": 1, "e": 0}}
    run = {"q3": {"c": 1.0, "d": 2.0}, "q1": {"b": 1.0}}
    result = germane.evaluate(qrels, run, "NumRel DCG", missing="skip")
    assert result["NumRel"].per_query == {"q1": 2, "q3": 2}
    assert result["DCG"].per_query == {"q1": 2, "q3": 1 + 3 / log2(3)}
    assert (result["DCG"].best, result["DCG"].worst) == (result["DCG"].mean,) * 2


def test_queries_that_nobody_judged_are_left_out_and_counted() -> None:
    result = germane.evaluate(TWO, {"q1": ["a"], "other": ["a"], "q2": ["a"], "more": []}, "RR")
    assert result["RR"].per_query == {"q1": 1, "q2": 1}
    assert result.counts.unjudged_queries == 2


def test_no_query_in_common_is_an_error() -> None:
    with pytest.raises(
        CoverageError,
        match="run: 'Q1'; qrels: 'q1', 'q2'  'Q1' and 'q1' differ only in letter case",
    ):
        mean(TWO, {"Q1": ["a"]}, "RR")


def test_kept_copies_occupy_ranks_where_unjudged_items_are_removed() -> None:
    for got in (["a", "a", "b"], ["a", "x", "a", "y", "b"]):
        value = one_query({"a": 1, "b": 1}, got, "AP", duplicates="keep", unjudged="remove")
        assert value == (1 / 1 + 2 / 3) / 2


# -------------------------------------------------------------------------------------- unjudged


def test_unjudged_items_are_removed_before_ranks_are_counted() -> None:
    judged, got = {"a": 1, "b": 1, "n": 0, "m": -1}, ["x", "a", "m", "n", "y", "b"]
    assert one_query(judged, got, "AP", unjudged="nonrelevant") == (1 / 2 + 2 / 6) / 2
    assert one_query(judged, got, "AP", unjudged="remove") == (1 / 1 + 2 / 3) / 2  # a n b
    assert one_query(judged, got, "NumRet", unjudged="remove") == 3
    assert one_query(judged, got, "Judged", unjudged="remove") == 1


def test_unjudged_items_are_removed_after_the_depth_is_cut() -> None:
    got = ["x", "a", "y", "b"]
    assert one_query(AB, got, "NumRet", unjudged="remove", depth=3) == 1  # a
    assert one_query(AB, got, "AP", unjudged="remove", depth=3) == (1 / 1) / 2


def test_unjudged_items_leave_their_ties() -> None:
    """Of a, x and b, tied, a and b stay tied: b is first or second."""
    got = {"b": 1.0, "x": 1.0, "a": 1.0}
    judged = {"a": 0, "b": 1}
    assert one_query(judged, got, "RR", ties="expected") == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    removed = germane.evaluate({"q": judged}, {"q": got}, "RR", ties="expected", unjudged="remove")[
        "RR"
    ]
    assert removed.mean == (1 + 1 / 2) / 2
    assert (removed.best, removed.worst) == (1, 1 / 2)
    alone = germane.evaluate({"q": {"b": 1}}, {"q": got}, "RR", unjudged="remove")["RR"]
    assert (alone.mean, alone.best, alone.worst) == (1, 1, 1)


def test_unjudged_items_removed_from_a_tie_that_the_depth_cuts() -> None:
    got = {"top": 2.0, "b": 1.0, "x": 1.0, "a": 1.0}
    policy: dict[str, Any] = {"unjudged": "remove", "ties": "expected"}
    with pytest.raises(
        PolicyError, match="a depth that cuts through tied items has no closed form"
    ):
        one_query({"a": 0, "b": 1}, got, "RR", depth=2, **policy)
    assert one_query({"a": 0, "b": 1}, got, "RR", depth=1, **policy) == 0
    assert one_query({"a": 0, "b": 1}, got, "RR", depth=4, **policy) == (1 + 1 / 2) / 2
    trec = {"unjudged": "remove", "depth": 2}  # top x | b a
    assert one_query({"a": 0, "b": 1}, got, "RR", **trec) == 0
    assert one_query({"x": 1}, got, "RR", **trec) == 1  # top is gone, x is first
    assert one_query({"a": 0, "b": 1}, got, "RR", ties="best", **trec) == 1
    assert one_query({"a": 0, "b": 1}, got, "RR", ties="worst", **trec) == 0


# ------------------------------------------------------------------------------------ no_relevant

NONE_IN_Q2 = {"q1": {"a": 1}, "q2": {"a": 0}}
A_SECOND = {"q1": ["x", "a"], "q2": ["x", "a"]}


@pytest.mark.parametrize(
    ("no_relevant", "value", "per_query"),
    [
        ("zero", (1 / 2 + 0) / 2, {"q1": 1 / 2, "q2": 0}),
        ("skip", 1 / 2, {"q1": 1 / 2}),
        ("one", (1 / 2 + 1) / 2, {"q1": 1 / 2, "q2": 1}),
    ],
)
def test_no_relevant(no_relevant: Any, value: float, per_query: dict[str, float]) -> None:
    result = germane.evaluate(NONE_IN_Q2, A_SECOND, "AP", no_relevant=no_relevant)
    assert result["AP"].mean == value
    assert result["AP"].per_query == per_query
    assert result["AP"].queries == ["q1", "q2"]
    assert result.counts.without_relevant == 1


def test_no_relevant_can_be_nan() -> None:
    result = germane.evaluate(NONE_IN_Q2, A_SECOND, "AP", no_relevant="nan")["AP"]
    assert isnan(result.mean)
    assert isnan(result.per_query["q2"])
    assert result.per_query["q1"] == 1 / 2


def test_no_relevant_can_be_an_error() -> None:
    with pytest.raises(
        CoverageError, match=r"AP: without a relevant item: 'q2' \(1 of 2 queries\)"
    ):
        mean(NONE_IN_Q2, A_SECOND, "AP", no_relevant="error")
    assert mean({"q1": {"a": 1}}, A_SECOND, "AP", no_relevant="error") == 1 / 2


def test_no_relevant_asks_each_measure_what_it_takes_for_relevant() -> None:
    qrels = {"q1": {"a": 2}, "q2": {"a": 1}}
    result = germane.evaluate(
        qrels, A_SECOND, "AP AP(rel=2) nDCG nDCG(gain=1:0_2:1)", no_relevant="skip"
    )
    assert {name: len(one.per_query) for name, one in result.items()} == {
        "AP": 2,
        "AP(rel=2)": 1,
        "nDCG": 2,
        "nDCG(gain=1:0_2:1)": 1,
    }


@pytest.mark.parametrize("no_relevant", ["zero", "skip", "one", "nan", "error"])
def test_no_relevant_leaves_alone_what_needs_none(no_relevant: Any) -> None:
    qrels = {"q": {"a": 0}}
    result = germane.evaluate(
        qrels, {"q": ["x", "a"]}, "NumRet Judged@4 RBPResidual(p=0.5)", no_relevant=no_relevant
    )
    assert result["NumRet"].mean == 2
    assert result["Judged@4"].mean == 1 / 4
    assert result["RBPResidual(p=0.5)"].mean == 1 - 0.5 * 0.5


def test_every_query_skipped_leaves_no_mean() -> None:
    result = germane.evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP", no_relevant="skip")["AP"]
    assert isnan(result.mean)
    assert result.per_query == {}


# --------------------------------------------------------------------------------------- relevant

THREE = {"a": 1, "b": 1, "c": 2}


def test_relevant_items_that_are_not_listed_do_not_count() -> None:
    got = ["a", "x", "b"]
    assert one_query(THREE, got, "R@2", relevant="listed") == 1 / 2
    assert one_query(THREE, got, "R@2") == 1 / 3
    assert one_query(THREE, got, "AP", relevant="listed") == (1 + 2 / 3) / 2
    assert one_query(THREE, got, "nDCG@2", relevant="listed") == pytest.approx(
        1 / (1 + log(2) / log(3)), rel=1e-15
    )
    assert one_query(THREE, got, "NumRel", relevant="listed") == 2


def test_the_whole_list_counts() -> None:
    """Whatever its depth, its lowest score, or the sign of scores: what is listed there was given to the tool."""
    got = {"a": 2.0, "x": 1.0, "b": 0.5, "c": -1.0}
    for policy in ({"depth": 2}, {"min_score": 0.75}, {"min_score": -5.0, "depth": 1}):
        assert one_query(THREE, got, "R", relevant="listed", **policy) == 1 / 3
    assert one_query(THREE, got, "R", relevant="listed", nonpositive="miss") == 2 / 3
    del got["c"]
    assert one_query(THREE, got, "R", relevant="listed", min_score=0.75) == 1 / 2
    again = ["a", "a", "x"]
    assert one_query(THREE, again, "NumRel", relevant="listed", duplicates="recount") == 1
    own = {"q": 2.0, "a": 1.0}
    assert one_query({"q": 1, "a": 1}, own, "R@1", relevant="listed", own="drop") == 1


def test_a_query_without_listed_relevant_items_has_none() -> None:
    qrels, run = {"q": ["a"], "r": ["b"], "s": ["c"]}, {"q": ["a"], "r": ["x"]}
    result = germane.evaluate(qrels, run, "AP", relevant="listed", no_relevant="one")
    assert result["AP"].per_query == {"q": 1.0, "r": 1.0, "s": 0.0}  # s is missing, and 0
    assert result.counts.without_relevant == 1
    assert mean(qrels, run, "AP", relevant="listed", no_relevant="skip", missing="skip") == 1
    assert mean(qrels, run, "AP", relevant="listed", no_relevant="zero", missing="skip") == 1 / 2


def test_what_was_not_listed_was_not_missed() -> None:
    explained = germane.explain({"q": THREE}, {"q": ["a", "x"]}, "R@2", relevant="listed")
    assert explained.missed == ()
    assert explained.relevant == 1
    assert "relevant=listed" in str(explained)
    curve = germane.pr_curve({"q": THREE}, {"q": ["a", "x", "b"]}, relevant="listed")
    assert curve.recall.tolist() == [1 / 2, 1 / 2, 1]
    kept = germane.evaluate({"q": THREE}, {"q": ["a", "x"]}, "R@2", relevant="listed")
    assert kept.policy.to_dict()["relevant"] == "listed"


def test_relevant_takes_two_words() -> None:
    with pytest.raises(PolicyError, match="relevant takes judged or listed; got 'list'"):
        one_query(THREE, ["a"], "R", relevant="list")
    with pytest.raises(
        germane.errors.InputError, match="relevant is a sequence of relevance grades"
    ):
        germane.explain([1, 0], "AP", relevant="listed")
    with pytest.raises(germane.errors.InputError, match="the judgments say what is relevant"):
        germane.explain({"q": THREE}, {"q": ["a"]}, "AP", relevant=3)


@pytest.mark.parametrize("policy", [{"nonpositive": "miss"}, {"min_score": 0.5}])
def test_what_reads_a_run_once_refuses_to_guess(policy: Any) -> None:
    batches = germane.Evaluator({"q": THREE}, "R", relevant="listed", **policy)
    batches.update({"q": {"a": 1.0}})
    with pytest.raises(PolicyError, match=r"with .*, relevant=listed needs to read the run twice"):
        batches.result()


def test_misses_keep_their_ranks_where_unjudged_items_are_removed() -> None:
    """a is a hit, x is removed, b keeps its rank; the pooled p is not judged."""
    judged, got = {**AB, "p": -1}, {"a": 2.0, "x": 1.0, "b": -1.0, "p": -1.0}
    policy: Any = {"nonpositive": "miss", "unjudged": "remove"}
    values = {name: one_query(judged, got, name, **policy) for name in ("P", "NumRet", "R", "AP")}
    assert values == {"P": 1 / 2, "NumRet": 2, "R": 1 / 2, "AP": 1 / 2}
    assert one_query(judged, got, "P", **policy, depth=2) == 1
    batches = germane.Evaluator({"q": judged, "r": judged}, "P NumRet", **policy)
    for query in "rq":
        batches.update({query: got})
    assert batches.result()["P"].per_query == {"q": 1 / 2, "r": 1 / 2}
    with pytest.raises(PolicyError, match="a depth that cuts through tied items"):
        one_query(judged, {"a": 2.0, "b": -1.0, "p": -1.0}, "P", **policy, depth=2, ties="expected")


# ------------------------------------------------------------------------------------------ depth


@pytest.mark.parametrize(
    ("depth", "value", "retrieved"),
    [(None, (1 / 2 + 2 / 4) / 2, 4), (9, (1 / 2 + 2 / 4) / 2, 4), (3, (1 / 2) / 2, 3), (1, 0, 1)],
)
def test_depth(depth: int | None, value: float, retrieved: int) -> None:
    got = ["x", "a", "y", "b"]
    assert one_query(AB, got, "AP", depth=depth) == value
    assert one_query(AB, got, "NumRet", depth=depth) == retrieved
    assert (
        one_query(AB, got, "P", depth=depth)
        == (2 if retrieved == 4 else retrieved // 2) / retrieved
    )


def test_depth_is_cut_in_the_order_of_ties() -> None:
    got = {"a": 1.0, "b": 1.0, "c": 1.0}
    assert one_query({"a": 1}, got, "R", depth=1) == 0  # c b a
    assert one_query({"a": 1}, got, "R", depth=1, ties="given") == 1
    assert one_query({"a": 1}, got, "R", depth=1, ties="best") == 1
    assert one_query({"a": 1}, got, "R", depth=1, ties="worst") == 0
    assert one_query({"a": 1}, got, "R", depth=1, ties="expected") == 1 / 3


# ------------------------------------------------------------------------------------------ means


def test_geometric_mean_has_a_floor() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": ["x", "a"], "q2": ["x", "y"]}
    value = mean(qrels, run, "AP(mean=geometric)")
    assert value == pytest.approx(exp((log(1 / 2) + log(0.00001)) / 2), rel=1e-12)
    assert germane.evaluate(qrels, run, "GMAP")["AP(mean=geometric)"].per_query == {
        "q1": 0.5,
        "q2": 0,
    }


def test_geometric_mean_of_queries_that_count() -> None:
    value = mean(NONE_IN_Q2, A_SECOND, "AP(mean=geometric)", no_relevant="skip")
    assert value == pytest.approx(1 / 2, rel=1e-15)


def test_counts_are_summed() -> None:
    assert mean(TWO, {"q1": ["a", "x"], "q2": ["a"]}, "NumRet") == 2 + 1


# -------------------------------------------------------------------------- ties and their share


def test_tie_band() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {
        "q1": {"a": 1.0, "x": 1.0},  # rank 1 or 2
        "q2": {"a": 2.0, "x": 1.0, "y": 1.0},  # only others tie
        "q3": {"a": 1.0, "x": 1.0, "y": 1.0, "top": 2.0},  # rank 2, 3 or 4
    }
    result = germane.evaluate(qrels, run, "RR")
    assert result["RR"].best == pytest.approx((1 / 1 + 1 + 1 / 2) / 3, rel=1e-15)
    assert result["RR"].worst == pytest.approx((1 / 2 + 1 + 1 / 4) / 3, rel=1e-15)
    assert result["RR"].band == result["RR"].best - result["RR"].worst
    assert result["RR"].mean == pytest.approx((1 / 2 + 1 + 1 / 4) / 3, rel=1e-15)  # x, y before a
    assert result.counts.judged_items_retrieved == 3
    assert result.counts.tied == 2
    assert result.counts.tied_share == 2 / 3


def test_tie_band_is_that_of_the_policy() -> None:
    """Depth, removal and what counts without relevant items hold for best and worst, too."""
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}
    run = {"q1": {"a": 1.0, "b": 1.0, "x": 1.0}, "q2": {"a": 1.0}}
    plain = germane.evaluate(qrels, run, "RR")["RR"]
    assert (plain.best, plain.worst) == (1 / 2, (1 / 3) / 2)
    cut = germane.evaluate(qrels, run, "RR", depth=1, no_relevant="skip")["RR"]
    assert (cut.best, cut.worst) == (1, 0)
    removed = germane.evaluate(qrels, run, "RR", unjudged="remove", no_relevant="one")["RR"]
    assert (removed.best, removed.worst) == ((1 + 1) / 2, (1 / 2 + 1) / 2)


def test_without_ties_there_is_no_band() -> None:
    result = germane.evaluate({"q": AB}, {"q": {"a": 2.0, "x": 1.0, "y": 1.0}}, "AP")
    assert result["AP"].best == result["AP"].worst == result["AP"].mean == (1 / 1) / 2
    assert result.counts.tied_share == 0
    assert germane.evaluate({"q": AB}, {"q": ["x"]}, "AP").counts.tied_share == 0


def test_counts() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0.5}, "q3": {"a": 2}, "q4": {"c": -1}}
    run = {"q1": {"a": 1.0, "b": 1.0, "x": 0.5}, "q3": {"a": 1.0, "y": 1.0}, "q2": {}, "new": {}}
    counts = asdict(germane.evaluate(qrels, run, "AP").counts)
    assert {name: count for name, count in counts.items() if count} == {
        "judged": 4,
        "answered": 3,
        "missing": 1,
        "without_relevant": 2,
        "unjudged_queries": 1,
        "judged_items_retrieved": 3,
        "tied": 3,
    }


# ----------------------------------------------------------------------------------------- policy


@pytest.mark.parametrize("stage", WORDS)
def test_a_word_that_does_not_exist(stage: str) -> None:
    word = WORDS[stage][1]
    misspelt = word[:-1] + "q"
    with pytest.raises(PolicyError) as error:
        Policy(**{stage: misspelt})
    assert str(error.value).startswith(f"{stage} takes {WORDS[stage][0]}")
    assert str(error.value).endswith(f"; got {misspelt!r}. Did you mean {word!r}?")
    with pytest.raises(PolicyError, match=stage):
        germane.evaluate(TWO, {"q1": ["a"]}, "AP", **{stage: misspelt})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, True, 1, ["trec"], {}, np.array([1, 2])], ids=repr)
@pytest.mark.parametrize("stage", WORDS)
def test_what_is_not_even_a_word(stage: str, wrong: Any) -> None:
    with pytest.raises(PolicyError, match=f"^{stage} takes"):
        Policy(**{stage: wrong})
    with pytest.raises(PolicyError, match=f"^{stage} takes"):
        germane.evaluate(TWO, {"q1": ["a"]}, "AP", **{stage: wrong})


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, 2.0, "3", [2]], ids=repr)
def test_depth_is_a_whole_number_from_1(wrong: Any) -> None:
    with pytest.raises(PolicyError, match=r"^depth must be a positive integer; got"):
        Policy(depth=wrong)
    with pytest.raises(PolicyError, match=r"^depth must be a positive integer; got"):
        germane.evaluate(TWO, {"q1": ["a"]}, "AP", depth=wrong)


@pytest.mark.parametrize("wrong", [-1, 16, True, np.True_, 1.0, "3", [2], np.array([2])], ids=repr)
@pytest.mark.parametrize("name", ["digits", "query_digits"])
def test_digits_are_a_whole_number_from_0_to_15(name: str, wrong: Any) -> None:
    with pytest.raises(PolicyError, match=f"^{name} takes a whole number from 0 to 15; got"):
        Policy(**{name: wrong})


def test_depth_can_be_any_integer_type_and_size() -> None:
    assert Policy(depth=np.int32(3)) == Policy(depth=3)  # type: ignore[arg-type]
    assert one_query(AB, ["a", "b"], "AP", depth=10**40) == 1


def test_policies_that_are_equal_print_alike() -> None:
    """Whichever of them a result was made with, another one has asked for the same."""
    for one, other in (
        ({"min_score": 1}, {"min_score": 1.0}),
        ({"digits": 1}, {"digits": np.int8(1)}),
    ):
        assert Policy(**one) == Policy(**other)  # type: ignore[arg-type]
        assert repr(Policy(**one)) == repr(Policy(**other))  # type: ignore[arg-type]
    made = [
        germane.evaluate({"q": {"a": 1}}, {"q": {"a": 2.0}}, "AP", min_score=t) for t in (1, 1.0)
    ]
    assert str(made[0].policy) == str(made[1].policy)


def test_a_policy_prints_what_differs_from_the_defaults() -> None:
    assert repr(Policy()) == "Policy()"
    assert repr(Policy(qrels_duplicates="last")) == "Policy(qrels_duplicates=last)"
    assert repr(Policy(ties="best", depth=3)) == "Policy(ties=best, depth=3)"
    assert Policy(missing="skip").to_dict() == {
        "duplicates": "error",
        "ties": "trec",
        "missing": "skip",
        "unjudged": "nonrelevant",
        "no_relevant": "zero",
        "depth": None,
    }


def test_every_result_carries_its_policy() -> None:
    result = germane.evaluate(TWO, {"q1": ["a"]}, "AP", missing="skip", depth=7)
    assert result.policy == Policy(ties="given", missing="skip", depth=7)


def test_the_policy_says_how_repeated_judgments_were_read(tmp_path: Path) -> None:
    """Where that was another choice than the run's, in text, in JSON, and in what is read back."""
    path = tmp_path / "a.qrels"
    path.write_text("q 0 a 0\nq 0 a 1\nother 0 b 1\n")
    run = {"q": {"a": 1.0}}
    last = germane.read_qrels(path, duplicates="last")
    result = germane.evaluate(last, run, "RR")
    assert result.policy == Policy(qrels_duplicates="last")
    assert "policy: duplicates=error (qrels: last), ties=trec" in str(result)
    saved = germane.evaluate_many(last, {"a": run}, "RR").to_dict(queries=True)
    assert saved["policy"]["duplicates"] == "error"
    assert saved["policy"]["qrels_duplicates"] == "last"
    (tmp_path / "saved.json").write_text(json.dumps(saved))
    assert germane.read_results(tmp_path / "saved.json")["a"].policy == result.policy
    for query in ("q", "other"):
        assert germane.explain(last, run, "RR", query=query).policy == result.policy
    assert germane.mean_pr_curve(last, run).policy == result.policy
    for choice in ("last", "max"):
        same = germane.read_qrels(path, duplicates=choice)
        policy = germane.evaluate(same, run, "RR", duplicates=choice).policy
        assert policy == Policy(duplicates=choice)
        assert str(policy).startswith(f"duplicates={choice}, ties=")
    with pytest.raises(PolicyError, match="qrels_duplicates takes error, first, "):
        Policy(qrels_duplicates="latest")  # type: ignore[arg-type]
