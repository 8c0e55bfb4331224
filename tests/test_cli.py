"""The command line as a process: exit status, streams, files, terminals, hostile input."""

import contextlib
import csv
import dataclasses
import html.parser
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import germane
from germane import cli

from strategies import WORDS

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
RUN = "q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.8 a\nq2 Q0 x 1 0.8 a\nq2 Q0 d3 2 0.7 a\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(RUN)
    (tmp_path / "bad.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.8\n")
    return tmp_path


def run(
    folder: Path, *arguments: str, filters: Any = "default"
) -> subprocess.CompletedProcess[bytes]:
    """The command in this process, which is many times faster than ``start``."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(streams[0]),
        contextlib.redirect_stderr(streams[1]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter(filters)
        try:
            status = cli.main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue() for stream in streams)  # type: ignore[attr-defined]
    return subprocess.CompletedProcess(arguments, status, out, err)


def start(
    folder: Path, *arguments: str, given: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """``python -m germane`` in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "germane", *arguments],
        cwd=folder,
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )


# --- Exit status and streams -----------------------------------------------------------------------


def test_done(files: Path) -> None:
    done = run(files, "evaluate", "qrels.txt", "good.run", "-m", "AP")
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"good  0.7500" in done.stdout


def test_relevant_items_of_the_list_alone(files: Path) -> None:
    (files / "qrels.txt").write_text(QRELS + "q1 0 d9 1\n")
    for words, value in (([], b"0.7500"), (["--relevant", "listed"], b"1.0000")):
        for more in ([], ["--dialect", "ir_measures"]):
            done = run(files, "evaluate", "qrels.txt", "good.run", "-m", "R@2", *words, *more)
            assert b"good  " + value in done.stdout, done
        for command in (["explain", "--query", "q1"], ["curve", "--query", "q1"]):
            done = run(files, *command, "qrels.txt", "good.run", *words)
            assert done.returncode == 0, done
            assert (b"relevant=listed" in done.stdout) == bool(words)
    done = run(files, "reconcile", "qrels.txt", "good.run", "-m", "R@2", "--reported", "1.0000")
    assert b"relevant=listed" in done.stdout
    done = run(files, "explain", "1 0 1", "--relevant", "listed")
    assert done.returncode == 2
    assert b"with a LIST, --relevant takes the number of relevant items" in done.stderr
    done = run(files, "curve", "qrels.txt", "good.run", "--relevant", "3")
    assert b"--relevant is for the grades of one list" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "bad.run"],
        ["evaluate", "qrels.txt", "nowhere.run"],
        ["evaluate", "qrels.txt", "good.run", "bad.run"],
        ["evaluate", "qrels.txt", "good.run", "--ties", "foo"],
        ["evaluate", "qrels.txt", "good.run", "--format", "foo"],
        ["evaluate", "qrels.txt", "good.run", "-m", "foo"],
        ["evaluate", "qrels.txt"],
        ["measures", "foo"],
        ["score", "0 x"],
        ["score", "0 1", "--tie", "best"],
        ["foo"],
        [],
    ],
    ids=" ".join,
)
def test_bad_input(files: Path, arguments: list[str]) -> None:
    done = run(files, *arguments)
    assert done.returncode == 2
    assert done.stdout == b"", "an error prints nothing on standard output"
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"germane")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["evaluate"], ["score"], ["measures"], []], ids=" ".join)
def test_help(files: Path, command: list[str]) -> None:
    done = run(files, *command, "--help")
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"usage: germane" in done.stdout


def test_version(files: Path) -> None:
    version, kernel = run(files, "--version").stdout.decode().splitlines()
    assert version == f"germane {germane.__version__}"
    assert kernel in ("kernel: compiled", "kernel: plain")


