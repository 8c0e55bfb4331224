"""The same small set through every source of boxes, and every source's bad input."""

import contextlib
import gzip
import json
import random
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import germane
from check_boxes_examples import change

WIDTH, HEIGHT = 512, 256  # powers of two, so that shares of them are exact
NAMES = ["cat", "traffic light", "dog"]
IMAGES = [f"img{i}" for i in range(6)]
Row = dict[str, Any]


def draw_rows() -> tuple[list[Row], list[Row]]:
    """Truths in 5 of 6 images, with crowds, and detections of them and of nothing."""
    rng = random.Random(5)
    truths, found = [], []
    for image in range(6):
        for _ in range(rng.randrange(1, 5) if image != 3 else 0):
            x, y = rng.randrange(300), rng.randrange(100)
            w, h = rng.choice((8, 20, 40, 100)), rng.choice((8, 33, 90))
            label = rng.randrange(3)
            truths.append({"image": image, "label": label, "box": (x, y, w, h)})
            for _ in range(rng.randrange(3)):
                moved = x + rng.randrange(4), y, max(w - rng.randrange(4), 1), h
                other = label if rng.random() < 0.8 else rng.randrange(3)
                found.append({"image": image, "label": other, "box": moved})
        found.append({"image": image, "label": 0, "box": (image, 5, 30, 30)})
    for n, row in enumerate(found):
        row["score"] = rng.randrange(1, 64) / 64 + n / 65536
    return truths, found


TRUTHS, FOUND = draw_rows()


def make_coco(first_class: int = 0) -> tuple[dict[str, Any], list[Row]]:
    truth = {
        "images": [
            {"id": i, "file_name": f"{name}.jpg", "width": WIDTH, "height": HEIGHT}
            for i, name in enumerate(IMAGES)
        ],
        "categories": [{"id": i + first_class, "name": name} for i, name in enumerate(NAMES)],
        "annotations": [
            {
                "id": n,
                "image_id": row["image"],
                "category_id": row["label"] + first_class,
                "bbox": list(row["box"]),
            }
            for n, row in enumerate(TRUTHS, 1)
        ],
    }
    found = [
        {
            "image_id": row["image"],
            "category_id": row["label"] + first_class,
            "bbox": list(row["box"]),
            "score": row["score"],
        }
        for row in FOUND
    ]
    return truth, found


def to_corners(box: Any) -> tuple[Any, ...]:
    x, y, w, h = box
    return x, y, x + w, y + h


def to_shares(box: Any) -> tuple[float, ...]:
    x, y, w, h = box
    return (x + w / 2) / WIDTH, (y + h / 2) / HEIGHT, w / WIDTH, h / HEIGHT


def write_picture(path: Path, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    """A PNG or JPEG with a header and no more."""
    if path.suffix == ".png":
        head = b"IHDR" + struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)
        data = (
            b"\x89PNG\r\n\x1a\n"
            + struct.pack(">I", 13)
            + head
            + struct.pack(">I", zlib.crc32(head))
        )
    else:  # with a comment, fill bytes and a table before the frame
        data = (
            b"\xff\xd8\xff\xfe"
            + struct.pack(">H", 12)
            + b"a comment!"
            + b"\xff\xff\xc4\x00\x07abcde"
        )
        data += (
            b"\xff\xc2"
            + struct.pack(">HBHHB", 11, 8, size[1], size[0], 1)
            + b"\x01\x11\x00\xff\xd9"
        )
    path.write_bytes(data)


def write_voc(folder: Path) -> Path:
    inside = folder / "VOC2007" / "Annotations"
    inside.mkdir(parents=True)
    for i, image in enumerate(IMAGES):
        objects = "".join(
            f"<object><name>{NAMES[row['label']]}</name><difficult>0</difficult><bndbox>"
            + "".join(
                f"<{side}>{number}</{side}>"
                for side, number in zip(
                    ("xmin", "ymin", "xmax", "ymax"), to_corners(row["box"]), strict=True
                )
            )
            + "</bndbox><part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object>"
            for row in TRUTHS
            if row["image"] == i
        )
        size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height></size>"
        (inside / f"{image}.xml").write_text(f"<annotation>{size}{objects}</annotation>")
    chosen = folder / "VOC2007" / "ImageSets" / "Main"
    chosen.mkdir(parents=True)
    (chosen / "test.txt").write_text("\n".join(IMAGES))
    (chosen / "one.txt").write_text(IMAGES[0])
    return folder / "VOC2007"


def write_voc_results(folder: Path) -> Path:
    (folder / "results").mkdir()
    for k, name in enumerate(NAMES):
        lines = [
            " ".join(map(str, (IMAGES[row["image"]], row["score"], *to_corners(row["box"]))))
            for row in FOUND
            if row["label"] == k
        ]
        (folder / "results" / f"comp4_det_test_{name}.txt").write_text("\n".join(lines))
    return folder / "results"


def write_labels(folder: Path, rows: list[Row], write: Callable[[Row], str]) -> Path:
    folder.mkdir(parents=True)
    for i, image in enumerate(IMAGES):
        (folder / f"{image}.txt").write_text(
            "\n".join(write(row) for row in rows if row["image"] == i)
        )
    return folder


def write_yolo(folder: Path) -> tuple[Path, Path]:
    truth = write_labels(
        folder / "data" / "labels" / "val", TRUTHS,
        lambda row: " ".join(map(repr, (row["label"], *to_shares(row["box"])))),
    )  # fmt: skip
    (folder / "data" / "images" / "val").mkdir(parents=True)
    for i, image in enumerate(IMAGES):
        write_picture(folder / "data" / "images" / "val" / f"{image}{('.png', '.jpg')[i % 2]}")
    (folder / "data" / "data.yaml").write_text(
        "path: .\nnames:\n  0: cat\n  1: 'traffic light'  # red\n  2: dog\nnc: 3\n"
    )
    found = write_labels(
        folder / "found", FOUND,
        lambda row: " ".join(map(repr, (row["label"], *to_shares(row["box"]), row["score"]))),
    )  # fmt: skip
    return truth, found


def write_padilla(folder: Path) -> tuple[Path, Path]:
    truth = write_labels(
        folder / "gt",
        TRUTHS,
        lambda row: " ".join(map(str, (row["label"], *to_corners(row["box"])))),
    )
    found = write_labels(
        folder / "dets", FOUND,
        lambda row: " ".join(map(str, (row["label"], row["score"], *to_corners(row["box"])))),
    )  # fmt: skip
    return truth, found


