"""LETOR files: labels as qrels, features and scores a line as runs, and what is wrong with them said."""

import gzip
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    GradeError,
    InputError,
    ScoreError,
)
from results import values

from sizes import set_sizes

MEASURES = "AP RR nDCG@3 P@2 NumRet"
ROWS = [("q1", 2, 0.5), ("q1", 0, 0.5), ("q2", 1, -1.0), ("q1", 1, 0.25), ("q2", 0, 3e-2)]
LABELED = "\n".join(f"{label} qid:{query} 1:7 2:{score}" for query, label, score in ROWS)
COMMENTED = "\n".join(
    f"{label} qid:{query} 1:7 2:{score} # docid = d{n} inc = 1"
    for n, (query, label, score) in enumerate(ROWS)
)
SCORES = [score for _, _, score in ROWS]


def per_query(qrels: Any, run: Any, **choices: Any) -> dict[str, Any]:
    return values(germane.evaluate(qrels, run, MEASURES, **choices))


def as_dicts(names: list[str]) -> tuple[Any, Any]:
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for name, (query, label, score) in zip(names, ROWS, strict=True):
        qrels.setdefault(query, {})[name] = label
        run.setdefault(query, {})[name] = score
    return qrels, run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write(name: str, text: str) -> Path:
        (tmp_path / name).write_bytes(text.encode())
        return tmp_path / name

    return write


def runs(path: Path) -> list[tuple[Any, dict[str, Any]]]:
    """The same scores in each form that can stand beside a LETOR file."""
    folder = path.parent
    (folder / "scores").write_text("".join(f"{score}\n" for score in SCORES))
    (folder / "ranklib").write_text("".join(f"{q}\t9\t{score}\n" for q, _, score in ROWS))
    of_lines = {"input_format": "scores"}
    return [
        (path, {"columns": {"score": "2"}}),
        (folder / "scores", of_lines),
        (folder / "ranklib", of_lines),
        (np.array(SCORES), {}),
        (np.ma.array(SCORES), {}),
    ]


@pytest.mark.parametrize("suffix", ["letor", "svmlight", "libsvm"])
def test_items_are_those_of_the_comments(write: Any, suffix: str) -> None:
    path = write(f"test.{suffix}", COMMENTED)
    expected = per_query(*as_dicts([f"d{n}" for n in range(5)]))
    for run, choices in runs(path):
        assert per_query(path, run, **choices) == expected
        assert per_query(germane.read_qrels(path), run, **choices) == expected
    assert germane.evaluate(path, np.array(SCORES), "RR").policy.ties == "trec"


def test_without_comments_an_item_is_the_number_of_its_line(write: Any) -> None:
    """Ties stay in the order of the lines, where trec would put line 2 before line 1."""
    path = write("test.letor", LABELED)
    expected = per_query(*as_dicts(list("12345")), ties="given")
    assert expected["RR"]["q1"] == 1
    for run, choices in runs(path):
        assert per_query(path, run, **choices) == expected
        assert per_query(path, run, ties="trec", **choices)["RR"]["q1"] == 1 / 2
    explained = germane.explain(path, np.array(SCORES), "AP", query="q1")
    assert [row.item for row in explained.rows] == ["1", "2", "4"]


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "# made by hand\n\n" + text.replace("\n", "\n \t\n  # 1 qid:9 1:1\n") + "\n",
        lambda text: text.replace(" ", "  ").replace(" 2:", "\t2:"),
        lambda text: text.replace("docid = ", "DocID:"),
        lambda text: text.replace("docid = ", "").replace(" inc = 1", ""),
        lambda text: text.replace("1:7", "0:x 1:nan 3:1e-3"),
        lambda text: "\ufeff" + text,
    ],
)
def test_ways_to_write_lines(write: Any, changed: Callable[[str], str]) -> None:
    path = write("test.letor", changed(COMMENTED))
    expected = per_query(*as_dicts([f"d{n}" for n in range(5)]))
    assert per_query(path, path, columns={"score": "2"}) == expected


def test_compressed_files_and_names_of_formats(write: Any) -> None:
    path = write("test.txt", COMMENTED)
    packed = path.with_name("test.letor.gz")
    packed.write_bytes(gzip.compress(COMMENTED.encode()))
    expected = per_query(*as_dicts([f"d{n}" for n in range(5)]))
    assert per_query(packed, np.array(SCORES)) == expected
    for name in ("letor", "svmlight"):
        assert per_query(path, path, columns={"score": "2"}, input_format=name) == expected
    assert germane.evaluate(packed, np.array(SCORES), "RR").name == "run"
    assert germane.evaluate(path, packed, "RR", columns={"score": "2"}, input_format="letor").name == "test"  # fmt: skip


