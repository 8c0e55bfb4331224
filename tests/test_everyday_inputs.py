"""What recommenders, search and classifiers have at hand is read, or refused with advice.

Advice is taken out of the message and executed on the data that raised it.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import germane
import germane.spark


def mean(qrels: Any, run: Any, measure: str = "RR", **options: Any) -> float:
    return float(germane.evaluate(qrels, run, measure, **options)[measure].mean)


def refuse(qrels: Any, run: Any, **options: Any) -> str:
    with pytest.raises(germane.errors.InputError) as raised:
        germane.evaluate(qrels, run, "RR", **options)
    return str(raised.value)


def take(message: str, pattern: str, **names: Any) -> Any:
    """Take an expression out of a message, and compute it."""
    found = re.search(pattern, message)
    assert found, message
    return eval(found[1], {"numpy": np, "ast": ast, "pandas": pandas, **names})


def command(*words: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "germane", *map(str, words)],
        input=given, capture_output=True, text=True, check=False,
    )  # fmt: skip


# --- Ratings ----------------------------------------------------------------------------------

STARS = [("1", "6", 5), ("1", "10", 3), ("2", "13", 2), ("2", "19", 4), ("2", "5", 1)]
TABS = "".join(f"{u}\t{i}\t{s}\t88743197{n}\n" for n, (u, i, s) in enumerate(STARS))
COLONS = TABS.replace("\t", "::")
ATOMIC = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + TABS
LISTS = {"1": ["10", "6", "99"], "2": ["19", "13"]}


@pytest.fixture(
    params=["u1.test", "u.data", "ratings", "ratings.tsv", "ratings.dat", "ml.inter", "ml.test"]
)
def ratings(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    text = COLONS if "dat" in path.suffix[1:4] and path.name != "u.data" else TABS
    path.write_text(ATOMIC if path.name.startswith("ml") else text)
    return path


def test_ratings_are_no_lines_of_trec(ratings: Path) -> None:
    message = refuse(ratings, LISTS)
    columns = [ast.literal_eval(found) for found in re.findall(r"columns=(\{.*?\})", message)]
    assert columns == [{"relevance": "rating"}, {"relevance": None}]
    # 4 and more are 6 of user 1, at rank 2, and 19 of user 2, at rank 1
    assert mean(ratings, LISTS, "RR(rel=4)", columns=columns[0]) == (1 / 2 + 1) / 2
    assert mean(ratings, LISTS, "RR", columns=columns[1]) == 1


@pytest.mark.parametrize("option", ["exclude", "only", "seen", "ignore", "catalogue"])
def test_ratings_are_pairs(ratings: Path, option: str) -> None:
    pairs: dict[str, list[str]] = {}
    for user, item, _ in STARS:
        pairs.setdefault(user, []).append(item)
    catalogue = sorted({item for _, item, _ in STARS})
    run = {user: [item for item in items if item in catalogue] for user, items in LISTS.items()}
    measure = {"seen": "Novelty@2", "catalogue": "Coverage@2"}.get(option, "RR")
    expected = catalogue if option == "catalogue" else pairs
    qrels = {"1": ["6"], "2": ["19"]}
    assert mean(qrels, run, measure, **{option: ratings}) == pytest.approx(
        mean(qrels, run, measure, **{option: expected}), nan_ok=True
    )


def test_ratings_from_a_pipe(tmp_path: Path) -> None:
    """A pipe is read once, so that its lines cannot be looked at before."""
    (tmp_path / "run.json").write_text(json.dumps(LISTS))
    files = "-", tmp_path / "run.json", "-m", "RR(rel=4)"
    said = command("evaluate", *files, given=TABS)
    advice = re.search(r"(--input-format \S+) reads them", said.stderr)
    assert said.returncode == 2
    assert advice, said.stderr
    columns = "--columns", "relevance=rating"
    done = command("evaluate", *files, *advice[1].split(), *columns, given=TABS)
    assert "0.7500" in done.stdout, done.stderr


def test_ratings_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "u1.test").write_text(TABS)
    (tmp_path / "run.json").write_text(json.dumps(LISTS))
    files = tmp_path / "u1.test", tmp_path / "run.json", "-m", "RR"
    said = command("evaluate", *files).stderr
    for advice, value in zip(
        re.findall(r"--columns \S+?(?= )", said), ("1.0000",) * 2, strict=True
    ):
        assert value in command("evaluate", *files, *advice.split()).stdout


def test_high_grades_stay_lines_of_trec(tmp_path: Path) -> None:
    """Lines of four fields are TREC's if the third one is no rating, or the last one no time."""
    path = tmp_path / "qrels.data"
    for line in ("1\t0\td6\t887431973", "1\t0\t6\t5", "1\t0\t600\t887431973"):
        path.write_text(f"{line}\n")
        item = line.split("\t")[2]
        assert mean(path, {"1": ["x", item]}) == 0.5


