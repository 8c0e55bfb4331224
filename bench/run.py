"""Time germane beside its peers, check that they agree, and write bench/RESULTS.md.

    python bench/run.py [--only NAME…] [--tools NAME…] [--repeats N] [--quick]

Every measurement is a process of its own; the tools take turns, and a table shows medians. A section that
was measured with all tools at full size is kept in bench/data/ and RESULTS.md is written from what is
there, so measuring one section again keeps the others.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from report import Section, render
from tools import DICTS, FILES, FRAMES, MEASURES, PARQUET, SEVERAL
from workloads import DATA, WORKLOADS

HERE = Path(__file__).parent
TREC_EVAL = ["trec_eval", "-c"]
for _name in ("map", "P.10", "recip_rank", "recall.1000", "ndcg_cut.10"):
    TREC_EVAL += ["-m", _name]
PRINTED = dict(
    zip(("map", "P_10", "recip_rank", "recall_1000", "ndcg_cut_10"), MEASURES, strict=True)
)
# what needs other versions of the same libraries has an environment of its own
ELSEWHERE = {"rectools": HERE / ".rectools" / "bin" / "python"}
PACKAGES = {"pytrec_eval": "pytrec_eval-terrier", "ir_measures": "ir-measures"}


def command(tool: str, qrels: str, run: str) -> list[str]:
    """What evaluates two files with a tool."""
    if library(tool) == "germane":
        asked = ["-m", " ".join(MEASURES), "--format", "json"]
        return [str(Path(sys.executable).with_name("germane")), "evaluate", qrels, run, *asked]
    if tool == "trec_eval":
        return [*TREC_EVAL, qrels, run]
    return [sys.executable, str(HERE / "tools.py"), "files", tool, qrels, run]


def means(tool: str, printed: str) -> dict[str, float]:
    """The five values in what a tool printed."""
    if library(tool) == "germane":
        rows = json.loads(printed)["runs"][0]["measures"]
        return {re.sub(r"\(.*?\)", "", row["measure"]): row["mean"] for row in rows}
    if tool == "trec_eval":
        fields = [line.split() for line in printed.splitlines()]
        return {PRINTED[name]: float(value) for name, _, value in fields}
    values: dict[str, float] = json.loads(printed)
    return values


def spawn(arguments: list[str], tool: str = "") -> tuple[str, dict[str, float]]:
    """Run a command to its end; what it printed, and the CPU, time and memory of the process."""
    start = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdout=pipe, text=True, env=environment(tool)) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit {process.returncode} from: {' '.join(arguments)}")
    unit = 1 if sys.platform == "darwin" else 1024
    cost = {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "bytes": float(usage.ru_maxrss * unit),
    }
    return printed, cost


def environment(tool: str) -> dict[str, str]:
    """This environment, but with bytecode kept: a tool is not to be compiled anew in every process.

    ``germane plain`` runs without the compiled kernel.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | ({"GERMANE_KERNEL": "0"} if tool.startswith("germane plain") else {})


def measure(workload: str, tool: str, qrels: str, run: str) -> dict[str, Any]:
    """The values that one process of a tool computed, and its samples."""
    if workload == "files":
        printed, cost = spawn(command(tool, qrels, run), tool)
        return {"values": means(tool, printed), "samples": [cost | {"startup": startup(tool)}]}
    python = str(ELSEWHERE.get(library(tool), sys.executable))
    script = [python, str(HERE / "tools.py"), held(workload), tool, qrels, run]
    found: dict[str, Any] = json.loads(spawn(script, tool)[0])
    return found


def held(workload: str) -> str:
    """What the data of a workload is when a tool is given it."""
    first = workload.partition("-")[0]
    return first if first in ("files", "frames", "measures", "parquet") else "dicts"


def startup(tool: str) -> float:
    """CPU seconds of the same process on ten results: imports and compilation, at any size."""
    small = map(str, WORKLOADS["small"].paths(quick=False))
    return spawn(command(tool, *small), tool)[1]["cpu"]


