"""The sources of boxes: recognizes what was given, once; and one side as it is, for the checks."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from germane.boxes.box_columns import Columns, list_sizes, match_classes, read_array
from germane.boxes.coco import is_coco, read_coco
from germane.boxes.conventions import Kind, Reading, Side
from germane.boxes.detections import Boxes, BoxFormat, Detections, Truths, make_boxes
from germane.boxes.dota import is_dota, read_dota
from germane.boxes.image_ids import find_ids, sort_ids
from germane.boxes.kitti import is_kitti, read_kitti
from germane.boxes.label_files import (
    is_padilla,
    is_voc,
    join_sizes,
    list_pictures,
    read_images,
    read_padilla,
    read_picture_size,
    read_voc,
)
from germane.boxes.masks import Masks
from germane.boxes.objects import is_per_image, is_table, read_per_image, read_table
from germane.boxes.other_tasks import refuse_tracks
from germane.boxes.shapes import read_shapes
from germane.boxes.yolo import is_yolo, read_class_names, read_yolo
from germane.checks.faulty_rows import Problem, Sees
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import EmptyError, InputError, clip, write_option
from germane.output.tables import write_count
from germane.readers.files.formats import is_path


@dataclass(eq=False, repr=False)
class Sheet:
    """One side as it is given; nothing is refused."""

    side: Side
    where: str
    locate: Callable[[int], str]
    boxes: Boxes  # N; NaN where there are no numbers
    image: Ints  # N; -1: an image that is not listed
    label: Ints  # N; -1: a class that is not listed
    sizes: Floats  # (N, 2): of the box's image; NaN where unknown
    box_format: BoxFormat
    crowd: Bools  # N
    relative: bool = False
    score: Floats | None = None
    area: Floats | None = None  # as it is given
    columns: Columns | None = None  # None: all boxes are sound
    masks: Masks | None = None  # N
    keypoints: Floats | None = None  # (N, P, 3)
    corners: Floats | None = None  # (N, 4, 2)
    degrees: Floats | None = None  # N, angles as they are given, where these are in degrees
    turned: Bools | None = None  # N, is the box one around a turned rectangle?

    @cached_property
    def finite(self) -> Bools:
        """Are these boxes numbers? (N)"""
        return np.asarray(np.isfinite(self.boxes.as_array()).all(axis=1))

    @cached_property
    def negative(self) -> Bools:
        """Have these boxes a negative size? (N)"""
        return (self.boxes.width < 0) | (self.boxes.height < 0)

    @cached_property
    def sound(self) -> Bools:
        """Does evaluate take these boxes? (N)"""
        usable = self.finite & ~self.negative & (self.image >= 0)
        return usable if self.score is None else usable & np.isfinite(self.score)

    @cached_property
    def repeated(self) -> Bools:
        """Repeat these boxes another one of the same image, class and score? (N)"""
        rows = np.flatnonzero(self.sound)
        parts = [*self.boxes.as_array()[rows].T, self.image[rows], self.label[rows]]
        parts += [] if self.score is None else [self.score[rows]]
        code = np.zeros(len(rows), np.uint64)
        for part in parts:  # equal rows have equal codes, and hardly any other two
            code = code * _ODD + (part.astype(float) + 0.0).view(np.uint64) * _ODD
            code ^= code >> np.uint64(29)
        out = np.zeros(len(self.sound), bool)
        ascending = np.sort(code)
        if (ascending[1:] == ascending[:-1]).any():
            columns = np.column_stack(parts)
            _, first = np.unique(columns, axis=0, return_index=True)
            out[np.delete(rows, first)] = True
        return out

    def show(self, rows: Ints) -> tuple[str, ...]:
        """Show the places of the first few boxes."""
        return tuple(map(self.locate, rows[:3].tolist()))

    def report(self, flags: Bools, text: str) -> Sees:
        """Report the boxes that are flagged; ``text`` begins with the verb of several."""
        rows = np.flatnonzero(flags)
        if len(rows):
            verb, _, rest = text.partition(" ")
            verb = _OF_ONE.get(verb, f"{verb}s") if len(rows) == 1 else verb
            text = f"{len(rows):,} of {write_count(len(flags), 'box')} {verb} {rest}"
            yield Problem(text, len(rows), self.show(rows))


_ODD = np.uint64(0x9E3779B97F4A7C15)

_OF_ONE = {"have": "has", "are": "is", "go": "goes"}


def make_sheet(columns: Columns, truths: Truths, side: Side) -> Sheet:
    """Make a sheet of columns, with NaN for what is no number."""
    image = find_ids(
        columns.image, truths.images, truths.files, files=True, typed=columns.typed and truths.typed
    )
    sizes = _list_sizes(truths, image)
    raw = _read_rows(columns.boxes, 4).reshape(-1, 4) * (
        np.tile(sizes, 2) if columns.relative else 1
    )
    score, area = (
        None if column is None else _read_rows(column, 1).ravel()
        for column in (columns.score, columns.area)
    )
    return Sheet(
        side,
        columns.where,
        columns.locate,
        make_boxes(raw, columns.box_format),
        image,
        match_classes(columns, truths)[0],
        sizes,
        columns.read_as or columns.box_format,
        np.zeros(len(columns), bool) if columns.crowd is None else np.asarray(columns.crowd, bool),
        columns.relative,
        score,
        area,
        columns,
        columns.masks,
        columns.keypoints,
        columns.corners,
        columns.degrees,
        columns.turned,
    )


def make_sound_sheet(
    raw: Truths | Detections,
    truths: Truths,
    columns: Columns | None = None,
    rows: Ints | None = None,
) -> Sheet:
    """Make a sheet of boxes that have been read without an error, of all rows or of some."""
    is_truth = isinstance(raw, Truths)
    locate = columns.locate if columns else lambda row: f"box {row + 1}"
    degrees, turned = (columns.degrees, columns.turned) if columns else (None, None)
    return Sheet(
        "truth" if is_truth else "detections",
        raw.where if isinstance(raw, Truths) else raw.name,
        locate if rows is None else lambda row: locate(int(rows[row])),
        raw.boxes,
        raw.image,
        raw.label,
        _list_sizes(truths, raw.image),
        (columns.read_as or columns.box_format) if columns else "xywh",
        raw.crowd if isinstance(raw, Truths) else np.zeros(len(raw), bool),
        columns.relative if columns else False,
        raw.score if isinstance(raw, Detections) else None,
        raw.area if isinstance(raw, Truths) else None,
        masks=raw.masks,
        keypoints=raw.keypoints,
        corners=raw.corners,
        degrees=degrees if degrees is None or rows is None else degrees[rows],
        turned=turned if turned is None or rows is None else turned[rows],
    )


def _list_sizes(truths: Truths, image: Ints) -> Floats:
    if truths.sizes is None or not len(truths.sizes):
        return np.full((len(image), 2), np.nan)
    sizes = np.full((len(truths.sizes) + 1, 2), np.nan)  # the last one is that of other images
    has_size = (truths.sizes > 0).all(axis=1)  # some tools write 0 for a size they do not know
    sizes[:-1][has_size] = truths.sizes[has_size]
    return sizes[image]


def _read_rows(raw: object, count: int) -> Floats:
    """Read rows of so many numbers; NaN in a row that has others."""
    try:
        array = read_array(raw)
        if array.size == count * len(array):
            return array
    except (TypeError, ValueError):
        pass
    out = np.full((len(raw), count), np.nan)  # type: ignore[arg-type]
    for place, row in enumerate(raw):  # type: ignore[arg-type, var-annotated]
        try:
            out[place] = read_array(row if count > 1 else [row])
        except (TypeError, ValueError):
            continue
    return out


# --- The sources of boxes: recognizes what was given, once ----------------------------------------


class Source(NamedTuple):
    """A kind of input."""

    name: Kind
    recognize: Callable[[Any], bool]
    read: Callable[[Any, Reading, Truths | None], Columns]
    """Reads detections of the images of these truths, or truths if there are none yet."""


SOURCES = (
    Source("coco", is_coco, read_coco),
    Source("dota", is_dota, read_dota),
    Source("kitti", is_kitti, read_kitti),
    Source("voc", is_voc, read_voc),
    Source("yolo", is_yolo, read_yolo),
    Source("padilla", is_padilla, read_padilla),
    Source("images", is_per_image, read_per_image),
    Source("table", is_table, read_table),
)
"""Every kind of input; the first that recognizes what was given reads it."""

_ON_DISK = ("dota", "kitti", "voc", "yolo", "padilla")
KINDS: tuple[Kind, ...] = tuple(source.name for source in SOURCES)


def find_source(raw: Any, side: Side, reading: Reading) -> Source:
    """Find the source of one side. Raises InputError for what no source recognizes."""
    if reading.input_format is not None:
        if reading.input_format in _ON_DISK and not is_path(raw):
            raise InputError(
                f"{side}: {write_option('input_format', reading.input_format)} reads a file or"
                f" folder; got {clip(raw)}"
            )
        return next(source for source in SOURCES if source.name == reading.input_format)
    if is_path(raw) and not os.path.exists(raw):
        raise InputError(f"{clip(os.fspath(raw))}: there is no such file or folder.")
    refuse_tracks(raw)
    for source in SOURCES:
        if source.recognize(raw) and not (side == "truth" and source.name == "coco" and raw == []):
            return source
    if is_path(raw) and os.path.isdir(raw):
        raise EmptyError(
            f"{os.fspath(raw)}: this folder has no boxes: no .xml or .txt file, not even in"
            " Annotations or labels."
        )
    raise InputError(
        f"{side}: boxes are COCO's JSON, a folder of VOC's XML or of text files, a list with boxes,"
        " labels and scores of each image, supervision's Detections, or a frame or file with"
        f" columns; got {clip(raw)}"
    )


def read_truth_columns(raw: Any, reading: Reading) -> Columns:
    """Read the columns of truths, with all images, their sizes and the names of classes."""
    reading = reading.choose("truth")
    columns = _read_columns(raw, "truth", reading, None)
    if is_path(reading.images) and os.path.isdir(reading.images):
        lists_none = columns.sizes is None and find_source(raw, "truth", reading).name in _OPEN
        sizes = _read_pictures(os.fspath(reading.images), None if lists_none else columns)
    else:
        sizes = read_images(reading.images)
    columns = _add_images(columns, sizes)
    columns = read_shapes(columns, reading, None)
    names = columns.names or read_class_names(reading.class_names)
    if names is not None:
        listed = sort_ids(columns.label)
        new = find_ids(listed, list(names), list(names.values()), typed=False) < 0
        classes = sort_ids(
            [*names, *(label for label, is_new in zip(listed, new.tolist(), strict=True) if is_new)]
        )
        columns = replace(columns, names=names, classes=columns.classes or classes)
    return columns


def _read_columns(raw: Any, side: Side, reading: Reading, truths: Truths | None) -> Columns:
    """Read one side in the format and the coordinates that were chosen, or in the source's own."""
    columns = find_source(raw, side, reading).read(raw, reading, truths)
    if reading.coordinates is not None:
        columns = replace(columns, relative=reading.coordinates == "relative")
    if reading.box_format is not None and columns.read_as is None:
        columns = replace(columns, box_format=reading.box_format)
    return columns


