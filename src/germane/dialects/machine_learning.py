"""Libraries of machine learning: PyTorch, graphs, learning to rank, scikit-learn."""

from collections.abc import Mapping
from typing import Any

from germane.dialects.dialect import LISTS, Absent, Dialect, Entry, Homonym, Limit, name_both

_TOPK = Limit("tied", "torch.topk does not define the order of equal scores.", order=True)
_SORTED = Limit(
    "tied",
    "torch.topk does not define the order of equal scores, and the order may change if there are"
    " other queries.",
    order=True,
)
_UNMASKED = {"nonpositive": "hit"}
_GRADED = {"nonpositive": "hit", "ties": "expected", "grades": "exact"}
_CURVE = {"nonpositive": "hit", "ties": "grouped", "scores": "sigmoid"}

_NEGATIVES = {"nonpositive": "hit", "no_relevant": "one"}


def _name(
    name: str, measure: str, function: str, choices: Mapping[str, Any] | None = None
) -> tuple[Entry, Entry]:
    """Name a metric of torchmetrics, without and with a cutoff: its class, and its function."""
    return name_both(name, measure, "(top_k={k})", choices, also=(function,))


PYTORCH = (
    Dialect(
        "torchmetrics",
        tool="torchmetrics",
        version="1.9.0",
        reading={"scores": "single", "grades": "binary"},
        judging={**LISTS, "empty": "missing", "nonpositive": "miss"},
        averaging={"undefined": "zero"},
        measuring=(
            *_name("RetrievalMAP", "AP(norm=found)", "retrieval_average_precision"),
            *_name("RetrievalPrecision", "P", "retrieval_precision"),
            Entry(
                "RetrievalPrecision(top_k={k},adaptive_k=True)",
                "P(norm=retrieved)@{k}",
                also=("retrieval_precision(top_k={k},adaptive_k=True)",),
            ),
            *_name("RetrievalRecall", "R", "retrieval_recall"),
            *_name("RetrievalMRR", "RR", "retrieval_reciprocal_rank"),
            *_name("RetrievalHitRate", "Success", "retrieval_hit_rate", choices=_UNMASKED),
            Entry("RetrievalRPrecision", "Rprec", _UNMASKED, ("retrieval_r_precision",)),
            *_name("RetrievalFallOut", "FallOut", "retrieval_fall_out", choices=_NEGATIVES),
            Entry("RetrievalAUROC", "AUROC", _CURVE, ("retrieval_auroc", "BinaryAUROC")),
            Entry(
                "RetrievalAUROC(top_k={k})",
                "AUROC@{k}",
                {"nonpositive": "hit", "scores": "sigmoid"},
                ("retrieval_auroc(top_k={k})",),
            ),
            *_name("RetrievalNormalizedDCG", "nDCG", "retrieval_normalized_dcg", choices=_GRADED),
            Entry("BinaryAveragePrecision", "AP(norm=R)", _CURVE),
            Entry(
                "multilabel_ranking_average_precision",
                "AP(norm=R)",
                {"nonpositive": "hit", "ties": "grouped", "no_relevant": "one"},
            ),
        ),
        why=(
            "RetrievalMAP averages over the relevant items that were found. In MAP, precision,"
            " recall and MRR, a relevant item with a score of 0 or less counts as not relevant."
            " empty_target_action decides how queries without relevant items count: neg is"
            " no_relevant=zero, and pos is no_relevant=one; skip and error have the same names."
            " RetrievalAUROC is 0 if no item within k is relevant, or if all are. The classes"
            " sort all results by query with torch.sort, which is not stable: the order of a"
            " query's equal scores, and with it the value, can depend on the other queries."
        ),
        source="functional/retrieval/average_precision.py",
        limits=(
            _SORTED,
            Limit(
                "tied",
                "A pair of equal scores among the first k counts half. If any score is outside"
                " 0…1, the logistic function is applied in single precision, which makes all"
                " scores above 17 equal.",
                only=("RetrievalAUROC(top_k={k})",),
            ),
        ),
        absent=(
            Absent(
                ("RetrievalPrecisionRecallCurve", "retrieval_precision_recall_curve"),
                "it is a curve; germane.mean_pr_curve makes one, and P@k and R@k are its points.",
            ),
            Absent(
                ("RetrievalRecallAtFixedPrecision",),
                "it reads a single number from the mean curve of all queries, whereas"
                " RecallAtPrecision(precision=0.5) is a mean over queries.",
            ),
        ),
        sees="list",
    ),
    Dialect(
        "torcheval",
        tool="TorchEval",
        version="0.0.7",
        reading={"scores": "single"},
        judging=LISTS,
        measuring=(
            Entry("retrieval_precision(k={k})", "P@{k}"),
            Entry(
                "retrieval_precision(k={k},limit_k_to_size=True)",
                "P(norm=retrieved)@{k}",
                {"empty": "nan"},
            ),
            Entry("binary_auprc", "AP(norm=R)", {"ties": "grouped"}),
        ),
        why="binary_auprc treats equal scores as one step.",
        source="metrics/functional/ranking/retrieval_precision.py",
        limits=(_TOPK,),
        sees="list",
    ),
    Dialect(
        "catalyst",
        tool="Catalyst",
        version="git e99f906",
        reading={"scores": "single"},
        judging=LISTS,
        measuring=(
            Entry("average_precision(k={k})", "AP(norm=found)@{k}"),
            Entry("binary_average_precision", "AP(norm=found)"),
        ),
        why="It divides by the relevant items found.",
        source="metrics/functional/_average_precision.py",
        limits=(
            Limit("tied", "torch.sort does not define the order of equal scores.", order=True),
        ),
        sees="list",
        unlike=(
            Homonym("nDCG", "ndcg", "nDCG(gain=exp)"),
            Homonym("DCG", "dcg", "DCG(gain=exp)"),
            Homonym(
                "Success",
                "hitrate",
                says=(
                    "it is the share of the relevant items that are among the first k, which is R@k"
                ),
            ),
        ),
    ),
)


