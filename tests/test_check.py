"""Check: every kind of finding is seen where it is, and nowhere else."""

import gzip
import json
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import germane
from check_examples import (
    EXAMPLES,
    MEASURES,
    QRELS,
    QUERIES,
    RUN,
    Example,
    qrels_lines,
    run_lines,
    with_grades,
    with_items,
)
from germane import cli
from germane.checks import words
from germane.checks.data import side_by_side
from germane.checks.reading import side_of
from germane.checks.table import TABLE
from germane.sources.ids import to_bytes

ROOT = Path(__file__).parents[1]


def given_in(example: Example, folder: Path) -> list[Any]:
    given = []
    for name, data, clean in (("qrels.txt", example.qrels, QRELS), ("run.txt", example.run, RUN)):
        if isinstance(data, str):
            (folder / name).write_text(data)
            data = folder / name
        given.append(clean if data is None else data)
    return given


def found_in(example: Example, folder: Path) -> germane.Checkup:
    return germane.check(*given_in(example, folder), example.measures)


def whats(found: germane.Checkup) -> list[str]:
    return [finding.what for finding in found]


def only(found: germane.Checkup, what: str) -> germane.Finding:
    (finding,) = [one for one in found if one.what == what]
    return finding


# --- The table -------------------------------------------------------------------------------------


def test_every_check_has_an_example() -> None:
    assert [row.name for row in TABLE] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, tmp_path: Path) -> None:
    finding = only(found_in(EXAMPLES[name], tmp_path), name)
    assert finding.severity == next(row.severity for row in TABLE if row.name == name)
    assert finding.count >= 1
    assert finding.advice


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
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
        results = germane.evaluate_many(qrels, runs, example.measures)
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


