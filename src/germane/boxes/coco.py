"""COCO's JSON: annotations, and results of a detector; files, or what ``json.load`` returns."""

import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from germane.boxes.columns import Columns
from germane.boxes.detections import Truths
from germane.boxes.id_spelling import is_boolean, sort_ids
from germane.boxes.reading_options import Reading, Shape
from germane.boxes.shapes import is_missing, list_needed
from germane.core.ragged import Floats
from germane.errors import FormatError, clip
from germane.readers.files import read_file
from germane.readers.formats import is_path
from germane.readers.nested_json import Repeated, make_object, name_file, read_json
from germane.readers.numbers import is_finite_number


def is_coco(given: object) -> bool:
    """Is this COCO's JSON: a file, what was loaded, or an object of pycocotools?"""
    if is_path(given):
        name = os.path.basename(os.fspath(given)).casefold()  # type: ignore[call-overload]
        return re.search(r"\.json(\.(gz|bz2|xz|zst))?$", name) is not None
    return _is_truth(given) or _is_results(given) or hasattr(given, "anns")


def _is_truth(given: object) -> bool:
    return isinstance(given, Mapping) and ("annotations" in given or "images" in given)


def _is_results(given: object) -> bool:
    return isinstance(given, list) and (
        not given or (isinstance(given[0], Mapping) and not _OF_RESULTS.isdisjoint(given[0]))
    )


_OF_RESULTS = {"image_id", "bbox", "segmentation"}


def read_coco(given: Any, reading: Reading, truths: Truths | None) -> Columns:
    """Read annotations, or a detector's results."""
    return _read_annotations(given, reading) if truths is None else _read_results(given, reading)


def _read_annotations(given: Any, reading: Reading) -> Columns:
    """Read annotations of boxes: ``images``, ``annotations`` and ``categories``.

    Images and classes stand in the order of their ids, as in pycocotools. Raises FormatError for
    what is missing or malformed.
    """
    where = os.fspath(given) if is_path(given) else "the truth"
    loaded = _load(given)
    if not _is_truth(loaded):
        hint = " Is it the file of results? Give the truth first." if _is_results(loaded) else ""
        raise FormatError(f"{where}: COCO's annotations are an object with 'annotations'.{hint}")
    faults: list[str] = []
    images = _list_rows(loaded, "images", ("id",), where, faults)
    categories = _list_rows(loaded, "categories", ("id",), where, faults)
    needed = ("image_id", "category_id", *list_needed(reading.shape, "truth"))
    rows = _list_rows(loaded, "annotations", needed, where, faults)
    _refuse_twice(images, where, "image")
    _refuse_twice(categories, where, "category")
    _refuse_twice([row for row in rows if row.get("id") is not None], where, "annotation")
    image_of = {image["id"]: image for image in images}
    names = {one["id"]: str(one.get("name", one["id"])) for one in categories}
    listed = sort_ids(image_of)
    has_area = [row.get("area") is not None for row in rows]
    if any(has_area) and not all(has_area):
        at = has_area.index(False)
        faults.append(f"{_locate(where, 'annotation', rows, at)} has no 'area', which others have.")
    columns = Columns(
        image=[row["image_id"] for row in rows],
        label=[row["category_id"] for row in rows],
        boxes=[row.get("bbox") for row in rows],
        **_list_shapes(rows, reading, truth=True),
        locate=lambda at: _locate(where, "annotation", rows, at, loaded["annotations"]),
        crowd=_list_flags(rows, "iscrowd", where, faults),
        difficult=_list_flags(rows, "difficult", where, faults),
        area=[row.get("area") for row in rows] if any(has_area) else None,
        ids=[row.get("id", at) for at, row in enumerate(rows, 1)],
        images=listed,
        classes=sort_ids(names),
        sizes=_read_sizes([image_of[one] for one in listed]),
        files=[str(image_of[one].get("file_name", "")) for one in listed],
        names=names,
        faults=faults,
        where=where,
    )
    if is_path(given) and reading.shape != "box":
        _strip(rows)
    return columns


def _strip(rows: list[Any]) -> None:
    """Free all but the ids of entries of a file: masks and keypoints are large."""
    for row in rows:
        own = {"id": row["id"]} if "id" in row else {}
        row.clear()
        row.update(own)


