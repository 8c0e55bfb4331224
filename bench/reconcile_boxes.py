"""Tables of detectors under known protocols, right and spoilt: does germane.boxes.reconcile_table find them again?

    python bench/reconcile_boxes.py [TABLES]

It prints the last section of bench/RECONCILE.md. Truths and detections are those of tests/boxes_sets.py.
"""

import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import germane
from boxes_sets import draw_traits, make_boxes
from germane.boxes.box_measures import parse_measure
from germane.boxes.conventions import Conventions
from germane.boxes.conventions_search import find_entry, read_dialect
from germane.boxes.dialect_table import DIALECTS
from germane.errors import GermaneError

KINDS = {
    "AP": "AP",
    "AP50": "AP50",
    "AP75": "AP75",
    "APs": "AP(area=small)",
    "APm": "AP(area=medium)",
    "APl": "AP(area=large)",
    "AR100": "AR@100",
}
CHANGES: tuple[dict[str, Any], ...] = (
    {"overlap": "iou+1"},
    {"crowds": "count"},
    {"crowds": "drop"},
    {"difficult": "count"},
    {"candidate": "best"},
    {"depth": 300, "depth_of": "image"},
    {"confidence": 0.05},
    {"no_truth": "zero"},
)
SHARED = {"unknown": "ignore"}
HEAD = """
# What germane.boxes.reconcile_table says of tables

{tables} tables of 2–4 detectors, 1–6 of the columns AP, AP50, AP75, APs, APm, APl and AR100, with one decimal of a percentage or three of a
share, under the conventions of a tool or one change. None to two cells are spoilt by up to .1.
"""


def draw_runs(rng: random.Random) -> tuple[Any, dict[str, Any]]:
    """Draw truths, and detectors that leave out some detections and score the others anew."""
    while True:
        seed = rng.randrange(10**6)
        truth, found = make_boxes(seed, draw_traits(seed))
        if len(found) > 60 and len(truth["annotations"]) > 30:
            break
    runs = {}
    for name in rng.sample(("ours", "base", "large", "tiny"), rng.randint(2, 4)):
        keep = rng.uniform(0.5, 1)
        runs[name] = [
            one | {"score": 0.5 * one["score"] + 0.5 * rng.random()}
            for one in found
            if rng.random() < keep
        ]
    return truth, runs


def draw_values(rng: random.Random, truth: Any, runs: dict[str, Any]) -> tuple[str, dict]:
    """Evaluate some measures of the runs under a protocol."""
    labels = rng.sample(list(KINDS), rng.randint(1, 6))
    if rng.random() < 0.5:
        tools = [one for one in DIALECTS if read_dialect(one, "overlap") not in ("mask", "oks")]
        tool = rng.choice(tools)
        labels = [
            one for one in labels if find_entry(tool, parse_measure(KINDS[one]), Conventions())
        ]
        kind, options = "a tool's", {"dialect": tool.name}
    else:
        kind, options = "changed", rng.choice(CHANGES)
    if not labels:
        raise GermaneError
    values: dict = {name: {} for name in runs}
    for label in labels:
        for name, found in runs.items():
            asked = KINDS[label]
            if "dialect" in options:  # its own definition
                entry = find_entry(tool, parse_measure(asked), Conventions())
                asked = entry.write_name(100)
            result = germane.boxes.evaluate(truth, found, asked, **{**SHARED, **options})
            values[name][label] = next(iter(result.values())).mean
    return kind, values


def write(values: dict, percent: bool) -> dict:
    return {
        r: {c: f"{v * 100:.1f}" if percent else f"{v:.3f}" for c, v in row.items()}
        for r, row in values.items()
    }


def spoil(rng: random.Random, values: dict, written: dict, percent: bool) -> set:
    places = [(r, c) for r in values for c in values[r]]
    spoilt = set()
    for r, c in rng.sample(places, min(rng.choice((0, 1, 2)), max(len(places) - 3, 0))):
        wrong = min(max(values[r][c] + rng.choice((-1, 1)) * rng.uniform(0.005, 0.1), 0), 1)
        text = write({r: {c: wrong}}, percent)[r][c]
        if text != written[r][c]:
            written[r][c] = text
            spoilt.add((r, c))
    return spoilt


def try_table(at: int, said: Counter) -> str:
    """Draw a table, ask what gives it, and what gives wrong ones of its shape."""
    rng = random.Random(at)
    while True:
        truth, runs = draw_runs(rng)
        try:
            kind, values = draw_values(rng, truth, runs)
        except GermaneError:
            continue
        if all(v == v for row in values.values() for v in row.values()):
            break
    percent = rng.random() < 0.5
    table = write(values, percent)
    spoilt = spoil(rng, values, table, percent)
    found = germane.boxes.reconcile_table(truth, runs, table, **SHARED)
    off = {(one.run, one.column) for one in found.off}
    word = (
        "found" if found and off == spoilt else "claimed, wrong cells" if found else "not claimed"
    )
    said[kind, word] += 1
    said["spoilt"] += len(spoilt)
    said["named"] += len(spoilt & off) if found else 0
    for name, number in (
        ("any number", lambda v: rng.random()),
        ("near the right one", lambda v: min(max(v + rng.gauss(0, 0.05), 0), 1)),
    ):
        wrong = {r: {c: number(v) for c, v in row.items()} for r, row in values.items()}
        given = germane.boxes.reconcile_table(truth, runs, write(wrong, percent), **SHARED)
        said["wrong", name, bool(given)] += 1
    note = (
        f"{at}: {kind}, {len(runs)}×{len(next(iter(values.values())))}, spoilt {sorted(spoilt)}: "
    )
    return note + f"{word}; {found.verdict} off {sorted(off)}"


def main(tables: int) -> None:
    warnings.simplefilter("ignore")
    said: Counter = Counter()
    for at in range(tables):
        print(try_table(at, said), file=sys.stderr, flush=True)
    print(HEAD.format(tables=tables))
    print("| tables | found | claimed, wrong cells | not claimed |\n|---|---|---|---|")
    for kind in ("a tool's", "changed"):
        words = ("found", "claimed, wrong cells", "not claimed")
        print(f"| {kind} | " + " | ".join(str(said[kind, word]) for word in words) + " |")
    print(f"\nSpoilt cells: {said['spoilt']}, of which {said['named']} are named.\n")
    print("| wrong tables | tables | claimed |\n|---|---|---|")
    for name in ("any number", "near the right one"):
        claimed, rest = said["wrong", name, True], said["wrong", name, False]
        print(f"| {name} | {claimed + rest} | {claimed} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
