"""How near values are to exact arithmetic: ratios are the nearest doubles, sums round at every term."""

import math
import random
from decimal import Decimal, getcontext
from fractions import Fraction
from typing import Any

import pytest

import germane

UNIT = Fraction(1, 2**53)  # the largest relative error of one operation
LENGTH = 1000


def draw_lists(chance: random.Random, lists: int, most: int) -> list[tuple[list[int], int]]:
    """Draw the ranks of the relevant items in lists of 1,000, and how many relevant items there are."""
    out = []
    for _ in range(lists):
        relevant = chance.randint(1, most)
        depth = chance.choice((relevant, 3 * relevant, LENGTH))
        found = chance.randint(0, relevant)
        out.append((sorted(chance.sample(range(1, min(depth, LENGTH) + 1), found)), relevant))
    return out


def evaluate(lists: list[tuple[list[int], int]], measures: str) -> dict[str, list[float]]:
    run = [f"d{rank}" for rank in range(1, LENGTH + 1)]
    qrels = {
        q: [f"d{rank}" for rank in ranks] + [f"m{i}" for i in range(relevant - len(ranks))]
        for q, (ranks, relevant) in enumerate(lists)
    }
    result = germane.evaluate(qrels, dict.fromkeys(qrels, run), measures)
    return {name: list(result[name].per_query.values()) for name in measures.split()}


def logarithm(number: int) -> Decimal:
    return Decimal(number).ln() / Decimal(2).ln()


def count_units(found: float, exact: Fraction) -> float:
    """Count the units in the last place between a value and the double that is nearest to the exact one."""
    nearest = float(exact)
    return abs(found - nearest) / math.ulp(nearest) if nearest else abs(found)


def test_ratios_of_counts_are_the_nearest_doubles() -> None:
    lists = draw_lists(random.Random(1), 400, 100)
    found = evaluate(lists, "P@10 P@7 P R@10 R@300 Rprec RR Success@5 NumRelRet SetF")
    for q, (ranks, relevant) in enumerate(lists):
        within = {k: sum(rank <= k for rank in ranks) for k in (5, 7, 10, 300, relevant, LENGTH)}
        exact = {
            "P@10": Fraction(within[10], 10),
            "P@7": Fraction(within[7], 7),
            "P": Fraction(within[LENGTH], LENGTH),
            "R@10": Fraction(within[10], relevant),
            "R@300": Fraction(within[300], relevant),
            "Rprec": Fraction(within[relevant], relevant),
            "RR": Fraction(1, ranks[0]) if ranks else Fraction(0),
            "Success@5": Fraction(int(within[5] > 0)),
            "NumRelRet": Fraction(len(ranks)),
            "SetF": Fraction(2 * len(ranks), LENGTH + relevant),
        }
        for name, value in exact.items():
            assert found[name][q] == float(value), (name, ranks, relevant)


@pytest.mark.parametrize("most", [3, 100, 900])
def test_sums_are_as_near_as_their_terms_allow(most: int) -> None:
    """One rounding a term and one an addition: AP is within n + 1 units of 2^-53, relative.

    DCG rounds its logarithms, too, and nDCG both of its sums.
    """
    getcontext().prec = 50
    lists = draw_lists(random.Random(most), 1200 if most == 100 else 60, most)
    found = evaluate(lists, "AP(norm=R) DCG nDCG")
    inverse: list[Any] = [0, *(Fraction(1 / logarithm(rank + 1)) for rank in range(1, LENGTH + 1))]
    ideal = [Fraction(0)]
    for rank in range(1, LENGTH + 1):
        ideal.append(ideal[-1] + inverse[rank])
    worst = dict.fromkeys(found, 0.0)
    for q, (ranks, relevant) in enumerate(lists):
        gained = sum((inverse[rank] for rank in ranks), Fraction(0))
        precisions = (Fraction(i, rank) for i, rank in enumerate(ranks, 1))
        exact = {
            "AP(norm=R)": (sum(precisions, Fraction(0)) / relevant, len(ranks) + 1),
            "DCG": (gained, len(ranks) + 2),
            "nDCG": (gained / ideal[relevant], len(ranks) + relevant + 5),
        }
        for name, (value, operations) in exact.items():
            assert abs(Fraction(found[name][q]) - value) <= operations * UNIT * value * (
                1 + UNIT * 2000
            )
            worst[name] = max(worst[name], count_units(found[name][q], value))
    if most == 100:  # as docs/reliability.md says
        assert worst["AP(norm=R)"] <= 10
        assert worst["nDCG"] <= 10
        assert max(worst.values()) >= 2, "a sum that rounds once would be nearer"
