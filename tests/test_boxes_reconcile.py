"""Dialects of boxes side by side, and the conventions behind a reported number."""

import json
import math
import re
from functools import cache
from typing import Any

import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from germane.types import Dialect

from strategies import BOX_WORDS

TRAITS = "crowds, difficult, deep, tied scores, own areas, low scores, truthless class"
TRUTH, FOUND = make_boxes(20, TRAITS)
ALL_DIALECTS = tuple(germane.boxes.dialects().values())
DIALECTS = tuple(
    one
    for one in ALL_DIALECTS
    if one.choices.get("overlap") not in ("mask", "oks", "oriented", "rectangle", "probiou")
    and "unverified" not in one.choices  # for truths that say which classes were looked for
    and one.name != "kitti"  # for truths that have levels
)  # test_boxes_shapes.py has the others
GIVEN = {"unknown": "ignore"}
BOX = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40]}
ONE = {
    "images": [{"id": 1}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [{"id": 1, **BOX, "area": 1600}],
}


def reconcile(reported: object, measure: str | None = "AP50", **options: Any) -> Any:
    return germane.boxes.reconcile(
        TRUTH, FOUND, reported=f"{reported}", measure=measure, **GIVEN | options
    )


def evaluate(measure: str = "AP50", **options: Any) -> float:
    return germane.boxes.evaluate(TRUTH, FOUND, measure, **GIVEN | options)[measure].mean


# --- The table of dialects --------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_dialect_is_words_and_measures_that_exist(dialect: Dialect) -> None:
    for entry in dialect.measuring:
        name = entry.write_name(10)
        assert name in germane.boxes.evaluate(TRUTH, FOUND, name, dialect=dialect.name)
    result = germane.boxes.evaluate(TRUTH, FOUND, dialect=dialect.name)
    assert list(result) == dialect.summary.replace("{k}", "100").split()
    assert all(math.isfinite(result[one].mean) for one in result)
    assert dialect.name in str(result)


def test_names_of_dialects_are_unique_and_other_than_those_of_ranked_lists() -> None:
    names = [name for one in ALL_DIALECTS for name in (one.name, *one.aliases)]
    assert len(set(names)) == len(names)
    for name in (name for one in DIALECTS for name in (one.name, *one.aliases)):
        assert germane.boxes.evaluate(TRUTH, FOUND, dialect=name.upper())
    assert all(not one.matching for one in germane.dialects().values())
    assert all(one.matching or one.reading for one in ALL_DIALECTS)


def test_names_are_the_tool_s_or_germane_s() -> None:
    names = "map_50 mar_10 AP50 R50 AP50(points=101)"
    result = germane.boxes.evaluate(TRUTH, FOUND, names, dialect="torchmetrics")
    assert list(result) == names.split()
    assert str(result["map_50"].measure) == "AP50(area=all,points=101single,depth=100)"
    assert result["map_50"].measure == result["AP50"].measure
    assert result["map_50"].measure != result["AP50(points=101)"].measure


SPELLED = (
    "AP", "AP50", "AP(iou=.5)", "AP75", "AP(area=small)", "AR", "AR@10", "P", "R", "F", "F(confidence=.25)",
    "AP50(points=101)", "AP50(points=11)", "AP(points=all)", "AP50(depth=5)",
)  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_name_has_one_value(dialect: Any) -> None:
    """germane's AP has the points of the tool's curve in a dialect, unless its name has others."""
    for name in SPELLED:
        value = germane.boxes.evaluate(TRUTH, FOUND, name, dialect=dialect.name)[name].mean
        assert same(spread(name).get(dialect.name, value), value), name


@cache
def spread(name: str) -> dict[str, float]:
    return {one.dialect: one.value for one in germane.boxes.spread(TRUTH, FOUND, name)}


@pytest.mark.parametrize("name", ["AP50", "AP50(points=101)", ""])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_name_means_the_same_to_every_verb(dialect: Any, name: str) -> None:
    tools = [one.write_name(100) for one in dialect.measuring if "AP50" in one.measure] or ["mAP"]
    name, both = name or tools[0], {"one": FOUND, "two": FOUND}
    of_dialect: Any = {"dialect": dialect.name}
    result = germane.boxes.evaluate(TRUTH, FOUND, name, **of_dialect)
    value, measure = result[name].mean, result[name].measure
    image = TRUTH["images"][0]["id"]
    assert germane.boxes.explain(TRUTH, FOUND, name, image=image, **of_dialect).measure == measure
    compared = germane.boxes.compare(TRUTH, both, name, **of_dialect)
    [[label, means]] = compared.means.items()
    assert same(means["one"], value)
    assert measure.points in (label.partition("points=")[2].strip(")"), "101")
    assert [*germane.boxes.gate(TRUTH, FOUND, name, baseline=FOUND, **of_dialect).verdicts] == [
        label
    ]
    if name == "AP50":  # which take long
        assert f"{value:.4f}" in germane.boxes.report(TRUTH, both, name, **of_dialect).html
        answer = germane.boxes.reconcile(TRUTH, FOUND, reported="0.5", measure=name, **of_dialect)
        assert same(answer.own.value, value)


def same(one: float, other: float) -> bool:
    return math.isclose(one, other, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dialect": "pycocotool"}, germane.errors.PolicyError, "no dialect 'pycocotool'. Did you mean 'pycocotools'?"),
        ({"dialect": "ultralytics", "measures": "mAP5O"}, germane.errors.MeasureError, "ultralytics has no measure 'mAP5O'."),
    ],
)  # fmt: skip
def test_names_that_a_dialect_lacks(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        germane.boxes.evaluate(TRUTH, FOUND, **options)


def test_a_known_mistake_about_depths_is_a_word() -> None:
    for dialect, name in (("pycocotools", "AP"), ("torchmetrics", "map")):
        result = germane.boxes.evaluate(TRUTH, FOUND, dialect=dialect, depth=50)
        assert math.isnan(result[name].mean)
        assert math.isfinite(result[list(result)[1]].mean)
        right = germane.boxes.evaluate(TRUTH, FOUND, dialect=dialect, depth=50, ap_depth="any")
        assert math.isfinite(right[name].mean)
    stats = germane.boxes.evaluate(TRUTH, FOUND, dialect="pycocotools", depth=50).stats
    assert stats[0] == -1
    assert (stats[1:] > -1).all()


def test_a_convention_that_is_given_overrides_the_dialect() -> None:
    dropped = germane.boxes.evaluate(TRUTH, FOUND, dialect="ultralytics")
    counted = germane.boxes.evaluate(TRUTH, FOUND, dialect="ultralytics", crowds="count")
    assert dropped["mAP50"].mean != counted["mAP50"].mean
    assert counted.conventions.crowds == "count"


def test_a_perfect_detector_in_ultralytics() -> None:
    """Its lines drop to 0 at recall 1: half of the last of 100 intervals is lost."""
    result = germane.boxes.evaluate(ONE, [{**BOX, "score": 0.9}], dialect="ultralytics")
    assert result["mAP50"].mean == pytest.approx(1 - 0.01 / 2)
    assert result["P"].mean == result["R"].mean == 1


# --- Side by side -----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["AP", "AP50", "AP75", "AR@10", "AP(area=small)"])
def test_spread_says_what_evaluate_says(measure: str) -> None:
    spread = germane.boxes.spread(TRUTH, FOUND, measure, **GIVEN)
    assert spread.own.value == evaluate(measure)
    assert len(spread) + len(spread.without) == len(DIALECTS)
    for one in spread:
        alone = germane.boxes.evaluate(TRUTH, FOUND, one.name, dialect=one.dialect)
        assert alone[one.name].mean == pytest.approx(one.value, abs=1e-12), one.dialect
        assert bool(one.stages) == (abs(one.value - spread.own.value) > 1e-12)
    values = [one.value for one in spread]
    assert values == sorted(values, reverse=True)
    json.dumps(spread.to_dict())
    assert spread.own.name in str(spread)


def test_spread_names_what_moves_the_value() -> None:
    rows = {one.dialect: one for one in germane.boxes.spread(TRUTH, FOUND, "AP50", **GIVEN)}
    assert rows["pycocotools"].stages == ("difficult=count",)
    for word in rows["voc2010"].stages:
        name, value = word.split("=")
        if name in BOX_WORDS:
            assert evaluate(**{name: value}) != pytest.approx(evaluate(), abs=1e-12)
    held = germane.boxes.spread(TRUTH, FOUND, "AP50", **GIVEN, difficult="count")
    assert {one.value for one in held if one.dialect in ("pycocotools", "supervision")} == {
        held.own.value
    }


def test_spread_says_why_a_tool_has_no_value() -> None:
    rows = {one.dialect: one for one in germane.boxes.spread(TRUTH, FOUND, "AP", depth=50, **GIVEN)}
    assert math.isnan(rows["pycocotools"].value)
    assert "no value at depth 50, by mistake" in rows["pycocotools"].says
    assert math.isfinite(rows["faster-coco-eval"].value)


# --- Reported numbers -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_the_number_of_every_tool_is_found(dialect: Dialect) -> None:
    spread = {one.dialect: one for one in germane.boxes.spread(TRUTH, FOUND, "AP50", **GIVEN)}
    found = reconcile(f"{spread[dialect.name].value:.6f}")
    assert any(dialect.name in tool for one in found for tool in one.candidate.tools)
    assert found.answer == "found"
    assert all(found.reported.gives(one.value) for one in found)
    assert found.path[-1].value == found.found[0].value


@pytest.mark.slow
def test_conventions_that_no_tool_has_are_found_in_combination() -> None:
    changes = {"candidate": "best", "crowds": "drop", "overlap": "iou+1"}
    found = reconcile(f"{evaluate(**changes):.7f}")
    assert dict(found.found[0].candidate.choices).items() <= changes.items()
    assert evaluate(**dict(found.found[0].candidate.choices)) == found.found[0].value


def test_what_was_asked_for_comes_first() -> None:
    found = reconcile(f"{evaluate():.4f}")
    assert found.found[0].candidate.choices == ()
    assert len(found.path) == 1
    assert found.answer == "found"


def test_the_path_is_told_one_convention_at_a_time() -> None:
    """Three detections on a crowd are false positives when it is dropped: 1/4, not 1, below them."""
    crowd = {
        "id": 2,
        "image_id": 1,
        "category_id": 1,
        "bbox": [200, 200, 100, 100],
        "area": 1e4,
        "iscrowd": 1,
    }
    truth = {**ONE, "annotations": [*ONE["annotations"], crowd]}
    inside = [{**BOX, "bbox": [210 + i, 210, 50, 50], "score": 0.9} for i in range(3)]
    given = truth, [*inside, {**BOX, "score": 0.5}]
    assert germane.boxes.evaluate(*given, "AP50")["AP50"].mean == 1
    found = germane.boxes.reconcile(*given, reported="0.2500", measure="AP50", difficult="count")
    assert [one.change for one in found.path] == ["", "crowds=drop"]
    assert (found.path[1].counts.false, found.path[0].counts.false) == (3, 0)
    assert "crowds=drop changes 1.000000 to 0.250000: 3 more false positives." in found.notes
    assert "ultralytics" not in str(found.found[0].candidate.tools)


def test_a_number_that_nothing_gives() -> None:
    found = reconcile("0.9321")
    assert (found.answer, len(found)) == ("none", 0)
    assert "no conventions give it" in found.verdict
    assert found.nearest[0].value == max(one.value for one in found.tried)
    assert len(found.tried) > 100


def test_another_measure_is_named() -> None:
    number = germane.boxes.evaluate(TRUTH, FOUND, dialect="pycocotools")["AP50"].mean
    found = reconcile(f"{number:.6f}", "AP")
    assert found.answer == "none"
    assert any("It is given by another measure: AP50" in one for one in found.hints)


def test_several_sets_of_conventions_are_told() -> None:
    found = reconcile("0.33")
    assert len(found) > 1
    assert "sets of conventions give it" in found.verdict
    steps = [len(one.candidate.choices) for one in found]
    assert steps == sorted(steps)


def test_small_data_is_possible_at_most() -> None:
    """One truth and four detections have few values: a wrong number is often one of them."""
    found = [{**BOX, "score": 0.9 - i / 10, "bbox": [10 + 6 * i, 10, 40, 40]} for i in range(4)]
    said = germane.boxes.reconcile(ONE, found[::-1], reported="0.5", measure="AP50", iou=".5")
    assert said.answer in ("possible", "none")


def test_percent_and_names_of_tools() -> None:
    number = germane.boxes.evaluate(TRUTH, FOUND, dialect="ultralytics")["mAP50"].mean
    for reported in (f"{100 * number:.4f}", f"{100 * number:.4f}%"):
        found = reconcile(reported, "mAP50", dialect="ultralytics")
        assert (found.answer, found.path[0].change, len(found.path)) == ("found", "", 1)
    assert str(reconcile(f"{number:.6f}", None, dialect="ultralytics").measure).startswith("P")


def test_a_convention_that_is_given_holds_in_all() -> None:
    found = reconcile(f"{evaluate(crowds='drop'):.6f}", crowds="ignore")
    names = {name for one in found.tried for name, _ in one.candidate.choices}
    assert "crowds" not in names


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_any_data_has_an_answer(seed: int) -> None:
    traits = [one for one in draw_traits(seed) if one != "unknown class"]
    truth, found = make_boxes(seed, traits)
    said = germane.boxes.reconcile(truth, found, reported="0.987", measure="AP50")
    assert said.answer in ("none", "possible")
    assert said.nearest or said.found


def test_spread_says_where_the_order_of_ties_is_open() -> None:
    rows = {one.dialect: one for one in germane.boxes.spread(TRUTH, FOUND, "AP50", **GIVEN)}
    assert "is not defined" in rows["voc2007"].unsure
    assert not rows["padilla"].unsure
    assert not rows["pycocotools"].unsure


@pytest.mark.slow
def test_it_prints_and_is_json() -> None:
    for found in (reconcile("0.1787"), reconcile("0.99")):
        plain = json.loads(json.dumps(found.to_dict()))
        assert plain["answer"] == found.answer
        assert found.verdict in str(found)
        assert "conventions" in found.markdown()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reported": "much"}, "reported takes a number such as 0.62 or 62%; got 'much'"),
        ({"reported": "0.5", "dialect": "voc07"}, "no dialect 'voc07'. Did you mean 'voc2007'?"),
        ({"reported": "0.5", "measure": "mAPP", "dialect": "voc2007"}, "voc2007 has no measure 'mAPP'."),
        ({"reported": "0.5", "crowd": "drop"}, "boxes have no convention 'crowd'. Did you mean 'crowds'?"),
    ],
)  # fmt: skip
def test_errors(options: Any, message: str) -> None:
    with pytest.raises(germane.GermaneError, match=re.escape(message)):
        germane.boxes.reconcile(TRUTH, FOUND, **options)


