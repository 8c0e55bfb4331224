"""Names of measures of boxes: every spelling of the field is read by one grammar, and doubtful ones are refused."""

import itertools
import math
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import germane
from boxes_sets import make_boxes, make_federated
from germane import cli

from strategies import parse_box_measure as parse_measure

# each measure, and its spellings in papers and tools
FAMILIES = {
    "AP": (
        "AP mAP map ap mean_average_precision average_precision mAP50-95 mAP@50:95 mAP@[.5:.95] mAP@[0.50:0.95]"
        " AP50:95 AP@.50:.05:.95 mAP@0.5:0.95 mAP@0.5:0.05:0.95 AP@[0.5:0.95:0.05] mAP@[50:5:95] mAP_50_95 map50_95"
        " mAP5095 mAP@[.5-.95] mAP50–95 mAP@IoU=0.50:0.95 AP@[IoU=0.50:0.95] AP(iou=.5:.95) AP(IoU=.5:.05:.95)"
        " metrics/mAP50-95(B) metrics/mAP_0.5:0.95 bbox_mAP coco/bbox_mAP bbox/AP box_AP"
        " AP^b AP^bb APb AP^{b} mAP^val mAP_val mAPval AP^{test} AP_test-dev mAP^{val}_{50-95} mAP50-95(B)"
        " DetectionBoxes_Precision/mAP AP_all AP(area=all) AP(depth=100) AP(maxDets=100) AP_max=100"
    ),
    "AP50": (
        "AP50 mAP50 mAP_50 map_50 map50 AP_50 AP.50 AP.5 AP0.5 AP@50 mAP@50 mAP@0.5 mAP@.5 mAP@.50 mAP@0.50"
        " mAP@IoU=0.5 mAP@IoU=.50 mAP@IoU0.5 mAP@0.5IOU mAP@50% AP(iou=.5) AP(IoU=0.5) AP(50) AP[.5] AP^{50} AP_{50}"
        " metrics/mAP50(B) metrics/mAP_0.5 bbox_mAP_50 coco/bbox_mAP_50 bbox/AP50"
        " APb50 AP^b_50 AP^{b}_{50} AP_50^b mAP50(B) AP50_val AP^{val}_{50}"
        " DetectionBoxes_Precision/mAP@.50IOU"
    ),
    "AP75": "AP75 mAP75 mAP_75 map_75 AP.75 AP@75 mAP@0.75 AP@[IoU=0.75] bbox_mAP_75 metrics/mAP75(B)",
    "AP(area=small)": (
        "APs APS AP_s AP_S AP-S APsmall AP_small mAP_small map_small mAP_s AP(small) bbox_mAP_s AP@small"
        " DetectionBoxes_Precision/mAP(small)"
    ),
    "AP(area=medium)": "APm APM AP_M AP(M) AP^M mAP_medium map_medium bbox_mAP_m AP(area=medium)",
    "AP(area=large)": "APl APL AP_l mAP_large map_large bbox_mAP_l",
    "AP50(area=small)": "AP50_small mAP@50_small mAP@.5_s AP_small_50 AP50s AP50(area=small) AP(iou=.5,area=small)",
    "AR@1": "AR@1 AR1 AR_1 mar_1 mAR@1 AR_max=1 AR^{max=1} AR@maxDets=1",
    "AR@10": "AR@10 AR10 AR_10 mar_10 AR_max=10 AR(depth=10) AR(maxDets=10)",
    "AR@100": "AR@100 AR100 AR_100 mAR_100 mar_100 AR_max=100 AR DetectionBoxes_Recall/AR@100",
    "AR(area=small)@100": "ARs ARs@100 AR_s@100 AR_small mar_small AR_small@100 DetectionBoxes_Recall/AR@100(small)",
    "AR50": "AR50 AR@.5 AR@0.5 AR(iou=.5) AR@[IoU=.5]",
    "AR75": "AR75 mAR@0.75",
    "P50": "P50 P precision P(iou=.5) P@IoU=.5",
    "R(iou=.75)@10": "R75@10 R(iou=.75)@10 recall75@10 R(iou=.75,depth=10)",
    "P(confidence=best)": "P(confidence=best) metrics/precision(B)",
    "R(confidence=best)": "R(confidence=best) metrics/recall(B)",
    "F(confidence=.25)": "F(confidence=.25) F1(confidence=.25) f1_score(confidence=.25) F50(conf=.25)",
}  # fmt: skip
SPELLINGS = [(measure, one) for measure, several in FAMILIES.items() for one in several.split()]
LINES = {
    " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.503": "AP",
    " Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 0.697": "AP50",
    " Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ]": "AP(area=small)",
    " Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ] = 0.387": "AR@1",
    " Average Recall     (AR) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.745": "AR(area=small)",
    "mAP @ 0.5": "AP50",
    "AP @ [.5 : .95]": "AP",
    "mean average precision": "AP",
    "Average Precision (AP)": "AP",
    "mAP (small)": "AP(area=small)",
    "AR@100 (small)": "AR(area=small)",
    "AP .5": "AP50",
    "AP 50": "AP50",
    "mAP IoU=0.5": "AP50",
    "AP (M)": "AP(area=medium)",
    "AP small": "AP(area=small)",
    "AR 100": "AR@100",
    "AP@[0.5:0.95] (all)": "AP",
}
TRUTH, FOUND = make_boxes(6, "crowds, own areas, deep")


