"""Confusion matrices: by hand, against an obvious oracle, and against matrices recorded from tools."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from germane.errors import NotFoundError, PolicyError
from oriented_sets import make_oriented

RECORDED = json.loads(
    Path(__file__).with_name("data").joinpath("confusion.json").read_text("utf-8")
)
EXPLAINED = {
    ("crowds", "faster-coco-eval"): "a crowd is a truth there",
    ("crowds", "fiftyone"): "recorded without the key that marks crowds",
    ("floats", "ultralytics-8.3"): "an image where nothing is found has no false detection there",
    ("empty images", "ultralytics-8.3"): "the same",
}
CASES = [(name, tool) for name, case in RECORDED["sets"].items() for tool in case["answers"]]
TRUTH = {
    "images": [{"id": "a"}, {"id": "b"}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {"id": 1, "image_id": "a", "category_id": 1, "bbox": [0, 0, 10, 10]},
        {"id": 2, "image_id": "a", "category_id": 2, "bbox": [50, 0, 10, 10]},
        {"id": 3, "image_id": "b", "category_id": 2, "bbox": [0, 0, 10, 10]},
        {"id": 4, "image_id": "b", "category_id": 1, "bbox": [50, 50, 40, 40], "iscrowd": 1},
    ],
}
FOUND = [
    {"image_id": image, "category_id": label, "bbox": box, "score": score}
    for image, label, box, score in (
        ("a", 2, [0, 0, 10, 9], 0.9),  # a dog on the cat, and first
        ("a", 1, [0, 0, 10, 10], 0.8),  # the cat, too late
        ("a", 2, [50, 0, 10, 6], 0.7),  # the dog
        ("b", 1, [52, 52, 5, 5], 0.6),  # on the crowd
        ("b", 1, [200, 0, 5, 5], 0.5),  # on nothing
        ("b", 2, [0, 0, 10, 10], 0.1),  # the other dog
    )
]  # fmt: skip


def count(**options: Any) -> list[list[int]]:
    return germane.boxes.confusion(TRUTH, FOUND, **options).counts.tolist()  # type: ignore[no-any-return]


def test_by_hand() -> None:
    assert count(confidence=0.5) == [[0, 1, 0], [0, 1, 1], [2, 0, 0]]
    assert count(confidence=0.05) == [[0, 1, 0], [0, 2, 0], [2, 0, 0]]
    assert count(confidence=0.5, iou=0.7) == [[0, 1, 0], [0, 0, 2], [2, 1, 0]]
    assert count(confidence=0.5, pairing="class") == [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
    assert count(confidence=0.5, pairing="mutual") == [[1, 0, 0], [0, 1, 1], [1, 1, 0]]
    assert count(confidence=0.5, pairing="all") == [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert count(confidence=0.5, crowds="drop")[-1] == [3, 0, 0]
    assert count(confidence=0.5, crowds="count")[0] == [0, 1, 1]


def test_the_confidence_has_the_best_mean_f1() -> None:
    """Of cats, F1 is 1/2, 2/5, … down to .8, .5 and .05; that of dogs 2/4 at .7 and 4/5 at the end."""
    made = germane.boxes.confusion(TRUTH, FOUND)
    means = {}
    for score in (0.9, 0.8, 0.7, 0.5, 0.1):
        result = germane.boxes.evaluate(TRUTH, FOUND, f"F(iou=.5,confidence={score})")
        means[score] = next(iter(result.flat().values()))
    best = max(means, key=lambda score: means[score])
    assert made.mean_f1 == pytest.approx(means[best])
    assert (best, made.confidence) == (0.7, 0.7)
    assert made.counts.tolist() == count(confidence=0.7)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_confidence_of_random_sets(seed: int) -> None:
    truth, found = make_boxes(seed, draw_traits(seed))
    options: Any = {"unknown": "ignore"}
    made = germane.boxes.confusion(truth, found, **options)
    scores = {row["score"] for row in found} | {made.confidence}
    names = [f"F(iou=.5,confidence={score!r})" for score in scores]
    values = germane.boxes.evaluate(truth, found, names, **options).flat()
    assert made.mean_f1 is not None
    if not math.isnan(made.mean_f1):
        best = max(value for value in values.values() if value == value)
        assert made.mean_f1 == pytest.approx(best)
        chosen = germane.boxes.evaluate(
            truth, found, f"F(iou=.5,confidence={made.confidence!r})", **options
        )
        assert next(iter(chosen.flat().values())) == pytest.approx(best)


def measure(first: list[float], second: list[float], crowd: bool) -> float:
    sides = [
        min(first[i] + first[i + 2], second[i] + second[i + 2]) - max(first[i], second[i])
        for i in (0, 1)
    ]
    shared = math.prod(max(side, 0.0) for side in sides)
    area = first[2] * first[3] if crowd else first[2] * first[3] + second[2] * second[3] - shared
    return shared / area if area else 0.0


@pytest.mark.parametrize("seed", range(20))
def test_against_an_oracle(seed: int) -> None:
    """An obvious loop: detections by falling score, each takes the free truth that it overlaps most."""
    truth, found = make_boxes(seed, "floats, crowds, empty images")
    counted: Counter[tuple[Any, Any]] = Counter()
    ignored = 0
    for image in truth["images"]:
        truths = [row for row in truth["annotations"] if row["image_id"] == image["id"]]
        rows = [row for row in found if row["image_id"] == image["id"] and row["score"] >= 0.3]
        free = [row for row in truths if not row["iscrowd"]]
        crowds = [row for row in truths if row["iscrowd"]]
        for row in sorted(rows, key=lambda row: -row["score"]):
            overlaps = [measure(row["bbox"], one["bbox"], False) for one in free]
            if max(overlaps, default=0) >= 0.5:
                taken = free.pop(overlaps.index(max(overlaps)))
                counted[taken["category_id"], row["category_id"]] += 1
            elif any(measure(row["bbox"], one["bbox"], True) >= 0.5 for one in crowds):
                ignored += 1
            else:
                counted["background", row["category_id"]] += 1
        counted.update((one["category_id"], "background") for one in free)
    made = germane.boxes.confusion(truth, found, confidence=0.3)
    labels = [*sorted(category["id"] for category in truth["categories"]), "background"]
    wanted = [[counted[row, column] for column in labels] for row in labels]
    assert made.counts.tolist() == wanted
    assert made.ignored == ignored


@pytest.mark.parametrize("name", RECORDED["oriented"])
def test_matrices_of_oriented_boxes(name: str) -> None:
    """Ultralytics' own function, and its own rectangles around corners; upright boxes differ."""
    case = RECORDED["oriented"][name]
    truth, found = make_oriented(case["seed"], case["traits"], corners=case["corners"])
    [(tool, counts)] = case["answers"].items()
    assert germane.boxes.confusion(truth, found, dialect=tool).counts.tolist() == counts
    strict = germane.boxes.confusion(truth, found, dialect=tool, iou=0.9)
    assert strict.counts.tolist() != counts


