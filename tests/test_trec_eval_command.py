"""germane trec_eval against what NIST's program printed, byte for byte, and its ways in."""

import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from germane import parse
from germane.trec_eval import gains
from germane.trec_eval.names import MEASURES, NICKNAMES
from germane.trec_eval.numerals import real, whole

import trec_eval_cases
from trec_eval_cases import case, said_by_germane, said_by_trec_eval, written
from trec_names import TREC_10_NAMES, TREC_NAMES

CASES: list[dict[str, Any]] = json.loads(trec_eval_cases.RECORDED.read_text("utf-8"))
QRELS, RUN = "q1 0 d1 1\nq1 0 d2 0\n", "q1 Q0 d2 1 2 t\nq1 Q0 d1 2 1 t\n"
ANSWER = "map                   \tall\t0.5000\n"


@pytest.mark.parametrize("recorded", CASES, ids=lambda case: str(case["seed"]))
def test_prints_what_trec_eval_prints(recorded: dict[str, Any], tmp_path: Path) -> None:
    said = said_by_germane(written(recorded, tmp_path))
    assert said == (recorded["output"], recorded["status"])


def test_the_recorded_cases_hold_every_measure_flag_and_end() -> None:
    """What no case prints is not checked by the test above."""
    printed = {
        line.split()[0].removeprefix("Z") for c in CASES for line in c["output"].splitlines()
    }
    for name, row in MEASURES.items():
        pattern = re.compile(re.escape(name) + {"nothing": ""}.get(row.takes, r"(_.*)?"))
        assert any(map(pattern.fullmatch, printed)), name
    flags = " ".join(flag for c in CASES for flag in c["flags"])
    assert all(flag in flags for flag in ("-q", "-c", "-n", "-J", "-M", "-N", "-l", "-D", "-R"))
    assert any("zscores" in c for c in CASES)
    assert {c["status"] for c in CASES} == {0, 2, 4, 7}
    assert any("-nan" in c["output"] for c in CASES)


@pytest.mark.skipif(shutil.which("trec_eval") is None, reason="trec_eval is not on the PATH")
@pytest.mark.parametrize("seed", range(1000, 1050))
def test_agrees_with_trec_eval_itself(seed: int, tmp_path: Path) -> None:
    """All but rbp, which depends on memory that trec_eval does not set."""
    arguments = written(case(seed), tmp_path)
    theirs, status = said_by_trec_eval("trec_eval", arguments)
    if status < 0:
        pytest.skip("trec_eval crashed")
    ours = said_by_germane(arguments)
    without = [
        re.sub(r"^Z?rbp[_ ].*\n", "", text, flags=re.MULTILINE) for text in (theirs, ours[0])
    ]
    assert without[0] == without[1]
    assert status == ours[1]


# --- Names -----------------------------------------------------------------------------------------


def test_there_are_57_measures_and_six_nicknames() -> None:
    assert len(MEASURES) == 57
    assert [len(names) for names in NICKNAMES.values()] == [12, 11, 37, 16, 8, 5]


@pytest.mark.parametrize("name", [name for name, row in MEASURES.items() if row.germane])
def test_germanes_name_of_a_measure_is_one(name: str) -> None:
    row = MEASURES[name]
    assert ("{}" in row.germane) == (row.takes in ("cutoffs", "levels"))
    for argument in row.default or (None,):
        assert parse(row.germane.format(argument)).row.name in row.germane


@pytest.mark.parametrize("printed", sorted(TREC_NAMES))
def test_names_are_those_the_values_were_recorded_under(printed: str) -> None:
    """test_trec_eval holds these to recorded values, each with its reason where the two differ."""
    name = printed if printed in MEASURES else printed.rpartition("_")[0]
    row = MEASURES[name]
    number = printed.removeprefix(name).removeprefix("_")
    argument = (int(number) if row.takes == "cutoffs" else float(number)) if number else ""
    ours = parse(row.germane.format(argument))
    theirs = parse({**TREC_NAMES, **TREC_10_NAMES}[printed])
    if name == "Rprec_mult":  # the roundings agree on these multiples
        theirs = theirs(rounding="trec9")
    assert ours == theirs


