"""Pictures: what they show is what was computed, in one style, whole or not at all."""

import re
import sys
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import germane
from germane import cli

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from matplotlib.figure import Figure  # noqa: E402

from germane.plot import (  # noqa: E402
    DifferenceDisplay,
    ExperimentDisplay,
    ForestDisplay,
    PerQueryDisplay,
    PRCurveDisplay,
    PRCurvesDisplay,
)

CURVE = germane.pr_curve([0, 0, 1, 0, 1, 0, 0, 1, 0, 0], relevant=4)
QRELS = {"q$1$": ["a", "b"], "<q2>": ["c"], "漢字": ["d"]}
RUNS = {
    "one": {"q$1$": ["a", "x", "b"], "<q2>": ["c"], "漢字": ["x"]},
    "two & three": {"q$1$": ["x", "a"], "<q2>": ["c"], "漢字": ["d"]},
}
RESULTS = germane.evaluate_many(QRELS, RUNS, "AP RR")
MEANS = {name: germane.mean_pr_curve(QRELS, run) for name, run in RUNS.items()}
DISPLAYS: dict[str, Any] = {
    "one curve": PRCurveDisplay(CURVE),
    "trapezoids": PRCurveDisplay(CURVE, rule="trapezoid"),
    "interpolated": PRCurveDisplay(CURVE, rule="interpolated"),
    "11 levels": PRCurveDisplay(CURVE, rule=11),
    "101 levels": PRCurveDisplay(CURVE, rule=101),
    "one query": PRCurveDisplay(germane.pr_curve(QRELS, RUNS["one"], query="q$1$")),
    "two runs, one query": PRCurvesDisplay(
        {name: germane.pr_curve(QRELS, run, query="q$1$") for name, run in RUNS.items()}
    ),
    "two runs, averaged": PRCurvesDisplay(MEANS, rule="interpolated"),
    "one measure of every query": PerQueryDisplay(RESULTS["one"]["AP"], name="one"),
    "pairs": ForestDisplay(germane.compare(RESULTS).pairs[:1]),
    "differences": DifferenceDisplay(
        RESULTS["one"]["AP"], RESULTS["two & three"]["AP"], names=tuple(RUNS)
    ),
}


def axes() -> Any:
    return Figure().add_subplot()


def bars(ax: Any) -> list[Any]:
    return list(ax.containers[0].patches)


# --- What is drawn is what was computed ------------------------------------------------------------


def test_the_bars_are_the_terms_and_their_area_is_ap() -> None:
    drawn = bars(PRCurveDisplay(CURVE).plot(axes()).ax_)
    assert [bar.get_height() for bar in drawn] == [1 / 3, 2 / 5, 3 / 8]
    assert [bar.get_width() for bar in drawn] == pytest.approx([1 / 4] * 3)
    area = sum(bar.get_height() * bar.get_width() for bar in drawn)
    assert area == pytest.approx((1 / 3 + 2 / 5 + 3 / 8) / 4)
    assert area == pytest.approx(CURVE.area())


def test_the_interpolated_area_is_that_of_its_bars() -> None:
    drawn = bars(PRCurveDisplay(CURVE, rule="interpolated").plot(axes()).ax_)
    assert [bar.get_height() for bar in drawn] == [2 / 5, 2 / 5, 3 / 8]
    area = sum(bar.get_height() * bar.get_width() for bar in drawn)
    assert area == pytest.approx(CURVE.area("interpolated"))


