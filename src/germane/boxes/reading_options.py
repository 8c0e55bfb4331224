"""How boxes are read: their format, the sizes of images, names of classes and columns."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from germane.boxes.detections import Truths
from germane.boxes.geometry import BoxFormat
from germane.core.arguments import is_number
from germane.errors import InputError, check_choice, clip

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
