"""Names of measures: what parses, what prints, and that they are the same thing."""

import copy
import math
import pickle
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import AP, P, nDCG, parse
from germane.errors import MeasureError
from germane.types import Measure

from strategies import ALL, Definition, Parameter

MOST = 10**12  # the largest cutoff
SOME = settings(derandomize=True, deadline=None, max_examples=12)
ROWS = pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def numbers(parameter: Parameter) -> st.SearchStrategy[float]:
    low = None if parameter.low == -math.inf else parameter.low
    high = None if parameter.high == math.inf else parameter.high
    inside = st.floats(
        low,
        high,
        allow_nan=False,
        allow_infinity=False,
        exclude_min=parameter.open_ends,
        exclude_max=parameter.open_ends and high is not None,
    )
    return inside | inside.map(lambda x: round(x, 2)).filter(lambda x: fits(parameter, x))


def fits(parameter: Parameter, x: float) -> bool:
    assert parameter.low is not None
    inside = parameter.low <= x <= parameter.high
    return inside and not (parameter.open_ends and x in (parameter.low, parameter.high))


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Everything that a parameter's declaration allows."""
    options: list[st.SearchStrategy[Any]] = []
    if parameter.words:
        options.append(st.sampled_from(parameter.words))
    if parameter.numbers:
        options.append(st.sampled_from(parameter.numbers))
    if parameter.low is not None:
        options.append(numbers(parameter))
    if parameter.grades:
        options.append(st.dictionaries(NUMBERS, st.floats(0, 1e100), min_size=1, max_size=4))
    return st.one_of(options)


def read_several(given: Any) -> tuple[Measure, ...]:
    """The measures of a list of names, as every function reads them."""
    run = {"q": ["d"]}
    try:
        return germane.evaluate({"q": {"d": 0}}, run, given).measures
    except MeasureError as error:
        if "the judgments have no subtopics" not in str(error):
            raise
        return germane.evaluate({"q": {"d": {"s": 0}}}, run, given).measures


def can_be_computed(measure: Measure) -> bool:
    """A right name may ask for what has no value: the weights of 10^12 ranks, a scale of no width."""
    try:
        germane.evaluate({"q": {"d": 0}}, {"q": ["d"]}, measure)
    except MeasureError:
        return False
    return True


@st.composite
def measures(draw: st.DrawFn, row: Definition) -> Measure:
    chosen = {p.name: draw(values(p)) for p in row.parameters if draw(st.booleans())}
    k = draw(st.none() | st.integers(1, MOST)) if row.cutoff else None
    return Measure(row.name, tuple(chosen.items()), k)


# --- Laws of every name ----------------------------------------------------------------------------


