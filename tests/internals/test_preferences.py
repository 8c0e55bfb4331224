"""Preferences against a slow, obvious count over pairs of items."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import InputError
from germane.trec_eval.judgments import MEASURES, Group, Judged, order_partially, order_totally

Levels = dict[int, float]


def group_of(levels: Levels) -> Group:
    return order_totally(np.array(list(levels), np.int64), np.array(list(levels.values()), float))


def judged_of(items: int, retrieved: int, groups: list[Levels]) -> Judged:
    return Judged(list(map(group_of, groups)), items, retrieved)


@st.composite
def cases(draw: st.DrawFn) -> tuple[int, int, list[Levels]]:
    items = draw(st.integers(1, 6))
    levels = st.dictionaries(st.integers(0, items - 1), st.integers(0, 3).map(float), min_size=1)
    groups = draw(st.lists(levels, min_size=1, max_size=3))
    return items, draw(st.integers(0, items)), groups


def pairs(levels: Levels) -> list[tuple[int, int]]:
    """Every preference: the place of the preferred item, and of the other."""
    return [(a, b) for a, b in permutations(levels, 2) if levels[a] > levels[b]]


COUNTED = {
    "all": lambda a, b, got: True,
    "one": lambda a, b, got: a < got or b < got,
    "both": lambda a, b, got: a < got and b < got,
}


@given(cases(), st.sampled_from([("simp", "all"), ("simp_imp", "one"), ("simp_ret", "both")]))
def test_the_share_of_preferences_met(case: tuple, kind: tuple[str, str]) -> None:
    items, got, groups = case
    among = [(a, b) for g in groups for a, b in pairs(g) if COUNTED[kind[1]](a, b, got)]
    met = [a < b and a < got for a, b in among]
    expected = sum(met) / len(met) if met else 0.0
    assert MEASURES[kind[0]](judged_of(items, got, groups)) == expected


@given(cases(), st.sampled_from([("avgjg", "all"), ("avgjg_imp", "one"), ("avgjg_ret", "both")]))
def test_the_mean_share_of_groups(case: tuple, kind: tuple[str, str]) -> None:
    items, got, groups = case
    shares = []
    for levels in groups:
        met = [a < b and a < got for a, b in pairs(levels) if COUNTED[kind[1]](a, b, got)]
        shares.append(Fraction(sum(met), len(met)) if met else Fraction(0))
    expected = float(sum(shares) / len(groups))
    assert MEASURES[kind[0]](judged_of(items, got, groups)) == pytest.approx(expected, rel=1e-12)


@given(cases(), st.sampled_from([("pair", "all"), ("pair_imp", "one"), ("pair_ret", "both")]))
def test_the_mean_over_pairs_of_items(case: tuple, kind: tuple[str, str]) -> None:
    items, got, groups = case
    shares = []
    for a in range(items):
        for b in range(a + 1, items):
            votes = [pair for g in groups for pair in pairs(g) if set(pair) == {a, b}]
            if votes and COUNTED[kind[1]](a, b, got):
                agree = votes.count((a, b)) if a < got else 0
                shares.append(Fraction(agree, len(votes)))
    expected = float(sum(shares) / len(shares)) if shares else 0.0
    assert MEASURES[kind[0]](judged_of(items, got, groups)) == pytest.approx(expected, rel=1e-12)


@given(cases())
def test_counts(case: tuple) -> None:
    items, got, groups = case
    judged = judged_of(items, got, groups)
    every = [pair for levels in groups for pair in pairs(levels)]
    assert MEASURES["num_prefs_poss"](judged) == len(every)
    assert MEASURES["num_prefs_ful"](judged) == sum(a < b and a < got for a, b in every)
    assert MEASURES["num_prefs_ful_ret"](judged) == sum(a < b < got for a, b in every)


@given(cases())
def test_one_part_of_a_partial_order_is_a_total_order(case: tuple) -> None:
    """All measures, but for those that count the lowest level with itself in a total order."""
    items, got, groups = case
    arrays = [(np.array(list(g)), np.array(list(g.values()))) for g in groups]
    partial = Judged([order_partially([part], items) for part in arrays], items, got)
    for name, measure in MEASURES.items():
        if "Rnonrel" not in name:
            assert measure(partial) == measure(judged_of(items, got, groups)), name


def test_preferences_follow_from_others() -> None:
    """0 > 1 and 1 > 2 make 0 > 2; 3 is preferred to 2 alone."""
    parts = [((0, 1), (2, 1)), ((1, 2), (5, 4)), ((3, 2), (5, 4))]
    group = order_partially([(np.array(a), np.array(b, float)) for a, b in parts], 4)
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(group.prefers)), strict=True)) == {
        (0, 1), (0, 2), (1, 2), (3, 2),
    }  # fmt: skip


def test_missing_nonrelevant_items_stand_below_what_is_retrieved() -> None:
    """Two relevant items, one of them retrieved, and one of two nonrelevant ones known.

    Met: 0 > 2, and 0 above the one that is missing. Possible: those, and the same for item 1.
    """
    judged = judged_of(3, 1, [{0: 1, 1: 1, 2: 0}])
    assert MEASURES["avgjg_Rnonrel"](judged) == (1 + 1) / (2 + 2)


def test_of_more_nonrelevant_items_the_first_count() -> None:
    """One relevant item at place 1 and two nonrelevant ones: that at place 0 counts.

    It is above the relevant item, and not above itself; the other nonrelevant item is below it, so
    none of three comparisons is met.
    """
    judged = judged_of(3, 3, [{0: 0, 1: 1, 2: 0}])
    assert MEASURES["avgjg_Rnonrel"](judged) == 0 / 3


@pytest.mark.parametrize(
    "parts",
    [
        [((0, 1), (2, 1)), ((0, 1), (1, 2))],
        [((0, 1), (2, 1)), ((1, 2), (2, 1)), ((2, 0), (2, 1))],
        [((0, 1), (0, 1)), ((0, 1), (2, 1))],
    ],
    ids=["contradiction", "circle", "relevant or not"],
)
def test_contradictions_are_errors(parts: list) -> None:
    with pytest.raises(InputError):
        order_partially([(np.array(a), np.array(b, float)) for a, b in parts], 3)


def test_an_item_with_two_levels_is_an_error() -> None:
    with pytest.raises(InputError, match="2 and 1"):
        order_totally(np.array([0, 0]), np.array([1.0, 2.0]))
