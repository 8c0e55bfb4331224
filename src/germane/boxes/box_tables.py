"""The table of results of detections, by class, area or image, and the notes that define it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from germane._version import VERSION
from germane.boxes.box_measures import BoxMeasure, RankedLists, find_spelling
from germane.boxes.matching import Matches, number_group
from germane.core.ragged import Floats, Ints, average_numbers, unite_equal
from germane.errors import check_choice, make_visible
from germane.evaluation.layout import tabulate_systems, write_dialect
from germane.measures.box_names import BoxName
from germane.output.documents import make_document, name_values
from germane.output.named_columns import Tabular, make_texts
from germane.output.tables import Table, format_number, share_lines, write_count

if TYPE_CHECKING:
    from germane.boxes.box_result import Result, Results


def make_table(results: "Results", digits: int | None) -> Table:
    """Make a row for each detector, with the best of several in bold."""
    columns = list(next(iter(results.values())))
    rows = {
        name: [format_number(result[measure].mean, digits) for measure in result]
        for name, result in results.items()
    }
    means = ([result[name].mean for result in results.values()] for name in columns)
    merits = (unite_equal(np.array(values)).tolist() for values in means)
    return tabulate_systems("detections", columns, rows, merits, write_notes(results))


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
            names = overlaps.setdefault(f"{above}{complete.iou}", [])
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
            yield (f"{complete.depth_words} of each {'image' if by_image else 'class in an image'}")


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
    detections = [_make_result_dict(result) for result in results.values()]
    plain = {"germane": VERSION, "conventions": first.conventions, "detections": detections}
    return make_document(plain)


def _make_result_dict(result: "Result") -> dict[str, Any]:
    values = {name: result[name] for name in result}
    measures = [{"measure": name, **name_values(value)} for name, value in values.items()]
    plain = {"name": result.name, "counts": result.counts, "measures": measures}
    return plain if result.dialect is None else {**plain, "dialect": result.dialect.name}


# --- Groups: the measures of each class, each range of areas, or each image -----------------------

Part: TypeAlias = Literal["class", "area", "frequency", "image"]


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Tabular):
    """The measures of one detector for each class, range of areas, frequency or image (N).

    ``values`` holds an array for each measure, which is NaN where there is nothing to find.
    ``mean`` holds the value of each measure on all images, which is the mean over classes, but
    not the mean over images.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.evaluate(truth, found, "AP50").by("class")["AP50"]
    {'1': 1.0}
    """

    part: Part
    names: Sequence[str]  # N
    truths: Ints  # N, how many there are to be found
    detections: Ints  # N, those that count at all
    values: Mapping[str, Floats]
    mean: Mapping[str, float]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, measure: str) -> dict[str, float]:
        name = find_spelling(measure, self.values)
        return dict(zip(self.names, self.values[name].tolist(), strict=True))

    def __repr__(self) -> str:
        names = make_visible(", ".join(self.values))
        return f"<Groups: {names} by {self.part}, {len(self)} rows>"

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a class, area, frequency or image, and the last for all of them."""
        counted = self.part != "area"
        columns = (self.part, *(("truths", "detections") if counted else ()), *self.values)
        rows = []
        for i, name in enumerate(self.names):
            counts = (f"{self.truths[i]}", f"{self.detections[i]}") if counted else ()
            numbers = (format_number(value[i], digits, nan="–") for value in self.values.values())
            rows.append((name, *counts, *numbers))
        total = (f"{self.truths.sum()}", f"{self.detections.sum()}") if counted else ()
        if counted:
            means = (format_number(self.mean[value], digits, nan="–") for value in self.values)
            rows.append(("all", *total, *means))
        return Table(columns, tuple(rows), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        counts = zip(self.names, self.truths.tolist(), self.detections.tolist(), strict=True)
        rows = [
            {
                self.part: name,
                "truths": truths,
                "detections": detections,
                "measures": {measure: values[i] for measure, values in self.values.items()},
            }
            for i, (name, truths, detections) in enumerate(counts)
        ]
        return make_document({"by": self.part, "rows": rows, "all": self.mean})

    def _list_columns(self) -> dict[str, Any]:
        counts = {"truths": self.truths, "detections": self.detections}
        return {self.part: make_texts(self.names), **counts, **self.values}


def group(result: "Result", part: Part) -> Groups:
    """Evaluate each class, range of areas, frequency or image of a result for itself."""
    check_choice("by", part, get_args(Part))
    group_part = {
        "class": _group_by_class,
        "area": _group_by_area,
        "frequency": _group_by_frequency,
        "image": _group_by_image,
    }[part]
    return group_part(result)


def _group_by_class(result: "Result") -> Groups:
    values = {measure: result[measure].values.mean(axis=0) for measure in result}
    return _make_groups(result, "class", result.classes, values, _count(result, "label"))


def _group_by_image(result: "Result") -> Groups:
    """Average each measure over the classes of each image, which are lists of their own."""
    names = [str(image) for image in result.matches.truths.images]
    lists, image = _list_by_image(result, result.matches)
    values = {
        name: _average_lists(result, measure, lists, image)
        for name, measure in zip(result, result.measures, strict=True)
    }
    return _make_groups(result, "image", names, values, _count(result, "image"))


def _list_by_image(result: "Result", matches: Matches) -> tuple[RankedLists, Ints]:
    """Make a list of each class in an image with truths of it, and say which image (L)."""
    truths, detections = matches.truths, matches.detections
    detection_group, truth_group = number_group(truths, detections), number_group(truths, truths)
    # where there are no truths nothing is found: such detections are in no list
    groups = np.append(np.unique(truth_group), -1)
    places = np.searchsorted(groups[:-1], detection_group)
    lists = RankedLists(
        matches,
        result.conventions,
        lists=np.where(groups[places] == detection_group, places, len(groups) - 1),
        truth_lists=np.searchsorted(groups[:-1], truth_group),
        count=len(groups) - 1,
        labels=groups[:-1] // max(len(truths.images), 1),
    )
    return lists, groups[:-1] % max(len(truths.images), 1)


MEANS = {
    "images": "each image has one ranked list of all classes, and the images are averaged",
    "images_by_class": "each image is averaged over its classes, and then the images are",
}
"""Means that are not over classes; the first is that of Mask R-CNN's notebook."""


def average_images(result: "Result", measure: BoxMeasure, matches: Matches, over: str) -> float:
    """Average a complete measure over the images that have truths, in one of MEANS."""
    if over == "images_by_class":
        lists, image = _list_by_image(result, matches)
        values = _average_lists(result, measure, lists, image)
    else:
        count = len(matches.truths.images)
        detections, truths = matches.detections, matches.truths
        lists = RankedLists(
            matches, result.conventions, lists=detections.image, truth_lists=truths.image,
            count=count, labels=np.zeros(count, np.int64),
        )  # fmt: skip
        values = result.compute(measure, lists).mean(axis=0)
        area = list(result.conventions.areas).index(measure.area or "")
        values = np.where(lists.relevant[area] > 0, values, math.nan)
    return average_numbers(values[~np.isnan(values)].tolist())


def _average_lists(
    result: "Result", measure: BoxMeasure, lists: RankedLists, image: Ints
) -> Floats:
    """Average lists for each image (I); classes without a truth in it count 0, or not at all."""
    values, images = result.compute(measure, lists).mean(axis=0), len(result.matches.truths.images)
    valid = ~np.isnan(values)
    total = np.bincount(image[valid], values[valid], minlength=images)
    count = np.bincount(image[valid], minlength=images)
    if result.conventions.no_truth == "zero":
        count = np.full(images, int(result.mark_classes(measure).sum()))
    means: Floats = np.divide(total, count, out=np.full(images, math.nan), where=count > 0)
    return means


Choose: TypeAlias = Callable[[BoxMeasure, Any], BoxMeasure]


def _group_by_area(result: "Result") -> Groups:
    """Evaluate each measure in each range of areas, whichever range it was asked for."""
    areas = list(result.conventions.areas)
    varied, values = _vary(result, lambda measure, area: replace(measure, area=area), areas)
    relevant = varied.lists.relevant.sum(axis=1)
    inside = (~varied.matches.outside).sum(axis=1)
    return _make_groups(varied, "area", areas, values, (relevant, inside))


def _group_by_frequency(result: "Result") -> Groups:
    """Evaluate each measure over the classes of each frequency."""
    varied, values = _vary(
        result, lambda measure, word: replace(measure, frequency=word), BoxName.FREQUENCIES
    )
    group = np.array(
        [BoxName.FREQUENCIES.index(frequency) for frequency in varied.truths.frequencies], int
    )
    truths, detections = (
        np.bincount(group, count, len(BoxName.FREQUENCIES)).astype(np.int64)
        for count in _count(varied, "label")
    )
    return _make_groups(varied, "frequency", BoxName.FREQUENCIES, values, (truths, detections))


def _vary(
    result: "Result", choose: Choose, words: Sequence[str]
) -> tuple["Result", dict[str, Floats]]:
    """Evaluate each measure with each word in the place of its own, or of none."""
    plain: dict[BoxMeasure, tuple[str, BoxMeasure]] = {}  # by what they are: AR and AR@100 are one
    for name, measure in zip(result, result.asked, strict=True):
        bare = choose(measure, None)
        plain.setdefault(
            bare.complete(result.conventions), (name if measure == bare else str(bare), bare)
        )
    distinct = plain.values()
    varied = result.remeasure(
        [choose(base, word) for _, base in distinct for word in (None, *words)]
    )
    return varied, {
        name: np.array([varied[choose(base, word)].mean for word in words])
        for name, base in distinct
    }


def _count(result: "Result", field: str) -> tuple[Ints, Ints]:
    """Count the truths of the first range of areas, and the detections, by class or image."""
    matches, size = result.matches, len(result.classes)
    if field == "image":
        size = len(matches.truths.images)
    counted = getattr(matches.truths, field)[~matches.ignored[0]]
    return (
        np.bincount(counted, minlength=size),
        np.bincount(getattr(matches.detections, field), minlength=size),
    )


def _make_groups(
    result: "Result",
    part: Part,
    names: Sequence[str],
    values: Mapping[str, Floats],
    counts: tuple[Ints, Ints],
) -> Groups:
    mean = {value: result[value].mean for value in values if part != "area"}
    notes = tuple(write_notes({result.name: result}))
    if part == "image":
        notes = ("each image by itself: the mean is over its classes", *notes)
    return Groups(part, list(names), *counts, values, mean, notes)
