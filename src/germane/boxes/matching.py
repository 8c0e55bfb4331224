"""Matching decides which detection found which truth, by the overlap of their shapes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.conventions import Conventions
from germane.boxes.corners import (
    ORIENTED,
    fit_rectangles,
    list_box_corners,
    measure_corner_areas,
    measure_oriented,
)
from germane.boxes.detections import (
    LEVELS,
    Detections,
    Truths,
    measure_overlaps,
    measure_similarities,
    round_boxes,
)
from germane.boxes.masks import Masks, load_code
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, write_option

if TYPE_CHECKING:
    from germane.boxes.conventions import Conventions


_BLOCK = 1 << 15  # pairs; what is computed from a block stays in the processor's cache
_HELD = 1 << 18  # pairs that are held at once
Measured = tuple[Ints, Ints, Floats]  # positions of detections and truths, and their overlaps


def pair_equal(keys: Ints, sorted_keys: Ints) -> tuple[Ints, Ints]:
    """List the positions of all pairs of equal keys; those of one of ``keys`` stand together."""
    starts = _find_starts(keys)  # keys that stand together are looked up once
    low, high = (np.searchsorted(sorted_keys, keys[starts], side) for side in ("left", "right"))
    count = np.diff(starts, append=len(keys))
    size = np.repeat(high - low, count)
    facing = np.flatnonzero(size)
    size = size[facing]
    return np.repeat(facing, size), ragged.list_stretches(np.repeat(low, count)[facing], size)


def _find_starts(keys: Ints) -> Ints:
    """Find the positions where another key begins, the first one included."""
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    return np.flatnonzero(is_first)


def measure_pairs(
    detections: Detections,
    truth: Truths,
    pairs: tuple[Ints, Ints],
    choices: "Conventions",
    floor: float = 0.0,
) -> Measured:
    """Measure the overlap of pairs; return those that overlap, by the floor at least.

    ``pairs`` are positions in ``detections`` and ``truth``. Those of one detection should stand
    together.
    """
    parts = []
    for start in range(0, len(pairs[0]), _BLOCK):
        left, right = pairs[0][start : start + _BLOCK], pairs[1][start : start + _BLOCK]
        detection_at, truth_at, overlap = _measure(detections, truth, (left, right), choices)
        near = np.flatnonzero(overlap >= floor)
        parts.append((detection_at[near], truth_at[near], overlap[near]))
    if not parts:
        return (*pairs, np.zeros(0))
    if len(parts) == 1:
        return parts[0]
    detection_at, truth_at, overlap = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return detection_at, truth_at, overlap


def measure_in_images(
    detections: Detections, truths: Truths, choices: "Conventions", floor: float
) -> Iterator[Measured]:
    """Yield pairs of one image, of any classes, that overlap by the floor at least.

    They come in blocks of detections that have about so many pairs in all, for memory.
    """
    by_image = np.argsort(truths.image, kind="stable")
    images, image = truths.image[by_image], detections.image
    size = np.searchsorted(images, image, "right") - np.searchsorted(images, image, "left")
    ends = ragged.make_offsets(size)
    starts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1] + 1, _HELD), "left"))
    for start, stop in zip(starts, np.append(starts[1:], len(image)), strict=True):
        detection_at, truth_at = pair_equal(image[start:stop], images)
        pairs = detection_at + start, by_image[truth_at]
        yield measure_pairs(detections, truths, pairs, choices, floor)


def _measure(
    detections: Detections, truth: Truths, pairs: tuple[Ints, Ints], choices: "Conventions"
) -> Measured:
    if choices.overlap == "mask":
        if detections.masks is None or truth.masks is None:
            raise InputError(f"{write_option('overlap', 'mask')} needs masks on both sides.")
        return _measure_masks(detections.masks, truth.masks, pairs, truth.crowd)
    if choices.overlap == "oks":
        if detections.keypoints is None or truth.keypoints is None:
            raise InputError(f"{write_option('overlap', 'oks')} needs keypoints on both sides.")
        overlap = measure_similarities(
            detections.keypoints,
            truth.keypoints,
            pairs,
            truth.boxes,
            _list_areas(truth, choices) if choices.area_of == "body" else truth.area,
            choices.sigmas,
        )
        near = np.flatnonzero(overlap > 0)
        return pairs[0][near], pairs[1][near], overlap[near]
    if choices.overlap in ORIENTED:
        return measure_oriented(
            list_corners(detections),
            list_corners(truth),
            pairs,
            truth.crowd,
            choices.overlap,
            precision=choices.precision,
        )
    near, overlap = measure_overlaps(
        detections.boxes, truth.boxes, pairs, truth.crowd, choices.overlap
    )
    return pairs[0][near], pairs[1][near], overlap


def list_corners(boxes: Truths | Detections) -> Floats:
    """List the corners of oriented boxes (N, 4, 2), or of boxes without an angle."""
    return list_box_corners(boxes.boxes) if boxes.corners is None else boxes.corners


def _measure_masks(masks: Masks, truth: Masks, pairs: tuple[Ints, Ints], crowd: Bools) -> Measured:
    """Measure the pixels shared by pairs of masks, divided by those covered together.

    Of a truth in ``crowd`` they are divided by the pixels of the found mask. pycocotools measures
    all pairs of some detections and truths, so that detections with the same truths are given to it
    together.
    """
    detection_at, truth_at = pairs
    measure, overlap = load_code().iou, np.zeros(len(detection_at))
    for start, end, wide in _list_blocks(detection_at, truth_at):
        block_detections = detection_at[start:end:wide]
        block_truths = truth_at[start : start + wide]
        codes = masks.list_codes(block_detections), truth.list_codes(block_truths)
        overlap[start:end] = measure(*codes, crowd[block_truths].tolist()).ravel()
    near = np.flatnonzero(overlap > 0)
    return detection_at[near], truth_at[near], overlap[near]


def _list_blocks(detection_at: Ints, truth_at: Ints) -> list[tuple[int, int, int]]:
    """List blocks that are all pairs of some detections and truths: start, end, truths."""
    if not len(detection_at):
        return []
    starts = _find_starts(detection_at)  # of each detection
    wide = np.diff(starts, append=len(detection_at))
    first = truth_at[starts]
    new = np.ones(len(starts), bool)
    # the truths of a detection are consecutive in most uses: the first one and their number tell
    # them
    new[1:] = (np.diff(first) != 0) | (np.diff(wide) != 0)
    ends = np.append(np.flatnonzero(new)[1:], len(starts))
    blocks = []
    for begin, end in zip(np.flatnonzero(new).tolist(), ends.tolist(), strict=True):
        size = int(wide[begin])
        low, high = int(starts[begin]), int(starts[begin]) + size * (end - begin)
        block = truth_at[low:high].reshape(-1, size)
        if (block == block[0]).all():
            blocks.append((low, high, size))
        else:
            blocks += [(start, start + size, size) for start in range(low, high, size)]
    return blocks


# --- Matching decides which detection found which truth, for all thresholds and areas at once -----
#
# Detections and truths of one image and one class are a *group*. Within it, detections choose in
# the order of their scores.

_MOST = 1 - 1e-10  # boxes that are the same overlap by 1 but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class Matches:
    """Which truths the detections found, for A ranges of areas and T thresholds.

    A *candidate* is a detection that overlaps some truth of its group by the lowest threshold.
    Candidates that find nothing, whatever the threshold and area, may be left out.
    """

    truths: Truths  # G, sorted by group
    detections: Detections  # D, sorted by group, and by falling score within it
    depth: Ints  # D, the place of each detection within what the depth is of, from 0
    candidate: Ints  # C, positions of detections, ascending
    partner: Ints  # (A, T, C): the truth that a candidate found, or -1
    ignored: Bools  # (A, G): is the truth neither to be found nor to be missed?
    outside: Bools  # (A, D): is it ignored if it finds nothing, for its area or since it is spared?
    spared: Bools  # D: are not all objects of its class in its image annotated?
    thresholds: tuple[float, ...]  # T


def match(
    truths: Truths, detections: Detections, choices: Conventions, thresholds: tuple[float, ...]
) -> Matches:
    """Match detections with truths under the conventions, at each threshold of overlap."""
    arranged = Arranged(
        arrange_truths(truths, choices), *arrange_detections(truths, detections, choices)
    )
    return match_groups(arranged, choices, thresholds)


@dataclass(frozen=True, eq=False, repr=False)
class Arranged:
    """Truths and detections in the order in which they are matched."""

    truths: Truths  # G, sorted by group
    detections: Detections  # D, sorted by group, and by falling score within it
    depth: Ints  # D
    spared: Bools  # D


def arrange_truths(truths: Truths, choices: Conventions) -> Truths:
    """Select the truths that the conventions keep, and sort them by group."""
    truths = _select_truths(truths, choices)
    return truths.take(np.lexsort((truths.image, truths.label)))


def arrange_detections(
    truths: Truths, detections: Detections, choices: Conventions
) -> tuple[Detections, Ints, Bools]:
    """Sort detections by group and falling score, within the depth.

    Also return their places within it (D), and mark those that are ignored if they find nothing.
    """
    if choices.confidence is not None:
        detections = detections.take(detections.score >= choices.confidence)
    judged, spared = mark_verified(truths, detections, choices)
    detections = _convert_detections(detections, choices)
    falling = np.argsort(-detections.score, kind="stable")
    group = number_group(truths, detections)
    order = falling[ragged.order_stably(group[falling])]
    owner = detections.image if choices.depth_of == "image" else group
    place = np.empty_like(order)
    by_owner = order if owner is group else falling[ragged.order_stably(owner[falling])]
    place[by_owner] = _count_places(owner[by_owner])
    if choices.depth is not None:
        order = order[place[order] < choices.depth]
    order = order[judged[order]]
    return detections.take(order), place[order], spared[order]


def match_groups(
    arranged: Arranged,
    choices: Conventions,
    thresholds: tuple[float, ...],
    pairs: "Pairs | None" = None,
) -> Matches:
    """Match arranged detections with truths, at each threshold of overlap.

    ``pairs`` are those of ``find_pairs``, where they are known.
    """
    truths, detections, depth = arranged.truths, arranged.detections, arranged.depth
    ranges = np.array(list(choices.areas.values()))  # (A, 2)
    ignored = mark_ignored(truths, choices) | _lie_outside(_list_areas(truths, choices), ranges)
    ignored |= _exceed_levels(truths, choices)
    floors = list_floors(thresholds, choices)
    pairs = find_pairs(arranged, choices, thresholds) if pairs is None else pairs
    find = _find_best if choices.candidate == "best" else _find_in_turns
    group = number_group(truths, detections)
    candidate, partner = find(pairs, floors, group, ignored, truths.crowd, choices)
    if choices.id_zero == "unmatched":
        _unmatch_id_zero(partner, truths, ignored)
    outside = _lie_outside(_list_found_areas(detections, choices), ranges) | arranged.spared
    return Matches(
        truths, detections, depth, candidate, partner, ignored, outside, arranged.spared, thresholds
    )


def _select_truths(truths: Truths, choices: Conventions) -> Truths:
    if choices.crowds == "drop" and truths.crowd.any():
        truths = truths.take(~truths.crowd)
    elif choices.crowds != "ignore":
        difficult = truths.difficult | (truths.crowd & (choices.crowds == "difficult"))
        truths = replace(truths, crowd=np.zeros(len(truths), bool), difficult=difficult)
    if choices.empty == "drop":
        truths = truths.take(truths.area > 0)
    if choices.classes == "merged":
        truths = replace(truths, label=np.zeros_like(truths.label))
    if choices.precision != "double":
        truths = replace(truths, boxes=round_boxes(truths.boxes, choices.precision))
    return truths


def mark_verified(
    truths: Truths, detections: Detections, choices: Conventions
) -> tuple[Bools, Bools]:
    """Mark the detections (D) of which truths say something, and those ignored if they are false.

    Others are left out after the depth is applied, of which they are a part.
    """
    judged = (detections.label >= 0) | (choices.classes == "merged")
    if choices.empty == "drop":
        judged &= _list_found_areas(detections, choices) > 0
        truths = truths.take(truths.area > 0)
    if choices.unverified == "count" or truths.verified is None:
        return judged, np.zeros(len(judged), bool)
    group = number_group(truths, detections)
    judged_groups = np.concatenate((number_group(truths, truths), truths.verified.absent))
    return judged & np.isin(group, judged_groups), np.isin(group, truths.verified.partial)


def refuse_unverified(truths: Truths, choices: Conventions) -> None:
    """Refuse LVIS's rule for truths that do not say which classes were looked for."""
    verified = truths.verified
    if choices.unverified == "count" or (verified is not None and not verified.lacking):
        return
    why = verified.lacking if verified else f"{truths.where} has neither"
    raise InputError(
        f"{write_option('unverified', 'ignore')}, which is LVIS's rule, needs 'neg_category_ids'"
        f" and 'not_exhaustive_category_ids' of every image, and {why}."
        f" {write_option('unverified', 'count')} needs neither."
    )


