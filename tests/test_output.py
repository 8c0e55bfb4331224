"""Where a file is written: whole or not at all, and only where a file belongs."""

import os
import stat
import threading
from pathlib import Path

import pytest

from germane import output
from germane.errors import InputError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    output.write(str(tmp_path / "new"), "text")
    assert (tmp_path / "new").read_text() == "text"
    assert mode(tmp_path / "new") == 0o666 & ~output._umask()
    assert os.listdir(tmp_path) == ["new"]


def test_a_file_that_exists_keeps_its_permissions(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.write_text("old")
    private.chmod(0o600)
    output.write(str(private), "new")
    assert (private.read_text(), mode(private)) == ("new", 0o600)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    output.write(str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    output.write(str(pipe), "text")
    reader.join(10)
    assert got == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_nothing_is_left_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    kept = tmp_path / "kept"
    kept.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        output.write(str(kept), "new")
    assert (os.listdir(tmp_path), kept.read_text()) == (["kept"], "old")


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("q Q0 d 1 1 t\n")
    (tmp_path / "link").symlink_to(run)
    for path in (run, tmp_path / "link"):
        with pytest.raises(InputError, match="this is an input; it would be overwritten"):
            output.check(str(path), ["-", str(run)])
    output.check(str(tmp_path / "other"), [str(run)])


@pytest.mark.parametrize("path", ["", "no such folder/file"])
def test_an_output_without_a_folder_is_refused_before_the_work(path: str) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        output.check(path)
