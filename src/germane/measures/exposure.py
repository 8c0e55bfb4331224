"""Measures of whole lists: which items are recommended, how equally, and how popular they are."""

import math
from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Catalogue, Exposure, Lists, Seen
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


def compute_coverage(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    recommended = exposure.counts > 0
    if p["unseen"] == "drop":
        seen = catalogue.require_seen("Coverage(unseen=drop)").interactions > 0
        recommended = recommended[: len(seen)] & seen[: len(recommended)]
    distinct = int(np.count_nonzero(recommended))
    if p["norm"] == "none":
        return float(distinct)
    if p["norm"] == "seen":
        seen = catalogue.require_seen("Coverage(norm=seen)").interactions
        return distinct / int(np.count_nonzero(seen))
    return distinct / catalogue.require_size("Coverage")


_ALL = "; 1 = every item is recommended to someone"
_OF = {
    "catalogue": f" ÷ items of the catalogue{_ALL}", "seen": f" ÷ seen items{_ALL}",
    "none": "; high = many items are recommended to someone",
}  # fmt: skip

COVERAGE = define(
    "Coverage",
    "Share of the catalogue that is recommended",
    lambda k, p: (
        f"distinct {'seen ' * (p['unseen'] == 'drop')}items{write_cut(k)} of any list"
        f"{_OF[p['norm']]}"
    ),
    'evaluate([{1}], [[1, 2]], "Coverage@2", catalogue=4).flat() == {"Coverage_at_2": 2 / 4}',
    Parameter(
        "norm", "catalogue", "the divisor: the items of the catalogue, those that were seen, or "
                             "none",
        words=("catalogue", "seen", "none"),
    ),
    Parameter(
        "unseen", "count", "whether unseen items count or are dropped",
        words=("count", "drop"),
    ),
    is_loss=lambda p: True,
    range=lambda p: SHARE if p["norm"] == "catalogue" else None,
    of_all=compute_coverage,
    aliases=("ItemCoverage", "CatalogCoverage", "CatalogueCoverage"),
    cite="Ge, Delgado-Battenfeld & Jannach, Beyond accuracy, RecSys 2010",
)  # fmt: skip


def compute_gini(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    counts = exposure.recommended
    items = len(counts) if p["over"] == "recommended" else catalogue.require_size("Gini")
    place = np.arange(1, len(counts) + 1)  # behind those of items that nobody gets
    spread = 2 * int((place * counts).sum()) + (items - 2 * len(counts) - 1) * int(counts.sum())
    divisor = (items - 1 if p["norm"] == "n-1" else items) * int(counts.sum())
    unequal = spread / divisor if divisor else 0.0
    return unequal if p["sign"] == "unequal" else 1 - unequal


def _define_gini(k: int | None, p: dict[str, Any]) -> str:
    over = "items of the catalogue" if p["over"] == "catalogue" else "recommended items"
    norm = "(n − 1)" if p["norm"] == "n-1" else "n"
    maximum = "1" if p["norm"] == "n-1" else "1 − 1/n"
    ends = ("0", maximum) if p["sign"] == "unequal" else ("1", "0" if maximum == "1" else "1/n")
    return (
        f"{'1 − ' * (p['sign'] == 'equal')}(Σ (2j − n − 1)·c(j), j ≤ n) ÷ ({norm}·Σ c(j), j ≤ n),"
        f" c(j): the j-th lowest number of lists that have an item{write_cut(k)}, n: {over};"
        f" {ends[0]} = all items are recommended equally often, {ends[1]} = one item has everything"
    )


GINI = define(
    "Gini",
    "Gini coefficient: how unequally often items are recommended",
    _define_gini,
    'evaluate([{1}], [[1, 2]], "Gini@2", catalogue=4).flat() == {"Gini_at_2": 0.5}',
    Parameter(
        "over", "catalogue", "the items that count: all of the catalogue, or those recommended",
        words=("catalogue", "recommended"),
    ),
    Parameter(
        "sign", "unequal", "whether a high value means unequal or equal", words=("unequal", "equal")
    ),
    Parameter(
        "norm", "n", "the divisor: with n, the highest value is 1 − 1/n, and with n-1 it is 1",
        words=("n", "n-1"),
    ),
    is_loss=lambda p: p["sign"] == "equal",
    range=lambda p: SHARE,
    of_all=compute_gini,
    aliases=("GiniIndex",),
    cite="Gunawardana & Shani, Evaluating recommender systems, 2015",
)  # fmt: skip


def compute_entropy(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    is_recommended = exposure.counts > 0
    if not is_recommended.any():
        return 0.0
    weights = chance = exposure.counts[is_recommended] / exposure.total
    base = np.log(np.e if p["base"] == "e" else p["base"])
    if p["lists"] != "sized":
        weights = exposure.sum_shares(1.0)[is_recommended] / np.count_nonzero(exposure.sizes)
    if p["lists"] == "equal":
        chance = weights
    entropy = math.fsum((-weights * np.log(chance)).tolist()) / float(base)  # in any order of items
    if p["norm"] == "recommended":
        return entropy / int(np.count_nonzero(is_recommended))
    if p["norm"] == "catalogue":
        maximum = np.log(catalogue.require_size("Entropy(norm=catalogue)")) / base
        return entropy / float(maximum) if maximum else 0.0
    return entropy


_ENTROPY_ENDS = {
    "none": "0 = one item has everything",
    "recommended": "small = one item has everything, or many items are recommended",
    "catalogue": "0 = one item has everything, 1 = all equally often",
}


def _write_logarithm(p: dict[str, Any]) -> str:
    return "ln" if p["base"] == "e" else f"log{p['base']}"


def _write_entropy(k: int | None, p: dict[str, Any]) -> str:
    weight = "q" if p["lists"] == "mean" else "p"
    return f"−Σ_{{recommended items}} {weight}·{_write_logarithm(p)}(p)"


def _write_shares(k: int | None, p: dict[str, Any]) -> str:
    """Write what p and q are: the shares of all recommendations, and those of lists."""
    share, equal = f"the item's share of all recommendations{write_cut(k)}", _EQUAL
    if p["lists"] == "mean":
        return f"q: {share}{equal}; p: {share}"
    return f"p: {share}{equal * (p['lists'] == 'equal')}"


_EQUAL = ", each list with the same weight"


ENTROPY = define(
    "Entropy",
    "Shannon entropy of the recommended items",
    _write_entropy,
    'evaluate([{1}], [[1, 2]], "Entropy@2").flat() == {"Entropy_at_2": 1.0}',
    Parameter("base", 2, "the base of the logarithm", words=("e",), numbers=(2, 10)),
    Parameter(
        "norm", "none", "the divisor: none, the recommended items, or the highest value possible",
        words=("none", "recommended", "catalogue"),
    ),
    Parameter(
        "lists", "sized",
        "how lists of different lengths are weighted: with sized, every recommendation has the same"
        " weight, so that longer lists weigh more; with equal, every list has the same weight; mean"
        " is the mean over lists of the mean of −log(p) of their items, where p is an item's share"
        " as with sized",
        words=("sized", "equal", "mean"),
    ),
    norm=lambda k, p: {
        "none": "", "recommended": "recommended items",
        "catalogue": f"{_write_logarithm(p)}(items of the catalogue)",
    }[p["norm"]],
    where=lambda k, p: (
        f"{_write_shares(k, p)}; {_ENTROPY_ENDS[p['norm']]}"
    ),
    is_loss=lambda p: True,
    of_all=compute_entropy,
    by_size=lambda p: p["lists"] != "sized",
    aliases=("ShannonEntropy",),
    cite="Shannon, A mathematical theory of communication, 1948",
)  # fmt: skip


def compute_personalization(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    users = int(np.count_nonzero(exposure.sizes))
    if users < 2:
        return float("nan")
    if p["norm"] == "k":
        k = p["k"] or int(exposure.sizes.max())
        shared = int((exposure.counts**2).sum()) / k - users
    else:
        squares = math.fsum((exposure.sum_shares(0.5) ** 2).tolist())
        shared = max(squares - users, 0.0)  # rounding may give less than 0
    return 1 - shared / (users * (users - 1))


PERSONALIZATION = define(
    "Personalization",
    "Inter-list diversity: how different the lists of different users are",
    lambda k, p: (
        (
            f"1 − ((Σ_{{recommended items}} c²) − k·U) ÷ (k·U·(U − 1)), c: lists that have the"
            f" item{write_cut(k)}, U: users with a list, "
            f"{'k: items of the longest list' if k is None else f'k = {k}'}"
            if p["norm"] == "k"
            else f"1 − mean over pairs of users of |A∩B| ÷ √(|A|·|B|), A and B: their "
                 f"lists{write_cut(k)}"
        )
        + "; 0 = everyone gets the same items, 1 = no two users share an item"
        + ", above 1 where lists are shorter than k" * (p["norm"] == "k")
    ),
    'evaluate([{1}, {2}], [[1], [2]], "Personalization@1").flat() == {"Personalization_at_1": 1}',
    Parameter(
        "norm", "found", "the divisor of a pair of lists: found is the square root of the"
        " product of their sizes; k treats all lists as if they had k items",
        words=("found", "k"),
    ),
    is_loss=lambda p: True,
    range=lambda p: SHARE if p["norm"] == "found" else None,
    of_all=compute_personalization,
    by_size=lambda p: p["norm"] == "found",
    of_sets=lambda p: p["norm"] == "found",
    aliases=("InterListDiversity",),
    undefined="NaN if there are fewer than two lists.",
)  # fmt: skip


# --- Diversity ------------------------------------------------------------------------------------
#
# Measures of how lists differ from what users know: diversity within a list, and serendipity.


def sum_distances(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    distances, pairs = catalogue.require_distance("ILD").sum_pairs(lists)
    list_sizes = lists.sizes.astype(float)
    divisor = (
        list_sizes
        if p["norm"] == "found"
        else np.where(list_sizes > 0, np.maximum(pairs, 1.0), 0.0)
    )
    return distances, divisor if p["single"] == "zero" else np.where(list_sizes > 1, divisor, 0.0)


_SINGLE = {"zero": "count as 0", "drop": "are left out"}

ILD = define(
    "ILD",
    "Intra-list diversity: mean distance of two items of a list",
    lambda k, p: (
        (
            f"mean over lists of (Σ_{{pairs of items{write_cut(k)}}} d)/n, n: items of the"
            f" list{write_cut(k)}, "
            if p["norm"] == "found"
            else f"mean over lists of the mean over pairs of items{write_cut(k)} of d, "
        )
        + f"d: the distance of both; lists of one item {_SINGLE[p['single']]}; "
        "0 = the items of a list are all alike"
    ),
    'evaluate([{1}], [[1, 2]], "ILD@2", distance={1: [1, 0], 2: [0, 1]}).flat() == {"ILD_at_2": 1}',
    Parameter(
        "norm", "pairs",
        "the divisor of a list: the number of its pairs, or, with found, of its items",
        words=("pairs", "found"),
    ),
    Parameter(
        "single", "zero", "whether a list of one item, which has no pairs, counts as 0 or is"
        " left out",
        words=("zero", "drop"),
    ),
    is_loss=lambda p: True,
    of_lists=sum_distances,
    undefined="NaN with single=drop if no list has two items.",
    aliases=("IntraListDiversity",),
    conventions="The distance of two vectors is 1 − their cosine.",
    cite="Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005",
)  # fmt: skip


def sum_serendipity(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    seen, sizes = catalogue.require_seen("Serendipity"), lists.sizes.astype(float)
    if p["against"] == "history":
        value, sizes = _compare_history(lists, catalogue, seen, sizes)
    else:
        value = _compare_popularity(lists, catalogue, seen)
    if p["relevant"] == "judged":
        assert lists.relevant is not None
        value = value * lists.relevant
    return lists.sum_rows(value), sizes


def _compare_popularity(lists: Lists, catalogue: Catalogue, seen: Seen) -> Floats:
    """How much higher each item stands than by its popularity, as a share of the catalogue."""
    size = catalogue.require_size("Serendipity")
    counts = np.zeros(max(seen.known, int(lists.items.max(initial=-1)) + 1), np.int64)
    counts[: seen.known] = seen.interactions
    levels = np.unique(counts[counts > 0])
    rank = len(levels) - np.searchsorted(levels, counts)  # 1: the most popular items
    popular = np.where(counts > 0, (size + 1 - rank) / size, 0.0)
    return np.maximum((size + 1 - lists.rank) / size - popular[lists.items], 0.0)


def _compare_history(
    lists: Lists, catalogue: Catalogue, seen: Seen, sizes: Floats
) -> tuple[Floats, Floats]:
    """The mean distance of each item to what the user chose. Users who chose nothing are left
    out.
    """
    starts, lengths = find_history(lists, seen, "Serendipity(against=history)")
    chosen = seen.items[ragged.list_stretches(starts, lengths)]
    history = Lists(ragged.make_offsets(lengths), chosen)
    value = catalogue.require_distance("Serendipity(against=history)").average(lists, history)
    return value, np.where(lengths > 0, sizes, 0.0)


def _define_serendipity(k: int | None, p: dict[str, Any]) -> str:
    of, says = "", ""
    if p["relevant"] == "judged":
        of, says = "rel·", ", rel: 1 if the item is relevant to the user"
    if p["against"] == "history":
        ends = "0 = nothing new that is liked" if of else "0 = all is like what users chose"
        return (
            f"{write_mean(k, p)} {of}d, d: mean distance of the item to what its user chose"
            f" before{says}; users who chose nothing are left out; {ends}"
        )
    return (
        f"{write_mean(k, p)} {of}max(0, p − i)/n, p: popularity rank of the item, or n + 1 if"
        f" nobody chose it, i: rank of the item in its list, n: items of the catalogue{says}; 0 ="
        " nothing that popularity would not have placed as high"
    )


SERENDIPITY = define(
    "Serendipity",
    "Serendipity: relevant items that neither popularity nor the user's history leads to",
    _define_serendipity,
    'evaluate([{1}], [[1, 2]], "Serendipity", catalogue=2, seen=[[2]]).flat() '
    '== {"Serendipity": 0.5}',
    Parameter(
        "against", "popular",
        "whether an item is compared with its popularity or with the user's own history",
        words=("popular", "history"),
    ),
    Parameter(
        "relevant", "judged", "the items that count: those judged relevant, or all",
        words=("judged", "all"),
    ),
    is_loss=lambda p: True,
    of_lists=sum_serendipity,
    undefined="NaN with against=history if no user with a list chose anything.",
    range=lambda p: SHARE if p["against"] == "popular" else None,
    of_users=True,
    of_judgments=True,
    conventions="Relevant items have a grade of 1 or higher. Popularity is the number of "
    "interactions; items with the same number share a rank, and the next rank follows without a"
    " gap.",
    cite="Zhang et al., Auralist: introducing serendipity into music recommendation, WSDM 2012",
)  # fmt: skip


# --- Measures of how popular the items of lists were: ARP, novelty, the tail, popularity lift -----


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

_DROPPED = "NaN with unseen=drop if no list has a seen item."

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
        "norm", "none", "how counts are scaled: not at all, by their sum (total), by the"
        " highest (max), or as ranks",
        words=("none", "total", "max", "rank"),
    ),
    Parameter(
        "unseen", "zero", "whether unseen items count as 0 or are left out",
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
        "unseen", "once",
        "how unseen items count: as if seen once, as the rarest item, as 0, or not at all",
        words=("once", "rarest", "zero", "drop"),
    ),
    Parameter("base", 2, "the base of the logarithm", words=("e",), numbers=(2, 10)),
    LISTS,
    is_loss=lambda p: True,
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
    is_loss=lambda p: True,
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
    conventions="Both means are over the users who have a list and who chose something before.",
    undefined="NaN if no user has a list and chose something before.",
    cite=(
        "Abdollahpouri et al., The connection between popularity bias, calibration, and fairness,"
        " RecSys 2020"
    ),
)