def make_dicts(rows: list[Row], array: Callable[[Any], Any], **more: Any) -> list[Row]:
    out = []
    for i in range(len(IMAGES)):
        mine = [row for row in rows if row["image"] == i]
        held = {
            "boxes": array(
                np.array([to_corners(row["box"]) for row in mine], np.float32).reshape(-1, 4)
            ),
            "labels": array(np.array([row["label"] for row in mine], np.int64)),
        }
        if "score" in (rows[0] if rows else {}):
            held["scores"] = array(np.array([row["score"] for row in mine]))
        out.append(held | more)
    return out


class Tensor:
    """An array of another library: converted by ``__array__`` after detaching, as torch's."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def detach(self) -> "Tensor":
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array


def make_supervision(rows: list[Row]) -> dict[str, Any]:
    held = make_dicts(rows, np.asarray)
    return {
        f"folder/{image}.jpg": SimpleNamespace(
            xyxy=one["boxes"],
            class_id=one["labels"],
            confidence=one.get("scores"),
            data={"class_name": np.array([NAMES[k] for k in one["labels"]])},
        )
        for image, one in zip(IMAGES, held, strict=True)
    }


def make_columns(
    rows: list[Row], names: tuple[str, ...] = ("x", "y", "width", "height")
) -> dict[str, list[Any]]:
    boxes = [to_corners(row["box"]) if "xmax" in names else row["box"] for row in rows]
    columns: dict[str, list[Any]] = {
        "image": [IMAGES[row["image"]] for row in rows],
        "class": [NAMES[row["label"]] for row in rows],
        **dict(zip(names, map(list, zip(*boxes, strict=True)), strict=True)),
    }
    if "score" in rows[0]:
        columns["score"] = [row["score"] for row in rows]
    return columns


MEASURES = "AP AP50 AP75 AP(area=small) AP(area=medium) AR@1 AR@10 AR(area=small) P@5 F"


def value(truth: Any, found: Any, **options: Any) -> dict[str, float]:
    return germane.boxes.evaluate(truth, found, MEASURES, **options).flat()


EXPECTED = value(*make_coco())


def test_the_set_is_not_trivial() -> None:
    assert len({round(one, 6) for one in EXPECTED.values()}) > 7
    assert 0.1 < EXPECTED["AP"] < 0.9


MANNERS: dict[str, Callable[[list[Row]], str]] = {
    "plain": json.dumps,
    "indented": lambda found: f"\ufeff{json.dumps(found, indent=1)}\n",
    "more keys": lambda found: json.dumps([{"id": 7, "mask": {"size": [9, 9], "counts": "a\\"}, **row} for row in found]),
    "other letters": lambda found: json.dumps([{**row, "name": "été"} for row in found], ensure_ascii=False),
    "numbers with a point": lambda found: json.dumps([{**row, "image_id": float(row["image_id"]), "category_id": float(row["category_id"])} for row in found]),
    "keys in another order": lambda found: json.dumps([dict(reversed(row.items())) for row in found]),
    "escaped": lambda found: json.dumps(found).replace("bbox", "\\u0062box"),
}  # fmt: skip


@pytest.mark.parametrize("manner", MANNERS)
def test_a_file_of_results_is_read_whatever_its_manner(manner: str, tmp_path: Path) -> None:
    truth, found = make_coco()
    path = tmp_path / "found.json"
    path.write_text(MANNERS[manner](found), "utf-8")
    assert value(truth, path) == EXPECTED
    assert value(truth, json.loads(path.read_text("utf-8-sig"))) == EXPECTED


@pytest.mark.parametrize(
    "changed",
    [
        *({"image_id": 2**53 + 1}, {"image_id": 0.5}, {"image_id": True}, {"category_id": -1}),
        *({"score": 2**53 + 1}, {"score": "0.5"}, {"score": None}, {"bbox": [1, 2, 3]}),
        *({"bbox": [1, 2, 3, -4]}, {"score": float("nan")}, {"image_id": [1]}),
    ],
    ids=str,
)
def test_a_file_of_results_is_refused_as_its_values_are(changed: Row, tmp_path: Path) -> None:
    truth, found = make_coco()
    found[3] |= changed
    path = tmp_path / "found.json"
    path.write_text(json.dumps(found))
    messages = []
    for source in (path, found):
        with pytest.raises(germane.GermaneError) as raised:
            value(truth, source)
        messages.append(str(raised.value).partition(": ")[2])  # without the name of the source
    assert messages[0] == messages[1]


def sources(folder: Path) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Truth, detections and options of each source."""
    truth, found = make_coco()
    for name, held in (("truth.json", truth), ("found.json", found)):
        (folder / name).write_text(json.dumps(held))
    with gzip.open(folder / "found.json.gz", "wt") as file:
        json.dump(found, file)
    voc, results = write_voc(folder), write_voc_results(folder)
    yolo, labels = write_yolo(folder)
    gt, dets = write_padilla(folder)
    t, d = make_columns(TRUTHS), make_columns(FOUND)
    corners = ("xmin", "ymin", "xmax", "ymax")
    pandas.DataFrame(t).to_csv(folder / "truth.csv", index=False)
    pandas.DataFrame(make_columns(FOUND, corners)).to_csv(
        folder / "found.tsv", index=False, sep="\t"
    )
    pyarrow.parquet.write_table(pa.table(t), folder / "truth.parquet")
    pyarrow.feather.write_feather(pa.table(d), folder / "found.arrow")
    pandas.DataFrame(d).to_json(folder / "found.jsonl", orient="records", lines=True)
    pandas.DataFrame({"image": IMAGES, "width": WIDTH, "height": HEIGHT}).to_csv(
        folder / "sizes.csv", index=False
    )
    dicts = make_dicts(TRUTHS, Tensor), make_dicts(FOUND, Tensor)
    coco = SimpleNamespace(dataset=truth, anns={}, imgs={}, cats={})
    loaded = SimpleNamespace(
        dataset={"annotations": [{**one, "id": n} for n, one in enumerate(found, 1)]}, anns={1: {}}
    )
    dataset = SimpleNamespace(classes=NAMES, annotations=make_supervision(TRUTHS))
    ultralytics = [
        SimpleNamespace(
            boxes=SimpleNamespace(
                xyxy=one["boxes"], cls=one["labels"].astype(np.float32), conf=one["scores"]
            ),
            names=dict(enumerate(NAMES)),
        )
        for one in make_dicts(FOUND, np.asarray)
    ]
    shares = [
        {**held, "boxes": held["boxes"] / np.array([WIDTH, HEIGHT] * 2, np.float32)}
        for held in make_dicts(FOUND, np.asarray)
    ]
    listed = {"images": IMAGES}
    return {
        "coco": (truth, found, {}),
        "coco files": (folder / "truth.json", str(folder / "found.json.gz"), {}),
        "coco's objects": (coco, loaded, {}),
        "coco, other numbers of classes": (make_coco(7)[0], folder / "found.json", {"class_names": NAMES}),
        "voc": (voc, results, {}),
        "voc annotations": (voc / "Annotations", results, {}),
        "voc image set": (voc / "ImageSets" / "Main" / "test.txt", results, {}),
        "yolo": (yolo, labels, {}),
        "yolo, detections of coco": (
            yolo, [{**one, "image_id": IMAGES[one["image_id"]]} for one in found], {},
        ),
        "coco, labels of yolo": (truth, labels, {}),
        "voc, labels of yolo": (voc, labels, {"class_names": folder / "data" / "data.yaml"}),
        "padilla": (gt, dets, {}),
        "padilla, named": (gt, dets, {"input_format": "padilla", "images": dict.fromkeys(IMAGES)}),
        "dicts": (*dicts, {}),
        "dicts of doubles": (
            make_dicts(TRUTHS, lambda one: one.tolist()), make_dicts(FOUND, lambda one: one.tolist()), {},
        ),
        "dicts by image": (truth, dict(zip(IMAGES, dicts[1], strict=True)), {}),
        "relative dicts": (truth, dict(enumerate(shares)), {"coordinates": {"detections": "relative"}}),
        "supervision": (make_supervision(TRUTHS), make_supervision(FOUND), {}),
        "supervision's data set": (dataset, make_supervision(FOUND), {}),
        "ultralytics": (dicts[0], ultralytics, {"class_names": NAMES}),
        "pandas": (pandas.DataFrame(t), polars.DataFrame(d), listed),
        "arrow": (pa.table(t), pa.table(make_columns(FOUND, corners)), listed),
        "files with columns": (folder / "truth.csv", folder / "found.tsv", {"images": folder / "sizes.csv"}),
        "parquet and arrow": (
            folder / "truth.parquet", folder / "found.arrow",
            {"images": folder / "data" / "images" / "val"},
        ),
        "json lines": (truth, folder / "found.jsonl", {}),
        "named columns": (
            truth, pandas.DataFrame(d).rename(columns={"x": "u", "class": "what"}),
            {"columns": {"x": "u", "class": "what"}},
        ),
    }  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return sources(tmp_path_factory.mktemp("boxes"))


