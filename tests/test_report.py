"""A report shows the values that evaluate, compare and explain give, in a page that stands alone."""

import base64
import hashlib
import html
import html.parser
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane.cli import main
from germane.report import data as page_data

from browser import CHROMIUM, Browser, browser

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples/digits"
MEASURES = "AP AP@10 nDCG@10 P@10 RR"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>document.title='taken'</script>",
    '"><img src=x onerror=alert(2)>',
    "' onmouseover='alert(3)",
    "<!--<script>",
    "\u202eright to left\u202c",
    "שלום עולם",
    "&amp;&lt;",
    "line\nline\ttab\0nul\x1b[31m",
    "x" * 5000,
    "\udcff\ufffe",
    "\u2028\u00a0",
    "",
]


def digits() -> dict[str, str]:
    return {name: str(DIGITS / f"{name}.run") for name in ("pixels", "lda")}


@pytest.fixture(scope="module")
def made() -> germane.Report:
    return germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES)


@pytest.fixture(scope="module")
def hostile() -> germane.Report:
    qrels = {
        q: {item: (i + n) % 3 for i, item in enumerate(HOSTILE)} for n, q in enumerate(HOSTILE)
    }
    rng = np.random.default_rng(0)
    runs = {
        name: {q: {item: int(rng.integers(4)) for item in HOSTILE[:9]} for q in HOSTILE}
        for name in HOSTILE[:5]
    }
    return germane.report(qrels, runs, "AP nDCG@10 P(rel=2)@5 NumRet", title=HOSTILE[1])


def small(**choices: Any) -> germane.Report:
    """Two queries, one missing in b; d2 and d3 are tied in a."""
    qrels = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d4": 1}}
    runs = {
        "a": {"q1": {"d2": 2.0, "d3": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}, "q3": {"d": 1.0}},
        "b": {"q1": {"d1": 3.0, "u": 2.0, "d3": 1.0}},
    }
    return germane.report(qrels, runs, **{"measures": "AP RR", **choices})


