"""Precision–recall curves: by arithmetic, by law, and as scikit-learn, Oxford, VOC and COCO have them."""

import json
import math
import pickle
import random
import runpy
import time
from collections.abc import Callable, Sequence
from fractions import Fraction as Q
from itertools import pairwise
from operator import truediv
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import germane

import oracle
from strategies import GRADES, Judgments, Scores, collections, judgments, scores

DATA = Path(__file__).with_name("data")
RECORDED: dict[str, Any] = json.loads(DATA.joinpath("curves.json").read_text("utf-8"))

RULES: tuple[Any, ...] = ("step", "trapezoid", "interpolated", 11, 101)
STARTS: tuple[Any, ...] = ("(0,1)", "(0,0)", "(1/R,P@first)", "none")
TIES: tuple[Any, ...] = ("trec", "given", "best", "worst", "grouped")

THREE = [0, 0, 1, 0, 1, 0, 0, 1, 0, 0]  # of 3: all are found
EIGHT = [1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0]  # of 8: 5 are found

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}, "none": {"z": 0}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"x": 1.0, "y": 0.5}, "none": {"z": 1.0}}


def three(**options: Any) -> germane.types.PRCurve:
    return germane.pr_curve(THREE, relevant=3, **options)


def eight(**options: Any) -> germane.types.PRCurve:
    return germane.pr_curve(EIGHT, relevant=8, **options)


def near(value: Any) -> Any:
    return pytest.approx(float(value), rel=1e-12, abs=1e-12)


# --------------------------------------------------------------------------- worked by arithmetic


def test_the_points_of_three_relevant_items() -> None:
    curve = three()
    assert curve.rank[curve.hits].tolist() == [3, 5, 8]
    assert curve.precision[curve.hits].tolist() == [1 / 3, 2 / 5, 3 / 8]
    assert curve.recall[curve.hits].tolist() == [1 / 3, 2 / 3, 1]
    assert curve.interpolated.tolist() == [2 / 5] * 5 + [3 / 8] * 3 + [3 / 9, 3 / 10]
    assert (curve.query, curve.relevant, curve.retrieved) == ("list", 3, 10)


def test_between_hits_recall_stays_and_precision_falls() -> None:
    curve = three()
    assert curve.precision.tolist() == [
        0,
        0,
        1 / 3,
        1 / 4,
        2 / 5,
        2 / 6,
        2 / 7,
        3 / 8,
        3 / 9,
        3 / 10,
    ]
    assert curve.recall.tolist() == [found / 3 for found in (0, 0, 1, 1, 2, 2, 2, 3, 3, 3)]
    assert curve.rank.tolist() == list(range(1, 11))
    assert curve.hits.tolist() == list(map(bool, THREE))


AREAS_OF_THREE = {
    "step": (Q(1, 3) + Q(2, 5) + Q(3, 8)) / 3,
    "trapezoid": ((Q(0, 2) + Q(1, 3)) / 2 + (Q(1, 4) + Q(2, 5)) / 2 + (Q(2, 7) + Q(3, 8)) / 2) / 3,
    "interpolated": (Q(2, 5) + Q(2, 5) + Q(3, 8)) / 3,
    11: (7 * Q(2, 5) + 4 * Q(3, 8)) / 11,  # 0 … 0.6, then 0.7 … 1
    101: (67 * Q(2, 5) + 34 * Q(3, 8)) / 101,  # 0 … 0.66, then 0.67 … 1
}


@pytest.mark.parametrize("rule", RULES)
def test_the_areas_of_three_relevant_items(rule: Any) -> None:
    assert three().area(rule) == near(AREAS_OF_THREE[rule])


def test_a_curve_that_ends_where_the_list_does() -> None:
    curve = eight()
    assert curve.recall[-1] == 5 / 8
    assert curve.precision[-1] == 5 / 14
    assert curve.area() == near((1 + 1 + Q(3, 4) + Q(4, 6) + Q(5, 12)) / 8)
    assert curve.interpolated[curve.hits].tolist() == [1, 1, 3 / 4, 4 / 6, 5 / 12]


AREAS_OF_EIGHT = {
    "step": (1 + 1 + Q(3, 4) + Q(4, 6) + Q(5, 12)) / 8,
    "trapezoid": (
        *(Q(1, 8) * (before + at) / 2 for before, at in ((1, 1), (1, 1), (Q(2, 3), Q(3, 4)))),
        *(Q(1, 8) * (before + at) / 2 for before, at in ((Q(3, 5), Q(4, 6)), (Q(4, 11), Q(5, 12)))),
    ),
    # 0, 0.1 and 0.2 need 2 of 8; 0.3 needs 3; 0.4 and 0.5 need 4; 0.6 needs 5; beyond there is nothing
    11: (3 * 1 + Q(3, 4) + 2 * Q(4, 6) + Q(5, 12)) / 11,
    # up to 0.25 two, to 0.37 three, to 0.5 four, to 0.62 five
    101: (26 * 1 + 12 * Q(3, 4) + 13 * Q(4, 6) + 12 * Q(5, 12)) / 101,
}


@pytest.mark.parametrize("rule", AREAS_OF_EIGHT)
def test_recall_that_is_not_reached_has_no_area(rule: Any) -> None:
    area = AREAS_OF_EIGHT[rule]
    assert eight().area(rule) == near(sum(area) if isinstance(area, tuple) else area)


def test_precision_at_levels_is_zero_beyond_the_curve() -> None:
    recall, precision = eight().levels(11)
    assert recall.tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert precision.tolist() == [1, 1, 1, 3 / 4, 4 / 6, 4 / 6, 5 / 12, 0, 0, 0, 0]
    recall, precision = eight().levels(101)
    assert recall.tolist() == [i / 100 for i in range(101)]
    assert precision.tolist() == [
        *([1] * 26 + [3 / 4] * 12 + [4 / 6] * 13 + [5 / 12] * 12),
        *([0] * 38),
    ]


def test_eleven_levels_unless_told_otherwise() -> None:
    assert len(three().levels()[0]) == 11
    assert len(germane.mean_pr_curve(QRELS, RUN).recall) == 11