def read_images(given: Any) -> dict[Hashable, tuple[float, float]]:
    """Read the sizes of images, by id."""
    where, loaded = os.fspath(given) if is_path(given) else "images", _load(given)
    if not isinstance(loaded, Mapping):
        raise FormatError(f"{where}: COCO's JSON has a list of 'images'; got {clip(loaded)}")
    faults: list[str] = []
    rows = _list_rows(loaded, "images", ("id",), where, faults)
    for fault in faults:
        raise FormatError(fault)
    _refuse_twice(rows, where, "image")
    sizes = _read_sizes(rows).tolist()
    return {row["id"]: (width, height) for row, (width, height) in zip(rows, sizes, strict=True)}


def _read_results(given: Any, reading: Reading) -> Columns:
    """Read a detector's results: a list of image_id, category_id, bbox and score."""
    where = os.fspath(given) if is_path(given) else "detections"
    flat = is_path(given) and reading.shape in ("box", "any")
    columns = _read_flat_results(given, reading.shape) if flat else None
    return columns or _list_results(_load(given), where, reading, owned=is_path(given))


def _list_results(loaded: Any, where: str, reading: Reading, *, owned: bool) -> Columns:
    """Make columns of loaded results."""
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
    keys = ("image_id", "category_id", *list_needed(reading.shape, "detections"), "score")
    rows = _list_sound(loaded, keys, lambda at: _locate(where, "detection", loaded, at), faults)
    columns = Columns(
        image=[row["image_id"] for row in rows],
        label=[row["category_id"] for row in rows],
        boxes=[_find_box(row, reading.shape) for row in rows],
        **_list_shapes(rows, reading, truth=False),
        score=[row["score"] for row in rows],
        locate=lambda at: _locate(where, "detection", rows, at, loaded),
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


_BETWEEN = re.compile(rb"\}\s*,\s*\{")  # two detections


def _read_flat_results(path: Any, shape: Shape) -> Columns | None:
    """Read a list of flat objects by Arrow, three times as fast; None for anything else."""
    where, columns = os.fspath(path), _read_arrow_columns(path, shape)
    if columns is None or any(column.null_count for column in columns.values()):
        return None
    boxes = columns["bbox"]
    if len(boxes.flatten()) != 4 * len(boxes) or (np.diff(boxes.offsets.to_numpy()) != 4).any():
        return None
    return Columns(
        image=columns["image_id"].to_numpy(),
        label=columns["category_id"].to_numpy(),
        boxes=boxes.flatten().to_numpy().reshape(-1, 4),
        score=columns["score"].to_numpy(),
        locate=lambda at: f"{where}: detection {at + 1}",
        where=where,
    )


def _read_arrow_columns(path: Any, shape: Shape) -> dict[str, Any] | None:
    """Read the columns of a list of objects by Arrow, an object a line; None for other files."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    data = read_file(path).strip()
    if not _is_utf8(data) or data[:1] != b"[" or data[-1:] != b"]" or len(data) < 3:
        return None
    if shape == "any" and (b'"segmentation"' in data or b'"keypoints"' in data):
        return None
    fields = {
        "image_id": pa.int64(),
        "category_id": pa.int64(),
        "bbox": pa.list_(pa.float64()),
        "score": pa.float64(),
    }
    options = arrow_json.ParseOptions(
        explicit_schema=pa.schema(list(fields.items())), unexpected_field_behavior="ignore"
    )
    lines = pa.BufferReader(_BETWEEN.sub(b"}\n{", memoryview(data)[1:-1]))
    del data  # which is as long as the lines
    try:
        table = arrow_json.read_json(lines, parse_options=options)
    # ids that are text, nested objects, an error
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return {name: table.column(name).combine_chunks() for name in fields}


def _is_utf8(data: bytes) -> bool:
    """Is this text? Arrow does not look at values of keys that it was not asked for."""
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _load(given: Any) -> Any:
    """Load a file; an object of pycocotools has its JSON as ``dataset``."""
    if hasattr(given, "anns"):
        held = {"images": "imgs", "annotations": "anns", "categories": "cats"}
        return getattr(given, "dataset", None) or {
            key: [*getattr(given, name, {}).values()] for key, name in held.items()
        }
    return _load_file(given) if is_path(given) else given


def _load_file(path: Any) -> Any:
    """Load a file of JSON. Raises FormatError for an object that has a key twice."""
    repeated: list[Repeated] = []

    def make(pairs: list[tuple[str, Any]]) -> Any:
        held = make_object(pairs)
        if isinstance(held, Repeated):
            repeated.append(held)
        return held

    loaded = read_json(path, object_pairs_hook=make)
    for one in repeated:
        raise FormatError(
            f"{name_file(path)}: {_find_entry(loaded, one)} has the key {clip(one.key)} twice. Keep"
            " one of them."
        )
    return loaded


def _find_entry(loaded: Any, one: Repeated) -> str:
    """Name the entry of a list that an object is, or is in."""
    lists: dict[str, Any] = {"detection": loaded} if isinstance(loaded, list) else {}
    if isinstance(loaded, dict):
        lists = {noun: loaded.get(key) for key, noun in _NOUNS.items()}
    for noun, rows in lists.items():
        for at, row in enumerate(rows if isinstance(rows, list) else ()):
            if _holds(row, one):
                return f"{noun} {at + 1}"
    return "an object"


def _holds(row: Any, one: Repeated) -> bool:
    inside = row.values() if isinstance(row, dict) else row if isinstance(row, list) else ()
    return row is one or any(_holds(part, one) for part in inside)


_NOUNS = {"images": "image", "categories": "category", "annotations": "annotation"}


def _list_rows(
    loaded: Mapping[str, Any], key: str, needed: Sequence[str], where: str, faults: list[str]
) -> list[Any]:
    rows = loaded.get(key)
    if not isinstance(rows, list):
        raise FormatError(f"{where}: COCO's annotations have a list of '{key}'; got {clip(rows)}")
    return _list_sound(rows, needed, lambda at: _locate(where, _NOUNS[key], rows, at), faults)


def _list_sound(
    rows: list[Any], needed: Sequence[str], locate: Callable[[int], str], faults: list[str]
) -> list[Any]:
    """List the entries that have all keys; the others are faults."""
    wanted = set(needed)
    odd = [
        at for at, row in enumerate(rows) if not isinstance(row, dict) or not wanted <= row.keys()
    ]
    if not odd:
        return list(rows)
    for at in odd:
        row = rows[at]
        if not isinstance(row, dict):
            faults.append(f"{locate(at)} is an object; got {clip(row)}")
        else:
            lost = next(key for key in needed if key not in row)
            faults.append(f"{locate(at)} has no '{lost}': {clip(row)}{_name_overlap(row, lost)}")
    left = set(odd)
    return [row for at, row in enumerate(rows) if at not in left]


def _name_overlap(row: Mapping[str, Any], lost: str) -> str:
    """Name the overlap of what an entry has in place of a box."""
    for key, (noun, overlap, _) in _SHAPES.items() if lost in _SHAPES else ():
        if key != lost and not is_missing(row.get(key)):
            _, own, nouns = _SHAPES[lost]
            return (
                f". It has {noun}, which overlap={overlap} evaluates; overlap={own} needs {nouns}."
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
    odd = [at for at, flag in enumerate(flags) if not _is_flag(flag)]
    faults += [
        f"{_locate(where, 'annotation', rows, at)}: '{key}' is 0 or 1; got {clip(flags[at])}"
        for at in odd
    ]
    return [bool(flag) for flag in flags] if not odd else [False] * len(flags)


def _is_flag(flag: object) -> bool:
    return flag is None or (isinstance(flag, (int, float, np.generic)) and flag in (0, 1))


def _locate(
    where: str, noun: str, rows: Sequence[Any], at: int, listed: Sequence[Any] | None = None
) -> str:
    """Name an entry by its number among those listed, and its id."""
    row = rows[at] if at < len(rows) else None
    if listed is not None and len(listed) > len(rows):
        at = next(i for i, one in enumerate(listed) if one is row)
    own = f" (id {clip(row['id'])})" if isinstance(row, Mapping) and "id" in row else ""
    return f"{where}: {noun} {at + 1}{own}"


def _refuse_twice(rows: list[Any], where: str, noun: str) -> None:
    """Refuse an id that stands twice, or is of a kind that cannot be one; 1.0 is 1."""
    seen: set[Any] = set()
    for at, row in enumerate(rows):
        one = row["id"]
        is_whole = isinstance(one, np.integer) or (isinstance(one, float) and one.is_integer())
        if is_whole:  # some writers make 1.0 of 1
            one = int(one)
            rows[at] = {**row, "id": one}
        if not isinstance(one, (int, str)) or is_boolean(one):
            raise FormatError(
                f"{_locate(where, noun, rows, at)}: an id is a whole number or text; got"
                f" {clip(one)}"
            )
        if one in seen:
            raise FormatError(f"{where}: two entries have the {noun} id {clip(one)}.")
        seen.add(one)


def _read_sizes(images: list[Any]) -> Floats:
    """Read the width and height of images; NaN where there are none."""
    sides = [image.get(side) for image in images for side in ("width", "height")]
    numbers = [
        float(one) if is_finite_number(one) and not is_boolean(one) else np.nan for one in sides
    ]
    return np.array(numbers, float).reshape(-1, 2)
