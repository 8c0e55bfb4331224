"""The result of an evaluation of detections, and COCO's summary of 12 numbers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from germane.boxes.box_measures import (
    USUAL_POINTS,
    BoxMeasure,
    RankedLists,
    View,
    find_best_point,
    parse_measure,
    parse_measures,
)
from germane.boxes.box_tables import Groups, Part, group, make_dict, make_table
from germane.boxes.conventions import COCO_AREAS, Conventions
from germane.boxes.detections import Detections, Overlap, Truths
from germane.boxes.dialect_table import find_points
from germane.boxes.image_ids import find_id
from germane.boxes.matching import Matches, match
from germane.core.finding import Finding
from germane.core.ragged import Arithmetic, Bools, Floats, average_numbers
from germane.errors import MeasureError, NotFoundError, list_some, make_visible, offer, write_option
from germane.measures.average import read_curves
from germane.measures.box_names import Levels
from germane.measures.measure import Measure
from germane.output.named_columns import Lookup, Named, Tabular
from germane.output.tables import Table

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect


COCO_SUMMARY = (
    "AP AP50 AP75 AP(area=small) AP(area=medium) AP(area=large) "
    "AR@1 AR@10 AR@100 AR(area=small) AR(area=medium) AR(area=large)"
)
"""The measures of COCO's summary of boxes and masks, in its order."""

OKS_SUMMARY = (
    "AP AP50 AP75 AP(area=medium) AP(area=large) AR AR50 AR75 AR(area=medium) AR(area=large)"
)
"""The measures of COCO's summary of keypoints, in its order."""


def list_summary(overlap: Overlap) -> str:
    """List the measures of COCO's summary for an overlap."""
    return OKS_SUMMARY if overlap == "oks" else COCO_SUMMARY


def summarize(result: "Result") -> Floats:
    """Compute the numbers as pycocotools does: one mean over all cells of an array that are not -1.

    There are 12 of boxes and masks, and 10 of keypoints.
    """
    _refuse_other_measures(result)
    areas, stats = list(result.conventions.areas), []
    for measure in parse_measures(list_summary(result.conventions.overlap)):
        cells = result.precision if measure.name == "AP" else result.recall
        if measure.iou is not None:
            cells = cells[[Levels.COCO.index(measure.iou[0])]]
        depth = {1: 0, 10: 1}.get(measure.k or 0, -1)  # the lowest, the next, and the highest
        cells = cells[..., areas.index(measure.area or "all"), depth]
        valid = cells[cells > -1]
        stats.append(float(np.mean(valid)) if len(valid) else -1.0)
    of_boxes = result.conventions.overlap != "oks"
    if of_boxes and result.conventions.ap_depth == "100" and result.depths[-1] != 100:
        stats[0] = -1
    return np.array(stats)


def _refuse_other_measures(result: "Result") -> None:
    areas, depths = result.conventions.areas, len(result.depths)
    if result.conventions.overlap == "oks":
        if not {"all", "medium", "large"} <= {*areas} or depths != 1:
            raise MeasureError(
                "stats of keypoints has COCO's measures, which have the areas all, medium and"
                " large, and one depth. Leave out measures=, or name its measures."
            )
        if result.thresholds != Levels.COCO:
            raise MeasureError(f"stats has COCO's thresholds. Leave out {write_option('iou')}.")
    elif not COCO_AREAS.keys() <= areas.keys() or depths != 3 or result.thresholds != Levels.COCO:
        raise MeasureError(
            "stats has COCO's measures, which have its thresholds, its four areas and three"
            f" depths; this evaluation has {len(result.thresholds)} thresholds, {len(areas)} areas"
            f" and {depths} depths. Leave out measures=, or name its measures."
        )


