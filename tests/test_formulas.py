"""Every printed formula gives germane's values: the text is evaluated, by ``formula_values``."""

import math
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

import boxes_oracle
import germane
from boxes_sets import make_boxes
from formula_values import CatalogueValues, ListValues, average, formula
from germane.types import Measure

from strategies import (
    ALL,
    BOX_POINTS,
    CATALOGUE,
    EVERY,
    Definition,
    Listed,
    variants,
    with_subtopics,
    world,
)
from test_catalogue import draw_world, vary
from test_catalogue import evaluate as evaluate_catalogue
from test_laws import MODELS, covers

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")

NO_FORMULA: dict[str, str] = {}
"""Measures whose printed formula cannot be evaluated, with the reason."""

ROWS = pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
CATALOGUE_ROWS = pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)


def is_tested(measure: Measure) -> bool:
    return not any(covers(name, measure) for name in NO_FORMULA)


def draw_measures(row: Definition, seed: int) -> list[Measure]:
    """Every value of every parameter, and some of all combinations, at several cutoffs."""
    rng, found = random.Random(seed), dict.fromkeys(variants(row))
    if row.cutoff:
        listed = [measure for measure in found if measure.k == 3 or rng.random() < 0.2]
        found = dict.fromkeys([Measure(row.name), *listed])
    every = [measure for measure in EVERY[row.name] if measure.k or not row.cutoff]
    found |= dict.fromkeys(rng.sample(every, min(12, len(every))))
    if row.name in MODELS:  # each of which looks at 1,000 ranks without a cutoff
        found = dict.fromkeys([Measure(row.name), *(one for one in found if one.k)])
    given = [measure(weights="given") for measure in found if has_weights(measure)]
    return list(filter(is_tested, [*found, *given]))


def has_weights(measure: Measure) -> bool:
    return "weights" in dict(measure.parameters)


def draw_lists(row: Definition, seed: int) -> tuple[Listed, ...]:
    """Lists that are short where every order of the items is looked at."""
    if row.subtopics:
        return tuple(one for one in world(seed, 4, 4) if len(one.judged) < 6)
    return world(seed, 16)


def has_plain_mean(measure: Measure) -> bool:
    return dict(measure.parameters).get("mean", "arithmetic") == "arithmetic"


WEIGHTS = {"s1": 1.0, "s2": 0.25, "s3": 2.0}


def read_formulas(
    row: Definition, measures: list[Measure], lists: tuple[Listed, ...]
) -> Iterator[tuple[Measure, germane.types.MeasureResult, dict[str, ListValues]]]:
    """Each measure with germane's result and with its formula, for every query."""
    judged: dict[str, Any] = {
        f"q{i}": with_subtopics(one.judged) if row.subtopics else one.judged
        for i, one in enumerate(lists)
    }
    run = {f"q{i}": list(one.ranked) for i, one in enumerate(lists)}
    weighted = any("given" in str(measure) for measure in measures)
    weights = dict.fromkeys(judged, WEIGHTS) if weighted else None
    result = germane.evaluate(judged, run, measures, subtopic_weights=weights)
    for measure in measures:
        read = {
            query: ListValues(measure.definition, run[query], judged[query], WEIGHTS)
            for query in run
        }
        yield measure, result[measure], read


def is_same(value: float, expected: float) -> bool:
    both = math.isnan(value) and math.isnan(expected)
    return both or math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-11)


