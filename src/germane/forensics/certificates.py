"""Certificates: inequalities in small whole numbers that hold for every list, proved exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from germane.forensics.list_values import FINE, ListMeasure, Lists, Value, bound_discount

_GRADED = 3  # columns of graded judgments in one certificate, each of which has its own gains

Weights: TypeAlias = Mapping[int, int]  # whole numbers by the place of the measure


@dataclass(frozen=True)
class Certificate:
    """Σ weight · measure ≤ bound for every list, and so for every mean over lists.

    ``bound`` is exact where ``is_exact``, and otherwise a bound from above. Numbers that break it
    by ``excess`` beyond their rounding belong to no run.
    """

    weights: tuple[tuple[int, int], ...]  # of the places of measures
    bound: Fraction
    is_exact: bool
    excess: Fraction

    def write(self, names: Sequence[str]) -> str:
        """Write the inequality with names of the measures, without negative terms."""
        sides: tuple[list[str], list[str]] = ([], [])
        for place, weight in self.weights:
            count = "" if abs(weight) == 1 else f"{abs(weight)}·"
            sides[weight < 0].append(f"{count}{names[place]}")
        if self.bound:
            sides[self.bound > 0].append(self._write_bound())
        return " ≤ ".join(" + ".join(side) or "0" for side in sides)

    def _write_bound(self) -> str:
        size = abs(self.bound)
        if self.is_exact and size.denominator < 1000:
            return str(size)
        return write_decimal(size, up=self.bound > 0)


def write_decimal(number: Fraction, *, up: bool) -> str:
    """Write a positive number with seven decimals, rounded up or down."""
    scaled = number * 10**7
    whole = -(-scaled.numerator // scaled.denominator) if up else int(scaled)
    return f"{whole // 10**7}.{whole % 10**7:07d}".rstrip("0").rstrip(".")


def round_bound(bound: Fraction, *, is_exact: bool) -> Fraction:
    """Round a bound up to what is printed, so that the inequality holds as it is printed."""
    if is_exact and bound.denominator < 1000:
        return bound
    size = Fraction(write_decimal(abs(bound), up=bound > 0))
    return size if bound > 0 else -size


def find_bound(lists: Lists, weights: Weights) -> tuple[Fraction, bool] | None:
    """Find the highest value of Σ weight · measure over all lists, and say if it is exact.

    A measure with a positive weight counts with its highest value, and one with a negative weight
    with its lowest. Lists are not enumerated: for each R and each choice of gains, the worth of the
    best list with j hits in the first i ranks follows from that of i − 1 ranks. Sums that have
    logarithms are rounded up. None where there are too many gains.
    """
    sides = [_Side.of(lists.measures[place], weight) for place, weight in weights.items()]
    graded = [side for side in sides if side.measure.gains != (1, 1)]
    if len(graded) > _GRADED:
        return None
    plain = [(s, s.list_terms(lists.depth)) for s in sides if s.measure.gains == (1, 1)]
    is_exact = all(side.value.is_rational for side in sides)
    bounds = []
    depends = any(side.depends_on_relevant for side in sides)
    for relevant in lists.relevant if depends else lists.relevant[-1:]:
        counts = [side.count_gains(relevant, lists.depth) for side in graded]
        most = lists.depth if lists.repeats else int(min(relevant, lists.depth))
        for tops in product(*(range(count + 1) for count in counts)):
            gained = [
                side.list_gains(count, top)
                for side, count, top in zip(graded, counts, tops, strict=True)
            ]
            bounds.append(_maximize(lists, plain, gained, relevant, most, is_exact))
    if lists.ones:
        ones = sum(w for place, w in weights.items() if w > 0 and place in lists.ones)
        bounds.append(Fraction(ones))
    return max(bounds), is_exact


@dataclass(frozen=True)
class _Side:
    """The side of a measure that counts in an inequality: the higher one if it is added."""

    weight: int
    measure: ListMeasure
    value: Value

    @classmethod
    def of(cls, measure: ListMeasure, weight: int) -> "_Side":
        """Take the side by the sign of the weight."""
        return cls(weight, measure, measure.high if weight > 0 else measure.low)

    @property
    def depends_on_relevant(self) -> bool:
        """Does it depend on the number of relevant items, besides the number of hits?"""
        constant = self.value.divisor in ("one", "k", "ideal_k")
        return not constant or self.measure.gains != (1, 1)

    def list_terms(self, depth: int) -> "_Terms":
        """List what hits add by rank, before it is divided, times the weight."""
        rows: list[list[Fraction]] = [[], [], []]
        for rank in range(1, depth + 1):
            always, per_hit, first = self.value.add_hit(rank)
            for row, term in zip(
                rows, (always.high if self.weight > 0 else always.low, per_hit, first), strict=True
            ):
                row.append(self.weight * term)
        scale = FINE
        if self.value.is_rational:
            scale = lcm(*(term.denominator for row in rows for term in row))
        whole = [[_round_up(term, scale) for term in row] for row in rows]
        return _Terms(np.array(whole, dtype=object), scale)

    def divide(self, relevant: float) -> Fraction:
        """Return 1 ÷ divisor, rounded so that the weighted value is not below the true one."""
        factor = self.value.divide(relevant)
        return factor.high if self.weight > 0 else factor.low

    def count_gains(self, relevant: float, depth: int) -> int:
        """Count the relevant items whose gains matter; at the depth, as many as without a bound."""
        return 2 * self.measure.k + 1 if relevant >= depth else int(relevant)

    def list_gains(self, count: int, top: int) -> dict[tuple[int, int], Fraction]:
        """List what the j-th hit at a rank adds to nDCG where so many items have the top gain."""
        (lowest, highest), k, kind = self.measure.gains, self.measure.k, self.measure.high.sums
        gains = [highest if m <= top else lowest for m in range(1, count + 1)]
        spans = [bound_discount(rank, kind) for rank in range(1, k + 1)]
        side = self.weight > 0
        ideal = sum((g * s[not side] for g, s in zip(gains, spans, strict=False)), Fraction())
        return {
            (rank, j): self.weight * (gains[j - 1] if side else gains[-j]) * span[side] / ideal
            for rank, span in enumerate(spans, 1)
            for j in range(1, min(rank, count) + 1)
        }


class _Terms(NamedTuple):
    """What hits add, always, for each hit so far, and if they are the first: multiples of 1/scale.

    Three rows of whole numbers, by rank.
    """

    rows: "np.ndarray[Any, np.dtype[np.object_]]"
    scale: int


def _round_up(number: Fraction, scale: int) -> int:
    return -(-number.numerator * scale // number.denominator)


def _maximize(
    lists: Lists,
    plain: Sequence[tuple[_Side, _Terms]],
    gained: Sequence[Mapping[tuple[int, int], Fraction]],
    relevant: float,
    most: int,
    is_exact: bool,
) -> Fraction:
    """Maximize the sum over all lists with at most so many hits, in whole numbers of one scale."""
    factors = [side.divide(relevant) / terms.scale for side, terms in plain]
    tails = [
        sum((s.weight * s.value.add_tail(lists.depth, h, relevant) for s, _ in plain), Fraction())
        for h in range(most + 1)
    ]
    scale = lcm(*(number.denominator for number in (*factors, *tails))) if is_exact else FINE
    rows: Any = np.zeros((3, lists.depth), dtype=object)
    for (side, terms), factor in zip(plain, factors, strict=True):
        added = -(-terms.rows * (factor.numerator * scale) // factor.denominator)
        last = side.value.count_ranks(relevant)
        rows[:, : int(min(last, lists.depth))] += added[:, : int(min(last, lists.depth))]
    always, per_hit, first = rows
    numbers = np.arange(1, most + 1).astype(object)
    worth = np.array([0], dtype=object)  # by the number of hits so far
    for i in range(lists.depth):
        count = min(i + 1, most)
        hit = worth[:count] + always[i]
        if per_hit[i]:
            hit += per_hit[i] * numbers[:count]
        hit[0] += first[i]
        for steps in gained:
            hit += [
                _round_up(steps.get((i + 1, j), Fraction()), scale) for j in range(1, count + 1)
            ]
        stay = worth[1:]
        worth = np.concatenate([worth[:1], np.maximum(hit[: len(stay)], stay), hit[len(stay) :]])
    highest = max(w + _round_up(t, scale) for w, t in zip(worth, tails, strict=False))
    return Fraction(highest, scale)