def test_every_source_gives_the_same_numbers(given: dict[str, Any]) -> None:
    """Bit for bit: all coordinates are whole, and images have sizes by which division is exact."""
    for name, (truth, found, options) in given.items():
        assert value(truth, found, **options) == EXPECTED, name


# --- Bad input ---------------------------------------------------------------------------------------

COCO, RESULTS = make_coco()
XML = "<annotation><size><width>9</width><height>9</height></size>\n{}</annotation>"
OBJECT = "<object><name>{}</name><bndbox><xmin>{}</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></object>"
LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><annotation>&b;</annotation>'
OUTSIDE = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><annotation>&a;</annotation>'
HEADER = "image,class,x,y,width,height,score\n"
DICTS = make_dicts(TRUTHS, np.asarray), make_dicts(FOUND, np.asarray)
FRAMES = pandas.DataFrame(make_columns(TRUTHS)), pandas.DataFrame(make_columns(FOUND))


def drop(rows: list[Row], at: int, key: str) -> list[Row]:
    return [{k: v for k, v in row.items() if i != at or k != key} for i, row in enumerate(rows)]


def annotate(rows: list[Row]) -> Row:
    return {**COCO, "annotations": rows}


class Files(dict[str, Any]):
    """Files to be written: text by path. The folder is given, or the only file if it lies in no folder."""


def write_files(given: Any, folder: Path) -> Any:
    if not isinstance(given, Files):
        return given
    for name, text in given.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    first = next(iter(given))
    return folder / (first.split("/")[0] if "/" in first else first)


