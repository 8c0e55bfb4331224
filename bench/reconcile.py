"""How often reconcile says "found" of a wrong number: ``python bench/reconcile.py [SETS [TABLES]] > bench/RECONCILE.md``.

Random data is reconciled with numbers that none of its definitions made: any number from 0 to 1; one
near the right one; and what the same measure gives for the same lists in a random order. Then reconcile_table is given tables.
"""

import random
import sys
import warnings
from collections import Counter
from collections.abc import Iterator

from reconcile_tables import count_tables

import germane

QUERIES = (1, 3, 10, 50, 200)
MEASURES = ("AP@10", "AP", "nDCG@10", "R@5", "P@5", "RR@10")
DECIMALS = (2, 3, 4)
KINDS = ("any number", "near the right one", "lists in random order")
Data = tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]

HEAD = """\
# What reconcile says of wrong numbers

`python bench/reconcile.py {sets} 200 > bench/RECONCILE.md`: {sets} random data sets of each size, each with {numbers} numbers that no
definition of them made, with germane's own and with that of another tool. Lists have 14 results, grades go from 0 to 3, and the measures are {measures}.
*any number* lies anywhere from 0 to 1; *near the right one* is off by 0.05 (standard deviation); *lists in random order* is the
same measure of the same lists shuffled, which has the same few values that small data has.

Shares in percent of the numbers called found, and possible; nothing is said to give the others. The first three columns are wrong
numbers, of which at most 5 % should be found; one that rounds to germane's own is not wrong and is left out. The last two
are right.
"""


def draw(rng: random.Random, queries: int) -> Data:
    qrels, run = {}, {}
    for q in range(queries):
        items = [f"d{i}" for i in range(rng.randint(3, 15))]
        qrels[f"q{q}"] = {item: float(rng.choice((0, 0, 1, 1, 2, 3))) for item in items}
        results = rng.sample([*items, *(f"u{i}" for i in range(11))], 14)
        run[f"q{q}"] = {item: float(-rank) for rank, item in enumerate(results)}
    return qrels, run


def shuffle(rng: random.Random, run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        query: dict(zip(rng.sample(list(got), len(got)), got.values(), strict=True))
        for query, got in run.items()
    }


def numbers(rng: random.Random, data: Data, measure: str) -> Iterator[tuple[str, int, float]]:
    qrels, run = data
    for decimals in DECIMALS:
        right = germane.evaluate(qrels, run, measure)[measure].mean
        yield "germane's own", decimals, right
        tools = [one.value for one in germane.spread(qrels, run, measure) if not one.says]
        others = [one for one in tools if f"{one:.{decimals}f}" != f"{right:.{decimals}f}"]
        if others:
            yield "another tool's", decimals, rng.choice(others)
        shuffled = germane.evaluate(qrels, shuffle(rng, run), measure)[measure].mean
        near = min(max(right + rng.gauss(0, 0.05), 0.0), 1.0)
        for kind, number in zip(KINDS, (rng.random(), near, shuffled), strict=True):
            if f"{number:.{decimals}f}" != f"{right:.{decimals}f}":
                yield kind, decimals, number


def count(sets: int) -> Counter[tuple[int, str, int, str]]:
    rng, found = random.Random(0), Counter[tuple[int, str, int, str]]()
    for queries in QUERIES:
        for at in range(sets):
            data, measure = draw(rng, queries), MEASURES[at % len(MEASURES)]
            for kind, decimals, number in numbers(rng, data, measure):
                said = germane.reconcile(
                    *data, reported=f"{number:.{decimals}f}", measure=measure
                ).answer
                found[queries, kind, decimals, said] += 1
    return found


def write(sets: int) -> None:
    found = count(sets)
    print(HEAD.format(sets=sets, numbers=len(KINDS) * len(DECIMALS), measures=", ".join(MEASURES)))
    kinds = (*KINDS, "germane's own", "another tool's")
    print(
        "| queries | decimals | " + " | ".join(f"{kind}: found, possible" for kind in kinds) + " |"
    )
    print("|---" * (2 + len(kinds)) + "|")
    total = Counter[tuple[str, str]]()
    for queries in QUERIES:
        for decimals in DECIMALS:
            cells = []
            for kind in kinds:
                said = {
                    word: found[queries, kind, decimals, word]
                    for word in ("found", "possible", "none")
                }
                total.update({(kind, word): number for word, number in said.items()})
                cells.append(shares(said))
            print(f"| {queries} | {decimals} | " + " | ".join(cells) + " |")
    cells = [
        shares({word: total[kind, word] for word in ("found", "possible", "none")})
        for kind in kinds
    ]
    print("| all | all | " + " | ".join(cells) + " |")


def shares(said: dict[str, int]) -> str:
    whole = sum(said.values())
    return (
        ", ".join(f"{100 * said[word] / whole:.1f}" for word in ("found", "possible"))
        if whole
        else "–"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore", germane.GermaneWarning)
    write(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
    count_tables(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