# --- Missing links of graphs, each ranked among other candidates ----------------------------------

_ONE = (
    "Each true link is ranked separately among other links, so that a query has one relevant item."
)

KNOWLEDGE_GRAPHS = (
    Dialect(
        "ogb",
        tool="Open Graph Benchmark",
        version="1.3.6",
        judging={"ties": "middle", "missing": "skip"},
        measuring=(
            Entry("mrr_list", "RR"),
            Entry("hits@1_list", "Success@1"),
            Entry("hits@3_list", "Success@3"),
            Entry("hits@10_list", "Success@10"),
        ),
        why=(
            "A link gets the middle of the ranks of its score, as if half of the other links with"
            " this score were above it. Arrays have to be PyTorch's; NumPy's raise an error."
        ),
        source="ogb/linkproppred/evaluate.py::_eval_mrr",
        limits=(
            Limit("several", _ONE),
            Limit("no_relevant", "Every query has a true link."),
            Limit("missed", "Every link has a score."),
        ),
        absent=(
            Absent(
                ("hits",),
                "it ranks all true links among one list of other links, instead of each query"
                " separately.",
            ),
        ),
    ),
    Dialect(
        "pykeen",
        tool="PyKEEN",
        version="1.11.1",
        judging={"ties": "middle", "missing": "skip"},
        measuring=(
            Entry("inverse_harmonic_mean_rank", "RR"),
            Entry("hits_at_{k}", "Success@{k}"),
            Entry("arithmetic_mean_rank", "MeanRank"),
            Entry("median_rank", "MeanRank(mean=median)"),
            Entry("geometric_mean_rank", "MeanRank(mean=geometric)"),
            Entry("optimistic.inverse_harmonic_mean_rank", "RR", {"ties": "best"}),
            Entry("optimistic.hits_at_{k}", "Success@{k}", {"ties": "best"}),
            Entry("optimistic.arithmetic_mean_rank", "MeanRank", {"ties": "best"}),
            Entry("optimistic.median_rank", "MeanRank(mean=median)", {"ties": "best"}),
            Entry("optimistic.geometric_mean_rank", "MeanRank(mean=geometric)", {"ties": "best"}),
            Entry("pessimistic.inverse_harmonic_mean_rank", "RR", {"ties": "worst"}),
            Entry("pessimistic.hits_at_{k}", "Success@{k}", {"ties": "worst"}),
            Entry("pessimistic.arithmetic_mean_rank", "MeanRank", {"ties": "worst"}),
            Entry("pessimistic.median_rank", "MeanRank(mean=median)", {"ties": "worst"}),
            Entry("pessimistic.geometric_mean_rank", "MeanRank(mean=geometric)", {"ties": "worst"}),
        ),
        why=(
            "The realistic rank, which names without a prefix use, is the middle of the ranks of"
            " equal scores; the optimistic rank is the first of them, and the pessimistic rank the"
            " last. Other true entities are removed first, as with ignore=."
        ),
        source="pykeen/evaluation/ranks.py::Ranks.from_scores",
        limits=(
            Limit("several", _ONE),
            Limit("no_relevant", "Every query has a true entity."),
            Limit("missed", "Every entity has a score."),
        ),
    ),
)


