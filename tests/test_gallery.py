"""The figures of the experiments show their numbers; a gallery is whole or absent."""

import csv
import io
import json
import os
import re
import stat
import sys
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import germane
from germane import cli

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.figure import Figure  # noqa: E402

from germane.plot import ExperimentDisplay  # noqa: E402

from strategies import EXPERIMENTS  # noqa: E402

NAMES = [design.name for design in EXPERIMENTS]
FILES = sorted(["index.md", *(f"{name}.svg" for name in NAMES)])


@cache
def drawn(name: str) -> ExperimentDisplay:
    return ExperimentDisplay(germane.simulate(name)).plot(
        Figure(layout="constrained").add_subplot()
    )


# --- What is drawn is what was computed ------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("ties", "relevant_items")])
def test_the_curves_are_the_curves(name: str) -> None:
    display = drawn(name)
    left = display.axes_[0]
    raw, dots = left.lines[::2], left.lines[1::2]
    labels = [text.get_text() for text in left.texts]
    for (setting, curve), line, dot, label in zip(
        display.experiment.curves.items(), raw, dots, labels, strict=True
    ):
        found = curve.recall > 0
        assert (line.get_xdata() == curve.recall[found]).all()
        assert (line.get_ydata() == curve.precision[found]).all()
        assert label == str(setting)
        (x,), (y,) = dot.get_xdata(), dot.get_ydata()
        assert (x, y) in set(zip(curve.recall.tolist(), curve.precision.tolist(), strict=True))
    lightness = [np.dot(line.get_color(), (0.299, 0.587, 0.114)) for line in raw]
    assert (np.diff(lightness) < -0.08).all(), "from pale to dark"


def test_the_dots_are_where_it_is_said() -> None:
    for name in ("early_precision", "early_precision_50"):
        dots = drawn(name).axes_[0].lines[1::2]
        points = [(dot.get_xdata()[0], dot.get_ydata()[0]) for dot in dots]
        assert points == [(n / 500, n / 250) for n in (50, 100, 150, 200, 250)]
    dots = drawn("late_precision").axes_[0].lines[1::2]
    at = [dot.get_xdata()[0] for dot in dots]
    assert at == [(500 - n) / 500 for n in (0, 50, 100, 150, 200, 250)]
    dots = drawn("cheating").axes_[0].lines[1::2]
    at = [dot.get_xdata()[0] for dot in dots]
    assert at == [n / 500 for n in (500, 400, 300, 200, 100, 50, 10)]


@pytest.mark.parametrize(("name", "column"), [("ties", "tied"), ("relevant_items", "R@10")])
def test_bars(name: str, column: str) -> None:
    display = drawn(name)
    bars = display.axes_[0].containers[0].patches
    assert [bar.get_height() for bar in bars] == list(display.experiment[column].values())


@pytest.mark.parametrize("name", NAMES)
def test_definitions_and_what_is_swept_are_in_the_figure(name: str) -> None:
    left, right = drawn(name).axes_
    assert "Σ P@i·rel(i)" in right.get_title(loc="left")
    assert right.get_xlabel()
    assert right.get_ylabel()
    assert left.get_xlabel()
    figure = left.figure
    assert figure is not None
    title = figure.get_suptitle()
    design = drawn(name).experiment.design
    assert title == f"{design.title}. {design.line}"


def test_in_a_place_of_ones_own() -> None:
    """The two panels take the place of the axes, however these were made; the rest is left alone."""
    display = ExperimentDisplay(germane.simulate("recall"))
    figure = Figure(figsize=(8, 8))
    first, second = figure.subplots(2, 1)
    assert display.plot(second) is display
    assert (display.ax_, display.figure_) == (second, figure)
    assert all(ax.get_position().y1 < first.get_position().y0 for ax in display.axes_)
    assert not figure.get_suptitle()
    free = Figure().add_axes((0.5, 0.5, 0.4, 0.4))
    for ax in display.plot(free).axes_:
        box = ax.get_position()
        assert box.x0 >= 0.5 - 1e-9
        assert box.y1 <= 0.9 + 1e-9


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for place in ("one.svg", "two.svg"):
        ExperimentDisplay(germane.simulate("recall", rng=3)).save(tmp_path / place)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


# --- The gallery -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "gallery"
    assert cli.main(["simulate", "all", "-o", f"{path}/"]) == 0
    return path


@pytest.mark.slow
def test_all_files_are_there(folder: Path) -> None:
    assert sorted(os.listdir(folder)) == FILES
    assert os.listdir(folder.parent) == ["gallery"]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~mask
    for name in NAMES:
        assert ET.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
def test_the_page_states_what_each_shows(folder: Path) -> None:
    page = (folder / "index.md").read_text("utf-8")
    assert "germane simulate all --seed 0 -o gallery/" in page
    assert str(folder.parent) not in page
    for name in NAMES:
        experiment = drawn(name).experiment
        assert f"\n## {experiment.title}\n" in page
        assert all(f"- {claim}\n" in page for claim in experiment.claims)
        for row in experiment.table().rows:
            assert f"| {' | '.join(row)} |" in page
        for column in experiment.columns:
            assert f"- `{column.name}`: {column.definition}\n" in page
    assert sorted(re.findall(r"\]\((\w+\.svg)\)", page)) == [
        file for file in FILES if "svg" in file
    ]


@pytest.mark.slow
def test_the_commands_on_the_page_make_its_figures(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"Made by `germane (.*)`", (folder / "index.md").read_text("utf-8"))
    assert len(commands) == len(NAMES)
    for command in commands[:2]:
        assert cli.main(command.split()) == 0
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (folder / made.name).read_bytes()


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(folder: Path, mode: int) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    assert cli.main(["simulate", "all", "-o", str(tmp_path / "gallery")]) == 2
    assert capsys.readouterr().err.endswith("gallery: cannot be written (Permission denied).\n")
    assert os.listdir(tmp_path) == []


def test_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for place in ("gallery/", "recall.svg"):
        assert (
            cli.main(["simulate", "recall", "-o", str(tmp_path / place) + "/" * (place[-1] == "/")])
            == 2
        )
        assert "pictures need Matplotlib" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
    assert cli.main(["simulate", "recall"]) == 0


# --- The command -----------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert cli.main(["simulate", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_every_experiment_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "all")
    for name in NAMES:
        assert str(drawn(name).experiment) in text
    assert printed(capsys, "recall", "--seed", "4") == str(germane.simulate("recall", rng=4))


def test_all_digits_where_programs_read(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.reader(io.StringIO(printed(capsys, "cheating", "--format", "csv"))))
    experiment = germane.simulate("cheating")
    for column in experiment.columns:
        at = rows[0].index(column.name)
        assert tuple(float(row[at]) for row in rows[1:]) == column.values
    written = json.loads(printed(capsys, "all", "--format", "json"))
    assert [one["name"] for one in written["experiments"]] == NAMES
    assert written["experiments"][4]["columns"][0]["values"] == list(experiment.columns[0].values)


def test_help_lists_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["simulate", "--help"])
    text = capsys.readouterr().out
    for design in EXPERIMENTS:
        assert re.search(
            rf"^  {design.name} +{re.escape(design.describe(design.setup).line)}$",
            text,
            re.MULTILINE,
        )


def test_text_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "recall.md"
    assert cli.main(["simulate", "recall", "--format", "markdown", "-o", str(path)]) == 0
    assert path.read_text("utf-8").startswith("## Recall\n")
