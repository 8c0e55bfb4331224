"""Landmarks: revisited Oxford and Paris, and INQUIRE."""

from germane.dialects.dialect import Dialect, Foreign, Limit

REVISITOP = Dialect(
    "revisitop",
    tool="revisited Oxford and Paris",
    version="git be39832",
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "skip", "no_hit": "error"},
    measuring=(
        Foreign("compute_map", "AUPR(rule=trapezoid)"),
        Foreign("compute_ap", "AUPR(rule=trapezoid)"),
        Foreign("mP@{k}", "P@{k}", {"no_hit": "zero"}),
    ),
    why="AP is the area under straight lines between the precisions before and at each relevant "
    "image, beginning with precision 1. Junk images must be taken out before. A "
    "query of which nothing was found is an error.",
    source="python/evaluate.py::compute_ap",
    limits=(
        Limit("tied", "The order of equal scores is that of the ranks it is given.", order=True),
        Limit("no_relevant", "No query with a match: NaN or a ZeroDivisionError."),
        Limit("early", "k is cut to the rank of the last relevant image.", only=("mP@{k}",)),
    ),
)

INQUIRE = Dialect(
    "inquire",
    tool="INQUIRE",
    version="git 7e04857",
    judging={"ties": "given", "missing": "skip"},
    averaging={"no_relevant": "nan"},
    measuring=(Foreign("ap_at_k@{k}", "AP@{k}"),),
    why="scikit-learn's AP of the first k, rescaled to min(R,k).",
    source="src/metrics.py::ap_at_k",
    limits=(
        Limit("tied", "Equal scores among the first k are one step."),
        Limit("no_relevant", "0/0."),
    ),
)
