"""Record what pytrec_eval (trec_eval 9.0) and trec_eval 10.0 answer on small random collections.

    python tests/data/record_pytrec_eval.py [--trec-eval PATH]

writes pytrec_eval.json beside this file. Needs pytrec_eval-terrier. Without a path to the
trec_eval 10.0 binary, what was recorded from it before is kept. pytrec_eval crashes (a
segmentation fault) where the first query it evaluates has an empty run, so that one comes last; and
on a query whose every judgment is negative, for which trec_eval reads a number it never wrote, so
there is none.
"""

import argparse
import importlib
import importlib.metadata
import json
import math
import platform
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

JSON = Path(__file__).with_name("pytrec_eval.json")
SEED = 20240229
NOT_NUMBERS = {"runid", "relstring"}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

ODD_IDS = ["é", "e\u0301", "z", "漢字", "\uffee", "😀", "Z", "10", "9", "_", "ab", "a"]
"""Ids whose order differs between UTF-8 bytes, UTF-16 units, numbers and alphabets."""

TREC_10_MEASURES = [
    *("yaap", "rbp", "rbp_resid", "unj", "iprec_at_recall", "11pt_avg"),
    *("ndcg.1=1,2=3,3=10,4=30", "ndcg_rel.1=1,2=3,3=10,4=30"),
    *("Rndcg.1=1,2=3,3=10,4=30", "G.1=1,2=3,3=10,4=30"),
    *("set_F.4", "utility.2,-0.5,-1,0"),
]


def collection(rng: random.Random) -> tuple[Qrels, Run]:
    """About 30 queries with heavy ties: random ones, then one for each corner."""
    qrels: Qrels = {}
    run: Run = {}

    def add(
        name: str, grades: list[int], retrieved: int, unjudged: int, scores: list[float]
    ) -> None:
        judged = [f"d{i:02}" for i in rng.sample(range(100), len(grades))]
        others = [f"u{i:02}" for i in rng.sample(range(100), unjudged)]
        pool = judged + others
        qrels[name] = dict(zip(judged, grades, strict=True))
        run[name] = {
            item: rng.choice(scores) for item in rng.sample(pool, min(retrieved, len(pool)))
        }

    few = [0.5, 1.0, 1.25, 3.0]
    for i in range(18):
        weights = rng.choice([(1, 1, 8, 4, 3, 2, 1), (0, 0, 6, 5, 3, 2, 1), (3, 2, 4, 2, 1, 1, 1)])
        grades = rng.choices((-2, -1, 0, 1, 2, 3, 4), weights, k=rng.randint(2, 25))
        grades.append(rng.randint(0, 4))  # not every judgment is negative
        spread = rng.choice([few[:1], few[:2], few, [j / 8 for j in range(100)]])
        add(f"random{i:02}", grades, rng.randint(1, 40), rng.randint(0, 15), spread)

    add("no-relevant", [0, 0, 0, -1], 4, 3, few)
    add("no-relevant-retrieved-all", [0] * 6, 6, 0, few)
    add("only-grade-1", [1, 1, 0, 0, 0, 1], 8, 3, few)
    add("no-nonrelevant", [1, 2, 3, 1], 6, 5, few)
    add("no-nonrelevant-but-pooled", [2, 1, -1, -2, 4], 8, 4, few)
    add("one-of-one", [1], 1, 0, few)
    add("one-item", [3, 2, 1, 0, 0], 1, 0, few)
    add("perfect-prefix", [1, 1, 2, 2, 4, 0], 6, 0, [1.0])
    add("nothing-judged-retrieved", [2, 1, 0], 0, 7, few)
    run["nothing-judged-retrieved"] = {f"u{i:02}": rng.choice(few) for i in range(7)}
    add("more-relevant-than-retrieved", [1, 2, 3, 4] * 5, 6, 0, few)
    add("exactly-R-retrieved", [4, 4, 2, 1, 1], 5, 0, few)
    add("exactly-R-plus-1-retrieved", [4, 4, 2, 1, 1, 0], 6, 0, few)
    add("exactly-R-plus-2-retrieved", [4, 4, 2, 1, 1, 0, 0], 7, 0, few)
    add("thirty-relevant", [1] * 30, 40, 20, few)

    qrels["odd-ids"] = dict(zip(ODD_IDS, [1, 0, 2, 0, 3, 1, 0, -1, 4, 0, 1, 0], strict=True))
    run["odd-ids"] = dict.fromkeys(rng.sample(ODD_IDS, len(ODD_IDS)), 1.0)
    qrels["empty-run"], run["empty-run"] = {"a": 1, "b": 0, "c": 1}, {}  # must stay the last
    return qrels, run


