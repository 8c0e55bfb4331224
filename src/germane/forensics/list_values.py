"""What every list of results can be worth: lower and upper values of measures, list by list.

A kind of list says which of the first K results are relevant, and how many relevant items R there
are. Its value is a sum over hits: (a + b·j + c for the first hit) ÷ divisor for the j-th hit at
rank i, and a tail for what lies beyond rank K. For R ≥ K every value is a line in 1/R, so that
R = K and R = ∞ stand for all that lie between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import ceil, floor, inf
from typing import Any, NamedTuple

import numpy as np

from germane.core.ragged import Bools, Floats, Ints
from germane.forensics.reported import Reading

ENUMERATED = 10
"""Up to this depth all lists are enumerated; deeper ones are searched by ranks and hits."""

DEEPEST = 100
_PRECISION = 1 << 64  # of bounds of logarithms
FINE = 1 << 80  # bounds that are not rational are rounded to its multiples


class Span(NamedTuple):
    """Rational bounds of a number, which are equal where it is rational."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, number: Fraction | int) -> "Span":
        """Make the span of a rational number."""
        return cls(Fraction(number), Fraction(number))


_ONE, _ZERO = Span.of(1), Span.of(0)


@cache
def bound_log2(number: int) -> Span:
    """Bound a binary logarithm by rational numbers, digit by digit, without floating point.

    The square of 2^f has twice the logarithm: each squaring of the mantissa gives the next binary
    digit of f. Mantissas are rounded down for the lower bound and up for the upper one.
    """
    whole = number.bit_length() - 1
    if number == 1 << whole:
        return Span.of(whole)
    bounds = []
    for rounded in (floor, ceil):
        mantissa, digits = Fraction(number, 1 << whole), 0
        for _ in range(64):
            mantissa = Fraction(rounded(mantissa * mantissa * (1 << 160)), 1 << 160)
            digits *= 2
            if mantissa >= 2:
                mantissa, digits = mantissa / 2, digits + 1
        bounds.append(whole + Fraction(digits + (rounded is ceil), _PRECISION))
    return Span(*bounds)


@cache
def bound_discount(rank: int, kind: str) -> Span:
    """Bound the discount of nDCG at a rank: 1 ÷ log2(i + 1), or jarvelin's 1 ÷ max(1, log2 i).

    Bounds are multiples of 2^-80, so that sums of them have small denominators.
    """
    log = bound_log2(rank + 1) if kind == "log" else bound_log2(max(rank, 2))
    return Span(Fraction(floor(FINE / log.high), FINE), Fraction(ceil(FINE / log.low), FINE))


@cache
def bound_ideal(count: int, kind: str) -> Span:
    """Bound the sum of the first discounts."""
    spans = [bound_discount(rank, kind) for rank in range(1, count + 1)]
    return Span(sum((s.low for s in spans), Fraction()), sum((s.high for s in spans), Fraction()))


@cache
def _sum_harmonic(last: int) -> Fraction:
    return sum((Fraction(1, rank) for rank in range(1, last + 1)), Fraction())


