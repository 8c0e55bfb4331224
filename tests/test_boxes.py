"""Detections matched with truths: the measures against a slow evaluator, laws, and counts."""

import itertools
import math
import random
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import boxes_oracle as oracle
import germane
from boxes_sets import draw_traits, make_boxes

AREAS = {"all": (0, 1e10), "small": (0, 1024), "medium": (1024, 9216), "large": (9216, 1e10)}
CHOICES = {
    "overlap": ("iou", "iou+1"),
    "candidate": ("fallback", "best"),
    "reach": ("at_least", "above"),
    "equal_overlaps": ("last", "first"),
    "crowds": ("ignore", "drop", "count"),
    "difficult": ("ignore", "count"),
    "depth": (100, 2, 10, None),
    "depth_of": ("class", "image"),
    "area_of": ("annotation", "box", "body"),
    "confidence": (None, 0.5),
    "classes": ("each", "merged"),
}


def draw_words(seed):
    rng = random.Random(seed)
    return oracle.Words(**{name: rng.choice(words) for name, words in CHOICES.items()})


def draw_set(seed):
    """A set that pycocotools would evaluate: its images and classes are known."""
    traits = [
        one for one in draw_traits(seed) if one not in ("unknown image", "many truths", "deep")
    ]
    return make_boxes(seed, traits)


def average(values):
    kept = [one for one in values if one == one]
    return math.fsum(kept) / len(kept) if kept else math.nan


