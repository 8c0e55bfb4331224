"""Check: every kind of finding is seen where it is, and nowhere else."""

import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from check_examples import (
    EXAMPLES,
    MEASURES,
    QRELS,
    QUERIES,
    RUN,
    Example,
    found_in,
    given_in,
    only,
    qrels_lines,
    run_lines,
    whats,
    with_grades,
    with_items,
)
from germane import cli

from strategies import CHECKS

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("group", [[2, 3], np.array([2, 3]), np.array(["a", "a", "b", "b", "b"])])
def test_flat_arrays_in_groups(order: str, group: Any) -> None:
    grades = np.array([1, 0, 0, 2, 0], f"{order}i8")
    scores = np.ma.masked_array(
        np.array([0.5, 0.2, np.nan, 0.4, 0.4], f"{order}f8"), [0, 1, 0, 0, 0]
    )
    found = germane.check(grades, scores, group=group)
    assert "item 2: a score must be a finite number; got nan" in str(found)
    filled = np.array([0.5, 0.2, 0.4, 0.4, 0.4], f"{order}f8")
    whats_found = {one.what for one in germane.check(grades, filled, group=group)}
    keyed = {"a": dict(enumerate(filled[:2])), "b": dict(enumerate(filled[2:], 2))}
    judged = {"a": {0: 1, 1: 0}, "b": {2: 0, 3: 2, 4: 0}}
    assert whats_found == {one.what for one in germane.check(judged, keyed)}


# --- The table -------------------------------------------------------------------------------------


def test_every_check_has_an_example() -> None:
    assert [row.name for row in CHECKS] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path) -> None:
    finding = only(found_in(EXAMPLES[name], tmp_path), name)
    assert finding.severity == next(row.severity for row in CHECKS if row.name == name)
    assert finding.count >= 1
    assert finding.advice


@pytest.mark.parametrize("row", CHECKS, ids=lambda row: row.name)
def test_what_evaluating_does_of_each(row: Any, tmp_path: Path) -> None:
    """As the page of checks has it."""
    example = EXAMPLES[row.name]
    qrels, run = given_in(example, tmp_path)
    runs = run if isinstance(run, dict) and "bm25" in run else {"run": run}
    if row.evaluate == "error":
        with pytest.raises(germane.GermaneError):
            germane.evaluate_many(qrels, runs, example.measures)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        results = germane.evaluate_many(qrels, runs, example.measures, **example.options)
    findings = [one.what for result in results.values() for one in result.findings]
    assert (row.name in findings) == (row.evaluate != "silent")
    assert len(told) == bool(findings)
    assert all("\n" not in str(one.message) for one in told), "it is one line"


@pytest.mark.parametrize("kind", ["mappings", "files"])
def test_clean_data_has_no_finding(kind: str, tmp_path: Path) -> None:
    example = Example() if kind == "mappings" else Example(qrels_lines(), run_lines())
    assert whats(found_in(example, tmp_path)) == []


def test_the_example_data_is_sound() -> None:
    runs = {name: ROOT / f"examples/digits/{name}.run" for name in ("pixels", "lda")}
    found = germane.check(ROOT / "examples/digits/qrels.txt", runs)
    assert set(whats(found)) == {"only relevant items judged", "differences too small to show"}


@pytest.mark.parametrize("seed", range(8))
def test_honest_data_of_any_size_has_nothing_serious(seed: int) -> None:
    rng = random.Random(seed)
    items = [f"{rng.choice('dDx')}{n}" for n in range(rng.choice([30, 300, 3000]))]
    queries = [f"{n}" for n in range(rng.choice([2, 30, 200]))]
    qrels = {q: {i: rng.choice([0, 0, 1, 2]) for i in rng.sample(items, 15)} for q in queries}
    for q in queries:
        qrels[q][items[0]] = 1
    depth = rng.choice([10, 30])
    run = {q: {i: rng.gauss(0, 1) for i in rng.sample(items, depth)} for q in queries}
    run["0"][items[0]] = 0.5
    assert germane.check(qrels, run).serious == ()


