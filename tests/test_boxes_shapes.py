"""Masks and keypoints, beside pycocotools and answers recorded from it (data/shapes.json)."""

import copy
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import germane
from shapes_sets import make_shapes

DATA = Path(__file__).with_name("data")
RECORDED = json.loads(DATA.joinpath("shapes.json").read_text("utf-8"))["sets"]
has_pycocotools = pytest.mark.skipif(
    importlib.util.find_spec("pycocotools") is None, reason="pycocotools is not installed"
)
pytestmark = [
    pytest.mark.filterwarnings("ignore::germane.GermaneWarning"),
    pytest.mark.filterwarnings("ignore:__array__ implementation"),  # of pycocotools
]
sys.path.insert(0, str(DATA))

from record_shapes import ask, list_images, sign  # noqa: E402

SIGMAS = [.026, .025, .025, .035, .035, .079, .079, .072, .072, .062, .062, .107, .107, .087, .087, .089, .089]  # fmt: skip
PERSON = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40], "area": 1600.0}


def list_cases() -> list[Any]:
    return [
        pytest.param(one, marks=has_pycocotools if one["kind"] == "segm" else (), id=f"{one['kind']} {one['seed']}")
        for one in RECORDED
    ]  # fmt: skip


def make_truth(*annotations: dict[str, Any], images: int = 1) -> dict[str, Any]:
    return {
        "images": [{"id": i, "width": 100, "height": 80} for i in range(1, images + 1)],
        "categories": [{"id": 1, "name": "person"}],
        "annotations": list(annotations),
    }


# --- pycocotools, bit for bit -------------------------------------------------------------------


@pytest.mark.parametrize("one", list_cases())
def test_recorded_answers_of_pycocotools(one: dict[str, Any]) -> None:
    result = germane.boxes.evaluate(
        one["truth"], one["detections"], dialect=f"pycocotools-{one['kind']}"
    )
    assert result.stats.tolist() == one["stats"]
    assert (sign(result.precision), sign(result.recall)) == (one["precision"], one["recall"])


@has_pycocotools
@pytest.mark.parametrize("seed", range(30, 36))
@pytest.mark.parametrize("kind", ["segm", "keypoints"])
def test_random_sets_equal_pycocotools_bit_for_bit(kind: str, seed: int) -> None:
    truth, detections = make_shapes(seed, kind, 6)
    wanted = ask(truth, detections, kind)
    result = germane.boxes.evaluate(truth, detections, dialect=f"pycocotools-{kind}")
    assert np.array_equal(result.precision, wanted.eval["precision"])
    assert np.array_equal(result.recall, wanted.eval["recall"])
    assert np.array_equal(result.stats, wanted.stats)


@has_pycocotools
@pytest.mark.parametrize("kind", ["segm", "keypoints"])
def test_odd_sets_equal_pycocotools_bit_for_bit(kind: str) -> None:
    truth, detections = make_shapes(77, kind, 6, boxed=True)
    deep = [{**row, "score": i * 7919 % 1000 / 1000} for i, row in enumerate(detections * 12)]
    borders = [
        {**row, "area": [1024, 9216, 0, 1e10][row["id"] % 4]} for row in truth["annotations"]
    ]
    for annotations, found in (
        ([], detections),
        (truth["annotations"], deep),
        (borders, [*detections, {**detections[0], "category_id": 99}]),
    ):
        given = {**truth, "images": truth["images"][::-1], "annotations": annotations}
        wanted = ask(given, found, kind)
        result = germane.boxes.evaluate(given, found, dialect=f"pycocotools-{kind}")
        assert np.array_equal(result.precision, wanted.eval["precision"])
        assert np.array_equal(result.recall, wanted.eval["recall"])
        assert np.array_equal(result.stats, wanted.stats)


