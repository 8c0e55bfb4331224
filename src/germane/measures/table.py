"""The registry of measures: a literal tuple, in print order."""

from typing import Any

from germane.measures import average, cascade, counts, first, gain, interpolated, sets, sparse
from germane.measures.definition import Definition, Parameter

REL = Parameter("rel", 1.0, "the lowest grade that counts as relevant", low=0.0)
MEAN = Parameter(
    "mean", "arithmetic", "how queries are averaged", words=("arithmetic", "geometric", "micro")
)
GAIN = Parameter(
    "gain",
    "linear",
    "what a grade is worth: the grade, 2^grade - 1, or an explicit map",
    words=("linear", "exp"),
    grades=True,
)
WHOLE = Parameter(
    "rounding",
    "up",
    "how a multiple of R becomes a number of items: up is the definition; trec9 is "
    "int(share·R + 0.9), as in trec_eval; nearest is int(share·R + 0.5)",
    words=("up", "trec9", "nearest"),
)
ROUNDING = Parameter(
    "rounding",
    "up",
    "how a share of R becomes a number of items: up is the definition; trec9 is "
    "int(share·R + 0.9), as in trec_eval up to 9; nearest is int(share·R + 0.5), as recall levels in "
    "trec_eval since 10; double compares h/R with the share in double precision, as PASCAL VOC and "
    "COCO do",
    words=("up", "trec9", "nearest", "double"),
)
GOING_ON = Parameter(
    "p",
    0.8,
    "the probability of going on",
    low=0.0,
    high=1.0,
    open_ends=True,
    usual=(0.5, 0.9, 0.95),
)
DEPTH = Parameter("norm", "k", "what the count is divided by", words=("k", "retrieved"))


def _to(k: int | None, end: str = "N") -> str:
    return f"i ≤ {end if k is None else k}"


def _depth(k: int | None) -> str:
    return "N" if k is None else str(k)


def _depth_filled(k: int | None) -> str:
    return "N" if k is None else f"{k},N"


def _filled(k: int | None, norm: str) -> str:
    return _depth(k) if norm == "k" or k is None else f"min({k},N)"


def _hits(k: int | None) -> str:
    return f"Σ rel(i), {_to(k)}"


def _gain_note(p: dict[str, Any]) -> str:
    return "; gain: 2^grade - 1" if p["gain"] == "exp" else ""


def _multiple(p: dict[str, Any]) -> str:
    share = f"{_exact(p['mult'])}·R"
    whole = {"up": f"⌈{share}⌉", "trec9": f"⌊{share} + 0.9⌋", "nearest": f"⌊{share} + 0.5⌋"}
    return "R" if p["mult"] == 1 else whole[p["rounding"]]


def _exact(number: float) -> str:
    return repr(float(number)).removesuffix(".0")


def _plus(factor: float) -> str:
    return f"{'-' if factor < 0 else '+'} {_exact(abs(factor))}"


_AP_NORM = {
    "R": lambda k: "R",
    "min": lambda k: "R" if k is None else f"min(R,{k})",
    "possible": lambda k: f"min(R,{_depth_filled(k)})",
    "found": lambda k: "relevant items found" + ("" if k is None else f" in the first {k}"),
    "k": _depth,
}
_SHORT = "A list shorter than k counts as filled up with nonrelevant items."
_NO_RELEVANT = "Without relevant items: no_relevant decides (0 unless told otherwise)."
_GAIN_SAYS = {"linear": "grade", "exp": "(2^grade - 1)"}


def _gain(p: dict[str, Any]) -> str:
    return _GAIN_SAYS.get(p["gain"], f"gain[{p['gain']}]") if isinstance(p["gain"], str) else "gain"


