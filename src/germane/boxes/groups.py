"""Groups: the measures of each class, each range of areas, or each image."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from germane.boxes.layout import write_notes
from germane.boxes.matching import number_group
from germane.boxes.measures import BoxMeasure, find_spelling
from germane.boxes.ranked_lists import RankedLists
from germane.core.ragged import Floats, Ints
from germane.errors import check_choice, make_visible
from germane.measures.box_names import FREQUENCIES
from germane.output.formatting import add_schema, format_number, to_json_number
from germane.output.frames import Tabular, make_texts
from germane.output.tables import Table

if TYPE_CHECKING:
    from germane.boxes.result import Result

Part: TypeAlias = Literal["class", "area", "frequency", "image"]


@dataclass(frozen=True, eq=False, repr=False)
class Groups(Tabular):
    """The measures of one detector for each class, range of areas, frequency or image (N).

    ``values`` holds an array for each measure, which is NaN where nothing is to be found. ``mean``
    holds the value of each measure on all images, which is the mean over classes, but not that over
    images.

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
            means = (format_number(self.mean[value], digits) for value in self.values)
            rows.append(("all", *total, *means))
        return Table(columns, tuple(rows), self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None."""
        return add_schema(
            {
                "by": self.part,
                "rows": [
                    {
                        self.part: name,
                        "truths": int(self.truths[i]),
                        "detections": int(self.detections[i]),
                        "measures": {
                            measure: to_json_number(float(values[i]))
                            for measure, values in self.values.items()
                        },
                    }
                    for i, name in enumerate(self.names)
                ],
                "all": {measure: to_json_number(mean) for measure, mean in self.mean.items()},
            }
        )

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
    truths, detections = result.matches.truths, result.matches.detections
    detection_group, truth_group = number_group(truths, detections), number_group(truths, truths)
    # where there are no truths nothing is found: such detections are in no list
    groups = np.append(np.unique(truth_group), -1)
    places = np.searchsorted(groups[:-1], detection_group)
    lists = RankedLists(
        result.matches,
        result.conventions,
        lists=np.where(groups[places] == detection_group, places, len(groups) - 1),
        truth_lists=np.searchsorted(groups[:-1], truth_group),
        count=len(groups) - 1,
        labels=groups[:-1] // max(len(truths.images), 1),
    )
    image = groups[:-1] % max(len(truths.images), 1)
    names = [str(image) for image in truths.images]
    values = {
        name: _average_lists(result, measure, lists, image)
        for name, measure in zip(result, result.measures, strict=True)
    }
    return _make_groups(result, "image", names, values, _count(result, "image"))


def _average_lists(
    result: "Result", measure: BoxMeasure, lists: RankedLists, image: Ints
) -> Floats:
    """Average lists for each image (I); classes without a truth in it count 0, or not at all."""
    values, images = result.compute(measure, lists).mean(axis=0), len(result.matches.truths.images)
    valid = ~np.isnan(values)
    total = np.bincount(image[valid], values[valid], minlength=images)
    count = np.bincount(image[valid], minlength=images)
    if result.conventions.no_truth == "zero":
        count = np.full(images, int(result.mark_frequency(measure).sum()))
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
        result, lambda measure, word: replace(measure, frequency=word), FREQUENCIES
    )
    group = np.array([FREQUENCIES.index(frequency) for frequency in varied.truths.frequencies], int)
    truths, detections = (
        np.bincount(group, count, len(FREQUENCIES)).astype(np.int64)
        for count in _count(varied, "label")
    )
    return _make_groups(varied, "frequency", FREQUENCIES, values, (truths, detections))


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
        notes = ("each image for itself: the mean is over its classes", *notes)
    return Groups(part, list(names), *counts, values, mean, notes)
