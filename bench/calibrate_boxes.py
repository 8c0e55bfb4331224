"""Calibrate the comparison of detectors: how often does it err where the truth is known?

    python bench/calibrate_boxes.py [REPEATS]

Images are drawn from a world of 20,000, with two detectors. Where these are equally good, a test at 5% should
find a difference in 5% of the draws; and a 95% interval should hold the difference in the world in 95% of them.
"""

import sys

import numpy as np

import germane
from germane.boxes.detections import Detections, Truths, make_boxes

IMAGES = 20_000
MEASURES = "AP AP50 AP(iou=.5,points=all) AR F(confidence=.5)"


RARE = (0.5, 0.25, 0.15, 0.07, 0.03)
EVEN = (0.2,) * 5


def make_truths(rng, shares, mean=18 / 11):
    """Draw the truths of the world: some images have none, some have many."""
    count = rng.negative_binomial(2, 2 / (2 + mean), IMAGES)
    image = np.repeat(np.arange(IMAGES), count)
    total = len(image)
    boxes = make_boxes(
        np.column_stack((rng.uniform(0, 400, (total, 2)), rng.uniform(30, 200, (total, 2))))
    )
    flags = np.zeros(total, bool)
    label = rng.choice(len(shares), total, p=shares)
    return Truths(
        range(IMAGES),
        range(len(shares)),
        boxes,
        image,
        label,
        flags,
        flags,
        boxes.measure_areas(),
        range(total),
    )


def detect(rng, truths, recall, noise):
    """Draw the detections of a detector that finds a share of the truths, and places them with noise."""
    hard = rng.uniform(-0.25, 0.25, IMAGES)[truths.image]  # images are hard or easy as a whole
    found = np.flatnonzero(rng.random(len(truths)) < recall + hard)
    false = rng.integers(0, IMAGES, len(found))
    boxes = truths.boxes.as_array()[found]
    boxes += rng.normal(0, noise, boxes.shape) * boxes[:, [2, 3, 2, 3]]
    boxes[:, 2:] = boxes[:, 2:].clip(2)
    others = np.column_stack(
        (rng.uniform(0, 400, (len(false), 2)), rng.uniform(30, 200, (len(false), 2)))
    )
    score = np.append(rng.beta(4, 2, len(found)), rng.beta(2, 4, len(false)))
    image = np.append(truths.image[found], false)
    label = np.append(truths.label[found], rng.choice(len(truths.classes), len(false)))
    return Detections(
        make_boxes(np.vstack((boxes, others))), image, label, score, np.arange(len(score))
    )


def draw_images(truths, detections, images):
    """Take some images out of the world, numbered anew."""
    place = np.full(IMAGES, -1)
    place[images] = np.arange(len(images))
    some = truths.take(place[truths.image] >= 0)
    some = Truths(
        range(len(images)), some.classes, some.boxes, place[some.image], some.label, some.crowd, some.difficult,
        some.area, some.ids,
    )  # fmt: skip
    kept = [one.take(np.flatnonzero(place[one.image] >= 0)) for one in detections]
    return some, [
        Detections(one.boxes, place[one.image], one.label, one.score, np.arange(len(one)))
        for one in kept
    ]


def calibrate(rng, repeats, size, quality, shares):
    """Count, for each measure, the tests that found a difference, and the intervals that held the world's."""
    truths = make_truths(rng, shares)
    detectors = [detect(rng, truths, *one) for one in quality]
    world = [germane.boxes.evaluate(truths, one, MEASURES) for one in detectors]
    found, held = dict.fromkeys(world[0], 0), dict.fromkeys(world[0], 0)
    for _ in range(repeats):
        some, (one, other) = draw_images(truths, detectors, rng.choice(IMAGES, size, replace=False))
        compared = germane.boxes.compare(some, {"one": one, "other": other}, MEASURES)
        for pair in compared.pairs:
            name = str(pair.measure)
            apart = world[1][name].mean - world[0][name].mean
            found[name] += pair.p < 0.05
            held[name] += pair.interval.low <= apart <= pair.interval.high
    for name in world[0]:
        print(
            f"{size:5} images, rarest class {min(shares):4.0%}  {name:24} {world[0][name]:.3f} {world[1][name]:.3f}   "
            f"p < .05: {found[name] / repeats:.3f}   interval holds: {held[name] / repeats:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    draws = np.random.default_rng(0)
    for size in (50, 200, 1000):
        for shares in (EVEN, RARE):
            for second in (0.6, 0.65):
                calibrate(draws, repeats, size, [(0.6, 0.05), (second, 0.05)], shares)
