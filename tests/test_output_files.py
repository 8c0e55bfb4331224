"""The suffix of an output file: what a command cannot write in that format is refused before the work is done."""

import os
import re
import shlex
from pathlib import Path

import pytest

import germane
from germane import cli
from germane.cli import boxes

from test_cli import run

DATA = Path(__file__).parent.parent / "examples"
QRELS, ONE, TWO = "qrels.txt", "one.run", "two.run"
TRUTH, FOUND = str(DATA / "boxes/truth.json"), str(DATA / "boxes/detections.json")
PAIR = f"{QRELS} {ONE}"

COMMANDS = {
    "evaluate": f"{PAIR} -m AP",
    "check": PAIR,
    "score": "'0 0 1'",
    "explain": f"{PAIR} --query q1",
    "curve": f"{PAIR} --query q1",
    "compare": f"{PAIR} {TWO} -m AP",
    "report": PAIR,
    "explorer": "",
    "gate": f"{PAIR} --baseline {TWO}",
    "verify": f"record.json {PAIR}",
    "trust": f"{ONE} --people {QRELS} --model {QRELS}",
    "judges": f"{ONE} {QRELS} other.txt",
    "next": PAIR,
    "simulate": "recall",
    "dialects": PAIR,
    "reconcile": f"{PAIR} --reported 0.5",
    "audit": "table.csv",
    "plan": str(QRELS),
    "identify": "own:apk --takes ids",
    **{
        f"boxes {verb}": f"{TRUTH} {FOUND}" + {
            "explain": " --image 1", "gate": f" --baseline {FOUND}", "compare": f" {FOUND}.copy.json",
            "reconcile": " --reported 0.5",
        }.get(verb, "")
        for verb in ("evaluate", *boxes.VERBS) if verb != "boxes"
    },
}  # fmt: skip
WITHOUT = {"measures", "trec_eval", "boxes"}  # commands without -o, and the group of verbs
TEXTS = ("txt", "md", "tex", "htm", "html", "csv", "tsv", "json", "markdown", "latex")
PICTURES = ("svg", "png", "pdf", "jpg", "gif", "webp", "tiff")
OTHERS = ("xlsx", "parquet", "arrow", "npz", "pkl", "jsonl", "gz", "zip", "docx", "yaml")
FREE = ("", "out", "log", "v2")  # of no known format
DRAWING = dict.fromkeys(
    ("evaluate", "curve", "compare", "simulate", "boxes explain", "boxes confusion", "boxes curve"),
    ("svg", "png", "pdf"),
)
PAGES = ("report", "explorer", "boxes report")
SHORT = ("check", "boxes check")  # text and JSON


@pytest.fixture
def files(tmp_path: Path) -> Path:
    lines = [f"q{q} 0 d{d} {int(d < 3)}" for q in range(8) for d in range(5)]
    (tmp_path / QRELS).write_text("\n".join(lines) + "\n")
    (tmp_path / "other.txt").write_text("\n".join(lines[1:]) + "\n")
    for name, turn in ((ONE, 1), (TWO, 2)):
        rows = [f"q{q} Q0 d{(d * turn + q) % 5} 1 {5 - d} a" for q in range(8) for d in range(5)]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "table.csv").write_text("run,AP@10,P@10\na,0.5,0.4\n")
    (tmp_path / "own.py").write_text("def apk(relevant, ranked):\n    return 0.5\n")
    assert run(tmp_path, *f"evaluate {PAIR} --record record.json".split()).returncode == 0
    return tmp_path


def allowed(command: str) -> tuple[str, ...]:
    """The suffixes that a command writes."""
    if command in PAGES:
        return ("html", "htm")
    texts = ("txt", "json") if command in SHORT else TEXTS
    return (*texts, *DRAWING.get(command, ()))


def call(files: Path, command: str, path: str, *more: str) -> tuple[int, str]:
    words = [*command.split(), *shlex.split(COMMANDS[command]), "-o", path, *more]
    done = run(files, *words)
    return done.returncode, done.stderr.decode()


