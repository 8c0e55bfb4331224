"""Killed at any moment, germane leaves the old file or the new one, whole.

A process that has imported everything forks writers, which write one of two texts over and over; each is
stopped after a random time. What a killed one could not clear away has a name that no ``*`` finds.
"""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DRIVER = """
import contextlib, glob, io, json, os, random, signal, sys, time, warnings
warnings.simplefilter("ignore")
import germane
from germane import cli
from germane.presentation import writing

work, seed, rounds, longest, number = sys.argv[1], *map(int, sys.argv[2:6])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
for ended in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(ended, signal.SIG_DFL)
os.chdir(work)
writers = json.load(open("writers"))
rng = random.Random(seed)


def write(writer, version, place):
    if writer == "plain":
        writing.replace(place, (b"old", b"new")[version] * 500_000)
    else:
        with contextlib.redirect_stdout(io.StringIO()):
            code = cli.main([*writers[writer][version], "-o", place])
        assert code == 0, code


def versions(writer, place):
    for version in (0, 1):
        write(writer, version, place)
        yield open(place, "rb").read()


def killed(writer, place, pause):
    child = os.fork()
    if not child:
        version = 0
        while True:
            write(writer, version, place)
            version = 1 - version
    time.sleep(pause)
    for _ in range(6):
        os.kill(child, number)  # again, as a person would: Python swallows one in a finalizer
        for _ in range(500):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return status
            time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    raise SystemExit(f"{writer} goes on after signal {number}")


for writer, suffix in writers["suffixes"].items():
    folder = f"folder-{writer}"
    os.mkdir(folder)
    place = os.path.join(folder, "written" + suffix)
    whole = list(versions(writer, place))
    assert whole[0] != whole[1]
    write(writer, 0, place)
    start = time.perf_counter()
    if not (child := os.fork()):  # a busy machine lets a child wait longer than a short file takes
        write(writer, 0, place)
        os._exit(0)
    os.waitpid(child, 0)
    took = time.perf_counter() - start
    seen = {"broken": 0, "parts": 0, "others": 0, "old": 0, "new": 0, "statuses": {}}
    for _ in range(rounds if took < longest / 1000 else rounds // 8):
        status = killed(writer, place, rng.uniform(0, 2.5 * took))
        seen["statuses"][str(status)] = seen["statuses"].get(str(status), 0) + 1
        now = open(place, "rb").read()
        seen["broken"] += now not in whole
        seen["old" if now == whole[0] else "new"] += 1
        names = set(os.listdir(folder)) - {os.path.basename(place)}
        seen["parts"] += len(names)
        seen["others"] += glob.glob(os.path.join(folder, "*")) != [place]
        for name in names:
            os.unlink(os.path.join(folder, name))
    print(json.dumps({writer: seen}), flush=True)  # or each child prints it again
"""

QRELS = "".join(f"q{q} 0 d{i} {i % 3}\n" for q in range(4) for i in range(12))
RUN = "".join(f"q{q} Q0 d{i} 1 {(i * 7 + q) % 12}.5 t\n" for q in range(4) for i in range(12))
FILES = ["qrels", "run"]
LIST = ["0 1 0 0 1", "--relevant", "3", "-m", "AP"]
WRITERS: dict[str, tuple[str, list[str], list[str]]] = {
    "evaluate": (".csv", ["evaluate", *FILES, "-m", "AP"], ["evaluate", *FILES, "-m", "RR"]),
    "results": (
        ".json",
        ["evaluate", *FILES, "--per-query", "--format", "json"],
        ["evaluate", *FILES, "--format", "json"],
    ),
    "explain": (".txt", ["explain", *LIST], ["explain", *LIST[:-1], "P@3"]),
    "report": (".html", ["report", *FILES], ["report", *FILES, "-m", "P@5"]),
    "plot": (".svg", ["curve", *FILES], ["curve", *FILES, "--query", "q1"]),
}
"""The suffix of the file, and two commands that write different ones."""


def stopped(folder: Path, number: int, rounds: int) -> dict[str, dict[str, int]]:
    """What was seen of each writer when it was stopped so many times by a signal."""
    (folder / "qrels").write_text(QRELS)
    (folder / "run").write_text(RUN)
    commands = {name: (first, second) for name, (_, first, second) in WRITERS.items()}
    suffixes = {"plain": "", **{name: suffix for name, (suffix, _, _) in WRITERS.items()}}
    (folder / "writers").write_text(json.dumps({**commands, "suffixes": suffixes}))
    arguments = map(str, (folder, random.Random(number).randrange(1000), rounds, 60, int(number)))
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, dict[str, int]] = {}
    for line in done.stdout.splitlines():
        seen.update(json.loads(line))
    assert seen.keys() == suffixes.keys()
    return seen


def check_killed(seen: dict[str, dict[str, int]]) -> None:
    for writer, found in seen.items():
        assert (found["broken"], found["others"]) == (0, 0), (writer, found)
    assert sum(found["parts"] for found in seen.values()), "no writer was met at its work"
    assert min(seen["plain"]["old"], seen["plain"]["new"]) > 0, seen


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_points(tmp_path: Path) -> None:
    check_killed(stopped(tmp_path, signal.SIGKILL, 40))


@pytest.mark.long
def test_killed_a_thousand_times(tmp_path: Path) -> None:
    check_killed(stopped(tmp_path, signal.SIGKILL, 1000))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    "name", ["SIGINT", "SIGTERM", pytest.param("SIGHUP", marks=pytest.mark.long)]
)
def test_what_can_be_cleared_away_is(name: str, tmp_path: Path) -> None:
    for writer, found in stopped(tmp_path, getattr(signal, name), 8).items():
        if writer == "plain" and name != "SIGINT":
            continue  # in a program of its own, what a signal does is the program's choice
        assert (found["broken"], found["others"], found["parts"]) == (0, 0, 0), (writer, found)
