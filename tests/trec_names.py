"""trec_eval's names of measures, and what germane calls the same thing."""

import re
from typing import Any

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
LEVELS = ("0.00", "0.10", "0.20", "0.30", "0.40", "0.50", "0.60", "0.70", "0.80", "0.90", "1.00")
MULTIPLES = ("0.20", "0.40", "0.60", "0.80", "1.00", "1.20", "1.40", "1.60", "1.80", "2.00")

TREC_NAMES: dict[str, str] = {
    # counts
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_nonrel_judged_ret": "NumNonrelRet",
    # sets
    "set_P": "P",
    "set_recall": "R",
    "set_relative_P": "R(norm=min)",
    "set_F": "F",
    "set_map": "SetAP",
    "utility": "Utility",
    "Rprec": "Rprec",
    **{f"P_{k}": f"P@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"R@{k}" for k in CUTOFFS},
    **{f"relative_P_{k}": f"R(norm=min)@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{f"Rprec_mult_{x}": f"Rprec(mult={float(x):g})" for x in MULTIPLES},
    # average
    "map": "AP(norm=R)",
    "gm_map": "AP(norm=R,mean=geometric)",
    **{f"map_cut_{k}": f"AP(norm=R)@{k}" for k in CUTOFFS},
    # first
    "recip_rank": "RR",
    # gain
    "ndcg": "nDCG",
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTOFFS},
    "ndcg_rel": "nDCGrel",
    "Rndcg": "RnDCG",
    "G": "G",
    "binG": "binG",
    # interpolated
    **{f"iprec_at_recall_{r}": f"IPrec(recall={float(r):g},rounding=trec9)" for r in LEVELS},
    "11pt_avg": "IAP(points=11,rounding=trec9)",
    # sparse
    "bpref": "bpref",
    "gm_bpref": "bpref(mean=geometric)",
    "infAP": "infAP",
}
"""What trec_eval 9.0 and pytrec_eval answer, by the name they answer it under."""

TREC_10_NAMES: dict[str, str] = {
    "yaap": "YAAP",
    "rbp": "RBP(p=0.9)",
    "rbp_resid": "RBPResidual(p=0.9)",
    **{f"unj_{k}": f"Unjudged@{k}" for k in (5, 10, 20)},
    **{f"iprec_at_recall_{r}": f"IPrec(recall={float(r):g},rounding=nearest)" for r in LEVELS},
    "11pt_avg": "IAP(points=11,rounding=nearest)",
}
"""What trec_eval 10.0 has besides, or answers differently."""

NO_LEVEL = frozenset({"NumQ", "NumRet", "Unjudged", "nDCG", "nDCGrel", "RnDCG", "G", "RBPResidual"})
"""Measures that do not ask which grades are relevant, so have no parameter rel."""


def parts(text: str) -> tuple[str, dict[str, Any], int | None]:
    """Take `Name(param=value,…)@k` apart: ("AP", {"norm": "R"}, 10)."""
    found = re.fullmatch(r"(\w+)(?:\((.*)\))?(?:@(\d+))?", text)
    if found is None:
        raise ValueError(text)
    name, inside, k = found.groups()
    params = dict(pair.split("=", 1) for pair in inside.split(",")) if inside else {}
    return name, {key: number(word) for key, word in params.items()}, int(k) if k else None


def number(word: str) -> str | float | dict[float, float]:
    """A parameter's value: a word, a number, or a map of gains such as 1:1_2:3."""
    if ":" in word:
        return {float(g): float(v) for g, v in (pair.split(":") for pair in word.split("_"))}
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    return float(word) if re.fullmatch(r"-?\d*\.\d+", word) else word


def at_level(text: str, level: int) -> str:
    """The same measure with only grades >= level relevant: AP(norm=R)@5 → AP(norm=R,rel=2)@5."""
    name = parts(text)[0]
    if level == 1 or name in NO_LEVEL:
        return text
    if text.startswith(f"{name}("):
        return text.replace(")", f",rel={level})")
    return text.replace(name, f"{name}(rel={level})", 1)
