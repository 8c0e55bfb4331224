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
from germane.errors import FormatError, InputError, clip, write_option
from germane.readers.files.formats import is_path
from germane.readers.files.line_blocks import read_file

NAMES = ("data.yaml", "dataset.yaml", "classes.txt", "obj.names")


def read_yolo(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read labels, or detections, whose lines end with the confidence.

    Images are those that have a file of labels or a picture.
    """
    columns = read_boxes(require_labels(raw), YOLO, name_side(truths), "image")
    folder = find_label_folder(os.fspath(raw))
    sizes: dict[Hashable, tuple[float, float]] = {**_find_sizes(folder)}
    pictures = [os.path.splitext(str(size))[0] for size in sizes]
    names = _find_names(folder)
    return replace(
        columns,
        images=sorted({*(str(image) for image in columns.images or ()), *pictures}),
        sizes=sizes or None,
        names=names,
        classes=None if names is None else sort_ids(names),
        where=os.fspath(raw),
    )


def _find_sizes(folder: str) -> dict[Hashable, tuple[float, float]]:
    """Find the sizes of pictures beside labels: in the folder ``images``, or in the same folder."""
    parts = os.path.abspath(folder).split(os.sep)
    if "labels" in parts:
        position = len(parts) - 1 - parts[::-1].index("labels")
        beside = os.sep.join([*parts[:position], "images", *parts[position + 1 :]])
        if os.path.isdir(beside):
            return dict(find_pictures(beside))
    return dict(find_pictures(folder))


def _find_names(folder: str) -> dict[Hashable, str] | None:
    """Find the names of classes in the folder of labels, or in one of the two above it."""
    start = os.path.abspath(folder)
    for above in (start, os.path.dirname(start), os.path.dirname(os.path.dirname(start))):
        for name in NAMES:
            if os.path.isfile(path := os.path.join(above, name)):
                return read_class_names(path)
    return None


def read_class_names(raw: Any) -> dict[Hashable, str] | None:
    """Read names of classes: a mapping, a list from number 0 on, or a file of either."""
    if is_path(raw):
        path = os.fspath(raw)
        if path.casefold().endswith((".yaml", ".yml")):
            return _read_yaml(path)
        return {i: " ".join(fields) for i, (_, fields) in enumerate(read_lines(path))}
    if raw is None:
        return None
    if isinstance(raw, Mapping):
        return {number: str(name) for number, name in raw.items()}
    if isinstance(raw, (list, tuple)):
        return {i: str(name) for i, name in enumerate(raw)}
    raise InputError(
        f"{write_option('class_names')} takes names in the order of the numbers,"
        f" {{number: name}} or a file; got {clip(raw)}"
    )


_ENTRY = re.compile(
    r"""\s*+(?:([0-9]{1,18})\s*+:|-)\s*+("[^"]*"|'[^']*'|[^#,\[\]{}"']+?)\s*(?:\#.*)?$"""
)


def _read_yaml(path: str) -> dict[Hashable, str]:
    """Read ``names`` of a data set's YAML: a list or numbers with names, by line or in brackets."""
    text = read_file(path).decode("utf-8-sig", "replace")
    matches = [*map(_ENTRY.match, _list_entries(text))]
    entries = [match for match in matches if match]
    if not entries or len(entries) < len(matches):
        raise FormatError(
            f"{path}: the names of the classes cannot be read; germane reads names: [cat, dog], or"
            f" one name on each line, after '- ' or a number. {write_option('class_names')}"
            " takes them."
        )
    numbers = [int(entry[1] or place) for place, entry in enumerate(entries)]
    names: dict[Hashable, str] = {
        number: entry[2].strip().strip("\"'")
        for number, entry in zip(numbers, entries, strict=True)
    }
    if len(names) < len(numbers) or len(_NAMES.findall(text)) > 1:
        twice = next((n for place, n in enumerate(numbers) if n in numbers[:place]), "names")
        raise FormatError(f"{path}: {twice!r} is there twice. Keep one of them.")
    return names


_NAMES = re.compile(
    r"^names\s*:[ \t]*(\S[^\n]*)?\n?((?:[ \t]*(?:-|\d+\s*:|\#)[^\n]*\n?|\s*\n)*)", re.MULTILINE
)


def _list_entries(text: str) -> list[str]:
    """List the entries of the key ``names``, each as it would stand on a line of its own."""
    match = _NAMES.search(text)
    if match is None:
        return []
    if not match[1] or match[1].startswith("#"):
        lines = (line for line in match[2].splitlines() if line.strip())
        return [line for line in lines if not line.lstrip().startswith("#")]
    inside = re.match(r"[\[{]([^\]}]*)[\]}]", text[match.start(1) :])
    listed = inside[1].replace("\n", " ").split(",") if inside else []
    start = "" if match[1][0] == "{" else "- "
    return [start + name.strip() for name in listed if name.strip()]