@dataclass(frozen=True)
class Value:
    """A measure, or a bound of it, as a sum over hits.

    ``sums`` says what a hit adds, ``divisor`` what the sum is divided by, and ``tail`` what hits
    beyond the depth of the lists can add: nothing, the reciprocal of the next rank, precisions or
    discounts of the items that are left, places up to rank R, or all.
    """

    sums: str  # nothing, hits, hits_to_R, first, reciprocal, precisions, means, log or jarvelin
    k: int
    divisor: str = "one"  # or k, R, min, ideal, ideal_k, ideal_R or harmonic
    tail: str = "none"  # or rank, precisions, discounts, places or all
    times: Fraction = Fraction(1)  # the factor of every hit
    beta: Fraction = Fraction(1)  # of a harmonic mean
    depth: int = 0  # of a harmonic mean: up to so many relevant items it is exact

    def add_hit(self, rank: int) -> tuple[Span, Fraction, Fraction]:
        """Return what a hit at a rank adds: always, for each hit so far, and if it is the first."""
        zero = Fraction()
        if rank > self.k or self.sums == "nothing":
            return _ZERO, zero, zero
        match self.sums:
            case "hits" | "hits_to_R":
                return _ONE, zero, zero
            case "first":
                return _ZERO, zero, Fraction(1)
            case "reciprocal":
                return _ZERO, zero, Fraction(1, rank)
            case "precisions":
                return _ZERO, Fraction(1, rank), zero
            case "means":
                return Span.of(_sum_harmonic(self.k) - _sum_harmonic(rank - 1)), zero, zero
            case _:
                discount = bound_discount(rank, self.sums)
                return Span(self.times * discount.low, self.times * discount.high), zero, zero

    def count_ranks(self, relevant: float) -> float:
        """Return the last rank at which a hit counts."""
        return relevant if self.sums == "hits_to_R" else inf

    def divide(self, relevant: float) -> Span:
        """Return 1 ÷ divisor for R relevant items."""
        match self.divisor:
            case "one":
                return _ONE
            case "k":
                return Span.of(Fraction(1, self.k))
            case "R":
                return _ZERO if relevant == inf else Span.of(Fraction(1, int(relevant)))
            case "min":
                return Span.of(Fraction(1, int(min(relevant, self.k))))
            case "harmonic":
                return self._divide_harmonic(relevant)
            case "ideal_R" if relevant == inf:
                return _ZERO
            case _:
                count = self.k if self.divisor == "ideal_k" else int(min(relevant, self.k))
                count = int(relevant) if self.divisor == "ideal_R" else count
                ideal = bound_ideal(count, self.sums)
                return Span(1 / ideal.high, 1 / ideal.low)

    def _divide_harmonic(self, relevant: float) -> Span:
        """Return (1 + β²) ÷ (β²·R + k).

        In 1/R it is concave, so that beyond the depth lines between two R lie below it. Its tangent
        lies above.
        """
        square = self.beta**2
        if relevant <= self.depth:
            return Span.of((1 + square) / (square * int(relevant) + self.k))
        part = Fraction() if relevant == inf else Fraction(1, int(relevant))
        low = (1 + square) * part / (square + self.k * part)
        touch = Fraction(1, self.depth)
        at_touch = square + self.k * touch
        slope = (1 + square) * square / at_touch**2
        return Span(low, (1 + square) * touch / at_touch + slope * (part - touch))

    def add_tail(self, depth: int, hits: int, relevant: float) -> Fraction:
        """Return the most that results beyond the depth add to a list with so many hits."""
        if self.tail == "all":
            return Fraction(1)
        if self.tail == "rank":
            return Fraction(not hits, depth + 1)
        if self.tail == "none" or hits >= relevant:
            return Fraction()
        if relevant == inf:
            return Fraction(1)
        total, misses = int(relevant), depth - hits
        if self.tail == "places":
            return Fraction(max(total - depth, 0), total)
        if self.tail == "discounts":
            beyond = bound_ideal(misses + total, self.sums).high - bound_ideal(depth, self.sums).low
            return beyond / bound_ideal(total, self.sums).low
        # the j-th hit, at rank misses + j, adds j ÷ (misses + j) = 1 − misses ÷ (misses + j)
        beyond = _sum_harmonic(misses + total) - _sum_harmonic(depth)
        return (total - hits - misses * beyond) / total

    @property
    def is_rational(self) -> bool:
        """Is every value of it a rational number?"""
        return self.sums not in ("log", "jarvelin")


@dataclass(frozen=True)
class ListMeasure:
    """A column of a program: the least and the most that a list is worth, equal where it is known.

    ``high`` is None for measures of graded judgments, whose bounds depend on ``gains``: the lowest
    and the highest worth of a relevant item.
    """

    low: Value
    high: Value
    gains: tuple[int, int] = (1, 1)

    @property
    def is_exact(self) -> bool:
        """Is the value of each list known?"""
        return self.low == self.high and self.gains == (1, 1)

    @property
    def k(self) -> int:
        """The cutoff, or 0 without one."""
        return self.low.k


