"""trec_eval, Python packages that run its code, gdeval; and ir_measures with its providers."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from germane.dialects.dialect import COPIES_COUNT, PYTREC, Dialect, Entry, Limit, name_both
from germane.dialects.search_tools import IN_IR_MEASURES

_CURVE_NAN = Limit(
    "empty",
    "Without any results, the interpolated precision at recall 0 is 0/0, and so is the mean.",
    only=("11pt_avg", "iprec_at_recall_{x}"),
)
_ALL_GRADES = Limit(
    "level", "With -c, it counts every grade above 0, whatever -l says.", only=("num_rel",)
)


def _name_with_number(name: str, measure: str) -> Entry:
    """Name a measure with a number: map_cut_10 in trec_eval's output, map_cut.10 after its -m."""
    return Entry(name, measure, also=(name.replace("_{", ".{"),))


def _list_measures(rounding: str) -> tuple[Entry, ...]:
    return (
        Entry("num_q", "NumQ"),
        Entry("num_ret", "NumRet"),
        Entry("num_rel", "NumRel"),
        Entry("num_rel_ret", "NumRelRet"),
        Entry("num_nonrel_judged_ret", "NumNonrelRet"),
        Entry("map", "AP(norm=R)"),
        _name_with_number("map_cut_{k}", "AP(norm=R)@{k}"),
        Entry("gm_map", "AP(norm=R,mean=geometric)"),
        _name_with_number("P_{k}", "P@{k}"),
        _name_with_number("recall_{k}", "R@{k}"),
        _name_with_number("relative_P_{k}", "R(norm=min)@{k}"),
        Entry("set_P", "P"),
        Entry("set_recall", "R"),
        Entry("set_relative_P", "R(norm=possible)"),
        Entry("set_F", "F"),
        _name_with_number("set_F_{square}", "F(beta={square})"),
        Entry("set_map", "SetAP"),
        Entry("utility", "Utility"),
        _name_with_number("utility_{n},{m},{o},0", "Utility(hit={n},noise={m},miss={o})"),
        Entry("Rprec", "Rprec"),
        _name_with_number("Rprec_mult_{x}", "Rprec(mult={x},rounding=trec9)"),
        _name_with_number("success_{k}", "Success@{k}"),
        Entry("recip_rank", "RR"),
        Entry("ndcg", "nDCG"),
        _name_with_number("ndcg_cut_{k}", "nDCG@{k}"),
        Entry("ndcg_rel", "nDCGrel"),
        Entry("Rndcg", "RnDCG"),
        Entry("G", "G"),
        Entry("binG", "binG"),
        _name_with_number("iprec_at_recall_{x}", f"IPrec(recall={{x}},rounding={rounding})"),
        Entry("11pt_avg", f"IAP(rounding={rounding})"),
        Entry("bpref", "bpref"),
        Entry("gm_bpref", "bpref(mean=geometric)"),
        Entry("infAP", "infAP"),
    )