# --- Lists in cells ---------------------------------------------------------------------------

QRELS = {1: [7], 2: [9]}
CELLS = {1: [6, 7, 8], 2: [9, 5]}  # RR: (1 / 2 + 1) / 2
MEAN = 0.75


def structs(item: str, score: str) -> list[list[dict[str, float]]]:
    return [
        [{item: one, score: 1 / rank} for rank, one in enumerate(cell, 1)]
        for cell in CELLS.values()
    ]


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.table,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    "columns",
    [
        {"user": [1, 2], "recommendations": structs("movieId", "rating")},  # of Spark's ALS
        {"user": [1, 2], "recommendations": structs("item_id", "prediction")},
        {"user_id": [1, 2], "items": list(CELLS.values())},
        {"user_id": [1, 2], "item_id": list(CELLS.values())},
        {"query": [1, 2], "expected_ids": [[0], [0]], "retrieved_ids": list(CELLS.values())},
        {"user_id": [1, 2], "prediction": ["6 7 8", "9 5"]},  # Kaggle's
    ],
    ids=["als", "als of items", "lists", "named lists", "llamaindex", "kaggle"],
)
def test_lists_in_cells(make: Callable[..., Any], columns: dict[str, Any]) -> None:
    frame = make(columns)
    assert mean(QRELS, frame) == MEAN
    assert mean(QRELS, frame, exclude={1: [6]}) == 1
    assert mean(QRELS, frame, columns={"query": next(iter(columns))}) == MEAN


def test_lists_in_files(tmp_path: Path) -> None:
    table = pyarrow.table({"user": [1, 2], "recommendations": structs("movieId", "rating")})
    pyarrow.parquet.write_table(table, tmp_path / "als.parquet")
    (tmp_path / "lists.jsonl").write_text(
        "".join(json.dumps({"user": user, "items": cell}) + "\n" for user, cell in CELLS.items())
    )
    (tmp_path / "kaggle.csv").write_text("buyer,prediction\n1,6 7 8\n2,9 5\n")
    assert mean(QRELS, tmp_path / "als.parquet") == MEAN
    assert mean(QRELS, tmp_path / "lists.jsonl") == MEAN
    message = refuse(QRELS, tmp_path / "kaggle.csv")
    columns = take(message, r"columns=(\{.*?\})", name="buyer")
    assert mean(QRELS, tmp_path / "kaggle.csv", columns=columns) == MEAN


def test_lists_in_cells_as_judgments(tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"query": [1, 2, 3], "expected_ids": [[7], [9], []], "retrieved_ids": [[6, 7], [9], [1]]}
    )
    assert mean(frame, frame) == pytest.approx(1.5 / 3)  # the third has no relevant item
    assert mean(frame, frame, no_relevant="skip") == MEAN
    frame.to_parquet(tmp_path / "both.parquet")
    assert mean(tmp_path / "both.parquet", tmp_path / "both.parquet") == pytest.approx(1.5 / 3)
    documents = polars.DataFrame({"query": [1, 2], "relevant": [[{"id": 7}], [{"id": 9}]]})
    assert mean(documents, CELLS) == MEAN
    assert "malformed" not in str(germane.check(frame, frame))


def test_a_field_of_the_entries() -> None:
    entries = [[{"uuid": one, "v": 1.0} for one in cell] for cell in CELLS.values()]
    for name in ("recommendations", "zzz"):
        frame = pandas.DataFrame({"user_id": [1, 2], name: entries})
        columns = {} if name == "recommendations" else {"columns": {"item": name}}
        message = refuse(QRELS, frame, **columns)
        named = re.search(r"such as (\S+)\.$", message)
        assert named, message
        assert mean(QRELS, frame, columns={"item": named[1]}) == MEAN


class Refused(NamedTuple):
    cells: list[Any]
    name: str = "recs"
    qrels: Any = QRELS


