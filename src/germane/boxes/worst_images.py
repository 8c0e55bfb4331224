"""The worst images: what each image takes from the number of a detector."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from germane.boxes.box_comparison import compute_shares
from germane.boxes.box_result import Result
from germane.core.ragged import Ints
from germane.output.documents import AS_TEXT, LEFT_OUT, Document
from germane.output.named_columns import Tabular, make_texts
from germane.output.tables import Table, format_number, write_count


@dataclass(frozen=True)
class ImageCost:
    """An image: its truths, the errors in it, and what it takes from the number."""

    image: Hashable = field(metadata=AS_TEXT)
    truths: int
    found: int
    missed: int
    false: int
    cost: float
    """how much the number would rise without the image, and fall if below 0"""


@dataclass(frozen=True, eq=False, repr=False)
class WorstImages(Tabular, Document):
    """Images by what they cost, the worst first.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}] * 3
    >>> found = [{"boxes": [[10, 10, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> empty = {"boxes": [], "labels": [], "scores": []}
    >>> explanation = germane.boxes.explain(truth, found * 2 + [empty])
    >>> [row.image for row in explanation.rank_images(1)]
    [2]
    """

    title: str
    rows: Sequence[ImageCost]
    images: int = field(metadata=LEFT_OUT)
    """the number of all images"""
    definition: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Any:
        return iter(self.rows)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row an image."""
        rows = [
            (
                f"{row.image}", *(f"{count}" for count in (row.truths, row.found, row.missed)),
                f"{row.false}", format_number(row.cost, digits, sign="+"),
            )
            for row in self.rows
        ]  # fmt: skip
        notes = (
            f"the worst {len(rows)} of {write_count(self.images, 'image')}",
            f"cost: what {self.title} would gain without the image, to first order",
            f"{self.title}: {self.definition}",
        )
        return Table(("image", "truths", "found", "missed", "false", "cost"), tuple(rows), notes)

    def __repr__(self) -> str:
        return f"<WorstImages of {self.title}: {len(self)}>"

    def _list_columns(self) -> dict[str, Any]:
        names = ("truths", "found", "missed", "false", "cost")
        columns = {name: np.array([getattr(row, name) for row in self.rows]) for name in names}
        return {"image": make_texts(row.image for row in self.rows), **columns}


def rank_images(result: Result, most: int | None = None) -> WorstImages:
    """Rank the images of a result by what they take from its first measure."""
    measure, matches, lists = result.measures[0], result.matches, result.lists
    images = len(matches.truths.images)
    area = list(result.conventions.areas).index(measure.area or "")
    chosen = result.mark_classes(measure)
    _, counts, hit = lists.place_outcomes(measure.view, area, 0)
    sides = matches.truths, matches.detections

    def count(rows: Any, side: int) -> Ints:
        rows = rows & chosen[sides[side].label]
        return np.bincount(sides[side].image[rows], minlength=images)

    found, false = count(hit, 1), count(counts & ~hit, 1)
    truths = count(~matches.ignored[area], 0)
    shares = compute_shares(result, measure)
    costs = (result[measure].mean - shares) / images
    errors = truths - found + false
    order = np.lexsort((np.arange(images), -errors, -np.round(costs, 12)))[:most]
    rows = [
        ImageCost(
            matches.truths.images[i], int(truths[i]), int(found[i]), int(truths[i] - found[i]),
            int(false[i]), float(costs[i]),
        )
        for i in order.tolist()
    ]  # fmt: skip
    return WorstImages(next(iter(result)), rows, images, measure.definition)
