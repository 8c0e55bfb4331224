"""ir_measures, with each of its providers."""

from germane.dialects.dialect import COPIES_COUNT, PYTREC, Dialect, Entry, Limit, name_both

DIALECTS = (
    Dialect(
        "ir_measures",
        tool="ir_measures",
        version="0.4.3",
        reading=PYTREC,
        judging={"ties": "trec", "missing": "zero"},
        measuring=(
            *name_both("AP", "AP(norm=R)"),
            *name_both("AP(rel={x})", "AP(norm=R,rel={x})"),
            *name_both("AP(judged_only=True)", "AP(norm=R)", choices={"unjudged": "remove"}),
            Entry("P@{k}", "P@{k}"),
            Entry("P(rel={x})@{k}", "P(rel={x})@{k}"),
            Entry("P(judged_only=True)@{k}", "P@{k}", {"unjudged": "remove"}),
            Entry("R@{k}", "R@{k}"),
            Entry("R(rel={x})@{k}", "R(rel={x})@{k}"),
            Entry("RR", "RR"),
            Entry("RR(rel={x})", "RR(rel={x})"),
            Entry("RR@{k}", "RR@{k}", {"ties": "ascending", "scores": "double"}),
            *name_both("nDCG", "nDCG"),
            Entry(
                "nDCG(dcg='exp-log2')@{k}",
                "nDCG(gain=exp)@{k}",
                {"scores": "double", "query_digits": 5},
            ),
            Entry("Rprec", "Rprec"),
            Entry("Bpref", "bpref"),
            Entry("Bpref(rel={x})", "bpref(rel={x})"),
            Entry("infAP", "infAP"),
            Entry("Success@{k}", "Success@{k}"),
            Entry("SetP", "P"),
            Entry("SetR", "R"),
            Entry("SetAP", "SetAP"),
            Entry(
                "Judged@{k}",
                "Judged(norm=retrieved)@{k}",
                {
                    "ties": "ascending",
                    "scores": "double",
                    "grades": "nonnegative",
                    "empty": "error",
                },
            ),
            Entry("IPrec@{x}", "IPrec(recall={x},rounding=trec9)"),
            Entry("NumQ", "NumQ", {"missing": "skip"}),
            Entry("NumRel", "NumRel", {"missing": "skip"}),
            Entry("NumRet", "NumRet", {"missing": "skip"}),
        ),
        why="Hands each measure to another tool. Most go to pytrec_eval, but RR with a cutoff goes to the "
        "MS MARCO script, which orders equal scores by ascending id: RR and RR@10 of one list of two "
        "tied items can be 1/2 and 1. Every judged query counts, missing ones as 0, but not in NumQ and NumRel.",
        source="providers/base.py, __init__.py",
        limits=(
            Limit(
                "named",
                "gdeval reads query ids as numbers and fails on others.",
                only=("nDCG(dcg='exp-log2')@{k}",),
            ),
            Limit("empty", "0/0 at recall 0.", only=("IPrec@{x}",)),
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
        why="cwl_eval averages precision over the relevant items that were retrieved, where pytrec_eval "
        "divides by all that exist.",
        source="providers/cwl_eval.py",
    ),
    Dialect(
        "ir_measures-trectools",
        tool="ir_measures with trectools",
        version="0.4.3",
        reading=COPIES_COUNT,
        judging={"ties": "given", "missing": "zero", "empty": "nan"},
        averaging={"no_relevant": "nan"},
        measuring=(
            *name_both("AP", "AP(norm=R)"),
            Entry("P@{k}", "P@{k}", {"empty": "answer", "no_relevant": "zero"}),
            Entry("RR", "RR", {"no_hit": "nan"}),
            Entry("Rprec", "Rprec", {"no_hit": "nan"}),
            Entry(
                "Bpref",
                "bpref",
                {"empty": "answer", "no_relevant": "zero", "all_relevant": "zero"},
            ),
        ),
        why="A query without relevant items or without results is NaN, and so is the mean.",
        source="providers/trectools_provider.py",
        limits=(
            Limit("no_relevant", "Per query 0 or NaN, the mean NaN."),
            Limit(
                "unknown", "A query of the run that nobody judged is a KeyError.", only=("Rprec",)
            ),
            Limit("repeated", "Judgments and results that stand twice are joined row by row."),
            Limit("empty", "Without results 0.", only=("RR",)),
            Limit("negative", "A grade below 0 gains, and is no relevant item.", only=("Bpref",)),
        ),
    ),
)