@pytest.mark.parametrize(
    ("grades", "start", "lead", "first"),
    [
        ([0, 0, 1, 0], "(0,1)", None, (0, 0)),  # along the axis
        ([0, 0, 1, 0], "(1/R,P@first)", None, (1 / 4, 1 / 3)),
        ([1, 0], "(0,1)", [(0, 1), (1 / 4, 1)], (1 / 4, 1)),
        ([1, 0], "(0,0)", [(0, 0), (1 / 4, 1)], (1 / 4, 1)),
        ([1, 0], "none", None, (1 / 4, 1)),
    ],
)
def test_the_line_is_the_measured_curve_and_its_start_is_apart(grades, start, lead, first) -> None:  # type: ignore[no-untyped-def]
    curve = germane.pr_curve(grades, relevant=4, start=start)
    ax = PRCurveDisplay(curve).plot(axes()).ax_
    (line,) = (line for line in ax.lines if line.get_label() == "precision at every rank")
    dotted = [line for line in ax.lines if line.get_linestyle() == ":"]
    assert tuple(line.get_xydata()[0]) == first
    assert tuple(line.get_xydata()[-1]) == (1 / 4, 1 / len(grades))
    assert [line.get_xydata().tolist() for line in dotted] == (
        [] if lead is None else [list(map(list, lead))]
    )
    several = PRCurvesDisplay({"one": curve}).plot(axes()).ax_.lines
    assert tuple(several[0].get_xydata()[0]) == first


def test_definitions_are_in_the_titles() -> None:
    """Of the area in the legend, of the values, and of what a difference is of."""
    for name in DISPLAYS:
        title = DISPLAYS[name].plot(axes()).ax_.get_title(loc="left")
        assert "Σ" in title, name


def test_a_curve_that_ends_early_says_what_is_missing() -> None:
    texts = [text.get_text() for text in PRCurveDisplay(CURVE).plot(axes()).ax_.texts]
    assert texts == ["1/3", "2/5", "3/8", "1 not retrieved"]


def test_averaged_curves_have_bands_and_name_their_area() -> None:
    display = DISPLAYS["two runs, averaged"].plot(axes())
    assert len(display.ax_.collections) == 2
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    areas = {name: mean.area("interpolated") for name, mean in MEANS.items()}
    best_first = sorted(areas, key=lambda name: -areas[name])
    assert labels == [f"{name}  {areas[name]:.4f}" for name in best_first]
    lines = {(line.get_color(), line.get_linestyle()) for line in display.ax_.lines}
    assert len({dashes for _, dashes in lines}) == 2, "told apart without color"


def test_values_are_sorted_and_their_mean_is_the_mean() -> None:
    display = PerQueryDisplay(RESULTS["one"]["AP"]).plot(axes())
    heights = [bar.get_height() for bar in bars(display.ax_)]
    assert heights == [1.0, (1 + 2 / 3) / 2, 0.0]
    assert display.ax_.texts[0].get_text() == f"mean {RESULTS['one']['AP'].mean:.4f}"


def test_differences_are_paired_by_query() -> None:
    display = DISPLAYS["differences"].plot(axes())
    assert display.differences_ == {  # type: ignore[attr-defined]
        "q$1$": (1 + 2 / 3) / 2 - 1 / 2 / 2,
        "<q2>": 0.0,
        "漢字": -1.0,
    }
    assert "1 queries better, 1 worse, 1 the same" in display.ax_.get_title("left")


def test_a_forest_plot_has_the_differences_and_their_intervals() -> None:
    runs = {"a": list("xb"), "b": list("bx"), "c": list("xyb")}
    qrels = {q: ["b"] for q in "123456789"}
    named = {name: dict.fromkeys(qrels, items) for name, items in runs.items()}
    named["c"]["1"] = ["b"]
    comparison = germane.compare(qrels, named, "RR P@1")
    ax = comparison.plot(axes(), measure="RR").ax_
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b – c", "b – a", "a – c"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    ends = [line for line in ax.lines if len(line.get_xdata()) == 2 and line not in points][:3]
    for pair, point, end, text in zip(
        sorted((p for p in comparison.pairs if str(p.measure) == "RR"), key=lambda p: -abs(p.difference)),
        points, ends, ax.texts, strict=True,
    ):  # fmt: skip
        assert pair.interval is not None
        sign = 1 if pair.difference > 0 else -1  # as in the sentence, the higher mean comes first
        low, high = sorted((sign * pair.interval.low, sign * pair.interval.high))
        assert pair.sentence.startswith(pair.system if sign > 0 else pair.baseline)
        assert list(point.get_xdata()) == [abs(pair.difference)]
        assert (point.get_markerfacecolor() == point.get_color()) == pair.significant
        assert list(end.get_xdata()) == [low, high]
        assert text.get_text().startswith(f"{abs(pair.difference):+.3f}  [{low:+.3f}, ")
    against = germane.compare(qrels, named, "RR", baseline="a").plot(axes()).ax_
    assert [label.get_text() for label in against.get_yticklabels()] == ["b", "c"]
    assert against.get_xlabel() == "difference of RR to a"
    with pytest.raises(germane.errors.InputError, match="the pairs of one measure; got RR, P@1"):
        ForestDisplay(comparison.pairs)
    with pytest.raises(germane.errors.NotFoundError, match="AP was not compared"):
        comparison.plot(axes(), measure="AP")


