"""Images: their names, and their sizes as the caller or the pictures have them."""

import os
import struct
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from germane.boxes import coco, objects
from germane.boxes.columns import Sizes
from germane.boxes.text_files import read_lines
from germane.errors import InputError, clip, write_option
from germane.readers.files.formats import is_path, refuse_special
from germane.readers.files.streams import explain_os_error
from germane.readers.objects.numbers import is_finite_number

PICTURES = (".jpg", ".jpeg", ".png")
UNKNOWN = (np.nan, np.nan)


def read_images(raw: Any) -> dict[Hashable, tuple[float, float]]:
    """Read the names of images and their sizes, NaN where unknown.

    ``raw`` is a mapping of images to (width, height), a list of images, a folder of pictures, a
    file of names, COCO's JSON, or a frame or file with columns image, width and height.
    """
    if raw is None:
        return {}
    if is_path(raw) and os.path.isdir(raw):
        return dict(find_pictures(os.fspath(raw)))
    if is_path(raw) and os.fspath(raw).casefold().endswith(".txt"):
        return dict.fromkeys((fields[0] for _, fields in read_lines(raw)), UNKNOWN)
    if coco.is_coco(raw) and raw != []:
        return coco.read_images(raw)
    if isinstance(raw, Mapping):
        return {image: _read_size(image, size) for image, size in raw.items()}
    if objects.is_table(raw):
        return objects.read_sizes(raw)
    if isinstance(raw, Iterable) and not is_path(raw):
        return dict.fromkeys(raw, UNKNOWN)
    raise InputError(
        f"{write_option('images')} takes {{image: (width, height)}}, a list of images, a folder"
        " of pictures, a file with columns image, width and height, a list of names (.txt) or"
        " COCO's JSON; got"
        f" {clip(raw)}"
    )


def _read_size(image: Hashable, size: Any) -> tuple[float, float]:
    if size is None:
        return UNKNOWN
    sides = list(size) if isinstance(size, (list, tuple, np.ndarray)) else []
    if len(sides) != 2 or not all(is_finite_number(side) and side > 0 for side in sides):
        raise InputError(
            f"{write_option('images')}: the size of {clip(image)} is (width, height); got"
            f" {clip(size)}"
        )
    return float(sides[0]), float(sides[1])


def find_pictures(folder: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Find the pictures of a folder, with their sizes."""
    with explain_os_error(folder):
        names = sorted(os.listdir(folder))
    for name in names:
        if name.casefold().endswith(PICTURES):
            yield name, read_picture_size(os.path.join(folder, name))


def read_picture_size(path: str) -> tuple[float, float]:
    """Read the size of a PNG or JPEG from its header. Raises InputError for another file."""
    size = None
    refuse_special(path)
    with explain_os_error(path), open(path, "rb") as file:
        start = file.read(24)
        if start.startswith(b"\x89PNG\r\n\x1a\n") and len(start) == 24:
            size = struct.unpack(">II", start[16:])
        elif start.startswith(b"\xff\xd8"):
            file.seek(2)
            size = _read_jpeg_size(file)
    if size is None or not all(size):
        raise InputError(
            f"{path}: no size was found; a picture is a PNG or JPEG. {write_option('images')}"
            " takes sizes."
        )
    return float(size[0]), float(size[1])


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # segments that begin a picture
_BARE = frozenset((0x01, *range(0xD0, 0xD9)))  # segments without a length


def _read_jpeg_size(file: BinaryIO) -> tuple[int, int] | None:
    """Go through the segments of a JPEG to the one that has its size; None if it has none."""
    while (byte := file.read(1)) == b"\xff":
        while byte == b"\xff":
            byte = file.read(1)
        if not byte:
            break
        if byte[0] in _BARE:
            continue
        head = file.read(7)
        if len(head) < 7:
            break
        length, _, height, width = struct.unpack(">HBHH", head)
        if byte[0] in _FRAMES:
            return width, height
        file.seek(length - 7, os.SEEK_CUR)
    return None


def join_sizes(*size_maps: Sizes) -> dict[Hashable, tuple[float, float]]:
    """Join sizes of images; the first that is known holds."""
    out: dict[Hashable, tuple[float, float]] = {}
    for sizes in size_maps:
        for image, size in sizes.items():
            if np.isnan(out.get(image, UNKNOWN)).any():
                out[image] = size
    return out
