"""What evaluating notices by itself, as findings, as a Python warning and on standard error."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from germane import near
from germane.collection import Collection
from germane.errors import GermaneWarning
from germane.standing import standing, standing_of

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}, "q3": {"d4": 1}}
RUN = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 1.0}, "q3": {"d4": 1.0}}


def found(qrels: Any, run: Any, **policy: Any) -> dict[str, germane.Finding]:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        findings = germane.evaluate(qrels, run, "AP", **policy).findings
    assert len(told) == bool(findings), "one warning for all of them"
    assert all(finding.says in str(told[0].message) for finding in findings)
    return {finding.what: finding for finding in findings}


def test_sound_data_is_evaluated_in_silence() -> None:
    assert found(QRELS, RUN) == {}


def test_missing_queries() -> None:
    run = {"q1": RUN["q1"], "Q2": RUN["q2"]}
    finding = found(QRELS, run)["missing queries"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert finding.examples == ("'q2'", "'q3'")
    assert finding.advice == "The run has 'Q2': it differs in letter case."
    assert "missing queries" not in found(QRELS, run, missing="skip"), "then it is meant"
    assert found(QRELS, {"q1": RUN["q1"]})["missing queries"].advice.startswith("missing=skip")


def test_queries_that_nobody_judged() -> None:
    finding = found(QRELS, {**RUN, "q9": {"d1": 1.0}})["queries not judged"]
    assert (finding.severity, finding.count, finding.examples) == ("doubtful", 1, ("'q9'",))


def test_queries_without_a_judgment_or_without_a_relevant_item() -> None:
    found_here = found({**QRELS, "q2": {}, "q3": {"d4": 0}}, RUN)
    assert found_here["queries without a judgment"].examples == ("'q2'",)
    assert found_here["nothing relevant"].examples == ("'q3'",)
    assert "nothing relevant" not in found({"q": {"a": 0}}, {"q": ["a"]}, no_relevant="skip")


def test_nothing_that_was_judged_is_found() -> None:
    finding = found({"q": {"a": 1}}, {"q": {"b": 1.0, "c": 0.5}})["nothing judged was found"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert "nothing judged was found" not in found({"q": {"a": 1}}, {"q": {}})


def test_a_run_that_answers_half_of_its_queries_with_nothing() -> None:
    """An empty list is an answer, and evaluate takes it for one; check asks whether a system failed."""
    qrels = {f"q{n}": {"a": 1} for n in range(4)}
    run = {query: ["a"] for query in qrels}
    half = run | {"q1": [], "q3": []}
    assert found(qrels, half) == {}
    (told,) = germane.check(qrels, half, "AP").serious
    assert (told.what, told.count) == ("mostly empty results", 2)
    assert told.examples == ("'q1'", "'q3'")


def test_scores_that_rise_where_no_ranks_tell(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 d{i} 0 {i / 10} a\n" for i in range(21)))
    finding = found({"q": {"d1": 1}}, path)["scores rise as given"]
    assert (finding.severity, finding.count) == ("serious", 21)
    assert "over the first 20 steps" in finding.says
    path.write_text("".join(f"q Q0 d{i} 0 {i / 10} a\n" for i in range(20)))
    assert found({"q": {"d1": 1}}, path) == {}
    path.write_text("".join(f"q Q0 d{i} 0 {abs(i - 1) / 10} a\n" for i in range(30)))
    assert found({"q": {"d1": 1}}, path) == {}


def test_qrels_with_the_grades_of_a_run(tmp_path: Path) -> None:
    qrels = {"q": {f"d{i}": 30 - i / 7 for i in range(30)}}
    run = {"q": {f"d{i}": 9 - i / 9 for i in range(30)}}
    (tmp_path / "run").write_text("".join(f"q Q0 {i} 0 {s} t\n" for i, s in run["q"].items()))
    for given in (run, tmp_path / "run"):
        finding = found(qrels, given)["qrels that look like a run"]
        assert finding.says == germane.check(qrels, given, "AP").serious[0].says
    assert found({"q": {f"d{i}": 1.5 for i in range(30)}}, run) == {}


def test_near_misses_are_counted_as_far_as_was_looked() -> None:
    qrels = {f"q{n}": {f"d{n}-{i}": 1 for i in range(10)} | {"x": 1} for n in range(40)}
    run = {q: {item.upper(): 1.0 for item in held} | {"x": 2.0} for q, held in qrels.items()}
    assert "(and at least 63 more" in found(qrels, run)["ids nearly the same"].says
    (told,) = germane.check(qrels, run, "AP").serious
    assert told.says.startswith("400 judged items")


@pytest.mark.parametrize(("results", "told"), [(99, False), (100, True)])
def test_a_constant_scorer(results: int, told: bool) -> None:
    """Few results may well be tied."""
    run = {"q": {f"d{i}": 1.0 for i in range(results)}}
    assert ("constant scores" in found({"q": {"d1": 1}}, run)) == told
    run["q"]["d0"] = 2.0
    assert found({"q": {"d1": 1}}, run) == {}


def test_wide_ties_in_a_given_order() -> None:
    """Items sorted by label, and a scorer that knows halves of them alone."""
    labels = np.repeat(np.arange(4), 50)
    similarity = (labels[:, None] // 2 == labels // 2).astype(np.float32)
    given = germane.Labels(labels, labels)
    finding = found(given, similarity)["tied scores"]
    assert (finding.severity, finding.count) == ("doubtful", 200 * 50)
    assert "ties=expected" in finding.advice
    assert found(given, similarity, ties="expected") == {}
    constant = found(given, np.zeros_like(similarity))["constant scores"]
    assert constant.advice.startswith("Their order is the one given")


def test_narrow_ties_in_a_given_order() -> None:
    """Pairs of equal scores decide little, and half of them less than half of the hits."""
    labels = np.repeat(np.arange(4), 50)
    pairs = -(np.arange(200.0)[None] // 2).repeat(200, axis=0)
    assert found(germane.Labels(labels, labels), pairs) == {}
    ranks = [[*range(200)]] * 200
    assert found([{1, 2}] * 200, np.array(ranks)) == {}, "ids have no ties"


def test_scores_that_doubles_round() -> None:
    run = {"q": {"a": 2**53, "b": 2**53 + 1}}
    assert found({"q": {"a": 1}}, run)["scores lose precision"].severity == "serious"
    assert found({"q": {"a": 1}}, {"q": {"a": 2**53, "b": 2**60}}) == {}


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
        finding = found(qrels, run)["ids nearly the same"]
        assert finding.severity == "serious"
        assert f"{judged!r} is judged and {other!r} was retrieved" in finding.says
        assert f"differ in {reason};" in finding.says


def test_a_query_of_which_one_side_says_more() -> None:
    finding = found(QRELS, {"q1": RUN["q1"], "q3": RUN["q3"], "topic-q2": RUN["q2"]})
    assert finding["missing queries"].advice.startswith(
        "The run has 'topic-q2': one of the two has"
    )
    assert "'topic-'" in finding["missing queries"].advice
    numbers = {"1": {"a": 1}, "2": {"a": 1}}
    told = found(numbers, {"2": {"a": 1.0}, "21": {"a": 1.0}})
    assert told["missing queries"].advice.startswith("missing=skip"), "21 is another number"


def test_a_byte_order_mark_where_files_were_joined() -> None:
    finding = found({**QRELS, "\ufeffq3": {"d4": 1}}, RUN)["missing queries"]
    assert "begins with a byte-order mark, as where files were joined" in finding.advice


def test_what_two_ids_differ_in() -> None:
    assert near.difference("e\u0301x", "\u00e9x").endswith("(U+0065 U+0301 and U+00E9)")
    assert near.difference("7", 7) == "type, str and int"
    assert near.difference("Q007 ", "q007") == "white space and letter case"
    assert near.difference("\ufeffq1", "q1") == "a byte-order mark"
    assert list(near.pairs(["a", "B"], ["b", "c"])) == [("B", "b")]
    assert list(near.pairs(["a"], ["a"])) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda item: f"doc_{item}", "the run's item ids have the prefix 'doc_'"),
        (lambda item: f"{item}.jpg", "the run's item ids have the suffix '.jpg'"),
        (lambda item: f"/img/{item}.png", "have the prefix '/img/' and the suffix '.png'"),
        (lambda item: item[1:], "the qrels' item ids have the prefix 'd'"),
        (lambda item: item.replace("d", "d0"), "which differ in leading zeros"),
    ],
)
def test_why_nothing_judged_was_found(change: Any, says: str, tmp_path: Path) -> None:
    run = {q: {change(item): s for item, s in held.items()} for q, held in RUN.items()}
    (tmp_path / "run").write_text(
        "".join(f"{q} Q0 {i} 0 {s} t\n" for q, held in run.items() for i, s in held.items())
    )
    for given in (run, {q: list(held) for q, held in run.items()}, tmp_path / "run"):
        told = found(QRELS, given)
        assert says in told["ids nearly the same"].says
        assert "nothing judged was found" in told


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
        assert found({"q": {"a": 1}}, run)["scores lose precision"].severity == "serious"
    (tmp_path / "run").write_text(f"q Q0 a 0 {2**53} t\nq Q0 b 0 {2**60} t\n")
    assert found({"q": {"a": 1}}, tmp_path / "run") == {}


def test_queries_that_nobody_judged_under_this_name() -> None:
    finding = found(QRELS, {**RUN, "\ufeffq1": {"d1": 1.0}})["queries not judged"]
    assert finding.advice == "The qrels have 'q1': it differs in a byte-order mark."


def test_ranks_that_scores_contradict_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "distances.run"
    path.write_text("".join(f"q Q0 d{i} {i} {i / 10} a\n" for i in range(1, 5)))
    finding = found({"q": {"d1": 1}}, path)["ranks against scores"]
    assert "item 'd1' has rank 1 and score 0.1, 'd2' rank 2 and score 0.2" in finding.says
    assert finding.count == 3
    path.write_text(path.read_text() + "q Q0 d9 9 0 a\n")
    assert found({"q": {"d1": 1}}, path) == {}, "one score that falls: some order is meant"


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(GermaneWarning, match=r"^run: 2 judged queries are missing") as told:
        germane.evaluate(QRELS, {"q1": RUN["q1"]})
    assert told[0].filename == __file__
    with pytest.warns(GermaneWarning, match=r"^a: 2 judged queries are missing") as told:
        germane.evaluate_many(QRELS, {"a": {"q1": RUN["q1"]}})
    assert told[0].filename == __file__


def test_results_carry_their_findings() -> None:
    result = germane.evaluate(QRELS, {"q1": RUN["q1"]})
    (run,) = result.to_dict()["runs"]
    assert run["findings"] == [finding.to_dict() for finding in result.findings]
    assert "findings" not in germane.evaluate(QRELS, RUN).to_dict()["runs"][0]


# --- Orders that were not meant --------------------------------------------------------------------

LONG_QRELS = {f"q{n}": {f"d{n}-{i}": int(i < 4) for i in range(20)} for n in range(30)}
LONG_RUN = {
    query: {item: 20.0 - place + n / 100 for place, item in enumerate(held)}
    for n, (query, held) in enumerate(LONG_QRELS.items())
}


def sources_of(run: Any, folder: Path) -> dict[str, Any]:
    """A run in every form in which its rows have an order, and no ranks."""
    rows = [(q, item, float(s)) for q, held in run.items() for item, s in held.items()]
    (folder / "run").write_text("".join(f"{q} Q0 {item} 0 {s} t\n" for q, item, s in rows))
    columns = zip(("query", "item", "score"), map(list, zip(*rows, strict=True)), strict=True)
    frame = pa.table(dict(columns))
    csv = "".join(f"{q},{item},{s}\n" for q, item, s in rows)
    (folder / "run.csv").write_text(f"query,item,score\n{csv}")
    return {
        "mapping": run,
        "file": folder / "run",
        "read": germane.read_run(folder / "run"),
        "frame": frame,
        "csv": folder / "run.csv",
    }


def turned(run: Any) -> Any:
    """Distances, the nearest first."""
    return {q: {item: 99 - s for item, s in held.items()} for q, held in run.items()}


def test_distances_in_every_source(tmp_path: Path) -> None:
    for name, run in sources_of(turned(LONG_RUN), tmp_path).items():
        told = found(LONG_QRELS, run)
        assert list(told) == ["scores rise as given"], name
        assert "over the first" in told["scores rise as given"].says


def test_ranks_as_scores_in_every_source(tmp_path: Path) -> None:
    ranks = {q: {item: n for n, item in enumerate(held, 1)} for q, held in LONG_RUN.items()}
    for name, run in sources_of(ranks, tmp_path).items():
        assert list(found(LONG_QRELS, run)) == ["ranks given as scores"], name
    lines = (f"{q} Q0 {item} {s} {n} t\n" for q in LONG_RUN for n, (item, s) in _numbered(q))
    (tmp_path / "run").write_text("".join(lines))
    told = found(LONG_QRELS, tmp_path / "run")["ranks given as scores"]
    assert told.advice.startswith("Are rank and score in each other's place?")


def _numbered(query: str) -> Any:
    return enumerate(LONG_RUN[query].items(), 1)


def test_an_ascending_order_that_relevance_bears_out_is_meant(tmp_path: Path) -> None:
    """As argsort gives it, or a heap: the best stands last."""
    ascending = {q: dict(reversed(held.items())) for q, held in LONG_RUN.items()}
    counted = {q: {i: n for n, i in enumerate(reversed(held))} for q, held in LONG_RUN.items()}
    for meant in (ascending, counted):
        for name, run in sources_of(meant, tmp_path).items():
            assert found(LONG_QRELS, run) == {}, name
            assert germane.check(LONG_QRELS, run, "AP").serious == (), name
    lines = (f"{q} Q0 {i} {21 - n} {n} t\n" for q, held in counted.items() for i, n in held.items())
    (tmp_path / "run").write_text("".join(lines))
    assert found(LONG_QRELS, tmp_path / "run") == {}, "ranks and scores agree"


def test_few_scores_may_rise_by_chance() -> None:
    qrels = {"q": {"d1": 1}}
    assert found(qrels, {"q": {f"d{i}": i / 10 for i in range(20)}}) == {}
    assert "scores rise as given" in found(qrels, {"q": {f"d{i}": i / 10 for i in range(21)}})
    one_falls = {"q": {f"d{i}": abs(i - 0.5) for i in range(9, -9, -1)}}
    assert found(qrels, one_falls) == {}


def test_relevant_results_that_stand_last(tmp_path: Path) -> None:
    """Distances in an order that tells nothing: relevance does."""
    shuffled = {q: dict(sorted(held.items())) for q, held in turned(LONG_RUN).items()}
    lists = {q: list(held)[::-1] for q, held in LONG_RUN.items()}
    for name, run in (*sources_of(shuffled, tmp_path).items(), ("lists", lists)):
        told = found(LONG_QRELS, run)["relevant results stand last"]
        assert told.severity == "serious", name
        assert "in 0% of all pairs" in told.says
        assert told.count == 30 * 4 * 16
        (serious,) = germane.check(LONG_QRELS, run, "AP").serious
        assert (serious.what, serious.says) == (told.what, told.says), name
    few = {q: LONG_QRELS[q] for q in ("q1", "q2")}
    assert found(few, {q: lists[q] for q in few}) == {}, "40 judged results may stand so by chance"


@pytest.mark.parametrize("seed", range(5))
def test_standing_is_the_share_of_pairs(seed: int) -> None:
    """Against every pair looked at, a tied one counting half."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{n}": {f"d{i}": int(rng.integers(2)) for i in range(9)} for n in range(4)}
    run = {q: {item: int(rng.integers(4)) for item in held} for q, held in qrels.items()}
    pairs = [
        (run[q][one] > run[q][other]) + (run[q][one] == run[q][other]) / 2
        for q, held in qrels.items()
        for one in held
        for other in held
        if held[one] > held[other]
    ]
    judged = Collection(qrels, run, "what is asked for").judged(germane.Policy())
    standing = standing_of(judged.qrels, judged.retrieved)
    assert standing is not None
    assert standing.above == pytest.approx(np.mean(pairs), rel=1e-12)
    assert standing.pairs == len(pairs)


