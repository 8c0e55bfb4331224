"""YOLO's data sets: labels of boxes, polygons, keypoints and oriented boxes, and data.yaml."""

import math
import os
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from germane.boxes.box_columns import Columns
from germane.boxes.conventions import Reading, name_side
from germane.boxes.detections import Truths
from germane.boxes.image_ids import sort_ids
from germane.boxes.label_files import (
    PICTURES,
    LabelLine,
    Lines,
    find_label_folder,
    find_pictures,
    has_pixels,
    is_voc_results,
    list_labels,
    name_of_file,
    read_boxes,
    read_class,
    read_label_lines,
    read_lines,
    read_number,
    read_picture_size,
)
from germane.core.ragged import Bools, Floats
from germane.errors import EmptyError, FormatError, InputError, clip, list_some, write_option
from germane.output.tables import write_count
from germane.readers.files.formats import is_path
from germane.readers.files.line_blocks import read_file

Form: TypeAlias = Literal["box", "polygon", "pose", "corners"]

YOLO = Lines(
    ("class", "cx", "cy", "width", "height", "score"),
    "cxcywh",
    relative=True,
    hint=" Ultralytics writes one with save_conf=True.",
)
YAML = ("data.yaml", "dataset.yaml")
NAMES = (*YAML, "classes.txt", "obj.names")


@dataclass(frozen=True, eq=False, repr=False)
class LabelSet:
    """The files of labels of a data set, and what its images and data.yaml say."""

    files: list[str]
    pictures: dict[Hashable, tuple[float, float]]  # by name: their sizes
    names: dict[Hashable, str] | None
    point_shape: tuple[int, int] | None  # keypoints of an object, and the numbers of each
    yaml: str | None  # the data.yaml, which says point_shape of keypoints
    where: str


def is_yolo(raw: Any) -> bool:
    """Is this a folder of YOLO's labels, whose numbers are shares of images, or a data.yaml?"""
    if find_yaml(raw) is not None:
        return True
    files = list_labels(raw)
    if not files:
        return is_path(raw) and os.path.isdir(raw) and bool(_list_parts(os.fspath(raw)))
    return not is_voc_results(raw) and not has_pixels(files)


def find_yaml(raw: Any) -> str | None:
    """Find the data.yaml that this is, or that a folder without labels of its own has."""
    if not is_path(raw):
        return None
    path = os.fspath(raw)
    if not os.path.isdir(path):
        return path if path.casefold().endswith((".yaml", ".yml")) else None
    inside = (os.path.join(path, name) for name in YAML)
    return None if list_labels(path) else next(filter(os.path.isfile, inside), None)


def _list_parts(folder: str) -> list[str]:
    """List the folders of labels inside a folder of labels, such as labels/train."""
    labels = find_label_folder(folder)
    if labels == folder:
        return []
    parts = (os.path.join(labels, name) for name in sorted(os.listdir(labels)))
    return [part for part in parts if list_labels(part)]


def open_labels(raw: Any) -> LabelSet:
    """Open a folder of labels, or what a data.yaml names for validation."""
    path = find_yaml(raw)
    if path is not None:
        return _open_yaml(path)
    folder = os.fspath(raw)
    files = list_labels(folder)
    if not files and os.path.isdir(folder) and (parts := _list_parts(folder)):
        raise InputError(
            f"{folder}: its folder labels has {write_count(len(parts), 'folder')} of labels."
            f" Give one of them: {list_some(parts)}"
        )
    if not files:
        raise EmptyError(f"{folder}: this folder has no file .txt.")
    labels = find_label_folder(folder)
    yaml = _find_above(labels, YAML)
    names = _find_above(labels, NAMES)
    return LabelSet(
        files,
        _find_sizes(labels),
        None if names is None else read_class_names(names),
        None if yaml is None else _read_point_shape(yaml),
        yaml,
        folder,
    )


def _find_sizes(folder: str) -> dict[Hashable, tuple[float, float]]:
    """Find the sizes of pictures beside labels: in the folder ``images``, or in the same folder."""
    beside = _exchange_folder(os.path.abspath(folder), "labels", "images")
    return dict(find_pictures(beside if beside and os.path.isdir(beside) else folder))