def test_a_command_in_the_wrong_place_has_its_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Verbs of boxes alone, commands typed below boxes, and functions: all name a command."""
    from germane.cli.boxes import VERBS

    functions = {name for name in germane.__all__ if name.islower()}
    commandless = {name for name in functions if cli.advise_command(name)[:6] != " Type "}
    assert commandless == {
        "animate", "assert_computes", "assert_no_regression", "collapse", "compare_judges",
        "evaluate_embeddings", "measure",
        "kendall_tau", "parse", "rbo", "read_qrels", "read_results", "read_run", "tau_ap",
        "__version__",
    }  # fmt: skip
    typed = [[verb] for verb in ({*VERBS} | functions) - {*cli.COMMANDS} - commandless]
    typed += [["boxes", verb] for verb in (functions | {*cli.COMMANDS}) - {*VERBS} - commandless]
    for words in typed:
        for spelled in {words[-1], words[-1].replace("_", "-")}:
            with contextlib.suppress(SystemExit):
                assert cli.main([*words[:-1], spelled, "x"]) == 2
            told = capsys.readouterr().err
            command = re.search(r"Type 'germane ([^']+)'", told)
            assert command, told
            head, _, verb = command[1].partition(" ")
            assert head in cli.COMMANDS, told
            assert not verb or verb in VERBS, told
    for words, near in ((["confuson"], "boxes confusion"), (["boxes", "evalute"], "germane boxes")):
        with contextlib.suppress(SystemExit):
            cli.main(words)
        assert f"Did you mean '{near}'?" in capsys.readouterr().err
    cli.main(["boxes", "truth", "found"])
    assert "'truth': there is no such file" in capsys.readouterr().err


def test_an_option_by_a_usual_name_is_advised_and_the_advice_works(files: Path) -> None:
    for given, advice in {
        ("--threshold", "2"): {"--measures": "'P(rel=2)@10'", "--min-score": "2"},
        ("--score-threshold=0.75",): {"--min-score": "0.75"},
        ("--threshold", ".05"): {"--measures": "'P(rel=0.05)@10'", "--min-score": "0.05"},
        ("--level", "2"): {"--measures": "'P(rel=2)@10'"},
        ("-k", "5"): {"--measures": "'nDCG@5'"},
        ("--metric", "map"): {"--measures": "'AP nDCG@10'"},
    }.items():
        done = run(files, "evaluate", "qrels.txt", "good.run", *given)
        assert done.returncode == 2
        shown = dict(re.findall(r"(--[a-z-]+) ('[^']+'|[\d.]+)[ .]", done.stderr.decode()))
        shown.pop(given[0], None)
        assert {name: value.rstrip(".") for name, value in shown.items()} == advice
        for name, value in advice.items():
            followed = run(files, "evaluate", "qrels.txt", "good.run", name, value.strip("'"))
            assert followed.returncode == 0
            assert followed.stderr == b"" or b"--min-score 2 leaves 2 queries" in followed.stderr
    table = ("reconcile", "qrels.txt", "good.run", "--reported", "0.5", "--measure")
    done = run(files, *table, "AP", "--threshold", "2")
    assert b"--measure 'P(rel=2)@10'" in done.stderr
    assert run(files, *table, "P(rel=2)@10").returncode == 0
    assert b"min-score" not in run(files, "score", "0 1", "--threshold", "1").stderr  # it has none
    assert b"P(rel" not in run(files, "boxes", "a.json", "b.json", "--threshold", "1").stderr


def test_every_choice_word_is_an_option(files: Path) -> None:
    """What the library takes, the command line takes, and it says what it did."""
    text = (files / "good.run").read_text()
    (files / "all.qrels").write_text("q1 0 d1 1\nq2 0 d3 2\n")
    assert text
    for name, words in WORDS.items():
        for word in words:
            option = f"--{name.replace('_', '-')}={word}"
            files_run = ["evaluate", str(files / "all.qrels"), str(files / "good.run")]
            measure = "RR" if word == "middle" else "AP"
            status, out = in_process([*files_run, option, "-m", measure])
            assert status == 0, out
            assert f"{name}={word}" in out


def in_process(arguments: Sequence[str]) -> tuple[int, str]:
    kept = sys.stdout
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        status = cli.main(arguments)
        sys.stdout.flush()
        return status, sys.stdout.buffer.getvalue().decode()  # type: ignore[attr-defined]
    finally:
        sys.stdout = kept


# --- Files -----------------------------------------------------------------------------------------


def test_output_file(files: Path) -> None:
    done = run(files, "evaluate", "qrels.txt", "good.run", "--format", "tsv", "-o", "out.tsv")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (files / "out.tsv").read_bytes().startswith(b"run\tAP\t")
    os.umask(mask := os.umask(0))
    assert (files / "out.tsv").stat().st_mode & 0o777 == 0o666 & ~mask


def test_output_dash_is_standard_output(files: Path) -> None:
    assert b"good" in run(files, "evaluate", "qrels.txt", "good.run", "-o", "-").stdout
    assert not (files / "-").exists()


@pytest.mark.parametrize("wrong", ["bad.run", "nowhere.run"])
def test_nothing_is_half_written(files: Path, wrong: str) -> None:
    (files / "out.txt").write_text("yesterday")
    before = sorted(files.iterdir())
    done = run(files, "evaluate", "qrels.txt", "good.run", wrong, "-o", "out.txt")
    assert done.returncode == 2
    assert (files / "out.txt").read_text() == "yesterday"
    assert sorted(files.iterdir()) == before


@pytest.mark.usefixtures("full_disk")
def test_a_failing_write_leaves_nothing(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "out.txt").write_text("yesterday")
    before = sorted(files.iterdir())
    monkeypatch.chdir(files)
    assert in_process(["evaluate", "qrels.txt", "good.run", "-o", "out.txt"]) == (2, "")
    assert (files / "out.txt").read_text() == "yesterday"
    assert sorted(files.iterdir()) == before


def test_an_output_that_cannot_be_is_refused_first(files: Path) -> None:
    done = run(files, "evaluate", "qrels.txt", "nowhere.run", "-o", "no/folder/out.txt")
    assert b"no/folder/out.txt: cannot be written" in done.stderr


def test_standard_input(files: Path) -> None:
    plain = run(files, "evaluate", "qrels.txt", "good.run", "--format=tsv").stdout
    piped = start(files, "evaluate", "qrels.txt", "-", "--format=tsv", given=RUN).stdout
    assert piped.replace(b"standard input", b"good") == plain
    assert start(files, "evaluate", "-", "good.run", "--format=tsv", given=QRELS).stdout == plain
    assert start(files, "evaluate", "-", "-", given=QRELS).returncode == 2


def test_standard_input_may_be_scattered(files: Path) -> None:
    lines = RUN.splitlines(keepends=True)
    scattered = "".join(lines[i] for i in (2, 0, 3, 1))
    plain = start(files, "evaluate", "qrels.txt", "-", "--format=tsv", given=RUN).stdout
    assert (
        start(files, "evaluate", "qrels.txt", "-", "--format=tsv", given=scattered).stdout == plain
    )


def test_standard_input_is_no_file_name(files: Path) -> None:
    (files / "-").write_text("no run")
    assert start(files, "evaluate", "qrels.txt", "-", given=RUN).returncode == 0


def test_two_runs_of_the_same_name(files: Path) -> None:
    for folder in ("a", "b"):
        (files / folder).mkdir()
        (files / folder / "x.run").write_text(RUN)
    out = run(files, "evaluate", "qrels.txt", "a/x.run", "b/x.run", "--format=tsv").stdout
    assert [line.split(b"\t")[0] for line in out.splitlines()] == [b"run", b"a/x.run", b"b/x.run"]
    assert run(files, "evaluate", "qrels.txt", "a/x.run", "a/x.run").returncode == 2


# --- Locales and terminals -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "POSIX"},
    ],
    ids=str,
)
def test_any_locale(files: Path, environment: dict[str, str]) -> None:
    done = start(files, "evaluate", "qrels.txt", "good.run", **environment)
    assert done.returncode == 0
    assert "Σ P@i·rel(i), i ≤ N, ÷ R" in done.stdout.decode("utf-8")
    done = start(files, "evaluate", "qrels.txt", "größe-日本.run", **environment)
    assert done.returncode == 2
    assert b"there is no such file" in done.stderr


@pytest.mark.slow
def test_no_colors_where_nobody_looks(files: Path) -> None:
    for command in (
        ["evaluate", "qrels.txt", "good.run"],
        ["--help"],
    ):
        done = start(files, *command, FORCE_COLOR="1") if command else start(files)
        assert b"\x1b" not in start(files, *command).stdout
        assert b"\x1b" not in start(files, *command, NO_COLOR="1").stdout
        assert done.returncode == 0


def on_a_terminal(
    folder: Path, *arguments: str, slowly: Sequence[bytes] = (), **environment: str
) -> tuple[bytes, bytes]:
    """Standard output, and what a terminal on standard error gets."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "germane", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, **environment},
    )
    os.close(theirs)
    assert process.stdin is not None
    assert process.stdout is not None
    for part in slowly:
        process.stdin.write(part)
        process.stdin.flush()
        time.sleep(0.4)
    process.stdin.close()
    out, shown = process.stdout.read(), b""
    process.stdout.close()
    process.wait()
    while select.select([ours], [], [], 0.2)[0]:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return out, shown