@pytest.mark.parametrize(
    "refused",
    [
        Refused([[(6, 0.9), (7, 0.8)], [(9, 0.7)]]),
        Refused([[("6", 0.9), ("7", 0.8)], [("9", 0.7)]], qrels={1: ["7"], 2: ["9"]}),
        Refused(["6,7,8", "9,5"], qrels={1: ["7"], 2: ["9"]}),
        Refused(["6, 7, 8", "9, 5"], qrels={1: ["7"], 2: ["9"]}),
        Refused(["6|7|8", "9|5"], qrels={1: ["7"], 2: ["9"]}),
        Refused(["[6, 7, 8]", "[9, 5]"]),
        Refused(["['6', '7']", "['9']"], qrels={1: ["7"], 2: ["9"]}),
        Refused(["6 7 8", "9 5"], "item_id", {1: ["7"], 2: ["9"]}),
    ],
    ids=lambda refused: str(refused.cells[0]),
)
def test_cells_that_are_refused(refused: Refused, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"user_id": [1, 2], refused.name: refused.cells})
    names = {"frame": frame, "queries": frame["user_id"], "cells": frame[refused.name]}
    run = take(refuse(refused.qrels, frame), r"give (\{query: .*\})", **names)
    assert mean(refused.qrels, run) == MEAN
    if isinstance(refused.cells[0], str):
        path = tmp_path / "run.csv"
        frame.to_csv(path, index=False)
        message = refuse(refused.qrels, path)
        names["frame"] = take(message, r"frame = (.*\))", path=path)
        run = take(message, r"give (\{query: .*?\})(?:,|\.$)", **names)
        assert mean({str(query): items for query, items in refused.qrels.items()}, run) == MEAN


def test_lists_beside_scores() -> None:
    frame = pandas.DataFrame(
        {"user_id": [1, 2], "items": [*CELLS.values()], "score": [[0.3, 0.2, 0.1], [0.2, 0.1]]}
    )
    message = refuse(QRELS, frame)
    rows = take(message, r"(frame\.explode\(.*?\))", frame=frame).infer_objects()
    rows = rows.astype({"items": int, "score": float})
    assert mean(QRELS, rows, columns=take(message, r"columns=(\{.*?\}+)")) == MEAN


def test_rows_are_no_lists() -> None:
    """Rows without an order are refused as before, and cells of one item are no lists."""
    rows = pandas.DataFrame({"user_id": [1, 1, 2], "item_id": [6, 7, 9]})
    assert "no column is the score or the rank" in refuse(QRELS, rows)
    text = pandas.DataFrame({"user_id": [1, 1, 2], "items": ["6", "7", "9"]})
    columns = take(refuse(QRELS, text), r"columns=(\{.*?\})")
    assert mean(text, {1: ["6"], 2: ["9"]}, columns=columns) == 1
    number = pandas.DataFrame({"user_id": [1, 2], "prediction": [0.5, 0.25]})
    assert "lists of items are needed" in refuse(QRELS, number)
    lists = pandas.DataFrame({"user_id": [1, 1], "items": [[6], [7]]})
    assert "has a second list" in refuse(QRELS, lists)


# --- Grades, scores and classes ---------------------------------------------------------------


def test_ragged_lists() -> None:
    qrels, run = [[0, 1, 1], [0, 1]], [[0.9, 0.8, 0.1], [0.2, 0.3]]
    message = refuse(qrels, run)
    flat, judged = (take(message, r"(\[number for .*?\])", run=rows) for rows in (run, qrels))
    assert mean(judged, flat, group=take(message, r"group=(\[.*?\])")) == MEAN
    many, scores = [[0, 1], [1]] * 10, [[0.9, 0.8], [1.0]] * 10
    group = take(refuse(many, scores), r"group=(\[.*?\])", run=scores)
    assert mean([0, 1, 1] * 10, [0.9, 0.8, 1.0] * 10, group=group) == MEAN


def test_ragged_rows_in_an_array() -> None:
    qrels, run = (
        np.array([*map(np.array, rows), None], object)[:2]
        for rows in ([[0, 1, 1], [0, 1]], [[0.9, 0.8, 0.1], [0.2, 0.3]])
    )
    message = refuse(qrels, run)
    flat, judged = (
        take(message, r"(numpy\.concatenate\(rows\))", rows=rows) for rows in (run, qrels)
    )
    group = take(message, r"group=(\[.*?\])", rows=run)
    assert mean(judged, flat, group=group) == MEAN


def test_lists_of_scores_by_query() -> None:
    qrels, run = {1: [0, 1, 1], 2: [0, 1]}, {1: [0.9, 0.8, 0.1], 2: [0.2, 0.3]}
    message = refuse(qrels, run)
    numbered = (take(message, r"(\{query: .*?\})", run=rows) for rows in (qrels, run))
    assert mean(*numbered) == MEAN


