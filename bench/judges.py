"""Calibrate germane trust: how often do its intervals hold the truth, and do its plans have their power?

    python bench/judges.py [REPEATS] > bench/JUDGES.md
    python bench/judges.py --few [REPEATS]

A world of 100,000 queries has true grades, two systems, and a model's grades. Each repeat draws 5,000 queries,
of which people judged 100. A 95% interval should hold the mean of the world in 95% of the repeats.
Other worlds have few of people's queries: 400 by the model, and 5 to 80 by people. Models are perfect, good, fair, poor,
or drift away from people.
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

import numpy as np

import germane
from germane.core.mean_intervals import Interval, Span, find_student_quantile
from germane.judges.corrected import CorrectedMean
from germane.judges.correction import Design, Sample, correct_mean

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
UNIT = Span(0.0, 1.0)


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


def evaluate(grades, scores, measures):
    """Evaluate a system on every query: measures × queries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = germane.evaluate(grades, scores, measures)
    return np.array([one.values for one in result.values()])


def list_values(grades, systems, measures=MEASURES):
    """List the first system's values, and the second's less the first's: 2 measures × queries."""
    first, second = (evaluate(grades, scores, measures) for scores in systems)
    return np.concatenate([first, second - first])


def take_sample(truth, v, at, guesses, design):
    """Take a sample of the v-th row of ``list_values``: people's values of the first queries, the model's of all."""
    people = truth[:, at[: len(design.sampled)]]
    rows = len(truth) // 2
    return Sample(people[v], guesses, design, UNIT, people[v - rows] if v >= rows else None)


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
        for v, guesses in enumerate(model[:, at]):
            error = guesses.std() / np.sqrt(MODEL)
            naive = guesses.mean() - 1.96 * error, guesses.mean() + 1.96 * error
            ours, alone = (
                correct_mean(take_sample(truth, v, at, one, design)).interval
                for one in (guesses, nothing)
            )
            plain = measure_plainly(truth[v, at[:PEOPLE]], guesses)
            four = naive, (alone.low, alone.high), plain, (ours.low, ours.high)
            for i, (low, high) in enumerate(four):
                out[:, i, v] += low <= true[v] <= high, high - low
    return out / repeats


def measure_power(rng, truth, v, model, repeats):
    """Return the share of planned experiments that show a difference, and the median of people's queries."""
    true, found, sizes = truth[v].mean(), 0, []
    for _ in range(repeats):
        at = rng.integers(0, WORLD, MODEL)
        pilot = take_sample(truth, v, at, model[at], make_design(PEOPLE))
        sizes.append(plan_people(pilot, abs(true)))
        at = rng.integers(0, WORLD, MODEL)
        drawn = take_sample(truth, v, at, model[at], make_design(sizes[-1]))
        interval = correct_mean(drawn).interval
        found += interval.low > 0 if true > 0 else interval.high < 0
    return found / repeats, int(np.median(sizes))


