"""Checks of truths and detections: problems that can distort numbers, one function for each kind, in one table."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from germane.boxes.geometry import BOX_FORMATS, Boxes, make_boxes
from germane.boxes.ids import get_item
from germane.boxes.sheet import BoxData, Sheet
from germane.checks.rows import Problem, Sees
from germane.core.finding import Finding, Severity, show_ids
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import clip
from germane.output.formatting import write_count

SLACK = 2.0  # pixels by which a box may leave its image
FEW = 10  # boxes, below which constant scores say nothing
SOME = 20  # boxes, below which no pattern of their numbers is looked for


def find_malformed(sheet: Sheet, data: BoxData) -> Sees:
    """Find entries that cannot be read, and boxes that lack four finite numbers."""
    faults = sheet.columns.faults if sheet.columns else ()
    if faults:
        says = f"{write_count(len(faults), 'entry', 'entries')} cannot be read"
        yield Problem(says, len(faults), tuple(faults[:3]))
    yield from sheet.report(~sheet.finite, "lack four finite numbers")


def find_swapped(sheet: Sheet, data: BoxData) -> Sees:
    """Find corners in the wrong order, so that a box has a negative size."""
    if sheet.box_format == "xyxy":
        yield from sheet.report(sheet.negative, "have the right or lower corner first")


def find_negative(sheet: Sheet, data: BoxData) -> Sees:
    """Find negative widths and heights."""
    if sheet.box_format != "xyxy":
        yield from sheet.report(sheet.negative, "have a negative size")


def find_unknown_images(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes of images that the truth does not list."""
    yield from _report_ids(sheet, sheet.image < 0, "image", "images")