class Text(html.parser.HTMLParser):
    """The words of a page outside scripts and styles, its elements and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag in ("script", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside and data.strip():
            self.words.append(data)

    def __str__(self) -> str:
        return " ".join(" ".join(self.words).split())


def words(report: germane.Report) -> str:
    return str(Text(report.html))


def embedded(report: germane.Report) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', report.html)
    assert found is not None
    return dict(json.loads(found[1]))


def unpacked(data: dict[str, Any]) -> dict[str, dict[str, dict[str, str]]]:
    """Measure → run → query → the value as the page writes it; missing where it has none."""
    out: dict[str, dict[str, dict[str, str]]] = {}
    for measure, columns in zip(data["measures"], data["values"], strict=True):
        code = {2: "H", 4: "I"}[measure["bytes"]]
        none = 256 ** measure["bytes"] - 1
        for run, text in zip(data["runs"], columns, strict=True):
            packed = base64.b64decode(text)
            numbers = struct.unpack(f"<{len(packed) // measure['bytes']}{code}", packed)
            out.setdefault(measure["name"], {})[run] = {
                query: f"{(measure['low'] + n) / 10 ** measure['digits']:.{max(0, measure['digits'])}f}"
                for query, n in zip(data["queries"], numbers, strict=True)
                if n != none
            }
    return out


# --- Numbers ---------------------------------------------------------------------------------------


def test_means_are_those_of_evaluate(made: germane.Report) -> None:
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    text = words(made)
    for result in results.values():
        for measure in result:
            assert f"{result[measure].mean:.4f}" in text
            assert f"{measure} {result[measure].definition}" in text


def test_an_interval_is_that_of_the_difference_from_nothing(made: germane.Report) -> None:
    """The mean of a run is its mean difference from a run whose values are all 0."""
    qrels = germane.read_qrels(DIGITS / "qrels.txt")
    nothing = {query: ["no such item"] for query in qrels.queries}
    for run in digits().values():
        runs = {"nothing": nothing, "run": run}
        pairs = germane.compare(qrels, runs, MEASURES).pairs
        for pair in pairs:
            assert pair.interval is not None
            assert f"{pair.interval.low:.3f} – {pair.interval.high:.3f}" in words(made), pair


def test_sentences_and_tables_are_those_of_compare(made: germane.Report) -> None:
    comparison = germane.compare(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    text = words(made)
    for pair in comparison.pairs:
        head, rest = pair.sentence.split("], ")
        assert f"{head}] {rest}" in text
    for row in comparison.table().rows:
        assert " ".join(cell for cell in row if cell) in text
    assert "b lda 0.5346 a" in text, "the letter of the run that it beats"


def test_values_of_all_queries_to_the_digits_shown(made: germane.Report) -> None:
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    shown = unpacked(embedded(made))
    for name, result in results.items():
        for measure in result:
            assert shown[measure][name] == {
                query: f"{value:.4f}" for query, value in result[measure].per_query.items()
            }


def test_whole_large_negative_and_missing_values() -> None:
    column = [[0.0, 5.0, float("nan")], [70_000.0, -3.0, 2.0]]
    for values in (np.array(column), np.array(column) / 16, np.array(column) * 1e12):
        scale, packed = page_data._packed(values)
        queries = ["q1", "q2", "q3"]
        shown = unpacked(
            {
                "measures": [{"name": "m", **scale}],
                "runs": ["a", "b"],
                "queries": queries,
                "values": [packed],
            }
        )["m"]
        assert list(shown["a"]) == ["q1", "q2"], "the third has no value"
        got = [[float(shown[run].get(query, "nan")) for query in queries] for run in ("a", "b")]
        exact = 5e-5 if np.nanmax(np.abs(values)) < 1e6 else 5e-5 * np.nanmax(np.abs(values))
        assert np.allclose(got, values, rtol=0, atol=exact, equal_nan=True)
    scale, _ = page_data._packed(np.array(column))
    assert scale["digits"] == 0, "counts are written as counts"


def test_rankings_are_those_of_explain(made: germane.Report) -> None:
    """Row by row and term by term, and besides each of the first ten ranks is a row."""
    data = embedded(made)
    assert len(data["details"]) == 200, "all of them fit"
    for at in (0, 17, 199):
        query = data["queries"][at]
        for run, path in enumerate(digits().values()):
            explanation = germane.explain(str(DIGITS / "qrels.txt"), path, MEASURES, query=query)
            [one] = data["details"][str(at)][run]
            assert one["formulas"] == [reading.formula for reading in explanation.readings]
            assert one["missed"] == len(explanation.missed)
            assert one["names"] == [str(item) for item, _ in explanation.missed[:40]]
            rows = [row.split("\u00a0") for row in one["rows"].split("\n")]
            assert one["columns"] == ["rank", "item", "relevance", "hit", *MEASURES.split()]
            expected = {row[0]: [*row[:4], *row[6::2]] for row in explanation.table().rows}
            top = [line.split() for line in Path(path).read_text().splitlines()]
            top = [fields[2] for fields in top if fields[0] == query][:10]
            assert [row[0] for row in rows[:10]] == [str(rank) for rank in range(1, 11)]
            assert [row[1] for row in rows[:10]] == top
            beyond = [row for row in rows[10:] if row[0] in expected]
            assert len(rows) - 10 - len(beyond) <= 1, "the one that was cut at rank 10"
            assert all(row == expected[row[0]] for row in beyond)
            assert {row[0] for row in rows} >= {r[0] for r in expected.values() if r[3]}
            for row in rows[:10]:
                assert row == expected.get(row[0], [row[0], row[1], "–", "", *[""] * 5])


def test_curves_are_those_of_mean_pr_curve(made: germane.Report) -> None:
    text = words(made)
    lines = re.findall(r'<polyline class="line r\d"[^>]* points="([^"]+)"', made.html)
    assert len(lines) == 2
    for (name, path), line in zip(digits().items(), lines, strict=True):
        curve = germane.mean_pr_curve(str(DIGITS / "qrels.txt"), path)
        points = np.array([point.split(",") for point in line.split()], float)
        across, down = points[:, 0] - points[0, 0], points[-1, 1] - points[:, 1]
        assert np.allclose(across / across[-1], curve.recall, atol=1e-3)
        height = points[-1, 1] - points[0, 1]
        assert curve.precision[-1] == 0, "or the foot of the chart is elsewhere"
        assert np.allclose(down / height * curve.precision[0], curve.precision, atol=1e-3)
        assert f"{name} area (AP) {curve.area():.4f}" in text


# --- What stands out -------------------------------------------------------------------------------


def test_cautions() -> None:
    text = words(small())
    assert "Few queries (2)" in text
    assert "b does not answer 1 of 2 judged queries; they count as 0 (missing=zero)" in text
    assert "a answers 1 query that nobody judged" in text
    # d1 alone is not tied: two of four judged items; RR is (1/1 or 1/2, and 1) / 2
    assert "50.0% of the judged items that a retrieved share their score" in text
    assert f"anything from {(1 / 2 + 1) / 2:.4f} to {1:.4f}" in text
    # a: all judged, of 3 and 1 items; b: 2 of 3 and nothing
    assert "Of the first ten results of b," in text
    assert "first ten results of a," not in text
    assert "b does not answer 1 of 2 judged queries; they are left out" in words(
        small(missing="skip")
    )


def test_ties_that_could_turn_the_order() -> None:
    qrels = {"q": ["d"]}
    tied, sure = {"q": {"d": 1.0, "a": 1.0, "b": 1.0}}, {"q": ["x", "d"]}
    said = "The order of ties alone could turn tied against sure on RR"
    assert said in words(germane.report(qrels, {"tied": tied, "sure": sure}, "RR"))
    first = {"q": ["d"]}
    assert "could turn" not in words(germane.report(qrels, {"tied": tied, "first": first}, "RR"))


def test_judgments_of_relevant_items_only(made: germane.Report) -> None:
    assert "Only relevant items are judged" in words(made)
    assert "Only relevant items are judged" not in words(small())


def test_queries_without_relevant_items() -> None:
    qrels, runs = {"q1": {"d": 1}, "q2": {"d": 0}}, {"a": {"q1": ["d"], "q2": ["d"]}}
    for word, how in (("zero", "count as 0"), ("skip", "are left out"), ("one", "count as 1")):
        text = words(germane.report(qrels, runs, "AP", no_relevant=word))
        assert f"1 query without a relevant item {how} (no_relevant={word})" in text


def test_nothing_stands_out() -> None:
    queries = [f"q{i}" for i in range(30)]
    qrels = {query: {"d": 1, "x": 0} for query in queries}
    text = words(germane.report(qrels, {"a": {query: ["x", "d"] for query in queries}}, "AP"))
    assert "Nothing in the data stands out" in text
    assert "no judged item's tie changes a number" in text


def test_tie_band() -> None:
    text = words(small())
    result = germane.evaluate(
        {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d4": 1}},
        {"q1": {"d2": 2.0, "d3": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}},
        "AP RR",
    )
    for measure in result:
        one = result[measure]
        assert f"a {measure} {one.worst:.4f} {one.mean:.4f} {one.best:.4f}" in text


# --- Other runs, measures and conventions ----------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"ties": "expected", "measures": "AP"}, "puts equal scores in no order: no rankings here"),
        ({"ties": "grouped", "measures": "AP"}, "puts equal scores in no order: no rankings here"),
        ({"missing": "skip"}, "1 query with a value for every run; 1 left out"),
        ({"measures": "AP(mean=geometric) NumRet"}, str(germane.NumRet.definition)),
        ({"measures": "AP P(rel=2)@5"}, "P(rel=2)@5"),
        ({"unjudged": "remove"}, "unjudged=remove"),
        ({"depth": 1}, "depth=1"),
        ({"baseline": "b"}, "a is ahead of b"),
        ({"confidence": 0.9}, "its 90% interval"),
        ({"title": "Spring"}, "Spring"),
    ],
    ids=str,
)
def test_choices(choices: dict[str, Any], said: str) -> None:
    made = small(**choices)
    assert said.lower() in words(made).lower()
    embedded(made)


def test_measures_of_different_rel_are_explained_apart() -> None:
    details = embedded(small(measures="AP P(rel=2)@5 RR"))["details"]
    assert [one["columns"][-2:] for one in details["0"][0]] == [["AP", "RR"], ["tie", "P(rel=2)@5"]]


def test_one_run_and_one_query() -> None:
    one = germane.report({"q": ["d"]}, {"a": {"q": ["x", "d"]}}, "RR")
    assert one.title == "a"
    assert "0.5000" in words(one)
    assert 'id="differences"' not in one.html
    with pytest.raises(germane.AbsentError, match="no run 'b'"):
        germane.report({"q": ["d"]}, {"a": {"q": ["d"]}}, "RR", baseline="b")


def test_arrays_are_reported() -> None:
    grades, scores = np.eye(4, dtype=int), np.eye(4) + np.arange(4) / 10
    data = embedded(germane.report(grades, {"a": scores}, "AP"))
    assert data["queries"] == ["0", "1", "2", "3"]
    assert set(unpacked(data)["AP"]["a"].values()) == {"1.0000"}


def test_many_comparisons_are_said_for_the_best_run_only() -> None:
    runs = {f"r{i}": {"q": ["x"] * 0 + [f"x{j}" for j in range(i)] + ["d"]} for i in range(6)}
    text = words(germane.report({"q": ["d"]}, runs, "RR AP"))
    assert "25 more comparisons" in text  # of 2 × 15, the 5 of the best run on the first measure
    assert "All 30 comparisons" in text
    assert germane.report({"q": ["d"]}, runs, "RR").title == "r0, r1, r2 and 3 more runs"


def test_the_same_inputs_give_the_same_page(made: germane.Report) -> None:
    assert germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES).html == made.html


# --- Where it comes from ---------------------------------------------------------------------------


def test_inputs_versions_and_conventions(made: germane.Report) -> None:
    text = words(made)
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
    with pytest.raises(germane.InputError, match="cannot be written"):
        made.save(tmp_path / "none" / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    paths = digits()
    germane.report(str(DIGITS / "qrels.txt"), paths, "RR", progress=lambda *one: told.append(one))
    assert {"rankings", f"hash of {paths['lda']}"} <= {name for name, _, _ in told}
    assert [done for name, done, _ in told if name == "rankings"] == list(range(200))


# --- The file --------------------------------------------------------------------------------------


def test_a_page_stands_alone(made: germane.Report, hostile: germane.Report) -> None:
    for report in (made, hostile):
        page = Text(report.html)
        assert not {"link", "img", "iframe", "object", "base", "form"} & set(page.tags)
        names = {name for name, _ in page.attributes}
        assert not {"src", "srcset", "data", "action", "background"} & names
        assert all(value.startswith("#") for name, value in page.attributes if name == "href")
        assert not [name for name in names if name.startswith("on")]
        assert "default-src 'none'" in report.html
        style = re.findall(r"<style>(.*?)</style>", report.html, re.DOTALL)
        assert not re.search(r"url\(|@import", "".join(style))
    assert not re.search(r"https?:", made.html)


def test_hostile_ids_are_text(hostile: germane.Report) -> None:
    page = Text(hostile.html)
    assert page.tags.count("script") == 2, "the page's own, and its data"
    assert hostile.html.count("<script") == hostile.html.count("</script>") == 2
    assert "<!--" not in hostile.html
    assert "\u202e" not in hostile.html
    assert "\0" not in hostile.html
    assert "\x1b" not in hostile.html
    assert HOSTILE[0] in str(page)
    data = embedded(hostile)
    assert data["queries"][:5] == HOSTILE[:5]
    assert data["queries"][5] == r"\u202eright to left\u202c"
    for detail in data["details"].values():
        for one in (one for each in detail for one in each):
            width = len(one["columns"])
            assert {row.count("\u00a0") for row in one["rows"].split("\n")} == {width - 1}


def test_sizes(made: germane.Report, monkeypatch: pytest.MonkeyPatch) -> None:
    data = re.search(r'id="data">(.*?)</script>', made.html)
    assert data is not None
    assert len(made.html.encode()) < 2_000_000
    assert len(made.html.encode()) - len(data[1].encode()) < 150_000
    script = re.findall(r"<script>(.*?)</script>", made.html, re.DOTALL)
    assert len(script[0].encode()) <= 10 * 1024
    # 10 runs × 7,000 queries × 6 measures are 1.12 MB of values, at 8/3 bytes each
    assert len(json.dumps(embedded(made)["values"])) < 2 * 200 * 5 * 8 / 3 + 100
    monkeypatch.setattr(page_data, "WHOLE_PAGE", 0)
    monkeypatch.setattr(page_data, "LEAST", 100_000)
    cut = germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    kept = embedded(cut)["details"]
    assert 0 < len(kept) < 40
    assert len(cut.html.encode()) < 150_000 + 100_000
    assert f"it has the rankings of {len(kept)} of 200 queries" in embedded(cut)["note"]
    assert embedded(made)["note"] == ""


def test_what_is_kept_is_what_matters_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest difference and the lowest value come first."""
    monkeypatch.setattr(page_data, "WHOLE_PAGE", 0)
    monkeypatch.setattr(page_data, "LEAST", 25_000)
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


