"""COCO's summary of 12 numbers, from the arrays of precision and recall."""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.conventions import COCO_THRESHOLDS
from germane.core.ragged import Floats
from germane.errors import MeasureError

if TYPE_CHECKING:
    from germane.boxes.result import Result

COCO_SUMMARY = (
    "AP AP50 AP75 AP(area=small) AP(area=medium) AP(area=large) "
    "AR@1 AR@10 AR@100 AR(area=small) AR(area=medium) AR(area=large)"
)
"""The measures of COCO's summary, in its order."""

_AREAS = ("all", "small", "medium", "large")


def summarize(result: "Result") -> Floats:
    """Compute the 12 numbers as pycocotools does: one mean over all cells of an array that are not -1."""
    missing = [one for one in _AREAS if one not in result.conventions.areas]
    if missing or len(result.depths) != 3 or result.thresholds != COCO_THRESHOLDS:
        raise MeasureError(
            "stats are of COCO's measures, which have its thresholds, its four areas and three depths; "
            f"this evaluation has {len(result.thresholds)} thresholds, {len(result.conventions.areas)} areas "
            f"and {len(result.depths)} depths. Leave out measures=, or name its measures."
        )
    areas = [list(result.conventions.areas).index(one) for one in _AREAS]
    half, three_quarters = COCO_THRESHOLDS.index(0.5), COCO_THRESHOLDS.index(0.75)
    precision, recall = result.precision, result.recall
    cells = [
        precision[..., areas[0], 2],
        precision[[half], ..., areas[0], 2],
        precision[[three_quarters], ..., areas[0], 2],
        *(precision[..., area, 2] for area in areas[1:]),
        *(recall[..., areas[0], depth] for depth in range(3)),
        *(recall[..., area, 2] for area in areas[1:]),
    ]
    stats = np.array([_average(one) for one in cells])
    if result.conventions.ap_depth == "100" and result.depths[-1] != 100:
        stats[0] = -1
    return stats


def _average(cells: Floats) -> float:
    kept = cells[cells > -1]
    return float(np.mean(kept)) if len(kept) else -1.0
