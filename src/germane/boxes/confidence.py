"""Precision, recall and F1 at the confidence where the mean F1 over classes is best.

No confidence needs to be chosen for them. As in Ultralytics, the curves are read at 1000
confidences between 0 and 1, along straight lines between detections, and the mean F1 is smoothed
before its maximum is taken.
"""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.ranked_lists import View
from germane.core.ragged import Bools, Floats

if TYPE_CHECKING:
    from germane.boxes.ranked_lists import RankedLists

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
