"""The site: every public object stands on one page, and Sphinx builds all pages without a warning."""

import ast
import base64
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, is_typeddict
from urllib.parse import quote

import pytest

import germane
from germane.evaluation.choices import Choices, write_type

from browser import CHROMIUM, Browser, browser
from strategies import ALL, CATALOGUE
from test_docs import loaded

ROOT = Path(__file__).parents[1]
# Ids of any kind, functions that are identified, grades of a list, and the columns of a file:
NOT_DATA = r"Mapping\[Any, float\] \| Iterable\[Any\]|Callable\[\.\.\., Any\]|Iterable\[Any\]|Mapping\[str, Any\]|\[Hashable, Any\]"
SEARCHED = json.loads((ROOT / "docs/search_words.json").read_text("utf-8"))
ERRORS = [name for name in dir(germane.errors) if name.endswith(("Error", "Warning"))]
ALIASES = [
    name
    for name in germane.types.__all__
    if not inspect.isclass(kind := getattr(germane.types, name)) or is_typeddict(kind)
]
"""What arguments take: unions of types, words, and keywords. They cannot hold a docstring, or nobody
calls them; the examples are with the functions that take them, and one page explains them all."""
OBJECTS = [
    *(
        name
        for name in germane.__all__
        if name[:1].isalpha() and name != "boxes" and name not in ERRORS
    ),
    *(f"types.{name}" for name in germane.types.__all__ if name not in ALIASES),
    *(f"errors.{name}" for name in ERRORS),
    *(f"boxes.{name}" for name in germane.boxes.__all__),
]


def test_every_public_object_is_on_one_page() -> None:
    """Those that are measures have a section of docs/measures.md."""
    topics = loaded("generate_reference").TOPICS
    listed = Counter(name for _, _, objects in topics.values() for name in objects.split())
    assert listed == Counter(OBJECTS)


@pytest.mark.parametrize("name", OBJECTS)
def test_every_public_object_has_an_example(name: str) -> None:
    """tests/test_api.py runs the examples."""
    found = attrgetter(name)(germane)
    assert ">>> " in (found.__doc__ or "")


def test_signatures_have_the_words_of_choices() -> None:
    write_signature = loaded("generate_reference").write_signature
    for verb in OBJECTS:
        if inspect.isfunction(found := attrgetter(verb)(germane)):
            parameters, _ = write_signature(found)
            assert "**" not in parameters.removesuffix(", **conventions)")
            ast.parse(f"def verb{parameters}: ...")  # also refuses a name that is there twice
    parameters, returned = write_signature(germane.evaluate)
    assert "no_relevant: Literal['zero', 'skip', 'one', 'nan', 'error'] = 'zero'" in parameters
    assert parameters.endswith(", **conventions)")
    assert "no_hit" not in parameters
    assert returned == "Result"


def test_signatures_name_every_argument() -> None:
    """help() and editors show them, and calls are as before."""
    for verb in OBJECTS:
        found = attrgetter(verb)(germane)
        if inspect.isfunction(found):
            written = str(inspect.signature(found)).replace(", **conventions: Convention", "")
            for part in ("**", "ForwardRef", "<class", ": Any", "typing.", "'str |"):
                assert part not in written, (verb, part)
            assert not re.search(r"[\[ ]Any\b", re.sub(NOT_DATA, "", written)), verb
    written = str(inspect.signature(germane.evaluate))
    assert written.startswith("(qrels: Judgments, run: Run, measures: ")
    assert "no_relevant: NoRelevant = 'zero'" in written
    assert "overlap: Literal['iou'" in str(inspect.signature(germane.boxes.evaluate))
    assert "twice" in inspect.signature(germane.Evaluator).parameters
    assert "ties: Ties = 'trec'" in str(inspect.signature(germane.compare))
    source = inspect.getsource(germane.evaluate)
    assert source.startswith("def evaluate(")
    with pytest.raises(germane.errors.PolicyError, match="there is no convention 'tie'"):
        germane.evaluate({"q": ["d"]}, {"q": ["d"]}, "AP", tie="best")  # type: ignore[call-arg]


def test_annotations_say_what_data_are() -> None:
    """An editor that runs no code shows them."""
    for verb in OBJECTS:
        if inspect.isfunction(found := attrgetter(verb)(germane)):
            for name, kind in found.__annotations__.items():
                assert kind not in (Any, "Any"), (verb, name)


def test_names_in_signatures_are_explained() -> None:
    shown = dict(loaded("generate_reference").list_pages())["arguments"]
    names = set(re.findall(r"^\| `(\w+)` \|", shown, re.MULTILINE))
    assert {"Judgments", "Run", "Pairs", "TruthSource", "ClassNames"} < names
    written = [
        str(inspect.signature(found))
        for verb in OBJECTS
        if inspect.isfunction(found := attrgetter(verb)(germane))
    ]
    written += [f": {write_type(kind)}" for kind in Choices.__annotations__.values()]  # rare ones
    unused = {name for name in names if not any(f": {name}" in one for one in written)}
    assert not unused


def test_every_alias_is_explained_on_the_page_of_names() -> None:
    shown = dict(loaded("generate_reference").list_pages())["arguments"]
    assert {"Judgments", "Run", "Choices", "Sign"} < {*ALIASES}
    for name in ALIASES:
        explained = rf"^(\| `{name}` \| \S|- `{name}` \(\w)|`{name}` are "
        assert re.search(explained, shown, re.MULTILINE), name


