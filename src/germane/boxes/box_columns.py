"""Truths and detections from columns, which every source hands over: checked here, once."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from germane.boxes.detections import (
    Boxes,
    BoxFormat,
    Detections,
    Truths,
    Verified,
    describe_box,
    find_broken,
    make_boxes,
    take_rows,
)
from germane.boxes.image_ids import (
    describe_mistyped,
    find_file_numbers,
    find_ids,
    get_item,
    has_booleans,
    is_boolean,
    sort_ids,
    translate_ids,
)
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import FormatError, InputError, ScoreError, clip, suggest, write_option
from germane.readers.objects.numbers import is_finite_number

Locate = Callable[[int], str]  # position of a box → how an error names it, with its file
Sizes = Mapping[Hashable, tuple[float, float]]  # of images: width and height, NaN where unknown


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Columns:
    """One box a row, as a source has it. Images and classes are given by their ids."""

    image: Sequence[Any] | Ints
    label: Sequence[Any] | Ints
    boxes: Any  # (N, 4)
    locate: Locate
    box_format: BoxFormat = "xywh"
    read_as: BoxFormat | None = None  # the source's format, where it converts boxes itself
    relative: bool = False  # are the numbers shares of the image's width and height?
    score: Any = None  # N, of detections
    crowd: Any = None  # N, of truths; None: none is one
    difficult: Any = None
    levels: Ints | None = None  # N, of truths: the first of KITTI's levels that has it
    area: Any = None  # N, or None for the areas of the boxes
    masks: Any = None  # N, as the source has them; Masks once they are read
    keypoints: Any = None  # N, of x, y and visibility of each
    corners: Floats | None = None  # (N, 4, 2): of oriented boxes
    degrees: Floats | None = None  # N, the angles of oriented boxes, where they are in degrees
    turned: Bools | None = None  # N, is the box one around a turned rectangle?
    unseen: Any = None  # N, of truths: has the object no visible keypoint?
    flagged: Any = None  # N, of truths: has it the key ignore?
    boxed: bool = True  # does the source give boxes?
    ids: Sequence[Hashable] | None = None
    images: Sequence[Hashable] | None = None  # all images in their order; None: those of the boxes
    classes: Sequence[Hashable] | None = None
    sizes: Sizes | Floats | None = None
    files: Sequence[str] = ()  # of the images, beside their ids
    names: Mapping[Hashable, str] | None = None  # of classes, by id
    absent: Mapping[Hashable, Sequence[Any]] | None = None  # by image: classes that it lacks
    partial: Mapping[Hashable, Sequence[Any]] | None = None  # not all of these are annotated
    lacking: str = ""  # an image that has no such lists, where others have
    frequencies: Mapping[Hashable, str] | None = None  # of classes, by id
    faults: Sequence[str] = ()  # entries that cannot be read, as an error names them
    twice: Sequence[str] = ()  # ids that several entries have, as an error says it
    where: str = "the truth"
    typed: bool = True  # do ids have types, or are all of them text, as in a file of text?

    def __len__(self) -> int:
        return len(self.image)

    def take(self, rows: Ints) -> "Columns":
        """Select rows by position."""
        chosen = take_rows(self, _ROWS, rows)
        return replace(self, locate=lambda row: self.locate(int(rows[row])), **chosen)

    def list_images(self) -> list[Hashable]:
        """List all images, or those of the boxes."""
        return sort_ids(self.image) if self.images is None else list(self.images)

    def list_classes(self) -> list[Hashable]:
        """List all classes, or those of the boxes."""
        return sort_ids(self.label) if self.classes is None else list(self.classes)

    def add_faults(self, faults: Iterable[str]) -> "Columns":
        """Add faults to those of the source."""
        return replace(self, faults=[*self.faults, *faults])


_ROWS = (
    "image", "label", "boxes", "score", "crowd", "difficult", "area", "ids", "masks", "keypoints",
    "unseen", "flagged", "corners", "degrees", "turned", "levels",
)  # fmt: skip


def make_truths(columns: Columns) -> Truths:
    """Make truths of columns. Raises InputError for broken boxes and ids that are not listed."""
    _refuse_faults(columns)
    count = len(columns)
    images, classes = columns.list_images(), columns.list_classes()
    for ids, noun in ((images, "images"), (classes, "classes")):
        _refuse_mixed(ids, noun, columns.where)
    names = [str((columns.names or {}).get(label, label)) for label in classes]
    image, label = (
        _number_ids(
            raw, known_ids, noun, columns, spelled, f"the list of {plural}", typed=columns.typed
        )
        for raw, known_ids, noun, spelled, plural in (
            (columns.image, images, "image", columns.files, "images"),
            (columns.label, classes, "class", names, "classes"),
        )
    )
    sizes = list_sizes(columns.sizes, images)
    boxes = _make_sound_boxes(columns, image, sizes)
    return Truths(
        images,
        classes,
        boxes,
        image,
        label,
        _read_flags(columns.crowd, count),
        _read_flags(columns.difficult, count),
        boxes.measure_areas() if columns.area is None else _read_numbers(columns, "area"),
        list(range(1, count + 1)) if columns.ids is None else columns.ids,
        names,
        sizes,
        columns.where,
        columns.files,
        columns.typed,
        columns.masks,
        columns.keypoints,
        columns.unseen,
        None if columns.flagged is None else _read_flags(columns.flagged, count),
        _number_verified(columns, images, classes),
        columns.corners,
        columns.levels,
        [columns.frequencies.get(label, "") for label in classes] if columns.frequencies else (),
    )


def _number_verified(
    columns: Columns, images: Sequence[Hashable], classes: Sequence[Hashable]
) -> Verified | None:
    """Number the classes in images that are known to be absent, or not all annotated."""
    if columns.absent is None or columns.partial is None:
        return None
    groups = []
    for listed in (columns.absent, columns.partial):
        pairs = [(image, class_id) for image, class_ids in listed.items() for class_id in class_ids]
        image, label = (
            find_ids([pair[side] for pair in pairs], known_ids)
            for side, known_ids in enumerate((images, classes))
        )
        groups.append(np.unique((label * len(images) + image)[(image >= 0) & (label >= 0)]))
    return Verified(groups[0], groups[1], columns.lacking)


def make_detections(columns: Columns, truths: Truths, name: str) -> Detections:
    """Make detections of columns. Raises InputError for broken boxes and unknown images."""
    _refuse_faults(columns)
    all_found = len(np.unique(truths.image)) == len(truths.images)  # which a frame's images are
    hint = f"{write_option('images')} lists images, also those without truths." if all_found else ""
    image = _number_ids(
        columns.image, truths.images, "image", columns, truths.files, hint=hint,
        typed=columns.typed and truths.typed,
    )  # fmt: skip
    sizes = truths.sizes
    if columns.relative and columns.sizes is not None:
        column_sizes = list_sizes(columns.sizes, truths.images)
        sizes = (
            column_sizes
            if sizes is None or column_sizes is None
            else np.where(np.isnan(sizes), column_sizes, sizes)
        )
    boxes = _make_sound_boxes(columns, image, sizes)
    label, unknown = match_classes(columns, truths)
    _refuse_mistyped(columns, label, truths.classes)
    score = _read_numbers(columns, "score")
    return Detections(
        boxes,
        image,
        label,
        score,
        np.arange(len(columns)),
        name,
        unknown,
        columns.masks,
        columns.keypoints,
        columns.boxed,
        columns.corners,
    )


def match_classes(columns: Columns, truths: Truths) -> tuple[Ints, list[Hashable]]:
    """Match classes with the truths': by name where both sides have names, else by id.

    Returns their positions (N), -1 for others, and these others.
    """
    labels: Any = columns.label
    if columns.names:
        named = translate_ids(labels, columns.names)
        if (find_ids(named, truths.class_names) >= 0).any():
            labels = named
    by_name = labels is not columns.label and len(set(truths.class_names)) == len(truths.classes)
    spellings = (truths.class_names,) if by_name else (truths.classes, truths.names)
    label = find_ids(labels, *spellings, typed=columns.typed and truths.typed)
    unlisted = np.flatnonzero(label < 0)
    strangers = (get_item(labels, i) for i in unlisted.tolist())
    unknown = (
        stranger if isinstance(stranger, Hashable) else clip(stranger) for stranger in strangers
    )
    return label, list(dict.fromkeys(unknown))


def list_sizes(raw: Sizes | Floats | None, images: Sequence[Hashable]) -> Floats | None:
    """List width and height of images (I, 2), with NaN where there are none."""
    if raw is None or isinstance(raw, np.ndarray):
        return raw
    place = find_ids(images, list(raw), files=True, typed=False)
    listed_sizes = np.array([*raw.values(), (np.nan, np.nan)], float)
    return listed_sizes[place]


def _refuse_faults(columns: Columns) -> None:
    if columns.faults:
        count_text = f"  ({len(columns.faults)} such entries.)" if len(columns.faults) > 1 else ""
        raise FormatError(columns.faults[0] + count_text)
    if columns.twice:
        count_text = f" ({len(columns.twice)} such ids.)" if len(columns.twice) > 1 else ""
        raise FormatError(columns.twice[0] + count_text)


def scale_boxes(columns: Columns, image: Ints, sizes: Floats | None) -> Any:
    """Scale relative boxes to pixels. Raises InputError for an image without a size."""
    if not columns.relative:
        return columns.boxes
    image_sizes = np.full((len(image), 2), np.nan) if sizes is None else sizes[image]
    lost = np.flatnonzero(np.isnan(image_sizes).any(axis=1))
    if len(lost):
        raise InputError(
            f"{columns.locate(int(lost[0]))}: relative boxes need the size of their image, and the"
            f" size of image {clip(get_item(columns.image, int(lost[0])))} is not known."
            f" {write_option('images')} takes sizes, as {{image: (width, height)}}, a file of them,"
            " or a folder of pictures."
        )
    try:
        return read_array(columns.boxes).reshape(-1, 4) * np.tile(image_sizes, 2)
    except (TypeError, ValueError):
        return columns.boxes  # which the reading of boxes refuses


def read_array(raw: Any) -> Floats:
    """Read numbers. Raises TypeError or ValueError for text, truth values and uneven rows."""
    if has_booleans(raw):
        raise TypeError
    if np.ma.is_masked(raw):
        raise FormatError(
            "a masked cell is not a number. Give the rows that are not masked, such as"
            " boxes[~mask]."
        )
    array = np.asarray(raw)
    if array.dtype.kind == "O" and all(is_finite_number(number) for number in array.flat):
        array = array.astype(float)  # whole numbers of more than 64 bits
    if array.dtype.kind not in "iuf":
        raise TypeError
    return array.astype(float, copy=False)


def _make_sound_boxes(columns: Columns, image: Ints, sizes: Floats | None) -> Boxes:
    scaled = scale_boxes(columns, image, sizes)
    try:
        boxes = make_boxes(read_array(scaled), columns.box_format)
    except (TypeError, ValueError):
        row, box = _find_odd_box(columns.boxes)
        raise FormatError(
            f"{columns.locate(row)}: a box is 4 numbers ({columns.box_format}); got"
            f" {clip(box)}{explain_numbers(box)}"
        ) from None
    if len(broken := find_broken(boxes)):
        row = int(broken[0])
        if not (boxes.width[row] < 0 or boxes.height[row] < 0):
            sides = (boxes.left, boxes.top, boxes.width, boxes.height)
            is_finite = all(np.isfinite(side[row]) for side in sides)
            text = f"{describe_box(boxes, row)} (x, y, width, height) has a " + (
                "right or lower side that is too large."
                if is_finite
                else "number that is not finite."
            )
        else:
            text = (
                f"the box has a negative size: {describe_box(boxes, row)} (x, y, width, height,"
                f" read as {columns.read_as or columns.box_format}). Is it in another format?"
                " box_format takes xywh, xyxy or cxcywh."
            )
        raise FormatError(f"{columns.locate(row)}: {text}")
    return boxes


def explain_numbers(box: Any) -> str:
    """Say what evaluates a box of more numbers; "" for others."""
    count = len(box) if isinstance(box, (list, tuple, np.ndarray)) else 0
    shape = {5: "an angle", 8: "four corners"}.get(count)
    if shape is None:
        return ""
    return f". {write_option('overlap', 'oriented')} evaluates boxes with {shape}."


def _find_odd_box(boxes: Any) -> tuple[int, Any]:
    """Find the first box that is not 4 numbers."""
    for place, box in enumerate(boxes):
        try:
            if len(read_array(box)) == 4:
                continue
        except (TypeError, ValueError):
            pass
        return place, box
    return 0, boxes


def _number_ids(
    raw: Any,
    known_ids: Sequence[Hashable],
    noun: str,
    columns: Columns,
    names: Sequence[str] = (),
    where: str = "the truth",
    hint: str = "",
    *,
    typed: bool,
) -> Ints:
    """Turn ids into positions among those known. Raises InputError with the nearest."""
    numbers = find_ids(raw, known_ids, names, files=noun == "image", typed=typed)
    unknown = np.flatnonzero(numbers < 0)
    if len(unknown):
        row = int(unknown[0])
        item = get_item(raw, row)
        if text := describe_mistyped(
            item, known_ids, f"{'an' if noun == 'image' else 'a'} {noun}", where
        ):
            raise FormatError(f"{columns.locate(row)}: {text}")
        near = suggest(str(item), map(str, known_ids))
        advice = f" ({len(unknown)} such boxes.)" if len(unknown) > 1 else ""
        if noun == "image":
            advice += _explain_file_number(raw, row, known_ids, names) or _explain_shift(
                raw, known_ids
            )
        advice += " " * bool(hint) + hint
        raise InputError(
            f"{columns.locate(row)}: there is no {noun} {clip(item)} in {where}.{near}{advice}"
        )
    return numbers


def _explain_file_number(
    raw: Any, row: int, known_ids: Sequence[Hashable], names: Sequence[str]
) -> str:
    """Say that an unknown id is the number of a file, where others are not; or nothing."""
    numbers = find_file_numbers(raw, known_ids, names)
    if numbers[row] < 0:
        return ""
    unmatched = int((numbers < 0).sum())
    name = names[numbers[row]] if names else known_ids[numbers[row]]
    return (
        f" It is the number of the file {clip(name)}, whose id is {clip(known_ids[numbers[row]])};"
        f" but for {unmatched} of {len(numbers)} boxes, no file of the truth has their number."
    )


def _explain_shift(raw: Any, known_ids: Sequence[Hashable]) -> str:
    """Say that all ids would be known if they were one less or one more; or nothing."""
    listed = raw.tolist() if isinstance(raw, np.ndarray) else raw
    if not all(isinstance(identifier, int) for identifier in (*listed, *known_ids)):
        return ""
    ids = set(listed)
    for by, how in ((-1, "less"), (1, "more")):
        if {identifier + by for identifier in ids} <= set(known_ids):
            return f" All ids are known if each is 1 {how}: do both sides number from 0, or from 1?"
    return ""


def _refuse_mixed(ids: Sequence[Hashable], noun: str, where: str) -> None:
    """Refuse ids that are a number in one place and text in another."""
    texts = {identifier for identifier in ids if isinstance(identifier, str)}
    for identifier in ids if texts else ():
        if not isinstance(identifier, str) and str(identifier) in texts:
            raise FormatError(
                f"{where}: the ids of {noun} are numbers and text: {clip(identifier)} and"
                f" {clip(str(identifier))}. Write all of them in the same way."
            )


def _refuse_mistyped(columns: Columns, label: Ints, known_ids: Sequence[Hashable]) -> None:
    """Refuse unknown classes that are truth values, or numbers where the truth has text."""
    seen: set[Hashable] = set()
    for row in np.flatnonzero(label < 0).tolist():
        item = get_item(columns.label, row)
        if not isinstance(item, Hashable) or (item in seen and not is_boolean(item)):
            continue
        seen.add(item)
        if text := describe_mistyped(item, known_ids, "a class", "the truth"):
            raise FormatError(f"{columns.locate(row)}: {text}")


def _read_flags(raw: Any, count: int) -> Any:
    if raw is None:
        return np.zeros(count, bool)
    return np.asarray(raw).astype(bool)


def _read_numbers(columns: Columns, name: str) -> Floats:
    """Read a column of finite numbers. Raises ScoreError or FormatError with the place."""
    column = getattr(columns, name)
    kind = ScoreError if name == "score" else FormatError
    try:
        numbers = read_array(column)
        if numbers.shape != (len(columns),):  # a list for each
            raise TypeError
        places = np.flatnonzero(~np.isfinite(numbers))
        row = int(places[0]) if len(places) else None
    except (TypeError, ValueError):
        rows = enumerate(column)
        row = next((i for i, cell in rows if is_boolean(cell) or not is_finite_number(cell)), 0)
    if row is not None:
        raise kind(
            f"{columns.locate(row)}: the {name} must be a finite number; got"
            f" {clip(get_item(column, row))}"
        )
    if name == "score":
        _refuse_rounded(columns, numbers)
    elif (numbers < 0).any():
        row = int(np.flatnonzero(numbers < 0)[0])
        raise FormatError(
            f"{columns.locate(row)}: the {name} is negative: {clip(get_item(column, row))}. Correct"
            " it, or leave out all areas for those of the boxes."
        )
    return numbers


def _refuse_rounded(columns: Columns, numbers: Floats) -> None:
    """Refuse whole scores that floating point rounds: it could change their order."""
    for row in np.flatnonzero(np.abs(numbers) >= 2**53).tolist():
        item = get_item(columns.score, row)
        if isinstance(item, (int, np.integer)) and int(item) != int(numbers[row]):
            raise ScoreError(
                f"{columns.locate(row)}: the score {clip(item)} is too long for floating point,"
                " which would round it. Give scores below 9007199254740992."
            )
