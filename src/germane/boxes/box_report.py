"""The verb report: detectors on the same images as one page, class by class."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from germane.boxes.box_comparison import compare, compute_shares
from germane.boxes.box_measures import BoxMeasures, parse_measure
from germane.boxes.box_result import Result, Results
from germane.boxes.box_tables import write_notes
from germane.boxes.error_costs import KINDS, MAIN, ErrorCosts, weigh_errors
from germane.boxes.report_pictures import (
    PrecisionCurve,
    choose_worst,
    find_pictures,
    make_curve,
    name_anchors,
    read_class_curves,
    write_class_curves,
    write_confusions,
    write_photographs,
)
from germane.boxes.verbs import evaluate_many, read_options
from germane.comparison.comparison import Comparison
from germane.comparison.comparison_tables import explain_printed
from germane.core.mean_intervals import Interval, estimate_mean_interval
from germane.core.ragged import Floats, Ints, unite_equal
from germane.measures.averaging import find_span
from germane.output.tables import format_number, write_count
from germane.presentation.pictures import write_element
from germane.reports.findings import describe_origin
from germane.reports.page import write_comparisons, write_still_page
from germane.reports.report import Report, make_title, order_results
from germane.reports.sections import (
    COLORS,
    draw_chart,
    draw_swatch,
    isolate_text,
    make_scrollable,
    write_cautions,
    write_definitions,
    write_ends,
    write_figure,
    write_headline,
    write_table,
)

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


REPORTED = "AP AP50 AP75 AP(area=small) AP(area=medium) AP(area=large) AR@100"
_OF_KEYPOINTS = "AP AP50 AP75 AP(area=medium) AP(area=large) AR"


def report(
    truth: "TruthSource",
    detections: "Mapping[str, DetectionSource]",
    measures: "BoxMeasures" = REPORTED,
    *,
    title: str | None = None,
    baseline: str | None = None,
    command: str | None = None,
    dialect: "str | Dialect | None" = None,
    **options: Unpack["Options"],
) -> Report:
    """Evaluate one or more detectors, and report them as one HTML page that needs no network.

    The page has every number with its interval and definition, the comparisons of all pairs, a
    table of all classes with their truths, what each kind of error costs, confusion matrices,
    precision–recall curves of all and of each class, the conventions, and the inputs with their
    hashes. If ``images`` is a folder of photographs, the page begins with the images that lower the
    numbers most, and their boxes: 12 images for one detector, 6 each for two, or 4 each for the
    first three, as thumbnails of 480 pixels (which need Pillow). ``detections`` maps names to
    detections; the other arguments are those of ``evaluate`` and ``compare``.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> germane.boxes.report(truth, {"yolo": [{**truth[0], "scores": [0.9]}]}, "AP50").title
    'yolo'
    """
    if measures == REPORTED and read_options(options, dialect).reading.shape == "oks":
        measures = _OF_KEYPOINTS
    results = evaluate_many(truth, detections, measures, dialect=dialect, **options)
    ordered = order_results(results)
    compared = None
    first = next(iter(results.values()))
    defined = [
        name
        for name in first
        if not any(np.isnan(result[name].mean) for result in results.values())
    ]
    if len(ordered) > 1 and defined:
        compared = compare(results, None, defined, baseline=baseline)
    name = title or make_title(list(ordered))
    origin = describe_origin(truth, detections, command, None)
    findings = [finding for result in ordered.values() for finding in result.findings]
    halves = {name: _choose_measure(result) for name, result in ordered.items()}
    paths, lack = find_pictures(options.get("images"), first)
    worst = choose_worst(halves, paths) if paths else {}
    order = _order_classes(ordered)
    sections = [
        ("result", "Result", list(_write_result(ordered, compared))),
        ("cautions", "Cautions", list(write_cautions((*findings, *[lack] * bool(lack))))),
        ("images", "Worst images", list(write_photographs(worst, paths, len(ordered)))),
        ("classes", "Class by class", list(_write_classes(ordered, order))),
        ("errors", "Costs of errors", list(_write_errors(halves))),
        ("confusion", "Confusion", list(write_confusions(ordered, name_anchors(worst)))),
        ("curves", "Precision and recall", list(_write_curves(ordered))),
        ("class-curves", "Curves of classes", list(write_class_curves(ordered, order))),
    ]
    lead, notes = _write_lead(ordered), write_notes(ordered)
    sources = "; img-src data:" if worst else ""
    html = write_still_page("Detection report", name, lead, sections, notes, origin, sources)
    return Report(name, html)


def _write_lead(results: Results) -> str:
    counts = next(iter(results.values())).counts
    detectors, images = write_count(len(results), "detector"), write_count(counts.images, "image")
    truths, classes = write_count(counts.truths, "truth"), write_count(counts.classes, "class")
    return f"{detectors} on {images} with {truths} of {classes}."


def _write_result(results: Results, compared: Comparison | None) -> Iterator[str]:
    first = next(iter(results.values()))
    intervals = {
        (name, measure): _estimate_interval(result, measure)
        for name, result in results.items()
        for measure in first
        if result[measure].mean == result[measure].mean
    }
    yield from make_scrollable(_write_headline(results, intervals))
    yield from write_definitions((name, first[name].definition) for name in first)
    if text := " ".join(explain_printed(intervals.values(), "number", 0.95, "images")):
        yield f'<p class="small">{text}</p>'
    if compared is not None:
        yield from write_comparisons(compared, compared.pairs)


Intervals = Mapping[tuple[str, str], Interval | None]


def _write_headline(results: Results, intervals: Intervals) -> Iterator[str]:
    """Write a row a detector, the best first: each number with its interval."""
    first = next(iter(results.values()))
    rows = {
        isolate_text(name): [
            _write_value(result[measure].mean, intervals.get((name, measure))) for measure in result
        ]
        for name, result in results.items()
    }
    measures = list(first)
    yield from write_headline("detections", measures, rows, sorted_by=measures[0])


def _estimate_interval(result: Result, name: str) -> Interval | None:
    """Estimate the interval of a number, the mean of its images' shares, within 0 and 1."""
    measure = result[name].measure
    shares = compute_shares(result, measure)
    interval = estimate_mean_interval(shares, find_span(measure, shares), 0.95)
    return interval and replace(interval, low=max(0.0, interval.low), high=min(1.0, interval.high))