_OPEN = ("yolo", "table")  # sources whose images may be more than those that have boxes or labels


def _read_pictures(folder: str, columns: Columns | None) -> dict[Any, tuple[float, float]]:
    """Read the sizes of pictures; only those that are missing, where all images are listed.

    A folder of photographs, which a report draws, adds no images to a truth that lists its own.
    """
    names = list_pictures(folder)
    if columns is not None:
        images = columns.list_images()
        sizes = list_sizes(columns.sizes, images)
        known: Any = np.zeros(len(images)) if sizes is None else ~np.isnan(sizes).any(axis=1)
        place = find_ids(names, images, columns.files, files=True, typed=False)
        named = zip(names, place.tolist(), strict=True)
        names = [name for name, row in named if row >= 0 and not known[row]]
    return {name: read_picture_size(os.path.join(folder, name)) for name in names}


def _add_images(columns: Columns, sizes: dict[Any, tuple[float, float]]) -> Columns:
    """Add the images that the caller lists, and their sizes."""
    if not sizes:
        return columns
    images = columns.list_images()
    place = find_ids(list(sizes), images, columns.files, files=True, typed=False)
    added = [size for size, position in zip(sizes, place.tolist(), strict=True) if position < 0]
    files = [*columns.files, *[""] * len(added)] if columns.files else ()
    named = {
        images[position] if position >= 0 else size: sizes[size]
        for size, position in zip(sizes, place.tolist(), strict=True)
    }
    column_sizes = columns.sizes
    if isinstance(column_sizes, np.ndarray):
        column_sizes = dict(zip(images, map(tuple, column_sizes), strict=True))
    listed = images + sort_ids(added)
    if columns.images is None and not files:  # all in one order, in which equal scores stand
        listed = sort_ids(listed)
    return replace(columns, images=listed, sizes=join_sizes(column_sizes or {}, named), files=files)


def read_detection_columns(raw: Any, reading: Reading, truths: Truths) -> Columns:
    """Read the columns of detections."""
    reading = reading.choose("detections")
    columns = _read_columns(raw, "detections", reading, truths)
    if columns.names is None:
        columns = replace(columns, names=read_class_names(reading.class_names))
    if columns.where == "the truth":
        columns = replace(columns, where="detections")
    return read_shapes(columns, reading, truths)


def name_detections(raw: Any) -> str:
    """Name detections after their file."""
    if not is_path(raw):
        return "detections"
    name: str = os.path.basename(os.path.normpath(raw))
    return os.path.splitext(name)[0]
