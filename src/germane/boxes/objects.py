"""Reads boxes of objects: frames with a row a box, and dicts or objects for each image."""

import os
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from germane.boxes.box_columns import Columns, explain_numbers
from germane.boxes.conventions import Reading, Side, name_side
from germane.boxes.corners import NUMBERS, make_corners, measure_corner_areas
from germane.boxes.detections import BoxFormat, Truths, measure_extents
from germane.boxes.image_ids import find_ids, has_booleans
from germane.boxes.masks import can_read_masks, encode_array, join_masks, measure_codes
from germane.core.id_spelling import unwrap_ids
from germane.core.ragged import Floats
from germane.errors import FormatError, InputError, clip, list_some, write_option
from germane.readers.files.formats import FORMATS, find_format, is_path, open_columns
from germane.readers.objects.headings import Headings
from germane.readers.objects.numbers import to_numpy


def is_table(raw: object) -> bool:
    """Is this a frame, or a file with columns?"""
    if is_path(raw):
        name = find_format(raw, "by")  # type: ignore[arg-type]
        return FORMATS[name].has_columns and name != "letor" and _has_suffix(raw)
    return hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "column_names") or _is_columns(raw)


def _is_columns(raw: object) -> bool:
    """Is this a dict of columns, one of which is that of images?"""
    return (
        isinstance(raw, Mapping)
        and all(isinstance(name, str) for name in raw)
        and Headings.name_images(raw)
        and all(hasattr(cells, "__len__") for cells in raw.values())
        and not any(isinstance(cells, (str, bytes, Mapping)) for cells in raw.values())
    )


