"""Make small sets of oriented boxes: those of boxes_sets.py, turned.

    truth, detections = make_oriented(7, "floats")
    truth, detections = make_oriented(7, "floats", corners="whole")

A ``bbox`` has center, width, height and angle in degrees, or with ``corners`` x and y of four corners that are
no exact rectangle: ``whole`` numbers, as in DOTA's labels, or ``moved`` by up to a tenth of a side so that one
rectangle around them is the smallest. (Often two are: at a corner of less than 90° the rectangles along both
sides have the area of the sides' cross product, and OpenCV takes one of them as its rounding falls.) Boxes of one
image have one angle but for a few degrees, so that a detection of a truth still overlaps it; some exchange width
and height, turned by 90°.
"""

import math
import random
from typing import Any

import numpy as np

from boxes_sets import make_boxes

Row = dict[str, Any]
Point = tuple[float, float]
PAIRS = 40  # whose overlaps are recorded, of each set
TURNS = (0.0, 0.0, 0.0, 3.0, -7.0, 12.5, 180.0, 720.0)


def make_oriented(seed: int, traits: str = "", *, corners: str = "") -> tuple[Row, list[Row]]:
    truth, detections = make_boxes(seed, traits)
    rng = random.Random(seed + 3_000_000)
    angle = {image["id"]: round(rng.random() * 360 - 180, 2) for image in truth["images"]}
    for row in [*truth["annotations"], *detections]:
        x, y, width, height = row["bbox"]
        turned = angle[row["image_id"]] + TURNS[int(rng.random() * len(TURNS))]
        box = [x + width / 2, y + height / 2, width, height, turned]
        if rng.random() < 0.2:
            box[2:] = [height, width, turned + 90]
        if corners == "whole":
            box = [float(round(number)) for number in list_corners(box)]
        elif corners:
            box = move_corners(list_corners(box), min(width, height, 15) / 5, rng)
        row["bbox"] = box
        row.pop("area", None)
    return truth, detections


def read_corners(row: Row) -> list[float]:
    box = row["bbox"]
    return box if len(box) == 8 else list_corners(box)


def list_pairs(truth: Row, detections: list[Row]) -> list[tuple[Row, Row]]:
    """The first detections and truths of one image whose surroundings overlap."""
    pairs = []
    for row in detections:
        for known in truth["annotations"]:
            if known["image_id"] != row["image_id"]:
                continue
            a, b = (np.reshape(read_corners(one), (4, 2)) for one in (row, known))
            if (np.maximum(a.min(0), b.min(0)) < np.minimum(a.max(0), b.max(0))).all():
                pairs.append((row, known))
    return pairs[:: max(len(pairs) // PAIRS, 1)][:PAIRS]


def list_corners(box: list[float]) -> list[float]:
    """x and y of the four corners of a box with an angle in degrees."""
    x, y, width, height, angle = box
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    out = []
    for along, across in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        a, b = along * width / 2, across * height / 2
        out += [x + a * cos - b * sin, y + a * sin + b * cos]
    return out


def move_corners(corners: list[float], far: float, rng: random.Random) -> list[float]:
    """Move corners at random, so that the smallest rectangle around them is smallest by 1 in 500.

    Those of a box that is too small for that stay an exact rectangle.
    """
    for _ in range(50):
        moved = [round(number + (rng.random() - 0.5) * far, 2) for number in corners]
        points = list(zip(moved[::2], moved[1::2], strict=True))
        areas = sorted(
            measure_along(points, start, end)
            for start, end in zip(points, points[1:] + points[:1], strict=True)
        )
        if areas[1] > areas[0] * 1.002:
            return moved
    return corners


def measure_along(points: list[Point], start: Point, end: Point) -> float:
    """The area of the rectangle around points one of whose sides lies along a line."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = [x * dx + y * dy for x, y in points]
    across = [y * dx - x * dy for x, y in points]
    return (max(along) - min(along)) * (max(across) - min(across)) / (dx * dx + dy * dy)


def measure_overlap(first: list[float], second: list[float]) -> float:
    """Intersection over union of two convex boxes of eight numbers, each cut by the other's sides."""
    one, other = (wind(list(zip(box[::2], box[1::2], strict=True))) for box in (first, second))
    shared = one
    for start, end in zip(other, other[1:] + other[:1], strict=True):
        shared = cut(shared, start, end)
    inside = measure_area(shared)
    covered = measure_area(one) + measure_area(other) - inside
    return inside / covered if covered > 0 else 0.0


def cross(start: Point, end: Point, point: Point) -> float:
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])


def measure_area(points: list[Point]) -> float:
    pairs = zip(points, points[1:] + points[:1], strict=True)
    return abs(math.fsum(a[0] * b[1] - a[1] * b[0] for a, b in pairs)) / 2


def wind(points: list[Point]) -> list[Point]:
    """The corners so that the inside lies on the same side of each side."""
    return points if cross(points[0], points[1], points[2]) >= 0 else points[::-1]


def cut(points: list[Point], start: Point, end: Point) -> list[Point]:
    """The part of a polygon that lies on the inner side of a line."""
    out: list[Point] = []
    for point, after in zip(points, points[1:] + points[:1], strict=True):
        here, there = cross(start, end, point), cross(start, end, after)
        if here >= 0:
            out.append(point)
        if (here > 0 > there) or (here < 0 < there):
            share = here / (here - there)
            out.append(
                (point[0] + share * (after[0] - point[0]), point[1] + share * (after[1] - point[1]))
            )
    return out
