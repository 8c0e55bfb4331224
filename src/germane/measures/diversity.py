"""Measures of how lists differ from what users know: diversity within a list, and serendipity."""

from typing import Any

import numpy as np

from germane.core.catalogue import Catalogue, Lists
from germane.core.ragged import Floats
from germane.measures.catalogue import define, write_cut
from germane.measures.definition import Parameter


def sum_distances(lists: Lists, catalogue: Catalogue, p: dict[str, Any]) -> tuple[Floats, Floats]:
    distances, pairs = catalogue.sum_distances(lists, "ILD")
    if p["norm"] == "found":
        return distances, lists.sizes.astype(float)
    if p["single"] == "zero":
        return distances, np.where(lists.sizes > 0, np.maximum(pairs, 1.0), 0.0)
    return distances, pairs


ILD = define(
    "ILD",
    "Intra-list diversity: mean distance of two items of a list",
    lambda k, p: (
        f"mean over lists of the distances of all pairs of items{write_cut(k)} ÷ "
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