def _has_suffix(raw: Any) -> bool:
    """Does the name of the file say its format?"""
    if os.path.isdir(raw):
        return False
    name = os.fspath(raw).casefold()
    return any(
        f".{suffix}" in name
        for file_format in FORMATS.values()
        if file_format.has_columns
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
    side = name_side(truths)
    frame = open_table(raw, side, reading.columns)
    (form, sides), where = frame.headings.sides, frame.where
    is_oriented = len(sides) in NUMBERS
    _check_angles(frame.headings, where, side, reading)
    parts = _Parts(frame)
    return Columns(
        image=parts.image,
        label=parts.label,
        boxes=np.column_stack([parts.numbers[side] for side in sides]),
        locate=lambda place: f"{where}, row {place}",
        box_format="xyxy" if is_oriented else form,
        score=parts.score,
        crowd=parts.flags.get("crowd"),
        difficult=parts.flags.get("difficult"),
        area=parts.numbers.get("area"),
        where=where,
        typed=not (is_path(raw) and find_format(raw, "by") in ("csv", "tsv")),
    )


def _check_angles(headings: Headings, where: str, side: Side, reading: Reading) -> None:
    """Refuse oriented boxes that would be read as others, and angles in another unit."""
    names = dict(headings.numbers)
    form, sides = headings.sides
    is_oriented = len(sides) in NUMBERS
    if is_oriented and reading.shape != "oriented":
        without = write_option("columns", {"angle": None})
        what, advice = {
            "angle": ("an angle", f", and {without} evaluates them without an angle"),
            "corners": ("four corners", ""),
        }[form]
        raise FormatError(
            f"{where}: boxes have {what} ({', '.join(names[part] for part in sides)})."
            f" {write_option('overlap', 'oriented')} evaluates them{advice}."
        )
    if not is_oriented and reading.shape == "oriented" and headings.like_angle:
        raise FormatError(
            f"{where}: is {headings.like_angle!r} the angle of the boxes? Say so with"
            f" {write_option('columns', {side: {'angle': headings.like_angle}})}, or that they"
            f" have none with {write_option('columns', {side: {'angle': None}})}."
        )
    unit = names.get("angle", "").casefold().rpartition("_")[2][:3]
    read_as = "radians" if reading.angles == "radians" else "degrees"
    if unit in ("rad", "deg") and not read_as.startswith(unit):
        angles = "radians" if unit == "rad" else "degrees"
        raise FormatError(
            f"{where}: column {names['angle']!r} has {angles} by its name, and angles are read as"
            f" {read_as}. Give {write_option('angles', angles)}, for one side"
            f" {write_option('angles', {side: angles})}; or rename the column."
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
                numbers[part].append(frame.read_sides(record, name, part))
            for part, name in names.flags:
                flags[part].append(frame.read_flags(record, name))
            if names.score is not None:
                score.append(frame.read_sides(record, names.score, "score"))
        self.numbers = {part: _join(number) for part, number in numbers.items()}
        self.flags = {part: _join(flag) for part, flag in flags.items()}
        self.score = None if names.score is None else _join(score)


def _join(arrays: list[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.zeros(0)


# --- Boxes by image: dicts of torchvision and torchmetrics, objects such as supervision's ---------
#
# Their libraries are never imported; an object is read by its attributes.

Held = Mapping[str, Any]  # of an image: boxes, labels, scores, iscrowd, area, difficult, …


_SHAPES = {"boxes", "masks", "keypoints"}


def is_per_image(raw: object) -> bool:
    """Is this a list with the boxes of each image, a mapping of images to them, or a data set?"""
    listed = _list_images(raw)
    if isinstance(raw, (list, tuple)) and not listed:  # no image at all
        return True
    return bool(listed) and _describe(next(iter(listed.values()))) is not None


def _list_images(raw: Any) -> Mapping[Hashable, Any]:
    """List what the images have by image, or by position."""
    if hasattr(raw, "annotations") and hasattr(raw, "classes"):  # a data set of supervision
        raw = raw.annotations
    if isinstance(raw, Mapping):
        return raw
    return dict(enumerate(raw)) if isinstance(raw, (list, tuple)) else {}


def _describe(value: Any) -> Held | None:
    """Describe the boxes of an image by the names of torchvision; None for anything else."""
    if isinstance(value, Mapping):
        return value if not _SHAPES.isdisjoint(value) else None
    if hasattr(value, "xyxy") and hasattr(value, "class_id"):  # supervision
        data = value.data if isinstance(getattr(value, "data", None), Mapping) else {}
        columns = {name: data[name] for name in ("iscrowd", "area", "difficult") if name in data}
        return columns | {
            "boxes": value.xyxy, "labels": value.class_id,
            "scores": getattr(value, "confidence", None),
            "names": data.get("class_name"), "box_format": "xyxy",
            "masks": getattr(value, "mask", None), "corners": data.get("xyxyxyxy"),
        }  # fmt: skip
    oriented: Any = getattr(value, "obb", None)
    boxes: Any = getattr(value, "boxes", None) if oriented is None else oriented
    if hasattr(boxes, "xyxy") and hasattr(boxes, "cls"):  # Ultralytics
        names = getattr(value, "names", None)
        return {
            "boxes": boxes.xyxy, "labels": boxes.cls, "scores": getattr(boxes, "conf", None),
            "by_id": names, "box_format": "xyxy", "masks": getattr(value, "masks", None),
            "keypoints": getattr(value, "keypoints", None),
            "corners": getattr(boxes, "xyxyxyxy", None),
        }  # fmt: skip
    return None


def _open_shapes(raw: Any, where: str) -> Any:
    """Open Ultralytics' masks or keypoints, which hold an array beside the image's size."""
    size = getattr(raw, "orig_shape", None)
    if size is None:
        return raw
    array = to_numpy(raw.data, where)
    if hasattr(raw, "has_visible"):
        seen = np.ones((*array.shape[:-1], 1))  # some models find no visibility
        return array if raw.has_visible else np.concatenate((array, seen), axis=-1)
    if array.shape[1:] != tuple(size):
        raise FormatError(
            f"{where} have {_write_size(array.shape[1:])} pixels, and the image"
            f" {_write_size(size)}. predict(…, retina_masks=True) gives masks of the image's size."
        )
    return array


def _write_size(size: Any) -> str:
    return f"{size[0]:,} × {size[1]:,}"


def read_per_image(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read detections with scores, or truths with ``iscrowd``, ``area``, ``difficult`` if any.

    Masks (N, H, W) and keypoints (N, P, 3) may stand beside boxes, or in place of them. An area of
    0 is that of the box, or of the mask where masks are compared. A list of detections has an entry
    for each image of the truth, in its order.
    """
    images, side = _name_images(raw, truths), name_side(truths)
    parts: dict[str, list[Any]] = {}
    listed: dict[str, list[Any]] = {}
    places: list[tuple[Hashable, int]] = []
    names: dict[Hashable, str] = dict(enumerate(getattr(raw, "classes", ()) or ()))
    described = {image: _describe(value) for image, value in images.items()}
    boxed = any(
        fields is not None and fields.get("boxes") is not None for fields in described.values()
    )
    has_area = side == "truth" and any("area" in (fields or ()) for fields in described.values())
    for image, fields in described.items():
        where = f"{side}, image {clip(image)}"
        if fields is None:
            raise FormatError(f"{where}: boxes and labels are needed; got {clip(images[image])}")
        shapes = _read_shapes(fields, where, reading)
        boxes = _read_boxes(fields, where, reading, shapes)
        columns = {"boxes": boxes.astype(float), **_read_columns(fields, len(boxes), where, side)}
        for name, rows in shapes.items():
            if len(rows) != len(boxes):
                if reading.shape == "any":
                    continue
                raise FormatError(f"{where}: {len(boxes)} boxes, and {len(rows)} {name}.")
            listed.setdefault(name, []).extend(rows)
        if has_area:
            columns["area"] = _fill_areas(columns, shapes, reading)
        if isinstance(fields.get("by_id"), Mapping):
            names |= fields["by_id"]
        for name, column in columns.items():
            parts.setdefault(name, []).append(column)
        places += [(image, place) for place in range(len(boxes))]
    labels = [label for column in parts.pop("labels", ()) for label in column]
    boxes = _join_boxes(parts.pop("boxes", []))
    joined = {name: np.concatenate(part) for name, part in parts.items()}
    return Columns(
        image=[place[0] for place in places],
        label=labels,
        boxes=boxes,
        locate=lambda place: f"{side}, image {clip(places[place][0])}, box {places[place][1]}",
        read_as=reading.box_format or "xyxy",
        score=joined.get("scores"),
        crowd=joined.get("iscrowd"),
        difficult=joined.get("difficult"),
        area=joined.get("area"),
        images=list(images),
        names=names or None,
        where="the truth" if side == "truth" else side,
        boxed=boxed,
        masks=_keep_whole(listed.get("masks"), len(places)),
        keypoints=_keep_whole(listed.get("keypoints"), len(places)),
    )


def _name_images(raw: Any, truths: Truths | None) -> Mapping[Hashable, Any]:
    """List what the images have by image; results of Ultralytics by the names of their files.

    Raises InputError for a list of detections whose images are not those of the truth.
    """
    images = _list_images(raw)
    if truths is None or not isinstance(raw, (list, tuple)):
        return images
    paths = [getattr(result, "path", None) for result in raw]
    numbers = np.full(1, -1)
    if all(isinstance(path, str) for path in paths):
        numbers = find_ids(paths, truths.images, truths.files, files=True, typed=truths.typed)
        if (numbers >= 0).all() and len(set(numbers.tolist())) == len(paths):
            return {truths.images[n]: result for n, result in zip(numbers, raw, strict=True)}
    if [*truths.images] != [*range(len(raw))]:
        text = (
            f"detections: a list of {len(raw)} goes with a list of truths of the same length, and"
            f" the truth has {len(truths.images)} images."
        )
        if isinstance(paths[0], str):
            lost = next((path for path, n in zip(paths, numbers, strict=True) if n < 0), None)
            text += (
                " Two results are of the same file."
                if lost is None
                else f" Their paths do not name its images, either: {clip(lost)} is none of"
                f" {list_some([*truths.files] or [*truths.images])}."
            )
        raise InputError(f"{text} Give {{image: detections}}.")
    return images


def _fill_areas(
    columns: Mapping[str, Any], shapes: Mapping[str, list[Any]], reading: Reading
) -> Any:
    """Give the areas of an image's objects (N), with its own for each that is 0 or not given."""
    boxes = columns["boxes"]
    with np.errstate(over="ignore"):
        measured = (
            measure_corner_areas(make_corners(boxes))
            if boxes.shape[1] in NUMBERS
            else np.prod(boxes[:, 2:], axis=1)
        )
    if reading.shape == "mask":
        measured = measure_codes(shapes["masks"])
    area = columns.get("area", np.zeros(len(measured))).astype(float)
    return np.where(area != 0, area, measured)


def _keep_whole(shapes: list[Any] | None, count: int) -> list[Any] | None:
    """Keep shapes that all objects have; where none is there, none is missing."""
    return shapes if shapes is not None and len(shapes) == count else None


def _read_shapes(fields: Held, where: str, reading: Reading) -> dict[str, list[Any]]:
    """Read the masks and keypoints of an image that are wanted; an image without boxes needs none.

    Where they are only tried (``any``), those that cannot be read are left out.
    """
    out: dict[str, list[Any]] = {}
    boxes = fields.get("boxes")
    for shape, name, read in (
        ("mask", "masks", _read_masks),
        ("oks", "keypoints", _read_keypoints),
    ):
        is_tried = reading.shape == "any" and (shape == "oks" or can_read_masks())
        if reading.shape != shape and not is_tried:
            continue
        try:
            shapes = _open_shapes(fields.get(name), f"{where}, {name}")
            if shapes is not None:
                out[name] = read(shapes, f"{where}, {name}", reading)
            elif boxes is not None and not to_numpy(boxes, where).size:
                out[name] = []
            elif not is_tried:
                raise FormatError(f"{where}: there are no {name}, which overlap={shape} needs.")
        except FormatError:
            if not is_tried:
                raise
    return out


def _read_masks(raw: Any, where: str, reading: Reading) -> list[Any]:
    """Read masks of 0 and others. The threshold is for probabilities and logits."""
    array, threshold = to_numpy(raw, where), reading.mask_threshold
    if array.ndim == 4 and array.shape[1] == 1:  # of torchvision
        array = array[:, 0]
    if array.ndim != 3 and array.size:
        raise FormatError(f"{where} have the shape (objects, height, width); got {array.shape}.")
    if array.ndim != 3 or not len(array):
        return []
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise FormatError(f"{where} have NaN in place of a number.")
    is_sharp = array.dtype.kind != "f" or np.isin(array, (0, 1)).all()
    if threshold is not None and not is_sharp:
        array = array >= threshold
    elif not is_sharp:
        low, high = float(array.min()), float(array.max())
        are_shares = low >= 0 and high <= 1
        raise FormatError(
            f"{where} have numbers from {low:.3g} to {high:.3g}, as"
            f" {'probabilities' if are_shares else 'logits'} have, not only 0 and 1. Give the"
            " lowest number of a pixel that belongs to an object:"
            f" mask_threshold={'0.5' if are_shares else '0'}."
        )
    return encode_array(array)


def _read_keypoints(raw: Any, where: str, reading: Reading) -> list[Any]:
    array = _read_numbers(raw, where)
    if array.size and (array.ndim != 3 or array.shape[2] != 3):
        raise FormatError(f"{where} have the shape (objects, points, 3); got {array.shape}.")
    return [points.astype(float).ravel().tolist() for points in array]


def _read_columns(fields: Held, count: int, where: str, side: str) -> dict[str, Any]:
    """Read the columns beside the boxes of an image. Raises FormatError for another length."""
    wanted = ("iscrowd", "difficult", "area") if side == "truth" else ("scores",)
    columns: dict[str, Any] = {}
    if side == "detections" and fields.get("scores") is None:
        raise FormatError(f"{where}: there are no scores. Are truth and detections swapped?")
    if fields.get("labels") is None:
        raise FormatError(f"{where}: the labels (classes of the boxes) are missing.")
    for name in wanted:
        if fields.get(name) is not None:
            read = _read_numbers if name in ("scores", "area") else to_numpy
            columns[name] = read(fields[name], f"{where}, {name}").reshape(-1)
    columns["labels"] = _read_labels(fields, where)
    for name, column in columns.items():
        if len(column) != count:
            raise FormatError(f"{where}: {count} boxes, and {len(column)} {name}.")
    if side == "truth":
        columns = {name: np.zeros(count, bool) for name in ("iscrowd", "difficult")} | columns
    return columns


def _read_labels(fields: Held, where: str) -> list[Any]:
    """Read the classes: by their names, where all boxes have one."""
    names, labels = fields.get("names"), fields["labels"]
    if names is not None and len(names) == len(labels):
        return [str(name) for name in names]
    if isinstance(labels, (list, tuple)):
        labels = unwrap_ids(labels)
    if isinstance(labels, (list, tuple)) and any(isinstance(label, str) for label in labels):
        if not all(isinstance(label, str) for label in labels):
            raise FormatError(f"{where}, labels: numbers and text are mixed: {clip(labels)}")
        return list(labels)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "OU":
        return [str(label) for label in labels.tolist()]
    numbers = _read_numbers(labels, f"{where}, labels").reshape(-1)
    is_whole = np.isfinite(numbers) & (numbers == np.floor(numbers))
    if not is_whole.all():
        raise FormatError(f"{where}, labels: a class is a whole number or text; got {clip(labels)}")
    return [int(number) for number in numbers.tolist()]


def _read_numbers(raw: Any, where: str) -> Any:
    """Read numbers of an image. Raises FormatError for truth values."""
    numbers = to_numpy(raw, where)
    if np.ma.is_masked(numbers):
        raise FormatError(
            f"{where}: a masked cell is not a number. Give the rows that are not masked, such as"
            " boxes[~mask]."
        )
    if has_booleans(raw) or (numbers.dtype.kind == "b" and numbers.size):
        raise FormatError(f"{where}: numbers are needed; got {clip(raw)}")
    return numbers


def _read_boxes(fields: Held, where: str, reading: Reading, shapes: Mapping[str, list[Any]]) -> Any:
    """Read boxes as xywh, computed in their own precision, as torchmetrics does (N, 4).

    Where an image has none, they are those around its masks or keypoints.
    """
    if reading.shape == "oriented" and (oriented := _find_oriented(fields, where)) is not None:
        return oriented
    if fields.get("boxes") is None:
        if "masks" in shapes:
            return join_masks(shapes["masks"]).measure_boxes()
        if "keypoints" in shapes:
            points = shapes["keypoints"]
            return measure_extents(np.array(points, float).reshape(len(points), -1, 3))
        raise FormatError(
            f"{where}: there are no boxes. {write_option('overlap', 'mask')} evaluates masks,"
            f" and {write_option('overlap', 'oks')} keypoints."
        )
    boxes = _read_numbers(fields["boxes"], f"{where}, boxes")
    if not boxes.size:
        return np.zeros((0, 4))
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise FormatError(
            f"{where}: boxes have 4 numbers each; got an array of shape {boxes.shape}"
            f"{explain_numbers(boxes.reshape(len(boxes), -1)[0]) or '.'}"
        )
    box_format: BoxFormat = fields.get("box_format") or reading.box_format or "xyxy"
    if box_format == "xywh":
        return boxes
    first, second, third, fourth = boxes.T
    if box_format == "cxcywh":
        first, second = first - third / 2, second - fourth / 2
        third, fourth = boxes[:, 0] + third / 2, boxes[:, 1] + fourth / 2
    return np.column_stack((first, second, third - first, fourth - second))


def _find_oriented(fields: Held, where: str) -> Any:
    """Find boxes with an angle (N, 5) or with corners (N, 8) of an image; None if it has others."""
    given = fields.get("boxes") if fields.get("corners") is None else fields["corners"]
    if given is None:
        return None
    boxes = _read_numbers(given, f"{where}, boxes")
    if boxes.ndim == 3 and boxes.shape[1:] == (4, 2):
        return boxes.reshape(-1, 8)
    return boxes if boxes.ndim == 2 and boxes.shape[1] in NUMBERS else None


def _join_boxes(parts: list[Any]) -> Any:
    """Join the boxes of images: an array, or a list of rows where these are of several lengths."""
    filled = [part for part in parts if len(part)]
    if len({part.shape[1] for part in filled}) > 1:
        return [row for part in filled for row in part.tolist()]
    return np.concatenate(filled) if filled else np.zeros((0, 4))