def evaluate(
    measures: Any, truth: Any = TRUTH, found: Any = FOUND, **options: Any
) -> germane.boxes.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        return germane.boxes.evaluate(truth, found, measures, **options)


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


@pytest.fixture(scope="module")
def whole() -> germane.boxes.Result:
    return evaluate([*FAMILIES])


@pytest.mark.parametrize(("measure", "spelled"), SPELLINGS, ids=lambda one: one)
def test_every_spelling_is_the_measure(
    whole: germane.boxes.Result, measure: str, spelled: str
) -> None:
    """In a string, in a list, and as the name by which a result answers."""
    for given in (spelled, [spelled]):
        result = evaluate(given)
        assert len(result) == 1
        assert same(result[spelled].mean, whole[measure].mean)
    assert spelled in whole
    assert same(whole[spelled].mean, whole[measure].mean)


@pytest.mark.parametrize(("line", "measure"), LINES.items())
def test_names_with_blanks(whole: germane.boxes.Result, line: str, measure: str) -> None:
    """As in the summary that pycocotools prints, also all of it at once."""
    assert same(whole[line].mean, evaluate(measure)[measure].mean)
    assert [*map(str, evaluate(f"{line} AP75"))][1:] == ["AP75"]


def test_a_whole_summary_is_read_at_once() -> None:
    lines = [one for one in LINES if "maxDets" in one]
    result = evaluate("\n".join(lines))
    assert len(result) == len(lines)
    assert result.flat() == evaluate(lines).flat()


def test_one_spelling_is_printed_and_read_again() -> None:
    """Whatever is asked for, tables, frames and JSON have germane's name, by which it is found."""
    for measure, spelled in SPELLINGS:
        [name] = evaluate(spelled)
        assert str(germane.boxes.evaluate(TRUTH, FOUND, name)).splitlines()[0].split()[1] == name
        assert evaluate(name)[measure].mean == evaluate(spelled)[name].mean
    assert list(evaluate("mAP50-95 mAP@.5 APs AR100 bbox_mAP_75")) == [
        "AP", "AP50", "AP(area=small)", "AR@100", "AP75",
    ]  # fmt: skip
    groups = evaluate("mAP@.5 mAP50-95").by("class")
    assert groups["map_50"] == groups["AP50"]
    assert groups["mAP@[.5:.95]"] == groups["AP"]


