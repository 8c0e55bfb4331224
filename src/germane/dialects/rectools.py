"""RecTools: metrics as they are made, such as NDCG(k=10,divide_by_achievable=True)."""

from germane.dialects import catalogue
from germane.dialects.dialect import CATALOG, COPIES_COUNT, UNGRADED, Absent, Dialect, Entry, Limit

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
        *catalogue.RECTOOLS,
    ),
    why=(
        "NDCG divides by the DCG of k relevant items, however many there are, unless"
        " divide_by_achievable is set. Accuracy and MCC take the number of items in the catalog"
        " here. Users are those with interactions, so that none is without relevant items and a"
        " missing recommendation counts as 0. MAP divides by R, or by k when asked, and is a"
        " TypeError for a frame without any row."
    ),
    source="metrics/ranking.py::MAP",
    limits=(Limit("repeated", "Copies are joined row by row, on both sides."),),
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
        Absent(("DebiasConfig", "debias_interactions"), "it changes the data, and is no measure."),
    ),
)
