"""Text files with a box a line: YOLO's labels, VOC's results, and the files of Padilla's tool.

YOLO and Padilla's tool have a file for each image, VOC's results have one for each class.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from germane.boxes.columns import Columns
from germane.boxes.detections import BoxFormat, Truths
from germane.boxes.options import Reading, name_side
from germane.core.arguments import read_decimal
from germane.errors import EmptyError, FormatError, InputError, clip, write_option
from germane.readers.files.formats import is_path, refuse_special
from germane.readers.files.line_blocks import TextFile
from germane.readers.files.streams import explain_os_error

LOOK = 20  # files that show of which kind the others are


@dataclass(frozen=True)
class Lines:
    """The fields of a line; truths have no score."""

    fields: tuple[str, ...]
    box_format: BoxFormat
    relative: bool = False

    def list_fields(self, side: str) -> tuple[str, ...]:
        return tuple(field for field in self.fields if side == "detections" or field != "score")


YOLO = Lines(("class", "cx", "cy", "width", "height", "score"), "cxcywh", relative=True)
PADILLA = Lines(("class", "score", "left", "top", "right", "bottom"), "xyxy")
VOC = Lines(("image", "score", "left", "top", "right", "bottom"), "xyxy")

_NOT_BOXES = re.compile(
    r"(classes|predefined_classes|train|val|test|readme|requirements)\.txt$", re.IGNORECASE
)
_OF_CLASS = re.compile(r"(?:^|_)det_[^_]+_(.+)\.txt$", re.IGNORECASE)


def list_files(folder: str, suffix: str) -> list[str]:
    """List the files of a folder that have a suffix, in the order of their names."""
    with explain_os_error(folder):
        names = sorted(os.listdir(folder))
    paths = [os.path.join(folder, name) for name in names if name.casefold().endswith(suffix)]
    for path in paths:
        refuse_special(path)
    return paths


def list_labels(raw: Any) -> list[str]:
    """List the files of boxes in a folder or its folder ``labels``; none for anything else."""
    if not is_path(raw) or not os.path.isdir(raw):
        return []
    folder = find_label_folder(os.fspath(raw))
    return [
        path
        for path in list_files(folder, ".txt")
        if not _NOT_BOXES.fullmatch(os.path.basename(path))
    ]


def find_label_folder(folder: str) -> str:
    """Find the folder of labels in a data set."""
    inside = os.path.join(folder, "labels")
    return inside if os.path.isdir(inside) else folder


def is_yolo(raw: object) -> bool:
    """Is this a folder of YOLO's labels, a file an image: are the numbers of its boxes shares?"""
    files = list_labels(raw)
    return bool(files) and not is_voc_results(raw) and not _has_pixels(files)


def is_padilla(raw: object) -> bool:
    """Is this a folder with a file an image, as Padilla's tool reads them?"""
    files = list_labels(raw)
    return bool(files) and not is_voc_results(raw) and _has_pixels(files)


def is_voc_results(raw: Any) -> bool:
    """Is this one of VOC's files of results, which are named after a class, or a folder of them?"""
    if is_path(raw) and not os.path.isdir(raw):
        return bool(os.fspath(raw).casefold().endswith(".txt"))
    return any(_OF_CLASS.search(os.path.basename(label)) for label in list_labels(raw))


def _has_pixels(files: list[str]) -> bool:
    """Are most numbers beyond what shares of an image are?"""
    lines = (fields[1:] for path in files[:LOOK] for _, fields in read_lines(path))
    numbers = [_read_number(field) for fields in lines for field in fields]
    large = [abs(number) > 2 for number in numbers if number is not None]
    return sum(large) > len(large) / 2


def read_lines(path: Any) -> Iterator[tuple[int, list[str]]]:
    """Read the lines of a file that are not blank: the number and the fields of each."""
    with TextFile(path) as file:
        number = 0
        for block in file.read_blocks("lines"):
            for line in block.data.splitlines():
                number += 1
                if line.strip():
                    try:
                        yield number, line.decode().split()
                    except UnicodeDecodeError:
                        raise FormatError(f"{file.name}:{number}: the line is not UTF-8.") from None