# --- In a browser ----------------------------------------------------------------------------------

in_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
FIRST = "document.querySelector('#rows tbody th button')"
QUERIES = "[...document.querySelectorAll('#rows tbody th button')].map((b) => b.textContent)"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def opened(chromium: Browser, report: germane.Report, folder: Path, width: int = 1200) -> None:
    report.save(folder / "page.html")
    chromium.size(width)
    chromium.open(folder / "page.html")


@in_chromium
def test_sorts_filters_and_opens(chromium: Browser, made: germane.Report, tmp_path: Path) -> None:
    opened(chromium, made, tmp_path)
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    ap = {name: result["AP"].per_query for name, result in results.items()}
    gains = sorted(ap["lda"], key=lambda q: ap["pixels"][q] - ap["lda"][q])
    assert chromium.value(QUERIES)[:5] == gains[:5]
    chromium.value("document.querySelectorAll('#rows thead button')[3].click()")
    assert chromium.value(QUERIES)[:5] == gains[::-1][:5]
    chromium.value("document.querySelectorAll('#rows thead button')[1].click()")
    assert chromium.value(QUERIES)[0] == max(ap["pixels"], key=lambda q: ap["pixels"][q])
    heading = "document.querySelector('#rows [aria-sort]')"
    assert chromium.value(f"{heading}.getAttribute('aria-sort')") == "descending"
    chromium.value("document.getElementById('search').focus()")
    chromium.type("Q00")
    assert chromium.value(QUERIES) == [q for q in chromium.value(QUERIES) if q.startswith("q00")]
    assert chromium.value("document.getElementById('count').textContent").startswith(
        f"{sum(q.startswith('q00') for q in gains)} of 200"
    )
    chromium.value(f"{FIRST}.closest('tr').click()")
    detail = chromium.value("document.querySelector('.detail').textContent")
    assert "AP = (" in detail
    assert "Missed:" in detail
    assert chromium.troubles == []
    assert chromium.requests == [(tmp_path / "page.html").as_uri()]


