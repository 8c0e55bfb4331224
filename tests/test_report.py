"""A report shows the values that evaluate, compare and explain give."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.cli import main

from report_page import DIGITS, MEASURES, digits, embedded, of_digits, small, unpacked, words

# --- Numbers ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_means_are_those_of_evaluate() -> None:
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    text = words(of_digits())
    for result in results.values():
        for measure in result:
            assert f"{result[measure].mean:.4f}" in text
            assert f"{measure} {result[measure].definition}" in text


@pytest.mark.slow
def test_an_interval_is_that_of_the_difference_from_nothing() -> None:
    """The mean of a run is its mean difference from a run whose values are all 0.

    A difference has a range twice as wide, so that its interval comes from the range a little more often.
    """
    qrels = germane.read_qrels(DIGITS / "qrels.txt")
    nothing = {query: ["no such item"] for query in qrels.queries}
    equal = []
    for run in digits().values():
        runs = {"nothing": nothing, "run": run}
        results = germane.evaluate_many(qrels, runs, MEASURES)
        for pair in germane.compare(results).pairs:
            assert pair.interval is not None
            interval = results["run"][str(pair.measure)].interval()
            assert interval is not None
            assert f"{interval.low:.3f} – {interval.high:.3f}" in words(of_digits()), pair
            if pair.interval.basis == "spread":
                ends = pair.interval.low, pair.interval.high
                assert ends == pytest.approx((interval.low, interval.high), rel=1e-12)
                equal.append(str(pair.measure))
            else:
                assert pair.interval.low < interval.low
    assert equal


def test_sentences_and_tables_are_those_of_compare() -> None:
    comparison = germane.compare(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    text = words(of_digits())
    for pair in comparison.pairs:
        head, rest = pair.sentence.split("], ")
        assert f"{head}] {rest}" in text
    for row in comparison.table().rows:
        assert " ".join(cell for cell in row if cell) in text
    assert "b lda 0.5346 a" in text, "the letter of the run that it beats"


def test_values_of_all_queries_to_the_digits_shown() -> None:
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    shown = unpacked(embedded(of_digits()))
    for name, result in results.items():
        for measure in result:
            assert shown[measure][name] == {
                query: f"{value:.4f}" for query, value in result[measure].per_query.items()
            }


def test_rankings_are_those_of_explain() -> None:
    """Row by row and term by term, and besides each of the first ten ranks is a row."""
    data = embedded(of_digits())
    assert len(data["details"]) == 200, "all of them fit"
    for at in (0, 17, 199):
        query = data["queries"][at]
        for name, path in digits().items():
            run = data["runs"].index(name)
            explanation = germane.explain(str(DIGITS / "qrels.txt"), path, MEASURES, query=query)
            [one] = data["details"][str(at)][run]
            assert one["formulas"] == [reading.formula for reading in explanation.readings]
            assert one["missed"] == len(explanation.missed)
            assert one["names"] == [str(item) for item, _ in explanation.missed[:40]]
            rows = [row.split("\u00a0") for row in one["rows"].split("\n")]
            assert one["columns"] == ["rank", "item", "relevance", "hit", *MEASURES.split()]
            expected = {row[0]: [*row[:4], *row[6::2]] for row in explanation.table().rows}
            top = [line.split() for line in Path(path).read_text().splitlines()]
            top = [fields[2] for fields in top if fields[0] == query][:10]
            assert [row[0] for row in rows[:10]] == [str(rank) for rank in range(1, 11)]
            assert [row[1] for row in rows[:10]] == top
            beyond = [row for row in rows[10:] if row[0] in expected]
            assert len(rows) - 10 - len(beyond) <= 1, "the one that was cut at rank 10"
            assert all(row == expected[row[0]] for row in beyond)
            assert {row[0] for row in rows} >= {r[0] for r in expected.values() if r[3]}
            for row in rows[:10]:
                assert row == expected.get(row[0], [row[0], row[1], "–", "", *[""] * 5])


def test_curves_are_those_of_mean_pr_curve() -> None:
    text = words(of_digits())
    lines = re.findall(r'<polyline class="line r\d"[^>]* points="([^"]+)"', of_digits().html)
    assert len(lines) == 2
    assert list(digits()) == ["pixels", "lda"]
    for (name, path), line in zip(digits().items(), lines[::-1], strict=True):  # the best run first
        curve = germane.mean_pr_curve(str(DIGITS / "qrels.txt"), path)
        points = np.array([point.split(",") for point in line.split()], float)
        across, down = points[:, 0] - points[0, 0], points[-1, 1] - points[:, 1]
        assert np.allclose(across / across[-1], curve.recall, atol=1e-3)
        height = points[-1, 1] - points[0, 1]
        assert curve.precision[-1] == 0, "or the foot of the chart is elsewhere"
        assert np.allclose(down / height * curve.precision[0], curve.precision, atol=1e-3)
        assert f"{name} area (AP) {curve.area():.4f}" in text


# --- What stands out -------------------------------------------------------------------------------


def test_cautions() -> None:
    text = words(small())
    assert "few queries (2)" in text
    assert "b: 1 of 2 judged queries is missing from the run and counts as empty: 'q2'." in text
    assert "a: 1 query of the run is not in the qrels, and left out: 'q3'." in text
    # d1 alone is not tied: two of four judged items; RR is (1/1 or 1/2, and 1) / 2
    assert "50.0% of the judged items that a retrieved share their score" in text
    assert f"anything from {(1 / 2 + 1) / 2:.4f} to {1:.4f}" in text
    # a: all judged, of 3 and 1 items; b: 2 of 3 and nothing
    assert "Of the first ten results of b," in text
    assert "first ten results of a," not in text
    assert "b does not answer 1 of 2 judged queries; they are left out" in words(
        small(missing="skip")
    )
    zero = words(small(unknown="zero"))
    assert "a answers 1 query that nobody judged; they count as 0 (unknown=zero)" in zero
    assert "not in the qrels, and left out" not in zero
    assert "no relevant item" not in zero, "every judged query has one"
    assert embedded(small(unknown="zero"))["queries"] == ["q1", "q2", "q3"]


def test_ties_that_could_turn_the_order() -> None:
    qrels = {"q": ["d"]}
    tied, sure = {"q": {"d": 1.0, "a": 1.0, "b": 1.0}}, {"q": ["x", "d"]}
    said = "The order of ties alone could reverse the order of tied and sure on RR"
    assert said in words(germane.report(qrels, {"tied": tied, "sure": sure}, "RR"))
    first = {"q": ["d"]}
    assert "could turn" not in words(germane.report(qrels, {"tied": tied, "first": first}, "RR"))


def test_judgments_of_relevant_items_only() -> None:
    assert "Only relevant items are judged" in words(of_digits())
    assert "Only relevant items are judged" not in words(small())


def test_queries_without_relevant_items() -> None:
    qrels, runs = {"q1": {"d": 1}, "q2": {"d": 0}}, {"a": {"q1": ["d"], "q2": ["d"]}}
    for word, how in (
        ("nan", "makes means undefined"),
        ("skip", "is left out"),
        ("one", "counts as 1"),
    ):
        text = words(germane.report(qrels, runs, "AP", no_relevant=word))
        assert f"1 query without a relevant item {how} (no_relevant={word})" in text
    text = words(germane.report(qrels, {**runs, "b": runs["a"]}, "AP"))
    assert text.count("1 of 2 judged queries has no relevant item and counts as 0: 'q2'.") == 1


def test_nothing_stands_out() -> None:
    queries = [f"q{i}" for i in range(30)]
    qrels = {query: {"d": 1, "x": 0} for query in queries}
    run = {query: ["x", "d"][:: (-1) ** n] for n, query in enumerate(queries)}
    text = words(germane.report(qrels, {"a": run}, "AP"))
    assert "Nothing in the data stands out" in text
    assert "Ties do not change any number" in text


def test_tie_band() -> None:
    text = words(small())
    result = germane.evaluate(
        {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d4": 1}},
        {"q1": {"d2": 2.0, "d3": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}},
        "AP RR",
    )
    for measure in result:
        one = result[measure]
        assert f"a {measure} {one.worst:.4f} {one.mean:.4f} {one.best:.4f}" in text


# --- Other runs, measures and conventions ----------------------------------------------------------


def test_a_page_says_what_intervals_come_from() -> None:
    qrels = {f"q{i}": ["a"] for i in range(12)}
    run = {query: [*"wxyz"[: i % 3 and 4], "a"] for i, query in enumerate(qrels)}
    page = words(germane.report(qrels, {"run": run}, "RR Success@5", confidence=0.9))
    interval = germane.evaluate(qrels, run, "RR")["RR"].interval(confidence=0.9)
    assert interval is not None
    assert f"{interval.low:.3f} – {interval.high:.3f}" in page
    assert "its 90% interval, BCa bootstrap of the queries; from the range of the measure" in page


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"ties": "expected", "measures": "AP"}, "does not order equal scores: no rankings here"),
        ({"ties": "grouped", "measures": "AP"}, "does not order equal scores: no rankings here"),
        ({"missing": "skip"}, "1 query with a value for every run; 1 left out"),
        ({"measures": "AP(mean=geometric) NumRet"}, str(germane.NumRet.definition)),
        ({"measures": "R(mean=micro)@2 RR"}, "R(mean=micro)@2"),
        ({"measures": "AP P(rel=2)@5"}, "P(rel=2)@5"),
        ({"unjudged": "remove"}, "unjudged=remove"),
        ({"depth": 1}, "depth=1"),
        ({"baseline": "b"}, "a is ahead of b"),
        ({}, "fewer than 5 queries tell too little about others for an interval"),
        ({"title": "Spring"}, "Spring"),
    ],
    ids=str,
)
def test_choices(choices: dict[str, Any], said: str) -> None:
    made = small(**choices)
    assert said.lower() in words(made).lower()
    embedded(made)


def test_measures_of_different_rel_are_explained_apart() -> None:
    details = embedded(small(measures="AP P(rel=2)@5 RR"))["details"]
    assert [one["columns"][-2:] for one in details["0"][0]] == [["AP", "RR"], ["tie", "P(rel=2)@5"]]


def test_one_run_and_one_query() -> None:
    one = germane.report({"q": ["d"]}, {"a": {"q": ["x", "d"]}}, "RR")
    assert one.title == "a"
    assert "0.5000" in words(one)
    assert 'id="differences"' not in one.html
    with pytest.raises(germane.errors.NotFoundError, match="no run 'b'"):
        germane.report({"q": ["d"]}, {"a": {"q": ["d"]}}, "RR", baseline="b")


def test_arrays_are_reported() -> None:
    grades, scores = np.eye(4, dtype=int), np.eye(4) + np.arange(4) / 10
    data = embedded(germane.report(grades, {"a": scores}, "AP"))
    assert data["queries"] == ["0", "1", "2", "3"]
    assert set(unpacked(data)["AP"]["a"].values()) == {"1.0000"}


def test_many_comparisons_are_said_for_the_best_run_only() -> None:
    runs = {f"r{i}": {"q": ["x"] * 0 + [f"x{j}" for j in range(i)] + ["d"]} for i in range(6)}
    text = words(germane.report({"q": ["d"]}, runs, "RR AP"))
    assert "25 more comparisons" in text  # of 2 × 15, the 5 of the best run on the first measure
    assert "All 30 comparisons" in text
    assert germane.report({"q": ["d"]}, runs, "RR").title == "r0, r1, r2 and 3 more runs"


@pytest.mark.slow
def test_the_same_inputs_give_the_same_page() -> None:
    assert germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES).html == of_digits().html


# --- A report for every week -----------------------------------------------------------------------

WEEKLY = {f"q{i}": {"d": 1, "e": int(i % 3 > 0)} for i in range(6)}
LISTS: dict[str, dict[str, dict[str, list[str]]]] = {
    "last": {"new": {q: ["x", "d", "e"] for q in WEEKLY}, "old": {q: ["e", "d"] for q in WEEKLY}},
    "now": {"new": {q: ["d", "e"] for q in WEEKLY}, "old": {q: ["e", "d"] for q in WEEKLY}},
}


def list_changes(html: str) -> list[str]:
    return re.findall(r'<small class="change">([^<]*)</small>', html)


def test_changes_since_the_baseline_and_the_last_report(tmp_path: Path) -> None:
    """RR of new was 1/2 and is 1; old has e first, which is relevant in four of six queries: 5/6."""
    last = germane.report(WEEKLY, LISTS["last"], "RR", baseline="old")
    assert list_changes(last.html) == ["▼ 0.3333 vs baseline"]
    record = tmp_path / "last.json"
    record.write_text(json.dumps(last.record))
    results = germane.evaluate_many(WEEKLY, LISTS["last"], "RR AP")
    for previous in (record, last.record, results):
        now = germane.report(WEEKLY, LISTS["now"], "RR", baseline="old", previous=previous)
        changes = ["▲ 0.1667 vs baseline", "▲ 0.5000 since last", "= 0.0000 since last"]
        assert list_changes(now.html) == changes
        assert now.html.count('<small class="baseline">') == 1
    assert "The judgments are not those of" not in now.html
    fewer = {query: {"d": 1} for query in WEEKLY}
    assert (
        "The judgments are not those of"
        in germane.report(fewer, LISTS["now"], "RR", previous=record).html
    )
    assert not list_changes(germane.report(WEEKLY, LISTS["now"], "RR").html)


def test_a_report_with_nothing_in_common_is_refused(tmp_path: Path) -> None:
    last = germane.report(WEEKLY, LISTS["last"], "RR").record
    with pytest.raises(germane.errors.NotFoundError, match="It has the runs 'new', 'old'"):
        germane.report(WEEKLY, {"other": LISTS["now"]["new"]}, "RR", previous=last)
    with pytest.raises(germane.errors.NotFoundError, match="the measures 'RR'"):
        germane.report(WEEKLY, LISTS["now"], "AP", previous=last)
    with pytest.raises(germane.errors.PolicyError, match="under different conventions"):
        germane.report(WEEKLY, LISTS["now"], "RR", previous=last, missing="skip")
    with pytest.raises(germane.errors.FormatError, match="not results of schema"):
        germane.report("absent", {}, "RR", previous={"a": 1})


def test_runs_are_sorted_by_any_measure() -> None:
    runs = {"a": {q: ["d"] for q in WEEKLY}, "b": {q: ["x", "d", "e"] for q in WEEKLY}}
    orders = {None: "ab", "RR": "ab", "R@5": "ba", "given": "ab"}
    for sort, order in orders.items():
        html = germane.report(WEEKLY, runs, "RR R@5", sort=sort).html
        names = re.findall(r'<th scope="row">.*?<bdi>(\w)</bdi>', html)[:2]
        assert "".join(names) == order, sort
        sorted_ = re.findall(r'aria-sort="descending">([^ <]*)', html)
        assert sorted_[:1] == ([] if sort == "given" else [sort or "RR"])
    with pytest.raises(germane.errors.NotFoundError, match="sort takes given or a measure of the"):
        germane.report("absent", {}, "RR R@5", sort="AP")


def test_the_weekly_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, raw in (
        ("qrels", WEEKLY),
        ("old", LISTS["now"]["old"]),
        ("new", LISTS["now"]["new"]),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(raw))
    qrels, old, new = (str(tmp_path / f"{name}.json") for name in ("qrels", "old", "new"))
    last, record, page = (str(tmp_path / name) for name in ("last.json", "now.json", "page.html"))
    (tmp_path / "last.json").write_text(
        json.dumps(germane.report(WEEKLY, LISTS["last"], "RR").record)
    )
    command = ["report", qrels, old, new, "-m", "RR", "--baseline", "old", "-o", page]
    assert main([*command, "--sort", "RR", "--previous", last, "--record", record]) == 0
    assert list_changes(Path(page).read_text("utf-8"))[1] == "▲ 0.5000 since last"
    assert main([*command, "--previous", record]) == 0
    assert list_changes(Path(page).read_text("utf-8"))[1] == "= 0.0000 since last"
    capsys.readouterr()
    gate = ["gate", qrels, new, "--baseline", old, "-m", "RR", "-o", str(tmp_path / "gate.md")]
    assert main(gate) == 0
    assert capsys.readouterr().out.startswith("measure")
