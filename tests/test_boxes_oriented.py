"""Oriented boxes: their overlap against arithmetic and other tools, and what must not change it."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import germane
from boxes_sets import make_boxes
from oriented_sets import list_corners, list_pairs, make_oriented, measure_overlap

DATA = Path(__file__).with_name("data").joinpath("oriented.json")
SETS = json.loads(DATA.read_text("utf-8"))["sets"]
Row = dict[str, Any]


@pytest.fixture
def _shapely() -> None:
    pytest.importorskip("shapely")


needs_shapely = pytest.mark.usefixtures("_shapely")


def overlap_of(
    first: list[float], second: list[float], overlap: str = "oriented", **options: Any
) -> float:
    """The overlap of a detection and a truth, 0 if they share nothing."""
    truth = [{"boxes": [second], "labels": [1]}]
    found = [{"boxes": [first], "labels": [1], "scores": [0.5]}]
    options = {"overlap": overlap, "iou": 1e-9, **options}
    row = germane.boxes.explain(truth, found, "AP(iou=.01)", image=0, **options).rows[0]
    return float(row.overlap or 0)


# --- Arithmetic -----------------------------------------------------------------------------------

ROOT = math.sqrt(2)


@needs_shapely
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # a square and itself turned by 45°: a regular octagon of the area 2(√2 − 1) is shared
        ([5, 5, 1, 1, 0], [5, 5, 1, 1, 45], 2 * (ROOT - 1) / (2 - 2 * (ROOT - 1))),
        ([5, 5, 1, 1, 45], [5, 5, 1, 1, 90], 1 / ROOT),
        ([5, 5, 4, 2, 0], [5, 5, 4, 2, 90], 4 / (8 + 8 - 4)),
        ([5, 5, 4, 2, 0], [5, 5, 2, 4, 90], 1.0),
        ([5, 5, 4, 2, 30], [5, 5, 4, 2, 30 + 360 * 10_000], 1.0),
        ([5, 5, 4, 2, 30], [5, 5, 4, 2, -150], 1.0),
        ([50, 50, 4, 2, 0], [5, 5, 4, 2, 0], 0.0),
        # a diamond inside a square that it touches
        ([5, 5, 2, 2, 0], [5, 5, ROOT, ROOT, 45], 1 / 2),
        ([0, 0, 4, 0, 4, 2, 0, 2], [2, 1, 4, 2, 0], 1.0),
        ([0, 0, 4, 0, 4, 2, 0, 2], [4, 1, 4, 2, 0], 1 / 3),
        # y goes down in an image, so that a positive angle turns the right end downwards
        ([5, 5, 4, 0.5, 45], [6, 6, 0.2, 0.2, 0], 0.04 / 2),
        ([5, 5, 4, 0.5, 45], [6, 4, 0.2, 0.2, 0], 0.0),
        # no area
        ([5, 5, 0, 2, 30], [5, 5, 4, 2, 30], 0.0),
        ([5, 5, 0, 0, 30], [5, 5, 0, 0, 30], 0.0),
    ],
)  # fmt: skip
def test_overlaps_are_arithmetic(first: list[float], second: list[float], expected: float) -> None:
    for a, b in ((first, second), (second, first)):
        assert overlap_of(a, b) == pytest.approx(expected, abs=1e-9)
        assert overlap_of(a, b, "rectangle") == pytest.approx(expected, abs=1e-9)


@needs_shapely
def test_angles_are_degrees_radians_or_counterclockwise() -> None:
    box, point = [5, 5, 4, 0.5, 45], [6, 6, 0.2, 0.2, 0]
    radians = [*box[:4], math.pi / 4]
    assert overlap_of(radians, point, angles="radians") == pytest.approx(0.02)
    assert overlap_of([*box[:4], -45], point, angles="counterclockwise") == pytest.approx(0.02)
    options = {"angles": {"detections": "radians"}}
    assert overlap_of(radians, [*box[:4], 45], **options) == pytest.approx(1)


@needs_shapely
def test_a_crowd_is_overlapped_by_the_share_of_the_detection() -> None:
    truth = [{"boxes": [[5, 5, 4, 2, 0]], "labels": [1], "iscrowd": [1]}]
    found = [{"boxes": [[5, 5, 1, 1, 45]], "labels": [1], "scores": [0.5]}]
    note = "x, y, width, height: the upright box around the corners of each"
    assert note in str(germane.boxes.explain(truth, found, overlap="oriented"))
    explained = germane.boxes.explain(truth, found, image=0, overlap="oriented")
    assert explained.rows[0].overlap == pytest.approx(1)


def test_similar_boxes_are_compared_as_distributions() -> None:
    """Two squares of one size: t1 = d² ÷ (8·s²/12), and the rest is 0 but for Ultralytics' 1e-7."""
    side, apart = 6.0, 2.0
    distance = apart**2 / (8 * side**2 / 12)
    expected = 1 - math.sqrt(1 - math.exp(-distance))
    for turn in (0, 17, 90):  # a square is the same however it is turned
        got = overlap_of([5, 5, side, side, turn], [5 + apart, 5, side, side, 0], "probiou")
        assert got == pytest.approx(expected, abs=1e-6)
    # the same box is not 1, for the 1e-7 under the root
    assert overlap_of([5, 5, 6, 2, 30], [5, 5, 6, 2, 30], "probiou") == pytest.approx(
        1 - math.sqrt(2e-7), abs=1e-4
    )


