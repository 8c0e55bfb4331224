"""germane.boxes.check: every check finds what it looks for, nothing in sound data, and evaluate warns of the serious ones."""

import importlib.util
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from check_boxes_examples import CORNERS, EXAMPLES, FOUND, SHARES, TRUTH, change, find, find_all

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
        with pytest.raises(germane.InputError):
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
    with pytest.warns(germane.GermaneWarning, match="with truth read as xyxy, by 1.00"):
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        germane.boxes.evaluate(bare, found, "AP", box_format={"detections": "xyxy"})


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
        for seed in range(300, 330):
            world = bench.draw_world(np.random.default_rng(seed))
            said, text = bench.look(world, form, seed % 2 == 0 or form == "yolo")
            assert not said, text
    for name, (spoil, kinds) in bench.SPOILT.items():
        for seed in range(300, 306):
            rng = np.random.default_rng(seed)
            world = bench.draw_world(rng, good=True)
            if not bench.is_idle(name, "dicts", world):
                spoil(world, rng)
                said, text = bench.look(world, "dicts")
                assert said & (kinds | {"error"}), (name, seed, text)
