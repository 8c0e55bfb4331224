"""Checks of each side alone: boxes, ids, areas and scores that are broken, and other formats."""

from collections.abc import Iterable

import numpy as np

from germane.boxes.checks.sides import BoxData
from germane.boxes.detections import BOX_FORMATS, Boxes, BoxFormat, make_boxes
from germane.boxes.image_ids import describe_mistyped, get_item
from germane.boxes.sources import Sheet
from germane.checks.faulty_rows import Problem, Sees
from germane.core.finding import show_ids
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import clip, write_option
from germane.output.tables import write_count

SLACK = 2.0  # pixels by which a box may leave its image
MOST = 10  # images with truths, below which it says nothing that most have no detection
FEW = 5  # detections, below which equal scores say nothing
LARGEST = 1e6  # pixels; no image is wider or higher
MANY = 2_000  # masks or keypoints that are looked at
TIMES = 10  # the width and height of its image that a box may have
GAPS = {"truth": 0, "detections": 15}  # pixels beside an image in which small boxes may lie
EMPTIED = 0.1  # of images that an option leaves without detections: no accident
SHARE = 0.3  # of boxes that repeat another one, from which on it is no accident


# --- What evaluate refuses ---------------------------------------------------------------------


def find_malformed(sheet: Sheet, data: BoxData) -> Sees:
    """Find entries that cannot be read, and boxes that lack four finite numbers."""
    faults = sheet.columns.faults if sheet.columns else ()
    if faults:
        text = f"{write_count(len(faults), 'entry')} cannot be read"
        yield Problem(text, len(faults), tuple(faults[:3]))
    yield from sheet.report(~sheet.finite, "lack four finite numbers")


def find_repeated_ids(sheet: Sheet, data: BoxData) -> Sees:
    """Find ids that several images, categories or annotations have."""
    twice = sheet.columns.twice if sheet.columns else ()
    if twice:
        count = write_count(len(twice), "id is", "ids are")
        text = f"{count} used more than once among images, categories or annotations"
        yield Problem(text, len(twice), tuple(twice[:3]))


def find_swapped(sheet: Sheet, data: BoxData) -> Sees:
    """Find corners in the wrong order, so that a box has a negative size."""
    if sheet.box_format == "xyxy":
        yield from sheet.report(sheet.negative, "have the right or lower corner first")


def find_negative(sheet: Sheet, data: BoxData) -> Sees:
    """Find negative widths and heights."""
    if sheet.box_format != "xyxy":
        yield from sheet.report(sheet.negative, "have a negative size")


def find_negative_areas(sheet: Sheet, data: BoxData) -> Sees:
    """Find areas that are negative or not finite."""
    if sheet.area is not None:
        with np.errstate(invalid="ignore"):
            broken = (sheet.area < 0) | ~np.isfinite(sheet.area)
        yield from sheet.report(broken, "have an area that is negative or not finite")


def find_mistyped(sheet: Sheet, data: BoxData) -> Sees:
    """Find ids that are text where the truth has numbers, or the reverse, and truth values."""
    for column, raw_ids, known_ids, noun in _list_ids(sheet, data):
        faults: dict[int, str] = {}
        for row in np.flatnonzero(column < 0).tolist():
            if text := describe_mistyped(get_item(raw_ids, row), known_ids, noun, "the truth"):
                faults[row] = text
        if faults:
            rows = np.array(list(faults))
            yield Problem(faults[rows[0]].partition(". ")[0], len(rows), sheet.show(rows))


