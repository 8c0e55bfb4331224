"""τ, τ_AP and RBO: against SciPy, a recorded implementation, and the mean over all orders of ties."""

import json
import math
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import germane

RECORDED = json.loads((Path(__file__).parent / "data" / "rbo.json").read_text("utf-8"))

Groups = list[list[str]]


@st.composite
def rankings(draw: st.DrawFn, items: str = "abcdef") -> Groups:
    """Groups of tied items, best first."""
    order = draw(st.permutations(list(items)))
    cuts = draw(st.lists(st.booleans(), min_size=len(order) - 1, max_size=len(order) - 1))
    groups = [[order[0]]]
    for item, cut in zip(order[1:], cuts, strict=True):
        if cut:
            groups.append([item])
        else:
            groups[-1].append(item)
    return groups


def scores(groups: Groups) -> dict[str, float]:
    return {item: -rank for rank, group in enumerate(groups) for item in group}


def orders(groups: Groups) -> list[list[str]]:
    """Every order of the tied items."""
    return [
        [item for group in chosen for item in group]
        for chosen in product(*(permutations(group) for group in groups))
    ]


# --- Kendall's τ -----------------------------------------------------------------------------------


@pytest.mark.slow
@given(rankings(), rankings())
def test_kendall_tau_is_scipys(first: Groups, second: Groups) -> None:
    stats = pytest.importorskip("scipy.stats")
    one, two = scores(first), scores(second)
    if 1 in (len(first), len(second)):
        with pytest.raises(germane.errors.CoverageError, match="all items are tied"):
            germane.kendall_tau(one, two)
        return
    expected = stats.kendalltau([one[i] for i in one], [two[i] for i in one]).statistic
    assert germane.kendall_tau(one, two) == pytest.approx(expected, abs=1e-12)


def test_kendall_tau_by_hand() -> None:
    """Of six pairs one is turned around."""
    assert germane.kendall_tau(list("abcd"), list("abdc")) == pytest.approx((5 - 1) / 6)
    assert germane.kendall_tau(list("abcd"), list("dcba")) == -1


@given(rankings(), rankings())
def test_kendall_tau_a_is_the_mean_over_all_orders(first: Groups, second: Groups) -> None:
    one, two = scores(first), scores(second)
    pairs = [(i, j) for i in one for j in one if i < j]
    agreed = [(one[i] > one[j]) - (one[i] < one[j]) for i, j in pairs]
    there = [(two[i] > two[j]) - (two[i] < two[j]) for i, j in pairs]
    expected = sum(a * b for a, b in zip(agreed, there, strict=True)) / len(pairs)
    assert germane.kendall_tau(one, two, ties="a") == pytest.approx(expected, abs=1e-12)
    if len(orders(first)) * len(orders(second)) <= 144:
        values = [germane.kendall_tau(a, b) for a in orders(first) for b in orders(second)]
        assert math.fsum(values) / len(values) == pytest.approx(expected, abs=1e-9)


# --- τ_AP ------------------------------------------------------------------------------------------


def tau_ap_by_definition(ranking: list[str], truth: list[str]) -> float:
    """The mean share of items above each item that truth puts above it too, times 2, less 1."""
    shares = []
    for i in range(1, len(ranking)):
        above = [truth.index(item) < truth.index(ranking[i]) for item in ranking[:i]]
        shares.append(sum(above) / i)
    return 2 * sum(shares) / len(shares) - 1


@given(st.permutations(list("abcdef")), st.permutations(list("abcdef")))
def test_tau_ap_without_ties(ranking: list[str], truth: list[str]) -> None:
    expected = tau_ap_by_definition(ranking, truth)
    assert germane.tau_ap(ranking, truth) == pytest.approx(expected, abs=1e-12)


