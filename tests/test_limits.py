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
    rows = "The relevance at rank k is the label of the frame's last row within k, so rows that are not in the order of their scores change it."
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


TOPK = "torch.topk does not define the order of equal scores, and the order may change if there are other queries."


def test_a_result_names_the_limits_that_hold() -> None:
    says = TOPK
    result = germane.evaluate(QRELS, RUN, "RetrievalMAP RetrievalRecall", dialect="torchmetrics")
    assert result.limits == {says: (germane.AP(norm="found"),)}  # R without a cutoff has no order
    [finding] = result.findings
    assert (finding.what, finding.count) == ("limit of the dialect", 1)
    assert str(finding) == (
        f"torchmetrics itself may report something else for AP(norm=found): {says}"
    )
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


def test_best_and_worst_are_not_the_ends_of_every_measure() -> None:
    """A relevant item that comes into the cutoff late is divided by: in first or last place it is 1 of 1 or 2 of 2."""
    qrels = {"q": {"a": 1, "b": 1}}
    run = {"q": {"a": 2.0, "x": 1.0, "y": 1.0, "b": 1.0}}
    result = germane.evaluate(qrels, run, "RetrievalMAP(top_k=3)", dialect="torchmetrics")
    [value] = result.values()
    assert value.best == value.worst == 1
    assert value.mean == 1  # with the order x, b, y it is (1 + 2/3) / 2
    assert result.limits == {TOPK: (germane.AP(norm="found") @ 3,)}
    alike = {"q": {"a": 2.0, "x": 1.0, "y": 1.0}}  # what is tied is not relevant
    assert not germane.evaluate(
        qrels, alike, "RetrievalMAP(top_k=3)", dialect="torchmetrics"
    ).limits
    beyond = {"q": {"a": 5.0, "x": 4.0, "z": 3.0, "y": 1.0, "b": 1.0}}
    assert not germane.evaluate(
        qrels, beyond, "RetrievalMAP(top_k=3)", dialect="torchmetrics"
    ).limits
    for name in (
        "RetrievalFallOut",
        "RetrievalFallOut(top_k=4)",
    ):  # the four are those, in any order
        assert not germane.evaluate(qrels, run, name, dialect="torchmetrics").limits


def test_scores_that_the_logistic_function_makes_equal() -> None:
    """torchmetrics 1.9.0: RetrievalAUROC(top_k=4) is .5 here, and .25 with a tenth of these scores."""
    qrels = {"q": {"a": 0, "b": 1, "c": 0, "d": 1, "e": 1}}
    run = {"q": {"a": 20.0, "b": 19.0, "c": 18.0, "d": 17.0, "e": 0.5}}
    result = germane.evaluate(qrels, run, "RetrievalAUROC(top_k=4)", dialect="torchmetrics")
    assert any(says.startswith("A pair of equal scores") for says in result.limits)
    assert not germane.evaluate(qrels, run, "RetrievalMAP(top_k=4)", dialect="torchmetrics").limits
    low = {"q": {item: score / 10 for item, score in run["q"].items()}}
    assert not germane.evaluate(
        qrels, low, "RetrievalAUROC(top_k=4)", dialect="torchmetrics"
    ).limits


UNTOLD = ("pytorch-metric-learning", "recometrics")  # their k is in no name of some measures


@pytest.mark.slow
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_recorded_answer_that_differs_is_told_with_the_value(every: bool) -> None:
    """Whatever germane knows of a tool's limits, the result says, and not only the dialect's page."""
    cases, answers = conformance.fixture()
    if not every:
        cases = {name: cases[name] for name in sorted(cases)[::3]}
    asked = [
        (library, function, name)
        for library, recorded in answers.items()
        for function in recorded["functions"]
        for name in function["answers"]
        if name in cases and not name.startswith("dup_")  # listed twice: read once, and not told
    ]
    silent = [
        (library, function["function"], function["params"], name, part)
        for library, function, name in asked
        for part in conformance.list_untold(
            library, cases[name], function, function["answers"][name]
        )
        if library not in UNTOLD
    ]
    assert len(asked) > (3000 if every else 1000)
    assert silent == []


def test_every_limit_that_holds_is_compared() -> None:
    """ranx' bpref of a query without relevant items ends a thread; no order of ties explains that."""
    tied = {f"d{i}": 1.0 for i in range(20)}
    untied = {"d0": 2.0, "d1": 1.0}
    given = Given({"p": {"d0": 0}, "q": {"d0": 1, "d1": 0}}, {"p": tied, "q": untied})
    ask = conformance.Question("ranx", "bpref")
    outcome = conformance.compared(given, ask, {"per_query": {"p": 0.0, "q": 0.0}}, 1e-9)
    assert outcome.word == "unsupported"
    assert outcome.says == "A division by 0 ends a thread, and its other queries get 0."
    beyond = conformance.compared(
        given, conformance.Question("ranx", "mrr"), {"aggregate": 0.9}, 1e-9
    )
    assert beyond.word == "failed"