def find_unknown_classes(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes of classes that the truth does not list."""
    yield from _report_ids(sheet, sheet.label < 0, "label", "classes")


def _report_ids(sheet: Sheet, odd: Bools, column: str, noun: str) -> Sees:
    rows = np.flatnonzero(odd)
    if len(rows) and sheet.columns:
        ids = dict.fromkeys(
            clip(get_item(getattr(sheet.columns, column), i)) for i in rows.tolist()
        )
        are = "is" if len(rows) == 1 else "are"
        all_boxes = write_count(len(odd), "box", "boxes")
        says = f"{len(rows):,} of {all_boxes} {are} of {noun} that the truth does not list"
        yield Problem(f"{says}: {', '.join([*ids][:3])}", len(rows), sheet.show(rows))


def find_odd_scores(sheet: Sheet, data: BoxData) -> Sees:
    """Find scores that are not finite numbers."""
    if sheet.score is not None:
        yield from sheet.report(~np.isfinite(sheet.score), "have a score that is no finite number")


def find_relative(sheet: Sheet, data: BoxData) -> Sees:
    """Find numbers relative to the image that were taken for pixels."""
    numbers = sheet.boxes.as_array("xyxy")[sheet.finite]
    if sheet.relative or not len(numbers) or np.abs(numbers).max() > 1.01:
        return
    if (numbers != np.round(numbers)).any():
        yield Problem(
            "no side of a box is longer than 1: relative coordinates are read as pixels",
            len(numbers),
        )


def find_pixels(sheet: Sheet, data: BoxData) -> Sees:
    """Find pixels that were taken for numbers relative to the image."""
    if sheet.relative and len(sheet.image):
        ends = np.column_stack((sheet.boxes.right, sheet.boxes.bottom))
        far = np.asarray((ends > 2 * sheet.sizes).any(axis=1))
        if far.sum() > len(far) / 2:
            yield from sheet.report(
                far,
                "go beyond twice the size of the image: pixels are read as relative coordinates",
            )


def find_other_format(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that fit their images only if they are read in another format."""
    known = sheet.finite & ~np.isnan(sheet.sizes).any(axis=1)
    if sheet.relative or not len(known):
        return
    if 2 * known.sum() < len(known) or known.sum() < FEW:
        yield from _find_corners(sheet)
        return
    numbers, sizes = sheet.boxes.as_array(sheet.box_format)[known], sheet.sizes[known]
    shares = {
        one: _leave(make_boxes(numbers, one), sizes, 0.02 * sizes + SLACK).mean()
        for one in BOX_FORMATS
    }
    now = shares[sheet.box_format]
    best = min(BOX_FORMATS, key=shares.__getitem__)
    if now > 0.2 and shares[best] < now / 10:
        yield Problem(
            f"read as {sheet.box_format}, {now:.0%} of the boxes leave their image "
            f"or have a negative size; read as {best}, {shares[best]:.0%}",
            round(now * len(numbers)),
            advice=f"box_format={{'truth': '{best}'}} or {{'detections': '{best}'}} reads a side so.",
        )


def _find_corners(sheet: Sheet) -> Sees:
    """Find corners that were taken for sizes, where the sizes of images are not known."""
    x, y, width, height = sheet.boxes.as_array()[sheet.finite].T
    if sheet.box_format != "xywh" or len(x) < SOME or not ((width >= x) & (height >= y)).all():
        return
    if np.mean(x > 0.8 * width) > 0.25 and np.mean(y > 0.8 * height) > 0.25:
        says = "no box is narrower than its distance from the left, or lower than that from the top"
        yield Problem(
            f"{says}: corners (xyxy) are read as sizes (xywh)", len(x),
            advice="Use box_format=xyxy.",
        )  # fmt: skip


def _leave(boxes: Boxes, sizes: Floats, slack: Floats | float) -> Bools:
    """Mark boxes that leave their image by more than the slack, or have a negative size."""
    low = np.column_stack((boxes.left, boxes.top))
    high = np.column_stack((boxes.right, boxes.bottom))
    return np.asarray(((low < -slack) | (high > sizes + slack) | (high < low)).any(axis=1))


def find_outside(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes that leave their image by more than 2 pixels."""
    with np.errstate(invalid="ignore"):
        odd = _leave(sheet.boxes, sheet.sizes, SLACK) & sheet.sound
    yield from sheet.report(odd, "leave the image by more than 2 pixels")


def find_constant(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections that all have the same score."""
    score = sheet.score
    if score is not None and len(score) >= FEW and (score == score[0]).all():
        count = sheet.total or len(score)
        yield Problem(f"all {count:,} detections have the score {score[0]:g}", count)


def find_repeated(sheet: Sheet, data: BoxData) -> Sees:
    """Find duplicate boxes: of the same image and class, and with the same score if there is one."""
    parts = [sheet.boxes.as_array(), sheet.image, sheet.label]
    rows = np.column_stack(parts if sheet.score is None else [*parts, sheet.score])[sheet.sound]
    _, first = np.unique(rows, axis=0, return_index=True)
    odd = np.zeros(len(sheet.sound), bool)
    odd[np.delete(np.flatnonzero(sheet.sound), first)] = True
    yield from sheet.report(odd, "repeat another one of the same image and class")


def find_empty(sheet: Sheet, data: BoxData) -> Sees:
    """Find boxes without width or height, which overlap nothing unless the last pixel counts."""
    yield from sheet.report(
        sheet.sound & ((sheet.boxes.width == 0) | (sheet.boxes.height == 0)),
        "have no width or no height",
    )


def find_images_without(sheet: Sheet, data: BoxData) -> Sees:
    """Find images without a box."""
    yield from _report_without(sheet.image, data.truths.images, "image")


def find_classes_without(sheet: Sheet, data: BoxData) -> Sees:
    """Find classes without a box."""
    yield from _report_without(sheet.label, data.truths.class_names, "class")


def _report_without(held: Ints, known: Iterable[object], noun: str) -> Sees:
    ids = list(known)
    missing = np.setdiff1d(np.arange(len(ids)), held)
    if len(missing):
        count = write_count(len(missing), noun, f"{noun}{'es' if noun == 'class' else 's'}")
        shown = show_ids(ids[i] for i in missing.tolist())
        yield Problem(f"{count} of {len(ids):,} without a box", len(missing), shown)


def find_scores_beyond(sheet: Sheet, data: BoxData) -> Sees:
    """Find scores that are not between 0 and 1."""
    if sheet.score is not None:
        with np.errstate(invalid="ignore"):
            yield from sheet.report(
                (sheet.score < 0) | (sheet.score > 1), "have a score beyond 0 to 1"
            )


class BoxCheck(NamedTuple):
    """One kind of finding, in truths, detections, or both."""

    name: str
    severity: Severity
    of: tuple[str, ...]
    find_problems: Callable[[Sheet, BoxData], Sees]
    remedy: str
    evaluate: str = "silent"
    """The reaction of evaluate: an error, a warning, or none."""

    def find(self, data: BoxData) -> Iterator[Finding]:
        """Run the check on its sides."""
        for side in self.of:
            sheet: Sheet = getattr(data, side)
            for problem in self.find_problems(sheet, data):
                yield Finding(
                    self.severity, self.name, problem.says, problem.count, problem.examples,
                    problem.advice or self.remedy, sheet.where,
                )  # fmt: skip


_BOTH = ("truth", "detections")
TABLE = (
    BoxCheck("malformed boxes", "serious", _BOTH, find_malformed,
             "Correct or delete them; until then evaluate refuses them.", "error"),
    BoxCheck("swapped corners", "serious", _BOTH, find_swapped,
             "Write the left and upper corner first, or name the format: box_format=xywh.", "error"),
    BoxCheck("negative sizes", "serious", _BOTH, find_negative,
             "If it is another format, choose box_format=xywh, xyxy or cxcywh.", "error"),
    BoxCheck("unknown images", "serious", _BOTH, find_unknown_images,
             "Write ids as the truth does, or list all images with images=.", "error"),
    BoxCheck("unknown classes", "serious", _BOTH, find_unknown_classes,
             "Name classes with class_names=, or leave such detections out with unknown=ignore.", "error"),
    BoxCheck("scores that are no numbers", "serious", ("detections",), find_odd_scores,
             "Write a finite number.", "error"),
    BoxCheck("relative numbers taken for pixels", "serious", _BOTH, find_relative,
             "Use coordinates=relative, and give the sizes of images with images=.", "warning"),
    BoxCheck("pixels taken for relative numbers", "serious", _BOTH, find_pixels,
             "Use coordinates=pixels.", "warning"),
    BoxCheck("another format of boxes", "serious", _BOTH, find_other_format,
             "Choose box_format=xywh, xyxy or cxcywh.", "warning"),
    BoxCheck("constant scores", "serious", ("detections",), find_constant,
             "The order of the file then decides precision at every recall.", "warning"),
    BoxCheck("boxes outside their image", "doubtful", _BOTH, find_outside,
             "Clip them, or check the sizes of the images."),
    BoxCheck("truths given twice", "doubtful", ("truth",), find_repeated,
             "Delete the copies: one of two cannot be found."),
    BoxCheck("detections given twice", "doubtful", ("detections",), find_repeated,
             "Delete the copies: the second is a false positive."),
    BoxCheck("boxes without size", "doubtful", _BOTH, find_empty,
             "They overlap nothing: a truth is missed, and a detection is false."),
    BoxCheck("images without detections", "note", ("detections",), find_images_without,
             "Did the detector see them?"),
    BoxCheck("classes without detections", "note", ("detections",), find_classes_without,
             "Their AP is 0."),
    BoxCheck("images without truths", "note", ("truth",), find_images_without,
             "All detections there are false positives."),
    BoxCheck("classes without truths", "note", ("truth",), find_classes_without,
             "no_truth=skip leaves them out of means; zero counts them as 0."),
    BoxCheck("scores beyond 0 to 1", "note", ("detections",), find_scores_beyond,
             "Only their order counts, except for confidence=."),
)  # fmt: skip
"""Findings of the same severity are reported in this order."""


def find_doubts(data: BoxData) -> tuple[Finding, ...]:
    """Find what evaluate warns of."""
    return tuple(one for row in TABLE if row.evaluate == "warning" for one in row.find(data))
