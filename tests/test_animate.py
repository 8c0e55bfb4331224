"""An animation is the explanation's own terms and norm, frame by frame, in a file that stands alone."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import germane
from germane.cli import main

from animations import SVG, Checked, draw, hostile, long, ten, write

# --- The drawing ------------------------------------------------------------------------------------


def test_a_small_window_moves_each_panel_once() -> None:
    text = write(ten(), "svg")
    moved = re.findall(r"\.germane\.small \.([\w-]+) { transform: translate", text)
    assert moved == ["ranking-panel", "curve-panel", "sums-panel"]
    for name in moved:
        assert text.count(f'class="{name}"') == 1
    assert 'data-narrow="0 0 496 ' in text


def test_buttons_stand_beside_each_other() -> None:
    groups = [each for each in draw(ten()).iter(f"{SVG}g") if each.get("class") == "controls"]
    assert len(groups) == 2  # one of each arrangement
    for controls in groups:
        buttons = [each for each in controls if "data-do" in each.attrib]
        places = [float(re.findall(r"[\d.]+", each.attrib["transform"])[0]) for each in buttons]
        widths = [float(each.find(f"{SVG}rect").attrib["width"]) for each in buttons]  # type: ignore[union-attr]
        ends = [x + width for x, width in zip(places, widths, strict=True)]
        assert len(buttons) == 4
        assert all(end < x for end, x in zip(ends[:-1], places[1:], strict=True))
        (count,) = (each for each in controls if "data-count" in each.attrib)
        assert float(count.attrib["x"]) == ends[-1]


def test_a_picture_has_a_role_and_a_title() -> None:
    root = draw(ten())
    assert root.get("role") == "img"
    title = root.find(f"{SVG}title")
    assert title is not None
    assert title.text == "AP@10 of one list"
    assert 'setAttribute("role", "group")' in write(ten(), "svg"), "with a script it has buttons"


# --- SVG and HTML ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [ten, hostile, long], ids=lambda make: make.__name__)
def test_files_stand_alone(make) -> None:  # type: ignore[no-untyped-def]
    """No address but the namespace's, nothing that loads, one script."""
    explanation = make()
    for text in (write(explanation, "svg"), write(explanation, "html")):
        own = text.replace("http://www.w3.org/2000/svg", "")
        assert "http" not in own.replace('<meta http-equiv="Content-Security-Policy"', "")
        assert "url(" not in own
        assert "@import" not in own
        checked = Checked()
        checked.feed(text.replace("<![CDATA[", "").replace("]]>", ""))
        assert checked.tags.count("script") == 1
        assert not {"img", "b", "iframe", "link", "object", "use", "image"} & set(checked.tags)


def test_ids_are_inert() -> None:
    tree = draw(hostile())
    assert len(list(tree.iter(f"{SVG}script"))) == 1
    for element in tree.iter():
        assert element.tag.removeprefix(SVG) in {
            "svg", "title", "desc", "style", "script", "g", "text", "rect", "circle", "polyline", "path",
        }  # fmt: skip
        assert not [name for name in element.attrib if name.startswith("on")]
        assert (element.text or "").replace("\n", "").isprintable()
    texts = {element.text for element in tree.iter(f"{SVG}text")}
    assert {"<script>alert(1)</script>", "\\x1b[31mred\\x1b[0m\\x07", "שלום עולם"} <= texts
    (script,) = tree.iter(f"{SVG}script")
    assert "alert(1)" not in (script.text or "")


def test_only_its_own_script_runs_in_the_page() -> None:
    import base64
    import hashlib

    text = write(hostile(), "html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in text


def test_it_can_be_used_without_a_mouse_and_without_motion() -> None:
    for text in (write(ten(), "svg"), write(ten(), "html")):
        for action in ("start", "back", "play", "forward"):
            assert re.search(rf'data-do="{action}"[^>]*aria-label="[A-Z]', text), action
        assert 'aria-live="polite"' in text
        assert "prefers-reduced-motion: reduce" in text
        assert "prefers-color-scheme: dark" in text
        assert ":focus-visible" in text
    buttons = [element for element in draw(ten()).iter() if "data-do" in element.attrib]
    assert all(b.attrib["role"] == "button" and b.attrib["tabindex"] == "0" for b in buttons)
    assert '<input type="range" min="0" max="11"' in write(ten(), "html")
    assert '<html lang="en">' in write(ten(), "html")


# --- Files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.svg", "a.html", "A.SVG", "a.gif"])
def test_a_file_is_written(name: str, tmp_path: Path) -> None:
    if name.endswith("gif"):
        pytest.importorskip("matplotlib")
    germane.animate(ten(), tmp_path / name)
    first = (tmp_path / name).read_bytes()
    germane.animate(ten(), str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == first, "the same each time"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.usefixtures("full_disk")
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text("old")
    with pytest.raises(germane.errors.InputError, match="cannot be written"):
        germane.animate(ten(), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.svg"]


def test_a_gif_without_its_libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(germane.errors.InputError, match=r"pip install 'germane\[plot\]'"):
        germane.animate(ten(), tmp_path / "a.gif")
    germane.animate(ten(), tmp_path / "a.svg")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ap.html"
    assert main(["explain", "0 0 1", "-m", "AP", "--animate", str(path)]) == 0
    assert "AP = (1/3) / 1 = 0.3333" in capsys.readouterr().out
    assert "AP = (1/3) / 1 = 0.3333" in path.read_text("utf-8")
    assert main(["explain", "0 0 1", "--animate", str(tmp_path / "ap.png")]) == 2
    assert "an animation is a .gif, .svg or .html file" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["ap.html"]


def test_an_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run.html"
    run.write_text("q Q0 d 1 1 t\n")
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    assert main(["explain", str(tmp_path / "qrels"), str(run), "--animate", str(run)]) == 2
    assert "this is an input" in capsys.readouterr().err


def test_importing_germane_loads_no_drawing() -> None:
    code = "import sys, germane; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "germane" in loaded
    for module in (
        "germane.teaching.scenes",
        "germane.teaching.drawing",
        "germane.teaching.animation",
        "xml.sax",
        "PIL",
    ):
        assert module not in loaded
