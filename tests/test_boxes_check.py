"""germane.boxes.check: every check finds what it looks for, nothing in sound data, and evaluate warns of the serious ones."""

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from check_boxes_examples import (
    CORNERS,
    EXAMPLES,
    FOUND,
    LARGE,
    MANY,
    SHARES,
    TRUTH,
    change,
    find,
    find_all,
    make_truth,
)

from strategies import BOX_CHECKS

FOLLOWS = {
    "relative numbers taken for pixels": {"boxes without size"},
    "constant scores": set(),
    "pixels taken for relative numbers": {"boxes outside their image"},
    "sides beyond any image": {"boxes outside their image"},
    "boxes apart from their image": {"boxes outside their image"},
    "another format of boxes": {"boxes outside their image"},
}
"""Findings that follow from another one."""


def test_every_check_has_an_example() -> None:
    assert [row.name for row in BOX_CHECKS] == [*EXAMPLES]


@pytest.mark.parametrize("row", BOX_CHECKS, ids=lambda row: row.name)
def test_every_check_finds_its_example_and_little_else(row: Any) -> None:
    found = find_all(row.name)
    mine = [one for one in found if one.what == row.name]
    assert mine
    assert {one.severity for one in mine} == {row.severity}
    assert all(one.count and one.advice and one.says for one in mine)
    serious = {one.what for one in found if one.severity != "note"} - {row.name}
    assert serious <= FOLLOWS.get(row.name, set())


@pytest.mark.parametrize("row", BOX_CHECKS, ids=lambda row: row.name)
def test_evaluate_boxes_reacts_as_the_table_says(row: Any) -> None:
    truth, found, options = EXAMPLES[row.name]
    if row.evaluate == "error":
        with pytest.raises(germane.errors.InputError):
            germane.boxes.evaluate(truth, found, "AP", **options)
    elif row.evaluate == "warning":
        with pytest.warns(germane.GermaneWarning) as seen:
            result = germane.boxes.evaluate(truth, found, "AP", **options)
        assert [one.what for one in result.findings] == [row.name]
        assert str(seen[0].message).endswith(str(result.findings[0]))
        assert seen[0].filename == __file__
    else:
        result = germane.boxes.evaluate(truth, found, "AP", unknown="ignore", **options)
        assert result.findings == ()