@has_pycocotools
def test_files_are_read_as_what_was_loaded(tmp_path: Path) -> None:
    truth, detections = make_shapes(2, "segm", boxed=True)
    paths = [tmp_path / "truth.json", tmp_path / "found.json"]
    for path, given in zip(paths, (truth, detections), strict=True):
        path.write_text(json.dumps(given), "utf-8")
    loaded = germane.boxes.evaluate(truth, detections, overlap="mask").flat()
    assert germane.boxes.evaluate(*paths, overlap="mask").flat() == loaded


@has_pycocotools
@pytest.mark.parametrize("kind", ["segm", "keypoints"])
def test_a_dialect_is_words_and_measures_that_exist(kind: str) -> None:
    name, (truth, detections) = f"pycocotools-{kind}", make_shapes(1, kind)
    dialect = germane.boxes.dialects()[name]
    result = germane.boxes.evaluate(truth, detections, dialect=name)
    assert list(result) == dialect.summary.replace("{k}", "100").split()
    assert name in str(result)
    for entry in dialect.measuring:
        one = entry.write_name(10)
        assert one in germane.boxes.evaluate(truth, detections, one, dialect=name)


@has_pycocotools
@pytest.mark.parametrize(
    "one", [one for one in RECORDED if one.get("torchmetrics")], ids=lambda one: str(one["seed"])
)
def test_recorded_answers_of_torchmetrics(one: dict[str, Any]) -> None:
    both = list_images(one["truth"]), list_images(one["truth"], one["detections"])
    ours = germane.boxes.evaluate(*both, dialect="torchmetrics", overlap="mask").flat()
    wanted = {name: value if value != -1 else np.nan for name, value in one["torchmetrics"].items()}
    assert ours == pytest.approx({name: wanted[name] for name in ours}, abs=1e-7, nan_ok=True)


# --- Forms of masks -----------------------------------------------------------------------------


@has_pycocotools
def test_arrays_of_masks_are_the_same_as_polygons() -> None:
    truth, detections = make_shapes(4, "segm", boxed=True)
    both = list_images(truth), list_images(truth, detections)
    coco = germane.boxes.evaluate(truth, detections, overlap="mask")
    arrays = germane.boxes.evaluate(*both, overlap="mask")
    assert arrays.flat() == pytest.approx(coco.flat(), nan_ok=True, abs=1e-15)


@has_pycocotools
def test_boxes_follow_from_masks() -> None:
    mask = np.zeros((1, 20, 30), bool)
    mask[0, 5:10, 3:9] = True
    truth = [{"masks": mask, "labels": [1]}]
    result = germane.boxes.evaluate(truth, [{**truth[0], "scores": [0.9]}], "AP50", overlap="mask")
    assert result.truths.boxes.as_array().tolist() == [[3, 5, 6, 5]]
    assert result.truths.area.tolist() == [30]
    assert result["AP50"].mean == pytest.approx(1)


@has_pycocotools
def test_many_masks_are_measured() -> None:
    mask = np.zeros((700, 20, 30), bool)
    mask[:, 5:10, 3:9] = True
    one = {"masks": mask, "labels": [1] * 700}
    result = germane.boxes.evaluate(
        [one], [{**one, "scores": np.arange(700) / 700}], "AP50", overlap="mask", depth=None
    )
    assert result["AP50"].mean == pytest.approx(1)
    assert (result.truths.area == 30).all()
    assert (result.truths.boxes.as_array() == [3, 5, 6, 5]).all()


@has_pycocotools
def test_a_crowd_is_overlapped_by_the_share_of_the_detection() -> None:
    square = [[10, 10, 50, 10, 50, 50, 10, 50]]
    half = [[40, 10, 60, 10, 60, 50, 40, 50]]
    for crowd, wanted in ((1, 0.5), (0, 400 / (1600 + 800 - 400))):
        truth = make_truth({**PERSON, "iscrowd": crowd, "segmentation": square})
        found = [{"image_id": 1, "category_id": 1, "score": 0.9, "segmentation": half}]
        said = germane.boxes.explain(truth, found, "AP10", image=1, overlap="mask")
        assert said.rows[0].overlap == pytest.approx(wanted)