def test_pieces_stand_in_any_order() -> None:
    """Thresholds, areas and depths, joined in every way."""
    levels = {"": "", "50": "iou=.5", "@.75": "iou=.75", "@[.5:.95]": "iou=.5:.95"}
    areas = {"": "", "small": "area=small", "_L": "area=large"}
    for (level, iou), (word, area), first in itertools.product(
        levels.items(), areas.items(), (0, 1)
    ):
        for name in ("AP", "mAR"):
            parts = [
                f"_{level}" if level[:1].isdigit() and first else level,
                word if "_" in word else f"_{word}" * bool(word),
            ]
            spelled = name + "".join(parts[::-1] if first else parts)
            if name == "mAR" and "_50" in spelled:  # a depth of torchmetrics
                continue
            inside = ",".join(filter(None, (iou, area)))
            wanted = f"{name[-2:]}({inside})" if inside else name[-2:]
            assert same(evaluate(spelled)[spelled].mean, evaluate(wanted)[wanted].mean), spelled


def test_thresholds_in_a_name_hold_whatever_iou_is_chosen() -> None:
    """AP leaves thresholds to iou=, and mAP50-95 does not."""
    result = evaluate("AP mAP50-95 AP50", iou=0.75)
    usual = evaluate("AP AP75 AP50")
    assert result["AP"].mean == usual["AP75"].mean
    assert result["mAP50-95"].mean == usual["AP"].mean
    assert result["AP50"].mean == usual["AP50"].mean


PIECES = ["@", "_", "-", ":", ".", ",", "(", ")", "[", "]", "{", "}", "50", "75", "95", "0.5", ".5", "10", "100", "1", "0", "s", "m", "l", "small", "large", "r", "rare", "all", "IoU", "=", "iou=", "area=", "maxDets=", "depth=", "|", "%", "bbox", "segm", "metrics/", "(B)", "5095", "٠", "½", "ß", "confidence=", "best", "points=", "nan", "inf", "1e9", "frequency="]  # fmt: skip


def test_whatever_is_read_is_written_so_that_it_is_read_again() -> None:
    """Any pieces behind a measure are a measure that reads as it prints, or an error of germane."""
    rng, read = random.Random(0), 0
    for _ in range(20_000):
        pieces = rng.choices([*PIECES, " "], k=rng.randint(1, 6))
        spelled = rng.choice(("AP", "mAP", "AR", "P", "R", "F", "F1", "AP50")) + "".join(pieces)
        try:
            measure = parse_measure(spelled)
        except germane.errors.MeasureError:
            continue
        read += 1
        assert parse_measure(str(measure)) == measure, spelled
        assert str(parse_measure(str(measure))) == str(measure)
    assert read > 500


# --- What can mean two things ----------------------------------------------------------------------

DOUBTFUL = {
    "F1": ["F50", "F(iou=.5,confidence=best)"],
    "f1": ["F50", "F(iou=.5,confidence=best)"],
    "F1-score": ["F50", "F(iou=.5,confidence=best)"],
    "F1(iou=.75)": ["F75", "F(iou=.75,confidence=best)"],
    "F1@50": ["F50", "F(depth=50)"],
    "F@50": ["F50", "F(depth=50)"],
    "F@0.5": ["F50", "F(confidence=.5)"],
    "F2": ["F(depth=2)"],
    "P1": ["P@1"],
    "R1": ["R@1", "AR@1"],
    "R10": ["R(iou=.1)", "R@10", "AR@10"],
    "P0.5": ["P50", "P(confidence=.5)"],
    "Recall@0.5": ["R50", "R(confidence=.5)"],
    "AP@10": ["AP10", "AP(depth=10)"],
    "mAP@10": ["AP10", "AP(depth=10)"],
    "AP@100": ["AP(depth=100)"],
    "AP@5": ["AP(depth=5)"],
    "AP5": ["AP(depth=5)"],
    "AP100": ["AP(depth=100)"],
    "AP50@10": ["AP50(depth=10)"],
    "AP(area=small)@10": ["AP10(area=small)", "AP(area=small,depth=10)"],
    "AR_50": ["AR50", "AR@50"],
    "mar_50": ["AR50", "AR@50"],
    "AR^50": ["AR50", "AR@50"],
    "AR(50)": ["AR50", "AR@50"],
    "AP11": ["AP(iou=.11)", "AP(depth=11)", "AP(points=11)"],
    "AP101": ["AP(depth=101)", "AP(points=101)"],
    "AR20": ["AR(iou=.2)", "AR@20"],
    "AR_all": ["AR(area=all)", "AR@1"],
    "mAP@[.5,.95]": ["AP(iou=.5:.95)", "AP(iou=.5+.95)"],
}


