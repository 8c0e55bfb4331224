"""sentence-transformers."""

from germane.dialects.dialect import Dialect, Foreign, Limit

SENTENCE_TRANSFORMERS = Dialect(
    "sentence-transformers",
    tool="sentence-transformers",
    version="6.2.0",
    reading={"grades": "ones"},
    judging={"ties": "ascending", "missing": "zero"},
    averaging={"no_relevant": "skip", "undefined": "error"},
    measuring=(
        Foreign("map@{k}", "AP@{k}"),
        Foreign("precision@{k}", "P@{k}"),
        Foreign("recall@{k}", "R@{k}"),
        Foreign("mrr@{k}", "RR@{k}"),
        Foreign("ndcg@{k}", "nDCG@{k}"),
        Foreign("accuracy@{k}", "Success@{k}"),
        Foreign("reranking_ap", "AP(norm=R)", {"ties": "grouped", "no_relevant": "zero"}),
    ),
    why="InformationRetrievalEvaluator orders equal scores by ascending id, and leaves out queries "
    "without relevant documents; without any other query it divides by 0. Grades do not count: every relevant document gains 1.",
    source="evaluation/information_retrieval.py::compute_metrics",
    limits=(
        Limit("single", "Fewer than two candidates are an error.", only=("reranking_ap",)),
        Limit("no_relevant", "Such samples are not asked for.", only=("reranking_ap",)),
    ),
)
