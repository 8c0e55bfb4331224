"""The oracle against trec_eval 9.0 (through pytrec_eval), trec_eval 10.0, and arithmetic.

Nothing of germane is tested here; what germane is compared with is.
"""

from functools import cache
from itertools import permutations
from math import e, exp, factorial, log, log2, nan
from typing import Any

import pytest

import oracle
from trec_names import (
    CUTOFFS,
    EXCEPTIONS,
    NINE,
    NO_LEVEL,
    TEN,
    TEN_EXCEPTIONS,
    TEN_PARAMETERS,
    TREC_10_NAMES,
    TREC_NAMES,
    at_level,
    floored_log,
    parts,
)

# ------------------------------------------------------------------- against the recorded values


@cache
def computed(text: str, query: str) -> float:
    name, params, k = parts(text)
    ranked = oracle.trec_order(NINE["run"][query])
    return oracle.value(name, params, k, ranked, NINE["qrels"][query])


def recorded(value: float | None) -> Any:
    """Whatever is the recorded value to 1e-9; null is NaN."""
    return pytest.approx(nan if value is None else value, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("trec_name", TREC_NAMES)
def test_agrees_with_pytrec_eval(trec_name: str, level: int) -> None:
    """To 1e-9 for every query, but for what EXCEPTIONS says."""
    column = NINE["measures"].index(trec_name)
    _, rule = EXCEPTIONS.get(trec_name, ("", lambda value, *_: value))
    for query, values in NINE["values by relevance_level"][str(level)].items():
        judged, ranked = NINE["qrels"][query], oracle.trec_order(NINE["run"][query])
        value = computed(at_level(TREC_NAMES[trec_name], level), query)
        said = rule(value, judged, ranked, level)
        assert said == recorded(values[column]), query


def test_every_recorded_measure_has_a_germane_name() -> None:
    assert set(NINE["measures"]) == set(TREC_NAMES)


def test_every_exception_is_one() -> None:
    """An exception that no recorded query needs would hide a mistake."""
    for trec_name in EXCEPTIONS:
        column = NINE["measures"].index(trec_name)
        assert any(
            computed(at_level(TREC_NAMES[trec_name], int(level)), query) != recorded(values[column])
            for level, queries in NINE["values by relevance_level"].items()
            for query, values in queries.items()
        ), trec_name


def test_only_an_empty_run_is_not_a_number() -> None:
    assert NINE["run"]["empty-run"] == {}
    for queries in NINE["values by relevance_level"].values():
        for query, values in queries.items():
            assert (None in values) == (query == "empty-run"), query


@pytest.mark.parametrize("trec_name", [*TREC_10_NAMES, *TEN_PARAMETERS])
def test_agrees_with_trec_eval_10(trec_name: str) -> None:
    """To the four decimals it prints, but for what TEN_EXCEPTIONS says."""
    name, params, k = parts({**TREC_10_NAMES, **TEN_PARAMETERS}[trec_name])
    _, rule = TEN_EXCEPTIONS.get(trec_name, ("", lambda value, *_: value))
    for query, values in TEN["values"].items():
        judged = TEN["qrels"][query]
        ranked = oracle.trec_order(TEN["run"].get(query, {}))
        said = rule(oracle.value(name, params, k, ranked, judged), judged, ranked, 1)
        assert said == pytest.approx(values[trec_name], abs=0.50001e-4), query


@pytest.mark.parametrize(
    ("recall", "R", "up", "trec9", "nearest"),
    [
        (0.2, 6, 2, 2, 1),  # 1.2
        (0.21, 5, 2, 1, 1),  # 1.05
        (0.7, 3, 3, 2, 2),  # 2.1, in floats 2.0999999999999996
        (0.5, 5, 3, 3, 3),  # 2.5
        (0.0, 5, 0, 0, 0),
        (1.0, 5, 5, 5, 5),
    ],
)
def test_how_many_items_make_a_recall(
    recall: float, R: int, up: int, trec9: int, nearest: int
) -> None:
    for rounding, items in (("up", up), ("trec9", trec9), ("nearest", nearest)):
        assert oracle.needed(oracle.decimal(recall), R, rounding) == items, rounding


# ------------------------------------------------------------------------- against arithmetic

TWENTY = {f"d{i}": 1.0 for i in range(20)}
TWO_OF_TWENTY = ["d0", "x", "d1", *(f"y{i}" for i in range(9))]
GRADED = {"a": 3.0, "b": 0.0, "c": 1.0, "n": -1.0, "m": 2.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("AP(norm=R)@10", (1 / 1 + 2 / 3) / 20),
        ("AP@10", (1 / 1 + 2 / 3) / 10),
        ("AP(norm=found)@10", (1 / 1 + 2 / 3) / 2),
        ("AP(norm=k)@10", (1 / 1 + 2 / 3) / 10),
        ("AP", (1 / 1 + 2 / 3) / 20),
        ("AP(norm=k)", (1 / 1 + 2 / 3) / 12),
        ("MeanP@3", (1 / 1 + 1 / 2 + 2 / 3) / 3),
        ("MeanP@14", (1 / 1 + 1 / 2 + sum(2 / i for i in range(3, 15))) / 14),
        ("R(norm=min)@10", 2 / 10),
        ("R(norm=min)", 2 / 20),
        ("P@20", 2 / 20),
        ("F(beta=2)@10", (1 + 4) * 2 / (4 * 20 + 10)),
        ("SetAP@10", 2 * 2 / (10 * 20)),
        ("Utility(hit=3,noise=-2,miss=-1)@4", 3 * 2 - 2 * 2 - 1 * 18),
        ("YAAP@1", log((1 + 1) / (1 + 20 - 1))),
        ("Rprec(mult=0.1)", 1 / 2),
        ("Rprec(mult=0.15)", 2 / 3),
        ("RR@10", 1.0),
        ("Judged@10", 2 / 10),
        ("Judged@20", 2 / 20),
        ("Unjudged@20", 10 / 20),
        ("Unjudged", 10 / 12),
        ("NumRet@5", 5),
        ("NumRet@50", 12),
        ("RBP(p=0.5)@2", (1 - 0.5) * 1),
        ("RBPResidual(p=0.5)@2", 1 - (1 - 0.5) * 1),
        ("IPrec(recall=0.1)", 2 / 3),
        ("IPrec(recall=0.05)", 1.0),
        ("IPrec(recall=0.15)", 0.0),
        ("IAP(points=11)", (1 + 2 / 3) / 11),
        ("IAP(points=101)", (6 * 1 + 5 * 2 / 3) / 101),
    ],
)
def test_two_of_twenty_relevant(text: str, value: float) -> None:
    """Twenty relevant items, found at ranks 1 and 3 of twelve retrieved."""
    name, params, k = parts(text)
    assert oracle.value(name, params, k, TWO_OF_TWENTY, TWENTY) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("DCG", 1 / log2(2) + 3 / log2(5)),
        ("DCG@3", 1.0),
        ("IDCG", 3 / log2(2) + 2 / log2(3) + 1 / log2(4)),
        ("IDCG@1", 3.0),
        ("DCG(gain=exp)", 1 + 7 / log2(5)),
        ("IDCG(gain=exp)@2", 7 + 3 / log2(3)),
        ("DCG(gain=1:5_2:6_3:9)", 5 + 9 / log2(5)),
        ("DCG(gain=0:-1_1:5_2:6_3:9)", 5 - 1 / log2(3) + 9 / log2(5)),
        ("nDCG@1", 1 / 3),
        ("ERR", 1 / 16 + 1 / 4 * 7 / 16 * (1 - 1 / 16)),
        ("ERR(max=3)@1", 1 / 8),
        ("NumNonrelRet", 1),
        ("NumNonrelRet(rel=3)", 2),
        ("NumRel(rel=1.5)", 2),
        ("Judged", 3 / 4),
        ("Unjudged", 1 / 4),
        ("RBPResidual(p=0.5)", 1 - 0.5 * (1 + 1 / 2 + 1 / 8)),
        ("RR(rel=3)", 1 / 4),
        ("P(rel=0)", 3 / 4),
        ("R(rel=0)", 3 / 4),
        ("bpref", (1 + 1 - 1 / 1) / 3),
        ("infAP", (1 + 1 / 4 + 3 / 4 * (1 + 1e-5) / (2 + 2e-5)) / 3),
        ("binG", (1 / log2(2) + 1 / log2(4)) / 3),
        ("G(gain=1:0.5_2:0.5_3:0.5)", (0.5 / log2(2 + 1 - 0.5) + 0.5 / log2(2 + 4 - 1)) / 1.5),
        ("G", (1 / log2(2 + 3 - 1) + 3 / log2(2 + (3 + 2 + 1 + 1) - 4)) / 6),
    ],
)
def test_graded_list(text: str, value: float) -> None:
    """Grades 1, 0, -1, 3 at ranks 1 to 4, and a 2 not retrieved."""
    name, params, k = parts(text)
    assert oracle.value(name, params, k, ["c", "b", "n", "a"], GRADED) == pytest.approx(
        value, rel=1e-12
    )


