"""LensKit."""

from germane.dialects.dialect import Dialect, Foreign, Unlike

LENSKIT = Dialect(
    "lenskit",
    tool="LensKit",
    version="2025.8.1",
    reading={"duplicates": "again", "repeated": "each"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("AveragePrecision", "AP(norm=possible)", {"no_relevant": "error", "empty": "nan"}),
        Foreign(
            "AveragePrecision(n={k})",
            "AP(norm=possible)@{k}",
            {"no_relevant": "error", "empty": "nan"},
        ),
        Foreign("Precision", "P", {"empty": "nan"}),
        Foreign("Precision(n={k})", "P(norm=retrieved)@{k}", {"empty": "nan"}),
        Foreign("Recall", "R", {"no_relevant": "nan"}),
        Foreign("Recall(n={k})", "R(norm=min)@{k}", {"no_relevant": "nan"}),
        Foreign("RecipRank", "RR", {"no_relevant": "nan"}),
        Foreign("RecipRank(n={k})", "RR@{k}", {"no_relevant": "nan"}),
    ),
    why="AP divides by R or by the length of the list, whichever is less, so that a short list is "
    "rewarded. An empty list is NaN; a user without items is NaN, and in AP an error.",
    source="metrics/ranking/_map.py",
    unlike=(
        Unlike("RBP", "RBP", "RBP(p=0.85)"),
        Unlike(
            "nDCG",
            "NDCG",
            says="its discount is 1 / log2(max(rank, 2)), so that ranks 1 and 2 weigh the same",
        ),
        Unlike(
            "DCG",
            "DCG",
            says="its discount is 1 / log2(max(rank, 2)), so that ranks 1 and 2 weigh the same",
        ),
    ),
)
