"""Frames of boxes, and files with columns: a row a box."""

import os
from collections.abc import Hashable
from typing import Any

import numpy as np

from germane.boxes.columns import Columns
from germane.boxes.detections import Truths
from germane.boxes.geometry import BoxFormat
from germane.boxes.reading_options import Reading, name_side
from germane.core.ragged import Floats
from germane.errors import FormatError, ScoreError
from germane.readers.files.formats import FORMATS, find_format, is_path, open_columns
from germane.readers.objects.arrow import is_numeric, is_whole_type, list_doubles
from germane.readers.objects.headings import SIDES

_FORMATS: dict[Any, BoxFormat] = dict(zip(SIDES, ("xyxy", "xywh", "cxcywh"), strict=True))


def is_table(raw: object) -> bool:
    """Is this a frame, or a file with columns?"""
    if is_path(raw):
        name = find_format(raw, "by")  # type: ignore[arg-type]
        return bool(FORMATS[name].opener) and name != "letor" and _has_suffix(raw)
    return hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "column_names")


def _has_suffix(raw: Any) -> bool:
    """Does the name of the file say its format?"""
    if os.path.isdir(raw):
        return False
    name = os.fspath(raw).casefold()
    return any(
        f".{suffix}" in name
        for file_format in FORMATS.values()
        if file_format.opener
        for suffix in file_format.suffixes
    )


def open_table(raw: Any, kind: str, columns: Any = None) -> Any:
    """Open a frame or file with the columns of a side: ``truth``, ``detections`` or ``images``."""
    if is_path(raw):
        return open_columns(raw, kind, find_format(raw, "by"), columns)
    from germane.readers.objects.frames import open_frame

    return open_frame(raw, kind, columns)


def read_table(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read detections, or truths with columns ``area``, ``crowd`` and ``difficult`` if any."""
    frame = open_table(raw, name_side(truths), reading.columns)
    parts = _Parts(frame)
    sides = next(columns for columns in SIDES if set(columns) <= parts.numbers.keys())
    where = frame.where
    return Columns(
        image=parts.image,
        label=parts.label,
        boxes=np.column_stack([parts.numbers[side] for side in sides]),
        locate=lambda place: f"{where}, row {place}",
        box_format=_FORMATS[sides],
        score=parts.score,
        crowd=parts.flags.get("crowd"),
        difficult=parts.flags.get("difficult"),
        area=parts.numbers.get("area"),
        where=where,
        typed=not (is_path(raw) and find_format(raw, "by") in ("csv", "tsv")),
    )


def read_sizes(raw: Any) -> dict[Hashable, tuple[float, float]]:
    """Read the sizes of images from columns image, width and height; NaN where there are none."""
    parts = _Parts(open_table(raw, "images"))
    unknown = np.full(len(parts.image), np.nan)
    sides = [parts.numbers.get(side, unknown).tolist() for side in ("width", "height")]
    return dict(zip(parts.image, zip(*sides, strict=True), strict=True))


class _Parts:
    """The columns of a frame in memory."""

    def __init__(self, frame: Any) -> None:
        names = frame.headings
        self.image: list[Hashable] = []
        self.label: list[Hashable] = []
        numbers: dict[str, list[Floats]] = {part: [] for part, _ in names.numbers}
        flags: dict[str, list[Any]] = {part: [] for part, _ in names.flags}
        score: list[Floats] = []
        for row, record in frame.number_records():
            image, label = frame.read_ids(record, row)
            self.image += image.python
            self.label += label.python
            for part, name in names.numbers:
                numbers[part].append(_read_numbers(frame, record, name, part))
            for part, name in names.flags:
                flags[part].append(_read_flags(frame, record, name))
            if names.score is not None:
                score.append(_read_numbers(frame, record, names.score, "score"))
        self.numbers = {part: _join(number) for part, number in numbers.items()}
        self.flags = {part: _join(flag) for part, flag in flags.items()}
        self.score = None if names.score is None else _join(score)


def _join(arrays: list[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.zeros(0)


def _read_numbers(frame: Any, record: Any, name: str, noun: str) -> Floats:
    """Read numbers; what is missing becomes NaN, which is refused with its row where it matters."""
    column = record.column(name)
    type_name = str(column.type)
    if type_name == "null":
        return np.full(len(column), np.nan)
    if type_name == "bool" or not is_numeric(type_name):
        kind = ScoreError if noun == "score" else FormatError
        raise kind(
            f"{frame.where}, column {name!r}: numbers are needed; the column is {column.type}."
        )
    return list_doubles(column)


def _read_flags(frame: Any, record: Any, name: str) -> Any:
    column = record.column(name)
    kind = str(column.type)
    if not (kind in ("bool", "null") or is_whole_type(kind)):
        raise FormatError(
            f"{frame.where}, column {name!r}: a flag is 0 or 1; the column is {kind}."
        )
    return np.array([bool(value) for value in column.to_pylist()], bool)
