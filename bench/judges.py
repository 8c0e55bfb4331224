"""Calibrate germane trust: how often do its intervals hold the truth, and do its plans have their power?

    python bench/judges.py [REPEATS] > bench/JUDGES.md
    python bench/judges.py --few [REPEATS]

A world of 100,000 queries has true grades, two systems, and a model's grades. Each repeat draws 5,000 queries,
of which people judged 100. A 95% interval should hold the mean of the world in 95% of the repeats.
Worlds of strong and weak systems have few of people's queries: 300 by the model, and 5 to 80 by people.
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

import numpy as np

import germane
from germane.comparison.judges.correction import Design, correct_mean
from germane.comparison.judges.trust import WIDER, CorrectedMean
from germane.core.bounded_means import Span
from germane.core.mean_intervals import FEWEST
from germane.measures.spans import find_span, find_span_of_differences

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
BETWEEN = Span(-1.0, 1.0)  # differences of measures from 0 to 1


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


def list_spans():
    """List the ranges of the values of ``list_values``."""
    return [Span(0.0, 1.0)] * len(MEASURES) + [BETWEEN] * len(MEASURES)


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
    design, nothing, spans = make_design(PEOPLE), np.zeros(MODEL), list_spans()
    true = truth.mean(axis=1)
    out = np.zeros((2, 4, len(truth)))
    for _ in range(repeats):
        at = rng.integers(0, WORLD, MODEL)
        for v, (values, guesses) in enumerate(
            zip(truth[:, at[:PEOPLE]], model[:, at], strict=True)
        ):
            error = guesses.std() / np.sqrt(MODEL)
            naive = guesses.mean() - 1.96 * error, guesses.mean() + 1.96 * error
            ours, alone = (
                correct_mean(values, one, design, spans[v]).interval for one in (guesses, nothing)
            )
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
        drawn = make_design(sizes[-1])
        interval = correct_mean(truth[at[: sizes[-1]]], model[at], drawn, BETWEEN).interval
        found += interval.low > 0 if true > 0 else interval.high < 0
    return found / repeats, int(np.median(sizes))


def plan_people(people, model, difference):
    """Plan as ``germane trust --detect`` does; all queries where no number of people's is enough."""
    design = make_design(len(people))
    corrected = correct_mean(people, model, design, BETWEEN)
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


# --- Few of people's queries ------------------------------------------------------------------------

FEW_MODEL, SIZES = 300, (5, 10, 20, 40, 80)
FEW_MEASURES = ["RR", "Success@1", "nDCG@10", "P@10"]
FEW_WORLD, FEW_ITEMS = 30_000, 20
WORLDS = {  # relevance of a query's items: the two parameters of a beta distribution, and its maximum; skills
    "strong": (6, 5, 0.5, (2.2, 2.5)),
    "very strong": (8, 4, 0.5, (3.0, 3.4)),
    "weak": (1, 2, 0.16, (-0.1, 0.3)),
    "strong and weak": (6, 5, 0.2, (-0.2, 2.6)),
    "ordinary": (1.2, 2, 0.6, (0.7, 1.0)),
}
FEW_JUDGES = {"usual": (0.9, 0.15), "good": (0.99, 0.01)}  # finds relevant items, adds others
DRAWS = ("population", "queries", "strata", "weights")


