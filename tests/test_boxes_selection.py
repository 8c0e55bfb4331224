"""Some images and classes alone: as if the others were in no file, in every verb."""

from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import make_boxes
from germane.errors import InputError, MeasureError, NotFoundError, PolicyError

TRUTH, FOUND = make_boxes(4, "floats, crowds, difficult")
IMAGES = [image["id"] for image in TRUTH["images"]]
CLASSES = [category["id"] for category in TRUTH["categories"]]
CHOSEN: Any = {"only_images": IMAGES[:3], "only_classes": CLASSES[:2]}


def cut(truth: Any, found: Any, images: Any, classes: Any) -> tuple[Any, Any]:
    """The same files without the others."""

    def keep(rows: Any) -> Any:
        return [row for row in rows if row["image_id"] in images and row["category_id"] in classes]

    return {
        "images": [image for image in truth["images"] if image["id"] in images],
        "categories": [label for label in truth["categories"] if label["id"] in classes],
        "annotations": keep(truth["annotations"]),
    }, keep(found)


@pytest.mark.parametrize(
    "options",
    [{}, {"classes": "merged"}, {"dialect": "voc2007"}, {"depth": 2, "depth_of": "class"}],
)
@pytest.mark.parametrize("name", ["only_images", "only_classes", "both"])
def test_it_is_as_if_the_others_were_in_no_file(options: Any, name: str) -> None:
    chosen = CHOSEN if name == "both" else {name: CHOSEN[name]}
    less = cut(TRUTH, FOUND, chosen.get("only_images", IMAGES), chosen.get("only_classes", CLASSES))
    made = germane.boxes.evaluate(TRUTH, FOUND, **options, **chosen)
    wanted = germane.boxes.evaluate(*less, **options)
    assert made.flat() == pytest.approx(wanted.flat(), nan_ok=True)
    assert made.counts == wanted.counts
    assert made.by("image").names == wanted.by("image").names
    matrix = germane.boxes.confusion(TRUTH, FOUND, **chosen)
    assert np.array_equal(matrix.counts, germane.boxes.confusion(*less).counts)


def test_every_verb_takes_them() -> None:
    less = cut(TRUTH, FOUND, CHOSEN["only_images"], CHOSEN["only_classes"])
    other = FOUND[::2]
    value = germane.boxes.evaluate(*less, "AP50")["AP50"].mean
    many = germane.boxes.evaluate_many(TRUTH, {"a": FOUND, "b": other}, "AP50", **CHOSEN)
    assert many["a"]["AP50"].mean == value
    assert germane.boxes.spread(TRUTH, FOUND, "AP50", **CHOSEN).own.value == pytest.approx(value)
    assert germane.boxes.curve(TRUTH, FOUND, **CHOSEN).value == value
    explained = germane.boxes.explain(TRUTH, FOUND, image=CHOSEN["only_images"][0], **CHOSEN)
    places = {row.place for row in explained.rows}
    assert {FOUND[place - 1]["category_id"] for place in places} <= {*CHOSEN["only_classes"]}
    assert germane.boxes.gate(TRUTH, FOUND, baseline=FOUND, measures="AP50", **CHOSEN).passed
    compared = germane.boxes.compare(TRUTH, {"a": FOUND, "b": other}, "AP50", **CHOSEN)
    shorter = germane.boxes.compare(
        less[0], {"a": less[1], "b": cut(TRUTH, other, *CHOSEN.values())[1]}, "AP50"
    )
    assert compared.leaderboard().rows == shorter.leaderboard().rows
    found = germane.boxes.reconcile(TRUTH, FOUND, measure="AP50", reported=f"{value:.5f}", **CHOSEN)
    assert "AP50" in str(found)


