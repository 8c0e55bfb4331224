"""Layout: the table of results of detections, the notes that define it, and values for JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from germane._version import VERSION
from germane.boxes.measures import BoxMeasure
from germane.core.rounding import unite_equal
from germane.evaluation.layout import write_dialect
from germane.measures.box_names import write_depth, write_thresholds
from germane.output.formatting import add_schema, format_number, to_json_number, write_count
from germane.output.tables import Table, find_highest, share_lines

if TYPE_CHECKING:
    from germane.boxes.result import Result, Results


def make_table(results: "Results", digits: int | None) -> Table:
    """Make a row for each detector, with the best of several in bold."""
    first = next(iter(results.values()))
    rows = tuple(
        (name, *(format_number(result[measure].mean, digits) for measure in result))
        for name, result in results.items()
    )
    means = ([result[name].mean for result in results.values()] for name in first)
    best = frozenset(find_highest(unite_equal(np.array(values)).tolist() for values in means))
    return Table(("detections", *first), rows, tuple(write_notes(results)), strong=best)


def write_notes(results: "Mapping[str, Result] | Results") -> Iterator[str]:
    """Write the definitions of all measures, the counts, and the conventions."""
    first = next(iter(results.values()))
    yield from _write_definitions(first)
    yield ""
    yield from share_lines(results.items(), _write_counts)
    yield f"conventions: {first.conventions}"
    if first.dialect is not None:
        yield write_dialect(first.dialect)


def _write_definitions(result: "Result") -> Iterator[str]:
    """Write each formula once, and then what the names leave to the conventions."""
    formulas: dict[str, list[BoxMeasure]] = {}
    for short, complete in zip(result.asked, result.measures, strict=True):
        points = f"(points={short.points})" if short.points else ""
        formulas.setdefault(f"{short.name}{points}: {complete.formula}", []).append(complete)
    for formula, measures in formulas.items():
        has_thresholds = any(len(measure.iou or ()) > 1 for measure in measures)
        yield f"{formula}, mean over classes{' and thresholds of overlap' * has_thresholds}"
    renamed = [
        f"{name} is {measure}"
        for name, measure in zip(result, result.asked, strict=True)
        if name != str(measure)
    ]
    if renamed:
        yield "; ".join(renamed)
    left = dict.fromkeys(_write_defaults(result))
    if left:
        yield "if the name says nothing else: " + "; ".join(left)
    areas = {
        measure.area: result.conventions.areas[measure.area or ""] for measure in result.measures
    }
    if set(areas) - {"all"}:
        ranges = (f"{name} {_write_area(*ends)}" for name, ends in areas.items() if name != "all")
        yield f"areas in square pixels: {', '.join(ranges)}"


def _write_defaults(result: "Result") -> Iterator[str]:
    """Write the thresholds, areas and depth that the conventions give to names without them."""
    choices, by_image = result.conventions, result.conventions.depth_of == "image"
    above = "above " * (choices.reach == "above")
    overlaps: dict[str, list[str]] = {}
    for short, complete in zip(result.asked, result.measures, strict=True):
        if short.iou is None:
            names = overlaps.setdefault(f"{above}{write_thresholds(complete.iou or ())}", [])
            names += [short.name] * (short.name not in names)
    if len(overlaps) == 1:
        yield f"overlap {next(iter(overlaps))}"
    elif overlaps:
        listed = (f"{overlap} of {' and '.join(names)}" for overlap, names in overlaps.items())
        yield f"overlap {', '.join(listed)}"
    for short, complete in zip(result.asked, result.measures, strict=True):
        if short.area is None:
            yield f"area {complete.area}"
        if short.k is None and complete.k is not None:
            yield (
                f"{write_depth(complete.k)} of each {'image' if by_image else 'class in an image'}"
            )


def _write_area(low: float, high: float) -> str:
    return f"from {low:g}" if high >= 1e10 else f"{low:g}–{high:g}"


def _write_counts(result: "Result") -> str:
    counts = result.counts
    names = {"images": "image", "classes": "class", "truths": "truth"}
    parts = [", ".join(write_count(getattr(counts, field), noun) for field, noun in names.items())]
    for name in ("crowds", "difficult"):
        if count := getattr(counts, name):
            noun = write_count(count, "crowd") if name == "crowds" else f"{count:,} {name}"
            parts.append(f"{noun} {_TREATED[getattr(result.conventions, name)]}")
    if counts.unseen:
        parts.append(f"{counts.unseen:,} without visible keypoints ignored")
    if counts.without_truth:
        parts.append(f"{write_count(counts.without_truth, 'class')} without truths")
    parts.append(write_count(counts.detections, "detection"))
    if counts.dropped:
        parts.append(f"{counts.dropped:,} dropped by depth or confidence")
    return "; ".join(parts)


_TREATED = {
    "ignore": "ignored", "difficult": "taken as difficult", "drop": "dropped", "count": "counted",
}  # fmt: skip


def make_dict(results: "Results") -> dict[str, Any]:
    """Make plain values for JSON, in a versioned schema; NaN becomes None."""
    first = next(iter(results.values()))
    conventions: Mapping[str, Any] = first.conventions.to_dict()
    return add_schema(
        {
            "germane": VERSION,
            "conventions": dict(conventions),
            "detections": [_make_result_dict(result) for result in results.values()],
        }
    )


def _make_result_dict(result: "Result") -> dict[str, Any]:
    plain: dict[str, Any] = {"name": result.name, "counts": asdict(result.counts)}
    plain["measures"] = [
        {
            "measure": name,
            "complete": str(result[name].measure),
            "definition": result[name].definition,
            "mean": to_json_number(result[name].mean),
            "per_class": result[name].per_class,
        }
        for name in result
    ]
    if result.dialect is not None:
        plain["dialect"] = result.dialect.name
    return plain
