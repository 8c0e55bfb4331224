"""XGBoost, LightGBM and CatBoost."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

_LIST = {"ties": "given", "missing": "skip", "empty": "error_if_all"}

XGBOOST = Dialect(
    "xgboost",
    tool="XGBoost",
    version="3.2.0",
    reading={"scores": "single", "grades": "binary"},
    judging=_LIST,
    averaging={"no_relevant": "one"},
    measuring=(
        Foreign("map", "AP"),
        Foreign("map@{k}", "AP@{k}"),
        Foreign("map-", "AP", {"no_relevant": "zero"}),
        Foreign("map@{k}-", "AP@{k}", {"no_relevant": "zero"}),
        Foreign("pre@{k}", "P(norm=retrieved)@{k}", {"no_relevant": "zero", "empty": "error"}),
        Foreign("ndcg@{k}", "nDCG(gain=exp)@{k}", {"grades": "exact"}),
        Foreign("ndcg", "nDCG(gain=exp)", {"grades": "exact"}),
        Foreign(
            "aucpr",
            "AUPR(rule=davis_goadrich)",
            {"ties": "grouped", "no_relevant": "nan", "all_relevant": "nan"},
        ),
    ),
    why="A query without relevant items counts as 1, or as 0 where the name ends with a minus. "
    "aucpr interpolates as Davis and Goadrich do, and takes equal scores as one step. Empty groups alone "
    "are an error, and any is one in pre@.",
    source="src/metric/rank_metric.cc",
    limits=(
        Limit(
            "tied_long",
            "Longer lists are sorted by an algorithm that does not keep equal scores.",
            order=True,
        ),
    ),
    sees="list",
)

LIGHTGBM = Dialect(
    "lightgbm",
    tool="LightGBM",
    version="4.7.0",
    judging=_LIST,
    averaging={"no_relevant": "one"},
    measuring=(Foreign("map@{k}", "AP(norm=possible)@{k}"),),
    why="A query without relevant items counts as 1. Empty groups alone are an error.",
    source="src/metric/map_metric.hpp",
    sees="list",
    unlike=(Unlike("nDCG", "ndcg", "nDCG(gain=exp)"),),
)

CATBOOST = Dialect(
    "catboost",
    tool="CatBoost",
    version="1.2.10",
    judging={"ties": "worst", "missing": "skip", "empty": "missing"},
    measuring=(
        Foreign("MAP", "AP(norm=possible)"),
        Foreign("MAP:top={k}", "AP(norm=possible)@{k}"),
        Foreign("PrecisionAt:top={k}", "P(norm=retrieved)@{k}"),
        Foreign("RecallAt:top={k}", "R@{k}", {"no_relevant": "one"}),
        Foreign("MRR:top={k}", "RR@{k}"),
    ),
    why="Among equal scores the irrelevant come first. Without relevant items MAP is 0, recall 1.",
    source="libs/metrics/precision_recall_at_k.cpp",
    sees="list",
)