@ROWS
@SOME
@given(data=st.data())
def test_a_name_reads_back(row: Definition, data: st.DataObject) -> None:
    measure = data.draw(measures(row))
    again = parse(str(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == str(measure) == repr(measure)
    if can_be_computed(measure):
        assert read_several(f" {measure} ,{measure}") == (measure,)


@ROWS
@SOME
@given(data=st.data())
def test_a_name_is_safe(row: Definition, data: st.DataObject) -> None:
    """In a file name, a heading, a table cell, an unquoted word between quotes."""
    name = str(data.draw(measures(row)))
    assert re.fullmatch(r"[A-Za-z0-9()=,.@:_+-]+", name)
    assert not name.startswith(("-", "=", "+", "@", "."))


@ROWS
@SOME
@given(data=st.data())
def test_a_value_has_one_spelling(row: Definition, data: st.DataObject) -> None:
    measure = data.draw(measures(row))
    backwards = Measure(row.name, tuple(reversed(measure.parameters)), measure.k)
    assert backwards == measure
    assert hash(backwards) == hash(measure)
    assert str(backwards) == str(measure)
    whole = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in measure.parameters
    }
    assert Measure(row.name, tuple(whole.items()), measure.k) == measure
    assert str(Measure(row.name, tuple(whole.items()), measure.k)) == str(measure)


@ROWS
@SOME
@given(data=st.data())
def test_every_measure_has_a_definition(row: Definition, data: st.DataObject) -> None:
    measure = data.draw(measures(row))
    assert measure.definition == measure.definition.strip()
    assert "\n" not in measure.definition
    assert "None" not in measure.definition
    assert str(measure) in measure.explanation
    if measure.k is not None:
        assert re.search(rf"\b{measure.k}\b", measure.definition), "the definition hides the cutoff"


@ROWS
def test_parameters_show_in_the_definition(row: Definition) -> None:
    """No two measures that differ in a parameter have the same definition."""
    k = 7 if row.cutoff else None
    plain = Measure(row.name, (), k)
    for parameter in row.parameters:
        for word in (
            *parameter.words,
            *parameter.numbers,
            *([] if parameter.low is None else [parameter.low + 0.25]),
        ):
            other = Measure(row.name, ((parameter.name, word),), k)
            assert (other.definition == plain.definition) == (other == plain), other


@ROWS
def test_defaults_are_not_written(row: Definition) -> None:
    plain = Measure(row.name)
    spelled = Measure(row.name, tuple((p.name, p.default) for p in row.parameters))
    assert spelled == plain
    written = [p for p in row.parameters if p.written]
    assert str(plain) == row.name or written
    assert all(f"{p.name}=" in str(plain) for p in written)


@ROWS
def test_measures_can_be_copied(row: Definition) -> None:
    measure = Measure(row.name)
    assert copy.deepcopy(measure) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure
    with pytest.raises(AttributeError):
        measure.name = "AP"  # type: ignore[misc]


# --- Spelling --------------------------------------------------------------------------------------


def test_no_two_rows_share_a_name() -> None:
    names = [name for row in ALL for name in (row.name, *row.aliases)]
    folded = [
        f"{row.name}:{name.casefold()}"
        for row in ALL
        for name in {n.casefold() for n in (row.name, *row.aliases)}
    ]
    assert len({entry.split(":")[1] for entry in folded}) == len(folded)
    assert len(set(names)) == len(names)


@ROWS
def test_aliases_only_parse(row: Definition) -> None:
    for alias in row.aliases:
        assert parse(alias) == Measure(row.name)
        assert str(parse(alias)) == str(Measure(row.name))


@pytest.mark.parametrize(
    ("written", "prints"),
    [
        ("MAP", "AP"),
        ("map@10", "AP@10"),
        ("MAP(norm=R)@10", "AP(norm=R)@10"),
        ("NDCG@5", "nDCG@5"),
        ("ndcg(gain=exp)", "nDCG(gain=exp)"),
        ("MRR", "RR"),
        ("Hit@1", "Success@1"),
        ("HitRate@1", "Success@1"),
        ("Precision@5", "P@5"),
        ("recall@100", "R@100"),
        ("F1@3", "F@3"),
        ("GMAP", "AP(mean=geometric)"),
        ("gm_map", "AP(mean=geometric)"),
        ("GMAP(norm=R)@10", "AP(norm=R,mean=geometric)@10"),
        ("gm_bpref", "bpref(mean=geometric)"),
        ("Rndcg", "RnDCG"),
        ("ndcg_rel", "nDCGrel"),
        ("AP( norm = R )@10", "AP(norm=R)@10"),
        (" AP ", "AP"),
        ("AP(norm=min)@10", "AP@10"),
        ("AP(rel=1.0,norm=R)", "AP(norm=R)"),
        ("AP(norm=R,rel=2)", "AP(rel=2,norm=R)"),
        ("RBP(p=0.80)", "RBP"),
        ("RBP(p=.9)", "RBP(p=0.9)"),
        ("RBP(p=9e-1)", "RBP(p=0.9)"),
        ("P(rel=2.0)@05", "P(rel=2)@5"),
        ("P(rel=-0)", "P(rel=0)"),
        ("F(beta=0.50)@10", "F(beta=0.5)@10"),
        ("IPrec", "IPrec(recall=0)"),
        ("IPrec(recall=0.10)", "IPrec(recall=0.1)"),
        ("IAP(points=101.0)", "IAP(points=101)"),
        ("nDCG(gain=2:3_1:1.0)@10", "nDCG(gain=1:1_2:3)@10"),
        ("hit_rate@10", "Success@10"),
        ("hr@10", "Success@10"),
        ("HitRatio@10", "Success@10"),
        ("top_k_accuracy@5", "Success@5"),
        ("accuracy@5", "Success@5"),
        ("cmc_top1", "Success@1"),
        ("CMC-Rank-5", "Success@5"),
        ("MeanRR@10", "RR@10"),
        ("IA-AP", "AP_IA"),
        ("nDCG-alpha@5", "alpha_nDCG@5"),
        ("top_5_accuracy", "Success@5"),
        ("top5_accuracy", "Success@5"),
        ("Top-5 accuracy", "Success@5"),
        ("top1", "Success@1"),
        ("acc@1", "Success@1"),
        ("CMC@1", "Success@1"),
        ("cmc1", "Success@1"),
        ("Rank-1", "Success@1"),
        ("rank1", "Success@1"),
        ("Rank-5 accuracy", "Success@5"),
        ("recall_any@5", "Success@5"),
        ("recall_all@5", "AllFound@5"),
        ("recall_all_at_5", "AllFound@5"),
        ("COMP@5", "AllFound@5"),
        ("Full Recall@5", "AllFound@5"),
        ("all_found@5", "AllFound@5"),
        ("average_precision", "AP"),
        ("average-precision@5", "AP@5"),
        ("mean_average_precision", "AP"),
        ("MeanAveragePrecision@5", "AP@5"),
        ("mean average precision at 5", "AP@5"),
        ("mapk@10", "AP@10"),
        ("MAP10", "AP@10"),
        ("TAP@10", "AP@10"),
        ("truncated_AP@10", "AP@10"),
        ("AP_1@5", "AP(norm=R)@5"),
        ("AP_2@5", "AP@5"),
        ("11pt_avg", "IAP"),
        ("11-point average precision", "IAP"),
        ("PR-AUC", "AUPR"),
        ("AUC-PR", "AUPR"),
        ("auprc", "AUPR"),
        ("ROC-AUC", "AUROC"),
        ("prec@10", "P@10"),
        ("P_10", "P@10"),
        ("p_at_10", "P@10"),
        ("precision_at_10", "P@10"),
        ("Precision at 10", "P@10"),
        ("precision_at_5(rel=2)", "P(rel=2)@5"),
        ("recall_at_10", "R@10"),
        ("recall@k=10", "R@10"),
        ("R_cap_at_10", "R(norm=min)@10"),
        ("mrr_at_10", "RR@10"),
        ("MRR10", "RR@10"),
        ("mean reciprocal rank", "RR"),
        ("reciprocal_rank", "RR"),
        ("recip_rank", "RR"),
        ("NDCG_at_5", "nDCG@5"),
        ("nDCG_10", "nDCG@10"),
        ("normalized discounted cumulative gain@10", "nDCG@10"),
        ("Normalised_DCG@10", "nDCG@10"),
        ("R-Precision", "Rprec"),
        ("r_prec", "Rprec"),
        ("R Precision", "Rprec"),
        ("F2@10", "F(beta=2)@10"),
        ("F0.5", "F(beta=0.5)"),
        ("F1-score@3", "F@3"),
        ("MAP@R", "APR"),
        ("mAP(rel=2)@R", "APR(rel=2)"),
        ("P@R", "Rprec"),
        ("recall@r", "Rprec"),
        ("α-nDCG@10", "alpha_nDCG@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("D♯-nDCG@10", "Dsharp_nDCG@10"),
        ("ERR-IA(rel=2)@20", "ERR_IA(rel=2)@20"),
        ("MAP-IA", "AP_IA"),
        ("S-recall@20", "StRecall@20"),
        ("intra-list diversity@5", "ILD@5"),
        ("f1_at_10", "F@10"),
        ("top-10 MRR", "RR@10"),
        ("recall in top 10", "R@10"),
        ("precisionAt10", "P@10"),
        ("mean nDCG@10", "nDCG@10"),
        ("avg_hit_rate@5", "Success@5"),
        ("exp_ndcg@10", "nDCG(gain=exp)@10"),
        ("H@3", "Success@3"),
        ("Top-20 retrieval accuracy", "Success@20"),
        ("MeanP@5", "MeanP@5"),
        ("SDCG@5", "SDCG@5"),
    ],
)
def test_one_spelling_prints(written: str, prints: str) -> None:
    assert str(parse(written)) == prints
    assert parse(prints) == parse(written)


def test_refining() -> None:
    assert str(AP @ 10) == "AP@10"
    assert AP(norm="R") @ 10 == (AP @ 10)(norm="R") == parse("AP(norm=R)@10")
    assert AP @ 10 @ 5 == AP @ 5
    assert AP(norm="R")(norm="min") == AP
    assert AP(norm="R")(rel=2) == AP(rel=2, norm="R")
    assert nDCG(gain={1: 1, 2: 3}) == nDCG(gain=[(2, 3.0), (1, 1)]) == nDCG(gain="1:1_2:3")
    assert str(AP) == "AP", "refining makes a new measure"


@pytest.mark.parametrize("number", [2, 2.0, np.int64(2), np.float32(2), Fraction(2)])
def test_numbers_of_any_kind(number: Any) -> None:
    assert P(rel=number) == P(rel=2)
    assert hash(P(rel=number)) == hash(P(rel=2))
    assert str(P(rel=number)) == "P(rel=2)"


def test_cutoffs_of_any_kind() -> None:
    assert AP @ np.int64(10) == AP @ 10
    assert type((AP @ np.int64(10)).k) is int


def test_several() -> None:
    assert read_several("AP P@5, RR\nAP") == (AP, P @ 5, germane.RR)
    assert read_several(["AP P@5", nDCG @ 3]) == (AP, P @ 5, nDCG @ 3)
    assert read_several(AP) == (AP,)
    assert read_several("mean reciprocal rank, Top-1 accuracy nDCG@3 precision at 5") == (
        germane.RR, germane.Success @ 1, nDCG @ 3, P @ 5,
    )  # fmt: skip
    assert read_several("R Precision AP_2@5") == (germane.R, P, AP @ 5)
    assert read_several(["hit rate", "P 5 AP"]) == (germane.Success, P @ 5, AP)
    assert read_several("nDCG(gain=1:1_2:3)@10 AP(norm=R, rel=2)") == (
        nDCG(gain="1:1_2:3") @ 10,
        AP(norm="R", rel=2),
    )


# --- What is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("mean P@10", "P@10 or MeanP@10"),
        ("mean_recall@5", "R@5 or MeanR@5"),
        ("avg P@10", "P@10 or AP@10"),
        ("mapAt10", "AP@10 or AP(norm=R)@10"),
    ],
)
def test_what_has_several_meanings_is_not_heard_as_one(written: str, meant: str) -> None:
    with pytest.raises(MeasureError, match="meanings") as caught:
        parse(written)
    for name in meant.split(" or "):
        assert f"{name} (" in str(caught.value)
        parse(name)


