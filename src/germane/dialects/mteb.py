"""MTEB."""

from germane.dialects.dialect import Dialect, Foreign

MTEB = Dialect(
    "mteb",
    tool="MTEB",
    version="2.26.24",
    reading={"duplicates": "last", "grades": "whole", "scores": "single"},
    judging={"ties": "trec", "missing": "skip"},
    averaging={"digits": 5},
    measuring=(
        Foreign("NDCG@{k}", "nDCG@{k}", also=("ndcg_at_{k}",)),
        Foreign("MAP@{k}", "AP(norm=R)@{k}", also=("map_at_{k}",)),
        Foreign("Recall@{k}", "R@{k}", also=("recall_at_{k}",)),
        Foreign("P@{k}", "P@{k}", also=("precision_at_{k}",)),
        Foreign("HitRate@{k}", "Success@{k}"),
        Foreign(
            "MRR@{k}",
            "RR@{k}",
            {"scores": "double", "digits": None, "unknown": "error"},
            also=("mrr_at_{k}",),
        ),
        Foreign(
            "R_cap_at_{k}",
            "R(norm=min)@{k}",
            {"scores": "double", "no_relevant": "skip", "unknown": "error"},
        ),
    ),
    why="pytrec_eval, with means rounded to 5 decimals, and some measures of its own.",
    source="_evaluators/retrieval_metrics.py",
)
