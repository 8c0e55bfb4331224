"""Check germane's statistics by simulation, time them, and write bench/SIGNIFICANCE.md.

    python bench/significance.py [--simulations N] [--null N] [--print] [--intervals] [--verdicts]

Systems that are the same by construction are compared: a test at 0.05 may call 5% of them different.
Systems whose true difference is known are compared: a 95% interval must hold it in 95%. Needs SciPy.
"""

import argparse
import datetime
import os
import platform
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from importlib.metadata import version
from itertools import combinations, product, repeat
from math import comb
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import segments

import germane
from germane.comparison.pair import compare_pairs
from germane.comparison.samples import Sample
from germane.comparison.significance import CORRECTIONS, TESTS, Settings, compute_sign_flip_p
from germane.core.mean_intervals import Span, estimate_mean_interval

ALPHA, SEED = 0.05, 20261121
LEVELS = (0.05, 0.001)
RESAMPLES, DRAWN = 10_000, 2_000  # of Tukey's test, as in compare, and where errors are counted
SIZES = (25, 50, 200)
SYSTEMS = 5
PARTS = 4  # of the comparisons of a cell, each with draws of its own

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, int], Array]


# --- Data ------------------------------------------------------------------------------------------


def average_precision(rng: np.random.Generator, systems: int, queries: int) -> Array:
    """S × Q: values between 0 and 1, skewed, alike within a query; a fifth of queries are ties."""
    easy = rng.beta(0.8, 1.6, queries)
    values = np.clip(easy + rng.normal(0, 0.15, (systems, queries)), 0, 1)
    return np.where(rng.random(queries) < 0.2, easy, values)


def reciprocal_rank(rng: np.random.Generator, systems: int, queries: int) -> Array:
    """S × Q: 1, 1/2, … 1/10 or 0, alike within a query; about a third of queries are ties."""
    easy = rng.beta(1, 2, queries)
    ranks = rng.geometric(np.maximum(easy, 0.02), (systems, queries))
    return np.where(ranks <= 10, 1 / ranks, 0.0)


def better(draw: Draw) -> Draw:
    """The same two systems, but on three queries in ten the second is a third of the way nearer to 1."""

    def values(rng: np.random.Generator, systems: int, queries: int) -> Array:
        drawn = draw(rng, systems, queries)
        gains = rng.random(queries) < 0.3
        drawn[1] += np.where(gains, (1 - drawn[1]) / 3, 0.0)
        return drawn

    return values


DATA: dict[str, Draw] = {"like AP": average_precision, "like RR": reciprocal_rank}


def sample(values: Array) -> Sample:
    systems, queries = values.shape
    names = tuple(f"s{i}" for i in range(systems))
    strata = np.zeros(queries, int)
    return Sample((germane.AP,), names, ("",), tuple(range(queries)), strata, values[None], 0)


# --- False positives -------------------------------------------------------------------------------


TWO = tuple(test for test in TESTS if test != "tukey")  # which is the same as randomization there


def error_rates(simulations: int, pool: Executor) -> Iterator[str]:
    yield "| data | queries | " + " | ".join((*TWO, "Holm, 10 pairs", "Tukey, 10 pairs")) + " |"
    yield "|---|---:|" + "---:|" * (len(TWO) + 2)
    cells = list(product(DATA, SIZES))
    for (name, queries), rates in zip(
        cells,
        pool.map(false_positives, *zip(*cells, strict=True), repeat(simulations)),
        strict=True,
    ):
        yield f"| {name} | {queries} | " + " | ".join(f"{rate:.3f}" for rate in rates) + " |"


def false_positives(name: str, queries: int, simulations: int) -> list[float]:
    draw, rng = DATA[name], np.random.default_rng(SEED)
    rejected = np.zeros(len(TWO) + 2)
    everyone = list(combinations(range(SYSTEMS), 2))
    for _ in range(simulations):
        two = sample(draw(rng, 2, queries))
        p = [TESTS[test].p_values(two, [(0, 1)], DRAWN, rng).min() for test in TWO]
        several = sample(draw(rng, SYSTEMS, queries))
        raw = TESTS["randomization"].p_values(several, everyone, DRAWN, rng)
        p.append(CORRECTIONS["holm"].adjust(raw.ravel()).min())
        p.append(TESTS["tukey"].p_values(several, everyone, DRAWN, rng).min())
        rejected += np.array(p) < ALPHA
    return list(rejected / simulations)


