"""Measures of subtopics beside pyndeval: 50 queries × 1,000 results × 10 subtopics.

    pip install . pyndeval
    python bench/subtopics.py [PYTHON-WITH-PYNDEVAL]

Every measurement is a process of its own, the tools take turns, and the table has the median CPU time. Both
compute all of pyndeval's measures at 5, 10 and 20, and their values for every query are compared.
"""

import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE / "data" / "subtopics"
RESULTS = HERE / "SUBTOPICS.md"
QUERIES, RESULTS_EACH, SUBTOPICS, REPEATS = 50, 1000, 10, 5
CUT = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
NAMES = [*(f"{name}@{k}" for name in CUT for k in (5, 10, 20)), "NRBP", "nNRBP", "MAP-IA"]
Rows = tuple[list[tuple[str, str, str, int]], list[tuple[str, str, float]]]


def make(judged: int) -> Path:
    """Write qrels and run as TREC files: so many items a query judged for every subtopic, a third relevant."""
    folder = DATA / str(judged)
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(judged)
    with (folder / "qrels").open("w") as qrels, (folder / "run").open("w") as run:
        for query in range(QUERIES):
            items = rng.sample(range(100_000), RESULTS_EACH + judged // 2)
            pool = items[: judged // 2] + items[-(judged - judged // 2) :]
            for item in pool:
                for subtopic in range(SUBTOPICS):
                    grade = int(rng.random() < 1 / (2 + subtopic))
                    qrels.write(f"{query} {subtopic} d{item} {grade}\n")
            ranked = rng.sample(items[:RESULTS_EACH], RESULTS_EACH)
            for rank, item in enumerate(ranked, 1):
                run.write(f"{query} Q0 d{item} {rank} {1000 - rank + rng.random():.6f} x\n")
    return folder


def read_rows(folder: Path) -> Rows:
    qrels, run = [], []
    for line in (folder / "qrels").open():
        query, subtopic, item, grade = line.split()
        qrels.append((query, subtopic, item, int(grade)))
    for line in (folder / "run").open():
        query, _, item, _, score, _ = line.split()
        run.append((query, item, float(score)))
    return qrels, run


def call_pyndeval(rows: Rows) -> Callable[[], Any]:
    import pyndeval

    return lambda: pyndeval.RelevanceEvaluator(rows[0], NAMES).evaluate(rows[1])


def collect(result: Any) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for name, one in zip(NAMES, result.values(), strict=True):
        for query, value in one.per_query.items():
            found.setdefault(query, {})[name] = value
    return found


def call_germane(rows: Rows) -> Callable[[], Any]:
    import germane

    qrels: dict[str, dict[str, dict[str, int]]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, subtopic, item, grade in rows[0]:
        qrels.setdefault(query, {}).setdefault(item, {})[subtopic] = grade
    for query, item, score in rows[1]:
        run.setdefault(query, {})[item] = score
    return lambda: collect(germane.evaluate(qrels, run, NAMES, dialect="ndeval"))


def call_germane_files(folder: Path) -> Callable[[], Any]:
    import germane

    files = str(folder / "qrels"), str(folder / "run")
    return lambda: collect(germane.evaluate(*files, NAMES, dialect="ndeval"))


def measure(what: str, folder: Path) -> None:
    """Make one call that is not counted, then time one; of files, reading belongs to it."""
    if what == "germane files":
        call = call_germane_files(folder)
    elif what == "pyndeval files":
        call = lambda: call_pyndeval(read_rows(folder))()  # noqa: E731
    else:
        call = {"germane": call_germane, "pyndeval": call_pyndeval}[what](read_rows(folder))
    values = call()
    start = time.process_time()
    call()
    print(json.dumps({"cpu": time.process_time() - start, "values": values}))


def compare(one: Any, other: Any) -> float:
    """The largest difference between the values of two tools."""
    assert one.keys() == other.keys()
    return max(abs(one[q][name] - other[q][name]) for q in one for name in NAMES)


def run_all(python: str) -> list[str]:
    lines = []
    for judged in (100, 200, 1000):
        folder = make(judged)
        cpu: dict[str, list[float]] = {}
        values: dict[str, Any] = {}
        for _ in range(REPEATS):
            for what in ("germane", "pyndeval", "germane files", "pyndeval files"):
                with_tool = python if what.startswith("pyndeval") else sys.executable
                command = [with_tool, __file__, "--measure", what, str(folder)]
                found = json.loads(
                    subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
                )
                cpu.setdefault(what, []).append(found["cpu"])
                values[what] = found["values"]
        apart = max(compare(values["pyndeval"], one) for one in values.values())
        median = {what: statistics.median(times) for what, times in cpu.items()}
        for form in ("", " files"):
            mine, theirs = median[f"germane{form}"], median[f"pyndeval{form}"]
            given = "TREC files, reading included" if form else "in memory, the call alone"
            lines.append(
                f"| {judged} | {given} | {mine:.3f} | {theirs:.3f} | {theirs / mine:.1f} | {apart:.0e} |"
            )
    return lines


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], Path(sys.argv[3]))
        return
    lines = run_all(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
    head = (
        "# Measures of subtopics\n\n"
        "`python bench/subtopics.py` wrote this page: germane beside pyndeval 0.0.8, which wraps ndeval's C code, "
        f"on {QUERIES} queries × {RESULTS_EACH:,} results × {SUBTOPICS} subtopics. Both compute all of pyndeval's measures at "
        "5, 10 and 20, for every query. In memory each tool is given what it takes: pyndeval lists of tuples, germane "
        "dicts. CPU seconds, medians of five processes; the last column is the largest difference between the "
        "values of the two tools.\n\n"
        "| items judged a query | given as | germane | pyndeval | × | differ by |\n"
        "|---:|---|---:|---:|---:|---:|\n"
    )
    RESULTS.write_text(head + "\n".join(lines) + "\n", "utf-8")
    print(RESULTS.read_text("utf-8"))


if __name__ == "__main__":
    main()
