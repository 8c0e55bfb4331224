"""Record the confusion matrices that tools make of the sets of boxes_sets.py.

    python tests/data/record_confusion.py [SOURCES]

writes confusion.json beside this file. Answers of tools that are not installed stay as they are. SOURCES is a
folder with mmdetection's tools/analysis_tools/confusion_matrix.py, as mmdetection.py, and FiftyOne's
fiftyone/utils/eval/coco.py, as fiftyone.py: neither is imported whole, only the functions that count are run.

Rows are truths, columns detections, and background is last. Every tool has the scores and the boxes in double
precision, except Ultralytics, which has torch's.
"""

import ast
import contextlib
import io
import json
import sys
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from boxes_sets import make_boxes

JSON = Path(__file__).with_name("confusion.json")
SETS = {
    "whole": (1, ""),
    "floats": (4, "floats"),
    "floats, shuffled": (5, "floats, shuffled"),
    "many truths": (19, "many truths, floats"),
    "empty images": (16, "empty images, floats"),
    "classes": (17, "truthless class, missed class, floats"),
    "deep": (18, "deep, floats"),
    "crowds": (9, "crowds, floats"),
    "no truths": (23, "no truths, floats"),
    "no detections": (24, "no detections, floats"),
}
Matrix = list[list[int]]


class Case:
    """A set as tools are given it: by image, classes as numbers from 0."""

    def __init__(self, seed: int, traits: str) -> None:
        self.truth, self.detections = make_boxes(seed, traits)
        self.classes = sorted(category["id"] for category in self.truth["categories"])
        self.images = sorted(image["id"] for image in self.truth["images"])

    def list_image(self, rows: list[dict[str, Any]], image: Any) -> tuple[Any, Any, Any]:
        """List corners, classes and scores of an image, in the order given."""
        rows = [row for row in rows if row["image_id"] == image]
        boxes = np.array([row["bbox"] for row in rows], float).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        labels = np.array([self.classes.index(row["category_id"]) for row in rows], int)
        return boxes, labels, np.array([row.get("score", 1.0) for row in rows], float)

    def pair_images(self) -> list[tuple[Any, Any]]:
        return [
            (
                self.list_image(self.truth["annotations"], image),
                self.list_image(self.detections, image),
            )
            for image in self.images
        ]


def ask_supervision(case: Case) -> Matrix:
    from supervision import ConfusionMatrix, Detections

    sides: list[list[Any]] = [[], []]
    for truth, found in case.pair_images():
        sides[0].append(Detections(xyxy=truth[0], class_id=truth[1]))
        sides[1].append(Detections(xyxy=found[0], class_id=found[1], confidence=found[2]))
    names = list(map(str, case.classes))
    made = ConfusionMatrix.from_detections(sides[1], sides[0], classes=names)
    return np.asarray(made.matrix).astype(int).tolist()


def ask_ultralytics(case: Case) -> Matrix:
    import torch
    from ultralytics.utils.metrics import ConfusionMatrix

    if version("ultralytics") < "8.4":
        return ask_old_ultralytics(case)
    made = ConfusionMatrix(names=dict(enumerate(map(str, case.classes))))
    for truth, found in case.pair_images():
        boxes, labels, scores = map(torch.tensor, found)
        made.process_batch(
            {"bboxes": boxes, "cls": labels, "conf": scores},
            {"bboxes": torch.tensor(truth[0]), "cls": torch.tensor(truth[1])},
        )
    return made.matrix.T.astype(int).tolist()


def ask_old_ultralytics(case: Case) -> Matrix:
    import torch
    from ultralytics.utils.metrics import ConfusionMatrix

    made = ConfusionMatrix(nc=len(case.classes))
    for truth, found in case.pair_images():
        rows = torch.tensor(np.column_stack((found[0], found[2], found[1])))
        made.process_batch(
            rows if len(rows) else None, torch.tensor(truth[0]), torch.tensor(truth[1])
        )
    return made.matrix.T.astype(int).tolist()


def ask_faster(case: Case) -> Matrix:
    from faster_coco_eval import COCO
    from faster_coco_eval.extra import PreviewResults

    truth = COCO(case.truth)
    made = PreviewResults(truth, truth.loadRes(case.detections), iou_tresh=0.5, useCats=False)
    matrix, order = made.compute_confusion_matrix().astype(int), list(truth.cats)
    place = [order.index(label) for label in case.classes]
    out = np.zeros((len(order) + 1,) * 2, int)
    out[:-1, :-1] = matrix[np.ix_(place, place)]
    out[-1, :-1], out[:-1, -1] = matrix[place, -2], matrix[place, -1]
    return out.tolist()


def ask_hotcoco(case: Case) -> Matrix:
    from hotcoco import COCO, COCOeval

    truth = COCO(case.truth)
    made = COCOeval(truth, truth.load_res(case.detections), "bbox").confusion_matrix()
    assert made["cat_ids"] == case.classes
    return np.asarray(made["matrix"]).astype(int).reshape(len(case.classes) + 1, -1).tolist()


