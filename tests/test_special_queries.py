"""Special queries under every convention that decides on them, against an oracle of their rules.

The oracle is plain Python: values of lists are those of oracle.py, and what becomes of a missing query, an empty list,
a query without relevant items and so on is written from the sentences of docs/conventions.md.
"""

import json
import random
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import exp, fsum, isclose, isnan, log, nan, sqrt
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

import germane
from germane.plot import DifferenceDisplay
from germane.types import Measure

import oracle
from strategies import ALL, Definition, oracle_parameters

Judged = Mapping[str, Any]  # item -> grade, or item -> subtopic -> grade
Scored = Mapping[str, float]

# --- The queries -------------------------------------------------------------------------------------

QUERIES: dict[str, tuple[Judged | None, Scored | None]] = {
    "ordinary": ({"a": 1, "b": 0, "c": 2}, {"x": 9, "a": 8, "b": 7, "y": 6}),
    "perfect": ({"a": 1, "b": 0}, {"a": 9, "b": 8, "x": 7}),
    "worst": ({"a": 1, "b": 0}, {"b": 9, "x": 8, "a": 7}),
    "missing": ({"a": 1, "b": 0, "c": 2}, None),
    "missing, all relevant": ({"a": 1, "c": 2}, None),
    "missing, none relevant": ({"a": 0, "b": -1}, None),
    "empty": ({"a": 1, "b": 0}, {}),
    "empty, none relevant": ({"a": 0}, {}),
    "none relevant": ({"a": 0, "b": -1}, {"a": 9, "x": 8, "b": 7}),
    "no hit": ({"a": 1, "b": 0}, {"x": 9, "y": 8, "b": 7}),
    "nothing judged in the list": ({"a": 2}, {"x": 9, "y": 8}),
    "hit beyond the cutoff": ({"a": 1}, {"x": 9, "y": 8, "a": 7}),
    "all relevant": ({"a": 1, "b": 2}, {"a": 9, "b": 8}),
    "all relevant, one missed": ({"a": 1, "b": 2}, {"a": 9}),
    "all relevant, and an unjudged result": ({"a": 1, "b": 2}, {"a": 9, "x": 8, "b": 7}),
    "pooled": ({"a": 1, "b": -1}, {"b": 9, "a": 8}),
    "constant": ({"a": 1, "b": 0, "c": 1}, {"a": 5, "x": 5, "b": 5}),
    "constant, all relevant": ({"a": 1, "c": 1}, {"a": 5, "c": 5}),
    "one result": ({"a": 1, "c": 1}, {"a": 5}),
    "as many results as the cutoff": ({"a": 1, "c": 0}, {"x": 9, "a": 5}),
    "half of the log odds": ({"a": 1, "c": 1}, {"a": 5, "x": 4}),
    "tied": ({"a": 2, "b": 0}, {"x": 9, "a": 5, "b": 5, "y": 5}),
    "low grades": ({"a": 0.5, "b": 0}, {"a": 9, "b": 8}),
    "unknown": (None, {"a": 9, "x": 8}),
}  # fmt: skip

CHOICES: dict[str, tuple[Any, ...]] = {
    "no_relevant": ("skip", "one", "nan"),
    "no_hit": ("skip", "one", "nan"),
    "all_relevant": ("zero", "nan"),
    "missing": ("skip", "nan"),
    "empty": ("missing", "nan", "missing_if_some"),
    "short": ("nan",),
    "constant": ("nan",),
    "unknown": ("zero",),
    "undefined": ("zero",),
    "unjudged": ("remove",),
    "ties": ("best", "worst"),
}
DEFAULTS = {
    "no_relevant": "zero", "no_hit": "zero", "all_relevant": "answer", "missing": "zero", "empty": "answer",
    "short": "answer", "constant": "answer", "unknown": "ignore", "undefined": "nan", "unjudged": "nonrelevant",
    "ties": "trec",
}  # fmt: skip


