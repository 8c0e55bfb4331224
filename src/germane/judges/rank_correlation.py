"""Agreement of two rankings of items, or two leaderboards of systems: τ, τ_AP and RBO."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane.core.calls import check_number
from germane.core.id_spelling import is_id, unwrap_ids, unwrap_keys
from germane.core.ragged import ROUNDING, Floats, Ints
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    FormatError,
    InputError,
    ScoreError,
    check_choice,
    clip,
    list_some,
)
from germane.output.tables import write_count

Ranked: TypeAlias = "Mapping[Any, float] | Iterable[Any]"
Places: TypeAlias = dict[Hashable, tuple[int, int]]
"""The items of a ranking, best first, each with its first and last rank: tied items share both."""


def kendall_tau(first: Ranked, second: Ranked, *, ties: Literal["a", "b"] = "b") -> float:
    """Compute Kendall's τ: the share of pairs in the same order minus the share in opposite order.

    >>> germane.kendall_tau(["a", "b", "c"], {"a": 0.5, "c": 0.4, "b": 0.3})
    0.3333333333333333

    A ranking is a list, best first, or a mapping of item to score, such as
    ``comparison.means["AP"]``; scores that are equal, up to rounding, are tied. The value is 1 for
    the same order and -1 for the opposite one. A tied pair counts in neither share. τ_a divides by
    the number of all pairs, which gives the mean over all orders of tied items. τ_b divides by the
    geometric mean of the numbers of untied pairs in the two rankings. Raises CoverageError for
    different items, and for τ_b if one ranking is a single tie. Kendall 1945.
    """
    check_choice("ties", ties, ("a", "b"))
    a, b = _rank_same_items(_place_both(first=first, second=second))
    if len(a) < 2:
        raise CoverageError("a single item has no order to agree with.")
    pairs = len(a) * (len(a) - 1)  # each in both directions
    tied_a, tied_b, tied = (_count_tied(ranks) for ranks in (a, b, a * (len(a) + 1) + b))
    opposite = 2 * _count_inversions(b[np.lexsort((b, a))])
    agreed = float(pairs - tied_a - tied_b + tied - 2 * opposite)
    if ties == "a":
        return agreed / pairs
    _refuse_one_tie(first=a - a.min(), second=b - b.min())
    return agreed / math.sqrt(float(pairs - tied_a) * float(pairs - tied_b))


def _count_tied(ranks: Ints) -> int:
    """Count the pairs of equal ranks, in both directions."""
    sizes = np.unique(ranks, return_counts=True)[1]
    return int((sizes * (sizes - 1)).sum())


def _count_inversions(ranks: Ints) -> int:
    """Count the pairs in which the earlier rank is the higher number, in n log n.

    From the highest bit to the lowest, ranks are sorted by the bits looked at so far. Of two that
    differ in this bit for the first time, the earlier one is the higher if it has the bit.
    """
    count = 0
    for bit in range(int(ranks.max()).bit_length() - 1, -1, -1):
        above, has_bit = ranks >> (bit + 1), (ranks >> bit) & 1
        so_far = np.append(0, np.cumsum(has_bit))
        first = np.searchsorted(above, above)  # of the ranks with the same higher bits
        count += int((so_far[:-1] - so_far[first])[has_bit == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return count


def tau_ap(ranking: Ranked, truth: Ranked, *, ties: Literal["a", "b"] = "a") -> float:
    """Compute the AP correlation: Kendall's τ with more weight near the top of ``ranking``.

    >>> truth = ["a", "b", "c"]
    >>> germane.tau_ap(["b", "a", "c"], truth), germane.tau_ap(["a", "c", "b"], truth)
    (0.0, 0.5)

    For each item but the first, take the share of the items above it that are also above it in
    ``truth``. The mean of these shares is scaled to the range from -1 to 1. With ``ties="a"``, the
    value is the mean over all orders of tied items. With ``ties="b"``, only the items above an
    item's group count, a tied pair counts as wrong, and the value is the mean of both directions.
    Raises CoverageError for different items, and for ``ties="b"`` if one ranking is a single tie.
    Yilmaz, Aslam and Robertson 2008; ties: Urbano and Marrero 2017.
    """
    check_choice("ties", ties, ("a", "b"))
    places = _place_both(ranking=ranking, truth=truth)
    ranks, true_ranks = _rank_same_items(places)
    if ties == "b":
        _refuse_one_tie(ranking=ranks - ranks.min(), truth=true_ranks - true_ranks.min())
        return (_count_above(ranks, true_ranks) + _count_above(true_ranks, ranks)) / 2
    if len(ranks) < 2:
        raise CoverageError("a ranking of one item has no order to compare.")
    # [i, j]: 1 where i belongs above j; half where tied
    belongs = (1 + _compare_ranks(true_ranks)) / 2
    total = 0.0
    for top, bottom in dict.fromkeys(places["ranking"].values()):
        tied = slice(top - 1, bottom)
        right = float(belongs[: top - 1, tied].sum()) / (bottom - top + 1)
        for above in range(max(top - 1, 1), bottom):
            # on average half of the tied items that stand above an item belong there
            total += (right + (above - top + 1) / 2) / above
    return 2 * total / (len(ranks) - 1) - 1


def _count_above(ranks: Floats, true: Floats) -> float:
    """Average, over the items below the first group, the share of those above that belong there."""
    below = ranks > ranks.min()
    above = ranks[None, :] < ranks[:, None]
    right = (above & (true[None, :] < true[:, None])).sum(axis=1)
    return 2 * float((right[below] / (ranks[below] - 1)).mean()) - 1


Score: TypeAlias = Literal["ext", "min", "max", "res"]


def rbo(
    first: Ranked,
    second: Ranked,
    *,
    p: float = 0.9,
    score: Score = "ext",
    ties: Literal["a", "b", "w"] = "a",
) -> float:
    """Compute rank-biased overlap: a weighted mean of the shares of common items at each depth.

    >>> round(germane.rbo(["a", "b", "c"], ["a", "c", "d"], p=0.9), 4)
    0.685
    >>> round(germane.rbo(["a", "b", "c"], ["a", "c", "d"], p=0.9, score="min"), 4)
    0.3667

    Depth d has the weight (1 - p)·p^(d-1). Rankings have the same form as for ``kendall_tau``, but
    may contain different items and differ in length. ``score`` is the assumption about what lies
    beyond the end of the lists: with ext, they agree as much as before; with min, they have nothing
    in common; with max, they have as much in common as possible; res is max - min. ``ties`` is what
    a tie means: with a, an unknown order, so that the value is the mean over all orders; with b,
    the same, but corrected so that a ranking agrees with itself; with w, several items that share
    one rank. The value lies between 0 and 1. Raises InputError unless p is between 0 and 1. Webber,
    Moffat and Zobel 2010; ties: Corsi and Urbano 2024.
    """
    check_number("p", p, 0, 1)
    check_choice("score", score, get_args(Score))
    check_choice("ties", ties, ("a", "b", "w"))
    short, long = sorted(_place_both(first=first, second=second).values(), key=len)
    overlap = _Overlap(short, long, ties)
    if score == "res":
        return overlap.sum_highest(p) - overlap.sum_lowest(p)
    sums = {
        "ext": overlap.sum_extrapolated,
        "min": overlap.sum_lowest,
        "max": overlap.sum_highest,
    }
    return sums[score](p)


class _Shares:
    """The shares of items within each depth, added up.

    A share grows within the ranks of its tie, and is 1 from there on. So it is added to the depths
    of the tie alone, and beyond them as a step.
    """

    def __init__(self, last: int, ties: str) -> None:
        self._within, self._steps, self._ties = np.zeros(last), np.zeros(last + 1), ties
        self.items = 0

    def add(
        self, place: tuple[int, int], second: tuple[int, int] | None = None, since: int = 1
    ) -> None:
        """Add the share of an item, or its product with another share, from a depth on."""
        places = [place] if second is None else [place, second]
        if self._ties == "w":
            places = [(top, top) for top, _ in places]
        start = max(since, *(top for top, _ in places))
        full = max(start, *(bottom for _, bottom in places))
        self.items += 1
        self._steps[min(full, len(self._steps)) - 1] += 1
        if start < full:
            depth, share = np.arange(start, full), np.ones(full - start)
            for top, bottom in places:
                share = share * np.minimum((depth - top + 1) / (bottom - top + 1), 1)
            self._within[start - 1 : full - 1] += share

    @property
    def total(self) -> Floats:
        """The sum at each depth."""
        total: Floats = self._within + np.cumsum(self._steps[:-1])
        return total


class _Overlap:
    """The items that two rankings have in common to each depth of the longer one.

    Of n items that share a rank, each is within a depth by the part of the n ranks within it; with
    ties=w all are from their first rank on.
    """

    def __init__(self, short: Places, long: Places, ties: str) -> None:
        self.ties, self.end, self.last = ties, len(short), len(long)
        self.depth = depth = np.arange(1.0, self.last + 1)
        self.beyond = np.maximum(depth - self.end, 0)
        common, unseen, possible, beyond_short = (_Shares(self.last, ties) for _ in range(4))
        for place, second in Counter((p, short.get(item)) for item, p in long.items()).elements():
            if second is not None:
                common.add(place, second)
                continue
            # an item that the shorter ranking may hold beyond its end
            beyond_short.add((place[0], place[0]))
            possible.add(place, since=self.end + unseen.items + 1)
            unseen.add(place)
        sizes = [_Shares(self.last, ties) for _ in range(2)]
        for side, ranking in zip(sizes, (short, long), strict=True):
            for place in ranking.values():
                side.add(place, place if ties == "b" else None)
        self.common, self.possible = common.total, possible.total
        self.sizes = np.array([side.total for side in sizes])
        self.sizes[0] += self.beyond
        present = beyond_short.total
        self.unseen = np.divide(unseen.total, present, out=np.ones(self.last), where=present > 0)
        if ties == "a":  # in every order of tied items the unseen ones fill all ranks
            self.unseen, self.possible = np.ones(self.last), self.beyond

    def _agree(self, common: Floats) -> Floats:
        """Divide the common items at each depth by the size of both sets."""
        short, long = self.sizes
        if self.ties == "a":
            sizes = self.depth
        else:
            sizes = np.sqrt(short * long) if self.ties == "b" else (short + long) / 2
        agreed: Floats = common / sizes
        return agreed

    def _sum(self, common: Floats, p: float, rest: float) -> float:
        """Sum agreement times p^d; the rest is that sum beyond the longer ranking."""
        return (1 - p) / p * (float((self._agree(common) * p**self.depth).sum()) + rest)

    def sum_extrapolated(self, p: float) -> float:
        # the agreement at the end of the shorter ranking goes on: its unseen items and, beyond the
        # longer one, all further items are in common in that share
        agreed = float(self._agree(self.common)[self.end - 1])
        common = self.common + self.beyond * agreed * self.unseen
        at_end = float(self.common[-1]) + (self.last - self.end) * agreed
        return self._sum(common, p, at_end / self.last * p ** (self.last + 1) / (1 - p))

    def sum_lowest(self, p: float) -> float:
        # nothing more is in common; the sum of p^d / d over all depths is -log(1 - p)
        beyond = -math.log1p(-p) - float((p**self.depth / self.depth).sum())
        return self._sum(self.common, p, float(self.common[-1]) * beyond)

    def sum_highest(self, p: float) -> float:
        # each further rank of both rankings may hold an item of the other, so that two more are in
        # common at each depth, until all are
        common = float(self.common[-1])
        full = round(self.last + self.end - common)  # from here on all may be in common
        depth = np.arange(self.last + 1.0, full + 1)
        growing = (2 * depth - self.last - self.end + common) / depth * p**depth
        rest = float(growing.sum()) + p ** (full + 1) / (1 - p)
        return self._sum(self.common + self.possible, p, rest)


def _place_both(**rankings: Ranked) -> dict[str, Places]:
    return {name: _place_items(ranking, name) for name, ranking in rankings.items()}


def _rank_same_items(places: Mapping[str, Places]) -> tuple[Ints, Ints]:
    """Return the first rank of each item in both rankings, in the order of the first ranking."""
    a, b = places.values()
    if a.keys() != b.keys():
        only = [sorted(part, key=str) for part in (a.keys() - b.keys(), b.keys() - a.keys())]
        text = [
            f"only {name} has {list_some(part)}"
            for name, part in zip(places, only, strict=True)
            if part
        ]
        count = write_count(sum(map(len, only)), "item")
        raise CoverageError(
            f"{'; '.join(text)} ({count}). This measure compares rankings of the same items; rbo "
            "also compares others."
        )
    first, second = ([ranks[item][0] for item in a] for ranks in (a, b))
    return np.array(first), np.array(second)


def _refuse_one_tie(**differences: Floats) -> None:
    """Raise CoverageError for the ranking whose ranks do not differ."""
    for name, ranks in differences.items():
        if not ranks.any():
            raise CoverageError(f"{name}: all items are tied, so there is no order to compare.")


def _compare_ranks(ranks: Floats) -> Floats:
    """Compare every two items: [i, j] is 1 where i is above j, -1 below, 0 tied."""
    signs: Floats = np.sign(ranks[None, :] - ranks[:, None])
    return signs


def _is_tied(score: float, lower: float) -> bool:
    """Say whether two scores are equal, but for rounding; whole numbers are compared exactly."""
    is_exact = isinstance(score, int) or isinstance(lower, int) or score % 1 == 0 == lower % 1
    return score == lower or (not is_exact and math.isclose(score, lower, rel_tol=ROUNDING))


def _place_items(ranking: Any, name: str) -> Places:
    """Rank items by descending score, or in the order of the list. Errors name the argument."""
    if isinstance(ranking, Mapping):
        ranking = unwrap_keys(ranking, name)
        for item, score in ranking.items():
            if not isinstance(score, (int, float, np.number)) or score != score:
                raise ScoreError(
                    f"{name}: the score of {clip(item)} must be a number; got {clip(score)}"
                )
        ordered = sorted(ranking, key=lambda item: -ranking[item])
        tied = [[*ordered[:1]]]
        for above, item in pairwise(ordered):
            if _is_tied(ranking[above], ranking[item]):
                tied[-1].append(item)
            else:
                tied.append([item])
    elif isinstance(ranking, (str, bytes)) or not isinstance(ranking, Iterable):
        raise InputError(
            f"{name}: a ranking is a list of items or {{item: score}}; got {clip(ranking)}"
        )
    else:
        tied = [[item] for item in unwrap_ids(list(ranking))]
        for place, [item] in enumerate(tied, 1):
            if not is_id(item):
                raise FormatError(
                    f"{name}, rank {place}: an item is an id, which is text or a number; got"
                    f" {clip(item)}"
                )
        for item, times in Counter(item for [item] in tied).items():
            if times > 1:
                raise DuplicateError(
                    f"{name}: {clip(item)} is listed {times} times. Keep only its first copy."
                )
    if not tied:
        raise EmptyError(f"{name}: the ranking is empty.")
    ends = np.cumsum([len(items) for items in tied]).tolist()
    return {
        item: (end - len(items) + 1, end)
        for items, end in zip(tied, ends, strict=True)
        for item in items
    }
