"""The tables, notes and charts that sections of the page share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from germane.core.mean_intervals import Interval
from germane.core.ragged import Floats
from germane.output.tables import Table, escape_html
from germane.presentation.pictures import write_element, write_points

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 62, 14, 12, 52
BANDED = 3  # curves above which bands would hide each other

# On light and on dark paper. Eight colors and five dashes make 40 runs look different.
COLORS = (
    ("#0a58b8", "#7ab5ff"), ("#c2410c", "#fb923c"), ("#15803d", "#6ee79a"), ("#7c3aed", "#c4a7ff"),
    ("#a16207", "#e3c14b"), ("#be185d", "#f78bc0"), ("#0f766e", "#5eead4"), ("#57606a", "#b6c0ca"),
)  # fmt: skip
DASHES = ("none", "9 4", "3 3", "10 3 3 3", "14 5")


class Curve(Protocol):
    """Mean precision at some levels of recall, with a band, such as ``MeanPRCurve``."""

    @property
    def recall(self) -> Floats: ...
    @property
    def precision(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def has_band(self) -> bool: ...


def isolate_text(raw: str) -> str:
    """Write a text of the user, which may run from right to left."""
    return f"<bdi>{escape_html(raw)}</bdi>"


def write_table(
    columns: Iterable[str],
    rows: Iterable[Iterable[str]],
    left: Iterable[int] = (),
    kind: str = "",
) -> Iterator[str]:
    """Write a table: the first column and those in ``left`` are text, the others numbers."""
    texts = {0, *left}
    heads = "".join(
        f'<th scope="col"{_TEXT * (i in texts)}>{escape_html(name)}</th>'
        for i, name in enumerate(columns)
    )
    yield f'<table class="{f"plain {kind}".strip()}"><thead><tr>{heads}</tr></thead><tbody>'
    for row in rows:
        cells = (
            (
                f"<td{_TEXT}>{isolate_text(cell)}</td>"
                if i in texts
                else f"<td>{escape_html(cell)}</td>"
            )
            for i, cell in enumerate(row)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table>"


_TEXT = ' class="t"'  # numbers, which are many, have no class


def make_scrollable(lines: Iterable[str]) -> Iterator[str]:
    """Let a table scroll by itself where the window is narrower."""
    yield '<div class="wide" tabindex="0">'
    yield from lines
    yield "</div>"


def write_notes(raw: Iterable[str]) -> Iterator[str]:
    """Write small print, a line each."""
    yield '<ul class="notes">'
    yield from (f"<li>{isolate_text(note)}</li>" for note in raw)
    yield "</ul>"


def write_headline(
    noun: str,
    measures: Sequence[object],
    rows: Mapping[str, Iterable[str]],
    marks: int = 1,
    *,
    sorted_by: object = None,
) -> Iterator[str]:
    """Write the main numbers, a row for each name, the best by one measure before the others.

    Names and cells are markup. ``marks`` is the number of letters that may stand beside a number.
    ``sorted_by`` is the measure that orders the rows, if any does.
    """
    yield f'<table class="headline" style="--marks:{marks}"><thead><tr><th scope="col">{noun}</th>'
    for measure in measures:
        sort = ' aria-sort="descending"' if measure == sorted_by and len(rows) > 1 else ""
        yield f'<th scope="col" class="n"{sort}>{escape_html(str(measure))}{" ↓" * bool(sort)}</th>'
    yield "</tr></thead><tbody>"
    for r, (name, cells) in enumerate(rows.items()):
        yield f'<tr><th scope="row">{draw_swatch(r)} {name}</th>'
        yield from (f'<td class="n">{cell}</td>' for cell in cells)
        yield "</tr>"
    yield "</tbody></table>"


def write_ends(interval: Interval | None) -> str:
    """Write the ends of an interval, which stand below its number."""
    return f"<small>{interval.low:.3f} – {interval.high:.3f}</small>" if interval else ""


def write_definitions(meanings: Iterable[tuple[object, str]]) -> Iterator[str]:
    """Write names with what they mean."""
    yield '<dl class="definitions">'
    for name, meaning in meanings:
        yield f"<dt>{escape_html(str(name))}</dt><dd>{escape_html(meaning)}</dd>"
    yield "</dl>"


def write_cautions(raw: Iterable[object]) -> Iterator[str]:
    """Write different problems of the data, if there are any."""
    if cautions := dict.fromkeys(map(str, raw)):
        yield '<ul class="cautions">'
        yield from (f"<li>{isolate_text(caution)}</li>" for caution in cautions)
        yield "</ul>"


def write_figure(drawing: str, legend: Iterable[str], caption: str) -> Iterator[str]:
    """Write a drawing, and below it what its signs mean and a sentence, all of them markup."""
    yield f'<figure>{drawing}<figcaption><ul class="legend">'
    yield from (f"<li>{sign}</li>" for sign in legend)
    yield f"</ul>{caption and f'<p>{caption}</p>'}</figcaption></figure>"


def write_whole_table(table: Table, notes: int | None = None) -> Iterator[str]:
    """Write a table that scrolls, and below it its notes, or the first few of these."""
    yield from make_scrollable(write_table(table.columns, table.rows, table.left))
    yield from write_notes(note for note in table.notes[:notes] if note)


# --- The chart --------------------------------------------------------------------------------


def draw_chart(curves: Mapping[str, Curve], precision: str = "mean interpolated precision") -> str:
    """Draw precision–recall curves with their bands, over axes from 0 to 1."""
    drawn = {name: curve for name, curve in curves.items() if not np.isnan(curve.precision).any()}
    areas = "; ".join(f"{name}: {_describe_curve(curve)}" for name, curve in drawn.items())
    label = f"{precision.capitalize()} over recall. {areas}"
    order = {name: i for i, name in enumerate(curves)}
    banded = {name: curve for name, curve in drawn.items() if curve.has_band}
    bands = banded if len(drawn) <= BANDED else {}
    return write_element(
        "svg",
        {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "chart"},
        write_element("title", {}, escape_html(label)),
        *_draw_axes(precision),
        *(_draw_band(order[name], curve) for name, curve in bands.items()),
        *(_draw_line(order[name], curve) for name, curve in drawn.items()),
    )


def draw_swatch(run: int) -> str:
    """Draw a short piece of a run's line, for legends."""
    line = write_element("path", {"d": "M1 5H29", "stroke-dasharray": DASHES[run % len(DASHES)]})
    kind = f"swatch r{run % len(COLORS)}"
    return write_element(
        "svg", {"class": kind, "width": 30, "height": 10, "aria-hidden": "true"}, line
    )


