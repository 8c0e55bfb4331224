"""Costs of errors: how much AP each kind of error takes, as TIDE defines it (Bolya et al. 2020).

A kind is mended as if an oracle had done it, all others stay, and AP is computed anew.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from germane.boxes.box_measures import BoxMeasure, make_ranking
from germane.boxes.box_result import Result
from germane.boxes.conventions import Conventions
from germane.boxes.matching import Measured, list_floors, measure_in_images, reach
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints, average_numbers
from germane.errors import MeasureError
from germane.measures.averaging import compute_scores
from germane.measures.measure import Measure
from germane.output.documents import Document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number

NEAR = 0.1  # a lower overlap is background

KINDS = {
    "other class": "overlaps a truth of another class enough; it gets that class",
    "low overlap": "overlaps a truth of its class, but too little; it gets that place",
    "both": "overlaps a truth of another class, and too little; it is removed",
    "duplicate": "overlaps a truth that another detection found; it is removed",
    "background": "overlaps no truth; it is removed",
    "missed": "a truth without a detection nearby; it does not count",
    "false": "all false detections are ranked below the true ones",
    "not found": "truths that no detection found do not count",
}
"""Each kind, and how it is mended. The last two contain others."""

MAIN = tuple(KINDS)[:-2]


@dataclass(frozen=True)
class ErrorCost:
    """A kind of error: how many there are, AP if they were mended, and the difference."""

    kind: str
    count: int
    mended: float
    """AP if all errors of this kind, and no others, were mended"""
    cost: float
    """the AP that would be gained, at least 0"""


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCosts(Tabular, Document):
    """The cost of each kind of error of one detector, a mapping from kinds to ``ErrorCost``.

    >>> truth = [{"boxes": [[10, 10, 50, 50], [60, 60, 90, 90]], "labels": [1, 1]}]
    >>> found = [{"boxes": [[10, 10, 50, 50]], "labels": [1], "scores": [0.9]}]
    >>> costs = germane.boxes.explain(truth, found).errors
    >>> round(costs["missed"].cost, 3)
    0.495
    """

    _json = "name measure=title class=label conventions value errors=kinds.values rest"

    name: str
    title: str  # the measure as it was asked for
    measure: BoxMeasure
    value: float
    kinds: Mapping[str, ErrorCost]
    conventions: Conventions
    label: str | None = None

    def __getitem__(self, kind: str) -> ErrorCost:
        return self.kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def rest(self) -> float:
        """The part of the missing AP that no kind alone explains; below 0 where kinds share it."""
        return 1 - self.value - math.fsum(self.kinds[kind].cost for kind in MAIN)

    def table(self, *, digits: int | None = 4) -> Table:
        """One row a kind of error: how many, the cost, and the value without it."""
        rows = []
        for error in self.kinds.values():
            numbers = (format_number(number, digits) for number in (error.cost, error.mended))
            rows.append((error.kind, f"{error.count:,}", *numbers))
        notes = [
            f"{self.title} = {format_number(self.value, digits)}; 1 − {self.title} − all costs = "
            + format_number(self.rest, digits),
            *(f"{kind}: {meaning}" for kind, meaning in KINDS.items()),
            f"{self.title}: {self.measure.definition}",
            f"conventions: {self.conventions}",
            "kinds, and how they are corrected: TIDE (Bolya et al. 2020)",
        ]
        return Table(("error", "count", "cost", self.title), tuple(rows), tuple(notes))

    def __repr__(self) -> str:
        costs = ", ".join(f"{kind} {self.kinds[kind].cost:.4f}" for kind in MAIN)
        return f"<ErrorCosts of {self.title}={self.value:.4f}: {costs}>"


def weigh_errors(result: Result, label: int | None = None) -> ErrorCosts:
    """Compute the cost of each kind of error in the first measure, of all classes or of one.

    Raises MeasureError for a measure other than AP at one threshold.
    """
    measure = result.measures[0]
    if measure.name != "AP" or len(measure.iou or ()) != 1:
        raise MeasureError(
            f"{next(iter(result))}: the cost of errors is measured in AP at one threshold of"
            " overlap, such as AP50."
        )
    errors = _Errors(result, measure)
    value = errors.average(errors.evaluate("nothing"), label)
    kinds = {}
    for kind in KINDS:
        mended = errors.average(errors.evaluate(kind), label)
        if math.isnan(mended) and not math.isnan(value):
            mended = 1.0  # nothing is left to be found, and nothing is false
        cost = max(mended - value, 0.0) if kind in MAIN else mended - value
        kinds[kind] = ErrorCost(kind, errors.count(kind, label), mended, cost)
    name = None if label is None else result.classes[label]
    measure_name = next(iter(result))
    return ErrorCosts(result.name, measure_name, measure, value, kinds, result.conventions, name)


class _Errors:
    """The false detections (D) and the missed truths (G) of a result, each with its kind."""

    def __init__(self, result: Result, measure: BoxMeasure) -> None:
        self.result, self.measure = result, measure
        matches, lists = result.matches, result.lists
        self.truths, self.detections = matches.truths, matches.detections
        self.area = list(result.conventions.areas).index(measure.area or "")
        truth, self.counts, self.hit = lists.place_outcomes(measure.view, self.area, 0)
        self.usable = ~matches.ignored[self.area]  # G
        self.used = np.zeros(len(self.truths), bool)
        self.used[truth[self.hit]] = True
        self.relevant = lists.relevant[self.area]  # K
        self.kind, self.target = self._sort_out()
        self.mender = self._choose_menders()
        near = np.zeros(len(self.truths), bool)
        near[self.target[self.target >= 0]] = True
        self.lost = self.usable & ~self.used
        self.missed = self.lost & ~near

    def _sort_out(self) -> tuple[Ints, Ints]:
        """Name the kind of each false detection (D, else -1), and the truth that would mend it."""
        kind, target = np.full((2, len(self.detections)), -1)
        false = np.flatnonzero(self.counts & ~self.hit)
        (own_overlap, own_truth), (other_overlap, other_truth), (taken_overlap, _) = (
            self._find_best(false)
        )
        choices = self.result.conventions
        [floor] = list_floors(self.result.thresholds, choices)
        chosen = [
            ("low overlap", (own_overlap >= NEAR) & ~reach(own_overlap, floor, choices)),
            ("other class", reach(other_overlap, floor, choices)),
            ("duplicate", reach(taken_overlap, floor, choices)),
            ("background", np.maximum(own_overlap, other_overlap) <= NEAR),
            ("both", np.ones(len(false), bool)),
        ]
        named = np.select([flags for _, flags in chosen], [MAIN.index(name) for name, _ in chosen])
        kind[false] = named
        low, cls = named == MAIN.index("low overlap"), named == MAIN.index("other class")
        target[false] = np.where(low, own_truth, np.where(cls, other_truth, -1))
        return kind, target

    def _find_best(self, false: Ints) -> list[tuple[Floats, Ints]]:
        """Find the largest overlaps of false detections with truths, and the truths or -1.

        First with truths of their class, then of others, then of their class and found. Truths that
        are ignored are not looked at.
        """
        best = [(np.zeros(len(false)), np.full(len(false), -1)) for _ in range(3)]
        for place, candidate, overlap in self._measure_pairs(false):
            alike = self.detections.label[false[place]] == self.truths.label[candidate]
            kinds = alike, ~alike, alike & self.used[candidate]
            for (largest, truth), flags in zip(best, kinds, strict=True):
                # the last pair of a detection has the largest overlap, and of equal ones the first
                # truth
                order = np.flatnonzero(flags)
                order = order[np.lexsort((-candidate[order], overlap[order], place[order]))]
                rows = order[np.flatnonzero(np.diff(place[order], append=-1))]
                largest[place[rows]], truth[place[rows]] = overlap[rows], candidate[rows]
        return best

    def _measure_pairs(self, false: Ints) -> Iterator[Measured]:
        """Yield pairs of false detections and truths of their images, with their overlaps."""
        usable, choices = np.flatnonzero(self.usable), self.result.conventions
        sides = self.detections.take(false), self.truths.take(usable)
        for place, truth, overlap in measure_in_images(*sides, choices, NEAR):
            yield place, usable[truth], overlap

    def _choose_menders(self) -> Bools:
        """Mark the detection with the highest score of all that would find a truth (D)."""
        rows = np.flatnonzero(self.target >= 0)
        rows = rows[~self.used[self.target[rows]]]
        order = np.lexsort((self.detections.place[rows], -self.detections.score[rows]))
        _, first = np.unique(self.target[rows[order]], return_index=True)
        out = np.zeros(len(self.detections), bool)
        out[rows[order[first]]] = True
        return out

    def count(self, kind: str, label: int | None) -> int:
        """Count the errors of a kind, of all classes or of one."""
        flags: Bools = {"missed": self.missed, "not found": self.lost}.get(kind, self.kind >= 0)
        labels = self.truths.label if kind in ("missed", "not found") else self.detections.label
        if kind in MAIN and kind != "missed":
            flags = self.kind == MAIN.index(kind)
        return int((flags if label is None else flags & (labels == label)).sum())

    def evaluate(self, kind: str) -> Floats:
        """Compute AP of each class (K) with a kind of error mended; NaN if nothing is sought."""
        label, hit, counts = self.detections.label.copy(), self.hit.copy(), self.counts.copy()
        relevant = self.relevant
        if kind in ("missed", "not found"):
            lost = self.missed if kind == "missed" else self.lost
            gone = np.bincount(self.truths.label[lost], minlength=len(relevant))
            relevant = relevant - gone
        elif kind == "false":
            counts = hit
        elif kind in MAIN:
            mended = self.kind == MAIN.index(kind)
            better = mended & self.mender
            label[better] = self.truths.label[self.target[better]]
            hit |= better
            counts &= ~mended | better
        values = self._compute(label, hit, counts, relevant)
        remaining = np.bincount(label[counts], minlength=len(relevant))
        gone = (self.relevant == 0) | ((relevant == 0) & (remaining == 0))  # nothing is left
        return np.where(gone, np.nan, values)

    def _compute(self, label: Ints, hit: Bools, counts: Bools, relevant: Ints) -> Floats:
        """Compute AP of lists of detections that count, some of which are true."""
        rows, detections = np.flatnonzero(counts), self.detections
        tied = (detections.place, *[detections.image] * (self.result.conventions.ties == "image"))
        keys = [column[rows] for column in (*tied, -detections.score, label)]
        rows = rows[np.lexsort(keys)]
        owner, length = label[rows], np.bincount(label[rows], minlength=len(relevant))
        rank = np.arange(len(rows)) - ragged.make_offsets(length)[owner] + 1
        hits = hit[rows]
        ranking = make_ranking(owner[hits], rank[hits], length, relevant)
        base = self.measure.base
        return compute_scores(base, ranking) if isinstance(base, Measure) else base(ranking)

    def average(self, values: Floats, label: int | None) -> float:
        """Average over the classes that count, or take one."""
        if label is not None:
            return float(values[label])
        if self.result.conventions.no_truth == "zero":
            values = np.nan_to_num(values)
        return average_numbers(values.tolist())
