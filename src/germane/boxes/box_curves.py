"""The verb curve: precision over recall, and precision, recall and F1 over confidence, by class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from germane.boxes.box_measures import BoxMeasure, BoxMeasures
from germane.boxes.box_result import Result
from germane.boxes.conventions import Conventions
from germane.boxes.score_curves import Sweep, mark_lasts, sweep
from germane.boxes.verbs import evaluate
from germane.core.finding import Finding
from germane.core.ragged import Floats, Ints
from germane.errors import MeasureError, make_visible
from germane.measures.average import read_curves
from germane.output.documents import LEFT_OUT, Document
from germane.output.named_columns import Tabular, make_texts
from germane.output.tables import Table, format_number

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from germane.boxes.conventions import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect
    from germane.presentation.pictures import Paper

RECALLS = np.linspace(0, 1, 101)


@dataclass(frozen=True)
class OperatingPoint:
    """The confidence with the best F1, and what detections are worth from it on."""

    confidence: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Tabular, Document):
    """Precision over recall, and precision, recall and F1 over confidence, at one overlap.

    ``best`` has the confidence with the best F1 of each class, ``best_of_all`` the one
    confidence with the best mean F1. ``precision_at`` has, for each class and each of
    101 levels of recall, the best precision at that recall or beyond, as an array (K, 101). Frames
    have all points over confidence, and ``save`` and ``plot`` draw the curves.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": ["cat"]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": ["cat"], "scores": [0.9]}]
    >>> germane.boxes.curve(truth, found).best["cat"].confidence
    0.9
    """

    _json = (
        "name measure=title conventions classes truths values=per_class value best best_of_all"
        " precision_at"
    )

    name: str
    title: str  # the measure as it was asked for
    measure: BoxMeasure = field(metadata=LEFT_OUT)
    classes: Sequence[str]
    """those with truths (K)"""
    truths: Ints  # K
    per_class: Mapping[str, float]
    value: float
    precision_at: Floats  # (K, 101)
    sweeps: Mapping[str, Sweep] = field(metadata=LEFT_OUT)
    """the detections of each class"""
    sweep: Sweep = field(metadata=LEFT_OUT)
    """those of all classes"""
    conventions: Conventions
    findings: tuple[Finding, ...] = ()

    @cached_property
    def best(self) -> dict[str, OperatingPoint]:
        """The confidence with the best F1 of each class."""
        return {name: _find_point(swept) for name, swept in self.sweeps.items()}

    @cached_property
    def best_of_all(self) -> OperatingPoint:
        """The one confidence for all classes with the best mean F1, and means over classes."""
        return _find_point(self.sweep)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a class at its best confidence, and one for all at theirs."""
        points = [*self.best.items(), ("all", self.best_of_all)]
        values = [self.per_class.get(name) for name in self.classes] + [self.value]
        truths = [*self.truths.tolist(), int(self.truths.sum())]
        rows = tuple(
            (
                name,
                f"{count}",
                f"{point.confidence:g}",
                *(
                    format_number(number, digits, nan="–")
                    for number in (point.precision, point.recall, point.f1, value)
                ),
            )
            for (name, point), value, count in zip(points, values, truths, strict=True)
        )
        notes = (
            "confidence: the lowest score that counts at the best F1; for all, at the best mean F1",
            "P, R, F1: from that confidence on; for all, means over classes",
            f"{self.title}: {self.measure.definition}",
            f"conventions: {self.conventions}",
        )
        return Table(("class", "truths", "confidence", "P", "R", "F1", self.title), rows, notes)

    def plot(self, ax: "Axes | None" = None, *, paper: "Paper" = "light") -> Self:
        """Draw four panels into the place of ``ax``, or into a new figure of pyplot."""
        from germane.boxes.curves_picture import CurvesDisplay

        CurvesDisplay(self).plot(ax, paper=paper)
        return self

    def save(self, path: "str | os.PathLike[str]", *, paper: "Paper | None" = None) -> None:
        """Draw four panels and write them as svg, png or pdf."""
        from germane.boxes.curves_picture import CurvesDisplay

        CurvesDisplay(self).save(path, paper=paper)

    def __repr__(self) -> str:
        best = self.best_of_all
        return make_visible(
            f"<Curves of {self.name}: mean F1 {best.f1:.4f} from {best.confidence:g} on>"
        )

    def _list_columns(self) -> dict[str, Any]:
        parts: list[tuple[Any, ...]] = []
        for name, swept in self.sweeps.items():
            last = mark_lasts(swept.score)
            columns = (swept.score, swept.precision, swept.recall, swept.f1)
            score, *others = (column[last] for column in columns)
            parts.append(([name] * len(score), score, *others))
        score, means = trace_means(self.sweep)
        parts.append(([None] * len(score), score, *means))
        names, *numbers = zip(*parts, strict=True)
        keys = ("confidence", "precision", "recall", "f1")
        joined = dict(zip(keys, map(np.concatenate, numbers), strict=True))
        return {"class": make_texts(name for part in names for name in part), **joined}


