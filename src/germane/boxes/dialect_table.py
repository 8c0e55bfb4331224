"""Dialects of object detection: conventions of matching, and names of measures, of other tools.

A dialect's stages hold words of ``Conventions``. ``{k}`` in a summary is the depth.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.box_measures import (
    USUAL_POINTS,
    BoxMeasure,
    BoxMeasures,
    list_box_names,
    parse_measure,
)
from germane.boxes.conventions import OKS_AREAS
from germane.boxes.detections import LEVELS
from germane.dialects import resolve_dialect
from germane.dialects.dialect import Dialect, Entry, Limit
from germane.errors import MeasureError
from germane.measures.box_names import BoxName, UnknownNameError

if TYPE_CHECKING:
    from germane.boxes.conventions import Conventions

_UNSTABLE = Limit(
    "tied", "The order of equal scores is not defined (np.argsort, not stable).", order=True
)
_SIZES = ("small", "medium", "large")

_COCO = Dialect(
    "pycocotools",
    tool="COCO (pycocotools)",
    version="2.0.11",
    reading={"unknown": "ignore"},
    matching={"difficult": "count", "id_zero": "unmatched"},
    averaging={"ap_depth": "100"},
    measuring=(
        Entry("AP", "AP"),
        Entry("AP50", "AP50"),
        Entry("AP75", "AP75"),
        *(Entry(f"AP{size[0]}", f"AP(area={size})") for size in _SIZES),
        Entry("AR{k}", "AR@{k}"),
        *(Entry(f"AR{size[0]}", f"AR(area={size})") for size in _SIZES),
    ),
    summary="AP AP50 AP75 APs APm APl AR1 AR10 AR{k} ARs ARm ARl",
    why=(
        "This is COCO's reference. It has two known mistakes: a detection of the annotation with"
        " the id 0 counts as unmatched, and AP has no value (-1) at a depth other than 100."
    ),
    source="cocoeval.py",
    aliases=("coco",),
)

_COCO_MASKS = replace(
    _COCO,
    name="pycocotools-segm",
    tool="COCO (pycocotools, iouType segm)",
    matching={**_COCO.matching, "overlap": "mask", "found_area": "given_box"},
    why=(
        "This is pycocotools for masks, with the same two mistakes as for boxes. Where results have"
        " boxes beside their masks, the area of a detection is that of its box."
    ),
    aliases=("coco-segm",),
)

_COCO_KEYPOINTS = replace(
    _COCO,
    name="pycocotools-keypoints",
    tool="COCO (pycocotools, iouType keypoints)",
    matching={**_COCO.matching, "overlap": "oks", "areas": OKS_AREAS},
    judging={"depth": 20},
    averaging={},
    measuring=(
        Entry("AP", "AP"),
        Entry("AP50", "AP50"),
        Entry("AP75", "AP75"),
        *(Entry(f"AP{size[0]}", f"AP(area={size})") for size in _SIZES[1:]),
        Entry("AR", "AR"),
        Entry("AR50", "AR50"),
        Entry("AR75", "AR75"),
        *(Entry(f"AR{size[0]}", f"AR(area={size})") for size in _SIZES[1:]),
    ),
    summary="AP AP50 AP75 APm APl AR AR50 AR75 ARm ARl",
    why=(
        "This is pycocotools for keypoints, with 20 detections of each image and no small objects."
        " By mistake, a detection of the annotation with the id 0 counts as unmatched."
    ),
    aliases=("coco-keypoints",),
)

_LVIS = Dialect(
    "lvis",
    tool="LVIS (lvis-api)",
    version="0.5.3",
    reading={"unknown": "ignore"},
    matching={
        "crowds": "count",
        "difficult": "count",
        "unverified": "ignore",
        "flagged": "ignore",
        "empty": "drop",
        "id_zero": "unmatched",
    },
    judging={"depth": 300, "depth_of": "image"},
    measuring=(
        *_COCO.measuring[:6],
        *(
            Entry(f"AP{frequency[0]}", f"AP(frequency={frequency})")
            for frequency in BoxName.FREQUENCIES
        ),
        Entry("AR@{k}", "AR@{k}"),
        *(Entry(f"AR{size[0]}@{{k}}", f"AR(area={size})@{{k}}") for size in _SIZES),
    ),
    summary="AP AP50 AP75 APs APm APl APr APc APf AR@{k} ARs@{k} ARm@{k} ARl@{k}",
    why=(
        "Images name the classes that were looked for. Detections of others are left out, and false"
        " ones of classes that are not annotated exhaustively are ignored. There are no crowds. By"
        " mistake, a detection of the annotation with the id 0 counts as unmatched."
    ),
    source="lvis/eval.py, lvis/results.py",
    aliases=("lvis-api",),
)

_TORCHMETRICS = replace(
    _COCO,
    name="torchmetrics",
    tool="torchmetrics MeanAveragePrecision",
    version="1.9.0",
    reading={"unknown": "ignore", "precision": "xyxy"},
    matching={"difficult": "count", "thresholds": "single"},
    measuring=(
        Entry("map", "AP(points=101single)"),
        Entry("map_50", "AP50(points=101single)"),
        Entry("map_75", "AP75(points=101single)"),
        *(Entry(f"map_{size}", f"AP(area={size},points=101single)") for size in _SIZES),
        Entry("mar_{k}", "AR@{k}"),
        *(Entry(f"mar_{size}", f"AR(area={size})") for size in _SIZES),
    ),
    summary=(
        "map map_50 map_75 map_small map_medium map_large mar_1 mar_10 mar_{k} mar_small mar_medium"
        " mar_large"
    ),
    why=(
        "It gives pycocotools boxes, thresholds and levels of recall in single precision, so that"
        " overlaps and recalls that are exactly at a threshold differ. box_format='xywh' is"
        " precision=xywh, average='micro' is classes=merged, and class_metrics is per_class. It has"
        " one known mistake: map has no value (-1) at a depth other than 100."
    ),
    source="detection/mean_ap.py",
    limits=(
        Limit("", "Its numbers are in single precision, with 7 digits."),
        Limit(
            "no_relevant",
            "iou_type='segm' leaves out images without a truth, and the false detections in them;"
            " iou_type=('bbox', 'segm') does not.",
        ),
    ),
    aliases=(),
)

_VOC = Dialect(
    "voc2007",
    tool="PASCAL VOC 2007 (py-faster-rcnn)",
    version="git 781a917",
    reading={"unknown": "ignore"},
    matching={
        "overlap": "iou+1",
        "candidate": "best",
        "equal_overlaps": "first",
        "reach": "above",
        "iou": (0.5,),
        "crowds": "count",
    },
    judging={"depth": None, "ties": "given"},
    averaging={"no_truth": "zero"},
    measuring=(Entry("mAP", "AP(points=11)"),),
    summary="mAP",
    why=(
        "Each detection is tried with its best truth alone, whose overlap must be above .5. Sides"
        " count their last pixel."
    ),
    source="voc_eval(use_07_metric=True)",
    limits=(_UNSTABLE,),
)

_ULTRALYTICS = Dialect(
    "ultralytics",
    tool="Ultralytics",
    version="8.4.190",
    reading={
        "unknown": "ignore",
        "precision": "single",
        "confidence": float(np.nextafter(0.001, 1)),
    },
    matching={
        "equal_overlaps": "first",
        "thresholds": "single",
        "crowds": "drop",
        "difficult": "count",
    },
    judging={"depth": 300, "depth_of": "image"},
    measuring=(
        Entry("P", "P(confidence=best)", also=("precision", "metrics/precision(B)")),
        Entry("R", "R(confidence=best)", also=("recall", "metrics/recall(B)")),
        Entry("F1", "F(confidence=best)"),
        Entry("mAP50", "AP50(points=lines)", also=("metrics/mAP50(B)",)),
        Entry("mAP75", "AP75(points=lines)"),
        Entry("mAP50-95", "AP(points=lines)", also=("metrics/mAP50-95(B)",)),
    ),
    summary="P R mAP50 mAP50-95",
    why=(
        "It keeps scores above 0.001, and the best 300 detections of an image. Its converter of"
        " COCO drops crowds; crowds=count is for labels that have them. Numbers are in single"
        " precision. P, R and F1 are those at the confidence where the mean F1, smoothed, is"
        " best."
    ),
    source="engine/validator.py::match_predictions, utils/metrics.py::ap_per_class",
    limits=(_UNSTABLE,),
)

_DOTA = replace(
    _VOC,
    name="dota",
    tool="DOTA (DOTA_devkit, task 1)",
    version="git 9938855",
    matching={**_VOC.matching, "overlap": "oriented"},
    why=(
        "PASCAL VOC's rule of 2007 on four corners: each detection is tried with its best truth"
        " alone, whose overlap must be above .5, and sides do not count their last pixel. Task 2,"
        " of the boxes around them, is voc2007."
    ),
    source="dota_evaluation_task1.py::voc_eval",
)

_KITTI = Dialect(
    "kitti",
    tool="KITTI's devkit, 2D",
    version="2017",
    reading={"unknown": "ignore"},
    matching={
        "reach": "above",
        "iou": (0.7,),
        "areas": dict(zip(LEVELS, ((40.0, 1e10), (25.0, 1e10), (25.0, 1e10)), strict=True)),
        "area_of": "height",
    },
    judging={"depth": None},
    measuring=tuple(
        Entry(f"{level}_{name}", f"AP(area={level},points={points})")
        for name, points in (("R40", "r40"), ("R11", "11"))
        for level in LEVELS
    ),
    summary="easy_R40 moderate_R40 hard_R40",
    why=(
        "Areas are heights, and truths that are more occluded or truncated than the level allows"
        " are ignored, as are sitting people, vans and whatever lies in DontCare. The overlap is"
        " above .7 of cars, and with iou=.5 of pedestrians and cyclists."
    ),
    source="evaluate_object_3d_offline.cpp in prclibo/kitti_eval at 955c04c",
    limits=(
        Limit(
            "",
            "The devkit reads precision at the scores whose recalls are nearest to 0, 1/40, 2/40 …,"
            " not at these recalls, which moves R40 by up to .02 with 100 truths of a class. With"
            " fewer than 40 it has fewer samples, and the others are 0: R40 of 10 truths that are"
            " all found is 9/40.",
        ),
        Limit(
            "",
            "A detection that is too low, of any class, can take a truth in the devkit, and then"
            " neither of them counts; here it finds a truth of its class.",
        ),
        Limit(
            "",
            "Truths of exactly 40 or 25 pixels count, as in the devkit; some of its copies in other"
            " projects ignore them.",
        ),
    ),
)

_FITTED = Limit(
    "",
    "Where two rectangles around four corners are equally small, OpenCV takes either, and its"
    " values can differ from these in the third digit.",
)
_BEST_ALONE = {**_ULTRALYTICS.matching, "candidate": "best", "equal_overlaps": "last"}
_UNSTABLE_OVERLAPS = Limit(
    "tied",
    "With more than 16 pairs in an image, any of several equal overlaps may be taken as the best"
    " (np.argsort, not stable).",
)

DIALECTS = (
    _COCO,
    _COCO_MASKS,
    _COCO_KEYPOINTS,
    _LVIS,
    replace(
        _LVIS,
        name="lvis-segm",
        tool="LVIS (lvis-api, iou_type segm)",
        matching={**_LVIS.matching, "overlap": "mask", "found_area": "given_box"},
        why=(
            f"{_LVIS.why} Where results have boxes beside their masks, the area of a detection is"
            " that of its box."
        ),
        aliases=("lvis-api-segm",),
    ),
    replace(
        _COCO,
        name="faster-coco-eval",
        tool="faster-coco-eval",
        version="1.8.0",
        averaging={},
        measuring=(
            Entry("AP_all", "AP"),
            Entry("AP_50", "AP50"),
            Entry("AP_75", "AP75"),
            *(Entry(f"AP_{size}", f"AP(area={size})") for size in _SIZES),
            Entry("AR_all", "AR@1"),
            Entry("AR_second", "AR@10"),
            Entry("AR_third", "AR"),
            *(Entry(f"AR_{size}", f"AR(area={size})") for size in _SIZES),
            Entry("AR_50", "AR50"),
            Entry("AR_75", "AR75"),
        ),
        summary=(
            "AP_all AP_50 AP_75 AP_small AP_medium AP_large AR_all AR_second AR_third AR_small"
            " AR_medium AR_large AR_50 AR_75"
        ),
        why="This is pycocotools without its mistake about depths, and with two more numbers.",
        source="core/cocoeval.py",
        aliases=("faster_coco_eval",),
    ),
    replace(
        _COCO,
        name="detectron2",
        tool="Detectron2 COCOEvaluator",
        version="git 02b5c4e",
        averaging={},
        measuring=_COCO.measuring[:6],
        summary="AP AP50 AP75 APs APm APl",
        why=(
            "It prints pycocotools' numbers in percent. Its evaluator of PASCAL VOC is voc2007 and"
            " voc2010, on detections whose scores are rounded to 3 decimals and whose sides to 1."
        ),
        source="evaluation/coco_evaluation.py",
        limits=(Limit("missing", "Images that the detector was not given are left out."),),
        aliases=(),
    ),
    _TORCHMETRICS,
    replace(
        _TORCHMETRICS,
        name="supervision",
        tool="supervision MeanAveragePrecision",
        version="0.31.2",
        matching={"flagged": "ignore"},
        averaging={},
        measuring=(
            Entry("map50_95", "AP"),
            Entry("map50", "AP50"),
            Entry("map75", "AP75"),
            *(
                Entry(f"{size}_objects.{name}", f"{measure}(area={size})")
                for size in _SIZES
                for name, measure in (("map50_95", "AP"), ("map50", "AP50"), ("map75", "AP75"))
            ),
        ),
        summary="map50_95 map50 map75",
        why=(
            "It applies COCO's rules to corners in single precision. Truths marked ignore are"
            " neither found nor missed."
        ),
        source="metrics/mean_average_precision.py",
    ),
    _VOC,
    replace(
        _VOC,
        name="voc2010",
        tool="PASCAL VOC 2010 (py-faster-rcnn)",
        averaging={},
        measuring=(Entry("mAP", "AP(points=all)"),),
        source="voc_eval(use_07_metric=False)",
        limits=(
            _UNSTABLE,
            Limit("no_relevant", "A class without truths is 0/0, and so is the mean."),
        ),
        aliases=("voc2012",),
    ),
    replace(
        _VOC,
        name="padilla",
        tool="Object-Detection-Metrics (Padilla)",
        version="git dcb285e",
        matching={**_VOC.matching, "reach": "at_least", "difficult": "count"},
        averaging={},
        measuring=(
            Entry("mAP", "AP(points=all)", also=("EveryPointInterpolation",)),
            Entry("ElevenPointInterpolation", "AP(points=11)"),
        ),
        summary="mAP",
        why="It follows VOC's rule, but the overlap may be exactly .5, and difficult truths count.",
        source="lib/Evaluator.py::GetPascalVOCMetrics",
        limits=(
            Limit("", "Boxes less than a pixel apart do not overlap, as they do in VOC."),
            Limit(
                "",
                "Relative boxes (center, width and height as shares of the image) are rounded:"
                " the left upper corner and both sides to whole pixels, and then cut at the last"
                " pixel of the image. review_object_detection_metrics rounds all four edges, and"
                " cuts nothing. To compare, round the boxes in the same way first.",
            ),
        ),
        same=("review_object_detection_metrics git 2efe66d",),
    ),
    replace(
        _VOC,
        name="mmdet",
        tool="MMDetection VOCMetric",
        version="3.3.0",
        reading={"unknown": "ignore", "precision": "single"},
        matching={
            **_VOC.matching,
            "reach": "at_least",
            "thresholds": "single",
            "crowds": "difficult",
        },
        judging={"depth": None},
        averaging={},
        measuring=(
            Entry("mAP", "AP(points=11)", also=("AP50",)),
            Entry("area", "AP(points=all)"),
        ),
        why=(
            "It follows VOC's rule in single precision, but the overlap may be exactly .5."
            " eval_mode='area' is the measure area. COCO's crowds count as difficult."
        ),
        source="evaluation/functional/mean_ap.py::eval_map",
        limits=(
            _UNSTABLE,
            Limit("", "Recalls are in single precision, so that 3/10 reaches the level .3."),
        ),
    ),
    _KITTI,
    _DOTA,
    replace(
        _DOTA,
        name="dota-voc2012",
        tool="DOTA (DOTA_devkit, task 1, use_07_metric=False)",
        averaging={},
        measuring=(Entry("mAP", "AP(points=all)"),),
        source="dota_evaluation_task1.py::voc_eval(use_07_metric=False)",
        limits=(
            _UNSTABLE,
            Limit("no_relevant", "A class without truths is 0/0, and so is the mean."),
        ),
    ),
    replace(
        _DOTA,
        name="mmrotate",
        tool="MMRotate DOTAMetric",
        version="git d50ab76",
        reading={"unknown": "ignore", "precision": "single"},
        matching={
            **_DOTA.matching,
            "overlap": "rectangle",
            "reach": "at_least",
            "crowds": "difficult",
            "difficult": "count",
        },
        averaging={},
        measuring=(
            Entry("mAP", "AP(points=11)", also=("AP50",)),
            Entry("area", "AP(points=all)"),
        ),
        why=(
            "VOC's rule on the smallest rectangles around the corners, in single precision. The"
            " overlap may be exactly .5, and difficult truths count unless the data set's diff_thr"
            " is lower than their difficulty. eval_mode='area' is the measure area."
        ),
        source="evaluation/functional/mean_ap.py::eval_rbbox_map",
        limits=(_UNSTABLE, _FITTED),
    ),
    replace(
        _COCO,
        name="mmrotate-coco",
        tool="MMRotate RotatedCocoMetric",
        version="git d50ab76",
        matching={**_COCO.matching, "overlap": "rectangle", "area_of": "box"},
        judging={"depth": 1000},
        averaging={},
        measuring=(
            Entry("mAP", "AP(depth=100)"),
            Entry("mAP_50", "AP50"),
            Entry("mAP_75", "AP75"),
            *(Entry(f"mAP_{size[0]}", f"AP(area={size})") for size in _SIZES),
            *(Entry(f"AR@{depth}", f"AR@{depth}") for depth in (100, 300, 1000)),
            *(Entry(f"AR_{size[0]}@1000", f"AR(area={size})") for size in _SIZES),
        ),
        summary="mAP mAP_50 mAP_75 mAP_s mAP_m mAP_l AR@100 AR@300 AR@1000",
        why=(
            "pycocotools on the smallest rectangles around the corners, whose areas count. mAP is"
            " of 100 detections of each class in an image, and every other AP of 1000. A truth that"
            " is ignored is a crowd, whose overlap is divided by the union."
        ),
        source="evaluation/metrics/rotated_coco_metric.py",
        limits=(*_COCO.limits, _FITTED),
        aliases=(),
    ),
    _ULTRALYTICS,
    replace(
        _ULTRALYTICS,
        name="ultralytics-obb",
        tool="Ultralytics OBB",
        matching={**_ULTRALYTICS.matching, "overlap": "probiou"},
        why=(
            f"{_ULTRALYTICS.why} Oriented boxes are compared as normal distributions (probiou), and"
            " a label of four corners is the smallest rectangle around them. Its labels have no"
            " difficult flag."
        ),
        source="models/yolo/obb/val.py, utils/metrics.py::batch_probiou",
        limits=(*_ULTRALYTICS.limits, _FITTED),
        aliases=("yolo-obb",),
    ),
    replace(
        _ULTRALYTICS,
        name="ultralytics-8.4.160",
        version="8.4.160",
        matching=_BEST_ALONE,
        limits=(_UNSTABLE, _UNSTABLE_OVERLAPS),
        why=(
            f"{_ULTRALYTICS.why} From 8.4.60 (at the latest) to 8.4.160, each detection is tried"
            " with its best truth alone."
        ),
    ),
    replace(
        _ULTRALYTICS,
        name="ultralytics-8.4.0",
        version="8.4.0",
        matching=_BEST_ALONE,
        limits=(_UNSTABLE, _UNSTABLE_OVERLAPS),
        measuring=tuple(
            replace(entry, measure=entry.measure.replace("lines", "slope"))
            for entry in _ULTRALYTICS.measuring
        ),
        why=(
            f"{_ULTRALYTICS.why} Up to 8.4.0, each detection is tried with its best truth alone,"
            " and the curve goes on from the last recall to recall 1, which makes AP higher."
        ),
        aliases=("ultralytics-8", "yolov8"),
    ),
)


def dialects() -> dict[str, Dialect]:
    """Return every dialect of object detection by its name.

    >>> germane.boxes.dialects()["voc2007"].matching["candidate"]
    'best'
    """
    return {dialect.name: dialect for dialect in DIALECTS}


def resolve_box_dialect(name: object) -> Dialect:
    """Return a dialect of object detection. Raises PolicyError with the nearest name."""
    return resolve_dialect(name, DIALECTS)


def find_points(dialect: Dialect | None) -> str:
    """Find the points of the curve of a tool's AP, which germane's names stand for in its dialect.

    >>> from germane.boxes.dialect_table import find_points, resolve_box_dialect
    >>> find_points(resolve_box_dialect("voc2007")), find_points(None)
    ('11', '101')
    """
    entries = () if dialect is None else dialect.measuring
    measures = (parse_measure(entry.write_measure(1)) for entry in entries)
    of_curve = next((measure for measure in measures if measure.name == "AP"), None)
    return of_curve.points or USUAL_POINTS if of_curve else USUAL_POINTS


def resolve_measures(
    measures: "BoxMeasures | None", dialect: Dialect, choices: "Conventions"
) -> dict[str, BoxMeasure]:
    """Resolve names of a dialect's measures: the tool's or, in its own spelling, germane's.

    The curve of germane's AP has the tool's points, unless its name has others (``find_points``).
    Without measures, those of the tool's summary. Raises MeasureError with the nearest of the
    tool's names.
    """
    if measures is None:
        depth = "100" if choices.depth is None else str(choices.depth)
        measures = dialect.summary.replace("{k}", depth)
    return dict(_resolve(name, dialect, choices) for name in list_box_names(measures))


def parse_any(name: str | BoxMeasure) -> BoxMeasure:
    """Read a measure; a name that only tools have is that of the first tool, with any curve.

    >>> from germane.boxes.dialect_table import parse_any
    >>> parse_any("AR_second")
    AR@10
    """
    try:
        return parse_measure(name)
    except MeasureError:
        entries = (dialect.find(name) for dialect in DIALECTS) if isinstance(name, str) else ()
        entry = next(filter(None, entries), None)
        if entry is None:
            raise
        return replace(parse_measure(entry.read(str(name)) or ""), points=None)


def _resolve(
    name: str | BoxMeasure, dialect: Dialect, choices: "Conventions"
) -> tuple[str, BoxMeasure]:
    if isinstance(name, BoxMeasure) or dialect.find(name) is None:
        try:
            measure = parse_measure(name).shorten(choices)
            return str(measure), measure
        except UnknownNameError:
            raise dialect.make_unknown_error(str(name)) from None
    return name, parse_measure(dialect.measure(name))