def read_boxes(files: list[str], lines: Lines, side: str, named: str) -> Columns:
    """Read a box from each line of some files. Images or classes are named by the files."""
    fields = lines.list_fields(side)
    places: list[tuple[str, int]] = []
    faults: list[str] = []
    rows: dict[str, list[Any]] = {field: [] for field in (*fields, named)}
    for path in files:
        stem = name_of_file(path, named)
        for number, texts in read_lines(path):
            fault = _find_fault(texts, fields, lines, side)
            if fault:
                faults.append(f"{path}:{number}: {fault}: {clip(' '.join(texts))}")
                continue
            places.append((path, number))
            rows[named].append(stem)
            for field, text in zip(fields, texts, strict=True):
                rows[field].append(_READ.get(field, float)(text))
    sides = [field for field in fields if field not in ("image", "class", "score")]
    return Columns(
        image=rows["image"],
        label=rows["class"],
        boxes=list(zip(*(rows[side] for side in sides), strict=True)),
        score=rows.get("score"),
        locate=lambda place: f"{places[place][0]}:{places[place][1]}",
        box_format=lines.box_format,
        relative=lines.relative,
        images=[name_of_file(path, named) for path in files] if named == "image" else None,
        faults=faults,
        where=os.path.dirname(files[0]) if len(files) > 1 else files[0],
        typed=False,
    )


def name_of_file(path: str, named: str) -> str:
    """Name the image or the class that a file holds."""
    name = os.path.basename(path)
    of_class = _OF_CLASS.search(name) if named == "class" else None
    return of_class[1] if of_class else os.path.splitext(name)[0]


def _read_class(text: str) -> Any:
    """Read a class: figures alone are a number, but not with zeros before them."""
    return int(text) if re.fullmatch("0|[1-9][0-9]{,17}", text) else text


_READ: dict[str, Any] = {"image": str, "class": _read_class}


def _read_number(text: str) -> float | None:
    try:
        return read_decimal(text)
    except ValueError:
        return None


def _find_fault(texts: list[str], fields: tuple[str, ...], lines: Lines, side: str) -> str:
    """Say why a line cannot be read; "" if it can."""
    if len(texts) != len(fields):
        fault = f"{len(texts)} fields where a line has {len(fields)} ({' '.join(fields)})"
        if side == "detections" and len(texts) == len(fields) - 1:
            how = " Ultralytics writes one with save_conf=True." if lines is YOLO else ""
            return f"{fault}. Is the score missing, or are these truths?{how}"
        if side == "truth" and len(texts) == len(fields) + 1:
            return f"{fault}. Are these detections? Give the truth first"
        return fault
    pairs = zip(fields, texts, strict=True)
    faulty = [text for field, text in pairs if field not in _READ and _read_number(text) is None]
    return f"{clip(faulty[0])} is no number" if faulty else ""


def read_voc_results(raw: Any) -> Columns:
    """Read VOC's results: lines of image, score and corners, in a file for each class."""
    files = require_labels(raw) if os.path.isdir(raw) else [os.fspath(raw)]
    return read_boxes(files, VOC, "detections", "class")


def read_padilla(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read files of images, with lines of class, score and corners; truths have no score."""
    columns = read_boxes(require_labels(raw), PADILLA, name_side(truths), "image")
    ends = [box[-1] for box in columns.boxes]
    if columns.score and max(columns.score) > 1 and all(0 <= end <= 1 for end in ends):
        text = (
            f"{columns.locate(0)}: the last number of every line is between 0 and 1, as scores are,"
            " and the second is not. Are these YOLO's lines in pixels (class cx cy width height"
            f" score)? Then use {write_option('input_format', {'detections': 'yolo'})} and"
            f" {write_option('coordinates', {'detections': 'pixels'})}."
        )
        return replace(columns, faults=[text, *columns.faults])
    return columns


def require_labels(raw: Any) -> list[str]:
    """List the files of boxes in a folder. Raises InputError or EmptyError where there are none."""
    if files := list_labels(raw):
        return files
    if not is_path(raw) or not os.path.isdir(raw):
        raise InputError(f"a folder of text files is needed; got {clip(raw)}")
    raise EmptyError(f"{os.fspath(raw)}: this folder has no file .txt.")
