"""The figures of experiments are those of their columns; a gallery is whole or absent."""

import os
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.teaching.experiment_figures import DRAWN, ExperimentDisplay
from germane.teaching.experiments import EXPERIMENTS, write_gallery

from test_gallery import NAMES, drawn

FEW = EXPERIMENTS[2:4]


@pytest.mark.parametrize("name", NAMES)
def test_the_lines_are_the_columns(name: str) -> None:
    display = drawn(name)
    right = display.axes_[1]
    assert len(right.lines) == len(DRAWN[name].lines)
    for line, told in zip(right.lines, DRAWN[name].lines, strict=True):
        by_setting = display.experiment[display.setup.write(told.column)]
        assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) == by_setting
    patterns = [line.get_linestyle() for line in right.lines]
    assert len(set(patterns)) == len(patterns), "told apart without color"


def test_a_folder_that_is_there_keeps_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "elsewhere.svg").write_text("old")
    (tmp_path / "recall.svg").symlink_to("elsewhere.svg")
    (tmp_path / "index.md").write_text("old")
    seen: list[Any] = []
    write_gallery(str(tmp_path), FEW, progress=lambda *state: seen.append(state))
    assert seen == [("late_precision", 0, 2), ("recall", 1, 2)]
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "recall.svg").is_symlink()
    assert (tmp_path / "elsewhere.svg").read_text().startswith("<?xml")
    assert (tmp_path / "index.md").read_text("utf-8").startswith("# Experiments")
    assert len(os.listdir(tmp_path)) == 5


@pytest.mark.parametrize("exists", ["new", "old"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_half_written(
    exists: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "gallery"
    if exists == "old":
        target.mkdir()
        (target / "index.md").write_text("old")
    picture = ExperimentDisplay.picture

    def failing(display: ExperimentDisplay, suffix: str) -> bytes:
        if display.experiment.name == "recall":
            raise error
        return picture(display, suffix)

    monkeypatch.setattr(ExperimentDisplay, "picture", failing)
    told = germane.errors.InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(told, match=r"gallery: cannot be written.*No space|^$"):
        write_gallery(str(target), FEW)
    assert os.listdir(tmp_path) == (["gallery"] if exists == "old" else [])
    if exists == "old":
        assert os.listdir(target) == ["index.md"]
        assert (target / "index.md").read_text() == "old"


def test_a_full_disk_is_told_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    """The system refuses the file in the temporary folder; the folder that the user named is told."""
    resource = pytest.importorskip("resource")
    target = str(tmp_path / "gallery")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(germane.errors.InputError) as raised:
            write_gallery(target, FEW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert str(raised.value) == f"{target}: cannot be written (File too large)."
    assert os.listdir(tmp_path) == []