def draw_few_world(seed, world, judge_name):
    """Draw a world: measures × queries of the first system, and of differences, by people and by a model."""
    rng = np.random.default_rng(seed)
    first, second, most, skills = WORLDS[world]
    ease = rng.beta(first, second, FEW_WORLD)[:, None]
    grades = (rng.random((FEW_WORLD, FEW_ITEMS)) < most * ease).astype(int)
    scores = [skill * grades + rng.normal(0, 1, grades.shape) for skill in skills]
    finds, adds = FEW_JUDGES[judge_name]
    chance = rng.random(grades.shape)
    given = np.where(grades > 0, chance < finds, chance < adds).astype(int)
    out = []
    for by in (grades, given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [germane.evaluate(by, one, FEW_MEASURES) for one in scores]
        one, other = (np.array([m.values for m in result.values()]) for result in results)
        out.append(np.concatenate([one, other - one]))
    return out


def draw_few(rng, draw, ease, n):
    """Draw the model's queries of a repeat, and the design of people's: places among them come first."""
    at = rng.integers(0, FEW_WORLD, FEW_MODEL)
    plain = np.zeros(n, int)
    if draw == "strata":  # as many from the half that the model finds easy as from the other
        upper = np.argsort(-ease[at], kind="stable")
        easy, hard = rng.permutation(upper[:200]), rng.permutation(upper[200:])
        half = n // 2
        at = at[np.concatenate([easy[:half], hard[: n - half], easy[half:], hard[n - half :]])]
        strata = np.repeat([0, 1], [half, n - half])
        weights = np.where(strata == 0, 200 / half, 100 / (n - half))
        return at, Design(np.arange(n), weights, strata, FEW_MODEL)
    if draw == "weights":  # a query with a large value by the model is drawn half as often
        chances = np.where(ease[at] > 0.5, 1.0, 2.0)
        mixed = rng.permutation(FEW_MODEL)
        ends = np.cumsum(chances[mixed])  # systematic sampling, with these chances exactly
        steps = (rng.random() + np.arange(n)) * ends[-1] / n
        drawn = mixed[np.searchsorted(ends, steps)]
        order = np.concatenate([drawn, np.setdiff1d(mixed, drawn)])
        raw = 1 / chances[drawn]
        return at[order], Design(np.arange(n), raw * FEW_MODEL / raw.sum(), plain, FEW_MODEL)
    return at, Design(np.arange(n), np.full(n, FEW_MODEL / n), plain, FEW_MODEL)


def calibrate_few(seed, world, judge_name, draw, repeats):
    """Return true means, and shares of intervals: values × sizes × (corrected, people, shown, empty, range)."""
    people, model = draw_few_world(seed, world, judge_name)
    ease = model[FEW_MEASURES.index("nDCG@10")]
    about = "queries" if draw == "queries" else "population"
    names = [germane.parse(name) for name in FEW_MEASURES]
    spans = [find_span(m, people[i]) for i, m in enumerate(names)]
    spans += [find_span_of_differences(m, people[i]) for i, m in enumerate(names)]
    rng = np.random.default_rng([seed, len(draw)])
    out = np.zeros((len(people), len(SIZES), 5))
    for (s, n), _ in product(enumerate(SIZES), range(repeats)):
        at, design = draw_few(rng, draw, ease, n)
        for v, span in enumerate(spans):
            y, f = people[v, at[:n]], model[v, at]
            truth = people[v, at].mean() if about == "queries" else people[v].mean()
            found = correct_mean(y, f, design, span, about=about)
            alone = correct_mean(y, np.zeros_like(f), design, span, about=about)
            both = [(one.interval.low, one.interval.high) for one in (found, alone)]
            widths = [high - low for low, high in both]
            holds = [low - 1e-9 <= truth <= high + 1e-9 for low, high in both]
            shown = holds[1] if widths[0] > WIDER * widths[1] else holds[0]
            out[v, s] += (*holds, shown, min(widths) <= 1e-9, found.interval.basis == "range")
    return people.mean(axis=1), out / repeats


FEW_HEADING = """
## Few of people's queries

{model} queries that a model judged, and n of them that people judged, too; {repeats} repeats. The model finds 90% of the
relevant items and takes 15% of the others for relevant; the good one finds 99% and takes 1%. Cells are the shares of
repeats in which the 95% interval of `germane trust` holds the truth: the mean of the population, or that of these queries.
With strata, people judged as many of the 200 queries that look easy to the model as of the 100 others; with weights,
queries that look hard are drawn twice as often. A share of 0.95 varies by ±{noise:.3f} by chance. *Least* is the smallest
share for the interval by people alone, and for the one that is shown first. *From the range* is the share of intervals that
do not come from the spread.

| world | draw | measure | mean | {heads} | least | from the range |
|---|---|---|---:|{lines}---:|---:|"""


def show_few(repeats):
    """Print how often intervals from few of people's queries hold the truth."""
    cells = [(world, "usual", draw) for world, draw in product(WORLDS, DRAWS[:2])]
    cells += [(world, "good", draw) for world, draw in product(("strong", "ordinary"), DRAWS[:2])]
    cells += [(world, "usual", draw) for world, draw in product(WORLDS, DRAWS[2:])]
    heads = " | ".join(f"n = {n}" for n in SIZES)
    noise, lines = 1.96 * np.sqrt(0.95 * 0.05 / repeats), "---:|" * len(SIZES)
    print(
        FEW_HEADING.format(model=FEW_MODEL, repeats=repeats, noise=noise, heads=heads, lines=lines)
    )
    seeds, found = range(100, 100 + len(cells)), []
    with ProcessPoolExecutor() as pool:
        of_cells = pool.map(calibrate_few, seeds, *zip(*cells, strict=True), [repeats] * len(cells))
        for cell, (means, shares) in zip(cells, of_cells, strict=True):
            found.append(shares)
            print_few(*cell, means, shares)
    shares = np.concatenate([one[..., 0].ravel() for one in found])
    empty = sum(np.sum(one[..., 3]) for one in found) * repeats
    print(
        f"\nThe smallest of these {len(shares)} shares is {shares.min():.3f}; {np.sum(shares < 0.93)} are below "
        f"0.93. Intervals of width 0: {empty:.0f} of {repeats * len(shares):,}."
    )


def print_few(world, judge_name, draw, means, shares):
    """Print the rows of one world."""
    kind = world if judge_name == "usual" else f"{world}, good model"
    names = [*FEW_MEASURES, *(f"{name}, difference" for name in FEW_MEASURES)]
    for v, name in enumerate(names):
        cover = " | ".join(f"{x:.3f}" for x in shares[v, :, 0])
        least, ranged = shares[v, :, 1:3].min(), shares[v, :, 4].mean()
        row = (
            f"| {kind} | {draw} | {name} | {means[v]:+.3f} | {cover} | {least:.3f} | {ranged:.0%} |"
        )
        print(row, flush=True)


if __name__ == "__main__":
    few = "--few" in sys.argv
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if few:
        show_few(numbers[0] if numbers else 400)
    else:
        main(numbers[0] if numbers else 2000)
        show_few(400)
