"""Learning to rank: labels and scores of one list at a time."""

from germane.dialects.dialect import LISTS, Dialect, Entry, Homonym, Limit, name_both

_SHUFFLED = Limit("tied", "Equal scores are shuffled.", order=True)


def _list_measures(ap: str, precision: str, recall: str, cut: str) -> tuple[Entry, ...]:
    """List the measures of Rax and its relatives, which append ``cut`` for a cutoff."""
    return (
        *name_both(ap, "AP(norm=R)", cut),
        Entry(precision, "P"),
        Entry(precision + cut, "P(norm=retrieved)@{k}"),
        *name_both(recall, "R", cut),
    )


DIALECTS = (
    Dialect(
        "xgboost",
        tool="XGBoost",
        version="3.2.0",
        reading={"scores": "single", "grades": "binary"},
        judging={**LISTS, "empty": "error_if_all"},
        averaging={"no_relevant": "one"},
        measuring=(
            *name_both("map", "AP"),
            Entry("map-", "AP", {"no_relevant": "zero"}),
            Entry("map@{k}-", "AP@{k}", {"no_relevant": "zero"}),
            Entry("pre@{k}", "P(norm=retrieved)@{k}", {"no_relevant": "zero", "empty": "error"}),
            Entry("ndcg@{k}", "nDCG(gain=exp)@{k}", {"grades": "exact"}),
            Entry("ndcg", "nDCG(gain=exp)", {"grades": "exact"}),
            Entry(
                "aucpr",
                "AUPR(rule=davis_goadrich)",
                {"ties": "grouped", "no_relevant": "nan", "all_relevant": "nan"},
            ),
        ),
        why=(
            "A query without relevant items counts as 1, or as 0 where the name ends with a minus."
            " aucpr interpolates as Davis and Goadrich do, and takes equal scores as one step."
            " Empty groups alone are an error, and any is one in pre@."
        ),
        source="src/metric/rank_metric.cc",
        same=("XGBoost 3.4.1",),
        limits=(
            Limit(
                "tied_long",
                "Longer lists are sorted by an algorithm that does not keep the order of equal"
                " scores.",
                order=True,
            ),
        ),
        sees="list",
    ),
    Dialect(
        "lightgbm",
        tool="LightGBM",
        version="4.7.0",
        judging={**LISTS, "empty": "error_if_all"},
        averaging={"no_relevant": "one"},
        measuring=(Entry("map@{k}", "AP(norm=possible)@{k}"),),
        why="A query without relevant items counts as 1. Empty groups alone are an error.",
        source="src/metric/map_metric.hpp",
        sees="list",
        unlike=(Homonym("nDCG", "ndcg", "nDCG(gain=exp)"),),
    ),
    Dialect(
        "catboost",
        tool="CatBoost",
        version="1.2.10",
        judging={"ties": "worst", "missing": "skip", "empty": "missing"},
        measuring=(
            *name_both("MAP", "AP(norm=possible)", ":top={k}"),
            Entry("PrecisionAt:top={k}", "P(norm=retrieved)@{k}"),
            Entry("RecallAt:top={k}", "R@{k}", {"no_relevant": "one"}),
            Entry("MRR:top={k}", "RR@{k}"),
        ),
        why=(
            "Among equal scores the irrelevant come first. Without relevant items MAP is 0,"
            " recall 1."
        ),
        source="libs/metrics/precision_recall_at_k.cpp",
        sees="list",
    ),
    Dialect(
        "rankeval",
        tool="RankEval (hpclab)",
        version="git c6e39e9",
        judging=LISTS,
        averaging={"no_relevant": "one", "no_hit": "one"},
        measuring=(*name_both("MAP", "AP(norm=possible)", "(cutoff={k})"),),
        why=(
            "Divides by R or by the length of the list, whichever is less. A query without relevant"
            " items counts as 1, and so does one of which no relevant item stands within the"
            " cutoff."
        ),
        source="metrics/map.py",
        limits=(
            Limit("tied", "The order of equal scores is reversed, or left open in longer lists."),
        ),
        sees="list",
        unlike=(Homonym("nDCG", "NDCG", "nDCG(gain=exp)"), Homonym("RBP", "RBP", "RBP(p=0.5)")),
    ),
    Dialect(
        "rax",
        tool="Rax",
        version="0.4.0",
        reading={"scores": "single"},
        judging=LISTS,
        measuring=_list_measures("ap_metric", "precision_metric", "recall_metric", "(topn={k})"),
        why="Divides AP by R whatever the cutoff.",
        source="rax/_src/metrics.py",
        sees="list",
        unlike=(
            Homonym("nDCG", "ndcg_metric", "nDCG(gain=exp)"),
            Homonym("DCG", "dcg_metric", "DCG(gain=exp)"),
        ),
    ),
    Dialect(
        "tensorflow-ranking",
        tool="TensorFlow Ranking",
        version="0.5.5",
        reading={"scores": "single"},
        judging=LISTS,
        measuring=_list_measures(
            "MeanAveragePrecisionMetric", "PrecisionMetric", "RecallMetric", "(topn={k})"
        ),
        why="Divides AP by all relevant items regardless of topn.",
        source="python/metrics_impl.py::MeanAveragePrecisionMetric",
        limits=(_SHUFFLED,),
        sees="list",
        unlike=(
            Homonym("nDCG", "NDCGMetric", "nDCG(gain=exp)"),
            Homonym("DCG", "DCGMetric", "DCG(gain=exp)"),
        ),
        aliases=("tfr",),
    ),
    Dialect(
        "keras-rs",
        tool="Keras-RS",
        version="0.4.0",
        reading={"scores": "single"},
        judging={**LISTS, "empty": "missing_if_some"},
        measuring=_list_measures("MeanAveragePrecision", "PrecisionAtK", "RecallAtK", "(k={k})"),
        why=(
            "A port of TensorFlow Ranking. An empty list weighs nothing in the mean; alone it is 0."
        ),
        source="src/metrics/mean_average_precision.py",
        limits=(_SHUFFLED,),
        sees="list",
        unlike=(Homonym("nDCG", "NDCG", "nDCG(gain=exp)"), Homonym("DCG", "DCG", "DCG(gain=exp)")),
    ),
    Dialect(
        "tensorflow",
        tool="TensorFlow",
        version="2.15.1",
        reading={"scores": "single"},
        judging={**LISTS, "empty": "missing", "short": "error"},
        averaging={"no_relevant": "skip"},
        measuring=(Entry("average_precision_at_k(k={k})", "AP@{k}"),),
        why=(
            "tf.compat.v1.metrics.average_precision_at_k divides by min(R,k), and needs k classes."
            " Keras' AUC of precision and recall, which takes the curve at a grid of thresholds,"
            " has no counterpart."
        ),
        source="python/ops/metrics_impl.py",
        same=("TensorFlow 2.21.0",),
        limits=(Limit("no_relevant", "Needs a label."),),
    ),
)
