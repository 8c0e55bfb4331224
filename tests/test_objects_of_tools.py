"""Measures that are objects of ir_measures: a stand-in that looks like them, and the library itself."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import germane

QRELS = {"1": {"a": 1, "b": 2, "c": 0}, "2": {"a": 1}}
RUN = {"1": {"b": 0.5, "x": 0.6, "a": 0.1}, "2": {"a": 0.3, "z": 0.9}}


def make_object(written: str) -> Any:
    """An object of a class like ir_measures' own, without that library."""
    base = type("Measure", (), {"__module__": "ir_measures.measures.base"})
    kind = type("_AP", (base,), {"__module__": "ir_measures.measures.ap"})
    kind.__repr__ = lambda self: written  # type: ignore[method-assign]
    return kind()


AP = make_object("AP@10")
P = make_object("P(rel=2)@5")


def test_evaluate_reads_objects_in_their_own_dialect() -> None:
    result = germane.evaluate(QRELS, RUN, [AP, P, "nDCG@5", germane.RR])
    assert list(map(str, result.measures)) == ["AP(norm=R)@10", "P(rel=2)@5", "nDCG@5", "RR"]
    assert result[AP].mean == ((1 / 2 + 2 / 3) / 2 + 1 / 2) / 2
    assert AP in result
    assert result[P].mean == (1 / 5 + 0) / 2


@pytest.mark.parametrize("dialect", [None, "ir_measures", "trec_eval-10", "ranx"])
def test_under_any_dialect(dialect: str | None) -> None:
    assert list(germane.evaluate(QRELS, RUN, AP, dialect=dialect)) == ["AP(norm=R)@10"]


def test_every_verb(tmp_path: Path) -> None:
    """Each parses measures in one way."""
    other = {"1": {"b": 0.9, "a": 0.1}, "2": {"a": 0.3}}
    runs = {"one": RUN, "other": other}
    assert list(germane.evaluate_many(QRELS, runs, [AP])["one"]) == ["AP(norm=R)@10"]
    assert germane.Evaluator(QRELS, AP).measures == (germane.parse("AP(norm=R)@10"),)
    assert germane.score([0, 1], AP) == 1 / 2
    assert germane.parse(AP) == germane.parse("AP(norm=R)@10")
    comparison = germane.compare(QRELS, runs, AP)
    assert comparison.between("other", "one", AP).difference > 0
    explanation = germane.explain(QRELS, RUN, AP, query="1")
    assert "AP(norm=R)@10" in str(explanation)
    germane.report(QRELS, runs, AP).save(tmp_path / "report.html")
    assert "AP(norm=R)@10" in (tmp_path / "report.html").read_text("utf-8")
    assert "AP" in str(germane.spread(QRELS, RUN, AP))


def test_conventions_are_not_dropped() -> None:
    judged_only = make_object("P(judged_only=True)@2")
    with pytest.raises(germane.errors.MeasureError, match="unjudged=remove"):
        germane.evaluate(QRELS, RUN, judged_only)
    with pytest.raises(germane.errors.MeasureError, match="unjudged=remove"):
        germane.evaluate(QRELS, RUN, judged_only, dialect="trec_eval-10")
    result = germane.evaluate(QRELS, RUN, judged_only, dialect="ir_measures")
    assert result["P@2"].per_query == {"1": 1.0, "2": 0.5}
    with pytest.raises(germane.errors.MeasureError, match=r"no measure 'XY@10'"):
        germane.evaluate(QRELS, RUN, make_object("XY@10"))


def test_other_objects_are_refused() -> None:
    odd = type("Measure", (), {"__module__": "elsewhere"})()
    with pytest.raises(germane.errors.MeasureError, match="measures are a string"):
        germane.evaluate(QRELS, RUN, odd)
    with pytest.raises(germane.errors.MeasureError, match="a measure is a name"):
        germane.parse(odd)


def test_the_library_is_not_imported() -> None:
    germane.evaluate(QRELS, RUN, AP)
    assert not isinstance(sys.modules.get("ir_measures"), ModuleType) or "live" in sys.argv


@pytest.mark.live
def test_the_library_itself() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    names = [
        "AP",
        "AP@10",
        "AP(rel=2)",
        "nDCG",
        "nDCG@10",
        "nDCG(gains={1:3})@5",
        "P@5",
        "P(rel=2)@5",
        "R@10",
        "RR",
        "Rprec",
        "Judged@10",
        "SetP",
        "SetF(beta=2.0)",
        "IPrec@0.1",
        "Success@1",
        "Bpref",
        "infAP",
    ]
    objects = [ir_measures.parse_measure(name) for name in names]
    theirs = ir_measures.calc_aggregate(objects, QRELS, RUN)
    ours = germane.evaluate(QRELS, RUN, objects)
    for one in objects:
        assert ours[one].mean == pytest.approx(theirs[one], abs=1e-12), one
