"""DOTA's files: labels of four corners, a file an image, and results, a file a class."""

import math
import os
import re
from typing import Any

from germane.boxes.box_columns import Columns
from germane.boxes.conventions import Reading
from germane.boxes.detections import Truths
from germane.boxes.label_files import (
    LOOK,
    LabelLine,
    list_labels,
    name_of_file,
    read_label_lines,
    read_number,
    require_labels,
)
from germane.errors import FormatError, clip
from germane.readers.files.formats import is_path

CORNERS = 8
_OF_RESULTS = re.compile(r"(?:^|_)task[12]_(.+)\.txt$", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z ]+:")  # imagesource:GoogleEarth


def is_dota(raw: Any) -> bool:
    """Is this a folder of DOTA's labels, or its results, which are named after a task and class?"""
    if not is_path(raw):
        return False
    if not os.path.isdir(raw):
        return _is_results(os.fspath(raw))
    files = _list_files(raw)
    return any(map(_is_results, files)) or _are_labels(files)


def _is_results(path: str) -> bool:
    return _OF_RESULTS.search(os.path.basename(path)) is not None


def _list_files(raw: Any) -> list[str]:
    """List the files of a folder, or of its folder ``labelTxt``."""
    inside = os.path.join(raw, "labelTxt")
    return list_labels(inside if os.path.isdir(inside) else raw)


def _are_labels(files: list[str]) -> bool:
    """Is the first line of a label eight numbers and a word?"""
    lines = (texts for _, _, texts in read_label_lines(files[:LOOK]) if not _is_header(texts))
    texts = next(lines, [])
    numbers = [read_number(text) for text in texts[: CORNERS + 1]]
    return len(numbers) > CORNERS and None not in numbers[:CORNERS] and numbers[CORNERS] is None


def _is_header(texts: list[str]) -> bool:
    return _HEADER.match(" ".join(texts)) is not None


def read_dota(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read labels, or results. The boxes are those around the corners, unless corners are compared.

    A label has x and y of four corners, a class, and 0 where it is not difficult.
    """
    folder = os.path.isdir(raw)
    files = (_list_files(raw) or require_labels(raw)) if folder else [os.fspath(raw)]
    results = [path for path in files if _is_results(path)]
    if truths is None and results:
        raise FormatError(f"{results[0]}: these are results of DOTA. Give the truth first.")
    if truths is not None and not results:
        raise FormatError(
            f"{os.fspath(raw)}: these are DOTA's labels, without scores, where detections are"
            " expected: Task1_CLASS.txt. Are truth and detections swapped?"
        )
    scored = truths is not None
    rows: list[tuple[str, str, list[float], float]] = []  # image, class, sides, score or flag
    places: list[tuple[str, int]] = []
    faults: list[str] = []
    for line in read_label_lines(results or files):
        path, number, texts = line
        if not scored and _is_header(texts):
            continue
        if fault := (_find_fault_of_result(texts) if scored else _find_fault_of_label(texts)):
            faults.append(f"{path}:{number}: {fault}: {clip(' '.join(texts))}")
            continue
        rows.append(_read_result(line) if scored else _read_label(line))
        places.append((path, number))
    is_oriented = reading.shape == "oriented"
    return Columns(
        image=[row[0] for row in rows],
        label=[row[1] for row in rows],
        boxes=[
            row[2] if is_oriented and len(row[2]) == CORNERS else _surround(row[2]) for row in rows
        ],
        locate=lambda place: f"{places[place][0]}:{places[place][1]}",
        box_format="xyxy",
        score=[row[3] for row in rows] if scored else None,
        difficult=None if scored else [bool(row[3]) for row in rows],
        images=None if scored else [name_of_file(path, "image") for path in files],
        faults=faults,
        where=os.fspath(raw),
        typed=False,
    )


def _read_label(line: LabelLine) -> tuple[str, str, list[float], float]:
    path, _, texts = line
    sides, flag = [float(text) for text in texts[:CORNERS]], texts[CORNERS + 1 :]
    return name_of_file(path, "image"), texts[CORNERS], sides, float(flag[0]) if flag else 0.0


def _read_result(line: LabelLine) -> tuple[str, str, list[float], float]:
    path, _, texts = line
    named = _OF_RESULTS.search(os.path.basename(path))
    sides = [float(text) for text in texts[2:]]
    return texts[0], named[1] if named else "", sides, float(texts[1])


def _find_fault_of_label(texts: list[str]) -> str:
    """Say why a label cannot be read; "" if it can."""
    if len(texts) not in (CORNERS + 1, CORNERS + 2):
        return f"{len(texts)} fields where a label has 10 (x1 y1 x2 y2 x3 y3 x4 y4 class difficult)"
    return _find_odd([*texts[:CORNERS], *texts[CORNERS + 1 :]])


def _find_fault_of_result(texts: list[str]) -> str:
    if len(texts) not in (6, CORNERS + 2):
        return f"{len(texts)} fields where a result has 10 (image score x1 y1 x2 y2 x3 y3 x4 y4)"
    return _find_odd(texts[1:])


def _find_odd(texts: list[str]) -> str:
    for text in texts:
        number = read_number(text)
        if number is None or not math.isfinite(number):
            return f"{clip(text)} is no number"
    return ""


def _surround(sides: list[float]) -> list[float]:
    """Measure the upright box around corners: left, top, right, bottom."""
    x, y = sides[::2], sides[1::2]
    return [min(x), min(y), max(x), max(y)] if len(sides) == CORNERS else sides
