"""Arrays with ids take every option on rows, and every verb takes them, as a dict of the same results."""

from typing import Any

import numpy as np
import pytest

import germane

Array = Any
MEASURES = "AP nDCG@3 RR NumRet"
QUERIES, ITEMS = ["a", "b"], ["x", "y", "z"]
NAMED: dict[str, Any] = {"query_ids": QUERIES, "item_ids": ITEMS}
SCORES = np.array([[0.2, 0.1, 0.9], [0.3, 0.8, 0.5]])
QRELS = {"a": {"x": 1.0}, "b": {"y": 1.0}}
GRADES, FLAT = np.array([1, 0, 0, 0, 0, 1]), np.array([0.5, 0.4, 0.3, 0.2, 0.9, 0.1])


def as_dict(scores: Array, queries: list[Any], items: list[Any]) -> dict[Any, dict[Any, float]]:
    return {
        q: dict(zip(items, row, strict=True))
        for q, row in zip(queries, scores.tolist(), strict=True)
    }


def read(result: germane.types.Result) -> Any:
    values = {str(one): result[one].per_query for one in result.measures}
    return values, result.counts


def draw_options(rng: Any, queries: list[Any], items: list[Any]) -> dict[str, Any]:
    """Options on rows, each of them in some of the cases."""
    some = [items[at] for at in rng.choice(len(items), len(items) // 2, replace=False)]
    every: dict[str, Any] = {
        "exclude": dict.fromkeys(queries[:1], some),
        "own": "drop",
        "min_score": 1.0,
        "nonpositive": "miss",
        "scores": "single",
        "collapse": {one: f"g{at // 2}" for at, one in enumerate(items)},
    }
    options = {name: one for name, one in every.items() if rng.random() < 0.35}
    if "exclude" in options and "collapse" in options:
        groups = options["collapse"]
        options["exclude"] = {
            q: [groups[one] for one in got] for q, got in options["exclude"].items()
        }
    return {**options, "ties": str(rng.choice(["trec", "ascending", "given", "best", "worst"]))}


@pytest.mark.parametrize("seed", range(60))
def test_options_are_those_of_dicts(seed: int) -> None:
    """Many scores are tied, and some queries are items."""
    rng = np.random.default_rng(seed)
    queries, items = int(rng.integers(1, 4)), int(rng.integers(4, 12))
    scores = rng.integers(0, 3, (queries, items)).astype(float)
    names = (
        [f"d{i}" for i in rng.permutation(items)] if seed % 2 else rng.permutation(items).tolist()
    )
    asked = names[:queries]
    options = draw_options(rng, asked, names)
    groups = options.get("collapse", dict(zip(names, names, strict=True)))
    qrels = {
        q: {groups[names[at]]: 1.0 for at in rng.choice(items, 3, replace=False)} for q in asked
    }
    top = np.argsort(-scores, axis=1, kind="stable")[:, :4]
    best = np.take_along_axis(scores, top, 1)
    listed = {
        q: {names[at]: score for at, score in zip(row, of, strict=True)}
        for q, row, of in zip(asked, top.tolist(), best.tolist(), strict=True)
    }
    ids = {"query_ids": asked, "item_ids": names}
    for array, same in ((scores, as_dict(scores, asked, names)), ((best, top), listed)):
        found = germane.evaluate(qrels, array, MEASURES, **ids, **options)
        assert read(found) == read(germane.evaluate(qrels, same, MEASURES, **options))


def test_embeddings_order_ties_by_ids() -> None:
    rng = np.random.default_rng(5)
    queries, gallery = (
        rng.integers(0, 2, (4, 3)).astype(float),
        rng.integers(0, 2, (9, 3)).astype(float),
    )
    asked, names = list("abcd"), list("ihgfedcba")
    qrels = {q: {"c": 1.0, "f": 1.0, "i": 1.0} for q in asked}
    same = as_dict(queries @ gallery.T, asked, names)
    for options in (
        {"ties": "trec"},
        {"ties": "ascending", "own": "drop"},
        {"exclude": {"a": ["f"]}},
    ):
        found = germane.evaluate_embeddings(
            queries, gallery, MEASURES, qrels=qrels, similarity="dot",
            query_ids=asked, gallery_ids=names, **options,
        )  # fmt: skip
        options = {"ties": "given", **options}
        assert read(found) == read(germane.evaluate(qrels, same, MEASURES, **options))


def test_report_takes_groups_and_ids(tmp_path: Any) -> None:
    other = FLAT[::-1].copy()
    page = germane.report(GRADES, {"one": FLAT, "other": other}, "AP", group=[3, 3])
    assert "one" in page.html
    named = germane.report(QRELS, {"one": SCORES, "other": -SCORES}, "AP", **NAMED)
    assert "other" in named.html


def test_judgments_are_chosen_among_the_items_of_arrays() -> None:
    runs = {"one": SCORES, "other": 1 - SCORES}
    found = germane.choose_judgments(QRELS, runs, "AP", **NAMED)
    same = {name: as_dict(run, QUERIES, ITEMS) for name, run in runs.items()}
    assert str(found) == str(germane.choose_judgments(QRELS, same, "AP"))
    judged = np.ma.masked_array(GRADES, [0, 0, 1, 0, 1, 0])
    flat = germane.choose_judgments(judged, {"one": FLAT, "other": 1 - FLAT}, "AP", group=[3, 3])
    assert {(one.query, one.item) for one in flat} <= {(0, 2), (1, 4), (0, 1), (1, 3)}
    assert {(one.query, one.item) for one in flat} >= {(0, 2), (1, 4)}
    collapse = {"x": "g", "y": "g", "z": "h"}
    grouped = germane.choose_judgments({"a": {"g": 1}}, runs, "AP", collapse=collapse, **NAMED)
    assert {one.item for one in grouped} <= {"g", "h"}


@pytest.mark.parametrize("run", [SCORES, np.argsort(-SCORES)[:, :2]])
def test_lists_of_the_catalogue_have_the_ids_of_arrays(run: Array) -> None:
    order = np.argsort(-SCORES)
    width = 3 if run is SCORES else 2
    lists = {q: [ITEMS[at] for at in row[:width]] for q, row in zip(QUERIES, order, strict=True)}
    measures = "Coverage@1 Gini@2 Coverage@2"
    found = germane.evaluate(QRELS, run, measures, catalogue=ITEMS, **NAMED)
    assert found.flat() == germane.evaluate(QRELS, lists, measures, catalogue=ITEMS).flat()


def test_check_reads_arrays_with_ids_and_groups() -> None:
    same = as_dict(SCORES, QUERIES, ITEMS)
    found = germane.check(QRELS, SCORES, "AP", **NAMED)
    assert [one.says for one in found] == [one.says for one in germane.check(QRELS, same, "AP")]
    flat = germane.check(GRADES, FLAT, "AP", group=["a", "a", "a", "b", "b", "b"])
    grades, scores = (as_dict(one.reshape(2, 3), QUERIES, [0, 1, 2]) for one in (GRADES, FLAT))
    expected = germane.check(grades, scores, "AP")
    assert [one.what for one in flat] == [one.what for one in expected]
    odd = germane.check(GRADES, np.where(FLAT > 0.8, np.nan, FLAT), "AP", group=[3, 3])
    assert odd.serious[0].what == "malformed results"
    assert "item 4" in odd.serious[0].examples[0]


def test_arrays_without_ids_say_what_they_lack() -> None:
    with pytest.raises(germane.errors.PolicyError, match="arrays without item_ids= have no ids"):
        germane.evaluate([{1}, {0}], SCORES, "AP", own="drop")
    with pytest.raises(germane.errors.PolicyError, match="have none; give them item_ids="):
        germane.evaluate([{1}, {0}], SCORES, "AP", ties="trec")
    with pytest.raises(
        germane.errors.FormatError,
        match=r"exclude= has 'x'\. item_ids= gives the id of each column",
    ):
        germane.evaluate([{1}, {0}], SCORES, "AP", exclude={0: ["x"]})
    with pytest.raises(
        germane.errors.CoverageError,
        match=r"judge item 'x'\. item_ids= gives the id of each column",
    ):
        germane.evaluate({0: {"x": 1}}, SCORES, "AP")


@pytest.mark.parametrize("ties", ["trec", "ascending", "best", "expected", "given"])
@pytest.mark.parametrize("ids", [["x", "y"], [7, -3]])
def test_a_repeated_id_is_named_under_every_order_of_ties(ids: list[Any], ties: str) -> None:
    rows = np.array([[1, 0, -1, -1], [0, 1, 1, -1]])
    named = {"query_ids": ["a", "b"], "item_ids": ids}
    says = f"run, row 1: item {ids[1]!r} is retrieved twice, at ranks 2 and 3"
    with pytest.raises(germane.errors.DuplicateError, match=says):
        germane.evaluate({"a": [ids[0]], "b": [ids[0]]}, rows, "AP", ties=ties, **named)


def test_a_query_is_dropped_from_its_own_list_by_its_distance_too() -> None:
    gallery = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [3.0, 1.0]])
    names, qrels = ["a", "b", "c", "d"], {"a": {"b": 1}, "c": {"b": 1}}
    distances = -np.linalg.norm(gallery[[0, 2], None] - gallery[None], axis=2)
    arrays = germane.evaluate(
        qrels, distances, "RR NumRet", query_ids=["a", "c"], item_ids=names, own="drop"
    )
    vectors = germane.evaluate_embeddings(
        gallery[[0, 2]], gallery, "RR NumRet", qrels=qrels, query_ids=["a", "c"],
        gallery_ids=names, similarity="euclidean", own="drop",
    )  # fmt: skip
    assert vectors["RR"].per_query == arrays["RR"].per_query
    assert vectors["NumRet"].per_query == {"a": 3.0, "c": 3.0}
    with pytest.raises(
        germane.errors.PolicyError, match="euclidean orders the gallery by distance"
    ):
        germane.evaluate_embeddings(
            gallery, gallery, "RR", query_labels=names, gallery_labels=names,
            similarity="euclidean", min_score=0.5,
        )  # fmt: skip
