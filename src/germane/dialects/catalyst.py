"""Catalyst."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

CATALYST = Dialect(
    "catalyst",
    tool="Catalyst",
    version="git e99f906",
    reading={"scores": "single"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("average_precision(k={k})", "AP(norm=found)@{k}"),
        Foreign("binary_average_precision", "AP(norm=found)"),
    ),
    why="Divides by the relevant items found.",
    source="metrics/functional/_average_precision.py",
    limits=(Limit("tied", "torch.sort leaves the order of equal scores open.", order=True),),
    sees="list",
    unlike=(
        Unlike("nDCG", "ndcg", "nDCG(gain=exp)"),
        Unlike("DCG", "dcg", "DCG(gain=exp)"),
        Unlike(
            "Success",
            "hitrate",
            says="it is the share of the relevant items that are among the first k, which is R@k",
        ),
    ),
)