@pytest.mark.slow
def test_the_title_of_a_forest_plot_ends_inside_of_the_picture() -> None:
    names = [f"a long name of run {n}" for n in range(8)]
    runs = {
        name: {q: ["b"] * (q % 8 != n) + ["a"] for q in range(9)} for n, name in enumerate(names)
    }
    comparison = germane.compare({q: ["b"] for q in range(9)}, runs, "nDCG@10 infAP P@1")
    for measure in ("nDCG@10", "infAP", "P@1"):
        display = comparison.plot(measure=measure)
        display.figure_.canvas.draw()
        title = display.ax_._left_title.get_window_extent()
        assert title.x1 <= display.figure_.bbox.x1, measure
        assert "Holm over 28" in display.ax_.get_title("left")


@pytest.mark.slow
def test_values_with_a_picture_draw_their_display(tmp_path: Path) -> None:
    comparison = germane.compare(RESULTS)
    queries = comparison.queries("AP", "one", "two & three")
    mean, experiment = MEANS["one"], germane.simulate("recall")
    pairs: list[tuple[Any, Any]] = [
        (CURVE, PRCurveDisplay(CURVE)),
        (mean, PRCurvesDisplay({"mean": mean})),
        (experiment, ExperimentDisplay(experiment)),
        (comparison, ForestDisplay([p for p in comparison.pairs if str(p.measure) == "AP"])),
        (queries, DISPLAYS["differences"]),
    ]
    for value, display in pairs:
        ax = axes()
        drawn = value.plot(ax)
        assert type(drawn) is type(display)
        assert drawn.ax_ is ax
        for paper in ("light", "dark"):
            value.save(tmp_path / "picture.svg", paper=paper)
            assert (tmp_path / "picture.svg").read_bytes() == display.picture("svg", paper=paper)
    CURVE.save(tmp_path / "picture.svg", rule=11)
    assert (tmp_path / "picture.svg").read_bytes() == DISPLAYS["11 levels"].picture("svg")


def test_queries_of_several_data_sets_are_told_apart() -> None:
    comparison = germane.compare({"news": RESULTS, "web": RESULTS})
    drawn = comparison.queries("AP", "one", "two & three").plot(axes())
    assert set(drawn.differences_) == {f"{data}: {q}" for data in ("news", "web") for q in QRELS}


# --- Ten runs --------------------------------------------------------------------------------------


def test_names_beside_curves_touch_no_other_curve_and_no_other_name() -> None:
    qrels = {"q": {f"d{i}": int(i % 3 == 0) for i in range(30)}}
    runs = {
        f"run {n}": {"q": {f"d{i}": n * (i % 3 == 0) - i % 7 for i in range(30)}} for n in range(10)
    }
    curves = {name: germane.mean_pr_curve(qrels, run) for name, run in runs.items()}
    display = PRCurvesDisplay(curves)
    figure = Figure(figsize=(9, 5), layout="constrained")
    ax = display.plot(figure.add_subplot()).ax_
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert boxes
    for one in boxes.values():
        assert sum(one.overlaps(other) for other in boxes.values()) == 1
    for name, box in boxes.items():
        inside = box.transformed(ax.transData.inverted())
        for other, curve in curves.items():
            steps = [inside.x0 + (inside.x1 - inside.x0) * i / 20 for i in range(21)]
            if other != name:
                heights = np.interp(steps, curve.recall, curve.precision)
                assert all(h < inside.y0 or h > inside.y1 for h in heights), (name, other)
    legend = [text.get_text().split("  ")[0] for text in ax.get_legend().get_texts()]
    assert legend == sorted(legend, key=lambda name: -curves[name].area())
    levels = germane.mean_pr_curve(qrels, runs["run 1"], points=101)
    line = PRCurvesDisplay({"a": levels, "b": curves["run 1"]}).plot(axes()).ax_.lines
    assert [one.get_marker() for one in line] == ["", "o"], "no marker beyond eleven points"


