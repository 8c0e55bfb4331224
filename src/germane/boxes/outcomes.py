"""Outcomes: how every detection counts at one threshold, why, and how much AP each error costs."""

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from germane.boxes.box_explanation import (
    OUTCOMES,
    Described,
    Explanation,
    FoundBox,
    ListedTerms,
    TruthBox,
)
from germane.boxes.box_measures import BoxMeasure, make_ranking
from germane.boxes.box_result import Result
from germane.boxes.conventions import Conventions
from germane.boxes.detections import Detections, Truths
from germane.boxes.image_ids import find_id
from germane.boxes.matching import (
    Matches,
    Measured,
    list_floors,
    mark_verified,
    measure_in_images,
    measure_pairs,
    pair_equal,
    reach,
)
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints, average_numbers
from germane.core.ranking import Ranking
from germane.errors import (
    InputError,
    MeasureError,
    write_option,
)
from germane.measures.averaging import compute_scores, compute_terms
from germane.measures.measure import Measure
from germane.output.documents import Document
from germane.output.named_columns import Tabular
from germane.output.tables import Table, format_number


def explain_result(
    result: Result, image: Hashable | None = None, label: Hashable | None = None
) -> Explanation:
    """Explain the first measure of a result for one image, one class, or one class in one image."""
    measure = result.measures[0]
    if len(measure.iou or ()) != 1:
        raise MeasureError(
            f"{next(iter(result))} is a mean over {len(measure.iou or ())} thresholds of overlap,"
            " and a detection can be true at one and false at another; explain one of them, such"
            " as AP50."
        )
    if measure.confidence == "best":
        raise MeasureError(
            f"{next(iter(result))} uses one confidence for all classes, chosen from the "
            "data; to explain it, name a confidence, such as F(confidence=.25)."
        )
    truths, merged = result.truths, result.conventions.classes == "merged"
    image_index = (
        None if image is None else find_id(image, truths.images, (), "image", truths.files)
    )
    kind = None if label is None else find_id(label, truths.classes, truths.names, "class")
    if merged and kind is not None:
        merging = write_option("classes", "merged")
        raise InputError(f"{merging} joins all classes; do not name one.")
    if merged or (image_index is None and len(truths.classes) == 1):
        kind = 0
    chosen = result if image_index is None else _choose_image(result, image_index)
    value, size = chosen[measure], truths.sizes
    mean = value.mean if kind is None else float(value.values[0, kind])
    return Explanation(
        name=result.name,
        title=next(iter(result)),
        measure=measure,
        image=None if image_index is None else truths.images[image_index],
        label=None if kind is None or merged else truths.class_names[kind],
        describe=partial(_describe, result, image_index, kind, merged),
        weigh=partial(weigh_errors, chosen, None if merged else kind),
        value=mean,
        per_class=value.per_class if kind is None else {},
        conventions=result.conventions,
        size=None if image_index is None or size is None else tuple(size[image_index].tolist()),
        merged=merged,
    )


def _choose_image(result: Result, image: int) -> Result:
    """Evaluate one image alone."""
    truths, detections = result.truths, result.detections
    return Result(
        result.name,
        dict(zip(result, result.measures, strict=True)),
        truths.take(truths.image == image),
        detections.take(detections.image == image),
        result.conventions,
    )


def _describe(result: Result, image: int | None, label: int | None, merged: bool) -> Described:
    """Describe an image's or a class's detections and truths. Raises InputError for neither."""
    truths = result.truths
    if image is None and label is None:
        raise InputError(
            f"{len(truths.images)} images and {len(truths.classes)} classes: choose one of them"
            " with image=… (--image) or label=… (--class), or take the errors of all (--errors)."
        )
    return _Outcomes(result, result.measures[0], image, label, merged).describe()


