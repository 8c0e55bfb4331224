"""Texts of queries and items: how files are read, and what explain and report show of them."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import germane
from germane.cli import main

from report_page import HOSTILE, embedded
from report_page import Text as Page

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}}
RUNS = {
    "a": {"q1": ["d2", "d1", "x"], "q2": ["d3"]},
    "b": {"q1": ["d1", "x", "d2"], "q2": ["x", "d3"]},
}


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", "surrogateescape")
    return path


# --- Explain ---------------------------------------------------------------------------------------


def test_explain_shows_texts() -> None:
    items = {"d1": "the first\nitem", "d2": "x" * 100}
    made = germane.explain(
        QRELS, RUNS["a"], "AP", query="q1", items=items, queries={"q1": "which?"}
    )
    table = made.table()
    text = table.columns.index("text")
    assert [row[text] for row in table.rows] == ["x" * 59 + "…", "the first item", ""]
    assert table.notes[0] == "query 'q1': which?"
    assert made.table(digits=None).rows[0][text] == "x" * 100
    ranks = made.to_dict()["ranks"]
    assert [rank["text"] for rank in ranks] == ["x" * 100, "the first item", None]
    plain = germane.explain(QRELS, RUNS["a"], "AP", query="q1")
    assert "text" not in plain.table().columns
    assert "text" not in plain.to_dict()["ranks"][0]
    with pytest.raises(germane.errors.InputError, match="are for qrels and a run"):
        germane.explain([1, 0], "AP", items=items)


def test_explain_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("qrels"), "q1 0 d1 1\n")
    write(Path("a.run"), "q1 Q0 d1 1 2 t\n")
    write(Path("items.jsonl"), '{"id": "d1", "title": "Whale", "text": "blue"}\n')
    write(Path("queries.tsv"), "q1\tlargest animal\n")
    texts = ["--items", "items.jsonl", "--queries", "queries.tsv"]
    assert main(["explain", "qrels", "a.run", "--query", "q1", *texts]) == 0
    shown = capsys.readouterr().out
    assert "Whale: blue" in shown
    assert "largest animal" in shown
    assert main(["explain", "qrels", "a.run", *texts, "-o", "items.jsonl"]) == 2
    assert main(["report", "qrels", "a.run", *texts, "-o", "queries.tsv"]) == 2
    assert main(["report", "qrels", "a.run", *texts, "-o", "page.html"]) == 0
    assert "largest animal" in Path("page.html").read_text("utf-8")


# --- Report ----------------------------------------------------------------------------------------


def test_report_has_the_texts_of_what_it_shows() -> None:
    items = {"d1": "one", "d2": {"title": "Two", "text": "y" * 500}, "unseen": "never"}
    data = embedded(germane.report(QRELS, RUNS, "AP", items=items, queries={"q2": "why?"}))
    assert data["texts"] == {"d1": "one", "d2": {"title": "Two", "text": "y" * 159 + "…"}}
    assert data["said"] == ["", "why?"]


def test_hostile_texts_are_text() -> None:
    qrels = {"q": dict.fromkeys(HOSTILE, 1)}
    items = {
        one: {"title": one, "text": one, "url": f"https://example.org/{one}"} for one in HOSTILE
    }
    run = {"q": [one for one in HOSTILE if one]}
    report = germane.report(qrels, {"a": run}, "AP", items=items, queries={"q": HOSTILE[1]})
    page = Page(report.html)
    assert page.tags.count("script") == 2
    assert not {"img", "a"} & set(page.tags[page.tags.index("section") :])
    assert not set("\0\x1b\u202e") & set(report.html)


def test_images_become_thumbnails(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (400, 200), "red").save(tmp_path / "d1.png")
    write(tmp_path / "d2.png", "no image")
    items = write(tmp_path / "items.tsv", "d1\td1.png\nd2\td2.png\nd3\thttps://example.org/3.png\n")
    report = germane.report(QRELS, RUNS, "AP", items=items)
    texts = embedded(report)["texts"]
    kind, _, coded = texts["d1"]["image"].partition(",")
    assert kind == "data:image/jpeg;base64"
    assert image.open(io.BytesIO(base64.b64decode(coded))).size == (96, 48)
    assert texts["d2"] == str(tmp_path / "d2.png")
    assert texts["d3"] == {"link": "https://example.org/3.png"}
    assert "img-src data:" in report.html
    assert "img-src" not in germane.report(QRELS, RUNS, "AP").html


def test_a_folder_has_all_rankings(tmp_path: Path) -> None:
    queries = [f"q{i:03}" for i in range(230)]
    qrels = {query: {"d": 1} for query in queries}
    run = {query: ["x", "d"] for query in queries}
    report = germane.report(qrels, {"a": run}, "AP", items={"d": "text"}, layout="folder")
    report.save(tmp_path / "report")
    names = sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*") if one.is_file())
    assert names == ["report/index.html", *(f"report/rankings/000{i}.js" for i in range(3))]
    kept: dict[str, Any] = {}
    for i in range(3):
        found = re.fullmatch(
            r"showRankings\((\d),(.*)\);\n", (tmp_path / f"report/rankings/000{i}.js").read_text()
        )
        assert found is not None
        assert found[1] == str(i)
        data = json.loads(found[2])
        assert data["texts"] == {"d": "text"}
        assert {int(q) // 100 for q in data["details"]} == {i}
        kept |= data["details"]
    assert len(kept) == 230
    assert embedded(report)["details"] == {}


def test_size_decides_how_many_rankings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = [f"q{i:03}" for i in range(300)]
    qrels = {query: {"d": 1} for query in queries}
    runs = {"a": {q: ["x", "d"] for q in queries}, "b": {q: ["d"] for q in queries}}
    sizes = [len(germane.report(qrels, runs, "AP", max_size=size).html) for size in (0, 120_000)]
    assert sizes[0] < 90_000 < sizes[1] < 120_000
    monkeypatch.chdir(tmp_path)
    write(Path("qrels"), "q 0 d 1\n")
    write(Path("a.run"), "q Q0 d 1 2 t\n")
    Path("there").mkdir()
    assert main(["report", "qrels", "a.run", "--max-size", "0.5KB", "-o", "page.html"]) == 0
    assert '"details":{}' in Path("page.html").read_text("utf-8")
    for folder in ("there", "new/"):
        assert main(["report", "qrels", "a.run", "-o", folder]) == 0
        assert Path(folder, "rankings/0000.js").read_text("utf-8").startswith("showRankings(0,{")
    with pytest.raises(SystemExit):
        main(["report", "qrels", "a.run", "--max-size", "5 MB", "-o", "page.html"])
    assert "takes a size such as 5MB" in capsys.readouterr().err
    with pytest.raises(germane.errors.InputError, match="max_size takes a number of bytes"):
        germane.report(qrels, runs, "AP", max_size=-1)
    with pytest.raises(germane.errors.InputError, match="layout takes page or folder"):
        germane.report(qrels, runs, "AP", layout="file")  # type: ignore[arg-type]


def test_every_pair_has_its_first_queries() -> None:
    """Ten runs, of which each wins one query by far: its ranking is there for each pair of runs."""
    names = [f"r{i}" for i in range(6)]
    queries = [f"q{i:03}" for i in range(200)]
    qrels = {query: {f"d{i}": 1 for i in range(20)} for query in queries}
    runs = {
        name: {
            query: [f"x{j}" for j in range((7 * i + 3 * n * n + i * n) % 11)]
            + [f"d{i}" for i in range(20)]
            for n, query in enumerate(queries)
        }
        for i, name in enumerate(names)
    }
    report = germane.report(qrels, runs, "AP", max_size=330_000)
    data = embedded(report)
    assert len(report.html.encode()) < 330_000
    assert "Queries without a ranking of both runs are marked" in data["note"]
    results = germane.evaluate_many(qrels, runs, "AP")
    for one in names:
        for other in names:
            if one == other:
                continue
            a, b = (results[name]["AP"].per_query for name in (one, other))
            first = max(queries, key=lambda query: a[query] - b[query])
            best = a[first] - b[first]
            kept = [
                data["queries"][int(q)]
                for q, each in data["details"].items()
                if all(each[data["runs"].index(name)] for name in (one, other))
            ]
            assert any(a[query] - b[query] == best for query in kept), (one, other)


# --- Every form of texts ---------------------------------------------------------------------------

TEXTS = {"d1": "the first item", "d2": "the second", "q": "the first item"}


def make_forms(folder: Path) -> dict[str, Any]:
    """The same texts in every form: mappings, frames, rows, a Series, and files."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"id": item, "text": text} for item, text in TEXTS.items()]
    columns = {"id": list(TEXTS), "text": list(TEXTS.values())}
    data_set = {"queries": TEXTS, "corpus": TEXTS, "relevant_docs": {}}
    beir = {item: {"title": "", "text": text} for item, text in TEXTS.items()}
    files = {
        "t.json": json.dumps(TEXTS),
        "columns.json": json.dumps(beir, indent=1),
        "rows.json": json.dumps(rows),
        "lines.json": "".join(f"{json.dumps(row)}\n" for row in rows),
        "set.json": json.dumps(data_set),
        "t.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "t.tsv": "".join(f"{item}\t{text}\n" for item, text in TEXTS.items()),
        "t.csv": "id,text\n" + "".join(f"{item},{text}\n" for item, text in TEXTS.items()),
    }
    return {
        "a mapping": TEXTS,
        "a mapping of columns": beir,
        "a data set": data_set,
        "rows": rows,
        "pandas": pandas.DataFrame(columns),
        "a Series": pandas.Series(TEXTS),
        "polars": polars.DataFrame(columns),
        "pyarrow": pyarrow.table(columns),
        "a function": TEXTS.get,
        **{name: write(folder / name, text) for name, text in files.items()},
    }


