"""Shapes: masks, keypoints and corners are read here, and the boxes that follow filled in."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from germane.boxes.box_columns import Columns, list_sizes
from germane.boxes.conventions import Conventions, Reading, Shape, Side
from germane.boxes.corners import (
    NUMBERS,
    find_crossed,
    list_box_corners,
    load_shapely,
    make_corners,
    measure_corner_areas,
    surround_corners,
)
from germane.boxes.detections import (
    COCO_SIGMAS,
    Angles,
    BoxFormat,
    Detections,
    Truths,
    find_broken,
    make_boxes,
    measure_extents,
    read_points,
)
from germane.boxes.image_ids import find_ids, has_booleans, is_boolean
from germane.boxes.masks import (
    can_read_masks,
    encode_mask,
    explain_lost_size,
    find_broken_masks,
    is_compressed,
    join_masks,
)
from germane.core.ragged import Floats, Ints
from germane.errors import FormatError, InputError, clip, write_option
from germane.output.tables import write_count
from germane.readers.objects.numbers import is_finite_number, read_doubles

T = TypeVar("T")
NEEDED: dict[Shape, tuple[str, ...]] = {
    "box": ("bbox",), "any": (), "mask": ("segmentation",), "oks": ("keypoints",),
    "oriented": ("bbox",),
}  # fmt: skip
_NOUNS = {"mask": "masks", "oks": "keypoints"}


def list_needed(reading: Reading, side: Side) -> tuple[str, ...]:
    """List the keys of COCO's entries that the shape needs."""
    needs_area = reading.shape == "oks" and reading.area_of != "body" and side == "truth"
    return NEEDED[reading.shape] + ("area",) * needs_area


def read_shapes(columns: Columns, reading: Reading, truths: Truths | None) -> Columns:
    """Read masks and keypoints of columns, and the boxes and areas that follow from them.

    Entries that cannot be read are faults. Where shapes are only tried (``any``), they are left out
    instead. Raises InputError for columns without the shape that is needed.
    """
    if reading.shape in _NOUNS:
        return _read_needed(columns, reading, truths)
    if reading.shape == "oriented":
        return _read_corners(columns, reading, truths)
    if columns.masks is not None and not can_read_masks():
        columns = replace(columns, masks=None)
    if columns.masks is not None:
        read = _read_masks(columns, truths)
        is_whole = len(read.faults) == len(columns.faults)
        columns = read if is_whole else replace(columns, masks=None)
    if columns.keypoints is not None:
        read = _read_keypoints(columns, truths)
        is_whole = len(read.faults) == len(columns.faults)
        is_whole &= truths is not None or columns.area is not None
        columns = read if is_whole else replace(columns, keypoints=None, unseen=None)
    return _fill_boxes(columns)


def _read_needed(columns: Columns, reading: Reading, truths: Truths | None) -> Columns:
    shape = reading.shape
    if (columns.masks if shape == "mask" else columns.keypoints) is None:
        raise InputError(
            f"{columns.where}: overlap={shape} needs {_NOUNS[shape]}, and there are none."
            f" {write_option('overlap', 'iou')} evaluates boxes."
        )
    read = _read_masks if shape == "mask" else _read_keypoints
    columns = _fill_boxes(read(columns, truths))
    if truths is None and columns.area is None:
        if shape == "oks" and reading.area_of != "body" and len(columns):
            raise FormatError(
                f"{columns.where}: {write_option('overlap', 'oks')} needs the area of each"
                " object, to which distances are relative; there is no 'area'."
                f" {write_option('area_of', 'body')} takes .53 of its box, as CrowdPose and"
                " Ultralytics do."
            )
        columns = replace(columns, area=columns.masks.area if shape == "mask" else None)
    return columns


def _find_sizes(columns: Columns, truths: Truths | None) -> tuple[Sequence[Hashable], Ints, Floats]:
    """Find all images, the position of each row's image (N), and their sizes (I + 1, 2).

    The last size, which is unknown, is that of images that are not listed.
    """
    images: Sequence[Hashable]
    if truths is None:
        images, files, typed = columns.list_images(), columns.files, columns.typed
        sizes = list_sizes(columns.sizes, images)
    else:
        images, files, sizes = truths.images, truths.files, truths.sizes
        typed = columns.typed and truths.typed
    image = find_ids(columns.image, images, files, files=True, typed=typed)
    image_sizes = np.full((len(images) + 1, 2), np.nan)
    if sizes is not None:
        image_sizes[:-1] = sizes
    return images, image, image_sizes


def _scale_polygons(raw: Any, size: tuple[float, ...]) -> Any:
    """Scale polygons that are shares of an image; run lengths, and what is none, stay."""
    if not isinstance(raw, list) or any(read_doubles(polygon) is None for polygon in raw):
        return raw
    if np.isnan(size).any():
        raise ValueError(explain_lost_size("polygons need"))
    return [(np.reshape(polygon, (-1, 2)) * size).ravel().tolist() for polygon in raw]


