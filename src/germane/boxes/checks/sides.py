"""Detections and truths of some images side by side, to see whether they belong together."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from germane.boxes.conventions import Unknown
from germane.boxes.detections import (
    BOX_FORMATS,
    Boxes,
    BoxFormat,
    Truths,
    make_boxes,
    measure_overlaps,
)
from germane.boxes.matching import pair_equal
from germane.boxes.sources import Sheet
from germane.core import ragged
from germane.core.ragged import Bools, Floats, Ints

IMAGES = 200  # that are looked at
BOXES = 60  # detections of an image that are looked at
MOST_PAIRS = 1_000_000  # of detections and truths of any images
PAIRS = IMAGES * BOXES * BOXES  # of detections and truths that are looked at
NEAR = 0.5  # the overlap of a match

Reading = tuple[BoxFormat, BoxFormat]  # of the truths and of the detections


Partners = tuple[Ints, Ints, int, int]
"""Images whose detections fit another one, these, how many fit their own, and all looked at."""


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Detections (D) and truths (G) of images that have both, and all pairs (P) of an image."""

    detection: Ints  # D, rows of the sheet
    truth: Ints  # G, rows of the sheet
    group: Ints  # D, the image
    detection_at: Ints  # P, positions in detection, ascending
    truth_at: Ints  # P, positions in truth
    first: Ints  # D, the first pair of each detection


