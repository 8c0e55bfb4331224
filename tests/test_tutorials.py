"""The tutorials run, and print what is saved in them.

``GERMANE_ACCEPT_GOLD=1 python -m pytest tests/test_tutorials.py`` saves what they print now.
"""

import contextlib
import io
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import germane

EXAMPLES = Path(__file__).parent.parent / "examples"
TUTORIALS = sorted(path for path in EXAMPLES.glob("*.ipynb") if path.stem != "image_search")


def run_cells(notebook: dict[str, Any]) -> list[str]:
    """Run the cells of code one after the other. Returns what each prints."""
    names: dict[str, Any] = {}
    printed = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile("".join(cell["source"]), "<a cell>", "exec"), names)
            printed.append(out.getvalue())
    return printed


def save(path: Path, notebook: dict[str, Any], printed: list[str]) -> None:
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, text) in enumerate(zip(cells, printed, strict=True), 1):
        cell["execution_count"] = number
        stream = {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}
        cell["outputs"] = [stream] if text else []
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_says(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "recommender":
        pytest.importorskip("pandas")
    if path.stem == "segmentation":
        pytest.importorskip("pycocotools")
    monkeypatch.chdir(EXAMPLES)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        printed = run_cells(notebook)
    if os.environ.get("GERMANE_ACCEPT_GOLD"):
        save(path, notebook, printed)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    saved = ["".join(text for one in cell["outputs"] for text in one["text"]) for cell in cells]
    assert printed == saved
    assert "<bound method" not in "".join(saved)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_links_of_a_tutorial_lead_to_pages(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    links = re.findall(r"\]\(([^)#\s]+)", text)
    assert links
    assert [link for link in links if not (EXAMPLES / link).exists()] == []


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_small_and_on_the_start_page(path: Path) -> None:
    assert path.stat().st_size < 30_000
    start = (EXAMPLES.parent / "docs/README.md").read_text("utf-8")
    assert f"](../examples/{path.name})" in start