def test_the_first_ten_of_a_measure_are_not_two_measures() -> None:
    """``top-10 MRR`` was heard as top-10 accuracy and MRR."""
    for name in ("top-10 MRR", "Top 10 recall", "RR Top-5 nDCG@3 Top-5 nDCG"):
        with pytest.raises(MeasureError, match=r"two meanings: \w+@\d+ \(one measure\)"):
            read_several(name)
    assert read_several("RR Top-5 nDCG@3") == (germane.RR, germane.Success @ 5, nDCG @ 3)
    assert read_several("Top-1 nDCG@3") == (germane.Success @ 1, nDCG @ 3)
    assert read_several("top-10 hit rate") == (germane.Success @ 10,)


@pytest.mark.parametrize("written", ["sDCG@5", "-nDCG@10", "--MAP"])
def test_a_sign_or_a_small_letter_makes_another_name(written: str) -> None:
    with pytest.raises(MeasureError):
        parse(written)


@pytest.mark.parametrize(
    ("written", "advised"),
    [
        ("NDCG@[5,10,20]", "NDCG@5 NDCG@10 NDCG@20"),
        ("Recall@{5,10}", "Recall@5 Recall@10"),
        ("ndcg@5,10,20", "ndcg@5 ndcg@10 ndcg@20"),
        ("Success@1 5 10", "Success@1 Success@5 Success@10"),
        ("P@5/10", "P@5 P@10"),
        ("recall@5;recall@10", "recall@5, recall@10"),
        ("MAP/MRR", "MAP, MRR"),
        ("mAP@all", "mAP"),
        ("recall@1k", "recall@1000"),
        ("R@1,000", "R@1000"),
        ("NDCG@10.0", "NDCG@10"),
        ("Recall@20 (%)", "Recall@20"),
        ("Recall@top10", "Recall@10"),
        ("MRR ↑", "MRR"),
        ("nDCG＠10", "nDCG@10"),
        ("`AP`", "AP"),
        ("recall at k = 10", "recall@10"),
        ("ndcg:10", "ndcg@10"),
        ("mapk(10)", "AP@10"),
        ("nDCG@10 and MAP", "nDCG@10, MAP"),
    ],
)
def test_the_advice_on_marks_and_cutoffs_works(written: str, advised: str) -> None:
    with pytest.raises(MeasureError):
        read_several(written)
    with pytest.raises(MeasureError, match=re.escape(repr(advised))):
        parse(written)
    assert read_several(advised)


