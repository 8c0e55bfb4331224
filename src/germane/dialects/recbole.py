"""RecBole."""

from germane.dialects.dialect import Dialect, Foreign, Limit

RECBOLE = Dialect(
    "recbole",
    tool="RecBole",
    version="1.2.1",
    reading={"duplicates": "again", "repeated": "each", "grades": "ones"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("MAP@{k}", "AP@{k}"),
        Foreign("Precision@{k}", "P@{k}"),
        Foreign("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
        Foreign("MRR@{k}", "RR@{k}"),
        Foreign("NDCG@{k}", "nDCG@{k}"),
    ),
    why="Works on the matrix of hits among the first k. Recall of a user without items is NaN.",
    source="evaluator/metrics.py::MAP.metric_info",
    limits=(
        Limit("no_relevant", "nDCG is 0/0.", only=("NDCG@{k}",)),
        Limit("repeated", "nDCG counts copies in the ideal, too.", only=("NDCG@{k}",)),
    ),
)
