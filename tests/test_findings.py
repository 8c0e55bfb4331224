"""What evaluating notices by itself, as findings, as a Python warning and on standard error."""

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from check_examples import noticed
from germane.errors import GermaneWarning

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}, "q3": {"d4": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}, "q3": {"d4": 1.0}}


def test_sound_data_is_evaluated_in_silence() -> None:
    assert noticed(QRELS, RUN) == {}


def test_scores_of_types_that_python_does_not_compare() -> None:
    run = {"q": {"a": Decimal(1), "b": np.int8(2), "c": Fraction(3)}}
    assert germane.evaluate({"q": ["a"]}, run, "RR")["RR"].mean == 1 / 3


def test_what_is_not_judged_is_not_looked_for() -> None:
    grades, scores = np.array([[0, 0], [0, 0]]), np.array([[0.2, 0.1], [0.3, 0.4]])
    assert "nothing judged was found" not in noticed(grades, scores)
    vectors, labels = np.eye(3), [0, 1, 2]
    with pytest.warns(GermaneWarning, match="3 judged queries have no relevant item") as told:
        germane.evaluate_embeddings(
            vectors, vectors, query_labels=labels, gallery_labels=labels, exclude_self=True
        )
    assert not any("the same?" in str(one.message) for one in told)


def test_missing_queries() -> None:
    run = {"q1": RUN["q1"], "Q2": RUN["q2"]}
    finding = noticed(QRELS, run)["missing queries"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert finding.examples == ("'q2'", "'q3'")
    assert finding.advice == "The run has 'Q2', which differs in letter case."
    assert "missing queries" not in noticed(QRELS, run, missing="skip"), "then it is meant"
    advice = noticed(QRELS, {"q3": RUN["q3"]})["missing queries"].advice
    assert advice == "missing=skip leaves them out."
    stopped = noticed(QRELS, {"q1": RUN["q1"]})["missing queries"].advice
    assert stopped.startswith("They are the last queries of the qrels: did the run stop early?")


LABELS = np.repeat(np.arange(8), 25)
VECTORS = np.random.default_rng(5).normal(size=(200, 8)) + LABELS[:, None]
LOW = "recall that no run can have"


def embed(measures: str) -> germane.types.Result:
    return germane.evaluate_embeddings(
        VECTORS, VECTORS, measures, query_labels=LABELS, gallery_labels=LABELS, exclude_self=True
    )


def test_recall_that_no_run_can_have() -> None:
    """Labels with 24 relevant items a query: R@1 is 1/24 at best, and metric learning means Success@1."""
    with pytest.warns(GermaneWarning, match=r"no run can have R@1 above 0\.042"):
        result = embed("Recall@1")
    [finding] = [one for one in result.findings if one.what == LOW]
    assert finding.count == 200
    assert result["R@1"].mean <= 1 / 24
    meant, capped = re.findall(r"(?:is|and) (\S+?@1)[, ]", finding.advice)
    assert (meant, capped) == ("Success@1", "R(norm=min)@1")
    followed = embed(f"{meant} {capped}")
    assert not [one for one in followed.findings if one.what == LOW]
    assert followed[meant].mean == pytest.approx(24 * result["R@1"].mean)


@pytest.mark.parametrize(
    ("measures", "low"),
    [
        ("R@1", True), ("R@10", True), ("R@11", True), ("R@12", False), ("R@100", False), ("R", False),
        ("Success@1 P@1 R(norm=min)@1 AP@1 R(mean=micro)@1", False), ("AP R@12 R@3", True),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_recall_is_low_from_a_half_on(measures: str, low: bool) -> None:
    result = embed(measures)  # 12 of 24 are half
    assert (LOW in {one.what for one in result.findings}) == low


def test_the_level_of_relevance_stays_in_the_advice() -> None:
    qrels = {"q": {f"d{n}": 2 if n < 9 else 1 for n in range(400)}}
    run = {"q": ["d0"]}
    says = {
        measure: noticed(qrels, run, measures=measure)[LOW] for measure in ("R(rel=2)@3", "R@3 R@9")
    }
    assert "R(rel=2)@3 above 0.34, because a query has 9 relevant" in says["R(rel=2)@3"].says
    assert "Success(rel=2)@3, and R(rel=2,norm=min)@3" in says["R(rel=2)@3"].advice
    assert says["R@3 R@9"].says.endswith(
        "R@9 above 0.023, because a query has 400 relevant items on average"
    )


@pytest.mark.parametrize("sizes", [(1, 1, 50), (4, 9, 30), (1, 3, 3), (2, 2, 2), (10, 11, 12)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_no_run_has_more_than_the_highest_recall(sizes: tuple[int, ...], k: int) -> None:
    """The best run has exactly the number that the finding rounds up; queries without relevant items do not matter."""
    qrels: dict[str, dict[str, int]] = {
        f"q{at}": {f"d{n}": 1 for n in range(size)} for at, size in enumerate(sizes)
    }
    run = {query: [*judged] for query, judged in qrels.items()}
    most = sum(min(k, size) / size for size in sizes) / len(sizes)
    for more in ({}, {"none": {"d": 0}}):
        found = noticed(
            {**qrels, **more}, {**run, **{query: ["d"] for query in more}}, measures=f"R@{k}"
        )
        assert (LOW in found) == (most < 0.5)
        if LOW in found:
            said = float(re.search(r"above ([\d.]+)", found[LOW].says)[1])  # type: ignore[index]
            assert most <= said < most + 0.01
            assert found[LOW].count == sum(size > k for size in sizes)
    assert germane.evaluate(qrels, run, f"R@{k}")[f"R@{k}"].mean == pytest.approx(most)
    assert {one.what for one in germane.check(qrels, run, f"R@{k}")} >= (
        {LOW} if most < 0.5 else set()
    )


def test_queries_that_nobody_judged() -> None:
    finding = noticed(QRELS, {**RUN, "q9": {"d1": 1.0}})["queries not judged"]
    assert (finding.severity, finding.count, finding.examples) == ("doubtful", 1, ("'q9'",))


def test_queries_without_a_judgment_or_without_a_relevant_item() -> None:
    found_here = noticed({**QRELS, "q2": {}, "q3": {"d4": 0}}, RUN)
    assert found_here["queries without a judgment"].examples == ("'q2'",)
    assert found_here["nothing relevant"].examples == ("'q3'",)
    assert "nothing relevant" not in noticed({"q": {"a": 0}}, {"q": ["a"]}, no_relevant="skip")


def test_no_relevant_skip_leaves_nothing() -> None:
    qrels = {"q": {"a": 0, "b": 1}, "p": {"c": 0}}
    assert noticed(qrels, {"q": ["a"], "p": ["c"]}, no_relevant="skip") == {}
    without = noticed({"q": {"a": 0}, "p": {"c": 0}}, {"q": ["a"], "p": ["c"]}, no_relevant="skip")
    assert without["no relevant items"].severity == "serious"
    assert without["no relevant items"].says.startswith("no query counts for AP")
    missing = noticed(qrels, {"p": ["c"]}, no_relevant="skip", missing="skip")
    assert missing["no relevant items"].says.startswith("no query counts for AP")
    strict = noticed(qrels, {"q": ["b"], "p": ["c"]}, "AP P(rel=2)@5", no_relevant="skip")
    assert strict["no relevant items"].says.startswith("no query counts for P(rel=2)@5: none has")


def test_nothing_that_was_judged_is_found() -> None:
    finding = noticed({"q": {"a": 1}}, {"q": {"b": 1.0, "c": 0.5}})["nothing judged was found"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert "nothing judged was found" not in noticed({"q": {"a": 1}}, {"q": {}})


def test_a_run_that_answers_half_of_its_queries_with_nothing() -> None:
    """An empty list is an answer, and evaluate takes it for one; check asks whether a system failed."""
    qrels = {f"q{n}": {"a": 1} for n in range(4)}
    run = {query: ["a"] for query in qrels}
    half = run | {"q1": [], "q3": []}
    assert noticed(qrels, half) == {}
    (told,) = germane.check(qrels, half, "AP").serious
    assert (told.what, told.count) == ("mostly empty results", 2)
    assert told.examples == ("'q1'", "'q3'")


def test_scores_that_rise_where_no_ranks_tell(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 d{i} 0 {i / 10} a\n" for i in range(21)))
    finding = noticed({"q": {"d1": 1}}, path)["scores rise as given"]
    assert (finding.severity, finding.count) == ("serious", 21)
    assert "over the first 20 steps" in finding.says
    path.write_text("".join(f"q Q0 d{i} 0 {i / 10} a\n" for i in range(4)))
    assert noticed({"q": {"d1": 1}}, path) == {}
    path.write_text("".join(f"q Q0 d{i} 0 {abs(i - 1) / 10} a\n" for i in range(30)))
    assert noticed({"q": {"d1": 1}}, path) == {}


def test_qrels_with_the_grades_of_a_run(tmp_path: Path) -> None:
    qrels = {"q": {f"d{i}": 30 - i / 7 for i in range(30)}}
    run = {"q": {f"d{i}": 9 - i / 9 for i in range(30)}}
    (tmp_path / "run").write_text("".join(f"q Q0 {i} 0 {s} t\n" for i, s in run["q"].items()))
    for given in (run, tmp_path / "run"):
        finding = noticed(qrels, given)["qrels that look like a run"]
        assert finding.says == germane.check(qrels, given, "AP").serious[0].says
    assert noticed({"q": {f"d{i}": 1.5 for i in range(30)}}, run) == {}


def test_near_misses_are_counted_as_far_as_was_looked() -> None:
    qrels = {f"q{n}": {f"d{n}-{i}": 1 for i in range(10)} | {"x": 1} for n in range(400)}
    run = {q: {item.upper(): 1.0 for item in held} | {"x": 2.0} for q, held in qrels.items()}
    assert 1 < noticed(qrels, run)["ids nearly the same"].count < 4000
    (told,) = germane.check(qrels, run, "AP").serious
    assert told.says.startswith("4,000 judged items")


def test_what_the_first_rows_miss_is_looked_for_among_them(tmp_path: Path) -> None:
    """Also where other queries, which they do not have, lack far more."""
    qrels = {f"q{n}": {f"d{n}-{i}": 1 for i in range(5)} | {"x": 1} for n in range(300)}
    rows = [(q, item, 1.0) for q in qrels for item in ["x", *(f"other-{i}" for i in range(199))]]
    rows[201:206] = [("q1", f"D1-{i}", 1.0) for i in range(5)]
    (tmp_path / "run").write_text("".join(f"{q} Q0 {item} 0 {s} t\n" for q, item, s in rows))
    columns = zip(("query", "item", "score"), zip(*rows, strict=True), strict=True)
    for given in (pa.table({name: list(of) for name, of in columns}), tmp_path / "run"):
        says = noticed(qrels, given)["ids nearly the same"].says
        assert "query 'q1', 'd1-0' is judged, but 'D1-0' was retrieved" in says


@pytest.mark.parametrize(("results", "told"), [(2, False), (99, False), (100, True)])
def test_a_constant_scorer(results: int, told: bool) -> None:
    """Few results may well be tied, where their order decides nothing."""
    run = {"q": {f"d{i}": 1.0 for i in range(results)}}
    relevant = {"q": run["q"]}
    assert ("constant scores" in noticed(relevant, run)) == told
    run["q"]["d0"] = 2.0
    assert noticed(relevant, run) == {}


@pytest.mark.parametrize("results", [2, 6, 99])
@pytest.mark.parametrize("given", ["scores", "array"])
def test_equal_scores_whose_order_makes_the_number(results: int, given: str) -> None:
    """One relevant item of n: P@1 is 1 or 0, whatever n is, and 0 in both orders of the test."""
    run: Any = {"q": {f"d{i}": 1.0 for i in range(results)}}
    qrels: Any = {"q": {"d0": 1}}
    if given == "array":
        qrels, run = np.eye(1, results), np.ones((1, results))
    finding = noticed(qrels, run, measures="P@1 AP")["constant scores"]
    assert (finding.severity, finding.count) == ("serious", results)
    assert finding.says == (
        f"all {results} results have the same score as others of their query; depending on their order, P@1 "
        "could be anything from 0.0000 to 1.0000"
    )
    order = {
        "scores": "Their ids decide the order, from the last to the first",
        "array": "They are ordered as given",
    }[given]
    says = f"{order}; ties=expected gives the mean over all orders."
    assert finding.advice == says
    assert noticed(qrels, run, measures="P@1 AP", ties="expected") == {}, "then it is chosen"
    with pytest.warns(GermaneWarning, match="depending on their order, P@1 could be anything"):
        germane.evaluate(qrels, run, "P@1")
    assert [one.what for one in germane.check(qrels, run, "P@1").serious] == ["constant scores"]


def test_nearly_equal_scores_whose_order_makes_the_number() -> None:
    """From nine in ten on; and only where the band is more than half of the value."""
    queries = [f"q{n}" for n in range(5)]

    def run(equal: int, others: int) -> Any:
        scores = {f"a{i}": 1.0 for i in range(equal)} | {f"b{i}": 2.0 + i for i in range(others)}
        return dict.fromkeys(queries, scores)

    qrels = {query: {"a0": 1} for query in queries}
    finding = noticed(qrels, run(18, 2))["constant scores"]
    assert finding.says.startswith("90 of 100 results have the same score as others of their query")
    assert f"AP could be anything from {1 / 20:.4f} to {1 / 3:.4f}" in finding.says
    assert noticed(qrels, run(17, 3)) == {}


@pytest.mark.parametrize(("relevant", "told"), [(3, True), (4, True), (5, False)])
def test_equal_scores_that_decide_less_than_half_of_the_value(relevant: int, told: bool) -> None:
    """Of six results so many are relevant: P@3 may be from r - 3 thirds to 1, which it is."""
    names = [f"d{i}" for i in range(6)]
    run = {"q": dict.fromkeys(names, 1.0)}
    qrels = {"q": dict.fromkeys(names[-relevant:], 1)}  # ids descend, so that these come first
    result = germane.evaluate(qrels, run, "P@3")["P@3"]
    assert (result.mean, result.worst, result.best) == (1, (relevant - 3) / 3, 1)
    assert ("constant scores" in noticed(qrels, run, measures="P@3")) == told


def test_wide_ties_in_a_given_order() -> None:
    """Items sorted by label, and a scorer that knows halves of them alone."""
    labels = np.repeat(np.arange(4), 50)
    similarity = (labels[:, None] // 2 == labels // 2).astype(np.float32)
    given = germane.Labels(labels, labels)
    finding = noticed(given, similarity)["tied scores"]
    assert (finding.severity, finding.count) == ("doubtful", 200 * 50)
    assert "ties=expected" in finding.advice
    assert noticed(given, similarity, ties="expected") == {}
    constant = noticed(given, np.zeros_like(similarity))["constant scores"]
    assert constant.advice.startswith("They are ordered as given")


def test_narrow_ties_in_a_given_order() -> None:
    """Pairs of equal scores decide little, and half of them less than half of the hits."""
    labels = np.repeat(np.arange(4), 50)
    pairs = -(np.arange(200.0)[None] // 2).repeat(200, axis=0)
    assert noticed(germane.Labels(labels, labels), pairs) == {}
    ranks = [[*range(200)]] * 200
    assert noticed([{1, 2}] * 200, np.array(ranks)) == {}, "ids have no ties"


def test_scores_that_doubles_round() -> None:
    run = {"q": {"a": 2**53, "b": 2**53 + 1}}
    assert noticed({"q": {"a": 1}}, run)["scores lose precision"].severity == "serious"
    assert noticed({"q": {"a": 1}}, {"q": {"a": 2**53, "b": 2**60}}) == {}


@pytest.mark.parametrize(
    ("judged", "other", "reason"),
    [
        ("d1", "d1 ", "white space"),
        (
            "caf\u00e9",
            "cafe\u0301",
            "Unicode normalization, NFC and NFD (U+00E9 and U+0065 U+0301)",
        ),
        ("Doc", "doc", "letter case"),
        ("007", "7", "leading zeros"),
        ("7", "07", "leading zeros"),
        ("7", "7.0", "a decimal '.0'"),
        ("d7", "d7\u200b", "an invisible character"),
        ("d7", "\uff447", "full-width or other compatible characters"),
        ("d7", "d7\xa0", "white space"),
        ("d\xe9", "d\udce9", "encoding, UTF-8 and Latin-1"),
        ("d\xe9", "d\xc3\xa9", "encoding, UTF-8 and Latin-1"),
        ("d\u2019", "d\xe2\u20ac\u2122", "encoding, UTF-8 and Latin-1"),
        ("a&b", "a&amp;b", "HTML or URL escapes"),
        ("d7", '"d7"', "quotes"),
        ("'d7'", "d7", "quotes"),
        ("d7", "'d7'", "quotes"),
        ("d7", "d7\f", "white space"),
        ("d7", "\vd7", "white space"),
        ("d7\x1c", "d7", "white space"),
        ("a-7", "a_7", "hyphens and underscores"),
        ("a%2Fb", "a/b", "HTML or URL escapes"),
        ("a/b", "a%2Fb", "HTML or URL escapes"),
    ],
)
def test_ids_that_are_nearly_the_same(judged: str, other: str, reason: str, tmp_path: Path) -> None:
    qrels = {"q": {judged: 1, "x": 1}}
    path = tmp_path / "run"
    path.write_text(f"q Q0 x 1 2 a\nq Q0 {other} 2 1 a\n", "utf-8", "surrogateescape")
    runs: list[Any] = [{"q": {"x": 2.0, other: 1.0}}, {"q": ["x", other]}]
    if other.isprintable() or other.isascii():
        runs.append(pa.table({"query": ["q", "q"], "item": ["x", other], "score": [2.0, 1.0]}))
    if " " not in other:
        runs.append(path)
    for run in runs:
        finding = noticed(qrels, run)["ids nearly the same"]
        assert finding.severity == "serious"
        assert f"{judged!r} is judged, but {other!r} was retrieved" in finding.says
        assert finding.says.endswith(f"differs in {reason}")


def test_a_query_of_which_one_side_says_more() -> None:
    finding = noticed(QRELS, {"q1": RUN["q1"], "q3": RUN["q3"], "topic-q2": RUN["q2"]})
    assert finding["missing queries"].advice.startswith(
        "The run has 'topic-q2', and one of the two has"
    )
    assert "'topic-'" in finding["missing queries"].advice
    numbers = {"1": {"a": 1}, "2": {"a": 1}}
    told = noticed(numbers, {"2": {"a": 1.0}, "21": {"a": 1.0}})
    assert told["missing queries"].advice.startswith("missing=skip"), "21 is another number"


def test_a_byte_order_mark_where_files_were_joined() -> None:
    finding = noticed({**QRELS, "\ufeffq3": {"d4": 1}}, RUN)["missing queries"]
    assert "begins with a byte-order mark, probably from joined files" in finding.advice


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda item: f"doc_{item}", "The run's ids have the prefix 'doc_'"),
        (lambda item: f"{item}.jpg", "The run's ids have the suffix '.jpg'"),
        (lambda item: f"/img/{item}.png", "have the prefix '/img/' and the suffix '.png'"),
        (lambda item: item[1:], "The qrels' ids have the prefix 'd'"),
        (lambda item: item.replace("d", "d0"), "differ in leading zeros: make them the same"),
    ],
)
def test_why_nothing_judged_was_found(change: Any, says: str, tmp_path: Path) -> None:
    run = {q: {change(item): s for item, s in held.items()} for q, held in RUN.items()}
    (tmp_path / "run").write_text(
        "".join(f"{q} Q0 {i} 0 {s} t\n" for q, held in run.items() for i, s in held.items())
    )
    for given in (run, {q: list(held) for q, held in run.items()}, tmp_path / "run"):
        told = noticed(QRELS, given)
        assert says in told["nothing judged was found"].advice


@pytest.mark.parametrize("numbers", [[2**53, 2**53 + 1], [-(2**53), -(2**53) - 1]])
def test_whole_scores_beyond_doubles_in_every_source(numbers: list[int], tmp_path: Path) -> None:
    (tmp_path / "run").write_text(
        "".join(f"q Q0 {i} 0 {s} t\n" for i, s in zip("ab", numbers, strict=True))
    )
    frame = pa.table(
        {"query": ["q", "q"], "item": ["a", "b"], "score": pa.array(numbers, pa.int64())}
    )
    mapping = {"q": dict(zip("ab", map(np.int64, numbers), strict=True))}
    for run in (tmp_path / "run", frame, mapping):
        assert noticed({"q": {"a": 1}}, run)["scores lose precision"].severity == "serious"
    (tmp_path / "run").write_text(f"q Q0 a 0 {2**53} t\nq Q0 b 0 {2**60} t\n")
    assert noticed({"q": {"a": 1}}, tmp_path / "run") == {}


def test_queries_that_nobody_judged_under_this_name() -> None:
    finding = noticed(QRELS, {**RUN, "\ufeffq1": {"d1": 1.0}})["queries not judged"]
    assert finding.advice == "The qrels have 'q1', which differs in a byte-order mark."


def test_ranks_that_scores_contradict_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "distances.run"
    path.write_text("".join(f"q Q0 d{i} {i} {i / 10} a\n" for i in range(1, 5)))
    finding = noticed({"q": {"d1": 1}}, path)["ranks against scores"]
    assert "item 'd1' has rank 1 and score 0.1, but 'd2' rank 2 and score 0.2" in finding.says
    assert finding.count == 3
    path.write_text(path.read_text() + "q Q0 d9 9 0 a\n")
    assert noticed({"q": {"d1": 1}}, path) == {}, "one score that falls: some order is meant"


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(GermaneWarning, match=r"^run: 2 of 3 judged queries are missing") as told:
        germane.evaluate(QRELS, {"q1": RUN["q1"]})
    assert told[0].filename == __file__
    with pytest.warns(GermaneWarning, match=r"^a: 2 of 3 judged queries are missing") as told:
        germane.evaluate_many(QRELS, {"a": {"q1": RUN["q1"]}})
    assert told[0].filename == __file__


def test_results_carry_their_findings() -> None:
    result = germane.evaluate(QRELS, {"q1": RUN["q1"]})
    (run,) = result.to_dict()["runs"]
    assert run["findings"] == [finding.to_dict() for finding in result.findings]
    assert "findings" not in germane.evaluate(QRELS, RUN).to_dict()["runs"][0]
