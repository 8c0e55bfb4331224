"""Detectors compared on the same images: each image's share of a number, and pairs."""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import numpy as np

from germane.boxes.box_measures import BoxMeasure, BoxMeasures, RankedLists, View, list_box_names
from germane.boxes.box_result import Result, Results
from germane.boxes.matching import number_group
from germane.boxes.verbs import evaluate_many
from germane.comparison.compare import compare_samples
from germane.comparison.comparison import Comparison
from germane.comparison.pair import compare_parts
from germane.comparison.samples import Sample
from germane.comparison.segments import Segments
from germane.comparison.significance import Correction, Settings, TestName
from germane.core import ragged
from germane.core.calls import Seed, make_generator
from germane.core.ragged import Floats, Ints
from germane.errors import (
    EmptyError,
    InputError,
    MeasureError,
    check_choice,
    clip,
    list_some,
    write_option,
)
from germane.measures.averaging import QueryValues

if TYPE_CHECKING:
    from germane.boxes.conventions import DetectionSource, SharedOptions, TruthSource
    from germane.dialects.dialect import Dialect


def compute_shares(result: Result, measure: BoxMeasure) -> Floats:
    """Compute the share of each image (I) of a measure's mean."""
    lists, value = result.lists, result[measure]
    images = len(result.matches.truths.images)
    area = list(result.conventions.areas).index(value.measure.area or "")
    chosen = result.mark_classes(value.measure)
    counts = (lists.relevant[area] > 0) & chosen
    thresholds = [result.thresholds.index(iou) for iou in value.measure.iou or ()]
    change = np.zeros(images)
    for threshold in thresholds:
        weights, image, owner = _differentiate(lists, value.measure, area, threshold)
        change += np.bincount(image, weights * chosen[owner], images)
    averaged = (chosen if result.conventions.no_truth == "zero" else counts).sum()
    change *= images / (len(thresholds) * max(averaged, 1))
    shares: Floats = value.mean + change - change.mean()
    return shares


def compute_class_shares(result: Result, measure: BoxMeasure) -> Floats:
    """Compute the share of each image in a measure of each class (K, I); NaN without a value."""
    lists, value = result.lists, result[measure]
    images = len(result.matches.truths.images)
    area = list(result.conventions.areas).index(value.measure.area or "")
    change = np.zeros(lists.count * images)
    thresholds = [result.thresholds.index(iou) for iou in value.measure.iou or ()]
    for threshold in thresholds:
        weights, image, owner = _differentiate(lists, value.measure, area, threshold)
        change += np.bincount(owner * images + image, weights, len(change))
    changes = change.reshape(lists.count, images) * (images / len(thresholds))
    means = value.values.mean(axis=0)
    shares: Floats = means[:, None] + changes - changes.mean(axis=1, keepdims=True)
    return shares


def _differentiate(
    lists: RankedLists, measure: BoxMeasure, area: int, threshold: int
) -> tuple[Floats, Ints, Ints]:
    """Differentiate a measure of each list by the weight of each image.

    The derivatives are sums of parts, of which each has an image and a list.
    """
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
    counted, sought = np.flatnonzero(listed.counted), np.flatnonzero(~matches.ignored[area])
    weights = np.concatenate((by_hit, by_detection[counted], by_truth[lists.truth_lists[sought]]))
    image = np.concatenate(
        (listed.image[listed.hits], listed.image[counted], matches.truths.image[sought])
    )
    owner = np.concatenate(
        (listed.owner[listed.hits], listed.owner[counted], lists.truth_lists[sought])
    )
    weights *= _measure_leverage(image + images * owner, len(sought), total[owner])
    return weights, image, owner


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
    value = np.bincount(owner, best, len(total)) / total
    weight = 1 / (rank[holder] * total[owner])
    by_detection = -listed.sum_after(hits[holder], best * weight)
    by_hit = best / total[owner] + listed.sum_after(hits[holder], weight)[hits]
    return by_hit, by_detection, value


# --- Detectors compared on the same images, which are resampled as queries are --------------------

COMPARED = "AP AP50"


