"""Recommendation: lists of items for users, held against the items that they took."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from germane.dialects.dialect import (
    CATALOG,
    COPIES_COUNT,
    LISTS,
    RATINGS,
    UNGRADED,
    Absent,
    Dialect,
    Entry,
    Homonym,
    Limit,
    name_both,
)

RECOMMENDERS = (
    Entry("novelty@{k}", "Novelty(seen=interactions,unseen=zero,mean=micro)@{k}"),
    Entry("catalog_coverage@{k}", "Coverage(norm=seen)@{k}"),
    Entry("distributional_coverage@{k}", "Entropy@{k}"),
    Entry("diversity@{k}", "ILD(single=drop)@{k}"),
    Entry("serendipity@{k}", "Serendipity(against=history,relevant=all)@{k}"),
)

RECTOOLS_MEASURES = (
    Entry("CatalogCoverage(k={k},normalize=True)", "Coverage@{k}"),
    Entry("CatalogCoverage(k={k})", "Coverage(norm=none)@{k}"),
    Entry("MeanInvUserFreq(k={k})", "Novelty@{k}"),
    Entry("AvgRecPopularity(k={k})", "ARP(seen=interactions)@{k}"),
    Entry("AvgRecPopularity(k={k},normalize=True)", "ARP(seen=interactions,norm=total)@{k}"),
    Entry("IntraListDiversity(k={k})", "ILD@{k}"),
    Entry("Serendipity(k={k})", "Serendipity@{k}"),
)

RECBOLE = (
    Entry("GiniIndex@{k}", "Gini@{k}"),
    Entry("ShannonEntropy@{k}", "Entropy(base=e,norm=recommended)@{k}"),
    Entry("ItemCoverage@{k}", "Coverage@{k}"),
    Entry("AveragePopularity@{k}", "ARP(seen=interactions)@{k}"),
    Entry("TailPercentage@{k}", "TailShare(tail=0.1)@{k}"),
)

LENSKIT = (
    *name_both("ListGini", "Gini", "(n={k})"),
    *name_both("MeanPopRank", "ARP(norm=rank)", "(n={k})"),
)

EVIDENTLY = (
    Entry("novelty@{k}", "Novelty(unseen=drop)@{k}"),
    Entry("arp@{k}", "ARP(unseen=drop)@{k}"),
    Entry("arp_normalized@{k}", "ARP(norm=max,unseen=drop)@{k}"),
    Entry("gini@{k}", "Gini(over=recommended,norm=n-1)@{k}"),
    Entry("coverage@{k}", "Coverage(norm=seen,unseen=drop)@{k}"),
    Entry("personalization@{k}", "Personalization(norm=k)@{k}"),
    Entry("diversity@{k}", "ILD(norm=found)@{k}"),
)

ELLIOT = (
    Entry("Gini@{k}", "Gini(sign=equal,norm=n-1)@{k}"),
    Entry("SEntropy@{k}", "Entropy(lists=mean)@{k}"),
    Entry("ItemCoverage@{k}", "Coverage(norm=none)@{k}"),
    Entry("ARP@{k}", "ARP@{k}"),
)


# --- LensKit: metrics as they are made, NDCG(n=10), and as they are labeled, NDCG@10 --------------

_GRADED = ("NDCG(gain='rating')", "NDCG(gain='rating',n={k})")
_GRADED_DCG = ("DCG(gain='rating')", "DCG(gain='rating',n={k})")


def _name(name: str, measure: str, choices: Mapping[str, Any] | None = None) -> tuple[Entry, Entry]:
    """Name a metric of LensKit: as it is made, NDCG(n=10), and as it is labeled, NDCG@10."""
    uncut, cut = name_both(name, measure, "(n={k})", choices)
    return uncut, replace(cut, also=(f"{name}@{{k}}",))


def _list_measures(
    no_items: Mapping[str, str], no_list: Mapping[str, str], *, gainless: Mapping[str, str]
) -> Iterator[Entry]:
    """List the metrics of a version by what is NaN there, and what is done with NaN.

    ``no_items`` is for users without items, ``no_list`` for empty lists, and ``gainless`` for users
    none of whose items has a gain.
    """
    yield from _name("AveragePrecision", "AP(norm=possible)", {"no_relevant": "error", **no_list})
    yield Entry("Precision", "P", no_list)
    yield Entry("Precision(n={k})", "P(norm=retrieved)@{k}", no_list, ("Precision@{k}",))
    yield Entry("Recall", "R", no_items)
    yield Entry("Recall(n={k})", "R(norm=min)@{k}", no_items, ("Recall@{k}",))
    yield from _name("RecipRank", "RR", no_items)
    yield from _name("Hit", "Success", no_items)
    yield from _name("NDCG", "nDCG(discount=jarvelin)", {**no_items, **UNGRADED})
    yield from name_both(_GRADED[0], "nDCG(discount=jarvelin)", "(n={k})", gainless)
    yield from _name("RBP", "RBP(p=0.85)", no_items)
    yield from name_both("RBP(patience={p})", "RBP(p={p})", "(n={k})", no_items)
    choices = {**no_items, "empty": "error"}
    for options, p in (("normalize=True", "0.85"), ("patience={p},normalize=True", "{p}")):
        yield from name_both(f"RBP({options})", f"RBP(p={p},norm=possible)", "(n={k})", choices)


_NAN = {"no_relevant": "nan"}
_LEFT_OUT = {"no_relevant": "skip"}
_DCG = "DCG(discount=jarvelin)"
_LENSKIT = Dialect(
    "lenskit-2026.4",
    tool="LensKit",
    version="2026.4.0",
    reading={**COPIES_COUNT, "repeated": "each"},
    judging=LISTS,
    measuring=(
        *_list_measures(_LEFT_OUT, {"empty": "missing"}, gainless={}),
        *_name("DCG", _DCG, {**_LEFT_OUT, **UNGRADED}),
        *name_both(_GRADED_DCG[0], _DCG, "(n={k})"),
        Entry("ListLength", "Utility(noise=1)"),
        Entry("UniqueItemCount", "Coverage(norm=none)"),
        *LENSKIT,
    ),
    why=(
        "The discount of NDCG and DCG is log2 of the rank, but at least 1, so that ranks 1 and 2"
        " weigh the same. AP divides by R or by the length of the list, whichever is less, so that"
        " a short list is rewarded. A user without items gives NaN (in AP, an error), and so does"
        " an empty list in AP and precision; the mean leaves NaN out. NDCG is 0 if no item has a"
        " gain above 0."
    ),
    source="metrics/ranking/_map.py",
    limits=(
        Limit(
            "no_relevant",
            "A user without any items (not only without a gain) gives NaN and is left out.",
            only=_GRADED + _GRADED_DCG,
        ),
    ),
    absent=(
        Absent(("RMSE", "MAE"), RATINGS),
        Absent(("ExposureGini", "Entropy", "RankBiasedEntropy", "ILS"), CATALOG),
        Absent(
            ("rank_biased_overlap", "least_item_promoted"),
            "it compares two rankings; germane.rbo measures rank-biased overlap.",
        ),
    ),
    aliases=("lenskit",),
)

LENSKIT_DIALECTS = (
    _LENSKIT,
    replace(
        _LENSKIT,
        name="lenskit-2025.8",
        version="2025.8.1",
        measuring=(
            *_list_measures(_NAN, {"empty": "nan"}, gainless=_NAN),
            *_name("DCG", _DCG, UNGRADED),
            *name_both(_GRADED_DCG[0], _DCG, "(n={k})"),
            Entry("ListLength", "Utility(noise=1)"),
            *LENSKIT,
        ),
        why=(
            "This is LensKit up to 2025. The discount of NDCG and DCG is log2 of the rank, but"
            " at least 1. A user without items gives NaN (in AP an error, in DCG 0), and so does"
            " an empty list in AP and precision. NaN makes the mean NaN, but list_summary of"
            " RunAnalysis counts it as 0."
        ),
        limits=(
            Limit(
                "negative", "A rating below 0 becomes a gain below 0.", only=_GRADED + _GRADED_DCG
            ),
        ),
        absent=(
            _LENSKIT.absent[0],
            Absent(("ExposureGini", "entropy", "rank_biased_entropy"), CATALOG),
            _LENSKIT.absent[2],
        ),
        aliases=(),
    ),
)


# --- RecTools: metrics as they are made, such as NDCG(k=10,divide_by_achievable=True) -------------

_NUMERIC = {"empty": "error_if_all"}  # MAP rounds ranks, and a frame without rows has no numbers

RECTOOLS = Dialect(
    "rectools",
    tool="RecTools",
    version="0.19.0",
    reading=COPIES_COUNT,
    judging={"ties": "given", "missing": "zero"},
    averaging={"no_relevant": "skip"},
    measuring=(
        Entry("MAP(k={k})", "AP(norm=R)@{k}", _NUMERIC),
        Entry("MAP(k={k},divide_by_k=True)", "AP(norm=k)@{k}", _NUMERIC),
        Entry("Precision(k={k})", "P@{k}"),
        Entry("Recall(k={k})", "R@{k}"),
        Entry("Precision(k={k},r_precision=True)", "R(norm=min)@{k}"),
        Entry("MRR(k={k})", "RR@{k}"),
        Entry("HitRate(k={k})", "Success@{k}"),
        Entry("F1Beta(k={k})", "F@{k}"),
        Entry("F1Beta(k={k},beta={x})", "F(beta={x})@{k}"),
        Entry("NDCG(k={k})", "nDCG(norm=k)@{k}", UNGRADED, ("NDCG(k={k},log_base={x})",)),
        Entry(
            "NDCG(k={k},divide_by_achievable=True)",
            "nDCG@{k}",
            UNGRADED,
            ("NDCG(k={k},log_base={x},divide_by_achievable=True)",),
        ),
        Entry("PartialAUC(k={x})", "AUROC(norm=R,negatives={x})"),
        Entry("PAP(k={x})", "AUROC(norm=min,negatives={x})"),
        Entry("Accuracy(k={k},catalog={x})", "SetAccuracy(items={x})@{k}"),
        Entry("MCC(k={k},catalog={x})", "MCC(items={x})@{k}"),
        *RECTOOLS_MEASURES,
    ),
    why=(
        "NDCG divides by the DCG of k relevant items, however many there are, unless"
        " divide_by_achievable is set. In germane, Accuracy and MCC take the number of items in"
        " the catalog. Users are those with interactions, so that every user has relevant items,"
        " and a missing recommendation counts as 0. MAP divides by R, or by k if asked to, and"
        " raises a TypeError for a frame without rows."
    ),
    source="metrics/ranking.py::MAP",
    limits=(Limit("repeated", "Repeated rows are joined one by one, on both sides."),),
    absent=(
        Absent(
            ("Accuracy", "MCC"),
            "it needs the number of items in the catalog: Accuracy(k=10,catalog=1000).",
        ),
        Absent(("Intersection",), CATALOG),
        Absent(
            ("CoveredUsers", "SufficientReco", "UnrepeatedReco"),
            "it checks the lists themselves; germane check finds missing, short and repeated"
            " results.",
        ),
        Absent(
            ("DebiasConfig", "debias_interactions"), "it changes the data and is not a measure."
        ),
    ),
)


# --- Recommendation: lists of items for users, held against the items that they took --------------
#
# LensKit and RecTools, which have many measures, are in files of their own.

_WITHIN = {"short": "nan"}  # of as many items as k all are among the first k

_COPIES = (
    "A prediction that repeats an earlier one takes up a rank but is not a hit; a relevant item"
    " that is listed twice counts twice in R."
)
_ML_METRICS = Dialect(
    "ml_metrics",
    tool="ml_metrics",
    version="0.1.4",
    reading={"duplicates": "keep", "repeated": "each"},
    judging=LISTS,
    averaging={"no_relevant": "one"},
    measuring=(
        Entry("mapk@{k}", "AP@{k}"),
        Entry("apk@{k}", "AP@{k}"),
        Entry("kdd_mapk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
        Entry("kdd_apk@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
    ),
    why=_COPIES + " A user without relevant items counts as 1.",
    source="average_precision.py::apk",
)

DIALECTS = (
    _ML_METRICS,
    replace(
        _ML_METRICS,
        name="ml_metrics-git",
        tool="benhamner/Metrics",
        version="git 9a637ae",
        averaging={},
        why=_COPIES
        + " A user without relevant items has counted as 0 since 2015; the release on PyPI is"
        " older.",
        source="Python/ml_metrics/average_precision.py::apk",
        aliases=("benhamner", "kaggle"),
    ),
    Dialect(
        "kaggle-notebook",
        tool="Kaggle notebook 'understanding-mean-average-precision' (H&M)",
        version="2022",
        reading={"duplicates": "error", "repeated": "once"},
        judging={**LISTS, "empty": "error", "short": "error"},
        averaging={"no_relevant": "error"},
        measuring=_ML_METRICS.measuring[:2],
        why="It divides AP@k by min(R,k), but a list shorter than k raises an IndexError.",
        source="average_precision_at_k",
        limits=(
            Limit(
                "repeated",
                "Copies are hits at their ranks, but do not count in P@i, so that AP can be 1.083.",
            ),
        ),
    ),
    Dialect(
        "recmetrics",
        tool="recmetrics",
        version="0.1.5",
        reading={"duplicates": "keep", "repeated": "each"},
        judging=LISTS,
        measuring=(
            Entry("mark@{k}", "AP(norm=R)@{k}"),
            Entry("mapk@{k}", "AP@{k}", {"no_relevant": "one"}),
            Entry(
                "recommender_precision@{k}",
                "P(norm=retrieved)@{k}",
                {"duplicates": "recount", "query_digits": 4, "halves": "even", "empty": "error"},
            ),
            Entry(
                "recommender_recall@{k}",
                "R@{k}",
                {
                    "duplicates": "recount",
                    "query_digits": 4,
                    "halves": "even",
                    "no_relevant": "error",
                },
            ),
        ),
        absent=(
            Absent(("mse", "rmse"), RATINGS),
            Absent(
                (
                    "novelty",
                    "prediction_coverage",
                    "catalog_coverage",
                    "personalization",
                    "intra_list_similarity",
                ),
                CATALOG,
            ),
        ),
        why=(
            "Its mean average recall (mark) is average precision over R; for mapk its examples take"
            " ml_metrics' function. Precision and recall of each user are rounded to 4 decimals"
            " before the mean."
        ),
        source="metrics.py::_ark",
    ),
    Dialect(
        "recommenders",
        tool="Microsoft recommenders",
        version="1.2.1",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging={**LISTS, "empty": "missing"},
        averaging={"no_relevant": "skip", "undefined": "zero"},
        measuring=(
            Entry("map_at_k@{k}", "AP@{k}"),
            Entry("map@{k}", "AP(norm=R)@{k}"),
            Entry("precision_at_k@{k}", "P@{k}"),
            Entry("recall_at_k@{k}", "R@{k}"),
            Entry("ndcg_at_k@{k}", "nDCG@{k}", {"missing": "zero", "empty": "answer"}),
            Entry(
                "r_precision_at_k@{k}",
                "Rprec",
                {"depth": "{k}", "no_hit": "skip", "undefined": "nan"},
            ),
            *RECOMMENDERS,
        ),
        why=(
            "Only users who are in both frames count. Both functions cut the list at k (10 by"
            " default), but map divides by R and map_at_k by min(R,k)."
        ),
        source="evaluation/python_evaluation.py",
        limits=(
            Limit(
                "missed",
                "The value is 0 if no user has a hit among the first k.",
                only=("r_precision_at_k@{k}",),
            ),
            Limit("repeated", "Rows are joined, so a copy on either side counts again."),
            Limit(
                "empty",
                "A user who is in only one frame is left out, or counts as 0 if there are no"
                " others.",
            ),
        ),
    ),
    RECTOOLS,
    Dialect(
        "recometrics",
        tool="recometrics",
        version="0.1.6",
        judging={**LISTS, "empty": "missing", "short": "error"},
        averaging={"no_relevant": "nan", "all_relevant": "nan", "constant": "nan"},
        measuring=(
            Entry("AP@K(k={k})", "AP(norm=R)@{k}"),
            Entry("TAP@K(k={k})", "AP@{k}"),
            Entry("P@K(k={k})", "P@{k}", _WITHIN),
            Entry("R@K(k={k})", "R@{k}", _WITHIN),
            Entry("TP@K(k={k})", "R(norm=min)@{k}", _WITHIN),
            Entry("Hit@K(k={k})", "Success@{k}", _WITHIN),
            Entry("RR@K(k={k})", "RR@{k}"),
            Entry("NDCG@K(k={k})", "nDCG@{k}", {"all_relevant": "answer"}),
            Entry("PR_AUC", "AP(norm=R)"),
            Entry("ROC_AUC", "AUROC"),
        ),
        why=(
            "AP@K divides by R, and the truncated TAP@K by min(R,K); P@K divides by K, and TP@K by"
            " min(R,K). If every item is relevant, or all scores are equal, there is nothing to"
            " rank, and the value is NaN. Measures that ignore the order are also NaN if there are"
            " only K items. Fewer than K items are an error."
        ),
        source="src/recometrics.hpp",
        limits=(
            Limit(
                "tied",
                "By default, random noise breaks ties; if the first K scores "
                "are equal, the value is NaN unless an AUC is computed, too.",
            ),
            Limit(
                "all_relevant",
                "If all items are relevant, the value is NaN, or 1 with noise.",
                only=("NDCG@K(k={k})",),
            ),
            Limit(
                "all_within",
                "If there are only K items and all are relevant, the value is a number.",
                only=("AP@K(k={k})", "TAP@K(k={k})", "RR@K(k={k})"),
            ),
            Limit(
                "short",
                "The K of the other metrics must not exceed the number of items.",
                only=("PR_AUC", "ROC_AUC"),
            ),
            Limit("no_relevant", "A matrix without any relevant item raises a ValueError."),
        ),
    ),
    Dialect(
        "implicit",
        tool="implicit",
        version="0.7.3",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging=LISTS,
        averaging={"no_relevant": "skip", "undefined": "error"},
        measuring=(
            Entry("map@{k}", "AP@{k}"),
            Entry("precision@{k}", "R(norm=min,mean=micro)@{k}"),
            Entry("ndcg@{k}", "nDCG@{k}"),
        ),
        why=(
            "Only users who have items to find count; if there are none, it divides by 0. Its"
            " precision divides the sum of all hits by the sum of min(R,K), so that users with"
            " many items weigh more."
        ),
        source="evaluation.pyx::ranking_metrics_at_k",
        limits=(
            Limit(
                "all_relevant",
                "Its AUC divides by the number of irrelevant items. If there are none, all"
                " measures raise an error.",
            ),
            Limit("repeated", "A repeated item is a hit again."),
        ),
    ),
    Dialect(
        "spark",
        tool="Spark mllib RankingMetrics",
        version="4.3.0",
        reading={**COPIES_COUNT, "grades": "ones"},
        judging=LISTS,
        measuring=(
            Entry("meanAveragePrecision", "AP(norm=R)"),
            Entry("meanAveragePrecisionAt({k})", "AP@{k}"),
            Entry("precisionAt({k})", "P@{k}"),
            Entry("recallAt({k})", "R@{k}"),
            Entry("ndcgAt({k})", "nDCG@{k}"),
        ),
        why=(
            "A repeated prediction is a hit again, so that AP can be 1.5. Without relevant"
            " items, the value is 0."
        ),
        source="mllib/evaluation/RankingMetrics.scala",
        limits=(
            Limit("empty", "The Python wrapper cannot infer a type where the first list is empty."),
            Limit("repeated", "A copy gains 1 again in nDCG, and is a hit again in recall."),
        ),
        aliases=("pyspark",),
    ),
    Dialect(
        "recbole",
        tool="RecBole",
        version="1.2.1",
        reading={**COPIES_COUNT, "repeated": "each", "grades": "ones"},
        judging=LISTS,
        measuring=(
            Entry("MAP@{k}", "AP@{k}"),
            Entry("Precision@{k}", "P@{k}"),
            Entry("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
            Entry("MRR@{k}", "RR@{k}"),
            Entry("NDCG@{k}", "nDCG@{k}"),
            *RECBOLE,
        ),
        why=(
            "It works on the matrix of hits among the first k. The recall of a user without"
            " items is NaN. Its catalogue includes the padding as one more item; pass that"
            " number as catalogue=."
        ),
        source="evaluator/metrics.py::MAP.metric_info",
        limits=(
            Limit("no_relevant", "Without relevant items, nDCG is 0/0.", only=("NDCG@{k}",)),
            Limit("repeated", "nDCG counts copies in the ideal ranking, too.", only=("NDCG@{k}",)),
        ),
    ),
    Dialect(
        "elliot",
        tool="Elliot",
        version="git fc27efe",
        reading={**COPIES_COUNT, "repeated": "each"},
        judging=LISTS,
        measuring=(
            Entry("MAP@{k}", "MeanP@{k}"),
            Entry("MAR@{k}", "MeanR@{k}", {"no_relevant": "error"}),
            *ELLIOT,
        ),
        why=(
            "Its MAP is the mean of P@1 … P@k, including ranks without a hit: a single relevant"
            " item at rank 1 gives 0.457 at k=5, not 1. Its Gini is 1 − the coefficient, so that a"
            " high value means equality."
        ),
        source="evaluation/metrics/accuracy/map/map.py::__user_ap",
        unlike=(Homonym("nDCG", "nDCG", "nDCG(gain=exp)"),),
    ),
    Dialect(
        "mean-of-precisions",
        tool="the mean of P@1 … P@k",
        version="a common mistake",
        judging={"ties": "given"},
        measuring=(Entry("map@{k}", "MeanP@{k}"), Entry("apk@{k}", "MeanP@{k}")),
        why=(
            "It averages the precision at every rank, not only at ranks with a relevant item."
            " This is not AP."
        ),
        source="answers on the web, and code that copies them",
    ),
    Dialect(
        "cornac",
        tool="Cornac",
        version="3.0.1",
        judging=LISTS,
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("MAP", "AP(norm=R)", {"ties": "grouped", "no_relevant": "nan"}),
            Entry("Precision@{k}", "P@{k}", {"no_relevant": "zero"}),
            Entry("Recall@{k}", "R@{k}", {"no_relevant": "nan"}),
        ),
        why=(
            "MAP gives equal scores the last rank of their group, and looks at all items, without"
            " a cutoff."
        ),
        source="metrics/ranking.py::MAP.compute",
        limits=(
            Limit("no_relevant", "If nothing is relevant, 0/0 is NaN or an error."),
            Limit("tied", "It is open which of the tied items are among the first k.", order=True),
        ),
    ),
    *LENSKIT_DIALECTS,
    Dialect(
        "evidently",
        tool="Evidently",
        version="0.7.23",
        judging={**LISTS, "empty": "missing", "short": "error_if_all"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("map@{k}", "AP(norm=R)@{k}"),
            Entry("map_include_no_feedback@{k}", "AP(norm=R)@{k}", {"no_relevant": "zero"}),
            Entry("mar@{k}", "AR@{k}"),
            Entry("precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("recall@{k}", "R@{k}"),
            *EVIDENTLY,
        ),
        why=(
            "On sorted frames in which all users have the same number of rows, it agrees with AP"
            " over R. On others it does not: the label of the frame's last row within k decides"
            " whether rank k is relevant, and a user with fewer than k items keeps adding"
            " precision, or causes an error if no user has more. Precision and recall do not"
            " depend on the order of rows."
        ),
        source="legacy/metrics/recsys/precision_recall_k.py",
        limits=(
            Limit(
                "unordered",
                "The relevance at rank k is the label of the frame's last row within k, so rows"
                " that are not in the order of their scores change it.",
                only=("map@{k}", "map_include_no_feedback@{k}", "mar@{k}"),
            ),
            Limit(
                "short",
                "A list shorter than k adds its last precision again at every further rank.",
            ),
            Limit("tied", "All equal scores get the integer part of their mean rank."),
            Limit("uneven", "Users with lists of different lengths affect each other's values."),
        ),
        absent=(
            Absent(
                ("serendipity",),
                "it subtracts the sum of the similarities of a user's relevant items from 1, so"
                " that every further relevant item lowers it.",
            ),
        ),
        sees="list",
    ),
    Dialect(
        "replay",
        tool="RePlay",
        version="0.22.0",
        reading={"duplicates": "recount", "repeated": "once", "grades": "ones"},
        judging={"ties": "trec", "missing": "zero"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("HitRate@{k}", "Success@{k}"),
            Entry("MAP@{k}", "AP@{k}", {"repeated": "each"}),
            Entry("MRR@{k}", "RR@{k}"),
            Entry("NDCG@{k}", "nDCG@{k}"),
            Entry("Precision@{k}", "P@{k}", {"duplicates": "keep"}),
            Entry("Recall@{k}", "R@{k}", {"duplicates": "keep"}),
        ),
        why=(
            "Frames are sorted by score and then by item, both from high to low; dicts keep the"
            " order of equal scores (ties=given). Users are those of the ground truth, so that none"
            " is without items."
        ),
        source="metrics/base_metric.py, metrics/map.py",
        limits=(
            Limit(
                "tied",
                "Items that are numbers are ordered as numbers, not as text.",
                order=True,
            ),
            Limit("repeated", "A copy counts again, on either side.", only=("NDCG@{k}",)),
        ),
        absent=(
            Absent(
                ("RocAuc",),
                "it is AUROC of the first k, but 1 where all of them are relevant, and 0 where none"
                " is; germane's AUROC is undefined there.",
            ),
            Absent(
                ("Coverage", "Novelty", "Surprisal", "Unexpectedness", "CategoricalDiversity"),
                CATALOG,
            ),
        ),
    ),
    Dialect(
        "torch-geometric",
        tool="PyTorch Geometric",
        version="2.8.1",
        judging=LISTS,
        averaging={"no_relevant": "skip", "undefined": "zero"},
        measuring=(
            Entry("LinkPredMAP(k={k})", "AP@{k}"),
            Entry("LinkPredPrecision(k={k})", "P@{k}"),
            Entry("LinkPredRecall(k={k})", "R@{k}"),
        ),
        why="Nodes without links to find are left out of the mean, which is 0 if none is left.",
        source="metrics/link_pred.py",
        aliases=("pyg",),
    ),
)