def list_pairs() -> Iterator[dict[str, str]]:
    yield {}
    for name, words in CHOICES.items():
        yield from ({name: word} for word in words)
    for (one, firsts), (other, seconds) in combinations(CHOICES.items(), 2):
        yield from ({one: first, other: second} for first in firsts for second in seconds)


PAIRS = list(list_pairs())
SINGLE = [pair for pair in PAIRS if len(pair) < 2]

# --- The rules ---------------------------------------------------------------------------------------

COUNTS = {"NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet"}
WITHOUT_RELEVANT = {"Judged", "Unjudged", "RBPResidual", "SetAccuracy", "Utility"}
"""Measures that have a value for a query without relevant items."""
ZERO_IS_A_VALUE = {"YAAP", "MCC", "AUROC", "IDCG", "FallOut", "RankingLoss", "LastRank", "GAUC"} | {
    "MeanRank", "PercentileRank", "INP", "AllFound",
}  # fmt: skip
"""Measures that can be 0 although they count a relevant item."""
NOT_HIGH = {"IDCG", "FallOut", "RankingLoss", "LastRank", "MeanRank", "PercentileRank"}
"""Measures that are not 1 for a perfect ranking."""
JUDGED_ALONE = {"bpref", "infAP"}


@dataclass(frozen=True, eq=False)
class Listed:
    """A query as the rules see it: its list under an order of ties, or None where the run lacks it."""

    judged: Judged
    ranked: tuple[str, ...] | None
    whole: tuple[str, ...]  # before unjudged items were removed
    is_constant: bool
    is_unknown: bool = False


@cache
def prepare(name: str, ties: str, unjudged: str, subtopics: bool) -> Listed:
    judged, scored = QUERIES[name]
    if judged is None:  # no relevant items and no results
        return Listed({}, (), (), False, is_unknown=True)
    scored = scored if scored is None else {item: float(score) for item, score in scored.items()}
    arranged: tuple[str, ...] = ()
    if scored is not None:
        orders = {"best": oracle.best_order, "worst": oracle.worst_order}
        arranged = tuple(
            orders[ties](scored, judged) if ties in orders else oracle.trec_order(scored)
        )
    kept = arranged
    if unjudged == "remove":
        kept = tuple(item for item in arranged if judged.get(item, -1) >= 0)
    scores = {(scored or {})[item] for item in kept}
    constant = len(scores) == 1 and any(item in judged for item in kept)
    shown = (
        {item: {"s": grade, "t": grade - 1} for item, grade in judged.items()}
        if subtopics
        else judged
    )
    return Listed(shown, None if scored is None else kept, arranged, constant)


def is_relevant(measure: Measure, grade: float) -> bool:
    """Is a grade relevant to a measure: its level, or whatever gains?"""
    given = oracle_parameters(measure)
    if "rel" in given:
        return bool(grade >= given["rel"])
    if "gain" in given:
        least = given.get("least", 0)
        return oracle.gain_of(oracle.wanted(grade, least), given["gain"]) > 0
    return bool(grade > given.get("min", 0))


@cache
def compute(measure: Measure, query: Listed) -> float:
    """The value of the formula; 0 where it divides 0 by 0."""
    given = oracle_parameters(measure)
    return oracle.value(measure.name, given, measure.k, list(query.ranked or ()), query.judged)


@cache
def is_defined(measure: Measure, query: Listed) -> bool:
    """Does the query have what the measure needs? A missing query has no list that could lack it."""
    name, given, grades = measure.name, oracle_parameters(measure), oracle.flat(query.judged)
    relevant = [item for item, grade in grades.items() if is_relevant(measure, grade)]
    if name in COUNTS | WITHOUT_RELEVANT:
        return True
    if name == "Dsharp_nDCG":  # gains count, too
        several = [one for grades in query.judged.values() for one in grades.values()]
        return any(one > 0 or one >= given["rel"] for one in several)
    if query.ranked is None:
        return name == "FallOut" or bool(relevant)
    found = [item for item in query.ranked if item in relevant]
    hits = [item for item in query.ranked[: measure.k] if item in relevant]
    others = [item for item in query.ranked[: measure.k] if item not in relevant]
    if name == "FallOut":
        every, R = (
            (len(query.ranked), len(found))
            if given["items"] == "retrieved"
            else (given["items"], len(relevant))
        )
        return every > R
    if name in ("RankingLoss", "GAUC") or (name == "AUROC" and given["norm"] == "found"):
        most = len(others) if given.get("negatives", "all") == "all" else given["negatives"]
        return bool(hits) and most > 0
    if name == "MCC" and given["items"] == "retrieved":
        return bool(found)
    return bool(relevant)