TRUTH_LINES, FOUND_LINES = {"a/a.txt": "0 .5 .5 .1 .1"}, {"a/a.txt": "0 .5 .5 .1 .1 .9"}
A = {"images": {"a": (9, 9)}}
ANNOTATIONS = COCO["annotations"]
BAD: list[tuple[Any, Any, dict[str, Any], str]] = [
    # COCO's JSON
    (Files({"a.json": '{"images": ['}), RESULTS, {}, "a.json:1, column 13: this is not JSON (Expecting value)."),
    (Files({"a.json": b"\xff\xfe\x00"}), RESULTS, {}, "a.json: the file is UTF-16; save it as UTF-8."),
    (Files({"a.json": ""}), RESULTS, {}, "a.json: the file is empty."),
    (Files({"a.json": "[" * 100_000}), RESULTS, {}, "a.json: the values are nested too deeply."),
    (Files({"a.json": "5"}), RESULTS, {}, "a.json: COCO's annotations are an object with 'annotations'."),
    (COCO, Files({"a.json": '{"a": 1}'}), {}, "a.json: COCO's results are a list of detections; got {'a': 1}"),
    ("nowhere.json", RESULTS, {}, "'nowhere.json': there is no such file or folder."),
    ({"images": []}, RESULTS, {}, "the truth: COCO's annotations have a list of 'categories'; got None"),
    (RESULTS, COCO, {}, "Is it the file of results? Give the truth first."),
    (COCO, COCO, {}, "annotations without scores, where detections are expected. Are truth and detections swapped?"),
    (annotate(drop(ANNOTATIONS, 2, "bbox")), RESULTS, {}, "the truth: annotation 3 (id 3) has no 'bbox': {'id': 3"),
    (annotate(change(ANNOTATIONS, 2, bbox=[1, 2, 3])), RESULTS, {}, "annotation 3 (id 3): a box is 4 numbers (xywh); got [1, 2, 3]"),
    (annotate(change(ANNOTATIONS, 2, image_id=50)), RESULTS, {}, "annotation 3 (id 3): there is no image 50 in the list of images."),
    (annotate(change(ANNOTATIONS, 2, category_id=50)), RESULTS, {}, "annotation 3 (id 3): there is no class 50 in the list of classes."),
    (annotate(change(ANNOTATIONS, 2, area=4.0)), RESULTS, {}, "annotation 1 (id 1) has no 'area', which others have."),
    (annotate([{**one, "area": "x"} for one in ANNOTATIONS]), RESULTS, {}, "annotation 1 (id 1): the area must be a finite number; got 'x'"),
    ({**COCO, "images": COCO["images"] * 2}, RESULTS, {}, "the truth: two entries have the image id 0."),
    ({**COCO, "images": [{"id": [1]}]}, RESULTS, {}, "image 1 (id [1]): an id is a whole number or text; got [1]"),
    (annotate(change(ANNOTATIONS, 2, id=ANNOTATIONS[0]["id"])), RESULTS, {}, "the truth: two entries have the annotation id 1."),
    ({**COCO, "images": [{"id": 1.5}]}, RESULTS, {}, "image 1 (id 1.5): an id is a whole number or text; got 1.5"),
    (annotate(change(ANNOTATIONS, 2, iscrowd="0")), RESULTS, {}, "annotation 3 (id 3): 'iscrowd' is 0 or 1; got '0'"),
    (annotate(change(ANNOTATIONS, 2, iscrowd=np.array([0, 1]))), RESULTS, {}, "annotation 3 (id 3): 'iscrowd' is 0 or 1; got array([0, 1])"),
    (annotate(change(ANNOTATIONS, 2, id=[7])), RESULTS, {}, "annotation 3 (id [7]): an id is a whole number or text; got [7]"),
    (annotate(change(ANNOTATIONS[:1], 0, area=[5.0])), [], {}, "annotation 1 (id 1): the area must be a finite number; got [5.0]"),
    (COCO, [{**RESULTS[0], "score": [0.5]}], {}, "detection 1: the score must be a finite number; got [0.5]"),
    (annotate(change(ANNOTATIONS, 2, iscrowd=[])), RESULTS, {}, "annotation 3 (id 3): 'iscrowd' is 0 or 1; got []"),
    (annotate(change(ANNOTATIONS, 2, difficult="no")), RESULTS, {}, "annotation 3 (id 3): 'difficult' is 0 or 1; got 'no'"),
    (COCO, change(RESULTS, 3, score=2**53 + 1), {}, "detection 4: the score 9007199254740993 is too long for floating point"),
    (COCO, drop(RESULTS, 3, "score"), {}, "detections: detection 4 has no 'score'"),
    (COCO, [*RESULTS[:2], 5], {}, "detections: detection 3 is an object; got 5"),
    (COCO, change(RESULTS, 3, bbox=None), {}, "detection 4: a box is 4 numbers (xywh); got None"),
    (COCO, change(RESULTS, 3, bbox=[1, 2, True, 4]), {}, "detection 4: a box is 4 numbers (xywh); got [1, 2, True, 4]"),
    (COCO, Files({"a.json": json.dumps(change(RESULTS, 3, bbox=[1, 2, True, 4]))}), {}, "a.json: detection 4: a box is 4 numbers (xywh); got [1, 2, True, 4]"),
    (COCO, change(RESULTS, 3, bbox=["1", 2, 3, 4]), {}, "detection 4: a box is 4 numbers (xywh); got ['1', 2, 3, 4]"),
    (COCO, change(RESULTS, 3, bbox=[1, float("nan"), 3, 4]), {}, "detection 4: [1.0, nan, 3.0, 4.0] (x, y, width, height) has a number that is not finite."),
    (COCO, change(RESULTS, 3, bbox=[1, 1, -3, 4]), {}, "detection 4: the box has a negative size: [1.0, 1.0, -3.0, 4.0] (x, y, width, height, read as xywh)"),
    (COCO, change(RESULTS, 3, score="0.9"), {}, "detection 4: the score must be a finite number; got '0.9'"),
    (COCO, change(RESULTS, 3, score=None), {}, "detection 4: the score must be a finite number; got None"),
    (COCO, change(RESULTS, 3, score=float("inf")), {}, "detection 4: the score must be a finite number; got inf"),
    (COCO, Files({"a.json": json.dumps(change(RESULTS, 3, score="x"))}), {}, "a.json: detection 4: the score must be a finite number; got 'x'"),
    (COCO, Files({"a.json": json.dumps(change(RESULTS, 3, bbox=[1]))}), {}, "a.json: detection 4: a box is 4 numbers (xywh); got [1]"),
    (COCO, change(RESULTS, 3, image_id=99), {}, "detection 4: there is no image 99 in the truth."),
    (COCO, change(RESULTS, 3, image_id=[1]), {}, "detection 4: there is no image [1] in the truth."),
    (COCO, change(RESULTS, 3, image_id="\x1b[31m" + "x" * 500), {}, r"detection 4: there is no image '\x1b[31mxxx"),
    (COCO, change(RESULTS, 3, category_id=77), {}, "detections: 1 class is not in the truth: 77. Its classes are 'cat', 'traffic light', 'dog'."),
    (COCO, change(RESULTS, 3, category_id="Cat"), {}, "Did you mean 'cat'?"),
    (annotate(change(ANNOTATIONS, 2, area=-4.0)), RESULTS, {}, "annotation 1 (id 1) has no 'area'"),
    (annotate([{**one, "area": -4.0} for one in ANNOTATIONS]), RESULTS, {}, "annotation 1 (id 1): the area is negative: -4.0."),
    # types of ids and numbers
    (COCO, change(RESULTS, 3, image_id="1"), {}, "detection 4: the id '1' of an image is text, and the truth has 1, a number."),
    (COCO, change(RESULTS, 3, category_id="1"), {"unknown": "ignore"}, "detection 4: the id '1' of a class is text, and the truth has 1, a number."),
    (COCO, change(RESULTS, 3, image_id=True), {}, "detection 4: the id of an image is a whole number or text; got True."),
    (COCO, change(RESULTS, 3, category_id=True), {}, "detection 4: the id of a class is a whole number or text; got True."),
    (COCO, change(RESULTS, 3, score=True), {}, "detection 4: the score must be a finite number; got True"),
    (annotate(change(ANNOTATIONS, 2, image_id="1")), RESULTS, {}, "annotation 3 (id 3): the id '1' of an image is text, and the list of images has 1, a number."),
    (annotate(change(ANNOTATIONS, 2, category_id=False)), RESULTS, {}, "annotation 3 (id 3): the id of a class is a whole number or text; got False."),
    ({**COCO, "images": [*COCO["images"], {"id": "1"}]}, RESULTS, {}, "the truth: the ids of images are numbers and text: 1 and '1'."),
    (DICTS[0], change(DICTS[1], 0, scores=[True, False, True]), {}, "detections, image 0, scores: numbers are needed; got [True, False, True]"),
    (DICTS[0], change(DICTS[1], 0, labels=np.array([True] * 3)), {}, "detections, image 0, labels: numbers are needed; got array([ True"),
    (dict(enumerate(DICTS[0])), {str(i): one for i, one in enumerate(DICTS[1])}, {}, "the id '0' of an image is text, and the truth has 0, a number."),
    (COCO, FRAMES[1].assign(**{"class": FRAMES[1]["class"].map(str)}).replace({"class": dict(zip(NAMES, "012", strict=True))}), {}, "detections, row 0: the id '0' of a class is text, and the truth has 0, a number."),
    (FRAMES[0], FRAMES[1].assign(image=True), {}, "detections, column 'image': ids are integers or text; the column is bool."),
    (FRAMES[0], FRAMES[1].assign(score=True), {}, "detections, column 'score': numbers are needed; the column is bool."),
    # keys given twice, text that is not UTF-8, masks and keypoints
    (Files({"a.json": json.dumps(COCO).replace('"category_id": 1', '"category_id": 1, "category_id": 2', 1)}), RESULTS, {}, " has the key 'category_id' twice. Keep one of them."),
    (Files({"a.json": json.dumps(COCO)[:-1] + ', "images": []}'}), RESULTS, {}, "a.json: an object has the key 'images' twice."),
    (COCO, Files({"a.json": json.dumps(RESULTS).replace('"score"', '"score": 1, "score"', 1)}), {}, "a.json: detection 1 has the key 'score' twice."),
    (COCO, Files({"a.json": json.dumps(RESULTS).replace('"score"', '"id": 1, "id": 1, "score"', 1)}), {}, "a.json: detection 1 has the key 'id' twice."),
    (COCO, Files({"a.json": json.dumps(RESULTS).replace('"score"', '"about": {"b": 1, "b": 2}, "score"', 1)}), {}, "a.json: detection 1 has the key 'b' twice."),
    (COCO, Files({"a.json": json.dumps(RESULTS).replace('"score"', '"bbox3D": [[0, 0, 0]], "score"')}), {}, "a.json: these are boxes in 3D, which"),
    (COCO, Files({"a.json": json.dumps([{"id": 7, **RESULTS[0], "bbox": [1, 1, -2, 3]}])}), {}, "a.json: detection 1 (id 7): the box has a negative size"),
    (Files({"a.json": json.dumps(COCO).replace("cat", "ch\xe9").encode("latin1")}), RESULTS, {}, "a.json:1: the file is not UTF-8: it has the byte 0xe9"),
    (COCO, Files({"a.json": json.dumps(RESULTS).replace('"score"', '"by": "\xe9", "score"', 1).encode("latin1")}), {}, "a.json:1: the file is not UTF-8: it has the byte 0xe9"),
    (COCO, [{**one, "segmentation": {"size": [9, 9], "counts": "1"}} for one in drop(RESULTS, 0, "bbox")], {}, "It has a mask, which overlap=mask evaluates; overlap=iou needs boxes."),
    (COCO, [{**one, "keypoints": [1, 2, 2]} for one in drop(RESULTS, 0, "bbox")], {}, "It has keypoints, which overlap=oks evaluates; overlap=iou needs boxes."),
    # VOC
    (Files({"a/a.xml": LAUGHS}), RESULTS, {}, "a.xml: the XML defines entities"),
    (Files({"a/a.xml": OUTSIDE}), RESULTS, {}, "a.xml: the XML defines entities"),
    (Files({"a/a.xml": LAUGHS.encode("utf-16")}), RESULTS, {}, "a.xml: the XML defines entities"),
    (Files({"a/a.xml": "<annotation>\n<object>"}), RESULTS, {}, "a.xml: this is not XML (no element found: line 2"),
    (Files({"a/a.xml": ""}), RESULTS, {}, "a.xml: the file is empty."),
    (Files({"a/a.xml": "<html/>"}), RESULTS, {}, "a.xml: VOC's annotations are <annotation>; got <'html'>."),
    (Files({"a/a.xml": XML.format(OBJECT.format("", 1))}), RESULTS, {}, "a.xml:2: the object has no name."),
    (Files({"a/a.xml": XML.format(OBJECT.format("cat", "one"))}), RESULTS, {}, "a.xml:2: the object has no number as xmin: 'one'."),
    (Files({"a/a.xml": XML.format(OBJECT.format("cat", ""))}), RESULTS, {}, "a.xml:2: the object has no xmin."),
    (Files({"a/a.xml": XML.format(OBJECT.format("cat", "nan"))}), RESULTS, {}, "a.xml:2: [nan, 1.0, nan, 3.0]"),
    (Files({"a/a.xml": XML.format(OBJECT.format("cat", 5))}), RESULTS, {}, "a.xml:2: the box has a negative size: [5.0, 1.0, -1.0, 3.0] (x, y, width, height, read as xyxy)."),
    (COCO, Files({"a/a.xml": XML}), {}, "VOC's annotations, without scores, where detections are expected."),
    (Files({"a/c_det_test_cat.txt": "img0 .5 1 2 3 4"}), RESULTS, {}, "VOC's truth is a folder of XML files"),
    (COCO, Files({"a/c_det_test_cat.txt": "img0 0.5 1 2 3"}), {}, "cat.txt:1: 5 fields where a line has 6 (image score left top right bottom)"),
    (COCO, Files({"a/c_det_test_cat.txt": "img0 .5 1 2 3 4\nimg0 high 1 2 3 4"}), {}, "cat.txt:2: 'high' is no number: 'img0 high 1 2 3 4'"),
    (COCO, Files({"a/c_det_test_cat.txt": "img0 nan 1 2 3 4"}), {}, "cat.txt:1: the score must be a finite number; got nan"),
    (COCO, Files({"a/c_det_test_cat.txt": "img99 .5 1 2 3 4"}), {}, "cat.txt:1: there is no image 'img99' in the truth."),
    (COCO, Files({"a/c_det_test_cow.txt": "img0 .5 1 2 3 4"}), {}, "1 class is not in the truth: 'cow'."),
    (COCO, Files({"a/c_det_test_cat.txt": "img\xe9 .5 1 2 3 4".encode("latin1")}), {}, "cat.txt:1: the line is not UTF-8."),
    # YOLO, and folders
    (Files({"a/x": ""}), RESULTS, {}, "this folder has no boxes: no .xml or .txt file"),
    (COCO, Files({"a/x": ""}), {}, "this folder has no boxes: no .xml or .txt file"),
    (Files(TRUTH_LINES), Files(TRUTH_LINES), A, "a.txt:1: 5 fields where a line has 6 (class cx cy width height score). Is the score missing, or are these truths? Ultralytics writes one with save_conf=True."),
    (Files(FOUND_LINES), Files(FOUND_LINES), A, "a.txt:1: 6 fields where a line has 5 (class cx cy width height). Are these detections? Give the truth first"),
    (Files({"a/a.txt": "0 .5 .5 .1 .1 .2 .2 .3"}), RESULTS, {}, "a.txt:1: 7 numbers beside a class, where a line has x and y of three corners or more"),
    (Files({"a/a.txt": "0 .5 .5 .1 x"}), RESULTS, {}, "a.txt:1: 'x' is no number"),
    (Files(TRUTH_LINES), RESULTS, {}, "a.txt:1: relative boxes need the size of their image, and the size of image 'a' is not known. images= takes sizes"),
    (Files({**TRUTH_LINES, "a/a.jpg": "no picture"}), RESULTS, {}, "a.jpg: no size was found; a picture is a PNG or JPEG."),
    (Files({**TRUTH_LINES, "a/a.jpg": b"\xff\xd8\xff\xe0\xff"}), RESULTS, {}, "a.jpg: no size was found"),
    (Files({**TRUTH_LINES, "a/data.yaml": "names: *x"}), RESULTS, {}, "data.yaml: the names of the classes cannot be read"),
    (Files({"a/a.txt": "7 .5 .5 .1 .1", "a/data.yaml": "names: [a, b]"}), RESULTS, A, "a.txt:1: there is no class 7 in the list of classes."),
    # image by image
    ([{"labels": [1]}], DICTS[1], {}, "truth: boxes are COCO's JSON, a folder of VOC's XML"),
    ([{"boxes": [[1, 2, 3, 4]]}], DICTS[1], {}, "truth, image 0: the labels (classes of the boxes) are missing"),
    (DICTS[0], DICTS[0], {}, "detections, image 0: there are no scores. Are truth and detections swapped?"),
    (DICTS[0], DICTS[1][:3], {}, "a list of 3 goes with a list of truths of the same length, and the truth has 6 images."),
    (DICTS[0], change(DICTS[1], 0, scores=[0.5]), {}, "detections, image 0: 3 boxes, and 1 scores."),
    (DICTS[0], change(DICTS[1], 0, boxes=np.zeros((3, 5))), {}, "boxes have 4 numbers each; got an array of shape (3, 5)."),
    (DICTS[0], change(DICTS[1], 0, boxes=[["a"] * 4] * 3), {}, "detections, image 0, boxes: an array of numbers is needed"),
    (DICTS[0], change(DICTS[1], 0, boxes=[[1, 2, True, 9]] * 3), {}, "detections, image 0, boxes: numbers are needed; got [[1, 2, True, 9]"),
    (DICTS[0], change(DICTS[1], 0, boxes=np.full((3, 4), np.nan)), {}, "detections, image 0, box 0: [nan, nan, nan, nan]"),
    (DICTS[0], change(DICTS[1], 0, boxes=np.array([[9, 9, 5, 5]] * 3)), {}, "image 0, box 0: the box has a negative size: [9.0, 9.0, -4.0, -4.0] (x, y, width, height, read as xyxy)"),
    (DICTS[0], change(DICTS[1], 0, labels=np.full(3, 0.5)), {}, "image 0, labels: a class is a whole number or text"),
    (make_supervision(TRUTHS), make_supervision(TRUTHS), {}, "detections, image 'folder/img0.jpg': there are no scores."),
    # frames and files with columns
    (FRAMES[0].drop(columns="image"), FRAMES[1], {}, "truth: no column is the image; found 'class', 'x'"),
    (FRAMES[0].drop(columns="x"), FRAMES[1], {}, "truth: no columns are the sides of a box; found 'image', 'class', 'y', 'width', 'height'."),
    (FRAMES[0], FRAMES[0], {}, "detections: no column is the score; found 'image', 'class', 'x', 'y', 'width', 'height'. Are these truths?"),
    (FRAMES[0].assign(label=1), FRAMES[1], {}, "truth: more than one column can be the class: 'class', 'label'. Choose one with columns={'class': name}."),
    (FRAMES[0].assign(crowd="no"), FRAMES[1], {}, "truth, column 'crowd': a flag is 0 or 1"),
    (FRAMES[0], FRAMES[1], {}, "there is no image 'img3' in the truth. Did you mean 'img5'? images= lists images, also those without truths."),
    (COCO, FRAMES[1].assign(x=np.nan), {}, "detections, row 0: [nan, "),
    (COCO, FRAMES[1].assign(x="a"), {}, "detections, column 'x': numbers are needed; the column is large_string."),
    (COCO, FRAMES[1].assign(image=None), {}, "detections, column 'image', row 0: an id is missing"),
    (COCO, FRAMES[1], {"columns": {"x": "u"}}, "detections: no column 'u'; found"),
    (COCO, FRAMES[1], {"columns": {"xx": "u"}}, "columns= takes image, class, x, y, right,"),
    (COCO, FRAMES[1], {"columns": 5}, "columns= is {'image': name, 'x': name, …}; got 5"),
    (COCO, Files({"a.csv": HEADER + "img0,0,1,2,3,4,.5\nimg0,0,1,2,x,4,.5\n"}), {}, "a.csv:3: a width must be a finite number; got 'x' in column 'width'"),
    (COCO, Files({"a.csv": HEADER + "img0,0,1,2,3,.5\n"}), {}, "a.csv:2: 6 fields where the file has 7 columns"),
    (COCO, Files({"a.csv": HEADER + "img0,0,1,2,,4,.5\n"}), {}, "a.csv, row 0: [1.0, 2.0, nan, 4.0]"),
    (COCO, Files({"a.csv": HEADER + "img0,0,1,2,3,4,\n"}), {}, "a.csv, row 0: the score must be a finite number; got nan"),
    (COCO, Files({"a.csv": ""}), {}, "a.csv: the file is empty: it has no header."),
    (COCO, Files({"a.jsonl": '{"image": 1,\n'}), {}, "a.jsonl:1: this is not JSON"),
    (COCO, Files({"a.parquet": "nope"}), {}, "a.parquet: cannot be read"),
    # options, and what is nothing of all this
    (5, RESULTS, {}, "truth: boxes are COCO's JSON"),
    (COCO, None, {}, "detections: boxes are COCO's JSON"),
    (COCO, Files({"a.md": "x"}), {}, "detections: boxes are COCO's JSON"),
    (COCO, RESULTS, {"box_format": "xyhw"}, "box_format takes xywh, xyxy or cxcywh; got 'xyhw'. Did you mean 'xywh'?"),
    (COCO, RESULTS, {"box_format": {"detection": "xywh"}}, "a choice for one side takes truth or detections; got 'detection'."),
    (COCO, RESULTS, {"coordinates": "share"}, "coordinates takes pixels or relative; got 'share'."),
    (COCO, RESULTS, {"input_format": "pascal"}, "input_format takes coco, dota, kitti, voc, yolo, padilla, images or table; got 'pascal'."),
    (COCO, RESULTS, {"input_format": "voc"}, "truth: input_format=voc reads a file or folder; got {'images'"),
    (DICTS[0], RESULTS, {"input_format": "coco"}, "the truth: COCO's annotations are an object with 'annotations'."),
    ({**COCO, "images": [{"id": i} for i in range(6)]}, RESULTS, {"coordinates": "relative"}, "the truth: annotation 1 (id 1): relative boxes need the size of their image"),
    (FRAMES[0], FRAMES[1], {"images": 5}, "images= takes {image: (width, height)}, a list of images"),
    (FRAMES[0], FRAMES[1], {"images": {"a": (1,)}}, "images=: the size of 'a' is (width, height); got (1,)"),
    (FRAMES[0], FRAMES[1], {"images": {"a": (0, 5)}}, "images=: the size of 'a' is (width, height); got (0, 5)"),
    (COCO, RESULTS, {"class_names": 5}, "class_names= takes names in the order of the numbers"),
    (COCO, RESULTS, {"boxformat": "xywh"}, "boxes have no convention 'boxformat'."),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(BAD)))
