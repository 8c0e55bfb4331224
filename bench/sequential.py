"""Calibrate sequential="anytime": ``python bench/sequential.py [SIMULATIONS] [SEED]``.

Differences of queries come in batches of ten, up to 400, and the gate is looked at after each batch. "ever wrong": the share of
simulations in which a test calls a drop significant at any look although there is none, or in which the confidence sequence at any
look lacks the true difference. For true drops: the share that is found at some look, and the queries until then.
"""

import sys

import numpy as np

from germane.comparison.sequential import bet_on_more, compute_anytime_p
from germane.comparison.significance import compute_sign_flip_p

ALPHA, BATCH, MOST = 0.05, 10, 400


def draw_rr(rng: np.random.Generator, count: int) -> np.ndarray:
    """Differences of reciprocal ranks: of two random first hits."""
    return 1 / rng.integers(1, 12, count) - 1 / rng.integers(1, 12, count)


def draw_success(rng: np.random.Generator, count: int) -> np.ndarray:
    """A fifth of the queries changes, from 0 to 1 or from 1 to 0."""
    return rng.choice((-1.0, 0.0, 1.0), count, p=(0.1, 0.8, 0.1))


def draw_ndcg(rng: np.random.Generator, count: int) -> np.ndarray:
    """Small differences, normal with a deviation of .15, of which a third is 0."""
    return np.clip(rng.normal(0, 0.15, count), -1, 1) * (rng.random(count) > 1 / 3)


def draw_skewed(rng: np.random.Generator, count: int) -> np.ndarray:
    """Most queries rise a little, and one in twenty falls to 0."""
    return np.where(rng.random(count) < 0.05, -0.95, 0.05)


DRAWS = {"RR": draw_rr, "Success": draw_success, "nDCG": draw_ndcg, "skewed": draw_skewed}


def shift(differences: np.ndarray, drop: float, rng: np.random.Generator) -> np.ndarray:
    """Let so large a share of queries fall from 0 to -1, or as far as they can."""
    return np.where(rng.random(len(differences)) < drop, -1.0, differences)


def main(simulations: int, seed: int) -> None:
    looks = range(BATCH, MOST + 1, BATCH)
    print(
        "differences   usual test ever wrong   anytime ever wrong   sequence ever lacks the mean   usual at the end"
    )
    for name, draw in DRAWS.items():
        rng = np.random.default_rng(seed)
        usual = anytime = lacking = end = 0
        for _ in range(simulations):
            d = draw(rng, MOST)
            p = [compute_sign_flip_p(d[:n] / n) for n in looks]
            usual += min(p) < ALPHA
            end += p[-1] < ALPHA
            anytime += min(compute_anytime_p(d[:n]) for n in looks) < ALPHA
            limit = np.log(1 / ALPHA)
            lacking += any(
                max(bet_on_more(d[:n], 0.0), bet_on_more(-d[:n], 0.0)) > limit for n in looks
            )
        shares = [f"{100 * count / simulations:.1f} %" for count in (usual, anytime, lacking, end)]
        print(f"{name:<13} {shares[0]:<23} {shares[1]:<20} {shares[2]:<30} {shares[3]}", flush=True)
    print(
        "\ndifferences   drop   found by 400 queries   median queries   usual test of 400 queries, looked at once"
    )
    for name, draw in DRAWS.items():
        for drop in (0.02, 0.05, 0.1, 0.2):
            rng = np.random.default_rng(seed + 1)
            stops, once = [], 0
            for _ in range(simulations // 4):
                d = shift(draw(rng, MOST), drop, rng)
                once += compute_sign_flip_p(d / MOST) < ALPHA and d.mean() < 0
                stops += [
                    next(
                        (n for n in looks if d[:n].mean() < 0 and compute_anytime_p(d[:n]) < ALPHA),
                        np.inf,
                    )
                ]
            found, median = np.isfinite(stops).mean(), float(np.median(stops))
            middle = f"{median:.0f}" if np.isfinite(median) else f"> {MOST}"
            print(
                f"{name:<13} {drop:<6} {found:<22.0%} {middle:<16} {once / len(stops):.0%}",
                flush=True,
            )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 2000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 59,
    )
