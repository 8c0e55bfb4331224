"""Overlaps of detections and truths: of boxes, masks or keypoints, as the conventions choose."""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.detections import Detections, Truths
from germane.boxes.geometry import measure_overlaps
from germane.boxes.keypoints import measure_similarities
from germane.boxes.masks import Masks, load_code
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, write_option

if TYPE_CHECKING:
    from germane.boxes.conventions import Conventions

_BLOCK = 1 << 15  # pairs; what is computed from a block stays in the processor's cache
Measured = tuple[Ints, Ints, Floats]  # positions of detections and truths, and their overlaps


def pair_equal(mine: Ints, its: Ints) -> tuple[Ints, Ints]:
    """List the positions of all pairs of equal keys, ``its`` ascending; those of mine together."""
    low, high = np.searchsorted(its, mine, "left"), np.searchsorted(its, mine, "right")
    facing = np.flatnonzero(high > low)
    size = (high - low)[facing]
    return np.repeat(facing, size), ragged.list_stretches(low[facing], size)


def measure_pairs(
    detections: Detections,
    truth: Truths,
    pairs: tuple[Ints, Ints],
    choices: "Conventions",
    floor: float = 0.0,
) -> Measured:
    """Measure the overlap of pairs; return those that overlap, by the floor at least.

    ``pairs`` are positions in ``found`` and ``truth``. Those of one detection should stand
    together.
    """
    parts = []
    for start in range(0, len(pairs[0]), _BLOCK):
        mine, its = pairs[0][start : start + _BLOCK], pairs[1][start : start + _BLOCK]
        some, other, overlap = _measure(detections, truth, (mine, its), choices)
        near = np.flatnonzero(overlap >= floor)
        parts.append((some[near], other[near], overlap[near]))
    if not parts:
        return (*pairs, np.zeros(0))
    if len(parts) == 1:
        return parts[0]
    some, other, overlap = (np.concatenate(column) for column in zip(*parts, strict=True))
    return some, other, overlap


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
            detections.keypoints, truth.keypoints, pairs, truth.boxes, truth.area, choices.sigmas
        )
        near = np.flatnonzero(overlap > 0)
        return pairs[0][near], pairs[1][near], overlap[near]
    return measure_overlaps(detections.boxes, truth.boxes, pairs, truth.crowd, choices.overlap)


def _measure_masks(masks: Masks, truth: Masks, pairs: tuple[Ints, Ints], crowd: Bools) -> Measured:
    """Measure the pixels shared by pairs of masks, divided by those covered together.

    Of a truth in ``crowd`` they are divided by the pixels of the found mask. pycocotools measures
    all pairs of some detections and truths, so that detections with the same truths are given to it
    together.
    """
    mine, its = pairs
    measure, overlap = load_code().iou, np.zeros(len(mine))
    for start, end, wide in _list_blocks(mine, its):
        some, other = mine[start:end:wide], its[start : start + wide]
        codes = masks.list_codes(some), truth.list_codes(other)
        overlap[start:end] = measure(*codes, crowd[other].tolist()).ravel()
    near = np.flatnonzero(overlap > 0)
    return mine[near], its[near], overlap[near]


def _list_blocks(mine: Ints, its: Ints) -> list[tuple[int, int, int]]:
    """List blocks that are all pairs of some detections and truths: start, end, truths."""
    if not len(mine):
        return []
    starts = np.flatnonzero(np.diff(mine, prepend=mine[0] - 1))  # of each detection
    wide = np.diff(starts, append=len(mine))
    first = its[starts]
    new = np.ones(len(starts), bool)
    # the truths of a detection are consecutive in most uses: the first one and their number tell
    # them
    new[1:] = (np.diff(first) != 0) | (np.diff(wide) != 0)
    ends = np.append(np.flatnonzero(new)[1:], len(starts))
    blocks = []
    for begin, end in zip(np.flatnonzero(new).tolist(), ends.tolist(), strict=True):
        size = int(wide[begin])
        low, high = int(starts[begin]), int(starts[begin]) + size * (end - begin)
        block = its[low:high].reshape(-1, size)
        if (block == block[0]).all():
            blocks.append((low, high, size))
        else:
            blocks += [(start, start + size, size) for start in range(low, high, size)]
    return blocks
