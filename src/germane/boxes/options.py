"""Types of the arguments of all verbs for boxes: data, how they are read, and conventions."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeAlias, TypedDict, get_args

from germane.boxes import conventions
from germane.boxes.detections import Detections, Truths
from germane.boxes.geometry import BoxFormat, Overlap
from germane.boxes.reading_options import Coordinates, Kind, Side
from germane.evaluation.accepted import ArrowFrame, Given, Path


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
