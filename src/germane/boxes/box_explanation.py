"""Explanation: the outcome of every detection, and the terms of a class's number."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from germane.boxes.box_measures import BoxMeasure
from germane.boxes.conventions import Conventions
from germane.core.calls import parse_whole
from germane.errors import InputError, clip, make_visible
from germane.output.documents import AS_TEXT, IF_ANY, Document
from germane.output.named_columns import Tabular, make_numbers, make_texts
from germane.output.tables import Row, Table, format_number, write_count
from germane.presentation.svg_pictures import SvgPicture

if TYPE_CHECKING:
    from germane.boxes.error_costs import ErrorCosts
    from germane.boxes.worst_images import WorstImages


Box = tuple[float, ...]  # x, y, width, height
SHOWN = 1000  # rows of a table for people
WRITTEN = 12  # terms of a formula that is written out

Points: TypeAlias = tuple[tuple[float, ...], ...]
OUTCOMES = {
    "true": ("true", "true"),
    "duplicate": ("false", "duplicate of {finder}"),
    "low overlap": ("false", "overlap below {threshold}"),
    "other class": ("false", "other class: {truth_label}"),
    "background": ("false", "background"),
    "id zero": ("false", "its truth has the id 0"),
    "crowd": ("ignored", "on a crowd"),
    "difficult": ("ignored", "on a difficult truth"),
    "flagged": ("ignored", "on a truth with the key ignore"),
    "unseen": ("ignored", "on a truth without visible keypoints"),
    "other area": ("ignored", "on a truth outside the area"),
    "outside": ("ignored", "outside the area"),
    "not exhaustive": ("ignored", "its class is not annotated exhaustively here"),
    "depth": ("dropped", "below the depth"),
    "confidence": ("dropped", "below the confidence"),
    "unknown class": ("dropped", "unknown class"),
    "unverified": ("dropped", "nobody looked for its class here"),
    "empty": ("dropped", "no area"),
    "missed": ("missed", "missed"),
}
"""Each outcome of a detection or of a missed truth: how it counts, and how tables write it."""


@dataclass(frozen=True)
class FoundBox:
    """A detection and its outcome."""

    _json = "* counts"

    number: int  # by falling score, from 1
    place: int  # where the source gives it, from 1
    image: Hashable = field(metadata=AS_TEXT)
    label: str
    box: Box
    score: float
    outcome: str
    truth: Hashable | None = field(
        default=None, metadata=AS_TEXT
    )  # the truth that it found, or that explains why it found none
    truth_label: str | None = None
    overlap: float | None = None
    finder: int | None = None  # of a duplicate: the detection that has the truth
    rank: int | None = None  # in the list of its class; None where it does not count
    found: int = 0  # true detections up to here
    term: float = 0.0
    says: str = ""  # the outcome as tables write it
    mask: dict[str, Any] | None = field(
        default=None, metadata=IF_ANY
    )  # run lengths, where masks are compared
    keypoints: Points | None = field(
        default=None, metadata=IF_ANY
    )  # x, y and visibility, where keypoints are compared
    corners: Points | None = field(
        default=None, metadata=IF_ANY
    )  # x and y of each, where oriented boxes are compared

    @property
    def counts(self) -> str:
        """How the detection counts: true, false, ignored or dropped."""
        return OUTCOMES[self.outcome][0]

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True)
class TruthBox:
    """An annotated box: found, missed or ignored."""

    id: Hashable = field(metadata=AS_TEXT)
    image: Hashable = field(metadata=AS_TEXT)
    label: str
    box: Box
    state: str
    crowd: bool
    finder: int | None  # the detection that found it
    near: int | None  # of a missed one: the detection of its class with the largest overlap
    overlap: float | None
    mask: dict[str, Any] | None = field(default=None, metadata=IF_ANY)
    keypoints: Points | None = field(default=None, metadata=IF_ANY)
    corners: Points | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True)
class ListedTerms:
    """The norm that divides the sum of a class's terms, and the value."""

    norm: float
    rest: float  # the part of the sum that no detection has
    value: float  # NaN where no truth counts
    relevant: int


