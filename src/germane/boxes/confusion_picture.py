"""Picture of a confusion matrix: a cell for each count, colored by its share of the row.

It is narrow enough to be read on a phone; of many classes those most confused are drawn.
"""

from textwrap import wrap
from typing import TYPE_CHECKING, get_args

import numpy as np

from germane.boxes.picture import write_colors
from germane.core.ragged import Floats, Ints
from germane.errors import check_choice
from germane.output.tables import escape_html, measure_width
from germane.presentation.pictures import PAPERS, shorten, write_element

if TYPE_CHECKING:
    from germane.boxes.confusion_matrix import Confusion, Shown

MOST = 15  # classes of a picture
_WIDTH = 400.0  # what a phone shows without shrinking letters
_SIDES = (21.0, 40.0)  # the smallest and the largest cell
_MARGIN, _LETTER, _LINE = 8.0, 6.7, 15.0
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
    most = 24 if len(chosen) <= 7 else 14  # letters of a class
    labels = _shorten_all([confusion.labels[place] for place in chosen.tolist()], most)
    shares, counts = confusion.shares[chosen][:, chosen], confusion.counts[chosen][:, chosen]
    longest = max(map(measure_width, labels)) * _LETTER
    left, top = _MARGIN + longest + 6, _MARGIN + 42 + longest
    side = min(max((_WIDTH - left - _MARGIN) / len(labels), _SIDES[0]), _SIDES[1])
    size = len(labels) * side
    width = max(left + size + _MARGIN, _WIDTH)
    notes = _list_notes(confusion, len(chosen), show)
    foot = [line for note in notes for line in wrap(note, int((width - 2 * _MARGIN) / 5.9))]
    height = top + size + 8 + _LINE * len(foot) + _MARGIN
    words = f"Confusion matrix of {confusion.name}: {notes[0]}"
    elements = [
        write_element("title", {}, escape_html(words)),
        write_element("style", {}, write_colors(paper, "germane-confusion") + _STYLE),
        write_element("rect", {"class": "paper", "width": width, "height": height}),
        _write_text(_MARGIN, _MARGIN + 12, shorten(confusion.name, 50), {"font-weight": "bold"}),
        _write_text(_MARGIN, _MARGIN + 29, "rows: truths; columns: detections", {"class": "muted"}),
    ]
    for place, label in enumerate(labels):
        middle = (place + 0.5) * side + 4
        turned = f"rotate(-90 {left + middle:g} {top - 5:g})"
        elements += [
            _write_text(left - 6, top + middle, label, {"text-anchor": "end"}),
            _write_text(left + middle, top - 5, label, {"transform": turned}),
        ]
    for row in range(len(labels)):
        for column in range(len(labels)):
            right = row == column < len(labels) - 1
            corner = left + column * side, top + row * side
            text = _write_value(counts, shares, (row, column), show)
            elements += _write_cell(corner, side, float(shares[row, column]), text, right)
    lines = (
        _write_text(_MARGIN, top + size + 8 + _LINE * place, line, {"class": "muted"})
        for place, line in enumerate(foot, 1)
    )
    frame = {
        "xmlns": "http://www.w3.org/2000/svg",
        "class": "germane-confusion",
        "viewBox": f"0 0 {width:g} {height:g}",
        "width": width,
        "height": height,
        "font-family": "system-ui, 'DejaVu Sans', sans-serif",
        "font-size": 11,
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


def _shorten_all(labels: list[str], most: int) -> list[str]:
    """Cut off the ends of long names, or their middles where several begin alike."""
    short = [shorten(label, most) for label in labels]
    if len(set(short)) == len(set(labels)):
        return short
    half = most // 2
    return [
        label if len(label) <= most else f"{label[: half - 1]}…{label[-half:]}" for label in labels
    ]


def _list_notes(confusion: "Confusion", drawn: int, show: "Shown") -> list[str]:
    number = "a count" if show == "counts" else "that share"
    notes = [confusion.describe(), f"colors: the share of the row; a number is {number}"]
    if drawn < len(confusion.labels):
        notes.append(
            f"the {drawn - 1} of {len(confusion.classes)} classes that are confused most often"
        )
    return notes


def _write_value(counts: Ints, shares: Floats, cell: tuple[int, int], show: "Shown") -> str:
    if not counts[cell]:
        return ""
    if show == "shares":
        return f"{shares[cell]:.2f}".removeprefix("0")
    count = int(counts[cell])
    return f"{count}" if count < 10_000 else f"{count / 1000:.0f}k"


def _write_cell(
    corner: tuple[float, float], side: float, share: float, text: str, right: bool
) -> list[str]:
    x, y = corner
    place = {"x": x, "y": y, "width": side, "height": side}
    out = []
    if share > 0:
        style = "cell" if right else "cell wrong"
        out.append(write_element("rect", {"class": style, "fill-opacity": share, **place}))
    out.append(write_element("rect", {"class": "right" if right else "grid", **place}))
    if text:
        size = min(11.0, (side - 2) / (0.62 * len(text)))
        letters = {"text-anchor": "middle", "font-size": f"{size:.1f}"}
        letters |= {"class": "on"} if share > 0.75 else {}
        out.append(_write_text(x + side / 2, y + side / 2 + size * 0.36, text, letters))
    return out


def _write_text(x: float, y: float, text: str, style: dict[str, str]) -> str:
    return write_element("text", {"x": x, "y": y, **style}, escape_html(text))