def compare(
    truth: "TruthSource | Results | Mapping[str, Result]",
    detections: "Mapping[str, DetectionSource] | None" = None,
    measures: "BoxMeasures | None" = None,
    *,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: Correction | None = None,
    confidence: float = 0.95,
    equivalence: float | None = None,
    resamples: int = 10_000,
    rng: Seed = 0,
    by: Literal["class"] | None = None,
    dialect: "str | Dialect | None" = None,
    **options: Unpack["SharedOptions"],
) -> Comparison:
    """Compare detectors on the same images: differences, intervals and p-values.

    ``detections`` maps each detector's name to its detections. Or call ``compare(results)`` with
    the results of ``evaluate_many``. The other arguments are those of ``germane.compare`` and of
    ``evaluate``.

    >>> box = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40]}
    >>> truth = {
    ...     "images": [{"id": 1}, {"id": 2}],
    ...     "categories": [{"id": 1, "name": "cat"}],
    ...     "annotations": [{**box, "id": 1, "area": 1600}],
    ... }
    >>> good, poor = {**box, "score": 0.9}, {**box, "bbox": [10, 22, 40, 40], "score": 0.9}
    >>> found = germane.boxes.compare(truth, {"poor": [poor], "good": [good]}, "AP")
    >>> round(found.between("good", "poor", "AP").difference, 2)
    0.9

    ``by="class"`` compares the detectors in each class, too, as ``Comparison.segments``. P-values
    and intervals are corrected for all pairs in all classes; classes with truths in fewer than 10
    images are left out, because intervals would be too narrow.

    The number of a detector is not a mean over images. germane therefore computes each image's
    contribution, and compares contributions as ``germane.compare`` compares the values of queries.
    Raises InputError for results of different truths, EmptyError where no class has truths in
    enough images, and what ``evaluate`` and ``compare`` raise.
    """
    if by is not None:
        check_choice("by", by, ("class",))
    if isinstance(truth, (Results, Mapping)) and detections is None:
        results, chosen = _check_results(truth), measures
    else:
        chosen, wanted = None, COMPARED if measures is None else measures
        results = evaluate_many(
            cast(Any, truth), cast(Any, detections), wanted, dialect=dialect, **options
        )
    settings = Settings(baseline, test, correction, "measure", confidence, equivalence, resamples)
    comparison = _compare_results(results, settings, rng, chosen)
    if by is not None:
        comparison.segments = _compare_classes(results, settings, rng, chosen)
    return comparison


class ImageShares(dict[BoxMeasure, QueryValues]):
    """The shares of all images, by measure: a detector's values as a comparison takes them."""

    placement = None  # images have no ranks of items that could be shown
    images: Sequence[Hashable]


def _compare_results(
    results: Results, settings: Settings, rng: Seed, measures: "BoxMeasures | None" = None
) -> Comparison:
    settings.check_systems(list(results), "detectors")
    shares = {name: share_all(result, measures) for name, result in results.items()}
    return compare_shares(shares, next(iter(results.values())), settings, rng)


def compare_shares(
    shares: Mapping[str, ImageShares], result: Result, settings: Settings, rng: Seed
) -> Comparison:
    """Compare detectors by the shares of the same images; ``result`` is of one of them."""
    return compare_samples(
        {"": shares}, (_make_sample(shares, result),), settings, make_generator(rng)
    )


def _make_sample(shares: Mapping[str, ImageShares], result: Result) -> Sample:
    first = next(iter(shares.values()))
    values = np.array([[system[measure].values for system in shares.values()] for measure in first])
    return Sample(
        cast(Any, tuple(first)),
        tuple(shares),
        ("",),
        tuple(first.images),
        np.zeros(len(first.images), int),
        values,
        0,
        "image",
        result.name_measure,
        (f"conventions: {result.conventions}",),
        _warn_of_rare_classes(result),
    )


class Classes(Segments):
    """The comparison of the same detectors in each class."""

    _noun, _nouns, _unit = "class", "classes", "images"