# --- Laws -----------------------------------------------------------------------------------------


def evaluate(
    truth: Row, found: list[Row], measures: str = "AP AP50 AP75", **options: Any
) -> dict[str, float]:
    return germane.boxes.evaluate(truth, found, measures, **options).flat()


def change(rows: list[Row], function: Any) -> list[Row]:
    return [{**row, "bbox": function(row["bbox"])} for row in rows]


def change_both(truth: Row, found: list[Row], function: Any) -> tuple[Row, list[Row]]:
    return {**truth, "annotations": change(truth["annotations"], function)}, change(found, function)


def turn_corners(degrees: float) -> Any:
    """Turn corners around a point far from most boxes."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def turn(box: list[float]) -> list[float]:
        x, y = np.reshape(list_corners(box), (4, 2)).T - 100
        turned = np.column_stack((x * cos - y * sin, x * sin + y * cos)) + 100
        return list(map(float, turned.ravel()))

    return turn


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [(0, 30), (30, 0), (0, 0), (1e-9, 200)], ids=str)
def test_a_box_without_an_area_is_like_itself(size: tuple[float, float]) -> None:
    for turn in range(0, 360, 7):
        box = [100 / 3, 100 / 7, *size, turn]
        assert overlap_of(box, box, "probiou") == pytest.approx(1 - (2e-7) ** 0.5, abs=3e-5), turn
        assert overlap_of(box, [400, 400, 20, 30, turn], "probiou") == 0


@pytest.mark.parametrize("overlap", ["oriented", "rectangle", "probiou"])
@pytest.mark.parametrize(
    "name", ["turned", "reversed", "rolled", "sides", "a whole turn", "corners"]
)
def test_what_changes_nothing(name: str, overlap: str) -> None:
    if overlap != "probiou":
        pytest.importorskip("shapely")
    truth, found = make_oriented(3, "floats, many truths")
    functions = {
        "turned": turn_corners(33.3),
        "reversed": lambda box: list(np.reshape(list_corners(box), (4, 2))[::-1].ravel()),
        "rolled": lambda box: list(np.roll(list_corners(box), 2)),
        "sides": lambda box: [*box[:2], box[3], box[2], box[4] + 90],
        "a whole turn": lambda box: [*box[:4], box[4] + 360],
        "corners": list_corners,
    }
    options: Row = {"overlap": overlap, "areas": {"all": (0, 1e10)}}
    before = evaluate(truth, found, **options)
    after = evaluate(*change_both(truth, found, functions[name]), **options)
    assert before == pytest.approx(after, abs=1e-9)
    assert 0 < before["AP"] < 1


@needs_shapely
@pytest.mark.parametrize(
    "traits", ["", "floats, crowds, deep", "own areas, difficult, missed class", "no size"]
)
def test_boxes_without_an_angle_are_those_of_iou(traits: str) -> None:
    for seed in (1, 2):
        truth, found = make_boxes(seed, traits)
        wanted = germane.boxes.evaluate(truth, found).flat()
        assert germane.boxes.evaluate(truth, found, overlap="oriented").flat() == pytest.approx(
            wanted, nan_ok=True
        )
        # with an angle of 0, areas are those that the annotations have
        as_five = lambda box: [box[0] + box[2] / 2, box[1] + box[3] / 2, *box[2:], 0.0]  # noqa: E731
        truth, found = change_both(truth, found, as_five)
        got = germane.boxes.evaluate(truth, found, overlap="oriented").flat()
        assert got == pytest.approx(wanted, nan_ok=True)


@needs_shapely
def test_overlaps_are_those_of_cutting_one_box_by_the_other() -> None:
    truth, found = make_oriented(8, "floats")
    known = {row["id"]: row for row in truth["annotations"]}
    explained = [
        germane.boxes.explain(truth, found, "AP(iou=.01)", image=image["id"], overlap="oriented")
        for image in truth["images"]
    ]
    pairs = [row for one in explained for row in one.rows if row.truth is not None and row.overlap]
    assert len(pairs) > 30
    detected = {(row["image_id"], row["score"]): row for row in found}
    for row in pairs:
        first = list_corners(detected[row.image, row.score]["bbox"])
        second = list_corners(known[row.truth]["bbox"])
        assert row.overlap == pytest.approx(measure_overlap(first, second), abs=1e-9)


# --- Other tools ----------------------------------------------------------------------------------


def agree(value: float, recorded: Any, digits: float) -> bool:
    if recorded in ("NaN", -1):
        return value != value
    return abs(value - recorded) <= digits


def number(rows: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in rows.items() if not isinstance(value, str)}


def compare_dota(
    truth: Row, found: list[Row], answer: Row
) -> Iterator[tuple[dict[str, float], Row, float]]:
    for year, dialect in (("2007", "dota"), ("2012", "dota-voc2012")):
        result = germane.boxes.evaluate(truth, found, dialect=dialect)
        known = result["mAP"].per_class  # of a class without truths the devkit has NaN, or fails
        wanted = {name: value for name, value in number(answer[year]).items() if name in known}
        assert len(wanted) >= 3
        yield known, wanted, 1e-9


def compare_ultralytics(
    truth: Row, found: list[Row], answer: Row
) -> Iterator[tuple[dict[str, float], Row, float]]:
    names = "P R mAP50 mAP75 mAP50-95"
    result = germane.boxes.evaluate(truth, found, names, dialect="ultralytics-obb")
    yield result.flat(), {name: answer[name] for name in names.split()}, 1e-9
    yield result["mAP50-95"].per_class, answer["ap"], 1e-9


def compare_mmrotate(
    truth: Row, found: list[Row], answer: Row
) -> Iterator[tuple[dict[str, float], Row, float]]:
    result = germane.boxes.evaluate(truth, found, "mAP area", dialect="mmrotate")
    for name, recorded in (("mAP", "11points"), ("area", "area")):
        yield {"all": result[name].mean}, {"all": answer[recorded]["mAP"]}, 1e-6
    names = list(answer["coco"])
    coco = germane.boxes.evaluate(truth, found, names, dialect="mmrotate-coco")
    yield coco.flat(), answer["coco"], 1e-9


COMPARE = {
    "DOTA_devkit": compare_dota,
    "ultralytics": compare_ultralytics,
    "mmrotate": compare_mmrotate,
}


@pytest.mark.parametrize("tool", COMPARE)
@pytest.mark.parametrize("name", SETS)
def test_recorded_answers(name: str, tool: str) -> None:
    if tool != "ultralytics":
        pytest.importorskip("shapely")
    held = SETS[name]
    truth, found = make_oriented(held["seed"], held["traits"], corners=held["corners"])
    for got, wanted, digits in COMPARE[tool](*number_images(truth, found), held["answers"][tool]):
        off = {
            one: (got.get(one), wanted[one])
            for one in wanted
            if not agree(got[one], wanted[one], digits)
        }
        assert not off


@pytest.mark.parametrize("tool", ["DOTA_devkit", "ultralytics"])
def test_recorded_overlaps(tool: str) -> None:
    """Overlaps of single pairs: polyiou of the devkit, and batch_probiou in single precision."""
    if tool != "ultralytics":
        pytest.importorskip("shapely")
    overlap = {"DOTA_devkit": "oriented", "ultralytics": "probiou"}[tool]
    for name in ("floats", "corners"):
        held = SETS[name]
        pairs = list_pairs(*make_oriented(held["seed"], held["traits"], corners=held["corners"]))
        recorded = held["answers"][tool]["overlaps"]
        assert len(pairs) == len(recorded) == 40
        for (row, known), wanted in zip(pairs[::4], recorded[::4], strict=True):
            if wanted < 0.05:
                continue  # of such pairs explain gives none
            got = overlap_of(row["bbox"], known["bbox"], overlap)
            assert got == pytest.approx(wanted, abs=1e-9 if tool == "DOTA_devkit" else 2e-5)


def number_images(truth: Row, found: list[Row]) -> tuple[Row, list[Row]]:
    """Number the images as they come, which is the order in which tools were given them."""
    place = {image["id"]: position for position, image in enumerate(truth["images"])}
    rows = [
        [{**row, "image_id": place[row["image_id"]]} for row in several]
        for several in (truth["annotations"], found)
    ]
    images = [{**image, "id": place[image["id"]]} for image in truth["images"]]
    return {**truth, "images": images, "annotations": rows[0]}, rows[1]


# --- Files ----------------------------------------------------------------------------------------


def write_dota(folder: Path, truth: Row, found: list[Row]) -> tuple[Path, Path]:
    """Write labels and results of task 1 as DOTA has them."""
    labels, results = folder / "labelTxt", folder / "results"
    labels.mkdir(parents=True)
    results.mkdir()
    for image in truth["images"]:
        rows = [row for row in truth["annotations"] if row["image_id"] == image["id"]]
        lines = [
            " ".join(map(str, (*row["bbox"], f"c-{row['category_id']}", row["difficult"])))
            for row in rows
        ]
        head = ["imagesource:GoogleEarth", "gsd:0.1"]
        (labels / f"P{image['id']}.txt").write_text("\n".join([*head, *lines]) + "\n")
    for label in {row["category_id"] for row in found}:
        rows = [row for row in found if row["category_id"] == label]
        lines = [
            " ".join(map(str, (f"P{row['image_id']}", row["score"], *row["bbox"]))) for row in rows
        ]
        (results / f"Task1_c-{label}.txt").write_text("\n".join(lines) + "\n")
    return labels, results


def test_files_of_dota(tmp_path: Path) -> None:
    """Labels and results are what the same JSON is; without an angle, the boxes around the corners."""
    held = SETS["corners, difficult"]
    truth, found = make_oriented(held["seed"], held["traits"], corners=held["corners"])
    labels, results = write_dota(tmp_path, truth, found)
    around = {**truth, "annotations": change(truth["annotations"], surround)}
    boxed = change(found, surround)
    for options, data in (
        ({"overlap": "probiou"}, (truth, found)),
        ({"dialect": "voc2007"}, (around, boxed)),
        ({}, (around, boxed)),
    ):
        wanted = germane.boxes.evaluate(*data, **options).flat()
        for given in (labels, tmp_path):
            got = germane.boxes.evaluate(given, results, **options)
            assert got.flat() == pytest.approx(wanted, nan_ok=True)
    assert got.truths.difficult.sum() == sum(row["difficult"] for row in truth["annotations"]) > 0


def surround(box: list[float]) -> list[float]:
    x, y = box[::2], box[1::2]
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)]


@pytest.mark.parametrize(
    ("line", "result", "says"),
    [
        ("0 0 4 0 4 2 0 2 plane 0", "P1 .5 0 0 4 0 4 2 0", "9 fields where a result has 10"),
        ("0 0 4 0 4 2 0 2 plane 0 1", "P1 .5 0 0 4 0 4 2 0 2", "11 fields where a label has 10"),
        ("0 0 4 0 4 2 0 nan plane", "P1 .5 0 0 4 0 4 2 0 2", "'nan' is no number"),
        ("0 0 4 2 4 0 0 2 plane 0", "P1 .5 0 0 4 0 4 2 0 2", "P1.txt:1: two sides of the box cross"),
        ("0 0 4 0 4 2 0 2 plane 0", "P2 .5 0 0 4 0 4 2 0 2", "there is no image 'P2'"),
    ],
)  # fmt: skip
def test_lines_of_dota_that_cannot_be_read(
    line: str, result: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "labelTxt").mkdir()
    (tmp_path / "labelTxt" / "P1.txt").write_text(f"{line}\n")
    (tmp_path / "Task1_plane.txt").write_text(f"{result}\n")
    with pytest.raises(germane.GermaneError, match=says):
        germane.boxes.evaluate(
            tmp_path / "labelTxt", tmp_path / "Task1_plane.txt", overlap="probiou"
        )


def test_corners_of_yolo_are_shares_of_the_image(tmp_path: Path) -> None:
    """They are what the same corners in pixels are."""
    truth, found = make_oriented(27, "floats, many truths", corners="moved")
    for name, rows in (("t", truth["annotations"]), ("d", found)):
        (tmp_path / name).mkdir()
        for image in truth["images"]:
            lines = [
                " ".join(map(repr, (row["category_id"], *(np.reshape(row["bbox"], (4, 2)) / (640, 480)).ravel().tolist())))
                + (f" {row['score']}" if name == "d" else "")
                for row in rows
                if row["image_id"] == image["id"]
            ]  # fmt: skip
            (tmp_path / name / f"{image['id']}.txt").write_text("\n".join(lines))
    sizes = {str(image["id"]): (640, 480) for image in truth["images"]}
    for overlap in ("probiou", "iou"):
        data = (truth, found)
        if overlap == "iou":
            data = (
                {**truth, "annotations": change(truth["annotations"], surround)},
                change(found, surround),
            )
        wanted = germane.boxes.evaluate(*data, "AP AP75", overlap=overlap).flat()
        got = germane.boxes.evaluate(
            tmp_path / "t", tmp_path / "d", "AP AP75", overlap=overlap, images=sizes
        )
        assert got.flat() == pytest.approx(wanted, abs=1e-9)


def test_objects_of_tools_have_corners() -> None:
    corners = np.reshape(list_corners([50, 50, 40, 20, 30]), (1, 4, 2))
    truth = [{"boxes": [[50, 50, 40, 20, 30]], "labels": [0]}]
    obb = SimpleNamespace(xyxyxyxy=corners, xyxy=np.zeros((1, 4)), cls=np.zeros(1), conf=np.ones(1))
    ultralytics = SimpleNamespace(boxes=None, obb=obb, names={0: "ship"})
    supervision = SimpleNamespace(
        xyxy=np.zeros((1, 4)),
        class_id=np.zeros(1),
        confidence=np.ones(1),
        data={"xyxyxyxy": corners},
    )
    for found in (ultralytics, supervision, {"boxes": corners, "labels": [0], "scores": [1]}):
        options: Row = {"overlap": "probiou", "class_names": ["ship"]}
        assert germane.boxes.evaluate(truth, [found], "AP95", **options).flat() == {"AP95": 1.0}


# --- Columns --------------------------------------------------------------------------------------

ANGLES = {"cx": [50, 20], "cy": [50, 20], "w": [40, 10], "h": [20, 30], "angle": [30.0, -40.0]}
Cells = dict[str, list[Any]]


def make_tables(form: str, names: dict[str, str] | None = None) -> tuple[Cells, Cells]:
    """Columns of two truths and two detections, with angles or with corners from 0 or from 1."""
    tables = []
    for turn in (0, 5):
        cells: Cells = {**ANGLES, "angle": [angle + turn for angle in ANGLES["angle"]]}
        if form != "angle":
            rows = [list_corners(list(box)) for box in zip(*cells.values(), strict=True)]
            ends = [f"{axis}{end + int(form)}" for end in range(4) for axis in "xy"]
            cells = {end: [row[i] for row in rows] for i, end in enumerate(ends)}
        cells = {(names or {}).get(name, name): column for name, column in cells.items()}
        tables.append({"image": ["a", "b"], "class": ["x", "x"], **cells})
    return tables[0], {**tables[1], "score": [0.9, 0.8]}


def write_csv(path: Path, cells: Cells) -> str:
    lines = [cells, *zip(*cells.values(), strict=True)]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines), "utf-8")
    return str(path)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "csv"])
@pytest.mark.parametrize(
    ("form", "names", "columns"),
    [
        ("angle", {}, {}),
        ("angle", {"w": "width", "h": "height", "angle": "rotation_deg"}, {}),
        ("angle", {"angle": "r", "cx": "x_center", "cy": "y_center"}, {}),
        ("angle", {"cx": "x", "cy": "y"}, {"cx": "x", "cy": "y"}),
        ("angle", {"angle": "turned"}, {"angle": "turned"}),
        ("1", {}, {}),
        ("0", {}, {}),
        ("1", {"x3": "third"}, {"x3": "third"}),
    ],
)
def test_columns_of_oriented_boxes(
    kind: str, form: str, names: dict[str, str], columns: dict[str, str], tmp_path: Path
) -> None:
    truth, found = [
        [{"boxes": [box], "labels": ["x"], "scores": [score]}
        for box, score in zip(zip(*cells.values(), strict=True), (0.9, 0.8), strict=True)]
        for cells in (ANGLES, {**ANGLES, "angle": [35.0, -35.0]})
    ]  # fmt: skip
    wanted = germane.boxes.evaluate(truth, found, "AP AP95", overlap="probiou").flat()
    sides: Any = make_tables(form, names)
    if kind in ("pandas", "polars"):
        sides = map(pytest.importorskip(kind).DataFrame, sides)
    if kind == "csv":
        sides = (write_csv(tmp_path / f"{name}.csv", cells) for name, cells in enumerate(sides))
    result = germane.boxes.evaluate(*sides, "AP AP95", overlap="probiou", columns=columns)
    assert result.flat() == pytest.approx(wanted, abs=1e-9)
    assert 0 < wanted["AP"] < 1


BOTH = tuple(a | b for a, b in zip(make_tables("angle"), make_tables("1"), strict=True))
IN_RADIANS = make_tables("angle", {"angle": "theta_rad"})
UPRIGHT = {"angle": None}


@pytest.mark.parametrize(
    ("tables", "options", "says", "advice"),
    [
        (make_tables("angle"), {"overlap": "iou"}, "boxes have an angle (cx, cy, w, h, angle)", [{"overlap": "oriented"}, {"overlap": "iou", "columns": UPRIGHT}]),
        (make_tables("1"), {"overlap": "iou"}, "boxes have four corners (x1, y1, x2, y2", [{"overlap": "oriented"}]),
        (make_tables("0"), {"overlap": "iou"}, "boxes have four corners (x0, y0, x1, y1", [{"overlap": "oriented"}]),
        (BOTH, {}, "an angle ('angle') and four corners ('x1', …, 'y4')", [{"columns": UPRIGHT}, {"columns": {"x3": None}}]),
        (make_tables("angle", {"cx": "x", "cy": "y"}), {}, "turns a box around its center", [{"columns": {"cx": "x", "cy": "y"}}, {"columns": UPRIGHT}]),
        (IN_RADIANS, {}, "'theta_rad' has radians by its name", [{"angles": "radians"}, {"angles": {"truth": "radians", "detections": "radians"}}]),
        (make_tables("angle", {"angle": "theta_deg"}), {"angles": "radians"}, "has degrees by its name", [{"angles": "degrees"}]),
        (make_tables("angle", {"angle": "box_angle"}), {}, "is 'box_angle' the angle", [{"columns": {side: {"angle": name} for side in ("truth", "detections")}} for name in ("box_angle", None)]),
        (make_tables("1", {"y4": "last"}), {}, "no column is y4", [{"columns": {"y4": "last"}}]),
        (make_tables("angle", {"w": "theta", "h": "width", "cx": "height"}), {}, "more than one column can be the angle: 'theta', 'angle'", []),
        (({**make_tables("angle")[0], "h": [1]}, make_tables("angle")[1]), {}, "different lengths: image 2, class 2, cx 2, cy 2, w 2, h 1", []),
        (({**make_tables("angle")[0], "h": [1, "wide"]}, make_tables("angle")[1]), {}, "column 'h', row 1: the values of a column must have one type", []),
        (({**make_tables("angle")[0], "angle": [1, None]}, make_tables("angle")[1]), {}, "row 1: an oriented box is 5 or 8 finite numbers", []),
    ],
)  # fmt: skip
@needs_shapely
def test_columns_that_are_refused_and_their_advice(
    tables: tuple[Cells, Cells], options: Row, says: str, advice: list[Row]
) -> None:
    usual: Row = {"overlap": "probiou", **options}
    with pytest.raises(germane.GermaneError) as error:
        germane.boxes.evaluate(*tables, "AP50", **usual)
    assert says in str(error.value)
    for changed in advice:
        name, choice = list(changed.items())[-1]
        if isinstance(choice, dict) and "truth" in choice:
            choice = {"truth": choice["truth"]}  # the side that is read first
        assert f"{name}={choice}".replace("'last'", "name") in str(error.value)
        germane.boxes.evaluate(*tables, "AP50", **{**usual, **changed})


@pytest.mark.filterwarnings("ignore")
def test_columns_of_other_things_are_not_angles() -> None:
    """A rectangle's number is no angle, and upright boxes may have an angle that is not read."""
    upright = {name: cells for name, cells in make_tables("angle")[0].items() if name != "angle"}
    sides = upright | {"rectangle_id": [1, 2]}, upright | {"score": [1, 1], "rotation_y": [0, 1]}
    assert germane.boxes.evaluate(*sides, "AP", columns={"image": "image"})["AP"].mean == 1
    sides = sides[0], upright | {"score": [1, 1]}
    assert germane.boxes.evaluate(*sides, "AP", overlap="probiou")["AP"].mean == 1


