"""What the page of a measure claims in words: where it is undefined, its range, and short lists."""

import math
import random
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

import germane
from catalogue_oracle import World
from formula_values import CatalogueValues, ListValues
from germane.types import Measure

from strategies import ALL, CATALOGUE, EVERY, Definition, variants, with_subtopics, world
from test_catalogue import evaluate as evaluate_catalogue
from test_catalogue import vary
from test_formulas import is_tested
from test_laws import MODELS

pytestmark = pytest.mark.filterwarnings("ignore::germane.GermaneWarning")
ROWS = pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)

# --- Undefined ------------------------------------------------------------------------------------

GRADES: tuple[dict[str, float], ...] = (
    {"a": 1.0},
    {"a": 0.0},
    {"a": -1.0},
    {"a": 0.5},
    {"a": 1.0, "b": 2.0},
    {"a": 1.0, "b": 0.0},
    {"a": 0.0, "b": -1.0},
    {"a": 4.0, "b": 1.0, "c": 0.0},
)
LISTS = ((), ("a",), ("x",), ("a", "b"), ("b", "a"), ("x", "a"), ("a", "b", "c"), ("x", "y", "z"))
"""Judgments and lists of which some have nothing relevant, nothing else, one item or none."""


def gains_something(values: ListValues) -> bool:
    """Would any judged item, as the first of a list, add something to the sum?"""
    return any(values.order([item]).sum > 0 for item in values.judged)


def count_relevant(values: ListValues) -> Any:
    """R, or the number of subtopics with a relevant item."""
    of_subtopics = any(isinstance(grade, dict) for grade in values.judged.values())
    return len(values.subtopics) if of_subtopics else values.name("R", {})


def divides_by_0(values: ListValues, _: Any = None) -> bool:
    return not values.value(values.whole.parts[1], {})


IS_UNDEFINED: dict[str, Callable[[ListValues, dict[str, Any]], bool]] = {
    "If there are no relevant items": lambda v, p: not count_relevant(v),
    "If no item gains anything": lambda v, p: not gains_something(v),
    "If gamma is above 0 and there are no relevant items, or if gamma is below 1 and no item gains"
    " anything": lambda v, p: (
        not (p["gamma"] > 0 and v.subtopics) and not (p["gamma"] < 1 and any(v.gains))
    ),
    "If every item is relevant, or there are no items": divides_by_0,
    "If no relevant item or no other item was retrieved": divides_by_0,
}
"""Where no_relevant decides."""

IN_SEVERAL_SENTENCES: dict[str, Callable[[ListValues, dict[str, Any]], bool]] = {
    "With norm=found, the value is undefined if no relevant item or no other": lambda v, p: (
        divides_by_0(v) if p["norm"] == "found" else not count_relevant(v)
    ),
    "A user whose rows are all relevant, or none of them, has no AUC and is left out": divides_by_0,
}
"""Where no_relevant decides, by the beginning of what a row says; or where the definition leaves a query out."""

IS_ZERO: dict[str, Callable[[ListValues], bool]] = {
    "0 if nothing was retrieved.": lambda v: not v.ranked,
    "0 if there are no items.": divides_by_0,
    "0 if no relevant item was retrieved.": lambda v: not v.hits(len(v.ranked)),
    "0 if all items are relevant, or none, and 0 if all are retrieved, or none.": divides_by_0,
}
REMARKS = (
    (
        "This is not as good as it looks: if runs can miss all relevant items of a query, use"
        " MeanRank(of=all), which counts each miss."
    ),
)
DECIDES = ", no_relevant decides (default: 0)."


def is_undefined(text: str, values: ListValues, measure: Measure) -> bool:
    """Is this one of the cases that a page names, in which no_relevant decides?"""
    for beginning, holds in IN_SEVERAL_SENTENCES.items():
        if text.startswith(beginning):
            return holds(values, dict(measure.parameters))
    for sentence in re.findall(r"\S.*?\.(?= |$)", text):
        if sentence.endswith(DECIDES):
            if IS_UNDEFINED[sentence.removesuffix(DECIDES)](values, dict(measure.parameters)):
                return True
        elif sentence not in REMARKS:
            assert sentence in IS_ZERO, sentence
    return False


