"""Record what tidecv answers on sets of boxes_sets.py.

    python tests/data/record_error_costs.py

writes error_costs.json beside this file. tidecv reads precision at recalls of x / 100, pycocotools at those of
numpy.linspace, which are a little larger at ten of them. Both are recorded: ``levels`` has the answers
with the levels of pycocotools.
"""

import inspect
import json
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tidecv
from tidecv.ap import APDataObject

sys.path.insert(0, str(Path(__file__).parents[1]))
from boxes_sets import make_boxes

JSON = Path(__file__).with_name("error_costs.json")
SETS = [(seed, traits, iou) for seed in range(10) for traits in ("floats", "floats, missed class") for iou in (0.5, 0.75)]  # fmt: skip
LEVELS = "np.array([x / resolution for x in range(resolution + 1)])"


def ask(seed: int, traits: str, iou: float) -> dict[str, Any]:
    """Ask for AP, the cost of each kind of error, and their numbers."""
    truth, found = make_boxes(seed, traits)
    annotated, detected = (tidecv.Data(name, max_dets=10**6) for name in ("truth", "found"))
    for one in truth["images"]:
        annotated.add_image(one["id"], str(one["id"]))
    for one in truth["annotations"]:
        annotated.add_ground_truth(one["image_id"], one["category_id"], one["bbox"])
    for one in found:
        detected.add_detection(one["image_id"], one["category_id"], one["score"], one["bbox"])
    made = tidecv.TIDE(pos_threshold=iou).evaluate(annotated, detected, mode=tidecv.TIDE.BOX)
    costs = {**made.fix_main_errors(), **made.fix_special_errors()}
    return {
        "AP": round(made.ap, 10),
        "costs": {kind.short_name: round(cost, 10) for kind, cost in costs.items()},
        "counts": {kind.short_name: count for kind, count in made.count_errors().items()},
    }


if __name__ == "__main__":
    plain = [ask(*one) for one in SETS]
    source = textwrap.dedent(inspect.getsource(APDataObject.get_ap))
    held: dict[str, Any] = {"np": np}
    exec(source.replace(LEVELS, "np.linspace(0, 1, resolution + 1)"), held)
    APDataObject.get_ap = held["get_ap"]
    answers = [
        {"set": one, "asked": said, "levels": ask(*one)}
        for one, said in zip(SETS, plain, strict=True)
    ]
    JSON.write_text(json.dumps({"tidecv": version("tidecv"), "sets": answers}, indent=1) + "\n")
