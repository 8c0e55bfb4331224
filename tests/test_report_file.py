"""A report is one file that stands alone, says where it comes from, and stays small."""

import hashlib
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import germane
from germane.cli import main

from report_page import (
    DIGITS,
    HOSTILE,
    MEASURES,
    Text,
    digits,
    embedded,
    of_digits,
    of_hostile_ids,
    small,
    unpacked,
    words,
)
from sizes import set_sizes

# --- Where it comes from ---------------------------------------------------------------------------


def test_inputs_versions_and_conventions() -> None:
    text = words(of_digits())
    for path in (DIGITS / "qrels.txt", *map(Path, digits().values())):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert f"{path} {path.stat().st_size:,} {digest}" in text
    assert f"germane {germane.__version__}, NumPy {np.__version__}" in text
    assert "duplicates=error ties=trec missing=zero" in text
    assert "from memory (dict)" in words(small())


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    Path("one.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")
    command = ["report", "qrels", "one.run", "-m", "AP RR", "-o", "page.html", "--title", "a b"]
    monkeypatch.setattr("sys.argv", ["germane", *command])
    assert main(command) == 0
    text = str(Text(Path("page.html").read_text("utf-8")))
    assert "germane report qrels one.run -m 'AP RR' -o page.html --title 'a b'" in text
    assert main(["report", "qrels", "one.run", "-o", "qrels"]) == 2
    assert main(["report", "qrels", "one.run", "-o", "none/page.html"]) == 2
    assert Path("qrels").read_text().startswith("q1"), "an input is not overwritten"


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    made = small()
    made.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8") == made.html
    with pytest.raises(germane.errors.InputError, match="cannot be written"):
        made.save(tmp_path / "none" / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.slow
def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    paths = digits()
    germane.report(str(DIGITS / "qrels.txt"), paths, "RR", progress=lambda *one: told.append(one))
    assert {"rankings", f"hash of {paths['lda']}"} <= {name for name, _, _ in told}
    assert [done for name, done, _ in told if name == "rankings"] == list(range(400))


# --- The file --------------------------------------------------------------------------------------


def test_a_page_stands_alone() -> None:
    for report in (of_digits(), of_hostile_ids()):
        page = Text(report.html)
        assert not {"link", "img", "iframe", "object", "base", "form"} & set(page.tags)
        names = {name for name, _ in page.attributes}
        assert not {"src", "srcset", "data", "action", "background"} & names
        assert all(value.startswith("#") for name, value in page.attributes if name == "href")
        assert not [name for name in names if name.startswith("on")]
        assert "default-src 'none'" in report.html
        style = re.findall(r"<style>(.*?)</style>", report.html, re.DOTALL)
        assert not re.search(r"url\(|@import", "".join(style))
    assert not re.search(r"https?:", of_digits().html)


def test_hostile_ids_are_text() -> None:
    page = Text(of_hostile_ids().html)
    assert page.tags.count("script") == 2, "the page's own, and its data"
    assert of_hostile_ids().html.count("<script") == of_hostile_ids().html.count("</script>") == 2
    assert "<!--" not in of_hostile_ids().html
    assert "\u202e" not in of_hostile_ids().html
    assert "\0" not in of_hostile_ids().html
    assert "\x1b" not in of_hostile_ids().html
    assert HOSTILE[0] in str(page)
    data = embedded(of_hostile_ids())
    assert data["queries"][:5] == HOSTILE[:5]
    assert data["queries"][5] == r"\u202eright to left\u202c"
    for detail in data["details"].values():
        for one in (one for each in detail for one in each):
            width = len(one["columns"])
            assert {row.count("\u00a0") for row in one["rows"].split("\n")} == {width - 1}


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    data = re.search(r'id="data">(.*?)</script>', of_digits().html)
    assert data is not None
    assert len(of_digits().html.encode()) < 2_000_000
    assert len(of_digits().html.encode()) - len(data[1].encode()) < 150_000
    script = re.findall(r"<script>(.*?)</script>", of_digits().html, re.DOTALL)
    assert len(script[0].encode()) <= 26 * 1024
    # 10 runs × 7,000 queries × 6 measures are 1.12 MB of values, at 8/3 bytes each
    assert len(json.dumps(embedded(of_digits())["values"])) < 2 * 200 * 5 * 8 / 3 + 100
    set_sizes(monkeypatch, max_size=0)
    set_sizes(monkeypatch, least=100_000)
    cut = germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    kept = embedded(cut)["details"]
    assert 0 < len(kept) < 40
    assert len(cut.html.encode()) < 150_000 + 100_000
    assert f"it has rankings of {len(kept)} of 200 queries" in embedded(cut)["note"]
    assert embedded(of_digits())["note"] == ""


def test_a_page_that_cannot_be_so_small() -> None:
    runs = {"a": {"q": ["d"]}}
    with pytest.warns(
        germane.GermaneWarning, match=r"report: the page has \d\d KB, and max_size is 3 bytes"
    ) as got:
        made = germane.report({"q": ["d"]}, runs, "RR", max_size=3)
    size = len(made.html.encode())
    assert f"has {size / 1e3:.0f} KB" in str(got[-1].message)
    for most in (size, None):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            germane.report(
                {"q": ["d"], "p": ["e"]},
                {"a": {"q": ["d"], "p": ["e"]}},
                "RR",
                max_size=most and 2 * most,
            )


def test_a_report_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 t\n")
    monkeypatch.chdir(tmp_path)
    for folder in (".", "./"):
        assert main(["report", "qrels", "run", "-o", folder]) == 2
        says = capsys.readouterr().err
        assert f"{folder}: the input qrels lies in this folder and could be overwritten" in says
        assert "such as ./report/" in says
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run"]
    for _ in range(2):  # and it is written over
        assert main(["report", "qrels", "run", "-o", "page/", "-m", "RR"]) == 0
    assert (tmp_path / "page" / "index.html").exists()
    with pytest.raises(germane.errors.InputError, match="the folder contains other files"):
        germane.report("qrels", {"a": "run"}, "RR", layout="folder").save(tmp_path)


def test_what_is_kept_is_what_matters_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest difference and the lowest value come first."""
    set_sizes(monkeypatch, max_size=0)
    set_sizes(monkeypatch, least=25_000)
    data = embedded(germane.report(str(DIGITS / "qrels.txt"), digits(), "AP RR"))
    values = unpacked(data)["AP"]
    kept = {data["queries"][int(at)] for at in data["details"]}
    apart = {q: abs(float(values["lda"][q]) - float(values["pixels"][q])) for q in data["queries"]}
    low = {q: float(values["lda"][q]) + float(values["pixels"][q]) for q in data["queries"]}
    assert max(apart, key=lambda q: apart[q]) in kept
    assert min(low, key=lambda q: low[q]) in kept
    assert len(kept) < 20


def test_long_rankings_and_missed_items_are_cut() -> None:
    qrels = {"q": {f"d{i}": 1 for i in range(600)}}
    run = {"q": [f"d{i}" for i in range(500)]}
    [[one]] = embedded(germane.report(qrels, {"a": run}, "AP"))["details"]["0"]
    assert one["rows"].count("\n") + 1 + one["more"] == 500
    assert len(one["names"]) == 40
    assert one["missed"] == 100