@pytest.mark.parametrize(
    ("start", "origin", "at_rank_1", "at_rank_2"),
    [
        ("(0,1)", (0, 1), (1 + 1) / 2, (0 + 1 / 2) / 2),
        ("(0,0)", (0, 0), (0 + 1) / 2, (0 + 1 / 2) / 2),
        ("none", None, 0, (0 + 1 / 2) / 2),
        ("(1/R,P@first)", None, 0, 0),
    ],
)
def test_where_the_curve_starts(
    start: Any, origin: Any, at_rank_1: float, at_rank_2: float
) -> None:
    """Only the trapezoid before the first hit looks at it: before rank 1, or rank 2."""
    for labels, first in (([1, 0, 1], at_rank_1), ([0, 1, 1], at_rank_2)):
        curve = germane.pr_curve(labels, relevant=3, start=start)
        assert (curve.start, curve.origin) == (start, origin)
        assert curve.area("trapezoid") == near((first + (1 / 2 + 2 / 3) / 2) / 3)
        for rule in ("step", "interpolated", 11, 101):
            assert curve.area(rule) == germane.pr_curve(labels, relevant=3).area(rule)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "recall", "precision"),
    [
        ("(0,1)", [0, 0, 1 / 3, 2 / 3], [1, 0, 1 / 2, 2 / 3]),
        ("(0,0)", [0, 0, 1 / 3, 2 / 3], [0, 0, 1 / 2, 2 / 3]),
        ("none", [0, 1 / 3, 2 / 3], [0, 1 / 2, 2 / 3]),
        ("(1/R,P@first)", [1 / 3, 2 / 3], [1 / 2, 2 / 3]),
    ],
)
def test_the_points_that_are_drawn(start: Any, recall: Any, precision: Any) -> None:
    drawn = germane.pr_curve([0, 1, 1], relevant=3, start=start).drawn
    assert [axis.tolist() for axis in drawn] == [recall, precision]


def test_relevant_from_a_grade_on() -> None:
    """Of [1, 2, 0, 3], two have grade 2 or more; a third one is missed."""
    curve = germane.pr_curve([1, 2, 0, 3], relevant=3, rel=2)
    assert curve.hits.tolist() == [False, True, False, True]
    assert curve.precision.tolist() == [0, 1 / 2, 1 / 3, 2 / 4]
    assert curve.recall.tolist() == [0, 1 / 3, 1 / 3, 2 / 3]
    assert curve.area() == germane.score([1, 2, 0, 3], "AP(rel=2)", relevant=3)
    assert curve.levels(11)[1].tolist() == [1 / 2] * 7 + [0] * 4
    assert curve.interpolated.tolist() == [1 / 2] * 4


def test_relevant_from_grade_0_on() -> None:
    """Everything judged 0 or more counts, and what has a negative grade does not."""
    assert germane.pr_curve([0, -1, 1], rel=0).precision.tolist() == [1, 1 / 2, 2 / 3]
    curve = germane.mean_pr_curve({"q": {"a": 0, "b": -1, "c": 1}}, {"q": ["b", "a", "c"]}, rel=0)
    assert curve.precision.tolist() == [2 / 3] * 11


def test_through_qrels_and_a_run() -> None:
    curve = germane.pr_curve(QRELS, RUN, query="q1")
    assert (curve.query, curve.relevant, curve.retrieved) == ("q1", 2, 3)
    assert curve.precision.tolist() == [0, 1 / 2, 2 / 3]
    assert germane.pr_curve(QRELS, RUN, query="q1", rel=2).precision.tolist() == [0, 0, 1 / 3]
    assert germane.pr_curve(QRELS, RUN, query="q1", depth=2).recall.tolist() == [0, 1 / 2]


def test_the_order_of_ties_is_the_runs() -> None:
    qrels, run = {"q": ["a"]}, {"q": {"b": 1.0, "a": 1.0, "c": 0.5}}
    by_order = {"trec": [0, 1 / 2], "given": [0, 1 / 2], "best": [1, 1 / 2], "worst": [0, 1 / 2]}
    for ties, precision in by_order.items():
        curve = germane.pr_curve(qrels, run, ties=ties)  # type: ignore[arg-type]
        assert curve.precision.tolist() == [*precision, 1 / 3]
    grouped = germane.pr_curve(qrels, run, ties="grouped")
    assert (grouped.rank.tolist(), grouped.precision.tolist()) == ([2, 3], [1 / 2, 1 / 3])


def test_one_judged_query_needs_no_name() -> None:
    assert germane.pr_curve({"q": ["a"]}, {"q": ["b", "a"], "other": ["a"]}).query == "q"


# ----------------------------------------------------------------------------- object detection


@pytest.mark.parametrize(
    "hits",
    [
        [True, False, True],
        np.array([True, False, True]),
        [np.True_, np.False_, np.True_],
        np.array([1, 0, 1], np.uint8),
        (1.0, 0.0, 1.0),
        np.array([3.0, 0.5, 1.0], np.float32),
    ],
    ids=["bool", "array of bool", "NumPy's bool", "uint8", "float", "graded"],
)
def test_detections_in_order_of_confidence(hits: Any) -> None:
    """Three detections, two of them right, of three objects there are."""
    curve = germane.pr_curve(hits, relevant=np.int64(3))
    assert curve.precision.tolist() == [1, 1 / 2, 2 / 3]
    assert curve.recall.tolist() == [1 / 3, 1 / 3, 2 / 3]
    assert curve.area("interpolated") == near((1 + Q(2, 3)) / 3)
    assert curve.area(11) == near((4 * 1 + 3 * Q(2, 3)) / 11)
    assert curve.area(101) == near((34 * 1 + 33 * Q(2, 3)) / 101)


# --------------------------------------------------------------------------------- scikit-learn


def agrees_with_scikit_learn(answer: dict[str, Any]) -> None:
    """Points exactly; areas to the last digits. Its points run from the end to (0, 1)."""
    labels, scores = answer["labels"], answer["scores"]
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    run = {"q": {f"d{i}": score for i, score in enumerate(scores)}}
    curve = germane.pr_curve(qrels, run, query="q", ties="grouped", start="(0,1)")
    recall, precision = curve.drawn
    assert recall.tolist() == answer["recall"][::-1]
    assert precision.tolist() == answer["precision"][::-1]
    assert curve.area("step") == near(answer["average_precision_score"])
    assert curve.area("trapezoid") == near(answer["auc"])
    result = germane.evaluate(qrels, run, "AP AUPR(rule=trapezoid)", ties="grouped")
    assert result["AP"].mean == curve.area("step")
    assert result["AUPR(rule=trapezoid)"].mean == curve.area("trapezoid")
    if len(set(scores)) == len(scores):
        ranked = [label for _, label in sorted(zip(scores, labels, strict=True), reverse=True)]
        listed = germane.pr_curve(ranked)
        assert [axis.tolist() for axis in listed.drawn] == [recall.tolist(), precision.tolist()]
        for rule in RULES:
            assert listed.area(rule) == curve.area(rule)


