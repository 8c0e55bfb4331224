"""Where a file is written: whole or not at all, and only where a file belongs."""

import contextlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from germane import cli
from germane.errors import InputError
from germane.presentation import writing
from germane.presentation.writing import show_lines as as_shown

from test_hostile import HOSTILE, one_line, tables


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    writing.write(str(tmp_path / "new"), "text")
    assert (tmp_path / "new").read_text() == "text"
    (tmp_path / "usual").touch()
    assert mode(tmp_path / "new") == mode(tmp_path / "usual")
    (tmp_path / "usual").unlink()
    assert os.listdir(tmp_path) == ["new"]


def test_a_file_that_exists_keeps_its_permissions(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("old")
    private.chmod(0o600)
    writing.write(str(private), "new")
    assert (private.read_text(), mode(private)) == ("new", 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    writing.write(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    writing.write(str(pipe), "text")
    reader.join(10)
    assert got == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.usefixtures("full_disk")
def test_nothing_is_left_where_writing_fails(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("old")
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        writing.write(str(kept), "new")
    assert (os.listdir(tmp_path), kept.read_text()) == (["kept"], "old")


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q Q0 d 1 1 t\n")
    (tmp_path / "link").symlink_to(run)
    for path in (run, tmp_path / "link"):
        with pytest.raises(InputError, match="this is an input file and would be overwritten"):
            writing.check(str(path), ["-", str(run)])
    writing.check(str(tmp_path / "other"), [str(run)])


@pytest.mark.parametrize("path", ["", "no such folder/file", "a\0b", "\ud800"])
def test_an_output_without_a_folder_is_refused_before_the_work(path: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        writing.check(path)


# --------------------------------------------------------------------- where nothing can be written


def in_a_child(tried: Callable[[], None]) -> str:
    """What germane says where a process of its own tries it, whose limits are its own."""
    read, wrote = os.pipe()
    child = os.fork()
    if not child:
        said = "nothing was refused"
        try:
            tried()
        except InputError as error:
            said = str(error)
        finally:
            os.write(wrote, said.encode())
            os._exit(0)
    os.waitpid(child, 0)
    os.close(wrote)
    with open(read) as told:
        return told.read()


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("old")

    def tried() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        writing.write(str(kept), "new" * 100_000)

    assert in_a_child(tried) == f"{kept}: cannot be written (File too large)."
    assert (os.listdir(tmp_path), kept.read_text()) == (["kept"], "old")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_that_is_full(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/dev/full")
    for path in ("/dev/full", str(tmp_path / "link")):
        with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
            writing.write(path, "text")


@needs_fork
def test_a_folder_that_is_read_only() -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "kept")
        Path(kept).write_text("old")
        os.chmod(kept, 0o666)
        os.chmod(folder, 0o555)

        def tried(writing: Callable[[str], None]) -> None:
            if os.geteuid() == 0:  # who may write anywhere
                os.setuid(65534)
            writing(kept)

        told = in_a_child(lambda: tried(writing.check))
        assert told == f"{kept}: cannot be written (its folder is read-only)."
        told = in_a_child(lambda: tried(lambda path: writing.write(path, "new")))
        assert told == f"{kept}: cannot be written (Permission denied)."
        assert (os.listdir(folder), Path(kept).read_text()) == (["kept"], "old")


def test_a_link_to_itself_and_a_folder_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    for name, why in (("loop", "Too many levels of symbolic links"), ("folder", "Is a directory")):
        with pytest.raises(InputError, match=rf"{name}: cannot be written \({why}\)"):
            writing.write(str(tmp_path / name), "text")
    assert (tmp_path / "loop").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["folder", "loop"]


def test_a_link_to_what_is_not_there_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    writing.write(str(tmp_path / "link"), "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text"


def test_more_is_written_at_the_end(tmp_path: Path) -> None:
    for _ in range(2):
        writing.append(str(tmp_path / "summary"), "Σ\n")
    assert (tmp_path / "summary").read_text("utf-8") == "Σ\nΣ\n"
    assert os.listdir(tmp_path) == ["summary"]


# ------------------------------------------------------------------ every command that writes a file

LISTED = ["1 0 1", "--relevant", "3"]
BOXES, FOUND = (os.path.abspath(f"examples/boxes/{name}.json") for name in ("truth", "detections"))
WRITERS: dict[str, list[list[str]]] = {
    "evaluate": [["qrels", "run", "--record", "out.json"], ["qrels", "run", "-o", "out.csv"]],
    "check": [["qrels", "run", "-o", "out.txt"]],
    "score": [[*LISTED, "-o", "out.txt"]],
    "explain": [
        [*LISTED, "-m", "AP", "-o", "out.json", "--format", "json"],
        *([*LISTED, "-m", "AP", "--animate", f"out.{kind}"] for kind in ("svg", "html", "gif")),
    ],
    "curve": [["qrels", "run", "-o", f"out.{kind}"] for kind in ("svg", "png", "pdf", "csv")],
    "compare": [["qrels", "run", "other", "-o", "out.md", "--format", "markdown"]],
    "report": [["qrels", "run", "-o", "out.html"]],
    "judges": [["run", "qrels", "judge", "-o", "out.csv"]],
    "trust": [["run", "--people", "qrels", "--model", "qrels", "-o", "out.txt"]],
    "next": [["qrels", "run", "-o", "out.csv", "--format", "csv"]],
    "gate": [["qrels", "run", "--baseline", "run", "--github", "-o", "out.txt"]],
    "verify": [["RR = 0.4 | rel=1 | 5 queries, run unknown", "qrels", "run", "-o", "out.txt"]],
    "simulate": [["ties", "-o", "out.svg"], ["ties", "-o", "out/"]],
    "dialects": [["qrels", "run", "-o", "out.txt"]],
    "reconcile": [["qrels", "run", "--reported", "0.5", "-o", "out.txt"]],
    "audit": [["table", "-o", "out.txt"]],
    "plan": [["qrels", "run", "--baseline", "other", "-o", "out.txt"]],
    "identify": [["metric.py:success", "-m", "Success@1", "--takes", "ids", "-o", "out.txt"]],
    "explorer": [["-o", "out.html"]],
    "boxes": [
        [BOXES, FOUND, "-o", "out.csv"],
        ["explain", BOXES, FOUND, "--image", "1", "-o", "out.svg"],
        ["check", BOXES, FOUND, "-o", "out.txt"],
        ["dialects", BOXES, FOUND, "-o", "out.txt"],
        ["reconcile", BOXES, FOUND, "--reported", "0.5", "-m", "AP50", "-o", "out.txt"],
        ["report", BOXES, FOUND, "-o", "out.html"],
        ["gate", BOXES, FOUND, "--baseline", FOUND, "-o", "out.txt"],
    ],
}
SPY = """
import json, os, sys
writes = []


def spy(event, given):
    if event == "open" and isinstance(given[0], str) and given[2] & (os.O_WRONLY | os.O_RDWR):
        writes.append(os.path.relpath(given[0]))


sys.addaudithook(spy)
from germane import cli
for arguments in json.loads(sys.argv[1]):
    assert cli.main(arguments) == 0, arguments
print("\\n" + json.dumps(writes))
"""


def test_every_command_writes_beside_the_place_and_renames(tmp_path: Path) -> None:
    """What Python opens to write, in the folder that the commands are given, are parts alone."""
    for name, items in (("run", "abc"), ("other", "bca")):
        lines = (f"q Q0 {item} 1 {-rank} t\n" for rank, item in enumerate(items))
        (tmp_path / name).write_text("".join(lines) + "r Q0 a 1 1 t\n")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 c 1\n" + "".join(f"{q} 0 a 1\n" for q in "rstu"))
    shutil.copy(tmp_path / "qrels", tmp_path / "judge")
    (tmp_path / "table").write_text("run,P@1\nours,0.5\n")
    (tmp_path / "metric.py").write_text(
        "def success(relevant, ranked):\n    return float(ranked[:1] != [] and ranked[0] in relevant)\n"
    )
    commands = [[name, *more] for name, several in WRITERS.items() for more in several]
    done = subprocess.run(
        [sys.executable, "-c", SPY, json.dumps(commands)], cwd=tmp_path, check=False,
        capture_output=True, text=True, env={**os.environ, "GITHUB_STEP_SUMMARY": "out.summary"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    opened = [path for path in json.loads(done.stdout.splitlines()[-1]) if ".." not in path]
    inside = [path for path in opened if not os.path.isabs(path) and path != os.devnull]
    assert [path for path in inside if not path.startswith(writing.PART)] == []
    assert len(inside) > len(commands)  # the gallery and the gate write two
    made = {"out", "out.csv", "out.txt", "out.json", "out.svg", "out.html", "out.gif", "out.png",
            "out.pdf", "out.md", "out.summary", "qrels", "judge", "run", "other", "table", "metric.py"}  # fmt: skip
    assert set(os.listdir(tmp_path)) == made


def test_no_command_that_writes_is_forgotten() -> None:
    writing = set()
    for name in cli.COMMANDS:
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
            cli.main([name, "--help"])
        if name != "trec_eval" and "-o" in told.getvalue().split():
            writing.add(name)
    assert writing == WRITERS.keys()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_terminal_that_is_shown_data_gets_no_command(name: str) -> None:
    for table in tables(HOSTILE[name]):
        for text in (table.csv(), table.tsv()):
            one_line(as_shown(text).replace("\t", ""))
