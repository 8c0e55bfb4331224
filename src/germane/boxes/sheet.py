"""Sheet: one side of an evaluation as it is given, sound or not, for the checks to look at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from germane.boxes.columns import Columns, match_classes, read_array
from germane.boxes.detections import Detections, Truths
from germane.boxes.geometry import Boxes, BoxFormat, make_boxes
from germane.boxes.id_spelling import find_ids
from germane.boxes.masks import Masks
from germane.boxes.reading_options import Side
from germane.checks.rows import Problem, Sees
from germane.core.ragged import Bools, Floats, Ints
from germane.output.formatting import write_count


@dataclass(eq=False, repr=False)
class Sheet:
    """One side as it is given; nothing is refused."""

    side: Side
    where: str
    locate: Callable[[int], str]
    boxes: Boxes  # N; NaN where there are no numbers
    image: Ints  # N; -1: an image that is not listed
    label: Ints  # N; -1: a class that is not listed
    sizes: Floats  # (N, 2): of the box's image; NaN where unknown
    box_format: BoxFormat
    crowd: Bools  # N
    relative: bool = False
    score: Floats | None = None
    area: Floats | None = None  # as it is given
    columns: Columns | None = None  # None: all boxes are sound
    masks: Masks | None = None  # N
    keypoints: Floats | None = None  # (N, P, 3)

    @cached_property
    def finite(self) -> Bools:
        """Are these boxes numbers? (N)"""
        return np.asarray(np.isfinite(self.boxes.as_array()).all(axis=1))

    @cached_property
    def negative(self) -> Bools:
        """Have these boxes a negative size? (N)"""
        return (self.boxes.width < 0) | (self.boxes.height < 0)

    @cached_property
    def sound(self) -> Bools:
        """Does evaluate take these boxes? (N)"""
        usable = self.finite & ~self.negative & (self.image >= 0)
        return usable if self.score is None else usable & np.isfinite(self.score)

    @cached_property
    def repeated(self) -> Bools:
        """Repeat these boxes another one of the same image, class and score? (N)"""
        rows = np.flatnonzero(self.sound)
        parts = [*self.boxes.as_array()[rows].T, self.image[rows], self.label[rows]]
        parts += [] if self.score is None else [self.score[rows]]
        code = np.zeros(len(rows), np.uint64)
        for part in parts:  # equal rows have equal codes, and hardly any other two
            code = code * _ODD + (part.astype(float) + 0.0).view(np.uint64) * _ODD
            code ^= code >> np.uint64(29)
        out = np.zeros(len(self.sound), bool)
        _, first = np.unique(code, return_index=True)
        if len(first) < len(rows):
            columns = np.column_stack(parts)
            _, first = np.unique(columns, axis=0, return_index=True)
            out[np.delete(rows, first)] = True
        return out

    def show(self, rows: Ints) -> tuple[str, ...]:
        """Show the places of the first few boxes."""
        return tuple(map(self.locate, rows[:3].tolist()))

    def report(self, flags: Bools, text: str) -> Sees:
        """Report the boxes that are flagged; ``text`` begins with the verb of several."""
        rows = np.flatnonzero(flags)
        if len(rows):
            verb, _, rest = text.partition(" ")
            verb = _OF_ONE.get(verb, f"{verb}s") if len(rows) == 1 else verb
            text = f"{len(rows):,} of {write_count(len(flags), 'box')} {verb} {rest}"
            yield Problem(text, len(rows), self.show(rows))


_ODD = np.uint64(0x9E3779B97F4A7C15)

_OF_ONE = {"have": "has", "are": "is", "go": "goes"}


def make_sheet(columns: Columns, truths: Truths, side: Side) -> Sheet:
    """Make a sheet of columns, with NaN for what is no number."""
    image = find_ids(
        columns.image, truths.images, truths.files, files=True, typed=columns.typed and truths.typed
    )
    sizes = _list_sizes(truths, image)
    raw = _read_rows(columns.boxes, 4).reshape(-1, 4) * (
        np.tile(sizes, 2) if columns.relative else 1
    )
    score, area = (
        None if column is None else _read_rows(column, 1).ravel()
        for column in (columns.score, columns.area)
    )
    return Sheet(
        side,
        columns.where,
        columns.locate,
        make_boxes(raw, columns.box_format),
        image,
        match_classes(columns, truths)[0],
        sizes,
        columns.read_as or columns.box_format,
        np.zeros(len(columns), bool) if columns.crowd is None else np.asarray(columns.crowd, bool),
        columns.relative,
        score,
        area,
        columns,
        columns.masks,
        columns.keypoints,
    )


def make_sound_sheet(
    raw: Truths | Detections, truths: Truths, columns: Columns | None = None
) -> Sheet:
    """Make a sheet of boxes that have been read without an error."""
    is_truth = isinstance(raw, Truths)
    return Sheet(
        "truth" if is_truth else "detections",
        raw.where if isinstance(raw, Truths) else raw.name,
        columns.locate if columns else lambda row: f"box {row + 1}",
        raw.boxes,
        raw.image,
        raw.label,
        _list_sizes(truths, raw.image),
        (columns.read_as or columns.box_format) if columns else "xywh",
        raw.crowd if isinstance(raw, Truths) else np.zeros(len(raw), bool),
        columns.relative if columns else False,
        raw.score if isinstance(raw, Detections) else None,
        raw.area if isinstance(raw, Truths) else None,
        masks=raw.masks,
        keypoints=raw.keypoints,
    )


def _list_sizes(truths: Truths, image: Ints) -> Floats:
    if truths.sizes is None or not len(truths.sizes):
        return np.full((len(image), 2), np.nan)
    sizes = np.asarray(truths.sizes)[image]
    # some tools write 0 for a size they do not know
    has_size = (image >= 0) & (sizes > 0).all(axis=1)
    return np.where(has_size[:, None], sizes, np.nan)


def _read_rows(raw: object, count: int) -> Floats:
    """Read rows of so many numbers; NaN in a row that has others."""
    try:
        array = read_array(raw)
        if array.size == count * len(array):
            return array
    except (TypeError, ValueError):
        pass
    out = np.full((len(raw), count), np.nan)  # type: ignore[arg-type]
    for place, row in enumerate(raw):  # type: ignore[arg-type, var-annotated]
        try:
            out[place] = read_array(row if count > 1 else [row])
        except (TypeError, ValueError):
            continue
    return out