def _read_masks(columns: Columns, truths: Truths | None) -> Columns:
    images, image, image_sizes = _find_sizes(columns, truths)
    rows, relative = image_sizes[image].tolist(), columns.relative
    compressed = any(map(is_compressed, columns.masks))

    def read(place: int, mask: Any) -> dict[str, Any]:
        size = tuple(rows[place])
        return encode_mask(_scale_polygons(mask, size) if relative else mask, size)

    codes, columns = _read_rows(columns, columns.masks, read)
    masks = join_masks(codes)
    broken = find_broken_masks(masks) if compressed else ()
    if len(broken):
        columns = columns.add_faults(
            f"{columns.locate(row)}: the run lengths of the mask do not add up to its pixels"
            for row in map(int, broken)
        )
        sound = np.delete(np.arange(len(masks)), np.asarray(broken))
        masks, columns = masks.take(sound), columns.take(sound)
    if truths is None:
        _, image, _ = _find_sizes(columns, truths)
        lost = np.isnan(image_sizes[image]).any(axis=1) & (image >= 0)
        image_sizes[image[lost]] = masks.size[lost][:, ::-1]
        places = np.flatnonzero(
            (image_sizes[image] != masks.size[:, ::-1]).any(axis=1) & (image >= 0)
        )
        columns = columns.add_faults(
            f"{columns.locate(row)}: the mask differs in size from others of its image"
            for row in places.tolist()
        )
        columns = replace(columns, images=images, sizes=image_sizes[:-1])
    return replace(columns, masks=masks)


def _read_keypoints(columns: Columns, truths: Truths | None) -> Columns:
    points, columns = _read_rows(columns, columns.keypoints, lambda _, raw: read_points(raw))
    count = _count_points(points, truths)
    if faulty := [place for place, point in enumerate(points) if len(point) != 3 * count]:
        return columns.add_faults(
            f"{columns.locate(row)}: {len(points[row]) // 3} keypoints, while others have {count}"
            for row in faulty
        )
    array = np.array(points, float).reshape(-1, count, 3)
    if columns.relative:
        _, image, image_sizes = _find_sizes(columns, truths)
        scale = image_sizes[image]
        lost = np.flatnonzero(np.isnan(scale).any(axis=1))
        if len(lost):
            text = explain_lost_size("relative keypoints need")
            return columns.add_faults([f"{columns.locate(int(lost[0]))}: {text}"])
        array[..., :2] *= scale[:, None]
    unseen = None
    if truths is None:
        counts = [None] * len(points) if columns.unseen is None else list(columns.unseen)
        faulty = [
            place
            for place, number in enumerate(counts)
            if number is not None
            and (is_boolean(number) or not is_finite_number(number) or number < 0)
        ]
        columns = columns.add_faults(
            f"{columns.locate(row)}: num_keypoints is a whole number; got {clip(counts[row])}"
            for row in faulty
        )
        for row in faulty:
            counts[row] = None
        seen = (array[..., 2] > 0).sum(axis=1).tolist()
        unseen = np.array(
            [
                (visible if number is None else number) == 0
                for number, visible in zip(counts, seen, strict=True)
            ],
            bool,
        )
    return replace(columns, keypoints=array, unseen=unseen)


def _read_corners(columns: Columns, reading: Reading, truths: Truths | None) -> Columns:
    """Read oriented boxes, of five or eight numbers; columns of four numbers stay as they are.

    The boxes of an oriented side are those around the corners, and its areas those inside them.
    """
    counts = {len(row) for row in columns.boxes if isinstance(row, (list, tuple, np.ndarray))}
    if counts.isdisjoint(NUMBERS):
        return columns
    angles: Angles = reading.angles or "degrees"
    _, image, image_sizes = _find_sizes(columns, truths)
    sizes, relative, box_format = image_sizes[image], columns.relative, columns.box_format

    def read(place: int, row: Any) -> tuple[Floats, float]:
        numbers = read_doubles(row) if not has_booleans(row) else None
        if numbers is None or len(numbers) not in (4, *NUMBERS):
            raise ValueError(f"an oriented box is 5 or 8 finite numbers; got {clip(row)}")
        return _make_corners(numbers, box_format, angles, sizes[place] if relative else None)

    listed = columns.boxes.tolist() if isinstance(columns.boxes, np.ndarray) else columns.boxes
    rows, columns = _read_rows(columns, list(listed), read)
    corners = np.array([row[0] for row in rows], float).reshape(-1, 4, 2)
    if len(crossed := find_crossed(corners)):
        columns = columns.add_faults(
            f"{columns.locate(row)}: two sides of the box cross: {clip(corners[row].tolist())}."
            " Give its corners in their order around it."
            for row in crossed.tolist()
        )
    area = columns.area
    if truths is None and area is None:
        area = measure_corner_areas(corners)
    has_degrees = angles != "radians" and counts != {8}
    return replace(
        columns,
        boxes=surround_corners(corners),
        box_format="xyxy",
        read_as=None,
        relative=False,
        corners=corners,
        degrees=np.array([row[1] for row in rows]) if has_degrees else None,
        area=area,
    )