@given(rankings("abcde"), rankings("abcde"))
def test_tau_ap_with_ties_is_the_mean_over_their_orders(ranking: Groups, truth: Groups) -> None:
    values = [tau_ap_by_definition(a, b) for a in orders(ranking) for b in orders(truth)]
    expected = math.fsum(values) / len(values)
    assert germane.tau_ap(scores(ranking), scores(truth)) == pytest.approx(expected, abs=1e-9)


def tau_ap_b_one_way(here: dict[str, float], true: dict[str, float]) -> float:
    """The mean share, over items below the first group, of items above the group that truth puts above, too."""
    shares = []
    for item in here:
        above = [other for other in here if here[other] > here[item]]
        if above:
            shares.append(sum(true[other] > true[item] for other in above) / len(above))
    return 2 * math.fsum(shares) / len(shares) - 1


@given(rankings(), rankings())
def test_tau_ap_b(first: Groups, second: Groups) -> None:
    one, two = scores(first), scores(second)
    if 1 in (len(first), len(second)):
        with pytest.raises(germane.errors.CoverageError, match="all items are tied"):
            germane.tau_ap(one, two, ties="b")
        return
    expected = (tau_ap_b_one_way(one, two) + tau_ap_b_one_way(two, one)) / 2
    assert germane.tau_ap(one, two, ties="b") == pytest.approx(expected, abs=1e-12)
    assert germane.tau_ap(one, one, ties="b") == 1


def test_tau_ap_weighs_the_top() -> None:
    truth = list("abcdef")
    assert germane.tau_ap(list("bacdef"), truth) < germane.tau_ap(list("abcdfe"), truth)
    assert germane.kendall_tau(list("bacdef"), truth) == germane.kendall_tau(list("abcdfe"), truth)


# --- RBO -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: str(case["p"]))
def test_rbo_as_recorded(case: dict[str, object]) -> None:
    first, second = scores(case["first"]), scores(case["second"])  # type: ignore[arg-type]
    assert germane.rbo(first, second, p=case["p"]) == pytest.approx(case["rbo"], abs=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: str(case["p"]))
def test_other_ties_and_scores_as_recorded(case: dict[str, Any]) -> None:
    first, second = scores(case["first"]), scores(case["second"])
    for ties, values in case["scores"].items():
        for score, value in values.items():
            found = germane.rbo(first, second, p=case["p"], score=score, ties=ties)
            assert found == pytest.approx(value, abs=1e-9), (ties, score)


def rbo_to_a_depth(one: list[str], two: list[str], p: float, alike: bool) -> float:
    """RBO of lists that go on, with nothing in common or with as much as there can be, term by term."""
    total, last = 0.0, max(len(one), len(two))
    for d in range(1, 400):
        common = len(set(one[:d]) & set(two[:d]))
        if alike:
            common += max(d - len(one), 0) + max(d - len(two), 0)
        total += min(common, d) / d * p ** (d - 1)
    assert last < 400
    return (1 - p) * total


@given(rankings("abc"), rankings("bcd"))
def test_bounds_with_ties_are_means_over_their_orders(first: Groups, second: Groups) -> None:
    pairs = list(product(orders(first), orders(second)))
    for score, alike in (("min", False), ("max", True)):
        expected = math.fsum(rbo_to_a_depth(a, b, 0.8, alike) for a, b in pairs) / len(pairs)
        found = germane.rbo(scores(first), scores(second), p=0.8, score=score)  # type: ignore[arg-type]
        assert found == pytest.approx(expected, abs=1e-9)
    least, most = (
        germane.rbo(scores(first), scores(second), p=0.8, score=score)  # type: ignore[arg-type]
        for score in ("min", "max")
    )
    whole = germane.rbo(scores(first), scores(second), p=0.8)
    assert least - 1e-12 <= whole <= most + 1e-12
    rest = germane.rbo(scores(first), scores(second), p=0.8, score="res")
    assert rest == pytest.approx(most - least)