@has_pycocotools
@pytest.mark.parametrize(
    ("segmentation", "says"),
    [
        ([], "needs|no polygon"),
        ([[1, 2, 3]], "x and y of its corners"),
        ([[1, 2, 3, 4]], "three corners"),
        ([[1, 2, 3, 4, 5, "6"]], "x and y of its corners"),
        ([[1, 2, 3, 4, 5, 1e9]], "x and y of its corners"),
        ({"size": [80, 100], "counts": [5, 5]}, "add up to 10, not to its 8,000"),
        ({"size": [80, 100], "counts": [8001, -1]}, "whole numbers"),
        ({"size": [80, 101], "counts": [8080]}, "80 rows and 101 columns"),
        ({"size": [80], "counts": "abc"}, "height and width"),
        ({"size": [80, 100], "counts": "\x7f"}, "cannot be read"),
        ({"size": [80, 100], "counts": "P"}, "cannot be read"),
        ({"size": [80, 100], "counts": "51"}, "do not add up"),
        ({"size": [80, 100], "counts": "mj7O"}, "do not add up"),
        ({"size": [80, 100], "counts": ""}, "do not add up"),
        ({"size": [80, 100], "counts": "o" * 30 + "0"}, "do not add up"),
        ({"counts": "abc"}, "size and counts"),
        ("abc", "polygons, or run lengths"),
    ],
)
def test_a_mask_that_cannot_be_read(segmentation: Any, says: str) -> None:
    truth = make_truth({**PERSON, "segmentation": segmentation})
    with pytest.raises(germane.errors.InputError, match=rf"annotation 1 \(id 1\).*({says})"):
        germane.boxes.evaluate(truth, [], overlap="mask")


@has_pycocotools
def test_polygons_need_the_size_of_their_image() -> None:
    truth = make_truth({**PERSON, "segmentation": [[1, 1, 9, 1, 9, 9]]})
    truth["images"] = [{"id": 1}]
    with pytest.raises(germane.errors.InputError, match="polygons need the size of their image"):
        germane.boxes.evaluate(truth, [], overlap="mask")
    assert germane.boxes.evaluate(truth, [], "AP50", overlap="mask", images={1: (20, 20)})


@pytest.mark.parametrize(("overlap", "key"), [("mask", "segmentation"), ("oks", "keypoints")])
def test_boxes_alone_have_neither_masks_nor_keypoints(overlap: str, key: str) -> None:
    with pytest.raises(germane.errors.InputError, match=f"{key}.*overlap=iou evaluates"):
        germane.boxes.evaluate(make_truth(PERSON), [], overlap=overlap)
    boxes = [{"boxes": [[1, 1, 9, 9]], "labels": [1], "scores": [0.5]}]
    with pytest.raises(germane.errors.InputError, match=f"overlap={overlap}"):
        germane.boxes.evaluate(boxes, boxes, overlap=overlap)


# --- Keypoints ----------------------------------------------------------------------------------


def make_points(shift: float = 0, seen: int = 2) -> list[float]:
    return [one for i in range(17) for one in (20 + i + shift, 30 + i, seen)]


def test_the_similarity_of_keypoints_is_that_of_its_formula() -> None:
    truth = make_truth({**PERSON, "keypoints": make_points(), "num_keypoints": 17})
    found = [{"image_id": 1, "category_id": 1, "score": 0.9, "keypoints": make_points(3)}]
    said = germane.boxes.explain(truth, found, "AP50", image=1, overlap="oks")
    widths = (2 * np.array(SIGMAS)) ** 2
    assert said.rows[0].overlap == pytest.approx(np.exp(-9 / (2 * 1600 * widths)).mean())


