"""Recommendation: lists of items for users, held against the items that they took.

LensKit and RecTools, which have many measures, are in files of their own.
"""

from dataclasses import replace

from germane.dialects import catalogue, lenskit
from germane.dialects.dialect import (
    CATALOG,
    COPIES_COUNT,
    LISTS,
    RATINGS,
    Absent,
    Dialect,
    Entry,
    Homonym,
    Limit,
)
from germane.dialects.rectools import RECTOOLS

_WITHIN = {"short": "nan"}  # of as many items as k all are among the first k

_COPIES = (
    "A prediction that repeats an earlier one takes its rank and is no hit; a relevant item that is"
    " listed twice counts twice in R."
)
_ML_METRICS = Dialect(
    "ml_metrics",
    tool="ml_metrics",
    version="0.1.4",
    reading={"duplicates": "keep", "repeated": "each"},
    judging=LISTS,
    averaging={"no_relevant": "one"},
    measuring=(
        Entry("mapk@{k}", "AP@{k}"),
        Entry("apk@{k}", "AP@{k}"),
        Entry("kdd_mapk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
        Entry("kdd_apk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
    ),
    why=_COPIES + " A user without relevant items counts as 1.",
    source="average_precision.py::apk",
)

DIALECTS = (
    _ML_METRICS,
    replace(
        _ML_METRICS,
        name="ml_metrics-git",
        tool="benhamner/Metrics",
        version="git 9a637ae",
        averaging={},
        why=_COPIES
        + " A user without relevant items counts as 0 since 2015; the release on PyPI is older.",
        source="Python/ml_metrics/average_precision.py::apk",
        aliases=("benhamner", "kaggle"),
    ),
    Dialect(
        "kaggle-notebook",
        tool="Kaggle notebook 'understanding-mean-average-precision' (H&M)",
        version="2022",
        reading={"duplicates": "error", "repeated": "once"},
        judging={**LISTS, "empty": "error", "short": "error"},
        averaging={"no_relevant": "error"},
        measuring=_ML_METRICS.measuring[:2],
        why="AP@k over min(R,k), but a list shorter than k is an IndexError.",
        source="average_precision_at_k",
        limits=(
            Limit("repeated", "Copies are hits at their ranks but not in P@i: AP can be 1.083."),
        ),
    ),
    Dialect(
        "recmetrics",
        tool="recmetrics",
        version="0.1.5",
        reading={"duplicates": "keep", "repeated": "each"},
        judging=LISTS,
        measuring=(
            Entry("mark@{k}", "AP(norm=R)@{k}"),
            Entry("mapk@{k}", "AP@{k}", {"no_relevant": "one"}),
            Entry(
                "recommender_precision@{k}",
                "P(norm=retrieved)@{k}",
                {"duplicates": "recount", "query_digits": 4, "halves": "even", "empty": "error"},
            ),
            Entry(
                "recommender_recall@{k}",
                "R@{k}",
                {
                    "duplicates": "recount",
                    "query_digits": 4,
                    "halves": "even",
                    "no_relevant": "error",
                },
            ),
        ),
        absent=(
            Absent(("mse", "rmse"), RATINGS),
            Absent(
                (
                    "novelty",
                    "prediction_coverage",
                    "catalog_coverage",
                    "personalization",
                    "intra_list_similarity",
                ),
                CATALOG,
            ),
        ),
        why=(
            "Its mean average recall (mark) is average precision over R; for mapk its examples take"
            " ml_metrics' function. Precision and recall of each user are rounded to 4 decimals"
            " before the mean."
        ),
        source="metrics.py::_ark",
    ),
    Dialect(
        "recommenders",
        tool="Microsoft recommenders",
        version="1.2.1",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip", "undefined": "zero"},
        measuring=(
            Entry("map_at_k@{k}", "AP@{k}"),
            Entry("map@{k}", "AP(norm=R)@{k}"),
            Entry("precision_at_k@{k}", "P@{k}"),
            Entry("recall_at_k@{k}", "R@{k}"),
            Entry("ndcg_at_k@{k}", "nDCG@{k}", {"missing": "zero", "empty": "answer"}),
            Entry(
                "r_precision_at_k@{k}",
                "Rprec",
                {"depth": "{k}", "no_hit": "skip", "undefined": "nan"},
            ),
            *catalogue.RECOMMENDERS,
        ),
        why=(
            "Users count who are in both frames. Both cut the list at k (10 unless told otherwise),"
            " but map divides by R and map_at_k by min(R,k)."
        ),
        source="evaluation/python_evaluation.py",
        limits=(
            Limit("missed", "0 where no user has a hit in k.", only=("r_precision_at_k@{k}",)),
            Limit("repeated", "Joined rows count a copy on either side."),
            Limit("empty", "A user who is in one frame only has 0 alone, and no part in a mean."),
        ),
    ),
    RECTOOLS,
    Dialect(
        "recometrics",
        tool="recometrics",
        version="0.1.6",
        judging={**LISTS, "empty": "missing", "short": "error"},
        averaging={"no_relevant": "nan", "all_relevant": "nan", "constant": "nan"},
        measuring=(
            Entry("AP@K(k={k})", "AP(norm=R)@{k}"),
            Entry("TAP@K(k={k})", "AP@{k}"),
            Entry("P@K(k={k})", "P@{k}", _WITHIN),
            Entry("R@K(k={k})", "R@{k}", _WITHIN),
            Entry("TP@K(k={k})", "R(norm=min)@{k}", _WITHIN),
            Entry("Hit@K(k={k})", "Success@{k}", _WITHIN),
            Entry("RR@K(k={k})", "RR@{k}"),
            Entry("NDCG@K(k={k})", "nDCG@{k}", {"all_relevant": "answer"}),
            Entry("PR_AUC", "AP(norm=R)"),
            Entry("ROC_AUC", "AUROC"),
        ),
        why=(
            "Has both: AP@K over R, and the truncated TAP@K over min(R,K). P@K divides by K, TP@K"
            " by min(R,K). Where every item is relevant, or all scores are equal, nothing can be"
            " ranked: NaN, and so is what looks at no order where there are only K items. Fewer are"
            " an error."
        ),
        source="src/recometrics.hpp",
        limits=(
            Limit(
                "tied",
                "By default, random noise breaks ties; if the first K scores "
                "are equal, the value is NaN unless an AUC is computed, too.",
            ),
            Limit("all_relevant", "NaN, or with noise 1.", only=("NDCG@K(k={k})",)),
            Limit(
                "all_within",
                "If all of K items are relevant, the value is a number.",
                only=("AP@K(k={k})", "TAP@K(k={k})", "RR@K(k={k})"),
            ),
            Limit(
                "short",
                "The K of the other metrics may not be above the number of items.",
                only=("PR_AUC", "ROC_AUC"),
            ),
            Limit("no_relevant", "A matrix without any relevant item is a ValueError."),
        ),
    ),
    Dialect(
        "implicit",
        tool="implicit",
        version="0.7.3",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging=LISTS,
        averaging={"no_relevant": "skip", "undefined": "error"},
        measuring=(
            Entry("map@{k}", "AP@{k}"),
            Entry("precision@{k}", "R(norm=min,mean=micro)@{k}"),
            Entry("ndcg@{k}", "nDCG@{k}"),
        ),
        why=(
            "Users count who have items to find; without any it divides by 0. Its precision divides"
            " all hits by all of min(R,K), so that users with many items weigh more."
        ),
        source="evaluation.pyx::ranking_metrics_at_k",
        limits=(
            Limit(
                "all_relevant", "Its AUC divides by the other items: without any, all is an error."
            ),
            Limit("repeated", "A copy is a hit again."),
        ),
    ),
    Dialect(
        "spark",
        tool="Spark mllib RankingMetrics",
        version="4.3.0",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging=LISTS,
        measuring=(
            Entry("meanAveragePrecision", "AP(norm=R)"),
            Entry("meanAveragePrecisionAt({k})", "AP@{k}"),
            Entry("precisionAt({k})", "P@{k}"),
            Entry("recallAt({k})", "R@{k}"),
            Entry("ndcgAt({k})", "nDCG@{k}"),
        ),
        why=(
            "A repeated prediction is a hit again, so that AP can be 1.5. Without relevant"
            " items: 0."
        ),
        source="mllib/evaluation/RankingMetrics.scala",
        limits=(
            Limit("empty", "The Python wrapper cannot infer a type where the first list is empty."),
            Limit("repeated", "In nDCG a copy gains 1 again, in recall it is a hit again."),
        ),
        aliases=("pyspark",),
    ),
    Dialect(
        "recbole",
        tool="RecBole",
        version="1.2.1",
        reading={**COPIES_COUNT, "repeated": "each", "grades": "ones"},
        judging=LISTS,
        measuring=(
            Entry("MAP@{k}", "AP@{k}"),
            Entry("Precision@{k}", "P@{k}"),
            Entry("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
            Entry("MRR@{k}", "RR@{k}"),
            Entry("NDCG@{k}", "nDCG@{k}"),
            *catalogue.RECBOLE,
        ),
        why=(
            "Works on the matrix of hits among the first k. Recall of a user without items is NaN."
            " Its catalogue has one item more, the padding: catalogue= is that number."
        ),
        source="evaluator/metrics.py::MAP.metric_info",
        limits=(
            Limit("no_relevant", "nDCG is 0/0.", only=("NDCG@{k}",)),
            Limit("repeated", "nDCG counts copies in the ideal, too.", only=("NDCG@{k}",)),
        ),
    ),
    Dialect(
        "elliot",
        tool="Elliot",
        version="git fc27efe",
        reading={**COPIES_COUNT, "repeated": "each"},
        judging=LISTS,
        measuring=(
            Entry("MAP@{k}", "MeanP@{k}"),
            Entry("MAR@{k}", "MeanR@{k}", {"no_relevant": "error"}),
            *catalogue.ELLIOT,
        ),
        why=(
            "Its MAP is the mean of P@1 … P@k, ranks without a hit included: a single relevant "
            "item at rank 1 has 0.457 at k=5, not 1. Its Gini is 1 − the coefficient: high = equal."
        ),
        source="evaluation/metrics/accuracy/map/map.py::__user_ap",
        unlike=(Homonym("nDCG", "nDCG", "nDCG(gain=exp)"),),
    ),
    Dialect(
        "mean-of-precisions",
        tool="the mean of P@1 … P@k",
        version="a common mistake",
        judging={"ties": "given"},
        measuring=(Entry("map@{k}", "MeanP@{k}"), Entry("apk@{k}", "MeanP@{k}")),
        why=(
            "Takes precision at every rank, not only at those with a relevant item. This is not AP."
        ),
        source="answers on the web, and code that copies them",
    ),
    Dialect(
        "cornac",
        tool="Cornac",
        version="3.0.1",
        judging=LISTS,
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("MAP", "AP(norm=R)", {"ties": "grouped", "no_relevant": "nan"}),
            Entry("Precision@{k}", "P@{k}", {"no_relevant": "zero"}),
            Entry("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
        ),
        why=(
            "MAP gives equal scores the last rank of their group, and looks at all items: no"
            " cutoff."
        ),
        source="metrics/ranking.py::MAP.compute",
        limits=(
            Limit("no_relevant", "0/0 is NaN, or an error."),
            Limit("tied", "Top k of ties.", order=True),
        ),
    ),
    *lenskit.DIALECTS,
    Dialect(
        "evidently",
        tool="Evidently",
        version="0.7.23",
        judging={**LISTS, "empty": "missing", "short": "error_if_all"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("map@{k}", "AP(norm=R)@{k}"),
            Entry("map_include_no_feedback@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
            Entry("mar@{k}", "AR@{k}"),
            Entry("precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("recall@{k}", "R@{k}"),
            *catalogue.EVIDENTLY,
        ),
        why=(
            "Sorted frames whose users have equally many rows agree with AP over R. Others do not:"
            " what counts as relevant at rank k is the label of the frame's last row within k, and"
            " a user with fewer than k items goes on adding precision, or is an error where no user"
            " has more. Precision and recall do not depend on the order of rows."
        ),
        source="legacy/metrics/recsys/precision_recall_k.py",
        limits=(
            Limit(
                "unordered",
                "The relevance at rank k is the label of the frame's last row within k: rows that"
                " do not stand in the order of their scores change it.",
                only=("map@{k}", "map_include_no_feedback@{k}", "mar@{k}"),
            ),
            Limit(
                "short",
                "A list shorter than k adds its last precision again at every further rank.",
            ),
            Limit("tied", "Equal scores have the integer part of their mean rank, all of them."),
            Limit("uneven", "Users with lists of different lengths disturb each other."),
        ),
        absent=(
            Absent(
                ("serendipity",),
                "it subtracts, from 1, the similarities of a user's relevant items, added up, so"
                " that every further relevant item lowers it.",
            ),
        ),
        sees="list",
    ),
    Dialect(
        "torch-geometric",
        tool="PyTorch Geometric",
        version="2.8.1",
        judging=LISTS,
        averaging={"no_relevant": "skip", "undefined": "zero"},
        measuring=(
            Entry("LinkPredMAP(k={k})", "AP@{k}"),
            Entry("LinkPredPrecision(k={k})", "P@{k}"),
            Entry("LinkPredRecall(k={k})", "R@{k}"),
        ),
        why="Nodes without links to find do not enter the mean, which is 0 where that leaves none.",
        source="metrics/link_pred.py",
        aliases=("pyg",),
    ),
)
