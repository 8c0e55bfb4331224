"""Learning to rank: RankEval, Rax, TensorFlow Ranking, Keras-RS."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

_LABELS = {"ties": "given", "missing": "skip"}
_SHUFFLED = Limit("tied", "Equal scores are shuffled.", order=True)

RANKEVAL = Dialect(
    "rankeval",
    tool="RankEval (hpclab)",
    version="git c6e39e9",
    judging=_LABELS,
    averaging={"no_relevant": "one", "no_hit": "one"},
    measuring=(
        Foreign("MAP", "AP(norm=possible)"),
        Foreign("MAP(cutoff={k})", "AP(norm=possible)@{k}"),
    ),
    why="Divides by R or by the length of the list, whichever is less. A query without relevant items "
    "counts as 1, and so does one of which no relevant item stands within the cutoff.",
    source="metrics/map.py",
    limits=(Limit("tied", "The order of equal scores is reversed, or left open in longer lists."),),
    sees="list",
    unlike=(Unlike("nDCG", "NDCG", "nDCG(gain=exp)"), Unlike("RBP", "RBP", "RBP(p=0.5)")),
)

RAX = Dialect(
    "rax",
    tool="Rax",
    version="0.4.0",
    reading={"scores": "single"},
    judging=_LABELS,
    measuring=(
        Foreign("ap_metric", "AP(norm=R)"),
        Foreign("ap_metric(topn={k})", "AP(norm=R)@{k}"),
        Foreign("precision_metric", "P"),
        Foreign("precision_metric(topn={k})", "P(norm=retrieved)@{k}"),
        Foreign("recall_metric", "R"),
        Foreign("recall_metric(topn={k})", "R@{k}"),
    ),
    why="Divides AP by R whatever the cutoff.",
    source="rax/_src/metrics.py",
    sees="list",
    unlike=(
        Unlike("nDCG", "ndcg_metric", "nDCG(gain=exp)"),
        Unlike("DCG", "dcg_metric", "DCG(gain=exp)"),
    ),
)

TENSORFLOW_RANKING = Dialect(
    "tensorflow-ranking",
    tool="TensorFlow Ranking",
    version="0.5.5",
    reading={"scores": "single"},
    judging=_LABELS,
    measuring=(
        Foreign("MeanAveragePrecisionMetric", "AP(norm=R)"),
        Foreign("MeanAveragePrecisionMetric(topn={k})", "AP(norm=R)@{k}"),
        Foreign("PrecisionMetric", "P"),
        Foreign("PrecisionMetric(topn={k})", "P(norm=retrieved)@{k}"),
        Foreign("RecallMetric", "R"),
        Foreign("RecallMetric(topn={k})", "R@{k}"),
    ),
    why="Divides AP by all relevant items regardless of topn.",
    source="python/metrics_impl.py::MeanAveragePrecisionMetric",
    limits=(_SHUFFLED,),
    sees="list",
    unlike=(
        Unlike("nDCG", "NDCGMetric", "nDCG(gain=exp)"),
        Unlike("DCG", "DCGMetric", "DCG(gain=exp)"),
    ),
)

KERAS_RS = Dialect(
    "keras-rs",
    tool="Keras-RS",
    version="0.4.0",
    reading={"scores": "single"},
    judging={**_LABELS, "empty": "missing_if_some"},
    measuring=(
        Foreign("MeanAveragePrecision", "AP(norm=R)"),
        Foreign("MeanAveragePrecision(k={k})", "AP(norm=R)@{k}"),
        Foreign("PrecisionAtK", "P"),
        Foreign("PrecisionAtK(k={k})", "P(norm=retrieved)@{k}"),
        Foreign("RecallAtK", "R"),
        Foreign("RecallAtK(k={k})", "R@{k}"),
    ),
    why="A port of TensorFlow Ranking. An empty list weighs nothing in the mean; alone it is 0.",
    source="src/metrics/mean_average_precision.py",
    limits=(_SHUFFLED,),
    sees="list",
    unlike=(Unlike("nDCG", "NDCG", "nDCG(gain=exp)"), Unlike("DCG", "DCG", "DCG(gain=exp)")),
)
