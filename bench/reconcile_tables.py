"""Tables of known protocols, right and spoilt, for bench/reconcile.py: does reconcile_table find them again?"""

import contextlib
import random
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from audit import draw_collection

import germane
from germane.core.policy import Policy
from germane.dialects.families import DIALECTS
from germane.dialects.names import parse
from germane.errors import GermaneError
from germane.forensics.variations import NO_NUMBER, vary_measure
from germane.measures.measure import Measure

KINDS = ("AP", "AP@10", "nDCG@10", "nDCG@5", "P@5", "P@10", "R@10", "R@20", "RR", "RR@10")
LABELS = {"AP": "MAP", "RR": "MRR", "nDCG": "NDCG", "R": "Recall", "P": "P"}

HEAD = """
# What reconcile_table says of tables

{tables} tables of 2–6 runs and 1–5 columns with 3 or 4 decimals, of random protocols: a tool's, or one or two conventions or
parameters changed. None to two cells are spoilt by up to .1. A protocol counts as *found* where it is claimed and every cell
that it computes is the true one; then exactly the spoilt cells are off. Wrong tables have the same shape: any numbers
from 0 to 1; numbers near the right ones (standard deviation .05); and the right numbers of the lists in random order.
"""


def draw_definitions(rng: random.Random) -> tuple[str, dict[str, tuple[Measure, dict[str, Any]]]]:
    """A protocol: by label the measure and its conventions."""
    kinds = rng.sample(KINDS, rng.randint(1, 5))
    if rng.random() < 0.5:
        tool = rng.choice(DIALECTS)
        found = {}
        for kind in kinds:
            one = next(tool.list_definitions(parse(kind)), None)
            if one is not None:
                label = one.name if rng.random() < 0.5 else write_label(kind)
                found[label] = one.measure, {**tool.choices, **one.choices}
        return tool.name, found
    shared: dict[str, Any] = {}
    changes = rng.choice((1, 2))
    measures = {write_label(kind): parse(kind) for kind in kinds}
    for _ in range(changes):
        if rng.random() < 0.4:
            label = rng.choice(list(measures))
            measures[label] = rng.choice(list(vary_measure(measures[label], (1.0, 2.0))))
        else:
            name = rng.choice([*Policy.WORDS, *Policy.WORDS, *Policy.RARE_WORDS, "depth"])
            words = (100, 20, 10) if name == "depth" else (Policy.WORDS | Policy.RARE_WORDS)[name]
            word = rng.choice([one for one in words if one not in NO_NUMBER])
            shared[name] = word
    return "changed", {label: (measure, shared) for label, measure in measures.items()}


def write_label(kind: str) -> str:
    name, at, k = kind.partition("@")
    return LABELS[name] + at + k


def draw_table(rng: random.Random) -> tuple[Any, Any, dict, dict, str]:
    """Draw judgments, runs, and the true values of a protocol by run and label."""
    while True:
        kind, definitions = draw_definitions(rng)
        if not definitions:
            continue
        qrels, runs = draw_collection(rng)
        runs = {**runs, **{f"{n}+": run for n, run in draw_more(rng, qrels).items()}}
        names = rng.sample(list(runs), rng.randint(2, 6))
        runs = {name: runs[name] for name in names}
        values: dict = {name: {} for name in names}
        try:
            for label, (measure, choices) in definitions.items():
                for name, run in runs.items():
                    mean = germane.evaluate(qrels, run, measure, **choices)[str(measure)].mean
                    values[name][label] = mean
        except (GermaneError, KeyError):
            continue
        if all(v == v for row in values.values() for v in row.values()):
            return qrels, runs, values, definitions, kind


def draw_more(rng: random.Random, qrels: dict) -> dict:
    items = [f"d{i}" for i in range(120)]
    found = {}
    for name in ("a", "b", "c"):
        skill = rng.uniform(0, 2)
        found[name] = {
            q: {
                d: round(rng.gauss(skill * (qrels[q].get(d, 0) > 0), 1), 2)
                for d in rng.sample(items, 50)
            }
            for q in qrels
            if rng.random() > 0.02
        }
    return found


def write(values: dict, decimals: int) -> dict:
    return {r: {c: f"{v:.{decimals}f}" for c, v in row.items()} for r, row in values.items()}


