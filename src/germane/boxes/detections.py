"""Truths and detections: what every source is read into; boxes, and keypoints with their OKS."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from germane.boxes.image_ids import has_booleans
from germane.boxes.masks import Masks
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, check_choice, clip
from germane.readers.objects.numbers import read_doubles

BoxFormat: TypeAlias = Literal["xywh", "xyxy", "cxcywh"]
Overlap: TypeAlias = Literal["iou", "iou+1", "mask", "oks", "oriented", "rectangle", "probiou"]
Angles: TypeAlias = Literal["degrees", "radians", "counterclockwise"]
Rounding: TypeAlias = Literal["xywh", "xyxy", "single"]

LEVELS = ("easy", "moderate", "hard")
"""KITTI's levels of objects, which are ranges of heights and limits of occlusion and truncation."""

BOX_FORMATS: tuple[BoxFormat, ...] = get_args(BoxFormat)


@dataclass(frozen=True, eq=False, repr=False)
class Boxes:
    """Boxes, a column for each side (N): a format gives some exactly, and others follow."""

    left: Floats
    top: Floats
    right: Floats
    bottom: Floats
    width: Floats
    height: Floats

    def __len__(self) -> int:
        return len(self.left)

    def take(self, rows: Ints | Bools) -> "Boxes":
        """Select boxes by position or by flags."""
        return Boxes(*(getattr(self, column.name)[rows] for column in fields(self)))

    def get(self, row: int) -> tuple[float, ...]:
        """Return one box: x, y, width, height."""
        sides = (self.left, self.top, self.width, self.height)
        return tuple(float(side[row]) for side in sides)

    @np.errstate(over="ignore")
    def measure_areas(self) -> Floats:
        """Measure the area of each box (N)."""
        return self.width * self.height

    @np.errstate(invalid="ignore", over="ignore")
    def as_array(self, box_format: BoxFormat = "xywh") -> Floats:
        """Return the boxes as an array of shape (N, 4)."""
        if box_format == "xyxy":
            return np.column_stack((self.left, self.top, self.right, self.bottom))
        if box_format == "xywh":
            return np.column_stack((self.left, self.top, self.width, self.height))
        x, y = self.left + self.width / 2, self.top + self.height / 2
        return np.column_stack((x, y, self.width, self.height))


@np.errstate(invalid="ignore", over="ignore")  # which find_broken finds
def make_boxes(raw: object, box_format: BoxFormat = "xywh") -> Boxes:
    """Make boxes of an array of shape (N, 4), in pixels.

    ``xywh`` has the left and upper side, width and height; ``xyxy`` has two corners; ``cxcywh`` has
    the center, width and height. Raises InputError for another shape or format.
    """
    check_choice("box_format", box_format, BOX_FORMATS)
    array = np.asarray(raw, float)
    array = array.reshape(-1, 4) if array.size == 0 else array
    if array.ndim != 2 or array.shape[1] != 4:
        raise InputError(f"boxes have 4 numbers each; got an array of shape {array.shape}.")
    first, second, third, fourth = np.ascontiguousarray(array.T)
    if box_format == "xyxy":
        return Boxes(first, second, third, fourth, third - first, fourth - second)
    if box_format == "cxcywh":
        first, second = first - third / 2, second - fourth / 2
    return Boxes(first, second, first + third, second + fourth, third, fourth)


@np.errstate(over="ignore", invalid="ignore")  # of sides that no image has
def round_boxes(boxes: Boxes, rounding: Rounding) -> Boxes:
    """Round sides to single precision: left, top, width and height, or both corners.

    Of ``single``, the arrays are in single precision, and so is what is computed of them.
    """
    left, top, right, bottom, width, height = (
        getattr(boxes, column.name).astype(np.float32) for column in fields(boxes)
    )
    if rounding != "xywh":
        width, height = right - left, bottom - top
    if rounding == "single":
        return Boxes(left, top, right, bottom, width, height)
    return make_boxes(np.column_stack((left, top, width, height)))


def find_broken(boxes: Boxes) -> Ints:
    """Find the boxes that have a negative size, or a number that is not finite."""
    sound = (boxes.width >= 0) & (boxes.height >= 0)
    for side in (boxes.left, boxes.top, boxes.right, boxes.bottom):
        sound &= np.isfinite(side)
    return np.flatnonzero(~sound)


def describe_box(boxes: Boxes, row: int) -> str:
    """Describe one box as messages do: x y width height."""
    return clip([float(f"{side:.6g}") for side in boxes.get(row)])


