"""Search in texts: ranx, BEIR, MTEB, sentence-transformers, trectools."""

from collections.abc import Iterator, Mapping
from typing import Any

from germane.dialects.dialect import PYTREC, Dialect, Entry, Limit, name_both

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


DIALECTS = (
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
            "The run and the qrels must have the same queries; make_comparable=True (missing=zero,"
            " unknown=ignore) takes those of the qrels. Equal scores keep the order of the dict."
            " Where nothing is judged not relevant, bpref is 0/0. A run of empty lists alone is a"
            " ValueError. hits are averaged over queries."
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
                "A division by 0 that ends a thread: its other queries are 0.",
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
            "pytrec_eval, but an item whose id is the query's is taken out first"
            " (ignore_identical_ids=False: own=keep), and means are rounded to 5 decimals."
            " evaluate_custom (MRR, R_cap, Accuracy) keeps the order of equal scores, and divides"
            " by all judged queries. MTEB before 1.13 says the same, under names such as mrr_at_10."
        ),
        source="retrieval/evaluation.py",
        limits=(
            Limit(
                "no_relevant",
                "Such a query is an error only if the run has it; else it counts as 0.",
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
        why="pytrec_eval, with means rounded to 5 decimals, and some measures of its own.",
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
            "Before version 2.18.19, MRR and R_cap keep the order of equal scores in the dict of"
            " results, so that MRR@1 and P@1 can differ. The other measures come from pytrec_eval,"
            " as in newer versions. Before version 1.13, MTEB had the functions of BEIR: dialect"
            " beir."
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
            " queries without relevant documents; without any other query it divides by 0. Grades"
            " do not count: every relevant document gains 1."
        ),
        source="evaluation/information_retrieval.py::compute_metrics",
        limits=(
            Limit("single", "Fewer than two candidates are an error.", only=("reranking_ap",)),
            Limit("no_relevant", "Such samples are not asked for.", only=("reranking_ap",)),
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
            "Divides by the number of queries of the run, so that one that nobody judged counts as"
            " 0, and so does one whose value is NaN. bpref is 0 where nothing is judged not"
            " relevant."
        ),
        source="trec_eval.py",
        limits=(
            Limit(
                "unknown", "A query of the run that nobody judged is a KeyError.", only=("rprec",)
            ),
            Limit("negative", "A grade below 0 gains, and is no relevant item.", only=("bpref",)),
        ),
    ),
)