@dataclass(eq=False, repr=False)
class BoxData:
    """Both sides, and the images and classes of the truth; pairs are of some images."""

    truths: Truths
    truth: Sheet
    detections: Sheet
    chosen: Collection[str] = ()
    """Conventions that the caller chose, of which no finding says that others may be meant."""

    lowest: Mapping[str, float] = field(default_factory=dict)
    """Options, and measures, and the lowest score that counts there."""

    unknown: Unknown = "error"

    @property
    def images(self) -> int:
        """The number of images."""
        return len(self.truths.images)

    @cached_property
    def same(self) -> Pairs:
        """The pairs of one image."""
        return self.shift(0)

    def shift(self, by: int) -> Pairs:
        """Pair detections with truths of the image so many places on."""
        target = np.arange(self.images) + by
        return self.move(np.where(target < self.images, target, -1))

    def move(self, target: Ints) -> Pairs:
        """Pair detections of each image with the truths of another one (I), or of none: -1."""
        detection = self._sampled_rows
        image = target[self.detections.image[detection]]
        targeted = np.zeros(self.images, bool)
        targeted[image[image >= 0]] = True
        truth = self._rows(self.truth, targeted)
        low, high = (
            np.searchsorted(self.truth.image[truth], image, side) for side in ("left", "right")
        )
        facing = high > low
        detection, low, size = detection[facing], low[facing], (high - low)[facing]
        detection_at = np.repeat(np.arange(len(detection)), size)
        truth_at = ragged.list_stretches(low, size)
        first = ragged.make_offsets(size)[:-1]
        return Pairs(
            detection, truth, self.detections.image[detection], detection_at, truth_at, first
        )

    @cached_property
    def _sampled(self) -> Bools:
        """Mark the images (I) that are looked at: evenly spaced ones of those with detections."""
        sheet = self.detections
        has = np.unique(sheet.image[sheet.sound])
        sizes = [
            np.bincount(boxes.image[boxes.sound], minlength=self.images)[has]
            for boxes in (self.truth, sheet)
        ]
        pairs = float((sizes[0] * np.minimum(sizes[1], BOXES)).mean()) if len(has) else 0.0
        limit = min(IMAGES, max(int(PAIRS / max(pairs, 1.0)), FEW_IMAGES))
        positions = np.linspace(0, len(has) - 1, min(len(has), limit)).astype(np.int64)
        chosen = np.zeros(self.images, bool)
        chosen[has[positions]] = True
        return chosen

    @cached_property
    def _sampled_rows(self) -> Ints:
        """List the detections in these images, by image."""
        return self._rows(self.detections, self._sampled)

    def _rows(self, sheet: Sheet, images: Bools) -> Ints:
        """List boxes by image; of many detections of an image, evenly spaced ones."""
        rows = np.flatnonzero(sheet.sound & ((sheet.label >= 0) | (sheet is self.detections)))
        rows = rows[images[sheet.image[rows]]]
        rows = rows[np.argsort(sheet.image[rows], kind="stable")]
        if sheet is self.truth:  # a detection may belong to any of them
            return rows
        image = sheet.image[rows]
        place = np.arange(len(rows)) - np.searchsorted(image, image)
        count = np.searchsorted(image, image, "right") - np.searchsorted(image, image)
        step = np.maximum(count / BOXES, 1)
        return rows[np.floor((place + 1) / step) > np.floor(place / step)]

    # --- Overlaps ------------------------------------------------------------------------------

    def measure(self, pairs: Pairs, reading: Reading | None = None) -> Floats:
        """Measure the overlap of each pair (P); with a reading, crowds are boxes as all others."""
        truth, detection = (
            _read_again(sheet, rows, None if reading is None else reading[side])
            for side, (sheet, rows) in enumerate(
                ((self.truth, pairs.truth), (self.detections, pairs.detection))
            )
        )
        crowd = self.truth.crowd[pairs.truth] & (reading is None)
        return _measure(detection, truth, (pairs.detection_at, pairs.truth_at), crowd)

    def measure_trial(self, pairs: Pairs, boxes: Boxes) -> Floats:
        """Measure the overlap of each pair (P) as if the detections were other boxes."""
        rows = pairs.detection[pairs.detection_at], pairs.truth[pairs.truth_at]
        return _measure(boxes, self.truth.boxes, rows, np.zeros(len(self.truth.boxes), bool))

    def find_best(self, pairs: Pairs) -> tuple[Floats, Ints]:
        """Find the best overlap of each detection with a truth, and the truth's row (D)."""
        overlap = self.measure(pairs)
        if not len(overlap):
            return np.zeros(0), np.zeros(0, np.int64)
        best = np.maximum.reduceat(overlap, pairs.first)
        hits = np.flatnonzero(overlap == best[pairs.detection_at])
        _, first = np.unique(pairs.detection_at[hits], return_index=True)
        return best, pairs.truth[pairs.truth_at[hits[first]]]

    def list_matches(self, pairs: Pairs) -> Ints:
        """List the rows of detections that match a truth of their class."""
        overlap = self.measure(pairs)
        alike = (
            self.detections.label[pairs.detection][pairs.detection_at]
            == self.truth.label[pairs.truth][pairs.truth_at]
        )
        rows: Ints = pairs.detection[np.unique(pairs.detection_at[(overlap >= NEAR) & alike])]
        return rows

    def find_partners(self) -> "Partners":
        """Find images whose detections fit the truths of another image much better than their own.

        Return these images and the others, the number of images whose detections fit their own, and
        of all that were looked at. A fit is half of the truths of an image, and two or more.
        """
        truth = np.flatnonzero(self.truth.sound & (self.truth.label >= 0))
        detection = self._sampled_rows
        detection = detection[np.isin(self.detections.label[detection], self.truth.label[truth])]
        image = self.detections.image[detection]
        affordable = image <= image[: MOST_PAIRS // max(len(truth), 1)][-1:].sum()  # whole images
        detection, image = detection[affordable], image[affordable]
        detection_at, truth_at = pair_equal(
            self.detections.label[detection], np.sort(self.truth.label[truth])
        )
        truth_at = np.argsort(self.truth.label[truth], kind="stable")[truth_at]
        pairs = Pairs(detection, truth, image, detection_at, truth_at, np.zeros(0, np.int64))
        fits = self.measure_trial(pairs, self.detections.boxes) >= GOOD
        # a truth counts once
        fitted = np.unique(image[detection_at[fits]] * len(truth) + truth_at[fits])
        owner = self.truth.image[truth]
        group, count = np.unique(
            fitted // max(len(truth), 1) * self.images + owner[fitted % max(len(truth), 1)],
            return_counts=True,
        )
        whose, partner = group // self.images, group % self.images
        share = count / np.bincount(owner, minlength=self.images)[partner]
        own_count = np.bincount(whose, count * (whose == partner), self.images)
        is_fit = (count >= 2) & (share >= 0.5)
        order = np.lexsort((count + share / 2, whose))
        best = order[np.flatnonzero(np.diff(whose[order], append=-1))]  # the last of each image
        best = best[is_fit[best] & (count[best] >= 2 * own_count[whose[best]] + 2)]
        best = best[whose[best] != partner[best]]
        fit_own = int((is_fit & (whose == partner)).sum())
        return whose[best], partner[best], fit_own, len(np.unique(image))

    # --- Other readings ------------------------------------------------------------------------

    @cached_property
    def best_reading(self) -> "tuple[Reading, float, float] | None":
        """The reading that fits much better than the one chosen, with both overlaps, or None.

        The fit to other images is subtracted, because wrong readings may make boxes large, which
        overlap everything.
        """
        pairs = self.same
        now: Reading = self.truth.box_format, self.detections.box_format
        if len(pairs.detection) < SOME or len(np.unique(pairs.group)) < FEW_IMAGES:
            return None
        fits = {
            reading: fit
            for reading in _list_readings(now)
            if (fit := self._fit(pairs, reading)) is not None
        }
        own_fit = fits.pop(now, None)
        if own_fit is None or not any(_is_surely_more(fit, own_fit) for fit in fits.values()):
            return None  # as nearly always, and what follows takes longer
        apart = max(self.images // 3, 1)
        shifted = [self.shift(by) for by in (apart, -apart)]
        specific = {
            reading: float(fit.mean()) - self._fit_by_chance(shifted, reading)
            for reading, fit in {now: own_fit, **fits}.items()
        }
        gains = {reading: specific[reading] - specific[now] for reading in fits}
        best = max(gains, key=gains.__getitem__)
        for candidate, gain in gains.items():  # a change of one side, where it does nearly as well
            if (candidate[0] == now[0] or candidate[1] == now[1]) and gain > 0.9 * gains[best]:
                best = candidate
        if gains[best] < GAIN:  # objects may have the same places in all images
            best = max(fits, key=lambda reading: float(fits[reading].mean()))
        is_precise = self._is_precise(now, best, shifted)
        finds_more = self._finds_more(now, best, shifted)
        if gains[best] < GAIN:
            least = STILL * len(pairs.truth)
            close = [self._count_good(pairs, reading, CLOSE) for reading in (best, now)]
            finds_more = close[0] - 5 * close[1] >= least
        before, after = float(own_fit.mean()), float(fits[best].mean())
        if not _is_surely_more(fits[best], own_fit) or not (
            is_precise or (finds_more and after > 1.25 * before)
        ):
            return None
        return best, before, after

    def _is_precise(self, now: Reading, best: Reading, shifted: Sequence[Pairs]) -> bool:
        """Say whether many truths are precisely overlapped, beyond accidents, and few as it is."""
        best_count, now_count = (
            self._count_good(self.same, reading, CLOSE)
            - float(np.mean([self._count_good(pairs, reading, CLOSE) for pairs in shifted]))
            for reading in (best, now)
        )
        return best_count >= max(SURE, STILL * len(self.same.truth), 3 * now_count)

    def _finds_more(self, now: Reading, best: Reading, shifted: Sequence[Pairs]) -> bool:
        """Say whether many more truths are overlapped well than large boxes reach by accident.

        Accidents become rare near an overlap of 1, where true detections of a weak detector remain.
        """
        gain = self._count_good(self.same, best, GOOD) - 2 * self._count_good(self.same, now, GOOD)
        chance = np.mean([self._count_good(pairs, best, GOOD) for pairs in shifted])
        if gain <= chance + SURE * np.sqrt(chance + 1):
            return False
        close = self._count_good(self.same, best, CLOSE) - 2 * self._count_good(
            self.same, now, CLOSE
        )
        # there are more readings to choose from that change both sides
        changes_both = best[0] != now[0] and best[1] != now[1]
        return close >= (SURE if changes_both else 0)

    def _count_good(self, pairs: Pairs, reading: Reading, least: float) -> int:
        """Count the truths that a detection overlaps by so much."""
        return len(np.unique(pairs.truth_at[self.measure(pairs, reading) >= least]))

    def _fit_by_chance(self, shifted: Sequence[Pairs], reading: Reading) -> float:
        """Average the fit to other images."""
        fits = [fit for pairs in shifted if (fit := self._fit(pairs, reading)) is not None]
        every = np.concatenate([np.zeros(0), *fits])
        return float(every.mean()) if len(every) else 0.0

    def _fit(self, pairs: Pairs, reading: Reading) -> Floats | None:
        """Average the best overlaps of both sides in each image; None if sizes are negative."""
        if not len(pairs.detection_at):
            return np.zeros(0)
        for sheet, rows, box_format in zip(
            (self.truth, self.detections), (pairs.truth, pairs.detection), reading, strict=True
        ):
            boxes = _read_again(sheet, rows, box_format)
            if ((boxes.width < 0) | (boxes.height < 0)).mean() > 0.01:
                return None
        overlap = self.measure(pairs, reading)
        best = np.maximum.reduceat(overlap, pairs.first)
        order = np.argsort(pairs.truth_at, kind="stable")
        first = np.unique(pairs.truth_at[order], return_index=True)[1]
        of_truths = np.maximum.reduceat(overlap[order], first)
        _, image = np.unique(pairs.group, return_inverse=True)
        owner = image[pairs.detection_at[order][first]]
        return (_average(best, image) + _average(of_truths, owner)) / 2


SOME = 10  # detections, below which no other reading is looked for
FEW_IMAGES = 3
SURE = 4.0  # standard errors of the gain
GOOD = 0.7  # the overlap of a detection that was meant for the truth
STILL = 0.15  # of the truths that are precisely overlapped, which says enough
CLOSE = 0.85  # that of a precise one
GAIN = 0.1  # of the mean overlap


def _measure(boxes: Boxes, truth: Boxes, pairs: tuple[Ints, Ints], crowd: Bools) -> Floats:
    """Measure the overlap of pairs of boxes (P), which are positions in both."""
    overlap = np.zeros(len(pairs[0]))
    touching, shared = measure_overlaps(boxes, truth, pairs, crowd, "iou")
    overlap[touching] = np.nan_to_num(shared, nan=0.0, posinf=0.0, neginf=0.0)
    return overlap


def _is_surely_more(fit: Floats, own_fit: Floats) -> bool:
    """Say whether the gain is many standard errors."""
    change = fit - own_fit
    return bool(change.mean() > SURE * change.std(ddof=1) / np.sqrt(len(change)))


def _average(values: Floats, group: Ints) -> Floats:
    return np.bincount(group, values) / np.bincount(group)


def _list_readings(now: Reading) -> Iterator[Reading]:
    """List the readings of both sides, but for those that change both in the same way."""
    for truth in BOX_FORMATS:
        for detection in BOX_FORMATS:
            if (truth, detection) == now or truth != detection or now[0] != now[1]:
                yield truth, detection


def _read_again(sheet: Sheet, rows: Ints, box_format: BoxFormat | None) -> Boxes:
    """Read the numbers of some boxes in another format."""
    boxes = sheet.boxes.take(rows)
    if box_format in (None, sheet.box_format):
        return boxes
    return make_boxes(boxes.as_array(sheet.box_format), box_format)
