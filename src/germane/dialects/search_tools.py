"""Search engines and retrieval for RAG: the hits that a query returns."""

from functools import partial

from germane.dialects.dialect import COPIES_COUNT, LISTS, Dialect, Entry, Homonym, Limit, name_both

_search_tool = partial(Dialect, reading=COPIES_COUNT, judging=LISTS)

DIALECTS = (
    _search_tool(
        "llama-index",
        tool="LlamaIndex",
        version="0.14.25",
        judging={**LISTS, "empty": "error"},
        averaging={"no_relevant": "error"},
        measuring=(
            *name_both("average_precision", "AP(norm=R)"),
            Entry("precision", "P", {"duplicates": "first"}),
            Entry("precision@{k}", "P(norm=retrieved)@{k}", {"duplicates": "first"}),
            *name_both("recall", "R", choices={"duplicates": "keep"}),
            *name_both("mrr", "RR"),
            *name_both("hit_rate", "Success"),
        ),
        why=(
            "AP over R of whatever was retrieved; a repeated result is a hit again. Empty lists on "
            "either side are a ValueError."
        ),
        source="evaluation/retrieval/metrics.py",
        limits=(
            Limit(
                "repeated",
                "Precision is of the set of results: copies do not fill up the first k.",
                only=("precision@{k}",),
            ),
        ),
        unlike=(
            Homonym(
                "nDCG",
                "ndcg",
                says="it divides by the DCG of as many relevant items as there are results",
            ),
        ),
    ),
    _search_tool(
        "ragas",
        tool="ragas",
        version="0.4.3",
        measuring=(*name_both("context_precision", "AP(norm=found)"),),
        why="Context precision is AP over the relevant contexts found (plus 1e-10, against 0/0).",
        source="metrics/_context_precision.py",
    ),
    _search_tool(
        "haystack-2",
        tool="Haystack",
        version="2.31.0",
        measuring=(*name_both("DocumentMAPEvaluator", "AP(norm=found)"),),
        why="Divides by the relevant documents found, until version 3.0.",
        source="components/evaluators/document_map.py",
    ),
    _search_tool(
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
        why=(
            "Divides by the relevant documents that exist since version 3.1; a repeated document is"
            " credited once."
        ),
        source="components/evaluators/document_map.py",
        same=("Haystack 3.4.1",),
        aliases=("haystack-3",),
    ),
    _search_tool(
        "continuous-eval",
        tool="continuous-eval",
        version="0.3.14",
        averaging={"no_relevant": "error"},
        measuring=(*name_both("average_precision", "AP(norm=found)"),),
        why="Divides by the relevant chunks found. Without ground truth: a ZeroDivisionError.",
        source="metrics/retrieval/ranked.py",
    ),
    _search_tool(
        "unitxt",
        tool="unitxt",
        version="1.26.10",
        measuring=(
            Entry("map", "AP(norm=found)"),
            Entry("mrr", "RR"),
            Entry("precision_at_{k}", "P(norm=retrieved)@{k}"),
            Entry("recall_at_{k}", "R@{k}"),
            Entry("match_at_{k}", "Success@{k}"),
        ),
        why=(
            "map divides by the relevant ids found, and precision by the ids there are; a repeated"
            " id is a hit again. Its nDCG is scikit-learn's ndcg_score, and its RerankRecall is"
            " pytrec_eval's recall."
        ),
        source="metrics.py::RetrievalMetric",
    ),
    _search_tool(
        "elasticsearch",
        tool="Elasticsearch _rank_eval",
        version="8, read in its source",
        measuring=(
            Entry("precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("recall@{k}", "R@{k}"),
            Entry("mean_reciprocal_rank@{k}", "RR@{k}"),
            Entry("dcg@{k}", "DCG(gain=exp)@{k}"),
        ),
        why=(
            "Has no AP. Precision divides by the hits returned, at most k, and is 0 without any; "
            "ignore_unlabeled=true is unjudged=remove."
        ),
        source="modules/rank-eval: PrecisionAtK.java, RecallAtK.java",
        unlike=(Homonym("nDCG", "dcg(normalize)", "nDCG(gain=exp)"),),
    ),
    _search_tool(
        "opensearch",
        tool="OpenSearch search-relevance",
        version="git d8be5d1",
        averaging={"query_digits": 2},
        measuring=(
            Entry("Precision@{k}", "P(norm=retrieved)@{k}"),
            Entry("MAP@{k}", "AP(norm=R)@{k}"),
            Entry("NDCG@{k}", "nDCG(gain=exp)@{k}"),
        ),
        why="Rounds the value of every query to 2 decimals.",
        source="metrics/calculator/Evaluation.java",
        limits=(Limit("negative", "Negative grades are negative gains.", only=("NDCG@{k}",)),),
    ),
    _search_tool(
        "quepid",
        tool="Quepid",
        version="git f80322f",
        averaging={"no_relevant": "nan"},
        measuring=(
            Entry("ap@{k}", "AP(norm=R)@{k}"),
            Entry("p@{k}", "P(norm=retrieved)@{k}", {"no_relevant": "zero"}),
            Entry("rr@{k}", "RR@{k}", {"no_relevant": "zero"}),
        ),
        why="Without relevant documents AP is 0/0.",
        source="db/scorers/ap@10.js",
        unlike=(Homonym("DCG", "dcg", "DCG(gain=exp)"),),
    ),
    _search_tool(
        "pyvespa",
        tool="pyvespa",
        version="1.2.9",
        measuring=(
            Entry("map@{k}", "AP@{k}"),
            Entry("precision@{k}", "P@{k}"),
            Entry("recall@{k}", "R@{k}"),
            Entry("mrr@{k}", "RR@{k}"),
            Entry("accuracy@{k}", "Success@{k}"),
            Entry("ndcg@{k}", "nDCG@{k}", {"grades": "ones"}),
        ),
        why=(
            "AP over min(k,R), for sets of relevant documents; pyvespa-graded is for documents with"
            " grades."
        ),
        source="vespa/evaluation/_base.py",
    ),
    _search_tool(
        "pyvespa-graded",
        tool="pyvespa, documents with grades",
        version="1.2.9",
        measuring=(Entry("ndcg@{k}", "nDCG@{k}"),),
        why=(
            "Of documents with grades, {document: grade}, it returns nothing but nDCG; of sets of"
            " documents, pyvespa, other measures too."
        ),
        source="vespa/evaluation/_base.py::_compute_metrics",
        limits=(Limit("negative", "Negative grades are negative gains."),),
    ),
)
