"""scikit-learn."""

from germane.dialects.dialect import Dialect, Foreign, Limit

SCIKIT_LEARN = Dialect(
    "scikit-learn",
    tool="scikit-learn",
    version="1.9.1",
    judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
    measuring=(
        Foreign("average_precision_score", "AP(norm=R)"),
        Foreign("label_ranking_average_precision_score", "AP(norm=R)", {"no_relevant": "one"}),
        Foreign("auc(precision_recall_curve)", "AUPR(rule=trapezoid)", {"no_relevant": "zero"}),
        Foreign("ndcg_score", "nDCG", {"ties": "expected"}),
        Foreign("ndcg_score(k={k})", "nDCG@{k}", {"ties": "expected"}),
    ),
    why="Equal scores are one step of the curve, at the last rank of their group. Samples without a "
    "positive have 0, but 1 in label_ranking_average_precision_score.",
    source="metrics/_ranking.py",
    limits=(
        Limit("no_relevant", "Recall is taken for 1.", only=("auc(precision_recall_curve)",)),
        Limit("empty", "An empty sample is an error."),
    ),
    sees="list",
)

SCIKIT_LEARN_0_18 = Dialect(
    "scikit-learn-0.18",
    tool="scikit-learn",
    version="0.18.2",
    judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
    averaging={"no_relevant": "nan"},
    measuring=(Foreign("average_precision_score", "AUPR(rule=trapezoid)"),),
    why="Joined the points of the curve by straight lines, until version 0.19.",
    source="metrics/ranking.py",
    limits=(Limit("empty", "An empty sample is an error."),),
    sees="list",
)
