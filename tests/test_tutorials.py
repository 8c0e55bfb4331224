"""The tutorials: every cell runs, prints what is saved in the notebook, and links lead somewhere.

``GERMANE_ACCEPT_GOLD=1`` saves what the cells print now.
"""

import ast
import contextlib
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TUTORIALS = sorted((Path(__file__).parents[1] / "docs/tutorials").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
ACCEPT = "GERMANE_ACCEPT_GOLD"


@EACH
def test_cells_print_what_is_saved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    for library in re.findall(r'"import (pandas|polars)\b', path.read_text("utf-8")):
        pytest.importorskip(library)
    monkeypatch.chdir(path.parent)
    names: dict[str, Any] = {}
    for cell in list_code(notebook):
        outputs = write_outputs("".join(cell["source"]), names)
        if os.environ.get(ACCEPT):
            cell["outputs"] = outputs
        where = (
            f"{path.name}: what this cell prints is not what is saved; if it is right, make gold"
        )
        assert cell["outputs"] == outputs, f"{where}\n{''.join(cell['source'])}"
    if os.environ.get(ACCEPT):
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def list_code(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def write_outputs(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell as Jupyter does, and write what it prints and the value of its last line."""
    statements = ast.parse(code).body
    last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(ast.Module(statements, []), "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
        if value is not None:
            print(repr(value))  # noqa: T201 – into the saved text
    text = out.getvalue()
    lines = text.splitlines(keepends=True)
    return [{"name": "stdout", "output_type": "stream", "text": lines}] if text else []


@EACH
def test_links_of_a_tutorial_lead_to_files(path: Path) -> None:
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            for link in re.findall(r"\]\(([^)#]+)", "".join(cell["source"])):
                assert (path.parent / link).exists(), link


@EACH
def test_a_tutorial_is_small(path: Path) -> None:
    assert path.stat().st_size < 20_000


def test_the_start_page_lists_every_tutorial() -> None:
    start = (Path(__file__).parents[1] / "docs/README.md").read_text("utf-8")
    assert len(TUTORIALS) >= 6
    for path in TUTORIALS:
        assert f"](tutorials/{path.name})" in start
