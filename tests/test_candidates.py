"""exclude=, only= and ignore=: every input gives the numbers of dicts without the results that are no candidates."""

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import germane
from germane.errors import CoverageError, GermaneError

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


IGNORE: Pairs = {
    "1": ["a", "x", "nowhere"],
    "10": [LONG + "2", "m", "漢"],
    "none-relevant": ["b"],
    "missing": ["a"],
    "nobody-judged": ["a"],
}


def keep(
    run: Scores, exclude: Pairs | None, only: Pairs | None, ignore: Pairs | None = None
) -> Scores:
    return {
        query: {
            item: score
            for item, score in got.items()
            if item not in (exclude or {}).get(query, ())
            and item not in (ignore or {}).get(query, ())
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


CHOICES: dict[str, dict[str, Pairs]] = {
    "exclude": {"exclude": EXCLUDE},
    "only": {"only": ONLY},
    "both": {"exclude": EXCLUDE, "only": ONLY},
    "ignore": {"ignore": IGNORE},
    "all": {"exclude": {"10": [LONG + "1"]}, "only": ONLY, "ignore": IGNORE},
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", INPUTS)
def test_every_input(name: str, choice: str, tmp_path: Path) -> None:
    one = INPUTS[name]
    run = one.prepare(TOY_QRELS, TOY_RUN)
    exclude, only, ignore = map(CHOICES[choice].get, ("exclude", "only", "ignore"))
    kept = keep(run, exclude, only, ignore)
    judged = {
        query: {
            item: grade for item, grade in got.items() if item not in (ignore or {}).get(query, ())
        }
        or {"a junk item": 0.0}  # a query without a judgment would be left out
        for query, got in TOY_QRELS.items()
    }
    expected = germane.evaluate(judged, kept, MEASURES)
    given = one.make(TOY_QRELS, run, tmp_path)
    pairs: dict[str, Any] = {"exclude": exclude, "only": only, "ignore": ignore}
    if given.queries and only is not None:  # arrays also have the query that nobody judged
        pairs["only"] = only | {"nobody-judged": []}
    is_array = given.queries is not None and "item_ids" not in given.options
    if is_array:
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
    assert extra == 0 or (given.queries and extra == 1)  # of the query that nobody judged


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


PAIRS = {
    "blanks": "q  a\nr c \n\ns\ta\n",
    "a tab": "q\ta\nr\tc\ns\ta\n",
    "CR and LF, and no end": "\r\nq a\r\nr c\r\ns a",
    "a byte-order mark": "\ufeffq a\nr c\ns a\n",
    "a header": "query_id item_id\nq a\nr c\ns a\n",
}
"""Files of two fields per line."""


@pytest.mark.parametrize(
    "suffix", ["", ".txt", ".run", ".tsv", ".csv", ".dat", ".txt.gz", ".json", ".jsonl"]
)
@pytest.mark.parametrize("text", PAIRS)
def test_lines_of_two_fields_whatever_the_suffix(text: str, suffix: str, tmp_path: Path) -> None:
    """They are candidates, groups of items, categories of queries, and what users saw."""
    path = tmp_path / f"pairs{suffix}"
    written = PAIRS[text].encode()
    path.write_bytes(gzip.compress(written) if suffix.endswith("gz") else written)
    qrels, run = {"q": ["d"], "r": ["c"]}, {"q": ["a", "d"], "r": ["d", "c"]}

    def find(**candidates: Any) -> dict[Any, float]:
        return germane.evaluate(qrels, run, "RR", **candidates)["RR"].per_query

    assert find(exclude=path) == {"q": 1.0, "r": 0.0}
    assert find(only=path) == {"q": 0.0, "r": 1.0}
    grouped = germane.evaluate({"x": ["a"]}, {"x": {"r": 2.0, "q": 1.0}}, "RR", collapse=path)
    assert grouped["RR"].mean == 0.5
    assert list(germane.evaluate(qrels, run, "RR").by(path)) == ["a", "c"]
    shown = germane.evaluate(qrels, {"q": ["a"]}, "Coverage@1", catalogue="seen", seen=path)
    assert shown["Coverage@1"].mean == 0.5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("text", [*PAIRS.values(), "q 0 a 1\nr 0 c 1\ns 0 a 1\n"])
def test_pairs_from_a_pipe_are_those_of_a_file(text: str, packed: bool, tmp_path: Path) -> None:
    """A process substitution, such as --exclude <(cut -f1,2 seen.tsv), is opened once."""
    written = gzip.compress(text.encode()) if packed else text.encode()
    qrels, run = {"q": ["d"], "r": ["c"]}, {"q": ["a", "d"], "r": ["d", "c"]}
    for n, (name, expected) in enumerate((("exclude", [1.0, 0.0]), ("only", [0.0, 1.0]))):
        pipe = tmp_path / f"pipe{n}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(written,), daemon=True)
        writer.start()
        options: Any = {name: pipe}
        assert germane.evaluate(qrels, run, "RR", **options)["RR"].values.tolist() == expected
        writer.join(10)
        assert not writer.is_alive()


def test_lines_of_pairs_that_do_not_fit(tmp_path: Path) -> None:
    for text, says in (
        (
            "q a\nq b c\n",
            r"pairs:2: 3 fields where the file has 2 columns \(query, item\): 'q b c'",
        ),
        ("q a\nq\n", "pairs:2: 1 field where"),
        ("q 0 a 1\nq b\n", "pairs:2: 2 fields where a qrels line has 4"),
    ):
        (tmp_path / "pairs").write_text(text)
        with pytest.raises(germane.errors.FormatError, match=says):
            germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "RR", exclude=tmp_path / "pairs")


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


@pytest.mark.parametrize("name", ["exclude", "only"])
@pytest.mark.parametrize("input_format", ["scores", "svmlight"])
@pytest.mark.parametrize("everywhere", [False, True])
def test_formats_without_columns(
    name: str, input_format: str, everywhere: bool, tmp_path: Path
) -> None:
    given = tmp_path / "seen.csv"
    given.write_text("query,item\nq,x\n")
    chosen: Any = input_format if everywhere else {name: input_format}
    with pytest.raises(
        germane.errors.InputError, match=f"the format {input_format} has none. Choose"
    ):
        germane.evaluate({"q": ["a"]}, {"q": ["a"]}, input_format=chosen, **{name: str(given)})


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


# --- With ids of arrays, with groups, and with distances ---------------------------------------------

IDS: dict[str, Any] = {"query_ids": ["q", "r"], "item_ids": ["x1", "x2", "a1", "b1"]}
CHUNKS = {"x1": "X", "x2": "X", "a1": "A", "b1": "B"}
SCORES = np.array([[4.0, 3.0, 2.0, 1.0], [4.0, 1.0, 2.0, 3.0]])
NAMED = {
    "scores": SCORES,
    "top-k ids": np.argsort(-SCORES),
    "a pair": (-np.sort(-SCORES), np.argsort(-SCORES)),
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("collapsed", [False, True])
def test_arrays_with_ids(name: str, collapsed: bool) -> None:
    """Candidates have the ids that qrels have: those of columns, or of groups of columns."""
    qrels = {"q": ["A"], "r": ["B"]} if collapsed else {"q": ["a1"], "r": ["b1"]}
    seen, shown = {"q": ["x1", "nowhere"]}, {"q": ["a1", "x2"], "r": ["b1"]}
    if collapsed:
        seen, shown = {"q": ["X", "nowhere"]}, {"q": ["A", "X"], "r": ["B"]}
    options = {**IDS, "collapse": CHUNKS} if collapsed else IDS
    run = NAMED[name]
    found = germane.evaluate(qrels, run, "RR", exclude=seen, **options)
    assert found["RR"].per_query == {"q": 1.0 if collapsed else 1 / 2, "r": 1 / 2}
    found = germane.evaluate_many(qrels, {"a": run}, "RR", only=shown, **options)["a"]
    assert found["RR"].per_query == {"q": 1 / 2, "r": 1.0}


def test_embeddings_with_ids() -> None:
    def find(**options: Any) -> dict[Any, float]:
        found = germane.evaluate_embeddings(
            np.eye(2), SCORES.T, "RR", similarity="dot", query_ids=["q", "r"],
            gallery_ids=list(CHUNKS), **options,
        )  # fmt: skip
        return found["RR"].per_query

    assert find(qrels={"q": ["a1"]}, exclude={"q": ["x1"]}, missing="skip") == {"q": 1 / 2}
    assert find(qrels={"q": ["A"]}, exclude={"q": ["X"]}, collapse=CHUNKS) == {"q": 1.0}


def test_masks_have_the_ids_of_rows_and_columns() -> None:
    qrels, grades = {"q": ["a1"], "r": ["b1"]}, np.array([[0, 0, 1, 0], [0, 0, 0, 1]])
    mask = np.array([[True, True, False, False], [True, False, False, False]])
    for given in (qrels, grades):
        for seen in (mask, mask.astype(int), [["x1", "x2"], ["x1"]]):
            found = germane.evaluate(given, SCORES, "RR", exclude=seen, **IDS)
            assert found["RR"].per_query == {"q": 1.0, "r": 1.0}
        assert germane.evaluate(given, SCORES, "RR", only=~mask, **IDS)["RR"].mean == 1.0


@pytest.mark.parametrize(
    ("seen", "options", "says"),
    [
        (np.zeros((1, 4), bool), {}, "exclude= has 1 rows, but the qrels have 2"),
        (np.zeros((2, 3), bool), {}, "exclude= has 3 columns, the run has 4"),
        (np.array([[2, 3], [0, 1]]), {}, "true or false for each item; got numbers"),
        (np.zeros(4, bool), {}, r"has shape \(queries, items\); got \(4,\)"),
        ([[0, 1, 0, 0], [1, 0, 0, 0]], {}, "marks or items"),
        ([[0, 1, 0, 0], [1, 0, 0, 0]], IDS, "marks or items"),
        ([[True, False]], {}, "marks or items"),
        (np.zeros((2, 3), bool), IDS, "item_ids has 4 ids for 3 columns of exclude="),
        (np.zeros((2, 4), bool), {**IDS, "collapse": CHUNKS}, "candidates are groups"),
        ({"q": [0]}, IDS, "those of exclude= are int"),
    ],
)
def test_masks_that_do_not_fit(seen: Any, options: Any, says: str) -> None:
    grades = np.array([[0, 0, 1, 0], [0, 0, 0, 1]])
    with pytest.raises(GermaneError, match=says):
        germane.evaluate(grades, SCORES, "RR", exclude=seen, **options)


def test_candidates_are_groups_where_results_are_collapsed() -> None:
    run = {"q": {"x1": 4.0, "x2": 3.0, "a1": 2.0}}
    for groups in (CHUNKS, pa.table({"item": list(CHUNKS), "group": list(CHUNKS.values())})):
        with pytest.raises(CoverageError, match="exclude= has 'x1', which collapse= replaces"):
            germane.evaluate({"q": ["A"]}, run, "RR", collapse=groups, exclude={"q": ["x1"]})
        found = germane.evaluate({"q": ["A"]}, run, "RR", collapse=groups, exclude={"q": ["X"]})
        assert found["RR"].mean == 1.0


@pytest.mark.parametrize(
    "run",
    [
        {"q": ["x", "a"]},
        pa.table({"qid": ["q", "q"], "docid": ["x", "a"], "rank": [1, 2]}),
        [["x", "a"]],
    ],
)
def test_ranks_alone_are_no_distances(run: Any) -> None:
    qrels: Any = {"q": ["a"]} if not isinstance(run, list) else [["a"]]
    with pytest.raises(GermaneError, match="scores=distances is for scores"):
        germane.evaluate(qrels, run, "RR", scores="distances")


def test_evaluators_with_other_candidates_or_groups_do_not_merge() -> None:
    qrels, run = {"q": ["A"]}, {"q": {"x1": 2.0, "a1": 1.0}}
    choices: list[dict[str, Any]] = [
        {},
        {"collapse": CHUNKS},
        {"collapse": CHUNKS, "exclude": {"q": ["X"]}},
        {"collapse": CHUNKS, "only": {"q": ["X"]}},
        {"collapse": CHUNKS.__getitem__},
    ]
    for one in choices:
        for other in choices:
            mine, its = (germane.Evaluator(qrels, "RR", **given) for given in (one, other))
            if one is other:
                mine.add(its.reduce(run))
                mine.merge(germane.Evaluator(qrels, "RR", **other))
                continue
            with pytest.raises(germane.errors.PolicyError, match="differ in"):
                mine.merge(its)
            with pytest.raises(germane.errors.PolicyError, match="differs in"):
                mine.add(its.reduce(run))


@pytest.mark.parametrize("verb", ["gate", "report"])
def test_streams_are_read_once(verb: str) -> None:
    seen = pa.table({"query": ["q"], "item": ["X"]})
    groups = pa.table({"item": list(CHUNKS), "group": list(CHUNKS.values())})
    streams = {
        name: pa.RecordBatchReader.from_batches(table.schema, table.to_batches(1))
        for name, table in (("exclude", seen), ("collapse", groups))
    }
    qrels, run = {"q": ["A"]}, {"q": {"x1": 2.0, "a1": 1.0}}
    if verb == "gate":
        found = germane.gate(qrels, run, "RR", baseline=run, **streams)
        assert found.comparison.pairs[0].difference == 0
    else:
        assert germane.report(qrels, {"a": run, "b": run}, "RR", **streams)


@pytest.mark.parametrize("seen", [{1: ["6"]}, {1: [6.5]}])
@pytest.mark.parametrize("run", [{1: {6: 2.0, 7: 1.0}}, {1: [6, 7]}])
def test_items_of_another_type_are_refused(run: Any, seen: Any) -> None:
    for name in ("exclude", "only"):
        with pytest.raises(CoverageError, match=f"run and {name}= have different types: the run's"):
            germane.evaluate({1: [7]}, run, "RR", **{name: seen})
    assert germane.evaluate({1: [7]}, run, "RR", exclude={1: ["6", 6]})["RR"].mean == 1.0


@pytest.mark.parametrize("ids", [((1, 2), (3, 4)), (2.5, 3.5), ("a", 2), (b"a", b"x")])
def test_ids_of_every_type(ids: Any) -> None:
    a, x = ids
    for run in ({"q": {x: 2.0, a: 1.0}}, {"q": [x, a]}):
        for choice in ({"exclude": {"q": [x]}}, {"only": {"q": {a}}}):
            assert germane.evaluate({"q": [a]}, run, "RR", **choice)["RR"].mean == 1.0


def test_bytes_and_numbers_beside_text(tmp_path: Path) -> None:
    run = {b"q": {b"x": 2.0, b"a": 1.0}}
    assert germane.evaluate({b"q": {b"a": 1}}, run, "RR", exclude={b"q": [b"x"]})["RR"].mean == 1.0
    (tmp_path / "qrels.txt").write_text("1 0 7 1\n")
    for seen in ({1: [6]}, {"1": ["6"]}):
        found = germane.evaluate(
            tmp_path / "qrels.txt", np.array([[2.0, 1.0]]), "RR", exclude=seen,
            query_ids=[1], item_ids=[6, 7],
        )  # fmt: skip
        assert found["RR"].mean == 1.0


@pytest.mark.parametrize("name", ["exclude", "only"])
def test_a_sparse_matrix_that_is_empty_or_in_another_format(name: Any) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    qrels, scores = {0: {0: 1}, 1: {1: 1}}, np.array([[0.9, 0.5], [0.1, 0.4]])
    none: Any = {name: sparse.csr_matrix((2, 2))}
    dicts: Any = {name: {0: [], 1: []}}
    for measure in ("RR", "NumRet"):
        say = germane.evaluate(qrels, scores, measure, **dicts)
        assert germane.evaluate(qrels, scores, measure, **none).flat() == say.flat()
    for given in (sparse.coo_matrix(np.eye(2)), sparse.csc_matrix(np.eye(2))):
        options: Any = {name: given}
        with pytest.raises(
            germane.errors.FormatError, match=f"{name}=: a sparse matrix must be CSR"
        ):
            germane.evaluate(qrels, scores, "RR", **options)


@pytest.mark.parametrize("name", ["exclude", "ignore"])
@pytest.mark.parametrize(
    ("items", "says"),
    [
        (["A"], "'A', the only item of {}=, was neither .* differs from 'a' in letter case"),
        ([" a"], "differs from 'a' in white space"),
        (["e\u0301"], "in Unicode normalization"),
        (["x", "y", "z"], "none of the 3 items of {}= was retrieved or judged"),
    ],
)
def test_candidates_of_other_items_are_told(name: str, items: list[str], says: str) -> None:
    qrels = {"q": {"a": 1, "b": 0, "\u00e9": 1}, "p": {"c": 1}}
    run = {"q": {"a": 0.5, "d": 0.7}, "p": {"c": 1.0}}
    options: dict[str, Any] = {name: {"q": items}}
    with pytest.warns(germane.GermaneWarning, match=says.format(name)):
        result = germane.evaluate(qrels, run, "P@1", **options)
    assert "candidates of other items" in [one.what for one in result.findings]
    found = germane.check(qrels, run, "P@1", **options)
    assert "candidates of other items" in [one.what for one in found]


def test_candidates_that_a_system_left_out_itself_are_not_told() -> None:
    qrels, run = {"q": ["a"], "p": ["b"]}, {"q": ["a", "c"], "p": ["b"]}
    result = germane.evaluate(qrels, run, "P@1", exclude={"q": ["b"]})
    assert not result.findings