@pytest.mark.parametrize(("name", "tool"), CASES)
def test_matrices_of_tools(name: str, tool: str) -> None:
    case = RECORDED["sets"][name]
    truth, found = make_boxes(case["seed"], case["traits"])
    made = germane.boxes.confusion(truth, found, dialect=tool)
    assert (made.counts.tolist() == case["answers"][tool]) == ((name, tool) not in EXPLAINED)
    if tool == "ultralytics-8.3":
        assert made.counts[:-1].tolist() == case["answers"][tool][:-1]
    versions = {dialect.name: dialect.version for dialect in [made.tool] if dialect}
    assert versions == {tool: RECORDED["versions"][tool]}


def test_sums_and_cells() -> None:
    """Each truth is in one row, each detection in one column, and cells list what is counted."""
    truth, found = make_boxes(4, "floats, crowds")
    made = germane.boxes.confusion(truth, found, confidence=0.2)
    inner = made.counts
    assert inner[:-1].sum() == sum(not row["iscrowd"] for row in truth["annotations"])
    assert inner[:, :-1].sum() + made.ignored == sum(row["score"] >= 0.2 for row in found)
    shares = made.shares[inner.sum(axis=1) > 0]
    assert shares.sum(axis=1) == pytest.approx([1] * len(shares))
    images = {row["id"]: row["image_id"] for row in truth["annotations"]}
    for i, row in enumerate(made.labels):
        for j, column in enumerate(made.labels):
            cell = made.cell(row, column)
            assert len(cell) == inner[i, j]
            for pair in cell.rows:
                assert (pair.truth is None, pair.detection is None) == (
                    i == len(inner) - 1,
                    j == len(inner) - 1,
                )
                if pair.detection is not None:
                    assert found[pair.detection - 1]["image_id"] == pair.image
                    assert found[pair.detection - 1]["score"] == pair.score
                if pair.truth is not None:
                    assert images[pair.truth] == pair.image


def test_what_it_is_asked() -> None:
    made = germane.boxes.confusion(TRUTH, FOUND, confidence=0.5)
    assert made.cell("cat", 2).images == ["a"]
    assert str(made.cell("dog", "background").rows[0].image) == "b"
    frame = made.to_arrow().to_pydict()
    assert frame["count"][:3] == [0, 1, 0]
    assert json.dumps(made.to_dict()).count("counts") == 1
    for show in ("counts", "shares"):
        root = ElementTree.fromstring(made.svg(show=show))  # type: ignore[arg-type]
        texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"cat", "dog", "background"} <= set(texts)
        assert ("2" if show == "counts" else "1.00") in texts
    many = {**TRUTH, "categories": [{"id": i, "name": f"<{i}>"} for i in range(1, 41)]}
    matrix = germane.boxes.confusion(many, FOUND, confidence=0.5)
    assert "the 15 of 40 classes" in matrix.svg()
    assert "largest of 3 confusions" in str(matrix)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"candidate": "best"}, "a confusion matrix has no option 'candidate'"),
        ({"pairing": "best"}, "pairing"),
        ({"iou": "0.5:0.95"}, "one threshold of overlap"),
        ({"confidence": "high"}, "confidence takes a number"),
        ({"dialect": "hotcocoa"}, "Did you mean 'hotcoco'"),
    ],
)
def test_errors(options: Any, says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        germane.boxes.confusion(TRUTH, FOUND, **options)
    with pytest.raises(NotFoundError, match="no class 'cow'"):
        germane.boxes.confusion(TRUTH, FOUND).cell("cow", "cat")


def test_nothing_to_count() -> None:
    empty = {**TRUTH, "annotations": []}
    made = germane.boxes.confusion(empty, FOUND)
    assert made.counts[-1].tolist() == [3, 3, 0]
    assert (made.confidence, math.isnan(made.mean_f1 or 0)) == (0.0, True)
    assert "at least 0, overlap .5" in str(made)
    assert germane.boxes.confusion(TRUTH, []).counts.tolist() == [[0, 0, 1], [0, 0, 2], [0, 0, 0]]