@np.errstate(invalid="ignore", divide="ignore", over="ignore")  # of sides that no image has
def measure_overlaps(
    boxes: Boxes, truth: Boxes, pairs: tuple[Ints, Ints], crowd: Bools, overlap: Overlap
) -> tuple[Ints, Floats]:
    """Measure the overlap of pairs of boxes; list those that share an area (S), with overlaps (S).

    ``pairs`` are positions in ``boxes`` and ``truth``. ``iou`` is the area that both share, divided
    by the area that they cover together; ``iou+1`` counts the last pixel of each side as part of
    the box, as PASCAL VOC does. For a truth in ``crowd``, the shared area is divided by the area of
    the box alone.
    """
    pixel = 1.0 if overlap == "iou+1" else 0.0
    rows, truth_rows = pairs
    wide = np.minimum(boxes.right[rows], truth.right[truth_rows])
    wide -= np.maximum(boxes.left[rows], truth.left[truth_rows])
    beside = np.flatnonzero(wide > -pixel)
    rows, truth_rows, wide = rows[beside], truth_rows[beside], wide[beside]
    high = np.minimum(boxes.bottom[rows], truth.bottom[truth_rows])
    high -= np.maximum(boxes.top[rows], truth.top[truth_rows])
    near = np.flatnonzero(high > -pixel)
    rows, truth_rows = rows[near], truth_rows[near]
    shared = (wide[near] + pixel) * (high[near] + pixel)
    covered = (boxes.width[rows] + pixel) * (boxes.height[rows] + pixel)
    truth_area = (truth.width[truth_rows] + pixel) * (truth.height[truth_rows] + pixel)
    covered = np.where(crowd[truth_rows], covered, covered + truth_area - shared)
    return beside[near], shared / covered


# --- Keypoints of objects, and COCO's object keypoint similarity (OKS) of two sets of them --------

COCO_SIGMAS = tuple(
    tenths / 10.0
    for tenths in (
        0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87,
        0.89, 0.89,
    )
)  # fmt: skip
"""Half the widths of COCO's 17 keypoints of a person: nose, eyes, ears, shoulders, …, ankles."""


def read_points(raw: Any) -> Floats:
    """Read the keypoints of one object: x, y and visibility of each. Raises ValueError."""
    sound = isinstance(raw, (list, tuple)) and len(raw) and len(raw) % 3 == 0
    numbers = read_doubles(raw) if sound else None
    if numbers is None or has_booleans(raw):
        raise ValueError(f"keypoints are x, y and visibility of each; got {clip(raw)}")
    return numbers


def measure_extents(points: Floats) -> Floats:
    """Measure the box around all keypoints, visible or not (N, 4): left, top, width and height."""
    x, y = points[..., 0], points[..., 1]
    left, top = x.min(axis=1), y.min(axis=1)
    return np.column_stack((left, top, x.max(axis=1) - left, y.max(axis=1) - top))


@np.errstate(over="ignore", invalid="ignore", under="ignore")  # of points that no image has
def measure_similarities(
    detected: Floats,
    truth: Floats,
    pairs: tuple[Ints, Ints],
    boxes: Boxes,
    area: Floats,
    sigmas: tuple[float, ...] | None,
) -> Floats:
    """Measure the OKS of pairs: the mean of exp(−d² ÷ 2·area·(2σ)²) over visible keypoints.

    ``detected`` and ``truth`` have shape (N, K, 3), ``boxes`` and ``area`` are those of the truths.
    Where no keypoint of a truth is visible, d is the distance to its box, doubled in size.
    """
    widths = (np.array(COCO_SIGMAS if sigmas is None else sigmas) * 2) ** 2
    seen = truth[..., 2] > 0  # G × K
    count = seen.sum(axis=1)
    order = np.argsort(~seen, axis=1, kind="stable")  # visible keypoints first
    detection_at, truth_at = pairs
    overlap = np.zeros(len(detection_at))
    space = area + np.spacing(1)
    for visible in np.unique(count[truth_at]).tolist():
        rows = np.flatnonzero(count[truth_at] == visible)
        a, b = detection_at[rows], truth_at[rows]
        if visible:
            points = order[b, :visible]
            dx = detected[a[:, None], points, 0] - truth[b[:, None], points, 0]
            dy = detected[a[:, None], points, 1] - truth[b[:, None], points, 1]
            wide = widths[points]
        else:
            dx = _leave(detected[a, :, 0], boxes.left[b], boxes.width[b])
            dy = _leave(detected[a, :, 1], boxes.top[b], boxes.height[b])
            wide = widths
        exponent = (dx**2 + dy**2) / wide / space[b, None] / 2
        overlap[rows] = np.exp(-exponent).sum(axis=1) / exponent.shape[1]
    return overlap