# --- The result of an evaluation of detections ----------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class BoxValue(Arithmetic):
    """One measure's value: the mean over thresholds and classes, and each of them.

    In arithmetic and comparisons it is its mean, as a plain number.
    """

    _json = "complete=measure definition mean per_class"

    measure: BoxMeasure
    classes: Sequence[str]
    values: Floats
    """(T, K): the value at each threshold for each class; NaN where the class does not count."""

    @cached_property
    def mean(self) -> float:
        """The mean over thresholds and classes; NaN where no class has a truth."""
        return average_numbers(self.values.ravel().tolist())

    @cached_property
    def per_class(self) -> dict[str, float]:
        """The mean over thresholds for each class that counts."""
        means = self.values.mean(axis=0).tolist()
        return {name: mean for name, mean in zip(self.classes, means, strict=True) if mean == mean}

    @property
    def per_threshold(self) -> dict[float, float]:
        """The mean over classes at each threshold of overlap."""
        defined = ~np.isnan(self.values).any(axis=0)
        means = (
            self.values[:, defined].mean(axis=1)
            if defined.any()
            else np.full(len(self.values), np.nan)
        )
        return dict(zip(self.measure.iou or (), means.tolist(), strict=True))

    @property
    def definition(self) -> str:
        """The measure in words."""
        return self.measure.definition

    def __float__(self) -> float:
        return self.mean

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.mean:.4f} over {len(self.per_class)} classes>"


@dataclass(frozen=True)
class BoxCounts:
    """How many images, boxes and detections the numbers rest on."""

    images: int
    classes: int
    truths: int
    """those that can be found; crowds and difficult ones that are ignored are none of them"""
    crowds: int
    difficult: int
    detections: int
    dropped: int
    """detections below the depth or the confidence, which do not count"""
    without_truth: int
    """classes without a truth that counts"""
    unseen: int = 0
    """truths without visible keypoints, where keypoints are compared; they are ignored"""