@pytest.mark.parametrize("cut", [0.25, 0.5])
def test_detections_were_cut_off(cut: float) -> None:
    """A number of detections from a usual confidence on, although no dialect has it."""
    truth, found = make_boxes(4, "floats")
    value = germane.boxes.evaluate(truth, found, "AP", confidence=cut)["AP"].mean
    assert value != germane.boxes.evaluate(truth, found, "AP")["AP"].mean
    made = germane.boxes.reconcile(truth, found, reported=f"{value:.6f}")
    assert f"confidence={cut:g}" in str(made)
    higher = [row for row in found if row["score"] >= 0.6]
    assert "confidence=" not in str(germane.boxes.reconcile(truth, higher, reported=f"{value:.6f}"))


# --- What no convention of evaluate says: images, means over them, and the confidence -----------------


def average_as_mask_rcnn(truth: Any, found: Any) -> float:
    """The mean of its notebook: one list an image, the best precision from each truth on, ÷ truths."""
    values = []
    for image in truth["images"]:
        truths = [one for one in truth["annotations"] if one["image_id"] == image["id"]]
        rows = [one for one in found if one["image_id"] == image["id"]]
        free, hits = [*truths], []
        for row in sorted(rows, key=lambda row: -row["score"]):
            near = [(overlap(row["bbox"], one["bbox"]), place) for place, one in enumerate(free)
                    if one["category_id"] == row["category_id"]]  # fmt: skip
            best = max(near, default=(0.0, 0))
            hits.append(best[0] >= 0.5)
            if hits[-1]:
                free.pop(best[1])
        precision = [sum(hits[: i + 1]) / (i + 1) for i in range(len(hits))]
        terms = [max(precision[i:]) for i, hit in enumerate(hits) if hit]
        if truths:
            values.append(sum(terms) / len(truths))
    return sum(values) / len(values)


