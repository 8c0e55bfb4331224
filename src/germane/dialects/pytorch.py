"""Metrics for PyTorch: torchmetrics, TorchEval, Catalyst."""

from germane.dialects.dialect import LISTS, Dialect, Entry, Homonym, Limit, name_both

_TOPK = Limit("tied", "torch.topk leaves the order of equal scores open.", order=True)
_UNMASKED = {"nonpositive": "hit"}
_GRADED = {"nonpositive": "hit", "ties": "expected", "grades": "exact"}
_CURVE = {"nonpositive": "hit", "ties": "grouped", "scores": "sigmoid"}

DIALECTS = (
    Dialect(
        "torchmetrics",
        tool="torchmetrics",
        version="1.9.0",
        reading={"scores": "single", "grades": "binary"},
        judging={**LISTS, "empty": "missing", "nonpositive": "miss"},
        averaging={"undefined": "zero"},
        measuring=(
            *name_both("RetrievalMAP", "AP(norm=found)", "(top_k={k})"),
            *name_both("RetrievalPrecision", "P", "(top_k={k})"),
            Entry("RetrievalPrecision(top_k={k},adaptive_k=True)", "P(norm=retrieved)@{k}"),
            *name_both("RetrievalRecall", "R", "(top_k={k})"),
            *name_both("RetrievalMRR", "RR", "(top_k={k})"),
            *name_both("RetrievalHitRate", "Success", "(top_k={k})", choices=_UNMASKED),
            Entry("RetrievalRPrecision", "Rprec", _UNMASKED),
            *name_both("RetrievalNormalizedDCG", "nDCG", "(top_k={k})", choices=_GRADED),
            Entry("BinaryAveragePrecision", "AP(norm=R)", _CURVE),
            Entry(
                "multilabel_ranking_average_precision",
                "AP(norm=R)",
                {"nonpositive": "hit", "ties": "grouped", "no_relevant": "one"},
            ),
        ),
        why="RetrievalMAP averages over the relevant items found. A relevant item with a score of 0 or "
        "less is taken for not relevant, in MAP, precision, recall and MRR. Queries without relevant "
        "items count as empty_target_action says: neg is no_relevant=zero, pos is one, skip and error.",
        source="functional/retrieval/average_precision.py",
        limits=(_TOPK,),
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
        limits=(Limit("tied", "torch.sort leaves the order of equal scores open.", order=True),),
        sees="list",
        unlike=(
            Homonym("nDCG", "ndcg", "nDCG(gain=exp)"),
            Homonym("DCG", "dcg", "DCG(gain=exp)"),
            Homonym(
                "Success",
                "hitrate",
                says="it is the share of the relevant items that are among the first k, which is R@k",
            ),
        ),
    ),
)
