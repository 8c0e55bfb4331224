"""A report in Chromium: it sorts, is searched, opens queries, by keyboard, on any width and ground."""

from pathlib import Path
from typing import Any

import pytest

import germane

from browser import CHROMIUM, Browser, browser
from report_page import DIGITS, HOSTILE, MEASURES, digits, of_digits, of_hostile_ids, small

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
def test_no_width_scrolls_sideways(chromium: Browser, tmp_path: Path, width: int) -> None:
    for report in (of_digits(), of_hostile_ids()):
        opened(chromium, report, tmp_path, width)
        chromium.value(f"{FIRST}.click()")
        chromium.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert chromium.value("document.documentElement.scrollWidth") <= width
        assert chromium.troubles == []


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