def test_every_form_in_every_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write(tmp_path / "qrels", "q 0 d1 1\nq 0 d2 0\n")
    run = write(tmp_path / "a.run", "q Q0 d2 1 2 t\nq Q0 d1 2 1 t\n")
    page = tmp_path / "page.html"
    for form, texts in make_forms(tmp_path).items():
        both = {"queries": texts, "items": texts}
        explanation = germane.explain(qrels, run, "AP", query="q", **both)
        assert explanation.to_dict()["ranks"][0]["text"] == "the second", form
        assert explanation.table().notes[0] == "query 'q': the first item", form
        report = embedded(germane.report(qrels, {"a": run}, "AP", **both))
        assert report["texts"] == {"d1": "the first item", "d2": "the second"}, form
        checkup = germane.check(qrels, run, "AP", **both)
        assert "the first item" in str(checkup) or callable(texts), form  # of judged items alone
        if isinstance(texts, Path):
            options = [str(qrels), str(run), "--items", str(texts), "--queries", str(texts)]
            assert main(["explain", *options, "--query", "q"]) == 0
            assert "the second" in capsys.readouterr().out
    options = [str(qrels), str(run), "--items", str(tmp_path / "t.json")]
    assert main(["report", *options, "-o", str(page)]) == 0
    assert "the second" in page.read_text("utf-8")


