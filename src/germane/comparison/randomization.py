"""Paired randomization: how often chance alone, swapping two systems at random, would do as much."""

import numpy as np

from germane._ragged import Bools, Floats

EXACT = 16  # queries up to which all 2^Q ways to swap are looked at
BLOCK = 2**22  # signs held at once


def sign_flips(differences: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """C × Q weighted differences → C: two-sided p-values of their sums being 0.

    If two systems are the same, each query's difference could as well have had the other sign. The
    p-value is the share of the ways to choose signs whose sum is at least as far from 0: of all 2^Q
    for up to 16 queries, else of ``resamples`` random ones and the one observed, so that it is never 0.
    """
    queries = differences.shape[1]
    exact = queries <= EXACT
    total = differences.sum(axis=1)
    reached = np.abs(total) - slack(differences)
    as_far = np.zeros(len(differences), np.int64)
    drawn = 2**queries if exact else resamples
    step = max(1, BLOCK // queries)
    for start in range(0, drawn, step):
        size = min(step, drawn - start)
        flipped = _all(start, size, queries) if exact else _random(size, queries, rng)
        sums = total - 2 * (flipped.astype(float) @ differences.T)
        as_far += np.count_nonzero(np.abs(sums) >= reached, axis=0)
    p: Floats = as_far / drawn if exact else (as_far + 1) / (drawn + 1)
    return p


def slack(values: Floats) -> Floats:
    """What rounding can make of a sum along the last axis: equal sums must count as equal."""
    summed: Floats = 1e-12 * np.abs(values).sum(axis=-1)
    return summed


def _random(size: int, queries: int, rng: np.random.Generator) -> Bools:
    """size × Q: bits, half of them set."""
    bits = rng.integers(0, 256, size=(size, -(-queries // 8)), dtype=np.uint8)
    return np.unpackbits(bits, axis=1, count=queries)


def _all(start: int, size: int, queries: int) -> Bools:
    """size × Q: the bits of the numbers from ``start``."""
    bits: Bools = np.arange(start, start + size)[:, None] >> np.arange(queries) & 1
    return bits
