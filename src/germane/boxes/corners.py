"""Oriented boxes as four corners: made of five or eight numbers, measured, and compared."""

from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np

from germane.boxes.detections import Angles, Boxes, Overlap
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, write_option

NUMBERS = (5, 8)
"""Of an oriented box: center, width, height and angle, or x and y of four corners."""

ORIENTED: tuple[Overlap, ...] = ("oriented", "rectangle", "probiou")
"""The overlaps of oriented boxes."""

_SIGNS = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2  # of a box's corners, from its center
_FLAT = 1e-9  # a turn this small, relative to the sides, is none


@cache
def load_shapely() -> Any:
    """Load the library that intersects polygons. Raises InputError that names the extra."""
    try:
        return import_module("shapely")
    except ImportError:
        raise InputError(
            "the overlap of oriented boxes needs shapely: pip install 'germane[oriented]'."
            f" {write_option('overlap', 'probiou')}, Ultralytics' own, does without it."
        ) from None


def can_intersect() -> bool:
    """Is the extra installed?"""
    try:
        load_shapely()
    except InputError:
        return False
    return True


@np.errstate(invalid="ignore", over="ignore")  # of numbers that are refused later
def make_corners(rows: Floats, angles: Angles = "degrees") -> Floats:
    """Make corners (N, 4, 2) of rows of eight numbers, or of five: center, width, height, angle.

    In an image, whose y goes down, a positive angle turns clockwise, unless angles are
    ``counterclockwise``.
    """
    if rows.shape[1] == 8:
        return rows.reshape(-1, 4, 2)
    angle = rows[:, 4] if angles == "radians" else np.deg2rad(rows[:, 4])
    angle = -angle if angles == "counterclockwise" else angle
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    along, across = np.moveaxis(_SIGNS * rows[:, None, 2:4], 2, 0)
    turned = np.stack((along * cos - across * sin, along * sin + across * cos), axis=2)
    corners: Floats = rows[:, None, :2] + turned
    return corners


def list_box_corners(boxes: Boxes) -> Floats:
    """List the corners of boxes without an angle (N, 4, 2)."""
    left, top, right, bottom = boxes.as_array("xyxy").T
    x, y = (left, right, right, left), (top, top, bottom, bottom)
    return np.stack((np.stack(x, axis=1), np.stack(y, axis=1)), axis=2)


@np.errstate(invalid="ignore", over="ignore")
def measure_corner_areas(corners: Floats) -> Floats:
    """Measure the area inside four corners (N)."""
    (ax, ay), (bx, by) = (
        np.moveaxis(corners[:, end] - corners[:, start], 1, 0) for start, end in ((0, 2), (1, 3))
    )
    areas: Floats = np.abs(ax * by - ay * bx) / 2  # of the diagonals
    return areas


def surround_corners(corners: Floats) -> Floats:
    """Measure the box around four corners (N, 4): left, top, right, bottom."""
    return np.concatenate((corners.min(axis=1), corners.max(axis=1)), axis=1)


def find_crossed(corners: Floats) -> Ints:
    """Find the boxes two of whose sides cross: their corners are in no order around them."""
    sides = np.roll(corners, -1, axis=1) - corners
    after = np.roll(sides, -1, axis=1)
    turn = sides[..., 0] * after[..., 1] - sides[..., 1] * after[..., 0]
    flat = _FLAT * (sides**2).sum(axis=(1, 2))[:, None]
    return np.flatnonzero(((turn > flat).sum(axis=1) == 2) & ((turn < -flat).sum(axis=1) == 2))


def fit_rectangles(corners: Floats) -> Floats:
    """Fit the smallest rectangle around four corners (N, 5): center, width, height, radians.

    One of its sides lies along a side of the corners' hull, and so along a line through two
    corners. The rectangle of another direction is never smaller, so that all six are tried.
    """
    least = np.full(len(corners), np.inf)
    out = np.zeros((len(corners), 5))
    out[:, :2] = corners.mean(axis=1)
    for first, second in combinations(range(4), 2):
        side = corners[:, second] - corners[:, first]
        angle = np.arctan2(side[:, 1], side[:, 0])
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        offset = corners - corners[:, :1]
        along = offset[..., 0] * cos + offset[..., 1] * sin
        across = offset[..., 1] * cos - offset[..., 0] * sin
        width, height = np.ptp(along, axis=1), np.ptp(across, axis=1)
        smaller = (width * height < least * (1 - _FLAT)) & (side != 0).any(axis=1)
        least = np.where(smaller, width * height, least)
        middle = (
            (along.min(axis=1) + width / 2)[:, None],
            (across.min(axis=1) + height / 2)[:, None],
        )
        x, y = middle[0] * cos - middle[1] * sin, middle[0] * sin + middle[1] * cos
        rows = np.column_stack((corners[:, 0] + np.hstack((x, y)), width, height, angle))
        out[smaller] = rows[smaller]
    return out


