"""Measures of how lists differ from what users know: diversity within a list, and serendipity."""

from typing import Any

import numpy as np

from germane.core import ragged
from germane.core.catalogue import Catalogue, Lists, Seen
from germane.core.ragged import Floats
from germane.measures.catalogue import define, find_history, write_cut, write_mean
from germane.measures.definition import SHARE, Parameter


def sum_distances(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    distances, pairs = catalogue.require_distance("ILD").sum_pairs(lists)
    found = lists.sizes.astype(float)
    divisor = found if p["norm"] == "found" else np.where(found > 0, np.maximum(pairs, 1.0), 0.0)
    return distances, divisor if p["single"] == "zero" else np.where(found > 1, divisor, 0.0)


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
        "norm", "pairs", "the divisor of a list: its pairs, or found: its items",
        words=("pairs", "found"),
    ),
    Parameter(
        "single", "zero", "a list of one item, which has no pair: 0, or left out",
        words=("zero", "drop"),
    ),
    of_lists=sum_distances,
    undefined="NaN with single=drop, if no list has two items.",
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
        "an item is compared with its popularity, or with the user's own history",
        words=("popular", "history"),
    ),
    Parameter(
        "relevant", "judged", "items that count: the relevant ones of the judgments, or all",
        words=("judged", "all"),
    ),
    of_lists=sum_serendipity,
    undefined="NaN with against=history, if no user with a list chose anything.",
    range=lambda p: SHARE if p["against"] == "popular" else None,
    of_users=True,
    of_judgments=True,
    conventions="Relevant items have a grade of 1 or higher. Popularity is the number of "
                "interactions; items with the same "
    "number share a rank, and the next rank follows without a gap.",
    cite="Zhang et al., Auralist: introducing serendipity into music recommendation, WSDM 2012",
)  # fmt: skip
