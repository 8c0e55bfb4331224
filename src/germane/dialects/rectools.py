"""RecTools."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

_NUMERIC = {"empty": "error_if_all"}  # MAP rounds ranks, and a frame without rows has no numbers

RECTOOLS = Dialect(
    "rectools",
    tool="RecTools",
    version="0.19.0",
    reading={"duplicates": "again", "repeated": "once"},
    judging={"ties": "given", "missing": "zero"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("MAP(k={k})", "AP(norm=R)@{k}", _NUMERIC),
        Foreign("MAP(k={k},divide_by_k=True)", "AP(norm=k)@{k}", _NUMERIC),
        Foreign("Precision(k={k})", "P@{k}"),
        Foreign("Recall(k={k})", "R@{k}"),
        Foreign("Precision(k={k},r_precision=True)", "R(norm=min)@{k}"),
        Foreign("MRR(k={k})", "RR@{k}"),
    ),
    why="Users are those with interactions, so that none is without relevant items and a missing "
    "recommendation counts as 0. MAP divides by R, or by k when asked, and is a TypeError for a frame without any row.",
    source="metrics/ranking.py::MAP",
    limits=(Limit("repeated", "Copies are joined row by row, on both sides."),),
    unlike=(
        Unlike(
            "nDCG", "NDCG", says="it divides by the DCG of k relevant items, however many there are"
        ),
    ),
)