def make_list_measure(reading: Reading, depth: int, grades: int | None) -> ListMeasure | None:
    """Make a column of a definition; None if it is none of those that a program knows.

    ``depth`` is that of the lists, for measures without a cutoff, and ``grades`` the highest grade.
    """
    measure, words = reading.measure, reading.parameters
    cutoff = measure.k
    k = depth if cutoff is None else cutoff
    if k > depth or words.get("mean", "arithmetic") != "arithmetic":
        return None
    copies = reading.counts_twice
    hit = Value("first", k)
    norm = words.get("norm")
    match measure.name:
        case "P" if cutoff and norm in ("k", "retrieved"):
            exact = Value("hits", k, "k")
            return ListMeasure(exact, exact if norm == "k" else hit)
        case "R" if cutoff and (norm != "possible" or not copies):
            exact = Value("hits", k, "R" if norm == "R" else "min")
            return ListMeasure(exact, hit if norm == "possible" else exact)
        case "R" if norm == "R" and not copies:
            return ListMeasure(Value("hits", k, "R"), Value("nothing", k, tail="all"))
        case "Success":
            return ListMeasure(hit, hit if cutoff else Value("nothing", k, tail="all"))
        case "RR":
            exact = Value("reciprocal", k)
            return ListMeasure(exact, exact if cutoff else Value("reciprocal", k, tail="rank"))
        case "MeanP" if cutoff:
            exact = Value("means", k, "k")
            return ListMeasure(exact, exact)
        case "AP" if cutoff:
            if norm in ("R", "min", "k"):
                exact = Value("precisions", k, str(norm))
                return ListMeasure(exact, exact)
            return None if copies and norm != "found" else _bound_open_ap(k, copies)
        case "AP" if not copies and norm != "k":
            low = Value("precisions", k, "R")
            if norm in ("R", "min"):
                return ListMeasure(low, Value("precisions", k, "R", "precisions"))
            return ListMeasure(low, Value("nothing", k, tail="all"))
        case "F" if cutoff:
            beta = Fraction(repr(float(words["beta"])))
            exact = Value("hits", k, "harmonic", beta=beta, depth=depth)
            return ListMeasure(exact, exact) if beta else None
        case "Rprec" if words["mult"] == 1 and not copies:
            low = Value("hits_to_R", k, "R")
            return ListMeasure(low, replace(low, tail="places"))
        case "DCG" if cutoff:
            return _make_dcg(reading, k, grades)
        case "nDCG" if cutoff:
            return _make_ndcg(reading, k, grades)
        case "nDCG" if norm == "judged" and not copies:
            gains, discount = list_gains(words, grades), str(words["discount"])
            if gains is not None and gains[-1] > 1:
                return _bound_deep_ndcg(discount, k, "ideal_R", gains[-1], "all")
            if gains is not None:
                low = Value(discount, k, "ideal_R")
                return ListMeasure(low, replace(low, tail="discounts"))
    return None


def _bound_open_ap(k: int, copies: bool) -> ListMeasure:
    """AP over what was found, or over what a list could hold: at least AP over min(R, k)."""
    low = Value("nothing", k) if copies else Value("precisions", k, "min")
    return ListMeasure(low, Value("first", k))


def list_gains(words: Mapping[str, Any], grades: int | None) -> tuple[int, ...] | None:
    """List the gains of grades from 1 on; None if the program does not know them."""
    if grades is None or words["base"] != 2 or words["least"] > 1:
        return None
    if words["gain"] not in ("linear", "exp") or words["discount"] not in ("log", "jarvelin"):
        return None
    levels = range(1, grades + 1)
    return tuple(levels if words["gain"] == "linear" else (2**grade - 1 for grade in levels))


def _make_dcg(reading: Reading, k: int, grades: int | None) -> ListMeasure | None:
    gains = list_gains(reading.parameters, grades)
    if gains is None:
        return None
    low = Value(str(reading.parameters["discount"]), k)
    return ListMeasure(low, replace(low, times=Fraction(gains[-1])))


def _make_ndcg(reading: Reading, k: int, grades: int | None) -> ListMeasure | None:
    words = reading.parameters
    gains = list_gains(words, grades)
    if gains is None:
        return None
    most, discount, norm = gains[-1], str(words["discount"]), words["norm"]
    if most > 1 and (norm != "judged" or reading.counts_twice):
        return None
    if most > 1 and k > ENUMERATED:
        return _bound_deep_ndcg(discount, k, "ideal", most)
    if norm == "retrieved":
        if reading.counts_twice:
            return None
        return ListMeasure(Value(discount, k, "ideal_k"), Value("first", k))
    exact = Value(discount, k, "ideal" if norm == "judged" else "ideal_k")
    return ListMeasure(exact, exact, (1, most))


def _bound_deep_ndcg(
    discount: str, k: int, divisor: str, most: int, tail: str = "none"
) -> ListMeasure:
    """Bound nDCG of grades by two extremes: all hits have the lowest gain, and the others the most.

    From above it is 1 with a hit, or whenever results go on beyond the depth.
    """
    low = Value(discount, k, divisor, times=Fraction(1, most))
    return ListMeasure(low, Value("nothing", k, tail=tail) if tail != "none" else Value("first", k))


# --- All kinds of lists ---------------------------------------------------------------------------


