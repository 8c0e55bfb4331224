"""exclude= and only=: every input gives the numbers of dicts without the results that are no candidates."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import germane
from germane import CoverageError
from germane.errors import GermaneError
from germane.readers.arrays import NumberedRun

from inputs import INPUTS, LONG, TOY_QRELS, TOY_RUN, Numbered, Qrels, Scores

MEASURES = "AP nDCG P@2 R@3 RR Judged@3 NumRet Rprec"
Pairs = dict[str, list[str]]

EXCLUDE: Pairs = {
    "1": ["a", "x", "nowhere"],
    "10": [LONG + "2", "m"],
    "none-relevant": ["a", "b", "x"],
    "nobody-judged": ["a"],
    "elsewhere": ["a"],
}
ONLY: Pairs = {
    "1": ["a", "é", "c", "x", "nowhere"],
    "10": [LONG, LONG + "1", "x", "漢"],
    "none-relevant": [],
    "missing": ["a"],
}


def keep(run: Scores, exclude: Pairs | None, only: Pairs | None) -> Scores:
    return {
        query: {
            item: score
            for item, score in got.items()
            if item not in (exclude or {}).get(query, ())
            and (only is None or item in only.get(query, ()))
        }
        for query, got in run.items()
    }


def number(name: str, qrels: Qrels, run: Scores, pairs: Pairs) -> dict[Any, list[Any]]:
    """The pairs by the numbers of rows and columns, or of places in flat arrays."""
    numbered = Numbered(qrels, run)
    known = {
        query: [item for item in got if item in numbered.items]
        for query, got in pairs.items()
        if query in numbered.queries
    }
    if name not in ("groups", "scattered groups"):
        return {
            numbered.queries.index(query): [numbered.items.index(item) for item in got]
            for query, got in known.items()
        }
    cells = ~np.ma.getmaskarray(numbered.grades) | ~np.ma.getmaskarray(numbered.scores)
    at, columns = np.nonzero(cells)
    if "scattered" in name:
        order = np.argsort(columns, kind="stable")
        at, columns = at[order], columns[order]
    places = {
        (numbered.queries[q], numbered.items[i]): place
        for place, (q, i) in enumerate(zip(at.tolist(), columns.tolist(), strict=True))
    }
    return {
        query: [places[query, item] for item in got if (query, item) in places]
        for query, got in known.items()
    }


@pytest.mark.parametrize("choice", ["exclude", "only", "both"])
@pytest.mark.parametrize("name", INPUTS)
def test_every_input(name: str, choice: str, tmp_path: Path) -> None:
    one = INPUTS[name]
    run = one.prepare(TOY_QRELS, TOY_RUN)
    exclude, only = {"exclude": (EXCLUDE, None), "only": (None, ONLY), "both": (EXCLUDE, ONLY)}[
        choice
    ]
    kept = keep(run, exclude, only)
    expected = germane.evaluate(TOY_QRELS, kept, MEASURES)
    given = one.make(TOY_QRELS, run, tmp_path)
    pairs: dict[str, Any] = {"exclude": exclude, "only": only}
    is_named = "item_ids" in given.options
    is_array = not is_named and (issubclass(one.kind, NumberedRun) or given.queries is not None)
    if is_array:
        if only is not None:  # arrays also have a row for the query that nobody judged
            pairs["only"] = only | {"nobody-judged": []}
        pairs = {
            side: None if held is None else number(name, TOY_QRELS, run, held)
            for side, held in pairs.items()
        }
    options = {**given.options, **{side: held for side, held in pairs.items() if held is not None}}
    result = germane.evaluate(given.qrels, given.run, MEASURES, **options)
    names = dict(enumerate(given.queries or ()))
    for measure in expected:
        values = {names.get(q, q): value for q, value in result[measure].per_query.items()}
        assert {q: values[q] for q in TOY_QRELS} == expected[measure].per_query, measure
    removed = sum(len(run[q]) - len(kept[q]) for q in TOY_QRELS if q in run)
    extra = result.counts.excluded - removed
    assert extra == 0 or (is_array and extra == 1)  # of the query that nobody judged


def forms(folder: Path) -> dict[str, Any]:
    rows = [(query, item) for query, got in EXCLUDE.items() for item in got]
    query, item = zip(*rows, strict=True)
    table = pa.table({"query_id": query, "doc_id": item, "rating": [5.0] * len(rows)})
    pa.csv.write_csv(table, folder / "seen.csv")
    (folder / "seen.json").write_text(json.dumps(EXCLUDE))
    (folder / "seen.txt").write_text("".join(f"{q} 0 {i} 1\n" for q, i in rows), "utf-8")
    return {
        "lists": EXCLUDE,
        "sets": {query: set(got) for query, got in EXCLUDE.items()},
        "dicts": {query: dict.fromkeys(got, "a date") for query, got in EXCLUDE.items()},
        "a frame": table,
        "rows twice": pa.concat_tables([table, table]),
        "a stream": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(2)),
        ".csv": folder / "seen.csv",
        ".json": folder / "seen.json",
        "TREC": str(folder / "seen.txt"),
        "qrels": germane.read_qrels(folder / "seen.txt"),
    }


FORMS = (
    "lists",
    "sets",
    "dicts",
    "a frame",
    "rows twice",
    "a stream",
    ".csv",
    ".json",
    "TREC",
    "qrels",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["dicts", "ranked lists", "columns, pandas", "TREC file, plain"])
def test_every_form(form: str, name: str, tmp_path: Path) -> None:
    exclude = forms(tmp_path)[form]
    given = INPUTS[name].make(TOY_QRELS, TOY_RUN, tmp_path)
    results = germane.evaluate_many(given.qrels, {"a": given.run}, MEASURES, exclude=exclude)
    expected = germane.evaluate(TOY_QRELS, keep(TOY_RUN, EXCLUDE, None), MEASURES)
    assert {m: results["a"][m].per_query for m in expected} == {
        m: expected[m].per_query for m in expected
    }
    assert "7 results excluded" in results["a"].table().text()


def test_integers_and_text() -> None:
    qrels, run = {1: {7: 1, 8: 1}}, {1: {6: 3.0, 7: 2.0, 8: 1.0}}
    assert germane.evaluate(qrels, run, "RR", exclude={1: [6]})["RR"].mean == 1.0
    frame = pa.table({"user": [1, 1, 1], "item": [6, 7, 8], "score": [3.0, 2.0, 1.0]})
    for seen in ({1: [6]}, pa.table({"user": [1], "item": [6]}), {1: np.array([6])}):
        assert germane.evaluate(qrels, frame, "RR", exclude=seen)["RR"].mean == 1.0
    with pytest.raises(
        CoverageError, match="the item ids of run and exclude= have different types"
    ):
        germane.evaluate(qrels, frame, exclude={1: ["6"]})
    with pytest.raises(CoverageError, match=r"no query of exclude= is in the qrels. exclude: '1'"):
        germane.evaluate(qrels, run, exclude={"1": [6]})


def test_csv_beside_integers(tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("user,item\n1,6\n")
    qrels, run = {1: {7: 1, 8: 1}}, {1: {6: 3.0, 7: 2.0, 8: 1.0}}
    frame = pa.table({"user": [1, 1, 1], "item": [6, 7, 8], "score": [3.0, 2.0, 1.0]})
    array = np.array([[0.0] * 6 + [3.0, 2.0, 1.0]] * 2)
    for given in (run, frame, array, np.array([[6, 7, 8]] * 2)):
        result = germane.evaluate(qrels, given, "RR", exclude=tmp_path / "seen.csv")
        assert result["RR"].mean == 1.0
        assert result.counts.excluded == 1


def test_a_mask_and_a_matrix_beside_arrays() -> None:
    scores = np.array([[0.9, 0.8, 0.1], [0.2, 0.3, 0.4]])
    grades = np.array([[0, 1, 0], [1, 0, 0]])
    seen = np.array([[True, False, False], [False, True, True]])
    assert germane.evaluate(grades, scores, "RR", exclude=seen)["RR"].mean == 1.0
    assert scores[0, 0] == 0.9
    assert germane.evaluate(grades, scores, "RR", only=~seen)["RR"].mean == 1.0
    x = np.eye(3)
    found = germane.evaluate_embeddings(
        x, x, "RR", qrels={0: [1]}, exclude={0: [0]}, missing="skip"
    )
    assert found["RR"].mean == 1.0
    for similarity in ("dot", "euclidean"):
        found = germane.evaluate_embeddings(
            x, x, "RR", qrels={0: [2]}, exclude={0: [0, 1]}, similarity=similarity
        )
        assert found["RR"].mean == 1.0
        assert found.counts.excluded == 2


def test_repeated_rows_that_are_excluded_are_no_error() -> None:
    frame = pa.table({"qid": ["q"] * 3, "docid": ["x", "x", "a"], "score": [3.0, 2.0, 1.0]})
    assert germane.evaluate({"q": ["a"]}, frame, "RR", exclude={"q": ["x"]})["RR"].mean == 1.0
    lists = {"q": ["x", "x", "a"]}
    assert germane.evaluate({"q": ["a"]}, lists, "RR", exclude={"q": ["x"]})["RR"].mean == 1.0


def test_other_verbs() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    run = {"q": {"x": 3.0, "y": 2.0, "a": 1.0}, "r": {"b": 1.0}}
    seen = {"q": ["x"]}
    text = str(germane.explain(qrels, run, "AP", query="q", exclude=seen))
    assert "AP = (1/2) / 1 = 0.5000" in text
    assert "x" not in [line.split()[1] for line in text.splitlines()[2:4]]
    evaluator = germane.Evaluator(qrels, "AP", exclude=seen)
    for query, got in run.items():
        evaluator.update({query: got})
    result = evaluator.result()
    assert result["AP"].mean == germane.evaluate(qrels, run, "AP", exclude=seen)["AP"].mean == 0.75
    assert result.counts.excluded == 1
    both = germane.compare(qrels, {"a": run, "b": run}, "AP", exclude=seen)
    assert "0.7500" in str(both)
    assert germane.evaluate(qrels, run, "AP", exclude={})["AP"].mean == pytest.approx(2 / 3)
    sets = germane.evaluate(qrels, run, "AP", only={"q": ["a"], "r": []})
    assert sets["AP"].per_query == {"q": 1.0, "r": 0.0}


WRONG = {
    "text": ({"q": "x"}, "exclude, query 'q': judgments are"),
    "a number": (3, "exclude= is {query: items}"),
    "no such file": ("nowhere.csv", "nowhere.csv: there is no such file"),
    "no query": (pa.table({"docid": ["x"]}), "exclude: no column is the query; found 'docid'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused(name: str) -> None:
    given, message = WRONG[name]
    with pytest.raises(GermaneError) as error:
        germane.evaluate({"q": ["a"]}, {"q": ["a"]}, exclude=given)
    assert message in str(error.value)


def test_only_has_every_judged_query() -> None:
    with pytest.raises(CoverageError, match=r"only= has no candidates for 'r' \(1 of 2 judged"):
        germane.evaluate({"q": ["a"], "r": ["a"]}, {"q": ["a"]}, only={"q": ["a"]})


def test_columns_of_the_run_name_those_of_the_candidates() -> None:
    run = pa.table({"who": [1, 1], "film": [6, 7], "stars": [2.0, 1.0]})
    columns = {"query": "who", "item": "film", "score": "stars"}
    for seen in (
        pa.table({"who": [1], "film": [6]}),
        pa.table({"user": [1], "item": [6]}),
    ):
        found = germane.evaluate({1: [7]}, run, "RR", columns=columns, exclude=seen)
        assert found["RR"].mean == 1.0
    named = {**columns, "exclude": {"query": "customer", "item": "product"}}
    seen = pa.table({"customer": [1], "product": [6]})
    assert germane.evaluate({1: [7]}, run, "RR", columns=named, exclude=seen)["RR"].mean == 1.0
