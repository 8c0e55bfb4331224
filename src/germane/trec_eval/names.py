"""The measures of trec_eval, in the order in which it prints them, with germane's names."""

from typing import NamedTuple


class Row(NamedTuple):
    """A measure of trec_eval 10."""

    germane: str
    """germane's name of it; {} stands for a cutoff or level. Empty: germane has no such measure."""
    takes: str = "nothing"
    """Each cutoff or level makes a value of its own; numbers and gains together make one value."""
    default: tuple[float, ...] = ()
    judgments: str = "qrels"
    """The kind of judgments it needs: qrels, groups, preferences or any."""
    shown: str = "value"
    """A value; a count, which is summed; a geometric mean; a string; or the run's id."""


_DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
_PREFERENCES = (
    "prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel",
    "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
)  # fmt: skip

MEASURES: dict[str, Row] = {
    "runid": Row("", judgments="any", shown="id"),
    "num_q": Row("NumQ", judgments="any", shown="count"),
    "num_ret": Row("NumRet", shown="count"),
    "num_rel": Row("NumRel", shown="count"),
    "num_rel_ret": Row("NumRelRet", shown="count"),
    "map": Row("AP(norm=R)"),
    "gm_map": Row("AP(norm=R,mean=geometric)", shown="geometric"),
    "Rprec": Row("Rprec"),
    "bpref": Row("bpref"),
    "recip_rank": Row("RR"),
    "iprec_at_recall": Row("IPrec(recall={},rounding=nearest)", "levels", _ELEVEN),
    "P": Row("P@{}", "cutoffs", _DEPTHS),
    "relstring": Row("", "numbers", (10.0,), shown="string"),
    "recall": Row("R@{}", "cutoffs", _DEPTHS),
    "infAP": Row("infAP"),
    "gm_bpref": Row("bpref(mean=geometric)", shown="geometric"),
    "Rprec_mult": Row("Rprec(mult={},rounding=trec9)", "levels", _MULTIPLES),
    "utility": Row("Utility", "numbers", (1.0, -1.0, 0.0, 0.0)),
    "11pt_avg": Row("IAP(points=11,rounding=nearest)", "numbers", _ELEVEN),
    "binG": Row("binG"),
    "G": Row("G", "gains"),
    "dcg": Row("DCG", "gains"),
    "ideal_dcg": Row("IDCG", "gains"),
    "ndcg": Row("nDCG", "gains"),
    "ndcg_rel": Row("nDCGrel", "gains"),
    "Rndcg": Row("RnDCG", "gains"),
    "ndcg_cut": Row("nDCG@{}", "cutoffs", _DEPTHS),
    "map_cut": Row("AP(norm=R)@{}", "cutoffs", _DEPTHS),
    "relative_P": Row("R(norm=min)@{}", "cutoffs", _DEPTHS),
    "success": Row("Success@{}", "cutoffs", (1, 5, 10)),
    "set_P": Row("P"),
    "set_relative_P": Row("R(norm=possible)"),
    "set_recall": Row("R"),
    "set_map": Row("SetAP"),
    "set_F": Row("F", "numbers", (1.0,)),
    "num_nonrel_judged_ret": Row("NumNonrelRet", shown="count"),
    "prefs_num_prefs_poss": Row("", judgments="preferences", shown="count"),
    "prefs_num_prefs_ful": Row("", judgments="preferences", shown="count"),
    "prefs_num_prefs_ful_ret": Row("", judgments="preferences", shown="count"),
    **dict.fromkeys(_PREFERENCES, Row("", judgments="preferences")),
    "map_avgjg": Row("AP(norm=R)", judgments="groups"),
    "P_avgjg": Row("P@{}", "cutoffs", _DEPTHS, judgments="groups"),
    "Rprec_mult_avgjg": Row(
        "Rprec(mult={},rounding=trec9)", "levels", _MULTIPLES, judgments="groups"
    ),
    "yaap": Row("YAAP"),
    "rbp": Row("", "gains"),
    "rbp_resid": Row("RBPResidual(p=0.9)", "gains"),
    "unj": Row("Unjudged@{}", "cutoffs", (5, 10, 20)),
}

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": tuple(list(MEASURES)[:12]),
    "set": (
        "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_recall",
        "set_relative_P", "set_map", "set_F",
    ),
    "all_trec": tuple(
        name
        for name, row in MEASURES.items()
        if row.judgments in ("qrels", "any") and name not in ("dcg", "ideal_dcg", "yaap")
    ),
    "all_prefs": tuple(
        name for name, row in MEASURES.items() if row.judgments in ("preferences", "any")
    ),
    "prefs": (
        "runid", "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret",
        "prefs_simp", "prefs_pair", "prefs_avgjg",
    ),
    "qrels_jg": tuple(
        name for name, row in MEASURES.items() if row.judgments in ("groups", "any")
    ),
}  # fmt: skip
"""Names of several measures at once."""
