"""PyTorch Geometric."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TORCH_GEOMETRIC = Dialect(
    "torch-geometric",
    tool="PyTorch Geometric",
    version="2.8.1",
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Foreign("LinkPredMAP(k={k})", "AP@{k}"),
        Foreign("LinkPredPrecision(k={k})", "P@{k}"),
        Foreign("LinkPredRecall(k={k})", "R@{k}"),
    ),
    why="Nodes without links to find do not enter the mean.",
    source="metrics/link_pred.py",
    limits=(Limit("no_relevant", "Where no node has a link to find, the mean is 0."),),
)