def plan_people(sample, difference):
    """Plan as ``germane trust --detect`` does; all queries where no number of people's is enough."""
    corrected = correct_mean(sample)
    nothing: Any = None
    pilot = CorrectedMean(
        measure=nothing, run="second", baseline="first", mean=corrected.mean,
        interval=corrected.interval, people_mean=0, people_interval=nothing, naive_mean=0,
        naive_interval=nothing, tuning=corrected.tuning, judged=len(sample.people),
        queries=len(sample.model), gap=0, sample=sample,
    )  # fmt: skip
    return max(Interval.FEWEST, pilot.plan(difference).people[MODEL] or MODEL)


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
    show_plans(np.random.default_rng(12), grades, systems, truth, max(1, repeats // 4))


def show_plans(rng, grades, systems, truth, repeats):
    """Print how often planned experiments show the true difference of the two systems."""
    print("\n## Plans\n")
    print(
        f"A pilot with {PEOPLE} of people's queries plans for the true difference of the two systems with probability 0.8."
    )
    print(
        "*Power* is the share of experiments of the planned size whose interval of the difference leaves out 0; a new pilot"
    )
    print(f"for each of {repeats:,}. *Queries* is the median of people's queries.\n")
    print("| | difference | " + " | ".join(f"{kind}: queries | power" for kind in JUDGES) + " |")
    print("|---|---:|" + "---:|---:|" * len(JUDGES))
    guesses = [list_values(judge(rng, grades, kind), systems) for kind in JUDGES]
    for v, name in enumerate(MEASURES, len(MEASURES)):
        cells = []
        for model in guesses:
            power, queries = measure_power(rng, truth, v, model[v], repeats)
            cells += [f"{queries:,}", f"{power:.2f}"]
        print(f"| {name} | {truth[v].mean():+.4f} | {' | '.join(cells)} |", flush=True)


# --- Few of people's queries ------------------------------------------------------------------------

FEW_MODEL, SIZES = 400, (5, 8, 10, 15, 20, 40, 80)
FEW_MEASURES = ["AP", "nDCG@10", "RR", "Success@1", "P@10"]
FEW_WORLD, FEW_ITEMS, EASY = 30_000, 20, 260
WORLDS = {  # relevance of a query's items: the two parameters of a beta distribution, and its maximum; skills
    "strong": (6, 5, 0.5, (2.2, 2.5)),
    "very strong": (8, 4, 0.5, (3.0, 3.4)),
    "weak": (1, 2, 0.16, (-0.1, 0.3)),
    "strong and weak": (6, 5, 0.2, (-0.2, 2.6)),
    "ordinary": (1.2, 2, 0.6, (0.7, 1.0)),
}
# finds relevant items, adds others; from better to worse, and two whose errors are rare, large and in one direction
QUALITIES = {"perfect": (1, 0), "good": (0.99, 0.01), "fair": (0.9, 0.15), "poor": (0.7, 0.3)}
FEW_JUDGES = (*QUALITIES, "drifting", "lapsing")
FEW_MODELS = (*FEW_JUDGES, "people alone")
DRAWS = ("population", "queries", "strata", "weights")


def judge_few(rng, grades, kind):
    """Draw a model's grades."""
    chance, places = rng.random(grades.shape), np.linspace(0, 1, len(grades))[:, None]
    if kind == "lapsing":  # finds nothing relevant in one query of twenty
        return np.where(rng.random((len(grades), 1)) < 0.05, 0, grades)
    finds, adds = QUALITIES.get(kind, (0.98, np.maximum(0.01, 0.6 * places - 0.3)))
    return np.where(grades > 0, chance < finds, chance < adds).astype(int)


def draw_few_world(seed, world):
    """Draw a world: by people and by each model, measures × queries of a system, and of differences to another."""
    rng = np.random.default_rng(seed)
    first, second, most, skills = WORLDS[world]
    ease = rng.beta(first, second, FEW_WORLD)[:, None]
    grades = (rng.random((FEW_WORLD, FEW_ITEMS)) < most * ease).astype(int)
    scores = [skill * grades + rng.normal(0, 1, grades.shape) for skill in skills]
    judged = {"people": grades, **{kind: judge_few(rng, grades, kind) for kind in FEW_JUDGES}}
    values = {kind: list_values(given, scores, FEW_MEASURES) for kind, given in judged.items()}
    return {**values, "people alone": np.zeros_like(values["people"])}


def draw_few(rng, draw, ease, n):
    """Draw the model's queries of a repeat, and the design of people's: places among them come first."""
    at = rng.integers(0, FEW_WORLD, FEW_MODEL)
    plain = np.zeros(n, int)
    if draw == "strata":  # as many from the part that a model finds easy as from the other
        order = np.argsort(-ease[at], kind="stable")
        easy, hard = rng.permutation(order[:EASY]), rng.permutation(order[EASY:])
        half = n // 2
        at = at[np.concatenate([easy[:half], hard[: n - half], easy[half:], hard[n - half :]])]
        strata = np.repeat([0, 1], [half, n - half])
        weights = np.where(strata == 0, EASY / half, (FEW_MODEL - EASY) / (n - half))
        return at, Design(np.arange(n), weights, strata, FEW_MODEL)
    if draw == "weights":  # a query with a large value by a model is drawn half as often
        chances = np.where(ease[at] > 0.5, 1.0, 2.0)
        mixed = rng.permutation(FEW_MODEL)
        ends = np.cumsum(chances[mixed])  # systematic sampling, with these chances exactly
        steps = (rng.random() + np.arange(n)) * ends[-1] / n
        drawn = mixed[np.searchsorted(ends, steps)]
        order = np.concatenate([drawn, np.setdiff1d(mixed, drawn)])
        raw = 1 / chances[drawn]
        return at[order], Design(np.arange(n), raw * FEW_MODEL / raw.sum(), plain, FEW_MODEL)
    return at, Design(np.arange(n), np.full(n, FEW_MODEL / n), plain, FEW_MODEL)


def simulate_few(values, models, v, draw, n, rng, repeats):
    """Return which intervals hold the truth, and their widths: 2 × repeats × models."""
    people, ease = values["people"], values["fair"][FEW_MEASURES.index("nDCG@10")]
    about = "queries" if draw == "queries" else "population"
    found = np.zeros((2, repeats, len(models)))
    for r in range(repeats):
        at, design = draw_few(rng, draw, ease, n)
        truth = people[v, at if about == "queries" else slice(None)].mean()
        for j, model in enumerate(models):
            sample = take_sample(people, v, at, values[model][v, at], design)
            interval = correct_mean(sample, about=about).interval
            low, high = interval.low, interval.high
            found[:, r, j] = low - 1e-9 <= truth <= high + 1e-9, high - low
    return found


def calibrate_few(seed, world, draw, repeats):
    """Return shares of intervals that hold the truth, and widths: models × values × sizes.

    A share below ``DOUBTFUL`` may be chance: it is measured again, with more repeats. Also counts
    intervals that are wider than that of people alone.
    """
    values = draw_few_world(seed, world)
    holds, widths = np.zeros((2, len(FEW_MODELS), 2 * len(FEW_MEASURES), len(SIZES)))
    wider = 0
    for v, (s, n) in product(range(holds.shape[1]), enumerate(SIZES)):
        rng = np.random.default_rng([seed, v, n])
        held, reached = simulate_few(values, FEW_MODELS, v, draw, n, rng, repeats)
        wider += int(np.sum(reached > reached[:, -1:] + 1e-9))
        widths[:, v, s] = reached.mean(axis=0)
        holds[:, v, s] = held.mean(axis=0)
        doubtful = np.flatnonzero(holds[:, v, s] < DOUBTFUL)
        models = [FEW_MODELS[j] for j in doubtful]
        held, _ = simulate_few(values, models, v, draw, n, rng, AGAIN if models else 0)
        holds[doubtful, v, s] = held.sum(axis=0) / AGAIN
    return holds, widths, wider


FEW_HEADING = """
## Few of people's queries

{model} queries that a model judged, and n of them that people judged, too; {repeats} repeats. Models find 100%, 99%, 90% or 70%
of the relevant items (perfect, good, fair, poor) and take 0%, 1%, 15% or 30% of the others for relevant. The drifting one
is more and more lenient, from 1% of the others in the first query of the world to 30% in the last. The lapsing one is perfect, but
finds nothing in one query of twenty. Values are those of {measures}, of a system and of its difference from another.
Cells are the mean of {values} shares of repeats in which the 95% interval of `germane trust` holds the truth, and the smallest.
Shares below {doubtful} were measured again with {again:,} other repeats, since one of 0.95 varies by ±{noise:.3f} by chance.

"""
DRAWS_HEADING = """
By the way in which people's queries were drawn: at random from a *population*, whose mean is the truth, or from *queries* whose own
mean is; with *strata*, as many of the {easy} queries that look easy to a model as of the {hard} others; with *weights*, queries that
look hard are drawn twice as often.

"""
WIDTHS_HEADING = """
The width of intervals, divided by that of people alone, on average over all worlds and draws; for people alone, the width.

"""
DOUBTFUL, AGAIN = 0.945, 2000


def head_table(*columns):
    """Begin a table with a column a number of people's queries."""
    print(f"| {' | '.join(columns)} | {' | '.join(f'n = {n}' for n in SIZES)} |")
    print("|" + "---|" * len(columns) + "---:|" * len(SIZES))


def show_few(repeats):
    """Print how often intervals from few of people's queries hold the truth, and how wide they are."""
    cells = list(product(WORLDS, DRAWS))
    with ProcessPoolExecutor() as pool:
        seeds = range(100, 100 + len(cells))
        found = list(
            pool.map(calibrate_few, seeds, *zip(*cells, strict=True), [repeats] * len(cells))
        )
    # worlds × draws × models × values × sizes
    holds, widths = (
        np.array([of[i] for of in found]).reshape(len(WORLDS), len(DRAWS), *found[0][i].shape)
        for i in range(2)
    )
    noise = 1.96 * np.sqrt(0.95 * 0.05 / repeats)
    print(
        FEW_HEADING.format(
            model=FEW_MODEL, repeats=repeats, measures=", ".join(FEW_MEASURES), noise=noise,
            values=holds.shape[1] * holds.shape[3], doubtful=DOUBTFUL, again=AGAIN,
        ), end="",
    )  # fmt: skip
    head_table("world", "model")
    show_shares(product(WORLDS, FEW_MODELS), holds.transpose(0, 2, 1, 3, 4))
    print(DRAWS_HEADING.format(easy=EASY, hard=FEW_MODEL - EASY), end="")
    head_table("draw", "model")
    show_shares(product(DRAWS, FEW_MODELS), holds.transpose(1, 2, 0, 3, 4))
    print(WIDTHS_HEADING, end="")
    show_widths(widths)
    summarize_few(holds, widths, sum(of[2] for of in found), repeats)


def show_shares(names, holds):
    """Print the mean and the smallest share for each name: two axes of names, two to take together, sizes."""
    rows = holds.reshape(-1, holds.shape[2] * holds.shape[3], holds.shape[4])
    for name, of_name in zip(names, rows, strict=True):
        pairs = zip(of_name.mean(axis=0), of_name.min(axis=0), strict=True)
        row = " | ".join(f"{mean:.3f}, {least:.3f}" for mean, least in pairs)
        print(f"| {' | '.join(name)} | {row} |")


def show_widths(widths):
    """Print how wide intervals are beside those of people alone."""
    head_table("values", "model")
    half = len(FEW_MEASURES)
    for kind, part in (("means", slice(half)), ("differences", slice(half, None))):
        of_kind = widths[:, :, :, part]
        relative = (of_kind[:, :, :-1] / of_kind[:, :, -1:]).mean(axis=(0, 1, 3))
        rows = [*relative, of_kind[:, :, -1].mean(axis=(0, 1, 2))]
        for name, of_model in zip(FEW_MODELS, rows, strict=True):
            print(f"| {kind} | {name} | {' | '.join(f'{width:.2f}' for width in of_model)} |")


def summarize_few(holds, widths, wider, repeats):
    """Print the worst of everything."""
    better = widths[:, :, [*range(len(QUALITIES)), -1]]
    excess = better[:, :, :-1] / better[:, :, 1:] - 1
    averaged = better.mean(axis=(1, 3))
    growth = widths[..., 1:] / widths[..., :-1] - 1
    print(
        f"\nThe smallest of these {holds.size:,} shares is {holds.min():.3f}; {np.sum(holds < 0.93):,} are below 0.93.\n"
        f"Of {holds.size * repeats:,} intervals, {wider:,} are wider than that of people alone. From one quality to the next worse,\n"
        f"the better model's interval is wider on average for {np.sum(excess > 1e-9):,} of {excess.size:,} values, by at most"
        f" {max(0, excess.max()):.1%},\nand on average over a world's values in"
        f" {np.sum(averaged[:, :-1] > averaged[:, 1:] * (1 + 1e-9)):,} of {averaged[:, 1:].size:,} cases."
        f" From one n to the next,\nintervals are wider on average for {np.sum(growth > 0):,} of {growth.size:,} values."
    )


# --- Other intervals --------------------------------------------------------------------------------

OTHERS = ("good", "fair", "lapsing", "missing the best")


def fit(people, drawn):
    """Fit λ by least squares (a row a sample), and return it with the residuals' deviations from their mean."""
    y, f = (one - one.mean(axis=-1, keepdims=True) for one in (people, drawn))
    squares = (f**2).sum(axis=-1)
    slope = np.where(squares > 1e-12, (y * f).sum(axis=-1) / np.maximum(squares, 1e-12), 0.0)
    return slope, y - slope[..., None] * f


def measure_others(people, model, rng):
    """Compute three intervals of the mean of the model's queries: 1.96 errors, leave-one-out, bootstrap t."""
    n, left = len(people), 1 - len(people) / len(model)
    drawn = model[:n]

    def estimate(y, f):
        slope, rest = fit(y, f)
        mean = y.mean(axis=-1) + slope * (model.mean() - f.mean(axis=-1))
        return mean, np.sqrt(left * (rest**2).sum(axis=-1) / (n - 1) / n), rest

    mean, error, rest = estimate(people, drawn)
    deviations = drawn - drawn.mean()
    leverage = 1 / n + deviations**2 / max(float(deviations @ deviations), 1e-12)
    apart = rest / (1 - np.minimum(leverage, 0.9))
    reach = find_student_quantile(0.05, n - 2) * np.sqrt(left * float(apart @ apart)) / n
    again = rng.integers(0, n, (400, n))
    means, errors, _ = estimate(people[again], drawn[again])
    t = (means - mean) / np.maximum(errors, 1e-9)
    low, high = mean - np.quantile(t, [0.975, 0.025]) * error
    return (mean - 1.96 * error, mean + 1.96 * error), (mean - reach, mean + reach), (low, high)


def show_others(repeats):
    """Print how often other intervals of prediction-powered inference hold the truth."""
    print(
        "\n## Other intervals\n\n"
        f"nDCG@10 of the ordinary world, about {FEW_MODEL} queries; {repeats:,} repeats. *1.96 errors*, *leave-one-out* (Student's, of such\n"
        "residuals) and the *bootstrap t* have the λ of least squares. The model that misses the best finds nothing in the tenth of the\n"
        "queries with the highest values: no interval can be sure of errors of one direction that few samples show.\n"
    )
    head_table("model", "interval")
    values = draw_few_world(99, "ordinary")
    v = FEW_MEASURES.index("nDCG@10")
    people = values["people"][v]
    best = np.quantile(people, 0.9)
    values["missing the best"] = [np.where(people > best, 0.0, people)] * (v + 1)
    for model in OTHERS:
        shares = np.zeros((4, len(SIZES)))
        for s, n in enumerate(SIZES):
            rng = np.random.default_rng([n, 5])
            for _ in range(repeats):
                at, design = draw_few(rng, "queries", people, n)
                y, f = people[at[:n]], values[model][v][at]
                ours = correct_mean(Sample(y, f, design, UNIT), about="queries").interval
                ends = [*measure_others(y, f, rng), (ours.low, ours.high)]
                truth = people[at].mean()
                shares[:, s] += [low - 1e-9 <= truth <= high + 1e-9 for low, high in ends]
        names = ("1.96 errors", "leave-one-out", "bootstrap t", "trust")
        for name, row in zip(names, shares / repeats, strict=True):
            print(f"| {model} | {name} | {' | '.join(f'{share:.2f}' for share in row)} |")


if __name__ == "__main__":
    few = "--few" in sys.argv
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if not few:
        main(numbers[0] if numbers else 2000)
    show_few(numbers[0] if few and numbers else 200)
    show_others(numbers[0] if few and numbers else 1000)
