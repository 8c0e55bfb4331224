"""Advice of messages about boxes is followed: options of other tools, files for pictures, ids of images."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes
from germane import cli
from germane.errors import GermaneError

from strategies import BOX_FOREIGN

TRUTH, FOUND = make_boxes(5, "floats, crowds, difficult")
NAMES = [name for names in BOX_FOREIGN for name in names.split()]
CAMEL = [
    "iouThrs",
    "iouType",
    "maxDets",
    "areaRng",
    "useCats",
    "recThrs",
    "imgIds",
    "catIds",
    "iouThresholds",
    "bboxFormat",
]
OTHER_DATA = ("person", "mask", "oks", "xyxy", "cxcywh")  # these are boxes as xywh
MEASURE = re.compile(r"\b(?:AP|AR|P|R|F)\d*(?:\([^)]*\))?(?:@\d+)?(?= does)")


def evaluate(measures: Any = "AP", **options: Any) -> germane.boxes.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        result = germane.boxes.evaluate(TRUTH, FOUND, measures, **options)
        result.flat()
        return result


@pytest.mark.parametrize("name", [*NAMES, *CAMEL])
def test_options_of_other_tools_are_answered_with_ones_that_work(name: str) -> None:
    with pytest.raises(
        germane.errors.PolicyError, match=f"boxes have no convention '{name}'"
    ) as error:
        evaluate(**{name: 3})
    said = str(error.value)
    assert "Did you mean" not in said
    for option, word in re.findall(r"\b([a-z_]+)=(\.?[\w:.]+\w)", said):
        if word in OTHER_DATA or option in ("area", "points"):  # parameters of measures
            continue
        read = {"confidence": float, "depth": int}.get(option, str)
        assert "P" in evaluate("P", **{option: read(word)}), option
    for measure in MEASURE.findall(said):
        assert measure in evaluate(measure)
    assert "result.by('class')" not in said or len(evaluate().by("class")) == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_answers_in_its_own_words(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, content in (("truth", TRUTH), ("found", FOUND)):
        Path(f"{path}.json").write_text(json.dumps(content))
    option = f"--{name.replace('_', '-')}"
    with pytest.raises(SystemExit) as stop:
        cli.main(["boxes", "truth.json", "found.json", option, "3"])
    said = capsys.readouterr().err
    assert (stop.value.code, said.count("\n")) == (2, 1)
    assert "Did you mean" not in said
    advice = said.partition("arguments: ")[2].partition(". ")[2]
    for given in re.findall(r"--(?!help)[a-z-]+ \.?[\w:.]+\w", advice):
        if given.split()[1] not in OTHER_DATA:
            command = ["boxes", "truth.json", "found.json", "-m", "P", *given.split()]
            assert cli.main(command) == 0, given
            capsys.readouterr()


def test_check_names_what_it_takes() -> None:
    with pytest.raises(germane.errors.PolicyError, match="overlap=iou compares boxes"):
        germane.boxes.check(TRUTH, FOUND, iou_type="segm")  # type: ignore[call-arg]
    with pytest.raises(
        germane.errors.PolicyError, match=r"no option 'max_dets'\..*There are: "
    ) as error:
        germane.boxes.check(TRUTH, FOUND, max_dets=3)  # type: ignore[call-arg]
    assert "depth" not in str(error.value)


@pytest.mark.parametrize("name", [*NAMES, "iou", "depth", "classes", "dialect"])
def test_verbs_without_conventions_suggest_no_option_that_looks_alike(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(germane.errors.PolicyError, match=f"check has no option '{name}'") as error:
        germane.boxes.check(TRUTH, FOUND, **{name: 3})  # type: ignore[misc]
    assert "Did you mean" not in str(error.value)
    with pytest.raises(SystemExit):
        cli.main(["boxes", "check", "truth.json", "found.json", f"--{name.replace('_', '-')}", "3"])
    said = capsys.readouterr().err
    assert "Did you mean" not in said
    assert "need quotes" not in said
    if option := re.search(r"(?<!has it: )(--[a-z-]+) \S+ (?:keeps|makes)", said):
        assert option[1] in ("--overlap", "--confidence"), said


def test_verbs_that_try_all_dialects_say_so() -> None:
    wrong: Any = {"dialect": "voc2007"}
    for call in (
        lambda: germane.boxes.spread(TRUTH, FOUND, **wrong),
        lambda: germane.boxes.reconcile_table(TRUTH, {"a": FOUND}, {"a": {"AP": 0.5}}, **wrong),
    ):
        with pytest.raises(
            germane.errors.PolicyError, match=r"takes no dialect=, since it tries all"
        ):
            call()


def test_words_that_are_no_thresholds() -> None:
    with pytest.raises(germane.errors.PolicyError, match=r"thresholds that iou= takes; got 0\.5"):
        evaluate(thresholds=0.5)
    with pytest.raises(
        germane.errors.PolicyError, match=r"A measure names one of them, as AP\(area=small\) does"
    ):
        evaluate(areas="small")
    assert evaluate("AP(area=small)", iou=0.5)["APs"].measure.iou == (0.5,)


def test_files_that_hold_no_picture_are_refused_with_one_that_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, content in (("truth", TRUTH), ("found", FOUND)):
        Path(f"{path}.json").write_text(json.dumps(content))
    command = ["boxes", "explain", "truth.json", "found.json", "--image", "3", "-o"]
    for suffix in ("jpg", "webp"):
        assert cli.main([*command, f"some.{suffix}"]) == 2
        assert "svg" in capsys.readouterr().err
        assert not Path(f"some.{suffix}").exists()
    assert cli.main([*command, "some.svg"]) == 0
    assert Path("some.svg").read_text().startswith("<svg")


# --- Ids of images -----------------------------------------------------------------------------------


def make_truth(ids: list[Any], files: list[str] | None = None) -> Any:
    rows = [{"id": one} for one in ids]
    if files:
        rows = [{**row, "file_name": file} for row, file in zip(rows, files, strict=True)]
    boxes = [
        {"image_id": one, "category_id": 1, "bbox": [9 * n, 5, 40, 40 + n]}
        for n, one in enumerate(ids)
    ]
    annotations = [{**box, "id": n + 1, "area": 1600} for n, box in enumerate(boxes)]
    return {"images": rows, "categories": [{"id": 1, "name": "cat"}], "annotations": annotations}


def find(ids: list[Any]) -> Any:
    return [
        {"image_id": one, "category_id": 1, "bbox": [9 * n, 5, 40, 40 + n], "score": 0.9 - n / 10}
        for n, one in enumerate(ids)
    ]


FILES = ["000000001000.jpg", "000000000042.jpg", "000000000007.jpg"]
NUMBERS = [1000, 42, 7]
SAME: list[tuple[Any, Any]] = [
    (make_truth([1, 2, 3], FILES), find(NUMBERS)),
    (make_truth([1, 42, 3], FILES), find(NUMBERS)),  # one of the numbers is an id, too
    (make_truth([1, 2, 3], FILES), find(["000000001000", "000000000042", "000000000007"])),
    (
        make_truth([1, 2, 3], [f"val2017/{one}" for one in FILES]),
        find([f"/data/images/{one}" for one in FILES]),
    ),
    (make_truth([1, 2, 3], FILES), find([rf"C:\data\{one}" for one in FILES])),
    (make_truth([1, 2, 3], [f"COCO_val2014_{one}" for one in FILES]), find(NUMBERS)),
    (make_truth(NUMBERS), find(FILES)),
    (make_truth(NUMBERS), find([f"val2017/{one}" for one in FILES])),
    (make_truth(NUMBERS), find([f"COCO_val2014_{one}" for one in FILES])),
    (make_truth(NUMBERS), find(["000000001000", "000000000042", "000000000007"])),
    (make_truth(["000000001000", "000000000042", "000000000007"]), find(NUMBERS)),
    (make_truth([1, 2, 3], ["a/x.jpg", "b/y.jpg", "z.png"]), find(["x", "y.jpg", "/data/z.png"])),
]


@pytest.mark.parametrize("at", range(len(SAME)))
def test_images_are_found_by_the_numbers_and_names_of_their_files(at: int) -> None:
    truth, found = SAME[at]
    assert germane.boxes.evaluate(truth, found, "AP")["AP"].mean == 1
    assert "unknown images" not in {one.what for one in germane.boxes.check(truth, found)}
    for row, image in zip(found, truth["images"], strict=True):
        for given in (row["image_id"], image["id"], str(image["id"])):
            made = germane.boxes.explain(truth, found, "AP50", image=given)
            assert [one.score for one in made.rows] == [row["score"]]
    with pytest.raises(germane.errors.NotFoundError, match="there is no image True"):
        germane.boxes.explain(truth, found, "AP50", image=True)


def test_numbers_of_files_on_disk_are_ids(tmp_path: Path) -> None:
    """A folder of VOC's XML beside detections of which the numbers are ids."""
    for file in FILES:
        (tmp_path / file.replace(".jpg", ".xml")).write_text(
            "<annotation><size><width>99</width><height>99</height></size><object><name>cat</name><bndbox>"
            "<xmin>5</xmin><ymin>5</ymin><xmax>45</xmax><ymax>45</ymax></bndbox></object></annotation>"
        )
    found = [
        {"image_id": one, "category_id": "cat", "bbox": [5, 5, 40, 40], "score": 0.9 - n / 10}
        for n, one in enumerate(NUMBERS)
    ]
    assert germane.boxes.evaluate(tmp_path, found, "AP")["AP"].mean == 1


def test_ids_that_are_partly_numbers_of_files_are_explained() -> None:
    """The message says which file; with the ids that it names, and without the others, nothing is wrong."""
    truth, found = make_truth([1, 2, 3], FILES), find([1000, 42, 8])
    with pytest.raises(
        germane.errors.InputError, match="there is no image 1000 in the truth"
    ) as error:
        germane.boxes.evaluate(truth, found, "AP")
    said = str(error.value)
    assert "It is the number of the file '000000001000.jpg', whose id is 1;" in said
    assert "but for 1 of 3 boxes, no file of the truth has their number" in said
    mended = [{**row, "image_id": one} for row, one in zip(found[:2], (1, 2), strict=True)]
    assert germane.boxes.evaluate(truth, mended, "AP")["AP"].mean > 0.6


@pytest.mark.parametrize("ids", [["1000", "42", "7"], [1000.5, 42, 7], [True, 42, 7]])
def test_what_is_no_number_of_a_file_is_refused(ids: list[Any]) -> None:
    """Text that is written like a number stands for none: it is a conversion that went wrong."""
    with pytest.raises(GermaneError):
        germane.boxes.evaluate(make_truth(NUMBERS), find(ids), "AP")