def test_the_error_of_a_standing_is_that_of_random_orders() -> None:
    rng = np.random.default_rng(0)
    owner, retrieved = np.repeat([0, 1], [3, 5]), np.array([10, 30])

    def drawn() -> float:
        ranks = [1 + rng.choice(n, r, replace=False) for r, n in ((3, 10), (5, 30))]
        found = standing(owner, np.concatenate(ranks), retrieved)
        assert found is not None
        return found.above

    many = [drawn() for _ in range(4000)]
    expected = standing(owner, np.arange(1, 9), retrieved)
    assert expected is not None
    assert np.mean(many) == pytest.approx(0.5, abs=0.01)
    assert np.std(many) == pytest.approx(expected.error, rel=0.05)


def test_the_query_as_its_own_first_result(tmp_path: Path) -> None:
    own = {q: {q: 99.0, **held} for q, held in LONG_RUN.items()}
    runs = sources_of(own, tmp_path) | {"lists": {q: list(held) for q, held in own.items()}}
    judged = {q: {q: 1, **held} for q, held in LONG_QRELS.items()}
    for name, run in runs.items():
        told = found(LONG_QRELS, run)["the query is its first result"]
        assert (told.count, told.examples[0]) == (30, "'q0'"), name
        assert "of the first 30 is the query itself" in told.says
        assert found(LONG_QRELS, run, own="drop") == {}, name
        assert found(judged, run) == {}, "it is judged relevant"
    second = {q: {**held, q: 18.5} for q, held in LONG_RUN.items()}
    assert found(LONG_QRELS, second) == {}, "it is not the first"


