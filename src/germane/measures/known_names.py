"""Known names of measures: those that are read, that mean two things, or that are absent here.

``spelling`` reads them, however their words are joined.
"""

from typing import NamedTuple

# Words of a name → germane's name. The word k is a cutoff, which the name must have.
SPELLINGS = {
    "ap 1": "AP(norm=R)@k",
    "ap 2": "AP(norm=min)@k",
    "average precision": "AP",
    "avg precision": "AP",
    "avg prec": "AP",
    "ave prec": "AP",
    "ave p": "AP",
    "mean average precision": "AP",
    "map k": "AP@k",
    "tap": "AP",
    "truncated ap": "AP",
    "truncated map": "AP",
    "truncated average precision": "AP",
    "gmap": "AP(mean=geometric)",
    "gm map": "AP(mean=geometric)",
    "gm bpref": "bpref(mean=geometric)",
    "geometric map": "AP(mean=geometric)",
    "map at r": "APR",
    "mean average precision at r": "APR",
    "11 pt avg": "IAP",
    "11 pt ap": "IAP",
    "11 point ap": "IAP",
    "11 point map": "IAP",
    "11 point average precision": "IAP",
    "11 point interpolated average precision": "IAP",
    "interpolated average precision": "IAP",
    "au prc": "AUPR",
    "pr auc": "AUPR",
    "auc pr": "AUPR",
    "auc prc": "AUPR",
    "auc roc": "AUROC",
    "prec": "P",
    "precision at r": "Rprec",
    "p at r": "Rprec",
    "r prec": "Rprec",
    "rec": "R",
    "recall cap": "R(norm=min)",
    "r cap": "R(norm=min)",
    "capped recall": "R(norm=min)",
    "recall any": "Success",
    "hit ratio": "Success",
    "success rate": "Success",
    "acc k": "Success@k",
    "accuracy k": "Success@k",
    "cmc k": "Success@k",
    "cmc rank k": "Success@k",
    "cmc top k": "Success@k",
    "top k": "Success@k",
    "top k acc": "Success@k",
    "top k accuracy": "Success@k",
    "rank k": "Success@k",
    "rank k acc": "Success@k",
    "rank k accuracy": "Success@k",
    "f 2": "F(beta=2)",
    "f 0.5": "F(beta=0.5)",
    "f .5": "F(beta=0.5)",
    "f score": "F",
    "f measure": "F",
    "f 1 score": "F",
    "f 1 measure": "F",
    "f 2 score": "F(beta=2)",
    "recip rank": "RR",
    "mean rr": "RR",
    "mean recip rank": "RR",
    "mean reciprocal rank": "RR",
    "discounted cumulative gain": "DCG",
    "discounted cumulated gain": "DCG",
    "ideal dcg": "IDCG",
    "ndcg alpha": "alpha_nDCG",
    "normalized dcg": "nDCG",
    "normalized discounted cumulative gain": "nDCG",
    "normalized discounted cumulated gain": "nDCG",
    "rank biased precision": "RBP",
    "expected reciprocal rank": "ERR",
    "s recall": "StRecall",
    "ia ap": "AP_IA",
    "ia map": "AP_IA",
    "ia prec": "P_IA",
    "ia precision": "P_IA",
    "ia err": "ERR_IA",
}


class Meaning(NamedTuple):
    """A meaning of a name that has several: what to write for it, and what it is."""

    measure: str
    says: str


OVERLAPS = tuple(range(50, 100, 5))  # of boxes, in hundredths

# Words of a name → what it may mean, where # and {k} are the number behind the name.
AMBIGUOUS: dict[str, tuple[Meaning, Meaning]] = {
    "ap 1": (Meaning("AP@1", "of the first item"), Meaning("AP(norm=R)", "divided by R")),
    "ap 2": (Meaning("AP@2", "of two items"), Meaning("AP(norm=min)", "divided by min(R, k)")),
    "ap 11": (Meaning("AP@11", "of eleven items"), Meaning("IAP", "at eleven levels of recall")),
    **{
        f"{name} {iou}": (
            Meaning(f"AP@{iou}", f"of the first {iou} items"),
            Meaning(f"germane.boxes.evaluate(…, 'AP{iou}')", f"of boxes that overlap by .{iou}"),
        )
        for name in ("ap", "map")
        for iou in OVERLAPS
    },
    "ap r": (
        Meaning("APR", "of the first R items, as in metric learning"),
        Meaning("AP(norm=R)@k", "divided by R"),
    ),
    "map r": (
        Meaning("APR", "of the first R items, as in metric learning"),
        Meaning("AP(norm=R)@k", "divided by R"),
    ),
    **{
        f"rbp {percent}": (
            Meaning(f"RBP@{percent}", f"of the first {percent} items"),
            Meaning(
                f"RBP(p=0.{percent})", f"of readers who go on with a probability of .{percent}"
            ),
        )
        for percent in OVERLAPS
    },
    "map at #": (
        Meaning("AP@k", "divided by min(R, {k})"),
        Meaning("AP(norm=R)@k", "divided by R, as BEIR and MTEB do under this name"),
    ),
    "r #": (
        Meaning("R@k", "the share of the relevant items that is among the first {k}"),
        Meaning("Success@k", "is one among the first {k}, as in Rank-{k} and in metric learning"),
    ),
    "f #": (
        Meaning("F@k", "of the first {k} items"),
        Meaning("F(beta={k})", "with {k} times the weight on recall"),
    ),
    "hits": (
        Meaning("Success@k", "is there a hit, as in knowledge graphs"),
        Meaning("Utility(noise=0)@k", "how many hits there are, as in ranx"),
    ),
    "context precision": (
        Meaning("P@k", "the share of the contexts that is relevant"),
        Meaning("AP(norm=found)@k", "the mean precision at relevant contexts, as in ragas"),
    ),
    **dict.fromkeys(
        ("mar", "mean average recall"),
        (
            Meaning("AR@k", "of recall at the ranks of relevant items"),
            Meaning("MeanR@k", "the mean of R@1 … R@k"),
        ),
    ),
    "diversity": (
        Meaning("ILD@k", "within each list"),
        Meaning("Personalization@k", "between the lists of users"),
    ),
}