@ROWS
def test_a_measure_is_undefined_where_its_page_says_so(row: Definition) -> None:
    measures = [measure for measure in variants(row) if measure.k in (None, 1, 3)]
    measures = [
        one for one in measures if is_tested(one) and not (one.k is None and row.name in MODELS)
    ]
    cases = {f"q{i}": case for i, case in enumerate(product(GRADES, LISTS))}
    judged = {
        query: with_subtopics(grades) if row.subtopics else grades
        for query, (grades, _) in cases.items()
    }
    run = {query: list(ranked) for query, (_, ranked) in cases.items()}
    result = germane.evaluate(judged, run, measures, no_relevant="nan")
    zeros = germane.evaluate(judged, run, measures)
    for measure in measures:
        defaults = zeros[measure].per_query
        leaves_out = "is left out;" in row.undefined
        if not leaves_out:
            assert [*result[measure].per_query] == [*defaults] == [*cases]
        for query in cases:
            value = result[measure].per_query.get(query, math.nan)  # left out: no value
            values = ListValues(measure.definition, run[query], judged[query])
            told = f"{measure} of {run[query]}, {judged[query]}: {value}"
            if not is_undefined(row.undefined, values, measure):
                assert not math.isnan(value), told
                continue
            assert math.isnan(value), told
            if leaves_out:
                assert query not in result[measure].per_query, told
                assert query not in defaults, told
            else:
                assert defaults[query] == 0, f"{told}: the default is 0"
        for sentence, is_zero in IS_ZERO.items():
            if sentence in row.undefined:
                for query, value in zeros[measure].per_query.items():
                    values = ListValues(measure.definition, run[query], judged[query])
                    assert value == 0 or not is_zero(values), f"{measure} {query}: {sentence}"


def test_a_mixture_of_one_part_is_that_part() -> None:
    """The page of Dsharp_nDCG says that gamma=1 is StRecall, also where that is undefined."""
    judged = {
        f"q{i}": with_subtopics(grades) for i, (grades, _) in enumerate(product(GRADES, LISTS))
    }
    run = {f"q{i}": list(ranked) for i, (_, ranked) in enumerate(product(GRADES, LISTS))}
    for rel in (0.5, 1, 2):
        names = f"Dsharp_nDCG(gamma=1,rel={rel})@2", f"StRecall(rel={rel})@2"
        result = germane.evaluate(judged, run, names, no_relevant="nan")
        mixed, alone = (result[name].per_query for name in names)
        assert mixed == pytest.approx(alone, nan_ok=True)


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_a_measure_of_lists_is_undefined_where_its_page_says_so(row: Definition) -> None:
    """Every NaN is one of the formula, and a page speaks of NaN if there can be one."""
    measures = [measure for measure in vary(row) if is_tested(measure)]
    found = False
    for lists, seen in WORLDS:
        drawn = World(lists, seen, 5, VECTORS, {"u": ["a"]})
        result = evaluate_catalogue(drawn, measures or "Coverage")
        for measure in measures:
            value = result[measure].mean
            few = row.name == "Personalization" and sum(map(bool, lists.values())) < 2
            expected = math.nan if few else CatalogueValues(measure.definition, drawn).compute()
            assert math.isnan(value) == math.isnan(expected), f"{measure} of {lists}, {seen}"
            found |= math.isnan(value)
            words = re.findall(r"with (\w+=\w+)", row.undefined)
            assert not (math.isnan(value) and words) or any(one in str(measure) for one in words)
    assert found == ("NaN" in row.undefined) or row.name == "PopularityLift"


