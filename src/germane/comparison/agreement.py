"""Agreement between two rankings of items, or two leaderboards of systems: τ, τ_AP and RBO."""

import math
from collections.abc import Hashable, Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

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


class _Group(NamedTuple):
    """Items that stand together: the first and last rank that they occupy."""

    items: list[Hashable]
    top: int
    bottom: int


def kendall_tau(first: Ranked, second: Ranked) -> float:
    """Kendall's τ_b: pairs in the same order less pairs turned around, over all, ties allowed for.

    >>> germane.kendall_tau(["a", "b", "c"], {"a": 0.5, "c": 0.4, "b": 0.3})
    0.3333333333333333

    A ranking is a list, best first, or a mapping of item to score, the highest best, where equal
    scores are ties: ``comparison.means["AP"]`` is a leaderboard. 1 is the same order, -1 the
    opposite. Raises CoverageError for different items, and where one ranking is a single tie.
    Kendall 1945.
    """
    one, two = _rank_same_items(_make_groups(first), _make_groups(second))
    signs = (_compare_signs(ranks) for ranks in (one, two))
    a, b = signs
    untied = float(np.count_nonzero(a)) * float(np.count_nonzero(b))
    if not untied:
        raise CoverageError("a ranking whose items are all tied has no order to agree with.")
    return float((a * b).sum()) / math.sqrt(untied)


def tau_ap(ranking: Ranked, truth: Ranked) -> float:
    """AP correlation: as Kendall's τ, but errors near the top of ``ranking`` count more.

    >>> germane.tau_ap(["b", "a", "c"], ["a", "b", "c"]), germane.tau_ap(["a", "c", "b"], ["a", "b", "c"])
    (0.0, 0.5)

    The mean, over all items but the first, of the share of items above that belong above, from -1
    to 1. Arguments are those of ``kendall_tau``, but not symmetric: ``truth`` says what belongs
    above. Ties count as the mean over all orders of the tied items, in either ranking. Raises
    CoverageError for different items. Yilmaz, Aslam and Robertson 2008; ties: Urbano and Marrero 2017.
    """
    groups = _make_groups(ranking)
    ranks, true = _rank_same_items(groups, _make_groups(truth))
    belongs = (1 + _compare_signs(true)) / 2  # [i, j]: does i belong above j? Tied: half
    if len(ranks) < 2:
        raise CoverageError("one item has no order to agree with.")
    total, before = 0.0, 0
    for group in groups:
        size = len(group.items)
        above, here = slice(0, before), slice(before, before + size)
        right = float(belongs[above, here].sum()) / size
        for place in range(size):
            if before + place:  # half of the tied items above an item belong there
                total += (right + place / 2) / (before + place)
        before += size
    return 2 * total / (before - 1) - 1


def rbo(first: Ranked, second: Ranked, *, p: float = 0.9) -> float:
    """Rank-biased overlap, extrapolated: how much two rankings share, depth by depth.

    >>> round(germane.rbo(["a", "b", "c"], ["a", "c", "d"], p=0.9), 4)
    0.685

    Depth d counts (1 - p)·p^(d-1). The rankings are those of ``kendall_tau``, but may hold different
    items, and one may be shorter; what lies beyond their ends is taken to agree as what was seen.
    Ties count as the mean over all orders of the tied items. From 0 to 1. Raises InputError for p not
    between 0 and 1. Webber, Moffat and Zobel 2010, equation 32; ties: Corsi and Urbano 2024.
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 < p < 1:
        raise InputError(f"p takes a number between 0 and 1; got {clip(p)}")
    short, long = sorted(
        (_make_groups(first), _make_groups(second)), key=lambda groups: groups[-1].bottom
    )
    end, last = short[-1].bottom, long[-1].bottom
    depth = np.arange(1, last + 1)
    overlap = _measure_overlap(short, long, depth)
    agreed = overlap[end - 1] / end  # where the shorter list ends, and taken to go on
    unseen = agreed * np.maximum(depth - end, 0)
    seen = float(np.sum((overlap + unseen) / depth * p ** depth.astype(float)))
    return (1 - p) / p * seen + float((overlap[-1] + unseen[-1]) / last) * p**last


def _measure_overlap(one: list[_Group], other: list[_Group], depth: Floats) -> Floats:
    """The items that both rankings are expected to have within each depth."""
    places = [
        {item: (group.top, group.bottom) for group in groups for item in group.items}
        for groups in (one, other)
    ]
    total = np.zeros(len(depth))
    for item in places[0].keys() & places[1].keys():
        shares = []
        for top, bottom in (places[0][item], places[1][item]):
            shares.append(np.clip((depth - top + 1) / (bottom - top + 1), 0, 1))
        total += shares[0] * shares[1]
    return total


def _rank_same_items(one: list[_Group], other: list[_Group]) -> tuple[Floats, Floats]:
    """The top rank of each item in both rankings, in the order of the first."""
    first, second = ({item: g.top for g in groups for item in g.items} for groups in (one, other))
    if first.keys() != second.keys():
        apart = sorted(first.keys() ^ second.keys(), key=str)
        raise CoverageError(
            f"only one ranking has {list_some(apart)} ({len(apart)} items); this measure compares "
            "rankings of the same items. rbo also compares others."
        )
    return np.array(list(first.values())), np.array([second[item] for item in first])


def _compare_signs(ranks: Floats) -> Floats:
    """[i, j]: 1 where i is above j, -1 below, 0 tied."""
    signs: Floats = np.sign(ranks[None, :] - ranks[:, None])
    return signs


def _make_groups(given: Any) -> list[_Group]:
    """Items by descending score, or in the order of the list; tied ones together."""
    if isinstance(given, Mapping):
        for item, score in given.items():
            if not isinstance(score, (int, float, np.number)) or score != score:
                raise ScoreError(f"the score of {clip(item)} is a number; got {clip(score)}")
        ordered = sorted(given, key=lambda item: -given[item])
        tied = [list(items) for _, items in groupby(ordered, key=lambda item: given[item])]
    elif isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"a ranking is a list of items or {{item: score}}; got {clip(given)}")
    else:
        tied = [[item] for item in given]
        seen: set[Hashable] = set()
        for [item] in tied:
            if item in seen:
                raise DuplicateError(f"{clip(item)} stands twice in a ranking.")
            seen.add(item)
    if not tied:
        raise EmptyError("a ranking is empty.")
    ends = np.cumsum([len(items) for items in tied]).tolist()
    return [_Group(items, end - len(items) + 1, end) for items, end in zip(tied, ends, strict=True)]
