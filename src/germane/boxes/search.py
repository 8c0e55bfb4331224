"""Search: one measure of the same boxes under many conventions, and those that give a number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from germane.boxes.conventions import Conventions
from germane.boxes.detections import Detections
from germane.boxes.dialect_table import DIALECTS, find_points, parse_any
from germane.boxes.matching import (
    Arranged,
    Pairs,
    arrange_detections,
    arrange_truths,
    find_pairs,
    match_groups,
)
from germane.boxes.measures import BoxMeasure
from germane.boxes.opening import open_boxes, read_options
from germane.boxes.ranked_lists import RankedLists, sort_lists
from germane.boxes.result import BoxValue, Result
from germane.boxes.variations import BoxCandidate, BoxVariations, read_dialect
from germane.core.ragged import Bools, Ints
from germane.reconciliation.reported import Reported
from germane.reconciliation.search import Search, Tried
from germane.reconciliation.spread import are_same
from germane.reconciliation.variations import Choices

if TYPE_CHECKING:
    from germane.boxes.options import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect

T = TypeVar("T")

_OF_DETECTIONS = ("confidence", "classes", "precision", "depth_of", "unverified", "empty")
_OF_PAIRS = ("overlap", "crowds", "equal_overlaps", "thresholds")
_OF_MATCHING = (
    "candidate", "reach", "difficult", "area_of", "found_area", "id_zero", "ties", "flagged",
)  # fmt: skip


BoxGiven = Tried[BoxCandidate]


@dataclass(frozen=True)
class Counts:
    """The items behind a number at its lowest threshold, in all classes together."""

    truths: int
    true: int
    false: int


class BoxValues:
    """A measure's values on one set of boxes, under the conventions asked for and changes.

    Detections are sorted once for each way to read them, and matched once for each way to match
    them. Depths, points of the curve and means are read from the lists that follow.
    """

    def __init__(self, variations: BoxVariations) -> None:
        self.variations = variations
        self.truths, self.detections = variations.truths, variations.detections
        self.target, self.conventions = variations.target, variations.conventions
        self.also: tuple[BoxMeasure, ...] = ()  # measures to be read from the same lists
        self._values: dict[tuple[Choices, BoxMeasure], float] = {}
        self._sorted: dict[tuple[Any, ...], tuple[Detections, Ints, Bools]] = {}
        self._orders: dict[tuple[Any, ...], Ints] = {}
        # of pairs and lists only the last are kept, because they are large
        self._pairs: dict[tuple[Any, ...], tuple[Arranged, Pairs]] = {}
        self._lists: dict[tuple[Any, ...], RankedLists] = {}

    def evaluate(self, choices: Choices, measure: BoxMeasure | None = None) -> float:
        """Return the value of the measure, or another, under some changes; NaN for none."""
        key = choices, measure or self.target
        if key not in self._values:
            result, complete = self._make_result(*key)
            lists = self._make_lists(result)
            value = BoxValue(complete, result.classes, result.compute(complete, lists))
            self._values[key] = value.mean
        return self._values[key]

    def evaluate_each(self, candidates: Iterable[BoxCandidate]) -> None:
        """Evaluate several candidates, those that share a matching one after the other."""
        for candidate in sorted(
            candidates, key=lambda candidate: repr(self._key(self._change(candidate.choices)))
        ):
            self.evaluate(candidate.choices, candidate.measure)

    def are_same(self, choices: Choices, other: Choices, measure: BoxMeasure | None = None) -> bool:
        """Do two sets of changes give one value of the measure, or of another?"""
        return are_same(self.evaluate(choices, measure), self.evaluate(other, measure))

    def count(self, choices: Choices, measure: BoxMeasure | None = None) -> Counts:
        """Count the truths, and the true and false detections, at the lowest threshold."""
        result, complete = self._make_result(choices, measure)
        lists = self._make_lists(result)
        counted, true = lists.mark_outcomes(complete.view, 0, 0)
        return Counts(int(lists.relevant.sum()), len(true), int(counted.sum()) - len(true))

    def _make_result(
        self, choices: Choices, measure: BoxMeasure | None = None
    ) -> tuple[Result, BoxMeasure]:
        measure = measure or self.target
        if measure.name == "AP":
            points = measure.points or self.variations.points
            measure = replace(measure, points=dict(choices).get("points", points))
        conventions = self._change(choices)
        complete = measure.complete(conventions)
        area = complete.area or ""
        conventions = replace(conventions, areas={area: conventions.areas[area]})
        measures = {str(wanted): wanted for wanted in (measure, *self.also)}
        name = self.detections.name
        return Result(name, measures, self.truths, self.detections, conventions), complete

    def _make_lists(self, result: Result) -> RankedLists:
        key = (*self._key(result.conventions), result.thresholds)
        if key not in self._lists:
            choices = replace(result.conventions, depth=None)
            arranged, pairs = self._pair(choices, result.thresholds)
            order = _keep(
                self._orders,
                (*self._key_detections(choices), choices.ties),
                lambda: sort_lists(arranged.detections, choices.ties, arranged.detections.label),
            )
            matches = match_groups(arranged, choices, result.thresholds, pairs)
            self._lists = {key: RankedLists(matches, choices, order=order)}
        return self._lists[key]

    def _pair(self, choices: Conventions, thresholds: tuple[float, ...]) -> tuple[Arranged, Pairs]:
        """Arrange the boxes and find the pairs that overlap, unless the last ones are the same."""
        of_detections = self._key_detections(choices)
        key = (*of_detections, *self._key(choices, _OF_PAIRS), thresholds)
        if key not in self._pairs:
            detections = _keep(
                self._sorted,
                of_detections,
                lambda: arrange_detections(self.truths, self.detections, choices),
            )
            arranged = Arranged(arrange_truths(self.truths, choices), *detections)
            self._pairs = {key: (arranged, find_pairs(arranged, choices, thresholds))}
        return self._pairs[key]

    def _change(self, choices: Choices) -> Conventions:
        words = {name: word for name, word in choices if name != "points"}
        if "depth" in words:
            words["depth"], words["depth_of"] = words["depth"]
        return replace(self.conventions, **words)

    def _key_detections(self, choices: Conventions) -> tuple[Any, ...]:
        of_areas = ("overlap", "found_area") if choices.empty == "drop" else ()
        return self._key(choices, (*_OF_DETECTIONS, *of_areas))

    def _key(
        self,
        choices: Conventions,
        names: tuple[str, ...] = (*_OF_DETECTIONS, *_OF_PAIRS, *_OF_MATCHING),
    ) -> tuple[Any, ...]:
        return tuple(getattr(choices, name) for name in names)


def open_values(
    truth: "TruthSource",
    detections: "DetectionSource",
    measure: "str | BoxMeasure",
    options: "Options",
    name: str | None,
    base: "Dialect | None" = None,
) -> BoxValues:
    """Open both sides for changes of germane's conventions, or of a dialect's."""
    box_options = read_options(options, base, "any")
    target = parse_any(measure).shorten(box_options.conventions)
    truths, predictions, _ = open_boxes(truth, detections, box_options, name)
    conventions = replace(box_options.conventions, ap_depth="any")
    fixed, points = frozenset(box_options.chosen), find_points(base)
    written = measure if isinstance(measure, str) else ""
    return BoxValues(
        BoxVariations(truths, predictions, target, conventions, fixed, points, written)
    )


class BoxSearch(Search[BoxCandidate]):
    """Conventions of boxes, compared with what was reported."""

    def __init__(self, values: BoxValues, reported: Reported) -> None:
        super().__init__(values.target, reported)
        self.values = values

    def find_value(self, candidate: BoxCandidate) -> float:
        """Evaluate a candidate; NaN where it has no value."""
        return self.values.evaluate(candidate.choices, candidate.measure)

    def coincide(self, box_candidate: BoxCandidate, other: BoxCandidate) -> bool:
        """Do two candidates give one value?"""
        return are_same(self.find_value(box_candidate), self.find_value(other))

    def evaluate_all(self, candidates: Iterable[BoxCandidate]) -> list[BoxGiven]:
        """Evaluate candidates, those that share a matching one after the other."""
        listed = list(candidates)
        self.values.evaluate_each(listed)
        return super().evaluate_all(listed)

    def rank_usage(self, candidate: BoxCandidate) -> tuple[int, ...]:
        """Rank candidates that as many tools have by how many tools have each of their words."""
        usual = sum(
            read_dialect(dialect, name) == word
            for dialect in DIALECTS
            for name, word in candidate.choices
            if name != "points"
        )
        return *super().rank_usage(candidate), -usual


def _keep(cache: dict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """Make a value unless it is kept; of large values the first and the last two are kept."""
    if key not in cache:
        cache[key] = make()
        if len(cache) > 3:
            del cache[list(cache)[1]]
    return cache[key]