def test_bad_input_has_one_clear_error(at: int, tmp_path: Path) -> None:
    truth, found, options, says = BAD[at]
    truth, found = write_files(truth, tmp_path / "t"), write_files(found, tmp_path / "d")
    with pytest.raises(germane.GermaneError) as error:
        germane.boxes.evaluate(truth, found, "AP", **options)
    message = str(error.value)
    assert says in message
    assert len(message) < 700 + 2 * len(str(tmp_path))
    assert message.isprintable()


# --- What is right ----------------------------------------------------------------------------------

EMPTY = {"boxes": np.zeros((0, 4), np.float32), "labels": np.zeros(0, np.int64)}


def test_no_truths_and_no_detections_work() -> None:
    nothing = {**COCO, "annotations": []}
    assert np.isnan(value(nothing, RESULTS)["AP"])
    assert value(COCO, [])["AP"] == 0
    assert np.isnan(value([EMPTY], [{**EMPTY, "scores": np.zeros(0)}])["AP"])
    assert value(FRAMES[0], FRAMES[1][:0])["AP"] == 0


def test_an_empty_file_of_detections_is_no_detection(tmp_path: Path) -> None:
    (tmp_path / "found.json").write_text("[]")
    assert value(COCO, tmp_path / "found.json")["AP"] == 0
    folder = write_labels(tmp_path / "labels", [], str)
    assert value(COCO, folder)["AP"] == 0


