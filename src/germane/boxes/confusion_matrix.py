"""The confusion matrix: truths of each class by the class of the detection that lies on them."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, get_args, get_type_hints

import numpy as np

from germane.boxes.box_measures import BoxMeasure
from germane.boxes.box_result import Result
from germane.boxes.confusion_dialects import OWN, resolve_confusion_dialect
from germane.boxes.confusion_pairing import PAIRINGS, CountedPairs, Pairing, pair_boxes
from germane.boxes.conventions import Conventions, MatchingOptions, make_conventions, take_reading
from germane.boxes.detections import Detections, Truths
from germane.boxes.image_ids import find_id
from germane.boxes.matching import arrange_detections, arrange_truths, mark_ignored
from germane.boxes.score_curves import sweep
from germane.boxes.verbs import BoxOptions, open_boxes
from germane.core.finding import Finding
from germane.core.ragged import Floats, Ints
from germane.dialects.dialect import Dialect
from germane.errors import PolicyError, check_choice, clip, make_visible, offer
from germane.evaluation.layout import write_dialect
from germane.measures.box_names import Levels
from germane.output.documents import AS_TEXT, LEFT_OUT, Document
from germane.output.named_columns import Tabular, make_numbers, make_texts
from germane.output.tables import Table, format_number, write_count
from germane.presentation.svg_pictures import SvgPicture

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, TruthSource

Cut: TypeAlias = Literal["at_least", "above"]
Shown: TypeAlias = Literal["counts", "shares"]
BACKGROUND = "background"
MOST = 20  # classes of a matrix that is printed
LARGEST = 20  # confusions that are printed of a larger one


@dataclass(frozen=True)
class CellRow:
    """A detection and the truth that it lies on, or one of both alone."""

    image: Hashable = field(metadata=AS_TEXT)
    truth: Hashable | None = field(metadata=AS_TEXT)
    detection: int | None
    """its number in the source, from 1"""
    score: float | None
    overlap: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Cell(Tabular, Document):
    """What a cell of a confusion matrix counts, by falling score."""

    truth: str
    detection: str
    rows: tuple[CellRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def images(self) -> list[Hashable]:
        """The images, each once."""
        return list(dict.fromkeys(row.image for row in self.rows))

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a pair."""
        rows = [
            (
                f"{row.image}",
                "" if row.truth is None else f"{row.truth}",
                "" if row.detection is None else f"{row.detection}",
                format_number(row.score, digits),
                format_number(row.overlap, digits and 2),
            )
            for row in self.rows
        ]
        counted = (
            f"{write_count(len(rows), 'pair')} in {write_count(len(self.images), 'image')}:"
            f" {self.truth} in the truth, {self.detection} in the detections"
        )
        return Table(("image", "truth", "detection", "score", "overlap"), tuple(rows), (counted,))

    def __repr__(self) -> str:
        return make_visible(f"<Cell {self.truth} as {self.detection}: {len(self)}>")

    def _list_columns(self) -> dict[str, Any]:
        return {
            "image": make_texts(row.image for row in self.rows),
            "truth": make_texts(row.truth for row in self.rows),
            "detection": make_numbers(row.detection for row in self.rows),
            "score": make_numbers(row.score for row in self.rows),
            "overlap": make_numbers(row.overlap for row in self.rows),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Tabular, Document, SvgPicture):
    """A confusion matrix: truths in rows, detections in columns, and background last in each.

    ``counts`` has shape (K + 1, K + 1) for the K ``classes``, and ``shares`` is each count divided
    by the sum of its row. ``cell`` lists the images behind a count, and ``svg()`` and ``save`` draw
    the matrix.

    >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> germane.boxes.confusion(truth, found).counts.tolist()
    [[1, 0], [0, 0]]
    """

    _json = (
        "name iou confidence chosen_by_f1=mean_f1 pairing conventions=written dialect classes"
        " counts ignored"
    )

    name: str
    classes: Sequence[str]
    iou: float
    confidence: float
    """the lowest score that counts"""
    mean_f1: float | None
    """the best mean F1, if the confidence was chosen for it"""
    pairing: Pairing
    conventions: Conventions = field(metadata=LEFT_OUT)
    truths: Truths = field(metadata=LEFT_OUT)
    """those that can be found"""
    detections: Detections = field(metadata=LEFT_OUT)
    """those that score enough"""
    pairs: CountedPairs = field(metadata=LEFT_OUT)
    ignored: int
    """detections on truths that are ignored, such as crowds; they are in no cell"""
    tool: Dialect | None = field(default=None, metadata=LEFT_OUT)
    cut: Cut = "at_least"
    """is that score itself enough?"""
    findings: tuple[Finding, ...] = ()

    @property
    def dialect(self) -> str | None:
        """The name of the tool whose conventions hold."""
        return None if self.tool is None else self.tool.name

    @property
    def labels(self) -> list[str]:
        """The names of rows and columns: the classes, and background."""
        taken = BACKGROUND in self.classes
        return [*self.classes, "no object" if taken else BACKGROUND]

    @cached_property
    def _cells(self) -> tuple[Ints, Ints]:
        """The row and the column of each pair."""
        last = len(self.classes)
        row = np.append(self.truths.label, last)[self.pairs.truth]
        column = np.append(self.detections.label, last)[self.pairs.detection]
        return row, column

    @cached_property
    def counts(self) -> Ints:
        """The number of pairs (K + 1, K + 1)."""
        size = len(self.classes) + 1
        row, column = self._cells
        counted = np.bincount(row * size + column, minlength=size * size)
        return counted.reshape(size, size).astype(np.int64)

    @property
    def shares(self) -> Floats:
        """The counts, divided by the sum of their row (K + 1, K + 1); NaN in an empty row."""
        total = self.counts.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(
            self.counts, total, out=np.full(self.counts.shape, math.nan), where=total > 0
        )
        return shares

    @property
    def written(self) -> list[str]:
        """The conventions that matter here, as text."""
        names = self.conventions.to_dict().keys() - {"candidate", "iou", "confidence"}
        return self.conventions.write_words(sorted(names))

    def cell(self, truth: Hashable, detection: Hashable) -> Cell:
        """List the truths of a class that are detected as another, or ``background``.

        >>> truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
        >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": [1], "scores": [0.9]}]
        >>> germane.boxes.confusion(truth, found).cell(1, 1).images
        [0]

        Raises NotFoundError for a class that there is not.
        """
        row, column = self._find(truth), self._find(detection)
        rows, columns = self._cells
        chosen = np.flatnonzero((rows == row) & (columns == column))
        score = np.append(self.detections.score, -math.inf)[self.pairs.detection[chosen]]
        chosen = chosen[np.argsort(-score, kind="stable")]
        labels = self.labels
        return Cell(labels[row], labels[column], tuple(map(self._list_pair, chosen.tolist())))

    def _find(self, label: Hashable) -> int:
        if label == self.labels[-1]:
            return len(self.classes)
        ids = [*self.truths.classes, self.labels[-1]]
        return find_id(label, ids, self.labels, "class")

    def _list_pair(self, pair: int) -> CellRow:
        truth, detection = int(self.pairs.truth[pair]), int(self.pairs.detection[pair])
        overlap = float(self.pairs.overlap[pair])
        side = self.truths.image[truth] if truth >= 0 else self.detections.image[detection]
        return CellRow(
            self.truths.images[side],
            None if truth < 0 else self.truths.ids[truth],
            None if detection < 0 else int(self.detections.place[detection]) + 1,
            None if detection < 0 else float(self.detections.score[detection]),
            None if math.isnan(overlap) else overlap,
        )

    def table(self, *, digits: int | None = 4, show: Shown = "counts") -> Table:
        """One row a class of truths, one column a class of detections; shares have two digits."""
        check_choice("show", show, get_args(Shown))
        if show == "counts":
            cells = [[f"{count}" for count in row] for row in self.counts.tolist()]
        else:
            digits = digits and 2
            cells = [
                [format_number(share, digits, nan="–") for share in row]
                for row in self.shares.tolist()
            ]
        rows = tuple((name, *row) for name, row in zip(self.labels, cells, strict=True))
        return Table(
            ("truth", *self.labels),
            rows,
            ("rows: truths; columns: detections", *self._write_notes()),
        )

    def largest(self, most: int = LARGEST, *, digits: int | None = 4) -> Table:
        """One row a confusion of two classes or with background, the largest counts first."""
        counts, shares = self.counts.copy(), self.shares
        np.fill_diagonal(counts, 0)
        order = np.argsort(-counts, axis=None, kind="stable")
        order = order[: min(most, np.count_nonzero(counts))]
        labels = self.labels
        rows = [
            (
                labels[row],
                labels[column],
                f"{counts[row, column]}",
                format_number(float(shares[row, column]), digits and 2),
            )
            for row, column in zip(*np.unravel_index(order, counts.shape), strict=True)
        ]
        notes = (f"the {len(rows)} largest of {np.count_nonzero(counts)} confusions", "")
        columns = ("truth", "detection", "count", "share of truths")
        return Table(columns, tuple(rows), (*notes, *self._write_notes()), (1,))

    def __str__(self) -> str:
        table = self.table() if len(self.classes) <= MOST else self.largest()
        return table.text()

    def svg(self, *, show: Shown = "counts", paper: str | None = None) -> str:
        """Draw the matrix as SVG, on ``light`` or ``dark`` paper, or the reader's.

        Colors are shares. Of many classes, those that are most confused are drawn.
        """
        from germane.boxes.confusion_picture import draw

        return draw(self, show, paper)

    def describe(self) -> str:
        """Say which detections count."""
        limit = "above" if self.cut == "above" else "of at least"
        cut = (
            "of any score"
            if self.confidence == -math.inf
            else (f"with a score {limit} {self.confidence:g}")
        )
        chosen = (
            ""
            if self.mean_f1 is None or math.isnan(self.mean_f1)
            else (f" (where the mean F1 of all classes is best: {format_number(self.mean_f1, 4)})")
        )
        return f"detections {cut}{chosen}, overlap {Levels((self.iou,))}"

    def _write_notes(self) -> Iterator[str]:
        counts = self.counts
        inner = counts[:-1, :-1]
        right, wrong = int(np.trace(inner)), int(inner.sum() - np.trace(inner))
        paired = "pairs of them" if self.pairing == "all" else "detected"
        yield (
            f"{write_count(len(self.truths), 'truth')}: {right:,} {paired} as their class,"
            f" {wrong:,} as another, {counts[:-1, -1].sum():,} missed;"
            f" {write_count(len(self.detections), 'detection')}, {counts[-1].sum():,} on background"
            + f", {self.ignored:,} on ignored truths"
            * bool(self.ignored)
        )
        yield self.describe()
        yield f"pairing={self.pairing}: {PAIRINGS[self.pairing]}"
        yield f"conventions: {', '.join(self.written)}"
        if self.tool is not None:
            yield write_dialect(self.tool)

    def __repr__(self) -> str:
        right = int(np.trace(self.counts[:-1, :-1]))
        return make_visible(
            f"<Confusion of {self.name}: {right} of {len(self.truths)} truths detected as their"
            " class>"
        )

    def _list_columns(self) -> dict[str, Any]:
        size = len(self.labels)
        return {
            "truth": make_texts(name for name in self.labels for _ in range(size)),
            "detection": make_texts(self.labels * size),
            "count": self.counts.ravel(),
            "share": self.shares.ravel(),
        }


