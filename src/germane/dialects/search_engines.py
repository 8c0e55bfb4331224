"""Search engines and retrieval for RAG: the hits that a query returns."""

from functools import partial

from germane.dialects.dialect import (
    COPIES_COUNT,
    LISTS,
    Absent,
    Dialect,
    Entry,
    Homonym,
    Limit,
    name_both,
)

_OF_MEMORY = {"duplicates": "keep", "repeated": "once", "grades": "ones"}
_OF_RESULTS = {"duplicates": "recount", "empty": "missing"}
_search_tool = partial(Dialect, reading=COPIES_COUNT, judging=LISTS)

SEARCH_ENGINES = (
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
            "It divides the AP of the whole list by R; a repeated result is another hit. Empty"
            " lists on either side raise a ValueError."
        ),
        source="evaluation/retrieval/metrics.py",
        limits=(
            Limit(
                "repeated",
                "Precision is computed over the set of results, so copies take up none of the"
                " first k ranks.",
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
        why="Context precision is AP over the relevant contexts found (plus 1e-10, to avoid 0/0).",
        source="metrics/_context_precision.py",
    ),
    _search_tool(
        "haystack-2",
        tool="Haystack",
        version="2.31.0",
        measuring=(*name_both("DocumentMAPEvaluator", "AP(norm=found)"),),
        why="Up to version 3.0, it divides by the relevant documents found.",
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
            "Since version 3.1 it divides by all relevant documents; a repeated document is"
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
        why=(
            "It divides by the relevant chunks found. Without ground truth, it raises a"
            " ZeroDivisionError."
        ),
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
            "map divides by the relevant ids found, and precision by the number of ids retrieved;"
            " a repeated id is another hit. Its nDCG is scikit-learn's ndcg_score, and its"
            " RerankRecall is pytrec_eval's recall."
        ),
        source="metrics.py::RetrievalMetric",
    ),
    Dialect(
        "longmemeval",
        tool="LongMemEval",
        version="git 9e0b455",
        reading=_OF_MEMORY,
        judging=LISTS,
        measuring=(
            Entry("recall_all@{k}", "AllFound@{k}", {"no_relevant": "one"}),
            Entry("recall_any@{k}", "Success@{k}"),
            Entry("ndcg_any@{k}", "nDCG(discount=jarvelin)@{k}"),
        ),
        why=(
            "Rank 2 is not discounted, as in the original nDCG. For a question without evidence,"
            " recall_all is 1 and recall_any 0. run_retrieval.py takes means without the abstention"
            " questions, and without those whose evidence is not in a user's turn."
        ),
        source="src/retrieval/eval_utils.py",
        limits=(
            Limit(
                "repeated",
                "A repeated result is a hit again, and counts as one more item of the corpus.",
                only=("ndcg_any@{k}",),
            ),
        ),
    ),
    Dialect(
        "mempalace",
        tool="MemPalace",
        version="git 9b7cfc9",
        reading=_OF_MEMORY,
        judging=LISTS,
        measuring=(
            Entry("recall_all@{k}", "AllFound@{k}", {"no_relevant": "one"}),
            Entry("recall_any@{k}", "Success@{k}"),
            Entry("compute_retrieval_recall@{k}", "R@{k}", {"no_relevant": "one"}),
        ),
        why=(
            "For LongMemEval, it prints recall_any as Recall@k, and for LoCoMo the share of the"
            " evidence, which is 1 for a question without any."
        ),
        source="benchmarks/longmemeval_bench.py, benchmarks/locomo_bench.py",
        unlike=(
            Homonym(
                "nDCG",
                "ndcg_any",
                says=(
                    "its ideal ranking has only the hits among the first k, so that a hit at"
                    " rank 1 gives 1 however many are missed"
                ),
            ),
        ),
    ),
    _search_tool(
        "mlflow",
        tool="MLflow",
        version="3.17.2",
        reading={**COPIES_COUNT, "grades": "ones"},
        measuring=(
            Entry("precision_at_{k}", "P(norm=retrieved)@{k}", also=("precision_at_{k}/mean",)),
            Entry("recall_at_{k}", "R@{k}", {"duplicates": "keep"}, ("recall_at_{k}/mean",)),
            Entry("ndcg_at_{k}", "nDCG@{k}", also=("ndcg_at_{k}/mean",)),
        ),
        why=(
            "Precision divides by the number of documents retrieved, at most k, so that a short"
            " list is rewarded; a repeated document is a hit again, except in recall. Without"
            " results it is 0. The recall of a query that has nothing to find is 0, or 1 if"
            " nothing was retrieved either. The ideal ranking of nDCG has no more documents than"
            " were retrieved."
        ),
        source="mlflow/metrics/metric_definitions.py",
        limits=(
            Limit(
                "empty",
                "Where there is nothing to find and nothing was retrieved, the value is 1.",
                only=("recall_at_{k}", "ndcg_at_{k}"),
            ),
            Limit(
                "short",
                "If a list is shorter than k, its ideal ranking is only as long as the list.",
                only=("ndcg_at_{k}",),
            ),
            Limit(
                "repeated",
                "A repeated relevant document counts again in the ideal ranking, too.",
                only=("ndcg_at_{k}",),
            ),
        ),
        absent=(
            Absent(
                ("precision_score", "recall_score", "f1_score"),
                "it measures classification and ranks nothing.",
            ),
        ),
    ),
    _search_tool(
        "phoenix",
        tool="Phoenix",
        version="20.26.1",
        measuring=(
            Entry("ndcg", "nDCG"),
            Entry("ndcg(k={k})", "nDCG@{k}"),
            Entry("precision", "P", {"duplicates": "recount"}),
            Entry("precision(k={k})", "P@{k}"),
            Entry("reciprocal_rank", "RR"),
            Entry("hit", "Success"),
        ),
        why=(
            "It receives the scores that a judge gave to the documents of a list. Every score"
            " other than 0 is a hit, whatever its size, and is the gain in nDCG, whose ideal"
            " ranking is the same list sorted. Precision divides by k even if the list is"
            " shorter."
        ),
        source="phoenix/metrics/retrieval_metrics.py",
        limits=(
            Limit("negative", "A score below 0 is a hit, but an error in nDCG."),
            Limit(
                "repeated",
                "Every copy of a document counts in the ideal ranking.",
                only=("ndcg", "ndcg(k={k})"),
            ),
        ),
        sees="list",
        aliases=("arize-phoenix",),
    ),
    _search_tool(
        "deepeval",
        tool="deepeval",
        version="4.3.1",
        measuring=(*name_both("ContextualPrecision", "AP(norm=found)"),),
        why=(
            "Contextual precision is AP over the relevant contexts found, as judged by a"
            " language model."
        ),
        source="metrics/contextual_precision/contextual_precision.py::_calculate_score",
        absent=(
            Absent(
                ("ContextualRecall", "ContextualRelevancy"),
                "it is the share of sentences that a language model approves, whatever their rank.",
            ),
        ),
    ),
    _search_tool(
        "trulens",
        tool="TruLens",
        version="2.16.0",
        reading={"duplicates": "keep", "repeated": "once"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("ndcg_at_k(k={k})", "nDCG@{k}"),
            Entry("precision_at_k", "P", _OF_RESULTS),
            Entry("precision_at_k(k={k})", "P(norm=retrieved)@{k}", _OF_RESULTS),
            *name_both("recall_at_k", "R", "(k={k})"),
            *name_both("ir_hit_rate", "Success", "(k={k})"),
            Entry("mrr", "RR", also=("memory_mrr",)),
            Entry("memory_recall", "R"),
        ),
        why=(
            "The value of a query without expected chunks is NaN, and so is precision without"
            " results; the leaderboard's means leave NaN out. A repeated chunk is credited once,"
            " except in precision. Every expected chunk is relevant, whatever its expect_score,"
            " which is the gain in nDCG."
        ),
        source="trulens/feedback/groundtruth.py::GroundTruthAgreement",
        limits=(
            Limit(
                "tied",
                "All results with the score of the k-th count as among the first k.",
                only=("precision_at_k(k={k})", "recall_at_k(k={k})"),
            ),
        ),
        unlike=(
            Homonym(
                "nDCG",
                "ndcg_at_k",
                says="it divides by the DCG of as many relevant items as there are results",
            ),
        ),
    ),
    _search_tool(
        "autorag",
        tool="AutoRAG",
        version="0.3.27",
        judging={**LISTS, "empty": "missing"},
        reading={"duplicates": "keep", "repeated": "once"},
        averaging={"no_relevant": "skip"},
        measuring=(
            Entry("retrieval_recall", "R"),
            Entry("retrieval_precision", "P"),
            Entry("retrieval_f1", "F"),
        ),
        why=(
            "In retrieval_gt, each relevant document has to be a group of its own, [[a], [b]];"
            " of a larger group, any document is enough. The only cutoff is top_k of the"
            " retrieval. Queries without relevant documents or without results are left out of"
            " the mean."
        ),
        source="autorag/evaluation/metric/retrieval.py",
        limits=(Limit("repeated", "A relevant document that is listed twice counts as two."),),
        unlike=(
            Homonym(
                "RR",
                "retrieval_mrr",
                says="it is the mean of the reciprocal ranks of all relevant items (0 if missed)",
            ),
            Homonym(
                "AP",
                "retrieval_map",
                says="it is the mean of the reciprocal ranks of all relevant items (0 if missed)",
            ),
            Homonym(
                "nDCG",
                "retrieval_ndcg",
                says="it divides by the DCG of as many relevant items as there are results",
            ),
        ),
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
            "It has no AP. Precision divides by the number of hits returned, at most k, and is 0"
            " without hits; ignore_unlabeled=true corresponds to unjudged=remove."
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
        why="It rounds the value of every query to 2 decimals.",
        source="metrics/calculator/Evaluation.java",
        limits=(Limit("negative", "Negative grades become negative gains.", only=("NDCG@{k}",)),),
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
        why="Without relevant documents, AP is 0/0.",
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
            "It divides AP by min(k,R), for sets of relevant documents; pyvespa-graded is for"
            " documents with grades."
        ),
        source="vespa/evaluation/_base.py",
    ),
    _search_tool(
        "pyvespa-graded",
        tool="pyvespa, documents with grades",
        version="1.2.9",
        measuring=(Entry("ndcg@{k}", "nDCG@{k}"),),
        why=(
            "For documents with grades, {document: grade}, it returns only nDCG; for sets of"
            " documents it also returns other measures (dialect pyvespa)."
        ),
        source="vespa/evaluation/_base.py::_compute_metrics",
        limits=(Limit("negative", "Negative grades become negative gains."),),
    ),
)
