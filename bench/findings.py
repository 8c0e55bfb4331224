"""The share of an evaluation of 5,000 rows that its findings take: ``python bench/findings.py``.

The shortest time inside the checks over the shortest time of the rest of the same calls, so that a
busy machine matters little.
"""

import importlib
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

import germane

CALLS = 300
CHECKS = (
    ("germane.evaluation.evaluate", "check_evaluation"),
    ("germane.evaluation.collection", "refuse_swapped"),
)
spent = 0.0


def timed(function: Any) -> Any:
    def call(*given: Any) -> Any:
        global spent
        start = time.perf_counter()
        try:
            return function(*given)
        finally:
            spent += time.perf_counter() - start

    return call


def data() -> tuple[dict[str, Any], dict[str, Any]]:
    """50 queries with 20 judgments and 100 results each; 12 of the judged items are among them."""
    rng = random.Random(0)
    qrels, run = {}, {}
    for query in (f"q{n}" for n in range(50)):
        judged = {f"doc-{rng.randrange(100_000)}": rng.choice([0, 1, 1]) for _ in range(20)}
        items = [*judged][:12] + [f"doc-{rng.randrange(100_000)}" for _ in range(90)]
        items = list(dict.fromkeys(items))[:100]
        rng.shuffle(items)
        qrels[query] = judged
        run[query] = {item: 20 - place / 5 for place, item in enumerate(items)}
    return qrels, run


def main() -> None:
    global spent
    importlib.import_module("germane.evaluation.evaluate")
    for module, name in CHECKS:
        held = sys.modules[module]
        setattr(held, name, timed(getattr(held, name)))
    qrels, run = data()
    rows = [(q, item, s) for q, held in run.items() for item, s in held.items()]
    columns = zip(("query", "item", "score"), map(list, zip(*rows, strict=True)), strict=True)
    with TemporaryDirectory() as folder:
        paths = Path(folder, "qrels"), Path(folder, "run")
        judged = (f"{q} 0 {i} {g}\n" for q, held in qrels.items() for i, g in held.items())
        paths[0].write_text("".join(judged))
        paths[1].write_text("".join(f"{q} Q0 {i} {n} {s} t\n" for n, (q, i, s) in enumerate(rows)))
        for name, given in {
            "TREC files": paths,
            "dicts": (qrels, run),
            "lists": (qrels, {query: list(held) for query, held in run.items()}),
            "Arrow table": (qrels, pa.table(dict(columns))),
        }.items():
            inside, others = [], []
            for _ in range(CALLS):
                spent, start = 0.0, time.perf_counter()
                germane.evaluate(*given, "AP nDCG@10")
                others.append(time.perf_counter() - start - spent)
                inside.append(spent)
            checks, rest = min(inside), min(others)
            print(f"{name:12} {checks * 1e6:5.0f} µs beside {rest * 1e6:5.0f}: {checks / rest:.0%}")


if __name__ == "__main__":
    main()