# --- Paper -----------------------------------------------------------------------------------------


def test_another_paper() -> None:
    with pytest.raises(germane.errors.PolicyError, match="paper"):
        PRCurveDisplay(CURVE).plot(axes(), paper="blue")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", DISPLAYS)
def test_an_svg_is_dark_where_the_screen_is(name: str) -> None:
    light, dark, both = (
        re.sub(
            r' fill="(#\w+)"',
            r' style="fill: \1"',
            DISPLAYS[name].picture("svg", paper=paper).decode(),
        )
        for paper in ("light", "dark", None)  # type: ignore[arg-type]
    )
    rules = re.search(r"@media \(prefers-color-scheme: dark\)\{(.*)\}</style>", both)
    assert rules is not None
    assert re.sub(r' class="d\d+"', "", both.replace(rules[0], "</style>")) == light
    declarations = dict(re.findall(r"\.(d\d+)\{([^}]*)\}", rules[1]))

    def paint(match: re.Match[str]) -> str:
        """Apply a rule to the element of its class."""
        style = dict(part.split(": ", 1) for part in match[2].split("; "))
        rule = declarations[match[1]].replace(" !important", "")
        style |= dict(part.split(": ", 1) for part in rule.split("; "))
        return f' style="{"; ".join(": ".join(pair) for pair in style.items())}"'

    painted = re.sub(r' class="(d\d+)" style="([^"]*)"', paint, both)
    ids = r"(?<=[#\"])[mh][0-9a-f]{10}\b"  # of markers and hatches, which depend on colors
    assert re.sub(ids, "", painted.replace(rules[0], "</style>")) == re.sub(ids, "", dark)


# --- The convention of displays --------------------------------------------------------------------


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_draws_into_given_axes_and_keeps_them(name: str) -> None:
    ax = axes()
    display = DISPLAYS[name]
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.get_figure()


def test_without_axes_there_is_a_new_figure() -> None:
    from matplotlib import pyplot

    before = len(pyplot.get_fignums())
    display = PRCurveDisplay(CURVE).plot()
    assert len(pyplot.get_fignums()) == before + 1
    pyplot.close(display.figure_)


def test_the_style_stays_in_germane() -> None:
    before = dict(matplotlib.rcParams)
    PRCurveDisplay(CURVE).plot(axes())
    assert dict(matplotlib.rcParams) == before


