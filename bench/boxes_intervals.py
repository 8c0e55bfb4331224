"""Count how often intervals of the difference of two detectors hold the true one, in germane and hotcoco.

    python bench/boxes_intervals.py [DATA SETS] [SEED]

A data set is 100 images, drawn from a world of 20,000 with 10 classes and 5 truths an image. In the *even* world,
classes are equally frequent; in the *uneven* one, as 1, 1/2, 1/3 … The true difference is that of all 20,000 images.
Both tools are given the same data, and must agree on the difference; both draw images again, 1,000 times.
"needed" is the width of a symmetric interval that has the differences of 95% of data sets, if these are normal.
"""

import sys
from collections import Counter

import numpy as np
from calibrate_boxes import IMAGES, detect, draw_images, make_truths
from hotcoco import COCO, COCOeval
from hotcoco import compare as compare_hotcoco

import germane

SIZE, CLASSES, RESAMPLES = 100, 10, 1_000
MEASURES = ("AP", "AP50")
ZIPF = 1 / np.arange(1, CLASSES + 1)
WORLDS = {"even": np.full(CLASSES, 1 / CLASSES), "uneven": ZIPF / ZIPF.sum()}


def list_boxes(rows):
    """Write truths or detections as COCO's JSON has them."""
    columns = (rows.image.tolist(), rows.label.tolist(), rows.boxes.as_array().tolist())
    return [
        {"image_id": image, "category_id": label, "bbox": box}
        for image, label, box in zip(*columns, strict=True)
    ]


def write_coco(truths, detections):
    """Write a data set as COCO's JSON: truths, and the detections of each detector."""
    annotations = [
        {**row, "id": i, "area": row["bbox"][2] * row["bbox"][3], "iscrowd": 0}
        for i, row in enumerate(list_boxes(truths), 1)
    ]
    truth = {
        "images": [{"id": i, "width": 640, "height": 640} for i in range(SIZE)],
        "categories": [{"id": i, "name": f"class {i}"} for i in range(CLASSES)],
        "annotations": annotations,
    }
    found = [
        [row | {"score": score} for row, score in zip(list_boxes(rows), rows.score, strict=True)]
        for rows in detections
    ]
    return truth, found


def ask_germane(truth, found, seed):
    """Compute each measure's difference and interval."""
    compared = germane.boxes.compare(
        truth,
        dict(zip("ab", found, strict=True)),
        " ".join(MEASURES),
        resamples=RESAMPLES,
        rng=seed,
    )
    pairs = [compared.between("b", "a", measure) for measure in MEASURES]
    return [(pair.difference, pair.interval.low, pair.interval.high) for pair in pairs]


def ask_hotcoco(truth, found, seed):
    """Compute the same in hotcoco."""
    known = COCO(truth)
    evaluators = [COCOeval(known, known.load_res(rows), "bbox") for rows in found]
    for evaluator in evaluators:
        evaluator.evaluate()
    compared = compare_hotcoco(*evaluators, n_bootstrap=RESAMPLES, seed=seed, confidence=0.95)
    return [
        (compared["deltas"][name], compared["ci"][name]["lower"], compared["ci"][name]["upper"])
        for name in MEASURES
    ]


TOOLS = {"germane": ask_germane, "hotcoco": ask_hotcoco}


def count_held(world, sets, seed):
    """Count, in one world, the intervals that hold the true difference, and print a row for each tool."""
    rng = np.random.default_rng(seed)
    truths = make_truths(rng, WORLDS[world], mean=5)
    detectors = [detect(rng, truths, recall, noise=0.05) for recall in (0.6, 0.65)]
    values = [germane.boxes.evaluate(truths, rows, " ".join(MEASURES)) for rows in detectors]
    true = {name: values[1][name].mean - values[0][name].mean for name in MEASURES}
    held, width, drawn = Counter(), Counter(), []
    for number in range(sets):
        data = write_coco(*draw_images(truths, detectors, rng.choice(IMAGES, SIZE, replace=False)))
        answers = {tool: ask(*data, number) for tool, ask in TOOLS.items()}
        differences = [[row[0] for row in answer] for answer in answers.values()]
        np.testing.assert_allclose(*differences, rtol=0, atol=1e-9)
        drawn.append(differences[0])
        for tool, answer in answers.items():
            for name, (_, low, high) in zip(MEASURES, answer, strict=True):
                held[tool, name] += low <= true[name] <= high
                width[tool, name] += high - low
    needed = dict(zip(MEASURES, 2 * 1.96 * np.std(drawn, axis=0, ddof=1), strict=True))
    for tool in TOOLS:
        for name in MEASURES:
            print(
                f"| {world} | {name} | {true[name]:.4f} | {tool} | {held[tool, name]} of {sets}"
                f" | {held[tool, name] / sets:.1%} | {width[tool, name] / sets:.4f} | {needed[name]:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]] + [120, 59][len(sys.argv) - 1 :]
    print(
        "| classes | measure | true difference | tool | intervals that hold it | share | mean width | needed |"
    )
    print("|---|---|---:|---|---:|---:|---:|---:|")
    for place, name in enumerate(WORLDS):
        count_held(name, numbers[0], numbers[1] + place)
