"""Masks of objects, run-length encoded by pycocotools' own module, and their outlines in SVG."""

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from germane.boxes.image_ids import has_booleans
from germane.core.ragged import Bools, Floats, Ints
from germane.errors import InputError, clip, write_option
from germane.readers.objects.numbers import is_finite_number, read_doubles

_FARTHEST = 100_000  # pixels; a corner of a polygon beyond is no place in an image


@dataclass(frozen=True, eq=False, repr=False)
class Masks:
    """Masks (N), each with the height and width of its image."""

    counts: Any  # N, of bytes: run lengths as COCO compresses them
    size: Ints  # (N, 2): height and width
    area: Floats  # N, in pixels

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: Ints | Bools) -> "Masks":
        """Select masks by position or by flags."""
        return Masks(self.counts[rows], self.size[rows], self.area[rows])

    def list_codes(self, rows: Ints) -> list[dict[str, Any]]:
        """List some masks as pycocotools takes them."""
        return [
            {"size": size, "counts": counts}
            for size, counts in zip(
                self.size[rows].tolist(), self.counts[rows].tolist(), strict=True
            )
        ]

    def measure_boxes(self) -> Floats:
        """Measure the box around each mask (N, 4): left, top, width, height; zeros if empty."""
        if not len(self):
            return np.zeros((0, 4))
        codes = self.list_codes(np.arange(len(self)))
        return np.concatenate([load_code().toBbox(part) for part in _divide(codes)])


@cache
def load_code() -> Any:
    """Load pycocotools' run-length code. Raises InputError that names the extra."""
    try:
        return import_module("pycocotools.mask")
    except ImportError:
        raise InputError("masks need pycocotools: pip install 'germane[masks]'") from None


def can_read_masks() -> bool:
    """Is the extra installed?"""
    try:
        load_code()
    except InputError:
        return False
    return True


def join_masks(codes: Sequence[dict[str, Any]]) -> Masks:
    """Join masks that pycocotools encoded, or that ``encode_mask`` did."""
    counts = np.empty(len(codes), object)
    counts[:] = [code["counts"] for code in codes]
    size = np.array([code["size"] for code in codes], np.int64).reshape(-1, 2)
    return Masks(counts, size, measure_codes(codes))


def measure_codes(codes: Sequence[dict[str, Any]]) -> Floats:
    """Count the pixels of masks that are encoded (N)."""
    parts = [load_code().area(part) for part in _divide(codes)]
    return np.concatenate(parts).astype(float) if parts else np.zeros(0)


