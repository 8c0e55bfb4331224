"""Outlines: masks and keypoints as paths of SVG."""

import math
from typing import Any

import numpy as np

from germane.boxes.masks import decode_mask
from germane.core.ragged import Bools, Ints

# pairs of COCO's 17 keypoints of a person that a line joins, numbered from 0
_BONES = (
    (0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6), (5, 7), (7, 9), (6, 8), (8, 10),
    (5, 11), (6, 12), (11, 12), (11, 13), (13, 15), (12, 14), (14, 16),
)  # fmt: skip
_CELL = 1.5  # pixels of the picture that a step of an outline has at least
_DOT = 2.5  # pixels


def trace_mask(code: dict[str, Any], origin: tuple[float, float], scale: float) -> str:
    """Trace the outline of a mask, also of its holes, as the path of a picture of this scale."""
    step = max(math.ceil(_CELL / scale), 1)
    mask = decode_mask(code)[::step, ::step] > 0
    left, top = origin
    parts = []
    for loop in trace(mask):
        points = (f"{left + x * step * scale:.1f} {top + y * step * scale:.1f}" for x, y in loop)
        parts.append(f"M{'L'.join(points)}Z")
    return "".join(parts)


def trace(mask: Bools) -> list[list[tuple[float, float]]]:
    """Trace the loops around a mask (H, W), through the middles of its pixels' sides."""
    # Each side between the mask and the rest leads one way around the mask. At every corner as many
    # sides begin as end, so that a walk along unused ones can stop only where it began.
    padded = np.pad(mask, 1)
    inner = padded[1:-1, 1:-1]
    after: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for neighbor, start, end in (
        (padded[:-2, 1:-1], (0, 0), (1, 0)),
        (padded[1:-1, 2:], (1, 0), (1, 1)),
        (padded[2:, 1:-1], (1, 1), (0, 1)),
        (padded[1:-1, :-2], (0, 1), (0, 0)),
    ):
        y, x = np.nonzero(inner & ~neighbor)
        for begin, to in zip(_move(x, y, start), _move(x, y, end), strict=True):
            after.setdefault(begin, []).append(to)
    loops = []
    while after:
        corner = first = next(iter(after))
        corners = [first]
        while True:
            ends = after[corner]
            corner_after = ends.pop()
            if not ends:
                del after[corner]
            corner = corner_after
            if corner == first:
                break
            corners.append(corner)
        loops.append(_smooth(corners))
    return loops


def _move(x: Ints, y: Ints, by: tuple[int, int]) -> list[tuple[int, int]]:
    return list(zip((x + by[0]).tolist(), (y + by[1]).tolist(), strict=True))


def _smooth(corners: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Join the middles of the sides, and leave out points on straight lines."""
    array = np.array(corners, float)
    middle = (array + np.roll(array, -1, axis=0)) / 2
    ahead, behind = np.roll(middle, -1, axis=0) - middle, middle - np.roll(middle, 1, axis=0)
    turns = (ahead != behind).any(axis=1)
    return [(x, y) for x, y in middle[turns].tolist()]


def draw_points(
    points: tuple[tuple[float, ...], ...], origin: tuple[float, float], scale: float
) -> str:
    """Draw the visible keypoints of one object as dots; lines join those of a person."""
    seen = [point[2] > 0 for point in points]
    seen = seen if any(seen) else [True] * len(points)
    places = [(origin[0] + x * scale, origin[1] + y * scale) for x, y, _ in points]
    parts = []
    for a, b in _BONES if len(points) == 17 else ():
        if seen[a] and seen[b]:
            (x, y), (to_x, to_y) = places[a], places[b]
            parts.append(f"M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}")
    for (x, y), is_seen in zip(places, seen, strict=True):
        if is_seen:
            parts.append(
                f"M{x - _DOT:.1f} {y:.1f}a{_DOT} {_DOT} 0 1 0 {2 * _DOT} 0a{_DOT} {_DOT} 0 1 0"
                f" {-2 * _DOT} 0"
            )
    return "".join(parts)
