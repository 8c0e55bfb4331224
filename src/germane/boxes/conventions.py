"""The arguments of all verbs for boxes: data, how they are read, and conventions of matching."""

import inspect
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
)

from germane.boxes.detections import Angles, BoxFormat, Detections, Overlap, Truths
from germane.core.calls import is_number, list_values, parse_whole, read_numbers
from germane.errors import InputError, PolicyError, check_choice, clip, offer, write_option
from germane.evaluation.choices import ArrowFrame, Given, Path
from germane.measures.box_names import Levels

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect


Candidate: TypeAlias = Literal["fallback", "best"]
Reach: TypeAlias = Literal["at_least", "above"]
EqualOverlaps: TypeAlias = Literal["last", "first"]
Crowds: TypeAlias = Literal["ignore", "difficult", "drop", "count"]
Difficult: TypeAlias = Literal["ignore", "count"]
DepthOf: TypeAlias = Literal["class", "image"]
AreaOf: TypeAlias = Literal["annotation", "box", "body", "height"]
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
    each side; mask takes the pixels of masks; oks is the similarity of keypoints; oriented is the
    same as iou of boxes with an angle or four corners, rectangle that of the smallest rectangles
    around the corners, and probiou Ultralytics' similarity of these."""

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
    """The area of a truth is the one given with it (of its mask, as a rule), or that of its box; or
    that of a body: .53 of its box, which CrowdPose and Ultralytics take in overlap=oks. Or ranges
    are of the heights of truths and detections, as KITTI's are."""

    found_area: FoundArea = "own"
    """The area of a detected mask is that of its pixels, or of its box where results have one."""

    sigmas: tuple[float, ...] | None = None
    """The half width of each keypoint, relative to the object's size; none: COCO's of a person."""

    confidence: float | None = None
    """Detections with a lower score are dropped."""

    ties: BoxTies = "image"
    """Equal scores stand in the order of their images and then as given, or as given alone."""

    iou: Levels = Levels.COCO
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
        object.__setattr__(self, "iou", Levels.read(self.iou))
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
            options = (*DEFAULTS, "box_format", "dialect", *SELECTING)
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
    if isinstance(value, Mapping):
        return "+".join(f"{name}:{low:g}-{high:g}" for name, (low, high) in value.items())
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)


DEFAULTS = vars(Conventions())
_STATED = ("overlap", "candidate", "crowds", "depth")


# --- Options of other tools, and how germane's verbs for boxes take them --------------------------

TABLE = {
    "iou_thresholds iou_thrs iou_thr iou_threshold iou_thres iou_levels match_threshold"
    " overlap_threshold min_overlap ovthresh": (
        "Thresholds of overlap are {iou=.5} or {iou=.5:.95:.05}; a measure names its own, as AP50"
        " does."
    ),
    "threshold": (
        "Thresholds of overlap are {iou=.5}; {confidence=.25} drops detections with lower scores."
    ),
    "max_dets max_det max_detections max_detection_thresholds top_k max_boxes": (
        "{depth=100} keeps that many of the highest scores; a measure names its own depth, as AR@10"
        " does."
    ),
    "iou_type iou_types ann_type annotation_type eval_type": (
        "{overlap=iou} compares boxes, {overlap=mask} masks, and {overlap=oks} keypoints."
    ),
    "area area_rng area_range area_ranges area_rng_lbl": (
        "A measure names its range of areas, as AP(area=small) does."
    ),
    "conf conf_thres conf_thresh conf_threshold score_thr score_thres score_thresh score_threshold"
    " min_score min_conf min_confidence confidence_threshold": (
        "evaluate takes {confidence=.25}, which drops detections with lower scores; a measure names"
        " its own, as P(confidence=.25) does."
    ),
    "use_cats class_agnostic agnostic average single_cls": (
        "{classes=merged} makes one class of all."
    ),
    "class_metrics per_class class_wise classwise by_class": (
        "Results list each class: result.by('class'), or --by class."
    ),
    "rec_thrs rec_thresholds use_07_metric eval_mode interpolation": (
        "A measure names the points of its curve, as AP(points=11) does; {dialect=voc2007} is"
        " PASCAL VOC's AP."
    ),
    "format bbox_format box_type bbox_type": (
        "{box_format=xywh}, {box_format=xyxy} or {box_format=cxcywh} says how boxes are read."
    ),
    "ignore_difficult use_difficult": "{difficult=ignore} and {difficult=count} are the two ways.",
    "cat_ids category_ids class_ids": "{only_classes=person} evaluates only some classes.",
    "img_ids image_ids": "{only_images=17} evaluates only some images.",
}
"""Names in other tools, and the answer, in which braces hold germane's options."""