# --- The verb -------------------------------------------------------------------------------------


def confusion(
    truth: "TruthSource",
    detections: "DetectionSource",
    *,
    iou: float | None = None,
    confidence: float | None = None,
    pairing: Pairing | None = None,
    dialect: "str | Dialect | None" = None,
    name: str | None = None,
    **options: Unpack["MatchingOptions"],
) -> Confusion:
    """Count how the truths of each class are detected: as their class, as another, or not at all.

    Detections are paired with truths of any class. ``iou`` is the least overlap (.5), and
    ``confidence`` the lowest score that counts: by default the one at which the mean of the
    classes' F1 is best.

    >>> truth = [{"boxes": [[10, 10, 50, 50], [60, 60, 90, 90]], "labels": ["cat", "dog"]}]
    >>> found = [{"boxes": [[10, 12, 50, 50]], "labels": ["dog"], "scores": [0.9]}]
    >>> germane.boxes.confusion(truth, found, confidence=0.5).counts.tolist()
    [[0, 1, 0], [0, 0, 1], [0, 0, 0]]

    ``pairing`` says which pairs are counted: ``score`` (each detection, by falling score, takes the
    free truth that it overlaps most), ``class`` (pairs of one class first, then those that overlap
    most), ``mutual`` (a detection's best truth, and of these a truth's best detection) or ``all``.
    ``dialect`` counts as another tool does: ultralytics, ultralytics-obb (oriented boxes),
    supervision, faster-coco-eval, hotcoco, fiftyone or mmdetection. Other options are those of
    ``evaluate`` that concern matching. Raises PolicyError for an option that does not, and the
    errors of ``evaluate``.
    """
    tool = None if dialect is None else resolve_confusion_dialect(dialect)
    usual: Mapping[str, Any] = {} if tool is None else tool.choices
    reading, chosen = take_reading(options, tool)
    for option in chosen.keys() - get_type_hints(MatchingOptions).keys():
        known = sorted(get_type_hints(MatchingOptions))
        raise PolicyError(f"a confusion matrix has no option {clip(option)}.{offer(option, known)}")
    if pairing is None:
        pairing = usual.get("pairing", "score")
    check_choice("pairing", pairing, get_args(Pairing))
    [level] = _read_level(usual.get("iou", 0.5) if iou is None else iou)
    shared = {key: word for key, word in usual.items() if key not in OWN}
    conventions = make_conventions({**shared, **chosen, "iou": level, "confidence": confidence})
    truths, opened, findings = open_boxes(
        truth, detections, BoxOptions(None, reading, conventions, chosen), name
    )
    cut: Cut = "at_least"
    if confidence is None and "confidence" in usual:
        confidence, cut = usual["confidence"], usual.get("cut", "at_least")
    elif confidence is not None:
        cut = usual.get("cut", "at_least")
    return _count(truths, opened, conventions, level, confidence, pairing, cut, tool, findings)