def settle(measure: Measure, query: Listed, chosen: Mapping[str, str]) -> float | None:
    """The value of a query by the conventions; None where they leave it out."""
    name, is_missing = measure.name, query.ranked is None
    value = compute(measure, query)
    if name in COUNTS:
        return value
    value = (
        oracle.missing_value(name, oracle_parameters(measure), measure.k, query.judged)
        if is_missing
        else value
    )
    words = {"zero": 0.0, "one": 1.0, "nan": nan}
    is_listed, is_defined_here = not (is_missing or query.is_unknown), is_defined(measure, query)
    if not is_defined_here:
        if measure.row.omits:
            return None
        if chosen["no_relevant"] == "skip":
            return None
        value = words[chosen["no_relevant"]]
    elif is_listed and value == 0 and name not in ZERO_IS_A_VALUE | WITHOUT_RELEVANT:
        if chosen["no_hit"] == "skip":
            return None
        value = words[chosen["no_hit"]]
    if is_listed and is_defined_here and is_pure(measure, query):
        value = words.get(chosen["all_relevant"], value)
    if is_missing and chosen["missing"] == "nan":
        value = nan
    if chosen["empty"] == "nan" and is_listed and not query.whole:
        value = nan
    if (
        chosen["short"] == "nan"
        and is_listed
        and measure.k
        and len(query.ranked or ()) <= measure.k
    ):
        value = nan
    if chosen["constant"] == "nan" and query.is_constant:
        value = nan
    return value


@cache
def is_pure(measure: Measure, query: Listed) -> bool:
    """Is something found, and everything relevant? Unjudged results are not, but to some measures."""
    name, grades = measure.name, oracle.flat(query.judged)
    if name in WITHOUT_RELEVANT | NOT_HIGH:
        return False
    relevant = [item for item, grade in grades.items() if is_relevant(measure, grade)]
    results = query.ranked or ()
    found = [item for item in results if item in relevant]
    whole = len(found) == len(results) or name in JUDGED_ALONE
    return bool(found) and whole and len(relevant) == len(grades)


@cache
def leave_out(query: Listed) -> Listed:
    """The query as if the run lacked it."""
    return Listed(query.judged, None, (), False)


def expect(measure: Measure, chosen: Mapping[str, str], ties: str) -> dict[str, float]:
    """The values of the queries that count, in the order of the queries."""
    found: dict[str, float] = {}
    for name in QUERIES:
        query = prepare(name, ties, chosen["unjudged"], measure.row.subtopics)
        if query.is_unknown and chosen["unknown"] == "ignore":
            continue
        is_empty = not query.is_unknown and query.ranked is not None and not query.whole
        if is_empty and chosen["empty"] in ("missing", "missing_if_some"):
            query = leave_out(query)
        if query.ranked is None and chosen["missing"] == "skip":
            continue
        value = settle(measure, query, chosen)
        if value is not None:
            found[name] = value
    return found


NORMS = {
    "P": lambda q, p: q.K,
    "R": lambda q, p: q.R(1),
    "AP": lambda q, p: q.R(1) if q.k is None else min(q.R(1), q.k),
    "RR": lambda q, p: 1,
    "F": lambda q, p: q.R(1) + q.K,
    "nDCG": lambda q, p: oracle.idcg(q),
    "FallOut": lambda q, p: q.N - q.h(q.N, 1),
    "GAUC": lambda q, p: q.N,
}  # fmt: skip
"""The norms of some measures, which weigh queries in micro means."""