def test_multiples_of_R_are_exact_decimals() -> None:
    """0.28 x 25 is 7, although in floats it is 7.000000000000001."""
    judged = {f"d{i}": 1.0 for i in range(25)}
    ranked = [*list(judged)[:7], *"xyz"]
    assert oracle.value("Rprec", {"mult": 0.28}, None, ranked, judged) == 7 / 7


@pytest.mark.parametrize("name", oracle.NAMES)
def test_an_empty_list_and_nothing_judged(name: str) -> None:
    """0, but for those that say otherwise."""
    others = {"NumQ": 1.0, "RBPResidual": 1.0, "GAUC": nan}
    required = {"IPrec": {"recall": 0.5}, "RecallAtPrecision": {"precision": 0.5}}
    params: dict[str, Any] = required.get(name, {})
    expected = others.get(name, 0.0)
    assert oracle.value(name, params, None, [], {}) == pytest.approx(expected, abs=0, nan_ok=True)


def test_mistakes_are_errors() -> None:
    mistakes: list[tuple[str, dict[str, Any], int | None, str]] = [
        ("ERR", {"max": 2}, None, "above max"),
        ("nDCG", {"gain": {1: 1}}, None, "has no gain"),
        ("bpref", {}, 10, "takes no cutoff"),
        ("IPrec", {"recall": 0.5, "rounding": "down"}, None, "no rounding"),
    ]
    for name, params, k, message in mistakes:
        with pytest.raises(ValueError, match=message):
            oracle.value(name, params, k, list(GRADED), GRADED)


