"""Dialects of object detection, against answers recorded from the tools (data/boxes.json)."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes

RECORDED = json.loads(Path(__file__).with_name("data").joinpath("boxes.json").read_text("utf-8"))
SETS = RECORDED["sets"]
Data = dict[str, Any]


def read_number(value: Any) -> float:
    """A recorded number; -1 and what is no number are NaN."""
    return math.nan if value in (-1, "NaN") else float(value)


def agree(value: float, recorded: Any, digits: float) -> bool:
    wanted = read_number(recorded)
    return (value != value and wanted != wanted) or abs(value - wanted) <= digits


def number_images(truth: Data, detections: list[Data]) -> tuple[Data, list[Data]]:
    """Number the images as they come: this is the order in which tools were given them."""
    place = {image["id"]: at for at, image in enumerate(truth["images"])}
    rows = [
        [{**row, "image_id": place[row["image_id"]]} for row in several]
        for several in (truth["annotations"], detections)
    ]
    images = [{**image, "id": place[image["id"]]} for image in truth["images"]]
    return {**truth, "images": images, "annotations": rows[0]}, rows[1]


Case = tuple[germane.boxes.Result, dict[str, Any], float]


def ask_pycocotools(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    result = germane.boxes.evaluate(truth, detections, dialect="pycocotools")
    yield result, answer["stats"], 1e-9


def ask_hotcoco(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    """hotcoco is pycocotools without its mistake about the id 0."""
    result = germane.boxes.evaluate(truth, detections, dialect="pycocotools", id_zero="matched")
    yield result, answer["stats"], 1e-9


def ask_faster(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    result = germane.boxes.evaluate(truth, detections, dialect="faster-coco-eval")
    stats = dict(zip(list(result)[:12], answer["stats"].values(), strict=True))
    yield result, stats | {"AR_50": answer["AR50"], "AR_75": answer["AR75"]}, 1e-9


def ask_torchmetrics(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    given = {"dialect": "torchmetrics", "precision": "xywh"}
    asked: dict[str, dict[str, Any]] = {
        "xywh": {},
        "depths 1 10 50": {"depth": 50},
        "micro": {"classes": "merged"},
        "xyxy": {"precision": "xyxy"},
    }
    for name, options in asked.items():
        if name in answer:
            result = germane.boxes.evaluate(truth, detections, **given | options)
            yield result, answer[name], 1e-7
    whole = germane.boxes.evaluate(truth, detections, **given)
    classes = {f"class {one:g}": i for i, one in enumerate(answer["xywh"]["classes"])}
    for name in ("map", "mar_100"):
        each = answer["xywh"][f"{name}_per_class"]
        ours = whole[name].per_class
        assert all(agree(ours.get(one, math.nan), each[i], 1e-7) for one, i in classes.items()), (
            name
        )


def ask_supervision(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    rows = [{**row, "difficult": int(bool(row.get("ignore")))} for row in truth["annotations"]]
    truth = {**truth, "annotations": rows}
    names = ["map50_95", "map50", "map75"]
    sizes = {
        f"{size}_objects.{name}": value
        for size, values in answer["sizes"].items()
        for name, value in zip(names, values, strict=True)
    }
    result = germane.boxes.evaluate(truth, detections, [*names, *sizes], dialect="supervision")
    yield result, {name: answer[name] for name in names} | sizes, 1e-7


def ask_ultralytics(version: str) -> Callable[[Data, list[Data], Data], Iterator[Case]]:
    def ask(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
        names = "P R mAP50 mAP75 mAP50-95"
        for crowds, values in (("drop", answer), ("count", answer.get("crowds counted", {}))):
            result = germane.boxes.evaluate(
                truth, detections, names, dialect=version, crowds=crowds
            )
            if result.counts.truths > 0:
                yield result, {name: values[name] for name in result if name in values}, 1e-9

    return ask


def ask_voc(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    for year in ("2007", "2010"):
        result = germane.boxes.evaluate(truth, detections, dialect=f"voc{year}")
        each = result["mAP"].per_class
        names = [f"class {one}" for one in sorted(c["id"] for c in truth["categories"])]
        for name, recorded in zip(names, answer[year], strict=True):
            if not str(recorded).startswith("ERROR") and name in each:
                assert agree(each[name], recorded, 1e-9), (year, name, each[name], recorded)
        yield result, {}, 0


def ask_padilla(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    names = ("EveryPointInterpolation", "ElevenPointInterpolation")
    result = germane.boxes.evaluate(truth, detections, names, dialect="padilla")
    if answer["mAP EveryPointInterpolation"] != "ERROR":
        yield result, {name: answer[f"mAP {name}"] for name in names}, 1e-9


def ask_mmdet(truth: Data, detections: list[Data], answer: Data) -> Iterator[Case]:
    for name, overlap in (("voc", "iou+1"), ("plain", "iou")):
        result = germane.boxes.evaluate(
            truth, detections, "mAP area", dialect="mmdet", overlap=overlap
        )
        wanted = {"area": answer[f"{name}, area"]["mAP"], "mAP": answer[f"{name}, 11points"]["mAP"]}
        if result["area"].per_class:
            yield result, wanted, 1e-6


TOOLS: dict[str, Callable[[Data, list[Data], Data], Iterator[Case]]] = {
    "pycocotools": ask_pycocotools,
    "faster-coco-eval": ask_faster,
    "hotcoco": ask_hotcoco,
    "torchmetrics": ask_torchmetrics,
    "supervision": ask_supervision,
    "mmdet": ask_mmdet,
    "ultralytics 8.4.190": ask_ultralytics("ultralytics"),
    "ultralytics 8.4.160": ask_ultralytics("ultralytics-8.4.160"),
    "ultralytics 8.4.0": ask_ultralytics("ultralytics-8.4.0"),
    "py-faster-rcnn": ask_voc,
    "Object-Detection-Metrics": ask_padilla,
}
BY_ID = ("pycocotools", "faster-coco-eval", "hotcoco")  # they sort images by their ids


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("name", SETS)
def test_recorded_answers(name: str, tool: str) -> None:
    answer = SETS[name]["answers"].get(tool)
    if answer is None or isinstance(answer, str) or name == "unknown image":
        pytest.skip("the tool has no answer")
    truth, detections = make_boxes(SETS[name]["seed"], SETS[name]["traits"])
    given = (truth, detections) if tool in BY_ID else number_images(truth, detections)
    for result, wanted, digits in TOOLS[tool](*given, answer):
        off = {
            one: (result[one].mean, wanted[one])
            for one in wanted
            if one in result and not agree(result[one].mean, wanted[one], digits)
        }
        assert not off


def test_relative_boxes_are_rounded_as_the_page_of_padilla_says() -> None:
    """Object-Detection-Metrics gives 2/3 for these boxes of an image of 20 × 16 pixels; unrounded they are 1."""
    width, height = 20, 16
    truths = [
        (0.524, 0.716, 0.193, 0.306),
        (0.771, 0.547, 0.284, 0.208),
        (0.529, 0.774, 0.102, 0.413),
    ]
    found = [(0.562, 0.762, 0.222, 0.343), (0.778, 0.538, 0.231, 0.252), (0.493, 0.775, 0.1, 0.396)]

    def scale(box: tuple[float, ...]) -> list[float]:
        (x, y, w, h), sides = box, (width, height, width, height)
        return [
            a * b for a, b in zip((x - w / 2, y - h / 2, x + w / 2, y + h / 2), sides, strict=True)
        ]

    def round_as_said(box: tuple[float, ...]) -> list[float]:
        left, top = (round(one) for one in scale(box)[:2])
        right, bottom = left + round(box[2] * width), top + round(box[3] * height)
        return [max(left, 0), max(top, 0), min(right, width - 1), min(bottom, height - 1)]

    def evaluate(read: Callable[[tuple[float, ...]], list[float]]) -> float:
        truth = [{"boxes": [*map(read, truths)], "labels": [0] * 3}]
        detections = [
            {"boxes": [*map(read, found)], "labels": [0] * 3, "scores": [0.52, 0.57, 0.35]}
        ]
        return germane.boxes.evaluate(truth, detections, dialect="padilla")["mAP"].mean

    assert evaluate(scale) == 1
    assert evaluate(round_as_said) == pytest.approx(2 / 3)
    says = " ".join(one.says for one in germane.boxes.dialects()["padilla"].limits)
    assert (
        "the left upper corner and both sides to whole pixels, and then cut at the last pixel"
        in says
    )


def test_the_table_repeats_the_conventions_that_were_given() -> None:
    truth = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
    found = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
    assert "given" not in str(germane.boxes.spread(truth, found, "AP50", box_format="xyxy"))
    spread = germane.boxes.spread(truth, found, "AP50", overlap="iou+1", depth=None)
    assert spread.given == ("overlap=iou+1", "depth=none")
    assert "given, in every dialect: overlap=iou+1, depth=none" in str(spread)


# --- Sets without truths or detections, as torchmetrics 1.9.0 evaluates them ------------------------

BOX = [10, 10, 50, 50]
NOTHING: Data = {"boxes": [], "labels": []}
ONE: Data = {"boxes": [BOX], "labels": [0]}
Scored = list[tuple[int, float]]  # class and score of detections of that box in an image
EMPTY: dict[str, tuple[list[Data], list[Scored], float, float, list[float]]] = {
    # truths, detections; map, mar_100, map_per_class
    "no images": ([], [], -1, -1, []),
    "nothing in an image": ([NOTHING], [[]], -1, -1, []),
    "no truths": ([NOTHING], [[(0, 0.9)]], -1, -1, [-1]),
    "no detections": ([ONE], [[]], 0, 0, [0]),
    "a class without truths": ([ONE], [[(0, 0.9), (1, 0.8)]], 1, 1, [1, -1]),
    "a class without truths alone": ([ONE], [[(1, 0.8)]], 0, 0, [0, -1]),
    "an image without truths": ([ONE, NOTHING], [[(0, 0.9)], [(0, 0.95)]], 0.5, 1, [0.5]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_sets_without_truths_have_no_value(name: str) -> None:
    truth, scored, precision, recall, classes = EMPTY[name]
    found = [
        {"boxes": [BOX] * len(rows), "labels": [label for label, _ in rows], "scores": [score for _, score in rows]}
        for rows in scored
    ]  # fmt: skip
    result = germane.boxes.evaluate(truth, found, dialect="torchmetrics")
    values = {
        "map": precision,
        "map_50": precision,
        "map_75": precision,
        "map_small": -1,
        "map_medium": precision,
    }
    values |= {"map_large": -1, "mar_1": recall, "mar_100": recall, "mar_small": -1, "mar_medium": recall}  # fmt: skip
    for measure, recorded in values.items():
        assert agree(float(result[measure]), recorded, 1e-12), measure
    per_class = [*result["map"].per_class.values()]
    assert per_class == [value for value in classes if value >= 0]  # germane lists those of truths
