"""trectools."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TRECTOOLS = Dialect(
    "trectools",
    tool="trectools",
    version="0.0.50",
    reading={"duplicates": "again"},
    judging={"ties": "trec", "missing": "skip", "unknown": "zero", "empty": "missing"},
    averaging={"no_relevant": "nan", "undefined": "zero"},
    measuring=(
        Foreign("map", "AP(norm=R)"),
        Foreign("map@{k}", "AP(norm=R)@{k}"),
        Foreign("precision@{k}", "P@{k}", {"no_relevant": "zero"}),
        Foreign("recall@{k}", "R@{k}"),
        Foreign("bpref", "bpref", {"all_relevant": "zero"}),
        Foreign("rprec", "Rprec", {"no_hit": "nan"}),
        Foreign("reciprocal_rank", "RR", {"no_hit": "nan", "empty": "missing_if_some"}),
    ),
    why="Divides by the number of queries of the run, so that one that nobody judged counts as 0, "
    "and so does one whose value is NaN. bpref is 0 where nothing is judged not relevant.",
    source="trec_eval.py",
    limits=(
        Limit("unknown", "A query of the run that nobody judged is a KeyError.", only=("rprec",)),
        Limit("negative", "A grade below 0 gains, and is no relevant item.", only=("bpref",)),
    ),
)