@pytest.mark.parametrize("written", ["P@10%", "nDCG@-1", "P@10@20", "AP@5:10", "F(2)@10"])
def test_what_is_no_slip_gets_no_name(written: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse(written)
    assert "Did you mean" not in str(caught.value)
    assert "A cutoff is written" not in str(caught.value)


def test_a_fraction_is_suggested_as_no_cutoff() -> None:
    meant = near("fbeta(0.5)")
    assert meant is None or parse(meant)  # it was F@0


@pytest.mark.parametrize("written", ["retrieval", "truncated nDCG", "Recall_10@1"])
def test_a_word_of_a_name_is_no_slip_of_it(written: str) -> None:
    assert near(written) is None


def near(written: str) -> str | None:
    with pytest.raises(MeasureError) as caught:
        parse(written)
    found = re.search(r"Did you mean '([^']*)'\?", str(caught.value))
    return found[1] if found else None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("nDGC@10", "nDCG@10"),
        ("ndgc", "nDCG"),
        ("mapp", "MAP"),
        ("APP@2", "AP@2"),
        ("NDGC", "nDCG"),
        ("Recal@10", "Recall@10"),
        ("Sucess@1", "Success@1"),
        ("bperf", "bpref"),
        ("AP(nrom=R)", "norm"),
        ("AP(norm=minn)", "min"),
        ("AP(norm=fonud)", "found"),
        ("nDCG(gain=expo)", "exp"),
        ("IAP(rounding=trec8)", "trec9"),
        ("Nothing", None),
        ("xyzzy@5", None),
        ("AP(norm=1)", None),
    ],
)
def test_the_nearest_name_is_offered(written: str, meant: str | None) -> None:
    assert near(written) == meant