def test_whole_numbers_of_more_than_64_bits_are_numbers() -> None:
    """numpy makes objects of them, which looked like text: the error named a sound area."""
    annotations = change(ANNOTATIONS, 2, area=2**70)
    result = germane.boxes.evaluate(
        annotate([{"area": 4, **one} for one in annotations]), RESULTS, "AP"
    )
    areas = result.matches.truths.area.tolist()
    assert sorted(areas) == [4] * (len(annotations) - 1) + [2**70]


def test_float32_stays_float32() -> None:
    """Width and height are differences in the precision of the corners, as in torchmetrics."""
    corners = np.array([[0.1, 0.2, 100.3, 57.7]], np.float32)
    truth = [{"boxes": corners, "labels": [1]}]
    width, height = corners[0, 2] - corners[0, 0], corners[0, 3] - corners[0, 1]
    single = [
        {
            "image_id": 0,
            "category_id": 1,
            "score": 1,
            "bbox": [*map(float, (*corners[0, :2], width, height))],
        }
    ]
    boxes = germane.boxes.evaluate(truth, single, "AP").matches.truths.boxes
    assert boxes.width[0] == float(width) != float(corners[0, 2]) - float(corners[0, 0])


def test_areas_and_crowds_of_dicts_count() -> None:
    truth = [
        {
            "boxes": [[0, 0, 10, 10], [20, 20, 60, 60]],
            "labels": [1, 1],
            "iscrowd": [0, 1],
            "area": [2000.0, 0],
        }
    ]
    found = [{"boxes": [[0, 0, 10, 10], [20, 20, 30, 30]], "labels": [1, 1], "scores": [0.5, 0.9]}]
    result = germane.boxes.evaluate(truth, found, "AP AP(area=medium) AP(area=small)")
    assert result.flat() == pytest.approx(
        {"AP": 1, "AP(area=medium)": 1, "AP(area=small)": np.nan}, nan_ok=True
    )
    assert result.matches.truths.area.tolist() == [2000, 1600]


