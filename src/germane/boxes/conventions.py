"""The conventions of object detection on which tools differ: how detections are matched."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args, get_origin

from germane.boxes.detections import Overlap
from germane.boxes.foreign_options import translate_option
from germane.core.arguments import is_number, list_values, parse_whole, read_numbers
from germane.errors import PolicyError, check_choice, clip, offer, write_option
from germane.measures.box_names import COCO_THRESHOLDS, read_thresholds, write_thresholds

Candidate: TypeAlias = Literal["fallback", "best"]
Reach: TypeAlias = Literal["at_least", "above"]
EqualOverlaps: TypeAlias = Literal["last", "first"]
Crowds: TypeAlias = Literal["ignore", "difficult", "drop", "count"]
Difficult: TypeAlias = Literal["ignore", "count"]
DepthOf: TypeAlias = Literal["class", "image"]
AreaOf: TypeAlias = Literal["annotation", "box"]
FoundArea: TypeAlias = Literal["own", "given_box"]
BoxTies: TypeAlias = Literal["image", "given"]
ClassesOf: TypeAlias = Literal["each", "merged"]
NoTruth: TypeAlias = Literal["skip", "zero"]
Unknown: TypeAlias = Literal["error", "ignore"]
Unverified: TypeAlias = Literal["count", "ignore"]
Flagged: TypeAlias = Literal["count", "ignore"]
Empty: TypeAlias = Literal["count", "drop"]
IdZero: TypeAlias = Literal["matched", "unmatched"]
ApDepth: TypeAlias = Literal["any", "100"]
Precision: TypeAlias = Literal["double", "xywh", "xyxy", "single"]
Thresholds: TypeAlias = Literal["double", "single"]

COCO_AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 1024.0),
    "medium": (1024.0, 9216.0),
    "large": (9216.0, 1e10),
}
OKS_AREAS = {name: COCO_AREAS[name] for name in ("all", "medium", "large")}


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """The conventions of matching and averaging. The defaults are those of COCO."""

    overlap: Overlap = "iou"
    """The shared area of boxes divided by the area covered together; iou+1 counts the last pixel of
    each side; mask takes the pixels of masks; oks is the similarity of keypoints."""

    candidate: Candidate = "fallback"
    """A detection whose best truth is taken falls back to the next best that is free, or it is
    tried with its best truth alone, so that a second detection of one truth is a false positive."""

    reach: Reach = "at_least"
    """An overlap must be at least the threshold, or above it."""

    equal_overlaps: EqualOverlaps = "last"
    """Of truths that a detection overlaps equally, the last or the first is the best."""

    crowds: Crowds = "ignore"
    """Detections on a crowd, any number, are neither true nor false, and overlap it by the share of
    their own area; or crowds are difficult truths; or they are dropped; or they are ordinary
    truths."""

    difficult: Difficult = "ignore"
    """Detections of a difficult truth are neither true nor false, or it is an ordinary truth."""

    depth: int | None = 100
    """Only the detections with the highest scores count: so many of each class in an image. The
    default is 20 of overlap=oks."""

    depth_of: DepthOf = "class"
    """The depth is that of each class in an image, or of all classes of an image together."""

    areas: Mapping[str, tuple[float, float]] = field(default_factory=lambda: COCO_AREAS, hash=False)
    """Ranges of areas in square pixels, by name. Truths outside are neither found nor missed, and
    neither are detections outside that match nothing. overlap=oks has no small ones."""

    area_of: AreaOf = "annotation"
    """The area of a truth is the one given with it (of its mask, as a rule), or that of its box."""

    found_area: FoundArea = "own"
    """The area of a detected mask is that of its pixels, or of its box where results have one."""

    sigmas: tuple[float, ...] | None = None
    """The half width of each keypoint, relative to the object's size; none: COCO's of a person."""

    confidence: float | None = None
    """Detections with a lower score are dropped."""

    ties: BoxTies = "image"
    """Equal scores stand in the order of their images and then as given, or as given alone."""

    iou: tuple[float, ...] = COCO_THRESHOLDS
    """The thresholds of overlap over which a measure is averaged if it names none."""

    classes: ClassesOf = "each"
    """Detections match truths of their own class; or all classes are merged into one, with those
    that the truths do not list."""

    no_truth: NoTruth = "skip"
    """A class without truths is left out of means, or counts as 0."""

    unknown: Unknown = "error"
    """A detection of a class that the truths do not list is an error, or is left out."""

    precision: Precision = "double"
    """Numbers are taken in double precision; or scores and left, top, width and height (xywh), or
    scores and both corners (xyxy), are rounded to single precision before; or corners are, and
    overlaps are measured in single precision, too."""

    thresholds: Thresholds = "double"
    """Thresholds of overlap are numbers in double precision, or rounded to single."""

    unverified: Unverified = "count"
    """Detections of a class that nobody looked for in an image count like any others, and so do
    false ones of a class of which the image has more objects than truths; or they are ignored, as
    in LVIS, whose images list these classes (neg_category_ids, not_exhaustive_category_ids)."""

    flagged: Flagged = "count"
    """A truth with the key ignore is an ordinary one, or is neither found nor missed."""

    empty: Empty = "count"
    """Truths and detections without an area count like any others, or are dropped."""

    id_zero: IdZero = "matched"
    """A truth with the id 0 is like any other; or its detection counts as unmatched, which is a
    known mistake of pycocotools."""

    ap_depth: ApDepth = "any"
    """AP over all thresholds and areas has a value at any depth; or at depth 100 alone, which is a
    known mistake of pycocotools and torchmetrics."""

    def __post_init__(self) -> None:
        if self.thresholds not in WORDS["thresholds"]:
            raise PolicyError(
                "thresholds takes double or single, the precision of the thresholds that"
                f" {write_option('iou')} takes; got {clip(self.thresholds)}"
            )
        for name, words in WORDS.items():
            check_choice(name, getattr(self, name), words)
        object.__setattr__(self, "iou", read_thresholds(self.iou))
        object.__setattr__(self, "areas", _read_areas(self.areas))
        if self.depth is not None:
            depth = parse_whole(self.depth)
            if depth is None or depth < 1:
                raise PolicyError(f"depth takes a positive integer or none; got {clip(self.depth)}")
            object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "sigmas", _read_sigmas(self.sigmas))
        confidence = self.confidence
        if confidence is not None and not (is_number(confidence) and confidence == confidence):
            raise PolicyError(f"confidence takes a number; got {clip(confidence)}")

    def __str__(self) -> str:
        """Write the conventions as results print them: words, and numbers unlike the default."""
        return ", ".join(self.write_words(self.to_dict()))

    def write_words(self, names: Iterable[str]) -> list[str]:
        """Write conventions of these names with their words."""
        return [f"{name}={_write(getattr(self, name), name)}" for name in names]

    def to_dict(self) -> dict[str, Any]:
        """Return the main conventions by name, and rare ones where they differ from the default."""
        stated = {name: getattr(self, name) for name in _STATED}
        return stated | {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name not in stated and getattr(self, field.name) != self._get_usual(field.name)
        }

    def _get_usual(self, name: str) -> Any:
        """Return the value of a convention that nobody has to be told."""
        return OKS_AREAS if name == "areas" and self.overlap == "oks" else DEFAULTS[name]


WORDS: dict[str, tuple[str, ...]] = {
    field.name: get_args(field.type)
    for field in fields(Conventions)
    if get_origin(field.type) is Literal
}
"""The conventions that take a word, and their words."""


def make_conventions(raw: Mapping[str, Any]) -> Conventions:
    """Make conventions of keyword arguments. Raises PolicyError with the nearest name."""
    for name in raw:
        if name not in DEFAULTS:
            options = (*DEFAULTS, "box_format", "dialect")
            text = translate_option(name, options)
            advice = f" {text}" if text else offer(name, DEFAULTS)
            raise PolicyError(f"boxes have no convention {clip(name)}.{advice}")
    usual = _OF_OKS if raw.get("overlap") == "oks" else {}
    return Conventions(**{**usual, **raw})


_OF_OKS: dict[str, Any] = {"depth": 20, "areas": OKS_AREAS}


def _read_sigmas(raw: Any) -> tuple[float, ...] | None:
    """Read half widths of keypoints: numbers, or text such as ``.026,.025``."""
    if raw is None:
        return None
    listed = list_values(raw)
    try:
        sigmas = read_numbers(listed.split(",") if isinstance(listed, str) else listed)
    except (TypeError, ValueError):
        sigmas = ()
    if not sigmas or not all(0 < sigma < math.inf for sigma in sigmas):
        raise PolicyError(
            "sigmas takes a positive number for each keypoint, such as .026,.025,.025; got"
            f" {clip(raw)}"
        )
    return sigmas


def _read_areas(raw: Any) -> dict[str, tuple[float, float]]:
    """Read ranges of areas; the first is that of measures that name none."""
    areas = {}
    if isinstance(raw, Mapping) and raw:
        for name, ends in raw.items():
            pair = list_values(ends)
            if not (
                isinstance(pair, (list, tuple))
                and len(pair) == 2
                and all(is_number(end) and end == end for end in pair)
            ):
                break
            if pair[0] > pair[1]:
                raise PolicyError(f"areas: {clip(name)} ends below its beginning: {clip(ends)}")
            areas[str(name)] = (float(pair[0]), float(pair[1]))
    if not areas or len(areas) != len(raw):
        raise PolicyError(
            f"areas take ranges by name, such as {{'all': (0, 1e10)}}; got {clip(raw)}. A measure"
            " names one of them, as AP(area=small) does."
        )
    return areas


def _write(value: Any, name: str = "") -> str:
    if name == "sigmas" and value:
        return "+".join(f"{sigma:.6g}".removeprefix("0") for sigma in value)
    if isinstance(value, tuple):
        return write_thresholds(value)
    if isinstance(value, Mapping):
        return "+".join(f"{name}:{low:g}-{high:g}" for name, (low, high) in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


DEFAULTS = vars(Conventions())
_STATED = ("overlap", "candidate", "crowds", "depth")
