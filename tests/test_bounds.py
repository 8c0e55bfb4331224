"""Bounds: against every way to grade the items without a judgment."""

import json
import re
from itertools import product
from pathlib import Path

import pytest

import germane
from germane import cli

LIST = ["a", "x", "b", "y", "c", "z"]
QRELS = {"q": {"a": 0, "b": 2, "c": 1, "missed": 1}}
MEASURES = (
    "P@4 P P(norm=retrieved)@8 P(norm=k)@8 Success@2 RR RR@3 DCG@5 DCG DCG(gain=1:1_2:5)@5 ERR@4"
    " RBP(p=0.8) AP(norm=k)@5 AP(norm=k) MeanP@4"
)


@pytest.mark.parametrize("name", MEASURES.split())
def test_bounds_are_those_of_every_assignment(name: str) -> None:
    measure = germane.parse(name)
    best = 4 if measure.name == "ERR" else 2
    result = germane.evaluate(QRELS, {"q": LIST}, [measure])
    values = []
    for grades in product((0, 1, best), repeat=3):
        known = {**QRELS["q"], **dict(zip("xyz", grades, strict=True))}
        values.append(germane.evaluate({"q": known}, {"q": LIST}, [measure])[measure].mean)
    found = result.bounds(measure)
    assert (found.low, found.high) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert found.low <= found.mean <= found.high


WITHOUT = {
    "AP": "the norm counts relevant items",
    "nDCG@10": "the norm counts relevant items",
    "RBP(norm=min)@3": "the norm counts relevant items",
    "RBP(norm=possible)@4": "the norm counts relevant items",
    "DCG(gain=1:5_2:1)@4": "gains do not grow with the grade",
    "DCG(gain=0:1_1:2_2:3)@4": "items of grade 0 count",
    "P(rel=0)@4": "items of grade 0 count",
}


@pytest.mark.parametrize("name", WITHOUT)
def test_other_measures_say_why_they_have_no_bounds(name: str) -> None:
    result = germane.evaluate(QRELS, {"q": LIST}, name)
    with pytest.raises(germane.errors.MeasureError, match=f"because {WITHOUT[name]}") as error:
        result.bounds(name)
    listed = re.findall(r"Bounds exist for (.*) and", str(error.value))[0].split(", ")
    assert {*listed} == {germane.parse(one).name for one in MEASURES.split()} - {"AP"}


def test_measures_of_whole_lists_have_no_bounds() -> None:
    result = germane.evaluate({"u": ["a"]}, {"u": ["b", "a"]}, "Gini@2 P@1 AP", catalogue=3)
    with pytest.raises(germane.errors.MeasureError, match="Gini@2 is about whole lists"):
        result.bounds("Gini@2")
    notes = str(germane.types.Results({"run": result}).bounds())
    assert "no bounds, because the norm counts relevant items: AP\n" in notes
    assert "no bounds, because they are about whole lists: Gini@2\n" in notes


def test_share_of_judged_results() -> None:
    result = germane.evaluate(QRELS, {"q": LIST}, "P@4 RR")
    assert result.bounds("P@4").judged == 2 / 4
    assert result.bounds("RR").judged == 3 / 6
    assert (
        germane.evaluate({"q": {"a": 1, "b": -1}}, {"q": ["a", "b"]}, "P@2").bounds("P@2").judged
        == 0.5
    )


def test_orders_that_are_open() -> None:
    runs = {"one": {"q": ["b", "c"]}, "two": {"q": ["x", "y"]}, "three": {"q": ["x", "b"]}}
    bounds = germane.evaluate_many(QRELS, runs, "P@2").bounds()
    assert {pair[1:] for pair in bounds.open} == {("two", "three")}
    assert "could reverse the order of two and three" in str(bounds)


def test_conventions_that_have_no_bounds() -> None:
    removed = germane.evaluate(QRELS, {"q": LIST}, "P@4", unjudged="remove")
    with pytest.raises(germane.errors.InputError, match="unjudged=remove has removed"):
        removed.bounds("P@4")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, one, two = (str(tmp_path / name) for name in ("qrels.txt", "one.run", "two.run"))
    Path(qrels).write_text("q 0 a 1\nq 0 b 0\np 0 a 1\n", "utf-8")
    Path(one).write_text("q Q0 a 1 2 x\nq Q0 x 2 1 x\np Q0 x 1 1 x\n", "utf-8")
    Path(two).write_text("q Q0 b 1 2 x\nq Q0 a 2 1 x\np Q0 a 1 1 x\n", "utf-8")
    assert cli.main(["evaluate", qrels, one, two, "-m", "P@2 AP", "--bounds"]) == 0
    shown = capsys.readouterr().out
    assert "all worthless" in shown
    assert "no bounds, because the norm counts relevant items" in shown
    assert cli.main(["compare", qrels, one, two, "-m", "P@2", "--bounds"]) == 0
    assert "open: items without a judgment" in capsys.readouterr().out
    assert cli.main(["compare", qrels, one, two, "-m", "P@2", "--bounds", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["bounds"][""]["open"] == [["P@2", "one", "two"]]
    assert cli.main(["evaluate", qrels, one, "-m", "AP", "--bounds"]) == 2


def test_report_has_bounds_where_they_are_asked_for() -> None:
    qrels, runs = {"q": {"a": 1, "b": 0}}, {"one": {"q": ["x", "a", "b", "y"]}, "two": {"q": ["a"]}}
    page = germane.report(qrels, runs, "P@4 AP", bounds=True).html
    section = page.partition('<section id="unjudged">')[2].partition("</section>")[0]
    assert "<td>0.2500</td><td>0.2500</td><td>0.7500</td><td>0.5000</td>" in section
    assert "no bounds, because the norm counts relevant items" in section
    assert 'id="unjudged"' not in germane.report(qrels, runs, "P@4 AP").html
    with pytest.raises(germane.errors.MeasureError, match="no closed form"):
        germane.report(qrels, runs, "AP", bounds=True)
