"""Outcomes: how every detection counts at one threshold, and why."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
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
from germane.boxes.box_measures import BoxMeasure
from germane.boxes.box_result import Result
from germane.boxes.corners import ORIENTED
from germane.boxes.detections import Detections, Truths
from germane.boxes.error_costs import NEAR, weigh_errors
from germane.boxes.image_ids import find_id
from germane.boxes.matching import (
    Matches,
    list_floors,
    mark_verified,
    measure_pairs,
    pair_equal,
    reach,
)
from germane.boxes.worst_images import WorstImages, rank_images
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.errors import (
    InputError,
    MeasureError,
    write_option,
)
from germane.measures.averaging import compute_terms
from germane.measures.measure import Measure


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
        rank=partial(_rank_images, result, None if merged else kind),
        size=None if image_index is None or size is None else tuple(size[image_index].tolist()),
        of_all=image is None and label is None,
        merged=merged,
    )


def _rank_images(result: Result, label: int | None, most: int | None) -> WorstImages:
    """Rank images by what they take from the first measure, of all classes or of one."""
    if label is not None:
        measure = replace(result.asked[0], label=result.classes[label])
        result = result.remeasure([measure])
    return rank_images(result, most)


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
    """Describe the detections and truths of an image, of a class, or of all."""
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
        """Describe the mask, the keypoints or the corners that are compared."""
        if self.choices.overlap == "mask" and raw.masks is not None:
            return {"mask": raw.masks.list_codes(np.array([row]))[0]}
        if self.choices.overlap == "oks" and raw.keypoints is not None:
            return {"keypoints": tuple(map(tuple, raw.keypoints[row].tolist()))}
        if self.choices.overlap in ORIENTED and raw.corners is not None:
            return {"corners": tuple(map(tuple, raw.corners[row].tolist()))}
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
