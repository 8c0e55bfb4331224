"""The search behind reconcile: numbers as they were written, single changes, pairs, and examples that tell definitions apart."""

import math
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import germane
from germane import Policy
from germane.evaluation.collection import Collection
from germane.forensics.plausibility import describe_chance
from germane.forensics.reported import read_queries, read_reported
from germane.forensics.spread import SHOWN, Values, find_example
from germane.forensics.variations import (
    NO_NUMBER,
    VARIED,
    Candidate,
    find_stage,
    list_dialect_candidates,
    vary_measure,
    vary_once,
    vary_twice,
)
from germane.readers import Needs, open_qrels, open_run

from strategies import RARE_WORDS, TABLE, WORDS
from test_reconcile import GRADED, PUBLISHED, QRELS, RUN, SCORED


@cache
def found_for(reported: str, measure: str) -> germane.types.Reconciliation:
    return germane.reconcile(GRADED, SCORED, reported=reported, measure=measure)


@pytest.mark.parametrize(
    ("chance", "says"),
    [
        (1.0, "100 %"),
        (0.996, "100 %"),
        (0.994, "99 %"),
        (0.0123, "1.2 %"),
        (0.0005, "less than 0.1 %"),
    ],
)
def test_shares_are_written_as_percentages(chance: float, says: str) -> None:
    assert describe_chance(2, chance).endswith(f"tried so far in {says} of cases.")


@pytest.mark.parametrize(
    ("written", "value", "tolerance"),
    [
        ("0.62", 0.62, 0.005),
        ("0.620", 0.62, 0.0005),
        (0.62, 0.62, 0.005),
        (".5", 0.5, 0.05),
        ("1", 1.0, 0.5),
        (1, 1.0, 0.5),
        ("1.", 1.0, 0.5),
        ("62%", 0.62, 0.005),
        ("62.0%", 0.62, 0.0005),
        ("62.0 %", 0.62, 0.0005),
        ("6.2e-1", 0.62, 0.005),
        ("-0.10", -0.1, 0.005),
        (" 0.3 ", 0.3, 0.05),
        (0.6222222222222222, 0.6222222222222222, 5e-17),
    ],
)
def test_precision_is_that_of_writing(written: Any, value: float, tolerance: float) -> None:
    number = read_reported(written)
    assert number.value == value
    assert number.tolerance == pytest.approx(tolerance)


@given(st.floats(-1e4, 1e4), st.integers(0, 6))
def test_a_number_is_given_by_what_was_rounded_to_it(value: float, decimals: int) -> None:
    assert read_reported(f"{value:.{decimals}f}").gives(value)
    off = 1.001 * 10.0**-decimals
    assert not read_reported(f"{value:.{decimals}f}").gives(value + off)


def test_cut_off_is_not_rounded() -> None:
    """(1 + 1 + 1)/7 is printed as 0.42 by one who cuts off, and as 0.43 by one who rounds."""
    value = (1 + 1 + 1) / 7
    assert not read_reported("0.42").gives(value)
    assert read_reported("0.42").can_be_cut_from(value)
    assert read_reported("-0.42").can_be_cut_from(-value)
    assert not read_reported("0.43").can_be_cut_from(value)
    assert not read_reported("-0.42").can_be_cut_from(value)


@pytest.mark.parametrize(
    "written", ["", "nan", "inf", "0,62", "6 2%", "1e999", True, None, "0.6 2", "½", "%", [0.62]]
)
def test_what_is_no_number(written: Any) -> None:
    with pytest.raises(
        germane.errors.InputError, match=r"reported takes a number such as 0.62 or 62%"
    ):
        read_reported(written)
    with pytest.raises(germane.errors.InputError):
        germane.reconcile([1], reported=written)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["AP@2", "nDCG@2"])
def test_every_single_change_is_found_again(measure: str) -> None:
    asked, usual = germane.parse(measure), Policy()
    for one in vary_once(asked, usual, {}, [1.0, 2.0, 3.0]):
        try:
            result = germane.evaluate(GRADED, SCORED, one.measure, **dict(one.choices))
        except germane.GermaneError:
            continue
        mean = result[one.measure].mean
        found = found_for(f"{mean:.9f}", measure)
        assert len(found) > 0, one
        assert all(abs(other.value - mean) < 1e-9 for other in found)


