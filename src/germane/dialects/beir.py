"""BEIR."""

from germane.dialects.dialect import Dialect, Foreign

BEIR = Dialect(
    "beir",
    tool="BEIR",
    version="2.2.0",
    reading={"duplicates": "last", "grades": "whole", "scores": "single", "own": "drop"},
    judging={"ties": "trec", "missing": "skip"},
    averaging={"digits": 5},
    measuring=(
        Foreign("NDCG@{k}", "nDCG@{k}"),
        Foreign("MAP@{k}", "AP(norm=R)@{k}"),
        Foreign("Recall@{k}", "R@{k}"),
        Foreign("P@{k}", "P@{k}"),
    ),
    why="pytrec_eval, but an item whose id is the query's is taken out first "
    "(ignore_identical_ids=False: own=keep), and means are rounded to 5 decimals.",
    source="retrieval/evaluation.py",
)
