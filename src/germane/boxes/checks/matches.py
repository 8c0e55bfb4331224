"""Checks of both sides together: turned scores, and classes or images that are mixed up."""

import numpy as np

from germane.boxes.checks.data import NEAR, BoxData
from germane.boxes.sheet import Sheet
from germane.checks.rows import Problem, Sees
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import clip

SURE = 4.0  # standard deviations from chance
TURNED = 0.4  # the share of pairs in the right order, above which scores are not called turned
LEAST = 10  # matches, below which no pattern of them is looked for
SHIFTS = 12  # other images that show how many matches there are by chance


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
    kept = (label >= 0) & ~data.truth.crowd[truth]
    matched = (best >= NEAR) & (data.truth.label[truth] == label)
    return matched[kept], pairs.detection[kept]


def _compare_scores(score: Floats, matched: Bools, label: Ints) -> tuple[float, float]:
    """Estimate how often a match scores above other detections of its class, and the error."""
    above = total = variance = 0.0
    for one in np.unique(label).tolist():
        mine, hits = score[label == one], matched[label == one]
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
    mine, its = sheet.label[pairs.detection][near], data.truth.label[truth][near]
    if len(mine) < LEAST:
        return
    classes = len(data.truths.classes)
    half = np.unique(pairs.group[near], return_inverse=True)[1] % 2 == 1
    learned = np.full(len(mine), -1)
    for part in (half, ~half):  # the classes of one half of the images name those of the other
        learned[part] = _map_classes(mine[~part], its[~part], classes)[mine[part]]
    own = int((mine == its).sum())
    for theirs in (learned, mine + 1, mine - 1):
        count = int((theirs == its).sum())
        share = np.bincount(its, minlength=classes) / len(its)
        each = share[theirs[(theirs >= 0) & (theirs < classes)]]  # the probability by chance
        least = each.sum() + SURE * np.sqrt((each * (1 - each)).sum() + 1)
        if count > max(LEAST, 2 * own, least):
            at = np.flatnonzero((theirs == its) & (mine != its))
            names = data.truths.class_names
            example = f"class {clip(names[mine[at[0]]])} on truths of {clip(names[its[at[0]]])}"
            yield Problem(
                f"{len(at):,} of {len(mine):,} detections that overlap a truth are of one other "
                f"class, such as {example}, "
                f"and {own:,} of its own",
                len(at), sheet.show(pairs.detection[near][at]),
            )  # fmt: skip
            return


def _map_classes(mine: Ints, its: Ints, classes: int) -> Ints:
    """Map each class (K) to the one of most truths that it overlaps; -1 if it has none."""
    counts = np.zeros((classes, classes), np.int64)
    np.add.at(counts, (mine, its), 1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def find_other_images(sheet: Sheet, data: BoxData) -> Sees:
    """Find detections that match truths of the image before or after theirs."""
    if data.images < 2 * SHIFTS // 3:
        return
    own = len(data.list_matches(data.same))
    far = np.unique(np.linspace(2, data.images - 2, SHIFTS // 2).astype(int)).tolist()
    counts = [len(data.list_matches(data.shift(by))) for one in far for by in (one, -one)]
    chance = max(float(np.mean(counts)), own)
    for by, where in ((1, "after"), (-1, "before")):
        rows = data.list_matches(data.shift(by))
        count = len(rows)
        if count > max(LEAST, 2 * own) and count > chance + SURE * np.sqrt(chance + 1):
            yield Problem(
                f"{count:,} detections match a truth of the image {where} theirs, and {own:,} one "
                "of their own",
                count, sheet.show(rows),
            )  # fmt: skip
            return
