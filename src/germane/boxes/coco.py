"""COCO's JSON: annotations, and results of a detector; files, or what ``json.load`` returns."""

import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import cache
from typing import Any

import numpy as np

from germane.boxes.box_columns import Columns
from germane.boxes.conventions import Reading, Shape
from germane.boxes.detections import Truths
from germane.boxes.image_ids import is_boolean, sort_ids
from germane.boxes.other_tasks import may_be_other_task, refuse_other_task
from germane.boxes.selection import place_chosen
from germane.boxes.shapes import is_missing, list_needed
from germane.core.ragged import Floats
from germane.errors import FormatError, clip
from germane.kernel.library import read_objects
from germane.measures.box_names import BoxName
from germane.readers.files.formats import is_path
from germane.readers.files.json_files import Repeated, read_unique
from germane.readers.files.line_blocks import read_file
from germane.readers.objects.numbers import is_finite_number


def is_coco(raw: object) -> bool:
    """Is this COCO's JSON: a file, what was loaded, or an object of pycocotools?"""
    if is_path(raw):
        name = os.path.basename(os.fspath(raw)).casefold()  # type: ignore[call-overload]
        return re.search(r"\.json(\.(gz|bz2|xz|zst))?$", name) is not None
    return _is_truth(raw) or _is_results(raw) or hasattr(raw, "anns")


def _is_truth(raw: object) -> bool:
    return isinstance(raw, Mapping) and ("annotations" in raw or "images" in raw)


def _is_results(raw: object) -> bool:
    return isinstance(raw, list) and (
        not raw or (isinstance(raw[0], Mapping) and not _OF_RESULTS.isdisjoint(raw[0]))
    )


_OF_RESULTS = {"image_id", "bbox", "segmentation"}


