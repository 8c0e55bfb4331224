"""torchmetrics."""

from germane.dialects.dialect import Dialect, Foreign, Limit

_UNMASKED = {"nonpositive": "hit"}
_GRADED = {"nonpositive": "hit", "ties": "expected", "grades": "exact"}
_CURVE = {
    "nonpositive": "hit",
    "ties": "grouped",
    "scores": "sigmoid",
}

TORCHMETRICS = Dialect(
    "torchmetrics",
    tool="torchmetrics",
    version="1.9.0",
    reading={"scores": "single", "grades": "binary"},
    judging={"ties": "given", "missing": "skip", "empty": "missing", "nonpositive": "miss"},
    averaging={"undefined": "zero"},
    measuring=(
        Foreign("RetrievalMAP", "AP(norm=found)"),
        Foreign("RetrievalMAP(top_k={k})", "AP(norm=found)@{k}"),
        Foreign("RetrievalPrecision", "P"),
        Foreign("RetrievalPrecision(top_k={k})", "P@{k}"),
        Foreign("RetrievalPrecision(top_k={k},adaptive_k=True)", "P(norm=retrieved)@{k}"),
        Foreign("RetrievalRecall", "R"),
        Foreign("RetrievalRecall(top_k={k})", "R@{k}"),
        Foreign("RetrievalMRR", "RR"),
        Foreign("RetrievalMRR(top_k={k})", "RR@{k}"),
        Foreign("RetrievalHitRate", "Success", _UNMASKED),
        Foreign("RetrievalHitRate(top_k={k})", "Success@{k}", _UNMASKED),
        Foreign("RetrievalRPrecision", "Rprec", _UNMASKED),
        Foreign("RetrievalNormalizedDCG", "nDCG", _GRADED),
        Foreign(
            "RetrievalNormalizedDCG(top_k={k})",
            "nDCG@{k}",
            _GRADED,
        ),
        Foreign("BinaryAveragePrecision", "AP(norm=R)", _CURVE),
        Foreign(
            "multilabel_ranking_average_precision",
            "AP(norm=R)",
            {"nonpositive": "hit", "ties": "grouped", "no_relevant": "one"},
        ),
    ),
    why="RetrievalMAP averages over the relevant items found. A relevant item with a score of 0 or "
    "less is taken for not relevant, in MAP, precision, recall and MRR. Queries without relevant "
    "items count as empty_target_action says: neg is no_relevant=zero, pos is one, skip and error.",
    source="functional/retrieval/average_precision.py",
    limits=(Limit("tied", "torch.topk leaves the order of equal scores open.", order=True),),
    sees="list",
)