def calibration(null: int, pool: Executor) -> Iterator[str]:
    """How often the randomization test finds what is not there, at two levels."""
    yield "| data | queries | comparisons | " + " | ".join(f"below {a:g}" for a in LEVELS) + " |"
    yield "|---|---:|---:|" + "---:|" * len(LEVELS)
    cells = list(product(DATA, SIZES))
    each = -(-null // (len(cells) * PARTS))
    parts = list(product(cells, range(PARTS)))
    found = pool.map(null_finds, *zip(*(cell for cell, _ in parts), strict=True),
                     (part for _, part in parts), repeat(each))  # fmt: skip
    total = np.zeros(len(LEVELS))
    counts: dict[tuple[str, int], Array] = {}
    for (cell, _), finds in zip(parts, found, strict=True):
        counts[cell] = counts.get(cell, np.zeros(len(LEVELS))) + finds
        total += finds
    for (name, queries), finds in counts.items():
        yield _rates(f"| {name} | {queries}", finds, each * PARTS)
    yield _rates("| all |", total, each * PARTS * len(cells))


def _rates(row: str, finds: Array, comparisons: int) -> str:
    five, one = finds / comparisons
    return f"{row} | {comparisons:,} | {five:.4f} | {one:.5f} |"


def null_finds(name: str, queries: int, part: int, comparisons: int) -> Array:
    """How many p-values of two systems that are the same are below each level.

    A sum within one standard deviation has a p-value of 3/32 or more (Dvořák and Klein 2022), and
    is not tested.
    """
    draw, rng = DATA[name], np.random.default_rng((SEED, part))
    finds = np.zeros(len(LEVELS))
    for _ in range(comparisons):
        one, other = draw(rng, 2, queries)
        difference = other - one
        if difference.sum() ** 2 > difference @ difference:
            finds += compute_sign_flip_p(difference) < np.array(LEVELS)
    return finds


def sign_rates() -> Iterator[str]:
    """How often the sign test finds what is not there, counted: with mid-p values, and without."""
    sizes = (10, 16, 20, 25, 30, 40, 50, 75, 100, 200)
    yield "| queries without a tie | " + " | ".join(map(str, sizes)) + " |"
    yield "|---|" + "---:|" * len(sizes)
    for name, part in (("mid-p", 0.5), ("usual", 1.0)):
        rates = (f"{sign_rate(throws, part):.3f}" for throws in sizes)
        yield f"| {name} | " + " | ".join(rates) + " |"


def sign_rate(throws: int, part: float) -> float:
    """The chance of a p-value below ALPHA; ``part`` is how much the observed count itself adds to it."""
    chances = [comb(throws, wins) / 2**throws for wins in range(throws + 1)]
    tails = [sum(chances[: min(wins, throws - wins)]) for wins in range(throws + 1)]
    return sum(
        chance
        for chance, tail in zip(chances, tails, strict=True)
        if 2 * (tail + part * chance) < ALPHA
    )


# --- Coverage --------------------------------------------------------------------------------------


FEW = (5, 8, 15, 20)  # queries


def rare(draw: Draw) -> Draw:
    """The same two systems, but equal on nine queries in ten."""

    def values(rng: np.random.Generator, systems: int, queries: int) -> Array:
        drawn = draw(rng, systems, queries)
        return np.where(rng.random(queries) < 0.9, drawn[0], drawn)

    return values


COVERED: dict[str, Draw] = {
    **{f"{name}, better": better(draw) for name, draw in DATA.items()},
    **{f"{name}, equal": draw for name, draw in DATA.items()},
    **{f"{name}, rarely different": rare(draw) for name, draw in DATA.items()},
    **{f"{name}, rarely better": rare(better(draw)) for name, draw in DATA.items()},
}


def coverages(simulations: int, pool: Executor) -> Iterator[str]:
    yield "| data | queries | holds the truth | below it | above it | mean width |"
    yield "|---|---:|---:|---:|---:|---:|"
    cells = list(product(COVERED, (*FEW, *SIZES)))
    for (name, queries), rates in zip(
        cells, pool.map(coverage, *zip(*cells, strict=True), repeat(simulations)), strict=True
    ):
        yield f"| {name} | {queries} | " + " | ".join(f"{rate:.3f}" for rate in rates) + " |"


@cache
def true_difference(draw: Draw) -> float:
    rng = np.random.default_rng(SEED + 1)
    drawn = [draw(rng, 2, 1_000_000) for _ in range(4)]
    return float(np.mean([values[1].mean() - values[0].mean() for values in drawn]))


def coverage(name: str, queries: int, simulations: int) -> tuple[float, ...]:
    draw, rng = COVERED[name], np.random.default_rng((SEED, queries, 2))
    truth = true_difference(draw)
    settings = Settings(test="sign")  # the interval is the same for any test
    below = above = 0
    width = 0.0
    for _ in range(simulations):
        one = sample(draw(rng, 2, queries))
        [pair] = compare_pairs([one], settings, rng)
        assert pair.interval is not None
        below += pair.interval.high < truth
        above += pair.interval.low > truth
        width += pair.interval.high - pair.interval.low
    counts = np.array([simulations - below - above, below, above, width])
    return tuple((counts / simulations).tolist())


# --- Verdicts --------------------------------------------------------------------------------------


def two_sizes(gain: float, share: float, loss: float) -> Draw:
    """A gain on a share of the queries, and a loss on the others, from a system that has 1/2 on all."""

    def values(rng: np.random.Generator, systems: int, queries: int) -> Array:
        change = np.where(rng.random(queries) < share, gain, -loss)
        return np.array([np.full(queries, 0.5), 0.5 + change])

    return values


def few_large_gains(rng: np.random.Generator, systems: int, queries: int) -> Array:
    """Log-normal differences, of at most 1/2, less their mean."""
    change = np.minimum(0.05 * rng.lognormal(0, 1, queries), 0.5)
    return np.array([np.full(queries, 0.5), 0.5 - TRUNCATED + change])


TRUNCATED = float(np.minimum(0.05 * np.random.default_rng(SEED).lognormal(0, 1, 10**7), 0.5).mean())
SKEWED: dict[str, Draw] = {
    "-.05 (90%) or +.45 (10%)": two_sizes(0.45, 0.1, 0.05),
    "-.1 (75%) or +.3 (25%)": two_sizes(0.3, 0.25, 0.1),
    "log-normal": few_large_gains,
}
JUDGED = (5, 6, 8, 12, 20, 30, 50, 100, 200)  # queries


def verdicts(worlds: dict[str, Draw], simulations: int, pool: Executor) -> Iterator[str]:
    """How often p is below ALPHA, and how often the interval excludes 0, too."""
    yield (
        "| differences | called significant by | "
        + " | ".join(f"{n} queries" for n in JUDGED)
        + " |"
    )
    yield "|---|---|" + "---:|" * len(JUDGED)
    cells = list(product(worlds, JUDGED))
    rates = dict(
        zip(
            cells,
            pool.map(verdict_rates, *zip(*cells, strict=True), repeat(simulations)),
            strict=True,
        )
    )
    for name in worlds:
        for place, rule in enumerate(("p alone", "p and interval")):
            shares = (f"{rates[name, queries][place]:.3f}" for queries in JUDGED)
            yield f"| {name} | {rule} | " + " | ".join(shares) + " |"


def verdict_rates(name: str, queries: int, simulations: int) -> tuple[float, float]:
    draw, rng = {**SKEWED, **COVERED}[name], np.random.default_rng((SEED, queries, 3))
    rejected = significant = 0
    for _ in range(simulations):
        [pair] = compare_pairs([sample(draw(rng, 2, queries))], Settings(), rng)
        rejected += pair.p < ALPHA
        significant += pair.significant
    return rejected / simulations, significant / simulations


# --- Means -----------------------------------------------------------------------------------------


def strong(rng: np.random.Generator, systems: int, queries: int) -> Array:
    """S × Q: 1 on 19 queries in 20, and 0 to 1/2 on the others."""
    missed = rng.random((systems, queries)) < 0.05
    return np.where(missed, rng.random((systems, queries)) / 2, 1.0)


ALONE: dict[str, Draw] = {
    **DATA,
    "nearly always 1": strong,
    "nearly always 0": lambda rng, systems, queries: 1 - strong(rng, systems, queries),
}


def mean_coverages(simulations: int) -> Iterator[str]:
    """How often the interval of the mean of one system holds it."""
    sizes = (*FEW, *SIZES)
    yield "| data | mean | " + " | ".join(f"{queries} queries" for queries in sizes) + " |"
    yield "|---|---:|" + "---:|" * len(sizes)
    for name, draw in ALONE.items():
        truth = float(draw(np.random.default_rng(SEED + 1), 4, 1_000_000).mean())
        shares = (mean_coverage(draw, queries, truth, simulations) for queries in sizes)
        yield f"| {name} | {truth:.3f} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


def mean_coverage(draw: Draw, queries: int, truth: float, simulations: int) -> float:
    rng, held = np.random.default_rng((SEED, queries, 1)), 0
    for _ in range(simulations):
        values = draw(rng, 1, queries)[0]
        interval = estimate_mean_interval(values, Span(0.0, 1.0), 0.95)
        assert interval is not None
        held += interval.low <= truth <= interval.high
    return held / simulations


# --- Time ------------------------------------------------------------------------------------------


def times() -> Iterator[str]:
    queries, measures = 6_980, ("AP", "P@10", "RR", "nDCG@10")
    rng = np.random.default_rng(SEED)
    grades = rng.random((SYSTEMS, queries, 10)) < 0.15
    qrels = {f"q{q}": {f"d{i}": 1 for i in range(10)} for q in range(queries)}
    runs = {
        f"s{s}": {
            f"q{q}": [f"{'d' if hit else 'x'}{i}" for i, hit in enumerate(grades[s, q])]
            for q in range(queries)
        }
        for s in range(SYSTEMS)
    }
    results = germane.evaluate_many(qrels, runs, " ".join(measures))
    germane.compare(results, test="tukey", resamples=100)  # what is computed once, and imports
    yield "| test | CPU s |"
    yield "|---|---:|"
    for test in TESTS:
        start = time.process_time()
        germane.compare(results, test=test, resamples=RESAMPLES)
        yield f"| {test} | {time.process_time() - start:.1f} |"


# --- The page --------------------------------------------------------------------------------------


PAGE = """\
# Statistics, checked by simulation

Made by `python bench/significance.py`; the data are described there. Tukey's test draws {drawn:,} resamples.

## Is a p-value of the randomization test what it says?

Two systems that are the same by construction, compared again and again: p is below 0.05 in 5% of the comparisons,
and below 0.001 in 0.1%.

{calibration}

The last row varies by ±{noise_five:.4f} and ±{noise_one:.5f} by chance.

## How often a test at 0.05 calls systems different that are the same

{simulations:,} simulated comparisons a cell.

{errors}

Two systems; in the last columns five, where any of the ten pairs counts. {simulations:,} simulations of a rate of
0.05 vary by ±{noise:.3f}. Holm bounds the rate and need not reach it: the pairs of five systems depend on each other.

The sign test knows only wins and losses, so that few p-values exist, and the rate of any one number of queries without
a tie is off 0.05. Its mid-p values are so on both sides, and the usual ones below it:

{sign}

## Differences that are not symmetric

The randomization test assumes that differences of equal systems are symmetric around 0. These are skewed, and their true
mean is 0. A difference is called significant if p < 0.05 and the interval excludes 0. {some:,} simulations a number.

{skewed}

And in the data of the next section, where errors are in the rows of equal systems, and the power is in those of better ones:

{ordinary}

## How often the 95% interval holds the true difference

Data that rarely differ are equal on nine queries in ten.

{intervals}

## How often the 95% interval of one system's mean holds it

{means}

{lists}
## CPU time of `compare`: 6,980 queries, 5 systems, 4 measures, all 40 pairs

{times}

With the interval of each pair; the results were evaluated before. Tukey's test draws {resamples:,} resamples.

{date}; {machine}, one thread; CPython {python}, NumPy {numpy}, SciPy {scipy}.
"""


def page(simulations: int, null: int) -> str:
    with ProcessPoolExecutor() as pool:
        calibrated = "\n".join(calibration(null, pool))
        errors = "\n".join(error_rates(simulations, pool))
        intervals = "\n".join(coverages(simulations, pool))
        means = "\n".join(mean_coverages(simulations))
        skewed = "\n".join(verdicts(SKEWED, simulations, pool))
        ordinary = "\n".join(verdicts(COVERED, simulations, pool))
    return PAGE.format(
        simulations=simulations,
        drawn=DRAWN,
        calibration=calibrated,
        noise_five=1.96 * (0.05 * 0.95 / null) ** 0.5,
        noise_one=1.96 * (0.001 * 0.999 / null) ** 0.5,
        errors=errors,
        noise=1.96 * (0.05 * 0.95 / simulations) ** 0.5,
        sign="\n".join(sign_rates()),
        some=simulations,
        skewed=skewed,
        ordinary=ordinary,
        intervals=intervals,
        means=means,
        lists=segments.write(simulations // 8),
        resamples=RESAMPLES,
        times="\n".join(times()),
        date=datetime.date.today(),
        machine=machine(),
        python=platform.python_version(),
        numpy=np.__version__,
        scipy=version("scipy"),
    )


def machine() -> str:
    named = Path("/proc/cpuinfo")
    lines = named.read_text().splitlines() if named.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--null", type=int, default=1_000_000)
    parser.add_argument("--print", action="store_true", help="do not write SIGNIFICANCE.md")
    parser.add_argument(
        "--intervals", action="store_true", help="print the tables of intervals only"
    )
    parser.add_argument("--verdicts", action="store_true", help="print the tables of verdicts only")
    options = parser.parse_args()
    if options.verdicts:
        with ProcessPoolExecutor() as pool:
            for worlds in (SKEWED, COVERED):
                print("\n".join(verdicts(worlds, options.simulations, pool)) + "\n", flush=True)
        return
    if options.intervals:
        with ProcessPoolExecutor() as pool:
            print("\n".join(coverages(options.simulations, pool)), flush=True)
        print("\n" + "\n".join(mean_coverages(options.simulations)))
        return
    text = page(options.simulations, options.null)
    print(text)
    if not options.print:
        Path(__file__).with_name("SIGNIFICANCE.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
