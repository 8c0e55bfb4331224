"""Judge by weight or by depth: which budget of judgments gives numbers nearer to those of all judgments?

    python bench/selection.py > bench/SELECTION.md

The data are examples/digits: 200 queries, two systems and a mixture of their scores with noise, eight runs in all.
"""

import warnings
from pathlib import Path

import numpy as np

import germane

DIGITS = Path(__file__).parents[1] / "examples" / "digits"
MEASURES = ("nDCG@10", "RBP(p=0.8)", "P@10", "RR")
BUDGETS = (400, 800, 1600, 3200)


def read_digits(seed=4, queries=200):
    """Read the qrels of digits, and make runs: lda, pixels, and six mixtures of them with noise."""
    grades = {}
    for line in (DIGITS / "qrels.txt").read_text("utf-8").splitlines():
        query, _, item, grade = line.split()
        grades.setdefault(query, {})[item] = int(grade)
    grades = dict(list(grades.items())[:queries])
    scores = {}
    for name in ("lda", "pixels"):
        for line in (DIGITS / f"{name}.run").read_text("utf-8").splitlines():
            query, _, item, _, score, _ = line.split()
            if query in grades:
                scores.setdefault(query, {}).setdefault(item, {})[name] = float(score)
    rng = np.random.default_rng(seed)
    runs = {}
    for i in range(8):
        share, noise = (i % 2, 0.0) if i < 2 else (rng.random(), 0.15 * i)
        runs[f"run {i}"] = {
            query: make_ranking(items, share, noise, rng) for query, items in scores.items()
        }
    return grades, runs


def make_ranking(items, share, noise, rng):
    """Mix the places of items in both lists (100 where a list lacks one), with noise in places."""
    mixed = {}
    for name, weight in (("pixels", share), ("lda", 1 - share)):
        listed = sorted(
            (item for item in items if name in items[item]), key=lambda item: -items[item][name]
        )
        place = {item: rank for rank, item in enumerate(listed)}
        for item in items:
            mixed[item] = mixed.get(item, 0.0) - weight * np.log1p(place.get(item, 100))
    return {item: score + noise * rng.normal() for item, score in mixed.items()}


def choose_by_depth(runs, budget):
    """Choose pairs by the least rank that a run gives them: pooling by depth."""
    depth = {}
    for run in runs.values():
        for query, items in run.items():
            for rank, item in enumerate(
                sorted(items, key=lambda item: (items[item], item), reverse=True)
            ):
                pair = query, item
                depth[pair] = min(depth.get(pair, rank), rank)
    return sorted(depth, key=depth.get)[:budget]


def measure_error(grades, runs, measure, pairs):
    """Measure the mean error of the runs' means, and the share of pairs of runs in the right order."""
    partial = {query: {next(iter(items)): -1} for query, items in grades.items()}
    for query, item in pairs:
        partial[query][item] = grades[query].get(item, 0)
    full, found = (
        np.array(
            [
                result[measure].mean
                for result in germane.evaluate_many(qrels, runs, measure).values()
            ]
        )
        for qrels in (grades, partial)
    )
    order = np.sign(np.subtract.outer(full, full)) == np.sign(np.subtract.outer(found, found))
    return np.abs(full - found).mean(), order[np.triu_indices(len(full), 1)].mean()


def compare_ways(grades, runs, measure, budget):
    """Return the error and the order of judging by weight, and those of judging by depth."""
    nothing = {query: {next(iter(items)): -1} for query, items in grades.items()}
    chosen = germane.choose_judgments(nothing, runs, measure, budget=budget)
    by_weight = [(one.query, one.item) for one in chosen]
    by_depth = choose_by_depth(runs, budget)
    return [measure_error(grades, runs, measure, pairs) for pairs in (by_weight, by_depth)]


def main():
    warnings.simplefilter("ignore")
    grades, runs = read_digits()
    print("# What to judge next, by weight and by depth\n")
    print(
        "Made by `python bench/selection.py`; the data are described there. Error: mean absolute difference of the runs'"
    )
    print("means from those of all judgments. Order: share of pairs of runs in the right order.\n")
    print("| measure | judgments | error by weight | by depth | order by weight | by depth |")
    print("|---|---:|---:|---:|---:|---:|")
    for measure in MEASURES:
        for budget in BUDGETS:
            (error, order), (pooled, other) = compare_ways(grades, runs, measure, budget)
            print(
                f"| {measure} | {budget:,} | {error:.3f} | {pooled:.3f} | {order:.2f} | {other:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
