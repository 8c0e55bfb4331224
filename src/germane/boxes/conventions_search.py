"""Searches the conventions behind a number: variations, those that give it, and every dialect."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from germane.boxes.box_measures import (
    CURVES,
    USUAL_POINTS,
    BoxMeasure,
    RankedLists,
    parse_measure,
    sort_lists,
)
from germane.boxes.box_result import BoxValue, Result
from germane.boxes.box_tables import MEANS, average_images
from germane.boxes.conventions import DEFAULTS, WORDS, Conventions, DepthOf
from germane.boxes.corners import ORIENTED, can_intersect
from germane.boxes.detections import COCO_SIGMAS, Detections, Truths
from germane.boxes.dialect_table import DIALECTS, find_points, parse_any
from germane.boxes.matching import (
    Arranged,
    Pairs,
    arrange_detections,
    arrange_truths,
    find_pairs,
    match_groups,
    number_group,
)
from germane.boxes.verbs import open_boxes, read_options
from germane.core.ragged import Bools, Ints
from germane.dialects.dialect import Dialect, Entry
from germane.forensics.reported import Reported
from germane.forensics.spread import are_same
from germane.forensics.variations import (
    Choices,
    Search,
    Tried,
    Variation,
)
from germane.measures.box_names import Levels

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, Options, TruthSource
    from germane.dialects.dialect import Dialect


_IDLE = ("unknown", "ap_depth")  # they decide whether there is a number, but not which
CUTS = (0.001, 0.05, 0.25, 0.5)
"""The scores at which detectors are usually cut off before their detections are written."""

_DEPTHS = (1, 10, 100, 300, 1000)
"""The depths of each class in an image that are tried besides those of tools."""

_BESIDE = {"only_images": "all", "mean": "classes", "points": None}
"""What is no convention of evaluate: which images count, and what the mean is over."""

_MAIN = ("overlap", "candidate", "crowds", "difficult", "depth", "points", "no_truth")
"""The changes that are tried in all combinations."""


BoxCandidate = Variation[BoxMeasure]


class Depth(NamedTuple):
    """A depth, and what it is of.

    >>> from germane.boxes.conventions_search import Depth
    >>> str(Depth(300, "image"))
    '300 of each image'
    """

    depth: int | None
    depth_of: DepthOf

    def __str__(self) -> str:
        suffix = " of each image" if self.depth_of == "image" else ""
        return "none" if self.depth is None else f"{self.depth}{suffix}"


@dataclass(eq=False)
class BoxVariations:
    """The candidates for a measure of some boxes: conventions asked for, changes that matter.

    ``fixed`` are the conventions that hold in all of them.
    """

    truths: Truths
    detections: Detections
    target: BoxMeasure
    conventions: Conventions
    fixed: frozenset[str] = frozenset()
    points: str = USUAL_POINTS
    """those of the curve if the measure names none"""
    name: str = ""
    """The name under which the measure was asked for."""

    def __post_init__(self) -> None:
        self.area = self.target.complete(self.conventions).area
        self.overlaps = _list_overlaps(self.truths, self.detections, self.conventions)
        self.dialects = tuple(
            dialect
            for dialect in DIALECTS
            if read_dialect(dialect, "overlap") in self.overlaps and self.suits(dialect)
        )

    @cached_property
    def changes(self) -> dict[str, tuple[Any, ...]]:
        """The words of each change that can matter on this data, other than those asked for."""
        options: dict[str, list[Any]] = {
            name: list(words) for name, words in WORDS.items() if name not in _IDLE
        }
        del options["depth_of"]
        if self.target.name == "AP" and not self.target.points:
            options["points"] = list(CURVES)
        options["overlap"] = list(self.overlaps)
        options |= {"only_images": ["detected"], "mean": list(MEANS)}
        if "oks" not in self.overlaps:
            options["area_of"].remove("body")
        if self.truths.levels is None:
            options["area_of"].remove("height")
        for name in ("confidence", "depth"):
            options[name] = list(
                dict.fromkeys(read_dialect(dialect, name) for dialect in self.dialects)
            )
        lowest = self.detections.score.min(initial=math.inf)
        cuts = dict.fromkeys((*options["confidence"], *CUTS))
        options["confidence"] = [cut for cut in cuts if cut is None or lowest <= cut]
        options["depth"] = self._list_depths(options["depth"])
        return {
            name: tuple(word for word in words if word != self.start[name])
            for name, words in options.items()
            if name not in self.fixed and self._can_matter(name)
        }

    @cached_property
    def start(self) -> dict[str, Any]:
        """The words that were asked for."""
        beside = _BESIDE | {"points": self.target.points or self.points}
        return _join_depth({**vars(self.conventions), **beside})

    def _list_depths(self, of_tools: list["Depth"]) -> list["Depth"]:
        """List the depths that leave something out, and none; no other is tried with a name's."""
        if self.target.k is not None:
            return []
        largest = {"class": 0, "image": 0}
        if len(self.detections):
            _, sizes = np.unique(number_group(self.truths, self.detections), return_counts=True)
            of_images = np.bincount(self.detections.image)
            largest = {"class": int(sizes.max()), "image": int(of_images.max())}

        def limit(depth: "Depth") -> Any:
            cuts = depth.depth is not None and depth.depth < largest[depth.depth_of]
            return depth if cuts else None

        words = dict.fromkeys((*of_tools, *(Depth(depth, "class") for depth in _DEPTHS)))
        return [word for word in words if limit(word) != limit(self.start["depth"])]

    @property
    def _is_verified(self) -> bool:
        """Does every image say which classes were looked for?"""
        return self.truths.verified is not None and not self.truths.verified.lacking

    def suits(self, dialect: Dialect) -> bool:
        """Can the tool evaluate truths that do not say which classes were looked for, or these?

        KITTI's needs truths that have levels.
        """
        has_levels = self.truths.levels is not None or read_dialect(dialect, "area_of") != "height"
        return has_levels and (read_dialect(dialect, "unverified") == "count" or self._is_verified)

    def _can_matter(self, name: str) -> bool:
        truths, detections = self.truths, self.detections
        match name:
            case "classes":
                return self.target.frequency is None and self.target.label is None
            case "unverified":
                return self._is_verified
            case "flagged":
                return truths.flagged is not None and bool(truths.flagged.any())
            case "empty":
                areas = (truths.area, detections.boxes.measure_areas())
                return any(bool((area <= 0).any()) for area in areas)
            case "crowds":
                return bool(truths.crowd.any())
            case "difficult":
                return bool((truths.difficult | truths.crowd).any())
            case "id_zero":
                return any(identifier == 0 for identifier in truths.ids)
            case "area_of":
                return "oks" in self.overlaps or self.area != next(iter(self.conventions.areas))
            case "confidence":
                return bool(len(detections) and detections.score.min() <= CUTS[-1])
            case "no_truth":
                return len(np.unique(truths.label)) < len(truths.classes) or bool(
                    truths.crowd.any() or truths.difficult.any() or self._can_matter("area_of")
                )
            case "only_images":
                return bool((~np.isin(truths.image, detections.image)).any())
            case "mean":
                target = self.target
                of_all = target.frequency is None and target.label is None
                return len(truths.images) > 1 and of_all and target.confidence != "best"
            case "found_area":
                of_masks = "mask" in self.overlaps and detections.boxed
                return of_masks and self._can_matter("area_of")
            case "ties":
                return len(np.unique(detections.score)) < len(detections)
        return True

    def make_candidate(
        self,
        words: Mapping[str, Any],
        tools: tuple[str, ...] = (),
        measure: BoxMeasure | None = None,
    ) -> BoxCandidate:
        """Make a candidate of words, without those that were asked for or that cannot matter."""
        effective = {
            name: word
            for name, word in words.items()
            if name in self.changes and word != self.start[name]
        }
        return BoxCandidate(measure or self.target, tuple(sorted(effective.items())), tools)

    def list_tools(self, measure: BoxMeasure | None = None) -> Iterator[BoxCandidate]:
        """Yield what each tool has of the measure and of the name asked for, or of another measure.

        The name may be another measure in the tool: mAP of PASCAL VOC is at an overlap of .5.
        """
        for dialect in self.dialects:
            for entry, theirs in self._list_measures(dialect, measure):
                tools = (f"{dialect.name}:{entry.name}",)
                yield self.make_candidate(list_words(dialect, entry), tools, theirs)

    def _list_measures(
        self, dialect: Dialect, measure: BoxMeasure | None = None
    ) -> Iterator[tuple[Entry, BoxMeasure]]:
        named = None if measure else self._find_named(dialect)
        if named is not None:
            yield named
        entry = find_entry(dialect, measure or self.target, self.conventions)
        if entry is not None:
            yield entry, measure or self.target

    def find_measure(self, dialect: Dialect) -> tuple[Entry, BoxMeasure] | None:
        """Find what a tool has by the name asked for or, if it has none, of the measure."""
        return next(self._list_measures(dialect), None)

    def _find_named(self, dialect: Dialect) -> tuple[Entry, BoxMeasure] | None:
        """Find what a tool has by the name asked for, if that is another measure there."""
        entry = dialect.find(self.name)
        if entry is None:
            return None
        theirs = parse_measure(entry.read(self.name) or "")
        iou = theirs.iou or dialect.choices.get("iou")
        points = None if self.target.name == "AP" else theirs.points  # a change decides on them
        theirs = replace(theirs, iou=iou, points=points)
        if theirs.complete(self.conventions) == self.target.complete(self.conventions):
            return None
        return entry, theirs

    def vary_once(self) -> Iterator[BoxCandidate]:
        """Change one thing."""
        for name, words in self.changes.items():
            for word in words:
                yield BoxCandidate(self.target, ((name, word),))

    def vary_images(self) -> Iterator[BoxCandidate]:
        """Take the mean over images with each curve; leave out images, as tools evaluate others."""
        kinds: list[Any] = [(), *(("mean", word) for word in self.changes.get("mean", ()))]
        images: list[Any] = [
            (),
            *(("only_images", word) for word in self.changes.get("only_images", ())),
        ]
        curves: list[Any] = [(), *(("points", word) for word in self.changes.get("points", ()))]
        half = replace(self.target, iou=Levels((0.5,)))
        measures = dict.fromkeys((self.target, half if self.target.name == "AP" else self.target))
        for measure, *changed in product(measures, kinds, images, curves):
            if any(changed[:2]):
                yield BoxCandidate(measure, tuple(sorted(choice for choice in changed if choice)))
        for candidate in self.list_tools() if len(images) > 1 else ():
            yield replace(candidate, choices=tuple(sorted((*candidate.choices, images[1]))))

    def combine(self) -> Iterator[BoxCandidate]:
        """Change the main conventions in all combinations."""
        names = [name for name in _MAIN if self.changes.get(name)]
        depths = {read_dialect(dialect, "depth") for dialect in self.dialects}
        words_of = {
            name: [word for word in self.changes[name] if name != "depth" or word in depths]
            for name in names
        }
        for chosen in product(*((self.start[name], *words_of[name]) for name in names)):
            words = dict(zip(names, chosen, strict=True))
            if words.get("points") == "101single":  # nearly the value of 101
                continue
            all_words = self.start | words
            if all_words["crowds"] == "difficult" and all_words["difficult"] == "count":
                continue  # which is crowds=count
            yield self.make_candidate(words)

    def is_mistaken_depth(self, dialect: Dialect) -> bool:
        """Has the tool no value because a depth other than its own was given?"""
        mistaken = dialect.choices.get("ap_depth") == "100" and "depth" in self.fixed
        complete = self.target.complete(self.conventions)
        return mistaken and complete.is_main and complete.k != 100


