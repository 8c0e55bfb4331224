"""Explanations of boxes: outcomes by hand, terms that sum to the number, and a picture."""

import math
import re
from collections import Counter
from xml.etree import ElementTree

import pytest

import boxes_oracle as oracle
import germane
from boxes_sets import draw_traits, make_boxes

TRUTHS = [  # class, box, crowd
    ("cat", [0, 0, 10, 10], 0),
    ("cat", [100, 0, 10, 10], 0),
    ("dog", [0, 100, 10, 10], 0),
    ("cat", [200, 0, 50, 50], 1),
]
FOUND = [  # class, box, score, outcome, truth
    ("cat", [0, 0, 10, 10], 0.9, "true", 1),
    ("cat", [0, 0, 10, 9], 0.8, "duplicate of 1", 1),
    ("cat", [100, 0, 10, 4], 0.7, "overlap below .5", 2),
    ("cat", [0, 100, 10, 10], 0.6, "other class: dog", 3),
    ("cat", [50, 50, 9, 9], 0.5, "background", None),
    ("cat", [210, 10, 5, 5], 0.4, "on a crowd", 4),
    ("dog", [0, 101, 10, 9], 0.3, "true", 3),
]


def make_example(**more):
    truth = {
        "images": [{"id": "a", "width": 300, "height": 200}, {"id": "b"}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {
                "id": i,
                "image_id": "a",
                "category_id": 1 + (label == "dog"),
                "bbox": box,
                "iscrowd": crowd,
            }
            for i, (label, box, crowd) in enumerate(TRUTHS, 1)
        ],
        **more,
    }
    found = [
        {"image_id": "a", "category_id": 1 + (label == "dog"), "bbox": box, "score": score}
        for label, box, score, *_ in FOUND
    ]
    return truth, found


def test_every_outcome_of_an_image():
    truth, found = make_example()
    made = germane.boxes.explain(truth, found, image="a")
    assert [(str(row), row.truth) for row in made.rows] == [(says, at) for *_, says, at in FOUND]
    assert made.rows[1].overlap == pytest.approx(0.9)
    assert made.rows[2].overlap == pytest.approx(0.4)
    assert [(one.id, one.near, one.overlap) for one in made.missed] == [(2, 3, pytest.approx(0.4))]
    assert made.counts["true"] == 2
    assert "missed; nearest is 3" in str(made)
    assert made.value == pytest.approx((51 / 101 + 1) / 2)  # cat: one of two, at rank 1; dog: all


@pytest.mark.parametrize("equal_overlaps", ["first", "last"])
def test_duplicates_of_equal_truths(equal_overlaps):
    truth = [{"boxes": [[0, 0, 10, 10]] * 2, "labels": [1, 1]}]
    found = [{"boxes": [[0, 0, 10, 10]] * 2, "labels": [1, 1], "scores": [0.9, 0.8]}]
    rules = {"candidate": "best", "equal_overlaps": equal_overlaps}
    made = germane.boxes.explain(truth, found, image=0, **rules)
    taken = 1 if equal_overlaps == "first" else 2
    assert [(str(row), row.truth) for row in made.rows] == [
        ("true", taken),
        ("duplicate of 1", taken),
    ]


def test_dropped_and_outside():
    truth, found = make_example()
    deep = germane.boxes.explain(truth, found, image="a", depth=2)
    assert [row.outcome for row in deep.rows].count("depth") == 4
    sure = germane.boxes.explain(truth, found, "P(confidence=.65)", label="cat")
    assert [row.outcome for row in sure.rows][3:] == ["confidence"] * 3
    assert sure.terms.value == pytest.approx(1 / 3)
    small = germane.boxes.explain(
        truth, found, "AP50(area=tiny)", label="cat", areas={"all": (0, 1e9), "tiny": (0, 60)}
    )
    outcomes = [row.outcome for row in small.rows]
    assert outcomes[:2] == ["other area", "outside"]
    assert outcomes[2] == "low overlap"
    assert math.isnan(small.terms.value)
    best = germane.boxes.explain(truth, found, image="a", crowds="drop")
    assert str(best.rows[5]) == "background"


def test_a_truth_with_the_id_zero():
    truth, found = make_example()
    truth["annotations"][0]["id"] = 0
    made = germane.boxes.explain(truth, found, label="cat", id_zero="unmatched")
    assert made.rows[0].outcome == "id zero"
    assert 0 in [one.id for one in made.missed]


