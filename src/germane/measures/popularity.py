"""Measures of how popular the items of lists were: ARP, novelty, the tail, popularity lift."""

import math
from typing import Any

import numpy as np

from germane.core.catalogue import Catalogue, Exposure, Lists, Seen
from germane.core.ragged import Bools, Floats
from germane.measures.catalogue import LISTS, SEEN, define, write_cut, write_items
from germane.measures.definition import SHARE, Parameter


def _spread_counts(counts: Any, items: int, unseen: float) -> Floats:
    """Give every item its count; items without one get ``unseen``."""
    values = np.full(items, unseen)
    values[: len(counts)] = np.where(counts > 0, counts, unseen)
    return values


def _mark_seen(counts: Any, items: int) -> Bools:
    flags = np.zeros(items, bool)
    flags[: len(counts)] = counts > 0
    return flags


def _number(lists: Lists, catalogue: Catalogue) -> int:
    return max(catalogue.known, int(lists.items.max(initial=-1)) + 1)


def sum_popularity(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    seen, items = catalogue.require_seen("ARP"), _number(lists, catalogue)
    counts, total = seen.count(p["seen"])
    value = _spread_counts(counts, items, 0.0)
    match p["norm"]:
        case "total":
            value = value / total
        case "max":
            value = value / counts.max()
        case "rank":
            value[: len(counts)] = _rank_share(counts)
    sizes = lists.sizes.astype(float)
    if p["unseen"] == "drop":
        sizes = lists.count_items(_mark_seen(counts, items))
    return lists.sum_items(value), sizes


def _rank_share(counts: Any) -> Floats:
    """The rank of each seen item from the least popular, ties at their mean rank, as a share of
    all.
    """
    positive = np.sort(counts[counts > 0])
    first = np.searchsorted(positive, counts, "left")
    last = np.searchsorted(positive, counts, "right")
    share: Floats = np.where(counts > 0, (first + 1 + last) / 2 / max(len(positive), 1), 0.0)
    return share


_ARP_NORMS = {
    "none": "", "total": " ÷ all of them", "max": " ÷ those of the most popular item",
    "rank": ", as its rank from the least popular item ÷ the items seen",
}  # fmt: skip

ARP = define(
    "ARP",
    "Average popularity of the recommendations",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of the items' "
        f"{p['seen']} before"
        f"{_ARP_NORMS[p['norm']]}{write_items(k)}, unseen ones "
        f"{'left out' if p['unseen'] == 'drop' else 'count 0'}; high = popular items are "
        "recommended"
    ),
    'evaluate([{1}], [[1, 2]], "ARP@2", seen=[[1]]).flat() == {"ARP_at_2": 1 / 2}',
    SEEN,
    Parameter(
        "norm", "none", "counts as they are, ÷ their sum, ÷ the highest, or ranks",
        words=("none", "total", "max", "rank"),
    ),
    Parameter(
        "unseen", "zero", "unseen items: they count 0, or are left out",
        words=("zero", "drop"),
    ),
    LISTS,
    of_lists=sum_popularity,
    range=lambda p: None if p["norm"] == "none" else SHARE,
    aliases=("AveragePopularity", "AvgRecPopularity"),
    cite="Yin et al., Challenging the long tail recommendation, VLDB 2012",
)  # fmt: skip