@in_chromium
def test_with_the_keyboard_alone(chromium: Browser, made: germane.Report, tmp_path: Path) -> None:
    """From the search field over the headings to the first query, which Enter opens and closes."""
    opened(chromium, made, tmp_path)
    chromium.value("document.getElementById('search').focus()")
    for _ in range(20):
        chromium.press("Tab")
        if chromium.value(f"document.activeElement === {FIRST}"):
            break
    assert chromium.value(f"document.activeElement === {FIRST}")
    for state in ("true", "false"):
        chromium.press("Enter")
        assert chromium.value(f"{FIRST}.getAttribute('aria-expanded')") == state
        assert chromium.value("!!document.querySelector('.detail')") == (state == "true")
    chromium.press("Tab")
    assert chromium.value(f"[...{FIRST}.closest('tbody').rows].indexOf("
                          "document.activeElement.closest('tr'))") == 1  # fmt: skip
    assert chromium.troubles == []


@in_chromium
def test_choosing_a_measure_and_showing_more(
    chromium: Browser, made: germane.Report, tmp_path: Path
) -> None:
    opened(chromium, made, tmp_path)
    chromium.value("{ const s = document.getElementById('measure'); s.value = '4'; s.onchange(); }")
    said = chromium.value("document.querySelector('#differences figcaption').textContent")
    pair = germane.compare(str(DIGITS / "qrels.txt"), digits(), "RR").pairs[0]
    assert said == (
        f"RR: lda is better on {pair.wins}, worse on {pair.losses}, the same on {pair.ties} of 200 "
        "queries."
    )
    assert len(chromium.value(QUERIES)) == 50
    chromium.value("document.getElementById('more').click()")
    assert len(chromium.value(QUERIES)) == 100
    assert chromium.value("document.activeElement.closest('tr').rowIndex") == 51
    assert chromium.troubles == []


