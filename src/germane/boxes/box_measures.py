"""The measures of detections: names such as ``AP(iou=.5,area=small)``, and their values."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TypeAlias

import numpy as np

from germane.boxes.conventions import Conventions
from germane.boxes.ranked_lists import Curve, View
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.dialects.names import parse
from germane.errors import MeasureError, NotFoundError, clip, list_choices, offer, write_option
from germane.measures.box_names import (
    TAKES,
    USUAL_POINTS,
    BoxName,
    read_box_name,
    split_box_names,
    write_depth,
    write_thresholds,
    write_value,
)
from germane.measures.interpolated import measure_lines, read_curves
from germane.measures.measure import Measure, list_names

BoxMeasures: TypeAlias = "str | BoxMeasure | Iterable[str | BoxMeasure]"
EXAMPLE = "AP AP50 AR@10"


def _read_single_levels(ranking: Ranking) -> Floats:
    return np.asarray(read_curves(ranking, 101, rounding="single").mean(axis=0))


def _measure_sloped_lines(ranking: Ranking) -> Floats:
    return measure_lines(ranking, None, 1.0, end="slope") / 100


_POINTS: dict[str, tuple[Measure | Curve, str]] = {
    "101": (
        parse("IAP(points=101,rounding=double)"),
        "the best precision at 101 recalls or beyond",
    ),
    "101single": (
        _read_single_levels,
        "the best precision at the 101 recalls of torch.linspace or beyond",
    ),
    "11": (parse("IAP(rounding=double)"), "the best precision at 11 recalls or beyond"),
    "all": (
        parse("AUPR(rule=interpolated)"),
        "the best precision at the recall of each truth or beyond",
    ),
    "lines": (
        parse("AUPR(rule=linear101)"),
        "lines through the best precisions, with trapezoids between 101 recalls",
    ),
    "slope": (
        _measure_sloped_lines,
        "lines through the best precisions and to recall 1, with trapezoids between 101 recalls",
    ),
}
_NAMES = {
    "AP": "average precision",
    "AR": "the recall of all detections",
    "P": "precision",
    "R": "recall",
    "F": "F1, the harmonic mean of precision and recall",
}


@dataclass(frozen=True, repr=False)
class BoxMeasure(BoxName):
    """A measure of detections with its parameters.

    ``iou`` are thresholds of overlap, ``area`` is the name of a range, ``frequency`` that of a
    group of classes, ``points`` says how the area under the precision–recall curve is taken,
    ``confidence`` is the lowest score that counts, or ``best``, and ``k`` the depth. What is None
    is decided by the conventions.
    """

    @property
    def range(self) -> None:
        """The limits of an image's share: none, although those of the number are 0 and 1."""

    def complete(self, choices: Conventions, points: str = USUAL_POINTS) -> "BoxMeasure":
        """Fill in what the conventions decide, and the curve's points if the measure names none.

        Raises MeasureError for an unknown area, and for a spelling that says another overlap.
        """
        overlap = choices.overlap.removesuffix("+1").replace("iou", "box")
        if self.overlap not in ("", overlap):
            matched, chosen = (_MATCHED[kind] for kind in (self.overlap, overlap))
            word = "iou" if self.overlap == "box" else self.overlap
            has, needs = (write_option("overlap", choice) for choice in (choices.overlap, word))
            raise MeasureError(
                f"{self} was asked for by a name of {matched}, and {has} evaluates {chosen}."
                f" Write {self}, or {needs}."
            )
        area = next(iter(choices.areas)) if self.area is None else self.area
        if area not in choices.areas:
            raise MeasureError(
                f"{self}: no range of areas is named {clip(area)}.{offer(area, choices.areas)}"
            )
        iou = self.iou or ((0.5,) if self.name in "PRF" else choices.iou)
        measure = replace(self, iou=iou, area=area, k=self.k or choices.depth, overlap="")
        return measure.name_points(points)

    def name_points(self, points: str) -> "BoxMeasure":
        """Name the points of the curve, where there is one and the measure names none."""
        return replace(self, points=points) if self.name == "AP" and not self.points else self

    def shorten(self, choices: Conventions) -> "BoxMeasure":
        """Leave to the conventions what these say, too: mAP50-95 and AP(area=all) are AP."""
        iou = None if self.iou == choices.iou and len(choices.iou) > 1 else self.iou
        area = None if self.area == next(iter(choices.areas)) else self.area
        return replace(self, iou=iou, area=area)

    @property
    def is_main(self) -> bool:
        """Is it AP over several thresholds, of objects of every size?"""
        return self.name == "AP" and len(self.iou or "__") > 1 and self.area in (None, "all")

    @property
    def view(self) -> View:
        """The detections that the measure looks at."""
        return View(self.k, None if self.confidence == "best" else self.confidence)

    @property
    def base(self) -> Measure | Curve:
        """The measure of ranked lists that this one is, at one threshold and for one class."""
        if self.name == "AP":
            return _POINTS[self.points or USUAL_POINTS][0]
        return parse("R" if self.name == "AR" else self.name)

    @property
    def definition(self) -> str:
        """The measure in words.

        >>> from germane.boxes.box_measures import parse_measure
        >>> parse_measure("AP(iou=.5,points=11)").definition
        'the best precision at 11 recalls or beyond, mean over classes; overlap .5'
        """
        iou = self.iou or ()
        has_thresholds = len(iou) > 1 or (not iou and self.name in ("AP", "AR"))
        over = "classes and thresholds of overlap" if has_thresholds else "classes"
        parts = [f"{self.formula}, mean over {over}"]
        if iou:
            parts.append(f"overlap {write_thresholds(iou)}")
        if self.area not in (None, "all"):
            parts.append(f"{self.area} objects")
        if self.frequency is not None:
            parts.append(f"{self.frequency} classes")
        if self.confidence == "best":
            parts.append("at the confidence where the mean F1, smoothed, is best")
        elif self.confidence is not None:
            parts.append(f"scores from {self.confidence:g}")
        if self.k is not None:
            parts.append(write_depth(self.k))
        return "; ".join(parts)

    @property
    def explanation(self) -> str:
        """The full definition: formula, parameters, and what the conventions decide."""
        values = {**vars(self), "depth": self.k}
        written = {name: write_value(values[name]) for name in TAKES[self.name] if values[name]}
        rows = [
            ("Formula", self.definition),
            *(
                (
                    "" if place else "Parameters",
                    f"{'='.join((name, *filter(None, [written.get(name)])))}: {_PARAMETERS[name]}",
                )
                for place, name in enumerate(TAKES[self.name])
            ),
            ("Conventions", _CONVENTIONS),
            (
                "Computed by",
                f'germane boxes, and germane.boxes.evaluate(truth, detections, "{self}")',
            ),
        ]
        lines = [f"{self} — {_NAMES[self.name]}, of detected boxes", ""]
        for label, text in rows:
            lines += wrap(text, 96, initial_indent=f"{label:<13}", subsequent_indent=" " * 13)
        return "\n".join(lines) + "\n"

    @property
    def formula(self) -> str:
        """The measure of one class at one threshold, in words."""
        return _POINTS[self.points or USUAL_POINTS][1] if self.name == "AP" else _NAMES[self.name]


