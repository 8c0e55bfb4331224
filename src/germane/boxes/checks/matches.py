"""Checks of both sides together: turned scores, and classes or images that are mixed up."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from germane.boxes.checks.data import NEAR, BoxData, Partners
from germane.boxes.id_spelling import find_file_numbers
from germane.boxes.sheet import Sheet
from germane.checks.rows import Problem, Sees
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import clip, write_option

SURE = 4.0  # standard deviations from chance
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
    if share < TURNED and share < 0.5 - SURE * error:
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
        least = chances.sum() + SURE * np.sqrt((chances * (1 - chances)).sum() + 1)
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
    """Find detections that match truths of another image: the next, or one numbered otherwise."""
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
        if count > max(least, 2 * own_count) and count > chance + SURE * np.sqrt(chance + 1):
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
    return Problem(f"{text} one of their own", len(rows), sheet.show(rows), order.advice)


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
        f" box by box, and those of {own_count:,} their own",
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
