"""Measure what has a budget: the stand-in for trec_eval beside trec_eval, and all dialects on tied data.

    python bench/budgets.py [--trec-eval PROGRAM] [--repeats N]

Prints CPU seconds and ratios, medians of runs that take turns, and ends with status 1 where a budget
is exceeded. The workloads are those of bench/workloads.py.
"""

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from workloads import WORKLOADS

HERE = Path(__file__).parent
# Flags of trec_eval, and the share of its CPU time that germane may take.
BUDGETS = (((), 0.25), (("-m", "map"), 0.25), (("-q", "-m", "all_trec"), 0.5))
DIALECTS = 5.0  # CPU seconds


def cpu(command: list[str]) -> float:
    """CPU seconds of a process."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit {process.returncode} from: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def paths(workload: str) -> list[str]:
    """The workload's qrels and run, made where they are not there."""
    subprocess.run([sys.executable, str(HERE / "workloads.py"), workload], check=True)
    return list(map(str, WORKLOADS[workload].paths(quick=False)))


def row(name: str, value: float, budget: float, more: str = "") -> bool:
    """Print one line; is it within its budget?"""
    print(f"{name:28} {value:6.2f}   at most {budget:g}{more}", flush=True)
    return value <= budget


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trec-eval", default="trec_eval", metavar="PROGRAM")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    germane = [sys.executable, "-m", "germane"]
    files, kept = paths("files"), []
    for flags, budget in BUDGETS:
        pairs = [
            (
                cpu([*germane, "trec_eval", *flags, *files]),
                cpu([given.trec_eval, *flags, *files]),
            )
            for _ in range(given.repeats)
        ]
        ours, theirs = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
        more = f"   ({ours:.2f} s of {theirs:.2f} s)"
        kept.append(row(f"trec_eval {' '.join(flags)}", ours / theirs, budget, more))
    command = [*germane, "dialects", *paths("tied"), "-m", "AP@10"]
    seconds = statistics.median(cpu(command) for _ in range(given.repeats))
    kept.append(row("germane dialects, CPU s", seconds, DIALECTS))
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