Described: TypeAlias = tuple[tuple[FoundBox, ...], tuple[TruthBox, ...], ListedTerms | None]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Tabular, Document, SvgPicture):
    """The detections of one image or class with their outcomes, and the truths that they missed.

    ``rows`` are detections by falling score, and ``truths`` the annotated boxes. For a class,
    ``terms`` has the norm and the value, which is the sum of the rows' terms divided by the norm.
    An explanation prints as a table; that of an image draws a picture with ``svg()`` and ``save``.
    ``errors`` has the cost of each kind of error.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.explain(truth, found, "AP50", label=1).formula
    'AP50 = (101) / 101 = 1.0000'
    """

    _json = (
        "name measure=title complete=measure definition=measure.definition image class=label value"
        " formula terms counts detections=detected truths conventions"
    )

    name: str
    title: str  # the measure as it was asked for
    measure: BoxMeasure
    image: Hashable | None = field(metadata=AS_TEXT)
    label: str | None
    describe: Callable[[], Described] = field(repr=False)
    rank: Callable[[int | None], "WorstImages"] = field(repr=False)
    weigh: Callable[[], "ErrorCosts"] = field(repr=False)
    value: float  # the measure of the image or class alone
    per_class: Mapping[str, float]
    conventions: Conventions
    size: Box | None = None  # width and height of the image, NaN where unknown
    merged: bool = False
    of_all: bool = False  # was neither an image nor a class chosen?

    @cached_property
    def _described(self) -> Described:
        return self.describe()

    @property
    def rows(self) -> tuple[FoundBox, ...]:
        """The detections by falling score. Of all images and classes, missed truths follow."""
        return (*self.detected, *(self._missed_rows if self.of_all else ()))

    @property
    def detected(self) -> tuple[FoundBox, ...]:
        """The detections by falling score."""
        return self._described[0]

    @cached_property
    def _missed_rows(self) -> tuple[FoundBox, ...]:
        """The missed truths as rows without a number and a score."""
        return tuple(
            FoundBox(
                0, 0, box.image, box.label, box.box, math.nan, "missed", box.id, box.label,
                box.overlap, says="missed", mask=box.mask, keypoints=box.keypoints,
                corners=box.corners,
            )
            for box in self.missed
        )  # fmt: skip

    def rank_images(self, most: int | None = None) -> "WorstImages":
        """Rank the images by what they take from the number, of the class if one is explained.

        Raises InputError for an explanation of one image, or a number below 1.
        """
        if self.image is not None:
            raise InputError("one image has no rank; leave out image=… (--image).")
        if most is not None:
            number = parse_whole(most)
            if number is None or number < 1:
                raise InputError(
                    f"rank_images takes a number of images from 1 on; got {clip(most)}"
                )
            most = number
        return self.rank(most)

    @property
    def truths(self) -> tuple[TruthBox, ...]:
        """The annotated boxes."""
        return self._described[1]

    @property
    def terms(self) -> ListedTerms | None:
        """The norm and the value of a class; None for several classes."""
        return self._described[2]

    @cached_property
    def errors(self) -> "ErrorCosts":
        """The cost of each kind of error: the AP that would be gained if it were mended.

        Also of all images and classes together. Raises MeasureError for a measure other than AP at
        one threshold.
        """
        return self.weigh()

    @property
    def missed(self) -> tuple[TruthBox, ...]:
        """The truths that no detection found."""
        return tuple(truth for truth in self.truths if truth.state == "missed")

    @property
    def counts(self) -> dict[str, int]:
        """The number of detections with each outcome, in the order of OUTCOMES."""
        totals = Counter(row.outcome for row in self.detected)
        return {outcome: totals[outcome] for outcome in OUTCOMES if totals[outcome]}

    @property
    def sums(self) -> tuple[float, ...]:
        """The sum of the terms up to each row."""
        return tuple(accumulate(row.term for row in self.detected))

    @property
    def formula(self) -> str:
        """The value of a class as its terms divided by their norm."""
        if self.terms is None or math.isnan(self.terms.value):
            return ""
        if self.terms.rest:
            return (
                f"{self.title} = {self.terms.value:.4f}, an area that is not a sum over detections"
            )
        adding = [row for row in self.rows if row.term]
        written = [self._write_term(row, 4) for row in adding[:WRITTEN]]
        if len(adding) > WRITTEN:
            remainder = math.fsum(row.term for row in adding[WRITTEN:])
            written.append(f"… {len(adding) - WRITTEN} more that add {remainder:.4f}")
        total = " + ".join(written).replace("+ …", "…") or "0"
        return f"{self.title} = ({total}) / {self.terms.norm:g} = {self.terms.value:.4f}"

    def svg(self, *, paper: str | None = None) -> str:
        """Draw the boxes of one image as SVG, on ``light`` or ``dark`` paper, or the reader's.

        Raises InputError for an explanation of several images.
        """
        from germane.boxes.picture import draw

        return draw(self, paper)

    def table(self, *, digits: int | None = 4) -> Table:
        """Return detections, then missed truths; ``digits=None`` gives all digits and rows."""
        head = ["detection", *(["image"] if self.image is None else [])]
        head += ["class"] if self.label is None and not self.merged else []
        head += ["x", "y", "width", "height"] * self.of_all
        head += ["score", "outcome", "truth", "overlap"]
        head += ["rank", "precision", "recall", "term", "sum"] if self.terms else []
        rows = [
            self._write_row(row, total, digits)
            for row, total in zip(self.detected, self.sums, strict=True)
        ]
        rows += [self._write_missed(truth, digits) for truth in self.missed]
        if digits is not None and len(rows) > SHOWN:
            left_out = (f"… {len(rows) - SHOWN:,} rows", *["…"] * (len(head) - 1))
            rows = [*rows[: SHOWN // 2], left_out, *rows[-SHOWN // 2 :]]
        left = tuple(
            head.index(column) for column in ("image", "class", "outcome") if column in head
        )
        return Table(tuple(head), tuple(rows), tuple(self._write_notes()), left)

    def _write_row(self, row: FoundBox, total: float, digits: int | None) -> Row:
        overlap = format_number(row.overlap, digits and 2)
        score = format_number(row.score, digits)
        first = self._write_first(str(row.number), row)
        cells = (*first, score, str(row), "" if row.truth is None else f"{row.truth}", overlap)
        if self.terms is None:
            return cells
        if row.rank is None:
            return (*cells, *[""] * 5)
        recall = row.found / self.terms.relevant if self.terms.relevant else math.nan
        adds = (
            [self._write_term(row, digits), format_number(total, digits)] if row.term else ["", ""]
        )
        shares = (format_number(share, digits) for share in (row.found / row.rank, recall))
        return (*cells, str(row.rank), *shares, *adds)

    def _write_missed(self, truth_box: TruthBox, digits: int | None) -> Row:
        """Write a missed truth, with the largest overlap of a detection of its class."""
        near = "missed" if truth_box.near is None else f"missed; nearest is {truth_box.near}"
        first = self._write_first("–", truth_box)
        cells = (
            *first,
            "",
            near,
            f"{truth_box.id}",
            format_number(truth_box.overlap, digits and 2),
        )
        return (*cells, *[""] * 5) if self.terms else cells

    def _write_first(self, number: str, box: FoundBox | TruthBox) -> Iterator[str]:
        yield number
        if self.image is None:
            yield str(box.image)
        if self.label is None and not self.merged:
            yield box.label
        if self.of_all:
            yield from (f"{side:g}" for side in box.box)

    def _write_term(self, row: FoundBox, digits: int | None) -> str:
        """Write a term: so many recalls times a precision, where it is that."""
        if digits is None:
            return repr(row.term)
        precision = row.found / (row.rank or 1)
        levels = round(row.term / precision)
        if not math.isclose(levels * precision, row.term, rel_tol=1e-9):
            return f"{row.term:.4f}"
        share = "1" if row.found == row.rank else f"{row.found}/{row.rank}"
        return share if levels == 1 else str(levels) if share == "1" else f"{levels}·{share}"

    def _write_notes(self) -> Iterator[str]:
        chosen = {"class": self.label, "image": self.image}
        subject = " and ".join(
            f"{noun} {choice}" for noun, choice in chosen.items() if choice is not None
        )
        if self.formula:
            yield self.formula
            if (self.measure.points or "").startswith(("101", "11")):
                yield "  term: number of recall levels × the best precision from there on"
        elif math.isnan(self.value):
            yield f"{self.title}: there is nothing to find in {subject or 'these images'}"
        else:
            class_values = ", ".join(
                f"{name} {value:.4f}" for name, value in self.per_class.items()
            )
            of = f" of {subject} alone" * bool(subject)
            yield f"{self.title}{of}: {self.value:.4f}" + (
                f" ({class_values})" if class_values else ""
            )
        yield ""
        yield from self.describe_counts()
        if self.of_all and any(row.corners is not None for row in self.rows):
            yield "x, y, width, height: the upright box around the corners of each"
        yield f"{self.title}: {self.measure.definition}"
        yield f"conventions: {self.conventions}"

    def describe_counts(self) -> Iterator[str]:
        """Write how many detections have each outcome, and how many truths were found."""
        parts = []
        for kind in ("true", "false", "ignored", "dropped"):
            counts = {
                outcome: n for outcome, n in self.counts.items() if OUTCOMES[outcome][0] == kind
            }
            if not counts and kind in ("ignored", "dropped"):
                continue
            listing = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
            parts.append(
                f"{sum(counts.values())} {kind}"
                + f" ({listing})" * bool(listing and kind != "true")
            )
        yield f"{write_count(len(self.detected), 'detection')}: {', '.join(parts)}"
        states = Counter(truth.state for truth in self.truths)
        ignored = f"; {states['ignored']} ignored" if states["ignored"] else ""
        sought = write_count(states["found"] + states["missed"], "truth")
        yield (
            f"{sought}: {states['found']} found, {states['missed']} missed{ignored}; overlap"
            f" {self.measure.iou}"
        )

    def __repr__(self) -> str:
        subject = f"image {self.image}" if self.label is None else f"class {self.label}"
        if self.image is None and self.label is None and not self.merged:
            return f"<Explanation of {make_visible(self.name)}: {self.title}={self.value:.4f}>"
        return make_visible(
            f"<Explanation of {subject}: {self.title}={self.value:.4f},"
            f" {len(self.detected)} detections>"
        )

    def _list_columns(self) -> dict[str, Any]:
        rows, sides = self.rows, np.array([row.box for row in self.rows], float).reshape(-1, 4).T
        return {
            "number": np.array([row.number for row in rows], np.int64),
            "place": np.array([row.place for row in rows], np.int64),
            "image": make_texts(row.image for row in rows),
            "class": make_texts(row.label for row in rows),
            **dict(zip(("x", "y", "width", "height"), np.ascontiguousarray(sides), strict=True)),
            "score": np.array([row.score for row in rows]),
            "outcome": make_texts(row.outcome for row in rows),
            "counts": make_texts(row.counts for row in rows),
            "truth": make_texts(row.truth for row in rows),
            "overlap": make_numbers(row.overlap for row in rows),
            "rank": make_numbers(row.rank for row in rows),
            "term": np.array([row.term for row in rows]),
        }
