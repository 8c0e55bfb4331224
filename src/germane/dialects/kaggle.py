"""The notebook on MAP for the H&M competition."""

from germane.dialects.dialect import Dialect, Foreign, Limit

KAGGLE_NOTEBOOK = Dialect(
    "kaggle-notebook",
    tool="Kaggle notebook 'understanding-mean-average-precision' (H&M)",
    version="2022",
    reading={"duplicates": "error", "repeated": "once"},
    judging={"ties": "given", "missing": "skip", "empty": "error", "short": "error"},
    averaging={"no_relevant": "error"},
    measuring=(Foreign("mapk@{k}", "AP@{k}"), Foreign("apk@{k}", "AP@{k}")),
    why="AP@k over min(R,k), but a list shorter than k is an IndexError.",
    source="average_precision_at_k",
    limits=(Limit("repeated", "Copies are hits at their ranks but not in P@i: AP can be 1.083."),),
)
