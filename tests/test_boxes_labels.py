"""Label files that say more than a box: YOLO's polygons, keypoints and corners, and its data sets."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import germane
from kitti_sets import write_random

from test_boxes_sources import write_picture

WIDTH, HEIGHT = 128, 64  # powers of two, so that shares of them are exact
SIZES = {"a": (WIDTH, HEIGHT), "b": (WIDTH, HEIGHT)}
SQUARE, TRIANGLE = (8, 8, 40, 8, 40, 40, 8, 40), (64, 16, 96, 16, 80, 48)


def write(folder: Path, lines: dict[str, list[str]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in lines.items():
        (folder / f"{name}.txt").write_text("".join(f"{row}\n" for row in rows))
    return folder


def to_shares(points: Any) -> str:
    rows = np.reshape(points, (-1, 2)) / (WIDTH, HEIGHT)
    return " ".join(f"{number!r}" for number in rows.ravel().tolist())


def make_coco(overlap: str) -> dict[str, Any]:
    """Make the truth of the two polygons: the square in a, the triangle in b."""
    shapes = {"a": SQUARE, "b": TRIANGLE}
    annotations = []
    for number, (image, shape) in enumerate(shapes.items(), 1):
        x, y = shape[::2], shape[1::2]
        box = [min(x), min(y), max(x) - min(x), max(y) - min(y)]
        annotations.append({"id": number, "image_id": image, "category_id": 0, "bbox": box})
        if overlap == "mask":
            annotations[-1]["segmentation"] = [list(map(float, shape))]
    images = [{"id": name, "width": WIDTH, "height": HEIGHT} for name in shapes]
    return {"images": images, "categories": [{"id": 0, "name": "0"}], "annotations": annotations}


def evaluate(truth: Any, found: Any, measures: str = "AP", **options: Any) -> dict[str, float]:
    return germane.boxes.evaluate(truth, found, measures, **options).flat()


def test_a_folder_of_pictures_lists_images_where_nothing_else_does(tmp_path: Path) -> None:
    """As in Ultralytics: a picture without labels is background, where no picture is beside."""
    box = "0 .5 .5 .25 .25"
    truth = write(tmp_path / "t" / "labels", {"a": [box]})
    found = write(tmp_path / "d", {"a": [f"{box} .5"], "b": [f"{box} .9"]})
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for name in "ab":
        write_picture(pictures / f"{name}.png", (WIDTH, HEIGHT))
    result = germane.boxes.evaluate(truth, found, "AP50", images=pictures)
    assert result.counts.images == 2
    assert result["AP50"].mean == pytest.approx(1 / 2)
    beside = tmp_path / "t" / "images"
    beside.mkdir()
    write_picture(beside / "a.png", (WIDTH, HEIGHT))
    with pytest.raises(germane.GermaneError, match="there is no image 'b' in"):
        germane.boxes.evaluate(truth, found, "AP50", images=pictures)
    only = write(tmp_path / "e", {"a": [f"{box} .5"]})
    assert germane.boxes.evaluate(truth, only, "AP50", images=pictures).counts.images == 1


@pytest.mark.parametrize("overlap", ["iou", "mask"])
def test_polygons_are_masks_or_the_boxes_around_them(overlap: str, tmp_path: Path) -> None:
    if overlap == "mask":
        pytest.importorskip("pycocotools")
    truth = write(
        tmp_path / "t", {"a": [f"0 {to_shares(SQUARE)}"], "b": [f"0 {to_shares(TRIANGLE)}"]}
    )
    moved = np.add(SQUARE, [4, 0] * 4)
    lines = {"a": [f"0 {to_shares(moved)} .75"], "b": [f"0 {to_shares(TRIANGLE)} .5"]}
    found = write(tmp_path / "d", lines)
    got = evaluate(truth, found, overlap=overlap, images=SIZES)
    assert got == evaluate(make_coco(overlap), found, overlap=overlap)
    # the moved square overlaps by 28/36: it is found up to .75, in 6 of 10 thresholds
    assert got["AP"] == pytest.approx((6 + 4 * 51 / 101 / 2) / 10)


@pytest.mark.parametrize("place", ["left", "anywhere"])
def test_polygons_with_as_many_corners_are_no_keypoints(place: str, tmp_path: Path) -> None:
    """Small octagons look like keypoints in a box, whose middle and size are the first corners."""
    turns = np.arange(8) * np.pi / 4
    ring = np.column_stack((np.cos(turns), np.sin(turns))) * 0.0625
    spread = 0.25 if place == "left" else 0.5
    centers = [(0.25 + spread * i / 4, 0.25 + spread * j / 4) for i in range(5) for j in range(5)]
    polygons = [f"0 {' '.join(map(repr, (ring + center).ravel().tolist()))}" for center in centers]
    boxes = [f"0 {x} {y} .125 .125" for x, y in centers]
    labels = write(tmp_path / "t" / "labels", {"a": polygons})
    upright = write(tmp_path / "u", {"a": [f"{line} .9" for line in boxes]})
    assert evaluate(labels, upright, images=SIZES) == {"AP": 1.0}
    (tmp_path / "t" / "data.yaml").write_text("names: [x]\n")  # keypoints would have kpt_shape
    assert evaluate(labels, upright, images=SIZES) == {"AP": 1.0}
    pytest.importorskip("pycocotools")
    bare = write(tmp_path / "m", {"a": polygons})
    found = write(tmp_path / "d", {"a": [f"{line} .9" for line in polygons]})
    assert evaluate(bare, found, overlap="mask", images=SIZES) == {"AP": 1.0}


def test_polygons_need_the_sizes_of_images(tmp_path: Path) -> None:
    pytest.importorskip("pycocotools")
    folder = write(tmp_path, {"a": [f"0 {to_shares(SQUARE)}"]})
    with pytest.raises(germane.errors.InputError, match=r"a.txt:1: polygons need the size of"):
        germane.boxes.evaluate(folder, [], overlap="mask")


POINTS = [(10, 10, 2), (30, 20, 1), (0, 0, 0)]  # the last one is not annotated


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("is_named", [True, False])
def test_keypoints_stand_behind_a_box(width: int, is_named: bool, tmp_path: Path) -> None:
    """kpt_shape says how many they are; without it, all lines have as many, inside their boxes."""
    points = POINTS if width == 3 else POINTS[:2]  # in pairs, also (0, 0) is a place
    box = to_shares((20, 15, 24, 16))
    pairs = [to_shares(point[:2]) for point in points]
    seen = [f" {point[2]}" if width == 3 else "" for point in points]
    line = f"0 {box} " + " ".join(map("".join, zip(pairs, seen, strict=True)))
    truth = write(tmp_path / "t" / "labels", {"a": [line]})
    if is_named:
        (tmp_path / "t" / "data.yaml").write_text(
            f"kpt_shape: [{len(points)}, {width}]\nnames: [x]\n"
        )
    moved = " ".join(to_shares((x + 3, y)) + " 1" * (width == 3) for x, y, _ in points)
    found = write(tmp_path / "d", {"a": [f"0 {box} {moved} .9"]})
    options: Any = {"images": {"a": (WIDTH, HEIGHT)}, "overlap": "oks", "area_of": "body"}
    sigmas = [0.1] * len(points)
    result = germane.boxes.evaluate(truth, found, "AP50 R75", **options, sigmas=sigmas)
    # two visible keypoints, both 3 pixels off, in .53 of a box of 24 × 16
    similarity = np.exp(-(3**2) / (2 * 0.2**2 * 0.53 * 24 * 16))
    assert 0.5 < similarity < 0.75
    assert result.flat() == {"AP50": 1.0, "R75": 0.0}
    # the box of such a line is the one that it says
    assert evaluate(truth, found, images={"a": (WIDTH, HEIGHT)}) == {"AP": 1.0}


def test_keypoints_without_areas_name_the_option_that_gives_them(tmp_path: Path) -> None:
    truth = write(tmp_path / "t", {"a": ["0 .5 .5 .4 .4 .5 .5 2"]})
    found = write(tmp_path / "d", {"a": ["0 .5 .5 .4 .4 .5 .5 1 .9"]})
    options: Any = {"overlap": "oks", "images": {"a": (WIDTH, HEIGHT)}, "sigmas": [0.1]}
    with pytest.raises(germane.errors.FormatError, match="area_of=body"):
        germane.boxes.evaluate(truth, found, "AP50", **options)
    assert evaluate(truth, found, "AP50", **options, area_of="body") == {"AP50": 1.0}


@pytest.mark.parametrize(
    ("line", "overlap", "says"),
    [
        ("0 .1 .1 .2 .2 .3 .3 .4", "iou", "7 numbers beside a class, where a line has x and y of three"),
        ("0 .1 .1 .2 .2 .3", "iou", "6 fields where a line has 5"),
        ("0 .1 .1 .2 .2 x .3", "mask", "'x' is no number"),
        ("0 .1 .1 .2 .2 .3 .3 nan .4", "iou", "'nan' is no number"),
        ("0 .5 .5 .4 .4", "oks", "overlap=oks needs keypoints, and there are none"),
    ],
)  # fmt: skip
def test_lines_that_cannot_be_read(line: str, overlap: str, says: str, tmp_path: Path) -> None:
    folder = write(tmp_path, {"a": [line]})
    with pytest.raises(germane.GermaneError) as error:
        germane.boxes.evaluate(folder, [], overlap=overlap, images=SIZES)
    assert says in str(error.value)


# --- Data sets ------------------------------------------------------------------------------------


def make_set(folder: Path, split: str = "val", images: str = "images/val") -> Path:
    """Make a data set of Ultralytics: two pictures, of which one has a label; and its data.yaml."""
    (folder / images).mkdir(parents=True)
    for name in ("a", "b"):
        write_picture(folder / images / f"{name}.jpg", (WIDTH, HEIGHT))
    write(folder / images.replace("images", "labels"), {"a": ["1 .5 .5 .25 .25"]})
    lines = ["path: .", f"{split}: {images}  # of the data set", "names:", "  0: cat", "  1: dog"]
    (folder / "data.yaml").write_text("\n".join(lines) + "\n")
    return folder / "data.yaml"


FOUND = {"a": {"boxes": [[48, 24, 80, 40]], "labels": [1], "scores": [0.9]}}


def test_a_data_set_is_its_images_for_validation(tmp_path: Path) -> None:
    path = make_set(tmp_path)
    result = germane.boxes.evaluate(path, FOUND, "AP", class_names=["cat", "dog"])
    assert result.flat() == {"AP": 1.0}
    assert result.truths.class_names == ["cat", "dog"]
    assert list(result.truths.images) == ["a", "b"]
    assert evaluate(tmp_path, FOUND) == {"AP": 1.0}  # the folder of data.yaml
    assert evaluate(tmp_path / "labels" / "val", FOUND) == {"AP": 1.0}
    (tmp_path / "data.yaml").unlink()
    with pytest.raises(germane.errors.InputError, match=r"has 1 folder of labels.*labels/val"):
        germane.boxes.evaluate(tmp_path, FOUND)


@pytest.mark.parametrize(
    "val",
    ["../images/val", "[images/val]", "\n  - images/val", "'images/val'", "list.txt", "{root}/images/val"],
)  # fmt: skip
def test_spellings_of_images(val: str, tmp_path: Path) -> None:
    path = make_set(tmp_path)
    (tmp_path / "list.txt").write_text("./images/val/a.jpg\n./images/val/b.jpg\n")
    path.write_text(f"val: {val.replace('{root}', str(tmp_path))}\nnames: [cat, dog]\n")
    result = germane.boxes.evaluate(path, FOUND, "AP", class_names=["cat", "dog"])
    assert (result["AP"].mean, len(result.truths.images)) == (1.0, 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("names: [cat]\n", "there is no val"),
        ("val: images/test\nnames: [cat]\n", "there are no images 'images/test'"),
        ("val: [images/val, images/more]\nnames: [cat]\n", "two files of labels have one name"),
    ],
)
def test_data_sets_that_cannot_be_read(text: str, says: str, tmp_path: Path) -> None:
    path = make_set(tmp_path)
    make_set(tmp_path, images="images/more")
    path.write_text(text)
    with pytest.raises(germane.GermaneError, match=says):
        germane.boxes.evaluate(path, FOUND)


# --- Results of Ultralytics, and names of images --------------------------------------------------

NUMBERS = (0, 1, 2, 1000)


def make_numbered() -> dict[str, Any]:
    images = [{"id": i, "file_name": f"{i:012d}.jpg", "width": 128, "height": 64} for i in NUMBERS]
    annotations = [
        {"id": n + 1, "image_id": i, "category_id": 0, "bbox": [10 * n, 10, 20, 20], "area": 400}
        for n, i in enumerate(NUMBERS)
    ]
    return {"images": images, "categories": [{"id": 0, "name": "cat"}], "annotations": annotations}


def make_result(place: int, path: str) -> SimpleNamespace:
    box = np.array([[10.0 * place, 10, 10 * place + 20, 30]])
    boxes = SimpleNamespace(xyxy=box, cls=np.zeros(1), conf=np.array([0.5]))
    return SimpleNamespace(path=path, names={0: "cat"}, boxes=boxes)


def test_results_know_their_images() -> None:
    """A list of results may be in any order, and of some images alone."""
    truth = make_numbered()
    found = [make_result(n, f"/data/val/{i:012d}.jpg") for n, i in enumerate(NUMBERS)][::-1]
    assert evaluate(truth, found) == {"AP": 1.0}
    assert evaluate(truth, found[:2], "R50") == {"R50": 0.5}
    with pytest.raises(germane.errors.InputError, match=r"'x.jpg' is none of '000000000000.jpg'"):
        germane.boxes.evaluate(truth, [*found[:2], make_result(0, "x.jpg")])
    with pytest.raises(germane.errors.InputError, match="Two results are of the same file"):
        germane.boxes.evaluate(truth, found[:1] * 2)


@pytest.mark.parametrize(
    "image", [1000, "1000", "000000001000", "000000001000.jpg", "val/000000001000.jpg"]
)
def test_an_image_has_the_names_of_its_file_in_every_verb(image: Any) -> None:
    truth, found = make_numbered(), {i: make_result(n, "") for n, i in enumerate(NUMBERS)}
    explained = germane.boxes.explain(truth, found, image=image)
    assert "1000" in str(explained)
    result = germane.boxes.evaluate(truth, found, "AP", only_images=[image])
    assert list(result.truths.images) == [1000]
    if image != "1000":  # text for a number, which is refused in data
        assert evaluate(truth, {image: make_result(3, "")}, "R50") == {"R50": 0.25}


# --- KITTI ----------------------------------------------------------------------------------------


def write_kitti(folder: Path, rows: list[tuple[Any, ...]]) -> Path:
    """Rows are type, truncated, occluded, left, top, right, bottom, and the score of detections."""
    lines = []
    for label, truncated, occluded, *sides in rows:
        box, score = sides[:4], sides[4:]
        lines.append(" ".join(map(str, (label, truncated, occluded, 0, *box, *[-1] * 7, *score))))
    return write(folder, {"000001": lines})


def test_levels_of_kitti(tmp_path: Path) -> None:
    """Found cars of four levels and kinds, one false car, and three that are ignored."""
    truth = write_kitti(tmp_path / "label_2", [
        ("Car", 0, 0, 0, 0, 100, 50),  # easy
        ("Car", 0, 1, 200, 0, 300, 50),  # moderate: occluded
        ("Car", 0.4, 0, 400, 0, 500, 50),  # hard: truncated
        ("Car", 0, 3, 600, 0, 700, 50),  # of none
        ("Car", 0, 0, 800, 0, 900, 30),  # moderate: 30 pixels high
        ("Van", 0, 0, 0, 100, 100, 150),
        ("DontCare", -1, -1, 200, 100, 400, 300),
    ])  # fmt: skip
    found = write_kitti(tmp_path / "d", [
        ("Car", -1, -1, 600, 0, 700, 50, 0.95),  # on the one of no level: ignored
        ("Car", -1, -1, 0, 100, 100, 150, 0.94),  # on the van: ignored
        ("Car", -1, -1, 210, 110, 260, 160, 0.93),  # in DontCare: ignored
        ("Car", -1, -1, 900, 300, 950, 320, 0.92),  # false, but too low for every level
        ("Car", -1, -1, 500, 300, 600, 350, 0.8),  # false
        ("Car", -1, -1, 0, 0, 100, 50, 0.9),
        ("Car", -1, -1, 200, 0, 300, 50, 0.7),
        ("Car", -1, -1, 800, 0, 900, 30, 0.6),
    ])  # fmt: skip
    names = "easy_R40 moderate_R40 hard_R40 easy_R11 moderate_R11"
    result = germane.boxes.evaluate(truth.parent, found, names, dialect="kitti", only_classes="Car")
    # easy: 1 of 1 at rank 1. moderate: 3 of 3, at ranks 1, 3 and 4. hard: 3 of 4, at the same ranks
    assert result["easy_R40"].mean == result["easy_R11"].mean == 1
    assert result["moderate_R40"].mean == pytest.approx((13 * 1 + 27 * 3 / 4) / 40)
    assert result["hard_R40"].mean == pytest.approx((10 * 1 + 20 * 3 / 4) / 40)
    assert result["moderate_R11"].mean == pytest.approx((4 * 1 + 7 * 3 / 4) / 11)


DEVKIT = json.loads(Path(__file__).with_name("data").joinpath("kitti.json").read_text("utf-8"))
UNLIKE = {
    ("levels", "Cyclist hard"): "a detection overlaps two truths enough, and the devkit takes the greatest overlap",
    **{("low", f"{kind} {level}"): "the devkit gives a truth to a detection that is too low, and counts neither"
       for kind, level in (("Car", "easy"), ("Car", "moderate"), ("Car", "hard"), ("Cyclist", "easy"))},
}  # fmt: skip


def sample_as_the_devkit(ranks: list[int], truths: int) -> tuple[float, float]:
    """R40 and R11 of precision at the scores of the hits whose recalls are nearest to 0, 1/40, 2/40 …

    There are no more samples than hits, and the others of the 41 are 0.
    """
    precision, recall = [], 0.0
    for hits, rank in enumerate(ranks, 1):
        is_last = hits == len(ranks)
        if is_last or (hits + 1) / truths - recall >= recall - hits / truths:
            precision.append(hits / rank)
            recall += 1 / 40
    best = [max(precision[place:], default=0.0) for place in range(41)]
    return sum(best[1:]) / 40, sum(best[::4]) / 11


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("few", "plain") else pytest.param(name, marks=pytest.mark.slow)
        for name in DEVKIT["sets"]
    ],
)
def test_the_devkit_of_kitti_finds_the_same(name: str, tmp_path: Path) -> None:
    """What it finds and ignores is the same; it reads precision at other recalls."""
    assert sample_as_the_devkit(list(range(1, 11)), 10)[0] == 9 / 40  # ten truths, all found
    case = DEVKIT["sets"][name]
    sides = write_random(tmp_path, seed=case["seed"], images=case["images"], traits=case["traits"])
    for kind, iou in (("Car", 0.7), ("Pedestrian", 0.5), ("Cyclist", 0.5)):
        for level in ("easy", "moderate", "hard"):
            recorded = case["answers"][f"{kind} {level}"]
            said = germane.boxes.explain(
                *sides, f"AP(iou={iou},area={level},points=r40)", label=kind, dialect="kitti"
            )
            assert said.terms is not None
            ranks = [row.rank or 0 for row in said.detected if row.counts == "true"]
            got = sample_as_the_devkit(ranks, said.terms.relevant)
            alike = (name, f"{kind} {level}") not in UNLIKE
            assert (got == pytest.approx(recorded, abs=1e-9)) == alike
            if said.terms.relevant >= 80:  # and at the recalls themselves, it differs little
                assert said.value == pytest.approx(recorded[0], abs=0.02)


@pytest.mark.parametrize(
    ("truth", "found", "says"),
    [
        (("Car", 0, 0, 0, 0, 9, 9, 0.5), ("Car", 0, 0, 0, 0, 9, 9, 0.5), "Are these detections"),
        (("Car", 0, 0, 0, 0, 9, 9), ("Car", 0, 0, 0, 0, 9, 9), "Is the score missing"),
        (("Car", 0, 0, 0, 0, "x", 9), ("Car", 0, 0, 0, 0, 9, 9, 0.5), "'x' is no number"),
        (("Car", 0, 0, 5, 0, 1, 9), ("Car", 0, 0, 0, 0, 9, 9, 0.5), "negative size"),
    ],
)
def test_lines_of_kitti_that_cannot_be_read(
    truth: Any, found: Any, says: str, tmp_path: Path
) -> None:
    sides = write_kitti(tmp_path / "t", [truth]), write_kitti(tmp_path / "d", [found])
    with pytest.raises(germane.GermaneError, match=says):
        germane.boxes.evaluate(*sides, "AP50", dialect="kitti")