def _write_value(mean: float, interval: Interval | None) -> str:
    if mean != mean:
        return "–"
    return f"<span>{format_number(mean, 4)}</span>{write_ends(interval)}"


def _order_classes(results: Results) -> Ints:
    """Order classes by the largest difference of detectors, or the lowest value of the only one."""
    values, spread = _measure_classes(results)
    spread = unite_equal(spread, np.abs(values).max(axis=0))
    return np.argsort(-np.nan_to_num(spread, nan=-np.inf), kind="stable")


def _measure_classes(results: Results) -> tuple[Floats, Floats]:
    """Measure each detector's first measure in each class (S, K), and how far detectors differ."""
    measure = next(iter(next(iter(results.values()))))
    values = np.array([result[measure].values.mean(axis=0) for result in results.values()])
    return values, np.ptp(values, axis=0) if len(values) > 1 else -values[0]


def _write_classes(results: Results, order: Ints) -> Iterator[str]:
    """Write a row a class: truths, and each detector's first measure."""
    first = next(iter(results.values()))
    measure = next(iter(first))
    values, spread = _measure_classes(results)
    counts = first.by("class").truths
    has_rivals = len(values) > 1
    rows = []
    for k in order.tolist():
        numbers = [format_number(value, 4, nan="–") for value in values[:, k].tolist()]
        numbers += [format_number(float(spread[k]), 4, nan="")] * has_rivals
        rows.append((first.classes[k], f"{counts[k]:,}", *numbers))
    sorting = "the largest difference first" if has_rivals else "the lowest first"
    yield (
        f"<p>{isolate_text(measure)} of each class, {sorting}; – where a class has no truth that"
        " counts.</p>"
    )
    columns = ("class", "truths", *results, *(["difference"] if has_rivals else []))
    yield '<div class="wide tall" tabindex="0">'
    yield from write_table(columns, rows)
    yield "</div>"


