"""The scatter of accuracy against coverage, novelty and other measures of the catalogue."""

import math
from collections.abc import Iterator, Mapping, Sequence

from germane.core.mean_intervals import Interval
from germane.evaluation.layout import format_value
from germane.measures.measure import Measure
from germane.output.tables import escape_html
from germane.presentation.pictures import write_element
from germane.reports.findings import Findings
from germane.reports.sections import COLORS, draw_swatch, isolate_text, write_figure

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 78, 24, 16, 56
MOST = 3  # pictures

Value = tuple[float, Interval | None]


def write_scatters(findings: Findings) -> Iterator[str]:
    """Draw several runs: the first measure of judged items against those of the catalogue."""
    accuracy = next(iter(findings.judged), None)
    others = [m for m in findings.measures if m.row.of_catalogue]
    if accuracy is None or not others or len(findings.runs) < 2:
        return
    yield "<h3>Accuracy and variety</h3>"
    for measure in others[:MOST]:
        points = {
            name: [_find(findings, name, m) for m in (measure, accuracy)] for name in findings.runs
        }
        values = [value for pair in points.values() for value, _ in pair]
        if not all(map(math.isfinite, values)):
            continue
        up = findings.names[accuracy]
        legend = (
            f"{draw_swatch(r)} {isolate_text(name)}"
            f" <span>{escape_html(_describe(of, measure, accuracy, up))}</span>"
            for r, (name, of) in enumerate(points.items())
        )
        caption = f"Each point is a run; lines are the {100 * findings.confidence:g}% intervals."
        yield from write_figure(_draw(points, findings.names[measure], up), legend, caption)


def _find(findings: Findings, name: str, measure: Measure) -> Value:
    interval = findings.intervals.get(name, {}).get(measure)
    return findings.results[name][measure].mean, interval


def _describe(values: Sequence[Value], measure: Measure, accuracy: Measure, name: str) -> str:
    (x, _), (y, _) = values
    return f"{format_value(x, measure, 3)}, {name} {format_value(y, accuracy, 3)}"


def _draw(points: Mapping[str, Sequence[Value]], across: str, up: str) -> str:
    """Draw the points with their intervals, over axes that hold all of them."""
    axes = [choose_ticks(_list_ends(of[axis] for of in points.values())) for axis in (0, 1)]
    said = "; ".join(f"{name}: {x[0]:.3g} and {y[0]:.3g}" for name, (x, y) in points.items())
    label = f"{up} over {across}. {said}"
    return write_element(
        "svg",
        {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "role": "img", "class": "chart"},
        write_element("title", {}, escape_html(label)),
        *_draw_axes(axes, across, up),
        *(mark for run, of in enumerate(points.values()) for mark in _draw_point(run, of, axes)),
    )


def _list_ends(values: Iterator[Value]) -> list[float]:
    ends = []
    for value, interval in values:
        ends += [value] if interval is None else [interval.low, value, interval.high]
    return ends


def choose_ticks(values: Sequence[float]) -> list[float]:
    """Choose round numbers that hold all values between the first and the last of them."""
    low, high = min(values), max(values)
    width = (high - low) or abs(high) or 1.0
    step = 10.0 ** math.floor(math.log10(width / 4))
    step *= next(factor for factor in (1, 2, 5, 10) if width / (factor * step) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last += first == last
    return [round(tick * step, 12) for tick in range(first, last + 1)]


Axes = Sequence[Sequence[float]]


def _place(x: float, y: float, axes: Axes) -> tuple[float, float]:
    (left, *_, right), (bottom, *_, top) = axes
    return (
        LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT),
        HEIGHT - BOTTOM - (y - bottom) / (top - bottom) * (HEIGHT - TOP - BOTTOM),
    )


def _draw_axes(axes: Axes, across: str, up: str) -> Iterator[str]:
    (left, *_, right), (bottom, *_, top) = axes
    (x0, y0), (x1, y1) = _place(left, bottom, axes), _place(right, top, axes)
    for tick in axes[0]:
        x, _ = _place(tick, bottom, axes)
        yield _draw_path("grid", f"M{x:.1f} {y1:.1f}V{y0:.1f}")
        yield _write_label(tick, round(x, 1), y0 + 18, "middle")
    for tick in axes[1]:
        _, y = _place(left, tick, axes)
        yield _draw_path("grid", f"M{x0:.1f} {y:.1f}H{x1:.1f}")
        yield _write_label(tick, x0 - 8, round(y + 4, 1), "end")
    below = {"x": (x0 + x1) / 2, "y": HEIGHT - 8, "text-anchor": "middle"}
    yield write_element("text", below, escape_html(across))
    beside = {"transform": f"translate(16 {(y0 + y1) / 2:g}) rotate(-90)", "text-anchor": "middle"}
    yield write_element("text", beside, escape_html(up))


def _draw_path(kind: str, path: str) -> str:
    return write_element("path", {"class": kind, "d": path})


def _write_label(tick: float, x: float, y: float, anchor: str) -> str:
    return write_element("text", {"x": x, "y": y, "text-anchor": anchor}, f"{tick:g}")


def _draw_point(run: int, values: Sequence[Value], axes: Axes) -> Iterator[str]:
    (x, of_x), (y, of_y) = values
    kind = f"r{run % len(COLORS)}"
    if of_x is not None:
        (low, level), (high, _) = _place(of_x.low, y, axes), _place(of_x.high, y, axes)
        yield _draw_path(f"line {kind}", f"M{low:.1f} {level:.1f}H{high:.1f}")
    if of_y is not None:
        (at, low), (_, high) = _place(x, of_y.low, axes), _place(x, of_y.high, axes)
        yield _draw_path(f"line {kind}", f"M{at:.1f} {low:.1f}V{high:.1f}")
    at, level = _place(x, y, axes)
    place = {"cx": round(at, 1), "cy": round(level, 1), "r": 6}
    yield write_element("circle", {"class": f"bar {kind}", **place})