def test_people_without_visible_keypoints_are_ignored() -> None:
    rows = [
        {**PERSON, "keypoints": make_points(), "num_keypoints": 17},
        {**PERSON, "id": 2, "image_id": 2, "keypoints": make_points(seen=0), "num_keypoints": 0},
    ]
    found = [
        {"image_id": i, "category_id": 1, "score": 0.9, "keypoints": make_points()} for i in (1, 2)
    ]
    result = germane.boxes.evaluate(make_truth(*rows, images=2), found, "AP50", overlap="oks")
    assert result["AP50"].mean == pytest.approx(1)
    assert result.counts.unseen == 1
    assert "1 without visible keypoints ignored" in str(result)
    said = germane.boxes.explain(make_truth(*rows, images=2), found, "AP50", image=2, overlap="oks")
    assert [row.outcome for row in said.rows] == ["unseen"]


def test_other_keypoints_need_their_sigmas() -> None:
    points = [20, 30, 2, 40, 50, 2]
    truth = make_truth({**PERSON, "keypoints": points})
    found = [{"image_id": 1, "category_id": 1, "score": 0.9, "keypoints": points}]
    with pytest.raises(germane.errors.InputError, match=r"2 keypoints .* 17\. sigmas="):
        germane.boxes.evaluate(truth, found, overlap="oks")
    for sigmas in ([0.1, 0.2], ".1,.2"):
        result = germane.boxes.evaluate(truth, found, "AP50", overlap="oks", sigmas=sigmas)
        assert result["AP50"].mean == pytest.approx(1)
        assert "sigmas=.1+.2" in str(result)
    for odd in ([], [0.1, -1], "x", 5):
        with pytest.raises(germane.errors.PolicyError, match="a positive number for each keypoint"):
            germane.boxes.evaluate(truth, found, overlap="oks", sigmas=odd)


@pytest.mark.parametrize(
    "points", [[1, 2], [1, 2, "3"], [1, 2, True], "abc", [1, 2, float("nan")], np.ones(3)]
)
def test_keypoints_that_cannot_be_read(points: Any) -> None:
    truth = make_truth({**PERSON, "keypoints": points})
    with pytest.raises(germane.errors.InputError, match=r"annotation 1 \(id 1\).*visibility"):
        germane.boxes.evaluate(truth, [], overlap="oks")


@pytest.mark.parametrize("count", [True, "0", -1, [1], np.array([1, 2])])
def test_a_count_of_keypoints_is_a_number(count: Any) -> None:
    truth = make_truth({**PERSON, "keypoints": make_points(), "num_keypoints": count})
    with pytest.raises(
        germane.errors.InputError, match=r"annotation 1 \(id 1\): num_keypoints is a whole"
    ):
        germane.boxes.evaluate(truth, [], overlap="oks")


def test_keypoints_need_areas() -> None:
    row = {key: value for key, value in PERSON.items() if key != "area"}
    with pytest.raises(germane.errors.InputError, match="'area'"):
        germane.boxes.evaluate(make_truth({**row, "keypoints": make_points()}), [], overlap="oks")


def test_keypoints_of_dicts_are_those_of_coco() -> None:
    truth, detections = make_shapes(5, "keypoints", boxed=False)
    annotated, detected = {}, {}
    for image in truth["images"]:
        for rows, out in ((truth["annotations"], annotated), (detections, detected)):
            mine = [row for row in rows if row["image_id"] == image["id"]]
            one = {
                "keypoints": np.array([row["keypoints"] for row in mine], float).reshape(-1, 17, 3),
                "labels": [row["category_id"] for row in mine],
            }
            for key, name in (("score", "scores"), ("area", "area"), ("iscrowd", "iscrowd")):
                if (key == "score") == (out is detected):
                    one[name] = np.array([row[key] for row in mine])
            if out is annotated:
                one["boxes"] = [row["bbox"] for row in mine]
            out[image["id"]] = one
    given = {"overlap": "oks", "box_format": "xywh"}
    assert germane.boxes.evaluate(annotated, detected, **given).flat() == pytest.approx(
        germane.boxes.evaluate(truth, detections, **given).flat(), nan_ok=True
    )


# --- The verbs ----------------------------------------------------------------------------------