# --- Costs of errors ---------------------------------------------------------------------------

_DRAWN = 6  # detectors; bars of more would be too thin
_BAR, _GAP, _LEFT, _WIDTH = 13, 12, 80, 400  # of the drawing, which a phone shows in its size


def _write_errors(results: Mapping[str, Result]) -> Iterator[str]:
    """Write the costs of all detectors in their first measure: bars, a table, definitions."""
    costs = {name: weigh_errors(result) for name, result in results.items()}
    first = next(iter(costs.values()))
    if any(math.isnan(cost.value) for cost in costs.values()):
        return
    yield (
        f"<p>The {isolate_text(first.title)} that would be gained if only this kind of error were"
        " corrected.</p>"
    )
    drawn = dict(list(costs.items())[:_DRAWN])
    legend = (f"{_draw_square(r)} {isolate_text(name)}" for r, name in enumerate(drawn))
    note = f"Bars for the first {len(drawn)} of {len(costs)} detectors; the table has all."
    yield from write_figure(_draw_bars(drawn), legend, note * (len(drawn) < len(costs)))
    rows = [(kind, *_list_cells(costs, kind)) for kind in KINDS]
    heads = (f"{name}: {column}" for name in costs for column in ("count", "cost"))
    yield from make_scrollable(write_table(("error", *heads), rows))
    yield from write_definitions(KINDS.items())


def _choose_measure(result: Result) -> Result:
    """Evaluate AP at the lowest threshold of the result."""
    threshold = min(result.thresholds)
    return result.remeasure([parse_measure(f"AP(iou={threshold!r})")])


def _list_cells(costs: Mapping[str, ErrorCosts], kind: str) -> Iterator[str]:
    for cost in costs.values():
        yield f"{cost[kind].count:,}"
        yield format_number(cost[kind].cost, 4)


def _draw_bars(costs: Mapping[str, ErrorCosts]) -> str:
    """Draw a bar for each kind of error and detector."""
    longest = max((cost[kind].cost for cost in costs.values() for kind in MAIN), default=0) or 1
    step = _GAP + _BAR * len(costs)
    parts = []
    for k, kind in enumerate(MAIN):
        top = k * step + _GAP / 2
        middle = top + _BAR * len(costs) / 2
        parts.append(_write_text(_LEFT - 8, middle, kind, "end"))
        for r, cost in enumerate(costs.values()):
            y, wide = top + r * _BAR, (_WIDTH - _LEFT - 44) * cost[kind].cost / longest
            bar = {"x": _LEFT, "y": y, "width": f"{wide:.1f}", "height": _BAR - 2}
            parts.append(write_element("rect", {**bar, "class": f"bar r{r % len(COLORS)}"}))
            text = format_number(cost[kind].cost, 3)
            parts.append(_write_text(_LEFT + wide + 6, y + _BAR / 2 - 1, text, "start"))
    size = {
        "viewBox": f"0 0 {_WIDTH} {step * len(MAIN)}",
        "role": "img",
        "class": "chart",
        "style": "max-width: 600px",
    }
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
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    style = {"dominant-baseline": "central", "style": "font-size: 11px"}
    return write_element("text", {**place, **style}, text)


# --- Curves ------------------------------------------------------------------------------------


def _write_curves(results: Results) -> Iterator[str]:
    first = next(iter(results.values()))
    if not first.lists.relevant[0].any():
        return
    curves = {name: _average_curves(result) for name, result in results.items()}
    legend = (f"{draw_swatch(r)} {isolate_text(name)}" for r, name in enumerate(curves))
    caption = (
        "The best precision at 11 recalls or beyond, the mean over classes, for an overlap of "
        f"{min(first.thresholds):g}."
    )
    yield from write_figure(draw_chart(curves), legend, caption)


def _average_curves(result: Result) -> PrecisionCurve:
    """Average the curves of all classes with truths at the lowest threshold."""
    return make_curve(read_class_curves(result)[:, result.lists.relevant[0] > 0].mean(axis=1))
