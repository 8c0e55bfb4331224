"""Checks of both sides together: turned scores, mix-ups, other objects; and the table of checks."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from germane.boxes.checks import malformed
from germane.boxes.checks.sides import (
    CLOSE,
    FEW_IMAGES,
    GOOD,
    NEAR,
    SOME,
    STILL,
    SURE,
    BoxData,
    Pairs,
    Partners,
)
from germane.boxes.detections import BOX_FORMATS, Boxes, make_boxes
from germane.boxes.image_ids import find_file_numbers
from germane.boxes.sources import Sheet
from germane.checks.faulty_rows import Problem, Sees, make_findings
from germane.core.finding import Finding, Severity
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import clip, write_option
from germane.output.tables import write_count

DEVIATIONS = 4.0  # standard deviations from chance
TURNED = 0.4  # the share of pairs in the right order, above which scores are not called turned
LEAST = 10  # matches, below which no pattern of them is looked for
FEW_OF_FILES = 4  # matches that suffice where names of files say the same
SHARE = 0.1  # of detections: fewer that match an image beside theirs may be accidents
FEW_OWN = 0.2  # of detections, below which those that match a truth are few
FEW_PARTNERS, PARTNERS = 4, 0.15  # images, and their share, that have another one's boxes
MOST = 0.8  # of these images, which say in what order images were numbered
SHIFTS = 12  # other images that show how many matches there are by chance


def find_federated(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections that LVIS's rules leave out or ignore, and that COCO's count as false."""
    verified = data.truths.verified
    if verified is None or "unverified" in data.chosen:
        return
    group, truth_group = (boxes.label * data.images + boxes.image for boxes in (sheet, data.truth))
    listed = (sheet.label >= 0) & (sheet.image >= 0)
    unseen = listed & ~np.isin(group, np.concatenate((truth_group, verified.absent)))
    partial = listed & np.isin(group, verified.partial)
    text = (
        "images list the classes that they lack (neg_category_ids), as in LVIS:"
        f" {unseen.sum():,} detections are of classes that nobody looked for there, and"
        f" {partial.sum():,} of classes that are not annotated exhaustively"
    )
    advice = (
        f"{write_option('dialect', 'lvis')} leaves out the former, and ignores false ones"
        " of the latter."
    )
    if verified.lacking:
        advice = (
            f"{write_option('dialect', 'lvis')} needs both lists of every image, and"
            f" {verified.lacking}."
        )
    yield Problem(text, data.images, sheet.show(np.flatnonzero(unseen)), advice)


def find_turned(sheet: Sheet, data: BoxData) -> Sees:
    """Find scores that are lower for detections on a truth of their class than for others."""
    matched, rows = _mark_matched(data)
    if sheet.score is None or not len(rows):
        return
    share, error = _compare_scores(sheet.score[rows], matched, sheet.label[rows])
    if share < TURNED and share < 0.5 - DEVIATIONS * error:
        yield Problem(
            "a detection on a truth of its class has a higher score than one that is on none in"
            f" {share:.0%} of pairs",
            len(sheet.score),
        )


def _mark_matched(data: BoxData) -> tuple[Bools, Ints]:
    """Mark detections on a truth of their class, but for crowds and images without truths."""
    pairs = data.same
    best, truth = data.find_best(pairs)
    label = data.detections.label[pairs.detection]
    counted = (label >= 0) & ~data.truth.crowd[truth]
    matched = (best >= NEAR) & (data.truth.label[truth] == label)
    return matched[counted], pairs.detection[counted]


def _compare_scores(score: Floats, matched: Bools, label: Ints) -> tuple[float, float]:
    """Estimate how often a match scores above other detections of its class, and the error."""
    above = total = variance = 0.0
    for number in np.unique(label).tolist():
        mine, hits = score[label == number], matched[label == number]
        n, m = int(hits.sum()), int((~hits).sum())
        if n and m:
            ordered = np.sort(mine)
            low, high = (np.searchsorted(ordered, mine[hits], side) for side in ("left", "right"))
            above += ((low + high + 1) / 2).sum() - n * (n + 1) / 2
            total += n * m
            variance += n * m * (n + m + 1) / 12
    return (above / total, np.sqrt(variance) / total) if total else (0.5, np.inf)