# --- Files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DISPLAYS)
@pytest.mark.parametrize(
    "suffix", ["svg", *(pytest.param(one, marks=pytest.mark.slow) for one in ("png", "pdf"))]
)
def test_every_display_in_every_format(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{suffix}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DISPLAYS[name].save(path)
    first = path.read_bytes()
    DISPLAYS[name].save(path)
    assert path.read_bytes() == first, "the same picture is the same file"
    assert list(tmp_path.iterdir()) == [path]
    if suffix == "svg":
        ET.fromstring(first.decode())


@pytest.mark.parametrize("name", DISPLAYS)
def test_ids_are_text_and_no_formula(name: str) -> None:
    ax = DISPLAYS[name].plot(axes()).ax_
    legend = ax.get_legend()
    texts = [*ax.texts, *ax.get_xticklabels(), *(legend.get_texts() if legend else [])]
    for text in (ax._left_title, *texts):
        assert "$" not in text.get_text() or not text.get_parse_math(), text


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("curve.jpg", "a picture's name ends in svg, png or pdf"),
        ("curve", "a picture's name ends in svg, png or pdf"),
        ("nowhere/curve.svg", "cannot be written"),
    ],
)
def test_what_cannot_be_written(path: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(germane.errors.InputError, match=says):
        PRCurveDisplay(CURVE).save(tmp_path / path)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(germane.errors.InputError, match=r"pip install 'germane\[plot\]'"):
        PRCurveDisplay(CURVE).save(tmp_path / "curve.svg")


# --- What cannot be drawn --------------------------------------------------------------------------


def test_a_rule_that_does_not_exist() -> None:
    with pytest.raises(
        germane.errors.MeasureError,
        match="takes step, trapezoid, interpolated, davis_goadrich, linear101, 11 or 101",
    ):
        PRCurveDisplay(CURVE, rule="steps")  # type: ignore[arg-type]


def test_differences_need_one_measure_and_a_common_query() -> None:
    with pytest.raises(
        germane.errors.InputError,
        match=r"a difference is between values of one measure; got AP and RR\.",
    ):
        DifferenceDisplay(RESULTS["one"]["AP"], RESULTS["one"]["RR"])
    other = germane.evaluate({"z": ["a"]}, {"z": ["a"]}, "AP")
    with pytest.raises(germane.errors.InputError, match="no query in common"):
        DifferenceDisplay(RESULTS["one"]["AP"], other["AP"])


def test_no_curves() -> None:
    with pytest.raises(germane.errors.InputError, match="no curves to draw"):
        PRCurvesDisplay({})


# --- The command line ------------------------------------------------------------------------------

DIGITS = Path(__file__).parent.parent / "examples" / "digits"
FILES = [str(DIGITS / name) for name in ("qrels.txt", "lda.run", "pixels.run")]


@pytest.mark.slow
def test_compare_draws(tmp_path: Path) -> None:
    path = tmp_path / "picture.svg"
    comparison = germane.compare(FILES[0], {"lda": FILES[1], "pixels": FILES[2]}, "AP@10")
    assert cli.main(["compare", *FILES, "-m", "AP@10", "-o", str(path)]) == 0
    assert path.read_bytes() == ForestDisplay(comparison.pairs).picture("svg")
    options = ["-m", "AP@10", "--view", "queries", "-o", str(path)]
    assert cli.main(["compare", *FILES, *options]) == 0
    [pair] = comparison.pairs
    queries = comparison.queries("AP@10", pair.system, pair.baseline)
    assert path.read_bytes() == DifferenceDisplay.from_queries(queries).picture("svg")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-m", "AP RR"], "a picture has one measure; got AP, RR. Name it with -m."),
        (["-m", "AP", "--format", "csv"], "--format is for tables; leave it out for a picture"),
        (["-m", "AP", "--rename", "AP=MAP"], "--rename is for tables; leave it out"),
        (["-m", "AP", "--view", "stability"], "a picture is of the pairs, or of --view queries"),
    ],
)
def test_pictures_that_compare_refuses(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", *FILES, *options, "-o", str(tmp_path / "picture.svg")]) == 2
    assert says in capsys.readouterr().err
    assert cli.main(["compare", *FILES, "-m", "AP", "-o", str(tmp_path / "picture.jpg")]) == 2
    assert not list(tmp_path.iterdir())


def test_evaluate_draws_the_means_of_one_measure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "means.svg"
    command = ["evaluate", *FILES, "-o", str(picture)]
    assert cli.main([*command, "-m", "AP", "--rename", "AP=MAP", "--confidence", "0.9"]) == 0
    assert "MAP: means with 90% intervals" in picture.read_text("utf-8")
    for options, says in (
        (["-m", "AP RR"], "a picture has one measure; got AP, RR"),
        (["-m", "AP", "--per-query"], "--per-query is for tables; leave it out for a picture"),
    ):
        assert cli.main([*command, *options]) == 2
        assert says in capsys.readouterr().err