class Result(Lookup[BoxValue], Tabular):
    """The measures of one detector.

    Maps measures (``"AP"``, ``"AR@10"``) to their values. ``stats`` are the 12 numbers of COCO's
    summary, and ``precision`` and ``recall`` the arrays behind them.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.evaluate(truth, found, "AP50 AP95").flat()
    {'AP50': 1.0, 'AP95': 1.0}
    """

    def __init__(
        self,
        name: str,
        measures: Mapping[str, BoxMeasure],
        truths: Truths,
        detections: Detections,
        conventions: Conventions,
        *,
        dialect: "Dialect | None" = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        self.findings = tuple(findings)
        self.name, self.conventions, self.dialect = name, conventions, dialect
        self._asked, self._points = dict(measures), find_points(dialect)
        self._complete = {called: self.complete(measure) for called, measure in self._asked.items()}
        self.measures = tuple(self._complete.values())
        self._given = truths, detections
        for called, measure in self._asked.items():
            _refuse_unknown_frequency(called, measure, truths, conventions)
            _refuse_unknown_class(called, measure, truths, conventions)
        self._values: dict[BoxMeasure, BoxValue] = {}

    @property
    def truths(self) -> Truths:
        """The truths as they were given."""
        return self._given[0]

    @property
    def detections(self) -> Detections:
        """The detections as they were given."""
        return self._given[1]

    @property
    def asked(self) -> tuple[BoxMeasure, ...]:
        """The measures as they were asked for, without what the conventions decide."""
        return tuple(self._asked.values())

    def complete(self, measure: BoxMeasure) -> BoxMeasure:
        """Fill in what the conventions and the dialect decide."""
        return measure.complete(self.conventions, self._points)

    def name_measure(self, name: str | BoxMeasure) -> BoxMeasure:
        """Find the measure of any spelling of a name, with the points of the dialect's curve."""
        measure = self._asked.get(str(name)) or parse_measure(name).shorten(self.conventions)
        return measure if self._points == USUAL_POINTS else measure.name_points(self._points)

    def remeasure(self, measures: Sequence[BoxMeasure]) -> "Result":
        """Evaluate other measures on the same boxes, with the same conventions."""
        names = {measure: called for called, measure in self._asked.items()}
        named = {names.get(measure, str(measure)): measure for measure in measures}
        return Result(self.name, named, *self._given, self.conventions, dialect=self.dialect)

    @cached_property
    def thresholds(self) -> Levels:
        """The thresholds of overlap of all measures, ascending (T)."""
        return Levels(sorted({iou for measure in self.measures for iou in measure.iou or ()}))

    @cached_property
    def depths(self) -> tuple[int | None, ...]:
        """The depths of all measures, ascending (M); None: all detections."""
        return tuple(
            sorted(
                {measure.k for measure in self.measures}, key=lambda k: math.inf if k is None else k
            )
        )

    @cached_property
    def matches(self) -> Matches:
        """The detections with the truths that they found, within the deepest depth."""
        conventions = replace(self.conventions, depth=self.depths[-1])
        return match(*self._given, conventions, self.thresholds)

    @cached_property
    def lists(self) -> RankedLists:
        """The ranked list of each class."""
        return RankedLists(self.matches, self.conventions)

    @property
    def classes(self) -> list[str]:
        """The classes' names, in the order of the arrays (K)."""
        return self._given[0].class_names

    def __getitem__(self, measure: str | BoxMeasure) -> BoxValue:
        key = self._complete.get(str(measure))
        if key is None:
            key = self.complete(parse_measure(measure))
        if key not in self.measures:
            raise NotFoundError(f"{measure} was not evaluated.{offer(measure, self)}")
        if key not in self._values:
            self._values[key] = BoxValue(key, self.classes, self.compute(key, self.lists))
        return self._values[key]

    def __contains__(self, measure: object) -> bool:
        if measure in self._complete:
            return True
        try:
            return self.complete(parse_measure(measure)) in self.measures  # type: ignore[arg-type]
        except ValueError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._asked)

    def __len__(self) -> int:
        return len(self._asked)

    def compute(self, measure: BoxMeasure, lists: RankedLists) -> Floats:
        """Compute a complete measure by threshold and list (T, L); NaN where it does not count."""
        area = list(self.conventions.areas).index(measure.area or "")
        chosen = [self.thresholds.index(iou) for iou in measure.iou or ()]
        if measure.confidence == "best":
            row = "PRF".index(measure.name)
            points = [
                find_best_point(lists, measure.view, area, threshold)[row] for threshold in chosen
            ]
            values: Floats = np.stack(points)
        else:
            values = lists.compute(measure.base, measure.view)[area][chosen]
        if measure.frequency is not None or measure.label is not None:
            values = np.where(self.mark_classes(measure)[lists.labels], values, np.nan)
        if self.conventions.ap_depth == "100" and measure.is_main and measure.k != 100:
            return np.full_like(values, np.nan)
        if self.conventions.no_truth == "skip":
            values = np.where(lists.relevant[area] > 0, values, np.nan)
        return values

    def mark_classes(self, measure: BoxMeasure) -> Bools:
        """Mark the classes (K) over which a measure is averaged: all, or those that it names."""
        marked = np.ones(len(self.classes), bool)
        if measure.frequency is not None:
            frequencies = self.truths.frequencies
            marked &= [frequency == measure.frequency for frequency in frequencies]
        if measure.label is not None:
            chosen = find_id(measure.label, self.truths.classes, self.truths.names, "class")
            marked &= np.arange(len(marked)) == chosen
        return marked

    def by(self, part: Part) -> Groups:
        """Evaluate each ``class``, ``area`` (range of areas), ``frequency`` or ``image`` by itself.

        An image is a data set of its own: the mean is over the classes that have a truth in it.
        """
        return group(self, part)

    @cached_property
    def best_confidence(self) -> dict[str, float]:
        """The lowest score that counts where F1 is best, of each class, at an overlap of .5.

        >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": ["cat"]}]
        >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": ["cat"], "scores": [0.9]}]
        >>> germane.boxes.evaluate(truth, found).best_confidence
        {'cat': 0.9}
        """
        from germane.boxes.box_curves import find_best_confidences

        return find_best_confidences(self)

    @cached_property
    def precision(self) -> Floats:
        """The best precision at 101 recalls, by threshold, recall, class, area and depth.

        Shape (T, R, K, A, M); -1 where a class has no truth. It is pycocotools' array of that name,
        bit for bit.
        """
        out = np.empty((len(self.thresholds), 101, *self._shape))
        for m, depth in enumerate(self.depths):
            curves = read_curves(self.lists.rank(View(depth)), 101, added=float(np.spacing(1)))
            out[..., m] = self.lists.split(curves).transpose(2, 0, 3, 1)
        return np.where(self._has_truth[:, :, None], out, -1.0)

    @cached_property
    def recall(self) -> Floats:
        """Recall by threshold, class, area and depth (T, K, A, M); -1 without truths."""
        out = np.empty((len(self.thresholds), *self._shape))
        for m, depth in enumerate(self.depths):
            out[..., m] = self.lists.compute(_RECALL, View(depth)).transpose(1, 2, 0)
        return np.where(self._has_truth[:, :, None], out, -1.0)

    @property
    def _shape(self) -> tuple[int, int, int]:
        return self.lists.count, len(self.conventions.areas), len(self.depths)

    @property
    def _has_truth(self) -> Any:
        return self.lists.relevant.T > 0  # (K, A)

    def flat(self, *, prefix: str = "") -> dict[str, float]:
        """Measure → mean, for experiment trackers."""
        return {f"{prefix}{name}": self[name].mean for name in self}

    @cached_property
    def counts(self) -> BoxCounts:
        """How many images, boxes and detections the numbers rest on."""
        truths, detections = self._given
        matched = self.matches.truths
        unseen = np.zeros(len(matched), bool)
        if self.conventions.overlap == "oks" and matched.unseen is not None:
            unseen = matched.unseen
        return BoxCounts(
            images=len(truths.images),
            classes=len(truths.classes),
            truths=int((~self.matches.ignored[0]).sum()),
            crowds=int(truths.crowd.sum()),
            difficult=int(truths.difficult.sum()),
            detections=len(detections),
            dropped=len(detections) - len(self.matches.detections),
            without_truth=len(truths.classes)
            - len(np.unique(matched.label[~matched.crowd & ~matched.difficult & ~unseen])),
            unseen=int(unseen.sum()),
        )

    @cached_property
    def stats(self) -> Floats:
        """The 12 numbers of COCO's summary, as pycocotools computes them; -1 where nothing counts.

        AP, AP50, AP75, AP of small, medium and large objects, AR at the three depths, and AR of
        small, medium and large objects. Of keypoints 10: AP, AP50, AP75, AP of medium and large
        objects, and AR of the same. Raises MeasureError for measures without these areas and
        depths.
        """
        return summarize(self)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row; definitions, counts and conventions as notes."""
        return Results({self.name: self}).table(digits=digits)

    def to_dict(self, *, images: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; NaN becomes None.

        With ``images``, each number has the shares of all images, of which it is the mean: a record
        that ``gate`` takes as a baseline.
        """
        return Results({self.name: self}).to_dict(images=images)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={self[name].mean:.4f}" for name in self)
        return f"<Result {make_visible(self.name)}: {means}>"


