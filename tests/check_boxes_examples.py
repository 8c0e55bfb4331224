"""For every check of boxes, data in which it finds something."""

from typing import Any

import germane

SIZE = {"width": 640, "height": 480}


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
TWICE = make_truth()
TWICE["annotations"].append({**TWICE["annotations"][0], "id": 99})
ONE_CLASS = {**TRUTH, "annotations": TRUTH["annotations"][:10]}

EXAMPLES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "malformed boxes": (TRUTH, change(FOUND, 2, bbox=[1, 2, 3]), {}),
    "swapped corners": ([DICT], [{"boxes": [[30, 2, 1, 40]], "labels": [1], "scores": [0.5]}], {}),
    "negative sizes": (TRUTH, change(FOUND, 2, bbox=[5, 5, -3, 4]), {}),
    "unknown images": (TRUTH, change(FOUND, 2, image_id=77), {}),
    "unknown classes": (TRUTH, change(FOUND, 2, category_id=0), {}),
    "scores that are no numbers": (TRUTH, change(FOUND, 2, score=float("nan")), {}),
    "relative numbers taken for pixels": (TRUTH, find(SHARES), {}),
    "pixels taken for relative numbers": (TRUTH, FOUND, {"coordinates": {"detections": "relative"}}),
    "another format of boxes": (TRUTH, find(CORNERS), {}),
    "constant scores": (TRUTH, [{**one, "score": 1.0} for one in FOUND], {}),
    "boxes outside their image": (TRUTH, change(FOUND, 2, bbox=[600, 5, 50, 40]), {}),
    "truths given twice": (TWICE, FOUND, {}),
    "detections given twice": (TRUTH, [*FOUND, FOUND[4]], {}),
    "boxes without size": (TRUTH, change(FOUND, 2, bbox=[5, 5, 0, 40]), {}),
    "images without detections": (TRUTH, [one for one in FOUND if one["image_id"] != 3], {}),
    "classes without detections": (TRUTH, FOUND[:10], {}),
    "images without truths": (make_truth([one["bbox"] for one in TRUTH["annotations"]][:9]), FOUND, {}),
    "classes without truths": (ONE_CLASS, FOUND, {}),
    "scores beyond 0 to 1": (TRUTH, change(FOUND, 2, score=99.0), {}),
}  # fmt: skip


def find_all(name: str) -> list[germane.Finding]:
    """Find everything in the example of a check."""
    truth, found, options = EXAMPLES[name]
    return list(germane.boxes.check(truth, found, **options))