def _make_corners(
    numbers: Floats, box_format: BoxFormat, angles: Angles, size: Floats | None
) -> tuple[Floats, float]:
    """Make the corners of one box, also of one without an angle, and give its angle or NaN.

    Numbers are shares of an image where its size is given. Raises ValueError.
    """
    if size is not None and np.isnan(size).any():
        raise ValueError(explain_lost_size("relative boxes need"))
    if len(numbers) == 4:
        boxes = make_boxes(numbers[None] * (1 if size is None else np.tile(size, 2)), box_format)
        if len(find_broken(boxes)):
            raise ValueError(f"the box has a negative size: {clip(numbers.tolist())}")
        return list_box_corners(boxes)[0], math.nan
    if len(numbers) == 8:
        corners = make_corners(numbers[None])[0]
        return corners * (1 if size is None else size), math.nan
    if size is not None:
        raise ValueError(
            "a box with an angle is in pixels, since an angle between shares of width and height is"
            f" another one in the image; got {clip(numbers.tolist())}.  Give"
            f" {write_option('coordinates', 'pixels')}, or x and y of its corners."
        )
    if (numbers[2:4] < 0).any():
        raise ValueError(
            f"the box has a negative size: {clip(numbers.tolist())} (center x, center y, width,"
            " height, angle)"
        )
    return make_corners(numbers[None], angles)[0], float(numbers[4])


def _count_points(points: list[Floats], truths: Truths | None) -> int:
    if truths is not None and truths.keypoints is not None and len(truths):
        return int(truths.keypoints.shape[1])
    return len(points[0]) // 3 if points else len(COCO_SIGMAS)


def _read_rows(
    columns: Columns, raw: Any, read: Callable[[int, Any], T]
) -> tuple[list[T], Columns]:
    """Read every row, and leave out those that cannot be read."""
    out: list[T] = []
    sound, faults = [], []
    for place, cell in enumerate(raw):
        try:
            out.append(read(place, cell))
            sound.append(place)
            raw[place] = None  # which frees what a file had
        except ValueError as error:
            faults.append(f"{columns.locate(place)}: {error}")
    if faults:
        columns = columns.take(np.array(sound, np.int64)).add_faults(faults)
    return out, columns


def _fill_boxes(columns: Columns) -> Columns:
    """Fill in the boxes that are missing: those around the masks or the keypoints."""
    listed = columns.boxes if isinstance(columns.boxes, list) else []
    lost = [place for place, box in enumerate(listed) if is_missing(box)]
    if not lost:
        return columns
    around = _measure_boxes(columns, np.array(lost))
    if around is None:
        return columns
    rows = make_boxes(around).as_array(columns.box_format)
    if len(lost) == len(listed):
        return replace(columns, boxes=rows, boxed=False, relative=False)
    if columns.relative:
        text = f"{columns.locate(lost[0])} has no box, and others have relative ones"
        return columns.add_faults([text])
    filled = list(listed)
    for place, row in zip(lost, rows.tolist(), strict=True):
        filled[place] = row
    return replace(columns, boxes=filled, boxed=lost[0] > 0)  # as the first one


def is_missing(raw: Any) -> bool:
    """Is this no box, mask or keypoints: None, or empty?"""
    if isinstance(raw, np.ndarray):
        return not raw.size
    return raw is None or (isinstance(raw, (list, tuple, dict)) and not raw)


def _measure_boxes(columns: Columns, rows: Any) -> Floats | None:
    if columns.masks is not None:
        boxes: Floats = columns.masks.take(rows).measure_boxes()
        return boxes
    if isinstance(columns.keypoints, np.ndarray):
        return measure_extents(columns.keypoints[rows])
    return None


def refuse_unfit(truths: Truths, detections: Detections, choices: Conventions) -> None:
    """Refuse data without the shapes that the overlap compares, or a sigma for each keypoint."""
    if choices.overlap in ("oriented", "rectangle"):
        load_shapely()
    if choices.overlap not in _NOUNS:
        return
    name = _NOUNS[choices.overlap]
    for side, where in ((truths, truths.where), (detections, detections.name)):
        if getattr(side, name) is None:
            raise InputError(
                f"{where}: overlap={choices.overlap} needs {name}, and there are none."
            )
    if choices.overlap == "oks" and truths.keypoints is not None:
        sigmas, count = choices.sigmas or COCO_SIGMAS, truths.keypoints.shape[1]
        for points, where in (
            (truths.keypoints, truths.where), (detections.keypoints, detections.name),
        ):  # fmt: skip
            if points is not None and len(points) and points.shape[1] != len(sigmas):
                subject = "sigmas has" if choices.sigmas else "COCO's sigmas are for"
                raise InputError(
                    f"{where}: {write_count(count, 'keypoint')} of each object, and {subject}"
                    f" {len(sigmas)}. {write_option('sigmas')} takes a number for each keypoint."
                )
