"""Measures of all lists at once: coverage, inequality, popularity, novelty and diversity.

They see an Exposure and a Catalogue instead of a Ranking, and no judgments. Each row says in its definition
what a low and a high value mean, since tools give one name to opposite signs.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.core.catalogue import Catalogue, Exposure, Lists, Seen
from germane.core.ragged import Bools, Floats
from germane.errors import MeasureError
from germane.measures.definition import Definition, Form, Parameter
from germane.measures.terms import Scored

OfAll = Callable[[Exposure, Catalogue, dict[str, Any]], float]
OfLists = Callable[[Lists, Catalogue, dict[str, Any]], tuple[Floats, Floats]]


def refuse_ranking(*_: Any, **__: Any) -> Scored:
    """Refuse a measure of the catalogue where only judged items are known. Raises MeasureError."""
    raise MeasureError(
        "a measure of the catalogue, such as Coverage or Novelty, looks at whole lists, and here only their "
        "judged items are known. evaluate, dialects and reconcile compute it."
    )


@dataclass(frozen=True, eq=False)
class CatalogueDefinition(Definition):
    """A row of the table of measures of the catalogue: of all lists, or a mean over lists."""

    of_all: OfAll | None = None
    """the value of all lists at once"""
    of_lists: OfLists | None = None
    """a sum for each list and its divisor; a list whose divisor is 0 is left out of the mean"""


def refuse_lists(measures: Iterable[Any], says: str) -> None:
    """Refuse measures of the catalogue; ``says`` is what cannot have them, and why. Raises MeasureError."""
    for one in measures:
        if isinstance(one.row, CatalogueDefinition):
            raise MeasureError(f"{one} is about whole lists, {says}")


def _define(
    name: str,
    title: str,
    terms: Form,
    example: str,
    *parameters: Parameter,
    of_all: OfAll | None = None,
    of_lists: OfLists | None = None,
    **prose: Any,
) -> CatalogueDefinition:
    return CatalogueDefinition(
        name, title, refuse_ranking, terms, example, parameters=parameters, expected=False,
        monotone=False, of_all=of_all, of_lists=of_lists, undefined=prose.pop("undefined", ""), **prose,
    )  # fmt: skip


def _write_cut(k: int | None) -> str:
    return "" if k is None else f" in the first {k}"


SEEN = Parameter(
    "seen", "users", "popularity counts the users of an item, or all interactions",
    words=("users", "interactions"),
)  # fmt: skip
LISTS = Parameter(
    "mean", "arithmetic", "a mean over lists, or micro: over all recommendations",
    words=("arithmetic", "micro"),
)  # fmt: skip


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
    "catalogue": f" ÷ items of the catalogue{_ALL}", "seen": f" ÷ items that were seen{_ALL}",
    "none": "; high = many items are recommended to someone",
}  # fmt: skip

COVERAGE = _define(
    "Coverage",
    "Share of the catalogue that is recommended at all",
    lambda k, p: (
        f"distinct items{_write_cut(k)} of any list{', if seen' * (p['unseen'] == 'drop')}{_OF[p['norm']]}"
    ),
    'evaluate([{1}], [[1, 2]], "Coverage@2", catalogue=4).flat() == {"Coverage_at_2": 2 / 4}',
    Parameter(
        "norm", "catalogue", "the divisor: the items of the catalogue, those that were seen, or none",
        words=("catalogue", "seen", "none"),
    ),
    Parameter(
        "unseen", "count", "recommended items that nobody saw before: they count, or are dropped",
        words=("count", "drop"),
    ),
    of_all=compute_coverage,
    aliases=("ItemCoverage", "CatalogCoverage", "CatalogueCoverage"),
    cite="Ge, Delgado-Battenfeld & Jannach, Beyond accuracy, RecSys 2010",
)  # fmt: skip


def compute_gini(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    counts = exposure.recommended.astype(float)
    items = len(counts) if p["over"] == "recommended" else catalogue.require_size("Gini")
    place = np.arange(items - len(counts) + 1, items + 1)  # the first places are those of zeros
    spread = float(((2 * place - items - 1) * counts).sum())
    divisor = (items - 1 if p["norm"] == "n-1" else items) * float(counts.sum())
    unequal = spread / divisor if divisor else 0.0
    return unequal if p["sign"] == "unequal" else 1 - unequal


def _define_gini(k: int | None, p: dict[str, Any]) -> str:
    over = "items of the catalogue" if p["over"] == "catalogue" else "recommended items"
    norm = "(n−1)" if p["norm"] == "n-1" else "n"
    most = "1" if p["norm"] == "n-1" else "1 − 1/n"
    ends = ("0", most) if p["sign"] == "unequal" else ("1", "0" if most == "1" else "1/n")
    return (
        f"{'1 − ' * (p['sign'] == 'equal')}Σ (2j−n−1)·c_j ÷ ({norm}·Σ c_j), c: lists with the item"
        f"{_write_cut(k)}, ascending, n: {over}; {ends[0]} = all items are recommended equally often, "
        f"{ends[1]} = one item has everything"
    )


GINI = _define(
    "Gini",
    "Gini coefficient: how unequally often items are recommended",
    _define_gini,
    'evaluate([{1}], [[1, 2]], "Gini@2", catalogue=4).flat() == {"Gini_at_2": 0.5}',
    Parameter(
        "over", "catalogue", "the items that count: all of the catalogue, or those recommended",
        words=("catalogue", "recommended"),
    ),
    Parameter(
        "sign", "unequal", "a high value means unequal, or equal", words=("unequal", "equal")
    ),
    Parameter(
        "norm", "n", "n: the highest value is 1 − 1/n; n-1: it is 1", words=("n", "n-1")
    ),
    of_all=compute_gini,
    aliases=("GiniIndex",),
    cite="Gunawardana & Shani, Evaluating recommender systems, 2015",
)  # fmt: skip


def compute_entropy(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    held = exposure.counts > 0
    if not held.any():
        return 0.0
    chance = exposure.counts[held] / exposure.total
    base = np.log(np.e if p["base"] == "e" else p["base"])
    weights = chance
    if p["lists"] == "equal":
        weights = exposure.shares[held] / np.count_nonzero(exposure.sizes)
    entropy = float(-(weights * np.log(chance)).sum() / base)
    if p["norm"] == "recommended":
        return entropy / int(np.count_nonzero(held))
    if p["norm"] == "catalogue":
        most = np.log(catalogue.require_size("Entropy(norm=catalogue)")) / base
        return entropy / float(most) if most else 0.0
    return entropy


_ENTROPY_NORMS = {
    "none": "0 = one item has everything",
    "recommended": "÷ the recommended items; small = one item has everything, or many items are recommended",
    "catalogue": "÷ log of the items of the catalogue; 0 = one item has everything, 1 = all equally often",
}

ENTROPY = _define(
    "Entropy",
    "Shannon entropy of the recommended items",
    lambda k, p: (
        f"−Σ p·log p to base {p['base']}, p: the item's share of all recommendations{_write_cut(k)}"
        f"{', each list with the same weight' * (p['lists'] == 'equal')}; {_ENTROPY_NORMS[p['norm']]}"
    ),
    'evaluate([{1}], [[1, 2]], "Entropy@2").flat() == {"Entropy_at_2": 1.0}',
    Parameter("base", 2, "the base of the logarithm", words=("e",), numbers=(2, 10)),
    Parameter(
        "norm", "none", "the divisor: none, the recommended items, or the highest value possible",
        words=("none", "recommended", "catalogue"),
    ),
    Parameter(
        "lists", "sized", "a list weighs as much as it has items, or all weigh equally",
        words=("sized", "equal"),
    ),
    of_all=compute_entropy,
    aliases=("ShannonEntropy",),
    cite="Shannon, A mathematical theory of communication, 1948",
)  # fmt: skip


def compute_personalization(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    users = int(np.count_nonzero(exposure.sizes))
    if users < 2:
        return float("nan")
    shared = max(float((exposure.norms**2).sum()) - users, 0.0)  # rounding may give less than 0
    if p["norm"] == "k":
        k = p["k"] or int(exposure.sizes.max())
        shared = float((exposure.counts.astype(float) ** 2).sum()) / k - users
    return 1 - shared / (users * (users - 1))


PERSONALIZATION = _define(
    "Personalization",
    "Inter-list diversity: how different the lists of different users are",
    lambda k, p: (
        (
            f"1 − (Σ c² − k·U) ÷ (k·U·(U−1)), c: lists with the item{_write_cut(k)}, U: users"
            f"{', k: items of the longest list' * (k is None)}"
            if p["norm"] == "k"
            else f"1 − mean over pairs of users of |A∩B| ÷ √(|A|·|B|), A and B: their lists{_write_cut(k)}"
        )
        + "; 0 = everyone gets the same items, 1 = no two users share an item"
        + ", above 1 where lists are shorter than k" * (p["norm"] == "k")
    ),
    'evaluate([{1}, {2}], [[1], [2]], "Personalization@1").flat() == {"Personalization_at_1": 1}',
    Parameter(
        "norm", "found", "the divisor of a pair: found, √ of both sizes, or k, as if all lists had k items",
        words=("found", "k"),
    ),
    of_all=compute_personalization,
    aliases=("InterListDiversity",),
    undefined="NaN for fewer than two lists.",
)  # fmt: skip


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
    """The rank of each seen item from the least popular, ties at their mean rank, as a share of all."""
    positive = np.sort(counts[counts > 0])
    first = np.searchsorted(positive, counts, "left")
    last = np.searchsorted(positive, counts, "right")
    share: Floats = np.where(counts > 0, (first + 1 + last) / 2 / max(len(positive), 1), 0.0)
    return share


_ARP_NORMS = {
    "none": "", "total": " ÷ all of them", "max": " ÷ those of the most popular item",
    "rank": ", as its rank from the least popular item ÷ the items seen",
}  # fmt: skip

ARP = _define(
    "ARP",
    "Average popularity of the recommendations",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of the items' {p['seen']} before"
        f"{_ARP_NORMS[p['norm']]}, items{_write_cut(k)}, unseen ones "
        f"{'left out' if p['unseen'] == 'drop' else 'count 0'}; high = popular items are recommended"
    ),
    'evaluate([{1}], [[1, 2]], "ARP@2", seen=[[1]]).flat() == {"ARP_at_2": 1 / 2}',
    SEEN,
    Parameter(
        "norm", "none", "counts as they are, ÷ their sum, ÷ the highest, or ranks",
        words=("none", "total", "max", "rank"),
    ),
    Parameter(
        "unseen", "zero", "items that nobody saw: they count 0, or are left out",
        words=("zero", "drop"),
    ),
    LISTS,
    of_lists=sum_popularity,
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

NOVELTY = _define(
    "Novelty",
    "Novelty: mean self-information of the recommended items",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of −log{p['base']} of the item's "
        f"share of all {p['seen']} before, items{_write_cut(k)}, unseen ones {_UNSEEN[p['unseen']]}; "
        "0 = everyone knows every item, high = rare items"
    ),
    'evaluate([{1}], [[1]], "Novelty@1", seen=[[1], [2]]).flat() == {"Novelty_at_1": log2(2)}',
    SEEN,
    Parameter(
        "unseen", "once", "items that nobody saw: as if seen once, as the rarest item, 0, or left out",
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
    """Mark the least popular items: this share of the items that were seen, and at least one of them."""
    counts = seen.interactions
    popular = np.sort(counts[counts > 0])
    size = max(math.floor(round(len(popular) * share, 9)), 1)  # 100 · 0.29 is 28.999999999999996
    limit = popular[size - 1]
    flags: Bools = (counts > 0) & (counts < limit)
    flags[seen.sort(np.flatnonzero(counts == limit))[: size - int(np.count_nonzero(flags))]] = True
    return flags


TAIL = _define(
    "TailShare",
    "Share of the recommendations that are in the tail",
    lambda k, p: (
        f"mean over {'recommendations' if p['mean'] == 'micro' else 'lists'} of the share of items"
        f"{_write_cut(k)} among the {p['tail']:g} of the seen items with the fewest interactions, at least one item; "
        "0 = only popular items"
    ),
    'evaluate([{1}], [[1, 2]], "TailShare@2", seen=[[1, 2], [2]]).flat() == {"TailShare_at_2": 1 / 2}',
    Parameter(
        "tail", 0.8, "the share of the seen items that is the tail", low=0.0, high=1.0,
        usual=(0.1, 0.2, 0.8),
    ),
    LISTS,
    of_lists=sum_tail,
    aliases=("TailPercentage",),
    conventions="The size of the tail is rounded down. Of items with the same number of interactions, those with the "
    "smaller ids are in the tail: numbers by value, text by its bytes.",
    cite="Abdollahpouri, Burke & Mobasher, Managing popularity bias, FLAIRS 2019",
)  # fmt: skip


def compute_lift(exposure: Exposure, catalogue: Catalogue, p: dict[str, Any]) -> float:
    seen = catalogue.require_seen("PopularityLift")
    counts, _ = seen.count(p["seen"])
    users = seen.lists
    kept = users.sizes > 0
    before = float((users.sum_items(counts.astype(float))[kept] / users.sizes[kept]).mean())
    listed = np.count_nonzero(exposure.sizes)
    shares = exposure.shares[: len(counts)]
    after = float((shares * counts[: len(shares)]).sum()) / listed if listed else float("nan")
    return (after - before) / before


LIFT = _define(
    "PopularityLift",
    "Popularity lift: how much more popular recommendations are than what users chose",
    lambda k, p: (
        f"(mean popularity of the lists{_write_cut(k)} − that of what users saw) ÷ the latter, "
        f"popularity: {p['seen']}; 0 = as popular as before, above 0 = recommendations are more popular"
    ),
    'evaluate([{1}], [[1]], "PopularityLift@1", seen=[[1], [1, 2]]).flat()["PopularityLift_at_1"] > 0',
    SEEN,
    of_all=compute_lift,
    conventions="Means over users: those with a list, and those who saw something.",
    cite="Abdollahpouri et al., The connection between popularity bias, calibration, and fairness, RecSys 2020",
)


def sum_distances(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    distances, pairs = catalogue.sum_distances(lists, "ILD")
    if p["norm"] == "found":
        return distances, lists.sizes.astype(float)
    if p["single"] == "zero":
        return distances, np.where(lists.sizes > 0, np.maximum(pairs, 1.0), 0.0)
    return distances, pairs


ILD = _define(
    "ILD",
    "Intra-list diversity: mean distance of two items of a list",
    lambda k, p: (
        f"mean over lists of the distances of all pairs of items{_write_cut(k)} ÷ "
        f"{'the items' if p['norm'] == 'found' else 'the pairs'}, lists of one item "
        f"{'left out' if p['single'] == 'drop' and p['norm'] == 'pairs' else 'count 0'}; "
        "0 = the items of a list are all alike"
    ),
    'evaluate([{1}], [[1, 2]], "ILD@2", distance={1: [1, 0], 2: [0, 1]}).flat() == {"ILD_at_2": 1}',
    Parameter(
        "norm", "pairs", "the divisor of a list: its pairs, or found: its items",
        words=("pairs", "found"),
    ),
    Parameter(
        "single", "zero", "a list of one item, which has no pair: 0, or left out",
        words=("zero", "drop"),
    ),
    of_lists=sum_distances,
    aliases=("IntraListDiversity",),
    conventions="The distance of two vectors is 1 − their cosine.",
    cite="Ziegler et al., Improving recommendation lists through topic diversification, WWW 2005",
)  # fmt: skip


TABLE: tuple[CatalogueDefinition, ...] = tuple(
    row for row in list(globals().values()) if isinstance(row, CatalogueDefinition)
)
"""The measures of the catalogue, in print order."""