def trec_10_collection() -> tuple[Qrels, Run]:
    """A handful of queries for the binary, which prints four decimals."""
    qrels = {
        "binary": {"a": 1, "b": 0, "c": 1, "d": 0, "e": 1},
        "graded": {"a": 4, "b": 0, "c": 2, "d": 1, "e": 3, "f": 0},
        "negative": {"a": 1, "b": -1, "c": 2, "d": 0, "e": -2},
        "all-judged": {"a": 1, "b": 0, "c": 0},
        "no-relevant": {"a": 0, "b": 0},
        "missing": {"a": 1, "b": 0, "c": 1},
        "half-levels": {f"d{i}": 1 for i in range(5)},
    }
    run = {
        "binary": {"x": 5.0, "c": 4.0, "b": 4.0, "a": 3.0, "y": 2.0},
        "graded": {"c": 9.0, "x": 8.0, "a": 7.0, "b": 6.0, "d": 6.0, "y": 5.0, "f": 4.0, "z": 3.0},
        "negative": {"b": 3.0, "a": 2.0, "x": 2.0, "e": 2.0, "c": 1.0, "d": 0.5, "y": 0.25},
        "all-judged": {"c": 3.0, "a": 2.0, "b": 1.0},
        "no-relevant": {"b": 2.0, "x": 1.0},
        "half-levels": {"d0": 9.0, "x": 8.0, "d1": 7.0, "y": 6.0, "d2": 5.0, "z": 4.0, "d3": 3.0},
    }
    return qrels, run


def number(value: float) -> float | None:
    """The value, not rounded; null for what is not a number."""
    return None if math.isnan(value) else value


def record_pytrec_eval() -> dict[str, Any]:
    """Every supported measure, for every query, with grades >= 1 and >= 2 relevant."""
    pytrec_eval: Any = importlib.import_module("pytrec_eval")
    qrels, run = collection(random.Random(SEED))
    values: dict[str, dict[str, list[float | None]]] = {}
    names: list[str] = []
    for level in (1, 2):
        evaluator = pytrec_eval.RelevanceEvaluator(
            qrels, pytrec_eval.supported_measures, relevance_level=level
        )
        answers = evaluator.evaluate(run)
        names = [name for name in answers["random00"] if name not in NOT_NUMBERS]
        values[str(level)] = {
            query: [number(answers[query][name]) for name in names] for query in run
        }
    return {
        "tool": "pytrec_eval-terrier",
        "version": importlib.metadata.version("pytrec_eval-terrier"),
        "python": platform.python_version(),
        "seed": SEED,
        "left out": sorted(NOT_NUMBERS),
        "qrels": qrels,
        "run": run,
        "measures": names,
        "values by relevance_level": values,
    }


def record_trec_10(binary: str) -> dict[str, Any]:
    """What `trec_eval -q -c` prints, four decimals, for a few measures."""
    qrels, run = trec_10_collection()
    with tempfile.TemporaryDirectory() as folder:
        qrels_file, run_file = Path(folder, "qrels.txt"), Path(folder, "run.txt")
        qrels_file.write_text(
            "".join(f"{q} 0 {d} {g}\n" for q in qrels for d, g in qrels[q].items()), "utf-8"
        )
        run_file.write_text(
            "".join(f"{q} Q0 {d} 0 {s} x\n" for q in run for d, s in run[q].items()), "utf-8"
        )
        values: dict[str, dict[str, float]] = {}
        for measure in TREC_10_MEASURES:
            command = [binary, "-q", "-c", "-n", "-m", measure, str(qrels_file), str(run_file)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            for line in printed.splitlines():
                name, query, value = line.split()
                asked = measure if "." in measure else name
                values.setdefault(query, {})[asked] = float(value)
    version = subprocess.run([binary, "-v"], capture_output=True, text=True, check=False)
    return {
        "tool": "trec_eval",
        "version": (version.stdout + version.stderr).strip(),
        "command": "trec_eval -q -c -n -m MEASURE",
        "measures asked": TREC_10_MEASURES,
        "qrels": qrels,
        "run": run,
        "values": values,
    }


def main() -> None:
    """Record, and write the file."""
    parser = argparse.ArgumentParser(description="Record what pytrec_eval and trec_eval answer.")
    parser.add_argument("--trec-eval", metavar="PATH", help="the trec_eval 10.0 binary")
    path = parser.parse_args().trec_eval
    before = json.loads(JSON.read_text("utf-8")) if JSON.exists() else {}
    recorded = {
        "pytrec_eval": record_pytrec_eval(),
        "trec_eval-10.0": record_trec_10(path) if path else before.get("trec_eval-10.0"),
    }
    text = json.dumps(recorded, ensure_ascii=False, allow_nan=False)
    JSON.write_text(text.replace('}, "', '},\n"').replace('], "', '],\n"') + "\n", "utf-8")


if __name__ == "__main__":
    main()