def _convert_detections(detections: Detections, choices: Conventions) -> Detections:
    if choices.classes == "merged":
        detections = replace(detections, label=np.zeros_like(detections.label))
    if choices.precision != "double":
        boxes = round_boxes(detections.boxes, choices.precision)
        score = detections.score.astype(np.float32).astype(float)
        detections = replace(detections, boxes=boxes, score=score)
    return detections


def mark_ignored(truths: Truths, choices: Conventions) -> Bools:
    """Mark the truths (G) that are neither to be found nor to be missed, whatever their area."""
    ignored = truths.crowd | truths.difficult if choices.difficult == "ignore" else truths.crowd
    if choices.flagged == "ignore" and truths.flagged is not None:
        ignored = ignored | truths.flagged
    if choices.overlap == "oks" and truths.unseen is not None:
        ignored = ignored | truths.unseen
    return ignored


def number_group(truths: Truths, boxes: Truths | Detections) -> Ints:
    """Number the group of each box: its class and image."""
    return boxes.label * len(truths.images) + boxes.image


def _count_places(owner: Ints) -> Ints:
    """Number the members of each owner from 0; ``owner`` is sorted."""
    place, starts = np.arange(len(owner)), _find_starts(owner)
    place -= np.repeat(starts, np.diff(starts, append=len(owner)))
    return place


