"""Calibrate differences of a measure of yes and no by few of people's queries.

    python bench/few_differences.py [REPEATS] > bench/FEW_DIFFERENCES.md

Two runs truly differ on a share of the queries, 4 of 5 times (or half of the times) in favor of the second. A model
sees 80% of the differences, and some that are none. A 95% interval should hold the truth in 95% of the repeats.
"""

import sys

import numpy as np

from germane.comparison.judges.correction import FEWEST, Design, correct_mean

MODEL = 2_000


def draw_differences(rng, share, favor):
    """Draw the true differences of the queries, and the model's."""
    signs = np.where(rng.random(MODEL) < favor, 1, -1)
    true = np.where(rng.random(MODEL) < share, signs, 0).astype(float)
    invented = np.where(rng.random(MODEL) < share, rng.choice([-1, 1], MODEL), 0)
    return true, np.where(rng.random(MODEL) < 0.8, true, invented)


def count_held(rng, people, share, repeats):
    """Count the intervals that hold the truth, and those of repeats that germane cautions of."""
    held = cautioned = 0
    design = Design(
        np.arange(people), np.full(people, MODEL / people), np.zeros(people, int), MODEL
    )
    for repeat in range(repeats):
        favor = (0.5, 0.8)[repeat % 2]
        true, model = draw_differences(rng, share, favor)
        found = correct_mean(
            true[:people], model, design, tuning="optimal", confidence=0.95, about="population"
        ).interval
        held += found.low - 1e-12 <= share * (2 * favor - 1) <= found.high + 1e-12
        usual = np.unique(true[:people], return_counts=True)[1].max()
        cautioned += people - usual < FEWEST
    return held / repeats, cautioned / repeats


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rng = np.random.default_rng(5)
    print(
        "# Differences of a measure of yes and no, by few of people's queries\n\n"
        f"Made by `python bench/few_differences.py {repeats}`; the worlds are described there. {repeats:,} repeats.\n\n"
        "| people's queries | the runs differ on | intervals that hold the truth | germane cautions of |\n"
        "|---:|---:|---:|---:|"
    )
    for people in (40, 100):
        for share in (0.02, 0.03, 0.05, 0.08, 0.15, 0.3):
            held, cautioned = count_held(rng, people, share, repeats)
            print(f"| {people} | {share:.0%} of queries | {held:.3f} | {cautioned:.0%} |")


if __name__ == "__main__":
    main()
