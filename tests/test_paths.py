"""No output destroys an input: every argument that names a path × every option that writes."""

import argparse
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from germane import cli

READ = {
    "DETECTIONS", "DIR", "FILE", "FILE|N|seen", "NAME | QRELS RUN", "NAME | TRUTH DETECTIONS",
    "PATH", "QRELS", "QRELS RUN | LIST", "QRELS RUN... | LIST", "RECORD", "RUN", "TABLE", "TRUTH",
}  # fmt: skip
WRITTEN = {"--output", "--record", "--animate"}
OTHER = {
    "COMMAND", "ID", "LIST", "MEASURE", "MEASURE=NAME", "MEASURES", "MODULE:FUNCTION", "NAME", "NAME=MEASURE", "NAME=VALUE",
    "CLASS", "FLOOR", "NUMBER", "POINT", "REGEX", "S,…", "TEXT", "THRESHOLDS", "WORD", "anytime",
}  # fmt: skip
"""What the help calls arguments that are text, but no path: a new word has to be put somewhere."""


def make_parsers() -> dict[str, argparse.ArgumentParser]:
    parser = cli._make_parser(["", *cli.COMMANDS])
    [commands] = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
    return commands


PARSERS = make_parsers()


def list_arguments(command: str, metavars: set[str]) -> Iterator[argparse.Action]:
    for action in PARSERS[command]._actions:
        if action.metavar in metavars and not WRITTEN & {*action.option_strings}:
            yield action


def list_written(command: str) -> list[str]:
    options = {name for action in PARSERS[command]._actions for name in action.option_strings}
    return sorted(WRITTEN & options)


def test_every_argument_says_whether_it_is_a_path() -> None:
    for command, parser in PARSERS.items():
        for action in parser._actions:
            if (
                action.type is None
                and action.nargs != 0
                and action.metavar
                and command != "trec_eval"
            ):
                listed = "|" in str(action.metavar) or action.metavar in OTHER
                assert listed, f"{command} {action.option_strings or action.dest}: {action.metavar}"
                assert action.metavar not in READ, f"{command} {action.dest} needs a type"


# --- The same file by other names ----------------------------------------------------------------


def name_itself(path: Path) -> Path:
    return path


def spell_otherwise(path: Path) -> str:
    return os.path.join(path.parent, "folder", "..", ".", path.name)


def link(path: Path) -> Path:
    path.with_name("link.txt").symlink_to(path)
    return path.with_name("link.txt")


def link_the_folder(path: Path) -> Path:
    path.with_name("link").symlink_to(path.parent)
    return path.with_name("link") / path.name


def link_hard(path: Path) -> Path:
    path.with_name("hard.txt").hardlink_to(path)
    return path.with_name("hard.txt")


def name_relative(path: Path) -> str:
    return os.path.relpath(path)


NAMES = (name_itself, spell_otherwise, link, link_the_folder, link_hard, name_relative)


def write_line(command: str, chosen: argparse.Action, path: str) -> list[str]:
    """A command line in which one argument is this path, and all that are required are there."""
    line = command.split()
    options: list[str] = []
    for action in PARSERS[command]._actions:
        value = path if action is chosen else f"no-{action.dest}"
        if action.option_strings:
            if action is chosen or action.required:
                options += [action.option_strings[-1], value]
        elif action.nargs in ("+", "*") and action.metavar in (
            "QRELS RUN | LIST",
            "NAME | QRELS RUN",
        ):
            line += [value, "no-run"]
        elif action.nargs != "?" or action is chosen:
            line += [value]
    return line + options


def make_folder(tmp_path: Path) -> tuple[Path, Path]:
    """A folder with one in it, and a file in that."""
    (tmp_path / "folder" / "inner").mkdir(parents=True)
    held = tmp_path / "folder" / "inner" / "part.txt"
    held.write_text("q Q0 d 1 1 t\n")
    return tmp_path / "folder", held


