"""Photographs: the pictures of images as thumbnails inside a page."""

import base64
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from germane.boxes.detections import Truths
from germane.boxes.image_ids import find_ids
from germane.boxes.label_files import PICTURES
from germane.readers.files.formats import is_path

SIDE = 480  # pixels of the longer side of a thumbnail
_QUALITY = 72
_DEEPEST, _MOST_FILES = 4, 500_000  # folders in folders, and files, that are looked through


@dataclass(frozen=True)
class Photograph:
    """A thumbnail as the address of its own content, and the size of the picture it is of."""

    address: str
    width: float
    height: float


def find_photographs(folder: Any, truths: Truths) -> dict[int, str]:
    """Find the pictures in a folder and the folders in it: the path of each image, by its place.

    What is no folder, such as a list of images, has none.
    """
    if not is_path(folder) or not os.path.isdir(folder):
        return {}
    paths = list(_list_pictures(os.fspath(folder)))
    names = [os.path.basename(path) for path in paths]
    places = find_ids(names, truths.images, truths.files, files=True, typed=False)
    stems = [os.path.splitext(name)[0] for name in names]
    more = find_ids(stems, truths.images, truths.files, files=True, typed=False)
    places = np.where(places < 0, more, places)
    found: dict[int, str] = {}
    for path, place in zip(paths, places.tolist(), strict=True):
        if place >= 0:
            found.setdefault(place, path)
    return found


def _list_pictures(folder: str) -> Iterator[str]:
    """List the pictures of a folder and of the folders in it."""
    files = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        if place[len(folder) :].count(os.sep) >= _DEEPEST:
            folders.clear()
        for name in sorted(names):
            files += 1
            if name.casefold().endswith(PICTURES):
                yield os.path.join(place, name)
        if files > _MOST_FILES:
            return


def has_pillow() -> bool:
    """Is Pillow installed, which makes thumbnails?"""
    try:
        import PIL  # noqa: F401
    except ImportError:
        return False
    return True


def make_thumbnail(path: str, size: Sequence[float] | None = None) -> Photograph | None:
    """Make a thumbnail; None for a file that is no picture.

    A picture that a camera turned is turned back where its annotated ``size`` is that of the other
    side up.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as opened:
            picture: Any = opened
            turned = ImageOps.exif_transpose(opened)
            if size is not None and picture.size != tuple(size) and turned.size == tuple(size):
                picture = turned
            width, height = picture.size
            picture = picture.convert("RGB")
            picture.thumbnail((SIDE, SIDE))
            out = io.BytesIO()
            picture.save(out, "JPEG", quality=_QUALITY)
    except (OSError, ValueError, UnidentifiedImageError, Image.DecompressionBombError):
        return None
    data = base64.b64encode(out.getvalue()).decode()
    return Photograph(f"data:image/jpeg;base64,{data}", float(width), float(height))