def _exchange_folder(path: str, old: str, new: str) -> str | None:
    """Exchange the last folder of a name in a path; None if it has none."""
    parts = path.replace("\\", "/").split("/") if os.sep == "\\" else path.split("/")
    if old not in parts:
        return None
    position = len(parts) - 1 - parts[::-1].index(old)
    return "/".join([*parts[:position], new, *parts[position + 1 :]])


def _find_above(folder: str, names: tuple[str, ...]) -> str | None:
    """Find a file of one of the names in the folder of labels, or in one of the two above it."""
    start = os.path.abspath(folder)
    for above in (start, os.path.dirname(start), os.path.dirname(os.path.dirname(start))):
        for name in names:
            if os.path.isfile(path := os.path.join(above, name)):
                return path
    return None


# --- data.yaml ------------------------------------------------------------------------------------


def _open_yaml(path: str) -> LabelSet:
    """Open the labels of the images that a data.yaml names as ``val``."""
    text = read_file(path).decode("utf-8-sig", "replace")
    listed = [_unquote(entry) for entry in _list_values(text, "val")]
    if not listed:
        raise FormatError(
            f"{path}: there is no val, the images for validation. Give the folder of labels."
        )
    root = next((_unquote(entry) for entry in _list_values(text, "path")), "")
    files: list[str] = []
    pictures: dict[Hashable, tuple[float, float]] = {}
    for name in listed:
        source = _find_listed(path, root, name)
        if os.path.isdir(source):
            pictures |= find_pictures(source)
            labels = _exchange_folder(os.path.abspath(source), "images", "labels") or source
            files += list_labels(labels) if os.path.isdir(labels) else []
        else:
            for picture in _read_picture_list(source):
                pictures[os.path.basename(picture)] = read_picture_size(picture)
                label = os.path.splitext(
                    _exchange_folder(os.path.abspath(picture), "images", "labels") or picture
                )[0]
                files += [f"{label}.txt"] * os.path.isfile(f"{label}.txt")
    if not files:
        raise EmptyError(f"{path}: there are no labels of the images {list_some(listed)}.")
    stems = [name_of_file(file, "image") for file in files]
    for place, stem in enumerate(stems):
        if stem in stems[:place]:
            raise InputError(
                f"{path}: two files of labels have one name, {files[stems.index(stem)]} and"
                f" {files[place]}. Give one folder of labels."
            )
    names, point_shape = _read_yaml_names(path, text), _read_point_shape(path)
    return LabelSet(files, pictures, names, point_shape, path, path)


def _find_listed(yaml: str, root: str, name: str) -> str:
    """Find a folder or list of images that a data.yaml names, from its root or from beside it."""
    beside = os.path.dirname(os.path.abspath(yaml))
    stripped = name.removeprefix("../").removeprefix("./")
    places = [
        os.path.join(beside, root, name),
        os.path.join(root, name),
        os.path.join(beside, name),
        os.path.join(beside, stripped),
    ]
    for place in places:
        if os.path.exists(place):
            return place
    raise InputError(
        f"{yaml}: there are no images {clip(name)}, neither in its path {clip(root or '.')} nor"
        " beside it. Give the folder of labels."
    )


def _read_picture_list(path: str) -> list[str]:
    """Read a file with a picture a line, from the file's own folder."""
    folder = os.path.dirname(os.path.abspath(path))
    listed = (" ".join(fields) for _, fields in read_lines(path))
    return [os.path.join(folder, name) for name in listed if name.casefold().endswith(PICTURES)]


def _read_point_shape(path: str) -> tuple[int, int] | None:
    """Read kpt_shape: how many keypoints an object has, and the numbers of each."""
    text = read_file(path).decode("utf-8-sig", "replace")
    entries = [entry.removeprefix("- ") for entry in _list_entries(text, "kpt_shape")]
    if len(entries) == 2 and all(re.fullmatch("[0-9]{1,4}", entry) for entry in entries):
        count, numbers = map(int, entries)
        return (count, numbers) if numbers in (2, 3) else None
    return None