VECTORS = {item: [1.0, float(n), 0.5] for n, item in enumerate("abcxy")}
WORLDS: tuple[tuple[dict[str, list[str]], dict[str, list[str]]], ...] = (
    ({"u": ["a"]}, {"w": ["a", "b"]}),
    ({"u": ["a", "x"], "v": []}, {"w": ["a", "b"]}),
    ({"u": ["x"], "v": ["a"]}, {"w": ["a", "b"]}),
    ({"u": ["x", "a"]}, {"u": [], "w": ["a"]}),
    ({"u": ["a"], "w": ["a"]}, {"u": ["a"], "w": ["a"]}),
    ({"u": ["a", "b", "x"], "v": ["y"]}, {"u": ["a"], "v": ["b", "b"]}),
)
"""Lists of one item, of nothing that was seen, or of users without a history."""

# --- Ranges ---------------------------------------------------------------------------------------


def draw_extremes(row: Definition, seed: int) -> Iterator[tuple[Any, list[str]]]:
    """Judgments and lists with few kinds of grades, so that many values are those of an end."""
    rng = random.Random(seed)
    for _ in range(60):
        items = [f"d{i}" for i in range(rng.randint(1, 7))]
        few = rng.choice(((0.0, 1.0), (-1.0, 0.0, 4.0), (0.5, 1.0, 1.5), (1.0,), (0.5, 3.0)))
        judged: Any = {item: rng.choice(few) for item in items}
        if row.subtopics:
            judged = {
                item: {s: rng.choice(few) for s in rng.sample("stuvw", rng.randint(1, 4))}
                for item in items
            }
        pool = [*items, "u0", "u1"]
        yield judged, rng.sample(pool, rng.randint(0, len(pool)))


@ROWS
def test_a_value_is_within_the_range_of_its_measure(row: Definition) -> None:
    rng = random.Random(6)
    every = [one for one in EVERY[row.name] if one.k or row.name not in MODELS]
    measures = [*dict.fromkeys(rng.sample(every, min(40, len(every))))]
    drawn = {f"q{i}": case for i, case in enumerate(draw_extremes(row, 7))}
    judged = {query: case[0] for query, case in drawn.items()}
    run = {query: case[1] for query, case in drawn.items()}
    result = germane.evaluate(judged, run, measures)
    for measure in measures:
        low, high = measure.range or (-math.inf, math.inf)
        for query, value in result[measure].per_query.items():
            assert low - 1e-9 <= value <= high + 1e-9, f"{measure}: {run[query]} {judged[query]}"


def test_a_greedy_ideal_ranking_is_not_the_best() -> None:
    """a has six of ten subtopics; b and c have five each, and together all."""
    have = {"a": "123678", "b": "12345", "c": "67890"}
    judged = {"q": {item: dict.fromkeys(subtopics, 1) for item, subtopics in have.items()}}
    for name in ("alpha_nDCG(alpha=1)@2", "nERR_IA(alpha=1)@2", "nNRBP(alpha=1,beta=0.6)"):
        measure = germane.parse(name)
        value = germane.evaluate(judged, {"q": ["b", "c"]}, [measure])[measure].mean
        assert measure.range == (0, math.e / (math.e - 1))
        assert 1 < value < measure.range[1]
        assert measure(ideal="exact").range == measure(alpha=0).range == (0, 1)


# --- Short lists ----------------------------------------------------------------------------------


@ROWS
def test_a_short_list_counts_as_filled_up_unless_the_formula_has_its_length(
    row: Definition,
) -> None:
    lists = world(1)
    judged = {
        f"q{i}": with_subtopics(one.judged) if row.subtopics else one.judged
        for i, one in enumerate(lists)
    }
    for measure in variants(row):
        if measure.k and not re.search(r"\bN\b|retrieved", measure.definition):
            short = {f"q{i}": list(one.ranked) for i, one in enumerate(lists)}
            fill = [f"filler {i}" for i in range(measure.k)]
            full = {
                query: [*ranked, *fill][: max(measure.k, len(ranked))]
                for query, ranked in short.items()
            }
            given, filled = (germane.evaluate(judged, run, [measure]) for run in (short, full))
            assert given[measure].per_query == pytest.approx(filled[measure].per_query), measure