@pytest.mark.parametrize(("name", "meanings"), DOUBTFUL.items())
def test_a_name_of_several_meanings_is_refused_with_all(name: str, meanings: list[str]) -> None:
    """Each of the names in the message is one that evaluate takes, and prints."""
    with pytest.raises(germane.errors.MeasureError, match=r"Write ") as error:
        evaluate(name)
    said = re.findall(r"(?:Write|,| or) (\S+) for ", str(error.value))
    assert said == meanings
    complete = [str(evaluate(one)[one].measure) for one in said]
    assert len(set(complete)) == len(said)


def test_a_dialect_says_what_a_doubtful_name_can_mean() -> None:
    for name, dialect in (("F1", "voc2007"), ("AP@10", "torchmetrics"), ("AP50@10", "coco")):
        with pytest.raises(germane.errors.MeasureError, match=r"Write \S+ for ") as error:
            evaluate(name, dialect=dialect)
        for said in re.findall(r"(?:Write|,| or) (\S+) for ", str(error.value)):
            assert said in evaluate(said, dialect=dialect)
    with pytest.raises(germane.errors.MeasureError, match="voc2007 has no measure 'nonsense'"):
        evaluate("nonsense", dialect="voc2007")


@pytest.mark.parametrize("name", ["AP^m_50", "AP^{m}_{50}", "APm50", "AP50m", "AP50_m", "AP_m_50"])
def test_m_is_of_medium_objects_or_of_masks(name: str) -> None:
    with pytest.raises(
        germane.errors.MeasureError, match=r"AP50\(area=medium\) for medium .* AP50 with over"
    ):
        evaluate([name])


def test_a_depth_is_no_overlap() -> None:
    truth = [{"boxes": [[0, 0, 10, 10], [20, 20, 30, 30]], "labels": [1, 1]}]
    found = [{"boxes": [[20, 20, 30, 30], [0, 0, 10, 10]], "labels": [1, 1], "scores": [0.9, 0.8]}]
    result = evaluate("AP50 AP50(depth=1) P@1 R@1 AR1 AR@1", truth, found)
    assert [result[one].mean for one in ("AP50", "P@1", "R@1", "AR1")] == [1, 1, 0.5, 0.5]
    assert result["AP50(depth=1)"].mean == pytest.approx(51 / 101)


UNKNOWN = (
    "nDCG maps aps recalls PR FPS Params mIoU AP() AP( AP@ AP(iou=.5 AP@[.5:.95 AP_s_m AP@.5@.75 AP95-50 AP@2.5"
    " APhuge AP_tiny Rank-1 mINP 50 @50 AP(x=1) AP50(iou=.5) AP00 AR_max=0 mAP@50-5"
)


@pytest.mark.parametrize("name", UNKNOWN.split())
def test_what_is_no_measure_is_refused(name: str) -> None:
    with pytest.raises(germane.errors.MeasureError, match=re.escape(name)) as error:
        evaluate([name])
    assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "overlap"),
    [
        ("segm_mAP", "mask"),
        ("metrics/mAP50(M)", "mask"),
        ("mAP50-95(M)", "mask"),
        ("AP^{mk}_{50}", "mask"),
        ("AP^kp", "oks"),
        ("keypoints AP", "oks"),
        ("bbox_mAP", "iou"),
    ],
)
def test_a_name_says_what_is_matched(name: str, overlap: str) -> None:
    """What a name says of masks is not computed of boxes."""
    chosen: Any = "iou" if overlap != "iou" else "iou+1"
    if overlap == "iou":
        assert (
            evaluate(name, overlap=chosen)[name].mean == evaluate("AP", overlap=chosen)["AP"].mean
        )
        return
    with pytest.raises(
        germane.errors.MeasureError, match=rf"overlap=iou evaluates boxes.* or overlap={overlap}"
    ):
        evaluate([name])


