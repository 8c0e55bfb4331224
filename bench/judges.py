"""Calibrate germane trust: how often do its intervals hold the truth, and do its plans have their power?

    python bench/judges.py [REPEATS] > bench/JUDGES.md

A world of 100,000 queries has true grades, two systems, and a model's grades. Each repeat draws 5,000 queries,
of which people judged 100. A 95% interval should hold the mean of the world in 95% of the repeats.
"""

import sys
import warnings
from typing import Any

import numpy as np

import germane
from germane.comparison.judges.correction import FEWEST, Design, correct_mean
from germane.comparison.judges.trust import CorrectedMean

MEASURES = [
    "AP",
    "AP@10",
    "nDCG",
    "nDCG@10",
    "RR",
    "RBP(p=0.8)",
    "P@10",
    "R@10",
    "P@1",
    "Success@10",
]
WORLD, ITEMS, MODEL, PEOPLE = 100_000, 24, 5_000, 100
JUDGES = ("lenient", "strict", "noisy", "useless")


def make_world(rng):
    """Draw true grades (queries × items), and the scores of two systems."""
    difficulty = rng.beta(1.2, 2, WORLD)[:, None]
    shape = WORLD, ITEMS
    grades = (rng.random(shape) < 0.6 * difficulty) * rng.choice([1, 1, 2, 3], shape)
    return grades, [skill * grades + rng.normal(0, 1, shape) for skill in (0.7, 0.9)]


def judge(rng, grades, kind):
    """Draw a model's grades."""
    chance, some = rng.random(grades.shape), rng.choice([1, 1, 2], grades.shape)
    relevant = grades > 0
    if (
        kind == "lenient"
    ):  # misses 5% of the relevant items, and takes 8% of the others for relevant
        return np.where(relevant, grades * (chance < 0.95), some * (chance < 0.08))
    if kind == "strict":
        return np.where(relevant, grades * (chance < 0.75), some * (chance < 0.02))
    if kind == "noisy":  # each query has an error rate of its own, from 0 to nearly 1
        wrong = chance < rng.beta(0.4, 3.6, (len(grades), 1))
        return np.where(wrong, some * ~relevant, grades)
    return some * (chance < 0.25)  # useless: knows nothing of the truth


def evaluate(grades, scores):
    """Evaluate a system on every query: measures × queries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = germane.evaluate(grades, scores, MEASURES)
    return np.array([one.values for one in result.values()])


def list_values(grades, systems):
    """List the first system's values, and the second's less the first's: 2 measures × queries."""
    first, second = (evaluate(grades, scores) for scores in systems)
    return np.concatenate([first, second - first])


def measure_plainly(people, model):
    """Compute the tuned mean with an interval of 1.96 standard errors."""
    drawn = model[: len(people)]
    slope = np.cov(people, drawn)[0, 1] / max(drawn.var(ddof=1), 1e-12)
    rest = people - slope * drawn
    mean = slope * model.mean() + rest.mean()
    error = np.sqrt(slope**2 * model.var() / len(model) + rest.var(ddof=1) / len(people))
    return mean - 1.96 * error, mean + 1.96 * error


def calibrate(rng, truth, model, repeats):
    """Return shares of repeats in which four intervals hold the truth, and their widths: 2 × 4 × values."""
    design, nothing = make_design(PEOPLE), np.zeros(MODEL)
    true = truth.mean(axis=1)
    out = np.zeros((2, 4, len(truth)))
    for _ in range(repeats):
        at = rng.integers(0, WORLD, MODEL)
        for v, (values, guesses) in enumerate(
            zip(truth[:, at[:PEOPLE]], model[:, at], strict=True)
        ):
            error = guesses.std() / np.sqrt(MODEL)
            naive = guesses.mean() - 1.96 * error, guesses.mean() + 1.96 * error
            ours, alone = (correct_mean(values, one, design).interval for one in (guesses, nothing))
            plain = measure_plainly(values, guesses)
            four = naive, (alone.low, alone.high), plain, (ours.low, ours.high)
            for i, (low, high) in enumerate(four):
                out[:, i, v] += low <= true[v] <= high, high - low
    return out / repeats


