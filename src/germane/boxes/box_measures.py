"""The measures of detections, such as ``AP(iou=.5,area=small)``, on ranked lists of matches."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import TypeAlias

import numpy as np

from germane.boxes.conventions import BoxTies, Conventions
from germane.boxes.detections import Detections
from germane.boxes.matching import Matches
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints
from germane.core.ranking import Ranking
from germane.dialects.names import parse
from germane.errors import MeasureError, NotFoundError, clip, list_choices, offer, write_option
from germane.measures.average import measure_lines, read_curves
from germane.measures.averaging import compute_scores
from germane.measures.box_names import BoxName, Levels
from germane.measures.measure import Measure, list_names

Curve: TypeAlias = Callable[[Ranking], Floats]
"""A function that computes a value for each query of a ranking, where no measure has a name."""


@dataclass(frozen=True)
class View:
    """The detections that a measure looks at: a depth of each class and image, a least score."""

    depth: int | None = None
    confidence: float | None = None


def sort_lists(detections: Detections, ties: BoxTies, lists: Ints) -> Ints:
    """Sort arranged detections by list and falling score (D)."""
    order = np.argsort(-detections.score, kind="stable")
    if ties == "given":
        order = np.lexsort((detections.place, -detections.score))
    return order[ragged.order_stably(lists[order])]


def make_ranking(query: Ints, rank: Ints, length: Ints, relevant: Ints) -> Ranking:
    """Make a ranking of true detections: their lists and ranks, all lists' lengths and truths."""
    offsets = ragged.make_offsets(relevant)
    return Ranking(
        list(range(len(length))),
        query,
        rank,
        np.broadcast_to(1.0, len(rank)),
        length,
        offsets,
        np.broadcast_to(1.0, offsets[-1]),
        tied_from=rank,
        tied_to=rank,
    )