def _exceed_levels(truths: Truths, choices: Conventions) -> Bools:
    """Mark the truths that are too occluded or truncated for ranges of KITTI's names (A, G)."""
    beyond = np.zeros((len(choices.areas), len(truths)), bool)
    for place, name in enumerate(choices.areas):
        if truths.levels is not None and name in LEVELS:
            beyond[place] = truths.levels > LEVELS.index(name)
    return beyond


_BODY = 0.53  # of a box, as in xtcocotools, which evaluates CrowdPose


def _list_areas(truths: Truths, choices: Conventions) -> Floats:
    if choices.area_of == "height":
        return truths.boxes.height
    if choices.area_of == "annotation":
        return truths.area
    return _measure_boxes(truths, choices) * (_BODY if choices.area_of == "body" else 1)


def _measure_boxes(boxes: Truths | Detections, choices: Conventions) -> Floats:
    """Measure the areas of boxes, oriented or not."""
    if choices.overlap in ORIENTED and boxes.corners is not None:
        if choices.overlap == "oriented":
            return measure_corner_areas(boxes.corners)
        return np.asarray(fit_rectangles(boxes.corners)[:, 2:4].prod(axis=1))
    return boxes.boxes.measure_areas()


def _list_found_areas(detections: Detections, choices: Conventions) -> Floats:
    if choices.area_of == "height":
        return detections.boxes.height
    of_box = choices.found_area == "given_box" and detections.boxed
    if choices.overlap == "mask" and detections.masks is not None and not of_box:
        return detections.masks.area
    return _measure_boxes(detections, choices)


