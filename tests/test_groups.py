"""Per-category means, and runs collapsed into groups."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import germane
from germane.errors import NotFoundError

import inputs

QRELS = {"q1": ["a"], "q2": ["b"], "q3": ["c"], "q4": []}
RUN = {"q1": ["a"], "q2": ["x", "b"], "q3": ["x", "y", "c"], "q4": ["a"]}
CLASSES = {"q1": "cat", "q2": "dog", "q3": "cat", "q4": "<b>"}
RESULT = germane.evaluate(QRELS, RUN, "RR NumRel AP(mean=geometric)")


# --- By category -----------------------------------------------------------------------------------


def test_each_category_has_its_queries() -> None:
    groups = RESULT.by(CLASSES)
    assert list(groups) == ["<b>", "cat", "dog"]
    assert groups.counts == {"cat": 2, "dog": 1, "<b>": 1}
    assert groups["cat"]["RR"].mean == (1 + 1 / 3) / 2
    assert groups["cat"]["RR"].per_query == {"q1": 1.0, "q3": 1 / 3}
    assert groups["dog"][germane.RR].mean == 1 / 2
    assert groups["cat"]["NumRel"].mean == 2
    assert groups["cat"]["GMAP"].mean == pytest.approx(math.sqrt(1 / 3))


def test_macro_counts_categories_and_micro_counts_queries() -> None:
    groups = RESULT.by(CLASSES)
    assert groups.macro["RR"] == pytest.approx(((1 + 1 / 3) / 2 + 1 / 2 + 0) / 3)
    assert groups.micro["RR"] == RESULT["RR"].mean == pytest.approx((1 + 1 / 2 + 1 / 3 + 0) / 4)


@pytest.mark.parametrize(
    "category",
    [
        CLASSES,
        CLASSES.get,
        list(CLASSES.values()),
        tuple(CLASSES.values()),
        CLASSES.values(),
        pa.array(CLASSES.values()),
        pa.chunked_array([["cat", "dog"], ["cat", "<b>"]]),
    ],
    ids=lambda category: type(category).__name__,
)
def test_categories_come_as_a_mapping_a_function_or_a_column(category: Any) -> None:
    assert RESULT.by(category).counts == {"cat": 2, "dog": 1, "<b>": 1}


def test_a_pandas_series_is_a_mapping_unless_its_index_counts_its_values() -> None:
    pandas = pytest.importorskip("pandas")
    by_id = pandas.Series(dict(reversed(CLASSES.items())))
    assert RESULT.by(by_id)["dog"]["RR"].per_query == {"q2": 1 / 2}
    in_order = pandas.Series(list(CLASSES.values()))
    assert RESULT.by(in_order)["dog"]["RR"].per_query == {"q2": 1 / 2}
    assert RESULT.by(pandas.concat([by_id, by_id])).counts == RESULT.by(CLASSES).counts
    with pytest.raises(germane.errors.InputError, match="'q2' has two categories, 'dog' and 'cat'"):
        RESULT.by(pandas.concat([by_id, pandas.Series({"q2": "cat"})]))
    with pytest.raises(germane.errors.NotFoundError, match="no category for 'q1'"):
        RESULT.by(by_id[1:3])
    with pytest.raises(
        germane.errors.FormatError, match="two columns are needed, a query and its category"
    ):
        RESULT.by(pandas.DataFrame({name: [1] for name in "abcd"}))


def test_a_category_without_a_value_is_not_in_macro() -> None:
    result = germane.evaluate(QRELS, RUN, "RR", no_relevant="skip")
    groups = result.by(CLASSES)
    assert math.isnan(groups["<b>"]["RR"].mean)
    assert groups.macro["RR"] == pytest.approx(((1 + 1 / 3) / 2 + 1 / 2) / 2)
    assert json.loads(json.dumps(groups.to_dict()))["categories"][0]["means"] == {"RR": None}


def test_groups_print_with_definitions_and_inert() -> None:
    groups = RESULT.by(CLASSES)
    text = str(groups)
    assert "macro" in text
    assert "RR: 1 ÷ rank of the first relevant item" in text
    assert "<b>" not in groups._repr_html_().replace("&lt;b&gt;", "")
    assert repr(groups["dog"]).startswith("<'dog', 1 queries: RR=0.5000")


@pytest.mark.parametrize(
    ("category", "error", "says"),
    [
        (
            {"q1": "cat"},
            germane.errors.NotFoundError,
            r"no category for 'q2', 'q3', 'q4' \(3 of 4 queries\)",
        ),
        (["cat"], germane.errors.InputError, "1 categories for 4 queries"),
        ("cat", germane.errors.InputError, "a mapping of query to category, a function"),
        (None, germane.errors.InputError, "a mapping of query to category, a function"),
        (set("abcd"), germane.errors.InputError, "a mapping of query to category, a function"),
        (
            [["cat"], "b", "c", "d"],
            germane.errors.InputError,
            r"query 'q1': a category is .* got \['cat'\]",
        ),
    ],
)
def test_what_is_no_category(category: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        RESULT.by(category)


def test_what_is_not_there() -> None:
    groups = RESULT.by(CLASSES)
    with pytest.raises(
        germane.errors.NotFoundError, match=r"no category 'dgo'\. Did you mean 'dog'?"
    ):
        groups["dgo"]
    with pytest.raises(germane.errors.NotFoundError, match="P@5 was not evaluated"):
        groups["dog"]["P@5"]


# --- Collapsed -------------------------------------------------------------------------------------


def document(chunk: str) -> str:
    return chunk.split("#")[0]


@pytest.mark.parametrize(
    ("keep", "scores"),
    [
        ("max", {"d1": 0.7, "d2": 0.9}),
        ("first", {"d1": 0.2, "d2": 0.9}),
        ("sum", {"d1": 0.2 + 0.7, "d2": 0.9}),
    ],
)
def test_chunks_become_documents(keep: Any, scores: dict[str, float]) -> None:
    run = {"q": {"d1#1": 0.2, "d2#1": 0.9, "d1#2": 0.7}}
    assert germane.collapse(run, document, keep=keep) == {"q": scores}
    assert run == {"q": {"d1#1": 0.2, "d2#1": 0.9, "d1#2": 0.7}}, "the caller's run is as it was"


def test_a_list_keeps_the_place_of_each_groups_first_item() -> None:
    run = {"q": ["d1#3", "d1#1", "d2#1", "d1#2", "d3#1"]}
    assert germane.collapse(run, document) == {"q": ["d1", "d2", "d3"]}
    known = {"d1#3": "A", "d1#1": "A", "d2#1": "B", "d1#2": "A", "d3#1": "B"}
    assert germane.collapse(run, known) == {"q": ["A", "B"]}


def test_collapsing_comes_before_the_cutoff() -> None:
    """Of five chunks the first three are of one document; R@2 sees two documents."""
    run = {"q": ["d1#3", "d1#1", "d1#2", "d2#1"]}
    assert germane.evaluate({"q": ["d2"]}, germane.collapse(run, document), "R@2")["R@2"].mean == 1


def test_top_k_accuracy_and_unique_top_k_category_accuracy() -> None:
    """Is any of the first 3 of the query's class; is its class among the first 3 different ones."""
    classes = {f"c{i}": "cat" for i in range(9)} | {"d1": "dog", "b1": "bird", "f1": "fish"}
    run = {"q": ["c1", "c2", "d1", "c3", "b1", "f1"]}
    by_item = {"q": [item for item, name in classes.items() if name == "bird"]}
    assert germane.evaluate(by_item, run, "Success@3")["Success@3"].mean == 0
    categories = germane.collapse(run, classes)
    assert categories == {"q": ["cat", "dog", "bird", "fish"]}
    assert germane.evaluate({"q": ["bird"]}, categories, "Success@3")["Success@3"].mean == 1