def test_flags_of_columns_count() -> None:
    frame = pandas.DataFrame(
        {"image": ["a"] * 2, "class": ["cat"] * 2, "x1": [0, 20], "y1": [0, 20], "x2": [10, 60], "y2": [10, 60],
         "iscrowd": [False, True], "width": 100, "height": 100}
    )  # fmt: skip
    found = frame.drop(columns="iscrowd").assign(confidence=[0.5, 0.9])
    counts = germane.boxes.evaluate(frame, found, "AP").counts
    assert (counts.crowds, counts.truths) == (1, 1)


def test_classes_are_matched_by_names_first() -> None:
    """Numbers from 0 beside the ids of COCO would match other classes without an error."""
    truth, found = make_coco(1)[0], make_coco(0)[1]
    assert value(truth, found, class_names=NAMES) == EXPECTED
    assert (
        value(truth, [{**one, "category_id": NAMES[one["category_id"]]} for one in found])
        == EXPECTED
    )
    with pytest.raises(germane.errors.InputError, match="1 class is not in the truth: 0"):
        value(truth, found)


def test_images_in_other_folders_are_other_images() -> None:
    truth = {
        **COCO,
        "images": [{**one, "file_name": f"val/{one['file_name']}"} for one in COCO["images"]],
    }
    spelled = {"val/img{}.jpg": True, "img{}.jpg": True, "img{}": True, "train/img{}.jpg": False}
    for name, is_known in spelled.items():
        found = [{**one, "image_id": name.format(one["image_id"])} for one in RESULTS]
        if is_known:
            assert value(truth, found) == EXPECTED
        else:
            with pytest.raises(
                germane.errors.InputError, match=r"there is no image 'train/img0\.jpg'"
            ):
                value(truth, found)


