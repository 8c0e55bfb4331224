"""Person re-identification: torchreid."""

from germane.dialects.dialect import Dialect, Foreign, Limit

TORCHREID = Dialect(
    "torchreid",
    tool="torchreid (deep-person-reid)",
    version="git f8cd150",
    judging={"ties": "given", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "skip"},
    measuring=(Foreign("mAP", "AP(norm=R)"),),
    why="AP over the whole gallery. Queries without a match are left out.",
    source="metrics/rank.py::eval_market1501",
    limits=(
        Limit("tied", "The sort leaves the order of equal distances open.", order=True),
        Limit("no_relevant", "No query with a match: an AssertionError."),
    ),
)