# --- Other readers of such names --------------------------------------------------------------------


def test_columns_of_tables_are_read_alike(whole: germane.boxes.Result) -> None:
    """Beside a column that says that the table is one of detectors."""
    for measure, spelled in SPELLINGS:
        found = germane.audit({"ours": {"mAP@0.75": "60.0", spelled: "40.0"}})
        read = found.columns[spelled]
        assert same(evaluate(read)[read].mean, whole[measure].mean), spelled


def test_laws_hold_of_every_spelling() -> None:
    for one, other in (
        ("mAP@0.5", "mAP50-95"),
        ("mAP_50", "mAP_75"),
        ("AP.5", "AP@[.5:.95]"),
        ("map50", "map50_95"),
    ):
        found = germane.audit({"ours": {one: "30.0", other: "40.0"}})
        assert found.contradictions, (one, other)


def test_a_cutoff_of_ranked_lists_is_no_overlap() -> None:
    """MAP@50 says nothing of boxes, beside measures of lists or alone."""
    for row in (
        {"MAP@10": ".30", "MAP@50": ".31", "nDCG@10": ".40"},
        {"MAP@50": ".30", "MAP@75": ".32"},
    ):
        assert germane.audit({"ours": row}).columns["MAP@50"] == "AP@50"
    of_boxes = germane.audit({"ours": {"mAP@50-95": "30", "mAP@50": "40"}})
    assert of_boxes.columns == {"mAP@50-95": "AP", "mAP@50": "AP50"}


