"""recometrics."""

from germane.dialects.dialect import Dialect, Foreign, Limit

_WITHIN = {"short": "nan"}  # of as many items as k all are among the first k

RECOMETRICS = Dialect(
    "recometrics",
    tool="recometrics",
    version="0.1.6",
    judging={"ties": "given", "missing": "skip", "empty": "missing", "short": "error"},
    averaging={"no_relevant": "nan", "all_relevant": "nan", "constant": "nan"},
    measuring=(
        Foreign("AP@K(k={k})", "AP(norm=R)@{k}"),
        Foreign("TAP@K(k={k})", "AP@{k}"),
        Foreign("P@K(k={k})", "P@{k}", _WITHIN),
        Foreign("R@K(k={k})", "R@{k}", _WITHIN),
        Foreign("TP@K(k={k})", "R(norm=min)@{k}", _WITHIN),
        Foreign("Hit@K(k={k})", "Success@{k}", _WITHIN),
        Foreign("RR@K(k={k})", "RR@{k}"),
        Foreign("NDCG@K(k={k})", "nDCG@{k}", {"all_relevant": "answer"}),
        Foreign("PR_AUC", "AP(norm=R)"),
    ),
    why="Has both: AP@K over R, and the truncated TAP@K over min(R,K). P@K divides by K, TP@K by "
    "min(R,K). Where every item is relevant, or all scores are equal, nothing can be "
    "ranked: NaN, and so is what looks at no order where there are only K items. Fewer are an error.",
    source="src/recometrics.hpp",
    limits=(
        Limit(
            "tied",
            "Ties are broken by noise unless told otherwise; where the first K scores are equal, and no AUC "
            "is asked for beside, it is NaN.",
        ),
        Limit("all_relevant", "NaN, or with noise 1.", only=("NDCG@K(k={k})",)),
        Limit(
            "all_within",
            "Of K items that are all relevant it is a number.",
            only=("AP@K(k={k})", "TAP@K(k={k})", "RR@K(k={k})"),
        ),
        Limit(
            "short",
            "The K of the other metrics may not be above the number of items.",
            only=("PR_AUC",),
        ),
        Limit("no_relevant", "A matrix without any relevant item is a ValueError."),
    ),
)
