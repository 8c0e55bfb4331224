"""Novelty and diversity: ndeval, and the measures that ir_measures takes from it."""

from itertools import chain, combinations

from germane.dialects.dialect import Dialect, Entry

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

DIALECTS = (
    Dialect(
        "ndeval",
        tool="ndeval",
        version="4.5 (pyndeval 0.0.8)",
        judging={"ties": "ascending", "missing": "skip"},
        measuring=_NAMED,
        why=(
            "ERR-IA and alpha-DCG are divided by the value of a list in which every item has all"
            " subtopics, but not at rank 1. Rounding decides between items that gain the same in"
            " the ideal ranking. A grade of 1 or more is relevant, all alike. pyndeval orders equal"
            " scores by ascending id; the C program goes by the column of ranks (ties=given), or"
            " with -traditional by descending id (ties=trec), and -c averages over all judged"
            " queries (missing=zero). Cutoffs above 20 are refused."
        ),
        source="ndeval.c",
        aliases=("pyndeval",),
    ),
)
