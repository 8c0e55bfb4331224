"""The panel of a report that shows what each kind of error costs, with a bar for each detector."""

import math
from collections.abc import Iterator, Mapping

from germane.boxes.error_costs import KINDS, MAIN, ErrorCosts, weigh_errors
from germane.boxes.measures import parse_measure
from germane.boxes.result import Result, Results
from germane.output.formatting import format_number
from germane.output.markup import write_element
from germane.reports.markup import (
    COLORS,
    isolate_text,
    make_scrollable,
    write_definitions,
    write_figure,
    write_table,
)

_DRAWN = 6  # detectors; bars of more would be too thin
_BAR, _GAP, _LEFT, _WIDTH = 13, 12, 112, 640  # of the drawing, in its units


def write_errors(results: Results) -> Iterator[str]:
    """Write the costs of all detectors in AP at one threshold: bars, a table, definitions."""
    costs = {name: weigh_errors(_choose_measure(one)) for name, one in results.items()}
    first = next(iter(costs.values()))
    if any(math.isnan(one.value) for one in costs.values()):
        return
    yield (
        f"<p>The {isolate_text(first.title)} that would be gained if one kind of error were mended,"
        " and no other.</p>"
    )
    drawn = dict(list(costs.items())[:_DRAWN])
    legend = (f"{_draw_square(r)} {isolate_text(name)}" for r, name in enumerate(drawn))
    few = f"Bars of the first {len(drawn)} of {len(costs)} detectors; the table has all."
    yield from write_figure(draw_bars(drawn), legend, few * (len(drawn) < len(costs)))
    rows = [(kind, *_list_cells(costs, kind)) for kind in KINDS]
    names = [name for name in costs for _ in range(2)]
    heads = [
        f"{name}: {what}" for name, what in zip(names, ("count", "cost") * len(costs), strict=True)
    ]
    yield from make_scrollable(write_table(("error", *heads), rows))
    yield from write_definitions(KINDS.items())


def _choose_measure(result: Result) -> Result:
    """Evaluate AP at the lowest threshold of the result."""
    threshold = min(result.thresholds)
    return result.remeasure([parse_measure(f"AP(iou={threshold!r})")])


def _list_cells(costs: Mapping[str, ErrorCosts], kind: str) -> Iterator[str]:
    for one in costs.values():
        yield f"{one[kind].count:,}"
        yield format_number(one[kind].cost, 4)


def draw_bars(costs: Mapping[str, ErrorCosts]) -> str:
    """Draw a bar for each kind of error and detector."""
    longest = max((one[kind].cost for one in costs.values() for kind in MAIN), default=0) or 1
    step = _GAP + _BAR * len(costs)
    parts = []
    for k, kind in enumerate(MAIN):
        top = k * step + _GAP / 2
        middle = top + _BAR * len(costs) / 2
        parts.append(_write_text(_LEFT - 8, middle, kind, "end"))
        for r, one in enumerate(costs.values()):
            y, wide = top + r * _BAR, (_WIDTH - _LEFT - 60) * one[kind].cost / longest
            bar = {"x": _LEFT, "y": y, "width": f"{wide:.1f}", "height": _BAR - 2}
            parts.append(write_element("rect", {**bar, "class": f"bar r{r % len(COLORS)}"}))
            says = format_number(one[kind].cost, 3)
            parts.append(_write_text(_LEFT + wide + 6, y + _BAR / 2 - 1, says, "start"))
    size = {"viewBox": f"0 0 {_WIDTH} {step * len(MAIN)}", "role": "img", "class": "chart"}
    title = write_element("title", {}, "The cost of each kind of error")
    return write_element("svg", size, title, *parts)


def _draw_square(run: int) -> str:
    """Draw a piece of a detector's bar, for the legend."""
    bar = write_element("rect", {"width": 11, "height": 11, "style": "fill: var(--run)"})
    kind = f"swatch r{run % len(COLORS)}"
    return write_element(
        "svg", {"class": kind, "width": 11, "height": 11, "aria-hidden": "true"}, bar
    )


def _write_text(x: float, y: float, text: str, anchor: str) -> str:
    place = {
        "x": f"{x:.1f}",
        "y": f"{y:.1f}",
        "text-anchor": anchor,
        "dominant-baseline": "central",
    }
    return write_element("text", {**place, "style": "font-size: 11px"}, text)
