"""The measures of detections: names such as ``AP(iou=.5,area=small)@100``, and their values.

Each is one of germane's measures on the ranked lists of matched detections, for a range of areas,
averaged over thresholds of overlap and over classes.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.boxes.conventions import Conventions, read_thresholds, write_thresholds
from germane.boxes.ranked_lists import Curve, View
from germane.core.ragged import Floats
from germane.core.ranking import Ranking
from germane.dialects.parsing import parse
from germane.errors import MeasureError, PolicyError, clip, list_choices, offer, suggest
from germane.measures.interpolated import measure_lines, read_curves
from germane.measures.measure import Measure
from germane.measures.names import list_names

BoxMeasures: TypeAlias = "str | BoxMeasure | Iterable[str | BoxMeasure]"
EXAMPLE = "AP AP50 AR@10"


def _read_single_levels(ranking: Ranking) -> Floats:
    return np.asarray(read_curves(ranking, 101, rounding="single").mean(axis=0))


def _measure_sloped_lines(ranking: Ranking) -> Floats:
    return measure_lines(ranking, None, 1.0, end="slope") / 100


_POINTS: dict[str, tuple[Measure | Curve, str]] = {
    "101": (parse("IAP(points=101,rounding=double)"), "the best precision at 101 recalls"),
    "101single": (
        _read_single_levels,
        "the best precision at 101 recalls, which are numbers in single precision",
    ),
    "11": (parse("IAP(rounding=double)"), "the best precision at 11 recalls"),
    "all": (parse("AUPR(rule=interpolated)"), "the best precision at every recall"),
    "lines": (parse("AUPR(rule=linear101)"), "trapezoids between 101 points of straight lines"),
    "slope": (
        _measure_sloped_lines,
        "trapezoids between 101 points of straight lines, of which the last goes to recall 1",
    ),
}
POINTS = tuple(_POINTS)
_NAMES = {
    "AP": "average precision",
    "AR": "the recall of all detections",
    "P": "precision",
    "R": "recall",
    "F": "F1, the harmonic mean of precision and recall",
}
_SHARED = ("iou", "area")
_TAKES = {
    "AP": (*_SHARED, "points"),
    "AR": _SHARED,
    **dict.fromkeys(("P", "R", "F"), (*_SHARED, "confidence")),
}
_WRITTEN = re.compile(r"([A-Za-z]+)(\d+)?(?:\((.*)\))?(?:@(\w*))?", re.DOTALL)
_ALIASES = {"map": "AP", "ap": "AP", "mar": "AR", "ar": "AR", "p": "P", "r": "R", "f": "F",
    "f1": "F",
            "precision": "P", "recall": "R"}  # fmt: skip


@dataclass(frozen=True)
class BoxMeasure:
    """A measure of detections with its parameters.

    ``iou`` are thresholds of overlap, ``area`` is the name of a range, ``points`` says how the area
    under the precision–recall curve is taken, ``confidence`` is the lowest score that counts, or
    ``best``, and ``k`` the depth. What is None is decided by the conventions.
    """

    name: str
    iou: tuple[float, ...] | None = None
    area: str | None = None
    points: str | None = None
    confidence: float | Literal["best"] | None = None
    k: int | None = None

    def __str__(self) -> str:
        written = [
            f"{name}={_write(value)}"
            for name in _TAKES[self.name]
            if (value := getattr(self, name)) is not None
            and not (name == "iou" and self._short_name != self.name)
        ]
        cutoff = "" if self.k is None else f"@{self.k}"
        return self._short_name + (f"({','.join(written)})" if written else "") + cutoff

    __repr__ = __str__

    @property
    def range(self) -> None:
        """The limits of an image's share: none, although those of the number are 0 and 1."""

    @property
    def _short_name(self) -> str:
        """The name with its threshold, as in AP50, where that is one of two digits."""
        percent = f"{100 * self.iou[0]:.0f}" if self.iou and len(self.iou) == 1 else ""
        exact = len(percent) == 2 and self.iou == (float(f".{percent}"),)
        return self.name + percent if exact else self.name

    def complete(self, choices: Conventions) -> "BoxMeasure":
        """Fill in what the conventions decide. Raises MeasureError for an unknown area."""
        area = next(iter(choices.areas)) if self.area is None else self.area
        if area not in choices.areas:
            raise MeasureError(
                f"{self}: no range of areas is named {clip(area)}.{offer(area, choices.areas)}"
            )
        points = (self.points or "101") if self.name == "AP" else None
        iou = self.iou or ((0.5,) if self.name in "PRF" else choices.iou)
        return BoxMeasure(self.name, iou, area, points, self.confidence, self.k or choices.depth)

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
            return _POINTS[self.points or "101"][0]
        return parse("R" if self.name == "AR" else self.name)

    @property
    def definition(self) -> str:
        """The measure in words.

        >>> from germane.boxes.measures import parse_measure
        >>> parse_measure("AP(iou=.5,points=11)").definition
        'the best precision at 11 recalls, mean over classes; overlap .5'
        """
        iou = self.iou or ()
        several = len(iou) > 1 or (not iou and self.name in ("AP", "AR"))
        over = "classes and thresholds of overlap" if several else "classes"
        parts = [f"{self.formula}, mean over {over}"]
        if iou:
            parts.append(f"overlap {write_thresholds(iou)}")
        if self.area not in (None, "all"):
            parts.append(f"{self.area} objects")
        if self.confidence == "best":
            parts.append("at the confidence where the mean F1, smoothed, is best")
        elif self.confidence is not None:
            parts.append(f"scores from {self.confidence:g}")
        if self.k is not None:
            parts.append(write_depth(self.k))
        return "; ".join(parts)

    @property
    def formula(self) -> str:
        """The measure of one class at one threshold, in words."""
        return _POINTS[self.points or "101"][1] if self.name == "AP" else _NAMES[self.name]


