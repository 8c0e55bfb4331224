"""Options of other tools, and how germane's verbs for boxes take them."""

import re
from collections.abc import Callable, Collection

TABLE = {
    "iou_thresholds iou_thrs iou_thr iou_threshold iou_thres iou_levels match_threshold"
    " overlap_threshold min_overlap ovthresh": (
        "Thresholds of overlap are {iou=.5} or {iou=.5:.95:.05}; a measure names its own, as AP50"
        " does."
    ),
    "threshold": (
        "Thresholds of overlap are {iou=.5}; {confidence=.25} drops detections with lower scores."
    ),
    "max_dets max_det max_detections max_detection_thresholds top_k max_boxes": (
        "{depth=100} keeps so many of the highest scores; a measure names its own depth, as AR@10"
        " does."
    ),
    "iou_type iou_types ann_type annotation_type eval_type": (
        "{overlap=iou} compares boxes, {overlap=mask} masks, and {overlap=oks} keypoints."
    ),
    "area area_rng area_range area_ranges area_rng_lbl": (
        "A measure names its range of areas, as AP(area=small) does."
    ),
    "conf conf_thres conf_thresh conf_threshold score_thr score_thres score_thresh score_threshold"
    " min_score min_conf min_confidence confidence_threshold": (
        "evaluate takes {confidence=.25}, which drops detections with lower scores; a measure names"
        " its own, as P(confidence=.25) does."
    ),
    "use_cats class_agnostic agnostic average single_cls": (
        "{classes=merged} makes one class of all."
    ),
    "class_metrics per_class class_wise classwise by_class": (
        "Results have each class: result.by('class'), or --by class."
    ),
    "rec_thrs rec_thresholds use_07_metric eval_mode interpolation": (
        "A measure names the points of its curve, as AP(points=11) does; {dialect=voc2007} is"
        " PASCAL VOC's AP."
    ),
    "format bbox_format box_type bbox_type": (
        "{box_format=xywh}, {box_format=xyxy} or {box_format=cxcywh} says how boxes are read."
    ),
    "ignore_difficult use_difficult": "{difficult=ignore} and {difficult=count} are the two ways.",
    "cat_ids img_ids image_ids category_ids": (
        "The truth decides which images and classes count: leave out the others there."
    ),
}
"""Names in other tools, and the answer, in which braces hold germane's options."""

_BY_NAME = {name.replace("_", ""): text for names, text in TABLE.items() for name in names.split()}
_OPTION = re.compile(r"\{(\w+)=([^}]*)\}")


def translate_option(
    name: str, options: Collection[str], write: Callable[[str], str] = "{}=".format
) -> str:
    """Say how an option of another tool is given here; "" where nothing known does it.

    >>> from germane.boxes.foreign_options import translate_option
    >>> translate_option("maxDets", ["depth"])
    'depth=100 keeps so many of the highest scores; a measure names its own depth, as AR@10 does.'
    """
    text = _BY_NAME.get(re.sub("[^a-z0-9]", "", name.casefold()), "")
    if not all(option in options or option == "confidence" for option, _ in _OPTION.findall(text)):
        return ""
    return _OPTION.sub(lambda match: write(match[1]) + match[2], text)
