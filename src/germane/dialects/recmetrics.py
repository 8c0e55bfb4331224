"""recmetrics."""

from germane.dialects.dialect import Dialect, Foreign

RECMETRICS = Dialect(
    "recmetrics",
    tool="recmetrics",
    version="0.1.5",
    reading={"duplicates": "keep", "repeated": "each"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("mark@{k}", "AP(norm=R)@{k}"),
        Foreign(
            "recommender_precision@{k}",
            "P(norm=retrieved)@{k}",
            {"duplicates": "again", "query_digits": 4, "empty": "error"},
        ),
        Foreign(
            "recommender_recall@{k}",
            "R@{k}",
            {"duplicates": "again", "query_digits": 4, "no_relevant": "error"},
        ),
    ),
    why="What it names mean average recall (mark) is average precision over R. Precision and recall "
    "of each user are rounded to 4 decimals before the mean.",
    source="metrics.py::_ark",
)
