"""trec_eval, Python packages that run its code, and gdeval of TREC's web track."""

from germane.dialects.dialect import PYTREC, Dialect, Entry, Limit

_CURVE_NAN = Limit(
    "empty",
    "Without any result the interpolated precision at recall 0 is 0/0, and so is the mean.",
    only=("11pt_avg", "iprec_at_recall_{x}"),
)
_ALL_GRADES = Limit(
    "level", "With -c it counts every grade above 0, whatever -l.", only=("num_rel",)
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


DIALECTS = (
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
            "Divides AP by R at every cutoff. A judged query that the run lacks ends the program"
            " with exit code 4; with -c (missing=zero) it counts as 0."
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
            "Keeps scores in single precision, so that 16777216 and 16777217 are equal. Queries"
            " that the run lacks are left out; with -c (missing=zero) they count as 0."
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
            "The code of trec_eval 9, fed from dicts: a query may have an empty list, and counts"
            " as 0."
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
            "The script of TREC's web track, in Perl: exponential gains, grades up to 4 (others are"
            " an error), and a cutoff of 20 where none is given. Queries without a relevant item"
            " are left out, and so are those that the run lacks; with -c (missing=zero) they count"
            " as 0. ir_measures runs version 1.2, which prints no mean; no package index has 1.3,"
            " whose answers come from the copy in Anserini's repository."
        ),
        source="gdeval.pl",
        limits=(Limit("named", "It takes numbers for ids of queries, after the last hyphen."),),
    ),
)