# --- Learning to rank: labels and scores of one list at a time ------------------------------------

_SHUFFLED = Limit("tied", "Equal scores are shuffled.", order=True)


def _list_measures(ap: str, precision: str, recall: str, cut: str) -> tuple[Entry, ...]:
    """List the measures of Rax and its relatives, which append ``cut`` for a cutoff."""
    return (
        *name_both(ap, "AP(norm=R)", cut),
        Entry(precision, "P"),
        Entry(precision + cut, "P(norm=retrieved)@{k}"),
        *name_both(recall, "R", cut),
    )


def _list_catboost_gains(name: str, measure: str, choices: dict[str, str]) -> tuple[Entry, ...]:
    """List CatBoost's DCG or NDCG, whose parameters may stand in any order."""
    exponential = f"{measure}(gain=exp)"
    return (
        Entry(name, measure, choices, (f"{name}:type=Base",)),
        Entry(
            f"{name}:top={{k}}",
            f"{measure}@{{k}}",
            choices,
            (f"{name}:top={{k}};type=Base", f"{name}:type=Base;top={{k}}"),
        ),
        Entry(f"{name}:type=Exp", exponential, choices),
        Entry(
            f"{name}:top={{k}};type=Exp",
            f"{exponential}@{{k}}",
            choices,
            (f"{name}:type=Exp;top={{k}}",),
        ),
    )


LEARNING_TO_RANK = (
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
            Entry("ndcg@{k}-", "nDCG(gain=exp)@{k}", {"grades": "exact", "no_relevant": "zero"}),
            Entry("ndcg-", "nDCG(gain=exp)", {"grades": "exact", "no_relevant": "zero"}),
            Entry(
                "aucpr",
                "AUPR(rule=davis_goadrich)",
                {"ties": "grouped", "no_relevant": "nan", "all_relevant": "nan"},
            ),
        ),
        why=(
            "A query without relevant items counts as 1, or as 0 if the name ends with a minus."
            " aucpr interpolates as Davis and Goadrich do, and treats equal scores as one step."
            " It raises an error if all groups are empty, and for pre@ if any group is."
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
        measuring=(
            Entry("map@{k}", "AP(norm=possible)@{k}"),
            Entry("ndcg@{k}", "nDCG(gain=exp)@{k}"),
        ),
        why=(
            "A query without relevant items counts as 1. It raises an error if all groups are"
            " empty."
        ),
        source="src/metric/map_metric.hpp, rank_metric.hpp",
        sees="list",
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
            *_list_catboost_gains("NDCG", "nDCG", {"no_relevant": "one"}),
            *_list_catboost_gains("DCG", "DCG", {}),
        ),
        why=(
            "Among equal scores, irrelevant items come first. Without relevant items, MAP is 0, and"
            " recall and NDCG are 1."
        ),
        source="libs/metrics/precision_recall_at_k.cpp, dcg.cpp",
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
            "It divides by R or by the length of the list, whichever is less. A query without"
            " relevant items counts as 1, and so does one that has no relevant item within the"
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
        why="It divides AP by R whatever the cutoff.",
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
        why="It divides AP by all relevant items regardless of topn.",
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
            "It is a port of TensorFlow Ranking. An empty list has no weight in the mean; if"
            " there is no other list, the mean is 0."
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
        limits=(Limit("no_relevant", "It needs a label."),),
    ),
)


# --- scikit-learn, and models with its interface: LightFM, Spotlight, Surprise --------------------

_ANY_ORDER = {"ties": "given"}
_EMPTY = Limit("empty", "An empty sample is an error.")


def _name_ratings(name: str, measure: str) -> tuple[Entry, Entry]:
    """Name a measure of Surprise with its threshold, and as it is without one."""
    choices = {"min_score": "{rel}"}
    usual = measure.replace("{x}", "3.5")
    return (
        Entry(f"{name}(k={{k}},threshold={{x}})", measure, choices),
        Entry(f"{name}@{{k}}", usual, choices, (f"{name}(k={{k}})",)),
    )


