"""trec_eval's names of measures, what germane calls the same thing, and where the two differ."""

import json
import re
from collections.abc import Callable
from math import log, nan
from pathlib import Path
from typing import Any

import oracle

# what the tools answered
_RECORDED: dict[str, Any] = json.loads(
    Path(__file__).with_name("data").joinpath("pytrec_eval.json").read_text("utf-8")
)
NINE, TEN = _RECORDED["pytrec_eval"], _RECORDED["trec_eval-10.0"]

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
    "set_relative_P": "R(norm=possible)",
    "set_F": "F",
    "set_map": "SetAP",
    "utility": "Utility",
    "Rprec": "Rprec",
    **{f"P_{k}": f"P@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"R@{k}" for k in CUTOFFS},
    **{f"relative_P_{k}": f"R(norm=min)@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"Success@{k}" for k in (1, 5, 10)},
    **{f"Rprec_mult_{x}": f"Rprec(mult={float(x):g},rounding=trec9)" for x in MULTIPLES},
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


TEN_PARAMETERS = {
    "ndcg.1=1,2=3,3=10,4=30": "nDCG(gain=1:1_2:3_3:10_4:30)",
    "ndcg_rel.1=1,2=3,3=10,4=30": "nDCGrel(gain=1:1_2:3_3:10_4:30)",
    "Rndcg.1=1,2=3,3=10,4=30": "RnDCG(gain=1:1_2:3_3:10_4:30)",
    "G.1=1,2=3,3=10,4=30": "G(gain=1:1_2:3_3:10_4:30)",
    "set_F.4": "F(beta=2)",  # trec_eval's x is beta^2
    "utility.2,-0.5,-1,0": "Utility(hit=2,noise=-0.5,miss=-1)",
}


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


# ------------------------------------------------------- where trec_eval answers something else

Judged = dict[str, float]
Rule = Callable[[float, Judged, list[str], int], float]
"""What the tool says, from the oracle's value, the judgments, the ranked list and the level."""


def floored_log(value: float, *_: object) -> float:
    return log(max(value, 1e-5))


def zero_unless_relevant(value: float, judged: Judged, _: list[str], level: int) -> float:
    return value if any(grade >= level for grade in judged.values()) else 0.0


def zero_unless_unjudged(value: float, judged: Judged, ranked: list[str], _: int) -> float:
    return value if any(judged.get(item, -1) < 0 for item in ranked) else 0.0


def gains_over_the_highest(_: float, judged: Judged, ranked: list[str], __: int) -> float:
    highest = max(1, *judged.values())
    gains = (max(judged.get(item, 0), 0) / highest for item in ranked)
    return (1 - 0.9) * sum(gain * 0.9**i for i, gain in enumerate(gains))


def nan_if_nothing_is_needed_of_nothing(recall: str) -> Rule:
    def rule(value: float, judged: Judged, ranked: list[str], level: int) -> float:
        R = sum(grade >= level for grade in judged.values())
        none_needed = oracle.needed(oracle.decimal(float(recall)), R, "trec9") == 0
        return nan if none_needed and not ranked else value

    return rule


def noise_of_one_item_if_missing(value: float, _: Judged, ranked: list[str], __: int) -> float:
    return value if ranked else value - 0.5


EXCEPTIONS: dict[str, tuple[str, Rule]] = {
    "gm_map": ("per query, the logarithm that the geometric mean adds up", floored_log),
    "gm_bpref": ("per query, the logarithm that the geometric mean adds up", floored_log),
    "Rndcg": (
        (
            "0 where nothing reaches relevance_level, though lower grades have gains "
            "(m_Rndcg.c asks num_rel; ndcg, ndcg_rel and G do not)"
        ),
        zero_unless_relevant,
    ),
    **{
        f"iprec_at_recall_{recall}": (
            "NaN for an empty run where that recall needs 0 items: it starts from 0 found / 0",
            nan_if_nothing_is_needed_of_nothing(recall),
        )
        for recall in LEVELS
    },
    "11pt_avg": (
        "NaN for an empty run: the mean of the above",
        nan_if_nothing_is_needed_of_nothing("0.00"),
    ),
}
"""Where pytrec_eval answers otherwise than the definition: why, and what it answers then."""

TEN_EXCEPTIONS: dict[str, tuple[str, Rule]] = {
    "rbp": (
        (
            "graded, not binary: gain = grade / the query's highest grade (at least 1); and only "
            "because m_rbp.c's min and max, never initialised, happen to start at 0"
        ),
        gains_over_the_highest,
    ),
    "rbp_resid": (
        "0 where nothing retrieved is unjudged; the definition leaves p^N for the ranks below",
        zero_unless_unjudged,
    ),
    "utility.2,-0.5,-1,0": (
        (
            "with -c, a query that the run lacks is given one made-up item that nobody judged; "
            "num_ret, unj, rbp_resid and a utility without parameters, only, are put back to 0"
        ),
        noise_of_one_item_if_missing,
    ),
}
"""The same for trec_eval 10.0."""
