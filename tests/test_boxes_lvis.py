"""LVIS's rules: images say which classes were looked for, and classes how frequent they are."""

import hashlib
import json
import math
import warnings
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes, make_federated, outline_boxes

RECORDED = json.loads(Path(__file__).with_name("data").joinpath("lvis.json").read_text("utf-8"))
SETS = RECORDED["sets"]


def evaluate(truth: Any, found: Any, measures: Any = None, **options: Any) -> germane.boxes.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        return germane.boxes.evaluate(truth, found, measures, **options)


def list_off(result: germane.boxes.Result, wanted: dict[str, float]) -> dict[str, Any]:
    """List the numbers that differ; -1 is no number."""
    assert list(result) == list(wanted)
    return {
        name: (result[name].mean, value)
        for name, value in wanted.items()
        if not (
            math.isnan(result[name].mean) if value == -1 else abs(result[name].mean - value) < 1e-12
        )
    }


@pytest.mark.parametrize("seed", range(len(SETS)))
def test_recorded_answers_of_lvis(seed: int) -> None:
    truth, found = make_federated(seed)
    digest = hashlib.sha256(json.dumps([truth, found]).encode()).hexdigest()[:16]
    assert digest == SETS[seed]["sha256"]
    assert list_off(evaluate(truth, found, dialect="lvis"), SETS[seed]["bbox"]) == {}
    if "segm" in SETS[seed]:
        outlined = {**truth, "annotations": outline_boxes(truth["annotations"])}
        result = evaluate(outlined, outline_boxes(found), dialect="lvis-segm")
        assert list_off(result, SETS[seed]["segm"]) == {}


def test_the_sets_have_what_lvis_treats_otherwise() -> None:
    """Each of the conventions of LVIS changes the numbers of several sets."""
    for name, word in {
        "unverified": "count",
        "flagged": "count",
        "empty": "count",
        "depth": 100,
    }.items():
        changed = 0
        for seed in range(40):
            truth, found = make_federated(seed)
            own, other = (
                evaluate(truth, found, "AP AR@300", dialect="lvis", **given).flat()
                for given in ({}, {name: word})
            )
            changed += own != other
        assert changed > 5, name


