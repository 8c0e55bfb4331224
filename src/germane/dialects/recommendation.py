"""Recommendation: LightFM, Spotlight, Surprise."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

LIGHTFM = Dialect(
    "lightfm",
    tool="LightFM",
    version="1.17",
    reading={"scores": "single"},
    judging={"ties": "worst", "missing": "skip"},
    measuring=(
        Foreign("precision_at_k@{k}", "P@{k}"),
        Foreign("recall_at_k@{k}", "R@{k}", {"no_relevant": "nan"}),
        Foreign("reciprocal_rank", "RR", {"empty": "error"}),
    ),
    why="An item's rank is the number of items that score as much or more: ties count against it. As with preserve_rows=True; else users "
    "without items to find are left out.",
    source="evaluation.py",
    limits=(Limit("tied", "All items of a tie have its last rank."),),
)

SPOTLIGHT = Dialect(
    "spotlight",
    tool="Spotlight",
    version="git 75f4c8c",
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("precision@{k}", "P(norm=retrieved)@{k}"),
        Foreign("recall@{k}", "R@{k}"),
    ),
    why="Users without items to find are left out; precision divides by the items there are.",
    source="evaluation.py::precision_recall_score",
    limits=(Limit("tied", "The sort leaves the order of equal scores open.", order=True),),
    unlike=(
        Unlike(
            "RR", "mrr_score", says="it is the mean of the reciprocal ranks of all relevant items"
        ),
    ),
)

SURPRISE = Dialect(
    "surprise",
    tool="Surprise, examples/precision_recall_at_k.py",
    version="git 2381fb1",
    judging={"ties": "given", "missing": "skip", "threshold": 3.5},
    measuring=(
        Foreign("precision@{k}", "P(norm=retrieved)@{k}"),
        Foreign("recall@{k}", "R@{k}"),
    ),
    why="Only items with an estimate of at least 3.5 (threshold) count as recommended.",
    source="examples/precision_recall_at_k.py",
    limits=(Limit("empty", "A user without any rating has no value."),),
    sees="list",
)
