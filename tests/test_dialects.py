"""Dialects say what the tools said, and spread says which stage moved a number."""

import importlib.util
import json
import math
import time
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import Policy, cli
from germane.types import Dialect

import conformance
from strategies import STAGES

DIALECTS = tuple(germane.dialects().values())
CASES, ANSWERS = conformance.fixture()
EVERY = [
    pytest.param(one, foreign, id=f"{one.name}:{foreign.name}")
    for one in DIALECTS
    for foreign in one.measuring
]
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"d": 1}, "q3": {"e": 0}, "q4": {"f": 1}}
RUN = {
    "q1": {"x": 2.0, "a": 2.0, "c": 1.0, "b": -1.0},
    "q2": {"y": 1.0, "d": -0.5},
    "q3": {"e": 1.0},
}
JUDGED = {"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}


# --- What was recorded -----------------------------------------------------------------------------


@pytest.mark.parametrize("library", ANSWERS)
def test_recorded_answers(library: str) -> None:
    """To 1e-9, or to the precision of the tool; or a limit of the dialect says why not."""
    failed = [
        f"{label} {name}: {outcome.says}"
        for label, name, outcome in conformance.outcomes(CASES, library, ANSWERS[library])
        if outcome.word == "failed"
    ]
    assert not failed, failed[:5]


def test_a_tool_that_the_folder_lacks_keeps_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some tools were recorded by record_answers.py into another folder than most."""
    source = Path(__file__).parent / "data" / "record_conformance.py"
    spec = importlib.util.spec_from_file_location("record_conformance", source)
    assert spec is not None
    assert spec.loader is not None
    recorder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recorder)
    before = recorder.JSON.read_text("utf-8")
    kept = tmp_path / "conformance.json"
    kept.write_text(before, "utf-8")
    monkeypatch.setattr(recorder, "JSON", kept)
    (tmp_path / "answers").mkdir()
    (tmp_path / "cases.json").write_text(json.dumps({"cases": json.loads(before)["cases"]}))
    recorder.main(tmp_path)
    assert kept.read_text("utf-8") == before


@pytest.mark.slow
def test_most_recorded_answers_are_reproduced() -> None:
    """A limit is an exception: it must not be where the answers go, of every third case."""
    some = {name: CASES[name] for name in sorted(CASES)[::3]}
    words = [
        outcome.word
        for library, recorded in ANSWERS.items()
        for _, _, outcome in conformance.outcomes(some, library, recorded)
    ]
    assert len(words) > 1000
    assert words.count("passed") > 0.85 * len(words)


@pytest.mark.slow
@pytest.mark.skipif(not conformance.FOLDER.exists(), reason="all of the answers are not here")
def test_all_recorded_answers() -> None:
    cases, answers = conformance.load(conformance.FOLDER)
    failed = [
        f"{library} {label} {name}: {outcome.says}"
        for library, recorded in answers.items()
        for label, name, outcome in conformance.outcomes(cases, library, recorded)
        if outcome.word == "failed"
    ]
    assert not failed, (len(failed), failed[:10])


def test_every_recorded_tool_is_asked() -> None:
    assert set(conformance.ASK) >= set(ANSWERS)


def test_a_list_alone_is_relevant_listed() -> None:
    """A tool given the list and nothing else says what all judgments say with relevant=listed."""
    told = [
        (library, function["function"], name, outcome.word, outcome.says)
        for library, recorded in ANSWERS.items()
        for function in recorded["functions"]
        for name, answer in function["answers"].items()
        if (outcome := conformance.seen_alone(library, CASES[name], function, answer))
    ]
    assert [one for one in told if one[3] == "failed"] == []
    assert len({library for library, *_ in told}) > 10
    assert sum(one[3] == "passed" for one in told) > 0.7 * len(told) > 250


# --- Dialects are data -----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_dialect_is_words_that_exist(dialect: Dialect) -> None:
    assert Policy(**dialect.choices)
    for stage, kind in STAGES.items():
        assert set(getattr(dialect, stage)) <= {field.name for field in fields(kind)}
    assert dialect.measuring
    assert dialect.why.endswith(".")
    assert dialect.version
    assert germane.dialects()[dialect.name] is dialect
    names = [name for foreign in dialect.measuring for name in (foreign.name, *foreign.also)]
    assert len(set(names)) == len(names)
    for limit in dialect.limits:
        assert set(limit.only) <= set(names)
        conformance.holds(limit.when, conformance.Given({}, {}), 1, {})


@pytest.mark.parametrize(("dialect", "foreign"), EVERY)
def test_a_foreign_name_is_a_measure(dialect: Dialect, foreign: Any) -> None:
    assert Policy(**{**dialect.choices, **foreign.fill_choices(7, 1.0)})
    written = foreign.write_name(7).replace("{x}", "1")
    assert dialect.find(written) is not None
    measure = germane.parse(f"{dialect.name}:{written}")
    assert measure == germane.parse(foreign.write_measure(7).replace("{x}", "1"))
    assert measure.k == (7 if foreign.cutoff else measure.k)


def test_dialects_are_listed_once() -> None:
    names = [one.name for one in DIALECTS]
    assert len(set(names)) == len(names)
    assert list(germane.dialects()) == names
    aliases = [alias for one in DIALECTS for alias in one.aliases]
    assert len({*names, *aliases}) == len(names) + len(aliases)  # none stands for two
    found = {"q": ["a"]}, {"q": {"a": 1.0}}
    for one in DIALECTS:
        for alias in one.aliases:
            assert germane.evaluate(*found, "germane:AP", dialect=alias).dialect is one


def test_names_of_other_tools() -> None:
    assert germane.parse("trec_eval:map_cut_10") == germane.AP(norm="R") @ 10
    assert germane.parse("trec_eval:map_cut.10") == germane.AP(norm="R") @ 10
    assert germane.parse("trec_eval:P.5") == germane.P @ 5
    assert germane.parse("mteb:map_at_10") == germane.AP(norm="R") @ 10
    assert germane.parse("ml_metrics:mapk@10") == germane.AP @ 10
    assert germane.parse("sklearn:average_precision_score") == germane.AP(norm="R")


def test_a_number_names_the_version_of_the_tool() -> None:
    """Of two tied results the one given first is relevant: MTEB's MRR found it at rank 1, and finds it at rank 2 now."""
    tied = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    values = {
        tool: germane.evaluate(*tied, ["MRR@2"], dialect=tool)["RR@2"].mean
        for tool in ("mteb", "mteb-2.18.18", "beir")
    }
    assert values == {"mteb": 1 / 2, "mteb-2.18.18": 1.0, "beir": 1.0}
    found = germane.reconcile(*tied, measure="MRR@2", reported="1.00000")
    tools = {name.partition(":")[0] for one in found for name in one.candidate.tools}
    assert {"mteb-2.18.18", "beir"} < tools
    assert "mteb" not in tools


# --- Evaluating in a dialect -----------------------------------------------------------------------


def test_evaluate_in_a_dialect() -> None:
    result = germane.evaluate(QRELS, RUN, "map P_2", dialect="trec_eval-9")
    assert result.dialect is germane.dialects()["trec_eval-9"]
    assert result["AP(norm=R)"].per_query == {"q1": (1 / 2 + 2 / 3) / 2, "q2": 1 / 2, "q3": 0.0}
    assert "dialect: trec_eval-9 (trec_eval 9.0.8)" in str(result)


def test_a_choice_overrides_the_dialect() -> None:
    """trec_eval -c."""
    every = germane.evaluate(QRELS, RUN, "map", dialect="trec_eval-9", missing="zero")
    assert every["AP(norm=R)"].per_query["q4"] == 0.0
    with pytest.raises(germane.errors.CoverageError, match="not in the run: 'q4'"):
        germane.evaluate(QRELS, RUN, "map", dialect="trec_eval-10")


def test_a_measure_with_its_own_conventions() -> None:
    """ir_measures has RR from pytrec_eval, and RR@k from the MS MARCO script."""
    result = germane.evaluate(
        {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR RR@2", dialect="ir_measures"
    )
    assert result["RR"].mean == 1 / 2
    assert result["RR@2"].mean == 1.0
    assert "policy of RR@2: " in str(result)


def test_what_is_not_the_tool_s_is_said_to_be_germane_s() -> None:
    """LightGBM's nDCG has exponential gains; torchmetrics' AP divides by what was found."""
    result = germane.evaluate(QRELS, RUN, "germane:nDCG@3 map@3", dialect="lightgbm")
    assert result.own == (germane.nDCG @ 3,)
    assert "germane's own measures, not LightGBM's: nDCG@3\n" in f"{result}\n"
    assert result.to_dict()["runs"][0]["dialect"] == {
        "name": "lightgbm",
        "own": ["nDCG@3"],
        "limits": [],
    }
    assert germane.evaluate(QRELS, RUN, germane.AP @ 3, dialect="lightgbm").own == (germane.AP @ 3,)
    result = germane.evaluate(QRELS, RUN, "map_cut_10 AP(norm=R,rel=2)", dialect="trec_eval-9")
    assert result.own == ()
    assert "germane's own measures" not in str(result)


# Two relevant items of grade 2, one found at rank 2: over those found 1/2, over all 1/4.
HALF = {"q": {"a": 2, "b": 2, "c": 1}}, {"q": {"x": 3.0, "a": 2.0, "c": 1.0}}


def test_a_name_that_the_tool_has_with_other_defaults_is_an_error() -> None:
    """cwl_eval's AP is over the relevant items found: 1/2 here, and germane's own is 1/4."""
    with pytest.raises(germane.errors.MeasureError) as error:
        germane.evaluate(*HALF, "AP(rel=2)", dialect="ir_measures-cwl")
    assert str(error.value) == (
        "ir_measures-cwl: AP(rel=2) has two meanings. AP of ir_measures with cwl_eval is AP(rel=2,norm=found) "
        "(Σ P@i·rel(i), i ≤ N, ÷ relevant items found; relevant: grade ≥ 2); germane's own is AP(rel=2) "
        "(Σ P@i·rel(i), i ≤ N, ÷ R; relevant: grade ≥ 2). Write AP(rel=2,norm=found), or germane:AP(rel=2) for "
        "germane's own."
    )
    for name, value in (("AP(rel=2,norm=found)", 1 / 2), ("germane:AP(rel=2)", 1 / 4)):
        [result] = germane.evaluate(*HALF, name, dialect="ir_measures-cwl").values()
        assert result.mean == value
    own = germane.evaluate(*HALF, [germane.AP(rel=2)], dialect="ir_measures-cwl")
    assert own.own == (germane.AP(rel=2),)


AMBIGUOUS = [
    ("lenskit", "RBP(rel=2)@3", "RBP(p=0.85,rel=2)@3"),  # patience is 0.85
    ("lenskit", "nDCG@3", "nDCG(discount=jarvelin)@3"),
    ("lenskit", "P@3", "P(norm=retrieved)@3"),
    ("rankeval", "RBP", "RBP(p=0.5)"),
    ("trec_eval-9", "AP@3", "AP(norm=R)@3"),
    ("trec_eval-9", "IPrec(recall=0.5)", "IPrec(recall=0.5,rounding=trec9)"),
    ("elliot", "AP@3", "MeanP@3"),
    ("ir_measures-cwl", "AP@3", "AP(norm=found)@3"),  # it has AP without a cutoff alone
    ("scikit-learn-0.18", "AP", "AUPR(rule=trapezoid)"),
    ("implicit", "R@3", "R(norm=min,mean=micro)@3"),
    *((name, "nDCG@3", "nDCG(gain=exp)@3") for name in ("xgboost", "lightgbm", "rankeval", "rax")),
    *(
        (name, "nDCG@3", "nDCG(gain=exp)@3")
        for name in ("tensorflow-ranking", "keras-rs", "elliot")
    ),
    *((name, "DCG@3", "DCG(gain=exp)@3") for name in ("elasticsearch", "quepid", "catalyst")),
]


@pytest.mark.parametrize(("dialect", "name", "theirs"), AMBIGUOUS)
def test_both_meanings_are_named(dialect: str, name: str, theirs: str) -> None:
    with pytest.raises(germane.errors.MeasureError) as error:
        germane.evaluate(*JUDGED, name, dialect=dialect)
    assert f"Write {theirs}, or germane:{germane.parse(name)} for germane's own." in str(
        error.value
    )
    for deliberate in (f"germane:{name}", theirs):
        result = germane.evaluate(*JUDGED, deliberate, dialect=dialect)
        assert result.measures == (germane.parse(deliberate),)


@pytest.mark.parametrize(
    ("dialect", "name"),
    [("catalyst", "Success@3"), ("spotlight", "RR"), ("llama-index", "nDCG@3"), ("autorag", "AP")],
)  # fmt: skip
def test_a_measure_of_the_tool_that_germane_does_not_have(dialect: str, name: str) -> None:
    with pytest.raises(
        germane.errors.MeasureError, match=f"is not germane's {name}: i.*germane:{name} eval"
    ):
        germane.evaluate(*JUDGED, name, dialect=dialect)
    assert germane.evaluate(*JUDGED, f"germane:{name}", dialect=dialect).own


def test_what_is_written_out_is_no_default() -> None:
    for dialect, name in (
        ("trec_eval-9", "AP(norm=k)@3"),
        ("elliot", "AP(norm=R)@3"),  # the mean of precisions has no norm
        ("lightgbm", "nDCG(gain=linear)@3"),
        ("lenskit", "RBP(p=0.8,gain=linear)"),
        ("trec_eval-9", "F@3"),  # trec_eval has F of the whole list, with the same beta
        ("ml_metrics", "AP"),
        ("trec_eval-9", "ERR"),
    ):
        assert germane.evaluate(*JUDGED, name, dialect=dialect).own, name


def test_the_same_formula_is_the_tool_s_own_measure() -> None:
    """Without a cutoff AP(norm=R) is AP; Cornac's takes equal scores as one step: 1/2 here, and not 1."""
    tied = {"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}
    for name in ("AP", "MAP", "AP(norm=R)"):
        result = germane.evaluate(*tied, [name], dialect="cornac")
        assert result.own == ()
        assert [one.mean for one in result.values()] == [1 / 2]
    assert germane.parse("germane:AP(rel=2)@3") == germane.AP(rel=2) @ 3


def test_what_the_tool_has_is_the_tool_s_whatever_it_is_called() -> None:
    """recometrics' nDCG is a number where everything is relevant, all its others are NaN."""
    only = {"q": ["a", "b"]}, {"q": {"a": 2.0, "b": 1.0}}
    for name in ("NDCG@K(k=2)", "nDCG@2", germane.nDCG @ 2):
        [value] = germane.evaluate(*only, [name], dialect="recometrics").values()
        assert value.mean == 1.0
    tied = {"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}
    for name in ("RR@2", germane.RR @ 2):
        assert germane.evaluate(*tied, [name], dialect="ir_measures")["RR@2"].mean == 1.0


def test_the_usual_measures_are_the_tool_s_own() -> None:
    names = lambda dialect: list(map(str, germane.evaluate(*JUDGED, dialect=dialect).measures))  # noqa: E731
    assert names("trec_eval-9") == ["AP(norm=R)", "P@10", "R@100", "RR", "nDCG@10"]
    assert names("voc2007") == ["IAP(rounding=double)"]
    assert names("lenskit") == [
        "AP(norm=possible)",
        "P(norm=retrieved)@10",
        "R(norm=min)@100",
        "RR",
        "nDCG(discount=jarvelin)@10",
    ]


def test_ranx_averages_hits() -> None:
    """ranx 0.3.21: two hits and none are 1.0."""
    qrels, run = (
        {"a": {"x": 1, "y": 1}, "b": {"z": 1}},
        {"a": {"x": 2.0, "y": 1.0}, "b": {"w": 1.0}},
    )
    [hits] = germane.evaluate(qrels, run, ["hits@2"], dialect="ranx").values()
    assert hits.mean == (2 + 0) / 2


def test_ir_measures_counts_the_queries_of_the_run() -> None:
    """ir_measures 0.4.3, of which NumQ, NumRel and NumRet are 1 here; every other mean has both."""
    qrels, run = {"0": {"d2": 2}, "1": {"d2": 2}}, {"1": {"d2": 0.7}}
    result = germane.evaluate(qrels, run, "NumQ NumRel NumRet RR", dialect="ir_measures")
    assert [one.mean for one in result.values()] == [1, 1, 1, 1 / 2]


def test_the_threshold_of_surprise_holds_on_both_sides() -> None:
    """Of four estimates three are at least 3.5, and a rating of two; the best two estimates have one of them."""
    ratings = {"u": {"a": 2.0, "b": 5.0, "c": 3.5, "d": 4.5}, "v": {"a": 1.0}}
    estimates = {"u": {"a": 4.8, "b": 4.2, "c": 3.6, "d": 2.0}, "v": {"a": 3.0}}
    result = germane.evaluate(ratings, estimates, "precision@2 recall@2", dialect="surprise")
    assert [one.per_query for one in result.values()] == [
        {"u": 1 / 2, "v": 0},
        {"u": 1 / 3, "v": 0},
    ]
    assert [one.mean for one in result.values()] == [1 / 4, 1 / 6]
    assert result.limits == {}
    for name in (
        "precision(k=2,threshold=4)",
        "P(norm=retrieved,rel=4)@2",
    ):  # which are one measure
        [value] = germane.evaluate(ratings, estimates, [name], dialect="surprise").values()
        assert value.per_query["u"] == 1 / 2  # b of a and b
    [value] = germane.evaluate(
        ratings, estimates, ["recall(k=4,threshold=4)"], dialect="surprise"
    ).values()
    assert value.per_query["u"] == 1 / 2  # b of b and d, which is estimated at 2
    with pytest.raises(germane.errors.MeasureError) as error:
        germane.evaluate(ratings, estimates, "precision@2", dialect="surprise", min_score=4)
    assert "holds for scores alone, and relevance begins at 3.5" in str(error.value)
    advised = str(error.value).partition("write ")[2].partition(", without")[0]
    [value] = germane.evaluate(ratings, estimates, advised, dialect="surprise").values()
    assert value.per_query["u"] == 1 / 2
    assert "surprise:precision@2" in {
        tool
        for one in germane.reconcile(ratings, estimates, reported="0.25000", measure="precision@2")
        for tool in one.candidate.tools
    }


def test_what_lenskit_changed_in_2026() -> None:
    """Gains below 0 are 0, no gain at all is worth 0, and the mean leaves NaN out."""
    below = {"u": {"a": -2, "b": 1}}, {"u": ["a", "b"]}
    zero = {"u": {"a": 0}, "v": {"a": 1}}, {"u": ["a"], "v": ["a"]}

    def ask(data: Any, name: str, version: str) -> germane.types.Result:
        return germane.evaluate(*data, [name], dialect=f"lenskit-{version}")

    def mean(data: Any, name: str, version: str) -> float:
        [value] = ask(data, name, version).values()
        return value.mean

    assert mean(below, "DCG(gain='rating')", "2026.4") == 1
    [says] = ask(below, "DCG(gain='rating')", "2025.8").limits
    assert says == "A rating below 0 becomes a gain below 0."
    assert mean(zero, "NDCG(gain='rating')", "2026.4") == 1 / 2
    assert math.isnan(mean(zero, "NDCG(gain='rating')", "2025.8"))
    assert [mean(zero, "DCG", version) for version in ("2026.4", "2025.8")] == [1, 1 / 2]
    assert mean(zero, "Hit", "2026.4") == 1
    assert math.isnan(mean(zero, "Hit", "2025.8"))
    assert (
        germane.evaluate(*zero, "Hit", dialect="lenskit").dialect
        is germane.dialects()["lenskit-2026.4"]
    )


def test_torchmetrics_takes_no_hit_below_zero() -> None:
    result = germane.evaluate(
        QRELS["q1"] and {"q": {"a": 1, "b": 1}},
        {"q": {"a": 0.5, "b": -0.5}},
        "RetrievalMAP RetrievalRecall RetrievalHitRate",
        dialect="torchmetrics",
    )
    assert result["AP(norm=found)"].mean == 1.0
    assert result["R"].mean == 1 / 2


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: germane.evaluate(QRELS, RUN, dialect="trek_eval"), germane.errors.PolicyError, "no dialect 'trek_eval'. Did you mean 'trec_eval'?"),
        (lambda: germane.parse("ranks:map"), germane.errors.PolicyError, "no dialect 'ranks'"),
        (lambda: germane.parse("ranx:maps@10"), germane.errors.MeasureError, "ranx has no measure 'maps@10'. Did you mean 'map@10'?"),
        (lambda: germane.evaluate(QRELS, RUN, "map_cut10", dialect="trec_eval-9"), germane.errors.MeasureError, "Did you mean 'map_cut_10'?"),
        (lambda: germane.evaluate(QRELS, RUN, "RetrievalMAP", dialect="torchmetrics"), germane.errors.GradeError, "grades=binary takes only 0 and 1; got 2"),
        (lambda: germane.evaluate(QRELS, RUN, "map", dialect="ranx"), germane.errors.CoverageError, "not in the run"),
        (lambda: germane.evaluate(QRELS, RUN, "ndcg@3", dialect="rankeval"), germane.errors.MeasureError, "rankeval has no measure 'ndcg@3'. germane's own measure of that name is nDCG@3, which may be a different one."),
        (lambda: germane.evaluate(QRELS, RUN, "map", dialect="torchmetrics"), germane.errors.MeasureError, "Of this kind it has 'RetrievalMAP'. germane's own measure of that name is AP, which may be a different one."),
        (lambda: germane.evaluate(QRELS, RUN, ["MAP@10"], dialect="ranx"), germane.errors.MeasureError, "ranx has no measure 'MAP@10'. Did you mean 'map@10'?"),
        (lambda: germane.evaluate(QRELS, RUN, dialect="ml_metrics"), germane.errors.MeasureError, "name some of its own: mapk@10, apk@10"),
        (lambda: germane.parse("trec_eval:map_cut_0"), germane.errors.MeasureError, "Did you mean 'map_cut_10'?"),
        (lambda: germane.parse("ranx:ndgc@10"), germane.errors.MeasureError, "Did you mean 'ndcg@10'?"),
        (lambda: germane.evaluate(QRELS, RUN, "RR RR@10", dialect="ir_measures", min_score=math.nan), germane.errors.PolicyError, "min_score takes a finite number"),
    ],
)  # fmt: skip
def test_errors(ask: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        ask()
    assert message in str(caught.value)


# --- Spread ----------------------------------------------------------------------------------------


def test_spread_says_what_evaluate_says() -> None:
    """Every value of spread is the one that evaluate gives in the dialect."""
    for stated in germane.spread(QRELS, RUN, "AP@2"):
        try:
            result = germane.evaluate(QRELS, RUN, [stated.name], dialect=stated.dialect)
        except germane.GermaneError:
            assert math.isnan(stated.value)
            assert stated.says
        else:
            mean = next(iter(result.values())).mean
            assert stated.value == pytest.approx(mean, nan_ok=True)


def test_spread_names_the_seam() -> None:
    """One stage differs at a time, and is named."""
    qrels, run = {"q": ["a", "b", "c"]}, {"q": {"a": 2.0, "x": 1.0}}
    stages = {one.dialect: one.stages for one in germane.spread(qrels, run, "AP@2")}
    assert stages["trec_eval-9"] == ("measuring",)
    assert stages["ml_metrics"] == ()
    qrels, run = {"q": ["a"]}, {"q": {"a": 1.0, "b": 1.0}}
    stages = {one.dialect: one.stages for one in germane.spread(qrels, run, "AP@2")}
    assert stages["sentence-transformers"] == ("judging",)
    qrels, run = {"q": ["a"]}, {"q": {"a": 0.5, "b": 0.50000001}}
    stages = {one.dialect: one.stages for one in germane.spread(qrels, run, "AP@2")}
    assert stages["trec_eval-9"] == ()  # b stays first: by score, or by id
    qrels, run = {"q": ["a"], "r": ["z"]}, {"q": {"a": 1.0}}
    stages = {one.dialect: one.stages for one in germane.spread(qrels, run, "AP@2")}
    assert stages["trec_eval-9"] == ("judging",)
    qrels = {"q": {"a": 1}, "r": {"z": 0}}
    stages = {
        one.dialect: one.stages for one in germane.spread(qrels, {"q": ["a"], "r": ["z"]}, "AP@2")
    }
    assert stages["xgboost"] == ("averaging",)


def test_spread_names_the_seam_that_leaves_a_mean_undefined() -> None:
    """0/0 in one tool is a difference, in both it is none."""
    qrels, run = {"q": {"a": 0}}, {"q": ["a"]}
    stated = {one.dialect: one for one in germane.spread(qrels, run, "AP@10")}
    assert math.isnan(stated["rectools"].value)
    assert stated["rectools"].stages == ("averaging",)
    stated = {one.dialect: one for one in germane.spread(qrels, run, "AP@10", no_relevant="skip")}
    assert math.isnan(stated["rectools"].value)
    assert stated["rectools"].stages == ()


def test_spread_says_why_there_is_no_value() -> None:
    """A query without relevant items is NaN to quepid, and skipped by implicit, which is left with none."""
    qrels, run = {"q": {"a": 1}, "r": {"b": 0}}, {"q": ["a"], "r": ["b"]}
    says = {one.dialect: one.says for one in germane.spread(qrels, run, "AP@3")}
    assert says["quepid"] == "NaN for 'r' (1 of 2 queries)"
    assert says["implicit"] == ""
    assert "NaN for 'r' (1 of 2 queries)" in str(germane.spread(qrels, run, "AP@3"))
    says = {o.dialect: o.says for o in germane.spread({"r": {"b": 0}}, {"r": ["b"]}, "AP@3")}
    assert says["rectools"] == "no query counts"
    assert says["implicit"] == "AP@3: no query counts"  # an error of the tool


def test_spread_tells_tools_that_have_no_cutoff_from_those_without_the_measure() -> None:
    notes = germane.spread(*JUDGED, "RR@3").table().notes
    assert "trec_eval-10 recip_rank" in next(one for one in notes if "no cutoff, only RR: " in one)
    assert "trec_eval" not in next(one for one in notes if "no such measure: " in one)


# torchmetrics 1.9.0: RetrievalRecall(top_k=2) of scores .9 .8 .7 with targets 1 0 1, and of 0 1 1.
LISTS = (
    {"p": ["a", "b", "c"], "r": ["d", "e", "f", "g"]},
    {
        "p": {"a": 0.9, "x": 0.8, "b": 0.7},
        "r": {"y": 0.9, "d": 0.8, "e": 0.7},
    },
)


def test_spread_has_both_readings_of_tools_that_see_a_list_alone() -> None:
    spread = germane.spread(*LISTS, "R@2")
    said = {one.dialect: one for one in spread}
    assert said["torchmetrics"].value == (1 / 3 + 1 / 4) / 2
    alone = said["torchmetrics"].listed
    assert alone is not None
    assert alone.value == (1 / 2 + 1 / 2) / 2
    assert alone.stages == ("judging",)
    assert said["trec_eval-9"].listed is None
    assert spread.range[1] == 1 / 2
    assert "torchmetrics (list alone)" in str(spread)
    assert "relevant items that are not in the list were not counted" in str(spread)
    rows = {row["dialect"]: row for row in spread.to_dict()["dialects"]}
    assert rows["torchmetrics"]["list_alone"]["value"] == 1 / 2
    assert rows["trec_eval-9"]["list_alone"] is None


def test_spread_has_one_reading_where_both_are_the_same() -> None:
    assert all(one.listed is None for one in germane.spread(*LISTS, "P@2"))
    given = {one.dialect: one for one in germane.spread(*LISTS, "R@2", relevant="listed")}
    assert given["torchmetrics"].listed is None
    assert given["torchmetrics"].value == given["trec_eval-9"].value == 1 / 2


def test_spread_is_sorted_and_complete() -> None:
    spread = germane.spread(QRELS, RUN, "AP@2")
    values = [one.value for one in spread if not math.isnan(one.value)]
    assert values == sorted(values, reverse=True)
    assert spread.range == (min([*values, spread.own.value]), max([*values, spread.own.value]))
    names = [one.dialect for one in spread]
    assert sorted(chain(names, spread.without)) == sorted(germane.dialects())
    for one in spread:
        assert set(one.stages) <= {*STAGES, "measuring"}
        assert f"{one.dialect} " in str(spread)


@pytest.mark.parametrize("measure", ["AP@10", "AP", "P@5", "R@5", "RR", "nDCG@10"])
def test_many_tools_have_the_usual_measures(measure: str) -> None:
    assert len({one.dialect for one in germane.spread(QRELS, RUN, measure)}) >= 10


def test_spread_of_files(tmp_path: Path) -> None:
    """The same from files as from dicts, whatever is read again."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, judged in QRELS.items() for d, g in judged.items())
    )
    run.write_text(
        "".join(f"{q} Q0 {d} 1 {s} x\n" for q, got in RUN.items() for d, s in got.items())
    )
    from_files = {one.dialect: one.value for one in germane.spread(qrels, run, "AP@2")}
    from_dicts = {one.dialect: one.value for one in germane.spread(QRELS, RUN, "AP@2")}
    assert from_files == pytest.approx(from_dicts, nan_ok=True)


def test_judging_is_shared() -> None:
    """All dialects read the run a handful of times, not once each."""
    qrels = {str(q): {f"d{i:03}": i % 3 for i in range(q, q + 20)} for q in range(20)}
    run = {str(q): {f"d{i:03}": float(i % 7) for i in range(200)} for q in range(20)}
    started = time.process_time()
    spread = germane.spread(qrels, run, "AP@10")
    assert len(spread) > 40
    assert time.process_time() - started < 5


# --- Data without anything to measure --------------------------------------------------------------

EMPTY = {"q": {"a": 1, "b": 0}}, {"q": {}}
IRRELEVANT = {"q": {"a": 0, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("dialect", "given", "names"),
    [
        ("ranx", EMPTY, "map map@10 precision@10 recall@10 r-precision bpref mrr ndcg@10"),
        ("sentence-transformers", IRRELEVANT, "map@3 precision@3 recall@3 mrr@3 ndcg@3 accuracy@3"),
        ("implicit", IRRELEVANT, "map@3 precision@3 ndcg@3"),
        ("rectools", EMPTY, "MAP(k=3) MAP(k=3,divide_by_k=True)"),
        ("trectools", EMPTY, "map precision@3 recall@3 bpref rprec"),  # there 0/0
        ("xgboost", EMPTY, "map ndcg pre@3"),
        ("lightgbm", EMPTY, "map@3"),
        ("recometrics", ({"q": ["a"]}, {"q": ["a", "x"]}), "AP@K(k=3) NDCG@K(k=3) RR@K(k=3)"),
    ],
)
def test_a_tool_has_no_value(dialect: str, given: Any, names: str) -> None:
    """An error, as in the released tools."""
    for name in names.split():
        with pytest.raises(germane.errors.CoverageError):
            germane.evaluate(*given, [name], dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "given", "names", "value"),
    [
        ("ranx", IRRELEVANT, "map bpref ndcg@10 precision@10", 0.0),
        ("sentence-transformers", EMPTY, "map@3 mrr@3 reranking_ap", 0.0),
        ("implicit", EMPTY, "map@3 precision@3 ndcg@3", 0.0),
        ("rectools", EMPTY, "Precision(k=3) Recall(k=3) MRR(k=3)", 0.0),
        ("trectools", EMPTY, "reciprocal_rank", 0.0),
        ("trectools", IRRELEVANT, "map precision@3 recall@3 bpref rprec reciprocal_rank", 0.0),
        ("keras-rs", EMPTY, "MeanAveragePrecision PrecisionAtK", 0.0),
    ],
)
def test_a_tool_has_a_value(dialect: str, given: Any, names: str, value: float) -> None:
    for name in names.split():
        result = germane.evaluate(*given, [name], dialect=dialect)
        assert next(iter(result.values())).mean == value


def test_an_empty_list_beside_others() -> None:
    """ranx: (1 + 0) / 2, Keras-RS: 1 / 1; trectools divides by the queries that have results."""
    qrels, run = {"q": ["a"], "r": ["b"]}, {"q": {"a": 1.0}, "r": {}}
    for dialect, name, mean in (
        ("ranx", "map", 1 / 2),
        ("xgboost", "map", 1 / 2),
        ("keras-rs", "MeanAveragePrecision", 1 / 1),
        ("trectools", "reciprocal_rank", 1 / 1),
    ):
        [result] = germane.evaluate(qrels, run, [name], dialect=dialect).values()
        assert result.mean == mean


def test_what_mlflow_makes_of_nothing_to_find_is_a_limit() -> None:
    """As recorded from MLflow 3.17.2: recall_at_3 and ndcg_at_3 are 1 for [] and []."""
    lists: tuple[tuple[list[str], bool], ...] = (([], True), (["a", "b", "c"], False))
    for ranked, doubtful in lists:
        result = germane.evaluate(
            {"q": []}, {"q": ranked}, "recall_at_3 ndcg_at_3", dialect="mlflow"
        )
        assert bool(result.limits) is doubtful


# --- Words that dialects need ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "value"),
    [
        ({"ties": "trec"}, 1 / 2),
        ({"ties": "ascending"}, 1.0),
        ({"scores": "single", "ties": "ascending"}, 1.0),
        ({"min_score": 1.5}, 0.0),
        ({"own": "drop"}, 1 / 2),
    ],
)
def test_reciprocal_rank(choices: dict[str, Any], value: float) -> None:
    result = germane.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR", **choices)
    assert result["RR"].mean == value


def test_own_items_are_dropped() -> None:
    for run in ({"q": {"q": 2.0, "a": 1.0}}, {"q": ["q", "a"]}):
        assert germane.evaluate({"q": {"a": 1}}, run, "RR")["RR"].mean == 1 / 2
        assert germane.evaluate({"q": {"a": 1}}, run, "RR", own="drop")["RR"].mean == 1.0


def test_queries_without_negatives() -> None:
    """bpref compares with what was judged not relevant: q has none, r one that stands below."""
    qrels, run = {"q": {"a": 1}, "r": {"b": 1, "c": 0}}, {"q": ["a"], "r": ["b", "c"]}
    bpref = lambda **choices: germane.evaluate(qrels, run, "bpref", **choices)["bpref"]  # noqa: E731
    assert bpref().per_query == {"q": 1.0, "r": 1.0}
    assert bpref(all_relevant="zero").per_query == {"q": 0.0, "r": 1.0}
    assert math.isnan(bpref(all_relevant="nan").mean)
    assert bpref(all_relevant="nan", undefined="zero").mean == (0 + 1) / 2


@pytest.mark.parametrize("judged", [["a", "b", "c"], {"a": 1, "b": 1, "c": 1}])
def test_an_unjudged_result_is_not_relevant(judged: Any) -> None:
    """recometrics 0.1.6: 1/3 at 2 of five items, three of them relevant; NaN where all three are all."""
    ask = {"dialect": "recometrics", "measures": ["AP@K(k=2)"]}
    run = {"a": 9.0, "x": 8.0, "y": 7.0, "b": 1.0, "c": 0.5}
    [value] = germane.evaluate({"q": judged}, {"q": run}, **ask).values()
    assert value.mean == (1 / 1) / 3
    only = {item: score for item, score in run.items() if item in judged}
    [value] = germane.evaluate({"q": judged}, {"q": only}, **ask).values()
    assert math.isnan(value.mean)
    [value] = germane.evaluate({"q": [*judged, "d"]}, {"q": only}, **ask).values()
    assert math.isnan(value.mean)  # an item that was not retrieved is relevant too


def test_a_mean_over_no_query() -> None:
    nothing = {"q": {"a": 0}}, {"q": ["a"]}
    for word, mean in (("nan", math.nan), ("zero", 0.0)):
        result = germane.evaluate(*nothing, "AP", no_relevant="skip", undefined=word)
        assert result["AP"].mean == pytest.approx(mean, nan_ok=True)
    with pytest.raises(germane.errors.CoverageError, match="AP: no query counts"):
        germane.evaluate(*nothing, "AP", no_relevant="skip", undefined="error")
    with pytest.raises(germane.errors.CoverageError, match="AP: NaN for 'q'"):
        germane.evaluate(*nothing, "AP", no_relevant="nan", undefined="error")


def test_fewer_results_than_the_cutoff() -> None:
    qrels, run = {"q": ["a"], "r": ["b"]}, {"q": ["a", "x"], "r": ["b", "x", "y"]}
    p = lambda k, **choices: germane.evaluate(qrels, run, f"P@{k}", **choices)[f"P@{k}"]  # noqa: E731
    assert p(3).per_query == {"q": 1 / 3, "r": 1 / 3}
    for short in ("error", "error_if_all", "nan"):
        assert p(1, short=short).mean == 1.0
    assert p(2, short="error").mean == 1 / 2
    with pytest.raises(
        germane.errors.CoverageError, match=r"P@3: fewer than 3 results: 'q' \(1 of 2"
    ):
        p(3, short="error")
    assert p(3, short="error_if_all").mean == 1 / 3
    with pytest.raises(
        germane.errors.CoverageError, match=r"P@4: fewer than 4 results: 'q', 'r' \(2 of 2"
    ):
        p(4, short="error_if_all")
    assert math.isnan(p(2, short="nan").per_query["q"])
    assert p(2, short="nan").per_query["r"] == 1 / 2
    assert germane.evaluate(qrels, run, "P", short="error")["P"].mean == (1 / 2 + 1 / 3) / 2


def test_results_of_one_score() -> None:
    qrels = {"q": ["a"], "r": ["a"], "s": ["a"]}
    run = {"q": {"a": 1.0, "x": 1.0}, "r": {"a": 1.0, "x": 1.0, "y": 0.5}, "s": {"a": 1.0}}
    values = germane.evaluate(qrels, run, "R", constant="nan")["R"].per_query
    assert math.isnan(values["q"])
    assert values["r"] == 1.0
    assert math.isnan(values["s"])


def test_pyvespa_has_more_for_sets_than_for_grades() -> None:
    """By hand: gains 2 and 0 of the grades 2 and 1 at rank 1 and 2; 1 and 0 of a set of two."""
    log = math.log2(3)
    qrels, run = {"q": {"a": 2, "b": 1}}, {"q": ["a", "x"]}
    [graded] = germane.evaluate(qrels, run, ["ndcg@2"], dialect="pyvespa-graded").values()
    assert graded.mean == pytest.approx(2 / (2 + 1 / log))
    [flat] = germane.evaluate(qrels, run, ["ndcg@2"], dialect="pyvespa").values()
    assert flat.mean == pytest.approx(1 / (1 + 1 / log))
    with pytest.raises(germane.errors.MeasureError, match="pyvespa-graded has no measure 'map@2'"):
        germane.evaluate(qrels, run, ["map@2"], dialect="pyvespa-graded")


def test_other_orders_of_ties_count_special_queries_alike() -> None:
    """r finds nothing in any order; q finds its item at rank 1 or 2."""
    qrels, run = {"q": ["a"], "r": ["b"]}, {"q": {"a": 1.0, "x": 1.0}, "r": {"y": 1.0}}
    result = germane.evaluate(qrels, run, "RR", no_hit="one")["RR"]
    assert (result.worst, result.best) == ((1 / 2 + 1) / 2, (1 + 1) / 2)
    without = germane.evaluate(qrels, {**run, "r": {}}, "RR", empty="nan")["RR"]
    assert math.isnan(without.best)
    assert math.isnan(without.worst)


def test_places_are_no_ids_to_any_dialect() -> None:
    """The columns of arrays have no ids: a tool that orders ties by them has no value."""
    grades, scores = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.5, 0.5, 0.1], [0.2, 0.1, 0.0]])
    stated = {one.dialect: one for one in germane.spread(grades, scores, "AP@2")}
    for name in ("trec_eval-9", "beir", "sentence-transformers"):
        assert math.isnan(stated[name].value)
        assert "orders tied items by their ids" in stated[name].says
    assert stated["ml_metrics"].value == ((1 / 1 + 0) / 2 + 1 / 2) / 2
    for verb in (
        lambda: germane.evaluate(grades, scores, "map_cut_2", dialect="trec_eval-9"),
        lambda: germane.spread(grades, scores, "AP@2", ties="trec"),
        lambda: germane.reconcile(grades, scores, reported=0.5, measure="AP@2", ties="ascending"),
    ):
        with pytest.raises(germane.errors.PolicyError, match="orders tied items by their ids"):
            verb()


def test_copies_count_again() -> None:
    run = {"u": ["a", "a", "b", "c"]}
    for word, value in (("keep", (1 + 2 / 3) / 2), ("recount", (1 + 2 / 2 + 3 / 3) / 2)):
        assert germane.evaluate({"u": ["a", "b"]}, run, "AP", duplicates=word)["AP"].mean == value


def test_a_relevant_item_listed_twice() -> None:
    qrels, run = {"u": ["a", "a", "b"]}, {"u": ["a", "b"]}
    with pytest.raises(germane.errors.DuplicateError):
        germane.evaluate(qrels, run, "AP")
    assert germane.evaluate(qrels, run, "AP", repeated="once")["AP"].mean == 1.0
    assert germane.evaluate(qrels, run, "AP", repeated="each")["AP"].mean == 2 / 3


def test_which_queries_count() -> None:
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"], "r": [], "z": ["a"]}
    per_query = lambda **choices: germane.evaluate(qrels, run, "RR", **choices)["RR"].per_query  # noqa: E731
    assert per_query() == {"q": 1.0, "r": 0.0}
    assert per_query(empty="missing", missing="skip") == {"q": 1.0}
    assert math.isnan(per_query(empty="nan")["r"])
    assert per_query(unknown="zero") == {"q": 1.0, "r": 0.0, "z": 0.0}
    assert per_query(no_hit="one") == {"q": 1.0, "r": 1.0}
    assert per_query(no_hit="skip") == {"q": 1.0}
    with pytest.raises(germane.errors.CoverageError, match="RR: nothing relevant found: 'r'"):
        per_query(no_hit="error")
    assert per_query(empty="error_if_all") == {"q": 1.0, "r": 0.0}
    assert per_query(empty="missing_if_some", missing="skip") == {"q": 1.0}
    with pytest.raises(germane.errors.CoverageError, match="its lists are empty"):
        germane.evaluate({"r": ["b"]}, {"r": []}, "RR", empty="error_if_all")
    alone = germane.evaluate({"r": ["b"]}, {"r": []}, "RR", empty="missing_if_some")
    assert alone["RR"].per_query == {"r": 0.0}
    with pytest.raises(germane.errors.CoverageError, match="without results: 'r'"):
        per_query(empty="error")
    with pytest.raises(germane.errors.CoverageError, match="not in the qrels: 'z'"):
        per_query(unknown="error")


def test_rounding_before_and_after_the_mean() -> None:
    qrels, run = {q: ["a", "b", "c"] for q in "qr"}, {"q": ["a", "x", "y"], "r": ["a", "b", "x"]}
    mean = lambda **choices: germane.evaluate(qrels, run, "P@3", **choices)["P@3"].mean  # noqa: E731
    assert mean() == (1 / 3 + 2 / 3) / 2
    assert mean(query_digits=1) == (0.3 + 0.7) / 2
    assert mean(digits=0) == 0.0
    half = {"q": ["a"]}, {"q": list("xyzwuvta")}  # 1/8
    rounded = lambda **choices: germane.evaluate(*half, "RR", query_digits=2, **choices)["RR"].mean  # noqa: E731
    assert (rounded(), rounded(halves="even"), rounded(halves="up")) == (0.13, 0.12, 0.13)


def test_gdeval_rounds_halves_to_the_even_digit() -> None:
    """As recorded from ir_measures 0.4.3: ERR is 1/64 where the only hit has grade 1 of 4 at rank 4."""
    qrels, run = {"1": {"a": 1}}, {"1": ["x", "y", "z", "a"]}
    assert germane.evaluate(qrels, run, "ERR@5", dialect="ir_measures")["ERR@5"].mean == 0.01562


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nDCG(dcg='log2')@5", "nDCG@5"),
        ("nDCG(dcg='log2',judged_only=True)@5", "nDCG(judged_only=True)@5"),
        ("SDCG(dcg='log2',max_rel=3)@5", "SDCG(max_rel=3)@5"),
        ("SDCG(max_rel=3,dcg='log2')@5", "SDCG(max_rel=3)@5"),
        ("Compat(p=0.8,normalize=True)", "Compat(p=0.8)"),
        ("Compat(normalize=True)", "Compat"),
        ("SetP(relative=False)", "SetP"),
    ],
)
def test_defaults_of_ir_measures_can_be_written(name: str, plain: str) -> None:
    qrels, run = {"q": {"a": 1, "b": 2, "c": 0}}, {"q": ["c", "x", "a", "b"]}
    one, other = (germane.evaluate(qrels, run, n, dialect="ir_measures") for n in (name, plain))
    assert one.to_dict() == other.to_dict()


def test_grades() -> None:
    qrels, run = {"q": {"a": 2.7, "b": -1, "c": 1}}, {"q": ["c", "b", "a"]}
    dcg = lambda **choices: germane.evaluate(qrels, run, "DCG", **choices)["DCG"].mean  # noqa: E731
    assert dcg() == 1 + 2.7 / 2
    assert dcg(grades="whole") == 1 + 2 / 2
    assert dcg(grades="ones") == 1 + 1 / 2
    judged = germane.evaluate(qrels, run, "Judged@3", grades="nonnegative")["Judged@3"].mean
    assert judged == 1.0


def test_a_micro_mean() -> None:
    """Hits of all users over all of min(R,k): (1 + 2) / (1 + 3)."""
    qrels, run = {"u": ["a"], "v": ["a", "b", "c"]}, {"u": ["a", "x", "y"], "v": ["a", "b", "x"]}
    result = germane.evaluate(qrels, run, "R(norm=min,mean=micro)@3 R(norm=min)@3")
    assert result["R(norm=min,mean=micro)@3"].mean == 3 / 4
    assert result["R(norm=min)@3"].mean == (1 / 1 + 2 / 3) / 2


@pytest.mark.parametrize("dialect", ["trec_eval-9", "trec_eval-10", "pytrec_eval"])
@pytest.mark.parametrize(
    ("multiple", "value"),
    [("0.05", 0 / 1), ("0.335", 1 / 7), ("0.15", 1 / 4), ("1.00", 1 / 21)],
)
def test_a_multiple_of_the_relevant_items_is_rounded_as_in_trec_eval(
    dialect: Any, multiple: str, value: float
) -> None:
    """The cutoff is int(x · R + 0.9): 1, 7, 4 and 21. Rounded up it would be 2, 8, 4 and 21."""
    relevant = {f"d{i}": 1 for i in range(21)}
    name = f"Rprec_mult_{multiple}"
    result = germane.evaluate({"q": relevant}, {"q": {"x": 2.0, "d0": 1.0}}, name, dialect=dialect)
    assert [each.mean for each in result.values()] == [value]


def test_the_table_repeats_the_conventions_that_were_given() -> None:
    """They hold in every dialect, and its numbers are no others without them."""
    assert "given" not in str(germane.spread(QRELS, RUN, "AP@2"))
    found = germane.spread(QRELS, RUN, "AP@2", missing="skip", depth=5)
    assert found.given == ("missing=skip", "depth=5")
    assert "given, in every dialect: missing=skip, depth=5" in str(found)


def test_the_values_of_one_list(capsys: pytest.CaptureFixture[str]) -> None:
    """A list of grades is one query whose other relevant items are not retrieved."""
    values = germane.spread([1, 0, 1, 0], "AP@10", relevant=20)
    qrels = {"q": [f"d{i}" for i in range(1, 21)]}
    run = {"q": ["d1", "x", "d2", "y"]}
    same = germane.spread(qrels, run, "AP@10")
    assert {(row.dialect, row.value) for row in values} == {
        (row.dialect, row.value) for row in same
    }
    assert values.own.value == germane.score([1, 0, 1, 0], "AP@10", relevant=20)
    counted = germane.spread([1, 0, 1, 0])
    assert "R = 2, as counted in the list; relevant= sets the number" in str(counted)
    assert cli.main(["dialects", "1 0 1 0", "--relevant", "20"]) == 0
    assert capsys.readouterr().out == str(values)
    with pytest.raises(germane.errors.InputError, match="ties=… is for qrels and a run"):
        germane.spread([1, 0], "AP", ties="best")
    with pytest.raises(germane.errors.InputError, match="the run is missing"):
        germane.spread({"q": {"a": 1}})


# Grades and scores of two lists, and what the tools said of them (CatBoost 1.2.10, LightGBM 4.7.0, XGBoost 3.2.0).
BOOSTED = {"q1": {"a": 3, "b": 1, "c": 1}, "q2": {"d": 0, "e": 0}}
EVEN = {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}, "q2": {"d": 1.0, "e": 2.0}}


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize(
    ("dialect", "name", "value"),
    [
        ("catboost", "NDCG", (0.757923746068198 + 1) / 2),
        ("catboost", "NDCG:type=Exp;top=1", (0.14285714285714285 + 1) / 2),
        ("catboost", "NDCG:top=1;type=Exp", (0.14285714285714285 + 1) / 2),
        ("catboost", "DCG:top=1", (1.0 + 0) / 2),
        ("catboost", "DCG:type=Exp", (5.130929753571458 + 0) / 2),
        ("lightgbm", "ndcg@3", (1.0 + 1) / 2),
        ("xgboost", "ndcg@3-", (1.0 + 0) / 2),
        ("xgboost", "ndcg-", (1.0 + 0) / 2),
    ],
)
def test_gains_of_boosting_libraries(dialect: str, name: str, value: float) -> None:
    result = germane.evaluate(BOOSTED, EVEN, name, dialect=dialect)
    assert not result.own
    [measured] = result.values()
    assert measured.mean == pytest.approx(value, abs=1e-12)
    assert germane.parse(f"{dialect}:{name}") == measured.measure
