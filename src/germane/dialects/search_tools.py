"""Search in texts: evaluation packages, novelty and diversity, search engines, and RAG."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, combinations
from typing import Any

from germane.dialects.dialect import (
    COPIES_COUNT,
    LISTS,
    PYTREC,
    Absent,
    Dialect,
    Entry,
    Homonym,
    Limit,
    name_both,
)

_ORDER = {"ties": "ascending", "scores": "double", "grades": "exact", "duplicates": "error"}
"""pyndeval orders equal scores by ascending id, and compares scores as doubles."""


def _name_cut(
    name: str, measure: str, also: tuple[str, ...] = (), first: str | None = None
) -> tuple[Entry, ...]:
    """List a measure with a cutoff; at rank 1, which ndeval does not normalize, maybe another."""
    spelled = tuple(f"{spelling}@{{k}}" for spelling in also)
    entries = (Entry(f"{name}@{{k}}", f"{measure}@{{k}}", also=spelled),)
    if first is None:
        return entries
    at_one = Entry(f"{name}@1", f"{first}@1", also=tuple(f"{spelling}@1" for spelling in also))
    return (at_one, *entries)


_NAMED = (
    *_name_cut("ERR-IA", "ERR_IA(norm=full)", ("ERR_IA",), "ERR_IA(norm=none)"),
    *_name_cut("nERR-IA", "nERR_IA(ideal=rounded)", ("nERR_IA",)),
    *_name_cut("alpha-DCG", "alpha_DCG(norm=full)", ("alpha_DCG", "α_DCG"), "alpha_DCG"),
    *_name_cut("alpha-nDCG", "alpha_nDCG(ideal=rounded)", ("alpha_nDCG", "α_nDCG")),
    Entry("NRBP", "NRBP"),
    Entry("nNRBP", "nNRBP(ideal=rounded)", {"no_relevant": "nan"}),
    Entry("MAP-IA", "AP_IA", also=("AP_IA", "MAP_IA")),
    *_name_cut("P-IA", "P_IA", ("P_IA",)),
    *_name_cut("strec", "StRecall", ("StRecall",)),
)

_IN_IR_MEASURES = {
    "ERR_IA": "ERR_IA(norm=full)",
    "nERR_IA": "nERR_IA(ideal=rounded)",
    "alpha_DCG": "alpha_DCG(norm=full)",
    "alpha_nDCG": "alpha_nDCG(ideal=rounded)",
    "P_IA": "P_IA",
    "StRecall": "StRecall",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP(ideal=rounded)",
    "AP_IA": "AP_IA",
}
_PLACES = {"rel": "{x}", "alpha": "{p}", "beta": "{n}"}
_PARAMETERS = {
    "alpha_DCG": ("rel", "alpha"),
    "alpha_nDCG": ("rel", "alpha"),
    "NRBP": ("rel", "alpha", "beta"),
    "nNRBP": ("rel", "alpha", "beta"),
}


def _add_parameters(measure: str, parameters: tuple[str, ...]) -> str:
    """Add parameters that take numbers to a measure's name."""
    base, _, rest = measure.rstrip(")").partition("(")
    written = [*(f"{name}={_PLACES[name]}" for name in parameters), *filter(None, [rest])]
    return f"{base}({','.join(written)})" if written else base


def _list_in_ir_measures() -> tuple[Entry, ...]:
    """List ir_measures' names, with every selection of their parameters."""
    entries = []
    for name, measure in _IN_IR_MEASURES.items():
        cut = "" if name in ("NRBP", "nNRBP", "AP_IA") else "@{k}"
        choices = _ORDER | ({"no_relevant": "nan"} if name == "nNRBP" else {})
        names = [name, *([f"α{name.removeprefix('alpha')}"] if name.startswith("alpha") else [])]
        names += ["MAP_IA"] if name == "AP_IA" else []
        among = _PARAMETERS.get(name, ("rel",))
        for selected in chain.from_iterable(combinations(among, n) for n in range(len(among) + 1)):
            called = [_add_parameters(name, selected) for name in names]
            if name in ("ERR_IA", "alpha_DCG"):  # which ndeval normalizes from rank 2 on
                first = _add_parameters(f"{name}(norm=none)", selected) + "@1"
                entries.append(
                    Entry(
                        f"{called[0]}@1",
                        first,
                        choices,
                        tuple(f"{spelling}@1" for spelling in called[1:]),
                    )
                )
            theirs, *also = (spelling + cut for spelling in called)
            entries.append(
                Entry(theirs, _add_parameters(measure, selected) + cut, choices, tuple(also))
            )
    return tuple(entries)


IN_IR_MEASURES = _list_in_ir_measures()
"""The measures of subtopics by ir_measures' names, whose provider is pyndeval."""