def test_several_models(write: Any) -> None:
    path = write("test.letor", LABELED)
    several = {str(n): run for n, (run, _) in enumerate(runs(path)[1:])}
    results = germane.evaluate_many(path, several, MEASURES, input_format="scores")
    assert {str(list(result.values())) for result in results.values()} == {
        str(list(results["0"].values()))
    }


def test_beside_other_sources(write: Any) -> None:
    """A LETOR file judges a run with ids, and a LETOR run is judged by a dict."""
    path = write("test.letor", COMMENTED)
    qrels, run = as_dicts([f"d{n}" for n in range(5)])
    expected = per_query(qrels, run)
    trec = write("a.run", "".join(f"{q} Q0 {i} 1 {s} t\n" for q, got in run.items() for i, s in got.items()))  # fmt: skip
    assert per_query(path, run) == per_query(path, trec) == expected
    assert per_query(qrels, path, columns={"score": "2"}) == expected


def test_files_longer_than_a_block(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines begin alike, and no block ends where a query does."""
    rng = random.Random(4)
    rows = [(n // 7, rng.randrange(2), rng.random()) for n in range(400)]
    path = write("test.letor", "".join(f"{g} qid:{q} 1:0 2:{s}\n" for q, g, s in rows))
    whole = per_query(path, path, columns={"score": "2"})
    set_sizes(monkeypatch, block=64)
    assert per_query(path, path, columns={"score": "2"}) == whole
    qrels, run = ({str(q): {} for q in range(58)} for _ in range(2))
    for n, (q, grade, score) in enumerate(rows, 1):
        qrels[str(q)][str(n)], run[str(q)][str(n)] = grade, score
    assert per_query(qrels, run) == whole
    assert list(germane.read_qrels(path).items) == [str(n) for n in range(1, 401)]
    with pytest.raises(FormatError, match=r"bad\.letor:401: a LETOR line is"):
        germane.read_qrels(write("bad.letor", path.read_text() + "0 1:1\n"))


def test_command_line(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The same order of ties as in Python."""
    path = write("test.letor", LABELED)
    for run, choices in runs(path)[:3]:
        options = ["--columns", "score=2"] if "columns" in choices else ["--input-format", "scores"]
        command = ["evaluate", str(path), str(run), "-m", "RR", "--format", "tsv", *options]
        assert cli.main(command) == 0
        assert capsys.readouterr().out.splitlines()[1].split("\t")[1] == "0.75"
        assert cli.main([*command, "--ties", "trec"]) == 0
        assert capsys.readouterr().out.splitlines()[1].split("\t")[1] == "0.5"


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("1 qid:1 1:1\n1 1:1\n", FormatError, r"letor:2: .* If there is no qid:, pass labels and scores"),
        ("1 qid:1 1:1\nx qid:1 1:1\n", FormatError, "letor:2: a LETOR line is 'label qid:query"),
        ("1 qid:1 1:1 4\n", FormatError, "letor:1: a LETOR line is"),
        ("1 qid:1 1: 2:1\n", FormatError, "letor:1: a LETOR line is"),
        ("1 qid:1 a:1\n", FormatError, "letor:1: a LETOR line is"),
        ("1 qid: 1:1\n", FormatError, "letor:1: a LETOR line is"),
        ("0.5\n", FormatError, "one score on each line; use input_format='scores'"),
        ("nan qid:1 1:1\n", FormatError, "letor:1: a LETOR line is"),
        ("1e999 qid:1 1:1\n", GradeError, "letor:1: a relevance grade must be a finite number; got '1e9"),
        ("1 qid:1 1:1 # docid=a\n\n1 qid:1 1:1\n", FormatError, "letor:3: there is no docid in the comment, but line 1"),
        ("1 qid:1 # a\n0 qid:1 # a\n", DuplicateError, "item 'a' is judged twice for query '1'"),
        ("# nothing\n\n", EmptyError, "it has no lines with labels"),
    ],
)  # fmt: skip
def test_lines_that_are_wrong(write: Any, text: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        germane.read_qrels(write("bad.letor", text))


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        (None, FormatError, r"a LETOR file has no scores. columns={'score': '25'} takes"),
        ({"score": "3"}, ScoreError, r"letor:1: there is no feature 3 \(there are: 1, 2\)"),
        ({"score": "bm25"}, FormatError, "a feature is named by its number; got 'bm25'"),
        ({"score": "2", "item": "doc"}, FormatError, "no column 'doc'; found 'qid', 'docid', "),
    ],
)
def test_features_that_are_not_there(
    write: Any, columns: Any, error: type[Exception], says: str
) -> None:
    path = write("test.letor", LABELED)
    with pytest.raises(error, match=says):
        germane.read_run(path, columns=columns)