class RankedLists:
    """Matched detections in the order of their scores, list by list.

    A list has the detections of a class in all images. ``lists`` and ``truth_lists`` give other
    lists: the number of the list that each detection and each truth is in, out of ``count``.
    ``labels`` are their classes (L). ``order`` is that of the detections, where it is known.
    """

    def __init__(
        self,
        matches: Matches,
        choices: Conventions,
        *,
        lists: Ints | None = None,
        truth_lists: Ints | None = None,
        count: int | None = None,
        labels: Ints | None = None,
        order: Ints | None = None,
    ) -> None:
        detections = matches.detections
        self.matches = matches
        self.count = len(matches.truths.classes) if count is None else count
        self.labels = np.arange(self.count) if labels is None else labels
        self.truth_lists = matches.truths.label if truth_lists is None else truth_lists
        lists = detections.label if lists is None else lists
        order = sort_lists(detections, choices.ties, lists) if order is None else order
        self.order = order  # D, by list and falling score
        self.starts = np.searchsorted(lists[self.order], np.arange(self.count + 1))  # L + 1
        self.score, self.depth = detections.score[self.order], matches.depth[self.order]
        self._inside = ~matches.outside[:, self.order]  # (A, D)
        self._rankings: dict[View, Ranking] = {}
        self._scores: dict[tuple[Measure | Curve, View], Floats] = {}

    @cached_property
    def _found(self) -> tuple[Ints, Ints, Ints, Bools]:
        """Query, area and place of each detection that found a truth, and whether it counts.

        Detections outside the area that found an ignored truth are left out.
        A query is an area, a threshold and a list. They stand by query, and by place within it.
        """
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(self.order))
        place_of_candidate = place[self.matches.candidate]
        by_place = np.argsort(place_of_candidate)
        placed = place_of_candidate[by_place]
        lists = np.searchsorted(self.starts, placed, "right") - 1
        areas, thresholds, _ = self.matches.partner.shape
        parts = []
        for area in range(areas):  # row by row, which is twice as fast as all at once
            ignored, inside = self.matches.ignored[area], self._inside[area]
            for threshold in range(thresholds):
                partner = self.matches.partner[area, threshold][by_place]
                rows = np.flatnonzero(partner >= 0)
                counts, position = ~ignored[partner[rows]], placed[rows]
                # those that neither count nor lie inside are in no list anyway
                listed = np.flatnonzero(counts | inside[position])
                query = (area * thresholds + threshold) * self.count + lists[rows[listed]]
                column = np.full(len(listed), area, np.int8)
                parts.append((query, column, position[listed], counts[listed]))
        query, area_of, position, counts = map(np.concatenate, zip(*parts, strict=True))
        return query, area_of, position, counts

    @cached_property
    def relevant(self) -> Ints:
        """(A, L): the number of truths to be found."""
        sought = (self.truth_lists[~ignored] for ignored in self.matches.ignored)
        return np.stack([np.bincount(lists, minlength=self.count) for lists in sought])

    def compute(self, measure: Measure | Curve, view: View) -> Floats:
        """Compute a measure of the ranking of a view, by area, threshold and list (A, T, L)."""
        if (measure, view) not in self._scores:
            ranking = self.rank(view)
            if isinstance(measure, Measure):
                scores = compute_scores(measure, ranking)
            else:
                scores = measure(ranking)
            self._scores[measure, view] = self.split(scores)
        return self._scores[measure, view]

    def rank(self, view: View) -> Ranking:
        """Return the ranking of a view, which is made once."""
        if view not in self._rankings:
            self._rankings[view] = self._rank(view)
        return self._rankings[view]

    def _rank(self, view: View) -> Ranking:
        """Make a ranking of a view's true detections; queries are areas × thresholds × lists.

        A rank counts the detections before it that are inside the range of areas. One that found a
        truth counts whatever its area, and one that found an ignored truth does not.
        """
        # Detections inside the area are summed up once for all thresholds. What differs there are
        # the few that found a truth: one that counts from outside moves the ranks from it on by
        # 1, one inside that does not count by -1.
        viewed = self.mark_kept(view)
        areas, thresholds = self.matches.partner.shape[:2]
        inside = np.zeros((areas, len(viewed) + 1), np.int32)
        np.cumsum(self._inside & viewed, axis=1, out=inside[:, 1:])
        query, area, position, counts = (column[viewed[self._found[2]]] for column in self._found)
        moved = ragged.make_offsets(counts.astype(np.int64) - self._inside[area, position])
        starts = np.searchsorted(query, np.arange(areas * thresholds * self.count + 1))
        rank = moved[1:] - moved[starts[query]]
        rank += inside[area, position + 1] - inside[area, self.starts[query % self.count]]
        length = np.repeat(np.diff(inside[:, self.starts], axis=1)[:, None], thresholds, axis=1)
        length = length.ravel() + moved[starts[1:]] - moved[starts[:-1]]
        relevant = np.repeat(self.relevant[:, None], thresholds, axis=1).ravel()
        return make_ranking(query[counts], rank[counts], length, relevant)

    def mark_kept(self, view: View) -> Bools:
        """Mark the detections (D) of a view, in the order of the lists."""
        viewed = np.ones(len(self.order), bool)
        if view.depth is not None:
            viewed &= self.depth < view.depth
        if view.confidence is not None:
            viewed &= self.score >= view.confidence
        return viewed

    def mark_outcomes(self, view: View, area: int, threshold: int) -> tuple[Bools, Ints]:
        """Mark the detections (D) that count in an area at a threshold, and list the true ones."""
        viewed = self.mark_kept(view)
        query, _, position, counts = self._found
        first = (area * len(self.matches.thresholds) + threshold) * self.count
        part = slice(*np.searchsorted(query, (first, first + self.count)))
        counted = self._inside[area].copy()
        counted[position[part]] = counts[part]
        true = position[part][counts[part]]
        return counted & viewed, true[viewed[true]]

    def place_outcomes(self, view: View, area: int, threshold: int) -> tuple[Ints, Bools, Bools]:
        """Give each detection (D) its truth or -1, and mark those that count and are true."""
        counted, true = self.mark_outcomes(view, area, threshold)
        truth, counts = np.full(len(self.order), -1), np.empty(len(self.order), bool)
        truth[self.matches.candidate] = self.matches.partner[area, threshold]
        counts[self.order], hit = counted, np.zeros(len(self.order), bool)
        hit[self.order[true]] = True
        return truth, counts, hit

    def split(self, values: Floats) -> Floats:
        """Give values of queries (…, Q) their shape: … × areas × thresholds × lists."""
        areas, thresholds = self.matches.partner.shape[:2]
        return values.reshape(*values.shape[:-1], areas, thresholds, self.count)


