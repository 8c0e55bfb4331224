"""germane against the oracle: random small collections, every measure, every order of ties."""

from collections.abc import Iterable, Iterator
from itertools import permutations
from math import fsum, isclose, isnan, log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane
from germane.errors import MeasureError, PolicyError
from germane.types import Measure

import oracle
from strategies import (
    GRADES,
    ITEMS,
    TABLE,
    Definition,
    Judgments,
    Scores,
    collections,
    counted_once,
    judgments,
    one_of_each,
    oracle_parameters,
    variants,
)

EXPECTED = [row for row in TABLE if row.expected]
DEPTHS = st.one_of(st.none(), st.integers(1, 9))
UNJUDGED = st.sampled_from(["nonrelevant", "remove"])

Collection = tuple[dict[str, Judgments], dict[str, Scores]]
Measures = tuple[Measure, ...]

ORDERS = {
    "trec": lambda scores, judged: oracle.trec_order(scores),
    "given": lambda scores, judged: oracle.given_order(scores),
    "best": oracle.best_order,
    "worst": oracle.worst_order,
}


def same(value: float, expected: float) -> bool:
    both_open = isnan(value) and isnan(expected)
    return both_open or isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12)


def by_oracle(measure: Measure, ranked: list[str] | None, judged: Judgments) -> float:
    """The value of a list; None: the run does not have the query."""
    parameters = oracle_parameters(measure)
    if ranked is None:
        return oracle.missing_value(measure.name, parameters, measure.k, judged)
    return oracle.value(measure.name, parameters, measure.k, ranked, judged)


def looked_at(ranked: list[str], judged: Judgments, depth: int | None, unjudged: str) -> list[str]:
    """What is left of a list once the policy is done with it."""
    kept = ranked[:depth]
    return kept if unjudged != "remove" else [i for i in kept if judged.get(i, -1) >= 0]


def mean(values: Iterable[float]) -> float:
    several = list(values)
    return fsum(several) / len(several)


def check(found: dict[Any, float], expected: dict[str, float], says: object) -> None:
    """NaN: the definition leaves the query out."""
    expected = {query: value for query, value in expected.items() if not isnan(value)}
    assert found.keys() == expected.keys()
    for query, value in expected.items():
        assert same(found[query], value), f"{says}, {query}: {found[query]}, not {value}"


# ------------------------------------------------------------------------------ one order of ties


@pytest.mark.slow
@given(collections(), one_of_each(TABLE), DEPTHS, UNJUDGED)
def test_every_measure_in_every_order_of_ties(
    collection: Collection, measures: Measures, depth: int | None, unjudged: Any
) -> None:
    """First the depth, then what nobody judged may go, then ranks are counted."""
    qrels, run = collection
    for ties, arranged in ORDERS.items():
        policy: dict[str, Any] = {"ties": ties, "depth": depth, "unjudged": unjudged}
        result = germane.evaluate(qrels, run, measures, **policy)
        lists = {
            query: looked_at(arranged(run[query], judged), judged, depth, unjudged)
            if query in run
            else None
            for query, judged in qrels.items()
        }
        for measure in measures:
            expected = {query: by_oracle(measure, lists[query], qrels[query]) for query in qrels}
            check(result[measure].per_query, expected, (measure, policy))


def listed_alone(judged: Judgments, scores: Scores | None) -> Judgments:
    """relevant=listed: what a tool sees of the judgments that is given the list and nothing else."""
    return judged if scores is None else {i: grade for i, grade in judged.items() if i in scores}


@given(collections(), one_of_each(TABLE), DEPTHS, UNJUDGED, st.sampled_from([*ORDERS]))
def test_relevant_items_of_the_list_alone(
    collection: Collection, measures: Measures, depth: int | None, unjudged: Any, ties: Any
) -> None:
    """The whole list counts, whatever its depth; a query without a list keeps its judgments, and is 0."""
    qrels, run = collection
    policy: dict[str, Any] = {"ties": ties, "depth": depth, "unjudged": unjudged}
    result = germane.evaluate(qrels, run, measures, relevant="listed", **policy)
    seen = {query: listed_alone(judged, run.get(query)) for query, judged in qrels.items()}
    lists = {
        query: looked_at(ORDERS[ties](run[query], judged), judged, depth, unjudged)
        if query in run
        else None
        for query, judged in qrels.items()
    }
    for measure in measures:
        expected = {query: by_oracle(measure, lists[query], seen[query]) for query in qrels}
        check(result[measure].per_query, expected, (measure, policy))


