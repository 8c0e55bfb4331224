"""Check whether detections belong to the truths at all, and how they would if not.

Where hardly any detection overlaps a truth of its image, something is wrong that no other check
sees: boxes of a resized, mirrored or padded image, x and y exchanged, a score where a side is read.
Each of these is tried. One is named only if it makes many truths precisely overlapped, which
accidents do not. Otherwise the shares that overlap say it, of detections and of truths: both are so
low of useless detectors only, whose AP50 is near 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from germane.boxes.checks.data import CLOSE, FEW_IMAGES, GOOD, SOME, STILL, SURE, BoxData, Pairs
from germane.boxes.geometry import BOX_FORMATS, Boxes, make_boxes
from germane.boxes.sheet import Sheet
from germane.checks.rows import Problem, Sees
from germane.core.ragged import Floats
from germane.errors import write_option
from germane.output.formatting import write_count

HALF = 0.5
RARE = 0.08  # a share of overlaps that is hardly any
ENOUGH = 1 / 3  # of the truths that are overlapped well: nothing else can make it three times that
ALIKE = 0.1  # logarithm by which the ratios of a pair's sides may differ
STEP = 0.05  # of the logarithms of factors that are one


@dataclass(frozen=True, eq=False, repr=False)
class Trial:
    """Detections read in another way, and what to do if that is right."""

    boxes: Boxes  # of all rows of the sheet
    change: str
    advice: str


def find_strangers(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections of which hardly any overlaps a truth of its image."""
    problem = _find_problem(sheet, data)
    if problem is not None:
        yield problem


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of sides that no image has
def _find_problem(sheet: Sheet, data: BoxData) -> Problem | None:
    pairs = data.same
    if len(pairs.detection) < SOME or len(np.unique(pairs.group)) < FEW_IMAGES:
        return None
    now = [_count(data, pairs, sheet.boxes, least) for least in (GOOD, CLOSE)]
    if now[0] > ENOUGH * len(pairs.truth):
        return None
    apart = max(data.images // 3, 1)
    shifted = [data.shift(by) for by in (apart, -apart)]
    trials = [
        *_exchange(sheet),
        *_move_score(sheet),
        *_rescale(sheet, data),
        *_mirror(sheet),
        *_move_back(sheet, data),
    ]
    counts = [_try(data, trial.boxes, now, shifted) for trial in trials]
    if any(counts):
        best = trials[counts.index(max(counts))]
        truths = write_count(len(pairs.truth), "truth")
        text = f"detections overlap {now[0]:,} of {truths} by .7 or more; {best.change},"
        return Problem(f"{text} {max(counts):,}", len(sheet.image), advice=best.advice)
    overlap = data.measure_trial(pairs, sheet.boxes)
    of_truths = np.zeros(len(pairs.truth))
    np.maximum.at(of_truths, pairs.truth_at, overlap)
    detection_share, hit = (
        np.mean(overlaps >= HALF)
        for overlaps in (np.maximum.reduceat(overlap, pairs.first), of_truths)
    )
    if max(detection_share, hit) < RARE:
        text = (
            f"{detection_share:.1%} of detections overlap a truth of their image by .5 or more, and"
        )
        return Problem(f"{text} {hit:.1%} of truths a detection", len(sheet.image))
    return None


def _count(data: BoxData, pairs: Pairs, boxes: Boxes, least: float) -> int:
    """Count the truths that a detection overlaps by so much."""
    return len(np.unique(pairs.truth_at[data.measure_trial(pairs, boxes) >= least]))


def _try(data: BoxData, boxes: Boxes, now: list[int], shifted: list[Pairs]) -> int:
    """Count the truths that are overlapped well, if that is much better than now and by chance."""
    good, close = (_count(data, data.same, boxes, least) for least in (GOOD, CLOSE))
    chance, near = (
        float(np.mean([_count(data, pairs, boxes, least) for pairs in shifted]))
        for least in (GOOD, CLOSE)
    )
    precise = close - near >= max(SURE, STILL * len(data.same.truth), 3 * now[1])
    finds_more = good - 2 * now[0] > chance + SURE * np.sqrt(chance + 1)
    return good if precise or (finds_more and close - 2 * now[1] >= SURE) else 0


def _exchange(sheet: Sheet) -> Iterator[Trial]:
    """Exchange x and y, in each format."""
    unit = np.tile(sheet.sizes, 2) if sheet.relative else 1.0
    numbers = (sheet.boxes.as_array(sheet.box_format) / unit)[:, [1, 0, 3, 2]] * unit
    for box_format in (
        sheet.box_format,
        *(box_format for box_format in BOX_FORMATS if box_format != sheet.box_format),
    ):
        boxes = make_boxes(numbers, box_format)
        if ((boxes.width < 0) | (boxes.height < 0)).mean() > 0.01:
            continue
        hint = f", and {write_option('box_format', {sheet.side: box_format})}" * (
            box_format != sheet.box_format
        )
        yield Trial(
            boxes,
            f"with x and y exchanged{' as ' + box_format if hint else ''}",
            f"Write x before y{hint}.",
        )


def _move_score(sheet: Sheet) -> Iterator[Trial]:
    """Take the first number of relative centers for the score, which then is not the last."""
    if not sheet.relative or sheet.box_format != "cxcywh" or sheet.score is None:
        return
    numbers = sheet.boxes.as_array("cxcywh") / np.tile(sheet.sizes, 2)
    moved = np.column_stack((numbers[:, 1:], sheet.score)) * np.tile(sheet.sizes, 2)
    if (moved < 0).any():
        return
    yield Trial(
        make_boxes(moved, "cxcywh"),
        "with the score before the box",
        f"{write_option('input_format', {'detections': 'padilla'})},"
        f" {write_option('coordinates', {'detections': 'relative'})} and"
        f" {write_option('box_format', {'detections': 'cxcywh'})} read it so.",
    )


def _rescale(sheet: Sheet, data: BoxData) -> Iterator[Trial]:
    """Scale detections by the factors that most pairs of one image agree on."""
    pairs = data.same
    boxes, truth = sheet.boxes.take(pairs.detection), data.truth.boxes.take(pairs.truth)
    boxes, truth = boxes.take(pairs.detection_at), truth.take(pairs.truth_at)
    sizes = sheet.sizes[pairs.detection][pairs.detection_at]
    wide, high = np.log(boxes.width / truth.width), np.log(boxes.height / truth.height)
    right, low = np.log(boxes.right / truth.right), np.log(boxes.bottom / truth.bottom)
    alike = (np.abs(wide - right) < ALIKE) & (np.abs(high - low) < ALIKE)
    ratios = np.column_stack((wide + right, high + low)) / 2
    for name, unit in _list_units(sheet.sizes, sizes):
        votes = (ratios + np.log(unit[1]))[alike]
        center = _find_peak(votes[np.isfinite(votes).all(axis=1)])
        if center is None or (not name and np.abs(center).max() < STEP):
            continue
        factor = np.exp(center) / unit[0]
        x, y = np.exp(center)
        if name == "sides":
            text = f"with them taken for those of images of {x:.0f} × {y:.0f} pixels"
        elif name:
            text = f"with them taken for those of images whose longer side has {x:.0f} pixels"
        else:
            x, y = 1 / x, 1 / y
            text = (
                f"with them multiplied by {x:.3g}"
                if abs(x / y - 1) < STEP
                else f"with them multiplied by {x:.3g} in x and {y:.3g} in y"
            )
        numbers = sheet.boxes.as_array() / np.tile(factor, 2)
        yield Trial(
            make_boxes(numbers), text, "Are these boxes of resized images? Scale them back."
        )


def _mirror(sheet: Sheet) -> Iterator[Trial]:
    """Mirror detections, where the sizes of images are known."""
    numbers, wide = sheet.boxes.as_array(), np.tile(sheet.sizes, 2)
    for axis, name, sides in ((0, "x", "width"), (1, "y", "height")):
        mirrored = numbers.copy()
        mirrored[:, axis] = wide[:, axis] - numbers[:, axis] - numbers[:, axis + 2]
        yield Trial(
            make_boxes(mirrored),
            f"with them mirrored in {name}",
            f"Are these boxes of mirrored images? Subtract {name} from the {sides} of the image.",
        )


def _move_back(sheet: Sheet, data: BoxData) -> Iterator[Trial]:
    """Move detections by the way that most pairs of one size agree on, as padding does."""
    pairs = data.same
    array = sheet.boxes.take(pairs.detection).take(pairs.detection_at).as_array()
    truth = data.truth.boxes.take(pairs.truth).take(pairs.truth_at).as_array()
    alike = (np.abs(np.log(array[:, 2:] / truth[:, 2:])) < ALIKE).all(axis=1)
    if not alike.any():
        return
    unit = float(np.median(truth[alike, 2:])) * 2  # a twentieth of it is the width of a peak
    away = (array[:, :2] - truth[:, :2] + (array[:, 2:] - truth[:, 2:]) / 2)[alike]
    center = _find_peak(away / unit)
    if center is not None and np.abs(center).max() >= STEP:
        x, y = -center * unit
        yield Trial(
            make_boxes(sheet.boxes.as_array() + np.array([x, y, 0, 0])),
            f"with them moved by {x:.3g} in x and {y:.3g} in y",
            "Are these boxes of padded or cropped images? Move them back.",
        )


def _list_units(sizes: Floats, of_pairs: Floats) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    """List what factors may be relative to: nothing, the sides of the image, or the longer one."""
    ones = np.ones(2)
    yield "", (ones, ones)
    if np.isnan(sizes).any() or len(np.unique(sizes, axis=0)) < 2:
        return
    yield "sides", (sizes, of_pairs)
    longest = [np.repeat(unit.max(axis=1, keepdims=True), 2, axis=1) for unit in (sizes, of_pairs)]
    yield "longer side", (longest[0], longest[1])


def _find_peak(votes: Floats) -> Floats | None:
    """Find where most votes (V, 2) are; None without votes."""
    if not len(votes):
        return None
    _, cell, count = np.unique(
        np.round(votes / STEP).astype(np.int64), axis=0, return_inverse=True, return_counts=True
    )
    dense = votes[cell.ravel() == count.argmax()].mean(axis=0)
    near = votes[(np.abs(votes - dense) < STEP).all(axis=1)]
    center: Floats = np.median(near, axis=0) if len(near) else dense
    return center