def test_names_files_and_text_are_ids() -> None:
    truth = {
        "images": [{"id": 1, "file_name": "a/x.jpg"}, {"id": 2, "file_name": "y.jpg"}],
        "categories": [{"id": 1, "name": "traffic light"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": i, "image_id": 1 + i % 2, "category_id": 1 + i // 2, "bbox": [0, 0, 9, 9]}
            for i in range(4)
        ],
    }  # fmt: skip
    for name in ("traffic light", 1, "1", ["traffic light"], np.array([1])):
        assert germane.boxes.evaluate(truth, [], only_classes=name).classes == ["traffic light"]
    for image in (1, "1", "a/x.jpg", "x", ["x.jpg"]):
        assert germane.boxes.evaluate(truth, [], only_images=image).truths.images == [1]
    with pytest.raises(NotFoundError, match=r"no class 'dgo'.*dog"):
        germane.boxes.evaluate(truth, [], only_classes="dgo")
    with pytest.raises(InputError, match="only_images= lists ids or names"):
        germane.boxes.evaluate(truth, [], only_images=[])
    with pytest.raises(PolicyError, match="has no option 'only_classes'"):
        germane.boxes.check(truth, [], only_classes="dog")  # type: ignore[call-arg]
    with pytest.raises(PolicyError, match="only_classes=person"):
        germane.boxes.evaluate(truth, [], catIds=[1])  # type: ignore[call-arg]


def test_a_fault_is_named_by_its_row_in_the_file() -> None:
    """Findings of what is chosen name the rows of the file."""
    truth, found = make_boxes(1, "")
    image = truth["images"][-1]["id"]
    found = [row for row in found if row["image_id"] != image]
    found.append({**found[0], "image_id": image, "bbox": [5.0, 5.0, 1e7, 5.0]})
    with pytest.warns(germane.GermaneWarning, match=f"detection {len(found)}"):
        germane.boxes.evaluate(truth, found, only_images=image)


def test_federated_sets_are_renumbered() -> None:
    truth = {
        "images": [
            {"id": i, "neg_category_ids": [2] if i % 2 else [], "not_exhaustive_category_ids": [1]}
            for i in range(6)
        ],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "c"}],
        "annotations": [
            {"id": i + 1, "image_id": i, "category_id": 1 + i % 3, "bbox": [0, 0, 9, 9]}
            for i in range(6)
        ],
    }
    found = [
        {"image_id": i, "category_id": label, "bbox": [x, 0, 9, 9], "score": 0.5 + i / 20 - x / 99}
        for i in range(6) for label in (1, 2, 3) for x in (0, 20)
    ]  # fmt: skip
    chosen: Any = {"only_images": [1, 2, 4, 5], "only_classes": ["b", "a"]}
    less = cut(truth, found, chosen["only_images"], [1, 2])
    for image in less[0]["images"]:
        image["neg_category_ids"] = [label for label in image["neg_category_ids"] if label < 3]
    made = germane.boxes.evaluate(truth, found, "AP50", unverified="ignore", **chosen)
    wanted = germane.boxes.evaluate(*less, "AP50", unverified="ignore")
    assert made["AP50"].per_class == wanted["AP50"].per_class


@pytest.mark.parametrize("name", ["AP", "AP50(area=small)", "AR@10", "F(iou=.5,confidence=best)"])
def test_a_measure_of_one_class(name: str) -> None:
    result = germane.boxes.evaluate(TRUTH, FOUND, name)
    for label, value in result[name].per_class.items():
        bare, _, rest = name.partition("(")
        named = f"{bare}({rest.rstrip(')') + ',' if rest else ''}class={label})"
        if "@" in bare:
            named = f"{bare.partition('@')[0]}(class={label})@10"
        made = germane.boxes.evaluate(TRUTH, FOUND, named)
        assert made[named].per_class == {label: value}
        assert made[named].mean == pytest.approx(value)
        assert list(made) == [str(next(iter(made.asked)))]
        if name != "F(iou=.5,confidence=best)":
            tried = germane.boxes.spread(TRUTH, FOUND, named)
            assert tried.own.value == pytest.approx(value)


def test_a_class_that_is_not_there() -> None:
    with pytest.raises(NotFoundError, match="no class 'cow'"):
        germane.boxes.evaluate(TRUTH, FOUND, "AP(class=cow)")
    with pytest.raises(MeasureError, match="class takes the name"):
        germane.boxes.evaluate(TRUTH, FOUND, "AP(class=)")
    with pytest.raises(MeasureError, match="makes one of all"):
        germane.boxes.evaluate(TRUTH, FOUND, f"AP(class={CLASSES[0]})", classes="merged")
    assert str(germane.boxes.evaluate(TRUTH, FOUND, f"AP(class={CLASSES[0]})").asked[0]) == (
        f"AP(class={CLASSES[0]})"
    )


@pytest.mark.parametrize("option", [["person"], [1], "person"])
def test_keypoints_of_one_class_in_a_file_of_several(option: Any) -> None:
    """Dogs have no keypoints, and cats have three; only people are compared, and 17 of each."""
    points = [20, 20, 2] * 17
    row = {"image_id": 1, "bbox": [1, 1, 50, 50], "area": 2500}
    truth = {
        "images": [{"id": 1, "width": 99, "height": 99}],
        "categories": [
            {"id": 1, "name": "person"},
            {"id": 2, "name": "dog"},
            {"id": 3, "name": "cat"},
        ],
        "annotations": [
            {**row, "id": 1, "category_id": 2},
            {**row, "id": 2, "category_id": 1, "keypoints": points},
            {**row, "id": 3, "category_id": 3, "keypoints": points[:9]},
        ],
    }
    found = [
        {"image_id": 1, "category_id": 2, "bbox": [1, 1, 50, 50], "score": 0.9},
        {"image_id": 1, "category_id": 1, "keypoints": points, "score": 0.5},
    ]
    result = germane.boxes.evaluate(truth, found, "AP50", overlap="oks", only_classes=option)
    assert (result.flat(), result.counts.truths) == ({"AP50": 1.0}, 1)
    with pytest.raises(germane.GermaneError, match=r"annotation 1 \(id 1\) has no 'keypoints'"):
        germane.boxes.evaluate(truth, found, "AP50", overlap="oks")
    with pytest.raises(germane.GermaneError, match="there is no class 'bird'"):
        germane.boxes.evaluate(truth, found, "AP50", overlap="oks", only_classes=["bird"])
