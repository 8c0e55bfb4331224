"""For every check of boxes, data in which it finds something."""

import os
from pathlib import Path
from typing import Any

import numpy as np

import germane

SIZE = {"width": 640, "height": 480}
TURNED = Path(os.path.relpath(Path(__file__).with_name("data"))) / "turned"  # labels of YOLO


def make_truth(boxes: list[list[float]] | None = None, **more: Any) -> dict[str, Any]:
    """Ten images of two classes, with two boxes each."""
    boxes = boxes or [[20 * i + 5, 10 * i + 7, 60 + i, 50] for i in range(20)]
    return {
        "images": [{"id": i, **SIZE} for i in range(10)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": n + 1, "image_id": n % 10, "category_id": 1 + n // 10, "bbox": box}
            for n, box in enumerate(boxes)
        ],
        **more,
    }


def find(truth: dict[str, Any]) -> list[dict[str, Any]]:
    """A detection of each truth."""
    return [
        {
            "image_id": one["image_id"],
            "category_id": one["category_id"],
            "bbox": list(one["bbox"]),
            "score": (n + 1) / 32,
        }
        for n, one in enumerate(truth["annotations"])
    ]


def change(rows: list[dict[str, Any]], at: int, **new: Any) -> list[dict[str, Any]]:
    return [{**row, **(new if i == at else {})} for i, row in enumerate(rows)]


TRUTH = make_truth()
FOUND = find(TRUTH)
CORNERS = make_truth(
    [[x, y, x + w, y + h] for x, y, w, h in (one["bbox"] for one in TRUTH["annotations"])]
)
SHARES = make_truth(
    [
        [x / 640, y / 480, w / 640, h / 480]
        for x, y, w, h in (one["bbox"] for one in TRUTH["annotations"])
    ]
)
DICT = {"boxes": [[1, 2, 30, 40]], "labels": [1]}
AREAS = make_truth()
AREAS["annotations"] = [{**one, "area": 3000.0} for one in AREAS["annotations"]]