class Kinds(NamedTuple):
    """Kinds of lists: hits by rank, R, and the lower and the upper value of each measure.

    Of graded lists, grades by rank, 0 where there is no hit, and R by grade.
    """

    hits: Bools | Ints  # lists × ranks
    relevant: Floats | Ints  # or lists × grades
    low: Floats  # lists × measures
    high: Floats

    def take(self, places: Ints) -> "Kinds":
        """Take some of them."""
        return Kinds(*(column[places] for column in self))


class _Sides(NamedTuple):
    """One side of all measures, in floating point."""

    always: Floats  # measures × R × ranks; 1 in place of R if it does not matter
    per_hit: Floats
    first: Floats
    factor: Floats  # measures × R
    tail: Floats  # measures × R × hits


@dataclass(frozen=True)
class Lists:
    """All kinds of lists of a depth, with the bounds of some measures.

    ``repeats``: results may be repeated, and be hits again. ``ones``: measures that may be 1 for a
    query without relevant items, where the others are 0. ``most``: relevant items of a query.
    ``larger``: numbers of relevant items beyond the depth; all between are bounded by them.
    """

    measures: tuple[ListMeasure, ...]
    depth: int
    repeats: bool = False
    ones: frozenset[int] = frozenset()
    most: float = inf
    larger: tuple[float, ...] = ()

    @cached_property
    def relevant(self) -> tuple[float, ...]:
        """The numbers of relevant items: up to the depth, and larger ones."""
        larger = [r for r in self.larger if r <= self.most] or [self.most]
        return (
            *range(1, int(min(self.depth, self.most)) + 1),
            *(r for r in larger if r > self.depth),
        )

    @property
    def is_exact(self) -> bool:
        """Is the value of every list known?"""
        bent = self.most > self.depth and any(m.low.divisor == "harmonic" for m in self.measures)
        return all(measure.is_exact for measure in self.measures) and not (self.ones or bent)

    @cached_property
    def sides(self) -> tuple[_Sides, _Sides]:
        """The lower and the upper values, in floating point."""
        lower, upper = (
            self._tabulate([getattr(measure, side) for measure in self.measures], side)
            for side in ("low", "high")
        )
        return lower, upper

    def _tabulate(self, values: Sequence[Value], side: str) -> _Sides:
        ranks = range(1, self.depth + 1)
        added = [[value.add_hit(rank) for rank in ranks] for value in values]
        always = np.array([[[float(getattr(hit[0], side)) for hit in row]] for row in added])
        if any(value.count_ranks(1) < inf for value in values):
            last = np.array([[value.count_ranks(r) for r in self.relevant] for value in values])
            always = np.where(np.array(ranks) <= last[:, :, None], always, 0.0)
        per_hit, first = (
            np.array([[float(hit[1]) for hit in row] for row in added]),
            np.array([[float(hit[2]) for hit in row] for row in added]),
        )
        factor = np.array(
            [[float(getattr(value.divide(r), side)) for r in self.relevant] for value in values]
        )
        tail = np.zeros((len(values), len(self.relevant), self.depth + 1))
        for m, value in enumerate(values):
            if value.tail != "none":
                tail[m] = [
                    [float(value.add_tail(self.depth, h, r)) for h in range(self.depth + 1)]
                    for r in self.relevant
                ]
        return _Sides(always, per_hit, first, factor, tail)

    def evaluate(self, hits: Bools, place: Ints) -> Kinds:
        """Compute the bounds of lists: their hits by rank, and the place of R in ``relevant``."""
        so_far = np.cumsum(hits, axis=1)
        ranked, counted = hits.astype(float), (hits * so_far).astype(float)
        first = (hits & (so_far == 1)).astype(float)
        low, high = (
            (
                (
                    ranked @ side.always[:, 0].T
                    if side.always.shape[1] == 1
                    else np.einsum("li,mli->lm", ranked, side.always[:, place])
                )
                + counted @ side.per_hit.T
                + first @ side.first.T
            )
            * side.factor[:, place].T
            + side.tail[:, place, so_far[:, -1]].T
            for side in self.sides
        )
        relevant = np.array(self.relevant)[place]
        for m, measure in enumerate(self.measures):
            if measure.gains != (1, 1):
                low[:, m], high[:, m] = _bound_graded(measure, hits, relevant, self.depth)
        return Kinds(hits, relevant, low, high)

    @cached_property
    def enumerated(self) -> Kinds:
        """Every kind of list, if they are few."""
        count = 1 << self.depth
        hits = (np.arange(count)[:, None] >> np.arange(self.depth) & 1).astype(bool)
        totals = hits.sum(axis=1)
        places = [
            (np.flatnonzero((totals <= r) | self.repeats), at) for at, r in enumerate(self.relevant)
        ]
        rows = np.concatenate([row for row, _ in places])
        return self.evaluate(hits[rows], np.concatenate([np.full(len(r), at) for r, at in places]))

    @cached_property
    def ones_high(self) -> Floats:
        """The most that each measure is worth for a query without relevant items."""
        return np.array([float(m in self.ones) for m in range(len(self.measures))])

    def price(self, up: Floats, down: Floats, most: int = 40) -> tuple[float, Kinds]:
        """Find the highest of Σ up·high − Σ down·low, and lists that come close to it."""
        if self.depth <= ENUMERATED:
            kinds = self.enumerated
            worth = kinds.high @ up - kinds.low @ down
            places = np.argpartition(worth, -min(most, len(worth)))[-most:]
            places = places[np.argsort(-worth[places], kind="stable")]
            return float(worth[places[0]]), kinds.take(places)
        return self._search(up, down, 12)

    def _search(self, up: Floats, down: Floats, most: int) -> tuple[float, Kinds]:
        """Find, for every R, the list of the highest worth: a dynamic program over ranks, hits."""
        lower, upper = self.sides
        always = np.einsum("mr,mri->ri", up[:, None] * upper.factor, upper.always) - np.einsum(
            "mr,mri->ri", down[:, None] * lower.factor, lower.always
        )
        per_hit, first = (
            (up[:, None] * upper.factor).T @ getattr(upper, part)
            - (down[:, None] * lower.factor).T @ getattr(lower, part)
            for part in ("per_hit", "first")
        )
        tail = np.einsum("m,mrh->rh", up, upper.tail) - np.einsum("m,mrh->rh", down, lower.tail)
        numbers = np.arange(1, self.depth + 1)
        bounds = np.array(self.relevant)[:, None]
        barred = np.zeros((len(bounds), self.depth), bool) if self.repeats else numbers > bounds
        worth = np.full((len(bounds), self.depth + 1), -np.inf)
        worth[:, 0] = 0.0
        taken = np.zeros((self.depth, *worth.shape), bool)
        for i in range(self.depth):
            n = i + 1  # hits at most
            hit = worth[:, :n] + always[:, i, None] + per_hit[:, i, None] * numbers[:n]
            hit[:, 0] += first[:, i]
            hit[barred[:, :n]] = -np.inf
            taken[i, :, 1 : n + 1] = hit > worth[:, 1 : n + 1]
            worth[:, 1 : n + 1] = np.maximum(hit, worth[:, 1 : n + 1])
        worth = worth + tail
        count = worth.argmax(axis=1)
        rows = np.arange(len(bounds))
        best = worth[rows, count]
        hits = np.zeros((len(bounds), self.depth), bool)
        for i in range(self.depth - 1, -1, -1):
            hits[:, i] = taken[i, rows, count]
            count = count - hits[:, i]
        order = np.argsort(-best, kind="stable")[:most]
        return float(best.max()), self.evaluate(hits[order], rows[order])


