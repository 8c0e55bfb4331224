"""Record what pycocotools answers on sets of masks and keypoints.

    python tests/data/record_shapes.py

writes shapes.json beside this file: the sets of shapes_sets.py, COCOeval's statistics, and checksums of its
arrays of precision and recall. Of masks, also torchmetrics' numbers; where it is not installed, they stay.
"""

import contextlib
import copy
import hashlib
import io
import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from shapes_sets import make_shapes

JSON = Path(__file__).with_name("shapes.json")
SETS = [(kind, seed, images) for kind in ("segm", "keypoints") for seed, images in ((1, 5), (2, 5), (3, 5), (8, 5), (20, 4))]  # fmt: skip


def ask(truth: Any, detections: Any, kind: str) -> Any:
    """Evaluate with pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO()
        known.dataset = copy.deepcopy(truth)
        known.createIndex()
        evaluator = COCOeval(known, known.loadRes(copy.deepcopy(detections)), kind)
        evaluator.evaluate()
        evaluator.accumulate()
        evaluator.summarize()
    return evaluator


def ask_torchmetrics(truth: Any, detections: Any) -> Any:
    """Evaluate arrays of masks with torchmetrics; None where it is not installed."""
    try:
        import torch
        from torchmetrics.detection import MeanAveragePrecision
    except ImportError:
        return None
    given = [
        [{name: torch.tensor(one) for name, one in image.items()} for image in side]
        for side in (list_images(truth, detections), list_images(truth))
    ]
    metric = MeanAveragePrecision(iou_type="segm")
    metric.update(*given)
    said = metric.compute()
    names = [name for name in said if name.startswith("ma") and said[name].ndim == 0]
    return {name: float(said[name]) for name in names}


def list_images(truth: Any, detections: Any = None) -> list[dict[str, Any]]:
    """List the masks of each image as torchmetrics takes them: of the truths, or of detections."""
    size = truth["images"][0]["height"], truth["images"][0]["width"]
    out = []
    for image in truth["images"]:
        rows = truth["annotations"] if detections is None else detections
        mine = [row for row in rows if row["image_id"] == image["id"]]
        masks = np.array([decode(row["segmentation"], *size) for row in mine], bool)
        one = {
            "masks": masks.reshape(-1, *size),
            "labels": np.array([row["category_id"] for row in mine], int),
        }
        if detections is None:
            one["iscrowd"] = np.array([row["iscrowd"] for row in mine], int)
            one["area"] = np.array([row["area"] for row in mine], float)
        else:
            one["scores"] = np.array([row["score"] for row in mine], np.float32)
        out.append(one)
    return out


def decode(segmentation: Any, height: int, width: int) -> Any:
    """Decode polygons or run lengths to an array."""
    from pycocotools import mask

    if isinstance(segmentation, list):
        segmentation = mask.merge(mask.frPyObjects(segmentation, height, width))
    elif isinstance(segmentation["counts"], list):
        segmentation = mask.frPyObjects(segmentation, height, width)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mask.decode(segmentation)


def sign(array: Any) -> str:
    """Make a checksum of an array's numbers."""
    return hashlib.sha256(np.ascontiguousarray(array, np.float64).tobytes()).hexdigest()[:16]


def main() -> None:
    """Record all sets."""
    recorded = []
    before = json.loads(JSON.read_text("utf-8"))["sets"] if JSON.exists() else []
    known = {(one["kind"], one["seed"]): one.get("torchmetrics") for one in before}
    for kind, seed, images in SETS:
        truth, detections = make_shapes(seed, kind, images)
        answer = ask(truth, detections, kind)
        one = {"kind": kind, "seed": seed, "stats": answer.stats.tolist()}
        one |= {name: sign(answer.eval[name]) for name in ("precision", "recall")}
        if kind == "segm":
            said = ask_torchmetrics(truth, detections)
            one["torchmetrics"] = said or known.get((kind, seed))
        recorded.append({**one, "truth": truth, "detections": detections})
    lines = ",\n".join(json.dumps(one) for one in recorded)
    JSON.write_text(
        f'{{"pycocotools": "{version("pycocotools")}", "sets": [\n{lines}\n]}}\n', "utf-8"
    )


if __name__ == "__main__":
    main()
