"""A slow evaluator of detections in plain Python, that the fast one is compared with.

It goes through images and classes one by one, in the words of the definitions. Truths and detections are in
the form of COCO's JSON.
"""

from dataclasses import dataclass
from math import nan


@dataclass
class Words:
    """The conventions by their names in ``germane.boxes.evaluate``."""

    overlap: str = "iou"
    candidate: str = "fallback"
    reach: str = "at_least"
    equal_overlaps: str = "last"
    crowds: str = "ignore"
    difficult: str = "ignore"
    depth: int | None = 100
    depth_of: str = "class"
    area_of: str = "annotation"
    confidence: float | None = None
    classes: str = "each"


def measure_overlap(found, truth, one, crowd):
    """Intersection over union of two boxes x, y, width, height; over the found box alone for a crowd."""
    wide = min(found[0] + found[2], truth[0] + truth[2]) - max(found[0], truth[0])
    high = min(found[1] + found[3], truth[1] + truth[3]) - max(found[1], truth[1])
    if wide <= -one or high <= -one:
        return 0.0
    shared = (wide + one) * (high + one)
    own = (found[2] + one) * (found[3] + one)
    if crowd:
        return shared / own if own else 0.0
    return shared / (own + (truth[2] + one) * (truth[3] + one) - shared)


def list_outcomes(truth, detections, category, threshold, area, words):
    """List (score, image, outcome) of the detections of a class, best first, and count its truths."""
    ids = sorted(image["id"] for image in truth["images"])
    outcomes, count = [], 0
    for image in ids:
        truths = [_read_truth(one, area, words) for one in truth["annotations"]
                  if one["image_id"] == image and category in (one["category_id"], None)]  # fmt: skip
        truths = [one for one in truths if one is not None]
        count += sum(not one["ignored"] for one in truths)
        found = _select_detections(detections, image, category, words)
        for one, outcome in zip(found, _match(found, truths, threshold, area, words), strict=True):
            outcomes.append((one["score"], image, outcome))
    return sorted(outcomes, key=lambda one: -one[0]), count


def _read_truth(one, area, words):
    crowd = bool(one.get("iscrowd")) and words.crowds != "count"
    if crowd and words.crowds == "drop":
        return None
    of_box = one["bbox"][2] * one["bbox"][3]
    size = {"annotation": one["area"], "box": of_box, "body": of_box * 0.53}[words.area_of]
    ignored = crowd or (bool(one.get("difficult")) and words.difficult == "ignore")
    return {"box": one["bbox"], "crowd": crowd, "taken": False,
            "ignored": ignored or not area[0] <= size <= area[1]}  # fmt: skip


def _select_detections(detections, image, category, words):
    here = [one for one in detections if one["image_id"] == image
            and (words.confidence is None or one["score"] >= words.confidence)]  # fmt: skip
    here.sort(key=lambda one: -one["score"])
    if words.depth_of == "image":
        here = here[: words.depth]
    here = [one for one in here if category in (one["category_id"], None)]
    return here if words.depth_of == "image" else here[: words.depth]


def _match(found, truths, threshold, area, words):
    floor, one = min(threshold, 1 - 1e-10), float(words.overlap == "iou+1")
    turn = 1 if words.equal_overlaps == "last" else -1
    for detection in found:
        overlaps = [measure_overlap(detection["bbox"], t["box"], one, t["crowd"]) for t in truths]
        reached = [o > floor if words.reach == "above" else o >= floor for o in overlaps]
        near = [i for i, ok in enumerate(reached) if ok]
        if words.candidate == "best":
            near = [max(near, key=lambda i: (overlaps[i], turn * i))] if near else []
            free = [i for i in near if truths[i]["ignored"] or not truths[i]["taken"]]
        else:
            free = [i for i in near if truths[i]["crowd"] or not truths[i]["taken"]]
        counting = [i for i in free if not truths[i]["ignored"]] or free
        if counting:
            chosen = max(counting, key=lambda i: (overlaps[i], turn * i))
            truths[chosen]["taken"] = True
            yield "ignored" if truths[chosen]["ignored"] else "true"
        else:
            size = detection["bbox"][2] * detection["bbox"][3]
            yield "false" if area[0] <= size <= area[1] else "ignored"


def compute_ap(truth, detections, category, threshold, area, words, points="101"):
    """Average precision of a class; NaN without truths."""
    outcomes, count = list_outcomes(truth, detections, category, threshold, area, words)
    if not count:
        return nan
    curve, true, seen = [], 0, 0
    for _, _, outcome in outcomes:
        if outcome != "ignored":
            seen += 1
            true += outcome == "true"
            curve.append((true / count, true / seen))
    if points == "all":
        gains = [i for i in range(len(curve)) if curve[i][0] > (curve[i - 1][0] if i else 0)]
        return sum(max(p for _, p in curve[i:]) for i in gains) / count
    levels = [i * (1 / (int(points) - 1)) for i in range(int(points))]
    return sum(max((p for r, p in curve if r >= level), default=0) for level in levels) / len(
        levels
    )


def compute_recall(truth, detections, category, threshold, area, words):
    """The share of truths found by any detection; NaN without truths."""
    outcomes, count = list_outcomes(truth, detections, category, threshold, area, words)
    return sum(outcome == "true" for _, _, outcome in outcomes) / count if count else nan