def _bound_graded(
    measure: ListMeasure, hits: Bools, relevant: Floats, depth: int
) -> tuple[Floats, Floats]:
    """Bound nDCG over all gains of relevant items within ``gains``.

    For one set of gains, the best list has the highest ones first among its hits, and the worst has
    the lowest ones, the lowest first. A quotient of two linear functions of gains in descending
    order is extreme where the first t of them are the highest gain and the others the lowest. From
    R = depth on the bounds are those of any number of relevant items.
    """
    lowest, highest = measure.gains
    k, kind = measure.k, measure.low.sums
    discount = np.array([float(bound_discount(i, kind).low) for i in range(1, k + 1)])
    hits = hits[:, :k]
    so_far = np.cumsum(hits, axis=1)
    most = np.where(relevant >= depth, 2 * k + 1, relevant).astype(int)[:, None]
    low, high = np.full(len(hits), np.inf), np.zeros(len(hits))
    for t in range(2 * k + 2):
        fits = (t <= most[:, 0]) & hits.any(axis=1)
        ranks = np.arange(1, k + 1)
        ideal = np.where(ranks <= t, highest, lowest) * (ranks <= most) @ discount
        best = np.where(so_far <= t, highest, lowest) * hits @ discount / ideal
        worst = np.where(most - so_far + 1 <= t, highest, lowest) * hits @ discount / ideal
        high = np.where(fits, np.maximum(high, best), high)
        low = np.where(fits, np.minimum(low, worst), low)
    return np.where(np.isinf(low), 0.0, low), high