def test_ids_of_the_best_with_each_row_first() -> None:
    """As a nearest-neighbor library gives them where the queries are in the index."""
    ids = (np.arange(40)[:, None] + np.arange(10)) % 40
    relevant = [{(row + 1) % 40, (row + 3) % 40} for row in range(40)]
    told = found(relevant, ids)["the query is its first result"]
    (serious,) = germane.check(relevant, ids, "AP@10").serious
    assert (told.count, told.what, told.advice) == (40, serious.what, serious.advice)
    assert "ids[:, 1:]" in told.advice
    assert found(relevant, ids[:, 1:]) == {}


@pytest.mark.parametrize(
    ("queries", "measures", "told"),
    [(10, "AP", True), (9, "AP", False), (10, "P@1", False), (10, "P@1 RR", False)],
)
def test_one_result_per_query(queries: int, measures: str, told: bool) -> None:
    """The results of a loop that keeps the last; or what somebody typed, or wants."""
    some = [f"q{n}" for n in range(queries)]
    run = {q: dict([*LONG_RUN[q].items()][-1:]) for q in some}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        qrels = {q: LONG_QRELS[q] for q in some}
        findings = germane.evaluate(qrels, run, measures).findings
        deep = germane.evaluate(qrels, run, measures, depth=1).findings
    assert [one.what for one in findings] == ["one result per query"] * told
    assert deep == ()


