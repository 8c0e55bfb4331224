"""Detections that do not belong to the truths of their images: it is said, with the cause, and the advice works."""

import ast
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli

Rows = list[dict[str, Any]]
SIZES = [(640, 480), (1920, 1080), (500, 375), (333, 500)]
NOT_ON, MIXED = "hardly any detection on a truth", "images mixed up"


def make_sets(
    images: int = 24, seed: int = 0, files: Callable[[int], str] | None = None
) -> tuple[Any, Rows]:
    """Images of several sizes with two to five objects each, and a good detector."""
    rng = np.random.default_rng(seed)
    truth: dict[str, Any] = {
        "images": [], "annotations": [], "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }  # fmt: skip
    found: Rows = []
    for image in range(images):
        width, height = SIZES[image % len(SIZES)]
        row = {"id": image, "width": width, "height": height}
        truth["images"].append({**row, "file_name": files(image)} if files else row)
        for _ in range(int(rng.integers(2, 6))):
            w, h = rng.uniform(0.08, 0.3, 2) * (width, height)
            x, y = rng.uniform(0, 1, 2) * (width - w, height - h)
            sides = np.array([x, y, w, h])
            box = {
                "image_id": image,
                "category_id": int(rng.integers(1, 3)),
                "bbox": sides.tolist(),
            }
            truth["annotations"].append({**box, "id": len(truth["annotations"]) + 1})
            if rng.random() < 0.85:
                noisy = (sides + rng.normal(0, 0.02, 4) * [w, h, w, h]).tolist()
                found.append({**box, "bbox": noisy, "score": float(rng.uniform(0.3, 1))})
    return truth, found


def change(rows: Rows, turn: Callable[[list[float], int], Any]) -> Rows:
    return [{**row, "bbox": list(turn(row["bbox"], row["image_id"]))} for row in rows]


def look(truth: Any, found: Any, **options: Any) -> tuple[float, tuple[germane.types.Finding, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        result = germane.boxes.evaluate(truth, found, "AP50", **options)
    return result["AP50"].mean, result.findings


def test_the_sets_are_sound() -> None:
    for seed in range(5):
        value, findings = look(*make_sets(seed=seed))
        assert (value > 0.7, findings) == (True, ())


def resize(box: list[float], factor: Any) -> list[float]:
    x, y = factor if isinstance(factor, tuple) else (factor, factor)
    return [box[0] * x, box[1] * y, box[2] * x, box[3] * y]


def size_of(image: int) -> tuple[int, int]:
    return SIZES[image % len(SIZES)]


RESIZED: dict[str, tuple[Callable[[list[float], int], Any], str, Callable[[list[float], int, list[float]], Any]]] = {
    "half": (lambda box, _: resize(box, 0.5), "with them multiplied by 2", lambda box, _, n: resize(box, n[0])),
    "three times": (lambda box, _: resize(box, 3), "with them multiplied by 0.333", lambda box, _, n: resize(box, n[0])),
    "wide": (
        lambda box, _: resize(box, (0.5, 0.8)), "with them multiplied by 2 in x and 1.25 in y",
        lambda box, _, n: resize(box, (n[0], n[1])),
    ),
    "square": (
        lambda box, image: resize(box, (640 / size_of(image)[0], 640 / size_of(image)[1])),
        "with them taken for those of images of 640 × 640 pixels",
        lambda box, image, n: resize(box, (size_of(image)[0] / n[0], size_of(image)[1] / n[1])),
    ),
    "longer side": (
        lambda box, image: resize(box, 416 / max(size_of(image))),
        "with them taken for those of images whose longer side has 416 pixels",
        lambda box, image, n: resize(box, max(size_of(image)) / n[0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RESIZED)
def test_boxes_of_resized_images_are_named_with_their_factor(kind: str) -> None:
    """Scaled back by the number that is said, nothing is left to be said."""
    spoil, says, mend = RESIZED[kind]
    truth, found = make_sets()
    spoilt = change(found, spoil)
    value, [said] = look(truth, spoilt)
    assert value < 0.1
    assert (said.what, said.severity) == (NOT_ON, "serious")
    stated = re.search(r"; with them .*?,", said.says)
    assert stated is not None
    numbers = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", stated[0])]
    for one, wanted in zip(numbers, re.findall(r"\d+(?:\.\d+)?", says), strict=True):
        assert one == pytest.approx(float(wanted), rel=0.02)
    assert re.sub(r"[\d.]+", "N", stated[0]) == re.sub(r"[\d.]+", "N", f"; {says},")
    mended, findings = look(
        truth, [{**row, "bbox": mend(row["bbox"], row["image_id"], numbers)} for row in spoilt]
    )
    assert mended == pytest.approx(look(truth, found)[0], abs=0.02)
    assert findings == ()


def test_resized_images_without_sizes_are_found_where_one_factor_holds() -> None:
    truth, found = make_sets()
    truth["images"] = [{"id": one["id"]} for one in truth["images"]]
    assert (
        "with them multiplied by 2"
        in look(truth, change(found, lambda box, _: resize(box, 0.5)))[1][0].says
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_mirrored_boxes_are_named_and_the_advice_mends_them(axis: int) -> None:
    truth, found = make_sets()

    def mirror(box: list[float], image: int) -> list[float]:
        corner = size_of(image)[axis] - box[axis] - box[axis + 2]
        return [corner if i == axis else one for i, one in enumerate(box)]

    value, [said] = look(truth, change(found, mirror))
    assert value < 0.2
    assert (said.what, f"with them mirrored in {'xy'[axis]}," in said.says) == (NOT_ON, True)
    assert f"Subtract {'xy'[axis]} from the {('width', 'height')[axis]} of the image" in said.advice


@pytest.mark.parametrize("pad", [(0, 80), (140, 0), (-60, 33)])
def test_boxes_of_padded_images_are_named_with_the_border(pad: tuple[int, int]) -> None:
    truth, found = make_sets()

    def move(box: list[float], by: tuple[float, float]) -> list[float]:
        return [box[0] + by[0], box[1] + by[1], *box[2:]]

    spoilt = change(found, lambda box, _: move(box, pad))
    _, findings = look(truth, spoilt)
    says = next(one.says for one in findings if one.what == NOT_ON)
    stated = re.search(r"with them moved by (\S+) in x and (\S+) in y,", says)
    assert stated is not None
    x, y = map(float, stated.groups())
    assert (x, y) == (pytest.approx(-pad[0], abs=3), pytest.approx(-pad[1], abs=3))
    mended, findings = look(truth, change(spoilt, lambda box, _: move(box, (x, y))))
    assert (mended > 0.7, findings) == (True, ())


@pytest.mark.parametrize("images", [6, 24, 200])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_at_random_are_told(images: int, seed: int) -> None:
    """Without a cause, by the shares of both sides that overlap; few of a large detector suffice."""
    truth, found = make_sets(images, seed)
    rng = np.random.default_rng(seed)
    strange = [
        {**row, "bbox": [*rng.uniform(0, 250, 2).tolist(), *rng.uniform(20, 80, 2).tolist()]}
        for row in found
    ]
    _, [said] = look(truth, strange)
    assert said.what == NOT_ON
    assert re.match(
        r"[0-7]\.\d% of detections overlap a truth .* and [0-7]\.\d% of truths", said.says
    )
    many = [one for row in found for one in (row, *[{**row, "bbox": [0, 0, 5, 5]}] * 30)]
    assert NOT_ON not in {one.what for one in look(truth, many)[1]}  # it finds most truths
    few = [{**row, "bbox": [0, 0, 5, 5]} if n % 2 else row for n, row in enumerate(found)]
    assert NOT_ON not in {one.what for one in look(truth, few)[1]}


@pytest.mark.parametrize("form", ["xywh", "xyxy", "cxcywh"])
def test_y_before_x_is_named(form: str) -> None:
    """Also together with another format, in which boxes are read after x and y are exchanged."""
    truth, found = make_sets()
    forms: dict[str, Callable[[float, float, float, float], list[float]]] = {
        "xywh": lambda x, y, w, h: [x, y, w, h],
        "xyxy": lambda x, y, w, h: [x, y, x + w, y + h],
        "cxcywh": lambda x, y, w, h: [x + w / 2, y + h / 2, w, h],
    }
    spoilt = change(found, lambda box, _: (lambda a, b, c, d: (b, a, d, c))(*forms[form](*box)))
    value, findings = look(truth, spoilt)
    said = next(one for one in findings if one.what == NOT_ON)
    assert value < 0.1
    assert "with x and y exchanged" in said.says
    assert said.advice.startswith("Write x before y")
    options = dict(re.findall(r"(box_format)=(\{.*?\})", said.advice))
    given = {name: ast.literal_eval(word) for name, word in options.items()}
    assert bool(given) == (form != "xywh")
    swapped = change(spoilt, lambda box, _: (box[1], box[0], box[3], box[2]))
    mended, left = look(truth, swapped, **given)
    assert mended == pytest.approx(look(truth, found)[0])
    assert left == ()


def test_relative_numbers_with_y_before_x() -> None:
    """They are shares of the height and the width, and not of the width and the height."""
    truth, found = make_sets()
    shares = change(found, lambda box, image: (
        box[1] / size_of(image)[1], box[0] / size_of(image)[0], box[3] / size_of(image)[1], box[2] / size_of(image)[0],
    ))  # fmt: skip
    _, [said] = look(truth, shares, coordinates={"detections": "relative"})
    assert "with x and y exchanged" in said.says


def write_yolo(folder: Path, truth: Any, found: Rows, *, first: bool) -> None:
    """Write labels, with the score of detections before the box or, as it should be, after it."""
    for name, rows in (("truth", truth["annotations"]), ("found", found)):
        (folder / name).mkdir()
        for image in range(len(truth["images"])):
            width, height = size_of(image)
            lines = []
            for row in rows:
                if row["image_id"] == image:
                    x, y, w, h = row["bbox"]
                    box = [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]
                    score = [row["score"]] if "score" in row else []
                    numbers = [*score, *box] if first else [*box, *score]
                    lines.append(" ".join(map(repr, [row["category_id"], *numbers])))
            (folder / name / f"{image:04}.txt").write_text("\n".join(lines))
    (folder / "sizes.csv").write_text(
        "\n".join(
            [
                "image,width,height",
                *(f"{i:04},{w},{h}" for i in range(len(truth["images"])) for w, h in [size_of(i)]),
            ]
        )
    )


def test_a_score_before_the_box_is_named_and_the_advice_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, found = make_sets()
    monkeypatch.chdir(tmp_path)
    write_yolo(tmp_path, truth, found, first=True)
    value, findings = look("truth", "found", images="sizes.csv")
    [said] = [one for one in findings if one.what == NOT_ON]
    assert value < 0.1
    assert "with the score before the box" in said.says
    options = {
        name: ast.literal_eval(word) for name, word in re.findall(r"(\w+)=(\{.*?\})", said.advice)
    }
    mended, left = look("truth", "found", images="sizes.csv", **options)
    assert mended == pytest.approx(look(truth, found)[0])
    assert left == ()
    assert cli.main(["boxes", "truth", "found", "--images", "sizes.csv", "-m", "AP50"]) == 0
    told = capsys.readouterr().err
    given = re.findall(r"(--(?:input-format|coordinates|box-format)) (detections=\w+)", told)
    assert len(given) == 3
    command = [
        "boxes",
        "truth",
        "found",
        "--images",
        "sizes.csv",
        "-m",
        "AP50",
        *(word for pair in given for word in pair),
    ]
    assert cli.main(command) == 0
    printed = capsys.readouterr()
    assert f"{mended:.4f}" in printed.out
    assert printed.err == ""


# --- Images ----------------------------------------------------------------------------------------


def renumber(found: Rows, order: Callable[[int], int]) -> Rows:
    return [{**row, "image_id": order(row["image_id"])} for row in found]


def test_numbers_of_files_in_the_place_of_ids_are_named() -> None:
    """The files are numbered otherwise than the images, with the same numbers."""
    truth, found = make_sets(files=lambda image: f"val/{(image * 7 + 3) % 24:012}.jpg")
    numbers = {one["id"]: int(one["file_name"][4:16]) for one in truth["images"]}
    value, [said] = look(truth, renumber(found, numbers.__getitem__))
    assert value < 0.1
    assert said.what == MIXED
    assert "of the image whose file has their number" in said.says
    named = [{**row, "image_id": truth["images"][row["image_id"]]["file_name"]} for row in found]
    assert look(truth, named) == look(truth, found)


def test_places_in_the_order_of_files_are_named() -> None:
    truth, found = make_sets(files=lambda image: f"{'hjgfasdkl'[image % 9]}{image}.png")
    files = sorted(one["file_name"] for one in truth["images"])
    place = {one["id"]: files.index(one["file_name"]) for one in truth["images"]}
    _, [said] = look(truth, renumber(found, place.__getitem__))
    assert said.what == MIXED
    assert "at their place in the order of files" in said.says


def test_an_offset_of_ids_is_named_with_the_number() -> None:
    truth, found = make_sets(images=40)
    moved = [row for row in renumber(found, lambda image: image - 5) if row["image_id"] >= 0]
    value, [said] = look(truth, moved)
    assert value < 0.1
    by = re.fullmatch(
        r"(Add|Subtract) (\d+) (?:to|from) the image ids of the detections\.", said.advice
    )
    assert by is not None
    step = int(by[2]) * (1 if by[1] == "Add" else -1)
    mended, left = look(truth, renumber(moved, lambda image: image + step))
    assert (step, left) == (5, ())
    assert mended > 0.7


@pytest.mark.parametrize("seed", range(6))
def test_any_other_order_of_images_is_named(seed: int) -> None:
    truth, found = make_sets(images=30, seed=seed)
    order = np.random.default_rng(seed).permutation(30).tolist()
    _, [said] = look(truth, renumber(found, order.__getitem__))
    assert said.what == MIXED
    assert "fit the truths of another image, box by box" in said.says
    whose, right = re.findall(r"those of (\d+) fit (\d+)", said.examples[0])[0]
    assert order[int(right)] == int(whose)


def test_an_error_of_unknown_images_says_that_ids_are_off_by_one() -> None:
    truth, found = make_sets()
    with pytest.raises(
        germane.errors.InputError,
        match="All ids are known if each is 1 less: do both sides number from 0",
    ):
        look(truth, renumber(found, lambda image: image + 1))


def test_detections_of_another_data_set_are_told() -> None:
    told = 0
    for seed in range(10):
        truth, _ = make_sets(images=40, seed=seed)
        _, findings = look(truth, make_sets(images=40, seed=seed + 100)[1])
        told += {one.what for one in findings} == {NOT_ON}
    assert told >= 3


def test_few_detections_are_told_by_evaluate_and_check() -> None:
    truth, found = make_sets(images=30)
    with pytest.warns(
        germane.GermaneWarning, match="29 of 30 images with truths have no detection"
    ):
        result = germane.boxes.evaluate(truth, found[:1], "AP50")
    assert [one.what for one in result.findings] == ["hardly any image with detections"]
    assert "hardly any image with detections" in {
        one.what for one in germane.boxes.check(truth, found[:1])
    }
    half = [row for row in found if row["image_id"] < 15]
    assert look(truth, half)[1] == ()
    assert "images without detections" in {one.what for one in germane.boxes.check(truth, half)}


# --- Repeated ids -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "noun"),
    [("images", "image"), ("categories", "category"), ("annotations", "annotation")],
)
def test_check_reports_ids_that_stand_twice_beside_all_else(key: str, noun: str) -> None:
    """evaluate refuses them."""
    truth, found = make_sets()
    truth[key] = [*truth[key], dict(truth[key][0])]
    if key == "annotations":
        truth[key][-1]["bbox"] = [1.0, 2.0, 30.0, 40.0]
    says = f"the truth: two entries have the {noun} id {truth[key][0]['id']}."
    with pytest.raises(germane.errors.FormatError, match=re.escape(says)):
        look(truth, found)
    found[3]["bbox"][2] = -4.0
    checkup = germane.boxes.check(truth, found)
    assert {one.what for one in checkup.serious} == {"repeated ids", "negative sizes"}
    assert next(one for one in checkup if one.what == "repeated ids").examples == (says,)