# --- Ways in ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["-m", "map", "qrels", "run"],
        ["qrels", "run", "-mmap"],
        ["qrels", "--measure=map", "run"],
        ["--meas", "map", "--", "qrels", "run"],
        ["-m", "map.ignored", "qrels", "run"],
        ["-cm", "map", "-l1", "-N", "10", "qrels", "run"],
    ],
)
def test_flags_may_be_written_in_every_way_of_getopt(files: Path, arguments: list[str]) -> None:
    assert said_by_germane(arguments) == (ANSWER, 0)


@pytest.mark.parametrize("name", ["-", "-anything"])
def test_standard_input(files: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert said_by_germane(["-m", "map", "-m", "runid", "--", "qrels", name]) == (
        "runid                 \tall\tt\n" + ANSWER,
        0,
    )


def test_a_pipe_is_read_once(files: Path) -> None:
    os.mkfifo("pipe")
    threading.Thread(target=lambda: Path("pipe").write_text(RUN), daemon=True).start()
    assert said_by_germane(["-m", "map", "-m", "runid", "qrels", "pipe"])[0].endswith(ANSWER)


def test_compressed_files_are_read_too(files: Path) -> None:
    for name, text in (("qrels", QRELS), ("run", RUN)):
        (files / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert said_by_germane(["-m", "map", "-m", "runid", "qrels.gz", "run.gz"]) == (
        "runid                 \tall\tt\n" + ANSWER,
        0,
    )


def test_the_tag_of_the_last_line_wherever_it_is(files: Path) -> None:
    """Blank lines and comments may follow it, for longer than what is read of the end at first."""
    Path("run").write_text(RUN + "# comment\n \n" * 20_000)
    assert "runid                 \tall\tt\n" in said_by_germane(["qrels", "run"])[0]


def test_ids_that_are_not_utf8_are_printed_as_they_are(files: Path) -> None:
    Path("qrels").write_bytes(b"q\xff 0 d1 1\n")
    Path("run").write_bytes(b"q\xff Q0 d1 1 1 \xfe\n")
    out, _ = said_by_germane(["-q", "-m", "map", "-m", "runid", "qrels", "run"])
    assert out.encode("utf-8", "surrogateescape").splitlines()[:2] == [
        b"map                   \tq\xff\t1.0000",
        b"runid                 \tall\t\xfe",
    ]


def test_the_console_script(files: Path) -> None:
    code = "import sys, germane_command; sys.exit(germane_command.trec_eval())"
    command = [sys.executable, "-c", code, "-m", "map", "qrels"]
    done = subprocess.run([*command, "run"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == (ANSWER, "", 0)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


# --- Numbers and gains -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), (" -3x", -3), ("+4.9", 4), ("x", 0), ("1_0", 1), ("9" * 30, 2**63 - 1)],
)
def test_whole_numbers_as_c_reads_them(text: str, number: int) -> None:
    assert whole(text.encode()) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5e2x", 150), ("-.5", -0.5), ("high", 0), ("0x1p-1", 0.5), ("-InFinity", -float("inf"))],
)
def test_real_numbers_as_c_reads_them(text: str, number: float) -> None:
    assert real(text.encode()) == number


def test_gains_less_than_1_apart_keep_their_order() -> None:
    """0.7 - 0.5 is 0 as a whole number: the two count as equal, and so do both and 0."""
    assert gains.by_gain({1: 0.7, 2: 0.5}, 2) == [(1, 0.7), (2, 0.5), (0, 0.0)]
    assert gains.by_gain({1: 3.0, 2: 2.0}, 2) == [(0, 0.0), (2, 2.0), (1, 3.0)]