@given(collections(most=5, queries=2), one_of_each(EXPECTED))
def test_relevant_items_of_the_list_alone_over_all_orders(
    collection: Collection, measures: Measures
) -> None:
    qrels, run = collection
    result = germane.evaluate(qrels, run, measures, relevant="listed", ties="expected")
    seen = {query: listed_alone(judged, run.get(query)) for query, judged in qrels.items()}
    for measure in measures:
        expected = {
            query: mean(
                by_oracle(measure, order, seen[query])
                for order in (oracle.orders(run[query]) if query in run else [None])
            )
            for query in qrels
        }
        check(result[measure].per_query, expected, measure)


@given(judgments(), st.lists(st.sampled_from(ITEMS[:6]), max_size=8), one_of_each(TABLE))
def test_ranked_lists_with_repeated_items_kept(
    judged: Judgments, ranked: list[str], measures: Measures
) -> None:
    """Every copy stands at its rank, and the first one counts."""
    result = germane.evaluate({"q": judged}, {"q": ranked}, measures, duplicates="keep")
    for measure in measures:
        expected = {"q": by_oracle(measure, counted_once(ranked), judged)}
        check(result[measure].per_query, expected, measure)


@given(judgments(grades=GRADES[2:]), one_of_each(TABLE), st.integers(1, 8))
def test_score_of_one_list(judged: Judgments, measures: Measures, length: int) -> None:
    ranked = list(judged)[:length]
    for measure in measures:
        value = germane.score([judged[i] for i in ranked], measure, relevant=list(judged.values()))
        expected = by_oracle(measure, ranked, judged)
        assert same(value, expected), measure  # nan: the definition leaves the list out


# ------------------------------------------------------------------------------- the expected value


@given(collections(most=5, queries=2), one_of_each(EXPECTED), DEPTHS, UNJUDGED)
def test_expected_is_the_mean_over_all_orders(
    collection: Collection, measures: Measures, depth: int | None, unjudged: Any
) -> None:
    """A depth that cuts through a tie is random, too: some of the tied items are looked at."""
    qrels, run = collection
    policy: dict[str, Any] = {"ties": "expected", "depth": depth, "unjudged": unjudged}
    open_to_refusal = unjudged == "remove" or any(counts_retrieved(one) for one in measures)
    if open_to_refusal and any(torn(scores, depth) for scores in run.values()):
        depth = policy["depth"] = None
    result = germane.evaluate(qrels, run, measures, **policy)
    orders = {
        query: [looked_at(order, judged, depth, unjudged) for order in oracle.orders(run[query])]
        if query in run
        else [None]
        for query, judged in qrels.items()
    }
    for measure in measures:
        expected = {
            query: mean(by_oracle(measure, order, judged) for order in orders[query])
            for query, judged in qrels.items()
        }
        check(result[measure].per_query, expected, (measure, policy))


def counts_retrieved(measure: germane.types.Measure) -> bool:
    """Does the measure divide by items that a depth draws from the tied ones?"""
    return dict(measure.parameters).get("items") == "retrieved"


