"""Checks of how boxes were read: another format, and numbers relative to the image."""

import numpy as np

from germane.boxes.checks.data import BoxData
from germane.boxes.checks.values import SLACK, leave
from germane.boxes.geometry import BOX_FORMATS, BoxFormat, make_boxes
from germane.boxes.sheet import Sheet
from germane.checks.rows import Problem, Sees
from germane.errors import write_option

FEW = 10  # boxes, below which formats are not compared
SOME = 20  # boxes, below which no pattern of their numbers is looked for
SHARE = 0.02  # of boxes that leave their image, from which on another format is looked for
MANY = 20_000  # boxes that are looked at for another format
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
    if 2 * sized.sum() < len(sized) or sized.sum() < FEW:
        yield from _find_corners(sheet)
        return
    rows = np.flatnonzero(sized)
    rows = rows[:: -(-len(rows) // MANY)]
    numbers, sizes = sheet.boxes.take(rows).as_array(sheet.box_format), sheet.sizes[rows]
    counts = {
        box_format: int(leave(make_boxes(numbers, box_format), sizes, 0.02 * sizes + SLACK).sum())
        for box_format in BOX_FORMATS
    }
    now = counts[sheet.box_format]
    best_format = min(BOX_FORMATS, key=counts.__getitem__)
    if now > max(FEW / 2, SHARE * len(numbers)) and counts[best_format] < now / 10:
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
            advice=f"{write_option('box_format', changed)} reads them so.",
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
        advice=f"{write_option('box_format', {sheet.side: best})} reads the {sheet.side} so.",
    )