TRUTH: dict[str, Any] = {
    "images": [
        {"id": 1, "neg_category_ids": [2], "not_exhaustive_category_ids": []},
        {"id": 2, "neg_category_ids": [], "not_exhaustive_category_ids": [1]},
    ],
    "categories": [
        {"id": 1, "name": "cat", "frequency": "f"},
        {"id": 2, "name": "axolotl", "frequency": "r"},
        {"id": 3, "name": "newt", "frequency": "c"},
    ],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 1600},
        {"id": 2, "image_id": 2, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 1600},
        {"id": 3, "image_id": 2, "category_id": 2, "bbox": [90, 90, 40, 40], "area": 1600},
    ],
}
AWAY = [200, 200, 30, 30]
FOUND = [
    {"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "score": 0.9},
    {"image_id": 2, "category_id": 1, "bbox": AWAY, "score": 0.8},  # more cats than are annotated
    {"image_id": 1, "category_id": 3, "bbox": AWAY, "score": 0.8},  # nobody looked for newts
    {"image_id": 2, "category_id": 1, "bbox": [10, 10, 40, 40], "score": 0.7},
    {"image_id": 1, "category_id": 2, "bbox": AWAY, "score": 0.6},  # there is no axolotl
    {"image_id": 2, "category_id": 2, "bbox": [90, 90, 40, 40], "score": 0.5},
]


def test_the_rules_by_hand() -> None:
    """A false cat is ignored where cats are not all annotated; a false axolotl counts."""
    result = evaluate(TRUTH, FOUND, "AP50 APr APf APc", dialect="lvis")
    assert result["AP50"].per_class == {"cat": 1.0, "axolotl": pytest.approx(1 / 2)}
    assert (result["APf"].mean, result["APr"].mean) == (1.0, pytest.approx(1 / 2))
    assert math.isnan(result["APc"].mean)
    usual = evaluate(TRUTH, FOUND, "AP50")
    assert usual["AP50"].per_class["cat"] == pytest.approx((51 + 50 * 2 / 3) / 101)


def test_explain_says_why_a_detection_does_not_count() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        outcomes = [
            [
                row.outcome
                for row in germane.boxes.explain(TRUTH, FOUND, image=image, dialect="lvis").rows
            ]
            for image in (1, 2)
        ]
    assert outcomes == [["true", "unverified", "background"], ["not exhaustive", "true", "true"]]


def test_explain_names_truths_that_are_ignored() -> None:
    rows = [{**row, "ignore": int(row["id"] == 2)} for row in TRUTH["annotations"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        made = germane.boxes.explain({**TRUTH, "annotations": rows}, FOUND, image=2, dialect="lvis")
    assert [row.outcome for row in made.rows] == ["not exhaustive", "flagged", "true"]
    assert [one.state for one in made.truths] == ["ignored", "found"]


def test_other_rules_are_told_unless_they_were_chosen() -> None:
    with pytest.warns(
        germane.GermaneWarning, match="1 detections are of classes that nobody"
    ) as seen:
        [said] = germane.boxes.evaluate(TRUTH, FOUND, "AP").findings
    assert "dialect=lvis" in said.advice
    assert len(seen) == 1
    for options in ({"dialect": "lvis"}, {"dialect": "pycocotools"}, {"unverified": "count"}):
        assert germane.boxes.evaluate(TRUTH, FOUND, "AP", **options).findings == ()  # type: ignore[arg-type]
    assert "classes that nobody looked for" in {
        one.what for one in germane.boxes.check(TRUTH, FOUND)
    }


def test_groups_of_frequencies() -> None:
    result = evaluate(TRUTH, FOUND, dialect="lvis")
    groups = result.by("frequency")
    assert groups["AP"] == {
        "rare": result["APr"].mean, "common": pytest.approx(math.nan, nan_ok=True), "frequent": result["APf"].mean,
    }  # fmt: skip
    assert (groups.truths.tolist(), groups.mean["AP"]) == ([1, 0, 2], result["AP"].mean)
    assert evaluate(TRUTH, FOUND, "APr", dialect="lvis").by("image")["APr"]["2"] == 1.0


def test_intervals_are_of_the_classes_of_a_frequency() -> None:
    """Rare classes alone in a truth of their own have the same shares of images."""
    truth, found = make_federated(3)
    rare = [one["id"] for one in truth["categories"] if one["frequency"] == "r"]
    alone = {
        **truth,
        "categories": [one for one in truth["categories"] if one["id"] in rare],
        "annotations": [one for one in truth["annotations"] if one["category_id"] in rare],
    }
    means = []
    for data, name in ((truth, "AP(frequency=rare)"), (alone, "AP")):
        some = [one for one in found if one["category_id"] in rare]
        both = {"one": some, "other": some[::2]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", germane.GermaneWarning)
            pair = germane.boxes.compare(
                data, both, name, unknown="ignore", unverified="count"
            ).pairs[0]
        means.append((pair.difference, pair.p, pair.interval))
    assert means[0] == means[1]


WRONG: list[tuple[Any, str, dict[str, Any], str]] = [
    (make_boxes(1)[0], "AP", {"dialect": "lvis"}, "needs 'neg_category_ids' and 'not_exhaustive"),
    (
        {**TRUTH, "images": [TRUTH["images"][0], {"id": 2}]}, "AP", {"dialect": "lvis"},
        r"image 2 \(id 2\) has no 'neg_category_ids'",
    ),
    (
        {**TRUTH, "images": [{**TRUTH["images"][0], "neg_category_ids": 3}, TRUTH["images"][1]]}, "AP", {},
        "'neg_category_ids' is a list of categories; got 3",
    ),
    (make_boxes(1)[0], "APr", {}, "has no frequency of 'class 2'"),
    (TRUTH, "APr", {"classes": "merged"}, "classes=each keeps them apart"),
    (TRUTH, "AP(frequency=often)", {}, "frequency takes rare, common or frequent; got 'often'"),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "measure", "options", "says"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_evaluated_is_refused(
    truth: Any, measure: str, options: Any, says: str
) -> None:
    found = FOUND if truth is not WRONG[0][0] and truth is not WRONG[3][0] else make_boxes(1)[1]
    with pytest.raises(germane.GermaneError, match=says):
        evaluate(truth, found, measure, **options)


def test_reconcile_finds_lvis() -> None:
    truth, found = make_federated(5)
    value = evaluate(truth, found, "APr", dialect="lvis")["APr"].mean
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        said = germane.boxes.reconcile(
            truth, found, reported=f"{value:.5f}", measure="APr", unknown="ignore"
        )
        spread = germane.boxes.spread(truth, found, "AP", unknown="ignore")
    assert "lvis:APr" in said.found[0].candidate.tools
    assert {one.dialect: one.value for one in spread}["lvis"] == evaluate(
        truth, found, dialect="lvis"
    )["AP"].mean


def test_lvis_is_named_where_the_truth_is_verified_alone() -> None:
    """A tool is no match for data that it refuses."""
    plain, found = make_boxes(1, "crowds")
    for truth, detections, has in ((plain, found, False), (*make_federated(3), True)):
        value = evaluate(truth, detections, "AP50", dialect="lvis" if has else None)["AP50"].mean
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", germane.GermaneWarning)
            said = [
                germane.boxes.spread(truth, detections, "AP50").table().text(),
                germane.boxes.reconcile(truth, detections, reported=value, measure="AP50"),
                germane.boxes.reconcile_table(truth, {"a": detections}, {"a": {"AP50": value}}),
            ]
        assert [("lvis" in str(one)) for one in said] == [has] * 3
