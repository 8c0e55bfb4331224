"""trec_eval, and what runs its code from Python."""

from germane.dialects.dialect import PYTREC, Dialect, Foreign, Limit

_CURVE_NAN = Limit(
    "empty",
    "Without any result the interpolated precision at recall 0 is 0/0, and so is the mean.",
    only=("11pt_avg", "iprec_at_recall_{x}"),
)
_ALL_GRADES = Limit(
    "level", "With -c it counts every grade above 0, whatever -l.", only=("num_rel",)
)


def _cut(name: str, measure: str) -> Foreign:
    """A measure with a number: map_cut_10 in trec_eval's output, map_cut.10 after its -m."""
    return Foreign(name, measure, also=(name.replace("_{", ".{"),))


def _measures(rounding: str) -> tuple[Foreign, ...]:
    return (
        Foreign("num_q", "NumQ"),
        Foreign("num_ret", "NumRet"),
        Foreign("num_rel", "NumRel"),
        Foreign("num_rel_ret", "NumRelRet"),
        Foreign("num_nonrel_judged_ret", "NumNonrelRet"),
        Foreign("map", "AP(norm=R)"),
        _cut("map_cut_{k}", "AP(norm=R)@{k}"),
        Foreign("gm_map", "AP(norm=R,mean=geometric)"),
        _cut("P_{k}", "P@{k}"),
        _cut("recall_{k}", "R@{k}"),
        _cut("relative_P_{k}", "R(norm=min)@{k}"),
        Foreign("set_P", "P"),
        Foreign("set_recall", "R"),
        Foreign("set_relative_P", "R(norm=min)"),
        Foreign("set_F", "F"),
        Foreign("set_map", "SetAP"),
        Foreign("utility", "Utility"),
        Foreign("Rprec", "Rprec"),
        _cut("Rprec_mult_{x}", "Rprec(mult={x},rounding=trec9)"),
        _cut("success_{k}", "Success@{k}"),
        Foreign("recip_rank", "RR"),
        Foreign("ndcg", "nDCG"),
        _cut("ndcg_cut_{k}", "nDCG@{k}"),
        Foreign("ndcg_rel", "nDCGrel"),
        Foreign("Rndcg", "RnDCG"),
        Foreign("G", "G"),
        Foreign("binG", "binG"),
        _cut("iprec_at_recall_{x}", f"IPrec(recall={{x}},rounding={rounding})"),
        Foreign("11pt_avg", f"IAP(rounding={rounding})"),
        Foreign("bpref", "bpref"),
        Foreign("gm_bpref", "bpref(mean=geometric)"),
        Foreign("infAP", "infAP"),
    )


DIALECTS = (
    Dialect(
        "trec_eval-10",
        tool="trec_eval",
        version="10.0",
        reading={"duplicates": "error", "grades": "whole"},
        judging={"ties": "trec", "missing": "error", "empty": "missing"},
        measuring=(
            *_measures("nearest"),
            Foreign("yaap", "YAAP"),
            _cut("unj_{k}", "Unjudged@{k}"),
        ),
        why="Divides AP by R at every cutoff. A judged query that the run lacks ends the program with "
        "exit code 4; with -c (missing=zero) it counts as 0.",
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
        measuring=_measures("trec9"),
        why="Keeps scores in single precision, so that 16777216 and 16777217 are equal. Queries that the "
        "run lacks are left out; with -c (missing=zero) they count as 0.",
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
        measuring=_measures("trec9"),
        why="The code of trec_eval 9, fed from dicts: a query may have an empty list, and counts as 0.",
        source="pytrec_eval.cpp",
        limits=(_CURVE_NAN,),
        same=("pytrec_eval-terrier 0.5.11",),
        aliases=("pytrec_eval-terrier",),
    ),
)