def test_a_score_that_is_no_number_is_still_refused() -> None:
    run = {"q": {"d1#1": 0.2, "d1#2": math.nan}}
    with pytest.raises(germane.errors.ScoreError):
        germane.evaluate({"q": ["d1"]}, germane.collapse(run, document), "AP")


@pytest.mark.parametrize(
    ("run", "key", "keep", "error", "says"),
    [
        (
            {"q": {"x": 1.0}},
            {"a": "A"},
            "max",
            germane.errors.NotFoundError,
            "item 'x' has no group",
        ),
        (
            {"q": {"x": 1.0}},
            5,
            "max",
            germane.errors.InputError,
            "key is a mapping of item to group",
        ),
        (
            {"q": {"x": 1.0}},
            list,
            "max",
            germane.errors.InputError,
            r"item 'x': a group is .* got \['x'\]",
        ),
        (
            {"q": {"x": 1.0}},
            document,
            "min",
            germane.errors.PolicyError,
            "keep takes max, first or sum",
        ),
        ({"q": ["x"]}, document, "sum", germane.errors.PolicyError, "a ranked list has none"),
        (
            {"q": "xyz"},
            document,
            "max",
            germane.errors.FormatError,
            "or a list of items, best first; got 'xyz'",
        ),
        (5, document, "max", germane.errors.InputError, "a run is the path of a file"),
        ("a.run", document, "max", germane.errors.InputError, "a.run: there is no such file"),
        (
            np.array([[0.5]]),
            document,
            "max",
            germane.errors.InputError,
            "collapse takes {query: {item: score}}",
        ),
    ],
)
def test_what_cannot_be_collapsed(
    run: Any, key: Any, keep: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        germane.collapse(run, key, keep=keep)


# --- Collapsed frames and files --------------------------------------------------------------------

CHUNKS = [
    ("q2", "d1#1", 0.2),
    ("q1", "d3#1", 0.5),
    ("q2", "d2#1", 0.9),
    ("q1", "d1#1", 0.1),
    ("q2", "d1#2", 0.7),
    ("q1", "d3#2", 0.5),
    ("q2", "d1#3", -4.0),
]


def as_dict(rows: Any) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for query, item, score in rows:
        run.setdefault(query, {})[item] = score
    return run


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("form", inputs.COLUMNS)
@pytest.mark.parametrize("keep", ["max", "first", "sum"])
def test_frames_collapse_as_dicts_do(form: str, keep: Any, tmp_path: Path) -> None:
    given = inputs.COLUMNS[form](inputs.table(CHUNKS), tmp_path)
    expected = germane.collapse(as_dict(CHUNKS), document, keep=keep)
    found = germane.collapse(given, document, keep=keep)
    ids = ["qid", "docno"] if form == "PyTerrier" else ["query_id", "doc_id"]
    assert found.column_names == [*ids, "score"]
    shown = as_dict(rows_of(found))
    assert shown == expected
    assert [*map(list, shown.values())] == [[*expected[query]] for query in shown]


@pytest.mark.parametrize("read", [lambda path: path, germane.read_run])
def test_trec_files_collapse(read: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {i} 1 {s} t\n" for q, i, s in CHUNKS))
    found = germane.collapse(read(path), document, keep="sum")
    assert found.column_names == ["query", "item", "score"]
    assert as_dict(rows_of(found)) == germane.collapse(as_dict(CHUNKS), document, keep="sum")
    qrels = {"q1": ["d3"], "q2": ["d2"]}
    assert germane.evaluate(qrels, found, "RR")["RR"].mean == 1


def test_nested_json_and_lists_of_lists_collapse(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"q": {"d1#2": 0.9, "d2#1": 0.8, "d1#1": 0.7}}')
    assert germane.collapse(path, document).to_pydict() == {
        "query": ["q", "q"], "item": ["d1", "d2"], "score": [0.9, 0.8],
    }  # fmt: skip
    for given in ([["d1#2", "d2#1", "d1#1", "d3#1"]], tmp_path / "lists.json"):
        (tmp_path / "lists.json").write_text('{"q": ["d1#2", "d2#1", "d1#1", "d3#1"]}')
        found = germane.collapse(given, document).to_pydict()
        assert (found["item"], found["rank"]) == (["d1", "d2", "d3"], [1, 2, 4])


def test_groups_in_a_column_or_as_numbers() -> None:
    """Of two categories each, as a column, as a mapping and as a function."""
    run = pa.table({"user": [7, 7, 7, 8], "item": [1, 2, 3, 2], "score": [3.0, 2.0, 1.0, 5.0]})
    classes = {1: 10, 2: 20, 3: 10}
    expected = [(7, 10, 3.0), (7, 20, 2.0), (8, 20, 5.0)]
    column = run.append_column("class", pa.array([classes[i] for i in run["item"].to_pylist()]))
    assert rows_of(germane.collapse(run, classes)) == expected
    assert rows_of(germane.collapse(run, classes.__getitem__)) == expected
    by_column = germane.collapse(column, "class")
    assert rows_of(by_column) == expected
    assert by_column.column_names == ["user", "class", "score"]
    names = {"query": "user", "item": "item", "score": "score"}
    assert rows_of(germane.collapse(run, classes, columns=names)) == expected


def test_a_group_stands_where_its_best_item_stands() -> None:
    """The order matters for ties=given: f's best chunk stands behind c's."""
    run = {"q": {"f1": 0.5, "c1": 1.0, "f2": 1.0}}
    frame = pa.table({"query": ["q"] * 3, "item": [*run["q"]], "score": [*run["q"].values()]})
    for source in (run, frame):
        found = germane.evaluate(
            {"q": ["f"]}, source, "RR", ties="given", collapse=lambda item: item[0]
        )
        assert found["RR"].mean == 1 / 2
    collapsed = germane.collapse(run, lambda item: item[0])
    assert list(collapsed["q"]) == ["c", "f"]
    assert list(germane.collapse(run, lambda item: item[0], keep="first")["q"]) == ["f", "c"]
    assert germane.collapse(frame, lambda item: item[0])["item"].to_pylist() == ["c", "f"]


def test_ranked_columns_collapse_to_the_best_rank() -> None:
    run = pa.table({"qid": ["q"] * 4, "docid": ["b#1", "a#1", "b#2", "c"], "rank": [4, 2, 1, 3]})
    found = germane.collapse(run, document)
    assert rows_of(found) == [("q", "a", 2), ("q", "b", 1), ("q", "c", 3)]
    assert germane.evaluate({"q": ["a"]}, found, "RR")["RR"].mean == 1 / 2
    with pytest.raises(germane.errors.PolicyError, match="a ranked list has none"):
        germane.collapse(run, document, keep="sum")
    scored = run.append_column("score", pa.array([0.1, 0.8, 0.9, 0.2]))
    assert rows_of(germane.collapse(scored, document, keep="sum")) == [
        ("q", "b", 0.1 + 0.9), ("q", "a", 0.8), ("q", "c", 0.2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "error", "says"),
    [
        (
            {"d1#1": "A", "d2#1": "B"},
            germane.errors.NotFoundError,
            "query 'q1': item 'd3#1' has no group",
        ),
        ({"d1#1": 1}.get, germane.errors.FormatError, None),
        (
            lambda item: 1 if item < "d2" else "x",
            germane.errors.FormatError,
            "all be text or all be whole",
        ),
        (
            "class",
            germane.errors.FormatError,
            "no column 'class'; found 'query_id', 'doc_id', 'score'",
        ),
        (5, germane.errors.InputError, "key is a mapping of item to group, or a function; got 5"),
    ],
)
def test_what_cannot_collapse_a_frame(key: Any, error: Any, says: str | None) -> None:
    run = inputs.table(CHUNKS)
    with pytest.raises(error, match=says):
        germane.evaluate({"q1": ["d1"]}, germane.collapse(run, key), "AP")


def test_a_mapping_of_ids_of_another_type() -> None:
    """Files of text have no integers."""
    result = germane.evaluate({"0": ["d"], "1": ["d"]}, {"0": ["d"], "1": ["e"]}, "RR")
    with pytest.raises(
        NotFoundError,
        match=r"'0', '1' \(2 of 2 queries\)\. The mapping's ids are int, but the queries' are str\.$",
    ):
        result.by({0: "a", 1: "b"})
    with pytest.raises(NotFoundError, match=r"no category for '1' \(1 of 2 queries\)\.$"):
        result.by({"0": "a"})