@pytest.mark.parametrize("answer", RECORDED["curves"], ids=lambda answer: len(answer["labels"]))
def test_agrees_with_scikit_learn(answer: dict[str, Any]) -> None:
    agrees_with_scikit_learn(answer)


def test_half_of_the_recorded_lists_have_ties() -> None:
    tied = [len(set(one["scores"])) < len(one["scores"]) for one in RECORDED["curves"]]
    assert min(tied.count(True), tied.count(False)) >= 30


@pytest.mark.live
def test_agrees_with_the_installed_scikit_learn() -> None:
    pytest.importorskip("sklearn")
    script = runpy.run_path(str(DATA / "record_curves.py"))
    for one in script["lists"](random.Random(1)):
        agrees_with_scikit_learn(script["answer"](*one))


# ------------------------------------------------- other definitions, slowly and from their papers

Labels = Sequence[bool]


def oxford(labels: Labels, relevant: int) -> float:
    """compute_ap of the Oxford buildings (Philbin et al., CVPR 2007), image by image."""
    area, old_recall, old_precision, found = 0.0, 0.0, 1.0, 0
    for i, label in enumerate(labels, start=1):
        found += label
        recall, precision = found / relevant, found / i
        area += (recall - old_recall) * (old_precision + precision) / 2
        old_recall, old_precision = recall, precision
    return area


def revisited_oxford(labels: Labels, relevant: int) -> float:
    """compute_ap of Revisited Oxford and Paris (Radenović et al., CVPR 2018): relevant ranks only,
    each with the precision at it and just before it, which is 1 before rank 1."""
    hits = [i for i, label in enumerate(labels, start=1) if label]
    area = 0.0
    for before, i in enumerate(hits):
        just_before = 1.0 if i == 1 else before / (i - 1)
        area += (just_before + (before + 1) / i) / 2 * (1 / relevant)
    return area


def at_levels(
    labels: Labels, relevant: int, levels: Sequence[Any], ratio: Callable[[int, int], Any]
) -> float:
    """The mean over levels of the best precision where recall is at least the level, or 0.

    VOC 2007 (Everingham et al., IJCV 2010) with 11 levels, COCO (Lin et al., ECCV 2014) with 101.
    """
    found = np.cumsum(labels).tolist()
    points = [(ratio(h, relevant), h / i) for i, h in enumerate(found, start=1)]
    best = [max((p for r, p in points if r >= level), default=0.0) for level in levels]
    return math.fsum(best) / len(levels)


def voc_2010(labels: Labels, relevant: int) -> float:
    """The area under the envelope, between the points (0, 0) and (1, 0): VOC 2010 and later."""
    found = np.cumsum(labels).tolist()
    recall = [0.0, *(h / relevant for h in found), 1.0]
    precision = [0.0, *(h / i for i, h in enumerate(found, start=1)), 0.0]
    for i in reversed(range(len(precision) - 1)):
        precision[i] = max(precision[i], precision[i + 1])
    sides = zip(pairwise(recall), precision[1:], strict=True)
    return math.fsum((r1 - r0) * p for (r0, r1), p in sides)


@st.composite
def detections(draw: st.DrawFn, most: int = 30) -> tuple[list[bool], int]:
    """Hits and misses in order, and the number of objects, of which some may not be found."""
    labels = draw(st.lists(st.booleans(), min_size=1, max_size=most))
    missed = draw(st.one_of(st.just(0), st.integers(0, 120)))
    return labels, max(sum(labels) + missed, 1)


def area(labels: Labels, relevant: int, rule: str) -> float:
    """What the measure, and the curve, say."""
    value = germane.score(labels, f"AUPR(rule={rule})", relevant=relevant)
    assert germane.pr_curve(labels, relevant=relevant).area(int(rule) if rule.isdigit() else rule) == value  # type: ignore[arg-type]  # fmt: skip
    return value


@given(detections())
def test_trapezoids_are_those_of_oxford_and_paris(listed: tuple[list[bool], int]) -> None:
    assert area(*listed, "trapezoid") == near(oxford(*listed))
    assert area(*listed, "trapezoid") == near(revisited_oxford(*listed))


@given(detections())
def test_the_envelope_is_that_of_voc_2010(listed: tuple[list[bool], int]) -> None:
    assert area(*listed, "interpolated") == near(voc_2010(*listed))


@pytest.mark.parametrize("points", [11, 101], ids=["VOC 2007", "COCO"])
@given(listed=detections())
def test_levels_are_those_of_voc_2007_and_coco(points: int, listed: tuple[list[bool], int]) -> None:
    levels = [Q(i, points - 1) for i in range(points)]
    assert area(*listed, str(points)) == near(at_levels(*listed, levels, Q))


VOC_LEVELS = np.arange(0, 1.1, 0.1).tolist()
COCO_LEVELS = np.linspace(0, 1, 101).tolist()


@pytest.mark.parametrize("levels", [VOC_LEVELS, COCO_LEVELS], ids=["VOC 2007", "COCO"])
@given(listed=detections())
def test_the_levels_that_both_compute_in_doubles(
    levels: list[float], listed: tuple[list[bool], int]
) -> None:
    """The same, unless a recall is exactly a level that came out too high in doubles."""
    last = len(levels) - 1
    too_high = [i for i, level in enumerate(levels) if level > i / last]
    assume(not any(i * listed[1] % last == 0 for i in too_high))
    assert area(*listed, str(len(levels))) == near(at_levels(*listed, levels, truediv))