def write_depth(depth: int) -> str:
    """Write a depth in words."""
    return f"the {depth} highest scores" if depth > 1 else "the highest score"


def parse_measure(text: str | BoxMeasure) -> BoxMeasure:
    """Read a measure of detections from its name.

    >>> from germane.boxes.measures import parse_measure
    >>> parse_measure("AP50")
    AP50

    Raises MeasureError, with the nearest name, for what is not one.
    """
    if isinstance(text, BoxMeasure):
        return text
    written = _WRITTEN.fullmatch(text.strip()) if isinstance(text, str) else None
    name = _ALIASES.get(written[1].casefold()) if written else None
    if written is None or name is None:
        raise MeasureError(
            f"{clip(text)} is not a measure of detections.{suggest(str(text), _NAMES)}  There are:"
            f" {', '.join(_NAMES)}, such as AP, AP50, AP(iou=.5,area=small), AR@10,"
            " P(confidence=.25)"
        )
    given = _read_parameters(text, name, written[3])
    if written[2] is not None:
        if "iou" in given:
            raise MeasureError(f"{clip(text)} gives two thresholds of overlap.")
        given["iou"] = _read_value(text, "iou", f"{int(written[2]) / 100:g}")
    k = None
    if written[4] is not None:
        if not written[4].isdecimal() or int(written[4]) < 1:
            raise MeasureError(
                f"{clip(text)}: the depth must be a positive integer; got {clip(written[4])}"
            )
        k = int(written[4])
    return BoxMeasure(name, k=k, **given)


def parse_measures(measures: BoxMeasures) -> tuple[BoxMeasure, ...]:
    """Read measures from a string of names, or several names."""
    names = list_names(measures, BoxMeasure, example=EXAMPLE)
    return tuple(dict.fromkeys(map(parse_measure, names)))


def _read_parameters(text: str, name: str, inside: str | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in re.split(r",(?=\s*[a-z]+\s*=)", inside) if inside else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in _TAKES[name] or key in given:
            raise MeasureError(
                f"{clip(text)}: {name} takes {list_choices(_TAKES[name])}, each once; got"
                f" {clip(part)}.{suggest(key, _TAKES[name])}"
            )
        given[key] = _read_value(text, key, value)
    return given


def _read_value(text: str, key: str, value: str) -> Any:
    if key == "area":
        return value
    if key == "points":
        if value not in _POINTS:
            raise MeasureError(
                f"{clip(text)}: points takes {list_choices(_POINTS)}; got {clip(value)}"
            )
        return value
    if key == "confidence" and value == "best":
        return value
    try:
        if key == "iou":
            return read_thresholds(value.replace("+", ","))
        if math.isfinite(number := float(value)):
            return number
        raise ValueError(value)
    except (PolicyError, ValueError) as error:
        says = (
            error if isinstance(error, PolicyError) else f"{key} takes a number; got {clip(value)}"
        )
        raise MeasureError(f"{clip(text)}: {says}") from None


def _write(value: Any) -> str:
    if isinstance(value, tuple):
        return write_thresholds(value)
    return f"{value:g}".removeprefix("0") or "0" if isinstance(value, float) else str(value)
