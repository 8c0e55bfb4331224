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


def pair_equal(keys: Ints, sorted_keys: Ints) -> tuple[Ints, Ints]:
    """List the positions of all pairs of equal keys; those of one of ``keys`` stand together."""
    low = np.searchsorted(sorted_keys, keys, "left")
    high = np.searchsorted(sorted_keys, keys, "right")
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
    starts = np.flatnonzero(np.diff(detection_at, prepend=detection_at[0] - 1))  # of each detection
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
