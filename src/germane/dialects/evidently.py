"""Evidently."""

from germane.dialects.dialect import Dialect, Foreign, Limit

EVIDENTLY = Dialect(
    "evidently",
    tool="Evidently",
    version="0.7.23",
    judging={"ties": "given", "missing": "skip", "empty": "missing", "short": "error_if_all"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("map@{k}", "AP(norm=R)@{k}"),
        Foreign("map_include_no_feedback@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
        Foreign("precision@{k}", "P(norm=retrieved)@{k}"),
        Foreign("recall@{k}", "R@{k}"),
    ),
    why="Sorted frames whose users have equally many rows agree with AP over R. Others do not: what "
    "counts as relevant at rank k is the label of the frame's last row within k, and a user with "
    "fewer than k items goes on adding precision, or is an error where no user has more. Precision and "
    "recall do not depend on the order of rows.",
    source="legacy/metrics/recsys/precision_recall_k.py",
    limits=(
        Limit(
            "unordered",
            "What is relevant at rank k is the label of the frame's last row within k: rows that do not "
            "stand in the order of their scores change it.",
            only=("map@{k}", "map_include_no_feedback@{k}"),
        ),
        Limit(
            "short", "A list shorter than k adds its last precision again at every further rank."
        ),
        Limit("tied", "Equal scores have the integer part of their mean rank, all of them."),
        Limit("uneven", "Users with lists of different lengths disturb each other."),
    ),
    sees="list",
)