@has_pycocotools
def test_reconcile_tells_mask_ap_from_box_ap() -> None:
    truth, detections = make_shapes(3, "segm", boxed=True)
    value = germane.boxes.evaluate(truth, detections, "AP", overlap="mask")["AP"].mean
    said = germane.boxes.reconcile(truth, detections, reported=f"{value:.5f}")
    assert ("overlap", "mask") in said.found[0].candidate.choices
    names = [one.dialect for one in germane.boxes.spread(truth, detections, "AP50")]
    assert "pycocotools-segm" in names
    assert "pycocotools-keypoints" not in names


def test_reconcile_of_boxes_does_not_stumble_over_masks_that_cannot_be_read() -> None:
    truth = make_truth({**PERSON, "segmentation": [[1, 2, 3]]})
    found = [{**PERSON, "score": 0.9, "segmentation": {"size": 3}}]
    assert germane.boxes.reconcile(truth, found, reported="1.0").found


@has_pycocotools
def test_check_takes_masks_without_boxes() -> None:
    mask = np.zeros((1, 20, 30), bool)
    mask[0, 5:10, 3:9] = True
    truth = [{"masks": mask, "labels": [1]}]
    found = [{**truth[0], "scores": [0.9]}]
    assert not [
        one for one in germane.boxes.check(truth, found, overlap="mask") if one.severity != "note"
    ]
    sound = {**PERSON, "id": 2, "segmentation": [[1, 1, 9, 1, 9, 9]]}
    odd = make_truth({**PERSON, "segmentation": [[1, 2, 3]]}, sound)
    assert "cannot be read" in str(germane.boxes.check(odd, [], overlap="mask"))
    with pytest.raises(germane.errors.PolicyError, match="overlap"):
        germane.boxes.check(truth, found, overlap="masks")


def test_verbs_take_keypoints() -> None:
    truth, detections = make_shapes(5, "keypoints", boxed=False)
    given = {"overlap": "oks"}
    assert "<svg" in germane.boxes.report(truth, {"all": detections}, **given).html
    compared = germane.boxes.compare(truth, {"all": detections, "few": detections[:20]}, **given)
    assert compared.between("few", "all", "AP").difference != 0
    assert germane.boxes.gate(truth, detections, baseline=detections, **given).passed
    result = germane.boxes.evaluate(truth, detections, **given)
    assert set(result.by("area").names) == {"all", "medium", "large"}
    assert germane.boxes.explain(truth, detections, **given).errors.value == result["AP50"].mean


@has_pycocotools
def test_the_picture_draws_masks_and_keypoints() -> None:
    truth, detections = make_shapes(4, "segm", boxed=True)
    image = detections[0]["image_id"]
    said = germane.boxes.explain(truth, detections, image=image, overlap="mask")
    assert said.svg().count("Z") >= len(said.truths)
    json.dumps(said.to_dict())
    truth, detections = make_shapes(5, "keypoints", boxed=False)
    image = detections[0]["image_id"]
    said = germane.boxes.explain(truth, detections, image=image, overlap="oks")
    assert "a2.5 2.5" in said.svg()
    json.dumps(said.to_dict())


def test_sets_are_not_changed() -> None:
    truth, detections = make_shapes(5, "keypoints")
    before = copy.deepcopy((truth, detections))
    germane.boxes.evaluate(truth, detections, overlap="oks")
    assert (truth, detections) == before


# --- Objects of tools ---------------------------------------------------------------------------


@has_pycocotools
@pytest.mark.parametrize("kind", ["segm", "keypoints"])
def test_results_that_pycocotools_has_loaded(kind: str) -> None:
    """``loadRes`` adds boxes around masks, which are not boxes of the detector."""
    from pycocotools import coco

    for seed in range(4):
        truth, detections = make_shapes(seed, kind, boxed=False)
        held = coco.COCO()
        held.dataset = copy.deepcopy(truth)
        held.createIndex()
        loaded = held.loadRes(copy.deepcopy(detections))
        dialect = f"pycocotools-{kind}"
        got = germane.boxes.evaluate(held, loaded, dialect=dialect)
        want = germane.boxes.evaluate(truth, detections, dialect=dialect)
        np.testing.assert_array_equal(got.precision, want.precision)