def read_class_names(raw: Any) -> dict[Hashable, str] | None:
    """Read names of classes: a mapping, a list from number 0 on, or a file of either."""
    if is_path(raw):
        path = os.fspath(raw)
        if path.casefold().endswith((".yaml", ".yml")):
            return _read_yaml_names(path, read_file(path).decode("utf-8-sig", "replace"))
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


def _read_yaml_names(path: str, text: str) -> dict[Hashable, str]:
    """Read ``names`` of a data set's YAML: a list or numbers with names, by line or in brackets."""
    matches = [*map(_ENTRY.match, _list_entries(text, "names"))]
    entries = [match for match in matches if match]
    if not entries or len(entries) < len(matches):
        raise FormatError(
            f"{path}: the names of the classes cannot be read; germane reads names: [cat, dog], or"
            f" one name on each line, after '- ' or a number. {write_option('class_names')}"
            " takes them."
        )
    numbers = [int(entry[1] or place) for place, entry in enumerate(entries)]
    names: dict[Hashable, str] = {
        number: _unquote(entry[2]) for number, entry in zip(numbers, entries, strict=True)
    }
    if len(names) < len(numbers) or len(_find_key("names").findall(text)) > 1:
        twice = next((n for place, n in enumerate(numbers) if n in numbers[:place]), "names")
        raise FormatError(f"{path}: {twice!r} is there twice. Keep one of them.")
    return names


def _unquote(text: str) -> str:
    return text.strip().strip("\"'")


def _find_key(key: str) -> re.Pattern[str]:
    """Compile a pattern of a key at the left edge, what stands beside it, and lines below it."""
    return re.compile(
        rf"^{key}\s*:[ \t]*(\S[^\n]*)?\n?((?:[ \t]*(?:-|\d+\s*:|\#)[^\n]*\n?|\s*\n)*)", re.MULTILINE
    )


def _list_entries(text: str, key: str) -> list[str]:
    """List the entries of a key, each as it would stand on a line of its own."""
    match = _find_key(key).search(text)
    if match is None:
        return []
    if not match[1] or match[1].startswith("#"):
        lines = (line for line in match[2].splitlines() if line.strip())
        return [line for line in lines if not line.lstrip().startswith("#")]
    inside = re.match(r"[\[{]([^\]}]*)[\]}]", text[match.start(1) :])
    listed = inside[1].replace("\n", " ").split(",") if inside else []
    start = "" if match[1][0] == "{" else "- "
    return [start + name.strip() for name in listed if name.strip()]


def _list_values(text: str, key: str) -> list[str]:
    """List the values of a key that has one value or a list of them."""
    match = _find_key(key).search(text)
    if match and match[1] and match[1][0] not in "[{#":
        return [re.sub(r"\s+#.*", "", match[1])]
    return [entry.strip().removeprefix("-") for entry in _list_entries(text, key)]


# --- Lines: boxes, polygons, keypoints and corners ------------------------------------------------