def test_every_bad_line_is_counted_and_the_first_are_named(tmp_path: Path) -> None:
    lines = run_lines().splitlines()
    bad = {
        3: "q0 Q0 d",
        10: "q0 Q0 a 1 nan t",
        17: "q0 Q0 a 1 x t",
        40: "q1 Q0 a b 9 0.5 t",
        41: "{}",
    }
    for line, text in bad.items():
        lines.insert(line - 1, text)
    found = found_in(Example(qrels_lines(), "\n".join(lines)), tmp_path)
    finding = only(found, "malformed results")
    assert finding.count == len(bad)
    at = [
        example.removeprefix(f"{tmp_path}/run.txt:").split(":")[0] for example in finding.examples
    ]
    assert at == ["3", "10", "17"]
    assert "3 fields" in finding.examples[0]
    assert "got 'nan'" in finding.examples[1]
    assert "630 rows that can" in finding.says
    assert whats(found) == ["malformed results"], (
        "the others are looked at as if these were not there"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", [" ", "\t", "  "])
def test_line_numbers_of_any_form(blank: str, end: str, tmp_path: Path) -> None:
    """Lines that Arrow reads and those read one by one; comments and blank lines count, too."""
    rows = run_lines().replace(" ", blank).splitlines()
    rows[3:3] = ["# a comment", ""]
    rows.append(rows[7])
    (tmp_path / "run").write_bytes((end.join(rows) + end).encode())
    finding = only(germane.check(QRELS, tmp_path / "run"), "repeated results")
    assert finding.examples[0].startswith(f"{tmp_path}/run:{len(rows)}: query 'q0' item 'q0d5'")


def test_lines_of_many_blocks_are_numbered(tmp_path: Path) -> None:
    """Blocks that are plain, and one that is not, far behind the first."""
    rows = [f"q{n // 1000} Q0 document-number-{n:09} {n % 1000} {-n} tag" for n in range(90_000)]
    rows[70_000] = rows[70_000].replace("-70000", "seventy")
    rows.append(rows[80_000])
    (tmp_path / "run").write_text("\n".join(rows))
    found = germane.check({"q3": {"document-number-000003000": 1}}, tmp_path / "run", "RR")
    assert f"{tmp_path}/run:70001: " in only(found, "malformed results").examples[0]
    assert f"{tmp_path}/run:90001: " in only(found, "repeated results").examples[0]


def test_all_duplicates_are_counted(tmp_path: Path) -> None:
    again = "q3 0 q3d1 0\nq3 0 q3d1 1\nq5 0 q5d0 1\n"
    found = found_in(Example(qrels_lines() + again, run_lines()), tmp_path)
    finding = only(found, "repeated judgments")
    assert finding.count == 3
    assert "in 2 queries, 1 with another grade" in finding.says


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
        (lambda one: int(one[1:].replace("d", "0").replace("e", "9")), "cast one side"),
        (lambda one: one.encode(), "cast one side"),
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
    assert f"{share:.0%} are judged" in finding.says
    assert finding.count == round((1 - share) * 10 * len(QUERIES))


def test_values_are_those_of_evaluate() -> None:
    """What power is computed from, for a run without ties."""
    rng = random.Random(2)
    run = {q: {item: rng.random() for item in held} for q, held in QRELS.items()}
    data = side_by_side(side_of(QRELS, "qrels"), side_of(run, "run"), ())
    measure = germane.parse("nDCG@10")
    expected = germane.evaluate(QRELS, run, [measure])[measure].per_query
    values = germane.averaging.scores(measure, data.ranking, "zero")
    assert dict(zip(QUERIES, values.tolist(), strict=True)) == pytest.approx(expected, rel=1e-14)


def test_differences_too_small_to_show_are_those_of_compare() -> None:
    example = EXAMPLES["differences too small to show"]
    pair = germane.compare(QRELS, example.run, "AP").pairs[0]
    finding = only(germane.check(QRELS, example.run, "AP"), "differences too small to show")
    assert f"AP by {abs(pair.difference):.3g} where {pair.detectable:.3g} shows" in finding.says


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


def test_names_of_what_evaluating_notices_are_in_the_table() -> None:
    from germane import notice
    from germane.sources import first_rows, precision, swapped, unmatched

    modules = (notice, first_rows, precision, swapped, unmatched)
    text = "".join(Path(str(module.__file__)).read_text("utf-8") for module in modules)
    named = re.findall(r'Finding\(\s*"\w+", "([^"]+)"', text)
    assert len(named) == 19
    assert {*named} <= {row.name for row in TABLE}


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
    assert finding.examples[0].startswith("row 3, column 4: a score must be a finite number")
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


# --- What a checkup is -----------------------------------------------------------------------------


def test_serious_findings_come_first() -> None:
    found = germane.check(QRELS | {"q98": {}}, {q: RUN[q] for q in QUERIES[2:]}, MEASURES)
    assert [one.severity for one in found] == ["serious", "doubtful"]
    assert found.summary == "1 serious, 1 doubtful"
    assert found.serious == (found[0],)
    assert repr(found) == "<Checkup of run: 1 serious, 1 doubtful>"
    assert repr(germane.check(QRELS, RUN, MEASURES)).endswith(
        f"nothing found in {len(TABLE)} checks>"
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
    with pytest.raises(germane.EmptyError):
        germane.check(QRELS, {})


def test_what_cannot_be_read_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(germane.EmptyError, match="empty"):
        germane.check(QRELS, tmp_path / "empty")
    with pytest.raises(germane.InputError, match="no such file"):
        germane.check(QRELS, tmp_path / "absent")
    with pytest.raises(germane.MeasureError):
        germane.check(QRELS, RUN, "nDGC@10")
    with pytest.raises(germane.InputError):
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


def test_the_query_among_its_results_at_any_rank() -> None:
    run = {q: {**held, q: held[f"{q}d2"] + 1e-6} for q, held in RUN.items()}
    finding = only(germane.check(QRELS, run, MEASURES), "the query among its results")
    assert "30 queries have themselves among the results, of 30, at rank 3" in finding.says
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


def test_findings_about_files_name_a_line(tmp_path: Path) -> None:
    """The line is looked up in the file, by what it must hold."""
    changes: dict[str, tuple[Any, Any]] = {
        "ids nearly the same": (lambda item: item.replace("q7d0", "Q7D0"), lambda place: place),
        "nothing judged was found": (lambda item: f"doc_{item}", lambda place: place),
        "ranks against scores": (lambda item: item, lambda place: 100 - place),
    }
    for what, (change, rank) in changes.items():
        (tmp_path / "run").write_text(run_lines(with_items(change), rank))
        finding = only(germane.check(QRELS, tmp_path / "run", MEASURES), what)
        at = re.match(rf"{tmp_path}/run:(\d+): query '(.+)' item '(.+)'$", finding.examples[0])
        assert at
        line = (tmp_path / "run").read_text().splitlines()[int(at[1]) - 1].split()
        assert [line[0], line[2]] == [at[2], at[3]]
        assert what != "ids nearly the same" or at[3] == "Q7D0"
        given = with_items(change)
        if what != "ranks against scores":
            assert only(germane.check(QRELS, given, MEASURES), what).examples == ()


def test_findings_about_queries_name_the_line_where_each_begins(tmp_path: Path) -> None:
    qrels = QRELS | {"q3": dict.fromkeys(QRELS["q3"], 0)}
    run = {q: dict(list(RUN[q].items())[: 5 if n % 3 else 21]) for n, q in enumerate(QUERIES[2:])}
    (tmp_path / "qrels").write_text(qrels_lines(qrels))
    (tmp_path / "run").write_text(run_lines(run | {"q99": {"x": 0.5}}))
    found = germane.check(tmp_path / "qrels", tmp_path / "run", "AP@10")
    lines = {name: (tmp_path / name).read_text().splitlines() for name in ("qrels", "run")}
    for what, query, name in (
        ("missing queries", "q1", "qrels"),
        ("nothing relevant", "q3", "qrels"),
        ("queries not judged", "q99", "run"),
        ("queries with few results", "q3", "run"),
    ):
        line = next(n for n, line in enumerate(lines[name], 1) if line.startswith(f"{query} "))
        told = f"{tmp_path}/{name}:{line}: query {query!r}"
        assert told in only(found, what).examples, what


def test_findings_about_results_name_lines(tmp_path: Path) -> None:
    """One with a file for each check whose finding is about lines."""
    about_all = {  # of no line more than of another
        "differences too small to show", "few queries", "only relevant items judged",
        "relevant results stand anywhere", "relevant results stand last", "refused by evaluate",
        "queries without a judgment", "queries without results", "mostly empty results",
    }  # fmt: skip
    for name, example in EXAMPLES.items():
        if name in about_all:
            continue
        given = []
        for side, data, write in (
            ("qrels", example.qrels or QRELS, qrels_lines),
            ("run", example.run or RUN, written),
        ):
            (tmp_path / side).write_text(data if isinstance(data, str) else write(data))
            given.append(tmp_path / side)
        finding = only(germane.check(*given, example.measures), name)
        assert re.match(rf"{tmp_path}/(qrels|run):\d+: ", finding.examples[0]), name


def written(run: Any) -> str:
    """A run with its scores as they are, and no ranks."""
    return "".join(f"{q} Q0 {i} 0 {s} t\n" for q, held in run.items() for i, s in held.items())


def test_rows_of_frames_are_numbered_as_errors_number_them(tmp_path: Path) -> None:
    rows = [(q, item, s) for q, held in RUN.items() for item, s in held.items()]
    rows[100:100] = [("q3", "q3d1", 0.1), ("q3", "z", float("nan"))]
    columns = zip(["query", "item", "score"], map(list, zip(*rows, strict=True)), strict=True)
    table = pa.table(dict(columns))
    parquet.write_table(table, tmp_path / "run.parquet")
    for run, where in ((table, "row"), (tmp_path / "run.parquet", f"{tmp_path}/run.parquet, row")):
        found = germane.check(QRELS, run, MEASURES)
        repeated = only(found, "repeated results").examples[0]
        assert repeated == f"{where} 100: query 'q3' item 'q3d1'"
        assert "row 101" in only(found, "malformed results").examples[0]
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, part in (("a", table.slice(0, 90)), ("b", table.slice(90, 11))):
        parquet.write_table(part, folder / f"{name}.parquet")
    finding = only(germane.check(QRELS, folder, MEASURES), "repeated results")
    assert finding.examples[0] == f"{folder}/b.parquet, row 10: query 'q3' item 'q3d1'"


@pytest.mark.parametrize(
    ("name", "write", "above"),
    [
        ("run.csv", lambda q, i, s: f"{q},{i},{s}", ["query,item,score"]),
        ("run.tsv", lambda q, i, s: f"{q}\t{i}\t{s}", ["query\titem\tscore"]),
        ("run.jsonl", lambda q, i, s: f'{{"query": "{q}", "item": "{i}", "score": {s}}}', []),
        ("run.csv.gz", lambda q, i, s: f"{q},{i},{s}", ["query,item,score"]),
    ],
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_rows_of_files_of_lines_are_told_by_their_lines(
    name: str, write: Any, above: list[str], end: str, tmp_path: Path
) -> None:
    """Where each row has one; otherwise by the number of the row, as in errors."""
    rows = [(q, item, s) for q, held in RUN.items() for item, s in held.items()]
    rows[100:100] = [("q3", "q3d1", 0.1)]
    lines = [*above, *(write(*row) for row in rows)]
    path = tmp_path / name
    opener: Any = gzip.open if name.endswith("gz") else open

    def example() -> str:
        with opener(path, "wt") as file:
            file.write("\n".join(lines) + end)
        return only(germane.check(QRELS, path, MEASURES), "repeated results").examples[0]

    again = lines.index(write(*rows[100])) + 1
    assert example() == f"{path}:{again}: query 'q3' item 'q3d1'"
    if name == "run.csv":
        lines.insert(5, "")
        assert example() == f"{path}, row 100: query 'q3' item 'q3d1'"


def test_progress_tells_of_reading_and_of_looking(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(run_lines())
    seen: list[str] = []
    germane.check(QRELS, tmp_path / "run", progress=lambda name, done, size: seen.append(name))
    assert seen[0] == f"{tmp_path}/run"
    assert f"{tmp_path}/run for ids nearly the same" in seen


@pytest.mark.parametrize("seed", range(20))
def test_ids_of_files_are_found_as_ids_of_mappings_are(seed: int) -> None:
    """Columns of Arrow against the same ids in Python."""
    rng = random.Random(seed)
    names = [
        rng.choice(["a", "A", "\u00e9", "\udcff", "7", " ", "", 7, 7.5, b"a"]) for _ in range(9)
    ]
    one, other = [str(name) for name in names[:5]], list(dict.fromkeys(names[3:]))
    parts = [pa.array(list(map(to_bytes, part)), pa.binary()) for part in (one[:2], [], one[2:])]
    ids, codes = words.coded(parts)
    assert [ids[code] for code in codes.tolist()] == one
    assert list(ids) == list(dict.fromkeys(one)) == ids[:]
    text = words.coded([pa.array([to_bytes(str(n)) for n in other], pa.binary())])[0]
    for among in (other, text):
        assert words.places(ids, among).tolist() == words.places(list(ids), list(among)).tolist()


def test_grades_that_are_not_above_zero_are_not_told_to_be_lowered() -> None:
    finding = only(germane.check(with_grades(lambda grade: -grade), RUN), "no relevant items")
    assert "rel=" not in finding.advice
    assert "sign" in finding.advice
    assert (
        "rel=0.5"
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
