"""Paired randomization: how often swapping two systems at random does as much as was observed."""

import math

import numpy as np

from germane.core.ragged import Floats, Ints

COUNTED = 24  # queries free to change sides up to which all ways to choose their signs are counted
REACH = 14.0  # standard deviations between the copies of a distribution that a sum sees as one
LEAST, MOST = 2**14, 2**18  # cosines that an integral takes before it may stop, and must
POINTS = 128  # of an integral, however many cosines each takes: several times what a normal density needs
BLOCK, HELD = 32, 2**20  # points that are summed at once, and cosines held for them
SMALLEST = float(np.finfo(float).tiny)  # a p-value is never 0


def sign_flip_p(differences: Floats) -> float:
    """The two-sided p-value of the sum of weighted differences being 0.

    If two systems are the same, each query's difference could as well have had the other sign. The
    p-value is the share of the ways to choose signs whose sum is at least as far from 0. Nothing is
    drawn at random: few queries are counted, and for more the characteristic function of the sum is
    integrated, so that no p-value is too small to be told. Queries without a difference count nothing.
    """
    observed, rounding = abs(float(differences.sum())), float(slack(differences))
    if observed <= rounding:
        return 1.0
    sizes = np.sort(np.abs(differences[differences != 0]))
    # A sum as large as observed leaves this much to change sides; larger differences are fixed.
    room = (float(sizes.sum()) - observed + rounding) / 2
    free = sizes[: np.searchsorted(sizes, room, side="right")]
    if len(free) <= COUNTED:
        share = math.ldexp(_count_subsets(free, room), -len(free))
    else:
        share = _tail(*_distinct(free), float(free.sum()) - 2 * room)
    return min(1.0, max(math.ldexp(share, 1 - len(sizes) + len(free)), SMALLEST))


def slack(values: Floats) -> Floats:
    """The rounding error of a sum along the last axis: equal sums must count as equal."""
    summed: Floats = 1e-12 * np.abs(values).sum(axis=-1)
    return summed


def _count_subsets(sizes: Floats, most: float) -> int:
    """How many subsets have a sum of at most so much."""
    half = len(sizes) // 2
    one, other = _subset_sums(sizes[:half]), np.sort(_subset_sums(sizes[half:]))
    return int(np.searchsorted(other, most - one, side="right").sum())


def _subset_sums(sizes: Floats) -> Floats:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
    return sums


def _distinct(sizes: Floats) -> tuple[Floats, Ints]:
    """Ascending sizes → the different ones, and how many of each; sizes a rounding apart are equal."""
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > 1e-13 * sizes[-1])
    return sizes[starts], np.diff(starts, append=len(sizes))


def _tail(sizes: Floats, counts: Ints, least: float) -> float:
    """The chance of a sum of at least so much, where each size has either sign.

    The inversion integral of the moment generating function, on the line through its saddlepoint
    (Rice 1980; the expansion at that point is Robinson's approximation, 1982). There it is about a
    normal density, of which equidistant points give the integral to many digits.
    """
    deviation = math.sqrt(float(counts @ sizes**2))
    if least < -8 * deviation:
        return 1.0
    tilt = max(_saddlepoint(sizes, counts, least), 1 / deviation)
    slope = np.tanh(tilt * sizes)
    period = REACH * (math.sqrt(float(counts @ (sizes**2 * (1 - slope**2)))) + 1 / tilt)
    points = max(POINTS, MOST // len(sizes))
    step = 2 * _common_step(sizes)  # of the sums
    if step and period / step <= 2 * points:
        whole = math.ceil(period / step)
        period, points = whole * step, whole // 2 + 1
        least = float(counts @ sizes) - step * round((float(counts @ sizes) - least) / step)
    else:
        step = 0.0
    total, block = 0.0, max(1, min(BLOCK, HELD // len(sizes)))
    for start in range(0, points, block):
        at = np.arange(start, min(start + block, points))
        line = tilt + 2j * math.pi / period * at
        terms = _characteristic(sizes, counts, slope, line.imag) * np.exp(-1j * least * line.imag)
        terms *= step / -np.expm1(-step * line) if step else 1 / line
        terms[(at == 0) | (2 * at * step == period)] /= 2  # the others stand for two, -at and at
        total += float(terms.real.sum())
        if not step and np.abs(terms).max() < 1e-8 * abs(total) and at[-1] * len(sizes) > LEAST:
            break
    log_moment = float(counts @ (np.logaddexp(tilt * sizes, -tilt * sizes) - math.log(2)))
    return max(0.0, 2 / period * total * math.exp(log_moment - tilt * least))


def _characteristic(sizes: Floats, counts: Ints, slope: Floats, at: Floats) -> Floats:
    """The characteristic function of the sum, tilted so that its mean is where the tail begins."""
    angles = np.outer(sizes, at)
    factors = np.cos(angles) + 1j * (slope[:, None] * np.sin(angles))
    several = counts > 1
    factors[several] **= counts[several, None]
    product: Floats = np.multiply.reduce(factors, axis=0)
    return product


def _saddlepoint(sizes: Floats, counts: Ints, mean: float) -> float:
    """The tilt that makes ``mean`` the mean of the sum, by Newton's method from below."""
    tilt = 0.0
    for _ in range(50):
        slope = np.tanh(tilt * sizes)
        missing = mean - float(counts @ (sizes * slope))
        if missing <= 1e-3 * mean:
            break
        tilt += missing / float(counts @ (sizes**2 * (1 - slope**2)))
    return tilt


def _common_step(sizes: Floats) -> float:
    """The largest number of which all sizes are multiples; 0 where there is none of any use."""
    step, finest = float(sizes[-1]), 1e-5 * float(sizes[-1])
    for size in sizes.tolist():
        rest = size
        while rest > finest * 1e-4:
            step, rest = rest, abs(math.remainder(step, rest))
        if step < finest:
            return 0.0
    multiples = sizes / step
    return step if np.abs(multiples - np.round(multiples)).max() < 1e-6 else 0.0
