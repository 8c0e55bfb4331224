"""Each image's share of a number, so that images can be resampled as queries are.

AP of a class is no mean over images. Its derivative by the weight of an image (the infinitesimal
jackknife, Efron 1982) says how much the number would change if the image counted a little more, and
the *share* is the number plus that change, times the number of images. The mean of all shares is
the number itself, so that every interval and test of a mean applies. ``bench/calibrate_boxes.py``
measures how well these hold.
"""

from typing import TYPE_CHECKING

import numpy as np

from germane.boxes.measures import BoxMeasure
from germane.boxes.ranked_lists import RankedLists, View
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints

if TYPE_CHECKING:
    from germane.boxes.result import Result


def compute_shares(result: "Result", measure: BoxMeasure) -> Floats:
    """Compute the share of each image (I) of a measure's mean."""
    lists, value = result.lists, result[measure]
    images = len(result.matches.truths.images)
    area = list(result.conventions.areas).index(value.measure.area or "")
    chosen = result.mark_frequency(value.measure)
    counts = (lists.relevant[area] > 0) & chosen
    thresholds = [result.thresholds.index(iou) for iou in value.measure.iou or ()]
    change = np.zeros(images)
    for threshold in thresholds:
        change += _differentiate(lists, value.measure, area, threshold, chosen)
    averaged = (chosen if result.conventions.no_truth == "zero" else counts).sum()
    change *= images / (len(thresholds) * max(averaged, 1))
    shares: Floats = value.mean + change - change.mean()
    return shares


def _differentiate(
    lists: RankedLists, measure: BoxMeasure, area: int, threshold: int, chosen: Bools
) -> Floats:
    """Differentiate the sum of a measure over the chosen lists by the weight of each image (I)."""
    matches = lists.matches
    listed = _Listed(lists, measure.view, area, threshold)
    images = len(matches.truths.images)
    total = np.maximum(lists.relevant[area], 1)
    true = listed.count(listed.hits)
    if measure.name == "AP":
        by_hit, by_detection, value = _differentiate_ap(listed, total)
        by_truth = -value / total
    else:  # a quotient of counts: true · t / (retrieved · n + truths · r)
        t, n, r = {"P": (1, 1, 0), "F": (2, 1, 1)}.get(measure.name, (1, 0, 1))
        retrieved = listed.count(np.flatnonzero(listed.counted))
        divisor = np.maximum(n * retrieved + r * lists.relevant[area], 1)
        has_truth = lists.relevant[area] > 0
        value = np.where(has_truth, t * true / divisor, 0.0)
        by_hit = (t * has_truth / divisor)[listed.owner[listed.hits]]
        by_detection = -(n * value / divisor)[listed.owner]
        by_truth = -r * value / divisor
    seen, sought = np.flatnonzero(listed.counted), np.flatnonzero(~matches.ignored[area])
    weights = np.concatenate((by_hit, by_detection[seen], by_truth[lists.truth_lists[sought]]))
    image = np.concatenate(
        (listed.image[listed.hits], listed.image[seen], matches.truths.image[sought])
    )
    owner = np.concatenate(
        (listed.owner[listed.hits], listed.owner[seen], lists.truth_lists[sought])
    )
    weights *= _measure_leverage(image + images * owner, len(sought), total[owner])
    weights *= chosen[owner]
    return np.bincount(image, weights, images).astype(float)


def _measure_leverage(group: Ints, truths: int, total: Ints) -> Floats:
    """Measure how much more than its derivative leaving out an image changes a number.

    The number of a list is divided by its truths, of which there are fewer without the image: by
    the share of truths that others have, as in the jackknife. ``group`` is an image and a list, and
    ends with those of the truths. No factor is above 2, where an image has half of the truths.
    """
    groups, count = np.unique(group[len(group) - truths :], return_counts=True)
    if not len(groups):
        return np.ones(len(group))
    position = np.minimum(np.searchsorted(groups, group), len(groups) - 1)
    removed = np.where(groups[position] == group, count[position], 0)
    factor: Floats = total / np.maximum(total - removed, total / 2)
    return factor


class _Listed:
    """The lists of one area and threshold: which detections count, and which are true."""

    def __init__(self, lists: RankedLists, view: View, area: int, threshold: int) -> None:
        self.starts = lists.starts  # L + 1
        self.owner = ragged.find_owners(lists.starts)  # D
        self.image = lists.matches.detections.image[lists.order]  # D
        self.counted, self.hits = lists.mark_outcomes(view, area, threshold)

    def count(self, rows: Ints) -> Ints:
        """Count the detections at some positions for each list (L)."""
        return np.bincount(self.owner[rows], minlength=len(self.starts) - 1)

    def sum_after(self, rows: Ints, values: Floats) -> Floats:
        """Sum, for each detection (D), the values at its position or after it in its list."""
        before = np.zeros(len(self.owner) + 1)
        np.cumsum(np.bincount(rows, values, len(self.owner)), out=before[1:])
        after: Floats = before[self.starts[1:]][self.owner] - before[:-1]
        return after


def _differentiate_ap(listed: _Listed, total: Ints) -> tuple[Floats, Floats, Floats]:
    """Differentiate AP by the weight of each hit (H) and each detection (D); also return AP (L).

    AP is the sum over hits of the best precision from there on, divided by the number of truths. A
    hit adds its own term; and it raises, as any other detection lowers, the precision of what
    stands after it.
    """
    hits, owner = listed.hits, listed.owner[listed.hits]
    offsets = np.searchsorted(owner, np.arange(len(listed.starts)))
    rank = np.cumsum(listed.counted)
    rank = rank[hits] - np.append(0, rank)[listed.starts[owner]]
    precision = (np.arange(len(hits)) - offsets[owner] + 1) / rank
    best = ragged.accumulate_maximum(precision[::-1], offsets[-1] - offsets[::-1])[::-1]
    record = np.where(precision == best, np.arange(len(hits)), len(hits))
    holder = np.minimum.accumulate(record[::-1])[::-1]  # where each hit's best precision stands
    # That precision is hits ÷ rank at its holder: a hit up to there adds 1 ÷ rank, any detection
    # takes precision ÷ rank. So the sums are over the hits whose holder is not before a detection.
    value = ragged.sum_rows(best, owner, len(total)) / total
    weight = 1 / (rank[holder] * total[owner])
    by_detection = -listed.sum_after(hits[holder], best * weight)
    by_hit = best / total[owner] + listed.sum_after(hits[holder], weight)[hits]
    return by_hit, by_detection, value
