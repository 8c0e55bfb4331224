"""PyTorch Geometric."""

from germane.dialects.dialect import Dialect, Foreign

TORCH_GEOMETRIC = Dialect(
    "torch-geometric",
    tool="PyTorch Geometric",
    version="2.8.1",
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "skip", "undefined": "zero"},
    measuring=(
        Foreign("LinkPredMAP(k={k})", "AP@{k}"),
        Foreign("LinkPredPrecision(k={k})", "P@{k}"),
        Foreign("LinkPredRecall(k={k})", "R@{k}"),
    ),
    why="Nodes without links to find do not enter the mean, which is 0 where that leaves none.",
    source="metrics/link_pred.py",
)
