"""trectools."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TRECTOOLS = Dialect(
    "trectools",
    tool="trectools",
    version="0.0.50",
    reading={"duplicates": "again"},
    judging={"ties": "trec", "missing": "skip", "unknown": "zero", "empty": "missing"},
    measuring=(
        Foreign("map", "AP(norm=R)"),
        Foreign("map@{k}", "AP(norm=R)@{k}"),
        Foreign("precision@{k}", "P@{k}"),
        Foreign("recall@{k}", "R@{k}"),
        Foreign("bpref", "bpref"),
        Foreign("rprec", "Rprec"),
        Foreign("reciprocal_rank", "RR"),
    ),
    why="Divides by the number of queries of the run, so that one that nobody judged counts as 0.",
    source="trec_eval.py",
    limits=(
        Limit("no_relevant", "Per query such values are NaN or absent; the mean takes them as 0."),
        Limit("unknown", "A query of the run that nobody judged is a KeyError.", only=("rprec",)),
        Limit(
            "other",
            "Without a hit a query is NaN, which the mean takes as 0.",
            only=("rprec", "reciprocal_rank"),
        ),
        Limit("other", "Computed otherwise where R exceeds the nonrelevant.", only=("bpref",)),
    ),
)
