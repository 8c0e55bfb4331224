"""ml_metrics, the code of many a Kaggle competition."""

from germane.dialects.dialect import Dialect, Foreign

_MEASURES = (
    Foreign("mapk@{k}", "AP@{k}"),
    Foreign("apk@{k}", "AP@{k}"),
    Foreign("kdd_mapk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
    Foreign("kdd_apk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
)
_WHY = (
    "A prediction that repeats an earlier one takes its rank and is no hit; a relevant item that is "
    "listed twice counts twice in R."
)

ML_METRICS = Dialect(
    "ml_metrics",
    tool="ml_metrics",
    version="0.1.4",
    reading={"duplicates": "keep", "repeated": "each"},
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "one"},
    measuring=_MEASURES,
    why=_WHY + " A user without relevant items counts as 1.",
    source="average_precision.py::apk",
)

ML_METRICS_GIT = Dialect(
    "ml_metrics-git",
    tool="benhamner/Metrics",
    version="git 9a637ae",
    reading={"duplicates": "keep", "repeated": "each"},
    judging={"ties": "given", "missing": "skip"},
    measuring=_MEASURES,
    why=_WHY
    + " A user without relevant items counts as 0 since 2015; the release on PyPI is older.",
    source="Python/ml_metrics/average_precision.py::apk",
)
