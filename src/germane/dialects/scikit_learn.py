"""scikit-learn, and models with its interface: LightFM, Spotlight, Surprise."""

from germane.dialects.dialect import LISTS, Absent, Dialect, Entry, Homonym, Limit, name_both

_ANY_ORDER = {"ties": "given"}
_EMPTY = Limit("empty", "An empty sample is an error.")


def _name_ratings(name: str, measure: str) -> tuple[Entry, Entry]:
    """Name a measure of Surprise with its threshold, and as it is without one."""
    choices = {"min_score": "{rel}"}
    usual = measure.replace("{x}", "3.5")
    return (
        Entry(f"{name}(k={{k}},threshold={{x}})", measure, choices),
        Entry(f"{name}@{{k}}", usual, choices, (f"{name}(k={{k}})",)),
    )


DIALECTS = (
    Dialect(
        "scikit-learn",
        tool="scikit-learn",
        version="1.9.1",
        judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
        measuring=(
            Entry("average_precision_score", "AP(norm=R)"),
            Entry("label_ranking_average_precision_score", "AP(norm=R)", {"no_relevant": "one"}),
            Entry("auc(precision_recall_curve)", "AUPR(rule=trapezoid)", {"no_relevant": "zero"}),
            *name_both("ndcg_score", "nDCG", "(k={k})", choices={"ties": "expected"}),
            *name_both("ndcg_score(ignore_ties=True)", "nDCG", "(k={k})", choices=_ANY_ORDER),
            *name_both("dcg_score", "DCG", "(k={k})", choices={"ties": "expected"}),
            *name_both("dcg_score(ignore_ties=True)", "DCG", "(k={k})", choices=_ANY_ORDER),
            *name_both(
                "dcg_score(log_base={base})",
                "DCG(base={base})",
                "(k={k})",
                choices={"ties": "expected"},
            ),
            Entry("top_k_accuracy_score", "Success@2", _ANY_ORDER),
            Entry("top_k_accuracy_score(k={k})", "Success@{k}", _ANY_ORDER),
            Entry("roc_auc_score", "AUROC", {"no_relevant": "nan"}),
            Entry("coverage_error", "LastRank"),
            Entry("label_ranking_loss", "RankingLoss"),
        ),
        why=(
            "Equal scores are one step of the curve, at the last rank of their group. Samples"
            " without a positive have 0, but 1 in label_ranking_average_precision_score."
        ),
        source="metrics/_ranking.py",
        limits=(
            Limit("no_relevant", "Recall is taken for 1.", only=("auc(precision_recall_curve)",)),
            _EMPTY,
            Limit(
                "tied",
                "Equal scores are sorted without regard to their order.",
                only=(
                    "ndcg_score(ignore_ties=True)",
                    "ndcg_score(ignore_ties=True,k={k})",
                    "dcg_score(ignore_ties=True)",
                    "dcg_score(ignore_ties=True,k={k})",
                    "top_k_accuracy_score",
                    "top_k_accuracy_score(k={k})",
                ),
                order=True,
            ),
        ),
        absent=(
            Absent(
                ("precision_recall_curve", "roc_curve", "det_curve"),
                "it is a curve, not a number; germane.pr_curve has precision and recall at every"
                " rank.",
            ),
            Absent(
                ("average_precision_score(average=micro)", "roc_auc_score(average=micro)"),
                "it ranks the items of all samples in one list: give them one query, and ids of"
                " sample and item.",
            ),
        ),
        sees="list",
        aliases=("sklearn",),
    ),
    Dialect(
        "scikit-learn-0.18",
        tool="scikit-learn",
        version="0.18.2",
        judging={"ties": "grouped", "missing": "skip", "empty": "missing"},
        averaging={"no_relevant": "nan"},
        measuring=(Entry("average_precision_score", "AUPR(rule=trapezoid)"),),
        why="Joined the points of the curve by straight lines, until version 0.19.",
        source="metrics/ranking.py",
        limits=(_EMPTY,),
        sees="list",
        aliases=("sklearn-0.18",),
    ),
    Dialect(
        "lightfm",
        tool="LightFM",
        version="1.17",
        reading={"scores": "single"},
        judging={"ties": "worst", "missing": "skip"},
        measuring=(
            Entry("precision_at_k@{k}", "P@{k}"),
            Entry("recall_at_k@{k}", "R@{k}", {"no_relevant": "nan"}),
            Entry("reciprocal_rank", "RR", {"empty": "error"}),
        ),
        why=(
            "An item's rank is the number of items that score as much or more: ties count against"
            " it. As with preserve_rows=True; else users without items to find are left out."
        ),
        source="evaluation.py",
        limits=(Limit("tied", "All items of a tie have its last rank."),),
    ),
    Dialect(
        "spotlight",
        tool="Spotlight",
        version="git 75f4c8c",
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("recall@{k}", "R@{k}"),
        ),
        why="Users without items to find are left out; precision divides by the items there are.",
        source="evaluation.py::precision_recall_score",
        limits=(Limit("tied", "The sort does not define the order of equal scores.", order=True),),
        unlike=(
            Homonym(
                "RR",
                "mrr_score",
                says="it is the mean of the reciprocal ranks of all relevant items",
            ),
        ),
    ),
    Dialect(
        "surprise",
        tool="Surprise, examples/precision_recall_at_k.py",
        version="git 2381fb1",
        judging=LISTS,
        measuring=(
            *_name_ratings("precision", "P(norm=retrieved,rel={x})@{k}"),
            *_name_ratings("recall", "R(rel={x})@{k}"),
        ),
        why=(
            "Its threshold, 3.5 unless told otherwise, holds on both sides: a rating of at least"
            " that much is relevant, and an estimate of at least that much is recommended. A user"
            " without a recommended item has a precision of 0, and without a relevant one a recall"
            " of 0; until April 2020 both were 1. It is given rows of ratings, so that no user has"
            " an empty list."
        ),
        source="examples/precision_recall_at_k.py",
        sees="list",
    ),
)
