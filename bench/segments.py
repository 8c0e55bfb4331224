"""Check the intervals of numbers of all lists, and the tests of segments, by simulation.

    python bench/segments.py [--simulations N]

Users of eight tastes get lists of ten of 500 items. Two systems draw them from the same chances, so
that they are equal, and a third one prefers popular items. bench/significance.py prints the same
tables into SIGNIFICANCE.md.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import germane

ITEMS, TASTES, DEPTH, LIKED, SEGMENTS = 500, 8, 10, 5, 5
NAMES = ("Coverage@10", "Gini@10", "Entropy@10", "Personalization@10", "Novelty@10")
SIZES = (200, 1000)  # users
Lists = dict[int, list[int]]


def draw_world(users: int, rng: np.random.Generator) -> tuple[Lists, dict[str, Lists]]:
    """Draw what each user likes, and the lists of three systems."""
    taste = np.random.default_rng(0).normal(size=(TASTES, ITEMS)) * 1.2
    taste = taste[rng.integers(0, TASTES, users)]
    popular = np.log(np.arange(1, ITEMS + 1))

    def draw(power: float, noise: Any, size: int) -> Lists:
        scores = taste - power * popular + noise
        best = np.argpartition(-scores, size, axis=1)[:, :size]
        ranked = np.take_along_axis(best, np.argsort(-np.take_along_axis(scores, best, 1)), 1)
        return dict(enumerate(ranked.tolist()))

    shared, *own = rng.gumbel(size=(4, users, ITEMS))
    mixed = [0.6 * shared + 0.8 * noise for noise in own]
    runs = {"one": draw(0.9, mixed[0], DEPTH), "equal": draw(0.9, mixed[1], DEPTH)}
    runs["popular"] = draw(1.05, mixed[2], DEPTH)
    return draw(0.9, rng.gumbel(size=(users, ITEMS)), LIKED), runs


def cover(simulations: int) -> Iterator[str]:
    """How often 95% intervals hold the number of as many other users, and true differences."""
    yield "| number | users | one system | equal systems | other systems | deviation | estimated |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for users in SIZES:
        rng = np.random.default_rng(users)
        ends = np.array([_estimate(users, rng) for _ in range(simulations)])  # × M × 3 × 3
        truth = ends[..., 0].mean(axis=0)
        truth[:, 1] = 0.0
        held = ((ends[..., 1] <= truth) & (truth <= ends[..., 2])).mean(axis=0)
        spread = ends[:, :, 0, 0].std(axis=0, ddof=1)
        width = (ends[:, :, 0, 2] - ends[:, :, 0, 1]).mean(axis=0) / (2 * 1.984)
        for m, name in enumerate(NAMES):
            shares = " | ".join(f"{share:.3f}" for share in held[m])
            yield f"| {name} | {users:,} | {shares} | {spread[m]:.4f} | {width[m]:.4f} |"


def _estimate(users: int, rng: np.random.Generator) -> list[list[tuple[float, float, float]]]:
    """Estimate each number of one system, and its differences to both others, with intervals."""
    liked, runs = draw_world(users, rng)
    seen, _ = draw_world(users, np.random.default_rng(1))
    results = germane.evaluate_many(liked, runs, list(NAMES), catalogue=ITEMS, seen=seen)
    comparison = germane.compare(results, baseline="one", correction="none")
    rows = []
    for name in NAMES:
        one = results["one"][name]
        parts = [(one.mean, one.interval())]
        for system in ("equal", "popular"):
            pair = comparison.between(system, "one", name)
            parts.append((pair.difference, pair.interval))
        rows.append([(mean, of.low, of.high) for mean, of in parts if of is not None])
    return rows


def err(simulations: int) -> Iterator[str]:
    """How often any of ten comparisons of equal systems in five segments is called significant."""
    yield (
        "| correction | "
        + " | ".join(f"{name}, {n:,} users" for n in SIZES for name in TESTED)
        + " |"
    )
    yield "|---|" + "---:|" * (len(SIZES) * len(TESTED))
    wrong: dict[str, list[float]] = {"holm": [], "none": []}
    for users in SIZES:
        rng = np.random.default_rng(users + 1)
        worlds = [draw_world(users, rng) for _ in range(simulations)]
        for correction, rates in wrong.items():
            found = [_find_any(*world, correction) for world in worlds]
            rates += np.mean(found, axis=0).tolist()
    for correction, rates in wrong.items():
        yield f"| {correction} | " + " | ".join(f"{rate:.3f}" for rate in rates) + " |"


TESTED = ("nDCG@10", "Coverage@10")


def _find_any(liked: Lists, runs: dict[str, Lists], correction: Any) -> list[bool]:
    """Is a difference of equal systems called significant in any segment?"""
    equal = {name: runs[name] for name in ("one", "equal")}
    by = {user: user % SEGMENTS for user in liked}
    names = list(TESTED)
    segments = germane.compare(
        liked, equal, names, by=by, correction=correction, catalogue=ITEMS
    ).segments
    assert segments is not None
    return [any(p.significant for _, p in segments.pairs if str(p.measure) == m) for m in names]


TEXT = """\
## Numbers of all lists

By `python bench/segments.py --simulations {simulations}`. Coverage and the like are numbers of all lists: the interval is one for as many
other users, by a jackknife over 100 groups of users. The columns say how often a 95% interval holds the truth for one system, for the
difference of two that are equal, and for that of two that are not; then the deviation of the number between simulations,
and the one that the intervals stand for. Those of Coverage are too wide, as the theory says (Efron and Stein 1981), and never too narrow.
Novelty is a mean over lists, beside which the others can be judged; of 200 users, some of its intervals come from the range.

{cover}

Two equal systems in five segments: how often any of the segments' differences is called significant at 0.05.

{err}

A share of 0.95 varies by ±{varies:.3f} by chance.
"""


def write(simulations: int) -> str:
    """Write both tables."""
    warnings.simplefilter("ignore", germane.GermaneWarning)
    varies = 1.96 * (0.95 * 0.05 / simulations) ** 0.5
    parts = {"cover": "\n".join(cover(simulations)), "err": "\n".join(err(simulations))}
    return TEXT.format(simulations=simulations, varies=varies, **parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    print(write(parser.parse_args().simulations))