def test_a_feature_is_finite(write: Any) -> None:
    path = write("test.letor", "1 qid:1 1:1 2:nan\n")
    with pytest.raises(ScoreError, match="letor:1: a score must be a finite number; got 'nan'"):
        germane.evaluate(path, path, "RR", columns={"score": "2"})


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("1\n2\n", FormatError, "2 scores for 5 lines of .*test.letor"),
        ("1\n2\n3\n4\n5\n6\n", FormatError, "6 scores for 5 lines"),
        ("1\n2\nx\n4\n5\n", ScoreError, "scores:3: a score must be a finite number; got 'x'"),
        ("1\n2\n1_0\n4\n5\n", ScoreError, "scores:3: a score must be a finite number; got '1_0'"),
        ("1\n2\n3 4\n", FormatError, "scores:3: a line is a score, or RankLib's"),
        ("q1 0 1\nq2 0 1\n", FormatError, "scores:2: query 'q2', where .* has 'q1'"),
    ],
)
def test_scores_that_do_not_fit(write: Any, text: str, error: type[Exception], says: str) -> None:
    path, run = write("test.letor", LABELED), write("scores", text)
    with pytest.raises(error, match=says):
        germane.evaluate(path, run, "RR", input_format="scores")


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        (np.zeros(4), FormatError, "run: 4 scores for 5 lines"),
        (
            np.array([0, 1, np.nan, 3, 4]),
            ScoreError,
            "scores, item 2: a score must be a finite number",
        ),
        (np.zeros((5, 1)), FormatError, r"flat array, as scores.ravel\(\) is; got shape \(5, 1\)"),
        (
            np.ones((2, 9), int),
            FormatError,
            r"flat array; got shape \(2, 9\)",
        ),
    ],
)
def test_arrays_that_do_not_fit(write: Any, scores: Any, error: type[Exception], says: str) -> None:
    path = write("test.letor", LABELED)
    with pytest.raises(error, match=says):
        germane.evaluate(path, scores, "RR")


def test_numbers_of_lines_are_no_columns(write: Any) -> None:
    """The lines of a LETOR file without ids are numbered from 1, the items of a gallery from 0."""
    path = write("test.letor", LABELED.replace("qid:q", "qid:"))
    with pytest.raises(CoverageError, match="items of arrays are column numbers from 0"):
        germane.evaluate_embeddings(np.eye(9)[:3], np.eye(9), qrels=path)


def test_a_masked_score_is_not_retrieved(write: Any) -> None:
    path = write("test.letor", LABELED)
    scores = np.ma.array([0.5, np.nan, -1.0, 0.25, 3e-2], mask=[0, 1, 0, 0, 1])
    qrels, run = as_dicts(list("12345"))
    del run["q1"]["2"], run["q2"]["5"]
    assert per_query(path, scores) == per_query(qrels, run)


def test_scores_without_a_letor_file(write: Any) -> None:
    path = write("scores", "1\n")
    for attempt in (
        lambda: germane.evaluate({"q": ["a"]}, path, "RR", input_format="scores"),
        lambda: germane.read_run(path, input_format="scores"),
    ):
        with pytest.raises(InputError, match="belong to the lines of a LETOR file"):
            attempt()


def test_a_letor_file_taken_for_trecs(write: Any) -> None:
    path = write("test.txt", LABELED.replace(" 1:", " 0:0 1:"))
    with pytest.raises(
        FormatError, match=r"looks like a LETOR file: input_format=\{'qrels': 'letor'\}"
    ):
        germane.read_qrels(path)


def test_items_with_numbers_for_ids_are_columns(write: Any) -> None:
    """Comments name them, as in any other file of text."""
    rows = [("0", 1, 7), ("0", 0, 8), ("1", 1, 7), ("1", 0, 9)]
    text = "\n".join(f"{label} qid:{query} 1:7 # docid = {item}" for query, label, item in rows)
    path = write("named.letor", text)
    ids = np.array([[7, 8], [9, 7]])
    for qrels in (path, germane.read_qrels(path)):
        assert germane.evaluate(qrels, ids, "AP")["AP"].per_query == {"0": 1.0, "1": 1 / 2}
        scores = np.zeros((2, 10))
        scores[0, 7], scores[1, 9] = 1, 1
        found = germane.evaluate(qrels, scores, "RR", ties="best")
        assert found["RR"].per_query == {"0": 1.0, "1": 1 / 2}
        with pytest.raises(
            FormatError, match=r"flat array, as scores.ravel\(\) is; got shape \(4, 1\)"
        ):
            germane.evaluate(qrels, np.zeros((4, 1)), "RR")


def test_an_evaluator_of_lines_is_sent_to_where_batches_are(write: Any) -> None:
    path = write("test.letor", LABELED)
    evaluator = pickle.loads(pickle.dumps(germane.Evaluator(path, "RR")))
    evaluator.update(np.array(SCORES))
    expected = germane.evaluate(path, np.array(SCORES), "RR")["RR"].per_query
    assert evaluator.result()["RR"].per_query == expected