@pytest.mark.parametrize(
    ("boxes", "options", "says"),
    [
        ([[5, 5, 4, 2, math.nan]], {}, "5 or 8 finite numbers"),
        ([[5, 5, -4, 2, 0]], {}, "negative size"),
        ([[5, 5, 4, 2, 0, 1]], {}, "boxes have 4 numbers each"),
        ([[0, 0, 4, 2, 4, 0, 0, 2]], {}, "two sides of the box cross"),
        ([[0.5, 0.5, 0.4, 0.2, 30]], {"coordinates": "relative", "images": {0: (640, 480)}}, "a box with an angle is in pixels"),
        ([[5, 5, 4, 2, 30]], {"overlap": "iou"}, "overlap=oriented evaluates boxes with an angle"),
        ([[0, 0, 4, 0, 4, 2, 0, 2]], {"overlap": "iou"}, "overlap=oriented evaluates boxes with four corners"),
        ([[5, 5, 4, 2, 30]], {"angles": "degree"}, "Did you mean 'degrees'"),
    ],
)  # fmt: skip
def test_what_is_refused(boxes: Any, options: Row, says: str) -> None:
    truth = [{"boxes": boxes, "labels": [1]}]
    found = [{"boxes": boxes, "labels": [1], "scores": [0.5]}]
    with pytest.raises(germane.GermaneError, match=says):
        germane.boxes.evaluate(truth, found, "AP", **{"overlap": "probiou", **options})