def test_every_command_is_here() -> None:
    verbs = {f"boxes {verb}" for verb in boxes.VERBS if verb != "boxes"} | {"boxes evaluate"}
    assert {*COMMANDS} - {"boxes evaluate"} | WITHOUT == {*cli.COMMANDS} | (
        verbs - {"boxes evaluate"}
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_suffix_of_what_a_command_does_not_write_is_refused(files: Path, command: str) -> None:
    for suffix in (*TEXTS, *PICTURES, *OTHERS):
        if suffix in allowed(command):
            continue
        for path in (f"x.{suffix}", f"x.{suffix.upper()}"):
            status, says = call(files, command, path)
            assert status == 2, (suffix, says)
            assert re.match(
                rf"germane: {re.escape(path)}: this command writes .*, and not {suffix}\.", says
            ), says
            assert not (files / path).exists()
        if suffix not in TEXTS and command not in PAGES:  # no --format makes it one
            assert call(files, command, f"x.{suffix}", "--format", "json")[0] == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_the_formats_that_a_message_names_are_written(files: Path, command: str) -> None:
    _, says = call(files, command, "x.docx")
    found = re.search(r"writes (.*?)(?:, and pictures as (.*))?, and not docx", says)
    assert found is not None
    drawn = tuple(re.split(", | or ", found[2])) if found[2] else ()
    assert drawn == DRAWING.get(command, ())
    named = re.split(", | or ", found[1])
    suffix_of = {"table": "txt", "text": "txt", "markdown": "md", "latex": "tex"}
    assert {suffix_of.get(name, name) for name in named} == {*allowed(command)} - {
        *drawn,
        "htm",
        "markdown",
        "latex",
    }


STARTS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<", "json": b"{", "html": b"<", "htm": b"<"}
QUICK = (
    "score",
    "evaluate",
    "curve",
    "compare",
    "simulate",
    "explain",
    "explorer",
    "check",
    "boxes explain",
)


@pytest.mark.parametrize("command", QUICK)
def test_a_file_holds_what_its_suffix_says(files: Path, command: str) -> None:
    if command == "boxes explain":
        pytest.importorskip("matplotlib")
    for suffix in (*allowed(command), *FREE):
        path = f"y.{suffix}" if suffix else "y"
        status, says = call(files, command, path)
        assert status == 0, (suffix, says)
        held = (files / path).read_bytes()
        assert held.startswith(STARTS.get(suffix, b"")), suffix
        if suffix in ("csv", "tsv") and command != "simulate":
            assert {"csv": b",", "tsv": b"\t"}[suffix] in held.split(b"\n")[0]


def test_the_refusal_names_what_draws(files: Path) -> None:
    for command, draws in {
        "gate": "germane evaluate, curve and compare draw pictures as svg, png or pdf.",
        "explain": "--animate FILE.gif writes an animation.",
        "boxes evaluate": "germane boxes explain draws an image as svg, png or pdf.",
    }.items():
        status, says = call(files, command, "x.png")
        assert status == 2
        assert draws in says
    assert call(files, "curve", "x.png")[0] == 0
    assert run(files, "explain", "0 1", "--animate", "x.gif").returncode == 0
    status, says = call(files, "evaluate", "x.json", "--format", "csv")
    assert status == 0, "--format overrides a suffix of text"


def test_costs_of_errors_are_no_picture(files: Path) -> None:
    done = run(files, "boxes", "explain", TRUTH, FOUND, "--errors", "-o", "x.svg")
    assert done.returncode == 2
    assert b"--errors writes a table; there is no picture of it" in done.stderr


def test_records_and_reports_are_refused_by_suffix_too(files: Path) -> None:
    done = run(files, "evaluate", QRELS, ONE, "--record", "x.csv")
    assert (done.returncode, done.stderr) == (
        2,
        b"germane: x.csv: a record is JSON, and not csv.\n",
    )
    made = germane.report({"q": ["a"]}, {"a": {"q": ["a"]}}, "AP")
    with pytest.raises(
        germane.errors.InputError, match=r"a report is a page of HTML, and not pdf\."
    ):
        made.save(files / "x.pdf")
    assert not os.path.exists(files / "x.pdf")
