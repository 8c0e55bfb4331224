"""Spark MLlib."""

from germane.dialects.dialect import Dialect, Foreign, Limit

SPARK = Dialect(
    "spark",
    tool="Spark mllib RankingMetrics",
    version="4.3.0",
    reading={"duplicates": "again", "repeated": "once", "grades": "ones"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("meanAveragePrecision", "AP(norm=R)"),
        Foreign("meanAveragePrecisionAt({k})", "AP@{k}"),
        Foreign("precisionAt({k})", "P@{k}"),
        Foreign("recallAt({k})", "R@{k}"),
        Foreign("ndcgAt({k})", "nDCG@{k}"),
    ),
    why="A repeated prediction is a hit again, so that AP can be 1.5. Without relevant items: 0.",
    source="mllib/evaluation/RankingMetrics.scala",
    limits=(
        Limit("empty", "The Python wrapper cannot infer a type where the first list is empty."),
        Limit("repeated", "In nDCG a copy gains 1 again, in recall it is a hit again."),
    ),
)
