"""The sources of boxes: recognizes what was given, once."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from germane.boxes.coco import is_coco, read_coco
from germane.boxes.columns import Columns
from germane.boxes.detections import Truths
from germane.boxes.frames import is_table, read_table
from germane.boxes.id_spelling import find_ids, sort_ids
from germane.boxes.images import join_sizes, read_images
from germane.boxes.per_image import is_per_image, read_per_image
from germane.boxes.reading_options import Kind, Reading, Side
from germane.boxes.shapes import read_shapes
from germane.boxes.text_files import is_padilla, is_yolo, read_padilla
from germane.boxes.voc import is_voc, read_voc
from germane.boxes.yolo import read_class_names, read_yolo
from germane.errors import EmptyError, InputError, clip, write_option
from germane.readers.files.formats import is_path


class Source(NamedTuple):
    """A kind of input."""

    name: Kind
    recognize: Callable[[Any], bool]
    read: Callable[[Any, Reading, Truths | None], Columns]
    """Reads detections of the images of these truths, or truths if there are none yet."""


SOURCES = (
    Source("coco", is_coco, read_coco),
    Source("voc", is_voc, read_voc),
    Source("yolo", is_yolo, read_yolo),
    Source("padilla", is_padilla, read_padilla),
    Source("images", is_per_image, read_per_image),
    Source("table", is_table, read_table),
)
"""Every kind of input; the first that recognizes what was given reads it."""

_ON_DISK = ("voc", "yolo", "padilla")
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
    for source in SOURCES:
        if source.recognize(raw):
            return source
    if is_path(raw) and os.path.isdir(raw):
        raise EmptyError(
            f"{os.fspath(raw)}: this folder has no boxes: no file .xml or .txt, also not in"
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
    columns = _add_images(columns, read_images(reading.images))
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