@in_chromium
@pytest.mark.parametrize("width", [380, 760, 1200])
def test_no_width_scrolls_sideways(
    chromium: Browser, made: germane.Report, hostile: germane.Report, tmp_path: Path, width: int
) -> None:
    for report in (made, hostile):
        opened(chromium, report, tmp_path, width)
        chromium.value(f"{FIRST}.click()")
        chromium.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.troubles == []


@in_chromium
def test_hostile_ids_in_a_browser(
    chromium: Browser, hostile: germane.Report, tmp_path: Path
) -> None:
    opened(chromium, hostile, tmp_path)
    chromium.value("document.querySelectorAll('#rows tbody th button').forEach((b) => b.click())")
    assert chromium.value("document.title") == HOSTILE[1]
    assert chromium.value("document.scripts.length") == 2
    assert chromium.value("document.images.length") == 0
    assert set(chromium.value(QUERIES)) >= {HOSTILE[0], HOSTILE[3]}
    assert chromium.troubles == []
    assert chromium.requests == [(tmp_path / "page.html").as_uri()]


@in_chromium
def test_dark_light_and_paper(chromium: Browser, made: germane.Report, tmp_path: Path) -> None:
    opened(chromium, made, tmp_path)
    paper = "getComputedStyle(document.body).backgroundColor"
    chromium.media("", "dark")
    dark = chromium.value(paper)
    chromium.media("", "light")
    light = chromium.value(paper)
    chromium.media("print", "dark")
    assert chromium.value(paper) == light != dark, "paper is white"
    controls = "[...document.querySelectorAll('.controls')].every((c) => !c.offsetHeight)"
    assert chromium.value(controls)
    chromium.media("", "light")


@in_chromium
@pytest.mark.parametrize("measures", ["AP NumRet", "AP(mean=geometric)"])
@pytest.mark.parametrize("choices", [{}, {"missing": "skip"}, {"ties": "expected"}], ids=str)
def test_odd_reports_open(
    chromium: Browser, tmp_path: Path, measures: str, choices: dict[str, str]
) -> None:
    opened(chromium, small(measures=measures, **choices), tmp_path)
    chromium.value(f"{FIRST}.click()")
    assert chromium.value("!!document.querySelector('.detail')")
    assert chromium.troubles == []