# --- Precision, recall and F1 at the confidence where the mean F1 over classes is best ------------
#
# No confidence needs to be chosen for them. As in Ultralytics, the curves are read at 1000
# confidences between 0 and 1, along straight lines between detections, and the mean F1 is smoothed
# before its maximum is taken.

_CONFIDENCES = np.linspace(0, 1, 1000)
_WINDOW = 101  # confidences over which the mean F1 is smoothed
_LEAST = 1e-16  # avoids a division by 0


def find_best_point(lists: "RankedLists", view: View, area: int, threshold: int) -> Floats:
    """Find precision, recall and F1 of each list (3, L) at the confidence best for all lists."""
    curves = np.zeros((3, lists.count, len(_CONFIDENCES)))
    relevant = lists.relevant[area]
    if not relevant.any():
        return curves[:, :, 0]
    counts, hits = lists.mark_outcomes(view, area, threshold)
    true = np.zeros(len(counts), bool)
    true[hits] = True
    for number in np.flatnonzero(relevant).tolist():
        curves[:2, number] = _read_curves(lists, number, counts, true, int(relevant[number]))
    precision, recall, _ = curves
    curves[2] = 2 * precision * recall / (precision + recall + _LEAST)
    best = _smooth(curves[2, relevant > 0].mean(axis=0)).argmax()
    return curves[:, :, best]


def _read_curves(
    lists: "RankedLists", position: int, counts: Bools, true: Bools, relevant: int
) -> Floats:
    """Read precision and recall of one list at every confidence (2, 1000); 0 without detections."""
    part = slice(*lists.starts[position : position + 2])
    score, hits = lists.score[part][counts[part]], true[part][counts[part]]
    if not len(score):
        return np.zeros((2, len(_CONFIDENCES)))
    true_so_far = hits.cumsum()
    precision, recall = (
        true_so_far / np.arange(1, len(true_so_far) + 1),
        true_so_far / (relevant + _LEAST),
    )
    curves = ((precision, 1), (recall, 0))  # and where each begins
    return np.stack([np.interp(-_CONFIDENCES, -score, curve, left=left) for curve, left in curves])