_BY_NAME = {name.replace("_", ""): text for names, text in TABLE.items() for name in names.split()}
_OPTION = re.compile(r"\{(\w+)=([^}]*)\}")


def translate_option(
    name: str, options: Collection[str], write: Callable[[str], str] = "{}=".format
) -> str:
    """Say how an option of another tool is given here; "" where nothing known does it.

    >>> from germane.boxes.conventions import translate_option
    >>> translate_option("maxDets", ["depth"])
    'depth=100 keeps that many of the highest scores; a measure names its own depth, as AR@10 does.'
    """
    text = _BY_NAME.get(re.sub("[^a-z0-9]", "", name.casefold()), "")
    if not all(option in options or option == "confidence" for option, _ in _OPTION.findall(text)):
        return ""
    return _OPTION.sub(lambda match: write(match[1]) + match[2], text)


# --- What verbs accept as data and options --------------------------------------------------------

Coordinates: TypeAlias = Literal["pixels", "relative"]
Side: TypeAlias = Literal["truth", "detections"]
Kind: TypeAlias = Literal["coco", "dota", "kitti", "voc", "yolo", "padilla", "images", "table"]
Shape: TypeAlias = Literal["box", "mask", "oks", "oriented", "any"]
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """The choices of a caller; None leaves one to the source.

    The first four may be chosen for one side alone: ``{"truth": "xywh"}``.
    """

    box_format: Any = None
    """``xywh``: left, top, width, height; ``xyxy``: two corners; ``cxcywh``: center, sizes."""

    coordinates: Any = None
    """``pixels``, or ``relative`` to the width and height of the image."""

    input_format: Any = None
    """The name of a source, where it is not recognized."""

    angles: Any = None
    """The fifth number of an oriented box: ``degrees``, ``radians`` or ``counterclockwise``."""

    columns: Any = None
    """The columns of a frame: ``{"x": name, "class": name, …}``."""

    images: Any = None
    """All images, with their sizes where these are known."""

    class_names: Any = None
    """Names of classes that are given by numbers."""

    mask_threshold: Any = None
    """The number from which a pixel of a mask belongs to the object, for masks of probabilities."""

    only_classes: Any = None
    """The classes that are evaluated; the others are as if they were in no file."""

    only_images: Any = None
    """The images that are evaluated."""

    shape: Shape = "box"
    """The shapes that the overlap needs; ``any``: masks and keypoints, if both may have them."""

    area_of: AreaOf = "annotation"
    """The area that keypoints are compared by; one that is given with them is needed."""

    def choose(self, side: Side) -> "Reading":
        """Choose what holds for one side. Raises PolicyError or InputError for an unknown word."""
        kinds = {
            "box_format": BoxFormat,
            "coordinates": Coordinates,
            "input_format": Kind,
            "angles": Angles,
        }
        chosen = {name: _choose(getattr(self, name), side) for name in kinds}
        if self.mask_threshold is not None and not is_number(self.mask_threshold):
            raise InputError(f"mask_threshold takes a number; got {clip(self.mask_threshold)}")
        for name, word in chosen.items():
            if word is not None:
                check_choice(name, word, get_args(kinds[name]), InputError)
        return replace(self, **chosen)


READING = tuple(field.name for field in fields(Reading) if field.name not in ("shape", "area_of"))
SELECTING = ("only_classes", "only_images")


def take_reading(
    options: Mapping[str, Any], dialect: "Dialect | None" = None
) -> tuple[Reading, dict[str, Any]]:
    """Take the choices of reading from arguments of a verb; return the others, too.

    The overlap that they or the dialect choose says which shapes are read.
    """
    remaining = {name: choice for name, choice in options.items() if name not in READING}
    overlap = options.get("overlap", dialect.choices.get("overlap") if dialect else None)
    shapes: dict[Any, Shape] = {
        "mask": "mask", "oks": "oks", "oriented": "oriented", "rectangle": "oriented",
        "probiou": "oriented",
    }  # fmt: skip
    shape = shapes.get(overlap, "box") if isinstance(overlap, str) else "box"
    area_of: AreaOf = "body" if options.get("area_of") == "body" else "annotation"
    chosen = {name: options.get(name) for name in READING}
    return Reading(**chosen, shape=shape, area_of=area_of), remaining