def find_other_classes(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections of a class that lie on truths of another one, in most classes."""
    pairs = data.same
    best, truth = data.find_best(pairs)
    near = (best >= NEAR) & (sheet.label[pairs.detection] >= 0)
    label, truth_label = sheet.label[pairs.detection][near], data.truth.label[truth][near]
    if len(label) < LEAST:
        return
    classes = len(data.truths.classes)
    half = np.unique(pairs.group[near], return_inverse=True)[1] % 2 == 1
    learned = np.full(len(label), -1)
    for part in (half, ~half):  # the classes of one half of the images name those of the other
        learned[part] = _map_classes(label[~part], truth_label[~part], classes)[label[part]]
    own_count = int((label == truth_label).sum())
    for theirs in (learned, label + 1, label - 1):
        count = int((theirs == truth_label).sum())
        share = np.bincount(truth_label, minlength=classes) / len(truth_label)
        chances = share[theirs[(theirs >= 0) & (theirs < classes)]]  # the probability by chance
        least = chances.sum() + DEVIATIONS * np.sqrt((chances * (1 - chances)).sum() + 1)
        if count > max(LEAST, 2 * own_count, least):
            places = np.flatnonzero((theirs == truth_label) & (label != truth_label))
            names = data.truths.class_names
            first, on = (clip(names[labels[places[0]]]) for labels in (label, truth_label))
            example = f"class {first} on truths of {on}"
            [(by, by_count)] = Counter((truth_label - label)[places].tolist()).most_common(1)
            shifted = abs(by) == 1 and by_count > MOST * len(places)
            advice = (
                f"Classes are numbered one too {'low' if by > 0 else 'high'}: do both sides number"
                f" them from 0, or from 1? {write_option('class_names')} names those of a side."
            )
            yield Problem(
                f"{len(places):,} of {len(label):,} detections that overlap a truth are of one"
                f" other class, such as {example}, "
                f"and {own_count:,} of its own",
                len(places), sheet.show(pairs.detection[near][places]), advice * shifted,
            )  # fmt: skip
            return


def find_other_images(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections that match truths of another image, such as the next or a renumbered one."""
    if data.images < 2 * SHIFTS // 3:
        return
    own_count, orders = len(data.list_matches(data.same)), list(_list_orders(data))
    if own_count < FEW_OWN * len(data.same.detection):
        partners = data.find_partners()
        if _are_many(partners):
            usual = [
                order
                for order in orders
                if np.mean(order.target[partners[0]] == partners[1]) > MOST
            ]
            yield (
                _name_order(sheet, data, usual[0], own_count)
                if usual
                else _name_partners(data, partners)
            )
            return
    far = np.unique(np.linspace(2, data.images - 2, SHIFTS // 2).astype(int)).tolist()
    counts = [
        len(data.list_matches(data.shift(by))) for distance in far for by in (distance, -distance)
    ]
    chance = max(float(np.mean(counts)), own_count)
    for order in orders:
        count = len(data.list_matches(data.move(order.target)))
        least = FEW_OF_FILES if order.advice else max(LEAST, SHARE * len(data.same.detection))
        if count > max(least, 2 * own_count) and count > chance + DEVIATIONS * np.sqrt(chance + 1):
            yield _name_order(sheet, data, order, own_count)
            return


class Order(NamedTuple):
    """Another image for each (I), as it may have been numbered."""

    target: Ints
    where: str
    advice: str = ""


def _name_order(sheet: Sheet, data: BoxData, order: Order, own_count: int) -> Problem:
    rows = data.list_matches(data.move(order.target))
    text = f"{len(rows):,} detections match a truth of the image {order.where}, and {own_count:,}"
    return Problem(f"{text} match one of their own", len(rows), sheet.show(rows), order.advice)


def _are_many(partners: Partners) -> bool:
    """Are these too many images that fit another one to be accidents?"""
    different = len(np.unique(partners[1]))  # by accident, several have the same one
    return different >= max(FEW_PARTNERS, PARTNERS * partners[3]) and different > 2 * partners[2]


def _name_partners(data: BoxData, partners: Partners) -> Problem:
    images, partner_images, own_count, total = partners
    ids = data.truths.images
    named = [
        (ids[i], ids[j]) for i, j in zip(images.tolist(), partner_images.tolist(), strict=True)
    ]
    examples = tuple(f"those of {clip(a)} fit {clip(b)}" for a, b in named[:3])
    advice = ""
    if all(isinstance(identifier, int) for identifier in ids):
        [(by, count)] = Counter(int(b) - int(a) for a, b in named).most_common(1)
        how = f"Add {by} to" if by > 0 else f"Subtract {-by} from"
        advice = f"{how} the image ids of the detections." * (count > MOST * len(named))
    return Problem(
        f"the detections of {len(images):,} of {total:,} images fit the truths of another image,"
        f" box by box, and those of {own_count:,} fit their own",
        len(images), examples, advice,
    )  # fmt: skip


def _list_orders(data: BoxData) -> Iterator[Order]:
    """List the orders in which images may have been numbered."""
    place = np.arange(data.images)
    yield Order(np.where(place + 1 < data.images, place + 1, -1), "after theirs")
    yield Order(place - 1, "before theirs")
    files = [file for file in data.truths.files if file]
    if len(files) < data.images:
        return
    advice = "Write the ids that the truth has for these files, or the names of the files."
    numbered = find_file_numbers(data.truths.images, data.truths.images, files)
    if (numbered >= 0).any() and (numbered != place).any():
        yield Order(numbered, "whose file has their number", advice)
    order = np.argsort(np.array(files), kind="stable")
    if (order != place).any():
        yield Order(order, "whose file is at their place in the order of files", advice)


def _map_classes(label: Ints, truth_label: Ints, classes: int) -> Ints:
    """Map each class (K) to the one of most truths that it overlaps; -1 if it has none."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (label, truth_label), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


# --- Check whether detections belong to the truths at all, and how they would if not --------------
#
# Where hardly any detection overlaps a truth of its image, something is wrong that no other check
# sees: boxes of a resized, mirrored or padded image, x and y exchanged, a score where a side is
# read. Each of these is tried. One is named only if it makes many truths precisely overlapped,
# which accidents do not. Otherwise the shares that overlap say it, of detections and of truths:
# both are so low of useless detectors only, whose AP50 is near 0.

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
    """Find detections that hardly ever overlap a truth of their image."""
    problem = _find_problem(sheet, data)
    if problem is not None:
        yield problem


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # of sides that no image has
def _find_problem(sheet: Sheet, data: BoxData) -> Problem | None:
    pairs = data.same
    if len(pairs.detection) < SOME or len(np.unique(pairs.group)) < FEW_IMAGES:
        return None
    now = _count(data, pairs, sheet.boxes)
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
        return Problem(f"{text} they overlap {max(counts):,}", len(sheet.image), advice=best.advice)
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


def _count(data: BoxData, pairs: Pairs, boxes: Boxes) -> list[int]:
    """Count the truths that a detection overlaps well, and those that it overlaps precisely."""
    overlap = data.measure_trial(pairs, boxes)
    return [len(np.unique(pairs.truth_at[overlap >= least])) for least in (GOOD, CLOSE)]


def _try(data: BoxData, boxes: Boxes, now: list[int], shifted: list[Pairs]) -> int:
    """Count the truths that are overlapped well, if that is much better than now and by chance."""
    good, close = _count(data, data.same, boxes)
    more, least = good - 2 * now[0], max(SURE, STILL * len(data.same.truth), 3 * now[1])
    is_close = close - 2 * now[1] >= SURE
    if close < least and not (is_close and more > SURE):  # whatever there is by chance
        return 0
    chance, near = np.mean([_count(data, pairs, boxes) for pairs in shifted], axis=0).tolist()
    precise = close - near >= least
    return good if precise or (is_close and more > chance + SURE * np.sqrt(chance + 1)) else 0


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


# --- The table of all checks of boxes -------------------------------------------------------------


class BoxCheck(NamedTuple):
    """One kind of finding, in truths, detections, or both."""

    name: str
    severity: Severity
    sides: tuple[str, ...]
    find_problems: Callable[[Sheet, BoxData], Sees]
    remedy: str
    evaluate: Literal["error", "warning", "silent"] = "silent"
    """The reaction of evaluate: an error, a warning, or none."""

    follows: tuple[str, ...] = ()
    """Findings of which this one is a consequence; it is not looked for beside them."""


_BOTH = ("truth", "detections")
_FORMS = (
    "relative numbers taken for pixels", "pixels taken for relative numbers",
    "another format of boxes",
)  # fmt: skip
_ELSEWHERE = (*_FORMS, "images mixed up", "hardly any detection on a truth")
TABLE = (
    BoxCheck("malformed boxes", "serious", _BOTH, malformed.find_malformed,
             "Correct or delete them; until then evaluate refuses them.", "error"),
    BoxCheck("repeated ids", "serious", ("truth",), malformed.find_repeated_ids,
             "Give each entry an id of its own.", "error"),
    BoxCheck("swapped corners", "serious", _BOTH, malformed.find_swapped,
             ("Write the left and upper corner first, or name the format:"
             f" {write_option('box_format', 'xywh')}."),
             "error"),
    BoxCheck("negative sizes", "serious", _BOTH, malformed.find_negative,
             (f"If it is another format, choose {write_option('box_format', 'xywh')}, xyxy or"
             " cxcywh."), "error"),
    BoxCheck("negative areas", "serious", ("truth",), malformed.find_negative_areas,
             "Correct them, or leave out all areas for those of the boxes.", "error"),
    BoxCheck("ids of another type", "serious", _BOTH, malformed.find_mistyped,
             "Write the ids of both sides as numbers, or as text.", "error"),
    BoxCheck("unknown images", "serious", _BOTH, malformed.find_unknown_images,
             ("Write ids as the truth does, or list all images with"
             f" {write_option('images')}."), "error"),
    BoxCheck("unknown classes", "serious", _BOTH, malformed.find_unknown_classes,
             (f"Name classes with {write_option('class_names')}, or leave such detections out"
             f" with {write_option('unknown', 'ignore')}."),
             "error"),
    BoxCheck("scores that are no numbers", "serious", ("detections",), malformed.find_odd_scores,
             "Write a finite number.", "error"),
    BoxCheck("relative numbers taken for pixels", "serious", _BOTH, malformed.find_relative,
             (f"Use {write_option('coordinates', 'relative')}, and give the sizes of images with"
             f" {write_option('images')}."), "warning"),
    BoxCheck("pixels taken for relative numbers", "serious", _BOTH, malformed.find_pixels,
             f"Use {write_option('coordinates', 'pixels')}.", "warning"),
    BoxCheck("another format of boxes", "serious", _BOTH, malformed.find_other_format,
             (f"Choose {write_option('box_format', 'xywh')}, xyxy or"
             " cxcywh."), "warning", _FORMS[:2]),
    BoxCheck("angles that look like radians", "serious", _BOTH, malformed.find_radians,
             f"Are they radians? {write_option('angles', 'radians')} reads them.", "warning"),
    BoxCheck("oriented boxes read as upright ones", "doubtful", _BOTH, malformed.find_turned,
             f"{write_option('overlap', 'oriented')} evaluates them as they are turned.",
             "warning"),
    BoxCheck("images mixed up", "serious", ("detections",), find_other_images,
             "Are images in the same order, and numbered alike, on both sides?", "warning", _FORMS),
    BoxCheck("hardly any detection on a truth", "serious", ("detections",),
             find_strangers,
             "Do both sides have the same images, with the same numbers and sizes?", "warning",
             (*_FORMS, "images mixed up")),
    BoxCheck("classes that nobody looked for", "serious", ("detections",), find_federated,
             f"{write_option('dialect', 'lvis')} evaluates them by LVIS's rules.", "warning"),
    BoxCheck("sides beyond any image", "serious", _BOTH, malformed.find_huge,
             "Correct them: such a box overlaps nothing else.", "warning",
             _ELSEWHERE),
    BoxCheck("boxes apart from their image", "serious", _BOTH, malformed.find_apart,
             "Do boxes and images belong together? A truth there is missed, and a detection is "
             "false.", "warning", _ELSEWHERE),
    BoxCheck("boxes without size", "serious", _BOTH, malformed.find_empty,
             "They overlap nothing: a truth is missed, and a detection is false.", "warning",
             _FORMS),
    BoxCheck("masks without pixels", "serious", _BOTH, malformed.find_empty_masks,
             "They overlap nothing: a truth is missed, and a detection is false.", "warning"),
    BoxCheck("masks or keypoints apart from their boxes", "serious", _BOTH,
             malformed.find_elsewhere,
             "Are they in pixels of the image, and x before y?", "warning", _FORMS),
    BoxCheck("areas far from the boxes", "serious", ("truth",), malformed.find_odd_areas,
             ("The ranges small, medium and large depend on them. Correct them, or use"
             f" {write_option('area_of', 'box')}."), "warning",
             _FORMS),
    BoxCheck("most truths given twice", "serious", ("truth",), malformed.find_all_repeated,
             "Delete the copies: one of two cannot be found.", "warning"),
    BoxCheck("most detections given twice", "serious", ("detections",), malformed.find_all_repeated,
             "Delete the copies: the second is a false positive.", "warning"),
    BoxCheck("hardly any image with detections", "serious", ("detections",),
             malformed.find_most_without,
             ("Did the detector see all images, and is each detection assigned to its"
              " image?"), "warning"),
    BoxCheck("images emptied by an option", "serious", ("detections",), malformed.find_emptied,
             "Check what the option leaves out.", "warning"),
    BoxCheck("constant scores", "serious", ("detections",), malformed.find_constant,
             "The order of the file then decides precision at every recall.", "warning"),
    BoxCheck("scores fall as matches rise", "serious", ("detections",), find_turned,
             "Are they distances, or errors? Higher is better: negate them.", "warning", _FORMS),
    BoxCheck("classes mixed up", "serious", ("detections",), find_other_classes,
             f"Do both sides number classes alike, from 0 or from 1? {write_option('class_names')}"
             " names those of a "
             "side.", "warning", _FORMS),
    BoxCheck("boxes outside their image", "doubtful", _BOTH, malformed.find_outside,
             "Clip them, or check the sizes of the images."),
    BoxCheck("truths given twice", "doubtful", ("truth",), malformed.find_repeated,
             "Delete the copies: one of two cannot be found.",
             follows=("most truths given twice",)),
    BoxCheck("detections given twice", "doubtful", ("detections",), malformed.find_repeated,
             "Delete the copies: the second is a false positive.",
             follows=("most detections given twice",)),
    BoxCheck("images without detections", "note", ("detections",), malformed.find_images_without,
             "Did the detector see them?", follows=("hardly any image with detections",)),
    BoxCheck("classes without detections", "note", ("detections",), malformed.find_classes_without,
             "Their AP is 0."),
    BoxCheck("images without truths", "note", ("truth",), malformed.find_images_without,
             "All detections there are false positives."),
    BoxCheck("classes without truths", "note", ("truth",), malformed.find_classes_without,
             (f"{write_option('no_truth', 'skip')} leaves them out of means; zero counts them as"
             " 0.")),
    BoxCheck("scores beyond 0 to 1", "note", ("detections",), malformed.find_scores_beyond,
             f"Only their order counts, except for {write_option('confidence')}."),
)  # fmt: skip
"""Findings of the same severity are reported in this order."""


def find_all(data: BoxData, evaluate: str | None = None) -> Iterator[Finding]:
    """Run all checks, or those to which evaluate reacts in one way."""
    reported: set[str] = set()
    for check in TABLE:
        if evaluate not in (None, check.evaluate) or not reported.isdisjoint(check.follows):
            continue
        for side in check.sides:
            sheet: Sheet = getattr(data, side)
            for finding in make_findings(check, check.find_problems(sheet, data), sheet.where):
                reported.add(check.name)
                yield finding