@ROWS
def test_a_misspelled_name_finds_its_row(row: Definition) -> None:
    if len(row.name) > 3 and row.name != "MeanR":  # MeanRR is as near
        meant = near(row.name + "x")
        assert meant is not None
        assert parse(meant) == Measure(row.name)


@pytest.mark.parametrize(
    "written",
    ["", " ", "@10", "10", "AP@10@5", "AP(", "AP)", "AP()", "AP(R)", "AP(norm)", "AP(=R)", "AP(norm=)",
     "AP(norm=R,)", "AP(norm=R,norm=R)", "AP(norm=R)(rel=2)", "AP@10(norm=R)", "A P",
     "AP@10 P", "AP;P", "AP\x00", "Ａ", "AP@１０", "map_cut_10", "AP(norm='R')", "P(rel=1_0)", "P(rel=0x1)",
     "P(rel=inf)", "P(rel=nan)", "P(rel=1e999)", "AP(__class__=1)", "(" * 2000, "AP(" + "a=1," * 2000 + ")"],
)  # fmt: skip
def test_what_is_no_name(written: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse(written)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("given", [None, 10, 2.5, b"AP", ["AP"], object()])
def test_what_is_no_text(given: Any) -> None:
    with pytest.raises((MeasureError, TypeError)):  # a list cannot be hashed
        parse(given)


@pytest.mark.parametrize(
    "given", [None, 10, {}, {"AP": 10}, [], (), "", " , ", [None], [["AP", 5]], b"AP"]
)
def test_what_is_no_list_of_measures(given: Any) -> None:
    with pytest.raises(MeasureError):
        read_several(given)


def bad_values(parameter: Parameter) -> list[Any]:
    """What a parameter's declaration excludes."""
    bad: list[Any] = [True, False, None, math.nan, math.inf, -math.inf, "", "nothing", "R ", b"R", [], {},
                      [1, 2], {1: "a"}, {"a": 1}, {1: math.nan}, {math.inf: 1}, {1: -1}, {1: 1e300}, object, 1j]  # fmt: skip
    if parameter.low is None:
        bad += [n for n in (0, 1, -1, 0.5, 12, 1e300) if n not in parameter.numbers]
    else:
        bad += [parameter.low - 1, -1e300, math.nextafter(parameter.low, -math.inf)]
        bad += [] if parameter.high == math.inf else [parameter.high + 1, 1e300]
        if parameter.open_ends:
            bad += [x for x in (parameter.low, parameter.high) if math.isfinite(x)]
        bad += ["0.5", "1"]
    bad += [word.upper() for word in parameter.words if word.upper() not in parameter.words]
    if not parameter.grades:
        bad += [{1: 1}, "1:1"]
    return bad


@ROWS
def test_every_bad_value_is_refused(row: Definition) -> None:
    for parameter in row.parameters:
        for value in bad_values(parameter):
            with pytest.raises(MeasureError) as caught:
                Measure(row.name, ((parameter.name, value),))
            message = str(caught.value)
            assert f"{row.name}({parameter.name}=…)" in message, value
            assert parameter.describe_values() in message, value


@ROWS
@SOME
@given(data=st.data())
def test_every_good_value_is_taken(row: Definition, data: st.DataObject) -> None:
    for parameter in row.parameters:
        value = data.draw(values(parameter))
        measure = Measure(row.name, ((parameter.name, value),))
        taken = dict(measure.parameters)[parameter.name]
        assert taken == (tuple(sorted(value.items())) if isinstance(value, dict) else value)


@ROWS
def test_other_parameters_are_refused(row: Definition) -> None:
    known = {p.name for p in row.parameters}
    for name in {"rel", "norm", "gain", "p", "beta", "max", "k", "Rel", ""} - known:
        with pytest.raises(MeasureError, match="takes"):
            Measure(row.name, ((name, 1),))


@ROWS
def test_bad_cutoffs(row: Definition) -> None:
    wrong = [0, -1, 2.5, 10.0, True, np.True_, "5", MOST + 1, 10**30, math.inf, [5]]
    for k in (*wrong, np.array([5, 10])):
        with pytest.raises(MeasureError, match=r"takes no cutoff|must be a positive integer"):
            Measure(row.name) @ k


@ROWS
def test_cutoffs_at_the_ends(row: Definition) -> None:
    for k in (1, MOST):
        if row.cutoff:
            assert (Measure(row.name) @ k).k == k
        else:
            with pytest.raises(MeasureError, match="takes no cutoff"):
                Measure(row.name) @ k


@pytest.mark.parametrize(
    "written",
    ["AP@0", "AP@-1", "AP@2.5", "AP@True", "AP@", "AP@ 10", "AP@1e2", "AP@+5", "AP@9" + "9" * 50],
)
def test_bad_cutoffs_in_text(written: str) -> None:
    with pytest.raises(MeasureError, match="positive integer"):
        parse(written)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("IPrec@0.5", "IPrec(recall=0.5)"),
        ("IPrec@.5", "IPrec(recall=.5)"),
        ("map_cut_10", "AP(norm=R)@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("RetrievalMAP(top_k=3)", "AP(norm=found)@3"),
        ("MAP:top=3", "AP(norm=possible)@3"),
    ],
)
def test_a_name_of_another_form_is_pointed_to_its_own(given: str, meant: str) -> None:
    """And the name that it is pointed to is one."""
    with pytest.raises(MeasureError, match=rf" Did you mean '{re.escape(meant)}'\?") as error:
        parse(given)
    assert str(error.value).count("Did you mean") == 1
    parse(meant)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("ndcg_cut_10", "'nDCG@10'? trec_eval-10, trec_eval-9 and pytrec_eval have a measure of this name."),
        ("average_precision_score", "it is AP(norm=R) in scikit-learn and AUPR(rule=trapezoid) in scikit-learn-0.18."),
        ("apk@10", "it is AP@10 in ml_metrics and MeanP@10 in mean-of-precisions. Write one of these."),
    ],
)  # fmt: skip
def test_a_name_of_a_tool_names_the_tool(given: str, says: str) -> None:
    with pytest.raises(MeasureError, match=re.escape(says)) as error:
        parse(given)
    for dialect in germane.dialects().values():
        listed = dialect.name in re.findall(r"[\w-]+", str(error.value).partition("?")[2])
        assert not listed or dialect.find(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("map_at_k", "'map_at_k' needs a number as its cutoff, as in 'AP@10'."),
        ("precision@k", "'precision@k' needs a number as its cutoff, as in 'P@10'."),
        ("nDCG(gain=exp)_at_K", "is not a measure's name"),
        ("top_k_accuracy", "'top_k_accuracy' needs a number as its cutoff, as in 'Success@10'."),
        ("rank", "'rank' needs a number as its cutoff, as in 'Success@10'."),
        ("accuracy", "'accuracy' needs a number as its cutoff, as in 'Success@10'."),
        ("CMC", "'CMC' needs a number as its cutoff, as in 'Success@10'."),
        ("P_0", "a cutoff must be a positive integer; got 0"),
        (
            "mAP@[.5:.95]",
            "It is a measure of detected boxes: germane boxes and germane.boxes compute it.",
        ),
        (
            "mAP@0.5",
            "It is a measure of detected boxes: germane boxes and germane.boxes compute it.",
        ),
    ],
)
def test_a_name_with_a_wrong_cutoff_is_pointed_to_its_form(given: str, says: str) -> None:
    with pytest.raises(MeasureError, match=re.escape(says)):
        parse(given)


