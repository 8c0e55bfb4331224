"""The cost of each kind of error: as tidecv computes it, and by laws."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import draw_traits, make_boxes
from germane.cli import main

RECORDED = json.loads((Path(__file__).parent / "data/error_costs.json").read_text("utf-8"))["sets"]
NAMES = {
    "Cls": "other class", "Loc": "low overlap", "Both": "both", "Dupe": "duplicate", "Bkg": "background",
    "Miss": "missed", "FalsePos": "false", "FalseNeg": "not found",
}  # fmt: skip
BOX = {"image_id": 1, "category_id": 1, "bbox": [10, 10, 40, 40]}
TRUTH: dict[str, Any] = {
    "images": [{"id": 1}],
    "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    "annotations": [
        {**BOX, "id": 1},
        {**BOX, "id": 2, "bbox": [110, 10, 40, 40]},
        {**BOX, "id": 3, "category_id": 2, "bbox": [210, 10, 40, 40]},
    ],
}


def weigh(truth: Any, found: Any, measure: str = "AP50", **options: Any) -> Any:
    return germane.boxes.explain(truth, found, measure, **options).errors


def compare(said: Any, expected: Any) -> float:
    """The largest difference of AP and of the costs, in percent."""
    apart = [100 * said.value - expected["AP"]]
    apart += [100 * said[NAMES[one]].cost - cost for one, cost in expected["costs"].items()]
    return max(map(abs, apart))


@pytest.mark.parametrize("at", range(len(RECORDED)))
def test_costs_are_those_of_tidecv(at: int) -> None:
    """With pycocotools' levels of recall; with its own, they differ where a recall is one of ten levels."""
    row = RECORDED[at]
    seed, traits, iou = row["set"]
    said = weigh(*make_boxes(seed, traits), f"AP(iou={iou})", depth=None)
    assert {one: said[NAMES[one]].count for one in row["asked"]["counts"]} == row["asked"]["counts"]
    assert compare(said, row["levels"]) < 1e-8
    assert compare(said, row["asked"]) < 0.5


def test_most_sets_have_no_recall_at_such_a_level() -> None:
    same = 0
    for row in RECORDED:
        seed, traits, iou = row["set"]
        same += (
            compare(weigh(*make_boxes(seed, traits), f"AP(iou={iou})", depth=None), row["asked"])
            < 1e-8
        )
    assert same >= 0.75 * len(RECORDED)


def test_each_kind_alone_is_mended_by_itself() -> None:
    """One error at a time: what AP becomes is arithmetic."""
    right = [{**one, "score": 0.5 - n / 10} for n, one in enumerate(TRUTH["annotations"])]
    first = {**right[0], "score": 0.9}
    cases = {
        "duplicate": [*right, {**first, "score": 0.45}],
        "background": [*right, {**first, "bbox": [10, 210, 40, 40]}],
        "low overlap": [{**first, "bbox": [30, 10, 40, 40]}, *right[1:]],
        "other class": [{**first, "category_id": 2}, *right[1:]],
        "missed": right[1:],
    }
    for kind, found in cases.items():
        said = weigh(TRUTH, found)
        assert said[kind].count == 1
        assert said[kind].mended == pytest.approx(1), kind
        assert {one for one in said if said[one].cost > 1e-9} - {kind} <= {"false", "not found"}
        assert said.value + said[kind].cost == pytest.approx(1)
        assert said.rest == pytest.approx(0)
    both = {**first, "category_id": 2, "bbox": [30, 10, 40, 40]}
    assert weigh(TRUTH, [*right, both])["both"].mended == pytest.approx(1)


def test_laws() -> None:
    """Costs are at least 0, kinds add up to all false detections, and nothing is better than perfect."""
    for seed in range(40):
        traits = [one for one in draw_traits(seed) if one != "unknown class"]
        truth, found = make_boxes(seed, traits)
        made = germane.boxes.explain(truth, found, label=truth["categories"][0]["name"])
        said = weigh(truth, found)
        if math.isnan(said.value):
            continue
        kinds = [one for one in said if one not in ("false", "not found")]
        assert sum(said[one].count for one in kinds if one != "missed") == said["false"].count
        assert all(said[one].cost >= 0 and said[one].mended <= 1 + 1e-12 for one in said)
        assert said["missed"].count <= said["not found"].count
        false = sum(row.counts == "false" for row in made.rows)
        assert made.errors["false"].count == false
        assert made.errors.value == pytest.approx(made.terms.value, nan_ok=True)  # type: ignore[union-attr]


def test_parts_and_refusals() -> None:
    truth, found = make_boxes(1, "floats")
    made = germane.boxes.explain(truth, found)
    assert made.value == made.errors.value
    assert "label=" not in repr(made)
    one = germane.boxes.explain(truth, found, image=8).errors
    alone = [row for row in found if row["image_id"] == 8]
    kept = {**truth, "images": [i for i in truth["images"] if i["id"] == 8]}
    kept["annotations"] = [row for row in truth["annotations"] if row["image_id"] == 8]
    assert one.to_dict() == weigh(kept, alone).to_dict()
    with pytest.raises(
        germane.errors.MeasureError, match="AP at one threshold of overlap, such as AP50"
    ):
        _ = germane.boxes.explain(truth, found, "P").errors


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, found = make_boxes(1, "floats")
    for name, held in (("truth", truth), ("found", found)):
        (tmp_path / f"{name}.json").write_text(json.dumps(held))
    files = [str(tmp_path / "truth.json"), str(tmp_path / "found.json")]
    assert main(["boxes", "explain", *files, "--errors"]) == 0
    printed = capsys.readouterr().out
    assert printed.strip() == str(weigh(truth, found)).strip()
    assert (
        main(["boxes", "explain", *files, "--errors", "--class", "class 2", "--format", "json"])
        == 0
    )
    plain = json.loads(capsys.readouterr().out)
    assert plain["class"] == "class 2"
    assert [one["kind"] for one in plain["errors"]] == list(NAMES.values())
