"""KITTI's 2D labels and results: a file an image, with a type, an occlusion and a truncation."""

import math
import os
from typing import Any

import numpy as np

from germane.boxes.box_columns import Columns
from germane.boxes.conventions import Reading
from germane.boxes.detections import LEVELS, Truths
from germane.boxes.label_files import (
    LOOK,
    list_labels,
    name_of_file,
    read_label_lines,
    read_number,
    require_labels,
)
from germane.core.ragged import Ints
from germane.errors import clip
from germane.readers.files.formats import is_path

FIELDS = 15  # type truncated occluded alpha left top right bottom, and seven of three dimensions
_LIMITS = ((40.0, 0, 0.15), (25.0, 1, 0.3), (25.0, 2, 0.5))
"""Of each of LEVELS: the least height in pixels, and the most occlusion and truncation."""

_EVALUATED = ("Car", "Pedestrian", "Cyclist")
_NEIGHBORS = {"Van": "Car", "Person_sitting": "Pedestrian"}  # which count as neither
_REGION = "DontCare"


def is_kitti(raw: Any) -> bool:
    """Is this a folder of KITTI's labels or results: a word and 14 or 15 numbers a line?"""
    if not is_path(raw) or not os.path.isdir(raw):
        return False
    texts = next((texts for _, _, texts in read_label_lines(_list_files(raw)[:LOOK])), [])
    is_word = bool(texts) and read_number(texts[0]) is None
    return is_word and len(texts) in (FIELDS, FIELDS + 1)


def _list_files(raw: Any) -> list[str]:
    inside = os.path.join(raw, "label_2")
    return list_labels(inside if os.path.isdir(inside) else raw)


def read_kitti(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read labels or results, whose lines end with the score.

    A region of DontCare is a crowd of each class that KITTI evaluates; a van is a difficult car,
    and a sitting person a difficult pedestrian.
    """
    scored = truths is not None
    files = _list_files(raw) or require_labels(raw)
    rows: list[tuple[str, str, bool, list[float]]] = []  # image, class, difficult, numbers
    regions: list[bool] = []
    places: list[tuple[str, int]] = []
    faults: list[str] = []
    for path, number, texts in read_label_lines(files):
        if fault := _find_fault(texts, scored):
            faults.append(f"{path}:{number}: {fault}: {clip(' '.join(texts))}")
            continue
        label, numbers = texts[0], [float(text) for text in texts[1:]]
        is_near = not scored and label in _NEIGHBORS
        label = _NEIGHBORS[label] if is_near else label
        for named in _EVALUATED if label == _REGION and not scored else (label,):
            rows.append((name_of_file(path, "image"), named, is_near, numbers))
            regions.append(label == _REGION)
            places.append((path, number))
    return Columns(
        image=[row[0] for row in rows],
        label=[row[1] for row in rows],
        boxes=[row[3][3:7] for row in rows],
        locate=lambda place: f"{places[place][0]}:{places[place][1]}",
        box_format="xyxy",
        score=[row[3][-1] for row in rows] if scored else None,
        crowd=None if scored else regions,
        difficult=None if scored else [row[2] for row in rows],
        levels=None if scored else _find_levels([row[3] for row in rows]),
        images=None if scored else [name_of_file(path, "image") for path in files],
        faults=faults,
        where=os.fspath(raw),
        typed=False,
    )


def _find_levels(rows: list[list[float]]) -> Ints:
    """Find the first level that each object is of, from 0; 3 if it is of none."""
    numbers = np.array(rows, float).reshape(-1, FIELDS - 1)
    truncated, occluded, height = numbers[:, 0], numbers[:, 1], numbers[:, 6] - numbers[:, 4]
    level = np.full(len(rows), len(LEVELS))
    for place in reversed(range(len(LEVELS))):
        least, most_occluded, most_truncated = _LIMITS[place]
        fits = (height >= least) & (occluded <= most_occluded) & (truncated <= most_truncated)
        level[fits] = place
    return level


def _find_fault(texts: list[str], scored: bool) -> str:
    """Say why a line cannot be read; "" if it can."""
    wanted = FIELDS + scored
    if len(texts) != wanted:
        hint = "Is the score missing?" if scored else "Are these detections? Give the truth first."
        is_other = len(texts) == FIELDS + (not scored)
        return f"{len(texts)} fields where a line has {wanted}" + f". {hint}" * is_other
    for text in texts[1:]:
        number = read_number(text)
        if number is None or not math.isfinite(number):
            return f"{clip(text)} is no number"
    return ""