def find_unknown_images(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes of images that the truth does not list."""
    yield from _report_unknown(sheet, data, "images")


def find_unknown_classes(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes of classes that the truth does not list."""
    yield from _report_unknown(sheet, data, "classes")


def _list_ids(sheet: Sheet, data: BoxData) -> Iterable[tuple[Ints, object, list[object], str]]:
    """List the ids of images and of classes: positions, ids as given, those known, and a noun."""
    if sheet.columns is not None:
        yield sheet.image, sheet.columns.image, list(data.truths.images), "an image"
        yield sheet.label, sheet.columns.label, list(data.truths.classes), "a class"


def _report_unknown(sheet: Sheet, data: BoxData, nouns: str) -> Sees:
    for column, raw_ids, known_ids, noun in _list_ids(sheet, data):
        if noun != {"images": "an image", "classes": "a class"}[nouns]:
            continue
        rows = [
            row
            for row in np.flatnonzero(column < 0).tolist()
            if not describe_mistyped(get_item(raw_ids, row), known_ids, noun, "the truth")
        ]
        if rows:
            ids = dict.fromkeys(clip(get_item(raw_ids, i)) for i in rows)
            are = "is" if len(rows) == 1 else "are"
            all_boxes = write_count(len(column), "box")
            text = f"{len(rows):,} of {all_boxes} {are} of {nouns} that the truth does not list"
            shown = sheet.show(np.array(rows))
            yield Problem(f"{text}: {', '.join([*ids][:3])}", len(rows), shown)


def find_odd_scores(sheet: Sheet, data: BoxData) -> Sees:
    """Find scores that are not finite numbers."""
    if sheet.score is not None:
        yield from sheet.report(~np.isfinite(sheet.score), "have a score that is not finite")


# --- Boxes --------------------------------------------------------------------------------------


def find_huge(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that are longer than any image: 10 times their own, or a million pixels."""
    sides = np.column_stack((sheet.boxes.width, sheet.boxes.height))
    with np.errstate(invalid="ignore", over="ignore"):
        limit = np.where(np.isnan(sheet.sizes), LARGEST, TIMES * sheet.sizes)
        huge = np.asarray((sides > limit).any(axis=1)) & sheet.sound
    yield from sheet.report(huge, "have sides that are longer than those of any image")


def find_apart(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that lie wholly outside their image; detections by more than 15 pixels."""
    boxes, gap = sheet.boxes, GAPS[sheet.side]
    with np.errstate(invalid="ignore"):
        beyond = (boxes.left - gap > sheet.sizes[:, 0]) | (boxes.top - gap > sheet.sizes[:, 1])
        apart = (beyond | (boxes.right < -gap) | (boxes.bottom < -gap)) & sheet.sound
    yield from sheet.report(apart, "lie wholly outside the image")


def find_outside(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that leave their image by more than 2 pixels."""
    with np.errstate(invalid="ignore"):
        outside = leave(sheet.boxes, sheet.sizes, SLACK) & sheet.sound
    yield from sheet.report(outside, "leave the image by more than 2 pixels")


def leave(boxes: Boxes, sizes: Floats, slack: Floats | float) -> Bools:
    """Mark boxes that leave their image by more than the slack, or have a negative size."""
    low = np.column_stack((boxes.left, boxes.top))
    high = np.column_stack((boxes.right, boxes.bottom))
    return np.asarray(((low < -slack) | (high > sizes + slack) | (high < low)).any(axis=1))


def find_empty(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes without width or height, which overlap nothing unless the last pixel counts."""
    if data.truths.keypoints is not None:  # which are compared in the place of boxes
        return
    flat = (sheet.boxes.width == 0) | (sheet.boxes.height == 0)
    if sheet.masks is not None:  # an empty one has no box either
        flat &= sheet.masks.area > 0
    yield from sheet.report(sheet.sound & flat, "have no width or no height")


def find_empty_masks(sheet: Sheet, data: BoxData) -> Sees:
    """Find masks without pixels, which overlap nothing."""
    if sheet.masks is not None:
        yield from sheet.report(np.asarray(sheet.masks.area == 0), "have a mask without pixels")


def find_elsewhere(sheet: Sheet, data: BoxData) -> Sees:
    """Find most masks or keypoints outside the boxes of their objects, by half a side or more."""
    sized = sheet.sound & (sheet.boxes.width > 0) & (sheet.boxes.height > 0)
    rows = np.flatnonzero(sized)
    rows = rows[:: max(len(rows) // MANY, 1)]
    if len(rows) < FEW:
        return
    if sheet.masks is not None:
        noun, (left, top, wide, high) = "masks", sheet.masks.take(rows).measure_boxes().T
        x = np.where(wide > 0, left + wide / 2, np.nan)[:, None]  # an empty mask is nowhere
        y, seen = (top + high / 2)[:, None], np.ones((len(rows), 1), bool)
    elif sheet.keypoints is not None:
        noun, points = "keypoints", sheet.keypoints[rows]
        x, y, seen = points[..., 0], points[..., 1], points[..., 2] > 0
    else:
        return
    boxes = sheet.boxes.take(rows)
    low = np.column_stack((boxes.left - boxes.width / 2, boxes.top - boxes.height / 2))
    high = np.column_stack((boxes.right + boxes.width / 2, boxes.bottom + boxes.height / 2))
    inside = (x >= low[:, :1]) & (x <= high[:, :1]) & (y >= low[:, 1:]) & (y <= high[:, 1:])
    stray_rows = rows[(seen & ~inside).sum(axis=1) > seen.sum(axis=1) / 2]
    if len(stray_rows) > len(rows) / 2:
        text = (
            f"the {noun} of {len(stray_rows):,} of {len(rows):,} objects lie outside their"
            f" boxes{', or are empty' * (noun == 'masks')}"
        )
        yield Problem(text, len(stray_rows), sheet.show(stray_rows))


def find_odd_areas(sheet: Sheet, data: BoxData) -> Sees:
    """Find areas that are above twice the box, next to nothing, or the same for all boxes."""
    if sheet.area is None:
        return
    wide, high = sheet.boxes.width, sheet.boxes.height
    with np.errstate(invalid="ignore", over="ignore"):
        box, rim = wide * high, (wide + 1) * (high + 1)
        measured = sheet.sound & (box > 1) & np.isfinite(box) & (sheet.area >= 0)
        small = measured & (sheet.area < box / 50)
        if small.sum() <= measured.sum() / 2:  # thin objects
            small &= (sheet.area < box / 1000) & (box >= 100)
        doubtful = small | (measured & (sheet.area > 2 * rim))
    if (
        measured.sum() >= FEW
        and len(set(sheet.area[measured].tolist())) == 1
        and _differ(box[measured])
    ):
        text = f"all areas are {sheet.area[measured][0]:g}, although the boxes differ in size"
        yield Problem(text, int(measured.sum()), sheet.show(np.flatnonzero(measured)))
        return
    yield from sheet.report(doubtful, "have an area that is far from that of the box")


def _differ(sizes: Floats) -> bool:
    """Say whether the largest boxes are twice the smallest, but for a tenth at each end."""
    low, high = np.quantile(sizes, (0.1, 0.9))
    return bool(high > 2 * low)


def find_repeated(sheet: Sheet, data: BoxData) -> Sees:
    """Find duplicate boxes: of the same image and class, and with the same score if any."""
    yield from sheet.report(sheet.repeated, "repeat another one of the same image and class")


def find_all_repeated(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes of which most are given twice."""
    count = sheet.repeated.sum()
    if count >= FEW and count >= SHARE * sheet.sound.sum():
        yield from find_repeated(sheet, data)


# --- Scores -------------------------------------------------------------------------------------


def find_constant(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections that all have the same score."""
    score = sheet.score
    if score is not None and len(score) >= FEW and (score == score[0]).all():
        yield Problem(f"all {len(score):,} detections have the score {score[0]:g}", len(score))


def find_scores_beyond(sheet: Sheet, data: BoxData) -> Sees:
    """Find scores that are not between 0 and 1."""
    if sheet.score is not None:
        with np.errstate(invalid="ignore"):
            yield from sheet.report(
                (sheet.score < 0) | (sheet.score > 1), "have a score beyond 0 to 1"
            )


# --- Images and classes -------------------------------------------------------------------------


def find_images_without(sheet: Sheet, data: BoxData) -> Sees:
    """Find images without a box."""
    yield from _report_without(sheet.image, data.truths.images, "image")


def find_most_without(sheet: Sheet, data: BoxData) -> Sees:
    """Find images with truths but no detection, if they are nine tenths or more."""
    sought = np.unique(data.truth.image[data.truth.sound])
    lost = np.setdiff1d(sought, sheet.image)
    if len(sought) >= MOST and len(lost) >= 0.9 * len(sought):
        images = [data.truths.images[i] for i in lost.tolist()]
        text = f"{len(lost):,} of {write_count(len(sought), 'image')} with truths have no detection"
        yield Problem(text, len(lost), show_ids(images))


def find_emptied(sheet: Sheet, data: BoxData) -> Sees:
    """Find options that leave a tenth or more of the images with truths without detections.

    The confidence of a measure is such an option if it leaves none.
    """
    filled = np.intersect1d(data.truth.image[data.truth.sound], sheet.image[sheet.sound])
    taken = {}
    if sheet.score is not None and len(filled):
        low, high = sheet.score[sheet.sound].min(), sheet.score[sheet.sound].max()
        text = f"Scores go from {low:g} to {high:g}."
        taken = {name: (sheet.score < least, text) for name, least in data.lowest.items()}
    if data.unknown == "ignore" and len(filled):
        text = (
            f"Do both sides name classes alike? {write_option('class_names')} names classes"
            " that are numbers."
        )
        taken[write_option("unknown", "ignore")] = (sheet.label < 0, text)
    for option, (without, advice) in taken.items():
        lost = np.setdiff1d(filled, sheet.image[~without])
        if len(lost) >= len(filled) * (1 if "(" in option else EMPTIED):
            images = write_count(len(lost), "image")
            text = (
                f"{option} leaves {images} without detections, out of {len(filled):,} that had some"
            )
            shown = show_ids(data.truths.images[i] for i in lost.tolist())
            yield Problem(text, len(lost), shown, advice)


def find_classes_without(sheet: Sheet, data: BoxData) -> Sees:
    """Find classes without a box."""
    yield from _report_without(sheet.label, data.truths.class_names, "class")


def _report_without(present: Ints, known_ids: Iterable[object], noun: str) -> Sees:
    ids = list(known_ids)
    missing = np.setdiff1d(np.arange(len(ids)), present)
    if len(missing):
        verb = "has" if len(missing) == 1 else "have"
        shown = show_ids(ids[i] for i in missing.tolist())
        text = f"{len(missing):,} of {write_count(len(ids), noun)} {verb} no box"
        yield Problem(text, len(missing), shown)


# --- Checks of how boxes were read: another format, and numbers relative to the image -------------

FEW_BOXES = 10  # boxes, below which formats are not compared
SOME = 20  # boxes, below which no pattern of their numbers is looked for
SHARE_OUTSIDE = 0.02  # of boxes that leave their image, from which on another format is looked for
MANY_BOXES = 20_000  # boxes that are looked at for another format
SOON = 0.6  # of a box's end: a box that begins behind it begins shortly before its end
RELATIVE = 2  # no relative number is larger, and boxes in pixels are


def find_relative(sheet: Sheet, data: BoxData) -> Sees:
    """Find numbers relative to the image that were taken for pixels."""
    numbers = sheet.boxes.as_array(sheet.box_format)[sheet.finite]
    if sheet.relative or not len(numbers) or np.abs(numbers).max() > RELATIVE:
        return
    if np.mean(np.abs(numbers) <= 1.01) > 0.9 and (numbers != np.round(numbers)).any():
        yield Problem(
            "the numbers of boxes are between 0 and 1: relative coordinates are read as pixels",
            len(numbers),
            advice=(
                f"Use {write_option('coordinates', {sheet.side: 'relative'})}, and give the"
                f" sizes of images with {write_option('images')}."
            ),
        )


def find_pixels(sheet: Sheet, data: BoxData) -> Sees:
    """Find pixels that were taken for numbers relative to the image."""
    if sheet.relative and len(sheet.image):
        ends = np.column_stack((sheet.boxes.right, sheet.boxes.bottom))
        far = np.asarray((ends > 2 * sheet.sizes).any(axis=1))
        if far.sum() > len(far) / 2:
            text = "go beyond twice the size of the image: pixels are read as relative coordinates"
            for problem in sheet.report(far, text):
                advice = f"Use {write_option('coordinates', {sheet.side: 'pixels'})}."
                yield Problem(problem.text, problem.count, problem.examples, advice)


def find_other_format(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that fit the truths, or their images, much better in another format."""
    if data.best_reading is not None:
        yield from _name_reading(sheet, data)
        return
    sized = sheet.finite & ~np.isnan(sheet.sizes).any(axis=1)
    if 2 * sized.sum() < len(sized) or sized.sum() < FEW_BOXES:
        yield from _find_corners(sheet)
        return
    rows = np.flatnonzero(sized)
    rows = rows[:: -(-len(rows) // MANY_BOXES)]
    numbers, sizes = sheet.boxes.take(rows).as_array(sheet.box_format), sheet.sizes[rows]
    counts = {
        box_format: int(leave(make_boxes(numbers, box_format), sizes, 0.02 * sizes + SLACK).sum())
        for box_format in BOX_FORMATS
    }
    now = counts[sheet.box_format]
    best_format = min(BOX_FORMATS, key=counts.__getitem__)
    if now > max(FEW_BOXES / 2, SHARE_OUTSIDE * len(numbers)) and counts[best_format] < now / 10:
        shares = [
            counts[box_format] / len(numbers) for box_format in (sheet.box_format, best_format)
        ]
        yield _name_format(
            sheet, best_format,
            f"read as {sheet.box_format}, {shares[0]:.0%} of the boxes leave their image "
            f"or have a negative size; read as {best_format}, {shares[1]:.0%}", now,
        )  # fmt: skip


def _name_reading(sheet: Sheet, data: BoxData) -> Sees:
    """Name the formats that fit much better; of two sides, the truth says it."""
    reading, before, after = data.best_reading or ((), 0.0, 0.0)
    changed = {
        part.side: to
        for part, to in zip((data.truth, data.detections), reading, strict=True)
        if to != part.box_format
    }
    if sheet.side == next(iter(changed)):
        wording = " and ".join(
            f"the {'truths' if side == 'truth' else side} read as {to}"
            for side, to in changed.items()
        )
        yield Problem(
            "read as"
            f" {' and '.join(dict.fromkeys((data.truth.box_format, data.detections.box_format)))},"
            f" boxes and truths overlap by {before:.2f} on average; with {wording}, by {after:.2f}",
            len(sheet.image),
            advice=f"{write_option('box_format', changed)} reads them that way.",
        )


def _find_corners(sheet: Sheet) -> Sees:
    """Find corners that were taken for sizes, where the sizes of images are not known.

    No box then ends before it begins, and many end soon. Where objects are large and in the middle,
    no box is narrower than its distance from the left, either, but most are much wider.
    """
    x, y, width, height = sheet.boxes.as_array()[sheet.finite].T
    if sheet.box_format != "xywh" or len(x) < SOME or not ((width >= x) & (height >= y)).all():
        return
    if min(np.mean(x > SOON * width), np.mean(y > SOON * height)) > 0.25:
        text = "no box is narrower than its distance from the left, or lower than that from the top"
        yield _name_format(
            sheet, "xyxy", f"{text}: corners (xyxy) are read as sizes (xywh)", len(x)
        )


def _name_format(sheet: Sheet, best: BoxFormat, text: str, count: int) -> Problem:
    return Problem(
        text,
        count,
        advice=f"{write_option('box_format', {sheet.side: best})} reads the {sheet.side} that way.",
    )


def find_radians(sheet: Sheet, data: BoxData) -> Sees:
    """Find angles in degrees that all lie within half a turn in radians."""
    angles = sheet.degrees
    if angles is None or not np.isfinite(angles).any():
        return
    angles = angles[np.isfinite(angles)]
    if angles.any() and (np.abs(angles) <= np.pi).all():
        yield Problem(
            f"all {len(angles):,} angles lie between {angles.min():.3g} and {angles.max():.3g}, and"
            " are read as degrees",
            len(angles),
        )


def find_turned(sheet: Sheet, data: BoxData) -> Sees:
    """Find polygons that are turned rectangles, as the labels of oriented boxes are."""
    if sheet.turned is not None:
        text = "are read as the upright boxes around turned rectangles"
        yield from sheet.report(sheet.turned, text)