def _divide(codes: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Divide masks: with NumPy 2, pycocotools 2.0.11 takes at most 63 boxes or 255 areas."""
    return (list(codes[start : start + 60]) for start in range(0, len(codes), 60))


def encode_array(array: Any) -> list[dict[str, Any]]:
    """Encode masks of shape (N, H, W), of which what is not 0 belongs to the object."""
    columns = np.asfortranarray(np.moveaxis(np.asarray(array) != 0, 0, 2).astype(np.uint8))
    codes: list[dict[str, Any]] = load_code().encode(columns)
    return codes


def encode_mask(raw: Any, size: tuple[float, float]) -> dict[str, Any]:
    """Encode one segmentation of COCO: polygons, run lengths, or compressed run lengths.

    ``size`` is the width and height of the image, NaN if they are not known. Raises ValueError,
    which says what is wrong.
    """
    if isinstance(raw, (list, tuple)):
        return _encode_polygons(raw, size)
    if not isinstance(raw, dict) or not {"size", "counts"} <= raw.keys():
        raise ValueError(
            f"a mask is polygons, or run lengths with size and counts; got {clip(raw)}"
        )
    height, width = _read_size(raw["size"])
    if any(
        not math.isnan(expected) and expected != side
        for expected, side in zip(size, (width, height), strict=True)
    ):
        raise ValueError(
            f"the mask has {height:,} rows and {width:,} columns of pixels, but its image has"
            f" {size[1]:g} and {size[0]:g}"
        )
    counts = raw["counts"]
    if isinstance(counts, (list, tuple)):
        _check_runs(counts, height * width)
        code: dict[str, Any] = load_code().frPyObjects(
            {"size": [height, width], "counts": list(counts)}, height, width
        )
        return code
    counts = counts.encode("ascii", "replace") if isinstance(counts, str) else counts
    if not isinstance(counts, bytes) or _is_broken(counts):
        raise ValueError(f"the run lengths of the mask cannot be read: {clip(counts)}")
    return {"size": [height, width], "counts": counts}


def decode_mask(code: dict[str, Any]) -> Any:
    """Decode a mask to an array of 0 and 1 (H, W)."""
    with warnings.catch_warnings():  # pycocotools 2.0.11 is older than NumPy's __array__(copy=…)
        warnings.simplefilter("ignore", DeprecationWarning)
        return load_code().decode(code)


def _encode_polygons(raw: Any, size: tuple[float, float]) -> dict[str, Any]:
    for polygon in raw:
        sound = isinstance(polygon, (list, tuple)) and len(polygon) >= 4 and len(polygon) % 2 == 0
        if not sound or read_doubles(polygon, _FARTHEST) is None or has_booleans(polygon):
            raise ValueError(f"a polygon is x and y of its corners, in pixels; got {clip(polygon)}")
    if not raw:
        raise ValueError("the mask has no polygon")
    if len(raw[0]) < 6:  # which pycocotools takes for a box, and fails
        raise ValueError(f"a polygon has three corners or more; got {clip(raw[0])}")
    width, height = size
    if not (width > 0 and height > 0):
        raise ValueError(explain_lost_size("polygons need"))
    code = load_code()
    merged: dict[str, Any] = code.merge(code.frPyObjects(list(raw), int(height), int(width)))
    return merged


def explain_lost_size(what: str) -> str:
    """Say that something needs the size of its image, and how to give it."""
    return (
        f"{what} the size of their image, which is not known. {write_option('images')}"
        " takes sizes, as {image: (width, height)}, a file of them, or a folder of pictures."
    )


def _read_size(raw: Any) -> tuple[int, int]:
    if isinstance(raw, (list, tuple, np.ndarray)) and len(raw) == 2:
        height, width = raw
        if type(height) is type(width) is int and 0 <= height < 2**16 and 0 <= width < 2**16:
            return height, width
        if all(is_finite_number(side) and side == int(side) and 0 <= side < 2**16 for side in raw):
            return int(height), int(width)
    raise ValueError(f"the size of a mask is height and width; got {clip(raw)}")


def _check_runs(counts: Any, pixels: int) -> None:
    are_whole = all(isinstance(count, (int, np.integer)) and count >= 0 for count in counts)
    if not are_whole or has_booleans(counts):
        raise ValueError(f"run lengths are whole numbers; got {clip(counts)}")
    if sum(counts) != pixels:
        raise ValueError(
            f"the run lengths of the mask add up to {sum(counts):,}, not to its {pixels:,} pixels"
        )


_LETTERS = bytes(range(48, 112))  # of compressed run lengths; the upper half goes on


def _is_broken(counts: bytes) -> bool:
    """Has text letters that no run length has, or does it end within one?"""
    return bool(counts.translate(None, _LETTERS)) or (counts[-1:] >= b"P")


def is_compressed(raw: Any) -> bool:
    """Are these compressed run lengths, as COCO's results have them?"""
    return isinstance(raw, dict) and isinstance(raw.get("counts"), (str, bytes))


def find_broken_masks(masks: Masks) -> Ints:
    """Find masks whose run lengths miss their pixels, on which pycocotools would not end."""
    broken = [np.zeros(0, np.int64)]
    for start in range(0, len(masks), _CHUNK):
        counts = masks.counts[start : start + _CHUNK].tolist()
        height, width = masks.size[start : start + _CHUNK].T
        broken.append(start + np.flatnonzero(_add_up(counts) != height * width))
    return np.concatenate(broken)


_CHUNK = 2_000  # masks


def _add_up(codes: list[bytes]) -> Ints:
    """Add up the compressed run lengths of each mask; -1 if one of them is negative.

    A run is written with 5 bits a letter, the lowest first, and from the fourth run on as the
    difference to the run two places before it.
    """
    letters = np.frombuffer(b"".join(codes), np.uint8).astype(np.int64) - 48
    last = np.flatnonzero(letters & 32 == 0)  # letter of each run
    length = np.diff(last, prepend=-1)
    shift = 5 * (np.arange(last[-1] + 1 if len(last) else 0) - np.repeat(last - length + 1, length))
    if (length > 7).any():
        return np.full(len(codes), -1)
    parts = (letters & 31) << shift
    runs = np.add.reduceat(parts, last - length + 1) if len(last) else parts
    runs -= (letters[last] & 16 > 0) * (np.int64(1) << (5 * length))
    owner = np.repeat(np.arange(len(codes)), [len(code) for code in codes])[last]
    first = np.searchsorted(owner, np.arange(len(codes)))[owner]
    number = np.arange(len(runs)) - first  # of a run in its mask
    sums = np.where(number == 0, runs, 0)
    for parity in (0, 1):  # runs that follow from each other
        mine = (number % 2 == parity) & (number > 0)
        before = np.concatenate(([0], np.cumsum(np.where(mine, runs, 0))))
        sums += np.where(mine, before[1:] - before[first], 0)
    totals = np.bincount(owner, weights=sums, minlength=len(codes)).astype(np.int64)
    totals[owner[sums < 0]] = -1
    return totals


# --- Outlines: masks and keypoints as paths of SVG ------------------------------------------------

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