def test_a_level_is_the_decimal_it_is_written_as() -> None:
    """COCO's level 0.35 is 0.35000000000000003, so that 7 of 20 objects do not reach it; VOC's 0.3 is
    0.30000000000000004, which 3 of 10 do not reach. Here 7/20 is 0.35."""
    assert COCO_LEVELS[35] > 7 / 20 == 0.35
    seven, eighth = 7 / 7, 8 / 9
    labels = [True] * 7 + [False, True]
    in_coco = (35 * seven + 6 * eighth) / 101  # 0 … 0.34, 0.35 … 0.4
    assert at_levels(labels, 20, COCO_LEVELS, truediv) == near(in_coco)
    assert area(labels, 20, "101") == near((36 * seven + 5 * eighth) / 101)
    assert VOC_LEVELS[3] > 3 / 10 == 0.3
    third, fourth = 3 / 3, 4 / 5
    labels = [True] * 3 + [False, True]
    assert at_levels(labels, 10, VOC_LEVELS, truediv) == near((3 * third + 2 * fourth) / 11)
    assert area(labels, 10, "11") == near((4 * third + 1 * fourth) / 11)


# ------------------------------------------------------------------------------ laws of one curve


@st.composite
def curves(draw: st.DrawFn, **options: Any) -> germane.types.PRCurve:
    """Curves of grades with missed items, or of a run with ties in any order."""
    rel = draw(st.sampled_from((1.0, 0.5, 2.0)))
    options = {"rel": rel, "start": draw(st.sampled_from(STARTS)), **options}
    if draw(st.booleans()):
        grades = draw(st.lists(st.sampled_from(GRADES), min_size=1, max_size=25))
        found = sum(grade >= rel for grade in grades)
        return germane.pr_curve(grades, relevant=max(found + draw(st.integers(0, 9)), 1), **options)
    judged, got = draw(judgments()), draw(scores().filter(bool))
    assume(any(grade >= rel for grade in judged.values()))
    ties = draw(st.sampled_from(TIES))
    return germane.pr_curve({"q": judged}, {"q": got}, ties=ties, **options)


@given(st.lists(st.sampled_from(GRADES), min_size=1, max_size=20), st.integers(0, 5))
def test_each_point_is_precision_and_recall_at_its_rank(grades: list[float], missed: int) -> None:
    for rel in (1, 2, 0.5):
        relevant = sum(grade >= rel for grade in grades) + missed
        if relevant == 0:
            continue
        curve = germane.pr_curve(grades, relevant=relevant, rel=rel)
        points = zip(curve.rank.tolist(), curve.precision, curve.recall, curve.hits, strict=True)
        for k, precision, recall, hit in points:
            assert precision == germane.score(grades, f"P(rel={rel})@{k}", relevant=relevant)
            assert recall == germane.score(grades, f"R(rel={rel})@{k}", relevant=relevant)
            assert hit == (grades[k - 1] >= rel)


@given(curves())
def test_areas_are_sums_over_the_pieces_of_the_curve(curve: germane.types.PRCurve) -> None:
    recall, precision = curve.drawn
    sides = zip(pairwise(recall.tolist()), pairwise(precision.tolist()), strict=True)
    trapezoids = math.fsum((r1 - r0) * (p0 + p1) / 2 for (r0, r1), (p0, p1) in sides)
    assert curve.area("trapezoid") == near(trapezoids)
    gained = np.diff(curve.recall, prepend=0.0)
    assert curve.area("step") == near(math.fsum(gained * curve.precision))
    assert curve.area("interpolated") == near(math.fsum(gained * curve.interpolated))
    assert (gained > 0).tolist() == curve.hits.tolist()


@given(curves())
def test_the_interpolated_curve_is_the_least_that_never_rises(curve: germane.types.PRCurve) -> None:
    best = curve.interpolated
    assert (np.diff(best) <= 0).all()
    assert (best >= curve.precision).all()
    assert best.tolist() == [max(curve.precision[i:]) for i in range(len(best))]
    assert curve.area("interpolated") >= curve.area("step")


@pytest.mark.slow
@settings(max_examples=50)
@given(curves())
def test_levels_are_the_interpolated_curve_at_each_recall(curve: germane.types.PRCurve) -> None:
    for points in (11, 101):
        recall, precision = curve.levels(points)  # type: ignore[arg-type]
        found = np.round(curve.recall * curve.relevant).astype(int).tolist()
        for i, value in enumerate(precision.tolist()):
            reached = [n * (points - 1) >= i * curve.relevant for n in found]
            best = max(
                (p for p, yes in zip(curve.precision, reached, strict=True) if yes), default=0
            )
            assert value == best
        assert recall.tolist() == [i / (points - 1) for i in range(points)]
        assert curve.area(points) == near(math.fsum(precision) / points)  # type: ignore[arg-type]


@given(judgments(), scores().filter(bool), st.sampled_from((1.0, 2.0)), st.sampled_from(TIES))
def test_the_areas_are_the_measures(judged: Judgments, got: Scores, rel: float, ties: Any) -> None:
    """Exactly what evaluate says, in every order of ties; by the step rule that is AP."""
    assume(any(grade >= rel for grade in judged.values()))
    qrels, run = {"q": judged}, {"q": got}
    curve = germane.pr_curve(qrels, run, rel=rel, ties=ties)
    names = [f"AUPR(rule={rule},rel={rel})" for rule in RULES]
    names += [f"AP(rel={rel})", f"AP(norm=R,rel={rel})", f"IAP(points=11,rel={rel})"]
    result = germane.evaluate(qrels, run, names, ties=ties)
    *areas, ap, ap_over_r, iap = (result[name].mean for name in names)
    assert [curve.area(rule) for rule in RULES] == areas
    assert curve.area("step") == ap == ap_over_r
    assert curve.area(11) == iap == near(math.fsum(curve.levels(11)[1]) / 11)


@given(judgments(), scores().filter(bool), st.sampled_from(STARTS))
def test_every_area_is_the_oracles(judged: Judgments, got: Scores, start: Any) -> None:
    """From each start, in an order of single ranks and with equal scores as one step."""
    assume(any(grade >= 1 for grade in judged.values()))
    for ties in ("trec", "grouped"):
        curve = germane.pr_curve({"q": judged}, {"q": got}, start=start, ties=ties)  # type: ignore[arg-type]
        for rule in RULES:
            params = {"rule": rule, "start": start}
            expected = (
                oracle.grouped("AUPR", params, got, judged)
                if ties == "grouped"
                else oracle.value("AUPR", params, None, oracle.trec_order(got), judged)
            )
            assert curve.area(rule) == near(expected)