# --- What findings count and name ------------------------------------------------------------------


def test_all_duplicates_are_counted(tmp_path: Path) -> None:
    again = "q3 0 q3d1 0\nq3 0 q3d1 1\nq5 0 q5d0 1\n"
    found = found_in(Example(qrels_lines() + again, run_lines()), tmp_path)
    finding = only(found, "repeated judgments")
    assert finding.count == 3
    assert "in 2 queries, 1 with a different grade" in finding.says


def test_files_put_into_one(tmp_path: Path) -> None:
    text = run_lines()
    (tmp_path / "run").write_text(text + text.replace("0.0", "0.1"))
    (finding,) = germane.check(QRELS, tmp_path / "run", MEASURES).serious
    assert (finding.what, finding.count) == ("repeated results", len(text.splitlines()))
    assert finding.advice.startswith("Were several files joined?")


def test_copies_leave_nothing_to_say_of_where_relevant_results_stand(tmp_path: Path) -> None:
    example = EXAMPLES["relevant results stand anywhere"]
    (tmp_path / "run").write_text(run_lines(example.run))
    assert "relevant results stand anywhere" in whats(
        germane.check(example.qrels, tmp_path / "run")
    )
    (tmp_path / "run").write_text(run_lines(example.run) + "q0-0 Q0 q0d1 22 0 t\n")
    found = whats(germane.check(example.qrels, tmp_path / "run", MEASURES))
    assert "repeated results" in found
    assert "relevant results stand anywhere" not in found


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (str.upper, "letter case"),
        (lambda one: f"{one} ", "white space"),
        (lambda one: f"\ufeff{one}", "a byte-order mark"),
        (lambda one: f"00{one[1:]}", "leading zeros"),
        (lambda one: f"doc_{one}", "the prefix 'doc_'"),
        (lambda one: f"{one}.jpg", "the suffix '.jpg'"),
        (lambda one: f"{one[1:]}.0", "a decimal '.0'"),
        (lambda one: int(one[1:].replace("d", "0").replace("e", "9")), "convert one side"),
        (lambda one: one.encode(), "convert one side"),
    ],
)
def test_why_no_id_matches(change: Any, reason: str) -> None:
    qrels = {
        q: {item[1:].replace("d", "0"): g for item, g in held.items()} for q, held in QRELS.items()
    }
    if reason not in ("leading zeros", "a decimal '.0'"):
        qrels = QRELS
    finding = only(germane.check(qrels, with_items(change)), "nothing judged was found")
    assert reason in finding.advice
    if reason.startswith(("letter", "white", "a byte", "the")):
        queries = {change(f"q{n}x"): held for n, held in enumerate(RUN.values())}
        judged = {f"q{n}x": held for n, held in enumerate(QRELS.values())}
        assert reason in only(germane.check(judged, queries), "no query in common").advice


def test_ids_of_another_type_with_a_prefix() -> None:
    qrels = {"q1": {f"d{i}": 1 for i in range(9)}}
    told = germane.check(qrels, {"q1": {i: 1.0 - i for i in range(9)}}, "AP").serious[0].advice
    assert told.startswith(
        "The run's ids are int, but the qrels' are str: convert one side. The qrels' ids"
    )
    assert "the prefix 'd'" in told


def test_ids_of_numpy_have_the_types_of_python() -> None:
    run = {"q": {np.str_("a"): 1.0}, "p": {np.str_("x"): 1.0}}
    found = germane.check({"q": {"b": 1}, "p": {"c": 1}}, run)
    assert "convert one side" not in str(found)


def test_columns_in_each_others_place() -> None:
    turned: dict[str, dict[str, float]] = {}
    for query, held in RUN.items():
        for item, score in held.items():
            turned.setdefault(item, {})[query] = score
    finding = only(germane.check(QRELS, turned), "no query in common")
    assert finding.advice.startswith("They are items in the qrels")


def test_composed_and_decomposed_letters() -> None:
    qrels = {q: {f"caf\u00e9{item}": g for item, g in held.items()} for q, held in QRELS.items()}
    finding = only(
        germane.check(qrels, with_items(lambda i: f"cafe\u0301{i}")), "nothing judged was found"
    )
    assert "differ in Unicode normalization" in finding.advice


