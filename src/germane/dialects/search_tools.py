"""Search in texts: evaluation packages, and those of novelty and diversity."""

from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from typing import Any

from germane.dialects.dialect import PYTREC, Dialect, Entry, Limit, name_both

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