def same(one, other):
    return one == pytest.approx(other, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("seed", range(40))
def test_measures_equal_a_slow_evaluator(seed):
    (truth, found), words = draw_set(seed), draw_words(seed)
    for annotation in truth["annotations"]:
        annotation.setdefault("area", annotation["bbox"][2] * annotation["bbox"][3])
    area = random.Random(seed).choice(list(AREAS))
    given = asdict(words)
    names = f"AP(iou=.5,area={area}) AP(iou=.75,area={area},points=11) AP(iou=.5,area={area},points=all)"
    names += f" AR(iou=.5+.75,area={area})"
    result = germane.boxes.evaluate(truth, found, names, unknown="ignore", **given)
    classes = sorted(one["id"] for one in truth["categories"])
    classes = classes if words.classes == "each" else [None]
    cases = {(0.5, "101"): 0, (0.75, "11"): 1, (0.5, "all"): 2}
    for (threshold, points), at in cases.items():
        wanted = [
            oracle.compute_ap(truth, found, c, threshold, AREAS[area], words, points)
            for c in classes
        ]
        assert same(result[names.split()[at]].mean, average(wanted)), (words, points)
    wanted = [
        oracle.compute_recall(truth, found, c, t, AREAS[area], words)
        for t in (0.5, 0.75)
        for c in classes
    ]
    assert same(result[names.split()[-1]].mean, average(wanted)), words


@pytest.mark.parametrize("seed", range(12))
def test_arrays_agree_with_the_measures(seed):
    truth, found = draw_set(seed)
    result = germane.boxes.evaluate(truth, found, unknown="ignore")
    assert result.precision.shape == (10, 101, len(truth["categories"]), 4, 3)
    assert result.recall.shape == (10, len(truth["categories"]), 4, 3)
    for name, stat in zip(result, result.stats, strict=True):
        assert same(result[name].mean, stat if stat >= 0 else math.nan), name


@pytest.mark.parametrize("seed", range(12))
def test_laws(seed):
    truth, found = draw_set(seed)
    choices = {"unknown": "ignore", "difficult": "count"}
    whole = germane.boxes.evaluate(truth, found, "AP AP50 AP95 AR@1 AR@10 AR@100", **choices)
    numbers = whole.flat()
    assert all(0 <= one <= 1 for one in numbers.values() if one == one)
    if numbers["AP"] == numbers["AP"]:
        assert numbers["AP95"] <= numbers["AP"] + 1e-12 <= numbers["AP50"] + 2e-12
        assert numbers["AR@1"] <= numbers["AR@10"] <= numbers["AR@100"]
    shuffled = list(truth["images"])
    random.Random(seed).shuffle(shuffled)
    again = germane.boxes.evaluate({**truth, "images": shuffled}, found, "AP", **choices)
    assert same(again["AP"].mean, numbers["AP"])
    perfect = [
        {
            "image_id": a["image_id"],
            "category_id": a["category_id"],
            "bbox": a["bbox"],
            "score": 1.0,
        }
        for a in truth["annotations"]
        if not a.get("iscrowd") and min(a["bbox"][2:]) > 0
    ]
    sound = {
        **truth,
        "annotations": [a for a in truth["annotations"] if min(a["bbox"][2:]) > 0],
    }
    if perfect:
        best = germane.boxes.evaluate(sound, perfect, "AR", depth=None, **choices)["AR"].mean
        assert best == pytest.approx(1, nan_ok=True)


def test_images_are_independent():
    """Two copies of a set with other images have the precision of one at every recall."""
    truth, found = make_boxes(3, "dyadic")
    shift = 1000
    double = {
        "categories": truth["categories"],
        "images": truth["images"] + [{**one, "id": one["id"] + shift} for one in truth["images"]],
        "annotations": truth["annotations"]
        + [{**one, "id": one["id"] + 10**6, "image_id": one["image_id"] + shift}
           for one in truth["annotations"]],
    }  # fmt: skip
    again = [{**one, "image_id": one["image_id"] + shift} for one in found]
    once = germane.boxes.evaluate(truth, found, "AR")["AR"].mean
    assert same(germane.boxes.evaluate(double, found + again, "AR")["AR"].mean, once)


def test_thresholds_are_read_from_text_and_numbers():
    truth, found = make_boxes(1)
    wanted = germane.boxes.evaluate(truth, found, "AP(iou=.5:.95)")["AP(iou=.5:.95)"].mean
    for given in (
        ".5:.95:.05",
        ".5:.95",
        np.linspace(0.5, 0.95, 10),
        list(np.linspace(0.5, 0.95, 10)),
    ):
        assert germane.boxes.evaluate(truth, found, "AP", iou=given)["AP"].mean == wanted
    assert same(
        germane.boxes.evaluate(truth, found, "AP", iou=(0.5, 0.75))["AP"].mean,
        average(germane.boxes.evaluate(truth, found, "AP50 AP75").flat().values()),
    )


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"crowds": "maybe"}, "crowds takes ignore, difficult, drop or count; got 'maybe'"),
        ({"crowd": "drop"}, "boxes have no convention 'crowd'. Did you mean 'crowds'?"),
        ({"iou": 1.5}, "iou takes thresholds above 0 and at most 1"),
        ({"iou": "a:b"}, "iou takes thresholds"),
        ({"depth": 0}, "depth takes a positive integer or none; got 0"),
        ({"areas": {"all": 3}}, "areas take ranges by name"),
        ({"confidence": "high"}, "confidence takes a number; got 'high'"),
    ],
)
def test_conventions_are_checked(choice, says):
    truth, found = make_boxes(1)
    with pytest.raises(germane.errors.PolicyError, match=r".") as error:
        germane.boxes.evaluate(truth, found, **choice)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nDCG", "'nDCG' is not a measure of detections."),
        ("AP(points=12)", "points takes 101, 101single, 11, all, lines, slope or r40; got '12'"),
        ("AP(area=huge)", "no range of areas is named 'huge'."),
        ("AR@0", "the depth must be a positive integer; got '0'"),
        ("AP(depth=0)", "the depth must be a positive integer; got '0'"),
        (
            "AR(points=11)",
            "AR takes iou, area, frequency, class or depth, each once; got 'points=11'",
        ),
        ("AP50(iou=.5)", "gives two thresholds of overlap"),
        ("P(confidence=high)", "confidence takes a number; got 'high'"),
    ],
)
def test_names_are_checked(name, says):
    truth, found = make_boxes(1)
    with pytest.raises(germane.errors.MeasureError, match=r".") as error:
        germane.boxes.evaluate(truth, found, name)
    assert says in str(error.value)


def test_names_read_as_they_are_written():
    truth, found = make_boxes(1)
    names = "AP AP50 AP(iou=.5+.75,points=11) AR@10 AR(area=small) P(confidence=.25) F R(iou=.75)@5"
    result = germane.boxes.evaluate(truth, found, names)
    for name in result:
        complete = str(result[name].measure)
        again = germane.boxes.evaluate(truth, found, complete)
        assert str(again[complete].measure) == complete
        assert same(again[complete].mean, result[name].mean)
    with pytest.raises(germane.errors.NotFoundError, match=r"AP75 was not evaluated"):
        result["AP75"]
    assert "AP75" not in result
    assert "AP50" in result
    assert "nonsense" not in result


def test_precision_recall_and_f_at_a_confidence():
    truth, found = make_boxes(5, "floats")
    result = germane.boxes.evaluate(
        truth, found, "P(confidence=.4) R(confidence=.4) F(confidence=.4)"
    )
    words = oracle.Words(confidence=0.4)
    for row, category in zip(
        result["F(confidence=.4)"].values[0],
        sorted(one["id"] for one in truth["categories"]),
        strict=True,
    ):
        listed, count = oracle.list_outcomes(truth, found, category, 0.5, AREAS["all"], words)
        true = sum(outcome == "true" for *_, outcome in listed)
        seen = sum(outcome != "ignored" for *_, outcome in listed)
        assert same(row, 2 * true / (count + seen) if count else math.nan)