def read_functions(path: Path, names: set[str], given: dict[str, Any]) -> dict[str, Any]:
    """Run functions of a file, without its imports."""
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [node for node in tree.body if getattr(node, "name", "") in names]
    exec(compile(tree, str(path), "exec"), given)
    return given


def measure_overlaps(boxes: Any, others: Any) -> Any:
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=2)
    areas = [np.prod(side[:, 2:] - side[:, :2], axis=1) for side in (boxes, others)]
    return shared / (areas[0][:, None] + areas[1][None] - shared)


class Array(np.ndarray):  # what torch's tensors are to mmdetection
    def numpy(self) -> Any:
        return np.asarray(self)


def ask_mmdetection(case: Case, source: Path) -> Matrix:
    functions = read_functions(
        source / "mmdetection.py", {"analyze_per_img_dets"},
        {"np": np, "bbox_overlaps": measure_overlaps},
    )  # fmt: skip
    matrix = np.zeros((len(case.classes) + 1,) * 2)
    for truth, found in case.pair_images():
        gts = [
            {"bbox": box, "bbox_label": label}
            for box, label in zip(truth[0], truth[1], strict=True)
        ]
        rows = {
            name: column.view(Array)
            for name, column in zip(("bboxes", "labels", "scores"), found, strict=True)
        }
        if not gts:  # where NumPy has no overlap of nothing
            for label in found[1][found[2] >= 0.3].tolist():
                matrix[-1, label] += 1
            continue
        functions["analyze_per_img_dets"](matrix, gts, rows, score_thr=0.3, tp_iou_thr=0.5)
    return matrix.astype(int).tolist()


class Labelled(dict[str, Any]):  # a detection of FiftyOne
    def __getattr__(self, name: str) -> Any:
        return self[name]


def ask_fiftyone(case: Case, source: Path) -> Matrix:
    fields = SimpleNamespace(Keypoint=(), Keypoints=())
    functions = read_functions(
        source / "fiftyone.py", {"_compute_matches"}, {"fol": fields, "np": np, "_NO_MATCH_ID": ""}
    )
    size = len(case.classes)
    matrix = np.zeros((size + 1, size + 1), int)
    for truth, found in case.pair_images():
        sides = [
            [
                Labelled(id=f"{side}{i}", label=label, confidence=score, key="")
                for i, (label, score) in enumerate(
                    zip(labels.tolist(), scores.tolist(), strict=True)
                )
            ]
            for side, (_, labels, scores) in (("g", truth), ("p", found))
        ]
        overlaps = measure_overlaps(found[0], truth[0])
        ious = {
            f"p{i}": [(f"g{j}", row[j]) for j in np.flatnonzero(row > 0)]
            for i, row in enumerate(overlaps) if (row > 0).any()
        }  # fmt: skip
        preds = sorted(sides[1], key=lambda row: row.confidence, reverse=True)
        cats = defaultdict(dict, {"all": {"gts": sides[0], "preds": preds}})
        for match in functions["_compute_matches"](
            cats, ious, 0.5, lambda row: False, "key", "key", "iou"
        ):
            row, column = (size if label is None else label for label in match[:2])
            matrix[row, column] += 1
        # a detection that overlaps nothing has no entry unless its class is asked for
        for pred in sides[1]:
            if pred.id not in ious:
                matrix[size, pred.label] += 1
    return matrix.tolist()


PACKAGES = {
    "supervision": ask_supervision,
    "ultralytics": ask_ultralytics,
    "faster-coco-eval": ask_faster,
    "hotcoco": ask_hotcoco,
}
SOURCES = {"mmdetection": ask_mmdetection, "fiftyone": ask_fiftyone}
COMMITS = {"mmdetection": "12865214", "fiftyone": "01532d3b"}


def main(source: Path | None) -> None:
    recorded = (
        json.loads(JSON.read_text("utf-8")) if JSON.exists() else {"versions": {}, "sets": {}}
    )
    asked: dict[str, Any] = {}
    for tool, ask in PACKAGES.items():
        with contextlib.suppress(PackageNotFoundError):
            named = f"{tool}-8.3" if tool == "ultralytics" and version(tool) < "8.4" else tool
            recorded["versions"][named] = version(tool)
            asked[named] = ask
    if source:
        recorded["versions"] |= COMMITS
        asked |= {
            tool: lambda case, ask=ask: ask(case, source)
            for tool, ask in SOURCES.items()
            if (source / f"{tool}.py").exists()
        }
    for name, (seed, traits) in SETS.items():
        answers = recorded["sets"].setdefault(
            name, {"seed": seed, "traits": traits, "answers": {}}
        )["answers"]
        for tool, ask in asked.items():
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    answers[tool] = ask(Case(seed, traits))
                except Exception as error:  # what a tool refuses
                    answers[tool] = f"{type(error).__name__}: {error}"[:200]
    text = json.dumps(recorded, indent=1)
    JSON.write_text(text.replace("\n     ", " ") + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
