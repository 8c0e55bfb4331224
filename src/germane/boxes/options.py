"""The arguments of all verbs for boxes: data, how they are read, and conventions."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypedDict, get_args

from germane.boxes import conventions
from germane.boxes.detections import BoxFormat, Detections, Overlap, Truths
from germane.core.arguments import is_number
from germane.errors import InputError, check_choice, clip
from germane.evaluation.accepted import ArrowFrame, Given, Path

if TYPE_CHECKING:
    from germane.dialects.dialect import Dialect


Coordinates: TypeAlias = Literal["pixels", "relative"]
Side: TypeAlias = Literal["truth", "detections"]
Kind: TypeAlias = Literal["coco", "voc", "yolo", "padilla", "images", "table"]
Shape: TypeAlias = Literal["box", "mask", "oks", "any"]
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """The choices of a caller; None leaves one to the source.

    The first three may be chosen for one side alone: ``{"truth": "xywh"}``.
    """

    box_format: Any = None
    """``xywh``: left, top, width, height; ``xyxy``: two corners; ``cxcywh``: center, sizes."""

    coordinates: Any = None
    """``pixels``, or ``relative`` to the width and height of the image."""

    input_format: Any = None
    """The name of a source, where it is not recognized."""

    columns: Any = None
    """The columns of a frame: ``{"x": name, "class": name, …}``."""

    images: Any = None
    """All images, with their sizes where these are known."""

    class_names: Any = None
    """Names of classes that are given by numbers."""

    mask_threshold: Any = None
    """The number from which a pixel of a mask belongs to the object, for masks of probabilities."""

    shape: Shape = "box"
    """The shapes that the overlap needs; ``any``: masks and keypoints, if both may have them."""

    def choose(self, side: Side) -> "Reading":
        """Choose what holds for one side. Raises PolicyError or InputError for an unknown word."""
        kinds = {"box_format": BoxFormat, "coordinates": Coordinates, "input_format": Kind}
        chosen = {name: _choose(getattr(self, name), side) for name in kinds}
        if self.mask_threshold is not None and not is_number(self.mask_threshold):
            raise InputError(f"mask_threshold takes a number; got {clip(self.mask_threshold)}")
        for name, word in chosen.items():
            if word is not None:
                check_choice(name, word, get_args(kinds[name]), InputError)
        return replace(self, **chosen)


READING = tuple(field.name for field in fields(Reading) if field.name != "shape")


def take_reading(
    options: Mapping[str, Any], dialect: "Dialect | None" = None
) -> tuple[Reading, dict[str, Any]]:
    """Take the choices of reading from arguments of a verb; return the others, too.

    The overlap that they or the dialect choose says which shapes are read.
    """
    remaining = {name: choice for name, choice in options.items() if name not in READING}
    overlap = options.get("overlap", dialect.choices.get("overlap") if dialect else None)
    shapes: dict[Any, Shape] = {"mask": "mask", "oks": "oks"}
    shape = shapes.get(overlap, "box") if isinstance(overlap, str) else "box"
    return Reading(**{name: options.get(name) for name in READING}, shape=shape), remaining


def name_side(truths: Truths | None) -> Side:
    """Name the side that a source reads: detections belong to truths, which are read first."""
    return "truth" if truths is None else "detections"


def _choose(raw: Any, side: Side) -> Any:
    if isinstance(raw, Mapping):
        for key in raw:
            check_choice("a choice for one side", key, SIDES, InputError)
        return raw.get(side)
    return raw


# --- Types of the arguments of all verbs for boxes: data, how they are read, and conventions ------


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
    columns: Mapping[str, Any] | None
    images: "Images | None"
    class_names: "ClassNames | None"
    mask_threshold: float | None
    overlap: Overlap


class CheckOptions(ReadOptions, total=False):
    """Options of check: those of reading, and the lowest score that counts."""

    confidence: float | None


class SharedOptions(ReadOptions, total=False):
    """Options of all verbs: ``Options`` without the confidence of detections."""

    candidate: conventions.Candidate
    reach: conventions.Reach
    equal_overlaps: conventions.EqualOverlaps
    crowds: conventions.Crowds
    difficult: conventions.Difficult
    depth: int | None
    depth_of: conventions.DepthOf
    areas: Mapping[str, tuple[float, float]]
    area_of: conventions.AreaOf
    found_area: conventions.FoundArea
    sigmas: Iterable[float] | str | None
    ties: conventions.BoxTies
    iou: float | str | Iterable[float]
    classes: conventions.ClassesOf
    no_truth: conventions.NoTruth
    unknown: conventions.Unknown
    precision: conventions.Precision
    thresholds: conventions.Thresholds
    unverified: conventions.Unverified
    flagged: conventions.Flagged
    empty: conventions.Empty
    id_zero: conventions.IdZero
    ap_depth: conventions.ApDepth


class Options(SharedOptions, total=False):
    """How data are read, and the conventions of matching and averaging, as keyword arguments."""

    confidence: float | None


def list_options(verb: Any) -> dict[str, tuple[Any, Any]]:
    """List the type and default of each keyword argument behind ``**options`` of a verb."""
    unpacked = inspect.signature(verb).parameters.get("options")
    kinds = get_args(unpacked.annotation) if unpacked else ()
    names = {
        name: kind
        for typed_dict in kinds
        for name, kind in _OPTIONS[typed_dict.__forward_arg__].items()
    }
    return {name: (kind, conventions.DEFAULTS.get(name)) for name, kind in names.items()}


_KINDS = (ReadOptions, CheckOptions, SharedOptions, Options)
_OPTIONS = {kind.__name__: kind.__annotations__ for kind in _KINDS}
