"""Hits as clients of search engines return them. tests/inputs.py runs every test of inputs on some."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

import germane

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d9": 2}}
pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")


def rr(run: Any, **choices: Any) -> dict[Any, float]:
    return germane.evaluate(QRELS, run, "RR", **choices)["RR"].per_query


def make(*pairs: tuple[str, Any], score: str = "score") -> list[dict[str, Any]]:
    return [{"id": item, score: value} for item, value in pairs]


def test_equal_scores_are_ordered_by_id() -> None:
    assert rr({"q1": make(("d1", 1.0), ("d2", 1.0))})["q1"] == 1 / 2  # d2 before d1
    assert rr({"q1": [{"id": "d1"}, {"id": "d2"}]})["q1"] == 1.0  # as given


def test_an_empty_list_is_an_answer() -> None:
    result = germane.evaluate(QRELS, {"q1": [], "q2": make(("d9", 1.0))}, "RR")
    assert result.counts.answered == 2


@pytest.mark.parametrize("name", ["distance", "_distance"])
@pytest.mark.parametrize("choices", [{}, {"scores": "distances"}, {"dialect": "pytrec_eval"}])
def test_distances_are_lowest_first(name: str, choices: dict[str, Any]) -> None:
    near = {"q1": make(("d2", 0.3), ("d1", 0.1), score=name), "q2": []}
    assert rr(near, **choices)["q1"] == 1.0


def test_max_distance() -> None:
    near = {"q1": make(("d2", 0.3), ("x", 0.1), ("d1", 0.5), score="distance")}
    result = germane.evaluate(QRELS, near, "R", scores="distances", max_distance=0.4)
    assert result["R"].per_query["q1"] == 0.0
    result = germane.evaluate(QRELS, near, "R", scores="distances", max_distance=0.5)
    assert result["R"].per_query["q1"] == 1.0


def test_fields_within_others() -> None:
    nodes = [
        SimpleNamespace(node=SimpleNamespace(metadata={"key": name}), score=score)
        for name, score in (("d2", 0.2), ("d1", 0.4))
    ]
    assert rr({"q1": nodes}, columns={"item": "node.metadata.key"})["q1"] == 1.0
    columns = {"run": {"item": "node.metadata.key", "score": None}}
    assert rr({"q1": nodes}, columns=columns)["q1"] == 1 / 2


def test_no_score_is_none_of_its_values() -> None:
    """LlamaIndex and Elasticsearch have the field, with None."""
    assert rr({"q1": make(("d2", None), ("d1", None))})["q1"] == 1 / 2


def test_numbers_are_ids() -> None:
    result = germane.evaluate({"q": {7: 1}}, {"q": make((8, 0.5), (7, 0.4))}, "RR")  # type: ignore[arg-type]
    assert result["RR"].mean == 1 / 2


def test_rows_are_matched_by_place() -> None:
    run = [make(("a", 0.1), ("b", 0.2)), make(("c", 0.3))]
    assert germane.evaluate([["b"], ["d"]], run, "RR")["RR"].per_query == {0: 1.0, 1: 0.0}


def test_collapse() -> None:
    run = {"q1": make(("c1", 3.0), ("c2", 2.0), ("c3", 1.0)), "q2": []}
    documents = {"c1": "d2", "c2": "d2", "c3": "d1"}
    assert rr(run, collapse=documents)["q1"] == 1 / 2
    near = {"q1": make(("c1", 0.1), ("c2", 0.5), ("c3", 0.2), score="distance"), "q2": []}
    assert rr(near, collapse=documents)["q1"] == 1 / 2
    assert rr(near, collapse=documents, scores="distances")["q1"] == 1 / 2


@pytest.mark.parametrize("duplicates", ["first", "last", "max", "keep", "recount"])
def test_an_item_that_is_hit_several_times(duplicates: str) -> None:
    """d1 has the scores 2.5, 4 and 5, beside 3 and 4.5 of others: its rank is that of the copy that is kept."""
    held = make(("d1", 2.5), ("x", 3.0), ("y", 4.5), ("d1", 4.0), ("d1", 5.0))
    run = {"q1": held, "q2": []}
    ranks = {"first": 3, "last": 1, "max": 1, "keep": 1, "recount": 1}
    assert rr(run, duplicates=duplicates)["q1"] == 1 / ranks[duplicates]
    recall = germane.evaluate(QRELS, run, "R", duplicates=duplicates)["R"].per_query["q1"]
    assert recall == (3 if duplicates == "recount" else 1)
    near = {
        "q1": make(
            ("d1", -2.5), ("x", -3.0), ("y", -4.5), ("d1", -4.0), ("d1", -5.0), score="distance"
        ),
        "q2": [],
    }
    assert rr(near, duplicates=duplicates)["q1"] == 1 / ranks[duplicates]
    listed = {"q1": ["d1", "x", "d1"], "q2": []}  # without scores
    ids = {"q1": [{"id": item} for item in listed["q1"]], "q2": []}
    if duplicates != "max":
        assert rr(ids, duplicates=duplicates) == rr(listed, duplicates=duplicates)


def test_the_advice_for_repeated_hits_works() -> None:
    run = {"q1": make(("d1", 1.0), ("x", 2.0), ("d1", 3.0)), "q2": []}
    with pytest.raises(germane.errors.DuplicateError) as error:
        rr(run)
    words = re.findall(r"duplicates=(\w+)", str(error.value))
    assert {word: rr(run, duplicates=word)["q1"] for word in words} == {"first": 1 / 2, "max": 1.0}
    assert "collapse=" in str(error.value)
    chunks = {"q1": make(("c1", 1.0), ("c2", 2.0), ("c3", 3.0)), "q2": []}
    assert rr(chunks, collapse={"c1": "d1", "c2": "x", "c3": "d1"})["q1"] == 1.0


def test_the_function_collapse() -> None:
    groups = {"c1": "d1", "c2": "x", "c3": "d1"}
    run = {"q1": make(("c1", 1.0), ("c2", 2.0), ("c3", 3.0))}
    assert germane.collapse(run, groups) == {"q1": {"d1": 3.0, "x": 2.0}}
    assert germane.collapse(run, groups, keep="sum") == {"q1": {"d1": 4.0, "x": 2.0}}
    assert germane.collapse({"q1": [{"id": item} for item in groups]}, groups) == {
        "q1": ["d1", "x"]
    }
    near = {"q1": make(("c1", 1.0), ("c2", 2.0), ("c3", 3.0), score="distance")}
    assert germane.collapse(near, groups) == {"q1": {"d1": -1.0, "x": -2.0}}


def test_every_verb() -> None:
    runs = {"a": {"q1": make(("d2", 1.0), ("d1", 0.5))}, "b": {"q1": make(("d1", 1.0))}}
    assert germane.compare(QRELS, runs, "RR").between("b", "a", "RR").difference == 1 / 4
    evaluator = germane.Evaluator(QRELS, "RR")
    evaluator.update(runs["a"])
    assert evaluator.result()["RR"].per_query["q1"] == 1 / 2
    assert "d1" in str(germane.explain(QRELS, runs["a"], "RR", query="q1"))
    assert "missing from the run" in str(germane.check(QRELS, runs["a"]))
    assert germane.report(QRELS, runs, "RR").title == "a and b"


BAD: list[tuple[list[Any], str]] = [
    ([{"id": "d1"}, {"id": "d2", "score": 1.0}], "rank 2: this hit has a score, but the first"),
    ([{"id": "d1", "score": 1.0}, {"id": "d2"}], "rank 2: this hit has no 'score'"),
    (
        [{"id": "d1", "score": 1.0}, "d2"],
        "rank 2: a hit must have fields, as the others do; got 'd2'",
    ),
    ([{"id": "d1", "score": 1.0}, {"id": ["d2"], "score": 1.0}], "rank 2: the id 'id' of a hit"),
    ([{"name": "d1"}], "a hit has no id; found 'name'"),
    ([{}], "a hit has no id; found no field with a value"),
    ([{"id": "c", "doc_id": "d"}], "more than one field of a hit can be the item: 'id', 'doc_id'"),
    ([{"id": "c", "score": 1, "distance": 2}], "can be the score: 'score', 'distance'"),
    (
        make(("d1", 1.0), ("x", 2.0), ("d1", 3.0)),
        "'d1' is retrieved twice, at ranks 1 and 3. duplicates=first keeps",
    ),
    (make(("d1", "high")), "item 'd1': a score must be a finite number; got 'high'"),
    (make(("d1", float("nan")), score="distance"), "a score must be a finite number; got nan"),
    (make(("d1", "far"), score="distance"), "item 'd1': a distance is a finite number; got 'far'"),
    (["d1", {"id": "d2"}], "an item id is text or a number"),
]


@pytest.mark.parametrize(
    ("held", "message"), BAD, ids=lambda one: one if isinstance(one, str) else ""
)
def test_errors(held: list[Any], message: str) -> None:
    with pytest.raises(germane.errors.InputError) as error:
        germane.evaluate(QRELS, {"q1": held}, "RR")
    assert message in str(error.value)
    assert str(error.value).startswith("run")


# --- What is no list of hits ------------------------------------------------------------------------


class Document:
    """A document of LangChain, whose text must not be taken for an id."""

    def __init__(self, item: str | None, **metadata: str) -> None:
        self.id, self.metadata, self.page_content = item, metadata, "text"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"q1": [(Document("d1"), 0.9)]}, "item.id: number .*scores='distances' if the lowest"),
        ({"q1": [(Document(None, id="d1"), 0.9)]}, r"item.metadata\['id'\]: number"),
        ({"q1": [("d1", 0.1), ("d2", 0.2)]}, "pairs of an item and a number.*item: number"),
        ({"q1": [["d1", 0.1]]}, "pairs of an item and a number"),
        ({"q1": [SimpleNamespace(uuid="d1", metadata=SimpleNamespace(distance=0.1))]}, "such as uuid"),
        ({"q1": [{"document": {"key": "d1"}, "text_match": 3}]}, "such as document.key"),
        ({"q1": [{"index": 2, "relevance_score": 0.9}]}, r"Give \{query: \[ids\[hit\['index'\]\] for hit"),
        ({"q1": [SimpleNamespace(meta=SimpleNamespace(id="d1", score=2.0))]}, "such as meta.id"),
    ],
)  # fmt: skip
def test_the_error_says_what_to_give(given: Any, says: str) -> None:
    with pytest.raises(germane.errors.FormatError, match=says):
        rr(given)


def test_names_of_fields_are_names_of_queries_and_items() -> None:
    assert rr({"hits": ["d1"], "q1": ["d1"]})["q1"] == 1.0
    assert rr({"q1": {"hits": 3.0, "ids": 2.0, "d1": 1.0}})["q1"] == 1 / 3
    qrels = {"q1": {("d1", 1): 1}}
    assert germane.evaluate(qrels, {"q1": [("d1", 2), ("d1", 1)]}, "RR")["RR"].mean == 1 / 2


def test_distances_that_fall_are_similarities() -> None:
    """The metrics IP and COSINE of Milvus: the best hit comes first and has the largest distance."""
    near = {
        f"q{q}": make(*((f"d{i}", 1 - i / 10) for i in range(5)), score="distance") for q in (1, 2)
    }
    with pytest.raises(
        germane.errors.FormatError, match="'distance' falls from the first hit to the last"
    ):
        rr(near)
    assert rr(near, scores="distances")["q1"] == 1 / 4
    assert rr({"q1": near["q1"], "q2": near["q2"][::-1]})["q1"] == 1 / 4


def test_hits_with_ranks_alone_are_in_the_order_of_these() -> None:
    qrels = {"q": ["a"]}
    hits: Any = {"q": [{"id": "b", "rank": 2}, {"id": "a", "rank": 1}, {"id": "c", "rank": 3}]}
    assert germane.evaluate(qrels, hits, "RR")["RR"].mean == 1
    given = germane.evaluate(qrels, hits, "RR", columns={"score": None})
    assert given["RR"].mean == 0.5
    place: Any = {"q": [{"id": "b", "place": 2}, {"id": "a", "place": 1}]}
    named = germane.evaluate(qrels, place, "RR", columns={"score": None, "rank": "place"})
    assert named["RR"].mean == 1
    scored: Any = {"q": [{"id": "b", "rank": 2, "score": 5.0}, {"id": "a", "rank": 1, "score": 1}]}
    assert germane.evaluate(qrels, scored, "RR")["RR"].mean == 0.5
    for ranks in ([1, 1], [1, None], [1, "2"], [1, True]):
        odd: Any = {"q": [{"id": "b", "rank": ranks[0]}, {"id": "a", "rank": ranks[1]}]}
        with pytest.raises(germane.errors.FormatError, match="rank"):
            germane.evaluate(qrels, odd, "RR")