def test_every_pair_is_found_again() -> None:
    """Two changes, each of which alone gives another number."""
    asked, usual = germane.parse("AP@2"), Policy()
    checked = 0
    for one in vary_twice(asked, usual, {}, [1.0, 2.0, 3.0], []):
        if one.choices[1:] or len(one.choices) == 0:
            continue
        try:
            result = germane.evaluate(GRADED, SCORED, one.measure, **dict(one.choices))
        except germane.GermaneError:
            continue
        checked += 1
        if checked % 10 == 0:  # a sample: each search is a second of all definitions
            mean = result[one.measure].mean
            found = found_for(f"{mean:.9f}", "AP@2")
            assert len(found) > 0, one
    assert checked > 100


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_an_example_is_what_score_says(row: Any) -> None:
    """For every pair of parameters of every measure: the values are those of the list."""
    measure = germane.types.Measure(row.name)
    several = [measure, *vary_measure(measure, [2.0])]
    cut = [one @ 2 for one in several] if row.cutoff else several
    for one, other in combinations(cut, 2):
        found = find_example([Candidate(one), Candidate(other)], Policy(), 0.005)
        if found is None:
            continue
        listed, relevant = found.data
        if isinstance(listed, str):
            grades = list(map(float, listed.split()))
            for name, value in found.values:
                score = germane.score(grades, name, relevant=relevant)
                floor = 1e-5 if "geometric" in name else score
                assert max(score, floor) == pytest.approx(value, nan_ok=True)
            assert len({f"{value:.9f}" for _, value in found.values}) == 2


def test_what_no_list_tells_apart_is_one_definition_or_says_so() -> None:
    """Without a cutoff, R and min(R,k) are the same formula; step is AP by another name."""
    result = germane.reconcile([0, 1, 1], relevant=3, reported="0.389", measure="AP")
    names = [str(one) for one in result]
    assert "AP" in names
    assert "AP(norm=R)" not in names
    assert "trec_eval-10:map" in result.found[0].candidate.tools
    assert (
        find_example([Candidate(germane.parse(n)) for n in ("AP", "AUPR")], Policy(), 0.1) is None
    )


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_one_formula_is_one_definition(row: Any) -> None:
    """Measures are taken for one where their formulas are the same text: so are their values."""
    measure = germane.types.Measure(row.name)
    several = [measure, *vary_measure(measure, [2.0, 3.0])]
    several += [one @ 3 for one in several] if row.cutoff else []
    by_text: dict[str, list[germane.types.Measure]] = {}
    for one in several:
        by_text.setdefault(one.definition, []).append(one)
    for same in (several for several in by_text.values() if len(several) > 1):
        for grades in product([0, 1, 2, 3], repeat=3):
            for missed in ([], [1], [2, 1]):
                relevant = [*grades, *missed]
                try:
                    values = {germane.score(grades, one, relevant=relevant) for one in same}
                except germane.errors.MeasureError:  # grades above ERR's max
                    continue
                assert len(values) == 1, (same, grades, missed)


@pytest.mark.parametrize("name", VARIED)
def test_shown_data_shows_the_convention(name: str) -> None:
    """On it the convention's words give different numbers, or one of them refuses the data."""
    _, qrels, run = SHOWN[name]
    needs = {
        "empty": {"missing": "skip"},
        "undefined": {"empty": "nan"},
    }  # to have an effect at all
    seen = set()
    for word in (WORDS | RARE_WORDS)[name]:
        beside = needs.get(name, {})
        try:
            (found,) = germane.evaluate(qrels, run, "nDCG", **beside, **{name: word}).values()
        except germane.GermaneError:
            continue
        seen.add(f"{found.mean:.9f}")
    assert len(seen) > 1, seen


def test_conventions_that_make_no_difference_are_named() -> None:
    """Each word that is said to make none makes none, and each other makes one."""
    result = germane.reconcile(QRELS, RUN, reported="0.6222", measure="AP")
    undecided = {one.convention: one for one in result.undecided}
    for name, words in (WORDS | RARE_WORDS).items():
        for word in words:
            if word in (*NO_NUMBER, "middle", getattr(result.policy, name)):
                continue
            if (
                word == "miss"
            ):  # refused where there are no scores; tools that have it find none either
                mean = germane.evaluate(QRELS, RUN, "AP")["AP"].mean
            else:
                mean = germane.evaluate(QRELS, RUN, "AP", **{name: word})["AP"].mean
            said = name in undecided and word in undecided[name].words
            assert said == math.isclose(mean, 0.6222222222222222), (name, word)
    assert set(VARIED) - set(undecided) == {"unjudged"}
    assert not any(one.moving for one in result.undecided)


def test_definitions_that_differ_in_conventions_are_told_apart_too() -> None:
    """Here an empty list counts as 0 or is left out; and so does a missing query."""
    candidates = [
        Candidate(germane.AP @ 2),
        Candidate(germane.AP @ 2, (("missing", "skip"),)),
        Candidate(germane.AP @ 2, (("empty", "missing"), ("missing", "skip"))),
    ]
    found = find_example(candidates, Policy(), 0.005)
    assert found is not None
    qrels, run = found.data
    for candidate, (name, value) in zip(candidates, found.values, strict=True):
        assert str(candidate) == name
        mean = germane.evaluate(qrels, run, "AP@2", **dict(candidate.choices))["AP@2"].mean
        assert mean == value
    assert len(found.groups) > 1
    means = [Candidate(germane.RR), Candidate(germane.RR(mean="geometric"))]
    found = find_example(means, Policy(), 0.005)
    assert found is not None
    assert dict(found.values) == pytest.approx(
        {"RR": (1 + 1 / 2) / 2, "RR(mean=geometric)": math.sqrt(1 * 1 / 2)}
    )


