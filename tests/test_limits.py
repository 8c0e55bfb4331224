"""Limits hold on the data they are about; what holds is counted once more from the dicts."""

import pandas as pd
import pytest

import germane
from conformance_given import Given

import conformance


def _said(run: object, measure: str = "map@2") -> list[str]:
    result = germane.evaluate({"q": {"a": 1, "b": 0}}, run, measure, dialect="evidently")
    return [says.partition(":")[0] for says in result.limits]


def test_unordered() -> None:
    """The order of rows is looked at where there are rows; of a frame it is not known."""
    rows = "The relevance at rank k is the label of the frame's last row within k"
    risen = {"q": {"b": 1.0, "a": 2.0}}
    assert _said(risen) == [rows]
    assert _said(risen, "precision@2") == _said({"q": {"a": 2.0, "b": 1.0}}) == []
    assert _said({"q": ["b", "a"]}) == []
    frame = pd.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "score": [2.0, 1.0]})
    assert _said(frame) == [rows]


# --- What spread and reconcile say of them ---------------------------------------------------------

QRELS, RUN = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "x": 1.0, "b": 0.5}}


def test_spread_says_of_which_tools_it_is_not_sure() -> None:
    stated = {one.dialect: one for one in germane.spread(QRELS, RUN, "AP@2")}
    assert stated["keras-rs"].unsure == "Equal scores are shuffled."
    assert stated["trec_eval-9"].unsure == ""
    assert "(unsure: Equal scores are shuffled.)" in str(germane.spread(QRELS, RUN, "AP@2"))
    untied = {"q": {"a": 2.0, "x": 1.0, "b": 0.5}}
    assert not any("shuffled" in one.unsure for one in germane.spread(QRELS, untied, "AP@2"))


def test_reconcile_names_no_tool_that_may_say_something_else() -> None:
    found = germane.reconcile(QRELS, RUN, reported="0.5", measure="AP@2")
    tools = {tool.partition(":")[0] for one in found for tool in one.candidate.tools}
    assert "ml_metrics" in tools
    assert not tools & set(found.unsure)
    assert found.unsure["keras-rs"] == "Equal scores are shuffled."
    assert "trec_eval-9" not in found.unsure  # gives 0.25 here
    assert "the tools themselves may not: recometrics (" in str(found)


# --- What a result says of them --------------------------------------------------------------------


TOPK = "torch.topk does not define the order of equal scores, and beside other queries it may be another one."


def test_a_result_names_the_limits_that_hold() -> None:
    says = TOPK
    result = germane.evaluate(QRELS, RUN, "RetrievalMAP RetrievalRecall", dialect="torchmetrics")
    assert result.limits == {says: (germane.AP(norm="found"),)}  # R without a cutoff has no order
    [finding] = result.findings
    assert (finding.what, finding.count) == ("limit of the dialect", 1)
    assert str(finding) == (f"torchmetrics itself may say something else of AP(norm=found): {says}")
    assert f"limits of the dialect: AP(norm=found): {says}" in str(result)
    [run] = result.to_dict()["runs"]
    assert run["dialect"]["limits"] == [{"says": says, "measures": ["AP(norm=found)"]}]
    assert run["findings"][0]["what"] == "limit of the dialect"
    with pytest.warns(germane.GermaneWarning, match="torch.topk"):
        germane.evaluate(QRELS, RUN, "RetrievalMAP", dialect="torchmetrics")


def test_a_result_names_no_limit_where_none_matters() -> None:
    untied = {"q": {"a": 2.0, "x": 1.0, "b": 0.5}}
    alike = {"q": {"a": 1.0, "b": 1.0, "x": 0.5}}  # in each order both stand first
    for run in (untied, alike):
        result = germane.evaluate(QRELS, run, "RetrievalMAP", dialect="torchmetrics")
        assert result.limits == {}
        assert result.findings == ()
        assert "limits of the dialect" not in str(result)
    assert germane.evaluate(QRELS, RUN, "AP@2").limits == {}
    own = germane.evaluate(QRELS, RUN, [germane.AP @ 2], dialect="torchmetrics")
    assert own.limits == {}  # germane's own measure, not the tool's


def test_several_runs_name_each_its_limits() -> None:
    runs = {"tied": RUN, "untied": {"q": {"a": 2.0, "x": 1.0}}}
    results = germane.evaluate_many(QRELS, runs, "RetrievalMAP", dialect="torchmetrics")
    notes = results.table().notes
    assert [one for one in notes if "limits of the dialect" in one] == [
        f"tied: limits of the dialect: AP(norm=found): {TOPK}"
    ]


def test_every_limit_that_holds_is_compared() -> None:
    """ranx' bpref of a query without relevant items ends a thread; no order of ties explains that."""
    tied = {f"d{i}": 1.0 for i in range(20)}
    untied = {"d0": 2.0, "d1": 1.0}
    given = Given({"p": {"d0": 0}, "q": {"d0": 1, "d1": 0}}, {"p": tied, "q": untied})
    ask = conformance.Question("ranx", "bpref")
    outcome = conformance.compared(given, ask, {"per_query": {"p": 0.0, "q": 0.0}}, 1e-9)
    assert outcome.word == "unsupported"
    assert outcome.says == "A division by 0 that ends a thread: its other queries are 0."
    beyond = conformance.compared(
        given, conformance.Question("ranx", "mrr"), {"aggregate": 0.9}, 1e-9
    )
    assert beyond.word == "failed"
