"""Images: found by their neighbors, and the objects that are detected in them."""

from dataclasses import replace

from germane.dialects.dialect import LISTS, Dialect, Entry, Limit, name_both

IMAGE_RETRIEVAL = (
    Dialect(
        "pytorch-metric-learning",
        tool="PyTorch Metric Learning",
        version="2.9.0",
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip"},
        measuring=(
            *name_both("mean_average_precision", "AP(norm=R)", "(k={k})"),
            Entry("mean_average_precision_at_r", "APR"),
            Entry("r_precision", "Rprec"),
            Entry("precision_at_1", "P@1"),
            *name_both("mean_reciprocal_rank", "RR", "(k={k})"),
            Entry("mean_average_precision(k=max_bin_count)", "APR"),
        ),
        why=(
            "mean_average_precision divides by all references of the label; ..._at_r looks at the"
            " first R ranks. Queries whose label does not occur among the references are left out."
        ),
        source="utils/accuracy_calculator.py",
        limits=(
            Limit(
                "no_relevant",
                "If no query has a reference with its label, the result is NaN or an IndexError.",
            ),
            Limit(
                "shallow",
                "If k is below R, MAP@R and R-precision have fewer neighbors than they need.",
            ),
            Limit("short", "There may be fewer references than k."),
        ),
        aliases=("pml",),
    ),
    Dialect(
        "open-metric-learning",
        tool="Open Metric Learning",
        version="4.0.0",
        reading={"duplicates": "recount"},
        judging=LISTS,
        measuring=(
            Entry("calc_map(top_k={k})", "AP(norm=found)@{k}"),
            Entry("calc_precision(top_k={k})", "R(norm=possible)@{k}", {"no_relevant": "nan"}),
            Entry("calc_cmc(top_k={k})", "Success@{k}"),
        ),
        why=(
            "calc_map divides by the relevant items found; calc_precision by R, k or the length of"
            " the list, whichever is least."
        ),
        source="functional/metrics.py",
        aliases=("oml",),
    ),
    Dialect(
        "torchreid",
        tool="torchreid (deep-person-reid)",
        version="git f8cd150",
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip"},
        measuring=(Entry("mAP", "AP(norm=R)"), Entry("Rank-{k}", "Success@{k}")),
        why=(
            "It computes AP over the whole gallery. Images of the query's person from the"
            " query's camera are junk; cameras= removes them from labels, and ignore= from other"
            " judgments. Queries without a match are left out."
        ),
        source="metrics/rank.py::eval_market1501",
        limits=(
            Limit("tied", "The sort leaves the order of equal distances open.", order=True),
            Limit("no_relevant", "If no query has a match, it raises an AssertionError."),
        ),
    ),
    Dialect(
        "revisitop",
        tool="revisited Oxford and Paris",
        version="git be39832",
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip", "no_hit": "error"},
        measuring=(
            Entry("compute_map", "AUPR(rule=trapezoid)"),
            Entry("compute_ap", "AUPR(rule=trapezoid)"),
            Entry("mP@{k}", "P@{k}", {"no_hit": "zero"}),
        ),
        why=(
            "AP is the area under straight lines between the precisions before and at each"
            " relevant image, beginning with precision 1. Junk images are passed as ignore=: for"
            " Easy, the junk and hard ones; for Medium, the junk ones; for Hard, the junk and easy"
            " ones. A query for which nothing was found is an error."
        ),
        source="python/evaluate.py::compute_ap",
        limits=(
            Limit(
                "tied",
                "Equal scores keep the order in which the ranks are passed to it.",
                order=True,
            ),
            Limit(
                "no_relevant", "If no query has a match, the result is NaN or a ZeroDivisionError."
            ),
            Limit(
                "early",
                "A k beyond the rank of the last relevant image is reduced to that rank.",
                only=("mP@{k}",),
            ),
        ),
        aliases=("roxford", "rparis"),
    ),
    Dialect(
        "inquire",
        tool="INQUIRE",
        version="git 7e04857",
        judging=LISTS,
        averaging={"no_relevant": "nan"},
        measuring=(Entry("ap_at_k@{k}", "AP@{k}"),),
        why="It takes scikit-learn's AP of the first k results and rescales it to min(R,k).",
        source="src/metrics.py::ap_at_k",
        limits=(
            Limit("tied", "Equal scores among the first k are one step of the curve."),
            Limit("no_relevant", "Without relevant items, the value is 0/0."),
        ),
    ),
)


# --- Object detection: PASCAL VOC, COCO, Ultralytics ----------------------------------------------

_VOC_2007 = Dialect(
    "voc2007",
    tool="PASCAL VOC 2007 (py-faster-rcnn)",
    version="git 781a917",
    judging=LISTS,
    measuring=(Entry("ap", "IAP(rounding=double)"),),
    why=(
        "It averages the best precision at 11 recalls, which are compared in double precision: the"
        " level 3 · 0.1 is a little above 3/10, so that a recall of exactly 0.3 does not reach it."
    ),
    source="voc_ap(use_07_metric=True)",
    limits=(Limit("no_relevant", "Without relevant items, the value is 0/0."),),
    same=("detectron2 git 02b5c4e", "mmdet 3.3.0", "Object-Detection-Metrics git dcb285e"),
)

DETECTION = (
    _VOC_2007,
    replace(
        _VOC_2007,
        name="voc2010",
        tool="PASCAL VOC 2010 (py-faster-rcnn)",
        averaging={"no_relevant": "nan"},
        measuring=(Entry("ap", "AUPR(rule=interpolated)"),),
        why=(
            "It computes the area under the best precision from each recall on. Without ground"
            " truth, the value is 0/0."
        ),
        source="voc_ap(use_07_metric=False)",
    ),
    Dialect(
        "coco",
        tool="COCO (pycocotools)",
        version="2.0.11",
        judging={**LISTS, "depth": 100},
        measuring=(Entry("AP", "IAP(points=101,rounding=double)"),),
        why=(
            "It averages the best precision at 101 recalls, from at most 100 detections per image."
            " Classes without ground truth get -1 and do not count."
        ),
        source="cocoeval.py::accumulate",
        limits=(
            Limit(
                "no_relevant", "Without ground truth, the value is -1, which summaries leave out."
            ),
        ),
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
            "It interpolates the best precision linearly at 101 recalls, and joins these points by"
            " trapezoids, so that a perfect detector gets 0.995."
        ),
        source="utils/metrics.py::compute_ap",
        limits=(
            Limit("empty", "Without detections, the value is 0.5."),
            Limit("missed", "If nothing is found, the value is half of an interval, 0.005."),
            Limit("no_relevant", "Without relevant items, the value is 0/0."),
        ),
    ),
)
