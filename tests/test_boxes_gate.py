"""The gate of boxes: records as baselines, and floors, which that of lists has, too."""

import json
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes
from germane import cli
from germane.errors import FormatError, InputError, NotFoundError, PolicyError, RegressionError

TRUTH, FOUND = make_boxes(3, "floats, crowds")
WORSE = [row for place, row in enumerate(FOUND) if place % 3]


def gate(found: Any, **options: Any) -> germane.types.Gate:
    return germane.boxes.gate(TRUTH, found, **options)


@pytest.mark.parametrize("order", ["as it is", "other order"])
def test_a_record_is_as_good_as_the_detections(order: str, tmp_path: Any) -> None:
    result = germane.boxes.evaluate(TRUTH, FOUND, "AP AP50 AP75")
    record = json.loads(json.dumps(result.to_dict(images=True)))
    for row in record["detections"][0]["measures"]:  # the number is the mean of the shares
        assert sum(row["shares"]) / len(row["shares"]) == pytest.approx(row["mean"], abs=1e-12)
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record))
    turned = {**TRUTH, "images": TRUTH["images"][::-1], "annotations": TRUTH["annotations"][::-1]}
    truth = turned if order == "other order" else TRUTH
    wanted = germane.boxes.gate(truth, WORSE, baseline=FOUND)
    for baseline in (path, record, germane.boxes.evaluate(truth, FOUND)):
        made = germane.boxes.gate(truth, WORSE, baseline=baseline)
        assert made.verdicts == wanted.verdicts
        for pair, other in zip(made.pairs, wanted.pairs, strict=True):
            assert (pair.difference, pair.p) == pytest.approx((other.difference, other.p))


def test_what_a_record_does_not_fit() -> None:
    record = germane.boxes.evaluate(TRUTH, FOUND, "AP50").to_dict(images=True)
    moved = {**TRUTH, "annotations": TRUTH["annotations"][1:]}
    with pytest.raises(InputError, match="made with other truths"):
        germane.boxes.gate(moved, FOUND, "AP50", baseline=record)
    with pytest.raises(PolicyError, match=r"other conventions \(crowds='ignore'\)"):
        gate(FOUND, measures="AP50", baseline=record, crowds="drop")
    with pytest.raises(
        NotFoundError, match=r"has no AP\.  There are: AP50\. Choose .* -m 'AP AP50'$"
    ):
        gate(FOUND, baseline=record)
    plain = germane.boxes.evaluate(TRUTH, FOUND, "AP50").to_dict()
    with pytest.raises(FormatError, match="germane boxes TRUTH DETECTIONS --record FILE"):
        gate(FOUND, measures="AP50", baseline=plain)
    both = germane.boxes.evaluate_many(TRUTH, {"a": FOUND, "b": WORSE}, "AP50")
    with pytest.raises(InputError, match="several detectors"):
        gate(FOUND, measures="AP50", baseline=both.to_dict(images=True))


def make_annotated(key: str, cell: Any, *, image: str = "") -> dict[str, Any]:
    """One person whose annotation, or whose image, has one more key."""
    row = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 900.0}
    person = {**row, **({} if image else {key: cell})}
    size = {"id": 1, "width": 100, "height": 100, "not_exhaustive_category_ids": []}
    listed = size | {"neg_category_ids": []} | ({key: cell} if image else {})
    category = {"id": 1, "name": "person"}
    return {
        "images": [listed],
        "annotations": [person],
        "categories": [category, {"id": 2, "name": "dog"}],
    }


