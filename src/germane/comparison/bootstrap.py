"""Bootstrap: what the means could have been, had the queries been drawn anew."""

import math

import numpy as np

from germane._ragged import Floats, Ints

BLOCK = 2**22  # draws held at once


def resampled_sums(
    values: Floats, strata: Ints, resamples: int, rng: np.random.Generator
) -> Floats:
    """C × Q values → C × resamples: their sums over queries drawn with replacement.

    As many queries are drawn from each stratum as it has, the same ones for every row.
    """
    sums = np.zeros((resamples, len(values)))
    for stratum in range(int(strata.max()) + 1):
        of_stratum = values[:, strata == stratum].T
        queries = len(of_stratum)
        step = max(1, BLOCK // queries)
        for start in range(0, resamples, step):
            size = min(step, resamples - start)
            sums[start : start + size] += _times(size, queries, rng) @ of_stratum
    return sums.T


def _times(size: int, queries: int, rng: np.random.Generator) -> Floats:
    """size × Q: how often each query is drawn, of as many draws as there are queries."""
    drawn = rng.integers(0, queries, size=(size, queries), dtype=np.int32)
    drawn += (np.arange(size, dtype=np.int32) * queries)[:, None]
    times = np.bincount(drawn.ravel(), minlength=size * queries)
    return times.reshape(size, queries).astype(float)


def bca(sums: Floats, centered: Floats, estimate: float, z: float) -> tuple[float, float]:
    """The bias-corrected and accelerated interval of a sum (Efron 1987).

    ``sums`` are the resampled ones; ``centered`` holds each query's part less the mean part of its
    stratum; ``z`` is how far a normal quantile the interval reaches, such as 1.96.
    """
    from statistics import NormalDist

    normal, ordered = NormalDist(), np.sort(sums)
    near = 1e-12 * float(np.abs(centered).sum() + abs(estimate))
    below, upto = np.searchsorted(ordered, (estimate - near, estimate + near))
    # Half of the sums that equal the estimate count as below it.
    share = min(max((below + upto) / 2, 0.5), len(ordered) - 0.5) / len(ordered)
    bias = normal.inv_cdf(share)
    spread = float(np.sum(centered**2))
    skew = float(np.sum(centered**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    low, high = (_shifted(bias, skew, at) for at in (-z, z))
    return float(np.quantile(ordered, low)), float(np.quantile(ordered, high))


def _shifted(bias: float, skew: float, z: float) -> float:
    """The share of resampled sums that the end of an interval at ``z`` cuts off."""
    from statistics import NormalDist

    slope = 1 - skew * (bias + z)
    if slope <= 0:  # beyond where the transformation has a meaning: all of them
        return float(z > 0)
    return NormalDist().cdf(bias + (bias + z) / slope)


def reach(confidence: float, freedom: int) -> float:
    """The normal quantile of an interval, widened for the few queries that it rests on.

    Resampled means of n queries vary by √((n-1)/n) too little, and a normal quantile stands where
    Student's belongs; both are undone (Hesterberg 2015, "expanded percentile"). ``freedom`` is n - 1
    for one stratum. Student's quantile is the expansion of Abramowitz and Stegun, 26.7.5.
    """
    from statistics import NormalDist  # imports much

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    student: float = z + sum(term / freedom**i for i, term in enumerate(terms, start=1))
    return student * math.sqrt((freedom + 1) / freedom)