def _leave(points: Floats, first: Floats, size: Floats) -> Floats:
    """Measure how far points (P, K) lie beyond a side that is extended by its size both ways."""
    low, high = (first - size)[:, None], (first + size * 2)[:, None]
    beyond: Floats = np.maximum(0.0, low - points) + np.maximum(0.0, points - high)
    return beyond


# --- Truths and detections: what every source of boxes, masks and keypoints is read into ----------


@dataclass(frozen=True, eq=False, repr=False)
class Verified:
    """The classes that were looked for in images, where these are not all classes, as in LVIS.

    A class in an image is a group, as ``matching.number_group`` numbers it.
    """

    absent: Ints  # groups of which an image has no object
    partial: Ints  # groups of which an image has more objects than are annotated
    lacking: str = ""  # an image that does not say it, as messages name it


@dataclass(frozen=True, eq=False, repr=False)
class Truths:
    """The annotated boxes of some images, and the images and classes that there are.

    ``images`` and ``classes`` are ids in their order, in which equal scores stand and classes are
    printed; ``image`` and ``label`` are positions in them.
    """

    images: Sequence[Hashable]  # I
    classes: Sequence[Hashable]  # K
    boxes: Boxes  # G
    image: Ints  # G
    label: Ints  # G
    crowd: Bools  # G, is the box one around many objects?
    difficult: Bools  # G
    area: Floats  # G, the area given with the box, or that of the box
    ids: Sequence[Hashable]  # G, as the source names its annotations
    names: Sequence[str] = ()  # K, as tables show classes
    sizes: Floats | None = None  # (I, 2): width and height of images, NaN where unknown
    where: str = "the truth"
    files: Sequence[str] = ()  # I, where the source names the files of images beside their ids
    typed: bool = True  # do ids have types, or are all of them text, as in a file of text?
    masks: Masks | None = None  # G
    keypoints: Floats | None = None  # (G, P, 3): x, y and visibility
    unseen: Bools | None = None  # G, has the object no visible keypoint?
    flagged: Bools | None = None  # G, has the annotation the key ignore?
    verified: Verified | None = None
    corners: Floats | None = None  # (G, 4, 2): of oriented boxes
    levels: Ints | None = None  # G, the first of the levels easy, moderate, hard that has it, or 3
    frequencies: Sequence[str] = ()  # K, rare, common, frequent or "", where the source has them

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def class_names(self) -> list[str]:
        """The classes' names, or their ids where they have no names."""
        return list(self.names) or [str(label) for label in self.classes]

    def take(self, rows: Ints | Bools) -> "Truths":
        """Select boxes by position or by flags; images and classes stay."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(self, **take_rows(self, _OF_TRUTHS, rows))


@dataclass(frozen=True, eq=False, repr=False)
class Detections:
    """Boxes that a detector found; ``image`` and ``label`` are positions in those of the truths."""

    boxes: Boxes  # D
    image: Ints  # D
    label: Ints  # D; -1: a class that the truths do not list
    score: Floats  # D
    place: Ints  # D, where the source gives the box, from 0
    name: str = "detections"
    unknown: Sequence[Hashable] = ()  # the classes that the truths do not list
    masks: Masks | None = None  # D
    keypoints: Floats | None = None  # (D, P, 3)
    boxed: bool = True  # does the source give boxes, or do they follow from masks or keypoints?
    corners: Floats | None = None  # (D, 4, 2)

    def __len__(self) -> int:
        return len(self.boxes)

    def take(self, rows: Ints | Bools) -> "Detections":
        """Select detections by position or by flags."""
        return replace(self, **take_rows(self, _OF_DETECTIONS, rows))


_OF_TRUTHS = (
    "boxes", "image", "label", "crowd", "difficult", "area", "ids", "masks", "keypoints", "unseen",
    "flagged", "corners", "levels",
)  # fmt: skip
_OF_DETECTIONS = ("boxes", "image", "label", "score", "place", "masks", "keypoints", "corners")


def take_rows(raw: object, names: Sequence[str], rows: Ints | Bools) -> dict[str, Any]:
    """Select rows of columns: of boxes, masks and arrays, and by position of lists."""
    chosen: dict[str, Any] = {}
    for name in names:
        column = getattr(raw, name)
        if isinstance(column, (Boxes, Masks)):
            chosen[name] = column.take(rows)
        elif isinstance(column, np.ndarray):
            chosen[name] = column[rows]
        elif column is not None:
            chosen[name] = [column[i] for i in rows.tolist()]
    return chosen