def count_confusions(result: Result) -> Confusion:
    """Count the confusions of a result at its lowest threshold, and the confidence best there."""
    level, confidence = min(result.thresholds), result.conventions.confidence
    conventions = replace(result.conventions, iou=Levels((level,)))
    return _count(result.truths, result.detections, conventions, level, confidence)


def _count(
    truths: Truths,
    opened: Detections,
    conventions: Conventions,
    level: float,
    confidence: float | None,
    pairing: Pairing = "score",
    cut: Cut = "at_least",
    tool: Dialect | None = None,
    findings: tuple[Finding, ...] = (),
) -> Confusion:
    """Choose the confidence, unless there is one, and pair boxes."""
    mean_f1: float | None = None
    if confidence is None:
        confidence, mean_f1 = find_best_confidence(truths, opened, conventions, level)
    least = np.nextafter(confidence, math.inf) if cut == "above" else confidence
    conventions = replace(conventions, confidence=float(least))
    arranged = arrange_truths(truths, conventions)
    scored, _, spared = arrange_detections(truths, opened, conventions)
    sought = np.flatnonzero(~mark_ignored(arranged, conventions))
    pairs, lost = pair_boxes(arranged, scored, conventions, pairing, sought, spared)
    return Confusion(
        opened.name, truths.class_names, level, float(confidence), mean_f1, pairing, conventions,
        arranged.take(sought), scored, pairs, lost, tool, cut, findings,
    )  # fmt: skip


def _read_level(raw: Any) -> Levels:
    """Read one threshold of overlap."""
    levels = Levels.read(raw)
    if len(levels) != 1:
        raise PolicyError(f"a confusion matrix has one threshold of overlap; got iou={levels}.")
    return levels


def find_best_confidence(
    truths: Truths, detections: Detections, conventions: Conventions, iou: float
) -> tuple[float, float]:
    """Find the confidence, one for all classes, with the best mean F1, and this F1.

    Detections find truths of their class, as for any measure.
    """
    measure = BoxMeasure("F", Levels((iou,)))
    result = Result("", {"F": measure}, truths, detections, conventions)
    area = list(conventions.areas).index(result.measures[0].area or "")
    return sweep(result.lists, result.measures[0].view, area, 0).find_best()