DIVERSITY = (
    Dialect(
        "ndeval",
        tool="ndeval",
        version="4.5 (pyndeval 0.0.8)",
        judging={"ties": "ascending", "missing": "skip"},
        measuring=_NAMED,
        why=(
            "ERR-IA and alpha-DCG are divided by the value of a list in which every item has all"
            " subtopics, but not at rank 1. In the ideal ranking, rounding decides between items"
            " with the same gain. All grades of 1 or more count as relevant, without distinction."
            " pyndeval orders equal scores by ascending id; the C program goes by the column of"
            " ranks (ties=given), or with -traditional by descending id (ties=trec), and -c"
            " averages over all judged queries (missing=zero). Cutoffs above 20 are refused."
        ),
        source="ndeval.c",
        aliases=("pyndeval",),
    ),
)


# --- Search in texts: ranx, BEIR, MTEB, sentence-transformers, trectools --------------------------

_CUSTOM = {"ties": "given", "scores": "double", "missing": "zero", "unknown": "error"}
_OF_PYTREC = (
    Entry("NDCG@{k}", "nDCG@{k}", also=("ndcg_at_{k}",)),
    Entry("MAP@{k}", "AP(norm=R)@{k}", also=("map_at_{k}",)),
    Entry("Recall@{k}", "R@{k}", also=("recall_at_{k}",)),
    Entry("P@{k}", "P@{k}", also=("precision_at_{k}",)),
)
"""The measures of BEIR and MTEB that pytrec_eval computes."""
_BPREF = {"grades": "nonnegative", "all_relevant": "nan"}


def _list_levels(
    name: str,
    measure: str,
    level: str = "rel",
    cutoff: bool = True,
    choices: Mapping[str, Any] | None = None,
) -> Iterator[Entry]:
    """List a measure of ranx, with and without a cutoff, and a lowest relevant grade (-l)."""
    base, _, parameters = measure.rstrip(")").partition("(")
    graded = f"{base}({','.join(filter(None, (parameters, f'{level}={{x}}')))})"
    for cut in ("", "@{k}")[: 1 + cutoff]:
        yield Entry(name + cut, measure + cut, choices or {})
        yield Entry(f"{name}{cut}-l{{x}}", graded + cut, choices or {})


def _list_mteb(ties: str, no_relevant: str) -> tuple[Entry, ...]:
    """List the measures of MTEB: those of pytrec_eval, and two of its own with an order of ties."""
    choices = {"ties": ties, "scores": "double", "unknown": "error"}
    return (
        *_OF_PYTREC,
        Entry("HitRate@{k}", "Success@{k}"),
        Entry("MRR@{k}", "RR@{k}", {**choices, "digits": None}, also=("mrr_at_{k}",)),
        Entry("R_cap_at_{k}", "R(norm=min)@{k}", {**choices, "no_relevant": no_relevant}),
    )