def spoil(rng: random.Random, table: dict, cells: int, decimals: int) -> set:
    spoilt = set()
    places = [(r, c) for r in table for c in table[r]]
    for r, c in rng.sample(places, min(cells, max(len(places) - 2, 0))):
        right = float(table[r][c])
        moved = min(max(right + rng.choice((-1, 1)) * rng.uniform(0.003, 0.1), 0), 1)
        if f"{moved:.{decimals}f}" != table[r][c]:
            table[r][c] = f"{moved:.{decimals}f}"
            spoilt.add((r, c))
    return spoilt


def count_tables(tables: int, processes: int = 4) -> None:
    """Count what reconcile_table says, and print it."""
    said: Counter = Counter()
    slow = 0.0
    with ProcessPoolExecutor(processes) as pool:
        for done, (one, notes, seconds) in enumerate(pool.map(try_table, range(tables)), 1):
            said += one
            slow = max(slow, seconds)
            for note in notes:
                print(note, file=sys.stderr, flush=True)
            if done % 20 == 0:
                print(f"{done} tables: {dict(said)}, {slow:.1f} s", file=sys.stderr, flush=True)
    print_counts(tables, said, slow)


def try_table(at: int) -> tuple[Counter, list[str], float]:
    """Draw a table, spoil it, and make wrong ones of its shape."""
    warnings.simplefilter("ignore")
    rng, said, notes = random.Random(at), Counter(), []
    qrels, runs, values, definitions, kind = draw_table(rng)
    kind = "changed" if kind == "changed" else "a tool's"
    decimals, cells = rng.choice((3, 4)), rng.choice((0, 1, 2))
    table = write(values, decimals)
    spoilt = spoil(rng, table, cells, decimals)
    start = time.process_time()
    found = germane.reconcile_table(qrels, runs, table)
    seconds = time.process_time() - start
    off = {(one.run, one.column) for one in found.off}
    size = "4 cells or fewer" if sum(map(len, table.values())) <= 4 else "more"
    right = bool(found) and off == spoilt
    word = "found" if right else "claimed, wrong cells" if found else "not claimed"
    said[kind, size, word] += 1
    said["spoilt", "all", "cells"] += len(spoilt)
    said["spoilt", "all", "named"] += len(spoilt & off) if found else 0
    if not right:
        notes.append(
            f"{at}: {kind} {decimals} decimals, {len(runs)}×{len(definitions)}, spoilt {len(spoilt)}: {word}; "
            f"{[(str(m), c) for m, c in definitions.values()]}; got {found.protocol} off {len(off)} {found.chance:.2g}"
        )
    shuffled = {
        name: {
            q: dict(zip(rng.sample(list(got), len(got)), got.values(), strict=True))
            for q, got in run.items()
        }
        for name, run in runs.items()
    }
    wrong = {
        "any number": {r: {c: rng.random() for c in row} for r, row in values.items()},
        "near the right one": {
            r: {c: min(max(v + rng.gauss(0, 0.05), 0), 1) for c, v in row.items()}
            for r, row in values.items()
        },
    }
    with contextlib.suppress(GermaneError):
        wrong["lists in random order"] = {
            r: {
                c: germane.evaluate(qrels, shuffled[r], m, **p)[str(m)].mean
                for c, (m, p) in definitions.items()
            }
            for r in values
        }
    for name, numbers in wrong.items():
        if write(numbers, decimals) == write(values, decimals):
            continue  # such as zeros of a geometric mean
        given = germane.reconcile_table(qrels, runs, write(numbers, decimals))
        said["wrong", name, "claimed" if given else "not"] += 1
        if given:
            notes.append(f"{at} {name} claimed: {given.verdict}")
    return said, notes, seconds


def print_counts(tables: int, said: Counter, slow: float) -> None:
    print(HEAD.format(tables=tables))
    print("| tables | found | claimed, wrong cells | not claimed |\n|---|---|---|---|")
    for kind in ("a tool's", "changed"):
        for size in ("4 cells or fewer", "more"):
            row = [
                said[kind, size, word] for word in ("found", "claimed, wrong cells", "not claimed")
            ]
            print(f"| {kind}, {size} | " + " | ".join(map(str, row)) + " |")
    print(
        f"\nSpoilt cells: {said['spoilt', 'all', 'cells']}, of which {said['spoilt', 'all', 'named']} are named.\n"
    )
    print("| wrong tables | tables | claimed |\n|---|---|---|")
    for name in ("any number", "near the right one", "lists in random order"):
        claimed, rest = said["wrong", name, "claimed"], said["wrong", name, "not"]
        print(f"| {name} | {claimed + rest} | {claimed} |")
    print(f"\nThe slowest table took {slow:.1f} s of CPU.")


if __name__ == "__main__":
    count_tables(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