def refuse(line: list[str], held: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run the command; return what went wrong with its refusal, or nothing."""
    before = held.read_bytes(), held.stat().st_ino
    try:
        status = cli.main(line)
    except SystemExit as ended:
        status = int(ended.code or 0)
    says = capsys.readouterr().err
    if (held.read_bytes(), held.stat().st_ino) != before:
        return f"{line}: the input is lost"
    if status != 2 or not any(f"{word} be " in says for word in ("would", "could")):
        return f"{line}: {status} {says}"
    return ""


COMMANDS = [name for name in PARSERS if list_written(name) and [*list_arguments(name, READ)]]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name.__name__)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_given(
    command: str,
    name: Callable[[Path], str | Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path)
    given = tmp_path / "given.txt"
    given.write_text("q Q0 d 1 1 t\n")
    output = str(name(given))
    wrong = [
        refuse([*write_line(command, action, str(given)), option, output], given, capsys)
        for action in list_arguments(command, READ)
        for option in list_written(command)
    ]
    assert not [*filter(None, wrong)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_in_a_folder_that_is_given(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, held = make_folder(tmp_path)
    outside = tmp_path / "outside.txt"
    outside.write_text("q Q0 d 1 1 t\n")
    (folder / "link.txt").symlink_to(outside)
    (folder / "circle").symlink_to(folder)
    hard = tmp_path / "hard.txt"
    hard.hardlink_to(held)
    outputs = [held, outside, hard, folder / "new.txt"]
    wrong = [
        refuse([*write_line(command, action, str(folder)), option, str(output)], held, capsys)
        for action in list_arguments(command, READ)
        for option in list_written(command)
        for output in outputs
    ]
    assert not [*filter(None, wrong)]
    assert outside.read_text() == held.read_text() == "q Q0 d 1 1 t\n"
    assert not (folder / "new.txt").exists()


@pytest.mark.parametrize("command", ["report", "explain", "evaluate"])
def test_a_folder_around_an_input(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, held = make_folder(tmp_path)
    (folder / "index.html").write_text("")
    for action in list_arguments(command, READ):
        line = [*write_line(command, action, str(held)), "-o", str(folder)]
        assert not refuse(line, held, capsys)


def test_standard_input(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "q.txt"
    path.write_text("q 0 d 1\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n")
    line = [sys.executable, "-m", "germane", "evaluate", "-", "a.run", "-o", "q.txt"]
    with path.open() as file:
        done = subprocess.run(line, stdin=file, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, path.read_text()) == (2, "q 0 d 1\n"), done.stderr


def test_two_outputs_of_one_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.txt").write_text("q 0 d 1\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n")
    (tmp_path / "folder").mkdir()
    q, a, out = (str(tmp_path / name) for name in ("q.txt", "a.run", "out.svg"))
    for other in (out, str(tmp_path / "folder" / ".." / "out.svg")):
        for line in (
            ["evaluate", q, a, "--record", other, "-o", out],
            ["explain", q, a, "--animate", other, "-o", out],
        ):
            assert cli.main(line) == 2
            assert "two outputs would be written to this file" in capsys.readouterr().err
    assert not os.path.exists(out)


def test_what_replaces_nothing_is_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Devices, and names that only look like those of inputs."""
    (tmp_path / "q.txt").write_text("q 0 d 1\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1 t\n")
    q, a = str(tmp_path / "q.txt"), str(tmp_path / "a.run")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    for output in (os.devnull, f"{q}.csv", str(tmp_path / "Q.txt")):
        assert cli.main(["evaluate", q, a, "-o", output]) == 0, capsys.readouterr().err


# --- What identify asks --------------------------------------------------------------------------

CODE = "from helper import K\ndef hits(grades):\n    return float(sum(grades[:K]))\n"


@pytest.mark.parametrize("output", ["tool.py", "helper.py", "link.py"])
@pytest.mark.parametrize(
    "asked", [["tool.py:hits"], ["tool:hits"], ["--command", "PY tool.py {qrels} {run}"]], ids=str
)
def test_code_that_is_asked(
    asked: list[str],
    output: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tool", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("tool.py").write_text(f"{CODE}if __name__ == '__main__':\n    print('P_1 all 1.0')\n")
    Path("helper.py").write_text("K = 1\n")
    Path("link.py").symlink_to("tool.py")
    program = asked[0] == "--command"
    if program and output == "helper.py":
        pytest.skip("what a program reads is its own affair")
    takes: list[Any] = ["--pattern", r"(\S+)$"] if program else ["--takes", "grades"]
    line = [word.replace("PY", sys.executable) for word in asked]
    assert not refuse(["identify", *line, *takes, "-o", output], Path(output), capsys)