SCIKIT_LEARN = (
    Dialect(
        "scikit-learn",
        tool="scikit-learn",
        version="1.9.1",
        judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
        measuring=(
            Entry("average_precision_score", "AP(norm=R)"),
            Entry("label_ranking_average_precision_score", "AP(norm=R)", {"no_relevant": "one"}),
            Entry("auc(precision_recall_curve)", "AUPR(rule=trapezoid)", {"no_relevant": "zero"}),
            *name_both("ndcg_score", "nDCG", "(k={k})", choices={"ties": "expected"}),
            *name_both("ndcg_score(ignore_ties=True)", "nDCG", "(k={k})", choices=_ANY_ORDER),
            *name_both("dcg_score", "DCG", "(k={k})", choices={"ties": "expected"}),
            *name_both("dcg_score(ignore_ties=True)", "DCG", "(k={k})", choices=_ANY_ORDER),
            *name_both(
                "dcg_score(log_base={base})",
                "DCG(base={base})",
                "(k={k})",
                choices={"ties": "expected"},
            ),
            Entry("top_k_accuracy_score", "Success@2", _ANY_ORDER),
            Entry("top_k_accuracy_score(k={k})", "Success@{k}", _ANY_ORDER),
            Entry("roc_auc_score", "AUROC", {"no_relevant": "nan"}),
            Entry("coverage_error", "LastRank"),
            Entry("label_ranking_loss", "RankingLoss"),
        ),
        why=(
            "Equal scores are one step of the curve, at the last rank of their group. Samples"
            " without a positive get 0, but 1 in label_ranking_average_precision_score."
        ),
        source="metrics/_ranking.py",
        limits=(
            Limit(
                "no_relevant",
                "Without relevant items, recall is taken to be 1.",
                only=("auc(precision_recall_curve)",),
            ),
            _EMPTY,
            Limit(
                "tied",
                "The sort does not keep the order of equal scores.",
                only=(
                    "ndcg_score(ignore_ties=True)",
                    "ndcg_score(ignore_ties=True,k={k})",
                    "dcg_score(ignore_ties=True)",
                    "dcg_score(ignore_ties=True,k={k})",
                    "top_k_accuracy_score",
                    "top_k_accuracy_score(k={k})",
                ),
                order=True,
            ),
        ),
        absent=(
            Absent(
                ("precision_recall_curve", "roc_curve", "det_curve"),
                "it is a curve, not a number; germane.pr_curve has precision and recall at every"
                " rank.",
            ),
            Absent(
                ("average_precision_score(average=micro)", "roc_auc_score(average=micro)"),
                "it ranks the items of all samples in one list; to do the same, put them into one"
                " query, with ids made of sample and item.",
            ),
        ),
        sees="list",
        aliases=("sklearn",),
    ),
    Dialect(
        "scikit-learn-0.18",
        tool="scikit-learn",
        version="0.18.2",
        judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
        averaging={"no_relevant": "nan"},
        measuring=(Entry("average_precision_score", "AUPR(rule=trapezoid)"),),
        why="Before version 0.19, it joined the points of the curve by straight lines.",
        source="metrics/ranking.py",
        limits=(_EMPTY,),
        sees="list",
        aliases=("sklearn-0.18",),
    ),
    Dialect(
        "lightfm",
        tool="LightFM",
        version="1.17",
        reading={"scores": "single"},
        judging={"ties": "worst", "missing": "skip"},
        measuring=(
            Entry("precision_at_k@{k}", "P@{k}"),
            Entry("recall_at_k@{k}", "R@{k}", {"no_relevant": "nan"}),
            Entry("reciprocal_rank", "RR", {"empty": "error"}),
        ),
        why=(
            "An item's rank is the number of items that score as much or more, so that ties"
            " count against it. This holds with preserve_rows=True; otherwise users without"
            " items to find are left out."
        ),
        source="evaluation.py",
        limits=(Limit("tied", "All items of a tie get its last rank."),),
    ),
    Dialect(
        "spotlight",
        tool="Spotlight",
        version="git 75f4c8c",
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("recall@{k}", "R@{k}"),
        ),
        why=(
            "Users without items to find are left out; precision divides by the number of items in"
            " the list."
        ),
        source="evaluation.py::precision_recall_score",
        limits=(Limit("tied", "The sort does not define the order of equal scores.", order=True),),
        unlike=(
            Homonym(
                "RR",
                "mrr_score",
                says="it is the mean of the reciprocal ranks of all relevant items",
            ),
        ),
    ),
    Dialect(
        "surprise",
        tool="Surprise, examples/precision_recall_at_k.py",
        version="git 2381fb1",
        judging=LISTS,
        measuring=(
            *_name_ratings("precision", "P(norm=retrieved,rel={x})@{k}"),
            *_name_ratings("recall", "R(rel={x})@{k}"),
        ),
        why=(
            "Its threshold, 3.5 by default, applies to both sides: a rating of at least that much"
            " is relevant, and an estimate of at least that much is recommended. A user without a"
            " recommended item has a precision of 0, and one without a relevant item a recall of"
            " 0; until April 2020 both were 1. It takes rows of ratings, so that no user has an"
            " empty list."
        ),
        source="examples/precision_recall_at_k.py",
        sees="list",
    ),
)