def test_lists_of_one_length() -> None:
    qrels, run = [[0, 1, 1], [0, 0, 1]], [[0.9, 0.8, 0.1], [0.2, 0.1, 0.3]]
    message = refuse(qrels, run)
    arrays = (
        take(message, rf"(numpy\.array\({name}\))", **{name: rows})
        for name, rows in (("qrels", qrels), ("run", run))
    )
    assert mean(*arrays) == MEAN


SCORES = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])
# the class of each row is at rank 1, 2, 1, 2: RR (1 + 1/2 + 1 + 1/2) / 4
CLASSES = np.array([0, 2, 2, 1])


@pytest.mark.parametrize(
    "classes",
    [
        CLASSES,
        CLASSES.tolist(),
        pandas.Series(CLASSES),
        CLASSES + 1,
        np.array(["a", "c", "c", "b"]),
        pandas.Series(["a", "c", "c", "b"]),
        [5, 9, 9, 7],
    ],
    ids=["array", "list", "series", "from 1", "text", "series of text", "numbers"],
)
def test_class_probabilities(classes: Any) -> None:
    message = refuse(classes, SCORES)
    marks = take(message, r"(numpy\.asarray\(qrels\).*?\))\.", qrels=classes)
    assert mean(marks, SCORES) == 0.75


def test_classes_of_two() -> None:
    classes, scores = (
        np.array([0, 1, 1, 0]),
        np.array([[0.1, 0.9], [0.2, 0.8], [0.9, 0.1], [0.8, 0.2]]),
    )
    message = refuse(classes, scores)
    marks = take(message, r"pass (numpy\.asarray\(qrels\) == \d+), scores", qrels=classes)
    group = take(message, r"group=(\[.*?\])")
    assert mean(marks, take(message, r"(scores\[.*?\])", scores=scores), group=group) == 0.5


@pytest.mark.parametrize("kind", [np.array, list])
def test_flat_numbers(kind: Callable[[Any], Any]) -> None:
    qrels, run = kind([0, 1, 1]), kind([0.9, 0.8, 0.1])
    assert mean(qrels, run, group=take(refuse(qrels, run), r"group=(\[.*?\])")) == 0.5


@pytest.mark.parametrize(
    "options", [{}, {"duplicates": "first"}, {"repeated": "once"}, {"repeated": "each"}]
)
@pytest.mark.parametrize("mark", [int, bool, float, str])
def test_lists_of_marks_are_no_ids(options: dict[str, str], mark: Callable[[int], Any]) -> None:
    marks = {1: [0, 1, 1], 2: [1, 0]}
    run = {1: [6, 7, 8], 2: [9, 5]}
    qrels = {query: list(map(mark, grades)) for query, grades in marks.items()}
    message = refuse(qrels, run, **options)
    judged = {
        query: take(message, r"(dict\(zip\(.*?\)\))", items=run[query], grades=marks[query])
        for query in run
    }
    assert mean(judged, run, **({} if "repeated" in options else options)) == MEAN


def test_lists_of_grades_are_no_ids() -> None:
    qrels, run = [[3, 0, 2, 0], [0, 3]], [[6, 7, 8, 9], [9, 5]]
    message = refuse(qrels, run)
    judged = [
        take(message, r"(dict\(zip\(.*?\)\))", items=items, grades=grades)
        for items, grades in zip(run, qrels, strict=True)
    ]
    assert mean(judged, run) == (1 + 1 / 2) / 2


def test_marks_of_items_that_are_not_there() -> None:
    qrels, scores = (
        np.array([[0, 1, 0], [1, 0, 0]]),
        np.array([[-np.inf, 0.1, 0.2], [0.3, 0.2, 0.1]]),
    )
    masked = take(refuse(qrels, scores), r"(numpy\.ma\.\S+\(scores\))", scores=scores)
    assert mean(qrels, masked) == MEAN
    flat = refuse(qrels.ravel(), scores.ravel(), group=[3, 3])
    masked = take(flat, r"(numpy\.ma\.\S+\(scores\))", scores=scores.ravel())
    assert mean(qrels.ravel(), masked, group=[3, 3]) == MEAN
    grades = np.where(np.arange(3) == 2, np.nan, qrels)
    clean = np.nan_to_num(scores, neginf=-1)
    judged = take(refuse(grades, clean), r"(numpy\.ma\.\S+\(qrels\))", qrels=grades)
    assert mean(judged, clean) == MEAN


