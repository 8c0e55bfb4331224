"""recometrics."""

from germane.dialects.dialect import Dialect, Foreign, Limit

RECOMETRICS = Dialect(
    "recometrics",
    tool="recometrics",
    version="0.1.6",
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "nan", "all_relevant": "nan"},
    measuring=(
        Foreign("AP@K(k={k})", "AP(norm=R)@{k}"),
        Foreign("TAP@K(k={k})", "AP@{k}"),
        Foreign("P@K(k={k})", "P@{k}"),
        Foreign("R@K(k={k})", "R@{k}"),
        Foreign("TP@K(k={k})", "R(norm=min)@{k}"),
        Foreign("Hit@K(k={k})", "Success@{k}"),
        Foreign("RR@K(k={k})", "RR@{k}"),
        Foreign("NDCG@K(k={k})", "nDCG@{k}", {"all_relevant": "answer"}),
        Foreign("PR_AUC", "AP(norm=R)"),
    ),
    why="Has both: AP@K over R, and the truncated TAP@K over min(R,K). P@K divides by K, TP@K by "
    "min(R,K). Where every item is relevant, nothing can be ranked: NaN.",
    source="src/recometrics.hpp",
    limits=(
        Limit("tied", "Ties are broken by noise unless told otherwise; all equal scores are NaN."),
        Limit("all_relevant", "NaN, or with noise 1.", only=("NDCG@K(k={k})",)),
        Limit("small", "K must be smaller than the number of items."),
        Limit("no_relevant", "A matrix without any relevant item is a ValueError."),
    ),
)
