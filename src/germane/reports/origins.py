"""The origin of a report, and the runs that are read again."""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane._version import VERSION
from germane.core.progress import Progress
from germane.errors import GermaneError
from germane.evaluation.opening import Inputs
from germane.evaluation.result import Results
from germane.forensics.spread import Spread, spread_each
from germane.readers import InputFormat, ReadOptions, RunInput, is_searched, open_run
from germane.readers.files import formats
from germane.readers.files.formats import is_path
from germane.readers.files.streams import explain_os_error

BLOCK = 2**20
ROOM = 5_000_000  # results that are read again and held in memory, of all runs together


@dataclass(frozen=True)
class Origin:
    """The inputs of a report, the versions, and the command where there was one."""

    inputs: tuple[tuple[str, str, str, str], ...]  # name; path or type; size and SHA-256 of a file
    versions: Mapping[str, str]
    command: str | None


def describe_origin(
    qrels: Any, runs: Mapping[str, Any], command: str | None, progress: Progress | None
) -> Origin:
    """Describe the inputs: their names, sizes and hashes."""
    sources = {"judgments": qrels, **{f"run {name}": run for name, run in runs.items()}}
    inputs = tuple(_describe(name, source, progress) for name, source in sources.items())
    python = platform.python_version()
    versions = {"germane": VERSION, "NumPy": np.__version__, "Python": python}
    return Origin(inputs, versions, command)


def _describe(name: str, raw: Any, progress: Progress | None) -> tuple[str, str, str, str]:
    if not is_path(raw):
        return name, f"from memory ({type(raw).__name__})", "", ""
    path = os.fspath(raw)
    if not os.path.isfile(path):  # standard input and pipes cannot be read twice
        return name, "standard input" if path == "-" else path, "", ""
    size = os.path.getsize(path)
    return name, path, f"{size:,}", _hash(path, size, progress)


def _hash(path: str, size: int, progress: Progress | None) -> str:
    digest, done = hashlib.sha256(), 0
    with explain_os_error(path), open(path, "rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            if progress is not None:
                progress(f"hash of {path}", done, size)
    return digest.hexdigest()


# --- Runs that are read again -----------------------------------------------------------------


def select_runs(
    runs: Mapping[str, Any], results: Results, input_format: InputFormat
) -> dict[str, Any]:
    """Select the first runs that are not too large to be read again; TREC files are loaded."""
    room, readable = ROOM, {}
    for name, run in runs.items():
        placement = results[name].placement
        room -= int(placement.ranking.retrieved.sum()) if placement else ROOM
        if room < 0:
            break
        if not is_path(run):
            readable[name] = run
        elif os.path.isfile(run):  # standard input and pipes cannot be read twice
            file_format = formats.find_format(run, "run", input_format)
            reading = ReadOptions(input_format={"run": file_format})
            readable[name] = (
                open_run(run, reading).load() if file_format in ("trec", "json") else run
            )
    return readable


def open_by_query(
    data: Inputs, readable: Mapping[str, Any], results: Results
) -> dict[str, RunInput]:
    """Open the runs whose items are found by query at no cost; files and frames are not."""
    return {
        name: data.judge_by(placement.qrels).open_run(run)[0]
        for name, run in readable.items()
        if not is_searched(run) and (placement := results[name].placement)
    }


def spread_runs(
    data: Inputs, readable: Mapping[str, Any], results: Results, progress: Progress | None
) -> dict[str, tuple[Spread, ...]]:
    """Compute the numbers that other tools would report of the runs, but not of ended streams."""
    spreads = {}
    for i, (name, run) in enumerate(readable.items()):
        if progress is not None:
            progress("dialects", i, len(readable))
        placement = results[name].placement
        judged = data.judge_by(placement.qrels) if placement and is_path(data.qrels) else data
        try:
            spreads[name] = spread_each(judged, run, results.measures, limits="skip")
        except GermaneError:
            continue
    return spreads