TEXT_RETRIEVAL = (
    Dialect(
        "ranx",
        tool="ranx",
        version="0.3.21",
        reading={"duplicates": "last"},
        judging={"ties": "given", "missing": "error", "unknown": "error", "empty": "error_if_all"},
        measuring=(
            *_list_levels("map", "AP(norm=R)"),
            *_list_levels("precision", "P"),
            *_list_levels("recall", "R"),
            *_list_levels("r-precision", "Rprec", cutoff=False),
            *_list_levels("bpref", "bpref", cutoff=False, choices=_BPREF),
            *_list_levels("mrr", "RR"),
            *_list_levels("hit_rate", "Success"),
            *_list_levels("hits", "Utility(noise=0)"),
            *_list_levels("f1", "F"),
            *_list_levels("dcg", "DCG", level="least"),
            *_list_levels("dcg_burges", "DCG(gain=exp)", level="least"),
            *_list_levels("ndcg", "nDCG", level="least"),
            *_list_levels("ndcg_burges", "nDCG(gain=exp)", level="least"),
            Entry("rbp.{decimals}", "RBP(p={decimals},gain=linear)", also=("rbp@{decimals}",)),
            Entry(
                "rbp.{decimals}-l{x}",
                "RBP(p={decimals},gain=linear,rel={x})",
                also=("rbp@{decimals}-l{x}",),
            ),
        ),
        why=(
            "The run and the qrels must have the same queries; make_comparable=True"
            " (missing=zero, unknown=ignore) takes those of the qrels. Equal scores keep the"
            " order of the dict in lists of up to 15 results. If nothing is judged not relevant,"
            " bpref is 0/0. A run that consists only of empty lists is a ValueError. The measure"
            " hits is averaged over queries."
        ),
        source="metrics/average_precision.py, meta/evaluate.py",
        limits=(
            Limit(
                "tied_long",
                "Scores are sorted by an algorithm that does not keep the order of equal ones in"
                " longer lists.",
                order=True,
            ),
            Limit(
                "no_relevant",
                "A division by 0 ends a thread, and its other queries get 0.",
                only=("bpref", "bpref-l{x}"),
            ),
            Limit("repeated", "A frame with repeated rows is not refused, and counts every copy."),
        ),
    ),
    Dialect(
        "beir",
        tool="BEIR",
        version="2.2.0",
        reading={**PYTREC, "own": "drop"},
        judging={"ties": "trec", "missing": "skip"},
        averaging={"digits": 5},
        measuring=(
            *_OF_PYTREC,
            Entry("MRR@{k}", "RR@{k}", _CUSTOM, also=("mrr_at_{k}",)),
            Entry("R_cap@{k}", "R(norm=min)@{k}", {**_CUSTOM, "no_relevant": "error"}),
            Entry("Accuracy@{k}", "Success@{k}", _CUSTOM),
        ),
        why=(
            "It works like pytrec_eval, except that an item that has the query's id is removed"
            " first (ignore_identical_ids=False is own=keep), and means are rounded to 5"
            " decimals. evaluate_custom (MRR, R_cap, Accuracy) keeps the order of equal scores,"
            " and divides by all judged queries. MTEB before 1.13 reports the same numbers,"
            " under names such as mrr_at_10."
        ),
        source="retrieval/evaluation.py",
        limits=(
            Limit(
                "no_relevant",
                "A query without relevant items is an error only if the run has it; otherwise it"
                " counts as 0.",
                only=("R_cap@{k}",),
            ),
        ),
        same=("MTEB 1.12.0",),
    ),
    Dialect(
        "mteb",
        tool="MTEB",
        version="2.26.24",
        reading=PYTREC,
        judging={"ties": "trec", "missing": "skip"},
        averaging={"digits": 5},
        measuring=_list_mteb("trec", no_relevant="skip"),
        why=(
            "It works like pytrec_eval, with means rounded to 5 decimals, and with some measures"
            " of its own."
        ),
        source="_evaluators/retrieval_metrics.py",
    ),
    Dialect(
        "mteb-2.18.18",
        tool="MTEB",
        version="2.18.18",
        reading=PYTREC,
        judging={"ties": "trec", "missing": "skip"},
        averaging={"digits": 5},
        measuring=_list_mteb("given", no_relevant="error"),
        why=(
            "Before version 2.18.19, MRR and R_cap kept the order of equal scores in the dict of"
            " results, so that MRR@1 and P@1 could differ. The other measures come from"
            " pytrec_eval, as in newer versions. Before version 1.13, MTEB had BEIR's functions:"
            " use the dialect beir."
        ),
        source="_evaluators/retrieval_metrics.py",
        same=("MTEB 1.39.7",),
    ),
    Dialect(
        "sentence-transformers",
        tool="sentence-transformers",
        version="6.2.0",
        reading={"grades": "ones"},
        judging={"ties": "ascending", "missing": "zero"},
        averaging={"no_relevant": "skip", "undefined": "error"},
        measuring=(
            Entry("map@{k}", "AP@{k}"),
            Entry("precision@{k}", "P@{k}"),
            Entry("recall@{k}", "R@{k}"),
            Entry("mrr@{k}", "RR@{k}"),
            Entry("ndcg@{k}", "nDCG@{k}"),
            Entry("accuracy@{k}", "Success@{k}"),
            Entry("reranking_ap", "AP(norm=R)", {"ties": "grouped", "no_relevant": "zero"}),
        ),
        why=(
            "InformationRetrievalEvaluator orders equal scores by ascending id, and leaves out"
            " queries without relevant documents; if no other query is left, it divides by 0."
            " Grades do not count: every relevant document has a gain of 1."
        ),
        source="evaluation/information_retrieval.py::compute_metrics",
        limits=(
            Limit("single", "Fewer than two candidates are an error.", only=("reranking_ap",)),
            Limit(
                "no_relevant",
                "Samples without relevant documents do not occur.",
                only=("reranking_ap",),
            ),
        ),
    ),
    Dialect(
        "trectools",
        tool="trectools",
        version="0.0.50",
        reading={"duplicates": "recount"},
        judging={"ties": "trec", "missing": "skip", "unknown": "zero", "empty": "missing"},
        averaging={"no_relevant": "nan", "undefined": "zero"},
        measuring=(
            *name_both("map", "AP(norm=R)"),
            Entry("precision@{k}", "P@{k}", {"no_relevant": "zero"}),
            Entry("recall@{k}", "R@{k}"),
            Entry("bpref", "bpref", {"all_relevant": "zero"}),
            Entry("rprec", "Rprec", {"no_hit": "nan"}),
            Entry("reciprocal_rank", "RR", {"no_hit": "nan", "empty": "missing_if_some"}),
        ),
        why=(
            "It divides by the number of queries in the run, so that a query that nobody judged"
            " counts as 0, and so does one whose value is NaN. bpref is 0 if nothing is judged"
            " not relevant."
        ),
        source="trec_eval.py",
        limits=(
            Limit(
                "unknown",
                "A query of the run that nobody judged raises a KeyError.",
                only=("rprec",),
            ),
            Limit(
                "negative",
                "An item with a grade below 0 has a gain, but is not relevant.",
                only=("bpref",),
            ),
        ),
    ),
)


# --- Search engines and retrieval for RAG: the hits that a query returns --------------------------

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
