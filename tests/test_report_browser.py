"""A report in Chromium: it sorts, is searched, opens queries, by keyboard, on any width and ground."""

from pathlib import Path
from typing import Any

import pytest

import germane

from browser import Browser, in_chromium
from report_page import DIGITS, HOSTILE, MEASURES, digits, of_digits, of_hostile_ids, small

pytestmark = pytest.mark.slow
FIRST = "document.querySelector('#rows tbody th button')"
QUERIES = "[...document.querySelectorAll('#rows tbody th button')].map((b) => b.textContent)"


def opened(
    chromium: Browser, report: germane.types.Report, folder: Path, width: int = 1200
) -> None:
    report.save(folder / "page.html")
    chromium.size(width)
    chromium.open(folder / "page.html")


@in_chromium
def test_sorts_filters_and_opens(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_digits(), tmp_path)
    results = germane.evaluate_many(str(DIGITS / "qrels.txt"), digits(), MEASURES)
    ap = {name: result["AP"].per_query for name, result in results.items()}
    gains = sorted(ap["lda"], key=lambda q: ap["pixels"][q] - ap["lda"][q])
    assert chromium.value(QUERIES)[:5] == gains[:5]
    chromium.value("document.querySelectorAll('#rows thead button')[3].click()")
    assert chromium.value(QUERIES)[:5] == gains[::-1][:5]
    chromium.value("document.querySelectorAll('#rows thead button')[1].click()")
    assert chromium.value(QUERIES)[0] == max(ap["lda"], key=lambda q: ap["lda"][q])
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
def test_with_the_keyboard_alone(chromium: Browser, tmp_path: Path) -> None:
    """From the search field over the headings to the first query, which Enter opens and closes."""
    opened(chromium, of_digits(), tmp_path)
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
def test_choosing_a_measure_and_showing_more(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_digits(), tmp_path)
    chromium.value("{ const s = document.getElementById('measure'); s.value = '4'; s.onchange(); }")
    said = chromium.value("document.querySelector('#differences figcaption').textContent")
    pair = germane.compare(str(DIGITS / "qrels.txt"), digits(), "RR").pairs[0]
    assert said == (
        f"RR: lda is higher on {pair.wins}, lower on {pair.losses}, the same on {pair.ties} of 200 "
        "queries."
    )
    assert len(chromium.value(QUERIES)) == 50
    chromium.value("document.getElementById('more').click()")
    assert len(chromium.value(QUERIES)) == 100
    assert chromium.value("document.activeElement.closest('tr').rowIndex") == 51
    assert chromium.troubles == []


@in_chromium
@pytest.mark.parametrize("width", [380, 760, 1200])
def test_no_width_scrolls_sideways(chromium: Browser, tmp_path: Path, width: int) -> None:
    for report in (of_digits(), of_hostile_ids()):
        opened(chromium, report, tmp_path, width)
        chromium.value(f"{FIRST}.click()")
        chromium.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.troubles == []


@in_chromium
def test_an_open_query_leaves_room_for_scrollbars(chromium: Browser, tmp_path: Path) -> None:
    """A table that is wider than the window has a scrollbar of its own beside that of the page."""
    qrels = {f"q{n}": ["a", "b"] for n in range(60)}
    runs = {
        f"a long name of run {n}": {q: ["b", "x", "a"][n % 2 :] for q in qrels} for n in range(10)
    }
    opened(chromium, germane.report(qrels, runs, "AP P@5"), tmp_path)
    chromium.value(f"{FIRST}.click()")
    assert not chromium.value("document.querySelector('#rows').closest('.wide').matches('.fits')")
    room = chromium.value("document.querySelector('#rows').closest('.wide').clientWidth")
    assert room > 1000
    assert chromium.value("document.querySelector('.inside').offsetWidth") <= room - 2 * 17


@in_chromium
def test_hostile_ids_in_a_browser(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_hostile_ids(), tmp_path)
    chromium.value("document.querySelectorAll('#rows tbody th button').forEach((b) => b.click())")
    assert chromium.value("document.title") == HOSTILE[1]
    assert chromium.value("document.scripts.length") == 2
    assert chromium.value("document.images.length") == 0
    assert set(chromium.value(QUERIES)) >= {HOSTILE[0], HOSTILE[3]}
    assert chromium.troubles == []
    assert chromium.requests == [(tmp_path / "page.html").as_uri()]


@in_chromium
def test_dark_light_and_paper(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_digits(), tmp_path)
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


# --- Several runs, texts, and what can be taken along ----------------------------------------------


