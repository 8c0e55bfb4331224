"""The examples run, and what they say of their numbers is so."""

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn")
matplotlib = pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    """The names that the notebook's cells leave behind, run one after the other."""
    cells = json.loads((EXAMPLES / "image_search.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    sys.path.insert(0, str(EXAMPLES))
    matplotlib.use("Agg")
    try:
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    finally:
        sys.path.remove(str(EXAMPLES))
        matplotlib.pyplot.close("all")
    return names


@pytest.mark.slow
def test_top_k_accuracy_saturates_while_ap_separates(notebook: dict[str, Any]) -> None:
    results = notebook["results"]
    accuracy = {name: result["Success@10"].mean for name, result in results.items()}
    assert min(accuracy.values()) > 0.98
    means = {name: result["AP"].mean for name, result in results.items()}
    assert sorted(means, key=means.get) == ["pixels", "PCA", "MLP", "LDA"]
    assert means["LDA"] - means["pixels"] > 0.2
    assert max(results, key=lambda name: results[name]["AP@10"].mean) == "pixels"


@pytest.mark.slow
def test_eight_nine_and_one_are_the_hard_digits(notebook: dict[str, Any]) -> None:
    groups = notebook["results"]["LDA"].by(notebook["digits"])
    assert sorted(groups, key=lambda digit: groups[digit]["AP"].mean)[:3] == [8, 9, 1]


@pytest.mark.slow
def test_embeddings_in_one_call_are_the_pixels_of_the_table(notebook: dict[str, Any]) -> None:
    import germane

    images, digits = notebook["images"], notebook["digits"]
    alone = germane.evaluate_embeddings(
        images, images, "AP", query_labels=digits, gallery_labels=digits, exclude_self=True
    )
    assert alone["AP"].mean == pytest.approx(notebook["results"]["pixels"]["AP"].mean, abs=1e-6)


@pytest.mark.slow
def test_the_script_prints_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["image_search.py", "-o", str(tmp_path)])
    runpy.run_path(str(EXAMPLES / "image_search.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for part in ("Success@50", "macro", "micro", "finds nothing in its first 10", "AP@10 = ("):
        assert part in printed
    assert {file.name for file in tmp_path.iterdir()} == {"curves.svg", "worst.png"}
