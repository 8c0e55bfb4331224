"""Names of other tools: each is parsed, and says what the tool said on recorded data."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import germane

RECORDED = json.loads((Path(__file__).parent / "data" / "names.json").read_text("utf-8"))
TOLERANCE = {"torchmetrics": 3e-6}
CHOICES = {"ranx": {"missing": "zero", "unknown": "ignore"}}  # make_comparable=True
CASES = [
    pytest.param(one["dialect"], case, id=f"{one['dialect']}-{number}")
    for one in RECORDED
    for number, case in enumerate(one["cases"])
]


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize(("dialect", "case"), CASES)
def test_every_name_says_what_the_tool_said(dialect: str, case: dict[str, Any]) -> None:
    wrong = {}
    for name, theirs in case["answers"].items():
        choices: dict[str, Any] = CHOICES.get(dialect, {})
        [ours] = germane.evaluate(
            case["qrels"], case["run"], [name], dialect=dialect, **choices
        ).values()
        assert germane.parse(f"{dialect}:{name}") == ours.measure
        if theirs is None:  # 0/0 in the tool
            continue
        expected = pytest.approx(theirs, abs=TOLERANCE.get(dialect, 1e-9), nan_ok=True)
        if ours.mean != expected:
            wrong[name] = (ours.mean, theirs)
    assert not wrong


def test_the_names_are_many_and_the_answers_numbers() -> None:
    names = {one["dialect"]: len(one["cases"][0]["answers"]) for one in RECORDED}
    assert names["ir_measures"] > 150
    assert sum(names.values()) > 350
    values = [v for one in RECORDED for case in one["cases"] for v in case["answers"].values()]
    assert sum(v is None or math.isnan(v) for v in values) < 0.02 * len(values)


@pytest.mark.parametrize("dialect", germane.dialects().values(), ids=lambda one: one.name)
def test_what_a_tool_has_besides_is_refused_with_a_reason(dialect: germane.types.Dialect) -> None:
    for absent in dialect.absent:
        assert absent.says[-1] == "."
        for name in absent.names:
            with pytest.raises(germane.errors.MeasureError, match=re.escape(absent.says)):
                germane.parse(f"{dialect.name}:{name}" + "(k=10)" * ("(" not in name))


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("ir_measures:P( judged_only=True, rel=2 )@5", "P(rel=2)@5"),
        ("ir_measures:nDCG(dcg='log2',judged_only=False)@5", "nDCG@5"),
        ("ir_measures:AP(judged_only=False)", "AP(norm=R)"),
        ("ir_measures:SetF(beta=0.25)", "F(beta=0.5)"),
        ("pytrec_eval:set_F_4", "F(beta=2)"),
        ("trec_eval:utility.2,-0.5,-1,0", "Utility(hit=2,noise=-0.5,miss=-1)"),
        ("ranx:rbp.95", "RBP(p=0.95,gain=linear)"),
        ("ranx:ndcg@10-l2", "nDCG(least=2)@10"),
        ("lenskit:NDCG@10", "nDCG(discount=jarvelin)@10"),
        ("lenskit:RBP(normalize=True,patience=0.9)", "RBP(p=0.9,norm=possible)"),
        ("rectools:NDCG(divide_by_achievable=True,k=10)", "nDCG@10"),
        ("torchmetrics:retrieval_fall_out(top_k=3)", "FallOut@3"),
        ("trec_eval:nDCG(gain=exp)@3", "nDCG(gain=exp)@3"),  # germane's own, as in evaluate
    ],
)
def test_spellings(name: str, measure: str | None) -> None:
    if measure is None:
        with pytest.raises(germane.errors.MeasureError):
            germane.parse(name)
    else:
        assert str(germane.parse(name)) == measure


def test_numbers_after_a_comma_are_further_measures() -> None:
    one = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    result = germane.evaluate(*one, "map_cut.1,2 P.5,10 utility.1,-1,0,0", dialect="pytrec_eval")
    assert [str(measure) for measure in result.measures] == [
        "AP(norm=R)@1", "AP(norm=R)@2", "P@5", "P@10", "Utility",
    ]  # fmt: skip


def test_a_cutoff_that_is_a_depth() -> None:
    """recommenders' R-precision looks at the first k results alone."""
    qrels, run = {"u": ["a", "b", "c"]}, {"u": ["a", "x", "b"]}
    for k, value in ((1, 1 / 3), (2, 1 / 3), (3, 2 / 3)):
        [found] = germane.evaluate(
            qrels, run, [f"r_precision_at_k@{k}"], dialect="recommenders"
        ).values()
        assert found.mean == pytest.approx(value)


def test_a_germane_name_whose_parameter_is_not_written_is_ambiguous() -> None:
    """LensKit's patience is 0.85, so RBP(rel=2) may be either."""
    assert germane.dialects()["lenskit-2026.4"].find("RBP(patience=0.8)")
    with pytest.raises(germane.errors.MeasureError, match=r"two meanings.*RBP\(p=0.85,rel=2\)"):
        germane.evaluate({"q": ["a"]}, {"q": ["a"]}, "RBP(rel=2)", dialect="lenskit")