def _list_overlaps(
    truths: Truths, detections: Detections, conventions: Conventions
) -> tuple[str, ...]:
    """List the overlaps that both sides have the shapes for."""
    has = {
        "mask": truths.masks is not None and detections.masks is not None,
        "oks": _have_points(truths, detections, conventions),
    }
    are_oriented = truths.corners is not None and detections.corners is not None
    has |= {overlap: are_oriented and can_intersect() for overlap in ORIENTED}
    has["probiou"] = are_oriented
    return tuple(overlap for overlap in WORDS["overlap"] if has.get(overlap, True))


def _have_points(truths: Truths, detections: Detections, conventions: Conventions) -> bool:
    if truths.keypoints is None or detections.keypoints is None:
        return False
    count = len(conventions.sigmas or COCO_SIGMAS)
    return bool(truths.keypoints.shape[1] == detections.keypoints.shape[1] == count)


def find_entry(dialect: Dialect, box_measure: BoxMeasure, choices: Conventions) -> Entry | None:
    """Find the tool's measure of that name, with these thresholds, area and depth.

    The points of its curve are its own, unless the measure names them.
    """
    wanted = box_measure.complete(choices)
    for entry in dialect.measuring:
        theirs = parse_measure(entry.write_measure(box_measure.k or choices.depth or 100))
        iou = theirs.iou or dialect.choices.get("iou") or theirs.complete(choices).iou
        alike = (
            theirs.name == box_measure.name
            and iou == wanted.iou
            and (theirs.area, theirs.frequency, None)
            == (box_measure.area, box_measure.frequency, box_measure.label)
            and (
                (theirs.k or choices.depth) == wanted.k
                or (box_measure.k is None and theirs.k is None)
            )
            and (theirs.confidence == box_measure.confidence)
        )
        if alike:
            return entry
    return None


