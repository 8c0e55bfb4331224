"""implicit."""

from germane.dialects.dialect import Dialect, Foreign, Limit

IMPLICIT = Dialect(
    "implicit",
    tool="implicit",
    version="0.7.3",
    reading={"duplicates": "again", "repeated": "once", "grades": "ones"},
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "skip", "undefined": "error"},
    measuring=(
        Foreign("map@{k}", "AP@{k}"),
        Foreign("precision@{k}", "R(norm=min,mean=micro)@{k}"),
        Foreign("ndcg@{k}", "nDCG@{k}"),
    ),
    why="Users count who have items to find; without any it divides by 0. Its precision divides all hits by all of min(R,K), so "
    "that users with many items weigh more.",
    source="evaluation.pyx::ranking_metrics_at_k",
    limits=(
        Limit("all_relevant", "Its AUC divides by the other items: without any, all is an error."),
        Limit("repeated", "A copy is a hit again."),
    ),
)
