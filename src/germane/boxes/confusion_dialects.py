"""The conventions of other tools' confusion matrices."""

import math
from dataclasses import replace

from germane.dialects.dialect import Dialect
from germane.errors import PolicyError, clip, offer

_PLAIN = {"difficult": "count", "unknown": "ignore"}
_ULTRALYTICS = Dialect(
    "ultralytics",
    tool="Ultralytics ConfusionMatrix",
    version="8.4.190",
    reading={"unknown": "ignore"},
    matching={
        "pairing": "score", "iou": 0.45, "reach": "above", "equal_overlaps": "first",
        "crowds": "count", "difficult": "count",
    },
    judging={"confidence": 0.25, "cut": "above", "depth": None},
    why="Its plot has detections in rows; here, as everywhere, rows are truths.",
    source="utils/metrics.py, ConfusionMatrix.process_batch",
    aliases=("yolo", "yolov8"),
)  # fmt: skip
DIALECTS = (
    _ULTRALYTICS,
    replace(
        _ULTRALYTICS,
        name="ultralytics-8.3",
        version="8.3.0",
        matching={**_ULTRALYTICS.matching, "pairing": "mutual"},
        why=(
            "Before it went by scores, a detection kept the truth that it overlapped most, even if"
            " another detection got that truth. In an image where nothing was found, it counted no"
            " detections on background; here they are counted."
        ),
        aliases=("yolov5",),
    ),
    replace(
        _ULTRALYTICS,
        name="ultralytics-obb",
        tool="Ultralytics OBB ConfusionMatrix",
        matching={**_ULTRALYTICS.matching, "overlap": "probiou", "precision": "single"},
        why=(
            f"{_ULTRALYTICS.why} Oriented boxes are compared as normal distributions (probiou),"
            " whose least similarity is .45, too."
        ),
        source="utils/metrics.py, ConfusionMatrix.process_batch with batch_probiou",
        aliases=("yolo-obb",),
    ),
    Dialect(
        "supervision",
        tool="supervision ConfusionMatrix",
        version="0.31.2",
        reading={"unknown": "ignore"},
        matching={"pairing": "class", "iou": 0.5, "reach": "above", "crowds": "count",
                  "difficult": "count"},
        judging={"confidence": 0.3, "depth": None},
        source="metrics/detection.py, _confusion_matrix_from_iou",
    ),
    Dialect(
        "faster-coco-eval",
        tool="faster-coco-eval PreviewResults",
        version="1.8.0",
        reading=_PLAIN,
        matching={"pairing": "score", "iou": 0.5, "crowds": "ignore"},
        judging={"confidence": -math.inf, "depth": None},
        why=(
            "Run with useCats=False, as its warning asks. It has two columns for background, and"
            " counts a crowd as a truth of one detection that lies on it; here crowds are"
            " ignored."
        ),
        source="extra/display.py, compute_confusion_matrix",
    ),
    Dialect(
        "hotcoco",
        tool="hotcoco COCOeval.confusion_matrix",
        version="1.3.0",
        reading=_PLAIN,
        matching={"pairing": "score", "iou": 0.5, "crowds": "drop"},
        judging={"confidence": -math.inf, "depth": 100, "depth_of": "image"},
        source="eval/confusion.rs",
    ),
    Dialect(
        "fiftyone",
        tool="FiftyOne evaluate_detections, classwise=False",
        version="01532d3b",
        reading=_PLAIN,
        matching={"pairing": "score", "iou": 0.5, "crowds": "drop"},
        judging={"confidence": -math.inf, "depth": None},
        why=(
            "Recorded from its source. It counts every detection on a crowd of its class as"
            " right; here crowds are dropped."
        ),
        source="utils/eval/coco.py, _compute_matches",
    ),
    Dialect(
        "mmdetection",
        tool="mmdetection tools/analysis_tools/confusion_matrix.py",
        version="12865214",
        reading={"unknown": "ignore"},
        matching={"pairing": "all", "iou": 0.5, "crowds": "count", "difficult": "count"},
        judging={"confidence": 0.3, "depth": None},
        why=(
            "Recorded from its source. A truth is missed unless a detection of its own class"
            " lies on it, so one truth may be in several cells."
        ),
        source="tools/analysis_tools/confusion_matrix.py, analyze_per_img_dets",
        aliases=("mmdet",),
    ),
)  # fmt: skip
"""The conventions of other tools' confusion matrices."""

OWN = ("pairing", "iou", "confidence", "cut")
"""The choices of a dialect that are no conventions of matching."""


def resolve_confusion_dialect(dialect: object) -> Dialect:
    """Return the conventions of a tool's confusion matrix by its name."""
    if isinstance(dialect, Dialect):
        return dialect
    by_name = {name: tool for tool in DIALECTS for name in (tool.name, *tool.aliases)}
    if not isinstance(dialect, str) or dialect.casefold() not in by_name:
        names = [tool.name for tool in DIALECTS]
        raise PolicyError(
            f"there is no dialect {clip(dialect)} of confusion matrices.{offer(dialect, names)}"
        )
    return by_name[dialect.casefold()]