def make_large() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Forty images of five classes with three boxes each, and a detection of each beside one of nothing."""
    rng = np.random.default_rng(4)
    corners, sides = rng.uniform(0, 400, (120, 2)), rng.uniform(40, 80, (120, 2))
    truth = {
        "images": [{"id": i, **SIZE} for i in range(40)],
        "categories": [{"id": i, "name": f"class {i}"} for i in range(5)],
        "annotations": [
            {"id": n + 1, "image_id": n // 3, "category_id": n % 5, "bbox": box}
            for n, box in enumerate(np.round(np.hstack((corners, sides))).tolist())
        ],
    }
    found = [{**one, "score": 0.5 + one["score"] / 16} for one in find(truth)]
    apart = [
        {**one, "bbox": [*np.round(place).tolist(), 20.0, 20.0], "score": one["score"] - 0.5}
        for one, place in zip(found, rng.uniform(0, 400, (120, 2)), strict=True)
    ]
    return truth, found + apart


def add_points(rows: list[dict[str, Any]], scale: float = 1.0) -> list[dict[str, Any]]:
    """Add 17 keypoints in the middle of each box."""
    middles = ([x + w / 2, y + h / 2] for x, y, w, h in (one["bbox"] for one in rows))
    return [
        {**one, "keypoints": [x * scale, y * scale, 2] * 17, "area": 900}
        for one, (x, y) in zip(rows, middles, strict=True)
    ]


def make_masks(count: int, empty: int = -1) -> Any:
    """Masks of some squares in an image, one of which may have no pixel."""
    masks = np.zeros((count, 40, 90), bool)
    for at in range(count):
        masks[at, 5:30, 30 * at : 30 * at + 20] = at != empty
    return masks


LARGE, MANY = make_large()
TWICE = make_truth()
TWICE["annotations"].append({**TWICE["annotations"][0], "id": 99})
ONE_CLASS = {**TRUTH, "annotations": TRUTH["annotations"][:10]}

EXAMPLES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "malformed boxes": (TRUTH, change(FOUND, 2, bbox=[1, 2, 3]), {}),
    "repeated ids": ({**TRUTH, "annotations": change(TRUTH["annotations"], 2, id=1)}, FOUND, {}),
    "swapped corners": ([DICT], [{"boxes": [[30, 2, 1, 40]], "labels": [1], "scores": [0.5]}], {}),
    "negative sizes": (TRUTH, change(FOUND, 2, bbox=[5, 5, -3, 4]), {}),
    "negative areas": (
        {**AREAS, "annotations": change(AREAS["annotations"], 2, area=-3000.0)}, FOUND, {},
    ),
    "ids of another type": (TRUTH, change(FOUND, 2, image_id="3"), {}),
    "unknown images": (TRUTH, change(FOUND, 2, image_id=77), {}),
    "unknown classes": (TRUTH, change(FOUND, 2, category_id=0), {}),
    "scores that are no numbers": (TRUTH, change(FOUND, 2, score=float("nan")), {}),
    "relative numbers taken for pixels": (TRUTH, find(SHARES), {}),
    "pixels taken for relative numbers": (TRUTH, FOUND, {"coordinates": {"detections": "relative"}}),
    "another format of boxes": (TRUTH, find(CORNERS), {}),
    "angles that look like radians": (
        [{"boxes": [[30, 30, 40, 20, 0.5]], "labels": [1]}],
        [{"boxes": [[30, 30, 40, 20, 30]], "labels": [1], "scores": [0.5]}], {"overlap": "probiou"},
    ),
    "oriented boxes read as upright ones": (
        str(TURNED / "labels"), str(TURNED / "found"), {"images": {"a": (640, 480)}},
    ),
    "images mixed up": (LARGE, [{**one, "image_id": (one["image_id"] + 1) % 40} for one in MANY], {}),
    "hardly any detection on a truth": (
        LARGE, [{**one, "bbox": [side / 2 for side in one["bbox"]]} for one in MANY], {},
    ),
    "classes that nobody looked for": (
        {**ONE_CLASS, "images": [{**one, "neg_category_ids": [], "not_exhaustive_category_ids": []} for one in TRUTH["images"]]},
        FOUND, {},
    ),
    "sides beyond any image": (TRUTH, change(FOUND, 2, bbox=[5, 5, 1e308, 40]), {}),
    "boxes apart from their image": (TRUTH, change(FOUND, 2, bbox=[700, 5, 50, 40]), {}),
    "boxes without size": (TRUTH, change(FOUND, 2, bbox=[5, 5, 0, 40]), {}),
    "masks without pixels": (
        [{"masks": make_masks(3), "labels": [1, 1, 1]}],
        [{"masks": make_masks(3, empty=1), "labels": [1, 1, 1], "scores": [0.5, 0.7, 0.9]}],
        {"overlap": "mask"},
    ),
    "masks or keypoints apart from their boxes": (
        {**TRUTH, "annotations": add_points(TRUTH["annotations"])}, add_points(FOUND, 1 / 640),
        {"overlap": "oks"},
    ),
    "areas far from the boxes": (
        {**AREAS, "annotations": change(AREAS["annotations"], 2, area=9e6)}, FOUND, {},
    ),
    "most truths given twice": (
        {**TRUTH, "annotations": [*TRUTH["annotations"], *({**one, "id": 99 + one["id"]} for one in TRUTH["annotations"][:10])]},
        FOUND, {},
    ),
    "most detections given twice": (TRUTH, [*FOUND, *FOUND], {}),
    "hardly any image with detections": (LARGE, MANY[4:5], {}),
    "images emptied by an option": (TRUTH, FOUND, {"confidence": 0.5}),
    "constant scores": (TRUTH, [{**one, "score": 1.0} for one in FOUND], {}),
    "scores fall as matches rise": (LARGE, [{**one, "score": 1 - one["score"]} for one in MANY], {}),
    "classes mixed up": (LARGE, [{**one, "category_id": (one["category_id"] + 1) % 5} for one in MANY], {}),
    "boxes outside their image": (TRUTH, change(FOUND, 2, bbox=[600, 5, 50, 40]), {}),
    "truths given twice": (TWICE, FOUND, {}),
    "detections given twice": (TRUTH, [*FOUND, FOUND[4]], {}),
    "images without detections": (TRUTH, [one for one in FOUND if one["image_id"] != 3], {}),
    "classes without detections": (TRUTH, FOUND[:10], {}),
    "images without truths": (make_truth([one["bbox"] for one in TRUTH["annotations"]][:9]), FOUND, {}),
    "classes without truths": (ONE_CLASS, FOUND, {}),
    "scores beyond 0 to 1": (TRUTH, change(FOUND, 2, score=99.0), {}),
}  # fmt: skip


def find_all(name: str) -> list[germane.types.Finding]:
    """Find everything in the example of a check."""
    truth, found, options = EXAMPLES[name]
    return list(germane.boxes.check(truth, found, **options))
