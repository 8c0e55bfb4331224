"""Search engines: Elasticsearch, OpenSearch, Quepid, Vespa."""

from germane.dialects.dialect import Dialect, Foreign, Limit, Unlike

_LISTS = {"ties": "given", "missing": "skip"}

ELASTICSEARCH = Dialect(
    "elasticsearch",
    tool="Elasticsearch _rank_eval",
    version="8, read in its source",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
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
)

OPENSEARCH = Dialect(
    "opensearch",
    tool="OpenSearch search-relevance",
    version="git d8be5d1",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    averaging={"query_digits": 2},
    measuring=(
        Foreign("Precision@{k}", "P(norm=retrieved)@{k}"),
        Foreign("MAP@{k}", "AP(norm=R)@{k}"),
        Foreign("NDCG@{k}", "nDCG(gain=exp)@{k}"),
    ),
    why="Rounds the value of every query to 2 decimals.",
    source="metrics/calculator/Evaluation.java",
    limits=(Limit("negative", "Negative grades are negative gains.", only=("NDCG@{k}",)),),
)

QUEPID = Dialect(
    "quepid",
    tool="Quepid",
    version="git f80322f",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    averaging={"no_relevant": "nan"},
    measuring=(
        Foreign("ap@{k}", "AP(norm=R)@{k}"),
        Foreign("p@{k}", "P(norm=retrieved)@{k}", {"no_relevant": "zero"}),
        Foreign("rr@{k}", "RR@{k}", {"no_relevant": "zero"}),
    ),
    why="Without relevant documents AP is 0/0.",
    source="db/scorers/ap@10.js",
    unlike=(Unlike("DCG", "dcg", "DCG(gain=exp)"),),
)

PYVESPA = Dialect(
    "pyvespa",
    tool="pyvespa",
    version="1.2.9",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
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
)

PYVESPA_GRADED = Dialect(
    "pyvespa-graded",
    tool="pyvespa, documents with grades",
    version="1.2.9",
    reading={"duplicates": "again", "repeated": "once"},
    judging=_LISTS,
    measuring=(Foreign("ndcg@{k}", "nDCG@{k}"),),
    why="Of documents with grades, {document: grade}, it returns nothing but nDCG; of sets of documents, "
    "pyvespa, other measures too.",
    source="vespa/evaluation/_base.py::_compute_metrics",
    limits=(Limit("negative", "Negative grades are negative gains."),),
)