def list_floors(thresholds: tuple[float, ...], choices: Conventions) -> Floats:
    """List the overlap that each threshold asks for (T)."""
    kind = np.float32 if choices.thresholds == "single" else np.float64
    floors: Floats = np.minimum(np.array(thresholds, kind).astype(float), _MOST)
    return floors


def _lie_outside(areas: Floats, ranges: Floats) -> Bools:
    """Mark the areas outside each range (A, N); the ends of a range belong to it."""
    outside: Bools = (areas < ranges[:, :1]) | (areas > ranges[:, 1:])
    return outside


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Detections and truths of one group that overlap, sorted by detection, the best truth last."""

    detection: Ints
    truth: Ints
    overlap: Floats

    def list_candidates(self) -> tuple[Ints, Ints, Ints]:
        """List the detections, the first pair of each, and the number of its pairs."""
        first = _find_starts(self.detection)
        return self.detection[first], first, np.diff(first, append=len(self.detection))


def find_pairs(arranged: Arranged, choices: Conventions, thresholds: tuple[float, ...]) -> "Pairs":
    """Find the pairs of one group whose overlap reaches the lowest threshold."""
    truths, detections = arranged.truths, arranged.detections
    detection_group, truth_group = number_group(truths, detections), number_group(truths, truths)
    floor = list_floors(thresholds, choices).min()
    pairs = pair_equal(detection_group, truth_group)
    detection, truth, overlap = measure_pairs(detections, truths, pairs, choices, floor)
    rows = _find_repeated(detection)  # the others stand in their order
    preferred = truth[rows] if choices.equal_overlaps == "last" else -truth[rows]
    order = np.arange(len(detection))
    order[rows] = rows[np.lexsort((preferred, overlap[rows], detection[rows]))]
    return Pairs(detection, truth[order], overlap[order])


def _find_repeated(ascending: Ints) -> Ints:
    """Find the positions of ascending numbers that stand there twice or more."""
    again = np.zeros(len(ascending) + 1, bool)
    again[1:-1] = ascending[1:] == ascending[:-1]
    return np.flatnonzero(again[1:] | again[:-1])


def reach(overlap: Floats, floor: Floats, choices: Conventions) -> Bools:
    """Mark the overlaps that reach a floor."""
    reached: Bools = overlap > floor if choices.reach == "above" else overlap >= floor
    return reached


def _find_in_turns(
    pairs: Pairs, floors: Floats, group: Ints, ignored: Bools, crowd: Bools, choices: Conventions
) -> tuple[Ints, Ints]:
    """Let each candidate take the best truth that is free; one that is ignored only if no other is.

    A crowd is never used up.
    """
    # Hardly any candidate has a choice. Where none of a truth's candidates has, the first that
    # reaches a threshold gets it, for all areas; the others of it find nothing and are left out.
    candidate, first, size = pairs.list_candidates()
    contested = np.zeros(len(crowd), bool)
    contested[pairs.truth[np.repeat(size > 1, size)]] = True
    chooses = contested[pairs.truth[first]]
    finders = _list_first(pairs, first, np.flatnonzero(~chooses), floors, crowd, choices)
    kept = chooses.copy()
    kept[np.concatenate(finders)] = True
    column = np.cumsum(kept) - 1
    partner = np.full((len(ignored), len(floors), int(kept.sum())), -1, np.int32)
    for t, rows in enumerate(finders):
        partner[:, t, column[rows]] = pairs.truth[first[rows]]
    candidate, stretches = candidate[kept], (first[kept], size[kept])
    rows = np.flatnonzero(chooses[kept])
    turns = (rows[turn] for turn in _list_turns(group[candidate[rows]]))
    _take_turns(partner, turns, pairs, stretches, floors, ignored, crowd, choices)
    return candidate, partner


def _list_first(
    pairs: Pairs, first: Ints, rows: Ints, floors: Floats, crowd: Bools, choices: Conventions
) -> list[Ints]:
    """List the first candidates of each truth that reach each threshold; of a crowd, all.

    ``rows`` are candidates that have one pair each, whose position is in ``first``.
    """
    rows = rows[ragged.order_stably(pairs.truth[first[rows]])]
    truth, overlap = pairs.truth[first[rows]], pairs.overlap[first[rows]]
    finders = []
    for floor in floors.tolist():
        near = np.flatnonzero(reach(overlap, floor, choices))
        near_truth = truth[near]
        finders.append(rows[near[(np.diff(near_truth, prepend=-1) > 0) | crowd[near_truth]]])
    return finders


def _take_turns(
    partner: Ints,
    turns: Iterable[Ints],
    pairs: Pairs,
    stretches: tuple[Ints, Ints],
    floors: Floats,
    ignored: Bools,
    crowd: Bools,
    choices: Conventions,
) -> None:
    """Let candidates choose one after the other, and those of all groups at once.

    ``turns`` are the first candidates of each group, then the second ones, and so on.
    ``stretches`` are the first pair of each candidate, and the number of its pairs.
    """
    # Pairs of a candidate ascend by preference, so that the highest position of a free one is the
    # best. The number of all pairs is added where the truth counts, which puts these above all that
    # are ignored; a remainder gives the pair again. Candidates of one turn are of different groups,
    # and contest no truth.
    first, size = stretches
    taken = np.zeros((ignored.shape[1], *partner.shape[:2]), bool)
    wanted = np.int32(len(pairs.detection)) * ~ignored.T  # G × A: one that counts is above all
    for chosen in turns:
        pair = ragged.list_stretches(first[chosen], size[chosen])
        truth = pairs.truth[pair]
        near = reach(pairs.overlap[pair, None], floors, choices)
        free = near[:, None, :] & (~taken[truth] | crowd[truth, None, None])  # pairs × A × T
        key = (pair.astype(np.int32) + 1)[:, None] + wanted[truth]  # pairs × A
        key = np.where(free, key[:, :, None], np.int32(0))
        best = np.maximum.reduceat(key, ragged.make_offsets(size[chosen])[:-1], axis=0)
        chooser, area, threshold = np.nonzero(best)
        truth = pairs.truth[(best[chooser, area, threshold] - 1) % len(pairs.detection)]
        partner[area, threshold, chosen[chooser]] = truth
        taken[truth, area, threshold] = True


def _list_turns(group: Ints) -> Iterator[Ints]:
    """List the first candidates of all groups, then the second ones, and so on."""
    turn = _count_places(group)
    order = np.argsort(turn, kind="stable")
    ends = np.cumsum(np.bincount(turn))
    return iter(np.split(order, ends[:-1])) if len(order) else iter(())


def _find_best(
    pairs: Pairs, floors: Floats, group: Ints, ignored: Bools, crowd: Bools, choices: Conventions
) -> tuple[Ints, Ints]:
    """Let each candidate try its best truth alone; the first candidate gets it."""
    candidate, first, size = pairs.list_candidates()
    best = first + size - 1
    truth, overlap = pairs.truth[best], pairs.overlap[best]
    partner = np.full((len(ignored), len(floors), len(candidate)), -1, np.int32)
    for t, floor in enumerate(floors.tolist()):
        near = np.flatnonzero(reach(overlap, floor, choices))
        for a, neither in enumerate(ignored):
            # an ignored truth is found by all, another by the first: candidates stand by score
            neutral, rivals = near[neither[truth[near]]], near[~neither[truth[near]]]
            winners = rivals[np.unique(truth[rivals], return_index=True)[1]]
            for finders in (neutral, winners):
                partner[a, t, finders] = truth[finders]
    return candidate, partner


def _unmatch_id_zero(partner: Ints, truths: Truths, ignored: Bools) -> None:
    """Take its detections from a truth with the id 0, unless it is ignored."""
    zero = np.array([identifier == 0 for identifier in truths.ids], bool)
    for a, neither in enumerate(ignored):
        lost = zero & ~neither
        if lost.any():
            part = partner[a]
            part[(part >= 0) & lost[part]] = -1