def measure_oriented(
    corners: Floats,
    truth: Floats,
    pairs: tuple[Ints, Ints],
    crowd: Bools,
    overlap: Overlap,
    *,
    precision: str = "double",
) -> tuple[Ints, Ints, Floats]:
    """Measure the overlap of pairs of oriented boxes; return those that share an area.

    ``oriented`` is the area that both share, divided by the area that they cover together, or for a
    truth in ``crowd`` by that of the box alone. ``rectangle`` is the same of the smallest
    rectangles around the corners, and ``probiou`` compares these as normal distributions.
    """
    rows, at = np.unique(pairs[0], return_inverse=True)
    truth_rows, truth_at = np.unique(pairs[1], return_inverse=True)
    kind = np.float32 if precision == "single" else np.float64
    if overlap == "probiou":
        fitted = (fit_rectangles(side).astype(kind) for side in (corners[rows], truth[truth_rows]))
        found, wanted = fitted
        similarity = _compare_distributions(wanted[truth_at], found[at]).astype(float)
        near = np.flatnonzero(similarity > 0)
        return pairs[0][near], pairs[1][near], similarity[near]
    first, second = corners[rows], truth[truth_rows]
    if overlap == "rectangle":
        first, second = (make_corners(fit_rectangles(side), "radians") for side in (first, second))
    near = _find_touching(first, second, at, truth_at)
    at, truth_at = at[near], truth_at[near]
    left, right = pairs[0][near], pairs[1][near]
    shapely = load_shapely()
    polygons, truth_polygons = shapely.polygons(first), shapely.polygons(second)
    shared = shapely.area(shapely.intersection(polygons[at], truth_polygons[truth_at]))
    areas, truth_areas = measure_corner_areas(first)[at], measure_corner_areas(second)[truth_at]
    covered = np.where(crowd[right], areas, areas + truth_areas - shared)
    measured = (shared / covered).astype(kind).astype(float)
    near = np.flatnonzero(measured > 0)
    return left[near], right[near], measured[near]


def _find_touching(first: Floats, second: Floats, at: Ints, truth_at: Ints) -> Ints:
    """Find the pairs of boxes with an area whose surroundings overlap."""
    around, truth_around = surround_corners(first)[at], surround_corners(second)[truth_at]
    low = np.maximum(around[:, :2], truth_around[:, :2])
    high = np.minimum(around[:, 2:], truth_around[:, 2:])
    has_area, truth_has_area = (measure_corner_areas(side) > 0 for side in (first, second))
    return np.flatnonzero((low < high).all(axis=1) & has_area[at] & truth_has_area[truth_at])


_LEAST = 1e-7  # avoids a division by 0, as Ultralytics does


def _compare_distributions(first: Floats, second: Floats) -> Floats:
    """Compare rectangles (N, 5) as normal distributions, row by row: 1 less the Hellinger distance.

    Llerena et al. 2021 (arXiv 2106.06072), with the terms and limits of Ultralytics'
    batch_probiou, in the precision of what is given.
    """
    (a1, b1, c1), (a2, b2, c2) = map(_measure_spread, (first, second))
    a, b, c = a1 + a2, b1 + b2, c1 + c2
    dx, dy = first[:, 0] - second[:, 0], first[:, 1] - second[:, 1]
    spread = np.maximum(a * b - c**2, 0)  # of boxes without an area, it is rounding alone
    apart = (a * dy**2 + b * dx**2) / (spread + _LEAST) * 0.25
    askew = (c * -dx * dy) / (spread + _LEAST) * 0.5
    own = np.sqrt(np.maximum(a1 * b1 - c1**2, 0) * np.maximum(a2 * b2 - c2**2, 0))
    unlike = np.log(spread / (4 * own + _LEAST) + _LEAST) * 0.5
    distance = np.clip(apart + askew + unlike, _LEAST, 100.0)
    similarity: Floats = 1 - np.sqrt(1 - np.exp(-distance) + _LEAST)
    return similarity


def _measure_spread(rectangles: Floats) -> tuple[Floats, Floats, Floats]:
    """Measure the variances along x and y, and the covariance, of even distributions."""
    _, _, width, height, angle = rectangles.T
    along, across = width**2 / 12, height**2 / 12
    cos, sin = np.cos(angle), np.sin(angle)
    return (
        along * cos**2 + across * sin**2,
        along * sin**2 + across * cos**2,
        (along - across) * cos * sin,
    )
