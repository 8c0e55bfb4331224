"""Microsoft recommenders."""

from germane.dialects.dialect import Dialect, Foreign, Limit

RECOMMENDERS = Dialect(
    "recommenders",
    tool="Microsoft recommenders",
    version="1.2.1",
    reading={"duplicates": "again", "repeated": "once", "grades": "ones"},
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "skip", "undefined": "zero"},
    measuring=(
        Foreign("map_at_k@{k}", "AP@{k}"),
        Foreign("map@{k}", "AP(norm=R)@{k}"),
        Foreign("precision_at_k@{k}", "P@{k}"),
        Foreign("recall_at_k@{k}", "R@{k}"),
        Foreign("ndcg_at_k@{k}", "nDCG@{k}", {"missing": "zero", "empty": "answer"}),
        Foreign("r_precision_at_k@{k}", "Rprec", {"no_hit": "skip", "undefined": "nan"}),
    ),
    why="Users count who are in both frames. Both cut the list at k (10 unless told otherwise), but "
    "map divides by R and map_at_k by min(R,k).",
    source="evaluation/python_evaluation.py",
    limits=(
        Limit("shallow", "Ranks beyond k are not looked at.", only=("r_precision_at_k@{k}",)),
        Limit("missed", "0 where no user has a hit in k.", only=("r_precision_at_k@{k}",)),
        Limit("repeated", "Joined rows count a copy on either side."),
        Limit("empty", "A user who is in one frame only has 0 alone, and no part in a mean."),
    ),
)