TREC_EVAL = (
    Dialect(
        "trec_eval-10",
        tool="trec_eval",
        version="10.0",
        reading={"duplicates": "error", "grades": "whole"},
        judging={"ties": "trec", "missing": "error", "empty": "missing"},
        measuring=(
            *_list_measures("nearest"),
            Entry("yaap", "YAAP"),
            _name_with_number("unj_{k}", "Unjudged@{k}"),
        ),
        why=(
            "It divides AP by R at every cutoff. A judged query that the run lacks ends the"
            " program with exit code 4; with -c (missing=zero) it counts as 0."
        ),
        source="form_res_rels.c, m_map.c, m_map_cut.c",
        limits=(_CURVE_NAN, _ALL_GRADES),
        aliases=("trec_eval", "trec_eval-10.0"),
    ),
    Dialect(
        "trec_eval-9",
        tool="trec_eval",
        version="9.0.8",
        reading={"duplicates": "error", "grades": "whole", "scores": "single"},
        judging={"ties": "trec", "missing": "skip", "empty": "missing"},
        measuring=_list_measures("trec9"),
        why=(
            "It keeps scores in single precision, so that 16777216 and 16777217 are equal."
            " Queries that the run lacks are left out; with -c (missing=zero) they count as 0."
        ),
        source="trec_format.h, form_res_rels.c, m_map.c, m_map_cut.c",
        limits=(_CURVE_NAN, _ALL_GRADES),
        aliases=("trec_eval-9.0.8",),
    ),
    Dialect(
        "pytrec_eval",
        tool="pytrec_eval",
        version="0.5",
        reading=PYTREC,
        judging={"ties": "trec", "missing": "skip"},
        measuring=_list_measures("trec9"),
        why=(
            "It calls the code of trec_eval 9 with dicts, so a query may have an empty list, and"
            " then counts as 0."
        ),
        source="pytrec_eval.cpp",
        limits=(_CURVE_NAN,),
        same=("pytrec_eval-terrier 0.5.11",),
        aliases=("pytrec_eval-terrier",),
    ),
    Dialect(
        "gdeval",
        tool="gdeval.pl",
        version="1.3",
        reading={"duplicates": "recount", "repeated": "each", "grades": "nonnegative"},
        judging={"ties": "trec", "missing": "skip", "empty": "missing"},
        averaging={"no_relevant": "skip", "digits": 5},
        measuring=(
            Entry("ndcg@{k}", "nDCG(gain=exp)@{k}"),
            Entry("err@{k}", "ERR@{k}"),
        ),
        why=(
            "This is the Perl script of TREC's web track. It has exponential gains, takes grades"
            " up to 4 (others are an error), and cuts at 20 unless another cutoff is given."
            " Queries without a relevant item are left out, and so are those that are missing"
            " from the run; with -c (missing=zero), the latter count as 0. ir_measures runs"
            " version 1.2, which prints no mean; version 1.3 is in no package index, so its"
            " answers come from the copy in Anserini's repository."
        ),
        source="gdeval.pl",
        limits=(
            Limit("named", "It reads the part of a query's id after the last hyphen as a number."),
        ),
    ),
)


# --- ir_measures, with each of its providers ------------------------------------------------------

_JUDGED_ONLY = {"unjudged": "remove"}
_BY_ID = {"ties": "ascending", "scores": "double"}
_ANSWERED = {"missing": "zero", "empty": "answer", "no_relevant": "zero"}
_JUDGED = {**_BY_ID, "grades": "nonnegative", "empty": "error"}
_GDEVAL = {"scores": "double", "query_digits": 5, "halves": "even"}
_LOG2 = "dcg='log2'"
_STABLE = {"ties": "given"}
_PAIRS = {**_STABLE, "missing": "skip", "no_relevant": "skip"}
_RECALL_LEVELS = tuple(
    f"{name}@{{p}}"
    for name in (
        "IPrec",
        "IPrec(rel={x})",
        "IPrec(judged_only=True)",
        "IPrec(rel={x},judged_only=True)",
    )
)


def _vary(
    names: str,
    measure: str,
    *parameters: str,
    rel: bool = True,
    judged_only: bool = True,
    cut: str = "",
    choices: Mapping[str, Any] | None = None,
    default: str = "",
) -> Iterator[Entry]:
    """List a measure with and without ``rel`` and ``judged_only``; parameters are the tool's own.

    ``default`` is a parameter that may be written and changes nothing. The cutoff of a measure that
    has {p} is a level of recall.
    """
    base, _, own_parameters = measure.rstrip(")").partition("(")
    end = "" if "{p}" in measure else cut
    for only, level in product((False, True)[: judged_only + 1], (False, True)[: rel + 1]):
        theirs = [*parameters, *["rel={x}"] * level, *["judged_only=True"] * only]
        ours = [*filter(None, [own_parameters]), *["rel={x}"] * level]
        written = [theirs, [*theirs, default]] if default else [theirs]
        called = [_call(name, arguments) + cut for arguments in written for name in names.split()]
        also = {**(choices or {}), **(_JUDGED_ONLY if only else {})}
        yield Entry(called[0], _call(base, ours) + end, also, tuple(called[1:]))


def _call(name: str, parameters: list[str]) -> str:
    return f"{name}({','.join(parameters)})" if parameters else name


