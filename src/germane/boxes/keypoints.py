"""Keypoints of objects, and COCO's object keypoint similarity (OKS) of two sets of them."""

from typing import Any

import numpy as np

from germane.boxes.geometry import Boxes
from germane.boxes.id_spelling import has_booleans
from germane.core.ragged import Floats, Ints
from germane.errors import clip
from germane.readers.objects.numbers import read_doubles

COCO_SIGMAS = tuple(
    tenths / 10.0
    for tenths in (
        0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87,
        0.89, 0.89,
    )
)  # fmt: skip
"""Half the widths of COCO's 17 keypoints of a person: nose, eyes, ears, shoulders, …, ankles."""


def read_points(raw: Any) -> Floats:
    """Read the keypoints of one object: x, y and visibility of each. Raises ValueError."""
    sound = isinstance(raw, (list, tuple)) and len(raw) and len(raw) % 3 == 0
    numbers = read_doubles(raw) if sound else None
    if numbers is None or has_booleans(raw):
        raise ValueError(f"keypoints are x, y and visibility of each; got {clip(raw)}")
    return numbers


def measure_extents(points: Floats) -> Floats:
    """Measure the box around all keypoints, visible or not (N, 4): left, top, width and height."""
    x, y = points[..., 0], points[..., 1]
    left, top = x.min(axis=1), y.min(axis=1)
    return np.column_stack((left, top, x.max(axis=1) - left, y.max(axis=1) - top))


@np.errstate(over="ignore", invalid="ignore", under="ignore")  # of points that no image has
def measure_similarities(
    detected: Floats,
    truth: Floats,
    pairs: tuple[Ints, Ints],
    boxes: Boxes,
    area: Floats,
    sigmas: tuple[float, ...] | None,
) -> Floats:
    """Measure the OKS of pairs: the mean of exp(−d² ÷ 2·area·(2σ)²) over visible keypoints.

    ``detected`` and ``truth`` have shape (N, K, 3), ``boxes`` and ``area`` are those of the truths.
    Where no keypoint of a truth is visible, d is the distance to its box, doubled in size.
    """
    widths = (np.array(COCO_SIGMAS if sigmas is None else sigmas) * 2) ** 2
    seen = truth[..., 2] > 0  # G × K
    count = seen.sum(axis=1)
    order = np.argsort(~seen, axis=1, kind="stable")  # visible keypoints first
    detection_at, truth_at = pairs
    overlap = np.zeros(len(detection_at))
    space = area + np.spacing(1)
    for visible in np.unique(count[truth_at]).tolist():
        rows = np.flatnonzero(count[truth_at] == visible)
        a, b = detection_at[rows], truth_at[rows]
        if visible:
            points = order[b, :visible]
            dx = detected[a[:, None], points, 0] - truth[b[:, None], points, 0]
            dy = detected[a[:, None], points, 1] - truth[b[:, None], points, 1]
            wide = widths[points]
        else:
            dx = _leave(detected[a, :, 0], boxes.left[b], boxes.width[b])
            dy = _leave(detected[a, :, 1], boxes.top[b], boxes.height[b])
            wide = widths
        exponent = (dx**2 + dy**2) / wide / space[b, None] / 2
        overlap[rows] = np.exp(-exponent).sum(axis=1) / exponent.shape[1]
    return overlap


def _leave(points: Floats, first: Floats, size: Floats) -> Floats:
    """Measure how far points (P, K) lie beyond a side that is extended by its size both ways."""
    low, high = (first - size)[:, None], (first + size * 2)[:, None]
    beyond: Floats = np.maximum(0.0, low - points) + np.maximum(0.0, points - high)
    return beyond