def find_emptied(measures: str = "AP", found: Any = FOUND, **options: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        result = germane.boxes.evaluate(TRUTH, found, measures, **options)
    named = [one for one in result.findings if one.what == "images emptied by an option"]
    return [one.says.partition(" without")[0] for one in named]


def test_options_that_leave_images_without_detections() -> None:
    """The scores are 1/32 to 20/32, of ten images with two detections each, the second better."""
    assert find_emptied(confidence=11 / 32) == []
    assert find_emptied(confidence=12 / 32) == ["confidence=0.375 leaves 1 image"]
    assert find_emptied(confidence=25) == ["confidence=25 leaves 10 images"]
    assert find_emptied("P(confidence=.6) F(confidence=best)") == []
    assert find_emptied("P(confidence=60) P") == ["P(confidence=60) leaves 10 images"]
    lost = [{**one, "category_id": 7} if one["image_id"] < 3 else one for one in FOUND]
    assert find_emptied(found=lost, unknown="ignore") == ["unknown=ignore leaves 3 images"]
    assert find_emptied(found=lost[1:2] + FOUND, unknown="ignore") == []
    assert find_emptied(found=[], unknown="ignore") == []  # there was nothing to leave out


def test_sound_sets_cause_no_warning() -> None:
    """200 random sets with crowds, ties and what else a set may have; half of them without sizes of images."""
    for seed in range(200):
        traits = [
            one for one in draw_traits(seed) if one not in ("equal scores", "no size", "own areas")
        ]
        truth, found = make_boxes(seed, traits)
        if seed % 2:
            truth["images"] = [{"id": one["id"]} for one in truth["images"]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert germane.boxes.evaluate(truth, found, "AP50", unknown="ignore").findings == ()


def test_a_sound_set_has_no_finding() -> None:
    checkup = germane.boxes.check(TRUTH, FOUND)
    assert str(checkup) == f"nothing found in {len(BOX_CHECKS)} checks"


def test_nothing_on_both_sides_is_a_note() -> None:
    nothing = {"boxes": [], "labels": []}
    checkup = germane.boxes.check([nothing], [{**nothing, "scores": []}])
    assert {one.severity for one in checkup} == {"note"}


def test_all_faults_are_reported_at_once() -> None:
    truth = {**TRUTH, "annotations": [{"id": 0, "image_id": 0}, *TRUTH["annotations"]]}
    truth["annotations"] = change(truth["annotations"], 5, bbox=[1, 2, -3, 4])
    found = change(change(FOUND, 0, image_id="?"), 1, category_id="\x1b[2J")
    found = change(change(change(found, 2, score=None), 3, bbox=["x"]), 4, bbox=[1, 1, 1, -1])
    checkup = germane.boxes.check(truth, found)
    places = {(one.what, one.where): one.examples for one in checkup.serious}
    assert places == {
        ("malformed boxes", "the truth"): ("the truth: annotation 1 (id 0) has no 'category_id': {'id': 0, 'image_id': 0}",),
        ("malformed boxes", "detections"): ("detections: detection 4",),
        ("negative sizes", "the truth"): ("the truth: annotation 6 (id 5)",),
        ("negative sizes", "detections"): ("detections: detection 5",),
        ("unknown images", "detections"): ("detections: detection 1",),
        ("unknown classes", "detections"): ("detections: detection 2",),
        ("scores that are no numbers", "detections"): ("detections: detection 3",),
    }  # fmt: skip
    assert str(checkup).replace("\n", "").isprintable()
    assert len(checkup.table().rows) == len(checkup)


def test_other_formats_are_found_on_either_side_with_and_without_sizes() -> None:
    """The advice reads the side as it is meant."""
    with pytest.warns(germane.GermaneWarning, match="with the truths read as xyxy, by 1.00"):
        germane.boxes.evaluate(CORNERS, FOUND, "AP")
    right = {"truth": "xyxy"}
    assert germane.boxes.evaluate(CORNERS, FOUND, "AP", box_format=right)["AP"].mean == 1
    bare = {**TRUTH, "images": [{"id": i} for i in range(10)]}
    rng = np.random.default_rng(1)
    places, sizes = rng.integers(50, 400, (20, 2)), rng.integers(8, 40, (20, 2))
    far = np.column_stack((places, places + sizes)).tolist()
    found = [{**one, "bbox": box} for one, box in zip(FOUND, far, strict=True)]
    with pytest.warns(germane.GermaneWarning, match=r"corners \(xyxy\) are read as sizes"):
        germane.boxes.evaluate(bare, found, "AP")
    with pytest.warns(germane.GermaneWarning, match=r"0\.0% of detections overlap a truth") as seen:
        germane.boxes.evaluate(bare, found, "AP", box_format={"detections": "xyxy"})
    assert len(seen) == 1
    assert "read as" not in str(seen[0].message)


def test_relative_numbers_are_found_and_read() -> None:
    with pytest.warns(germane.GermaneWarning, match="relative coordinates are read as pixels"):
        germane.boxes.evaluate(SHARES, find(SHARES), "AP")
    options = {"coordinates": {"detections": "relative"}}
    result = germane.boxes.evaluate(TRUTH, find(SHARES), "AP", **options)
    assert result["AP"].mean == pytest.approx(1)
    assert result.findings == ()


def test_large_data_is_read_whole() -> None:
    """One score that differs, in 30,000, is not constant; no box is relative if one is far away."""
    n = 30_000
    far = np.random.default_rng(0).uniform(0.4, 0.6, (n, 2))
    found = {
        "boxes": np.column_stack((np.full((n, 2), 0.1), far)),
        "labels": np.ones(n, int),
        "scores": np.ones(n),
    }
    truth = [{"boxes": [[1.0, 2.0, 30.0, 40.0]], "labels": [1]}]
    with pytest.warns(germane.GermaneWarning) as seen:
        result = germane.boxes.evaluate(truth, [found], "AP")
    assert {one.what for one in result.findings} == {
        "constant scores",
        "relative numbers taken for pixels",
    }
    assert "all 30,000 detections have the score 1" in str(seen[0].message)
    found["scores"][777], found["boxes"][778] = 0.5, [3, 3, 9, 9]
    assert germane.boxes.evaluate(truth, [found], "AP").findings == ()


@pytest.mark.parametrize("sizes", [True, False])
def test_large_objects_in_the_middle_cause_no_warning(sizes: bool) -> None:
    """Objects that fill most of their image are wider than their distance from the left."""
    rng = np.random.default_rng(3)
    size = {"width": 640, "height": 480} if sizes else {}
    wide, high = rng.uniform(0.36, 1, 200) * 640, rng.uniform(0.36, 1, 200) * 480
    boxes = np.column_stack((320 - wide / 2, 240 - high / 2, wide, high)).tolist()
    truth = {
        "images": [{"id": i, **size} for i in range(200)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": i + 1, "image_id": i, "category_id": 1, "bbox": box}
            for i, box in enumerate(boxes)
        ],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert germane.boxes.evaluate(truth, find(truth)[:32], "AP").findings == ()
        assert [one.severity for one in germane.boxes.check(truth, find(truth)[:32])] == ["note"]


def draw_objects(seed: int, *, crowds: bool) -> tuple[list[Any], list[Any]]:
    """One large object in the middle of each of 40 images of very different sizes, of which a detector finds a tenth."""
    rng = np.random.default_rng(seed)
    truth, found = [], []
    for _ in range(40):
        size = np.array(((640, 480), (1920, 1080), (300, 300), (64, 64))[rng.integers(4)])
        sides = size * rng.uniform(0.5, 0.98, 2)
        corner = (size - sides) * rng.uniform(0.3, 0.7, 2)
        low = rng.uniform(0, size, (21, 2))
        boxes = np.hstack((low, low + (size - low) * rng.uniform(0.1, 1, (21, 2))))
        if rng.random() < 0.1:
            boxes[0] = *corner, *(corner + sides)
        crowd = [int(crowds and rng.random() < 0.2)]
        truth.append({"boxes": [[*corner, *(corner + sides)]], "labels": [1], "iscrowd": crowd})
        found.append({"boxes": boxes, "labels": [1] * 21, "scores": rng.random(21)})
    return truth, found


def list_truths(truth: list[Any]) -> dict[str, Any]:
    """Write truths as COCO's JSON, without the sizes of images."""
    return {
        "images": [{"id": i} for i in range(len(truth))],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": i + 1, "image_id": i, "category_id": 1, "bbox": [x, y, right - x, bottom - y]}
            for i, one in enumerate(truth)
            for x, y, right, bottom in one["boxes"]
        ],
    }


@pytest.mark.parametrize("crowds", [True, False])
def test_weak_detectors_of_large_objects_cause_no_warning(crowds: bool) -> None:
    """In another format, their boxes become large and lie on objects and crowds by accident."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(12):
            truth, found = draw_objects(seed, crowds=crowds)
            germane.boxes.evaluate(truth, found, "AP50")
            germane.boxes.evaluate(list_truths(truth), dict(enumerate(found)), "AP50")


def test_other_formats_are_found_where_objects_have_the_same_places_in_all_images() -> None:
    """Boxes then fit the truths of other images, too."""
    rng = np.random.default_rng(6)
    grid = [[40 + 300 * (i % 4), 40 + 220 * (i // 4), 90, 90] for i in range(12)]
    truth = make_truth()
    truth["images"] = [{"id": i, "width": 1280, "height": 720} for i in range(20)]
    truth["annotations"] = [
        {"id": n + 1, "image_id": n // 12, "category_id": 1, "bbox": grid[n % 12]}
        for n in range(240)
    ]
    found = [
        {**one, "bbox": [x + 45 + dx, y + 45 + dy, w, h], "score": score}
        for one, (dx, dy), score in zip(
            find(truth), rng.normal(0, 3, (240, 2)), rng.random(240), strict=True
        )
        for x, y, w, h in [one["bbox"]]
    ]
    with pytest.warns(germane.GermaneWarning, match="with the detections read as cxcywh"):
        assert germane.boxes.evaluate(truth, found, "AP50")["AP50"].mean == 0
    right = {"detections": "cxcywh"}
    result = germane.boxes.evaluate(truth, found, "AP50", box_format=right)
    assert (result.findings, result["AP50"].mean) == ((), 1)


def test_the_formats_of_both_sides_are_one_advice() -> None:
    """Following it, with centers on one side and corners on the other, reads both."""
    centers = make_truth(
        [
            [x + w / 2, y + h / 2, w, h]
            for x, y, w, h in (one["bbox"] for one in TRUTH["annotations"])
        ]
    )
    with pytest.warns(germane.GermaneWarning, match="the truths read as cxcywh and the detections"):
        result = germane.boxes.evaluate(centers, find(CORNERS), "AP")
    (said,) = result.findings
    right = {"truth": "cxcywh", "detections": "xyxy"}
    assert said.advice == f"box_format={right} reads them that way."
    assert germane.boxes.evaluate(centers, find(CORNERS), "AP", box_format=right)["AP"].mean == 1


@pytest.mark.parametrize("side", ["truth", "detections"])
def test_another_format_of_objects_that_fill_their_image_is_found(side: str) -> None:
    """They begin near 0, so that corners and sizes differ little, and all overlap somewhat."""
    rng = np.random.default_rng(0)
    sides = rng.uniform(0.5, 0.98, (120, 2)) * [640, 480]
    low = rng.uniform(0, 1, (120, 2)) * ([640, 480] - sides)
    found = np.hstack((low, low + sides)) + rng.normal(0, 12, (120, 4))
    given = {"truth": np.hstack((low, low + sides)), "detections": found}
    right = germane.boxes.evaluate(*list_images(given), "AP").findings
    corner, end = np.hsplit(given[side], 2)
    given[side] = np.hstack((corner, end - corner))
    with pytest.warns(germane.GermaneWarning, match=f"box_format={{'{side}': 'xywh'}}"):
        germane.boxes.evaluate(*list_images(given), "AP")
    assert right == ()


def test_turned_scores_of_crowded_images_are_found() -> None:
    """Each image has more truths than detections are looked at."""
    rng = np.random.default_rng(0)
    cells = np.array([[x, y, x + 30, y + 30] for x in range(0, 640, 40) for y in range(0, 480, 40)])
    truth, found = [], []
    for _ in range(12):
        boxes = rng.permutation(cells)[:160]
        scores = np.append(rng.uniform(0, 0.5, 150), rng.uniform(0.5, 1, 10))
        truth.append({"boxes": boxes[:150], "labels": [1] * 150})
        found.append({"boxes": boxes, "labels": [1] * 160, "scores": scores})
    with pytest.warns(germane.GermaneWarning, match="in 0% of pairs"):
        germane.boxes.evaluate(truth, found, "AP50")


def list_images(boxes: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """List the truths and the detections of images with three objects each."""
    truth, found = (
        [{"boxes": boxes[side][at : at + 3], "labels": [1] * 3} for at in range(0, 120, 3)]
        for side in ("truth", "detections")
    )
    return truth, [{**one, "scores": [0.9 - at / 99] * 3} for at, one in enumerate(found)]


@pytest.mark.parametrize("form", ["xywh", "xyxy", "cxcywh"])
def test_relative_numbers_of_large_boxes_are_found_in_each_format(form: str) -> None:
    """A center at .6 and a width of .9 are relative, although their sum is above 1."""
    rng = np.random.default_rng(2)
    wide = rng.uniform(0.7, 0.95, (20, 2))
    low = (1 - wide) * rng.uniform(0.6, 1, (20, 2))
    columns = {"xywh": (low, wide), "xyxy": (low, low + wide), "cxcywh": (low + wide / 2, wide)}
    found = find(make_truth(np.hstack(columns[form]).tolist()))
    truth = make_truth((np.hstack((low, wide)) * [640, 480, 640, 480]).tolist())
    with pytest.warns(germane.GermaneWarning, match="relative coordinates are read as pixels"):
        germane.boxes.evaluate(truth, found, "AP")
    options: Any = {"box_format": {"detections": form}, "coordinates": {"detections": "relative"}}
    assert germane.boxes.evaluate(truth, found, "AP", **options)["AP"].mean == pytest.approx(1)


def test_areas_that_are_one_number_or_none() -> None:
    """An area of 1 is possible for each of these small boxes, but not for all of them."""
    small = make_truth([[20 * i + 5, 7, 3 + i % 7, 4 + i % 5] for i in range(20)])
    one, none = (
        {**small, "annotations": [{**row, "area": area} for row in small["annotations"]]}
        for area in (1.0, float("nan"))
    )
    with pytest.warns(germane.GermaneWarning, match="all areas are 1, although the boxes differ"):
        result = germane.boxes.evaluate(one, find(small), "AP")
    assert result.findings[0].examples[0] == "the truth: annotation 1 (id 1)"
    with pytest.raises(germane.errors.InputError, match="the area must be a finite number"):
        germane.boxes.evaluate(none, find(small), "AP")
    assert [said.what for said in germane.boxes.check(none, find(small)).serious] == [
        "negative areas"
    ]


def test_lines_of_yolo_in_pixels_are_not_taken_for_padillas(tmp_path: Path) -> None:
    """Both have six fields, with the score at the end or before the box."""
    truth = [{"boxes": [[10, 10, 50, 50]], "labels": [0]}]
    (tmp_path / "0.txt").write_text("0 30 30 40 40 0.9\n")
    with pytest.raises(germane.errors.InputError, match="YOLO's lines in pixels"):
        germane.boxes.evaluate(truth, tmp_path, "AP")
    assert germane.boxes.check(truth, tmp_path)[0].what == "malformed boxes"
    options: Any = {"input_format": {"detections": "yolo"}, "coordinates": {"detections": "pixels"}}
    assert germane.boxes.evaluate(truth, tmp_path, "AP", **options)["AP"].mean == 1


def test_two_classes_of_three_may_be_mixed_up() -> None:
    """The example and the number are those of other classes."""
    other = {0: 1, 1: 0, 2: 3, 3: 2, 4: 4}
    found = [{**one, "category_id": other[one["category_id"]]} for one in MANY]
    with pytest.warns(germane.GermaneWarning, match="^detections: 96 of 120 detections"):
        (said,) = germane.boxes.evaluate(LARGE, found, "AP").findings
    assert "class 'class 1' on truths of 'class 0', and 24 of its own" in said.says


def test_sizes_of_zero_are_not_known_and_truth_values_are_no_scores() -> None:
    unknown = {**TRUTH, "images": [{"id": i, "width": 0, "height": 0} for i in range(10)]}
    assert germane.boxes.evaluate(unknown, FOUND, "AP").findings == ()
    with pytest.raises(
        germane.errors.ScoreError, match="detection 3: the score must be a finite number"
    ):
        germane.boxes.evaluate(TRUTH, change(FOUND, 2, score=np.True_), "AP")


def test_a_right_side_beyond_all_numbers_is_said_as_such() -> None:
    box = change(FOUND, 2, bbox=[1e308, 5, 1e308, 12.3456789])
    says = r"detection 3: \[1e\+308, 5.0, 1e\+308, 12.3457\] \(x, y, width, height\) has a right or lower side"
    with pytest.raises(germane.errors.InputError, match=says):
        germane.boxes.evaluate(TRUTH, box, "AP")


HUGE = {
    **TRUTH,
    "annotations": [
        {**one, "bbox": [5, 5, 1e308, 1e308]} if one["id"] == 4 else one
        for one in TRUTH["annotations"]
    ],
}
VERBS = {
    "evaluate": lambda t, f: germane.boxes.evaluate(t, f).stats,
    "by": lambda t, f: germane.boxes.evaluate(t, f, "AP50").by("image"),
    "evaluate_many": lambda t, f: germane.boxes.evaluate_many(t, {"a": f, "b": FOUND}).table(),
    "compare": lambda t, f: germane.boxes.compare(t, {"a": f, "b": FOUND}),
    "gate": lambda t, f: germane.boxes.gate(t, f, baseline=FOUND),
    "report": lambda t, f: germane.boxes.report(t, {"a": f, "b": FOUND}),
    "explain": lambda t, f: germane.boxes.explain(t, f, image=3).svg(),
    "curve": lambda t, f: germane.boxes.curve(t, f).table(),
    "confusion": lambda t, f: germane.boxes.confusion(t, f).svg(),
    "errors": lambda t, f: germane.boxes.explain(t, f).errors.table(),
    "spread": lambda t, f: germane.boxes.spread(t, f),
    "reconcile": lambda t, f: germane.boxes.reconcile(t, f, reported=".5"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_it_and_nothing_overflows(verb: str) -> None:
    """Sides of 1e308 have no finite area; no other warning leaves a verb."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        VERBS[verb](HUGE, FOUND)
    assert {one.category for one in seen} == {germane.GermaneWarning}
    assert (
        "1 of 20 boxes has sides that are longer than those of any image: the truth: annotation 4 (id 4)"
        in str(seen[0].message)
    )


@pytest.mark.slow
def test_the_calibration() -> None:
    """Some of the sets of bench/BOXES.md: sound ones have no finding, and mistakes are found."""
    from test_docs import ROOT

    spec = importlib.util.spec_from_file_location("box_findings", ROOT / "bench/box_findings.py")
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    sys.modules["box_findings"] = bench
    spec.loader.exec_module(bench)
    for form in bench.FORMS:
        for seed in range(300, 315):
            world = bench.draw_world(np.random.default_rng(seed))
            said, text = bench.look(world, form, seed % 2 == 0 or form == "yolo")
            assert not said, text
    for name, (spoil, kinds) in bench.SPOILT.items():
        for seed in range(300, 306):
            rng = np.random.default_rng(seed)
            world = bench.draw_world(rng, good=True)
            if not bench.is_idle(name, "dicts", world):
                spoil(world, rng)
                said, text = bench.look(world, "dicts", sound=False)
                assert said & (kinds | {"error"}), (name, seed, text)