@pytest.mark.parametrize(
    "text",
    [
        "names: [cat, 'traffic light', \"dog\"]", "nc: 3\nnames:\n  - cat\n  - traffic light\n  - dog\n",
        "names:\n- cat\n- traffic light # red\n- dog", "names: {0: cat, 1: traffic light, 2: dog}",
        "names:\n  2: dog\n  0: cat\n  1: traffic light\n", "names: ['cat',\n  'traffic light',\n  'dog']\nnc: 3",
    ],
)  # fmt: skip
def test_names_of_classes_in_yaml(text: str, tmp_path: Path) -> None:
    (tmp_path / "data.yaml").write_text(text)
    assert value(COCO, RESULTS, class_names=tmp_path / "data.yaml") == EXPECTED
    truth = write_labels(
        tmp_path / "labels",
        TRUTHS,
        lambda row: " ".join(map(repr, (row["label"], *to_shares(row["box"])))),
    )
    sizes = dict.fromkeys(IMAGES, (WIDTH, HEIGHT))
    assert germane.boxes.evaluate(truth, make_supervision(FOUND), images=sizes).classes == NAMES


ODD: list[Any] = [
    None,
    "",
    [],
    {},
    float("inf"),
    float("nan"),
    True,
    -1,
    10**30,
    10**400,
    "x",
    [1, 2],
    ["a"] * 4,
    1e308,
]


def mutate(given: Any, rng: random.Random) -> Any:
    """A copy in which one value, anywhere, is another or is missing."""
    given = json.loads(json.dumps(given))
    places: list[tuple[Any, Any]] = []
    held = [given]
    while held:
        one = held.pop()
        keys = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        places += [(one, key) for key in keys]
        held += [one[key] for key in keys]
    parent, key = rng.choice(places)
    if isinstance(parent, dict) and rng.random() < 0.2:
        del parent[key]
    else:
        parent[key] = json.loads(json.dumps(rng.choice(ODD)))
    return given


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
def test_no_other_error_leaves_a_reader() -> None:
    """Of 400 changed inputs, each is evaluated or refused by an error of germane's; and check reads many."""
    rng, checked = random.Random(1), 0
    lists = [
        [{name: part.tolist() for name, part in one.items()} for one in side] for side in DICTS
    ]
    for n in range(400):
        sides = [COCO, RESULTS] if n % 2 else [*lists]
        at = rng.randrange(2)
        sides[at] = mutate(sides[at], rng)
        with contextlib.suppress(germane.GermaneError):
            germane.boxes.evaluate(*sides, "AP50")
        with contextlib.suppress(germane.GermaneError):
            checked += len(str(germane.boxes.check(*sides))) > 0
    assert checked > 150


def test_ids_that_were_written_as_floats() -> None:
    truth = {name: [{**row} for row in rows] for name, rows in make_coco()[0].items()}
    for row in (*truth["images"], *truth["categories"]):
        row["id"] = float(row["id"])
    assert value(truth, make_coco()[1]) == EXPECTED


def test_images_that_are_listed_stand_in_one_order_with_those_of_a_frame() -> None:
    """Equal scores are in the order of images, as in COCO's JSON of the same data."""
    box = {"class": "a", "x": 40, "y": 10, "w": 20, "h": 40}
    truth = pandas.DataFrame([{"image": 2, **box}])
    found = pandas.DataFrame([{"image": one, **box, "score": 0.5} for one in (0, 2, 3)])
    coco = {
        "images": [{"id": one} for one in range(4)],
        "categories": [{"id": 1, "name": "a"}],
        "annotations": [{"id": 1, "image_id": 2, "category_id": 1, "bbox": [40, 10, 20, 40]}],
    }
    same = [
        {"image_id": one, "category_id": 1, "bbox": [40, 10, 20, 40], "score": 0.5}
        for one in (0, 2, 3)
    ]
    value = germane.boxes.evaluate(coco, same, "AP50")["AP50"].mean
    assert value == 0.5
    for images in ([0, 1, 2, 3], [3, 2, 1, 0]):
        assert germane.boxes.evaluate(truth, found, "AP50", images=images)["AP50"].mean == value


# --- Files of other tasks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ({"annotations": [{"image_id": 1, "segments_info": [], "file_name": "1.png"}]}, "panoptic"),
        (
            {"videos": [{"id": 1}], "annotations": [{"video_id": 1, "bboxes": [[0, 0, 1, 1]]}]},
            "tracks",
        ),
        ({"meta": {}, "results": {"token": [{"translation": [0, 0, 0]}]}}, "3D"),
        ({"images": [], "annotations": [{"image_id": 1, "bbox3D": [[0, 0, 0]]}]}, "3D"),
        ({"LabelName": "/m/0bl9f", "Subcategory": []}, "hierarchy"),
        ("1,1,912,484,97,109,0,7,1\n", "tracks"),
    ],
)
def test_files_of_other_tasks_are_named(tmp_path, truth, says):
    path = tmp_path / ("gt.txt" if isinstance(truth, str) else "gt.json")
    path.write_text(truth if isinstance(truth, str) else json.dumps(truth))
    for source in (path, tmp_path) if isinstance(truth, str) else (path,):
        with pytest.raises(germane.errors.FormatError, match=says) as error:
            germane.boxes.evaluate(source, [])
        page = re.search(r"docs/[a-z-]+\.md", str(error.value))
        assert page is not None
        assert (Path(__file__).parents[1] / page[0]).exists()