@given(judgments(), scores().filter(bool))
def test_equal_scores_are_one_point_at_their_last_rank(judged: Judgments, got: Scores) -> None:
    """Where every item is judged, as it is for scikit-learn."""
    judged = {**dict.fromkeys(got, 0.0), **judged}
    assume(any(grade >= 1 for grade in judged.values()))
    curve = germane.pr_curve({"q": judged}, {"q": got}, ties="grouped")
    groups = oracle.tie_groups(got)
    assert curve.rank.tolist() == np.cumsum([len(group) for group in groups]).tolist()
    relevant = [sum(judged[item] >= 1 for item in group) for group in groups]
    assert curve.recall.tolist() == (np.cumsum(relevant) / curve.relevant).tolist()
    assert curve.precision.tolist() == (np.cumsum(relevant) / curve.rank).tolist()
    assert curve.hits.tolist() == [n > 0 for n in relevant]


def test_a_group_that_nobody_judged_has_its_ranks_as_points_but_no_area() -> None:
    """x and y are tied, on ranks 2 and 3; judged or not, the curve only falls there."""
    run = {"q": {"a": 3.0, "x": 2.0, "y": 2.0, "b": 1.0}}
    unjudged = germane.pr_curve({"q": {"a": 1, "b": 1}}, run, ties="grouped")
    judged = germane.pr_curve({"q": {"a": 1, "b": 1, "x": 0}}, run, ties="grouped")
    assert unjudged.rank.tolist() == [1, 2, 3, 4]
    assert judged.rank.tolist() == [1, 3, 4]
    assert [unjudged.area(rule) for rule in RULES] == [judged.area(rule) for rule in RULES]
    assert unjudged.area("trapezoid") == near(Q(1, 2) * (1 + (Q(1, 3) + Q(2, 4)) / 2))


# ----------------------------------------------------------------------------- the mean of curves


def test_the_mean_of_two_queries_by_arithmetic() -> None:
    """q1 finds 1/2 at recall 1/2 and 2/3 at recall 1; q2 is perfect; the third counts as 0."""
    curve = germane.mean_pr_curve(QRELS, RUN)
    assert curve.recall.tolist() == [i / 10 for i in range(11)]
    assert curve.precision.tolist() == [(2 / 3 + 1 + 0) / 3] * 11
    assert curve.queries == 3
    assert curve.area() == ((1 / 2 + 2 / 3) / 2 + 1 + 0) / 3
    skipping = germane.mean_pr_curve(QRELS, RUN, no_relevant="skip")
    assert skipping.precision.tolist() == [(2 / 3 + 1) / 2] * 11
    assert skipping.queries == 2
    assert skipping.area("interpolated") == near((Q(2, 3) + 1) / 2)


@st.composite
def conventions(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "missing": draw(st.sampled_from(("zero", "skip"))),
        "no_relevant": draw(st.sampled_from(("zero", "skip", "one", "nan"))),
        "ties": draw(st.sampled_from(TIES)),
        "unjudged": draw(st.sampled_from(("nonrelevant", "remove"))),
    }


@pytest.mark.slow
@settings(max_examples=60)
@given(collections(), conventions(), st.sampled_from((1.0, 2.0)), st.sampled_from((11, 101)))
def test_a_mean_curve_is_what_evaluate_says_at_each_level(
    collection: tuple[dict[str, Judgments], dict[str, Scores]],
    policy: dict[str, Any],
    rel: float,
    points: Literal[11, 101],
) -> None:
    curve = germane.mean_pr_curve(*collection, points=points, rel=rel, **policy)
    levels = [i / (points - 1) for i in range(points)]
    names = [f"IPrec(recall={level},rel={rel})" for level in levels]
    result = germane.evaluate(*collection, names, **policy)
    assert curve.recall.tolist() == levels
    np.testing.assert_array_equal(curve.precision, [result[name].mean for name in names])
    per_query = [result[name].values for name in names]
    np.testing.assert_array_equal(curve.per_query, per_query)
    names = [f"AUPR(rule={rule},rel={rel})" for rule in RULES]
    result = germane.evaluate(*collection, names, **policy)
    np.testing.assert_array_equal(
        [curve.area(rule) for rule in RULES], [result[name].mean for name in names]
    )


def ranked_at(ranks: Sequence[int], length: int) -> list[str]:
    """A list with relevant items r1, r2, … at these ranks."""
    found = {rank: f"r{i}" for i, rank in enumerate(ranks, start=1)}
    return [found.get(i, f"n{i}") for i in range(1, length + 1)]


def of_ranks(several: Sequence[Sequence[int]], **options: Any) -> germane.types.MeanPRCurve:
    """The mean curve of lists of 10 with relevant items at these ranks, each found."""
    run = {f"q{q}": ranked_at(ranks, 10) for q, ranks in enumerate(several)}
    qrels = {
        f"q{q}": [f"r{i}" for i in range(1, len(ranks) + 1)] for q, ranks in enumerate(several)
    }
    return germane.mean_pr_curve(qrels, run, **options)


@pytest.mark.parametrize("confidence", [0.95, 0.8])
@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_the_band_is_the_interval_of_each_mean(confidence: float, no_relevant: Any) -> None:
    """The mean at a level is IPrec, whose interval evaluate gives."""
    qrels = {f"q{q}": ["r"] if q else {"r": 0} for q in range(12)}
    run = {query: ranked_at([q % 5 + 1], 10) for q, query in enumerate(qrels)}
    run = {query: ["r" if item == "r1" else item for item in items] for query, items in run.items()}
    policy: Any = {"no_relevant": no_relevant}
    curve = germane.mean_pr_curve(qrels, run, confidence=confidence, **policy)
    names = [f"IPrec(recall={level})" for level in curve.recall.tolist()]
    result = germane.evaluate(qrels, run, names, **policy)
    intervals = [result[name].interval(confidence=confidence) for name in names]
    band = zip(curve.low.tolist(), curve.high.tolist(), strict=True)
    assert list(band) == [(one.low, one.high) for one in intervals if one is not None]


@pytest.mark.parametrize("queries", [1, 4])
def test_few_queries_have_no_band(queries: int) -> None:
    curve = of_ranks([[2]] * queries)
    assert np.isnan([curve.low, curve.high]).all()
    assert not curve.has_band
    assert curve.table().rows[0] == ("0.00", "0.5000", "", "")
    assert "fewer than 5 queries tell too little about others for an interval" in str(curve)
    assert json.loads(json.dumps(curve.to_dict(), allow_nan=False))["low"] == [None] * 11


