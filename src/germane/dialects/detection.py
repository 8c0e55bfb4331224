"""Object detection: PASCAL VOC, COCO, Ultralytics."""

from dataclasses import replace

from germane.dialects.dialect import LISTS, Dialect, Entry, Limit

_VOC_2007 = Dialect(
    "voc2007",
    tool="PASCAL VOC 2007 (py-faster-rcnn)",
    version="git 781a917",
    judging=LISTS,
    measuring=(Entry("ap", "IAP(rounding=double)"),),
    why=(
        "The best precision at 11 recalls, compared in double precision: the level 3 · 0.1 is a "
        "little above 3/10, so that a recall of exactly 0.3 does not reach it."
    ),
    source="voc_ap(use_07_metric=True)",
    limits=(Limit("no_relevant", "0/0."),),
    same=("detectron2 git 02b5c4e", "mmdet 3.3.0", "Object-Detection-Metrics git dcb285e"),
)

DIALECTS = (
    _VOC_2007,
    replace(
        _VOC_2007,
        name="voc2010",
        tool="PASCAL VOC 2010 (py-faster-rcnn)",
        averaging={"no_relevant": "nan"},
        measuring=(Entry("ap", "AUPR(rule=interpolated)"),),
        why="The area under the best precision from each recall on. Without ground truth 0/0.",
        source="voc_ap(use_07_metric=False)",
    ),
    Dialect(
        "coco",
        tool="COCO (pycocotools)",
        version="2.0.11",
        judging={**LISTS, "depth": 100},
        measuring=(Entry("AP", "IAP(points=101,rounding=double)"),),
        why=(
            "The best precision at 101 recalls, of at most 100 detections an image. Classes without"
            " ground truth have -1 and do not count."
        ),
        source="cocoeval.py::accumulate",
        limits=(Limit("no_relevant", "-1, which summaries leave out."),),
        aliases=("pycocotools",),
    ),
    Dialect(
        "ultralytics",
        tool="Ultralytics",
        version="8.4.190",
        judging=LISTS,
        averaging={"no_relevant": "nan"},
        measuring=(Entry("ap", "AUPR(rule=linear101)"),),
        why=(
            "Reads the best precision from straight lines at 101 recalls, and joins these by"
            " trapezoids: a perfect detector has 0.995."
        ),
        source="utils/metrics.py::compute_ap",
        limits=(
            Limit("empty", "Without detections 0.5."),
            Limit("missed", "Half of an interval: 0.005."),
            Limit("no_relevant", "0/0."),
        ),
    ),
)