@pytest.mark.parametrize(
    ("given", "first", "second"),
    [
        ("R1", "R@1", "Success@1"),
        ("R_10", "R@10", "Success@10"),
        ("AP_1", "AP@1", "AP(norm=R)"),
        ("AP11", "AP@11", "IAP"),
        ("F5", "F@5", "F(beta=5)"),
        ("map_at_20", "AP@20", "AP(norm=R)@20"),
        ("MAP_R", "APR", "AP(norm=R)"),
        ("AP-R", "APR", "AP(norm=R)"),
        ("RBP80", "RBP@80", "RBP(p=0.80)"),
        ("rbp_95", "RBP@95", "RBP(p=0.95)"),
        ("Hits@10", "Success@10", "Utility(noise=0)@10"),
        ("hits_10", "Success@10", "Utility(noise=0)@10"),
        ("context_precision", "P", "AP(norm=found)"),
        ("Context Precision(rel=2)@5", "P(rel=2)@5", "AP(norm=found,rel=2)@5"),
    ],
)
def test_a_name_of_two_meanings_is_refused_with_both(given: str, first: str, second: str) -> None:
    says = f"has two meanings: {first} ("
    with pytest.raises(MeasureError, match=re.escape(says)) as error:
        parse(given)
    assert f" and {second} (" in str(error.value)
    assert parse(first) != parse(second)
    with pytest.raises(MeasureError, match="has two meanings"):
        read_several(f"AP, {given}")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("GAP", "AP of one list"),
        ("RMSE", "ratings"),
        ("MAiP", "INEX"), ("xinfAP", "in strata"), ("infNDCG", "in strata"), ("pAUC@10", "false positives"), ("AUUC", "a treatment"), ("ARR", "reciprocal ranks of all hits"),
        ("rbo", "germane.rbo"), ("Faithfulness", "language model"),
    ],
)  # fmt: skip
def test_a_measure_that_germane_lacks_is_explained(given: str, says: str) -> None:
    for call in (
        lambda: parse(given),
        lambda: germane.score([1, 0], given),
        lambda: read_several(f"AP {given}"),
    ):
        with pytest.raises(
            MeasureError, match=re.escape(f"germane has no measure '{given}': it is")
        ) as error:
            call()
        assert says in str(error.value)
        assert "Did you mean" not in str(error.value)
    with pytest.raises(MeasureError, match="it is") as error:
        germane.evaluate({"q": ["a"]}, {"q": ["a"]}, given, dialect="ranx")
    assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize(
    "given",
    [
        "IPrec@1.5",
        "nDCG@R",
        "P@0.5",
        "AP@RR",
        "well-known",
        "a-b",
        "MFR",
        "MAO",
        "uMAP",
        "cMAP",
        "NMAP",
        "wMRR",
        "MNRR@10",
        "NDCS",
        "NDCGE@5",
        "EILD",
        "apref",
        "BestRank",
        "eDCG",
        "iNDCG@10",
        "sRBP",
    ],
)
def test_a_name_that_resembles_none_is_pointed_nowhere(given: str) -> None:
    with pytest.raises(MeasureError) as error:
        parse(given)
    assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("written", "measure"),
    [
        ("top_k_accuracy(k=5)", "Success@5"),
        ("hit_rate(k = 10)", "Success@10"),
        ("mapk(k=3)", "AP@3"),
        ("AP_1(k=5)", "AP(norm=R)@5"),
    ],
)
def test_k_in_parentheses_is_the_cutoff(written: str, measure: str) -> None:
    assert str(parse(written)) == measure