def measure_all(workload: str, tools: list[str], *, repeats: int, quick: bool) -> Section:
    """All tools in turns. For files, an unmeasured turn first: page cache, bytecode, numba's cache."""
    say(f"{workload}: data")
    make = [sys.executable, str(HERE / "workloads.py")]
    subprocess.run([*make, workload, *["--quick"] * quick], check=True)
    subprocess.run([*make, "small"], check=True)
    qrels, run = map(str, WORKLOADS[workload].paths(quick=quick))
    values: dict[str, dict[str, float]] = {}
    samples: dict[str, list[dict[str, float]]] = {tool: [] for tool in tools}
    for turn in range(0 if workload == "files" else 1, repeats + 1):
        for tool in tools:
            got = measure(workload, tool, qrels, run)
            values[tool] = got["values"]
            if turn:
                samples[tool] += got["samples"]
            cpu = got["samples"][-1]["cpu"]
            say(f"{workload}: {f'{turn}/{repeats}' if turn else 'warm-up'} {tool} {cpu:.4g} s CPU")
    return {
        "workload": workload,
        "repeats": repeats,
        "quick": quick,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {tool: version(tool) for tool in tools},
        "values": values,
        "samples": samples,
    }


def available(workload: str) -> list[str]:
    """The tools that can be asked, germane first."""
    names = {
        "files": ["germane", "germane plain", "trec_eval", *FILES],
        "frames": [*FRAMES],
        "measures": [*SEVERAL],
        "parquet": [*PARQUET],
        "dicts": [*DICTS],
    }[held(workload)]
    return [name for name in names if is_here(name)]


def is_here(tool: str) -> bool:
    """Whether a tool is installed; a folder that only has germane's name is not germane."""
    if tool == "trec_eval":
        return shutil.which(tool) is not None
    if library(tool) in ELSEWHERE:
        return ELSEWHERE[library(tool)].exists()
    spec = importlib.util.find_spec(library(tool))
    return spec is not None and spec.origin is not None


def library(tool: str) -> str:
    """The library of a tool, which may be used in more than one way."""
    return tool.partition(" ")[0]


def version(tool: str) -> str:
    """The version of an installed tool."""
    if tool == "trec_eval":
        asked = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
        return (asked.stdout + asked.stderr).split()[-1]
    name = library(tool)
    if name in ELSEWHERE:
        told = f"import importlib.metadata as m; print(m.version({name!r}))"
        return spawn([str(ELSEWHERE[name]), "-c", told])[0].strip()
    try:
        return importlib.metadata.version(PACKAGES.get(name, name))
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def machine() -> str:
    """Processor, cores, memory, system and Python, in one line."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")
        ]
        processor = models[0].split(":", 1)[1].strip() if models else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, {python}"


def say(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def stored(workload: str) -> Path:
    """Where the raw measurements of a section are kept."""
    return DATA / f"results-{workload}.json"


def main() -> None:
    """Measure what was asked, print it, and write RESULTS.md when it is comparable."""
    parser = argparse.ArgumentParser(description="Time germane beside its peers.")
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--tools", nargs="+", help="only these; the result is printed, not kept")
    parser.add_argument("--repeats", type=int, default=3, help="processes per tool (3)")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the size; not kept")
    parser.add_argument("--render", action="store_true", help="measure nothing, write RESULTS.md")
    asked = parser.parse_args()

    sections = []
    for workload in [] if asked.render else asked.only:
        tools = [t for t in available(workload) if asked.tools is None or t in asked.tools]
        section = measure_all(workload, tools, repeats=asked.repeats, quick=asked.quick)
        sections.append(section)
        if asked.tools is None and not asked.quick:
            stored(workload).write_text(json.dumps(section, indent=1))
    if asked.tools is None and not asked.quick:
        sections = [json.loads(stored(w).read_text()) for w in WORKLOADS if stored(w).exists()]
        (HERE / "RESULTS.md").write_text(render(sections), encoding="utf-8")
    print(render(sections))


if __name__ == "__main__":
    main()
