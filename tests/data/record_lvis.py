"""Record what the package lvis answers on the federated sets of boxes_sets.py.

    python tests/data/record_lvis.py

writes lvis.json beside this file: for each seed the checksum of the set, and the 13 numbers of boxes; of some
sets also those of masks, which are the outlines of the boxes. lvis 0.5.3 uses the name np.float, which
NumPy 1.24 removed; it is put back here.
"""

import copy
import hashlib
import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from boxes_sets import make_federated, outline_boxes

JSON = Path(__file__).with_name("lvis.json")
SETS, OF_MASKS = 300, 60


def ask_lvis(
    truth: dict[str, Any], detections: list[dict[str, Any]], kind: str
) -> dict[str, float]:
    from lvis import LVIS, LVISEval, LVISResults

    class Loaded(LVIS):  # type: ignore[misc]
        def __init__(self) -> None:
            self.logger = logging.getLogger("lvis")
            self.dataset = copy.deepcopy(truth)
            self._create_index()

    known = Loaded()
    evaluation = LVISEval(known, LVISResults(known, copy.deepcopy(detections)), kind)
    evaluation.run()
    return {name: float(value) for name, value in evaluation.get_results().items()}


def main() -> None:
    np.float = float  # type: ignore[attr-defined]
    logging.disable(logging.CRITICAL)
    sets = []
    for seed in range(SETS):
        truth, detections = make_federated(seed)
        digest = hashlib.sha256(json.dumps([truth, detections]).encode()).hexdigest()[:16]
        entry: dict[str, Any] = {"sha256": digest, "bbox": ask_lvis(truth, detections, "bbox")}
        if seed < OF_MASKS:
            outlined = {**truth, "annotations": outline_boxes(truth["annotations"])}
            entry["segm"] = ask_lvis(outlined, outline_boxes(detections), "segm")
        sets.append(entry)
    versions = {name: version(name) for name in ("lvis", "pycocotools", "numpy")}
    rows = ",\n".join(json.dumps(one, separators=(",", ":")) for one in sets)
    JSON.write_text(f'{{"versions":{json.dumps(versions)},"sets":[\n{rows}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