def of_several(runs: int = 10, **choices: Any) -> germane.types.Report:
    """Runs of which each finds the one relevant item a rank later than the one before."""
    queries = [f"q{i:02}" for i in range(60)]
    qrels = {query: {"d": 1, "e": 0} for query in queries}
    ranked = {
        f"run-{r}": {
            query: [*(f"x{i}" for i in range((r + n % (r + 2)) % 9)), "d", "e"]
            for n, query in enumerate(queries)
        }
        for r in range(runs)
    }
    return germane.report(qrels, ranked, "RR AP", **choices)


@in_chromium
def test_the_heading_and_the_sorting_column_stay(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_several(), tmp_path, 390)
    assert (
        chromium.value("document.querySelectorAll('#rows thead button')[1].textContent") == "run-0"
    )
    chosen = "[...document.querySelectorAll('.controls select')].slice(1).map((s) => +s.value)"
    assert chromium.value(chosen) == [0, 1], "the best two"
    box = "document.querySelector('#rows').parentNode"
    inside = f"(e) => {{ const r = e.getBoundingClientRect(), b = {box}.getBoundingClientRect(); "
    inside += "return r.left >= b.left - 1 && r.right <= b.right + 1 && r.top >= b.top - 1 }"
    for left in (0, 200, 9999):
        chromium.value(f"{box}.scrollTo({left}, 150)")
        for part in ("thead th:first-child", "thead [aria-sort]"):
            assert chromium.value(f"({inside})(document.querySelector('#rows {part}'))"), (
                left,
                part,
            )
    opened(chromium, of_several(), tmp_path, 2200)
    assert chromium.value(f"{box}.classList.contains('fits')")
    assert chromium.value("document.querySelector('#rows').offsetWidth") > 1900
    chromium.value("document.querySelectorAll('#rows tbody tr')[40].scrollIntoView()")
    top = "document.querySelector('#rows thead th').getBoundingClientRect().top"
    assert chromium.value(top) == 0, "it stays at the top of the window"


@in_chromium
def test_the_address_keeps_the_state(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_several(4), tmp_path)
    assert chromium.value("location.hash") == ""
    chromium.value("{ const s = document.getElementById('measure'); s.value = 1; s.onchange(); }")
    chromium.value("{ const s = document.getElementById('baseline'); s.value = 3; s.onchange(); }")
    chromium.value("document.querySelectorAll('#rows thead button')[0].click()")
    chromium.value("document.querySelectorAll('#rows tbody th button')[7].click()")
    address = chromium.value("location.hash")
    assert address == "#measure=AP&run=run-0&baseline=run-3&sort=0&query=q07"
    chromium.visit("about:blank")
    chromium.visit((tmp_path / "page.html").as_uri() + address)
    chosen = "[...document.querySelectorAll('.controls select')].map((s) => +s.value)"
    assert chromium.value(chosen) == [1, 0, 3]
    opened_query = "document.querySelector('[aria-expanded=true]').textContent"
    assert chromium.value(opened_query) == "q07"
    assert chromium.value("document.activeElement.textContent") == "q07"
    assert chromium.troubles == []


SAVED = """
window.saved = [];
URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return "blob:none"; };
HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
"""


@in_chromium
def test_tables_are_saved_as_csv(chromium: Browser, tmp_path: Path) -> None:
    qrels = {"=1+1": ["d"], 'a,"b"': ["d"]}
    runs = {"one": {"=1+1": ["d"], 'a,"b"': ["x", "d"]}, "two": {"=1+1": ["x", "d"]}}
    opened(chromium, germane.report(qrels, runs, "RR"), tmp_path)
    chromium.value(SAVED)
    tables = "document.querySelectorAll('.wide > table').length"
    buttons = chromium.value("document.querySelectorAll('.csv').length")
    assert buttons == chromium.value(tables) > 4
    chromium.value("document.querySelector('#queries .csv').click()")
    chromium.eventually("saved.length", 2)
    name, text = sorted(chromium.value("saved"), key=len)
    assert name == "queries.csv"
    lines = text.lstrip("\ufeff").split("\r\n")
    assert lines == [
        "query,one,two,difference",
        "'=1+1,1.0000,0.5000,0.5000",
        '"a,""b""",0.5000,0.0000,0.5000',
        "",
    ]
    chromium.value("saved.length = 0; document.querySelector('#result .csv').click()")
    chromium.eventually("saved.length", 2)
    _, text = sorted(chromium.value("saved"), key=len)
    means = text.lstrip("\ufeff").split("\r\n")
    assert means == ["run,RR", "one,0.7500", "two,0.2500", ""]  # two queries have no interval
    five = {f"q{n}": ["d"] for n in range(5)}
    lists = {q: ["d"] if q < "q3" else ["x", "d"] for q in five}
    opened(chromium, germane.report(five, {"one": lists}, "RR"), tmp_path)
    chromium.value(SAVED)
    chromium.value("document.querySelector('#result .csv').click()")
    chromium.eventually("saved.length", 2)
    _, text = sorted(chromium.value("saved"), key=len)
    means = text.lstrip("\ufeff").split("\r\n")
    assert means[0] == "run,RR,low,high"
    assert means[1].startswith("one,0.8000,")