@pytest.mark.parametrize("points", ["101", "11", "all", "101single", "lines"])
@pytest.mark.parametrize("seed", range(8))
def test_terms_sum_to_the_number(seed, points):
    """And the terms are where the oracle has true detections, whose outcomes are the explained ones."""
    truth, found = make_boxes(seed, draw_traits(seed))
    name = f"AP50(points={points})"
    choices = {"unknown": "ignore", "difficult": "count"}
    try:
        whole = germane.boxes.evaluate(truth, found, name, **choices)
    except germane.errors.InputError:
        pytest.skip("an image that the truth lacks")
    for category in truth["categories"]:
        made = germane.boxes.explain(truth, found, name, label=category["id"], **choices)
        value = whole[name].per_class.get(category["name"], math.nan)
        if math.isnan(value):
            assert math.isnan(made.terms.value)
            continue
        total = math.fsum(row.term for row in made.rows) + made.terms.rest
        assert total / made.terms.norm == pytest.approx(value, abs=1e-12)
        assert made.terms.value == value
        words = oracle.Words(difficult="count")
        listed, count = oracle.list_outcomes(truth, found, category["id"], 0.5, (0, 1e10), words)
        assert count == made.terms.relevant == sum(t.state != "ignored" for t in made.truths)
        counted = Counter(outcome for *_, outcome in listed)
        kinds = Counter(row.counts for row in made.rows)
        assert kinds["true"] == counted["true"]
        assert kinds["false"] == counted["false"]


@pytest.mark.parametrize("seed", range(4))
def test_ranks_and_shares(seed):
    truth, found = make_boxes(seed, "crowds, tied scores")
    category = truth["categories"][0]["id"]
    made = germane.boxes.explain(truth, found, "P", label=category)
    ranked = [row for row in made.rows if row.rank]
    assert [row.rank for row in ranked] == list(range(1, len(ranked) + 1))
    hits = [row.counts == "true" for row in ranked]
    assert [row.found for row in ranked] == [sum(hits[: i + 1]) for i in range(len(hits))]
    if ranked:
        assert made.terms.value == pytest.approx(sum(hits) / len(hits))
    images = [germane.boxes.explain(truth, found, "P", label=category, image=one["id"])
              for one in truth["images"]]  # fmt: skip
    together = Counter(row.outcome for one in images for row in one.rows)
    assert together == Counter(row.outcome for row in made.rows)


def test_refused():
    truth, found = make_example()
    for given, error, says in (
        ({"image": "c"}, germane.errors.NotFoundError, "there is no image 'c'"),
        ({"label": "cow"}, germane.errors.NotFoundError, "There are: 'cat', 'dog'"),
        (
            {"image": "a", "measure": "AP"},
            germane.errors.MeasureError,
            "explain one of them, such as AP50",
        ),
        ({"label": "cat", "classes": "merged"}, germane.errors.InputError, "joins all classes"),
    ):
        with pytest.raises(error, match=re.escape(says)):
            _ = germane.boxes.explain(truth, found, **given).rows
    with pytest.raises(germane.errors.InputError, match="explain one with image="):
        germane.boxes.explain(truth, found, label="cat").svg()
    with pytest.raises(germane.errors.PolicyError, match="paper"):
        germane.boxes.explain(truth, found, image="a").svg(paper="grey")


def test_merged_classes_and_frames():
    truth, found = make_example()
    made = germane.boxes.explain(truth, found, classes="merged")
    assert made.rows[3].outcome == "true"
    assert "class" not in made.table().columns
    frame = made.to_arrow()
    assert frame.num_rows == len(found) + len(made.missed)
    plain = made.to_dict()
    assert plain["detections"][3]["counts"] == "true"
    assert plain["counts"] == made.counts


def test_a_picture_is_well_formed_and_escapes_ids():
    hostile = '<script>alert("1")</script>\x1b[31m&'
    truth, found = make_example()
    truth["categories"][0]["name"] = hostile
    truth["images"][0]["id"] = hostile
    truth["annotations"] = [{**one, "image_id": hostile} for one in truth["annotations"]]
    truth["annotations"][1]["id"] = "</text><script>"
    found = [{**one, "image_id": hostile} for one in found]
    for paper in (None, "light", "dark"):
        drawn = germane.boxes.explain(truth, found, image=hostile).svg(paper=paper)
        assert "<script" not in drawn
        assert "\x1b" not in drawn
        root = ElementTree.fromstring(drawn)
        kinds = Counter(one.get("class") for one in root.iter("{http://www.w3.org/2000/svg}rect"))
        assert kinds["box true"] == 2
        assert kinds["box false"] == 4
        assert kinds["box missed"] == 1
        assert kinds["box found"] == 2
        assert ("prefers-color-scheme" in drawn) == (paper is None)


@pytest.mark.slow
def test_pictures_of_nothing_and_of_much():
    truth, found = make_example(annotations=[])
    nothing = germane.boxes.explain(truth, [], image="b").svg()
    assert ElementTree.fromstring(nothing) is not None
    many = [{**found[0], "score": i / 500} for i in range(300)]
    drawn = germane.boxes.explain(truth, many, image="a", depth=None).svg()
    assert "… 120 more" in drawn


