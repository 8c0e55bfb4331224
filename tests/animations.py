"""Animations for tests: explanations that are easy, hostile and long, and the files that they become."""

import html.parser
import xml.etree.ElementTree as ET
from pathlib import Path
from tempfile import TemporaryDirectory

import germane

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "]]></script><script>alert(2)</script>",
    "' onmouseover='alert(3)",
    "\x1b[31mred\x1b[0m\x07",
    "\u202eright to left\u202c",
    "שלום עולם",
    "文書番号" * 20,
    "x" * 100_000,
    "$x^2$ \\frac{",
    "&amp;&lt;!--",
    "line\nline\ttab\0nul",
    "\udcff\ufffe",
    "",
]


def ten(measures: str = "AP@10") -> germane.types.Explanation:
    return germane.explain([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], measures, relevant=3)


def hostile() -> germane.types.Explanation:
    qrels = {"<b>q</b>]]>\x07": {item: i % 2 for i, item in enumerate(HOSTILE)}}
    return germane.explain(qrels, {q: list(items) for q, items in qrels.items()}, "AP RR")


def long() -> germane.types.Explanation:
    qrels = {"q": {f"d{i}": 1 for i in range(1, 9000, 40)}}
    return germane.explain(qrels, {"q": [f"d{i}" for i in range(10_000)]}, "AP")


def write(explanation: germane.types.Explanation, suffix: str) -> str:
    """The text of an animation as an SVG or HTML file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a.{suffix}")
        germane.animate(explanation, path)
        return path.read_text("utf-8")


def draw(explanation: germane.types.Explanation) -> ET.Element:
    """The elements of an animation as an SVG."""
    return ET.fromstring(write(explanation, "svg"))


class Checked(html.parser.HTMLParser):
    """Reads a page and notes what could act."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "href", "xlink:href", "action"), (tag, name, value)