def read_yolo(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read labels, or detections, whose lines end with the confidence.

    Images are those that have a file of labels or a picture. A line is a box; a polygon, whose box
    is the one around it; a box with keypoints; or four corners, where oriented boxes are compared.
    """
    labels = open_labels(raw)
    side, lines = name_side(truths), [*read_label_lines(labels.files)]
    points = None if truths is None or truths.keypoints is None else truths.keypoints.shape[1]
    form = _find_form(lines, side == "detections", reading.shape, labels, points)
    if form == "box":
        columns = read_boxes(labels.files, YOLO, side, "image", lines)
    else:
        shape = labels.point_shape or _find_point_shape(lines, side == "detections", points)
        columns = _read_long(lines, form, side, reading, shape)
    pictures = [os.path.splitext(str(picture))[0] for picture in labels.pictures]
    stems = (name_of_file(file, "image") for file in labels.files)
    return replace(
        columns,
        images=sorted({*stems, *pictures}),
        sizes=labels.pictures or None,
        names=labels.names,
        classes=None if labels.names is None else sort_ids(labels.names),
        where=labels.where,
    )


def _count_numbers(texts: list[str], scored: bool) -> int:
    """Count the numbers of a line that are not its class or score."""
    return len(texts) - 1 - scored


def _find_form(
    lines: list[LabelLine],
    scored: bool,
    shape: str,
    labels: LabelSet,
    points: int | None,
) -> Form:
    """Find what the lines of a data set are, where the shape that is compared leaves it open.

    Polygons that all have as many corners look like keypoints. A data.yaml without kpt_shape has
    none, and where masks are compared, even counts of numbers are corners.
    """
    lengths = {_count_numbers(texts, scored) for _, _, texts in lines}
    if shape == "oriented" and lengths:
        return "corners"
    if max(lengths, default=4) <= 5:
        return "box"
    point_shape = labels.point_shape
    if shape == "oks" or (point_shape and lengths == {4 + point_shape[0] * point_shape[1]}):
        return "pose"
    is_odd = any(n % 2 for n in lengths)
    if not is_odd and (shape == "mask" or (labels.yaml and not point_shape)):
        return "polygon"
    found = _find_point_shape(lines, scored, points)
    is_pose = found and (is_odd or _lie_inside(_read_numbers(lines, scored), found))
    return "pose" if is_pose else "polygon"


def _read_numbers(lines: list[LabelLine], scored: bool) -> Floats | None:
    """Read the numbers of lines that all have as many (N, M), without class and score."""
    rows = [texts[1 : len(texts) - scored] for _, _, texts in lines]
    numbers = [[read_number(text) for text in row] for row in rows]
    if len(set(map(len, numbers))) != 1 or any(None in row for row in numbers):
        return None
    return np.array(numbers, float)


def _find_point_shape(
    lines: list[LabelLine], scored: bool, points: int | None
) -> tuple[int, int] | None:
    """Find how many keypoints all lines have, and how many numbers each; None if there are none.

    Three numbers end with a visibility: 0, 1 or 2, or the confidence of a detected one.
    """
    numbers = _read_numbers(lines, scored)
    count = 0 if numbers is None else numbers.shape[1] - 4
    if numbers is None or count < 2:
        return None
    if points and count in (2 * points, 3 * points):
        return points, count // points
    if count % 3 == 0:
        seen = numbers[:, 6::3]
        if np.isin(seen, (0, 1, 2)).all() or (scored and count % 2):
            return count // 3, 3
    return None if count % 2 else (count // 2, 2)


def _lie_inside(numbers: Floats | None, point_shape: tuple[int, int]) -> bool:
    """Lie most keypoints inside the box of their line, and most boxes inside their image?

    The corners of a polygon would not: its second corner is no size, but near to the others, and
    its first is on the edge.
    """
    if numbers is None:
        return False
    points = numbers[:, 4:].reshape(len(numbers), *point_shape)[..., :2]
    center, size = numbers[:, None, :2], numbers[:, None, 2:4]
    whole = (np.abs(center - 0.5) + size / 2 <= 0.5 + _SLACK).all(axis=2)
    if whole.mean() <= _MOST:
        return False
    inside = (np.abs(points - center) <= size / 2 + _SLACK).all(axis=2)
    placed = (points != 0).any(axis=2)
    low, high = points.min(axis=1), points.max(axis=1)
    middle, spread = (low + high) / 2, high - low
    is_near = (np.abs(numbers[:, 2:4] - middle) <= 0.75 * spread).all(axis=1)
    is_amid = (np.abs(numbers[:, :2] - middle) <= spread / 4).all(axis=1)
    if (is_near & ~is_amid).mean() > _MOST:
        return False
    return bool(inside[placed].mean() > _MOST) if placed.any() else False


_SLACK = 0.01  # of the image, by which keypoints and boxes may lie outside
_MOST = 0.9  # of the keypoints, and of the boxes


def _read_long(
    lines: list[LabelLine],
    form: Form,
    side: str,
    reading: Reading,
    point_shape: tuple[int, int] | None,
) -> Columns:
    """Read lines of polygons, keypoints or corners. Lines that cannot be read are faults."""
    scored = side == "detections"
    places: list[tuple[str, int]] = []
    rows: list[tuple[str, Any, list[float]]] = []
    faults: list[str] = []
    for path, number, texts in lines:
        if fault := _find_fault(texts, form, scored, point_shape):
            faults.append(f"{path}:{number}: {fault}: {clip(' '.join(texts))}")
            continue
        places.append((path, number))
        stem = name_of_file(path, "image")
        rows.append((stem, read_class(texts[0]), [float(text) for text in texts[1:]]))
    numbers = [row[: len(row) - scored] for _, _, row in rows]
    columns = Columns(
        image=[image for image, _, _ in rows],
        label=[label for _, label, _ in rows],
        boxes=[_SHAPES[form](row) for row in numbers],
        score=[row[-1] for _, _, row in rows] if scored else None,
        locate=lambda place: f"{places[place][0]}:{places[place][1]}",
        box_format="cxcywh",
        relative=True,
        faults=faults,
        typed=False,
    )
    if form == "polygon" and reading.shape == "box":
        columns = replace(columns, turned=_find_turned(numbers))
    if form == "polygon" and reading.shape in ("mask", "any"):
        polygons = [[row] if len(row) > 4 else None for row in numbers]
        if reading.shape == "mask" or None not in polygons:
            columns = replace(columns, masks=polygons)
    if form == "pose" and reading.shape in ("oks", "any") and point_shape:
        width = point_shape[1]
        columns = replace(columns, keypoints=[_list_points(row[4:], width) for row in numbers])
    return columns


def _find_turned(rows: list[list[float]]) -> Bools | None:
    """Find turned rectangles; None where a polygon has other corners, as those of objects have."""
    if any(len(row) not in (4, 8) for row in rows):
        return None
    corners = np.array([row if len(row) == 8 else [0.0] * 8 for row in rows]).reshape(-1, 4, 2)
    skew = np.abs(corners[:, 0] - corners[:, 1] + corners[:, 2] - corners[:, 3]).max(axis=1)
    if (skew > _ROUNDED).any():
        return None
    turned: Bools = (np.abs(corners[:, 0] - corners[:, 1]) > _ROUNDED).all(axis=1)
    return turned


_ROUNDED = 1e-4  # a share of an image, by which written corners are off


def _find_fault(
    texts: list[str], form: Form, scored: bool, point_shape: tuple[int, int] | None
) -> str:
    """Say why a line cannot be read as it has to be; "" if it can."""
    faulty = [text for text in texts[1:] if not math.isfinite(_read_any(text))]
    if faulty:
        return f"{clip(faulty[0])} is no number"
    count, beside = _count_numbers(texts, scored), "a class and a score" if scored else "a class"
    fits = count == 4
    if form == "polygon":
        what = "x and y of three corners or more"
        fits |= count >= 6 and count % 2 == 0
    elif form == "corners":
        what = "x and y of four corners"
        fits |= count == 8
    else:
        points, width = point_shape or (0, 3)
        what = f"a box and {width} numbers of each of {points} keypoints"
        fits = bool(points) and count == 4 + points * width
        if not points:
            what = "a box and as many keypoints as in every other line"
    if fits:
        return ""
    hint = f" Is the score missing?{YOLO.hint}" if scored else ""
    numbers = write_count(max(count, 0), "number")
    return f"{numbers} beside {beside}, where a line has {what}.{hint}"


def _read_any(text: str) -> float:
    number = read_number(text)
    return math.nan if number is None else number


def _list_points(row: list[float], width: int) -> list[float]:
    """List x, y and visibility of keypoints; without one, a place below 0 is not seen."""
    if width == 3:
        return row
    pairs = zip(row[::2], row[1::2], strict=True)
    return [number for x, y in pairs for number in (x, y, float(x >= 0 and y >= 0))]


def _surround(row: list[float]) -> list[float]:
    """Measure the box around a polygon: center, width and height; four numbers are a box."""
    if len(row) == 4:
        return row
    (left, right), (top, bottom) = ((min(side), max(side)) for side in (row[::2], row[1::2]))
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def _list_corners(row: list[float]) -> list[float]:
    """List x and y of four corners; four numbers are a box."""
    if len(row) == 8:
        return row
    x, y, width, height = row
    left, right, top, bottom = x - width / 2, x + width / 2, y - height / 2, y + height / 2
    return [left, top, right, top, right, bottom, left, bottom]


_SHAPES: dict[Form, Callable[[list[float]], list[float]]] = {
    "polygon": _surround,
    "pose": lambda row: row[:4],
    "corners": _list_corners,
}
