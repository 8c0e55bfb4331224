"""Agreement between two rankings of items, or two leaderboards of systems: τ, τ_AP and RBO."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from germane.core.ragged import Floats
from germane.errors import (
    CoverageError,
    DuplicateError,
    EmptyError,
    InputError,
    ScoreError,
    clip,
    list_some,
)

Ranked: TypeAlias = "Mapping[Any, float] | Iterable[Any]"
Places: TypeAlias = dict[Hashable, tuple[int, int]]
"""The items of a ranking, best first, each with its first and last rank: tied items share both."""


def kendall_tau(first: Ranked, second: Ranked) -> float:
    """Measure Kendall's τ_b: pairs in the same order less pairs in opposite order, as a share of all.

    >>> germane.kendall_tau(["a", "b", "c"], {"a": 0.5, "c": 0.4, "b": 0.3})
    0.3333333333333333

    A ranking is a list, best first, or a mapping of item to score, the highest best, where equal
    scores are ties: ``comparison.means["AP"]`` is a leaderboard. 1 is the same order, -1 the
    opposite. Raises CoverageError for different items, and where one ranking is a single tie.
    Kendall 1945.
    """
    a, b = map(_compare_ranks, _rank_same_items(_place_items(first), _place_items(second)))
    untied = float(np.count_nonzero(a)) * float(np.count_nonzero(b))
    if not untied:
        raise CoverageError("a ranking whose items are all tied has no order to agree with.")
    return float((a * b).sum()) / math.sqrt(untied)


def tau_ap(ranking: Ranked, truth: Ranked) -> float:
    """Measure the AP correlation: Kendall's τ, but errors near the top of ``ranking`` count more.

    >>> germane.tau_ap(["b", "a", "c"], ["a", "b", "c"]), germane.tau_ap(["a", "c", "b"], ["a", "b", "c"])
    (0.0, 0.5)

    For each item but the first, this takes the share of the items above it that belong above it. The
    mean of these shares is scaled to -1 to 1. Arguments are those of ``kendall_tau``, but not
    symmetric: ``truth`` defines which items belong above. Ties in either ranking count as the mean
    over all orders of the tied items. Raises CoverageError for different items. Yilmaz, Aslam and
    Robertson 2008; ties: Urbano and Marrero 2017.
    """
    places = _place_items(ranking)
    _, true = _rank_same_items(places, _place_items(truth))
    if len(places) < 2:
        raise CoverageError("one item has no order to agree with.")
    belongs = (1 + _compare_ranks(true)) / 2  # [i, j]: 1 where i belongs above j; half where tied
    total = 0.0
    for top, bottom in dict.fromkeys(places.values()):
        tied = slice(top - 1, bottom)
        right = float(belongs[: top - 1, tied].sum()) / (bottom - top + 1)
        for above in range(max(top - 1, 1), bottom):
            # on average half of the tied items that stand above an item belong there
            total += (right + (above - top + 1) / 2) / above
    return 2 * total / (len(places) - 1) - 1


def rbo(first: Ranked, second: Ranked, *, p: float = 0.9) -> float:
    """Measure rank-biased overlap, extrapolated: the share of common items at each depth, averaged.

    >>> round(germane.rbo(["a", "b", "c"], ["a", "c", "d"], p=0.9), 4)
    0.685

    Depth d has the weight (1 - p)·p^(d-1). The rankings are those of ``kendall_tau``, but may hold
    different items and differ in length. Beyond their ends they are assumed to agree as much as
    before. Ties count as the mean over all orders of the tied items. From 0 to 1. Raises InputError
    for p not between 0 and 1. Webber, Moffat and Zobel 2010, equation 32; ties: Corsi and Urbano 2024.
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p < 1:
        raise InputError(f"p takes a number between 0 and 1; got {clip(p)}")
    short, long = sorted((_place_items(first), _place_items(second)), key=len)
    end, last = len(short), len(long)
    depth = np.arange(1, last + 1)
    overlap = _measure_overlap(short, long, depth)
    agreed = overlap[end - 1] / end  # where the shorter ranking ends
    unseen = agreed * np.maximum(depth - end, 0)
    seen = float(np.sum((overlap + unseen) / depth * p ** depth.astype(float)))
    return (1 - p) / p * seen + float((overlap[-1] + unseen[-1]) / last) * p**last


def _measure_overlap(one: Places, other: Places, depth: Floats) -> Floats:
    """Return the expected number of items within each depth of both rankings."""
    total = np.zeros(len(depth))
    for item in one:
        if item in other:
            shares = [
                np.clip((depth - top + 1) / (bottom - top + 1), 0, 1)
                for top, bottom in (one[item], other[item])
            ]
            total += shares[0] * shares[1]
    return total


def _rank_same_items(one: Places, other: Places) -> tuple[Floats, Floats]:
    """Return the first rank of each item in both rankings, in the order of the first ranking."""
    if one.keys() != other.keys():
        unshared = sorted(one.keys() ^ other.keys(), key=str)
        raise CoverageError(
            f"only one ranking has {list_some(unshared)} ({len(unshared)} items); this measure compares "
            "rankings of the same items. rbo also compares others."
        )
    first, second = ([places[item][0] for item in one] for places in (one, other))
    return np.array(first), np.array(second)


def _compare_ranks(ranks: Floats) -> Floats:
    """Compare every two items: [i, j] is 1 where i is above j, -1 below, 0 tied."""
    signs: Floats = np.sign(ranks[None, :] - ranks[:, None])
    return signs


def _place_items(given: Any) -> Places:
    """Rank items by descending score, or in the order of the list."""
    if isinstance(given, Mapping):
        for item, score in given.items():
            if not isinstance(score, (int, float, np.number)) or score != score:
                raise ScoreError(f"the score of {clip(item)} is a number; got {clip(score)}")
        ordered = sorted(given, key=lambda item: -given[item])
        tied = [list(items) for _, items in groupby(ordered, key=given.__getitem__)]
    elif isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"a ranking is a list of items or {{item: score}}; got {clip(given)}")
    else:
        tied = [[item] for item in given]
        for item, times in Counter(item for [item] in tied).items():
            if times > 1:
                raise DuplicateError(f"a ranking lists {clip(item)} {times} times.")
    if not tied:
        raise EmptyError("a ranking is empty.")
    ends = np.cumsum([len(items) for items in tied]).tolist()
    return {
        item: (end - len(items) + 1, end)
        for items, end in zip(tied, ends, strict=True)
        for item in items
    }
