"""Files of tasks that germane does not evaluate, recognized so that errors can name them."""

import os
import re
from collections.abc import Mapping
from typing import Any

from germane.errors import FormatError
from germane.readers.files.formats import is_path

PAGE = "docs/not-done.md"
_TRACKS = re.compile(r"\d+,-?\d+(,-?\d+(\.\d*)?([eE][-+]?\d+)?){5,8}\s*")


def refuse_other_task(raw: Any, where: str) -> None:
    """Refuse the JSON of another task. Raises FormatError that names it, and the page on it."""
    if task := _find_task(raw):
        raise FormatError(
            f"{where}: {task}, which germane does not evaluate; it evaluates boxes, masks and"
            f" keypoints of single images. {PAGE} names tools that do."
        )


def may_be_other_task(text: bytes) -> bool:
    """Say if the first entry of a JSON list may have keys of another task, before it is parsed."""
    keys = (b'"rotation"', b'"bbox3D"', b'"center_cam"', b'"segments_info"')
    first = text[: 1 << 20]  # no entry of a list of boxes is as long
    return any(key in first for key in keys)


def _find_task(raw: Any) -> str:
    """Name the task of a JSON by the keys that are its own; "" for none that is known."""
    rows = raw
    if isinstance(raw, Mapping):
        if "Subcategory" in raw and "LabelName" in raw:
            return "this is the hierarchy of classes of Open Images"
        results = raw.get("results")
        if isinstance(results, Mapping) and _has_key(results.values(), "translation"):
            return "these are boxes in 3D (of nuScenes)"
        rows = raw.get("annotations")
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], Mapping):
        return ""
    first = rows[0]
    if "segments_info" in first:
        return "these are panoptic segmentations"
    if "video_id" in first and "image_id" not in first:
        return "these are tracks in videos"
    if {"translation", "rotation"} <= first.keys() or "bbox3D" in first or "center_cam" in first:
        return "these are boxes in 3D"
    return ""


def _has_key(rows: Any, key: str) -> bool:
    """Has the first row, or the first of the first list of rows, this key?"""
    for row in rows:
        parts = row if isinstance(row, list) else [row]
        if parts:
            return isinstance(parts[0], Mapping) and key in parts[0]
    return False


def refuse_tracks(raw: Any) -> None:
    """Refuse text files of MOT Challenge, a line of which is frame,id,left,top,width,height,…"""
    if not is_path(raw):
        return
    path = os.fspath(raw)
    if os.path.isdir(path):
        names = sorted(name for name in os.listdir(path) if name.casefold().endswith(".txt"))
        path = os.path.join(path, names[0]) if names else ""
    if not path.casefold().endswith(".txt") or not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        line = file.readline(500).decode("utf-8", "replace")
    if _TRACKS.fullmatch(line):
        raise FormatError(
            f"{path}:1: these are tracks (frame,id,left,top,width,height,…, as in MOT Challenge),"
            f" which germane does not evaluate. {PAGE} names tools that do. As detections of single"
            " images, give them as a file with the columns image, class, x, y, width, height and"
            " score."
        )
