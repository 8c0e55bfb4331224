"""Per-category means, and runs collapsed into groups."""

import json
import math
from typing import Any

import pytest

import germane

QRELS = {"q1": ["a"], "q2": ["b"], "q3": ["c"], "q4": []}
RUN = {"q1": ["a"], "q2": ["x", "b"], "q3": ["x", "y", "c"], "q4": ["a"]}
CLASSES = {"q1": "cat", "q2": "dog", "q3": "cat", "q4": "<b>"}
RESULT = germane.evaluate(QRELS, RUN, "RR NumRel AP(mean=geometric)")


# --- By category -----------------------------------------------------------------------------------


def test_each_category_has_its_queries() -> None:
    groups = RESULT.by(CLASSES)
    assert list(groups) == ["cat", "dog", "<b>"]
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
    "category", [CLASSES, CLASSES.get, list(CLASSES.values()), tuple(CLASSES.values())]
)
def test_categories_come_as_a_mapping_a_function_or_a_column(category: Any) -> None:
    assert RESULT.by(category).counts == {"cat": 2, "dog": 1, "<b>": 1}


def test_a_category_without_a_value_is_not_in_macro() -> None:
    result = germane.evaluate(QRELS, RUN, "RR", no_relevant="skip")
    groups = result.by(CLASSES)
    assert math.isnan(groups["<b>"]["RR"].mean)
    assert groups.macro["RR"] == pytest.approx(((1 + 1 / 3) / 2 + 1 / 2) / 2)
    assert json.loads(json.dumps(groups.to_dict()))["categories"][2]["means"] == {"RR": None}


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
            germane.AbsentError,
            r"no category for 'q2', 'q3', 'q4' \(3 of 4 queries\)",
        ),
        (["cat"], germane.InputError, "1 categories for 4 queries"),
        ("cat", germane.InputError, "a mapping of query to category, a function"),
        (None, germane.InputError, "a mapping of query to category, a function"),
    ],
)
def test_what_is_no_category(category: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        RESULT.by(category)


def test_what_is_not_there() -> None:
    groups = RESULT.by(CLASSES)
    with pytest.raises(germane.AbsentError, match=r"no category 'dgo'\. Did you mean 'dog'?"):
        groups["dgo"]
    with pytest.raises(germane.AbsentError, match="P@5 was not evaluated"):
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
    with pytest.raises(germane.ScoreError):
        germane.evaluate({"q": ["d1"]}, germane.collapse(run, document), "AP")


@pytest.mark.parametrize(
    ("run", "key", "keep", "error", "says"),
    [
        ({"q": {"x": 1.0}}, {"a": "A"}, "max", germane.AbsentError, "item 'x' has no group"),
        ({"q": {"x": 1.0}}, 5, "max", germane.InputError, "key is a mapping of item to group"),
        ({"q": {"x": 1.0}}, document, "min", germane.PolicyError, "keep takes max, first or sum"),
        ({"q": ["x"]}, document, "sum", germane.PolicyError, "a ranked list has none"),
        ({"q": "xyz"}, document, "max", germane.FormatError, "results are a list; got 'xyz'"),
        (5, document, "max", germane.InputError, "a run is the path of a file"),
        ("a.run", document, "max", germane.InputError, "collapse takes {query: {item: score}}"),
    ],
)
def test_what_cannot_be_collapsed(
    run: Any, key: Any, keep: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        germane.collapse(run, key, keep=keep)
