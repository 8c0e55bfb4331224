"""Variations: the conventions that may be behind a number, of tools and of changes.

A *change* is a convention with another word than asked for. The points of the curve are one, and so
is a depth together with what it is of.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from germane.boxes.conventions import DEFAULTS, WORDS, Conventions, DepthOf
from germane.boxes.detections import Detections, Truths
from germane.boxes.dialect_table import DIALECTS
from germane.boxes.keypoints import COCO_SIGMAS
from germane.boxes.matching import number_group
from germane.boxes.measures import BoxMeasure, parse_measure
from germane.dialects.dialect import Dialect, Entry
from germane.measures.box_names import POINTS, USUAL_POINTS
from germane.reconciliation.variations import Variation

_IDLE = ("unknown", "ap_depth")  # they decide whether there is a number, but not which
_MAIN = ("overlap", "candidate", "crowds", "difficult", "depth", "points", "no_truth")
"""The changes that are tried in all combinations."""


BoxCandidate = Variation[BoxMeasure]


class Depth(NamedTuple):
    """A depth, and what it is of.

    >>> from germane.boxes.variations import Depth
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
            options["points"] = list(POINTS)
        options["overlap"] = list(self.overlaps)
        for name in ("confidence", "depth"):
            options[name] = list(
                dict.fromkeys(read_dialect(dialect, name) for dialect in self.dialects)
            )
        if self.target.k is not None:  # the measure's own name decides
            options["depth"] = []
        return {
            name: tuple(word for word in words if word != self.start[name])
            for name, words in options.items()
            if name not in self.fixed and self._can_matter(name)
        }

    @cached_property
    def start(self) -> dict[str, Any]:
        """The words that were asked for."""
        return _join_depth({**vars(self.conventions), "points": self.target.points or self.points})

    @property
    def _is_verified(self) -> bool:
        """Does every image say which classes were looked for?"""
        return self.truths.verified is not None and not self.truths.verified.lacking

    def suits(self, dialect: Dialect) -> bool:
        """Can the tool evaluate truths that do not say which classes were looked for, or these?"""
        return read_dialect(dialect, "unverified") == "count" or self._is_verified

    def _can_matter(self, name: str) -> bool:
        truths, detections = self.truths, self.detections
        match name:
            case "classes":
                return self.target.frequency is None
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
                return self.area != next(iter(self.conventions.areas))
            case "confidence":
                return bool(len(detections) and detections.score.min() <= 0.001)
            case "no_truth":
                return len(np.unique(truths.label)) < len(truths.classes) or bool(
                    truths.crowd.any() or truths.difficult.any() or self._can_matter("area_of")
                )
            case "depth":
                _, sizes = np.unique(number_group(truths, detections), return_counts=True)
                return int(sizes.max(initial=0)) > (20 if "oks" in self.overlaps else 100)
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

    def combine(self) -> Iterator[BoxCandidate]:
        """Change the main conventions in all combinations."""
        names = [name for name in _MAIN if self.changes.get(name)]
        for chosen in product(*((self.start[name], *self.changes[name]) for name in names)):
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
            and (theirs.area, theirs.frequency) == (box_measure.area, box_measure.frequency)
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
