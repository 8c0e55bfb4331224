"""Randomized Tukey HSD: all pairs of systems at once, against the largest difference by chance."""

from itertools import permutations

import numpy as np

from germane.core.ragged import Floats

TABULATED = 6  # systems up to which all their orders fit a table


def largest_differences(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """M × S × Q weighted values → M × resamples: the range of the systems' sums by chance.

    If all systems are the same, each query's values could as well belong to the systems in any
    other order. Values of one query stay together: systems are compared on the same queries.
    """
    measures, systems, queries = values.shape
    sums = np.zeros((resamples, measures * systems))
    got = np.empty_like(sums)
    orders = np.array(list(permutations(range(systems)))) if systems <= TABULATED else None
    for q in range(queries):
        of_query = values[:, :, q]
        if orders is not None:
            table = of_query[:, orders].swapaxes(0, 1).reshape(len(orders), -1)
            drawn = rng.integers(0, len(orders), size=resamples, dtype=np.uint16)
            np.take(table, drawn, axis=0, out=got, mode="clip")
        else:
            drawn = rng.permuted(np.tile(np.arange(systems), (resamples, 1)), axis=1)
            got = of_query[:, drawn].swapaxes(0, 1).reshape(resamples, -1)
        sums += got
    ranges: Floats = np.ptp(sums.reshape(resamples, measures, systems), axis=2).T
    return ranges
