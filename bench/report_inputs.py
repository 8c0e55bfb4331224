"""Make the inputs of a large report: ten runs, two thousand queries, and the texts of both sides.

    python bench/report_inputs.py FOLDER [--runs 10] [--queries 2000] [--depth 100]

prints the command that makes the report. The same arguments give the same files.
"""

import argparse
import json
from pathlib import Path

import numpy as np

ITEMS = 20_000
JUDGED = 30  # items a query
SUBJECTS = [
    "river",
    "glass",
    "copper",
    "winter",
    "garden",
    "signal",
    "harbor",
    "lantern",
    "meadow",
    "engine",
    "paper",
    "violin",
]
VERBS = ["crosses", "repairs", "follows", "paints", "measures", "forgets", "carries", "opens"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--depth", type=int, default=100)
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    judged = rng.permuted(np.tile(np.arange(ITEMS), (1, 1)), axis=1)  # one shuffle of all items
    queries = [f"q{i:04}" for i in range(options.queries)]
    items = [f"doc{i:05}" for i in range(ITEMS)]
    starts = rng.integers(0, ITEMS - 400, options.queries)
    grades = rng.choice(4, (options.queries, JUDGED), p=[0.6, 0.25, 0.1, 0.05])
    pool = [judged[0, start : start + 400] for start in starts]
    with open(folder / "qrels.txt", "w") as file:
        for query, near, given in zip(queries, pool, grades, strict=True):
            file.writelines(
                f"{query} 0 {items[i]} {grade}\n" for i, grade in zip(near, given, strict=False)
            )
    for r in range(options.runs):
        with open(folder / f"system-{r:02}.run", "w") as file:
            for q, query in enumerate(queries):
                score = rng.normal(0, 1, 400)
                score[:JUDGED] += (0.4 + 0.12 * r) * grades[q]
                best = np.argsort(-score)[: options.depth]
                file.writelines(
                    f"{query} Q0 {items[pool[q][i]]} {rank} {score[i]:.5f} s\n"
                    for rank, i in enumerate(best, 1)
                )
    words = rng.integers(0, len(SUBJECTS), (ITEMS, 12))
    with open(folder / "items.jsonl", "w") as file:
        for i, item in enumerate(items):
            text = " ".join(f"the {SUBJECTS[w]} {VERBS[w % len(VERBS)]}" for w in words[i].tolist())
            file.write(json.dumps({"id": item, "title": f"Item {i}", "text": text}) + "\n")
    with open(folder / "queries.tsv", "w") as file:
        file.writelines(
            f"{query}\twhich {SUBJECTS[q % 12]} {VERBS[q % 8]} the {SUBJECTS[q * 7 % 12]}?\n"
            for q, query in enumerate(queries)
        )
    runs = " ".join(str(folder / f"system-{r:02}.run") for r in range(options.runs))
    print(
        f"germane report {folder / 'qrels.txt'} {runs} --queries {folder / 'queries.tsv'} "
        f"--items {folder / 'items.jsonl'} -o {folder / 'report.html'}"
    )


if __name__ == "__main__":
    main()
