"""COCO's summary of 12 numbers, from the arrays of precision and recall."""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.conventions import COCO_THRESHOLDS
from germane.boxes.geometry import Overlap
from germane.core.ragged import Floats
from germane.errors import MeasureError

if TYPE_CHECKING:
    from germane.boxes.result import Result

COCO_SUMMARY = (
    "AP AP50 AP75 AP(area=small) AP(area=medium) AP(area=large) "
    "AR@1 AR@10 AR@100 AR(area=small) AR(area=medium) AR(area=large)"
)
"""The measures of COCO's summary of boxes and masks, in its order."""

OKS_SUMMARY = (
    "AP AP50 AP75 AP(area=medium) AP(area=large) AR AR50 AR75 AR(area=medium) AR(area=large)"
)
"""The measures of COCO's summary of keypoints, in its order."""


def list_summary(overlap: Overlap) -> str:
    """List the measures of COCO's summary for an overlap."""
    return OKS_SUMMARY if overlap == "oks" else COCO_SUMMARY


_HALF, _MORE = COCO_THRESHOLDS.index(0.5), COCO_THRESHOLDS.index(0.75)
_AREAS = ("all", "small", "medium", "large")


def summarize(result: "Result") -> Floats:
    """Compute the numbers as pycocotools does: one mean over all cells of an array that are not -1.

    There are 12 of boxes and masks, and 10 of keypoints.
    """
    if result.conventions.overlap == "oks":
        return _summarize_keypoints(result)
    missing = [one for one in _AREAS if one not in result.conventions.areas]
    if missing or len(result.depths) != 3 or result.thresholds != COCO_THRESHOLDS:
        raise MeasureError(
            "stats are of COCO's measures, which have its thresholds, its four areas and three"
            f" depths; this evaluation has {len(result.thresholds)} thresholds,"
            f" {len(result.conventions.areas)} areas and {len(result.depths)} depths. Leave out"
            " measures=, or name its measures."
        )
    areas = [list(result.conventions.areas).index(one) for one in _AREAS]
    precision, recall = result.precision, result.recall
    cells = [
        precision[..., areas[0], 2],
        precision[[_HALF], ..., areas[0], 2],
        precision[[_MORE], ..., areas[0], 2],
        *(precision[..., area, 2] for area in areas[1:]),
        *(recall[..., areas[0], depth] for depth in range(3)),
        *(recall[..., area, 2] for area in areas[1:]),
    ]
    stats = np.array([_average(one) for one in cells])
    if result.conventions.ap_depth == "100" and result.depths[-1] != 100:
        stats[0] = -1
    return stats


def _summarize_keypoints(result: "Result") -> Floats:
    names = list(result.conventions.areas)
    if not {"all", "medium", "large"} <= {*names} or len(result.depths) != 1:
        raise MeasureError(
            "stats of keypoints are of COCO's measures, which have the areas all, medium and large,"
            " and one depth. Leave out measures=, or name its measures."
        )
    if result.thresholds != COCO_THRESHOLDS:
        raise MeasureError("stats are of COCO's thresholds. Leave out iou=.")
    rest = [names.index("medium"), names.index("large")]
    cells = [
        array
        for values in (result.precision[..., 0], result.recall[..., 0])
        for array in (
            values[..., names.index("all")],
            values[[_HALF], ..., names.index("all")],
            values[[_MORE], ..., names.index("all")],
            *(values[..., area] for area in rest),
        )
    ]
    return np.array([_average(one) for one in cells])


def _average(cells: Floats) -> float:
    kept = cells[cells > -1]
    return float(np.mean(kept)) if len(kept) else -1.0
