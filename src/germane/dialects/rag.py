"""RAG: LlamaIndex, ragas, Haystack, continuous-eval."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

_LISTS = {"ties": "given", "missing": "skip"}

LLAMA_INDEX = Dialect(
    "llama-index",
    tool="LlamaIndex",
    version="0.14.25",
    reading={"duplicates": "again", "repeated": "once"},
    judging={**_LISTS, "empty": "error"},
    averaging={"no_relevant": "error"},
    measuring=(
        Foreign("average_precision", "AP(norm=R)"),
        Foreign("average_precision@{k}", "AP(norm=R)@{k}"),
        Foreign("precision", "P", {"duplicates": "first"}),
        Foreign("precision@{k}", "P(norm=retrieved)@{k}", {"duplicates": "first"}),
        Foreign("recall", "R", {"duplicates": "keep"}),
        Foreign("recall@{k}", "R@{k}", {"duplicates": "keep"}),
        Foreign("mrr", "RR"),
        Foreign("mrr@{k}", "RR@{k}"),
        Foreign("hit_rate", "Success"),
        Foreign("hit_rate@{k}", "Success@{k}"),
    ),
    why="AP over R of whatever was retrieved; a repeated result is a hit again. Empty lists on "
    "either side are a ValueError.",
    source="evaluation/retrieval/metrics.py",
    limits=(
        Limit(
            "repeated",
            "Precision is of the set of results: copies do not fill up the first k.",
            only=("precision@{k}",),
        ),
    ),
    unlike=(
        Unlike(
            "nDCG",
            "ndcg",
            says="it divides by the DCG of as many relevant items as there are results",
        ),
    ),
)

RAGAS = Dialect(
    "ragas",
    tool="ragas",
    version="0.4.3",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    measuring=(
        Foreign("context_precision", "AP(norm=found)"),
        Foreign("context_precision@{k}", "AP(norm=found)@{k}"),
    ),
    why="Context precision is AP over the relevant contexts found (plus 1e-10, against 0/0).",
    source="metrics/_context_precision.py",
)

HAYSTACK_2 = Dialect(
    "haystack-2",
    tool="Haystack",
    version="2.31.0",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    measuring=(
        Foreign("DocumentMAPEvaluator", "AP(norm=found)"),
        Foreign("DocumentMAPEvaluator@{k}", "AP(norm=found)@{k}"),
    ),
    why="Divides by the relevant documents found, until version 3.0.",
    source="components/evaluators/document_map.py",
)

HAYSTACK = Dialect(
    "haystack",
    tool="Haystack",
    version="3.4.0",
    reading={"duplicates": "keep", "repeated": "once"},
    judging=_LISTS,
    measuring=(
        Foreign("DocumentMAPEvaluator", "AP(norm=R)"),
        Foreign("DocumentMAPEvaluator@{k}", "AP(norm=R)@{k}"),
        Foreign("DocumentMRREvaluator", "RR"),
        Foreign("DocumentMRREvaluator@{k}", "RR@{k}"),
        Foreign("DocumentRecallEvaluator", "R"),
        Foreign("DocumentRecallEvaluator@{k}", "R@{k}"),
        Foreign("DocumentRecallEvaluator(single_hit)", "Success"),
        Foreign("DocumentRecallEvaluator(single_hit)@{k}", "Success@{k}"),
    ),
    why="Divides by the relevant documents that exist since version 3.1; a repeated document is "
    "credited once.",
    source="components/evaluators/document_map.py",
)

CONTINUOUS_EVAL = Dialect(
    "continuous-eval",
    tool="continuous-eval",
    version="0.3.14",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    averaging={"no_relevant": "error"},
    measuring=(
        Foreign("average_precision", "AP(norm=found)"),
        Foreign("average_precision@{k}", "AP(norm=found)@{k}"),
    ),
    why="Divides by the relevant chunks found. Without ground truth: a ZeroDivisionError.",
    source="metrics/retrieval/ranked.py",
)