def sum_novelty(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    seen, items = catalogue.require_seen("Novelty"), _number(lists, catalogue)
    counts, total = seen.count(p["seen"])
    rarest = float(counts[counts > 0].min()) if p["unseen"] == "rarest" else 1.0
    value = -np.log(_spread_counts(counts, items, rarest) / total)
    value /= np.log(np.e if p["base"] == "e" else p["base"])
    sizes = lists.sizes.astype(float)
    if p["unseen"] in ("zero", "drop"):
        known = _mark_seen(counts, items)
        value[~known] = 0.0
        if p["unseen"] == "drop":
            sizes = lists.count_items(known)
    return lists.sum_items(value), sizes


_UNSEEN = {
    "once": "as if seen once", "rarest": "as the rarest item seen", "zero": "count 0",
    "drop": "left out",
}  # fmt: skip

NOVELTY = define(
    "Novelty",
    "Novelty: mean self-information of the recommended items",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of −log{p['base']} of "
        "the item's "
        f"share of all {p['seen']} before{write_items(k)}, unseen ones {_UNSEEN[p['unseen']]}; "
        "0 = everyone knows every item, high = rare items"
    ),
    'evaluate([{1}], [[1]], "Novelty@1", seen=[[1], [2]]).flat() == {"Novelty_at_1": log2(2)}',
    SEEN,
    Parameter(
        "unseen", "once", "unseen items: as if seen once, as the rarest item, 0, or left out",
        words=("once", "rarest", "zero", "drop"),
    ),
    Parameter("base", 2, "the base of the logarithm", words=("e",), numbers=(2, 10)),
    LISTS,
    of_lists=sum_novelty,
    aliases=("MIUF", "MeanInvUserFreq", "SelfInformation"),
    cite="Castells, Vargas & Wang, Novelty and diversity metrics for recommender systems, 2011",
)  # fmt: skip


def sum_tail(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    seen = catalogue.require_seen("TailShare")
    tail = np.zeros(_number(lists, catalogue), bool)
    tail[: seen.known] = find_tail(seen, p["tail"])
    return lists.count_items(tail), lists.sizes.astype(float)


def find_tail(seen: Seen, share: float) -> Bools:
    """Mark the least popular items: this share of the items seen, and at least one."""
    counts = seen.interactions
    popular = np.sort(counts[counts > 0])
    size = max(math.floor(round(len(popular) * share, 9)), 1)  # 100 · 0.29 is 28.999999999999996
    limit = popular[size - 1]
    flags: Bools = (counts > 0) & (counts < limit)
    flags[seen.sort(np.flatnonzero(counts == limit))[: size - int(np.count_nonzero(flags))]] = True
    return flags


TAIL = define(
    "TailShare",
    "Share of the recommendations that are in the tail",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of the share of items"
        f"{write_cut(k)} among the {p['tail']:g} of the seen items with the fewest interactions, "
        "at least one item; 0 = only popular items"
    ),
    'evaluate([{1}], [[1, 2]], "TailShare@2", seen=[[1, 2], [2]]).flat() '
    '== {"TailShare_at_2": 1 / 2}',
    Parameter(
        "tail", 0.8, "the share of the seen items that is the tail", low=0.0, high=1.0,
        usual=(0.1, 0.2, 0.8),
    ),
    LISTS,
    of_lists=sum_tail,
    range=lambda p: SHARE,
    aliases=("TailPercentage",),
    conventions="The size of the tail is rounded down. Among items with equal numbers of "
                "interactions, smaller ids "
    "are in the tail: whole numbers by value, then text.",
    cite="Abdollahpouri, Burke & Mobasher, Managing popularity bias, FLAIRS 2019",
)  # fmt: skip


def compute_lift(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    seen = catalogue.require_seen("PopularityLift")
    counts, _ = seen.count(p["seen"])
    users = seen.lists
    kept = users.sizes > 0
    before = float((users.sum_items(counts.astype(float))[kept] / users.sizes[kept]).mean())
    listed = np.count_nonzero(exposure.sizes)
    shares = exposure.sum_shares(1.0)[: len(counts)]
    popular = math.fsum((shares * counts[: len(shares)]).tolist())
    after = popular / listed if listed else float("nan")
    return (after - before) / before


LIFT = define(
    "PopularityLift",
    "Popularity lift: how much more popular recommendations are than what users chose",
    lambda k, p: (
        f"(mean popularity of the lists{write_cut(k)} − that of what users saw) ÷ the latter,"
        f" popularity: {p['seen']}; 0 = as popular as before, above 0 = recommendations are more"
        " popular"
    ),
    'evaluate([{1}], [[1]], "PopularityLift@1", seen=[[1], [1,'
    ' 2]]).flat()["PopularityLift_at_1"] > 0',
    SEEN,
    of_all=compute_lift,
    by_size=lambda _: True,
    conventions="Means over the users with a list and with something seen.",
    cite=(
        "Abdollahpouri et al., The connection between popularity bias, calibration, and fairness,"
        " RecSys 2020"
    ),
)