def test_how_queries_are_averaged_does_not_matter_for_one() -> None:
    assert oracle.value("P", {"mean": "geometric"}, 1, ["b"], GRADED) == 0.0
    assert exp(floored_log(e)) == pytest.approx(e)


# ---------------------------------------------------------------------------------------- ties


def test_orders_of_ties() -> None:
    scores = {"b": 1.0, "é": 1.0, "a": 2.0, "z": 1.0, "q": 0.0}
    judged = {"b": 0.0, "é": -1.0, "z": 2.0}
    assert oracle.given_order(scores) == ["a", "b", "é", "z", "q"]
    assert oracle.trec_order(scores) == ["a", "é", "z", "b", "q"]
    assert oracle.best_order(scores | {"u": 1.0}, judged) == ["a", "z", "b", "u", "é", "q"]
    assert oracle.worst_order(scores | {"u": 1.0}, judged) == ["a", "é", "u", "b", "z", "q"]
    assert sorted(oracle.orders(scores)) == sorted(
        ["a", *middle, "q"] for middle in permutations(["b", "é", "z"])
    )


def test_orders_are_all_different_and_all_there() -> None:
    scores = dict.fromkeys("abcd", 1.0) | dict.fromkeys("xyz", 0.5) | {"top": 9.0}
    found = [tuple(order) for order in oracle.orders(scores)]
    assert len(set(found)) == len(found) == factorial(4) * factorial(3)


def test_expected_is_the_mean_over_orders() -> None:
    scores = dict.fromkeys("abc", 1.0)
    judged = {"b": 1.0}
    assert oracle.expected("P", {}, 1, scores, judged) == pytest.approx(1 / 3)
    assert oracle.expected("RR", {}, None, scores, judged) == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


# ------------------------------------------------------------------------------- the name table


def test_names_come_apart() -> None:
    assert parts("AP") == ("AP", {}, None)
    assert parts("AP(norm=R)@10") == ("AP", {"norm": "R"}, 10)
    assert parts("IPrec(recall=0.1,rounding=trec9)") == (
        "IPrec",
        {"recall": 0.1, "rounding": "trec9"},
        None,
    )
    assert parts("G(gain=1:1_2:3.5)")[1] == {"gain": {1.0: 1.0, 2.0: 3.5}}


def test_a_level_is_added_only_where_it_matters() -> None:
    assert at_level("AP(norm=R)@5", 2) == "AP(norm=R,rel=2)@5"
    assert at_level("P@5", 2) == "P(rel=2)@5"
    assert at_level("P@5", 1) == "P@5"
    assert at_level("nDCG@5", 2) == "nDCG@5"
    assert {f"P_{k}" for k in CUTOFFS} <= set(TREC_NAMES)
    assert all(parts(text)[0] in oracle.NAMES for text in TREC_NAMES.values())
    assert set(oracle.NAMES) >= NO_LEVEL
