"""Truths and detections: what every source of boxes, masks and keypoints is read into."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.boxes.geometry import Boxes
from germane.boxes.masks import Masks
from germane.core.ragged import Bools, Floats, Ints


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

    def __len__(self) -> int:
        return len(self.boxes)

    def take(self, rows: Ints | Bools) -> "Detections":
        """Select detections by position or by flags."""
        return replace(self, **take_rows(self, _OF_DETECTIONS, rows))


_OF_TRUTHS = (
    "boxes", "image", "label", "crowd", "difficult", "area", "ids", "masks", "keypoints", "unseen",
    "flagged",
)  # fmt: skip
_OF_DETECTIONS = ("boxes", "image", "label", "score", "place", "masks", "keypoints")


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