def test_each_level_has_its_own_band() -> None:
    """All queries find their first item at rank 1; only the second is now early, now late."""
    curve = of_ranks([[1, 2], [1, 10]] * 10)
    assert (curve.low[:6] == curve.low[0]).all()
    assert curve.low[0] == pytest.approx(0.025 ** (1 / 20), abs=1e-6), (
        "one more query with 0 (Clopper and Pearson)"
    )
    assert (curve.high[:6] == 1).all()
    assert (curve.low[6:] < curve.precision[6:]).all()
    assert (curve.high[6:] > curve.precision[6:]).all()
    assert curve.precision[6:].tolist() == [near((1 + 2 / 10) / 2)] * 5


def test_more_confidence_is_a_wider_band() -> None:
    several = [[i % 9 + 1, 10] for i in range(20)]
    wide, narrow = of_ranks(several, confidence=0.99), of_ranks(several, confidence=0.5)
    assert ((wide.low < narrow.low) & (narrow.high < wide.high)).all()


@pytest.mark.slow
def test_the_band_covers_the_mean_as_often_as_it_says() -> None:
    """300 samples of 60 queries, whose one item is equally often at each rank from 1 to 8."""
    rng = np.random.default_rng(20240607)
    true = sum(1 / rank for rank in range(1, 9)) / 8
    covered = 0
    for _ in range(300):
        curve = of_ranks([[rank] for rank in rng.integers(1, 9, 60).tolist()])
        covered += bool(curve.low[0] <= true <= curve.high[0])
    assert 0.90 * 300 <= covered <= 0.99 * 300


@pytest.mark.slow
@settings(max_examples=60)
@given(collections(), conventions(), st.sampled_from((0.05, 0.5, 0.95)))
def test_the_band_is_around_the_mean(
    collection: tuple[dict[str, Judgments], dict[str, Scores]],
    policy: dict[str, Any],
    confidence: float,
) -> None:
    """Or not a number where the mean is none, or one of few queries."""
    curve = germane.mean_pr_curve(*collection, confidence=confidence, **policy)
    known = ~np.isnan(curve.precision) & (curve.queries >= 5)
    assert (curve.low <= curve.precision + 1e-12)[known].all()
    assert (curve.precision <= curve.high + 1e-12)[known].all()
    assert np.isnan(curve.low[~known]).all()
    assert np.isnan(curve.high[~known]).all()


def test_no_band_is_without_width() -> None:
    """108 times 1/10: another query may have 0 or 1."""
    curve = of_ranks([[10]] * 108)
    reach = 1 - 0.025 ** (1 / 108)
    assert curve.low.tolist() == pytest.approx([0.1 - 0.1 * reach] * 11, abs=1e-6)
    assert curve.high.tolist() == pytest.approx([0.1 + 0.9 * reach] * 11, abs=1e-6)


def test_a_mean_that_is_none_has_no_band() -> None:
    """One query without relevant items makes the mean NaN; with skip only that alone would."""
    unknown = germane.mean_pr_curve(QRELS, RUN, no_relevant="nan")
    two = {"none": {"z": 0}, "q1": {"b": 0}}
    nothing = germane.mean_pr_curve(two, RUN, no_relevant="skip")
    assert (unknown.queries, nothing.queries) == (3, 0)
    for curve in (unknown, nothing):
        assert np.isnan([curve.precision, curve.low, curve.high]).all()
        written = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
        for name in ("precision", "low", "high"):
            assert written[name] == [None] * 11
        assert written["area"] == dict.fromkeys(map(str, RULES))
        assert "nan" in str(curve)


# ------------------------------------------------------------------------------------ as written


def test_a_curve_prints_its_hits_and_its_end() -> None:
    table = three().table()
    assert table.columns == ("rank", "recall", "precision", "interpolated")
    assert table.rows == (
        ("3", "0.3333", "0.3333", "0.4000"),
        ("5", "0.6667", "0.4000", "0.4000"),
        ("8", "1.0000", "0.3750", "0.3750"),
        ("10", "1.0000", "0.3000", "0.3000"),
    )
    assert table.notes[0] == (
        "3 relevant, 10 retrieved; the curve starts at (0,1) and ends at recall 1, precision 0.3"
    )
    assert str(three()) == table.text()
    assert three().table(digits=None).rows[0] == ("3", repr(1 / 3), repr(1 / 3), "0.4")
    assert three()._repr_html_() == table.html()
    assert repr(three()) == "<PRCurve of 'list': 10 points, AP 0.3694>"
    assert "starts at rank 1 and" in str(three(start="none"))


def test_an_area_is_printed_under_the_name_of_the_measure_that_it_is() -> None:
    """With the grade that counts as relevant; a trapezoid from elsewhere is no AUPR."""
    for rel in (1, 2, 1.5):
        for curve in (
            germane.pr_curve([2, 1, 0, 2], relevant=4, rel=rel),
            germane.mean_pr_curve(QRELS, RUN, rel=rel),
        ):
            notes = [note.split() for note in curve.table().notes]
            printed = {note[0]: note[1] for note in notes if note[0].startswith("AUPR")}
            names = [str(germane.types.Measure("AUPR", (("rule", r), ("rel", rel)))) for r in RULES]
            assert printed == {
                name: f"{curve.area(rule):.4f}" for name, rule in zip(names, RULES, strict=True)
            }
            assert (f"relevant: grade ≥ {rel:g}" in str(curve)) == (rel != 1)
            assert curve.to_dict()["rel"] == rel
    for start, where in (("(0,0)", "(0,0)"), ("none", "rank 1"), ("(1/R,P@first)",) * 2):
        curve = germane.pr_curve([1, 0, 1], relevant=3, start=start)  # type: ignore[arg-type]
        assert f"trapezoid from {where} " in str(curve)
        assert "AUPR(rule=trapezoid)" not in str(curve)


def test_areas_say_who_takes_them() -> None:
    assert three().table().notes[1:] == (
        "AUPR                     0.3694  (AP)",
        "AUPR(rule=trapezoid)     0.2740",
        "AUPR(rule=interpolated)  0.3917  (PASCAL VOC 2010)",
        "AUPR(rule=11)            0.3909  (PASCAL VOC 2007)",
        "AUPR(rule=101)           0.3916  (COCO)",
    )