def average(
    measure: Measure, values: Mapping[str, float], chosen: Mapping[str, str], ties: str
) -> float:
    """The mean of the values; for counts the sum."""
    if measure.name in COUNTS:
        return fsum(values.values())
    known = {
        name: 0.0 if isnan(v) and chosen["undefined"] == "zero" else v for name, v in values.items()
    }
    mean = dict(measure.parameters).get("mean", "arithmetic")
    if not known:
        return 0.0 if chosen["undefined"] == "zero" else nan
    if any(map(isnan, known.values())):
        return nan
    if mean == "median":
        return median(known.values())
    if mean == "geometric":
        return exp(fsum(log(max(v, 1e-5)) for v in known.values()) / len(known))
    if mean == "micro":
        weights = {}
        for name in known:
            query = prepare(name, ties, chosen["unjudged"], False)
            grades = [query.judged.get(item) for item in query.ranked or ()]
            weights[name] = NORMS[measure.name](
                oracle.Query(grades, list(query.judged.values()), measure.k), None
            )
        if any(weights.values()):
            return fsum(weights[name] * v for name, v in known.items()) / fsum(weights.values())
    return fsum(known.values()) / len(known)


# --- The tests ---------------------------------------------------------------------------------------


def choose_measures(row: Definition) -> list[Measure]:
    """A row with its defaults and with what changes its rules, at a cutoff and without."""
    extra: dict[str, tuple[Any, ...]] = {
        "items": (40.0,), "norm": ("R", "min"), "rel": (0.0, 2.0), "miss": (-2.0,), "gain": ("exp", {0.5: 0.0, 1.0: 0.0, 2.0: 1.0}),
        "mean": ("geometric", *(["micro"] if row.name in NORMS else [])), "negatives": (2.0,), "least": (1.0,), "min": (1.0,),
    }  # fmt: skip
    several = [Measure(row.name)]
    for parameter in row.parameters:
        words = extra.get(parameter.name, ())
        taken = [
            w
            for w in words
            if not isinstance(w, str) or not parameter.words or w in parameter.words
        ]
        if parameter.name == "gain" and (row.subtopics or not parameter.grades):
            taken = ["exp"]
        several += [Measure(row.name, ((parameter.name, word),)) for word in taken]
    return [*several, *(one @ 2 for one in several if row.cutoff)]


def same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) or (isnan(one) and isnan(other))


