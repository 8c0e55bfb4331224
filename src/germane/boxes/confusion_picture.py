"""Picture of a confusion matrix: a cell for each count, colored by its share of the row."""

from typing import TYPE_CHECKING, get_args

import numpy as np

from germane.boxes.picture import write_colors
from germane.core.ragged import Floats, Ints
from germane.errors import check_choice
from germane.output.tables import escape_html, measure_width
from germane.presentation.pictures import PAPERS, shorten, write_element

if TYPE_CHECKING:
    from germane.boxes.confusion_matrix import Confusion, Shown

MOST = 25  # classes of a picture
_SIDE, _MARGIN, _LETTER = 36.0, 16.0, 6.7
_STYLE = """
.germane-confusion .paper { fill: var(--paper) }
.germane-confusion text { fill: var(--ink) }
.germane-confusion .muted { fill: var(--muted) }
.germane-confusion .cell { fill: var(--hit); stroke: none }
.germane-confusion .wrong { fill: var(--false) }
.germane-confusion .grid { fill: none; stroke: var(--grid) }
.germane-confusion .right { fill: none; stroke: var(--axis); stroke-width: 1.5 }
.germane-confusion .on { fill: var(--paper) }
"""


def draw(confusion: "Confusion", show: "Shown", paper: str | None) -> str:
    """Draw a matrix; of many classes those that are most confused."""
    from germane.boxes.confusion_matrix import Shown

    check_choice("show", show, get_args(Shown))
    if paper is not None:
        check_choice("paper", paper, PAPERS)
    chosen = choose_classes(confusion.counts)
    labels = [shorten(label, 24) for label in np.array(confusion.labels, object)[chosen]]
    shares, counts = confusion.shares[chosen][:, chosen], confusion.counts[chosen][:, chosen]
    longest = max(map(measure_width, labels)) * _LETTER
    left, top = _MARGIN + 20 + longest + 8, _MARGIN + 44 + longest * 0.72 + 10
    size = len(labels) * _SIDE
    foot = _list_notes(confusion, len(chosen))
    width = max(left + size + longest * 0.72, max(map(measure_width, foot)) * 6.2 + _MARGIN)
    width, height = width + _MARGIN, top + size + 14 + 17 * len(foot) + _MARGIN
    words = f"Confusion matrix of {confusion.name}: {foot[0]}"
    elements = [
        write_element("title", {}, escape_html(words)),
        write_element("style", {}, write_colors(paper, "germane-confusion") + _STYLE),
        write_element("rect", {"class": "paper", "width": width, "height": height}),
        _write_text(_MARGIN, _MARGIN + 12, confusion.name, {"font-weight": "bold"}),
        _write_text(left, _MARGIN + 34, "detections →", {"class": "muted"}),
        _write_text(_MARGIN, top - 8, "truths ↓", {"class": "muted"}),
    ]
    for place, label in enumerate(labels):
        middle = (place + 0.5) * _SIDE
        turned = f"rotate(-45 {left + middle:g} {top - 6:g})"
        elements += [
            _write_text(left - 8, top + middle + 4, label, {"text-anchor": "end"}),
            _write_text(left + middle, top - 6, label, {"transform": turned}),
        ]
    for row in range(len(labels)):
        for column in range(len(labels)):
            right = row == column < len(labels) - 1
            corner = left + column * _SIDE, top + row * _SIDE
            text = _write_value(counts, shares, (row, column), show)
            elements += _write_cell(corner, float(shares[row, column]), text, right)
    lines = (
        _write_text(_MARGIN, top + size + 26 + 17 * place, note, {"class": "muted"})
        for place, note in enumerate(foot)
    )
    frame = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "germane-confusion",
        "viewBox": f"0 0 {width:g} {height:g}",
        "width": width,
        "height": height,
        "font-family": "system-ui, 'DejaVu Sans', sans-serif",
        "font-size": 12,
        "role": "img",
        "aria-label": words,
    }
    return write_element("svg", frame, *elements, *lines) + "\n"


def choose_classes(counts: Ints) -> Ints:
    """Choose the classes that are drawn, and background: those most confused with others."""
    last = len(counts) - 1
    if last <= MOST:
        return np.arange(last + 1)
    inner = counts[:-1, :-1].copy()
    np.fill_diagonal(inner, 0)
    confused = inner.sum(axis=0) + inner.sum(axis=1)
    most = np.argsort(-confused, kind="stable")[:MOST]
    return np.append(np.sort(most), last)


def _list_notes(confusion: "Confusion", drawn: int) -> list[str]:
    notes = [confusion.describe(), "colors: the share of the row; a number is a count"]
    if drawn < len(confusion.labels):
        notes.append(
            f"the {drawn - 1} of {len(confusion.classes)} classes that are confused most often"
        )
    return notes


def _write_value(counts: Ints, shares: Floats, cell: tuple[int, int], show: "Shown") -> str:
    if not counts[cell]:
        return ""
    if show == "counts":
        return f"{counts[cell]}"
    return f"{shares[cell]:.2f}".removeprefix("0")


def _write_cell(corner: tuple[float, float], share: float, text: str, right: bool) -> list[str]:
    x, y = corner
    place = {"x": x, "y": y, "width": _SIDE, "height": _SIDE}
    out = []
    if share > 0:
        style = "cell" if right else "cell wrong"
        out.append(write_element("rect", {"class": style, "fill-opacity": share, **place}))
    out.append(write_element("rect", {"class": "right" if right else "grid", **place}))
    if text:
        small = 12 if len(text) < 5 else 9
        letters = {"text-anchor": "middle", "font-size": f"{small}"}
        letters |= {"class": "on"} if share > 0.6 else {}
        out.append(_write_text(x + _SIDE / 2, y + _SIDE / 2 + 4, text, letters))
    return out


def _write_text(x: float, y: float, text: str, style: dict[str, str]) -> str:
    return write_element("text", {"x": x, "y": y, **style}, escape_html(text))