def test_counts_and_nothing_to_find():
    truth, found = make_boxes(2, "crowds")
    result = germane.boxes.evaluate(truth, found)
    sought = sum(not one["iscrowd"] for one in truth["annotations"])
    assert result.counts.truths == sought
    assert result.by("class").truths.sum() == result.by("image").truths.sum() == sought
    assert result.counts.crowds == sum(one["iscrowd"] for one in truth["annotations"])
    empty = germane.boxes.evaluate({**truth, "annotations": []}, found)
    assert math.isnan(empty["AP"].mean)
    assert (empty.stats == -1).all()
    silent = germane.boxes.evaluate(truth, [])
    assert silent["AP"].mean == 0
    assert silent["AR@1"].mean == 0


def test_two_orders_of_equal_scores():
    """Equal scores stand by image, or as they were given."""
    truth = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81}
        ],
    }
    false = {"image_id": 2, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}
    found = [false, {**false, "image_id": 1}]
    assert germane.boxes.evaluate(truth, found, "AP50")["AP50"].mean == 1
    assert germane.boxes.evaluate(truth, found, "AP50", ties="given")["AP50"].mean == 1 / 2


@pytest.mark.slow
def test_every_pair_of_words_runs():
    """No choice of words meets another that it cannot be combined with."""
    truth, found = make_boxes(6, "crowds, difficult, own areas")
    for one, other in itertools.combinations(CHOICES, 2):
        for a, b in itertools.product(CHOICES[one], CHOICES[other]):
            value = germane.boxes.evaluate(truth, found, "AP50", **{one: a, other: b})["AP50"].mean
            assert 0 <= value <= 1


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"iou": ".5:inf"}, "iou takes thresholds"),
    ({"iou": ".5:.9:0"}, "iou takes thresholds"),
    ({"measures": "AP(iou=.5:.9:0)"}, "iou takes thresholds"),
    ({"measures": "P(confidence=nan)"}, "confidence takes a number; got 'nan'"),
    ({"areas": 5}, "areas take ranges by name"),
    ({"areas": {"all": (5, 1)}}, "ends below its beginning"),
]


@pytest.mark.parametrize(("options", "says"), WRONG, ids=str)
def test_numbers_without_meaning_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(germane.errors.GermaneError, match=says):
        germane.boxes.evaluate(*make_boxes(3), **options)


def test_an_array_is_no_id_and_a_name_may_be_a_number() -> None:
    truth, found = make_boxes(3)
    with pytest.raises(germane.errors.NotFoundError, match="there is no image"):
        germane.boxes.explain(truth, found, image=np.array([1, 2]))
    assert list(germane.boxes.evaluate_many(truth, {1: found}, "AP")) == ["1"]


# --- Nothing at all -----------------------------------------------------------------------------------

EMPTY = {"boxes": [], "labels": []}
SEEN = {"boxes": [[0, 0, 9, 9]], "labels": [3]}


@pytest.mark.parametrize(
    ("truth", "found"),
    [
        ([], []),
        ([EMPTY], [{**EMPTY, "scores": []}]),
        ([EMPTY], [{**SEEN, "scores": [0.5]}]),
        ({"images": [], "annotations": [], "categories": []}, []),
    ],
)
def test_nothing_to_find_has_no_value(truth, found):
    """A mean over no class is none; COCO and torchmetrics write -1 for it, as stats do."""
    result = germane.boxes.evaluate(truth, found)
    assert all(math.isnan(value.mean) for value in result.values())
    assert result.stats.tolist() == [-1.0] * 12
    assert all(math.isnan(value) for value in result.flat().values())
    assert result.by("class").names == []
    for verb in ("confusion", "curve", "explain", "check", "spread"):
        assert str(getattr(germane.boxes, verb)(truth, found))


@pytest.mark.parametrize("truths", [0, 1])
@pytest.mark.parametrize("found", [0, 1])
def test_empty_sides_as_pycocotools(truths, found):
    coco = pytest.importorskip("pycocotools.coco")
    from pycocotools.cocoeval import COCOeval

    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81}
    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{**box, "id": 1, "iscrowd": 0}] * truths,
    }
    rows = [{**box, "score": 0.5}] * found
    sides = [coco.COCO(), coco.COCO()]
    for side, annotations in zip(sides, (truth["annotations"], rows), strict=True):
        side.dataset = {
            **truth,
            "annotations": [{"id": 1, "iscrowd": 0, **one} for one in annotations],
        }
        side.createIndex()
    evaluation = COCOeval(*sides, "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    assert germane.boxes.evaluate(truth, rows).stats.tolist() == evaluation.stats.tolist()
