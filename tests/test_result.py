"""Results as values: what they carry, and what they refuse."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import germane

QRELS = {"q": {"a": 1, "b": 1}}
RUN = {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}


def test_a_result_can_be_pickled() -> None:
    result = pickle.loads(pickle.dumps(germane.evaluate(QRELS, RUN, "AP RR")))
    assert result["AP"].mean == (1 + 2 / 3) / 2
    assert result["AP"].best == 1
    assert result.counts.tied == 1


def test_values_cannot_be_changed() -> None:
    values = germane.evaluate(QRELS, RUN, "AP")["AP"].values
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 9


def test_one_measure_says_what_it_is() -> None:
    assert repr(germane.evaluate(QRELS, RUN, "AP")["AP"]) == "<AP: 0.8333 over 1 queries>"


def test_a_value_is_a_number_in_arithmetic() -> None:
    found = germane.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "RR P@1 R")
    half, nothing, one = (found[name] for name in ("RR", "P@1", "R"))
    assert (round(half, 1), round(one / 3, 2), round(one)) == (0.5, 0.33, 1)
    assert nothing < half <= 0.5 < one
    assert 0.4 < half < np.float64(0.6)
    assert one >= half > nothing
    assert half == 0.5 == one - half
    assert half == pytest.approx(0.5)
    assert half != one
    assert (half + 1, 1 + half, half * 4, 4 * half, 1 - half, 2 / half) == (1.5, 1.5, 2, 2, 0.5, 4)
    assert type(one - half) is float
    assert {half: 1}[half] == {0.5: 1}[half]
    assert sorted([one, nothing, half]) == [0, 0.5, 1]
    assert half != "0.5"
    with pytest.raises(TypeError, match="not supported between instances of 'float' and 'str'"):
        assert half < "0.5"


def test_counts_are_of_what_the_depth_leaves() -> None:
    counts = germane.evaluate(QRELS, RUN, "AP", depth=1).counts
    assert (counts.judged_items_retrieved, counts.tied) == (1, 0)


def test_ids_of_the_same_text_do_not_fall_together_in_json() -> None:
    qrels = {1: {"a": 1}, "1": {"a": 1}}
    result = germane.evaluate(qrels, {1: {"a": 1.0}, "1": {"b": 1.0}}, "AP")
    with pytest.raises(germane.errors.InputError, match="two query ids have the same text"):
        result.to_dict(queries=True)


@pytest.mark.parametrize("name", [["AP"], {"AP"}, 5, None])
def test_what_is_not_a_name_is_a_measure_error(name: Any) -> None:
    result = germane.evaluate(QRELS, RUN, "AP")
    for call in (germane.parse, lambda m: germane.score([1], m), result.__getitem__):
        with pytest.raises(
            germane.errors.MeasureError, match="a measure is a name such as 'AP@10'"
        ):
            call(name)
    assert name not in result
    with pytest.raises(germane.errors.MeasureError, match="unknown measure"):
        germane.types.Measure(name)


def test_grades_that_overflow_are_an_error() -> None:
    with pytest.raises(
        germane.errors.MeasureError, match="too large to be added in double precision"
    ):
        germane.score([1e308] * 3, "nDCG")


@pytest.mark.parametrize(
    ("grades", "measure", "relevant", "value"),
    [
        ([0, 3, 1], "R(rel=2)", 3, 1 / 3),
        ([0, 3, 1], "AP(rel=2)", 3, 1 / 2 / 3),
        ([0.5, 1], "R", 3, 1 / 3),
        ([0.5, 1], "R", 1, 1),
        ([0.5, 1], "R(rel=0.5)", 4, 2 / 4),
    ],
)
def test_relevant_counts_at_the_level_of_the_measure(
    grades: list[float], measure: str, relevant: int, value: float
) -> None:
    assert germane.score(grades, measure, relevant=relevant) == value


@pytest.mark.parametrize("grades", [{5: 0, 7: 1}, {0, 1}])
def test_a_list_has_an_order(grades: Any) -> None:
    with pytest.raises(germane.errors.InputError, match="a sequence of relevance grades"):
        germane.score(grades)


def test_expected_is_refused_before_anything_is_read() -> None:
    with pytest.raises(germane.errors.MeasureError, match="no closed form"):
        germane.evaluate("no such file", "nor this", "RR bpref", ties="expected")


def test_bytes_are_ids_as_they_stand_in_a_file(tmp_path: Any) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"q Q0 a 1 2 t\n")
    assert germane.evaluate({"q": {b"a": 1}}, path, "AP")["AP"].mean == 1


def test_ids_of_the_same_text_do_not_fall_together_in_files(tmp_path: Any) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(b"1 Q0 1 1 2 t\n")
    for qrels in ({1: {"1": 1}, "1": {"1": 1}}, {"1": {1: 1, "1": 0}}):
        with pytest.raises(germane.errors.FormatError, match="have the same text"):
            germane.evaluate(qrels, path, "AP")


def test_a_tie_band_that_shows_at_no_printed_digit_is_not_printed() -> None:
    """RR is 1/4 or 1/5 in one query; 1/30000 or 1/30001, both 0.0000, in the other."""
    near = {"x1": 5.0, "x2": 4.0, "x3": 3.0, "a": 2.0, "d": 2.0}
    far = {f"x{i}": 40_000.0 - i for i in range(29_999)} | {"a": 0.0, "d": 0.0}
    shown = str(germane.evaluate({"q": ["d"]}, {"q": near}, "RR P@1"))
    assert f"tie band RR {1 / 5:.4f}…{1 / 4:.4f}\n" in shown
    hidden = germane.evaluate({"q": ["d"]}, {"q": far}, "RR P@1")
    assert hidden["RR"].band > 0
    assert "100.0% of judged items retrieved are tied\n" in str(hidden)
    page = germane.report({"q": ["d"]}, {"far": {"q": far}}, "RR P@1").html
    assert "0.0000 to 0.0000" not in page


def test_a_tie_band_is_printed_lowest_first() -> None:
    """Found at rank 3, b makes AP(norm=found)@3 (1/1 + 2/3) / 2; at rank 4, it leaves 1/1. An item
    without a judgment stands at rank 3 or does not."""
    run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0, "y": 1.0}}
    result = germane.evaluate({"q": ["a", "b"]}, run, "AP(norm=found)@3 Unjudged@3 RR")
    low, unjudged = f"{(1 + 2 / 3) / 2:.4f}", (f"{1 / 3:.4f}", f"{2 / 3:.4f}")
    found = result["AP(norm=found)@3"]
    assert (found.worst, found.best) == (1, (1 + 2 / 3) / 2), "the attributes are of the two orders"
    assert (
        f"tie band AP(norm=found)@3 at least {low}…1.0000, Unjudged@3 {unjudged[0]}…{unjudged[1]}\n"
        in result.table().text()
    )
    page = germane.report({"q": ["a", "b"]}, {"one": run}, result.measures).html
    rows = [re.sub("<[^>]*>", " ", row).split() for row in re.split("</?tr>", page)]
    reported = f"{result['Unjudged@3'].mean:.4f}"
    assert ["one", "Unjudged@3", unjudged[0], reported, unjudged[1]] in rows


SHOWN = {
    "result": lambda: germane.evaluate(QRELS, RUN, "AP"),
    "results": lambda: germane.evaluate_many(QRELS, {"one": RUN}, "AP"),
    "groups": lambda: germane.evaluate(QRELS, RUN, "AP").by({"q": "short"}),
    "explanation": lambda: germane.explain(QRELS, RUN, "AP", query="q"),
    "curve": lambda: germane.pr_curve(QRELS, RUN, query="q"),
    "mean curve": lambda: germane.mean_pr_curve(QRELS, RUN),
    "spread": lambda: germane.spread(QRELS, RUN, "AP"),
    "gate": lambda: germane.gate(QRELS, RUN, "AP", baseline=RUN),
    "check": lambda: germane.check(QRELS, RUN),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_has_a_table_can_be_written_wherever_tables_can(name: str) -> None:
    shown: Any = SHOWN[name]()
    assert shown.markdown() == shown.table().markdown()
    in_paper = name in ("result", "results")
    assert shown.latex() == (shown.table().latex_float() if in_paper else shown.table().latex())
    assert shown._repr_html_() == shown.table().html()


NOTEBOOK = {
    **SHOWN,
    "measure": lambda: germane.AP @ 10,
    "measure result": lambda: germane.evaluate(QRELS, RUN, "AP")["AP"],
    "comparison": lambda: germane.compare(QRELS, {"one": RUN, "two": RUN}, "AP"),
    "stability": lambda: germane.compare(QRELS, {"one": RUN, "two": RUN}, "AP").stability("AP"),
    "queries": lambda: germane.compare(QRELS, {"1": RUN, "2": RUN}, "AP").queries("AP", "1", "2"),
    "experiment": lambda: germane.simulate("recall"),
    "reconciliation": lambda: germane.reconcile(QRELS, RUN, reported=0.5, measure="AP"),
}


@pytest.mark.parametrize("name", NOTEBOOK)
def test_a_notebook_shows_a_table(name: str) -> None:
    shown: Any = NOTEBOOK[name]()
    assert "<table" in shown._repr_html_()


def test_a_notebook_shows_the_definition_beside_a_measure_and_its_value() -> None:
    definition = "Σ P@i·rel(i), i ≤ 10, ÷ min(R,10)"
    assert f">{definition}<" in (germane.AP @ 10)._repr_html_()
    shown = germane.evaluate(QRELS, RUN, "AP@10")["AP@10"]
    assert f"AP@10: {definition}" in shown._repr_html_()
    assert f">{shown.mean:.4f}<" in shown._repr_html_()
    count = germane.evaluate(QRELS, RUN, "NumRet")["NumRet"]._repr_html_()
    assert ">sum<" in count


# --- Attributes that are not there ----------------------------------------------------------------

TRUTH = [{"boxes": [[10, 10, 50, 50]], "labels": ["cat"]}]
DETECTIONS = [{"boxes": [[10, 12, 50, 50]], "labels": ["cat"], "scores": [0.9]}]
MADE = {
    "result": lambda: germane.evaluate(QRELS, RUN, "AP RR nDCG@10"),
    "results": lambda: germane.evaluate_many(QRELS, {"ours": RUN, "theirs": RUN}, "AP RR"),
    "value": lambda: germane.evaluate(QRELS, RUN, "AP")["AP"],
    "counts": lambda: germane.evaluate(QRELS, RUN, "AP").counts,
    "comparison": lambda: germane.compare(QRELS, {"ours": RUN, "theirs": RUN}, "AP"),
    "table": lambda: germane.evaluate(QRELS, RUN, "AP").table(),
    "boxes.result": lambda: germane.boxes.evaluate(TRUTH, DETECTIONS),
    "boxes.results": lambda: germane.boxes.evaluate_many(TRUTH, {"ours": DETECTIONS}),
    "boxes.value": lambda: germane.boxes.evaluate(TRUTH, DETECTIONS)["AP"],
}
ADVISED: Any = germane.types.Counts.__mro__[1]  # the class that advises
ADVICE = [
    ("result", "per_query", "Write result['AP'].per_query"),
    ("result", "mean", "Write result['AP'].mean"),
    ("result", "scores", "Write result['AP'].per_query"),
    ("result", "ndcg", "Write result['nDCG@10'].mean"),
    ("result", "mrr", "Write result['RR'].mean"),
    ("result", "to_dataframe", "Write .to_pandas()"),
    ("result", "to_csv", "Write .to_pandas().to_csv(…)"),
    ("result", "per_querys", "Did you mean result['AP'].per_query?"),
    ("results", "policy", "Write results['ours'].policy"),
    ("results", "per_query", "Write results['ours']['AP'].per_query"),
    ("value", "per_user", "Write .per_query"),
    ("counts", "missed", "Did you mean .missing?"),
    ("comparison", "dataframe", "Write .to_pandas()"),
    ("table", "to_markdown", "Write .markdown()"),
    ("boxes.result", "per_class", "Write result['AP'].per_class"),
    ("boxes.result", "maps", "Write result['AP'].per_class"),
    ("boxes.result", "map50", "Write result['AP50'].mean"),
    ("boxes.result", "as_dataframe", "Write .to_pandas()"),
    ("boxes.results", "ap50", "Write results['ours']['AP50'].mean"),
    ("boxes.value", "value", "Write .mean"),
]


@pytest.mark.parametrize(("name", "attribute", "advice"), ADVICE)
def test_an_attribute_that_is_not_there(name: str, attribute: str, advice: str) -> None:
    """The error says what to write, and that is there."""
    value = MADE[name]()
    with pytest.raises(AttributeError) as caught:
        getattr(value, attribute)
    assert str(caught.value).endswith(f"has no attribute {attribute!r}. {advice}")
    assert not hasattr(value, attribute)
    assert getattr(value, attribute, 1) == 1
    written = re.sub(r"^(?:Write|Did you mean) (?:results?)?|\?$|\.to_csv\(…\)$", "", advice)
    assert eval(f"value{written}", {"value": value}) is not None


def test_every_result_advises() -> None:
    """Whatever has a table, a frame or plain values; and protocols see nothing of it."""
    held = [getattr(germane.types, name) for name in dir(germane.types)]
    held += [getattr(germane.boxes, name) for name in germane.boxes.__all__]
    results = [
        kind
        for kind in held
        if isinstance(kind, type)
        and any(hasattr(kind, name) for name in ("table", "to_pandas", "to_dict", "per_query"))
        and not issubclass(kind, (germane.types.Measure, dict))
    ]
    assert len(results) > 20
    assert {kind.__name__ for kind in results if not issubclass(kind, ADVISED)} == set()


def test_protocols_do_not_see_the_advice() -> None:
    for make in MADE.values():
        value = make()
        assert type(copy.copy(value)) is type(value)
        with pytest.raises(AttributeError, match=r"has no attribute '__array_interface__'$"):
            value.__array_interface__  # noqa: B018
    counts = MADE["counts"]()
    assert pickle.loads(pickle.dumps(counts)) == copy.deepcopy(counts) == counts
    empty = object.__new__(type(MADE["result"]()))  # as a copy begins
    with pytest.raises(AttributeError, match=r"has no attribute 'other'$"):
        empty.other  # noqa: B018


def test_an_error_within_a_property_stays_as_it_is() -> None:
    class Broken(ADVISED):
        def __init__(self) -> None:
            self.name = "x"

        @property
        def length(self) -> int:
            return self.name.lenght  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'str' object has no attribute 'lenght'"):
        Broken().length  # noqa: B018