def test_every_measure_has_a_page() -> None:
    pages = dict(loaded("generate_measures").list_pages())
    assert [name.removeprefix("measures/") for name in pages] == [
        row.name for row in (*ALL, *CATALOGUE)
    ]
    for row in ALL:
        page = pages[f"measures/{row.name}"]
        assert ("## On one list" in page) is not row.subtopics, row.name
    shown = pages["measures/AP"]
    assert "AP@10 = (1/2 + 2/3 + 3/5 + 4/8) / min(5,10) = 0.4533" in shown
    assert "| [ranx](../../dialects/ranx.md) | `map`, `map-l{x}`, `map@{k}`" in shown
    pictures = dict(re.findall(r'<img class="(\w+)"[^>]*;base64,([^"]*)"', shown))
    plays = {name: b"no-preference" in base64.b64decode(text) for name, text in pictures.items()}
    assert plays == {"moving": True, "still": False}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning fails."""
    for package in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the site needs {package}: make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), ".", str(folder / "html")],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_every_page_is_on_the_site(site: Path) -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    for page in pages:
        html = (site / page.relative_to(ROOT)).with_suffix(".html")
        assert html.exists(), page
    for name in OBJECTS:
        assert any(
            f'id="germane.{name}"' in html.read_text("utf-8")
            for html in (site / "docs/reference").glob("*.html")
        ), name


@pytest.mark.slow
def test_the_explorer_is_on_the_start_page(site: Path) -> None:
    assert 'href="../explorer.html"' in (site / "docs/README.html").read_text("utf-8")
    page = (site / "explorer.html").read_text("utf-8")
    targets = re.findall(r'href="([^"#]+)"', page)
    assert all((site / target).exists() for target in targets), targets
    assert re.sub(r"<nav.*?</nav>\n", "", page, flags=re.DOTALL) == germane.explorer().html


@pytest.mark.slow
def test_pages_are_for_keyboards_and_screen_readers(site: Path) -> None:
    """Headings are in order and have a level, and what scrolls can have the focus."""
    for path in [site / "README.html", *(site / "docs").rglob("*.html")]:
        html = path.read_text("utf-8")
        levels = [int(level) for level in re.findall(r"<h([1-6])\b", html.partition("<article")[2])]
        assert levels.count(1) == 1, path
        assert all(b <= a + 1 for a, b in pairwise(levels)), path
        assert html.count('role="heading"') == html.count('role="heading" aria-level="2"'), path
        assert "<pre>" not in html, path
        assert '<div class="formula">' not in html, path
        assert not re.search(r"<dl>\s*<dd>", html), path  # a list of meanings without words


@pytest.mark.slow
def test_the_explorer_opens_with_the_list_of_a_page(site: Path) -> None:
    html = (site / "docs/ap.html").read_text("utf-8")
    assert 'src="../explorer.html#l=0.0.1.0.1.0.0.1.0.0&amp;R=4&amp;k=5"' in html


@pytest.mark.slow
def test_notebooks_are_shown_with_their_outputs(site: Path) -> None:
    html = (site / "examples/image_search.html").read_text("utf-8")
    assert html.count("data:image/png;base64,") == 3
    assert "mean_pr_curve" in html


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for html in site.rglob("*.html"):
        loads = re.findall(
            r'<(?:script|img|link)\b[^>]*(?:src|href)="(https?:[^"]+)"', html.read_text("utf-8")
        )
        assert not loads, html


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("boxes.evaluate", "docs/reference/boxes.html"),
        ("glossary", "docs/glossary.html"),
        ("confidence interval", "docs/compare.html"),
        ("nDCG exponential gain", "docs/conventions.html"),
        *((words, f"{page}.html") for words, page in SEARCHED.items()),
    ],
)
def test_search_finds_the_page_that_answers(
    words: str, page: str, site: Path, searching: Browser
) -> None:
    searching.visit(f"{(site / 'search.html').as_uri()}?q={quote(words)}")
    found = searching.value(FIRST)
    assert found.partition("#")[0] == page, found


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("searching")) as chromium:
        yield chromium


FIRST = """new Promise(resolve => {
    const look = () => {
        const done = document.querySelector(".search-summary")?.textContent.includes("finished");
        const first = document.querySelector("#search-results li > a");
        done && first ? resolve(first.getAttribute("href")) : setTimeout(look, 50);
    };
    look();
})"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_pages_fit_on_a_phone(site: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as chromium:
        chromium.size(390)
        for name in (
            "README", "docs/README", "docs/reference/evaluate", "docs/reference/measures/AP", "docs/reference/measures/Gini", "docs/measures", "docs/dialects",
            "docs/coming-from", "docs/ap", "docs/which-ap", "docs/start", "examples/recommender",
        ):  # fmt: skip
            chromium.open(site / f"{name}.html")
            assert chromium.value("document.documentElement.scrollWidth") <= 390, name
            away = [one for one in chromium.requests if one.startswith("http")]
            assert not away, name
        chromium.open(site / "docs/reference/measures/AP.html")
        first, second = chromium.value(
            "[...document.querySelector('table').rows[1].cells].map((cell) => cell.offsetWidth)"
        )
        assert first < second  # names break, so that formulas have room
        for media, expected in (("screen", "moving"), ("print", "still")):
            chromium.media(media)
            shown = "[...document.images].filter((i) => i.offsetWidth).map((i) => i.className)"
            assert expected in chromium.value(shown)
            assert len(set(chromium.value(shown)) & {"moving", "still"}) == 1
