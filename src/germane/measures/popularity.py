"""Measures of how popular the items of lists were: ARP, novelty, the tail, popularity lift."""

import math
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Catalogue, Lists, Seen
from germane.core.ragged import Bools, Floats
from germane.measures.definition import (
    LISTS,
    SEEN,
    SHARE,
    Parameter,
    define,
    find_history,
    write_count,
    write_cut,
    write_mean,
    write_number,
)


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
    counts = seen.count(p["seen"])
    value = _spread_counts(counts, items, 0.0)
    match p["norm"]:
        case "total":
            value = value / counts.sum()
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


_RANK = "r: rank of the item from the lowest c, equal ones at their mean rank and unseen ones at 0"
_ARP_NORMS = {
    "none": ("c", ""), "total": ("c/n", ", n: the sum of c over all items"),
    "max": ("c/m", ", m: the highest c of an item"),
    "rank": ("r/n", f", {_RANK}, n: seen items"),
}  # fmt: skip

_DROPPED = "NaN with unseen=drop, if no list has a seen item."

ARP = define(
    "ARP",
    "Average popularity of the recommendations",
    lambda k, p: (
        f"{write_mean(k, p, 'seen ' * (p['unseen'] == 'drop'))} {_ARP_NORMS[p['norm']][0]},"
        f" {write_count(p)}{_ARP_NORMS[p['norm']][1]}; high = popular items are recommended"
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
    undefined=_DROPPED,
    aliases=("AveragePopularity", "AvgRecPopularity"),
    cite="Yin et al., Challenging the long tail recommendation, VLDB 2012",
)  # fmt: skip


def sum_novelty(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    seen, items = catalogue.require_seen("Novelty"), _number(lists, catalogue)
    counts = seen.count(p["seen"])
    rarest = float(counts[counts > 0].min()) if p["unseen"] == "rarest" else 1.0
    value = -np.log(_spread_counts(counts, items, rarest) / seen.count_all(p["seen"]))
    value /= np.log(np.e if p["base"] == "e" else p["base"])
    sizes = lists.sizes.astype(float)
    if p["unseen"] in ("zero", "drop"):
        is_seen = _mark_seen(counts, items)
        value[~is_seen] = 0.0
        if p["unseen"] == "drop":
            sizes = lists.count_items(is_seen)
    return lists.sum_items(value), sizes


_UNSEEN = {
    "once": ", 1 for unseen items", "rarest": ", the lowest of all for unseen items", "zero": "",
    "drop": "",
}  # fmt: skip
_KNOWN = {
    "users": "everyone knows every item", "interactions": "all interactions were with one item",
}  # fmt: skip
_EVERYTHING = {"users": "users who chose anything", "interactions": "all earlier interactions"}


def _write_information(p: dict[str, Any]) -> str:
    logarithm = "ln" if p["base"] == "e" else f"log{p['base']}"
    return f"{'(c > 0)·' * (p['unseen'] == 'zero')}{logarithm}(n/c)"


NOVELTY = define(
    "Novelty",
    "Novelty: mean self-information of the recommended items",
    lambda k, p: (
        f"{write_mean(k, p, 'seen ' * (p['unseen'] == 'drop'))} {_write_information(p)},"
        f" {write_count(p)}{_UNSEEN[p['unseen']]}, n: {_EVERYTHING[p['seen']]}; "
        f"0 = {_KNOWN[p['seen']]}, high = rare items"
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
    undefined=_DROPPED,
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
        f"{write_mean(k, p)} t, t: 1 for the ⌊{write_number(p['tail'])}·n⌋ of the n seen items with"
        " the fewest interactions, and for at least one; 0 = only popular items"
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


def sum_lift(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    """Sum what each list adds to the popularity of its user's choices, over that popularity."""
    seen, items = catalogue.require_seen("PopularityLift"), _number(lists, catalogue)
    value = _spread_counts(seen.count(p["seen"]), items, 0.0)
    starts, lengths = find_history(lists, seen, "PopularityLift")
    chosen = Lists(ragged.make_offsets(lengths), seen.items[ragged.list_stretches(starts, lengths)])
    has_both = (lists.sizes > 0) & (lengths > 0)
    after, before = (
        np.divide(side.sum_items(value), side.sizes, out=np.zeros(len(lists)), where=has_both)
        for side in (lists, chosen)
    )
    return after - before, before


LIFT = define(
    "PopularityLift",
    "Popularity lift: how much more popular recommendations are than what users chose",
    lambda k, p: (
        "(mean over users of a − mean over users of b) ÷ mean over users of b, a: the mean c of"
        f" the user's list{write_cut(k)}, b: the mean c of what the user chose before,"
        f" {write_count(p)}; 0 = as popular as before, above 0 = recommendations are more popular"
    ),
    'evaluate([{1}], [[1]], "PopularityLift", seen=[[1, 2], [1]]).flat() '
    '== {"PopularityLift": 1 / 3}',
    SEEN,
    of_lists=sum_lift,
    of_users=True,
    pooled=True,
    conventions="Both are means over the users that have a list and a choice.",
    undefined="NaN if no user has both.",
    cite=(
        "Abdollahpouri et al., The connection between popularity bias, calibration, and fairness,"
        " RecSys 2020"
    ),
)
