"""COCO's summary of 12 numbers, from the arrays of precision and recall."""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.conventions import COCO_AREAS
from germane.boxes.geometry import Overlap
from germane.boxes.measures import parse_measures
from germane.core.ragged import Floats
from germane.errors import MeasureError, write_option
from germane.measures.box_names import COCO_THRESHOLDS

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


def summarize(result: "Result") -> Floats:
    """Compute the numbers as pycocotools does: one mean over all cells of an array that are not -1.

    There are 12 of boxes and masks, and 10 of keypoints.
    """
    _refuse_other_measures(result)
    areas, stats = list(result.conventions.areas), []
    for measure in parse_measures(list_summary(result.conventions.overlap)):
        cells = result.precision if measure.name == "AP" else result.recall
        if measure.iou is not None:
            cells = cells[[COCO_THRESHOLDS.index(measure.iou[0])]]
        depth = {1: 0, 10: 1}.get(measure.k or 0, -1)  # the lowest, the next, and the highest
        cells = cells[..., areas.index(measure.area or "all"), depth]
        valid = cells[cells > -1]
        stats.append(float(np.mean(valid)) if len(valid) else -1.0)
    of_boxes = result.conventions.overlap != "oks"
    if of_boxes and result.conventions.ap_depth == "100" and result.depths[-1] != 100:
        stats[0] = -1
    return np.array(stats)


def _refuse_other_measures(result: "Result") -> None:
    areas, depths = result.conventions.areas, len(result.depths)
    if result.conventions.overlap == "oks":
        if not {"all", "medium", "large"} <= {*areas} or depths != 1:
            raise MeasureError(
                "stats of keypoints are of COCO's measures, which have the areas all, medium and"
                " large, and one depth. Leave out measures=, or name its measures."
            )
        if result.thresholds != COCO_THRESHOLDS:
            raise MeasureError(f"stats are of COCO's thresholds. Leave out {write_option('iou')}.")
    elif (
        not COCO_AREAS.keys() <= areas.keys() or depths != 3 or result.thresholds != COCO_THRESHOLDS
    ):
        raise MeasureError(
            "stats are of COCO's measures, which have its thresholds, its four areas and three"
            f" depths; this evaluation has {len(result.thresholds)} thresholds, {len(areas)} areas"
            f" and {depths} depths. Leave out measures=, or name its measures."
        )