BAD: dict[str, tuple[Any, str]] = {
    "a number": (7, "items takes the path of a file"),
    "a number for a text": ({"d1": 7}, "items must give text"),
    "no ids": ([{"text": "x"}], "no column contains the ids; there are 'text'"),
    "two texts": ([{"id": "d1", "text": "x"}, {"id": "d1", "text": "y"}], "'d1' has two texts"),
    "a file of numbers": ('{"d1": 7}', "items must give text"),
    "a file of a list": ("[1, 2]", "or a list of rows with an id"),
    "a key twice": ('{"d1": "x", "d1": "y"}', "has the key 'd1' twice"),
    "no JSON": ('{"d1": ', "this is not JSON"),
    "deep": ("[" * 100_000, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_texts_are_checked_before_the_work(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judgments and runs are not opened: there are none."""
    raw, says = BAD[case]
    texts = write(tmp_path / "items.json", raw) if isinstance(raw, str) else raw
    absent = str(tmp_path / "absent")
    for verb in (
        lambda: germane.explain(absent, absent, "AP", query="q", items=texts),
        lambda: germane.report(absent, {"a": absent}, "AP", items=texts),
        lambda: germane.check(absent, absent, "AP", items=texts),
    ):
        with pytest.raises(germane.errors.InputError) as error:
            verb()
        assert says in str(error.value)