_AREA_TERMS: dict[str | int, str] = {
    "step": "Σ P@i·rel(i)",
    "trapezoid": "Σ (P@(i-1) + P@i)/2·rel(i) with P@0 = 1",
    "interpolated": "Σ max P@j over j ≥ i, ·rel(i)",
    "davis_goadrich": "Σ (1 - f·ln((t+f)/(t+f-1)))·rel(i), t relevant and f other items to i",
    "linear101": "trapezoids between 101 points of the lines through max P@j over j ≥ i",
    11: "Σ max P@i with recall ≥ r over r = 0, 0.1, … 1",
    101: "Σ max P@i with recall ≥ r over r = 0, 0.01, … 1",
}

TABLE: tuple[Definition, ...] = (
    # --- counts ----------------------------------------------------------------------------------
    Definition(
        "NumQ",
        "Queries evaluated",
        counts.queries,
        lambda k, p: "number of queries",
        'score([0, 1], "NumQ") == 1',
        cutoff=False,
        aggregate="sum",
        grouped=True,
    ),
    Definition(
        "NumRet",
        "Items retrieved",
        counts.retrieved,
        lambda k, p: f"number of items retrieved, {_to(k)}",
        'score([0, 1, 0], "NumRet") == 3',
        aggregate="sum",
        grouped=True,
    ),
    Definition(
        "NumRel",
        "Relevant items, retrieved or not",
        counts.relevant,
        lambda k, p: "number of relevant items, retrieved or not",
        'score([0, 1, 0], "NumRel", relevant=4) == 4',
        parameters=(REL,),
        cutoff=False,
        aggregate="sum",
        grouped=True,
    ),
    Definition(
        "NumRelRet",
        "Relevant items retrieved",
        counts.relevant_retrieved,
        lambda k, p: _hits(k),
        'score([0, 1, 1], "NumRelRet@2", relevant=4) == 1',
        parameters=(REL,),
        aggregate="sum",
        grouped=True,
    ),
    Definition(
        "NumNonrelRet",
        "Items judged nonrelevant that were retrieved",
        counts.nonrelevant_retrieved,
        lambda k, p: f"number of items with 0 ≤ grade < {_exact(p['rel'])}, {_to(k)}",
        'score([0, 1, 1], "NumNonrelRet") == 1',
        parameters=(REL,),
        aggregate="sum",
        monotone=False,
        grouped=True,
        nonrelevant=True,
    ),
    Definition(
        "Judged",
        "Share of the results that is judged",
        counts.judged,
        lambda k, p: f"judged items, {_to(k)}",
        norm=lambda k, p: _filled(k, p["norm"]),
        example='score([0, 1], "Judged@4") == 2 / 4',
        parameters=(DEPTH, MEAN),
        conventions="An item with a negative grade is in the pool but not judged. " + _SHORT,
        undefined="0 where nothing was retrieved.",
        grouped=True,
        nonrelevant=True,
    ),
    Definition(
        "Unjudged",
        "Share of the results that is not judged",
        counts.unjudged,
        lambda k, p: f"unjudged items, {_to(k)}",
        norm=lambda k, p: _depth(k),
        example='score([0, 1], "Unjudged@4") == 0',
        parameters=(MEAN,),
        monotone=False,
        conventions="Ranks that a short list leaves empty are neither judged nor unjudged.",
        undefined="0 where nothing was retrieved.",
        grouped=True,
        nonrelevant=True,
    ),
    # --- sets ------------------------------------------------------------------------------------
    Definition(
        "P",
        "Precision",
        sets.precision,
        lambda k, p: _hits(k),
        norm=lambda k, p: _filled(k, p["norm"]),
        example='score([1, 0, 1], "P@5") == 2 / 5',
        parameters=(REL, DEPTH, MEAN),
        aliases=("Precision", "SetP"),
        conventions=_SHORT + " With norm=retrieved it is not: the hits are divided by k or N, "
        "whichever is less. Without a cutoff: all retrieved items, divided by their number.",
        undefined="0 where nothing was retrieved. " + _NO_RELEVANT,
        grouped=True,
    ),
    Definition(
        "R",
        "Recall",
        sets.recall,
        lambda k, p: _hits(k),
        norm=lambda k, p: {
            "R": "R",
            "min": f"min(R,{_depth(k)})",
            "possible": f"min(R,{_depth_filled(k)})",
        }[p["norm"]],
        example='score([1, 0, 1], "R@2", relevant=4) == 1 / 4',
        parameters=(
            REL,
            Parameter("norm", "R", "what the hits are divided by", words=("R", "min", "possible")),
            MEAN,
        ),
        aliases=("Recall", "SetR"),
        conventions="norm=min divides by the most that k results can hold (capped recall); possible by "
        "the most that the list, up to k, can hold.",
        undefined=_NO_RELEVANT,
        grouped=True,
    ),
    Definition(
        "F",
        "F measure, the weighted harmonic mean of precision and recall",
        sets.f_measure,
        lambda k, p: f"Σ (1+β²)·rel(i), {_to(k)}",
        norm=lambda k, p: f"(β²·R + {_depth(k)}), β = {_exact(p['beta'])}",
        example='score([1, 0, 1], "F@3", relevant=4) == 2 * 2 / (4 + 3)',
        parameters=(
            Parameter(
                "beta",
                1.0,
                "how much more recall counts than precision",
                low=0.0,
                high=1e6,
                usual=(0.5, 2.0),
            ),
            REL,
            MEAN,
        ),
        aliases=("F1", "SetF"),
        conventions="The quotient equals (1+β²)·P·R / (β²·P + R) of the same cutoff.",
        undefined=_NO_RELEVANT,
        cite="van Rijsbergen, Information Retrieval, 2nd ed., 1979, ch. 7",
        grouped=True,
    ),
    Definition(
        "Rprec",
        "R-precision: precision at rank R, or at a multiple of it",
        sets.r_precision,
        lambda k, p: f"Σ rel(i), i ≤ {_multiple(p)}",
        norm=lambda k, p: _multiple(p),
        example='score([1, 0, 1, 1], "Rprec", relevant=3) == 2 / 3',
        parameters=(
            REL,
            Parameter(
                "mult", 1.0, "the cutoff as a multiple of R", low=0.0, high=1e6, open_ends=True
            ),
            WHOLE,
            MEAN,
        ),
        aliases=("RPrecision",),
        cutoff=False,
        undefined=_NO_RELEVANT,
    ),
    Definition(
        "Success",
        "Success: is any of the first k relevant?",
        first.success,
        lambda k, p: f"1 if any rel(i), {_to(k)}",
        'score([0, 0, 1], "Success@2") == 0',
        parameters=(REL, MEAN),
        aliases=("Hit", "HitRate", "Accuracy"),
        undefined=_NO_RELEVANT,
    ),
    Definition(
        "SetAP",
        "Set average precision: precision times recall",
        sets.set_average_precision,
        lambda k, p: f"Σ rel(i)·hits/{_depth(k)}, {_to(k)}",
        norm=lambda k, p: "R",
        example='score([1, 0, 1], "SetAP", relevant=4) == 2 / 3 * 2 / 4',
        parameters=(REL, MEAN),
        expected=False,
        undefined=_NO_RELEVANT,
        grouped=True,
    ),
    Definition(
        "Utility",
        "Linear utility of the retrieved set",
        sets.utility,
        lambda k, p: (
            f"{_exact(p['hit'])}·relevant retrieved {_plus(p['noise'])}·nonrelevant retrieved "
            f"{_plus(p['miss'])}·relevant missed, {_to(k)}"
        ),
        'score([1, 0, 1], "Utility", relevant=4) == 2 - 1',
        parameters=(
            Parameter("hit", 1.0, "what a relevant item is worth", low=-1e6, high=1e6),
            Parameter("noise", -1.0, "what another item costs", low=-1e6, high=1e6),
            Parameter("miss", 0.0, "what a missed relevant item costs", low=-1e6, high=1e6),
            REL,
        ),
        conventions="Everything retrieved that is not relevant costs, judged or not.",
        grouped=True,
    ),
    # --- average ---------------------------------------------------------------------------------
    Definition(
        "AP",
        "Average precision",
        average.average_precision,
        lambda k, p: f"Σ P@i·rel(i), {_to(k)}",
        norm=lambda k, p: _AP_NORM[p["norm"]](k),
        example='score([1, 0, 1, 0, 0], "AP@5", relevant=4) == (1 / 1 + 2 / 3) / min(4, 5)',
        parameters=(
            REL,
            Parameter(
                "norm",
                "min",
                "what the sum is divided by",
                words=("R", "min", "possible", "found", "k"),
            ),
            MEAN,
        ),
        aliases=("MAP",),
        monotone=False,
        conventions="norm=R is the textbook's; min is R or k, whichever is less; found is the "
        "number of relevant items within the cutoff, which a system can raise its value by "
        "shortening; possible is R, k or N, whichever is least, which a short list lowers too; k is the "
        "cutoff. Without a cutoff R and min are the same. "
        "With norm=found a late relevant item can lower the value.",
        undefined=_NO_RELEVANT,
        cite="Buckley & Voorhees, Retrieval System Evaluation, in TREC, MIT Press, 2005; "
        "Craswell & Robertson, Average Precision at n, Encyclopedia of Database Systems, 2009",
        grouped=True,
    ),
    Definition(
        "MeanP",
        "The mean of P@1 … P@k, a common mistake: this is not average precision",
        average.mean_precision,
        lambda k, p: f"Σ P@i, {_to(k)} (that is Σ rel(i)·(1/i + … + 1/{_depth(k)}))",
        norm=lambda k, p: _depth(k),
        example='round(score([1, 0, 1], "MeanP@3"), 4) == round((1 + 1 / 2 + 2 / 3) / 3, 4)',
        parameters=(REL, MEAN),
        conventions="Precision is taken at every rank, relevant or not, so that a perfect ranking "
        "scores below 1 once R < k. It has a name of its own because it is often reported as AP.",
        undefined=_NO_RELEVANT,
    ),
    Definition(
        "MeanR",
        "The mean of R@1 … R@k",
        average.mean_recall,
        lambda k, p: f"Σ R@i, {_to(k)} (that is Σ rel(i)·({_depth(k)} - i + 1) ÷ R)",
        norm=lambda k, p: _depth(k),
        example='score([1, 0, 1], "MeanR@3", relevant=2) == (1 / 2 + 1 / 2 + 2 / 2) / 3',
        parameters=(REL, MEAN),
        undefined=_NO_RELEVANT,
    ),
    Definition(
        "APR",
        "Average precision over the first R ranks, known as MAP@R",
        average.average_precision_to_r,
        lambda k, p: "Σ P@i·rel(i), i ≤ R",
        norm=lambda k, p: "R",
        example='score([1, 0, 1], "APR", relevant=2) == (1 / 1) / 2',
        parameters=(REL, MEAN),
        aliases=("MAPR",),
        cutoff=False,
        expected=False,
        conventions="As AP@k over min(R,k) with k = R: what stands below rank R counts as missed.",
        undefined=_NO_RELEVANT,
        cite="Musgrave, Belongie & Lim, A Metric Learning Reality Check, ECCV 2020",
    ),
    Definition(
        "YAAP",
        "Yet another average precision: the log odds of AP's sum",
        average.yaap,
        lambda k, p: f"ln((1 + S) ÷ (1 + R - S)), S = Σ P@i·rel(i), {_to(k)}",
        'round(score([1, 0], "YAAP", relevant=2), 4) == 0.0',
        parameters=(REL,),
        aliases=("yaap",),
        expected=False,
        conventions="0 is the middle of the scale; values have no bounds.",
        undefined=_NO_RELEVANT,
        cite="Robertson, SIGIR 2012 (tutorial measure in trec_eval)",
    ),
    # --- first -----------------------------------------------------------------------------------
    Definition(
        "RR",
        "Reciprocal rank of the first relevant item",
        first.reciprocal_rank,
        lambda k, p: f"1 ÷ rank of the first relevant item, {_to(k)}",
        'score([0, 0, 1], "RR") == 1 / 3',
        parameters=(REL, MEAN),
        aliases=("MRR", "ReciprocalRank"),
        undefined=_NO_RELEVANT,
        cite="Voorhees, The TREC-8 Question Answering Track Report, 1999",
    ),
    # --- gain ------------------------------------------------------------------------------------
    Definition(
        "DCG",
        "Discounted cumulated gain",
        gain.dcg,
        lambda k, p: f"Σ {_gain(p)} ÷ log2(i+1), {_to(k)}",
        'score([3, 0, 2], "DCG") == 3 + 2 / 2',
        parameters=(GAIN,),
        conventions="A grade of 0 or less gains nothing, unless a map gives it a gain.",
        undefined=_NO_RELEVANT,
        cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002",
    ),
    Definition(
        "IDCG",
        "DCG of the best possible ranking",
        gain.ideal_dcg,
        lambda k, p: f"Σ {_gain(p)} ÷ log2(i+1), {_to(k, 'J')}, all judged items from the best",
        'score([2, 0, 3], "IDCG@2") == 3 + 2 / log2(3)',
        parameters=(GAIN,),
        undefined=_NO_RELEVANT,
        cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002",
    ),
    Definition(
        "nDCG",
        "Normalized discounted cumulated gain",
        gain.ndcg,
        lambda k, p: f"Σ {_gain(p)} ÷ log2(i+1), {_to(k)}",
        norm=lambda k, p: "the same of the ideal ranking",
        example='score([2, 0, 3], "nDCG") == (2 + 3 / 2) / (3 + 2 / log2(3))',
        parameters=(GAIN, MEAN),
        aliases=("NDCG",),
        conventions="The ideal ranking holds everything judged for the query, retrieved or not, "
        "cut at the same k.",
        undefined=_NO_RELEVANT,
        cite="Järvelin & Kekäläinen, ACM TOIS 20(4), 2002; exp: Burges et al., ICML 2005",
    ),
    Definition(
        "nDCGrel",
        "nDCG averaged over the relevant items",
        gain.ndcg_at_relevant,
        lambda k, p: "Σ nDCG@i at relevant items (missed ones: the final nDCG)",
        norm=lambda k, p: "number of them" + _gain_note(p),
        example='score([1, 0], "nDCGrel", relevant=1) == 1.0',
        parameters=(GAIN, MEAN),
        aliases=("ndcg_rel",),
        cutoff=False,
        expected=False,
        undefined=_NO_RELEVANT,
        cite="trec_eval, ndcg_rel (experimental)",
    ),
    Definition(
        "RnDCG",
        "nDCG averaged over the ranks where the ideal ranking changes gain",
        gain.ndcg_at_levels,
        lambda k, p: "Σ nDCG@n, n = number of judged items of each gain and above, and N",
        norm=lambda k, p: "number of these ranks" + _gain_note(p),
        example='score([1, 0], "RnDCG", relevant=1) == 1.0',
        parameters=(GAIN, MEAN),
        aliases=("Rndcg",),
        cutoff=False,
        expected=False,
        conventions="N is one of the ranks where it exceeds the number of relevant items by 2.",
        undefined=_NO_RELEVANT,
        cite="trec_eval, Rndcg (experimental)",
    ),
    Definition(
        "G",
        "Normalized gain: discounted by what better items would have gained",
        gain.normalized_gain,
        lambda k, p: f"Σ {_gain(p)} ÷ log2(2 + ideal gain to i - gain to i)",
        norm=lambda k, p: "Σ of all gains",
        example='score([1, 0], "G", relevant=1) == 1.0',
        parameters=(GAIN, MEAN),
        cutoff=False,
        expected=False,
        monotone=False,
        conventions="The ideal gains at least 1 at every rank.",
        undefined=_NO_RELEVANT,
        cite="trec_eval, G (experimental)",
    ),
    Definition(
        "binG",
        "Binary G: discounted by the nonrelevant items before",
        gain.binary_gain,
        lambda k, p: "Σ rel(i) ÷ log2(2 + nonrelevant items before i)",
        norm=lambda k, p: "R",
        example='score([0, 1], "binG") == 1 / log2(3)',
        parameters=(REL, MEAN),
        cutoff=False,
        expected=False,
        undefined=_NO_RELEVANT,
        cite="trec_eval, binG (experimental)",
    ),
    # --- cascade ---------------------------------------------------------------------------------
    Definition(
        "ERR",
        "Expected reciprocal rank of a reader who stops when satisfied",
        cascade.expected_reciprocal_rank,
        lambda k, p: (
            f"Σ 1/i · s(i) · Π_{{j<i}} (1 - s(j)), {_to(k)}, s = (2^grade - 1) / 2^{_exact(p['max'])}"
        ),
        'score([1, 0], "ERR(max=1)") == 1 / 2',
        parameters=(
            Parameter(
                "max",
                4.0,
                "the highest grade of the scale",
                low=0.0,
                high=1000.0,
                open_ends=True,
                usual=(1.0, 2.0, 3.0, 5.0),
            ),
            MEAN,
        ),
        expected=False,
        conventions="A grade above max is an error; 4 is the scale of the TREC Web tracks.",
        undefined=_NO_RELEVANT,
        cite="Chapelle, Metzler, Zhang & Grinspan, CIKM 2009",
    ),
    Definition(
        "RBP",
        "Rank-biased precision of a reader who goes on with probability p",
        cascade.rank_biased_precision,
        lambda k, p: f"(1 - p)·Σ rel(i)·p^(i-1), {_to(k)}, p = {_exact(p['p'])}",
        'round(score([1, 0, 1], "RBP(p=0.5)"), 6) == (1 + 1 / 4) / 2',
        parameters=(
            GOING_ON,
            REL,
            MEAN,
        ),
        conventions="What the unjudged items could add to it is RBPResidual.",
        undefined=_NO_RELEVANT,
        cite="Moffat & Zobel, ACM TOIS 27(1), 2008",
    ),
    Definition(
        "RBPResidual",
        "What RBP could gain if everything unjudged, or not retrieved, were relevant",
        cascade.residual,
        lambda k, p: f"1 - (1 - p)·Σ judged(i)·p^(i-1), {_to(k)}, p = {_exact(p['p'])}",
        'round(score([1, 0], "RBPResidual(p=0.5)"), 6) == 1 - (1 + 1 / 2) / 2',
        parameters=(
            GOING_ON,
            MEAN,
        ),
        monotone=False,
        conventions="The tail beyond the last result counts in full.",
        cite="Moffat & Zobel, ACM TOIS 27(1), 2008",
        nonrelevant=True,
    ),
    # --- interpolated ----------------------------------------------------------------------------
    Definition(
        "IPrec",
        "Interpolated precision at a recall level",
        interpolated.interpolated_precision,
        lambda k, p: f"max P@i over ranks with recall ≥ {_exact(p['recall'])}",
        'score([0, 1, 1], "IPrec(recall=0.5)") == 2 / 3',
        parameters=(
            Parameter("recall", 0.0, "the recall level", low=0.0, high=1.0, written=True),
            REL,
            ROUNDING,
            MEAN,
        ),
        cutoff=False,
        expected=False,
        conventions="0 where that recall is never reached.",
        undefined=_NO_RELEVANT,
        cite="Manning, Raghavan & Schütze, Introduction to Information Retrieval, 2008, ch. 8",
        grouped=True,
    ),
    Definition(
        "IAP",
        "Interpolated average precision",
        interpolated.interpolated_average_precision,
        lambda k, p: f"Σ IPrec over {p['points']} recall levels from 0 to 1",
        norm=lambda k, p: str(p["points"]),
        example='score([1], "IAP", relevant=2) == 6 / 11',
        parameters=(
            Parameter("points", 11, "the number of recall levels", numbers=(11, 101)),
            REL,
            ROUNDING,
            MEAN,
        ),
        cutoff=False,
        expected=False,
        conventions="11 points: PASCAL VOC 2007 and old TREC reports; 101 points: COCO.",
        undefined=_NO_RELEVANT,
        cite="Everingham et al., IJCV 88(2), 2010; Lin et al., ECCV 2014",
        grouped=True,
    ),
    Definition(
        "AUPR",
        "Area under the precision–recall curve",
        interpolated.area_under_curve,
        lambda k, p: f"{_AREA_TERMS[p['rule']]}, {_to(k)}",
        norm=lambda k, p: (
            str(p["rule"])
            if isinstance(p["rule"], int)
            else "100"
            if p["rule"] == "linear101"
            else "R"
        ),
        example='score([0, 1], "AUPR(rule=trapezoid)") == (0 + 1 / 2) / 2',
        parameters=(
            Parameter(
                "rule",
                "step",
                "how the area is taken: step is AP; trapezoid joins the points of all ranks, from "
                "recall 0 with precision 1, by straight lines; davis_goadrich lets the others grow "
                "evenly with the relevant items from point to point; linear101 joins the best precisions "
                "by straight lines, from precision 1 to 0, and reads them at 101 recalls; interpolated, 11 and 101 take the best precision from a recall on, at "
                "every recall or at so many levels",
                words=("step", "trapezoid", "interpolated", "davis_goadrich", "linear101"),
                numbers=(11, 101),
            ),
            REL,
            MEAN,
        ),
        aliases=("AUCPR",),
        expected=False,
        grouped=True,
        conventions="The area that recall does not reach counts as 0. step equals AP(norm=R). "
        "interpolated: PASCAL VOC since 2010; 11: VOC 2007; 101: COCO; trapezoid: Oxford and Paris buildings.",
        undefined=_NO_RELEVANT,
        cite="Everingham et al., IJCV 88(2), 2010; Lin et al., ECCV 2014; Philbin et al., CVPR 2007",
    ),
    # --- sparse ----------------------------------------------------------------------------------
    Definition(
        "bpref",
        "Binary preference: judged nonrelevant items that stand before relevant ones",
        sparse.bpref,
        lambda k, p: "Σ_relevant (1 - min(n,R) ÷ min(NR,R)), n = nonrelevant before",
        norm=lambda k, p: "R",
        example='score([1, 0, 1, 0], "bpref") == (1 + (1 - 1 / 2)) / 2',
        parameters=(REL, MEAN),
        aliases=("Bpref",),
        cutoff=False,
        expected=False,
        conventions="Unjudged items are passed over; NR counts items judged nonrelevant.",
        undefined=_NO_RELEVANT,
        cite="Buckley & Voorhees, SIGIR 2004 (as corrected in trec_eval 8)",
        nonrelevant=True,
    ),
    Definition(
        "infAP",
        "Inferred AP, for a pool of which a random sample was judged",
        sparse.inferred_average_precision,
        lambda k, p: "Σ_relevant (1/i + (i-1)/i · pooled/(i-1) · (rel+ε)/(rel+nonrel+2ε)), above i",
        norm=lambda k, p: "R",
        example='score([1, 0], "infAP") == 1.0',
        parameters=(REL, MEAN),
        cutoff=False,
        expected=False,
        monotone=False,
        conventions="A negative grade marks an item in the pool that was not judged. ε = 0.00001.",
        undefined=_NO_RELEVANT,
        cite="Yilmaz & Aslam, CIKM 2006",
        nonrelevant=True,
    ),
)

BY_NAME = {row.name: row for row in TABLE}
