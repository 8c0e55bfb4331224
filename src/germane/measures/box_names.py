"""Names of measures of detected boxes, as germane writes them.

Name(parameter=value,…)@k     AP   AP50   AP(area=small)   AR@10   P(confidence=.25)@5

``box_spellings`` reads them, and the spellings of other tools and papers.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from germane.errors import MeasureError, PolicyError, clip, list_choices, suggest
from germane.measures.overlap_thresholds import read_thresholds, write_thresholds

Frequency = Literal["rare", "common", "frequent"]
FREQUENCIES: tuple[Frequency, ...] = get_args(Frequency)
POINTS = ("101", "101single", "11", "all", "lines", "slope")
USUAL_POINTS = POINTS[0]
_SHARED = ("iou", "area", "frequency")
TAKES = {
    "AP": (*_SHARED, "points", "depth"),
    "AR": (*_SHARED, "depth"),
    **dict.fromkeys(("P", "R", "F"), (*_SHARED, "confidence", "depth")),
}
"""Each measure, and the parameters that it takes."""

_DEPTH_AFTER_AT = ("AR", "P", "R")  # after AP and F, half of the field writes an overlap there


@dataclass(frozen=True)
class BoxName:
    """The parts of a measure's name; those that are None are left to the conventions.

    ``overlap`` is what is matched (box, mask or oks) if a spelling says it, as ``bbox_mAP`` does.
    """

    name: str
    iou: tuple[float, ...] | None = None
    area: str | None = None
    points: str | None = None
    confidence: float | Literal["best"] | None = None
    k: int | None = None
    frequency: Frequency | None = None
    overlap: str = field(default="", compare=False)

    def __str__(self) -> str:
        values = {**vars(self), "depth": None if self.name in _DEPTH_AFTER_AT else self.k}
        if self.short_name != self.name:
            values["iou"] = None
        written = ",".join(
            f"{one}={write_value(values[one])}"
            for one in TAKES[self.name]
            if values[one] is not None
        )
        depth = f"@{self.k}" if self.k is not None and values["depth"] is None else ""
        return self.short_name + (f"({written})" if written else "") + depth

    __repr__ = __str__

    @property
    def short_name(self) -> str:
        """The name with its threshold, as in AP50, where these digits can mean nothing else."""
        digits = f"{100 * self.iou[0]:.0f}" if self.iou and len(self.iou) == 1 else ""
        exact = is_level(self.name, digits) and self.iou == (float(f".{digits}"),)
        return self.name + digits if exact else self.name


def write_value(value: Any) -> str:
    """Write the value of a parameter as names do."""
    if isinstance(value, tuple):
        return write_thresholds(value)
    return f"{value:g}".removeprefix("0") or "0" if isinstance(value, float) else str(value)


def is_level(name: str, digits: str, *, after_at: bool = False) -> bool:
    """Are digits after a name a level of overlap in percent, and certainly no depth?

    AP50, AR50 and AP10 are; AR10 and R10 are not, and neither are AP@10 and AP11, of 11 points.
    """
    if len(digits) != 2 or digits in POINTS:
        return False
    return digits >= "50" or digits == "25" or (name == "AP" and not after_at)


def read_parameters(text: str, name: str, parts: Iterable[str]) -> dict[str, Any]:
    """Read parameters of a measure, ``key=value`` each. Raises MeasureError for other parts."""
    found: dict[str, Any] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        key = _KEYS.get(key.casefold(), key.casefold())
        if not equals or key not in TAKES[name] or key in found:
            raise MeasureError(
                f"{clip(text)}: {name} takes {list_choices(TAKES[name])}, each once; got"
                f" {clip(part)}.{suggest(key, TAKES[name])}"
            )
        found[key] = _read_value(text, key, value)
    return found


_KEYS = {"maxdets": "depth", "max_dets": "depth", "catids": "frequency", "conf": "confidence"}
"""Names of parameters that other tools print."""

INITIALS = {frequency[0]: frequency for frequency in ("small", "medium", "large", *FREQUENCIES)}


def _read_value(text: str, key: str, value: str) -> Any:
    if key == "area":
        return value
    if key == "depth":
        return read_depth(text, value)
    if key in _LISTED:
        word = INITIALS.get(value, value) if key == "frequency" else value
        if word not in _LISTED[key]:
            takes = list_choices(_LISTED[key])
            raise MeasureError(f"{clip(text)}: {key} takes {takes}; got {clip(value)}")
        return word
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


_LISTED: dict[str, tuple[str, ...]] = {"points": POINTS, "frequency": FREQUENCIES}


def write_depth(depth: int) -> str:
    """Write a depth in words."""
    return f"the {depth} highest scores" if depth > 1 else "the highest score"


def read_depth(text: str, written: str) -> int:
    """Read a depth. Raises MeasureError for what is no positive integer."""
    if not written.isdecimal() or not 1 <= int(written) < 10**12:
        raise MeasureError(
            f"{clip(text)}: the depth must be a positive integer; got {clip(written)}"
        )
    return int(written)
