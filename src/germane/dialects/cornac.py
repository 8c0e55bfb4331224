"""Cornac."""

from germane.dialects.dialect import Dialect, Foreign, Limit

CORNAC = Dialect(
    "cornac",
    tool="Cornac",
    version="3.0.1",
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("MAP", "AP(norm=R)", {"ties": "grouped", "no_relevant": "nan"}),
        Foreign("Precision@{k}", "P@{k}", {"no_relevant": "zero"}),
        Foreign("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
    ),
    why="MAP gives equal scores the last rank of their group, and looks at all items: no cutoff.",
    source="metrics/ranking.py::MAP.compute",
    limits=(
        Limit("no_relevant", "0/0 is NaN, or an error."),
        Limit("tied", "Top k of ties.", order=True),
    ),
)
