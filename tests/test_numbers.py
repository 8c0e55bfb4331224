"""Numbers are numbers: truth values, other digits, masked cells, probabilities, sets, contexts."""

import decimal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane

TRUTH: list[Any] = [{"boxes": [[10, 10, 50, 50]], "labels": [1]}]
FOUND: list[Any] = [{"boxes": [[10, 12, 50, 52]], "labels": [1], "scores": [0.9]}]
POINTS = [{"boxes": [[10, 10, 50, 50]], "labels": [1], "keypoints": [[[20, 20, 2]]]}]
QRELS, RUN = {"q": {"a": 1, "b": 0}, "p": {"c": 1}}, {"q": {"a": 0.5, "b": 0.7}, "p": {"c": 1.0}}


def evaluate_points(**options: Any) -> Any:
    scored = [{**POINTS[0], "scores": [0.5]}]
    return germane.boxes.evaluate(POINTS, scored, "AP", overlap="oks", **options)


TAKES_A_NUMBER: dict[str, Callable[[Any], Any]] = {
    "iou": lambda value: germane.boxes.evaluate(TRUTH, FOUND, iou=value),
    "iou in a list": lambda value: germane.boxes.evaluate(TRUTH, FOUND, iou=[value]),
    "confidence": lambda value: germane.boxes.evaluate(TRUTH, FOUND, confidence=value),
    "box depth": lambda value: germane.boxes.evaluate(TRUTH, FOUND, depth=value),
    "areas": lambda value: germane.boxes.evaluate(TRUTH, FOUND, areas={"all": (0, value)}),
    "sigmas": lambda value: evaluate_points(sigmas=[value]),
    "mask_threshold": lambda value: germane.boxes.evaluate(TRUTH, FOUND, mask_threshold=value),
    "box": lambda value: germane.boxes.evaluate(
        [{"boxes": [[value, 10, 50, 50]], "labels": [1]}], FOUND
    ),
    "score": lambda value: germane.boxes.evaluate(TRUTH, [{**FOUND[0], "scores": [value]}]),
    "digits": lambda value: germane.evaluate(QRELS, RUN, digits=value),
    "depth": lambda value: germane.evaluate(QRELS, RUN, depth=value),
    "relevant": lambda value: germane.score([0, 1], relevant=value),
    "weight": lambda value: germane.evaluate(QRELS, RUN, "AP")["AP"].weigh({"q": value, "p": 1}),
    "confidence of an interval": lambda value: germane.evaluate(QRELS, RUN, "AP")["AP"].interval(
        confidence=value
    ),
    "max_drop": lambda value: germane.gate(QRELS, RUN, "AP", baseline=RUN, max_drop=value),
    "alpha": lambda value: germane.gate(QRELS, RUN, "AP", baseline=RUN, alpha=value),
    "budget": lambda value: germane.choose_judgments(QRELS, {"x": RUN}, budget=value),
    "rel": lambda value: germane.mean_pr_curve(QRELS, RUN, rel=value),
}


@pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
@pytest.mark.parametrize("value", [True, np.True_], ids=["True", "NumPy's"])
@pytest.mark.parametrize("what", TAKES_A_NUMBER)
def test_truth_values_are_no_numbers(what: str, value: object) -> None:
    with pytest.raises(germane.GermaneError):
        TAKES_A_NUMBER[what](value)


def read_number(form: str, number: str, folder: Path) -> None:
    """Read a file of this form that has the number, or a text."""
    match form:
        case "yolo":
            found = folder / "found"
            found.mkdir()
            (folder / "a.txt").write_text(f"0 {number} 0.5 0.2 0.2\n")
            (found / "a.txt").write_text("0 0.5 0.5 0.2 0.2 0.9\n")
            germane.boxes.evaluate(
                str(folder), str(found), input_format="yolo", images={"a": (100, 100)}
            )
        case "voc":
            (folder / "a.xml").write_text(
                "<annotation><filename>a.jpg</filename><object><name>cat</name><bndbox><xmin>"
                f"{number}</xmin><ymin>1</ymin><xmax>20</xmax><ymax>20</ymax></bndbox></object>"
                "</annotation>"
            )
            germane.boxes.evaluate(str(folder), str(folder), "AP50")
        case "csv":
            (folder / "a.csv").write_text(f"query,item,score\nq,a,{number}\n")
            germane.evaluate(QRELS, str(folder / "a.csv"), "AP")
        case "trec":
            (folder / "a.run").write_text(f"q Q0 a 1 {number} t\n")
            germane.evaluate(QRELS, str(folder / "a.run"), "AP")
        case "iou":
            germane.boxes.evaluate(TRUTH, FOUND, iou=number)


@pytest.mark.parametrize("written", ["\u0660.\u0665", "0_0.5", "\uff10.5"])
@pytest.mark.parametrize("form", ["yolo", "voc", "csv", "trec", "iou"])
def test_numbers_in_files_have_ascii_digits(form: str, written: str, tmp_path: Path) -> None:
    with pytest.raises(germane.GermaneError):
        read_number(form, f"1{written}", tmp_path)