def read_coco(raw: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read annotations, or a detector's results."""
    if truths is None:
        return _read_annotations(raw, reading)
    return _read_results(raw, reading, _find_left_out(reading, truths.classes, truths.names))


def _find_left_out(
    reading: Reading, ids: Sequence[Hashable], names: Sequence[str]
) -> frozenset[Hashable]:
    """Find the classes that ``only_classes`` leaves out, and that need no masks or keypoints."""
    if reading.only_classes is None or reading.shape not in ("mask", "oks"):
        return frozenset()
    place = place_chosen("only_classes", reading.only_classes, "class", ids, names)
    return frozenset(label for label, row in zip(ids, place.tolist(), strict=True) if row < 0)


def _read_annotations(raw: Any, reading: Reading) -> Columns:
    """Read annotations of boxes: ``images``, ``annotations`` and ``categories``.

    Images and classes stand in the order of their ids, as in pycocotools. Raises FormatError for
    what is missing or malformed.
    """
    where = os.fspath(raw) if is_path(raw) else "the truth"
    loaded = _load(raw)
    refuse_other_task(loaded, where)
    if not _is_truth(loaded):
        hint = " Is it the file of results? Give the truth first." if _is_results(loaded) else ""
        raise FormatError(f"{where}: COCO's annotations are an object with 'annotations'.{hint}")
    faults: list[str] = []
    images = _list_rows(loaded, "images", ("id",), where, faults)
    categories = _list_rows(loaded, "categories", ("id",), where, faults)
    twice: list[str] = []
    images = _check_ids(images, where, "image", faults, twice)
    categories = _check_ids(categories, where, "category", faults, twice)
    needed = ("image_id", "category_id", *list_needed(reading, "truth"))
    named = {category["id"]: str(category.get("name", category["id"])) for category in categories}
    left_out = _find_left_out(reading, list(named), list(named.values()))
    rows = _list_rows(loaded, "annotations", needed, where, faults, left_out)
    rows = _check_ids(rows, where, "annotation", faults, twice)
    image_of = {image["id"]: image for image in images}
    names = {category["id"]: str(category.get("name", category["id"])) for category in categories}
    listed = sort_ids(image_of)
    has_area = [row.get("area") is not None for row in rows]
    if any(has_area) and not all(has_area):
        lacking = has_area.index(False)
        faults.append(
            f"{_locate(where, 'annotation', rows, lacking)} has no 'area', which others have."
        )
    columns = Columns(
        image=[row["image_id"] for row in rows],
        label=[row["category_id"] for row in rows],
        boxes=[row.get("bbox") for row in rows],
        **_list_shapes(rows, reading, truth=True),
        locate=lambda place: _locate(where, "annotation", rows, place, loaded["annotations"]),
        crowd=_list_flags(rows, "iscrowd", where, faults),
        difficult=_list_flags(rows, "difficult", where, faults),
        flagged=_list_flags(rows, "ignore", where, faults) if _has(rows, "ignore") else None,
        **_list_verified(images, where, faults),
        frequencies=_list_frequencies(categories),
        area=[row.get("area") for row in rows] if any(has_area) else None,
        ids=[row.get("id", place) for place, row in enumerate(rows, 1)],
        images=listed,
        classes=sort_ids(names),
        sizes=_read_sizes([image_of[image_id] for image_id in listed]),
        files=[str(image_of[image_id].get("file_name", "")) for image_id in listed],
        names=names,
        faults=faults,
        twice=twice,
        where=where,
    )
    if is_path(raw) and reading.shape != "box":
        _strip(rows)
    return columns


def _has(rows: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(row.get(key) is not None for row in rows)


_VERIFIED = {"absent": "neg_category_ids", "partial": "not_exhaustive_category_ids"}


def _list_verified(images: list[Any], where: str, faults: list[str]) -> dict[str, Any]:
    """List what LVIS's images say about classes: which they lack, and which are not all annotated.

    Either key alone makes a data set federated; an image that has not both is named where the
    federated rules need them.
    """
    if not any(_has(images, key) for key in _VERIFIED.values()):
        return {}
    verified: dict[str, Any] = {name: {} for name in _VERIFIED}
    for name, key in _VERIFIED.items():
        for position, image in enumerate(images):
            listed = image.get(key)
            if listed is None:
                place = _locate(where, "image", images, position)
                verified.setdefault("lacking", f"{place} has no '{key}'")
            elif isinstance(listed, (list, tuple)):
                verified[name][image["id"]] = listed
            else:
                place = _locate(where, "image", images, position)
                faults.append(f"{place}: '{key}' is a list of categories; got {clip(listed)}")
    return verified


def _list_frequencies(categories: list[Any]) -> dict[Hashable, str] | None:
    """List how frequent classes are, as LVIS says it: r, c or f."""
    words = {initial: word for word in BoxName.FREQUENCIES for initial in (word[0], word)}
    frequencies = {
        category["id"]: words.get(str(category.get("frequency")), "") for category in categories
    }
    return frequencies if any(frequencies.values()) else None


def _strip(rows: list[Any]) -> None:
    """Free all but the ids of entries of a file: masks and keypoints are large."""
    for row in rows:
        identity = {"id": row["id"]} if "id" in row else {}
        row.clear()
        row.update(identity)


def read_images(raw: Any) -> dict[Hashable, tuple[float, float]]:
    """Read the sizes of images, by id."""
    where, loaded = os.fspath(raw) if is_path(raw) else "images", _load(raw)
    if not isinstance(loaded, Mapping):
        raise FormatError(f"{where}: COCO's JSON has a list of 'images'; got {clip(loaded)}")
    faults: list[str] = []
    rows = _list_rows(loaded, "images", ("id",), where, faults)
    rows = _check_ids(rows, where, "image", faults, faults)
    for fault in faults:
        raise FormatError(fault)
    sizes = _read_sizes(rows).tolist()
    return {row["id"]: (width, height) for row, (width, height) in zip(rows, sizes, strict=True)}


def _read_results(raw: Any, reading: Reading, left_out: Set[Hashable]) -> Columns:
    """Read a detector's results: a list of image_id, category_id, bbox and score."""
    where = os.fspath(raw) if is_path(raw) else "detections"
    flat = is_path(raw) and reading.shape in ("box", "oriented", "any")
    columns = _read_flat_results(raw, reading.shape) if flat else None
    return columns or _list_results(_load(raw), where, reading, left_out, owned=is_path(raw))


def _list_results(
    loaded: Any, where: str, reading: Reading, left_out: Set[Hashable], *, owned: bool
) -> Columns:
    """Make columns of loaded results."""
    refuse_other_task(loaded, where)
    if _is_truth(loaded):
        loaded = loaded.get("annotations")
        if isinstance(loaded, list) and loaded and not any("score" in row for row in loaded):
            raise FormatError(
                f"{where}: these are annotations without scores, where detections are expected. Are"
                " truth and detections swapped?"
            )
    if not isinstance(loaded, list):
        raise FormatError(f"{where}: COCO's results are a list of detections; got {clip(loaded)}")
    faults: list[str] = []
    keys = ("image_id", "category_id", *list_needed(reading, "detections"), "score")
    rows = _list_sound(
        loaded, keys, lambda place: _locate(where, "detection", loaded, place), faults, left_out
    )
    columns = Columns(
        image=[row["image_id"] for row in rows],
        label=[row["category_id"] for row in rows],
        boxes=[_find_box(row, reading.shape) for row in rows],
        **_list_shapes(rows, reading, truth=False),
        score=[row["score"] for row in rows],
        locate=lambda place: _locate(where, "detection", rows, place, loaded),
        faults=faults,
        where=where,
    )
    if owned and reading.shape != "box":
        _strip(rows)
    return columns


def _find_box(row: Mapping[str, Any], shape: Shape) -> Any:
    """Find the box of a result; an array beside a mask, as of pycocotools' loadRes, is none."""
    box = row.get("bbox")
    return None if shape == "mask" and isinstance(box, np.ndarray) else box


def _list_shapes(rows: list[Any], reading: Reading, *, truth: bool) -> dict[str, Any]:
    """List the masks and keypoints that are wanted, as they are given."""
    out: dict[str, Any] = {}
    for shape, name, key in (("mask", "masks", "segmentation"), ("oks", "keypoints", "keypoints")):
        if reading.shape == shape or (
            reading.shape == "any" and rows and not any(is_missing(row.get(key)) for row in rows)
        ):
            out[name] = [row.get(key) for row in rows]
    if "keypoints" in out and truth:
        out["unseen"] = [row.get("num_keypoints") for row in rows]
    return out


def _read_flat_results(path: Any, shape: Shape) -> Columns | None:
    """Read a list of flat objects by the kernel, many times as fast; None for anything else."""
    where, data = os.fspath(path), read_file(path)
    if may_be_other_task(data):
        return None
    if shape == "any" and (b'"segmentation"' in data or b'"keypoints"' in data):
        return None
    columns = read_objects(data, {"image_id": 1, "category_id": 1, "bbox": 4, "score": 1})
    if columns is None or (np.abs(columns) >= _ROUNDED).any():
        return None
    image, label = ids = columns[:2].astype(np.int64)
    if (ids != columns[:2]).any():
        return None
    load = cache(lambda: _load_file(path))  # for messages: the ids of detections
    return Columns(
        image=image,
        label=label,
        boxes=columns[2:6].T,
        score=columns[6],
        locate=lambda place: _locate(where, "detection", load(), place),
        where=where,
    )


_ROUNDED = 2.0**53  # floating point rounds whole numbers from here on


def _load(raw: Any) -> Any:
    """Load a file; an object of pycocotools has its JSON as ``dataset``."""
    if hasattr(raw, "anns"):
        attributes = {"images": "imgs", "annotations": "anns", "categories": "cats"}
        return getattr(raw, "dataset", None) or {
            key: [*getattr(raw, name, {}).values()] for key, name in attributes.items()
        }
    return _load_file(raw) if is_path(raw) else raw


def _load_file(path: Any) -> Any:
    """Load a file of JSON. Raises FormatError for an object that has a key twice."""
    return read_unique(path, _find_entry)


def _find_entry(loaded: Any, repeated: Repeated) -> str:
    """Name the entry of a list that an object is, or is in."""
    lists: dict[str, Any] = {"detection": loaded} if isinstance(loaded, list) else {}
    if isinstance(loaded, dict):
        lists = {noun: loaded.get(key) for key, noun in _NOUNS.items()}
    for noun, rows in lists.items():
        for place, row in enumerate(rows if isinstance(rows, list) else ()):
            if _holds(row, repeated):
                return f"{noun} {place + 1}"
    return "an object"


def _holds(row: Any, repeated: Repeated) -> bool:
    inside = row.values() if isinstance(row, dict) else row if isinstance(row, list) else ()
    return row is repeated or any(_holds(part, repeated) for part in inside)


_NOUNS = {"images": "image", "categories": "category", "annotations": "annotation"}


def _list_rows(
    loaded: Mapping[str, Any],
    key: str,
    needed: Sequence[str],
    where: str,
    faults: list[str],
    left_out: Set[Hashable] = frozenset(),
) -> list[Any]:
    rows = loaded.get(key)
    if not isinstance(rows, list):
        raise FormatError(f"{where}: COCO's annotations have a list of '{key}'; got {clip(rows)}")
    return _list_sound(
        rows, needed, lambda place: _locate(where, _NOUNS[key], rows, place), faults, left_out
    )


def _list_sound(
    rows: list[Any],
    needed: Sequence[str],
    locate: Callable[[int], str],
    faults: list[str],
    left_out: Set[Hashable] = frozenset(),
) -> list[Any]:
    """List the entries that have all keys, but those of classes left out; others are faults."""
    wanted = set(needed)
    unsound = [
        place
        for place, row in enumerate(rows)
        if not isinstance(row, dict) or not wanted <= row.keys()
    ]
    skipped = {place for place, row in enumerate(rows) if _is_of(row, left_out)} if left_out else ()
    if not unsound and not skipped:
        return list(rows)
    for place in unsound:
        if place in skipped:
            continue
        row = rows[place]
        if not isinstance(row, dict):
            faults.append(f"{locate(place)} is an object; got {clip(row)}")
        else:
            lost = next(key for key in needed if key not in row)
            faults.append(f"{locate(place)} has no '{lost}': {clip(row)}{_name_overlap(row, lost)}")
    left = {*unsound, *skipped}
    return [row for place, row in enumerate(rows) if place not in left]


def _is_of(row: Any, classes: Set[Hashable]) -> bool:
    label = row.get("category_id") if isinstance(row, dict) else None
    return isinstance(label, Hashable) and label in classes


def _name_overlap(row: Mapping[str, Any], lost: str) -> str:
    """Name the overlap of what an entry has in place of a box."""
    for key, (noun, overlap, _) in _SHAPES.items() if lost in _SHAPES else ():
        if key != lost and not is_missing(row.get(key)):
            _, needed_overlap, nouns = _SHAPES[lost]
            return (
                f". It has {noun}, which overlap={overlap} evaluates; overlap={needed_overlap}"
                f" needs {nouns}."
            )
    return ""


_SHAPES = {
    "bbox": ("a box", "iou", "boxes"),
    "segmentation": ("a mask", "mask", "masks"),
    "keypoints": ("keypoints", "oks", "keypoints"),
}


def _list_flags(rows: list[Any], key: str, where: str, faults: list[str]) -> list[bool]:
    """List flags of annotations. Text is a fault: "0" would count as 1."""
    flags = [row.get(key) for row in rows]
    faulty = [place for place, flag in enumerate(flags) if not _is_flag(flag)]
    faults += [
        f"{_locate(where, 'annotation', rows, row)}: '{key}' is 0 or 1; got {clip(flags[row])}"
        for row in faulty
    ]
    return [bool(flag) for flag in flags] if not faulty else [False] * len(flags)


def _is_flag(flag: object) -> bool:
    return flag is None or (isinstance(flag, (int, float, np.generic)) and flag in (0, 1))


def _locate(
    where: str, noun: str, rows: Sequence[Any], position: int, listed: Sequence[Any] | None = None
) -> str:
    """Name an entry by its number among those listed, and its id."""
    row = rows[position] if position < len(rows) else None
    if listed is not None and len(listed) > len(rows):
        position = next(i for i, candidate in enumerate(listed) if candidate is row)
    id_text = f" (id {clip(row['id'])})" if isinstance(row, Mapping) and "id" in row else ""
    return f"{where}: {noun} {position + 1}{id_text}"


def _check_ids(
    rows: list[Any], where: str, noun: str, faults: list[str], twice: list[str]
) -> list[Any]:
    """List the entries whose ids can be ids, and say which of these stand twice; 1.0 is 1."""
    sound: list[Any] = []
    seen: dict[Any, int] = {}
    for position, row in enumerate(rows):
        identifier = row.get("id")
        if isinstance(identifier, np.integer) or (
            isinstance(identifier, float) and identifier.is_integer()
        ):
            identifier = int(identifier)  # some writers make 1.0 of 1
            sound.append(row if noun == "annotation" else {**row, "id": identifier})
        elif identifier is None or (
            isinstance(identifier, (int, str)) and not is_boolean(identifier)
        ):
            sound.append(row)
        else:
            place = _locate(where, noun, rows, position)
            faults.append(f"{place}: an id is a whole number or text; got {clip(identifier)}")
            continue
        if identifier is not None:
            seen[identifier] = seen.get(identifier, 0) + 1
    twice += (
        f"{where}: two entries have the {noun} id {clip(identifier)}."
        for identifier in seen
        if seen[identifier] > 1
    )
    return sound


def _read_sizes(images: list[Any]) -> Floats:
    """Read the width and height of images; NaN where there are none."""
    sides = [image.get(side) for image in images for side in ("width", "height")]
    numbers = [
        float(side) if is_finite_number(side) and not is_boolean(side) else np.nan for side in sides
    ]
    return np.array(numbers, float).reshape(-1, 2)