def _draw_axes(precision: str) -> Iterator[str]:
    (left, bottom), (right, top) = _place(0, 0), _place(1, 1)
    for tenth in range(0, 11, 2):
        (x, y), label = _place(tenth / 10, tenth / 10), f"{tenth / 10:g}"
        grid = f"M{x:g} {top:g}V{bottom:g}M{left:g} {y:g}H{right:g}"
        yield write_element("path", {"class": "grid", "d": grid})
        yield write_element("text", {"x": x, "y": bottom + 18, "text-anchor": "middle"}, label)
        yield write_element("text", {"x": left - 8, "y": y + 4, "text-anchor": "end"}, label)
    x, y = _place(0.5, 0.5)
    below = {"x": x, "y": HEIGHT - 8, "text-anchor": "middle"}
    yield write_element("text", below, "recall")
    beside = {"transform": f"translate(13 {y:g}) rotate(-90)", "text-anchor": "middle"}
    yield write_element("text", beside, precision)


def _draw_band(run: int, curve: Curve) -> str:
    recall = curve.recall.tolist()
    ends = *zip(recall, curve.high, strict=True), *zip(recall[::-1], curve.low[::-1], strict=True)
    points = write_points(_place(*end) for end in ends)
    return write_element("polygon", {"class": f"band r{run % len(COLORS)}", "points": points})


def _draw_line(run: int, curve: Curve) -> str:
    points = write_points(map(_place, curve.recall.tolist(), curve.precision.tolist()))
    kind = {"class": f"line r{run % len(COLORS)}", "stroke-dasharray": DASHES[run % len(DASHES)]}
    return write_element("polyline", {**kind, "points": points})


def _describe_curve(curve: Curve) -> str:
    precision = curve.precision
    return f"{precision[0]:.2f} at recall 0, {precision[5]:.2f} at 0.5, {precision[10]:.2f} at 1"


def _place(recall: float, precision: float) -> tuple[float, float]:
    """Find the place of a point in the chart."""
    return (
        LEFT + recall * (WIDTH - LEFT - RIGHT),
        HEIGHT - BOTTOM - precision * (HEIGHT - TOP - BOTTOM),
    )