@pytest.mark.slow
@pytest.mark.parametrize("half", ["0.5", "0.50", "0.500"])
def test_values_of_one_file_are_written_alike(half: str) -> None:
    """However its zeros are left off, the first value cannot make up for a mean that is off by 0.012."""
    values = {"q1": half, "q2": "0.8333", "q3": "0.5333"}
    assert {one.tolerance for one in read_queries(values).values.values()} == {0.00005}
    result = germane.reconcile(
        QRELS, RUN, reported="0.634", measure="AP", reported_per_query=values
    )
    assert "The reported values have the mean 0.62220, not 0.634." in str(result)
    assert "the values are not" not in str(result)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1), st.sampled_from(["{:.4f}", "{:.4g}"]))
def test_values_are_given_by_what_they_were_written_from(values: list[float], way: str) -> None:
    """With so many decimals or so many significant digits, whether zeros at the end are left off."""
    for strip in (str, lambda text: f"{float(text)!r}"):
        written = {str(i): strip(way.format(value)) for i, value in enumerate(values)}
        read = read_queries(written).values.values()
        assert all(one.gives(value) for one, value in zip(read, values, strict=True)), written


def test_values_in_whole_numbers_are_as_they_are_written() -> None:
    assert {one.tolerance for one in read_queries({"q": "1", "r": 0}).values.values()} == {0.5}


def test_files_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("# values\nq1 0.5\n\nq2\t0.835\nq3 0.567\n")
    two = read_queries(path)
    assert two.mean is None
    path.write_text("map q1 0.5\nmap q2 0.835\nmap q3 0.567\nmap all 0.634\n")
    three = read_queries(str(path))
    assert three.mean == read_reported("0.634")
    alone = read_queries({q: str(value) for q, value in PUBLISHED.items()})
    assert two.values == three.values == alone.values


def test_every_convention_has_a_seam_and_data() -> None:
    assert set(SHOWN) == {*VARIED, "mean"}
    assert find_stage("duplicates") == "reading"
    assert find_stage("ties") == "judging"
    assert find_stage("no_relevant") == "averaging"
    assert Candidate(germane.AP(mean="geometric")).stages(germane.AP) == ("averaging",)
    assert Candidate(germane.AP(norm="R") @ 5).stages(germane.AP @ 5) == ("measuring",)


@pytest.mark.parametrize("measure", ["AP@10", "nDCG@10", "P@10", "R@10", "RR", "F@10", "RBP"])
def test_singles_are_those_of_the_table(measure: str) -> None:
    """Every word of every parameter that is not the one asked for, and every usual number."""
    asked = germane.parse(measure)
    tried = {one.measure for one in vary_once(asked, Policy(), {}, [1.0, 2.0]) if not one.choices}
    row = asked.row
    expected = sum(len([w for w in p.words if w != p.default]) + len(p.numbers) + len(p.usual)
                   for p in row.parameters)  # fmt: skip
    expected += any(parameter.name == "rel" for parameter in row.parameters)  # 2, beside 1
    assert len(tried) == expected
    for parameter in row.parameters:
        assert all(asked(**{parameter.name: number}) for number in parameter.usual)
        assert parameter.default not in parameter.usual


def test_dialects_are_those_of_spread() -> None:
    asked = germane.parse("AP@2")
    stated = {f"{one.dialect}:{one.name}" for one in germane.spread(GRADED, SCORED, asked)}
    tools = {tool for one in list_dialect_candidates(asked, Policy(), {}) for tool in one.tools}
    assert stated <= tools


def test_pairs_change_two_things() -> None:
    asked = germane.parse("AP@10")
    every = list(vary_twice(asked, Policy(), {"missing": "zero"}, [1.0, 2.0], [germane.MeanP @ 10]))
    assert all(one.distance(asked) == 2 for one in every if one.measure.name == "AP")
    assert {len(one.choices) for one in every} == {0, 1, 2}
    assert not any("missing" in dict(one.choices) for one in every)
    assert any(one.measure == germane.MeanP @ 10 for one in every)


def test_values_are_shared() -> None:
    """A policy and a measure are evaluated once."""
    values = Values(Collection(open_qrels(QRELS), open_run(RUN), Needs("reconcile")))
    assert values(Policy(), germane.AP) is values(Policy(), germane.AP)