def test_angles_that_look_like_radians_are_found() -> None:
    truth, found = make_oriented(4, "floats")
    radians = lambda box: [*box[:4], math.remainder(math.radians(box[4]), 2 * math.pi)]  # noqa: E731
    truth, found = change_both(truth, found, radians)
    with pytest.warns(germane.GermaneWarning, match=r"angles=radians reads them"):
        germane.boxes.evaluate(truth, found, "AP", overlap="probiou")
    result = germane.boxes.evaluate(truth, found, "AP", overlap="probiou", angles="radians")
    wanted = germane.boxes.evaluate(*make_oriented(4, "floats"), "AP", overlap="probiou")
    assert not result.findings
    assert result["AP"].mean == pytest.approx(wanted["AP"].mean, abs=1e-9)


def test_pictures_draw_boxes_as_they_are_turned() -> None:
    """In an image of 100 pixels that is drawn 400 wide, at (16, 40)."""
    truth = [{"boxes": [[50, 50, 40, 20, 90]], "labels": [1]}]
    found = [{"boxes": [[50, 50, 40, 20, 45]], "labels": [1], "scores": [0.5]}]
    options: Row = {"image": 0, "images": {0: (100, 100)}}
    said = germane.boxes.explain(truth, found, "AP50", overlap="probiou", **options)
    (left, right), (top, bottom) = (60, 40), (30, 70)  # from the first corner on
    corners = ((left, top), (left, bottom), (right, bottom), (right, top))
    drawn = "L".join(f"{16 + 4 * x:.1f} {40 + 4 * y:.1f}" for x, y in corners)
    assert f'class="box found" d="M{drawn}Z"' in said.svg()
    assert np.allclose(said.truths[0].corners, corners)
    far, near = 30 / ROOT, 10 / ROOT  # (20 + 10) / √2 and (20 - 10) / √2
    ends = [(-far, -near), (-near, -far), (near, far), (far, near)]
    assert np.allclose(sorted(said.rows[0].corners), np.add(ends, 50))
    assert "corners" in said.to_dict()["detections"][0]
    for label in re.findall(r'class="tag [^"]*" x="([\d.]+)" y="([\d.]+)"', said.svg())[:2]:
        assert min(math.dist(map(float, label), (16 + 4 * x, 40 + 4 * y)) for x, y in corners) < 60


def test_the_extra_is_named_where_it_is_missing() -> None:
    """In a process of its own, which has no shapely."""
    program = """
import sys
sys.modules["shapely"] = None
import germane
boxes = [{"boxes": [[5, 5, 4, 2, 30]], "labels": [1], "scores": [1]}]
assert germane.boxes.evaluate(boxes, boxes, "AP", overlap="probiou").flat() == {"AP": 1.0}
germane.boxes.evaluate(boxes, boxes, "AP", overlap="oriented")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "pip install 'germane[oriented]'" in run.stderr
    assert "overlap=probiou" in run.stderr