def _compare_classes(
    results: Results, settings: Settings, rng: Seed, measures: "BoxMeasures | None"
) -> Classes:
    """Compare detectors in each class with truths in enough images."""
    result, draws = next(iter(results.values())), make_generator(rng)
    count = _count_images(result)
    chosen = np.flatnonzero(count >= FEW_IMAGES).tolist()
    rare = [result.classes[k] for k in np.flatnonzero((count > 0) & (count < FEW_IMAGES)).tolist()]
    if not chosen:
        raise EmptyError(
            f"no class has truths in {FEW_IMAGES} images or more, which an interval needs; leave"
            f" out {write_option('by')}."
        )
    names = list(result if measures is None else list_box_names(measures))
    each = {name: _share_classes(detector, names) for name, detector in results.items()}
    parts = {}
    for k in chosen:
        shares = {name: _take_class(of_classes, k) for name, of_classes in each.items()}
        if next(iter(shares.values())):
            parts[result.classes[k]] = shares, (_make_sample(shares, result),)
    every = compare_parts([sample for _, sample in parts.values()], settings, draws)
    classes = Classes(
        {
            label: Comparison(
                cast(Any, {"": shares}), sample, pairs, settings, int(draws.integers(2**63))
            )
            for (label, (shares, sample)), pairs in zip(parts.items(), every, strict=True)
        }
    )
    if rare:
        classes.remarks = (
            f"left out, with truths in fewer than {FEW_IMAGES} images: {list_some(rare)}",
        )
    return classes


def _share_classes(result: Result, names: Sequence[Any]) -> ImageShares:
    """Compute the shares of all images in some measures of every class (K, I)."""
    shares = ImageShares()
    shares.images = result.matches.truths.images
    for name in names:
        measure = result.name_measure(name)
        values = compute_class_shares(result, measure)
        shares[measure] = QueryValues(cast(Any, measure), list(shares.images), values)
    return shares


def _take_class(of_classes: ImageShares, k: int) -> ImageShares:
    """Take the shares of one class in the measures that have a value there."""
    shares = ImageShares()
    shares.images = of_classes.images
    for measure, held in of_classes.items():
        if not np.isnan(held.values[k]).any():
            shares[measure] = QueryValues(cast(Any, measure), list(shares.images), held.values[k])
    return shares


def _count_images(result: Result) -> Ints:
    """Count the images with truths of each class (K)."""
    truths = result.matches.truths
    pairs = np.unique(number_group(truths, truths))
    return np.bincount(pairs // max(len(truths.images), 1), minlength=len(truths.classes))


FEW_IMAGES = 10  # below which a class makes intervals too narrow; see bench/calibrate_boxes.py


def _warn_of_rare_classes(result: Result) -> str:
    """Name the classes with truths in a few images only, which resampling knows too little of."""
    count = _count_images(result)
    rare = [result.classes[k] for k in np.flatnonzero((count > 0) & (count < FEW_IMAGES)).tolist()]
    if not rare:
        return ""
    return (
        f"Rare classes: {list_some(rare)}: truths in fewer than {FEW_IMAGES} images. Intervals are"
        " too narrow and p-values too small if the mean over classes rests on such classes."
    )


def share_all(
    result: Result,
    measures: "BoxMeasures | None",
    undefined: Literal["error", "left out"] = "error",
) -> ImageShares:
    """Compute the shares of all images in some measures, or in all."""
    shares = ImageShares()
    shares.images = result.matches.truths.images
    for name in result if measures is None else list_box_names(measures):
        measure = result.name_measure(name)
        if math.isnan(result[measure].mean):
            if undefined == "left out":
                continue
            raise MeasureError(
                f"{result.name}: {measure} is not defined: no class has a truth that counts."
            )
        values = compute_shares(result, measure)
        shares[measure] = QueryValues(cast(Any, measure), list(shares.images), values)
    return shares


def _check_results(raw: Any) -> Results:
    """Refuse results that are not of the same truths and conventions."""
    if not isinstance(raw, Results) and not all(
        isinstance(result, Result) for result in raw.values()
    ):
        raise InputError(
            "germane.boxes.compare takes truths and {name: detections}, or the Result of each;"
            f" got {clip(raw)}"
        )
    results = Results(dict(raw.items()))
    for result, following in pairwise(results.values()):
        if result.truths is not following.truths:
            raise InputError(
                f"{clip(result.name)} and {clip(following.name)} were not evaluated with the same"
                " truths. Read these once, with evaluate_many."
            )
        if (result.conventions, tuple(result)) != (following.conventions, tuple(following)):
            raise InputError(
                f"{clip(result.name)} and {clip(following.name)} differ in their conventions or"
                " measures; numbers under different conventions cannot be compared."
            )
    return results