@pytest.mark.parametrize(
    ("key", "cells", "options"),
    [
        ("area", (900.0, 1600.0), {}),
        ("area", (900.0, 1600.0), {"overlap": "oks"}),
        ("ignore", (0, 1), {}),
        ("bbox", ([50, 50, 40, 20, 30], [50, 50, 40, 20, -30]), {"overlap": "probiou"}),
        ("keypoints", ([20, 20, 2] * 17, [20, 21, 2] * 17), {"overlap": "oks"}),
        ("keypoints", ([20, 20, 2] * 17, [20, 20, 2] * 16 + [20, 20, 0]), {"overlap": "oks"}),
        ("segmentation", ([[10, 10, 50, 10, 50, 50]], [[10, 10, 50, 50, 10, 50]]), {"overlap": "mask"}),
        ("neg_category_ids", ([], [2]), {}),
        ("not_exhaustive_category_ids", ([], [1]), {}),
    ],
)  # fmt: skip
def test_truths_that_differ_in_one_thing_are_other_truths(
    key: str, cells: tuple[Any, Any], options: dict[str, Any]
) -> None:
    if options.get("overlap") == "mask":
        pytest.importorskip("pycocotools")
    image = key if key.endswith("category_ids") else ""
    points = {"keypoints": [20, 20, 2] * 17, "segmentation": [[10, 10, 50, 10, 50, 50]]}
    found = [{"image_id": 1, "category_id": 1, "score": 0.5, "bbox": [10, 10, 40, 40], **points}]
    first, second = (make_annotated(key, cell, image=image) for cell in cells)
    for truth in (first, second) if options.get("overlap") == "oks" and key == "area" else ():
        truth["annotations"][0]["keypoints"] = points["keypoints"]
    before = germane.boxes.evaluate(first, found, "AP50", **options)
    record: Any = before.to_dict(images=True)
    assert germane.boxes.gate(first, found, "AP50", baseline=record, **options).passed
    for baseline in (before, record):
        with pytest.raises(InputError, match="with other truths"):
            germane.boxes.gate(second, found, "AP50", baseline=baseline, **options)


def test_levels_of_kitti_are_part_of_the_truth(tmp_path: Path) -> None:
    line = "Car {truncated} 0 0 10 10 60 60 1 1 1 1 1 1 0{score}\n"
    for name, truncated, score in (("t", 0.1, ""), ("u", 0.2, ""), ("d", 0.1, " .9")):
        tmp_path.joinpath(name).mkdir()
        text = line.format(truncated=truncated, score=score)
        tmp_path.joinpath(name, "000001.txt").write_text(text)
    first, second, found = (tmp_path / name for name in "tud")
    before = germane.boxes.evaluate(first, found, "AP50")
    assert germane.boxes.gate(first, found, "AP50", baseline=before).passed
    with pytest.raises(InputError, match="with other truths"):
        germane.boxes.gate(second, found, "AP50", baseline=before)


def test_floors() -> None:
    name = TRUTH["categories"][0]["name"]
    result = germane.boxes.evaluate(TRUTH, FOUND, ["AP50", f"AP50(class={name})"])
    values = [result[measure].mean for measure in result]
    exact = gate(FOUND, floor=[f"AP50>={values[0]!r}", f"AP50(class={name})>={values[1]!r}"])
    assert exact.passed
    low = gate(FOUND, floor=f"mAP50 >= {values[0] + 1e-6!r}")
    assert (low.verdicts, bool(low)) == ({"AP50": "below"}, False)
    [sentence] = low.sentences
    assert sentence.startswith("AP50 is ")
    both = gate(FOUND, measures="AP", baseline=FOUND, floor="AP50>=1")
    assert both.verdicts == {"AP": "passed", "AP50": "below"}
    assert [row[0] for row in both.table().rows] == ["AP", "AP50"]
    with pytest.raises(RegressionError, match="below 1"):
        germane.boxes.assert_no_regression(TRUTH, FOUND, floor="AP50>=1")


