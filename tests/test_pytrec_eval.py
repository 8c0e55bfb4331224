"""germane.pytrec_eval beside the original: recorded answers, to the last digit, and types of errors."""

import json
import random
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy
import pytest

import germane
from germane import pytrec_eval

from pytrec_collections import ODD, Case, draw

RECORDED = json.loads(
    Path(__file__).with_name("data").joinpath("pytrec_calls.json").read_text("utf-8")
)
MORE = json.loads(Path(__file__).with_name("data").joinpath("pytrec_eval.json").read_text("utf-8"))[
    "pytrec_eval"
]


def answer(case: Case, module: Any) -> Any:
    made = module.RelevanceEvaluator(case.qrels, case.measures, **case.choices)
    return made.evaluate(case.run)


def call(expression: str, module: Any) -> Any:
    try:
        return eval(expression, {**vars(module), "numpy": numpy})
    except Exception as error:
        name = "ValueError" if isinstance(error, germane.GermaneError) else type(error).__name__
        return {"error": name}


def same(one: Any, other: Any) -> bool:
    """Are both equal, with NaN equal to itself and keys in one order?"""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)


@pytest.mark.parametrize("recorded", RECORDED["cases"], ids=lambda _: "")
def test_random_collections(recorded: list[Any]) -> None:
    case = Case(*recorded[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(answer(case, pytrec_eval), recorded[4])


@pytest.mark.parametrize("level", ["1", "2"])
def test_every_measure(level: str) -> None:
    made = pytrec_eval.RelevanceEvaluator(
        MORE["qrels"], pytrec_eval.supported_measures, relevance_level=int(level)
    )
    answers = made.evaluate(MORE["run"])
    for query, values in MORE["values by relevance_level"][level].items():
        got = {name: answers[query][name] for name in MORE["measures"]}
        want = [float("nan") if value is None else value for value in values]
        assert same(got, dict(zip(MORE["measures"], want, strict=True))), query


@pytest.mark.parametrize("expression", ODD)
def test_odd_calls(expression: str) -> None:
    assert same(call(expression, pytrec_eval), RECORDED["calls"][expression])


def test_names() -> None:
    assert sorted(pytrec_eval.supported_measures) == RECORDED["measures"]
    assert {name: sorted(of) for name, of in pytrec_eval.supported_nicknames.items()} == RECORDED[
        "nicknames"
    ]


def test_one_evaluator_many_times() -> None:
    """Single queries have the values that all of them have together."""
    made = pytrec_eval.RelevanceEvaluator(MORE["qrels"], {"official", "ndcg_cut.3"})
    together = made.evaluate(MORE["run"])
    for _ in range(2):
        for query, got in MORE["run"].items():
            assert same(made.evaluate({query: got})[query], together[query])


def test_data_of_the_caller_stay() -> None:
    qrels, run = {"q": {"a": 1}, "r": {}}, defaultdict(dict, {"q": {"a": 1.0}})
    pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert qrels == {"q": {"a": 1}, "r": {}}
    assert run == {"q": {"a": 1.0}}


def test_findings_only_if_asked_for() -> None:
    qrels, run = {"1": {"d1": 1}, "2": {"d2": 1}}, {"1": {"D1": 1.0}, "3": {"d2": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {"1": {"map": 0.0}}
    with pytest.warns(germane.GermaneWarning):
        pytrec_eval.RelevanceEvaluator(qrels, {"map"}, findings="warn").evaluate(run)


@pytest.mark.parametrize(
    "name", ["P.0", "P.05,5", "ndcg.1", "G_1", "Rndcg.5", "iprec_at_recall.0.1,0.10"]
)
def test_names_that_end_the_original(name: str) -> None:
    with pytest.raises(ValueError, match=name.replace("_1", ".1")):
        pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, [name])


def test_numbers_beyond_the_range() -> None:
    with pytest.raises(OverflowError, match="2\\^53"):
        pytrec_eval.RelevanceEvaluator({"q": {"a": 2**60}}, {"map"})
    made = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map"})
    with pytest.raises(OverflowError, match="query 'q', item 'a'"):
        made.evaluate({"q": {"a": 10**400}})


@pytest.mark.live
@pytest.mark.parametrize("seed", range(20))
def test_beside_the_original(seed: int) -> None:
    original = pytest.importorskip("pytrec_eval")
    original.RelevanceEvaluator({"q": {"a": 1}}, {"map"}).evaluate({"q": {"a": 1.0}})
    rng = random.Random(time.time_ns() + seed)
    for _ in range(100):
        case = draw(rng)
        want = answer(case, original)
        assert same(answer(case, pytrec_eval), want), case