_PARAMETERS = {
    "iou": "the thresholds of overlap, over which it is a mean",
    "area": "a range of areas, such as small, medium or large",
    "frequency": "of classes: rare, common or frequent, where the truth says it, as LVIS does",
    "points": f"of the curve whose area is taken: {list_choices(_POINTS)}",
    "confidence": "the lowest score that counts, or best: where the mean F1 over classes is best",
    "depth": "how many of the highest scores count",
}


_CONVENTIONS = (
    "how detections are matched with truths, and what the name leaves open: germane boxes --help,"
    " docs/which-map.md"
)
_MATCHED = {"box": "boxes", "mask": "masks", "oks": "keypoints"}


def parse_measure(text: str | BoxMeasure) -> BoxMeasure:
    """Read a measure of detections from its name.

    >>> from germane.boxes.box_measures import parse_measure
    >>> parse_measure("AP50")
    AP50

    It may be spelled as in papers and other tools. Raises MeasureError for what is not one.
    """
    return text if isinstance(text, BoxMeasure) else BoxMeasure(**vars(read_box_name(text)))


def parse_measures(measures: BoxMeasures) -> tuple[BoxMeasure, ...]:
    """Read measures from a string of names, or several names."""
    return tuple(dict.fromkeys(map(parse_measure, list_box_names(measures))))


def list_box_names(measures: BoxMeasures) -> list[str | BoxMeasure]:
    """List the names in a string, or in several, and the measures among them."""
    return list_names(measures, BoxMeasure, split_box_names, EXAMPLE)


def find_spelling(measure: str | BoxMeasure, names: Iterable[str]) -> str:
    """Find the name of a measure among some, however it is spelled. Raises NotFoundError."""
    listed = list(names)
    if str(measure) in listed:
        return str(measure)
    wanted = parse_measure(measure).shorten(Conventions())
    for name in listed:
        with suppress(MeasureError):  # of a tool's name
            if parse_measure(name).shorten(Conventions()) == wanted:
                return name
    raise NotFoundError(f"{measure} was not evaluated.{offer(measure, listed)}")