@given(rankings())
def test_a_ranking_with_ties_agrees_with_itself(ranking: Groups) -> None:
    for ties in ("b", "w"):
        found = germane.rbo(scores(ranking), scores(ranking), ties=ties)  # type: ignore[arg-type]
        assert found == pytest.approx(1)


def rbo_by_equation_32(one: list[str], two: list[str], p: float) -> float:
    """Webber, Moffat and Zobel's equation for lists without ties, term by term."""
    short, long = sorted((one, two), key=len)
    s, end = len(short), len(long)
    overlap = [len(set(short[:d]) & set(long[:d])) for d in range(end + 1)]
    total = sum(overlap[d] / d * p**d for d in range(1, end + 1))
    total += sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, end + 1))
    tail = ((overlap[end] - overlap[s]) / end + overlap[s] / s) * p**end
    return (1 - p) / p * total + tail


@given(
    st.permutations(list("abcdefg")).flatmap(lambda o: st.integers(1, 7).map(lambda n: o[:n])),
    st.permutations(list("cdefghi")).flatmap(lambda o: st.integers(1, 7).map(lambda n: o[:n])),
    st.sampled_from((0.5, 0.9, 0.98)),
)
def test_rbo_of_uneven_lists(one: list[str], two: list[str], p: float) -> None:
    expected = rbo_by_equation_32(one, two, p)
    assert germane.rbo(one, two, p=p) == pytest.approx(expected, abs=1e-12)
    assert germane.rbo(two, one, p=p) == pytest.approx(expected, abs=1e-12)
    assert germane.rbo(one, one, p=p) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@given(rankings("abcd"), rankings("bcdefg"))
def test_rbo_with_ties_is_the_mean_over_their_orders(first: Groups, second: Groups) -> None:
    pairs = list(product(orders(first), orders(second)))
    expected = math.fsum(rbo_by_equation_32(a, b, 0.9) for a, b in pairs) / len(pairs)
    assert germane.rbo(scores(first), scores(second)) == pytest.approx(expected, abs=1e-9)


# --- What is refused -------------------------------------------------------------------------------


def test_refused() -> None:
    with pytest.raises(
        germane.errors.CoverageError, match="only first has 'b'; only second has 'c'"
    ):
        germane.kendall_tau(["a", "b"], ["a", "c"])
    with pytest.raises(germane.errors.DuplicateError, match=r"^first: 'a' is listed 2 times"):
        germane.rbo(["a", "a"], ["a"])
    with pytest.raises(germane.errors.DuplicateError, match=r"^truth: 'a' is listed 2 times"):
        germane.tau_ap(["a", "b"], ["a", "a"])
    with pytest.raises(germane.errors.EmptyError, match=r"^second: the ranking is empty"):
        germane.rbo(["a"], [])
    with pytest.raises(
        germane.errors.FormatError, match=r"^second, rank 2: an item is an id.*; got \['b'\]"
    ):
        germane.kendall_tau(["a", "b"], ["a", ["b"]])  # type: ignore[list-item]
    with pytest.raises(germane.errors.CoverageError, match=r"^second: all items are tied"):
        germane.kendall_tau(["a", "b"], {"a": 1, "b": 1})
    with pytest.raises(germane.errors.CoverageError, match=r"^ranking: all items are tied"):
        germane.tau_ap({"a": 1, "b": 1}, ["a", "b"], ties="b")
    assert germane.tau_ap(iter("ab"), iter("ab")) == 1
    with pytest.raises(germane.errors.InputError, match="p takes a number between 0 and 1; got 1"):
        germane.rbo(["a"], ["a"], p=1)
    with pytest.raises(germane.errors.ScoreError, match="the score of 'a'"):
        germane.tau_ap({"a": math.nan, "b": 1}, ["a", "b"])
    with pytest.raises(germane.errors.InputError, match="a ranking is a list of items"):
        germane.tau_ap("ab", ["a", "b"])
    with pytest.raises(germane.errors.CoverageError, match="one item"):
        germane.tau_ap(["a"], ["a"])
