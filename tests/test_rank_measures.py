"""Measures of ranks, and AUC by user, by arithmetic; their peers' answers are in middle_ranks.json."""

import math

import pytest

import germane
from germane.errors import MeasureError

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 1, "e": 1}}
RUN = {"q1": ["x", "a", "y", "b", "z"], "q2": ["c", "x", "y"], "q3": ["x", "d"]}


@pytest.mark.parametrize(
    ("measure", "per_query", "mean"),
    [
        ("MeanRank", [2, 1, 2], 5 / 3),
        ("MeanRank(of=all)", [(2 + 4) / 2, 1, (2 + 3) / 2], (3 + 1 + 2.5) / 3),
        ("MeanRank(of=all,missed=101)", [3, 1, (2 + 101) / 2], (3 + 1 + 51.5) / 3),
        ("MeanRank(of=all,mean=micro)", [3, 1, 2.5], (2 + 4 + 1 + 2 + 3) / 5),
        ("MedR", [2, 1, 2], 2),
        ("PercentileRank", [(1 / 4 + 3 / 4) / 2, 0, (1 + 1) / 2], (0.5 + 0 + 1) / 3),
        ("PercentileRank(length=101)", [0.02, 0, (0.01 + 1) / 2], (0.02 + 0 + 0.505) / 3),
        ("EPR(mean=micro)", [1 / 2, 0, 1], (1 / 4 + 3 / 4 + 0 + 1 + 1) / 5),  # all items alike
        ("mINP", [2 / 4, 1, 0], 1.5 / 3),
        ("GAUC", [3 / 6, 1, 0], (5 * 3 / 6 + 3 * 1 + 2 * 0) / (5 + 3 + 2)),
        ("uAUC", [3 / 6, 1, 0], (3 / 6 + 1 + 0) / 3),
    ],
)
def test_by_arithmetic(measure: str, per_query: list[float], mean: float) -> None:
    [result] = germane.evaluate(QRELS, RUN, measure).values()
    assert list(result.per_query.values()) == pytest.approx(per_query, rel=1e-15)
    assert result.mean == pytest.approx(mean, rel=1e-15)


def test_the_median_of_an_even_number_is_between_two() -> None:
    qrels = {query: ["a"] for query in range(4)}
    run = {query: [*"xyz"[:query], "a"] for query in range(4)}
    result = germane.evaluate(qrels, run, "MedR")["MedR"]
    assert result.mean == (2 + 3) / 2
    assert result.measure.definition.endswith("; median over queries")
    assert not result.has_interval
    with pytest.raises(
        MeasureError, match=r"difference of median means .* compare MeanRank instead\."
    ):
        germane.compare(qrels, {"one": run, "other": run}, "MedR")


def test_a_user_with_one_kind_of_item_is_left_out() -> None:
    """Whatever no_relevant says; AUROC gives such a user 0, and no_relevant=error refuses."""
    qrels = {"u": {"a": 1, "b": 0}, "all": {"a": 1, "b": 1}, "none": {"a": 0}}
    run = {"u": ["a", "b"], "all": ["a", "b"], "none": ["a"]}
    for choice in ("zero", "one", "skip"):
        result = germane.evaluate(qrels, run, "GAUC uAUC", no_relevant=choice)
        assert [one.per_query for one in result.values()] == [{"u": 1.0}, {"u": 1.0}]
        assert [one.mean for one in result.values()] == [1.0, 1.0]
    assert germane.evaluate(qrels, run, "AUROC")["AUROC"].mean == 1 / 3
    with pytest.raises(germane.errors.CoverageError, match="without a relevant item: 'all'"):
        germane.evaluate(qrels, run, "GAUC", no_relevant="error")
    assert math.isnan(germane.evaluate({"all": ["a"]}, {"all": ["a"]}, "GAUC")["GAUC"].mean)


def test_equal_scores_are_half_a_pair_where_groups_are_a_step() -> None:
    qrels = {"u": {"a": 1, "b": 0, "c": 0}}
    run = {"u": {"a": 1.0, "b": 1.0, "c": 0.0}}
    assert germane.evaluate(qrels, run, "GAUC", ties="grouped")["GAUC"].mean == (1 / 2 + 1) / 2


def test_a_rank_of_missed_items_within_the_results_is_refused() -> None:
    with pytest.raises(MeasureError, match=r"missed=5 .* 'q1' .* Write missed=6 or more\."):
        germane.evaluate(QRELS, RUN, "MeanRank(missed=5)")
    assert germane.evaluate(QRELS, RUN, "MeanRank(missed=6)")
    with pytest.raises(MeasureError, match=r"length=4 .* Write length=5 or more\."):
        germane.evaluate(QRELS, RUN, "PercentileRank(length=4)")
    assert germane.evaluate(QRELS, RUN, "PercentileRank(length=5)")


def test_a_fixed_rank_of_missed_items_makes_runs_with_missing_queries_comparable() -> None:
    part = {"q2": RUN["q2"]}
    with pytest.raises(
        germane.errors.CoverageError, match="there is no worst value that they could get"
    ):
        germane.compare(QRELS, {"whole": RUN, "part": part}, "MeanRank")
    compared = germane.compare(QRELS, {"whole": RUN, "part": part}, "MeanRank(missed=101)")
    assert compared.pairs
    result = germane.evaluate(QRELS, part, "MeanRank(missed=101)")
    assert result["MeanRank(missed=101)"].mean == (101 + 1 + 101) / 3


def test_the_linear_discount_of_weaviate_is_the_position() -> None:
    """Its calculateLinearNDCG divides by the sum of 1/i over all k ranks."""
    measure = germane.parse("nDCG(discount=linear,norm=k)@3")
    assert measure == germane.parse("nDCG(discount=position,norm=k)@3")
    value = germane.score([0, 1, 1], measure)
    assert value == pytest.approx((1 / 2 + 1 / 3) / (1 + 1 / 2 + 1 / 3))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("mean rank", "MeanRank"), ("MR", "MeanRank"), ("MdR", "MeanRank(mean=median)"),
        ("median rank", "MeanRank(mean=median)"), ("MPR", "PercentileRank"), ("mINP", "INP"),
        ("wAUC", "GAUC"), ("group AUC", "GAUC"), ("uAUC", "GAUC(mean=arithmetic)"),
        ("MAP@R", "APR"),
    ],
)  # fmt: skip
def test_names(written: str, name: str) -> None:
    assert str(germane.parse(written)) == name