@pytest.mark.parametrize("mask", [np.asarray, np.ma.masked_invalid])
def test_marks_among_the_best_k(mask: Callable[[Any], Any]) -> None:
    ids, scores = np.array([[6, 7, 8], [9, 5, 4]]), np.array([[0.9, 0.8, -np.inf], [0.9, 0.8, 0.7]])
    message = refuse([[7], [9]], (mask(scores), ids))
    ids = take(message, r"(numpy\.where\(.*?-1\))", ids=ids, scores=scores)
    assert mean([[7], [9]], (mask(scores), ids)) == MEAN


# --- Documents and data sets ------------------------------------------------------------------


def document(**fields: Any) -> Any:
    return SimpleNamespace(page_content="…", **fields)


TEXT = {"1": ["6", "7"], "2": ["9"]}


@pytest.mark.parametrize(
    "make",
    [
        lambda item: {"id": item},
        lambda item: {"_id": item, "text": "…"},
        lambda item: document(id=item, metadata={}),  # LangChain's
        lambda item: SimpleNamespace(node_id=item, text="…", metadata={}),  # LlamaIndex'
    ],
)
def test_documents_as_judgments(make: Callable[[str], Any]) -> None:
    assert mean({"1": [make("7")], "2": [make("9")]}, TEXT) == MEAN
    assert mean([[make("7")], (make("9"),)], [*TEXT.values()]) == MEAN
    assert mean({"0": [], "1": [make("7")], "2": [make("9")]}, TEXT | {"0": ["1"]}) == 0.5
    listed = {query: [make(item) for item in items] for query, items in TEXT.items()}
    assert mean({"1": [make("7")], "2": [make("9")]}, listed) == MEAN


@pytest.mark.parametrize("option", ["exclude", "only", "ignore"])
def test_documents_as_pairs(option: str) -> None:
    pairs = {"1": ["7", "8"], "2": ["9"]}
    qrels, run = {"1": ["7", "6"], "2": ["9", "5"]}, {"1": ["8", "7", "6"], "2": ["9", "5"]}
    documents = {
        query: [{"id": item, "score": 0.5} for item in items] for query, items in pairs.items()
    }
    expected = mean(qrels, run, "AP", **{option: pairs})
    assert mean(qrels, run, "AP", **{option: documents}) == expected
    repeated = {query: [*items, *items] for query, items in pairs.items()}
    assert mean(qrels, run, "AP", **{option: repeated}) == expected


def test_marks_of_pairs_may_be_ids() -> None:
    """Pairs may repeat an item, also items 0 and 1."""
    assert mean({1: [2, 0]}, {1: [0, 1, 2]}, exclude={1: [0, 1, 1]}) == 1


def test_documents_without_an_id() -> None:
    def make(item: str) -> Any:
        return document(id=None, metadata={"source": item})

    qrels = {"1": [make("7")], "2": [make("9")]}
    named = re.search(r"such as (\S+)\.$", refuse(qrels, TEXT))
    assert named
    columns = {"item": named[1]}
    assert mean(qrels, TEXT, columns={"qrels": columns}) == MEAN
    assert mean(qrels, {"1": [make("6"), make("7")], "2": [make("9")]}, columns=columns) == MEAN
    assert "such as" not in refuse({"1": [document(id=None, metadata={})]}, TEXT)


def test_lists_of_spark_are_refused() -> None:
    """A row of a DataFrame of Spark is one item: its lists become rows first."""
    frame: Any = SimpleNamespace(columns=["user", "recommendations"])
    with pytest.raises(germane.errors.FormatError, match=r"inline\(recommendations\)"):
        germane.spark.Side.of("run", frame, None)


def test_grades_of_documents() -> None:
    graded = {"1": [{"id": "6", "relevance": 1}, {"id": "7", "relevance": 3}]}
    plain = {"1": {"6": 1, "7": 3}}
    run = {"1": ["6", "7"]}
    assert mean(graded, run, "nDCG") == mean(plain, run, "nDCG") < 1
    scored = {"1": [{"id": "6", "score": 1}, {"id": "7", "score": 3}]}
    message = refuse(scored, run)
    columns = [ast.literal_eval(found) for found in re.findall(r"columns=(\{.*?\})", message)]
    assert mean(scored, run, "nDCG", columns=columns[0]) == mean(plain, run, "nDCG")
    assert mean(scored, run, "nDCG", columns=columns[1]) == 1


LLAMA = {
    "queries": {"1": "what", "2": "why"},
    "corpus": {"6": "…", "7": "…", "9": "…"},
    "relevant_docs": {"1": ["7"], "2": ["9"]},
    "mode": "text",
}