def _list_readers(
    name: str, cut: str = "", goal: str = "", goal_name: str = "T", default: str = ""
) -> Iterator[Entry]:
    """List a model of cwl_eval: its goal and its lowest grade may be left out."""
    for with_goal, with_lowest in product((False, True)[: 1 + bool(goal)], (False, True)):
        theirs = [f"{goal_name}={{{goal}}}"] * with_goal + ["min_rel={m}"] * with_lowest
        germane = "p" if goal_name == "p" else "goal"
        ours = [f"{germane}={{{goal}}}"] * with_goal + ["min={m}"] * with_lowest
        theirs.append("max_rel={x}")
        also = (_call(name, [*theirs, default]) + cut,) if default else ()
        ours.append("max={x}")
        yield Entry(_call(name, theirs) + cut, _call(name, ours) + cut, _STABLE, also)


IR_MEASURES = (
    Dialect(
        "ir_measures",
        tool="ir_measures",
        version="0.4.3",
        reading=PYTREC,
        judging={"ties": "trec", "missing": "zero"},
        measuring=(
            *_vary("AP MAP", "AP(norm=R)"),
            *_vary("AP MAP", "AP(norm=R)", cut="@{k}"),
            *_vary("P Precision", "P", cut="@{k}"),
            *_vary("R Recall", "R", cut="@{k}"),
            *_vary("RR MRR", "RR"),
            *_vary("RR MRR", "RR", cut="@{k}", judged_only=False, choices=_BY_ID),
            *_vary("nDCG NDCG", "nDCG", rel=False, default=_LOG2),
            *_vary("nDCG NDCG", "nDCG", rel=False, cut="@{k}", default=_LOG2),
            *_vary("nDCG NDCG", "nDCG(gain={gains})", "gains={gains}", rel=False, default=_LOG2),
            *_vary(
                "nDCG NDCG",
                "nDCG(gain={gains})",
                "gains={gains}",
                rel=False,
                cut="@{k}",
                default=_LOG2,
            ),
            Entry(
                "nDCG(dcg='exp-log2')@{k}",
                "nDCG(gain=exp)@{k}",
                _GDEVAL,
                ("NDCG(dcg='exp-log2')@{k}",),
            ),
            Entry("ERR@{k}", "ERR@{k}", _GDEVAL),
            *_vary("Rprec RPrec", "Rprec"),
            *_vary("Bpref BPref", "bpref", judged_only=False),
            *_vary("infAP", "infAP", judged_only=False),
            *_vary("Success", "Success", cut="@{k}"),
            *_vary("SetP", "P"),
            *_vary("SetP", "R(norm=possible)", "relative=True"),
            *_vary("SetRelP", "R(norm=possible)"),
            *_vary("SetR", "R", judged_only=False),
            *_vary("SetF", "F"),
            *_vary("SetF", "F(beta={square})", "beta={square}"),
            *_vary("SetAP", "SetAP"),
            *_vary("IPrec", "IPrec(recall={p},rounding=trec9)", cut="@{p}"),
            *name_both("Judged", "Judged(norm=retrieved)", choices=_JUDGED),
            Entry("RBP(rel={x})", "RBP(rel={x})", _STABLE),
            Entry("RBP(rel={x},p={p})", "RBP(rel={x},p={p})", _STABLE),
            *_list_readers("BPM", "@{k}", "n"),
            *_list_readers("SDCG", "@{k}", default=_LOG2),
            *_list_readers("NERR8", "@{k}"),
            *_list_readers("NERR9", "@{k}"),
            *_list_readers("NERR10", goal="p", goal_name="p"),
            *_list_readers("NERR11", goal="n"),
            *_list_readers("INST", goal="n"),
            *_list_readers("INSQ", goal="n"),
            *_vary("Accuracy", "AUROC", judged_only=False, choices=_PAIRS),
            *_vary("Accuracy", "AUROC", judged_only=False, cut="@{k}", choices=_PAIRS),
            Entry("Compat(normalize=False)", "Compat(norm=all)", _BY_ID),
            Entry("Compat(p={p},normalize=False)", "Compat(p={p},norm=all)", _BY_ID),
            Entry("Compat", "Compat", _BY_ID, ("Compat(normalize=True)",)),
            Entry("Compat(p={p})", "Compat(p={p})", _BY_ID, ("Compat(p={p},normalize=True)",)),
            Entry("NumQ", "NumQ", {"missing": "skip"}),
            Entry("NumRel", "NumRel", {"missing": "skip"}),
            Entry("NumRet", "NumRet", {"missing": "skip"}),
            Entry("NumRelRet", "NumRelRet", {"missing": "skip"}),
            Entry("NumRet(rel={x})", "NumRelRet(rel={x})", {"missing": "skip"}),
            *IN_IR_MEASURES,
        ),
        why=(
            "It hands each measure to another tool. Most go to pytrec_eval, but RR with a cutoff"
            " goes to the MS MARCO script, which orders equal scores by ascending id: RR and"
            " RR@10 of one list of two tied items can be 1/2 and 1. Every judged query counts,"
            " and missing ones count as 0, except in NumQ and NumRel; in Accuracy, only queries"
            " with a relevant result count. The models of cwl_eval look at 1,000 ranks, which"
            " makes RBP larger by a factor of 1/(1 - p^1000). With judged_only, measures of"
            " subtopics fail."
        ),
        source="providers/base.py, __init__.py",
        limits=(
            Limit(
                "named",
                "gdeval reads query ids as numbers and fails on others.",
                only=("nDCG(dcg='exp-log2')@{k}", "ERR@{k}"),
            ),
            Limit(
                "empty",
                "Without results (with judged_only, without judged results), precision at recall"
                " 0 is 0/0.",
                only=_RECALL_LEVELS,
            ),
            Limit(
                "all_relevant",
                "If only relevant items were retrieved, 0/0 raises an error.",
                only=("Accuracy", "Accuracy@{k}", "Accuracy(rel={x})", "Accuracy(rel={x})@{k}"),
            ),
            Limit(
                "tied",
                "In the ideal ranking, tied items of one grade keep the order of the judgments.",
                only=(
                    "Compat",
                    "Compat(p={p})",
                    "Compat(normalize=False)",
                    "Compat(p={p},normalize=False)",
                ),
            ),
        ),
    ),
    Dialect(
        "ir_measures-cwl",
        tool="ir_measures with cwl_eval",
        version="0.4.3",
        reading=COPIES_COUNT,
        judging={"ties": "given", "missing": "zero"},
        measuring=(
            Entry("AP", "AP(norm=found)"),
            Entry("P@{k}", "P@{k}"),
            Entry("RR", "RR"),
        ),
        why=(
            "cwl_eval averages precision over the relevant items that were retrieved, where"
            " pytrec_eval divides by all that exist."
        ),
        source="providers/cwl_eval.py",
    ),
    Dialect(
        "ir_measures-trectools",
        tool="ir_measures with trectools",
        version="0.4.3",
        reading=COPIES_COUNT,
        judging={"ties": "given", "missing": "nan", "empty": "nan"},
        averaging={"no_relevant": "nan"},
        measuring=(
            *name_both("AP", "AP(norm=R)"),
            Entry("P@{k}", "P@{k}", _ANSWERED),
            Entry("RR", "RR", {"no_hit": "nan"}),
            Entry("Rprec", "Rprec", {"no_hit": "nan"}),
            Entry(
                "Bpref",
                "bpref",
                {**_ANSWERED, "all_relevant": "zero"},
            ),
        ),
        why=(
            "The value of a query without relevant items or without results is NaN, and so is"
            " the mean."
        ),
        source="providers/trectools_provider.py",
        limits=(
            Limit(
                "no_relevant",
                "Without relevant items, the value of a query is 0 or NaN, and the mean is NaN.",
            ),
            Limit(
                "unknown",
                "A query of the run that nobody judged raises a KeyError.",
                only=("Rprec",),
            ),
            Limit("repeated", "Duplicate judgments and results are joined row by row."),
            Limit("empty", "Without results, the value is 0.", only=("RR",)),
            Limit(
                "negative",
                "An item with a grade below 0 has a gain, but is not relevant.",
                only=("Bpref",),
            ),
        ),
    ),
)