_OF_TEXT = (
    "a judgment of generated text, by a language model or against a reference, and germane"
    " evaluates rankings"
)
_OF_TWO = "a comparison of two rankings, which the function germane.{} computes"
_NONE = "and germane has none of that kind"

# Names of measures that germane does not have → what they are, and what is near.
ABSENT: dict[tuple[str, ...], str] = {
    ("AMR", "AMRI", "adjusted mean rank"): (
        f"the mean rank of the relevant item beside that of a random order, {_NONE}"
    ),
    ("ANMRR", "NMRR"): "the normalized rank of MPEG-7; RankingLoss is near",
    ("ARHR", "ARR", "average reciprocal hit rank", "average reciprocal rank"): (
        "the sum of the reciprocal ranks of all hits; RR has the first of them, and is equal where"
        " queries have one relevant item"
    ),
    ("BLEU", "ROUGE", "METEOR", "BERTScore", "exact match", "EM"): _OF_TEXT,
    ("context recall",): (
        "the share of an answer's claims that the contexts support, by a language model; R is the"
        " share of the relevant contexts that are retrieved"
    ),
    ("CTR", "click through rate"): "a share of clicks, and no measure of judged rankings",
    ("Dice", "PQ", "panoptic quality"): f"a measure of segmented images, {_NONE}",
    ("EER", "FAR", "FNIR", "FPIR", "FRR", "TAR", "TPIR"): (
        "a rate at one threshold of scores for all pairs, in biometrics; R and FallOut count within"
        " each list"
    ),
    ("EPR", "MPR", "expected percentile rank", "mean percentile rank"): (
        f"the mean rank of relevant items as a share of the list, {_NONE}"
    ),
    ("faithfulness", "groundedness", "answer relevancy", "answer relevance", "answer correctness",
     "context relevancy", "context relevance"): _OF_TEXT,
    ("FPR 95",): "the share of false matches where recall is .95; RecallAtPrecision is near",
    ("GAP", "micro AP", "global average precision"): (
        "the AP of one list, the results of all queries by their scores; as a run of one query, AP"
        " computes it"
    ),
    ("GAUC", "uAUC", "wAUC", "group AUC", "user AUC", "weighted AUC"): (
        "a mean of the users' AUC, weighted by their impressions; it is AUROC, and weigh() of its"
        " result"
    ),
    ("HOTA", "MOTA", "IDF1"): f"a measure of tracks in videos, {_NONE}",
    ("ILS", "intra list similarity"): "the likeness of a list's items; ILD is their distance",
    ("INP", "mINP", "mean inverse negative penalty"): (
        "R divided by the rank of the last relevant item, in re-identification; LastRank is that"
        " rank"
    ),
    ("IoU", "mIoU"): "the overlap of areas, by which germane.boxes matches detections",
    ("kappa", "cohen kappa"): (
        "the agreement of two judges, which the function germane.compare_judges computes"
    ),
    ("LAMR", "miss rate", "log average miss rate"): f"a measure of boxes, {_NONE}",
    ("MAE", "MSE", "RMSE"): "an error of predicted ratings, which ranks nothing",
    ("log loss",): "a loss of predicted probabilities, which ranks nothing",
    ("MdR", "MedR", "median rank"): "the median rank of the first relevant item; RR is a mean",
    ("MAiP", "AiP", "mean average interpolated precision"): (
        "a mean of interpolated precision at 101 levels of recall, in INEX; IAP(points=101) is near"
    ),
    ("MMR", "maximal marginal relevance"): "a method of reranking, and no measure; ILD is near",
    ("MR", "mean rank"): (
        "the mean rank of the relevant item, in knowledge graphs; RR is the mean of its reciprocal"
    ),
    ("RBO", "rank biased overlap"): _OF_TWO.format("rbo"),
    ("recall all", "all recall", "all found", "full recall"): (
        "1 if all relevant items are among the first k; Success asks for one of them, and R for"
        " their share"
    ),
    ("spearman", "spearman rho"): "a correlation of two rankings; germane.kendall_tau is near",
    ("tau", "kendall", "kendall tau"): _OF_TWO.format("kendall_tau"),
    ("tau AP",): _OF_TWO.format("tau_ap"),
    ("TBG", "time biased gain"): "a gain discounted by the reader's time; RBP and DCG are near",
    ("Q measure", "U measure"): "a measure of grades; nDCG is near",
    ("session DCG",): f"a measure of several queries in a row, {_NONE}",
    ("pAUC", "partial AUC"): f"the AUC up to a rate of false positives, {_NONE}",
    ("statAP", "xinfAP", "infNDCG"): (
        "an estimate from a sample of judgments in strata; infAP is that of one stratum"
    ),
    ("AUUC", "Qini", "uplift"): f"a measure of the effect of a treatment, {_NONE}",
    ("unexpectedness",): "a distance from expected items; Serendipity and Novelty are near",
    ("user coverage",): (
        "the share of users with recommendations; counts.answered of a result is their number"
    ),
}  # fmt: skip
