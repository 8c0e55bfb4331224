"""Search engines and retrieval for RAG: the hits that a query returns."""

from functools import partial

from germane.dialects.dialect import COPIES_COUNT, LISTS, Dialect, Foreign, Limit, Unlike, name_both

_searching = partial(Dialect, reading=COPIES_COUNT, judging=LISTS)

DIALECTS = (
    _searching(
        "llama-index",
        tool="LlamaIndex",
        version="0.14.25",
        judging={**LISTS, "empty": "error"},
        averaging={"no_relevant": "error"},
        measuring=(
            *name_both("average_precision", "AP(norm=R)"),
            Foreign("precision", "P", {"duplicates": "first"}),
            Foreign("precision@{k}", "P(norm=retrieved)@{k}", {"duplicates": "first"}),
            *name_both("recall", "R", choices={"duplicates": "keep"}),
            *name_both("mrr", "RR"),
            *name_both("hit_rate", "Success"),
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
    ),
    _searching(
        "ragas",
        tool="ragas",
        version="0.4.3",
        measuring=(*name_both("context_precision", "AP(norm=found)"),),
        why="Context precision is AP over the relevant contexts found (plus 1e-10, against 0/0).",
        source="metrics/_context_precision.py",
    ),
    _searching(
        "haystack-2",
        tool="Haystack",
        version="2.31.0",
        measuring=(*name_both("DocumentMAPEvaluator", "AP(norm=found)"),),
        why="Divides by the relevant documents found, until version 3.0.",
        source="components/evaluators/document_map.py",
    ),
    _searching(
        "haystack",
        tool="Haystack",
        version="3.4.0",
        reading={"duplicates": "keep", "repeated": "once"},
        measuring=(
            *name_both("DocumentMAPEvaluator", "AP(norm=R)"),
            *name_both("DocumentMRREvaluator", "RR"),
            *name_both("DocumentRecallEvaluator", "R"),
            *name_both("DocumentRecallEvaluator(single_hit)", "Success"),
        ),
        why="Divides by the relevant documents that exist since version 3.1; a repeated document is "
        "credited once.",
        source="components/evaluators/document_map.py",
        aliases=("haystack-3",),
    ),
    _searching(
        "continuous-eval",
        tool="continuous-eval",
        version="0.3.14",
        averaging={"no_relevant": "error"},
        measuring=(*name_both("average_precision", "AP(norm=found)"),),
        why="Divides by the relevant chunks found. Without ground truth: a ZeroDivisionError.",
        source="metrics/retrieval/ranked.py",
    ),
    _searching(
        "elasticsearch",
        tool="Elasticsearch _rank_eval",
        version="8, read in its source",
        measuring=(
            Foreign("precision@{k}", "P(norm=retrieved)@{k}"),
            Foreign("recall@{k}", "R@{k}"),
            Foreign("mean_reciprocal_rank@{k}", "RR@{k}"),
            Foreign("dcg@{k}", "DCG(gain=exp)@{k}"),
        ),
        why="Has no AP. Precision divides by the hits returned, at most k, and is 0 without any; "
        "ignore_unlabeled=true is unjudged=remove.",
        source="modules/rank-eval: PrecisionAtK.java, RecallAtK.java",
        unlike=(Unlike("nDCG", "dcg(normalize)", "nDCG(gain=exp)"),),
    ),
    _searching(
        "opensearch",
        tool="OpenSearch search-relevance",
        version="git d8be5d1",
        averaging={"query_digits": 2},
        measuring=(
            Foreign("Precision@{k}", "P(norm=retrieved)@{k}"),
            Foreign("MAP@{k}", "AP(norm=R)@{k}"),
            Foreign("NDCG@{k}", "nDCG(gain=exp)@{k}"),
        ),
        why="Rounds the value of every query to 2 decimals.",
        source="metrics/calculator/Evaluation.java",
        limits=(Limit("negative", "Negative grades are negative gains.", only=("NDCG@{k}",)),),
    ),
    _searching(
        "quepid",
        tool="Quepid",
        version="git f80322f",
        averaging={"no_relevant": "nan"},
        measuring=(
            Foreign("ap@{k}", "AP(norm=R)@{k}"),
            Foreign("p@{k}", "P(norm=retrieved)@{k}", {"no_relevant": "zero"}),
            Foreign("rr@{k}", "RR@{k}", {"no_relevant": "zero"}),
        ),
        why="Without relevant documents AP is 0/0.",
        source="db/scorers/ap@10.js",
        unlike=(Unlike("DCG", "dcg", "DCG(gain=exp)"),),
    ),
    _searching(
        "pyvespa",
        tool="pyvespa",
        version="1.2.9",
        measuring=(
            Foreign("map@{k}", "AP@{k}"),
            Foreign("precision@{k}", "P@{k}"),
            Foreign("recall@{k}", "R@{k}"),
            Foreign("mrr@{k}", "RR@{k}"),
            Foreign("accuracy@{k}", "Success@{k}"),
            Foreign("ndcg@{k}", "nDCG@{k}", {"grades": "ones"}),
        ),
        why="AP over min(k,R), for sets of relevant documents; pyvespa-graded is for documents with grades.",
        source="vespa/evaluation/_base.py",
    ),
    _searching(
        "pyvespa-graded",
        tool="pyvespa, documents with grades",
        version="1.2.9",
        measuring=(Foreign("ndcg@{k}", "nDCG@{k}"),),
        why="Of documents with grades, {document: grade}, it returns nothing but nDCG; of sets of documents, "
        "pyvespa, other measures too.",
        source="vespa/evaluation/_base.py::_compute_metrics",
        limits=(Limit("negative", "Negative grades are negative gains."),),
    ),
)
