"""Boxes are evaluated as other tools evaluated them: recorded answers in data/boxes.json."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import draw_traits, make_boxes

RECORDED = json.loads((Path(__file__).parent / "data" / "boxes.json").read_text("utf-8"))
SETS = RECORDED["sets"]
PYCOCOTOOLS = {"difficult": "count", "unknown": "ignore", "id_zero": "unmatched"}
VOC = {
    "overlap": "iou+1",
    "candidate": "best",
    "equal_overlaps": "first",
    "reach": "above",
    "crowds": "count",
    "depth": None,
    "ties": "given",
    "unknown": "ignore",
}
PADILLA = VOC | {"reach": "at_least", "difficult": "count"}
USUAL = 100
"""How many of the random sets the ordinary run looks at."""


def hash_arrays(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array, "<f8").tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize(
    "name", [n for n, one in SETS.items() if isinstance(one["answers"]["pycocotools"], dict)]
)
def test_arrays_and_summary_are_those_of_pycocotools(name: str) -> None:
    entry = SETS[name]
    theirs = entry["answers"]["pycocotools"]
    own = germane.boxes.evaluate(*make_boxes(entry["seed"], entry["traits"]), **PYCOCOTOOLS)
    for word in ("precision", "recall"):
        array = getattr(own, word)
        assert list(array.shape) == theirs[word]["shape"]
        assert hash_arrays(array) == theirs[word]["sha256"]
    for cell, value in theirs["cells"].items():
        assert own.precision[tuple(map(int, cell.split(",")))] == value
    assert list(map(float, own.stats)) == list(theirs["stats"].values())


def check_random(seeds: range) -> None:
    different = []
    for seed in seeds:
        own = germane.boxes.evaluate(*make_boxes(seed, draw_traits(seed)), **PYCOCOTOOLS)
        if hash_arrays(own.precision, own.recall)[:16] != RECORDED["random"][seed]:
            different.append(seed)
    assert not different


def test_random_sets_have_the_arrays_of_pycocotools() -> None:
    check_random(range(USUAL))


@pytest.mark.long
def test_two_thousand_random_sets_have_the_arrays_of_pycocotools() -> None:
    check_random(range(USUAL, len(RECORDED["random"])))


def test_the_known_mistake_is_seen() -> None:
    data = make_boxes(SETS["id zero"]["seed"], "id zero")
    with_it, without = (
        germane.boxes.evaluate(*data, **PYCOCOTOOLS | {"id_zero": word}).stats[0]
        for word in ("unmatched", "matched")
    )
    assert with_it < without


def check_classes(
    truth: Any, detections: Any, words: dict[str, Any], points: str, theirs: Any
) -> None:
    """The tools say different things of classes without truths; these are left out."""
    known = {row["category_id"] for row in truth["annotations"]}
    own = germane.boxes.evaluate(truth, detections, f"AP(iou=.5,points={points})", **words)
    [measure] = own.values()
    for category, value in theirs.items():
        if category in known and isinstance(value, float):
            assert measure.per_class[f"class {category}"] == pytest.approx(value, abs=1e-13)


def list_sets(tool: str) -> list[str]:
    return [n for n, one in SETS.items() if tool in one["answers"] and n != "unknown image"]


OF_CLASSES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "py-faster-rcnn": (VOC, {"2007": "11", "2010": "all"}),
    "Object-Detection-Metrics": (
        PADILLA,
        {"ElevenPointInterpolation": "11", "EveryPointInterpolation": "all"},
    ),
}


@pytest.mark.parametrize(
    ("tool", "name"), [(tool, name) for tool in OF_CLASSES for name in list_sets(tool)]
)
def test_ap_of_each_class(tool: str, name: str) -> None:
    entry, (words, names) = SETS[name], OF_CLASSES[tool]
    theirs = entry["answers"][tool]
    for word, points in names.items():
        each = dict(zip(theirs["classes"], theirs[word], strict=True))
        check_classes(*make_boxes(entry["seed"], entry["traits"]), words, points, each)