@pytest.mark.slow
def test_progress_only_on_a_terminal(files: Path) -> None:
    parts = [b"q1 Q0 x%d 1 0.5 a\n" % i * 1 for i in range(4)]
    padding = [b"# " + b"x" * ((1 << 20) - 2) + b"\n"] * 4
    slowly = [line + pad for line, pad in zip(parts, padding, strict=True)]
    out, shown = on_a_terminal(
        files, "evaluate", "qrels.txt", "-", "--format=tsv", "-m", "RR", slowly=slowly
    )
    assert out == b"run\tRR\nstandard input\t0.0\n"
    assert re.search(rb"\r\x1b\[Kreading standard input: \d MB", shown)
    assert b"\r\x1b[Kgermane: " in shown, "the line is wiped at the end"
    done = start(files, "evaluate", "qrels.txt", "-", given=b"".join(slowly))
    assert b"reading" not in done.stderr


def test_no_progress_for_short_reads(files: Path) -> None:
    out, shown = on_a_terminal(files, "evaluate", "qrels.txt", "good.run")
    assert out
    assert shown == b""


def test_data_formats_write_ids_exactly(files: Path) -> None:
    (files / "at.txt").write_text("@jack 0 d1 1\n")
    (files / "at.run").write_text("@jack Q0 d1 1 0.9 a\n")
    arguments = ["evaluate", "at.txt", "at.run", "-m", "RR", "--per-query", "--format"]
    exact, table = (run(files, *arguments, form) for form in ("csv", "table"))
    assert exact.stdout == b"run,query,RR\r\nat,@jack,1.0\r\nat,all,1.0\r\n"
    assert exact.stderr == (
        b"germane: note: a spreadsheet would take '@jack' for a formula, like anything that begins with "
        b"=, +, - or @; --spreadsheet protects it.\n"
    )
    assert table.stderr == b""
    safe = run(files, *arguments, "tsv", "--spreadsheet")
    assert safe.stdout == b"run\tquery\tRR\nat\t'@jack\t1.0\nat\tall\t1.0\n"
    assert safe.stderr == b""
    for form in ("table", "json"):
        refused = run(files, *arguments, form, "--spreadsheet")
        assert refused.returncode == 2
        says = f"germane: --spreadsheet is for --format csv or tsv; got {form}.\n"
        assert refused.stderr.decode() == says


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.csv", "csv"), ("a.TSV", "tsv"), ("a.json", "json"), ("a.md", "markdown"),
        ("a.markdown", "markdown"), ("a.tex", "latex"), ("a.html", "html"), ("a.htm", "html"),
        ("a.txt", "table"), ("csv", "table"), ("a.csv.old", "table"),
    ],
)  # fmt: skip
def test_the_suffix_of_the_output_is_its_format(files: Path, name: str, form: str) -> None:
    arguments = ["evaluate", "qrels.txt", "good.run", "-m", "RR"]
    asked = run(files, *arguments, "--format", form)
    assert run(files, *arguments, "-o", name).stdout == b""
    assert (files / name).read_bytes() == asked.stdout
    run(files, *arguments, "-o", name, "--format", "tsv")
    assert (files / name).read_bytes() == run(files, *arguments, "--format", "tsv").stdout