def _smooth(curve: Floats) -> Floats:
    """Average a curve over a window; at its ends it goes on as it begins and ends."""
    half = np.ones(_WINDOW // 2)
    padded = np.concatenate((half * curve[0], curve, half * curve[-1]))
    return np.convolve(padded, np.ones(_WINDOW) / _WINDOW, mode="valid")


# --- The measures of detections: names such as ``AP(iou=.5,area=small)``, and their values --------

BoxMeasures: TypeAlias = "str | BoxMeasure | Iterable[str | BoxMeasure]"
EXAMPLE = "AP AP50 AR@10"


def _read_single_levels(ranking: Ranking) -> Floats:
    return np.asarray(read_curves(ranking, 101, rounding="single").mean(axis=0))


def _measure_sloped_lines(ranking: Ranking) -> Floats:
    return measure_lines(ranking, None, 1.0, end="slope") / 100


def _read_40_levels(ranking: Ranking) -> Floats:
    return np.asarray(read_curves(ranking, 41)[1:].mean(axis=0))


CURVES: dict[str, tuple[Measure | Curve, str]] = {
    "101": (
        parse("IAP(points=101,rounding=double)"),
        "the best precision at 101 recalls or beyond",
    ),
    "101single": (
        _read_single_levels,
        "the best precision at the 101 recalls of torch.linspace or beyond",
    ),
    "11": (parse("IAP(rounding=double)"), "the best precision at 11 recalls or beyond"),
    "all": (
        parse("AUPR(rule=interpolated)"),
        "the best precision at the recall of each truth or beyond",
    ),
    "lines": (
        parse("AUPR(rule=linear101)"),
        "lines through the best precisions, with trapezoids between 101 recalls",
    ),
    "slope": (
        _measure_sloped_lines,
        "lines through the best precisions and to recall 1, with trapezoids between 101 recalls",
    ),
    "r40": (_read_40_levels, "the best precision at 40 recalls, from 1/40 on, or beyond"),
}
USUAL_POINTS = next(iter(CURVES))
_NAMES = {
    "AP": "average precision",
    "AR": "the recall of all detections",
    "P": "precision",
    "R": "recall",
    "F": "F1, the harmonic mean of precision and recall",
}


@dataclass(frozen=True, repr=False)
class BoxMeasure(BoxName):
    """A measure of detections with its parameters.

    ``iou`` are thresholds of overlap, ``area`` is the name of a range, ``frequency`` that of a
    group of classes and ``label`` that of one, ``points`` says how the area under the
    precision–recall curve is taken, ``confidence`` is the lowest score that counts, or ``best``,
    and ``k`` the depth. What is None is decided by the conventions.
    """

    @property
    def range(self) -> None:
        """The limits of an image's share: none, although those of the number are 0 and 1."""

    def complete(self, choices: Conventions, points: str = USUAL_POINTS) -> "BoxMeasure":
        """Fill in what the conventions decide, and the curve's points if the measure names none.

        Raises MeasureError for an unknown area, and for a spelling that says another overlap.
        """
        overlap = choices.overlap if choices.overlap in ("mask", "oks") else "box"
        if self.overlap not in ("", overlap):
            matched, chosen = (_MATCHED[kind] for kind in (self.overlap, overlap))
            word = "iou" if self.overlap == "box" else self.overlap
            has, needs = (write_option("overlap", choice) for choice in (choices.overlap, word))
            raise MeasureError(
                f"the name that you gave {self} is one for {matched}, but {has} evaluates {chosen}."
                f" Write {self}, or {needs}."
            )
        area = next(iter(choices.areas)) if self.area is None else self.area
        if area not in choices.areas:
            raise MeasureError(
                f"{self}: no range of areas is named {clip(area)}.{offer(area, choices.areas)}"
            )
        iou = self.iou or (Levels((0.5,)) if self.name in "PRF" else choices.iou)
        measure = replace(self, iou=iou, area=area, k=self.k or choices.depth, overlap="")
        return measure.name_points(points)

    def name_points(self, points: str) -> "BoxMeasure":
        """Name the points of the curve, where there is one and the measure names none."""
        return replace(self, points=points) if self.name == "AP" and not self.points else self

    def shorten(self, choices: Conventions) -> "BoxMeasure":
        """Leave to the conventions what these say, too: mAP50-95 and AP(area=all) are AP."""
        iou = None if self.iou == choices.iou and len(choices.iou) > 1 else self.iou
        area = None if self.area == next(iter(choices.areas)) else self.area
        return replace(self, iou=iou, area=area)

    @property
    def is_main(self) -> bool:
        """Is it AP over several thresholds, of objects of every size?"""
        return self.name == "AP" and len(self.iou or "__") > 1 and self.area in (None, "all")

    @property
    def view(self) -> View:
        """The detections that the measure looks at."""
        return View(self.k, None if self.confidence == "best" else self.confidence)

    @property
    def base(self) -> Measure | Curve:
        """The measure of ranked lists that this one is, at one threshold and for one class."""
        if self.name == "AP":
            return CURVES[self.points or USUAL_POINTS][0]
        return parse("R" if self.name == "AR" else self.name)

    @property
    def definition(self) -> str:
        """The measure in words.

        >>> from germane.boxes.box_measures import parse_measure
        >>> parse_measure("AP(iou=.5,points=11)").definition
        'the best precision at 11 recalls or beyond, mean over classes; overlap .5'
        """
        iou = self.iou or ()
        has_thresholds = len(iou) > 1 or (not iou and self.name in ("AP", "AR"))
        over = "classes and thresholds of overlap" if has_thresholds else "classes"
        parts = [f"{self.formula}, mean over {over}"]
        if iou:
            parts.append(f"overlap {iou}")
        if self.area not in (None, "all"):
            parts.append(f"{self.area} objects")
        if self.frequency is not None:
            parts.append(f"{self.frequency} classes")
        if self.label is not None:
            parts.append(f"the class {self.label} alone")
        if self.confidence == "best":
            parts.append("at the confidence where the mean F1, smoothed, is best")
        elif self.confidence is not None:
            parts.append(f"scores from {self.confidence:g}")
        if self.k is not None:
            parts.append(self.depth_words)
        return "; ".join(parts)

    @property
    def explanation(self) -> str:
        """The full definition: formula, parameters, and what the conventions decide."""
        rows = [
            ("Formula", self.definition),
            *(
                (
                    "" if place else "Parameters",
                    f"{'='.join(filter(None, parameter))}: {_PARAMETERS[parameter[0]]}",
                )
                for place, parameter in enumerate(self.parameters.items())
            ),
            ("Conventions", _CONVENTIONS),
            (
                "Computed by",
                f'germane boxes, and germane.boxes.evaluate(truth, detections, "{self}")',
            ),
        ]
        lines = [f"{self} — {_NAMES[self.name]}, of detected boxes", ""]
        for label, text in rows:
            lines += wrap(text, 96, initial_indent=f"{label:<13}", subsequent_indent=" " * 13)
        return "\n".join(lines) + "\n"

    @property
    def formula(self) -> str:
        """The measure of one class at one threshold, in words."""
        return CURVES[self.points or USUAL_POINTS][1] if self.name == "AP" else _NAMES[self.name]


_PARAMETERS = {
    "iou": "the thresholds of overlap, over which it is a mean",
    "area": "a range of areas, such as small, medium or large",
    "frequency": "of classes: rare, common or frequent, if the truth states it, as in LVIS",
    "class": "one class, by its name or id",
    "points": f"of the curve whose area is taken: {list_choices(CURVES)}",
    "confidence": "the lowest score that counts, or best: where the mean F1 over classes is best",
    "depth": "how many of the highest scores count",
}


_CONVENTIONS = (
    "how detections are matched with truths, and what the name leaves open: germane boxes --help,"
    " docs/which-map.md"
)
_MATCHED = {"box": "boxes", "mask": "masks", "oks": "keypoints"}


def parse_measure(text: str | BoxMeasure) -> BoxMeasure:
    """Read a measure of detections from its name.

    >>> from germane.boxes.box_measures import parse_measure
    >>> parse_measure("AP50")
    AP50

    It may be spelled as in papers and other tools. Raises MeasureError for what is not one.
    """
    return text if isinstance(text, BoxMeasure) else BoxMeasure.read(text)


def parse_measures(measures: BoxMeasures) -> tuple[BoxMeasure, ...]:
    """Read measures from a string of names, or several names."""
    return tuple(dict.fromkeys(map(parse_measure, list_box_names(measures))))


def list_box_names(measures: BoxMeasures) -> list[str | BoxMeasure]:
    """List the names in a string, or in several, and the measures among them."""
    return list_names(measures, BoxMeasure, BoxName.split, EXAMPLE)


def find_spelling(measure: str | BoxMeasure, names: Iterable[str]) -> str:
    """Find the name of a measure among some, however it is spelled. Raises NotFoundError."""
    listed = list(names)
    if str(measure) in listed:
        return str(measure)
    wanted = parse_measure(measure).shorten(Conventions())
    for name in listed:
        with suppress(MeasureError):  # of a tool's name
            if parse_measure(name).shorten(Conventions()) == wanted:
                return name
    raise NotFoundError(f"{measure} was not evaluated.{offer(measure, listed)}")