@pytest.mark.parametrize(
    ("grades", "measures", "told"),
    [
        ((0.5, 0.2), "AP", "no grade is 1 or higher, among 2 judgments: the highest is 0.5"),
        ((0.5, 0.2), "P(rel=0.5)@5 nDCG@10", ""),
        ((0, 0), "nDCG@10", "no grade is 1 or higher, among 2 judgments: the highest is 0"),
        ((-2, -1), "AP", "no grade is 1 or higher, among 2 judgments: the highest is -1"),
        ((1, 0), "AP P(rel=2)@5", "no grade is 2 or higher, among 2 judgments: the highest is 1"),
        ((2, 0), "AP P(rel=2)@5", ""),
    ],
)
def test_grades_of_which_none_is_relevant(grades: Any, measures: str, told: str) -> None:
    qrels = {"q": dict(zip("ab", grades, strict=True))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        findings = germane.evaluate(qrels, {"q": ["a", "b"]}, measures).findings
    assert [one.says for one in findings] == [told] * bool(told)
    serious = germane.check(qrels, {"q": ["a", "b"]}, measures).serious
    assert [one.says for one in serious] == [told] * bool(told)


def test_swapped_sides_are_the_one_thing_that_is_told(tmp_path: Path) -> None:
    frame = sources_of(LONG_RUN, tmp_path)["frame"].rename_columns(["query", "item", "grade"])
    for qrels in (LONG_RUN, frame):
        for name, run in sources_of(LONG_QRELS, tmp_path).items():
            assert list(found(qrels, run)) == ["swapped files"], name