class _Outcomes:
    """The detections of an image or a class, matched and sorted (D), and how they fared."""

    def __init__(
        self,
        result: Result,
        measure: BoxMeasure,
        image: int | None,
        label: int | None,
        merged: bool,
    ) -> None:
        self.title = next(iter(result))
        truths, detections = result.truths, result.detections
        if image is not None:
            truths = truths.take(truths.image == image)
            detections = detections.take(detections.image == image)
        self.submitted = detections
        if label is not None and not merged:
            self.submitted = detections.take(detections.label == label)
            if result.conventions.depth_of == "class":
                detections = self.submitted
        self.result = Result(
            result.name, {self.title: measure}, truths, detections, result.conventions
        )
        self.measure, self.image, self.label = measure, image, label
        self.verified, _ = mark_verified(truths, self.submitted, result.conventions)
        self.choices, self.merged = result.conventions, merged
        self.area = list(self.choices.areas).index(measure.area or "")
        self.matches: Matches = self.result.matches
        self.truths: Truths = self.matches.truths
        self.detections: Detections = self.matches.detections
        self.confident = self.detections.score >= (
            -np.inf if measure.confidence is None else measure.confidence
        )
        [self.floor] = list_floors(self.result.thresholds, self.choices)
        self.ignored = self.matches.ignored[self.area]  # G
        placed = self.result.lists.place_outcomes(measure.view, self.area, 0)
        self.truth, self.counts, self.hit = placed
        self.taken = np.zeros(len(self.truths), bool)
        self.taken[self.truth[self.truth >= 0]] = True

    def describe(self) -> Described:
        """List the rows, the truths, and the terms of a class."""
        order, dropped = self._order()
        number = {place: i for i, place in enumerate(self._list_places(order, dropped), 1)}
        numbers = np.array([number.get(place, 0) for place in self.detections.place.tolist()], int)
        pairs = self._measure_pairs(order)
        terms, listed = self._list_terms(order)
        rows = [
            *self._describe_matched(order, numbers, pairs, terms),
            *(self._describe_dropped(row, number) for row in dropped.tolist()),
        ]
        rows.sort(key=lambda row: row.number)
        return tuple(rows), tuple(self._describe_truths(numbers, pairs)), listed

    def _order(self) -> tuple[Ints, Ints]:
        """Order the matched detections shown by score, and list the given ones dropped."""
        order = self.result.lists.order
        if self.label is not None:
            order = order[self.detections.label[order] == self.label]
        else:
            order = order[np.argsort(-self.detections.score[order], kind="stable")]
        return order, np.flatnonzero(~np.isin(self.submitted.place, self.detections.place))

    def _list_places(self, order: Ints, dropped: Ints) -> list[int]:
        """List the places in the source of all detections that are shown, by falling score."""
        place = np.append(self.detections.place[order], self.submitted.place[dropped])
        score = np.append(self.detections.score[order], self.submitted.score[dropped])
        places: list[int] = place[np.argsort(-score, kind="stable")].tolist()
        return places

    def _measure_pairs(self, order: Ints) -> "_Pairs":
        """Measure the overlap of the detections shown with all truths of their images."""
        by_image = np.argsort(self.truths.image, kind="stable")
        detection_at, truth_at = pair_equal(
            self.detections.image[order], self.truths.image[by_image]
        )
        pairs = order[detection_at], by_image[truth_at]
        if self.choices.equal_overlaps == "first":  # the last of equal pairs is the best partner
            pairs = pairs[0][::-1], pairs[1][::-1]
        measured = measure_pairs(self.detections, self.truths, pairs, self.choices)
        return _Pairs(
            *measured, self.detections.label[measured[0]] == self.truths.label[measured[1]]
        )

    def _list_terms(self, order: Ints) -> tuple[dict[int, float], ListedTerms | None]:
        """List the terms by detection, and their norm and rest, if one class is explained."""
        if self.label is None:
            return {}, None
        value = float(self.result[self.measure].values[0, self.label])
        relevant = int(self.result.lists.relevant[self.area, self.label])
        if not isinstance(self.measure.base, Measure):  # a curve: no part is one detection's
            return {}, ListedTerms(1.0, value, value, relevant)
        ranking: Ranking = self.result.lists.rank(self.measure.view)
        scored = compute_terms(self.measure.base, ranking)
        query = self.area * self.result.lists.count + self.label
        terms = scored.terms[ranking.owner == query].tolist()
        hits = order[self.hit[order]].tolist()
        rest = float(np.broadcast_to(scored.rest, len(ranking))[query])
        listed = ListedTerms(float(scored.norm[query]), rest, value, relevant)
        return dict(zip(hits, terms, strict=True)), listed

    def _describe_matched(
        self, order: Ints, numbers: Ints, pairs: "_Pairs", terms: dict[int, float]
    ) -> Iterator[FoundBox]:
        """Describe each matched detection. Of false ones, say what they overlap."""
        same_class = pairs.find_best(pairs.same_class, len(self.detections))
        other_class = pairs.find_best(~pairs.same_class, len(self.detections))
        matched = pairs.find_best(pairs.truth == self.truth[pairs.detection], len(self.detections))
        finder = np.zeros(len(self.truths) + 1, int)
        finder[self.truth] = numbers  # the last entry is that of detections without a truth
        rank, hits = np.cumsum(self.counts[order]), np.cumsum(self.hit[order])
        for i, d in enumerate(order.tolist()):
            outcome = self._judge(d, same_class, other_class)
            best = {"other class": other_class, "background": matched, "outside": matched}.get(
                outcome, same_class
            )
            partner, overlaps = matched if self.truth[d] >= 0 else best
            truth, overlap = int(partner[d]), float(overlaps[d])
            kind = None if truth < 0 else self._name(int(self.truths.label[truth]))
            taker = int(finder[truth]) if outcome == "duplicate" else None
            yield self._make_row(
                self.detections, d, int(numbers[d]), outcome,
                truth=None if truth < 0 else self.truths.ids[truth],
                truth_label=kind,
                overlap=None if truth < 0 else overlap,
                finder=taker,
                rank=int(rank[i]) if self.counts[d] and self.label is not None else None,
                found=int(hits[i]),
                term=terms.get(d, 0.0),
            )  # fmt: skip

    def _judge(self, d: int, same_class: "_Best", other_class: "_Best") -> str:
        """Name the outcome of one detection."""
        truth = int(self.truth[d])
        if not self.confident[d]:
            return "confidence"
        if truth >= 0:
            if not self.ignored[truth]:
                return "true"
            if self.truths.crowd[truth]:
                return "crowd"
            hard = self.truths.difficult[truth] and self.choices.difficult == "ignore"
            unseen = self.choices.overlap == "oks" and self.truths.unseen is not None
            if unseen and self.truths.unseen[truth] and not hard:  # type: ignore[index]
                return "unseen"
            flagged = self.choices.flagged == "ignore" and self.truths.flagged is not None
            if flagged and self.truths.flagged[truth] and not hard:  # type: ignore[index]
                return "flagged"
            return "difficult" if hard else "other area"
        if self.matches.outside[self.area, d]:
            return "not exhaustive" if self.matches.spared[d] else "outside"
        if reach(same_class[1][d], self.floor, self.choices):
            return "duplicate" if self.taken[same_class[0][d]] else "id zero"
        if reach(other_class[1][d], self.floor, self.choices):
            return "other class"
        return "low overlap" if same_class[1][d] >= NEAR else "background"

    def _describe_dropped(self, row: int, number: dict[int, int]) -> FoundBox:
        """Describe a detection that was dropped before the matching."""
        detections, floor = self.submitted, self.choices.confidence
        low = floor is not None and detections.score[row] < floor
        unknown = detections.label[row] < 0 and not self.merged
        outcome = "unknown class" if unknown else "confidence" if low else "depth"
        if outcome == "depth" and not self.verified[row]:
            has_area = self.choices.empty == "count" or detections.boxes.measure_areas()[row] > 0
            outcome = "unverified" if has_area else "empty"
        return self._make_row(detections, row, number[int(detections.place[row])], outcome)

    def _make_row(
        self, detections: Detections, row: int, number: int, outcome: str, **details: Any
    ) -> FoundBox:
        """Make the row of a detection; ``details`` are its truth and rank, if any."""
        words = {"threshold": str(self.result.thresholds), **details}
        return FoundBox(
            number=number,
            place=int(detections.place[row]) + 1,
            image=self.truths.images[detections.image[row]],
            label=self._name(int(detections.label[row])),
            box=detections.boxes.get(row),
            score=float(detections.score[row]),
            outcome=outcome,
            says=OUTCOMES[outcome][1].format(**words),
            **details,
            **self._describe_shape(detections, row),
        )

    def _describe_truths(self, numbers: Ints, pairs: "_Pairs") -> Iterator[TruthBox]:
        """Describe the truths of the image or class: found, missed or ignored."""
        finder = np.zeros(len(self.truths) + 1, int)
        finder[np.where(self.confident, self.truth, -1)] = numbers
        near, overlap = _Pairs(
            pairs.truth, pairs.detection, pairs.overlap, pairs.same_class
        ).find_best(pairs.same_class, len(self.truths))
        shown = np.ones(len(self.truths), bool)
        if self.label is not None:
            shown = self.truths.label == self.label
        for g in np.flatnonzero(shown).tolist():
            ignored = bool(self.ignored[g])
            close = not ignored and not finder[g] and overlap[g] > 0
            yield TruthBox(
                id=self.truths.ids[g],
                image=self.truths.images[self.truths.image[g]],
                label=self._name(int(self.truths.label[g])),
                box=self.truths.boxes.get(g),
                state="ignored" if ignored else "found" if finder[g] else "missed",
                crowd=bool(self.truths.crowd[g]),
                finder=int(finder[g]) or None,
                near=int(numbers[near[g]]) if close else None,
                overlap=float(overlap[g]) if close else None,
                **self._describe_shape(self.truths, g),
            )

    def _describe_shape(self, raw: Truths | Detections, row: int) -> dict[str, Any]:
        """Describe the mask or the keypoints that are compared."""
        if self.choices.overlap == "mask" and raw.masks is not None:
            return {"mask": raw.masks.list_codes(np.array([row]))[0]}
        if self.choices.overlap == "oks" and raw.keypoints is not None:
            return {"keypoints": tuple(map(tuple, raw.keypoints[row].tolist()))}
        return {}

    def _name(self, label: int) -> str:
        if self.merged or label < 0:
            return "" if self.merged else "?"
        return self.truths.class_names[label]


_Best = tuple[Ints, Floats]  # the best partner of each box, or -1, and its overlap


@dataclass(frozen=True, eq=False, repr=False)
class _Pairs:
    """Pairs of boxes that share an area."""

    detection: Ints
    truth: Ints
    overlap: Floats
    same_class: Bools  # are both of one class?

    def find_best(self, chosen: Bools, count: int) -> _Best:
        """Find the best partner of each of so many detections, among some pairs."""
        first, second, overlap = self.detection[chosen], self.truth[chosen], self.overlap[chosen]
        order = np.argsort(overlap, kind="stable")
        partner, best = np.full(count, -1), np.zeros(count)
        partner[first[order]], best[first[order]] = second[order], overlap[order]
        return partner, best


# --- Error costs ----------------------------------------------------------------------------------
#
# Costs of errors: how much AP each kind of error takes, as TIDE defines it (Bolya et al. 2020).
#
# A kind is mended as if an oracle had done it, all others stay, and AP is computed anew.

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