def trace_means(swept: Sweep) -> tuple[Floats, list[Floats]]:
    """List the different scores, falling, and mean precision, recall and F1 from each on."""
    curves = [swept.average(values) for values in (swept.precision, swept.recall, swept.f1)]
    return curves[0][0], [means for _, means in curves]


def _find_point(swept: Sweep) -> OperatingPoint:
    confidence, _ = swept.find_best()
    scores, means = trace_means(swept)
    if not len(scores):
        return OperatingPoint(confidence, *[0.0 if swept.relevant.any() else np.nan] * 3)
    return OperatingPoint(confidence, *(float(values[means[2].argmax()]) for values in means))


def curve(
    truth: "TruthSource",
    detections: "DetectionSource",
    measure: "BoxMeasures" = "AP50",
    *,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    **options: Unpack["Options"],
) -> Curves:
    """Trace precision over recall, and precision, recall and F1 over confidence, for each class.

    The measure sets the overlap, the area and the depth, as in ``AP50`` or ``AP75(area=small)``.

    >>> truth = [{"boxes": [[10, 10, 50, 50], [60, 60, 90, 90]], "labels": ["cat", "dog"]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]] * 2, "labels": ["cat"] * 2, "scores": [0.9, 0.4]}]
    >>> curves = germane.boxes.curve(truth, found)
    >>> curves.best["cat"].f1, curves.best_of_all.f1
    (1.0, 0.5)

    Options are those of ``evaluate``. Raises MeasureError for several thresholds of overlap, and
    the errors of ``evaluate``.
    """
    result = evaluate(truth, detections, measure, dialect=dialect, name=name, **options)
    title, complete = next(iter(result)), result.measures[0]
    levels = complete.iou or ()
    if len(levels) != 1:
        raise MeasureError(
            f"{title} is a mean over {len(levels)} thresholds of overlap, and a curve needs a"
            " single one, as AP50 has."
        )
    area = list(result.conventions.areas).index(complete.area or "")
    threshold = result.thresholds.index(levels[0])
    swept = sweep(result.lists, complete.view, area, threshold)
    sought = np.flatnonzero((swept.relevant > 0) & result.mark_classes(complete))
    ranking = result.lists.rank(complete.view)
    precision = result.lists.split(read_curves(ranking, 101))[:, area, threshold].T
    names = [result.classes[label] for label in sought.tolist()]
    value = result[title]
    return Curves(
        result.name, title, complete, names, swept.relevant[sought], value.per_class, value.mean,
        precision[sought], {result.classes[label]: swept.take(label) for label in sought.tolist()},
        swept.select(sought), result.conventions, result.findings,
    )  # fmt: skip


def find_best_confidences(result: Result) -> dict[str, float]:
    """Find the confidence with the best F1 of each class with truths, at an overlap of .5."""
    measure = BoxMeasure.read("F50")
    half = result.remeasure([measure])
    complete = half.measures[0]
    area = list(half.conventions.areas).index(complete.area or "")
    swept = sweep(half.lists, complete.view, area, 0)
    return {
        half.classes[label]: swept.take(label).find_best()[0]
        for label in np.flatnonzero(swept.relevant).tolist()
    }