def test_retrieved_items_that_a_depth_draws_are_refused() -> None:
    """The number of other items is random then, and a mean of quotients is no quotient of means."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    for measure in ("FallOut", "SetAccuracy", "MCC"):
        with pytest.raises(
            germane.errors.PolicyError, match=r"cuts through tied items .* items=retrieved"
        ):
            germane.evaluate(qrels, run, measure, ties="expected", depth=1)
        assert germane.evaluate(qrels, run, measure, ties="expected", depth=2)


def torn(scores: Scores, depth: int | None) -> bool:
    """Does the depth cut through a group of ties?"""
    ordered = sorted(scores.values(), reverse=True)
    return depth is not None and depth < len(ordered) and ordered[depth - 1] == ordered[depth]


TIED: dict[str, tuple[Scores, Judgments]] = {
    "one group": (dict.fromkeys("abcdef", 1.0), {"a": 1, "c": 1, "e": 1, "missed": 1, "b": 0}),
    "after a hit": (
        {"top": 9.0, **dict.fromkeys("abcde", 1.0), "last": 0.0},
        {"top": 1, "a": 1, "b": 1, "last": 1, "c": -1},
    ),
    "two groups": (
        {**dict.fromkeys("abcd", 2.0), **dict.fromkeys("wxyz", 1.0)},
        {"a": 1, "w": 1, "x": 1, "missed": 1},
    ),
    "all relevant": (dict.fromkeys("abcd", 1.0), dict.fromkeys("abcd", 1)),
    "none relevant": (dict.fromkeys("abcd", 1.0), {"a": 0, "missed": 1}),
}


def distinct_orders(scores: Scores, judged: Judgments) -> Iterator[list[str]]:
    """One order of each kind; items of one score and one grade can change places unseen."""
    seen = set()
    for order in oracle.orders(scores):
        kind = tuple(judged.get(item) for item in order)
        if kind not in seen:
            seen.add(kind)
            yield order


@pytest.mark.parametrize("case", TIED)
@pytest.mark.parametrize("norm", ["R", "min", "found", "k"])
def test_expected_average_precision(norm: str, case: str) -> None:
    """Every norm at every cutoff, where a cutoff falls before, into and after a group of ties."""
    scores, judged = TIED[case]
    orders = list(distinct_orders(scores, judged))
    for k in (None, *range(1, len(scores) + 3)):
        measure = Measure("AP", (("norm", norm),), k)
        expected = mean(by_oracle(measure, order, judged) for order in orders)
        value = germane.evaluate({"q": judged}, {"q": scores}, measure, ties="expected")
        assert same(value[measure].mean, expected), measure


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row.name)
@pytest.mark.parametrize("case", TIED)
def test_expected_for_every_parameter(case: str, row: Definition) -> None:
    scores, judged = TIED[case]
    orders = list(distinct_orders(scores, judged))
    chosen = list(variants(row))
    result = germane.evaluate({"q": judged}, {"q": scores}, chosen, ties="expected")
    for measure in chosen:
        expected = mean(by_oracle(measure, order, judged) for order in orders)
        assert same(result[measure].values[0], expected), measure


def test_expected_in_a_large_group_is_the_limit_of_shuffling() -> None:
    """10,000 tied items, 100 of them relevant: every rank is relevant with chance 1/100."""
    scores = {f"d{i}": 1.0 for i in range(10_000)}
    judged = {f"d{i}": 1 for i in range(0, 10_000, 100)}
    value = germane.evaluate(
        {"q": judged}, {"q": scores}, "P@10 R@100 NumRelRet@500 AP", ties="expected"
    )
    assert value["P@10"].mean == pytest.approx(0.01, rel=1e-12)
    assert value["R@100"].mean == pytest.approx(100 * 0.01 / 100, rel=1e-12)
    assert value["NumRelRet@500"].mean == pytest.approx(5, rel=1e-12)
    n, r = 10_000, 100
    ap = fsum((1 + (i - 1) * (r - 1) / (n - 1)) / i for i in range(1, n + 1)) / n
    assert value["AP"].mean == pytest.approx(ap, rel=1e-12)


@pytest.mark.parametrize("row", [row for row in TABLE if not row.expected], ids=lambda r: r.name)
def test_no_closed_form_is_an_error_and_not_a_guess(row: Definition) -> None:
    measure = next(variants(row))
    with pytest.raises(MeasureError, match="has no closed form here") as error:
        germane.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, measure, ties="expected")
    assert str(measure) in str(error.value)


# --------------------------------------------------------------------------- ties as one step


@given(collections(), one_of_each([row for row in TABLE if row.grouped]), UNJUDGED)
def test_a_group_of_ties_as_one_step(
    collection: Collection, measures: Measures, unjudged: Any
) -> None:
    qrels, run = collection
    chosen = [Measure(measure.name, measure.parameters) for measure in measures]
    result = germane.evaluate(qrels, run, chosen, ties="grouped", unjudged=unjudged)
    for measure in chosen:
        expected = {}
        for query, judged in qrels.items():
            if query not in run:
                expected[query] = by_oracle(measure, None, judged)
                continue
            kept = run[query]
            if unjudged == "remove":
                kept = {i: score for i, score in kept.items() if judged.get(i, -1) >= 0}
            expected[query] = oracle.grouped(measure.name, oracle_parameters(measure), kept, judged)
        check(result[measure].per_query, expected, measure)


def test_grouped_ties_are_one_step_of_scikit_learn() -> None:
    """Two hits among three items of one score: precision 2/3 for both, not 1 and 2/3."""
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}
    result = germane.evaluate({"q": ["a", "b", "d"]}, run, "AP", ties="grouped")
    assert result["AP"].mean == (2 * 2 / 3 + 3 / 4) / 3


def test_what_has_no_meaning_for_groups_is_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0, "c": 0.0}}
    with pytest.raises(MeasureError, match="RR is not defined where equal scores are one step"):
        germane.evaluate(qrels, run, "RR", ties="grouped")
    with pytest.raises(MeasureError, match=r"AP@1 is not defined .*a cutoff may fall into a group"):
        germane.evaluate(qrels, run, "AP@1", ties="grouped")
    with pytest.raises(PolicyError, match="a depth that cuts through tied items"):
        germane.evaluate(qrels, run, "AP", ties="grouped", depth=1)
    assert germane.evaluate(qrels, run, "AP", ties="grouped", depth=2)["AP"].mean == 1 / 2


# ------------------------------------------------------------------------------ large, by formula


def test_ranks_beyond_any_small_example() -> None:
    """A cutoff far beyond the list, and a list of 100,000 with its one relevant item last."""
    n = 100_000
    ranked = [f"d{i}" for i in range(n)]
    qrels = {"q": {ranked[-1]: 1}}
    result = germane.evaluate(
        qrels, {"q": ranked}, "RR AP AP(norm=k) P@1000000 MeanP MeanP@1000000000000"
    )
    assert result["RR"].mean == result["AP"].mean == 1 / n
    assert result["AP(norm=k)"].mean == 1 / n / n
    assert result["P@1000000"].mean == 1 / 1_000_000
    assert result["MeanP"].mean == pytest.approx(1 / n / n, rel=1e-6, abs=0)
    from_n = fsum(1 / i for i in range(n, n + 3_000_000))  # and the integral for the rest
    rest = log(10**12 + 0.5) - log(n + 3_000_000 - 0.5)
    assert result["MeanP@1000000000000"].mean == pytest.approx(
        (from_n + rest) / 10**12, rel=1e-9, abs=0
    )


@pytest.mark.parametrize("digits", ["0.3333333333333333", "0.1234567890123456", "1e-300"])
def test_shares_of_R_are_exact_for_any_decimal(digits: str) -> None:
    """⌈mult·R⌉ and ⌈recall·R⌉ need more than 64 bits for long decimals."""
    judged = {f"d{i}": 1.0 for i in range(4000)}
    ranked = [f"d{i}" for i in range(0, 3000, 2)]
    for text in (f"Rprec(mult={digits})", f"IPrec(recall={digits})"):
        measure = germane.parse(text)
        value = germane.evaluate({"q": judged}, {"q": ranked}, measure)[measure].mean
        cutoff = oracle.ceil(oracle.decimal(float(digits)) * 4000)
        assert value == (min(cutoff, 1500) / cutoff if "Rprec" in text else 1.0)


def test_shares_of_R_are_those_of_the_number_as_written() -> None:
    """0.28·25 is 7, although in doubles it is 7.000000000000001."""
    judged = {f"d{i}": 1.0 for i in range(25)}
    ranked = [*list(judged)[:7], *"xyz"]
    for text, value in (("Rprec(mult=0.28)", 7 / 7), ("IPrec(recall=0.28)", 7 / 7)):
        assert germane.evaluate({"q": judged}, {"q": ranked}, text)[text].mean == value


def test_a_gain_map_is_sorted_by_gain() -> None:
    """The ideal order follows the gains, also where they fall as grades rise."""
    falling = Measure("nDCG", (("gain", {1.0: 5.0, 2.0: 1.0}),), 2)
    judged = {"a": 1.0, "b": 2.0}
    for order in permutations("ab"):
        value = germane.evaluate({"q": judged}, {"q": list(order)}, falling)[falling].mean
        assert same(value, by_oracle(falling, list(order), judged))