@pytest.mark.parametrize(("confidence", "text"), [(0.55, "55%"), (0.9, "90%"), (0.999, "99.9%")])
def test_the_confidence_is_not_rounded(confidence: float, text: str) -> None:
    curve = of_ranks([[1], [2]] * 3, confidence=confidence)
    assert f" {text} interval of each mean" in str(curve)


def test_a_mean_curve_prints_its_levels_and_its_band() -> None:
    curve = germane.mean_pr_curve({"q": ["a"]}, {"q": ["x", "a"]}, points=101)
    assert curve.table().columns == ("recall", "precision", "low", "high")
    assert curve.table().rows[35] == ("0.35", "0.5000", "", "")
    assert len(curve.table().rows) == 101
    assert "mean over 1 query; fewer than 5 queries tell too little" in str(curve)
    assert curve._repr_html_() == curve.table().html()
    assert repr(curve) == "<MeanPRCurve over 1 queries, 101 levels>"


def test_curves_are_plain_values_in_json() -> None:
    written = json.loads(json.dumps(three().to_dict(), allow_nan=False))
    assert (written["schema"], written["query"], written["start"]) == (1, "list", "(0,1)")
    assert (written["relevant"], written["retrieved"]) == (3, 10)
    for name in ("rank", "recall", "precision", "interpolated"):
        assert written[name] == getattr(three(), name).tolist()
    assert written["hit"] == list(map(bool, THREE))
    assert written["area"] == {str(rule): three().area(rule) for rule in RULES}
    curve = of_ranks([[1], [2], [4]] * 4)
    written = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert (written["schema"], written["queries"], written["confidence"]) == (1, 12, 0.95)
    for name in ("recall", "precision", "low", "high"):
        assert written[name] == getattr(curve, name).tolist()
    assert written["area"] == {str(rule): curve.area(rule) for rule in RULES}


def test_curves_can_be_pickled() -> None:
    for curve in (eight(start="none"), germane.mean_pr_curve(QRELS, RUN)):
        again = pickle.loads(pickle.dumps(curve))
        assert again.to_dict() == curve.to_dict()
        assert str(again) == str(curve)


def test_the_values_of_a_curve_cannot_be_changed() -> None:
    several = ("recall", "precision", "low", "high", "per_query")
    one = ("rank", "recall", "precision", "interpolated", "hits")
    for curve, names in ((three(), one), (germane.mean_pr_curve(QRELS, RUN), several)):
        for name in names:
            with pytest.raises(ValueError, match="read-only"):
                getattr(curve, name)[0] = 9
    curve = germane.pr_curve({"q": ["a"]}, {"q": {"a": 1.0}}, ties="grouped")
    with pytest.raises(ValueError, match="read-only"):
        curve.rank[0] = 9


def test_a_list_of_100_000_is_quick() -> None:
    labels = np.random.default_rng(0).random(100_000) < 0.1
    began = time.process_time()
    curve = germane.pr_curve(labels, relevant=20_000)
    written = str(curve), curve.to_dict(), curve.levels(101)
    assert time.process_time() - began < 5
    assert len(written[1]["rank"]) == 100_000
    assert curve.recall[-1] == labels.sum() / 20_000


# ----------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        (([0, 0],), {}, germane.errors.CoverageError, "the list has no relevant item; recall is not defined"),
        (([1, 1],), {"rel": 2}, germane.errors.CoverageError, "has no relevant item"),
        (([0],), {"relevant": 0}, germane.errors.CoverageError, "has no relevant item"),
        ((QRELS, RUN), {"query": "none"}, germane.errors.CoverageError, "query 'none' has no relevant item"),
        (([],), {}, germane.errors.EmptyError, "the list is empty"),
        ((np.array([]),), {}, germane.errors.EmptyError, "the list is empty"),
        ((np.eye(2),), {}, germane.errors.GradeError, "the list, rank 1: a relevance grade is a number; got [1.0, 0.0]"),
        ((np.array(1),), {}, germane.errors.InputError, "a sequence of relevance grades; got 1"),
        (([1, math.nan],), {}, germane.errors.GradeError, "the list, rank 2: a relevance grade must be a finite"),
        (([1, None],), {}, germane.errors.GradeError, "the list, rank 2: a relevance grade must be a finite"),
        (([1, 1],), {"relevant": 1}, germane.errors.InputError, "contains 2 relevant items, but relevant=1"),
        (([1, 1],), {"relevant": 3.0}, germane.errors.InputError, "relevant is a whole number or a list"),
        (([1, 1],), {"relevant": True}, germane.errors.InputError, "relevant is a whole number or a list"),
        (([1, 2],), {"relevant": [1]}, germane.errors.InputError, "contains 1 items of grade 2, but relevant= has 0"),
        (([1], RUN), {}, germane.errors.InputError, "one list of grades needs no run"),
        (([1],), {"query": "q1"}, germane.errors.InputError, "query=… is for qrels and a run; the grades of one list"),
        (([1],), {"ties": "best"}, germane.errors.InputError, "ties=… is for qrels and a run; the grades of one list"),
        (([1],), {"tie": "best"}, germane.errors.InputError, "tie=… is for qrels and a run; the grades of one list"),
        ((QRELS, RUN), {"query": "q1", "relevant": 5}, germane.errors.InputError, "relevant=… is for the grades of one list"),
        ((QRELS,), {}, germane.errors.InputError, "the run is missing: give qrels and a run, or the grades of one"),
        (({1, 0},), {}, germane.errors.InputError, "the run is missing: give qrels and a run, or the grades of one"),
        ((QRELS, RUN), {"query": "q22"}, germane.errors.NotFoundError, "no query 'q22' is judged. Did you mean 'q2'?"),
        ((QRELS, RUN), {}, germane.errors.NotFoundError, "3 queries are judged; choose one with query=… (--query)"),
        ((QRELS, {"q1": ["a"]}), {"query": "q2"}, germane.errors.CoverageError, "the run has no results for query 'q2'"),
        ((QRELS, {"q2": []}), {"query": "q2"}, germane.errors.CoverageError, "nothing was retrieved for query 'q2'"),
        ((QRELS, {"q2": ["y"]}), {"query": "q2", "unjudged": "remove"}, germane.errors.CoverageError, "nothing was retrieved"),
        ((QRELS, RUN), {"query": "q1", "ties": "expected"}, germane.errors.PolicyError, "ties=expected does not order equal scores, and ranks need an order; choose ties=trec, ascending, given, best, worst or grouped."),
        ((QRELS, RUN), {"query": "q1", "ties": "group"}, germane.errors.PolicyError, "ties takes trec, ascending, given, expected, best, worst, middle or grouped"),
        ((QRELS, RUN), {"query": "q1", "tie": "trec"}, germane.errors.PolicyError, "no convention 'tie'. Did you mean 'ties'?"),
        ((THREE,), {"start": "(0.1)"}, germane.errors.InputError, "start takes (0,1), (0,0), (1/R,P@first) or none; got '(0.1)'. Did you mean '(0,1)'?"),
        ((THREE,), {"start": (0, 1)}, germane.errors.InputError, "start takes (0,1), (0,0), (1/R,P@first) or none; got (0, 1)."),
        ((THREE,), {"start": None}, germane.errors.InputError, "start takes (0,1), (0,0), (1/R,P@first) or none; got None."),
        ((THREE,), {"rel": -1}, germane.errors.MeasureError, "rel=…) takes a number of at least 0; got -1"),
        ((THREE,), {"rel": "1"}, germane.errors.MeasureError, "rel=…) takes a number of at least 0; got '1'"),
        ((THREE,), {"rel": math.nan}, germane.errors.MeasureError, "rel=…) takes a number of at least 0; got nan"),
        ((THREE,), {"rel": None}, germane.errors.MeasureError, "rel=…) takes a number of at least 0; got None"),
    ],
)  # fmt: skip
def test_what_has_no_curve(arguments, options, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as raised:
        germane.pr_curve(*arguments, **options)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"confidence": 0}, germane.errors.InputError, "confidence takes a number between 0 and 1; got 0"),
        ({"confidence": 1}, germane.errors.InputError, "confidence takes a number between 0 and 1; got 1"),
        ({"confidence": 95}, germane.errors.InputError, "confidence takes a number between 0 and 1; got 95"),
        ({"confidence": "95%"}, germane.errors.InputError, "confidence takes a number between 0 and 1; got '95%'"),
        ({"confidence": math.nan}, germane.errors.InputError, "confidence takes a number between 0 and 1; got nan"),
        ({"rel": -1}, germane.errors.MeasureError, "rel=…) takes a number of at least 0; got -1"),
        ({"ties": "expected"}, germane.errors.MeasureError, "no closed form here; choose ties=trec"),
        ({"no_relevant": "error"}, germane.errors.CoverageError, "without a relevant item: 'none' (1 of 3 queries)"),
        ({"query": "q1"}, germane.errors.PolicyError, "there is no convention 'query'"),
    ],
)  # fmt: skip
def test_what_has_no_mean_curve(options, error, says) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error) as raised:
        germane.mean_pr_curve(QRELS, RUN, **options)
    assert says in str(raised.value)