_RECALL = Measure("R")


def _refuse_unknown_frequency(
    called: str, measure: BoxMeasure, truths: Truths, choices: Conventions
) -> None:
    """Refuse a measure of the classes of a frequency, unless every class has one."""
    if measure.frequency is None:
        return
    pairs = zip_longest(truths.class_names, truths.frequencies, fillvalue="")
    lost = [name for name, frequency in pairs if not frequency]
    if lost:
        raise MeasureError(
            f"{called} is about {measure.frequency} classes, but {truths.where} has no frequency of"
            f" {list_some(lost)}. Categories of LVIS have 'frequency', which is r, c or f. Add it,"
            " or name measures that do not need it."
        )
    if choices.classes == "merged":
        raise MeasureError(
            f"{called} is about {measure.frequency} classes, but"
            f" {write_option('classes', 'merged')} makes one of all."
            f" {write_option('classes', 'each')} keeps them apart."
        )


def _refuse_unknown_class(
    called: str, measure: BoxMeasure, truths: Truths, choices: Conventions
) -> None:
    """Refuse a measure of a class that there is not."""
    if measure.label is None:
        return
    find_id(measure.label, truths.classes, truths.names, "class")
    if choices.classes == "merged":
        raise MeasureError(
            f"{called} is about one class, but {write_option('classes', 'merged')} makes one of"
            f" all. {write_option('classes', 'each')} keeps them apart."
        )


class Results(Named[Result], Tabular):
    """Several detectors evaluated on the same truths: the Result of each by its name.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.evaluate_many(truth, {"one": found}, "AP50")["one"]["AP50"].mean
    1.0
    """

    _noun = "detections"

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a detector; definitions, counts and conventions as notes."""
        return make_table(self, digits)

    def to_dict(self, *, images: bool = False) -> dict[str, Any]:
        """Plain values for JSON, in a versioned schema; with ``images``, a record for ``gate``."""
        if not images:
            return make_dict(self)
        from germane.boxes.box_records import make_record

        return make_record(self)
