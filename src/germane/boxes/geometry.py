"""Boxes in an image: their corners and sizes, and how much two of them overlap."""

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

import numpy as np

from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, check_choice, clip

BoxFormat: TypeAlias = Literal["xywh", "xyxy", "cxcywh"]
Overlap: TypeAlias = Literal["iou", "iou+1", "mask", "oks"]
Rounding: TypeAlias = Literal["xywh", "xyxy", "single"]

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
) -> tuple[Ints, Ints, Floats]:
    """Measure the overlap of pairs of boxes; return those that share an area, with overlaps.

    ``pairs`` are positions in ``boxes`` and ``truth``. ``iou`` is the area that both share, divided
    by the area that they cover together; ``iou+1`` counts the last pixel of each side as part of
    the box, as PASCAL VOC does. For a truth in ``crowd``, the shared area is divided by the area of
    the box alone.
    """
    pixel = 1.0 if overlap == "iou+1" else 0.0
    rows, truth_rows = pairs
    wide = np.minimum(boxes.right[rows], truth.right[truth_rows])
    wide -= np.maximum(boxes.left[rows], truth.left[truth_rows])
    near = np.flatnonzero(wide > -pixel)
    rows, truth_rows, wide = rows[near], truth_rows[near], wide[near]
    high = np.minimum(boxes.bottom[rows], truth.bottom[truth_rows])
    high -= np.maximum(boxes.top[rows], truth.top[truth_rows])
    near = np.flatnonzero(high > -pixel)
    rows, truth_rows = rows[near], truth_rows[near]
    shared = (wide[near] + pixel) * (high[near] + pixel)
    covered = (boxes.width[rows] + pixel) * (boxes.height[rows] + pixel)
    truth_area = (truth.width[truth_rows] + pixel) * (truth.height[truth_rows] + pixel)
    covered = np.where(crowd[truth_rows], covered, covered + truth_area - shared)
    return rows, truth_rows, shared / covered