def overlap(first: list[float], second: list[float]) -> float:
    sides = [
        min(first[i] + first[i + 2], second[i] + second[i + 2]) - max(first[i], second[i])
        for i in (0, 1)
    ]
    shared = math.prod(max(side, 0.0) for side in sides)
    return shared / (first[2] * first[3] + second[2] * second[3] - shared)


PLAIN_TRUTH, PLAIN_FOUND = make_boxes(5, "floats")
SEEN = [image["id"] for place, image in enumerate(PLAIN_TRUTH["images"]) if place % 4]
PART = [row for row in PLAIN_FOUND if row["image_id"] in SEEN]


def ask(value: float, found: Any = PART, **options: Any) -> Any:
    return germane.boxes.reconcile(
        PLAIN_TRUTH, found, reported=f"{value:.7f}", measure="AP50", **options
    )


def test_the_mean_of_mask_rcnn_s_notebook() -> None:
    answer = ask(average_as_mask_rcnn(PLAIN_TRUTH, PART))
    assert answer.answer == "found"
    assert "AP50, mean=images, points=all" in map(str, answer)
    assert any("as in the notebook of Mask R-CNN" in note for note in answer.notes)


def test_only_images_with_detections() -> None:
    value = germane.boxes.evaluate(PLAIN_TRUTH, PART, "AP50", only_images=SEEN)["AP50"].mean
    answer = ask(value)
    assert [str(one) for one in answer] == ["AP50, only_images=detected"]
    assert any("17 fewer truths" in note for note in answer.notes)


def test_a_depth_that_no_tool_has() -> None:
    value = germane.boxes.evaluate(PLAIN_TRUTH, PART, "AP50", depth=1)["AP50"].mean
    assert "AP50, depth=1" in map(str, ask(value))


def test_the_confidence_that_fits() -> None:
    """No usual cut gives it; of a number with two digits, chance gives some cut."""
    value = germane.boxes.evaluate(PLAIN_TRUTH, PART, "AP50", confidence=0.14)["AP50"].mean
    answer = ask(value)
    [(name, cut)] = answer.found[0].candidate.choices
    assert (name, answer.answer) == ("confidence", "found")
    again = germane.boxes.evaluate(PLAIN_TRUTH, PART, "AP50", confidence=cut)["AP50"].mean
    assert again == value != germane.boxes.evaluate(PLAIN_TRUTH, PART, "AP50")["AP50"].mean
    rough = germane.boxes.reconcile(PLAIN_TRUTH, PART, reported=f"{value:.2f}", measure="AP50")
    assert rough.answer == "possible"
    fixed = ask(value, confidence=0.01)
    assert all("confidence" not in str(one) for one in fixed.tried)