def list_words(dialect: Dialect, entry: Entry) -> dict[str, Any]:
    """List every convention of a dialect, with the points of one of its curves."""
    points = parse_measure(entry.write_measure(1)).points or USUAL_POINTS
    return _join_depth({**DEFAULTS, **dialect.choices, "points": points})


def read_dialect(dialect: Dialect, name: str) -> Any:
    """Read a convention of a dialect, of the depth with what it is of."""
    return _join_depth({**DEFAULTS, **dialect.choices})[name]


def _join_depth(words: dict[str, Any]) -> dict[str, Any]:
    """Join the depth with what it is of, which does not matter where there is none."""
    depth_of: DepthOf = "class" if words["depth"] is None else words["depth_of"]
    return words | {"depth": Depth(words["depth"], depth_of)}


# --- Search ---------------------------------------------------------------------------------------
#
# One measure of the same boxes under many conventions, and those that give a number.

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
            over = dict(choices).get("mean")
            if over is None:
                value = BoxValue(complete, result.classes, result.compute(complete, lists))
                self._values[key] = value.mean
            else:
                self._values[key] = average_images(result, complete, lists.matches, over)
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
        name, truths = self.detections.name, self.truths
        if "only_images" in dict(choices):
            truths = truths.take(np.isin(truths.image, self.detections.image))
        return Result(name, measures, truths, self.detections, conventions), complete

    def _make_lists(self, result: Result) -> RankedLists:
        key = (*self._key(result.conventions), result.thresholds, len(result.truths))
        if key not in self._lists:
            choices = replace(result.conventions, depth=None)
            arranged, pairs = self._pair(result.truths, choices, result.thresholds)
            order = _keep(
                self._orders,
                (*self._key_detections(choices), choices.ties, len(result.truths)),
                lambda: sort_lists(arranged.detections, choices.ties, arranged.detections.label),
            )
            matches = match_groups(arranged, choices, result.thresholds, pairs)
            self._lists = {key: RankedLists(matches, choices, order=order)}
        return self._lists[key]

    def _pair(
        self, truths: Truths, choices: Conventions, thresholds: tuple[float, ...]
    ) -> tuple[Arranged, Pairs]:
        """Arrange the boxes and find the pairs that overlap, unless the last ones are the same."""
        of_detections = (*self._key_detections(choices), len(truths))
        key = (*of_detections, *self._key(choices, _OF_PAIRS), thresholds)
        if key not in self._pairs:
            detections = _keep(
                self._sorted,
                of_detections,
                lambda: arrange_detections(truths, self.detections, choices),
            )
            arranged = Arranged(arrange_truths(truths, choices), *detections)
            self._pairs = {key: (arranged, find_pairs(arranged, choices, thresholds))}
        return self._pairs[key]

    def _change(self, choices: Choices) -> Conventions:
        words = {name: word for name, word in choices if name not in _BESIDE}
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
            if name not in _BESIDE
        )
        return *super().rank_usage(candidate), -usual


def _keep(cache: dict[Any, T], key: Any, make: Callable[[], T]) -> T:
    """Make a value unless it is kept; of large values the first and the last two are kept."""
    if key not in cache:
        cache[key] = make()
        if len(cache) > 3:
            del cache[list(cache)[1]]
    return cache[key]