def test_reconcile_takes_every_spelling() -> None:
    value = evaluate("AP50", dialect="voc2010", candidate="best")
    value = evaluate("AP50", candidate="best")
    reported = f"{value['AP50'].mean:.5f}"
    for spelled in ("mAP@.5", "map_50", "AP@IoU=0.5"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", germane.GermaneWarning)
            said = germane.boxes.reconcile(TRUTH, FOUND, reported=reported, measure=spelled)
        assert str(said.measure) == "AP50"
        assert said.answer == "found"
    table = {"one": {"mAP@0.5:0.95": "10.0", "mAP@0.5": reported, "APs": "1"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        said = germane.boxes.reconcile_table(TRUTH, {"one": FOUND}, table)
    assert {cell.column for cell in (*said.off,)} <= {"mAP@0.5:0.95", "APs"}


def test_compare_finds_measures_by_any_name() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", germane.GermaneWarning)
        found = germane.boxes.compare(
            TRUTH, {"a": FOUND, "b": FOUND[::2]}, "mAP@.5 mAP50-95", resamples=200
        )
        tools = germane.boxes.compare(
            TRUTH,
            {"a": FOUND, "b": FOUND[::2]},
            "mAP50 mAP50-95",
            dialect="ultralytics",
            resamples=200,
        )
    assert (
        found.between("b", "a", "map_50").difference == found.between("b", "a", "AP50").difference
    )
    assert [str(one) for one in found.measures] == ["AP50", "AP"]
    wanted = [
        evaluate("mAP50", found=one, dialect="ultralytics")["mAP50"].mean
        for one in (FOUND, FOUND[::2])
    ]
    assert tools.between("b", "a", "mAP50").difference == pytest.approx(wanted[1] - wanted[0])


@pytest.mark.parametrize(
    "dialect",
    [
        name
        for name in germane.boxes.dialects()
        if name.count("-") == 0 and name not in ("kitti", "dota", "mmrotate")
    ],
)
def test_in_a_dialect_a_spelling_is_what_germane_s_name_is(dialect: str) -> None:
    """The tool's own names come first."""
    truth, found = make_federated(5) if dialect == "lvis" else (TRUTH, FOUND)
    for name, spelled in (
        ("AP50", "mAP@.5"),
        ("AP(iou=.5:.95)", "mAP@[.5:.95]"),
        ("AP(area=small)", "mAP@small"),
    ):
        if not any(
            entry.read(one)
            for entry in germane.boxes.dialects()[dialect].measuring
            for one in (name, spelled)
        ):
            result = evaluate([name, spelled], truth, found, dialect=dialect)
            assert len(result) == 1
            assert same(result[spelled].mean, result[name].mean)


# --- Where ranked lists are evaluated ----------------------------------------------------------------


def test_ranked_lists_say_that_a_measure_is_of_boxes(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (
        *("AP50", "mAP@.5", "mAP50-95", "APs", "AP@[.5:.95]", "AP50:95"),
        *("AP(iou=.5)", "AP(area=small)", "P(confidence=.25)", "R(iou=.75)", "AP(points=11)"),
    ):
        of_boxes = r"a measure of detected boxes: germane boxes and germane\.boxes"
        if name == "AP50":  # of the first 50 items, or of boxes that overlap by half
            of_boxes = r"has two meanings: .*germane\.boxes"
        with pytest.raises(germane.errors.MeasureError, match=of_boxes):
            germane.parse(name)
        assert cli.main(["measures", name]) == 0
        said = capsys.readouterr().out
        assert "of detected boxes" in said.splitlines()[0]
        [written] = re.findall(r'detections, "(.+)"\)', said)
        assert evaluate(written)[name].mean == evaluate([name])[name].mean
    for name in ("P0.5", "nonsense"):
        assert cli.main(["measures", name]) == 2
        assert "detected boxes" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mAP@R", "MAP@R", "AP @ r", "AP50@R"])
def test_a_measure_of_the_first_r_results_is_not_that_of_rare_classes(name: str) -> None:
    """It is of ranked lists, also where classes have frequencies."""
    truth, found = make_federated(5)
    with pytest.raises(germane.errors.MeasureError, match="the first R results") as caught:
        evaluate([name], truth, found, dialect="lvis")
    assert "write AP(frequency=rare)" in str(caught.value)
    assert str(germane.parse("mAP@R")) == "APR"


@pytest.mark.parametrize("name", ["nDCG@10", "RR", "Rprec", "R@R"])
def test_boxes_say_that_a_measure_is_of_ranked_lists(name: str) -> None:
    of_lists = "is not a measure of detections. germane evaluate computes it of ranked lists."
    with pytest.raises(germane.errors.MeasureError, match=re.escape(of_lists)):
        evaluate([name])


def test_rare_classes_have_names_of_their_own() -> None:
    truth, found = make_federated(5)
    result = evaluate("AP(frequency=rare) AP50(frequency=common)", truth, found, dialect="lvis")
    for spelled in ("APr", "AP_r", "AP_rare", "AP(frequency=r)"):
        assert result[spelled].mean == result["AP(frequency=rare)"].mean
    line = " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=300 catIds=  r] = 0.1"
    assert result[line].mean == result["APr"].mean
    assert result["mAP@.5_c"].mean == result["AP50(frequency=common)"].mean


def test_messages_of_the_command_line_name_measures_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    for name, content in (("truth", TRUTH), ("found", FOUND)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    files = [str(tmp_path / "truth.json"), str(tmp_path / "found.json")]
    assert cli.main(["boxes", *files, "-m", "APP"]) == 2
    assert capsys.readouterr().err.rstrip().endswith("P(confidence=.25)")
    assert cli.main(["boxes", *files, "-m", "mAP@.5 mAP50-95"]) == 0
    assert capsys.readouterr().out.split()[:3] == ["detections", "AP50", "AP"]
