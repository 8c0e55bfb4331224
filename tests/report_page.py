"""Reports to look at, and how a test reads one."""

import base64
import functools
import html.parser
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np

import germane

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


@functools.cache
def of_digits() -> germane.types.Report:
    return germane.report(str(DIGITS / "qrels.txt"), digits(), MEASURES)


@functools.cache
def of_hostile_ids() -> germane.types.Report:
    qrels = {
        q: {item: (i + n) % 3 for i, item in enumerate(HOSTILE)} for n, q in enumerate(HOSTILE)
    }
    rng = np.random.default_rng(0)
    runs = {
        name: {q: {item: int(rng.integers(4)) for item in HOSTILE[:9]} for q in HOSTILE}
        for name in HOSTILE[:5]
    }
    return germane.report(qrels, runs, "AP nDCG@10 P(rel=2)@5 NumRet", title=HOSTILE[1])


def small(**choices: Any) -> germane.types.Report:
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


def words(report: germane.types.Report) -> str:
    return str(Text(report.html))


def embedded(report: germane.types.Report) -> dict[str, Any]:
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