@pytest.mark.parametrize("seed", range(5))
def test_rows_by_class_area_and_image(seed):
    truth, found = make_boxes(seed, "crowds")
    result = germane.boxes.evaluate(truth, found, "AP AP50 AR@10")
    classes, areas, images = (result.by(part) for part in ("class", "area", "image"))
    known = {k: v for k, v in classes["AP"].items() if v == v}
    assert known == pytest.approx(result["AP"].per_class)
    for area in ("all", "small", "medium", "large"):
        name = f"AP50(area={area})"
        alone = germane.boxes.evaluate(truth, found, name)[name].mean
        assert areas["AP50"][area] == pytest.approx(alone, nan_ok=True)
    for one in truth["images"]:
        its = {
            **truth,
            "images": [one],
            "annotations": [a for a in truth["annotations"] if a["image_id"] == one["id"]],
        }
        own = [row for row in found if row["image_id"] == one["id"]]
        alone = germane.boxes.evaluate(its, own, "AP")["AP"].mean
        assert images["AP"][str(one["id"])] == pytest.approx(alone, nan_ok=True)
    assert int(images.truths.sum()) == int(classes.truths.sum())
    with pytest.raises(
        germane.errors.PolicyError, match="by takes class, area, frequency or image"
    ):
        result.by("size")


# --- All images and classes at once -------------------------------------------------------------------


def test_every_detection_and_every_missed_truth():
    """The rows are those of the images one by one, and numbers name each other's duplicates."""
    truth, found = make_boxes(3, "floats, crowds")
    made = germane.boxes.explain(truth, found)
    images = [germane.boxes.explain(truth, found, image=image["id"]) for image in truth["images"]]
    parts = [(row.place, row.outcome, row.truth, row.overlap) for one in images for row in one.rows]
    rows = [(row.place, row.outcome, row.truth, row.overlap) for row in made.detected]
    assert sorted(rows) == sorted(parts)
    assert len(rows) == len(found)
    assert sorted(one.id for image in images for one in image.missed) == sorted(
        row.truth for row in made.rows[len(found) :]
    )
    assert {row.outcome for row in made.rows[len(found) :]} == {"missed"}
    frame = made.to_arrow().to_pydict()
    assert len(frame["image"]) == len(made.rows) == len(made.table(digits=None).rows)
    sides = [frame[name][-1] for name in ("x", "y", "width", "height")]
    assert sides == list(made.rows[-1].box)
    assert sum(made.counts.values()) == len(found)
    assert made.terms is None


@pytest.mark.parametrize("measure", ["R50", "AP50(points=all)"])
def test_what_an_image_costs(measure):
    """It is the difference that leaving out the image makes, to first order."""
    box = [{"boxes": [[10, 10, 50, 50], [60, 60, 99, 99]], "labels": [1, 1]}]
    truth = box * 40
    found = [
        {
            "boxes": [one["boxes"][0], [200, 200, 250, 250]][: 1 + (place % 3 == 0)],
            "labels": [1, 1][: 1 + (place % 3 == 0)],
            "scores": [0.9 - place / 100, 0.8 - place / 100][: 1 + (place % 3 == 0)],
        }
        for place, one in enumerate(truth)
    ]
    found[7] = {"boxes": [], "labels": [], "scores": []}
    made = germane.boxes.explain(truth, found, measure)
    ranked = made.rank_images()
    assert ranked.rows[0].image == 7
    assert (ranked.rows[0].truths, ranked.rows[0].missed, ranked.rows[0].false) == (2, 2, 0)
    for row in (ranked.rows[0], ranked.rows[1], ranked.rows[-1]):
        others = [image for image in range(40) if image != row.image]
        without = germane.boxes.evaluate(truth, found, measure, only_images=others)[measure].mean
        assert row.cost == pytest.approx(without - made.value, abs=2e-3)
    assert [row.image for row in made.rank_images(2)] == [row.image for row in ranked.rows[:2]]
    of_class = germane.boxes.explain(truth, found, measure, label=1).rank_images(1)
    assert of_class.rows[0] == ranked.rows[0]
    with pytest.raises(germane.errors.InputError, match="one image has no rank"):
        germane.boxes.explain(truth, found, measure, image=3).rank_images()


@pytest.mark.parametrize("most", [0, -1, 2.5, "AP", True])
def test_a_number_of_worst_images_is_from_one_on(most: object) -> None:
    explanation = germane.boxes.explain(
        [{"boxes": [[0, 0, 9, 9]], "labels": [1]}],
        [{"boxes": [[0, 0, 9, 9]], "labels": [1], "scores": [0.5]}],
    )
    with pytest.raises(germane.errors.InputError, match="from 1 on"):
        explanation.rank_images(most)  # type: ignore[arg-type]