def test_a_suffix_of_a_format_that_the_command_lacks(files: Path) -> None:
    arguments = ["check", "qrels.txt", "good.run", "-o"]
    assert run(files, *arguments, "found.json").returncode == 0
    assert json.loads((files / "found.json").read_text())["schema"] == 1
    refused = run(files, *arguments, "found.csv")
    assert (refused.returncode, (files / "found.csv").exists()) == (2, False)
    says = b"germane: found.csv: this command writes text or json, and not csv. --format overrides"
    assert refused.stderr.startswith(says)
    assert run(files, *arguments, "found.csv", "--format", "text").returncode == 0


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_data_on_a_terminal_hold_no_command(files: Path, form: str) -> None:
    (files / "red.txt").write_text("\x1b[31m 0 d1 1\n")
    (files / "red.run").write_text("\x1b[31m Q0 d1 1 0.9 a\n")
    evaluate = f"evaluate red.txt red.run -m RR --per-query --format {form}"
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "germane", *evaluate.split()], cwd=files, stdout=theirs, check=False
    )
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert done.returncode == 0
    assert b"\\x1b[31m" in shown
    assert b"\x1b" not in shown
    assert b"\x1b[31m" in run(files, *evaluate.split()).stdout


def test_compare_reads_subtopics_as_evaluate_does(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 1 d1 1\nq1 2 d1 1\nq1 2 d2 1\n")
    runs = {"a": ["d1", "d2"], "b": ["d2", "d1"]}
    for name, items in runs.items():
        lines = [f"q1 Q0 {item} {rank} {-rank} {name}\n" for rank, item in enumerate(items, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    given = ("qrels.txt", "a.run", "b.run", "-m", "alpha_nDCG@5", "--format", "json")
    compared, evaluated = (
        json.loads(run(tmp_path, verb, *given).stdout) for verb in ("compare", "evaluate")
    )
    means = {one["name"]: one["measures"][0]["mean"] for one in evaluated["runs"]}
    assert compared["means"] == {"alpha_nDCG@5": means}
    assert means["a"] == 1 > means["b"]


COMMANDS = [
    ["evaluate", "qrels.txt", "good.run"],
    ["check", "qrels.txt", "good.run"],
    ["score", "0 1"],
    ["explain", "0 1"],
    ["curve", "0 1"],
    ["compare", "qrels.txt", "good.run", "other.run"],
    ["gate", "qrels.txt", "good.run", "--baseline=other.run"],
    ["verify", "RR = 0.75 | rel=1 | 2 queries, run unknown", "qrels.txt", "good.run"],
    ["simulate", "recall"],
    ["measures"],
    ["measures", "AP"],
    ["dialects"],
    ["reconcile", "0 1", "--reported=0.5"],
    ["trec_eval", "-c", "qrels.txt", "good.run"],
    ["trec_eval", "--help"],
    ["--help"],
    ["--version"],
]


@pytest.fixture
def short(files: Path) -> Path:
    """With a run that lacks a query, of which every command that evaluates warns."""
    (files / "other.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.8 a\n")
    return files


def lose(folder: Path, arguments: list[str], where: str) -> tuple[int, bytes]:
    """The exit status and the last message of a command whose output goes nowhere."""
    command = ["sh", "-c", f'exec "$0" -m germane "$@" {where}', sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return done.returncode, done.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_output_that_is_lost_is_an_error(short: Path, arguments: list[str]) -> None:
    says = b"germane: standard output cannot be written (it is closed)."
    assert lose(short, arguments, ">&-") == (2, says)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [COMMANDS[0], *COMMANDS[-4:]], ids=" ".join)
def test_output_that_finds_no_place_is_an_error(short: Path, arguments: list[str]) -> None:
    says = b"germane: standard output cannot be written (No space left on device)."
    assert lose(short, arguments, ">/dev/full") == (2, says)


def test_a_file_is_written_where_standard_output_is_closed(files: Path) -> None:
    written = "evaluate qrels.txt good.run -m AP --format csv -o means.csv >&-"
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m germane {written}"],
        cwd=files, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert (files / "means.csv").read_bytes() == b"run,AP\r\ngood,0.75\r\n"


def test_where_standard_error_is_closed_nothing_of_it_is_in_the_output(short: Path) -> None:
    command = "evaluate qrels.txt other.run -m P@1 --format csv 2>&-"
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m germane {command}"],
        cwd=short, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"run,P@1\r\nother,0.5\r\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "qrels.txt", "other.run"],
        ["compare", "qrels.txt", "good.run", "other.run"],
        ["gate", "qrels.txt", "good.run", "--baseline=other.run"],
        ["report", "qrels.txt", "good.run", "other.run", "-o", "page.html"],
        ["explain", "qrels.txt", "bare.run", "--query=q1"],
        ["curve", "qrels.txt", "other.run"],
        ["dialects", "qrels.txt", "other.run"],
        ["reconcile", "qrels.txt", "other.run", "--reported=0.5"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("filters", ["default", "ignore", "error"])
def test_a_warning_is_one_line(short: Path, arguments: list[str], filters: str) -> None:
    """Also where Python was asked for another manner, or to make errors of warnings."""
    (short / "bare.run").write_text("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.8 a\n")
    done = run(short, *arguments, filters=filters)
    assert done.returncode == 0, done
    lines = done.stderr.decode().splitlines()
    assert all(line.startswith("germane: ") for line in lines), lines
    if arguments[0] in ("evaluate", "compare", "gate", "report"):
        assert len(lines) == 1
        assert "judged queries is missing from the run" in lines[0]


def test_the_environment_may_make_errors_of_warnings(short: Path) -> None:
    done = start(short, "evaluate", "qrels.txt", "other.run", PYTHONWARNINGS="error")
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1), done


def test_a_reader_that_stops(files: Path) -> None:
    """There is nothing to say; the status is that of any program whose output nobody reads to its end."""
    with subprocess.Popen(
        [sys.executable, "-m", "germane", "evaluate", "qrels.txt", "-", "-m", "AP"],
        cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()  # before there is anything to write
        process.stdin.write((files / "good.run").read_bytes())
        process.stdin.close()
        assert process.wait() == 141
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_interrupt(files: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "germane", "evaluate", "qrels.txt", "-"],
        cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    more = "".join(f"other{q} Q0 d 1 1 x\n" for q in range(100_000))
    process.stdin.write((RUN + more).encode())  # more than a pipe holds: it has begun to read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, b"", b"germane: interrupted.\n")


# --- Hostile ids -----------------------------------------------------------------------------------

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "=cmd|'/C'!A1",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "<script>alert(1)</script>",
    "<img/src=x/onerror=alert(1)>",
    "\\input{/etc/passwd}",
    "a&b%c$d#e_f{g}~h^i",
    "|pipe|",
    "`code`",
    "[link](http://x)",
    "**bold**",
    "![image](http://x/y.png)",
    '"quoted","cell"',
    "a\u2028b",
    "\u202egnirts",
    "zero\u200bwidth",
    "\x85next",
    "\ud800",
]
HOSTILE_BYTES = [*(text.encode("utf-8", "surrogatepass") for text in HOSTILE), b"\xff\xfe\xfd"]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run whose query ids, name and items are what nobody wants to see executed."""
    (tmp_path / "qrels.txt").write_bytes(b"".join(b"%s 0 d1 1\n" % q for q in HOSTILE_BYTES))
    (tmp_path / "=x<b>|&.run").write_bytes(b"".join(b"%s Q0 d1 1 1 a\n" % q for q in HOSTILE_BYTES))
    return tmp_path


def hostile_output(folder: Path, style: str, *more: str) -> str:
    files = ["qrels.txt", "=x<b>|&.run"]
    done = run(folder, "evaluate", *files, "-m", "AP P@1", "--per-query", "--format", style, *more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout.decode("utf-8")


@pytest.mark.parametrize("style", ["table", "tsv", "csv", "markdown", "latex", "json"])
def test_no_control_characters(hostile: Path, style: str) -> None:
    text = hostile_output(hostile, style, *["--spreadsheet"] * (style in ("tsv", "csv")))
    allowed = {"tsv": "\t\n", "csv": "\r\n"}.get(style, "\n")
    odd = {c for c in text if not c.isprintable() and c not in allowed}
    assert not odd, odd


def test_hostile_table(hostile: Path) -> None:
    lines = hostile_output(hostile, "table").split("\n\n")[0].splitlines()
    assert len(lines) == 2 + len(HOSTILE_BYTES) + 1


@pytest.mark.parametrize("style", ["csv", "tsv"])
def test_hostile_spreadsheet(hostile: Path, style: str) -> None:
    text = hostile_output(hostile, style, "--spreadsheet")
    rows = list(csv.reader(io.StringIO(text), delimiter="," if style == "csv" else "\t"))
    assert len(rows) == 1 + len(HOSTILE_BYTES) + 1
    assert {len(row) for row in rows} == {4}
    for row in rows:
        for cell in row:
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell


@pytest.mark.parametrize(("style", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_hostile_data(hostile: Path, style: str, delimiter: str) -> None:
    """Every id as it is in the files, but for bytes that are not UTF-8."""
    files = ["qrels.txt", "=x<b>|&.run"]
    done = run(hostile, "evaluate", *files, "-m", "AP", "--per-query", "--format", style)
    text = io.StringIO(done.stdout.decode(), newline="")
    ids = [row[1] for row in csv.reader(text, delimiter=delimiter, strict=True)]
    assert ids[1:-1] == [
        given.decode("utf-8", "surrogateescape").encode("utf-8", "backslashreplace").decode()
        for given in HOSTILE_BYTES
    ]


def test_hostile_markdown(hostile: Path) -> None:
    table = hostile_output(hostile, "markdown").split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(HOSTILE_BYTES) + 1
    for line in table:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 5, line
        assert not re.search(r"(?<!\\)(?:\\\\)*[<>`*\[\]]", line), line


def test_hostile_latex(hostile: Path) -> None:
    body = hostile_output(hostile, "latex").split("\\midrule\n")[1].split("\\bottomrule")[0]
    known = {"textbackslash", "textasciitilde", "textasciicircum", "textasciigrave", "textbar"}
    known |= {"textless", "textgreater"}
    for line in body.splitlines():
        assert line.endswith(r" \\")
        assert line.removesuffix(r" \\").count(" & ") == 3
        assert set(re.findall(r"\\([A-Za-z]+)", line)) <= known, line
        assert not re.search(r"(?<!\\)[%$#_]", line), line


def test_hostile_json(hostile: Path) -> None:
    read = json.loads(hostile_output(hostile, "json"))
    expected = {query.decode("utf-8", "surrogateescape") for query in HOSTILE_BYTES}
    assert set(read["runs"][0]["queries"]) == expected


def test_hostile_html() -> None:
    queries = {text: [f"d{i}"] for i, text in enumerate(HOSTILE)}
    results = germane.evaluate_many(queries, dict.fromkeys(HOSTILE, queries), "AP")
    seen: list[str] = []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
            seen.append(tag)

    Reader().feed(results._repr_html_())
    assert set(seen) <= {"div", "table", "thead", "tbody", "tr", "th", "td", "br", "strong"}
    assert seen.count("tr") == 1 + len(HOSTILE)


@pytest.mark.parametrize(
    "line", [b"\x1b[31mq\x1b[0m Q0 d1", b"a\xc2\x85b Q0 d1", b"q\xe2\x80\xa8 d", b"q \xff"]
)
def test_hostile_ids_in_errors(files: Path, line: bytes) -> None:
    (files / "x.run").write_bytes(line + b"\n")
    done = run(files, "evaluate", "qrels.txt", "x.run")
    assert done.returncode == 2
    text = done.stderr.decode("utf-8")
    assert text.endswith("\n")
    assert text[:-1].isprintable(), ascii(text)


def test_hostile_file_names(files: Path) -> None:
    done = run(files, "evaluate", "qrels.txt", "\x1b[31m\nred.run")
    assert done.returncode == 2
    assert done.stderr[:-1].decode().isprintable(), done.stderr


# --- JSON ------------------------------------------------------------------------------------------


def test_json_schema(files: Path) -> None:
    """The fingerprints are those of the same data as dicts."""
    judged, retrieved = (
        [line.split() for line in text.splitlines() if line] for text in (QRELS, RUN)
    )
    as_dicts: tuple[dict[str, dict[str, float]], ...] = {}, {}
    for data, rows, at in zip(as_dicts, (judged, retrieved), (3, 4), strict=True):
        for fields in rows:
            data.setdefault(fields[0], {})[fields[2]] = float(fields[at])
    same = germane.evaluate(*as_dicts, "AP@10")
    qrels_print, run_print = str(same.fingerprint), str(same.run_fingerprint)
    done = run(
        files, "evaluate", "qrels.txt", "good.run", "-m", "AP@10", "--format", "json", "--per-query"
    )
    assert json.loads(done.stdout) == {
        "schema": 1,
        "germane": germane.__version__,
        "policy": {
            "duplicates": "error",
            "ties": "trec",
            "missing": "zero",
            "unjudged": "nonrelevant",
            "no_relevant": "zero",
            "depth": None,
        },
        "runs": [
            {
                "name": "good",
                "counts": {
                    "judged": 2,
                    "answered": 2,
                    "missing": 0,
                    "without_relevant": 0,
                    "unjudged_queries": 0,
                    "judged_items_retrieved": 3,
                    "tied": 0,
                    "comments": 0,
                    "excluded": 0, "ignored": 0,
                },
                "measures": [
                    {
                        "measure": "AP@10",
                        "definition": "Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)",
                        "parameters": {"rel": "1", "norm": "min", "mean": "arithmetic"},
                        "mean": 0.75,
                        "best": 0.75,
                        "worst": 0.75,
                        "signature": "AP@10 = 0.7500 | rel=1 norm=min mean=arithmetic duplicates=error "
                        "ties=trec missing=zero unjudged=nonrelevant no_relevant=zero | 2 queries, qrels "
                        f"{qrels_print[:16]}, run {run_print[:16]} | germane {germane.__version__}",
                    }
                ],
                "fingerprints": {
                    "judgments": qrels_print,
                    "run": run_print,
                },
                "queries": {"q1": {"AP@10": 1.0}, "q2": {"AP@10": 0.5}},
            }
        ],
    }  # fmt: skip
    plain = run(files, "evaluate", "qrels.txt", "good.run", "-m", "AP@10", "--format", "json")
    assert "queries" not in json.loads(plain.stdout)["runs"][0]


def test_json_has_no_nan(files: Path) -> None:
    (files / "none.qrels").write_text("q1 0 d1 0\n")
    done = run(
        files,
        "evaluate",
        "none.qrels",
        "good.run",
        "--no-relevant=nan",
        "--format=json",
        "--per-query",
    )
    read = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    assert read["runs"][0]["measures"][0]["mean"] is None


# --- The command itself ----------------------------------------------------------------------------


def test_the_installed_command(files: Path) -> None:
    command = Path(sys.executable).parent / "germane"
    if not command.exists():
        pytest.skip("germane is not installed as a command beside this Python")
    done = subprocess.run([command, "score", "1 0 1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("measure")


def test_score_matches_the_library(files: Path) -> None:
    done = run(
        files, "score", "0 0 1 0 1 0 0 1 0 0", "--relevant", "3", "-m", "AP@10", "--format=json"
    )
    value = json.loads(done.stdout)["measures"][0]["value"]
    assert value == germane.score([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], "AP@10", relevant=3)
    assert value == (1 / 3 + 2 / 5 + 3 / 8) / 3


def test_digits_survive(files: Path) -> None:
    """tsv, csv and JSON give every digit: the number read back is the number computed."""
    expected = germane.evaluate(str(files / "qrels.txt"), str(files / "good.run"), "nDCG").values()
    mean = next(iter(expected)).mean
    for style in ("tsv", "csv"):
        text = run(
            files, "evaluate", "qrels.txt", "good.run", "-m", "nDCG", "--format", style
        ).stdout
        assert float(text.split()[-1].split(b",")[-1]) == mean


def test_the_default_measures_are_the_library_s(files: Path) -> None:
    out = run(files, "evaluate", "qrels.txt", "good.run", "--format=tsv").stdout.decode()
    default = germane.evaluate(str(files / "qrels.txt"), str(files / "good.run"))
    assert out.splitlines()[0].split("\t")[1:] == list(default)


def test_the_console_script_starts_no_threads_of_linear_algebra() -> None:
    code = "import germane_command, os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, wanted in ((None, "1"), ("4", "4")):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        environment |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        assert done.stdout.strip() == wanted


def test_the_console_script_is_the_command_line() -> None:
    import germane_command

    assert germane_command.main is cli.main


# --- Help ------------------------------------------------------------------------------------------

HELPED = [name for name in cli.COMMANDS if name not in ("measures", "trec_eval", "boxes")]


def read_help(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        cli.main([*arguments])
    return capsys.readouterr().out


@pytest.mark.parametrize("command", HELPED)
def test_help_is_a_page_of_what_people_use(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    short = read_help(capsys, command, "--help")
    assert len(short.splitlines()) <= 40
    if "--help-all" in short:
        whole = read_help(capsys, command, "--help-all")
        options = set(re.findall(r"^  (?:-\w \w+, )?(--[\w-]+)", whole, re.MULTILINE))
        assert options > set(re.findall(r"^  (?:-\w \w+, )?(--[\w-]+)", short, re.MULTILINE))


def test_every_convention_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    whole = read_help(capsys, "evaluate", "--help-all")
    for name in dataclasses.fields(germane.Policy):
        if name.name != "qrels_duplicates":
            assert f"--{name.name.replace('_', '-')} " in whole, name.name


def test_a_rare_convention(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(files / "qrels.txt"), str(files / "good.run")]
    assert cli.main(["evaluate", *paths, "--no-hit", "nan", "--digits", "2"]) == 0
    assert "no_hit=nan" in capsys.readouterr().out
    assert cli.main(["evaluate", *paths, "--no-hit", "none"]) == 2
    assert "--no-hit takes zero" in capsys.readouterr().err