def test_what_has_no_mean_curve_is_refused_before_anything_is_read() -> None:
    for options in (
        {"ties": "expected"},
        {"points": 5},
        {"confidence": 2},
        {"rel": -1},
    ):
        with pytest.raises(germane.GermaneError, match=r"takes|no closed form"):
            germane.mean_pr_curve("no such file", "nor this", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", ["steps", "AP", 10, "11", None, [], True])
def test_an_area_has_a_rule_that_exists(rule: Any) -> None:
    for curve in (three(), germane.mean_pr_curve(QRELS, RUN)):
        with pytest.raises(germane.errors.MeasureError) as raised:
            curve.area(rule)
        assert (
            "takes step, trapezoid, interpolated, davis_goadrich, linear101, 11 or 101; got "
            in str(raised.value)
        )


@pytest.mark.parametrize("points", [10, 1, 0, "11", None, True])
def test_there_are_11_levels_or_101(points: Any) -> None:
    with pytest.raises(germane.errors.InputError, match="points takes 11 or 101; got "):
        three().levels(points)
    with pytest.raises(germane.errors.InputError, match="points takes 11 or 101; got "):
        germane.mean_pr_curve(QRELS, RUN, points=points)
    for eleven in (11.0, np.int64(11)):
        assert len(three().levels(eleven)[0]) == 11  # type: ignore[arg-type]
        assert len(germane.mean_pr_curve(QRELS, RUN, points=eleven).recall) == 11  # type: ignore[arg-type]


def test_a_mean_curve_needs_queries() -> None:
    with pytest.raises(germane.errors.InputError, match="qrels are the path of a file, a frame"):
        germane.mean_pr_curve(THREE, RUN)
    with pytest.raises(germane.errors.CoverageError, match="no query of the run is in the qrels"):
        germane.mean_pr_curve(QRELS, {"other": ["a"]})
    with pytest.raises(
        germane.errors.CoverageError, match=r"not in the run: 'q2', 'none' \(2 of 3"
    ):
        germane.mean_pr_curve(QRELS, {"q1": ["a"]}, missing="error")


def test_a_long_table_is_folded_and_a_table_of_all_digits_is_not() -> None:
    curve = germane.pr_curve([1] * 1000)
    rows = curve.table().rows
    assert len(rows) == 41
    assert rows[20] == ("… 960 more", "…", "…", "…")
    assert (rows[19][0], rows[21][0], rows[-1][0]) == ("20", "981", "1000")
    assert len(curve.table(digits=None).rows) == 1000


def test_mean_curves_of_listed_items_are_those_of_evaluate() -> None:
    """Which relevant items are listed is found before scores take hits away."""
    qrels = {"a": {"x": 1, "y": 1, "z": 1}, "b": {"x": 1, "y": 0}}
    run = {"a": {"x": 0.9, "w": 0.8, "y": 0.1}, "b": {"y": 0.7, "x": 0.6}}
    whole = germane.mean_pr_curve(qrels, run, relevant="listed")
    cut = germane.mean_pr_curve(qrels, run, relevant="listed", min_score=0.5)
    assert whole.area(11) == near((germane.score([1, 0, 1], "AUPR(rule=11)") + 0.5) / 2)
    assert cut.area(11) == near((6 / 11 + 0.5) / 2)  # of two listed items, one is left
    measured = germane.evaluate(qrels, run, "AUPR(rule=11)", relevant="listed", min_score=0.5)
    assert cut.area(11) == near(measured["AUPR(rule=11)"].mean)
