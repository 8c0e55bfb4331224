"""Record what pycocotools answers on sets of masks and keypoints.

    python tests/data/record_shapes.py

writes shapes.json beside this file: the sets of shapes_sets.py, COCOeval's statistics, and checksums of its
arrays of precision and recall.
"""

import contextlib
import copy
import hashlib
import io
import json
import sys
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


def sign(array: Any) -> str:
    """Make a checksum of an array's numbers."""
    return hashlib.sha256(np.ascontiguousarray(array, np.float64).tobytes()).hexdigest()[:16]


def main() -> None:
    """Record all sets."""
    recorded = []
    for kind, seed, images in SETS:
        truth, detections = make_shapes(seed, kind, images)
        answer = ask(truth, detections, kind)
        one = {"kind": kind, "seed": seed, "stats": answer.stats.tolist()}
        one |= {name: sign(answer.eval[name]) for name in ("precision", "recall")}
        recorded.append({**one, "truth": truth, "detections": detections})
    said = {"pycocotools": version("pycocotools"), "sets": recorded}
    lines = ",\n".join(json.dumps(one) for one in said.pop("sets"))
    JSON.write_text(f'{{"pycocotools": "{said["pycocotools"]}", "sets": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