def test_whole_numbers_stand_for_their_digits_in_files_alone(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("1 Q0 7 1 0.9 t\n1 Q0 8 2 0.8 t\n")
    assert "nothing judged was found" not in whats(
        germane.check({1: {7: 1, 8: 0}}, tmp_path / "run")
    )
    assert "nothing judged was found" in whats(germane.check({1: {7: 1}}, {1: {"7": 1.0}}))


def test_the_judged_share_is_that_of_the_measure() -> None:
    rng = random.Random(1)
    qrels = {q: {i: g for i, g in held.items() if rng.random() < 0.6} for q, held in QRELS.items()}
    share = germane.evaluate(qrels, RUN, "Judged@10")["Judged@10"].mean
    finding = only(germane.check(qrels, RUN), "results not judged")
    assert f"{share:.0%} of the first 10 results are judged" in finding.says
    assert finding.count == round((1 - share) * 10 * len(QUERIES))


def test_differences_too_small_to_show_are_those_of_compare() -> None:
    example = EXAMPLES["differences too small to show"]
    pair = germane.compare(QRELS, example.run, "AP").pairs[0]
    finding = only(germane.check(QRELS, example.run, "AP"), "differences too small to show")
    assert f"AP by {abs(pair.difference):.3g} (detectable: {pair.detectable:.3g})" in finding.says


def test_evaluate_and_check_speak_with_one_voice() -> None:
    """What evaluating notices by itself, check says of the same severity."""
    run = {q: RUN[q] for q in QUERIES[2:]} | {"q99": {"x": 1.0}}
    qrels = QRELS | {"q98": {}, "q97": {"y": 0}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noticed = germane.evaluate(qrels, run, MEASURES).findings
    found = {finding.what: finding for finding in germane.check(qrels, run, MEASURES)}
    assert len(noticed) == 4
    for finding in noticed:
        assert found[finding.what].says == finding.says
        assert found[finding.what].severity == finding.severity


# --- Sources ---------------------------------------------------------------------------------------


def test_every_source_has_the_same_findings(tmp_path: Path) -> None:
    run = {**with_items(lambda item: item.replace("q7d0", "Q7D0")), "q99": {"x": 1.0}}
    qrels, path = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(qrels_lines())
    path.write_text(run_lines(run))
    rows = [(q, item, s) for q, held in run.items() for item, s in held.items()]
    judged = [(q, item, g) for q, held in QRELS.items() for item, g in held.items()]
    runs = {
        "mapping": run,
        "file": path,
        "read": germane.read_run(path),
        "frame": pa.table(
            dict(zip(["query", "item", "score"], zip(*rows, strict=True), strict=True))
        ),
        "lists": {q: list(held) for q, held in run.items()},
    }
    grades = dict(zip(["query", "item", "relevance"], zip(*judged, strict=True), strict=True))
    for one in (QRELS, qrels, germane.read_qrels(qrels), pa.table(grades)):
        for name, given in runs.items():
            found = germane.check(one, given)
            assert whats(found) == [
                "ids nearly the same",
                "fewer results than a cutoff",
                "queries not judged",
            ], name


def test_arrays() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (30, 40))
    scores = rng.random((30, 40)) + grades / 3
    assert whats(germane.check(grades, scores, MEASURES)) == []
    assert whats(germane.check(grades, np.ones((30, 40)), MEASURES)) == ["constant scores"]
    scores[3, 4] = np.nan
    finding = only(germane.check(grades, scores, MEASURES), "malformed results")
    assert finding.examples[0].startswith(
        "scores, row 3, column 4: a score must be a finite number"
    )
    top = np.argsort(-rng.random((30, 40)))[:, :20]
    top[5, 7] = top[5, 6]
    found = germane.check([{1, 2}] * 30, top, MEASURES)
    assert only(found, "repeated results").count == 1


def test_frames_with_cells_that_cannot_be_read() -> None:
    scores = [s for held in RUN.values() for s in held.values()]
    scores[3], scores[400] = float("nan"), float("inf")
    table = pa.table(
        {
            "query": [q for q, held in RUN.items() for _ in held],
            "item": [item for held in RUN.values() for item in held],
            "score": scores,
        }
    )
    finding = only(germane.check(QRELS, table, MEASURES), "malformed results")
    assert finding.count == 2
    assert "row 3" in finding.examples[0]


def test_what_is_in_mappings_instead_of_numbers() -> None:
    odd = {"q0d0": "0.9", "q0d1": None, "q0d2": float("nan"), None: 1.0, "q0d4": 0.1}
    found = germane.check(QRELS, RUN | {"q0": odd, "q1": "q1d0"}, MEASURES)
    finding = only(found, "malformed results")
    assert finding.count == 5
    assert "query 'q0', item 'q0d0'" in finding.examples[0]
    assert "'0.9' (str)" in finding.examples[0]


NAN, ITEMS = float("nan"), ["q0d0", "q0d1", "q0d2"]
TABLE_OF_ITEMS = {"query": ["q0"] * 3, "item": ITEMS, "score": [3.0, NAN, 1.0]}
FAULTY: dict[str, tuple[Any, Any]] = {
    "dict": (QRELS, {"q0": dict.fromkeys(ITEMS, NAN)}),
    "item of a dict": (QRELS, {"q0": {"q0d0": 2.0, None: 1.0}}),
    "list": (QRELS, {"q0": ["q0d0", NAN]}),
    "another kind": (QRELS, {"q0": ["q0d0"], "q1": "q1d0"}),
    "hits": (QRELS, {"q0": [{"id": "q0d0", "score": 1.0}, {"id": "q0d1", "score": NAN}]}),
    "query": (QRELS, {"q0": {"q0d0": 1.0}, None: {"q0d1": 1.0}}),
    "frame": (QRELS, pa.table(TABLE_OF_ITEMS)),
    "scores": (np.eye(3, dtype=int), np.diag([1.0, NAN, 2.0])),
    "ids": ([{0}, {1}, {2}], np.array([[0, 1], [1, -7], [2, 0]])),
    "ids after none": ([{0}, {1}, {2}], np.array([[0, 1], [-1, 1], [2, 0]])),
    "qrels": ({"q0": {"q0d0": NAN, "q0d1": 1}}, RUN),
    "judged id": ({"q0": {"q0d0": 1, None: 1}}, RUN),
    "judged list": ({"q0": [0, 1, 1, 0]}, RUN),
    "judged frame": (pa.table({"query": ["q0"], "item": ["d"], "relevance": [NAN]}), RUN),
    "run.txt": (QRELS, "q0 Q0 q0d0 1 x t\n"),
    "run.csv": (QRELS, "query,item,score\nq0,q0d0,1\nq0,q0d1,nan\n"),
    "qrels.txt": ("q0 0 q0d0 x\n", RUN),
}


@pytest.mark.parametrize("name", FAULTY)
def test_the_first_fault_is_the_error_of_evaluate(name: str, tmp_path: Path) -> None:
    """Each kind of input is read in one way, which raises the first fault, or notes all of them."""
    for side in FAULTY[name]:
        if isinstance(side, str):
            (tmp_path / name).write_text(side)
    qrels, run = (tmp_path / name if isinstance(side, str) else side for side in FAULTY[name])
    with pytest.raises(germane.errors.InputError) as raised:
        germane.evaluate(qrels, run, "AP")
    faults = [one for one in germane.check(qrels, run, "AP") if one.what.startswith("malformed")]
    assert [fault.examples[0] for fault in faults] == [str(raised.value)]


# --- What a checkup is -----------------------------------------------------------------------------


def test_serious_findings_come_first() -> None:
    found = germane.check(QRELS | {"q98": {}}, {q: RUN[q] for q in QUERIES[2:]}, MEASURES)
    assert [one.severity for one in found] == ["serious", "doubtful"]
    assert found.summary == "1 serious, 1 doubtful"
    assert found.serious == (found[0],)
    assert repr(found) == "<Checkup of run: 1 serious, 1 doubtful>"
    assert repr(germane.check(QRELS, RUN, MEASURES)).endswith(
        f"nothing found in {len(CHECKS)} checks>"
    )
    assert found.to_dict()["findings"][0]["count"] == 2


def test_ids_are_inert_wherever_they_are_shown() -> None:
    hostile = "<script>\x1b[31m"
    found = germane.check({hostile: {"a": 1}, **QRELS}, RUN, MEASURES)
    assert "\x1b" not in str(found)
    assert "<script>" not in found._repr_html_()
    assert hostile in repr(found.to_dict()) or "script" in repr(found.to_dict())


def test_several_runs_are_named_and_the_qrels_told_once(tmp_path: Path) -> None:
    qrels = QRELS | {"q98": {}}
    for runs in ({"a": RUN, "b": RUN}, {"a": {q: list(h) for q, h in RUN.items()}, "b": RUN}):
        found = germane.check(qrels, runs, MEASURES)
        assert whats(found) == ["queries without a judgment"]
        assert found.runs == ("a", "b")
    found = germane.check(QRELS, {"a": RUN, "b": {q: RUN[q] for q in QUERIES[2:]}}, MEASURES)
    assert [(one.what, one.where) for one in found.serious] == [("missing queries", "b")]
    with pytest.raises(germane.errors.EmptyError):
        germane.check(QRELS, {})


def test_what_cannot_be_read_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(germane.errors.EmptyError, match="empty"):
        germane.check(QRELS, tmp_path / "empty")
    with pytest.raises(germane.errors.InputError, match="no such file"):
        germane.check(QRELS, tmp_path / "absent")
    with pytest.raises(germane.errors.MeasureError):
        germane.check(QRELS, RUN, "nDGC@10")
    with pytest.raises(germane.errors.InputError):
        germane.check(QRELS, 3)


def test_nothing_but_germanes_errors_leaves_it() -> None:
    """What evaluate refuses is a finding, whatever the data are."""
    ids = np.full((3, 2), -5)
    for qrels, run, what in (
        (np.eye(3, dtype=int), ids, "malformed results"),
        (np.eye(3, dtype=int), np.array([[0, -5], [1, 2], [2, 99]]), "malformed results"),
        (np.eye(3, dtype=int), np.array([[0, 1], [1, 2], [2, 99]]), "refused by evaluate"),
        (QRELS, {q: set(held) for q, held in RUN.items()}, "malformed results"),
        (QRELS, {q: iter(held) for q, held in RUN.items()}, "malformed results"),
        ({"q": {}}, {"q": {"a": 1.0}}, "no relevant items"),
    ):
        with pytest.raises(germane.GermaneError):
            germane.evaluate(qrels, run, MEASURES)
        assert what in [one.what for one in germane.check(qrels, run, MEASURES).serious]


def test_a_file_with_fewer_rows_than_a_finding_names(tmp_path: Path) -> None:
    run = tmp_path / "run.csv"
    run.write_text("query,item,rank\nq0,d0,1\nq1,d1,1\n")
    qrels = {f"q{n}": {f"d{n}": 1, "x": 1, "y": 1} for n in range(2)}
    finding = only(germane.check(qrels, run, MEASURES), "one result per query")
    assert finding.examples == (f"{run}:2: query 'q0' item 'd0'", f"{run}:3: query 'q1' item 'd1'")


def test_the_query_among_its_results_at_any_rank() -> None:
    run = {q: {**held, q: held[f"{q}d2"] + 1e-6} for q, held in RUN.items()}
    finding = only(germane.check(QRELS, run, MEASURES), "the query among its results")
    assert "30 of 30 queries have themselves among the results, at rank 3" in finding.says
    first = germane.check(QRELS, {q: {q: 9.0, **held} for q, held in RUN.items()}, MEASURES)
    assert [one.what for one in first.serious] == ["the query is its first result"]
    judged = QRELS | {"q0": QRELS["q0"] | {"q0": 1}}
    assert whats(germane.check(judged, RUN | {"q0": run["q0"]}, MEASURES)) == []
    numbered = {q[1:]: held for q, held in RUN.items()}
    numbered["7"] = numbered["7"] | {"7": 0.3}
    found = germane.check({q[1:]: held for q, held in QRELS.items()}, numbered, MEASURES)
    assert whats(found) == [], "numbers may be shared by chance"


@pytest.mark.parametrize("bad", ["", "x Q0 y 1 nan t\n"])
def test_whole_scores_in_files_are_read_as_written(bad: str, tmp_path: Path) -> None:
    run = {q: {item: 2**62 - 300 * n for n, item in enumerate(held)} for q, held in RUN.items()}
    text = "".join(
        f"{q} Q0 {item} {n} {score} t\n"
        for q, held in run.items()
        for n, (item, score) in enumerate(held.items(), 1)
    )
    (tmp_path / "run").write_text(text + bad)
    counts = [
        only(germane.check(QRELS, given, MEASURES), "scores lose precision").count
        for given in (run, tmp_path / "run")
    ]
    assert counts == [sum(21 - len({float(s) for s in held.values()}) for held in run.values())] * 2


@pytest.mark.parametrize(
    ("written", "what", "says"),
    [
        (lambda score: f"{np.float16(score):.4f}", "half-precision scores", "float16"),
        (lambda score: repr(float(np.float16(score))), "half-precision scores", "float16"),
        (lambda score: f"{score / 1e4:.2e}", "rounded scores", "3 significant digits"),
        (lambda score: f"{score:.2f}", "rounded scores", "2 decimals"),
        (lambda score: f"{score:.4f}", None, ""),
        (lambda score: f"{score / 40:.4f}", None, ""),
        (repr, None, ""),
    ],
)
def test_precision_is_seen_in_what_is_printed(
    written: Any, what: str | None, says: str, tmp_path: Path
) -> None:
    rng = random.Random(3)
    run = {q: sorted((rng.gauss(12, 3) for _ in range(60)), reverse=True) for q in QUERIES}
    for scores in run.values():
        scores[5] = scores[6]  # ties that have no such cause
    (tmp_path / "run").write_text(
        "".join(
            f"{q} Q0 {q}d{n} {n} {written(score)} t\n"
            for q, scores in run.items()
            for n, score in enumerate(scores)
        )
    )
    found = germane.check(QRELS, tmp_path / "run", MEASURES)
    kinds = [one for one in found if one.what in ("half-precision scores", "rounded scores")]
    assert [one.what for one in kinds] == [what] * (what is not None)
    assert all(says in one.says for one in kinds)


def test_grades_that_are_not_above_zero_are_not_told_to_be_lowered() -> None:
    finding = only(germane.check(with_grades(lambda grade: -grade), RUN), "no relevant items")
    assert "rel=" not in finding.advice
    assert "sign" in finding.advice
    assert (
        "rel=0.25"
        in only(
            germane.check(with_grades(lambda grade: grade / 4), RUN), "no relevant items"
        ).advice
    )


# --- The command line ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "strict", "status"),
    [
        ("missing queries", (), 0),
        ("missing queries", ("--strict",), 1),
        ("negative grades", ("--strict",), 0),
        ("malformed results", ("--strict",), 1),
    ],
)
def test_exit_status(
    name: str,
    strict: tuple[str, ...],
    status: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = EXAMPLES[name]
    qrels = example.qrels if isinstance(example.qrels, str) else qrels_lines(example.qrels or QRELS)
    run = example.run if isinstance(example.run, str) else run_lines(example.run or RUN)
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    paths = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert cli.main(["check", *paths, *strict, "-m", MEASURES]) == status
    out = capsys.readouterr().out
    assert name in out
    assert cli.main(["check", *paths, "--format", "json", "-m", MEASURES]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["what"] == name
    assert cli.main(["check", *paths, "--strict", "-m", "nonsense"]) == 2
    assert cli.main(["check", str(tmp_path / "absent"), paths[1]]) == 2