@ROWS
def test_a_formula_gives_the_values_and_the_mean(row: Definition) -> None:
    lists, measures = draw_lists(row, 1), draw_measures(row, 1)
    for place, (measure, result, read) in enumerate(read_formulas(row, measures, lists)):
        if "i ≤ 1000" in measure.definition:  # some lists are enough for so many ranks
            read = {query: read[query] for query in list(read)[-6::2]}
        elif place % 2 and has_plain_mean(measure) and not row.omits:
            # every second list, now these, now those; the mean needs all
            read = {query: read[query] for query in list(read)[place // 2 % 2 :: 2]}
        if row.omits:
            read = {query: values for query, values in read.items() if query in result.per_query}
        for query, values in read.items():
            value, expected = values.compute(), result.per_query[query]
            told = f"{measure}: {measure.definition} is {value}, not {expected}, for {lists}"
            assert is_same(value, expected), told
        if len(read) == len(lists) or row.omits:
            mean = average(measure.definition, list(read.values()))
            weightless = math.isnan(mean)  # a micro mean of which every weight is 0
            assert weightless or is_same(mean, result.mean), f"{measure}: {measure.definition}"


UNUSUAL = (
    "AUROC(negatives=2.5)@5 AUROC(norm=R,negatives=1.5) FallOut(items=40.5)@3 MCC(items=40.5)@3"
    " SetAccuracy(items=40.5)@3 Rprec(mult=0.7,rounding=trec9) Rprec(mult=0.7,rounding=nearest)"
    " IPrec(recall=0.7,rounding=trec9) IPrec(recall=0.3333,rounding=double) R(rel=0)@3 AP(rel=0.25)"
    " nDCG(base=1.5)@4 DCG(base=2.71828,discount=jarvelin)@5 Utility(hit=0.001,noise=-2.5)"
    " F(beta=1000000)@3 RBP(p=0.123456789) INST(goal=0.001)@20 INSQ(goal=123.5)@7 Compat(p=0.999)"
)


@pytest.mark.parametrize("name", UNUSUAL.split())
def test_a_formula_gives_the_values_for_unusual_numbers(name: str) -> None:
    measure = germane.parse(name)
    for _, result, read in read_formulas(measure.row, [measure], world(4)):
        for query, values in read.items():
            assert is_same(values.compute(), result.per_query[query]), measure.definition


def test_a_share_is_compared_as_it_is_written() -> None:
    """0.55·20 is a little more than 11 in double precision, and 11 of 20 have a share of 0.55."""
    for percent in range(1, 100):
        share, size = percent / 100, 100 // math.gcd(percent, 100)
        others = size - size * percent // 100
        ranked = [f"d{i}" for i in range(size)]
        judged = {item: float(i >= others) for i, item in enumerate(ranked)}
        for name in (f"RecallAtPrecision(precision={share})", f"IPrec(recall={share})"):
            value = germane.evaluate({"q": judged}, {"q": ranked}, name)[name].mean
            formula = ListValues(germane.parse(name).definition, ranked, judged)
            assert is_same(formula.compute(), value), name


@CATALOGUE_ROWS
@pytest.mark.parametrize("seed", range(5))
def test_a_formula_gives_the_value_of_whole_lists(row: Definition, seed: int) -> None:
    drawn = draw_world(seed)
    few = sum(map(bool, drawn.lists.values())) < 2  # for which Personalization is undefined
    measures = [measure for measure in vary(row) if is_tested(measure)]
    result = evaluate_catalogue(drawn, measures or "Coverage")
    for measure in measures:
        values = CatalogueValues(measure.definition, drawn)
        expected = math.nan if few and row.name == "Personalization" else values.compute()
        assert is_same(result[measure].mean, expected), f"{measure}: {measure.definition}"
        if values.is_of_lists:
            known = result[measure].per_list  # type: ignore[attr-defined]
            for user, value in values.per_list.items():
                assert is_same(known[user], value), f"{measure}: {measure.definition}, {user}"


@ROWS
def test_an_explanation_puts_the_numbers_in(row: Definition) -> None:
    """The divisor is written in symbols, with the numbers of the list, and as a number."""
    measures = [measure for measure in variants(row) if measure.k in (None, 3)]
    for one in draw_lists(row, 3)[::3]:
        judged = with_subtopics(one.judged) if row.subtopics else one.judged
        for measure in measures:
            explained = germane.explain({"q": judged}, {"q": list(one.ranked)}, measure)
            reading = explained.readings[0]
            *_, numbers, shown = ["", *reading.divisor.split(" = ")]
            if reading.divisor and not re.search("[A-Za-zΣ]", re.sub("min|max", "", numbers)):
                value = ListValues(numbers or shown, (), {}).compute()
                assert math.isclose(value, reading.norm, rel_tol=1e-4), f"{measure}: {reading}"


# --- Boxes ----------------------------------------------------------------------------------------

OF_DETECTIONS = {
    "the best precision at 101 recalls or beyond": (
        "Σ (max P@i, i ≤ N, R@i ≥ r), r = 0·0.01, 1·0.01, …, 100·0.01, ÷ 101, in double precision"
    ),
    "the best precision at 11 recalls or beyond": (
        "Σ (max P@i, i ≤ N, R@i ≥ r), r = 0·0.1, 1·0.1, …, 10·0.1, ÷ 11, in double precision"
    ),
    "the best precision at the recall of each truth or beyond": (
        "Σ (max P@j, i ≤ j ≤ N)·rel(i), i ≤ N, ÷ R"
    ),
    "lines through the best precisions, with trapezoids between 101 recalls": (
        germane.parse("AUPR(rule=linear101)").definition
    ),
    "the recall of all detections": "R@N",
    "precision": "P@N",
    "recall": "R@N",
    "F1, the harmonic mean of precision and recall": "2·P@N·R@N ÷ (P@N + R@N)",
}
"""The words for a measure of detections, as a formula of the list of one class: a hit finds a truth."""

BOXES_WITHOUT = {
    "AP(iou=.5,points=101single)": "its recalls are those of another program",
    "AP(iou=.5,points=slope)": "ends its lines in another way than AUPR(rule=linear101)",
    "AP(iou=.5,points=r40)": "leaves out recall 0, as no measure of lists does",
    "F(confidence=best)": "F1 is smoothed as in another program, which no formula says",
}
"""Measures of boxes whose words are no formula, with the reason: recorded answers test them."""


@pytest.mark.parametrize("seed", range(6))
def test_the_words_of_a_measure_of_boxes_give_its_value(seed: int) -> None:
    truth, found = make_boxes(seed, "dyadic")
    choices = boxes_oracle.Words(depth=None)
    areas = {
        "all": (0, 1e10),
        "small": (0, 32**2),
        "medium": (32**2, 96**2),
        "large": (96**2, 1e10),
    }
    names = (
        "AP AP50 AP(iou=.75,points=11) AP(iou=.5,area=medium,points=all) AR AR(iou=.5+.75)@3 P R F"
        " AP(iou=.5,points=lines) P(iou=.75,confidence=.4) F(confidence=.6,depth=2) R(area=large)@1"
    )
    result = germane.boxes.evaluate(truth, found, names, depth=None)
    for name in names.split():
        text = result[name].measure.definition
        words, over, rest = re.fullmatch(r"(.*), mean over (.*?)((?:; .*)?)", text).groups()  # type: ignore[union-attr]
        overlap = re.search(r"; overlap ([^;]*)", rest)
        area = re.search(r"; (\w+) objects", rest)
        scores = re.search(r"; scores from ([.\d]+)", rest)
        depth = re.search(r"; the (?:(\d+) )?highest scores?", rest)
        assert ("thresholds" in over) == (overlap is None or overlap[1] not in (".5", ".75"))
        of = replace(
            choices,
            confidence=float(scores[1]) if scores else None,
            depth=int(depth[1] or 1) if depth else None,
        )
        values = []
        for threshold in THRESHOLDS[overlap[1] if overlap else ".5:.95"]:
            for category in truth["categories"]:
                outcomes, count = boxes_oracle.list_outcomes(
                    truth, found, category["id"], threshold, areas[area[1] if area else "all"], of
                )
                hits = [one == "true" for *_, one in outcomes if one != "ignored"]
                judged = {i: 1.0 for i, hit in enumerate(hits) if hit}
                missed = {f"missed {i}": 1.0 for i in range(count - len(judged))}
                formula = ListValues(OF_DETECTIONS[words], range(len(hits)), judged | missed)
                values += [formula.compute()] if count else []
        assert is_same(math.fsum(values) / len(values), result[name].mean), text


THRESHOLDS = {
    ".5": (0.5,),
    ".75": (0.75,),
    ".5+.75": (0.5, 0.75),
    ".5:.95": tuple(i / 100 for i in range(50, 100, 5)),
}


@pytest.mark.parametrize("points", BOX_POINTS)
def test_all_points_of_boxes_have_a_formula_or_a_reason(points: str) -> None:
    name = f"AP(iou=.5,points={points})"
    truth, found = make_boxes(1, "dyadic")
    words, _, _ = germane.boxes.evaluate(truth, found, name)[name].measure.definition.partition(
        ", mean"
    )
    assert (words in OF_DETECTIONS) != (name in BOXES_WITHOUT)


def test_every_measure_has_a_formula_that_is_tested() -> None:
    names = {re.split(r"\W", name)[0] for name in NO_FORMULA}
    assert names <= {row.name for row in (*ALL, *CATALOGUE)}
    for row in ALL:
        assert any(map(is_tested, variants(row))) or row.name in NO_FORMULA, row.name


@ROWS
def test_a_changed_formula_is_noticed(row: Definition) -> None:
    """Every number and every sign between two parts is changed in turn."""
    measure = Measure(row.name, (), 3 if row.cutoff else None)(**TELLING.get(row.name, {}))
    lists = (*world(seed=2), *world(seed=3))
    if row.subtopics:
        lists = tuple(one for one in lists if len(one.judged) < 5)
    _, result, read = next(read_formulas(row, [measure], lists))
    unnoticed = []
    for change, tree in change_formula(formula.parse(measure.definition)):
        changed = (
            ListValues(measure.definition, one.ranked, one.judged, WEIGHTS, tree)
            for one in read.values()
        )
        pairs = zip(changed, result.per_query.values(), strict=True)
        with suppress(ValueError, RecursionError):  # which are noticed, too
            if all(is_same(one.compute(), value) for one, value in pairs):
                unnoticed.append(change)
    assert unnoticed == WITHOUT_EFFECT.get(row.name, []), measure.definition


TELLING: dict[str, dict[str, Any]] = {
    "F": {"beta": 2},
    "Utility": {"hit": 3, "noise": -0.25, "miss": -2},
    **{name: {"goal": 0.5, "max": 2} for name in ("INSQ", "INST", "BPM", "NERR11")},
    **{name: {"max": 2} for name in ("NERR8", "NERR9", "NERR10", "SDCG")},
}
"""Parameters for which more depends on the formula than for the defaults."""

OTHER_SIGN = {"·": "+", "+": "-", "-": "+", "÷": "·", "/": "·", "quotient": "·"}


def change_formula(node: Any) -> Iterator[tuple[str, Any]]:
    """List formulas in which one number or sign is another, with what is changed."""
    if node.kind in OTHER_SIGN:
        yield node.kind, node._replace(kind=OTHER_SIGN[node.kind])
    if node.kind == "number":
        yield node.parts[0], node._replace(parts=(f"{float(node.parts[0]) + 1:.12g}",))
    for i, part in enumerate(node.parts):
        if isinstance(part, formula.Node):
            for change, changed in change_formula(part):
                parts = (*node.parts[:i], changed, *node.parts[i + 1 :])
                yield change, node._replace(parts=parts)


WITHOUT_EFFECT = {
    "IAP": ["1"],  # no list reaches a recall above 1
    "AUROC": ["3"],  # nothing is below the last rank, so that a rank more adds 0
    "nNRBP": ["-", "1"],  # a factor of all weights is one of the divisor, too
}
"""Numbers that change no value."""
