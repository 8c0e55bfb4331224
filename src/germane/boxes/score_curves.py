"""Curves over confidence: precision, recall and F1 of what scores at least so much, by class."""

import math
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal

import numpy as np

from germane.boxes.box_measures import RankedLists, View
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The detections that count at one threshold of overlap, class by class and by falling score.

    Cut off at the score of a detection, a class has so many detections, and so many of them true.
    """

    score: Floats  # D
    owner: Ints  # D, the class
    number: Ints  # D, detections of the class from the first to this one
    true: Ints  # D, true ones among them
    relevant: Ints  # K, truths to be found

    @property
    def precision(self) -> Floats:
        """The precision of each class down to each detection (D)."""
        return self.true / self.number

    @property
    def recall(self) -> Floats:
        """The recall of each class down to each detection (D); 0 without truths."""
        recall: Floats = self.true / np.maximum(self.relevant[self.owner], 1)
        return recall

    @property
    def f1(self) -> Floats:
        """F1 of each class down to each detection (D); 0 without truths."""
        f1: Floats = 2 * self.true / (self.number + self.relevant[self.owner])
        return f1

    def take(self, label: int) -> "Sweep":
        """Take one class."""
        rows = self.owner == label
        columns = (self.score[rows], self.owner[rows] * 0, self.number[rows], self.true[rows])
        return Sweep(*columns, self.relevant[label : label + 1])

    def select(self, labels: Ints) -> "Sweep":
        """Leave out the truths of all other classes, so that means are over these alone."""
        chosen = np.zeros_like(self.relevant)
        chosen[labels] = self.relevant[labels]
        return replace(self, relevant=chosen)

    def average(self, values: Floats) -> tuple[Floats, Floats]:
        """Average values of classes (D) at each different score, the highest first.

        A class of which nothing scores so much counts 0, and one without truths is left out.
        """
        starts = np.diff(self.owner, prepend=-1) != 0
        steps = values - np.where(starts, 0.0, np.roll(values, 1))
        order = np.argsort(-self.score, kind="stable")
        order = order[self.relevant[self.owner[order]] > 0]
        total = np.cumsum(steps[order])
        last = mark_lasts(self.score[order])
        classes = max(np.count_nonzero(self.relevant), 1)
        return self.score[order][last], total[last] / classes

    def find_best(self) -> tuple[float, float]:
        """Find the confidence with the best mean F1, the highest of several, and this F1.

        Any number above the next lower score does the same; the one with the fewest digits is
        chosen. The lowest score of all is rounded down by a thousandth at most. Without detections
        or truths, the confidence is 0 and F1 NaN.
        """
        scores, means = self.average(self.f1)
        if not len(scores):
            return 0.0, math.nan
        best = int(means.argmax())
        score = float(scores[best])
        lower = float(scores[best + 1]) if best + 1 < len(scores) else score - abs(score) / 1000
        return shorten(lower, score), float(means[best])


def sweep(lists: RankedLists, view: View, area: int, threshold: int) -> Sweep:
    """List the detections that count, and how many are true down to each of them."""
    counted, hits = lists.mark_outcomes(view, area, threshold)
    true = np.zeros(len(counted), bool)
    true[hits] = True
    rows = np.flatnonzero(counted)
    owner = np.searchsorted(lists.starts, rows, "right") - 1
    starts = np.searchsorted(owner, np.arange(lists.count + 1))
    number = np.arange(len(rows)) - starts[owner] + 1
    running = ragged.make_offsets(true[rows].astype(np.int64))
    return Sweep(
        lists.score[rows], owner, number, running[1:] - running[starts[owner]], lists.relevant[area]
    )


def mark_lasts(scores: Floats) -> Bools:
    """Mark the last of each group of equal scores."""
    lasts: Bools = np.diff(scores, append=-np.inf) != 0
    return lasts


def shorten(low: float, high: float) -> float:
    """Find the number with the fewest decimals above ``low`` and not above ``high``.

    >>> from germane.boxes.score_curves import shorten
    >>> shorten(0.3911, 0.4237), shorten(0.4236, 0.4237)
    (0.4, 0.4237)
    """
    exact = Decimal(repr(high))
    for digits in range(17):
        number = float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR))
        if low < number <= high:
            return number
    return high