def test_floors_of_lists() -> None:
    """RR of the lists is 1 and 1/2."""
    qrels, run = {"q": ["d"], "p": ["d"]}, {"q": ["d"], "p": ["x", "d"]}
    assert germane.gate(qrels, run, floor="RR>=.75").passed
    assert germane.gate(qrels, run, floor="MRR>=75% P@1 >= .5").verdicts == {
        "RR": "passed",
        "P@1": "passed",
    }
    made = germane.gate(qrels, run, "P@1", baseline=run, floor=["RR>=.76"])
    assert made.verdicts == {"P@1": "passed", "RR": "below"}
    assert made.table().columns[:4] == ("measure", "baseline", "run", "floor")
    with pytest.raises(InputError, match="RR lies between 0 and 1, and its floor is 75"):
        germane.gate(qrels, run, floor="RR>=75")
    assert germane.gate(qrels, run, floor="DCG@5>=75").verdicts == {"DCG@5": "below"}
    with pytest.raises(RegressionError, match=r"RR is 0\.75, below 0\.76"):
        germane.assert_no_regression(qrels, run, floor="RR>=.76")


@pytest.mark.parametrize(
    ("floor", "says"),
    [
        ("AP50>.4", "a measure, >= and a number"),
        ("AP50>=high", "a measure, >= and a number"),
        (">=.4", "a measure, >= and a number"),
        ("AP50", "a measure, >= and a number"),
        ("AP50>=nan", "a measure, >= and a number"),
        (["AP50>=.4", "AP50>=.5"], "AP50 has two floors"),
        (["AP50>=.4", "mAP50>=.5"], "AP50 has two floors"),
        ("AP50>=40", "AP50 lies between 0 and 1, and its floor is 40. Percentages .* 'AP50>=40%'"),
        ("AP50>=-.1", r"AP50 lies between 0 and 1, and its floor is -0\.1\.$"),
        (0.4, "a floor is a text"),
        ("", "a floor is a text"),
        (None, "a gate needs baseline"),
    ],
)
def test_floors_that_are_none(floor: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        gate(FOUND, floor=floor)


@pytest.mark.parametrize("baseline", [None, FOUND])
def test_a_floor_among_the_measures(baseline: Any) -> None:
    with pytest.raises(InputError, match=r"takes names of measures; got 'AP50>=\.4'. floor= takes"):
        gate(FOUND, measures="AP50>=.4", baseline=baseline)
    with pytest.raises(InputError, match=r"takes names of measures; got 'R@5>=\.4'"):
        germane.gate({"q": ["d"]}, {"q": ["d"]}, "R@5>=.4", baseline=baseline and {"q": ["d"]})


def test_a_floor_among_the_measures_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.json").write_text('{"q": ["d"]}')
    command = ["gate", str(tmp_path / "q.json"), str(tmp_path / "q.json"), "-m"]
    assert cli.main([*command, "R@5>=.4"]) == 2
    assert "--floor takes the lowest value that passes" in capsys.readouterr().err


def test_floors_have_names_with_parentheses() -> None:
    floor = "AP(norm=R)@10>=.4, nDCG(gain=exp)@5 ≥ 0.5; RR>=1"
    made = germane.gate({"q": ["d"]}, {"q": ["d"]}, floor=floor)
    assert [(one.measure, one.lowest) for one in made.floors] == [
        ("AP(norm=R)@10", 0.4),
        ("nDCG(gain=exp)@5", 0.5),
        ("RR", 1),
    ]


def test_a_result_of_other_truths_is_no_baseline() -> None:
    """Boxes without ids, in the same images: their places say that they are others."""
    here, there = [[10, 10, 50, 50]], [[60, 60, 90, 90]]
    truths = [[{"boxes": boxes, "labels": [1]}] for boxes in (here, there)]
    found = [[{**one, "scores": [0.9]} for one in truth] for truth in truths]
    baseline = germane.boxes.evaluate(truths[1], found[1], "AP")
    with pytest.raises(InputError, match="with other truths"):
        germane.boxes.gate(truths[0], found[0], "AP", baseline=baseline)
    same = germane.boxes.evaluate(
        *(json.loads(json.dumps(one[0])) for one in (truths, found)), "AP"
    )
    assert germane.boxes.gate(truths[0], found[0], "AP", baseline=same)
