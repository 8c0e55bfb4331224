"""Metrics for PyTorch: torchmetrics, TorchEval, Catalyst."""

from collections.abc import Mapping
from typing import Any

from germane.dialects.dialect import LISTS, Absent, Dialect, Entry, Homonym, Limit, name_both

_TOPK = Limit("tied", "torch.topk does not define the order of equal scores.", order=True)
_SORTED = Limit(
    "tied",
    "torch.topk does not define the order of equal scores, and beside other queries it may be"
    " another one.",
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


DIALECTS = (
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
            "RetrievalMAP averages over the relevant items found. A relevant item with a score of 0"
            " or less is taken for not relevant, in MAP, precision, recall and MRR. Queries without"
            " relevant items count as empty_target_action says: neg is no_relevant=zero, pos is"
            " one, skip and error. But a list without relevant items within k, or with no others,"
            " has a RetrievalAUROC of 0. The classes sort all results by query with torch.sort,"
            " which is not stable: equal scores of a query may have one order alone and another"
            " beside other queries, and then another value, too."
        ),
        source="functional/retrieval/average_precision.py",
        limits=(
            _SORTED,
            Limit(
                "tied",
                "A pair of equal scores among the first k counts half. If one of them is outside"
                " 0…1, the logistic function in single precision makes more of them equal: all"
                " above 17.",
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
                "it reads one number from the mean curve of all queries;"
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
        why="binary_auprc takes equal scores as one step.",
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
        why="Divides by the relevant items found.",
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