def test_data_sets_of_llamaindex(tmp_path: Path) -> None:
    path = tmp_path / "dataset.json"
    path.write_text(json.dumps(LLAMA))
    for qrels in (path, LLAMA, SimpleNamespace(**LLAMA)):
        assert mean(qrels, TEXT) == MEAN
    (tmp_path / "run.json").write_text(json.dumps(TEXT))
    assert "0.7500" in command("evaluate", path, tmp_path / "run.json", "-m", "RR").stdout


@pytest.mark.parametrize("make", [dict, lambda **parts: SimpleNamespace(**parts)])
def test_data_sets_with_splits(make: Callable[..., Any], tmp_path: Path) -> None:
    test, dev = {"1": {"7": 1}, "2": {"9": 1}}, {"3": {"7": 1}}
    assert mean(make(queries={}, relevant_docs={"test": test}), TEXT) == MEAN
    qrels = make(queries={}, relevant_docs={"test": test, "dev": dev})
    message = refuse(qrels, TEXT)
    assert mean(take(message, r"Give (qrels\S+) or", qrels=qrels), TEXT) == MEAN


def test_folders_of_beir(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    for name in ("corpus", "queries"):
        (tmp_path / f"{name}.jsonl").write_text('{"_id": "7", "text": "…"}\n')
    test = tmp_path / "qrels" / "test.tsv"
    test.write_text("query-id\tcorpus-id\tscore\n1\t7\t1\n2\t9\t1\n")
    assert mean(tmp_path, TEXT) == MEAN
    assert "its judgments are in qrels/" in refuse(tmp_path / "corpus.jsonl", TEXT)
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\n3\t7\t1\n")
    paths = [ast.literal_eval(path) for path in re.findall(r"'[^']*'", refuse(tmp_path, TEXT))]
    assert str(test) in paths
    assert mean(paths[paths.index(str(test))], TEXT) == MEAN


def test_folders_of_mteb(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    rows = [
        {"query-id": "1", "corpus-id": "7", "score": 1},
        {"query-id": "2", "corpus-id": "9", "score": 1},
    ]
    (tmp_path / "qrels" / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert mean(tmp_path, TEXT) == MEAN


# --- Options ----------------------------------------------------------------------------------


def test_no_relevant_item_is_left() -> None:
    """All relevant items are excluded: that is said, and the ids are not blamed."""
    qrels, run = {1: [7], 2: [9]}, {1: [7, 6], 2: [9, 5]}
    for options in ({"exclude": qrels}, {"only": {1: [6], 2: [5]}}):
        with pytest.warns(germane.GermaneWarning) as warned:
            germane.evaluate(qrels, run, "RR", **options)
        said = " ".join(str(one.message) for one in warned)
        assert "leaves out all 2 relevant items" in said
        assert "same ids" not in said
    masks = np.array([[1, 0], [1, 0]]), np.array([[0.9, 0.1], [0.9, 0.1]])
    with pytest.warns(germane.GermaneWarning, match="all 2 relevant items") as warned:
        germane.evaluate(*masks, "RR", exclude=masks[0].astype(bool))
    assert not any("same ids" in str(one.message) for one in warned)


def test_conventions_that_a_message_names_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    run = tmp_path / "run.json"
    files = tmp_path / "qrels.txt", run
    run.write_text('{"q1": ["a"], "q2": ["a"]}')
    words = "evaluate", *files, "--dialect", "ranx", "-m", "mrr"
    said = command(*words)
    advice = re.search(r"(--unknown \w+)", said.stderr)
    assert said.returncode == 2
    assert advice, said.stderr
    assert command(*words, *advice[1].split()).returncode == 0
    run.write_text('{"q1": [], "q3": ["a"]}')
    refused = command("evaluate", *files, "-m", "RR", "--empty", "error")
    assert refused.returncode == 2
    assert "without results" in refused.stderr


# --- What newcomers try first, and what the message then says --------------------------------------

BOUGHT = {"u1": ["a", "b"], "u2": ["c"]}
SHOWN = {"u1": ["b", "x"], "u2": ["x", "c"]}
EXPECTED = germane.evaluate(BOUGHT, SHOWN, "RR")["RR"].mean


def test_ids_of_one_query_need_the_query() -> None:
    assert "or [[item, …]] for a query without id" in refuse(BOUGHT["u1"], SHOWN["u1"])
    assert mean([BOUGHT["u1"]], [SHOWN["u1"]]) == 1
    with pytest.raises(germane.errors.GradeError, match="evaluate takes ids"):
        germane.score(SHOWN["u1"], "AP", relevant=2)
    with pytest.raises(germane.errors.GradeError) as raised:
        germane.score(["1", "0"], "AP", relevant=2)
    assert "evaluate" not in str(raised.value)


@pytest.mark.parametrize("arrow", ["0", "1"])
def test_a_series_of_lists_becomes_a_dict(arrow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GERMANE_ARROW", arrow)
    germane.errors.has_arrow.cache_clear()
    bought, shown = pandas.Series(BOUGHT), pandas.Series(SHOWN)
    with pytest.raises(germane.GermaneError, match=r"give to_dict\(\)"):
        germane.evaluate(bought, shown, "RR")
    assert mean(bought.to_dict(), shown.to_dict()) == EXPECTED
    monkeypatch.undo()
    germane.errors.has_arrow.cache_clear()


def test_swapped_columns_and_files_are_recognized(tmp_path: Path) -> None:
    swapped = {"user": ["b", "x"], "item": ["u1", "u1"], "score": [2.0, 1.0]}
    with pytest.raises(germane.errors.CoverageError, match="columns were swapped"):
        germane.evaluate(BOUGHT, pandas.DataFrame(swapped), "RR")
    with pytest.raises(germane.errors.CoverageError, match=r"the same ids\?$"):
        germane.evaluate(BOUGHT, {"z": ["a"]}, "RR")
    message = refuse(pandas.DataFrame(swapped), pandas.DataFrame({"user": ["b"], "item": ["u1"]}))
    assert message.endswith("If this is a run, give it after the judgments.")


def test_rows_without_scores_are_numbered() -> None:
    rows = pandas.DataFrame({"user": ["u1", "u1", "u2", "u2"], "item": ["b", "x", "x", "c"]})
    assert "number them in a column rank" in refuse(BOUGHT, rows)
    assert mean(BOUGHT, rows.assign(rank=rows.groupby("user").cumcount() + 1)) == EXPECTED


def test_lists_of_objects_in_json(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps([{"question": user, "chunks": SHOWN[user]} for user in SHOWN]))
    assert '{"query": …, "hits": [item, …]}' in refuse(BOUGHT, path)
    path.write_text(json.dumps([{"query": user, "hits": SHOWN[user]} for user in SHOWN]))
    assert mean(BOUGHT, path) == EXPECTED
    rows = [{"query": user, "item": item} for user, items in BOUGHT.items() for item in items]
    path.write_text(json.dumps(rows))
    assert mean(path, SHOWN) == mean(pandas.read_json(path), SHOWN) == EXPECTED


def test_columns_keep_their_names(tmp_path: Path) -> None:
    bought = pandas.DataFrame({"user_id": ["u1", "u2"], "item_id": ["a", "b"]})
    shown = {"user_id": ["u1", "u2"], "item_id": ["a", "x"], "score": [2.0, 1.0]}
    run, mappings = pandas.DataFrame(shown), ({"u1": ["a"], "u2": ["b"]}, {"u1": ["a"]})
    renamed = run.rename(columns={"user_id": "customer_id"})
    results = germane.evaluate_many(bought, {"one": renamed, "two": run}, "RR")
    assert [*results.to_pandas()] == ["run", "user_id", "RR"], "the judgments come first"
    assert results.table_per_query().columns == ("run", "user_id", "RR")
    assert germane.evaluate(mappings[0], renamed, "RR").to_pandas().columns[0] == "customer_id"
    assert germane.evaluate(*mappings, "RR").to_pandas().columns[0] == "query"
    differences = germane.compare(results).queries("RR", "two", "one")
    assert "user_id" in differences.to_pandas()
    assert differences.table().columns[0] == "user_id"
    chosen = germane.choose_judgments(bought, {"one": run}, "RR")
    assert [*chosen.to_pandas()] == ["user_id", "item_id", "weight"]
    columns: dict[str, Any] = {"query": "run"}
    odd = germane.evaluate_many(
        bought.rename(columns={"user_id": "run"}),
        {"one": run.rename(columns={"user_id": "run"})},
        "RR",
        columns=columns,
    )
    assert [*odd.to_pandas()] == ["run", "query", "RR"], "two columns cannot be called run"
    path = tmp_path / "run.csv"
    path.write_text("u1,a,2.0\nu2,x,1.0\n")
    places = {"run": {"query": 0, "item": 1, "score": 2}}
    numbered = germane.evaluate(mappings[0], path, "RR", columns=places)
    assert numbered.to_pandas().columns[0] == "query", "a place is no name"


# --- Cells and columns of frames that looked like something else --------------------------------

JUDGED = pandas.DataFrame({"user_id": [1, 1, 2], "item_id": [10, 11, 20]})
RANKED = pandas.DataFrame(
    {
        "user_id": [1, 1, 1, 2, 2],
        "item_id": [12, 10, 11, 20, 21],
        "score": [0.9, 0.8, 0.7, 0.6, 0.5],
    }
)
OF_BOTH = (1 / 2 + 1) / 2  # RR


def test_sets_are_no_results_of_a_frame() -> None:
    """Arrow makes lists of sets, in any order; sets are judgments, where order is no matter."""
    lists = {"user_id": [1, 2], "recs": [[12, 10, 11], [20, 21]]}
    for cells in (set, frozenset):
        rows = [cells(row) for row in lists["recs"]]
        assert "a set has none" in refuse(JUDGED, pandas.DataFrame({**lists, "recs": rows}))
    truth = pandas.DataFrame({"user_id": [1, 2], "items": [{10, 11}, {20}]})
    assert mean(truth, pandas.DataFrame(lists)) == OF_BOTH


@pytest.mark.parametrize("name", ["scores", "similarities", "ratings", "Distances"])
@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_scores_beside_lists_of_items_are_not_ignored(name: str, make: Any) -> None:
    columns = {
        "user_id": [1, 2],
        "recs": [[10, 11, 12], [21, 20]],
        name: [[0.8, 0.7, 0.9], [0.5, 0.6]],
    }
    message = refuse(JUDGED, make(columns))
    frame = pandas.DataFrame(columns)
    rows = take(message, r"(frame\.explode\(\[.*?\]\))", frame=frame)
    named = take(message, r"columns=(\{.*?\}\})")
    options = {"scores": "distances"} if "scores=distances" in message else {}
    rows[name] *= -1 if options else 1
    assert mean(JUDGED, rows, columns=named, **options) == OF_BOTH
    assert f"leave out {name!r}" in message
    assert mean(JUDGED, frame.drop(columns=name)) == (1 + 1 / 2) / 2


def test_structured_arrays_are_frames() -> None:
    qrels, run = (frame.to_records(index=False) for frame in (JUDGED, RANKED))
    plain = np.asarray(run, run.dtype.descr)
    for array in (run, plain):
        assert mean(qrels, array) == mean(JUDGED, array) == mean(qrels, RANKED) == OF_BOTH
    assert germane.compare(qrels, {"a": run, "b": plain}, "RR").pairs
    assert germane.explain(qrels, run, "RR", query=1)
    assert "no column is the query" in refuse(np.array([(1, 10)], "i8,i8"), run)


def test_an_index_with_names_is_made_columns() -> None:
    for frame in (
        JUDGED.set_index("user_id"),
        JUDGED.assign(relevance=1).set_index(["user_id", "item_id"]),
    ):
        assert "reset_index()" in refuse(frame, RANKED)
        assert mean(frame.reset_index(), RANKED) == OF_BOTH
    series = JUDGED.assign(relevance=1).set_index(["user_id", "item_id"])["relevance"]
    assert "reset_index()" in refuse(series, RANKED)
    assert "to_dict()" not in refuse(series, RANKED)
    assert mean(series.reset_index(), RANKED) == OF_BOTH
    assert "reset_index" not in refuse(JUDGED.rename(columns={"user_id": "x"}), RANKED)


@pytest.mark.parametrize("name", ["position", "Pos", "place"])
def test_a_column_of_places_is_named_as_ranks(name: str) -> None:
    """As a score, the last place would be the best."""
    run = RANKED.drop(columns="score").assign(**{name: [1, 2, 3, 1, 2]})
    named = take(refuse(JUDGED, run), r"has the ranks: columns=(\{.*?\})")
    assert mean(JUDGED, run, columns=named) == OF_BOTH


def test_numbers_in_text_are_cast() -> None:
    text = RANKED.assign(score=RANKED.score.astype(str))
    assert refuse(JUDGED, text).endswith("Cast it to float64.")
    assert mean(JUDGED, text.astype({"score": "float64"})) == OF_BOTH
    assert "Cast" not in refuse(JUDGED, RANKED.assign(score="high"))


def test_lists_that_numpy_wrote_are_split() -> None:
    truth = pandas.DataFrame({"user_id": [1, 2], "items": ["[10 11]", "[20]"]})
    run = {1: ["12", "10", "11"], 2: ["20", "21"]}
    read = take(refuse(truth, run), r"give (\{.*\})", frame=truth)
    assert mean(read, run) == OF_BOTH
