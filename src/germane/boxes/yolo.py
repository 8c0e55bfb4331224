"""YOLO's folders of labels: class, center, width and height, relative to the picture's size."""

import os
import re
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from germane.boxes.columns import Columns
from germane.boxes.detections import Truths
from germane.boxes.id_spelling import sort_ids
from germane.boxes.images import find_pictures
from germane.boxes.reading_options import Reading, name_side
from germane.boxes.text_files import YOLO, find_label_folder, read_boxes, read_lines, require_labels
from germane.errors import FormatError, InputError, clip
from germane.readers.files import read_file
from germane.readers.formats import is_path

NAMES = ("data.yaml", "dataset.yaml", "classes.txt", "obj.names")


def read_yolo(given: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read labels, or detections, whose lines end with the confidence.

    Images are those that have a file of labels or a picture.
    """
    columns = read_boxes(require_labels(given), YOLO, name_side(truths), "image")
    folder = find_label_folder(os.fspath(given))
    sizes: dict[Hashable, tuple[float, float]] = {**_find_sizes(folder)}
    pictures = [os.path.splitext(str(one))[0] for one in sizes]
    names = _find_names(folder)
    return replace(
        columns,
        images=sorted({*(str(one) for one in columns.images or ()), *pictures}),
        sizes=sizes or None,
        names=names,
        classes=None if names is None else sort_ids(names),
        where=os.fspath(given),
    )


def _find_sizes(folder: str) -> dict[Hashable, tuple[float, float]]:
    """Find the sizes of pictures beside labels: in the folder ``images``, or in the same folder."""
    parts = os.path.abspath(folder).split(os.sep)
    if "labels" in parts:
        at = len(parts) - 1 - parts[::-1].index("labels")
        beside = os.sep.join([*parts[:at], "images", *parts[at + 1 :]])
        if os.path.isdir(beside):
            return dict(find_pictures(beside))
    return dict(find_pictures(folder))


def _find_names(folder: str) -> dict[Hashable, str] | None:
    """Find the names of classes in the folder of labels, or in one of the two above it."""
    here = os.path.abspath(folder)
    for above in (here, os.path.dirname(here), os.path.dirname(os.path.dirname(here))):
        for name in NAMES:
            if os.path.isfile(path := os.path.join(above, name)):
                return read_class_names(path)
    return None


def read_class_names(given: Any) -> dict[Hashable, str] | None:
    """Read names of classes: a mapping, a list from number 0 on, or a file of either."""
    if is_path(given):
        path = os.fspath(given)
        if path.casefold().endswith((".yaml", ".yml")):
            return _read_yaml(path)
        return {i: " ".join(fields) for i, (_, fields) in enumerate(read_lines(path))}
    if given is None:
        return None
    if isinstance(given, Mapping):
        return {one: str(name) for one, name in given.items()}
    if isinstance(given, (list, tuple)):
        return {i: str(name) for i, name in enumerate(given)}
    raise InputError(
        "class_names= takes names in the order of the numbers, {number: name} or a file; got"
        f" {clip(given)}"
    )


_ENTRY = re.compile(r"""\s*(?:(\d+)\s*:|-)\s*("[^"]*"|'[^']*'|[^#,\[\]{}"']+?)\s*(?:\#.*)?$""")


def _read_yaml(path: str) -> dict[Hashable, str]:
    """Read ``names`` of a data set's YAML: a list or numbers with names, by line or in brackets."""
    entries = [*map(_ENTRY.match, _list_entries(read_file(path).decode("utf-8-sig", "replace")))]
    found = [one for one in entries if one]
    if not found or len(found) < len(entries):
        raise FormatError(
            f"{path}: the names of the classes cannot be read; germane reads names: [cat, dog], or"
            " one name on each line, after '- ' or a number. class_names= takes them."
        )
    return {
        i if one[1] is None else int(one[1]): one[2].strip().strip("\"'")
        for i, one in enumerate(found)
    }


_NAMES = re.compile(
    r"^names\s*:[ \t]*(\S[^\n]*)?\n?((?:[ \t]*(?:-|\d+\s*:|\#)[^\n]*\n?|\s*\n)*)", re.MULTILINE
)


def _list_entries(text: str) -> list[str]:
    """List the entries of the key ``names``, each as it would stand on a line of its own."""
    found = _NAMES.search(text)
    if found is None:
        return []
    if not found[1] or found[1].startswith("#"):
        lines = (one for one in found[2].splitlines() if one.strip())
        return [one for one in lines if not one.lstrip().startswith("#")]
    inside = re.match(r"[\[{]([^\]}]*)[\]}]", text[found.start(1) :])
    listed = inside[1].replace("\n", " ").split(",") if inside else []
    start = "" if found[1][0] == "{" else "- "
    return [start + one.strip() for one in listed if one.strip()]