def test_masked_cells_of_boxes_and_scores_are_refused() -> None:
    boxes = np.ma.masked_array([[10, 12, 50, 52], [0, 0, 9, 9]], mask=[[0] * 4, [1] * 4])
    scores = np.ma.masked_array([0.9, 0.99], mask=[0, 1])
    for one in ({"boxes": boxes}, {"scores": scores}):
        given = {"boxes": np.asarray(boxes), "scores": np.asarray(scores), "labels": [1, 1], **one}
        with pytest.raises(germane.errors.InputError, match="masked"):
            germane.boxes.evaluate(TRUTH, [given])
    whole = np.ma.masked_array([[10, 12, 50, 52]])
    given = {"boxes": whole, "scores": np.ma.masked_array([0.9]), "labels": [1]}
    assert germane.boxes.evaluate(TRUTH, [given])["AP50"].mean == 1


def make_masks() -> Any:
    """Probabilities: 0.9 within the object, 0.02 around it, as torchvision gives them."""
    soft = np.full((1, 60, 60), 0.02)
    soft[0, 10:50, 10:50] = 0.9
    return soft


def evaluate_masks(masks: Any, **options: Any) -> float:
    truth = [{"masks": make_masks() > 0.5, "labels": [1]}]
    found = [{"masks": masks, "labels": [1], "scores": [0.9]}]
    result = germane.boxes.evaluate(truth, found, "AP95", overlap="mask", **options)
    return result["AP95"].mean


def test_masks_of_probabilities_need_a_threshold() -> None:
    pytest.importorskip("pycocotools")
    soft, logits = make_masks(), np.log(make_masks() / (1 - make_masks()))
    for given in (soft, soft[:, None], logits, soft.astype(np.float32)):
        with pytest.raises(germane.errors.InputError, match="mask_threshold=") as error:
            evaluate_masks(given)
        advised = str(error.value).split("mask_threshold=")[1].rstrip(".").partition(",")[0]
        assert evaluate_masks(given, mask_threshold=float(advised)) == 1
    with pytest.raises(germane.errors.InputError, match="NaN"):
        evaluate_masks(np.where(soft > 0.5, np.nan, 0.0), mask_threshold=0.5)
    for sharp in (soft > 0.5, (soft > 0.5) * 1.0, (soft > 0.5).astype(np.uint8) * 255):
        assert evaluate_masks(sharp) == 1


def test_marks_of_candidates_are_zero_or_one() -> None:
    grades, scores = np.array([[1, 0, 1]]), np.array([[0.5, 0.4, 0.3]])
    for marks in (np.array([[0.5, 1.0, 0.0]]), np.array([[2, 1, 0]]), np.array([[np.nan, 1, 0]])):
        for name in ("only", "exclude", "ignore"):
            with pytest.raises(germane.errors.InputError, match="true or false"):
                germane.evaluate(grades, scores, "AP", **{name: marks})


@pytest.mark.parametrize("argument", ["item_ids", "query_ids"])
def test_a_set_has_no_order_and_names_nothing(argument: str) -> None:
    grades, scores = np.array([[1, 0], [0, 1]]), np.array([[0.5, 0.4], [0.1, 0.2]])
    for ids in ({"a", "b"}, frozenset("ab")):
        with pytest.raises(germane.errors.InputError, match="a set has no order"):
            germane.evaluate(grades, scores, "AP", **{argument: ids})
    keys: Any = {"a": 1, "b": 2}.keys()
    germane.evaluate(grades, scores, "AP", **{argument: keys})


def test_the_context_of_decimals_has_no_influence() -> None:
    def compute() -> tuple[str, ...]:
        run = {"q": ["a", "x", "b"]}
        found = germane.reconcile(
            {"q": {"a": 1, "b": 1}}, run, measure="AP", reported="83.333333333%"
        )
        audit = germane.audit({"ours": {"P@10": "0.12345678", "R@10": "0.2"}}, 3)
        rounded = germane.evaluate(QRELS, RUN, "RR", digits=4)
        return str(found), str(audit), str(rounded)

    expected = compute()
    every = [decimal.Inexact, decimal.Rounded, decimal.Subnormal, decimal.FloatOperation]
    with decimal.localcontext(decimal.Context(prec=2, traps=every, Emax=3, Emin=-3)):
        assert compute() == expected


def test_weights_whose_sum_would_overflow_are_refused() -> None:
    value = germane.evaluate(QRELS, RUN, "AP")["AP"]
    with pytest.raises(germane.errors.InputError, match="beyond the range"):
        value.weigh({"q": 1e308, "p": 1.5e308})
    queries = [f"q{i}" for i in range(10)]
    grades = {query: {"a": i % 2} for i, query in enumerate(queries)}
    with pytest.raises(germane.errors.InputError, match="beyond the range"):
        germane.trust(
            {query: ["a"] for query in queries}, people=grades, model=grades, measures="P@1",
            weights=dict.fromkeys(queries, 1e308),
        )  # fmt: skip