def measure_power(rng, truth, model, repeats):
    """Return the share of planned experiments that show a difference, and the median of people's queries."""
    true, found, sizes = truth.mean(), 0, []
    for _ in range(repeats):
        at = rng.integers(0, WORLD, MODEL)
        sizes.append(plan_people(truth[at[:PEOPLE]], model[at], abs(true)))
        at = rng.integers(0, WORLD, MODEL)
        interval = correct_mean(truth[at[: sizes[-1]]], model[at], make_design(sizes[-1])).interval
        found += interval.low > 0 if true > 0 else interval.high < 0
    return found / repeats, int(np.median(sizes))


def plan_people(people, model, difference):
    """Plan as ``germane trust --detect`` does; all queries where no number of people's is enough."""
    design = make_design(len(people))
    corrected = correct_mean(people, model, design)
    nothing: Any = None
    pilot = CorrectedMean(
        measure=nothing, run="second", baseline="first", mean=corrected.mean,
        interval=corrected.interval, people_mean=0, people_interval=nothing, naive_mean=0,
        naive_interval=nothing, tuning=corrected.tuning, judged=len(people), queries=len(model),
        gap=0, people_values=people, model_values=model, design=design,
    )  # fmt: skip
    return max(FEWEST, pilot.plan(difference).people[MODEL] or MODEL)


def make_design(people):
    """Make the design of a random sample."""
    return Design(np.arange(people), np.full(people, MODEL / people), np.zeros(people, int), MODEL)


def main(repeats):
    rng = np.random.default_rng(11)
    grades, systems = make_world(rng)
    truth = list_values(grades, systems)
    print("# Corrected means, checked by simulation\n")
    print(
        f"Made by `python bench/judges.py {repeats}`; the worlds are described there. {repeats:,} repeats, each with"
    )
    print(
        f"{MODEL:,} queries that a model judged and {PEOPLE} of them that people judged, too. Columns are the shares of"
    )
    print(
        "repeats in which a 95% interval holds the truth: of the model's judgments alone; of people's alone; of the tuned"
    )
    print(
        "mean with 1.96 standard errors; and of `germane trust`. *Narrower* compares its width with that of people's alone."
    )
    print(f"A share of 0.95 varies by ±{1.96 * np.sqrt(0.95 * 0.05 / repeats):.3f} by chance.")
    for kind in JUDGES:
        given = judge(rng, grades, kind)
        first = {q: dict(enumerate(row)) for q, row in enumerate(grades[:300].tolist())}
        second = {q: dict(enumerate(row)) for q, row in enumerate(given[:300].tolist())}
        agreement = germane.compare_judges(first, second)
        guesses = list_values(given, systems)
        (share, width) = calibrate(rng, truth, guesses, repeats)
        print(
            f"\n## {kind}: κ {agreement.kappa:.2f}, quadratic κ {agreement.kappa_quadratic:.2f}\n"
        )
        print("| | bias | correlation | model | people | 1.96 errors | trust | narrower |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        names = [*MEASURES, *(f"{name}, difference" for name in MEASURES)]
        for v, name in enumerate(names):
            bias = guesses[v].mean() - truth[v].mean()
            alike = np.corrcoef(truth[v], guesses[v])[0, 1]
            shares = " | ".join(f"{one:.3f}" for one in share[:, v])
            narrower = 1 - width[3, v] / width[1, v]
            print(f"| {name} | {bias:+.3f} | {alike:.2f} | {shares} | {narrower:.0%} |", flush=True)
    show_plans(np.random.default_rng(12), grades, systems, truth, repeats)


def show_plans(rng, grades, systems, truth, repeats):
    """Print how often planned experiments show the true difference of the two systems."""
    print("\n## Plans\n")
    print(
        f"A pilot with {PEOPLE} of people's queries plans for the true difference of the two systems with probability 0.8."
    )
    print(
        "*Power* is the share of experiments of the planned size whose interval of the difference leaves out 0; a new pilot"
    )
    print("for each. *Queries* is the median of people's queries.\n")
    print("| | difference | " + " | ".join(f"{kind}: queries | power" for kind in JUDGES) + " |")
    print("|---|---:|" + "---:|---:|" * len(JUDGES))
    guesses = [list_values(judge(rng, grades, kind), systems) for kind in JUDGES]
    for v, name in enumerate(MEASURES, len(MEASURES)):
        cells = []
        for model in guesses:
            power, queries = measure_power(rng, truth[v], model[v], repeats)
            cells += [f"{queries:,}", f"{power:.2f}"]
        print(f"| {name} | {truth[v].mean():+.4f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