def name_side(truths: Truths | None) -> Side:
    """Name the side that a source reads: detections belong to truths, which are read first."""
    return "truth" if truths is None else "detections"


def _choose(raw: Any, side: Side) -> Any:
    if isinstance(raw, Mapping):
        for key in raw:
            check_choice("a choice for one side", key, SIDES, InputError)
        return raw.get(side)
    return raw


# --- Types of data and options --------------------------------------------------------------------


class CocoObject(Protocol):
    """An object of pycocotools, with its annotations by id."""

    anns: Any


class DetectionDataset(Protocol):
    """A data set of supervision, with the annotations of each image."""

    annotations: Any
    classes: Any


Source: TypeAlias = (
    Path | Mapping[Any, Any] | Sequence[Any] | ArrowFrame | CocoObject | DetectionDataset
)
TruthSource: TypeAlias = Annotated[
    Source | Truths,
    Given(
        "TruthSource",
        "the path of a file or folder, COCO's JSON or its content, a frame, a list with the boxes"
        " of each image, or an object of pycocotools, torchvision or supervision (docs/sources.md)",
    ),
]
DetectionSource: TypeAlias = Annotated[
    Source | Detections, Given("DetectionSource", "the same as TruthSource, with scores")
]
Images: TypeAlias = Annotated[
    Path | Mapping[Any, Any] | Iterable[Any] | ArrowFrame,
    Given("Images", "a folder of images, a file of their sizes, {image: (width, height)}, or ids"),
]
ClassNames: TypeAlias = Annotated[
    Path | Mapping[Any, str] | Sequence[str],
    Given("ClassNames", "the path of a file, {number: name}, or names in the order of the numbers"),
]


class ReadOptions(TypedDict, total=False):
    """How truths and detections are read."""

    box_format: "BoxFormat | Mapping[Side, BoxFormat] | None"
    coordinates: "Coordinates | Mapping[Side, Coordinates] | None"
    input_format: "Kind | Mapping[Side, Kind] | None"
    angles: "Angles | Mapping[Side, Angles] | None"
    columns: Mapping[str, Any] | None
    images: "Images | None"
    class_names: "ClassNames | None"
    mask_threshold: float | None
    overlap: Overlap


class CheckOptions(ReadOptions, total=False):
    """Options of check: those of reading, and the lowest score that counts."""

    confidence: float | None


class MatchingOptions(ReadOptions, total=False):
    """Options of whatever compares detections with truths."""

    only_classes: "Iterable[Hashable] | Hashable | None"
    only_images: "Iterable[Hashable] | Hashable | None"
    reach: Reach
    equal_overlaps: EqualOverlaps
    crowds: Crowds
    difficult: Difficult
    depth: int | None
    depth_of: DepthOf
    sigmas: Iterable[float] | str | None
    unknown: Unknown
    precision: Precision
    thresholds: Thresholds
    unverified: Unverified
    flagged: Flagged
    empty: Empty


class SharedOptions(MatchingOptions, total=False):
    """Options of all verbs: ``Options`` without the confidence of detections."""

    candidate: Candidate
    areas: Mapping[str, tuple[float, float]]
    area_of: AreaOf
    found_area: FoundArea
    ties: BoxTies
    iou: float | str | Iterable[float]
    classes: ClassesOf
    no_truth: NoTruth
    id_zero: IdZero
    ap_depth: ApDepth


class Options(SharedOptions, total=False):
    """How data are read, and the conventions of matching and averaging, as keyword arguments."""

    confidence: float | None


def list_options(verb: Any) -> dict[str, tuple[Any, Any]]:
    """List the type and default of each keyword argument behind ``**options`` of a verb."""
    unpacked = inspect.signature(verb).parameters.get("options")
    typed_dicts = get_args(unpacked.annotation) if unpacked else ()
    names = {
        name: kind
        for typed_dict in typed_dicts
        for name, kind in _OPTIONS[typed_dict.__forward_arg__].items()
    }
    return {name: (kind, DEFAULTS.get(name)) for name, kind in names.items()}


_KINDS = (ReadOptions, CheckOptions, MatchingOptions, SharedOptions, Options)
_OPTIONS = {kind.__name__: kind.__annotations__ for kind in _KINDS}