@in_chromium
def test_charts_answer_to_arrow_keys(chromium: Browser, tmp_path: Path) -> None:
    opened(chromium, of_several(3), tmp_path)
    for chart, said in (
        ("#curves .chart", "recall 0.1"), ("#spread .chart", "0.05 to 0.10"), ("#differences .chart", "q")
    ):  # fmt: skip
        chromium.value(f"document.querySelector('{chart}').focus()")
        chromium.press("ArrowRight")
        chromium.press("ArrowRight")
        assert chromium.value("document.getElementById('tip').textContent").startswith(said)
    chromium.press("Enter")
    assert chromium.value("document.querySelectorAll('.detail').length") == 1
    assert chromium.value("document.getElementById('tip').hidden")
    assert chromium.troubles == []


@in_chromium
def test_two_runs_side_by_side(chromium: Browser, tmp_path: Path) -> None:
    items = {
        "d": {"title": "Whale", "text": HOSTILE[2], "url": "https://example.org/"},
        "e": {"text": "plain", "url": "javascript:alert(1)"},
        "x0": {"image": "none.png"},
    }
    opened(chromium, of_several(3, items=items, queries={"q01": HOSTILE[0]}), tmp_path)
    chromium.value("document.getElementById('search').focus()")
    chromium.type("alert")
    assert chromium.value(QUERIES) == ["q01"], "texts are searched"
    chromium.value(f"{FIRST}.click()")
    columns = chromium.value(
        "[...document.querySelectorAll('.beside ol')].map((l) => [...l.children].map((c) => c.dataset.item))"
    )
    assert columns == [["x0", "d", "e"], ["x0", "x1", "d", "e"]]
    card = "document.querySelector('.beside [data-item=d]')"
    text = chromium.value(f"{card}.textContent")
    for part in ("2", "● relevant, grade 1", "Whale", HOSTILE[2], "rank 3 in run-1"):
        assert part in text
    assert "○ judged, grade 0" in chromium.value(
        "document.querySelector('[data-item=e]').textContent"
    )
    assert "not judged" in chromium.value("document.querySelector('[data-item=x1]').textContent")
    links = chromium.value("[...document.querySelectorAll('.beside a')].map((a) => a.href)")
    assert links == ["https://example.org/"] * 2
    assert chromium.value("document.images.length") == 0
    chromium.eventually("document.querySelectorAll('.lines path').length", 3)
    assert chromium.value("document.querySelectorAll('.lines .hit').length") == 1
    assert chromium.troubles == []
    assert chromium.requests == [(tmp_path / "page.html").as_uri()]


@in_chromium
def test_images_are_shown(chromium: Browser, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (50, 80), "red").save(tmp_path / "d.png")
    opened(chromium, of_several(2, items={"d": tmp_path / "d.png"}), tmp_path)
    chromium.value(f"{FIRST}.click()")
    chromium.eventually("[...document.images].map((i) => i.naturalHeight)", [80, 80])
    assert chromium.troubles == []


@in_chromium
def test_rows_without_a_ranking_are_marked(chromium: Browser, tmp_path: Path) -> None:
    report = of_several(6, max_size=100_000)
    opened(chromium, report, tmp_path)
    marked = (
        "[...document.querySelectorAll('#rows tbody tr')].map((r) => !!r.querySelector('.bare'))"
    )
    first = chromium.value(marked)
    assert not first[0]
    assert first[-1]
    chromium.value(f"{FIRST}.click()")
    assert chromium.value("!!document.querySelector('.beside')")
    assert "marked ○" in chromium.value("document.getElementById('note').textContent")


@in_chromium
def test_a_folder_loads_its_files(chromium: Browser, tmp_path: Path) -> None:
    report = of_several(3, items={"d": "text of d"}, layout="folder")
    report.save(tmp_path / "folder")
    chromium.size(1200)
    chromium.open(tmp_path / "folder" / "index.html")
    assert chromium.value("document.querySelectorAll('.bare').length") == 0
    chromium.value(f"{FIRST}.click()")
    chromium.eventually("document.querySelector('.detail').textContent.includes('text of d')", True)
    (tmp_path / "folder/rankings/0000.js").unlink()
    chromium.open(tmp_path / "folder" / "index.html")
    chromium.value(f"{FIRST}.click()")
    chromium.eventually(
        "document.querySelector('.detail').textContent.includes('cannot be read')", True
    )
    chromium.troubles.clear()
