"""Elliot."""

from germane.dialects.dialect import Dialect, Foreign, Unlike

ELLIOT = Dialect(
    "elliot",
    tool="Elliot",
    version="git fc27efe",
    reading={"duplicates": "again", "repeated": "each"},
    judging={"ties": "given", "missing": "skip"},
    measuring=(
        Foreign("MAP@{k}", "MeanP@{k}"),
        Foreign("MAR@{k}", "MeanR@{k}", {"no_relevant": "error"}),
    ),
    why="What it calls MAP is the mean of P@1 … P@k, ranks without a hit included: a single relevant "
    "item at rank 1 has 0.457 at k=5, not 1.",
    source="evaluation/metrics/accuracy/map/map.py::__user_ap",
    unlike=(Unlike("nDCG", "nDCG", "nDCG(gain=exp)"),),
)

MEAN_OF_PRECISIONS = Dialect(
    "mean-of-precisions",
    tool="the mean of P@1 … P@k",
    version="a common mistake",
    judging={"ties": "given"},
    measuring=(Foreign("map@{k}", "MeanP@{k}"), Foreign("apk@{k}", "MeanP@{k}")),
    why="Takes precision at every rank, not only at those with a relevant item. This is not AP.",
    source="answers on the web, and code that copies them",
)