class UltralyticsResult:
    """The attributes of an object of Ultralytics: boxes, and masks and keypoints if the model finds them."""

    def __init__(self, held: dict[str, Any], size: tuple[int, int], *, seen: bool = True) -> None:
        self.names = {0: "cat", 1: "dog"}
        self.boxes = SimpleNamespace(xyxy=held["boxes"], cls=held["labels"], conf=held["scores"])
        some = len(held["labels"])
        self.masks = SimpleNamespace(data=held["masks"], orig_shape=size) if some else None
        points = held["keypoints"] if seen else held["keypoints"][..., :2]
        self.keypoints = SimpleNamespace(data=points, orig_shape=size, has_visible=seen)


def draw_objects() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Draw objects of three images, of which the second has none, and detections a pixel beside them."""
    rng, truths, detections = np.random.default_rng(0), [], []
    y, x = np.mgrid[:60, :80]
    for count in (3, 0, 2):
        centers = rng.uniform(20, 40, (count, 2))
        masks = np.array([np.hypot(y - b, x - a) < 12 for a, b in centers]).reshape(-1, 60, 80)
        points = np.concatenate((rng.uniform(20, 40, (count, 17, 2)), np.ones((count, 17, 1))), 2)
        boxes = np.column_stack((centers - 12, centers + 12))
        truth = {"boxes": boxes, "labels": np.arange(count) % 2, "masks": masks}
        truths.append({**truth, "keypoints": points, "area": np.full(count, 440.0)})
        moved = {"masks": np.roll(masks, 1, axis=2), "keypoints": np.add(points, [1, 0, 0])}
        detections.append({**truth, **moved, "boxes": boxes + 2, "scores": rng.random(count)})
    return truths, detections


@has_pycocotools
@pytest.mark.parametrize("overlap", ["iou", "mask", "oks"])
def test_results_of_ultralytics_have_masks_and_keypoints(overlap: str) -> None:
    truths, detections = draw_objects()
    options = {"overlap": overlap, "class_names": ["cat", "dog"]}
    want = germane.boxes.evaluate(truths, detections, "AP", **options)["AP"].mean
    for seen in (True, False):
        found = [UltralyticsResult(one, (60, 80), seen=seen) for one in detections]
        assert germane.boxes.evaluate(truths, found, "AP", **options)["AP"].mean == want < 1


@has_pycocotools
@pytest.mark.parametrize("change", [lambda masks: masks[:, ::-1], np.zeros_like])
def test_masks_apart_from_their_boxes_are_found(change: Any) -> None:
    masks = np.zeros((6, 60, 80), bool)
    masks[:, 5:20, 5:20] = True
    truth = [{"masks": masks, "boxes": [[5, 5, 20, 20]] * 6, "labels": [1] * 6}]
    found = [{**truth[0], "masks": change(masks), "scores": np.arange(6) / 6}]
    with pytest.warns(germane.GermaneWarning, match="masks of 6 of 6 objects lie outside"):
        germane.boxes.evaluate(truth, found, "AP", overlap="mask")


@has_pycocotools
def test_masks_of_ultralytics_have_the_size_of_the_image() -> None:
    truths, detections = draw_objects()
    found = [UltralyticsResult(one, (120, 160)) for one in detections]
    with pytest.raises(
        germane.errors.InputError, match=r"60 × 80 pixels.*120 × 160.*retina_masks=True"
    ):
        germane.boxes.evaluate(truths, found, overlap="mask")
    tried = germane.boxes.spread(truths, found, "AP")  # which has no use for masks
    assert "pycocotools-keypoints" in str(tried)
    assert "pycocotools-segm" not in str(tried)