def evaluate(measures: list[Measure], chosen: Mapping[str, Any]) -> germane.types.Result:
    qrels, run = list_inputs(measures[0].row.subtopics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return germane.evaluate(qrels, run, measures, **chosen)


def check(measures: list[Measure], pair: Mapping[str, str]) -> None:
    """Compare the values of all queries, and their means under three orders of ties."""
    chosen: dict[str, str] = {**DEFAULTS, **pair}
    result = evaluate(measures, chosen)
    for measure in measures:
        got = result[measure]
        for attribute, ties in (("mean", chosen["ties"]), ("best", "best"), ("worst", "worst")):
            wanted = expect(measure, chosen, ties)
            if attribute == "mean":
                assert [*got.per_query] == [*wanted], (measure, pair)
                for name, value in wanted.items():
                    found = got.per_query[name]
                    assert same(found, value), f"{measure} {pair} {name}: {found}, not {value}"
            mean, found = average(measure, wanted, chosen, ties), getattr(got, attribute)
            assert same(found, mean), f"{measure} {pair} {attribute}: {found}, not {mean}"


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_every_measure_under_every_convention(row: Definition) -> None:
    measures = choose_measures(row)
    for pair in (*SINGLE, *random.Random(row.name).sample(PAIRS, 3)):
        check(measures, pair)


@pytest.mark.slow
@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_every_measure_under_many_pairs_of_conventions(row: Definition) -> None:
    measures = choose_measures(row)
    for pair in random.Random(f"{row.name}, more").sample(PAIRS, len(PAIRS) // 10):
        check(measures, pair)


@pytest.mark.long
@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_every_measure_under_every_pair_of_conventions(row: Definition) -> None:
    measures = choose_measures(row)
    for pair in PAIRS:
        check(measures, pair)


# --- The same everywhere -----------------------------------------------------------------------------

SOME = ("AP", "RR@2", "FallOut", "RankingLoss", "NumRelRet", "AUROC", "Utility(miss=-2)")
WORDS = [{**DEFAULTS, **pair} for pair in SINGLE]


@pytest.mark.parametrize("chosen", WORDS, ids=str)
def test_special_queries_in_records_batches_and_explanations(
    chosen: dict[str, Any], tmp_path: Path
) -> None:
    """A record says which queries are left out, and which are NaN; explain gives the value of evaluate."""
    measures = [germane.parse(name) for name in SOME]
    result = evaluate(measures, chosen)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(germane.types.Results({"run": result}).to_dict(queries=True)))
    kept = germane.read_results(path)["run"]
    qrels, run = list_inputs(subtopics=False)
    evaluator = germane.Evaluator(qrels, measures, **chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for query, scored in run.items():
            evaluator.update({query: scored})
        batches = evaluator.result()
    for measure in measures:
        for other in (kept[measure], batches[measure]):
            assert same(other.mean, result[measure].mean), measure
            assert [*other.per_query] == [*result[measure].per_query]
            assert all(map(same, other.per_query.values(), result[measure].per_query.values()))
        parts = result.by(lambda query: len(query) % 2)
        several = {
            query: value
            for one in parts.values()
            for query, value in one[measure].per_query.items()
        }
        assert several.keys() == result[measure].per_query.keys()
        assert all(
            same(value, result[measure].per_query[query]) for query, value in several.items()
        )
    explained = [query for query in qrels if query in result["NumRelRet"].per_query]
    for query in explained if chosen["ties"] == "trec" else ():
        made = germane.explain(qrels, run, measures, query=query, **chosen)
        for reading in made.readings:
            value = result[reading.measure].per_query.get(query, nan)
            if chosen["empty"] != "missing_if_some":  # which looks at other queries
                assert same(reading.value, value), (reading.measure, query)


@pytest.mark.parametrize("chosen", [one for one in WORDS if one["short"] == "answer"], ids=str)
def test_the_area_of_a_mean_curve_is_the_measure(chosen: dict[str, Any]) -> None:
    """The curve has no cutoff, which short= is about."""
    qrels, run = list_inputs(subtopics=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = germane.mean_pr_curve(qrels, run, **chosen)
    [value] = evaluate([germane.parse("AUPR")], chosen).values()
    assert same(curve.area(), value.mean)
    assert curve.queries == len(value.per_query)


def list_inputs(subtopics: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    ordered = {name: prepare(name, "trec", "nonrelevant", subtopics) for name in QUERIES}
    qrels = {name: dict(one.judged) for name, one in ordered.items() if not one.is_unknown}
    return qrels, {name: scored for name, (_, scored) in QUERIES.items() if scored is not None}


def test_a_group_has_the_conventions_of_the_whole() -> None:
    """undefined=zero counts NaN as 0 in the mean of a category, too, and weights weigh its queries."""
    qrels, run = {"q": {"a": 1}, "r": {"b": 0}}, {"q": ["a"], "r": ["b"]}
    result = germane.evaluate(qrels, run, "AP", no_relevant="nan", undefined="zero")
    assert result.by(lambda query: "all")["all"]["AP"].mean == result["AP"].mean == 1 / 2
    plain = germane.evaluate(qrels, run, "AP")["AP"].weigh({"q": 3, "r": 1})
    assert plain.take(np.array([0, 1])).mean == plain.mean == 3 / 4


@pytest.mark.parametrize(
    ("convention", "message"),
    [
        ({"no_relevant": "error"}, "without a relevant item: 'none'"),
        ({"no_hit": "error"}, "nothing relevant found: 'missed'"),
        ({"short": "error"}, "fewer than 2 results: 'all'"),
    ],
)
def test_a_refusal_is_about_answered_queries_and_about_no_count(
    convention: dict[str, Any], message: str
) -> None:
    qrels = {"all": {"a": 1}, "none": {"b": 0}, "missed": {"c": 1}, "lacking": {"d": 1}}
    run = {"all": ["a"], "none": ["x", "y"], "missed": ["x", "y"]}
    with pytest.raises(germane.errors.CoverageError, match=message) as error:
        germane.evaluate(qrels, run, "AP@2", **convention)
    assert "lacking" not in str(error.value)
    assert germane.evaluate(qrels, run, "NumRet@2", **convention)["NumRet@2"].mean == 5
    every = {query: ranked[:1] for query, ranked in run.items()}
    with pytest.raises(germane.errors.CoverageError, match="fewer than 2 results"):
        germane.evaluate(qrels, every, "AP@2", short="error_if_all")


# --- Micro means -------------------------------------------------------------------------------------


def test_weights_that_are_all_zero() -> None:
    """Without norms all queries weigh the same; where a caller weighs all that is left by 0, nothing counts."""
    qrels, run = {"q": {"a": 0}, "r": {"b": 0}}, {"q": ["a"], "r": ["b"]}
    means = {
        word: germane.evaluate(qrels, run, "AP(mean=micro)", no_relevant=word)["AP(mean=micro)"].mean
        for word in ("zero", "one", "nan", "skip")
    }  # fmt: skip
    assert (means["zero"], means["one"]) == (0.0, 1.0)
    assert isnan(means["nan"])
    assert isnan(means["skip"])
    ordinary = germane.evaluate(
        {**qrels, "s": ["c"]}, {**run, "s": ["x", "c"]}, "AP(mean=micro)", no_relevant="one"
    )
    assert ordinary["AP(mean=micro)"].mean == 1 / 2
    left = germane.evaluate({"q": ["a"], "r": {"b": 0}}, run, "AP", no_relevant="skip")["AP"]
    assert isnan(left.weigh({"q": 0, "r": 5}).mean)


# --- Comparisons -------------------------------------------------------------------------------------

JUDGMENTS = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
WHOLE = {query: ["x", "a", "b"] for query in JUDGMENTS}
PART = {query: WHOLE[query] for query in list(JUDGMENTS)[:3]}


@pytest.mark.parametrize("name", ["FallOut(items=100)", "RankingLoss"])
def test_a_run_that_lacks_queries_is_not_better(name: str) -> None:
    """Of measures whose low values are good, a missing query has the worst value."""
    comparison = germane.compare(JUDGMENTS, {"whole": WHOLE, "part": PART}, name)
    [pair] = comparison.pairs
    assert pair.better == "whole"
    assert pair.significant
    assert pair.improvement == 0.05
    board = comparison.leaderboard()
    assert board.strong == {(0, 2)}
    assert board.marks == {(0, 2): "b"}
    assert [one.system for one in comparison.stability(name).standings] == ["whole", "part"]
    assert "part is significantly worse than whole" in pair.sentence
    assert (pair.wins, pair.losses, pair.ties) == (0, 27, 3)
    assert "0 wins 27 losses 3 ties" in pair.sentence
    results = germane.evaluate_many(JUDGMENTS, {"part": PART, "whole": WHOLE}, name)
    assert results.table().strong == {(1, 1)}
    assert (
        f"whole has the lowest {name}"
        in germane.report(JUDGMENTS, {"part": PART, "whole": WHOLE}, name).html
    )


def test_ranks_of_a_run_that_lacks_queries_are_not_compared(tmp_path: Path) -> None:
    """A rank has no worst value. What the message advises works."""
    runs = {"whole": WHOLE, "part": PART}
    says = (
        r"LastRank: part lacks 27 judged queries\. For this measure a low value is good, and there is"
        r" no worst value that they could get\."
    )
    results = germane.evaluate_many(JUDGMENTS, runs, "LastRank RR")
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results.to_dict(queries=True)))
    for compare in (
        lambda: germane.compare(JUDGMENTS, runs, "LastRank RR"),
        lambda: germane.compare(results),
        lambda: germane.compare(germane.read_results(path)),
        lambda: germane.compare({"one": results, "two": results}),
        lambda: germane.report(JUDGMENTS, runs, "LastRank"),
        lambda: DifferenceDisplay(*(one["LastRank"] for one in results.values()), names=("whole", "part")),
    ):  # fmt: skip
        with pytest.raises(germane.errors.CoverageError, match=says):
            compare()
    assert results.table().strong == {(0, 2)}, "RR alone is marked"
    with pytest.raises(
        germane.errors.MeasureError, match="needs measures for which higher is better"
    ):
        germane.gate(JUDGMENTS, PART, "LastRank", baseline=WHOLE)
    assert germane.compare(JUDGMENTS, runs, "RR").pairs
    assert germane.compare(JUDGMENTS, runs, "LastRank", missing="skip").pairs
    with pytest.raises(germane.errors.CoverageError, match="not in the run: 'q3'"):
        germane.compare(JUDGMENTS, runs, "LastRank", missing="error")
    assert germane.compare(JUDGMENTS, {"whole": WHOLE, "again": WHOLE}, "LastRank").pairs
    empty = {**PART, **{query: [] for query in JUDGMENTS if query not in PART}}
    with pytest.raises(germane.errors.CoverageError, match=says):
        germane.compare(JUDGMENTS, {"whole": WHOLE, "part": empty}, "LastRank", empty="missing")


# --- The tables of docs/conventions.md ---------------------------------------------------------------

PAGE = (Path(__file__).parents[1] / "docs" / "conventions.md").read_text("utf-8")


def read_table(column: str) -> Iterator[tuple[list[str], str]]:
    """The rows of the page's table with this column: names of measures, and what is said of them."""
    _, _, rest = PAGE.partition(f"| measures | {column} |\n|---|---|\n")
    for line in rest.partition("\n\n")[0].splitlines():
        names, says = line.strip("| ").split(" | ")
        yield re.findall(r"`(.*?)`", names), says


def test_the_table_of_missing_queries() -> None:
    judged = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 1.0}
    qrels = {"q": {"a": 1}, "r": judged}
    nested = {"q": {"a": {"s": 1}}, "r": {item: {"s": grade} for item, grade in judged.items()}}
    listed = []
    for names, says in read_table("value of a missing query"):
        for name in names:
            measure = germane.parse(name)
            given, ideal = (
                (nested if measure.row.subtopics else qrels),
                f"{oracle.idcg(oracle.Query([], list(judged.values()), None))}",
            )
            value = germane.evaluate(given, {"q": ["a"]}, name)[name].per_query["r"]
            shown = (
                says.partition(";")[0]
                .partition(", the worst")[0]
                .replace("IDCG, as for any list", ideal)
            )
            for symbol, python in (("÷", "/"), ("·", "*"), ("√", "sqrt"), ("ln", "log")):
                shown = shown.replace(symbol, python)
            assert same(value, eval(shown, {"R": 3, "sqrt": sqrt, "log": log})), name
            listed.append(measure.name)
    assert {*listed} == {row.name for row in ALL}


def test_the_table_of_conventions_without_effect() -> None:
    """Each convention in turn: where it is named it has none, and elsewhere it has one."""
    without = {name: says for names, says in read_table("without effect") for name in names}
    for row in ALL:
        if row.aggregate == "sum":
            assert row.name not in without
            continue
        measure = Measure(row.name, (("norm", "R"),) if row.name == "AUROC" else ())
        usual = evaluate([measure], DEFAULTS)[measure].values.tolist()
        for convention in ("no_relevant", "no_hit", "all_relevant"):
            changed = evaluate([measure], {**DEFAULTS, convention: "nan"})[measure].values.tolist()
            has_effect = not all(map(same, usual, changed))
            assert has_effect != (f"`{convention}`" in without.get(row.name, "")), (
                row.name,
                convention,
            )
