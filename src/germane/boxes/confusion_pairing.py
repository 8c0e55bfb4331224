"""Pairs of a confusion matrix: which detection counts with which truth, of any class."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from germane.boxes.conventions import Conventions
from germane.boxes.detections import Detections, Truths
from germane.boxes.matching import list_floors, measure_in_images, reach
from germane.core.ragged import Bools, Floats, Ints

Pairing: TypeAlias = Literal["score", "class", "mutual", "all"]
PAIRINGS: Mapping[Pairing, str] = {
    "score": "by falling score, each detection takes the free truth that it overlaps most",
    "class": "pairs of one class come first, and then those that overlap most",
    "mutual": "a detection keeps the truth that it overlaps most, and a truth the best of those",
    "all": "every detection counts with each truth that it overlaps enough",
}


@dataclass(frozen=True, eq=False, repr=False)
class CountedPairs:
    """The pairs that are counted; -1 stands for background."""

    truth: Ints
    detection: Ints
    overlap: Floats  # NaN with background


def pair_boxes(
    truths: Truths,
    detections: Detections,
    choices: Conventions,
    pairing: Pairing,
    sought: Ints,
    spared: Bools,
) -> tuple[CountedPairs, int]:
    """Pair detections with the truths that are sought; count those in no cell, too."""
    [floor] = list_floors(choices.iou, choices)
    parts = list(measure_in_images(detections, truths, choices, float(floor)))
    detection, truth, overlap = (np.concatenate(column) for column in zip(*parts, strict=True))
    reached = reach(overlap, floor, choices)
    detection, truth, overlap = detection[reached], truth[reached], overlap[reached]
    place = np.full(len(truths), -1)
    place[sought] = np.arange(len(sought))
    ignored = place[truth] < 0
    spared = spared.copy()
    spared[detection[ignored]] = True
    detection, truth, overlap = detection[~ignored], place[truth[~ignored]], overlap[~ignored]
    labels = truths.label[sought]
    alike = detections.label[detection] == labels[truth]
    rank = np.empty(len(detections), np.int64)
    rank[np.lexsort((detections.place, -detections.score))] = np.arange(len(detections))
    tie = truth if choices.equal_overlaps == "first" else -truth
    if pairing == "all":
        pairs = np.arange(len(detection))
    elif pairing == "mutual":
        best = _keep_best(detection, overlap, -truth)
        pairs = best[_keep_best(truth[best], overlap[best], -rank[detection[best]])]
    else:
        keys = (tie, -overlap, rank[detection]) if pairing == "score" else (tie, -overlap, ~alike)
        order = np.lexsort(keys)
        pairs = order[_take_in_turns(detection[order], truth[order])]
    taken = np.zeros(len(detections), bool)
    taken[detection[pairs]] = True
    hit = np.zeros(len(sought), bool)
    hit[truth[pairs[alike[pairs]] if pairing == "all" else pairs]] = True
    missed, false = np.flatnonzero(~hit), np.flatnonzero(~taken & ~spared)
    counted = CountedPairs(
        np.concatenate((truth[pairs], missed, np.full(len(false), -1))),
        np.concatenate((detection[pairs], np.full(len(missed), -1), false)),
        np.concatenate((overlap[pairs], np.full(len(missed) + len(false), math.nan))),
    )
    return counted, int((~taken & spared).sum())


def _keep_best(owner: Ints, overlap: Floats, tie: Ints) -> Ints:
    """Keep the pair of each owner that overlaps most."""
    order = np.lexsort((tie, overlap, owner))
    return order[np.flatnonzero(np.diff(owner[order], append=-1))]


def _take_in_turns(detections: Ints, truths: Ints) -> list[int]:
    """Take each pair of which neither side is taken before."""
    places, used, hit = [], set(), set()
    for place, pair in enumerate(zip(detections.tolist(), truths.tolist(), strict=True)):
        detection, truth = pair
        if detection not in used and truth not in hit:
            used.add(detection)
            hit.add(truth)
            places.append(place)
    return places
